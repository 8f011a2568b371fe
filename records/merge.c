/* SPDX-License-Identifier: MIT */
#include "records/merge.h"

#include "common/field.h"
#include "records/merge-inputs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

bool merge_refuse(const merger *m, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(m->why, m->size, format, arguments);
  va_end(arguments);
  return false;
}

bool merge_refuse_memory(const merger *m) {
  return merge_refuse(m, "out of memory");
}

/* ---- inputs ---- */

static bool read_input(const merger *m, input *one, const json_t *json) {
  static const char *const keys[] = {"posenc_version", "commit", "kernel_abi", "cpu"};
  const bool is_timing = json_is_object(json_object_get(json, "context"));
  record_fault fault;
  if (is_timing && (one->timing = record_read_timing(json, &fault))) {
    const record_context *context = &one->timing->context;
    one->facts = context->json;
    one->run = context->shard.run.json;
    one->number = context->shard.number;
    one->of = context->shard.of;
  } else if (!is_timing && (one->accuracy = record_read_accuracy(json, &fault))) {
    one->facts = one->accuracy->environment;
    one->run = one->accuracy->shard.run.json;
    one->number = one->accuracy->shard.number;
    one->of = one->accuracy->shard.of;
  } else {
    return merge_refuse(m, "%.200s: no record: %s", one->name, fault.text);
  }
  /* A missing fact is no evidence that it is the same. */
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

/* The field that differs; null if all are the same. */
static const char *difference_of(const json_t *a, const json_t *b) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)a, key, value) {
    if (!json_equal(value, json_object_get(b, key))) return key;
  }
  json_object_foreach((json_t *)b, key, value) {
    if (!json_object_get(a, key)) return key;
  }
  return NULL;
}

/* A text or a number as it is, anything else as "…": lists are long. */
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

/* "A and B: libc: glibc 2.36 and glibc 2.41", and what is wrong with that. */
static bool refuse_values(const merger *m, const input *one, const input *other, const char *key, const json_t *a,
                          const json_t *b, const char *reason) {
  char text[96], another[96];
  if (json_is_array(a) && json_is_array(b))
    return merge_refuse(m, BOTH "other %s%s", one->name, other->name, key, reason);
  return merge_refuse(m, BOTH "%s: %s and %s%s", one->name, other->name, key, shown(a, text, sizeof text),
                      shown(b, another, sizeof another), reason);
}

/* ---- shards of one run ---- */

static const input *find_shard(const merger *m, int64_t number) {
  for (size_t i = 0; i < m->count; i++)
    if (m->inputs[i].number == number) return &m->inputs[i];
  return NULL;
}

/* All of the same run, each of its shards once. */
static bool are_one_run(const merger *m) {
  const input *first = &m->inputs[0];
  for (const input *one = first; one < first + m->count; one++) {
    if (one->of != first->of)
      return merge_refuse(m, BOTH "of: %" PRId64 " and %" PRId64 " shards", first->name, one->name, first->of, one->of);
    const char *key = difference_of(first->run, one->run);
    if (key && strcmp(key, "parts") == 0)
      return merge_refuse(m, BOTH "other kernels, shapes, cases or profiles", first->name, one->name);
    if (key)
      return refuse_values(m, first, one, key, json_object_get(first->run, key), json_object_get(one->run, key), "");
    if (one->number < 1 || one->number > one->of)
      return merge_refuse(m, "%.200s: no shard %" PRId64 " of %" PRId64, one->name, one->number, one->of);
    const input *same = find_shard(m, one->number);
    if (same != one)
      return merge_refuse(m, BOTH "both are shard %" PRId64 " of %" PRId64, same->name, one->name, one->number,
                          one->of);
  }
  if ((int64_t)m->count == first->of) return true;
  int64_t missing = 1;
  while (find_shard(m, missing)) missing++;
  return merge_refuse(m, "%.200s and others: shard %" PRId64 " of %" PRId64 " is missing", first->name, missing,
                      first->of);
}

bool merge_make_places(const merger *m, places *p, const char *list, size_t count) {
  *p = (places){list, calloc(count + 1, sizeof *p->all), count};
  return p->all || merge_refuse_memory(m);
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

/* What differs between two moments of one machine; and of Google Benchmark's own facts all that ours tell better. */
static bool is_momentary(const char *key) {
  static const char *const keys[] = {"date", "load", "load_after", "load_avg", "mhz_per_cpu", "executable", "shard"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(keys[i], key) == 0) return true;
  return false;
}

/* A fact that only one of two has is no contradiction: a shard that had nothing to time has none of Google
   Benchmark's. */
static bool share_facts(const merger *m, const input *one, const input *other, const char *reason) {
  const char *key;
  json_t *value;
  json_object_foreach(one->facts, key, value) {
    const json_t *there = json_object_get(other->facts, key);
    if (there && !is_momentary(key) && !json_equal(value, there))
      return refuse_values(m, one, other, key, value, there, reason);
  }
  return true;
}

bool merge_are_same_facts(const merger *m, const input *other, const char *reason) {
  for (const input *one = m->inputs; one < other; one++)
    if (!share_facts(m, one, other, reason)) return false;
  return true;
}

/* As in the first file. A fact that neither has is none that they differ in. */
static bool agree_in(const merger *m, const input *other, const char *const *keys, size_t count, const char *reason) {
  for (size_t k = 0; k < count; k++) {
    const json_t *a = json_object_get(m->inputs[0].facts, keys[k]), *b = json_object_get(other->facts, keys[k]);
    if ((a || b) && !json_equal(a, b)) return refuse_values(m, &m->inputs[0], other, keys[k], a, b, reason);
  }
  return true;
}

static bool have_same_setting(const merger *m, const input *other, const char *key) {
  const json_t *a = json_object_get(m->inputs[0].accuracy->json, key), *b = json_object_get(other->accuracy->json, key);
  return (!a && !b) || json_equal(a, b) || refuse_values(m, &m->inputs[0], other, key, a, b, "");
}

/* Would one machine have found what these have, if it had done all of it? */
static bool are_exact_together(const merger *m) {
  static const char *const sources[] = {"posenc_version", "kernel_abi", "commit"};
  static const char *const bits[] = {"compiler", "cflags", "libc", "sleef", "isa"};
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

/* "A / B" of a text in which records differ, each once. Null when memory runs out. */
static json_t *side_by_side(const merger *m, const char *key) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return NULL;
  for (size_t i = 0; i < m->count; i++) {
    const char *value = field_string(m->inputs[i].facts, key);
    bool told = false;
    for (size_t k = 0; k < i && !told; k++) told = strcmp(field_string(m->inputs[k].facts, key), value) == 0;
    if (!told) fprintf(stream, "%s%s", i ? " / " : "", value);
  }
  json_t *joined = fclose(stream) == 0 ? json_string(text) : NULL;
  free(text);
  return joined;
}

/* Load and date are those of this shard, all else is of all. */
static json_t *merged_environment(const merger *m, const input *of) {
  json_t *environment = json_copy(of->facts);
  const char *key;
  json_t *value;
  bool ok = environment != NULL;
  json_object_foreach(of->facts, key, value) {
    if (!is_momentary(key) && json_is_string(value))
      ok = ok && json_object_set_new(environment, key, side_by_side(m, key)) == 0;
  }
  if (ok) return environment;
  json_decref(environment);
  return NULL;
}

/* ---- accuracy ---- */

/* The run has, part by part, all kernels on the first shape, then on the next. */
static bool expect_results(const merger *m, places *p) {
  const record_verify_run *run = &m->inputs[0].accuracy->shard.run;
  size_t n = 0;
  RECORD_EACH(part, run, parts) n += part->kernels_count * part->shapes_count;
  if (!merge_make_places(m, p, "records", n)) return false;
  n = 0;
  RECORD_EACH(part, run, parts)
    RECORD_EACH(shape, part, shapes)
      RECORD_EACH(kernel, part, kernels) p->all[n++] = (place){.kernel = *kernel, .shape = shape->json};
  return true;
}

/* Those of the parts that ask for them. */
static bool expect_profiles(const merger *m, places *p) {
  const record_verify_run *run = &m->inputs[0].accuracy->shard.run;
  size_t n = 0;
  RECORD_EACH(part, run, parts) n += part->profile ? part->kernels_count : 0;
  if (!merge_make_places(m, p, "profile", n)) return false;
  n = 0;
  RECORD_EACH(part, run, parts)
    for (size_t k = 0; part->profile && k < part->kernels_count; k++) p->all[n++] = (place){.kernel = part->kernels[k]};
  return true;
}

static bool refuse_counts(const merger *m, const input *one, const char *list, size_t count, size_t said) {
  return merge_refuse(m, "%.200s: %zu %s, but the shard says %zu", one->name, count, list, said);
}

static bool put_all(const merger *m, const places *results, const places *profiles, const input *from) {
  const record_accuracy *record = from->accuracy;
  const record_verify_shard *shard = &record->shard;
  if (record->records_count != shard->exams_count)
    return refuse_counts(m, from, results->list, record->records_count, shard->exams_count);
  if (record->profile_count != shard->profiles_count)
    return refuse_counts(m, from, profiles->list, record->profile_count, shard->profiles_count);
  for (size_t i = 0; i < shard->exams_count; i++) {
    const record_result *one = &record->records[i];
    if (!merge_put(m, results, shard->exams[i], &(place){one->kernel, one->shape.json, one->json, from})) return false;
  }
  for (size_t i = 0; i < shard->profiles_count; i++) {
    const record_profile *one = &record->profile[i];
    if (!merge_put(m, profiles, shard->profiles[i], &(place){one->kernel, NULL, one->json, from})) return false;
  }
  return true;
}

static json_t *array_of(const places *p) {
  json_t *array = json_array();
  for (size_t n = 0; array && n < p->count; n++) json_array_append(array, p->all[n].found);
  return array;
}

/* What just one shard must have, if the run has it, and else none; null, and *ok false, if it is not so. */
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

static json_t *make_accuracy(const merger *m, const places *results, const places *profiles) {
  const input *first = find_shard(m, 1);
  json_int_t passed = 0, failed = 0, skipped = 0;
  bool ok = true;
  json_t *unique = only_one(m, "unique", profiles->count > 0, &ok);
  json_t *encodings = only_one(m, "encodings", first->accuracy->shard.run.encodings, &ok);
  for (size_t i = 0; i < m->count && ok; i++) {
    const record_accuracy *one = m->inputs[i].accuracy;
    ok = !__builtin_add_overflow(passed, one->passed, &passed) &&
         !__builtin_add_overflow(failed, one->failed, &failed) &&
         !__builtin_add_overflow(skipped, one->skipped, &skipped);
    if (!ok) merge_refuse(m, "%.200s: its totals are too large", m->inputs[i].name);
  }
  if (!ok) return NULL;
  const json_t *json = first->accuracy->json;
  json_t *made =
      json_pack("{s:O, s:o, s:O, s:O*, s:O*, s:o, s:o, s:O?, s:I, s:I, s:I, s:O*}", "schema",
                json_object_get(json, "schema"), "environment", merged_environment(m, first), "kernels",
                json_object_get(json, "kernels"), "seed", json_object_get(json, "seed"), "budget",
                json_object_get(json, "budget"), "records", array_of(results), "profile", array_of(profiles), "unique",
                unique, "passed", passed, "failed", failed, "skipped", skipped, "encodings", encodings);
  if (!made) merge_refuse_memory(m);
  return made;
}

static json_t *merge_accuracy(const merger *m) {
  places results = {0}, profiles = {0};
  bool ok = expect_results(m, &results) && expect_profiles(m, &profiles);
  for (size_t i = 0; i < m->count && ok; i++) ok = put_all(m, &results, &profiles, &m->inputs[i]);
  ok = ok && merge_are_all_found(m, &results) && merge_are_all_found(m, &profiles);
  json_t *made = ok ? make_accuracy(m, &results, &profiles) : NULL;
  free(results.all);
  free(profiles.all);
  return made;
}

static json_t *merge_inputs(const merger *m) {
  if (m->inputs[0].run && !are_one_run(m)) return NULL;
  if (m->inputs[0].timing) return merge_timings(m);
  return are_exact_together(m) ? merge_accuracy(m) : NULL;
}

json_t *merge_records(json_t *const *records, char *const *names, size_t count, char *why, size_t size) {
  const merger m = {calloc(count, sizeof *m.inputs), count, why, size};
  if (!m.inputs) return merge_refuse_memory(&m), NULL;
  json_t *merged = read_inputs(&m, records, names) ? merge_inputs(&m) : NULL;
  for (size_t i = 0; i < count; i++) {
    record_free(m.inputs[i].accuracy);
    record_free(m.inputs[i].timing);
  }
  free(m.inputs);
  return merged;
}
