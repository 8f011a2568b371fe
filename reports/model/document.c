/* SPDX-License-Identifier: MIT */
#include "reports/model/document.h"

#include "common/field.h"
#include "common/shapes.h"

const char document_reference[] = "transformer-base";

const json_t *document_shape(const json_t *document, const char *name) {
  const json_t *shapes = json_object_get(document, "shapes");
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *candidate = json_array_get(shapes, i);
    if (strcmp(field_string(json_object_get(candidate, "shape"), "name"), name) == 0) return candidate;
  }
  return NULL;
}

const json_t *document_row(const json_t *table, const char *kernel) {
  return field_find(json_object_get(table, "rows"), "kernel", kernel);
}

bool document_is_timed(const json_t *document) {
  return json_is_object(json_object_get(json_object_get(document, "environment"), "timing"));
}

bool document_is_recipe(const json_t *document, const char *kernel) {
  const json_t *contract = field_find(json_object_get(document, "kernels"), "name", kernel);
  return json_is_true(json_object_get(contract, "recipe"));
}

posenc_bound document_bound(const json_t *kernel) {
  const json_t *bound = json_object_get(kernel, "bound");
  return (posenc_bound){
      .ulp = field_number(bound, "ulp"),
      .abs = field_number(bound, "abs"),
      .growth = field_number(bound, "growth"),
      .max_position = json_integer_value(json_object_get(bound, "max_position")),
      .derived = json_is_true(json_object_get(bound, "derived")),
  };
}

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
