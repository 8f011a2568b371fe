/* SPDX-License-Identifier: MIT */
#include "lib/api/kernel.h"
#include "lib/exact/round.h"

#include <stdbool.h>

/* What the compiler makes vectors of 16 bytes from is its affair: SSE2, NEON or scalars. */
#define TARGET
enum { LANES = 2, VECTORS = 8, STREAMS = false };
#include "lib/simd/vectors.h"

INLINE vector multiply_add(vector a, vector b, vector c) {
  return a * b + c;
}

INLINE vector multiply_subtract(vector a, vector b, vector c) {
  return a * b - c;
}

#include "impls/cr/cr.h"
#include "lib/simd/angle-vectors.h"

INLINE words turns_at(const angle_table *angles, int64_t pair, int64_t position) {
  return (words){angle_at(angles->turn_high[pair], angles->turn_low[pair], position),
                 angle_at(angles->turn_high[pair + 1], angles->turn_low[pair + 1], position)};
}

INLINE vector zip_low(vector a, vector b) {
  return (vector){a[0], b[0]};
}

INLINE vector zip_high(vector a, vector b) {
  return (vector){a[1], b[1]};
}

/* The highest bit of a word says it: only 0 less 1 has it set. */
typedef words doubt;

INLINE doubt no_doubt(void) {
  return (words){0};
}

INLINE bool is_doubt(posenc_dtype dtype, doubt any) {
  (void)dtype;
  return (any[0] | any[1]) >> 63;
}

/* From the doubles, whatever the format. */
INLINE doubt store_pair(posenc_dtype dtype, bool streamed, void *place, vector a, vector b, doubt so_far) {
  (void)streamed;
  for (int i = 0; i < LANES; i++) {
    round_to(dtype, place, i, a[i]);
    round_to(dtype, place, LANES + i, b[i]);
  }
  const uint64_t bits = cr_doubt_bits(dtype);
  return so_far | (((words)on_grid(a, CR_GRID) & bits) - 1) | (((words)on_grid(b, CR_GRID) & bits) - 1);
}

#include "impls/cr/template.h"

const posenc_kernel posenc_kernel_cr_portable = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_GENERIC,
    .name = "cr-portable",
    .summary = "correctly rounded; portable C",
    .algorithm = "From anchors every 32 positions, one in eight found from its angle, each column is walked by its "
                 "three-term recurrence in double; "
                 "an element that "
                 "this leaves within 2^-44 of the middle between two numbers of the format is computed again in "
                 "128-bit fixed point.",
    .provenance =
        "three-term recurrence of the multiple angle (Chebyshev); rounding test after Ziv, ACM TOMS 17(3), 1991; "
        "this combination: posenc, 2026",
    .bound = CR_BOUND,
    .basis = CR_BASIS,
    .reproducible = true,
    .scales = true,
    .can_do = cr_can_do,
    .prepare = cr_prepare,
    .execute = execute,
    .stages = tell_stages,
    .release = cr_release,
};
