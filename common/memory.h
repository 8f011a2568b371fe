/* SPDX-License-Identifier: MIT */
/* Memory of the command. Where it runs out, the process ends here: with a line and exit status 2, or, in a worker, so
   that the caller says "it failed: out of memory". The library, and reference/, return statuses instead. */
#ifndef POSENC_COMMON_MEMORY_H
#define POSENC_COMMON_MEMORY_H

#include <stddef.h>

/* Ends the process because memory has run out. */
__attribute__((noreturn)) void memory_end(void);

/* Returns what was just allocated, JSON too. Ends the process if it is null. */
void *allocated(void *memory);

/* Returns `count` elements that are all zeros; at least one byte. */
void *memory_take(size_t count, size_t size);

/* Returns an array, which may be null, with room for `count` elements instead. New elements have any values. */
void *memory_grow(void *array, size_t count, size_t size);

char *memory_copy_text(const char *text);

/* Returns what printf would print. */
__attribute__((format(printf, 1, 2))) char *memory_print(const char *format, ...);

/* Makes memory that jansson allocates end the process, too: its functions then fail only for what is no JSON. To be
   called before any of them. */
void memory_hold_json(void);

/*
 * SANITIZED is 1 in a build with a sanitizer that replaces the allocator: memory cannot be counted or protected there.
 */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
