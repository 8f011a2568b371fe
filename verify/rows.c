/* SPDX-License-Identifier: MIT */
#include "common/memory.h"
#include "common/work.h"
#include "reference/axes.h"
#include "verify/checks.h"
#include "verify/table-exam.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest size of the rows of one call. */
enum { CALL_BYTES = 1 << 20 };

/* A subject, and the memory in which its rows are made. */
typedef struct row_source {
  subject *s;
  arena *one, *other;
  int64_t most;        /* most rows of a call */
  int64_t ahead;       /* number of rows before those that are checked now */
  int64_t looked, all; /* number of rows, so far and in all */
} row_source;

static const posenc_problem *problem_of(const row_source *m) {
  return &m->s->shape->problem;
}

/* Returns the position of a row as checks and witnesses have it. */
static int64_t position_of(const posenc_problem *problem, int64_t row) {
  return problem->first + row;
}

/* Returns a problem that has rows [from, from + rows) only. */
static posenc_problem part_of(const posenc_problem *problem, int64_t from, int64_t rows) {
  posenc_problem part = *problem;
  part.rows = rows;
  if (part.positions)
    part.positions += from;
  else
    part.first += from;
  return part;
}

/* ---- values --------------------------------------------------------------------------------------- */

static void make_rows(void *from, int64_t row, int64_t rows, void *out) {
  row_source *m = from;
  const size_t bytes = row_bytes(problem_of(m));
  for (int64_t done = 0, some; done < rows; done += some) {
    char doing[80];
    some = least(m->most, rows - done);
    snprintf(doing, sizeof doing, "row %" PRId64 " and %" PRId64 " more", m->ahead + row + done, some - 1);
    isolate_say(doing, (double)m->looked / (double)m->all);
    memcpy((char *)out + bytes * (size_t)done, subject_execute(m->s, m->s->plan, m->ahead + row + done, some, m->one),
           bytes * (size_t)some);
  }
}

static void take_check(check *into, check *from, int64_t ahead) {
  from->position += ahead;
  check_merge(into, from);
}

/* Compares rows [from, from + rows) with the exact values. */
static void look_at(row_source *m, int64_t from, int64_t rows) {
  subject *s = m->s;
  const posenc_problem *problem = problem_of(m), part = part_of(problem, from, rows);
  const int64_t ahead = problem->positions ? from : 0; /* positions of other tables are absolute */
  const table_request request = {.problem = part, .part = TABLE_BOTH, .limit = subject_unbound(s) ? NULL : &s->bound};
  table_exam *e = table_exam_create(&request, make_rows, m, part.dim);
  m->ahead = from;
  any_table_examine(e);
  e->found.max_ulp.position += ahead;
  e->found.max_abs.position += ahead;
  e->found.worst.position += ahead;
  accuracy_merge(&s->found, &e->found);
  take_check(&s->checks[BOUNDED], &e->checks[BOUNDED], ahead);
  if (request.limit) {
    take_check(&s->checks[PAIR_NORM], &e->checks[PAIR_NORM], ahead);
    take_check(&s->checks[ROTATION], &e->checks[ROTATION], ahead);
  }
  table_exam_free(e);
  m->looked += rows;
}

/* ---- bits ----------------------------------------------------------------------------------------- */

/* Makes the rows again, and in pieces of other sizes. */
static void check_again(row_source *m, int64_t row, int64_t rows, const unsigned char *whole) {
  enum { PIECES = 5 };
  subject *s = m->s;
  const posenc_problem *problem = problem_of(m);
  check_bits(&s->checks[DETERMINISM], problem, whole, subject_execute(s, s->plan, row, rows, m->other),
             position_of(problem, row), rows);
  for (int64_t done = 0, some; done < rows && rows > 1; done += some) {
    some = least(1 + done % PIECES, rows - done);
    check_bits(&s->checks[EXTENSION], problem, whole + row_bytes(problem) * (size_t)done,
               subject_execute(s, s->plan, row + done, some, m->other), position_of(problem, row + done), some);
  }
}

/* Compares with rows of a plan for these rows only. */
static void check_alone(row_source *m, int64_t row, int64_t rows, const unsigned char *whole) {
  subject *s = m->s;
  check *c = &s->checks[EXTRAPOLATION];
  const posenc_problem *problem = problem_of(m), alone = part_of(problem, row, rows);
  posenc_options options = *s->options;
  posenc_plan *plan;
  options.kernel = s->kernel;
  if (!s->kernel->reproducible) {
    c->skip = "the kernel does not promise the same bits in every plan";
    return;
  }
  if (posenc_plan_create(&plan, &alone, &options) !=
      POSENC_OK) { /* a kernel that makes the table must make a part of it */
    check_note(c, 1.0, 0.0, position_of(problem, row), -1);
    return;
  }
  check_bits(c, problem, whole, subject_execute(s, plan, 0, rows, m->other), position_of(problem, row), rows);
  posenc_plan_destroy(plan);
}

/* Adds rows [from, from + rows) to the digest, and checks the first and the last of them further. */
static void check_runs(row_source *m, int64_t from, int64_t rows) {
  enum { AGAIN_ROWS = 64, ALONE_ROWS = 16 };
  subject *s = m->s;
  const size_t bytes = row_bytes(problem_of(m));
  for (int64_t done = 0, some; done < rows; done += some) {
    some = least(m->most, rows - done);
    const int64_t row = from + done, again = least(AGAIN_ROWS, some), alone = least(ALONE_ROWS, some);
    const bool is_end = done == 0 || done + some == rows;
    const unsigned char *whole = subject_execute(s, s->plan, row, some, m->one),
                        *last = whole + bytes * (size_t)(some - again);
    s->digest = digest_of(s->digest, whole, bytes * (size_t)some);
    if (!is_end) continue;
    check_again(m, row + some - again, again, last);
    check_alone(m, row + some - alone, alone, last + bytes * (size_t)(again - alone));
  }
}

void subject_check_rows(subject *s, const sampling *v) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t fitting = CALL_BYTES / (int64_t)row_bytes(problem);
  row_source m = {.s = s, .most = fitting > CHECKED_ROWS ? fitting : CHECKED_ROWS};
  m.one = arena_create((size_t)m.most * row_bytes(problem));
  m.other = arena_create((size_t)m.most * row_bytes(problem));
  m.all = v->exhaustive ? v->all : v->windows * v->rows;
  s->checks[SEARCH].skip = s->checks[STAGES].skip = "it is one of tables of successive positions with an even dim";
  for (int64_t n = 0; n < v->windows; n++) {
    const window w = sampling_window(v, n, NULL);
    look_at(&m, w.row, w.rows);
    check_runs(&m, w.row, w.rows);
  }
  arena_destroy(m.one);
  arena_destroy(m.other);
}

/* ---- a rope cache --------------------------------------------------------------------------------------------- */

static size_t cache_row_bytes(const cache *c) {
  return (size_t)rope_cache_width(&c->problem) * posenc_dtype_bytes(c->problem.dtype);
}

void cache_open(cache *c, const subject *s, const posenc_problem *problem, int64_t rows) {
  *c = (cache){.problem = *problem};
  const size_t bytes = 2 * cache_row_bytes(c) * (size_t)rows;
  c->tables = arena_create(bytes);
  c->want = memory_take(bytes, 1);
  if (subject_plan(s, problem, &c->plan) != POSENC_OK) memory_end();
}

void cache_close(cache *c) {
  subject_drop(c->plan);
  arena_destroy(c->tables);
  free(c->want);
}

/* Writes one row of dim/2 cosines or sines in the order of the layout. */
static void spread(const cache *c, const unsigned char *half, unsigned char *row) {
  const size_t element = posenc_dtype_bytes(c->problem.dtype), bytes = (size_t)(c->problem.dim / 2) * element;
  if (c->problem.layout == POSENC_INTERLEAVED) {
    for (size_t at = 0; at < bytes; at += element) {
      memcpy(row + 2 * at, half + at, element);
      memcpy(row + 2 * at + element, half + at, element);
    }
    return;
  }
  memcpy(row, half, bytes);
  if (c->problem.layout == POSENC_DUPLICATED) memcpy(row + bytes, half, bytes);
}

/* Makes tables of the cache in an arena, where a write beside them is found, and compares them. */
static void hold(cache *c, subject *s, window w, const unsigned char *want, bool cosines, bool sines) {
  const size_t bytes = cache_row_bytes(c) * (size_t)w.rows, element = posenc_dtype_bytes(c->problem.dtype);
  const int64_t position = c->problem.first + w.row;
  unsigned char *out = arena_place(c->tables, (cosines && sines ? 2 : 1) * bytes, false);
  subject_begin_calls();
  posenc_rope_cache(c->plan, w.row, w.rows, cosines ? out : NULL, sines ? out + (cosines ? bytes : 0) : NULL);
  subject_end_calls(s, position);
  check *memory = &s->checks[MEMORY];
  const int64_t spilled = arena_spills(c->tables);
  memory->compared += (int64_t)(bytes / element);
  if (spilled && !memory->broken) memory->position = position;
  memory->broken += spilled;
  posenc_problem flat = c->problem;
  flat.dim = rope_cache_width(&c->problem);
  if (cosines) check_bits(&s->checks[ROPE_CACHE], &flat, want, out, position, w.rows);
  if (sines) check_bits(&s->checks[ROPE_CACHE], &flat, want + bytes, out + (cosines ? bytes : 0), position, w.rows);
}

void cache_check_window(cache *c, subject *s, window w, arena *table, bool again) {
  const size_t bytes = cache_row_bytes(c), element = posenc_dtype_bytes(c->problem.dtype);
  const size_t half = (size_t)(c->problem.dim / 2) * element;
  const unsigned char *rows = subject_execute(s, s->plan, w.row, w.rows, table); /* cosines, then sines */
  for (int64_t r = 0; r < w.rows; r++) {
    spread(c, rows + (size_t)r * 2 * half, c->want + (size_t)r * bytes);
    spread(c, rows + (size_t)r * 2 * half + half, c->want + (size_t)(w.rows + r) * bytes);
  }
  hold(c, s, w, c->want, true, true);
  if (!again) return;
  hold(c, s, w, c->want, true, false);
  hold(c, s, w, c->want, false, true);
}

/* ---- tables of several axes: the pairs of each axis are examined as a table of their own ----------------------- */

/* The exam of the pairs of one axis as a table of its own, with the list of its positions. */
typedef struct axis_exam {
  table_exam *whole;
  axis_pairs pairs;
  int64_t padding;   /* the padding row of the whole table, which is left out; -1 if none */
  double *positions; /* positions of the other rows */
} axis_exam;

/* Returns the row of the whole table. */
static int64_t whole_row(const axis_exam *a, int64_t row) {
  return row + (a->padding >= 0 && row >= a->padding);
}

/* Copies the columns of the axis in a row: sines and then cosines, or only those that the file has. */
static void take_columns(const axis_exam *a, const unsigned char *row, unsigned char *out) {
  const table_part part = a->whole->request->part;
  const size_t element = posenc_dtype_bytes(a->whole->problem->dtype);
  for (int cosine = part == TABLE_COS; cosine <= (part != TABLE_SIN); cosine++)
    for (int64_t i = 0; i < a->pairs.of.count; i++, out += element)
      memcpy(out, row + (size_t)(cosine ? a->pairs.cosine : a->pairs.sine)[i] * element, element);
}

static int64_t columns_of(const axis_exam *a) {
  return (a->whole->request->part == TABLE_BOTH ? 2 : 1) * a->pairs.of.count;
}

/* Reads the columns of rows [row, row + rows), without the padding row, as many rows at a time as fit. */
static void read_axis(void *from, int64_t row, int64_t rows, void *out) {
  const axis_exam *a = from;
  table_exam *e = a->whole;
  const size_t bytes = (size_t)columns_of(a) * posenc_dtype_bytes(e->problem->dtype);
  const int64_t fitting = table_exam_block(e);
  for (int64_t done = 0, some; done < rows; done += some) {
    const int64_t first = whole_row(a, row + done);
    some = least(fitting, rows - done);
    if (a->padding > first) some = least(some, a->padding - first);
    table_exam_read(e, first, some, e->rows);
    for (int64_t r = 0; r < some; r++)
      take_columns(a, e->rows + e->row_bytes * (size_t)r, (unsigned char *)out + bytes * (size_t)(done + r));
  }
}

/* Changes a witness of the axis to one of the whole table. */
static void tell_whole(const axis_exam *a, witness *w) {
  w->position = a->whole->problem->first + whole_row(a, w->position);
  w->index = a->pairs.number[w->index];
}

static void take_axis_check(const axis_exam *a, check *into, check *from) {
  from->position = a->whole->problem->first + whole_row(a, from->position);
  if (from->index >= 0 && from->broken) from->index = a->pairs.number[from->index];
  check_merge(into, from);
}

static void take_findings(axis_exam *a, table_exam *own) {
  table_exam *e = a->whole;
  octave *in = octaves_at(&e->by_size, e->problem->first);
  accuracy *found = &own->found;
  if (found->elements == 0) return;
  tell_whole(a, &found->max_ulp);
  tell_whole(a, &found->max_abs);
  if (found->held) tell_whole(a, &found->worst);
  accuracy_merge(&in->found, found);
  e->not_finite += own->not_finite;
  take_axis_check(a, &e->checks[BOUNDED], &own->checks[BOUNDED]);
  take_axis_check(a, &e->checks[PAIR_NORM], &own->checks[PAIR_NORM]);
  take_axis_check(a, &e->checks[ROTATION], &own->checks[ROTATION]);
}

static void examine_axis(axis_exam *a, int axis) {
  table_exam *e = a->whole;
  const posenc_problem *table = e->problem;
  const int64_t rows = table->rows - (a->padding >= 0);
  a->positions = memory_take((size_t)rows, sizeof *a->positions);
  if (!axis_pairs_find(&a->pairs, table, axis)) memory_end();
  for (int64_t row = 0; row < rows; row++)
    a->positions[row] = axis_position(table->axes, axis, table->first + whole_row(a, row));
  const axis_selection of = {a->pairs.problem.dim, a->pairs.of};
  table_request request = *e->request;
  request.table = NULL;
  request.pairs = &of;
  request.problem = a->pairs.problem;
  request.problem.rows = rows;
  request.problem.dim = 2 * a->pairs.of.count;
  request.problem.layout = POSENC_SPLIT;
  request.problem.positions = a->positions;
  table_exam *own = table_exam_create(&request, read_axis, a, columns_of(a));
  table_examine(own);
  take_findings(a, own);
  table_exam_free(own);
}

/* Checks that all elements of the padding row are zeros. */
static void check_padding(table_exam *e, int64_t row) {
  const posenc_problem *problem = e->problem;
  const exact zero = {0.0, 0.0, 0.0};
  const posenc_bound nothing = {.derived = true};
  const table_part part = e->request->part;
  octave *in = octaves_at(&e->by_size, problem->first);
  table_exam_read(e, row, 1, e->one);
  for (int cosine = part == TABLE_COS; cosine <= (part != TABLE_SIN); cosine++)
    for (int64_t j = 0; j < problem->dim / 2; j++) {
      const double got = format_element(problem->dtype, e->one, axes_column(problem, j, cosine));
      e->not_finite += !isfinite(got);
      accuracy_add(&in->found, format_of(problem->dtype), e->request->limit ? &nothing : NULL, &zero, got,
                   (element_place){problem->padding, j, cosine});
    }
}

/* Compares what the exam reads now: the whole table, or one of its two copies. */
static void examine_axes(table_exam *e) {
  const posenc_problem *problem = e->problem;
  const int64_t end = problem->first + problem->rows;
  const bool padded =
      problem->padding != POSENC_NO_PADDING && problem->padding >= problem->first && problem->padding < end;
  octave *in = octaves_at(&e->by_size, problem->first);
  in->first = problem->first;
  in->rows = problem->rows;
  for (int axis = 0; axis < problem->axes->count; axis++) {
    axis_exam a = {.whole = e, .padding = padded ? problem->padding - problem->first : -1};
    examine_axis(&a, axis);
    axis_pairs_free(&a.pairs);
    free(a.positions);
  }
  if (padded) check_padding(e, problem->padding - problem->first);
}

void any_table_examine(table_exam *e) {
  table_exam_begin(e);
  for (e->copy = e->problem->axes ? table_exam_copies(e) - 1 : -1; e->copy >= 0; e->copy--) examine_axes(e);
  e->copy = 0;
  table_exam_end(e);
}
