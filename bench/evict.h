/* SPDX-License-Identifier: MIT */
/* Eviction of data from caches. */
#ifndef POSENC_BENCH_EVICT_H
#define POSENC_BENCH_EVICT_H

#include <stdbool.h>
#include <stddef.h>

/* Memory that is read to evict other data from caches. All zeros, or opened by evictor_open. */
typedef struct evictor {
  unsigned char *memory;
  size_t bytes;
} evictor;

/* Returns false if memory runs out. Must be closed in any case. */
bool evictor_open(evictor *e, size_t last_cache_bytes);
void evictor_close(evictor *e);

/* Evicts this memory from the caches of all cores (x86; elsewhere from those of this core and the last cache), and all
   other data from those of this core. The caches are then full of data that need not be written back. */
void evict(const evictor *e, const unsigned char *memory, size_t bytes);

#endif
