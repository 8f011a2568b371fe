/* SPDX-License-Identifier: MIT */
#ifndef POSENC_VERIFY_TEAMS_H
#define POSENC_VERIFY_TEAMS_H

#include "verify/variants.h"

/* THREADS, of other problems than the subject's: threads that make and execute plans at once, and a threaded kernel
 * with other numbers of threads. False when memory runs out. */
bool check_teams(stress *t);

#endif
