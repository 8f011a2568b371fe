/* SPDX-License-Identifier: MIT */
/* Relations between results of add and rope: batches, lists of rows, the inverse, products, padding, special values. */
#ifndef POSENC_VERIFY_RELATIONS_H
#define POSENC_VERIFY_RELATIONS_H

#include "verify/applied.h"

/* Checks all relations at places drawn from `random`. */
void applied_check_relations(applied *a, uint64_t *random);

#endif
