/* SPDX-License-Identifier: MIT */
/* Which kernel: the fastest for each error budget on this machine, and its speed compared with others; and a choice on
   one problem, with the reason. */
#ifndef POSENC_REPORTS_MODEL_ANSWER_H
#define POSENC_REPORTS_MODEL_ANSWER_H

#include "posenc.h"
#include "records/record.h"
#include "records/timings.h"

#include <stdio.h>

/* The largest error that a kernel may have: that of correct rounding, one ulp just below 1 (2^-24; 2^-44 in f64), or
   any. */
typedef enum answer_budget { ANSWER_HALF, ANSWER_ONE, ANSWER_ANY, ANSWER_BUDGETS } answer_budget;
extern const char *const answer_budgets[ANSWER_BUDGETS];  /* in records: "half", "one", "any" */
extern const char *const answer_titles[ANSWER_BUDGETS];   /* on pages: "0.5 ulp", "1 ulp", "any" */
extern const char *const answer_promises[ANSWER_BUDGETS]; /* on pages, after an error: ", correctly rounded", …, "" */

/* Returns the budget of that name in records, ANSWER_ANY if there is none. */
answer_budget answer_budget_called(const char *name);

/*
 * Adds the "answer" to the report from the rest of it, for the reference table, the largest table and the largest in
 * cache: the fastest kernel that passed all its checks, computes its rows, and has a proved bound within the budget.
 * If times do not differ significantly from the fastest one's, a correctly rounded kernel is preferred, then one of a
 * single thread.
 */
void answer_make(record_report *report, repetition_index *times, record_memory *in);

/* How the shape of the headline is computed, a table of f32 unless others were asked for: as the library does by
   default, as it does with all threads, with the fastest sines of another library, and, for comparison, by the fastest
   recipe: a framework's formula in C with the C library's sines, while frameworks have vector functions of their own.
   Where the report has no default for a table of f32, the fastest kernel with a proved error of at most 2^-24 takes its
   place; where it has no recipe, that of recipes is taken by the other library's kernel, or by the literal formula.
   Kernels of plugins are in none of these places. */
typedef enum answer_use { USE_DEFAULT, USE_THREADS, USE_LIBRARY, USE_NOW, USES } answer_use;

/* Adds the "uses" to the report. The library's own choices are facts of the accuracy record's environment; if they are
   missing, the times decide. */
void answer_uses(record_report *report, repetition_index *times, record_memory *in);

/* Returns that use, or null if there is none. */
const record_use *answer_find_use(const record_report *report, answer_use use);

bool answer_is_use(const record_report *report, answer_use use, const char *kernel);

/* Whether it is the library's own choice for that table, with one thread or with all. */
bool answer_is_choice(const record_report *report, bool serial, const char *kernel);

/* Adds the "subjects" to the report, which has its uses: the kernels that were selected, those of plugins first, with
   their times beside the kernel of the use default, the literal formula, and the first of them. */
void answer_subjects(record_report *report, repetition_index *times, record_memory *in);

/* The name of the kernel that computes the formula literally. */
extern const char answer_literal[];

/* Returns the number of a kernel that has a look of its own in every figure: the selected ones, the uses, then the
   literal formula; else ANSWER_UNMARKED. */
enum { ANSWER_UNMARKED = 100000 };
size_t answer_mark(const record_report *report, const char *kernel);

/* Whether a kernel may be the fastest or the most accurate one: it passed all its checks, and it computes its rows. The
   time of a kernel that keeps its rows is that of a copy. */
bool answer_counts(const record_kernel *kernel);

/* Whether the kernel is a competitor on another library's vector sines. */
bool answer_has_foreign_sines(const record_kernel *kernel);

/* Returns the smallest budget that includes the kernel's proved bound on that table. */
answer_budget answer_class(const record_kernel *kernel, const record_table *table);

/* Whether the kernel's proved bound in that dtype is at most `most` at all positions of that shape. */
bool answer_is_within(const record_kernel *kernel, const record_table_shape *of, posenc_dtype dtype, double most);

/* Returns the name of the fastest kernel on a table of the report; null if there is none, or the table is null. */
const char *answer_fastest(const record_report *report, const record_table *table, answer_budget budget);

/* ---- a choice ---------------------------------------------------------------------------------------------------- */

/* Chooses a kernel among those that were verified and timed on one problem, and gives the reason. */

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
