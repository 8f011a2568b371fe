/* SPDX-License-Identifier: MIT */
/* Tests what the library adds to every kernel: lists of positions, odd dims, attention factors, rope caches. */
#include "reference/format.h"
#include "tests/exact.h"
#include "tests/library.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { MOST = 1 << 16 };

static bool does(const posenc_kernel *kernel, const posenc_problem *problem) {
  return !posenc_kernel_refusal(kernel, problem, NULL);
}

/* ---- the formula ---- */

/* The function and frequency of a column, and the denominator of its exponent. column_of returns false for the column
   of zeros. */
typedef struct column {
  int64_t index;
  bool cosine;
  double denominator;
} column;

static bool column_of(const posenc_problem *problem, int64_t at, column *c) {
  const int64_t dim = problem->dim, cosines = dim / 2, sines = dim - cosines - (problem->odd == POSENC_ODD_PAD);
  c->denominator = (problem->odd == POSENC_ODD_PAD ? (double)cosines : (double)dim / 2) - problem->shift;
  if (at >= sines + cosines) return false;
  switch (problem->layout) {
  case POSENC_INTERLEAVED:
    c->index = at / 2;
    c->cosine = at % 2;
    break;
  case POSENC_INTERLEAVED_CS:
    c->index = at / 2;
    c->cosine = at % 2 == 0 && c->index < cosines;
    break;
  case POSENC_SPLIT:
    c->cosine = at >= sines;
    c->index = c->cosine ? at - sines : at;
    break;
  default:
    c->cosine = at < cosines;
    c->index = c->cosine ? at : at - cosines;
  }
  return true;
}

/* Computes sin or cos of position × scale × base^(-index/denominator), times the problem's own attention factor. */
static void formula(mpfr_t value, const posenc_problem *problem, double position, const column *c) {
  mpfr_t w;
  mpfr_init2(w, 400);
  exact_frequency(w, problem->base, c->index, c->denominator);
  mpfr_mul_d(w, w, problem->scale, MPFR_RNDN);
  mpfr_mul_d(w, w, position, MPFR_RNDN);
  (c->cosine ? mpfr_cos : mpfr_sin)(value, w, MPFR_RNDN);
  if (problem->scaling.attention != 0.0) mpfr_mul_d(value, value, problem->scaling.attention, MPFR_RNDN);
  mpfr_clear(w);
}

static double ulp_of(posenc_dtype dtype, const mpfr_t value) {
  const format *f = format_of(dtype);
  const int exponent = mpfr_zero_p(value) ? f->least : (int)mpfr_get_exp(value) - f->precision;
  return ldexp(1.0, exponent > f->least ? exponent : f->least);
}

/* Counts the elements of a table whose distance from the formula is beyond the bound. */
static int count_beyond(const posenc_problem *problem, const void *table, posenc_bound bound) {
  int beyond = 0;
  mpfr_t value;
  mpfr_init2(value, 400);
  for (int64_t at = 0; at < problem->rows * problem->dim; at++) {
    const int64_t row = at / problem->dim;
    const double position = problem->positions ? problem->positions[row] : (double)(problem->first + row),
                 got = format_element(problem->dtype, table, at);
    column c;
    if (!column_of(problem, at % problem->dim, &c)) {
      beyond += got != 0.0;
      continue;
    }
    formula(value, problem, position, &c);
    const double allowed =
        bound.ulp * ulp_of(problem->dtype, value) + bound.abs + bound.growth * fabs(position) * problem->scale;
    mpfr_sub_d(value, value, got, MPFR_RNDN);
    beyond += !(fabs(mpfr_get_d(value, MPFR_RNDN)) <= allowed);
  }
  mpfr_clear(value);
  return beyond;
}

/* Whether a kernel does not run on this machine, or in this build; then its point is skipped. */
static bool is_missing(const posenc_kernel *kernel) {
  const char *why = posenc_kernel_refusal(kernel, NULL, NULL);
  if (why) skip(kernel->name, why);
  return why;
}

/* ---- lists ---- */

static void test_whole_positions(const posenc_kernel *kernel) {
  enum { DIM = 48, ROWS = 7, LONG = 1300 };
  static const double list[ROWS] = {1000, 37, 5, 6, 7, 0, 1234};
  static float long_table[LONG * DIM], got[ROWS * DIM];
  posenc_problem all = posenc_table(LONG, DIM), some = posenc_table(ROWS, DIM);
  some.positions = list;
  if (kernel->keeps_rows) {
    ok(!does(kernel, &some), "%s: refuses a list", kernel->name);
    return;
  }
  if (is_missing(kernel)) return;
  bool same = make_table(kernel, &all, long_table) && make_table(kernel, &some, got);
  for (int r = 0; r < ROWS && same; r++)
    same = memcmp(got + r * DIM, long_table + (int)list[r] * DIM, DIM * sizeof *got) == 0;
  ok(same, "%s: rows of a list of whole positions are those of a table", kernel->name);
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

static void test_fractions(const posenc_kernel *kernel) {
  enum { DIM = 32 };
  static const double scales[] = {1.0, 0.3};
  static char got[FRACTIONS * DIM * 8];
  posenc_problem problem = posenc_table(FRACTIONS, DIM);
  problem.positions = fractions;
  for (int dtype = POSENC_F32; dtype <= POSENC_BF16; dtype++)
    for (int n = 0; n < 2; n++) {
      problem.dtype = (posenc_dtype)dtype;
      problem.scale = scales[n];
      if (!does(kernel, &problem)) continue;
      const bool made = make_table(kernel, &problem, got);
      ok(made && count_beyond(&problem, got, posenc_kernel_bound(kernel, &problem)) == 0,
         "%s, dtype %d, scale %g: %d fractional positions within the bound", kernel->name, dtype, scales[n], FRACTIONS);
    }
}

/* Tests correct rounding of any fractions whose smallest angle is not below 2^-38. */
static void test_rounding(const posenc_kernel *kernel) {
  enum { DIM = 64, ROWS = 200 };
  static double list[ROWS];
  static float got[ROWS * DIM];
  if (kernel->bound.ulp != 0.5 || kernel->bound.abs != 0.0 || kernel->keeps_rows || is_missing(kernel)) return;
  for (int r = 0; r < ROWS; r++) {
    const double whole = r * 7919 % 65536 - 32768;
    const double four[] = {whole / 256.0, whole * 4.0, whole / 10.0, whole * 1e-6};
    list[r] = four[r % 4];
  }
  posenc_problem problem = posenc_table(ROWS, DIM);
  problem.positions = list;
  const bool made = make_table(kernel, &problem, got);
  const int misrounded = count_beyond(&problem, got, (posenc_bound){.ulp = 0.5});
  ok(made && misrounded == 0, "%s: fractional positions: %d of %d misrounded", kernel->name, misrounded, ROWS * DIM);
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
  for (int r = 0; r < ROWS; r++) doubles[r] = (double)NAN; /* the plan has a copy */
  made = made && posenc_execute(plan, 0, ROWS, scaled) == POSENC_OK;
  posenc_plan_destroy(plan);
  ok(made && memcmp(plain, scaled, sizeof plain) == 0,
     "correctly rounded, twice the positions at half the scale are the same table, bit for bit");
}

/* Tests that a kernel refuses a list if and only if it refuses a table with the same ends. */
static void test_domain(void) {
  static const double back[] = {5, -5}, far[] = {5, 2e7}, fine[] = {9, 5};
  const posenc_kernel *recurrence = posenc_kernel_find("recurrence");
  posenc_problem problem = posenc_table(2, 8);
  problem.positions = back;
  ok(!does(recurrence, &problem), "a kernel whose recurrence begins at 0 refuses a list with negative positions");
  problem.positions = far;
  ok(!does(recurrence, &problem), "or beyond its domain");
  problem.positions = fine;
  ok(does(recurrence, &problem), "and does any other");
}

/* Tests an angle x that is a midpoint of f32. Its sine is x³/6 below x; for 2^-38 that is 2^-117. */
static void test_middle(const posenc_kernel *kernel) {
  static const double below = 0x1.000001p-40, least = 0x1.000001p-38, more = 0x1.000003p-30;
  double list[] = {1.0, least, more, -least};
  float got[8];
  if (kernel->bound.ulp != 0.5 || kernel->bound.abs != 0.0 || kernel->keeps_rows || is_missing(kernel)) return;
  posenc_problem problem = posenc_table(4, 2);
  problem.base = 1.0;
  problem.positions = list;
  const bool made = make_table(kernel, &problem, got);
  ok(made && got[2] == 0x1p-38F && got[4] == 0x1.000002p-30F && got[6] == -0x1p-38F,
     "%s: sines next to a middle are rounded down", kernel->name);
  list[1] = below;
  ok(!does(kernel, &problem), "%s: refuses an angle below 2^-38", kernel->name);
}

/* Tests the smallest angle: correct rounding is guaranteed for angles from 2^-38 on, so the smallest position must be
   found at any place of a list or a table. */
static void test_least_of_list(void) {
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
}

static void test_least_of_table(void) {
  /* base^-1 scale |p| >= 2^-38, with base 2^20 and scale 2^-30: |p| >= 2^12 */
  static const struct {
    int64_t first, rows;
    bool done;
  } tables[] = {{4096, 8, true},        {4095, 8, false},   {-4103, 8, true}, {-4102, 8, false}, {-16000, 8, true},
                {-1048576, 8000, true}, {-100, 200, false}, {0, 1, true},     {0, 2, false}};
  const posenc_kernel *kernel = posenc_kernel_find("cr-portable");
  posenc_problem problem = posenc_table(3, 8);
  problem.base = 0x1.0000000000001p40;
  ok(!does(kernel, &problem), "a base above 2^40 has angles below 2^-40");
  problem.base = 10000.0;
  problem.shift = 2.0;
  ok(!does(kernel, &problem), "a shift above 1 may have them");
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
  posenc_plan *plan = plan_by(NULL, &problem);
  for (int r = 0; r < ROWS; r++) given[r] = 3.0; /* the plan has a copy */
  const bool made = plan && posenc_execute(plan, 0, ROWS, got) == POSENC_OK;
  posenc_plan_destroy(plan);
  int right = 0;
  for (int r = 0; r < ROWS; r++)
    right += list[r] == 3.0 ? memcmp(got + r * DIM, zero, sizeof zero) == 0 : got[r * DIM + 1] != 0.0f;
  ok(made && right == ROWS, "the padding position of a list is zero wherever it is");
}

/* ---- odd dims ---- */

static void test_odd(posenc_dtype dtype, posenc_layout layout, posenc_odd odd, int64_t dim, double shift) {
  enum { ROWS = 40 };
  static char got[MOST];
  posenc_problem problem = posenc_table(ROWS, dim);
  problem.first = 1000;
  problem.dtype = dtype;
  problem.layout = layout;
  problem.odd = odd;
  problem.shift = shift;
  const bool made = make_table(NULL, &problem, got);
  ok(made && count_beyond(&problem, got, (posenc_bound){.ulp = 0.5, .abs = 0x1p-44}) == 0,
     "odd dim %d, policy %d, layout %d, dtype %d, shift %g", (int)dim, (int)odd, (int)layout, (int)dtype, shift);
}

static void test_odd_add(void) {
  enum { DIM = 33, ROWS = 20, HALF = 5 };
  static float table[ROWS * DIM], x[ROWS * DIM], got[ROWS * DIM];
  posenc_problem problem = posenc_table(ROWS, DIM), add = posenc_add(ROWS, DIM);
  problem.odd = add.odd = POSENC_ODD_CEIL;
  for (int at = 0; at < ROWS * DIM; at++) x[at] = (float)(at * 37 % 101) / 13.0f;
  const posenc_kernel *kernel = posenc_kernel_find("rotation-portable");
  const posenc_slice slice = posenc_rows(HALF, ROWS - HALF);
  bool same = make_table(kernel, &problem, table) && apply_rows(kernel, &add, &slice, x, got);
  for (int at = 0; at < (ROWS - HALF) * DIM && same; at++) same = got[at] == x[at] + table[HALF * DIM + at];
  ok(same, "a table with an odd dim is added");
}

/* ---- attention ---- */

static void test_attention(posenc_dtype dtype, double attention) {
  enum { DIM = 64, ROWS = 64 };
  static char got[ROWS * DIM * 8];
  posenc_problem problem = posenc_table(ROWS, DIM);
  problem.first = 100000;
  problem.dtype = dtype;
  problem.scaling.attention = attention;
  const bool made = make_table(NULL, &problem, got);
  ok(made && count_beyond(&problem, got, (posenc_bound){.ulp = 0.5, .abs = attention * (0x1p-45 + 0x1p-51)}) == 0,
     "attention factor %g, dtype %d: within the bound", attention, (int)dtype);
}

/* Tests an x that cancels the table, so that the result is the table's error alone. */
static void test_attention_bound(void) {
  enum { DIM = 64, ROWS = 400 };
  static float x[ROWS * DIM], got[ROWS * DIM];
  static double sums[ROWS * DIM];
  posenc_problem problem = posenc_add(ROWS, DIM);
  problem.scaling.attention = 1000.0;
  mpfr_t value;
  mpfr_init2(value, 400);
  for (int at = 0; at < ROWS * DIM; at++) {
    column c;
    column_of(&problem, at % DIM, &c);
    formula(value, &problem, at / DIM, &c);
    x[at] = -mpfr_get_flt(value, MPFR_RNDN);
    mpfr_add_d(value, value, (double)x[at], MPFR_RNDN);
    sums[at] = mpfr_get_d(value, MPFR_RNDN);
  }
  mpfr_clear(value);
  posenc_plan *plan = plan_by(NULL, &problem);
  const posenc_slice slice = posenc_rows(0, ROWS);
  bool within = plan && posenc_apply(plan, &slice, x, got) == POSENC_OK;
  for (int at = 0; at < ROWS * DIM && within; at++)
    within = fabs((double)got[at] - sums[at]) <=
             posenc_applied_bound_at(&posenc_plan_kernel(plan)->bound, &problem, at / DIM, fabs(sums[at]));
  posenc_plan_destroy(plan);
  ok(within, "what is left of a table with an attention factor, when x cancels it, is within the bound");
}

static void test_attention_formulas(void) {
  posenc_problem problem = posenc_table(1, 8);
  ok(posenc_attention(&problem) == 1.0, "a plain table has attention 1");
  problem.scaling = posenc_scaling_yarn(16.0, 4096);
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
  ok(isnan(posenc_attention(&problem)) && isnan(posenc_attention(NULL)),
     "an invalid scaling, or no problem, has no attention factor");
}

/* Tests the bound of results: an error e of sine and cosine is e in add and √2 e times the length of the pair in rope;
   f32 adds its roundings. */
static void test_applied_bound(void) {
  const double e = 1e-3, size = 2.0;
  const posenc_bound bound = {.abs = e};
  const posenc_problem add = posenc_add(8, 8), rope = posenc_rope(8, 1, 8);
  const double of_add = posenc_applied_bound_at(&bound, &add, 5, size) - e,
               of_rope = posenc_applied_bound_at(&bound, &rope, 5, size) - sqrt(2.0) * e * size;
  ok(of_add >= 0x1p-24 * size && of_add <= 1.01 * 0x1p-24 * size, "add: an error of 0.001, and %g", of_add);
  ok(of_rope >= 0x1p-23 * size && of_rope <= 1.01 * 0x1p-23 * size, "rope: √2 times as much, and %g", of_rope);
}

/* Tests that a factor on the table is a factor on x. */
static void test_attention_rope(void) {
  enum { HEADS = 3, DIM = 16, ROWS = 5 };
  float x[ROWS * HEADS * DIM], got[ROWS * HEADS * DIM];
  posenc_problem problem = posenc_rope(ROWS, HEADS, DIM);
  problem.scaling.attention = 1.25;
  problem.layout = POSENC_SPLIT;
  for (int at = 0; at < ROWS * HEADS * DIM; at++) x[at] = (float)(at % 7) - 3.0f;
  const posenc_slice slice = posenc_rows(0, ROWS);
  const bool made = apply_rows(NULL, &problem, &slice, x, got);
  double worst = 0.0;
  for (int n = 0; n < ROWS * HEADS && made; n++)
    for (int i = 0; i < DIM / 2; i++) {
      const float *a = x + n * DIM + i, *b = got + n * DIM + i;
      worst =
          fmax(worst, fabs(hypot((double)b[0], (double)b[DIM / 2]) - 1.25 * hypot((double)a[0], (double)a[DIM / 2])));
    }
  ok(made && worst < 6 * 0x1p-22, "rope multiplies lengths by the attention factor, within %g", worst);
}

/* ---- rope: lists and caches ---- */

static void test_rope_list(void) {
  enum { HEADS = 2, DIM = 8, ROWS = 4 };
  static const double list[ROWS] = {90, 3, 4, 55};
  static const int64_t index[ROWS] = {90, 3, 4, 55};
  float x[ROWS * HEADS * DIM], by_list[ROWS * HEADS * DIM], by_index[ROWS * HEADS * DIM];
  posenc_problem listed = posenc_rope(ROWS, HEADS, DIM), all = posenc_rope(100, HEADS, DIM);
  posenc_slice slice = posenc_rows(0, ROWS), indexed = slice;
  listed.positions = list;
  indexed.index = index;
  for (int at = 0; at < ROWS * HEADS * DIM; at++) x[at] = (float)at;
  ok(apply_rows(NULL, &listed, &slice, x, by_list) && apply_rows(NULL, &all, &indexed, x, by_index) &&
         memcmp(by_list, by_index, sizeof by_list) == 0,
     "rope by a list of positions is that of those rows");
}

/* Tests caches at the beginning of cache lines, or `off` elements after it. */
static void test_rope_cache(posenc_dtype dtype, posenc_layout layout, int64_t dim, posenc_stores stores, int off) {
  enum { ROWS = 150, FROM = 7, MOST_BYTES = ROWS * 128 * 8, MARK = 0x55 };
  static char table[MOST_BYTES];
  static _Alignas(64) char room[3][MOST_BYTES + 64];
  char *const cosines = room[0] + (size_t)off * posenc_dtype_bytes(dtype), *const sines = cosines + sizeof *room,
              *const alone = sines + sizeof *room;
  const int64_t bytes = (int64_t)posenc_dtype_bytes(dtype), half = dim / 2, width = layout == POSENC_SPLIT ? half : dim;
  posenc_problem problem = posenc_rope_tables(ROWS, dim), split = posenc_table(ROWS, dim);
  problem.dtype = split.dtype = dtype;
  problem.layout = layout;
  problem.base = split.base = 5e5;
  split.layout = POSENC_SPLIT;
  posenc_options options = posenc_default_options();
  posenc_plan *plan = NULL;
  size_t size;
  options.stores = stores;
  bool same = make_table(NULL, &split, table) && posenc_plan_create(&plan, &problem, &options) == POSENC_OK;
  memset(room, MARK, sizeof room);
  same = same && posenc_rope_cache(plan, FROM, ROWS - FROM, cosines, sines) == POSENC_OK &&
         posenc_rope_cache(plan, FROM, ROWS - FROM, NULL, alone) == POSENC_OK &&
         memcmp(alone, sines, (size_t)((ROWS - FROM) * width * bytes)) == 0 &&
         posenc_table_bytes(&problem, &size) == POSENC_OK && size == (size_t)(ROWS * width * bytes);
  for (int64_t at = 0; at < (ROWS - FROM) * width && same; at++) {
    const int64_t row = FROM + at / width, c = at % width, index = layout == POSENC_INTERLEAVED ? c / 2 : c % half;
    const char *sine = table + (row * dim + index) * bytes;
    same = memcmp(sines + at * bytes, sine, (size_t)bytes) == 0 &&
           memcmp(cosines + at * bytes, sine + half * bytes, (size_t)bytes) == 0;
  }
  const int64_t end = (ROWS - FROM) * width * bytes;
  same = same && cosines[end] == MARK && sines[end] == MARK && (off == 0 || (cosines[-1] == MARK && sines[-1] == MARK));
  same = same && posenc_execute(plan, 0, 1, table) == POSENC_BAD_ARGUMENT &&
         posenc_rope_cache(plan, 0, ROWS + 1, cosines, sines) == POSENC_BAD_ARGUMENT;
  posenc_plan_destroy(plan);
  ok(same, "rope cache, layout %d, dtype %d, dim %d, stores %d, %d elements off: the table's columns", (int)layout,
     (int)dtype, (int)dim, (int)stores, off);
}

int main(void) {
  each_kernel(test_whole_positions);
  each_kernel(test_fractions);
  each_kernel(test_rounding);
  each_kernel(test_middle);
  test_scale();
  test_domain();
  test_least_of_list();
  test_least_of_table();
  test_padding();
  for (int n = POSENC_F32; n <= POSENC_BF16; n++) {
    const posenc_dtype dtype = (posenc_dtype)n;
    for (int layout = POSENC_INTERLEAVED; layout <= POSENC_SPLIT_CS; layout++) {
      test_odd(dtype, (posenc_layout)layout, POSENC_ODD_PAD, 21, 0.0);
      test_odd(dtype, (posenc_layout)layout, POSENC_ODD_CEIL, 21, 1.0);
    }
    test_attention(dtype, 1.2772588722239782);
    test_attention(dtype, 0.7);
    test_attention(dtype, 1000.0);
    for (int how = 0; how < 4; how++) {
      const posenc_stores stores = how % 2 ? POSENC_STORES_STREAMING : POSENC_STORES_REGULAR;
      const int off = how < 2 ? 0 : 3;
      test_rope_cache(dtype, POSENC_DUPLICATED, 128, stores, off);
      test_rope_cache(dtype, POSENC_INTERLEAVED, 128, stores, off);
      test_rope_cache(dtype, POSENC_INTERLEAVED, 18, stores, off);
      test_rope_cache(dtype, POSENC_SPLIT, 64, stores, off);
      test_rope_cache(dtype, POSENC_SPLIT, 2, stores, off);
    }
  }
  test_odd(POSENC_F32, POSENC_INTERLEAVED, POSENC_ODD_CEIL, 3, 0.0);
  test_odd(POSENC_F32, POSENC_SPLIT, POSENC_ODD_PAD, 3, 0.0);
  test_odd_add();
  test_attention_bound();
  test_applied_bound();
  test_attention_formulas();
  test_attention_rope();
  test_rope_list();
  return tap_done();
}
