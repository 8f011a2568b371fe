/* SPDX-License-Identifier: MIT */
/*
 * Plans whose memory is read-only while they execute. Whatever the calling thread allocates between seal_begin and
 * seal_end lies on pages of its own, which seal_end makes read-only. A later write to them is counted, and then goes
 * through. It needs the allocation functions of this program in place of glibc's (seal.c), so that it is not available
 * with another C library, nor under a sanitizer. Not thread-safe, except where said.
 */
#ifndef POSENC_VERIFY_SEAL_H
#define POSENC_VERIFY_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is it available? If not, the other functions do nothing and return 0. */
bool seal_works(void);

/* Starts a segment for what this thread allocates; ends it. */
void seal_begin(void);
void seal_end(void);

/* The segment of an address becomes writable, because what is in it is about to be freed. Null: nothing. */
void seal_break(const void *inside);

/* Frees the segment, unless some of it is still allocated: then it returns how many bytes that is. */
size_t seal_release(const void *inside);

/* For the handler of SIGSEGV: whether the address is sealed. If it is, the write is counted unless the code that made
 * it belongs to OpenMP's library, whose threads' pools may have begun in a segment, or a plan is being made, which may
 * add to what plans share; and the page becomes writable. Async-signal-safe. */
bool seal_allow_write(const void *address, const void *code);

/* Writes to sealed pages so far, by any thread. Each page counts once, since it is writable from then on. */
int64_t seal_writes(void);

#endif
