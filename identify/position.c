/* SPDX-License-Identifier: MIT */
#include "identify/position.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;
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

start start_near(long double position, double error) {
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
    s->odds_at_most = used ? pi / room : 1.0;
    if (used) error = fmin(error, s->error / s->w);
  }
  for (int64_t i = 0; i < of->slowest; i++) odds = of->steps[i].odds_at_most *= odds;
}

static bool candidates_open(candidates *of, const phase_clock *c, int64_t slowest, bool far) {
  const long double slow = fabsl(c->w[slowest]), phase = (long double)c->phases[slowest].value;
  int64_t known = 0;
  *of = (candidates){.slowest = slowest, .first = phase / slow, .period = full_turn / slow};
  of->steps = calloc((size_t)slowest + 1, sizeof *of->steps);
  for (int64_t i = 0; of->steps && i <= slowest; i++) {
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
  if (of->steps) bound_odds(of);
  /* A search at far positions takes seconds. There, at most one phase may be of a damaged column, and not the second
     slowest one. */
  of->spare = far && columns_spare(known) > 1 ? 1 : columns_spare(known);
  return of->steps != NULL;
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
  return 2.0 * pi * (turns - rint(turns));
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
  g->odds *= pi / room;
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
      (next->error + next->growth * farthest + (own->error + own->growth * farthest) * next->w / own->w) / (2.0 * pi) +
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
  if (!candidates_open(&of, c, slowest, far)) return 0;
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
