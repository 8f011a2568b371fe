/* SPDX-License-Identifier: MIT */
/* The fast reference: rotations and anchors, tiles of 64 rows by 64 frequencies, elements near midpoints, and the
   checks of tables. */
#include "config.h"

#include "reference/scaling.h"
#include "reference/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  STEP_BITS = 6,
  STEPS = 1 << STEP_BITS,    /* rows of a tile, and tiles between anchors */
  ROTATIONS = 2 * STEP_BITS, /* rotations by powers of two, from which the others are made */
  REACH = STEPS * STEPS,     /* rows from an anchor to the next */
};

/* The rotations of LANES frequencies by j and by 64 b positions, and their values at the current anchor. Lanes from
   `lanes` on have no frequency. */
typedef struct group {
  int lanes; /* from lanes_for */
  fast_lanes fine[STEPS], coarse[STEPS], anchor;
} group;

struct fast_oracle {
  posenc_problem problem;
  posenc_columns columns;
  size_t row_bytes;
  bool no_sines, no_cosines; /* columns that the checked table lacks */
  bool keeps_witnesses;      /* see fast_keep_witnesses */
  oracle *exact;             /* without the padding row, as that may be an anchor */
  const format *format;
  tier tier;
  void (*rotate)(const fast_lanes *a, const fast_lanes *b, int lanes, fast_lanes *sum);
  double bound; /* FAST_BOUND times the power of two above the attention factor */
  double tiny;  /* smaller values are subnormal, or the bound is 2^-31 ulp or more */
  int64_t pairs, groups;
  int64_t anchored; /* the position of the current anchor */
  group *group;
  exact_pair *exacts;  /* results of MPFR: one per frequency, or TURNS */
  element_error *sums; /* one per tile between two anchors */
};

/* Rows [from, to), counted from the current anchor, divided into tiles. */
typedef struct fast_span {
  int64_t from, to;
  int64_t blocks, tiles; /* tiles of one group, and of all */
} fast_span;

/* Rows [origin + from, origin + to) of one group. `origin` is anchor + 64 b. */
typedef struct fast_tile {
  const group *group;
  int64_t index; /* index of the first frequency */
  int count;     /* number of frequencies */
  int64_t origin;
  int from, to;
} fast_tile;

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
 * (oracle_points and oracle_rotations, as points). j and 64 b take at most six of them and five rotations each, the
 * anchor takes one, and combining the three takes two rotations: 13 × 2 u² + 12 × 10 u² = 146 u² < 2^-98.
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

/* Makes: rotate_generic, rotate_avx2, rotate_avx512. */
#define ROTATE(name, attributes, fused)                                                                                \
  attributes static void rotate_##name(const fast_lanes *a, const fast_lanes *b, int lanes, fast_lanes *sum) {         \
    rotate(a, b, lanes, sum, fused);                                                                                   \
  }
EACH_TIER(ROTATE)

#define ROTATE_ENTRY(name, attributes, fused) [TIER_##name] = rotate_##name,
static void (*const rotations[])(const fast_lanes *a, const fast_lanes *b, int lanes,
                                 fast_lanes *sum) = {EACH_TIER(ROTATE_ENTRY)};

/* Computes the values of some lanes at a tile's origin. */
static void fast_origin(const fast_oracle *f, const group *g, int64_t position, int lanes, fast_lanes *origin) {
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
  oracle_rotations(f->exact, ROTATIONS, f->exacts);
  for (int64_t i = 0; i < f->pairs; i++)
    for (int bit = 0; bit < ROTATIONS; bit++) {
      group *g = &f->group[i / LANES];
      fast_lanes *of = bit < STEP_BITS ? &g->fine[1 << bit] : &g->coarse[1 << (bit - STEP_BITS)];
      set_lane(of, i % LANES, pair_of(&f->exacts[i * ROTATIONS + bit]));
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
  f->exacts = calloc((size_t)f->pairs * ROTATIONS, sizeof *f->exacts);
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

fast_pair fast_rotate(const fast_pair *a, const fast_pair *b) {
  return rotated(*a, *b, FUSED);
}

/* ---- tiles ------------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Moves the anchor to the last one at or before the position. Returns the span of at most `rows` rows from there that
   the anchor reaches. */
static fast_span fast_span_at(fast_oracle *f, int64_t position, int64_t rows) {
  const int64_t reach = fast_move(f, position), from = REACH - reach, to = from + least(rows, reach),
                blocks = (to - 1) / STEPS - from / STEPS + 1;
  return (fast_span){from, to, blocks, f->groups * blocks};
}

static fast_tile fast_tile_of(const fast_oracle *f, const fast_span *s, int64_t number) {
  const int64_t g = number / s->blocks, begin = (s->from / STEPS + number % s->blocks) * STEPS;
  return (fast_tile){.group = &f->group[g],
                     .index = g * LANES,
                     .count = count_of(f, g),
                     .origin = f->anchored + begin,
                     .from = begin > s->from ? 0 : (int)(s->from - begin),
                     .to = (int)least(STEPS, s->to - begin)};
}

/* ---- midpoints ------------------------------------------------------------------------------------------- */

/* How near a midpoint is. The unit is the last bit of a double, for f32 2^-29 ulp. */
typedef struct nearness {
  double tiny;    /* smaller values all count as near */
  int64_t ulp;    /* ulp of the format, in units */
  int64_t within; /* the largest distance that is near, in units */
} nearness;

/* Returns a number whose sign is set if the high part is near a midpoint, or below `tiny`. */
INLINE uint64_t near_midpoint(double high, nearness n) {
  const int64_t off = (int64_t)(bits_of(high) & (uint64_t)(n.ulp - 1)) - n.ulp / 2;
  return bits_of(binade(high) - n.tiny) | ~(uint64_t)((n.within - off) | (n.within + off));
}

/* Whether any sine or cosine of the lanes is near a midpoint; `near` marks them. */
INLINE bool seek(const fast_lanes *t, const nearness *how, uint64_t *near) {
  const nearness n = *how;
  uint64_t any = 0;
#pragma omp simd reduction(| : any)
  for (int k = 0; k < LANES; k++) {
    near[k] = near_midpoint(t->sin_high[k], n) | near_midpoint(t->cos_high[k], n);
    any |= near[k];
  }
  return any & SIGN;
}

/* Makes: seek_generic, seek_avx2, seek_avx512. */
#define SEEK(name, attributes, fused)                                                                                  \
  attributes static bool seek_##name(const fast_lanes *t, const nearness *how, uint64_t *near) {                       \
    return seek(t, how, near);                                                                                         \
  }
EACH_TIER(SEEK)

#define SEEK_ENTRY(name, attributes, fused) [TIER_##name] = seek_##name,
static bool (*const seeks[])(const fast_lanes *t, const nearness *how, uint64_t *near) = {EACH_TIER(SEEK_ENTRY)};

typedef struct near_search {
  const fast_oracle *oracle;
  nearness how;
  void (*found)(place at, void *argument);
  void *argument;
} near_search;

static void seek_tile(const near_search *s, const fast_tile *t) {
  const fast_oracle *f = s->oracle;
  fast_lanes origin, now;
  uint64_t near[LANES];
  fast_origin(f, t->group, t->origin, LANES, &origin);
  for (int j = t->from; j < t->to; j++) {
    f->rotate(&origin, &t->group->fine[j], LANES, &now);
    if (!seeks[f->tier](&now, &s->how, near)) continue;
    for (int k = 0; k < t->count; k++) {
      if (!(near[k] & SIGN)) continue;
#pragma omp critical(fast_found)
      s->found((place){t->origin + j, t->index + k}, s->argument);
    }
  }
}

/* The limit is `within` and one unit. The high part is within a unit of the value: its rounding is at most half a unit,
   and the bound of a value that is not tiny at most another half. */
void fast_near_midpoints(fast_oracle *f, int64_t position, int64_t rows, double within,
                         void (*found)(place at, void *argument), void *argument) {
  const int64_t ulp = INT64_C(1) << (53 - f->format->precision);
  const near_search s = {f, {f->tiny, ulp, (int64_t)ceil(within * (double)ulp) + 1}, found, argument};
  for (int64_t done = 0; done < rows;) {
    const fast_span span = fast_span_at(f, position + done, rows - done);
#pragma omp parallel for schedule(dynamic)
    for (int64_t n = 0; n < span.tiles; n++) {
      const fast_tile t = fast_tile_of(f, &span, n);
      seek_tile(&s, &t);
    }
    done += span.to - span.from;
  }
}

/* ---- checks of tables ------------------------------------------------------------------------------------ */

enum {
  FIRST_EXPONENT = -23, /* errors from 2^-23 to 2^105 ulp are counted by their exponent; others are uncertain */
  EXPONENTS = 128,
  COUNTED = EXPONENTS, /* the exponent of an element that accuracy_count has counted */
};

/* A tile of a table that is checked. */
typedef struct table_tile {
  const fast_oracle *oracle;
  fast_tile at;
  const unsigned char *rows; /* row `at.from` of the tile */
  const posenc_bound *bound;
  const accuracy *known; /* found so far; smaller errors are certain */
} table_tile;

/* Errors of at least one of these thresholds are uncertain, as they may be a new maximum of the row's range. */
typedef struct thresholds {
  double ulp, abs, share_per_ulp, share;
} thresholds;

/* The errors of LANES sines or cosines, computed from the values of the fast reference. */
typedef struct lane_errors {
  double ulp[LANES], abs[LANES];
  uint64_t exponent[LANES];  /* of ulp, minus FIRST_EXPONENT; or COUNTED */
  uint64_t uncertain[LANES]; /* sign set: the exact value is needed */
} lane_errors;

typedef struct row_estimate {
  fast_lanes value;
  double sine[LANES], cosine[LANES]; /* elements of the table */
  lane_errors of_sine, of_cosine;
} row_estimate;

/* Sums and histogram of a tile, per lane. Lanes are added up at the end, so that the sums are the same on all tiers. */
typedef struct totals {
  double ulp[LANES], abs[LANES];
  int64_t exponents[4][EXPONENTS + 1]; /* four histograms in turn, to shorten dependency chains */
} totals;

/* ---- compiled for each instruction set --------------------------------------------------------- */

/*
 * Computes errors from values of the fast reference of size `tiny` or more. There its bound is at most 2^-31 ulp, 2^-27
 * of the end of the lowest bin, and the ulp is that of the value's binade. An element is uncertain where the exact
 * value might change a statistic: if the error is near a power of two, where bins end (half an ulp is one), or near the
 * largest error so far; if the value is a power of two, where the ulp changes; or if the element is not a number. In
 * f32 and shorter formats, if the high part of a value is a midpoint, its low part is at most 2^-30 ulp, so both
 * neighbours are within 2^-30 ulp of half an ulp from it; an element with a smaller error is the nearest number. That
 * does not hold below the smallest normal number, where a zero of either sign may be as near.
 *
 * Conditions are signs of differences, which take the same few instructions on every tier.
 */
INLINE bool compare(const double *high, const double *low, const double *got, int lanes, const thresholds *l,
                    const fast_oracle *f, lane_errors *e) {
  const uint64_t per_unit = (uint64_t)(2 * BIAS + f->format->precision - 1) << 52;
  const double unit = double_of((uint64_t)(BIAS - f->format->precision + 1) << 52), tiny = f->tiny;
  const uint64_t least = (uint64_t)(BIAS + FIRST_EXPONENT) << 52, most = least + ((uint64_t)EXPONENTS << 52) - 1;
  const thresholds threshold = *l;
  uint64_t any = 0;
#pragma omp simd reduction(| : any)
  for (int k = 0; k < in_steps(lanes); k++) {
    const double power = binade(high[k]), abs = fabs((got[k] - high[k]) - low[k]);
    const double ulp = abs * double_of(per_unit - bits_of(power));
    const uint64_t bits = bits_of(ulp);
    const uint64_t small_value = bits_of(power - tiny), power_of_two = (bits_of(high[k]) & MANTISSA) - 1;
    const uint64_t worst_ulp = bits_of(threshold.ulp - ulp), worst_abs = bits_of(threshold.abs - abs);
    const uint64_t worst_share = bits_of(threshold.share_per_ulp * (unit * power) + threshold.share - abs);
    const uint64_t near_power = ((bits + (UINT64_C(1) << 27)) & MANTISSA) - (UINT64_C(1) << 28);
    const uint64_t uncounted = (bits - least) | (most - bits);
    const uint64_t uncertain =
        small_value | power_of_two | worst_ulp | worst_abs | worst_share | near_power | uncounted;
    e->ulp[k] = ulp;
    e->abs[k] = abs;
    e->exponent[k] = (bits >> 52) - (uint64_t)(BIAS + FIRST_EXPONENT);
    e->uncertain[k] = uncertain;
    any |= uncertain;
  }
  return any & SIGN;
}

INLINE bool judge(const table_tile *t, const unsigned char *row, const thresholds *l, row_estimate *now) {
  const fast_oracle *f = t->oracle;
  load_pairs(f->problem.dtype, f->columns, row, t->at.index * f->columns.step, t->at.count, now->sine, now->cosine);
  const fast_lanes *v = &now->value;
  const int lanes = t->at.group->lanes;
  const bool sine = compare(v->sin_high, v->sin_low, now->sine, lanes, l, f, &now->of_sine);
  const bool cosine = compare(v->cos_high, v->cos_low, now->cosine, lanes, l, f, &now->of_cosine);
  return sine | cosine;
}

INLINE void tally(const lane_errors *e, int lanes, totals *all) {
#pragma omp simd
  for (int k = 0; k < in_steps(lanes); k++) {
    all->ulp[k] += e->ulp[k];
    all->abs[k] += e->abs[k];
  }
  for (int k = 0; k < lanes; k += 4) {
    all->exponents[0][e->exponent[k]]++;
    all->exponents[1][e->exponent[k + 1]]++;
    all->exponents[2][e->exponent[k + 2]]++;
    all->exponents[3][e->exponent[k + 3]]++;
  }
}

/* Makes: judge_generic, judge_avx2, judge_avx512, tally_generic, tally_avx2, tally_avx512. */
#define CHECK(name, attributes, fused)                                                                                 \
  attributes static bool judge_##name(const table_tile *t, const unsigned char *row, const thresholds *l,              \
                                      row_estimate *now) {                                                             \
    return judge(t, row, l, now);                                                                                      \
  }                                                                                                                    \
  attributes static void tally_##name(const lane_errors *e, int lanes, totals *all) {                                  \
    tally(e, lanes, all);                                                                                              \
  }
EACH_TIER(CHECK)

/* judge: whether any element of the row is uncertain. */
#define CHECK_ENTRY(name, attributes, fused) [TIER_##name] = {judge_##name, tally_##name},
static const struct check {
  bool (*judge)(const table_tile *t, const unsigned char *row, const thresholds *l, row_estimate *now);
  void (*tally)(const lane_errors *e, int lanes, totals *all);
} checks[] = {EACH_TIER(CHECK_ENTRY)};

/* ---- one tile ---------------------------------------------------------------------------------- */

static thresholds thresholds_at(const table_tile *t, const accuracy *a, int64_t position) {
  const int range = accuracy_range(position);
  const double margin = 1.0 - 0x1p-24, ulp = larger(t->known->most[range].ulp, a->most[range].ulp),
               abs = larger(t->known->most[range].abs, a->most[range].abs),
               share = larger(t->known->worst_share, a->worst_share), kept = margin * (share < 1.0 ? share : 1.0);
  thresholds l = {margin * ulp - 0x1p-30, margin * abs - 2.0 * t->oracle->bound, 0.0, INFINITY};
  if (t->bound) {
    l.share_per_ulp = kept * t->bound->ulp;
    l.share = kept * (t->bound->abs + t->bound->growth * fabs((double)position)) - 2.0 * t->oracle->bound;
  }
  return l;
}

/* Makes an exact value for which accuracy_count gives the same results as for MPFR's; returns false if they may
   differ. */
static bool certain(const fast_oracle *f, double high, double low, double got, exact *value) {
  const double slack = 2.0 * f->bound; /* the bound, and the rounding of low in MPFR's value */
  int exponent;
  const bool power = fabs(frexp(high, &exponent)) == 0.5;
  /* high must be the double nearest to the value, and low must have the right sign */
  if (power || !(fabs(low) > slack) || !(fabs(low) + slack < ldexp(1.0, exponent - 54))) return false;
  *value = (exact){high, low, 0.0};
  const double ulp = format_ulp(f->format, value);
  value->rounded = ulp * rint(high / ulp);                    /* a multiple of ulp, ties to even */
  if (fabs(high - value->rounded) == 0.5 * ulp) return false; /* a midpoint */
  return !isfinite(got) || (got - high) - (low - slack) == (got - high) - (low + slack);
}

/* Whether the estimate is too inaccurate for the sums. This depends on the element alone, so the sums do too. */
static bool meaningless(const fast_oracle *f, double high, double got) {
  return !(fabs(high) >= f->tiny) || fabs(high) == binade(high) || !isfinite(got);
}

/* Recomputes uncertain elements by MPFR, unless the value of the fast reference is certain after all. Lanes without a
   frequency are uncertain, as their exact values are 0. */
static void recompute_uncertain(const table_tile *t, int64_t position, bool cosine, row_estimate *now, accuracy *a) {
  const fast_oracle *f = t->oracle;
  const double *high = cosine ? now->value.cos_high : now->value.sin_high,
               *low = cosine ? now->value.cos_low : now->value.sin_low, *got = cosine ? now->cosine : now->sine;
  lane_errors *e = cosine ? &now->of_cosine : &now->of_sine;
  for (int k = 0; k < t->at.group->lanes; k++) {
    if (!(e->uncertain[k] & SIGN)) continue;
    exact value;
    element_error d = {0.0, 0.0};
    if (k < t->at.count) {
      if (!certain(f, high[k], low[k], got[k], &value)) {
        const exact_pair pair = oracle_pair(f->exact, position, t->at.index + k);
        value = cosine ? pair.cosine : pair.sine;
      }
      d = accuracy_count(a, f->format, t->bound, &value, got[k], (element_place){position, t->at.index + k, cosine});
    }
    e->exponent[k] = COUNTED;
    if (!meaningless(f, high[k], got[k])) continue;
    e->ulp[k] = d.ulp;
    e->abs[k] = d.abs;
  }
}

static void check_padding(const table_tile *t, const double *got, int64_t position, bool cosine, accuracy *a) {
  const exact zero = {0.0, 0.0, 0.0};
  const posenc_bound nothing = {.derived = true};
  for (int k = 0; k < t->at.count; k++)
    accuracy_add(a, t->oracle->format, t->bound ? &nothing : NULL, &zero, got[k],
                 (element_place){position, t->at.index + k, cosine});
}

static void finish(totals *all, const posenc_bound *bound, accuracy *a, element_error *sums) {
  for (int n = 0; n < EXPONENTS; n++) {
    const int64_t count = all->exponents[0][n] + all->exponents[1][n] + all->exponents[2][n] + all->exponents[3][n];
    const int exponent = n + FIRST_EXPONENT; /* 2^exponent <= error < 2^(exponent + 1) */
    a->elements += count;
    if (bound) a->held += count;
    a->bins[accuracy_bin(exponent + 1)] += count;
    if (exponent >= -1) a->misrounded += count;
  }
  *sums = (element_error){sum_of(all->ulp) + a->sum_ulp, sum_of(all->abs) + a->sum_abs};
  a->sum_ulp = a->sum_abs = 0.0; /* sums of the padding row are not counted */
}

static bool is_padding(const posenc_problem *problem, int64_t position) {
  return problem->padding != POSENC_NO_PADDING && position == problem->padding;
}

static void check_tile(const table_tile *t, accuracy *a, element_error *sums) {
  const fast_oracle *f = t->oracle;
  const struct check *with = &checks[f->tier];
  const int lanes = t->at.group->lanes;
  const unsigned char *row = t->rows;
  fast_lanes origin;
  row_estimate now = {.sine = {0.0}, .cosine = {0.0}};
  totals all = {.ulp = {0.0}};
  fast_origin(f, t->at.group, t->at.origin, lanes, &origin);
  for (int j = t->at.from; j < t->at.to; j++, row += f->row_bytes) {
    const int64_t position = t->at.origin + j;
    const thresholds l = thresholds_at(t, a, position);
    f->rotate(&origin, &t->at.group->fine[j], lanes, &now.value);
    const bool uncertain = with->judge(t, row, &l, &now), padding = is_padding(&f->problem, position);
    for (int cosine = f->no_sines; cosine <= !f->no_cosines; cosine++) {
      if (padding) {
        check_padding(t, cosine ? now.cosine : now.sine, position, cosine, a);
        continue;
      }
      if (uncertain) recompute_uncertain(t, position, cosine, &now, a);
      with->tally(cosine ? &now.of_cosine : &now.of_sine, lanes, &all);
    }
  }
  finish(&all, t->bound, a, sums);
}

/* ---- a table ----------------------------------------------------------------------------------- */

void fast_keep_witnesses(fast_oracle *f) {
  f->keeps_witnesses = true;
}

void fast_part(fast_oracle *f, bool sines, bool cosines) {
  f->no_sines = !sines;
  f->no_cosines = !cosines;
}

static fast_span span_of(const fast_blocks *b) {
  return (fast_span){b->from, b->from + b->rows, b->blocks, b->tiles};
}

bool fast_reaches(const fast_oracle *f, int64_t row) {
  const uint64_t ahead = (uint64_t)(f->problem.first + row) - (uint64_t)f->anchored;
  return ahead < REACH;
}

fast_blocks fast_blocks_of(fast_oracle *f, int64_t row, int64_t rows) {
  const fast_span s = fast_span_at(f, f->problem.first + row, rows);
  return (fast_blocks){row, s.to - s.from, s.blocks, s.tiles, s.from};
}

void fast_block_rows(const fast_blocks *b, int64_t block, int64_t *row, int64_t *rows) {
  const int64_t begin = (b->from / STEPS + block) * STEPS, from = begin > b->from ? begin : b->from,
                end = b->from + b->rows, to = begin + STEPS < end ? begin + STEPS : end;
  *row = b->row + from - b->from;
  *rows = to - from;
}

void fast_check_block(const fast_oracle *f, const fast_blocks *b, int64_t block, const void *rows_there,
                      const posenc_bound *bound, const accuracy *known, accuracy *a, element_error *sums) {
  const fast_span s = span_of(b);
  for (int64_t n = block; n < s.tiles; n += s.blocks) {
    const table_tile t = {
        .oracle = f, .at = fast_tile_of(f, &s, n), .rows = rows_there, .bound = bound, .known = known};
    check_tile(&t, a, &sums[n]);
  }
}

void fast_blocks_add(const fast_blocks *b, const element_error *sums, accuracy *a) {
  for (int64_t n = 0; n < b->tiles; n++) {
    a->sum_ulp += sums[n].ulp;
    a->sum_abs += sums[n].abs;
  }
}

/* Checks the blocks. `rows` points at their first row. */
static void check_blocks(fast_oracle *f, const fast_blocks *b, const unsigned char *rows, const posenc_bound *bound,
                         accuracy *a) {
  const fast_span s = span_of(b);
  const accuracy known = *a;
#pragma omp parallel
  {
    accuracy mine = {0};
#pragma omp for schedule(dynamic)
    for (int64_t n = 0; n < s.tiles; n++) {
      table_tile t = {.oracle = f, .at = fast_tile_of(f, &s, n), .bound = bound, .known = &known};
      t.rows = rows + f->row_bytes * (size_t)(t.at.origin + t.at.from - f->anchored - s.from);
      check_tile(&t, &mine, &f->sums[n]);
    }
#pragma omp critical(fast_merge)
    accuracy_merge(a, &mine);
  }
  fast_blocks_add(b, f->sums, a);
}

/* Sets the exact value of a witness to MPFR's, unless it is the element of `before`. That has it, or is the first place
   of new statistics, the sine of position 0, which is exactly 0. */
static void set_witness(const fast_oracle *f, const witness *before, witness *w) {
  const bool is_same = before->position == w->position && before->index == w->index && before->cosine == w->cosine;
  if (is_same || is_padding(&f->problem, w->position)) return;
  const exact_pair pair = oracle_pair(f->exact, w->position, w->index);
  w->exact_high = w->cosine ? pair.cosine.high : pair.sine.high;
  w->exact_low = w->cosine ? pair.cosine.low : pair.sine.low;
}

void fast_witnesses(const fast_oracle *f, const accuracy *before, accuracy *a) {
  set_witness(f, &before->max_ulp, &a->max_ulp);
  set_witness(f, &before->max_abs, &a->max_abs);
  if (a->held > 0) set_witness(f, &before->worst, &a->worst);
}

void fast_check(fast_oracle *f, int64_t row, int64_t rows, const void *table, const posenc_bound *bound, accuracy *a) {
  const unsigned char *next = table;
  const accuracy before = *a;
  for (int64_t done = 0; done < rows;) {
    const fast_blocks b = fast_blocks_of(f, row + done, rows - done);
    check_blocks(f, &b, next, bound, a);
    next += f->row_bytes * (size_t)b.rows;
    done += b.rows;
  }
  if (rows > 0 && !f->keeps_witnesses) fast_witnesses(f, &before, a);
}
