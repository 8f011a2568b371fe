/* SPDX-License-Identifier: MIT */
/* Mutants with an apply function of their own, each with one fault. */
#include "tests/mutants/mutant.h"

#include <string.h>

static APPLY(honest_apply) {
  return good_apply(problem, slice, x, out);
}

CHANGED_SLICES(inverse_ignored, p.inverse = false)

/* Takes neighbours for halves and halves for neighbours. */
CHANGED_SLICES(other_pairs, p.layout = p.layout == POSENC_SPLIT ? POSENC_INTERLEAVED : POSENC_SPLIT)

/* Writes the first element after each sequence but the last. */
static APPLY(gap_written) {
  const size_t element = posenc_dtype_bytes(problem->dtype);
  const int64_t packed = slice->rows * width_of(problem);
  for (int64_t n = 0; n + 1 < slice->batch && slice->stride > packed; n++)
    memset((char *)out + (size_t)(n * slice->stride + packed) * element, 0, element);
  return good_apply(problem, slice, x, out);
}

/* Applies row by row, because only there can a head be left out. */
static APPLY(last_head_forgotten) {
  const size_t element = posenc_dtype_bytes(problem->dtype), head = (size_t)problem->dim * element;
  void *given = malloc((size_t)(slice->batch * slice->stride) * element);
  if (!given) return POSENC_OUT_OF_MEMORY;
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

/* Is wrong in the last element of all if x is overwritten. */
static APPLY(wrong_in_place) {
  const bool in_place = x == out;
  const posenc_status status = good_apply(problem, slice, x, out);
  if (in_place) ((float *)out)[(slice->batch - 1) * slice->stride + slice->rows * width_of(problem) - 1] = 0.0f;
  return status;
}

/* Rounds positions of a list to f32, as a position tensor of that type does. */
static APPLY(index_in_f32) {
  int64_t rounded[64];
  posenc_slice mine = *slice;
  for (int64_t r = 0; mine.index && r < slice->rows && r < 64; r++) {
    const int64_t position = (int64_t)(float)position_of(problem, slice->index[r]), row = position - problem->first;
    rounded[r] = row < problem->rows ? row : problem->rows - 1;
    if (row < 0) rounded[r] = 0;
  }
  if (mine.index && mine.rows <= 64) mine.index = rounded;
  return good_apply(problem, &mine, x, out);
}

/* Clears x of the first row, like code that uses it as scratch memory. */
static APPLY(x_written) {
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

/* Turns NaN into 0, as max and min in the wrong order do. */
static APPLY(nan_lost) {
  const posenc_status status = good_apply(problem, slice, x, out);
  for (int64_t n = 0; n < slice->batch && problem->dtype == POSENC_F32; n++) {
    float *sequence = (float *)out + n * slice->stride;
    for (int64_t i = 0; i < slice->rows * width_of(problem); i++)
      if (sequence[i] != sequence[i]) sequence[i] = 0.0f;
  }
  return status;
}

/* Takes the sequences as if they were adjacent. */
static APPLY(batch_moved) {
  const size_t element = posenc_dtype_bytes(problem->dtype);
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

PLUGIN = {
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
    NULL,
};
