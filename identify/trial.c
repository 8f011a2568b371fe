/* SPDX-License-Identifier: MIT */
#include "identify/trial.h"

#include "identify/scalings.h"

#include <math.h>
#include <string.h>

/* The number of digits that another formula may have more and still be reported beside the best one. */
enum { PLAINER = 2 };

/* Tries several whole positions, from the middle on, which remain if the maker rounds positions. */
static void consider_positions(search *s, making *how, const estimate *amplitude, explanation *e) {
  enum { MOST = 257 };
  const int64_t least = how->start.least, most = how->start.most;
  if (least >= most || most - least >= MOST) {
    explain_amplitudes(s, how, amplitude, true, e);
    return;
  }
  for (int64_t n = 0, middle = least + (most - least) / 2; n <= most - least && !explanation_is_exact(s, e); n++) {
    how->start = start_at(middle + (n % 2 ? (n + 1) / 2 : -(n / 2)));
    explain_amplitudes(s, how, amplitude, false, e);
  }
}

/* Widens a start by a run. Rounded positions appear as the middle of the positions that were rounded. */
static void widen(int64_t run, start *at) {
  if (run <= 1 || !start_is_whole(at)) return;
  at->least -= run;
  at->most += run;
}

/* ---- formulas -------------------------------------------------------------------------------------- */

making trial_making(const search *s, const columns *at, const formula *f) {
  return (making){.formula = *f,
                  .columns = *at,
                  .held = s->window.held,
                  .offset = s->window.offset,
                  .offset_error = s->offset.error,
                  .step = 1};
}

/* First positions from phases, where angles have a relative error. */
typedef struct starts {
  double relative;
  bool far, known;
  size_t count;
  start of[64];
} starts;

static void explain_starts(search *s, making *how, starts *told, bool whole, const estimate *amplitude,
                           explanation *found) {
  if (!told->known) {
    const int64_t farthest = told->far ? INT64_C(1) << 41 : POSITION_NEAR;
    const phase_clock c = {s->phases, s->w, how->columns.pairs, told->relative,
                           (double)(s->sampling.first + s->sampling.step * s->sampling.count)};
    told->count = starts_find(&c, farthest, told->of, told->far ? 2 : sizeof told->of / sizeof *told->of);
    told->known = true;
  }
  for (size_t n = 0; n < told->count && !explanation_is_exact(s, found); n++) {
    how->start = told->of[n];
    if (start_is_whole(&how->start) != whole) continue;
    widen(s->run, &how->start);
    consider_positions(s, how, amplitude, found);
  }
}

void trial_shift_phases(search *s, int64_t pairs, int quarters) {
  const double quarter = 1.57079632679489662;
  for (int64_t i = 0; i < pairs; i++) s->phases[i].value += (double)quarters * quarter;
}

/* Tries a formula with first positions from phases, for rows in order (step 1) or reversed (step -1). */
static void explain_order(search *s, const columns *at, const formula *f, int step, bool far, explanation *found) {
  estimate amplitude;
  const bool alone = at->part != COLUMNS_BOTH;
  formula_frequencies(f, at->pairs, s->w);
  for (int64_t i = 0; i < at->pairs; i++) s->w[i] *= step;
  waves_phases(&s->window, at, &s->sampling, s->w, s->phases, &amplitude);
  if (isinf(amplitude.error)) return;
  /* Cosines of reversed rows are those of the opposite positions. */
  for (int sine = alone && step < 0; sine <= alone; sine++) {
    /* Relative errors of recipes' angles: in double and f32, or in TF32 and bf16. Only double keeps phases at far
       positions. */
    starts told[2] = {{.relative = s->coarse ? 5e-4 : 1e-15, .far = far}, {.relative = s->coarse ? 8e-3 : 5e-7}};
    making how = trial_making(s, at, f);
    how.step = step;
    if (sine) {
      how.columns.part = COLUMNS_SIN;
      trial_shift_phases(s, at->pairs, 1);
    }
    /* Whole positions come first. Others are tried only if roundings do not explain the whole ones. */
    for (int n = 0; n < (far ? 1 : 4) && !s->failed; n++) {
      if (explanation_is_good(found) && (n < 2 || explanation_is_rounding(s, found))) continue;
      explain_starts(s, &how, &told[n % 2], n < 2, &amplitude, found);
    }
    if (sine) trial_shift_phases(s, at->pairs, -1);
  }
}

static explanation explain_by(search *s, const columns *at, const formula *f, bool far) {
  explanation found = {.found = false};
  const columns reversed = columns_exchanged(at);
  explain_order(s, at, f, 1, far, &found);
  if (!far && !explanation_is_good(&found) && !s->failed) explain_order(s, &reversed, f, -1, far, &found);
  return found;
}

static bool is_same_number(double a, double b) {
  return fabs(a - b) <= 1e-9 * fabs(b);
}

static bool is_same_scaling(const posenc_scaling *a, const posenc_scaling *b) {
  return a->kind == b->kind && is_same_number(a->factor, b->factor) && is_same_number(a->low, b->low) &&
         is_same_number(a->high, b->high) && a->truncate == b->truncate;
}

static bool is_same(const formula *a, const formula *b) {
  return is_same_number(a->base, b->base) && fabs(a->shift - b->shift) <= 0.0 &&
         is_same_scaling(&a->scaling, &b->scaling);
}

void trial_weigh(search *s, const explanation *e) {
  explanation *best = &s->best;
  if (!e->found) return;
  if (explanation_is_better(best, e->distance)) {
    *best = *e, s->also.found = false;
  } else if (e->distance <= best->distance && is_same(&e->how.formula, &best->how.formula)) {
    best->original_least = e->original_least < best->original_least ? e->original_least : best->original_least;
    best->original_most = e->original_most > best->original_most ? e->original_most : best->original_most;
  } else if (e->distance <= best->distance && !s->also.found &&
             e->how.formula.digits <= best->how.formula.digits + PLAINER) {
    s->also = *e;
  }
}

void trial_formulas(search *s, const columns *at, const formula *formulas, size_t count) {
  for (size_t n = 0; n < count && !s->failed; n++) {
    if (explanation_is_exact(s, &s->best) && formulas[n].digits > s->best.how.formula.digits + PLAINER) break;
    const explanation e = explain_by(s, at, &formulas[n], false);
    trial_weigh(s, &e);
  }
}

void trial_far(search *s, const columns *at, const formula *f) {
  const explanation far = explain_by(s, at, f, true);
  trial_weigh(s, &far);
}
