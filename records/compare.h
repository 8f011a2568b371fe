/* SPDX-License-Identifier: MIT */
/* Compares two records of the same kind, or two programs that made records in blocks: what has become worse. */
#ifndef POSENC_RECORDS_COMPARE_H
#define POSENC_RECORDS_COMPARE_H

#include "records/blocks.h"
#include "records/read.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define COMPARE_DEFAULT_GROWTH 0
#define COMPARE_DEFAULT_SLOWER 5
#define COMPARE_DEFAULT_ALPHA 0.05
#define COMPARE_RUN_SLOWER 3
#define COMPARE_RUN_ALPHA 0.01

/* A comparison, see record.schema.json; speed is that of any Google Benchmark JSON. Null with *why told if the records
   do not belong together, or memory runs out. */
json_t *compare_records(const json_t *before, const json_t *after, const compare_limits *limits, const char **why);

/* The same of the blocks of two programs, whose environments are those of these two records. Null when memory runs
   out. */
json_t *compare_blocks(const blocks *all, const json_t *before, const json_t *after, const compare_limits *limits);

/* Whether every benchmark of a speed record has the time that it must have; true for other records. False: `why` says
   which benchmark lacks it, and why. */
bool compare_check(const json_t *record, char *why, size_t size);

/* Text for a terminal, rows that are the same left out unless `all`; or a Markdown table. */
void compare_print_text(const record_comparison *comparison, bool all, FILE *stream);
void compare_print_markdown(const record_comparison *comparison, bool all, FILE *stream);

#endif
