/* SPDX-License-Identifier: MIT */
#include "config.h"

#ifdef HAVE_AVX2
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define FLOATS 8
#define LOOPS apply_loops_avx2
#include "lib/apply/vectors.h"
#else
typedef int apply_avx2; /* a file has to hold something */
#endif
