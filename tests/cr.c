/* SPDX-License-Identifier: MIT */
/*
 * Tests the fast path of the correctly rounded kernels before rounding: its doubles against MPFR, within the error
 * that impls/cr/cr.h derives, and the constants of that derivation. The rounded elements of a kernel cannot show a
 * margin that is too small, as the largest error of the fast path is a third of the derived one.
 */
#include "lib/api/kernel.h"
#include "lib/exact/round.h"
#include "reference/scaling.h"
#include "tests/tap.h"

#include <mpfr.h>
#include <stdlib.h>

#include "impls/cr/cr.h"
#include "lib/simd/generic.h"

enum { VECTORS = 8, STREAM_VECTORS = 8, STREAMS = false, SHIFT_FROM = 0, SUM_VECTORS = 4 };

/* In the place of rounding.h. */
#define POSENC_IMPLS_CR_ROUNDING_H
#include "lib/simd/exact.h"

INLINE bool is_uncertain(posenc_dtype dtype, flags any) {
  (void)dtype;
  (void)any;
  return false;
}

/* The start of the table; its doubles are stored in the place of its elements. */
static const char *table_start;
static double *exact_columns;

INLINE flags store_pair(posenc_dtype dtype, bool streamed, bool certified, void *place, doubles a, doubles b,
                        flags so_far) {
  (void)dtype;
  (void)streamed;
  (void)certified;
  double *to = exact_columns + ((const char *)place - table_start) / 4;
  for (int i = 0; i < LANES; i++) {
    to[i] = a[i];
    to[LANES + i] = b[i];
  }
  return so_far;
}

INLINE u64s store_between(posenc_dtype dtype, void *to, const doubles *least, const doubles *most) {
  (void)dtype;
  (void)to;
  (void)least;
  (void)most;
  return (u64s){0};
}

/* The value before rounding to f64, and its error. As low and high are equal, no rounding is uncertain. */
typedef struct interval {
  doubles low, high, t, r, error;
} interval;

INLINE interval interval_of(bool scaled, posenc_sum factor, doubles t, doubles r, doubles above, doubles error) {
  (void)scaled;
  (void)factor;
  return (interval){above, above, t, r, error};
}

/* The doubles of the table that begins at sums_start. */
typedef struct unrounded {
  double t, r, error;
} unrounded;
static double *sums_start;
static unrounded *made_sums;

INLINE void store_sum(bool streamed, double *to, interval x) {
  (void)streamed;
  for (int i = 0; i < LANES; i++) made_sums[to - sums_start + i] = (unrounded){x.t[i], x.r[i], x.error[i]};
}

#include "impls/cr/template.h"

enum { ROWS = 1024, DIM = 32 }; /* whole vectors: store_pair stores every element at its own place */

typedef struct cr {
  double *values, *pieces; /* made at once; made by calls of 1 to 300 rows */
} cr;

static void make(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, double *into) {
  static float out[ROWS * DIM];
  table_start = (const char *)(const void *)out;
  exact_columns = into;
  execute(constants, problem, row, rows, out);
}

/* Returns the largest distance from MPFR, in units of 2^-53. */
static double worst_of(const posenc_problem *problem, const double *values, int64_t rows) {
  mpfr_t w, x, sine, cosine;
  double worst = 0.0;
  mpfr_inits2(240, w, x, sine, cosine, (mpfr_ptr)0);
  for (int64_t i = 0; i < DIM / 2; i++) {
    mpfr_set_d(w, problem->base, MPFR_RNDN);
    mpfr_set_si(x, (long)-i, MPFR_RNDN);
    mpfr_div_si(x, x, DIM / 2, MPFR_RNDN);
    mpfr_pow(w, w, x, MPFR_RNDN);
    for (int64_t row = 0; row < rows; row++) {
      integer_times(x, w, problem->first + row);
      mpfr_sin_cos(sine, cosine, x, MPFR_RNDN);
      mpfr_sub_d(sine, sine, values[row * DIM + 2 * i], MPFR_RNDN);
      mpfr_sub_d(cosine, cosine, values[row * DIM + 2 * i + 1], MPFR_RNDN);
      worst = fmax(worst, fmax(fabs(mpfr_get_d(sine, MPFR_RNDN)), fabs(mpfr_get_d(cosine, MPFR_RNDN))));
    }
  }
  mpfr_clears(w, x, sine, cosine, (mpfr_ptr)0);
  return worst * 0x1p53;
}

/* Counts the doubles of the stages that differ, except those of uncertain elements, which are recomputed. */
static int64_t untold(const void *constants, const posenc_problem *problem, const double *values) {
  static posenc_stages stages[ROWS * DIM / 2];
  const uint64_t bits = cr_midpoint_bits(POSENC_F32);
  int64_t wrong = 0;
  write_stages(constants, problem, 0, ROWS, stages);
  for (int64_t at = 0; at < ROWS * DIM / 2; at++) {
    const double sine = values[2 * at], cosine = values[2 * at + 1];
    wrong += !cr_is_uncertain(sine, bits) && stages[at].sine.high != sine;
    wrong += !cr_is_uncertain(cosine, bits) && stages[at].cosine.high != cosine;
  }
  return wrong;
}

static double test_table(double base, int64_t first) {
  posenc_problem problem = posenc_table(ROWS, DIM);
  void *constants;
  static double whole[ROWS * DIM], pieces[ROWS * DIM];
  problem.base = base;
  problem.first = first;
  if (cr_prepare(&problem, NULL, &constants) != POSENC_OK) return 0.0;
  make(constants, &problem, 0, ROWS, whole);
  for (int64_t row = 0, rows = 2; row < ROWS; row += rows) {
    rows = row % 299 + 2 < ROWS - row ? row % 299 + 2 : ROWS - row;
    make(constants, &problem, row, rows, pieces + row * DIM);
  }
  int64_t differ = 0;
  for (int64_t at = 0; at < ROWS * DIM; at++) differ += !(whole[at] == pieces[at]);
  ok(differ == 0, "base %g, from %ld: %ld of %d doubles depend on which rows are asked for", base, (long)first,
     (long)differ, ROWS * DIM);
  const int64_t wrong = untold(constants, &problem, whole);
  ok(wrong == 0, "and %ld differ from the stages", (long)wrong);
  const double worst = worst_of(&problem, whole, ROWS);
  ok(worst <= CR_ERROR * 0x1p53, "within %.1f × 2^-53 of MPFR, of %.0f", worst, CR_ERROR * 0x1p53);
  cr_release(constants);
  return worst;
}

/* Bases and first positions that are tried, and the worst ones so far. */
typedef struct hunt {
  uint64_t state;
  double worst, base;
  int64_t first;
} hunt;

/* Tries a table. Half of the tries are drawn, every other one with a base below 4, where frequencies are large and
   successive ones nearly equal. The other tries are near the worst so far, in smaller and smaller steps, so that errors
   of phases add up. */
static void hunt_next(hunt *h, int n, int tries, posenc_problem *problem) {
  h->state = h->state * UINT64_C(6364136223846793005) + 1442695040888963407;
  const double drawn = (double)(h->state >> 11) * 0x1p-53;
  if (n < tries / 2) {
    problem->base = exp2(n % 2 ? 2.0 * drawn : 40.0 * drawn);
    problem->first = (int64_t)(h->state >> 24);
  } else {
    problem->base = fmin(fmax(h->base * (1.0 + (drawn - 0.5) * exp2(-4 - n % 40)), 1.0), 0x1p40);
    problem->first = n % 3 ? h->first : h->first + (int64_t)(h->state >> 56) * 256;
  }
}

static void hunt_take(hunt *h, double worst, const posenc_problem *problem) {
  if (!(worst > h->worst)) return;
  *h = (hunt){h->state, worst, problem->base, problem->first};
}

/* Tests the last two blocks before an exact anchor, where errors add up. */
static double test_adversarial(void) {
  enum { TRIES = 400, LAST = 64 };
  static double values[LAST * DIM];
  hunt h = {.state = 1};
  double drawn = 0.0;
  for (int n = 0; n < TRIES; n++) {
    posenc_problem problem = posenc_table(LAST, DIM);
    void *constants;
    hunt_next(&h, n, TRIES, &problem);
    problem.first = (int64_t)((uint64_t)problem.first & ~UINT64_C(255)) + 256 - LAST - KERNEL_BLOCK / 2;
    if (cr_prepare(&problem, NULL, &constants) != POSENC_OK) return INFINITY;
    make(constants, &problem, 0, LAST, values);
    hunt_take(&h, worst_of(&problem, values, LAST), &problem);
    cr_release(constants);
    if (n < TRIES / 2) drawn = h.worst;
  }
  ok(h.worst <= CR_ERROR * 0x1p53, "%d adversarial tables: within %.1f × 2^-53 of MPFR, with base %.17g; %.1f if drawn",
     TRIES, h.worst, h.base, drawn);
  return h.worst;
}

/* ---- f64 ---- */

/* Returns the largest distance of rows from MPFR, in units of their derived error. */
static double worst_sum_of(const posenc_problem *problem, int64_t first, int64_t rows) {
  mpfr_t w, x, y[2];
  double worst = 0.0;
  mpfr_inits2(300, w, x, y[0], y[1], (mpfr_ptr)0);
  for (int64_t i = 0; i < DIM / 2; i++) {
    mpfr_set_d(w, problem->base, MPFR_RNDN);
    mpfr_set_si(x, (long)-i, MPFR_RNDN);
    mpfr_div_si(x, x, DIM / 2, MPFR_RNDN);
    mpfr_pow(w, w, x, MPFR_RNDN);
    mpfr_mul_d(w, w, problem->scale, MPFR_RNDN);
    for (int64_t row = first; row < first + rows; row++) {
      integer_times(x, w, problem->first + row);
      mpfr_sin_cos(y[0], y[1], x, MPFR_RNDN);
      for (int cosine = 0; cosine < 2; cosine++) {
        const unrounded *made = &made_sums[row * DIM + 2 * i + cosine];
        mpfr_sub_d(y[cosine], y[cosine], made->t, MPFR_RNDN);
        mpfr_sub_d(y[cosine], y[cosine], made->r, MPFR_RNDN);
        worst = fmax(worst, fabs(mpfr_get_d(y[cosine], MPFR_RNDN)) / made->error);
      }
    }
  }
  mpfr_clears(w, x, y[0], y[1], (mpfr_ptr)0);
  return worst;
}

/* Tests sums_sincos on fractions of a turn of every size: the largest error, in units of 2^-86 of the value. */
static void test_sincos_of_sums(void) {
  enum { TRIES = 4000 };
  mpfr_t x, y[2], got;
  uint64_t state = 5;
  double worst = 0.0;
  mpfr_inits2(300, x, y[0], y[1], got, (mpfr_ptr)0);
  for (int n = 0; n < TRIES; n++) {
    uint64_t parts[2];
    for (int k = 0; k < 2; k++) parts[k] = (state = state * UINT64_C(6364136223846793005) + 1442695040888963407);
    parts[0] = n % 3 ? parts[0] >> n % 61 : parts[0]; /* some below a quarter of a turn, as small as 2^-60 of one */
    sums sine, cosine;
    sums_sincos((u64s){0} + parts[0], (u64s){0} + parts[1], &sine, &cosine);
    mpfr_set_uj(x, parts[0], MPFR_RNDN);
    mpfr_mul_2ui(x, x, 64, MPFR_RNDN);
    mpfr_set_uj(got, parts[1], MPFR_RNDN);
    mpfr_add(x, x, got, MPFR_RNDN);
    mpfr_div_2ui(x, x, 128, MPFR_RNDN);
    mpfr_sinu(y[0], x, 1, MPFR_RNDN);
    mpfr_cosu(y[1], x, 1, MPFR_RNDN);
    for (int k = 0; k < 2; k++) {
      mpfr_set_d(got, k ? cosine.high[0] : sine.high[0], MPFR_RNDN);
      mpfr_add_d(got, got, k ? cosine.low[0] : sine.low[0], MPFR_RNDN);
      mpfr_sub(got, got, y[k], MPFR_RNDN);
      mpfr_div(got, got, y[k], MPFR_RNDN);
      worst = fmax(worst, fabs(mpfr_get_d(got, MPFR_RNDN)) * 0x1p86);
    }
  }
  mpfr_clears(x, y[0], y[1], got, (mpfr_ptr)0);
  ok(worst <= 1.0 && worst > 0x1p-7, "%d sines and cosines as sums: within %.3f × 2^-86 of themselves", TRIES, worst);
}

enum { SOME = 48, LONG = SUM_RUN - KERNEL_BLOCK };

/* Returns the error of rows from the first anchor of a call on, and of as many before the next exact anchor. */
static double worst_of_sums(const posenc_problem *problem) {
  void *constants;
  if (cr_prepare(problem, NULL, &constants) != POSENC_OK) return INFINITY;
  execute(constants, problem, 0, LONG, sums_start);
  cr_release(constants);
  return fmax(worst_sum_of(problem, 0, SOME), worst_sum_of(problem, LONG - SOME, SOME));
}

static void test_sums(void) {
  enum { TRIES = 80 };
  static double out[LONG * DIM];
  posenc_problem problem = posenc_table(LONG, DIM);
  hunt h = {.state = 3};
  problem.dtype = POSENC_F64;
  sums_start = out;
  made_sums = malloc(sizeof *made_sums * LONG * DIM);
  for (int n = 0; made_sums && n < TRIES; n++) {
    hunt_next(&h, n, TRIES, &problem);
    if (n < TRIES / 2 && n % 3 == 0) problem.first = -(problem.first >> 28);
    hunt_take(&h, worst_of_sums(&problem), &problem);
  }
  ok(h.worst <= 1.0, "f64, %d adversarial tables: within %.4f of the error, with base %.17g", TRIES, h.worst, h.base);
  ok(h.worst > 1.0 / 64.0, "and that is no small part of it");
  problem.base = 1.0; /* steps of 2^-61 to π/2, where cosines are 2^-62 and advances add an error of 2^-116 */
  problem.scale = 0x1p-61;
  problem.first = INT64_C(3622009729038561421) - LONG + SOME / 2;
  const double worst = made_sums ? worst_of_sums(&problem) : INFINITY;
  ok(worst <= 1.0, "f64, next to a quarter of a turn: within %.4f of the error", worst);
  free(made_sums);
}

/* ---- the highest precision ---- */

/* Whether A sin x is rounded to this number of f32, with both signs. */
static bool is_rounded_to(double attention, double angle, double want) {
  const int64_t far = INT64_C(1) << 61; /* where the last bits of a frequency matter */
  posenc_problem problem = posenc_table(1, 2);
  void *constants;
  problem.base = 1.0;
  problem.scale = angle * 0x1p-61;
  problem.scaling.attention = attention;
  if (cr_prepare(&problem, NULL, &constants) != POSENC_OK) return false;
  const double got = cr_value(constants, POSENC_F32, far, 0, false),
               back = cr_value(constants, POSENC_F32, -far, 0, false);
  cr_release(constants);
  return got == want && back == -want;
}

/* Tests values that 128 bits do not decide: A x is a midpoint and A sin x is below it by 2^-135 or less; or A x is
   2^-132 above a midpoint, and x³ is far smaller than that. */
static void test_last_resort(void) {
  int wrong = 0, tried = 0;
  for (int n = 0; n < 800; n++, tried += 3) {
    const int power = -69 - n % 4, odd = (1 << 24) + 2 * n + 1,
              factor = 16385 + 2 * n; /* of 25 bits, as 1025 × factor */
    wrong += !is_rounded_to(1.0, ldexp(odd, power), ldexp(odd - 1, power));
    wrong += !is_rounded_to(0x1.004p0, ldexp(factor, power), ldexp(1025.0 * factor - 1.0, power - 10));
    wrong += !is_rounded_to(0x1.0000000000001p0, ldexp(odd, -104), ldexp(odd + 1, -104));
  }
  ok(wrong == 0, "%d of %d sines next to a middle misrounded", wrong, tried);
}

/* Tests impls/cr/cr.h and rotation.h, line by line, in units of 2^-53, from the constants of the code. */
static void test_derivations(void) {
  const double unit = 0x1p-53, anchor = 4.0, turned = 4.0 + 2.5;
  int rows_back = 0, rows_forward = 0, exact = 0;
  for (int64_t position = 0; position < 4096; position++) {
    const rotation_block at = rotation_block_at(position, 1);
    if (-at.from > rows_back) rows_back = -at.from;
    if (at.from > rows_forward) rows_forward = at.from;
    exact += cr_exact_anchor(position) == position;
  }
  const int advances = 4096 / exact / KERNEL_BLOCK - 1; /* between two exact anchors */
  ok(rows_back == 16 && rows_forward == 15 && advances == CR_ADVANCES,
     "blocks reach %d rows back and %d forward, and the last anchor is %d advances from an exact one", rows_back,
     rows_forward, advances);
  const int steps = rows_back - 1, carried = steps * (steps + 1) / 2; /* from the anchor, or the anchor before */
  const double leapt = anchor + CR_ADVANCES * turned, plain = leapt + rows_back * turned + carried * (1.5 + 1.0) + 23.0;
  ok(plain <= CR_ERROR / unit && 2.0 * plain == CR_SUM, "the fast path: %.1f of %.0f × 2^-53", plain, CR_ERROR / unit);
  int slow = 0; /* 3 and 2 in turn */
  for (int n = 0; n < steps; n++) slow += (n % 2 ? 2 : 3) * (steps - n);
  const double beyond = anchor + CR_ADVANCES * 3.0 + rows_back * 3.0 + slow + carried, of_factor = 2.0;
  ok(beyond + of_factor <= CR_ERROR / unit && 2.0 * (beyond + of_factor) == CR_SLOW_SUM, "with values beyond 1: %.1f",
     beyond);
  ok(nextafter(CR_GRID, INFINITY) - CR_GRID == 2.0 * CR_ERROR, "the grid of the rounding test is twice as wide");
  const double sum = 12.5 * carried + 0.5 * rows_back + 4.0 + 12.0 + 9.0, unit_of_sums = 0x1p-80;
  ok(sum < SUM_ERROR / unit_of_sums && 2.0 * sum == SUM_SUM, "f64: %.1f of %.0f × 2^-80 scales", sum,
     SUM_ERROR / unit_of_sums);
  ok(nextafter(SUM_GRID, INFINITY) - SUM_GRID == 0x1p-26, "its grid");
  const posenc_bound rotation = ROTATION_BOUND;
  const double rotated = anchor + rows_back * turned;
  ok(1.5 * rotated < rotation.abs / unit && 1.5 * rotated > rotation.abs / unit / 2.0,
     "rotations: 1.5 × %.0f of %.0f × 2^-53", rotated, rotation.abs / unit);
}

int main(void) {
  double worst = 0.0;
  worst = fmax(worst, test_table(10000.0, 0));
  worst = fmax(worst, test_table(10000.0, INT64_C(1) << 40));
  worst = fmax(worst, test_table(1.5, -5000));
  worst = fmax(worst, test_table(0x1p40, 1000000));
  worst = fmax(worst, test_adversarial());
  ok(worst > CR_ERROR * 0x1p53 / 64.0, "the worst of all, %.1f × 2^-53, is no small part of what is derived", worst);
  test_sincos_of_sums();
  test_sums();
  test_last_resort();
  test_derivations();
  mpfr_free_cache();
  return tap_done();
}
