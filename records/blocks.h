/* SPDX-License-Identifier: MIT */
/* Compares two programs by timing records of several processes. Four processes, two of each program, are a block. */
#ifndef POSENC_RECORDS_BLOCKS_H
#define POSENC_RECORDS_BLOCKS_H

#include "records/speed.h"

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

#endif
