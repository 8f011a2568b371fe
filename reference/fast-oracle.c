/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reference/fast-oracle.h"
#include "reference/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A position is anchor + 64 b + j, where the anchor is a multiple of 4096 and 0 <= b, j < 64. MPFR gives (sin, cos) of
 * the anchor and of 1, 2, 4 ... 2048 positions. Rotations in pairs of doubles give those of j and of 64 b, once per
 * frequency; then anchor ∘ 64 b, once per 64 rows; then that ∘ j.
 *
 * Proof of FAST_BOUND. Unit u = 2^-53. A value is high + low, |high| <= 1, |low| <= u/2, half an ulp of high. Rounding
 * a sum of size at most 2^k u has an error of at most 2^k u²/2. One component of a rotation is x1 y1 + x2 y2:
 *
 *   p, p'      the product of the highs and its error, exactly: 2Prod, by FMA or after Dekker (1971); |p'| <= u/2
 *   q, q'      the product and error of the second pair, likewise
 *   t, t'      p + q and its error, exactly: 2Sum (Knuth, 1969); |p + q| < 1 + 2^-50, so |t'| <= u
 *   k1         x1l y1h + x1h y1l: two products of at most u/2, their sum at most u:     2 × u²/4 + u²/2 = 1   u²
 *   k2         the same sum for the second pair:                                                        1   u²
 *   k1 + k2    at most 2u:                                                                            1   u²
 *   p' + q'    at most u:                                                                             0.5 u²
 *    … + t'    at most 2u:                                                                            1   u²
 *   r          the sum of both, at most 4u:                                                           2   u²
 *   left out   x1l y1l + x2l y2l:                                                                     0.5 u²
 *   high, low  t + r, exactly: 2Sum
 *
 * In all 7 u² per component, less than 10 u² as a distance in the plane of (cos, sin). These are the building blocks of
 * double-word arithmetic (Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building blocks of
 * double-word arithmetic", ACM TOMS 44(2), 2017). Its product (algorithm 11, 5 u²) and sum (algorithm 6, 3 u² + 13 u³)
 * bound the error relative to each result. A rotation needs the absolute error of a sum of products of at most 1, which
 * is smaller and takes one normalisation less.
 *
 * Distances in the plane add up under rotation, except for a factor (1 + 2^-90). MPFR's pairs are within 2^-105 = 2 u²
 * (oracle_points and oracle_turns, as points). j and 64 b take at most six of them and five rotations each, the anchor
 * takes one, and combining the three takes two rotations: 13 × 2 u² + 12 × 10 u² = 146 u² < 2^-98.
 *
 * An attention factor is part of the anchors only. If it is at most 2^k, the rotated pair is 2^k times such a pair, and
 * so is its error: a power of two changes no rounding.
 *
 * The error of a product below 2^-969 is not a double. It is then wrong by at most 2^-1072, which changes nothing
 * above. No target fuses anything but the error of 2Prod, which is exact either way, so all targets give the same bits.
 */

/* ---- rotation ---------------------------------------------------------------------------------- */

INLINE void rotate(const fast_lanes *a, const fast_lanes *b, int lanes, fast_lanes *sum, bool fused) {
#pragma omp simd
  for (int k = 0; k < in_steps(lanes); k++) set_lane(sum, k, rotated(lane(a, k), lane(b, k), fused));
}

#define ROTATE(name, attributes, fused)                                                                                \
  attributes static void rotate_##name(const fast_lanes *a, const fast_lanes *b, int lanes, fast_lanes *sum) {         \
    rotate(a, b, lanes, sum, fused);                                                                                   \
  }
EACH_TIER(ROTATE)

#define ROTATE_ENTRY(name, attributes, fused) [TIER_##name] = rotate_##name,
static void (*const rotations[])(const fast_lanes *a, const fast_lanes *b, int lanes,
                                 fast_lanes *sum) = {EACH_TIER(ROTATE_ENTRY)};

void fast_origin(const fast_oracle *f, const group *g, int64_t position, int lanes, fast_lanes *origin) {
  f->rotate(&g->anchor, &g->coarse[(uint64_t)position / STEPS % STEPS], lanes, origin);
}

static void values_at(const fast_oracle *f, const group *g, int64_t position, int lanes, fast_lanes *values) {
  fast_lanes origin;
  fast_origin(f, g, position, lanes, &origin);
  f->rotate(&origin, &g->fine[(uint64_t)position % STEPS], lanes, values);
}

/* ---- creation, values ---------------------------------------------------------------------------- */

static fast_pair pair_of(const exact_pair *pair) {
  return (fast_pair){{pair->sine.high, pair->sine.low}, {pair->cosine.high, pair->cosine.low}};
}

/* Computes the rotations by numbers that are not powers of two: the rotation by the highest bit after that by the
   rest. */
static void fill_multiples(const fast_oracle *f, int lanes, fast_lanes *multiples) {
  for (int n = 1; n < STEPS; n++) {
    int highest = n;
    while (highest & (highest - 1)) highest &= highest - 1;
    if (highest != n) f->rotate(&multiples[n - highest], &multiples[highest], lanes, &multiples[n]);
  }
}

/* Returns the number of frequencies of a group. */
static int count_of(const fast_oracle *f, int64_t number) {
  const int64_t left = f->pairs - number * LANES;
  return (int)(left < LANES ? left : LANES);
}

static void fill_groups(fast_oracle *f) {
  for (int64_t i = 0; i < f->pairs; i++) {
    const fast_pair by_0 = {{0.0, 0.0}, {1.0, 0.0}};
    set_lane(&f->group[i / LANES].fine[0], i % LANES, by_0);
    set_lane(&f->group[i / LANES].coarse[0], i % LANES, by_0);
  }
  oracle_turns(f->exact, TURNS, f->exacts);
  for (int64_t i = 0; i < f->pairs; i++)
    for (int bit = 0; bit < TURNS; bit++) {
      group *g = &f->group[i / LANES];
      fast_lanes *of = bit < STEP_BITS ? &g->fine[1 << bit] : &g->coarse[1 << (bit - STEP_BITS)];
      set_lane(of, i % LANES, pair_of(&f->exacts[i * TURNS + bit]));
    }
  for (int64_t n = 0; n < f->groups; n++) {
    group *g = &f->group[n];
    g->lanes = lanes_for(count_of(f, n));
    fill_multiples(f, g->lanes, g->fine);
    fill_multiples(f, g->lanes, g->coarse);
  }
}

/* Returns the largest multiple of REACH that is at most the position. */
static int64_t anchor_of(int64_t position) {
  return position & ~(int64_t)(REACH - 1);
}

static void set_anchor(fast_oracle *f, int64_t position) {
  oracle_points(f->exact, position, f->exacts);
  for (int64_t i = 0; i < f->pairs; i++) set_lane(&f->group[i / LANES].anchor, i % LANES, pair_of(&f->exacts[i]));
  f->anchored = position;
}

static void move_anchor(fast_oracle *f, int64_t position) {
  if (f->anchored != anchor_of(position)) set_anchor(f, anchor_of(position));
}

fast_oracle *fast_create(const posenc_problem *problem, unsigned isa) {
  return fast_create_some(problem, NULL, isa);
}

fast_oracle *fast_create_some(const posenc_problem *problem, const selection *some, unsigned isa) {
  fast_oracle *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  posenc_problem unpadded = *problem;
  unpadded.padding = POSENC_NO_PADDING;
  f->problem = *problem;
  f->pairs = some ? some->count : problem->dim / 2;
  f->columns = posenc_layout_columns(problem->layout, 2 * f->pairs);
  f->row_bytes = 2 * (size_t)f->pairs * posenc_dtype_bytes(problem->dtype);
  f->tier = tier_for(isa);
  f->rotate = rotations[f->tier];
  f->groups = (f->pairs - 1) / LANES + 1;
  f->exact = oracle_create_some(&unpadded, some);
  f->group = aligned_alloc(64, (size_t)f->groups * sizeof *f->group);
  f->exacts = calloc((size_t)f->pairs * TURNS, sizeof *f->exacts);
  f->sums = calloc((size_t)f->groups * STEPS, sizeof *f->sums);
  if (!f->exact || !f->group || !f->exacts || !f->sums) {
    fast_destroy(f);
    return NULL;
  }
  memset(f->group, 0, (size_t)f->groups * sizeof *f->group); /* zeros in lanes without a frequency */
  f->format = oracle_format(f->exact);
  int exponent;
  if (frexp(attention_of(problem), &exponent) == 0.5) exponent--; /* the proof covers the rounding of the double */
  f->bound = ldexp(FAST_BOUND, exponent);
  const int least = exponent + f->format->precision - 68, normal = f->format->least + f->format->precision - 1;
  f->tiny = ldexp(1.0, least > normal ? least : normal);
  fill_groups(f);
  set_anchor(f, anchor_of(problem->first));
  return f;
}

void fast_destroy(fast_oracle *f) {
  if (!f) return;
  oracle_destroy(f->exact);
  free(f->group);
  free(f->exacts);
  free(f->sums);
  free(f);
}

void fast_row(fast_oracle *f, int64_t position, fast_pair *pairs) {
  fast_lanes now;
  move_anchor(f, position);
  for (int64_t i = 0; i < f->pairs; i++) {
    const group *g = &f->group[i / LANES];
    if (i % LANES == 0) values_at(f, g, position, g->lanes, &now);
    pairs[i] = lane(&now, i % LANES);
  }
}

int64_t fast_groups(const fast_oracle *f) {
  return f->groups;
}

int64_t fast_move(fast_oracle *f, int64_t position) {
  move_anchor(f, position);
  return REACH - (position - f->anchored); /* REACH + f->anchored may exceed INT64_MAX */
}

void fast_lanes_of(const fast_oracle *f, int64_t position, fast_lanes *groups) {
  for (int64_t n = 0; n < f->groups; n++) values_at(f, &f->group[n], position, LANES, &groups[n]);
}

fast_pair fast_turn(const fast_pair *a, const fast_pair *b) {
  return rotated(*a, *b, FUSED);
}

/* ---- tiles ------------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

fast_span fast_span_at(fast_oracle *f, int64_t position, int64_t rows) {
  const int64_t reach = fast_move(f, position), from = REACH - reach, to = from + least(rows, reach),
                blocks = (to - 1) / STEPS - from / STEPS + 1;
  return (fast_span){from, to, blocks, f->groups * blocks};
}

fast_tile fast_tile_of(const fast_oracle *f, const fast_span *s, int64_t number) {
  const int64_t g = number / s->blocks, begin = (s->from / STEPS + number % s->blocks) * STEPS;
  return (fast_tile){.group = &f->group[g],
                     .index = g * LANES,
                     .count = count_of(f, g),
                     .origin = f->anchored + begin,
                     .from = begin > s->from ? 0 : (int)(s->from - begin),
                     .to = (int)least(STEPS, s->to - begin)};
}
