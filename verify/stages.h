/* SPDX-License-Identifier: MIT */
/* The intermediate results (stages) that kernels report for their rows: whether they are correct, and which part of the
   error each stage explains. */
#ifndef POSENC_VERIFY_STAGES_H
#define POSENC_VERIFY_STAGES_H

#include "reference/split.h"
#include "verify/checks.h"

#include <jansson.h>

/* Pairs of some rows, and the kernel's stages of them. */
typedef struct stage_samples {
  size_t count;
  split_case *cases;
  posenc_stages *stages; /* from the kernel */
} stage_samples;

/* Allocates for so many pairs. False when memory runs out. */
bool stage_samples_create(stage_samples *t, int64_t pairs);
void stage_samples_free(stage_samples *t);

/* Takes rows [row, row + rows) of a plan of the subject's kernel, without the padding row. False if the kernel does
 * not report its stages. */
bool stage_samples_take(stage_samples *t, subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *a);

/* The property: of a few windows, sine and cosine rounded once are what is in the table. False when memory runs out. */
bool subject_check_stages(subject *s, arena *a, uint64_t *random);

/* The mean size of each part of the errors of all samples. False when memory runs out. */
bool stage_samples_mean(const stage_samples *t, const oracle *reference, split_parts *mean);

/* {"frequency", "phase", "trig", "store"} */
json_t *parts_json(const split_parts *parts);

#endif
