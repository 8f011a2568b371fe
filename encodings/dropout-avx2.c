/* SPDX-License-Identifier: MIT */
#include "config.h"

#ifdef HAVE_AVX2
#include "lib/simd/avx2.h"

#include "encodings/dropout-vectors.h"
#else
#include "encodings/dropout.h"

const dropout_loops dropout_loops_avx2 = {NULL, NULL};
#endif
