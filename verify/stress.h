/* SPDX-License-Identifier: MIT */
/* Checks of problems and calls other than those of one shape, of tables and of add and rope alike. */
#ifndef POSENC_VERIFY_STRESS_H
#define POSENC_VERIFY_STRESS_H

#include "verify/subject.h"

/* Checks all properties from READ_ONLY to LEAK except PROCESS, and index lists and strides of add and rope; but only
   CPUS if the subject has already broken a property. apply_known: another exam checks the library's code that applies
   the kernel's rows, so checks that depend on that code alone are left out. Returns false if memory runs out. */
bool subject_stress(subject *s, bool apply_known, uint64_t *random);

#endif
