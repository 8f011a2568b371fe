/* SPDX-License-Identifier: MIT */
/* Where a kernel's error comes from, on one table. */
#ifndef POSENC_VERIFY_EXPLAIN_H
#define POSENC_VERIFY_EXPLAIN_H

#include <jansson.h>

struct subject;
struct arena; /* both of checks.h */

/*
 * The field "explain" of a subject whose windows have all been checked (verify.h); JSON's null if its kernel does
 * not expose its stages, C's when memory runs out. `a`: room for CHECKED_ROWS.
 */
json_t *explain_json(struct subject *s, struct arena *a);

#endif
