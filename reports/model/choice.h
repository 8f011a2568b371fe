/* SPDX-License-Identifier: MIT */
/* The kernel to take of those that were verified and timed on one problem, and why. */
#ifndef POSENC_REPORTS_MODEL_CHOICE_H
#define POSENC_REPORTS_MODEL_CHOICE_H

#include "posenc.h"
#include "records/read.h"

#include <jansson.h>
#include <stdio.h>

/* Both INFINITY for none. */
typedef struct choice_budget {
  double max_ulp, max_abs;
} choice_budget;

/* The error that posenc_default_options allows in a dtype: one ulp just below 1, and 2^-44 in f64. */
double choice_default_abs(posenc_dtype dtype);

/*
 * accuracy: an accuracy record that has `table`, the name of the table's shape that the problem works with, and
 * `shape`, the problem's. timing: a timing record of `shape` in one mode, `mode`. The choice is described in
 * records/record.schema.json. Null when memory runs out.
 */
json_t *choice_of(const json_t *accuracy, const json_t *timing, const char *shape, const char *table, const char *mode,
                  choice_budget budget);

/* A table and a reason. */
void choice_print(const record_choice *choice, FILE *stream);

/* An SVG document: error against time. 0, or 2 with the reason told on stderr. */
int choice_plot(const record_choice *choice, FILE *stream);

#endif
