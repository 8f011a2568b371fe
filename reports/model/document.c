/* SPDX-License-Identifier: MIT */
#include "reports/model/document.h"

#include "common/contract.h"
#include "common/shapes.h"

#include <math.h>
#include <string.h>

const char report_reference[] = "transformer-base";

const record_table *report_table(const record_report *report, const char *name) {
  RECORD_EACH(table, report, shapes)
    if (strcmp(table->shape.name, name) == 0) return table;
  return NULL;
}

const record_row *report_row(const record_table *table, const char *kernel) {
  if (!table) return NULL;
  RECORD_EACH(row, table, rows)
    if (strcmp(row->kernel, kernel) == 0) return row;
  return NULL;
}

bool row_has_same_bits(const record_row *a, const record_row *b) {
  static const char all[] = "exhaustive";
  return strcmp(a->mode, all) == 0 && strcmp(b->mode, all) == 0 && *a->digest && strcmp(a->digest, b->digest) == 0;
}

bool row_is_sliced(const record_row *row) {
  return row->timing.rows_timed < row->timing.rows;
}

double report_median_ns(const record_table *table, const char *kernel) {
  const record_row *row = report_row(table, kernel);
  return row ? row->timing.ns_per_element.median : NAN;
}

const char *report_loss(const record_report *report, const char *kernel) {
  const record_facts *facts = &report->environment.timing;
  RECORD_EACH(how, facts, list) {
    const char *lost = kernel_of_failure(how->key);
    if (lost && strcmp(lost, kernel) == 0) return how->is_text ? how->value : "?";
  }
  return "";
}

const record_kernel *report_kernel(const record_report *report, const char *name) {
  return record_find_kernel(report->kernels, report->kernels_count, name);
}

bool report_is_recipe(const record_report *report, const char *name) {
  const record_kernel *kernel = report_kernel(report, name);
  return kernel && kernel->recipe;
}

const char *report_choice(const record_report *report, const char *name, bool serial) {
  RECORD_EACH(choice, report, choices)
    if (strcmp(choice->shape, name) == 0) return serial ? choice->kernel : choice->all_threads;
  return "";
}

bool report_is_timed(const record_report *report) {
  return report->environment.timing.there;
}

bool table_is_timed(const record_table *table) {
  RECORD_EACH(row, table, rows)
    if (row->timing.there) return true;
  return false;
}

bool report_is_f32_table(const record_table *table) {
  const char *op = table->shape.op;
  return strcmp(table->shape.dtype, dtype_name(POSENC_F32)) == 0 && (!*op || strcmp(op, op_name(POSENC_TABLE)) == 0);
}

posenc_bound report_bound(const record_kernel *kernel) {
  const record_bound *bound = &kernel->bound;
  return (posenc_bound){.ulp = bound->ulp,
                        .abs = bound->abs,
                        .growth = bound->growth,
                        .max_position = bound->max_position,
                        .derived = bound->derived};
}

posenc_bound report_bound_in(const record_kernel *kernel, posenc_dtype dtype) {
  const posenc_kernel contract = {.bound = report_bound(kernel), .f32_only = kernel->f32_only};
  posenc_problem problem = posenc_table(1, 2);
  problem.dtype = dtype;
  return bound_is_none(&contract.bound) ? contract.bound : posenc_kernel_bound(&contract, &problem);
}

posenc_dtype report_dtype(const record_table_shape *of) {
  posenc_dtype dtype = POSENC_F32;
  dtype_parse(of->dtype, &dtype);
  return dtype;
}
