/* SPDX-License-Identifier: MIT */
/* Mutants with state: they keep something from one call to the next, or leave something changed. */
#include "tests/mutants/mutant.h"

#include <fenv.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

/* Is within the bound in both calls, but with different bits. */
static EXECUTE(second_call) {
  static atomic_uint calls;
  float *first = out;
  true_rows(problem, position_of(problem, row), rows, out);
  if (atomic_fetch_add(&calls, 1) % 2) *first = nextafterf(*first, 2.0f);
}

/* ---- threads ----------------------------------------------------------------------------------- */

/* Only the thread that makes the plan has the values. */
static _Thread_local bool is_prepared;

static PREPARE(prepare_thread) {
  is_prepared = true;
  return POSENC_OK;
}

static EXECUTE(own_thread) {
  true_rows(problem, position_of(problem, row) + !is_prepared, rows, out);
}

/* Passes the rows of all threads through the same memory, and yields to other threads while it is in use. */
enum { SCRATCH_DIM = 4096 };

static const char *fits_scratch(const posenc_problem *problem) {
  return problem->dim > SCRATCH_DIM ? "a row is longer than its memory" : mutant_can_do(problem);
}

static EXECUTE(shared_scratch) {
  static float scratch[SCRATCH_DIM];
  for (int64_t r = 0; r < rows; r++) {
    true_rows(problem, position_of(problem, row + r), 1, scratch);
    sched_yield();
    memcpy((float *)out + r * problem->dim, scratch, (size_t)problem->dim * sizeof *scratch);
  }
}

/* Fills a table in the first call, while calls in other threads already use it. */
static EXECUTE(filled_late) {
  enum { ENTRIES = 1 << 10 };
  static atomic_int table[ENTRIES];
  static atomic_bool is_filled;
  if (!atomic_exchange(&is_filled, true))
    for (int i = 0; i < ENTRIES; i++) {
      table[i] = 1;
      sched_yield();
    }
  good_rows(constants, problem, row, rows, out);
  if (!table[ENTRIES - 1]) nudge(out, posenc_layout_columns(problem->layout, problem->dim).cos);
}

/* Is right as long as one thread makes plans at a time. */
static PREPARE(prepare_scratch) {
  static posenc_problem scratch;
  scratch = *problem;
  sched_yield();
  return good_prepare(&scratch, options, constants);
}

/* Is right as long as the executing threads have one plan, or plans of one base. */
static EXECUTE(current_plan) {
  static _Atomic double base;
  base = problem->base;
  good_rows(constants, problem, row, rows, out);
  if (base != problem->base) nudge(out, posenc_layout_columns(problem->layout, problem->dim).cos);
}

/* ---- a team's number of threads ---------------------------------------------------------------- */

typedef struct team {
  void *good;
  int threads;
} team;

static PREPARE(prepare_team) {
  team *mine = calloc(1, sizeof *mine);
  *constants = mine;
  if (!mine) return POSENC_OUT_OF_MEMORY;
  mine->threads = options->threads;
  return good_prepare(problem, options, &mine->good);
}

static void release_team(void *constants) {
  team *mine = constants;
  good_release(mine->good);
  free(mine);
}

/* Writes the rows, with the last one wrong at its place. */
static void team_rows(const team *mine, const posenc_problem *problem, int64_t row, int64_t rows, void *out,
                      bool is_wrong) {
  good_rows(mine->good, problem, row, rows, out);
  if (is_wrong) nudge(out, (rows - 1) * problem->dim + posenc_layout_columns(problem->layout, problem->dim).cos);
}

static EXECUTE(team_remainder) {
  const team *mine = constants;
  team_rows(mine, problem, row, rows, out, mine->threads > 2 && rows % mine->threads);
}

static EXECUTE(team_of_one) {
  const team *mine = constants;
  team_rows(mine, problem, row, rows, out, mine->threads == 1 && rows > 100);
}

/* ---- the floating-point environment: correct rows, wrong afterwards ---------------------------- */

static EXECUTE(rounding_left) {
  fesetround(FE_TONEAREST);
  true_rows(problem, position_of(problem, row), rows, out);
  fesetround(FE_UPWARD);
}

#ifdef __SSE2__
enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x0040 };
#define ON_X86(run) .execute = run

static void leave_on(unsigned bit, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  _mm_setcsr(_mm_getcsr() & ~bit);
  true_rows(problem, position_of(problem, row), rows, out);
  _mm_setcsr(_mm_getcsr() | bit);
}

static EXECUTE(ftz_left) {
  leave_on(FLUSH_TO_ZERO, problem, row, rows, out);
}

static EXECUTE(daz_left) {
  leave_on(DENORMALS_ARE_ZERO, problem, row, rows, out);
}
#else
#define ON_X86(run) .absent = "the switch that it leaves on is one of x86"
#endif

PLUGIN = {
    KERNEL(CONTRACT(2.0, "second-call", "other bits on every second call"), .can_do = mutant_can_do,
           .execute = second_call),
    MUTANT("own-thread", "right only in the thread that made the plan", own_thread, .prepare = prepare_thread),
    KERNEL(CONTRACT(0.5, "shared-scratch", "right for one thread at a time"), .can_do = fits_scratch,
           .execute = shared_scratch),
    MUTANT("rounding-left", "leaves upward rounding on", rounding_left),
    KERNEL(CONTRACT(0.5, "ftz-left", "leaves flush-to-zero on"), .can_do = mutant_can_do, ON_X86(ftz_left)),
    KERNEL(CONTRACT(0.5, "daz-left", "leaves denormals-are-zero on"), .can_do = mutant_can_do, ON_X86(daz_left)),
    MUTANT_OF_GOOD("filled-late", "fills in a table in its first call, which others do not wait for", filled_late),
    MUTANT("prepare-scratch", "prepares in memory that threads share", good_rows, .prepare = prepare_scratch,
           .release = good_release),
    MUTANT_OF_GOOD("current-plan", "right for one plan at a time", current_plan),
    MUTANT("team-remainder", "the last row is wrong if three threads or more have not the same number of rows",
           team_remainder, .threaded = true, .prepare = prepare_team, .release = release_team),
    KERNEL(CONTRACT_WITH(0.5, "team-of-one", "the last of many rows is wrong if there is one thread", false),
           .threaded = true, .can_do = mutant_can_do, .prepare = prepare_team, .execute = team_of_one,
           .release = release_team),
    NULL,
};
