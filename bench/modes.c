/* SPDX-License-Identifier: MIT */
/* The modes; and what a build without Google Benchmark says. */
#include "config.h"

#include "bench/bench.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *summary;
} modes[BENCH_MODES] = {
    [BENCH_HOT] = {"hot", "the same memory again and again, plan not included"},
    [BENCH_COLD] = {"cold", "table and constants evicted from all caches, plan not included"},
    [BENCH_FRESH] = {"fresh", "memory as posenc_alloc gives it, page faults included, plan not included"},
    [BENCH_MALLOC] = {"malloc", "memory as malloc gives it, page faults included, plan not included"},
    [BENCH_OFFSET] = {"offset", "as hot, 16 bytes past a cache line, plan not included"},
    [BENCH_FIRST] = {"first", "plan and whole table, touched memory"},
    [BENCH_ROW] = {"row", "one row at a time, at scattered positions, plan not included"},
    [BENCH_PLAN] = {"plan", "the plan alone"},
};

const char *bench_mode_name(bench_mode mode) {
  return modes[mode].name;
}

const char *bench_mode_summary(bench_mode mode) {
  return modes[mode].summary;
}

/* Returns the mode with that name; BENCH_MODES if there is none. */
static unsigned find_mode(const char *name, size_t length) {
  unsigned mode = 0;
  while (mode < BENCH_MODES && (strncmp(modes[mode].name, name, length) != 0 || modes[mode].name[length] != '\0'))
    mode++;
  return mode;
}

bool bench_modes_parse(const char *text, unsigned *set) {
  *set = 0;
  for (const char *word = text;; word++) {
    const size_t length = strcspn(word, ",");
    const unsigned mode = find_mode(word, length);
    if (mode == BENCH_MODES) return false;
    *set |= 1u << mode;
    word += length;
    if (*word == '\0') return true;
  }
}

#ifndef HAVE_BENCHMARK
/* Replaces benchmarks.c there. */
static const char cannot[] = "posenc: this build cannot time kernels: it was configured without Google Benchmark\n";

int bench_run(run_request *request, const record_timing **record) {
  (void)request;
  *record = NULL;
  fputs(cannot, stderr);
  return 2;
}
#endif
