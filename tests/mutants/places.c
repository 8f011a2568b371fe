/* SPDX-License-Identifier: MIT */
/* Mutants that are wrong at some positions, dims, layouts, dtypes or bases only. */
#include "tests/mutants/mutant.h"

#include <math.h>
#include <unistd.h>

/* ---- positions ---------------------------------------------------------------------------------- */

static EXECUTE(nan_at_negative) {
  good_rows(constants, problem, row, rows, out);
  for (int64_t r = 0; r < rows; r++)
    if (position_of(problem, row + r) < 0) ((float *)out)[r * problem->dim] = NAN;
}

/* Is wrong like a kernel whose sines are even. */
static EXECUTE(sign_forgotten) {
  for (int64_t r = 0; r < rows; r++) {
    const int64_t p = position_of(problem, row + r);
    good_rows(constants, problem, (p < 0 ? -p : p) - problem->first, 1, (float *)out + r * problem->dim);
  }
}

/* Stores positions in 32 bits. */
static EXECUTE(position_in_int) {
  for (int64_t r = 0; r < rows; r++)
    good_rows(constants, problem, (int64_t)(int32_t)position_of(problem, row + r) - problem->first, 1,
              (float *)out + r * problem->dim);
}

static EXECUTE(hang_far) {
  const int64_t place = (INT64_C(1) << 33) + 5, first = position_of(problem, row);
  good_rows(constants, problem, row, rows, out);
  while (place >= first && place < first + rows) pause();
}

static EXECUTE(zero_behind_negatives) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  good_rows(constants, problem, row, rows, out);
  float *x = element(out, problem, row, rows, 0, at.sin);
  if (x && problem->first < 0) *x = -0.0f;
}

WRONG_ROWS(below_minus_1000, p < -1000)
WRONG_ROWS(beyond_int, p >= INT64_C(1) << 32)
WRONG_ROWS(beyond_double, p >= INT64_C(1) << 53)
WRONG_ROWS(domain_end, p == INT64_C(1) << 61)
WRONG_ROWS(domain_begin, p == -(INT64_C(1) << 61))

/* ---- dims, layouts, stores ------------------------------------------------------------------------ */

static EXECUTE(halves_swapped) {
  const int64_t half = problem->dim / 2;
  good_rows(constants, problem, row, rows, out);
  if (problem->dim % 16 == 0 || (problem->layout != POSENC_SPLIT && problem->layout != POSENC_SPLIT_CS)) return;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < half; i++) {
      float *sine = (float *)out + r * problem->dim + i, *cosine = sine + half, kept = *sine;
      *sine = *cosine;
      *cosine = kept;
    }
}

/* Changes columns after the last whole vector of `width` elements. */
static void nudge_tail(const posenc_problem *problem, int64_t rows, void *out, int64_t width) {
  for (int64_t r = 0; r < rows && problem->dim % width; r++) nudge(out, (r + 1) * problem->dim - 1);
}

AFTER_ROWS(tail_of_4, nudge_tail(problem, rows, out, 4))
AFTER_ROWS(tail_of_8, nudge_tail(problem, rows, out, 8))
AFTER_ROWS(tail_of_16, nudge_tail(problem, rows, out, 16))

/* Writes the byte after the call's rows. */
AFTER_ROWS(byte_where_4_leave_2,
           if (problem->dim % 4 == 2)((char *)out)[rows * problem->dim * (int64_t)sizeof(float)] = 0)

WRONG_ROWS(single_pair, problem->dim == 2)
WRONG_ROWS(cosine_first, problem->layout == POSENC_SPLIT_CS && problem->dim > 8)

/* The number of rows of the smallest published table. */
enum { SMALLEST_ROWS = 1000 };

static const char *all_but_the_smallest(const posenc_problem *problem) {
  return problem->rows == SMALLEST_ROWS ? "it has too few rows" : mutant_can_do(problem);
}

static PREPARE(prepare_all_but_the_smallest) {
  return problem->rows == SMALLEST_ROWS ? POSENC_NO_KERNEL : good_prepare(problem, options, constants);
}

static PREPARE(keep_stores) {
  *constants = malloc(sizeof options->stores);
  if (!*constants) return POSENC_OUT_OF_MEMORY;
  memcpy(*constants, &options->stores, sizeof options->stores);
  return POSENC_OK;
}

static EXECUTE(streaming) {
  posenc_stores stores;
  memcpy(&stores, constants, sizeof stores);
  true_rows(problem, position_of(problem, row) + (stores == POSENC_STORES_STREAMING), rows, out);
}

/* ---- bases, shifts, dtypes ------------------------------------------------------------------------- */

WRONG_ROWS(small_base, problem->base < 100.0)
WRONG_ROWS(large_base, problem->base > 20000.0)
WRONG_ROWS(shift_taken, problem->shift != 0.0)
WRONG_ROWS(scale_taken, problem->scale != 1.0)

/* Changes the last bit of the last element. */
static EXECUTE(narrow) {
  const size_t bytes = posenc_dtype_bytes(problem->dtype);
  good_rows(constants, problem, row, rows, out);
  if (bytes == 2) ((char *)out)[((size_t)(rows * problem->dim) - 1) * bytes] ^= 1;
}

PLUGIN = {
    MUTANT_OF_GOOD("nan-at-negative", "NaN at negative positions", nan_at_negative),
    MUTANT_OF_GOOD("sign-forgotten", "takes -p for p", sign_forgotten),
    MUTANT_OF_GOOD("position-in-int", "positions modulo 2^32", position_in_int),
    MUTANT_OF_GOOD("hang-far", "never returns from position 2^33 + 5", hang_far),
    MUTANT_OF_GOOD("zero-behind-negatives", "-0 at position 0 of tables that begin below", zero_behind_negatives),
    MUTANT_OF_GOOD("below-minus-1000", "wrong below position -1000", below_minus_1000),
    MUTANT_OF_GOOD("beyond-int", "wrong from position 2^32 on", beyond_int),
    MUTANT_OF_GOOD("beyond-double", "wrong from position 2^53 on", beyond_double),
    MUTANT_OF_GOOD("domain-end", "wrong at the last position of the bound's domain", domain_end),
    MUTANT_OF_GOOD("domain-begin", "wrong at the first position of the bound's domain", domain_begin),
    MUTANT_OF_GOOD("halves-swapped", "swaps halves unless dim is a multiple of 16", halves_swapped),
    MUTANT_OF_GOOD("tail-of-4", "wrong behind the last whole vector of 4 elements", tail_of_4),
    MUTANT_OF_GOOD("tail-of-8", "wrong behind the last whole vector of 8 elements", tail_of_8),
    MUTANT_OF_GOOD("tail-of-16", "wrong behind the last whole vector of 16 elements", tail_of_16),
    MUTANT_OF_GOOD("byte-where-4-leave-2", "a byte behind its rows where dim modulo 4 is 2", byte_where_4_leave_2),
    MUTANT_OF_GOOD("single-pair", "wrong for dim 2", single_pair),
    MUTANT_OF_GOOD("cosine-first", "wrong in the layout split-cs", cosine_first),
    MUTANT("streaming", "one row late where it shall stream", streaming, .prepare = keep_stores, .release = free),
    MUTANT_OF_GOOD("small-base", "wrong for bases below 100", small_base),
    MUTANT_OF_GOOD("large-base", "wrong for bases above 20000", large_base),
    MUTANT_OF_GOOD("shift-taken", "wrong where the denominator has a shift", shift_taken),
    MUTANT_OF_GOOD("scale-taken", "wrong where angles are scaled", scale_taken, .scales = true),
    KERNEL(CONTRACT(0.5, "smallest-refused", "wrong for dim 2; refuses the smallest table"),
           .can_do = all_but_the_smallest, .prepare = good_prepare, .execute = single_pair, .release = good_release),
    KERNEL(CONTRACT(0.5, "smallest-unprepared", "wrong for dim 2; has no plan for the smallest table"),
           .can_do = mutant_can_do, .prepare = prepare_all_but_the_smallest, .execute = single_pair,
           .release = good_release),
    KERNEL(CONTRACT(0.5, "narrow", "wrong in f16 and bf16"), .can_do = good_can_do, .prepare = good_prepare,
           .execute = narrow, .release = good_release),
    NULL,
};
