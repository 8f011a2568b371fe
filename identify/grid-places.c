/* SPDX-License-Identifier: MIT */
/* Finds grids in tables: which columns belong to which axis, and what each axis is. */
#include "files/npy.h"
#include "identify/grid-parts.h"
#include "identify/identify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether two elements of a column are equal. Elements of a recovered table have errors. */
static bool are_equal(const grid *g, const view *v, int64_t column, int64_t row, int64_t other) {
  const double error = g->request->error;
  if (!(error > 0.0))
    return memcmp(grid_element(g, v, row, column), grid_element(g, v, other, column), posenc_dtype_bytes(g->dtype)) ==
           0;
  return fabs(grid_value(g, v, row, column) - grid_value(g, v, other, column)) <= 2.0 * error;
}

/* ---- which columns belong to which axis ----------------------------------------------------------- */

enum { SLOW = 1, FAST = 2 };

/* Returns a set: SLOW if the column is constant in blocks of `width` rows, FAST if its rows repeat after `width`. */
static int kind_of(const grid *g, const view *v, int64_t column, int64_t width) {
  int kind = SLOW | FAST;
  for (int64_t row = 0; row < v->rows && kind; row++) {
    if (!are_equal(g, v, column, row, row - row % width)) kind &= ~SLOW;
    if (row >= width && !are_equal(g, v, column, row, row - width)) kind &= ~FAST;
  }
  return kind;
}

/* Finds the kinds of all columns in a grid of that width. Constant columns get the kind of the column before, or else
   of the one behind. Returns false if a column has no kind, or if all have the same. */
static bool find_kinds(const grid *g, const view *v, int64_t width, unsigned char *kinds) {
  int64_t slow = 0, fast = 0;
  for (int64_t c = 0; c < v->count; c++) {
    kinds[c] = (unsigned char)kind_of(g, v, c, width);
    if (!kinds[c]) return false;
    slow += kinds[c] == SLOW;
    fast += kinds[c] == FAST;
  }
  for (int64_t c = 1; c < v->count; c++)
    if (kinds[c] == (SLOW | FAST)) kinds[c] = kinds[c - 1];
  for (int64_t c = v->count - 1; c > 0; c--)
    if (kinds[c - 1] == (SLOW | FAST)) kinds[c - 1] = kinds[c];
  return slow >= 2 && fast >= 2;
}

/* Returns the number of first rows with equal values. */
static int64_t run_of(const grid *g, const view *v, int64_t column) {
  int64_t run = 1;
  while (run < v->rows && are_equal(g, v, column, run, 0)) run++;
  return run;
}

/* Returns the width of a grid and sets the kinds of its columns; returns 0 if there is no grid. `runs` has an element
   for each column. */
static int64_t find_width(const grid *g, const view *v, unsigned char *kinds, int64_t *runs) {
  int64_t tried = 1;
  for (int64_t c = 0; c < v->count; c++) runs[c] = run_of(g, v, c);
  for (;;) { /* each pass tries the next longer run */
    int64_t width = v->rows;
    for (int64_t c = 0; c < v->count; c++)
      if (runs[c] > tried && runs[c] < width) width = runs[c];
    if (width == v->rows) return 0;
    if (v->rows % width == 0 && find_kinds(g, v, width, kinds)) return width;
    tried = width;
  }
}

/* Takes the columns of a kind; the caller sets the rows. Returns false if memory runs out. */
static bool take_kind(const view *v, const unsigned char *kinds, int kind, view *taken) {
  *taken = *v;
  taken->count = 0;
  taken->columns = calloc((size_t)v->count, sizeof *taken->columns);
  for (int64_t c = 0; taken->columns && c < v->count; c++)
    if (kinds[c] == kind) taken->columns[taken->count++] = v->columns[c];
  return taken->columns;
}

/* Divides the view into at most `most` axes, slow ones first, and takes over its columns. */
static void find_axes(grid *g, view *v, int most) {
  unsigned char *kinds = calloc((size_t)v->count + 1, 1);
  int64_t *runs = calloc((size_t)v->count + 1, sizeof *runs);
  g->failed |= !kinds || !runs;
  const int64_t width = g->failed || most == 1 ? 0 : find_width(g, v, kinds, runs);
  view slow = {0}, fast = {0};
  if (width) g->failed |= !take_kind(v, kinds, SLOW, &slow) || !take_kind(v, kinds, FAST, &fast);
  free(kinds);
  free(runs);
  if (!width || g->failed) {
    free(slow.columns);
    free(fast.columns);
    g->parts[g->count++].of = *v;
    return;
  }
  free(v->columns);
  fast.rows = width;
  slow.rows = v->rows / width;
  slow.step = v->step * width;
  find_axes(g, &slow, most - 1);
  g->parts[g->count++].of = fast;
}

/* Divides the table into axes. Returns false if there is only one. */
static bool find_grid(grid *g) {
  view all = {.first = g->zeros, .step = 1, .rows = table_stored(g->request->table)->rows - g->zeros, .count = g->dim};
  all.columns = calloc((size_t)g->dim, sizeof *all.columns);
  g->failed = !all.columns;
  if (g->failed) return false;
  for (int64_t c = 0; c < g->dim; c++) all.columns[c] = c;
  find_axes(g, &all, POSENC_AXES);
  return !g->failed && g->count > 1;
}

/* ---- what each axis is ---------------------------------------------------------------------------- */

/* Identifies the values of an axis as a table. Returns false if memory runs out. */
static bool identify_part(const grid *g, part *p) {
  const view *v = &p->of;
  const posenc_dtype dtype = g->dtype;
  const size_t element = posenc_dtype_bytes(dtype);
  char header[NPY_HEADER_MAX];
  const size_t length = npy_header(dtype, (const int64_t[]){v->rows, v->count}, 2, header),
               size = length + (size_t)(v->rows * v->count) * element;
  fault why;
  p->file = malloc(size);
  if (!p->file) return false;
  memcpy(p->file, header, length);
  for (int64_t r = 0; r < v->rows; r++)
    for (int64_t c = 0; c < v->count; c++)
      memcpy(p->file + length + (size_t)(r * v->count + c) * element, grid_element(g, v, r, c), element);
  stored_order(p->file + length, (size_t)(v->rows * v->count), element);
  p->table = table_open_memory(p->file, size, NULL, TABLE_WHOLE, &why);
  if (!p->table) return false;
  identify_request own = *g->request;
  own.table = p->table;
  own.expected = own.suspects = NULL;
  p->found = identify(&own);
  return p->found;
}

/* Identifies all axes. Returns false unless each is a table or has too few rows, and at least one is a table. */
static bool identify_parts(grid *g) {
  int tables = 0;
  for (int a = 0; a < g->count; a++) {
    g->failed = !identify_part(g, &g->parts[a]);
    if (g->failed) return false;
    const identity *found = g->parts[a].found;
    const bool is_table = identity_is_table(found) && !found->positions;
    if (!is_table && found->verdict != IDENTIFY_FEW) return false;
    tables += is_table;
  }
  if (!tables) return false;
  g->held = g->parts[0].found->held;
  for (int a = 0; a < g->count; a++) {
    int at = a;
    for (; at > 0 && g->parts[g->order[at - 1]].of.columns[0] > g->parts[a].of.columns[0]; at--)
      g->order[at] = g->order[at - 1];
    g->order[at] = a;
  }
  return true;
}

bool grid_find_places(grid *g) {
  if (find_grid(g)) return identify_parts(g);
  if (g->zeros != 1 || g->failed) return false;
  grid_free_parts(g); /* sines of the first place are zeros, too */
  g->zeros = 0;
  return find_grid(g) && identify_parts(g);
}
