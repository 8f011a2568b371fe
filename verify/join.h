/* SPDX-License-Identifier: MIT */
/* Results of ranges of one table made into one. */
#ifndef POSENC_VERIFY_JOIN_H
#define POSENC_VERIFY_JOIN_H

#include <jansson.h>

/*
 * The result of a whole exam, made of those of its ranges, in their order: to the last bit what one exam of all of it
 * finds if no check fails. `parts` are fields "records" of accuracy records, with the types of records/fields.def. A
 * new reference; null if they do not fit together, or when memory runs out.
 */
json_t *verify_join(json_t *const *parts, size_t count);

#endif
