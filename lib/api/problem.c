/* SPDX-License-Identifier: MIT */
#include "lib/api/kernel.h"
#include "lib/api/rows.h"

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
      problem->heads < 0 || !posenc_dtype_bytes(problem->dtype) || (unsigned)problem->op > POSENC_ROPE_CACHE)
    return POSENC_BAD_ARGUMENT;
  const bool is_half = problem->op == POSENC_ROPE_CACHE && problem->layout == POSENC_SPLIT;
  /* PTRDIFF_MAX is the smaller limit: no object may be larger than a pointer difference can be. */
  if (__builtin_mul_overflow(problem->heads, is_half ? problem->dim / 2 : problem->dim, &width) ||
      __builtin_mul_overflow(problem->rows, width, &elements) ||
      __builtin_mul_overflow(elements, (int64_t)posenc_dtype_bytes(problem->dtype), &total) || total > PTRDIFF_MAX ||
      __builtin_add_overflow(problem->first, problem->rows, &last))
    return POSENC_TOO_LARGE;
  *bytes = (size_t)total;
  return POSENC_OK;
}

/* Returns the reason why the operation is refused, or null. */
static const char *op_refusal(const posenc_problem *problem) {
  if ((unsigned)problem->op > POSENC_ROPE_CACHE) return "unknown operation";
  if (problem->heads < 1) return "heads must be at least 1";
  if (problem->op != POSENC_ROPE) {
    if (problem->heads != 1) return "only rope has heads";
    if (problem->inverse) return "only rope has an inverse";
  }
  const bool is_applied = problem->op == POSENC_ADD || problem->op == POSENC_ROPE;
  if (is_applied && problem->dtype != POSENC_F32 && problem->dtype != POSENC_BF16)
    return "add and rope take f32 and bf16";
  if (problem->op == POSENC_ROPE_CACHE) {
    if (problem->layout != POSENC_DUPLICATED && problem->layout != POSENC_INTERLEAVED &&
        problem->layout != POSENC_SPLIT)
      return "the tables of a rope cache are duplicated, interleaved or split";
  } else if (problem->layout == POSENC_DUPLICATED) {
    return "only the tables of a rope cache are duplicated";
  }
  if (problem->op == POSENC_ROPE) {
    if (problem->layout != POSENC_INTERLEAVED && problem->layout != POSENC_SPLIT)
      return "rope takes its pairs interleaved or split";
    if (problem->padding != POSENC_NO_PADDING) return "rope has no padding row";
  }
  return NULL;
}

/* Whether least <= x <= most; false for NaN. */
static bool is_within(double x, double least, double most) {
  return x >= least && x <= most;
}

/* The ranges are those for which lib/exact/frequency.c proves its error bounds. */
static const char *ramp_refusal(const posenc_problem *problem) {
  const posenc_scaling *how = &problem->scaling;
  const bool is_step = is_within(how->low, how->high, how->high);
  if (how->low == 0.0 || how->high == 0.0)
    return "low or high of the scaling is not set: posenc_scaling_yarn and posenc_scaling_llama3 set them";
  if (!is_within(how->low, 0x1p-10, 0x1p20) ||
      !is_within(how->high, is_step ? how->low : how->low * (1.0 + 0x1p-10), 0x1p20))
    return "low and high of a scaling must be within 2^-10 and 2^20, and equal, or high above low";
  if (is_step && how->kind == POSENC_SCALING_YARN && !how->truncate && problem->dim > 1 << 19)
    return "yarn with equal low and high, not truncated, needs a dim of at most 2^19";
  return NULL;
}

const char *problem_scaling_refusal(const posenc_problem *problem) {
  const posenc_scaling *how = &problem->scaling;
  static const int64_t most = INT64_C(1) << 40;
  if (how->attention != 0.0 && !is_within(how->attention, 0x1p-10, 0x1p10))
    return "an attention factor must be within 2^-10 and 2^10";
  if (how->kind == POSENC_SCALING_NONE) return NULL;
  if ((unsigned)how->kind > POSENC_SCALING_LONGROPE) return "unknown scaling";
  if (problem->shift != 0.0) return "scaling needs shift 0";
  if (problem->dim % 2) return "scaling needs an even dim";
  if (how->factor == 0.0) return "the factor of the scaling is not set";
  if (!is_within(how->factor, 1.0, 0x1p20)) return "the factor of a scaling must be within 1 and 2^20";
  if (how->kind == POSENC_SCALING_LINEAR) return NULL;
  if (how->original == 0) return "the original length of the scaling is not set";
  if (how->original < 2 || how->original > most) return "the original length of a scaling must be within 2 and 2^40";
  switch (how->kind) {
  case POSENC_SCALING_NONE:
  case POSENC_SCALING_LINEAR:
    break;
  case POSENC_SCALING_DYNAMIC:
    if (how->length == 0.0) return "the length of the dynamic scaling is not set";
    if (!is_within(how->length, 1.0, (double)most)) return "the length of a dynamic scaling must be within 1 and 2^40";
    if (problem->dim < 4) return "a dynamic scaling needs a dim of at least 4";
    break;
  case POSENC_SCALING_YARN:
    if (problem->base < 2.0) return "yarn needs a base of at least 2";
    if (problem->dim > INT32_MAX) return "yarn needs a dim below 2^31";
    /* fall through */
  case POSENC_SCALING_LLAMA3:
    return ramp_refusal(problem);
  case POSENC_SCALING_LONGROPE:
    if (!how->factors) return "longrope needs its factors";
    for (int64_t i = 0; i < problem->dim / 2; i++)
      if (!is_within(how->factors[i], 0x1p-8, 0x1p20) && how->factors[i] != INFINITY)
        return "the factors of longrope must be within 2^-8 and 2^20, or infinite";
    break;
  }
  return NULL;
}

bool problem_attends(const posenc_problem *problem) {
  const posenc_scaling *how = &problem->scaling;
  if (how->attention > 0.0) return how->attention < 1.0 || how->attention > 1.0;
  return (how->kind == POSENC_SCALING_YARN || how->kind == POSENC_SCALING_LONGROPE) && how->factor > 1.0;
}

/* Returns the reason why the list of positions is refused, or null. */
static const char *positions_refusal(const posenc_problem *problem) {
  if (!problem->positions) return NULL;
  if (problem->first != 0) return "a list of positions has no first one";
  for (int64_t row = 0; row < problem->rows; row++)
    if (!is_within(problem->positions[row], -0x1p62, 0x1p62)) return "positions must be within ±2^62";
  return NULL;
}

static const char *odd_refusal(const posenc_problem *problem) {
  if ((unsigned)problem->odd > POSENC_ODD_CEIL) return "unknown policy for an odd dim";
  if (problem->dim % 2 == 0) return NULL;
  if (problem->odd == POSENC_ODD_REFUSED) return "dim must be even";
  if (problem->op == POSENC_ROPE || problem->op == POSENC_ROPE_CACHE) return "rope needs an even dim";
  /* With POSENC_ODD_CEIL, the plain problem has one more column, and a shift that is larger by 1/2. */
  if (problem->odd == POSENC_ODD_CEIL && problem->shift + 0.5 - 0.5 != problem->shift)
    return "shift + 1/2 must be exact in double";
  return NULL;
}

static double denominator_of(const posenc_problem *problem) {
  const double half = (double)(problem->dim / 2);
  return (problem->dim % 2 && problem->odd == POSENC_ODD_CEIL ? half + 0.5 : half) - problem->shift;
}

/* Whether all frequencies are normal doubles. The extreme one is base^-((dim/2 - 1) / (dim/2 - shift)). With a shift of
   at most 1 it lies between 1 and 1/base, and no logarithm is needed; then libm, which accurate kernels do not use
   otherwise, is not loaded into memory. */
static bool are_frequencies_normal(const posenc_problem *problem) {
  const bool one_more = problem->dim % 2 && problem->odd == POSENC_ODD_CEIL;
  const double last = (double)(problem->dim / 2 - !one_more), denominator = denominator_of(problem);
  if (problem->shift <= (one_more ? 0.5 : 1.0) && problem->base >= 0x1p-1022 && problem->base <= 0x1p1022) return true;
  return fabs(log2(problem->base)) * last <= 1022.0 * denominator;
}

const char *posenc_problem_refusal(const posenc_problem *problem) {
  size_t bytes;
  if (!problem || problem->size != sizeof *problem) return "the problem is null or of unknown size";
  if (problem->rows < 0) return "rows must not be negative";
  if (problem->dim < 2) return "dim must be at least 2";
  const char *why = odd_refusal(problem);
  if (why) return why;
  if (!(problem->base > 0.0) || !isfinite(problem->base)) return "base must be positive and finite";
  if (!isfinite(problem->shift) || !(denominator_of(problem) > 0.0)) return "shift must be finite and less than dim/2";
  if ((unsigned)problem->layout > POSENC_DUPLICATED) return "unknown layout";
  if (!posenc_dtype_bytes(problem->dtype)) return "unknown dtype";
  if (!are_frequencies_normal(problem)) return "base and shift take the frequencies out of double's range";
  if (!(problem->scale > 0.0) || !isfinite(problem->scale)) return "scale must be positive and finite";
  why = op_refusal(problem);
  if (!why) why = problem_scaling_refusal(problem);
  if (!why) why = positions_refusal(problem);
  if (!why && problem->axes) why = axes_refusal(problem);
  if (!why && posenc_table_bytes(problem, &bytes) != POSENC_OK) why = "the table's bytes or positions overflow";
  return why;
}

posenc_columns posenc_layout_columns(posenc_layout layout, int64_t dim) {
  switch (layout) {
  case POSENC_INTERLEAVED:
    return (posenc_columns){0, 1, 2};
  case POSENC_INTERLEAVED_CS:
    return (posenc_columns){1, 0, 2};
  case POSENC_SPLIT:
    return (posenc_columns){0, dim / 2, 1};
  case POSENC_SPLIT_CS:
  case POSENC_DUPLICATED:
    return (posenc_columns){dim / 2, 0, 1};
  }
  return (posenc_columns){0, 0, 0};
}
