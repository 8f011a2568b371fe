/* SPDX-License-Identifier: MIT */
/* Prints the hard-to-round cases of a table. `make worst` makes all of reference/worst/ with it. */
#include "reference/worst.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A number that the whole text is; false, and tells, if there is none. */
static bool parse(const char *what, const char *text, double least, double *value) {
  char *end;
  *value = strtod(text, &end);
  if (*text && !*end && *value >= least && *value <= 0x1p40) return true;
  fprintf(stderr, "posenc-scan: %s %s: not a number of %g to 2^40\n", what, text, least);
  return false;
}

int main(int argc, char **argv) {
  double base, dim, positions, cases;
  if (argc != 5) {
    fputs("Usage: posenc-scan BASE DIM POSITIONS CASES\n", stderr);
    return 2;
  }
  if (!parse("BASE", argv[1], 1.0, &base) || !parse("DIM", argv[2], 2.0, &dim) ||
      !parse("POSITIONS", argv[3], 2.0, &positions) || !parse("CASES", argv[4], 1.0, &cases))
    return 2;
  posenc_problem problem = posenc_table((int64_t)positions, (int64_t)dim);
  problem.base = base;
  const char *refusal = posenc_problem_refusal(&problem);
  if (refusal) {
    fprintf(stderr, "posenc-scan: %s\n", refusal);
    return 2;
  }
  char command[200];
  snprintf(command, sizeof command, "posenc-scan %.17g %" PRId64 " %" PRId64 " %" PRId64, base, problem.dim,
           problem.rows, (int64_t)cases);
  worst_cases found;
  if (!worst_scan(&problem, (size_t)cases, &found)) {
    fputs("posenc-scan: out of memory\n", stderr);
    return 2;
  }
  worst_write(&found, command, stdout);
  worst_free(&found);
  if (fflush(stdout) == 0) return 0;
  perror("posenc-scan");
  return 2;
}
