/* SPDX-License-Identifier: MIT */
#include "identify/identify.h"

#include "common/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows with which all are compared at first; and values of the file at a time. */
enum { FEW_ROWS = 5, SOME_ROWS = 33, BLOCK_VALUES = 1 << 19 };

/* Digits by which a formula must be plainer to be the only one, and so many that nobody writes them. */
enum { PLAINER = 2, NOBODYS = 8 };

/* How the table may have come to be, and the mean square of what the closest maker's values then are off. */
typedef struct explanation {
  bool found;
  making how;
  double distance;
} explanation;

typedef struct search {
  const identify_request *request;
  window window;
  sampling sampling;
  int64_t run; /* equal rows */
  estimate *frequencies, *phases;
  long double *w;
  explanation best, also; /* also: another formula that is as good */
  bool failed;            /* memory ran out */
} search;

/* ---- explanations -------------------------------------------------------------------------------- */

/* The distance of the closest of all from more and more rows of the window, the first `least_rows` or more, until it is more than `limit`. */
static double distance_of(makers *m, const window *w, int64_t least_rows, double limit) {
  static const int64_t stages[] = {FEW_ROWS, SOME_ROWS, INT64_MAX};
  const size_t begin = least_rows > FEW_ROWS;
  double closest = INFINITY;
  for (size_t stage = begin; stage < sizeof stages / sizeof *stages; stage++) {
    const int64_t rows = stages[stage] < w->count ? stages[stage] : w->count;
    double least = INFINITY;
    for (size_t n = 0; n < m->count; n++) {
      maker *by = &m->all[n];
      if (stage > begin && maker_distance(by) > closest) continue;
      *by = (maker){.kernel = by->kernel, .plan = by->plan};
      for (int64_t k = 0; k < rows; k++) {
        const int64_t row = rows > 1 ? k * (w->count - 1) / (rows - 1) : 0;
        if (!w->zero[row]) makers_compare(m, by, row, window_row(w, row));
      }
      least = fmin(least, maker_distance(by));
    }
    closest = least;
    if (closest > limit || rows == w->count) break;
  }
  return closest;
}

/* What comes first is plainer: anything else must be much closer. */
static bool is_better(const explanation *than, double distance) {
  const double much = 0.25;
  return !than->found || distance < much * than->distance;
}

/* What is explained leaves a small part of the values; random ones of the same size would leave all of it, twice. */
static bool is_good(const explanation *e) {
  const double part = 0.01, amplitude = e->how.amplitude;
  return e->found && e->distance <= part * amplitude * amplitude;
}

static bool is_done(const search *s, const explanation *e) {
  return s->failed || (e->found && !(e->distance > 0.0));
}

static void consider(search *s, const making *how, explanation *e) {
  makers m;
  if (!makers_open(&m, how, false, s->window.rows, s->request->kernels, s->request->kernel_count)) {
    s->failed = true;
    return;
  }
  const double distance = distance_of(&m, &s->window, FEW_ROWS, e->found ? e->distance : INFINITY);
  if (is_better(e, distance)) *e = (explanation){true, *how, distance};
  makers_close(&m);
}

/* Amplitudes that the values may have: 1, a plain number, the largest value, or as it was estimated; of some positions, the first alone. */
static void consider_amplitudes(search *s, making *how, const estimate *amplitude, bool all, explanation *e) {
  enum { DIGITS = 9 };
  const double unit = ldexp(1.0, -format_of(how->held)->precision);
  const double room = amplitude->error + amplitude->value * unit / 4.0;
  const double close = 0.05; /* where angles are wrong, so is the estimate */
  double tried[4] = {1.0, amplitude->value, amplitude->value, s->window.most};
  char text[32];
  for (int digits = 1; digits <= DIGITS; digits++) {
    snprintf(text, sizeof text, "%.*e", digits - 1, amplitude->value);
    tried[1] = strtod(text, NULL);
    if (fabs(tried[1] - amplitude->value) <= room) break;
  }
  for (size_t n = 0; n < sizeof tried / sizeof *tried && !is_done(s, e); n++) {
    how->amplitude = tried[n];
    if (fabs(how->amplitude - amplitude->value) > (n ? room + unit : close)) continue;
    consider(s, how, e);
    if (!all) break;
  }
}

/* Where several whole positions are left, by those who round positions, each is tried, from the middle on. */
static void consider_positions(search *s, making *how, const estimate *amplitude, explanation *e) {
  enum { MOST = 257 };
  formula *f = &how->formula;
  const int64_t least = f->first_least, most = f->first_most;
  if (least >= most || most - least >= MOST) {
    consider_amplitudes(s, how, amplitude, true, e);
    return;
  }
  for (int64_t n = 0, middle = least + (most - least) / 2; n <= most - least && !is_done(s, e); n++) {
    f->first_least = f->first_most = middle + (n % 2 ? (n + 1) / 2 : -(n / 2));
    f->first = (double)f->first_least;
    consider_amplitudes(s, how, amplitude, false, e);
  }
}

/* Positions that were rounded look like the middle of those that were. */
static void widen(int64_t run, formula *f) {
  if (run <= 1 || f->first_least > f->first_most) return;
  f->first_least -= run;
  f->first_most += run;
}

/* A formula of frequencies, with the first position that phases tell. */
static explanation explain_by(search *s, const columns *at, const formula *plain, bool far) {
  /* Errors that recipes' angles have: of double, f32, TF32 and bf16. Very far out, only double keeps its phase. */
  static const double relative[] = {1e-15, 5e-7, 5e-4, 8e-3};
  const size_t ways = far ? 1 : sizeof relative / sizeof *relative;
  const int64_t farthest = far ? INT64_C(1) << 41 : INT64_C(1) << 21;
  const double quarter = 1.57079632679489662; /* the phase of a cosine, less that of a sine */
  explanation found = {.found = false};
  estimate amplitude;
  formula_frequencies(plain, at->pairs, s->w);
  waves_phases(&s->window, at, &s->sampling, s->w, s->phases, &amplitude);
  for (size_t n = 0; isfinite(amplitude.error) && n < ways; n++)
    for (int sine = 0; sine <= (at->part != COLUMNS_BOTH) && !is_good(&found) && !s->failed; sine++) {
      making how = {.formula = *plain, .columns = *at, .held = s->window.held};
      if (sine) how.columns.part = COLUMNS_SIN;
      for (int64_t i = 0; sine && i < at->pairs; i++) s->phases[i].value += quarter;
      if (formula_first(&how.formula, s->phases, s->w, at->pairs, relative[n],
                        s->sampling.first + s->sampling.step * s->sampling.count, farthest)) {
        widen(s->run, &how.formula);
        consider_positions(s, &how, &amplitude, &found);
      }
      for (int64_t i = 0; sine && i < at->pairs; i++) s->phases[i].value -= quarter;
    }
  return found;
}

static bool is_same(const formula *a, const formula *b) {
  return fabs(a->base - b->base) <= 1e-9 * b->base && fabs(a->shift - b->shift) <= 0.0;
}

static void weigh(search *s, const explanation *e) {
  if (!e->found) return;
  if (is_better(&s->best, e->distance))
    s->best = *e, s->also.found = false;
  else if (e->distance <= s->best.distance && e->how.formula.digits <= s->best.how.formula.digits + PLAINER &&
           !is_same(&e->how.formula, &s->best.how.formula))
    s->also = *e;
}

/* The plainest formula of those that come as close as any. */
static void explain_all(search *s, const columns *at, const formula *formulas, size_t count) {
  for (size_t n = 0; n < count && !s->failed; n++) {
    if (is_done(s, &s->best) && formulas[n].digits > s->best.how.formula.digits + PLAINER) break;
    const explanation e = explain_by(s, at, &formulas[n], false);
    weigh(s, &e);
  }
}

/* ---- columns that turn the other way -------------------------------------------------------------- */

/* The cosine comes first where most pairs turn backwards. */
static void turn_columns(columns *at, estimate *frequencies) {
  int64_t votes = 0;
  for (int64_t i = 0; i < at->pairs; i++)
    if (fabs(frequencies[i].value) > 3.0 * frequencies[i].error) votes += frequencies[i].value > 0.0 ? 1 : -1;
  if (votes >= 0) return;
  at->layout = at->layout == POSENC_SPLIT ? POSENC_SPLIT_CS : POSENC_INTERLEAVED_CS;
  for (int64_t i = 0; i < at->pairs; i++) frequencies[i].value = -frequencies[i].value;
}

static int64_t count_known(const estimate *frequencies, int64_t pairs) {
  int64_t known = 0;
  for (int64_t i = 0; i < pairs; i++)
    known += fabs(frequencies[i].value) > 0.0 && frequencies[i].error < 0.05 * fabs(frequencies[i].value);
  return known;
}

/* ---- all of the file ------------------------------------------------------------------------------ */

/* Exact values of the row under which others are compared. */
typedef struct sums {
  identity *found;
  makers *m;
  bool *closest; /* makers that are compared with all rows */
} sums;

static void add_element(sums *s, int64_t row, int64_t column, double there, double real, double rounded) {
  identity *found = s->found;
  const double error = fabs(there - real);
  if (!isfinite(there)) {
    found->not_finite++;
    return;
  }
  found->max_if_exact = fmax(found->max_if_exact, fabs(rounded - real));
  if (error <= found->max_abs && found->elements > 0) return;
  found->max_abs = error;
  found->worst_position = found->how.formula.first_least + row;
  found->worst_column = column;
}

static bool is_zero(const double *values, int64_t count) {
  for (int64_t c = 0; c < count; c++)
    if (!(fabs(values[c]) <= 0.0)) return false;
  return true;
}

static void add_row(sums *s, int64_t row, const double *there) {
  identity *found = s->found;
  const columns *at = &found->how.columns;
  const double *rounded = makers_row(s->m, &s->m->all[0], row); /* leaves the exact pairs */
  if (is_zero(there, at->dim) && !is_zero(rounded, at->dim)) {
    if (!found->paddings++) found->padding = found->how.formula.first_least + row;
    return;
  }
  for (int64_t c = 0; c < at->dim; c++) {
    bool cosine;
    const fast_pair *pair = &s->m->pairs[columns_index(at, c, &cosine)];
    const fast_value *x = cosine ? &pair->cosine : &pair->sine;
    add_element(s, row, c, there[c], found->how.amplitude * x->high + found->how.amplitude * x->low, rounded[c]);
    found->elements++;
  }
  for (size_t n = 0; n < s->m->count; n++)
    if (s->closest[n]) makers_compare(s->m, &s->m->all[n], row, there);
}

static bool read_all(const search *of, sums *s) {
  const window *w = &of->window;
  const int64_t block = w->dim < BLOCK_VALUES ? BLOCK_VALUES / w->dim : 1;
  void *encoded = calloc((size_t)(block * w->dim), posenc_dtype_bytes(w->stored));
  double *values = calloc((size_t)w->dim, sizeof *values);
  const bool enough = encoded && values;
  for (int64_t row = 0, rows; enough && row < w->rows; row += rows) {
    rows = w->rows - row < block ? w->rows - row : block;
    progress_show("identify", of->request->name, (double)row * (double)w->dim, (double)w->rows * (double)w->dim,
                  "elements");
    table_rows(of->request->table, row, rows, encoded);
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t c = 0; c < w->dim; c++) values[c] = format_element(w->stored, encoded, r * w->dim + c);
      add_row(s, row + r, values);
    }
  }
  progress_clear();
  free(encoded);
  free(values);
  return enough;
}

static double share(int64_t equal, int64_t compared) {
  return compared ? (double)equal / (double)compared : 0.0;
}

/* Equal bits say more than small differences: a recipe's last bits may be another libm's, its formula is its own. */
static bool is_closer(const maker *a, const maker *b) {
  const double of_a = share(a->equal, a->compared), of_b = share(b->equal, b->compared);
  return of_a > of_b || (of_a >= of_b && maker_distance(a) < maker_distance(b));
}

static int compare_matches(const void *one, const void *other) {
  const identify_match *a = one, *b = other;
  if (a->closest != b->closest) return a->closest ? -1 : 1;
  const double of_a = share(a->equal, a->compared), of_b = share(b->equal, b->compared);
  if (of_a > of_b || of_a < of_b) return of_a > of_b ? -1 : 1;
  return (a->rms > b->rms) - (a->rms < b->rms);
}

/* SOME_ROWS of the window, and all makers. */
static void compare_some(makers *m, const window *w) {
  const int64_t rows = SOME_ROWS < w->count ? SOME_ROWS : w->count;
  for (size_t n = 0; n < m->count; n++) {
    maker *by = &m->all[n];
    *by = (maker){.kernel = by->kernel, .plan = by->plan};
    for (int64_t k = 0; k < rows; k++) {
      const int64_t row = rows > 1 ? k * (w->count - 1) / (rows - 1) : 0;
      if (!w->zero[row]) makers_compare(m, by, row, window_row(w, row));
    }
  }
}

/* Is it one of the first few, or tied with them? */
static bool is_candidate(const makers *m, const maker *by) {
  enum { FEW = 4 };
  int closer = 0;
  for (size_t n = 0; n < m->count; n++) closer += is_closer(&m->all[n], by);
  return closer < FEW;
}

/* Those who are closest in the window are compared with every row, the others with some. */
static bool judge(search *s, identity *found) {
  makers m;
  if (!makers_open(&m, &found->how, true, s->window.rows, s->request->kernels, s->request->kernel_count)) return false;
  bool *closest = calloc(m.count, sizeof *closest);
  found->matches = calloc(m.count, sizeof *found->matches);
  bool enough = closest && found->matches;
  if (enough) {
    compare_some(&m, &s->window);
    for (size_t n = 0; n < m.count; n++) closest[n] = is_candidate(&m, &m.all[n]);
    for (size_t n = 0; n < m.count; n++) {
      if (closest[n]) m.all[n] = (maker){.kernel = m.all[n].kernel, .plan = m.all[n].plan};
    }
    found->proved = truth_proved(m.exact);
    enough = read_all(s, &(sums){found, &m, closest});
  }
  const maker *first = NULL;
  for (size_t n = 0; enough && n < m.count; n++)
    if (closest[n] && (!first || is_closer(&m.all[n], first))) first = &m.all[n];
  for (size_t n = 0; enough && n < m.count; n++) {
    const maker *by = &m.all[n];
    found->matches[found->match_count++] = (identify_match){by->kernel,         by->compared,
                                                            by->equal,          sqrt(maker_distance(by)),
                                                            by->most,           closest[n] && !is_closer(first, by),
                                                            by->outliers,       by->outlier_row,
                                                            by->outlier_column, by->within};
  }
  if (enough) qsort(found->matches, found->match_count, sizeof *found->matches, compare_matches);
  free(closest);
  makers_close(&m);
  return enough;
}

/* ---- verdicts ------------------------------------------------------------------------------------- */

static bool say(identity *found, identify_verdict verdict, const char *reason) {
  found->verdict = verdict;
  snprintf(found->reason, sizeof found->reason, "%s", reason);
  return true;
}

static bool all_rows_equal(const window *w) {
  for (int64_t r = 1; r < w->count; r++)
    if (memcmp(window_row(w, 0), window_row(w, r), (size_t)w->dim * sizeof(double)) != 0) return false;
  return true;
}

/* Of a base that nobody writes, another with another denominator has the same frequencies. */
static void tell_other_shift(search *s, double pairs) {
  const formula *f = &s->best.how.formula;
  if (f->digits <= NOBODYS || f->shift > 0.0 || f->stretch > 0.0 || f->scaling.kind != POSENC_SCALING_NONE) return;
  s->also = s->best;
  s->also.how.formula.shift = 1.0;
  s->also.how.formula.base = pow(f->base, (pairs - 1.0) / pairs);
}

/* A base that is no plain number, once all is known but for its last digits: for every denominator, as slopes do not tell them apart. The
   denominator dim / 2 comes first, unless another has the plainer base. */
static void refine(search *s, columns at) {
  static const double shifts[] = {0.0, 1.0, 0.5};
  const explanation old = s->best;
  const formula from = old.how.formula;
  if (is_done(s, &old) && (from.digits <= NOBODYS || !(from.shift > 0.0))) return;
  at.layout = old.how.columns.layout;
  if (from.digits > NOBODYS) s->best.found = s->also.found = false;
  for (size_t n = 0; n < sizeof shifts / sizeof *shifts && !is_done(s, &s->best); n++) {
    const double denominator = (double)at.pairs - shifts[n];
    formula f = from, refined[FORMULAS_MAX];
    if (denominator <= 0.0 || (shifts[n] > 0.0 && f.scaling.kind != POSENC_SCALING_NONE)) continue;
    f.base = pow(from.base, denominator / ((double)at.pairs - from.shift));
    f.shift = shifts[n];
    formula_frequencies(&f, at.pairs, s->w);
    waves_drifts(&s->window, &at, &s->sampling, s->w, s->frequencies);
    explain_all(s, &at, refined, formulas_refined(&f, s->frequencies, at.pairs, refined));
  }
  weigh(s, &old);
  tell_other_shift(s, (double)at.pairs);
}

/* The formulas that models have, where frequencies could not be told, or only nearly; and if rows come in runs, from all of them. */
static void explain_usual(search *s, const columns *at) {
  formula usual[FORMULAS_MAX];
  const size_t count = formulas_usual(is_good(&s->best) ? s->best.how.formula.base : 0.0, usual, at->pairs);
  for (size_t n = 0; n < count && !is_done(s, &s->best); n++) explain_all(s, at, &usual[n], 1);
  if (s->sampling.step == 1 || is_good(&s->best)) return;
  s->sampling.count = s->sampling.first + (s->sampling.count - 1) * s->sampling.step + 1;
  s->sampling.first = 0;
  s->sampling.step = 1;
  for (size_t n = 0; n < count && !is_done(s, &s->best); n++) explain_all(s, at, &usual[n], 1);
}

/* By those elements that someone would have written so; or by errors that rounding explains. */
static bool is_supported(const identity *found) {
  const double many_times = 64.0;
  for (size_t n = 0; n < found->match_count; n++)
    if (found->matches[n].equal * 20 >= found->matches[n].compared) return true;
  return found->max_abs <= many_times * found->max_if_exact;
}

static bool explain(search *s, identity *found) {
  enum { ROWS_LEAST = 4 };
  const window *w = &s->window;
  int64_t rows = 0;
  for (int64_t r = 0; r < w->count; r++) rows += !w->zero[r];
  if (!w->finite) return say(found, IDENTIFY_NO_TABLE, "it has infinities or NaN among its first rows");
  if (rows == 0) return say(found, IDENTIFY_NO_TABLE, "it is all zeros");
  if (rows < ROWS_LEAST) return say(found, IDENTIFY_FEW, "too few rows to tell");
  if (all_rows_equal(w)) return say(found, IDENTIFY_NO_TABLE, "all rows are the same");

  columns at = columns_find(w);
  formula formulas[FORMULAS_MAX];
  waves_frequencies(w, &at, &s->sampling, s->frequencies);
  if (at.part == COLUMNS_BOTH) turn_columns(&at, s->frequencies);
  const int64_t known = count_known(s->frequencies, at.pairs);
  const size_t count = formulas_find(s->frequencies, at.pairs, formulas);
  explain_all(s, &at, formulas, count);
  if (!is_done(s, &s->best) && at.pairs > 1) explain_usual(s, &at);
  if (is_good(&s->best) && at.part == COLUMNS_BOTH && at.pairs >= FORMULA_EVIDENT) refine(s, at);
  if (count > 0 && formulas[0].tight && !is_good(&s->best)) s->best = explain_by(s, &at, &formulas[0], true);
  if (s->failed) return false;
  found->how = s->best.how;
  if (!s->best.found) found->how.columns = at;
  found->also_known = s->also.found;
  found->also = s->also.how.formula;

  if (is_good(&s->best)) {
    if (!judge(s, found)) return false;
    if (is_supported(found)) return say(found, IDENTIFY_TABLE, "");
    return say(
        found, IDENTIFY_BENT,
        "they are only near a formula, and less than one element in 20 is what it gives, rounded or by a recipe");
  }
  if (at.part == COLUMNS_BOTH && known * 2 >= at.pairs) {
    if (count == 0 && at.pairs == 1)
      return say(found, IDENTIFY_BENT, "its one frequency is not 1, which tells no base and scale");
    if (count == 0 && known < FORMULA_EVIDENT)
      return say(found, IDENTIFY_BENT,
                 "a base and a scale would explain any two frequencies: these are of no plain base");
    if (count == 0)
      return say(found, IDENTIFY_BENT,
                 "its frequencies are no base^(-i / (dim/2 - shift)), nor such that were scaled as "
                 "is known here");
    return say(found, IDENTIFY_BENT, "its phases are those of no positions in steps of one row");
  }
  return say(found, IDENTIFY_NO_TABLE,
             at.part == COLUMNS_BOTH ? "its pairs of columns do not turn evenly from row to row"
                                     : "no two columns are sine and cosine of one angle, and none is a wave");
}

identity *identify(const identify_request *request) {
  search s = {.request = request};
  if (!window_read(&s.window, request->table)) return NULL;
  s.sampling = window_sampling(&s.window);
  s.run = s.sampling.step;
  const size_t pairs = (size_t)s.window.dim;
  s.frequencies = calloc(pairs, sizeof *s.frequencies);
  s.phases = calloc(pairs, sizeof *s.phases);
  s.w = calloc(pairs, sizeof *s.w);
  identity *found = calloc(1, sizeof *found);
  if (found) {
    found->stored = s.window.stored;
    found->held = s.window.held;
    found->rows = s.window.rows;
    found->dim = s.window.dim;
    found->padding = POSENC_NO_PADDING;
  }
  if (!found || !s.frequencies || !s.phases || !s.w || !explain(&s, found)) {
    identity_free(found);
    found = NULL;
  }
  window_free(&s.window);
  free(s.frequencies);
  free(s.phases);
  free(s.w);
  return found;
}

void identity_free(identity *found) {
  if (!found) return;
  free(found->matches);
  free(found);
}
