/* SPDX-License-Identifier: MIT */
/* A run in pieces, each made where and when one likes: which shard does what of it. */
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

/* "2/3". False if it is no such thing, or there are more than SHARDS_MOST. */
bool shard_parse(const char *text, shard *part);

static inline bool shard_is_part(shard part) {
  return part.of > 0;
}

/* Which of `count` works, of these sizes, are the shard's: a new array. The largest is dealt first, each to the shard
   that has least by then: this depends on nothing but the sizes, so that all machines deal alike. Null when memory runs
   out. */
bool *shard_deal(shard part, const double *sizes, size_t count);

/* A new array of the numbers below `count` that are set in `mine`. */
json_t *shard_numbers(const bool *mine, size_t count);

#endif
