/* SPDX-License-Identifier: MIT */
/* The published shapes, which are verified, timed and reported by default, and problems as text. */
#ifndef POSENC_COMMON_SHAPES_H
#define POSENC_COMMON_SHAPES_H

#include "posenc.h"

#include <stdio.h>

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

/* ---- scalings -------------------------------------------------------------------------------------------- */

/* RoPE frequency scalings as names, keys and values: "yarn,factor=16,original=4096". One table for reading, writing and
   listing them. */

/* The type of a key's value and of its member of posenc_scaling: double, int64_t, bool, or an array of dim/2
   doubles. */
typedef enum scaling_type { SCALING_REAL, SCALING_WHOLE, SCALING_FLAG, SCALING_LIST } scaling_type;

typedef struct scaling_key {
  const char *name;
  scaling_type type;
  size_t offset;
} scaling_key;

enum {
  SCALING_FACTOR,
  SCALING_ORIGINAL,
  SCALING_LENGTH,
  SCALING_LOW,
  SCALING_HIGH,
  SCALING_TRUNCATE,
  SCALING_ATTENTION,
  SCALING_FACTORS,
  SCALING_KEYS
};
enum { SCALINGS = POSENC_SCALING_LONGROPE + 1 };
extern const scaling_key scaling_keys[SCALING_KEYS];

typedef struct scaling_form {
  const char *name, *summary;
  unsigned keys, needed;   /* sets of 1 << index in scaling_keys; others have defaults */
  posenc_scaling defaults; /* including the kind */
} scaling_form;

/* The scalings, indexed by kind. */
extern const scaling_form scaling_forms[SCALINGS];

/* Prints a key's default: "=1", or a note such as "=by the formula". */
void scaling_default(const scaling_form *form, int key, FILE *stream);

/* Prints the value of --scaling, without keys that have their defaults. dim: the problem's. */
void scaling_write(const posenc_scaling *scaling, int64_t dim, FILE *stream);

/* Whether its kind has this key. */
bool scaling_has(const posenc_scaling *scaling, int key);

/* Whether two scalings of a problem's dim are of one kind, with the same values. */
bool scaling_is_same(const posenc_scaling *a, const posenc_scaling *b, int64_t dim);

/* ---- axes ------------------------------------------------------------------------------------------------ */

/*
 * Tables of several axes as text: "h=14,w=14,columns=wh,grouped=yes". An axis is LETTER=POSITIONS. Axes are in the
 * order of the grid's dimensions, of which the last changes from row to row. POSITIONS is
 *
 *   RUN[/DIVISOR]        a RUN is SIZE[:FIRST[:STEP]]: SIZE positions FIRST, FIRST + STEP …, divided by DIVISOR
 *                        (defaults 0, 1, 1)
 *   RUN+RUN…[/DIVISOR]   a list, one run after the other
 *   @FILE                such a list in a file
 *
 * If an axis has a list, rows are not places of a grid: each axis has a position for each row, and all lists have the
 * same length.
 */

/* The words for `order` and `frequencies`, by number, followed by a null pointer. */
extern const char *const grid_orders[], *const grid_frequencies[];

/* Returns the letters of `count` axes, in the order of the grid's dimensions: "hw". */
const char *grid_letters(int count);

/* Returns the letter of an axis, the a-th one of the columns. */
char grid_letter(const posenc_axes *axes, int a);

/* Computes first + step n; returns false if that is not exact in double. */
bool grid_step(double first, double step, int64_t n, double *position);

/* Returns how many of these positions, one or more, are a run from the first on, and its step. The last of them is left
   to the next run if that would be longer with it. */
int64_t grid_run(const double *positions, int64_t count, double *step);

/* Prints the value of --grid for the axes of a table with `dim` columns, without keys that have their defaults: axes of
   a grid whose positions are runs, or lists with a position for each row, of stride 1. */
void grid_write(const posenc_axes *axes, int64_t dim, FILE *out);

/* Returns the value of --grid as a new string; null if memory runs out. */
char *grid_text(const posenc_axes *axes, int64_t dim);

/* Whether the positions of an axis are *first, *first + *step, …; sets both. */
bool grid_steps(const posenc_axis *axis, double *first, double *step);

/* Whether axes have lists: if positions are not runs, or places are not a grid. */
bool grid_has_lists(const posenc_axes *axes);

#endif
