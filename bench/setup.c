/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/setup.h"

#include "bench/subject.h"
#include "common/environment.h"
#include "common/number.h"
#include "common/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t last_cache_bytes(void) {
  long bytes = 0;
  for (int level = 3; bytes == 0 && level > 0; level--) bytes = environment_cache_bytes(level);
  return (size_t)bytes;
}

static void tell_unsuited(const shape *table, unsigned modes) {
  for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
    if (modes & 1u << mode && !mode_suits(&table->problem, mode))
      bench_tell("bench: %s/%s is left out: add and rope work on what is there before", bench_mode_name(mode),
                 table->name);
}

/* Chooses this shard's shapes. The cost of a shape is about that of one timing, plus a nanosecond per element. */
static bool choose_shapes(session *run) {
  const bench_request *request = run->request;
  double *sizes = calloc(request->shape_count + 1, sizeof *sizes);
  for (size_t i = 0; sizes && i < request->shape_count; i++) {
    const posenc_problem *problem = &request->shapes[i].problem;
    sizes[i] = request->min_time + 1e-9 * (double)problem->rows * (double)row_elements_of(problem);
  }
  run->mine = sizes ? shard_partition(request->only, sizes, request->shape_count) : NULL;
  free(sizes);
  return run->mine || bench_tell_memory();
}

/* Whether the memory exists. Linux grants more memory than there is, and kills a process that uses it. */
static bool fits_in_memory(double bytes, const json_t *environment) {
  const char *memory = json_string_value(json_object_get(environment, "memory"));
  const double there = memory ? strtod(memory, NULL) : 0; /* 0 for "unknown" */
  return there == 0 || bytes < there;
}

/* Whether a kernel can have the memory of a shape: once, twice in modes with memory of their own, and once for exact
   values. */
static bool has_memory(const session *run, size_t i, const answer *a, const json_t *environment) {
  const unsigned own = 1u << BENCH_FRESH | 1u << BENCH_MALLOC;
  const double bytes = (double)a->bytes * (run->request->modes[i] & own ? 3.0 : 2.0);
  return fits_in_memory(bytes, environment) ||
         bench_tell("bench: %s: no memory for its %zu bytes", run->request->shapes[i].name, a->bytes);
}

/* Asks a kernel about all shapes. If it can make none of them, tells why. */
static bool ask_kernel(session *run, size_t k, const json_t *environment) {
  const bench_request *request = run->request;
  char why[sizeof((answer){0}).words] = "";
  bool any = false;
  for (size_t i = 0; i < request->shape_count; i++) {
    answer a;
    const bool wanted = run->mine[i] && request->shapes[i].problem.rows > 0 &&
                        !(request->kernel_counts && k >= request->kernel_counts[i]);
    if (!watch_open(run->watch, k, i, wanted, &a)) return true; /* it is lost */
    if (a.refused) snprintf(why, sizeof why, "%s", a.words);
    any = any || !a.refused;
    if (a.refused || !wanted) continue;
    if (*a.words) return bench_tell("bench: %s on %s: %s", request->kernels[k]->name, request->shapes[i].name, a.words);
    if (!has_memory(run, i, &a, environment)) return false;
    run->taken[i * request->kernel_count + k] = true;
    run->subject_count++;
  }
  if (!any) bench_tell("bench: %s is left out: %s", request->kernels[k]->name, why);
  return true;
}

bool setup_subjects(session *run, const json_t *environment) {
  const bench_request *request = run->request;
  const size_t most = request->kernel_count * request->shape_count;
  run->taken = calloc(most + 1, sizeof *run->taken);
  run->benchmarks = calloc(most * BENCH_MODES + 1, sizeof *run->benchmarks);
  if (!run->taken || !run->benchmarks) return bench_tell_memory();
  if (!choose_shapes(run)) return false;
  for (size_t i = 0; i < request->shape_count; i++)
    if (run->mine[i]) tell_unsuited(&request->shapes[i], request->modes[i]);
  run->watch = watch_start(request, last_cache_bytes());
  if (!run->watch) return false;
  for (size_t k = 0; k < request->kernel_count; k++)
    if (!ask_kernel(run, k, environment)) return false;
  return true;
}

/* Reports a benchmark that is left out. The first one of each reason is named at once; the others are counted at the
   end. */
static void leave_out(session *run, bench_mode mode, const char *name, double pass) {
  if (mode == BENCH_PLAN) {
    if (run->whole_plans++ == 0) bench_tell("bench: %s is left out: it would fill the whole table each time", name);
  } else {
    if (run->long_passes++ == 0) bench_tell("bench: %s is left out: a pass takes %.1f s", name, pass);
  }
}

static void tell_others(const session *run) {
  if (run->whole_plans > 1)
    bench_tell("bench: %zu more left out: each would fill its whole table each time", run->whole_plans - 1);
  if (run->long_passes > 1)
    bench_tell("bench: %zu more left out: a pass takes more than %g s", run->long_passes - 1, run->request->longest);
}

/* Registers a benchmark, unless it would take too long. */
static bool register_benchmark(session *run, size_t kernel, size_t i, bench_mode mode, const answer *a) {
  const mode_facts *facts = &a->modes[mode];
  const shape *of = &run->request->shapes[i];
  char name[256];
  if (!facts->takes_long && facts->iterations == 0) return true; /* the mode is not wanted, or has no meaning */
  snprintf(name, sizeof name, "%s/%s/%s", bench_mode_name(mode), of->name, run->request->kernels[kernel]->name);
  if (facts->takes_long) {
    leave_out(run, mode, name, a->pass);
    return true;
  }
  benchmark *b = &run->benchmarks[run->benchmark_count++];
  *b = (benchmark){run, kernel, i, mode, *facts, a->plan, a->plan_bytes};
  const double parts = mode == BENCH_ROW ? 1 : (double)of->problem.rows / (double)facts->rows;
  return shim_register(name, benchmark_run, b, facts->iterations, run->request->repetitions, parts) ||
         bench_tell_memory();
}

bool setup_benchmarks(session *run) {
  const bench_request *request = run->request;
  size_t prepared = 0;
  for (size_t i = 0; i < request->shape_count; i++) {
    for (size_t k = 0; k < request->kernel_count; k++) {
      answer a;
      if (!run->taken[i * request->kernel_count + k]) continue;
      progress_show("bench: calibrating", request->shapes[i].name, (double)prepared++, (double)run->subject_count,
                    "tables");
      if (!watch_prepare(run->watch, k, i, &a)) continue;
      for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
        if (!register_benchmark(run, k, i, mode, &a)) return false;
    }
  }
  tell_others(run);
  return true;
}

void setup_predict(const session *run) {
  const int repetitions = run->request->repetitions;
  double seconds = 0;
  for (size_t i = 0; i < run->benchmark_count; i++)
    seconds += repetitions * (run->benchmarks[i].facts.seconds + run->benchmarks[i].facts.beside);
  bench_tell("bench: %zu timings, which take about %s", run->benchmark_count * (size_t)repetitions,
             number_of_duration(seconds).text);
}
