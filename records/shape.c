/* SPDX-License-Identifier: MIT */
#include "records/shape.h"

#include "common/digest.h"
#include "common/field.h"
#include "common/grid.h"
#include "common/scaling.h"

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
