/* SPDX-License-Identifier: MIT */
/* Finds out how add or rope differed from the request. */
#ifndef POSENC_VERIFY_ARRAY_CAUSE_H
#define POSENC_VERIFY_ARRAY_CAUSE_H

#include "verify/array-request.h"

typedef struct array_cause {
  char text[160]; /* empty if unknown, or if there is nothing to explain */
} array_cause;

/* Tries known mistakes, one at a time, on a sample of vectors. A mistake is the cause if it explains them at least 16
   times as well as the request does, and better than the other mistakes do. There is no cause if the largest error
   is within 16 units of the dtype. */
array_cause array_cause_of(const array_request *request);

#endif
