/* SPDX-License-Identifier: MIT */
/* Checks that calls and plans free their memory and restore the state of the process. */
#ifndef POSENC_VERIFY_LEAKS_H
#define POSENC_VERIFY_LEAKS_H

#include "common/process.h"
#include "verify/variants.h"

/* Checks LEAK. */
void check_leaks(stress *t);

/* Checks PROCESS: what has changed in the process since `before`, which may be null, and in the environment. */
void subject_check_process(subject *s, const process_state *before);

#endif
