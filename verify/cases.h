/* SPDX-License-Identifier: MIT */
/* Checks of kernels on hard-to-round cases only: the elements of a file (reference/worst.h). */
#ifndef POSENC_VERIFY_CASES_H
#define POSENC_VERIFY_CASES_H

#include "common/shapes.h"

typedef struct cases cases;
struct subject;
struct arena;

/* Reads the file and confirms it by MPFR. Returns null and the fault in `why`, such as "line 12: …". No thread may be
   running (isolate.h). */
cases *cases_load(const char *path, char *why, size_t size);
void cases_free(cases *c);

/* Returns the table of the cases, named "base10000-d128.wc" or "base10000-d128-f16.wc". */
const shape *cases_shape(const cases *c);

size_t cases_count(const cases *c);

/* Computes the row of every case with the subject's plan, which must be of that table, and compares the case with MPFR.
   The arena must have room for a row. Returns false if memory runs out. */
bool cases_try(const cases *c, struct subject *s, struct arena *a);

#endif
