/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/cr/cr.h"
#include "lib/api/kernel.h"

#ifdef HAVE_SVE
#include "lib/simd/sve.h"

/* Anchors, f64, single rows and tables with an attention factor are computed in NEON's vectors, as cr-neon does. Other
   rows of a tile are computed in SVE's, by the same operations for each element: in VECTORS of as many columns as the
   vectors of this processor hold, or in half as many. STREAM_VECTORS: TILE, the most columns of a tile, is what eight
   vectors of 512 bits hold, or four of 1024. Where vectors have more room than that, some have no columns. */
enum { VECTORS = 8, STREAM_VECTORS = 32, STREAMS = false, SHIFT_FROM = 0, SUM_VECTORS = 4 };
#include "impls/cr/tiles.h"

/* SVE's types can be in no array and no struct. So the vectors of a tile are variables, and an array has their
   addresses, which the compiler removes when it has unrolled the loops over vectors. */
#define TILE_OF(type, name)                                                                                            \
  type name##0, name##1, name##2, name##3, name##4, name##5, name##6,                                                  \
      name##7, *const name[] = {&name##0, &name##1, &name##2, &name##3, &name##4, &name##5, &name##6, &name##7}

/* Returns the f16 in the low bits of each lane, rounded once. As in rounding.h, only a double that equals a midpoint is
   rounded away from zero: with its lowest bit set, it is above the midpoint. */
INLINE svuint32_t lanes_of_f16(svfloat64_t x) {
  const svbool_t all = svptrue_b64();
  return svreinterpret_u32(svcvt_f16_x(all, svreinterpret_f64(svorr_x(all, svreinterpret_u64(x), 1))));
}

/* Returns the bf16 of two vectors, rounded once. The upper word of a double has 13 bits of the mantissa more than a
   bf16. Half a unit of the bits that are kept is added, which also rounds a midpoint away from zero. For |x| from
   2^-126 to 2, the exponent of bf16 is 0 and the seven low bits of the double's; those of 0 are zero, too. A smaller
   |x|, wrong by CR_ERROR, is uncertain, or a certificate lists the element. */
INLINE svuint32_t words_of_bf16(svfloat64_t a, svfloat64_t b) {
  const svbool_t all = svptrue_b32();
  const svuint32_t upper = svadd_x(all, svuzp2(svreinterpret_u32(a), svreinterpret_u32(b)), 0x1000);
  const svuint32_t size = svand_x(all, svlsr_x(all, upper, 13), 0x3fff);
  return svorr_m(svcmplt(all, svreinterpret_s32(upper), 0), size, 0x8000);
}

/* Stores the first columns of two vectors, those that are `in` the row. */
INLINE void store_two(posenc_dtype dtype, svbool_t in, void *to, svfloat64_t a, svfloat64_t b) {
  const svbool_t all = svptrue_b64();
  if (dtype == POSENC_F32)
    svst1(in, (float *)to, svuzp1(svcvt_f32_x(all, a), svcvt_f32_x(all, b)));
  else if (dtype == POSENC_F16)
    svst1h(in, (uint16_t *)to, svuzp1(lanes_of_f16(a), lanes_of_f16(b)));
  else
    svst1h(in, (uint16_t *)to, words_of_bf16(a, b));
}

/* Returns `so_far`, or the low bits of a vector's columns where these are smaller. They are 0 if the rounding is
   uncertain (cr.h). */
INLINE svuint64_t least_bits(posenc_dtype dtype, svuint64_t so_far, svbool_t in, svfloat64_t x) {
  const svbool_t all = svptrue_b64();
  const svfloat64_t rounded = svsub_x(all, svadd_x(all, x, CR_GRID), CR_GRID);
  return svmin_m(in, so_far, svand_x(all, svreinterpret_u64(rounded), cr_midpoint_bits(dtype)));
}

/* Stores a row of a tile of `count` columns; one that has an uncertain rounding is found. */
INLINE void store_vectors(variant as, int64_t count, char *out, int row, svfloat64_t *const *x, uncertain_rows *found) {
  const int64_t lanes = (int64_t)svcntd();
  svuint64_t least = svdup_u64(UINT64_MAX);
  UNROLL(8)
  for (int v = 0; v < as.vectors; v += 2) {
    store_two(as.dtype, svwhilelt_b32(v * lanes, count), out + v * lanes * bytes_of(as), *x[v], *x[v + 1]);
    if (as.certified) continue;
    least = least_bits(as.dtype, least, svwhilelt_b64(v * lanes, count), *x[v]);
    least = least_bits(as.dtype, least, svwhilelt_b64((v + 1) * lanes, count), *x[v + 1]);
  }
  const svbool_t all = svptrue_b64();
  if (as.certified || __builtin_expect(!svptest_any(all, svcmpeq(all, least, 0)), 1)) return;
  UNROLL(8)
  for (int v = 0; v < as.vectors; v++)
    svst1(svwhilelt_b64(v * lanes, count), found->columns[found->count] + v * lanes, *x[v]);
  found->rows[found->count++] = row;
}

/* As `advance` of tiles.h, in one operation. */
INLINE void advance_vectors(variant as, svfloat64_t *const *before, svfloat64_t *const *now,
                            svfloat64_t *const *twice_cosine) {
  UNROLL(8)
  for (int v = 0; v < as.vectors; v++) *before[v] = svnmls_x(svptrue_b64(), *before[v], *twice_cosine[v], *now[v]);
}

/* As run_recurrence of tiles.h. */
INLINE void run_vectors(variant as, destination to, column_span from, bool back, uncertain_rows *found) {
  const rotation_block at = to.at;
  const int first = back ? -1 : 0, way = back ? -1 : 1, rows = rows_to_run(at, back);
  TILE_OF(svfloat64_t, twice_cosine);
  TILE_OF(svfloat64_t, now);
  TILE_OF(svfloat64_t, before);
  UNROLL(8)
  for (int v = 0; v < as.vectors; v++) {
    const int64_t i = v * (int64_t)svcntd();
    const svbool_t in = svwhilelt_b64(i, from.count);
    *twice_cosine[v] = svld1(in, from.twice_cosine + i);
    *now[v] = svld1(in, (back ? from.before : from.now) + i);
    *before[v] = svld1(in, (back ? from.now : from.before) + i);
  }
  char *out = to.out + from.column * bytes_of(as) + (first - at.from) * to.row_bytes;
  for (int n = 0; n < rows; n += 2) {
    const int row = first + way * n, next = row + way;
    if (row >= at.from && row < at.to) store_vectors(as, from.count, out, row, now, found);
    advance_vectors(as, before, now, twice_cosine);
    out += way * to.row_bytes;
    if (n + 1 < rows && next >= at.from && next < at.to) store_vectors(as, from.count, out, next, before, found);
    advance_vectors(as, now, before, twice_cosine);
    out += way * to.row_bytes;
  }
}

INLINE void tile_of_vectors(variant as, destination to, column_span from) {
  uncertain_rows found;
  found.count = 0;
  run_vectors(as, to, from, false, &found);
  run_vectors(as, to, from, true, &found);
  if (found.count) recompute_uncertain(to, from, &found);
}

/* Like `tiles` of tiles.h, but leaves no columns. Few columns are computed in half as many vectors, and predicates
   cut off the rest. */
INLINE void tiles_of_vectors(variant as, const destination *to, column_span from) {
  variant half = as;
  half.vectors = VECTORS / 2;
  const int64_t most = VECTORS * (int64_t)svcntd(), width = most < TILE ? most : TILE;
  while (from.count > 0) {
    const column_span part = split_columns(&from, from.count < width ? from.count : width);
    if (part.count > most / 2)
      tile_of_vectors(as, *to, part);
    else
      tile_of_vectors(half, *to, part);
  }
}

#define TILES tiles_of_vectors
#include "impls/cr/template.h"
#endif

const posenc_kernel posenc_kernel_cr_sve = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_SVE,
    .name = "cr-sve",
    .summary = "correctly rounded, with AArch64's SVE of any length",
    .algorithm = "As cr-portable, 8 vectors of columns in registers, fused; f64 and anchors with NEON.",
    .provenance = "as cr-portable; posenc, 2026",
    CR_CONTRACT,
#ifdef HAVE_SVE
    CR_FUNCTIONS(execute, write_stages),
#else
    .absent = KERNEL_LEFT_OUT,
#endif
};
