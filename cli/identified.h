/* SPDX-License-Identifier: MIT */
/* The record of posenc identify of a file, compared with --config and --expect. */
#ifndef POSENC_CLI_IDENTIFIED_H
#define POSENC_CLI_IDENTIFIED_H

#include "cli/options.h"
#include "files/table.h"
#include "verify/table-request.h"

/* What check asks: the problem of the file, and what part of it the file has. */
typedef struct question {
  posenc_problem problem;
  table_part part;
} question;

/* Returns the record of posenc identify of a table, a new reference: identity_json, with "findings" for --config and
   --expect, if given: {"property": "config" | "expect", "ok": bool, "note": text} and the other members of a check in a
   record of posenc check. *is_right: the table is a positional encoding and agrees with --config and --expect.

   For --config and for `asked`, which is null in identify, "cause" is why the file differs from that, absent if it does
   not or if that is not known. Both commands learn it here, and nowhere else. */
json_t *identified_table(const options *given, table_file *table, const char *file, const question *asked,
                         bool *is_right);

/* As identified_table, for the table that --op has applied to --x. The verdict is "none" if there is no such table. */
json_t *identified_array(const options *given, const char *file, const question *asked, bool *is_right);

/* Returns the least tolerance of two digits that errors of `most` pass. */
double tolerance_above(double most);

#endif
