/* SPDX-License-Identifier: MIT */
/* Writes flat TAP. A test program ends with `return tap_done();`. */
#ifndef POSENC_TESTS_TAP_H
#define POSENC_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_points, tap_failed;

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

static inline int tap_done(void) {
  printf("1..%d\n", tap_points);
  return tap_failed ? 1 : 0;
}

#endif
