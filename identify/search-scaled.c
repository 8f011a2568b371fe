/* SPDX-License-Identifier: MIT */
/* Finds scalings of formulas, from frequencies that are measured once the first position is known. */
#include "identify/scalings.h"
#include "identify/search.h"
#include "identify/trial.h"

#include <math.h>

/* Sets the n-th of the bases that frequencies have and that models have. Returns false if that one is not usable. */
static bool scaled_base(const formula *formulas, size_t count, size_t n, formula *plain) {
  *plain = formula_plain(n < count ? formulas[n].base : formula_bases[n - count]);
  if (n >= count) return true;
  plain->base_error = formulas[n].base_error;
  return !(formulas[n].shift > 0.0) && formulas[n].digits <= FORMULA_UNUSUAL;
}

/* Whether most columns are waves of these frequencies, from this first position. */
static bool measure_from(search *s, making *how, const start *first, estimate *amplitude) {
  const int64_t pairs = how->columns.pairs;
  int64_t explained = 0;
  how->start = *first;
  waves_refit(&s->window, &how->columns, first->first, how->step, *amplitude, s->frequencies, s->measured);
  estimate sharper = waves_amplitude(&s->window, &how->columns, first->first, how->step, *amplitude, s->measured);
  if (isfinite(sharper.error)) {
    const posenc_scaling longrope = {.kind = POSENC_SCALING_LONGROPE, .factor = 1.0};
    posenc_scaling told;
    const double attention = scalings_attention(&longrope, sharper.value, sharper.error, &told);
    if (!(told.attention > 0.0)) sharper = (estimate){attention > 0.0 ? attention : 1.0, 0.0};
    *amplitude = sharper;
    waves_refit(&s->window, &how->columns, first->first, how->step, *amplitude, s->frequencies, s->measured);
  }
  for (int64_t i = 0; i < pairs; i++) explained += isfinite(s->measured[i].error);
  return explained >= pairs - columns_spare(pairs);
}

/* Finds the first position from known frequencies, if no formula explains them; and with it the amplitude, and all
   frequencies in s->measured. Returns false if there is no such position. */
static bool measure(search *s, making *how, estimate *amplitude) {
  enum { STARTS = 8 };
  const double relative = 5e-7, half = (double)(s->sampling.step * s->sampling.count) / 2.0;
  const columns *at = &s->columns;
  const bool alone = at->part != COLUMNS_BOTH;
  for (int step = 1; step >= -1; step -= 2) {
    *how = trial_making(s, &s->columns, &(formula){.scaling = {.factor = 1.0}});
    if (step < 0) how->columns = columns_exchanged(at);
    how->step = step;
    /* Waves of wrong frequencies have wrong amplitudes, so unknown frequencies are not used. */
    for (int64_t i = 0; i < at->pairs; i++)
      s->w[i] = formula_mark(&s->frequencies[i]) ? (long double)(step * s->frequencies[i].value) : 0.0L;
    waves_phases(&s->window, &how->columns, &s->sampling, s->w, s->phases, amplitude);
    for (int64_t i = 0; i < at->pairs; i++)
      s->phases[i].error =
          formula_mark(&s->frequencies[i]) ? s->phases[i].error + 3.0 * half * s->frequencies[i].error : INFINITY;
    for (int sine = alone && step < 0; sine <= alone && isfinite(amplitude->error); sine++) {
      start starts[STARTS];
      const phase_clock c = {s->phases, s->w, at->pairs, relative,
                             (double)(s->sampling.first + s->sampling.step * s->sampling.count)};
      if (sine) {
        how->columns.part = COLUMNS_SIN;
        trial_shift_phases(s, at->pairs, 1);
      }
      const size_t count = starts_find(&c, POSITION_NEAR, starts, STARTS);
      for (size_t n = 0; n < count; n++)
        if (start_is_one(&starts[n]) && measure_from(s, how, &starts[n], amplitude)) return true;
      if (sine) trial_shift_phases(s, at->pairs, -1);
    }
  }
  return false;
}

/* Returns the explanation of a formula at the known position. */
static explanation explain_measured_by(search *s, making *how, const formula *f, const estimate *amplitude) {
  explanation found = {.found = false};
  how->formula = *f;
  explain_amplitudes(s, how, amplitude, true, &found);
  return found;
}

/* Returns the distance of the measured waves, and of angles in f32. Such an angle rounds a value to a neighbouring
   number with a probability that equals its error in units. */
static double measured_distance(search *s, making *how, const estimate *amplitude) {
  const int64_t pairs = how->columns.pairs;
  const double unit = ldexp(amplitude->value, -format_of(s->window.held)->precision),
               middle = fabs(how->start.first + how->step * (double)s->window.count / 2.0);
  formula f = formula_plain(formula_bases[0]);
  double angles = 0.0;
  formula_frequencies(&f, pairs, s->w);
  for (int64_t i = 0; i < pairs; i++) {
    const double w = s->measured[i].value;
    s->factors[i] = w > 0.0 ? (double)s->w[i] / w : 1.0;
    angles += w * middle / (double)pairs;
  }
  f.scaling = (posenc_scaling){.kind = POSENC_SCALING_LONGROPE, .factor = 1.0, .factors = s->factors};
  const explanation found = explain_measured_by(s, how, &f, amplitude);
  return found.found ? found.distance + 0x1p-24 * amplitude->value * angles * unit : INFINITY;
}

/* Whether no wave explains the columns that were left out. A column with another frequency is not damaged, but belongs
   to another formula. */
static bool is_damage(const search *s, const explanation *e) {
  const columns *at = &e->how.columns;
  for (int64_t c = 0; e->damaged && c < at->dim; c++) {
    bool cosine;
    const int64_t i = columns_index(at, c, &cosine), other = columns_of(at, i, !cosine);
    const bool both = other < 0 || s->bad[other];
    if (s->bad[c] && both && isfinite(s->measured[i].error)) return false;
  }
  return true;
}

/* Whether a formula explains the values as well as the measured waves. In f32 and f64, it may differ in the last bits,
   which depend on the recipe. */
static bool is_as_measured(search *s, const explanation *e, double measured) {
  const double same = 1.1;
  const bool wide = s->window.held == POSENC_F32 || s->window.held == POSENC_F64;
  return wide ? explanation_is_rounding(s, e) : e->found && e->distance <= same * measured;
}

/* Tries scalings with a ramp, which the measured frequencies determine. */
static void explain_measured_ramp(search *s, making *how, const estimate *amplitude, const formula *formulas,
                                  size_t count, double measured, bool damaged) {
  formula scaled[FORMULAS_MAX], plain;
  for (size_t n = 0; n < count + formula_base_count && !s->failed && !explanation_is_scaled(&s->best); n++) {
    if (!scaled_base(formulas, count, n, &plain)) continue;
    const size_t found = scalings_find(&plain, s->measured, how->columns.pairs, scaled);
    for (size_t k = 0; k < found; k++) {
      const explanation e = explain_measured_by(s, how, &scaled[k], amplitude);
      if (is_as_measured(s, &e, measured) && (damaged || is_damage(s, &e))) trial_weigh(s, &e);
    }
  }
}

/* Tries scalings with a ramp, then longrope, whose factors have two decimals at one base, or else grow. */
static void explain_measured(search *s, making *how, const estimate *amplitude, const formula *formulas, size_t count) {
  formula plain;
  const size_t bases = count + formula_base_count;
  const double measured = measured_distance(s, how, amplitude);
  const int64_t pairs = how->columns.pairs;
  explain_measured_ramp(s, how, amplitude, formulas, count, measured, false);
  for (int decimals = 1; decimals >= 0; decimals--)
    for (size_t n = 0; n < bases && !s->failed && !explanation_is_scaled(&s->best); n++) {
      if (!scaled_base(formulas, count, n, &plain)) continue;
      if (!scalings_find_factors(&plain, s->measured, pairs, decimals, s->factors)) continue;
      plain.scaling = (posenc_scaling){.kind = POSENC_SCALING_LONGROPE, .factor = 1.0, .factors = s->factors};
      plain.digits += 5;
      const explanation e = explain_measured_by(s, how, &plain, amplitude);
      trial_weigh(s, &e);
    }
  if (!explanation_is_scaled(&s->best)) explain_measured_ramp(s, how, amplitude, formulas, count, measured, true);
}

void search_scaled(search *s, const formula *formulas, size_t count) {
  formula scaled[FORMULAS_MAX], plain;
  estimate amplitude;
  making how;
  s->is_measured = measure(s, &how, &amplitude);
  if (s->is_measured) {
    s->of_measured = how;
    explain_measured(s, &how, &amplitude, formulas, count);
    return;
  }
  for (size_t n = 0; n < count + formula_base_count && !explanation_is_rounding(s, &s->best); n++) {
    if (!scaled_base(formulas, count, n, &plain)) continue;
    const size_t found = scalings_find(&plain, s->frequencies, s->columns.pairs, scaled);
    trial_formulas(s, &s->columns, scaled, found);
  }
}
