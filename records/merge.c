/* SPDX-License-Identifier: MIT */
#include "records/merge.h"

#include "common/field.h"
#include "common/memory.h"
#include "common/run.h"
#include "records/merge-inputs.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- inputs ---- */

/* Whether each item is of a kernel and a shape of its run. */
static bool are_items_known(const record_run *run) {
  RECORD_EACH(item, run, items)
    if (item->kernel >= (int64_t)run->kernels_count || item->shape >= (int64_t)run->shapes_count) return false;
  return true;
}

static bool read_input(const merger *m, input *one, const json_t *json) {
  static const char *const keys[] = {"posenc_version", "commit", "kernel_abi", "cpu"};
  const bool is_timing = json_is_object(json_object_get(json, "context"));
  record_fault fault;
  if (is_timing && (one->timing = record_read_timing(json, &fault))) {
    one->facts = one->timing->context.json;
  } else if (!is_timing && (one->accuracy = record_read_accuracy(json, &fault))) {
    one->facts = one->accuracy->environment;
  } else {
    return merge_refuse(m, "%.200s: no record: %s", one->name, fault.text);
  }
  const record_run_shard *part = is_timing ? &one->timing->context.shard : &one->accuracy->shard;
  one->run = part->run.json;
  one->build = json_object_get(part->json, "build");
  one->number = part->number;
  one->of = part->of;
  if (!are_items_known(&part->run))
    return merge_refuse(m, "%.200s: no record: an item is of no kernel or shape", one->name);
  /* A missing fact does not prove equality. */
  for (size_t k = 0; k < (is_timing ? 4 : 3); k++)
    if (!*field_string(one->facts, keys[k]))
      return merge_refuse(m, "%.200s: no record: it does not tell %s", one->name, keys[k]);
  return true;
}

static bool read_inputs(const merger *m, json_t *const *records, char *const *names) {
  const input *first = &m->inputs[0];
  for (size_t i = 0; i < m->count; i++) {
    input *one = &m->inputs[i];
    one->name = names[i];
    if (!read_input(m, one, records[i])) return false;
    if (!one->timing != !first->timing)
      return merge_refuse(m, BOTH "one tells accuracy, the other speed", first->name, one->name);
    if (!one->run != !first->run)
      return merge_refuse(m, BOTH "one is a shard, the other a whole run", first->name, one->name);
    if (one->accuracy && !one->run) return merge_refuse(m, "%.200s: not a shard, but a whole run", one->name);
  }
  return true;
}

/* ---- shards of one run ---- */

/* A field in which two runs differ, and its values; null if a run lacks it. */
typedef struct unlike {
  const char *key; /* null: all are the same */
  const json_t *a, *b;
} unlike;

/* Returns the first difference, in an inner object rather than of it. */
static unlike first_unlike(const json_t *a, const json_t *b) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)a, key, value) {
    const json_t *other = json_object_get(b, key);
    if (json_is_object(value) && json_is_object(other)) {
      const unlike inner = first_unlike(value, other);
      if (inner.key) return inner;
    } else if (!json_equal(value, other)) {
      return (unlike){key, value, other};
    }
  }
  json_object_foreach((json_t *)b, key, value) {
    if (!json_object_get(a, key)) return (unlike){key, NULL, value};
  }
  return (unlike){0};
}

/* The count of a shard that several files have. */
enum { TWICE = 2 };

/* The most ranges of numbers in a message; and its most bytes before the last words, so that a command is never cut. */
enum { RANGES_MOST = 16, MESSAGE_MOST = 2400 };

/* Prints "shards 2, 5-8 of 64 are missing" for the shards that `wanted` files have. Returns the first of them, or 0 if
   there is none. */
static int64_t tell_shards(FILE *to, const int *times, int64_t of, int wanted, const char *before, const char *what) {
  int64_t first = 0, count = 0, ranges = 0;
  for (int64_t n = 1; n <= of; n++) count += times[n] == wanted;
  if (!count) return 0;
  fprintf(to, "%s%s", before, count == 1 ? "shard" : "shards");
  for (int64_t n = 1, end; n <= of; n = end + 1) {
    for (end = n; end < of && times[n] == wanted && times[end + 1] == wanted;) end++;
    if (times[n] != wanted || ranges++ > RANGES_MOST) continue;
    if (ranges > RANGES_MOST) {
      fprintf(to, ", ...");
      continue;
    }
    fprintf(to, "%s %" PRId64, first ? "," : "", n);
    if (end > n) fprintf(to, "-%" PRId64, end);
    if (!first) first = n;
  }
  fprintf(to, " of %" PRId64 " %s %s", of, count == 1 ? "is" : "are", what);
  return first;
}

/* Prints the command of a shard. Its options follow "posenc verify", as the last words may be Google Benchmark's. */
static void tell_command(FILE *to, const char *command, int64_t number, int64_t of) {
  const char *options = strchr(command, ' ');
  options = options ? strchr(options + 1, ' ') : NULL;
  const int words = (int)(options ? (size_t)(options - command) : strlen(command));
  fprintf(to, "; to do shard %" PRId64 ": %.*s --shard %" PRId64 "/%" PRId64 " -o FILE%s", number, words, command,
          number, of, command + words);
}

/* Prints which shards are missing and which are doubled, the files of the first doubled shard, and the command of the
   first missing one. */
static void tell_all(const merger *m, FILE *to, const int *times) {
  const input *first = &m->inputs[0];
  const int64_t of = first->of;
  const json_t *holder = first->timing ? first->facts : first->accuracy->json;
  const char *command = field_string(json_object_get(holder, "shard"), "command");
  fprintf(to, "%.200s and others: ", first->name);
  const int64_t missing = tell_shards(to, times, of, 0, "", "missing");
  const int64_t twice = tell_shards(to, times, of, TWICE, missing ? "; " : "", "doubled");
  const char *separator = " (";
  for (const input *one = first; twice && one < first + m->count; one++) {
    if (one->number != twice) continue;
    fprintf(to, "%s%.200s", separator, one->name);
    separator = ", ";
  }
  if (twice) fprintf(to, ")");
  if (missing && *command && ftello(to) + (off_t)strlen(command) < MESSAGE_MOST) tell_command(to, command, missing, of);
}

/* Whether each shard is there exactly once. */
static bool is_each_once(const merger *m) {
  const int64_t of = m->inputs[0].of;
  int *times = memory_take((size_t)of + 1, sizeof *times);
  char *text = NULL;
  size_t size;
  FILE *stream = allocated(open_memstream(&text, &size));
  bool all = true;
  for (size_t i = 0; i < m->count; i++) times[m->inputs[i].number] += times[m->inputs[i].number] < TWICE;
  for (int64_t n = 1; n <= of; n++) all = all && times[n] == 1;
  if (!all) tell_all(m, stream, times);
  if (fclose(stream) != 0) memory_end();
  if (!all) merge_refuse(m, "%s", text);
  free(times);
  free(text);
  return all;
}

/* Whether all files are shards of the same run, and each shard is there once. */
static bool are_one_run(const merger *m) {
  const input *first = &m->inputs[0];
  for (const input *one = first; one < first + m->count; one++) {
    if (one->of != first->of)
      return merge_refuse(m, BOTH "of: %" PRId64 " and %" PRId64 " shards", first->name, one->name, first->of, one->of);
    const unlike d = first_unlike(first->run, one->run);
    if (d.key && strcmp(d.key, "items") == 0)
      return merge_refuse(m, BOTH "other modes or profiles", first->name, one->name);
    if (d.key) return merge_refuse_values(m, first, one, d.key, d.a, d.b, "");
    if (one->number < 1 || one->number > one->of || one->of > SHARDS_MOST)
      return merge_refuse(m, "%.200s: no shard %" PRId64 " of %" PRId64, one->name, one->number, one->of);
  }
  return is_each_once(m);
}

static int by_number(const void *one, const void *other) {
  const int64_t a = ((const input *)one)->number, b = ((const input *)other)->number;
  return (a > b) - (a < b);
}

/* The order of the command line does not matter: the first input is shard 1. */
static bool sort_shards(const merger *m) {
  if (!are_one_run(m)) return false;
  qsort(m->inputs, m->count, sizeof *m->inputs, by_number);
  return true;
}

static json_t *merge_inputs(const merger *m) {
  if (m->inputs[0].run && !sort_shards(m)) return NULL;
  return m->inputs[0].timing ? merge_timings(m) : merge_accuracy(m);
}

json_t *merge_records(json_t *const *records, char *const *names, size_t count,
                      json_t *(*join)(const record_result *const *parts, size_t count), char *why, size_t size) {
  const merger m = {memory_take(count, sizeof *m.inputs), count, join, why, size};
  json_t *merged = read_inputs(&m, records, names) ? merge_inputs(&m) : NULL;
  for (size_t i = 0; i < count; i++) {
    record_free(m.inputs[i].accuracy);
    record_free(m.inputs[i].timing);
  }
  free(m.inputs);
  return merged;
}
