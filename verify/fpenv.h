/* SPDX-License-Identifier: MIT */
/* The floating-point environment of the calling thread, as far as a function must leave it as it was. */
#ifndef POSENC_VERIFY_FPENV_H
#define POSENC_VERIFY_FPENV_H

/* The default environment, but with all exceptions raised, so that one that is cleared later is seen. x86: of SSE and
 * of the x87, with the direction flag clear. */
void fpenv_set(void);

/* The changes by the calls since fpenv_set, in a few words of static storage, or null; they are undone. Calls may
 * raise exceptions, but not clear them. */
const char *fpenv_restore(void);

#endif
