/* SPDX-License-Identifier: MIT */
/* Mutants that write what they should not, or do not write what they should. */
#include "tests/mutants/mutant.h"

#include <string.h>

static size_t bytes_of(const posenc_problem *problem, int64_t rows) {
  return (size_t)(rows * problem->dim) * posenc_dtype_bytes(problem->dtype);
}

static void byte_before(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  true_rows(problem, position_of(problem, row), rows, out);
  ((char *)out)[-1] = 0;
}

static void byte_after(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  true_rows(problem, position_of(problem, row), rows, out);
  ((char *)out)[bytes_of(problem, rows)] = 0;
}

/* The last element of every call stays as it was. */
static void unwritten_tail(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  float *last = (float *)out + rows * problem->dim - 1, before;
  memcpy(&before, last, sizeof before);
  true_rows(problem, position_of(problem, row), rows, out);
  memcpy(last, &before, sizeof before);
}

static const posenc_kernel before = {MUTANT("byte-before", "writes one byte before its rows", byte_before)};
static const posenc_kernel after = {MUTANT("byte-after", "writes one byte after its rows", byte_after)};
static const posenc_kernel unwritten = {MUTANT("unwritten-tail", "leaves its last element unwritten", unwritten_tail)};

POSENC_PLUGIN(&before, &after, &unwritten);
