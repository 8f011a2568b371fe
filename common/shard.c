/* SPDX-License-Identifier: MIT */
#include "common/shard.h"

#include "common/memory.h"

#include <errno.h>
#include <stdlib.h>

/* Parses a number from 1 to SHARDS_MOST, and sets *rest to what follows it; returns 0 if there is none. */
static int number_of(const char *text, char **rest) {
  if (*text < '0' || *text > '9') return 0;
  errno = 0;
  const long number = strtol(text, rest, 10);
  return errno == 0 && number >= 1 && number <= SHARDS_MOST ? (int)number : 0;
}

bool shard_parse(const char *text, shard *part) {
  char *rest;
  part->number = number_of(text, &rest);
  if (!part->number || *rest != '/') return false;
  part->of = number_of(rest + 1, &rest);
  return part->of && *rest == '\0' && part->number <= part->of;
}

typedef struct work {
  double size;
  size_t number;
} work;

static int larger_first(const void *a, const void *b) {
  const work *x = a, *y = b;
  if (x->size != y->size) return x->size < y->size ? 1 : -1;
  return x->number < y->number ? -1 : 1;
}

bool *shard_partition(shard part, const double *sizes, size_t count) {
  bool *mine = memory_take(count + 1, sizeof *mine);
  work *works = memory_take(count + 1, sizeof *works);
  double *dealt = memory_take((size_t)part.of + 1, sizeof *dealt);
  for (size_t i = 0; i < count; i++) {
    mine[i] = !shard_is_part(part);
    works[i] = (work){sizes[i], i};
  }
  qsort(works, count, sizeof *works, larger_first);
  for (size_t i = 0; shard_is_part(part) && i < count; i++) {
    int least = 0;
    for (int s = 1; s < part.of; s++)
      if (dealt[s] < dealt[least]) least = s;
    dealt[least] += works[i].size;
    mine[works[i].number] = least + 1 == part.number;
  }
  free(works);
  free(dealt);
  return mine;
}
