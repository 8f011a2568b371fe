/* SPDX-License-Identifier: MIT */
/* Mutants with a way of their own to apply their rows, each wrong in one thing. */
#include "tests/mutants/mutant.h"

#include <string.h>

static posenc_status honest_apply(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                  const void *x, void *out) {
  (void)constants;
  return good_apply(problem, slice, x, out);
}

static posenc_status inverse_ignored(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                     const void *x, void *out) {
  posenc_problem forward = *problem;
  (void)constants;
  forward.inverse = false;
  return good_apply(&forward, slice, x, out);
}

/* Neighbours for halves and halves for neighbours. */
static posenc_status other_pairs(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                 const void *x, void *out) {
  posenc_problem other = *problem;
  (void)constants;
  other.layout = problem->layout == POSENC_SPLIT ? POSENC_INTERLEAVED : POSENC_SPLIT;
  return good_apply(&other, slice, x, out);
}

/* The first element after each sequence but the last. */
static posenc_status gap_written(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                 const void *x, void *out) {
  const size_t element = posenc_dtype_bytes(problem->dtype);
  const int64_t packed = slice->rows * width_of(problem);
  (void)constants;
  for (int64_t n = 0; n + 1 < slice->batch && slice->stride > packed; n++)
    memset((char *)out + (size_t)(n * slice->stride + packed) * element, 0, element);
  return good_apply(problem, slice, x, out);
}

/* Row by row, as it is only there that a head can be left out. */
static posenc_status last_head_forgotten(const void *constants, const posenc_problem *problem,
                                         const posenc_slice *slice, const void *x, void *out) {
  const size_t element = posenc_dtype_bytes(problem->dtype), head = (size_t)problem->dim * element;
  void *given = malloc((size_t)(slice->batch * slice->stride) * element);
  if (!given) return POSENC_OUT_OF_MEMORY;
  (void)constants;
  for (int64_t n = 0; n < slice->batch; n++)
    for (int64_t r = 0; r < slice->rows; r++) {
      const int64_t at = n * slice->stride + r * width_of(problem);
      posenc_slice one = posenc_rows(slice->index ? slice->index[r] : slice->row + r, 1);
      const char *from = (const char *)x + (size_t)at * element;
      char *to = (char *)out + (size_t)at * element;
      memcpy(given, from + head * (size_t)(problem->heads - 1), head);
      good_apply(problem, &one, from, to);
      memcpy(to + head * (size_t)(problem->heads - 1), given, head);
    }
  free(given);
  return POSENC_OK;
}

/* The last element of all, where x is overwritten. */
static posenc_status wrong_in_place(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                    const void *x, void *out) {
  const bool in_place = x == out;
  (void)constants;
  const posenc_status status = good_apply(problem, slice, x, out);
  if (in_place) ((float *)out)[(slice->batch - 1) * slice->stride + slice->rows * width_of(problem) - 1] = 0.0f;
  return status;
}

/* Rows that are told one by one go through f32, as a position tensor of another type would. */
static posenc_status index_in_f32(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                  const void *x, void *out) {
  int64_t rounded[64];
  posenc_slice mine = *slice;
  (void)constants;
  for (int64_t r = 0; mine.index && r < slice->rows && r < 64; r++) {
    const int64_t position = (int64_t)(float)position_of(problem, slice->index[r]), row = position - problem->first;
    rounded[r] = row < 0 ? 0 : row < problem->rows ? row : problem->rows - 1;
  }
  if (mine.index && mine.rows <= 64) mine.index = rounded;
  return good_apply(problem, &mine, x, out);
}

/* x of the first row is cleared, as a careless scratch would. */
static posenc_status x_written(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                               const void *x, void *out) {
  (void)constants;
  const posenc_status status = good_apply(problem, slice, x, out);
  if (x != out) {
    union {
      const void *given;
      float *written;
    } there = {x};
    there.written[0] = 0.5f;
  }
  return status;
}

/* A number that is none becomes 0: max and min in the wrong order do that. */
static posenc_status nan_lost(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                              const void *x, void *out) {
  (void)constants;
  const posenc_status status = good_apply(problem, slice, x, out);
  for (int64_t n = 0; n < slice->batch && problem->dtype == POSENC_F32; n++) {
    float *sequence = (float *)out + n * slice->stride;
    for (int64_t i = 0; i < slice->rows * width_of(problem); i++)
      if (sequence[i] != sequence[i]) sequence[i] = 0.0f;
  }
  return status;
}

/* The sequences as if they followed one another. */
static posenc_status batch_moved(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                 const void *x, void *out) {
  const size_t element = posenc_dtype_bytes(problem->dtype);
  (void)constants;
  for (int64_t n = 0; n < slice->batch; n++) {
    posenc_problem there = *problem;
    posenc_slice one = *slice;
    const size_t at = (size_t)(n * slice->stride) * element;
    there.first += n;
    one.batch = 1;
    one.stride = 0;
    const posenc_status status = good_apply(&there, &one, (const char *)x + at, (char *)out + at);
    if (status != POSENC_OK) return status;
  }
  return POSENC_OK;
}

static const posenc_kernel kernels[] = {
    APPLIED("honest-apply", "nothing", honest_apply),
    APPLIED("inverse-ignored", "turns back as it turns there", inverse_ignored),
    APPLIED("other-pairs", "takes the pairs of the other layout", other_pairs),
    APPLIED("gap-written", "writes between sequences", gap_written),
    APPLIED("last-head-forgotten", "leaves the last head as it was", last_head_forgotten),
    APPLIED("wrong-in-place", "right only out of place", wrong_in_place),
    APPLIED("index-in-f32", "rounds positions that are told one by one to f32", index_in_f32),
    APPLIED("x-written", "changes what it is given", x_written),
    APPLIED("nan-lost", "makes a number of NaN", nan_lost),
    APPLIED("batch-moved", "begins each sequence one position later", batch_moved),
};

POSENC_PLUGIN(&kernels[0], &kernels[1], &kernels[2], &kernels[3], &kernels[4], &kernels[5], &kernels[6], &kernels[7],
              &kernels[8], &kernels[9]);
