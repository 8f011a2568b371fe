/* SPDX-License-Identifier: MIT */
/* The repetitions of a timing record, by mode, shape and kernel. */
#ifndef POSENC_RECORDS_SAMPLES_H
#define POSENC_RECORDS_SAMPLES_H

#include "records/read.h"

#include <jansson.h>

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
