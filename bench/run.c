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
#ifdef _OPENMP
#include <omp.h>
#endif
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
        return bench_tell("%s: bench sets this itself; see --format, --repetitions and --min-time", *flags);
    }
    if (shard_is_part(only) && strncmp(*flags, "--benchmark_filter", strlen("--benchmark_filter")) == 0)
      return bench_tell("%s: cannot be combined with --shard; see --kernel and --mode", *flags);
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

/* Adds the share of the machine that other processes have used, if it is known. */
static bool add_others(json_t *context, const others_mark *before, const others_mark *after) {
  const double share = others_share(before, after);
  return isnan(share) || json_object_set_new(context, "others", json_real(share)) == 0;
}

/* Returns the name of the kernel that the library chooses; null if there is none. */
static const char *choice_of(const bench_request *request, const posenc_problem *problem, int threads) {
  posenc_options options = serve_options(request, NULL);
  options.threads = threads;
  const posenc_kernel *kernel = kernel_by_default(problem, &options);
  return kernel ? kernel->name : NULL;
}

/* Finds the library's choice for each shape, with one thread and with the requested number. */
static void find_choices(void *argument) {
  const bench_request *request = argument;
  json_t *choices = json_array();
  for (size_t i = 0; i < request->shape_count; i++) {
    const shape *table = &request->shapes[i];
    const char *serial = choice_of(request, &table->problem, 1),
               *threaded = choice_of(request, &table->problem, request->threads);
    if (serial && threaded)
      json_array_append_new(
          choices, json_pack("{s:s, s:s, s:s}", "shape", table->name, "kernel", serial, "all_threads", threaded));
  }
  char *text = json_dumps(choices, JSON_COMPACT);
  if (text) isolate_result(text);
  free(text);
  json_decref(choices);
}

/* Adds these choices, which are made in a process of their own, as plans call kernels. */
static bool add_choices(json_t *context, const bench_request *request) {
  bench_request asked = *request;
  isolated end = isolate(find_choices, &asked, &(isolation){.silence = request->silence});
  json_t *choices = end.result ? json_loads(end.result, 0, NULL) : NULL;
  free(end.result);
  return choices && json_object_set_new(context, "choices", choices) == 0;
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
    if (watch_is_lost(run->watch, i)) continue;
    snprintf(name, sizeof name, "kernel_abi.%s", request->kernels[i]->name);
    snprintf(abi, sizeof abi, "%u", (unsigned)request->kernels[i]->abi);
    ok = ok && json_object_set_new(context, name, json_string(abi)) == 0;
  }
  return (ok && add_choices(context, request) && add_shard(run, json_object_get(record, "benchmarks"), context)) ||
         bench_tell_memory();
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
    bench_tell("--benchmark_filter: %s", message);
  else if (!run->failed && !(record = json_loadb(text, length, 0, &error)))
    bench_tell("bench: the JSON of Google Benchmark: %s", error.text);
  free(text);
  return record;
}

static int tell_nothing(const char *why) {
  bench_tell("bench: nothing to time: %s", why);
  return 1;
}

/* Removes the benchmarks of kernels that are lost. */
static void remove_lost(const session *run, json_t *benchmarks) {
  for (size_t i = json_array_size(benchmarks); i-- > 0;) {
    const char *name = json_string_value(json_object_get(json_array_get(benchmarks, i), "name"));
    for (size_t k = 0; name && k < run->request->kernel_count; k++) {
      if (!watch_is_lost(run->watch, k) || !is_benchmark_of(name, run->request->kernels[k]->name)) continue;
      json_array_remove(benchmarks, i);
      break;
    }
  }
}

/* Reads the processors' time of the machine; that of the workers is not of others. */
static bool read_others(const session *run, others_mark *mark) {
  if (!others_read(mark)) return false;
  mark->own += watch_busy(run->watch);
  return true;
}

/* Makes the record, with bench_run's statuses. */
static int make_record(session *run, json_t *environment, json_t **record) {
  const bool is_shard = shard_is_part(run->request->only);
  /* A record without benchmarks tells that a shard has none, or which kernels were left out. */
  if (run->subject_count == 0 && !is_shard && !watch_lost_any(run->watch)) return tell_nothing("no rows to write");
  if (!setup_benchmarks(run)) return 2;
  if (run->benchmark_count == 0 && !is_shard && !watch_lost_any(run->watch))
    return tell_nothing("nothing is left in these modes");
  if (run->request->foretell) setup_predict(run);
  others_mark before, after;
  const bool is_known = read_others(run, &before);
  *record = run->benchmark_count ? measure(run) : json_pack("{s:{}, s:[]}", "context", "benchmarks");
  if (!*record) return 2;
  if (is_known && read_others(run, &after) && !add_others(json_object_get(*record, "context"), &before, &after))
    bench_tell_memory();
  watch_conclude(run->watch);
  watch_close(run->watch);
  remove_lost(run, json_object_get(*record, "benchmarks"));
  if (add_context(*record, run, environment)) {
    watch_tell(run->watch, json_object_get(*record, "context"));
    return watch_lost_any(run->watch) ? 1 : 0;
  }
  json_decref(*record);
  *record = NULL;
  return 2;
}

static void clean_up(session *run) {
  shim_clear();
  watch_end(run->watch);
  free(run->benchmarks);
  free(run->taken);
  free(run->mine);
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

int bench_run(const bench_request *request, json_t **record) {
  session run = {.request = request};
  char message[512];
  int status = 2;
  *record = NULL;
  if (!flags_allowed(request->extra, request->only)) return status;
  json_t *environment = environment_json();
  if (!environment)
    bench_tell_memory();
  else if (!shim_initialize(request->extra, message, sizeof message))
    bench_tell("%s", message);
  else if (setup_subjects(&run, environment)) {
    const int threads = set_openmp_threads(1);
    status = make_record(&run, environment, record);
    set_openmp_threads(threads);
  }
  progress_clear();
  clean_up(&run);
  json_decref(environment);
  return status;
}
