/* SPDX-License-Identifier: MIT */
#include "records/merge.h"

#include "common/contract.h"
#include "common/environment.h"
#include "common/memory.h"
#include "common/run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values of several records --------------------------------------------------------------------------- */

bool merge_refuse(const merger *m, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(m->why, m->size, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- values that differ ---- */

bool merge_refuse_values(const merger *m, const input *one, const input *other, const record_unlike *values,
                         const char *reason) {
  if (values->are_lists) return merge_refuse(m, BOTH "other %s%s", one->name, other->name, values->key, reason);
  return merge_refuse(m, BOTH "%s: %s and %s%s", one->name, other->name, values->key, values->a, values->b, reason);
}

/* Refuses two files because of a fact. */
static bool refuse_facts(const merger *m, const input *one, const input *other, const record_fact *a,
                         const record_fact *b, const char *reason) {
  const record_unlike values = record_unlike_facts(a->key, a, b);
  return merge_refuse_values(m, one, other, &values, reason);
}

/* ---- places of a run ---- */

places merge_make_places(const char *list, size_t count) {
  return (places){list, memory_take(count, sizeof(merged_place)), count};
}

places merge_expect_items(const merger *m, const char *list) {
  const input *first = &m->inputs[0];
  const record_run *run = &first->shard->run;
  const places p = merge_make_places(list, run->items_count);
  for (size_t n = 0; n < p.count; n++) {
    const record_run_item *one = &run->items[n];
    p.all[n] = (merged_place){.kernel = run->kernels[one->kernel], .shape = &run->shapes[one->shape]};
  }
  return p;
}

/* Whether a place has results of ranges, so that there is room for another one. */
static bool shares(const merged_place *there, const merged_part *one) {
  return there->result_count && one->result && (*there->results)->range.there && one->result->range.there;
}

bool merge_put(const merger *m, const places *p, int64_t number, const merged_part *one) {
  if (number >= (int64_t)p->count)
    return merge_refuse(m, "%.200s: the shard has %s %" PRId64 ", but the run has %zu", one->from->name, p->list,
                        number, p->count);
  merged_place *there = &p->all[number];
  if (there->from && !shares(there, one))
    return merge_refuse(m, BOTH "both have %s %" PRId64 ", of %.60s", there->from->name, one->from->name, p->list,
                        number, there->kernel);
  if ((one->kernel && strcmp(one->kernel, there->kernel) != 0) ||
      (one->shape && !record_same_shape(one->shape, there->shape)))
    return merge_refuse(m, "%.200s: %s %" PRId64 " is not of the kernel and shape that the run has there",
                        one->from->name, p->list, number);
  if (!there->from) there->from = one->from;
  if (one->profile) there->profile = one->profile;
  if (!one->result) return true;
  there->results = memory_grow(there->results, there->result_count + 1, sizeof *there->results);
  there->results[there->result_count++] = one->result;
  return true;
}

bool merge_are_all_found(const merger *m, const places *p) {
  for (size_t n = 0; n < p->count; n++)
    if (!p->all[n].from)
      return merge_refuse(m, "%.200s and others: no file has %s %zu, of %.60s", m->inputs[0].name, p->list, n,
                          p->all[n].kernel);
  return true;
}

void merge_free_places(places *p) {
  for (size_t n = 0; n < p->count; n++) {
    record_free(p->all[n].joined);
    free(p->all[n].results);
  }
  free(p->all);
}

/* ---- machines and builds ---- */

bool merge_may_differ(const char *key) {
  const char *passing;
  for (size_t i = 0; (passing = environment_key(FACT_PASSING, i)); i++)
    if (strcmp(passing, key) == 0) return true;
  return kernel_of_failure(key);
}

/* Whether a file before this one has the same value. */
static bool is_told(const merger *m, size_t number, const record_fact *fact) {
  for (size_t k = 0; k < number; k++)
    if (record_same_fact(record_find_fact(m->inputs[k].facts, fact->key), fact)) return true;
  return false;
}

const char *merge_side_by_side(const merger *m, const char *key) {
  char *text = NULL;
  size_t size;
  FILE *stream = allocated(open_memstream(&text, &size));
  const char *separator = "";
  for (size_t i = 0; i < m->count; i++) {
    const record_fact *fact = record_find_fact(m->inputs[i].facts, key);
    if (!fact || !fact->is_text || is_told(m, i, fact)) continue;
    fprintf(stream, "%s%s", separator, fact->value);
    separator = " / ";
  }
  if (fclose(stream) != 0) memory_end();
  const char *joined = record_format(m->in, "%s", text);
  free(text);
  return joined;
}

/* Whether the facts that both files have agree, and the builds of shards. Only one file may have a fact: a shard
   without timings has no facts from Google Benchmark. */
static bool share_facts(const merger *m, const input *one, const input *other, const char *reason) {
  RECORD_EACH(fact, one->facts, list) {
    const record_fact *there = record_find_fact(other->facts, fact->key);
    if (there && !merge_may_differ(fact->key) && !record_same_fact(fact, there))
      return refuse_facts(m, one, other, fact, there, reason);
  }
  const record_fact a = {"build", one->shard->build, true}, b = {"build", other->shard->build, true};
  return !*a.value || !*b.value || record_same_fact(&a, &b) || refuse_facts(m, one, other, &a, &b, reason);
}

static bool has_facts_of(const input *one, const input *other) {
  RECORD_EACH(fact, other->facts, list)
    if (!merge_may_differ(fact->key) && !record_find_fact(one->facts, fact->key)) return false;
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

/* Takes the JSON over. */
static void read_input(input *one, json_t *json) {
  if (record_is_of(json, "posenc-bench-"))
    one->timing = record_read_timing(json, &one->fault);
  else
    one->accuracy = record_read_accuracy(json, &one->fault);
}

static bool accept_input(const merger *m, input *one) {
  const char *key;
  if (!one->timing && !one->accuracy) return merge_refuse(m, "%.200s: no record: %s", one->name, one->fault.text);
  one->facts = one->timing ? &one->timing->context.facts : &one->accuracy->environment;
  one->shard = one->timing ? &one->timing->context.shard : &one->accuracy->shard;
  if (!are_items_known(&one->shard->run))
    return merge_refuse(m, "%.200s: no record: an item is of no kernel or shape", one->name);
  /* A missing fact does not prove equality. */
  for (size_t k = 0; (key = environment_key(FACT_SOURCES, k)); k++)
    if (!*record_fact_text(one->facts, key))
      return merge_refuse(m, "%.200s: no record: it does not tell %s", one->name, key);
  return !one->timing || *record_fact_text(one->facts, "cpu") ||
         merge_refuse(m, "%.200s: no record: it does not tell cpu", one->name);
}

static bool accept_inputs(const merger *m) {
  const input *first = &m->inputs[0];
  for (input *one = m->inputs; one < m->inputs + m->count; one++) {
    if (!accept_input(m, one)) return false;
    if (!one->timing != !first->timing)
      return merge_refuse(m, BOTH "one tells accuracy, the other speed", first->name, one->name);
    if (one->shard->there != first->shard->there)
      return merge_refuse(m, BOTH "one is a shard, the other a whole run", first->name, one->name);
    if (one->accuracy && !one->shard->there) return merge_refuse(m, "%.200s: not a shard, but a whole run", one->name);
  }
  return true;
}

/* ---- shards of one run ---- */

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
  const int64_t of = first->shard->of;
  const char *command = first->shard->command;
  fprintf(to, "%.200s and others: ", first->name);
  const int64_t missing = tell_shards(to, times, of, 0, "", "missing");
  const int64_t twice = tell_shards(to, times, of, TWICE, missing ? "; " : "", "doubled");
  const char *separator = " (";
  for (const input *one = first; twice && one < first + m->count; one++) {
    if (one->shard->number != twice) continue;
    fprintf(to, "%s%.200s", separator, one->name);
    separator = ", ";
  }
  if (twice) fprintf(to, ")");
  if (missing && *command && ftello(to) + (off_t)strlen(command) < MESSAGE_MOST) tell_command(to, command, missing, of);
}

/* Whether each shard is there exactly once. */
static bool is_each_once(const merger *m) {
  const int64_t of = m->inputs[0].shard->of;
  int *times = memory_take((size_t)of + 1, sizeof *times);
  char *text = NULL;
  size_t size;
  FILE *stream = allocated(open_memstream(&text, &size));
  bool all = true;
  for (size_t i = 0; i < m->count; i++) {
    const int64_t number = m->inputs[i].shard->number;
    times[number] += times[number] < TWICE;
  }
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
    const record_run_shard *part = one->shard;
    record_unlike values;
    if (part->of != first->shard->of)
      return merge_refuse(m, BOTH "of: %" PRId64 " and %" PRId64 " shards", first->name, one->name, first->shard->of,
                          part->of);
    const bool differ = record_unlike_runs(&first->shard->run, &part->run, &values);
    if (differ && strcmp(values.key, "items") == 0)
      return merge_refuse(m, BOTH "other modes or profiles", first->name, one->name);
    if (differ) return merge_refuse_values(m, first, one, &values, "");
    if (part->number < 1 || part->number > part->of || part->of > SHARDS_MOST)
      return merge_refuse(m, "%.200s: no shard %" PRId64 " of %" PRId64, one->name, part->number, part->of);
  }
  return is_each_once(m);
}

static int by_number(const void *one, const void *other) {
  const int64_t a = ((const input *)one)->shard->number, b = ((const input *)other)->shard->number;
  return (a > b) - (a < b);
}

/* The order of the command line does not matter: the first input is shard 1. */
static bool sort_shards(const merger *m) {
  if (!are_one_run(m)) return false;
  qsort(m->inputs, m->count, sizeof *m->inputs, by_number);
  return true;
}

bool merge_records(merged_record *made, json_t *const *records, char *const *names, size_t count, merge_join *join,
                   char *why, size_t size) {
  record_memory memory = {NULL};
  const merger m = {memory_take(count, sizeof *m.inputs), count, join, why, size, &memory};
  for (size_t i = 0; i < count; i++) {
    m.inputs[i].name = names[i];
    read_input(&m.inputs[i], records[i]);
  }
  const bool fit = accept_inputs(&m) && (!m.inputs[0].shard->there || sort_shards(&m));
  *made = (merged_record){.accuracy = fit && m.inputs[0].accuracy ? merge_accuracy(&m) : NULL,
                          .timing = fit && m.inputs[0].timing ? merge_timings(&m) : NULL};
  for (size_t i = 0; i < count; i++) {
    record_free(m.inputs[i].accuracy);
    record_free(m.inputs[i].timing);
  }
  free(m.inputs);
  record_release(&memory);
  return made->accuracy || made->timing;
}
