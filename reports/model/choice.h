/* SPDX-License-Identifier: MIT */
/* Of kernels that were verified and timed on one problem: which one to take, and why. */
#ifndef POSENC_REPORTS_MODEL_CHOICE_H
#define POSENC_REPORTS_MODEL_CHOICE_H

#include <jansson.h>
#include <stdio.h>

/* Both INFINITY for none. */
typedef struct choice_budget {
  double max_ulp, max_abs;
} choice_budget;

/*
 * accuracy: an accuracy record that has `table`, the name of the table's shape that the problem works with, and `shape`, the problem's. timing: a timing
 * record of `shape` in one mode, `mode`.
 *
 * { "schema": "posenc-choice-1", "shape", "mode", "environment", "max_ulp", "max_abs": the budget, null for none,
 *   "candidates": by time, fastest first, those that were timed: [ {"kernel", "ok": kept all its promises here, "within": the budget, "exhaustive": all elements of the table
 *                   were looked at, "max_ulp", "max_abs", "misrounded", "elements": of the table, "seconds": median, "low", "high": least and largest timing, "bytes_per_second",
 *                   "of_limit", "front": none is both as fast and as accurate (max_abs), and better at one} … ],
 *   "choice": name of the fastest that is ok and within, or null,
 *   "next": {"kernel", "ratio", "low", "high": how many times as long it takes, 95 %} of those, or null }
 *
 * Null when memory runs out.
 */
json_t *choice_of(const json_t *accuracy, const json_t *timing, const char *shape, const char *table, const char *mode,
                  choice_budget budget);

/* A table and a reason. */
void choice_print(const json_t *choice, FILE *stream);

/* An SVG document: error against time. 0, or 2 with the reason told on stderr. */
int choice_plot(const json_t *choice, FILE *stream);

#endif
