/* SPDX-License-Identifier: MIT */
#include "config.h"

#ifdef HAVE_AVX2
#include <immintrin.h>
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define LANES 4
#define LOOPS dropout_loops_avx2
#define MULTIPLY(a, b) ((lanes)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#include "encodings/dropout-vectors.h"
#else
typedef int dropout_avx2; /* a file has to hold something */
#endif
