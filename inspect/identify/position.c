/* SPDX-License-Identifier: MIT */
/* Finds positions from phases: that of the first row, or that of each row of a list. */
#include "inspect/identify/formula.h"

#include "common/memory.h"
#include "reference/format.h"

#include <math.h>
#include <stdlib.h>

static const long double full_turn = 6.28318530717958647692528676655900577L;

/* A position may fit by chance. The odds against that must exceed the number of tried positions this many times. */
static const double surely = 64.0;

/* Odds are products of up to 2^16 factors, in any order. */
static const double rounding = 1e-6;

start start_at(int64_t position) {
  return (start){(double)position, 0.0, position, position};
}

/* Returns the largest error of a phase at a position, where angles have a relative error. */
static double tolerance_of(const phase_clock *c, int64_t i, double position) {
  return c->phases[i].error + c->relative * (fabs(position) + c->rows) * fabs((double)c->w[i]);
}

/* Returns the whole positions within the error; or the position itself, if it is between two whole positions, or
   if the error reaches 2^62. */
static start start_near(long double position, double error) {
  const long double whole = roundl(position);
  const double room = error + 1e-6;
  start s = {(double)position, error, 0, -1};
  if (!(fabsl(position) + (long double)room < 0x1p62L)) return s; /* no int64_t */
  if (room < 0.25 && fabs((double)(position - whole)) > 2.0 * room) return s;
  s.least = (int64_t)(room < 0.5 ? whole : ceill(position - room));
  s.most = (int64_t)(room < 0.5 ? whole : floorl(position + room));
  return start_is_one(&s) ? start_at(s.least) : s;
}

/* Returns element n of 0, -1, 1, -2, 2 … */
static int64_t outwards(int64_t n) {
  return n % 2 ? -(n + 1) / 2 : n / 2;
}

/* Finds the nearest start that is a whole number, from one phase, which determines the position up to whole turns; none
   if that may be chance. */
static size_t start_of_one(const phase_clock *c, int64_t farthest, start *found) {
  const long double w = fabsl(c->w[0]), period = full_turn / w;
  for (int64_t n = 0; (long double)(n / 2) * period <= (long double)farthest; n++) {
    const long double position = (long double)c->phases[0].value / w + (long double)outwards(n) * period;
    const double error = tolerance_of(c, 0, (double)position) / (double)w;
    if (!(2.0 * error * (double)(n + 1) * surely < 1.0)) return 0;
    if (fabs((double)(position - roundl(position))) > error) continue;
    *found = start_near(position, error);
    return 1;
  }
  return 0;
}

/* ---- candidates: whole turns of the slowest phase -------------------------------------------------- */

/*
 * A faster phase at the candidates, which are k whole turns of the slowest phase apart: its error is first + step k
 * turns. Rounding the step to double changes that by at most k 2^-54 turns; angles with a relative error of 1e-15 or
 * more may have 20 times this error there.
 */
typedef struct phase_step {
  double w, first, step;
  double turns;         /* w / 2π */
  double error, growth; /* the tolerance at position p is error + growth |p| */
  double odds_at_most;  /* by which this phase and all faster ones can multiply those of a guess; may be infinite */
} phase_step;

typedef struct candidates {
  phase_step *steps; /* of all phases up to the slowest one */
  int64_t slowest, spare;
  long double first, period; /* positions */
} candidates;

/*
 * Bounds the odds of all guesses. The tolerances are smallest at position 0. A guess reaches a phase with an error that
 * is one of the slower phases that were used (narrow), so at least the smallest of theirs; a phase that is not used
 * with this one is used with no other.
 */
static void bound_odds(candidates *of) {
  const phase_step *own = &of->steps[of->slowest];
  double error = own->error / own->w, odds = 1.0;
  for (int64_t i = of->slowest - 1; i >= 0; i--) {
    phase_step *s = &of->steps[i];
    const double room = s->error + error * s->w;
    const bool used = s->error < 1.0 && room <= 3.0;
    s->odds_at_most = used ? half_turn / room : 1.0;
    if (used) error = fmin(error, s->error / s->w);
  }
  for (int64_t i = 0; i < of->slowest; i++) odds = of->steps[i].odds_at_most *= odds;
}

static void candidates_open(candidates *of, const phase_clock *c, int64_t slowest, bool far) {
  const long double slow = fabsl(c->w[slowest]), phase = (long double)c->phases[slowest].value;
  int64_t known = 0;
  *of = (candidates){.slowest = slowest, .first = phase / slow, .period = full_turn / slow};
  of->steps = memory_take((size_t)slowest + 1, sizeof *of->steps);
  for (int64_t i = 0; i <= slowest; i++) {
    const long double w = fabsl(c->w[i]), ratio = w / slow,
                      first = ((long double)c->phases[i].value - phase * ratio) / full_turn;
    known += c->phases[i].error < 0.7;
    of->steps[i] = (phase_step){.w = (double)w,
                                .turns = (double)(w / full_turn),
                                .first = (double)(first - rintl(first)),
                                .step = (double)(rintl(ratio) - ratio),
                                .error = tolerance_of(c, i, 0.0),
                                .growth = c->relative * (double)w};
  }
  bound_odds(of);
  /* A search at far positions takes seconds. There, at most one phase may be of a damaged column, and not the second
     slowest one. */
  of->spare = far && columns_spare(known) > 1 ? 1 : columns_spare(known);
}

/* A candidate that is moved to where faster phases agree: its position is that after k turns, plus `shift`. */
typedef struct guess {
  double k, position, shift, error;
  double odds;    /* against agreeing by chance; may be infinite */
  int64_t missed; /* number of phases that disagree */
} guess;

/* Returns the error of the phase at the guess, in radians. */
static double phase_off(const phase_step *s, const guess *g) {
  const double turns = s->first + s->step * g->k - g->shift * s->turns;
  return whole_turn * (turns - rint(turns));
}

static double phase_tolerance(const phase_step *s, const guess *g) {
  return s->error + s->growth * fabs(g->position + g->shift);
}

/* Improves the guess by one phase, or divides its odds if the phase disagrees. If several turns are within the
   tolerance, the phase is not used. */
static void narrow(const phase_step *s, guess *g, double odds_of_miss) {
  const double tolerance = phase_tolerance(s, g), room = tolerance + g->error * s->w;
  if (!(tolerance < 1.0) || room > 3.0) return; /* the phase determines nothing */
  const double off = phase_off(s, g);
  if (fabs(off) > room) {
    g->missed++;
    g->odds /= odds_of_miss;
    return;
  }
  g->odds *= half_turn / room;
  /* The new position is the mean of both, weighted by their errors. */
  const double other = tolerance / s->w, share = g->error * g->error / (g->error * g->error + other * other);
  g->shift += share * off / s->w;
  g->error = fmin(g->error, other);
}

/* Whether one of the next three faster phases disagrees, or two if one may be of a damaged column. Most candidates are
   rejected here. */
static bool is_hopeless(const candidates *of, const guess *g) {
  enum { ASKED = 3 };
  const bool may_be_damaged = of->spare > 0;
  int64_t out = 0;
  for (int64_t i = of->slowest - 1; i >= 0 && i >= of->slowest - ASKED && out <= may_be_damaged; i--) {
    const phase_step *s = &of->steps[i];
    out += fabs(phase_off(s, g)) > phase_tolerance(s, g) + g->error * s->w + 1e-6;
  }
  return out > may_be_damaged;
}

/* Improves the guess by all faster phases. Returns false as soon as it cannot reach the needed odds. */
static bool narrow_by_all(const candidates *of, guess *g, double needed, double odds_of_miss) {
  for (int64_t i = of->slowest - 1; i >= 0; i--) {
    if (g->odds * of->steps[i].odds_at_most < needed * (1.0 - rounding)) return false;
    narrow(&of->steps[i], g, odds_of_miss);
    if (g->missed > of->spare) return false;
  }
  return g->odds >= needed;
}

/*
 * Errors of the second slowest phase at the candidates, in units of 2^-64 turns, which wrap around. Rejects most
 * candidates by one addition, if that phase must not be of a damaged column.
 */
typedef struct sieve {
  uint64_t next, other; /* at the next candidate, and at the next one of the other side of 0, plus the largest error */
  uint64_t step, width; /* on the side of the next candidate, away from 0 */
} sieve;

static uint64_t units_of_turn(double turns) { /* from -1 to 1 */
  return (uint64_t)(int64_t)(ldexp(turns, 62)) << 2;
}

/* Passes all candidates if the error exceeds half a turn, or `all`. */
static sieve sieve_of(const candidates *of, double farthest, bool all) {
  if (of->slowest == 0 || all) return (sieve){.width = UINT64_MAX};
  const phase_step *own = &of->steps[of->slowest], *next = own - 1;
  const double error =
      (next->error + next->growth * farthest + (own->error + own->growth * farthest) * next->w / own->w) / whole_turn +
      1e-6;
  if (!(error < 0.499)) return (sieve){.width = UINT64_MAX};
  const uint64_t step = units_of_turn(next->step), room = units_of_turn(error),
                 first = units_of_turn(next->first) + room;
  return (sieve){.next = first, .other = first - step, .step = step, .width = 2 * room};
}

/* Returns the number of the first candidate from n on that may be a start, or `end`. n: 0, then the one after the last
   that was returned. */
static int64_t sieve_next(sieve *of, int64_t n, int64_t end) {
  sieve s = *of; /* in registers */
  bool passes = false;
  for (; !passes && n < end; n++) {
    const uint64_t at = s.next;
    passes = at <= s.width;
    s.next = s.other;
    s.other = at + s.step;
    s.step = -s.step;
  }
  *of = s;
  return passes ? n - 1 : end;
}

/* Finds starts by the phase of that index and the faster ones. */
static size_t starts_from(const phase_clock *c, int64_t slowest, int64_t farthest, start *found, size_t room) {
  candidates of;
  const bool far = farthest > POSITION_NEAR;
  candidates_open(&of, c, slowest, far);
  const int64_t turns = (int64_t)fminl((long double)farthest / of.period + 1.0L, far ? 2.1e7L : 1e4L);
  const double odds_told = slowest > 0 ? of.steps[slowest - 1].odds_at_most : 1.0,
               odds_of_miss = 8.0 * (double)c->pairs, first = (double)of.first, period = (double)of.period;
  const int64_t tries = (int64_t)ceil(fmin(2.0 * (double)turns + 1.0, odds_told * (1.0 + rounding) / surely));
  const phase_step *own = &of.steps[slowest];
  sieve rough = sieve_of(&of, fabs(first) + ((double)turns + 1.0) * period, !far);
  start between = {0}, one;
  size_t count = 0;
  bool is_between = false;
  for (int64_t n = 0; (n = sieve_next(&rough, n, tries)) < tries && count + 1 < room; n++) {
    const int64_t k = outwards(n);
    guess g = {.k = (double)k, .position = first + (double)k * period, .odds = 1.0};
    g.error = phase_tolerance(own, &g) / own->w;
    if (is_hopeless(&of, &g)) continue;
    if (!narrow_by_all(&of, &g, surely * (double)(n + 1), odds_of_miss)) continue;
    one = start_near(of.first + (long double)k * of.period + (long double)g.shift, g.error);
    if (start_is_whole(&one))
      found[count++] = one;
    else if (!is_between)
      between = one, is_between = true;
    /* A single whole position with such odds is certain: other positions differ in whole turns of all frequencies. */
    if (count == 1 && g.odds > 0x1p60 && g.missed == 0 && c->pairs > 8) break;
  }
  if (is_between && count < room) found[count++] = between;
  free(of.steps);
  return count;
}

size_t starts_find(const phase_clock *c, int64_t farthest, start *found, size_t room) {
  size_t count = 0;
  if (c->pairs == 1) return start_of_one(c, farthest, found);
  /* The slowest phases may be of damaged columns. */
  int64_t tries = farthest > POSITION_NEAR ? 1 : 1 + (columns_spare(c->pairs) > 0) + (columns_spare(c->pairs) > 2);
  for (int64_t i = c->pairs - 1; i >= 0 && count == 0 && tries > 0; i--) {
    if (i > 0 && !(c->phases[i].error < 0.7)) continue;
    count = starts_from(c, i, farthest, found, room);
    tries--;
  }
  return count;
}

/* ---- lists: positions in any order, each from the values of its row ------------------------------ */

/* Returns the unit just below 1. Rounding changes a value by at most half of it, and an angle by as much if both sine
   and cosine are known. */
static double unit_of(const table_window *w) {
  return ldexp(1.0, -format_of(w->held)->precision);
}

/* Returns the error of an angle that is computed from sine or cosine alone: the rounding error divided by the
   derivative, or if that is near 0, by means of the second derivative. */
static double error_of_part(double unit, double derivative) {
  return fmin(2.0 * unit / fmax(fabs(derivative), 1e-300), 2.0 * sqrt(unit));
}

/* Returns the phase of a pair in a row. Sine or cosine alone determines the angle within half a turn: cosines from 0
   on, sines around 0. */
static estimate phase_of(const table_window *w, const columns *s, int64_t row, int64_t i, double amplitude) {
  const double unit = unit_of(w), x = window_value(w, row, columns_of(s, i, s->part == TABLE_BOTH)) / amplitude;
  if (s->part == TABLE_BOTH)
    return (estimate){atan2(window_value(w, row, columns_of(s, i, false)) / amplitude, x), 2.0 * unit};
  const double part = fmax(-1.0, fmin(1.0, x)), angle = s->part == TABLE_COS ? acos(part) : asin(part);
  return (estimate){angle, error_of_part(unit, s->part == TABLE_COS ? sin(angle) : cos(angle))};
}

/* ---- their positions ----------------------------------------------------------------------------- */

/* Reads the position from the slowest phase to the fastest. One part alone allows two angles: of one that is out of
   reach, the other is used, else both. */
static bool read_part(const columns *s, const estimate *phases, const long double *frequencies, double relative,
                      start *found) {
  long double position = 0.0L;
  double error = INFINITY, bits = 0.0;
  int64_t missed = 0;
  for (int64_t i = s->pairs - 1; i >= 0; i--) {
    const double w = (double)frequencies[i], tolerance = phases[i].error + relative * fabs((double)position) * w;
    if (isinf(error)) {
      position = phases[i].value / w;
      error = tolerance / w;
      continue;
    }
    if (!(error * w + tolerance < 1.0)) continue;
    const double angle = (double)(position * frequencies[i]),
                 other = s->part == TABLE_COS ? -phases[i].value : half_turn - phases[i].value,
                 near = angle_wrapped(phases[i].value - angle), far = angle_wrapped(other - angle),
                 off = fabs(near) < fabs(far) ? near : far;
    if (fabs(off) > tolerance + error * w) {
      missed++;
      continue;
    }
    /* Cosines are those of positions from 0 on. */
    const bool is_below = s->part == TABLE_COS && (double)position * w + fmin(near, far) < -tolerance,
               is_either = s->part != TABLE_BOTH && !is_below && fmax(fabs(near), fabs(far)) <= tolerance + error * w;
    const double of_both = (fabs(near - far) / 2.0 + tolerance) / w;
    if (is_either && of_both < error) {
      bits += log2(half_turn / (of_both * w));
      position += (long double)((near + far) / 2.0 / w);
      error = of_both;
    }
    if (is_either) continue;
    bits += log2(half_turn / (tolerance + error * w));
    const double of_this = tolerance / w, share = error * error / (error * error + of_this * of_this);
    position += (long double)(share * off / w);
    error = fmin(error, of_this);
  }
  *found = start_near(s->part == TABLE_COS ? fabsl(position) : position, error);
  return bits > 8.0 && missed <= columns_spare(s->pairs);
}

static bool read_pairs(const columns *s, const estimate *phases, const long double *frequencies, double relative,
                       start *found) {
  enum { STARTS = 2, PERIODS = 32 };
  start starts[STARTS];
  const phase_clock c = {phases, frequencies, s->pairs, relative, 0.0};
  const double farthest = PERIODS * whole_turn / (double)frequencies[s->pairs - 1];
  const size_t count = starts_find(&c, (int64_t)fmin(farthest, 0x1p40), starts, STARTS);
  if (count) *found = starts[0];
  return count > 0;
}

/* Returns the position near by whose angles are the nearest to the phases: the least squares of their differences, in
   units of their errors. Phases farther off are of damaged columns. Its error is several times a standard error, as
   those of phases are bounds. */
static estimate fitted_position(const columns *s, const estimate *phases, const long double *frequencies,
                                double relative, double near_by) {
  const double most = 4.0;
  double products = 0.0, weights = 0.0;
  for (int64_t i = 0; i < s->pairs; i++) {
    const double w = (double)frequencies[i], angle = (double)((long double)near_by * frequencies[i]),
                 error = phases[i].error + relative * fabs(angle),
                 other = s->part == TABLE_COS ? -phases[i].value : half_turn - phases[i].value,
                 near = angle_wrapped(phases[i].value - angle), far = angle_wrapped(other - angle),
                 off = s->part == TABLE_BOTH || fabs(near) < fabs(far) ? near : far;
    if (!(fabs(off) <= most * error)) continue;
    products += off * w / (error * error);
    weights += w * w / (error * error);
  }
  return weights > 0.0 ? (estimate){near_by + products / weights, 1.0 / sqrt(weights)} : (estimate){near_by, 0.0};
}

static bool read_row(const table_window *w, const columns *s, int64_t row, const long double *frequencies,
                     double amplitude, double relative, estimate *phases, double *position) {
  start at;
  if (w->zero[row]) return false;
  for (int64_t i = 0; i < s->pairs; i++)
    phases[i] = columns_complete(s, i) ? phase_of(w, s, row, i, amplitude) : (estimate){0.0, INFINITY};
  if (!(s->part == TABLE_BOTH ? read_pairs : read_part)(s, phases, frequencies, relative, &at)) return false;
  const estimate there = fitted_position(s, phases, frequencies, relative, at.first);
  const bool is_any = start_is_whole(&at) && !start_is_one(&at),
             is_whole = fabs(there.value - rint(there.value)) <= there.error + 1e-6;
  *position = is_any ? rint(at.first) : there.value;
  if (is_whole && !is_any) *position = rint(there.value);
  return true;
}

int64_t list_read(const table_window *w, const columns *s, const long double *frequencies, double amplitude,
                  double relative, double *positions) {
  enum { FIRST = 12, MISSED = 2 }; /* the first rows show whether it is useful to read the others */
  estimate *phases = memory_take((size_t)s->pairs, sizeof *phases);
  int64_t known = 0;
  for (int64_t row = 0; row < w->count; row++) {
    known += !isnan(positions[row]) || read_row(w, s, row, frequencies, amplitude, relative, phases, &positions[row]);
    if (row + 1 == FIRST && known + MISSED < FIRST) break;
  }
  free(phases);
  return known;
}

/* ---- their formulas ------------------------------------------------------------------------------ */

/* Estimates the logarithm of the ratio of the frequencies of index i and of the slowest index, from rows in which
   neither has turned by half a turn or more. */
static estimate log_ratio(const table_window *w, const columns *s, int64_t i, int64_t slowest, double amplitude) {
  const double most = 2.8;
  double squares = 0.0, products = 0.0, left = 0.0;
  int64_t count = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int64_t row = 0; row < w->count; row++) {
      const estimate fast = phase_of(w, s, row, i, amplitude), slow = phase_of(w, s, row, slowest, amplitude);
      if (w->zero[row] || fabs(fast.value) > most || fabs(slow.value) < slow.error) continue;
      if (pass) {
        const double rest = fast.value - products / squares * slow.value;
        left += rest * rest;
        count++;
      } else {
        squares += slow.value * slow.value;
        products += slow.value * fast.value;
      }
    }
  if (count < 3 || !(products > 0.0)) return (estimate){0.0, INFINITY};
  return (estimate){log(products / squares), sqrt(left / (double)(count - 1)) / sqrt(squares) * squares / products};
}

size_t list_formulas(const table_window *w, const columns *s, formula formulas[FORMULAS_MAX]) {
  static const double shifts[] = {0.0, 1.0};
  size_t count = 0;
  const int64_t slowest = s->pairs - 1 - !columns_complete(s, s->pairs - 1);
  estimate step = {0.0, INFINITY};
  for (int64_t i = slowest - 1; i >= 0; i--) {
    const double steps = (double)(slowest - i);
    const estimate ratio = log_ratio(w, s, i, slowest, w->most);
    if (ratio.error > 0.05 || (isfinite(step.error) && fabs(ratio.value / steps - step.value) > 0.1 * step.value))
      break;
    if (ratio.error / steps < step.error) step = (estimate){ratio.value / steps, ratio.error / steps};
  }
  for (size_t n = 0; isfinite(step.error) && step.value > 0.0 && n < sizeof shifts / sizeof *shifts; n++) {
    const double denominator = (double)s->pairs - shifts[n];
    const plain_number base = plainest(exp(step.value * denominator), 4.0 * step.error * denominator + 1e-6);
    if (base.digits > 6 || base.value < 2.0) continue;
    formulas[count] = formula_plain(base.value);
    formulas[count].base_error = base.error;
    formulas[count].digits = base.digits - 1;
    formulas[count++].shift = shifts[n];
  }
  return count + formulas_usual(0.0, formulas + count, s->pairs);
}
