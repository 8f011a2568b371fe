/* SPDX-License-Identifier: MIT */
/* Checks beside the rows of one shape: other problems and calls, of tables and of add and rope
 * alike. */
#ifndef POSENC_VERIFY_STRESS_H
#define POSENC_VERIFY_STRESS_H

#include "verify/subject.h"

/* All properties from READ_ONLY to LEAK but PROCESS, and index lists and strides of add and rope; but none but CPUS if
 * the subject has broken a property already. apply_known: another exam looks at the library's code that applies the
 * kernel's rows; what depends on that code alone is left out. False when memory runs out. */
bool subject_stress(subject *s, bool apply_known, uint64_t *random);

#endif
