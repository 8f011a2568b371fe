/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/cr/cr.h"
#include "lib/api/kernel.h"

#ifdef HAVE_AVX2
#include "lib/simd/avx2.h"

/* VECTORS: as many as fit in 16 registers. Streaming uses more, in order to write two cache lines of a row in
   succession (doc/notebook.md). */
enum { VECTORS = 4, STREAM_VECTORS = 8, STREAMS = true, SHIFT_FROM = 1 << 18, SUM_VECTORS = 2 };
#include "impls/cr/template.h"
#endif

const posenc_kernel posenc_kernel_cr_avx2 = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_AVX2,
    .name = "cr-avx2",
    .summary = "correctly rounded, with AVX2",
    .algorithm = "As cr-portable, 16 columns in registers, fused; large tables are stored past the caches.",
    .provenance = "as cr-portable; posenc, 2026",
    CR_CONTRACT,
#ifdef HAVE_AVX2
    CR_FUNCTIONS(execute, write_stages),
#else
    .absent = KERNEL_LEFT_OUT,
#endif
};
