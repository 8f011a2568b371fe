/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reference/double-word.h"
#include "reference/fast.h"
#include "reference/oracle.h"
#include "reference/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A position is anchor + 64 b + j, the anchor a multiple of 4096, 0 <= b, j < 64. MPFR gives (sin, cos) of the anchor and
 * of 1, 2, 4 ... 2048 positions; rotations in pairs of doubles give those of j and of 64 b, once per frequency, then
 * anchor ∘ 64 b, once per 64 rows, then that ∘ j.
 *
 * Proof of FAST_BOUND. Unit u = 2^-53; a value is high + low, |high| <= 1, |low| <= u/2, half an ulp of high. Rounding a
 * sum of size at most 2^k u costs at most 2^k u²/2. One component of a rotation is x1 y1 + x2 y2:
 *
 *   p, p'      the product of the highs and its error, exactly: 2Prod, by FMA or after Dekker (1971); |p'| <= u/2
 *   q, q'      the same of the second pair
 *   t, t'      p + q and its error, exactly: 2Sum (Knuth, 1969); |p + q| < 1 + 2^-50, so |t'| <= u
 *   k1         x1l y1h + x1h y1l: two products of at most u/2, their sum at most u:     2 × u²/4 + u²/2 = 1   u²
 *   k2         the same of the second pair:                                                           1   u²
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
 * bound the error relative to each result; what a rotation needs is the absolute error of a sum of products of at most 1,
 * which is smaller for one normalisation less.
 *
 * Distances in the plane add up under rotation, but for a factor (1 + 2^-90). MPFR's pairs are within 2^-105 = 2 u²
 * (format.h). j and 64 b take at most six of them and five rotations each, the anchor one, and putting the three together
 * two rotations: 13 × 2 u² + 12 × 10 u² = 146 u² < 2^-98.
 *
 * An attention factor is in the anchors alone. What is turned is then 2^k times such a pair, the factor being at most 2^k, and
 * so is its error: a power of two changes no rounding.
 *
 * The error of a product below 2^-969 is not a double: it is wrong by at most 2^-1072, which changes nothing above. No
 * target fuses anything but 2Prod's error, which is exact either way, so all of them give the same bits.
 */

enum {
  LANES = FAST_LANES,
  STEP_BITS = 6,
  STEPS = 1 << STEP_BITS, /* of j, and of b */
  REACH = STEPS * STEPS,  /* from an anchor to the next */
  FIRST_EXPONENT = -23,   /* an error in ulp from 2^-23 to 2^105 is counted by its exponent; */
  EXPONENTS = 128,        /* others are left open */
  NOWHERE = EXPONENTS,    /* the place of what accuracy_count has counted */
  BIAS = 1023,
};

/* The same rotation for as many frequencies. */
typedef fast_lanes turn;

/* What is known of LANES frequencies: rotations by j and by 64 b positions, and the anchor in use. */
typedef struct group {
  turn fine[STEPS], coarse[STEPS], anchor;
} group;

/* 64 rows or fewer, from one `anchor + 64 b`, of one group. */
typedef struct tile {
  const fast_oracle *oracle;
  const group *group;
  int64_t index;             /* the first frequency, */
  int count;                 /* and how many */
  int64_t origin;            /* anchor + 64 b */
  int from, to;              /* j */
  const unsigned char *rows; /* points at row `from` */
  const posenc_bound *bound;
  const accuracy *known; /* found so far: what is not worse than this need not be looked at twice */
} tile;

/* An error that reaches any of these must be known better than the estimate knows it. */
typedef struct limits {
  double ulp, abs, share_per_ulp, share;
} limits;

/* The errors of as many elements of one component, as far as the oracle's values tell. */
typedef struct estimate {
  double ulp[LANES], abs[LANES];
  uint64_t exponent[LANES]; /* of ulp, less FIRST_EXPONENT; NOWHERE */
  uint64_t open[LANES];     /* its sign says that the exact value is needed */
} estimate;

/* One row of a tile. */
typedef struct line {
  turn value;
  double sine[LANES], cosine[LANES]; /* what the table has */
  estimate of_sine, of_cosine;
} line;

/* Sums and histogram of a tile. Lanes are added up at its end, so that the sums are the same on all targets. */
typedef struct totals {
  double ulp[LANES], abs[LANES];
  int64_t exponents[4][EXPONENTS + 1]; /* in turns, for the next increment would wait for the last */
} totals;

/* What is compiled for each instruction set: leaves, so that no call is made with vector registers in use. */
typedef struct target {
  void (*rotate)(const turn *a, const turn *b, turn *sum);
  bool (*judge)(const tile *t, const unsigned char *row, const limits *l, line *now); /* is any element open? */
  void (*tally)(const estimate *e, totals *all);
  bool (*seek)(const turn *t, double tiny, int64_t within, uint64_t *near); /* is any value near a tie? */
} target;

struct fast_oracle {
  posenc_problem problem;
  posenc_columns columns;
  size_t row_bytes;
  bool no_sines, no_cosines; /* of the table that is checked */
  oracle *exact;             /* of the problem without its padding row, for anchors may stand there */
  const format *format;
  const target *target;
  double bound; /* FAST_BOUND, or what becomes of it with an attention factor */
  double tiny;  /* values below this have too few bits, an ulp of less than 2^31 bounds; or are subnormal */
  int64_t pairs, groups;
  int64_t anchored; /* the position of the anchor in use */
  group *group;
  place *places;       /* of one row, */
  exact_pair *exacts;  /* and its answers */
  element_error *sums; /* one per tile of an anchor's reach */
};

/* ---- rotation ---------------------------------------------------------------------------------- */

INLINE void rotate(const turn *a, const turn *b, turn *sum, bool fused) {
#pragma omp simd
  for (int k = 0; k < LANES; k++) {
    sum->sin_high[k] = sum_of_products(a->sin_high[k], a->sin_low[k], b->cos_high[k], b->cos_low[k], a->cos_high[k],
                                       a->cos_low[k], b->sin_high[k], b->sin_low[k], &sum->sin_low[k], fused);
    sum->cos_high[k] = sum_of_products(a->cos_high[k], a->cos_low[k], b->cos_high[k], b->cos_low[k], -a->sin_high[k],
                                       -a->sin_low[k], b->sin_high[k], b->sin_low[k], &sum->cos_low[k], fused);
  }
}

/* ---- one row of a tile ------------------------------------------------------------------------- */

/* What one row of the table has. Which of a pair comes first is the layout's business. */
INLINE void load_as(posenc_dtype dtype, const tile *t, const void *row, line *now) {
  const posenc_columns at = t->oracle->columns;
  double *first = at.sin < at.cos ? now->sine : now->cosine, *second = at.sin < at.cos ? now->cosine : now->sine;
  const int64_t from = (at.sin < at.cos ? at.sin : at.cos) + t->index * at.step, apart = llabs(at.sin - at.cos);
  if (at.step == 1) {
#pragma omp simd
    for (int k = 0; k < t->count; k++) {
      first[k] = format_element(dtype, row, from + k);
      second[k] = format_element(dtype, row, from + k + apart);
    }
  } else {
#pragma omp simd
    for (int k = 0; k < t->count; k++) {
      first[k] = format_element(dtype, row, from + 2 * k);
      second[k] = format_element(dtype, row, from + 2 * k + 1);
    }
  }
}

/* The dtype must not be asked for in the loops. */
INLINE void load(const tile *t, const unsigned char *row, line *now) {
  switch (t->oracle->problem.dtype) {
  case POSENC_F32:
    load_as(POSENC_F32, t, row, now);
    break;
  case POSENC_F64:
    load_as(POSENC_F64, t, row, now);
    break;
  case POSENC_F16:
    load_as(POSENC_F16, t, row, now);
    break;
  case POSENC_BF16:
    load_as(POSENC_BF16, t, row, now);
    break;
  }
}

/*
 * The errors, from oracle values of at least `tiny`: there the bound is at most 2^-31 ulp, 2^-27 of the least bin's
 * end, and the ulp is that of the value's binade. An element is left open when any statistic might come out otherwise with the exact value: near a power of two,
 * where bins end, half an ulp among them; near the worst so far; when the value is a power of two, where the ulp
 * changes; and when it is no number. In f32, and more so in the shorter formats, a value in the middle between two is, by
 * its low part, within 2^-30 ulp of half an ulp from either; so what is nearest to the value, and nothing else, is less
 * than half an ulp from it. Not so below the smallest normal number, where a zero of either sign may be that near.
 *
 * Conditions are signs of differences: that is the same few instructions on every target.
 */
INLINE bool compare(const double *high, const double *low, const double *got, const limits *l, const fast_oracle *f,
                    estimate *e) {
  const uint64_t per_unit = (uint64_t)(2 * BIAS + f->format->precision - 1) << 52;
  const double unit = double_of((uint64_t)(BIAS - f->format->precision + 1) << 52), tiny = f->tiny;
  const uint64_t least = (uint64_t)(BIAS + FIRST_EXPONENT) << 52, most = least + ((uint64_t)EXPONENTS << 52) - 1;
  const limits limit = *l;
  uint64_t any = 0;
#pragma omp simd reduction(| : any)
  for (int k = 0; k < LANES; k++) {
    const double power = binade(high[k]), abs = fabs((got[k] - high[k]) - low[k]);
    const double ulp = abs * double_of(per_unit - bits_of(power));
    const uint64_t bits = bits_of(ulp);
    const uint64_t small_value = bits_of(power - tiny), power_of_two = (bits_of(high[k]) & MANTISSA) - 1;
    const uint64_t worst_ulp = bits_of(limit.ulp - ulp), worst_abs = bits_of(limit.abs - abs);
    const uint64_t worst_share = bits_of(limit.share_per_ulp * (unit * power) + limit.share - abs);
    const uint64_t near_power = ((bits + (UINT64_C(1) << 27)) & MANTISSA) - (UINT64_C(1) << 28);
    const uint64_t uncounted = (bits - least) | (most - bits);
    const uint64_t open = small_value | power_of_two | worst_ulp | worst_abs | worst_share | near_power | uncounted;
    e->ulp[k] = ulp;
    e->abs[k] = abs;
    e->exponent[k] = (bits >> 52) - (uint64_t)(BIAS + FIRST_EXPONENT);
    e->open[k] = open;
    any |= open;
  }
  return any & SIGN;
}

INLINE bool judge(const tile *t, const unsigned char *row, const limits *l, line *now) {
  load(t, row, now);
  const bool sine = compare(now->value.sin_high, now->value.sin_low, now->sine, l, t->oracle, &now->of_sine);
  const bool cosine = compare(now->value.cos_high, now->value.cos_low, now->cosine, l, t->oracle, &now->of_cosine);
  return sine | cosine;
}

INLINE void tally(const estimate *e, totals *all) {
#pragma omp simd
  for (int k = 0; k < LANES; k++) {
    all->ulp[k] += e->ulp[k];
    all->abs[k] += e->abs[k];
  }
  for (int k = 0; k < LANES; k += 4) {
    all->exponents[0][e->exponent[k]]++;
    all->exponents[1][e->exponent[k + 1]]++;
    all->exponents[2][e->exponent[k + 2]]++;
    all->exponents[3][e->exponent[k + 3]]++;
  }
}

/* Bits of a double that f32 has not. */
enum { REST_BITS = 53 - 24 };

/*
 * Marks, by the sign of `near`, values whose high part is at most so many units of 2^-REST_BITS ulp from the middle between
 * two f32 numbers, and those below `tiny`.
 */
INLINE uint64_t near_tie(double high, double tiny, int64_t within) {
  const int64_t middle = INT64_C(1) << (REST_BITS - 1),
                off = (int64_t)(bits_of(high) & ((UINT64_C(1) << REST_BITS) - 1)) - middle;
  return bits_of(binade(high) - tiny) | ~(uint64_t)((within - off) | (within + off));
}

INLINE bool seek(const turn *t, double tiny, int64_t within, uint64_t *near) {
  uint64_t any = 0;
#pragma omp simd reduction(| : any)
  for (int k = 0; k < LANES; k++) {
    near[k] = near_tie(t->sin_high[k], tiny, within) | near_tie(t->cos_high[k], tiny, within);
    any |= near[k];
  }
  return any & SIGN;
}

/* ---- targets ----------------------------------------------------------------------------------- */

#define TARGET(name, attributes, fused)                                                                                \
  attributes static void rotate_##name(const turn *a, const turn *b, turn *sum) {                                      \
    rotate(a, b, sum, fused);                                                                                          \
  }                                                                                                                    \
  attributes static bool judge_##name(const tile *t, const unsigned char *row, const limits *l, line *now) {           \
    return judge(t, row, l, now);                                                                                      \
  }                                                                                                                    \
  attributes static void tally_##name(const estimate *e, totals *all) {                                                \
    tally(e, all);                                                                                                     \
  }                                                                                                                    \
  attributes static bool seek_##name(const turn *t, double tiny, int64_t within, uint64_t *near) {                     \
    return seek(t, tiny, within, near);                                                                                \
  }                                                                                                                    \
  static const target target_##name = {rotate_##name, judge_##name, tally_##name, seek_##name};

TARGET(generic, , FUSED)
#ifdef __x86_64__
TARGET(avx2, __attribute__((target("avx2,fma"))), true)
#endif
#ifdef HAVE_AVX512
TARGET(avx512, __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"))), true)
#endif

static const target *target_for(unsigned isa) {
  const unsigned usable = posenc_isa_detect() & (isa ? isa : POSENC_ISA_ALL);
#ifdef HAVE_AVX512
  if (usable & POSENC_ISA_AVX512) return &target_avx512;
#endif
#ifdef __x86_64__
  if (usable & POSENC_ISA_AVX2) return &target_avx2;
#endif
  (void)usable;
  return &target_generic;
}

/* ---- one tile ---------------------------------------------------------------------------------- */

static double larger(double a, double b) {
  return a > b ? a : b;
}

static limits limits_at(const tile *t, const accuracy *a, int64_t position) {
  const double margin = 1.0 - 0x1p-24, ulp = larger(t->known->max_ulp.ulp, a->max_ulp.ulp),
               abs = larger(t->known->max_abs.abs, a->max_abs.abs),
               share = larger(t->known->worst_share, a->worst_share), kept = margin * (share < 1.0 ? share : 1.0);
  limits l = {margin * ulp - 0x1p-30, margin * abs - 2.0 * t->oracle->bound, 0.0, INFINITY};
  if (t->bound) {
    l.share_per_ulp = kept * t->bound->ulp;
    l.share = kept * (t->bound->abs + t->bound->growth * fabs((double)position)) - 2.0 * t->oracle->bound;
  }
  return l;
}

/* The exact value as far as accuracy_count can tell, from the oracle's; false if it might tell them apart. */
static bool certain(const fast_oracle *f, double high, double low, double got, exact *value) {
  const double slack = 2.0 * f->bound; /* the oracle's, and the rounding of MPFR's own low */
  int exponent;
  const bool power = fabs(frexp(high, &exponent)) == 0.5;
  /* high must be the double nearest to the value, and low on the right side of it */
  if (power || !(fabs(low) > slack) || !(fabs(low) + slack < ldexp(1.0, exponent - 54))) return false;
  *value = (exact){high, low, 0.0};
  const double ulp = format_ulp(f->format, value);
  value->rounded = ulp * rint(high / ulp);                    /* multiples of it, ties to even */
  if (fabs(high - value->rounded) == 0.5 * ulp) return false; /* in the middle of two */
  return !isfinite(got) || (got - high) - (low - slack) == (got - high) - (low + slack);
}

/* Is the estimate of no use even for the sums? This depends on nothing but the element, so that the sums do not, either. */
static bool meaningless(const fast_oracle *f, double high, double got) {
  return !(fabs(high) >= f->tiny) || fabs(high) == binade(high) || !isfinite(got);
}

/* Elements that were left open: MPFR decides unless the oracle can after all. Lanes without a frequency are open, too:
 * their oracle values are 0. */
static void settle(const tile *t, int64_t position, bool cosine, const double *high, const double *low,
                   const double *got, estimate *e, accuracy *a) {
  const fast_oracle *f = t->oracle;
  for (int k = 0; k < LANES; k++) {
    if (!(e->open[k] & SIGN)) continue;
    exact value;
    element_error d = {0.0, 0.0};
    if (k < t->count) {
      if (!certain(f, high[k], low[k], got[k], &value)) {
        const exact_pair pair = oracle_pair(f->exact, position, t->index + k);
        value = cosine ? pair.cosine : pair.sine;
      }
      d = accuracy_count(a, f->format, t->bound, &value, got[k], position, t->index + k, cosine);
    }
    e->exponent[k] = NOWHERE;
    if (!meaningless(f, high[k], got[k])) continue;
    e->ulp[k] = d.ulp;
    e->abs[k] = d.abs;
  }
}

/* What should be zeros. */
static void check_padding(const tile *t, const double *got, int64_t position, bool cosine, accuracy *a) {
  const exact zero = {0.0, 0.0, 0.0};
  const posenc_bound nothing = {.derived = true};
  for (int k = 0; k < t->count; k++)
    accuracy_add(a, t->oracle->format, t->bound ? &nothing : NULL, &zero, got[k], position, t->index + k, cosine);
}

static double sum_of(double *lanes) {
  for (int half = LANES / 2; half; half /= 2)
    for (int k = 0; k < half; k++) lanes[k] += lanes[k + half];
  return lanes[0];
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
  a->sum_ulp = a->sum_abs = 0.0; /* the padding row's */
}

static bool is_padding(const posenc_problem *problem, int64_t position) {
  return problem->padding != POSENC_NO_PADDING && position == problem->padding;
}

static void check_tile(const tile *t, accuracy *a, element_error *sums) {
  const fast_oracle *f = t->oracle;
  const unsigned char *row = t->rows;
  turn origin;
  line now = {.sine = {0.0}, .cosine = {0.0}};
  totals all = {.ulp = {0.0}};
  f->target->rotate(&t->group->anchor, &t->group->coarse[(uint64_t)t->origin / STEPS % STEPS], &origin);
  for (int j = t->from; j < t->to; j++, row += f->row_bytes) {
    const int64_t position = t->origin + j;
    const limits l = limits_at(t, a, position);
    f->target->rotate(&origin, &t->group->fine[j], &now.value);
    const bool open = f->target->judge(t, row, &l, &now);
    if (is_padding(&f->problem, position)) {
      if (!f->no_sines) check_padding(t, now.sine, position, false, a);
      if (!f->no_cosines) check_padding(t, now.cosine, position, true, a);
      continue;
    }
    if (open && !f->no_sines)
      settle(t, position, false, now.value.sin_high, now.value.sin_low, now.sine, &now.of_sine, a);
    if (open && !f->no_cosines)
      settle(t, position, true, now.value.cos_high, now.value.cos_low, now.cosine, &now.of_cosine, a);
    if (!f->no_sines) f->target->tally(&now.of_sine, &all);
    if (!f->no_cosines) f->target->tally(&now.of_cosine, &all);
  }
  finish(&all, t->bound, a, sums);
}

/* ---- making and using ---------------------------------------------------------------------------- */

static void set_lane(turn *t, int64_t lane, const exact_pair *pair) {
  t->sin_high[lane] = pair->sine.high;
  t->sin_low[lane] = pair->sine.low;
  t->cos_high[lane] = pair->cosine.high;
  t->cos_low[lane] = pair->cosine.low;
}

/* MPFR's answers for one position, or for turns by so many, to `exacts`. */
static void ask(fast_oracle *f, int64_t position, bool is_turn) {
  for (int64_t i = 0; i < f->pairs; i++) f->places[i] = (place){position, i};
  (is_turn ? oracle_turns : oracle_pairs)(f->exact, f->places, (size_t)f->pairs, f->exacts);
}

/* The multiples that are no powers of two: the highest bit after the rest. */
static void fill(const target *with, turn *multiples) {
  for (int n = 1; n < STEPS; n++) {
    int highest = n;
    while (highest & (highest - 1)) highest &= highest - 1;
    if (highest != n) with->rotate(&multiples[n - highest], &multiples[highest], &multiples[n]);
  }
}

static void fill_groups(fast_oracle *f) {
  for (int64_t i = 0; i < f->pairs; i++) {
    const exact_pair none = {{0.0, 0.0, 0.0}, {1.0, 0.0, 1.0}};
    set_lane(&f->group[i / LANES].fine[0], i % LANES, &none);
    set_lane(&f->group[i / LANES].coarse[0], i % LANES, &none);
  }
  for (int bit = 0; bit < 2 * STEP_BITS; bit++) {
    ask(f, INT64_C(1) << bit, true);
    for (int64_t i = 0; i < f->pairs; i++) {
      group *g = &f->group[i / LANES];
      turn *of = bit < STEP_BITS ? &g->fine[1 << bit] : &g->coarse[1 << (bit - STEP_BITS)];
      set_lane(of, i % LANES, &f->exacts[i]);
    }
  }
  for (int64_t g = 0; g < f->groups; g++) {
    fill(f->target, f->group[g].fine);
    fill(f->target, f->group[g].coarse);
  }
}

/* The multiple of REACH at or before a position. */
static int64_t anchor_of(int64_t position) {
  return position & ~(int64_t)(REACH - 1);
}

static void set_anchor(fast_oracle *f, int64_t position) {
  ask(f, position, false);
  for (int64_t i = 0; i < f->pairs; i++) set_lane(&f->group[i / LANES].anchor, i % LANES, &f->exacts[i]);
  f->anchored = position;
}

static void move_anchor(fast_oracle *f, int64_t position) {
  if (f->anchored != anchor_of(position)) set_anchor(f, anchor_of(position));
}

fast_oracle *fast_create(const posenc_problem *problem, unsigned isa) {
  fast_oracle *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  posenc_problem unpadded = *problem;
  unpadded.padding = POSENC_NO_PADDING;
  f->problem = *problem;
  f->columns = posenc_layout_columns(problem->layout, problem->dim);
  f->row_bytes = (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
  f->target = target_for(isa);
  f->pairs = problem->dim / 2;
  f->groups = (f->pairs - 1) / LANES + 1;
  f->exact = oracle_create(&unpadded);
  f->group = aligned_alloc(64, (size_t)f->groups * sizeof *f->group);
  f->places = calloc((size_t)f->pairs, sizeof *f->places);
  f->exacts = calloc((size_t)f->pairs, sizeof *f->exacts);
  f->sums = calloc((size_t)f->groups * STEPS, sizeof *f->sums);
  if (!f->exact || !f->group || !f->places || !f->exacts || !f->sums) {
    fast_destroy(f);
    return NULL;
  }
  memset(f->group, 0, (size_t)f->groups * sizeof *f->group); /* lanes that no frequency uses */
  f->format = oracle_format(f->exact);
  int exponent;
  if (frexp(attention_of(problem), &exponent) == 0.5) exponent--; /* what the double may lack, the proof has to spare */
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
  free(f->places);
  free(f->exacts);
  free(f->sums);
  free(f);
}

void fast_part(fast_oracle *f, bool sines, bool cosines) {
  f->no_sines = !sines;
  f->no_cosines = !cosines;
}

void fast_row(fast_oracle *f, int64_t position, fast_pair *pairs) {
  turn origin, now;
  move_anchor(f, position);
  for (int64_t i = 0; i < f->pairs; i++) {
    const group *g = &f->group[i / LANES];
    const int64_t k = i % LANES;
    if (k == 0) {
      f->target->rotate(&g->anchor, &g->coarse[(uint64_t)position / STEPS % STEPS], &origin);
      f->target->rotate(&origin, &g->fine[(uint64_t)position % STEPS], &now);
    }
    pairs[i] = (fast_pair){{now.sin_high[k], now.sin_low[k]}, {now.cos_high[k], now.cos_low[k]}};
  }
}

int64_t fast_groups(const fast_oracle *f) {
  return f->groups;
}

int64_t fast_move(fast_oracle *f, int64_t position) {
  move_anchor(f, position);
  return REACH - (position - f->anchored); /* the sum of the two may be beyond INT64_MAX */
}

void fast_lanes_of(const fast_oracle *f, int64_t position, fast_lanes *groups) {
  for (int64_t n = 0; n < f->groups; n++) {
    const group *g = &f->group[n];
    turn origin;
    f->target->rotate(&g->anchor, &g->coarse[(uint64_t)position / STEPS % STEPS], &origin);
    f->target->rotate(&origin, &g->fine[(uint64_t)position % STEPS], &groups[n]);
  }
}

fast_pair fast_turn(const fast_pair *a, const fast_pair *b) {
  fast_pair sum;
  sum.sine.high = sum_of_products(a->sine.high, a->sine.low, b->cosine.high, b->cosine.low, a->cosine.high,
                                  a->cosine.low, b->sine.high, b->sine.low, &sum.sine.low, FUSED);
  sum.cosine.high = sum_of_products(a->cosine.high, a->cosine.low, b->cosine.high, b->cosine.low, -a->sine.high,
                                    -a->sine.low, b->sine.high, b->sine.low, &sum.cosine.low, FUSED);
  return sum;
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Rows [from, to) counted from the anchor; `rows` points at the first. */
static void check_reach(fast_oracle *f, int64_t from, int64_t to, const unsigned char *rows, const posenc_bound *bound,
                        accuracy *a) {
  const int64_t first = from / STEPS, blocks = (to - 1) / STEPS - first + 1, tiles = f->groups * blocks;
  const accuracy known = *a;
#pragma omp parallel
  {
    accuracy mine = {0};
#pragma omp for schedule(dynamic)
    for (int64_t n = 0; n < tiles; n++) {
      const int64_t g = n / blocks, begin = (first + n % blocks) * STEPS;
      const int64_t start = begin > from ? begin : from;
      const tile t = {.oracle = f,
                      .group = &f->group[g],
                      .index = g * LANES,
                      .count = (int)least(LANES, f->pairs - g * LANES),
                      .origin = f->anchored + begin,
                      .from = (int)(start - begin),
                      .to = (int)least(STEPS, to - begin),
                      .rows = rows + f->row_bytes * (size_t)(start - from),
                      .bound = bound,
                      .known = &known};
      check_tile(&t, &mine, &f->sums[n]);
    }
#pragma omp critical(fast_merge)
    accuracy_merge(a, &mine);
  }
  for (int64_t n = 0; n < tiles; n++) {
    a->sum_ulp += f->sums[n].ulp;
    a->sum_abs += f->sums[n].abs;
  }
}

/* A witness shows the exact value: MPFR's. */
static void set_witness(const fast_oracle *f, witness *w) {
  if (is_padding(&f->problem, w->position)) return;
  const exact_pair pair = oracle_pair(f->exact, w->position, w->index);
  w->exact_high = w->cosine ? pair.cosine.high : pair.sine.high;
  w->exact_low = w->cosine ? pair.cosine.low : pair.sine.low;
}

void fast_check(fast_oracle *f, int64_t row, int64_t rows, const void *rows_there, const posenc_bound *bound,
                accuracy *a) {
  const unsigned char *next = rows_there;
  for (int64_t position = f->problem.first + row, left = rows; left > 0;) {
    move_anchor(f, position);
    const int64_t from = position - f->anchored, count = least(left, REACH - from);
    check_reach(f, from, from + count, next, bound, a);
    next += f->row_bytes * (size_t)count;
    position += count;
    left -= count;
  }
  if (rows > 0) {
    set_witness(f, &a->max_ulp);
    set_witness(f, &a->max_abs);
    if (a->held > 0) set_witness(f, &a->worst);
  }
}

/* ---- values near ties ------------------------------------------------------------------------------ */

typedef struct search {
  const fast_oracle *oracle;
  int64_t within; /* units of 2^-REST_BITS ulp */
  void (*found)(place at, void *argument);
  void *argument;
} search;

static void seek_tile(const search *s, int64_t number, int64_t origin, int from, int to) {
  const fast_oracle *f = s->oracle;
  const group *g = &f->group[number];
  turn start, now;
  uint64_t near[LANES];
  f->target->rotate(&g->anchor, &g->coarse[(uint64_t)origin / STEPS % STEPS], &start);
  for (int j = from; j < to; j++) {
    f->target->rotate(&start, &g->fine[j], &now);
    if (!f->target->seek(&now, f->tiny, s->within, near)) continue;
    for (int64_t k = 0, i = number * LANES; k < LANES && i < f->pairs; k++, i++) {
      if (!(near[k] & SIGN)) continue;
#pragma omp critical(fast_found)
      s->found((place){origin + j, i}, s->argument);
    }
  }
}

/* Rows [from, to) counted from the anchor. */
static void seek_reach(const search *s, int64_t from, int64_t to) {
  const fast_oracle *f = s->oracle;
  const int64_t first = from / STEPS, blocks = (to - 1) / STEPS - first + 1;
#pragma omp parallel for schedule(dynamic)
  for (int64_t n = 0; n < f->groups * blocks; n++) {
    const int64_t begin = (first + n % blocks) * STEPS, start = begin > from ? begin : from;
    seek_tile(s, n / blocks, f->anchored + begin, (int)(start - begin), (int)least(STEPS, to - begin));
  }
}

/* The high part is a unit of 2^-REST_BITS ulp from the value at most: half of one by its rounding, and half of one, of a
 * value that is not tiny, is the bound. */
void fast_near_ties(fast_oracle *f, int64_t position, int64_t rows, double within,
                    void (*found)(place at, void *argument), void *argument) {
  const search s = {f, (int64_t)ceil(ldexp(within, REST_BITS)) + 1, found, argument};
  while (rows > 0) {
    move_anchor(f, position);
    const int64_t from = position - f->anchored, count = least(rows, REACH - from);
    seek_reach(&s, from, from + count);
    position += count;
    rows -= count;
  }
}
