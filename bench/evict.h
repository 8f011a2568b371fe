/* SPDX-License-Identifier: MIT */
/* Empties caches. */
#ifndef POSENC_BENCH_EVICT_H
#define POSENC_BENCH_EVICT_H

#include <stdbool.h>
#include <stddef.h>

/* Memory that is read to evict other data from caches. Zeros, or as evictor_open leaves it. */
typedef struct evictor {
  unsigned char *memory;
  size_t bytes;
} evictor;

/* False when memory runs out. To be closed in any case. */
bool evictor_open(evictor *e, size_t last_cache_bytes);
void evictor_close(evictor *e);

/* Evicts that memory from the caches of all cores (x86; elsewhere from those of this core and the last cache), and
   everything else from those of this core. The caches are then full of data that need not be written back. */
void evict(const evictor *e, const unsigned char *memory, size_t bytes);

#endif
