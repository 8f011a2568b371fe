/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/benchmark.h"

#include "common/progress.h"

#include <math.h>
#include <stdio.h>

/* The counters of a repetition, by name; NaN if it has none. */
typedef struct counters {
#define COUNTER(in_report, name, unit, meaning) double name;
#include "common/counters.def"
} counters;

static const counters no_counters = {
#define COUNTER(in_report, name, unit, meaning) .name = NAN,
#include "common/counters.def"
};

static void write_counters(shim_state *state, benchmark *b, const counters *c) {
  bool enough = true;
#define COUNTER(in_report, name, unit, meaning) enough = shim_count(state, #name, c->name) && enough;
#include "common/counters.def"
  if (!enough && !b->run->failed) b->run->failed = !bench_tell_memory();
}

static const posenc_kernel *kernel_of(const benchmark *b) {
  return b->run->request->kernels[b->kernel];
}

static const posenc_problem *problem_of(const benchmark *b) {
  return &b->run->request->shapes[b->shape].problem;
}

static int64_t batch_of(const benchmark *b) {
  return op_is_applied(problem_of(b)->op) ? b->run->request->batch : 1;
}

static void show(const benchmark *b) {
  const size_t total = b->run->benchmark_count * (size_t)b->run->request->repetitions;
  char text[256];
  snprintf(text, sizeof text, "%s %s %s", bench_mode_name(b->mode), b->run->request->shapes[b->shape].name,
           kernel_of(b)->name);
  progress_show("bench", text, (double)b->run->done, (double)total, "timings");
}

static void count_rates(counters *c, const benchmark *b, const turn_times *times) {
  const posenc_problem *problem = problem_of(b);
  const answer *of = &times->of;
  const double rows = (double)b->facts.iterations * (double)b->facts.rows * (double)batch_of(b);
  const double elements = rows * (double)row_elements_of(problem);
  const double passes = op_is_applied(problem->op) ? 2 : 1; /* x is also read */
  const double rate = passes * elements * (double)posenc_dtype_bytes(problem->dtype) / of->seconds;
  const limits *best = &times->best;
  c->bytes_per_second = rate;
  c->ns_per_element = 1e9 * of->seconds / elements;
  c->limit_bytes_per_second = best->serial;
  c->threads_limit_bytes_per_second = best->threaded;
  c->of_limit = rate / fmax(best->serial, best->threaded); /* fmax leaves out NaN */
  c->rows_timed = (double)b->facts.rows;
  c->plan_bytes = (double)b->plan_bytes;
  c->plan_once_ns = 1e9 * b->plan_seconds;
  if (b->mode == BENCH_FIRST) c->plan_share = of->total / of->seconds;
}

void benchmark_run(shim_state *state, void *arg) {
  benchmark *b = arg;
  watch *w = b->run->watch;
  turn_times times = {.of = {.seconds = 1.0}};
  counters c = no_counters;
  show(b);
  const bool done = watch_turn(w, b->kernel, b->shape, b->mode, &times);
  while (shim_keep_running(state)) continue; /* the worker has made the calls */
  shim_set_times(state, times.of.seconds, times.of.busy);
  c.turn = (double)++b->run->done;
  if (done) {
    if (b->facts.limit_bytes > 0) count_rates(&c, b, &times);
    watch_share(w, b->kernel, b->shape, b->mode, c.of_limit);
    c.rows = (double)problem_of(b)->rows;
    c.dim = (double)problem_of(b)->dim;
    c.heads = (double)problem_of(b)->heads;
    c.batch = (double)batch_of(b);
  }
  write_counters(state, b, &c);
}
