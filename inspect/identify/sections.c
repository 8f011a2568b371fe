/* SPDX-License-Identifier: MIT */
#include "inspect/identify/search.h"

#include "inspect/identify/formula.h"
#include "reference/axes.h"
#include "reference/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least number of pairs of the first axis and of all axes, and of rows that show whether the others are worth
   reading; the number of tried positions beyond the number of rows; the number of axes in a cyclic order. */
enum { AXIS_LEAST = 4, PAIRS_LEAST = 8, FIRST_ROWS = 16, BEYOND = 4096, CYCLE = 3 };

/* The waves of a formula at positions 0 … range - 1, each computed on the first request. */
typedef struct waves {
  int64_t count, range;
  long double *w;
  double **lists; /* sines of each frequency, then cosines of each */
} waves;

/* The frequency of each pair of an axis. Pairs are numbered in the row. */
typedef struct axis_part {
  int64_t *pair, *wave, count;
} axis_part;

typedef struct reader {
  const table_window *w;
  const suspect_list *expected;
  columns at;
  double error, rounding, relative; /* errors: of a value, of a value as a share of it, of an angle as a share of it */
  waves waves;
  int64_t *numbers; /* memory of the parts */
  axis_part parts[POSENC_AXES];
  sections *found;
  bool failed;
} reader;

/* ---- waves --------------------------------------------------------------------------------------- */

static void close_waves(waves *of) {
  for (int64_t n = 0; of->lists && n < 2 * of->count; n++) free(of->lists[n]);
  free(of->lists);
  free(of->w);
  of->lists = NULL;
  of->w = NULL;
}

static bool open_waves(reader *r, const formula *f, int64_t count) {
  waves *of = &r->waves;
  close_waves(of);
  of->count = count;
  of->w = calloc((size_t)count, sizeof *of->w);
  of->lists = calloc((size_t)count * 2, sizeof *of->lists);
  r->failed |= !of->w || !of->lists;
  if (!r->failed) formula_frequencies(f, count, of->w);
  return !r->failed;
}

static bool fill_wave(reader *r, int64_t number) {
  waves *of = &r->waves;
  double **sines = &of->lists[number], **cosines = &of->lists[of->count + number];
  if (*cosines) return true;
  *sines = calloc((size_t)of->range, sizeof **sines);
  *cosines = calloc((size_t)of->range, sizeof **cosines);
  r->failed |= !*sines || !*cosines;
  for (int64_t p = 0; !r->failed && p < of->range; p++) {
    const double angle = (double)((long double)p * of->w[number]);
    (*sines)[p] = sin(angle);
    (*cosines)[p] = cos(angle);
  }
  return !r->failed;
}

/* ---- one row ------------------------------------------------------------------------------------- */

/* Returns the distance of a pair's sine or cosine from that at a position, divided by the explained error: at most 1 if
   it is at that position. */
static double distance_of(const reader *r, int64_t row, int64_t pair, int64_t wave, int64_t position, bool cosine) {
  const double *const own = r->waves.lists[cosine ? r->waves.count + wave : wave],
                      *const other = r->waves.lists[cosine ? wave : r->waves.count + wave];
  const double turned = r->relative * (double)position * (double)r->waves.w[wave],
               room = r->error + r->rounding * fabs(own[position]) + turned * (fabs(other[position]) + turned);
  return fabs(window_value(r->w, row, columns_of(&r->at, pair, cosine)) - own[position]) / room;
}

/* Returns the larger distance of sine and cosine, as far as the table has them. */
static double pair_distance(reader *r, int64_t row, int64_t pair, int64_t wave, int64_t position) {
  if (!fill_wave(r, wave)) return INFINITY;
  const double sine = r->at.part == TABLE_COS ? 0.0 : distance_of(r, row, pair, wave, position, false);
  if (r->at.part == TABLE_SIN || !(sine <= 1.0)) return sine;
  return fmax(sine, distance_of(r, row, pair, wave, position, true));
}

/* Returns the largest distance of all pairs of the axis. */
static double axis_distance(reader *r, int64_t row, const axis_part *of, int64_t position) {
  double most = 0.0;
  for (int64_t i = 0; i < of->count && most <= 1.0; i++)
    most = fmax(most, pair_distance(r, row, of->pair[i], of->wave[i], position));
  return most;
}

/* Returns the position of the axis in the row, or -1 if there is none. The `usual` positions come first: if rounding
   leaves a choice, they continue a text or a line of a picture. Otherwise the nearest position is taken. */
static int64_t find_position(reader *r, int64_t row, const axis_part *of, const int64_t *usual, int count) {
  double least = 1.0;
  int64_t nearest = -1;
  for (int n = 0; n < count; n++)
    if (usual[n] >= 0 && usual[n] < r->waves.range && axis_distance(r, row, of, usual[n]) <= 1.0) return usual[n];
  for (int64_t p = 0; p < r->waves.range && !r->failed; p++) {
    const double distance = axis_distance(r, row, of, p);
    if (distance < least || (nearest < 0 && distance <= 1.0)) least = distance, nearest = p;
  }
  return nearest;
}

/* ---- all rows ------------------------------------------------------------------------------------ */

static void set_parts(reader *r, const posenc_axes *axes) {
  int64_t next[POSENC_AXES] = {0}, *free_numbers = r->numbers;
  for (int a = 0; a < axes->count; a++) {
    r->parts[a] = (axis_part){free_numbers, free_numbers + axes->axis[a].pairs, axes->axis[a].pairs};
    free_numbers += 2 * axes->axis[a].pairs;
  }
  for (int64_t j = 0; j < r->at.pairs; j++) {
    const int a = axes_axis(axes, j);
    const int64_t i = next[a]++;
    r->parts[a].pair[i] = j;
    r->parts[a].wave[i] = axes_frequency(axes, a, i, j);
  }
}

/* Reads the positions of rows after the rows of zeros. Returns false if a row has none. */
static bool read_rows(reader *r, int count) {
  sections *found = r->found;
  for (int64_t row = found->zeros; row < r->w->count; row++) {
    if (r->w->zero[row] && r->at.part != TABLE_SIN) return false;
    const int64_t n = row - found->zeros;
    for (int a = 0; a < count; a++) {
      const double *const own = found->positions[a];
      const int64_t before = n ? (int64_t)own[n - 1] : -1,
                    usual[] = {a ? (int64_t)found->positions[0][n] : -1, n ? before + 1 : 0, before};
      const int64_t at = find_position(r, row, &r->parts[a], usual, 3);
      if (at < 0) return false;
      found->positions[a][n] = (double)at;
    }
  }
  return true;
}

/* Whether these axes explain all rows, at different positions. */
static bool explains(reader *r, const posenc_axes *axes) {
  const int64_t count = r->w->count - r->found->zeros;
  bool differ = false;
  if (count < AXIS_LEAST) return false;
  set_parts(r, axes);
  if (!read_rows(r, axes->count)) return false;
  for (int a = 1; a < axes->count; a++)
    differ |= memcmp(r->found->positions[0], r->found->positions[a], (size_t)count * sizeof(double)) != 0;
  if (!differ) return false;
  r->found->axes = *axes;
  r->found->columns = r->at;
  for (int a = 0; a < axes->count; a++) {
    posenc_axis *axis = &r->found->axes.axis[a];
    axis->size = count;
    axis->stride = 1;
    axis->positions = r->found->positions[a];
  }
  return true;
}

/* ---- sections ------------------------------------------------------------------------------------ */

static posenc_axes axes_of(int count, posenc_axis_order order, posenc_axis_frequencies frequencies) {
  posenc_axes axes = posenc_grid(count, (const int64_t[]){1, 1, 1, 1}, 2);
  axes.order = order;
  axes.frequencies = frequencies;
  return axes;
}

/* Returns the number of pairs, from `first` on in steps of `step`, that all have one position in each of the rows. */
static int64_t extent_of(reader *r, int64_t first, int64_t step, int64_t rows) {
  int64_t shortest = (r->at.pairs - first + step - 1) / step;
  for (int64_t row = r->found->zeros; row < rows && shortest > 0 && !r->failed; row++) {
    int64_t longest = 0;
    for (int64_t p = 0; p < r->waves.range && longest < shortest; p++) {
      int64_t n = 0;
      while (n < shortest && pair_distance(r, row, first + n * step, first + n * step, p) <= 1.0) n++;
      if (n > longest) longest = n;
    }
    shortest = longest;
  }
  return shortest;
}

/* Finds the longest sections that explain all rows. */
static bool find_chunks(reader *r, posenc_axes *axes) {
  int64_t first = 0;
  *axes = axes_of(1, POSENC_AXES_CHUNKED, POSENC_AXES_CONTINUED);
  for (axes->count = 0; first < r->at.pairs; first += axes->axis[axes->count++].pairs) {
    if (axes->count == POSENC_AXES) return false;
    axes->axis[axes->count].pairs = extent_of(r, first, 1, r->w->count);
    if (axes->axis[axes->count].pairs == 0) return false;
  }
  return axes->count > 1;
}

static bool find_turns(reader *r, posenc_axes *axes) {
  int64_t left = r->at.pairs;
  *axes = axes_of(CYCLE, POSENC_AXES_CYCLIC, POSENC_AXES_CONTINUED);
  for (int a = 1; a < CYCLE; a++) {
    axes->axis[a].pairs = extent_of(r, a, CYCLE, r->w->count);
    left -= axes->axis[a].pairs;
    if (axes->axis[a].pairs == 0) return false;
  }
  axes->axis[0].pairs = left;
  return left > 0;
}

/* Whether sections of other origin are valid for the columns, and explain all rows. Their positions do not matter. */
static bool explains_given(reader *r, const posenc_axes *given) {
  posenc_axes axes = *given;
  posenc_problem problem = posenc_table(1, 2 * r->at.pairs);
  for (int a = 0; a < axes.count; a++) {
    axes.axis[a].size = 1;
    axes.axis[a].positions = NULL;
  }
  problem.axes = &axes;
  return !posenc_problem_refusal(&problem) && explains(r, &axes);
}

/* Whether sections that are expected, or of models, explain all rows: roundings may hide the end of the one found.
   Sources: mrope_section in the configs of Qwen2-VL, Qwen3-VL, GLM-4.1V, Qwen3.5. */
static bool explains_as_models_do(reader *r, const posenc_axes *found) {
  static const int64_t known[][CYCLE] = {{16, 24, 24}, {24, 20, 20}, {8, 12, 12}, {11, 11, 10}};
  posenc_axes axes = *found;
  for (size_t n = 0; r->expected && n < r->expected->count; n++) {
    const posenc_axes *other = r->expected->items[n].problem.axes;
    if (other && other->order == found->order && explains_given(r, other)) return true;
  }
  for (size_t n = 0; found->count == CYCLE && n < sizeof known / sizeof *known; n++) {
    for (int a = 0; a < CYCLE; a++) axes.axis[a].pairs = known[n][a];
    if (explains_given(r, &axes)) return true;
  }
  return false;
}

/* ---- formulas ------------------------------------------------------------------------------------ */

static bool is_continued(reader *r) {
  const int64_t few = r->found->zeros + FIRST_ROWS < r->w->count ? r->found->zeros + FIRST_ROWS : r->w->count;
  posenc_axes axes;
  if (extent_of(r, 0, 1, few) >= AXIS_LEAST && find_chunks(r, &axes) &&
      (explains_as_models_do(r, &axes) || explains(r, &axes)))
    return true;
  return extent_of(r, 0, CYCLE, few) >= AXIS_LEAST && find_turns(r, &axes) &&
         (explains_as_models_do(r, &axes) || explains(r, &axes));
}

/* Whether two or three axes with equal numbers of pairs explain all rows. */
static bool is_equal(reader *r, const formula *f, posenc_axis_frequencies frequencies) {
  for (int count = 2; count <= CYCLE && !r->failed; count++) {
    posenc_axes axes = axes_of(count, POSENC_AXES_CHUNKED, frequencies);
    const int64_t pairs = r->at.pairs / count;
    if (r->at.pairs % count || pairs < AXIS_LEAST) continue;
    for (int a = 0; a < count; a++) axes.axis[a].pairs = pairs;
    if (!open_waves(r, f, frequencies == POSENC_AXES_DEALT ? r->at.pairs : pairs)) return false;
    if (explains(r, &axes)) return true;
  }
  return false;
}

static bool is_of(reader *r, const formula *f) {
  r->found->formula = *f;
  return (open_waves(r, f, r->at.pairs) && is_continued(r)) || is_equal(r, f, POSENC_AXES_RESTARTED) ||
         is_equal(r, f, POSENC_AXES_DEALT);
}

/* Tries columns with the sine of each pair first, then with the cosine; of one part alone, as cosines, then as
   sines. */
static bool find(reader *r, const columns *first) {
  formula formulas[FORMULAS_MAX];
  for (int turn = 0; turn < 2; turn++) {
    r->at = turn && first->part == TABLE_BOTH ? columns_exchanged(first) : *first;
    if (turn && first->part != TABLE_BOTH) r->at.part = TABLE_SIN;
    r->found->zeros = 0; /* sines of position 0 are zeros, too */
    while (r->at.part != TABLE_SIN && r->found->zeros < r->w->count && r->w->zero[r->found->zeros]) r->found->zeros++;
    size_t count = list_formulas(r->w, &r->at, formulas);
    for (size_t b = 0; b < formula_base_count && count < FORMULAS_MAX; b++)
      formulas[count++] = formula_plain(formula_bases[b]);
    for (size_t n = 0; n < count && !r->failed; n++)
      if (formulas[n].shift <= 0.0 && formulas[n].base > 1.0 && is_of(r, &formulas[n])) return true;
  }
  return false;
}

bool sections_find(const table_window *w, const identify_request *request, sections *found, bool *failed) {
  const columns at = columns_find(w);
  const bool is_double = w->held == POSENC_F64;
  reader r = {.w = w, .expected = request->expected, .found = found, .waves = {.range = w->count + BEYOND}};
  *found = (sections){.zeros = 0};
  *failed = false;
  if (!w->finite || at.pairs < PAIRS_LEAST || at.dim != w->dim || at.dim % 2) return false;
  r.error = request->error + ldexp(1.0, format_of(w->held)->least);
  r.rounding = ldexp(1.0, -format_of(w->held)->precision) + (is_double ? 0x1p-50 : 0x1p-23);
  r.relative = is_double ? 0x1p-48 : 0x1p-20;
  r.numbers = calloc((size_t)at.pairs * 2, sizeof *r.numbers);
  r.failed = !r.numbers;
  for (int a = 0; a < POSENC_AXES; a++) {
    found->positions[a] = calloc((size_t)w->count, sizeof *found->positions[a]);
    r.failed |= !found->positions[a];
  }
  const bool is_found = !r.failed && find(&r, &at) && !r.failed;
  close_waves(&r.waves);
  free(r.numbers);
  *failed = r.failed;
  return is_found;
}

void sections_free(sections *found) {
  for (int a = 0; a < POSENC_AXES; a++) free(found->positions[a]);
}
