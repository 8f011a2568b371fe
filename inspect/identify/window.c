/* SPDX-License-Identifier: MIT */
/* Reads the first rows of a table, and finds which column has which sine or cosine. */
#include "inspect/identify/formula.h"

#include "common/memory.h"
#include "common/number.h"
#include "common/shapes.h"
#include "reference/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest numbers of rows and values that are read: 32 MiB of values. */
enum { ROWS_MAX = 4096, VALUES_MAX = 1 << 22 };

/* The number of rows from which frequencies are determined, or of runs if rows are equal. Farther rows may deviate from
   the formula, as positions in bf16 do from 256 on. */
enum { SAMPLED_ROWS = 256, SAMPLED_RUNS = 64 };

/* Returns the narrowest dtype that has all values, which were converted to a wider one. */
static posenc_dtype narrowest(const table_window *w) {
  for (int n = 0; n < FORMAT_NARROWER; n++)
    if (posenc_dtype_bytes(format_narrower[n]) < posenc_dtype_bytes(w->stored) &&
        format_holds(format_of(format_narrower[n]), w->values, w->count * w->dim))
      return format_narrower[n];
  return w->stored;
}

static void look(table_window *w) {
  int64_t broken = 0;
  for (int64_t r = 0; r < w->count; r++) {
    bool finite = true;
    double most = 0.0;
    for (int64_t c = 0; c < w->dim; c++) {
      const double x = fabs(window_row(w, r)[c]);
      finite = finite && isfinite(x);
      most = fmax(most, x);
    }
    broken += !finite;
    w->zero[r] = !finite || !(most > 0.0);
    if (finite) w->most = fmax(w->most, most);
  }
  w->finite = broken * 20 <= w->count;
  w->held = w->finite ? narrowest(w) : w->stored;
}

void window_read(table_window *w, table_file *table, int64_t first) {
  const stored *at = table_stored(table);
  *w = (table_window){.stored = at->dtype, .rows = at->rows, .dim = at->dim};
  w->count = least(least(at->rows - first, ROWS_MAX), at->dim < VALUES_MAX ? VALUES_MAX / at->dim : 1);
  w->values = memory_take((size_t)(w->count * w->dim), sizeof *w->values);
  w->zero = memory_take((size_t)w->count, sizeof *w->zero);
  table_values(table, first, w->count, w->values);
  look(w);
}

void window_free(table_window *w) {
  free(w->values);
  free(w->zero);
}

void window_shift(table_window *w, double offset) {
  w->offset = offset;
  w->most = 0.0;
  for (int64_t r = 0; r < w->count; r++)
    for (int64_t c = 0; c < w->dim && !w->zero[r]; c++) w->most = fmax(w->most, fabs(window_value(w, r, c)));
}

/* Returns the last of the rows from `row` on that are equal to it. */
static int64_t run_end(const table_window *w, int64_t row) {
  int64_t end = row;
  while (end + 1 < w->count && memcmp(window_row(w, row), window_row(w, end + 1), (size_t)w->dim * sizeof(double)) == 0)
    end++;
  return end;
}

/* Returns the rows from which frequencies are determined. Rounded positions come in runs of equal rows, whose middle is
   at the right position. The first and the last run may be cut off, and are left out. */
sampled_rows window_sampling(const table_window *w) {
  const int64_t begin = run_end(w, 0) + 1;
  int64_t end = begin, runs = 0;
  for (int64_t next; runs < SAMPLED_RUNS && end < w->count && (next = run_end(w, end) + 1) < w->count; runs++)
    end = next;
  const int64_t step = runs ? (end - begin + runs / 2) / runs : 1;
  if (step <= 1) return (sampled_rows){0, 1, least(w->count, SAMPLED_ROWS)};
  const int64_t first = (begin + run_end(w, begin)) / 2;
  return (sampled_rows){first, step, (end - 1 - first) / step + 1};
}

/* ---- columns: which has which sine or cosine ----------------------------------------------------- */

static bool is_odd(const columns *s) {
  return s->part == TABLE_BOTH && s->dim % 2;
}

int64_t columns_index(const columns *s, int64_t column, bool *cosine) {
  if (s->part == TABLE_BOTH) {
    posenc_columns at = posenc_layout_columns(s->layout, 2 * s->pairs);
    if (is_odd(s) && s->layout == POSENC_SPLIT_CS) at.sin--;
    if (is_odd(s) && s->layout == POSENC_INTERLEAVED_CS && column == s->dim - 1) {
      *cosine = false;
      return s->pairs - 1;
    }
    const int64_t behind = column - at.cos, count = is_odd(s) ? s->pairs - 1 : s->pairs;
    *cosine = behind >= 0 && behind % at.step == 0 && behind / at.step < count;
    return (column - (*cosine ? at.cos : at.sin)) / at.step;
  }
  *cosine = s->part == TABLE_COS;
  return s->layout == POSENC_INTERLEAVED ? column / 2 : column % s->pairs;
}

int64_t columns_of(const columns *s, int64_t index, bool cosine) {
  if (s->part != TABLE_BOTH) return s->layout == POSENC_INTERLEAVED ? 2 * index : index;
  const posenc_columns at = posenc_layout_columns(s->layout, 2 * s->pairs);
  const bool last = is_odd(s) && index == s->pairs - 1;
  if (last && cosine) return -1;
  if (last && s->layout != POSENC_SPLIT) return s->dim - 1;
  return (cosine ? at.cos : at.sin - (is_odd(s) && s->layout == POSENC_SPLIT_CS)) + index * at.step;
}

const char *columns_layout_name(const columns *s) {
  return s->layout == POSENC_DUPLICATED ? "duplicated" : layout_name(s->layout);
}

const char *columns_options(const columns *s) {
  static const char *const all[][2] = {[TABLE_BOTH] = {"", ""},
                                       [TABLE_COS] = {" --part cos", " --part cos --layout interleaved"},
                                       [TABLE_SIN] = {" --part sin", " --part sin --layout interleaved"}};
  return all[s->part][s->layout == POSENC_INTERLEAVED];
}

columns columns_exchanged(const columns *s) {
  static const posenc_layout other[] = {[POSENC_INTERLEAVED] = POSENC_INTERLEAVED_CS,
                                        [POSENC_INTERLEAVED_CS] = POSENC_INTERLEAVED,
                                        [POSENC_SPLIT] = POSENC_SPLIT_CS,
                                        [POSENC_SPLIT_CS] = POSENC_SPLIT};
  columns exchanged = *s;
  if (s->part == TABLE_BOTH) exchanged.layout = other[s->layout];
  return exchanged;
}

/* ---- what is the same twice ---------------------------------------------------------------------- */

/* Number of rows, spread over the window, that determine the kind of a column. */
enum { SAMPLED = 192 };

/* Whether every column equals the one `step` further, in groups of 2 * step, except damaged ones. */
static bool all_twice(const table_window *w, int64_t dim, int64_t step) {
  int64_t differ = 0;
  for (int64_t c = 0; c < dim; c++) {
    if (c / step % 2) continue;
    bool same = true;
    for (int64_t n = 0; n < SAMPLED && same; n++) {
      const int64_t row = window_sample(w, SAMPLED, n);
      same = row < 0 || !(fabs(window_row(w, row)[c] - window_row(w, row)[c + step]) > 0.0);
    }
    differ += !same;
  }
  return differ <= columns_spare(dim / 2);
}

/* ---- pairs --------------------------------------------------------------------------------------- */

/* The squares of one pair's length: their range, as a share of the largest, and their median. One in 40 at each end is
   left out, because a few rows may be damaged. */
typedef struct ring {
  double unevenness, middle;
} ring;

static ring ring_of(const table_window *w, int64_t a, int64_t b) {
  double squares[SAMPLED];
  size_t count = 0;
  for (int64_t n = 0; n < SAMPLED; n++) {
    const int64_t row = window_sample(w, SAMPLED, n);
    if (row < 0) continue;
    const double x = window_value(w, row, a), y = window_value(w, row, b);
    squares[count++] = x * x + y * y;
  }
  if (count == 0) return (ring){1.0, 0.0};
  numbers_sort(squares, count);
  const double low = squares[count / 40], high = squares[count - 1 - count / 40];
  return (ring){high > 0.0 ? (high - low) / high : 1.0, squares[count / 2]};
}

/* The largest unevenness of a pair: bf16 has 2^-8 in each of two squares, and other columns differ by about 1. */
static const double even = 0.05;

/* Returns the largest absolute value in nine of ten columns. */
static double largest_of_most(const table_window *w, int64_t dim) {
  double *largest = memory_take((size_t)dim, sizeof *largest);
  for (int64_t n = 0; n < SAMPLED; n++) {
    const int64_t row = window_sample(w, SAMPLED, n);
    for (int64_t c = 0; row >= 0 && c < dim; c++) largest[c] = fmax(largest[c], fabs(window_value(w, row, c)));
  }
  numbers_sort(largest, (size_t)dim);
  const double found = largest[(dim - 1) * 9 / 10];
  free(largest);
  return found;
}

/* Returns the number of pairs that are none: uneven ones, and those whose length differs from that of most. The squares
   of two slow cosines have an even sum, too: twice the square of the largest value. */
static int64_t count_broken(const table_window *w, const columns *s) {
  ring *rings = memory_take((size_t)s->pairs, sizeof *rings);
  double *middles = memory_take((size_t)s->pairs, sizeof *middles);
  int64_t complete = 0;
  size_t good = 0;
  for (int64_t i = 0; i < s->pairs; i++) {
    if (!columns_complete(s, i)) continue;
    rings[complete] = ring_of(w, columns_of(s, i, false), columns_of(s, i, true));
    if (rings[complete].unevenness <= even) middles[good++] = rings[complete].middle;
    complete++;
  }
  numbers_sort(middles, good);
  const double square = good ? numbers_median(middles, good) : 0.0, largest = largest_of_most(w, s->dim);
  int64_t broken = complete;
  for (int64_t i = 0; i < complete && largest * largest > 0.7 * square; i++)
    broken -= rings[i].unevenness <= even && fabs(rings[i].middle - square) <= 2.0 * even * square;
  free(rings);
  free(middles);
  return broken;
}

static bool is_zero_column(const table_window *w, int64_t column) {
  for (int64_t r = 0; r < w->count; r++)
    if (!w->zero[r] && fabs(window_row(w, r)[column]) > 0.0) return false;
  return true;
}

columns columns_find(const table_window *w) {
  const int64_t dim = w->dim % 2 && w->dim > 1 && is_zero_column(w, w->dim - 1) ? w->dim - 1 : w->dim;
  const int64_t pairs = (dim + 1) / 2, spare = columns_spare(pairs);
  const columns neighbours = {POSENC_INTERLEAVED, TABLE_BOTH, dim, pairs},
                halves = {POSENC_SPLIT, TABLE_BOTH, dim, pairs}, halves_cs = {POSENC_SPLIT_CS, TABLE_BOTH, dim, pairs};
  const columns alone = {POSENC_SPLIT, TABLE_COS, dim, dim};
  if (dim < 2) return alone;
  /* Pairs are tried first, because pairs of base 1 are all equal, too. */
  const int64_t of_neighbours = count_broken(w, &neighbours), of_halves = count_broken(w, &halves),
                of_halves_cs = dim % 2 ? count_broken(w, &halves_cs) : of_halves + 1;
  if (of_neighbours <= spare && of_neighbours <= of_halves && of_neighbours <= of_halves_cs) return neighbours;
  if (of_halves <= spare && of_halves <= of_halves_cs) return halves;
  if (of_halves_cs <= spare) return halves_cs;
  if (dim % 2) return alone;
  if (all_twice(w, dim, dim / 2)) return (columns){POSENC_DUPLICATED, TABLE_COS, dim, dim / 2};
  if (all_twice(w, dim, 1)) return (columns){POSENC_INTERLEAVED, TABLE_COS, dim, dim / 2};
  return alone;
}
