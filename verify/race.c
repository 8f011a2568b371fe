/* SPDX-License-Identifier: MIT */
/* THREADS: several threads execute one plan at the same time. */
#include "config.h"

#include "verify/race.h"

#include "common/clock.h"
#include "common/fpenv.h"
#include "common/process.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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

int race_threads(void) {
  enum { FEWEST = 9, MOST = 33 };
  cpu_set_t cpus;
  const int all = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? 2 * CPU_COUNT(&cpus) + 1 : FEWEST;
  return all < FEWEST ? FEWEST : all > MOST ? MOST : all;
}

bool race_run(subject *s, race_job *jobs, int count, double seconds) {
  atomic_int go = 0;
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  int made = 0;
  subject_begin_calls();
  for (int i = 0; i < count; i++) {
    jobs[i].go = &go;
    jobs[i].seconds = seconds;
  }
  while (threads && made < count - 1 && pthread_create(&threads[made], NULL, run_job, &jobs[made]) == 0) made++;
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
void subject_check_threads(subject *s, bool again, draw_rows_of *draw, void *argument) {
  /* The bytes of a thread are limited, as clearing memory takes longer than making the rows. It has more rows than a
     kernel's block. */
  enum { LINE = 64, BESIDE = 1 << 16, MOST_BYTES = 1 << 18, AGAIN_BYTES = 1 << 16, FEWEST_ROWS = 17 };
  const posenc_problem *problem = &s->shape->problem;
  const int64_t fitting = (again ? AGAIN_BYTES : MOST_BYTES) / (int64_t)row_bytes(problem),
                most = least(CHECKED_ROWS, fitting > FEWEST_ROWS ? fitting : FEWEST_ROWS),
                rows = least(draw ? problem->rows : problem->rows / 2, most);
  const int count = race_threads();
  /* Results are apart, so that a write beside one, which MEMORY finds, does not change that of another thread. */
  const size_t bytes = row_bytes(problem) * (size_t)rows, apart = (bytes + 2 * LINE - 1) / LINE * LINE,
               all = (size_t)count * apart, room_bytes = (draw ? 3 : 2) * all + LINE;
  check *c = &s->checks[THREADS];
  if (rows == 0) return;
  unsigned char *room = posenc_alloc(room_bytes + BESIDE); /* rows may be streamed */
  race_job *jobs = calloc((size_t)count, sizeof *jobs);
  bool enough = room && jobs;
  if (enough) {
    memset(room, ARENA_POISON, room_bytes);
    for (int i = 0; i < count; i++) {
      unsigned char *out = room + LINE + all + (size_t)i * apart, *x = draw ? out + all : NULL;
      const posenc_slice slice = posenc_rows((problem->rows - rows) * i / (count - 1), rows);
      if (draw) draw(argument, slice.row, rows, x);
      jobs[i] = (race_job){.plan = s->plan, .slice = slice, .x = x, .out = out, .bytes = bytes};
    }
    enough = run_first(s, jobs, room + LINE, apart, count) &&
             race_run(s, jobs, count, again ? RACE_SECONDS / 3.0 : RACE_SECONDS);
  }
  if (!enough) c->skip = "threads could not be had";
  for (int i = 0; enough && i < count; i++)
    check_note_all(c, rows * row_width(problem), jobs[i].wrong ? 1.0 : 0.0, 0.0, problem->first + jobs[i].slice.row);
  free(jobs);
  posenc_free(room);
}
