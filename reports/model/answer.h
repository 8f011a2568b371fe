/* SPDX-License-Identifier: MIT */
/* The fastest kernel for each error budget on this machine, and by how much. */
#ifndef POSENC_REPORTS_MODEL_ANSWER_H
#define POSENC_REPORTS_MODEL_ANSWER_H

#include "posenc.h"
#include "records/samples.h"

/* The error that a kernel may have: that of correct rounding, one ulp just below 1 (2^-24), or any. */
typedef enum answer_budget { ANSWER_HALF, ANSWER_ONE, ANSWER_ANY, ANSWER_BUDGETS } answer_budget;
extern const char *const answer_budgets[ANSWER_BUDGETS];  /* in records: "half", "one", "any" */
extern const char *const answer_titles[ANSWER_BUDGETS];   /* on pages: "0.5 ulp", "1 ulp", "any" */
extern const char *const answer_promises[ANSWER_BUDGETS]; /* on pages, after an error: ", correctly rounded", …, "" */

/*
 * The "answer" of the report, from the rest of it: on the reference table, the largest one and the largest in cache,
 * the fastest kernel whose every check passed, that computes its rows, and whose proved bound is within the budget. Of
 * kernels whose times are not told apart from the fastest one's, a correctly rounded one is preferred, then one of a
 * single thread. Null when memory runs out.
 */
json_t *answer_make(const record_report *report, samples *times);

/* How the table of the headline is computed: as the library does by default, as it does with all threads, with the
   fastest sines of another library, and, for comparison, by the fastest recipe: a framework's formula in C with the C
   library's sines, while frameworks have vector functions of their own. */
typedef enum answer_use { USE_DEFAULT, USE_THREADS, USE_LIBRARY, USE_NOW, USES } answer_use;

/* The "uses" of the report. The library's own choices are facts of the accuracy record's environment; where it has
   none, they are made by the times. Null when memory runs out. */
json_t *answer_uses(const record_report *report, samples *times);

/* That use; null if there is none. */
const record_use *answer_find_use(const record_report *report, answer_use use);

/* The number of a kernel among the few that every figure tells apart: the uses, then naive; else ANSWER_MARKED. */
enum { ANSWER_MARKED = USES + 1 };
size_t answer_mark(const record_report *report, const char *kernel);

/* May a kernel be the fastest or the most accurate one? If every check of it passed, and it computes its rows: the time
 * of one that keeps them is that of a copy. */
bool answer_counts(const record_kernel *kernel);

/* The smallest budget that the kernel's proved bound is within on that table. */
answer_budget answer_class(const record_kernel *kernel, const record_table *table);

/* Does the kernel prove that its error in that dtype is at most so much everywhere on that shape? */
bool answer_is_within(const record_kernel *kernel, const record_table_shape *of, posenc_dtype dtype, double most);

/* The name of the fastest kernel on a table of the report; null if there is none, or no table. */
const char *answer_fastest(const record_report *report, const record_table *table, answer_budget budget);

#endif
