/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "lib/api/kernel.h"
#include "lib/api/store.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory for tables: aligned to cache lines and, from 1 MiB on, in huge pages, which the system provides ten times
   faster than small ones. */

/* The size of huge pages on x86-64, and on other architectures with pages of 4 KiB. */
static const size_t huge_page = (size_t)1 << 21;
/* From this size on a table fills at least half of its huge pages, so at most as much again is wasted. */
static const size_t huge_from = (size_t)1 << 20;

void *posenc_alloc(size_t bytes) {
  const size_t alignment = bytes < huge_from ? STORE_LINE : huge_page;
  if (bytes > PTRDIFF_MAX - alignment) return NULL; /* no object is larger */
  const size_t rounded = bytes ? (bytes + alignment - 1) & ~(alignment - 1) : alignment;
  void *memory = aligned_alloc(alignment, rounded);
#ifdef MADV_HUGEPAGE
  if (memory && alignment == huge_page)
    madvise(memory, rounded, MADV_HUGEPAGE); /* may fail: writing is then only slower */
#endif
  return memory;
}

void *kernel_alloc(size_t bytes) {
  char *memory = (char *)aligned_alloc(STORE_LINE, bytes);
#ifdef MADV_POPULATE_WRITE
  /* The alignment of madvise's argument: a multiple of the system's page size, or madvise refuses the range. */
  static const size_t small_page = (size_t)1 << 12;
  char *const page = memory - (uintptr_t)memory % small_page;
  if (memory) madvise(page, (size_t)(memory - page) + bytes, MADV_POPULATE_WRITE);
#endif
  return memory;
}

void posenc_free(void *memory) {
  free(memory);
}

/* Asks about two pages. The first page is not one of them, as malloc has written to it. */
bool store_is_new(const void *memory, size_t bytes) {
  const uintptr_t begin = (uintptr_t)memory, page = (uintptr_t)sysconf(_SC_PAGESIZE);
  unsigned char early = 1, late = 1;
#ifdef __linux__
  void *const first = (void *)((begin + bytes / 4) & ~(page - 1));
  void *const last = (void *)((begin + bytes / 4 * 3) & ~(page - 1));
  if (bytes < 8 * page || mincore(first, 1, &early) != 0 || mincore(last, 1, &late) != 0) return false;
#endif
  return !(early & 1) && !(late & 1);
}
