/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/checks.h"

#include "common/clock.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/process.h"
#include "reference/format.h"

#include <math.h>
#include <stdlib.h>

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static inline __attribute__((always_inline)) row_norms
norms_of(const unsigned char *row, posenc_dtype dtype, posenc_columns at, int64_t step, int64_t pairs, double square) {
  double value = 0.0, norm = 0.0, nan = 0.0; /* nan: 0, or NaN if an element is, as a maximum ignores NaN */
#pragma omp simd reduction(max : value, norm) reduction(+ : nan)
  for (int64_t i = 0; i < pairs; i++) {
    const double sine = format_element(dtype, row, at.sin + i * step),
                 cosine = format_element(dtype, row, at.cos + i * step);
    const double larger = fabs(sine) > fabs(cosine) ? fabs(sine) : fabs(cosine);
    const double off = fabs(sine * sine + cosine * cosine - square);
    value = larger > value ? larger : value;
    norm = off > norm ? off : norm;
    nan += 0.0 * off;
  }
  return (row_norms){isnan(nan) ? (double)INFINITY : value, isnan(nan) ? (double)INFINITY : norm};
}

row_norms row_norms_of(const unsigned char *row, const posenc_problem *problem, posenc_columns at, double square) {
  const int64_t pairs = problem->dim / 2;
  switch (problem->dtype) {
  case POSENC_F32:
    return at.step == 2 ? norms_of(row, POSENC_F32, at, 2, pairs, square)
                        : norms_of(row, POSENC_F32, at, 1, pairs, square);
  case POSENC_F64:
    break;
  case POSENC_F16:
    return norms_of(row, POSENC_F16, at, at.step, pairs, square);
  case POSENC_BF16:
    return norms_of(row, POSENC_BF16, at, at.step, pairs, square);
  }
  return norms_of(row, POSENC_F64, at, at.step, pairs, square);
}

/*
 * Checks that elements are in [-1, 1]; a kernel without a bound may exceed this by its measured error. With an
 * attention factor a the interval is [-a, a], and any kernel may exceed it by its error, as a itself is rounded. Rows
 * are tested first, and elements one by one only where a row fails.
 */
static void check_values(const subject *s, window w, const unsigned char *out, const row_norms *norms,
                         row_checks *into) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const bool has_bound = !subject_unbound(s);
  check *bounded = &into->bounded, *pair_norm = &into->pair_norm;
  for (int64_t r = 0; r < w.rows; r++) {
    const int64_t position = problem->first + w.row + r;
    const unsigned char *row = out + row_bytes(problem) * (size_t)r;
    const double e = subject_allowed(s, position), a = s->attention, square = a * a,
                 most = s->kernel->bound.derived && a == 1.0 ? 1.0 : a + e, norm = allowed_norm(a, e);
    const bool held = has_bound && subject_is_bound(s, position) && !is_padding_row(problem, position);
    const row_norms found = norms[r];
    if (found.value <= most && (!held || found.norm <= norm)) {
      check_note_all(bounded, problem->dim, found.value, most, position);
      if (held) check_note_all(pair_norm, problem->dim / 2, found.norm, norm, position);
      continue;
    }
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const double sine = format_element(problem->dtype, row, at.sin + i * at.step);
      const double cosine = format_element(problem->dtype, row, at.cos + i * at.step);
      check_note(bounded, fabs(sine), most, position, i);
      check_note(bounded, fabs(cosine), most, position, i);
      if (held) check_note(pair_norm, fabs(sine * sine + cosine * cosine - square), norm, position, i);
    }
  }
}

void subject_check_each(const subject *s, window w, const unsigned char *out, row_checks *found, uint64_t *digests) {
  row_norms norms[ROWS_OF_CHECKS];
  const posenc_problem *problem = &s->shape->problem;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const size_t bytes = row_bytes(problem);
  for (int64_t r = 0; r < w.rows; r++) {
    norms[r] = row_norms_of(out + bytes * (size_t)r, problem, at, s->attention * s->attention);
    digests[r] = digest_of(DIGEST_START, out + bytes * (size_t)r, bytes, posenc_dtype_bytes(problem->dtype));
  }
  check_values(s, w, out, norms, found);
}

void subject_take_each(subject *s, const row_checks *found, const uint64_t *digests, int64_t rows) {
  check_merge(&s->checks[BOUNDED], &found->bounded);
  check_merge(&s->checks[PAIR_NORM], &found->pair_norm);
  s->digest = digest_of(s->digest, (const unsigned char *)digests, (size_t)rows * sizeof *digests, sizeof *digests);
}

/* ---- relations ------------------------------------------------------------------------------------------------- */

void check_rotated_row(check *c, const rotated_row *r) {
  const posenc_dtype dtype = r->problem->dtype;
  const posenc_columns at = posenc_layout_columns(r->problem->layout, r->problem->dim);
  for (int64_t i = 0; i < r->problem->dim / 2; i++) {
    const int64_t sin_column = at.sin + i * at.step, cos_column = at.cos + i * at.step;
    const double sine = format_element(dtype, r->from, sin_column), cosine = format_element(dtype, r->from, cos_column);
    const double sin_k = r->by[i].sine.high / r->attention, cos_k = r->by[i].cosine.high / r->attention;
    const double bound = allowed_rotation(r->attention, r->e_from, r->e_to, sin_k, cos_k);
    const double of_sin = fabs(format_element(dtype, r->to, sin_column) - (sine * cos_k + cosine * sin_k)),
                 of_cos = fabs(format_element(dtype, r->to, cos_column) - (cosine * cos_k - sine * sin_k));
    check_note(c, of_sin, bound, r->position, i);
    check_note(c, of_cos, bound, r->position, i);
  }
}

static void check_rotation(subject *s, const fast_pair *by, int64_t row, int64_t k, arena *one, arena *other) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t position = problem->first + row;
  const posenc_slice to = posenc_rows(row + k, 1);
  if (is_padding_row(problem, position) || is_padding_row(problem, position + k)) return;
  if (!subject_is_bound(s, position) || !subject_is_bound(s, position + k)) return;
  const rotated_row rotated = {.problem = problem,
                               .attention = s->attention,
                               .by = by,
                               .from = subject_execute(s, s->plan, row, 1, one),
                               .to = subject_run(s, s->plan, &to, NULL, other, true),
                               .e_from = subject_allowed(s, position),
                               .e_to = subject_allowed(s, position + k),
                               .position = position + k};
  check_rotated_row(&s->checks[ROTATION], &rotated);
}

/* Compares rows with those of another plan that has the same positions: the bits if the contract says reproducible,
   otherwise with twice the error. */
static void check_extrapolation(subject *s, int64_t row, int64_t rows, arena *one, arena *other) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const posenc_slice all = posenc_rows(0, rows);
  posenc_problem there = *problem;
  there.first += row;
  there.rows = rows;
  posenc_plan *plan;
  check *c = &s->checks[EXTRAPOLATION];
  const posenc_status status = subject_plan(s, &there, &plan);
  if (status != POSENC_OK) { /* a kernel that makes the table must make a part of it */
    check_note(c, 1.0, 0.0, there.first, -1);
    return;
  }
  const unsigned char *a = subject_execute(s, s->plan, row, rows, one),
                      *b = subject_run(s, plan, &all, NULL, other, true);
  if (s->kernel->reproducible) {
    check_bits(c, problem, a, b, there.first, rows);
  } else {
    for (int64_t r = 0; r < rows && subject_is_bound(s, there.first + r); r++)
      for (int64_t i = 0; i < problem->dim / 2; i++)
        for (int which = 0; which < 2; which++) {
          const int64_t column = r * problem->dim + (which ? at.cos : at.sin) + i * at.step;
          check_note(c, fabs(format_element(problem->dtype, a, column) - format_element(problem->dtype, b, column)),
                     2.0 * subject_allowed(s, there.first + r), there.first + r, i);
        }
  }
  subject_drop(plan);
}

void subject_check_relations(subject *s, fast_oracle *reference, arena *one, arena *other, uint64_t *random) {
  enum { DRAWS = 4, ROWS = 16 };
  const posenc_problem *problem = &s->shape->problem;
  if (problem->rows < 2) return;
  fast_pair *by = memory_take((size_t)problem->dim / 2, sizeof *by);
  for (int draw = 0; draw < DRAWS && !subject_unbound(s); draw++) {
    const int64_t k = draw ? 1 + (int64_t)random_below(random, (uint64_t)problem->rows - 1) : 1;
    fast_row(reference, k, by);
    check_rotation(s, by, (int64_t)random_below(random, (uint64_t)(problem->rows - k)), k, one, other);
  }
  free(by);
  for (int draw = 0; draw < DRAWS && (s->kernel->reproducible || !subject_unbound(s)); draw++) {
    const int64_t row = 1 + (int64_t)random_below(random, (uint64_t)problem->rows - 1), left = problem->rows - row;
    check_extrapolation(s, row, least(left, ROWS), one, other);
  }
}

/* ---- windows --------------------------------------------------------------------------------------------------- */

/* Limits of waiting windows: pieces that one anchor of the reference reaches, and the number of all their blocks. */
enum { MOST_PIECES = 16, MOST_PARTS = 160, MOST_OF_PIECE = FAST_BLOCK_ROWS + 1 };
_Static_assert((int)FAST_BLOCK_ROWS == (int)ROWS_OF_CHECKS, "the rows of a block");

/* A block of a piece, and the findings in it. */
typedef struct part {
  const fast_blocks *of;
  int64_t block;
  element_error *sums; /* sums of the piece */
  window rows;
  const posenc_bound *bound; /* null if it does not hold for these rows */
  const unsigned char *made; /* the rows; null: who judges the part makes them */
  const char *fault;         /* the fault of the thread's environment after the call */
  check memory;
  row_checks found;
  uint64_t digests[ROWS_OF_CHECKS];
} part;

struct part_team {
  subject *s;
  fast_oracle *reference;
  int threads;
  arena **own; /* one per thread: a block of rows and guard pages */
  int pieces, count;
  fast_blocks piece[MOST_PIECES];
  element_error *sums; /* sums of all pieces, one after the other */
  int64_t tiles;
  part part[MOST_PARTS];
};

void parts_destroy(part_team *p) {
  for (int t = 0; t < p->threads; t++) arena_destroy(p->own[t]);
  free(p->own);
  free(p->sums);
  free(p);
}

part_team *parts_create(subject *s, fast_oracle *reference, int64_t rows) {
  const size_t bytes = row_bytes(&s->shape->problem) * (size_t)least(rows, FAST_BLOCK_ROWS);
  part_team *p = memory_take(1, sizeof *p);
  p->s = s;
  p->reference = reference;
  p->threads = threads_most();
  p->own = memory_take((size_t)p->threads, sizeof *p->own);
  p->sums = memory_take((size_t)fast_groups(reference) * MOST_PARTS, sizeof *p->sums);
  for (int t = 0; rows && t < p->threads; t++) p->own[t] = arena_create(bytes);
  return p;
}

/* Makes the rows of a part, in any thread. */
static const unsigned char *make_rows(const subject *s, part *now, arena *own) {
  const posenc_slice slice = posenc_rows(now->rows.row, now->rows.rows);
  unsigned char *out = arena_place(own, subject_extent(&s->shape->problem, &slice), false);
  subject_call(s->plan, &slice, NULL, out);
  now->fault = fpenv_restore();
  subject_check_memory(&now->memory, &s->shape->problem, &slice, own, false);
  return out;
}

/* Checks a part, in any thread. */
static void judge(const part_team *p, part *now, arena *own, accuracy *found) {
  const subject *s = p->s;
  const unsigned char *rows = now->made ? now->made : make_rows(s, now, own);
  subject_check_each(s, now->rows, rows, &now->found, now->digests);
  fast_check_block(p->reference, now->of, now->block, rows, now->bound, &s->found, found, now->sums);
}

static void take_memory(check *into, const check *from) {
  if (from->broken && !into->broken) into->position = from->position;
  into->index = -1;
  into->compared += from->compared;
  into->broken += from->broken;
  into->worst = (double)into->broken;
}

/* Checks all waiting parts. Threads take parts in turn, so a delayed thread takes fewer. */
static void check_waiting(part_team *p) {
  subject *s = p->s;
  if (!p->count) return;
  subject_begin_calls();
#pragma omp parallel
  {
    accuracy mine = {0};
    fpenv_set();
#pragma omp for schedule(dynamic)
    for (int n = 0; n < p->count; n++) judge(p, &p->part[n], p->own[threads_this()], &mine);
#pragma omp critical(parts_merge)
    accuracy_merge(&s->found, &mine);
  }
  for (int n = 0; n < p->count; n++) {
    const part *now = &p->part[n];
    if (!now->made && (now->block == 0 || now->fault))
      subject_end_calls_of(s, s->shape->problem.first + now->rows.row, now->fault);
    take_memory(&s->checks[MEMORY], &now->memory);
    subject_take_each(s, &now->found, now->digests, now->rows.rows);
  }
  const element_error *sums = p->sums;
  for (int n = 0; n < p->pieces; sums += p->piece[n++].tiles) fast_blocks_add(&p->piece[n], sums, &s->found);
  p->pieces = p->count = 0;
  p->tiles = 0;
}

/* Returns the bound for a position of the table, or null. */
static const posenc_bound *bound_at(const subject *s, int64_t position) {
  return !subject_unbound(s) && subject_is_bound(s, position) ? &s->bound : NULL;
}

/* Returns for how many rows of a window, from its first on, the bound holds, or does not. Its domain has no gaps. */
static int64_t rows_alike(const subject *s, window w) {
  const int64_t first = s->shape->problem.first + w.row;
  const posenc_bound *bound = bound_at(s, first);
  int64_t rows = 1;
  if (bound && bound_at(s, first + w.rows - 1)) return w.rows;
  while (rows < w.rows && bound_at(s, first + rows) == bound) rows++;
  return rows;
}

/* Takes a window, whose rows are made or to be made by the threads, which is checked now or later. */
static void take(part_team *p, window w, const unsigned char *made) {
  const subject *s = p->s;
  const posenc_problem *problem = &s->shape->problem;
  const int64_t origin = problem->first - s->origin;
  while (w.rows > 0) {
    if (p->count && (p->pieces == MOST_PIECES || p->count > MOST_PARTS - MOST_OF_PIECE ||
                     !fast_reaches(p->reference, origin + w.row)))
      check_waiting(p);
    fast_blocks *piece = &p->piece[p->pieces++];
    *piece = fast_blocks_of(p->reference, origin + w.row, rows_alike(s, w));
    for (int64_t block = 0; block < piece->blocks; block++) {
      part *added = &p->part[p->count++];
      *added = (part){.of = piece,
                      .block = block,
                      .sums = p->sums + p->tiles,
                      .bound = bound_at(s, problem->first + w.row),
                      .made = made};
      fast_block_rows(piece, block, &added->rows.row, &added->rows.rows);
      added->rows.row -= origin;
      if (made) made += row_bytes(problem) * (size_t)added->rows.rows;
    }
    p->tiles += piece->tiles;
    w.row += piece->rows;
    w.rows -= piece->rows;
  }
}

void parts_end(part_team *p) {
  if (!p->count) return;
  const accuracy none = {0};
  check_waiting(p);
  fast_witnesses(p->reference, &none, &p->s->found);
}

void parts_check_window(part_team *p, window w, arena *whole, arena *other, bool again, uint64_t *random) {
  subject *s = p->s;
  if (s->shared && s->kernel->bound.derived) { /* others may compute each row from position 0 on */
    take(p, w, NULL);
    return;
  }
  const double start = clock_thread_seconds();
  const unsigned char *out = subject_execute(s, s->plan, w.row, w.rows, whole);
  const window same = subject_again(w, clock_thread_seconds() - start);
  take(p, w, out);
  parts_end(p);
  if (again) subject_check_again(s, same, NULL, out, other, random);
}
