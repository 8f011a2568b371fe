/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "records/merge.h"

#include "common/contract.h"
#include "common/memory.h"
#include "records/timings.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A benchmark of a file. */
typedef struct owned {
  const char *name;
  size_t file;
} owned;

static int by_name(const void *one, const void *other) {
  const owned *a = one, *b = other;
  const int order = strcmp(a->name, b->name);
  return order ? order : (a->file > b->file) - (a->file < b->file);
}

/* Whether no benchmark is in two files. */
static bool are_apart(const merger *m) {
  size_t count = 0;
  for (size_t i = 0; i < m->count; i++) count += m->inputs[i].timing->benchmarks_count;
  owned *all = memory_take(count, sizeof *all), *next = all;
  for (size_t i = 0; i < m->count; i++)
    RECORD_EACH(benchmark, m->inputs[i].timing, benchmarks) *next++ = (owned){benchmark->name, i};
  qsort(all, count, sizeof *all, by_name);
  bool ok = true;
  for (const owned *one = all; ok && count && one + 1 < next; one++)
    if (one[0].file != one[1].file && strcmp(one[0].name, one[1].name) == 0)
      ok =
          merge_refuse(m, BOTH "both have %.120s", m->inputs[one[0].file].name, m->inputs[one[1].file].name, one->name);
  free(all);
  return ok;
}

/* Whether every item of the run is in exactly one shard. */
static bool have_all_items(const merger *m) {
  places p = merge_expect_items(m, "item");
  bool ok = true;
  for (const input *one = m->inputs; one < m->inputs + m->count && ok; one++)
    RECORD_EACH(number, one->shard, items) ok = ok && merge_put(m, &p, *number, &(merged_part){.from = one});
  ok = ok && merge_are_all_found(m, &p);
  merge_free_places(&p);
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
    const int64_t said = one->shard->benchmarks;
    if ((int64_t)one->timing->benchmarks_count != said)
      return merge_refuse(m, "%.200s: %zu benchmarks, but the shard says %" PRId64, one->name,
                          one->timing->benchmarks_count, said);
    RECORD_EACH(benchmark, one->timing, benchmarks) {
      const char *name = benchmark->name, *family = family_name(benchmark);
      if (strncmp(name, family, strlen(family)) != 0 || !is_of_shard(one->shard, family))
        return merge_refuse(m, "%.200s: %.120s is not of the shapes of the shard and the kernels of the run", one->name,
                            name);
    }
  }
  return true;
}

/* A family of benchmarks of all files, which are numbered in the order in which they begin. */
typedef struct family {
  const char *name;
  int64_t index;
} family;

typedef struct family_list {
  family *all; /* with room for all */
  size_t count;
  void *tree; /* of the same, by name */
} family_list;

static int in_tree(const void *one, const void *other) {
  return strcmp(((const family *)one)->name, ((const family *)other)->name);
}

static int64_t family_index(family_list *of, const char *name) {
  family *next = &of->all[of->count];
  *next = (family){name, (int64_t)of->count};
  family *const *found = allocated(tsearch(next, &of->tree, in_tree));
  if (*found == next) of->count++;
  return (*found)->index;
}

static void forget_families(family_list *of) {
  for (size_t i = 0; i < of->count; i++) tdelete(&of->all[i], &of->tree, in_tree);
  free(of->all);
}

/* Copies all benchmarks. Their numbers continue those of the files before: each family has its own index, each
   repetition its own turn. Google Benchmark's aggregates of repetitions, such as the mean, have no turn. */
static void append_all(record_benchmark **next, const record_timing *more, family_list *families, double *slots) {
  const double before = *slots;
  RECORD_EACH(benchmark, more, benchmarks) {
    record_benchmark *one = (*next)++;
    *one = *benchmark;
    if (strcmp(one->run_type, "iteration") != 0) {
      one->turn = NAN;
      one->has_turn = false;
    } else if (isfinite(one->turn)) {
      one->turn += before;
      *slots = fmax(*slots, one->turn);
    }
    if (one->has_family_index) one->family_index = family_index(families, family_name(benchmark));
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
      found = !record_find_fact(one->facts, key) && has_times(one, benchmark->name, kernel);
    if (!found) return false;
  }
  return lost->timing->benchmarks_count > 0;
}

/* Whether a kernel that a file has lost is still lacking. Each shape is in one shard alone, so no other shard can
   repair it. */
static bool is_lost(const merger *m, const char *key, const char *kernel) {
  for (const input *one = m->inputs; one < m->inputs + m->count; one++)
    if (record_find_fact(one->facts, key) && (one->shard->there || !is_repaired(m, one, key, kernel))) return true;
  return false;
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

/* Adds the facts of a file that the list, which has room for them, lacks: without the failures that other runs have
   repaired, and with the words of all files for what is left. */
static void add_facts(const merger *m, const input *one, record_fact *list, record_facts *made) {
  RECORD_EACH(fact, one->facts, list) {
    const char *kernel = kernel_of_failure(fact->key);
    if (record_find_fact(made, fact->key) || (kernel && !is_lost(m, fact->key, kernel))) continue;
    record_fact *next = &list[made->list_count++];
    *next = *fact;
    if (kernel) *next = (record_fact){fact->key, merge_side_by_side(m, fact->key), true};
  }
}

/* Returns all facts of the files: a shard without timings has none of Google Benchmark's, and not all files have all
   kernels. `first`: the number of the file whose facts come first. */
static record_facts join_facts(const merger *m, size_t first) {
  size_t most = 0;
  for (size_t i = 0; i < m->count; i++) most += m->inputs[i].facts->list_count;
  record_fact *list = record_allocate(m->in, most, sizeof *list);
  record_facts made = {.there = true, .list = list};
  add_facts(m, &m->inputs[first], list, &made);
  for (size_t i = 0; i < m->count; i++) add_facts(m, &m->inputs[i], list, &made);
  return made;
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

/* Returns the record of all files, for record_free; null if their choices differ. */
static const record_timing *join_timings(const merger *m) {
  const size_t first = first_timed(m);
  const sizes most = sizes_of(m);
  record_benchmark *benchmarks = memory_take(most.benchmarks, sizeof *benchmarks), *next = benchmarks;
  record_library_choice *choices = memory_take(most.choices, sizeof *choices);
  record_timed_check *checks = memory_take(most.checks, sizeof *checks);
  record_timing made = {.context = m->inputs[first].timing->context, .benchmarks = benchmarks};
  record_context *context = &made.context;
  family_list families = {.all = memory_take(most.benchmarks + 1, sizeof *families.all)};
  double slots = 0.0;
  for (size_t i = 0; i < m->count; i++) append_all(&next, m->inputs[i].timing, &families, &slots);
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
  context->facts = join_facts(m, first);
  const record_timing *kept = join_choices(m, choices, &context->choices_count) ? record_keep_timing(&made) : NULL;
  forget_families(&families);
  free(checks);
  free(choices);
  free(benchmarks);
  return kept;
}

const record_timing *merge_timings(const merger *m) {
  for (size_t i = 1; i < m->count; i++)
    if (!merge_are_same_facts(m, &m->inputs[i], ", and times belong to one machine and one build")) return NULL;
  if (m->inputs[0].shard->there && !(have_all_items(m) && have_own_benchmarks(m))) return NULL;
  return are_apart(m) ? join_timings(m) : NULL;
}
