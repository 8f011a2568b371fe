/* SPDX-License-Identifier: MIT */
/* A record of accuracy, as verify_run makes it (verify/verify.h), for people and for programs. */
#ifndef POSENC_RECORDS_PRINT_H
#define POSENC_RECORDS_PRINT_H

#include "records/read.h"

#include <stdio.h>

/* The record as TAP on `stream`: one point per kernel × property × shape; at its end, which kernels did not run, and
   why. All of these print nothing when memory runs out. */
void record_print_tap(const json_t *record, FILE *stream);

/* The same as JUnit XML: one suite per kernel × shape, one case per property. */
void record_print_junit(const json_t *record, FILE *stream);

/* The failures as annotations of GitHub Actions, at most 10, each a line. place: "FILE" or "FILE:LINE" of a source. */
void record_print_github(const json_t *record, const char *place, FILE *stream);

/* The same for people: each failed check with the command that repeats it, then a line for each kernel: its tables, its
   checks, and its largest absolute error. */
void record_print_text(const json_t *record, FILE *stream);

/* Null, or why a record without failures should not be trusted: no kernel did any table, or nothing of one was
   compared, as of an empty table. Writes into `text`, of `size` bytes. */
const char *record_mistrust(const json_t *record, char *text, size_t size);

/* Which step the errors of one result come from, as lines that begin with `prefix`; nothing if that was not asked for.
   */
void record_print_explained(const record_result *result, const char *prefix, FILE *stream);

#endif
