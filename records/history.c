/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/contract.h"
#include "common/memory.h"
#include "records/compare.h"
#include "records/record.h"
#include "records/statistics.h"
#include "records/timings.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An accuracy record or a timing record. A report has two entries, which are made of it. */
typedef struct history_entry {
  const char *file, *commit;       /* the commit is that whose kernels were measured */
  const record_accuracy *accuracy; /* null for timings */
  timings_record timing;
  int64_t seconds;          /* its date, since 1970; RECORD_NONE if it is not known */
  int64_t place;            /* in the order; RECORD_NONE if it has none */
  const record_facts *told; /* of machine, build and date */
} entry;

struct history {
  entry *entries; /* in order, those without a place last */
  size_t count;
  char *const *commits; /* null in the order of dates */
  size_t commit_count;
  const void **read; /* records that were read, to be freed */
  size_t read_count;
  record_memory memory; /* of entries that are made of reports */
};

history *history_open(void) {
  return memory_take(1, sizeof(history));
}

void history_close(history *all) {
  for (size_t i = 0; i < all->count; i++)
    if (!all->entries[i].accuracy) timings_close(&all->entries[i].timing);
  for (size_t i = 0; i < all->read_count; i++) record_free(all->read[i]);
  record_release(&all->memory);
  free(all->read);
  free(all->entries);
  free(all);
}

/* ---- records ---- */

/* Returns the commit whose kernels were measured: plugins may be from another repository than posenc. */
static const char *measured_commit(const record_facts *facts) {
  const char *given = record_fact_text(facts, "measured_commit");
  return *given ? given : record_fact_text(facts, "commit");
}

/* Where a record was found. */
typedef struct source {
  const char *file, *commit; /* the commit may be null: as the record says */
} source;

/* Adds a record, of which one of both is not null. */
static void add_entry(history *all, const source *from, const record_accuracy *accuracy, const record_timing *timing) {
  entry made = {.file = from->file, .accuracy = accuracy};
  made.told = accuracy ? &accuracy->environment : &timing->context.facts;
  made.commit = from->commit ? from->commit : measured_commit(made.told);
  if (timing) timings_open(&made.timing, timing);
  made.seconds = record_seconds(record_fact_text(made.told, "date"));
  all->entries = memory_grow(all->entries, all->count + 1, sizeof *all->entries);
  all->entries[all->count++] = made;
}

static size_t rows_in(const record_table *tables, size_t count) {
  size_t rows = 0;
  for (size_t i = 0; i < count; i++) rows += tables[i].rows_count;
  return rows;
}

/* Adds the rows of the tables that say something of a kernel, as results of an accuracy record. */
static void take_results(const record_table *tables, size_t count, record_result *results, size_t *used) {
  for (size_t i = 0; i < count; i++)
    RECORD_EACH(row, &tables[i], rows)
      if (row->elements != RECORD_NONE || *row->refusal) results[(*used)++] = record_result_of(row, &tables[i].shape);
}

/* Adds the medians of tables as benchmarks of one repetition. */
static void take_times(history *all, const char *mode, const record_table *tables, size_t count,
                       record_benchmark *benchmarks, size_t *used) {
  for (size_t i = 0; i < count; i++)
    RECORD_EACH(row, &tables[i], rows) {
      const double elements = tables[i].shape.rows * tables[i].shape.dim,
                   time = row->timing.ns_per_element.median * elements;
      if (!(time > 0.0)) continue;
      record_benchmark *one = &benchmarks[(*used)++];
      *one = record_empty_benchmark();
      one->name = record_format(&all->memory, "%s/%s/%s", mode, tables[i].shape.name, row->kernel);
      one->run_type = "iteration";
      one->time_unit = "ns";
      one->real_time = time;
      one->of_limit = row->timing.of_limit.median;
    }
}

static void add_report(history *all, const source *from, const record_report *report) {
  const size_t most = rows_in(report->shapes, report->shapes_count) + rows_in(report->cases, report->cases_count);
  record_accuracy *accuracy = record_allocate(&all->memory, 1, sizeof *accuracy);
  record_result *results = record_allocate(&all->memory, most, sizeof *results);
  accuracy->environment = report->environment.accuracy;
  accuracy->records = results;
  RECORD_COPY_DRAW(accuracy, report);
  take_results(report->shapes, report->shapes_count, results, &accuracy->records_count);
  take_results(report->cases, report->cases_count, results, &accuracy->records_count);
  add_entry(all, from, accuracy, NULL);
  if (!report->environment.timing.there) return;
  const struct {
    const char *mode;
    const record_table *tables;
    size_t count;
  } modes[] = {{"hot", report->shapes, report->shapes_count},    {"cold", report->cold, report->cold_count},
               {"fresh", report->fresh, report->fresh_count},    {"malloc", report->malloc, report->malloc_count},
               {"offset", report->offset, report->offset_count}, {"first", report->first, report->first_count},
               {"row", report->row, report->row_count}};
  enum { MODES = sizeof modes / sizeof *modes };
  size_t times = 0;
  for (size_t i = 0; i < MODES; i++) times += rows_in(modes[i].tables, modes[i].count);
  record_timing *timing = record_allocate(&all->memory, 1, sizeof *timing);
  record_benchmark *benchmarks = record_allocate(&all->memory, times, sizeof *benchmarks);
  timing->context.facts = report->environment.timing;
  timing->context.posenc_schema = "";
  timing->benchmarks = benchmarks;
  for (size_t i = 0; i < MODES; i++)
    take_times(all, modes[i].mode, modes[i].tables, modes[i].count, benchmarks, &timing->benchmarks_count);
  add_entry(all, from, NULL, timing);
}

/* Reads a record of one of the kinds, which is null otherwise, and adds it. Returns false with a defect. */
static bool add_read(history *all, const source *from, json_t *record, char *why, size_t size) {
  record_fault fault = {"neither an accuracy record, a timing record nor a report"};
  const record_accuracy *accuracy = NULL;
  const record_report *report = NULL;
  const record_timing *timing = NULL;
  const void *read;
  if (record_is_of(record, "posenc-accuracy-"))
    read = accuracy = record_read_accuracy(record, &fault);
  else if (record_is_of(record, "posenc-report-"))
    read = report = record_read_report(record, &fault);
  else if (*record_schema_of(record))
    read = timing = record_read_timing(record, &fault);
  else
    read = record_take_timing(record); /* any struct keeps it */
  all->read = memory_grow(all->read, all->read_count + 1, sizeof(*all->read));
  all->read[all->read_count++] = read;
  if (timing && !timings_check(timing, why, size)) return false;
  if (report)
    add_report(all, from, report);
  else if (accuracy || timing)
    add_entry(all, from, accuracy, timing);
  snprintf(why, size, "%s", fault.text);
  return accuracy || report || timing;
}

bool history_add(history *all, const char *file, const char *commit, json_t *record, char *why, size_t size) {
  const source from = {record_format(&all->memory, "%s", file),
                       commit ? record_format(&all->memory, "%s", commit) : NULL};
  return add_read(all, &from, record, why, size);
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
  series **all; /* in the order in which they begin */
  size_t count;
  void *tree; /* of the same, by measure, CPU and name */
} collection;

static int in_tree(const void *one, const void *other) {
  const series *a = one, *b = other;
  int order = strcmp(a->name, b->name);
  if (order == 0) order = strcmp(a->measure, b->measure);
  return order ? order : strcmp(a->cpu, b->cpu);
}

static series *series_of(collection *made, const char *measure, const entry *of, const char *name) {
  const series wanted = {.measure = measure, .cpu = record_fact_text(of->told, "cpu"), .name = (char *)(uintptr_t)name};
  series *const *found = tfind(&wanted, &made->tree, in_tree);
  if (found) return *found;
  series *one = memory_take(1, sizeof *one);
  *one = wanted;
  one->name = memory_copy_text(name);
  made->all = memory_grow(made->all, made->count + 1, sizeof(*made->all));
  made->all[made->count++] = one;
  allocated(tsearch(one, &made->tree, in_tree));
  return one;
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
  for (size_t i = 0; i < of->timing.names_count; i++) {
    const char *name = of->timing.names[i];
    timings taken = timings_collect(&of->timing, name, true);
    const bool by_limit = taken.limited && taken.limited == taken.count;
    add_values(made, by_limit ? "limit" : "time", of, name, by_limit ? taken.costs : taken.times, taken.count);
    add_values(made, "instructions", of, name, &taken.instructions, taken.instructions > 0.0);
    timings_discard(&taken);
  }
}

static collection collect(const history *all) {
  collection made = {0};
  for (size_t i = 0; i < all->count && all->entries[i].place != RECORD_NONE; i++)
    (all->entries[i].accuracy ? add_results : add_times)(&made, &all->entries[i]);
  for (size_t i = 0; i < made.count; i++)
    for (size_t k = 0; k < made.all[i]->count; k++) {
      point *one = &made.all[i]->points[k];
      if (one->count) one->median = statistics_median(one->values, one->count);
    }
  return made;
}

static void discard(collection *made) {
  for (size_t i = 0; i < made->count; i++) {
    series *one = made->all[i];
    tdelete(one, &made->tree, in_tree);
    for (size_t k = 0; k < one->count; k++) free(one->points[k].values);
    free(one->points);
    free(one->name);
    free(one);
  }
  free(made->all);
}

/* ---- changes ---- */

/* The changes that are told, and which ones these are. */
typedef struct telling {
  bool by_git;
  int64_t place, seconds; /* the first ones that are told */
  double level;           /* of the test of one series of times */
  size_t tested;          /* their number */
  uint64_t seed;
  record_history_change *changes;
  size_t change_count;
  record_memory *in;
} telling;

static record_history_end end_of(const entry *of) {
  return (record_history_end){
      .there = true, .commit = of->commit, .date = record_fact_text(of->told, "date"), .file = of->file};
}

static bool is_told(const telling *t, const entry *of) {
  return of->place >= t->place && of->seconds >= t->seconds;
}

/* Sets the facts that differ, but for those that a commit of posenc's own changes: its name and its version. */
static void set_other_facts(record_history_change *made, const entry *good, const entry *bad, record_memory *in) {
  const char *own = record_fact_text(bad->told, "commit");
  const bool is_own = strncmp(bad->commit, own, strlen(own)) == 0;
  size_t count;
  record_difference *found = (record_difference *)(uintptr_t)compare_environments(good->told, bad->told, in, &count);
  for (size_t i = 0; i < count; i++) {
    if (is_own && (strcmp(found[i].what, "commit") == 0 || strcmp(found[i].what, "posenc_version") == 0)) continue;
    found[made->environment_count++] = found[i];
  }
  made->environment = found;
}

/* Adds a change between two points. */
static void tell(telling *t, const series *in, size_t at, record_history_change change) {
  const entry *good = in->points[at - 1].of, *bad = in->points[at].of;
  change.there = true;
  change.name = record_format(t->in, "%s", in->name);
  change.measure = in->measure;
  change.cpu = in->cpu;
  change.at = (int64_t)at;
  change.last_good = end_of(good);
  change.first_bad = end_of(bad);
  change.commits = t->by_git ? bad->place - good->place : 0;
  change.has_commits = t->by_git;
  set_other_facts(&change, good, bad, t->in);
  t->changes = memory_grow(t->changes, t->change_count + 1, sizeof *t->changes);
  t->changes[t->change_count++] = change;
}

/* Compares the results of two points. */
static record_compared compare_points(const point *before, const point *after, record_memory *in) {
  return compare_results(&(compare_side){before->of->accuracy, before->result},
                         &(compare_side){after->of->accuracy, after->result}, &(compare_thresholds){0}, in);
}

/* Makes a change of two points. Returns false if even their bits are the same. */
static bool make_change(record_history_change *made, const point *was, const point *is, record_memory *in) {
  const record_result *before = was->result, *after = is->result;
  const record_compared row = compare_points(was, is, in);
  const bool same = strcmp(row.verdict, "same") == 0,
             other_bits = strcmp(before->digest, after->digest) != 0 && *before->digest && *after->digest;
  *made = (record_history_change){.verdict = same ? "bits" : row.verdict,
                                  .note = same ? "the same errors, other bits" : row.note,
                                  .figures = row.figures,
                                  .figures_count = row.figures_count,
                                  .replay = row.replay,
                                  .has_replay = true};
  return !same || other_bits;
}

/* Whether the last result is worse than that before the point. */
static bool remains_worse(const series *in, size_t at, record_memory *memory) {
  const record_compared row = compare_points(&in->points[at - 1], &in->points[in->count - 1], memory);
  return strcmp(row.verdict, "worse") == 0;
}

/* Tells the changes of a series of results. Returns whether its newest one is worse than one before a change. */
static bool tell_results(telling *t, const series *in) {
  bool worse = false;
  for (size_t at = 1; at < in->count; at++) {
    record_history_change change;
    if (!make_change(&change, &in->points[at - 1], &in->points[at], t->in)) continue;
    if (!is_told(t, in->points[at].of)) continue;
    tell(t, in, at, change);
    worse = worse || remains_worse(in, at, t->in);
  }
  return worse;
}

/* Tells the changes of a series of instructions, likewise. They have no noise, but a few depend on addresses. */
static bool tell_instructions(telling *t, const series *in) {
  static const double least = 0.001;
  const double last = in->points[in->count - 1].median;
  double level = in->points[0].median;
  bool worse = false;
  for (size_t at = 1; at < in->count; at++) {
    const double was = level, is = in->points[at].median;
    if (fabs(is - was) < least * was) continue;
    level = is;
    if (!is_told(t, in->points[at].of)) continue;
    record_figure_change *figure = record_allocate(t->in, 1, sizeof *figure);
    *figure = (record_figure_change){.there = true, .what = in->measure, .old = was, .new = is};
    tell(t, in, at,
         (record_history_change){
             .verdict = is > was ? "worse" : "better", .note = "", .figures = figure, .figures_count = 1});
    worse = worse || last - was >= least * was;
  }
  return worse;
}

/* Returns the ratio of the medians of points from c to d to those from a to b, ends not included. */
static statistics_ratio ratio_of(const double *medians, size_t a, size_t b, size_t c, size_t d) {
  static const double confidence = 0.95;
  return statistics_ratio_of(medians + a, b - a, medians + c, d - c, confidence);
}

static record_history_change time_change(const telling *t, statistics_ratio ratio, double p) {
  const char *no_worse = ratio.high < 1.0 ? "better" : "undecided", *verdict = ratio.low > 1.0 ? "worse" : no_worse;
  return (record_history_change){.verdict = verdict,
                                 .note = *verdict == 'u' ? "times spread differently" : "",
                                 .ratio = ratio.estimate,
                                 .has_ratio = true,
                                 .low = ratio.low > 0.0 ? ratio.low : NAN,
                                 .has_low = true,
                                 .high = isfinite(ratio.high) ? ratio.high : NAN,
                                 .has_high = true,
                                 .p = fmin(1.0, p * (double)t->tested),
                                 .has_p = true};
}

/* Tells the changes of a series of times, likewise. */
static bool tell_times(telling *t, const series *in) {
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
    tell(t, in, at, time_change(t, ratio_of(medians, begin, at, at, end), found[i].p));
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
static bool tell_series(telling *t, const series *in) {
  if (has_times(in)) return tell_times(t, in);
  return is_of(in, "accuracy") ? tell_results(t, in) : tell_instructions(t, in);
}

/* Returns a point with the number that it is judged by. */
static record_history_point told_point(const series *in, const point *one) {
  record_history_point made = {
      .there = true, .commit = one->of->commit, .date = record_fact_text(one->of->told, "date"), .digest = ""};
  made.has_max_ulp = made.has_max_abs = made.has_digest = is_of(in, "accuracy");
  made.has_of_limit = is_of(in, "limit");
  made.has_ns = is_of(in, "time");
  made.has_instructions = is_of(in, "instructions");
  if (made.has_digest) {
    made.max_ulp = one->result->max_ulp.ulp;
    made.max_abs = one->result->max_abs.abs;
    made.digest = one->result->digest;
  }
  if (made.has_of_limit) made.of_limit = 1.0 / one->median;
  if (made.has_ns) made.ns = one->median;
  if (made.has_instructions) made.instructions = one->median;
  return made;
}

static record_history_series told_series(const series *in, bool worse, record_memory *memory) {
  record_history_point *points = record_allocate(memory, in->count, sizeof *points);
  for (size_t i = 0; i < in->count; i++) points[i] = told_point(in, &in->points[i]);
  return (record_history_series){.there = true,
                                 .name = record_format(memory, "%s", in->name),
                                 .measure = in->measure,
                                 .cpu = in->cpu,
                                 .worse = worse,
                                 .points = points,
                                 .points_count = in->count};
}

/* Sets the records that have no place. */
static void set_left_out(record_history *made, const history *all, record_memory *in) {
  record_history_end *list = record_allocate(in, all->count, sizeof *list);
  made->left_out = list;
  for (size_t i = 0; i < all->count; i++)
    if (all->entries[i].place == RECORD_NONE) list[made->left_out_count++] = end_of(&all->entries[i]);
}

/* Sets the series and their changes. */
static void set_series(record_history *made, telling *t, const collection *from) {
  record_history_series *list = record_allocate(t->in, from->count, sizeof *list);
  made->series = list;
  made->series_count = from->count;
  for (size_t i = 0; i < from->count; i++) {
    const bool is_worse = tell_series(t, from->all[i]);
    made->worse += is_worse;
    list[i] = told_series(from->all[i], is_worse, t->in);
  }
  record_history_change *changes = record_allocate(t->in, t->change_count, sizeof *changes);
  if (t->change_count) memcpy(changes, t->changes, t->change_count * sizeof *changes);
  made->changes = changes;
  made->changes_count = t->change_count;
}

bool history_find(const history *all, const history_terms *terms, record_memory *in, record_history *made) {
  telling t = {.by_git = all->commits, .seed = terms->seed, .in = in};
  if (!set_since(all, terms->since, &t)) return false;
  collection found = collect(all);
  *made = (record_history){.there = true, .schema = "posenc-history-1", .order = t.by_git ? "git" : "date"};
  for (size_t i = 0; i < found.count; i++)
    t.tested += has_times(found.all[i]) && found.all[i]->count >= 2 * DIVISIVE_LEAST;
  t.level = terms->alpha / fmax(1.0, (double)t.tested);
  set_left_out(made, all, in);
  set_series(made, &t, &found);
  discard(&found);
  free(t.changes);
  return true;
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
