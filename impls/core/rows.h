/* SPDX-License-Identifier: MIT */
/*
 * Rows of any table, from a kernel that makes consecutive rows of plain ones: even dims, whole positions, values of a circle. What is beyond that is
 * the same for all kernels, and is done here.
 *
 * Positions of a list are whole numbers of a unit, 2^-8k, which the scale of a plain problem takes in: the smallest k that does for a position, so
 * that the number stays below 2^60. A list with positions of several units needs as many plain problems. An odd dim is a plain table of one column less
 * or more; an attention factor multiplies one of f64.
 */
#ifndef POSENC_IMPLS_CORE_ROWS_H
#define POSENC_IMPLS_CORE_ROWS_H

#include "posenc.h"

/* A plain problem, and what the kernel knows of it. */
typedef struct rows_part {
  posenc_problem problem;
  void *constants;
} rows_part;

typedef struct rows_maker {
  posenc_problem table; /* that is wanted; the caller's, who keeps its lists */
  const posenc_kernel *kernel;
  double attention;
  int parts;
  rows_part *part;
  int64_t *
      number; /* of each row's position in its unit; null without a list, when `part` has but one and rows are numbered as in it */
  uint8_t *part_of;
} rows_maker;

/* The plain problem of a table without a list, or of a list's positions in the unit 2^(-8 unit). */
posenc_problem rows_plain(const posenc_problem *table, int unit);

/* Units: the smallest that a position is a whole number of, 0 for 1. */
enum { ROWS_UNITS = 136 };
int rows_unit_of(double position);

/* Sets used[unit] for those that the table's positions need, [0] without a list. */
void rows_units(const posenc_problem *table, bool used[ROWS_UNITS]);

posenc_status rows_prepare(rows_maker *made, const posenc_problem *table, const posenc_kernel *kernel,
                           const posenc_options *options);
void rows_release(rows_maker *made);

/* Whether the kernel's rows are the table's, one by one, so that the kernel can be asked for other things too. */
bool rows_are_plain(const rows_maker *from);

/* Rows [row, row + rows) of the table, packed, the padding row zeroed. */
posenc_status rows_make(const rows_maker *from, int64_t row, int64_t rows, void *out);

#endif
