/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/watch.h"

#include "common/clock.h"
#include "common/contract.h"
#include "common/environment.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* ---- one worker ------------------------------------------------------------------------------------------ */

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

/* ---- from outside ------------------------------------------------------------------------------------------------ */

static pid_t process_of(const watched *one) {
  return isolate_process(one->lodger);
}

/* Return the seconds that the processors spent in the worker; and in its first thread, or `all` if the system does not
   tell. */
static double watched_busy(const watched *one) {
  const double now = one->lodger && one->clock ? clock_read(one->clock) : NAN;
  return isnan(now) ? one->busy : now;
}

static double watched_first_busy(const watched *one, double all) {
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

/* Reads a part of a worker's memory. Returns false if that cannot be. */
static bool watched_read(const watch *w, const watched *one, const void *from, void *to, size_t bytes) {
  const struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};
  return !w->forbidden && process_vm_readv(process_of(one), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* Returns the resident bytes of a worker; 0 if the system does not tell. */
static size_t watched_resident(const watched *one) {
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

void watch_lose(watch *w, size_t kernel, const char *words) {
  end_worker(&w->all[kernel], true);
  lose(&w->all[kernel], words);
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

/* Sends an order and waits for the reply. Returns false if the kernel is lost, also because of what its process says
   of its state. */
static bool watched_ask(watched *one, const order *o, reply *a) {
  static const char *const when[] = {[ORDER_PREPARE] = "after the plan was made", [ORDER_SHOW] = "after a call",
                                     [ORDER_GROW] = "after some calls",           [ORDER_SLOT] = "after timed calls",
                                     [ORDER_LIMITS] = "after timed calls",        [ORDER_LET_GO] = "after timed calls"};
  if (one->lost) return false;
  if (!isolate_ask(one->lodger, o, sizeof *o, a, sizeof *a)) {
    const isolated end = end_worker(one, false);
    lose_by_end(one, &end);
    return false;
  }
  if (o->kind <= ORDER_OPEN) return true; /* the words are of the shape */
  if (o->kind < ORDER_LIMITS) one->tallies[SURROUNDINGS].compared++;
  if (*a->words)
    watched_accuse(one, strstr(a->words, "threads running") ? OWN_THREADS : SURROUNDINGS, "%s, %.*s", when[o->kind],
                   (int)sizeof a->words, a->words);
  return !one->lost;
}

/* Greets the worker, before the kernel's code has run there: whether its memory can be read then depends on the system
   alone. Returns false if the kernel is lost. */
static bool watched_meet(watch *w, watched *one) {
  const order o = {.kind = ORDER_GREET};
  unsigned char byte;
  reply a;
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
  one->stays = memory_take(request->shape_count, sizeof *one->stays);
  /* The worker sends no message during a repetition. */
  const isolation how = {.kernels = &one->kernel,
                         .kernel_count = 1,
                         .silence = request->silence + 10.0 * request->timing.min_time,
                         .folder = *one->folder ? one->folder : NULL};
  one->lodger = isolate_start(serve, &one->service, &how);
  return one->lodger || bench_tell("no process could be created for %s", one->kernel->name);
}

watch *watch_start(const run_request *request, size_t cache) {
  watch *w = memory_take(1, sizeof *w);
  w->request = request;
  w->available = (double)environment_available_memory();
  w->all = memory_take(request->kernel_count, sizeof *w->all);
  w->seeds = memory_take(request->shape_count, sizeof *w->seeds);
  if (has_mode(request, BENCH_COLD) && !evictor_open(&w->evictor, cache)) memory_end();
  for (size_t i = 0; i < request->shape_count; i++) w->seeds[i] = slot_seed();
  bool started = true;
  for (size_t k = 0; started && k < request->kernel_count; k++) started = start_one(w, k, cache);
  if (started) return w;
  watch_end(w);
  return NULL;
}

static void end_one(watched *one, size_t shapes) {
  const isolated end = end_worker(one, false);
  if (end.how != ENDED_WELL) lose_by_end(one, &end);
  if (end.littered) watched_accuse(one, SURROUNDINGS, "it has left a file in TMPDIR");
  for (size_t i = 0; one->stays && i < shapes; i++)
    for (int p = 0; p < SLOT_PLANS; p++) free(one->stays[i].yardstick.shown[p]);
  free(one->stays);
  one->stays = NULL;
}

void watch_close(watch *w) {
  for (size_t k = 0; k < w->request->kernel_count; k++) end_one(&w->all[k], w->request->shape_count);
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

void watch_tell_lost(const watch *w, record_facts *facts, record_memory *in) {
  for (size_t k = 0; k < w->request->kernel_count; k++) {
    const watched *one = &w->all[k];
    char key[128];
    snprintf(key, sizeof key, KERNEL_FAILED "%s", one->kernel->name);
    if (one->lost) record_set_text(facts, key, one->words, in);
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

/* ---- what was written ------------------------------------------------------------------------------------------ */

typedef struct reading {
  watch *w;
  const watched *one;
} reading;

static bool read_for_trial(void *from, const void *address, void *to, size_t bytes) {
  const reading *r = from;
  return watched_read(r->w, r->one, address, to, bytes);
}

/* Writes the position, or with axes the place, of a row of the exact values. */
static void name_row(const posenc_problem *problem, int64_t row, char *text, size_t size) {
  if (problem->positions)
    snprintf(text, size, "position %.17g", problem->positions[row]);
  else
    snprintf(text, size, "%s %" PRId64, problem->axes ? "place" : "position", problem->first + row);
}

/* Notes what a trial has found, and accuses the kernel of what is wrong. */
static void note_trial(watch *w, watched *one, size_t table, const char *when, bool done, const judgement *found) {
  const posenc_problem *problem = &w->request->shapes[table].problem;
  char how[120] = "other bits than before", at[40];
  one->tallies[TIMED_VALUES].compared += found->compared;
  if (!done && !w->forbidden && errno != ENOMEM)
    watched_accuse(one, TIMED_VALUES, "what it wrote cannot be read %s", when);
  if (found->broken == 0) return;
  if (!isnan(found->got) || !isnan(found->exact))
    snprintf(how, sizeof how, "%.9g instead of %.9g", found->got, found->exact);
  char *options = problem_options(problem);
  name_row(problem, found->row, at, sizeof at);
  watched_accuse(one, TIMED_VALUES,
                 "%" PRId64 " of %" PRId64 " elements are wrong %s on %s: %s, column %" PRId64 ": %s", found->broken,
                 found->compared, when, options ? options : "?", at, found->column, how);
  free(options);
}

/* Judges what a slot left in the worker's memory. */
static void judge_slot(watch *w, watched *one, size_t table, bench_mode mode, const slot_terms *terms, const reply *a) {
  const stay *at = &one->stays[table];
  reading from = {w, one};
  judgement found = {0};
  char when[64];
  if (w->forbidden || !trial_can(&at->yardstick)) return;
  const uint64_t drawn = at->suspicions[mode].slots ? slot_seed() : 0; /* all in the first slot */
  snprintf(when, sizeof when, "after a timed call in mode %s", bench_mode_name(mode));
  errno = 0;
  const bool done = trial_of_slot(&at->yardstick, mode, at->facts.modes[mode].rows, terms,
                                  &(evidence){read_for_trial, &from, a->memory, a->notes, drawn}, &found);
  note_trial(w, one, table, when, done, &found);
}

/* Whether workers keep their memory between slots: if all that they need together, for the shapes that were prepared so
   far, with their plans, is less than three quarters of what was available. The page faults of 512 MiB before each slot
   would take half as long as a fast kernel's slot. */
static bool can_keep_memory(const watch *w) {
  double all = 0.0;
  for (size_t k = 0; k < w->request->kernel_count; k++) {
    size_t most[POSENC_BF16 + 1] = {0};
    for (size_t i = 0; w->all[k].stays && i < w->request->shape_count; i++) {
      const reply *facts = &w->all[k].stays[i].facts;
      size_t *held = &most[w->request->shapes[i].problem.dtype];
      if (facts->bytes > *held) *held = facts->bytes;
      all += (double)facts->plan_bytes * (w->all[k].kernel->keeps_rows ? 1 : facts->plan_count);
    }
    for (size_t d = 0; d < sizeof most / sizeof *most; d++) all += (double)most[d];
  }
  return all < 0.75 * w->available;
}

/* Orders a worker to give its memory back, unless all keep theirs. Returns false if the kernel is lost. */
static bool let_go(const watch *w, watched *one, size_t table) {
  const order o = {.kind = ORDER_LET_GO, .shape = table};
  reply a;
  return w->keeps_memory || watched_ask(one, &o, &a);
}

/* ---- preparing ----------------------------------------------------------------------------------------------- */

bool watch_open(watch *w, size_t kernel, size_t table, reply *a) {
  watched *one = &w->all[kernel];
  const order o = {.kind = ORDER_OPEN, .shape = table};
  return (one->met || (one->met = watched_meet(w, one))) && watched_ask(one, &o, a);
}

/* Returns the exact values of a problem. */
static judge *judge_for(watch *w, const posenc_problem *problem) {
  for (size_t i = 0; i < w->known_count; i++)
    if (memcmp(&w->known[i].problem, problem, sizeof *problem) == 0) return w->known[i].judge;
  w->known = memory_grow(w->known, w->known_count + 1, sizeof *w->known);
  w->known[w->known_count] = (known){*problem, judge_create(problem)};
  return w->known[w->known_count++].judge;
}

/* Whether results are to be compared: those of a device stay there. */
static bool wants_comparison(const watch *w, const watched *one) {
  const bench_device *device = w->request->timing.device;
  return !w->request->timing.unchecked && !(device && device->kernel == one->kernel);
}

/* Chooses what results are compared with: exact values, if there are any within a bound. */
static void choose_judges(watch *w, watched *one, size_t table) {
  stay *at = &one->stays[table];
  yardstick *y = &at->yardstick;
  y->problem = &w->request->shapes[table].problem;
  y->batch = op_is_applied(y->problem->op) ? w->request->timing.batch : 1;
  y->bound = posenc_kernel_bound(one->kernel, y->problem);
  if (!wants_comparison(w, one) || !judge_can(y->problem)) return;
  posenc_problem all = *y->problem;
  if (at->facts.plan_count > 1) {
    slot_shifts(w->seeds[table], all.rows, y->shifts);
    all.rows += slot_reach(all.rows);
  }
  y->judge = judge_for(w, &all);
  y->held = judge_holds(y->judge, &y->bound);
}

/* Whether the result is large, and compared in full after the first slot of a mode. */
static bool is_compared_later(const watch *w, const stay *at, size_t table) {
  const posenc_problem *problem = &w->request->shapes[table].problem;
  if (!at->yardstick.held || w->forbidden || at->facts.bytes < (size_t)2 * TRIAL_LARGE) return false;
  for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
    if (mode != BENCH_ROW && mode != BENCH_PLAN && at->facts.modes[mode].iterations > 0 &&
        at->facts.modes[mode].rows == problem->rows)
      return true;
  return false;
}

/* Has one plan write the whole shape, and judges the result, unless a slot's is judged; without exact values, keeps it
   to be compared with. */
static bool show(watch *w, watched *one, size_t table, int plan) {
  static const size_t kept_most = (size_t)1 << 26;
  stay *at = &one->stays[table];
  const slot_terms terms = {.seed = (slot_seed() & UINT32_MAX) | (uint64_t)plan << 32,
                            .calls = 1,
                            .slices = 1,
                            .chain = INT64_MAX,
                            .of = SLOT_PLANS,
                            .plans = 1};
  const order o = {.kind = ORDER_SHOW, .shape = table, .plan = plan, .terms = terms};
  const bool has_x = op_is_applied(w->request->shapes[table].problem.op);
  reply a;
  reading from = {w, one};
  judgement found = {0};
  if (!watched_ask(one, &o, &a)) return false;
  unsigned char **shown = &at->yardstick.shown[plan];
  if (!at->yardstick.held) {
    if (has_x || at->facts.bytes > kept_most || !(*shown = malloc(at->facts.bytes + 1))) return true;
    if (watched_read(w, one, a.memory, *shown, at->facts.bytes)) return true;
    free(*shown);
    *shown = NULL;
    return true;
  }
  if (w->forbidden || is_compared_later(w, at, table)) return true;
  const bool done =
      trial_of_whole(&at->yardstick, &terms, &(evidence){read_for_trial, &from, a.memory, NULL, 0}, &found);
  note_trial(w, one, table, "before any timed call", done, &found);
  return !one->lost;
}

/* Accuses a kernel whose memory has grown, from `before`, by much of `bytes`, the size of the tables that it wrote. */
static void check_growth(watched *one, size_t before, double bytes) {
  const size_t now = watched_resident(one);
  const double grown = now > before ? (double)(now - before) : 0.0;
  one->tallies[ROWS_IN_PLAN].compared++;
  if (grown > 0.4 * bytes)
    watched_accuse(one, ROWS_IN_PLAN,
                   "plans of %.3g MB of tables, and calls of them, took %.3g MB of memory, but the contract has "
                   "no keeps_rows",
                   1e-6 * bytes, 1e-6 * grown);
}

/* Returns by how much memory grows when plans of so many rows are made and used; 0 if that cannot be. *plans: how many
   are wanted, and were made. */
static double growth_by(watched *one, size_t table, int64_t rows, int *plans) {
  const order o = {.kind = ORDER_GROW, .shape = table, .rows = rows, .plan = *plans},
              less = {.kind = ORDER_GROW, .shape = table};
  reply a;
  *plans = 0;
  if (!watched_ask(one, &less, &a)) return 0.0;
  const size_t before = watched_resident(one);
  if (!watched_ask(one, &o, &a) || a.refused || !before) return 0.0;
  const size_t after = watched_resident(one);
  *plans = a.plan_count;
  return watched_ask(one, &less, &a) && after > before ? (double)(after - before) : 0.0;
}

/*
 * Checks that plans, and calls of them, do not take memory for their rows. Several plans of the table are made, and as
 * many of an eighth of its rows, whose memory is subtracted, as it may be needed for any number of rows. To be called
 * before the plans of the shape are made: a kernel that keeps a few tables would take the memory for them then. Tables
 * below 64 KiB are no larger than what the heap grows by anyway; check_growth looks at large ones.
 */
static void try_growth(const watch *w, watched *one, size_t table) {
  enum { PART = 8, ROWS_LEAST = 64, PLANS_LEAST = 8, PLANS_MOST = 16 };
  static const double least_bytes = 0x1p16, most_bytes = 0x1p23, wanted = 0x1p20;
  const posenc_problem *problem = &w->request->shapes[table].problem;
  const posenc_problem plain = posenc_table_of(problem);
  const double bytes = (double)plain.rows * (double)plain.dim * (double)posenc_dtype_bytes(plain.dtype);
  const bool is_special = problem->positions || problem->axes || problem->dim % 2;
  if (is_special || one->kernel->keeps_rows || !wants_comparison(w, one) || plain.rows < ROWS_LEAST ||
      bytes < least_bytes || bytes > most_bytes)
    return;
  int plans = (int)fmin(fmax(wanted / bytes, PLANS_LEAST), PLANS_MOST), fewer = 1;
  growth_by(one, table, plain.rows / PART, &fewer); /* pages of code that is used for the first time */
  if (one->lost) return;
  const double all = growth_by(one, table, plain.rows, &plans), expected = bytes * plans;
  fewer = plans;
  const double some = one->lost || plans < 2 ? 0.0 : growth_by(one, table, plain.rows / PART, &fewer);
  if (one->lost || plans < 2) return;
  one->tallies[ROWS_IN_PLAN].compared++;
  if (all - some > 0.4 * expected)
    watched_accuse(
        one, ROWS_IN_PLAN,
        "%d plans of tables of %.3g MB together, and calls of them, take %.3g MB, but plans of %d %% of the rows take "
        "%.3g MB, and the contract has no keeps_rows",
        plans, 1e-6 * expected, 1e-6 * all, 100 / PART, 1e-6 * some);
}

/* Returns how many plans make an untimed call: two, or one if the result is large; none if that one is compared later.
   The call of a table also shows its memory (check_growth). */
static int shown_plans(const watch *w, const stay *at, size_t table) {
  if (!at->yardstick.held || w->forbidden || at->facts.bytes < (size_t)2 * TRIAL_LARGE) return 2;
  return w->request->shapes[table].problem.op != POSENC_TABLE && is_compared_later(w, at, table) ? 0 : 1;
}

bool watch_prepare(watch *w, size_t kernel, size_t table, reply *a) {
  watched *one = &w->all[kernel];
  stay *at = &one->stays[table];
  const order o = {.kind = ORDER_PREPARE, .shape = table};
  if (!one->lost) try_growth(w, one, table);
  const size_t before = one->lodger ? watched_resident(one) : 0;
  if (!watched_ask(one, &o, a)) return false;
  at->facts = *a;
  w->keeps_memory = can_keep_memory(w);
  choose_judges(w, one, table);
  const posenc_problem *problem = &w->request->shapes[table].problem;
  const int wanted = shown_plans(w, at, table), shown = a->plan_count > wanted ? wanted : a->plan_count;
  const bool is_shown = wants_comparison(w, one) && a->pass <= w->request->timing.longest;
  for (int p = 0; p < shown && !one->lost && is_shown; p++)
    if (!show(w, one, table, p)) return false;
  if (!one->lost && before && problem->op == POSENC_TABLE && at->yardstick.held && a->bytes >= (size_t)1 << 22 &&
      !one->kernel->keeps_rows)
    check_growth(one, before + a->allocated, shown * (double)a->bytes);
  if (one->lost || !let_go(w, one, table)) return false;
  one->rested = watched_busy(one);
  return true;
}

/* ---- slots ------------------------------------------------------------------------------------------------------ */

/* Returns after how many calls x is drawn anew: as many as keep the sum of all bounds so small that a call that was
   left out is seen. */
static int64_t chain_of(const watch *w, const watched *one, size_t table, bench_mode mode) {
  const posenc_problem *p = &w->request->shapes[table].problem;
  static const double telling = 0.05, largest = 4.0;
  if (!op_is_applied(p->op)) return INT64_MAX;
  const double last = (double)p->first + (double)p->rows, attention = posenc_attention(p);
  const int64_t distance = fabs(last) < 0x1p62 ? (int64_t)fmax(fabs(last), fabs((double)p->first)) : INT64_MAX;
  const posenc_bound *bound = &one->stays[table].yardstick.bound;
  const double at_0 = posenc_applied_bound_at(bound, p, distance, 0.0),
               per_size = posenc_applied_bound_at(bound, p, distance, 1.0) - at_0, each = at_0 + 1.5 * per_size;
  double most = p->op == POSENC_ADD ? fmin(telling / at_0, sqrt(2.0 * telling / per_size)) : telling / each;
  if (attention > 1.0) most = fmin(most, log(largest) / log(attention));
  /* In mode row, the judge takes the calls of a chain one by one. */
  const double longest = mode == BENCH_ROW ? 128.0 : 4096.0;
  return most > 1.0 ? (int64_t)fmin(most, longest) : 1;
}

/* Checks that no other worker was busy since its last slot. Threads of OpenMP spin for a while. */
static void check_others(watch *w, const watched *own) {
  for (size_t k = 0; k < w->request->kernel_count; k++) {
    watched *one = &w->all[k];
    const double allowed = one->kernel->threaded ? 0.5 * environment_processors() : 0.02;
    if (one == own || one->lost || !one->clock || one->rested == 0.0) continue;
    one->tallies[LATE_WORK].compared++;
    const double worked = watched_busy(one) - one->rested;
    if (worked > allowed)
      watched_accuse(one, LATE_WORK, "its process worked for %.3g s while other kernels had their slots", worked);
  }
}

static void suspect(watched *one, suspicion *s, bench_check c, bool is_suspect, double how_much) {
  one->tallies[c].compared++;
  if (!is_suspect) return;
  s->worst[c] = s->of[c]++ ? fmin(s->worst[c], how_much) : how_much;
}

/* The times of a slot, from outside. */
typedef struct outside {
  double began, ended;      /* when the order was sent, and the reply came */
  double busy, first, late; /* processors' time of all threads, of the first one, and after the reply */
} outside;

/* Compares the worker's times with those outside. Processors' times do not depend on other work of the machine. Both
   processes read the same clock, so the worker begins after the order was sent, and ends before the reply came. */
static void check_times(watched *one, suspicion *s, const reply *a, const outside *o) {
  const double told = a->ended - a->began, passed = o->ended - o->began, others = o->busy - o->first;
  const bool threaded = one->kernel->threaded;
  const double most = threaded ? (double)environment_processors() * told : told, busy = threaded ? o->busy : o->first;
  s->slots++;
  if (!threaded)
    suspect(one, s, OWN_THREADS, others > 0.005 * o->busy + 2e-4 || o->busy > 1.02 * passed + 1e-3, others);
  suspect(one, s, WATCHED_TIME,
          a->seconds > told || a->began < o->began - 1e-3 || a->ended > o->ended + 1e-3 || busy > 1.01 * most + 5e-4 ||
              passed > 2.0 * told + 0.05,
          fmax(busy / most * told, passed) - told);
  suspect(one, s, LATE_WORK, !threaded && o->late > 5e-4, o->late);
}

/* Whether each call is timed alone. In modes with a preparation, each is. So is a call of a table before which memory
   is changed: if it is so slow that two readings of the clock do not matter, or if there is one plan, and a call would
   find the right numbers of the one before. x changes with each call. */
static bool is_alone(const watch *w, const stay *at, bench_mode mode) {
  static const double slow = 100e-6;
  const mode_facts *facts = &at->facts.modes[mode];
  const bool prepares = mode == BENCH_COLD || mode == BENCH_FRESH || mode == BENCH_MALLOC;
  const bool is_slow = facts->seconds >= slow * (double)facts->iterations && mode != BENCH_PLAN;
  if (prepares || w->forbidden || !trial_can(&at->yardstick) || op_is_applied(at->yardstick.problem->op))
    return prepares;
  return is_slow || at->facts.plan_count == 1;
}

/* Draws the plans of a slot. is_drawn: calls are of rows that are drawn from many, so that one plan does; constants of
   two would not fit a cache that those of one fit. */
static void choose_plans(slot_terms *terms, int count, bool is_drawn) {
  uint64_t random = ~terms->seed;
  terms->of = count;
  terms->plans = terms->alone || count < 2 ? count : 2;
  if (is_drawn) terms->plans = 1;
  terms->step = count < 2 ? 0 : 1 + (int)random_below(&random, (uint64_t)count - 1);
  if (terms->plans > 2) terms->step |= 1; /* reaches all, as their number is a power of two */
}

bool watch_slot(watch *w, size_t kernel, size_t table, bench_mode mode, slot_times *times) {
  watched *one = &w->all[kernel];
  stay *at = &one->stays[table];
  const mode_facts *facts = &at->facts.modes[mode];
  const int64_t rows = w->request->shapes[table].problem.rows;
  const bool is_sliced = facts->rows < rows && mode != BENCH_ROW;
  static const int64_t many_rows = 64; /* of which successive calls seldom have the same */
  if (one->lost) return false;
  order o = {.kind = ORDER_SLOT, .shape = table, .mode = mode};
  o.terms = (slot_terms){.seed = slot_seed(),
                         .calls = facts->iterations,
                         .slices = is_sliced ? rows / facts->rows : 1,
                         .from = is_sliced ? at->called[mode] % (rows / facts->rows) : 0,
                         .chain = chain_of(w, one, table, mode),
                         .alone = is_alone(w, at, mode)};
  /* Without exact values, only what two plans wrote is kept. */
  choose_plans(&o.terms, at->yardstick.held || at->facts.plan_count < 2 ? at->facts.plan_count : 2,
               mode == BENCH_ROW && rows >= many_rows);
  at->called[mode] += facts->iterations;
  check_others(w, one);
  const double busy = watched_busy(one), first = watched_first_busy(one, busy);
  outside seen = {.began = clock_seconds()};
  if (!watched_ask(one, &o, &times->of)) return false;
  seen.ended = clock_seconds();
  nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* the worker sleeps then, and its time is complete */
  const double busy_then = watched_busy(one);
  seen.busy = busy_then - busy;
  seen.first = watched_first_busy(one, busy_then) - first;
  judge_slot(w, one, table, mode, &o.terms, &times->of);
  if (one->lost) return false;
  seen.late = watched_busy(one) - busy_then;
  check_times(one, &at->suspicions[mode], &times->of, &seen);
  times->best = times->of.limits;
  if (facts->limit_bytes > 0) {
    reply after;
    o.kind = ORDER_LIMITS;
    o.keep = w->keeps_memory;
    if (!watched_ask(one, &o, &after)) return false;
    times->best.serial = fmax(times->best.serial, after.limits.serial);
    times->best.threaded = fmax(times->best.threaded, after.limits.threaded);
  } else if (!let_go(w, one, table)) {
    return false;
  }
  one->rested = watched_busy(one);
  return true;
}

/* A share of the limit that no honest kernel has in every repetition. In the published report, 0.98 is the largest
   share that a kernel has in all of its repetitions, and 1.12 the largest in any. */
static const double floor_share = 1.25;

void watch_share(watch *w, size_t kernel, size_t table, bench_mode mode, double share) {
  watched *one = &w->all[kernel];
  if (!isnan(share)) suspect(one, &one->stays[table].suspicions[mode], FLOOR, share > floor_share, share);
}

/* Accuses a kernel of what most slots of a benchmark have shown, at least two; of the floor if all have. */
static void conclude(watch *w, watched *one, size_t table, bench_mode mode) {
  const suspicion *s = &one->stays[table].suspicions[mode];
  const char *name = w->request->shapes[table].name, *in = bench_mode_name(mode);
  if (s->slots == 0) return;
  for (bench_check c = 0; c < BENCH_CHECKS; c++) {
    const bool most = c == FLOOR ? s->of[c] == s->slots : 2 * s->of[c] > s->slots;
    if (!most || s->of[c] < (s->slots < 2 ? 1 : 2)) continue;
    if (c == FLOOR)
      watched_accuse(one, c,
                     "%s on %s is %.3g times as fast as this machine moves the same bytes, or more, in all %d slots",
                     in, name, s->worst[c], s->slots);
    if (c == OWN_THREADS)
      watched_accuse(
          one, c,
          "%s on %s: threads used %.3g s of processors' time or more, in %d of %d slots, but the contract has "
          "no threads",
          in, name, s->worst[c], s->of[c], s->slots);
    if (c == WATCHED_TIME)
      watched_accuse(one, c,
                     "%s on %s: its process told of %.3g s less than passed or was worked, or more, in %d of %d slots",
                     in, name, s->worst[c], s->of[c], s->slots);
    if (c == LATE_WORK)
      watched_accuse(one, c, "%s on %s worked on for %.3g s after the calls had returned, in %d of %d slots", in, name,
                     s->worst[c], s->of[c], s->slots);
  }
}

void watch_conclude(watch *w) {
  for (size_t k = 0; k < w->request->kernel_count; k++)
    for (size_t i = 0; w->all[k].stays && i < w->request->shape_count; i++)
      for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
        if (!w->all[k].lost) conclude(w, &w->all[k], i, mode);
}
