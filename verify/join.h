/* SPDX-License-Identifier: MIT */
/* Joins the results of ranges of one table. */
#ifndef POSENC_VERIFY_JOIN_H
#define POSENC_VERIFY_JOIN_H

#include <jansson.h>

/*
 * Returns the result of a whole exam, joined from those of its ranges in their order, a new reference. If no check
 * fails, it is bit for bit the result of one exam of the whole table. `parts` are fields "records" of accuracy records,
 * with the types of records/fields.def. Returns null if they do not fit together, or if memory runs out.
 */
json_t *verify_join(json_t *const *parts, size_t count);

#endif
