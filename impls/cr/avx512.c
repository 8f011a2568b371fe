/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/cr/cr.h"
#include "lib/api/kernel.h"
#include "lib/apply/apply.h"

#ifdef HAVE_AVX512
#include "lib/simd/avx512.h"

/* VECTORS: enough independent chains to hide the latency of a step. */
enum { VECTORS = 8, STREAM_VECTORS = 8, STREAMS = true, SHIFT_FROM = 1 << 21, SUM_VECTORS = 4 };
#include "impls/cr/template.h"

/* Adds without making rows, where add_avx512 can. Tables with many tiny sines are applied by rows, since add_avx512
   would recompute these. */
static posenc_status apply_fused(const void *cr, const posenc_problem *problem, const posenc_slice *slice,
                                 const void *x, void *out) {
  static const posenc_kernel rows = {.execute = execute};
  const posenc_stores stores = ((const cr_constants *)cr)->angles->stores;
  const apply_source source = {.kernel = &rows, .constants = cr, .loops = &apply_loops_avx512, .stores = stores};
  if (problem->op != POSENC_ADD || problem->padding != POSENC_NO_PADDING || ((const cr_constants *)cr)->in_sums)
    return apply_rows(&source, problem, slice, x, out);
  add_avx512(cr, problem, slice, apply_streams(stores, problem, slice, x, out), x, out);
  return POSENC_OK;
}
#endif

const posenc_kernel posenc_kernel_cr_avx512 = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_AVX512,
    .name = "cr-avx512",
    .summary = "correctly rounded, with AVX-512: the fastest where it runs",
    .algorithm = "As cr-portable, 64 columns in registers, fused; large tables are stored past the caches.",
    .provenance = "as cr-portable; posenc, 2026",
    CR_CONTRACT,
#ifdef HAVE_AVX512
    CR_FUNCTIONS(execute, write_stages),
    .apply = apply_fused,
#else
    .absent = KERNEL_LEFT_OUT,
#endif
};
