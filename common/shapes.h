/* SPDX-License-Identifier: MIT */
/* The shapes that are verified, timed and reported by default, and problems as text. */
#ifndef POSENC_COMMON_SHAPES_H
#define POSENC_COMMON_SHAPES_H

#include "posenc.h"

#include <jansson.h>

/* Bytes of a name, with the zero at its end. */
enum { SHAPE_NAME = 80 };

typedef struct shape {
  char name[SHAPE_NAME]; /* "transformer-base", or "512x128" for one that is not published */
  posenc_problem problem;
} shape;

/* The published `table` shapes, smallest first. Static storage. */
const shape *shapes_published(size_t *count);

/* The published `add`, `rope` and `rope-cache` shapes, smallest first. Static storage. */
const shape *shapes_applied(size_t *count);

/* The tables of RoPE models that were stretched to more positions, and one rope. Static storage. */
const shape *shapes_scaled(size_t *count);

/* The sweep of lengths at dim 512, shortest first. Static storage. */
const shape *shapes_sweep(size_t *count);

/* The shape of that name in one of these lists; null if there is none. */
const shape *shapes_find(const shape *(*list)(size_t *count), const char *name);

/* A shape for any problem, named after what differs from the paper's defaults: "512x128", "512x128+4096-split-f64". A
   name that is too long ends with a digest of all of it. */
shape shape_of(const posenc_problem *problem);

/* The options of the posenc command that describe the problem: "--len 512 --dim 128 --base 500000", in words that a
   shell takes as they are. Defaults are left out. A list of more than SHAPE_POSITIONS positions is "--positions
   @positions", a file of that name. A new string, to be freed; null when memory runs out. */
enum { SHAPE_POSITIONS = 64 };
char *problem_options(const posenc_problem *problem);

/* The same with `list`, unless it is null, as the value of --positions for so many. */
char *problem_options_listed(const posenc_problem *problem, const char *list);

/* {"name", "rows", "dim", "first", "base", "shift", "padding" (integer or null), "layout", "dtype", "op", "heads",
   "inverse"}, and where they are not the defaults "scale", "scaling" (see common/scaling.h), "odd", "grid" (see
   common/grid.h) and "positions": an array, or of more than SHAPE_POSITIONS {"count", "digest": hex}. */
json_t *shape_json(const shape *s);

/* Columns of each of the two tables of a rope cache. */
int64_t rope_cache_width(const posenc_problem *problem);

/* Elements of one position: of a table, of both tables of a rope cache, or of a sequence of x. */
int64_t row_elements_of(const posenc_problem *problem);

/* Whether it is applied to an x, as add and rope are. */
bool op_is_applied(posenc_op op);

/* The default layout of an operation. */
posenc_layout layout_default(posenc_op op);

/* Names as on the command line, by number, and then a null pointer: "interleaved", "interleaved-cs", "split",
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
