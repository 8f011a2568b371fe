/* SPDX-License-Identifier: MIT */
/* The published shapes, which are verified, timed and reported by default, and problems as text. */
#ifndef POSENC_COMMON_SHAPES_H
#define POSENC_COMMON_SHAPES_H

#include "posenc.h"

#include <jansson.h>

/* Bytes of a name, with the zero at its end. */
enum { SHAPE_NAME = 80 };

typedef struct shape {
  char name[SHAPE_NAME]; /* "transformer-base"; "512x128" if not published */
  posenc_problem problem;
} shape;

/* Returns the published `table` shapes, smallest first. Static storage. */
const shape *shapes_published(size_t *count);

/* Returns the published `add`, `rope` and `rope-cache` shapes, smallest first. Static storage. */
const shape *shapes_applied(size_t *count);

/* Returns the tables of RoPE models that were stretched to more positions, and one rope. Static storage. */
const shape *shapes_scaled(size_t *count);

/* Returns the sweep of lengths at dim 512, shortest first. Static storage. */
const shape *shapes_sweep(size_t *count);

/* Returns the shape with that name in one of these lists; null if there is none. */
const shape *shapes_find(const shape *(*list)(size_t *count), const char *name);

/* Makes a shape of any problem, named after its differences from the paper's defaults: "512x128",
   "512x128+4096-split-f64". A name that is too long ends with a digest of all of it. */
shape shape_of(const posenc_problem *problem);

/* Returns the options of the posenc command that describe the problem, without defaults: "--len 512 --dim 128 --base
   500000", in words that a shell takes as they are. A list of more than SHAPE_POSITIONS positions is "--positions
   @positions", a file of that name. A new string, to be freed; null if memory runs out. */
enum { SHAPE_POSITIONS = 64 };
char *problem_options(const posenc_problem *problem);

/* problem_options with `list`, unless it is null, as the value of --positions for a list of more than
   SHAPE_POSITIONS. */
char *problem_options_listed(const posenc_problem *problem, const char *list);

/* Returns the number of columns of each of the two tables of a rope cache. */
int64_t rope_cache_width(const posenc_problem *problem);

/* Returns the number of elements at one position: of a table, of both tables of a rope cache, or of a sequence of x. */
int64_t row_elements_of(const posenc_problem *problem);

/* Whether an operation is applied to an x: add and rope. */
bool op_is_applied(posenc_op op);

/* Returns the default layout of an operation. */
posenc_layout layout_default(posenc_op op);

/* Names as on the command line, by number, followed by a null pointer: "interleaved", "interleaved-cs", "split",
   "split-cs", "duplicated"; "f32", "f64", "f16", "bf16"; "table", "add", "rope", "rope-cache"; "auto", "regular",
   "streaming"; "refuse", "pad", "ceil". */
extern const char *const layout_names[], *const dtype_names[], *const op_names[], *const stores_names[],
                                                                                      *const odd_names[];
const char *layout_name(posenc_layout layout);
const char *dtype_name(posenc_dtype dtype);
const char *op_name(posenc_op op);
const char *stores_name(posenc_stores stores);
const char *odd_name(posenc_odd odd);
bool layout_parse(const char *name, posenc_layout *layout);
bool dtype_parse(const char *name, posenc_dtype *dtype);
bool op_parse(const char *name, posenc_op *op);

#endif
