/* SPDX-License-Identifier: MIT */
/* Mutants that write what they should not, or do not write what they should. */
#include "tests/mutants/mutant.h"

#include <string.h>

static size_t bytes_of(const posenc_problem *problem, int64_t rows) {
  return (size_t)(rows * problem->dim) * posenc_dtype_bytes(problem->dtype);
}

AFTER_ROWS(byte_before, ((char *)out)[-1] = 0)
AFTER_ROWS(byte_after, ((char *)out)[bytes_of(problem, rows)] = 0)

/* Leaves the last element of every call unwritten. */
static EXECUTE(unwritten_tail) {
  float *last = (float *)out + rows * problem->dim - 1, before;
  memcpy(&before, last, sizeof before);
  good_rows(constants, problem, row, rows, out);
  memcpy(last, &before, sizeof before);
}

PLUGIN = {
    MUTANT_OF_GOOD("byte-before", "writes one byte before its rows", byte_before),
    MUTANT_OF_GOOD("byte-after", "writes one byte after its rows", byte_after),
    MUTANT_OF_GOOD("unwritten-tail", "leaves its last element unwritten", unwritten_tail),
    NULL,
};
