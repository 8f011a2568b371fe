/* SPDX-License-Identifier: MIT */
/* Prints a timing record as tables. */
#include "bench/bench.h"
#include "cli/measure.h"
#include "common/contract.h"
#include "common/environment.h"
#include "common/memory.h"
#include "common/number.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(figure) offsetof(record_benchmark, figure)

/* The columns of a mode's table: medians of these figures. A column is left out if the mode's first
   benchmark lacks the figure: a mode's benchmarks have the same. */
static const struct {
  const char *head;
  size_t at; /* of the figure in record_benchmark */
  double scale;
  int width, decimals;
  const char *unit;
} columns[] = {
    {"us", AT(real_time), 1e-3, 11, -1, ""},        {"ns/element", AT(ns_per_element), 1, 11, -1, ""},
    {"GB/s", AT(bytes_per_second), 1e-9, 8, 2, ""}, {"of limit", AT(of_limit), 100, 8, 1, "%"},
    {"plan", AT(plan_share), 100, 7, 1, "%"},       {"plan us", AT(plan_once_ns), 1e-3, 9, -1, ""},
    {"plan kB", AT(plan_bytes), 1e-3, 9, -1, ""},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Repetitions, sorted by benchmark in the order of registration. */
typedef struct mode_repetitions {
  const record_benchmark **entries;
  size_t count;
  double *scratch; /* memory for a number of each repetition */
} mode_repetitions;

static int compare_families(const void *a, const void *b) {
  const int64_t x = (*(const record_benchmark *const *)a)->family_index,
                y = (*(const record_benchmark *const *)b)->family_index;
  return (x > y) - (x < y);
}

static bool is_of(const record_benchmark *entry, const char *mode) {
  const size_t length = strlen(mode);
  return strcmp(entry->run_type, "iteration") == 0 && strncmp(entry->name, mode, length) == 0 &&
         entry->name[length] == '/';
}

/* Collects the repetitions of one mode. `entries` and `scratch` have room for all repetitions. */
static void collect(mode_repetitions *s, const record_timing *record, const char *mode) {
  s->count = 0;
  RECORD_EACH(entry, record, benchmarks)
    if (is_of(entry, mode)) s->entries[s->count++] = entry;
  qsort(s->entries, s->count, sizeof(*s->entries), compare_families);
}

static double figure_of(const record_benchmark *entry, size_t at) {
  double value;
  memcpy(&value, (const char *)entry + at, sizeof value);
  return value;
}

typedef struct summary {
  double median, spread; /* (largest - smallest) / median */
} summary;

/* Summarizes a figure of the repetitions [first, end). */
static summary summarize(const mode_repetitions *s, size_t first, size_t end, size_t at) {
  const size_t count = end - first;
  for (size_t i = 0; i < count; i++) s->scratch[i] = figure_of(s->entries[first + i], at);
  numbers_sort(s->scratch, count);
  const double middle = numbers_median(s->scratch, count);
  return (summary){middle, (s->scratch[count - 1] - s->scratch[0]) / middle};
}

static bool is_shown(const mode_repetitions *s, int column) {
  return !isnan(figure_of(s->entries[0], columns[column].at));
}

/* The columns of names. */
typedef struct widths {
  int table, kernel;
} widths;

/* The names of a benchmark: "MODE/TABLE/KERNEL/…". */
typedef struct names {
  const char *table, *kernel;
  widths length;
} names;

static names names_of(const record_benchmark *entry) {
  const char *table = strchr(entry->name, '/') + 1; /* is_of has found it */
  const int width = (int)strcspn(table, "/");
  const char *kernel = table + width + (table[width] == '/');
  return (names){table, kernel, {width, (int)kernel_name_length(kernel)}};
}

static void print_head(const mode_repetitions *s, widths w, FILE *stream) {
  fprintf(stream, "%-*s %-*s", w.table, "table", w.kernel, "kernel");
  for (int c = 0; c < COLUMNS; c++)
    if (is_shown(s, c)) fprintf(stream, " %*s", columns[c].width + (int)strlen(columns[c].unit), columns[c].head);
  fprintf(stream, " %8s\n", "spread");
}

static void print_benchmark(const mode_repetitions *s, size_t first, size_t end, widths w, FILE *stream) {
  const names n = names_of(s->entries[first]);
  fprintf(stream, "%-*.*s %-*.*s", w.table, n.length.table, n.table, w.kernel, n.length.kernel, n.kernel);
  for (int c = 0; c < COLUMNS; c++) {
    if (!is_shown(s, c)) continue;
    const double value = columns[c].scale * summarize(s, first, end, columns[c].at).median;
    if (columns[c].decimals < 0)
      fprintf(stream, " %*.4g", columns[c].width, value);
    else
      fprintf(stream, " %*.*f%s", columns[c].width, columns[c].decimals, value, columns[c].unit);
  }
  fprintf(stream, " %7.1f%%\n", 100 * summarize(s, first, end, AT(real_time)).spread);
}

static void print_mode(const mode_repetitions *s, bench_mode mode, FILE *stream) {
  fprintf(stream, "%s: %s\n", bench_mode_name(mode), bench_mode_summary(mode));
  widths w = {24, 12};
  for (size_t i = 0; i < s->count; i++) {
    const widths length = names_of(s->entries[i]).length;
    if (length.table > w.table) w.table = length.table;
    if (length.kernel > w.kernel) w.kernel = length.kernel;
  }
  print_head(s, w, stream);
  for (size_t first = 0, end; first < s->count; first = end) {
    for (end = first + 1; end < s->count && s->entries[end]->family_index == s->entries[first]->family_index; end++)
      continue;
    print_benchmark(s, first, end, w, stream);
  }
}

void print_unreliable(const record_timing *record, FILE *stream) {
  const double others = record->context.others;
  if (others > OTHERS_MOST)
    fprintf(stream, "\nunreliable: other processes used %.0f %% of the processors during the timings\n",
            100.0 * others);
}

void print_timings(const record_timing *record, FILE *stream) {
  const size_t most = record->benchmarks_count + 1;
  mode_repetitions s = {.entries = memory_take(most, sizeof(*s.entries)),
                        .scratch = memory_take(most, sizeof *s.scratch)};
  const char *before = "";
  for (bench_mode mode = 0; mode < BENCH_MODES; mode++) {
    collect(&s, record, bench_mode_name(mode));
    if (s.count == 0) continue;
    fputs(before, stream);
    print_mode(&s, mode, stream);
    before = "\n";
  }
  print_unreliable(record, stream);
  free(s.scratch);
  free(s.entries);
}
