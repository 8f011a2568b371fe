/* SPDX-License-Identifier: MIT */
/* Replaces run.c in builds without Google Benchmark. */
#include "config.h"

#include "bench/bench.h"

#include <stdio.h>

int bench_run(const bench_request *request, json_t **record) {
  (void)request;
  *record = NULL;
  fputs("posenc: this build cannot time kernels: it was configured without Google Benchmark\n", stderr);
  return 2;
}
