/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/watch.h"

#include "common/clock.h"
#include "common/environment.h"
#include "common/random.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* Judges what a turn left in the worker's memory. */
static void judge_turn(watch *w, watched *one, size_t table, bench_mode mode, const turn_terms *terms,
                       const answer *a) {
  const stay *at = &one->stays[table];
  reading from = {w, one};
  judgement found = {0};
  char when[64];
  if (w->forbidden || !trial_can(&at->yardstick)) return;
  const uint64_t drawn = at->suspicions[mode].turns ? turn_seed() : 0; /* all in the first turn */
  snprintf(when, sizeof when, "after a timed call in mode %s", bench_mode_name(mode));
  errno = 0;
  const bool done = trial_of_turn(&at->yardstick, mode, at->facts.modes[mode].rows, terms,
                                  &(evidence){read_for_trial, &from, a->memory, a->notes, drawn}, &found);
  note_trial(w, one, table, when, done, &found);
}

/* Whether workers keep their memory between turns: if all that they need together, for the shapes that were prepared so
   far, is less than three quarters of what was available. The page faults of 512 MiB before each turn would take half
   as long as a fast kernel's turn. */
static bool can_keep_memory(const watch *w) {
  double all = 0.0;
  for (size_t k = 0; k < w->request->kernel_count; k++) {
    size_t most[POSENC_BF16 + 1] = {0};
    for (size_t i = 0; w->all[k].stays && i < w->request->shape_count; i++) {
      size_t *held = &most[w->request->shapes[i].problem.dtype];
      if (w->all[k].stays[i].facts.bytes > *held) *held = w->all[k].stays[i].facts.bytes;
    }
    for (size_t d = 0; d < sizeof most / sizeof *most; d++) all += (double)most[d];
  }
  return all < 0.75 * w->available;
}

/* Orders a worker to give its memory back, unless all keep theirs. Returns false if the kernel is lost. */
static bool let_go(const watch *w, watched *one, size_t table) {
  const order o = {.kind = ORDER_LET_GO, .shape = table};
  answer a;
  return w->keeps_memory || watched_ask(one, &o, &a);
}

/* ---- preparing ----------------------------------------------------------------------------------------------- */

bool watch_open(watch *w, size_t kernel, size_t table, bool wanted, answer *a) {
  watched *one = &w->all[kernel];
  const order o = {.kind = ORDER_OPEN, .shape = table, .wanted = wanted};
  return (one->met || (one->met = watched_meet(w, one))) && watched_ask(one, &o, a);
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
    turn_shifts(w->seeds[table], all.rows, y->shifts);
    all.rows += turn_reach(all.rows);
  }
  y->judge = judge_for(w, &all);
  y->held = y->judge && judge_holds(y->judge, &y->bound);
}

/* Has one plan write the whole shape, and judges the result; without exact values, keeps it to be compared with. */
static bool show(watch *w, watched *one, size_t table, int plan) {
  static const size_t kept_most = (size_t)1 << 26;
  stay *at = &one->stays[table];
  const turn_terms terms = {.seed = (turn_seed() & UINT32_MAX) | (uint64_t)plan << 32,
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
  if (!watched_ask(one, &o, &a)) return false;
  unsigned char **shown = &at->yardstick.shown[plan];
  if (!at->yardstick.held) {
    if (has_x || at->facts.bytes > kept_most || !(*shown = malloc(at->facts.bytes + 1))) return true;
    if (watched_read(w, one, a.memory, *shown, at->facts.bytes)) return true;
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
  answer a;
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

/* Returns of how many plans an untimed call is compared in full: of two, or of one if the result is large. Of large
   results of add, rope and rope caches it is none if a mode's first turn compares all of one; the call of a table also
   shows its memory (check_growth). */
static int shown_plans(const watch *w, const stay *at, size_t table) {
  const posenc_problem *problem = &w->request->shapes[table].problem;
  if (!at->yardstick.held || w->forbidden || at->facts.bytes < (size_t)2 * TRIAL_LARGE) return 2;
  for (bench_mode mode = 0; problem->op != POSENC_TABLE && mode < BENCH_MODES; mode++)
    if (mode != BENCH_ROW && mode != BENCH_PLAN && at->facts.modes[mode].iterations > 0 &&
        at->facts.modes[mode].rows == problem->rows)
      return 0;
  return 1;
}

bool watch_prepare(watch *w, size_t kernel, size_t table, answer *a) {
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

/* ---- turns ------------------------------------------------------------------------------------------------------ */

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
  return most > 1.0 ? (int64_t)fmin(most, mode == BENCH_ROW ? 128.0 : 4096.0) : 1;
}

/* Checks that no other worker was busy since its last turn. Threads of OpenMP spin for a while. */
static void check_others(watch *w, const watched *own) {
  for (size_t k = 0; k < w->request->kernel_count; k++) {
    watched *one = &w->all[k];
    const double allowed = one->kernel->threaded ? 0.5 * environment_processors() : 0.02;
    if (one == own || one->lost || !one->clock || one->rested == 0.0) continue;
    one->tallies[LATE_WORK].compared++;
    const double worked = watched_busy(one) - one->rested;
    if (worked > allowed)
      watched_accuse(one, LATE_WORK, "its process worked for %.3g s while other kernels had their turns", worked);
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

/* Compares the worker's times with those outside. Processors' times do not depend on other work of the machine. Both
   processes read the same clock, so the worker begins after the order was sent, and ends before the answer came. */
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
  o.terms = (turn_terms){.seed = turn_seed(),
                         .calls = facts->iterations,
                         .slices = is_sliced ? rows / facts->rows : 1,
                         .from = is_sliced ? at->called[mode] % (rows / facts->rows) : 0,
                         .chain = chain_of(w, one, table, mode),
                         .alone = is_alone(w, at, mode)};
  /* Without exact values, only what two plans wrote is kept. */
  choose_plans(&o.terms, at->yardstick.held || at->facts.plan_count < 2 ? at->facts.plan_count : 2);
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
  judge_turn(w, one, table, mode, &o.terms, &times->of);
  if (one->lost) return false;
  seen.late = watched_busy(one) - busy_then;
  check_times(one, &at->suspicions[mode], &times->of, &seen);
  times->best = times->of.limits;
  if (facts->limit_bytes > 0) {
    answer after;
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

/* Accuses a kernel of what most turns of a benchmark have shown, at least two; of the floor if all have. */
static void conclude(watch *w, watched *one, size_t table, bench_mode mode) {
  const suspicion *s = &one->stays[table].suspicions[mode];
  const char *name = w->request->shapes[table].name, *in = bench_mode_name(mode);
  if (s->turns == 0) return;
  for (bench_check c = 0; c < BENCH_CHECKS; c++) {
    const bool most = c == FLOOR ? s->of[c] == s->turns : 2 * s->of[c] > s->turns;
    if (!most || s->of[c] < (s->turns < 2 ? 1 : 2)) continue;
    if (c == FLOOR)
      watched_accuse(one, c,
                     "%s on %s is %.3g times as fast as this machine moves the same bytes, or more, in all %d turns",
                     in, name, s->worst[c], s->turns);
    if (c == OWN_THREADS)
      watched_accuse(
          one, c,
          "%s on %s: threads used %.3g s of processors' time or more, in %d of %d turns, but the contract has "
          "no threads",
          in, name, s->worst[c], s->of[c], s->turns);
    if (c == WATCHED_TIME)
      watched_accuse(one, c,
                     "%s on %s: its process told of %.3g s less than passed or was worked, or more, in %d of %d turns",
                     in, name, s->worst[c], s->of[c], s->turns);
    if (c == LATE_WORK)
      watched_accuse(one, c, "%s on %s worked on for %.3g s after the calls had returned, in %d of %d turns", in, name,
                     s->worst[c], s->of[c], s->turns);
  }
}

void watch_conclude(watch *w) {
  for (size_t k = 0; k < w->request->kernel_count; k++)
    for (size_t i = 0; w->all[k].stays && i < w->request->shape_count; i++)
      for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
        if (!w->all[k].lost) conclude(w, &w->all[k], i, mode);
}
