/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "records/history.h"

#include "common/field.h"
#include "common/memory.h"
#include "records/compare.h"
#include "records/divisive.h"
#include "records/read.h"
#include "records/statistics.h"
#include "records/timings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An accuracy record or a timing record. A report has two entries, which are made of it. */
typedef struct entry {
  const char *file;
  json_t *json;
  const record_accuracy *accuracy; /* null for timings */
  timings_record timing;
  int64_t seconds;    /* its date, since 1970; RECORD_NONE if it is not known */
  int64_t place;      /* in the order; RECORD_NONE if it has none */
  const json_t *told; /* facts of machine, build and date */
} entry;

struct history {
  entry *entries; /* in order, those without a place last */
  size_t count;
  char *const *commits; /* null in the order of dates */
  size_t commit_count;
};

history *history_open(void) {
  return memory_take(1, sizeof(history));
}

void history_close(history *all) {
  for (size_t i = 0; i < all->count; i++) {
    if (all->entries[i].accuracy)
      record_free(all->entries[i].accuracy);
    else
      timings_close(&all->entries[i].timing);
    json_decref(all->entries[i].json);
  }
  free(all->entries);
  free(all);
}

/* ---- records ---- */

/* Returns the seconds since 1970 of "2026-11-28", "2026-11-28T22:44:38Z" or "2026-11-28T22:44:38+00:00"; RECORD_NONE
   for other texts. */
static int64_t seconds_of(const char *date) {
  struct tm utc = {0};
  int hours = 0, minutes = 0, length = 0;
  const char *rest = strptime(date, "%Y-%m-%d", &utc);
  if (rest && *rest == 'T') rest = strptime(rest, "T%H:%M:%S", &utc);
  if (!rest) return RECORD_NONE;
  const char sign = *rest;
  if (strcmp(rest, "") != 0 && strcmp(rest, "Z") != 0 &&
      !((sign == '+' || sign == '-') && sscanf(rest + 1, "%2d:%2d%n", &hours, &minutes, &length) == 2 &&
        rest[1 + length] == '\0'))
    return RECORD_NONE;
  const int64_t ahead = 60 * (60 * (int64_t)hours + minutes);
  return (int64_t)timegm(&utc) + (sign == '-' ? ahead : -ahead);
}

/* Adds a record of either kind, and takes the JSON over. */
static void add_entry(history *all, const char *file, json_t *json, bool is_accuracy) {
  entry made = {.file = file, .json = json, .told = json_object_get(json, is_accuracy ? "environment" : "context")};
  if (is_accuracy)
    made.accuracy = record_take_accuracy(json);
  else
    timings_open(&made.timing, json);
  made.seconds = seconds_of(field_string(made.told, "date"));
  all->entries = memory_grow(all->entries, all->count + 1, sizeof *all->entries);
  all->entries[all->count++] = made;
}

/* Adds the rows of the tables in which `field` says something of a kernel, as results of an accuracy record. */
static void take_results(const record_table *tables, size_t count, json_t *results) {
  for (size_t i = 0; i < count; i++)
    RECORD_EACH(row, &tables[i], rows) {
      json_t *result = json_copy(row->json);
      if (row->elements != RECORD_NONE || *row->refusal)
        field_append(results, field_put(result, "shape", json_incref(tables[i].shape.json)));
      else
        json_decref(result);
    }
}

/* Adds the medians of a report as benchmarks of one repetition. */
static void take_times(const char *mode, const record_table *tables, size_t count, json_t *benchmarks) {
  for (size_t i = 0; i < count; i++)
    RECORD_EACH(row, &tables[i], rows) {
      const double elements = tables[i].shape.rows * tables[i].shape.dim;
      if (!(row->timing.ns_per_element.median * elements > 0.0)) continue;
      json_t *one = json_pack(
          "{s:o, s:s, s:s, s:f}", "name", json_sprintf("%s/%s/%s", mode, tables[i].shape.name, row->kernel), "run_type",
          "iteration", "time_unit", "ns", "real_time", row->timing.ns_per_element.median * elements);
      field_append(benchmarks, field_put(one, "of_limit", field_real(row->timing.of_limit.median)));
    }
}

static void add_report(history *all, const char *file, const record_report *report) {
  json_t *results = json_array(), *benchmarks = json_array();
  take_results(report->shapes, report->shapes_count, results);
  take_results(report->cases, report->cases_count, results);
#define MODE(name, tables) take_times(name, report->tables, report->tables##_count, benchmarks)
  MODE("hot", shapes);
  MODE("cold", cold);
  MODE("fresh", fresh);
  MODE("malloc", malloc);
  MODE("offset", offset);
  MODE("first", first);
  MODE("row", row);
#undef MODE
  add_entry(all, file, json_pack("{s:O, s:o}", "environment", report->environment.accuracy, "records", results), true);
  if (report->environment.timing)
    add_entry(all, file, json_pack("{s:O, s:o}", "context", report->environment.timing, "benchmarks", benchmarks),
              false);
  else
    json_decref(benchmarks);
}

bool history_add(history *all, const char *file, json_t *record, char *why, size_t size) {
  record_fault fault = {"neither an accuracy record, a timing record nor a report"};
  const char *schema = field_string(record, "schema");
  const void *read = NULL;
  if (strncmp(schema, "posenc-accuracy-", strlen("posenc-accuracy-")) == 0) {
    read = record_read_accuracy(record, &fault);
    if (read) add_entry(all, file, json_incref(record), true);
  } else if (strncmp(schema, "posenc-report-", strlen("posenc-report-")) == 0) {
    read = record_read_report(record, &fault);
    if (read) add_report(all, file, read);
  } else if (*field_string(json_object_get(record, "context"), "posenc_schema")) {
    read = record_read_timing(record, &fault);
    if (read && !timings_check(record, why, size)) return record_free(read), false;
    if (read) add_entry(all, file, json_incref(record), false);
  }
  snprintf(why, size, "%s", fault.text);
  record_free(read);
  return read;
}

/* ---- order ---- */

static const char *commit_of(const entry *one) {
  return field_string(one->told, "commit");
}

/* Returns the place of a commit by its name's beginning, of four letters or more; RECORD_NONE if it has none. */
static int64_t place_of(char *const *commits, size_t count, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; length >= 4 && i < count; i++)
    if (strncmp(commits[i], name, length) == 0) return (int64_t)i;
  return RECORD_NONE;
}

/* Records without a place come last; of one place, the newest does. */
static int in_order(const void *one, const void *other) {
  const entry *a = one, *b = other;
  if (a->place != b->place) {
    if (a->place == RECORD_NONE || b->place == RECORD_NONE) return a->place == RECORD_NONE ? 1 : -1;
    return a->place < b->place ? -1 : 1;
  }
  if (a->seconds != b->seconds) return a->seconds < b->seconds ? -1 : 1;
  return strcmp(a->file, b->file);
}

size_t history_order(history *all, char *const *commits, size_t count) {
  size_t placed = 0;
  all->commits = commits;
  all->commit_count = count;
  for (size_t i = 0; i < all->count; i++) {
    entry *one = &all->entries[i];
    one->place = commits ? RECORD_NONE : one->seconds;
    if (commits && record_names_sources(one->told)) one->place = place_of(commits, count, commit_of(one));
    placed += one->place != RECORD_NONE;
  }
  if (all->count) qsort(all->entries, all->count, sizeof *all->entries, in_order);
  return placed;
}

/* ---- series ---- */

typedef struct point {
  const entry *of;             /* the newest of its place */
  const record_result *result; /* of accuracy */
  double *values;              /* of times: 1 / share of the limit, or ns */
  size_t count;
  double median;
} point;

typedef struct series {
  const char *measure; /* "accuracy", "limit" or "time" */
  const char *cpu;
  char *name;
  point *points;
  size_t count;
} series;

typedef struct collection {
  series *all;
  size_t count;
  json_t *numbers; /* of the series, by measure, CPU and name */
} collection;

static series *series_of(collection *made, const char *measure, const entry *of, const char *name) {
  const char *cpu = field_string(of->told, "cpu");
  json_t *key = json_sprintf("%s %s %s", measure, cpu, name), *number;
  number = json_object_get(made->numbers, json_string_value(key));
  if (!number) {
    made->all = memory_grow(made->all, made->count + 1, sizeof *made->all);
    made->all[made->count] = (series){measure, cpu, memory_copy_text(name), NULL, 0};
    number = json_integer((json_int_t)made->count++);
    json_object_set_new(made->numbers, json_string_value(key), number);
  }
  json_decref(key);
  return &made->all[json_integer_value(number)];
}

/* Returns the point of the entry's place, a new one unless the last one is. */
static point *point_of(series *in, const entry *of) {
  if (!in->count || in->points[in->count - 1].of->place != of->place) {
    in->points = memory_grow(in->points, in->count + 1, sizeof *in->points);
    in->points[in->count++] = (point){0};
  }
  point *last = &in->points[in->count - 1];
  last->of = of;
  return last;
}

static void add_results(collection *made, const entry *of) {
  RECORD_EACH(result, of->accuracy, records) {
    char name[400];
    snprintf(name, sizeof name, "%s/%s", result->kernel, result->shape.name);
    point_of(series_of(made, "accuracy", of, name), of)->result = result;
  }
}

static void add_times(collection *made, const entry *of) {
  const char *name;
  json_t *numbers;
  json_object_foreach(of->timing.numbers, name, numbers) {
    timings taken = timings_collect(&of->timing, name, true);
    const bool by_limit = taken.limited && taken.limited == taken.count;
    if (taken.count) {
      point *at = point_of(series_of(made, by_limit ? "limit" : "time", of, name), of);
      at->values = memory_grow(at->values, at->count + taken.count, sizeof *at->values);
      memcpy(at->values + at->count, by_limit ? taken.costs : taken.times, taken.count * sizeof *at->values);
      at->count += taken.count;
    }
    timings_discard(&taken);
  }
}

static collection collect(const history *all) {
  collection made = {.numbers = json_object()};
  for (size_t i = 0; i < all->count && all->entries[i].place != RECORD_NONE; i++)
    (all->entries[i].accuracy ? add_results : add_times)(&made, &all->entries[i]);
  for (size_t i = 0; i < made.count; i++)
    for (size_t k = 0; k < made.all[i].count; k++) {
      point *one = &made.all[i].points[k];
      if (one->count) one->median = statistics_median(one->values, one->count);
    }
  return made;
}

static void discard(collection *made) {
  for (size_t i = 0; i < made->count; i++) {
    for (size_t k = 0; k < made->all[i].count; k++) free(made->all[i].points[k].values);
    free(made->all[i].points);
    free(made->all[i].name);
  }
  free(made->all);
  json_decref(made->numbers);
}

/* ---- changes ---- */

/* The changes that are told, and which ones these are. */
typedef struct telling {
  bool by_git;
  int64_t place, seconds; /* the first ones that are told */
  double level;           /* of the test of one series of times */
  size_t tested;          /* their number */
  uint64_t seed;
  json_t *changes;
} telling;

static json_t *entry_json(const entry *of) {
  return json_pack("{s:s, s:s, s:s}", "commit", commit_of(of), "date", field_string(of->told, "date"), "file",
                   of->file);
}

static bool is_told(const telling *t, const entry *of) {
  return of->place >= t->place && of->seconds >= t->seconds;
}

/* Adds a change between two points, whose row is taken over. */
static void tell(const telling *t, const series *in, size_t at, json_t *row) {
  const entry *good = in->points[at - 1].of, *bad = in->points[at].of;
  json_t *environment = json_array();
  compare_environments(good->told, bad->told, environment);
  for (size_t i = json_array_size(environment); i-- > 0;) {
    const char *what = field_string(json_array_get(environment, i), "what");
    if (strcmp(what, "commit") == 0 || strcmp(what, "posenc_version") == 0) json_array_remove(environment, i);
  }
  field_put(field_put(row, "measure", json_string(in->measure)), "cpu", json_string(in->cpu));
  field_put(field_put(row, "last_good", entry_json(good)), "first_bad", entry_json(bad));
  if (t->by_git) field_put(row, "commits", json_integer(bad->place - good->place));
  field_append(t->changes, field_put(row, "environment", environment));
}

/* Returns the row of two results, null if even their bits are the same. */
static json_t *result_row(const record_result *before, const record_result *after) {
  json_t *row = compare_results(before, after, &(compare_limits){0});
  if (strcmp(field_string(row, "verdict"), "same") != 0) return row;
  if (strcmp(before->digest, after->digest) != 0 && *before->digest && *after->digest)
    return field_put(field_put(row, "verdict", json_string("bits")), "note",
                     json_string("the same errors, other bits"));
  json_decref(row);
  return NULL;
}

/* Whether the last result is worse than that before the point. */
static bool remains_worse(const series *in, size_t at) {
  json_t *row = compare_results(in->points[at - 1].result, in->points[in->count - 1].result, &(compare_limits){0});
  const bool worse = strcmp(field_string(row, "verdict"), "worse") == 0;
  json_decref(row);
  return worse;
}

/* Tells the changes of a series of results. Returns whether its newest one is worse than one before a change. */
static bool tell_results(const telling *t, const series *in) {
  bool worse = false;
  for (size_t at = 1; at < in->count; at++) {
    json_t *row = result_row(in->points[at - 1].result, in->points[at].result);
    if (row && is_told(t, in->points[at].of)) {
      tell(t, in, at, row);
      worse = worse || remains_worse(in, at);
    } else {
      json_decref(row);
    }
  }
  return worse;
}

/* Returns the ratio of the medians of points from c to d to those from a to b, ends not included. */
static statistics_ratio ratio_of(const double *medians, size_t a, size_t b, size_t c, size_t d) {
  static const double confidence = 0.95;
  return statistics_ratio_of(medians + a, b - a, medians + c, d - c, confidence);
}

static json_t *time_row(const telling *t, const series *in, statistics_ratio ratio, double p) {
  const char *verdict = ratio.low > 1.0 ? "worse" : ratio.high < 1.0 ? "better" : "undecided";
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "name", in->name, "verdict", verdict, "note",
                   *verdict == 'u' ? "times spread differently" : "", "ratio", field_real(ratio.estimate), "low",
                   ratio.low > 0.0 ? field_real(ratio.low) : json_null(), "high", field_real(ratio.high), "p",
                   field_real(fmin(1.0, p * (double)t->tested)));
}

/* Tells the changes of a series of times, likewise. */
static bool tell_times(const telling *t, const series *in) {
  const size_t n = in->count;
  double *medians = memory_take(n, sizeof *medians), *logs = memory_take(n, sizeof *logs);
  divisive_change *found = memory_take(n / DIVISIVE_LEAST + 1, sizeof *found);
  for (size_t i = 0; i < n; i++) logs[i] = log(medians[i] = in->points[i].median);
  const size_t count = divisive_find(logs, n, t->level, t->seed, found);
  const size_t last = count ? found[count - 1].at : 0;
  bool worse = false;
  for (size_t i = 0; i < count; i++) {
    const size_t begin = i > 0 ? found[i - 1].at : 0, at = found[i].at, end = i + 1 < count ? found[i + 1].at : n;
    if (!is_told(t, in->points[at].of)) continue;
    tell(t, in, at, time_row(t, in, ratio_of(medians, begin, at, at, end), found[i].p));
    worse = worse || ratio_of(medians, begin, at, last, n).low > 1.0;
  }
  free(medians);
  free(logs);
  free(found);
  return worse;
}

/* ---- the whole ---- */

/* Sets from where on changes are told. Returns whether it is known. */
static bool set_since(const history *all, const char *since, telling *t) {
  t->place = t->seconds = INT64_MIN;
  if (!since) return true;
  const int64_t seconds = seconds_of(since);
  if (seconds != RECORD_NONE) return t->seconds = seconds, true;
  if (all->commits) return (t->place = place_of(all->commits, all->commit_count, since)) != RECORD_NONE;
  for (size_t i = 0; i < all->count && all->entries[i].place != RECORD_NONE; i++) {
    char *commit = memory_copy_text(commit_of(&all->entries[i]));
    const bool found = place_of(&commit, 1, since) != RECORD_NONE;
    free(commit);
    if (found) return t->place = all->entries[i].place, true;
  }
  return false;
}

static bool has_times(const series *in) {
  return strcmp(in->measure, "accuracy") != 0;
}

/* Returns a series as JSON, with the numbers that it is judged by. */
static json_t *series_json(const series *in) {
  json_t *points = json_array();
  for (size_t i = 0; i < in->count; i++) {
    const point *one = &in->points[i];
    json_t *json = json_pack("{s:s, s:s}", "commit", commit_of(one->of), "date", field_string(one->of->told, "date"));
    if (!has_times(in)) {
      field_put(field_put(json, "max_ulp", field_real(one->result->max_ulp.ulp)), "max_abs",
                field_real(one->result->max_abs.abs));
      field_put(json, "digest", json_string(one->result->digest));
    } else if (strcmp(in->measure, "limit") == 0) {
      field_put(json, "of_limit", field_real(1.0 / one->median));
    } else {
      field_put(json, "ns", field_real(one->median));
    }
    field_append(points, json);
  }
  return json_pack("{s:s, s:s, s:s, s:o}", "name", in->name, "measure", in->measure, "cpu", in->cpu, "points", points);
}

/* Returns the records that have no place. */
static json_t *left_out(const history *all) {
  json_t *list = json_array();
  for (size_t i = 0; i < all->count; i++)
    if (all->entries[i].place == RECORD_NONE) field_append(list, entry_json(&all->entries[i]));
  return list;
}

json_t *history_find(const history *all, const history_terms *terms) {
  telling t = {.by_git = all->commits, .seed = terms->seed};
  if (!set_since(all, terms->since, &t)) return NULL;
  collection made = collect(all);
  json_t *list = json_array();
  json_int_t worse = 0;
  t.changes = json_array();
  for (size_t i = 0; i < made.count; i++)
    t.tested += has_times(&made.all[i]) && made.all[i].count >= 2 * DIVISIVE_LEAST;
  t.level = terms->alpha / fmax(1.0, (double)t.tested);
  for (size_t i = 0; i < made.count; i++) {
    worse += (has_times(&made.all[i]) ? tell_times : tell_results)(&t, &made.all[i]);
    field_append(list, series_json(&made.all[i]));
  }
  discard(&made);
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:I}", "schema", "posenc-history-1", "order", t.by_git ? "git" : "date",
                   "left_out", left_out(all), "series", list, "changes", t.changes, "worse", worse);
}
