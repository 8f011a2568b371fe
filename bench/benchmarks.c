/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/bench.h"
#include "bench/shim.h"
#include "bench/timed-subject.h"
#include "bench/watch.h"
#include "common/contract.h"
#include "common/environment.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/terminal.h"
#include "common/work.h"
#include "records/make.h"
#include "records/timings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- a benchmark: one kernel on one shape in one mode ------------------------------------------------------------ */

typedef struct session session;

typedef struct benchmark {
  session *run;
  size_t kernel, shape; /* numbers of the request */
  bench_mode mode;
  mode_facts facts;
  double plan_seconds; /* of making a plan, and its memory */
  size_t plan_bytes;
} benchmark;

struct session {
  const run_request *request;
  watch *watch;
  benchmark *benchmarks; /* each kernel on each shape in each mode, unless it takes too long */
  size_t benchmark_count;
  run_works own;                   /* the shard's shapes */
  bool *taken;                     /* of each item: whether it is timed */
  size_t subject_count;            /* items that are taken */
  size_t done;                     /* repetitions so far */
  size_t long_passes, whole_plans; /* numbers of benchmarks that are left out */
};

/* The counters of a repetition, by name; NaN if it has none. */
typedef struct counters {
#define COUNTER(in_report, name, unit, meaning) double name;
#include "records/counters.def"
} counters;

static const counters no_counters = {
#define COUNTER(in_report, name, unit, meaning) .name = NAN,
#include "records/counters.def"
};

static void write_counters(shim_state *state, const counters *c) {
#define COUNTER(in_report, name, unit, meaning)                                                                        \
  if (!shim_count(state, #name, c->name)) memory_end();
#include "records/counters.def"
}

static const posenc_kernel *kernel_of(const benchmark *b) {
  return b->run->request->kernels[b->kernel];
}

static const posenc_problem *problem_of(const benchmark *b) {
  return &b->run->request->shapes[b->shape].problem;
}

static int64_t batch_of(const benchmark *b) {
  return op_is_applied(problem_of(b)->op) ? b->run->request->timing.batch : 1;
}

static void show(const benchmark *b) {
  const size_t total = b->run->benchmark_count * (size_t)b->run->request->timing.repetitions;
  char text[256];
  snprintf(text, sizeof text, "%s %s %s", bench_mode_name(b->mode), b->run->request->shapes[b->shape].name,
           kernel_of(b)->name);
  progress_show("bench", text, (double)b->run->done, (double)total, "timings");
}

static void count_rates(counters *c, const benchmark *b, const slot_times *times) {
  const posenc_problem *problem = problem_of(b);
  const reply *of = &times->of;
  const double rows = (double)b->facts.iterations * (double)b->facts.rows * (double)batch_of(b);
  const double elements = rows * (double)row_elements_of(problem);
  const double passes = op_is_applied(problem->op) ? 2 : 1; /* x is also read */
  const double rate = passes * elements * (double)posenc_dtype_bytes(problem->dtype) / of->seconds;
  const beside_limits *best = &times->best;
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

/* Runs one repetition, as Google Benchmark calls it. argument: the benchmark. */
static void benchmark_run(shim_state *state, void *arg) {
  benchmark *b = arg;
  watch *w = b->run->watch;
  slot_times times = {.of = {.seconds = 1.0}};
  counters c = no_counters;
  show(b);
  const bool done = watch_slot(w, b->kernel, b->shape, b->mode, &times);
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
  write_counters(state, &c);
}

/* ---- the benchmarks: each kernel on each shape that it can make, unless that takes too long ---------------------- */

/* All functions that return bool return false after an error, which has been printed. */

static size_t last_cache_bytes(void) {
  long bytes = 0;
  for (int level = 3; bytes == 0 && level > 0; level--) bytes = environment_cache_bytes(level);
  return (size_t)bytes;
}

static void tell_unsuited(const run_request *request, size_t i) {
  const shape *table = &request->shapes[i];
  unsigned modes = 0;
  for (size_t n = 0; n < request->item_count; n++)
    if (request->items[n].shape == i) modes |= request->items[n].modes;
  for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
    if (modes & 1u << mode && !mode_suits(&table->problem, mode))
      bench_tell("%s/%s is left out: add and rope work on what is there before", bench_mode_name(mode), table->name);
}

/* Chooses this shard's shapes. The cost of a shape is about that of one timing, plus a nanosecond per element. */
static void choose_shapes(session *run) {
  const run_request *request = run->request;
  for (size_t i = 0; i < request->shape_count; i++) {
    const posenc_problem *problem = &request->shapes[i].problem;
    const double size = request->timing.min_time + 1e-9 * (double)problem->rows * (double)row_elements_of(problem);
    run_works_add(&run->own, &(run_work){.kind = RUN_SHAPE, .number = i, .size = size});
  }
  run_works_deal(&run->own, request->only);
}

static bool is_own(const session *run, size_t item) {
  bool is = false;
  for (size_t i = 0; i < run->own.count && !is; i++) is = run_work_is_of(&run->own.all[i], run->request, item);
  return is;
}

/* Whether the memory exists. Linux grants more memory than there is, and kills a process that uses it. */
static bool fits_in_memory(double bytes, const record_facts *environment) {
  const double there = strtod(record_fact_text(environment, "memory"), NULL); /* 0 for "unknown" */
  return there == 0 || bytes < there;
}

/* Whether a kernel can have the memory of a shape: once, twice in modes with memory of their own, and once for exact
   values, at most. */
static bool has_memory(const session *run, const run_item *one, const reply *a, const record_facts *environment) {
  const unsigned own = 1u << BENCH_FRESH | 1u << BENCH_MALLOC;
  const double bytes = (double)a->bytes * (one->modes & own ? 3.0 : 2.0);
  return fits_in_memory(bytes, environment) ||
         bench_tell("%s: no memory for its %zu bytes", run->request->shapes[one->shape].name, a->bytes);
}

/* Prepares a kernel for the shard's items that it takes. If it takes none of all shapes, tells why. */
static bool open_kernel(session *run, size_t k, const record_facts *environment) {
  const run_request *request = run->request;
  const run_item *lost = run_without_reply(request, k, true);
  const char *why = run_refusal(request, k);
  if (lost) watch_lose(run->watch, k, lost->reply.words);
  if (why) bench_tell("%s is left out: %s", request->kernels[k]->name, why);
  for (size_t n = 0; n < request->item_count; n++) {
    const run_item *one = &request->items[n];
    const shape *of = &request->shapes[one->shape];
    reply a;
    if (one->kernel != k || !run_takes(one) || of->problem.rows == 0 || !is_own(run, n)) continue;
    if (!watch_open(run->watch, k, one->shape, &a)) return true; /* it is lost */
    if (*a.words) return bench_tell("%s on %s: %s", request->kernels[k]->name, of->name, a.words);
    if (!has_memory(run, one, &a, environment)) return false;
    run->taken[n] = true;
    run->subject_count++;
  }
  return true;
}

/* Asks the kernels which shapes they take, and starts their workers. environment: to compare the memory that they
   need with that of the machine. */
static bool setup_subjects(session *run, const record_facts *environment) {
  const run_request *request = run->request;
  run->taken = memory_take(request->item_count, sizeof *run->taken);
  run->benchmarks = memory_take(request->item_count * BENCH_MODES, sizeof *run->benchmarks);
  choose_shapes(run);
  for (size_t i = 0; i < run->own.count; i++) tell_unsuited(request, run->own.all[i].number);
  run->watch = watch_start(request, last_cache_bytes());
  if (!run->watch) return false;
  for (size_t k = 0; k < request->kernel_count; k++)
    if (!open_kernel(run, k, environment)) return false;
  return true;
}

/* Reports a benchmark that is left out. The first one of each reason is named at once; the others are counted at the
   end. */
static void leave_out(session *run, bench_mode mode, const char *name, double pass) {
  if (mode == BENCH_PLAN) {
    if (run->whole_plans++ == 0) bench_tell("%s is left out: it would fill the whole table each time", name);
  } else {
    if (run->long_passes++ == 0) bench_tell("%s is left out: a pass takes %.1f s", name, pass);
  }
}

static void tell_others(const session *run) {
  if (run->whole_plans > 1)
    bench_tell("%zu more left out: each would fill its whole table each time", run->whole_plans - 1);
  if (run->long_passes > 1)
    bench_tell("%zu more left out: a pass takes more than %g s", run->long_passes - 1, run->request->timing.longest);
}

/* Registers a benchmark, unless it would take too long. */
static void register_benchmark(session *run, size_t kernel, size_t i, bench_mode mode, const reply *a) {
  const mode_facts *facts = &a->modes[mode];
  const shape *of = &run->request->shapes[i];
  char name[256];
  if (!facts->takes_long && facts->iterations == 0) return; /* the mode is not wanted, or has no meaning */
  snprintf(name, sizeof name, "%s/%s/%s", bench_mode_name(mode), of->name, run->request->kernels[kernel]->name);
  if (facts->takes_long) {
    leave_out(run, mode, name, a->pass);
    return;
  }
  benchmark *b = &run->benchmarks[run->benchmark_count++];
  *b = (benchmark){run, kernel, i, mode, *facts, a->plan, a->plan_bytes};
  const double parts = mode == BENCH_ROW ? 1 : (double)of->problem.rows / (double)facts->rows;
  if (!shim_register(name, benchmark_run, b, facts->iterations, run->request->timing.repetitions, parts)) memory_end();
}

/* Calibrates and registers all benchmarks. */
static void setup_benchmarks(session *run) {
  const run_request *request = run->request;
  size_t prepared = 0;
  for (size_t n = 0; n < request->item_count; n++) {
    const run_item *one = &request->items[n];
    reply a;
    if (!run->taken[n]) continue;
    progress_show("calibrating", request->shapes[one->shape].name, (double)prepared++, (double)run->subject_count,
                  "tables");
    if (!watch_prepare(run->watch, one->kernel, one->shape, &a)) continue;
    for (bench_mode mode = 0; mode < BENCH_MODES; mode++) register_benchmark(run, one->kernel, one->shape, mode, &a);
  }
  tell_others(run);
}

/* Prints how long the timings will take. */
static void setup_predict(const session *run) {
  const int repetitions = run->request->timing.repetitions;
  double seconds = 0;
  for (size_t i = 0; i < run->benchmark_count; i++)
    seconds += repetitions * (run->benchmarks[i].facts.seconds + run->benchmarks[i].facts.beside);
  bench_tell("%zu timings, which take about %s", run->benchmark_count * (size_t)repetitions,
             number_of_duration(seconds).text);
}

/* Whether no flag of Google Benchmark is given that bench sets itself. */
static bool flags_allowed(char *const *flags, shard only) {
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
        return bench_tell("%s: bench sets this itself; see --format, --repetitions and --min-time", *flags);
    }
    if (shard_is_part(only) && strncmp(*flags, "--benchmark_filter", strlen("--benchmark_filter")) == 0)
      return bench_tell("%s: cannot be combined with --shard; see --kernel and --mode", *flags);
  }
  return true;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* Returns the library's choices for the shapes that it makes plans of, in `in`; null after an error, which has been
   printed. */
static const record_library_choice *choices_of(const run_request *request, size_t *count, record_memory *in) {
  run_choice *all = run_choices(request);
  record_library_choice *choices = record_allocate(in, request->shape_count, sizeof *choices);
  *count = 0;
  for (size_t i = 0; all && i < request->shape_count; i++)
    if (all[i].serial && all[i].threaded)
      choices[(*count)++] = (record_library_choice){
          .shape = request->shapes[i].name, .kernel = all[i].serial->name, .all_threads = all[i].threaded->name};
  if (!all) bench_tell("the process in which the library chooses kernels did not survive");
  free(all);
  return all ? choices : NULL;
}

/* Returns Google Benchmark's facts, none if nothing was timed, and the others. They are in `in`. */
static record_facts facts_of(const session *run, const record_facts *of_google, const record_facts *environment,
                             record_memory *in) {
  record_facts facts = *of_google;
  const record_facts after = environment_record(in);
  RECORD_EACH(fact, environment, list) /* Google Benchmark's date is the local time of the same moment */
    if (strcmp(fact->key, "date") != 0) record_set_fact(&facts, fact, in);
  record_set_text(&facts, "load_after", record_fact_text(&after, "load"), in);
  for (size_t i = 0; i < run->request->kernel_count; i++) {
    char name[128], abi[16];
    if (watch_is_lost(run->watch, i)) continue;
    snprintf(name, sizeof name, "kernel_abi.%s", run->request->kernels[i]->name);
    snprintf(abi, sizeof abi, "%u", (unsigned)run->request->kernels[i]->abi);
    record_set_text(&facts, name, abi, in);
  }
  watch_tell_lost(run->watch, &facts, in);
  return facts;
}

/* Returns Google Benchmark's record of all benchmarks; null after an error, which has been printed. */
static const record_timing *measure(void) {
  char message[512];
  size_t length;
  char *text = shim_run(&length, message, sizeof message);
  progress_clear();
  json_t *json = NULL;
  json_error_t error;
  if (!text) {
    bench_tell("--benchmark_filter: %s", message);
  } else {
    FILE *stream = allocated(fmemopen(text, length, "r"));
    json = record_load(stream, 0, &error);
    fclose(stream);
    if (!json) bench_tell("the JSON of Google Benchmark: %s", error.text);
  }
  free(text);
  return json ? record_take_timing(json) : NULL;
}

static int tell_nothing(const char *why) {
  bench_tell("nothing to time: %s", why);
  return 1;
}

static bool is_of_lost(const session *run, const char *name) {
  for (size_t k = 0; k < run->request->kernel_count; k++)
    if (watch_is_lost(run->watch, k) && is_benchmark_of(name, run->request->kernels[k]->name)) return true;
  return false;
}

/* Returns the benchmarks of kernels that are not lost, to be freed. */
static record_benchmark *kept_of(const session *run, const record_timing *timed, size_t *count) {
  record_benchmark *kept = memory_take(timed->benchmarks_count, sizeof *kept);
  *count = 0;
  RECORD_EACH(one, timed, benchmarks)
    if (!is_of_lost(run, one->name)) kept[(*count)++] = *one;
  return kept;
}

/* Reads the processors' time of the machine; that of the workers is not of others. */
static bool read_others(const session *run, others_mark *mark) {
  if (!others_read(mark)) return false;
  mark->own += watch_busy(run->watch);
  return true;
}

/* Returns the record of what was timed, without kernels that are lost; null after an error, which has been printed.
   others: the share of the machine that other processes have used, or NaN. */
static const record_timing *record_of(const session *run, const record_timing *timed, double others,
                                      const record_facts *environment) {
  record_memory memory = {NULL};
  size_t choices_count;
  const record_library_choice *choices = choices_of(run->request, &choices_count, &memory);
  record_timing made = {.context = {.facts = facts_of(run, &timed->context.facts, environment, &memory),
                                    .others = others,
                                    .has_others = !isnan(others),
                                    .posenc_schema = "posenc-bench-2",
                                    .choices = choices,
                                    .choices_count = choices_count}};
  record_benchmark *kept = kept_of(run, timed, &made.benchmarks_count);
  record_timed_check *checks = watch_checks(run->watch, &made.context.checks_count);
  made.benchmarks = kept;
  made.context.checks = checks;
  made.context.shard = shard_record(run->request, &run->own, &memory);
  made.context.shard.benchmarks = (int64_t)made.benchmarks_count;
  const record_timing *record = choices ? record_keep_timing(&made) : NULL;
  free(checks);
  free(kept);
  record_release(&memory);
  return record;
}

/* Makes the record, with bench_run's statuses. */
static int make_record(session *run, const record_facts *environment, const record_timing **record) {
  static const record_timing nothing;
  const bool is_shard = shard_is_part(run->request->only);
  /* A record without benchmarks tells that a shard has none, or which kernels were left out. */
  if (run->subject_count == 0 && !is_shard && !watch_lost_any(run->watch)) return tell_nothing("no rows to write");
  setup_benchmarks(run);
  if (run->benchmark_count == 0 && !is_shard && !watch_lost_any(run->watch))
    return tell_nothing("nothing is left in these modes");
  if (run->request->timing.foretell) setup_predict(run);
  others_mark before, after;
  const bool is_known = read_others(run, &before);
  const record_timing *timed = run->benchmark_count ? measure() : &nothing;
  if (!timed) return 2;
  const double others = is_known && read_others(run, &after) ? others_share(&before, &after) : NAN;
  watch_conclude(run->watch);
  watch_close(run->watch);
  *record = record_of(run, timed, others, environment);
  if (timed != &nothing) record_free(timed);
  if (!*record) return 2;
  return watch_lost_any(run->watch) ? 1 : 0;
}

static void clean_up(session *run) {
  shim_clear();
  watch_end(run->watch);
  free(run->benchmarks);
  free(run->taken);
  free(run->own.all);
}

/* Sets how many threads OpenMP has in this process, and returns the number before. The references use it; but a process
   that has started threads of OpenMP cannot fork workers whose kernels use it too, and a run may not be the last. */
static int set_openmp_threads(int threads) {
  int before = 1;
#ifdef _OPENMP
  before = omp_get_max_threads();
  omp_set_num_threads(threads);
#else
  (void)threads;
#endif
  return before;
}

int bench_run(run_request *request, const record_timing **record) {
  session run = {.request = request};
  char message[512];
  int status = 2;
  *record = NULL;
  if (!flags_allowed(request->timing.flags, request->only)) return status;
  record_memory memory = {NULL};
  const record_facts environment = environment_record(&memory);
  if (!run_ask(request, false))
    bench_tell("no process could be created for the kernels");
  else if (!shim_initialize(request->timing.flags, message, sizeof message))
    bench_tell("%s", message);
  else if (setup_subjects(&run, &environment)) {
    const int threads = set_openmp_threads(1);
    status = make_record(&run, &environment, record);
    set_openmp_threads(threads);
  }
  progress_clear();
  clean_up(&run);
  record_release(&memory);
  return status;
}
