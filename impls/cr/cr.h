/* SPDX-License-Identifier: MIT */
/*
 * The common part of the correctly rounded kernels of all instruction sets. Each computes every element in
 * double, within CR_ERROR of the exact value, and asks cr_element for those few whose rounding that distance leaves in
 * doubt. A correctly rounded value is unique, so all of them give the same bits.
 *
 * The fast path. Blocks of 32 rows as in rotation.h, an anchor in the middle. Every column of the table is a sine of
 * its own phase, and three rows of it in a line obey x(n+1) = 2 cos w x(n) - x(n-1) (Chebyshev): one multiplication and
 * one subtraction for an element. From the anchor and the row before it, which is the anchor turned back by the step,
 * it is walked 15 rows forward and 15 more back. One anchor in eight is found from its angle (angle.h); the others are
 * leaps, the last block's turned by the angle of 32 positions.
 *
 * CR_ERROR, unit u = 2^-53. The exact recurrence carries an error e in x(1) to e U(n-1) in x(n), |U(n-1)| <= n <= 16,
 * and what is wrong with the anchor as a point of the circle stays as large as it is. Then:
 *   the anchor: 4 (angle.h); a leap, 4, two products and a sum, 2.5:                     4 + 7 × 6.5 = 49.5
 *   the neighbour: the step, 4, two products and a sum, 2.5:                              16 × 6.5 = 104
 *   each of 15 steps: the product at most 1, the sum at most 0.5 (fused: 0.5 in all),
 *     carried on over 15, 14 … 1 rows:                                                   120 × 1.5 = 180
 *   2 cos w, the double nearest to it: at most 1, times |x| <= 1, at the same steps:       120 × 1 = 120
 * In all 49.5 + 104 + 180 + 120 = 453.5 u < 2^-44 = 512 u; second-order terms are below 1 u.
 *
 * Nothing in this depends on where anchors stand. Where vectors reach from one row into the next (template.h), the
 * columns of the next row have theirs one position farther.
 *
 * That is for |x| <= 1. By its error x may pass 1, where the exact one is within 2^-21.5 radians of the top, and a
 * sum then costs 1. For w >= 2^-21 that is one row in three at most, or two in succession: 23 u more. For a smaller w
 * it may be every row, and a product of 2 or more costs 2. But then the sines of the step and of 32 positions, below
 * 2^-16, are all but exact and their cosines within 0.5, so that a leap and the neighbour cost 0.5 + 2.5 instead of
 * 6.5: 4 + 7 × 3 = 25 and 16 × 3 = 48. A step costs 3 at most, and the next one then 2: what it subtracts is above 1,
 * a multiple of 2 u as the product is, so that the difference is exact. From the anchor on that is 3 × 15 + 2 × 14 +
 * 3 × 13 … = 304 instead of 180. In all 25 + 48 + 304 + 120 = 497 u.
 *
 * In doubt is an element within CR_ERROR of the middle between two numbers of the table's format. Such a middle has one
 * significant bit more than the format. Rounded to a multiple of 2^-43 = 2 CR_ERROR, which takes an addition and a
 * subtraction, a doubtful x becomes that very middle, whatever its size: the low bits of its mantissa are zero. So are
 * those of other numbers that are as short, some of them numbers of the format: they are asked for in vain. Of a wave
 * of f32 one element in 2^16 or so is in doubt.
 *
 * A format of 16 bits is made from x rounded to f32, and there doubt needs no additions. A middle m of the format is a
 * number of f32, so that rounding keeps x on its side of m or takes it to m itself. In the first case x was half an ulp
 * of f32 away or more, above CR_ERROR for |x| >= 2^-19, and so the second rounding decides as the exact value would.
 * Left are f32 that are a middle, one in 2^16 for bf16 and in 2^13 for f16, and those below cr_least_f32; for f16 that
 * is its smallest normal number, as below it the middles have other bits. They are made from the double, or, where that
 * is in doubt, by cr_element.
 *
 * With an attention factor the interval of x ± CR_ERROR is multiplied, and an element is in doubt if the two ends are
 * not rounded to the same number. f64 has a fast path of its own (sums.h).
 *
 * cr_element computes an element within 2^-122 (wide.h). If a middle is within 2^-121 of that, it computes it once more
 * with 256 bits, within the frequency's error times the position (wider.h): that is one element of f64 in 2^60, and of
 * sines near 2^-40 one in 2^27. An exact value that is nearer still might be rounded to the wrong side. No proof is
 * known that excludes it for every base and dim. The values of one table of 2^40 positions and 4096 columns come, as
 * numbers without a pattern do, no nearer than some 2^-77 to a middle of f32. The nearest that a scan of 2^32 elements
 * has found are in reference/worst/. Values with a pattern are sines of an angle x that is a middle itself, and lie
 * x³/6 from it: with a frequency of 2^-40, the least, 2^-98 in bf16, of x = 257 × 2^-40; of fractional positions, which
 * may be 2^-38, 2^-117 (cr.c). With an attention factor A it is A x that is a middle: 2^-133 was found, which 256 bits
 * decide.
 */
#ifndef POSENC_IMPLS_CR_CR_H
#define POSENC_IMPLS_CR_CR_H

#include "impls/cr/certificate.h"
#include "impls/rotation/rotation.h"
#include "lib/exact/angle.h"
#include "lib/exact/round.h"

#define CR_ERROR_BITS 44
#define CR_ERROR CR_POWER(CR_ERROR_BITS)
/* x + CR_GRID - CR_GRID is x rounded to a multiple of 2^-43, 2 CR_ERROR, |x| < 2. */
#define CR_GRID 0x1.8p9
/* 2^-bits */
#define CR_POWER(bits) CR_POWER_OF(bits)
#define CR_POWER_OF(bits) 0x1p-##bits

#define CR_BOUND                                                                                                       \
  { .ulp = 0.5, .abs = 0.0, .growth = 0.0, .max_position = ANGLE_MAX_POSITION, .derived = true }
#define CR_BASIS                                                                                                       \
  "derived in impls/cr/cr.h: within 2^-44 in double, 2^-69 for f64; what is in doubt, or certificates list, within "   \
  "2^-122"

/* Fields that all contracts of the family share, the threaded kernel's included. */
#define CR_PROMISE                                                                                                     \
  .abi = POSENC_KERNEL_ABI, .bound = CR_BOUND, .reproducible = true, .scales = true, .attends = true,                  \
  .can_do = cr_can_do
#define CR_CONTRACT CR_PROMISE, .basis = CR_BASIS, .prepare = cr_prepare, .release = cr_release

/* Rows of a block. The first of eight successive anchors is computed from its angle, the other seven are advanced from
   it. Runs begin at absolute multiples of 256, so that position 0 is exact. */
enum { CR_BLOCK = 32, CR_ADVANCES = 7 };
static inline int64_t cr_exact_anchor(int64_t center) {
  return (int64_t)((uint64_t)center & ~(uint64_t)((CR_ADVANCES + 1) * CR_BLOCK - 1));
}

/* The sums above, in halves of u: anchor, leaps, neighbour, and for each row walked 1.5 of the step and 1 of 2 cos w,
   with 23 for values that pass 1; and of w below 2^-21, where a step costs 3 and 2 in turns, and a factor 2 more. */
enum {
  CR_HALF = CR_BLOCK / 2,
  CR_CARRIED = (CR_HALF - 1) * CR_HALF / 2, /* 15 + 14 + … + 1 */
  CR_SUM = 2 * 4 + 13 * CR_ADVANCES + 13 * CR_HALF + 3 * CR_CARRIED + 2 * CR_CARRIED + 2 * 23,
  CR_SLOW_SUM = 2 * 4 + 6 * CR_ADVANCES + 6 * CR_HALF + (4 * CR_CARRIED + CR_HALF * CR_HALF / 2) + 2 * CR_CARRIED + 4,
  CR_MOST = 2 << (53 - CR_ERROR_BITS)
};
_Static_assert(CR_SUM < CR_MOST && CR_SLOW_SUM < CR_MOST, "CR_ERROR is above what the fast path adds up to");

enum { CR_NEXT_PAIRS = 32 };

/* Constants of sums.h: arrays have one entry per frequency, those of twice_cosine one per column of an interleaved
   table. */
typedef struct cr_sums {
  double *step_sin, *step_sin_low, *step_cos, *step_cos_low;     /* of one position */
  double *block_sin, *block_sin_low, *block_cos, *block_cos_low; /* of a block, 32 positions */
  double *twice_cosine, *twice_head, *twice_tail; /* of one position: rounded; a multiple of 2^-25, and the rest */
} cr_sums;

/* Constants of a plan. With in_sums there are angles, factor and sums. Other arrays have one entry per frequency, and
   then the first ones again, CR_NEXT_PAIRS or more. */
typedef struct cr_table {
  int64_t pairs;
  angle_table *angles;
  bool in_sums;   /* made by sums.h */
  bool is_scaled; /* by an attention factor */
  angle_factor exact_factor;
  posenc_sum factor; /* the same */
  /* Of an element's product with the factor: 497 u for the element, 1 for the factor, 1 for the product, each times
     2^exponent, which is above the factor. That is less than CR_ERROR, 512 u, times 2^exponent. */
  double scaled_error;
  double *memory; /* of all that follows */
  cr_sums sums;
  double *twice_cosine;          /* of one position, rounded to nearest; in an interleaved table one for each column */
  double *block_sin, *block_cos; /* angle_sincos of a block, 32 positions */
  certificate certificate;
} cr_table;

posenc_status cr_prepare(const posenc_problem *problem, const posenc_options *options, void **table);
void cr_release(void *table);
const char *cr_can_do(const posenc_problem *problem);

/* Bits of a significand of the table's format, the hidden one included. */
static inline int cr_precision(posenc_dtype dtype) {
  return dtype == POSENC_F64   ? 53
         : dtype == POSENC_F32 ? 24
         : dtype == POSENC_F16 ? ROUND_F16_PRECISION
                               : ROUND_BF16_PRECISION;
}

/* The low bits of the mantissa of a double that are zero in a midpoint of the format and in every number with as few
   significant bits: 52 less the precision. */
static inline uint64_t cr_midpoint_bits(posenc_dtype dtype) {
  return (UINT64_C(1) << (52 - cr_precision(dtype))) - 1;
}

/* Whether the element is within CR_ERROR of a midpoint of the format, or has as few significant bits. */
static inline bool cr_is_uncertain(double x, uint64_t midpoint_bits) {
  return (round_bits_of((x + CR_GRID) - CR_GRID) & midpoint_bits) == 0;
}

/* The lowest bits of an f32 that is a midpoint of a format of 16 bits. */
static inline uint32_t cr_midpoint_in_f32(posenc_dtype dtype) {
  return UINT32_C(1) << (23 - cr_precision(dtype));
}

/* The encoding of the f32 from which on they tell: 2^-14, 2^-19. */
static inline uint32_t cr_least_f32(posenc_dtype dtype) {
  return (uint32_t)(127 - (dtype == POSENC_F16 ? 14 : 19)) << 23;
}

/* Whether rounding x to a format of 16 bits by way of f32 is uncertain. */
static inline bool cr_needs_double(double x, posenc_dtype dtype) {
  const uint32_t middle = cr_midpoint_in_f32(dtype), bits = round_float_bits_of((float)x);
  return (bits & (2 * middle - 1)) == middle || (bits & 0x7fffffff) < cr_least_f32(dtype);
}

/* The stages of a pair whose sine and cosine the fast path has as these, at row `from` of a block. */
posenc_stages cr_stages(const cr_table *table, const posenc_problem *problem, rotation_block at, int64_t index,
                        double sine, double cosine);

/* The stages of whole rows of a table in_sums, as cr_value computes them. */
bool cr_exact_stages(const cr_table *table, const posenc_problem *problem, int64_t row, int64_t rows,
                     posenc_stages *stages);

/* The sine or cosine of a pair, times the attention factor, correctly rounded to the format. */
double cr_value(const cr_table *table, posenc_dtype dtype, int64_t position, int64_t index, bool cosine);

/* A digest of all constants of a plan that decide what the fast path computes. */
uint64_t cr_digest(const cr_table *table, const posenc_problem *problem);

/* Computes again what the certificate lists of rows that were made without the rounding test. */
void cr_correct(const cr_table *table, const posenc_problem *problem, int64_t row, int64_t rows, char *out);

/* Writes one element of the row at `row`, correctly rounded. */
void cr_element(const cr_table *table, const posenc_problem *problem, int64_t position, int64_t column, void *row);

#endif
