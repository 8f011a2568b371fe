/* SPDX-License-Identifier: MIT */
/* Compares a table of several axes with the exact values: the pairs of each axis are examined as a table of their
 * own. */
#ifndef POSENC_VERIFY_AXES_EXAM_H
#define POSENC_VERIFY_AXES_EXAM_H

#include "verify/table-exam.h"

/* Compares a table, with axes or without, with the exact values. Returns false if memory runs out. */
bool any_table_examine(table_exam *e);

#endif
