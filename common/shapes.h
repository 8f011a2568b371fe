/* SPDX-License-Identifier: MIT */
/* The shapes that people use: what is verified, timed and reported unless the user says otherwise. */
#ifndef POSENC_COMMON_SHAPES_H
#define POSENC_COMMON_SHAPES_H

#include "posenc.h"

#include <jansson.h>

typedef struct shape {
  char name[64]; /* "transformer-base", or "512x128" for one that is not published */
  posenc_problem problem;
} shape;

/* The published `table` shapes, smallest first. Static storage. */
const shape *shapes_published(size_t *count);

/* The published `add` and `rope` shapes, smallest first. Static storage. */
const shape *shapes_applied(size_t *count);

/* The tables of RoPE models that were stretched to more positions, and one rope. Static storage. */
const shape *shapes_scaled(size_t *count);

/* The sweep of lengths at dim 512, shortest first. Static storage. */
const shape *shapes_sweep(size_t *count);

/* A shape for any problem, named after what differs from the paper's defaults: "512x128", "512x128+4096-split-f64". */
shape shape_of(const posenc_problem *problem);

/* The options of the posenc command that describe the problem: "--len 512 --dim 128 --base 500000".
   Defaults are left out. Writes at most `size` bytes, always terminated. */
void problem_options(const posenc_problem *problem, char *text, size_t size);

/* {"name", "rows", "dim", "first", "base", "shift", "padding" (integer or null), "layout", "dtype", "op", "heads", "inverse"} */
json_t *shape_json(const shape *s);

/* Names as on the command line: "interleaved", "interleaved-cs", "split", "split-cs"; "f32", "f64", "f16",
   "bf16"; "table", "add", "rope"; "auto", "regular", "streaming". */
const char *layout_name(posenc_layout layout);
const char *dtype_name(posenc_dtype dtype);
const char *op_name(posenc_op op);
const char *stores_name(posenc_stores stores);
bool layout_parse(const char *name, posenc_layout *layout);
bool stores_parse(const char *name, posenc_stores *stores);
bool dtype_parse(const char *name, posenc_dtype *dtype);
bool op_parse(const char *name, posenc_op *op);

#endif
