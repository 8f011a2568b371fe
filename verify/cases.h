/* SPDX-License-Identifier: MIT */
/* Checks of kernels on nothing but hard-to-round cases: the elements of a file, see reference/worst.h. */
#ifndef POSENC_VERIFY_CASES_H
#define POSENC_VERIFY_CASES_H

#include "common/shapes.h"

typedef struct cases cases;
struct subject;
struct arena;

/* Reads the file and has MPFR confirm it. Null, and in `why` what is wrong: "line 12: …". No thread may be running
 * (isolate.h). */
cases *cases_load(const char *path, char *why, size_t size);
void cases_free(cases *c);

/* The table of the cases; its name is "base10000-d128.wc", or "base10000-d128-f16.wc". */
const shape *cases_shape(const cases *c);

size_t cases_count(const cases *c);

/* Has the subject's plan, which is of that table, compute the row of every case, and holds the case to MPFR. The arena
 * is to hold a row. False when memory runs out. */
bool cases_try(const cases *c, struct subject *s, struct arena *a);

#endif
