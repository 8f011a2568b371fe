/* SPDX-License-Identifier: MIT */
/* Finds the problem of all axes of a grid together. */
#include "identify/grid-parts.h"

#include <math.h>
#include <stdlib.h>

static bool is_near(double x, double y) {
  return fabs(x - y) <= 1e-5 * fabs(y);
}

static const formula *formula_of(const grid *g, int column) {
  return &g->parts[g->order[column]].found->how.formula;
}

static bool is_contiguous(const view *v, int64_t from, int64_t to) {
  for (int64_t c = from + 1; c < to; c++)
    if (v->columns[c] != v->columns[c - 1] + 1) return false;
  return true;
}

/* Whether the columns of each axis are adjacent (*grouped), or adjacent in each half. */
static bool find_columns(const grid *g, bool *grouped) {
  bool whole = true, halves = true;
  for (int a = 0; a < g->count; a++) {
    const view *v = &g->parts[a].of;
    const int64_t half = v->count / 2;
    whole &= is_contiguous(v, 0, v->count);
    halves &= v->count % 2 == 0 && is_contiguous(v, 0, half) && is_contiguous(v, half, v->count) &&
              v->columns[half] == v->columns[0] + g->dim / 2;
  }
  *grouped = whole;
  return whole || halves;
}

/* The forms of an axis's positions, as functions of the coordinates. */
typedef enum spacing {
  CENTRED,    /* centres of `size` cells from -1 to 1, times 2 pi: DINOv3 */
  NORMALISED, /* 1, 2 … divided by the last and 1e-6, times 2 pi: DETR */
  SIZED,      /* 0, b, 2 b … divided by the size, which is not b: positions of a grid of b, in diffusers */
  PLAIN,      /* whole numbers, all with the same scale */
  FORMS
} spacing;

static const double turn = 0x1.921fb54442d18p+2;

/* Whether the positions of an axis have that form. Sets the first one, the step, the divisor and the scale. */
static bool has_form(const grid *g, int n, spacing form, double size, double set[4]) {
  const start *at = &g->parts[g->order[n]].found->how.start;
  const double scale = formula_of(g, n)->scale, sized = rint(scale * size);
  const bool whole = start_is_one(at);
  const double first = whole ? (double)at->least : at->first;
  switch (form) {
  case CENTRED:
    memcpy(set, (const double[]){1.0 - size, 2.0, size, turn}, 4 * sizeof *set);
    return is_near(scale * size / 2.0, turn) && (whole || !start_is_whole(at)) && fabs(first - set[0] / 2.0) < 1e-3;
  case NORMALISED:
    memcpy(set, (const double[]){1.0, 1.0, size + 1e-6, turn}, 4 * sizeof *set);
    return is_near(scale * size, turn) && whole && at->least == 1;
  case PLAIN:
    memcpy(set, (const double[]){first, 1.0, 1.0, formula_of(g, 0)->scale}, 4 * sizeof *set);
    return whole;
  case SIZED:
    memcpy(set, (const double[]){0.0, sized, size, 1.0}, 4 * sizeof *set);
    return whole && at->least == 0 && sized >= 1.0 && sized != size && is_near(scale * size, sized);
  case FORMS:
    break;
  }
  return false;
}

/* Sets positions, divisors and scale. Returns false if not all axes have that form, or if memory runs out. */
static bool set_positions(grid *g, spacing form) {
  posenc_axes *axes = &g->axes;
  double set[4];
  for (int n = 0; n < g->count; n++)
    if (!has_form(g, n, form, (double)axes->axis[n].size, set)) return false;
  for (int n = 0; n < g->count; n++) {
    posenc_axis *axis = &axes->axis[n];
    has_form(g, n, form, (double)axis->size, set);
    axis->divisor = set[2];
    g->problem.scale = set[3];
    free(g->lists[n]);
    axis->positions = g->lists[n] = calloc((size_t)axis->size, sizeof *g->lists[n]);
    if (!g->lists[n]) return false;
    for (int64_t k = 0; k < axis->size; k++) g->lists[n][k] = set[0] + set[1] * (double)k;
  }
  return true;
}

/* Sets base and frequencies. Frequencies that restart on each axis have the same base, and the scale that remains
   beside the positions. Others have one base for all columns. Returns false if no base explains the frequencies. */
static bool set_frequencies(grid *g, spacing form) {
  posenc_problem *problem = &g->problem;
  posenc_axes *axes = &g->axes;
  const double all = (double)problem->dim / 2.0, first = formula_of(g, 0)->base,
               of_all = pow(first, all / (double)axes->axis[0].pairs);
  bool restarted = true, continued = form == PLAIN, dealt = form == PLAIN;
  double before = 0.0;
  for (int n = 0; n < g->count; n++) {
    const formula *f = formula_of(g, n);
    const double pairs = (double)axes->axis[n].pairs, relative = f->scale / formula_of(g, 0)->scale;
    if (f->scaling.kind != POSENC_SCALING_NONE || f->shift > 0.0 || f->shift < 0.0) return false;
    restarted &= is_near(f->base, first) && (form != PLAIN || is_near(relative, 1.0));
    dealt &= is_near(f->base, first) && is_near(relative, pow(first, -n / all)) && is_near(pairs * g->count, all);
    continued &= is_near(pow(f->base, all / pairs), of_all) && is_near(relative, pow(of_all, -before / all));
    before += pairs;
  }
  problem->base = restarted || dealt ? first : plainest(of_all, 1e-5).value;
  axes->frequencies = restarted ? POSENC_AXES_RESTARTED : continued ? POSENC_AXES_CONTINUED : POSENC_AXES_DEALT;
  return restarted || continued || dealt;
}

/* Whether a problem describes the table: it has no other amplitude, offset, damage or rows of zeros. */
static bool is_plain(const identity *found) {
  return found->verdict == IDENTIFY_TABLE && number_is_one(found->how.amplitude) && !(fabs(found->how.offset) > 0.0) &&
         !found->damage_count && !found->paddings;
}

/* Sets sizes, strides and layout. Returns false if no problem has them. */
static bool set_axes(grid *g) {
  const columns *first = &g->parts[g->order[0]].found->how.columns;
  int64_t stride = 1, pairs = 0;
  bool whole;
  g->axes = posenc_grid(1, (const int64_t[]){1}, 2);
  g->axes.count = g->count;
  for (int a = g->count - 1; a >= 0; a--) {
    int column = 0;
    while (g->order[column] != a) column++;
    const columns *own = &g->parts[a].found->how.columns;
    g->axes.axis[column] = (posenc_axis){own->pairs, g->parts[a].of.rows, stride, NULL, 1.0};
    stride *= g->parts[a].of.rows;
    pairs += own->pairs;
    if (!is_plain(g->parts[a].found)) return false;
    if (own->layout != first->layout || own->part != first->part || own->dim % 2) return false;
  }
  g->columns = (columns){first->layout, first->part, g->dim, pairs};
  g->problem = posenc_table(stride + g->zeros, 2 * pairs);
  g->problem.first = -g->zeros;
  if (g->zeros == 1) g->problem.padding = -1;
  g->problem.layout = first->layout;
  g->problem.axes = &g->axes;
  const bool is_split = first->layout == POSENC_SPLIT || first->layout == POSENC_SPLIT_CS;
  if (g->zeros > 1 || !find_columns(g, &whole)) return false;
  g->axes.grouped = whole && is_split && first->part == COLUMNS_BOTH;
  return !whole || first->layout != POSENC_DUPLICATED; /* otherwise each axis is duplicated separately */
}

void grid_find_problem(grid *g) {
  if (!set_axes(g)) return;
  for (spacing form = CENTRED; form < FORMS && !g->is_one; form++)
    g->is_one = set_positions(g, form) && set_frequencies(g, form);
}
