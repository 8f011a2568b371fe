/* SPDX-License-Identifier: MIT */
/* Plain numbers: of all that are within an error, the one of the fewest digits, which is what people write. */
#ifndef POSENC_IDENTIFY_PLAIN_H
#define POSENC_IDENTIFY_PLAIN_H

#include "common/number.h"

/* A number above 0 and how far off it may be, as a share of it; 0 digits: it is not plain, but measured. */
typedef struct plain_number {
  double value, error;
  int digits;
} plain_number;

/* The number within a factor of e^±error that has the fewest digits; x, if that takes 17. */
plain_number plainest(double x, double error);

/* Or that is one part of such a number, 1/3, if this takes fewer digits. */
plain_number plainest_part(double x, double error);

/* In so many digits as the relative error leaves; what is exact to 15 digits, in as many as it has. */
number_text number_within(double x, double error);

#endif
