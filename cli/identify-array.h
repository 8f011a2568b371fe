/* SPDX-License-Identifier: MIT */
/* posenc identify of a result of add or rope. */
#ifndef POSENC_CLI_IDENTIFY_ARRAY_H
#define POSENC_CLI_IDENTIFY_ARRAY_H

#include "cli/files.h"
#include "identify/identify.h"

/* Returns the table that --op has applied to --x, and the other findings in `applied`, a new reference. Returns null
   and the reason if no table explains the result. */
table_file *recover_applied(const options *given, const char *file, recovered *found, json_t **applied, fault *why);

/* Adds `applied` to the record of the table, and replaces the options for check by those for the result. */
void record_applied(json_t *record, json_t *applied);

/* Prints a line such as "rope to q.npy, axes blhd: columns 0 to 63 of 128, pairs are halves, turned back". */
void print_applied(const json_t *record, FILE *stream);

#endif
