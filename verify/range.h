/* SPDX-License-Identifier: MIT */
/* Results of an exam of a range of segments, for verify/join.h. */
#ifndef POSENC_VERIFY_RANGE_H
#define POSENC_VERIFY_RANGE_H

#include "verify/record.h"
#include "verify/sampling.h"

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

/* Returns the "range" of a record; null if memory runs out. */
json_t *range_json(range r);
json_t *segments_json(const segment *all, int64_t count);

/* Returns the members that check_merge needs in addition to record_check's. */
json_t *range_check_json(const check *c);

/* The witnesses of a result, whose references range_figures takes over, as those of the checks. */
typedef struct range_witnesses {
  json_t *max_ulp, *max_abs, *worst;
} range_witnesses;
json_t *range_figures(const accuracy *a, int64_t elements, uint64_t digest, range_witnesses shown, json_t *checks);

#endif
