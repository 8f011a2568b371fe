/* SPDX-License-Identifier: MIT */
/* Tests errors in four parts: a planted error appears in its part alone, and every kernel's parts add up to its
   error. */
#include "reference/oracle.h"
#include "reference/scaling.h"
#include "tests/library.h"

#include <math.h>
#include <stdlib.h>

/* Returns x as the sum of two doubles. */
static posenc_sum sum_of(mpfr_t x) {
  const double high = mpfr_get_d(x, MPFR_RNDN);
  mpfr_sub_d(x, x, high, MPFR_RNDN);
  return (posenc_sum){high, mpfr_get_d(x, MPFR_RNDN)};
}

/* Makes planted errors: a frequency wrong by a factor 1 + frequency, a phase by `phase` radians, a sine and cosine, and
   elements. */
static split_case planted(const oracle *o, place at, split_parts off) {
  split_case c = {.at = at};
  mpfr_t x, sine, cosine, rest;
  mpfr_inits2(300, x, sine, cosine, rest, (mpfr_ptr)0);
  oracle_frequency(o, at.index, x);
  mpfr_set_d(rest, off.frequency, MPFR_RNDN);
  mpfr_add_ui(rest, rest, 1, MPFR_RNDN);
  mpfr_mul(x, x, rest, MPFR_RNDN);
  mpfr_set(rest, x, MPFR_RNDN);
  c.stages.frequency = sum_of(rest);
  integer_times(x, x, at.position);
  mpfr_add_d(x, x, off.phase, MPFR_RNDN);
  mpfr_set(rest, x, MPFR_RNDN);
  c.stages.phase = sum_of(rest);
  mpfr_sin_cos(sine, cosine, x, MPFR_RNDN);
  mpfr_add_d(sine, sine, off.trig, MPFR_RNDN);
  mpfr_add_d(cosine, cosine, off.trig, MPFR_RNDN);
  c.stages.sine = sum_of(sine);
  c.stages.cosine = sum_of(cosine);
  c.sine = c.stages.sine.high + off.store;
  c.cosine = c.stages.cosine.high + off.store;
  mpfr_clears(x, sine, cosine, rest, (mpfr_ptr)0);
  return c;
}

/* Whether two numbers are equal within the rounding of the planted stages to two doubles, relative 2^-105 each, and of
   an element to one, 2^-54. */
static bool is_near(double got, double want, double rounding) {
  return fabs(got - want) <= 1e-9 * fabs(want) + rounding;
}

static bool are_near(split_parts got, split_parts want, double angle) {
  return is_near(got.frequency, want.frequency, angle * 0x1p-104) && is_near(got.phase, want.phase, angle * 0x1p-103) &&
         is_near(got.trig, want.trig, (angle + 1.0) * 0x1p-104) && is_near(got.store, want.store, 0x1p-53);
}

static void test_planted(const oracle *o, place at, const char *what) {
  const double off_frequency = 0x1p-40 / (fabs((double)at.position) + 1.0), off_phase = 0x1p-30, off_trig = 0x1p-35,
               off_store = 0x1p-20;
  mpfr_t w;
  mpfr_init2(w, 64);
  oracle_frequency(o, at.index, w);
  const double angle = mpfr_get_d(w, MPFR_RNDN) * (double)at.position;
  mpfr_clear(w);
  const exact_pair value = oracle_pair(o, at.position, at.index);
  const double sine = value.sine.high, cosine = value.cosine.high, turned = angle * off_frequency;
  /* f(x + d) - f(x) to second order */
  const double sine_turned = cosine * turned - sine * turned * turned / 2.0,
               cosine_turned = -sine * turned - cosine * turned * turned / 2.0,
               sine_phase = cosine * off_phase - sine * off_phase * off_phase / 2.0,
               cosine_phase = -sine * off_phase - cosine * off_phase * off_phase / 2.0;
  const split_case cases[] = {
      planted(o, at, (split_parts){.store = 0.0}), planted(o, at, (split_parts){.frequency = off_frequency}),
      planted(o, at, (split_parts){.phase = off_phase}), planted(o, at, (split_parts){.trig = off_trig}),
      planted(o, at, (split_parts){.store = off_store})};
  const split_pair want[] = {{.sine.store = 0.0},
                             {{.frequency = sine_turned}, {.frequency = cosine_turned}},
                             {{.phase = sine_phase}, {.phase = cosine_phase}},
                             {{.trig = off_trig}, {.trig = off_trig}},
                             {{.store = off_store}, {.store = off_store}}};
  static const char *const names[] = {"nothing", "frequency", "phase", "trig", "store"};
  enum { CASES = sizeof cases / sizeof *cases };
  split_pair got[CASES];
  split_errors(o, cases, CASES, got);
  for (int n = 0; n < CASES; n++)
    ok(are_near(got[n].sine, want[n].sine, fabs(angle)) && are_near(got[n].cosine, want[n].cosine, fabs(angle)),
       "%s, %s planted: sine %.3g %.3g %.3g %.3g, cosine %.3g %.3g %.3g %.3g", what, names[n], got[n].sine.frequency,
       got[n].sine.phase, got[n].sine.trig, got[n].sine.store, got[n].cosine.frequency, got[n].cosine.phase,
       got[n].cosine.trig, got[n].cosine.store);
}

/* Whether the parts add up. They are doubles, within 2^-52 of themselves, and the exact value is known to 2^-105. */
static bool adds_up(split_parts parts, const exact *value, double got) {
  const double error = (got - value->high) - value->low, sum = parts.frequency + parts.phase + parts.trig + parts.store;
  const double size = fabs(parts.frequency) + fabs(parts.phase) + fabs(parts.trig) + fabs(parts.store);
  return fabs(sum - error) <= 0x1p-49 * size + 0x1p-104;
}

enum { ROWS = 64, DIM = 32, PAIRS = DIM / 2, COUNT = ROWS * PAIRS };

static void test_from(const posenc_kernel *kernel, int64_t first) {
  static float table[ROWS * DIM];
  static posenc_stages stages[COUNT];
  static split_case cases[COUNT];
  static split_pair parts[COUNT];
  posenc_problem problem = posenc_table(ROWS, DIM);
  char what[64];
  problem.first = first;
  snprintf(what, sizeof what, "%s from position %ld", kernel->name, (long)first);
  posenc_plan *plan = plan_or_skip(what, kernel, &problem);
  if (!plan) return;
  oracle *o = oracle_create(&problem);
  posenc_execute(plan, 0, ROWS, table);
  posenc_plan_stages(plan, 0, ROWS, stages);
  posenc_plan_destroy(plan);
  for (int n = 0; n < COUNT; n++)
    cases[n] = (split_case){{first + n / PAIRS, n % PAIRS}, stages[n], (double)table[2 * n], (double)table[2 * n + 1]};
  split_errors(o, cases, COUNT, parts);
  int wrong = 0;
  double largest = 0.0;
  for (int n = 0; n < COUNT; n++) {
    const exact_pair value = oracle_pair(o, cases[n].at.position, cases[n].at.index);
    wrong += !adds_up(parts[n].sine, &value.sine, cases[n].sine);
    wrong += !adds_up(parts[n].cosine, &value.cosine, cases[n].cosine);
    largest = fmax(largest, exact_error(&value.sine, cases[n].sine));
  }
  ok(wrong == 0 && largest > 0.0, "%s: parts of errors up to %.2g add up, but for %d of %d", what, largest, wrong,
     2 * COUNT);
  oracle_destroy(o);
}

static void test_kernel(const posenc_kernel *kernel) {
  test_from(kernel, 0);
  test_from(kernel, 100000);
  test_from(kernel, INT64_C(1) << 40);
}

/* Tests a frequency larger than those whose bits the reference keeps. */
static void test_large_frequency(void) {
  posenc_problem problem = posenc_table(16, 4);
  problem.base = 0x1p-600;
  oracle *o = oracle_create(&problem);
  const place at = {3, 1}; /* 3 × 2^300 */
  const exact_pair value = oracle_pair(o, at.position, at.index);
  const split_case c = {at,
                        {.frequency.high = 0x1p300,
                         .phase.high = 0x1.8p301,
                         .sine = {value.sine.high, value.sine.low},
                         .cosine = {value.cosine.high, value.cosine.low}},
                        value.sine.high, /* so that the stored number is off by the low part alone */
                        0.0};
  split_pair got;
  split_errors(o, &c, 1, &got);
  ok(got.sine.frequency == 0.0 && got.sine.phase == 0.0 && fabs(got.sine.trig) <= 0x1p-105 &&
         got.sine.store == -value.sine.low && got.sine.store != 0.0 && got.cosine.store == -value.cosine.high,
     "base 2^-600: its frequency 2^300 is exact, as is the phase; trig %.3g, store %.3g", got.sine.trig,
     got.sine.store);
  oracle_destroy(o);
}

int main(void) {
  const posenc_problem problem = posenc_table(16, 128);
  oracle *o = oracle_create(&problem);
  unsetenv("POSENC_ISA");
  test_planted(o, (place){1, 0}, "position 1, index 0");
  test_planted(o, (place){131071, 5}, "position 131071, index 5");
  test_planted(o, (place){-77, 63}, "position -77, index 63");
  test_planted(o, (place){INT64_C(1) << 40, 30}, "position 2^40, index 30");
  oracle_destroy(o);
  each_kernel(test_kernel);
  test_large_frequency();
  mpfr_free_cache();
  return tap_done();
}
