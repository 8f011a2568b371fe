/* SPDX-License-Identifier: MIT */
/* Replaces run.c in builds without Google Benchmark. */
#include "config.h"

#include "bench/bench.h"

#include <stdio.h>

static const char cannot[] = "posenc: this build cannot time kernels: it was configured without Google Benchmark\n";

int bench_run(const run_request *request, const record_timing **record) {
  (void)request;
  *record = NULL;
  fputs(cannot, stderr);
  return 2;
}
