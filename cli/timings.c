/* SPDX-License-Identifier: MIT */
/* A timing record as a table for people. */
#include "cli/measure.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One repetition of one benchmark. */
typedef struct sample {
  json_int_t family; /* the same for all repetitions, in the order of registration */
  char shape[64];
  char kernel[32];
  double ns;
  double bytes_per_second;
  double of_fill;
} sample;

static double number_at(const json_t *entry, const char *key) {
  return json_number_value(json_object_get(entry, key));
}

/* False if the entry is something else than a repetition of executing a plan. */
static bool read_sample(const json_t *entry, sample *s) {
  const char *name = json_string_value(json_object_get(entry, "name"));
  const char *type = json_string_value(json_object_get(entry, "run_type"));
  if (!name || !type || strcmp(type, "iteration") != 0) return false;
  s->family = json_integer_value(json_object_get(entry, "family_index"));
  s->ns = number_at(entry, "ns_per_element");
  s->bytes_per_second = number_at(entry, "bytes_per_second");
  s->of_fill = number_at(entry, "of_fill");
  return sscanf(name, "execute/%63[^/]/%31[^/]", s->shape, s->kernel) == 2;
}

static int compare_families(const void *a, const void *b) {
  const json_int_t x = ((const sample *)a)->family, y = ((const sample *)b)->family;
  return (x > y) - (x < y);
}

/* All repetitions, those of one benchmark together. */
static sample *read_samples(const json_t *benchmarks, size_t *count) {
  sample *samples = calloc(json_array_size(benchmarks) + 1, sizeof *samples);
  size_t i;
  json_t *entry;
  if (!samples) die("out of memory");
  *count = 0;
  json_array_foreach(benchmarks, i, entry) *count += read_sample(entry, &samples[*count]);
  qsort(samples, *count, sizeof *samples, compare_families);
  return samples;
}

static int compare_numbers(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct summary {
  double median, spread; /* (largest - smallest) / median */
} summary;

/* Of the number at `offset` in each sample; `scratch` has room for all of them. */
static summary summarize(const sample *samples, size_t count, size_t offset, double *scratch) {
  for (size_t i = 0; i < count; i++) memcpy(&scratch[i], (const char *)&samples[i] + offset, sizeof *scratch);
  qsort(scratch, count, sizeof *scratch, compare_numbers);
  const double middle = (scratch[(count - 1) / 2] + scratch[count / 2]) / 2;
  return (summary){middle, (scratch[count - 1] - scratch[0]) / middle};
}

static void print_benchmark(const sample *samples, size_t count, double *scratch, FILE *stream) {
  const summary ns = summarize(samples, count, offsetof(sample, ns), scratch);
  const summary rate = summarize(samples, count, offsetof(sample, bytes_per_second), scratch);
  const summary of_fill = summarize(samples, count, offsetof(sample, of_fill), scratch);
  fprintf(stream, "%-22s %-12s %11.4g %8.2f %7.1f%% %7.1f%%\n", samples->shape, samples->kernel, ns.median,
          rate.median / 1e9, 100 * of_fill.median, 100 * ns.spread);
}

void print_timings(const json_t *record, FILE *stream) {
  size_t count;
  sample *samples = read_samples(json_object_get(record, "benchmarks"), &count);
  double *scratch = calloc(count + 1, sizeof *scratch);
  if (!scratch) die("out of memory");
  fprintf(stream, "%-22s %-12s %11s %8s %8s %8s\n", "table", "kernel", "ns/element", "GB/s", "of fill", "spread");
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && samples[end].family == samples[i].family; end++) continue;
    print_benchmark(&samples[i], end - i, scratch, stream);
  }
  free(scratch);
  free(samples);
}
