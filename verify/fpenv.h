/* SPDX-License-Identifier: MIT */
/* The floating-point environment of the calling thread, as far as a function must leave it as it was. */
#ifndef POSENC_VERIFY_FPENV_H
#define POSENC_VERIFY_FPENV_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fpenv {
  int rounding;        /* of fegetround */
  bool keeps_tiny;     /* subnormals are neither flushed when made nor taken for zero when used */
  int exceptions;      /* that are raised, of fetestexcept */
  uint32_t mxcsr;      /* x86: control and flags of SSE and AVX, */
  uint16_t control;    /* and of the x87, */
  uint16_t status;     /* its flags and the top of its stack, */
  uint16_t tags;       /* and which of its registers are in use */
  bool goes_backwards; /* x86: the direction flag, which string instructions follow */
} fpenv;

/* The default environment, but with all exceptions raised, so that one that is cleared later is seen. */
void fpenv_set(void);

/* Now. x86: the direction flag is cleared, as compiled code relies on it. */
fpenv fpenv_read(void);

/* What has changed, in a few words of static storage, or null. To raise exceptions is allowed, to clear them is not. */
const char *fpenv_difference(const fpenv *before, const fpenv *after);

#endif
