/* SPDX-License-Identifier: MIT */
/* The parts of the calling thread's floating-point environment that a function must not change. */
#ifndef POSENC_VERIFY_FPENV_H
#define POSENC_VERIFY_FPENV_H

/* The default environment, but with all exceptions raised, so that one that is cleared later is seen. x86: of SSE and
 * of the x87, with the direction flag clear. */
void fpenv_set(void);

/* The changes by the calls since fpenv_set, in a few words of static storage, or null; they are undone. Calls may
 * raise exceptions, but not clear them. */
const char *fpenv_restore(void);

#endif
