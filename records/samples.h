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
  double *values;         /* what was collected last, at most `count` numbers */
} samples;

/* Null when memory runs out. `timing` may be null: there are none then. */
samples *samples_open(const record_timing *timing);
void samples_close(samples *s);

/* Collects that counter of all repetitions of one kernel, or (null) of any, in s->values, and returns how many there
   are. "plan_ns" is the time of an iteration. */
size_t samples_collect(samples *s, const char *mode, const char *shape, const char *kernel, const char *counter);

/* The same as an array to be freed, of *count numbers; null when memory runs out. */
double *samples_copy(samples *s, const char *mode, const char *shape, const char *kernel, const char *counter,
                     size_t *count);

/* {"median", "min", "max"} of that, or JSON null if it was never measured. */
json_t *samples_spread(samples *s, const char *mode, const char *shape, const char *kernel, const char *counter);

/* The time of the second of two kernels as a multiple of that of the first: {"estimate", "low", "high"}. The interval
   is of 90 %, the most that three timings of each can support; low and high are null where timings are fewer. Null when
   memory runs out. */
json_t *samples_ratio(samples *s, const char *mode, const char *shape, const char *first, const char *second);

/* The same of two samples of positive numbers: a number of `b` as a multiple of one of `a`. */
json_t *samples_ratio_of(const double *a, size_t n, const double *b, size_t m);

#endif
