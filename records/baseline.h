/* SPDX-License-Identifier: MIT */
/* Compares errors and bits of kernels with those of an earlier run, which later runs must not exceed or change. */
#ifndef POSENC_RECORDS_BASELINE_H
#define POSENC_RECORDS_BASELINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Makes the baseline of an accuracy record; see record.schema.json. Null if the record lacks kernel_abi, seed or
   budget. */
json_t *baseline_of(const json_t *record);

/* Prints a baseline with a line for each entry, so that a diff of two shows what has changed and of which kernel and
   table. Errors are left in the stream's error indicator. */
void baseline_print(const json_t *baseline, FILE *stream);

typedef struct baseline_terms {
  bool allow_new;         /* a result without an entry is skipped; otherwise it fails */
  bool allow_environment; /* if the environment differs, errors of kernels that are not reproducible may grow by the
                             allowance in baseline.c, and kernels may refuse; otherwise both fail */
  bool (*selects)(const void *argument, const char *kernel); /* whether the run is of this kernel; null: of all */
  const void *argument;
  const char *replay; /* the options that hold a run to this baseline; null: unknown */
} baseline_terms;

/*
 * Adds the check "baseline" to every result of the record. The check fails if an error or a number of elements with
 * large errors has grown, if the bits of a reproducible kernel have changed, if the baseline is of other elements, or
 * if a kernel refuses what it did. Its note says what has changed, also for the better, and which facts of the
 * environment differ where they may be the cause. A record in which nothing of a kernel was compared that the
 * baseline has and the run is of gets the field "uncompared" with its name, and is mistrusted (record_mistrust).
 * `baseline` is one that record_read_baseline accepts.
 */
void baseline_hold(json_t *record, const json_t *baseline, const baseline_terms *terms);

#endif
