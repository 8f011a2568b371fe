/* SPDX-License-Identifier: MIT */
#include "config.h"

#ifdef HAVE_AVX2
#include "lib/simd/avx2.h"

#include "lib/apply/vectors.h"
#else
#include "lib/apply/apply.h"

const apply_loops apply_loops_avx2 = {NULL, NULL};
#endif
