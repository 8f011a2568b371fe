/* SPDX-License-Identifier: MIT */
/* Scalings of frequencies: those that one makes, and those that measured frequencies have. */
#include "inspect/identify/formula.h"

#include "common/memory.h"
#include "common/shapes.h"

#include <math.h>
#include <stdlib.h>

/* The lengths that models were trained on, the most frequent first. */
static const int64_t lengths[] = {8192, 4096, 32768, 2048, 16384, 65536, 1024, 131072, 262144, 524288, 1048576, 512};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* ---- one frequency ------------------------------------------------------------------------------- */

/* Returns the index, a fraction, whose wave turns r times in the original length. */
static double yarn_cut(const posenc_scaling *s, double base, int64_t pairs, double r) {
  return (double)pairs * log((double)s->original / (whole_turn * r)) / log(base);
}

/* Computes the first and the last index of YaRN's ramp. If low and high are exchanged, it falls, as in frameworks. */
static void yarn_ramp(const posenc_scaling *s, double base, int64_t pairs, double *begin, double *end) {
  const double of_high = yarn_cut(s, base, pairs, s->high), of_low = yarn_cut(s, base, pairs, s->low);
  *begin = fmax(0.0, s->truncate ? floor(of_high) : of_high);
  *end = fmin(2.0 * (double)pairs - 1.0, s->truncate ? ceil(of_low) : of_low);
  if (!(fabs(*end - *begin) > 0.0)) *end = *begin + 0.001;
}

long double scalings_frequency(const posenc_scaling *s, double base, int64_t pairs, int64_t index, long double w) {
  if (s->kind == POSENC_SCALING_LLAMA3) {
    const double turns = (double)s->original * (double)w / whole_turn;
    if (turns > s->high) return w;
    if (turns < s->low) return w / s->factor;
    const long double g = ((long double)turns - s->low) / ((long double)s->high - s->low);
    return w * ((1.0L - g) / s->factor + g);
  }
  if (s->kind == POSENC_SCALING_YARN) {
    double begin, end;
    yarn_ramp(s, base, pairs, &begin, &end);
    const long double g = fmin(1.0, fmax(0.0, ((double)index - begin) / (end - begin)));
    return w * (1.0L - g) + w / s->factor * g;
  }
  return s->kind == POSENC_SCALING_LONGROPE ? w / s->factors[index] : w;
}

void formula_frequencies(const formula *f, int64_t pairs, long double *w) {
  const long double slope = logl((long double)f->base) / ((long double)pairs - f->shift);
  for (int64_t i = 0; i < pairs; i++)
    w[i] = scalings_frequency(&f->scaling, f->base, pairs, i, (long double)f->scale * expl((long double)-i * slope));
}

/* ---- ranges of parameters ------------------------------------------------------------------------- */

scaling_ranges scalings_ranges(const posenc_scaling *s, const posenc_scaling *other, double base, int64_t pairs) {
  /* The ranges of the waves' turns in a length of 1, at which the ramp begins and ends. */
  const double of_length = 1.0 / (double)s->original, step = log(base) / (double)pairs;
  double slow[2] = {s->low * of_length, s->low * of_length}, fast[2] = {s->high * of_length, s->high * of_length};
  if (s->kind == POSENC_SCALING_YARN && s->truncate) {
    double begin, end;
    yarn_ramp(s, base, pairs, &begin, &end);
    const double last = 2.0 * (double)pairs - 1.0;
    fast[0] = exp(-(begin + 1.0) * step) / whole_turn;
    fast[1] = begin > 0.0 ? exp(-begin * step) / whole_turn : INFINITY;
    slow[0] = end < last ? exp(-end * step) / whole_turn : 0.0;
    slow[1] = exp(-(end - 1.0) * step) / whole_turn;
  }
  const double length = (double)other->original;
  return (scaling_ranges){.low = {slow[0] * length, slow[1] * length},
                          .high = {fast[0] * length, fast[1] * length},
                          .original = {fmax(other->low / slow[1], other->high / fast[1]),
                                       fmin(other->low / slow[0], other->high / fast[0])}};
}

double scalings_usual(const double range[2]) {
  enum { LAST = 20 };
  const double room = 1e-6; /* the numbers of a range without a width are measured */
  for (int n = -1; n <= LAST; n++) {
    const double usual = ldexp(1.0, n < 0 ? 5 : n); /* 32 first, which is yarn's */
    if (range[0] <= usual * (1.0 + room) && range[1] >= usual * (1.0 - room)) return usual;
  }
  const double least = fmax(range[0], 1e-3 * range[1]), most = fmin(range[1], 1e3 * range[0]);
  return plainest(sqrt(least * most), log(most / least) / 2.0 + room).value;
}

fit_text scalings_fit(const double range[2]) {
  enum { DIGITS = 3 };
  fit_text n = {""};
  double shown[2] = {range[0], range[1]};
  for (int end = 0; end < 2; end++) { /* rounded to what is in the range */
    const double unit = pow(10.0, fmin(0.0, floor(log10(range[end])) - (DIGITS - 1)));
    if (range[end] > 0.0 && !isinf(range[end]))
      shown[end] = unit * (end ? floor(range[end] / unit) : ceil(range[end] / unit));
  }
  if (isinf(range[1]))
    snprintf(n.text, sizeof n.text, " (%.9g and more fit)", shown[0]);
  else if (range[1] > 1.001 * range[0])
    snprintf(n.text, sizeof n.text, " (%.9g to %.9g fit)", shown[0], shown[1]);
  return n;
}

/* ---- what frequencies say ------------------------------------------------------------------------ */

/* The ratio of the plain formula's frequency to a measured one, and its relative error. The error is infinite if the
   frequency is unknown. */
typedef struct slowness {
  double factor, error;
} slowness;

typedef struct profile {
  const formula *plain;
  const estimate *frequencies;
  int64_t pairs, known;
  long double *w; /* frequencies of the plain formula */
  slowness *slow;
} profile;

static void profile_open(profile *p, const formula *plain, const estimate *frequencies, int64_t pairs) {
  *p = (profile){.plain = plain, .frequencies = frequencies, .pairs = pairs};
  p->w = memory_take((size_t)pairs, sizeof *p->w);
  p->slow = memory_take((size_t)pairs, sizeof *p->slow);
  formula_frequencies(plain, pairs, p->w);
  for (int64_t i = 0; i < pairs; i++) {
    const estimate *w = &frequencies[i];
    const bool mark = formula_mark(w);
    p->known += mark;
    p->slow[i] = mark ? (slowness){(double)p->w[i] / w->value, 3.0 * w->error / w->value} : (slowness){1.0, INFINITY};
  }
}

static void profile_close(profile *p) {
  free(p->w);
  free(p->slow);
}

/* Returns the number of frequencies that a scaling does not explain within the errors of recipes. */
static int64_t count_wrong(const profile *p, const posenc_scaling *s, double loose) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < p->pairs; i++) {
    if (isinf(p->slow[i].error)) continue;
    const double expected = (double)(p->w[i] / scalings_frequency(s, p->plain->base, p->pairs, i, p->w[i]));
    wrong += fabs(p->slow[i].factor / expected - 1.0) > p->slow[i].error + loose;
  }
  return wrong;
}

/* Returns the factor of the slowest frequencies: the median of the last few, some of which may be of damaged
   columns. */
static plain_number slowest_factor(const profile *p, double loose) {
  enum { LAST = 5 };
  double factors[LAST], error = INFINITY;
  size_t count = 0;
  for (int64_t i = p->pairs - 1; i >= 0 && count < LAST; i--) {
    if (isinf(p->slow[i].error)) continue;
    factors[count++] = p->slow[i].factor;
    error = fmin(error, p->slow[i].error);
  }
  if (count == 0) return (plain_number){1.0, 0.0, 1};
  numbers_sort(factors, count);
  return plainest(factors[count / 2], error + loose);
}

/* ---- the parameters of shipped models -------------------------------------------------------------- */

typedef struct hypothesis {
  posenc_scaling scaling;
  int64_t wrong;
} hypothesis;

enum { USUAL_FACTORS = 8, USUAL_FORMS = 3, HYPOTHESES = USUAL_FACTORS * USUAL_FORMS * LENGTHS };

/* Tries each usual length with each factor, the factor of the slowest frequencies first. Returns the number of
   hypotheses. */
static size_t usual(const profile *p, double loose, hypothesis *all) {
  static const posenc_scaling forms[USUAL_FORMS] = {
      {.kind = POSENC_SCALING_LLAMA3, .low = 1.0, .high = 4.0},
      {.kind = POSENC_SCALING_YARN, .low = 1.0, .high = 32.0, .truncate = true},
      {.kind = POSENC_SCALING_YARN, .low = 1.0, .high = 32.0, .truncate = false},
  };
  const plain_number slowest = slowest_factor(p, loose);
  const double factors[USUAL_FACTORS] = {slowest.value, 8.0, 32.0, 4.0, 16.0, 2.0, 40.0, 64.0};
  size_t count = 0;
  for (size_t n = 0; n < USUAL_FACTORS; n++) {
    if (!(factors[n] > 1.0 + loose) || (n && fabs(factors[n] - factors[0]) <= 0.0)) continue;
    for (size_t form = 0; form < USUAL_FORMS; form++)
      for (size_t length = 0; length < LENGTHS; length++) {
        hypothesis *h = &all[count++];
        h->scaling = forms[form];
        h->scaling.factor = factors[n];
        h->scaling.original = lengths[length];
        h->wrong = count_wrong(p, &h->scaling, loose);
      }
  }
  return count;
}

/* ---- parameters read from the ramp ----------------------------------------------------------------- */

/* The line y = slope x - height, by least squares, with errors. */
typedef struct ramp {
  double slope, height, slope_error, height_error;
  int64_t marks;
} ramp;

/* Fits the part g of the ramp to what it is linear in: the index (YaRN), or the turns in a length of 1 (llama3). The
   frequency at part g is w ((1 - g) + g / factor). */
static ramp read_ramp(const profile *p, double factor, bool of_index) {
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  ramp found = {.marks = 0};
  for (int64_t i = 0; i < p->pairs; i++) {
    const slowness *s = &p->slow[i];
    const double part = (1.0 - 1.0 / s->factor) / (1.0 - 1.0 / factor);
    const double error = (s->error + 1e-6) / s->factor / (1.0 - 1.0 / factor);
    if (isinf(s->error) || !(part > 3.0 * error && part < 1.0 - 3.0 * error)) continue;
    const double at = of_index ? (double)i : (double)p->w[i] / whole_turn, weight = 1.0 / (error * error);
    n += weight, x += weight * at, y += weight * part, xx += weight * at * at, xy += weight * at * part;
    found.marks++;
  }
  const double determinant = n * xx - x * x;
  if (found.marks < 2 || !(determinant > 0.0)) return (ramp){.marks = 0};
  found.slope = (n * xy - x * y) / determinant;
  found.height = -(y - found.slope * x) / n;
  found.slope_error = sqrt(n / determinant);
  found.height_error = sqrt(xx / determinant);
  return found;
}

bool scalings_is_length(int64_t length) {
  for (size_t n = 0; n < LENGTHS; n++)
    if (lengths[n] == length) return true;
  return false;
}

/* Returns the length in which the slowest wave of the ramp turns once: a usual one, or else a power of two, or else a
   plain number. */
static int64_t plain_length(double least, double most) {
  for (size_t n = 0; n < LENGTHS; n++)
    if ((double)lengths[n] >= least && (double)lengths[n] <= most) return lengths[n];
  const double power = exp2(ceil(log2(least)));
  if (power <= most) return (int64_t)power;
  const double middle = sqrt(least * most);
  return (int64_t)rint(plainest(middle, log(most / least) / 2.0).value);
}

/* Reads part = 1 + low/(high - low) - N turns/(high - low). Only N / low and N / high can be determined, so low is set
   to 1. */
static bool read_llama3(const profile *p, double factor, posenc_scaling *s) {
  const ramp r = read_ramp(p, factor, false);
  if (r.marks < 2 || !(r.slope < 0.0)) return false;
  const double low_part = -r.height - 1.0, room = 4.0 * (r.height_error / fabs(low_part) + r.slope_error / -r.slope);
  if (!(low_part > 0.0) || !(room < 0.1)) return false;
  const double length = -r.slope / low_part;
  *s = (posenc_scaling){.kind = POSENC_SCALING_LLAMA3, .factor = factor, .low = 1.0};
  s->high = plainest(1.0 + 1.0 / low_part, room).value;
  s->original = plain_length(length * exp(-room), length * exp(room));
  return s->original >= 2 && s->high > s->low;
}

/* Whether a ramp read with that length is one that people write: a usual length, and turns that are a power of two. */
static bool is_written(const posenc_scaling *s) {
  int unused;
  return scalings_is_length(s->original) && frexp(s->high, &unused) == 0.5;
}

/* Takes yarn's own `high` with a length of these, if there is one that also has the ramp's begin: `turned` is the range
   of N / high. */
static void take_usual_turns(const double lengths_of[2], const double turned[2], posenc_scaling *s) {
  const double high = posenc_scaling_yarn(2.0, 2).high, least = fmax(lengths_of[0], high * turned[0]),
               most = fmin(lengths_of[1], high * turned[1]);
  const int64_t original = least <= most ? plain_length(least, most) : 0;
  if (!((double)original >= least && (double)original <= most)) return;
  s->original = original;
  s->high = high;
}

/* Reads part = (i - begin) / (end - begin). With `truncate`, begin and end are whole numbers, which determine ranges of
   N / low and N / high. */
static bool read_yarn(const profile *p, double factor, posenc_scaling *s) {
  const ramp r = read_ramp(p, factor, true);
  if (r.marks < 2 || !(r.slope > 0.0)) return false;
  const double begin = r.height / r.slope, end = begin + 1.0 / r.slope,
               error = 4.0 * (r.height_error + fabs(begin) * r.slope_error + r.slope_error / r.slope) / r.slope;
  const double log_base = log(p->plain->base), turn = whole_turn, pairs = (double)p->pairs;
  if (!(error < 0.2) || !(log_base > 0.0)) return false;
  *s = (posenc_scaling){.kind = POSENC_SCALING_YARN, .factor = factor, .low = 1.0};
  s->truncate = fabs(begin - rint(begin)) <= error && fabs(end - rint(end)) <= error;
  /* The ranges of the indices at which the wave turns once and `high` times in the original length. */
  const double slow_least = s->truncate ? rint(end) - 1.0 + 1e-6 : end - error,
               slow_most = s->truncate ? rint(end) : end + error,
               fast_least = s->truncate ? rint(begin) : begin - error,
               fast_most = s->truncate ? rint(begin) + 1.0 - 1e-6 : begin + error;
  /* A ramp that begins with the fastest wave would begin before it with any larger `high`. */
  const bool is_first = s->truncate && fast_least <= 0.0;
  const double slow[] = {turn * exp(slow_least * log_base / pairs), turn * exp(slow_most * log_base / pairs)},
               fast[] = {is_first ? 0.0 : turn * exp(fast_least * log_base / pairs),
                         turn * exp(fast_most * log_base / pairs)};
  s->original = plain_length(slow[0], slow[1]);
  const double original = (double)s->original;
  s->high = scalings_usual((double[]){original / fast[1], original / fast[0]});
  if (!is_written(s)) take_usual_turns(slow, fast, s);
  return s->original >= 2 && s->high > s->low;
}

/* ---- longrope -------------------------------------------------------------------------------------- */

static double plain_factor(const slowness *s, bool *plain) {
  const double decimals = 100.0, near = rint(s->factor * decimals) / decimals, error = (s->error + 1e-6) * s->factor;
  *plain = error < 0.5 / decimals && fabs(near - s->factor) <= error;
  /* Other factors are shortened within a ninth of the slowness's error, a third of the frequency's own error, so that
     the wave hardly changes. */
  return *plain ? near : plainest(s->factor, s->error / 9.0 + 1e-7).value;
}

static void read_factors(const profile *p, double *factors) {
  double last = 1.0;
  for (int64_t i = 0; i < p->pairs; i++) {
    bool is_plain;
    const estimate *w = &p->frequencies[i];
    factors[i] = last;
    if (!isinf(p->slow[i].error)) factors[i] = last = plain_factor(&p->slow[i], &is_plain);
    /* A frequency with a large error gets its neighbour's factor if that explains the wave. */
    else if (w->value > 0.0 && (w->error < 0.5 * w->value || fabs((double)p->w[i] / last - w->value) > w->error))
      factors[i] = (double)p->w[i] / w->value;
  }
}

/* Properties of the factors. Any frequencies are plain ones divided by some factors, so the factors must be such as
   models have. */
typedef struct growth {
  int64_t told, plain, falls;
  double bits, first, highest;
} growth;

static growth growth_of(const profile *p) {
  const double most = 256.0, tellable = 1e-3;
  growth g = {.first = INFINITY, .highest = 1.0};
  for (int64_t i = 0; i < p->pairs; i++) {
    const slowness *s = &p->slow[i];
    const double error = (s->error + 1e-6) * s->factor;
    if (isinf(s->error)) continue;
    if (error < tellable) {
      bool is_plain;
      plain_factor(s, &is_plain);
      g.told++;
      g.plain += is_plain;
      if (is_plain) g.bits += log2(0.005 / error);
    }
    if (isinf(g.first)) g.first = s->factor;
    g.falls += s->factor * (1.0 + s->error) < g.highest * (1.0 - 1e-5) || s->factor > most;
    if (s->factor * (1.0 + s->error) >= g.highest) g.highest = fmax(g.highest, s->factor * (1.0 - s->error));
  }
  return g;
}

/* Whether the factors have two decimals. Other factors have them by chance once in 2^40. */
static bool has_decimals(const profile *p) {
  const double surely = 40.0;
  const growth g = growth_of(p);
  return g.highest >= 1.005 && g.bits >= surely && g.plain * 5 >= g.told * 4 && g.falls <= p->known / 2;
}

/* Whether the factors begin near 1 and grow. */
static bool has_growth(const profile *p) {
  enum { MARKS_LEAST = 8 };
  const double first_most = 4.0;
  const growth g = growth_of(p);
  return g.highest >= 1.005 && p->known >= MARKS_LEAST && p->known * 4 >= p->pairs && g.falls == 0 &&
         g.first <= first_most && g.first >= 1.0 - 1e-5;
}

/* ---- all of them ----------------------------------------------------------------------------------- */

static size_t add(const formula *plain, const posenc_scaling *s, int digits, formula *formulas, size_t count) {
  if (count == FORMULAS_MAX) return count;
  formulas[count] = *plain;
  formulas[count].scaling = *s;
  formulas[count].digits += digits;
  return count + 1;
}

static size_t find_within(const profile *p, double loose, formula formulas[FORMULAS_MAX]) {
  hypothesis all[HYPOTHESES];
  size_t found = 0;
  const size_t count = usual(p, loose, all);
  int64_t least = columns_spare(p->known);
  for (size_t n = 0; n < count; n++) least = all[n].wrong < least ? all[n].wrong : least;
  for (size_t n = 0; n < count; n++)
    if (all[n].wrong == least) found = add(p->plain, &all[n].scaling, 1, formulas, found);
  const double factor = slowest_factor(p, loose).value;
  posenc_scaling read;
  if (least > 0 && factor > 1.0 + loose) {
    if (read_llama3(p, factor, &read) && count_wrong(p, &read, loose) <= least)
      found = add(p->plain, &read, 3, formulas, found);
    if (read_yarn(p, factor, &read) && count_wrong(p, &read, loose) <= least)
      found = add(p->plain, &read, 3, formulas, found);
  }
  return found;
}

size_t scalings_find(const formula *plain, const estimate *frequencies, int64_t pairs, formula formulas[FORMULAS_MAX]) {
  static const double loose[] = {1e-4, 6e-3};
  profile p;
  size_t found = 0;
  profile_open(&p, plain, frequencies, pairs);
  for (size_t n = 0; p.known >= FORMULA_EVIDENT && n < sizeof loose / sizeof *loose && found == 0; n++)
    found = find_within(&p, loose[n], formulas);
  profile_close(&p);
  return found;
}

bool scalings_find_factors(const formula *plain, const estimate *frequencies, int64_t pairs, bool of_decimals,
                           double *factors) {
  profile p;
  profile_open(&p, plain, frequencies, pairs);
  const bool found = p.known >= FORMULA_EVIDENT && (of_decimals ? has_decimals(&p) : has_growth(&p));
  if (found) read_factors(&p, factors);
  profile_close(&p);
  return found;
}

/* ---- attention factors ----------------------------------------------------------------------------- */

double scalings_attention(const posenc_scaling *s, double amplitude, double error, posenc_scaling *told) {
  static const double factors[] = {32.0, 16.0, 8.0, 4.0, 2.0, 64.0, 24.0, 40.0, 12.0, 48.0, 20.0, 10.0, 5.0, 3.0, 6.0};
  *told = *s;
  told->attention = 0.0;
  const double of_yarn = 0.1 * log(s->factor) + 1.0;
  double nearest = 0.0;
  if (s->kind == POSENC_SCALING_YARN && fabs(amplitude - of_yarn) <= error) return of_yarn;
  for (size_t n = 0; s->kind == POSENC_SCALING_LONGROPE && n < sizeof factors / sizeof *factors; n++)
    for (size_t length = 0; length < LENGTHS; length++) {
      /* 4096 comes first, because models of the formula's authors have it. */
      const int64_t original = lengths[length < 2 ? 1 - length : length];
      const double of_length = sqrt(1.0 + log(factors[n]) / log((double)original)), off = fabs(amplitude - of_length);
      if (off > error || off >= fabs(amplitude - nearest) - 1e-9) continue;
      told->factor = factors[n];
      told->original = original;
      nearest = of_length;
    }
  if (nearest > 0.0) return nearest;
  if (s->kind == POSENC_SCALING_LONGROPE) told->original = scaling_forms[s->kind].defaults.original;
  const bool of_formula = s->kind != POSENC_SCALING_YARN && fabs(amplitude - 1.0) <= error;
  if (!of_formula) told->attention = amplitude;
  return 0.0;
}
