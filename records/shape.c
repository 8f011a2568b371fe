/* SPDX-License-Identifier: MIT */
#include "records/shape.h"

#include "common/contract.h"
#include "common/digest.h"
#include "common/field.h"
#include "common/shapes.h"

#include <stdlib.h>

static json_t *positions_json(const posenc_problem *p) {
  if (p->rows > SHAPE_POSITIONS)
    return allocated(json_pack(
        "{s:I, s:s}", "count", (json_int_t)p->rows, "digest",
        digest_hex(bytes_digest(BYTES_DIGEST_START, p->positions, (size_t)p->rows * sizeof *p->positions)).text));
  json_t *all = allocated(json_array());
  for (int64_t row = 0; row < p->rows; row++) field_append(all, json_real(p->positions[row]));
  return all;
}

record_shape shape_record(const shape *s) {
  const posenc_problem *p = &s->problem;
  return (record_shape){
      .there = true,
      .name = s->name,
      .rows = p->rows,
      .dim = p->dim,
      .first = p->first,
      .has_first = true,
      .base = p->base,
      .has_base = true,
      .shift = p->shift,
      .has_shift = true,
      .padding = p->padding == POSENC_NO_PADDING ? RECORD_NONE : p->padding,
      .has_padding = true,
      .layout = layout_name(p->layout),
      .dtype = dtype_name(p->dtype),
      .op = op_name(p->op),
      .heads = p->heads,
      .has_heads = true,
      .inverse = p->inverse,
      .has_inverse = true,
      .scale = p->scale != 1.0 ? p->scale : NAN,
      .scaling = p->scaling.kind != POSENC_SCALING_NONE || p->scaling.attention != 0.0
                     ? allocated(scaling_json(&p->scaling, p->dim))
                     : NULL,
      .odd = p->odd != POSENC_ODD_REFUSED ? odd_name(p->odd) : NULL,
      .positions = p->positions ? positions_json(p) : NULL,
      .grid = p->axes ? allocated(grid_text(p->axes, p->dim)) : NULL,
  };
}

void shape_forget(record_shape *made) {
  json_decref(made->scaling);
  json_decref(made->positions);
  free((char *)(uintptr_t)made->grid);
}

json_t *shape_json(const shape *s) {
  record_shape made = shape_record(s);
  json_t *json = record_write_shape(&made);
  shape_forget(&made);
  return json;
}

record_bound bound_record(const posenc_bound *bound) {
  return (record_bound){.there = true,
                        .ulp = bound->ulp,
                        .abs = bound->abs,
                        .growth = bound->growth,
                        .max_position = bound->max_position,
                        .derived = bound->derived};
}

record_kernel kernel_record(const posenc_kernel *kernel, unsigned isa) {
  posenc_options options = posenc_default_options();
  options.isa = isa;
  return (record_kernel){.there = true,
                         .name = kernel->name,
                         .summary = kernel->summary,
                         .has_summary = true,
                         .algorithm = kernel->algorithm,
                         .has_algorithm = true,
                         .provenance = kernel->provenance,
                         .has_provenance = true,
                         .isa = kernel_isa(kernel),
                         .basis = kernel->basis,
                         .has_basis = true,
                         .reproducible = kernel->reproducible,
                         .has_reproducible = true,
                         .threaded = kernel->threaded,
                         .has_threaded = true,
                         .keeps_rows = kernel->keeps_rows,
                         .has_keeps_rows = true,
                         .f32_only = kernel->f32_only,
                         .has_f32_only = true,
                         .bound = bound_record(&kernel->bound),
                         .refusal = posenc_kernel_refusal(kernel, NULL, &options),
                         .has_refusal = true};
}

record_encoding encoding_record(const posenc_encoding *encoding) {
  return (record_encoding){.there = true,
                           .name = encoding->name,
                           .summary = encoding->summary,
                           .formula = encoding->formula,
                           .call = encoding->call,
                           .provenance = encoding->provenance,
                           .basis = encoding->basis,
                           .reproducible = encoding->reproducible,
                           .has_reproducible = true,
                           .bound = encoding->by_kernels ? (record_bound){0} : bound_record(&encoding->bound),
                           .has_bound = true};
}
