/* SPDX-License-Identifier: MIT */
/* Two programs, each of which made timing records in several processes: four processes are a block, two of each. */
#ifndef POSENC_RECORDS_BLOCKS_H
#define POSENC_RECORDS_BLOCKS_H

#include "records/speed.h"

typedef struct blocks blocks;

/* Room for that many blocks. Null when memory runs out. */
blocks *blocks_open(size_t count);
void blocks_close(blocks *all);
size_t blocks_count(const blocks *all);

/* The next record of the old program, or of the new one; block by block, in any order within one. All must be of the
   same benchmarks. False: `why` says what is wrong. */
bool blocks_add(blocks *all, bool is_new, const json_t *record, char *why, size_t size);

/* Adds the rows of all benchmarks. False when memory runs out. */
bool blocks_compare(const blocks *all, const compare_limits *limits, json_t *rows);

#endif
