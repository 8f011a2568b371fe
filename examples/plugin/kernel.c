/* SPDX-License-Identifier: MIT */
/*
 * A kernel as a plugin of the posenc command:
 *
 *     make && posenc verify --plugin kernel.so --kernel long-double
 *
 * It computes the formula in long double and rounds once at the end. Its contract is at the end of the file;
 * verification checks every element against it.
 */
#include <posenc.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Computes the constants of a plan, which depend on the problem alone: here the frequencies. */
static posenc_status prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  (void)options;
  const int64_t pairs = problem->dim / 2;
  const long double denominator = (long double)pairs - problem->shift;
  long double *frequencies = calloc((size_t)pairs, sizeof *frequencies);
  if (!frequencies) return POSENC_OUT_OF_MEMORY;
  for (int64_t i = 0; i < pairs; i++) frequencies[i] = powl(problem->base, -(long double)i / denominator);
  *constants = frequencies;
  return POSENC_OK;
}

static void store(void *out, posenc_dtype dtype, int64_t at, long double value) {
  if (dtype == POSENC_F32)
    ((float *)out)[at] = (float)value;
  else
    ((double *)out)[at] = (double)value;
}

/* Writes a range of rows. Several threads may call it at once: it only reads the constants and writes its rows. */
static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const long double *frequencies = constants;
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  for (int64_t r = 0; r < rows; r++) {
    const long double position = (long double)(problem->first + row + r);
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const long double angle = position * frequencies[i];
      const int64_t start = r * problem->dim + i * columns.step;
      store(out, problem->dtype, start + columns.sin, sinl(angle));
      store(out, problem->dtype, start + columns.cos, cosl(angle));
    }
  }
}

/* store() supports these two dtypes. */
static const char *can_do(const posenc_problem *problem) {
  return problem->dtype == POSENC_F32 || problem->dtype == POSENC_F64 ? NULL : "it writes f32 and f64 only";
}

static posenc_sum sum_of(long double x) {
  const double high = (double)x;
  return (posenc_sum){high, (double)(x - high)};
}

/* Optional: the intermediate values, from which `posenc verify --explain` attributes errors to steps. */
static bool tell_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                        posenc_stages *stages) {
  const long double *frequencies = constants;
  for (int64_t r = 0; r < rows; r++) {
    const long double position = (long double)(problem->first + row + r);
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const long double angle = position * frequencies[i];
      *stages++ = (posenc_stages){sum_of(frequencies[i]), sum_of(angle), sum_of(sinl(angle)), sum_of(cosl(angle))};
    }
  }
  return true;
}

/*
 * The bound. Unit u = LDBL_EPSILON / 2, the largest relative error of a rounding.
 *   Exponent x = i / denominator: two roundings, 2 u relative, which change base^-x by ln(base) x base^-x × 2 u; as
 *   t e^-t <= 1/e for any t, that is at most 0.74 u. powl adds 2 ulp, at most 4 u. The position (rounded where long
 *   double is no wider than double) and the product add u each, relative to an angle of at most |p|.
 *   The total error of the angle is less than 6.8 u |p|; sine and cosine carry it over, and their 2 ulp add 2 u.
 *   E = 2 u + 6.8 u |p|. Rounding to the table's format adds half an ulp in the binade of the computed value; where the
 *   exact value is in the binade below, at most E/2 more. Total: ulp/2 + 1.5 E = ulp/2 + 3 u + 10.2 u |p|.
 */
static const posenc_kernel long_double = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_GENERIC,
    .name = "long-double",
    .summary = "the formula in long double, rounded at the end",
    .algorithm = "One powl per frequency, kept; one product, sinl and cosl per pair.",
    .provenance = "Vaswani et al., Attention Is All You Need, 2017, section 3.5",
    .bound = {.ulp = 0.5,
              .abs = 1.5 * LDBL_EPSILON,
              .growth = 5.1 * LDBL_EPSILON,
              .max_position = INT64_MAX,
              .derived = true},
    .basis = "derived in kernel.c, given powl, sinl and cosl within 2 ulp",
    .can_do = can_do,
    .prepare = prepare,
    .execute = execute,
    .release = free,
    .stages = tell_stages,
};

POSENC_PLUGIN(&long_double);
