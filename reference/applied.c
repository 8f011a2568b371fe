/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reference/applied.h"

#include "reference/axes.h"
#include "reference/vectors.h"

#include <math.h>

/*
 * Error bounds. A value is high + low, as in fast-oracle.c; u = 2^-53. The values of the fast reference are within
 * 2^-98 of sine and cosine.
 *
 * Add: x + high = s + e exactly (2Sum). The sum e + low is rounded; as |e| <= u |s| and |low| <= u/2, its error is at
 * most u (u |s| + u/2). The last sum is exact. With the error of the fast reference, this is less than 2^-97 of the
 * larger of 1 and |s|. Where x cancels the sine, s is exact, and the 2^-98 of the fast reference are the only error.
 *
 * Rope: a component is a sum of two products, as in a rotation of fast-oracle.c. The proof there is for x of length 1
 * without low parts, and scales with the length: 7 u² of the length, and √2 × 2^-98 of it from the fast reference,
 * together less than 2^-96.
 *
 * An attention factor is part of the values of the fast reference, and multiplies them and their error.
 *
 * An ulp of f32 is at least 2^-24 of either size, so double arithmetic gives an error in ulp within about 2^-52, more
 * digits than any figure shows.
 */

enum { COUNTED = ACCURACY_BINS }; /* bin of an element that is counted by accuracy_note */

/* The elements of LANES pairs. */
typedef struct pair_lanes {
  double first[LANES], second[LANES];
} pair_lanes;

/* The exact values of one element of each pair, and the sizes to which the ulp and the bound are proportional. */
typedef struct values {
  double high[LANES], low[LANES], size[LANES];
} values;

typedef struct errors {
  double ulp[LANES], abs[LANES];
  uint64_t bin[LANES];
  uint64_t misrounded[LANES]; /* sign set: true */
  uint64_t uncertain[LANES];  /* sign set: may be a new maximum, or beyond its bound */
} errors;

/* Larger errors are uncertain and checked one by one. The share is that of a bound that grows with the size. */
typedef struct thresholds {
  double ulp, abs, share, share_per_size;
  uint64_t all; /* sign set: all errors are checked */
} thresholds;

/* The sums of a row, per lane, so that they are the same on all tiers; and its histogram. */
typedef struct totals {
  double ulp[LANES], abs[LANES];
  uint64_t misrounded[LANES];
  int64_t bins[ACCURACY_BINS + 1];
} totals;

/* The pairs of one head, or of the row, from frequency index `index` on. */
typedef struct head_tile {
  const applied_row *row;
  const fast_lanes *exact_pairs;
  int64_t head, index;
  int count, lanes; /* the pairs, and lanes_for them */
} head_tile;

typedef struct findings {
  pair_lanes x, got;
  values of_first, of_second;
  errors first, second;
} findings;

/* ---- the exact values ---------------------------------------------------------------------------- */

/* Loads a tile's elements. Lanes without a frequency are set to 0, the values of their sine and cosine, and have no
   error. */
INLINE void load(const head_tile *t, const void *elements, pair_lanes *p) {
  const posenc_problem *problem = t->row->problem;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const bool is_grouped = problem->axes && problem->axes->grouped;
  if (t->count < t->lanes) memset(p, 0, sizeof *p);
  for (int k = 0; is_grouped && k < t->count; k++) {
    const pair_columns two = axes_pair(problem, t->index + k);
    p->first[k] = format_element(problem->dtype, elements, t->head * problem->dim + two.first);
    p->second[k] = format_element(problem->dtype, elements, t->head * problem->dim + two.second);
  }
  if (is_grouped) return;
  load_pairs(problem->dtype, at, elements, t->head * problem->dim + t->index * at.step, t->count, p->first, p->second);
}

INLINE void set_value(values *v, int k, fast_value x, double size) {
  v->high[k] = x.high;
  v->low[k] = x.low;
  v->size[k] = size;
}

INLINE fast_value sum(double x, fast_value y) {
  const fast_value s = two_sum(x, y.high);
  return two_sum(s.high, s.low + y.low);
}

INLINE void add(const pair_lanes *x, const fast_lanes *exact_pairs, int lanes, values *first, values *second) {
#pragma omp simd
  for (int k = 0; k < in_steps(lanes); k++) {
    const fast_pair at = lane(exact_pairs, k);
    const fast_value a = sum(x->first[k], at.sine), b = sum(x->second[k], at.cosine);
    set_value(first, k, a, fabs(a.high));
    set_value(second, k, b, fabs(b.high));
  }
}

/* Computes x rotated by the exact pair, whose sine is multiplied by `sign`. */
INLINE void rotate(const pair_lanes *x, const fast_lanes *exact_pairs, int lanes, double sign, double attention,
                   values *first, values *second, bool fused) {
#pragma omp simd
  for (int k = 0; k < in_steps(lanes); k++) {
    const fast_pair at = lane(exact_pairs, k);
    const fast_value a = {x->first[k], 0.0}, b = {x->second[k], 0.0}, sine = {sign * at.sine.high, sign * at.sine.low};
    /* Lengths are in units of a power of two, so that squares neither overflow nor underflow. */
    const double longer = larger(fabs(a.high), fabs(b.high)), power = binade(longer), unit = power > 0.0 ? power : 1.0;
    const double a_units = a.high / unit, b_units = b.high / unit;
    const double size = attention * (unit * sqrt(a_units * a_units + b_units * b_units));
    set_value(first, k, sum_of_products(a, at.cosine, (fast_value){-b.high, 0.0}, sine, fused), size);
    set_value(second, k, sum_of_products(b, at.cosine, a, sine, fused), size);
  }
}

INLINE void make(const head_tile *t, const pair_lanes *x, values *first, values *second, bool fused) {
  const posenc_problem *problem = t->row->problem;
  if (problem->op == POSENC_ADD)
    add(x, t->exact_pairs, t->lanes, first, second);
  else
    rotate(x, t->exact_pairs, t->lanes, problem->inverse ? -1.0 : 1.0, t->row->attention, first, second, fused);
}

/* ---- errors -------------------------------------------------------------------------------------- */

/* Computes the errors of one element of each pair; returns whether any is uncertain. Positive doubles, and NaN above
   them, have the order of their bits, so a difference of bits has its sign set if the first is smaller. */
INLINE bool compare(const format *f, const values *v, const double *got, int lanes, const thresholds *l, errors *e) {
  const double normal = double_of((uint64_t)(BIAS + f->least + f->precision - 1) << 52),
               unit = double_of((uint64_t)(BIAS + 1 - f->precision) << 52);
  const thresholds threshold = *l;
  uint64_t any = 0;
#pragma omp simd reduction(| : any)
  for (int k = 0; k < in_steps(lanes); k++) {
    const double power = binade(v->size[k]), own_power = binade(v->high[k]);
    const double known = fabs((got[k] - v->high[k]) - v->low[k]), abs = known == known ? known : INFINITY;
    const double ulp = abs / (unit * (power > normal ? power : normal));
    const double half = 0.5 * unit * (own_power > normal ? own_power : normal);
    const int64_t bin = (int64_t)(bits_of(ulp) >> 52) - (BIAS - 1 + ACCURACY_FIRST_EXPONENT);
    const uint64_t uncertain = threshold.all | (bits_of(threshold.ulp) - bits_of(ulp)) |
                               (bits_of(threshold.abs) - bits_of(abs)) |
                               (bits_of(threshold.share + threshold.share_per_size * v->size[k]) - bits_of(abs));
    e->ulp[k] = ulp;
    e->abs[k] = abs;
    const int at_most = bin < ACCURACY_BINS ? bin : ACCURACY_BINS - 1;
    e->bin[k] = (uint64_t)(bin < 0 ? 0 : at_most);
    e->misrounded[k] = bits_of(half) - bits_of(abs);
    e->uncertain[k] = uncertain;
    any |= uncertain;
  }
  return any & SIGN;
}

INLINE bool judge(const head_tile *t, const thresholds *l, findings *now, bool fused) {
  const posenc_problem *problem = t->row->problem;
  const format *f = format_of(problem->dtype);
  load(t, t->row->x, &now->x);
  load(t, t->row->got, &now->got);
  make(t, &now->x, &now->of_first, &now->of_second, fused);
  const bool first = compare(f, &now->of_first, now->got.first, t->lanes, l, &now->first);
  const bool second = compare(f, &now->of_second, now->got.second, t->lanes, l, &now->second);
  return first | second;
}

INLINE void tally(const errors *e, int count, totals *all) {
#pragma omp simd
  for (int k = 0; k < lanes_for(count); k++) {
    all->ulp[k] += e->ulp[k];
    all->abs[k] += e->abs[k];
    all->misrounded[k] += e->misrounded[k] >> 63;
  }
  for (int k = 0; k < count; k++) all->bins[e->bin[k]]++;
}

/* Makes: judge_generic, judge_avx2, judge_avx512, tally_generic, tally_avx2, tally_avx512. */
#define CHECK(name, attributes, fused)                                                                                 \
  attributes static bool judge_##name(const head_tile *t, const thresholds *l, findings *now) {                        \
    return judge(t, l, now, fused);                                                                                    \
  }                                                                                                                    \
  attributes static void tally_##name(const errors *e, int count, totals *all) {                                       \
    tally(e, count, all);                                                                                              \
  }
EACH_TIER(CHECK)

/* judge: whether any element is uncertain. */
#define CHECK_ENTRY(name, attributes, fused) [TIER_##name] = {judge_##name, tally_##name},
static const struct check {
  bool (*judge)(const head_tile *t, const thresholds *l, findings *now);
  void (*tally)(const errors *e, int count, totals *all);
} checks[] = {EACH_TIER(CHECK_ENTRY)};

/* ---- a row --------------------------------------------------------------------------------------- */

/* The bound of a row, for size 0 and for each unit of size: it is linear, except for its own roundings. */
typedef struct row_bound {
  double at_0, per_size;
} row_bound;

static row_bound row_bound_of(const applied_row *row) {
  if (!row->bound) return (row_bound){0.0, 0.0};
  const double at_0 = posenc_applied_bound_at(row->bound, row->problem, row->bounded, 0.0);
  return (row_bound){at_0, posenc_applied_bound_at(row->bound, row->problem, row->bounded, 1.0) - at_0};
}

static thresholds thresholds_of(const applied_row *row, const row_bound *bound, const accuracy *known,
                                const accuracy *a) {
  thresholds l = {INFINITY, INFINITY, INFINITY, 0.0, 0};
  if ((row->plain && a->elements == 0) || (row->bound && a->held == 0)) l.all = SIGN;
  if (row->plain) {
    const int range = accuracy_range(row->position);
    l.ulp = larger(known->most[range].ulp, a->most[range].ulp);
    l.abs = larger(known->most[range].abs, a->most[range].abs);
  }
  if (row->bound) {
    const double share = larger(known->worst_share, a->worst_share),
                 kept = (1.0 - 0x1p-24) * (share < 1.0 ? share : 1.0);
    l.share = kept * bound->at_0;
    l.share_per_size = kept * bound->per_size;
  }
  return l;
}

/* Counts the uncertain elements one by one; returns their number. */
static int count_uncertain(const head_tile *t, bool second, findings *now, accuracy *a) {
  const applied_row *row = t->row;
  const int64_t index = t->head * (row->problem->dim / 2) + t->index;
  const values *v = second ? &now->of_second : &now->of_first;
  const double *got = second ? now->got.second : now->got.first;
  errors *e = second ? &now->second : &now->first;
  int counted = 0;
  for (int k = 0; k < t->count; k++) {
    if (!(e->uncertain[k] & SIGN)) continue;
    const witness here = {e->ulp[k], e->abs[k], row->position, index + k, second, v->high[k], v->low[k], got[k]};
    if (row->plain) accuracy_note(a, &here, e->misrounded[k] >> 63);
    if (row->bound)
      accuracy_hold(a, &here, posenc_applied_bound_at(row->bound, row->problem, row->bounded, v->size[k]));
    e->bin[k] = COUNTED;
    e->misrounded[k] = 0;
    counted++;
  }
  return counted;
}

static element_error finish(totals *all, accuracy *a) {
  for (int b = 0; b < ACCURACY_BINS; b++) {
    a->elements += all->bins[b];
    a->bins[b] += all->bins[b];
  }
  for (int k = 0; k < LANES; k++) a->misrounded += (int64_t)all->misrounded[k];
  return (element_error){sum_of(all->ulp), sum_of(all->abs)};
}

static const fast_lanes zeros; /* the pairs of the padding row */

static bool is_padding(const applied_row *row) {
  return row->problem->padding != POSENC_NO_PADDING && row->position == row->problem->padding;
}

static head_tile tile_of(const applied_row *row, int64_t head, int64_t index) {
  const int64_t left = row->problem->dim / 2 - index;
  const int count = (int)(left < LANES ? left : LANES);
  return (head_tile){.row = row,
                     .exact_pairs = is_padding(row) ? &zeros : &row->exact_pairs[index / LANES],
                     .head = head,
                     .index = index,
                     .count = count,
                     .lanes = lanes_for(count)};
}

void applied_make(const applied_row *row, void *out) {
  const posenc_problem *problem = row->problem;
  const format *f = format_of(problem->dtype);
  for (int64_t index = 0; index < problem->dim / 2; index += LANES)
    for (int64_t head = 0; head < problem->heads; head++) {
      const head_tile t = tile_of(row, head, index);
      pair_lanes x;
      values first, second;
      load(&t, row->x, &x);
      make(&t, &x, &first, &second, false);
      for (int k = 0; k < t.count; k++) {
        const pair_columns at = axes_pair(problem, index + k);
        const int64_t begin = head * problem->dim;
        format_store(problem->dtype, out, begin + at.first, format_nearest_sum(f, first.high[k], first.low[k]));
        format_store(problem->dtype, out, begin + at.second, format_nearest_sum(f, second.high[k], second.low[k]));
      }
    }
}

element_error applied_check(const applied_row *given, const accuracy *known, accuracy *a) {
  static const posenc_bound nothing = {.derived = true};
  const posenc_problem *problem = given->problem;
  const struct check *with = &checks[tier_for(0)];
  applied_row row = *given;
  if (is_padding(given) && row.bound) row.bound = &nothing;
  const row_bound bound = row_bound_of(&row);
  totals all = {.ulp = {0.0}};
  findings now;
  for (int64_t index = 0, pairs = problem->dim / 2; index < pairs; index += LANES)
    for (int64_t head = 0; head < problem->heads; head++) {
      const head_tile t = tile_of(&row, head, index);
      const thresholds l = thresholds_of(&row, &bound, known, a);
      int64_t counted = 0;
      if (with->judge(&t, &l, &now)) counted = count_uncertain(&t, false, &now, a) + count_uncertain(&t, true, &now, a);
      if (row.bound) a->held += 2 * t.count - counted;
      if (!row.plain) continue;
      with->tally(&now.first, t.count, &all);
      with->tally(&now.second, t.count, &all);
    }
  return finish(&all, a);
}

/* ---- other encodings ------------------------------------------------------------------------------------- */

static exact exact_of(const mpfr_t x, posenc_dtype dtype) {
  const format *f = format_of(dtype);
  static const int exponents[] = {[POSENC_F64] = 1024, [POSENC_F32] = 128, [POSENC_F16] = 16, [POSENC_BF16] = 128};
  const int exponent = exponents[dtype]; /* numbers are below 2^exponent */
  exact value;
  mpfr_t part;
  mpfr_init2(part, mpfr_get_prec(x) > 64 ? mpfr_get_prec(x) : 64);
  value.high = mpfr_get_d(x, MPFR_RNDN);
  mpfr_sub_d(part, x, value.high, MPFR_RNDN);
  value.low = mpfr_get_d(part, MPFR_RNDN);
  /* From 2^exponent less half an ulp on, values round to infinity: the midpoint rounds up, as 2^exponent would be
     even. */
  mpfr_set_sj_2exp(part, (INT64_C(1) << (f->precision == 53 ? 54 : f->precision + 1)) - 1, exponent - f->precision - 1,
                   MPFR_RNDN);
  value.rounded = mpfr_sgn(x) < 0 ? -INFINITY : INFINITY;
  if (mpfr_cmpabs(x, part) < 0) value.rounded = format_round(f, x);
  mpfr_clear(part);
  return value;
}

exact encodings_integer(int64_t position, int64_t column, posenc_dtype dtype) {
  mpfr_t x;
  (void)column;
  mpfr_init2(x, 64);
  mpfr_set_sj(x, position, MPFR_RNDN);
  const exact value = exact_of(x, dtype);
  mpfr_clear(x);
  return value;
}

exact encodings_binary(int64_t position, int64_t column, posenc_dtype dtype) {
  (void)dtype;
  for (; column > 0 && position > 0; column--) position /= 2;
  const double bit = position % 2 ? 1.0 : 0.0;
  return (exact){bit, 0.0, bit};
}

exact encodings_sum(double element, double x, posenc_dtype dtype) {
  enum { PRECISION = 2200 }; /* covers bits from 2^-1074 to 2^1024 */
  mpfr_t sum;
  mpfr_init2(sum, PRECISION);
  mpfr_set_d(sum, element, MPFR_RNDN);
  mpfr_add_d(sum, sum, x, MPFR_RNDN);
  const exact value = exact_of(sum, dtype);
  mpfr_clear(sum);
  return value;
}

exact encodings_product(double x, double scale, posenc_dtype dtype) {
  mpfr_t product;
  mpfr_init2(product, 64);
  mpfr_set_d(product, x, MPFR_RNDN);
  mpfr_mul_d(product, product, scale, MPFR_RNDN);
  const exact value = exact_of(product, dtype);
  mpfr_clear(product);
  return value;
}

/* ---- ALiBi -------------------------------------------------------------------------------------- */

/* Computes a slope like get_slopes of the authors' code: for a power of two n, the slopes are 2^(-8/n), its square, its
   third power … */
void encodings_slope(int64_t heads, int64_t head, mpfr_t slope) {
  int64_t closest = 1;
  while (closest <= heads / 2) closest *= 2;
  if (closest == heads) {
    mpfr_set_si(slope, (long)(-8 * (head + 1)), MPFR_RNDN);
    mpfr_div_ui(slope, slope, (unsigned long)heads, MPFR_RNDN);
    mpfr_exp2(slope, slope, MPFR_RNDN);
  } else if (head < closest) {
    encodings_slope(closest, head, slope);
  } else {
    encodings_slope(2 * closest, 2 * (head - closest), slope); /* get_slopes(2 closest)[0::2] */
  }
}

exact encodings_alibi(const mpfr_t slope, int64_t distance, posenc_dtype dtype) {
  mpfr_t bias;
  mpfr_init2(bias, ENCODINGS_PRECISION);
  mpfr_set_sj(bias, distance, MPFR_RNDN);
  mpfr_mul(bias, bias, slope, MPFR_RNDN);
  if (distance > 0) mpfr_neg(bias, bias, MPFR_RNDN);
  const exact value = exact_of(bias, dtype);
  mpfr_clear(bias);
  return value;
}

/* ---- dropout ------------------------------------------------------------------------------------ */

/* Philox4x32-10: Salmon et al., 2011, section 3.3 and its figure; constants of Random123. */
void encodings_philox(uint32_t counter[4], const uint32_t key[2]) {
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    const uint64_t left = UINT64_C(0xd2511f53) * counter[0], right = UINT64_C(0xcd9e8d57) * counter[2];
    const uint32_t next[4] = {(uint32_t)(right >> 32) ^ counter[1] ^ k0, (uint32_t)right,
                              (uint32_t)(left >> 32) ^ counter[3] ^ k1, (uint32_t)left};
    memcpy(counter, next, sizeof next);
    k0 += UINT32_C(0x9e3779b9); /* the golden ratio */
    k1 += UINT32_C(0xbb67ae85); /* √3 - 1 */
  }
}

/* Computes q = first + (last - first) * (column / (dim - 1)), with each operation rounded to double. */
static void probability(const posenc_dropout *d, int64_t column, int64_t dim, mpfr_t q) {
  mpfr_set_sj(q, column, MPFR_RNDN);
  if (dim > 1) mpfr_div_si(q, q, (long)(dim - 1), MPFR_RNDN);
  mpfr_t span;
  mpfr_init2(span, 53);
  mpfr_set_d(span, d->last, MPFR_RNDN);
  mpfr_sub_d(span, span, d->first, MPFR_RNDN);
  mpfr_mul(q, span, q, MPFR_RNDN);
  mpfr_add_d(q, q, d->first, MPFR_RNDN);
  mpfr_clear(span);
}

encodings_fate encodings_dropout(const posenc_dropout *dropout, int64_t sequence, int64_t position, int64_t column,
                                 int64_t dim) {
  const uint64_t at = (uint64_t)position;
  uint32_t counter[4] = {(uint32_t)(column / 32 * 8 + column % 8), (uint32_t)(dropout->sequence + sequence),
                         (uint32_t)(at % 0x100000000), (uint32_t)(at / 0x100000000)};
  const uint32_t key[2] = {(uint32_t)(dropout->seed % 0x100000000), (uint32_t)(dropout->seed / 0x100000000)};
  encodings_philox(counter, key);
  encodings_fate fate;
  mpfr_t q, threshold;
  mpfr_inits2(53, q, threshold, (mpfr_ptr)NULL);
  probability(dropout, column, dim, q);
  mpfr_mul_2ui(threshold, q, 32, MPFR_RNDN);
  mpfr_rint_round(threshold, threshold, MPFR_RNDN); /* halves are rounded up */
  fate.kept = mpfr_cmp_ui(threshold, counter[column / 8 % 4]) <= 0;
  mpfr_ui_sub(q, 1, q, MPFR_RNDN);
  mpfr_ui_div(q, 1, q, MPFR_RNDN);
  fate.scale = format_round(&format_f32, q);
  mpfr_clears(q, threshold, (mpfr_ptr)NULL);
  return fate;
}
