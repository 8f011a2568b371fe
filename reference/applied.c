/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reference/applied.h"
#include "reference/double-word.h"

#include <stdlib.h>

/*
 * A value is high + low, as in fast.c, u = 2^-53; what the oracle gives is within 2^-98 of sine and cosine.
 *
 * Add: x + high = s + e, exactly (2Sum); e + low is rounded, |e| <= u |s|, |low| <= u/2: u (u |s| + u/2) at most; the last sum is exact. With the
 * oracle's error less than 2^-97 of the larger of 1 and |s|. Where x cancels the sine, s is exact, and what is left has 2^-98 alone.
 *
 * Rope: a component is a sum of two products, as in a rotation there, whose proof holds for x of length 1 without low parts, and for any other
 * in proportion: 7 u² of the length, and √2 × 2^-98 of it from the oracle: less than 2^-96.
 *
 * An attention factor is in the oracle's values, and enlarges its error and theirs alike.
 *
 * An ulp of f32 is 2^-24 of either at least, so that an error in ulp is known to 2^-52 or so by double arithmetic, more than any figure shows.
 */

enum {
  LANES = FAST_LANES,
  BIAS = 1023,
  NOWHERE = ACCURACY_BINS, /* the bin of what accuracy_note has counted */
};

/* Elements of as many pairs, or what belongs to each of them. */
typedef struct pair_lanes {
  double first[LANES], second[LANES];
} pair_lanes;

/* The exact values of one element of each pair, and their sizes: what an ulp and the bound are of. */
typedef struct values {
  double high[LANES], low[LANES], size[LANES];
} values;

/* What is found of them. */
typedef struct errors {
  double ulp[LANES], abs[LANES];
  uint64_t bin[LANES];
  uint64_t misrounded[LANES]; /* its sign */
  uint64_t open[LANES];       /* its sign: it may be worse than what is known, or beyond its limit */
} errors;

/* Errors beyond these are looked at one by one. The share is that of a limit which grows with the size. */
typedef struct limits {
  double ulp, abs, share, share_per_size;
  uint64_t all; /* its sign: everything is */
} limits;

/* A row's sums, in lanes, so that they are the same on all targets; and its histogram. */
typedef struct totals {
  double ulp[LANES], abs[LANES];
  uint64_t misrounded[LANES];
  int64_t bins[ACCURACY_BINS + 1];
} totals;

/* Pairs of one head, or of the row, from frequency index `index` on. */
typedef struct tile {
  const applied_row *row;
  const fast_lanes *truth;
  int64_t head, index;
  int count;
} tile;

#define SIGN UINT64_C(0x8000000000000000)

typedef struct found {
  pair_lanes x, got;
  values of_first, of_second;
  errors first, second;
} found;

typedef struct target {
  bool (*judge)(const tile *t, const limits *l, found *now); /* is any element open? */
  void (*tally)(const errors *e, int count, totals *all);
} target;

/* ---- the exact values ---------------------------------------------------------------------------- */

INLINE void load_as(posenc_dtype dtype, const tile *t, const void *elements, pair_lanes *p) {
  const posenc_problem *problem = t->row->problem;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const bool in_order = at.sin < at.cos;
  const int64_t from = t->head * problem->dim + (in_order ? at.sin : at.cos) + t->index * at.step,
                apart = llabs(at.sin - at.cos);
  double *lower = in_order ? p->first : p->second, *upper = in_order ? p->second : p->first;
  if (at.step == 1) {
#pragma omp simd
    for (int k = 0; k < t->count; k++) {
      lower[k] = format_element(dtype, elements, from + k);
      upper[k] = format_element(dtype, elements, from + k + apart);
    }
  } else {
#pragma omp simd
    for (int k = 0; k < t->count; k++) {
      lower[k] = format_element(dtype, elements, from + 2 * k);
      upper[k] = format_element(dtype, elements, from + 2 * k + 1);
    }
  }
}

/* Lanes without a frequency are 0, as its sine and cosine are, and make no error. */
INLINE void load(const tile *t, const void *elements, pair_lanes *p) {
  if (t->count < LANES) memset(p, 0, sizeof *p);
  if (t->row->problem->dtype == POSENC_BF16)
    load_as(POSENC_BF16, t, elements, p);
  else
    load_as(POSENC_F32, t, elements, p);
}

INLINE double sum(double x, double high, double low, double *rest) {
  double error;
  const double s = two_sum(x, high, &error);
  return two_sum(s, error + low, rest);
}

INLINE void add(const pair_lanes *x, const fast_lanes *truth, values *first, values *second) {
#pragma omp simd
  for (int k = 0; k < LANES; k++) {
    first->high[k] = sum(x->first[k], truth->sin_high[k], truth->sin_low[k], &first->low[k]);
    second->high[k] = sum(x->second[k], truth->cos_high[k], truth->cos_low[k], &second->low[k]);
    first->size[k] = fabs(first->high[k]);
    second->size[k] = fabs(second->high[k]);
  }
}

INLINE void turn(const pair_lanes *x, const fast_lanes *truth, double sign, double attention, values *first,
                 values *second, bool fused) {
#pragma omp simd
  for (int k = 0; k < LANES; k++) {
    const double a = x->first[k], b = x->second[k];
    const double sine = sign * truth->sin_high[k], sine_low = sign * truth->sin_low[k];
    first->high[k] =
        sum_of_products(a, 0.0, truth->cos_high[k], truth->cos_low[k], -b, 0.0, sine, sine_low, &first->low[k], fused);
    second->high[k] =
        sum_of_products(b, 0.0, truth->cos_high[k], truth->cos_low[k], a, 0.0, sine, sine_low, &second->low[k], fused);
    first->size[k] = second->size[k] = attention * sqrt(a * a + b * b);
  }
}

/* ---- their errors -------------------------------------------------------------------------------- */

/* Positive doubles, and NaN after them, are in the order of their bits: a difference has its sign where the first is the smaller. */
INLINE bool compare(const format *f, const values *v, const double *got, const limits *l, errors *e) {
  const double normal = double_of((uint64_t)(BIAS + f->least + f->precision - 1) << 52),
               unit = double_of((uint64_t)(BIAS + 1 - f->precision) << 52);
  const limits limit = *l;
  uint64_t any = 0;
#pragma omp simd reduction(| : any)
  for (int k = 0; k < LANES; k++) {
    const double power = binade(v->size[k]), own_power = binade(v->high[k]);
    const double known = fabs((got[k] - v->high[k]) - v->low[k]), abs = known == known ? known : INFINITY;
    const double ulp = abs / (unit * (power > normal ? power : normal));
    const double half = 0.5 * unit * (own_power > normal ? own_power : normal);
    const int64_t bin = (int64_t)(bits_of(ulp) >> 52) - (BIAS - 1 + ACCURACY_FIRST_EXPONENT);
    const uint64_t open = limit.all | (bits_of(limit.ulp) - bits_of(ulp)) | (bits_of(limit.abs) - bits_of(abs)) |
                          (bits_of(limit.share + limit.share_per_size * v->size[k]) - bits_of(abs));
    e->ulp[k] = ulp;
    e->abs[k] = abs;
    e->bin[k] = (uint64_t)(bin < 0 ? 0 : bin < ACCURACY_BINS ? bin : ACCURACY_BINS - 1);
    e->misrounded[k] = bits_of(half) - bits_of(abs);
    e->open[k] = open;
    any |= open;
  }
  return any & SIGN;
}

INLINE bool judge(const tile *t, const limits *l, found *now, bool fused) {
  const posenc_problem *problem = t->row->problem;
  const format *f = problem->dtype == POSENC_BF16 ? &format_bf16 : &format_f32;
  load(t, t->row->x, &now->x);
  load(t, t->row->got, &now->got);
  if (problem->op == POSENC_ADD)
    add(&now->x, t->truth, &now->of_first, &now->of_second);
  else
    turn(&now->x, t->truth, problem->inverse ? -1.0 : 1.0, t->row->attention, &now->of_first, &now->of_second, fused);
  const bool first = compare(f, &now->of_first, now->got.first, l, &now->first);
  const bool second = compare(f, &now->of_second, now->got.second, l, &now->second);
  return first | second;
}

INLINE void tally(const errors *e, int count, totals *all) {
#pragma omp simd
  for (int k = 0; k < LANES; k++) {
    all->ulp[k] += e->ulp[k];
    all->abs[k] += e->abs[k];
    all->misrounded[k] += e->misrounded[k] >> 63;
  }
  for (int k = 0; k < count; k++) all->bins[e->bin[k]]++;
}

#define TARGET(name, attributes, fused)                                                                                \
  attributes static bool judge_##name(const tile *t, const limits *l, found *now) {                                    \
    return judge(t, l, now, fused);                                                                                    \
  }                                                                                                                    \
  attributes static void tally_##name(const errors *e, int count, totals *all) {                                       \
    tally(e, count, all);                                                                                              \
  }                                                                                                                    \
  static const target target_##name = {judge_##name, tally_##name};

TARGET(generic, , FUSED)
#ifdef __x86_64__
TARGET(avx2, __attribute__((target("avx2,fma"))), true)
#endif
#ifdef HAVE_AVX512
TARGET(avx512, __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"))), true)
#endif

static const target *target_here(void) {
  const unsigned usable = posenc_isa_detect();
#ifdef HAVE_AVX512
  if (usable & POSENC_ISA_AVX512) return &target_avx512;
#endif
#ifdef __x86_64__
  if (usable & POSENC_ISA_AVX2) return &target_avx2;
#endif
  (void)usable;
  return &target_generic;
}

/* ---- a row --------------------------------------------------------------------------------------- */

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* The bound grows with the size in a straight line: two of its points tell it, but for its own roundings. */
static limits limits_of(const applied_row *row, const accuracy *known, const accuracy *a) {
  limits l = {INFINITY, INFINITY, INFINITY, 0.0, 0};
  if ((row->plain && a->elements == 0) || (row->bound && a->held == 0)) l.all = SIGN;
  if (row->plain) {
    l.ulp = larger(known->max_ulp.ulp, a->max_ulp.ulp);
    l.abs = larger(known->max_abs.abs, a->max_abs.abs);
  }
  if (row->bound) {
    const double at_0 = posenc_applied_bound_at(row->bound, row->problem, row->position, 0.0),
                 at_1 = posenc_applied_bound_at(row->bound, row->problem, row->position, 1.0);
    const double share = larger(known->worst_share, a->worst_share),
                 kept = (1.0 - 0x1p-24) * (share < 1.0 ? share : 1.0);
    l.share = kept * at_0;
    l.share_per_size = kept * (at_1 - at_0);
  }
  return l;
}

/* Elements that are open, one by one. How many there were. */
static int settle(const tile *t, bool second, const values *v, const double *got, errors *e, accuracy *a) {
  const applied_row *row = t->row;
  const int64_t index = t->head * (row->problem->dim / 2) + t->index;
  int settled = 0;
  for (int k = 0; k < t->count; k++) {
    if (!(e->open[k] & SIGN)) continue;
    const witness here = {e->ulp[k], e->abs[k], row->position, index + k, second, v->high[k], v->low[k], got[k]};
    if (row->plain) accuracy_note(a, &here, e->misrounded[k] >> 63);
    if (row->bound)
      accuracy_hold(a, &here, posenc_applied_bound_at(row->bound, row->problem, row->position, v->size[k]));
    e->bin[k] = NOWHERE;
    e->misrounded[k] = 0;
    settled++;
  }
  return settled;
}

static double sum_of(double *lanes) {
  for (int half = LANES / 2; half; half /= 2)
    for (int k = 0; k < half; k++) lanes[k] += lanes[k + half];
  return lanes[0];
}

static element_error finish(totals *all, accuracy *a) {
  for (int b = 0; b < ACCURACY_BINS; b++) {
    a->elements += all->bins[b];
    a->bins[b] += all->bins[b];
  }
  for (int k = 0; k < LANES; k++) a->misrounded += (int64_t)all->misrounded[k];
  return (element_error){sum_of(all->ulp), sum_of(all->abs)};
}

element_error applied_check(const applied_row *given, const accuracy *known, accuracy *a) {
  static const fast_lanes zeros;
  static const posenc_bound nothing = {.derived = true};
  const posenc_problem *problem = given->problem;
  const bool padding = problem->padding != POSENC_NO_PADDING && given->position == problem->padding;
  const target *with = target_here();
  applied_row row = *given;
  if (padding && row.bound) row.bound = &nothing;
  totals all = {.ulp = {0.0}};
  found now;
  for (int64_t index = 0, pairs = problem->dim / 2; index < pairs; index += LANES)
    for (int64_t head = 0; head < problem->heads; head++) {
      const tile t = {.row = &row,
                      .truth = padding ? &zeros : &row.truth[index / LANES],
                      .head = head,
                      .index = index,
                      .count = (int)(pairs - index < LANES ? pairs - index : LANES)};
      const limits l = limits_of(&row, known, a);
      int64_t settled = 0;
      if (with->judge(&t, &l, &now))
        settled = settle(&t, false, &now.of_first, now.got.first, &now.first, a) +
                  settle(&t, true, &now.of_second, now.got.second, &now.second, a);
      if (row.bound) a->held += 2 * t.count - settled;
      if (!row.plain) continue;
      with->tally(&now.first, t.count, &all);
      with->tally(&now.second, t.count, &all);
    }
  return finish(&all, a);
}
