/* SPDX-License-Identifier: MIT */
/* Honest kernels of unusual habits: no command may accuse them of anything, and their times count. */
#define _GNU_SOURCE
#include "tests/mutants/times.h"

#include <sched.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* ---- threads, and what plans hold ---------------------------------------------------------------------------- */

PREPARE_HELPED(pool_prepare, 0)
PREPARE_HELPED(spin_prepare, 50e-6)

/* A plan with the table, unless it is too large. */
typedef struct full_plan {
  void *frequencies;
  float *table;
} full_plan;

static void full_release(void *constants) {
  full_plan *p = constants;
  if (p) free(p->frequencies);
  if (p) free(p->table);
  free(p);
}

static PREPARE(full_prepare) {
  full_plan *p = calloc(1, sizeof *p);
  if (!p || slow_prepare(problem, options, &p->frequencies) != POSENC_OK) {
    free(p);
    return POSENC_OUT_OF_MEMORY;
  }
  const bool fits = problem->rows > 0 && problem->rows <= (1 << 24) / problem->dim;
  p->table = fits ? malloc((size_t)(problem->rows * problem->dim) * sizeof *p->table) : NULL;
  if (p->table) slow_rows(p->frequencies, problem, 0, problem->rows, p->table);
  *constants = p;
  return POSENC_OK;
}

static EXECUTE(full_rows) {
  const full_plan *p = constants;
  if (p->table && row >= 0 && row + rows <= problem->rows)
    memcpy(out, p->table + row * problem->dim, (size_t)(rows * problem->dim) * sizeof *p->table);
  else
    slow_rows(p->frequencies, problem, row, rows, out);
}

/* Takes milliseconds for its constants. */
static PREPARE(late_prepare) {
  const double start = seconds_now();
  while (seconds_now() - start < 3e-3) continue;
  return slow_prepare(problem, options, constants);
}

/* Sines and cosines of 0 .. 31 steps of each frequency. */
enum { STEPS = 32 };
typedef struct step_plan {
  double *frequencies;
  double (*steps)[2]; /* [pair * STEPS + step] */
} step_plan;

static void step_release(void *constants) {
  step_plan *p = constants;
  if (p) free(p->frequencies);
  if (p) free(p->steps);
  free(p);
}

static PREPARE(step_prepare) {
  const int64_t pairs = problem->dim / 2;
  void *frequencies = NULL;
  step_plan *p = calloc(1, sizeof *p);
  if (p) p->steps = calloc((size_t)pairs * STEPS, sizeof *p->steps);
  if (!p || !p->steps || slow_prepare(problem, options, &frequencies) != POSENC_OK) {
    step_release(p);
    return POSENC_OUT_OF_MEMORY;
  }
  p->frequencies = frequencies;
  for (int64_t n = 0; n < pairs * STEPS; n++) {
    const double angle = (double)(n % STEPS) * p->frequencies[n / STEPS];
    p->steps[n][0] = sin(angle);
    p->steps[n][1] = cos(angle);
  }
  *constants = p;
  return POSENC_OK;
}

/* Turns the last row before it whose position is a multiple of 32. */
static EXECUTE(step_rows) {
  const step_plan *p = constants;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    double s = 0, c = 1;
    for (int64_t r = 0; r < rows; r++) {
      const int64_t position = position_of(problem, row + r), step = (int64_t)((uint64_t)position % STEPS);
      if (r == 0 || step == 0) {
        const double angle = (double)(position - step) * p->frequencies[i];
        s = sin(angle);
        c = cos(angle);
      }
      const double *by = p->steps[i * STEPS + step];
      float *place = (float *)out + r * problem->dim + i * at.step;
      place[at.sin] = (float)(s * by[1] + c * by[0]);
      place[at.cos] = (float)(c * by[1] - s * by[0]);
    }
  }
}

/* ---- the first call ------------------------------------------------------------------------------------------ */

static double pi_of_once;

/* Computes pi as Leibniz did, with the mean of the last sums. */
static void find_pi(void) {
  double sum = 0;
  for (int n = 0; n < 5000000; n++) sum += (n % 2 ? -4.0 : 4.0) / (2 * n + 1);
  pi_of_once = sum + 2.0 / (2 * 5000000 + 1);
}

static EXECUTE(slow_begin) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_pi);
  if (!(fabs(pi_of_once - 3.141592653589793) < 1e-6)) abort();
  slow_rows(constants, problem, row, rows, out);
}

/* Sines and cosines of the 4096 parts of a turn. */
enum { PARTS = 4096 };
static const double part_high = 0x1.921fb54442d18p-10, part_low = 0x1.1a62633145c07p-64; /* 2 pi / 4096 */
static double parts[PARTS][2];

static void make_parts(void) {
  for (int n = 0; n < PARTS; n++) {
    parts[n][0] = sin(n * part_high);
    parts[n][1] = cos(n * part_high);
  }
}

static EXECUTE(part_rows) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const double *frequencies = constants;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  float *place = out;
  pthread_once(&once, make_parts);
  for (int64_t r = 0; r < rows; r++, place += problem->dim)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const double angle = (double)position_of(problem, row + r) * frequencies[i], n = nearbyint(angle / part_high);
      if (fabs(angle) > 0x1p30) {
        slow_pairs(frequencies, problem, row + r, 1, i, i + 1, place);
        continue;
      }
      const double x = fma(-n, part_low, fma(-n, part_high, angle)), x2 = x * x;
      const double *part = parts[(int)(fmod(n, PARTS) + PARTS) % PARTS];
      const double s = x * (1 - x2 / 6 * (1 - x2 / 20)), c = 1 - x2 / 2 * (1 - x2 / 12 * (1 - x2 / 30));
      place[at.sin + i * at.step] = (float)(part[0] * c + part[1] * s);
      place[at.cos + i * at.step] = (float)(part[1] * c - part[0] * s);
    }
}

/* ---- rows of different costs --------------------------------------------------------------------------------- */

static void long_rows(const double *frequencies, const posenc_problem *problem, int64_t row, int64_t rows, float *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  for (int64_t r = 0; r < rows; r++, out += problem->dim)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const long double angle = (long double)position_of(problem, row + r) * (long double)frequencies[i];
      out[at.sin + i * at.step] = (float)sinl(angle);
      out[at.cos + i * at.step] = (float)cosl(angle);
    }
}

static EXECUTE(all_long) {
  long_rows(constants, problem, row, rows, out);
}

static EXECUTE(costly_64th) {
  for (int64_t r = 0; r < rows; r++) {
    float *place = (float *)out + r * problem->dim;
    if ((uint64_t)position_of(problem, row + r) % 64 == 63)
      long_rows(constants, problem, row + r, 1, place);
    else
      slow_rows(constants, problem, row + r, 1, place);
  }
}

/* Makes a row the more often the farther it is, up to four times. */
static EXECUTE(far_slower) {
  for (int64_t r = 0; r < rows; r++) {
    const int64_t position = position_of(problem, row + r);
    const int far = position < 512 ? 2 : 4, times = position < 256 ? 1 : far;
    for (int n = 0; n < times; n++) {
      slow_range(constants, problem, row, r, r + 1, out);
      __asm__ volatile("" : : : "memory");
    }
  }
}

/* ---- ways to write ------------------------------------------------------------------------------------------- */

static EXECUTE(prefetching) {
  for (int64_t r = 0; r < rows; r++) {
    const char *next = (const char *)out + smaller(r + 4, rows - 1) * problem->dim * (int64_t)sizeof(float);
    for (int64_t at = 0; at < problem->dim * (int64_t)sizeof(float); at += 64) __builtin_prefetch(next + at, 1);
    slow_range(constants, problem, row, r, r + 1, out);
  }
}

/* Makes some rows in memory of its own, and stores them past the caches where the CPU can. */
static EXECUTE(streaming) {
  enum { SOME = 512 };
  float own[SOME];
  if (problem->dim > SOME) {
    slow_rows(constants, problem, row, rows, out);
    return;
  }
  for (int64_t r = 0; r < rows; r++) {
    slow_rows(constants, problem, row + r, 1, own);
    for (int64_t c = 0; c < problem->dim; c++) {
#ifdef __x86_64__
      _mm_stream_si32((int *)out + r * problem->dim + c, (int)word_at(own, c));
#else
      ((float *)out)[r * problem->dim + c] = own[c];
#endif
    }
  }
#ifdef __x86_64__
  _mm_sfence();
#endif
}

static EXECUTE(backwards) {
  for (int64_t end = rows; end > 0; end -= smaller(end, 16))
    slow_range(constants, problem, row, end - smaller(end, 16), end, out);
}

static EXECUTE(by_columns) {
  for (int64_t i = 0; i < problem->dim / 2; i++) slow_pairs(constants, problem, row, rows, i, i + 1, out);
}

static EXECUTE(twice) {
  for (int64_t at = 0; at < rows * problem->dim; at++) ((volatile float *)out)[at] = 0.5f;
  slow_rows(constants, problem, row, rows, out);
}

/* Has each page mapped before it writes. */
static EXECUTE(touching) {
  UNUSED static volatile char seen;
  for (int64_t at = 0; at < rows * problem->dim; at += 1024) seen = *(const volatile char *)((const float *)out + at);
  slow_rows(constants, problem, row, rows, out);
}

/* ---- memory, the stack, the system --------------------------------------------------------------------------- */

static void through(float *scratch, int64_t floats, const void *constants, const posenc_problem *problem, int64_t row,
                    int64_t rows, float *out) {
  const int64_t some = floats / problem->dim;
  for (int64_t r = 0, next; r < rows; r += next) {
    next = smaller(some, rows - r);
    slow_rows(constants, problem, row + r, next, scratch);
    memcpy(out + r * problem->dim, scratch, (size_t)(next * problem->dim) * sizeof *out);
  }
}

enum { SCRATCH = 1 << 18 }; /* floats: 1 MiB */

static EXECUTE(scratch_freed) {
  float *scratch = problem->dim <= SCRATCH ? malloc(SCRATCH * sizeof *scratch) : NULL;
  if (scratch)
    through(scratch, SCRATCH, constants, problem, row, rows, out);
  else
    slow_rows(constants, problem, row, rows, out);
  free(scratch);
}

/* Keeps it until the thread ends. */
static pthread_key_t scratch_key;
static void make_scratch_key(void) {
  if (pthread_key_create(&scratch_key, free) != 0) abort();
}

static EXECUTE(scratch_kept) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_scratch_key);
  float *scratch = pthread_getspecific(scratch_key);
  if (!scratch && (scratch = malloc(SCRATCH * sizeof *scratch))) pthread_setspecific(scratch_key, scratch);
  if (scratch && problem->dim <= SCRATCH)
    through(scratch, SCRATCH, constants, problem, row, rows, out);
  else
    slow_rows(constants, problem, row, rows, out);
}

/* Halves the rows, with 4 KiB of stack at each of 50 levels at least. */
static void descend(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, float *out,
                    int level) {
  volatile char room[4096];
  room[0] = (char)level;
  room[sizeof room - 1] = room[0];
  if (level < 40 || (level < 50 && rows < 2)) {
    descend(constants, problem, row, rows, out, level + 1);
  } else if (rows < 2 || level == 50) {
    slow_rows(constants, problem, row, rows, out);
  } else {
    descend(constants, problem, row, rows / 2, out, level + 1);
    descend(constants, problem, row + rows / 2, rows - rows / 2, out + rows / 2 * problem->dim, level + 1);
  }
  room[1] = room[0];
}

static EXECUTE(recursive) {
  descend(constants, problem, row, rows, out, 0);
}

static EXECUTE(yielding) {
  UNUSED static volatile pid_t seen;
  sched_yield();
  seen = getpid();
  slow_rows(constants, problem, row, rows, out);
}

static EXECUTE(clock_reading) {
  static _Thread_local double longest;
  const double start = seconds_now();
  slow_rows(constants, problem, row, rows, out);
  longest = fmax(longest, seconds_now() - start);
}

/* Keeps each thread's constants of the last problem. */
static EXECUTE(remembering) {
  true_rows(problem, position_of(problem, row), rows, out);
}

static APPLY(applies) {
  (void)constants;
  return good_apply(problem, slice, x, out);
}

/* ---- what they refuse, and bits ------------------------------------------------------------------------------ */

static const char *usual_base(const posenc_problem *problem) {
  return problem->base != 10000 ? "its base is 10000" : mutant_can_do(problem);
}

static const char *whole_blocks(const posenc_problem *problem) {
  return problem->rows % 16 ? "its tables have a multiple of 16 rows" : mutant_can_do(problem);
}

static const char *whole_vectors(const posenc_problem *problem) {
  return problem->dim % 64 ? "its rows have a multiple of 64 columns" : mutant_can_do(problem);
}

/* Has other last bits in each call, as kernels that add in the order in which threads end have. */
static EXECUTE(other_bits) {
  static atomic_uint calls;
  const unsigned call = atomic_fetch_add(&calls, 1);
  slow_rows(constants, problem, row, rows, out);
  for (int64_t at = call % 7; at < rows * problem->dim; at += 7) {
    const uint32_t even = word_at(out, at) & ~UINT32_C(1);
    memcpy((float *)out + at, &even, sizeof even);
  }
}

#define HABIT_OF(called, habit, asks, ...)                                                                             \
  KERNEL(TIMED_CONTRACT_WITH(called, habit, 0.5, 0x1p-51, asks), .prepare = slow_prepare, .release = free,             \
         .execute = __VA_ARGS__)
#define HABIT_WITHIN(called, habit, ulps, absolute, prepares, releases, ...)                                           \
  KERNEL(TIMED_CONTRACT_WITH(called, habit, ulps, absolute, mutant_can_do), .prepare = prepares, .release = releases,  \
         .execute = __VA_ARGS__)

PLUGIN = {
    TIMED_WITH("own-pool", "has a thread of its own, as it tells", pool_prepare, helped_release, helped_rows,
               .threaded = true),
    TIMED_WITH("spinning-pool", "the same, which looks for work before it sleeps", spin_prepare, helped_release,
               helped_rows, .threaded = true),
    TIMED_WITH("full-plan", "its plan holds the table, as it tells", full_prepare, full_release, full_rows,
               .keeps_rows = true),
    TIMED_WITH("slow-plan", "takes milliseconds for its constants", late_prepare, free, slow_rows),
    HABIT_WITHIN("step-plan", "its plan holds what 32 steps turn", 0.5, 0x1p-49, step_prepare, step_release, step_rows),
    TIMED("slow-begin", "takes long for constants in its first call", slow_begin),
    HABIT_WITHIN("lazy-parts", "makes a table of 4096 sines in its first call", 0.5, 0x1p-49, slow_prepare, free,
                 part_rows),
    TIMED("costly-64th-row", "works more for every 64th row", costly_64th),
    TIMED("far-slower", "works more for far rows", far_slower),
    TIMED("all-long", "works in long double", all_long),
    TIMED("prefetching", "prefetches the rows that it will write", prefetching),
    TIMED("past-caches", "stores past the caches", streaming),
    TIMED("blocks-backwards", "begins with the last block", backwards),
    TIMED("by-columns", "writes columns, not rows", by_columns),
    TIMED("written-twice", "writes something else first", twice),
    TIMED("touching-first", "reads each page before it writes", touching),
    TIMED("scratch-freed", "allocates and frees 1 MiB in each call", scratch_freed),
    TIMED("scratch-kept", "keeps 1 MiB for each thread", scratch_kept),
    TIMED("recursive", "takes 200 KiB of the stack", recursive),
    TIMED("yielding", "calls the system in each call", yielding),
    TIMED("clock-reading", "takes its own times", clock_reading),
    MUTANT("remembering", "each thread keeps the constants of its last problem", remembering),
    TIMED("own-apply", "makes a plan of another kernel for each slice", slow_rows, .apply = applies),
    HABIT_OF("usual-base", "refuses other bases than 10000", usual_base, slow_rows),
    HABIT_OF("whole-blocks", "refuses lengths that are no multiples of 16", whole_blocks, slow_rows),
    HABIT_OF("whole-vectors", "refuses dims that are no multiples of 64", whole_vectors, slow_rows),
    HABIT_WITHIN("other-bits", "has other last bits in each call, within its bound", 1.6, 0x1p-51, slow_prepare, free,
                 other_bits),
    NULL,
};
