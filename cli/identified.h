/* SPDX-License-Identifier: MIT */
/* The record of posenc identify of a file, compared with --config and --expect. */
#ifndef POSENC_CLI_IDENTIFIED_H
#define POSENC_CLI_IDENTIFIED_H

#include "cli/options.h"
#include "files/table.h"

/* Returns the record of posenc identify of a table, a new reference: identity_json, with "findings" for --config and
   --expect, if given: {"property": "config" | "expect", "ok": bool, "note": text} and the other members of a check in a
   record of posenc check. *is_right: the table is a positional encoding and agrees with --config and --expect. */
json_t *identified_table(const options *given, table_file *table, const char *file, bool *is_right);

/* As identified_table, for the table that --op has applied to --x. The verdict is "none" if there is no such table. */
json_t *identified_array(const options *given, const char *file, bool *is_right);

#endif
