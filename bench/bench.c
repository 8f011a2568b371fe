/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/bench.h"

#include "bench/shim.h"
#include "bench/subject.h"
#include "common/clock.h"
#include "common/environment.h"
#include "common/isolate.h"
#include "common/number.h"
#include "common/progress.h"
#include "common/work.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What subjects of one dtype work on: it holds any of them. One kernel leaves there what is a number to the next, and to the limit: with
   another dtype it might be none, or a subnormal one, which is slow. */
typedef struct buffer {
  unsigned char *memory;
  const subject *largest;
  size_t bytes; /* of the largest */
} buffer;

enum { DTYPES = POSENC_BF16 + 1 };

typedef struct session session;

typedef struct benchmark {
  session *run;
  timing timing;
  double beside; /* seconds that the two limits of a repetition take; 0 where nobody wants to know */
} benchmark;

struct session {
  const bench_request *request;
  const bool *left_out; /* kernels that have ended a run of this before */
  bool lost;            /* there are some */
  subject *subjects;
  size_t subject_count;
  benchmark *benchmarks; /* of each subject in each mode that does not take too long */
  size_t benchmark_count;
  evictor evictor;
  buffer buffers[DTYPES];
  size_t cache;                    /* bytes of the last one, 0 if unknown */
  bool *mine;                      /* which shapes are to be timed */
  size_t done;                     /* repetitions */
  size_t long_passes, whole_plans; /* so many are left out */
  bool failed;                     /* and told */
};

/* Whose work is done from now on. */
static void take_turn(const subject *s) {
  isolate_turn(s->kernel);
}

/* One line on the caller's stderr. Returns false, for callers that pass failure on. */
static bool __attribute__((format(printf, 1, 2))) tell(const char *format, ...) {
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

static bool tell_memory(void) {
  return tell("%s", posenc_status_message(POSENC_OUT_OF_MEMORY));
}

static bool tell_status(const subject *s, posenc_status status) {
  return tell("bench: %s on %s: %s", s->kernel->name, s->shape->name, posenc_status_message(status));
}

/* The kernel at work does not do what it said it could: the run is begun again without it. */
static void give_up(const subject *s, posenc_status status) {
  char why[sizeof s->shape->name + 100];
  snprintf(why, sizeof why, "%s on %s", posenc_status_message(status), s->shape->name);
  isolate_fail(why);
}

/* ---- benchmarks -------------------------------------------------------------------------------- */

/* Seconds that the work of one repetition takes, which are the benchmark's time, and its iterations. */
static double time_loop(shim_state *state, benchmark *b, int64_t *iterations) {
  timing *t = &b->timing;
  const bool prepared = timing_has_preparation(t);
  posenc_status status = POSENC_OK;
  double aside = 0; /* what the preparations take */
  *iterations = 0;
  const double start = clock_seconds();
  for (; status == POSENC_OK && shim_keep_running(state); ++*iterations) {
    const double before = prepared ? clock_seconds() : 0;
    status = timing_prepare(t);
    if (prepared) aside += clock_seconds() - before;
    if (status == POSENC_OK) status = timing_work(t);
  }
  const double seconds = clock_seconds() - start - aside;
  shim_set_time(state, seconds);
  if (status != POSENC_OK) give_up(t->subject, status);
  return seconds;
}

static void count(shim_state *state, benchmark *b, const char *name, double value) {
  if (!shim_count(state, name, value) && !b->run->failed) b->run->failed = !tell_memory();
}

static void show(const benchmark *b) {
  const subject *s = b->timing.subject;
  const size_t total = b->run->benchmark_count * (size_t)b->run->request->repetitions;
  char text[256];
  snprintf(text, sizeof text, "%s %s %s", bench_mode_name(b->timing.mode), s->shape->name, s->kernel->name);
  progress_show("bench", text, (double)b->run->done, (double)total, "timings");
}

static void count_rates(shim_state *state, benchmark *b, double seconds, int64_t iterations, double best) {
  const timing *t = &b->timing;
  const posenc_problem *problem = &t->subject->shape->problem;
  const double rows = (double)iterations * (double)t->rows * (double)t->subject->batch;
  const double elements = rows * (double)row_elements_of(problem);
  const double passes = op_is_applied(problem->op) ? 2 : 1; /* x is read too */
  const double rate = passes * elements * (double)posenc_dtype_bytes(problem->dtype) / seconds;
  count(state, b, "bytes_per_second", rate);
  count(state, b, "ns_per_element", 1e9 * seconds / elements);
  count(state, b, "limit_bytes_per_second", best);
  count(state, b, "of_limit", rate / best);
  count(state, b, "rows_timed", (double)t->rows);
  if (t->mode == BENCH_FIRST) count(state, b, "plan_share", t->plan_seconds / seconds);
}

static void run_benchmark(shim_state *state, void *arg) {
  benchmark *b = arg;
  timing *t = &b->timing;
  const bool moves = t->limit.bytes > 0;
  take_turn(t->subject);
  show(b);
  const double limit_before = moves ? limit_rate(&t->limit) : 0;
  timing_wake(t);
  t->plan_seconds = 0;
  int64_t iterations;
  const double seconds = time_loop(state, b, &iterations);
  if (moves) count_rates(state, b, seconds, iterations, fmax(limit_before, limit_rate(&t->limit)));
  timing_rest(t);
  count(state, b, "rows", (double)t->subject->shape->problem.rows);
  count(state, b, "dim", (double)t->subject->shape->problem.dim);
  count(state, b, "heads", (double)t->subject->shape->problem.heads);
  count(state, b, "batch", (double)t->subject->batch);
  count(state, b, "turn", (double)++b->run->done);
}

/* ---- setting up -------------------------------------------------------------------------------- */

static size_t last_cache_bytes(void) {
  long bytes = 0;
  for (int level = 3; bytes == 0 && level > 0; level--) bytes = environment_cache_bytes(level);
  return (size_t)bytes;
}

static posenc_options options_of(const bench_request *request, const posenc_kernel *kernel) {
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  options.threads = request->threads;
  options.isa = request->isa;
  options.stores = request->stores;
  return options;
}

/* Is any shape to be timed in it? */
static bool has_mode(const session *run, bench_mode mode) {
  unsigned all = 0;
  for (size_t i = 0; i < run->request->shape_count; i++) all |= run->request->modes[i];
  return all & 1u << mode;
}

/* Notes how much a subject works on. */
static posenc_status measure_subject(session *run, subject *s) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_status status = posenc_table_bytes(problem, &s->bytes);
  if (status != POSENC_OK) return status;
  if (problem->op == POSENC_ROPE_CACHE) s->bytes *= 2; /* there was room in 63 bits */
  if (op_is_applied(problem->op)) s->batch = run->request->batch;
  if (__builtin_mul_overflow(s->bytes, (size_t)s->batch, &s->bytes) || s->bytes > INT64_MAX) return POSENC_TOO_LARGE;
  buffer *held = &run->buffers[problem->dtype];
  if (s->bytes > held->bytes) *held = (buffer){NULL, s, s->bytes};
  return POSENC_OK;
}

/* In one line for all kernels. */
static void tell_unsuited(const shape *table, unsigned modes) {
  for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
    if (modes & 1u << mode && !mode_suits(&table->problem, mode))
      tell("bench: %s/%s is left out: add and rope work on what is there before", bench_mode_name(mode), table->name);
}

/* In one line for all shapes. */
static void tell_unable(const session *run) {
  for (size_t k = 0; k < run->request->kernel_count; k++) {
    const posenc_kernel *kernel = run->request->kernels[k];
    const char *refusal = NULL;
    if (run->left_out[k]) continue;
    isolate_turn(kernel);
    for (size_t i = 0; i < run->request->shape_count; i++) {
      const posenc_options options = options_of(run->request, kernel);
      refusal = posenc_kernel_refusal(kernel, &run->request->shapes[i].problem, &options);
      if (!refusal) break;
    }
    if (refusal) tell("bench: %s is left out: %s", kernel->name, refusal);
  }
}

/* Which shapes are this shard's: a pass over one takes about so long as one timing has to, and about a nanosecond an element more. */
static bool deal_shapes(session *run) {
  const bench_request *request = run->request;
  double *sizes = calloc(request->shape_count + 1, sizeof *sizes);
  for (size_t i = 0; sizes && i < request->shape_count; i++) {
    const posenc_problem *problem = &request->shapes[i].problem;
    sizes[i] = request->min_time + 1e-9 * (double)problem->rows * (double)row_elements_of(problem);
  }
  run->mine = sizes ? shard_deal(request->only, sizes, request->shape_count) : NULL;
  free(sizes);
  return run->mine || tell_memory();
}

/* Collects the kernels that do a shape. False on an error, told. */
static bool choose_subjects(session *run) {
  const bench_request *request = run->request;
  const size_t most = request->kernel_count * request->shape_count;
  tell_unable(run);
  run->cache = last_cache_bytes();
  run->subjects = calloc(most + 1, sizeof *run->subjects);
  run->benchmarks = calloc(most * BENCH_MODES + 1, sizeof *run->benchmarks);
  if (!run->subjects || !run->benchmarks) return tell_memory();
  if (!deal_shapes(run)) return false;
  for (size_t i = 0; i < request->shape_count; i++) {
    const shape *table = &request->shapes[i];
    if (!run->mine[i]) continue;
    tell_unsuited(table, request->modes[i]);
    const size_t kernel_count = request->kernel_counts ? request->kernel_counts[i] : request->kernel_count;
    for (size_t k = 0; table->problem.rows > 0 && k < kernel_count; k++) {
      subject *s = &run->subjects[run->subject_count];
      if (run->left_out[k]) continue;
      *s = (subject){.shape = table, .kernel = request->kernels[k], .modes = request->modes[i], .batch = 1};
      s->options = options_of(request, s->kernel);
      take_turn(s);
      if (posenc_kernel_refusal(s->kernel, &table->problem, &s->options)) continue;
      const posenc_status status = measure_subject(run, s);
      if (status != POSENC_OK) return tell_status(s, status);
      run->subject_count++;
    }
  }
  return true;
}

/* Linux grants memory that it does not have, and kills whoever touches it. */
static bool fits_in_memory(size_t bytes, const json_t *environment) {
  const char *memory = json_string_value(json_object_get(environment, "memory"));
  const unsigned long long there = memory ? strtoull(memory, NULL, 10) : 0; /* "unknown" reads as 0 */
  return there == 0 || bytes < there;
}

/* The buffers of all benchmarks, each page of them touched, and what is read to evict them. */
static bool make_buffers(session *run, const json_t *environment) {
  size_t bytes = 0; /* at once; a fresh table has memory of its own */
  for (size_t i = 0; i < DTYPES; i++) {
    buffer *held = &run->buffers[i];
    if (!held->largest) continue;
    bytes += (has_mode(run, BENCH_FRESH) ? 2 : 1) * held->bytes;
    if (fits_in_memory(held->bytes, environment) && fits_in_memory(bytes, environment))
      held->memory = posenc_alloc(held->bytes);
    if (!held->memory) return tell("bench: %s: no memory for its %zu bytes", held->largest->shape->name, held->bytes);
    memset(held->memory, 0x55, held->bytes); /* a number in every dtype */
  }
  return !has_mode(run, BENCH_COLD) || evictor_open(&run->evictor, run->cache) || tell_memory();
}

static double time_limit(timing *t) {
  const double start = clock_seconds();
  limit_rate(&t->limit);
  const double seconds = clock_seconds() - start;
  timing_rest(t);
  return seconds;
}

/* The first for a reason is told by name, the others in the end. */
static void leave_out(session *run, const subject *s, bench_mode mode, const char *name) {
  if (mode == BENCH_PLAN) {
    if (run->whole_plans++ == 0) tell("bench: %s is left out: it would fill the whole table each time", name);
  } else {
    if (run->long_passes++ == 0) tell("bench: %s is left out: a pass takes %.1f s", name, s->pass);
  }
}

static void tell_others(const session *run) {
  if (run->whole_plans > 1)
    tell("bench: %zu more left out: each would fill its whole table each time", run->whole_plans - 1);
  if (run->long_passes > 1)
    tell("bench: %zu more left out: a pass takes more than %g s", run->long_passes - 1, run->request->longest);
}

/* One benchmark, unless it would take too long. */
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
  if (status != POSENC_OK) give_up(s, status);
  if (run->request->foretell && b->timing.limit.bytes > 0) b->beside = 2 * time_limit(&b->timing);
  const double parts = mode == BENCH_HOT ? (double)s->shape->problem.rows / (double)b->timing.rows : 1;
  return shim_register(name, run_benchmark, b, b->timing.iterations, run->request->repetitions, parts) || tell_memory();
}

static bool register_subject(session *run, subject *s) {
  s->buffer = run->buffers[s->shape->problem.dtype].memory;
  s->evictor = &run->evictor;
  take_turn(s);
  const posenc_status status = subject_prepare(s);
  if (status != POSENC_OK) give_up(s, status);
  for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
    if (s->modes & 1u << mode && mode_suits(&s->shape->problem, mode) && !register_benchmark(run, s, mode))
      return false;
  return true;
}

static bool register_all(session *run) {
  for (size_t i = 0; i < run->subject_count; i++) {
    subject *s = &run->subjects[i];
    progress_show("bench: calibrating", s->shape->name, (double)i, (double)run->subject_count, "tables");
    if (!register_subject(run, s)) return false;
  }
  tell_others(run);
  return true;
}

/* What is left when everything is calibrated. */
static void foretell(const session *run) {
  const int repetitions = run->request->repetitions;
  double seconds = 0;
  for (size_t i = 0; i < run->benchmark_count; i++)
    seconds += repetitions * (run->benchmarks[i].timing.seconds + run->benchmarks[i].beside);
  tell("bench: %zu timings, which take about %s", run->benchmark_count * (size_t)repetitions,
       number_of_duration(seconds).text);
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

static json_t *texts_of(char *const *texts) {
  json_t *array = json_array();
  for (; texts && *texts; texts++) json_array_append_new(array, json_string(*texts));
  return array;
}

/* All that two shards of one run have in common. */
static json_t *run_json(const bench_request *request) {
  json_t *modes = json_array(), *kernels = json_array(), *shapes = json_array(), *plugins = json_array();
  for (size_t i = 0; i < request->plugin_count; i++)
    json_array_append_new(plugins, json_string(request->plugins[i].text));
  for (size_t k = 0; k < request->kernel_count; k++)
    json_array_append_new(kernels, json_string(request->kernels[k]->name));
  for (size_t i = 0; i < request->shape_count; i++) {
    json_array_append_new(shapes, shape_json(&request->shapes[i]));
    json_array_append_new(modes, json_integer(request->modes[i]));
  }
  return json_pack("{s:o, s:I, s:i, s:s, s:i, s:I, s:f, s:f, s:o, s:o, s:o, s:o}", "modes", modes, "isa",
                   (json_int_t)request->isa, "threads", request->threads, "stores", stores_name(request->stores),
                   "repetitions", request->repetitions, "batch", (json_int_t)request->batch, "min_time",
                   request->min_time, "longest", request->longest, "flags", texts_of(request->extra), "kernels",
                   kernels, "shapes", shapes, "plugins", plugins);
}

static bool add_shard(const session *run, json_t *context) {
  const bench_request *request = run->request;
  if (!shard_is_part(request->only)) return true;
  return json_object_set_new(context, "shard",
                             json_pack("{s:i, s:i, s:o, s:o}", "number", request->only.number, "of", request->only.of,
                                       "shapes", shard_numbers(run->mine, request->shape_count), "run",
                                       run_json(request))) == 0;
}

/* Adds our facts to those of Google Benchmark, whose "date" is local time of the same moment. */
static bool add_context(json_t *record, const session *run, json_t *environment) {
  const bench_request *request = run->request;
  json_t *context = json_object_get(record, "context");
  bool ok = json_object_del(environment, "date") == 0 && json_object_update(context, environment) == 0 &&
            json_object_set_new(context, "posenc_schema", json_string("posenc-bench-2")) == 0;
  json_t *after = environment_json();
  ok = ok && json_object_set(context, "load_after", json_object_get(after, "load")) == 0;
  json_decref(after);
  for (size_t i = 0; i < request->kernel_count; i++) {
    char name[128], abi[16];
    if (run->left_out[i]) continue;
    snprintf(name, sizeof name, "kernel_abi.%s", request->kernels[i]->name);
    snprintf(abi, sizeof abi, "%u", (unsigned)request->kernels[i]->abi);
    ok = ok && json_object_set_new(context, name, json_string(abi)) == 0;
  }
  return (ok && add_shard(run, context)) || tell_memory();
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
  const bool part = shard_is_part(run->request->only);
  if (run->subject_count == 0 && !part) return tell_nothing(run->lost ? "no kernel is left" : "no rows to write");
  if (!make_buffers(run, environment) || !register_all(run)) return 2;
  if (run->benchmark_count == 0 && !part) return tell_nothing("nothing is left in these modes");
  if (run->request->foretell) foretell(run);
  *record = run->benchmark_count ? measure(run) : json_pack("{s:{}, s:[]}", "context", "benchmarks");
  if (!*record) return 2;
  if (add_context(*record, run, environment)) return 0;
  json_decref(*record);
  *record = NULL;
  return 2;
}

static void clean_up(session *run) {
  shim_clear();
  for (size_t i = 0; i < run->subject_count; i++) {
    take_turn(&run->subjects[i]);
    subject_release(&run->subjects[i]);
  }
  isolate_turn(NULL);
  free(run->benchmarks);
  free(run->subjects);
  free(run->mine);
  evictor_close(&run->evictor);
  for (size_t i = 0; i < DTYPES; i++) posenc_free(run->buffers[i].memory);
}

/* ---- in a process of its own ---------------------------------------------------------------------- */

/* What the timing process gets: the request, and the kernels that earlier ones ended by. */
typedef struct job {
  const bench_request *request;
  bool *left_out;
  json_t *lost; /* {"kernel_failed.NAME": how it ended} */
} job;

/* Its result: the status of bench_run and the record, or null. */
static void bench_aloud(void *argument) {
  const job *of = argument;
  session run = {.request = of->request, .left_out = of->left_out, .lost = json_object_size(of->lost) > 0};
  char message[512], *text = NULL;
  int status = 2;
  json_t *record = NULL, *environment = environment_json();
  if (!environment)
    tell_memory();
  else if (!shim_initialize(of->request->extra, message, sizeof message))
    tell("%s", message);
  else if (choose_subjects(&run))
    status = make_record(&run, environment, &record);
  clean_up(&run);
  json_decref(environment);
  json_t *result = json_pack("{s:i, s:o?}", "status", status, "record", record);
  if (result && (text = json_dumps(result, JSON_COMPACT))) isolate_result(text);
  free(text);
  json_decref(result);
}

static void note_lost(const posenc_kernel *kernel, const char *words, void *argument) {
  job *of = argument;
  char key[128];
  tell("bench: %s is left out: %s", kernel->name, words);
  snprintf(key, sizeof key, "kernel_failed.%s", kernel->name);
  json_object_set_new(of->lost, key, json_string(words));
}

/* As bench_run, but for kernels that were lost. */
static int status_of(const isolated *end, json_t **record) {
  json_t *result = end->result ? json_loads(end->result, 0, NULL) : NULL;
  int status = 2;
  char words[400];
  if (result) {
    status = (int)json_integer_value(json_object_get(result, "status"));
    if (json_is_object(json_object_get(result, "record"))) *record = json_incref(json_object_get(result, "record"));
  } else if (end->result) {
    tell_memory();
  } else {
    isolated_words(end, words, sizeof words);
    tell("bench: %s", words);
  }
  json_decref(result);
  return status;
}

int bench_run(const bench_request *request, json_t **record) {
  job of = {request, calloc(request->kernel_count + 1, sizeof *of.left_out), json_object()};
  *record = NULL;
  int status = 2;
  if (!of.left_out || !of.lost) {
    tell_memory();
  } else if (flags_allowed(request->extra)) {
    /* There is no word while a repetition runs. */
    const isolation how = {request->kernels, request->kernel_count, request->silence + 10.0 * request->min_time, NULL,
                           &of};
    isolated end = isolate_team(bench_aloud, &of, &how, of.left_out, note_lost);
    progress_clear();
    status = status_of(&end, record);
    free(end.result);
  }
  if (json_object_size(of.lost) > 0 && status == 0) status = 1;
  if (*record) json_object_update(json_object_get(*record, "context"), of.lost);
  free(of.left_out);
  json_decref(of.lost);
  return status;
}
