/* SPDX-License-Identifier: MIT */
#include "reference/scaling.h"

/* Whether the relative error of a difference is below 2^-(bits + 4), if the absolute one is below 2^error. */
static bool is_known(const mpfr_t difference, mpfr_exp_t error, mpfr_prec_t bits) {
  return !mpfr_zero_p(difference) && mpfr_get_exp(difference) - 1 - error >= bits + 4;
}

/* ---- ramps --------------------------------------------------------------------------------------- */

/* Multiplies w by 1 where v <= 0, by 1/s where u <= 0, and between them by (u + v/s) / (u + v): the share u is kept,
   the share v divided by s. Sums are of positive numbers, so they are as accurate as u and v. */
static void blend(mpfr_t w, const mpfr_t u, const mpfr_t v, double s) {
  if (mpfr_sgn(v) <= 0) return;
  if (mpfr_sgn(u) <= 0) {
    mpfr_div_d(w, w, s, MPFR_RNDN);
    return;
  }
  mpfr_t part;
  mpfr_init2(part, mpfr_get_prec(w));
  mpfr_div_d(part, v, s, MPFR_RNDN);
  mpfr_add(part, part, u, MPFR_RNDN);
  mpfr_mul(w, w, part, MPFR_RNDN);
  mpfr_add(part, u, v, MPFR_RNDN);
  mpfr_div(w, w, part, MPFR_RNDN);
  mpfr_clear(part);
}

/* Scales w by Llama 3's formula. The number of turns, t = N w / 2π, is transcendental, so it equals neither `low` nor
   `high`. */
static bool llama3(mpfr_t w, mpfr_prec_t bits, const posenc_scaling *how) {
  const mpfr_prec_t precision = mpfr_get_prec(w);
  mpfr_t turns, pi, u, v;
  mpfr_inits2(precision, turns, pi, u, v, (mpfr_ptr)0);
  mpfr_const_pi(pi, MPFR_RNDN);
  integer_times(turns, w, how->original);
  mpfr_div(turns, turns, pi, MPFR_RNDN);
  mpfr_div_2ui(turns, turns, 1, MPFR_RNDN);
  mpfr_sub_d(u, turns, how->low, MPFR_RNDN);
  mpfr_d_sub(v, how->high, turns, MPFR_RNDN);
  const mpfr_exp_t error = mpfr_get_exp(turns) + 17 - precision;
  const bool enough = is_known(u, error, bits) && is_known(v, error, bits);
  if (enough) blend(w, u, v, how->factor);
  mpfr_clears(turns, pi, u, v, (mpfr_ptr)0);
  return enough;
}

/* Computes cut(r) = dim ln(N / 2πr) / (2 ln base). The base is at least 2 and the other logarithm below 2^10, so the
   result is within dim × 2^(12 - precision). */
static void cut(mpfr_t at, const posenc_problem *problem, double rotations) {
  mpfr_t log_base, original;
  mpfr_init2(log_base, mpfr_get_prec(at));
  mpfr_init2(original, 64);
  mpfr_set_sj(original, problem->scaling.original, MPFR_RNDN);
  mpfr_const_pi(at, MPFR_RNDN);
  mpfr_mul_d(at, at, rotations, MPFR_RNDN);
  mpfr_mul_2ui(at, at, 1, MPFR_RNDN);
  mpfr_div(at, original, at, MPFR_RNDN);
  mpfr_log(at, at, MPFR_RNDN);
  integer_times(at, at, problem->dim);
  scaling_log_base(log_base, problem);
  mpfr_mul_2ui(log_base, log_base, 1, MPFR_RNDN);
  mpfr_div(at, at, log_base, MPFR_RNDN);
  mpfr_clears(log_base, original, (mpfr_ptr)0);
}

/* Rounds x, known within 2^error, down or up to an integer; returns false if the error leaves a choice. */
static bool to_integer(mpfr_t x, bool up, mpfr_exp_t error) {
  mpfr_t slack, other;
  mpfr_inits2(mpfr_get_prec(x), slack, other, (mpfr_ptr)0);
  mpfr_set_ui_2exp(slack, 1, error, MPFR_RNDN);
  mpfr_add(other, x, slack, MPFR_RNDU);
  mpfr_sub(x, x, slack, MPFR_RNDD);
  mpfr_rint(x, x, up ? MPFR_RNDU : MPFR_RNDD);
  mpfr_rint(other, other, up ? MPFR_RNDU : MPFR_RNDD);
  const bool decided = mpfr_equal_p(x, other);
  mpfr_clears(slack, other, (mpfr_ptr)0);
  return decided;
}

/* Sets an edge to max(0, cut(high)) or min(dim - 1, cut(low)). Returns false if that takes more precision. Some
   precision is enough, since a cut is never an integer: otherwise π would be algebraic. */
static bool set_edge(ramp_edge *e, const posenc_problem *problem, bool upper, mpfr_exp_t error) {
  const posenc_scaling *how = &problem->scaling;
  const long clamp = upper ? (long)(problem->dim - 1) : 0;
  cut(e->at, problem, upper ? how->low : how->high);
  if (how->truncate && !to_integer(e->at, upper, error)) return false;
  mpfr_t beyond;
  mpfr_init2(beyond, mpfr_get_prec(e->at));
  mpfr_sub_si(beyond, e->at, clamp, MPFR_RNDN);
  const bool decided = how->truncate || is_known(beyond, error, 0);
  const bool is_beyond = upper ? mpfr_sgn(beyond) > 0 : mpfr_sgn(beyond) < 0;
  mpfr_clear(beyond);
  if (is_beyond) mpfr_set_si(e->at, clamp, MPFR_RNDN);
  e->exact = how->truncate || is_beyond;
  return decided;
}

void yarn_ramp_init(yarn_ramp *ramp, mpfr_prec_t precision, const posenc_problem *problem) {
  mpfr_t dim;
  mpfr_inits2(precision, ramp->from.at, ramp->to.at, dim, (mpfr_ptr)0);
  mpfr_set_sj(dim, problem->dim, MPFR_RNDN);
  const mpfr_exp_t error = mpfr_get_exp(dim) + 13 - precision;
  ramp->is_known = set_edge(&ramp->from, problem, false, error) && set_edge(&ramp->to, problem, true, error);
  if (ramp->is_known && mpfr_equal_p(ramp->from.at, ramp->to.at)) {
    mpfr_set_ui(dim, 1, MPFR_RNDN);
    mpfr_div_ui(dim, dim, 1000, MPFR_RNDN);
    mpfr_add(ramp->to.at, ramp->to.at, dim, MPFR_RNDN);
  }
  mpfr_clear(dim);
}

void yarn_ramp_clear(yarn_ramp *ramp) {
  mpfr_clears(ramp->from.at, ramp->to.at, (mpfr_ptr)0);
}

/* Scales w by YaRN's formula, with u = b - i and v = i - a for a ramp from a to b. If b < a, because N is so small that
   no column turns, the ramp (i - a)/(b - a) goes down: both change their sign. */
static bool yarn_along(const yarn_ramp *ramp, mpfr_t w, mpfr_prec_t bits, const posenc_problem *problem,
                       int64_t index) {
  const ramp_edge *a = &ramp->from, *b = &ramp->to;
  const mpfr_prec_t precision = mpfr_get_prec(w);
  mpfr_t u, v;
  if (!ramp->is_known) return false;
  mpfr_inits2(precision, u, v, (mpfr_ptr)0);
  mpfr_set_sj(u, problem->dim, MPFR_RNDN);
  const mpfr_exp_t error = mpfr_get_exp(u) + 13 - precision;
  mpfr_sub_si(u, b->at, (long)index, MPFR_RNDN);
  mpfr_si_sub(v, (long)index, a->at, MPFR_RNDN);
  if (mpfr_less_p(b->at, a->at)) {
    mpfr_neg(u, u, MPFR_RNDN);
    mpfr_neg(v, v, MPFR_RNDN);
  }
  const bool enough = (a->exact || is_known(v, error, bits)) && (b->exact || is_known(u, error, bits));
  if (enough) blend(w, u, v, problem->scaling.factor);
  mpfr_clears(u, v, (mpfr_ptr)0);
  return enough;
}

static bool yarn(mpfr_t w, mpfr_prec_t bits, const posenc_problem *problem, int64_t index, const yarn_ramp *ramp) {
  yarn_ramp own;
  if (ramp) return yarn_along(ramp, w, bits, problem, index);
  yarn_ramp_init(&own, mpfr_get_prec(w), problem);
  const bool enough = yarn_along(&own, w, bits, problem, index);
  yarn_ramp_clear(&own);
  return enough;
}

/* ---- frequencies --------------------------------------------------------------------------------- */

/* The base is base (s n/N - (s - 1))^(dim/(dim - 2)). The sum is computed as 1 + s (n - N)/N, without negative
   terms. */
void scaling_log_base(mpfr_t log_base, const posenc_problem *problem) {
  const posenc_scaling *how = &problem->scaling;
  mpfr_set_d(log_base, problem->base, MPFR_RNDN);
  mpfr_log(log_base, log_base, MPFR_RNDN);
  if (how->kind != POSENC_SCALING_DYNAMIC || how->length <= (double)how->original) return;
  mpfr_t grown;
  mpfr_init2(grown, mpfr_get_prec(log_base));
  mpfr_set_d(grown, how->length - (double)how->original, MPFR_RNDN);
  mpfr_mul_d(grown, grown, how->factor, MPFR_RNDN);
  integer_divides(grown, grown, how->original);
  mpfr_log1p(grown, grown, MPFR_RNDN);
  integer_times(grown, grown, problem->dim);
  integer_divides(grown, grown, problem->dim - 2);
  mpfr_add(log_base, log_base, grown, MPFR_RNDN);
  mpfr_clear(grown);
}

bool scaling_frequency(mpfr_t w, mpfr_prec_t bits, const posenc_problem *problem, int64_t index,
                       const yarn_ramp *ramp) {
  const posenc_scaling *how = &problem->scaling;
  bool enough = true;
  switch (how->kind) {
  case POSENC_SCALING_NONE:
  case POSENC_SCALING_DYNAMIC:
    break;
  case POSENC_SCALING_LINEAR:
    mpfr_div_d(w, w, how->factor, MPFR_RNDN);
    break;
  case POSENC_SCALING_YARN:
    enough = yarn(w, bits, problem, index, ramp);
    break;
  case POSENC_SCALING_LLAMA3:
    enough = llama3(w, bits, how);
    break;
  case POSENC_SCALING_LONGROPE:
    mpfr_div_d(w, w, how->factors[index], MPFR_RNDN);
    break;
  }
  mpfr_mul_d(w, w, problem->scale, MPFR_RNDN);
  return enough;
}

/* ---- attention ----------------------------------------------------------------------------------- */

/*
 * Computes sqrt(1 + ln s / ln N). This is a double c only if s = N^(c² - 1); otherwise it is neither a double nor a
 * midpoint of doubles. For a c with so few bits, c² - 1 is an integer, or p / 2^k with an odd p, and N^(p / 2^k) is
 * rational only if N is a 2^k-th power. As N < 2^64, k is at most 5.
 */
static bool longrope_attention(mpfr_t factor, double s, int64_t n) {
  enum { DENOMINATOR = 32, BITS = 53 * DENOMINATOR };
  mpfr_t log_n, power, other;
  mpfr_inits2(mpfr_get_prec(factor), log_n, (mpfr_ptr)0);
  mpfr_inits2(BITS, power, other, (mpfr_ptr)0);
  mpfr_set_d(factor, s, MPFR_RNDN);
  mpfr_log(factor, factor, MPFR_RNDN);
  mpfr_set_sj(log_n, n, MPFR_RNDN);
  mpfr_log(log_n, log_n, MPFR_RNDN);
  mpfr_div(factor, factor, log_n, MPFR_RNDN);
  mpfr_add_ui(factor, factor, 1, MPFR_RNDN);
  mpfr_sqrt(factor, factor, MPFR_RNDN);

  const double c = mpfr_get_d(factor, MPFR_RNDN);
  mpfr_set_d(power, c, MPFR_RNDN);
  mpfr_sqr(power, power, MPFR_RNDN); /* this and the next two are exact */
  mpfr_sub_ui(power, power, 1, MPFR_RNDN);
  mpfr_mul_ui(power, power, DENOMINATOR, MPFR_RNDN);
  bool exact = mpfr_integer_p(power) && mpfr_fits_ulong_p(power, MPFR_RNDN);
  if (exact) {
    const unsigned long exponent = mpfr_get_ui(power, MPFR_RNDN);
    mpfr_set_sj(power, n, MPFR_RNDN);
    mpfr_set_d(other, s, MPFR_RNDN);
    mpfr_pow_ui(other, other, DENOMINATOR, MPFR_RNDN); /* exact */
    exact = mpfr_pow_ui(power, power, exponent, MPFR_RNDN) == 0 && mpfr_equal_p(power, other);
  }
  if (exact) mpfr_set_d(factor, c, MPFR_RNDN);
  mpfr_clears(log_n, power, other, (mpfr_ptr)0);
  return exact;
}

bool scaling_attention(mpfr_t factor, const posenc_problem *problem) {
  const posenc_scaling *how = &problem->scaling;
  if (how->attention > 0.0) {
    mpfr_set_d(factor, how->attention, MPFR_RNDN);
    return true;
  }
  if (how->kind == POSENC_SCALING_YARN && how->factor > 1.0) {
    /* The logarithm of a rational number other than 1 is transcendental. */
    mpfr_set_d(factor, how->factor, MPFR_RNDN);
    mpfr_log(factor, factor, MPFR_RNDN);
    mpfr_div_ui(factor, factor, 10, MPFR_RNDN);
    mpfr_add_ui(factor, factor, 1, MPFR_RNDN);
    return false;
  }
  if (how->kind == POSENC_SCALING_LONGROPE && how->factor > 1.0)
    return longrope_attention(factor, how->factor, how->original);
  mpfr_set_ui(factor, 1, MPFR_RNDN);
  return true;
}

double attention_of(const posenc_problem *problem) {
  mpfr_t factor;
  mpfr_init2(factor, 128);
  scaling_attention(factor, problem);
  const double nearest = mpfr_get_d(factor, MPFR_RNDN);
  mpfr_clear(factor);
  return nearest;
}

bool attention_is_one(const posenc_problem *problem) {
  mpfr_t factor;
  mpfr_init2(factor, 128);
  scaling_attention(factor, problem);
  const bool is_one = mpfr_cmp_ui(factor, 1) == 0;
  mpfr_clear(factor);
  return is_one;
}
