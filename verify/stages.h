/* SPDX-License-Identifier: MIT */
/* Checks of the stages that kernels report for their rows, and attribution of errors to them. */
#ifndef POSENC_VERIFY_STAGES_H
#define POSENC_VERIFY_STAGES_H

#include "reference/split.h"
#include "verify/checks.h"

#include <jansson.h>

/* Pairs of some rows, with the kernel's stages. */
typedef struct stage_samples {
  size_t count;
  split_case *cases;
  posenc_stages *stages; /* from the kernel */
} stage_samples;

/* Allocates memory for `pairs` pairs. Returns false if memory runs out. */
bool stage_samples_create(stage_samples *t, int64_t pairs);
void stage_samples_free(stage_samples *t);

/* Takes rows [row, row + rows) of a plan of the subject's kernel, without the padding row. Returns false if the kernel
   does not report its stages. */
bool stage_samples_take(stage_samples *t, subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *a);

/* Checks STAGES: in a few windows, sine and cosine rounded once are the elements of the table. Returns false if memory
   runs out. */
bool subject_check_stages(subject *s, arena *a, uint64_t *random);

/* Computes the mean size of each part of the errors of all samples. Returns false if memory runs out. */
bool stage_samples_mean(const stage_samples *t, const oracle *reference, split_parts *mean);

/* Returns {"frequency", "phase", "trig", "store"}. */
json_t *parts_json(const split_parts *parts);

#endif
