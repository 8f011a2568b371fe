/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reference/fast-oracle.h"

#include <math.h>

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

/* Errors of at least one of these limits are uncertain, as they may be a new maximum of the row's range. */
typedef struct limits {
  double ulp, abs, share_per_ulp, share;
} limits;

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
INLINE bool compare(const double *high, const double *low, const double *got, int lanes, const limits *l,
                    const fast_oracle *f, lane_errors *e) {
  const uint64_t per_unit = (uint64_t)(2 * BIAS + f->format->precision - 1) << 52;
  const double unit = double_of((uint64_t)(BIAS - f->format->precision + 1) << 52), tiny = f->tiny;
  const uint64_t least = (uint64_t)(BIAS + FIRST_EXPONENT) << 52, most = least + ((uint64_t)EXPONENTS << 52) - 1;
  const limits limit = *l;
  uint64_t any = 0;
#pragma omp simd reduction(| : any)
  for (int k = 0; k < in_steps(lanes); k++) {
    const double power = binade(high[k]), abs = fabs((got[k] - high[k]) - low[k]);
    const double ulp = abs * double_of(per_unit - bits_of(power));
    const uint64_t bits = bits_of(ulp);
    const uint64_t small_value = bits_of(power - tiny), power_of_two = (bits_of(high[k]) & MANTISSA) - 1;
    const uint64_t worst_ulp = bits_of(limit.ulp - ulp), worst_abs = bits_of(limit.abs - abs);
    const uint64_t worst_share = bits_of(limit.share_per_ulp * (unit * power) + limit.share - abs);
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

INLINE bool judge(const table_tile *t, const unsigned char *row, const limits *l, row_estimate *now) {
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

#define CHECK(name, attributes, fused)                                                                                 \
  attributes static bool judge_##name(const table_tile *t, const unsigned char *row, const limits *l,                  \
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
  bool (*judge)(const table_tile *t, const unsigned char *row, const limits *l, row_estimate *now);
  void (*tally)(const lane_errors *e, int lanes, totals *all);
} checks[] = {EACH_TIER(CHECK_ENTRY)};

/* ---- one tile ---------------------------------------------------------------------------------- */

static limits limits_at(const table_tile *t, const accuracy *a, int64_t position) {
  const int range = accuracy_range(position);
  const double margin = 1.0 - 0x1p-24, ulp = larger(t->known->most[range].ulp, a->most[range].ulp),
               abs = larger(t->known->most[range].abs, a->most[range].abs),
               share = larger(t->known->worst_share, a->worst_share), kept = margin * (share < 1.0 ? share : 1.0);
  limits l = {margin * ulp - 0x1p-30, margin * abs - 2.0 * t->oracle->bound, 0.0, INFINITY};
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
    const limits l = limits_at(t, a, position);
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
  if (rows > 0) fast_witnesses(f, &before, a);
}
