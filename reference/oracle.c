/* SPDX-License-Identifier: MIT */
#include "reference/oracle.h"

#include <math.h>
#include <stdlib.h>

/* Bits of the frequencies that are kept, and of sine and cosine at the first try. */
enum { FREQUENCY_BITS = 320, FIRST_BITS = 140 };

struct oracle {
  posenc_problem problem;
  const format *target;
  mpfr_t *frequencies; /* relative error below 2^(4 - FREQUENCY_BITS) */
};

/* -ln(base) / (dim/2 - shift), to the precision of `slope`. */
static void slope_of(mpfr_t slope, const posenc_problem *problem) {
  mpfr_t denominator;
  mpfr_init2(denominator, 1200); /* exact: no two bits of doubles of this size lie further apart */
  mpfr_set_si(denominator, (long)(problem->dim / 2), MPFR_RNDN);
  mpfr_sub_d(denominator, denominator, problem->shift, MPFR_RNDN);
  mpfr_set_d(slope, problem->base, MPFR_RNDN);
  mpfr_log(slope, slope, MPFR_RNDN);
  mpfr_div(slope, slope, denominator, MPFR_RNDN);
  mpfr_neg(slope, slope, MPFR_RNDN);
  mpfr_clear(denominator);
}

/* w = base^(-i / (dim/2 - shift)) = exp(slope i). The slope's relative error e costs |ln w| e, so it has 128 bits to
 * spare. */
enum { SPARE_BITS = 128 };
static void frequency(mpfr_t w, const mpfr_t slope, int64_t index) {
  mpfr_t exponent;
  mpfr_init2(exponent, mpfr_get_prec(slope));
  mpfr_mul_si(exponent, slope, (long)index, MPFR_RNDN);
  mpfr_exp(w, exponent, MPFR_RNDN);
  mpfr_clear(exponent);
}

oracle *oracle_create(const posenc_problem *problem) {
  const int64_t count = problem->dim / 2;
  oracle *o = calloc(1, sizeof *o);
  mpfr_t *frequencies = o ? calloc((size_t)count, sizeof *frequencies) : NULL;
  if (!frequencies) {
    free(o);
    return NULL;
  }
  o->problem = *problem;
  o->target = format_of(problem->dtype);
  o->frequencies = frequencies;
  mpfr_t slope;
  mpfr_init2(slope, FREQUENCY_BITS + SPARE_BITS);
  slope_of(slope, problem);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 16)
    for (int64_t i = 0; i < count; i++) {
      mpfr_init2(frequencies[i], FREQUENCY_BITS);
      frequency(frequencies[i], slope, i);
    }
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
  }
  mpfr_clear(slope);
  return o;
}

void oracle_destroy(oracle *o) {
  if (!o) return;
  for (int64_t i = 0; i < o->problem.dim / 2; i++) mpfr_clear(o->frequencies[i]);
  free(o->frequencies);
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
  mpfr_t slope;
  mpfr_init2(slope, mpfr_get_prec(w) + SPARE_BITS);
  slope_of(slope, &o->problem);
  frequency(w, slope, index);
  mpfr_clear(slope);
}

/* Temporaries of one thread. */
typedef struct workspace {
  mpfr_t angle, sine, cosine, low, high, error, rest;
} workspace;

static void workspace_init(workspace *w) {
  mpfr_inits2(FIRST_BITS, w->angle, w->sine, w->cosine, w->low, w->high, w->error, w->rest, (mpfr_ptr)0);
}

static void workspace_clear(workspace *w) {
  mpfr_clears(w->angle, w->sine, w->cosine, w->low, w->high, w->error, w->rest, (mpfr_ptr)0);
}

/* The value known to lie within `error` of x; false if that does not decide it. */
static bool decide(const format *target, workspace *w, const mpfr_t x, const mpfr_t error, exact *value) {
  mpfr_set_prec(w->low, mpfr_get_prec(x) + 8);
  mpfr_set_prec(w->high, mpfr_get_prec(x) + 8);
  mpfr_sub(w->low, x, error, MPFR_RNDD);
  mpfr_add(w->high, x, error, MPFR_RNDU);
  value->rounded = format_round(target, w->low);
  if (mpfr_sgn(w->low) * mpfr_sgn(w->high) <= 0 || value->rounded != format_round(target, w->high)) return false;
  /* high + low must be good to 2^-105 of the value: 2^-109 from x, and 2^-106 from the rounding of low */
  if (mpfr_get_exp(error) > mpfr_get_exp(x) - 110) return false;
  value->high = mpfr_get_d(x, MPFR_RNDN);
  mpfr_set_prec(w->rest, mpfr_get_prec(x));
  mpfr_sub_d(w->rest, x, value->high, MPFR_RNDN);
  value->low = mpfr_get_d(w->rest, MPFR_RNDN);
  if (value->low != 0.0) return true;
  /* The value is no double: on which side of this one matters where that is a power of two, whose sides have different
     ulps. It is inside ±1. */
  if (fabs(value->high) == 1.0) {
    value->low = -copysign(0x1p-1074, value->high);
    return true;
  }
  int exponent;
  return fabs(frexp(value->high, &exponent)) != 0.5;
}

static exact_pair compute(const oracle *o, workspace *w, place at) {
  exact_pair pair = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  if (at.position == o->problem.padding && o->problem.padding != POSENC_NO_PADDING) return pair;
  if (at.position == 0) {
    pair.cosine = (exact){1.0, 0.0, 1.0};
    return pair;
  }
  mpfr_t precise, slope;
  mpfr_inits2(FREQUENCY_BITS, precise, slope, (mpfr_ptr)0);
  mpfr_srcptr frequency_now = o->frequencies[at.index];
  for (mpfr_prec_t bits = FIRST_BITS;; bits *= 2) {
    if (bits + 128 > mpfr_get_prec(frequency_now)) {
      mpfr_set_prec(precise, 4 * bits);
      mpfr_set_prec(slope, 4 * bits + SPARE_BITS);
      slope_of(slope, &o->problem);
      frequency(precise, slope, at.index);
      frequency_now = precise;
    }
    /* An angle of many turns needs its whole turns as well as its fraction: bits + exponent of them. */
    const mpfr_exp_t exponent = mpfr_get_exp(frequency_now) + 64;
    mpfr_set_prec(w->angle, bits + (exponent > 0 ? exponent : 0));
    mpfr_mul_si(w->angle, frequency_now, (long)at.position, MPFR_RNDN);
    mpfr_set_prec(w->sine, bits);
    mpfr_set_prec(w->cosine, bits);
    mpfr_sin_cos(w->sine, w->cosine, w->angle, MPFR_RNDN);
    /*
     * The angle: half an ulp of its own rounding, and the frequency's 2^(4 - its bits), relative; at least 2^-bits of
     * slack covers both. Sine and cosine are no steeper than 1, and their own rounding is half an ulp, so below
     * 2^(exponent - bits).
     */
    const mpfr_prec_t angle_bits = mpfr_get_prec(w->angle) < mpfr_get_prec(frequency_now) - 6
                                       ? mpfr_get_prec(w->angle)
                                       : mpfr_get_prec(frequency_now) - 6;
    const mpfr_exp_t from_angle = mpfr_get_exp(w->angle) - angle_bits + 1;
    bool decided = true;
    for (int which = 0; which < 2 && decided; which++) {
      mpfr_srcptr x = which ? w->cosine : w->sine;
      const mpfr_exp_t own = mpfr_get_exp(x) - bits;
      mpfr_set_ui_2exp(w->error, 1, (own > from_angle ? own : from_angle) + 1, MPFR_RNDU);
      decided = decide(o->target, w, x, w->error, which ? &pair.cosine : &pair.sine);
    }
    if (decided) break;
  }
  mpfr_clears(precise, slope, (mpfr_ptr)0);
  return pair;
}

exact_pair oracle_pair(const oracle *o, int64_t position, int64_t index) {
  exact_pair pair;
  oracle_pairs(o, &(place){position, index}, 1, &pair);
  return pair;
}

static void compute_in_turn(const oracle *o, const place *places, size_t count, exact_pair *pairs) {
  workspace w;
  workspace_init(&w);
  for (size_t i = 0; i < count; i++) pairs[i] = compute(o, &w, places[i]);
  workspace_clear(&w);
}

/* A few are computed at once: even a team of one thread costs more than they do where other processes keep the cores busy. */
void oracle_pairs(const oracle *o, const place *places, size_t count, exact_pair *pairs) {
  enum { FEW = 64 };
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

/* Of x = [0; a1, a2 …] the denominators are q(n+1) = a(n+1) q(n) + q(n-1), from q(-1) = 0, q(0) = 1; so they grow at least as
 * Fibonacci's numbers do, of which the 60th exceeds 2^40. Each term costs twice its denominator's bits: of x's bits,
 * 80 in all. */
size_t oracle_returns(const oracle *o, int64_t index, int64_t most, int64_t returns[ORACLE_RETURNS]) {
  mpfr_t rest, turn;
  size_t count = 0;
  mpfr_inits2(FREQUENCY_BITS, rest, turn, (mpfr_ptr)0);
  mpfr_const_pi(turn, MPFR_RNDN);
  mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
  mpfr_div(rest, o->frequencies[index], turn, MPFR_RNDN);
  for (int64_t before = 0, now = 1; now <= most && count < ORACLE_RETURNS;) {
    returns[count++] = now;
    mpfr_ui_div(turn, 1, rest, MPFR_RNDN);
    if (mpfr_cmp_si(turn, (long)((most - before) / now + 1)) >= 0) break; /* the next is beyond `most` */
    const int64_t term = mpfr_get_si(turn, MPFR_RNDZ), next = term * now + before;
    mpfr_sub_si(rest, turn, (long)term, MPFR_RNDN);
    before = now;
    now = next;
  }
  mpfr_clears(rest, turn, (mpfr_ptr)0);
  return count;
}
