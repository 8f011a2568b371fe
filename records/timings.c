/* SPDX-License-Identifier: MIT */
#include "records/timings.h"

#include "common/contract.h"
#include "common/memory.h"
#include "records/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Google Benchmark writes run_name and run_type since version 1.5; older files have only the name. */
static const char *name_of(const record_benchmark *entry) {
  return *entry->run_name ? entry->run_name : entry->name;
}

/* Whether this is a repetition, or, with `medians`, the median of a record without repetitions. */
static bool counts(const record_benchmark *entry, bool medians) {
  const bool is_aggregate = strcmp(entry->run_type, "aggregate") == 0;
  return medians ? is_aggregate && strcmp(entry->aggregate_name, "median") == 0 : !is_aggregate;
}

/* ---- defects ---- */

/* Whether the entry must have a time. Failed and skipped benchmarks, fits of a complexity, and aggregates other than
   medians need none. */
static bool is_timing(const record_benchmark *entry) {
  const bool is_fit = entry->has_big_o || entry->has_rms;
  return !entry->error_occurred && !entry->skipped && !is_fit && (counts(entry, false) || counts(entry, true));
}

/* Returns the first defect of a benchmark, or null. */
static const char *defect_of(const record_benchmark *entry) {
  if (!*name_of(entry)) return "it has no name";
  if (!is_timing(entry)) return NULL;
  if (isnan(entry->real_time)) return "real_time is not a number of 0 or more";
  return isnan(record_nanoseconds(entry)) ? "time_unit is not ns, us, ms or s" : NULL;
}

bool timings_check(const record_timing *record, char *why, size_t size) {
  const char *defect = NULL;
  for (size_t i = 0; !defect && i < record->benchmarks_count; i++) {
    const char *name = name_of(&record->benchmarks[i]);
    defect = defect_of(&record->benchmarks[i]);
    if (defect) snprintf(why, size, "benchmarks[%zu], %.200s: %s", i, *name ? name : "''", defect);
  }
  return !defect;
}

/* ---- interruptions ---- */

/* Whether cpu_time and real_time are of the same work. In the other modes, cpu_time includes the preparation. */
static bool is_whole(const char *name) {
  static const char *const modes[] = {"hot/", "first/", "row/", "plan/"};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strncmp(name, modes[i], strlen(modes[i])) == 0) return true;
  return false;
}

static bool is_threaded(const timings_record *of, const char *kernel) {
  for (size_t i = 0; i < of->threaded_count; i++)
    if (strcmp(of->threaded[i], kernel) == 0) return true;
  return false;
}

/*
 * Whether the process waited for a core in a repetition of one thread. On a quiet machine real_time is above cpu_time
 * by 2 % or more in 1 of 200 repetitions, by 5 % in 1 of 800. With two busy processes on two cores it is above by 5 %
 * in 35 % of repetitions of 1 ms, and in half of those of 5 ms; nearly all of these take two or three times as long.
 * For other programs, and for kernels with threads, cpu_time is that of one thread, which may wait for others or for
 * a device.
 */
static bool is_interrupted(const timings_record *from, const record_benchmark *entry) {
  static const double most = 1.05;
  const char *name = name_of(entry), *kernel = kernel_of_benchmark(name);
  return *from->record->context.posenc_schema && kernel && is_whole(name) && !is_threaded(from, kernel) &&
         entry->real_time > most * entry->cpu_time;
}

/* ---- by name ---- */

static void find_threaded(timings_record *of) {
  RECORD_EACH(entry, of->record, benchmarks) {
    const char *kernel = kernel_of_benchmark(name_of(entry));
    if (kernel && entry->threads_limit_bytes_per_second > 0.0 && !is_threaded(of, kernel)) {
      of->threaded = memory_grow(of->threaded, of->threaded_count + 1, sizeof(*of->threaded));
      of->threaded[of->threaded_count++] = kernel;
    }
  }
}

static int in_order(const record_benchmark *a, const record_benchmark *b) {
  return (a > b) - (a < b);
}

static int by_name(const void *one, const void *other) {
  const record_benchmark *a = *(const record_benchmark *const *)one, *b = *(const record_benchmark *const *)other;
  const int order = strcmp(name_of(a), name_of(b));
  return order ? order : in_order(a, b);
}

static int by_place(const void *one, const void *other) {
  return in_order(*(const record_benchmark *const *)one, *(const record_benchmark *const *)other);
}

/* Lists the names in the order of their first benchmarks. */
static void list_names(timings_record *of) {
  const size_t count = of->record->benchmarks_count;
  const record_benchmark **first = memory_take(count, sizeof(*first));
  for (size_t i = 0; i < count; i++)
    if (i == 0 || strcmp(name_of(of->by_name[i - 1]), name_of(of->by_name[i])) != 0)
      first[of->names_count++] = of->by_name[i];
  qsort(first, of->names_count, sizeof(*first), by_place);
  of->names = memory_take(of->names_count, sizeof(*of->names));
  for (size_t i = 0; i < of->names_count; i++) of->names[i] = name_of(first[i]);
  free(first);
}

void timings_open(timings_record *of, const record_timing *record) {
  const size_t count = record->benchmarks_count;
  *of = (timings_record){.record = record, .by_name = memory_take(count, sizeof(*of->by_name))};
  for (size_t i = 0; i < count; i++) of->by_name[i] = &record->benchmarks[i];
  qsort(of->by_name, count, sizeof(*of->by_name), by_name);
  list_names(of);
  if (*record->context.posenc_schema) find_threaded(of);
}

void timings_close(timings_record *of) {
  free(of->by_name);
  free(of->names);
  free(of->threaded);
}

/* Returns the first benchmark of that name in the order by name, and their number. */
static const record_benchmark *const *find(const timings_record *of, const char *name, size_t *count) {
  size_t first = 0, end = of->record->benchmarks_count;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (strcmp(name_of(of->by_name[middle]), name) < 0)
      first = middle + 1;
    else
      end = middle;
  }
  for (; end < of->record->benchmarks_count && strcmp(name_of(of->by_name[end]), name) == 0;) end++;
  *count = end - first;
  return of->by_name + first;
}

bool timings_has(const timings_record *of, const char *name) {
  size_t count;
  find(of, name, &count);
  return count > 0;
}

timings timings_collect(const timings_record *from, const char *name, bool alone) {
  size_t most;
  const record_benchmark *const *entries = find(from, name, &most);
  timings of = {.times = memory_take(most, sizeof *of.times), .costs = memory_take(most, sizeof *of.costs)};
  for (int medians = 0; medians < 2 && of.count + of.interrupted == 0; medians++)
    for (size_t i = 0; i < most; i++) {
      const record_benchmark *entry = entries[i];
      if (!counts(entry, medians)) continue;
      const double time = record_nanoseconds(entry), share = entry->of_limit;
      if (entry->error_occurred) of.failed = true;
      if (entry->instructions > 0.0) of.instructions = entry->instructions;
      if (alone && !medians && is_interrupted(from, entry)) {
        of.interrupted++;
        continue;
      }
      if (time > 0.0) of.times[of.count++] = time;
      if (share > 0.0) of.costs[of.limited++] = 1.0 / share;
    }
  return of;
}

void timings_discard(timings *of) {
  free(of->times);
  free(of->costs);
}

/* ---- joined records ---- */

static record_timed_check *check_like(record_timed_check *all, size_t count, const record_timed_check *one) {
  for (record_timed_check *each = all; each < all + count; each++)
    if (strcmp(each->kernel, one->kernel) == 0 && strcmp(each->check, one->check) == 0) return each;
  return NULL;
}

void timed_checks_join(record_timed_check *all, size_t *count, const record_context *more) {
  RECORD_EACH(one, more, checks) {
    record_timed_check *known = check_like(all, *count, one);
    if (!known) {
      all[(*count)++] = *one;
      continue;
    }
    const int64_t both = known->compared + one->compared;
    if (!one->ok) *known = *one;
    known->compared = both;
  }
}

/* Returns the elements of two arrays, to be freed. */
static void *both_of(const void *first, size_t count, const void *more, size_t more_count, size_t bytes) {
  char *all = memory_take(count + more_count, bytes);
  if (count) memcpy(all, first, count * bytes);
  if (more_count) memcpy(all + count * bytes, more, more_count * bytes);
  return all;
}

#define BOTH_OF(a, b, list) both_of((a)->list, (a)->list##_count, (b)->list, (b)->list##_count, sizeof *(a)->list)

const record_timing *timings_join(const record_timing *first, const record_timing *more) {
  const record_context *old = &first->context, *added = &more->context;
  record_benchmark *benchmarks = BOTH_OF(first, more, benchmarks);
  record_library_choice *choices = BOTH_OF(old, added, choices);
  record_timed_check *checks = BOTH_OF(old, added, checks);
  record_timing made = *first;
  made.benchmarks = benchmarks;
  made.benchmarks_count += more->benchmarks_count;
  made.context.choices = choices;
  made.context.choices_count += added->choices_count;
  made.context.checks = checks;
  timed_checks_join(checks, &made.context.checks_count, added);
  record_memory memory = {NULL};
  RECORD_EACH(fact, &added->facts, list)
    if (!record_find_fact(&old->facts, fact->key)) record_set_fact(&made.context.facts, fact, &memory);
  const record_timing *kept = record_keep_timing(&made);
  record_release(&memory);
  free(checks);
  free(choices);
  free(benchmarks);
  return kept;
}

/* ---- repetitions ----------------------------------------------------------------------------------------- */

/* Copies part `index` of "hot/shape/kernel/…". Returns false if there is none or it does not fit. */
static bool name_part(const char *name, int index, char part[REPETITION_NAME]) {
  for (int skipped = 0; skipped < index; skipped++) {
    name = strchr(name, '/');
    if (!name) return false;
    name++;
  }
  const size_t length = index == 2 ? kernel_name_length(name) : strcspn(name, "/");
  if (length == 0 || length >= REPETITION_NAME) return false;
  memcpy(part, name, length);
  part[length] = '\0';
  return true;
}

/* Returns false unless this is a repetition of a benchmark of posenc. */
static bool read_repetition(const record_benchmark *entry, timed_repetition *made) {
  const char *type = entry->run_type, *name = entry->name;
  if ((*type && strcmp(type, "iteration") != 0) || entry->error_occurred) return false;
  made->entry = entry;
  return name_part(name, 0, made->mode) && name_part(name, 1, made->shape) && name_part(name, 2, made->kernel);
}

/* Compares names. Null as kernel equals any kernel. */
static int compare_names(const timed_repetition *s, const char *mode, const char *shape, const char *kernel) {
  int order = strcmp(s->mode, mode);
  if (order == 0) order = strcmp(s->shape, shape);
  return order == 0 && kernel ? strcmp(s->kernel, kernel) : order;
}

/* Compares repetitions by name, then by their order in the record. */
static int compare_repetitions(const void *a, const void *b) {
  const timed_repetition *x = *(const timed_repetition *const *)a, *y = *(const timed_repetition *const *)b;
  const int order = compare_names(x, y->mode, y->shape, y->kernel);
  return order != 0 ? order : (x > y) - (x < y);
}

repetition_index *repetitions_open(const record_timing *timing) {
  const size_t most = timing ? timing->benchmarks_count : 0;
  repetition_index *s = memory_take(1, sizeof *s);
  s->all = memory_take(most, sizeof *s->all);
  s->by_name = memory_take(most, sizeof(*s->by_name));
  s->values = memory_take(most, sizeof *s->values);
  for (size_t i = 0; i < most; i++)
    if (read_repetition(&timing->benchmarks[i], &s->all[s->count])) s->count++;
  for (size_t i = 0; i < s->count; i++) s->by_name[i] = &s->all[i];
  qsort(s->by_name, s->count, sizeof(*s->by_name), compare_repetitions);
  return s;
}

void repetitions_close(repetition_index *s) {
  free(s->all);
  free(s->by_name);
  free(s->values);
  free(s);
}

double record_nanoseconds(const record_benchmark *entry) {
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(entry->time_unit, units[i].name) == 0) return entry->real_time * units[i].ns;
  return NAN;
}

/* Where the numbers of a benchmark are. */
static const struct {
  const char *name;
  size_t offset;
} numbers[] = {
    {"real_time", offsetof(record_benchmark, real_time)},
#define COUNTER(in_report, name, unit, meaning) {#name, offsetof(record_benchmark, name)},
#include "records/counters.def"
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static size_t number_called(const char *counter) {
  size_t number = 0;
  while (number < NUMBERS && strcmp(numbers[number].name, counter) != 0) number++;
  return number;
}

/* The numbers after all those of benchmarks are times of iterations. */
static double measured(const record_benchmark *entry, size_t number) {
  return number == NUMBERS ? record_nanoseconds(entry)
                           : *(const double *)((const char *)entry + numbers[number].offset);
}

size_t repetitions_collect(repetition_index *s, const char *mode, const char *shape, const char *kernel,
                           const char *counter) {
  const size_t number = number_called(counter);
  size_t first = 0, count = 0;
  for (size_t end = s->count; first < end;) {
    const size_t middle = first + (end - first) / 2;
    if (compare_names(s->by_name[middle], mode, shape, kernel) < 0)
      first = middle + 1;
    else
      end = middle;
  }
  for (size_t i = first; i < s->count && compare_names(s->by_name[i], mode, shape, kernel) == 0; i++) {
    const double value = measured(s->by_name[i]->entry, number);
    if (isfinite(value)) s->values[count++] = value;
  }
  return count;
}

record_spread repetitions_spread(repetition_index *s, const char *mode, const char *shape, const char *kernel,
                                 const char *counter) {
  const size_t count = repetitions_collect(s, mode, shape, kernel, counter);
  if (count == 0) return record_empty_spread();
  const double median = statistics_median(s->values, count); /* sorts the values */
  return (record_spread){.there = true, .median = median, .min = s->values[0], .max = s->values[count - 1]};
}

double *repetitions_copy(repetition_index *s, const char *mode, const char *shape, const char *kernel,
                         const char *counter, size_t *count) {
  *count = repetitions_collect(s, mode, shape, kernel, counter);
  double *copy = memory_take(*count, sizeof *copy);
  memcpy(copy, s->values, *count * sizeof *copy);
  return copy;
}

record_ratio repetitions_ratio_of(const double *a, size_t n, const double *b, size_t m) {
  static const double confidence = 0.9;
  const statistics_ratio ratio = statistics_ratio_of(a, n, b, m, confidence);
  return (record_ratio){.there = true,
                        .estimate = ratio.estimate,
                        .low = ratio.low > 0.0 ? ratio.low : NAN,
                        .high = isfinite(ratio.high) ? ratio.high : NAN,
                        .kernel = ""};
}

record_ratio repetitions_ratio(repetition_index *s, const char *mode, const char *shape, const char *first,
                               const char *second) {
  size_t n, m;
  double *a = repetitions_copy(s, mode, shape, first, "ns_per_element", &n),
         *b = repetitions_copy(s, mode, shape, second, "ns_per_element", &m);
  const record_ratio ratio = repetitions_ratio_of(a, n, b, m);
  free(a);
  free(b);
  return ratio;
}
