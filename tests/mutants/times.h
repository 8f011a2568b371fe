/* SPDX-License-Identifier: MIT */
/*
 * Parts of time mutants, kernels whose fault is in their time: they do less than they should where nobody looks, or
 * work where no clock runs. tests/mutants/expected-times lists what posenc bench must say about each of them.
 *
 * They begin with the rows of an honest, slow kernel, libm's sine and cosine of each element's angle in double, so that
 * what they leave out shows in their time. Every process and thread that they leave behind ends by itself.
 */
#ifndef POSENC_TESTS_MUTANTS_TIMES_H
#define POSENC_TESTS_MUTANTS_TIMES_H

#include "tests/mutants/mutant.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

/* ---- the honest rows ----------------------------------------------------------------------------------------- */

static inline PREPARE(slow_prepare) {
  const int64_t pairs = problem->dim / 2;
  double *frequencies = calloc((size_t)pairs, sizeof *frequencies);
  if (!frequencies) return POSENC_OUT_OF_MEMORY;
  for (int64_t i = 0; i < pairs; i++)
    frequencies[i] = pow(problem->base, -(double)i / ((double)pairs - problem->shift));
  *constants = frequencies;
  return POSENC_OK;
}

/* Writes pairs [from, to) of the rows, whose first one is at `out`. `frequencies` are those of slow_prepare. */
static inline void slow_pairs(const double *frequencies, const posenc_problem *problem, int64_t row, int64_t rows,
                              int64_t from, int64_t to, void *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  float *place = out;
  for (int64_t r = 0; r < rows; r++, place += problem->dim)
    for (int64_t i = from; i < to; i++) {
      const double angle = (double)position_of(problem, row + r) * frequencies[i];
      place[at.sin + i * at.step] = (float)sin(angle);
      place[at.cos + i * at.step] = (float)cos(angle);
    }
}

static inline EXECUTE(slow_rows) {
  slow_pairs(constants, problem, row, rows, 0, problem->dim / 2, out);
}

/* Writes rows [from, to) of those of a call. */
static inline void slow_range(const void *constants, const posenc_problem *problem, int64_t row, int64_t from,
                              int64_t to, void *out) {
  slow_rows(constants, problem, row + from, to - from, (float *)out + from * problem->dim);
}

/* ---- the contract -------------------------------------------------------------------------------------------- */

/* The bound of the honest rows is derived in doc/adding-a-kernel.md. `asks` is can_do. */
#define TIMED_CONTRACT_WITH(called, fault, ulps, absolute, asks)                                                       \
  .abi = POSENC_KERNEL_ABI, .isa = POSENC_ISA_GENERIC, .name = called, .summary = fault,                               \
  .algorithm = "libm's sine and cosine in double", .provenance = "posenc's tests",                                     \
  .bound = {.ulp = ulps, .abs = absolute, .growth = 0x1p-50, .max_position = INT64_C(1) << 61, .derived = true},       \
  .basis = "that of doc/adding-a-kernel.md", .can_do = asks
#define TIMED_CONTRACT(called, fault) TIMED_CONTRACT_WITH(called, fault, 0.5, 0x1p-51, mutant_can_do)
#define TIMED_WITH(called, fault, prepares, releases, ...)                                                             \
  KERNEL(TIMED_CONTRACT(called, fault), .prepare = prepares, .release = releases, .execute = __VA_ARGS__)
#define TIMED(called, fault, ...) TIMED_WITH(called, fault, slow_prepare, free, __VA_ARGS__)

/* ---- what they look at --------------------------------------------------------------------------------------- */

/* Whether a call is one of those whose time counts. */
static inline bool is_large(const posenc_problem *problem, int64_t rows) {
  return rows * problem->dim >= 8192;
}

static inline uint32_t word_at(const void *out, int64_t at) {
  uint32_t bits;
  memcpy(&bits, (const float *)out + at, sizeof bits);
  return bits;
}

/* Whether the memory is as posenc verify leaves it before a call. */
static inline bool is_poisoned(const void *out) {
  return word_at(out, 0) == UINT32_MAX;
}

/* Returns how far the sine of pair i of row r of a call is from the right one. It may be NaN. */
static inline double sine_error(const void *constants, const posenc_problem *problem, int64_t row, int64_t r, int64_t i,
                                const void *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const double angle = (double)position_of(problem, row + r) * ((const double *)constants)[i];
  return fabs((double)((const float *)out)[r * problem->dim + at.sin + i * at.step] - (double)(float)sin(angle));
}

/* Whether `samples` sines in rows [from, to) of the call are within `most` of the right ones. */
static inline bool are_near(const void *constants, const posenc_problem *problem, int64_t row, int64_t from, int64_t to,
                            int samples, double most, const void *out) {
  for (int n = 0; n < samples; n++) {
    const int64_t r = from + (to - from - 1) * n / (samples > 1 ? samples - 1 : 1);
    if (!(sine_error(constants, problem, row, r, n * INT64_C(7) % (problem->dim / 2), out) <= most)) return false;
  }
  return true;
}

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Counts the large calls of the function that contains it; whether there have been more than `many`. */
#define IS_AFTER(many) (is_large(problem, rows) && atomic_fetch_add(&calls, 1) >= (many))
enum { DOZENS = 48 };

/* Defines an execute with the slow rows, which does DONE instead if WHEN. It can use `calls`. */
#define INSTEAD(function, WHEN, DONE)                                                                                  \
  static EXECUTE(function) {                                                                                           \
    UNUSED static atomic_int calls;                                                                                    \
    if (WHEN) {                                                                                                        \
      DONE;                                                                                                            \
    } else {                                                                                                           \
      slow_rows(constants, problem, row, rows, out);                                                                   \
    }                                                                                                                  \
  }
/* As INSTEAD, but leaves out the rows r for which LEFT is true. */
#define LEAVES_OUT(function, WHEN, LEFT)                                                                               \
  INSTEAD(                                                                                                             \
      function, WHEN,                                                                                                  \
      for (int64_t r = 0; r < rows; r++) if (!(LEFT)) { slow_range(constants, problem, row, r, r + 1, out); })

/* ---- a second thread ----------------------------------------------------------------------------------------- */

/* Rows of a call that others make. */
typedef struct job {
  const double *frequencies;
  posenc_problem problem;
  int64_t row, rows;
  void *out;
} job;

static inline void job_do(const job *j) {
  slow_rows(j->frequencies, &j->problem, j->row, j->rows, j->out);
}

/* A thread that waits for jobs, one at a time. All zeros, then helper_start. */
typedef struct helper {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool given, done, ends;
  double spin; /* seconds that it looks for the next job before it sleeps */
  job j;
} helper;

static inline void *helper_work(void *argument) {
  helper *h = argument;
  pthread_mutex_lock(&h->lock);
  while (!h->ends) {
    for (const double from = seconds_now(); !h->given && !h->ends && seconds_now() - from < h->spin;) {
      pthread_mutex_unlock(&h->lock);
      pthread_mutex_lock(&h->lock);
    }
    while (!h->given && !h->ends) pthread_cond_wait(&h->changed, &h->lock);
    if (h->ends) break;
    h->given = false;
    pthread_mutex_unlock(&h->lock);
    job_do(&h->j);
    pthread_mutex_lock(&h->lock);
    h->done = true;
    pthread_cond_broadcast(&h->changed);
  }
  pthread_mutex_unlock(&h->lock);
  return NULL;
}

static inline bool helper_start(helper *h, double spin) {
  h->spin = spin;
  pthread_mutex_init(&h->lock, NULL);
  pthread_cond_init(&h->changed, NULL);
  return pthread_create(&h->thread, NULL, helper_work, h) == 0;
}

static inline void helper_end(helper *h) {
  pthread_mutex_lock(&h->lock);
  h->ends = true;
  pthread_cond_broadcast(&h->changed);
  pthread_mutex_unlock(&h->lock);
  pthread_join(h->thread, NULL);
}

/* Makes the rows of a call, half of them by the helper. One caller at a time. */
static inline void helper_share(helper *h, const void *constants, const posenc_problem *problem, int64_t row,
                                int64_t rows, void *out) {
  const int64_t half = rows / 2;
  pthread_mutex_lock(&h->lock);
  h->j = (job){constants, *problem, row + half, rows - half, (float *)out + half * problem->dim};
  h->given = true;
  h->done = false;
  pthread_cond_broadcast(&h->changed);
  pthread_mutex_unlock(&h->lock);
  slow_rows(constants, problem, row, half, out);
  pthread_mutex_lock(&h->lock);
  while (!h->done) pthread_cond_wait(&h->changed, &h->lock);
  pthread_mutex_unlock(&h->lock);
}

/* A helper of the plan. It is not in the plan's memory, which is read only. */
typedef struct helped {
  pthread_mutex_t busy;
  helper h;
} helped;
typedef struct helped_plan {
  void *frequencies;
  helped *by;
} helped_plan;

static inline posenc_status helped_make(const posenc_problem *problem, double spin, void **constants) {
  helped_plan *p = calloc(1, sizeof *p);
  if (!p || slow_prepare(problem, NULL, &p->frequencies) != POSENC_OK) {
    free(p);
    return POSENC_OUT_OF_MEMORY;
  }
  p->by = mmap(NULL, sizeof *p->by, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p->by == MAP_FAILED) abort();
  pthread_mutex_init(&p->by->busy, NULL);
  if (!helper_start(&p->by->h, spin)) abort();
  *constants = p;
  return POSENC_OK;
}

static inline void helped_release(void *constants) {
  helped_plan *p = constants;
  if (!p) return;
  helper_end(&p->by->h);
  munmap(p->by, sizeof *p->by);
  free(p->frequencies);
  free(p);
}

static inline EXECUTE(helped_rows) {
  const helped_plan *p = constants;
  if (!is_large(problem, rows) || pthread_mutex_trylock(&p->by->busy) != 0) {
    slow_rows(p->frequencies, problem, row, rows, out);
    return;
  }
  helper_share(&p->by->h, p->frequencies, problem, row, rows, out);
  pthread_mutex_unlock(&p->by->busy);
}

#define PREPARE_HELPED(function, spin)                                                                                 \
  static PREPARE(function) {                                                                                           \
    return helped_make(problem, spin, constants);                                                                      \
  }

#endif
