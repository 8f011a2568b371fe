/* SPDX-License-Identifier: MIT */
#include "posenc.h"

#include <math.h>

size_t posenc_dtype_bytes(posenc_dtype dtype) {
  switch (dtype) {
  case POSENC_F16:
  case POSENC_BF16:
    return 2;
  case POSENC_F32:
    return 4;
  case POSENC_F64:
    return 8;
  }
  return 0;
}

posenc_status posenc_table_bytes(const posenc_problem *problem, size_t *bytes) {
  int64_t width, elements, total, last;
  if (!problem || !bytes || problem->size != sizeof *problem || problem->rows < 0 || problem->dim < 0 ||
      problem->heads < 0)
    return POSENC_BAD_ARGUMENT;
  /* ptrdiff_t is the smaller limit: no object may be larger than what a pointer difference can hold. */
  if (__builtin_mul_overflow(problem->heads, problem->dim, &width) ||
      __builtin_mul_overflow(problem->rows, width, &elements) ||
      __builtin_mul_overflow(elements, (int64_t)posenc_dtype_bytes(problem->dtype), &total) || total > PTRDIFF_MAX ||
      __builtin_add_overflow(problem->first, problem->rows, &last))
    return POSENC_TOO_LARGE;
  *bytes = (size_t)total;
  return POSENC_OK;
}

/* What is wrong with an operation, null if nothing is. */
static const char *op_refusal(const posenc_problem *problem) {
  if ((unsigned)problem->op > POSENC_ROPE) return "unknown operation";
  if (problem->heads < 1) return "heads must be at least 1";
  if (problem->op == POSENC_TABLE || problem->op == POSENC_ADD) {
    if (problem->heads != 1) return "only rope has heads";
    if (problem->inverse) return "only rope has an inverse";
  }
  if (problem->op != POSENC_TABLE && problem->dtype != POSENC_F32 && problem->dtype != POSENC_BF16)
    return "add and rope take f32 and bf16";
  if (problem->op == POSENC_ROPE) {
    if (problem->layout != POSENC_INTERLEAVED && problem->layout != POSENC_SPLIT)
      return "rope takes its pairs interleaved or split";
    if (problem->padding != POSENC_NO_PADDING) return "rope has no padding row";
  }
  return NULL;
}

/* The extreme one is base^-((dim/2 - 1) / (dim/2 - shift)). With a shift of at most 1 it lies between 1 and 1/base, and no logarithm
   is needed: libm, which nothing else of an accurate kernel needs, need not be brought into memory. */
static bool are_frequencies_normal(const posenc_problem *problem) {
  const double last = (double)(problem->dim / 2 - 1), denominator = (double)(problem->dim / 2) - problem->shift;
  if (problem->shift <= 1.0 && problem->base >= 0x1p-1022 && problem->base <= 0x1p1022) return true;
  return fabs(log2(problem->base)) * last <= 1022.0 * denominator;
}

const char *posenc_problem_refusal(const posenc_problem *problem) {
  size_t bytes;
  if (!problem || problem->size != sizeof *problem) return "the problem is null or of unknown size";
  if (problem->rows < 0) return "rows must not be negative";
  if (problem->dim < 2) return "dim must be at least 2";
  if (problem->dim % 2) return "dim must be even";
  if (!(problem->base > 0.0) || !isfinite(problem->base)) return "base must be positive and finite";
  if (!isfinite(problem->shift) || !((double)(problem->dim / 2) - problem->shift > 0.0))
    return "shift must be finite and less than dim/2";
  if ((unsigned)problem->layout > POSENC_SPLIT_CS) return "unknown layout";
  if (!posenc_dtype_bytes(problem->dtype)) return "unknown dtype";
  if (!are_frequencies_normal(problem)) return "base and shift take the frequencies out of double's range";
  const char *why = op_refusal(problem);
  if (!why && posenc_table_bytes(problem, &bytes) != POSENC_OK) why = "the table's bytes or positions overflow";
  return why;
}

posenc_columns posenc_layout_columns(posenc_layout layout, int64_t dim) {
  switch (layout) {
  case POSENC_INTERLEAVED:
    break;
  case POSENC_INTERLEAVED_CS:
    return (posenc_columns){1, 0, 2};
  case POSENC_SPLIT:
    return (posenc_columns){0, dim / 2, 1};
  case POSENC_SPLIT_CS:
  case POSENC_DUPLICATED:
    return (posenc_columns){dim / 2, 0, 1};
  }
  return (posenc_columns){0, 1, 2};
}
