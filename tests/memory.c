/* SPDX-License-Identifier: MIT */
/* Tests whether memory is recognized as new, because large tables have no streaming stores there. */
#define _GNU_SOURCE
#include "config.h"

#include "lib/api/store.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 24 };

static void test_malloc(const char *name, void *(*get)(size_t bytes), void (*drop)(void *memory)) {
  char *memory = get(BYTES);
  if (!memory) abort();
  ok(store_is_new(memory, BYTES), "%s: large memory is new", name);
  memset(memory, 1, BYTES / 3);
  ok(!store_is_new(memory, BYTES), "%s: not if a third of it was written", name);
  ok(store_is_new(memory + BYTES / 2, BYTES / 2), "%s: its other half is", name);
  memset(memory, 1, BYTES);
  ok(!store_is_new(memory, BYTES), "%s: nor if all of it was", name);

  drop(memory);
}

int main(void) {
#ifdef __linux__
  test_malloc("malloc", malloc, free);
  test_malloc("posenc_alloc", posenc_alloc, posenc_free);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *few = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (few == MAP_FAILED) abort();
  ok(store_is_new(few, 8 * page), "8 pages are new");
  ok(!store_is_new(few + 1, 8 * page - 1), "of less nothing is said");
  munmap(few, 8 * page);
  ok(!store_is_new(few, 8 * page), "memory that there is not");
#else
  ok(!store_is_new(main, 1 << 24), "it is not told here");
#endif
  return tap_done();
}
