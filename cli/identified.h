/* SPDX-License-Identifier: MIT */
/* The record of posenc identify of a file, compared with --config and --expect. */
#ifndef POSENC_CLI_IDENTIFIED_H
#define POSENC_CLI_IDENTIFIED_H

#include "cli/files.h"
#include "cli/options.h"
#include "inspect/files/table.h"
#include "inspect/identify/identity.h"
#include "records/record.h"
#include "verify/file-exams.h"

#include <stdbool.h>
#include <stddef.h>

/* The positions at which frequencies are looked at: fewer than any model is trained on. */
enum { VECTOR_ROWS = 1024 };

/* Exits unless the text is KEY=VALUE,... with known keys. */
void expect_require(const char *option, const char *text);

/* Prints a line such as "rope to q.npy, axes blhd: columns 0 to 63 of 128, pairs are halves, turned back". */
void print_applied(const record_applied *applied, FILE *stream);

/* The problem that posenc check compares a file with, and the part of that problem's table that is in the file. */
typedef struct question {
  posenc_problem problem;
  table_part part;
} question;

/* The record of posenc identify on a file. `memory` has its texts and lists; `read` is the record that another process
   sent, or null. The caller releases all of it by identified_forget. */
typedef struct identified {
  record_identified of;
  bool is_right;    /* the table is a positional encoding and agrees with --config and --expect */
  bool has_formula; /* what differs from --config, or from what check asks, is not the formula */
  record_memory memory;
  const record_identified *read;
} identified;

void identified_forget(identified *found);

/* Identifies a table, with findings for --config and --expect, if given.

   For --config and for `asked`, which is null in identify, `cause` is why the file differs from that, "" or null if it
   does not or if that is not known. Both commands learn it here, and nowhere else. */
identified identified_table(const options *command_line, table_file *table, const char *file, const question *asked);

/* As identified_table, for the table that --op has applied to --x. The verdict is "none" if there is no such table. */
identified identified_array(const options *command_line, const char *file, const question *asked);

/* Returns a finding, which is like a check of a record, and keeps the texts. */
record_check finding_of(const char *property, bool is_ok, const char *text);

/* Adds a check to a list, whose texts and which are then in `in`. */
void finding_add(record_check finding, const record_check **list, size_t *count, record_memory *in);

/* Whether all findings of a record, --config's and --expect's, are as asked. */
bool findings_are_met(const record_identified *of);

#endif
