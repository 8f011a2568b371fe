/* SPDX-License-Identifier: MIT */
/* Mutants that write to what is not theirs to write: constants while they execute, the problem, the options; and that
 * leak. */
#define _GNU_SOURCE
#include "tests/mutants/mutant.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* ---- constants, which the threads share ----------------------------------------------------------------- */

typedef struct kept {
  void *good;
  atomic_long calls;
  posenc_problem of; /* what `good` is for */
} kept;

static posenc_status prepare_kept(const posenc_problem *problem, const posenc_options *options, void **constants) {
  kept *mine = calloc(1, sizeof *mine);
  *constants = mine;
  if (!mine) return POSENC_OUT_OF_MEMORY;
  mine->of = *problem;
  return good_prepare(problem, options, &mine->good);
}

static void release_kept(void *constants) {
  kept *mine = constants;
  good_release(mine->good);
  free(mine);
}

/* Without const. */
static void *writable(const void *pointer) {
  void *same;
  memcpy(&same, &pointer, sizeof same);
  return same;
}

static void counter(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  kept *mine = writable(constants);
  atomic_fetch_add(&mine->calls, 1);
  good_rows(mine->good, problem, row, rows, out);
}

/* Written before, and put right afterwards. */
static void borrowed(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  kept *mine = writable(constants);
  mine->of.first += row;
  good_rows(mine->good, &mine->of, 0, rows, out);
  mine->of.first = problem->first;
}

/* Made when it is first needed. */
static posenc_status prepare_later(const posenc_problem *problem, const posenc_options *options, void **constants) {
  kept *mine = calloc(1, sizeof *mine);
  (void)options;
  *constants = mine;
  if (!mine) return POSENC_OUT_OF_MEMORY;
  mine->of = *problem;
  return POSENC_OK;
}

static void made_late(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  kept *mine = writable(constants);
  const posenc_options options = posenc_default_options();
  if (!mine->good && good_prepare(problem, &options, &mine->good) != POSENC_OK) abort();
  good_rows(mine->good, problem, row, rows, out);
}

static void release_late(void *constants) {
  kept *mine = constants;
  if (mine->good) good_release(mine->good);
  free(mine);
}

/* ---- what it is given ------------------------------------------------------------------------------------- */

static void problem_written(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                            void *out) {
  good_rows(constants, problem, row, rows, out);
  ((posenc_problem *)writable(problem))->padding = 7;
}

static const char *can_do_writes(const posenc_problem *problem) {
  const char *refusal = mutant_can_do(problem);
  ((posenc_problem *)writable(problem))->padding = 7;
  return refusal;
}

static posenc_status prepare_writes(const posenc_problem *problem, const posenc_options *options, void **constants) {
  const posenc_status status = good_prepare(problem, options, constants);
  ((posenc_problem *)writable(problem))->padding = 7;
  return status;
}

static posenc_status prepare_chooses(const posenc_problem *problem, const posenc_options *options, void **constants) {
  const posenc_status status = good_prepare(problem, options, constants);
  ((posenc_options *)writable(options))->threads = 1 + options->threads;
  return status;
}

/* ---- leaks -------------------------------------------------------------------------------------------------- */

static void *volatile lost;

static posenc_status prepare_loses(const posenc_problem *problem, const posenc_options *options, void **constants) {
  lost = malloc(24);
  return good_prepare(problem, options, constants);
}

static posenc_status prepare_maps(const posenc_problem *problem, const posenc_options *options, void **constants) {
  lost = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return good_prepare(problem, options, constants);
}

static void execute_loses(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  lost = malloc(1);
  good_rows(constants, problem, row, rows, out);
}

static void execute_maps(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  lost = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  good_rows(constants, problem, row, rows, out);
}

static posenc_status wide_plan_loses(const posenc_problem *problem, const posenc_options *options, void **constants) {
  if (problem->dim >= 256) lost = malloc(24);
  return good_prepare(problem, options, constants);
}

static void large_call_loses(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                             void *out) {
  if (rows > 256) lost = malloc(64);
  good_rows(constants, problem, row, rows, out);
}

static void thread_loses(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  static _Thread_local void *volatile scratch;
  if (!scratch) scratch = malloc(4096);
  good_rows(constants, problem, row, rows, out);
}

/* The good kernel's constants are freed, the structure around them is not. */
static void kept_rows(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  good_rows(((const kept *)constants)->good, problem, row, rows, out);
}

static void release_half(void *constants) {
  good_release(((kept *)constants)->good);
}

/* Twice what the good kernel has. */
static void release_twice(void *constants) {
  static void *volatile known;
  known = constants;
  release_kept(constants);
  free(known);
}

static posenc_status prepare_dies(const posenc_problem *problem, const posenc_options *options, void **constants) {
  raise(SIGSEGV);
  return good_prepare(problem, options, constants);
}

#define HONEST(called, fault, made, ended)                                                                             \
  { MUTANT(called, fault, good_rows), .prepare = made, .release = ended }

static const posenc_kernel kernels[] = {
    {MUTANT("counter", "counts its calls in its constants", counter), .prepare = prepare_kept, .release = release_kept},
    {MUTANT("borrowed", "changes its constants meanwhile", borrowed), .prepare = prepare_kept, .release = release_kept},
    {MUTANT("made-late", "prepares in its first call", made_late), .prepare = prepare_later, .release = release_late},
    {MUTANT_OF_GOOD("problem-written", "execute writes to the problem", problem_written)},
    {CONTRACT(0.5, "can-do-writes", "can_do writes to the problem"), .can_do = can_do_writes, .prepare = good_prepare,
     .execute = good_rows, .release = good_release},
    HONEST("prepare-writes", "prepare writes to the problem", prepare_writes, good_release),
    HONEST("prepare-chooses", "prepare writes to the options", prepare_chooses, good_release),
    HONEST("prepare-loses", "24 bytes are lost with each plan", prepare_loses, good_release),
    HONEST("prepare-maps", "a page stays mapped with each plan", prepare_maps, good_release),
    {MUTANT_OF_GOOD("execute-loses", "a byte is lost with each call", execute_loses)},
    {MUTANT_OF_GOOD("execute-maps", "a page stays mapped with each call", execute_maps)},
    {MUTANT("release-half", "frees a part of its constants", kept_rows), .prepare = prepare_kept,
     .release = release_half},
    {MUTANT("release-twice", "frees its constants twice", kept_rows), .prepare = prepare_kept,
     .release = release_twice},
    HONEST("prepare-dies", "dies where it prepares", prepare_dies, good_release),
    HONEST("wide-plan-loses", "24 bytes are lost with each plan of a dim from 256 on", wide_plan_loses, good_release),
    {MUTANT_OF_GOOD("large-call-loses", "64 bytes are lost with each call of more than 256 rows", large_call_loses)},
    {MUTANT_OF_GOOD("thread-loses", "a page of scratch is lost with each thread", thread_loses)},
};

POSENC_PLUGIN(EIGHT(kernels), EIGHT(kernels + 8), &kernels[16]);
