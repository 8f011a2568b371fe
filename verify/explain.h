/* SPDX-License-Identifier: MIT */
/* Attribution of a kernel's errors on one table. */
#ifndef POSENC_VERIFY_EXPLAIN_H
#define POSENC_VERIFY_EXPLAIN_H

#include <jansson.h>

struct subject;
struct arena; /* both of checks.h */

/*
 * Returns the field "explain" for a subject whose windows have all been checked (verify.h); JSON's null if its kernel
 * does not expose its stages, C's if memory runs out. `a` must have room for CHECKED_ROWS rows.
 */
json_t *explain_json(struct subject *s, struct arena *a);

#endif
