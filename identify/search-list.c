/* SPDX-License-Identifier: MIT */
/* Finds lists of positions: rows in any order. */
#include "identify/list.h"
#include "identify/scalings.h"
#include "identify/search.h"
#include "identify/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the amplitude that is used before positions are known: 1 if the largest value is near that, as it may be a
   little smaller. */
static double list_amplitude(const search *s) {
  const double near = 0.02;
  return fabs(s->window.most - 1.0) < near ? 1.0 : s->window.most;
}

/* Whether the positions change often enough to be a list. Rows of one position are constants. */
static bool is_list(const double *positions, int64_t count) {
  enum { CHANGES_LEAST = 3 };
  int64_t changes = 0;
  double last = (double)NAN;
  for (int64_t r = 0; r < count; r++) {
    if (isnan(positions[r])) continue;
    changes += !isnan(last) && fabs(positions[r] - last) > 0.0;
    last = positions[r];
  }
  return changes >= CHANGES_LEAST;
}

static bool explain_list_by(search *s, const columns *at, const formula *f, double relative) {
  making how = trial_making(s, at, f);
  formula_frequencies(f, at->pairs, s->w);
  const int64_t known = list_read(&s->window, at, s->w, list_amplitude(s), relative, s->positions);
  if (known < 0) s->failed = true;
  if (known * 20 < s->window.count * 19 || !is_list(s->positions, s->window.count)) return false;
  how.positions = s->positions;
  how.start = (start){.error = relative, .most = -1};
  const estimate amplitude = {list_amplitude(s), ldexp(s->window.most, -format_of(s->window.held)->precision)};
  explanation found = {.found = false};
  explain_amplitudes(s, &how, &amplitude, true, &found);
  if (!explanation_is_good(&found)) return false;
  trial_weigh(s, &found);
  return true;
}

/* Tries rows at positions in any order. The table must have enough columns that no other row has a position by
   chance. */
void search_list(search *s) {
  enum { PAIRS_LEAST = 4 };
  static const double relative[] = {1e-15, 5e-7};
  if (s->columns.pairs < PAIRS_LEAST) return;
  for (int turn = 0; turn < 2 && !explanation_is_good(&s->best); turn++) {
    formula formulas[FORMULAS_MAX];
    columns at = turn && s->columns.part == COLUMNS_BOTH ? columns_exchanged(&s->columns) : s->columns;
    if (turn && s->columns.part != COLUMNS_BOTH) at.part = COLUMNS_SIN;
    const size_t count = list_formulas(&s->window, &at, formulas);
    for (size_t n = 0; n < count && !explanation_is_good(&s->best) && !s->failed; n++)
      for (size_t r = 0; r < sizeof relative / sizeof *relative && !explanation_is_within(s, &s->best, 4.0); r++)
        explain_list_by(s, &at, &formulas[n], relative[r]);
  }
  if (!explanation_is_good(&s->best) || !s->best.how.positions) return;
  /* Restores the positions of the best explanation, because others were tried after it. */
  formula_frequencies(&s->best.how.formula, s->best.how.columns.pairs, s->w);
  if (list_read(&s->window, &s->best.how.columns, s->w, list_amplitude(s), s->best.how.start.error, s->positions) < 0)
    s->failed = true;
}

double *search_list_all(search *s) {
  const making *how = &s->best.how;
  const window *w = &s->window;
  const double amplitude = list_amplitude(s);
  double *all = calloc((size_t)w->rows + 1, sizeof *all);
  bool enough = all;
  if (all) memcpy(all, s->positions, (size_t)w->count * sizeof *all);
  formula_frequencies(&how->formula, how->columns.pairs, s->w);
  for (int64_t row = w->count; enough && row < w->rows;) {
    window next;
    enough = window_read_from(&next, s->request->table, row);
    next.offset = w->offset;
    for (int64_t r = 0; enough && r < next.count; r++) all[row + r] = (double)NAN;
    enough = enough && list_read(&next, &how->columns, s->w, amplitude, how->start.error, all + row) >= 0;
    row += next.count;
    window_free(&next);
  }
  if (enough) return all;
  free(all);
  return NULL;
}
