/* SPDX-License-Identifier: MIT */
#include "records/samples.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/memory.h"
#include "records/statistics.h"

#include <stdbool.h>
#include <stdlib.h>

/* Copies part `index` of "hot/shape/kernel/…". Returns false if there is none or it does not fit. */
static bool name_part(const char *name, int index, char part[SAMPLE_NAME]) {
  for (int skipped = 0; skipped < index; skipped++) {
    name = strchr(name, '/');
    if (!name) return false;
    name++;
  }
  const size_t length = index == 2 ? kernel_name_length(name) : strcspn(name, "/");
  if (length == 0 || length >= SAMPLE_NAME) return false;
  memcpy(part, name, length);
  part[length] = '\0';
  return true;
}

/* Returns false unless this is a repetition of a benchmark of posenc. */
static bool read_sample(const record_benchmark *entry, sample *made) {
  const char *type = entry->run_type, *name = entry->name;
  if ((*type && strcmp(type, "iteration") != 0) || entry->error_occurred) return false;
  made->entry = entry;
  return name_part(name, 0, made->mode) && name_part(name, 1, made->shape) && name_part(name, 2, made->kernel);
}

/* Compares names. Null as kernel equals any kernel. */
static int compare_names(const sample *s, const char *mode, const char *shape, const char *kernel) {
  int order = strcmp(s->mode, mode);
  if (order == 0) order = strcmp(s->shape, shape);
  return order == 0 && kernel ? strcmp(s->kernel, kernel) : order;
}

/* Compares samples by name, then by their order in the record. */
static int compare_samples(const void *a, const void *b) {
  const sample *x = *(const sample *const *)a, *y = *(const sample *const *)b;
  const int order = compare_names(x, y->mode, y->shape, y->kernel);
  return order != 0 ? order : (x > y) - (x < y);
}

samples *samples_open(const record_timing *timing) {
  const size_t most = timing ? timing->benchmarks_count : 0;
  samples *s = memory_take(1, sizeof *s);
  s->all = memory_take(most, sizeof *s->all);
  s->by_name = memory_take(most, sizeof(*s->by_name));
  s->values = memory_take(most, sizeof *s->values);
  for (size_t i = 0; i < most; i++)
    if (read_sample(&timing->benchmarks[i], &s->all[s->count])) s->count++;
  for (size_t i = 0; i < s->count; i++) s->by_name[i] = &s->all[i];
  qsort(s->by_name, s->count, sizeof(*s->by_name), compare_samples);
  return s;
}

void samples_close(samples *s) {
  free(s->all);
  free(s->by_name);
  free(s->values);
  free(s);
}

static double measured(const record_benchmark *entry, const char *counter) {
  return strcmp(counter, "plan_ns") == 0 ? record_nanoseconds(entry) : field_number(entry->json, counter);
}

size_t samples_collect(samples *s, const char *mode, const char *shape, const char *kernel, const char *counter) {
  size_t first = 0, count = 0;
  for (size_t end = s->count; first < end;) {
    const size_t middle = first + (end - first) / 2;
    if (compare_names(s->by_name[middle], mode, shape, kernel) < 0)
      first = middle + 1;
    else
      end = middle;
  }
  for (size_t i = first; i < s->count && compare_names(s->by_name[i], mode, shape, kernel) == 0; i++) {
    const double value = measured(s->by_name[i]->entry, counter);
    if (isfinite(value)) s->values[count++] = value;
  }
  return count;
}

json_t *samples_spread(samples *s, const char *mode, const char *shape, const char *kernel, const char *counter) {
  const size_t count = samples_collect(s, mode, shape, kernel, counter);
  if (count == 0) return json_null();
  const double median = statistics_median(s->values, count); /* sorts the values */
  return json_pack("{s:f, s:f, s:f}", "median", median, "min", s->values[0], "max", s->values[count - 1]);
}

double *samples_copy(samples *s, const char *mode, const char *shape, const char *kernel, const char *counter,
                     size_t *count) {
  *count = samples_collect(s, mode, shape, kernel, counter);
  double *copy = memory_take(*count, sizeof *copy);
  memcpy(copy, s->values, *count * sizeof *copy);
  return copy;
}

json_t *samples_ratio_of(const double *a, size_t n, const double *b, size_t m) {
  static const double confidence = 0.9;
  const statistics_ratio ratio = statistics_ratio_of(a, n, b, m, confidence);
  return json_pack("{s:o, s:o, s:o}", "estimate", field_real(ratio.estimate), "low",
                   ratio.low > 0.0 ? field_real(ratio.low) : json_null(), "high", field_real(ratio.high));
}

json_t *samples_ratio(samples *s, const char *mode, const char *shape, const char *first, const char *second) {
  size_t n, m;
  double *a = samples_copy(s, mode, shape, first, "ns_per_element", &n),
         *b = samples_copy(s, mode, shape, second, "ns_per_element", &m);
  json_t *ratio = samples_ratio_of(a, n, b, m);
  free(a);
  free(b);
  return ratio;
}
