/* SPDX-License-Identifier: MIT */
#include "reports/model/claims.h"

#include "common/field.h"
#include "common/shapes.h"
#include "posenc.h"
#include "reports/page/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

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

/* The cosine of the slowest column is 1 in f16 for as long as it is above 1 - 2^-12, half an ulp below 1. */
static void half_precision(finding *f, const json_t *document) {
  enum { DIM = 512 };
  const json_t *collisions = json_object_get(exact_profile(document), "collisions");
  const double slowest = pow(10000, -(DIM - 2.0) / DIM), still = floor(acos(1 - 0x1p-12) / slowest);
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

/* Of the kernels without a table in memory, those of one thread, as `cached` is, with a proved bound that does not
 * grow. */
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
    {"A cached table is 50 to 100 times as fast as computing.", cached},
    {"f16 halves the memory without significant loss.", half_precision},
    {"Every position has a row of its own.", unique},
    {"All values lie in [−1, 1].", bounded},
    {"PE[p + k] is a linear function, a rotation, of PE[p].", linear},
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
  page_section(p, "Claims");
  page_paragraph(p, "What is often said of these encodings, and what the records of this page tell. Claims that are "
                    "decided alike on every machine, and pictures of the encoding, are in doc/sinusoids.md of the "
                    "sources.");
  page_table(p, "Each claim with its verdict.", columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *one = json_array_get(all, i);
    const char *condition = field_string(one, "when");
    page_prose(p, "%s", field_string(one, "claim"));
    page_prose(p, STRONG("%s") "%s%s", field_string(one, "verdict"), *condition ? " " : "", condition);
    page_rest(p, "%s", field_string(one, "found"));
  }
  page_table_end(p);
}
