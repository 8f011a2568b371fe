/* SPDX-License-Identifier: MIT */
/* Identifies a table: judges what it is told to be, then what the search finds, then known mistakes. */
#include "inspect/identify/identity.h"

#include "common/memory.h"
#include "common/number.h"
#include "inspect/identify/formula.h"
#include "inspect/identify/search.h"
#include "reference/accuracy.h"
#include "reference/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Known mistakes make something else than pairs of waves. They are looked for in tables of this size and more. */
enum { MISTAKE_DIM = 8, MISTAKE_ROWS = 8, LAYOUTS = 4 };

static const double mistake_near = 0.01; /* the error of values of f16 is smaller */

/* ---- mistakes: exponents from the number of the column ------------------------------------------- */

/* Returns the largest difference from columns j of sin or cos (position × base^(-j/dim)) in the first rows. */
static double distance(const table_window *w, double first, double base, bool cosine_first) {
  enum { ROWS = 64 };
  double most = 0.0;
  for (int64_t j = 0; j < w->dim; j++) {
    const double frequency = pow(base, -(double)j / (double)w->dim);
    const bool cosine = (j % 2 != 0) != cosine_first;
    for (int64_t r = 0; r < w->count && r < ROWS; r++) {
      const double angle = (first + (double)r) * frequency;
      most = fmax(most, fabs(window_row(w, r)[j] - (cosine ? cos(angle) : sin(angle))));
    }
  }
  return most;
}

/* Whether exponents are computed from the number j of the column, as 2j/dim or j/dim, instead of the index of the pair,
   so that a sine and the next cosine have different frequencies. Writes a description. */
static bool mistake_of_columns(const table_window *w, char *words, size_t size) {
  if (w->dim < MISTAKE_DIM || w->count < MISTAKE_ROWS) return false;
  for (int first = 0; first <= 1; first++)
    for (int cosine_first = 0; cosine_first <= 1; cosine_first++) {
      /* The base follows from the first sine with a frequency below 1 at position 1. */
      const int64_t j = cosine_first ? 1 : 2;
      const double sine = window_row(w, 1 - first)[j];
      if (!(sine > 0.0 && sine < 1.0)) continue;
      const double base = pow(asin(sine), -(double)w->dim / (double)j);
      if (!(base > 1.0) || !isfinite(base) || distance(w, first, base, cosine_first) > mistake_near) continue;
      const bool doubled = base > 1e6;
      /* Bases have three digits, and one value determines as many. */
      const double told = doubled ? sqrt(base) : base, unit = pow(10.0, floor(log10(told)) - 2.0);
      snprintf(words, size,
               "the exponents are %s of the column j instead of 2i/dim of the pair i, so that the sine and the cosine "
               "of a pair have different frequencies; base %s, from position %d on",
               doubled ? "2j/dim" : "j/dim", number_of(rint(told / unit) * unit).text, first);
      return true;
    }
  return false;
}

/* ---- mistakes: columns less their means ---------------------------------------------------------- */

/* Returns the largest difference from a table in the first rows, after subtracting each column's mean there from both.
   It is infinite if the means are equal. */
static double distance_of_changes(const table_window *w, const columns *at, const formula *f, double first) {
  enum { ROWS = 64 };
  const double sure = 0.1;
  double most = 0.0, constant = 0.0, change[ROWS];
  const int64_t rows = w->count < ROWS ? w->count : ROWS;
  for (int64_t c = 0; c < w->dim && most <= mistake_near; c++) {
    bool cosine;
    const int64_t i = columns_index(at, c, &cosine);
    const double frequency = pow(f->base, -(double)i / ((double)at->pairs - f->shift));
    double mean = 0.0;
    for (int64_t r = 0; r < rows; r++) {
      const double angle = (first + (double)r) * frequency;
      change[r] = window_row(w, r)[c] - (cosine ? cos(angle) : sin(angle));
      mean += change[r] / (double)rows;
    }
    constant = fmax(constant, fabs(mean));
    for (int64_t r = 0; r < rows; r++) most = fmax(most, fabs(change[r] - mean));
  }
  return constant > sure ? most : INFINITY;
}

/* Whether each column of a table is less a constant, such as its mean. Writes a description. */
static bool mistake_of_means(const table_window *w, char *words, size_t size) {
  static const posenc_layout layouts[] = {POSENC_INTERLEAVED, POSENC_SPLIT, POSENC_INTERLEAVED_CS, POSENC_SPLIT_CS};
  formula usual[FORMULAS_MAX];
  const size_t count = formulas_usual(0.0, usual, w->dim / 2);
  if (w->dim < MISTAKE_DIM || w->dim % 2 || w->count < MISTAKE_ROWS) return false;
  for (size_t n = 0; n < 2 * count * LAYOUTS; n++) {
    const columns at = {layouts[n % LAYOUTS], TABLE_BOTH, w->dim, w->dim / 2};
    const formula *f = &usual[n / LAYOUTS % count];
    const int first = n / LAYOUTS >= count;
    if (distance_of_changes(w, &at, f, first) > mistake_near) continue;
    snprintf(words, size,
             "each column is less a constant, such as its mean: base %s, shift %g, %s, from position %d on",
             number_of(f->base).text, f->shift, columns_layout_name(&at), first);
    return true;
  }
  return false;
}

/* Whether the right half of each row is a copy of the left one. */
static bool mistake_of_copies(const table_window *w, char *words, size_t size) {
  const size_t half = (size_t)w->dim / 2;
  for (int64_t r = 0; r < w->count; r++)
    if (memcmp(window_row(w, r), window_row(w, r) + half, half * sizeof(double)) != 0) return false;
  snprintf(words, size, "the second table is a copy of the first");
  return true;
}

/* ---- mistakes: rows and columns exchanged -------------------------------------------------------- */

/* Estimates c in x(n+1) + x(n-1) = 2 c x(n) by least squares. Returns NaN if the residual is more than rounding. */
static double cosine_along(const table_window *w, int64_t row) {
  const double *x = window_row(w, row), rounding = 1e-4;
  double products = 0.0, squares = 0.0, left = 0.0;
  for (int64_t n = 1; n + 1 < w->dim; n++) {
    products += x[n] * (x[n + 1] + x[n - 1]);
    squares += x[n] * x[n];
  }
  const double cosine = products / squares / 2.0;
  for (int64_t n = 1; n + 1 < w->dim; n++) {
    const double rest = x[n + 1] + x[n - 1] - 2.0 * cosine * x[n];
    left += rest * rest;
  }
  return squares > 0.0 && left <= rounding * squares ? cosine : (double)NAN;
}

/* Whether the rows are waves, as the columns of a table are. */
static bool mistake_is_transposed(const table_window *w) {
  enum { ROWS = 16, LEAST = 8 };
  const double fast = 0.95; /* cosine of a step; slower waves cannot be distinguished from other smooth curves */
  int64_t waves = 0, fast_waves = 0, rows = 0;
  if (w->dim < LEAST) return false;
  for (; rows < w->count && rows < ROWS; rows++) {
    const double cosine = cosine_along(w, rows);
    waves += !isnan(cosine);
    fast_waves += fabs(cosine) < fast;
  }
  return waves * 4 >= rows * 3 && fast_waves >= 3;
}

/* Sets the verdict, and returns it. */
static identify_verdict say(identity *found, identify_verdict verdict, const char *reason) {
  found->verdict = verdict;
  snprintf(found->reason, sizeof found->reason, "%s", reason);
  return verdict;
}

static bool all_rows_equal(const table_window *w) {
  for (int64_t r = 1; r < w->count; r++)
    if (memcmp(window_row(w, 0), window_row(w, r), (size_t)w->dim * sizeof(double)) != 0) return false;
  return true;
}

/*
 * Whether half of the elements equal a maker's, and the others are near. In sums and products of two tables, columns of
 * low frequencies, whose cosines are near 1, also equal a table's, but the others are not near.
 */
static bool is_half_equal(const maker *m, double amplitude) {
  return m->equal * 2 >= m->compared && sqrt(maker_distance(m)) <= fabs(amplitude) / 64.0;
}

/* Whether 95 % of the elements equal a maker's, or recipes' rounding explains all errors but a few. */
static bool is_explained(const identity *found) {
  for (size_t n = 0; n < found->match_count; n++)
    if (maker_is_near(&found->matches[n])) return true;
  /* A list of positions explains any single column. If all angles are small, sines alone also explain all multiples of
     that column, after columns with larger values are left out. */
  if (found->how.positions && found->how.columns.part != TABLE_BOTH && found->damage_count) return false;
  return found->elements > 0 && found->unexplained * 20 <= found->elements;
}

/* Whether what is not explained may be a row: half of it, which may be at another position. */
static bool has_whole_rows(const identity *found) {
  return !(found->match_count && maker_is_equal(&found->matches[0])) && found->unexplained * 2 >= found->dim;
}

/* Whether what is not explained is damage, not another formula, or code with larger errors: most elements are far off,
   and columns are constant or have the values of other ones. */
static bool has_plain_damage(const identity *found) {
  for (size_t n = 0; n < found->damage_count; n++)
    if (found->damage[n].sin == IDENTIFY_FOREIGN) return false;
  return found->evident * 2 >= found->unexplained;
}

static bool is_supported(const identity *found) {
  for (size_t n = 0; n < found->match_count; n++)
    if (found->matches[n].compared > 0 && is_half_equal(&found->matches[n], found->how.amplitude)) return true;
  return is_explained(found);
}

/* ---- frequencies of other encodings --------------------------------------------------------------- */

/* Whether w[i + 1] / w[i] is `ratio` for all i, within the errors. */
static bool have_ratio(const estimate *w, int64_t pairs, double ratio) {
  for (int64_t i = 0; i + 1 < pairs; i++)
    if (!(fabs(w[i + 1].value - ratio * w[i].value) <= 4.0 * (w[i + 1].error + ratio * w[i].error) + 1e-6 * w[i].value))
      return false;
  return pairs >= FORMULA_EVIDENT;
}

static bool have_step(const estimate *w, int64_t pairs) {
  const double step = w[1].value - w[0].value;
  for (int64_t i = 1; i + 1 < pairs; i++)
    if (!(fabs(w[i + 1].value - w[i].value - step) <=
          4.0 * (w[i + 1].error + w[i].error + w[1].error + w[0].error) + 1e-6))
      return false;
  return pairs >= FORMULA_EVIDENT && fabs(step) > 1e-6;
}

/* Whether the frequencies in reversed order are those of a formula. Writes a description. */
static bool are_reversed(search *s, char *words, size_t size) {
  const int64_t pairs = s->columns.pairs;
  formula formulas[FORMULAS_MAX];
  for (int64_t i = 0; i < pairs; i++) s->phases[i] = (s->is_measured ? s->measured : s->frequencies)[pairs - 1 - i];
  if (pairs < FORMULA_EVIDENT || !formulas_find(s->phases, pairs, formulas) || !formulas[0].most) return false;
  const formula *f = &formulas[0];
  snprintf(words, size, "the frequencies are in reversed order, the slowest first: base %s, shift %g, scale %s",
           number_within(f->base, f->base_error).text, f->shift, number_within(f->scale, f->scale_error).text);
  return true;
}

static void describe_frequencies(search *s, char *words, size_t size) {
  const estimate *w = s->frequencies;
  const int64_t pairs = s->columns.pairs;
  const double error = w[0].error + w[1].error, step = fabs(w[1].value - w[0].value), first = w[0].value / step;
  if (have_ratio(w, pairs, 2.0) || have_ratio(w, pairs, 0.5))
    snprintf(words, size, "each frequency is twice its neighbour, as in the features of NeRF, which no base explains");
  else if (have_step(w, pairs))
    snprintf(words, size,
             "the frequencies are %s, in steps of %s radians a row, where those of a base have equal ratios",
             fabs(first - rint(first)) <= 4.0 * (1.0 + first) * error / step + 1e-6
                 ? "multiples of one, as in a Fourier transform"
                 : "evenly spaced",
             number_within(step, 4.0 * error / step).text);
  else if (!are_reversed(s, words, size))
    snprintf(words, size, "no base explains its frequencies, nor a scaling that is known here");
}

/* ---- verdicts ------------------------------------------------------------------------------------- */

/* Sets the verdict for waves at whole positions, as caches have, with other frequencies. It names these in the digits
   that are known. */
static identify_verdict say_measured(identity *found, const search *s, const char *words) {
  const making *how = &s->of_measured;
  const int64_t pairs = how->columns.pairs;
  const double sure = 4.0;
  number_text w[3];
  const int64_t shown[] = {0, pairs > 1, pairs - 1};
  for (int n = 0; n < 3; n++) {
    const estimate *one = &s->measured[shown[n]];
    w[n] = one->value > sure * one->error ? number_within(one->value, sure * one->error / one->value) : number_of(0.0);
  }
  char reason[sizeof found->reason];
  snprintf(reason, sizeof reason, "%s: %s, %s .. %s radians a row, from position %.0f on", words, w[0].text, w[1].text,
           w[2].text, how->start.first);
  found->how.columns = how->columns;
  return say(found, IDENTIFY_BENT, reason);
}

static identify_verdict say_other_waves(identity *found, search *s, size_t formulas) {
  char words[200] = "";
  const int64_t known = search_count_known(s), pairs = s->columns.pairs;
  if (formulas == 0 && pairs >= FORMULA_EVIDENT) describe_frequencies(s, words, sizeof words);
  if (s->is_measured && *words) return say_measured(found, s, words);
  if (s->columns.part == TABLE_BOTH && known * 2 >= pairs) {
    if (formulas == 0 && pairs == 1)
      return say(found, IDENTIFY_BENT, "the one frequency is not 1, which tells no base and scale");
    if (formulas == 0 && known < FORMULA_EVIDENT)
      return say(found, IDENTIFY_BENT,
                 "a base and a scale would explain any two frequencies: these are of no plain base");
    if (formulas == 0) return say(found, IDENTIFY_BENT, words);
    return say(found, IDENTIFY_BENT, "the phases are those of no positions in steps of one row, and of no list");
  }
  if (s->columns.part == TABLE_BOTH)
    return say(found, IDENTIFY_NO_TABLE, "its pairs of columns do not turn evenly from row to row");
  if (known * 2 >= pairs && pairs >= FORMULA_EVIDENT)
    return say(found, IDENTIFY_BENT, formulas ? "no positions explain their phases" : words);
  if (known > 0)
    return say(found, IDENTIFY_NO_TABLE,
               "no two columns are sine and cosine of one angle, and too few are waves to tell a base");
  return say(found, IDENTIFY_NO_TABLE, "no two columns are sine and cosine of one angle, and none is a wave");
}

/* Takes over the best explanation, and judges it by the whole file. */
static void judge_best(search *s, identity *found) {
  found->how = s->best.how;
  found->also_known = s->also.found;
  found->also = s->also.how.formula;
  found->also.scaling.factors = NULL;
  found->original_least = s->best.original_least;
  found->original_most = s->best.original_most;
  found->starts = s->best.starts;
  double *all = found->how.positions ? search_list_all(s) : NULL;
  if (all) {
    s->known = s->window.rows;
    found->how.positions = all;
  }
  judge(s, found);
  s->known = s->window.count;
  free(all);
}

static void free_parts(identity *found) {
  free(found->matches);
  free(found->damage);
  free(found->factors);
  free(found->factor_errors);
  free(found->positions);
  free(found->bad);
}

/* Takes another identity instead, and all that it points to. */
static void take(identity *found, const identity *other) {
  free_parts(found);
  *found = *other;
}

/* Whether every row of the window that is not zero has a whole position, in more than one run. A single run explains no
   more than a first position does, and any curve has rows at positions between whole ones. */
static bool is_whole_list(const table_window *w, const identity *found) {
  for (int64_t r = 0; found->positions && r < w->count; r++)
    if (!w->zero[r] && !(fabs(found->positions[r] - rint(found->positions[r])) <= 0.0)) return false;
  return found->positions && found->runs > 1;
}

/* Tries a list of positions and keeps it if it explains the window. Rows at rounded positions, or in no order, may be
   near rows of successive positions. `unread`: the identity before it was judged; told: how most rows are made, or
   null. */
static void judge_as_list(search *s, const identity *unread, const making *told, identity *found) {
  identity list = *unread;
  const explanation best = s->best, also = s->also;
  s->best.found = s->also.found = false;
  s->told = told;
  if (told)
    search_list_of(s, told);
  else
    search_list(s);
  const bool is_good = explanation_is_good(&s->best);
  if (is_good) judge_best(s, &list);
  s->told = NULL;
  if (is_good && is_explained(&list) && is_whole_list(&s->window, &list)) {
    take(found, &list);
    say(found, IDENTIFY_TABLE, "");
    return;
  }
  free_parts(&list);
  s->best = best;
  s->also = also;
}

/* Whether exponents are from the number of the column, columns are less their means, or the second of two tables is a
   copy. Sets the verdict. */
static bool is_mistake(const search *s, identity *found) {
  const table_window *w = &s->window;
  char words[sizeof found->reason];
  if (!mistake_of_columns(w, words, sizeof words) && !mistake_of_means(w, words, sizeof words) &&
      !(table_stored(s->request->table)->joined && mistake_of_copies(w, words, sizeof words)))
    return false;
  found->how.columns = (columns){.layout = POSENC_INTERLEAVED, .part = TABLE_BOTH, .dim = w->dim};
  say(found, IDENTIFY_BENT, words);
  return true;
}

/* Negates the sines or the cosines of all pairs, or all columns of one part alone. */
static void negate(search *s, const columns *at, bool cosines) {
  for (int64_t c = 0; c < at->dim; c++) {
    bool cosine;
    columns_index(at, c, &cosine);
    for (int64_t r = 0; r < s->window.count && cosine == cosines; r++) s->window.values[r * s->window.dim + c] *= -1.0;
  }
}

/* Whether it is a table after negating sines, cosines or both. Sets the verdict, and leaves the window negated. */
static bool is_negated(search *s, identity *found) {
  const columns at = s->columns;
  const explanation best = s->best;
  const bool alone = at.part != TABLE_BOTH;
  for (int n = 0; n < (alone ? 1 : 3); n++) {
    /* The cosines are negated, then also the sines, then only the sines. One part alone has no others. */
    negate(s, &at, n != 1);
    s->best.found = s->also.found = false;
    search_run(s);
    if (!explanation_is_good(&s->best) || s->best.how.positions || s->best.how.step < 0) continue;
    const formula *f = &s->best.how.formula;
    const columns *told = &s->best.how.columns;
    const bool all = n == 1 || told->part != TABLE_BOTH, cosines = (n == 0) == (told->layout == at.layout);
    char words[sizeof found->reason];
    const char *ones = cosines ? "the cosines" : "the sines";
    snprintf(found->negated, sizeof found->negated, "%s are negated", all ? "all values" : ones);
    snprintf(words, sizeof words, "%s: base %s, shift %g, from position %.15g on", found->negated,
             number_within(f->base, f->base_error).text, f->shift, s->best.how.start.first);
    found->how.columns = *told;
    say(found, IDENTIFY_BENT, words);
    return true;
  }
  negate(s, &at, alone);
  s->columns = at;
  s->best = best;
  return false;
}

/* Sets and returns the verdict on a table of which nothing is told. */
static identify_verdict explain(search *s, identity *found) {
  enum { ROWS_LEAST = 4 };
  const table_window *w = &s->window;
  int64_t rows = 0;
  for (int64_t r = 0; r < w->count; r++) rows += !w->zero[r];
  if (!w->finite) return say(found, IDENTIFY_NO_TABLE, "it has infinities or NaN among its first rows");
  if (rows == 0) return say(found, IDENTIFY_NO_TABLE, "it is all zeros");
  if (rows < ROWS_LEAST) return say(found, IDENTIFY_FEW, "too few rows to tell");
  if (all_rows_equal(w)) return say(found, IDENTIFY_NO_TABLE, "all rows are the same");

  const size_t count = search_run(s);
  if (!explanation_is_good(&s->best)) {
    found->how = s->best.how;
    if (!s->best.found) found->how.columns = s->columns;
    found->how.positions = NULL;
    found->how.formula.scaling.factors = NULL;
    if (is_mistake(s, found) || (count > 0 && is_negated(s, found))) return found->verdict;
    if (mistake_is_transposed(w))
      return say(found, IDENTIFY_NO_TABLE, "its rows are waves, and its columns are none: it may be transposed");
    return say_other_waves(found, s, count);
  }
  const identity unread = *found;
  judge_best(s, found);
  const bool is_read = is_explained(found) && !has_whole_rows(found);
  if (!is_read && !found->positions) judge_as_list(s, &unread, NULL, found);
  if (is_supported(found)) return say(found, IDENTIFY_TABLE, "");
  if (is_mistake(s, found)) return found->verdict;
  if (explain_leaves_curve(s, &found->how))
    return say(found, IDENTIFY_NO_TABLE, "its columns go up and down like a table's, but are no sines and cosines");
  char near[sizeof found->reason];
  snprintf(near, sizeof near,
           "the values are only near a formula: off by %.1g of the amplitude, and more than one element in 20 is "
           "farther from it "
           "than rounding explains",
           sqrt(s->best.distance) / found->how.amplitude);
  return say(found, IDENTIFY_BENT, near);
}

/* Judges the table made as `how`, and with by_makers tells who made it. Returns whether that explains it. */
static bool judge_as(search *s, const identity *unread, const making *how, bool by_makers, identity *found) {
  take(found, unread);
  found->how = *how;
  found->how.held = found->held;
  const identify_request *const request = s->request, none = {.table = request->table, .name = request->name};
  if (!by_makers) s->request = &none;
  s->known = s->window.rows;
  judge(s, found);
  s->known = s->window.count;
  s->request = request;
  return say(found, is_explained(found) ? IDENTIFY_TABLE : IDENTIFY_NO_TABLE, "") == IDENTIFY_TABLE;
}

/* Returns the largest |position| of the rows, on any axis. */
static double farthest_of(const making *how, int64_t rows) {
  double most = 0.0;
  for (int64_t row = 0; row < rows; row++) {
    const double there = making_position(how, row);
    for (int a = 0; how->axes && a < how->axes->count; a++)
      most = fmax(most, fabs(axis_position(how->axes, a, (int64_t)there)));
    if (!how->axes) most = fmax(most, fabs(there));
  }
  return most;
}

/* Whether it is a table, and no element is beyond the tolerance of a check that is given none (reference/accuracy.h);
   if it is of f64, of code in f64. */
static bool is_within(const identify_request *request, const identity *found) {
  const bool has_zeros = found->paddings == 1 && request->asked && found->padding == request->asked->padding;
  const double unit = tolerance_unit(POSENC_F32), most = tolerance_most(farthest_of(&found->how, found->rows), unit) +
                                                         tolerance_of_value(found->held, unit, ROUNDINGS_OF_TABLE);
  return found->verdict == IDENTIFY_TABLE && !found->unexplained && found->max_abs <= most * found->how.amplitude &&
         !found->damage_count && !found->not_finite && (!found->paddings || has_zeros) &&
         (found->held != POSENC_F64 || identity_arithmetic(found) == POSENC_F64);
}

/* Judges the table as what is asked. Returns whether that explains it. */
static bool judge_as_asked(search *s, const identity *unread, identity *found) {
  const making how = making_asked(s->request->asked, s->request->part);
  if (how.columns.dim > s->window.dim || how.columns.pairs < 1) return false;
  const bool is_right = judge_as(s, unread, &how, false, found);
  found->within = is_within(s->request, found);
  return is_right;
}

/* Judges the table as what is asked, or else as the problem that was found. */
static void judge_places(search *s, const posenc_problem *problem, const columns *at, identity *found) {
  const identify_request *request = s->request;
  const identity unread = *found;
  const bool is_right = request_has_axes(request) && judge_as_asked(s, &unread, found);
  /* Other sections of slow frequencies are near the asked ones. */
  const bool is_near = is_right && (found->unexplained || found->damage_count) && problem &&
                       !axes_have_pairs(problem->axes, request->asked->axes);
  if ((is_right && !is_near) || !problem) return;
  making how = making_asked(problem, at->part);
  how.columns = *at;
  judge_as(s, &unread, &how, false, found);
}

/* Whether the formula is near, in a few rows. */
static bool is_near(search *s, const making *how) {
  enum { FEW = 5 };
  makers m;
  makers_open(&m, how, false, s->window.count);
  explain_compare(&m, &m.all[0], &s->window, FEW);
  const explanation e = {.found = true, .how = *how, .distance = maker_distance(&m.all[0])};
  makers_close(&m);
  return explanation_is_good(&e);
}

/* Judges the table as the first suspect that explains all of it, in these rows and columns: what else it may be is not
   searched for, which takes seconds. Rounded angles, which no formula has, need not explain all of it: an error of f32
   may round an angle to the other side. Returns whether there is one. */
static bool judge_as_suspect(search *s, const identity *unread, const making *at, identity *found) {
  const suspect_list *list = s->request->suspects;
  for (size_t n = 0; list && n < list->count; n++) {
    const suspect *one = &list->items[n];
    making how;
    if (one->angles && !s->window.finite) continue; /* rows without a number are near any angle */
    if (!making_with(at, &one->problem, &how)) continue;
    how.angles = one->angles;
    if (!is_near(s, &how) || !judge_as(s, unread, &how, !s->request->asked, found)) continue;
    if (one->angles) {
      take(found, unread);
      found->how.columns = at->columns;
      say(found, IDENTIFY_BENT, one->text);
      return true;
    }
    if (is_within(s->request, found)) return true;
  }
  return false;
}

/* Whether the rows of the window are its first ones, again and again. */
static bool come_again(const table_window *w) {
  const size_t bytes = (size_t)w->dim * sizeof(double);
  int64_t period = 1;
  while (period < w->count && memcmp(window_row(w, 0), window_row(w, period), bytes) != 0) period++;
  for (int64_t r = period; r < w->count; r++)
    if (memcmp(window_row(w, r), window_row(w, r - period), bytes) != 0) return false;
  return period > 1 && period < w->count;
}

/* Judges the table as `how`, which is expected. Returns whether that explains all of it, or all but single elements,
   and rows at other positions, which are then found. */
static bool judge_as_expected(search *s, const identity *unread, const making *how, identity *found) {
  const making told = *how; /* judging marks damaged columns */
  bool is_right = judge_as(s, unread, how, !s->request->asked, found);
  found->within = is_within(s->request, found);
  if (found->within) return true;
  if (!is_right && come_again(&s->window)) {
    judge_as_list(s, unread, &told, found);
    return found->positions;
  }
  is_right = is_right && has_plain_damage(found) && explain_is_scattered(s, &found->how);
  const bool has_blank = found->paddings && found->positions;
  if (is_right && (has_whole_rows(found) || has_blank)) judge_as_list(s, unread, &told, found);
  return is_right;
}

/* Whether the rows of the window are at positions in equal steps, within what roundings to 16 bits and errors of angles
   in f32 leave of these. */
static bool are_even(const search *s, const double *positions) {
  const double room = 0.02, share = 0.01, of_position = 1e-6;
  double least = INFINITY, most = -INFINITY, farthest = 0.0;
  for (int64_t r = 1; r < s->window.count; r++) {
    const double step = positions[r] - positions[r - 1];
    if (isnan(step)) continue;
    least = fmin(least, step);
    most = fmax(most, step);
    farthest = fmax(farthest, fabs(positions[r]));
  }
  return !(most - least > room + share * fabs(most) + of_position * farthest);
}

/* Judges the table as the expected formula at a position of each row, as those of times: formulas that are tried at
   successive positions take seconds. Returns whether that explains every element. Positions in equal steps may be a
   scale: the first identity that has them is `even` instead. */
static bool judge_as_times(search *s, const identity *unread, const making *how, identity *found, identity *even) {
  making at = *how;
  for (int pass = 0; pass < 2 && at.columns.pairs >= FORMULA_EVIDENT; pass++) {
    if (pass && how->columns.part == TABLE_BOTH) at.columns = columns_exchanged(&how->columns);
    if (pass && how->columns.part != TABLE_BOTH) at.columns.part = TABLE_SIN;
    take(found, unread);
    s->best.found = s->also.found = false;
    search_list_of(s, &at);
    if (explanation_is_good(&s->best)) judge_best(s, found);
    if (!found->positions || found->unexplained || found->damage_count || found->not_finite || found->lost ||
        found->blank)
      continue;
    say(found, IDENTIFY_TABLE, "");
    if (!are_even(s, found->positions)) return true;
    if (even->positions) continue;
    *even = *found;
    *found = *unread;
  }
  s->best.found = s->also.found = false;
  s->columns = how->columns;
  return false;
}

/* Finds the columns and rows in which the table may be what is asked or expected. Returns false if it cannot be. */
static bool find_told(search *s, making *at) {
  const identify_request *request = s->request;
  const posenc_problem *asked = request->asked;
  if (!request->expected || request_has_axes(request) || (asked && !request->as_asked)) return false;
  /* A config tells neither columns nor positions: the columns are searched for, and positions begin at 0. */
  if (!asked) search_columns(s);
  *at = asked ? making_asked(asked, request->part) : (making){.columns = s->columns, .step = 1, .start = start_at(0)};
  return at->columns.dim <= s->window.dim && at->columns.pairs >= 1 && !(fabs(s->window.offset) > 0.0);
}

/* Judges the table as what is asked or expected, or as a suspect, or at positions in any order. Returns whether one of
   these explains it. */
static bool judge_as_told(search *s, const identity *unread, const making *at, identity *found, identity *even) {
  const suspect_list *expected = s->request->expected;
  making how;
  if (s->request->asked && judge_as_expected(s, unread, at, found)) return true;
  for (size_t n = 0; !s->request->asked && n < expected->count; n++)
    if (making_with(at, &expected->items[n].problem, &how) && (is_near(s, &how) || explain_is_scattered(s, &how)) &&
        judge_as_expected(s, unread, &how, found))
      return true;
  if (judge_as_suspect(s, unread, at, found)) return true;
  for (size_t n = 0; n < expected->count; n++)
    if (making_with(at, &expected->items[n].problem, &how) && judge_as_times(s, unread, &how, found, even)) return true;
  return false;
}

/* Explains the table as what is told, if that explains it; or else as what it is found to be. */
static void explain_as_told(search *s, identity *found) {
  const identity unread = *found;
  identity even = unread;
  making at;
  if (!find_told(s, &at)) {
    explain(s, found);
    return;
  }
  if (!judge_as_told(s, &unread, &at, found, &even)) {
    take(found, &unread);
    if (explain(s, found) == IDENTIFY_NO_TABLE) {
      s->best.found = false; /* what is no table is near none */
      /* A few rows far from 0 do not show a base of many digits, but agree with the expected one. */
      if (even.positions) take(found, &even), even = unread;
    }
  }
  free_parts(&even);
}

/* Returns an identity of which nothing is found, and opens its search. */
static identity *open_identity(search *s, const identify_request *request) {
  search_open(s, request);
  identity *found = memory_take(1, sizeof *found);
  found->verdict = IDENTIFY_NO_TABLE;
  found->stored = s->window.stored;
  found->held = s->window.held;
  found->rows = s->window.rows;
  found->dim = s->window.dim;
  found->error = request->error;
  found->padding = POSENC_NO_PADDING;
  return found;
}

identity *identify(const identify_request *request) {
  search s;
  identity *found = open_identity(&s, request);
  explain_as_told(&s, found);
  if (!request_has_axes(request)) agree(&s, found);
  search_close(&s);
  return found;
}

identity *identify_places(const identify_request *request, const posenc_problem *problem, const columns *at) {
  search s;
  identity *found = open_identity(&s, request);
  judge_places(&s, problem, at, found);
  agree(&s, found);
  search_close(&s);
  return found;
}

void identity_free(identity *found) {
  if (!found) return;
  free_parts(found);
  free(found);
}
