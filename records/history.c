/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "records/history.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/memory.h"
#include "records/compare.h"
#include "records/read.h"
#include "records/statistics.h"
#include "records/timings.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An accuracy record or a timing record. A report has two entries, which are made of it. */
typedef struct entry {
  const char *file, *commit; /* the commit is that whose kernels were measured */
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

/* Returns the commit whose kernels were measured: plugins may be from another repository than posenc. */
static const char *measured_commit(const json_t *facts) {
  const char *given = field_string(facts, "measured_commit");
  return *given ? given : field_string(facts, "commit");
}

/* Where a record was found. */
typedef struct source {
  const char *file, *commit; /* the commit may be null: as the record says */
} source;

/* Adds a record of either kind, and takes the JSON over. */
static void add_entry(history *all, const source *from, json_t *json, bool is_accuracy) {
  entry made = {.file = from->file, .json = json};
  made.told = json_object_get(json, is_accuracy ? "environment" : "context");
  made.commit = from->commit ? from->commit : measured_commit(made.told);
  if (is_accuracy)
    made.accuracy = record_take_accuracy(json);
  else
    timings_open(&made.timing, json);
  made.seconds = record_seconds(field_string(made.told, "date"));
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

static void add_report(history *all, const source *from, const record_report *report) {
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
  add_entry(all, from, json_pack("{s:O, s:o}", "environment", report->environment.accuracy, "records", results), true);
  if (report->environment.timing)
    add_entry(all, from, json_pack("{s:O, s:o}", "context", report->environment.timing, "benchmarks", benchmarks),
              false);
  else
    json_decref(benchmarks);
}

bool history_add(history *all, const char *file, const char *commit, json_t *record, char *why, size_t size) {
  const source *from = &(source){file, commit};
  record_fault fault = {"neither an accuracy record, a timing record nor a report"};
  const char *schema = field_string(record, "schema");
  const void *read = NULL;
  if (strncmp(schema, "posenc-accuracy-", strlen("posenc-accuracy-")) == 0) {
    read = record_read_accuracy(record, &fault);
    if (read) add_entry(all, from, json_incref(record), true);
  } else if (strncmp(schema, "posenc-report-", strlen("posenc-report-")) == 0) {
    read = record_read_report(record, &fault);
    if (read) add_report(all, from, read);
  } else if (*field_string(json_object_get(record, "context"), "posenc_schema")) {
    read = record_read_timing(record, &fault);
    if (read && !timings_check(record, why, size)) return record_free(read), false;
    if (read) add_entry(all, from, json_incref(record), false);
  }
  snprintf(why, size, "%s", fault.text);
  record_free(read);
  return read;
}

/* ---- order ---- */

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
    one->place = commits ? place_of(commits, count, one->commit) : one->seconds;
    placed += one->place != RECORD_NONE;
  }
  if (all->count) qsort(all->entries, all->count, sizeof *all->entries, in_order);
  return placed;
}

/* ---- series ---- */

typedef struct point {
  const entry *of;             /* the newest of its place */
  const record_result *result; /* of accuracy */
  double *values;              /* of other measures: 1 / share of the limit, ns, or instructions */
  size_t count;
  double median;
} point;

typedef struct series {
  const char *measure; /* "accuracy", "limit", "time" or "instructions" */
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

static void add_values(collection *made, const char *measure, const entry *of, const char *name, const double *values,
                       size_t count) {
  if (!count) return;
  point *at = point_of(series_of(made, measure, of, name), of);
  at->values = memory_grow(at->values, at->count + count, sizeof *at->values);
  memcpy(at->values + at->count, values, count * sizeof *at->values);
  at->count += count;
}

static void add_times(collection *made, const entry *of) {
  const char *name;
  json_t *numbers;
  json_object_foreach(of->timing.numbers, name, numbers) {
    timings taken = timings_collect(&of->timing, name, true);
    const bool by_limit = taken.limited && taken.limited == taken.count;
    add_values(made, by_limit ? "limit" : "time", of, name, by_limit ? taken.costs : taken.times, taken.count);
    add_values(made, "instructions", of, name, &taken.instructions, taken.instructions > 0.0);
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
  return json_pack("{s:s, s:s, s:s}", "commit", of->commit, "date", field_string(of->told, "date"), "file", of->file);
}

static bool is_told(const telling *t, const entry *of) {
  return of->place >= t->place && of->seconds >= t->seconds;
}

/* Returns the facts that differ, but for those that a commit of posenc's own changes: its name and its version. */
static json_t *other_facts(const entry *good, const entry *bad) {
  json_t *found = json_array();
  const char *own = field_string(bad->told, "commit");
  compare_environments(good->told, bad->told, found);
  for (size_t i = json_array_size(found); i-- > 0 && strncmp(bad->commit, own, strlen(own)) == 0;) {
    const char *what = field_string(json_array_get(found, i), "what");
    if (strcmp(what, "commit") == 0 || strcmp(what, "posenc_version") == 0) json_array_remove(found, i);
  }
  return found;
}

/* Adds a change between two points, whose row is taken over. */
static void tell(const telling *t, const series *in, size_t at, json_t *row) {
  const entry *good = in->points[at - 1].of, *bad = in->points[at].of;
  field_put(field_put(row, "measure", json_string(in->measure)), "cpu", json_string(in->cpu));
  field_put(row, "at", json_integer((json_int_t)at));
  field_put(field_put(row, "last_good", entry_json(good)), "first_bad", entry_json(bad));
  if (t->by_git) field_put(row, "commits", json_integer(bad->place - good->place));
  field_append(t->changes, field_put(row, "environment", other_facts(good, bad)));
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

/* Tells the changes of a series of instructions, likewise. They have no noise, but a few depend on addresses. */
static bool tell_instructions(const telling *t, const series *in) {
  static const double least = 0.001;
  const double last = in->points[in->count - 1].median;
  double level = in->points[0].median;
  bool worse = false;
  for (size_t at = 1; at < in->count; at++) {
    const double was = level, is = in->points[at].median;
    if (fabs(is - was) < least * was) continue;
    level = is;
    if (!is_told(t, in->points[at].of)) continue;
    json_t *figures = json_pack("[{s:s, s:f, s:f}]", "what", in->measure, "old", was, "new", is);
    tell(t, in, at,
         json_pack("{s:s, s:s, s:s, s:o}", "name", in->name, "verdict", is > was ? "worse" : "better", "note", "",
                   "figures", figures));
    worse = worse || last - was >= least * was;
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
  const int64_t seconds = record_seconds(since);
  if (seconds != RECORD_NONE) return t->seconds = seconds, true;
  if (all->commits) return (t->place = place_of(all->commits, all->commit_count, since)) != RECORD_NONE;
  for (size_t i = 0; i < all->count && all->entries[i].place != RECORD_NONE; i++) {
    char *commit = memory_copy_text(all->entries[i].commit);
    const bool found = place_of(&commit, 1, since) != RECORD_NONE;
    free(commit);
    if (found) return t->place = all->entries[i].place, true;
  }
  return false;
}

static bool is_of(const series *in, const char *measure) {
  return strcmp(in->measure, measure) == 0;
}

static bool has_times(const series *in) {
  return is_of(in, "limit") || is_of(in, "time");
}

/* Tells the changes of a series. Returns whether its newest point is worse than one before a change. */
static bool tell_series(const telling *t, const series *in) {
  if (has_times(in)) return tell_times(t, in);
  return is_of(in, "accuracy") ? tell_results(t, in) : tell_instructions(t, in);
}

/* Returns a series as JSON, with the numbers that it is judged by. */
static json_t *series_json(const series *in, bool worse) {
  json_t *points = json_array();
  for (size_t i = 0; i < in->count; i++) {
    const point *one = &in->points[i];
    json_t *json = json_pack("{s:s, s:s}", "commit", one->of->commit, "date", field_string(one->of->told, "date"));
    if (is_of(in, "accuracy")) {
      field_put(field_put(json, "max_ulp", field_real(one->result->max_ulp.ulp)), "max_abs",
                field_real(one->result->max_abs.abs));
      field_put(json, "digest", json_string(one->result->digest));
    } else {
      const bool by_limit = is_of(in, "limit");
      field_put(json,
                by_limit            ? "of_limit"
                : is_of(in, "time") ? "ns"
                                    : in->measure,
                field_real(by_limit ? 1.0 / one->median : one->median));
    }
    field_append(points, json);
  }
  return json_pack("{s:s, s:s, s:s, s:b, s:o}", "name", in->name, "measure", in->measure, "cpu", in->cpu, "worse",
                   worse, "points", points);
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
    const bool is_worse = tell_series(&t, &made.all[i]);
    worse += is_worse;
    field_append(list, series_json(&made.all[i], is_worse));
  }
  discard(&made);
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:I}", "schema", "posenc-history-1", "order", t.by_git ? "git" : "date",
                   "left_out", left_out(all), "series", list, "changes", t.changes, "worse", worse);
}

/* ---- words ----------------------------------------------------------------------------------------------- */

/* Words for what has changed in a history, and a line for each change. */

__attribute__((format(printf, 2, 3))) static void append(history_words *words, const char *format, ...) {
  const size_t used = strlen(words->text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words->text + used, sizeof words->text - used, format, arguments);
  va_end(arguments);
}

history_words history_size(const record_history_change *change, const char *between) {
  history_words size = {""};
  if (change->has_ratio) {
    append(&size, "%+.1f%%%s", 100.0 * (change->ratio - 1.0), between);
    if (isnan(change->low) || isnan(change->high))
      append(&size, "-%s", between);
    else
      append(&size, "%+.1f%% to %+.1f%%%s", 100.0 * (change->low - 1.0), 100.0 * (change->high - 1.0), between);
    append(&size, "p %.4f", change->p);
  }
  RECORD_EACH(figure, change, figures)
    append(&size, "%s%s %.10g -> %.10g", *size.text ? ", " : "", figure->what, figure->old, figure->new);
  return size;
}

history_words history_end(const record_history_end *end) {
  history_words commit = {""};
  append(&commit, "%.12s (%.10s)", *end->commit ? end->commit : "-", end->date);
  return commit;
}

history_words history_note(const record_history_change *change) {
  history_words note = {""};
  append(&note, "%.300s", change->note);
  RECORD_EACH(fact, change, environment)
    append(&note, "%s%s: %s, then %s", *note.text ? "; " : "", fact->what, fact->old, fact->new);
  return note;
}

static void print_change(const record_history_change *change, int width, FILE *stream) {
  const history_words note = history_note(change);
  fprintf(stream, "%-10s %-*s  %s", change->verdict, width, change->name, history_size(change, "  ").text);
  fprintf(stream, "  since %s, after ", history_end(&change->first_bad).text);
  fputs(history_end(&change->last_good).text, stream);
  if (change->commits > 1) fprintf(stream, ", one of %" PRId64 " commits", change->commits);
  fprintf(stream, "  %s%s%s\n", change->cpu, *note.text ? "  " : "", note.text);
}

void history_print_text(const record_history *found, FILE *stream) {
  int width = 30;
  RECORD_EACH(change, found, changes) width = width_with(width, change->name);
  RECORD_EACH(change, found, changes) print_change(change, width, stream);
  if (found->changes_count) fprintf(stream, "%" PRId64 " of %zu series worse now\n", found->worse, found->series_count);
}
