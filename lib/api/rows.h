/* SPDX-License-Identifier: MIT */
/*
 * Rows of any table, made from rows of plain tables. A kernel makes consecutive rows of plain tables only: even dims,
 * whole positions, no attention factor unless it attends. The rest is the same for all kernels and is done here.
 *
 * A position of a list is a whole number of a unit 2^-8k; k is the smallest for which the number is whole, so that the
 * number stays below 2^60. The unit becomes part of the plain problem's scale. A list whose positions have several
 * units needs one plain problem per unit. An odd dim is a plain table with one column less or more. Rows with an
 * attention factor are products of the factor and a plain table of f64, unless the kernel attends.
 */
#ifndef POSENC_LIB_API_ROWS_H
#define POSENC_LIB_API_ROWS_H

#include "posenc.h"

/* The inner loops for one instruction set. All instruction sets give the same bits. */
typedef struct rows_loops {
  /* Writes the products of `count` elements of f32 or f64 with the factor, each rounded once to the dtype. */
  void (*scale)(posenc_dtype from, posenc_dtype dtype, int64_t count, double factor, const void *x, void *out);
  /* Writes a row of one table of a rope cache; `bytes` is the size of its different values. */
  void (*spread)(posenc_layout layout, posenc_dtype dtype, size_t bytes, const char *from, char *out);
  /* Copies by streaming stores; the parts of cache lines at both ends are stored regularly. */
  void (*stream)(size_t bytes, const char *from, char *out);
} rows_loops;

/* rows_loops_NAME exists for each tier that is built. */
#define TIER(bit, name, title, cpu) extern const rows_loops rows_loops_##name;
#include "lib/simd/tiers.def"
#undef TIER

/* A plain problem, with the kernel's constants for it. */
typedef struct rows_part {
  posenc_problem problem;
  void *constants;
} rows_part;

typedef struct row_source {
  posenc_problem table; /* the table to make; its lists belong to the caller and must outlive this */
  const posenc_kernel *kernel;
  bool is_converted; /* the kernel's rows are of another dtype, or are multiplied by the attention factor, or both */
  double factor; /* that they are multiplied by: the attention factor, rounded to double, unless the kernel attends */
  const rows_loops *loops;
  int parts;
  rows_part *part;
  /* The number of each row's position in its unit; null without a list. Without a list there is one part, and its row
     numbers are those of the table. */
  int64_t *number;
  uint8_t *part_of;
  /* The sources of a table of axes, which then has no parts; null for other tables. */
  struct axes_source *axes;
} row_source;

/* The unit 2^(-8 unit), and the positions of a list that are whole numbers of it but not of a larger unit: `least` is
   the smallest |number| above 0 (0 if there is none), `lowest` and `highest` are the extreme numbers. */
typedef struct rows_unit {
  int unit;
  int64_t least, lowest, highest;
} rows_unit;

/* The units that a table needs. A table without a list has unit 0 only, with all numbers 0. */
enum { ROWS_UNITS = 136 };
typedef struct rows_units {
  int count;
  rows_unit of[ROWS_UNITS];
} rows_units;

/* The tables that a table's rows are made from, with their units: the table itself, or one table per axis. */
typedef struct rows_table {
  posenc_problem table;
  rows_units units;
} rows_table;
typedef struct rows_tables {
  int count;
  rows_table of[POSENC_AXES];
} rows_tables;
void rows_find_tables(const posenc_problem *table, rows_tables *tables);

/* Returns the plain problem of a table for a kernel, of kernel_dtype. It includes the attention factor if the kernel
   attends. For a list, it describes the positions of one unit: kernels are asked for these rows by number, so the plain
   problem has rows 0 and 1 only or, for a unit below 1, the row of `least`. */
posenc_problem rows_plain(const posenc_problem *table, const rows_unit *unit, const posenc_kernel *kernel);

/* Prepares a source of the table's rows. tables: the result of rows_find_tables(table). */
posenc_status rows_prepare(row_source *made, const posenc_problem *table, const rows_tables *tables,
                           const posenc_kernel *kernel, const posenc_options *options);
/* Prepares a source of the rows of a table without axes. */
posenc_status rows_prepare_plain(row_source *made, const posenc_problem *table, const rows_units *units,
                                 const posenc_kernel *kernel, const posenc_options *options);
void rows_release(row_source *made);

/* Whether row r of the table is row r of the kernel. Only then can the kernel be asked for stages and for add or
   rope. */
bool rows_are_plain(const row_source *from);

/* Returns how many of `rows` rows fit in `most_bytes` bytes; at least one if `rows` is positive. */
static inline int64_t rows_fitting(size_t row_bytes, size_t most_bytes, int64_t rows) {
  const int64_t fitting = row_bytes < most_bytes ? (int64_t)(most_bytes / row_bytes) : 1;
  return fitting < rows ? fitting : rows;
}

/* Zeroes the padding row in `out` if it is one of rows [row, row + rows); rows are `row_bytes` apart. Kernels write the
   padding row like any other. */
void rows_zero_padding(const posenc_problem *table, int64_t row, int64_t rows, void *out, size_t row_bytes);

/* Writes rows [row, row + rows) of the table, packed, with the padding row zeroed. */
posenc_status rows_make(const row_source *from, int64_t row, int64_t rows, void *out);

/* ---- axes (axes.c) ------------------------------------------------------------------------------- */

/*
 * A table of several axes is made from one plain table per axis: each pair of columns is a pair of columns of its
 * axis's table. Consecutive rows that have the same coordinate on an axis are made once.
 */

/* Returns the reason why the axes of a problem that is otherwise valid are refused, or null. */
const char *axes_refusal(const posenc_problem *problem);

/* Returns the table of an axis: one row per coordinate, the sines before the cosines. */
posenc_problem axes_table(const posenc_problem *table, int axis);

/* Copies axes and their lists into one allocation, which the caller frees; null if memory runs out. */
posenc_axes *axes_copy(const posenc_axes *axes);

/* Prepares made->axes for the table made->table. tables: one per axis. */
posenc_status axes_prepare(row_source *made, const rows_tables *tables, const posenc_options *options);
void axes_release(struct axes_source *axes);

/* Writes rows [row, row + rows), packed. The padding row is not zeroed. */
posenc_status axes_make(const row_source *from, int64_t row, int64_t rows, void *out);

#endif
