/* SPDX-License-Identifier: MIT */
/* Reads all timings of a benchmark from a record of posenc bench, or of any program with Google Benchmark. */
#ifndef POSENC_RECORDS_TIMINGS_H
#define POSENC_RECORDS_TIMINGS_H

#include "records/read.h"

/* A timing record, with the numbers of its benchmarks by name. */
typedef struct timings_record {
  const record_timing *record;
  json_t *numbers;  /* {name: [number …]}, in the order of the record */
  json_t *threaded; /* {kernel: true} for kernels with several threads; null if the record is not posenc's */
} timings_record;

/* All timings of one benchmark. */
typedef struct timings {
  double *times, *costs; /* ns; 1 / share of the limit */
  size_t count, limited; /* lengths of times and of costs */
  size_t interrupted;    /* repetitions left out because they waited for a core */
  double instructions;   /* of one pass; 0 if they were not counted */
  bool failed;
} timings;

void timings_open(timings_record *of, const json_t *json);
void timings_close(timings_record *of);

/* Finds the timings of that name, none if the record has none. `alone` leaves out repetitions that other processes
   interrupted. The caller discards the timings. */
timings timings_collect(const timings_record *from, const char *name, bool alone);
void timings_discard(timings *of);

/* Checks a record's benchmarks. Returns false, with the first defect in `why`, if there is one. */
bool timings_check(const json_t *json, char *why, size_t size);

/* Adds the checks of another record to *count checks, which have room for all: the same check of the same kernel is
   made as often as both, and holds if both do. */
void timed_checks_join(record_timed_check *all, size_t *count, const record_context *more);

/* Returns a record with benchmarks, choices and checks of both, and the facts of the first and those that only the
   second has, for record_free. */
const record_timing *timings_join(const record_timing *first, const record_timing *more);

/* Returns what record_write_timing makes of a record, read again: a record of its own, for record_free. */
const record_timing *timings_keep(const record_timing *made);

#endif
