/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/environment.h"
#include "common/memory.h"
#include "records/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranges of a table, which several shards have ---- */

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
  const size_t count = there->result_count;
  qsort(there->results, count, sizeof(*there->results), by_begin);
  const bool all = are_all(there->results, count);
  const record_result *refused = refused_alone(there->results, count);
  if (all && refused) return refuse_part(m, refused);
  there->joined = all ? m->join(there->results, count) : NULL;
  return there->joined ||
         merge_refuse(m, "%.200s and others: %s %zu, of %.60s: its ranges are not %s", there->from->name, p->list,
                      number, there->kernel, all ? "of one exam" : "all rows, each once");
}

/* Makes one result of the ranges of each place. Refuses and returns false on a contradiction. */
static bool join_ranges(const merger *m, const places *p) {
  for (size_t n = 0; n < p->count; n++)
    if ((*p->all[n].results)->range.there && !join(m, p, n)) return false;
  return true;
}

/* ---- machines and builds ---- */

/* Whether the facts are those of the first file. A fact that both files lack does not differ. */
static bool agree_in(const merger *m, const input *other, environment_use use, const char *reason) {
  const char *key;
  for (size_t k = 0; (key = environment_key(use, k)); k++) {
    const record_fact *a = record_find_fact(m->inputs[0].facts, key), *b = record_find_fact(other->facts, key);
    if ((!a && !b) || record_same_fact(a, b)) continue;
    const record_unlike values = record_unlike_facts(key, a, b);
    return merge_refuse_values(m, &m->inputs[0], other, &values, reason);
  }
  return true;
}

/* Whether all samples, and all x, of two records were drawn alike. */
static bool are_drawn_alike(const merger *m, const input *other) {
  const record_draw one = RECORD_DRAW_OF(m->inputs[0].accuracy), another = RECORD_DRAW_OF(other->accuracy);
  record_unlike values;
  return !record_unlike_draws(&one, &another, true, true, &values) ||
         merge_refuse_values(m, &m->inputs[0], other, &values, "");
}

/* Whether one machine could have computed all results of these machines. */
static bool are_exact_together(const merger *m) {
  const record_accuracy *first = m->inputs[0].accuracy;
  const record_kernel *irreproducible = NULL;
  char reason[120] = "";
  RECORD_EACH(kernel, first, kernels)
    if (!irreproducible && !kernel->reproducible) irreproducible = kernel;
  if (irreproducible) snprintf(reason, sizeof reason, ", on which the bits of %.60s depend", irreproducible->name);
  for (const input *other = m->inputs + 1; other < m->inputs + m->count; other++) {
    if (!agree_in(m, other, FACT_SOURCES, "")) return false;
    if (!record_names_sources(m->inputs[0].facts) &&
        !merge_are_same_facts(m, other, ", and their sources were modified, or are unknown"))
      return false;
    if (irreproducible && !agree_in(m, other, FACT_BITS, reason)) return false;
    for (size_t k = 0; k < first->kernels_count; k++)
      if (k >= other->accuracy->kernels_count || !record_same_kernel(&first->kernels[k], &other->accuracy->kernels[k]))
        return merge_refuse(m, BOTH "%.60s promises something else, or runs on one of the machines alone",
                            m->inputs[0].name, other->name, first->kernels[k].name);
    if (!are_drawn_alike(m, other)) return false;
  }
  return true;
}

/* Returns the environment of all shards, with load and date of the given one. */
static record_facts merged_environment(const merger *m, const input *of) {
  record_fact *facts = record_allocate(m->in, of->facts->list_count, sizeof *facts);
  record_facts made = {true, facts, of->facts->list_count};
  for (size_t i = 0; i < made.list_count; i++) {
    facts[i] = of->facts->list[i];
    if (!merge_may_differ(facts[i].key) && facts[i].is_text) facts[i].value = merge_side_by_side(m, facts[i].key);
  }
  return made;
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
    const merged_part here = {.from = from, .kernel = one->kernel, .shape = &one->shape, .result = one};
    if (!merge_put(m, results, shard->items[i], &here)) return false;
  }
  for (size_t i = 0; i < shard->profiles_count; i++) {
    const record_profile *one = &record->profile[i];
    const merged_part here = {.from = from, .kernel = one->kernel, .profile = one};
    if (!merge_put(m, profiles, shard->profiles[i], &here)) return false;
  }
  return true;
}

/* Checks that exactly one shard has a field if it is wanted, and none otherwise. has: which shards have it. Refuses and
   returns false on a violation. */
static bool is_only_one(const merger *m, const char *key, bool wanted, const bool *has) {
  const input *holder = NULL;
  for (size_t i = 0; i < m->count; i++) {
    if (!has[i]) continue;
    if (holder) return merge_refuse(m, BOTH "both have %s", holder->name, m->inputs[i].name, key);
    holder = &m->inputs[i];
  }
  return wanted == (holder != NULL) || merge_refuse(m, "%.200s and others: %s %s", m->inputs[0].name,
                                                    wanted ? "no file has" : "the run was not asked for", key);
}

/* Sets the results and the profiles of a record to those of places. */
static void set_results(const merger *m, const places *from, record_accuracy *made) {
  record_result *results = record_allocate(m->in, from->count, sizeof *results);
  for (size_t n = 0; n < from->count; n++)
    results[n] = from->all[n].joined ? *from->all[n].joined : **from->all[n].results;
  made->records = results;
  made->records_count = from->count;
}

static void set_profiles(const merger *m, const places *from, record_accuracy *made) {
  record_profile *profiles = record_allocate(m->in, from->count, sizeof *profiles);
  for (size_t n = 0; n < from->count; n++) profiles[n] = *from->all[n].profile;
  made->profile = profiles;
  made->profile_count = from->count;
}

static const record_accuracy *make_accuracy(const merger *m, const places *results, const places *profiles) {
  const input *first = &m->inputs[0];
  record_accuracy made = {.there = true,
                          .schema = first->accuracy->schema,
                          .environment = merged_environment(m, first),
                          .kernels = first->accuracy->kernels,
                          .kernels_count = first->accuracy->kernels_count,
                          .has_unique = true};
  bool *has_unique = record_allocate(m->in, m->count, sizeof *has_unique),
       *has_encodings = record_allocate(m->in, m->count, sizeof *has_encodings);
  RECORD_COPY_DRAW(&made, first->accuracy);
  for (size_t i = 0; i < m->count; i++) {
    const record_accuracy *one = m->inputs[i].accuracy;
    has_unique[i] = one->unique.there;
    has_encodings[i] = one->encodings.there;
    if (has_unique[i]) made.unique = one->unique;
    if (has_encodings[i]) made.encodings = one->encodings;
  }
  if (!is_only_one(m, "unique", profiles->count > 0, has_unique) ||
      !is_only_one(m, "encodings", first->shard->run.exam.encodings, has_encodings))
    return NULL;
  set_results(m, results, &made);
  set_profiles(m, profiles, &made);
  record_total(&made);
  return record_keep_accuracy(&made);
}

const record_accuracy *merge_accuracy(const merger *m) {
  if (!are_exact_together(m)) return NULL;
  places results = merge_expect_items(m, "records"), profiles = expect_profiles(m);
  bool ok = true;
  for (size_t i = 0; i < m->count && ok; i++) ok = put_all(m, &results, &profiles, &m->inputs[i]);
  ok = ok && merge_are_all_found(m, &results) && merge_are_all_found(m, &profiles) && join_ranges(m, &results);
  const record_accuracy *made = ok ? make_accuracy(m, &results, &profiles) : NULL;
  merge_free_places(&results);
  merge_free_places(&profiles);
  return made;
}

void merge_results(const record_accuracy **record, const record_accuracy *more) {
  record_accuracy both = **record;
  record_result *results = memory_take(both.records_count + more->records_count, sizeof *results), *next = results;
  RECORD_EACH(result, *record, records) *next++ = *result;
  RECORD_EACH(result, more, records) *next++ = *result;
  both.records = results;
  both.records_count += more->records_count;
  record_total(&both);
  record_change_accuracy(record, &both);
  free(results);
  record_free(more);
}
