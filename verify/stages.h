/* SPDX-License-Identifier: MIT */
/* What kernels tell of how they made their rows: whether it is true, and what it says of their errors. */
#ifndef POSENC_VERIFY_STAGES_H
#define POSENC_VERIFY_STAGES_H

#include "reference/split.h"
#include "verify/checks.h"

#include <jansson.h>

/* Pairs of some rows, as they are and as the kernel says that it made them. */
typedef struct told {
  size_t count;
  split_case *cases;
  posenc_stages *stages; /* the kernel's own words */
} told;

/* Room for so many pairs. False when memory runs out. */
bool told_create(told *t, int64_t pairs);
void told_free(told *t);

/* Rows [row, row + rows) of a plan of the subject's kernel, but for the padding row. False if the kernel does not
 * tell. */
bool told_rows(told *t, subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *a);

/* The property: of a few windows, sine and cosine rounded once are what is in the table. False when memory runs out. */
bool subject_check_stages(subject *s, arena *a, uint64_t *random);

/* The mean size of each part of the errors of all that was told. False when memory runs out. */
bool told_mean(const told *t, const oracle *truth, split_parts *mean);

/* {"frequency", "phase", "trig", "store"} */
json_t *parts_json(const split_parts *parts);

#endif
