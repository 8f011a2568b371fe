/* SPDX-License-Identifier: MIT */
/*
 * Plans whose memory is read-only while they execute. All allocations of the calling thread between seal_begin and
 * seal_end are on pages of their own, which seal_end makes read-only. A later write to them is counted, and then done.
 * This needs the allocation functions of this program to replace glibc's (seal.c), so it is not available with another
 * C library, nor under a sanitizer. Not thread-safe, except where stated.
 */
#ifndef POSENC_VERIFY_SEAL_H
#define POSENC_VERIFY_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this is available. If not, the other functions do nothing and return 0. */
bool seal_works(void);

/* Start and end a segment for the allocations of this thread. */
void seal_begin(void);
void seal_end(void);

/* Makes the segment of an address writable, because its memory is about to be freed. Null is ignored. */
void seal_break(const void *inside);

/* Frees the segment. If some of it is still allocated, it is kept, and the number of these bytes is returned. */
size_t seal_release(const void *inside);

/* Returns whether the address is sealed, for the handler of SIGSEGV. If so, makes the page writable and counts the
   write, unless it was made by code of OpenMP's library, whose threads' pools may begin in a segment, or while a plan
   is being made, which may add to data that plans share. Async-signal-safe. */
bool seal_allow_write(const void *address, const void *code);

/* Returns the number of writes to sealed pages so far, by all threads. Each page counts once, since it is writable
   then. */
int64_t seal_writes(void);

#endif
