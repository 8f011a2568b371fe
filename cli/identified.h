/* SPDX-License-Identifier: MIT */
/* The record of posenc identify of a file, compared with --config and --expect. */
#ifndef POSENC_CLI_IDENTIFIED_H
#define POSENC_CLI_IDENTIFIED_H

#include "cli/options.h"
#include "files/table.h"

/* The record of posenc identify of a table: identity_json, with "findings": for --config and --expect, if given,
   {"property": "config" | "expect", "ok": bool, "note": text} and what else a check in a record of posenc check has.
   *is_right: it is a positional encoding, and agrees with them. */
json_t *identified_table(const options *given, table_file *table, const char *file, bool *is_right);

/* The same of what --op has applied to --x; with the verdict "none" if there is no such table. */
json_t *identified_array(const options *given, const char *file, bool *is_right);

#endif
