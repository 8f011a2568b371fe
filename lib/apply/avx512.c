/* SPDX-License-Identifier: MIT */
#include "config.h"

#ifdef HAVE_AVX512
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#define FLOATS 16
#define LOOPS apply_loops_avx512
#include "lib/apply/vectors.h"
#else
typedef int apply_avx512; /* a file has to hold something */
#endif
