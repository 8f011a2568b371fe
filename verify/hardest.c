/* SPDX-License-Identifier: MIT */
#include "verify/checks.h"

#include "common/contract.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* The elements sampled in a round; the multiples of a return that are tried at a time; and the failed moves after which
   a climb ends. */
enum { SAMPLES = 16, MULTIPLES = 64, PATIENCE = 48 };

typedef struct search_state {
  subject *subject;
  const posenc_plan *plan; /* for positions 0 .. SEARCH_REACH */
  oracle *reference;
  arena *arena;
  uint64_t *random;
  int64_t left; /* evaluations left */
  searched *result;
} search_state;

/* A pair that was evaluated. */
typedef struct spot {
  int64_t position, index;
  exact_pair exact;
  double from_midpoint; /* distance from a midpoint in ulp, the smaller one of the pair */
  double share;         /* error divided by bound, the larger one of the pair */
} spot;

/* ---- evaluation ---------------------------------------------------------------------------------- */

static void add(search_state *h, spot *at, accuracy *pair, bool cosine, double got) {
  const format *f = oracle_format(h->reference);
  const exact *value = cosine ? &at->exact.cosine : &at->exact.sine;
  const element_error error =
      accuracy_count(pair, f, &h->subject->bound, value, got, (element_place){at->position, at->index, cosine});
  const double from_midpoint = format_from_midpoint(f, value);
  at->from_midpoint = fmin(at->from_midpoint, from_midpoint);
  if (from_midpoint >= h->result->from_midpoint) return;
  h->result->from_midpoint = from_midpoint;
  h->result->nearest = (witness){error.ulp, error.abs, at->position, at->index, cosine, value->high, value->low, got};
}

static spot look(search_state *h, int64_t position, int64_t index) {
  char doing[80];
  snprintf(doing, sizeof doing, "searching at position %" PRId64, position);
  isolate_say(doing, 1.0);
  spot at = {position, index, oracle_pair(h->reference, position, index), INFINITY, 0.0};
  const table_pair got = subject_pair(h->subject, h->plan, position, index, h->arena);
  accuracy pair = {.elements = 0};
  add(h, &at, &pair, false, got.sine);
  add(h, &at, &pair, true, got.cosine);
  accuracy_merge(&h->result->found, &pair);
  at.share = pair.worst_share;
  h->left--;
  return at;
}

/* Draws an element. Every binade of positions is equally likely. */
static spot draw_spot(search_state *h) {
  const int64_t reach = h->result->reach, pairs = h->subject->shape->problem.dim / 2;
  int binades = 1;
  while (reach >> binades) binades++;
  const int64_t from = INT64_C(1) << random_below(h->random, (uint64_t)binades),
                count = from <= reach - from ? from : reach - from + 1;
  const int64_t position = from + (int64_t)random_below(h->random, (uint64_t)count);
  return look(h, position, (int64_t)random_below(h->random, (uint64_t)pairs));
}

/* ---- towards midpoints --------------------------------------------------------------------------- */

static fast_value value_of(const exact *e) {
  return (fast_value){e->high, e->low};
}

static fast_pair pair_of(const exact_pair *p) {
  return (fast_pair){value_of(&p->sine), value_of(&p->cosine)};
}

static fast_pair backwards(fast_pair p) {
  p.sine = (fast_value){-p.sine.high, -p.sine.low};
  return p;
}

static double from_midpoint(const format *f, const fast_pair *p) {
  const exact sine = {p->sine.high, p->sine.low, 0.0}, cosine = {p->cosine.high, p->cosine.low, 0.0};
  return fmin(format_from_midpoint(f, &sine), format_from_midpoint(f, &cosine));
}

/* A position, and its expected distance to a midpoint. */
typedef struct landing {
  int64_t position;
  double from_midpoint;
} landing;

/* Finds the position p + q, p + 2q … (decreasing for q < 0) that is nearest to a midpoint, if it is nearer than `best`.
   `turn`: the rotation of the pair by q positions. */
static void land(const search_state *h, const spot *from, int64_t q, const fast_pair *turn, landing *best) {
  fast_pair now = pair_of(&from->exact);
  int64_t position = from->position;
  for (int n = 0; n < MULTIPLES; n++) {
    if (q > 0 ? position > h->result->reach - q : position <= -q) return;
    position += q;
    now = fast_rotate(&now, turn);
    const double there = from_midpoint(oracle_format(h->reference), &now);
    if (there < best->from_midpoint) *best = (landing){position, there};
  }
}

/*
 * Moves by multiples of the frequency's returns until no move is nearer to a midpoint. Each return changes the angle by
 * a small known amount, so the value at the new position is known within 64 × 10 × 2^-106 before it is computed.
 */
static void approach_midpoint(search_state *h, spot at) {
  int64_t returns[ORACLE_RETURNS];
  fast_pair turns[ORACLE_RETURNS];
  const size_t count = oracle_returns(h->reference, at.index, h->result->reach, returns);
  for (size_t i = 0; i < count; i++) {
    const exact_pair turn = oracle_rotation(h->reference, returns[i], at.index);
    turns[i] = pair_of(&turn);
  }
  while (h->left > 0) {
    landing best = {0, at.from_midpoint};
    for (size_t i = 0; i < count; i++) {
      const fast_pair back = backwards(turns[i]);
      land(h, &at, returns[i], &turns[i], &best);
      land(h, &at, -returns[i], &back, &best);
    }
    if (!best.position) return;
    at = look(h, best.position, at.index);
  }
}

/* ---- towards large errors ------------------------------------------------------------------------ */

/* Flips a bit of the position, or moves a few positions. The result may be out of reach. */
static int64_t neighbour(uint64_t *random, int64_t position) {
  const int64_t few = 1 + (int64_t)random_below(random, 8);
  switch (random_below(random, 4)) {
  case 0:
    return position + few;
  case 1:
    return position - few;
  default:
    return position ^ INT64_C(1) << random_below(random, 41);
  }
}

static void climb_to_error(search_state *h, spot at) {
  for (int failed = 0; failed < PATIENCE && h->left > 0; failed++) {
    const int64_t position = neighbour(h->random, at.position);
    if (position < 1 || position > h->result->reach) continue;
    const spot there = look(h, position, at.index);
    if (!(there.share > at.share)) continue;
    at = there;
    failed = 0;
  }
}

/* ---- the search ---------------------------------------------------------------------------------- */

static void search_round(search_state *h) {
  spot nearest = draw_spot(h), worst = nearest;
  for (int n = 1; n < SAMPLES && h->left > 0; n++) {
    const spot one = draw_spot(h);
    if (one.from_midpoint < nearest.from_midpoint) nearest = one;
    if (one.share > worst.share) worst = one;
  }
  approach_midpoint(h, nearest);
  climb_to_error(h, worst);
}

/* Returns the last position at which the bound, which may grow with the position, holds and excludes some values; 0 if
   there is none. */
static int64_t reach_of(const subject *s) {
  int64_t reach = 0;
  for (int64_t step = SEARCH_REACH; step; step /= 2) {
    const int64_t next = reach + step;
    if (next <= SEARCH_REACH && subject_is_bound(s, next) &&
        posenc_bound_at(&s->most, s->shape->problem.dtype, next) < s->attention)
      reach = next;
  }
  return reach;
}

static void conclude(check *c, const searched *r) {
  const witness *at = &r->found.worst;
  check_bound(c, &r->found);
  int used = 0;
  if (c->broken)
    used = snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " beyond the bound; ", c->broken, c->compared);
  snprintf(c->note + used, sizeof c->note - (size_t)used,
           "the worst at p = %" PRId64 ", i = %" PRId64 ", %s; nearest to a midpoint: %.3g ulp at p = %" PRId64
           ", i = %" PRId64 ", %s",
           at->position, at->index, at->cosine ? "cos" : "sin", r->from_midpoint, r->nearest.position, r->nearest.index,
           r->nearest.cosine ? "cos" : "sin");
}

/* Returns the reason why there is nothing to search, or null. */
static const char *no_search(const subject *s, int64_t evaluations, int64_t reach, const posenc_problem *far) {
  posenc_options options = *s->options;
  options.kernel = s->kernel;
  if (evaluations == 0) return "not asked for";
  if (bound_is_none(&s->kernel->bound)) return CONTRACT_WITHOUT_BOUND;
  if (s->shape->problem.base < 1.0) return "the bound is for base >= 1";
  if (reach == 0) return "the bound allows any value everywhere";
  return posenc_kernel_refusal(s->kernel, far, &options);
}

void subject_search(subject *s, int64_t evaluations, arena *a, uint64_t *random, searched *result) {
  check *c = &s->checks[SEARCH];
  posenc_problem far = s->shape->problem;
  far.first = 0;
  /* The problem reaches SEARCH_REACH even if the bound ends earlier: a kernel that computes each row from position 0
     refuses it, and would take years for it. */
  far.rows = SEARCH_REACH + 1;
  far.padding = POSENC_NO_PADDING;
  *result = (searched){.reach = reach_of(s), .from_midpoint = INFINITY};
  c->skip = no_search(s, evaluations, result->reach, &far);
  if (c->skip) return;

  posenc_plan *plan;
  const posenc_status status = subject_plan(s, &far, &plan);
  if (status != POSENC_OK) {
    c->skip = status == POSENC_OUT_OF_MEMORY ? "its plan for so many positions does not fit in memory"
                                             : posenc_status_message(status);
    return;
  }
  oracle *reference = allocated(oracle_create(&far));
  search_state h = {s, plan, reference, a, random, evaluations, result};
  while (h.left > 0) search_round(&h);
  conclude(c, result);
  oracle_destroy(reference);
  subject_drop(plan);
}
