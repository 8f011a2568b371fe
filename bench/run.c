/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/setup.h"
#include "common/contract.h"
#include "common/environment.h"
#include "common/isolate.h"
#include "common/others.h"
#include "common/progress.h"
#include "common/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        return benchmark_tell("%s: bench sets this itself; see --format, --repetitions and --min-time", *flags);
    }
    if (shard_is_part(only) && strncmp(*flags, "--benchmark_filter", strlen("--benchmark_filter")) == 0)
      return benchmark_tell("%s: cannot be combined with --shard; see --kernel and --mode", *flags);
  }
  return true;
}

/* ---- running ----------------------------------------------------------------------------------- */

static json_t *texts_of(char *const *texts) {
  json_t *array = json_array();
  for (; texts && *texts; texts++) json_array_append_new(array, json_string(*texts));
  return array;
}

json_t *bench_run_json(const bench_request *request) {
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

static bool add_shard(const session *run, const json_t *benchmarks, json_t *context) {
  const bench_request *request = run->request;
  if (!shard_is_part(request->only)) return true;
  return json_object_set_new(context, "shard",
                             json_pack("{s:i, s:i, s:o, s:I, s:o}", "number", request->only.number, "of",
                                       request->only.of, "shapes", shard_numbers(run->mine, request->shape_count),
                                       "benchmarks", (json_int_t)json_array_size(benchmarks), "run",
                                       bench_run_json(request))) == 0;
}

/* Adds the share of the machine that other processes have used since `before`, if it is known. */
static bool add_others(json_t *context, const others_mark *before) {
  others_mark now;
  const double share = others_read(&now) ? others_share(before, &now) : NAN;
  return isnan(share) || json_object_set_new(context, "others", json_real(share)) == 0;
}

/* Returns the name of the kernel that the library chooses; null if there is none. */
static const char *choice_of(const bench_request *request, const posenc_problem *problem, int threads) {
  posenc_options options = setup_options(request, NULL);
  posenc_plan *plan;
  options.threads = threads;
  if (posenc_plan_create(&plan, problem, &options) != POSENC_OK) return NULL;
  const char *name = posenc_plan_kernel(plan)->name;
  posenc_plan_destroy(plan);
  return name;
}

/* Adds the library's choice for each shape, with one thread and with the requested number. */
static bool add_choices(json_t *context, const bench_request *request) {
  json_t *choices = json_array();
  for (size_t i = 0; i < request->shape_count; i++) {
    const shape *table = &request->shapes[i];
    const char *serial = choice_of(request, &table->problem, 1),
               *threaded = choice_of(request, &table->problem, request->threads);
    if (serial && threaded)
      json_array_append_new(
          choices, json_pack("{s:s, s:s, s:s}", "shape", table->name, "kernel", serial, "all_threads", threaded));
  }
  return json_object_set_new(context, "choices", choices) == 0;
}

/* Adds the environment's facts to those of Google Benchmark, whose "date" is the local time of the same moment. */
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
  return (ok && add_choices(context, request) && add_shard(run, json_object_get(record, "benchmarks"), context)) ||
         benchmark_tell_memory();
}

/* Returns Google Benchmark's record of all benchmarks; null after an error, which has been printed. */
static json_t *measure(const session *run) {
  char message[512];
  size_t length;
  char *text = shim_run(&length, message, sizeof message);
  progress_clear();
  json_t *record = NULL;
  json_error_t error;
  if (!text)
    benchmark_tell("--benchmark_filter: %s", message);
  else if (!run->failed && !(record = json_loadb(text, length, 0, &error)))
    benchmark_tell("bench: the JSON of Google Benchmark: %s", error.text);
  free(text);
  return record;
}

static int tell_nothing(const char *why) {
  benchmark_tell("bench: nothing to time: %s", why);
  return 1;
}

/* Makes the record, with bench_run's statuses. */
static int make_record(session *run, json_t *environment, json_t **record) {
  /* A record without benchmarks tells that a shard has none, or which kernels were left out. */
  const bool may_be_empty = shard_is_part(run->request->only) || run->lost;
  if (run->subject_count == 0 && !may_be_empty) return tell_nothing("no rows to write");
  if (!setup_buffers(run, environment) || !setup_benchmarks(run)) return 2;
  if (run->benchmark_count == 0 && !may_be_empty) return tell_nothing("nothing is left in these modes");
  if (run->request->foretell) setup_predict(run);
  others_mark before;
  const bool is_known = others_read(&before);
  *record = run->benchmark_count ? measure(run) : json_pack("{s:{}, s:[]}", "context", "benchmarks");
  if (!*record) return 2;
  if (is_known && !add_others(json_object_get(*record, "context"), &before)) benchmark_tell_memory();
  if (add_context(*record, run, environment)) return 0;
  json_decref(*record);
  *record = NULL;
  return 2;
}

static void clean_up(session *run) {
  shim_clear();
  for (size_t i = 0; i < run->subject_count; i++) {
    benchmark_take_turn(&run->subjects[i]);
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

/* The argument of the timing process: the request, and the kernels that ended earlier ones. */
typedef struct job {
  const bench_request *request;
  bool *left_out;
  json_t *lost; /* {"kernel_failed.NAME": how it ended} */
} job;

/* Runs the benchmarks in the worker. The result is the status of bench_run, and the record or null. */
static void bench_in_worker(void *argument) {
  const job *of = argument;
  session run = {.request = of->request, .left_out = of->left_out, .lost = json_object_size(of->lost) > 0};
  char message[512], *text = NULL;
  int status = 2;
  json_t *record = NULL, *environment = environment_json();
  if (!environment)
    benchmark_tell_memory();
  else if (!shim_initialize(of->request->extra, message, sizeof message))
    benchmark_tell("%s", message);
  else if (setup_subjects(&run))
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
  benchmark_tell("bench: %s is left out: %s", kernel->name, words);
  snprintf(key, sizeof key, KERNEL_FAILED "%s", kernel->name);
  json_object_set_new(of->lost, key, json_string(words));
}

/* Returns bench_run's status, not counting kernels that were left out, and the record. */
static int status_of(const isolated *end, json_t **record) {
  json_t *result = end->result ? json_loads(end->result, 0, NULL) : NULL;
  int status = 2;
  char words[400];
  if (result) {
    status = (int)json_integer_value(json_object_get(result, "status"));
    if (json_is_object(json_object_get(result, "record"))) *record = json_incref(json_object_get(result, "record"));
  } else if (end->result) {
    benchmark_tell_memory();
  } else {
    describe_exit(end, words, sizeof words);
    benchmark_tell("bench: %s", words);
  }
  json_decref(result);
  return status;
}

int bench_run(const bench_request *request, json_t **record) {
  job of = {request, calloc(request->kernel_count + 1, sizeof *of.left_out), json_object()};
  *record = NULL;
  int status = 2;
  if (!of.left_out || !of.lost) {
    benchmark_tell_memory();
  } else if (flags_allowed(request->extra, request->only)) {
    /* The worker sends no message during a repetition. */
    const isolation how = {request->kernels, request->kernel_count, request->silence + 10.0 * request->min_time, NULL,
                           &of};
    isolated end = isolate_team(bench_in_worker, &of, &how, of.left_out, note_lost);
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
