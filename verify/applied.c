/* SPDX-License-Identifier: MIT */
#include "verify/applied.h"

#include "common/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const posenc_problem *problem_of(const applied *a) {
  return &a->s->shape->problem;
}

bool applied_open(applied *a, int64_t rows, size_t bytes) {
  *a = (applied){.x = arena_create(bytes), .one = arena_create(bytes), .other = arena_create(bytes)};
  a->lists = arena_create(APPLIED_LIST * sizeof(int64_t));
  a->drawn = malloc(bytes);
  a->sums = calloc((size_t)rows, sizeof *a->sums);
  a->digests = calloc((size_t)rows, sizeof *a->digests);
  return a->x && a->one && a->other && a->lists && a->drawn && a->sums && a->digests;
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

bool applied_begin(applied *a, subject *s, uint64_t seed, fast_oracle *reference) {
  s->checks[SEARCH].skip = "the search is one of tables";
  a->s = s;
  a->elements = 0;
  a->allowed.known = false;
  return operand_open(&a->operand, &s->shape->problem, seed, reference);
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

const posenc_bound *applied_claim(const applied *a, int64_t position) {
  return !subject_no_claim(a->s) && subject_claims(a->s, applied_bounded(a, position)) ? &a->s->applied : NULL;
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
                                 .bound = applied_claim(a, position),
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
pair pair_at(const posenc_problem *problem, const unsigned char *row, int64_t head, int64_t i) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t from = head * problem->dim + i * at.step;
  return (pair){format_element(problem->dtype, row, from + at.sin), format_element(problem->dtype, row, from + at.cos)};
}

double pair_length(pair p) {
  return sqrt(p.first * p.first + p.second * p.second);
}

void applied_each_pair(applied *a, window w, const unsigned char *x, const unsigned char *out, visit_pair *visit) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = row_bytes(problem);
  const int64_t half = problem->dim / 2;
  for (int64_t r = 0; r < w.rows; r++) {
    const int64_t position = problem->first + w.row + r;
    if (!applied_claim(a, position)) continue;
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
static void visit_norm(applied *a, int64_t position, int64_t index, pair given, pair got) {
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
