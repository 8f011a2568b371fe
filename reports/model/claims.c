/* SPDX-License-Identifier: MIT */
#include "reports/model/claims.h"

#include "common/field.h"
#include "common/shapes.h"
#include "posenc.h"
#include "reports/page/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* Doubles do: nothing here is shown with more than six digits. */

static const double turn = 6.283185307179586;

/* The base and the dim of most of these claims. */
enum { BASE = 10000, DIM = 512 };

typedef enum verdict { HOLDS, HOLDS_WHEN, FALSE, NOT_MEASURED } verdict;

/* Found and condition, as far as they fit. */
typedef struct finding {
  verdict verdict;
  char found[768], when[160];
} finding;

__attribute__((format(printf, 2, 3))) static void found(finding *f, const char *format, ...) {
  va_list arguments;
  const size_t used = strlen(f->found);
  va_start(arguments, format);
  vsnprintf(f->found + used, sizeof f->found - used, format, arguments);
  va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void when(finding *f, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f->when, sizeof f->when, format, arguments);
  va_end(arguments);
  f->verdict = HOLDS_WHEN;
}

static double frequency(int dim, int index) {
  return pow(BASE, -2.0 * index / dim);
}

static double longest_wave(int dim) {
  return turn / frequency(dim, dim / 2 - 1);
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* As it is said: to so many decimals. */
static bool is_said(double x, double said, int decimals) {
  return fabs(x - said) <= 0.5 * pow(10, -decimals);
}

static void wavelengths(finding *f, const json_t *document) {
  (void)document;
  const double longest = longest_wave(DIM), limit = BASE * turn;
  f->verdict = is_said(longest, limit, 1) ? HOLDS : FALSE;
  found(f, "from %.6g to %.6g at dim %d; 2π × %d = %.6g is the limit for ever wider tables", turn, longest, DIM, BASE,
        limit);
}

static void frequencies_of_512(finding *f, const json_t *document) {
  (void)document;
  static const struct {
    int index, decimals;
    double said;
  } claims[] = {{1, 3, 0.681}, {2, 3, 0.464}, {255, 4, 0.0001}};
  f->verdict = HOLDS;
  for (int i = 0; i < 3; i++) {
    const double w = frequency(DIM, claims[i].index);
    found(f, "%sθ_%d = %.6g", i ? ", " : "", claims[i].index, w);
    if (!is_said(w, claims[i].said, claims[i].decimals)) f->verdict = FALSE;
  }
  for (int dim = 6; f->verdict == FALSE && dim <= 8192; dim += 2)
    if (is_said(frequency(dim, 1), claims[0].said, 3) && is_said(frequency(dim, 2), claims[1].said, 3)) {
      found(f, "; the first two are those of dim %d", dim);
      break;
    }
}

static void position_ten(finding *f, const json_t *document) {
  (void)document;
  static const double said[] = {0.0, 1.0, 0.67, 0.74};
  f->verdict = HOLDS;
  found(f, "[");
  for (int column = 0; column < 4; column++) {
    const double angle = 10 * frequency(DIM, column / 2), x = column % 2 ? cos(angle) : sin(angle);
    found(f, "%s%.4f", column ? ", " : "", x);
    if (!is_said(x, said[column], 2)) f->verdict = FALSE;
  }
  found(f, ", …] at dim %d; the first two are sin 10 and cos 10 at any", DIM);
}

static void frequencies_of_768(finding *f, const json_t *document) {
  (void)document;
  enum { WIDE = 768 };
  static const int said[] = {0, 100, 700};
  for (int i = 0; i < 3; i++) {
    if (said[i] < WIDE / 2)
      found(f, "%d: %.6g, ", said[i], frequency(WIDE, said[i]));
    else
      found(f, "%d: none, there are %d (column %d has index %d: %.6g)", said[i], WIDE / 2, said[i], said[i] / 2,
            frequency(WIDE, said[i] / 2));
  }
  when(f, "an index is below %d", WIDE / 2);
}

static void chosen_bases(finding *f, const json_t *document) {
  (void)document;
  static const struct { int length, said; } claims[] = {{512, 814}, {4096, 6511}};
  f->verdict = HOLDS;
  for (int i = 0; i < 2; i++) {
    const double base = posenc_base_for(claims[i].length);
    found(f, "%s10 × %d / 2π = %.6g", i ? ", " : "", claims[i].length, base);
    /* Rounded or cut. */
    if (fabs(base - claims[i].said) >= 1) f->verdict = FALSE;
  }
}

static void part_of_a_cycle(finding *f, const json_t *document) {
  (void)document;
  static const int lengths[] = {512, 8192, 131072, 1 << 20};
  const double longest = longest_wave(DIM);
  found(f, "of a wave of %.6g positions (dim %d)", longest, DIM);
  for (int i = 0; i < 4; i++) found(f, "%s %d are %.3g", i ? "," : "", lengths[i], lengths[i] / longest);
  when(f, "there are far fewer than %.0f positions", longest);
}

/* Of f32 frequencies, made by exp and log or by a power: the largest error of w, absolute, which is that of the angle for each position. */
static void log_and_power(finding *f, const json_t *document) {
  (void)document;
  double by_log = 0, by_power = 0;
  const float slope = -(logf((float)BASE) / (float)DIM);
  for (int i = 0; i < DIM / 2; i++) {
    const double w = frequency(DIM, i);
    by_log = fmax(by_log, fabs((double)expf((float)(2 * i) * slope) - w));
    by_power = fmax(by_power, fabs((double)(1.0f / powf((float)BASE, (float)(2 * i) / (float)DIM)) - w));
  }
  found(f,
        "the same number on paper; in f32 a frequency is off by up to %.2g by exp and log, %.2g by a power, which at "
        "position 131072 turns angles by %.2g and %.2g",
        by_log, by_power, 131072 * by_log, 131072 * by_power);
  when(f, "positions stay below %.0f, where that passes half an ulp of bf16", 0x1p-9 / by_log);
}

/* Mean and standard deviation of all elements of x + PE, where those of x are 0 and 0.1. */
static void statistics_of_sum(finding *f, const json_t *document) {
  (void)document;
  enum { LENGTH = 512 };
  static const double deviation = 0.1;
  double sum = 0, squares = 0;
  for (int p = 0; p < LENGTH; p++)
    for (int i = 0; i < DIM / 2; i++) {
      const double angle = p * frequency(DIM, i);
      sum += sin(angle) + cos(angle);
      squares += 1; /* sin² + cos² */
    }
  const double elements = (double)LENGTH * DIM, mean = sum / elements, variance = squares / elements - mean * mean;
  found(f,
        "%d × %d elements with mean 0 and deviation %g have, after PE is added, mean %.4f and deviation %.4f, %.1f "
        "times as much; turning pairs keeps every length",
        LENGTH, DIM, deviation, mean, sqrt(variance + deviation * deviation),
        sqrt(variance + deviation * deviation) / deviation);
  f->verdict = HOLDS;
}

/* ---- records ------------------------------------------------------------------------------------ */

/* Checks of a property, over all kernels and shapes: how many held, of how many; the largest share of its bound. */
typedef struct tally {
  int held, all;
  double worst;
} tally;

static tally tally_of(const json_t *document, const char *property) {
  tally t = {0, 0, 0};
  const json_t *shapes = json_object_get(document, "shapes");
  for (size_t s = 0; s < json_array_size(shapes); s++) {
    const json_t *rows = json_object_get(json_array_get(shapes, s), "rows");
    for (size_t r = 0; r < json_array_size(rows); r++) {
      const json_t *check = field_find(json_object_get(json_array_get(rows, r), "checks"), "property", property);
      if (!check || json_is_true(json_object_get(check, "skipped"))) continue;
      t.all++;
      t.held += json_is_true(json_object_get(check, "ok"));
      t.worst = fmax(t.worst, field_number(check, "worst"));
    }
  }
  return t;
}

static void bounded(finding *f, const json_t *document) {
  const tally t = tally_of(document, "bounded");
  if (!t.all) return;
  found(f, "%d of %d checks of whole tables found no value beyond 1, and no NaN", t.held, t.all);
  f->verdict = t.held == t.all ? HOLDS : FALSE;
}

static void linear(finding *f, const json_t *document) {
  const tally t = tally_of(document, "rotation");
  if (!t.all) return;
  found(f, "PE[p + k] is PE[p] turned by k w in %d of %d checks, as nearly as roundings allow", t.held, t.all);
  f->verdict = t.held == t.all ? HOLDS : FALSE;
}

/* The profile of a kernel that promises the least error, so that what it shows is the format's doing. */
static const json_t *exact_profile(const json_t *document) {
  const json_t *profile = json_object_get(document, "profile");
  for (size_t i = 0; i < json_array_size(profile); i++) {
    const json_t *one = json_array_get(profile, i);
    const json_t *kernel = field_find(json_object_get(document, "kernels"), "name", field_string(one, "kernel"));
    const json_t *bound = json_object_get(kernel, "bound");
    if (json_is_true(json_object_get(bound, "derived")) && field_number(bound, "growth") == 0 &&
        json_is_number(json_object_get(one, "rows")))
      return one;
  }
  return NULL;
}

static void unique(finding *f, const json_t *document) {
  static const char *const dtypes[] = {"f32", "f16", "bf16"};
  const json_t *profile = exact_profile(document), *collisions = json_object_get(profile, "collisions");
  if (!profile) return;
  f->verdict = HOLDS;
  found(f, "below position %s, dim %.0f:", words_position(field_number(profile, "rows")).text,
        field_number(profile, "dim"));
  for (int i = 0; i < 3; i++) {
    const json_t *pair = json_object_get(collisions, dtypes[i]);
    found(f, "%s %s ", i ? "," : "", dtypes[i]);
    if (json_is_array(pair)) {
      found(f, "%.0f and %.0f share a row", json_number_value(json_array_get(pair, 0)),
            json_number_value(json_array_get(pair, 1)));
      f->verdict = FALSE;
    } else {
      found(f, "none share a row");
    }
  }
  const double distance = field_number(json_object_get(document, "unique"), "distance");
  if (isfinite(distance)) found(f, "; the nearest two exact rows are %.4g apart", distance);
}

/* How long the cosine of the slowest column is 1 in f16: half an ulp below 1 is 2^-12. */
static void half_precision(finding *f, const json_t *document) {
  const json_t *collisions = json_object_get(exact_profile(document), "collisions");
  const double still = floor(acos(1 - 0x1p-12) / frequency(DIM, DIM / 2 - 1));
  found(f,
        "half the bytes; errors up to 2^-12 = %.2g instead of 2^-25 = %.2g, and the slowest cosine (dim %d) is 1 up to "
        "position %.0f",
        0x1p-12, 0x1p-25, DIM, still);
  if (collisions)
    found(f, json_is_array(json_object_get(collisions, "f16")) ? "; rows collide" : "; no two rows become equal");
  when(f, "%.2g is not significant", 0x1p-12);
}

/* Of nanoseconds for an element; null where it was not timed. */
static const json_t *spread_of(const json_t *table, const char *kernel) {
  const json_t *row = field_find(json_object_get(table, "rows"), "kernel", kernel);
  return json_object_get(json_object_get(row, "timing"), "ns_per_element");
}

static double time_of(const json_t *table, const char *kernel) {
  return field_number(spread_of(table, kernel), "median");
}

/* Of the kernels without a table in memory, those of one thread, as `cached` is, with a proved bound that does not grow. */
static double best_time(const json_t *document, const json_t *table, const char **best) {
  const json_t *kernels = json_object_get(document, "kernels");
  double least = INFINITY;
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const json_t *kernel = json_array_get(kernels, i), *bound = json_object_get(kernel, "bound");
    const double time = time_of(table, field_string(kernel, "name"));
    if (json_is_true(json_object_get(kernel, "keeps_rows")) || json_is_true(json_object_get(kernel, "threaded")) ||
        !json_is_true(json_object_get(bound, "derived")) || field_number(bound, "growth") != 0 || !(time < least))
      continue;
    least = time;
    *best = field_string(kernel, "name");
  }
  return least;
}

/* How many times as long a kernel takes as `cached`: median, and least and most that the repetitions allow. */
typedef struct advantage {
  double middle, low, high;
} advantage;

static advantage of_cached(const json_t *table, const char *kernel) {
  const json_t *kept = spread_of(table, "cached"), *other = spread_of(table, kernel);
  return (advantage){field_number(other, "median") / field_number(kept, "median"),
                     field_number(other, "min") / field_number(kept, "max"),
                     field_number(other, "max") / field_number(kept, "min")};
}

static void say_advantage(finding *f, advantage a, const char *kernel) {
  found(f, "%s (%s–%s) times as fast as %s", words_significant(a.middle, 3).text, words_significant(a.low, 3).text,
        words_significant(a.high, 3).text, kernel);
}

/* Timed with a table in memory and with a kernel that computes it, of f32. */
static bool has_cached(const json_t *document, const json_t *table, posenc_op op) {
  const json_t *described = json_object_get(table, "shape");
  const char *name = "";
  return strcmp(field_string(described, "op"), op_name(op)) == 0 &&
         strcmp(field_string(described, "dtype"), "f32") == 0 && isfinite(time_of(table, "cached")) &&
         isfinite(best_time(document, table, &name));
}

/* The smallest and the largest x of add and of rope: a table in memory against computing it, well and literally. */
static void cached(finding *f, const json_t *document) {
  const json_t *shapes = json_object_get(document, "shapes");
  double most = 0, most_naive = 0;
  for (posenc_op op = POSENC_ADD; op <= POSENC_ROPE; op++) {
    const json_t *ends[2] = {NULL, NULL};
    for (size_t i = 0; i < json_array_size(shapes); i++) {
      const json_t *table = json_array_get(shapes, i);
      const double bytes = field_number(table, "bytes");
      if (!has_cached(document, table, op)) continue;
      if (!ends[0] || bytes < field_number(ends[0], "bytes")) ends[0] = table;
      if (!ends[1] || bytes > field_number(ends[1], "bytes")) ends[1] = table;
    }
    for (int end = 0; end < (ends[0] == ends[1] ? 1 : 2) && ends[end]; end++) {
      const json_t *table = ends[end];
      const char *best = "";
      best_time(document, table, &best);
      const advantage well = of_cached(table, best), literally = of_cached(table, "naive");
      found(f, "%s%s of %s: ", *f->found ? "; " : "", op_name(op), words_bytes(field_number(table, "bytes")).text);
      say_advantage(f, well, best);
      most = fmax(most, well.middle);
      if (!isfinite(literally.middle)) continue;
      found(f, ", ");
      say_advantage(f, literally, "naive");
      most_naive = fmax(most_naive, literally.middle);
    }
  }
  if (!*f->found) return;
  f->verdict = FALSE;
  if (most_naive >= 50) when(f, "the alternative is the formula, literally");
  if (most >= 50) when(f, "the alternative is as slow as the fastest here");
}

/* ---- all ---------------------------------------------------------------------------------------- */

static const struct {
  const char *claim;
  void (*audit)(finding *f, const json_t *document);
} claims[] = {
    {"Wavelengths run from 2π to 10000 · 2π.", wavelengths},
    {"At dim 512, θ_1 is about 0.681, θ_2 0.464, θ_255 0.0001.", frequencies_of_512},
    {"Position 10 is encoded as [0.0, 1.0, 0.67, 0.74, …].", position_ten},
    {"exp and log of div_term are equivalent to the power, and numerically stable.", log_and_power},
    {"A cached table is 50 to 100 times as fast as computing.", cached},
    {"f16 halves the memory without significant loss.", half_precision},
    {"Every position has a row of its own.", unique},
    {"All values lie in [−1, 1].", bounded},
    {"PE[p + k] is a linear function, a rotation, of PE[p].", linear},
    {"The lowest frequency completes only a small part of a cycle, even in very long sequences.", part_of_a_cycle},
    {"The base for lengths about 512 is 814, about 4096 it is 6511.", chosen_bases},
    {"Adding PE shifts the statistics of small embeddings; rotating keeps magnitudes.", statistics_of_sum},
    {"At dim 768 there are frequencies 0, 100 and 700.", frequencies_of_768},
};

json_t *claims_make(const json_t *document) {
  static const char *const verdicts[] = {"holds", "holds only when", "false", "not measured"};
  json_t *all = json_array();
  for (size_t i = 0; all && i < sizeof claims / sizeof *claims; i++) {
    finding f = {.verdict = NOT_MEASURED};
    claims[i].audit(&f, document);
    if (f.verdict != HOLDS_WHEN) *f.when = '\0';
    if (json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s}", "claim", claims[i].claim, "found", f.found,
                                             "verdict", verdicts[f.verdict], "when", f.when)) != 0) {
      json_decref(all);
      all = NULL;
    }
  }
  return all;
}

void claims_write(page *p, const json_t *document) {
  static const page_column columns[] = {{"claim", false}, {"verdict", false}, {"found", false}};
  const json_t *all = json_object_get(document, "claims");
  if (!json_array_size(all)) return;
  p->format->heading(p, 2, "Claims");
  page_block(p, PAGE_PARAGRAPH,
             "What is often said of these encodings, and what was computed when this page was made, or measured in its "
             "records.");
  page_table(p, "Each claim with its verdict.", columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *one = json_array_get(all, i);
    page_prose(p);
    p->format->run(p, PAGE_TEXT, field_string(one, "claim"));
    page_cell_end(p);
    page_prose(p);
    p->format->run(p, PAGE_STRONG, field_string(one, "verdict"));
    if (*field_string(one, "when")) page_print(p, PAGE_TEXT, " %s", field_string(one, "when"));
    page_cell_end(p);
    page_rest(p, PAGE_TEXT, field_string(one, "found"));
  }
  page_table_end(p);
}
