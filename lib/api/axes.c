/* SPDX-License-Identifier: MIT */
#include "lib/api/kernel.h"
#include "lib/api/rows.h"

#include <stdlib.h>
#include <string.h>

/* ---- validity ------------------------------------------------------------------------------------ */

static const char *counts_refusal(const posenc_axes *axes, int64_t pairs) {
  int64_t all = 0;
  for (int a = 0; a < axes->count; a++) {
    const posenc_axis *axis = &axes->axis[a];
    if (axis->pairs < 1 || axis->pairs > pairs) return "each axis has at least one pair of columns, and at most dim/2";
    if (axis->size < 1 || axis->stride < 1) return "size and stride of an axis must be at least 1, and fit in 63 bits";
    if (!(axis->divisor >= 1.0 && axis->divisor <= 0x1p20)) return "the divisor of an axis must be within 1 and 2^20";
    if (axes->frequencies == POSENC_AXES_DEALT && axis->pairs != axes->axis[0].pairs)
      return "frequencies are dealt to axes of equal numbers of pairs";
    all += axis->pairs;
  }
  return all == pairs ? NULL : "the pairs of the axes must be dim/2 together";
}

/* Whether every axis a but the first has at most as many pairs as there are frequency indices a, a + count, … below
   `pairs`. */
static bool is_cycle(const posenc_axes *axes, int64_t pairs) {
  for (int a = 1; a < axes->count; a++)
    if (axes->axis[a].pairs > (pairs - 1 - a) / axes->count + 1) return false;
  return true;
}

static const char *form_refusal(const posenc_problem *problem) {
  const posenc_axes *axes = problem->axes;
  if (axes->size != sizeof *axes) return "the axes are of unknown size";
  if (axes->count < 1 || axes->count > POSENC_AXES) return "there are 1 to 4 axes";
  if ((unsigned)axes->order > POSENC_AXES_CYCLIC) return "unknown order of axes";
  if ((unsigned)axes->frequencies > POSENC_AXES_DEALT) return "unknown frequencies of axes";
  if (problem->positions) return "a table of axes has no list of positions of its own";
  if (problem->dim % 2) return "a table of axes has an even dim";
  if (axes->grouped && axes->order != POSENC_AXES_CHUNKED) return "the columns of cyclic axes are not grouped";
  if (problem->scaling.kind == POSENC_SCALING_LONGROPE && axes->frequencies == POSENC_AXES_RESTARTED)
    return "the factors of longrope are of frequencies that are continued or dealt";
  const char *why = counts_refusal(axes, problem->dim / 2);
  return why || axes->order == POSENC_AXES_CHUNKED || is_cycle(axes, problem->dim / 2)
             ? why
             : "an axis has more pairs than turns of the cycle";
}

const char *axes_refusal(const posenc_problem *problem) {
  const char *why = form_refusal(problem);
  for (int a = 0; a < problem->axes->count && !why; a++) {
    if (problem->axes->axis[a].divisor != 1.0 && problem->scaling.kind != POSENC_SCALING_NONE)
      return "an axis with a divisor has no scaling";
    const posenc_problem table = axes_table(problem, a);
    why = posenc_problem_refusal(&table);
  }
  return why;
}

posenc_problem axes_table(const posenc_problem *table, int a) {
  const posenc_axes *axes = table->axes;
  const posenc_axis *axis = &axes->axis[a];
  posenc_problem made = *table;
  made.axes = NULL;
  made.op = POSENC_TABLE;
  made.heads = 1;
  made.inverse = false;
  made.rows = axis->size;
  made.first = 0;
  made.positions = axis->positions;
  made.padding = POSENC_NO_PADDING;
  made.layout = POSENC_SPLIT;
  if (axes->frequencies == POSENC_AXES_RESTARTED) made.dim = 2 * axis->pairs;
  if (axis->divisor != 1.0) {
    made.scaling.kind = POSENC_SCALING_LINEAR;
    made.scaling.factor = axis->divisor;
  }
  return made;
}

posenc_axes *axes_copy(const posenc_axes *axes) {
  size_t bytes = sizeof *axes;
  for (int a = 0; a < axes->count; a++)
    if (axes->axis[a].positions) bytes += (size_t)axes->axis[a].size * sizeof(double);
  posenc_axes *copy = (posenc_axes *)malloc(bytes);
  if (!copy) return NULL;
  *copy = *axes;
  double *list = (double *)(void *)(copy + 1);
  for (int a = 0; a < axes->count; a++) {
    posenc_axis *axis = &copy->axis[a];
    if (!axis->positions) continue;
    memcpy(list, axis->positions, (size_t)axis->size * sizeof *list);
    axis->positions = list;
    list += axis->size;
  }
  return copy;
}

/* ---- columns ------------------------------------------------------------------------------------- */

/* A column of an axis's table and its place in the whole table. An axis has the moves of its sines, then those of its
   cosines. */
typedef struct column_move {
  int64_t from, to;
} column_move;

typedef struct axis_source {
  row_source rows;
  int64_t size, stride, columns;
  column_move *moves;
} axis_source;

struct axes_source {
  int count;
  axis_source axis[POSENC_AXES];
};

/* Returns the axis of frequency index j. */
static int axis_of(const posenc_axes *axes, int64_t j) {
  int a = 0;
  if (axes->order == POSENC_AXES_CYCLIC) {
    a = (int)(j % axes->count);
    return j / axes->count < axes->axis[a].pairs ? a : 0;
  }
  for (int64_t end = axes->axis[0].pairs; j >= end; end += axes->axis[a].pairs) a++;
  return a;
}

/* Returns the frequency index, in the table of axis a, of the axis's pair i. j: its frequency index in the whole
   table. */
static int64_t index_of(const posenc_axes *axes, int a, int64_t i, int64_t j) {
  switch (axes->frequencies) {
  case POSENC_AXES_RESTARTED:
    break;
  case POSENC_AXES_CONTINUED:
    return j;
  case POSENC_AXES_DEALT:
    return i * axes->count + a;
  }
  return i;
}

/* Sets the moves of both columns of pair i of axis a, which has frequency index j in the whole table. */
static void set_moves(const posenc_problem *table, int a, int64_t i, int64_t j, axis_source *axis) {
  const posenc_axes *axes = table->axes;
  const int64_t pairs = axis->columns / 2, dim = axes->grouped ? axis->columns : table->dim,
                begin = axes->grouped ? 2 * (j - i) : 0, at = axes->grouped ? i : j;
  const posenc_columns to = posenc_layout_columns(table->layout, dim);
  const int64_t from = index_of(axes, a, i, j);
  axis->moves[i] = (column_move){from, begin + to.sin + at * to.step};
  axis->moves[pairs + i] = (column_move){from + axis->rows.table.dim / 2, begin + to.cos + at * to.step};
}

posenc_status axes_prepare(row_source *made, const rows_tables *tables, const posenc_options *options) {
  const posenc_axes *axes = made->table.axes;
  int64_t next[POSENC_AXES] = {0};
  struct axes_source *all = (struct axes_source *)calloc(1, sizeof *all);
  made->axes = all;
  if (!all) return POSENC_OUT_OF_MEMORY;
  for (int a = 0; a < axes->count; a++) {
    axis_source *axis = &all->axis[a];
    const posenc_problem table = axes_table(&made->table, a);
    const posenc_status status = rows_prepare_plain(&axis->rows, &table, &tables->of[a].units, made->kernel, options);
    if (status != POSENC_OK) return status;
    all->count++;
    axis->size = axes->axis[a].size;
    axis->stride = axes->axis[a].stride;
    axis->columns = 2 * axes->axis[a].pairs;
    axis->moves = (column_move *)calloc((size_t)axis->columns, sizeof *axis->moves);
    if (!axis->moves) return POSENC_OUT_OF_MEMORY;
  }
  for (int64_t j = 0; j < made->table.dim / 2; j++) {
    const int a = axis_of(axes, j);
    set_moves(&made->table, a, next[a]++, j, &all->axis[a]);
  }
  return POSENC_OK;
}

void axes_release(struct axes_source *axes) {
  for (int a = 0; axes && a < axes->count; a++) {
    rows_release(&axes->axis[a].rows);
    free(axes->axis[a].moves);
  }
  free(axes);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static int64_t floor_divide(int64_t n, int64_t by) {
  return n / by - (n % by < 0);
}

static int64_t coordinate_of(const axis_source *axis, int64_t place) {
  const int64_t rest = floor_divide(place, axis->stride) % axis->size;
  return rest < 0 ? rest + axis->size : rest;
}

static inline __attribute__((always_inline)) void move_columns(const axis_source *axis, const char *from, char *to,
                                                               size_t bytes) {
  for (int64_t c = 0; c < axis->columns; c++)
    memcpy(to + (size_t)axis->moves[c].to * bytes, from + (size_t)axis->moves[c].from * bytes, bytes);
}

/* Copies the columns of the axis to one row, from a row of the axis's table. */
static void move_row(const axis_source *axis, const char *from, char *to, size_t bytes) {
  switch (bytes) { /* constant sizes are faster */
  case 2:
    move_columns(axis, from, to, 2);
    break;
  case 4:
    move_columns(axis, from, to, 4);
    break;
  default:
    move_columns(axis, from, to, 8);
  }
}

/* Returns how many rows from this place on, at most `most`, have consecutive coordinates, or all the same one
   (*is_same). */
static int64_t run_of(const axis_source *axis, int64_t place, int64_t most, bool *is_same) {
  const int64_t coordinate = coordinate_of(axis, place);
  int64_t run = 1;
  *is_same = most > 1 && coordinate_of(axis, place + 1) == coordinate;
  while (run < most && coordinate_of(axis, place + run) == coordinate + (*is_same ? 0 : run)) run++;
  return run;
}

/* Writes the columns of the axis to rows from a place on. `made` has room for `fitting` rows of the axis's table. */
static posenc_status make_axis(const axis_source *axis, int64_t place, int64_t rows, size_t row_bytes, int64_t fitting,
                               char *made, char *out) {
  const size_t bytes = posenc_dtype_bytes(axis->rows.table.dtype), axis_bytes = (size_t)axis->rows.table.dim * bytes;
  for (int64_t done = 0, run; done < rows; done += run) {
    bool is_same;
    run = run_of(axis, place + done, rows - done, &is_same);
    if (!is_same && run > fitting) run = fitting;
    const posenc_status status = rows_make(&axis->rows, coordinate_of(axis, place + done), is_same ? 1 : run, made);
    if (status != POSENC_OK) return status;
    for (int64_t r = 0; r < run; r++)
      move_row(axis, made + (is_same ? 0 : (size_t)r * axis_bytes), out + (size_t)(done + r) * row_bytes, bytes);
  }
  return POSENC_OK;
}

posenc_status axes_make(const row_source *from, int64_t row, int64_t rows, void *out) {
  enum { MOST_BYTES = 1 << 18 };
  const posenc_problem *table = &from->table;
  const size_t row_bytes = kernel_row_bytes(table);
  const int64_t fitting = rows_fitting(row_bytes, MOST_BYTES, rows);
  char *made = (char *)posenc_alloc((size_t)fitting * row_bytes);
  posenc_status status = made ? POSENC_OK : POSENC_OUT_OF_MEMORY;
  for (int a = 0; a < from->axes->count && status == POSENC_OK; a++)
    status = make_axis(&from->axes->axis[a], table->first + row, rows, row_bytes, fitting, made, (char *)out);
  posenc_free(made);
  return status;
}
