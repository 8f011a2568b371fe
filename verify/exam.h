/* SPDX-License-Identifier: MIT */
/* The exam of one kernel on one shape. */
#ifndef POSENC_VERIFY_EXAM_H
#define POSENC_VERIFY_EXAM_H

#include "records/read.h"
#include "verify/applied.h"
#include "verify/checks.h"
#include "verify/sampling.h"
#include "verify/verify.h"

/* The exam of a kernel on a shape. */
typedef struct exam {
  const run_request *request;
  const posenc_kernel *kernel;
  const shape *of;
  const run_cases *cases; /* the only elements that are compared; null: all */
  bool brief;             /* without the checks beside the shape, which another exam makes: there is one for each
                                kernel, operation and dtype */
  bool apply_known;       /* another exam checks the library's code that applies the kernel's rows */
  range of_rows;          /* the compared segments; with the first of them, also all checks that are not of windows */
} exam;

/* The result of an exam, and its memory. */
typedef struct exam_result {
  record_result of;
  record_memory memory;
} exam_result;

/* Makes the result of the exam, for result_forget. */
void examine(const exam *e, exam_result *made);

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

/* Sets the "segments" of a result. */
void result_segments(exam_result *made, const segment *all, int64_t count);

/* Begins the result of a kernel that refuses the shape; or with a null refusal, of any other. */
void result_begin(exam_result *made, const exam *e, const char *refusal);
void result_forget(exam_result *made);

/* Make the result of a finished exam. mode: "exhaustive", "sampled" or "cases". `found` is not read if the search was
   skipped. */
void result_of_table(exam_result *made, const exam *e, const subject *s, const char *mode, const searched *found);
void result_of_applied(exam_result *made, const exam *e, applied *a, const char *mode);

#endif
