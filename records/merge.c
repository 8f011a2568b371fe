/* SPDX-License-Identifier: MIT */
#include "records/merge.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/memory.h"
#include "common/run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- values of several records --------------------------------------------------------------------------- */

bool merge_refuse(const merger *m, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(m->why, m->size, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- values that differ ---- */

/* Returns a text or a number as text, and "…" for lists and objects, which are long. */
static const char *shown(const json_t *value, char *text, size_t size) {
  if (json_is_string(value))
    snprintf(text, size, "%.80s", json_string_value(value));
  else if (json_is_number(value))
    snprintf(text, size, "%s", field_text(value).text);
  else
    snprintf(text, size, "%s",
             !value                 ? "none"
             : json_is_true(value)  ? "yes"
             : json_is_false(value) ? "no"
             : json_is_null(value)  ? "none"
                                    : "a list");
  return text;
}

/* Refuses two files because of a value: "A and B: libc: glibc 2.36 and glibc 2.41", with the reason. */
bool merge_refuse_values(const merger *m, const input *one, const input *other, const char *key, const json_t *a,
                         const json_t *b, const char *reason) {
  char text[96], another[96];
  if (json_is_array(a) && json_is_array(b))
    return merge_refuse(m, BOTH "other %s%s", one->name, other->name, key, reason);
  return merge_refuse(m, BOTH "%s: %s and %s%s", one->name, other->name, key, shown(a, text, sizeof text),
                      shown(b, another, sizeof another), reason);
}

/* ---- places of a run ---- */

places merge_make_places(const char *list, size_t count) {
  return (places){list, memory_take(count, sizeof(merged_place)), count};
}

places merge_expect_items(const merger *m, const char *list) {
  const input *first = &m->inputs[0];
  const record_run *run = first->timing ? &first->timing->context.shard.run : &first->accuracy->shard.run;
  const places p = merge_make_places(list, run->items_count);
  for (size_t n = 0; n < p.count; n++) {
    const record_run_item *one = &run->items[n];
    p.all[n] = (merged_place){.kernel = run->kernels[one->kernel], .shape = run->shapes[one->shape].json};
  }
  return p;
}

bool merge_put(const merger *m, const places *p, int64_t number, const merged_place *one) {
  if (number >= (int64_t)p->count)
    return merge_refuse(m, "%.200s: the shard has %s %" PRId64 ", but the run has %zu", one->from->name, p->list,
                        number, p->count);
  merged_place *there = &p->all[number];
  if (there->from)
    return merge_refuse(m, BOTH "both have %s %" PRId64 "%s%.60s", there->from->name, one->from->name, p->list, number,
                        *one->kernel ? ", of " : "", one->kernel);
  if (strcmp(one->kernel, there->kernel) != 0 || (there->shape && !json_equal(one->shape, there->shape)))
    return merge_refuse(m, "%.200s: %s %" PRId64 " is not of the kernel and shape that the run has there",
                        one->from->name, p->list, number);
  there->found = one->found;
  there->from = one->from;
  return true;
}

bool merge_are_all_found(const merger *m, const places *p) {
  for (size_t n = 0; n < p->count; n++)
    if (!p->all[n].from)
      return merge_refuse(m, "%.200s and others: no file has %s %zu%s%.60s", m->inputs[0].name, p->list, n,
                          *p->all[n].kernel ? ", of " : "", p->all[n].kernel);
  return true;
}

/* ---- machines and builds ---- */

bool merge_may_differ(const char *key) {
  static const char *const keys[] = {"date",   "load",   "load_after",  "load_avg",   "choices",
                                     "checks", "others", "mhz_per_cpu", "executable", "shard"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(keys[i], key) == 0) return true;
  return kernel_of_failure(key);
}

json_t *merge_side_by_side(const merger *m, const char *key) {
  char *text = NULL;
  size_t size;
  FILE *stream = allocated(open_memstream(&text, &size));
  const char *separator = "";
  for (size_t i = 0; i < m->count; i++) {
    const json_t *value = json_object_get(m->inputs[i].facts, key);
    bool told = !json_is_string(value);
    for (size_t k = 0; k < i && !told; k++) told = json_equal(json_object_get(m->inputs[k].facts, key), value);
    if (told) continue;
    fprintf(stream, "%s%s", separator, json_string_value(value));
    separator = " / ";
  }
  if (fclose(stream) != 0) memory_end();
  json_t *joined = json_string(text);
  free(text);
  return joined;
}

/* Whether the facts that both files have agree, and the builds of shards. Only one file may have a fact: a shard
   without timings has no facts from Google Benchmark. */
static bool share_facts(const merger *m, const input *one, const input *other, const char *reason) {
  const char *key;
  json_t *value;
  json_object_foreach(one->facts, key, value) {
    const json_t *there = json_object_get(other->facts, key);
    if (there && !merge_may_differ(key) && !json_equal(value, there))
      return merge_refuse_values(m, one, other, key, value, there, reason);
  }
  return !one->build || !other->build || json_equal(one->build, other->build) ||
         merge_refuse_values(m, one, other, "build", one->build, other->build, reason);
}

static bool has_facts_of(const input *one, const input *other) {
  const char *key;
  json_t *value;
  json_object_foreach(other->facts, key, value) {
    if (!merge_may_differ(key) && !json_object_get(one->facts, key)) return false;
  }
  return true;
}

/* Whether the facts agree with those of all files before. Those files agree with each other, so one that has all facts
   is enough. */
bool merge_are_same_facts(const merger *m, const input *other, const char *reason) {
  for (const input *one = m->inputs; one < other; one++) {
    if (!share_facts(m, one, other, reason)) return false;
    if (has_facts_of(one, other)) return true;
  }
  return true;
}

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
