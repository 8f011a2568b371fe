/* SPDX-License-Identifier: MIT */
/* Verdicts on benchmarks that were timed before and after a change, by one rule for times of any origin. */
#ifndef POSENC_RECORDS_SPEED_H
#define POSENC_RECORDS_SPEED_H

#include "records/read.h"
#include "records/statistics.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct compare_limits {
  double growth; /* an error may grow by this share */
  double slower; /* a benchmark may take longer by this share */
  double alpha;  /* a difference counts only if chance alone makes one, in any benchmark, in at most this share of
                    comparisons; the intervals enclose all true ratios in 1 - alpha of them */
  bool by_time;  /* compare times, even where both records tell the share of a limit that was measured beside them */
} compare_limits;

/* The verdict on one benchmark, and the figures that it rests on. */
typedef struct speed_row {
  const char *name;
  const char *verdict; /* null until it is judged */
  char note[120];
  bool tested, by_limit;  /* whether it has times on both sides; shares of the limit */
  double old, new;        /* ns, or shares of the limit */
  size_t counts[2];       /* of timings, before and after, */
  size_t interrupted[2];  /* and of those that were left out of them */
  size_t blocks;          /* of a run; 0 for records */
  statistics_ratio ratio; /* of the times, or of what the limit does in them: with speed_confidence */
  double p;               /* before the correction for several tests; then after it */
  int64_t more;           /* blocks that would decide, about; RECORD_NONE where it is decided, or none would */
} speed_row;

/* A row of that name, without a verdict so far. */
speed_row speed_new(const char *name);

/* The confidence of the interval of each of so many rows that are tested. */
double speed_confidence(const compare_limits *limits, size_t tested);

/* Corrects p over all rows that are tested, and fills in verdicts and notes where there is none. False when memory runs
   out. */
bool speed_judge(speed_row *rows, size_t count, const compare_limits *limits);

/* A row of a comparison, see record.schema.json. */
json_t *speed_json(const speed_row *row);

/* The smallest difference that the interval can tell from none; 1 % is 0.01. NaN if it is open. */
double speed_smallest(const speed_row *row);

#endif
