/* SPDX-License-Identifier: MIT */
/* The record of posenc identify of a file, compared with --config and --expect. */
#ifndef POSENC_CLI_IDENTIFIED_H
#define POSENC_CLI_IDENTIFIED_H

#include "cli/files.h"
#include "cli/options.h"
#include "inspect/files/table.h"
#include "inspect/identify/identity.h"
#include "verify/files.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The positions at which frequencies are looked at: fewer than any model is trained on. */
enum { VECTOR_ROWS = 1024 };

/* Exits unless the text is KEY=VALUE,... with known keys. */
void expect_require(const char *option, const char *text);

/* Prints a line such as "rope to q.npy, axes blhd: columns 0 to 63 of 128, pairs are halves, turned back". */
void print_applied(const json_t *record, FILE *stream);

/* The problem that posenc check compares a file with, and the part of that problem's table that is in the file. */
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

/* Returns a finding, which is like a check of a record, and keeps the texts. */
record_check finding_of(const char *property, bool is_ok, const char *text);

/* Whether all findings of a record, --config's and --expect's, are as asked. */
bool findings_are_met(const json_t *record);

#endif
