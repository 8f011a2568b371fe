/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/cr/cr.h"
#include "lib/api/kernel.h"

#ifdef HAVE_NEON
#include "lib/simd/neon.h"

/* VECTORS: two states of each vector take 16 of the 32 registers. */
enum { VECTORS = 8, STREAM_VECTORS = 8, STREAMS = false, SHIFT_FROM = 0, SUM_VECTORS = 4 };
#include "impls/cr/template.h"
#endif

const posenc_kernel posenc_kernel_cr_neon = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_NEON,
    .name = "cr-neon",
    .summary = "correctly rounded, with AArch64's NEON",
    .algorithm = "As cr-portable, 16 columns in registers, fused.",
    .provenance = "as cr-portable; posenc, 2026",
    CR_CONTRACT,
#ifdef HAVE_NEON
    CR_FUNCTIONS(execute, write_stages),
#else
    .absent = KERNEL_LEFT_OUT,
#endif
};
