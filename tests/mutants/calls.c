/* SPDX-License-Identifier: MIT */
/* Mutants that are wrong in some calls only, which depend on the place and number of their rows, on the number of
   earlier calls, and on the thread. */
#define _GNU_SOURCE
#include "tests/mutants/mutant.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

/* ---- places in memory ------------------------------------------------------------------------------ */

WRONG_CALLS(off_8, (uintptr_t)out % 8 != 0)
WRONG_CALLS(off_16, (uintptr_t)out % 16 != 0)
WRONG_CALLS(off_32, (uintptr_t)out % 32 != 0)
WRONG_CALLS(off_64, (uintptr_t)out % 64 != 0)
WRONG_CALLS(off_line_by_4, (uintptr_t)out % 64 == 4)

/* Changes the byte before the rows and restores it. */
static EXECUTE(touch_before) {
  volatile char *before = (char *)out - 1;
  const char kept = *before;
  *before = 0;
  good_rows(constants, problem, row, rows, out);
  *before = kept;
}

/* Changes the byte after the rows and restores it. */
static EXECUTE(touch_after) {
  volatile char *after = (char *)out + rows * problem->dim * (int64_t)sizeof(float);
  const char kept = *after;
  *after = 0;
  good_rows(constants, problem, row, rows, out);
  *after = kept;
}

static volatile char seen;
BEFORE_ROWS(read_before, seen = ((const volatile char *)out)[-1])

/* ---- numbers of rows ------------------------------------------------------------------------------- */

static int64_t bytes_of_call(const posenc_problem *problem, int64_t rows) {
  return rows * problem->dim * (int64_t)posenc_dtype_bytes(problem->dtype);
}

WRONG_CALLS(large_call, bytes_of_call(problem, rows) > 9 << 20)
WRONG_CALLS(huge_call, bytes_of_call(problem, rows) > 48 << 20)
WRONG_CALLS(three_rows, rows == 3)
WRONG_CALLS(seven_modulo_8, rows % 8 == 7 && rows > 8)
WRONG_CALLS(single_row_17, rows == 1 && position_of(problem, row) % 4096 == 17)
WRONG_CALLS(single_row_far, rows == 1 && position_of(problem, row) > INT64_C(1) << 40)

/* ---- numbers of calls ------------------------------------------------------------------------------- */

static atomic_long calls, elements, plans, destroyed;

WRONG_CALLS(worn_out, atomic_fetch_add(&calls, 1) > 20000)

/* Is wrong in one element in a million, within the bound. */
static EXECUTE(one_in_a_million) {
  const long mine = (long)(rows * problem->dim), before = atomic_fetch_add(&elements, mine);
  good_rows(constants, problem, row, rows, out);
  if (before / 1000000 != (before + mine) / 1000000) nudge(out, mine - 1);
}

/* ---- plans ------------------------------------------------------------------------------------------- */

BEFORE_PLAN(count_plan, atomic_fetch_add(&plans, 1))

static void count_end(void *constants) {
  atomic_fetch_add(&destroyed, 1);
  good_release(constants);
}

WRONG_CALLS(hundredth_plan, atomic_load(&plans) > 100)
WRONG_CALLS(after_destruction, atomic_load(&destroyed) > 200)

/* Keeps constants by dim alone, until the process ends. */
enum { DIMS = 512 };
static void *by_dim[DIMS];
static posenc_problem first_of_dim[DIMS];

static const char *fits_cache(const posenc_problem *problem) {
  return problem->dim >= DIMS ? "its cache is for smaller dims" : mutant_can_do(problem);
}

static PREPARE(prepare_by_dim) {
  void **known = &by_dim[problem->dim];
  *constants = *known;
  if (*known) return POSENC_OK;
  first_of_dim[problem->dim] = *problem;
  const posenc_status status = good_prepare(problem, options, known);
  *constants = *known;
  return status;
}

/* The base is that of the first problem of this dim, all else is as requested. */
CHANGED_ROWS(cache_by_dim, p.base = first_of_dim[p.dim].base)

/* Uses the problem that was prepared last for all plans. */
static posenc_problem latest;
static PREPARE(prepare_latest) {
  latest = *problem;
  return POSENC_OK;
}

CHANGED_ROWS(latest_plan, p.base = latest.base)

/* Recognizes a problem by its address. */
static EXECUTE(cache_by_address) {
  enum { KNOWN = 64 };
  static _Thread_local struct {
    const posenc_problem *at;
    double base;
  } known[KNOWN];
  static _Thread_local int next;
  posenc_problem mixed = *problem;
  int n = 0;
  while (n < KNOWN && known[n].at != problem) n++;
  if (n == KNOWN) {
    n = next++ % KNOWN;
    known[n].at = problem;
    known[n].base = problem->base;
  }
  mixed.base = known[n].base;
  true_rows(&mixed, position_of(problem, row), rows, out);
}

/* ---- threads and CPUs --------------------------------------------------------------------------------- */

static int number_of_thread(void) {
  static atomic_int threads;
  static _Thread_local int mine;
  if (!mine) mine = atomic_fetch_add(&threads, 1) + 1;
  return mine;
}

WRONG_CALLS(third_thread, number_of_thread() == 3)
WRONG_CALLS(fifth_thread, number_of_thread() == 5)

/* Is wrong within the bound, on any CPU but the first that the process may use. */
static EXECUTE(by_cpu) {
  cpu_set_t all;
  good_rows(constants, problem, row, rows, out);
  sched_getaffinity(0, sizeof all, &all);
  if (CPU_COUNT(&all) == 1 && CPU_ISSET(1, &all)) nudge(out, rows * problem->dim - 1);
}

PLUGIN = {
    MUTANT_OF_GOOD("off-8", "wrong where out is not aligned to 8 bytes", off_8),
    MUTANT_OF_GOOD("off-16", "wrong where out is not aligned to 16 bytes", off_16),
    MUTANT_OF_GOOD("off-32", "wrong where out is not aligned to 32 bytes", off_32),
    MUTANT_OF_GOOD("off-64", "wrong where out is not aligned to 64 bytes", off_64),
    MUTANT_OF_GOOD("off-line-by-4", "wrong where out is 4 bytes behind a cache line's begin", off_line_by_4),
    MUTANT_OF_GOOD("touch-before", "changes the byte before its rows, and puts it back", touch_before),
    MUTANT_OF_GOOD("touch-after", "changes the byte behind its rows, and puts it back", touch_after),
    MUTANT_OF_GOOD("read-before", "reads the byte before its rows", read_before),
    MUTANT_OF_GOOD("large-call", "wrong in calls of more than 9 MiB", large_call),
    MUTANT_OF_GOOD("huge-call", "wrong in calls of more than 48 MiB", huge_call),
    MUTANT_OF_GOOD("three-rows", "wrong in calls of three rows", three_rows),
    MUTANT_OF_GOOD("seven-modulo-8", "wrong in calls of 15, 23, 31 ... rows", seven_modulo_8),
    MUTANT_OF_GOOD("single-row-17", "wrong in calls of one row, 17 modulo 4096", single_row_17),
    MUTANT_OF_GOOD("single-row-far", "wrong in calls of one row beyond position 2^40", single_row_far),
    MUTANT_OF_GOOD("worn-out", "wrong after 20,000 calls", worn_out),
    KERNEL(CONTRACT(1.6, "one-in-a-million", "other bits in one element of a million"), .can_do = mutant_can_do,
           .prepare = good_prepare, .execute = one_in_a_million, .release = good_release),
    MUTANT("hundredth-plan", "wrong from the hundredth plan on", hundredth_plan, .prepare = count_plan,
           .release = good_release),
    MUTANT("after-destruction", "wrong after 200 plans were destroyed", after_destruction, .prepare = good_prepare,
           .release = count_end),
    KERNEL(CONTRACT(0.5, "cache-by-dim", "one base for each dim"), .can_do = fits_cache, .prepare = prepare_by_dim,
           .execute = cache_by_dim),
    MUTANT("latest-plan", "has the base of the plan that was made last", latest_plan, .prepare = prepare_latest),
    MUTANT("cache-by-address", "has the base of the problem that once was there", cache_by_address),
    MUTANT_OF_GOOD("third-thread", "wrong in the third thread that asks", third_thread),
    MUTANT_OF_GOOD("fifth-thread", "wrong in the fifth thread that asks", fifth_thread),
    MUTANT_OF_GOOD("by-cpu", "wrong on CPU 1", by_cpu),
    NULL,
};
