/* SPDX-License-Identifier: MIT */
/* Memory that finds out what a kernel writes elsewhere: results are poisoned and between guard pages, and plans are
   sealed. */
#ifndef POSENC_VERIFY_ARENA_H
#define POSENC_VERIFY_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* The address of the instruction that a signal interrupted, of the ucontext_t of its handler; null on other processors,
   where a write of OpenMP's to a sealed plan counts as one of the kernel's. */
#if defined(__x86_64__)
#define ARENA_CODE_OF(context) ((const void *)(uintptr_t)(context)->uc_mcontext.gregs[REG_RIP])
#elif defined(__aarch64__)
#define ARENA_CODE_OF(context) ((const void *)(uintptr_t)(context)->uc_mcontext.pc)
#else
#define ARENA_CODE_OF(context) ((void)(context), (const void *)NULL)
#endif

/* The byte of poison, a NaN that arithmetic does not produce. */
enum { ARENA_POISON = 0xff };

/* The last words of a process that ends by a fault next to the rows. */
#define MEMORY_LAST_WORDS "it touched what lies outside the rows it was asked for"

typedef struct arena arena;
arena *arena_create(size_t bytes);

/* Creates an arena of which nothing can be touched but the parts that arena_open opens, so that it may be far larger
   than the memory of the machine. Null if the system has no such range of addresses. */
arena *arena_create_sparse(size_t bytes);
void arena_destroy(arena *a);

/* Makes later faults in guard pages be reported (isolate.h: last words) before they end the process, and writes to a
   sealed plan be counted. */
void arena_tell_faults(void);

/* Poisons the memory of the next result, `bytes` long, and returns it. flush: it ends at the guard pages; otherwise it
   begins on a page. */
unsigned char *arena_place(arena *a, size_t bytes, bool flush);

/* arena_place with memory that begins at the guard pages; or `offset` bytes, less than a page, after the beginning of a
   page. */
unsigned char *arena_place_first(arena *a, size_t bytes);
unsigned char *arena_place_off(arena *a, size_t bytes, size_t offset);

/* Poisons and returns `bytes` bytes of a sparse arena, `at` bytes from its beginning; *after: the poisoned bytes behind
   them, up to the end of a page. Null if the system refuses. */
unsigned char *arena_open(arena *a, size_t at, size_t bytes, size_t *after);

/* Returns a copy of a list that cannot be written, and that ends at the guard pages, or else begins there. The arena
   has lists only; it returns the list itself if the system cannot protect memory. */
const int64_t *arena_place_list(arena *a, const int64_t *list, int64_t count, bool flush);

/* Returns the memory of the last result. */
const unsigned char *arena_rows(const arena *a);

/* Returns the number of bytes beside the last result that were written. */
int64_t arena_spills(const arena *a);

/* Returns the number of elements that are still poison; *first: the offset of the first of them in bytes. */
int64_t arena_untouched(const unsigned char *out, size_t bytes, size_t element, size_t *first);

/* ---- plans whose memory is read-only while they execute -------------------------------------------------------- */

/*
 * All allocations of the calling thread between seal_begin and seal_end are on pages of their own, which seal_end makes
 * read-only. A later write to them is counted, and then done. This needs the allocation functions of this program to
 * replace glibc's, so it is not available with another C library, nor under a sanitizer. Not thread-safe, except where
 * stated.
 */

/* Whether this is available. If not, the other functions do nothing and return 0. */
bool seal_works(void);

/* Start and end a segment for the allocations of this thread. */
void seal_begin(void);
void seal_end(void);

/* Makes the segment of an address writable, because its memory is about to be freed. Null is ignored. */
void seal_break(const void *inside);

/* Frees the segment. If some of it is still allocated, it is kept, and the number of these bytes is returned. */
size_t seal_release(const void *inside);

/* Returns the number of writes to sealed pages so far, by all threads. Each page counts once, since it is writable
   then. */
int64_t seal_writes(void);

#endif
