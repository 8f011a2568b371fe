/* SPDX-License-Identifier: MIT */
/* All timings of a benchmark in a record of posenc bench, or of any program with Google Benchmark. */
#ifndef POSENC_RECORDS_TIMINGS_H
#define POSENC_RECORDS_TIMINGS_H

#include "records/read.h"

/* A timing record, and the numbers of its benchmarks by name. */
typedef struct timings_record {
  const record_timing *record;
  json_t *numbers;  /* {name: [number …]}, in the order of the record */
  json_t *threaded; /* {kernel: true} of those that several threads run; null if the record is not posenc's */
} timings_record;

/* All timings of one benchmark. */
typedef struct timings {
  double *times, *costs; /* ns; and 1 / share of the limit */
  size_t count, limited; /* numbers of times, and of costs */
  size_t interrupted;    /* repetitions that are not among them, as they waited for a core */
  bool failed;
} timings;

/* False when memory runs out; to be closed in any case. */
bool timings_open(timings_record *of, const json_t *json);
void timings_close(timings_record *of);

/* The timings of that name, none if the record has none; the caller discards them in any case. `alone`: leave out
   repetitions that other processes interrupted. False when memory runs out. */
bool timings_collect(const timings_record *from, const char *name, bool alone, timings *of);
void timings_discard(timings *of);

/* The first defect of a record's benchmarks, in `why`; false if there is one. */
bool timings_check(const json_t *json, char *why, size_t size);

#endif
