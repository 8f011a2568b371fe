/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/watch.h"

#include "common/clock.h"
#include "common/contract.h"
#include "common/environment.h"
#include "common/field.h"
#include "common/terminal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *const names[BENCH_CHECKS] = {
    [TIMED_VALUES] = "timed-values", [LATE_WORK] = "late-work", [WATCHED_TIME] = "clock", [OWN_THREADS] = "threads",
    [SURROUNDINGS] = "surroundings", [ROWS_IN_PLAN] = "plan",   [FLOOR] = "floor"};

bool bench_tell(const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  progress_clear();
  fprintf(stderr, "%s: %s\n", program_name(), line);
  return false;
}

bool bench_tell_memory(void) {
  return bench_tell("%s", posenc_status_message(POSENC_OUT_OF_MEMORY));
}

/* ---- from outside ------------------------------------------------------------------------------------------------ */

static pid_t process_of(const watched *one) {
  return isolate_process(one->lodger);
}

double watched_busy(const watched *one) {
  const double now = one->lodger && one->clock ? clock_read(one->clock) : NAN;
  return isnan(now) ? one->busy : now;
}

double watched_first_busy(const watched *one, double all) {
  char path[64];
  unsigned long long ns;
  if (!one->lodger) return all;
  snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)process_of(one), (int)process_of(one));
  FILE *file = fopen(path, "r");
  if (!file) return all;
  if (fscanf(file, "%llu", &ns) == 1) all = 1e-9 * (double)ns;
  fclose(file);
  return all;
}

bool watched_read(const watch *w, const watched *one, const void *from, void *to, size_t bytes) {
  const struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};
  return !w->forbidden && process_vm_readv(process_of(one), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

size_t watched_resident(const watched *one) {
  char path[64];
  unsigned long long all, pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)process_of(one));
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  if (fscanf(file, "%llu %llu", &all, &pages) != 2) pages = 0;
  fclose(file);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- kernels that are lost --------------------------------------------------------------------------------------- */

static void lose(watched *one, const char *words) {
  if (one->lost) return;
  one->lost = true;
  snprintf(one->words, sizeof one->words, "%s", words);
  bench_tell("%s is left out: %s", one->kernel->name, words);
}

/* Ends a worker: at once, or when it has obeyed its orders, if it has not ended by itself. Returns how it ended. */
static isolated end_worker(watched *one, bool at_once) {
  isolated end = {.how = ENDED_WELL};
  if (!one->lodger) return end;
  one->busy = watched_busy(one);
  if (at_once)
    isolate_stop(one->lodger);
  else
    end = isolate_end(one->lodger);
  one->lodger = NULL;
  free(end.result);
  end.result = NULL;
  return end;
}

/* Leaves a kernel out because of how its worker ended. */
static void lose_by_end(watched *one, const isolated *end) {
  char words[400];
  describe_exit(end, words, sizeof words);
  lose(one, words);
}

void watched_accuse(watched *one, bench_check c, const char *format, ...) {
  char words[400];
  va_list arguments;
  if (*one->tallies[c].words || one->lost) return;
  va_start(arguments, format);
  vsnprintf(one->tallies[c].words, sizeof one->tallies[c].words, format, arguments);
  va_end(arguments);
  snprintf(words, sizeof words, "%s: %s", names[c], one->tallies[c].words);
  end_worker(one, true);
  lose(one, words);
}

bool watch_is_lost(const watch *w, size_t kernel) {
  return w->all[kernel].lost;
}

bool watch_lost_any(const watch *w) {
  for (size_t k = 0; k < w->request->kernel_count; k++)
    if (w->all[k].lost) return true;
  return false;
}

/* ---- orders -------------------------------------------------------------------------------------------------- */

bool watched_ask(watched *one, const order *o, answer *a) {
  static const char *const when[] = {[ORDER_PREPARE] = "after the plan was made", [ORDER_SHOW] = "after a call",
                                     [ORDER_GROW] = "after some calls",           [ORDER_TURN] = "after timed calls",
                                     [ORDER_LIMITS] = "after timed calls",        [ORDER_LET_GO] = "after timed calls"};
  if (one->lost) return false;
  if (!isolate_ask(one->lodger, o, sizeof *o, a, sizeof *a)) {
    const isolated end = end_worker(one, false);
    lose_by_end(one, &end);
    return false;
  }
  if (o->kind <= ORDER_OPEN) return true; /* the words are the reason of a refusal */
  if (o->kind < ORDER_LIMITS) one->tallies[SURROUNDINGS].compared++;
  if (*a->words)
    watched_accuse(one, strstr(a->words, "threads running") ? OWN_THREADS : SURROUNDINGS, "%s, %.*s", when[o->kind],
                   (int)sizeof a->words, a->words);
  return !one->lost;
}

bool watched_meet(watch *w, watched *one) {
  const order o = {.kind = ORDER_GREET};
  unsigned char byte;
  answer a;
  if (!watched_ask(one, &o, &a)) return false;
  if (clock_getcpuclockid(process_of(one), &one->clock) != 0) one->clock = 0;
  if (w->forbidden || watched_read(w, one, a.notes, &byte, 1)) return true;
  w->forbidden = true;
  return bench_tell("what kernels write is not compared: the system does not let a process read the memory of its "
                    "own (%s)",
                    strerror(errno)) ||
         true;
}

/* ---- starting and ending ------------------------------------------------------------------------------------- */

static bool has_mode(const run_request *request, bench_mode mode) {
  for (size_t n = 0; n < request->item_count; n++)
    if (request->items[n].modes & 1u << mode) return true;
  return false;
}

/* Makes a folder for the worker's files, so that it finds none of earlier processes there. */
static void make_folder(watched *one) {
  const char *parent = getenv("TMPDIR");
  snprintf(one->folder, sizeof one->folder, "%s/posenc-bench-XXXXXX", parent && *parent ? parent : "/tmp");
  if (strlen(one->folder) + 1 >= sizeof one->folder || !mkdtemp(one->folder)) *one->folder = '\0';
}

static bool start_one(watch *w, size_t kernel, size_t cache) {
  const run_request *request = w->request;
  watched *one = &w->all[kernel];
  one->kernel = request->kernels[kernel];
  make_folder(one);
  one->service = (service){request, kernel, &w->evictor, w->seeds, cache};
  one->stays = calloc(request->shape_count + 1, sizeof *one->stays);
  if (!one->stays) return bench_tell_memory();
  /* The worker sends no message during a repetition. */
  const isolation how = {.kernels = &one->kernel,
                         .kernel_count = 1,
                         .silence = request->silence + 10.0 * request->timing.min_time,
                         .folder = *one->folder ? one->folder : NULL};
  one->lodger = isolate_start(serve, &one->service, &how);
  return one->lodger || bench_tell("no process could be created for %s", one->kernel->name);
}

watch *watch_start(const run_request *request, size_t cache) {
  watch *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->request = request;
  w->available = (double)environment_available_memory();
  w->all = calloc(request->kernel_count + 1, sizeof *w->all);
  w->seeds = calloc(request->shape_count + 1, sizeof *w->seeds);
  bool enough = w->all && w->seeds && (!has_mode(request, BENCH_COLD) || evictor_open(&w->evictor, cache));
  if (!enough) bench_tell_memory();
  for (size_t i = 0; enough && i < request->shape_count; i++) w->seeds[i] = turn_seed();
  for (size_t k = 0; enough && k < request->kernel_count; k++) enough = start_one(w, k, cache);
  if (enough) return w;
  watch_end(w);
  return NULL;
}

static void end_one(watched *one, size_t shapes) {
  const isolated end = end_worker(one, false);
  if (end.how != ENDED_WELL) lose_by_end(one, &end);
  if (end.littered) watched_accuse(one, SURROUNDINGS, "it has left a file in TMPDIR");
  for (size_t i = 0; one->stays && i < shapes; i++)
    for (int p = 0; p < TURN_PLANS; p++) free(one->stays[i].yardstick.shown[p]);
  free(one->stays);
  one->stays = NULL;
}

void watch_close(watch *w) {
  for (size_t k = 0; w->all && k < w->request->kernel_count; k++) end_one(&w->all[k], w->request->shape_count);
}

void watch_end(watch *w) {
  if (!w) return;
  watch_close(w);
  for (size_t i = 0; i < w->known_count; i++) judge_destroy(w->known[i].judge);
  evictor_close(&w->evictor);
  free(w->known);
  free(w->all);
  free(w->seeds);
  free(w);
}

void watch_tell_lost(const watch *w, json_t *facts) {
  for (size_t k = 0; k < w->request->kernel_count; k++) {
    const watched *one = &w->all[k];
    char key[128];
    snprintf(key, sizeof key, KERNEL_FAILED "%s", one->kernel->name);
    if (one->lost) field_put(facts, key, json_string(one->words));
  }
}

record_timed_check *watch_checks(const watch *w, size_t *count) {
  record_timed_check *all = memory_take(w->request->kernel_count * BENCH_CHECKS, sizeof *all);
  *count = 0;
  for (size_t k = 0; k < w->request->kernel_count; k++)
    for (bench_check c = 0; c < BENCH_CHECKS; c++) {
      const watched *one = &w->all[k];
      const tally *t = &one->tallies[c];
      if (!t->compared && !*t->words) continue;
      all[(*count)++] = (record_timed_check){
          .kernel = one->kernel->name, .check = names[c], .compared = t->compared, .ok = !*t->words, .note = t->words};
    }
  return all;
}

double watch_busy(const watch *w) {
  double all = 0.0;
  for (size_t k = 0; k < w->request->kernel_count; k++) all += watched_busy(&w->all[k]);
  return all;
}
