/* SPDX-License-Identifier: MIT */
/* Plain numbers: of all numbers within an error, the one with the fewest digits, as people write it. */
#ifndef POSENC_IDENTIFY_PLAIN_H
#define POSENC_IDENTIFY_PLAIN_H

#include "common/number.h"

#include <stdbool.h>

static inline bool number_is_one(double x) {
  return x >= 1.0 && x <= 1.0;
}

/* A number above 0 and its relative error. 0 digits: the number is measured, and not plain. */
typedef struct plain_number {
  double value, error;
  int digits;
} plain_number;

/* Returns the number within a factor of e^±error that has the fewest digits, or x if that takes 17 digits. */
plain_number plainest(double x, double error);

/* Returns plainest(x), or if that has fewer digits, the reciprocal of such a number, as 1/3, or pi times or divided by
   such a number. */
plain_number plainest_part(double x, double error);

/* Returns x in the fewest digits that are within its relative error; an exact number in up to 15 digits. */
number_text number_within(double x, double error);

#endif
