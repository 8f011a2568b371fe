/* SPDX-License-Identifier: MIT */
/* The exam of one kernel on one shape. */
#ifndef POSENC_VERIFY_EXAM_H
#define POSENC_VERIFY_EXAM_H

#include "verify/applied.h"
#include "verify/checks.h"
#include "verify/sampling.h"
#include "verify/verify.h"

#include <jansson.h>

/* The exam of a kernel on a shape. */
typedef struct exam {
  const run_request *request;
  const posenc_kernel *kernel;
  const shape *of;
  const run_cases *cases; /* the only elements that are compared; null: all */
  bool brief;                /* without the checks beside the shape, which another exam makes: there is one for each
                                kernel, operation and dtype */
  bool apply_known;          /* another exam checks the library's code that applies the kernel's rows */
  range of_rows; /* the compared segments; with the first of them, also all checks that are not of windows */
} exam;

/* Returns the record of the exam. */
json_t *examine(const exam *e);

/* Returns the examined shape, or for a rope cache the shape of the table that it is made of. */
shape exam_shape(const exam *e);

/* Returns the reason why the kernel refuses the shape, or null, in static storage. Creates a plan, as examine does. */
const char *exam_refusal(const exam *e);

/* Returns about how many elements are compared in the exam's range. */
double exam_elements(const exam *e);

/* Returns range `number` of `count` ranges of about equal size of the whole exam; empty if it has fewer segments. */
range exam_range(const exam *e, int64_t number, int64_t count);

/* ---- results, and their joining (record.c) --------------------------------------------------------------------- */

/* Results that depend on the order of rows, and are therefore kept for each segment: the rounded sums and the
   digest. */
typedef struct segment {
  double sum_ulp, sum_abs;
  uint64_t digest;
} segment;

/* Moves sums and digest from the results into a segment. */
void segment_take(segment *taken, accuracy *found, uint64_t *digest);

/* Joins successive segments. Adds the sums to the results and returns the digest: that of a single segment, or else a
   digest of all digests. */
uint64_t segments_join(const segment *all, int64_t count, accuracy *found);

/* Returns the "segments" of a record; null if memory runs out. */
json_t *segments_json(const segment *all, int64_t count);

/* Returns the record of a kernel that refuses the shape; or with a null refusal, the beginning of a record. All
   these functions return null if memory runs out. */
json_t *result_begin(const exam *e, const char *refusal);

/* Returns the record of a finished exam. mode: "exhaustive", "sampled" or "cases". `found` is not read if the search
   was skipped. */
json_t *result_of_table(const exam *e, const subject *s, const char *mode, const searched *found);
json_t *result_of_applied(const exam *e, applied *a, const char *mode);

#endif
