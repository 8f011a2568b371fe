/* SPDX-License-Identifier: MIT */
/* Reads all timings of a benchmark from a record of posenc bench, or of any program with Google Benchmark. */
#ifndef POSENC_RECORDS_TIMINGS_H
#define POSENC_RECORDS_TIMINGS_H

#include "records/read.h"

#include <jansson.h>

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

/* ---- samples --------------------------------------------------------------------------------------------- */

/* The repetitions of a timing record, by mode, shape and kernel. */

/* One repetition of "<mode>/<shape>/<kernel>". */
typedef struct sample {
  const record_benchmark *entry;
  char mode[SAMPLE_NAME], shape[SAMPLE_NAME], kernel[SAMPLE_NAME];
} sample;

typedef struct samples {
  sample *all; /* in the order of the record */
  size_t count;
  const sample **by_name; /* sorted */
  double *values;         /* the numbers collected last, at most `count` */
} samples;

/* Sorts the repetitions of a record. `timing` may be null, which gives none. */
samples *samples_open(const record_timing *timing);
void samples_close(samples *s);

/* Collects that counter of all repetitions of one kernel, or of all kernels if `kernel` is null, in s->values. Returns
   their number. The counter "plan_ns" is the time of an iteration. */
size_t samples_collect(samples *s, const char *mode, const char *shape, const char *kernel, const char *counter);

/* Collects like samples_collect, into an array of *count numbers that the caller frees. */
double *samples_copy(samples *s, const char *mode, const char *shape, const char *kernel, const char *counter,
                     size_t *count);

/* Returns {"median", "min", "max"} of the collected numbers, or JSON null if there are none. */
json_t *samples_spread(samples *s, const char *mode, const char *shape, const char *kernel, const char *counter);

/* Returns the time of the second kernel as a multiple of that of the first: {"estimate", "low", "high"}. The interval
   is of 90 %, the highest confidence possible with three timings of each; low and high are null if there are fewer. */
json_t *samples_ratio(samples *s, const char *mode, const char *shape, const char *first, const char *second);

/* Returns such a ratio for two samples of positive numbers: b as a multiple of a. */
json_t *samples_ratio_of(const double *a, size_t n, const double *b, size_t m);

#endif
