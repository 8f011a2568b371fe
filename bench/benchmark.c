/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/benchmark.h"

#include "common/clock.h"
#include "common/progress.h"
#include "common/work.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void benchmark_take_turn(const subject *s) {
  isolate_turn(s->kernel);
}

bool benchmark_tell(const char *format, ...) {
  char line[1024] = "posenc: ";
  const size_t begin = strlen(line);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + begin, sizeof line - begin, format, arguments);
  va_end(arguments);
  if (isolate_inside()) {
    isolate_tell(line);
  } else {
    progress_clear();
    fprintf(stderr, "%s\n", line);
  }
  return false;
}

bool benchmark_tell_memory(void) {
  return benchmark_tell("%s", posenc_status_message(POSENC_OUT_OF_MEMORY));
}

void benchmark_give_up(const subject *s, posenc_status status) {
  char why[sizeof s->shape->name + 100];
  snprintf(why, sizeof why, "%s on %s", posenc_status_message(status), s->shape->name);
  isolate_fail(why);
}

/*
 * Returns the seconds of the work of one repetition, which are the benchmark's time, and its iterations. Without a
 * preparation, they are timed from the first iteration to the end of the last, so that many short ones cost two
 * readings of the clock. If iterations are prepared, only the work is timed, without Google Benchmark's loop, whose
 * code the preparation evicts. It also evicts the clock's code, so the clock is read twice before the work, and the
 * second reading counts.
 */
static double time_loop(shim_state *state, benchmark *b, int64_t *iterations) {
  timing *t = &b->timing;
  const bool prepared = timing_has_preparation(t);
  posenc_status status = POSENC_OK;
  double seconds = 0;
  *iterations = 0;
  if (t->subject->device) t->subject->device->busy(); /* of what was before */
  const double start = clock_seconds();
  for (; status == POSENC_OK && shim_keep_running(state); ++*iterations) {
    status = timing_prepare(t);
    if (prepared) clock_seconds();
    const double begin = prepared ? clock_seconds() : 0;
    if (status == POSENC_OK) status = timing_work(t);
    if (prepared) seconds += clock_seconds() - begin;
  }
  if (!prepared) seconds = clock_seconds() - start;
  if (t->subject->device && t->mode == BENCH_HOT) seconds = t->subject->device->busy();
  shim_set_time(state, seconds);
  if (status != POSENC_OK) benchmark_give_up(t->subject, status);
  return seconds;
}

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
  if (!enough && !b->run->failed) b->run->failed = !benchmark_tell_memory();
}

static void show(const benchmark *b) {
  const subject *s = b->timing.subject;
  const size_t total = b->run->benchmark_count * (size_t)b->run->request->repetitions;
  char text[256];
  snprintf(text, sizeof text, "%s %s %s", bench_mode_name(b->timing.mode), s->shape->name, s->kernel->name);
  progress_show("bench", text, (double)b->run->done, (double)total, "timings");
}

/* The limits of a repetition: with one thread, and with as many as the kernel has; NaN if it has one. */
typedef struct limits {
  double serial, threaded;
} limits;

/* Measures the limits again, and returns the larger of each and the one before. */
static limits measure_limits(timing *t, limits before) {
  const int threads = timing_threads(t);
  const bench_device *device = t->subject->device;
  if (device) return (limits){fmax(before.serial, device->rate(t->limit.scales, t->limit.bytes)), NAN};
  return (limits){fmax(before.serial, limit_rate(&t->limit, 1)),
                  threads > 1 ? fmax(before.threaded, limit_rate(&t->limit, threads)) : NAN};
}

static void count_rates(counters *c, const timing *t, double seconds, int64_t iterations, limits best) {
  const posenc_problem *problem = &t->subject->shape->problem;
  const double rows = (double)iterations * (double)t->rows * (double)t->subject->batch;
  const double elements = rows * (double)row_elements_of(problem);
  const double passes = op_is_applied(problem->op) ? 2 : 1; /* x is also read */
  const double rate = passes * elements * (double)posenc_dtype_bytes(problem->dtype) / seconds;
  c->bytes_per_second = rate;
  c->ns_per_element = 1e9 * seconds / elements;
  c->limit_bytes_per_second = best.serial;
  c->threads_limit_bytes_per_second = best.threaded;
  c->of_limit = timing_threads(t) > 1 && isnan(best.threaded) ? NAN : rate / fmax(best.serial, best.threaded);
  c->rows_timed = (double)t->rows;
  if (t->mode == BENCH_FIRST) c->plan_share = t->plan_seconds / seconds;
}

void benchmark_run(shim_state *state, void *arg) {
  benchmark *b = arg;
  timing *t = &b->timing;
  const bool moves = t->limit.bytes > 0;
  benchmark_take_turn(t->subject);
  show(b);
  limits best = {NAN, NAN};
  if (moves) best = measure_limits(t, best);
  timing_wake(t);
  t->plan_seconds = 0;
  int64_t iterations;
  const double seconds = time_loop(state, b, &iterations);
  counters c = no_counters;
  if (moves) count_rates(&c, t, seconds, iterations, measure_limits(t, best));
  timing_rest(t);
  c.rows = (double)t->subject->shape->problem.rows;
  c.dim = (double)t->subject->shape->problem.dim;
  c.heads = (double)t->subject->shape->problem.heads;
  c.batch = (double)t->subject->batch;
  c.turn = (double)++b->run->done;
  write_counters(state, b, &c);
}
