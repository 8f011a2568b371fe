/* SPDX-License-Identifier: MIT */
/* The partition of a run into shards, which may run on different machines. */
#ifndef POSENC_COMMON_SHARD_H
#define POSENC_COMMON_SHARD_H

#include <stdbool.h>
#include <stddef.h>

/* {2, 3} is the second of three shards; {0, 0} is the whole run. */
typedef struct shard {
  int number, of;
} shard;

#define SHARDS_MOST 10000

/* Parses "2/3". Returns false if the text is invalid, or there are more than SHARDS_MOST shards. */
bool shard_parse(const char *text, shard *part);

static inline bool shard_is_part(shard part) {
  return part.of > 0;
}

/* Returns which of `count` works are the shard's, as a new array. The works are assigned from
   the largest on, each to the shard with the smallest sum so far, so that all machines make the same partition. */
bool *shard_partition(shard part, const double *sizes, size_t count);

#endif
