/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/evict.h"

#include "posenc.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const size_t cache_line = 64;

/* How many times the size of the last cache is read to evict it, as it does not evict strictly in the order of use.
   Measured with a cache of 32 MiB: reading a line that was in use takes 23 ns after half of the cache's size was read,
   116 ns after its size, 137 ns after twice its size, 147 ns after four times its size, and 144 ns after a flush. */
static const size_t excess = 2;
static const size_t unknown_cache = (size_t)1 << 26;

bool evictor_open(evictor *e, size_t last_cache_bytes) {
  e->bytes = excess * (last_cache_bytes ? last_cache_bytes : unknown_cache);
  e->memory = posenc_alloc(e->bytes);
  if (e->memory) memset(e->memory, 1, e->bytes); /* untouched memory would be one page of zeros */
  return e->memory;
}

void evictor_close(evictor *e) {
  posenc_free(e->memory);
  *e = (evictor){0};
}

/* Flushes memory from the caches of all cores: those of other cores may hold parts of a table that their threads
   wrote. */
static void flush(const unsigned char *memory, size_t bytes) {
#ifdef __SSE2__
  for (size_t i = 0; i < bytes; i += cache_line) _mm_clflush(memory + i);
  if (bytes) _mm_clflush(memory + bytes - 1);
  _mm_mfence();
#else
  (void)memory, (void)bytes;
#endif
}

void evict(const evictor *e, const unsigned char *memory, size_t bytes) {
  flush(memory, bytes);
  const volatile unsigned char *line = e->memory;
  for (size_t i = 0; i < e->bytes; i += cache_line) (void)line[i];
}
