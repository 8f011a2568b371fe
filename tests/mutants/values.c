/* SPDX-License-Identifier: MIT */
/* Mutants that write wrong values, and the honest kernel under all of them. */
#include "lib/exact/round.h"
#include "tests/mutants/mutant.h"

#include <math.h>

static void honest(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  true_rows(problem, position_of(problem, row), rows, out);
}

/* ---- wrong everywhere -------------------------------------------------------------------------- */

static void row_off_by_one(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  true_rows(problem, position_of(problem, row) + 1, rows, out);
}

static void swapped_columns(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                            void *out) {
  static const posenc_layout other[] = {[POSENC_INTERLEAVED] = POSENC_INTERLEAVED_CS,
                                        [POSENC_INTERLEAVED_CS] = POSENC_INTERLEAVED,
                                        [POSENC_SPLIT] = POSENC_SPLIT_CS,
                                        [POSENC_SPLIT_CS] = POSENC_SPLIT};
  posenc_problem swapped = *problem;
  swapped.layout = other[problem->layout];
  honest(constants, &swapped, row, rows, out);
}

static void negated_sine(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  honest(constants, problem, row, rows, out);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      float *x = (float *)out + r * problem->dim + at.sin + i * at.step;
      *x = -*x;
    }
}

static void base_ignored(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  posenc_problem other = *problem;
  other.base = 10000.0;
  honest(constants, &other, row, rows, out);
}

static void scale_ignored(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  posenc_problem other = *problem;
  other.scale = 1.0;
  honest(constants, &other, row, rows, out);
}

static void scaling_ignored(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                            void *out) {
  posenc_problem other = *problem;
  other.scaling.kind = POSENC_SCALING_NONE;
  honest(constants, &other, row, rows, out);
}

/* As one that took the rounding of the ramp's ends for a detail. */
static void ramp_unrounded(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  posenc_problem other = *problem;
  other.scaling.truncate = false;
  honest(constants, &other, row, rows, out);
}

/* The honest rows before their rounding; to be freed. */
static double *unrounded(const posenc_problem *problem, int64_t row, int64_t rows) {
  posenc_problem wide = *problem;
  double *numbers = calloc((size_t)(rows * problem->dim), sizeof *numbers);
  if (!numbers) abort();
  wide.dtype = POSENC_F64;
  honest(NULL, &wide, row, rows, numbers);
  return numbers;
}

/* Where the exact value is within 0.001 ulp of the middle between two numbers, the farther one. */
static void half_an_ulp_and_a_bit(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                                  void *out) {
  (void)constants;
  float *narrow = out;
  double *exact = unrounded(problem, row, rows);
  for (int64_t n = 0; n < rows * problem->dim; n++) {
    const float nearest = (float)exact[n], other = nextafterf(nearest, exact[n] > (double)nearest ? 2.0f : -2.0f);
    const bool is_close = fabs(exact[n] - (double)nearest) > 0.499 * fabs((double)other - (double)nearest);
    narrow[n] = is_close ? other : nearest;
  }
  free(exact);
}

static const char *any_dtype(const posenc_problem *problem) {
  return posenc_kernel_refusal(good_kernel(), problem, NULL);
}

/* Wrong where f32's nearest number is in the middle between two of the table's. */
static void double_rounding(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                            void *out) {
  (void)constants;
  double *exact = unrounded(problem, row, rows);
  for (int64_t n = 0; n < rows * problem->dim; n++) round_to(problem->dtype, out, n, (double)(float)exact[n]);
  free(exact);
}

/* ---- wrong at one place ------------------------------------------------------------------------ */

/* In the table of 131072 × 1024, one element of 2^27. */
static void one_element_one_ulp(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                                void *out) {
  honest(constants, problem, row, rows, out);
  float *x = element(out, problem, row, rows, 100003, 517);
  if (x) *x = nextafterf(*x, 2.0f);
}

static void negative_zero(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  honest(constants, problem, row, rows, out);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    float *x = element(out, problem, row, rows, 0, at.sin + i * at.step);
    if (x) *x = -0.0f;
  }
}

static void above_one(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  honest(constants, problem, row, rows, out);
  float *x = element(out, problem, row, rows, 0, posenc_layout_columns(problem->layout, problem->dim).cos);
  if (x) *x = nextafterf(1.0f, 2.0f);
}

static void nan_in_the_last_element(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                                    void *out) {
  honest(constants, problem, row, rows, out);
  float *x = element(out, problem, row, rows, position_of(problem, problem->rows - 1), problem->dim - 1);
  if (x) *x = NAN;
}

/* ---- wrong under a condition ------------------------------------------------------------------- */

/* Positions kept in f32: exact up to 2^24. */
static void position_in_f32(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                            void *out) {
  (void)constants;
  for (int64_t r = 0; r < rows; r++)
    true_rows(problem, (int64_t)(float)position_of(problem, row + r), 1, (float *)out + r * problem->dim);
}

/* Rows behind the last whole vector of rows lag one behind. */
static void ragged_length(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  enum { WIDTH = 16 };
  const int64_t whole = problem->rows / WIDTH * WIDTH;
  honest(constants, problem, row, rows, out);
  for (int64_t r = 0; r < rows; r++)
    if (row + r >= whole) true_rows(problem, position_of(problem, row + r) - 1, 1, (float *)out + r * problem->dim);
}

static void range_from_inside(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                              void *out) {
  (void)constants;
  true_rows(problem, position_of(problem, row) - (row != 0), rows, out);
}

static void short_range(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  honest(constants, problem, rows > 4 ? row : 0, rows, out);
}

static void short_table(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  true_rows(problem, position_of(problem, row) + (problem->rows < 20), rows, out);
}

/* ---- right, but told wrong ---------------------------------------------------------------------- */

/* A frequency, phase, sine and cosine that fit each other. */
static bool stages_of_the_row_before(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                                     posenc_stages *stages) {
  (void)constants;
  posenc_problem part = *problem;
  posenc_options options = posenc_default_options();
  posenc_plan *plan;
  part.first = position_of(problem, row) - 1;
  part.rows = rows;
  options.kernel = good_kernel();
  if (posenc_plan_create(&plan, &part, &options) != POSENC_OK) abort();
  const bool told = posenc_plan_stages(plan, 0, rows, stages);
  posenc_plan_destroy(plan);
  return told;
}

static const posenc_kernel kernels[] = {
    {MUTANT("honest", "no fault", honest)},
    {CONTRACT(0.4, "claims-too-much", "honest, but for its claim"), .can_do = mutant_can_do, .execute = honest},
    {MUTANT("row-off-by-one", "every row is the next one", row_off_by_one)},
    {MUTANT("swapped-columns", "sine where cosine belongs", swapped_columns)},
    {MUTANT("negated-sine", "turns the other way round", negated_sine)},
    {MUTANT("base-ignored", "always base 10000", base_ignored)},
    {MUTANT("half-an-ulp-and-a-bit", "wrong by up to 0.501 ulp", half_an_ulp_and_a_bit)},
    {CONTRACT(0.5, "double-rounding", "rounds to f32 first"), .can_do = any_dtype, .execute = double_rounding},
    {MUTANT("one-element-one-ulp", "one element in 2^27 is an ulp off", one_element_one_ulp)},
    {MUTANT("negative-zero", "-0 for 0", negative_zero)},
    {MUTANT("above-one", "an ulp above one at position 0", above_one)},
    {MUTANT("nan-in-the-last-element", "the last element of the table is NaN", nan_in_the_last_element)},
    {MUTANT("position-in-f32", "wrong beyond position 2^24", position_in_f32)},
    {MUTANT("ragged-length", "wrong where the length is no multiple of 16", ragged_length)},
    {MUTANT("range-from-inside", "wrong for ranges that do not start at row 0", range_from_inside)},
    {MUTANT("short-range", "takes ranges of up to four rows for the first ones", short_range)},
    {MUTANT("short-table", "wrong in tables of less than 20 rows", short_table)},
    {MUTANT("lying-stages", "tells the stages of the row before", honest), .stages = stages_of_the_row_before},
    {MUTANT("honest-scales", "no fault, nor where angles are scaled", honest), .scales = true},
    {MUTANT("scale-ignored", "always scale 1", scale_ignored), .scales = true},
    {MUTANT("scaling-ignored", "always plain frequencies", scaling_ignored), .scales = true},
    {MUTANT("ramp-unrounded", "YaRN without truncate", ramp_unrounded), .scales = true},
};

POSENC_PLUGIN(&kernels[0], &kernels[1], &kernels[2], &kernels[3], &kernels[4], &kernels[5], &kernels[6], &kernels[7],
              &kernels[8], &kernels[9], &kernels[10], &kernels[11], &kernels[12], &kernels[13], &kernels[14],
              &kernels[15], &kernels[16], &kernels[17], &kernels[18], &kernels[19], &kernels[20], &kernels[21]);
