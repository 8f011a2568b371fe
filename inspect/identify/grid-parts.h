/* SPDX-License-Identifier: MIT */
/* A table of several axes: its parts, one for each axis, if its rows are the places of a grid; or its sections. */
#ifndef POSENC_IDENTIFY_GRID_PARTS_H
#define POSENC_IDENTIFY_GRID_PARTS_H

#include "inspect/identify/identity.h"

/* ---- parts: the columns of each axis are a table ------------------------------------------------- */

/* Rows at equal steps and columns of the table. */
typedef struct view {
  int64_t first, step, rows;
  int64_t *columns, count;
} view;

/* An axis: its rows and columns, and the result for them. */
typedef struct grid_part {
  view of;
  unsigned char *file; /* a .npy file with their values, in memory */
  table_file *table;
  identity *found; /* null for an axis with a list of positions */
} grid_part;

typedef struct grid {
  const identify_request *request;
  unsigned char *bytes; /* the bytes of the table */
  posenc_dtype dtype, held;
  int64_t dim, zeros; /* zeros: number of rows of zeros before the places */
  grid_part parts[POSENC_AXES];
  int count;              /* number of axes; in a grid, the last one changes from row to row */
  int order[POSENC_AXES]; /* the order of their columns */
  columns columns;        /* columns of the whole row */
  bool failed;            /* memory has run out */
  /* One table of all axes, if they form one. */
  bool is_one;
  posenc_problem problem;
  posenc_axes axes;
  double *lists[POSENC_AXES];
  maker *makers; /* makers of that table, the closest first, if axes have lists; without plans */
  size_t maker_count;
} grid;

static inline const unsigned char *grid_element(const grid *g, const view *v, int64_t row, int64_t column) {
  return g->bytes + (size_t)((v->first + row * v->step) * g->dim + v->columns[column]) * posenc_dtype_bytes(g->dtype);
}

static inline double grid_value(const grid *g, const view *v, int64_t row, int64_t column) {
  return format_element(g->dtype, grid_element(g, v, row, column), 0);
}

/* Frees all parts. */
void grid_free_parts(grid *g);

/* Divides the table into the axes of a grid, and identifies each. Returns false if it is no grid, or if memory runs
   out. */
bool grid_find_places(grid *g);

/* Finds the problem of all axes of a grid together, if there is one. */
void grid_find_problem(grid *g);

/* Divides the table into axes with a list of positions each. Returns false if it has no such axes, or if memory runs
   out. */
bool grid_find_lists(grid *g);

/* Computes the whole table with each kernel of the request that can, and adds these to the makers of the axes, or of
   the table. */
void grid_find_makers(grid *g);

/* ---- sections: positions on several axes in each row, as those of M-RoPE's tokens, in any order (sections.c) ---- */

typedef struct sections {
  columns columns; /* columns of the whole row */
  formula formula;
  posenc_axes axes; /* axes in the order of their columns, each with a list of positions of the rows */
  int64_t zeros;    /* number of rows of zeros before the first position */
  double *positions[POSENC_AXES];
} sections;

/*
 * Tries the bases of models and the one that the slowest columns have, without scaling and with amplitude 1, at whole
 * positions from 0 on. With continued frequencies, a section is as long as all its pairs have one position in every
 * row; if rounding hides its end, the sections are those that the request expects, or that models have. With restarted
 * or dealt frequencies, axes have equal numbers of pairs.
 *
 * Returns false if no such positions explain all elements of the window within recipes' roundings and the request's
 * error, or if all axes have the same positions; *failed: memory ran out. The result must be freed in any case.
 */
bool sections_find(const window *w, const identify_request *request, sections *found, bool *failed);
void sections_free(sections *found);

#endif
