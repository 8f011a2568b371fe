/* SPDX-License-Identifier: MIT */
/* The floating-point environment of the calling thread, as far as a function must leave it as it was. */
#ifndef POSENC_VERIFY_FPENV_H
#define POSENC_VERIFY_FPENV_H

/* The default environment, but with all exceptions raised, so that one that is cleared later is seen. x86: of SSE and
 * of the x87, with the direction flag clear. */
void fpenv_set(void);

/* What the calls since fpenv_set have changed, in a few words of static storage, or null; it is restored. Calls may
 * raise exceptions, but not clear them. */
const char *fpenv_restore(void);

#endif
