/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "lib/api/store.h"

#include <sys/mman.h>
#include <unistd.h>

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
