/* SPDX-License-Identifier: MIT */
/* Slices of add and rope: lists of rows, sequences far apart, and the last row alone. */
#ifndef POSENC_VERIFY_SLICES_H
#define POSENC_VERIFY_SLICES_H

#include "verify/variants.h"

/* INDEX, BATCH, EXTENSION. False when memory runs out. */
bool check_slices(stress *t);

#endif
