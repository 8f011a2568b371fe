/* SPDX-License-Identifier: MIT */
#include "verify/applied.h"

#include "common/clock.h"
#include "common/memory.h"
#include "common/random.h"
#include "common/threads.h"
#include "reference/vectors.h"
#include "verify/property.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- x -------------------------------------------------------------------------------------------------------- */

/*
 * x of add and rope: random numbers, each of which depends only on its row and its place in the row, so that it can be
 * computed again. Their size is about 1, except in every 17th row, which is not plain: there they are huge, tiny, zero
 * of either sign, or nearly cancel the table.
 */

void operand_open(operand *o, const posenc_problem *problem, uint64_t seed, fast_oracle *reference) {
  *o = (operand){.problem = problem, .threads = threads_most(), .seed = seed};
  if (problem->axes) {
    o->places = memory_take((size_t)o->threads, sizeof(*o->places));
    for (int n = 0; n < o->threads; n++) o->places[n] = allocated(axes_reference_create(o->problem));
    return;
  }
  o->reference = reference ? reference : allocated(fast_create(problem, 0));
  o->borrowed = reference;
  o->lanes = allocated(aligned_alloc(64, (size_t)(o->threads * fast_groups(o->reference)) * sizeof *o->lanes));
}

static void operand_close(operand *o) {
  for (int n = 0; o->places && n < o->threads; n++) axes_reference_destroy(o->places[n]);
  free(o->places);
  if (!o->borrowed) fast_destroy(o->reference);
  free(o->lanes);
}

int64_t operand_move(operand *o, int64_t position) {
  return o->places ? INT64_C(1) << 40 : fast_move(o->reference, position);
}

const fast_lanes *operand_pairs(const operand *o, int64_t position) {
  if (o->places) return axes_reference_lanes(o->places[threads_this()], position);
  fast_lanes *mine = o->lanes + threads_this() * fast_groups(o->reference);
  fast_lanes_of(o->reference, position, mine);
  return mine;
}

const fast_lanes *operand_apart(operand *o, int64_t position, int64_t from) {
  if (o->places) return axes_reference_apart(o->places[threads_this()], position, from);
  operand_move(o, position - from);
  return operand_pairs(o, position - from);
}

/* Fewer rows than this are drawn by one thread. */
enum { FEW_ROWS = 64 };

/* One row in 17 is hard, since no block or vector has that period. */
enum { PERIOD = 17 };

static bool operand_is_plain(int64_t row) {
  return row % PERIOD != PERIOD - 1;
}

/* The finaliser of MurmurHash3 (Appleby, 2011). */
INLINE uint32_t mixed(uint32_t h) {
  h = (h ^ (h >> 16)) * UINT32_C(0x85ebca6b);
  h = (h ^ (h >> 13)) * UINT32_C(0xc2b2ae35);
  return h ^ (h >> 16);
}

/* Returns the sum of two uniform numbers, with variance 1. */
INLINE float plain_x(uint32_t key, uint32_t column) {
  const uint32_t one = mixed(key ^ (column * UINT32_C(0x9e3779b1))), other = mixed(one + UINT32_C(0x7f4a7c15));
  return ((float)(int32_t)one + (float)(int32_t)other) * 0x1.397p-31f;
}

/* Returns the number of the dtype that is `steps` numbers farther from zero than the one nearest to x. */
static float stepped(posenc_dtype dtype, double x, int steps) {
  const float nearest = (float)(dtype == POSENC_BF16 ? format_nearest(&format_bf16, x) : x);
  uint32_t bits;
  memcpy(&bits, &nearest, sizeof bits);
  bits += (uint32_t)(steps * (dtype == POSENC_BF16 ? 1 << 16 : 1));
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* Makes a pair that is hard in one of several ways. In the last ways the result cancels: x is -PE or a neighbour of it;
   in rope, x is rotated to (0, 1). */
static void hard_pair(const posenc_problem *problem, uint32_t key, double sine, double cosine, float *first,
                      float *second) {
  const float plain = plain_x(key, 1), other = plain_x(key, 2);
  const int steps = (int)(key >> 8) % 4;
  *first = plain;
  *second = other;
  switch (key % 8) {
  case 0:
    *first = plain * 1e20f;
    *second = other * 1e20f;
    break;
  case 1:
    *first = plain * 1e-20f;
    *second = other * 1e-20f;
    break;
  case 2:
    *first = 0.0f;
    break;
  case 3:
    *second = -0.0f;
    break;
  case 4:
    *first = plain * 1e20f;
    *second = other * 1e-20f;
    break;
  case 5:
    *first = plain * 0x1p-140f; /* subnormal */
    *second = other * 0x1p-140f;
    break;
  default:
    *first = problem->op == POSENC_ADD ? stepped(problem->dtype, -sine, steps) : stepped(problem->dtype, sine, steps);
    *second = problem->op == POSENC_ADD ? stepped(problem->dtype, -cosine, steps)
                                        : stepped(problem->dtype, problem->inverse ? -cosine : cosine, 0);
  }
}

/* Truncates to bf16; any rounding would do. */
INLINE uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}

void operand_store(posenc_dtype dtype, void *x, int64_t at, float value) {
  if (dtype == POSENC_F32)
    ((float *)x)[at] = value;
  else
    ((uint16_t *)x)[at] = to_bf16(value);
}

/* Draws a plain row. Products are rounded before they are added, and the rest is integers, so that all instruction sets
   draw the same numbers. */
INLINE void draw_plain(posenc_dtype dtype, int64_t width, uint32_t key, void *x) {
  if (dtype == POSENC_F32) {
#pragma omp simd
    for (int64_t j = 0; j < width; j++) ((float *)x)[j] = plain_x(key, (uint32_t)j);
  } else {
#pragma omp simd
    for (int64_t j = 0; j < width; j++) ((uint16_t *)x)[j] = to_bf16(plain_x(key, (uint32_t)j));
  }
}

typedef void draw_row(posenc_dtype dtype, int64_t width, uint32_t key, void *x);
#define DRAW(name, attributes, fused)                                                                                  \
  attributes static void draw_plain_##name(posenc_dtype dtype, int64_t width, uint32_t key, void *x) {                 \
    draw_plain(dtype, width, key, x);                                                                                  \
  }
EACH_TIER(DRAW)

#define DRAW_ENTRY(name, attributes, fused) [TIER_##name] = draw_plain_##name,
static draw_row *const draws[] = {EACH_TIER(DRAW_ENTRY)};

static void draw_hard_row(const posenc_problem *problem, uint32_t key, const fast_lanes *exact_pairs, void *x) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  for (int64_t head = 0; head < problem->heads; head++)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const int64_t from = head * problem->dim + i * at.step, k = i % FAST_LANES;
      const fast_lanes *group = &exact_pairs[i / FAST_LANES];
      float first, second;
      hard_pair(problem, mixed(key ^ (uint32_t)from), group->sin_high[k], group->cos_high[k], &first, &second);
      operand_store(problem->dtype, x, from + at.sin, first);
      operand_store(problem->dtype, x, from + at.cos, second);
    }
}

static uint32_t key_of(const operand *o, int64_t row, int64_t sequence) {
  uint64_t state = o->seed ^ (uint64_t)row ^ (uint64_t)sequence << 48;
  return (uint32_t)random_below(&state, UINT64_C(1) << 32);
}

/* Draws rows. Hard rows need exact pairs, so the reference moves with them. */
void operand_draw(operand *o, int64_t row, int64_t rows, int64_t sequence, unsigned char *x) {
  const posenc_problem *problem = o->problem;
  const size_t bytes = row_bytes(problem);
  const int64_t end = row + rows;
  draw_row *const draw = draws[tier_for(0)];
#pragma omp parallel for schedule(static) if (rows > FEW_ROWS)
  for (int64_t r = row; r < end; r++)
    if (operand_is_plain(r))
      draw(problem->dtype, row_width(problem), key_of(o, r, sequence), x + bytes * (size_t)(r - row));
  for (int64_t from = row + (PERIOD - 1 - row % PERIOD), to; from < end; from = to) {
    const int64_t reach = operand_move(o, problem->first + from);
    to = from + (reach - 1) / PERIOD * PERIOD + PERIOD;
#pragma omp parallel for schedule(static) num_threads(o->threads) if (rows > FEW_ROWS)
    for (int64_t r = from; r < least(to, end); r += PERIOD)
      draw_hard_row(problem, key_of(o, r, sequence), operand_pairs(o, problem->first + r),
                    x + bytes * (size_t)(r - row));
  }
}

static const posenc_problem *problem_of(const applied *a) {
  return &a->s->shape->problem;
}

void applied_open(applied *a, int64_t rows, size_t bytes) {
  *a = (applied){.x = arena_create(bytes), .one = arena_create(bytes), .other = arena_create(bytes)};
  a->lists = arena_create(APPLIED_LIST * sizeof(int64_t));
  a->drawn = memory_grow(NULL, bytes, 1);
  a->sums = memory_take((size_t)rows, sizeof *a->sums);
  a->digests = memory_take((size_t)rows, sizeof *a->digests);
}

void applied_close(applied *a) {
  arena_destroy(a->x);
  arena_destroy(a->one);
  arena_destroy(a->other);
  arena_destroy(a->lists);
  free(a->drawn);
  free(a->sums);
  free(a->digests);
}

void applied_begin(applied *a, subject *s, uint64_t seed, fast_oracle *reference) {
  s->checks[SEARCH].skip = "the search is one of tables";
  a->s = s;
  a->elements = 0;
  a->allowed.known = false;
  operand_open(&a->operand, &s->shape->problem, seed, reference);
}

void applied_end(applied *a) {
  operand_close(&a->operand);
}

applied_x applied_x_of(applied *a, const witness *w) {
  const posenc_problem *problem = problem_of(a);
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t half = problem->dim / 2, from = w->index / half * problem->dim + w->index % half * at.step;
  unsigned char *x = arena_place(a->x, row_bytes(problem), false);
  if (problem->rows) operand_draw(&a->operand, w->position - problem->first, 1, 0, x);
  return (applied_x){format_element(problem->dtype, x, from + at.sin),
                     format_element(problem->dtype, x, from + at.cos)};
}

int64_t applied_bounded(const applied *a, int64_t position) {
  const posenc_axes *axes = problem_of(a)->axes;
  return axes ? axes_farthest(axes, position) : position;
}

const posenc_bound *applied_bound(const applied *a, int64_t position) {
  return !subject_unbound(a->s) && subject_is_bound(a->s, applied_bounded(a, position)) ? &a->s->applied : NULL;
}

/* ---- accuracy -------------------------------------------------------------------------------------------------- */

/* Compares every element with the exact values, and digests the bits. Sums are made per row, so that they do not depend
   on the number of threads. */
static void check_accuracy(applied *a, window w, const unsigned char *x, const unsigned char *out) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = row_bytes(problem);
  subject *s = a->s;
  for (int64_t done = 0, count; done < w.rows; done += count) {
    const accuracy known = s->found;
    count = least(w.rows - done, operand_move(&a->operand, problem->first + w.row + done));
#pragma omp parallel num_threads(a->operand.threads)
    {
      accuracy mine = {0};
#pragma omp for schedule(dynamic, 8)
      for (int64_t r = done; r < done + count; r++) {
        const int64_t position = problem->first + w.row + r;
        const applied_row row = {.problem = problem,
                                 .bound = applied_bound(a, position),
                                 .position = position,
                                 .bounded = applied_bounded(a, position),
                                 .exact_pairs = operand_pairs(&a->operand, position),
                                 .x = x + bytes * (size_t)r,
                                 .got = out + bytes * (size_t)r,
                                 .attention = s->attention,
                                 .plain = operand_is_plain(w.row + r)};
        a->sums[r] = applied_check(&row, &known, &mine);
        a->digests[r] = digest_of(DIGEST_START, row.got, bytes);
      }
#pragma omp critical(applied_merge)
      accuracy_merge(&s->found, &mine);
    }
  }
  for (int64_t r = 0; r < w.rows; r++) {
    s->found.sum_ulp += a->sums[r].ulp;
    s->found.sum_abs += a->sums[r].abs;
    s->digest = digest_of(s->digest, (const unsigned char *)&a->digests[r], sizeof *a->digests);
  }
  a->elements += w.rows * row_width(problem);
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

double applied_pair_bound(const applied *a, int64_t position, double length) {
  return sqrt(2.0) *
         posenc_applied_bound_at(&a->s->applied, problem_of(a), applied_bounded(a, position), a->s->attention * length);
}

/* Returns a pair in a row of x, or of results. */
applied_pair pair_at(const posenc_problem *problem, const unsigned char *row, int64_t head, int64_t i) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t from = head * problem->dim + i * at.step;
  return (applied_pair){format_element(problem->dtype, row, from + at.sin),
                        format_element(problem->dtype, row, from + at.cos)};
}

double pair_length(applied_pair p) {
  return sqrt(p.first * p.first + p.second * p.second);
}

void applied_each_pair(applied *a, window w, const unsigned char *x, const unsigned char *out, visit_pair *visit) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = row_bytes(problem);
  const int64_t half = problem->dim / 2;
  for (int64_t r = 0; r < w.rows; r++) {
    const int64_t position = problem->first + w.row + r;
    if (!applied_bound(a, position)) continue;
    for (int64_t n = 0; n < problem->heads * half; n++)
      visit(a, position, n, pair_at(problem, x + bytes * (size_t)r, n / half, n % half),
            pair_at(problem, out + bytes * (size_t)r, n / half, n % half));
  }
}

/* Returns a number of at most applied_pair_bound, which takes far longer and is linear in the length except for
   roundings. */
static double least_pair_bound(applied *a, int64_t position, double length) {
  if (!a->allowed.known || a->allowed.position != position) {
    a->allowed.at_0 = applied_pair_bound(a, position, 0.0);
    a->allowed.per_length = applied_pair_bound(a, position, 1.0) - a->allowed.at_0;
    a->allowed.position = position;
    a->allowed.known = true;
  }
  return (a->allowed.at_0 + a->allowed.per_length * length) * (1.0 - 0x1p-40);
}

/* Checks the length of a pair. Few pairs can be the worst so far, and least_pair_bound, which is fast, rules out the
   others. */
static void visit_norm(applied *a, int64_t position, int64_t index, applied_pair given, applied_pair got) {
  check *c = &a->s->checks[PAIR_NORM];
  const double length = pair_length(given), wanted = a->s->attention * length,
               deviation = fabs(pair_length(got) - wanted), lower = least_pair_bound(a, position, length);
  if (c->compared && deviation <= lower && deviation <= c->share * lower)
    c->compared++;
  else
    check_note(c, deviation, applied_pair_bound(a, position, length) + 0x1p-50 * wanted, position, index);
}

/* ---- windows --------------------------------------------------------------------------------------------------- */

void applied_check_window(applied *a, window w, bool again, uint64_t *random) {
  const posenc_problem *problem = problem_of(a);
  const posenc_slice slice = posenc_rows(w.row, w.rows);
  const size_t bytes = row_bytes(problem) * (size_t)w.rows;
  unsigned char *x = arena_place(a->x, bytes, false);
  operand_draw(&a->operand, w.row, w.rows, 0, x);
  if (again) memcpy(a->drawn, x, bytes);
  const double start = clock_thread_seconds();
  const unsigned char *out = subject_run(a->s, a->s->plan, &slice, x, a->one, false);
  const window same = subject_again(w, clock_thread_seconds() - start);
  check_accuracy(a, w, x, out);
  if (!again) return;
  check_bits(&a->s->checks[IN_PLACE], problem, a->drawn, x, problem->first + w.row, w.rows);
  const window few = {w.row, least(w.rows, CHECKED_ROWS)};
  subject_check_again(a->s, same, x, out, a->other, random);
  const posenc_slice in_place = posenc_rows(same.row, same.rows);
  check_bits(&a->s->checks[IN_PLACE], problem, out, subject_run_in_place(a->s, &in_place, x, a->other),
             problem->first + same.row, same.rows);
  if (problem->op == POSENC_ROPE) applied_each_pair(a, few, x, out, visit_norm);
}

static void draw(void *argument, int64_t row, int64_t rows, unsigned char *x) {
  applied *a = argument;
  operand_draw(&a->operand, row, rows, 0, x);
}

void applied_check_threads(applied *a, bool again) {
  subject_check_threads(a->s, again, draw, a);
}
