/* SPDX-License-Identifier: MIT */
#include "config.h"

#ifdef HAVE_AVX512
#include "lib/simd/avx512.h"

#include "lib/apply/vectors.h"
#else
#include "lib/apply/apply.h"

const apply_loops apply_loops_avx512 = {NULL, NULL};
#endif
