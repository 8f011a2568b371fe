/* SPDX-License-Identifier: MIT */
/* What is the same for all kernels: lists of positions, odd dims, attention factors, rope caches, tables that grow. */
#include "posenc.h"
#include "tests/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };

/* Rows [0, rows) by one kernel, null for the library's choice. */
static posenc_status make(const posenc_kernel *kernel, const posenc_problem *problem, void *out) {
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  posenc_plan *plan;
  posenc_status status = posenc_plan_create(&plan, problem, &options);
  if (status != POSENC_OK) return status;
  status = posenc_execute(plan, 0, problem->rows, out);
  posenc_plan_destroy(plan);
  return status;
}

static bool does(const posenc_kernel *kernel, const posenc_problem *problem) {
  return !posenc_kernel_refusal(kernel, problem, NULL);
}

/* sin or cos of position × scale × base^(-index/denominator), times `attention`, from the formula alone. */
static void exact(mpfr_t value, const posenc_problem *problem, double position, double denominator, int64_t index,
                  bool cosine, double attention) {
  mpfr_t w, part;
  mpfr_inits2(400, w, part, (mpfr_ptr)0);
  mpfr_set_d(w, problem->base, MPFR_RNDN);
  mpfr_set_si(part, (long)-index, MPFR_RNDN);
  mpfr_div_d(part, part, denominator, MPFR_RNDN);
  mpfr_pow(w, w, part, MPFR_RNDN);
  mpfr_mul_d(w, w, problem->scale, MPFR_RNDN);
  mpfr_mul_d(w, w, position, MPFR_RNDN);
  if (cosine)
    mpfr_cos(value, w, MPFR_RNDN);
  else
    mpfr_sin(value, w, MPFR_RNDN);
  mpfr_mul_d(value, value, attention, MPFR_RNDN);
  mpfr_clears(w, part, (mpfr_ptr)0);
}

static double element(posenc_dtype dtype, const void *table, int64_t at) {
  if (dtype == POSENC_F64) return ((const double *)table)[at];
  if (dtype == POSENC_F32) return (double)((const float *)table)[at];
  const uint16_t bits = ((const uint16_t *)table)[at];
  const int exponent = dtype == POSENC_F16 ? bits >> 10 & 31 : bits >> 7 & 255, bias = dtype == POSENC_F16 ? 15 : 127,
            mantissa_bits = dtype == POSENC_F16 ? 10 : 7, mantissa = bits & ((1 << mantissa_bits) - 1);
  const double size = exponent ? ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)
                               : ldexp(mantissa, 1 - bias - mantissa_bits);
  return bits >> 15 ? -size : size;
}

/* Bits of a significand, and the exponent of the smallest subnormal. */
static int precision_of(posenc_dtype dtype) {
  return dtype == POSENC_F64 ? 53 : dtype == POSENC_F32 ? 24 : dtype == POSENC_F16 ? 11 : 8;
}
static int least_of(posenc_dtype dtype) {
  return dtype == POSENC_F64 ? -1074 : dtype == POSENC_F32 ? -149 : dtype == POSENC_F16 ? -24 : -133;
}

static double ulp_of(posenc_dtype dtype, const mpfr_t value) {
  if (mpfr_zero_p(value)) return ldexp(1.0, least_of(dtype));
  const int exponent = (int)mpfr_get_exp(value) - precision_of(dtype);
  return ldexp(1.0, exponent > least_of(dtype) ? exponent : least_of(dtype));
}

/* How far an element is from the exact value, and half an ulp of that. */
static double distance(double got, mpfr_t value, posenc_dtype dtype, double *half_ulp) {
  *half_ulp = ulp_of(dtype, value) / 2;
  mpfr_sub_d(value, value, got, MPFR_RNDN);
  return fabs(mpfr_get_d(value, MPFR_RNDN));
}

/* Does it not run on this machine, or in this build? Then that is told. */
static bool is_missing(const posenc_kernel *kernel) {
  const char *why = posenc_kernel_refusal(kernel, NULL, NULL);
  if (why) skip(kernel->name, why);
  return why;
}

/* ---- lists -------------------------------------------------------------------------------------- */

static void test_whole_positions(void) {
  enum { DIM = 48, ROWS = 7, LONG = 1300 };
  static const double list[ROWS] = {1000, 37, 5, 6, 7, 0, 1234};
  static float long_table[LONG * DIM], got[ROWS * DIM];
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  for (size_t k = 0; k < count; k++) {
    posenc_problem all = posenc_table(LONG, DIM), some = posenc_table(ROWS, DIM);

    some.positions = list;
    if (kernels[k]->keeps_rows) {
      ok(!does(kernels[k], &some), "%s: refuses a list", kernels[k]->name);
      continue;
    }
    if (is_missing(kernels[k])) continue;
    bool same = make(kernels[k], &all, long_table) == POSENC_OK && make(kernels[k], &some, got) == POSENC_OK;
    for (int r = 0; r < ROWS && same; r++)
      same = memcmp(got + r * DIM, long_table + (int)list[r] * DIM, DIM * sizeof *got) == 0;
    ok(same, "%s: rows of a list of whole positions are those of a table", kernels[k]->name);
  }
}

/* 5 and 6/256 have successive numbers, but of different units. */
static const double fractions[] = {0.5,       -3.25,
                                   0.1,       1000.3,
                                   1e-6,      123456789.125,
                                   -0.75,     314159.26535,
                                   17.0,      0x1p40,
                                   0.0,       2.5,
                                   3.5,       -1e-3,
                                   1e9 / 3,   -7,
                                   5,         6.0 / 256,
                                   1.0 / 256, 255.99,
                                   4096.5,    0x1.fffffffffffffp52};
enum { FRACTIONS = sizeof fractions / sizeof *fractions };

static void test_fractions(posenc_dtype dtype, double scale) {
  enum { DIM = 32 };
  static char got[FRACTIONS * DIM * 8];
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  mpfr_t value;
  mpfr_init2(value, 400);
  for (size_t k = 0; k < count; k++) {
    posenc_problem problem = posenc_table(FRACTIONS, DIM);
    problem.dtype = dtype;
    problem.positions = fractions;
    problem.scale = scale;
    if (!does(kernels[k], &problem)) continue;
    const posenc_bound *bound = &kernels[k]->bound;
    double worst = -INFINITY;
    bool made = make(kernels[k], &problem, got) == POSENC_OK;
    for (int64_t at = 0; at < FRACTIONS * DIM && made; at++) {
      double half_ulp;
      exact(value, &problem, fractions[at / DIM], DIM / 2, at % DIM / 2, at % 2, 1.0);
      const double error = distance(element(dtype, got, at), value, dtype, &half_ulp);
      worst = fmax(worst, error - 2 * bound->ulp * half_ulp - bound->abs);
    }
    ok(made && worst <= 0.0, "%s, dtype %d, scale %g: %d fractional positions within the bound", kernels[k]->name,
       (int)dtype, scale, FRACTIONS);
  }
  mpfr_clear(value);
}

/* Correct rounding of any fractions whose least angle is not below 2^-40. */
static void test_rounding(void) {
  enum { DIM = 64, ROWS = 200 };
  static double list[ROWS];
  static float got[ROWS * DIM];
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  mpfr_t value;
  mpfr_init2(value, 400);
  for (int r = 0; r < ROWS; r++) {
    const double whole = r * 7919 % 65536 - 32768;
    list[r] = r % 4 == 0 ? whole / 256.0 : r % 4 == 1 ? whole * 4.0 : r % 4 == 2 ? whole / 10.0 : whole * 1e-6;
  }
  for (size_t k = 0; k < count; k++) {
    posenc_problem problem = posenc_table(ROWS, DIM);
    problem.positions = list;
    if (kernels[k]->bound.ulp != 0.5 || kernels[k]->bound.abs != 0.0 || kernels[k]->keeps_rows) continue;
    if (is_missing(kernels[k])) continue;
    int misrounded = make(kernels[k], &problem, got) != POSENC_OK;
    for (int at = 0; at < ROWS * DIM; at++) {
      exact(value, &problem, list[at / DIM], DIM / 2, at % DIM / 2, at % 2, 1.0);
      misrounded += mpfr_get_flt(value, MPFR_RNDN) != got[at];
    }
    ok(misrounded == 0, "%s: fractional positions: %d of %d misrounded", kernels[k]->name, misrounded, ROWS * DIM);
  }
  mpfr_clear(value);
}

static void test_scale(void) {
  enum { DIM = 128, ROWS = 300 };
  static float plain[ROWS * DIM], scaled[ROWS * DIM];
  static double doubles[ROWS];
  posenc_options options = posenc_default_options();
  options.max_ulp = 0.5;
  posenc_plan *plan;
  posenc_problem problem = posenc_table(ROWS, DIM);
  bool made =
      posenc_plan_create(&plan, &problem, &options) == POSENC_OK && posenc_execute(plan, 0, ROWS, plain) == POSENC_OK;
  posenc_plan_destroy(plan);
  for (int r = 0; r < ROWS; r++) doubles[r] = 2 * r;
  problem.positions = doubles;
  problem.scale = 0.5;
  made = made && posenc_plan_create(&plan, &problem, &options) == POSENC_OK;
  for (int r = 0; r < ROWS; r++) doubles[r] = (double)NAN; /* the plan has its own */
  made = made && posenc_execute(plan, 0, ROWS, scaled) == POSENC_OK;
  posenc_plan_destroy(plan);
  ok(made && memcmp(plain, scaled, sizeof plain) == 0,
     "correctly rounded, twice the positions at half the scale are the same table, bit for bit");
}

/* A list is asked for what a table with its ends is. */
static void test_domain(void) {
  static const double back[] = {5, -5}, far[] = {5, 2e7}, fine[] = {9, 5};
  const posenc_kernel *recurrence = posenc_kernel_find("recurrence");
  posenc_problem problem = posenc_table(2, 8);
  problem.positions = back;
  ok(!does(recurrence, &problem), "a kernel that walks from 0 refuses a list with negative positions");
  problem.positions = far;
  ok(!does(recurrence, &problem), "or beyond its domain");
  problem.positions = fine;
  ok(does(recurrence, &problem), "and does any other");
}

/* Correct rounding is promised of angles from 2^-40 on: which of a list is the least must be found wherever it is, and
   of a table too. */
static void test_least_angle(void) {
  static const double tiny = 0x1p-48, lists[][3] = {{0x1p-48, 1 + 0x1p-48, -1 - 0x1p-48},
                                                    {1 + 0x1p-48, 0x1p-48, -1 - 0x1p-48},
                                                    {1 + 0x1p-48, -0x1p-48, -1 - 0x1p-48},
                                                    {-1 - 0x1p-48, 1 + 0x1p-48, 0x1p-48}};
  const posenc_kernel *kernel = posenc_kernel_find("cr-portable");
  posenc_problem problem = posenc_table(3, 8);
  for (size_t n = 0; n < sizeof lists / sizeof *lists; n++) {
    double large[3];
    for (int i = 0; i < 3; i++) large[i] = fabs(lists[n][i]) == tiny ? 1.0 - tiny : lists[n][i];
    problem.positions = lists[n];
    const bool refused = !does(kernel, &problem);
    problem.positions = large;
    ok(refused && does(kernel, &problem), "list %d: refused for its position of 2^-48, and for nothing else", (int)n);
  }
  problem = posenc_table(3, 8);
  problem.base = 0x1.0000000000001p40;
  ok(!does(kernel, &problem), "a base above 2^40 has angles below 2^-40");
  problem.base = 10000.0;
  problem.shift = 2.0;
  ok(!does(kernel, &problem), "and so may a shift above 1");
  /* base^-1 scale |p| >= 2^-40, where base is 2^20 and scale 2^-30: |p| >= 2^10 */
  static const struct {
    int64_t first, rows;
    bool done;
  } tables[] = {{1024, 8, true},        {1023, 8, false},   {-1031, 8, true}, {-1030, 8, false}, {-4000, 8, true},
                {-1048576, 8000, true}, {-100, 200, false}, {0, 1, true},     {0, 2, false}};
  for (size_t n = 0; n < sizeof tables / sizeof *tables; n++) {
    problem = posenc_table(tables[n].rows, 8);
    problem.first = tables[n].first;
    problem.base = 0x1p20;
    problem.scale = 0x1p-30;
    ok(does(kernel, &problem) == tables[n].done, "from %ld, %ld rows, at 2^-30 of a position: %s",
       (long)tables[n].first, (long)tables[n].rows, tables[n].done ? "done" : "refused");
  }
}

static void test_padding(void) {
  enum { DIM = 8, ROWS = 7 };
  static const double list[ROWS] = {3, 1.5, 1, 3.0, 3.5, 3 + 0x1p-30, -3};
  float got[ROWS * DIM], zero[DIM] = {0};
  posenc_problem problem = posenc_table(ROWS, DIM);
  problem.padding = 3;
  double given[ROWS];
  memcpy(given, list, sizeof list);
  problem.positions = given;
  posenc_plan *plan;
  bool made = posenc_plan_create(&plan, &problem, NULL) == POSENC_OK;
  for (int r = 0; r < ROWS; r++) given[r] = 3.0; /* the plan has its own */
  made = made && posenc_execute(plan, 0, ROWS, got) == POSENC_OK;
  posenc_plan_destroy(plan);
  ok(made && memcmp(got, zero, sizeof zero) == 0 && memcmp(got + 3 * DIM, zero, sizeof zero) == 0 &&
         got[DIM + 1] != 0.0f && got[2 * DIM + 1] != 0.0f && got[4 * DIM + 1] != 0.0f && got[5 * DIM + 1] != 0.0f &&
         got[6 * DIM + 1] != 0.0f,
     "the padding position of a list is zero wherever it is");
}

/* ---- odd dims ------------------------------------------------------------------------------------- */

/* Which function of which frequency a column has, written out. False: the column of zeros. */
static bool column_is(posenc_layout layout, posenc_odd odd, int64_t dim, int64_t column, int64_t *index, bool *cosine) {
  if (odd == POSENC_ODD_PAD && column == dim - 1) return false;
  const int64_t sines = odd == POSENC_ODD_PAD ? (dim - 1) / 2 : (dim + 1) / 2, cosines = (dim - 1) / 2;
  switch (layout) {
  case POSENC_INTERLEAVED:
    *index = column / 2;
    *cosine = column % 2;
    return true;
  case POSENC_INTERLEAVED_CS:
    *index = column / 2;
    *cosine = column % 2 == 0 && *index < cosines;
    return true;
  case POSENC_SPLIT:
    *cosine = column >= sines;
    *index = *cosine ? column - sines : column;
    return true;
  case POSENC_SPLIT_CS:
  case POSENC_DUPLICATED:
    *cosine = column < cosines;
    *index = *cosine ? column : column - cosines;
    return true;
  }
  return false;
}

static void test_odd(posenc_dtype dtype, posenc_layout layout, posenc_odd odd, int64_t dim, double shift) {
  enum { ROWS = 40 };
  static char got[MOST];
  posenc_problem problem = posenc_table(ROWS, dim);
  problem.first = 1000;
  problem.dtype = dtype;
  problem.layout = layout;
  problem.odd = odd;
  problem.shift = shift;
  const double half = odd == POSENC_ODD_PAD ? (double)((dim - 1) / 2) : (double)dim / 2;
  bool made = make(NULL, &problem, got) == POSENC_OK;
  int wrong = 0;
  mpfr_t value;
  mpfr_init2(value, 400);
  for (int64_t at = 0; at < ROWS * dim && made; at++) {
    int64_t index;
    bool cosine;
    double half_ulp, x = element(dtype, got, at);
    if (!column_is(layout, odd, dim, at % dim, &index, &cosine)) {
      wrong += x != 0.0;
      continue;
    }
    exact(value, &problem, (double)(1000 + at / dim), half - shift, index, cosine, 1.0);
    wrong += distance(x, value, dtype, &half_ulp) > half_ulp + 0x1p-44;
  }
  mpfr_clear(value);
  ok(made && wrong == 0, "odd dim %d, policy %d, layout %d, dtype %d, shift %g", (int)dim, (int)odd, (int)layout,
     (int)dtype, shift);
}

static void test_odd_add(void) {
  enum { DIM = 33, ROWS = 20, HALF = 5 };
  static float table[ROWS * DIM], x[ROWS * DIM], got[ROWS * DIM];
  posenc_problem problem = posenc_table(ROWS, DIM), add = posenc_add(ROWS, DIM);
  problem.odd = add.odd = POSENC_ODD_CEIL;
  for (int at = 0; at < ROWS * DIM; at++) x[at] = (float)(at * 37 % 101) / 13.0f;
  posenc_plan *plan;
  posenc_options options = posenc_default_options();
  options.kernel = posenc_kernel_find("rotation-portable");
  bool same =
      make(options.kernel, &problem, table) == POSENC_OK && posenc_plan_create(&plan, &add, &options) == POSENC_OK;
  const posenc_slice slice = posenc_rows(HALF, ROWS - HALF);
  same = same && posenc_apply(plan, &slice, x, got) == POSENC_OK;
  for (int at = 0; at < (ROWS - HALF) * DIM && same; at++) same = got[at] == x[at] + table[HALF * DIM + at];
  if (same) posenc_plan_destroy(plan);
  ok(same, "a table with an odd dim is added");
}

/* ---- attention ------------------------------------------------------------------------------------ */

static void test_attention(posenc_dtype dtype, double attention) {
  enum { DIM = 64, ROWS = 64 };
  static char got[ROWS * DIM * 8];
  posenc_problem problem = posenc_table(ROWS, DIM);
  problem.first = 100000;
  problem.dtype = dtype;
  problem.scaling.attention = attention;
  bool made = make(NULL, &problem, got) == POSENC_OK;
  int wrong = 0;
  mpfr_t value;
  mpfr_init2(value, 400);
  for (int at = 0; at < ROWS * DIM && made; at++) {
    double half_ulp;
    exact(value, &problem, 100000 + at / DIM, DIM / 2, at % DIM / 2, at % 2, attention);
    wrong += distance(element(dtype, got, at), value, dtype, &half_ulp) > half_ulp + attention * (0x1p-45 + 0x1p-51);
  }
  mpfr_clear(value);
  ok(made && wrong == 0, "attention factor %g, dtype %d: within the bound", attention, (int)dtype);
}

/* x that cancels the table, so that nothing but the table's error is left of the result. */
static void test_attention_bound(void) {
  enum { DIM = 64, ROWS = 400 };
  static float x[ROWS * DIM], got[ROWS * DIM];
  posenc_problem problem = posenc_add(ROWS, DIM);
  problem.scaling.attention = 1000.0;
  posenc_plan *plan;
  const posenc_slice slice = posenc_rows(0, ROWS);
  mpfr_t value;
  mpfr_init2(value, 400);
  for (int at = 0; at < ROWS * DIM; at++) {
    exact(value, &problem, at / DIM, DIM / 2, at % DIM / 2, at % 2, 1000.0);
    x[at] = -mpfr_get_flt(value, MPFR_RNDN);
  }
  bool within =
      posenc_plan_create(&plan, &problem, NULL) == POSENC_OK && posenc_apply(plan, &slice, x, got) == POSENC_OK;
  const posenc_bound *bound = within ? &posenc_plan_kernel(plan)->bound : NULL;
  for (int at = 0; at < ROWS * DIM && within; at++) {
    exact(value, &problem, at / DIM, DIM / 2, at % DIM / 2, at % 2, 1000.0);
    mpfr_add_d(value, value, (double)x[at], MPFR_RNDN);
    const double sum = mpfr_get_d(value, MPFR_RNDN);
    within = fabs((double)got[at] - sum) <= posenc_applied_bound_at(bound, &problem, at / DIM, fabs(sum));
  }
  mpfr_clear(value);
  if (bound) posenc_plan_destroy(plan);
  ok(within, "what is left of a table with an attention factor, when x cancels it, is within the bound");
}

static void test_attention_formulas(void) {
  posenc_problem problem = posenc_table(1, 8);
  ok(posenc_attention(&problem) == 1.0, "a plain table has attention 1");
  problem.scaling.kind = POSENC_SCALING_YARN;
  problem.scaling.original = 4096;
  problem.scaling.factor = 16.0;
  ok(fabs(posenc_attention(&problem) - (0.1 * log(16.0) + 1.0)) < 1e-15, "yarn: 0.1 ln 16 + 1 = %.17g",
     posenc_attention(&problem));
  problem.scaling.factor = 1.0;
  ok(posenc_attention(&problem) == 1.0, "yarn with factor 1: 1");
  static const double ones[4] = {1, 1, 1, 1};
  problem.scaling.kind = POSENC_SCALING_LONGROPE;
  problem.scaling.factors = ones;
  problem.scaling.factor = 32.0;
  ok(fabs(posenc_attention(&problem) - sqrt(1.0 + log(32.0) / log(4096.0))) < 1e-15,
     "longrope: sqrt(1 + ln 32 / ln 4096) = %.17g", posenc_attention(&problem));
  problem.scaling.kind = POSENC_SCALING_LLAMA3;
  ok(posenc_attention(&problem) == 1.0, "llama3: 1");
  problem.scaling.kind = POSENC_SCALING_LONGROPE;
  problem.scaling.original = 1;
  ok(isnan(posenc_attention(&problem)) && isnan(posenc_attention(NULL)), "none of what is no scaling");
}

/* What an error e of sine and cosine makes of a result: e itself in add, √2 e times the length of the pair in rope;
   and the roundings to f32. */
static void test_applied_bound(void) {
  const double e = 1e-3, size = 2.0;
  const posenc_bound bound = {.abs = e};
  const posenc_problem add = posenc_add(8, 8), rope = posenc_rope(8, 1, 8);
  const double of_add = posenc_applied_bound_at(&bound, &add, 5, size) - e,
               of_rope = posenc_applied_bound_at(&bound, &rope, 5, size) - sqrt(2.0) * e * size;
  ok(of_add >= 0x1p-24 * size && of_add <= 1.01 * 0x1p-24 * size, "add: an error of 0.001, and %g", of_add);
  ok(of_rope >= 0x1p-23 * size && of_rope <= 1.01 * 0x1p-23 * size, "rope: √2 times as much, and %g", of_rope);
}

/* A factor on the table is one on x. */
static void test_attention_rope(void) {
  enum { HEADS = 3, DIM = 16, ROWS = 5 };
  float x[ROWS * HEADS * DIM], got[ROWS * HEADS * DIM];
  posenc_problem problem = posenc_rope(ROWS, HEADS, DIM);
  problem.scaling.attention = 1.25;
  problem.layout = POSENC_SPLIT;
  for (int at = 0; at < ROWS * HEADS * DIM; at++) x[at] = (float)(at % 7) - 3.0f;
  posenc_plan *plan;
  const posenc_slice slice = posenc_rows(0, ROWS);
  const bool made =
      posenc_plan_create(&plan, &problem, NULL) == POSENC_OK && posenc_apply(plan, &slice, x, got) == POSENC_OK;
  double worst = 0.0;
  for (int n = 0; n < ROWS * HEADS && made; n++)
    for (int i = 0; i < DIM / 2; i++) {
      const float *a = x + n * DIM + i, *b = got + n * DIM + i;
      worst =
          fmax(worst, fabs(hypot((double)b[0], (double)b[DIM / 2]) - 1.25 * hypot((double)a[0], (double)a[DIM / 2])));
    }
  if (made) posenc_plan_destroy(plan);
  ok(made && worst < 6 * 0x1p-22, "rope multiplies lengths by the attention factor, within %g", worst);
}

/* ---- rope: lists and caches ------------------------------------------------------------------------- */

static void test_rope_list(void) {
  enum { HEADS = 2, DIM = 8, ROWS = 4 };
  static const double list[ROWS] = {90, 3, 4, 55};
  static const int64_t index[ROWS] = {90, 3, 4, 55};
  float x[ROWS * HEADS * DIM], by_list[ROWS * HEADS * DIM], by_index[ROWS * HEADS * DIM];
  posenc_problem listed = posenc_rope(ROWS, HEADS, DIM), all = posenc_rope(100, HEADS, DIM);
  listed.positions = list;
  for (int at = 0; at < ROWS * HEADS * DIM; at++) x[at] = (float)at;
  posenc_plan *plan;
  posenc_slice slice = posenc_rows(0, ROWS);
  bool made =
      posenc_plan_create(&plan, &listed, NULL) == POSENC_OK && posenc_apply(plan, &slice, x, by_list) == POSENC_OK;
  posenc_plan_destroy(plan);
  slice.index = index;
  made = made && posenc_plan_create(&plan, &all, NULL) == POSENC_OK &&
         posenc_apply(plan, &slice, x, by_index) == POSENC_OK;
  posenc_plan_destroy(plan);
  ok(made && memcmp(by_list, by_index, sizeof by_list) == 0, "rope by a list of positions is that of those rows");
}

static void test_rope_cache(posenc_dtype dtype, posenc_layout layout, int64_t dim) {
  enum { ROWS = 50, FROM = 7 };
  static char table[MOST], cosines[MOST], sines[MOST], alone[MOST];
  const int64_t bytes = (int64_t)posenc_dtype_bytes(dtype), half = dim / 2, width = layout == POSENC_SPLIT ? half : dim;
  posenc_problem problem = posenc_rope_tables(ROWS, dim), split = posenc_table(ROWS, dim);
  problem.dtype = split.dtype = dtype;
  problem.layout = layout;
  problem.base = split.base = 5e5;
  split.layout = POSENC_SPLIT;
  posenc_plan *plan;
  size_t size;
  bool same = make(NULL, &split, table) == POSENC_OK && posenc_plan_create(&plan, &problem, NULL) == POSENC_OK;
  same = same && posenc_rope_cache(plan, FROM, ROWS - FROM, cosines, sines) == POSENC_OK &&
         posenc_rope_cache(plan, FROM, ROWS - FROM, NULL, alone) == POSENC_OK &&
         memcmp(alone, sines, (size_t)((ROWS - FROM) * width * bytes)) == 0 &&
         posenc_table_bytes(&problem, &size) == POSENC_OK && size == (size_t)(ROWS * width * bytes);
  for (int64_t at = 0; at < (ROWS - FROM) * width && same; at++) {
    const int64_t row = FROM + at / width, column = at % width,
                  index = layout == POSENC_INTERLEAVED ? column / 2 : column % half;
    const char *sine = table + (row * dim + index) * bytes;
    same = memcmp(sines + at * bytes, sine, (size_t)bytes) == 0 &&
           memcmp(cosines + at * bytes, sine + half * bytes, (size_t)bytes) == 0;
  }
  same = same && posenc_execute(plan, 0, 1, table) == POSENC_BAD_ARGUMENT &&
         posenc_rope_cache(plan, 0, ROWS + 1, cosines, sines) == POSENC_BAD_ARGUMENT;
  posenc_plan_destroy(plan);
  ok(same, "rope cache, layout %d, dtype %d, dim %d: the table's columns", (int)layout, (int)dtype, (int)dim);
}

/* ---- tables that grow ------------------------------------------------------------------------------- */

static void test_encoder(const posenc_kernel *kernel, int64_t dim, posenc_odd odd) {
  enum { ROWS = 500 };
  static const int64_t steps[] = {1, 1, 0, 5, 30, 63, 100, 300};
  static char whole[ROWS * 40 * 4];
  posenc_problem problem = posenc_table(ROWS, dim);
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  problem.first = 5;
  problem.odd = odd;
  if (!does(kernel, &problem)) return;
  bool same = make(kernel, &problem, whole) == POSENC_OK;
  problem.rows = 3;
  posenc_encoder *encoder;
  int64_t rows, all = 0;
  same = same && posenc_encoder_create(&encoder, &problem, &options) == POSENC_OK &&
         !posenc_encoder_rows(encoder, &rows) && rows == 0;
  for (size_t n = 0; n < sizeof steps / sizeof *steps && same; n++) {
    same = posenc_encoder_append(encoder, steps[n]) == POSENC_OK;
    all += steps[n];
    const void *got = posenc_encoder_rows(encoder, &rows);
    same = same && rows == all && memcmp(got, whole, (size_t)(rows * dim) * 4) == 0;
  }
  same = same && all == ROWS && posenc_encoder_append(encoder, INT64_MAX) == POSENC_TOO_LARGE &&
         posenc_encoder_append(encoder, INT64_C(1) << 61) == POSENC_TOO_LARGE &&
         posenc_encoder_append(encoder, -1) == POSENC_BAD_ARGUMENT && posenc_encoder_rows(encoder, &rows) &&
         rows == ROWS;
  posenc_encoder_destroy(encoder);
  ok(same, "%s, dim %d: a table that grows from 3 rows to %d has the bits of one made at once", kernel->name, (int)dim,
     ROWS);
}

/* Twice as many rows, for which an encoder makes its plans, may be beyond what a kernel does. */
static void test_encoder_domain(void) {
  posenc_encoder *encoder;
  posenc_problem problem = posenc_table(5, 4);
  problem.first = (INT64_C(1) << 62) - 10;
  bool made = posenc_encoder_create(&encoder, &problem, NULL) == POSENC_OK &&
              posenc_encoder_append(encoder, 5) == POSENC_OK && posenc_encoder_append(encoder, 1) == POSENC_OK;
  ok(made, "a table grows to the end of its kernel's domain");
  posenc_encoder_destroy(encoder);
  posenc_options options = posenc_default_options();
  options.max_ulp = 0.5;
  problem = posenc_table(1, 128);
  problem.scale = 0x1p-30;
  ok(posenc_encoder_create(&encoder, &problem, &options) == POSENC_NO_KERNEL,
     "an encoder is not made for position 0 alone, which any kernel does");
}

/* All rows are by the kernel of the first, here the only one that is so accurate next to position 0. */
static void test_encoder_kernel(void) {
  enum { ROWS = 200, DIM = 16 };
  static double want[ROWS * DIM];
  posenc_problem problem = posenc_table(2, DIM);
  posenc_options options = posenc_default_options();
  posenc_encoder *encoder;
  int64_t rows;
  problem.dtype = POSENC_F64;
  options.max_abs = 0x1p-49;
  bool same = posenc_encoder_create(&encoder, &problem, &options) == POSENC_OK;
  for (int n = 0; n < 4 && same; n++) same = posenc_encoder_append(encoder, ROWS / 4) == POSENC_OK;
  problem.rows = ROWS;
  same = same && make(posenc_kernel_find("naive-f64"), &problem, want) == POSENC_OK &&
         memcmp(posenc_encoder_rows(encoder, &rows), want, sizeof want) == 0 && rows == ROWS;
  ok(same, "a table that grows keeps its kernel");
  posenc_encoder_destroy(encoder);
}

static void test_encoder_refusals(void) {
  posenc_encoder *encoder;
  posenc_problem problem = posenc_add(4, 8);
  ok(posenc_encoder_create(&encoder, &problem, NULL) == POSENC_BAD_ARGUMENT && !encoder,
     "an encoder makes tables only");
  static const double list[1] = {0};
  problem = posenc_table(1, 8);
  problem.positions = list;
  ok(posenc_encoder_create(&encoder, &problem, NULL) == POSENC_BAD_ARGUMENT && !encoder, "not of a list");
  problem = posenc_table(4, 7);
  ok(posenc_encoder_create(&encoder, &problem, NULL) == POSENC_BAD_PROBLEM && !encoder, "not of what is no table");
  posenc_encoder_destroy(NULL);
}

/* ---- refusals ----------------------------------------------------------------------------------------- */

/* `why` is part of the reason, "" for none. */
#define REFUSED(change, why)                                                                                           \
  do {                                                                                                                 \
    posenc_problem problem = posenc_table(2, 8);                                                                       \
    problem.scaling.factor = 2.0;                                                                                      \
    problem.scaling.original = 4096;                                                                                   \
    change;                                                                                                            \
    const char *got = posenc_problem_refusal(&problem);                                                                \
    ok(*(why) ? got &&strstr(got, why) : !got, "%s: %s", #change, got ? got : "accepted");                             \
  } while (0)

static void test_refusals(void) {
  static const double bad[2] = {0.0, (double)NAN}, far[2] = {0.0, 0x1p63}, tiny[4] = {1, 1, 1, 1e-9},
                      fine[4] = {1, 2, 3, 4};
  REFUSED(problem.scale = 0.0, "scale");
  REFUSED(problem.scale = -1.0, "scale");
  REFUSED(problem.scale = (double)NAN, "scale");
  REFUSED(problem.dim = 7, "even");
  REFUSED((problem.dim = 7, problem.odd = POSENC_ODD_PAD), "");
  REFUSED((problem.dim = 7, problem.odd = (posenc_odd)9), "odd");
  REFUSED((problem.dim = 7, problem.odd = POSENC_ODD_CEIL, problem.shift = 3.5), "shift");
  REFUSED((problem.dim = 7, problem.odd = POSENC_ODD_CEIL, problem.shift = 3.25), "");
  REFUSED((problem.dim = 7, problem.odd = POSENC_ODD_CEIL, problem.shift = 0x1p-54), "shift + 1/2");
  REFUSED((problem.dim = 7, problem.odd = POSENC_ODD_PAD, problem.op = POSENC_ROPE), "even");
  REFUSED((problem.dim = 3, problem.odd = POSENC_ODD_CEIL, problem.shift = 1.0, problem.base = 1e300), "frequencies");
  REFUSED(problem.positions = bad, "positions");
  REFUSED(problem.positions = far, "positions");
  REFUSED((problem.positions = fine, problem.first = 1), "first");
  REFUSED(problem.layout = POSENC_DUPLICATED, "rope cache");
  REFUSED((problem.layout = POSENC_SPLIT_CS, problem.op = POSENC_ROPE_CACHE), "rope cache");
  REFUSED((problem.layout = POSENC_DUPLICATED, problem.op = POSENC_ROPE_CACHE), "");
  REFUSED(problem.scaling.kind = (posenc_scaling_kind)77, "unknown scaling");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LINEAR, problem.shift = 1.0), "shift");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LINEAR, problem.scaling.factor = 0.5), "factor");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LINEAR, problem.scaling.factor = (double)NAN), "factor");
  REFUSED((problem.scaling.kind = POSENC_SCALING_DYNAMIC, problem.scaling.original = 0), "original");
  REFUSED((problem.scaling.kind = POSENC_SCALING_DYNAMIC, problem.scaling.length = -1), "length");
  REFUSED((problem.scaling.kind = POSENC_SCALING_DYNAMIC, problem.dim = 2), "dim");
  REFUSED((problem.scaling.kind = POSENC_SCALING_YARN, problem.scaling.low = 32.0), "high above low");
  REFUSED((problem.scaling.kind = POSENC_SCALING_YARN, problem.base = 1.0), "base");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LLAMA3, problem.scaling.high = (double)INFINITY), "high");
  REFUSED(problem.scaling.kind = POSENC_SCALING_LONGROPE, "factors");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LONGROPE, problem.scaling.factors = tiny), "factors");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LONGROPE, problem.scaling.factors = fine), "");
  REFUSED(problem.scaling.attention = -1.0, "attention");
  REFUSED(problem.scaling.attention = (double)NAN, "attention");
}

int main(void) {
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F64, POSENC_F16, POSENC_BF16};
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  test_whole_positions();
  for (int n = 0; n < 4; n++) {
    test_fractions(dtypes[n], 1.0);
    test_fractions(dtypes[n], 0.3);
  }
  test_rounding();
  test_scale();
  test_domain();
  test_least_angle();
  test_padding();
  for (int n = 0; n < 4; n++)
    for (int layout = POSENC_INTERLEAVED; layout <= POSENC_SPLIT_CS; layout++) {
      test_odd(dtypes[n], (posenc_layout)layout, POSENC_ODD_PAD, 21, 0.0);
      test_odd(dtypes[n], (posenc_layout)layout, POSENC_ODD_CEIL, 21, 1.0);
    }
  test_odd(POSENC_F32, POSENC_INTERLEAVED, POSENC_ODD_CEIL, 3, 0.0);
  test_odd(POSENC_F32, POSENC_SPLIT, POSENC_ODD_PAD, 3, 0.0);
  test_odd_add();
  for (int n = 0; n < 4; n++) {
    test_attention(dtypes[n], 1.2772588722239782);
    test_attention(dtypes[n], 0.7);
    test_attention(dtypes[n], 1000.0);
  }
  test_attention_bound();
  test_applied_bound();
  test_attention_formulas();
  test_attention_rope();
  test_rope_list();
  for (int n = 0; n < 4; n++) {
    test_rope_cache(dtypes[n], POSENC_DUPLICATED, 128);
    test_rope_cache(dtypes[n], POSENC_INTERLEAVED, 18);
    test_rope_cache(dtypes[n], POSENC_SPLIT, 2);
  }
  for (size_t k = 0; k < count; k++) {
    test_encoder(kernels[k], 32, POSENC_ODD_REFUSED);
    test_encoder(kernels[k], 39, POSENC_ODD_CEIL);
  }
  test_encoder_domain();
  test_encoder_kernel();
  test_encoder_refusals();
  test_refusals();
  return tap_done();
}
