/* SPDX-License-Identifier: MIT */
/*
 * What sources of glibc expect of its own headers: included before each of them by the build for WebAssembly, which has
 * empty headers of those names. Recipes then have the bits that they have on Linux. emscripten's libm, which is musl's,
 * has glibc's exp, log and pow, but other sines and cosines. These are the ones that x86-64 has without FMA, which
 * WebAssembly lacks, too. Its getopt words some errors otherwise.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>

#define attribute_hidden
#define __always_inline inline
#define __glibc_unlikely(x) (x)
#define __glibc_likely(x) (x)
#define HIGH_ORDER_BIT_IS_SET_FOR_SNAN 0
#define math_force_eval(x) ((void)(x))
#define math_check_force_underflow(x) ((void)(x))
#define SET_RESTORE_ROUND_53BIT(mode) ((void)0)
#define __set_errno(number) (errno = (number))
#define LITTLE_ENDI 1
#define LOW_HALF 0
#define HIGH_HALF 1
#define SINF sinf
#define COSF cosf
#define __sin sin
#define __cos cos
#define __getopt_argv_const const
#define _GL_UNUSED
#define gettext(text) (text)
