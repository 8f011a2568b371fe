/* SPDX-License-Identifier: MIT */
#include "reference/axes.h"

#include <stdlib.h>

/* Deals the frequency indices of a table to its axes, one after the other. */
typedef struct dealer {
  const posenc_axes *axes;
  int64_t next;               /* index */
  int64_t dealt[POSENC_AXES]; /* so far, to each */
} dealer;

/* The axis that gets the next index. */
static int deal(dealer *d) {
  int to = 0;
  if (d->axes->order == POSENC_AXES_CYCLIC) {
    to = (int)(d->next % d->axes->count);
    if (to > 0 && d->dealt[to] == d->axes->axis[to].pairs) to = 0;
  } else {
    while (d->dealt[to] == d->axes->axis[to].pairs) to++;
  }
  d->dealt[to]++;
  d->next++;
  return to;
}

/* The column of the pair that is the n-th of its axis, from 0 on. */
static int64_t column_of(const posenc_problem *problem, int axis, int64_t n, int64_t number, bool cosine) {
  const bool grouped = problem->axes && problem->axes->grouped;
  int64_t columns = problem->dim, begin = 0;
  if (grouped) {
    columns = 2 * problem->axes->axis[axis].pairs;
    for (int before = 0; before < axis; before++) begin += 2 * problem->axes->axis[before].pairs;
  }
  const posenc_columns at = posenc_layout_columns(problem->layout, columns);
  return begin + (cosine ? at.cos : at.sin) + at.step * (grouped ? n : number);
}

bool axis_pairs_find(axis_pairs *pairs, const posenc_problem *problem, int axis) {
  const posenc_axes *axes = problem->axes;
  const posenc_axis *own = &axes->axis[axis];
  dealer d = {.axes = axes};
  int64_t *all = calloc((size_t)own->pairs, 4 * sizeof *all);
  *pairs = (axis_pairs){.problem = *problem,
                        .of = {.count = own->pairs, .index = all},
                        .number = all + own->pairs,
                        .sine = all + 2 * own->pairs,
                        .cosine = all + 3 * own->pairs};
  if (!all) return false;
  pairs->problem.axes = NULL;
  pairs->problem.first = 0;
  pairs->problem.padding = POSENC_NO_PADDING;
  if (axes->frequencies == POSENC_AXES_RESTARTED) pairs->problem.dim = 2 * own->pairs;
  if (own->divisor > 1.0) {
    pairs->problem.scaling.kind = POSENC_SCALING_LINEAR;
    pairs->problem.scaling.factor = own->divisor;
  }
  while (d.next < problem->dim / 2) {
    const int64_t number = d.next;
    const int to = deal(&d);
    const int64_t n = d.dealt[to] - 1;
    if (to != axis) continue;
    all[n] = axes->frequencies == POSENC_AXES_RESTARTED   ? n
             : axes->frequencies == POSENC_AXES_CONTINUED ? number
                                                          : axis + n * axes->count;
    pairs->number[n] = number;
    pairs->sine[n] = column_of(problem, axis, n, number, false);
    pairs->cosine[n] = column_of(problem, axis, n, number, true);
  }
  return true;
}

void axis_pairs_free(axis_pairs *pairs) {
  free((void *)pairs->of.index);
}

double axis_position(const posenc_axes *axes, int axis, int64_t at) {
  const posenc_axis *own = &axes->axis[axis];
  int64_t steps = at / own->stride;
  if (steps * own->stride > at) steps--;
  int64_t coordinate = steps % own->size;
  if (coordinate < 0) coordinate += own->size;
  return own->positions ? own->positions[coordinate] : (double)coordinate;
}

int64_t axes_column(const posenc_problem *problem, int64_t number, bool cosine) {
  dealer d = {.axes = problem->axes};
  int axis = 0;
  while (problem->axes && d.next <= number) axis = deal(&d);
  return column_of(problem, axis, problem->axes ? d.dealt[axis] - 1 : number, number, cosine);
}
