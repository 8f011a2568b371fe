/* SPDX-License-Identifier: MIT */
#include "records/merge-inputs.h"

#include "common/contract.h"
#include "common/field.h"

#include <inttypes.h>
#include <stdlib.h>

/* Whether no benchmark is in two files. */
static bool are_apart(const merger *m) {
  json_t *owners = json_object(); /* {name: number of the first file that has it} */
  bool ok = true;
  for (size_t i = 0; i < m->count && ok; i++)
    RECORD_EACH(benchmark, m->inputs[i].timing, benchmarks) {
      const json_t *owner = json_object_get(owners, benchmark->name);
      if (!owner)
        json_object_set_new(owners, benchmark->name, json_integer((json_int_t)i));
      else if (json_integer_value(owner) != (json_int_t)i)
        ok = merge_refuse(m, BOTH "both have %.120s", m->inputs[json_integer_value(owner)].name, m->inputs[i].name,
                          benchmark->name);
      if (!ok) break;
    }
  json_decref(owners);
  return ok;
}

/* Whether every shape of the run is in exactly one shard. */
static bool have_all_shapes(const merger *m) {
  const places p = merge_make_places("shape", m->inputs[0].timing->context.shard.run.shapes_count);
  bool ok = true;
  for (size_t n = 0; n < p.count; n++) p.all[n].kernel = "";
  for (const input *one = m->inputs; one < m->inputs + m->count && ok; one++) {
    const record_bench_shard *shard = &one->timing->context.shard;
    for (size_t k = 0; k < shard->shapes_count && ok; k++)
      ok = merge_put(m, &p, shard->shapes[k], &(place){.kernel = "", .from = one});
  }
  ok = ok && merge_are_all_found(m, &p);
  free(p.all);
  return ok;
}

/* Returns the name that a benchmark's repetitions and their aggregates share. */
static const char *family_name(const record_benchmark *benchmark) {
  return *benchmark->run_name ? benchmark->run_name : benchmark->name;
}

/* Whether a name is "mode/shape/kernel" of a shape of this shard and of a kernel of the run. Names of kernels may
   contain '/'. */
static bool is_of_shard(const record_bench_shard *shard, const char *name) {
  const char *kernel = kernel_of_benchmark(name), *shape = name + strcspn(name, "/") + 1;
  bool is_known = false;
  if (!kernel) return false;
  RECORD_EACH(known, &shard->run, kernels) is_known = is_known || strcmp(*known, kernel) == 0;
  const size_t length = (size_t)(kernel - 1 - shape);
  RECORD_EACH(number, shard, shapes) {
    const char *known = shard->run.shapes[*number].name;
    if (is_known && strlen(known) == length && memcmp(known, shape, length) == 0) return true;
  }
  return false;
}

/* Whether each shard has as many benchmarks as it says, of its shapes; refuses the shard otherwise. */
static bool have_own_benchmarks(const merger *m) {
  for (const input *one = m->inputs; one < m->inputs + m->count; one++) {
    const int64_t said = one->timing->context.shard.benchmarks;
    if ((int64_t)one->timing->benchmarks_count != said)
      return merge_refuse(m, "%.200s: %zu benchmarks, but the shard says %" PRId64, one->name,
                          one->timing->benchmarks_count, said);
    RECORD_EACH(benchmark, one->timing, benchmarks) {
      const char *name = benchmark->name, *family = family_name(benchmark);
      if (strncmp(name, family, strlen(family)) != 0 || !is_of_shard(&one->timing->context.shard, family))
        return merge_refuse(m, "%.200s: %.120s is not of the shapes of the shard and the kernels of the run", one->name,
                            name);
    }
  }
  return true;
}

/* Copies all benchmarks. Their numbers continue those of the files before: each family has its own index, each
   repetition its own turn. Google Benchmark's aggregates of repetitions, such as the mean, have no turn. */
static void append_all(json_t *benchmarks, const record_timing *more, json_t *families, double *turns) {
  const double before = *turns;
  RECORD_EACH(benchmark, more, benchmarks) {
    json_t *one = json_copy(benchmark->json);
    const char *family = family_name(benchmark);
    json_array_append_new(benchmarks, one);
    if (strcmp(benchmark->run_type, "iteration") != 0) {
      json_object_del(one, "turn");
    } else if (isfinite(benchmark->turn)) {
      json_object_set_new(one, "turn", json_real(benchmark->turn + before));
      *turns = fmax(*turns, benchmark->turn + before);
    }
    if (!json_object_get(one, "family_index")) continue;
    if (!json_object_get(families, family))
      json_object_set_new(families, family, json_integer((json_int_t)json_object_size(families)));
    json_object_set(one, "family_index", json_object_get(families, family));
  }
}

/* Whether a file has times of a kernel in the mode and on the shape of a benchmark, called "<mode>/<shape>/…". */
static bool has_times(const input *one, const char *name, const char *kernel) {
  const char *end = kernel_of_benchmark(name);
  const size_t length = end ? (size_t)(end - name) : strlen(name);
  RECORD_EACH(benchmark, one->timing, benchmarks)
    if (strncmp(benchmark->name, name, length) == 0 && is_benchmark_of(benchmark->name, kernel)) return true;
  return false;
}

/* Whether other runs, which did not lose the kernel, have times of it in each mode and on each shape of the run that
   did. */
static bool is_repaired(const merger *m, const input *lost, const char *key, const char *kernel) {
  RECORD_EACH(benchmark, lost->timing, benchmarks) {
    bool found = false;
    for (const input *one = m->inputs; one < m->inputs + m->count && !found; one++)
      found = !json_object_get(one->facts, key) && has_times(one, benchmark->name, kernel);
    if (!found) return false;
  }
  return lost->timing->benchmarks_count > 0;
}

/* Whether a kernel that a file has lost is still lacking. Each shape is in one shard alone, so no other shard can
   repair it. */
static bool is_lost(const merger *m, const char *key, const char *kernel) {
  for (const input *one = m->inputs; one < m->inputs + m->count; one++)
    if (json_object_get(one->facts, key) && (one->run || !is_repaired(m, one, key, kernel))) return true;
  return false;
}

/* Removes the failures that other runs have repaired, and joins what is left. */
static void join_failures(const merger *m, json_t *context) {
  const char *key;
  json_t *words;
  void *next;
  json_object_foreach_safe(context, next, key, words) {
    const char *kernel = kernel_of_failure(key);
    if (kernel && !is_lost(m, key, kernel))
      json_object_del(context, key);
    else if (kernel)
      json_object_set_new(context, key, merge_side_by_side(m, key));
  }
}

/* Returns the library's choice for a shape in a list of choices, or null. */
static json_t *choice_for(const json_t *choices, const char *name) {
  json_t *choice;
  size_t i;
  json_array_foreach(choices, i, choice) {
    if (strcmp(field_string(choice, "shape"), name) == 0) return choice;
  }
  return NULL;
}

/* Replaces the first file's choices by those of all files. Refuses and returns false if two differ on one shape. */
static bool join_choices(const merger *m, json_t *context) {
  json_t *all = json_array(), *choice;
  size_t k;
  for (size_t i = 0; i < m->count; i++) {
    json_array_foreach(json_object_get(m->inputs[i].facts, "choices"), k, choice) {
      const char *name = field_string(choice, "shape");
      const json_t *before = choice_for(all, name);
      if (!before) json_array_append(all, choice);
      if (before && !json_equal(before, choice)) {
        json_decref(all);
        return merge_refuse(m, "%.200s and files before it: the library chooses other kernels for %.60s",
                            m->inputs[i].name, name);
      }
    }
  }
  json_object_set_new(context, "choices", all);
  return true;
}

/* Returns all facts of the files: a shard without timings has none of Google Benchmark's, and not all files have all
   kernels. The first file with timings comes first. */
static json_t *merged_context(const merger *m) {
  size_t first = 0;
  while (first + 1 < m->count && m->inputs[first].timing->benchmarks_count == 0) first++;
  json_t *context = json_copy(m->inputs[first].facts);
  for (size_t i = 0; i < m->count; i++) json_object_update_missing(context, m->inputs[i].facts);
  join_failures(m, context);
  for (size_t i = 0; i < m->count; i++)
    if (i != first) timed_checks_join(context, m->inputs[i].facts);
  json_object_del(context, "shard");
  if (join_choices(m, context)) return context;
  json_decref(context);
  return NULL;
}

json_t *merge_timings(const merger *m) {
  for (size_t i = 1; i < m->count; i++)
    if (!merge_are_same_facts(m, &m->inputs[i], ", and times belong to one machine and one build")) return NULL;
  if (m->inputs[0].run && !(have_all_shapes(m) && have_own_benchmarks(m))) return NULL;
  if (!are_apart(m)) return NULL;
  json_t *context = merged_context(m);
  if (!context) return NULL;
  json_t *benchmarks = json_array(), *families = json_object();
  double turns = 0.0;
  for (size_t i = 0; i < m->count; i++) append_all(benchmarks, m->inputs[i].timing, families, &turns);
  json_decref(families);
  return json_pack("{s:o, s:o}", "context", context, "benchmarks", benchmarks);
}
