/* SPDX-License-Identifier: MIT */
#include "identify/position.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
static const long double full_turn = 6.28318530717958647692528676655900577L;

/* A position may fit by chance: so many bits more must agree than there were positions tried. */
static const double surely = 6.0;

start start_at(int64_t position) {
  return (start){(double)position, 0.0, position, position};
}

static double wrapped(long double angle) {
  return (double)(angle - full_turn * rintl(angle / full_turn));
}

/* What the phase of a frequency may be off, where angles are right but for a part of them. */
static double tolerance_of(const phase_clock *c, int64_t i, long double position) {
  return c->phases[i].error + c->relative * (fabs((double)position) + c->rows) * fabs((double)c->w[i]);
}

/* A position, its error, and what is known of it: bits that agree, and phases that do not. */
typedef struct guess {
  long double position;
  double error, bits;
  int64_t missed;
} guess;

/* Narrows the guess by the phase of one frequency. Several turns may be: the nearest is taken if others are out of reach. */
static void narrow(const phase_clock *c, int64_t i, guess *g) {
  const double w = fabs((double)c->w[i]), tolerance = tolerance_of(c, i, g->position);
  if (!(tolerance < 1.0) || g->error * w + tolerance > 3.0) return; /* it cannot tell */
  const double off = wrapped((long double)c->phases[i].value - g->position * fabsl(c->w[i]));
  if (fabs(off) > tolerance + g->error * w) {
    g->missed++;
    return;
  }
  g->bits += log2(pi / (tolerance + g->error * w));
  /* What both say, each by its weight. */
  const double other = tolerance / w, share = g->error * g->error / (g->error * g->error + other * other);
  g->position += (long double)(share * off / w);
  g->error = fmin(g->error, other);
}

/* The same question in a hurry: most positions fail at once. */
static bool is_out(const phase_clock *c, int64_t i, double position, double error) {
  const double w = fabs((double)c->w[i]), room = tolerance_of(c, i, position) + error * w + 1e-6;
  const double turns = (c->phases[i].value - position * w) / (2.0 * pi);
  return fabs(turns - rint(turns)) * 2.0 * pi > room;
}

start start_near(long double position, double error) {
  const long double whole = roundl(position);
  const double room = error + 1e-6;
  start s = {(double)position, error, 0, -1};
  if (room < 0.25 && fabs((double)(position - whole)) > 2.0 * room) return s;
  s.least = (int64_t)(room < 0.5 ? whole : ceill(position - room));
  s.most = (int64_t)(room < 0.5 ? whole : floorl(position + room));
  return start_is_one(&s) ? start_at(s.least) : s;
}

/* What phases can say at most: they are known no better than at position 0. */
static double bits_at_most(const phase_clock *c, int64_t slowest) {
  double bits = 0.0;
  for (int64_t i = 0; i < slowest; i++) {
    const double tolerance = tolerance_of(c, i, 0.0L);
    if (tolerance < 1.0) bits += log2(pi / tolerance);
  }
  return bits;
}

/* Counts 0, -1, 1, -2, 2 … */
static int64_t outwards(int64_t n) {
  return n % 2 ? -(n + 1) / 2 : n / 2;
}

/* One phase tells the position but for whole turns: the nearest that is a whole number, if that is no chance. */
static size_t start_of_one(const phase_clock *c, int64_t farthest, start *found) {
  const long double w = fabsl(c->w[0]), period = full_turn / w;
  for (int64_t n = 0; (long double)(n / 2) * period <= (long double)farthest; n++) {
    guess g = {.position = (long double)c->phases[0].value / w + (long double)outwards(n) * period};
    g.error = tolerance_of(c, 0, g.position) / (double)w;
    if (!(2.0 * g.error * (double)(n + 1) < exp2(-surely))) return 0;
    if (fabs((double)(g.position - roundl(g.position))) > g.error) continue;
    *found = start_near(g.position, g.error);
    return 1;
  }
  return 0;
}

/* Is it out by more phases than can be damaged, of the next slower ones? */
static bool is_hopeless(const phase_clock *c, int64_t slowest, const guess *g, int64_t spare) {
  const int64_t asked = spare > 0 ? 3 : 1;
  int64_t out = 0;
  for (int64_t i = slowest - 1; i >= 0 && i >= slowest - asked; i--)
    out += isfinite(c->phases[i].error) && is_out(c, i, (double)g->position, g->error);
  return out > (spare > 0);
}

/* Of whole turns of the slowest, those after which the next one is where it should be: a look at one in so many is enough.
   In turns of the next one, which come as first + step k. */
typedef struct sieve {
  double first, step, room;
} sieve;

static sieve sieve_of(const phase_clock *c, int64_t slowest, long double period, double farthest) {
  const int64_t next = slowest - 1;
  const sieve none = {0.0, 0.0, 1.0};
  if (next < 0 || isinf(farthest) || isinf(c->phases[next].error)) return none;
  const long double w = fabsl(c->w[next]), slow = fabsl(c->w[slowest]);
  const double room = tolerance_of(c, next, (long double)farthest) +
                      tolerance_of(c, slowest, (long double)farthest) * (double)(w / slow);
  const long double step = period * w / full_turn;
  return (sieve){
      (double)(((long double)c->phases[slowest].value / slow * w - (long double)c->phases[next].value) / full_turn),
      (double)(step - floorl(step)), room / (2.0 * pi) + 1e-6};
}

static bool sieve_passes(const sieve *s, int64_t k) {
  const double turns = s->first + s->step * (double)k, part = turns - (double)(int64_t)turns, off = fabs(part);
  return off <= s->room || off >= 1.0 - s->room;
}

/* From the phase of that index on to the faster ones. */
static size_t starts_from(const phase_clock *c, int64_t slowest, int64_t farthest, start *found, size_t room) {
  int64_t known = 0;
  for (int64_t i = 0; i <= slowest; i++) known += c->phases[i].error < 0.7;
  const int64_t spare = columns_spare(known);
  const long double w = fabsl(c->w[slowest]), period = full_turn / w;
  /* Far out, which takes seconds, phases must not be damaged. */
  const bool far = farthest > POSITION_NEAR;
  const int64_t turns = (int64_t)fminl((long double)farthest / period + 1.0L, far ? 2.1e7L : 1e4L);
  const double tries = fmin(2.0 * (double)turns + 1.0, exp2(fmin(bits_at_most(c, slowest), 60.0) - surely));
  const double of_miss = 3.0 + log2((double)c->pairs);
  start between = {0}, one;
  size_t count = 0;
  bool is_between = false;
  const sieve by = sieve_of(c, slowest, period, far ? (double)turns * (double)period : INFINITY);
  for (int64_t n = 0; (double)n < tries && count + 1 < room; n++) {
    if (!sieve_passes(&by, outwards(n))) continue;
    guess g = {.position = (long double)c->phases[slowest].value / w + (long double)outwards(n) * period};
    g.error = tolerance_of(c, slowest, g.position) / (double)w;
    if (slowest > 0 && is_hopeless(c, slowest, &g, far ? 0 : spare)) continue;
    for (int64_t i = slowest - 1; i >= 0 && g.missed <= spare; i--)
      if (isfinite(c->phases[i].error)) narrow(c, i, &g);
    if (g.missed > spare || g.bits - of_miss * (double)g.missed < surely + log2((double)(n + 1))) continue;
    one = start_near(g.position, g.error);
    if (start_is_whole(&one))
      found[count++] = one;
    else if (!is_between)
      between = one, is_between = true;
    /* Errors of a single whole position leave no doubt: others would differ by turns of all frequencies. */
    if (count == 1 && g.bits > 60.0 && g.missed == 0 && c->pairs > 8) break;
  }
  if (is_between && count < room) found[count++] = between;
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
