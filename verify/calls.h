/* SPDX-License-Identifier: MIT */
/* Calls for rows of one plan: where they go, how many they are, how many calls there are, and on which CPU. */
#ifndef POSENC_VERIFY_CALLS_H
#define POSENC_VERIFY_CALLS_H

#include "verify/variants.h"

/* ALIGNMENT, CALL_SIZE (false when memory runs out), DECODING, ENDURANCE, CPUS. */
void check_alignment(stress *t);
bool check_call_sizes(stress *t);
void check_decoding(stress *t);
void check_endurance(stress *t);
void check_cpus(stress *t);

#endif
