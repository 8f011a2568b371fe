/* SPDX-License-Identifier: MIT */
/* The part of posenc identify that is about add and rope. */
#ifndef POSENC_CLI_IDENTIFY_ARRAY_H
#define POSENC_CLI_IDENTIFY_ARRAY_H

#include "cli/files.h"
#include "identify/recover.h"

/* The table that --op has applied to --x, and what else is known of that, a new reference. Null: no table explains the
   result, and why. */
table_file *recover_applied(const options *given, const char *file, recovered *found, json_t **applied, fault *why);

/* Puts it in the record of the table, and makes of the options for check those that are about the result. */
void record_applied(json_t *record, json_t *applied);

/* "rope to q.npy, axes blhd: columns 0 to 63 of 128, pairs are halves, turned back" */
void print_applied(const json_t *record, FILE *stream);

#endif
