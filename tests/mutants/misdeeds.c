/* SPDX-License-Identifier: MIT */
/*
 * Kernels whose rows are honest, and each of which does one thing that no kernel may do, in one of its functions:
 * recipe/FUNCTION-MISDEED. They are called recipes so that identify asks them too. tests/isolation.sh tells what must
 * be said of each.
 */
#include "tests/mutants/mutant.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- misdeeds ------------------------------------------------------------------------------------- */

static void live_on(void) {
  for (;;) pause();
}

/* As a wild write does, but that a sanitizer does not turn it into an exit. */
static void do_crash(void) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

static void do_hang(void) {
  live_on();
}

static void do_exit(void) {
  exit(0);
}

/* Once: thousands of calls are made. */
static void do_fork(void) {
  static bool done;
  if (done) return;
  done = true;
  if (fork() == 0) live_on();
}

/* The same, out of the group, and no child of this process. */
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

/* Output that would spoil TAP and JSON. */
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

/* ---- honest work ---------------------------------------------------------------------------------- */

static posenc_status prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  (void)problem, (void)options;
  *constants = malloc(1);
  return *constants ? POSENC_OK : POSENC_OUT_OF_MEMORY;
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  true_rows(problem, position_of(problem, row), rows, out);
}

static posenc_plan *good_plan(const posenc_problem *problem) {
  posenc_options options = posenc_default_options();
  posenc_plan *plan;
  options.kernel = good_kernel();
  if (posenc_plan_create(&plan, problem, &options) != POSENC_OK) abort();
  return plan;
}

static bool stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                   posenc_stages *out) {
  (void)constants;
  posenc_plan *plan = good_plan(problem);
  const bool told = posenc_plan_stages(plan, row, rows, out);
  posenc_plan_destroy(plan);
  return told;
}

static posenc_status apply(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                           const void *x, void *out) {
  (void)constants;
  posenc_plan *plan = good_plan(problem);
  const posenc_status status = posenc_apply(plan, slice, x, out);
  posenc_plan_destroy(plan);
  return status;
}

/* ---- the kernels ---------------------------------------------------------------------------------- */

#define NAMED(function, misdeed)                                                                                       \
  CONTRACT(0.5, "recipe/" function "-" #misdeed, "a misdeed in one function"), .prepare = prepare, .execute = execute, \
                                                                               .release = free, .stages = stages

/* One of each function. */
#define KERNELS(misdeed)                                                                                               \
  static const char *can_do_##misdeed(const posenc_problem *problem) {                                                 \
    do_##misdeed();                                                                                                    \
    return mutant_can_do(problem);                                                                                     \
  }                                                                                                                    \
  static posenc_status prepare_##misdeed(const posenc_problem *problem, const posenc_options *options,                 \
                                         void **constants) {                                                           \
    do_##misdeed();                                                                                                    \
    return prepare(problem, options, constants);                                                                       \
  }                                                                                                                    \
  static void execute_##misdeed(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,       \
                                void *out) {                                                                           \
    execute(constants, problem, row, rows, out);                                                                       \
    do_##misdeed();                                                                                                    \
  }                                                                                                                    \
  static void release_##misdeed(void *constants) {                                                                     \
    free(constants);                                                                                                   \
    do_##misdeed();                                                                                                    \
  }                                                                                                                    \
  static bool stages_##misdeed(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,        \
                               posenc_stages *out) {                                                                   \
    const bool told = stages(constants, problem, row, rows, out);                                                      \
    do_##misdeed();                                                                                                    \
    return told;                                                                                                       \
  }                                                                                                                    \
  static posenc_status apply_##misdeed(const void *constants, const posenc_problem *problem,                           \
                                       const posenc_slice *slice, const void *x, void *out) {                          \
    const posenc_status status = apply(constants, problem, slice, x, out);                                             \
    do_##misdeed();                                                                                                    \
    return status;                                                                                                     \
  }                                                                                                                    \
  static const posenc_kernel kernels_##misdeed[] = {                                                                   \
      {NAMED("can-do", misdeed), .can_do = can_do_##misdeed},                                                          \
      {NAMED("prepare", misdeed), .can_do = mutant_can_do, .prepare = prepare_##misdeed},                              \
      {NAMED("execute", misdeed), .can_do = mutant_can_do, .execute = execute_##misdeed},                              \
      {NAMED("release", misdeed), .can_do = mutant_can_do, .release = release_##misdeed},                              \
      {NAMED("stages", misdeed), .can_do = mutant_can_do, .stages = stages_##misdeed},                                 \
      {NAMED("apply", misdeed), .can_do = mutant_can_do, .apply = apply_##misdeed},                                    \
  };

#pragma GCC diagnostic ignored "-Woverride-init"
KERNELS(crash)
KERNELS(hang)
KERNELS(exit)
KERNELS(fork)
KERNELS(session)
KERNELS(stdout)
KERNELS(stderr)
KERNELS(forge)
KERNELS(stop)
KERNELS(close)

#define LISTED(misdeed)                                                                                                \
  &kernels_##misdeed[0], &kernels_##misdeed[1], &kernels_##misdeed[2], &kernels_##misdeed[3], &kernels_##misdeed[4],   \
      &kernels_##misdeed[5]
POSENC_PLUGIN(LISTED(crash), LISTED(hang), LISTED(exit), LISTED(fork), LISTED(session), LISTED(stdout), LISTED(stderr),
              LISTED(forge), LISTED(stop), LISTED(close));
