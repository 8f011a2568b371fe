/* SPDX-License-Identifier: MIT */
/* Poisoned memory for what kernels write, between pages that nobody may touch. */
#ifndef POSENC_VERIFY_ARENA_H
#define POSENC_VERIFY_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A NaN that no arithmetic makes. */
enum { ARENA_POISON = 0xff };

/* The messages of a process that dies of a fault next to the rows. */
#define MEMORY_LAST_WORDS "it touched what lies outside the rows it was asked for"

typedef struct arena arena;
arena *arena_create(size_t bytes);
void arena_destroy(arena *a);

/* From now on a fault in an arena's guard pages is reported (isolate.h: last words) before the process dies of it, and
 * a write to a sealed plan (seal.h) is counted. */
void arena_tell_faults(void);

/* Poisons the memory of the next result, `bytes` long, and returns it. flush: it ends at the guard; else it begins
 * on a page. */
unsigned char *arena_place(arena *a, size_t bytes, bool flush);

/* The same, but it begins at the guard; or so many bytes, less than a page, after the beginning of a page. */
unsigned char *arena_place_first(arena *a, size_t bytes);
unsigned char *arena_place_off(arena *a, size_t bytes, size_t offset);

/* The memory of the last result. */
const unsigned char *arena_rows(const arena *a);

/* Bytes of the slack beside it that were written. */
int64_t arena_spills(const arena *a);

/* The number of elements among these bytes that are still poison; *first: the byte at which the first of them is. */
int64_t arena_untouched(const unsigned char *out, size_t bytes, size_t element, size_t *first);

#endif
