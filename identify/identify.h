/* SPDX-License-Identifier: MIT */
/* Identifies the positional encoding in a file from its numbers alone. */
#ifndef POSENC_IDENTIFY_IDENTIFY_H
#define POSENC_IDENTIFY_IDENTIFY_H

#include "identify/identity.h"

#include <jansson.h>
#include <stdio.h>

/* Returns the result, which identity_free frees; null if memory runs out. */
identity *identify(const identify_request *request);
void identity_free(identity *found);

/* Whether the outliers are few enough to be damage. */
static inline bool identify_has_outliers(const maker *match) {
  return match->outliers > 0 && match->outliers * 1000 <= match->compared;
}

/* Whether it is an IDENTIFY_TABLE of finite numbers, with its rows in order. */
bool identity_is_table(const identity *found);

/* Returns the order of the rows of an IDENTIFY_TABLE. *period: of IDENTITY_REPEATED, the number of rows before the
   first one is repeated. */
identity_order identity_order_of(const identity *found, int64_t *period);

/* Returns "pad" or "ceil", or null if the number of columns is even. */
const char *identity_odd(const identity *found);

/* Returns the shift of a formula for the columns of the file, which may be half a column. */
double identity_shift(const identity *found, const formula *f);

/* Returns the result as one sentence, a new string; null if memory runs out. */
char *identity_sentence(const identity *found);

/* Prints the beginning of the sentence: the closest makers. They are in the order of makers_rank. */
void makers_print(const maker *ranked, size_t count, posenc_dtype held, FILE *out);

/* Return arrays for the record, new references: {"name", "elements" ...} of each maker, and the names of the
   closest. */
json_t *makers_json(const maker *ranked, size_t count);
json_t *closest_json(const maker *ranked, size_t count);

/* Returns the result as JSON, as doc/python.md describes it; null if memory runs out. */
json_t *identity_json(const identity *found, const identify_request *request);

#endif
