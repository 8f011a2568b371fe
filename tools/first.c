/* SPDX-License-Identifier: MIT */
/*
 * Times the first table of a process: creating the plan, writing the whole table into touched memory and destroying the
 * plan, with code that has not run before. Each process makes one call and prints one entry of a timing record;
 * tools/targets.sh starts many of them.
 */
#include "common/clock.h"
#include "posenc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int usage(void) {
  fputs("usage: posenc-first LEN DIM [KERNEL]\n", stderr);
  return 2;
}

static posenc_status make_table(const posenc_problem *problem, const posenc_options *options, void *table) {
  posenc_plan *plan;
  posenc_status status = posenc_plan_create(&plan, problem, options);
  if (status == POSENC_OK) status = posenc_execute(plan, 0, problem->rows, table);
  posenc_plan_destroy(plan);
  return status;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) return usage();
  const posenc_problem problem = posenc_table(strtoll(argv[1], NULL, 10), strtoll(argv[2], NULL, 10));
  posenc_options options = posenc_default_options();
  const char *name = argc > 3 ? argv[3] : "default";
  if (argc > 3 && !(options.kernel = posenc_kernel_find(name))) return usage();
  size_t bytes;
  if (posenc_table_bytes(&problem, &bytes) != POSENC_OK) return usage();
  void *table = posenc_alloc(bytes);
  if (!table) return 1;
  memset(table, 0x55, bytes);

  const double start = clock_seconds();
  const posenc_status status = make_table(&problem, &options, table);
  const double seconds = clock_seconds() - start;
  posenc_free(table);
  if (status != POSENC_OK) {
    fprintf(stderr, "posenc-first: %s: %s\n", name, posenc_status_message(status));
    return 1;
  }
  printf("{\"name\": \"process/%" PRId64 "x%" PRId64
         "/%s\", \"run_type\": \"iteration\", \"real_time\": %.0f, \"time_unit\": \"ns\"}\n",
         problem.rows, problem.dim, name, 1e9 * seconds);
  return 0;
}
