/* SPDX-License-Identifier: MIT */
/* Tables whose rows are not successive positions, or whose dim is odd: lists of positions, fractional and negative ones too, and the column that an odd
   dim has more. What of them is exact is what posenc check holds files to. */
#ifndef POSENC_VERIFY_ROWS_H
#define POSENC_VERIFY_ROWS_H

#include "verify/checks.h"

/* Is it such a table, or an operation with one? */
static inline bool rows_are_special(const posenc_problem *problem) {
  return problem->positions || problem->dim % 2;
}

/*
 * Every property of the subject, whose shape is such a table, but search and stages: of every row within the budget, which is in pairs, else of the first
 * and the last rows. Of a list of positions, what is called a position in checks and witnesses is a row. How many rows were looked at; -1 when memory
 * runs out.
 */
int64_t subject_check_rows(subject *s, int64_t budget);

/* Writes rows [row, row + rows) of a table, packed. */
typedef void rows_reader(void *from, int64_t row, int64_t rows, void *out);

typedef struct rows_found {
  accuracy found;
  check bounded, pair_norm, rotation;
} rows_found;

/* What verify_table (table.c) looks at, of any table that somebody makes; a limit may grow with the position, and have a domain. False when memory runs
   out. */
bool verify_rows(const posenc_problem *problem, const posenc_bound *limit, rows_reader *read, void *from,
                 rows_found *found);

#endif
