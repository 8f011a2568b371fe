/* SPDX-License-Identifier: MIT */
/* Compares two records of the same kind, or two programs that made records in blocks, and finds what has become
   worse. */
#ifndef POSENC_RECORDS_COMPARE_H
#define POSENC_RECORDS_COMPARE_H

#include "records/read.h"
#include "records/speed.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Timing records of several processes of two programs. Four processes, two of each program, are a block. */
typedef struct blocks blocks;

/* Makes an empty collection. */
blocks *blocks_open(void);
void blocks_close(blocks *all);

/* Returns the number of complete blocks. */
size_t blocks_count(const blocks *all);

/* Adds the next record of the old or the new program, block by block, in any order within a block. All records must
   have the same benchmarks. Returns false, with the defect in `why`, on bad records. */
bool blocks_add(blocks *all, bool is_new, const json_t *record, char *why, size_t size);

/* Adds the rows of all benchmarks, by all blocks, which are complete. */
void blocks_compare(const blocks *all, const compare_limits *limits, json_t *rows);

#define COMPARE_DEFAULT_GROWTH 0
#define COMPARE_DEFAULT_SLOWER 5
#define COMPARE_DEFAULT_ALPHA 0.05
#define COMPARE_RUN_SLOWER 3
#define COMPARE_RUN_ALPHA 0.01

/* Returns a comparison, see record.schema.json. Records of speed may come from any program with Google Benchmark.
   Returns null, with the reason in *why, if the records cannot be compared. */
json_t *compare_records(const json_t *before, const json_t *after, const compare_limits *limits, const char **why);

/* Compares the blocks of two programs. The two records give the environments. */
json_t *compare_blocks(const blocks *all, const json_t *before, const json_t *after, const compare_limits *limits);

/* Returns the row of a comparison for two results of one kernel and problem, a new reference. */
json_t *compare_results(const record_result *before, const record_result *after, const compare_limits *limits);

/* Adds the facts that differ between two environments to the array `found`, as {"what", "old", "new"}. */
void compare_environments(const json_t *before, const json_t *after, json_t *found);

/* Whether every benchmark of a speed record has the time that it must have; true for other records. If not, `why` names
   the benchmark and the reason. */
bool compare_check(const json_t *record, char *why, size_t size);

/* Prints a comparison as text for a terminal, without unchanged rows unless `all`, or as a Markdown table. */
void compare_print_text(const record_comparison *comparison, bool all, FILE *stream);
void compare_print_markdown(const record_comparison *comparison, bool all, FILE *stream);

#endif
