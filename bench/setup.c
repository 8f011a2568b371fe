/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/setup.h"

#include "common/clock.h"
#include "common/environment.h"
#include "common/number.h"
#include "common/progress.h"
#include "common/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t last_cache_bytes(void) {
  long bytes = 0;
  for (int level = 3; bytes == 0 && level > 0; level--) bytes = environment_cache_bytes(level);
  return (size_t)bytes;
}

posenc_options setup_options(const bench_request *request, const posenc_kernel *kernel) {
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  options.threads = request->threads;
  options.isa = request->isa;
  options.stores = request->stores;
  return options;
}

/* Whether any shape is to be timed in that mode. */
static bool has_mode(const session *run, bench_mode mode) {
  unsigned all = 0;
  for (size_t i = 0; i < run->request->shape_count; i++) all |= run->request->modes[i];
  return all & 1u << mode;
}

/* Computes the size of the subject's memory, and enlarges the buffer of its dtype if needed. */
static posenc_status measure_subject(session *run, subject *s) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_status status = posenc_table_bytes(problem, &s->bytes);
  if (status != POSENC_OK) return status;
  if (problem->op == POSENC_ROPE_CACHE) s->bytes *= 2; /* cannot overflow: it was at most PTRDIFF_MAX */
  if (op_is_applied(problem->op)) s->batch = run->request->batch;
  if (__builtin_mul_overflow(s->bytes, (size_t)s->batch, &s->bytes) || s->bytes > PTRDIFF_MAX) return POSENC_TOO_LARGE;
  buffer *held = &run->buffers[problem->dtype];
  if (s->bytes > held->bytes) *held = (buffer){NULL, s, s->bytes};
  return POSENC_OK;
}

static void tell_unsuited(const shape *table, unsigned modes) {
  for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
    if (modes & 1u << mode && !mode_suits(&table->problem, mode))
      benchmark_tell("bench: %s/%s is left out: add and rope work on what is there before", bench_mode_name(mode),
                     table->name);
}

static void tell_unable(const session *run) {
  for (size_t k = 0; k < run->request->kernel_count; k++) {
    const posenc_kernel *kernel = run->request->kernels[k];
    const char *refusal = NULL;
    if (run->left_out[k]) continue;
    isolate_turn(kernel);
    for (size_t i = 0; i < run->request->shape_count; i++) {
      const posenc_options options = setup_options(run->request, kernel);
      refusal = posenc_kernel_refusal(kernel, &run->request->shapes[i].problem, &options);
      if (!refusal) break;
    }
    if (refusal) benchmark_tell("bench: %s is left out: %s", kernel->name, refusal);
  }
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
  return run->mine || benchmark_tell_memory();
}

bool setup_subjects(session *run) {
  const bench_request *request = run->request;
  const size_t most = request->kernel_count * request->shape_count;
  tell_unable(run);
  run->cache = last_cache_bytes();
  run->subjects = calloc(most + 1, sizeof *run->subjects);
  run->benchmarks = calloc(most * BENCH_MODES + 1, sizeof *run->benchmarks);
  if (!run->subjects || !run->benchmarks) return benchmark_tell_memory();
  if (!choose_shapes(run)) return false;
  for (size_t i = 0; i < request->shape_count; i++) {
    const shape *table = &request->shapes[i];
    if (!run->mine[i]) continue;
    tell_unsuited(table, request->modes[i]);
    const size_t kernel_count = request->kernel_counts ? request->kernel_counts[i] : request->kernel_count;
    for (size_t k = 0; table->problem.rows > 0 && k < kernel_count; k++) {
      subject *s = &run->subjects[run->subject_count];
      if (run->left_out[k]) continue;
      *s = (subject){.shape = table, .kernel = request->kernels[k], .modes = request->modes[i], .batch = 1};
      if (request->device && request->device->kernel == s->kernel) s->device = request->device;
      s->options = setup_options(request, s->kernel);
      benchmark_take_turn(s);
      if (posenc_kernel_refusal(s->kernel, &table->problem, &s->options)) continue;
      const posenc_status status = measure_subject(run, s);
      if (status != POSENC_OK)
        return benchmark_tell("bench: %s on %s: %s", s->kernel->name, s->shape->name, posenc_status_message(status));
      run->subject_count++;
    }
  }
  return true;
}

/* Whether the memory exists. Linux grants more memory than there is, and kills a process that uses it. */
static bool fits_in_memory(size_t bytes, const json_t *environment) {
  const char *memory = json_string_value(json_object_get(environment, "memory"));
  const unsigned long long there = memory ? strtoull(memory, NULL, 10) : 0; /* 0 for "unknown" */
  return there == 0 || bytes < there;
}

bool setup_buffers(session *run, const json_t *environment) {
  size_t bytes = 0; /* all memory in use at the same time, with that of a fresh table */
  for (size_t i = 0; i < DTYPES; i++) {
    buffer *held = &run->buffers[i];
    if (!held->largest) continue;
    bytes += (has_mode(run, BENCH_FRESH) || has_mode(run, BENCH_MALLOC) ? 2 : 1) * held->bytes;
    if (fits_in_memory(held->bytes, environment) && fits_in_memory(bytes, environment))
      held->memory = posenc_alloc(held->bytes + BENCH_OFFSET_BYTES);
    if (!held->memory)
      return benchmark_tell("bench: %s: no memory for its %zu bytes", held->largest->shape->name, held->bytes);
    memset(held->memory, 0x55, held->bytes + BENCH_OFFSET_BYTES); /* a number in every dtype */
  }
  return !has_mode(run, BENCH_COLD) || evictor_open(&run->evictor, run->cache) || benchmark_tell_memory();
}

static double time_limit(timing *t) {
  const double start = clock_seconds();
  limit_rate(&t->limit, 1);
  if (timing_threads(t) > 1) limit_rate(&t->limit, timing_threads(t));
  const double seconds = clock_seconds() - start;
  timing_rest(t);
  return seconds;
}

/* Reports a benchmark that is left out. The first one of each reason is named at once; the others are counted at the
   end. */
static void leave_out(session *run, const subject *s, bench_mode mode, const char *name) {
  if (mode == BENCH_PLAN) {
    if (run->whole_plans++ == 0) benchmark_tell("bench: %s is left out: it would fill the whole table each time", name);
  } else {
    if (run->long_passes++ == 0) benchmark_tell("bench: %s is left out: a pass takes %.1f s", name, s->pass);
  }
}

static void tell_others(const session *run) {
  if (run->whole_plans > 1)
    benchmark_tell("bench: %zu more left out: each would fill its whole table each time", run->whole_plans - 1);
  if (run->long_passes > 1)
    benchmark_tell("bench: %zu more left out: a pass takes more than %g s", run->long_passes - 1,
                   run->request->longest);
}

/* Registers a benchmark, unless it would take too long. */
static bool register_benchmark(session *run, const subject *s, bench_mode mode) {
  char name[256];
  snprintf(name, sizeof name, "%s/%s/%s", bench_mode_name(mode), s->shape->name, s->kernel->name);
  if (timing_takes_long(s, mode, run->request->longest)) {
    leave_out(run, s, mode, name);
    return true;
  }
  benchmark *b = &run->benchmarks[run->benchmark_count++];
  b->run = run;
  const posenc_status status = timing_set_up(&b->timing, s, mode, run->cache, run->request->min_time);
  if (status != POSENC_OK) benchmark_give_up(s, status);
  if (run->request->foretell && b->timing.limit.bytes > 0 && !s->device) b->beside = 2 * time_limit(&b->timing);
  const double parts = mode == BENCH_ROW ? 1 : (double)s->shape->problem.rows / (double)b->timing.rows;
  return shim_register(name, benchmark_run, b, b->timing.iterations, run->request->repetitions, parts) ||
         benchmark_tell_memory();
}

static bool register_subject(session *run, subject *s) {
  s->buffer = run->buffers[s->shape->problem.dtype].memory;
  s->evictor = &run->evictor;
  benchmark_take_turn(s);
  if (s->device && !s->device->stay()) isolate_fail("the device tells no times");
  const posenc_status status = subject_prepare(s);
  if (status != POSENC_OK) benchmark_give_up(s, status);
  for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
    if (s->modes & 1u << mode && mode_suits(&s->shape->problem, mode) && mode_suits_kernel(s, mode) &&
        !register_benchmark(run, s, mode))
      return false;
  return true;
}

bool setup_benchmarks(session *run) {
  for (size_t i = 0; i < run->subject_count; i++) {
    subject *s = &run->subjects[i];
    progress_show("bench: calibrating", s->shape->name, (double)i, (double)run->subject_count, "tables");
    if (!register_subject(run, s)) return false;
  }
  tell_others(run);
  return true;
}

void setup_predict(const session *run) {
  const int repetitions = run->request->repetitions;
  double seconds = 0;
  for (size_t i = 0; i < run->benchmark_count; i++)
    seconds += repetitions * (run->benchmarks[i].timing.seconds + run->benchmarks[i].beside);
  benchmark_tell("bench: %zu timings, which take about %s", run->benchmark_count * (size_t)repetitions,
                 number_of_duration(seconds).text);
}
