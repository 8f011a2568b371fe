/* SPDX-License-Identifier: MIT */
/* The parts of the calling thread's floating-point environment that a call must not change. */
#ifndef POSENC_COMMON_FPENV_H
#define POSENC_COMMON_FPENV_H

/* Sets the default environment, but with all exceptions raised, so that clearing one is seen. x86: that of SSE and of
   the x87, with the direction flag clear. */
void fpenv_set(void);

/* Undoes and returns the changes since fpenv_set, in a few words of static storage, or null. Calls may raise
   exceptions, but not clear them. */
const char *fpenv_restore(void);

#endif
