/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/bench.h"

#include "bench/fill.h"
#include "bench/shim.h"
#include "common/clock.h"
#include "common/environment.h"
#include "common/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A pass that takes longer than this is timed a slice at a time. */
static const double slow_pass_seconds = 0.3;
static const double slice_seconds = 0.1;

typedef struct session session;

/* A kernel on a shape: one plan, two benchmarks. */
typedef struct subject {
  session *run;
  const shape *shape;
  const posenc_kernel *kernel;
  posenc_options options;
  posenc_plan *plan;
  int64_t slice;             /* rows of one iteration */
  int64_t row;               /* the first of the next iteration */
  int64_t executions, plans; /* iterations of one repetition */
  fill fill;
} subject;

struct session {
  const bench_request *request;
  subject *subjects;
  size_t count;
  unsigned char *buffer; /* holds any of the tables */
  const shape *largest;
  size_t bytes;       /* of the largest */
  size_t done, total; /* repetitions */
  size_t executed;    /* repetitions of "execute" among the done */
  bool failed;        /* and told */
};

/* One line on stderr. Returns false, for callers that pass failure on. */
static bool __attribute__((format(printf, 1, 2))) tell(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  progress_clear();
  fputs("posenc: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return false;
}

static bool tell_memory(void) {
  return tell("%s", posenc_status_message(POSENC_OUT_OF_MEMORY));
}

static bool tell_status(const subject *s, posenc_status status) {
  return tell("bench: %s on %s: %s", s->kernel->name, s->shape->name, posenc_status_message(status));
}

/* ---- the work that is timed -------------------------------------------------------------------- */

static posenc_status execute_rows(subject *s, int64_t row, int64_t rows) {
  const posenc_problem *problem = &s->shape->problem;
  const size_t row_bytes = (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
  return posenc_execute(s->plan, row, rows, s->run->buffer + (size_t)row * row_bytes);
}

static posenc_status execute_slice(subject *s) {
  if (s->row > s->shape->problem.rows - s->slice) s->row = 0; /* a shorter slice would be another work */
  const posenc_status status = execute_rows(s, s->row, s->slice);
  s->row += s->slice;
  return status;
}

/* Rows that any kernel does in a few milliseconds. */
static int64_t few_rows(const posenc_problem *problem) {
  const int64_t few = 65536 / problem->dim;
  return few < 1 ? 1 : few < problem->rows ? few : problem->rows;
}

static posenc_status make_plan(subject *s) {
  posenc_plan *plan;
  const posenc_status status = posenc_plan_create(&plan, &s->shape->problem, &s->options);
  posenc_plan_destroy(plan);
  return status;
}

/* ---- benchmarks -------------------------------------------------------------------------------- */

typedef posenc_status work(subject *s);

/* Seconds that the loop of one repetition takes, which are the benchmark's time, and its iterations. */
static double time_loop(shim_state *state, subject *s, work *once, int64_t *iterations) {
  posenc_status status = POSENC_OK;
  *iterations = 0;
  const double start = clock_seconds();
  for (; status == POSENC_OK && shim_keep_running(state); ++*iterations) status = once(s);
  const double seconds = clock_seconds() - start;
  shim_set_time(state, seconds);
  if (status != POSENC_OK) {
    shim_fail(state, posenc_status_message(status));
    if (!s->run->failed) s->run->failed = !tell_status(s, status);
  }
  return seconds;
}

static void count(shim_state *state, subject *s, const char *name, double value) {
  if (!shim_count(state, name, value) && !s->run->failed) s->run->failed = !tell_memory();
}

static void show(subject *s, const char *what) {
  char text[256];
  snprintf(text, sizeof text, "%s %s %s", what, s->shape->name, s->kernel->name);
  progress_show("bench", text, (double)s->run->done++, (double)s->run->total, "timings");
}

static void time_execute(shim_state *state, void *arg) {
  subject *s = arg;
  const posenc_problem *problem = &s->shape->problem;
  show(s, "execute");
  const double fill_before = fill_rate(&s->fill);
  execute_rows(s, 0, few_rows(problem)); /* wakes threads and warms the constants */
  int64_t iterations;
  const double seconds = time_loop(state, s, execute_slice, &iterations);
  const double fill_best = fmax(fill_before, fill_rate(&s->fill));

  const double elements = (double)iterations * (double)s->slice * (double)problem->dim;
  const double rate = elements * (double)posenc_dtype_bytes(problem->dtype) / seconds;
  count(state, s, "bytes_per_second", rate);
  count(state, s, "ns_per_element", 1e9 * seconds / elements);
  count(state, s, "fill_bytes_per_second", fill_best);
  count(state, s, "of_fill", rate / fill_best);
  count(state, s, "rows", (double)problem->rows);
  count(state, s, "dim", (double)problem->dim);
  count(state, s, "rows_timed", (double)s->slice);
  count(state, s, "turn", (double)s->run->done);
  s->run->executed++;
}

static void time_plan(shim_state *state, void *arg) {
  subject *s = arg;
  show(s, "plan");
  int64_t iterations;
  time_loop(state, s, make_plan, &iterations);
  count(state, s, "rows", (double)s->shape->problem.rows);
  count(state, s, "dim", (double)s->shape->problem.dim);
  count(state, s, "turn", (double)s->run->done);
}

/* ---- how long work takes, roughly -------------------------------------------------------------- */

/* Seconds of one call: the best of some, since other work on the machine only ever adds. */
static posenc_status time_best(subject *s, work *once, double *best) {
  *best = INFINITY;
  for (int i = 0; i < 3; i++) {
    const double start = clock_seconds();
    const posenc_status status = once(s);
    if (status != POSENC_OK) return status;
    *best = fmin(*best, clock_seconds() - start);
  }
  return POSENC_OK;
}

/* So many rows that they should take as long as a slice, but not many more than are known to take a certain time. */
static int64_t more_rows(int64_t rows, double seconds, int64_t most) {
  const double wanted = (double)rows * fmin(fmax(1.2 * slice_seconds / seconds, 2), 64);
  return wanted < (double)most ? (int64_t)wanted : most;
}

/* Seconds of a pass over all rows: measured, or told from as many rows as a slice would be. Fewer tell nothing: threads
   that wait for a busy core take milliseconds, however few the rows are. */
static posenc_status predict_pass(subject *s, double *seconds) {
  const int64_t rows = s->shape->problem.rows;
  for (s->slice = few_rows(&s->shape->problem);; s->slice = more_rows(s->slice, *seconds, rows)) {
    const posenc_status status = time_best(s, execute_slice, seconds);
    if (status != POSENC_OK) return status;
    if (*seconds >= slice_seconds || s->slice == rows) break;
  }
  *seconds *= (double)rows / (double)s->slice;
  return POSENC_OK;
}

/* Iterations that take about the time asked for. */
static int64_t iterations_for(const subject *s, double seconds) {
  return (int64_t)fmin(fmax(ceil(s->run->request->min_time / seconds), 1), 1e9);
}

/* Chooses the slice and the iterations of both benchmarks. */
static bool calibrate(subject *s) {
  double pass, plan;
  posenc_status status = predict_pass(s, &pass);
  if (status == POSENC_OK) status = time_best(s, make_plan, &plan);
  if (status != POSENC_OK) return tell_status(s, status);
  const int64_t rows = s->shape->problem.rows;
  const double slices = pass > slow_pass_seconds ? fmin(ceil(pass / slice_seconds), (double)rows) : 1;
  s->slice = rows / (int64_t)slices;
  s->row = 0;
  s->executions = iterations_for(s, pass / slices);
  s->plans = iterations_for(s, plan);
  return true;
}

/* ---- setting up -------------------------------------------------------------------------------- */

static size_t last_cache_bytes(void) {
  long bytes = 0;
  for (int level = 3; bytes == 0 && level > 0; level--) bytes = environment_cache_bytes(level);
  return (size_t)bytes;
}

/* Collects the kernels that do a shape. False on an error, told. */
static bool choose_subjects(session *run) {
  const bench_request *request = run->request;
  const size_t cache = last_cache_bytes();
  run->subjects = calloc(request->kernel_count * request->shape_count + 1, sizeof *run->subjects);
  if (!run->subjects) return tell_memory();
  for (size_t i = 0; i < request->shape_count; i++) {
    const shape *table = &request->shapes[i];
    for (size_t k = 0; table->problem.rows > 0 && k < request->kernel_count; k++) {
      subject *s = &run->subjects[run->count];
      *s = (subject){.run = run, .shape = table, .kernel = request->kernels[k], .options = posenc_default_options()};
      s->options.kernel = s->kernel;
      s->options.threads = request->threads;
      s->options.isa = request->isa;
      if (posenc_kernel_refusal(s->kernel, &table->problem, &s->options)) continue;
      const posenc_status status = posenc_table_bytes(&table->problem, &s->fill.bytes);
      if (status != POSENC_OK) return tell_status(s, status);
      s->fill.cached = s->fill.bytes <= cache;
      if (s->fill.bytes > run->bytes) {
        run->bytes = s->fill.bytes;
        run->largest = table;
      }
      run->count++;
    }
  }
  run->total = run->count * 2 * (size_t)request->repetitions;
  return true;
}

/* Linux grants memory that it does not have, and kills whoever touches it. */
static bool fits_in_memory(size_t bytes, const json_t *environment) {
  const char *memory = json_string_value(json_object_get(environment, "memory"));
  const unsigned long long limit = memory ? strtoull(memory, NULL, 10) : 0; /* "unknown" reads as 0 */
  return limit == 0 || bytes < limit;
}

/* The buffer of all benchmarks, in huge pages where the system has some, each touched. */
static bool make_buffer(session *run, const json_t *environment) {
  const size_t huge = (size_t)1 << 21;
  const size_t bytes = (run->bytes + huge - 1) & ~(huge - 1);
  run->buffer = fits_in_memory(bytes, environment) ? aligned_alloc(huge, bytes) : NULL;
  if (!run->buffer) return tell("bench: %s: no memory for its %zu bytes", run->largest->name, run->bytes);
#ifdef MADV_HUGEPAGE
  madvise(run->buffer, bytes, MADV_HUGEPAGE); /* a wish: without it the table is only slower */
#endif
  memset(run->buffer, 0xff, bytes);
  return true;
}

static bool register_subject(subject *s) {
  const posenc_status status = posenc_plan_create(&s->plan, &s->shape->problem, &s->options);
  if (status != POSENC_OK) return tell_status(s, status);
  s->fill.buffer = s->run->buffer;
  if (!calibrate(s)) return false;

  const int repetitions = s->run->request->repetitions;
  char execute[256], plan[256];
  snprintf(execute, sizeof execute, "execute/%s/%s", s->shape->name, s->kernel->name);
  snprintf(plan, sizeof plan, "plan/%s/%s", s->shape->name, s->kernel->name);
  const double slices = (double)s->shape->problem.rows / (double)s->slice;
  return (shim_register(execute, time_execute, s, s->executions, repetitions, slices) &&
          shim_register(plan, time_plan, s, s->plans, repetitions, 1)) ||
         tell_memory();
}

static bool register_all(session *run) {
  for (size_t i = 0; i < run->count; i++) {
    progress_show("bench: calibrating", run->subjects[i].shape->name, (double)i, (double)run->count, "tables");
    if (!register_subject(&run->subjects[i])) return false;
  }
  return true;
}

/* Flags of Google Benchmark that would go against what bench itself does. */
static bool flags_allowed(char *const *flags) {
  static const char *const ours[] = {"--benchmark_out",
                                     "--benchmark_format",
                                     "--benchmark_list_tests",
                                     "--benchmark_repetitions",
                                     "--benchmark_min_time",
                                     "--benchmark_enable_random_interleaving",
                                     "--benchmark_report_aggregates_only",
                                     "--benchmark_display_aggregates_only",
                                     "--benchmark_dry_run"};
  for (; flags && *flags; flags++) {
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
      if (strncmp(*flags, ours[i], strlen(ours[i])) == 0)
        return tell("%s: bench sets this itself; see --json, --repetitions and --min-time", *flags);
    }
  }
  return true;
}

/* ---- running ----------------------------------------------------------------------------------- */

/* Adds our facts to those of Google Benchmark, whose "date" is local time of the same moment. */
static bool add_context(json_t *record, const bench_request *request, json_t *environment) {
  json_t *context = json_object_get(record, "context");
  bool ok = json_object_del(environment, "date") == 0 && json_object_update(context, environment) == 0 &&
            json_object_set_new(context, "posenc_schema", json_string("posenc-bench-1")) == 0;
  for (size_t i = 0; i < request->kernel_count; i++) {
    char name[128], abi[16];
    snprintf(name, sizeof name, "kernel_abi.%s", request->kernels[i]->name);
    snprintf(abi, sizeof abi, "%u", (unsigned)request->kernels[i]->abi);
    ok = ok && json_object_set_new(context, name, json_string(abi)) == 0;
  }
  return ok || tell_memory();
}

/* What Google Benchmark makes of all that is registered; null on an error, told. */
static json_t *measure(const session *run) {
  char message[512];
  size_t length;
  char *text = shim_run(&length, message, sizeof message);
  progress_clear();
  json_t *record = NULL;
  json_error_t error;
  if (!text)
    tell("--benchmark_filter: %s", message);
  else if (!run->failed && !(record = json_loadb(text, length, 0, &error)))
    tell("bench: the JSON of Google Benchmark: %s", error.text);
  free(text);
  return record;
}

static int tell_nothing(const char *why) {
  tell("bench: nothing to time: %s", why);
  return 1;
}

/* As bench_run. */
static int make_record(session *run, json_t *environment, json_t **record) {
  if (!make_buffer(run, environment) || !register_all(run)) return 2;
  *record = measure(run);
  if (!*record) return 2;
  const int status = run->executed == 0 ? tell_nothing("the flags leave no execution of a kernel")
                     : add_context(*record, run->request, environment) ? 0
                                                                       : 2;
  if (status == 0) return 0;
  json_decref(*record);
  *record = NULL;
  return status;
}

static void clean_up(session *run) {
  shim_clear();
  for (size_t i = 0; i < run->count; i++) posenc_plan_destroy(run->subjects[i].plan);
  free(run->subjects);
  free(run->buffer);
}

int bench_run(const bench_request *request, json_t **record) {
  session run = {.request = request};
  *record = NULL;
  if (!flags_allowed(request->extra)) return 2;
  char message[512];
  int status = 2;
  json_t *environment = environment_json();
  if (!environment)
    tell_memory();
  else if (!shim_initialize(request->extra, message, sizeof message))
    tell("%s", message);
  else if (choose_subjects(&run))
    status = run.count == 0 ? tell_nothing("no rows to write") : make_record(&run, environment, record);
  clean_up(&run);
  json_decref(environment);
  return status;
}
