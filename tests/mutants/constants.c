/* SPDX-License-Identifier: MIT */
/* Mutants that write where they must not: to constants while they execute, to the problem, to the options; and mutants
   that leak. */
#define _GNU_SOURCE
#include "tests/mutants/mutant.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* ---- constants, which the threads share ----------------------------------------------------------------- */

typedef struct kept {
  void *good;
  atomic_long calls;
  posenc_problem of; /* the problem of `good` */
} kept;

static PREPARE(prepare_kept) {
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

/* Returns the pointer without const. */
static void *writable(const void *pointer) {
  void *same;
  memcpy(&same, &pointer, sizeof same);
  return same;
}

static EXECUTE(counter) {
  kept *mine = writable(constants);
  atomic_fetch_add(&mine->calls, 1);
  good_rows(mine->good, problem, row, rows, out);
}

/* Writes to the constants before the rows, and restores them afterwards. */
static EXECUTE(borrowed) {
  kept *mine = writable(constants);
  mine->of.first += row;
  good_rows(mine->good, &mine->of, 0, rows, out);
  mine->of.first = problem->first;
}

/* Prepares the constants when they are first needed. */
static PREPARE(prepare_later) {
  kept *mine = calloc(1, sizeof *mine);
  *constants = mine;
  if (!mine) return POSENC_OUT_OF_MEMORY;
  mine->of = *problem;
  return POSENC_OK;
}

static EXECUTE(made_late) {
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

/* ---- arguments -------------------------------------------------------------------------------------------- */

AFTER_ROWS(problem_written, ((posenc_problem *)writable(problem))->padding = 7)

static const char *can_do_writes(const posenc_problem *problem) {
  const char *refusal = mutant_can_do(problem);
  ((posenc_problem *)writable(problem))->padding = 7;
  return refusal;
}

AFTER_PLAN(prepare_writes, ((posenc_problem *)writable(problem))->padding = 7)
AFTER_PLAN(prepare_chooses, ((posenc_options *)writable(options))->threads = 1 + options->threads)

/* ---- leaks -------------------------------------------------------------------------------------------------- */

static void *volatile lost;

static _Thread_local void *volatile scratch;

static void *page(void) {
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

BEFORE_PLAN(prepare_loses, lost = malloc(24))
BEFORE_PLAN(prepare_maps, lost = page())
BEFORE_PLAN(wide_plan_loses, if (problem->dim >= 256) lost = malloc(24))
BEFORE_PLAN(prepare_dies, raise(SIGSEGV))
BEFORE_ROWS(execute_loses, lost = malloc(1))
BEFORE_ROWS(execute_maps, lost = page())
BEFORE_ROWS(large_call_loses, if (rows > 256) lost = malloc(64))
BEFORE_ROWS(thread_loses, if (!scratch) scratch = malloc(4096))

/* Releases the good kernel's constants, but not the structure around them. */
static EXECUTE(kept_rows) {
  good_rows(((const kept *)constants)->good, problem, row, rows, out);
}

static void release_half(void *constants) {
  good_release(((kept *)constants)->good);
}

/* Releases twice what the good kernel has. */
static void release_twice(void *constants) {
  static void *volatile known;
  known = constants;
  release_kept(constants);
  free(known);
}

#define HONEST(called, fault, made) MUTANT(called, fault, good_rows, .prepare = made, .release = good_release)

PLUGIN = {
    MUTANT("counter", "counts its calls in its constants", counter, .prepare = prepare_kept, .release = release_kept),
    MUTANT("borrowed", "changes its constants meanwhile", borrowed, .prepare = prepare_kept, .release = release_kept),
    MUTANT("made-late", "prepares in its first call", made_late, .prepare = prepare_later, .release = release_late),
    MUTANT_OF_GOOD("problem-written", "execute writes to the problem", problem_written),
    KERNEL(CONTRACT(0.5, "can-do-writes", "can_do writes to the problem"), .can_do = can_do_writes,
           .prepare = good_prepare, .execute = good_rows, .release = good_release),
    HONEST("prepare-writes", "prepare writes to the problem", prepare_writes),
    HONEST("prepare-chooses", "prepare writes to the options", prepare_chooses),
    HONEST("prepare-loses", "24 bytes are lost with each plan", prepare_loses),
    HONEST("prepare-maps", "a page stays mapped with each plan", prepare_maps),
    MUTANT_OF_GOOD("execute-loses", "a byte is lost with each call", execute_loses),
    MUTANT_OF_GOOD("execute-maps", "a page stays mapped with each call", execute_maps),
    MUTANT("release-half", "frees a part of its constants", kept_rows, .prepare = prepare_kept,
           .release = release_half),
    MUTANT("release-twice", "frees its constants twice", kept_rows, .prepare = prepare_kept, .release = release_twice),
    HONEST("prepare-dies", "dies where it prepares", prepare_dies),
    HONEST("wide-plan-loses", "24 bytes are lost with each plan of a dim from 256 on", wide_plan_loses),
    MUTANT_OF_GOOD("large-call-loses", "64 bytes are lost with each call of more than 256 rows", large_call_loses),
    MUTANT_OF_GOOD("thread-loses", "a page of scratch is lost with each thread", thread_loses),
    NULL,
};
