/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/watch.h"

#include "bench/trial.h"
#include "common/clock.h"
#include "common/contract.h"
#include "common/environment.h"
#include "common/progress.h"
#include "common/random.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* A check of a kernel: how often it was made, on how many elements if it is of values, and the first failure. */
typedef struct tally {
  int64_t compared;
  char words[240]; /* empty: none */
} tally;

/* What the turns of one benchmark have shown. A check that depends on other work of the machine fails only if most
   turns fail it. */
typedef struct suspicion {
  int turns, of[BENCH_CHECKS];
  double worst[BENCH_CHECKS]; /* the mildest of the failures */
} suspicion;

/* A shape of a kernel. */
typedef struct stay {
  answer facts; /* of ORDER_PREPARE */
  yardstick yardstick;
  int64_t called[BENCH_MODES]; /* calls so far */
  suspicion suspicions[BENCH_MODES];
} stay;

typedef struct watched {
  const posenc_kernel *kernel;
  lodger *lodger;
  char folder[128]; /* the worker's TMPDIR, empty if there is none */
  bool met, lost;
  char words[400]; /* why it is lost */
  service service;
  stay *stays; /* by shape */
  tally tallies[BENCH_CHECKS];
  clockid_t clock; /* of the worker's processor time */
  double rested;   /* its time when its last turn had ended */
  double busy;     /* when the worker was ended */
} watched;

/* The exact values of problems, which kernels share. */
typedef struct known {
  posenc_problem problem;
  judge *judge;
} known;

struct watch {
  const bench_request *request;
  watched *all;
  uint64_t *seeds;
  evictor evictor;
  known *known;
  size_t known_count;
  bool forbidden; /* the system does not let this process read the workers' memory */
};

static const char *const names[BENCH_CHECKS] = {
    [TIMED_VALUES] = "timed-values", [LATE_WORK] = "late-work", [WATCHED_TIME] = "clock", [OWN_THREADS] = "threads",
    [SURROUNDINGS] = "surroundings", [ROWS_IN_PLAN] = "plan",   [FLOOR] = "floor"};

const char *bench_check_name(bench_check c) {
  return names[c];
}

bool bench_tell(const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  progress_clear();
  fprintf(stderr, "posenc: %s\n", line);
  return false;
}

bool bench_tell_memory(void) {
  return bench_tell("%s", posenc_status_message(POSENC_OUT_OF_MEMORY));
}

static uint64_t random_seed(void) {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) seed = (uint64_t)(1e9 * clock_seconds());
  return seed;
}

/* ---- kernels that are lost ------------------------------------------------------------------------------ */

static pid_t process_of(const watched *one) {
  return isolate_process(one->lodger);
}

static double busy_of(const watched *one) {
  const double now = one->lodger && one->clock ? clock_read(one->clock) : NAN;
  return isnan(now) ? one->busy : now;
}

/* Returns the seconds that the processors spent in the worker's first thread; those of all its threads if the system
   does not tell. */
static double first_busy_of(const watched *one, double all) {
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

static void lose(watched *one, const char *words) {
  if (one->lost) return;
  one->lost = true;
  snprintf(one->words, sizeof one->words, "%s", words);
  bench_tell("bench: %s is left out: %s", one->kernel->name, words);
}

/* Waits until a worker has ended by itself, and tells why. */
static bool bury(watched *one) {
  char words[400];
  one->busy = busy_of(one);
  isolated end = isolate_end(one->lodger);
  one->lodger = NULL;
  describe_exit(&end, words, sizeof words);
  free(end.result);
  lose(one, words);
  return false;
}

/* Notes that a kernel breaks a check, and kills its worker. */
__attribute__((format(printf, 3, 4))) static void accuse(watched *one, bench_check c, const char *format, ...) {
  char words[400];
  va_list arguments;
  if (*one->tallies[c].words || one->lost) return;
  va_start(arguments, format);
  vsnprintf(one->tallies[c].words, sizeof one->tallies[c].words, format, arguments);
  va_end(arguments);
  snprintf(words, sizeof words, "%s: %s", names[c], one->tallies[c].words);
  one->busy = busy_of(one);
  if (one->lodger) isolate_stop(one->lodger);
  one->lodger = NULL;
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

/* Sends an order and waits for the answer. Returns false if the kernel is lost, also because of what its process says
   of its state. */
static bool ask(watched *one, const order *o, answer *a) {
  static const char *const when[] = {[ORDER_PREPARE] = "after the plan was made", [ORDER_SHOW] = "after a call",
                                     [ORDER_GROW] = "after some calls",           [ORDER_TURN] = "after timed calls",
                                     [ORDER_LIMITS] = "after timed calls",        [ORDER_LET_GO] = "after timed calls"};
  if (one->lost) return false;
  if (!isolate_ask(one->lodger, o, sizeof *o, a, sizeof *a)) return bury(one);
  if (o->kind <= ORDER_OPEN) return true; /* the words are the reason of a refusal */
  if (o->kind < ORDER_LIMITS) one->tallies[SURROUNDINGS].compared++;
  if (*a->words)
    accuse(one, strstr(a->words, "threads running") ? OWN_THREADS : SURROUNDINGS, "%s, %.*s", when[o->kind],
           (int)sizeof a->words, a->words);
  return !one->lost;
}

/* ---- starting and ending --------------------------------------------------------------------------------- */

static bool has_mode(const bench_request *request, bench_mode mode) {
  for (size_t i = 0; i < request->shape_count; i++)
    if (request->modes[i] & 1u << mode) return true;
  return false;
}

/* Makes a folder for the worker's files, so that it finds none of earlier processes there. */
static void make_folder(watched *one) {
  const char *parent = getenv("TMPDIR");
  snprintf(one->folder, sizeof one->folder, "%s/posenc-bench-XXXXXX", parent && *parent ? parent : "/tmp");
  if (strlen(one->folder) + 1 >= sizeof one->folder || !mkdtemp(one->folder)) *one->folder = '\0';
}

static bool start_one(watch *w, watched *one, const posenc_kernel *kernel, size_t cache) {
  const bench_request *request = w->request;
  one->kernel = kernel;
  make_folder(one);
  one->service = (service){request, kernel, &w->evictor, w->seeds, cache};
  one->stays = calloc(request->shape_count + 1, sizeof *one->stays);
  if (!one->stays) return bench_tell_memory();
  /* The worker sends no message during a repetition. */
  const isolation how = {.kernels = &one->kernel,
                         .kernel_count = 1,
                         .silence = request->silence + 10.0 * request->min_time,
                         .folder = *one->folder ? one->folder : NULL};
  one->lodger = isolate_start(serve, &one->service, &how);
  return one->lodger || bench_tell("bench: no process could be created for %s", kernel->name);
}

watch *watch_start(const bench_request *request, size_t cache) {
  watch *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->request = request;
  w->all = calloc(request->kernel_count + 1, sizeof *w->all);
  w->seeds = calloc(request->shape_count + 1, sizeof *w->seeds);
  bool enough = w->all && w->seeds && (!has_mode(request, BENCH_COLD) || evictor_open(&w->evictor, cache));
  if (!enough) bench_tell_memory();
  for (size_t i = 0; enough && i < request->shape_count; i++) w->seeds[i] = random_seed();
  for (size_t k = 0; enough && k < request->kernel_count; k++)
    enough = start_one(w, &w->all[k], request->kernels[k], cache);
  if (enough) return w;
  watch_end(w);
  return NULL;
}

static void end_one(watched *one, size_t shapes) {
  if (one->lodger) {
    isolated end = isolate_end(one->lodger);
    one->lodger = NULL;
    char words[400];
    describe_exit(&end, words, sizeof words);
    if (!end.result) lose(one, words);
    if (end.littered) accuse(one, SURROUNDINGS, "it has left a file in TMPDIR");
    free(end.result);
  }
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

void watch_tell(const watch *w, json_t *context) {
  json_t *checks = json_array();
  for (size_t k = 0; k < w->request->kernel_count; k++) {
    const watched *one = &w->all[k];
    char key[128];
    snprintf(key, sizeof key, KERNEL_FAILED "%s", one->kernel->name);
    if (one->lost) json_object_set_new(context, key, json_string(one->words));
    for (bench_check c = 0; c < BENCH_CHECKS; c++) {
      const tally *t = &one->tallies[c];
      if (!t->compared && !*t->words) continue;
      json_array_append_new(checks, json_pack("{s:s, s:s, s:I, s:b, s:s*}", "kernel", one->kernel->name, "check",
                                              names[c], "compared", (json_int_t)t->compared, "ok", !*t->words, "note",
                                              *t->words ? t->words : NULL));
    }
  }
  json_object_set_new(context, "checks", checks);
}

double watch_busy(const watch *w) {
  double all = 0.0;
  for (size_t k = 0; k < w->request->kernel_count; k++) all += busy_of(&w->all[k]);
  return all;
}

/* ---- the worker's memory ----------------------------------------------------------------------------------- */

/* Reads a part of a worker's memory. Returns false if that cannot be. */
static bool read_memory(const watch *w, const watched *one, const void *from, void *to, size_t bytes) {
  const struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};
  return !w->forbidden && process_vm_readv(process_of(one), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* Returns the resident bytes of a worker; 0 if the system does not tell. */
static size_t resident(const watched *one) {
  char path[64];
  unsigned long long all, pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)process_of(one));
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  if (fscanf(file, "%llu %llu", &all, &pages) != 2) pages = 0;
  fclose(file);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- what was written ------------------------------------------------------------------------------------------ */

typedef struct reading {
  watch *w;
  const watched *one;
} reading;

static bool read_for_trial(void *from, const void *address, void *to, size_t bytes) {
  const reading *r = from;
  return read_memory(r->w, r->one, address, to, bytes);
}

/* Notes what a trial has found, and accuses the kernel of what is wrong. */
static void note_trial(watch *w, watched *one, size_t table, const char *when, bool done, const judgement *found) {
  char how[120] = "other bits than before";
  one->tallies[TIMED_VALUES].compared += found->compared;
  if (!done && !w->forbidden && errno != ENOMEM) accuse(one, TIMED_VALUES, "what it wrote cannot be read %s", when);
  if (found->broken == 0) return;
  if (!isnan(found->got) || !isnan(found->exact))
    snprintf(how, sizeof how, "%.9g instead of %.9g", found->got, found->exact);
  char *options = problem_options(&w->request->shapes[table].problem);
  accuse(one, TIMED_VALUES,
         "%" PRId64 " of %" PRId64 " elements are wrong %s on %s: row %" PRId64 ", column %" PRId64 ": %s",
         found->broken, found->compared, when, options ? options : "?",
         w->request->shapes[table].problem.first + found->row, found->column, how);
  free(options);
}

/* Judges what a turn left behind. */
static void judge_turn(watch *w, watched *one, size_t table, bench_mode mode, const turn_terms *terms,
                       const answer *a) {
  const stay *at = &one->stays[table];
  reading from = {w, one};
  judgement found = {0};
  char when[64];
  if (w->forbidden || !trial_can(&at->yardstick)) return;
  const uint64_t drawn = at->suspicions[mode].turns ? random_seed() : 0; /* all in the first turn */
  snprintf(when, sizeof when, "after a timed call in mode %s", bench_mode_name(mode));
  errno = 0;
  const bool done = trial_of_turn(&at->yardstick, mode, at->facts.modes[mode].rows, terms,
                                  &(evidence){read_for_trial, &from, a->memory, a->notes, drawn}, &found);
  note_trial(w, one, table, when, done, &found);
}

/* Whether large memory stays with the workers between turns: all that they want together is a part of the machine's. */
static bool keeps_memory(const watch *w) {
  double all = 0.0;
  for (size_t k = 0; k < w->request->kernel_count; k++) {
    size_t most[POSENC_BF16 + 1] = {0};
    for (size_t i = 0; w->all[k].stays && i < w->request->shape_count; i++) {
      size_t *held = &most[w->request->shapes[i].problem.dtype];
      if (w->all[k].stays[i].facts.bytes > *held) *held = w->all[k].stays[i].facts.bytes;
    }
    for (size_t d = 0; d < sizeof most / sizeof *most; d++) all += (double)most[d];
  }
  return all < 0.25 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Has a worker give its memory back, unless that of all fits. Returns false if the kernel is lost. */
static bool let_go(const watch *w, watched *one, size_t table) {
  const order o = {.kind = ORDER_LET_GO, .shape = table};
  answer a;
  return keeps_memory(w) || ask(one, &o, &a);
}

/* ---- preparing ----------------------------------------------------------------------------------------------- */

/* Meets the worker before the kernel's code has run there: only then does it depend on the system alone whether its
   memory can be read. */
static bool greet(watch *w, watched *one) {
  const order o = {.kind = ORDER_GREET};
  unsigned char byte;
  answer a;
  if (!ask(one, &o, &a)) return false;
  if (clock_getcpuclockid(process_of(one), &one->clock) != 0) one->clock = 0;
  if (w->forbidden || read_memory(w, one, a.notes, &byte, 1)) return true;
  w->forbidden = true;
  return bench_tell(
             "bench: what kernels write is not compared: the system does not let a process read the memory of its "
             "own (%s)",
             strerror(errno)) ||
         true;
}

bool watch_open(watch *w, size_t kernel, size_t table, bool wanted, answer *a) {
  watched *one = &w->all[kernel];
  const order o = {.kind = ORDER_OPEN, .shape = table, .wanted = wanted};
  return (one->met || (one->met = greet(w, one))) && ask(one, &o, a);
}

/* Returns the exact values of a problem; null if memory runs out. */
static judge *judge_for(watch *w, const posenc_problem *problem) {
  for (size_t i = 0; i < w->known_count; i++)
    if (memcmp(&w->known[i].problem, problem, sizeof *problem) == 0) return w->known[i].judge;
  known *more = reallocarray(w->known, w->known_count + 1, sizeof *more);
  judge *made = more ? judge_create(problem) : NULL;
  if (more) w->known = more;
  if (made) w->known[w->known_count++] = (known){*problem, made};
  return made;
}

/* Whether results are to be compared: those of a device stay there. */
static bool wants_comparison(const watch *w, const watched *one) {
  const bench_device *device = w->request->device;
  return !w->request->unchecked && !(device && device->kernel == one->kernel);
}

/* Chooses what results are compared with: exact values, if there are any within a bound. */
static void choose_judges(watch *w, watched *one, size_t table) {
  stay *at = &one->stays[table];
  yardstick *y = &at->yardstick;
  y->problem = &w->request->shapes[table].problem;
  y->batch = op_is_applied(y->problem->op) ? w->request->batch : 1;
  y->bound = &one->kernel->bound;
  if (!wants_comparison(w, one) || !judge_can(y->problem)) return;
  posenc_problem all = *y->problem;
  if (at->facts.plan_count > 1) {
    turn_shifts(w->seeds[table], all.rows, y->shifts);
    all.rows += turn_reach(all.rows);
  }
  y->judge = judge_for(w, &all);
  y->held = y->judge && judge_holds(y->judge, y->bound);
}

/* Has one plan write the whole shape, and judges that; keeps it if there are no exact values. */
static bool show(watch *w, watched *one, size_t table, int plan) {
  static const size_t kept_most = (size_t)1 << 26;
  stay *at = &one->stays[table];
  const turn_terms terms = {.seed = (random_seed() & UINT32_MAX) | (uint64_t)plan << 32,
                            .calls = 1,
                            .slices = 1,
                            .chain = INT64_MAX,
                            .of = TURN_PLANS,
                            .plans = 1};
  const order o = {.kind = ORDER_SHOW, .shape = table, .plan = plan, .terms = terms};
  const bool has_x = op_is_applied(w->request->shapes[table].problem.op);
  answer a;
  reading from = {w, one};
  judgement found = {0};
  if (!ask(one, &o, &a)) return false;
  unsigned char **shown = &at->yardstick.shown[plan];
  if (!at->yardstick.held) {
    if (has_x || at->facts.bytes > kept_most || !(*shown = malloc(at->facts.bytes + 1))) return true;
    if (read_memory(w, one, a.memory, *shown, at->facts.bytes)) return true;
    free(*shown);
    *shown = NULL;
    return true;
  }
  if (w->forbidden) return true;
  const bool done =
      trial_of_whole(&at->yardstick, &terms, &(evidence){read_for_trial, &from, a.memory, NULL, 0}, &found);
  note_trial(w, one, table, "before any timed call", done, &found);
  return !one->lost;
}

/* Accuses a kernel whose memory has grown by most of `bytes`, which are tables. */
static void check_growth(watched *one, size_t before, double bytes) {
  const size_t now = resident(one);
  const double grown = now > before ? (double)(now - before) : 0.0;
  one->tallies[ROWS_IN_PLAN].compared++;
  if (grown > 0.4 * bytes)
    accuse(one, ROWS_IN_PLAN,
           "plans of %.3g MB of tables, and calls of them, took %.3g MB of memory, but the contract has "
           "no keeps_rows",
           1e-6 * bytes, 1e-6 * grown);
}

/* Returns by how much memory grows when plans of so many rows are made and used; 0 if that cannot be. *plans: how many
   are wanted, and were made. */
static double growth_by(watched *one, size_t table, int64_t rows, int *plans) {
  const order o = {.kind = ORDER_GROW, .shape = table, .rows = rows, .plan = *plans},
              less = {.kind = ORDER_GROW, .shape = table};
  answer a;
  *plans = 0;
  if (!ask(one, &less, &a)) return 0.0;
  const size_t before = resident(one);
  if (!ask(one, &o, &a) || a.refused || !before) return 0.0;
  const size_t after = resident(one);
  *plans = a.plan_count;
  return ask(one, &less, &a) && after > before ? (double)(after - before) : 0.0;
}

/*
 * Checks that plans, and calls of them, do not take memory for their rows, before other plans fill what the kernel may
 * have for some. Several plans of the table are made, and as many of an eighth of its rows, so that what a plan takes
 * for any number of rows makes no difference. Tables below 64 KiB are not told from the pages of the heap; large ones
 * are looked at when their plans are made.
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
    accuse(
        one, ROWS_IN_PLAN,
        "%d plans of tables of %.3g MB together, and calls of them, take %.3g MB, but plans of %d %% of the rows take "
        "%.3g MB, and the contract has no keeps_rows",
        plans, 1e-6 * expected, 1e-6 * all, 100 / PART, 1e-6 * some);
}

bool watch_prepare(watch *w, size_t kernel, size_t table, answer *a) {
  watched *one = &w->all[kernel];
  stay *at = &one->stays[table];
  const order o = {.kind = ORDER_PREPARE, .shape = table};
  if (!one->lost) try_growth(w, one, table);
  const size_t before = one->lodger ? resident(one) : 0;
  if (!ask(one, &o, a)) return false;
  at->facts = *a;
  choose_judges(w, one, table);
  const int shown = a->plan_count > 2 ? 2 : a->plan_count;
  const bool is_shown = wants_comparison(w, one) && a->pass <= w->request->longest;
  for (int p = 0; p < shown && !one->lost && is_shown; p++)
    if (!show(w, one, table, p)) return false;
  const posenc_problem *problem = &w->request->shapes[table].problem;
  if (!one->lost && before && problem->op == POSENC_TABLE && at->yardstick.held && a->bytes >= (size_t)1 << 22 &&
      !one->kernel->keeps_rows)
    check_growth(one, before + a->allocated, shown * (double)a->bytes);
  if (one->lost || !let_go(w, one, table)) return false;
  one->rested = busy_of(one);
  return true;
}

/* ---- turns ------------------------------------------------------------------------------------------------------ */

/* Returns after how many calls x is drawn anew: as many as keep the sum of all bounds so small that a call that was
   left out is seen. */
static int64_t chain_of(const watch *w, const watched *one, size_t table, bench_mode mode) {
  const posenc_problem *p = &w->request->shapes[table].problem;
  static const double telling = 0.05, largest = 4.0;
  if (!op_is_applied(p->op)) return INT64_MAX;
  const double last = (double)p->first + (double)p->rows, attention = posenc_attention(p);
  const int64_t distance = fabs(last) < 0x1p62 ? (int64_t)fmax(fabs(last), fabs((double)p->first)) : INT64_MAX;
  const double at_0 = posenc_applied_bound_at(&one->kernel->bound, p, distance, 0.0),
               per_size = posenc_applied_bound_at(&one->kernel->bound, p, distance, 1.0) - at_0,
               each = at_0 + 1.5 * per_size;
  double most = p->op == POSENC_ADD ? fmin(telling / at_0, sqrt(2.0 * telling / per_size)) : telling / each;
  if (attention > 1.0) most = fmin(most, log(largest) / log(attention));
  return most > 1.0 ? (int64_t)fmin(most, mode == BENCH_ROW ? 128.0 : 4096.0) : 1; /* rows are followed one by one */
}

/* Checks that no other worker was busy since its last turn. Threads of OpenMP spin for a while. */
static void check_others(watch *w, const watched *own) {
  for (size_t k = 0; k < w->request->kernel_count; k++) {
    watched *one = &w->all[k];
    const double allowed = one->kernel->threaded ? 0.5 * environment_processors() : 0.02;
    if (one == own || one->lost || !one->clock || one->rested == 0.0) continue;
    one->tallies[LATE_WORK].compared++;
    const double worked = busy_of(one) - one->rested;
    if (worked > allowed)
      accuse(one, LATE_WORK, "its process worked for %.3g s while other kernels had their turns", worked);
  }
}

static void suspect(watched *one, suspicion *s, bench_check c, bool is_suspect, double how_much) {
  one->tallies[c].compared++;
  if (!is_suspect) return;
  s->worst[c] = s->of[c]++ ? fmin(s->worst[c], how_much) : how_much;
}

/* The times of a turn, from outside. */
typedef struct outside {
  double began, ended;      /* when the order was sent, and the answer came */
  double busy, first, late; /* processors' time of all threads, of the first one, and after the answer */
} outside;

/* Compares the worker's times with those outside. Processors' times do not depend on other work of the machine; and no
   clock is behind the moment at which the order was sent. */
static void check_times(watched *one, suspicion *s, const answer *a, const outside *o) {
  const double told = a->ended - a->began, passed = o->ended - o->began, others = o->busy - o->first;
  const bool threaded = one->kernel->threaded;
  const double most = threaded ? (double)environment_processors() * told : told, busy = threaded ? o->busy : o->first;
  s->turns++;
  if (!threaded)
    suspect(one, s, OWN_THREADS, others > 0.005 * o->busy + 2e-4 || o->busy > 1.02 * passed + 1e-3, others);
  suspect(one, s, WATCHED_TIME,
          a->seconds > told || a->began < o->began - 1e-3 || a->ended > o->ended + 1e-3 || busy > 1.01 * most + 5e-4 ||
              passed > 2.0 * told + 0.05,
          fmax(busy / most * told, passed) - told);
  suspect(one, s, LATE_WORK, !threaded && o->late > 5e-4, o->late);
}

/* Whether each call is timed alone: after a preparation; or after memory was changed, if two readings of the clock are
   little beside a call of a table, or if all calls are asked for the same. x changes with each call. */
static bool is_alone(const watch *w, const stay *at, bench_mode mode) {
  static const double slow = 100e-6;
  const mode_facts *facts = &at->facts.modes[mode];
  const bool prepares = mode == BENCH_COLD || mode == BENCH_FRESH || mode == BENCH_MALLOC;
  const bool is_slow = facts->seconds >= slow * (double)facts->iterations && mode != BENCH_PLAN;
  if (prepares || w->forbidden || !trial_can(&at->yardstick) || op_is_applied(at->yardstick.problem->op))
    return prepares;
  return is_slow || at->facts.plan_count == 1;
}

/* Draws the plans of a turn. */
static void choose_plans(turn_terms *terms, int count) {
  uint64_t random = ~terms->seed;
  terms->of = count;
  terms->plans = terms->alone || count < 2 ? count : 2;
  terms->step = count < 2 ? 0 : 1 + (int)random_below(&random, (uint64_t)count - 1);
  if (terms->plans > 2) terms->step |= 1; /* reaches all, as their number is a power of two */
}

bool watch_turn(watch *w, size_t kernel, size_t table, bench_mode mode, turn_times *times) {
  watched *one = &w->all[kernel];
  stay *at = &one->stays[table];
  const mode_facts *facts = &at->facts.modes[mode];
  const int64_t rows = w->request->shapes[table].problem.rows;
  const bool is_sliced = facts->rows < rows && mode != BENCH_ROW;
  if (one->lost) return false;
  order o = {.kind = ORDER_TURN, .shape = table, .mode = mode};
  o.terms = (turn_terms){.seed = random_seed(),
                         .calls = facts->iterations,
                         .slices = is_sliced ? rows / facts->rows : 1,
                         .from = is_sliced ? at->called[mode] % (rows / facts->rows) : 0,
                         .chain = chain_of(w, one, table, mode),
                         .alone = is_alone(w, at, mode)};
  /* Without exact values, only what two plans wrote is kept. */
  choose_plans(&o.terms, at->yardstick.held || at->facts.plan_count < 2 ? at->facts.plan_count : 2);
  at->called[mode] += facts->iterations;
  check_others(w, one);
  const double busy = busy_of(one), first = first_busy_of(one, busy);
  outside seen = {.began = clock_seconds()};
  if (!ask(one, &o, &times->of)) return false;
  seen.ended = clock_seconds();
  nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* the worker sleeps then, and its time is complete */
  const double busy_then = busy_of(one);
  seen.busy = busy_then - busy;
  seen.first = first_busy_of(one, busy_then) - first;
  judge_turn(w, one, table, mode, &o.terms, &times->of);
  if (one->lost) return false;
  seen.late = busy_of(one) - busy_then;
  check_times(one, &at->suspicions[mode], &times->of, &seen);
  times->best = times->of.limits;
  if (facts->limit_bytes > 0) {
    answer after;
    o.kind = ORDER_LIMITS;
    o.keep = keeps_memory(w);
    if (!ask(one, &o, &after)) return false;
    times->best.serial = fmax(times->best.serial, after.limits.serial);
    times->best.threaded = fmax(times->best.threaded, after.limits.threaded);
  } else if (!let_go(w, one, table)) {
    return false;
  }
  one->rested = busy_of(one);
  return true;
}

/* A share of the limit that no honest kernel has in every repetition. In the published report, 0.98 is the largest
   share that a kernel has in all of its repetitions, and 1.12 the largest in any. */
static const double floor_share = 1.25;

void watch_share(watch *w, size_t kernel, size_t table, bench_mode mode, double share) {
  watched *one = &w->all[kernel];
  if (!isnan(share)) suspect(one, &one->stays[table].suspicions[mode], FLOOR, share > floor_share, share);
}

/* Accuses a kernel of what most turns of a benchmark have shown, at least two; of the floor if all have. */
static void conclude(watch *w, watched *one, size_t table, bench_mode mode) {
  const suspicion *s = &one->stays[table].suspicions[mode];
  const char *name = w->request->shapes[table].name, *in = bench_mode_name(mode);
  if (s->turns == 0) return;
  for (bench_check c = 0; c < BENCH_CHECKS; c++) {
    const bool most = c == FLOOR ? s->of[c] == s->turns : 2 * s->of[c] > s->turns;
    if (!most || s->of[c] < (s->turns < 2 ? 1 : 2)) continue;
    if (c == FLOOR)
      accuse(one, c, "%s on %s is %.3g times as fast as this machine moves the same bytes, or more, in all %d turns",
             in, name, s->worst[c], s->turns);
    if (c == OWN_THREADS)
      accuse(one, c,
             "%s on %s: threads used %.3g s of processors' time or more, in %d of %d turns, but the contract has "
             "no threads",
             in, name, s->worst[c], s->of[c], s->turns);
    if (c == WATCHED_TIME)
      accuse(one, c, "%s on %s: its process told of %.3g s less than passed or was worked, or more, in %d of %d turns",
             in, name, s->worst[c], s->of[c], s->turns);
    if (c == LATE_WORK)
      accuse(one, c, "%s on %s worked on for %.3g s after the calls had returned, in %d of %d turns", in, name,
             s->worst[c], s->of[c], s->turns);
  }
}

void watch_conclude(watch *w) {
  for (size_t k = 0; k < w->request->kernel_count; k++)
    for (size_t i = 0; w->all[k].stays && i < w->request->shape_count; i++)
      for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
        if (!w->all[k].lost) conclude(w, &w->all[k], i, mode);
}
