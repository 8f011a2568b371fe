/* SPDX-License-Identifier: MIT */
/* Memory for tables: on a cache line, and from some size on in huge pages, which the system gives ten times faster
   than small ones. */
#include "config.h"

#include "lib/api/kernel.h"
#include "posenc.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Huge pages of x86-64, and of other architectures with pages of 4 KiB. */
static const size_t huge_page = (size_t)1 << 21;
/* So the table fills at least half of its huge pages: never more than as much again is wasted. */
static const size_t huge_from = (size_t)1 << 20;
static const size_t cache_line = 64;

void *posenc_alloc(size_t bytes) {
  const size_t alignment = bytes < huge_from ? cache_line : huge_page;
  if (bytes > PTRDIFF_MAX - alignment) return NULL; /* no object is larger */
  const size_t rounded = bytes ? (bytes + alignment - 1) & ~(alignment - 1) : alignment;
  void *memory = aligned_alloc(alignment, rounded);
#ifdef MADV_HUGEPAGE
  if (memory && alignment == huge_page)
    madvise(memory, rounded, MADV_HUGEPAGE); /* a wish: without it writing is only slower */
#endif
  return memory;
}

/* Two pages are asked for. Not the first one, which malloc has written to. */
bool memory_is_new(const void *memory, size_t bytes) {
  const uintptr_t begin = (uintptr_t)memory, page = (uintptr_t)sysconf(_SC_PAGESIZE);
  unsigned char early = 1, late = 1;
#ifdef __linux__
  void *const first = (void *)((begin + bytes / 4) & ~(page - 1)), *const last =
                                                                       (void *)((begin + bytes / 4 * 3) & ~(page - 1));
  if (bytes < 8 * page || mincore(first, 1, &early) != 0 || mincore(last, 1, &late) != 0) return false;
#endif
  return !(early & 1) && !(late & 1);
}

void posenc_free(void *memory) {
  free(memory);
}
