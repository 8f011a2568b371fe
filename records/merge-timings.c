/* SPDX-License-Identifier: MIT */
#include "records/merge.h"

#include "common/contract.h"
#include "common/memory.h"
#include "records/timings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Whether every item of the run is in exactly one shard. */
static bool have_all_items(const merger *m) {
  const places p = merge_expect_items(m, "item");
  bool ok = true;
  for (const input *one = m->inputs; one < m->inputs + m->count && ok; one++)
    RECORD_EACH(number, &one->timing->context.shard, items) {
      merged_place here = *number < (int64_t)p.count ? p.all[*number] : (merged_place){.kernel = ""};
      here.from = one;
      ok = ok && merge_put(m, &p, *number, &here);
    }
  ok = ok && merge_are_all_found(m, &p);
  free(p.all);
  return ok;
}

/* Returns the name that a benchmark's repetitions and their aggregates share. */
static const char *family_name(const record_benchmark *benchmark) {
  return *benchmark->run_name ? benchmark->run_name : benchmark->name;
}

/* Whether a name is "mode/shape/kernel" of an item of this shard. Names of kernels may contain '/'. */
static bool is_of_shard(const record_run_shard *shard, const char *name) {
  const char *kernel = kernel_of_benchmark(name), *shape = name + strcspn(name, "/") + 1;
  if (!kernel) return false;
  const size_t length = (size_t)(kernel - 1 - shape);
  RECORD_EACH(number, shard, items) {
    if (*number >= (int64_t)shard->run.items_count) continue;
    const record_run_item *item = &shard->run.items[*number];
    const char *known = shard->run.shapes[item->shape].name;
    if (strcmp(shard->run.kernels[item->kernel], kernel) == 0 && strlen(known) == length &&
        memcmp(known, shape, length) == 0)
      return true;
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
static void append_all(record_benchmark **next, const record_timing *more, json_t *families, double *turns) {
  const double before = *turns;
  RECORD_EACH(benchmark, more, benchmarks) {
    record_benchmark *one = (*next)++;
    const char *family = family_name(benchmark);
    *one = *benchmark;
    if (strcmp(one->run_type, "iteration") != 0) {
      one->turn = NAN;
      one->has_turn = false;
    } else if (isfinite(one->turn)) {
      one->turn += before;
      *turns = fmax(*turns, one->turn);
    }
    if (!one->has_family_index) continue;
    if (!json_object_get(families, family))
      json_object_set_new(families, family, json_integer((json_int_t)json_object_size(families)));
    one->family_index = json_integer_value(json_object_get(families, family));
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
static const record_library_choice *choice_for(const record_library_choice *all, size_t count, const char *shape) {
  for (const record_library_choice *one = all; one < all + count; one++)
    if (strcmp(one->shape, shape) == 0) return one;
  return NULL;
}

/* Adds the choices of all files, which `all` has room for. Refuses and returns false if two differ on one shape. */
static bool join_choices(const merger *m, record_library_choice *all, size_t *count) {
  for (const input *one = m->inputs; one < m->inputs + m->count; one++)
    RECORD_EACH(choice, &one->timing->context, choices) {
      const record_library_choice *before = choice_for(all, *count, choice->shape);
      if (!before)
        all[(*count)++] = *choice;
      else if (strcmp(before->kernel, choice->kernel) != 0 || strcmp(before->all_threads, choice->all_threads) != 0)
        return merge_refuse(m, "%.200s and files before it: the library chooses other kernels for %.60s", one->name,
                            choice->shape);
    }
  return true;
}

/* Returns all facts of the files, a new reference: a shard without timings has none of Google Benchmark's, and not all
   files have all kernels. `first`: the number of the file whose facts come first. */
static json_t *join_facts(const merger *m, size_t first) {
  json_t *facts = allocated(json_copy(m->inputs[first].facts));
  for (size_t i = 0; i < m->count; i++) json_object_update_missing(facts, m->inputs[i].facts);
  join_failures(m, facts);
  return facts;
}

/* Adds the checks of all files, which `all` has room for. */
static void join_checks(const merger *m, size_t first, record_timed_check *all, size_t *count) {
  timed_checks_join(all, count, &m->inputs[first].timing->context);
  for (size_t i = 0; i < m->count; i++)
    if (i != first) timed_checks_join(all, count, &m->inputs[i].timing->context);
}

/* Returns the first file with timings, or else the last. */
static size_t first_timed(const merger *m) {
  size_t first = 0;
  while (first + 1 < m->count && m->inputs[first].timing->benchmarks_count == 0) first++;
  return first;
}

/* The most elements that a list of all files can have. */
typedef struct sizes {
  size_t benchmarks, choices, checks;
} sizes;

static sizes sizes_of(const merger *m) {
  sizes all = {0};
  for (const input *one = m->inputs; one < m->inputs + m->count; one++) {
    all.benchmarks += one->timing->benchmarks_count;
    all.choices += one->timing->context.choices_count;
    all.checks += one->timing->context.checks_count;
  }
  return all;
}

/* Returns the record of all files, a new reference; null if their choices differ. */
static json_t *join_timings(const merger *m) {
  const size_t first = first_timed(m);
  const sizes most = sizes_of(m);
  record_benchmark *benchmarks = memory_take(most.benchmarks, sizeof *benchmarks), *next = benchmarks;
  record_library_choice *choices = memory_take(most.choices, sizeof *choices);
  record_timed_check *checks = memory_take(most.checks, sizeof *checks);
  record_timing made = {.context = m->inputs[first].timing->context, .benchmarks = benchmarks};
  record_context *context = &made.context;
  json_t *families = allocated(json_object());
  double turns = 0.0;
  for (size_t i = 0; i < m->count; i++) append_all(&next, m->inputs[i].timing, families, &turns);
  made.benchmarks_count = most.benchmarks;
  context->shard = (record_run_shard){0};
  context->choices = choices;
  context->checks = checks;
  context->choices_count = context->checks_count = 0;
  join_checks(m, first, checks, &context->checks_count);
  for (size_t i = 0; i < m->count && !context->has_others; i++) {
    context->others = m->inputs[i].timing->context.others;
    context->has_others = m->inputs[i].timing->context.has_others;
  }
  context->json = join_facts(m, first);
  json_t *json = join_choices(m, choices, &context->choices_count) ? record_write_timing(&made) : NULL;
  json_decref(context->json);
  json_decref(families);
  free(checks);
  free(choices);
  free(benchmarks);
  return json;
}

json_t *merge_timings(const merger *m) {
  for (size_t i = 1; i < m->count; i++)
    if (!merge_are_same_facts(m, &m->inputs[i], ", and times belong to one machine and one build")) return NULL;
  if (m->inputs[0].run && !(have_all_items(m) && have_own_benchmarks(m))) return NULL;
  return are_apart(m) ? join_timings(m) : NULL;
}
