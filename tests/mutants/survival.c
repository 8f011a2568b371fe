/* SPDX-License-Identifier: MIT */
/* Mutants that do not come back. */
#include "tests/mutants/mutant.h"

#include <signal.h>
#include <unistd.h>

/* The honest rows are there when they go, so that only their going can tell. */
static void rows_first(const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  true_rows(problem, position_of(problem, row), rows, out);
}

static void null_write(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  static volatile char *volatile nowhere;
  (void)constants;
  rows_first(problem, row, rows, out);
  *nowhere = 0;
}

static void arithmetic_signal(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                              void *out) {
  (void)constants;
  rows_first(problem, row, rows, out);
  raise(SIGFPE);
}

static void illegal_instruction(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                                void *out) {
  (void)constants;
  rows_first(problem, row, rows, out);
  raise(SIGILL);
}

static void exit_zero(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  rows_first(problem, row, rows, out);
  exit(0);
}

static void hang(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  rows_first(problem, row, rows, out);
  for (;;) pause();
}

static const posenc_kernel kernels[] = {
    {MUTANT("null-write", "writes to address 0", null_write)},
    {MUTANT("arithmetic-signal", "raises SIGFPE", arithmetic_signal)},
    {MUTANT("illegal-instruction", "raises SIGILL", illegal_instruction)},
    {MUTANT("exit-zero", "ends the process as if all were well", exit_zero)},
    {MUTANT("hang", "never returns", hang)},
};

POSENC_PLUGIN(&kernels[0], &kernels[1], &kernels[2], &kernels[3], &kernels[4]);
