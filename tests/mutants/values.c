/* SPDX-License-Identifier: MIT */
/* Mutants that write wrong values, and the correct kernel that they change. */
#include "lib/exact/round.h"
#include "tests/mutants/mutant.h"

#include <math.h>

static EXECUTE(honest) {
  true_rows(problem, position_of(problem, row), rows, out);
}

/* ---- wrong everywhere -------------------------------------------------------------------------- */

static EXECUTE(row_off_by_one) {
  true_rows(problem, position_of(problem, row) + 1, rows, out);
}

static const posenc_layout swapped[] = {[POSENC_INTERLEAVED] = POSENC_INTERLEAVED_CS,
                                        [POSENC_INTERLEAVED_CS] = POSENC_INTERLEAVED,
                                        [POSENC_SPLIT] = POSENC_SPLIT_CS,
                                        [POSENC_SPLIT_CS] = POSENC_SPLIT};
CHANGED_ROWS(swapped_columns, p.layout = swapped[p.layout])

static EXECUTE(negated_sine) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  honest(constants, problem, row, rows, out);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      float *x = (float *)out + r * problem->dim + at.sin + i * at.step;
      *x = -*x;
    }
}

CHANGED_ROWS(base_ignored, p.base = 10000.0)
CHANGED_ROWS(scale_ignored, p.scale = 1.0)
CHANGED_ROWS(scaling_ignored, p.scaling.kind = POSENC_SCALING_NONE)

/* Leaves the ends of the ramp unrounded. */
CHANGED_ROWS(ramp_unrounded, p.scaling.truncate = false)

/* Returns the correct rows before rounding, to be freed. */
static double *unrounded(const posenc_problem *problem, int64_t row, int64_t rows) {
  posenc_problem wide = *problem;
  double *numbers = calloc((size_t)(rows * problem->dim), sizeof *numbers);
  if (!numbers) abort();
  wide.dtype = POSENC_F64;
  honest(NULL, &wide, row, rows, numbers);
  return numbers;
}

/* Returns the farther number if the exact value is within 0.001 ulp of a midpoint. */
static EXECUTE(half_an_ulp_and_a_bit) {
  float *narrow = out;
  double *exact = unrounded(problem, row, rows);
  for (int64_t n = 0; n < rows * problem->dim; n++) {
    const float nearest = (float)exact[n], other = nextafterf(nearest, exact[n] > (double)nearest ? 2.0f : -2.0f);
    const bool is_close = fabs(exact[n] - (double)nearest) > 0.499 * fabs((double)other - (double)nearest);
    narrow[n] = is_close ? other : nearest;
  }
  free(exact);
}

/* Is wrong if f32's nearest number is a midpoint of the table's format. */
static EXECUTE(double_rounding) {
  double *exact = unrounded(problem, row, rows);
  for (int64_t n = 0; n < rows * problem->dim; n++) round_to(problem->dtype, out, n, (double)(float)exact[n]);
  free(exact);
}

/* ---- wrong at one place ------------------------------------------------------------------------ */

/* Is wrong in one of 2^27 elements of the table of 131072 × 1024. */
static EXECUTE(one_element_one_ulp) {
  honest(constants, problem, row, rows, out);
  float *x = element(out, problem, row, rows, 100003, 517);
  if (x) *x = nextafterf(*x, 2.0f);
}

static EXECUTE(negative_zero) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  honest(constants, problem, row, rows, out);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    float *x = element(out, problem, row, rows, 0, at.sin + i * at.step);
    if (x) *x = -0.0f;
  }
}

static EXECUTE(above_one) {
  honest(constants, problem, row, rows, out);
  float *x = element(out, problem, row, rows, 0, posenc_layout_columns(problem->layout, problem->dim).cos);
  if (x) *x = nextafterf(1.0f, 2.0f);
}

static EXECUTE(nan_in_the_last_element) {
  honest(constants, problem, row, rows, out);
  float *x = element(out, problem, row, rows, position_of(problem, problem->rows - 1), problem->dim - 1);
  if (x) *x = NAN;
}

/* ---- wrong under a condition ------------------------------------------------------------------- */

/* Keeps positions in f32, which is exact up to 2^24. */
static EXECUTE(position_in_f32) {
  for (int64_t r = 0; r < rows; r++)
    true_rows(problem, (int64_t)(float)position_of(problem, row + r), 1, (float *)out + r * problem->dim);
}

/* Repeats the row before in rows after the last whole vector of rows. */
static EXECUTE(ragged_length) {
  enum { WIDTH = 16 };
  const int64_t whole = problem->rows / WIDTH * WIDTH;
  honest(constants, problem, row, rows, out);
  for (int64_t r = 0; r < rows; r++)
    if (row + r >= whole) true_rows(problem, position_of(problem, row + r) - 1, 1, (float *)out + r * problem->dim);
}

static EXECUTE(range_from_inside) {
  true_rows(problem, position_of(problem, row) - (row != 0), rows, out);
}

static EXECUTE(short_range) {
  honest(constants, problem, rows > 4 ? row : 0, rows, out);
}

static EXECUTE(short_table) {
  true_rows(problem, position_of(problem, row) + (problem->rows < 20), rows, out);
}

/* ---- correct rows, wrong contract or stages ----------------------------------------------------- */

/* Gives a frequency, phase, sine and cosine that are consistent with each other. */
static STAGES(stages_of_the_row_before) {
  posenc_problem part = *problem;
  part.first = position_of(problem, row) - 1;
  part.rows = rows;
  return good_stages(&part, 0, rows, out);
}

PLUGIN = {
    MUTANT("honest", "no fault", honest),
    KERNEL(CONTRACT(0.4, "claims-too-much", "honest, but for its claim"), .can_do = mutant_can_do, .execute = honest),
    MUTANT("row-off-by-one", "every row is the next one", row_off_by_one),
    MUTANT("swapped-columns", "sine where cosine belongs", swapped_columns),
    MUTANT("negated-sine", "turns the other way round", negated_sine),
    MUTANT("base-ignored", "always base 10000", base_ignored),
    MUTANT("half-an-ulp-and-a-bit", "wrong by up to 0.501 ulp", half_an_ulp_and_a_bit),
    KERNEL(CONTRACT(0.5, "double-rounding", "rounds to f32 first"), .can_do = good_can_do, .execute = double_rounding),
    MUTANT("one-element-one-ulp", "one element in 2^27 is an ulp off", one_element_one_ulp),
    MUTANT("negative-zero", "-0 for 0", negative_zero),
    MUTANT("above-one", "an ulp above one at position 0", above_one),
    MUTANT("nan-in-the-last-element", "the last element of the table is NaN", nan_in_the_last_element),
    MUTANT("position-in-f32", "wrong beyond position 2^24", position_in_f32),
    MUTANT("ragged-length", "wrong where the length is no multiple of 16", ragged_length),
    MUTANT("range-from-inside", "wrong for ranges that do not start at row 0", range_from_inside),
    MUTANT("short-range", "takes ranges of up to four rows for the first ones", short_range),
    MUTANT("short-table", "wrong in tables of less than 20 rows", short_table),
    MUTANT("lying-stages", "tells the stages of the row before", honest, .stages = stages_of_the_row_before),
    MUTANT("honest-scales", "no fault, nor where angles are scaled", honest, .scales = true),
    MUTANT("scale-ignored", "always scale 1", scale_ignored, .scales = true),
    MUTANT("scaling-ignored", "always plain frequencies", scaling_ignored, .scales = true),
    MUTANT("ramp-unrounded", "YaRN without truncate", ramp_unrounded, .scales = true),
    NULL,
};
