/* SPDX-License-Identifier: MIT */
/* Plain numbers: of all that are within an error, the one of the fewest digits, which is what people write. */
#ifndef POSENC_IDENTIFY_PLAIN_H
#define POSENC_IDENTIFY_PLAIN_H

#include "common/number.h"

#include <stdbool.h>

static inline bool number_is_one(double x) {
  return x >= 1.0 && x <= 1.0;
}

/* A number above 0 and how far off it may be, as a share of it; 0 digits: it is not plain, but measured. */
typedef struct plain_number {
  double value, error;
  int digits;
} plain_number;

/* The number within a factor of e^±error that has the fewest digits; x, if that takes 17. */
plain_number plainest(double x, double error);

/* The same, or the reciprocal of such a number, such as 1/3, or pi times or over one, if that has fewer digits. */
plain_number plainest_part(double x, double error);

/* x in the fewest digits that are within its relative error; an exact one in up to 15. */
number_text number_within(double x, double error);

#endif
