/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/clock.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/process.h"
#include "verify/stress.h"
#include "verify/subject.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- threads that call a kernel at the same time --------------------------------------------------------------- */

/* The work that one thread repeats, and the bits that it must give. */
typedef struct race_job {
  const posenc_plan *plan; /* null if the thread makes a plan for each call */
  const posenc_problem *problem;
  const posenc_options *options;
  posenc_slice slice;
  const unsigned char *x; /* null for a table */
  unsigned char *out;
  const unsigned char *want; /* null if not known yet: one call is made */
  size_t bytes;
  double seconds;                 /* see race_run, which sets this and the next */
  const atomic_int *go;           /* 0: wait, 1: run, -1: end without running */
  bool wrong, failed;             /* the bits differed; no plan could be made */
  const char *fault, *difference; /* changes of the floating-point environment, and of the thread */
} race_job;

/* This is long enough for two threads to run at the same time, unless the system delays one, and for rounds in which
   all do. Where threads outnumber the CPUs, they run one after another, and the race lasts as long for each of them. */
#define RACE_SECONDS 3e-3

/* Makes a call. Plans that a thread makes are not sealed, as sealing works for one thread. */
static void call_once(race_job *mine) {
  posenc_plan *made = NULL;
  if (!mine->plan && posenc_plan_create(&made, mine->problem, mine->options) != POSENC_OK)
    mine->failed = true;
  else
    subject_call(made ? made : mine->plan, &mine->slice, mine->x, mine->out);
  posenc_plan_destroy(made);
  const char *fault = fpenv_restore();
  if (fault) mine->fault = fault;
}

static void *run_job(void *argument) {
  enum { LEAST_ROUNDS = 4 };
  const double enough = 0.1;
  race_job *mine = argument;
  thread_state before, after;
  thread_read(&before);
  fpenv_restore();
  int go;
  while (!(go = atomic_load(mine->go))) sched_yield();
  if (go < 0) return NULL;
  const double begin = clock_seconds();
  int rounds = 0;
  do {
    call_once(mine);
    if (mine->want && !mine->failed && memcmp(mine->out, mine->want, mine->bytes) != 0) mine->wrong = true;
    rounds++;
  } while (mine->want && !mine->wrong && clock_seconds() - begin < (rounds < LEAST_ROUNDS ? enough : mine->seconds));
  thread_read(&after);
  mine->difference = thread_difference(&before, &after);
  return NULL;
}

/* Returns a number of threads above that of the CPUs that this process may use, from 9 to 33. */
static int race_threads(void) {
  enum { FEWEST = 9, MOST = 33 };
  cpu_set_t cpus;
  const int all = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? 2 * CPU_COUNT(&cpus) + 1 : FEWEST;
  if (all < FEWEST) return FEWEST;
  return all > MOST ? MOST : all;
}

/* Runs each job repeatedly, for at least `seconds`, in a thread of its own, all started together. Changes in their
   threads break ENVIRONMENT and PROCESS. Returns false if there cannot be so many threads. */
static bool race_run(subject *s, race_job *jobs, int count, double seconds) {
  atomic_int go = 0;
  pthread_t *threads = memory_take((size_t)count, sizeof *threads);
  int made = 0;
  subject_begin_calls();
  for (int i = 0; i < count; i++) {
    jobs[i].go = &go;
    jobs[i].seconds = seconds;
  }
  while (made < count - 1 && pthread_create(&threads[made], NULL, run_job, &jobs[made]) == 0) made++;
  const bool all = made == count - 1;
  atomic_store(&go, all ? 1 : -1);
  run_job(&jobs[made]);
  for (int i = 0; i < made; i++) pthread_join(threads[i], NULL);
  free(threads);
  subject_end_calls(s, s->shape->problem.first);
  for (int i = 0; i < count; i++) {
    const race_job *mine = &jobs[i];
    const posenc_problem *problem = mine->problem ? mine->problem : &s->shape->problem;
    if (mine->fault) check_break(&s->checks[ENVIRONMENT], s, problem, "in one of many threads: %s", mine->fault);
    if (mine->difference) check_break(&s->checks[PROCESS], s, problem, "in one of many threads: %s", mine->difference);
  }
  return all;
}

/* Makes the first calls in a process, one per thread, as they may initialize static data of the kernel. The expected
   results are computed by single calls afterwards. */
static bool run_first(subject *s, race_job *jobs, unsigned char *want, size_t apart, int count) {
  const posenc_problem *problem = &s->shape->problem;
  const bool all = race_run(s, jobs, count, 0.0);
  for (int i = 0; i < count && all; i++) {
    race_job *mine = &jobs[i];
    unsigned char *alone = want + (size_t)i * apart;
    subject_begin_calls();
    subject_call(mine->plan, &mine->slice, mine->x, alone);
    subject_end_calls(s, problem->first + mine->slice.row);
    mine->want = alone;
    if (memcmp(mine->out, mine->want, mine->bytes) != 0)
      check_break(&s->checks[THREADS], s, problem, "other bits in the first calls, which %d threads make at once",
                  count);
    memset(mine->out, ARENA_POISON, mine->bytes); /* elements that a thread does not write differ then */
  }
  return all;
}

/* Checks THREADS. The rows of the threads are spread over the table, so that threads that disturb each other write
   different values. */
void subject_check_threads(subject *s, bool again, const rows_source *of_x) {
  /* The bytes of a thread are limited, as clearing memory takes longer than making the rows. It has more rows than a
     kernel's block. */
  enum { LINE = 64, BESIDE = 1 << 16, MOST_BYTES = 1 << 18, AGAIN_BYTES = 1 << 16, FEWEST_ROWS = 17 };
  const posenc_problem *problem = &s->shape->problem;
  const int64_t fitting = (again ? AGAIN_BYTES : MOST_BYTES) / (int64_t)row_bytes(problem),
                most = least(CHECKED_ROWS, fitting > FEWEST_ROWS ? fitting : FEWEST_ROWS),
                rows = least(of_x ? problem->rows : problem->rows / 2, most);
  const int count = race_threads();
  /* Results are apart, so that a write beside one, which MEMORY finds, does not change that of another thread. */
  const size_t bytes = row_bytes(problem) * (size_t)rows, apart = (bytes + 2 * LINE - 1) / LINE * LINE,
               all = (size_t)count * apart, room_bytes = (of_x ? 3 : 2) * all + LINE;
  check *c = &s->checks[THREADS];
  if (rows == 0) return;
  unsigned char *room = allocated(posenc_alloc(room_bytes + BESIDE)); /* rows may be streamed */
  race_job *jobs = memory_take((size_t)count, sizeof *jobs);
  memset(room, ARENA_POISON, room_bytes);
  for (int i = 0; i < count; i++) {
    unsigned char *out = room + LINE + all + (size_t)i * apart, *x = of_x ? out + all : NULL;
    const posenc_slice slice = posenc_rows((problem->rows - rows) * i / (count - 1), rows);
    if (of_x) of_x->read(of_x->from, slice.row, rows, x);
    jobs[i] = (race_job){.plan = s->plan, .slice = slice, .x = x, .out = out, .bytes = bytes};
  }
  const bool all_run = run_first(s, jobs, room + LINE, apart, count) &&
                       race_run(s, jobs, count, again ? RACE_SECONDS / 3.0 : RACE_SECONDS);
  if (!all_run) c->skip = "threads could not be had";
  for (int i = 0; all_run && i < count; i++)
    check_note_all(c, rows * row_width(problem), jobs[i].wrong ? 1.0 : 0.0, 0.0, problem->first + jobs[i].slice.row);
  free(jobs);
  posenc_free(room);
}

/* ---- many plans ---------------------------------------------------------------------------------------------- */

/* Checks plans of different bases: some threads execute existing plans while others create, execute and destroy
   plans. */
static void check_many_plans(stress *t) {
  enum { ROWS = 24, KINDS = 4, LINE = 64 };
  check *c = &t->s->checks[THREADS];
  const int count = race_threads();
  /* Tables of 2 columns are the same for all bases. */
  const posenc_problem like = variant_done(t, ROWS, 1 + (int)random_below(t->random, VARIANT_DIMS - 1));
  posenc_options options = t->options;
  probe of[KINDS];
  int kinds = 0;
  for (int n = 0; n < KINDS; n++) {
    posenc_problem p = like;
    p.base = (1 + 2 * n) * like.base + n;
    if (probe_open(&of[kinds], t, &p, true)) kinds++;
  }
  const size_t bytes = row_bytes(&like) * ROWS, apart = (bytes + LINE - 1) / LINE * LINE;
  unsigned char *out = allocated(posenc_alloc((size_t)count * apart));
  race_job *jobs = memory_take((size_t)count, sizeof *jobs);
  options.kernel = t->s->kernel;
  for (int i = 0; kinds && i < count; i++) {
    const probe *mine = &of[i % kinds];
    jobs[i] = (race_job){.plan = i / kinds % 2 ? NULL : mine->s.plan,
                         .problem = &mine->of.problem,
                         .options = &options,
                         .slice = posenc_rows(0, ROWS),
                         .x = mine->x,
                         .out = out + (size_t)i * apart,
                         .want = mine->rows,
                         .bytes = bytes};
  }
  memset(out, ARENA_POISON, (size_t)count * apart);
  const bool all = kinds && race_run(t->s, jobs, count, RACE_SECONDS);
  if (kinds && !all) c->skip = "threads could not be had";
  for (int i = 0; all && i < count; i++) {
    if (jobs[i].failed) c->skip = "threads could not make plans";
    c->compared += ROWS * row_width(&like);
    if (jobs[i].wrong)
      check_break(c, t->s, jobs[i].problem, "other bits in %s while %d threads make and execute plans of several bases",
                  jobs[i].plan ? "a plan" : "plans of one thread", count);
  }
  for (int n = 0; n < kinds; n++) probe_close(&of[n]);
  free(jobs);
  posenc_free(out);
}

/* ---- teams of a threaded kernel -------------------------------------------------------------------------------- */

static const int teams[] = {1, 2, 3, 7, 16};
enum { TEAMS = sizeof teams / sizeof *teams };

/* Checks that results do not depend on the number of threads: for few rows, and for 1 MiB and more, for which a kernel
   may use all threads. */
static void compare_teams(stress *t) {
  static const int64_t counts[] = {1, 3, 17, 101, 1027};
  enum { COUNTS = sizeof counts / sizeof *counts, DIM = 512 };
  const posenc_problem p = variant_problem(t, counts[COUNTS - 1], DIM);
  check *c = &t->s->checks[THREADS];
  probe r;
  if (!probe_open(&r, t, &p, true)) return;
  unsigned char *out = allocated(posenc_alloc(r.row_bytes * (size_t)p.rows));
  for (int n = 0; n < TEAMS; n++) {
    posenc_options options = t->options;
    subject other = r.s;
    posenc_plan *plan;
    options.threads = teams[n];
    other.options = &options;
    if (subject_plan(&other, &p, &plan) != POSENC_OK) continue;
    for (int k = 0; k < COUNTS; k++) {
      const size_t bytes = r.row_bytes * (size_t)counts[k];
      memset(out, ARENA_POISON, bytes);
      subject_begin_calls();
      probe_call(&r, plan, 0, counts[k], out);
      subject_end_calls(t->s, p.first);
      c->compared += counts[k] * row_width(&p);
      if (memcmp(out, r.rows, bytes) != 0)
        check_break(c, t->s, &p, "%" PRId64 " rows have other bits with %d threads than with %d", counts[k], teams[n],
                    t->options.threads);
    }
    subject_drop(plan);
  }
  posenc_free(out);
  probe_close(&r);
}

/* Checks rows against the bound with each team. */
static void examine_teams(stress *t) {
  enum { DIM = 512, APPLIED_ROWS = CHECKED_ROWS - 3, APPLIED_DIM = 4096 };
  const bool is_applied = op_is_applied(t->s->shape->problem.op);
  posenc_problem p = variant_problem(t, APPLIED_ROWS, is_applied ? APPLIED_DIM : DIM);
  p.heads = 1;
  if (!is_applied) p.rows = STRESS_BYTES / (int64_t)row_bytes(&p);
  const shape of = shape_of(&p);
  check *c = &t->s->checks[THREADS];
  fast_oracle *reference = variant_reference(&p);
  for (int n = 0; n < TEAMS; n++) {
    posenc_options options = t->options;
    const bool noted = *c->note;
    subject other;
    options.threads = teams[n];
    if (subject_open(&other, t->s->kernel, &of, &options)) continue;
    variant_examine(t, &other, reference, THREADS);
    subject_close(&other);
    const size_t used = strlen(c->note);
    if (!noted && used) snprintf(c->note + used, sizeof c->note - used, " --threads %d", teams[n]);
  }
  fast_destroy(reference);
}

void check_teams(stress *t) {
  stress_say("plans of several threads at once");
  check_many_plans(t);
  if (!t->s->kernel->threaded) return;
  stress_say("other numbers of threads");
  (t->s->kernel->reproducible ? compare_teams : examine_teams)(t);
}
