/* SPDX-License-Identifier: MIT */
#include "reports/model/choice.h"

#include "common/field.h"
#include "records/statistics.h"
#include "reports/page/pareto.h"
#include "reports/page/plot.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was found out ---------------------------------------------------------------------------- */

static const json_t *record_of(const json_t *accuracy, const char *kernel, const char *shape) {
  const json_t *records = json_object_get(accuracy, "records");
  for (size_t i = 0; i < json_array_size(records); i++) {
    const json_t *record = json_array_get(records, i);
    if (strcmp(field_string(record, "kernel"), kernel) == 0 &&
        strcmp(field_string(json_object_get(record, "shape"), "name"), shape) == 0)
      return record;
  }
  return NULL;
}

/* It was looked at, and nothing is wrong. */
static bool is_ok(const json_t *record) {
  const json_t *checks = json_object_get(record, "checks");
  for (size_t i = 0; i < json_array_size(checks); i++)
    if (!json_is_true(json_object_get(json_array_get(checks, i), "ok"))) return false;
  return json_array_size(checks) > 0;
}

/* The timings of one kernel, of which there are `count`. */
typedef struct timed {
  double *seconds;
  size_t count;
  double rate, share; /* of the last timing: medians follow from the time */
} timed;

static bool collect(const json_t *timing, const char *name, timed *of) {
  const json_t *benchmarks = json_object_get(timing, "benchmarks");
  const size_t most = json_array_size(benchmarks);
  *of = (timed){.seconds = malloc((most + 1) * sizeof *of->seconds)};
  double *shares = malloc((most + 1) * sizeof *shares), *rates = malloc((most + 1) * sizeof *rates);
  for (size_t i = 0; of->seconds && shares && rates && i < most; i++) {
    const json_t *entry = json_array_get(benchmarks, i);
    if (strcmp(field_string(entry, "run_type"), "iteration") != 0 || strcmp(field_string(entry, "run_name"), name) != 0)
      continue;
    shares[of->count] = field_number(entry, "of_limit");
    rates[of->count] = field_number(entry, "bytes_per_second");
    of->seconds[of->count++] = field_number(entry, "real_time") * 1e-9;
  }
  const bool done = of->seconds && shares && rates;
  if (done && of->count) {
    of->share = statistics_median(shares, of->count);
    of->rate = statistics_median(rates, of->count);
  }
  free(shares);
  free(rates);
  return done;
}

static json_t *candidate_of(const json_t *accuracy, const char *kernel, const char *shape, const char *table,
                            const timed *of, choice_budget budget) {
  const json_t *record = record_of(accuracy, kernel, table);
  const double ulp = field_number(json_object_get(record, "max_ulp"), "ulp"),
               abs = field_number(json_object_get(record, "max_abs"), "abs");
  const bool within = ulp <= budget.max_ulp && abs <= budget.max_abs;
  const double median = statistics_median(of->seconds, of->count); /* sorts */
  return json_pack("{s:s, s:b, s:b, s:b, s:o, s:o, s:O, s:O, s:o, s:o, s:o, s:o, s:o}", "kernel", kernel, "ok",
                   is_ok(record) && is_ok(record_of(accuracy, kernel, shape)), "within", within, "exhaustive",
                   strcmp(field_string(record, "mode"), "exhaustive") == 0, "max_ulp", field_real(ulp), "max_abs",
                   field_real(abs), "misrounded", json_object_get(record, "misrounded"), "elements",
                   json_object_get(record, "elements"), "seconds", field_real(median), "low",
                   field_real(of->seconds[0]), "high", field_real(of->seconds[of->count - 1]), "bytes_per_second",
                   field_real(of->rate), "of_limit", field_real(of->share));
}

/* Into its place by time. */
static void insert(json_t *candidates, json_t *one) {
  size_t at = 0;
  while (at < json_array_size(candidates) &&
         field_number(json_array_get(candidates, at), "seconds") <= field_number(one, "seconds"))
    at++;
  json_array_insert_new(candidates, at, one);
}

/* The candidates as points, sorted and to be freed; null when memory runs out. */
static pareto_point *points_of(const json_t *candidates) {
  const size_t count = json_array_size(candidates);
  pareto_point *points = calloc(count + 1, sizeof *points);
  for (size_t i = 0; points && i < count; i++) {
    const json_t *one = json_array_get(candidates, i);
    points[i] = (pareto_point){.name = field_string(one, "kernel"),
                               .index = i,
                               .time = 1e6 * field_number(one, "seconds"),
                               .low = 1e6 * field_number(one, "low"),
                               .high = 1e6 * field_number(one, "high"),
                               .error = field_number_or(one, "max_abs", 1.0),
                               .counts = json_is_true(json_object_get(one, "ok"))};
  }
  if (points) pareto_sort(points, count);
  return points;
}

static bool mark_front(json_t *candidates) {
  pareto_point *points = points_of(candidates);
  for (size_t i = 0; points && i < json_array_size(candidates); i++)
    json_object_set_new(json_array_get(candidates, points[i].index), "front", json_boolean(points[i].front));
  free(points);
  return points;
}

static bool can_be_chosen(const json_t *one) {
  return json_is_true(json_object_get(one, "ok")) && json_is_true(json_object_get(one, "within"));
}

static char *name_of(const char *mode, const char *shape, const char *kernel) {
  const size_t size = strlen(mode) + strlen(shape) + strlen(kernel) + 3;
  char *name = malloc(size);
  if (name) snprintf(name, size, "%s/%s/%s", mode, shape, kernel);
  return name;
}

/* How the second compares with the first of two kernels. */
static json_t *compare_kernels(const json_t *timing, const char *mode, const char *shape, const char *first,
                               const char *second) {
  timed a = {0}, b = {0};
  statistics_ratio ratio = {NAN, 0.0, INFINITY};
  char *of_first = name_of(mode, shape, first), *of_second = name_of(mode, shape, second);
  const bool done = of_first && of_second && collect(timing, of_first, &a) && collect(timing, of_second, &b) &&
                    statistics_ratio_of(a.seconds, a.count, b.seconds, b.count, 0.95, &ratio);
  free(of_first);
  free(of_second);
  free(a.seconds);
  free(b.seconds);
  if (!done) return NULL;
  return json_pack("{s:s, s:o, s:o, s:o}", "kernel", second, "ratio", field_real(ratio.estimate), "low",
                   ratio.low > 0.0 ? field_real(ratio.low) : json_null(), "high", field_real(ratio.high));
}

json_t *choice_of(const json_t *accuracy, const json_t *timing, const char *shape, const char *table, const char *mode,
                  choice_budget budget) {
  const json_t *kernels = json_object_get(accuracy, "kernels");
  json_t *candidates = json_array();
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const char *kernel = field_string(json_array_get(kernels, i), "name");
    char *name = name_of(mode, shape, kernel);
    timed of = {0};
    const bool done = name && collect(timing, name, &of);
    json_t *one = done && of.count ? candidate_of(accuracy, kernel, shape, table, &of, budget) : NULL;
    free(name);
    free(of.seconds);
    if (!done || (of.count && !one)) {
      json_decref(candidates);
      return NULL;
    }
    if (one) insert(candidates, one);
  }
  if (!mark_front(candidates)) {
    json_decref(candidates);
    return NULL;
  }

  const char *chosen = NULL, *next = NULL;
  for (size_t i = 0; i < json_array_size(candidates) && !next; i++) {
    const json_t *one = json_array_get(candidates, i);
    if (!can_be_chosen(one)) continue;
    if (chosen)
      next = field_string(one, "kernel");
    else
      chosen = field_string(one, "kernel");
  }
  json_t *compared = next ? compare_kernels(timing, mode, shape, chosen, next) : json_null();
  return json_pack("{s:s, s:s, s:s, s:O, s:o, s:o, s:o, s:o, s:o}", "schema", "posenc-choice-1", "shape", shape, "mode",
                   mode, "environment", json_object_get(accuracy, "environment"), "max_ulp", field_real(budget.max_ulp),
                   "max_abs", field_real(budget.max_abs), "candidates", candidates, "choice",
                   chosen ? json_string(chosen) : json_null(), "next", compared);
}

/* ---- for people ------------------------------------------------------------------------------------- */

static const json_t *candidate(const json_t *choice, const char *kernel) {
  return field_find(json_object_get(choice, "candidates"), "kernel", kernel);
}

static void print_candidate(const json_t *one, FILE *stream) {
  const double seconds = field_number(one, "seconds"),
               spread = (field_number(one, "high") - field_number(one, "low")) / seconds;
  const bool ok = json_is_true(json_object_get(one, "ok"));
  fprintf(stream, "%c %-16s %11.4g %6.1f%% %8.2f %7.1f%%  %9.4g %10.3g %12" PRId64 "  %s\n",
          json_is_true(json_object_get(one, "front")) ? '*' : ' ', field_string(one, "kernel"), 1e6 * seconds,
          100.0 * spread, 1e-9 * field_number(one, "bytes_per_second"), 100.0 * field_number(one, "of_limit"),
          field_number_or(one, "max_ulp", INFINITY), field_number_or(one, "max_abs", INFINITY),
          (int64_t)json_integer_value(json_object_get(one, "misrounded")),
          !ok                                                ? "breaks its promise"
          : !json_is_true(json_object_get(one, "within"))    ? "beyond the budget"
          : json_is_true(json_object_get(one, "exhaustive")) ? ""
                                                             : "a sample");
}

static void print_reason(const json_t *choice, FILE *stream) {
  const char *name = json_string_value(json_object_get(choice, "choice"));
  if (!name) {
    fputs("no kernel is within the budget\n", stream);
    return;
  }
  const json_t *one = candidate(choice, name), *next = json_object_get(choice, "next");
  fprintf(stream,
          "take %s: the fastest within the budget; %s %" PRId64 " elements %" PRId64
          " are misrounded, none is wrong by more than %.7g ulp",
          name, json_is_true(json_object_get(one, "exhaustive")) ? "of all" : "of a sample of",
          (int64_t)json_integer_value(json_object_get(one, "elements")),
          (int64_t)json_integer_value(json_object_get(one, "misrounded")), field_number_or(one, "max_ulp", INFINITY));
  if (json_is_object(next)) {
    fprintf(stream, "; %s takes %.2f times as long", field_string(next, "kernel"), field_number(next, "ratio"));
    if (!json_is_number(json_object_get(next, "low")))
      fputs(", of too few timings to be sure", stream);
    else
      fprintf(stream, " (%.2f to %.2f%s)", field_number(next, "low"), field_number(next, "high"),
              field_number(next, "low") > 1.0 ? "" : ": not told apart");
  }
  fputc('\n', stream);
}

void choice_print(const json_t *choice, FILE *stream) {
  const json_t *candidates = json_object_get(choice, "candidates");
  fprintf(stream, "  %-16s %11s %7s %8s %8s  %9s %10s %12s\n", "kernel", "us", "spread", "GB/s", "of limit", "max ulp",
          "max abs", "misrounded");
  for (size_t i = 0; i < json_array_size(candidates); i++) print_candidate(json_array_get(candidates, i), stream);
  fputs("\n* none is both as fast and as accurate\n\n", stream);
  print_reason(choice, stream);
}

/* ---- plot ------------------------------------------------------------------------------------------- */

int choice_plot(const json_t *choice, FILE *stream) {
  const json_t *candidates = json_object_get(choice, "candidates");
  pareto_point *points = points_of(candidates);
  char *element =
      points ? pareto_draw(points, json_array_size(candidates), "choice", field_string(choice, "shape"), "microseconds")
             : NULL;
  free(points);
  if (!element) return 2;
  plot_standalone(element, stream);
  free(element);
  return 0;
}
