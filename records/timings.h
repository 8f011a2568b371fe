/* SPDX-License-Identifier: MIT */
/* Reads all timings of a benchmark from a record of posenc bench, or of any program with Google Benchmark. */
#ifndef POSENC_RECORDS_TIMINGS_H
#define POSENC_RECORDS_TIMINGS_H

#include "records/record.h"

/* A timing record, with its benchmarks by name. */
typedef struct timings_record {
  const record_timing *record;
  const record_benchmark **by_name; /* sorted; those of one name in the order of the record */
  const char **names;               /* each once, in the order of the record */
  size_t names_count;
  const char **threaded; /* kernels with several threads, if the record is posenc's */
  size_t threaded_count;
} timings_record;

/* All timings of one benchmark. */
typedef struct timings {
  double *times, *costs; /* ns; 1 / share of the limit */
  size_t count, limited; /* lengths of times and of costs */
  size_t interrupted;    /* repetitions left out because they waited for a core */
  double instructions;   /* of one pass; 0 if they were not counted */
  bool failed;
} timings;

/* The record must outlive it. */
void timings_open(timings_record *of, const record_timing *record);
void timings_close(timings_record *of);

/* Whether the record has a benchmark of that name. */
bool timings_has(const timings_record *of, const char *name);

/* Finds the timings of that name, none if the record has none. `alone` leaves out repetitions that other processes
   interrupted. The caller discards the timings. */
timings timings_collect(const timings_record *from, const char *name, bool alone);
void timings_discard(timings *of);

/* Checks a record's benchmarks. Returns false, with the first defect in `why`, if there is one. */
bool timings_check(const record_timing *record, char *why, size_t size);

/* Adds the checks of another record to *count checks, which have room for all: the same check of the same kernel is
   made as often as both, and holds if both do. */
void timed_checks_join(record_timed_check *all, size_t *count, const record_context *more);

/* Returns a record with benchmarks, choices and checks of both, and the facts of the first and those that only the
   second has, for record_free. */
const record_timing *timings_join(const record_timing *first, const record_timing *more);

/* ---- repetitions ----------------------------------------------------------------------------------------- */

/* The repetitions of a timing record, by mode, shape and kernel. */

/* One repetition of "<mode>/<shape>/<kernel>". */
typedef struct timed_repetition {
  const record_benchmark *entry;
  char mode[REPETITION_NAME], shape[REPETITION_NAME], kernel[REPETITION_NAME];
} timed_repetition;

typedef struct repetition_index {
  timed_repetition *all; /* in the order of the record */
  size_t count;
  const timed_repetition **by_name; /* sorted */
  double *values;                   /* the numbers collected last, at most `count` */
} repetition_index;

/* Sorts the repetitions of a record. `timing` may be null, which gives none. */
repetition_index *repetitions_open(const record_timing *timing);
void repetitions_close(repetition_index *s);

/* Collects that counter of all repetitions of one kernel, or of all kernels if `kernel` is null, in s->values. Returns
   their number. The counter "plan_ns" is the time of an iteration. */
size_t repetitions_collect(repetition_index *s, const char *mode, const char *shape, const char *kernel,
                           const char *counter);

/* Collects like repetitions_collect, into an array of *count numbers that the caller frees. */
double *repetitions_copy(repetition_index *s, const char *mode, const char *shape, const char *kernel,
                         const char *counter, size_t *count);

/* Returns median and ends of the collected numbers; not there if there are none. */
record_spread repetitions_spread(repetition_index *s, const char *mode, const char *shape, const char *kernel,
                                 const char *counter);

/* Returns the time of the second kernel as a multiple of that of the first. The interval is of 90 %, the highest
   confidence possible with three timings of each; low is NaN and high infinite if there are fewer. */
record_ratio repetitions_ratio(repetition_index *s, const char *mode, const char *shape, const char *first,
                               const char *second);

/* Returns such a ratio for two samples of positive numbers: b as a multiple of a. */
record_ratio repetitions_ratio_of(const double *a, size_t n, const double *b, size_t m);

#endif
