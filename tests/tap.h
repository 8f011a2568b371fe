/* SPDX-License-Identifier: MIT */
/* Writes flat TAP. A test program ends with `return tap_done();`. */
#ifndef POSENC_TESTS_TAP_H
#define POSENC_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_points, tap_failed, tap_left_out;

__attribute__((format(printf, 2, 3))) static inline bool ok(bool passed, const char *what, ...) {
  va_list arguments;
  printf("%sok %d - ", passed ? "" : "not ", ++tap_points);
  va_start(arguments, what);
  vprintf(what, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
  if (!passed) tap_failed++;
  return passed;
}

/* Makes a point that is named after its condition. */
#define CHECK(condition) ok((condition), "%s", #condition)

static inline void skip(const char *what, const char *why) {
  printf("ok %d - %s # SKIP %s\n", ++tap_points, what, why);
}

static inline bool is_emulated(void) {
  const char *emulator = getenv("EMULATOR");
  return emulator && *emulator;
}

/* Whether the n-th of many cases is left out: an emulated processor, where all of them take hours, does one of four. */
static inline bool is_left_out(size_t n) {
  const bool is_out = is_emulated() && n % 4 != 0;
  tap_left_out += is_out;
  return is_out;
}

static inline int tap_done(void) {
  if (tap_left_out) skip("what is left out", "an emulated processor does one case of four");
  printf("1..%d\n", tap_points);
  return tap_failed ? 1 : 0;
}

#endif
