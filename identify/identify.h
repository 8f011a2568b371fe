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

/*
 * Compares a table of several axes with what is expected: as request->asked, or if it is not that, as the problem of
 * its axes that was found, which may be null. `at`: the columns of that problem. Returns the result, of which the
 * agreement is set, and which identity_free frees; null if memory runs out.
 */
identity *identify_places(const identify_request *request, const posenc_problem *problem, const columns *at);

/* Returns the result as one sentence, a new string; null if memory runs out. */
char *identity_sentence(const identity *found);

/* Prints the beginning of the sentence: the closest makers. They are in the order of makers_rank. how: how values are
   made by code that is not known, such as "computed in f64 ", or "". */
void makers_print(const maker *ranked, size_t count, const char *how, FILE *out);

/* Return arrays for the record, new references: {"name", "elements" ...} of each maker, and the names of the
   closest. */
json_t *makers_json(const maker *ranked, size_t count);
json_t *closest_json(const maker *ranked, size_t count);

/* Returns whether the table agrees with what is expected, with the cause if not: JSON's null if nothing is. */
json_t *identity_agreement_json(const identity *found);

/* Returns the result as JSON, as doc/python.md describes it; null if memory runs out. */
json_t *identity_json(const identity *found, const identify_request *request);

#endif
