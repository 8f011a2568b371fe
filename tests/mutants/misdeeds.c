/* SPDX-License-Identifier: MIT */
/*
 * Kernels with correct rows, each with one forbidden act in one of its functions: recipe/FUNCTION-MISDEED. As
 * recipes, they are run by identify too. tests/isolation.sh has the expected messages.
 */
#include "tests/mutants/mutant.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- misdeeds ------------------------------------------------------------------------------------- */

static void live_on(void) {
  for (;;) pause();
}

/* Crashes as a wild write does, but a sanitizer does not turn it into an exit. */
static void do_crash(void) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

static void do_hang(void) {
  live_on();
}

/* Several threads call kernels, and two calls of exit at once are undefined. */
static void do_exit(void) {
  static atomic_flag ending = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&ending)) live_on();
  exit(0);
}

/* Forks once, as thousands of calls are made. */
static void do_fork(void) {
  static bool done;
  if (done) return;
  done = true;
  if (fork() == 0) live_on();
}

/* Forks a process that leaves the group, and is no child of this process. */
static void do_session(void) {
  static bool done;
  if (done) return;
  done = true;
  const pid_t child = fork();
  if (child != 0) {
    waitpid(child, NULL, 0);
    return;
  }
  setsid();
  if (fork() == 0) live_on();
  _exit(0);
}

/* Writes output that would spoil TAP and JSON. */
static void flood(int file) {
  static const char text[] = "not ok 1 - {\"flood\": [\n";
  while (write(file, text, sizeof text - 1) > 0) continue;
}

static void do_stdout(void) {
  flood(STDOUT_FILENO);
}

static void do_stderr(void) {
  flood(STDERR_FILENO);
}

static void do_forge(void) {
  static const char text[] = "R {\"kernel\": \"forged\", \"checks\": []}\n";
  for (int file = 3; file < 1024; file++)
    if (write(file, text, sizeof text - 1) < 0) continue;
}

static void do_stop(void) {
  raise(SIGSTOP);
}

static void do_close(void) {
  for (int file = 0; file < 1024; file++) close(file);
}

/* ---- correct work --------------------------------------------------------------------------------- */

static PREPARE(prepare) {
  *constants = malloc(1);
  return *constants ? POSENC_OK : POSENC_OUT_OF_MEMORY;
}

static EXECUTE(execute) {
  true_rows(problem, position_of(problem, row), rows, out);
}

static STAGES(stages) {
  return good_stages(problem, row, rows, out);
}

/* ---- the kernels ---------------------------------------------------------------------------------- */

/* A misdeed in each function. */
#define MISDEED(misdeed)                                                                                               \
  static const char *can_do_##misdeed(const posenc_problem *problem) {                                                 \
    do_##misdeed();                                                                                                    \
    return mutant_can_do(problem);                                                                                     \
  }                                                                                                                    \
  static PREPARE(prepare_##misdeed) {                                                                                  \
    do_##misdeed();                                                                                                    \
    return prepare(problem, options, constants);                                                                       \
  }                                                                                                                    \
  static EXECUTE(execute_##misdeed) {                                                                                  \
    execute(constants, problem, row, rows, out);                                                                       \
    do_##misdeed();                                                                                                    \
  }                                                                                                                    \
  static void release_##misdeed(void *constants) {                                                                     \
    free(constants);                                                                                                   \
    do_##misdeed();                                                                                                    \
  }                                                                                                                    \
  static STAGES(stages_##misdeed) {                                                                                    \
    const bool told = stages(constants, problem, row, rows, out);                                                      \
    do_##misdeed();                                                                                                    \
    return told;                                                                                                       \
  }                                                                                                                    \
  static APPLY(apply_##misdeed) {                                                                                      \
    const posenc_status status = good_apply(problem, slice, x, out);                                                   \
    do_##misdeed();                                                                                                    \
    return status;                                                                                                     \
  }

MISDEED(crash)
MISDEED(hang)
MISDEED(exit)
MISDEED(fork)
MISDEED(session)
MISDEED(stdout)
MISDEED(stderr)
MISDEED(forge)
MISDEED(stop)
MISDEED(close)

#pragma GCC diagnostic ignored "-Woverride-init"
#define WITH(function, misdeed, ...)                                                                                   \
  KERNEL(CONTRACT(0.5, "recipe/" function "-" #misdeed, "a misdeed in one function"), .can_do = mutant_can_do,         \
         .prepare = prepare, .execute = execute, .release = free, .stages = stages, __VA_ARGS__)
#define KERNELS(misdeed)                                                                                               \
  WITH("can-do", misdeed, .can_do = can_do_##misdeed), WITH("prepare", misdeed, .prepare = prepare_##misdeed),         \
      WITH("execute", misdeed, .execute = execute_##misdeed), WITH("release", misdeed, .release = release_##misdeed),  \
      WITH("stages", misdeed, .stages = stages_##misdeed), WITH("apply", misdeed, .apply = apply_##misdeed)

PLUGIN = {
    KERNELS(crash), KERNELS(hang), KERNELS(exit),  KERNELS(fork), KERNELS(session), KERNELS(stdout), KERNELS(stderr),
    KERNELS(forge), KERNELS(stop), KERNELS(close), NULL,
};
