/* SPDX-License-Identifier: MIT */
/* The vectors of NEON, in functions that may use SVE too. SVE's own types have no size at compile time, so there are no
   vectors of lib/simd/vectors.h of them: a kernel uses them as local variables. */
#ifndef POSENC_LIB_SIMD_SVE_H
#define POSENC_LIB_SIMD_SVE_H

#if !__has_include(<arm_sve.h>) || (defined(__clang__) && __clang_major__ < 16)
#error "the compiler takes no SVE in functions with an attribute"
#endif

#include <arm_sve.h>

#define TARGET __attribute__((target("+sve")))
#define SIMD(name) name##_sve
#include "lib/simd/neon.h"

#endif
