/* SPDX-License-Identifier: MIT */
/* Identifies the positional encoding in a file from its numbers alone. */
#ifndef POSENC_IDENTIFY_IDENTIFY_H
#define POSENC_IDENTIFY_IDENTIFY_H

#include "identify/identity.h"

#include <jansson.h>
#include <stdio.h>

/* Null when memory runs out. */
identity *identify(const identify_request *request);
void identity_free(identity *found);

/* Few enough to be damage. */
static inline bool identify_has_outliers(const maker *match) {
  return match->outliers > 0 && match->outliers * 1000 <= match->compared;
}

/* Is it an IDENTIFY_TABLE of numbers alone, with its rows in order? */
bool identity_is_table(const identity *found);

/* The order of the rows of an IDENTIFY_TABLE. *period: of IDENTITY_REPEATED, the rows before the first comes again. */
identity_order identity_order_of(const identity *found, int64_t *period);

/* "pad", "ceil", or null where the number of columns is even. */
const char *identity_odd(const identity *found);

/* The shift of a formula by the columns of the file, half of which may be a fraction. */
double identity_shift(const identity *found, const formula *f);

/* One sentence. A new string, null when memory runs out. */
char *identity_sentence(const identity *found);

/* The beginning of it: which makers are the closest, of makers_rank. */
void makers_print(const maker *ranked, size_t count, posenc_dtype held, FILE *out);

/* {"name", "elements" ...} of each, and the names of the closest. */
json_t *makers_json(const maker *ranked, size_t count);
json_t *closest_json(const maker *ranked, size_t count);

/* As doc/python.md has it. */
json_t *identity_json(const identity *found, const identify_request *request);

#endif
