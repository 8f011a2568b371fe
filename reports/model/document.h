/* SPDX-License-Identifier: MIT */
/* Finds parts of the report that page, Markdown and report.json show. */
#ifndef POSENC_REPORTS_MODEL_DOCUMENT_H
#define POSENC_REPORTS_MODEL_DOCUMENT_H

#include "posenc.h"
#include "records/record.h"

#include <stdbool.h>

/* The states of memory in which tables are timed, as fields of the report, except "hot", whose times are in
   "shapes". */
#define REPORT_STATES(STATE) STATE(cold) STATE(fresh) STATE(malloc) STATE(offset) STATE(first) STATE(row)

/* The name of the reference shape, which headlines use if it was verified. */
extern const char report_reference[];

/* Returns the shape of that name, or the row of a kernel in a table, which may be null. Returns null if there is
   none. */
const record_table *report_table(const record_report *report, const char *name);
const record_row *report_row(const record_table *table, const char *kernel);

/* Whether all elements were compared bit by bit, and are the same. */
bool row_has_same_bits(const record_row *a, const record_row *b);

/* Whether the row was timed on slices of the table. */
bool row_is_sliced(const record_row *row);

/* Returns why times of the kernel are lacking, all or some: it broke a check, crashed or the like; "" if it did not. */
const char *report_loss(const record_report *report, const char *kernel);

/* Returns the median of the kernel's times on the table in ns; NaN if it was not timed. */
double report_median_ns(const record_table *table, const char *kernel);

const record_kernel *report_kernel(const record_report *report, const char *name);
bool report_is_recipe(const record_report *report, const char *kernel);

/* Returns the kernel that the library chooses for a shape, with one thread or with all; "" if the record does not have
   it. */
const char *report_choice(const record_report *report, const char *name, bool serial);

/* Whether anything was timed. */
bool report_is_timed(const record_report *report);

/* Whether it is a table of f32, as opposed to an x or a rope cache. */
bool report_is_f32_table(const record_table *table);

/* Returns the bound of the contract; or the one of the kernel's rows in a dtype, which the library may round again. */
posenc_bound report_bound(const record_kernel *kernel);
posenc_bound report_bound_in(const record_kernel *kernel, posenc_dtype dtype);

/* Returns the dtype of a shape, f32 if the record has none. */
posenc_dtype report_dtype(const record_table_shape *of);

#endif
