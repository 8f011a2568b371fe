/* SPDX-License-Identifier: MIT */
#include "reference/split.h"

#include "reference/integer.h"

/* Bits after the binary point of sines, cosines and angles. The difference of two sines is then within 2^-194. */
enum { BITS = 196 };

/* The temporaries of one thread: the angles p w, p F and P with their sines and cosines, and one more number. */
enum { EXACT, OF_FREQUENCY, OF_PHASE, ANGLES };
typedef struct workspace {
  mpfr_t angle[ANGLES], sine[ANGLES], cosine[ANGLES], rest;
} workspace;

static void workspace_init(workspace *w) {
  for (int a = 0; a < ANGLES; a++) mpfr_inits2(BITS, w->angle[a], w->sine[a], w->cosine[a], (mpfr_ptr)0);
  mpfr_init2(w->rest, BITS);
}

static void workspace_clear(workspace *w) {
  for (int a = 0; a < ANGLES; a++) mpfr_clears(w->angle[a], w->sine[a], w->cosine[a], (mpfr_ptr)0);
  mpfr_clear(w->rest);
}

static void set_sum(mpfr_t x, posenc_sum sum) {
  mpfr_set_d(x, sum.high, MPFR_RNDN);
  mpfr_add_d(x, x, sum.low, MPFR_RNDN);
}

/* Sets the precisions and angles of a case. Angles need bits for their whole turns: |p w| < 2^(64 + the exponent of w),
   and the other angles are like it if they are near. */
static void set_angles(workspace *w, const oracle *o, const split_case *c) {
  oracle_frequency(o, c->at.index, w->rest);
  const mpfr_exp_t whole = mpfr_get_exp(w->rest) + 64;
  for (int a = 0; a < ANGLES; a++) mpfr_set_prec(w->angle[a], BITS + (whole > 0 ? whole : 0));
  oracle_frequency(o, c->at.index, w->angle[EXACT]);
  set_sum(w->angle[OF_FREQUENCY], c->stages.frequency);
  set_sum(w->angle[OF_PHASE], c->stages.phase);
  integer_times(w->angle[EXACT], w->angle[EXACT], c->at.position);
  integer_times(w->angle[OF_FREQUENCY], w->angle[OF_FREQUENCY], c->at.position);
}

static double difference(workspace *w, const mpfr_t a, const mpfr_t b) {
  mpfr_sub(w->rest, a, b, MPFR_RNDN);
  return mpfr_get_d(w->rest, MPFR_RNDN);
}

static split_parts parts_of(workspace *w, mpfr_t *of, posenc_sum value, double got) {
  split_parts parts = {.frequency = difference(w, of[OF_FREQUENCY], of[EXACT]),
                       .phase = difference(w, of[OF_PHASE], of[OF_FREQUENCY]),
                       .store = (got - value.high) - value.low};
  mpfr_d_sub(w->rest, value.high, of[OF_PHASE], MPFR_RNDN);
  mpfr_add_d(w->rest, w->rest, value.low, MPFR_RNDN);
  parts.trig = mpfr_get_d(w->rest, MPFR_RNDN);
  return parts;
}

static split_pair split(workspace *w, const oracle *o, const split_case *c) {
  set_angles(w, o, c);
  for (int a = 0; a < ANGLES; a++) mpfr_sin_cos(w->sine[a], w->cosine[a], w->angle[a], MPFR_RNDN);
  return (split_pair){parts_of(w, w->sine, c->stages.sine, c->sine),
                      parts_of(w, w->cosine, c->stages.cosine, c->cosine)};
}

void split_errors(const oracle *o, const split_case *cases, size_t count, split_pair *pairs) {
#pragma omp parallel if (count > 16)
  {
    workspace w;
    workspace_init(&w);
#pragma omp for schedule(dynamic, 16)
    for (size_t i = 0; i < count; i++) pairs[i] = split(&w, o, &cases[i]);
    workspace_clear(&w);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
  }
}
