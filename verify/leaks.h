/* SPDX-License-Identifier: MIT */
/* What calls and plans leave behind: memory that is not freed, and changes of the process. */
#ifndef POSENC_VERIFY_LEAKS_H
#define POSENC_VERIFY_LEAKS_H

#include "verify/process.h"
#include "verify/variants.h"

/* Checks LEAK. */
void check_leaks(stress *t);

/* Checks PROCESS: what has changed in the process since `before`, which may be null, and in the environment. */
void subject_check_process(subject *s, const process_state *before);

#endif
