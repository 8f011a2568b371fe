/* SPDX-License-Identifier: MIT */
#include "records/merge.h"

#include "common/field.h"
#include "records/read.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct merger {
  json_t *const *records;
  char *const *names;
  size_t count;
  char *why;
  size_t size;
} merger;

/* Returns false, for callers that pass failure on. */
__attribute__((format(printf, 2, 3))) static bool refuse(const merger *m, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(m->why, m->size, format, arguments);
  va_end(arguments);
  return false;
}

/* "A and B: " */
#define BOTH "%.200s and %.200s: "

static bool refuse_memory(const merger *m) {
  return refuse(m, "out of memory");
}

/* ---- what they say of themselves ------------------------------------------------------------------- */

static bool is_timing(const json_t *record) {
  return json_is_object(json_object_get(record, "context"));
}

/* Machine and build. */
static json_t *facts_of(const json_t *record) {
  return json_object_get(record, is_timing(record) ? "context" : "environment");
}

/* Null of a whole run. */
static const json_t *shard_of(const json_t *record) {
  return json_object_get(is_timing(record) ? facts_of(record) : record, "shard");
}

static const json_t *run_of(const json_t *record) {
  return json_object_get(shard_of(record), "run");
}

/* What is not told is no evidence that it is the same. */
static bool tells_facts(const merger *m, size_t number, bool timing) {
  static const char *const keys[] = {"posenc_version", "commit", "kernel_abi", "cpu"};
  const size_t needed = timing ? 4 : 3;
  for (size_t k = 0; k < needed; k++)
    if (!*field_string(facts_of(m->records[number]), keys[k]))
      return refuse(m, "%.200s: no record: it does not tell %s", m->names[number], keys[k]);
  return true;
}

static bool are_records(const merger *m) {
  for (size_t i = 0; i < m->count; i++) {
    record_fault fault;
    const bool timing = is_timing(m->records[i]);
    if (!(timing ? record_is_timing : record_is_accuracy)(m->records[i], &fault))
      return refuse(m, "%.200s: no record: %s", m->names[i], fault.text);
    if (!tells_facts(m, i, timing)) return false;
    if (timing != is_timing(m->records[0]))
      return refuse(m, BOTH "one tells accuracy, the other speed", m->names[0], m->names[i]);
    if (!shard_of(m->records[i]) != !shard_of(m->records[0]))
      return refuse(m, BOTH "one is a shard, the other a whole run", m->names[0], m->names[i]);
    if (!timing && !shard_of(m->records[i])) return refuse(m, "%.200s: not a shard, but a whole run", m->names[i]);
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
static bool refuse_values(const merger *m, size_t one, size_t other, const char *key, const json_t *a, const json_t *b,
                          const char *reason) {
  char text[96], another[96];
  const bool lists = json_is_array(json_object_get(a, key)) && json_is_array(json_object_get(b, key));
  if (lists) return refuse(m, BOTH "other %s%s", m->names[one], m->names[other], key, reason);
  return refuse(m, BOTH "%s: %s and %s%s", m->names[one], m->names[other], key,
                shown(json_object_get(a, key), text, sizeof text),
                shown(json_object_get(b, key), another, sizeof another), reason);
}

/* ---- shards of one run -------------------------------------------------------------------------------- */

static json_int_t integer_of(const json_t *shard, const char *key) {
  return json_integer_value(json_object_get(shard, key));
}

/* All of the same run, each of its shards once. */
static bool are_one_run(const merger *m) {
  const json_t *first = shard_of(m->records[0]);
  const json_int_t of = integer_of(first, "of");
  for (size_t i = 0; i < m->count; i++) {
    const json_t *shard = shard_of(m->records[i]);
    if (integer_of(shard, "of") != of) return refuse_values(m, 0, i, "of", first, shard, " shards");
    const char *key = difference_of(run_of(m->records[0]), run_of(m->records[i]));
    if (key && strcmp(key, "parts") == 0)
      return refuse(m, BOTH "other kernels, shapes, cases or profiles", m->names[0], m->names[i]);
    if (key) return refuse_values(m, 0, i, key, run_of(m->records[0]), run_of(m->records[i]), "");
    const json_int_t number = integer_of(shard, "number");
    if (number < 1 || number > of)
      return refuse(m, "%.200s: no shard %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT, m->names[i], number, of);
    for (size_t k = 0; k < i; k++)
      if (integer_of(shard_of(m->records[k]), "number") == number)
        return refuse(m, BOTH "both are shard %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT, m->names[k],
                      m->names[i], number, of);
  }
  if ((json_int_t)m->count == of) return true;
  json_int_t missing = 1;
  for (size_t i = 0; i < m->count; i++)
    if (integer_of(shard_of(m->records[i]), "number") == missing) {
      missing++;
      i = (size_t)-1; /* they come in any order */
    }
  return refuse(m, "%.200s and others: shard %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " is missing",
                m->names[0], missing, of);
}

/* ---- machines and builds -------------------------------------------------------------------------------- */

/* What differs between two moments of one machine; and of Google Benchmark's own facts all that ours tell better. */
static bool is_momentary(const char *key) {
  static const char *const keys[] = {"date", "load", "load_after", "load_avg", "mhz_per_cpu", "executable", "shard"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(keys[i], key) == 0) return true;
  return false;
}

/* A fact that only one of two has is no contradiction: a shard that had nothing to time has none of Google Benchmark's. */
static bool share_facts(const merger *m, size_t one, size_t other, const char *reason) {
  const json_t *a = facts_of(m->records[one]), *b = facts_of(m->records[other]);
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)a, key, value) {
    const json_t *there = json_object_get(b, key);
    if (there && !is_momentary(key) && !json_equal(value, there))
      return refuse_values(m, one, other, key, a, b, reason);
  }
  return true;
}

/* With all before it: the first may lack what two others contradict each other in. */
static bool are_same_facts(const merger *m, size_t other, const char *reason) {
  for (size_t one = 0; one < other; one++)
    if (!share_facts(m, one, other, reason)) return false;
  return true;
}

/* A fact that neither has is none that they differ in. */
static bool has_same(const json_t *a, const json_t *b, const char *key) {
  const json_t *one = json_object_get(a, key), *another = json_object_get(b, key);
  return (!one && !another) || json_equal(one, another);
}

static bool agree_in(const merger *m, size_t other, const char *const *keys, size_t count, const char *reason) {
  const json_t *a = facts_of(m->records[0]), *b = facts_of(m->records[other]);
  for (size_t k = 0; k < count; k++)
    if (!has_same(a, b, keys[k])) return refuse_values(m, 0, other, keys[k], a, b, reason);
  return true;
}

/* The first kernel that is not said to have the same bits everywhere; null if there is none. */
static const char *irreproducible(const json_t *kernels) {
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const json_t *kernel = json_array_get(kernels, i);
    if (!json_is_true(json_object_get(kernel, "reproducible"))) return field_string(kernel, "name");
  }
  return NULL;
}

/* Would one machine have found what these have, if it had done all of it? */
static bool are_exact_together(const merger *m) {
  static const char *const sources[] = {"posenc_version", "kernel_abi", "commit"};
  static const char *const bits[] = {"compiler", "cflags", "libc", "sleef", "isa"};
  const json_t *kernels = json_object_get(m->records[0], "kernels");
  const char *name = irreproducible(kernels);
  char reason[120] = "";
  if (name) snprintf(reason, sizeof reason, ", on which the bits of %.60s depend", name);
  for (size_t i = 1; i < m->count; i++) {
    if (!agree_in(m, i, sources, sizeof sources / sizeof *sources, "")) return false;
    if (!record_names_sources(facts_of(m->records[0])) &&
        !are_same_facts(m, i, ", and their sources were modified, or are unknown"))
      return false;
    if (name && !agree_in(m, i, bits, sizeof bits / sizeof *bits, reason)) return false;
    const json_t *others = json_object_get(m->records[i], "kernels");
    for (size_t k = 0; k < json_array_size(kernels); k++)
      if (!json_equal(json_array_get(kernels, k), json_array_get(others, k)))
        return refuse(m, BOTH "%.60s promises something else, or runs on one of the machines alone", m->names[0],
                      m->names[i], field_string(json_array_get(kernels, k), "name"));
    static const char *const settings[] = {"seed", "budget"};
    for (size_t k = 0; k < 2; k++)
      if (!has_same(m->records[0], m->records[i], settings[k]))
        return refuse_values(m, 0, i, settings[k], m->records[0], m->records[i], "");
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
    const char *value = field_string(facts_of(m->records[i]), key);
    bool told = false;
    for (size_t k = 0; k < i && !told; k++) told = strcmp(field_string(facts_of(m->records[k]), key), value) == 0;
    if (!told) fprintf(stream, "%s%s", i ? " / " : "", value);
  }
  json_t *joined = fclose(stream) == 0 ? json_string(text) : NULL;
  free(text);
  return joined;
}

/* Load and date are those of shard 1, all else is of all. */
static json_t *merged_environment(const merger *m, const json_t *first) {
  json_t *environment = json_copy(facts_of(first));
  const char *key;
  json_t *value;
  bool ok = environment != NULL;
  json_object_foreach(facts_of(first), key, value) {
    if (!is_momentary(key) && json_is_string(value))
      ok = ok && json_object_set_new(environment, key, side_by_side(m, key)) == 0;
  }
  if (ok) return environment;
  json_decref(environment);
  return NULL;
}

/* ---- accuracy --------------------------------------------------------------------------------------------- */

/* Results in their places in the run, and the file that each is from. */
typedef struct places {
  json_t **results;
  size_t *files;
  size_t count;
} places;

static bool places_make(places *p, size_t count) {
  *p = (places){calloc(count + 1, sizeof *p->results), calloc(count + 1, sizeof *p->files), count};
  return p->results && p->files;
}

static void places_free(places *p) {
  free(p->results);
  free(p->files);
}

/* Puts the results of a list into the places that another has the numbers of. */
static bool put_all(const merger *m, places *p, size_t file, const char *list, const char *numbers) {
  const json_t *results = json_object_get(m->records[file], list),
               *of = json_object_get(shard_of(m->records[file]), numbers);
  if (json_array_size(results) != json_array_size(of))
    return refuse(m, "%.200s: %zu %s, but the shard says %zu", m->names[file], json_array_size(results), list,
                  json_array_size(of));
  for (size_t i = 0; i < json_array_size(of); i++) {
    const json_int_t number = json_integer_value(json_array_get(of, i));
    json_t *result = json_array_get(results, i);
    if (number >= (json_int_t)p->count)
      return refuse(m, "%.200s: shard.%s[%zu] is %" JSON_INTEGER_FORMAT ", but the run has %zu", m->names[file],
                    numbers, i, number, p->count);
    if (p->results[number])
      return refuse(m, BOTH "both have %s %" JSON_INTEGER_FORMAT ", of %.60s", m->names[p->files[number]],
                    m->names[file], list, number, field_string(result, "kernel"));
    p->results[number] = result;
    p->files[number] = file;
  }
  return true;
}

/* What the run has in a place: part by part, all kernels on the first shape, then on the next; or the profiles of parts that ask for them. */
typedef struct place {
  const json_t *kernel, *shape;
} place;

static size_t exams_of(const json_t *part) {
  return json_array_size(json_object_get(part, "kernels")) * json_array_size(json_object_get(part, "shapes"));
}

static size_t profiles_of(const json_t *part) {
  return integer_of(part, "profile") > 0 ? json_array_size(json_object_get(part, "kernels")) : 0;
}

static size_t places_of(const merger *m, size_t (*of)(const json_t *part)) {
  const json_t *parts = json_object_get(run_of(m->records[0]), "parts");
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(parts); i++) count += of(json_array_get(parts, i));
  return count;
}

static place place_of(const merger *m, size_t number, size_t (*of)(const json_t *part)) {
  const json_t *parts = json_object_get(run_of(m->records[0]), "parts");
  size_t i = 0;
  for (; number >= of(json_array_get(parts, i)); i++) number -= of(json_array_get(parts, i));
  const json_t *kernels = json_object_get(json_array_get(parts, i), "kernels"),
               *shapes = json_object_get(json_array_get(parts, i), "shapes");
  return (place){json_array_get(kernels, number % json_array_size(kernels)),
                 json_array_get(shapes, number / json_array_size(kernels))};
}

/* Is everything there, and of the kernel and the shape that the run has in its place? */
static bool is_whole(const merger *m, const places *p, const char *list, size_t (*of)(const json_t *part)) {
  for (size_t n = 0; n < p->count; n++) {
    const place there = place_of(m, n, of);
    const json_t *shape = json_object_get(p->results[n], "shape");
    if (!p->results[n])
      return refuse(m, "%.200s and others: no file has %s %zu, of %.60s", m->names[0], list, n,
                    json_is_string(there.kernel) ? json_string_value(there.kernel) : "");
    if (!json_equal(json_object_get(p->results[n], "kernel"), there.kernel) ||
        (of == exams_of && !json_equal(shape, there.shape)))
      return refuse(m, "%.200s: %s %zu is not of the kernel and shape that the run has there", m->names[p->files[n]],
                    list, n);
  }
  return true;
}

static json_t *array_of(const places *p) {
  json_t *array = json_array();
  for (size_t n = 0; array && n < p->count; n++) json_array_append(array, p->results[n]);
  return array;
}

/* What just one shard must have, if the run has it, and else none; null, and *ok false, if it is not so. */
static json_t *only_one(const merger *m, const char *key, bool wanted, bool *ok) {
  json_t *found = NULL;
  size_t holder = 0;
  for (size_t i = 0; i < m->count && *ok; i++) {
    json_t *value = json_object_get(m->records[i], key);
    if (!json_is_object(value)) continue;
    if (found) *ok = refuse(m, BOTH "both have %s", m->names[holder], m->names[i], key);
    found = value;
    holder = i;
  }
  if (*ok && wanted != (found != NULL))
    *ok = refuse(m, "%.200s and others: %s %s", m->names[0], wanted ? "no file has" : "the run was not asked for", key);
  return found;
}

static json_t *sum_of(const merger *m, const char *key) {
  json_int_t sum = 0;
  for (size_t i = 0; i < m->count; i++)
    if (__builtin_add_overflow(sum, integer_of(m->records[i], key), &sum)) return NULL;
  return json_integer(sum);
}

static const json_t *first_shard(const merger *m) {
  for (size_t i = 0; i < m->count; i++)
    if (integer_of(shard_of(m->records[i]), "number") == 1) return m->records[i];
  return m->records[0];
}

static json_t *accuracy_of(const merger *m, const places *results, const places *profiles) {
  const json_t *run = run_of(m->records[0]), *first = first_shard(m);
  bool ok = true;
  json_t *unique = only_one(m, "unique", profiles->count > 0, &ok);
  json_t *encodings = only_one(m, "encodings", json_is_true(json_object_get(run, "encodings")), &ok);
  if (!ok) return NULL;
  json_t *made = json_pack("{s:O, s:o, s:O, s:O*, s:O*, s:o, s:o, s:O?, s:o, s:o, s:o, s:O*}", "schema",
                           json_object_get(first, "schema"), "environment", merged_environment(m, first), "kernels",
                           json_object_get(first, "kernels"), "seed", json_object_get(first, "seed"), "budget",
                           json_object_get(first, "budget"), "records", array_of(results), "profile",
                           array_of(profiles), "unique", unique, "passed", sum_of(m, "passed"), "failed",
                           sum_of(m, "failed"), "skipped", sum_of(m, "skipped"), "encodings", encodings);
  if (!made) refuse_memory(m);
  return made;
}

static json_t *merge_accuracy(const merger *m) {
  places results, profiles;
  const bool first = places_make(&results, places_of(m, exams_of)),
             second = places_make(&profiles, places_of(m, profiles_of));
  bool ok = (first && second) || refuse_memory(m);
  for (size_t i = 0; i < m->count && ok; i++)
    ok = put_all(m, &results, i, "records", "exams") && put_all(m, &profiles, i, "profile", "profiles");
  ok = ok && is_whole(m, &results, "records", exams_of) && is_whole(m, &profiles, "profile", profiles_of);
  json_t *made = ok ? accuracy_of(m, &results, &profiles) : NULL;
  places_free(&results);
  places_free(&profiles);
  return made;
}

/* ---- speed -------------------------------------------------------------------------------------------------- */

/* Each name once, with the number of the first file that has it; false if two files have one. */
static bool are_apart(const merger *m) {
  json_t *owners = json_object();
  bool ok = owners || refuse_memory(m);
  for (size_t i = 0; i < m->count && ok; i++) {
    const json_t *benchmarks = json_object_get(m->records[i], "benchmarks");
    for (size_t k = 0; k < json_array_size(benchmarks) && ok; k++) {
      const char *name = field_string(json_array_get(benchmarks, k), "name");
      const json_t *owner = json_object_get(owners, name);
      if (!owner)
        ok = json_object_set_new(owners, name, json_integer((json_int_t)i)) == 0 || refuse_memory(m);
      else if (json_integer_value(owner) != (json_int_t)i)
        ok = refuse(m, BOTH "both have %.120s", m->names[json_integer_value(owner)], m->names[i], name);
    }
  }
  json_decref(owners);
  return ok;
}

/* Every shape of the run in just one shard. */
static bool have_all_shapes(const merger *m) {
  const size_t count = json_array_size(json_object_get(run_of(m->records[0]), "shapes"));
  places p;
  bool ok = places_make(&p, count) || refuse_memory(m);
  for (size_t i = 0; i < m->count && ok; i++) {
    const json_t *numbers = json_object_get(shard_of(m->records[i]), "shapes");
    for (size_t k = 0; k < json_array_size(numbers) && ok; k++) {
      const json_int_t number = json_integer_value(json_array_get(numbers, k));
      if (number >= (json_int_t)count)
        ok = refuse(m, "%.200s: shard.shapes[%zu] is %" JSON_INTEGER_FORMAT ", but the run has %zu", m->names[i], k,
                    number, count);
      else if (p.results[number])
        ok = refuse(m, BOTH "both have shape %" JSON_INTEGER_FORMAT, m->names[p.files[number]], m->names[i], number);
      else
        p.results[number] = m->records[i], p.files[number] = i;
    }
  }
  for (size_t n = 0; n < count && ok; n++)
    if (!p.results[n]) ok = refuse(m, "%.200s and others: no file has shape %zu", m->names[0], n);
  places_free(&p);
  return ok;
}

/* Its repetitions and what is made of them share it. */
static const char *family_name(const json_t *benchmark) {
  const char *name = field_string(benchmark, "run_name");
  return *name ? name : field_string(benchmark, "name");
}

static bool holds_text(const json_t *texts, const char *text) {
  for (size_t i = 0; i < json_array_size(texts); i++)
    if (json_is_string(json_array_get(texts, i)) && strcmp(json_string_value(json_array_get(texts, i)), text) == 0)
      return true;
  return false;
}

/* Is a name "mode/shape/kernel" of a shape of this shard, and of a kernel of the run? Kernels may have a '/', too. */
static bool is_of_shard(const json_t *shard, const char *name) {
  const json_t *run = json_object_get(shard, "run"), *numbers = json_object_get(shard, "shapes");
  const char *shape = strchr(name, '/'), *kernel = shape ? strchr(++shape, '/') : NULL;
  if (!kernel || !holds_text(json_object_get(run, "kernels"), kernel + 1)) return false;
  const size_t length = (size_t)(kernel - shape);
  for (size_t i = 0; i < json_array_size(numbers); i++) {
    const size_t number = (size_t)json_integer_value(json_array_get(numbers, i));
    const char *known = field_string(json_array_get(json_object_get(run, "shapes"), number), "name");
    if (strlen(known) == length && memcmp(known, shape, length) == 0) return true;
  }
  return false;
}

/* No list of shapes is believed that the benchmarks contradict. */
static bool have_own_benchmarks(const merger *m) {
  for (size_t i = 0; i < m->count; i++) {
    const json_t *benchmarks = json_object_get(m->records[i], "benchmarks");
    for (size_t k = 0; k < json_array_size(benchmarks); k++) {
      const char *name = field_string(json_array_get(benchmarks, k), "name"),
                 *family = family_name(json_array_get(benchmarks, k));
      if (strncmp(name, family, strlen(family)) != 0 || !is_of_shard(shard_of(m->records[i]), family))
        return refuse(m, "%.200s: %.120s is not of the shapes of the shard and the kernels of the run", m->names[i],
                      name);
    }
  }
  return true;
}

/* The most that a counter of any benchmark says. */
static double most_of(const json_t *benchmarks, const char *key) {
  double most = 0.0;
  for (size_t i = 0; i < json_array_size(benchmarks); i++)
    most = fmax(most, field_number_or(json_array_get(benchmarks, i), key, 0.0));
  return most;
}

static bool is_repetition(const json_t *benchmark) {
  return strcmp(field_string(benchmark, "run_type"), "iteration") == 0;
}

/* Copies of all, counted on from those before: no two families have one index, and no two repetitions one turn. What Google Benchmark makes of
   several turns, such as their mean, tells nothing. `families` has the index of each that was met. */
static bool append_all(json_t *benchmarks, const json_t *more, json_t *families) {
  const double turns = most_of(benchmarks, "turn");
  for (size_t i = 0; i < json_array_size(more); i++) {
    json_t *one = json_copy(json_array_get(more, i));
    const json_t *turn = json_object_get(one, "turn");
    const char *family = family_name(one);
    if (!one || json_array_append_new(benchmarks, one) != 0) return false;
    if (!is_repetition(one))
      json_object_del(one, "turn");
    else if (json_is_number(turn))
      json_object_set_new(one, "turn", json_real(json_number_value(turn) + turns));
    if (!json_object_get(one, "family_index")) continue;
    if (!json_object_get(families, family) &&
        json_object_set_new(families, family, json_integer((json_int_t)json_object_size(families))) != 0)
      return false;
    if (json_object_set(one, "family_index", json_object_get(families, family)) != 0) return false;
  }
  return true;
}

/* All facts that any of them has: a shard that had nothing to time has none of Google Benchmark's, and not all have all kernels. The first that timed
   something comes first. */
static json_t *merged_context(const merger *m) {
  size_t first = 0;
  while (first + 1 < m->count && json_array_size(json_object_get(m->records[first], "benchmarks")) == 0) first++;
  json_t *context = json_copy(facts_of(m->records[first]));
  bool ok = context != NULL;
  for (size_t i = 0; i < m->count && ok; i++) ok = json_object_update_missing(context, facts_of(m->records[i])) == 0;
  json_object_del(context, "shard");
  if (ok) return context;
  json_decref(context);
  return NULL;
}

static json_t *merge_timings(const merger *m) {
  for (size_t i = 1; i < m->count; i++)
    if (!are_same_facts(m, i, ", and times belong to one machine and one build")) return NULL;
  if (shard_of(m->records[0]) && !(have_all_shapes(m) && have_own_benchmarks(m))) return NULL;
  if (!are_apart(m)) return NULL;
  json_t *context = merged_context(m), *benchmarks = json_array(), *families = json_object();
  bool ok = context && benchmarks && families;
  for (size_t i = 0; i < m->count && ok; i++)
    ok = append_all(benchmarks, json_object_get(m->records[i], "benchmarks"), families);
  json_decref(families);
  if (ok) return json_pack("{s:o, s:o}", "context", context, "benchmarks", benchmarks);
  json_decref(context);
  json_decref(benchmarks);
  refuse_memory(m);
  return NULL;
}

json_t *merge_records(json_t *const *records, char *const *names, size_t count, char *why, size_t size) {
  const merger m = {records, names, count, why, size};
  if (!are_records(&m) || (shard_of(records[0]) && !are_one_run(&m))) return NULL;
  if (is_timing(records[0])) return merge_timings(&m);
  return are_exact_together(&m) ? merge_accuracy(&m) : NULL;
}
