/* SPDX-License-Identifier: MIT */
#define TARGET
#define LANES 2
#define LOOPS dropout_loops_generic
#ifdef __SSE2__
#include <immintrin.h>
#define MULTIPLY(a, b) ((lanes)_mm_mul_epu32((__m128i)(a), (__m128i)(b)))
#else
#define MULTIPLY(a, b) (((a)&UINT32_MAX) * ((b)&UINT32_MAX))
#endif
#include "encodings/dropout-vectors.h"
