/* SPDX-License-Identifier: MIT */
/*
 * Compares regular with streaming stores: from which size on are streaming stores faster? One process runs both, and
 * the library's own choice, in turn, over the same memory again and again.
 *
 *     stores [KERNEL [LARGEST MIB]]      default: the kernel that the library chooses, and 2048
 *
 * The exit status is 1 if the library's choice is, for any table, more than a tenth slower than the better of the two.
 */
#include "common/clock.h"
#include "posenc.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = POSENC_STORES_STREAMING + 1, REPETITIONS = 12, SETTLING = 4 };

/*
 * At least least_bytes are written between two readings of the clock, in several passes if needed. A table above
 * settling_bytes leaves nothing in the caches, so its passes need no untimed ones before them.
 */
static const size_t least_bytes = (size_t)1 << 22, settling_bytes = (size_t)1 << 26;

/* Returns the time of one pass, in seconds, over memory in the state that such passes leave. */
static double seconds_of(const posenc_plan *plan, size_t bytes, void *out) {
  const size_t passes = bytes < least_bytes ? least_bytes / bytes : 1;
  const int64_t rows = posenc_plan_problem(plan)->rows;
  for (int pass = 0; bytes <= settling_bytes && pass < SETTLING; pass++) posenc_execute(plan, 0, rows, out);
  const double start = clock_seconds();
  for (size_t pass = 0; pass < passes; pass++) posenc_execute(plan, 0, rows, out);
  return (clock_seconds() - start) / (double)passes;
}

/*
 * Finds the least time of a table for each kind of stores, in seconds; longer times are those of a disturbed machine.
 * Returns false if a plan cannot be created.
 */
static bool measure(const posenc_problem *problem, const posenc_kernel *kernel, size_t bytes, void *out,
                    double least[WAYS]) {
  posenc_plan *plans[WAYS] = {NULL};
  bool fine = true;
  for (int way = 0; way < WAYS; way++) {
    posenc_options options = posenc_default_options();
    options.kernel = kernel;
    options.stores = (posenc_stores)way;
    fine = posenc_plan_create(&plans[way], problem, &options) == POSENC_OK && fine;
    least[way] = INFINITY;
  }
  for (int n = 0; fine && n < REPETITIONS; n++)
    for (int i = 0; i < WAYS; i++) {
      const int way = (n + i) % WAYS; /* the order rotates, so that each comes first equally often */
      least[way] = fmin(least[way], seconds_of(plans[way], bytes, out));
    }
  for (int way = 0; way < WAYS; way++) posenc_plan_destroy(plans[way]);
  return fine;
}

int main(int argc, char **argv) {
  static const int64_t dims[] = {512, 1024, 4096};
  static const struct {
    posenc_dtype dtype;
    const char *name;
  } dtypes[] = {{POSENC_F32, "f32"}, {POSENC_BF16, "bf16"}};
  const posenc_kernel *kernel = argc > 1 ? posenc_kernel_find(argv[1]) : NULL;
  const size_t most = (argc > 2 ? strtoul(argv[2], NULL, 10) : 2048) << 20;
  void *out = posenc_alloc(most);
  int slow = 0;
  if ((argc > 1 && !kernel) || !out) {
    fprintf(stderr, "stores: %s\n", out ? "no such kernel" : "out of memory");
    return 2;
  }
  memset(out, 0x55, most);
  printf("%8s %5s %5s  %8s %9s %8s  GB/s\n", "KiB", "dim", "dtype", "regular", "streaming", "auto");
  for (size_t bytes = (size_t)1 << 16; bytes <= most; bytes *= 2)
    for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++)
      for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
        posenc_problem problem = posenc_table(0, dims[d]);
        double took[WAYS];
        problem.dtype = dtypes[t].dtype;
        problem.rows = (int64_t)(bytes / ((size_t)dims[d] * posenc_dtype_bytes(problem.dtype)));
        if (!measure(&problem, kernel, bytes, out, took)) continue;
        const double best = fmin(took[POSENC_STORES_REGULAR], took[POSENC_STORES_STREAMING]);
        const bool is_slow = took[POSENC_STORES_AUTO] > 1.1 * best;
        slow += is_slow;
        printf("%8zu %5ld %5s  %8.1f %9.1f %8.1f%s\n", bytes >> 10, (long)dims[d], dtypes[t].name,
               1e-9 * (double)bytes / took[POSENC_STORES_REGULAR], 1e-9 * (double)bytes / took[POSENC_STORES_STREAMING],
               1e-9 * (double)bytes / took[POSENC_STORES_AUTO], is_slow ? "  slow" : "");
        fflush(stdout);
      }
  posenc_free(out);
  return slow ? 1 : 0;
}
