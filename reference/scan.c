/* SPDX-License-Identifier: MIT */
/* Prints the hard-to-round cases of a table. `make worst` makes all files of reference/worst/ with it. */
#include "reference/worst.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Parses a number of at least `least`; prints a message and returns false if the text is not one. */
static bool parse(const char *what, const char *text, double least, double *value) {
  char *end;
  *value = strtod(text, &end);
  if (*text && !*end && *value >= least && *value <= 0x1p40) return true;
  fprintf(stderr, "posenc-scan: %s %s: not a number of %g to 2^40\n", what, text, least);
  return false;
}

int main(int argc, char **argv) {
  double base, dim, positions, cases;
  if (argc < 5 || argc > 6) {
    fputs("Usage: posenc-scan BASE DIM POSITIONS CASES [f32|f16|bf16]\n", stderr);
    return 2;
  }
  if (!parse("BASE", argv[1], 1.0, &base) || !parse("DIM", argv[2], 2.0, &dim) ||
      !parse("POSITIONS", argv[3], 2.0, &positions) || !parse("CASES", argv[4], 1.0, &cases))
    return 2;
  posenc_problem problem = posenc_table((int64_t)positions, (int64_t)dim);
  problem.base = base;
  if (argc == 6 && !worst_dtype(argv[5], &problem.dtype)) {
    fprintf(stderr, "posenc-scan: %s: not f32, f16 or bf16\n", argv[5]);
    return 2;
  }
  const char *refusal = posenc_problem_refusal(&problem);
  if (refusal) {
    fprintf(stderr, "posenc-scan: %s\n", refusal);
    return 2;
  }
  char command[200];
  snprintf(command, sizeof command, "posenc-scan %.17g %" PRId64 " %" PRId64 " %" PRId64 "%s%s", base, problem.dim,
           problem.rows, (int64_t)cases, argc == 6 ? " " : "", argc == 6 ? worst_dtype_name(problem.dtype) : "");
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
