/* SPDX-License-Identifier: MIT */
/* Checks of tables whose rows are not successive positions, or whose dim is odd: lists of positions, also fractional
   and negative ones. They are compared with the exact values like tables in files (table-exam.h). */
#ifndef POSENC_VERIFY_ROWS_H
#define POSENC_VERIFY_ROWS_H

#include "verify/sampling.h"
#include "verify/subject.h"

/*
 * Checks every property except threads, search and stages of a subject with such a table, on the rows of a sampling.
 * For a list of positions, the positions in checks and witnesses are rows. Returns false if memory runs out.
 */
bool subject_check_rows(subject *s, const sampling *v);

#endif
