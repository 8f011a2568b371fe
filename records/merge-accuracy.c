/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/field.h"
#include "common/memory.h"
#include "records/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- ranges of a table, which several shards have ---- */

/* Puts the result of a range of rows, of which a place has several. Refuses and returns false on a contradiction. */
static bool put_range(const merger *m, const places *p, int64_t number, const merged_place *one,
                      const record_result *result) {
  merged_place *there = number < (int64_t)p->count ? &p->all[number] : NULL;
  if (!there || !there->from || !there->ranges) {
    if (!merge_put(m, p, number, one)) return false;
    there->found = NULL;
  } else if (strcmp(one->kernel, there->kernel) != 0 || !json_equal(one->shape, there->shape)) {
    return merge_refuse(m, "%.200s: %s %" PRId64 " is not of the kernel and shape that the run has there",
                        one->from->name, p->list, number);
  }
  there->ranges = memory_grow(there->ranges, there->range_count + 1, sizeof *there->ranges);
  there->ranges[there->range_count++] = result;
  return true;
}

static int by_begin(const void *one, const void *other) {
  const int64_t a = (*(const record_result *const *)one)->range.from,
                b = (*(const record_result *const *)other)->range.from;
  return (a > b) - (a < b);
}

/* Whether sorted ranges are all segments, each once. */
static bool are_all(const record_result *const *parts, size_t count) {
  const int64_t of = parts[0]->range.of;
  int64_t next = 0;
  for (size_t i = 0; i < count; i++) {
    const record_range *r = &parts[i]->range;
    if (r->from != next || r->of != of) return false;
    next = r->to;
    if (next <= r->from) return false;
  }
  return next == of;
}

/* Returns a part whose kernel refused what it did not refuse in another; null if there is none. A shard that lacks
   memory refuses. */
static const record_result *refused_alone(const record_result *const *parts, size_t count) {
  const record_result *refused = NULL;
  size_t refusals = 0;
  for (size_t i = 0; i < count; i++) {
    if (!*parts[i]->refusal) continue;
    refused = parts[i];
    refusals++;
  }
  return refusals < count ? refused : NULL;
}

static bool refuse_part(const merger *m, const record_result *part) {
  for (const input *one = m->inputs; one < m->inputs + m->count; one++)
    RECORD_EACH(result, one->accuracy, records)
      if (result == part)
        return merge_refuse(m, "%.200s: %.60s refused a range: %.100s; others computed theirs: do this shard again",
                            one->name, result->kernel, result->refusal);
  return false;
}

static bool join(const merger *m, const places *p, size_t number) {
  merged_place *there = &p->all[number];
  const size_t count = there->range_count;
  qsort(there->ranges, count, sizeof(*there->ranges), by_begin);
  const bool all = are_all(there->ranges, count);
  const record_result *refused = refused_alone(there->ranges, count);
  if (all && refused) return refuse_part(m, refused);
  there->found = there->joined = all ? m->join(there->ranges, count) : NULL;
  return there->found ||
         merge_refuse(m, "%.200s and others: %s %zu, of %.60s: its ranges are not %s", there->from->name, p->list,
                      number, there->kernel, all ? "of one exam" : "all rows, each once");
}

/* Makes one result of the ranges of each place. Refuses and returns false on a contradiction. */
static bool join_ranges(const merger *m, const places *p) {
  for (size_t n = 0; n < p->count; n++)
    if (p->all[n].ranges && !join(m, p, n)) return false;
  return true;
}

static void free_places(places *p) {
  for (size_t n = 0; n < p->count; n++) {
    json_decref(p->all[n].joined);
    free(p->all[n].ranges);
  }
  free(p->all);
}

/* ---- machines and builds ---- */

/* Whether the facts are those of the first file. A fact that both files lack does not differ. */
static bool agree_in(const merger *m, const input *other, const char *const *keys, size_t count, const char *reason) {
  for (size_t k = 0; k < count; k++) {
    const json_t *a = json_object_get(m->inputs[0].facts, keys[k]), *b = json_object_get(other->facts, keys[k]);
    if ((a || b) && !json_equal(a, b)) return merge_refuse_values(m, &m->inputs[0], other, keys[k], a, b, reason);
  }
  return true;
}

static bool have_same_setting(const merger *m, const input *other, const char *key) {
  const json_t *a = json_object_get(m->inputs[0].accuracy->json, key), *b = json_object_get(other->accuracy->json, key);
  return (!a && !b) || json_equal(a, b) || merge_refuse_values(m, &m->inputs[0], other, key, a, b, "");
}

/* Whether one machine could have computed all results of these machines. */
static bool are_exact_together(const merger *m) {
  static const char *const sources[] = {"posenc_version", "kernel_abi", "commit"};
  static const char *const bits[] = {RECORD_FACTS_OF_BITS};
  const record_accuracy *first = m->inputs[0].accuracy;
  const record_kernel *irreproducible = NULL;
  char reason[120] = "";
  RECORD_EACH(kernel, first, kernels)
    if (!irreproducible && !kernel->reproducible) irreproducible = kernel;
  if (irreproducible) snprintf(reason, sizeof reason, ", on which the bits of %.60s depend", irreproducible->name);
  for (const input *other = m->inputs + 1; other < m->inputs + m->count; other++) {
    if (!agree_in(m, other, sources, sizeof sources / sizeof *sources, "")) return false;
    if (!record_names_sources(m->inputs[0].facts) &&
        !merge_are_same_facts(m, other, ", and their sources were modified, or are unknown"))
      return false;
    if (irreproducible && !agree_in(m, other, bits, sizeof bits / sizeof *bits, reason)) return false;
    for (size_t k = 0; k < first->kernels_count; k++)
      if (k >= other->accuracy->kernels_count || !json_equal(first->kernels[k].json, other->accuracy->kernels[k].json))
        return merge_refuse(m, BOTH "%.60s promises something else, or runs on one of the machines alone",
                            m->inputs[0].name, other->name, first->kernels[k].name);
    if (!have_same_setting(m, other, "seed") || !have_same_setting(m, other, "budget")) return false;
  }
  return true;
}

/* Returns the environment of all shards, with load and date of the given one. */
static json_t *merged_environment(const merger *m, const input *of) {
  json_t *environment = json_copy(of->facts);
  const char *key;
  json_t *value;
  json_object_foreach(of->facts, key, value) {
    if (!merge_may_differ(key) && json_is_string(value))
      json_object_set_new(environment, key, merge_side_by_side(m, key));
  }
  return environment;
}

/* ---- accuracy ---- */

/* Makes the places of the profiles: one per kernel of which one is requested. */
static places expect_profiles(const merger *m) {
  const record_run *run = &m->inputs[0].accuracy->shard.run;
  places p = merge_make_places("profile", run->kernels_count);
  bool *wanted = memory_take(run->kernels_count, sizeof *wanted);
  RECORD_EACH(item, run, items)
    if (item->profile) wanted[item->kernel] = true;
  p.count = 0;
  for (size_t k = 0; k < run->kernels_count; k++)
    if (wanted[k]) p.all[p.count++].kernel = run->kernels[k];
  free(wanted);
  return p;
}

static bool refuse_counts(const merger *m, const input *one, const char *list, size_t count, size_t said) {
  return merge_refuse(m, "%.200s: %zu %s, but the shard says %zu", one->name, count, list, said);
}

static bool put_all(const merger *m, const places *results, const places *profiles, const input *from) {
  const record_accuracy *record = from->accuracy;
  const record_run_shard *shard = &record->shard;
  if (record->records_count != shard->items_count)
    return refuse_counts(m, from, results->list, record->records_count, shard->items_count);
  if (record->profile_count != shard->profiles_count)
    return refuse_counts(m, from, profiles->list, record->profile_count, shard->profiles_count);
  for (size_t i = 0; i < shard->items_count; i++) {
    const record_result *one = &record->records[i];
    const merged_place here = {.kernel = one->kernel, .shape = one->shape.json, .found = one->json, .from = from};
    if (!(one->range.there ? put_range(m, results, shard->items[i], &here, one)
                           : merge_put(m, results, shard->items[i], &here)))
      return false;
  }
  for (size_t i = 0; i < shard->profiles_count; i++) {
    const record_profile *one = &record->profile[i];
    const merged_place here = {.kernel = one->kernel, .found = one->json, .from = from};
    if (!merge_put(m, profiles, shard->profiles[i], &here)) return false;
  }
  return true;
}

static json_t *array_of(const places *p) {
  json_t *array = json_array();
  for (size_t n = 0; n < p->count; n++) json_array_append(array, p->all[n].found);
  return array;
}

/* Returns a field that exactly one shard must have if `wanted`, and none otherwise. Returns null if no shard has it,
   and sets *ok to false on a violation. */
static json_t *only_one(const merger *m, const char *key, bool wanted, bool *ok) {
  json_t *found = NULL;
  const input *holder = NULL;
  for (size_t i = 0; i < m->count && *ok; i++) {
    json_t *value = json_object_get(m->inputs[i].accuracy->json, key);
    if (!json_is_object(value)) continue;
    if (found) *ok = merge_refuse(m, BOTH "both have %s", holder->name, m->inputs[i].name, key);
    found = value;
    holder = &m->inputs[i];
  }
  if (*ok && wanted != (found != NULL))
    *ok = merge_refuse(m, "%.200s and others: %s %s", m->inputs[0].name,
                       wanted ? "no file has" : "the run was not asked for", key);
  return found;
}

/* The counts of a merged record, as a whole run has them. */
typedef struct totals {
  json_int_t passed, failed, skipped;
} totals;

static void count_result(const json_t *result, totals *t) {
  const json_t *check;
  size_t i;
  t->skipped += *field_string(result, "refusal") != '\0';
  json_array_foreach(json_object_get(result, "checks"), i, check) {
    const bool is_skipped = json_is_true(json_object_get(check, "skipped"));
    ++*(is_skipped ? &t->skipped : json_is_true(json_object_get(check, "ok")) ? &t->passed : &t->failed);
  }
}

static totals totals_of(const places *results, const places *profiles) {
  totals t = {0};
  for (size_t n = 0; n < results->count; n++) count_result(results->all[n].found, &t);
  for (size_t n = 0; n < profiles->count; n++) t.failed += json_object_get(profiles->all[n].found, "failure") != NULL;
  return t;
}

static json_t *make_accuracy(const merger *m, const places *results, const places *profiles) {
  const input *first = &m->inputs[0];
  const totals t = totals_of(results, profiles);
  bool ok = true;
  json_t *unique = only_one(m, "unique", profiles->count > 0, &ok);
  json_t *encodings = only_one(m, "encodings", first->accuracy->shard.run.exam.encodings, &ok);
  if (!ok) return NULL;
  const json_t *json = first->accuracy->json;
  return json_pack("{s:O, s:o, s:O, s:O*, s:O*, s:o, s:o, s:O?, s:I, s:I, s:I, s:O*}", "schema",
                   json_object_get(json, "schema"), "environment", merged_environment(m, first), "kernels",
                   json_object_get(json, "kernels"), "seed", json_object_get(json, "seed"), "budget",
                   json_object_get(json, "budget"), "records", array_of(results), "profile", array_of(profiles),
                   "unique", unique, "passed", t.passed, "failed", t.failed, "skipped", t.skipped, "encodings",
                   encodings);
}

json_t *merge_accuracy(const merger *m) {
  if (!are_exact_together(m)) return NULL;
  places results = merge_expect_items(m, "records"), profiles = expect_profiles(m);
  bool ok = true;
  for (size_t i = 0; i < m->count && ok; i++) ok = put_all(m, &results, &profiles, &m->inputs[i]);
  ok = ok && merge_are_all_found(m, &results) && merge_are_all_found(m, &profiles) && join_ranges(m, &results);
  json_t *made = ok ? make_accuracy(m, &results, &profiles) : NULL;
  free_places(&results);
  free_places(&profiles);
  return made;
}
