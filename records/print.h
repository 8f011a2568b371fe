/* SPDX-License-Identifier: MIT */
/* Prints an accuracy record, as verify_run makes it (verify/verify.h), for people and for programs. It is one that
   record_read_…, record_take_… or record_keep_… returns. */
#ifndef POSENC_RECORDS_PRINT_H
#define POSENC_RECORDS_PRINT_H

#include "records/record.h"

#include <stdio.h>

/* Prints the record as TAP on `stream`: one point per kernel × property × shape, then which kernels did not run, and
   why. */
void record_print_tap(const record_accuracy *record, FILE *stream);

/* Prints the record as JUnit XML: one suite per kernel × shape, one case per property. */
void record_print_junit(const record_accuracy *record, FILE *stream);

/* Prints the failures as annotations of GitHub Actions, one line each, at most 10. `place` is "FILE" or "FILE:LINE" of
   a source. */
void record_print_github(const record_accuracy *record, const char *place, FILE *stream);

/* Prints the record for people: each failed check with the command that repeats it, then a line for each kernel with
   its tables, its checks, and its largest absolute error. */
void record_print_text(const record_accuracy *record, FILE *stream);

/* Returns null, or why a record without failures proves nothing: no kernel computed a table, no element of a kernel was
   compared, as for an empty table, or nothing of a kernel was compared with its baseline. Writes into `text`, of `size`
   bytes. */
const char *record_mistrust(const record_accuracy *record, char *text, size_t size);

/* Prints the proposed bounds, as lines of a contract that begin with `prefix`, or why there is none. */
void record_print_proposals(const record_accuracy *record, const char *prefix, FILE *stream);

/* Prints the part of each step in the errors of one result, as lines that begin with `prefix`. Prints nothing for
   results without stages. */
void record_print_explained(const record_result *result, const char *prefix, FILE *stream);

#endif
