/* SPDX-License-Identifier: MIT */
/* Tables whose rows are not successive positions, or whose dim is odd: lists of positions, fractional and negative
 * ones too. They are compared with the exact values as tables in files are (table-exam.h). */
#ifndef POSENC_VERIFY_ROWS_H
#define POSENC_VERIFY_ROWS_H

#include "verify/sampling.h"
#include "verify/subject.h"

/*
 * Checks every property but threads, search and stages of a subject whose shape is such a table, on the rows of a
 * sampling. For a list of positions, what is called a position in checks and witnesses is a row. False when memory runs
 * out.
 */
bool subject_check_rows(subject *s, const sampling *v);

#endif
