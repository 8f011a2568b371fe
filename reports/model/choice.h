/* SPDX-License-Identifier: MIT */
/* Chooses a kernel among those that were verified and timed on one problem, and gives the reason. */
#ifndef POSENC_REPORTS_MODEL_CHOICE_H
#define POSENC_REPORTS_MODEL_CHOICE_H

#include "posenc.h"
#include "records/record.h"

#include <stdio.h>

/* Tolerances, INFINITY without one. */
typedef struct choice_budget {
  double max_ulp, max_abs;
} choice_budget;

/* The calls that are made with one plan. */
typedef struct choice_workload {
  int64_t rows;                          /* of a call */
  double share;                          /* of a call, of what was timed in `mode`: 1, or rows / all rows */
  int64_t calls;                         /* of one plan, whose time they share; 0: plans do not count */
  bool (*elsewhere)(const char *kernel); /* whether it is shown but not chosen; null: none is */
} choice_workload;

/* Returns the error that posenc_default_options allows in a dtype: one ulp just below 1, and 2^-44 in f64. */
double choice_default_abs(posenc_dtype dtype);

/*
 * Makes a choice as records/fields.def describes it, whose texts are those of the records and whose lists are in `in`.
 * `accuracy` is an accuracy record that has `shape`, the problem's, and `table`, the name of the shape of the table
 * that the problem uses. `timed` is a timing record of `shape` in `mode`, and perhaps in the mode plan.
 */
record_choice choice_of(const record_accuracy *accuracy, const record_timing *timed, const char *shape,
                        const char *table, const char *mode, choice_budget budget, const choice_workload *work,
                        record_memory *in);

/* Prints the candidates as a table, and the reason. */
void choice_print(const record_choice *choice, FILE *stream);

/* Writes an SVG document, error against time. Returns 0, or 2 with the reason printed to stderr. */
int choice_plot(const record_choice *choice, FILE *stream);

#endif
