/* SPDX-License-Identifier: MIT */
#include "config.h"

#ifdef HAVE_AVX512
#include "lib/simd/avx512.h"

#include "encodings/dropout-vectors.h"
#else
#include "encodings/dropout.h"

const dropout_loops dropout_loops_avx512 = {NULL, NULL};
#endif
