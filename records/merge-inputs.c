/* SPDX-License-Identifier: MIT */
#include "records/merge-inputs.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
  return (places){list, memory_take(count, sizeof(place)), count};
}

places merge_expect_items(const merger *m, const char *list) {
  const input *first = &m->inputs[0];
  const record_run *run = first->timing ? &first->timing->context.shard.run : &first->accuracy->shard.run;
  const places p = merge_make_places(list, run->items_count);
  for (size_t n = 0; n < p.count; n++) {
    const record_run_item *one = &run->items[n];
    p.all[n] = (place){.kernel = run->kernels[one->kernel], .shape = run->shapes[one->shape].json};
  }
  return p;
}

bool merge_put(const merger *m, const places *p, int64_t number, const place *one) {
  if (number >= (int64_t)p->count)
    return merge_refuse(m, "%.200s: the shard has %s %" PRId64 ", but the run has %zu", one->from->name, p->list,
                        number, p->count);
  place *there = &p->all[number];
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
