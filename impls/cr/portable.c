/* SPDX-License-Identifier: MIT */
#include "impls/cr/cr.h"
#include "lib/api/kernel.h"
#include "lib/simd/generic.h"

/* VECTORS: two states of each vector take 8 of the 16 registers of SSE2. */
enum { VECTORS = 4, STREAM_VECTORS = 4, STREAMS = false, SHIFT_FROM = 0, SUM_VECTORS = 4 };
#include "impls/cr/template.h"

const posenc_kernel posenc_kernel_cr_portable = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_GENERIC,
    .name = "cr-portable",
    .summary = "correctly rounded; portable C",
    .algorithm = "From anchors every 32 positions, one in eight found from its angle, each column follows by its "
                 "three-term recurrence in double; "
                 "an element that "
                 "this leaves within 2^-44 of a midpoint of the format is computed again in "
                 "fixed point. f64 is computed in sums of two doubles, within 2^-69.",
    .provenance =
        "three-term recurrence of the multiple angle (Chebyshev); rounding test after Ziv, ACM TOMS 17(3), 1991; "
        "this combination: posenc, 2026",
    CR_CONTRACT,
    CR_FUNCTIONS(execute, write_stages),
};
