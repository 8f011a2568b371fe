/* SPDX-License-Identifier: MIT */
#include "reference/oracle.h"

#include "reference/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The precision of frequencies, and of sine and cosine at the first try. */
enum { FREQUENCY_BITS = 320, FIRST_BITS = 140 };

/* Up to this number of values are computed by one thread: the other threads would spin at the end for longer than the
   values take. */
enum { FEW = 64 };

struct oracle {
  posenc_problem problem;
  const format *target;
  mpfr_t *frequencies; /* relative error below 2^(4 - FREQUENCY_BITS) */
  double *factors;     /* of LongRoPE, a copy */
  int64_t count;       /* number of frequencies */
  int64_t *indices;    /* their indices in the problem */
  mpfr_t ratio;        /* ratio_of, for frequencies of FREQUENCY_BITS */
  yarn_ramp ramp;      /* for the same, if the scaling is YaRN */
  mpfr_t attention;    /* the attention factor, with the same precision */
  exact at_0;          /* the attention factor, as the cosine of position 0 */
  double most;         /* the attention factor if it is a double (other values are smaller), or infinity */
};

/* Computes the ratio of a frequency to the one before, base^(-1 / (dim/2 - shift)), with the precision of `ratio`. The
   exponent's error is at most 2^13 of its last units, so it has spare bits. */
enum { RATIO_BITS = 64 };
static void ratio_of(mpfr_t ratio, const posenc_problem *problem) {
  mpfr_t denominator, slope;
  mpfr_init2(denominator, 1200); /* exact: bits of such doubles are at most this far apart */
  mpfr_init2(slope, mpfr_get_prec(ratio) + RATIO_BITS);
  mpfr_set_sj(denominator, problem->dim / 2, MPFR_RNDN);
  mpfr_sub_d(denominator, denominator, problem->shift, MPFR_RNDN);
  scaling_log_base(slope, problem);
  mpfr_div(slope, slope, denominator, MPFR_RNDN);
  mpfr_neg(slope, slope, MPFR_RNDN);
  mpfr_exp(ratio, slope, MPFR_RNDN);
  mpfr_clears(denominator, slope, (mpfr_ptr)0);
}

/* Computes base^(-i / (dim/2 - shift)) as a power of the ratio, and scales it. A power has i times the ratio's relative
   error, so the ratio has RATIO_BITS more; all of them get more where a scaling cancels many. */
enum { SPARE_BITS = 128, RAMP_BITS = FREQUENCY_BITS + SPARE_BITS };
static void frequency(mpfr_t w, const oracle *o, int64_t index) {
  const mpfr_prec_t bits = mpfr_get_prec(w);
  mpfr_t ratio, precise;
  mpfr_inits2(bits, ratio, precise, (mpfr_ptr)0);
  for (mpfr_prec_t spare = SPARE_BITS;; spare *= 2) {
    const bool is_kept = bits + spare + RATIO_BITS <= mpfr_get_prec(o->ratio);
    mpfr_set_prec(precise, bits + spare);
    if (!is_kept) {
      mpfr_set_prec(ratio, bits + spare + RATIO_BITS);
      ratio_of(ratio, &o->problem);
    }
    mpfr_pow_ui(precise, is_kept ? o->ratio : ratio, (unsigned long)o->indices[index], MPFR_RNDN);
    const yarn_ramp *ramp = bits + spare == RAMP_BITS ? &o->ramp : NULL;
    if (scaling_frequency(precise, bits, &o->problem, o->indices[index], ramp)) break;
  }
  mpfr_set(w, precise, MPFR_RNDN);
  mpfr_clears(ratio, precise, (mpfr_ptr)0);
}

/* The temporaries of one thread. */
typedef struct workspace {
  mpfr_t angle, sine, cosine, low, high, error, rest;
} workspace;

static void workspace_init(workspace *w) {
  mpfr_inits2(FIRST_BITS, w->angle, w->sine, w->cosine, w->low, w->high, w->error, w->rest, (mpfr_ptr)0);
}

static void workspace_clear(workspace *w) {
  mpfr_clears(w->angle, w->sine, w->cosine, w->low, w->high, w->error, w->rest, (mpfr_ptr)0);
}

/* Sets *value to the value that is within `error` of x and below `most` in size; returns false if this does not decide
   its rounding. */
static bool decide(const format *target, double most, workspace *w, const mpfr_t x, const mpfr_t error, exact *value) {
  mpfr_set_prec(w->low, mpfr_get_prec(x) + 8);
  mpfr_set_prec(w->high, mpfr_get_prec(x) + 8);
  mpfr_sub(w->low, x, error, MPFR_RNDD);
  mpfr_add(w->high, x, error, MPFR_RNDU);
  value->rounded = format_round(target, w->low);
  if (mpfr_sgn(w->low) * mpfr_sgn(w->high) <= 0 || value->rounded != format_round(target, w->high)) return false;
  /* high + low must be within 2^-105 of the value: 2^-109 from x, and 2^-106 from the rounding of low */
  if (mpfr_get_exp(error) > mpfr_get_exp(x) - 110) return false;
  value->high = mpfr_get_d(x, MPFR_RNDN);
  mpfr_set_prec(w->rest, mpfr_get_prec(x));
  mpfr_sub_d(w->rest, x, value->high, MPFR_RNDN);
  value->low = mpfr_get_d(w->rest, MPFR_RNDN);
  if (value->low != 0.0) return true;
  /* The value is not a double. If `high` is a power of two, whose sides have different ulps, low must say on which side
     the value is. */
  if (fabs(value->high) == most) {
    value->low = -copysign(0x1p-1074, value->high);
    return true;
  }
  int exponent;
  return fabs(frexp(value->high, &exponent)) != 0.5;
}

/* Computes the attention factor: a double, or transcendental. */
static void set_attention(oracle *o) {
  workspace w;
  workspace_init(&w);
  mpfr_init2(o->attention, FREQUENCY_BITS);
  o->most = INFINITY;
  for (mpfr_prec_t bits = FIRST_BITS;; bits *= 2) {
    mpfr_set_prec(w.sine, bits);
    if (scaling_attention(w.sine, &o->problem)) {
      o->most = mpfr_get_d(w.sine, MPFR_RNDN);
      o->at_0 = (exact){o->most, 0.0, format_round(o->target, w.sine)};
      break;
    }
    mpfr_set_ui_2exp(w.error, 1, mpfr_get_exp(w.sine) + 3 - bits, MPFR_RNDU);
    if (decide(o->target, o->most, &w, w.sine, w.error, &o->at_0)) break;
  }
  scaling_attention(o->attention, &o->problem);
  workspace_clear(&w);
}

oracle *oracle_create(const posenc_problem *problem) {
  return oracle_create_some(problem, NULL);
}

oracle *oracle_create_some(const posenc_problem *problem, const selection *some) {
  const int64_t all = problem->dim / 2, count = some ? some->count : all;
  oracle *o = calloc(1, sizeof *o);
  mpfr_t *frequencies = calloc((size_t)count, sizeof *frequencies);
  double *factors = malloc((size_t)all * sizeof *factors);
  int64_t *indices = malloc((size_t)count * sizeof *indices);
  if (!o || !frequencies || !factors || !indices) {
    free(o);
    free(frequencies);
    free(factors);
    free(indices);
    return NULL;
  }
  o->count = count;
  o->indices = indices;
  for (int64_t i = 0; i < count; i++) indices[i] = some ? some->index[i] : i;
  o->problem = *problem;
  o->target = format_of(problem->dtype);
  o->frequencies = frequencies;
  o->factors = factors;
  if (problem->scaling.factors) {
    memcpy(factors, problem->scaling.factors, (size_t)all * sizeof *factors);
    o->problem.scaling.factors = factors;
  }
  set_attention(o);
  mpfr_init2(o->ratio, RAMP_BITS + RATIO_BITS);
  ratio_of(o->ratio, &o->problem);
  if (problem->scaling.kind == POSENC_SCALING_YARN) yarn_ramp_init(&o->ramp, RAMP_BITS, &o->problem);
#pragma omp parallel if (count > FEW)
  {
#pragma omp for schedule(dynamic, 16)
    for (int64_t i = 0; i < count; i++) {
      mpfr_init2(frequencies[i], FREQUENCY_BITS);
      frequency(frequencies[i], o, i);
    }
    if (count > FEW) mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* a team's threads may not run again */
  }
  return o;
}

void oracle_destroy(oracle *o) {
  if (!o) return;
  for (int64_t i = 0; i < o->count; i++) mpfr_clear(o->frequencies[i]);
  mpfr_clears(o->attention, o->ratio, (mpfr_ptr)0);
  if (o->problem.scaling.kind == POSENC_SCALING_YARN) yarn_ramp_clear(&o->ramp);
  free(o->frequencies);
  free(o->factors);
  free(o->indices);
  free(o);
}

const format *oracle_format(const oracle *o) {
  return o->target;
}

void oracle_frequency(const oracle *o, int64_t index, mpfr_t w) {
  if (mpfr_get_prec(w) + 4 <= FREQUENCY_BITS) {
    mpfr_set(w, o->frequencies[index], MPFR_RNDN);
    return;
  }
  frequency(w, o, index);
}

/* Computes a pair of the table, or of the unit circle. */
static exact_pair compute(const oracle *o, bool of_circle, workspace *w, place at) {
  exact_pair pair = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  const bool plain = of_circle || o->most == 1.0;
  const double most = plain ? 1.0 : o->most;
  if (at.position == o->problem.padding && o->problem.padding != POSENC_NO_PADDING) return pair;
  if (at.position == 0 || mpfr_zero_p(o->frequencies[at.index])) {
    pair.cosine = plain ? (exact){1.0, 0.0, 1.0} : o->at_0;
    return pair;
  }
  mpfr_t precise, factor;
  mpfr_inits2(FREQUENCY_BITS, precise, factor, (mpfr_ptr)0);
  mpfr_srcptr frequency_now = o->frequencies[at.index], attention_now = o->attention;
  for (mpfr_prec_t bits = FIRST_BITS;; bits *= 2) {
    if (bits + 128 > mpfr_get_prec(frequency_now)) {
      mpfr_set_prec(precise, 4 * bits);
      mpfr_set_prec(factor, 4 * bits);
      frequency(precise, o, at.index);
      scaling_attention(factor, &o->problem);
      frequency_now = precise;
      attention_now = factor;
    }
    /* The angle needs bits for its whole turns as well as for its fraction: bits + exponent. */
    const mpfr_exp_t exponent = mpfr_get_exp(frequency_now) + 64;
    mpfr_set_prec(w->angle, bits + (exponent > 0 ? exponent : 0));
    integer_times(w->angle, frequency_now, at.position);
    mpfr_set_prec(w->sine, bits);
    mpfr_set_prec(w->cosine, bits);
    mpfr_sin_cos(w->sine, w->cosine, w->angle, MPFR_RNDN);
    /*
     * The error of the angle is half an ulp of its own rounding, and that of the frequency, relative 2^(4 - its bits);
     * at least 2^-bits of slack covers both. Sine and cosine have derivatives of at most 1, and their own rounding is
     * half an ulp, so below 2^(exponent - bits). With a factor, the error is less than three times that, including the
     * rounding of the product and the error of the factor; the error of the angle is multiplied by the factor.
     */
    const mpfr_prec_t angle_bits = mpfr_get_prec(w->angle) < mpfr_get_prec(frequency_now) - 6
                                       ? mpfr_get_prec(w->angle)
                                       : mpfr_get_prec(frequency_now) - 6;
    mpfr_exp_t from_angle = mpfr_get_exp(w->angle) - angle_bits + 1;
    if (!plain) {
      mpfr_mul(w->sine, w->sine, attention_now, MPFR_RNDN);
      mpfr_mul(w->cosine, w->cosine, attention_now, MPFR_RNDN);
      from_angle += mpfr_get_exp(attention_now);
    }
    bool decided = true;
    for (int which = 0; which < 2 && decided; which++) {
      mpfr_srcptr x = which ? w->cosine : w->sine;
      const mpfr_exp_t own = mpfr_get_exp(x) - bits + (plain ? 0 : 2);
      mpfr_set_ui_2exp(w->error, 1, (own > from_angle ? own : from_angle) + 1, MPFR_RNDU);
      decided = decide(o->target, most, w, x, w->error, which ? &pair.cosine : &pair.sine);
    }
    if (decided) break;
  }
  mpfr_clears(precise, factor, (mpfr_ptr)0);
  return pair;
}

static void compute_in_turn(const oracle *o, const place *places, size_t count, exact_pair *pairs) {
  workspace w;
  workspace_init(&w);
  for (size_t i = 0; i < count; i++) pairs[i] = compute(o, false, &w, places[i]);
  workspace_clear(&w);
}

void oracle_pairs(const oracle *o, const place *places, size_t count, exact_pair *pairs) {
  if (count <= FEW) {
    compute_in_turn(o, places, count, pairs);
    return;
  }
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (size_t from = 0; from < count; from += FEW)
      compute_in_turn(o, places + from, count - from < FEW ? count - from : FEW, pairs + from);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
  }
}

exact_pair oracle_pair(const oracle *o, int64_t position, int64_t index) {
  exact_pair pair;
  oracle_pairs(o, &(place){position, index}, 1, &pair);
  return pair;
}

exact_pair oracle_rotation(const oracle *o, int64_t position, int64_t index) {
  workspace w;
  workspace_init(&w);
  const exact_pair turn = compute(o, true, &w, (place){position, index});
  workspace_clear(&w);
  return turn;
}

/* ---- rotations ------------------------------------------------------------------------------------------------- */

/*
 * A rotation by twice an angle is the square of the complex number c + s i. A pair within E of its rotation, as a
 * distance in the plane, has a square within 2 E + E^2 and its roundings, at most 2^-(ROTATION_BITS + 1) of the sine
 * and three times that of the cosine: together less than 2^(1 - ROTATION_BITS). The first pair is within
 * 2^-ROTATION_BITS; half of that is for the angle, which has some bits more than it needs. So the twelfth is within 3 ×
 * 2^(11 - ROTATION_BITS) < 2^-113, and the sum of two doubles is within 2^-107 of it. MPFR has faster code for less
 * than 128 bits.
 */
enum { ROTATION_BITS = 127, ANGLE_BITS = ROTATION_BITS + 8 };

/* Returns a number of 64 bits from the limbs of a significand; the least is number 0. */
static uint64_t limbs_word(const mp_limb_t *limbs, int number) {
  return GMP_NUMB_BITS == 64 ? limbs[number] : (uint64_t)limbs[2 * number + 1] << 32 | limbs[2 * number];
}

/* Splits x, which has 97 to 128 bits, into the nearest double and the rest, to the nearest double but for the last 11
   bits. MPFR's own conversions took half the time of turns. */
static exact sum_of_two(const mpfr_t x) {
  if (mpfr_zero_p(x)) return (exact){0};
  const mp_limb_t *limbs = mpfr_custom_get_significand(x);
  const uint64_t upper = limbs_word(limbs, 1), lower = limbs_word(limbs, 0);
  const int64_t head = (int64_t)(upper >> 11) + (int64_t)(upper >> 10 & 1);
  const int64_t rest = (int64_t)(upper << 53 | lower >> 11); /* below 0 where the head is rounded up */
  const int exponent = (int)mpfr_get_exp(x) - 53, sign = mpfr_sgn(x) < 0 ? -1 : 1;
  return (exact){.high = ldexp((double)(sign * head), exponent), .low = ldexp((double)rest * sign, exponent - 64)};
}

static void double_angle(mpfr_t sine, mpfr_t cosine, mpfr_t rest) {
  mpfr_sqr(rest, sine, MPFR_RNDN);
  mpfr_mul(sine, sine, cosine, MPFR_RNDN);
  mpfr_mul_2ui(sine, sine, 1, MPFR_RNDN);
  mpfr_sqr(cosine, cosine, MPFR_RNDN);
  mpfr_sub(cosine, cosine, rest, MPFR_RNDN);
}

static void compute_rotations(const oracle *o, int64_t index, int count, exact_pair *turns) {
  const mpfr_exp_t exponent = mpfr_zero_p(o->frequencies[index]) ? 0 : mpfr_get_exp(o->frequencies[index]);
  mpfr_t angle, sine, cosine, rest;
  mpfr_inits2(ROTATION_BITS, sine, cosine, rest, (mpfr_ptr)0);
  mpfr_init2(angle, ANGLE_BITS + (exponent > 0 ? exponent : 0));
  oracle_frequency(o, index, angle);
  mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
  for (int n = 0; n < count; n++) {
    if (n) double_angle(sine, cosine, rest);
    turns[n] = (exact_pair){sum_of_two(sine), sum_of_two(cosine)};
  }
  mpfr_clears(angle, sine, cosine, rest, (mpfr_ptr)0);
}

/*
 * The angle has POINT_BITS more bits than its whole turns take, and is computed from a frequency with more bits than
 * that. Angle, sine and cosine are within 2^(1 - POINT_BITS), with a factor within four times that and its power of
 * two. The low double is rounded by at most 2^-108, so the sum of the two is within 2^-106.
 */
enum { POINT_BITS = 120 };

static exact_pair compute_point(const oracle *o, workspace *w, place at) {
  mpfr_srcptr frequency_now = o->frequencies[at.index];
  if (at.position == 0 || mpfr_zero_p(frequency_now)) return compute(o, false, w, at);
  const mpfr_exp_t turns = mpfr_get_exp(frequency_now) + 64, angle_bits = POINT_BITS + (turns > 0 ? turns : 0);
  if (angle_bits + 16 > FREQUENCY_BITS) return compute(o, false, w, at);
  mpfr_set_prec(w->angle, angle_bits);
  mpfr_set_prec(w->sine, POINT_BITS);
  mpfr_set_prec(w->cosine, POINT_BITS);
  integer_times(w->angle, frequency_now, at.position);
  mpfr_sin_cos(w->sine, w->cosine, w->angle, MPFR_RNDN);
  if (o->most != 1.0) {
    mpfr_mul(w->sine, w->sine, o->attention, MPFR_RNDN);
    mpfr_mul(w->cosine, w->cosine, o->attention, MPFR_RNDN);
  }
  return (exact_pair){sum_of_two(w->sine), sum_of_two(w->cosine)};
}

void oracle_points(const oracle *o, int64_t position, exact_pair *points) {
  const int64_t frequencies = o->count;
#pragma omp parallel if (frequencies > FEW)
  {
    workspace w;
    workspace_init(&w);
#pragma omp for schedule(dynamic, 16)
    for (int64_t i = 0; i < frequencies; i++) points[i] = compute_point(o, &w, (place){position, i});
    workspace_clear(&w);
    if (frequencies > FEW) mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
  }
}

void oracle_rotations(const oracle *o, int count, exact_pair *turns) {
  const int64_t frequencies = o->count;
#pragma omp parallel if (frequencies > FEW)
  {
#pragma omp for schedule(dynamic, 16)
    for (int64_t i = 0; i < frequencies; i++) compute_rotations(o, i, count, turns + i * count);
    if (frequencies > FEW) mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
  }
}

/* ---- returns ----------------------------------------------------------------------------------------------------- */

/* The denominators of x = [0; a1, a2 …] are q(n+1) = a(n+1) q(n) + q(n-1), with q(-1) = 0 and q(0) = 1. They grow at
   least like Fibonacci's numbers, of which the 60th exceeds 2^40. Each term uses up twice the bits of its denominator:
   of x's bits, 80 in all. Whole turns of x itself use bits only, and there are enough, as x is below 2^40. */
size_t oracle_returns(const oracle *o, int64_t index, int64_t most, int64_t returns[ORACLE_RETURNS]) {
  mpfr_t rest, turn, whole;
  size_t count = 0;
  mpfr_init2(whole, 64);
  mpfr_inits2(FREQUENCY_BITS, rest, turn, (mpfr_ptr)0);
  mpfr_const_pi(turn, MPFR_RNDN);
  mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
  mpfr_div(rest, o->frequencies[index], turn, MPFR_RNDN);
  mpfr_frac(rest, rest, MPFR_RNDN);
  for (int64_t before = 0, now = 1; now <= most && count < ORACLE_RETURNS;) {
    if (!count || returns[count - 1] != now) returns[count++] = now;
    mpfr_ui_div(turn, 1, rest, MPFR_RNDN);
    mpfr_set_sj(whole, (most - before) / now + 1, MPFR_RNDN);
    if (mpfr_cmp(turn, whole) >= 0) break; /* the next one exceeds `most` */
    const int64_t term = mpfr_get_sj(turn, MPFR_RNDZ), next = term * now + before;
    mpfr_set_sj(whole, term, MPFR_RNDN);
    mpfr_sub(rest, turn, whole, MPFR_RNDN);
    before = now;
    now = next;
  }
  mpfr_clears(rest, turn, whole, (mpfr_ptr)0);
  return count;
}

/* ---- parts of an error ----------------------------------------------------------------------------------- */

/* Bits after the binary point of sines, cosines and angles. The difference of two sines is then within 2^-194. */
enum { BITS = 196 };

/* The temporaries of one thread: the angles p w, p F and P with their sines and cosines, and one more number. */
enum { EXACT, OF_FREQUENCY, OF_PHASE, ANGLES };
typedef struct split_workspace {
  mpfr_t angle[ANGLES], sine[ANGLES], cosine[ANGLES], rest;
} split_workspace;

static void split_init(split_workspace *w) {
  for (int a = 0; a < ANGLES; a++) mpfr_inits2(BITS, w->angle[a], w->sine[a], w->cosine[a], (mpfr_ptr)0);
  mpfr_init2(w->rest, BITS);
}

static void split_clear(split_workspace *w) {
  for (int a = 0; a < ANGLES; a++) mpfr_clears(w->angle[a], w->sine[a], w->cosine[a], (mpfr_ptr)0);
  mpfr_clear(w->rest);
}

static void set_sum(mpfr_t x, posenc_sum sum) {
  mpfr_set_d(x, sum.high, MPFR_RNDN);
  mpfr_add_d(x, x, sum.low, MPFR_RNDN);
}

/* Sets the precisions and angles of a case. Angles need bits for their whole turns: |p w| < 2^(64 + the exponent of w),
   and the other angles are like it if they are near. */
static void set_angles(split_workspace *w, const oracle *o, const split_case *c) {
  oracle_frequency(o, c->at.index, w->rest);
  const mpfr_exp_t whole = mpfr_get_exp(w->rest) + 64;
  for (int a = 0; a < ANGLES; a++) mpfr_set_prec(w->angle[a], BITS + (whole > 0 ? whole : 0));
  oracle_frequency(o, c->at.index, w->angle[EXACT]);
  set_sum(w->angle[OF_FREQUENCY], c->stages.frequency);
  set_sum(w->angle[OF_PHASE], c->stages.phase);
  integer_times(w->angle[EXACT], w->angle[EXACT], c->at.position);
  integer_times(w->angle[OF_FREQUENCY], w->angle[OF_FREQUENCY], c->at.position);
}

static double difference(split_workspace *w, const mpfr_t a, const mpfr_t b) {
  mpfr_sub(w->rest, a, b, MPFR_RNDN);
  return mpfr_get_d(w->rest, MPFR_RNDN);
}

static split_parts parts_of(split_workspace *w, mpfr_t *of, posenc_sum value, double got) {
  split_parts parts = {.frequency = difference(w, of[OF_FREQUENCY], of[EXACT]),
                       .phase = difference(w, of[OF_PHASE], of[OF_FREQUENCY]),
                       .store = (got - value.high) - value.low};
  mpfr_d_sub(w->rest, value.high, of[OF_PHASE], MPFR_RNDN);
  mpfr_add_d(w->rest, w->rest, value.low, MPFR_RNDN);
  parts.trig = mpfr_get_d(w->rest, MPFR_RNDN);
  return parts;
}

static split_pair split(split_workspace *w, const oracle *o, const split_case *c) {
  set_angles(w, o, c);
  for (int a = 0; a < ANGLES; a++) mpfr_sin_cos(w->sine[a], w->cosine[a], w->angle[a], MPFR_RNDN);
  return (split_pair){parts_of(w, w->sine, c->stages.sine, c->sine),
                      parts_of(w, w->cosine, c->stages.cosine, c->cosine)};
}

void split_errors(const oracle *o, const split_case *cases, size_t count, split_pair *pairs) {
#pragma omp parallel if (count > 16)
  {
    split_workspace w;
    split_init(&w);
#pragma omp for schedule(dynamic, 16)
    for (size_t i = 0; i < count; i++) pairs[i] = split(&w, o, &cases[i]);
    split_clear(&w);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
  }
}
