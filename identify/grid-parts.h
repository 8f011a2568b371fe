/* SPDX-License-Identifier: MIT */
/* A table of several axes in parts, one of each axis: between the files that find them, and their record. */
#ifndef POSENC_IDENTIFY_GRID_PARTS_H
#define POSENC_IDENTIFY_GRID_PARTS_H

#include "identify/identity.h"

/* Some rows, at equal steps, and some columns of the table. */
typedef struct view {
  int64_t first, step, rows;
  int64_t *columns, count;
} view;

/* An axis: its rows and columns, and what they are. */
typedef struct part {
  view of;
  unsigned char *file; /* a .npy file of them, in memory */
  table_file *table;
  identity *found; /* null: of an axis with a list of positions */
} part;

typedef struct grid {
  const identify_request *request;
  unsigned char *bytes; /* the table */
  posenc_dtype dtype, held;
  int64_t dim, zeros; /* zeros: rows of zeros before the places */
  part parts[POSENC_AXES];
  int count;              /* of axes; of a grid, the last one changes from row to row */
  int order[POSENC_AXES]; /* of their columns */
  columns columns;        /* of the whole row */
  bool failed;            /* memory ran out */
  /* The table that all axes are together, if there is one. */
  bool is_one;
  posenc_problem problem;
  posenc_axes axes;
  double *lists[POSENC_AXES];
  maker *makers; /* of that, the closest first, if axes have lists; without plans */
  size_t maker_count;
} grid;

static inline const unsigned char *grid_element(const grid *g, const view *v, int64_t row, int64_t column) {
  return g->bytes + (size_t)((v->first + row * v->step) * g->dim + v->columns[column]) * posenc_dtype_bytes(g->dtype);
}

static inline double grid_value(const grid *g, const view *v, int64_t row, int64_t column) {
  return format_element(g->dtype, grid_element(g, v, row, column), 0);
}

/* Leaves no parts. */
void grid_free_parts(grid *g);

/* Divides the table into the axes of a grid, and identifies each. False if it is none, or memory runs out. */
bool grid_find_places(grid *g);

/* The problem that the axes of a grid are together, if one is. */
void grid_find_problem(grid *g);

/* Divides the table into axes with a list of positions each. False if it is none, or memory runs out. */
bool grid_find_lists(grid *g);

/* Has each kernel of the request write the whole table, where it can: those are makers of the axes, too, or of all. */
void grid_find_makers(grid *g);

#endif
