/* SPDX-License-Identifier: MIT */
/* Finds out how add or rope differed from the request. */
#ifndef POSENC_VERIFY_ARRAY_CAUSE_H
#define POSENC_VERIFY_ARRAY_CAUSE_H

#include "verify/array-request.h"

typedef struct array_cause {
  char text[160]; /* empty: not known, or there is nothing to explain */
} array_cause;

/* Tries known mistakes, one at a time, on a sample of vectors. One is taken for the cause if it explains them at least
   16 times as well as what was asked for does, and better than the others do. None is where the largest error found is
   within 2 ulp. */
array_cause array_cause_of(const array_request *request, double max_ulp);

#endif
