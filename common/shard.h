/* SPDX-License-Identifier: MIT */
/* Partition of a run into shards, which may run on different machines. */
#ifndef POSENC_COMMON_SHARD_H
#define POSENC_COMMON_SHARD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* {2, 3}: the second of three; {0, 0}: the whole run. */
typedef struct shard {
  int number, of;
} shard;

#define SHARDS_MOST 10000

/* Parses "2/3". False if the text is invalid, or there are more than SHARDS_MOST. */
bool shard_parse(const char *text, shard *part);

static inline bool shard_is_part(shard part) {
  return part.of > 0;
}

/* Which of `count` works of these sizes are the shard's: a new array, or null if memory runs out. The largest first,
   each goes to the shard with the least so far, so that all machines partition alike. */
bool *shard_partition(shard part, const double *sizes, size_t count);

/* A new array of the indices that are set in `mine`. */
json_t *shard_numbers(const bool *mine, size_t count);

#endif
