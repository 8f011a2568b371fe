/* SPDX-License-Identifier: MIT */
/* Tests that the values of the fast reference are within their bound of MPFR's. */
#include "reference/fast.h"
#include "common/shapes.h"
#include "reference/oracle.h"
#include "reference/scaling.h"
#include "tests/library.h"
#include "tests/scalings.h"

#include <stdlib.h>

static const unsigned targets[] = {POSENC_ISA_GENERIC, POSENC_ISA_AVX2, POSENC_ISA_AVX512};
enum { TARGETS = sizeof targets / sizeof *targets };

/* ---- values -------------------------------------------------------------------------------------- */

static double distance(const fast_value *got, const exact *want) {
  return fabs((got->high - want->high) + (got->low - want->low));
}

/* Returns the largest distance from MPFR over the positions, in units of the bound. For anchors, which are within
   2^-106 while MPFR's pairs are within 2^-105, the unit is 2^-104. */
static double worst_distance(const posenc_problem *problem, const int64_t *positions, size_t count, int64_t *compared) {
  const int64_t pairs = problem->dim / 2;
  const double most = exp2(ceil(log2(attention_of(problem)))), bound = FAST_BOUND * most, near = 0x1p-104 * most;
  fast_oracle *f = fast_create(problem, 0);
  oracle *o = oracle_create(problem);
  fast_pair *got = calloc((size_t)pairs, sizeof *got);
  exact_pair *want = calloc((size_t)pairs, sizeof *want), *points = calloc((size_t)pairs, sizeof *points);
  place *places = calloc((size_t)pairs, sizeof *places);
  double worst = 0.0;
  for (size_t n = 0; n < count; n++) {
    for (int64_t i = 0; i < pairs; i++) places[i] = (place){positions[n], i};
    oracle_pairs(o, places, (size_t)pairs, want);
    fast_row(f, positions[n], got);
    oracle_points(o, positions[n], points);
    for (int64_t i = 0; i < pairs; i++) {
      const fast_value sine = {points[i].sine.high, points[i].sine.low},
                       cosine = {points[i].cosine.high, points[i].cosine.low};
      worst = fmax(worst, fmax(distance(&sine, &want[i].sine), distance(&cosine, &want[i].cosine)) / near);
      worst = fmax(worst, distance(&got[i].sine, &want[i].sine) / bound);
      worst = fmax(worst, distance(&got[i].cosine, &want[i].cosine) / bound);
      *compared += 2;
    }
  }
  free(places);
  free(points);
  free(want);
  free(got);
  oracle_destroy(o);
  fast_destroy(f);
  return worst;
}

/* Positions in which every rotation takes part (all bits set), positions with few, and drawn ones of every size and
   sign. */
enum { POSITIONS = 96 };
static void draw_positions(int64_t *positions) {
  static const int64_t corners[] = {0,
                                    1,
                                    -1,
                                    63,
                                    64,
                                    4031,
                                    4095,
                                    4096,
                                    -4095,
                                    -4097,
                                    0xfffff,
                                    131071,
                                    0xffffffffff,
                                    0x1fffffffffffff,
                                    -0x1fffffffffffff,
                                    INT64_MAX,
                                    INT64_MIN};
  enum { CORNERS = sizeof corners / sizeof *corners };
  memcpy(positions, corners, sizeof corners);
  for (int n = CORNERS; n < POSITIONS; n++) {
    const int64_t drawn = (int64_t)(random_bits() >> (11 + n % 53)) | (n % 3 ? 0 : 0xfff);
    positions[n] = n % 2 ? drawn : -drawn;
  }
}

static void report(double worst, int64_t compared, const char *what) {
  ok(worst > 0.0 && worst <= 1.0, "%s: within %.3f of the bound on %ld values", what, worst, (long)compared);
}

static void test_values(void) {
  static const struct corner {
    int64_t dim;
    double base, shift;
  } corners[] = {{2, 10000.0, 0.0}, {130, 0.01, 0.0}, {64, 1.0, 0.0},        {62, 1e300, 0.5},    {128, 5e5, 0.0},
                 {128, 1e6, 0.0},   {128, 1e7, 0.0},  {96, 12345.678, 0.25}, {128, 10000.0, 1.0}, {4096, 10000.0, 0.0}};
  int64_t positions[POSITIONS];
  draw_positions(positions);
  for (size_t n = 0; n < sizeof corners / sizeof *corners; n++) {
    posenc_problem problem = with_base(16, corners[n].dim, corners[n].base);
    problem.shift = corners[n].shift;
    int64_t compared = 0;
    const double worst = worst_distance(&problem, positions, problem.dim > 512 ? 24 : POSITIONS, &compared);
    report(worst, compared, shape_of(&problem).name);
  }
  size_t count;
  const shape *shapes = shapes_published(&count);
  for (size_t n = 0; n < count; n++) {
    if (shapes[n].problem.axes) continue; /* of plain tables */
    int64_t compared = 0;
    const int64_t first = shapes[n].problem.first, last = first + shapes[n].problem.rows - 1;
    const int64_t ends[] = {first, first + 1, last / 2 | 4095, last - 1, last};
    posenc_problem problem = shapes[n].problem;
    problem.padding = POSENC_NO_PADDING;
    const double worst = worst_distance(&problem, ends, sizeof ends / sizeof *ends, &compared);
    report(worst, compared, shapes[n].name);
  }
}

/* Tests attention factors, which multiply the bound by the next power of two, and frequencies of every size. */
static void test_scaled_values(void) {
  static const double factors[] = {0x1p-10, 0.3, 1.0, 1.0 + 0x1p-52, 1.99, 2.0, 1000.0},
                      scales[] = {0x1.8p-120, 0.5, 1e6};
  int64_t positions[POSITIONS], compared = 0;
  double worst = 0.0;
  draw_positions(positions);
  for (size_t n = 0; n < sizeof factors / sizeof *factors; n++)
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
      const posenc_problem problem = with_attention(with_scale(posenc_table(16, 34), scales[k]), factors[n]);
      worst = fmax(worst, worst_distance(&problem, positions, POSITIONS, &compared));
    }
  report(worst, compared, "scales and attention factors");
  size_t count;
  const shape *shapes = shapes_scaled(&count);
  for (size_t n = 0; n < count; n++) {
    compared = 0;
    worst = worst_distance(&shapes[n].problem, positions, POSITIONS, &compared);
    report(worst, compared, shapes[n].name);
  }
}

/* ---- sums of angles ---- */

static fast_pair as_fast(const exact_pair *pair) {
  return (fast_pair){{pair->sine.high, pair->sine.low}, {pair->cosine.high, pair->cosine.low}};
}

/* Tests three exact pairs, each within 2 × 2^-106, and one turn. */
static void test_turn(void) {
  const posenc_problem problem = posenc_table(16, 64);
  oracle *o = oracle_create(&problem);
  double worst = 0.0;
  for (int n = 0; n < 2000; n++) {
    const int64_t a = (int64_t)(random_bits() >> 24), b = (int64_t)(random_bits() >> 24), index = n % 32;
    const exact_pair one = oracle_pair(o, a, index), other = oracle_pair(o, b, index),
                     sum = oracle_pair(o, a + b, index);
    const fast_pair first = as_fast(&one), second = as_fast(&other), got = fast_rotate(&first, &second);
    worst = fmax(worst, fmax(distance(&got.sine, &sum.sine), distance(&got.cosine, &sum.cosine)));
  }
  ok(worst > 0.0 && worst <= 16.0 * 0x1p-106, "the sum of two angles, %.2g of 2^-106", worst * 0x1p106);
  oracle_destroy(o);
}

/* ---- values near midpoints ---- */

/* The number of times that each place was found. */
typedef struct finds {
  int64_t first, pairs;
  unsigned char *times;
} finds;

static void count_find(place at, void *argument) {
  finds *f = argument;
  f->times[(at.position - f->first) * f->pairs + at.index]++;
}

static double from_midpoint(const format *f, const fast_value *value) {
  const exact as_exact = {value->high, value->low, 0.0};
  return format_from_midpoint(f, &as_exact);
}

/* Compares places whose sine or cosine is near a midpoint with the values of fast_row. */
static void test_near_midpoints(const char *name, unsigned isa, int64_t first, double base, posenc_dtype dtype) {
  const double within = 1e-4, slack = 0x1p-27, least = dtype == POSENC_F16 ? 0x1p-14 : 0x1p-44;
  const format *as = format_of(dtype);
  posenc_problem problem = with_base(9000, 98, base);
  problem.first = first;
  problem.dtype = dtype;
  finds found = {.first = first, .pairs = problem.dim / 2};
  fast_oracle *f = fast_create(&problem, isa);
  fast_pair *row = calloc((size_t)found.pairs, sizeof *row);
  found.times = calloc((size_t)(problem.rows * found.pairs), 1);
  fast_near_midpoints(f, first, problem.rows, within, count_find, &found);
  bool right = true;
  int64_t near = 0;
  for (int64_t r = 0; r < problem.rows; r++) {
    fast_row(f, first + r, row);
    for (int64_t i = 0; i < found.pairs; i++) {
      const int times = found.times[r * found.pairs + i];
      const double distance = fmin(from_midpoint(as, &row[i].sine), from_midpoint(as, &row[i].cosine));
      const bool tiny = fmin(fabs(row[i].sine.high), fabs(row[i].cosine.high)) < least;
      near += distance <= within;
      if (distance <= within || tiny) right = right && times == 1;
      if (distance > within + slack && !tiny) right = right && times == 0;
    }
  }
  ok(right && near > 0, "%s, from %lld, base %g, dtype %d: the %lld pairs near a tie are found", name, (long long)first,
     base, (int)dtype, (long long)near);
  free(found.times);
  free(row);
  fast_destroy(f);
}

int main(void) {
  test_values();
  test_scaled_values();
  test_turn();
  for (int t = 0; t < TARGETS; t++) {
    if (!(posenc_isa_detect() & targets[t])) continue;
    test_near_midpoints(posenc_isa_name(targets[t]), targets[t], -100, 10000.0, POSENC_F32);
    test_near_midpoints(posenc_isa_name(targets[t]), targets[t], INT64_C(1) << 33, 1e300, POSENC_F32);
    test_near_midpoints(posenc_isa_name(targets[t]), targets[t], -100, 10000.0, POSENC_F16);
    test_near_midpoints(posenc_isa_name(targets[t]), targets[t], -100, 10000.0, POSENC_BF16);
  }
  return tap_done();
}
