/* SPDX-License-Identifier: MIT */
/* THREADS: several threads that execute one plan at once. */
#include "config.h"

#include "verify/subject.h"

#include "common/clock.h"
#include "verify/fpenv.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Rows that one thread computes again and again, and the bits that it must get. */
typedef struct job {
  const posenc_plan *plan;
  posenc_slice slice;
  const unsigned char *x; /* of add and rope, else null */
  unsigned char *out;
  const unsigned char *want;
  size_t bytes;
  const atomic_int *go; /* 0: wait, 1: run, -1: do not */
  bool wrong;
} job;

static void *run_job(void *argument) {
  enum { LEAST_ROUNDS = 4 };
  /* Long enough for two threads to meet, unless the system lets them wait; and long enough for rounds that all meet. */
  const double seconds = 3e-3, enough = 0.1;
  job *mine = argument;
  int go;
  while (!(go = atomic_load(mine->go))) sched_yield();
  if (go < 0) return NULL;
  const double begin = clock_seconds();
  int rounds = 0;
  do {
    subject_call(mine->plan, &mine->slice, mine->x, mine->out);
    fpenv_restore(); /* single calls tell whether it was left as it was */
    if (memcmp(mine->out, mine->want, mine->bytes) != 0) mine->wrong = true;
    rounds++;
  } while (!mine->wrong && clock_seconds() - begin < (rounds < LEAST_ROUNDS ? enough : seconds));
  return NULL;
}

/* More than the CPUs that this process may use, 9 to 33. */
static int count_threads(void) {
  enum { FEWEST = 9, MOST = 33 };
  cpu_set_t cpus;
  const int all = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? 2 * CPU_COUNT(&cpus) + 1 : FEWEST;
  return all < FEWEST ? FEWEST : all > MOST ? MOST : all;
}

static void run_together(check *c, const posenc_problem *problem, job *jobs, int count) {
  atomic_int go = 0;
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  int made = 0;
  for (int i = 0; i < count; i++) jobs[i].go = &go;
  while (threads && made < count - 1 && pthread_create(&threads[made], NULL, run_job, &jobs[made]) == 0) made++;
  const bool all = made == count - 1;
  atomic_store(&go, all ? 1 : -1);
  run_job(&jobs[made]);
  for (int i = 0; i < made; i++) pthread_join(threads[i], NULL);
  free(threads);
  if (!all) c->skip = "threads could not be had";
  for (int i = 0; i < count && all; i++)
    check_note_all(c, jobs[i].slice.rows * row_width(problem), jobs[i].wrong ? 1.0 : 0.0, 0.0,
                   problem->first + jobs[i].slice.row);
}

/* The rows of the threads are spread over the table, so that threads that disturb each other write different values. */
void subject_check_threads(subject *s, draw_rows_of *draw, void *argument) {
  /* The bytes of a thread are limited, as clearing memory takes longer than the rows; its rows are more than a kernel's
     block has. */
  enum { LINE = 64, BESIDE = 1 << 16, MOST_BYTES = 1 << 18, FEWEST_ROWS = 17 };
  const posenc_problem *problem = &s->shape->problem;
  const int64_t fitting = MOST_BYTES / (int64_t)row_bytes(problem),
                most = least(CHECKED_ROWS, fitting > FEWEST_ROWS ? fitting : FEWEST_ROWS),
                rows = least(draw ? problem->rows : problem->rows / 2, most);
  const int count = count_threads();
  /* Results are apart, so that writes beside one, which MEMORY finds, do not change that of another thread. */
  const size_t bytes = row_bytes(problem) * (size_t)rows, apart = (bytes + 2 * LINE - 1) / LINE * LINE,
               all = (size_t)count * apart, room_bytes = (draw ? 3 : 2) * all + LINE;
  check *c = &s->checks[THREADS];
  if (rows == 0) return;
  unsigned char *room = posenc_alloc(room_bytes + BESIDE); /* rows that may be streamed */
  job *jobs = calloc((size_t)count, sizeof *jobs);
  if (!room || !jobs) {
    c->skip = "threads could not be had";
  } else {
    memset(room, ARENA_POISON, room_bytes);
    for (int i = 0; i < count; i++) {
      unsigned char *want = room + LINE + (size_t)i * apart, *out = want + all, *x = draw ? out + all : NULL;
      const posenc_slice slice = posenc_rows((problem->rows - rows) * i / (count - 1), rows);
      if (draw) draw(argument, slice.row, rows, x);
      subject_begin_calls();
      subject_call(s->plan, &slice, x, want);
      subject_end_calls(s, problem->first + slice.row);
      jobs[i] = (job){.plan = s->plan, .slice = slice, .x = x, .out = out, .want = want, .bytes = bytes};
    }
    run_together(c, problem, jobs, count);
  }
  free(jobs);
  posenc_free(room);
}
