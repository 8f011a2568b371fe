/* SPDX-License-Identifier: MIT */
/* Decides whether benchmarks have become slower or faster, by one rule for times of any origin. */
#ifndef POSENC_RECORDS_SPEED_H
#define POSENC_RECORDS_SPEED_H

#include "records/read.h"
#include "records/statistics.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct compare_limits {
  double growth; /* the share by which an error may grow */
  double slower; /* the share by which a benchmark may take longer */
  double alpha;  /* a difference counts only if chance alone makes one, in any benchmark, in at most this share of
                    comparisons; the intervals enclose all true ratios in 1 - alpha of them */
  bool by_time;  /* compare times, even if both records have shares of the limit */
} compare_limits;

/* The verdict on one benchmark, and its figures. */
typedef struct speed_row {
  const char *name;
  const char *verdict; /* null until it is decided */
  char note[120];
  bool tested, by_limit;  /* whether both sides have times; whether the figures are shares of the limit */
  bool disturbed;         /* other processes interrupted so much that a difference is no evidence */
  double old, new;        /* ns, or shares of the limit */
  size_t counts[2];       /* numbers of timings used, before and after */
  size_t interrupted[2];  /* numbers of interrupted repetitions left out, before and after */
  size_t blocks;          /* blocks of the run; 0 for records */
  statistics_ratio ratio; /* of the times or of 1 / share of the limit, with speed_confidence */
  double p;               /* first uncorrected, then corrected for several tests */
  int64_t more;           /* about how many blocks would decide; RECORD_NONE if it is decided or none would */
} speed_row;

/* Returns a row of that name, without a verdict. */
speed_row speed_new(const char *name);

/* Returns the confidence for the interval of each row, if `tested` rows are tested. */
double speed_confidence(const compare_limits *limits, size_t tested);

/* Corrects p over all rows that are tested, and sets missing verdicts and notes. */
void speed_judge(speed_row *rows, size_t count, const compare_limits *limits);

/* Returns a row of a comparison as JSON, see record.schema.json. */
json_t *speed_json(const speed_row *row);

#endif
