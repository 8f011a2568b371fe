/* SPDX-License-Identifier: MIT */
#include "config.h"

#ifdef HAVE_AVX512
#include <immintrin.h>
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#define LANES 8
#define LOOPS dropout_loops_avx512
#define MULTIPLY(a, b) ((lanes)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#include "encodings/dropout-vectors.h"
#else
typedef int dropout_avx512; /* a file has to hold something */
#endif
