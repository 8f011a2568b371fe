/* SPDX-License-Identifier: MIT */
/* What the exam of a range of segments found, for verify/join.h. */
#ifndef POSENC_VERIFY_RANGE_H
#define POSENC_VERIFY_RANGE_H

#include "verify/record.h"
#include "verify/sampling.h"

/* What depends on the order in which rows are taken, and so is kept of each segment alone: the rounded sums, and the
 * digest. */
typedef struct segment {
  double sum_ulp, sum_abs;
  uint64_t digest;
} segment;

/* Moves sums and digest from what is found so far into a segment. */
void segment_take(segment *taken, accuracy *found, uint64_t *digest);

/* Puts those of successive segments together: sums, into what is found, and the digest, which is that of a segment
 * alone, or else one of all digests. */
uint64_t segments_join(const segment *all, int64_t count, accuracy *found);

/* The "range" of a record; null when memory runs out. */
json_t *range_json(range r);
json_t *segments_json(const segment *all, int64_t count);

/* What check_merge needs beside what record_check tells. */
json_t *range_check_json(const check *c);

/* The figures of a result. The references to the witnesses and to the checks are taken. */
typedef struct range_witnesses {
  json_t *max_ulp, *max_abs, *worst;
} range_witnesses;
json_t *range_figures(const accuracy *a, int64_t elements, uint64_t digest, range_witnesses shown, json_t *checks);

#endif
