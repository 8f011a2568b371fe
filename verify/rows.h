/* SPDX-License-Identifier: MIT */
/* Tables whose rows are not successive positions, or whose dim is odd: lists of positions, fractional and negative
 * ones too. They are compared with the exact values as tables in files are (table-exam.h). */
#ifndef POSENC_VERIFY_ROWS_H
#define POSENC_VERIFY_ROWS_H

#include "verify/subject.h"

/* Is it such a table, or an operation with one? */
static inline bool rows_are_special(const posenc_problem *problem) {
  return problem->positions || problem->dim % 2;
}

/*
 * Every property of the subject, whose shape is such a table, but search and stages: of every row within the budget,
 * which is in pairs, else of the first and the last rows. Of a list of positions, what is called a position in checks
 * and witnesses is a row. How many rows were looked at; -1 when memory runs out.
 */
int64_t subject_check_rows(subject *s, int64_t budget);

#endif
