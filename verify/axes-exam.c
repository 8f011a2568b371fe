/* SPDX-License-Identifier: MIT */
#include "verify/axes-exam.h"

#include "reference/axes.h"

#include <stdlib.h>
#include <string.h>

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

static void take_check(const axis_exam *a, check *into, check *from) {
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
  take_check(a, &e->checks[BOUNDED], &own->checks[BOUNDED]);
  take_check(a, &e->checks[PAIR_NORM], &own->checks[PAIR_NORM]);
  take_check(a, &e->checks[ROTATION], &own->checks[ROTATION]);
}

static bool examine_axis(axis_exam *a, int axis) {
  table_exam *e = a->whole;
  const posenc_problem *table = e->problem;
  const int64_t rows = table->rows - (a->padding >= 0);
  a->positions = malloc(((size_t)rows + 1) * sizeof *a->positions);
  if (!axis_pairs_find(&a->pairs, table, axis) || !a->positions) return false;
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
  const bool enough = own && table_examine(own);
  if (enough) take_findings(a, own);
  table_exam_free(own);
  return enough;
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
static bool examine_axes(table_exam *e) {
  const posenc_problem *problem = e->problem;
  const int64_t end = problem->first + problem->rows;
  const bool padded =
      problem->padding != POSENC_NO_PADDING && problem->padding >= problem->first && problem->padding < end;
  bool enough = true;
  octave *in = octaves_at(&e->by_size, problem->first);
  in->first = problem->first;
  in->rows = problem->rows;
  for (int axis = 0; axis < problem->axes->count && enough; axis++) {
    axis_exam a = {.whole = e, .padding = padded ? problem->padding - problem->first : -1};
    enough = examine_axis(&a, axis);
    axis_pairs_free(&a.pairs);
    free(a.positions);
  }
  if (enough && padded) check_padding(e, problem->padding - problem->first);
  return enough;
}

bool any_table_examine(table_exam *e) {
  if (!e->request->problem.axes) return table_examine(e);
  bool enough = table_exam_begin(e);
  for (e->copy = table_exam_copies(e) - 1; enough && e->copy >= 0; e->copy--) enough = examine_axes(e);
  e->copy = 0;
  return enough && table_exam_end(e);
}
