/* SPDX-License-Identifier: MIT */
/* The fastest kernel for each error budget on this machine, and by how much. */
#ifndef POSENC_REPORTS_MODEL_ANSWER_H
#define POSENC_REPORTS_MODEL_ANSWER_H

#include "records/samples.h"

/* The error that a kernel may have: that of correct rounding, one ulp just below 1 (2^-24), or any. */
typedef enum answer_budget { ANSWER_HALF, ANSWER_ONE, ANSWER_ANY, ANSWER_BUDGETS } answer_budget;
extern const char *const answer_budgets[ANSWER_BUDGETS]; /* in records: "half", "one", "any" */
extern const char *const answer_titles[ANSWER_BUDGETS];  /* on pages: "0.5 ulp", "1 ulp", "any" */

/*
 * The "answer" of the report, from the rest of it: on the reference table, the largest one and the largest in cache,
 * the fastest kernel whose every check passed, that computes its rows, and whose proved bound is within the budget.
 * Null when memory runs out.
 */
json_t *answer_make(const record_report *report, samples *times);

/* May a kernel be the fastest or the most accurate one? If every check of it passed, and it computes its rows: the time
 * of one that keeps them is that of a copy. */
bool answer_counts(const record_kernel *kernel);

/* The name of the fastest kernel on a table of the report; null if there is none, or no table. */
const char *answer_fastest(const record_report *report, const record_table *table, answer_budget budget);

#endif
