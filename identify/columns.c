/* SPDX-License-Identifier: MIT */
#include "identify/columns.h"

#include "common/number.h"
#include "common/shapes.h"

#include <math.h>
#include <stdlib.h>

int64_t columns_index(const columns *s, int64_t column, bool *cosine) {
  if (s->part == COLUMNS_BOTH) {
    const posenc_columns at = posenc_layout_columns(s->layout, s->dim);
    const int64_t behind = column - at.cos;
    *cosine = behind >= 0 && behind % at.step == 0 && behind / at.step < s->pairs;
    return (column - (*cosine ? at.cos : at.sin)) / at.step;
  }
  *cosine = s->part == COLUMNS_COS;
  return s->layout == POSENC_INTERLEAVED ? column / 2 : column % s->pairs;
}

int64_t columns_of(const columns *s, int64_t index, bool cosine) {
  if (s->part != COLUMNS_BOTH) return s->layout == POSENC_INTERLEAVED ? 2 * index : index;
  const posenc_columns at = posenc_layout_columns(s->layout, s->dim);
  return (cosine ? at.cos : at.sin) + index * at.step;
}

const char *columns_layout_name(const columns *s) {
  return s->layout == POSENC_DUPLICATED ? "duplicated" : layout_name(s->layout);
}

/* Is every column the same as the one `step` further, in groups of 2 * step? */
static bool all_twice(const window *w, int64_t dim, int64_t step) {
  for (int64_t r = 0; r < w->count; r++)
    for (int64_t c = 0; c < dim; c++)
      if (c / step % 2 == 0 &&
          (window_row(w, r)[c] < window_row(w, r)[c + step] || window_row(w, r)[c] > window_row(w, r)[c + step]))
        return false;
  return true;
}

/* How far the squares of a pair are from equal, as a share of the largest; a few rows may be damaged: one in 40 above, one below. */
static double pair_unevenness(const window *w, int64_t a, int64_t b, double *squares) {
  size_t count = 0;
  for (int64_t r = 0; r < w->count; r++) {
    if (w->zero[r]) continue;
    const double x = window_row(w, r)[a], y = window_row(w, r)[b];
    squares[count++] = x * x + y * y;
  }
  if (count == 0) return 1.0;
  numbers_sort(squares, count);
  const double low = squares[count / 40], high = squares[count - 1 - count / 40];
  return high > 0.0 ? (high - low) / high : 1.0;
}

/* bf16 has 2^-8 in each of two squares; what is no pair differs by about 1. */
static const double even = 0.05;

/* Of the worst pair, or one that is uneven. */
static double unevenness(const window *w, const columns *s) {
  double worst = 0.0, *squares = calloc((size_t)w->count, sizeof *squares);
  if (!squares) return 1.0;
  for (int64_t i = 0; i < s->pairs && worst <= even; i++)
    worst = fmax(worst, pair_unevenness(w, columns_of(s, i, false), columns_of(s, i, true), squares));
  free(squares);
  return worst;
}

static bool is_zero_column(const window *w, int64_t column) {
  for (int64_t r = 0; r < w->count; r++)
    if (fabs(window_row(w, r)[column]) > 0.0) return false;
  return true;
}

columns columns_find(const window *w) {
  const int64_t dim = w->dim % 2 && w->dim > 1 && is_zero_column(w, w->dim - 1) ? w->dim - 1 : w->dim;
  columns alone = {POSENC_SPLIT, COLUMNS_COS, dim, dim};
  if (dim % 2) return alone;
  columns neighbours = {POSENC_INTERLEAVED, COLUMNS_BOTH, dim, dim / 2}, halves = neighbours;
  halves.layout = POSENC_SPLIT;
  /* Pairs first: those of base 1 are all the same, too. */
  const double of_neighbours = unevenness(w, &neighbours), of_halves = unevenness(w, &halves);
  if (of_neighbours <= even || of_halves <= even) return of_neighbours <= of_halves ? neighbours : halves;
  if (all_twice(w, dim, dim / 2)) return (columns){POSENC_DUPLICATED, COLUMNS_COS, dim, dim / 2};
  if (all_twice(w, dim, 1)) return (columns){POSENC_INTERLEAVED, COLUMNS_COS, dim, dim / 2};
  return alone;
}
