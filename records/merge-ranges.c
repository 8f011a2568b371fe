/* SPDX-License-Identifier: MIT */
/* Joins the results of ranges of a table, which several shards have, into one result. */
#include "records/merge-inputs.h"

#include "common/field.h"
#include "common/memory.h"

#include <inttypes.h>
#include <stdlib.h>

bool merge_put_range(const merger *m, const places *p, int64_t number, const place *one) {
  place *there = number < (int64_t)p->count ? &p->all[number] : NULL;
  if (!there || !there->from || !there->ranges) {
    if (!merge_put(m, p, number, one)) return false;
    there->found = NULL;
    there->ranges = json_array();
  } else if (strcmp(one->kernel, there->kernel) != 0 || !json_equal(one->shape, there->shape)) {
    return merge_refuse(m, "%.200s: %s %" PRId64 " is not of the kernel and shape that the run has there",
                        one->from->name, p->list, number);
  }
  json_array_append(there->ranges, one->found);
  return true;
}

static json_int_t of_range(const json_t *part, const char *key) {
  return field_integer(json_object_get(part, "range"), key);
}

static int by_begin(const void *one, const void *other) {
  const json_int_t a = of_range(*(json_t *const *)one, "from"), b = of_range(*(json_t *const *)other, "from");
  return (a > b) - (a < b);
}

/* Whether sorted ranges are all segments, each once. */
static bool are_all(json_t *const *parts, size_t count) {
  json_int_t next = 0;
  for (size_t i = 0; i < count; i++) {
    if (of_range(parts[i], "from") != next || of_range(parts[i], "of") != of_range(parts[0], "of")) return false;
    next = of_range(parts[i], "to");
    if (next <= of_range(parts[i], "from")) return false;
  }
  return next == of_range(parts[0], "of");
}

/* Returns a part whose kernel refused what it did not refuse in another; null if there is none. A shard that lacks
   memory refuses. */
static const json_t *refused_alone(json_t *const *parts, size_t count) {
  const json_t *refused = NULL;
  size_t refusals = 0;
  for (size_t i = 0; i < count; i++) {
    if (!*field_string(parts[i], "refusal")) continue;
    refused = parts[i];
    refusals++;
  }
  return refusals < count ? refused : NULL;
}

static bool refuse_part(const merger *m, const json_t *part) {
  for (const input *one = m->inputs; one < m->inputs + m->count; one++)
    RECORD_EACH(result, one->accuracy, records)
      if (result->json == part)
        return merge_refuse(m, "%.200s: %.60s refused a range: %.100s; others computed theirs: do this shard again",
                            one->name, result->kernel, result->refusal);
  return false;
}

static bool join(const merger *m, const places *p, size_t number) {
  place *there = &p->all[number];
  const size_t count = json_array_size(there->ranges);
  json_t **parts = memory_take(count, sizeof *parts);
  for (size_t i = 0; i < count; i++) parts[i] = json_array_get(there->ranges, i);
  qsort(parts, count, sizeof *parts, by_begin);
  const bool all = are_all(parts, count);
  const json_t *refused = refused_alone(parts, count);
  there->found = all && !refused ? m->join(parts, count) : NULL;
  free(parts);
  json_decref(there->ranges);
  there->ranges = there->found; /* to be released */
  if (all && refused) return refuse_part(m, refused);
  return there->found ||
         merge_refuse(m, "%.200s and others: %s %zu, of %.60s: its ranges are not %s", there->from->name, p->list,
                      number, there->kernel, all ? "of one exam" : "all rows, each once");
}

bool merge_join_ranges(const merger *m, const places *p) {
  for (size_t n = 0; n < p->count; n++)
    if (p->all[n].ranges && !join(m, p, n)) return false;
  return true;
}

void merge_free_places(places *p) {
  for (size_t n = 0; n < p->count; n++) json_decref(p->all[n].ranges);
  free(p->all);
}
