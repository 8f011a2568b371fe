/* SPDX-License-Identifier: MIT */
/*
 * Rows of any table, from a kernel that makes consecutive rows of plain ones: even dims, whole positions, values of a
 * circle. What is beyond that is the same for all kernels, and is done here.
 *
 * Positions of a list are whole numbers of a unit, 2^-8k, which the scale of a plain problem takes in: the smallest k
 * that does for a position, so that the number stays below 2^60. A list with positions of several units needs as many
 * plain problems. An odd dim is a plain table of one column less or more; an attention factor multiplies one of f64,
 * unless the kernel attends.
 */
#ifndef POSENC_LIB_API_ROWS_H
#define POSENC_LIB_API_ROWS_H

#include "posenc.h"

/* The inner loops of one instruction set. All give the same bits. */
typedef struct rows_loops {
  /* Products of `count` elements with the factor, each rounded once to the dtype. */
  void (*scale)(posenc_dtype dtype, int64_t count, double factor, const double *x, void *out);
  /* A row of one table of a rope cache, from its `bytes` of different values. */
  void (*spread)(posenc_layout layout, posenc_dtype dtype, size_t bytes, const char *from, char *out);
  /* Copies past the caches, but for parts of cache lines before and behind the whole ones. */
  void (*stream)(size_t bytes, const char *from, char *out);
} rows_loops;

/* Defined for the tiers that are built. */
#define TIER(bit, name, title, cpu) extern const rows_loops rows_loops_##name;
#include "lib/simd/tiers.def"
#undef TIER

/* A plain problem, and what the kernel knows of it. */
typedef struct rows_part {
  posenc_problem problem;
  void *constants;
} rows_part;

typedef struct row_source {
  posenc_problem table; /* that is wanted; the caller's, who keeps its lists */
  const posenc_kernel *kernel;
  bool is_scaled; /* by an attention factor that the kernel leaves to the rows */
  double factor;  /* that one, rounded */
  const rows_loops *loops;
  int parts;
  rows_part *part;
  /* The number of each row's position in its unit. Null without a list: then there is one part, whose row numbers are
     those of the table. */
  int64_t *number;
  uint8_t *part_of;
  /* Of a table of axes, their sources, from which its rows are made; it has no parts then. Else null. */
  struct axes_source *axes;
} row_source;

/* A unit, 2^(-8 unit), and the positions of a table that are whole numbers of it, but not of a larger one: the size
   of the number nearest to 0 that is not 0, or 0 if there is none; and the lowest and the highest number. */
typedef struct rows_unit {
  int unit;
  int64_t least, lowest, highest;
} rows_unit;

/* The units that a table needs: without a list only unit 0, and its numbers are 0. */
enum { ROWS_UNITS = 136 };
typedef struct rows_units {
  int count;
  rows_unit of[ROWS_UNITS];
} rows_units;

/* The tables that a table's rows are made from, with their units: itself, or one of each axis. */
typedef struct rows_table {
  posenc_problem table;
  rows_units units;
} rows_table;
typedef struct rows_tables {
  int count;
  rows_table of[POSENC_AXES];
} rows_tables;
void rows_find_tables(const posenc_problem *table, rows_tables *tables);

/* The plain problem of a table, for that kernel: with the attention factor if it attends, and of f64 without it if it
   does not. Of a list, the positions in a unit; kernels are asked for those by number, and so the plain problem only
   has two rows, 0 and 1, or, in a smaller unit than 1, the one nearest to 0. */
posenc_problem rows_plain(const posenc_problem *table, const rows_unit *unit, const posenc_kernel *kernel);

/* tables: those of the table. */
posenc_status rows_prepare(row_source *made, const posenc_problem *table, const rows_tables *tables,
                           const posenc_kernel *kernel, const posenc_options *options);
/* The same of a table without axes. */
posenc_status rows_prepare_plain(row_source *made, const posenc_problem *table, const rows_units *units,
                                 const posenc_kernel *kernel, const posenc_options *options);
void rows_release(row_source *made);

/* Whether the kernel's rows are the table's, one by one, so that the kernel can be asked for other things too. */
bool rows_are_plain(const row_source *from);

/* How many of `rows` rows are made at a time, so that they take no more than so many bytes; at least one. */
static inline int64_t rows_fitting(size_t row_bytes, size_t most_bytes, int64_t rows) {
  const int64_t fitting = row_bytes < most_bytes ? (int64_t)(most_bytes / row_bytes) : 1;
  return fitting < rows ? fitting : rows;
}

/* Makes the padding row zero, if it is one of rows [row, row + rows) in `out`, which are so many bytes long. A kernel
 * writes that row as any other. */
void rows_zero_padding(const posenc_problem *table, int64_t row, int64_t rows, void *out, size_t row_bytes);

/* Rows [row, row + rows) of the table, packed, the padding row zeroed. */
posenc_status rows_make(const row_source *from, int64_t row, int64_t rows, void *out);

/* ---- axes (axes.c) ------------------------------------------------------------------------------- */

/*
 * Tables of several axes are made from plain tables of each: a pair of columns is one of the table of its axis. Rows
 * that are at the same coordinate of an axis, one after the other, are made once.
 */

/* The reason why the axes of a problem that is valid without them are refused, or null. */
const char *axes_refusal(const posenc_problem *problem);

/* The table of an axis: a row for each coordinate, sines and then cosines. */
posenc_problem axes_table(const posenc_problem *table, int axis);

/* A copy with lists of its own, in one piece that the caller frees; null when memory runs out. */
posenc_axes *axes_copy(const posenc_axes *axes);

/* Prepares made->axes, for the table of `made`; the tables are those of the axes. */
posenc_status axes_prepare(row_source *made, const rows_tables *tables, const posenc_options *options);
void axes_release(struct axes_source *axes);

/* Rows [row, row + rows), packed; the padding row is like any other. */
posenc_status axes_make(const row_source *from, int64_t row, int64_t rows, void *out);

#endif
