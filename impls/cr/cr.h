/* SPDX-License-Identifier: MIT */
/*
 * The common part of the correctly rounded kernels of all instruction sets. Each kernel computes every element in
 * double, within CR_ERROR of the exact value, and lets cr_element recompute the few elements whose rounding is then
 * uncertain. A correctly rounded value is unique, so all kernels give the same bits.
 *
 * The fast path. Blocks of 32 rows have an anchor in the middle, as in rotation.h. Every column of the table is a sine
 * with a phase of its own, and three successive rows satisfy x(n+1) = 2 cos w x(n) - x(n-1) (Chebyshev): one
 * multiplication and one subtraction per element. The recurrence starts from the anchor and the row before it, which is
 * the anchor rotated back by one position, and makes 15 rows forward and 15 rows back. One anchor in eight is computed
 * from its angle (angle.h); the others are advances: the anchor of the block before, rotated by the angle of 32
 * positions.
 *
 * CR_ERROR, in units u = 2^-53. The exact recurrence carries an error e of x(1) to e U(n-1) in x(n), with |U(n-1)| <= n
 * <= 16, and an error of the anchor as a point of the circle keeps its size. The errors are:
 *   the anchor: 4 (angle.h); in each advance, 4 of the angle, 2.5 of two products and a sum:  4 + 7 × 6.5 = 49.5
 *   the row before the anchor: 4 of the step, 2.5 of two products and a sum:                     16 × 6.5 = 104
 *   each of 15 steps: at most 1 of the product, at most 0.5 of the sum (fused: 0.5 in all),
 *     carried on over 15, 14 … 1 rows:                                                          120 × 1.5 = 180
 *   2 cos w, rounded to nearest: at most 1, times |x| <= 1, in the same steps:                    120 × 1 = 120
 * In all 49.5 + 104 + 180 + 120 = 453.5 u < 2^-44 = 512 u; second-order terms are below 1 u.
 *
 * The bound does not depend on the positions of the anchors. Where vectors extend from one row into the next
 * (template.h), the anchors of the next row's columns are one position farther on.
 *
 * This holds for |x| <= 1. With its error, x may exceed 1 where the exact value is within 2^-21.5 radians of an
 * extremum, and then the error of a sum is up to 1. For w >= 2^-21 this concerns at most one row in three, or two
 * successive rows: 23 u more. For a smaller w it may concern every row, and the error of a product of 2 or more is up
 * to 2. But then the sines of the step and of 32 positions, below 2^-16, are almost exact, and their cosines within
 * 0.5, so that an advance and the row before the anchor add 0.5 + 2.5 instead of 6.5: 4 + 7 × 3 = 25 and 16 × 3 = 48. A
 * step adds at most 3, and the step after it at most 2: it subtracts a number above 1, which is a multiple of 2 u as
 * the product is, so the difference is exact. From the anchor on this is 3 × 15 + 2 × 14 + 3 × 13 … = 304 instead of
 * 180. In all 25 + 48 + 304 + 120 = 497 u.
 *
 * The rounding test. An element is uncertain if it is within CR_ERROR of a midpoint of the table's format. A midpoint
 * has one significant bit more than the format. An addition and a subtraction round x to a multiple of 2^-43 = 2
 * CR_ERROR. An uncertain x of any size becomes the midpoint itself: the low bits of its mantissa are zero. They are
 * also zero in other numbers with as few significant bits, some of them numbers of the format, which are recomputed
 * without need. About one element in 2^16 of a wave in f32 is recomputed.
 *
 * An element of 16 bits is made from x rounded to f32, and there the test needs no additions. A midpoint m of the
 * format is a number of f32, so rounding to f32 keeps x on its side of m or gives m itself. In the first case x was
 * half an ulp of f32 or more from m, which is above CR_ERROR for |x| >= 2^-19, so the second rounding decides as the
 * exact value would. The other cases are f32 numbers that are midpoints, one in 2^16 for bf16 and one in 2^13 for f16,
 * and those below cr_least_f32; for f16 this is its smallest normal number, since below it midpoints have other bits.
 * In these cases the double is rounded or, if that is uncertain, cr_element is used.
 *
 * With an attention factor, the interval x ± CR_ERROR is multiplied by it, and an element is uncertain if the two ends
 * round to different numbers. f64 has a fast path of its own (sums.h).
 *
 * cr_element computes an element within 2^-122 (wide.c). If a midpoint is within 2^-121 of the result, it recomputes
 * the element with 256 bits, within the frequency's error times the position (wide.c): this happens for one element of
 * f64 in 2^60, and for one sine near 2^-40 in 2^27. An exact value even nearer to a midpoint might be misrounded. No
 * proof is known that excludes this for every base and dim. In a table of 2^40 positions and 4096 columns, values that
 * behave like random numbers come no nearer to a midpoint of f32 than about 2^-77. The nearest ones that a scan of 2^32
 * elements found are in reference/worst/. Values that do not behave so are sines of an angle x that is a midpoint
 * itself; they are x³/6 from it. With the least frequency, 2^-40, this is 2^-98 in bf16, for x = 257 × 2^-40; with
 * fractional positions, whose angles may be 2^-38, it is 2^-117 (cr.c). With an attention factor A, A x is the
 * midpoint: 2^-133 was found, which 256 bits decide.
 */
#ifndef POSENC_IMPLS_CR_CR_H
#define POSENC_IMPLS_CR_CR_H

#include "impls/rotation/rotation.h"
#include "lib/api/kernel.h"
#include "lib/exact/angle.h"
#include "lib/exact/round.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- certificates ---------------------------------------------------------------------------------- */

/*
 * The fast path misrounds about one element in 10^7; with a fused multiply-add it has the same bits on every processor.
 * For the tables of families.def, from position 0 to CERTIFIED_POSITIONS, tools/certify.c computes every element with
 * the rounding test and without it, and lists those that differ. A kernel makes such a table without the test, and
 * recomputes the listed elements.
 */
enum { CERTIFIED_POSITIONS = 1 << 20, CERTIFIED_PAIRS = 1 << 11 };

/* The elements of a table that the fast path misrounds, sorted; null if the table has no certificate. */
typedef struct certificate {
  const uint32_t *misrounded;
  int64_t count;
} certificate;

/* Packs a position, a frequency index, and whether the element is the cosine. */
static inline uint32_t certificate_entry(int64_t position, int64_t index, bool cosine) {
  return (uint32_t)(position << 12 | index << 1 | cosine);
}
static inline int64_t certificate_position(uint32_t entry) {
  return entry >> 12;
}
static inline int64_t certificate_index(uint32_t entry) {
  return (entry >> 1) & (CERTIFIED_PAIRS - 1);
}
static inline bool certificate_cosine(uint32_t entry) {
  return entry & 1;
}

/* Returns the certificate of a plan whose constants have this digest (cr_digest); static storage. */
certificate certificate_find(uint64_t digest);

/* ---- the fast path ----------------------------------------------------------------------------------- */

#define CR_ERROR_BITS 44
#define CR_ERROR CR_POWER(CR_ERROR_BITS)
/* x + CR_GRID - CR_GRID is x rounded to a multiple of 2^-43 = 2 CR_ERROR, for |x| < 2. */
#define CR_GRID 0x1.8p9
/* The number 2^-bits as a literal. */
#define CR_POWER(bits) CR_POWER_OF(bits)
#define CR_POWER_OF(bits) 0x1p-##bits

#define CR_BOUND                                                                                                       \
  { .ulp = 0.5, .abs = 0.0, .growth = 0.0, .max_position = ANGLE_MAX_POSITION, .derived = true }
#define CR_BASIS                                                                                                       \
  "derived in impls/cr/cr.h: within 2^-44 in double, 2^-69 for f64; what is uncertain, or certificates list, within "  \
  "2^-122"

/* Fields that the contracts of the family share; and the functions of a kernel, two of which are its own. */
#define CR_CONTRACT .bound = CR_BOUND, .basis = CR_BASIS, .reproducible = true, .scales = true, .attends = true
#define CR_FUNCTIONS(executes, finds_stages)                                                                           \
  .can_do = cr_can_do, .prepare = cr_prepare, .execute = executes, .release = cr_release, .stages = finds_stages

/* The rows of a block, and the successive anchors that are advanced from an anchor computed from its angle. Such an
   anchor is at every multiple of 256 positions, so position 0 is exact. */
enum { CR_ADVANCES = 7 };
static inline int64_t cr_exact_anchor(int64_t center) {
  return (int64_t)((uint64_t)center & ~(uint64_t)((CR_ADVANCES + 1) * KERNEL_BLOCK - 1));
}

/* The sums above, in halves of u: the anchor, the advances, the row before the anchor, and for each step 1.5 of its
   roundings and 1 of 2 cos w, with 23 for values above 1. In CR_SLOW_SUM, for w below 2^-21, a step has 3 and 2 in
   turn. */
enum {
  CR_HALF = KERNEL_BLOCK / 2,
  CR_CARRIED = (CR_HALF - 1) * CR_HALF / 2, /* 15 + 14 + … + 1 */
  CR_SUM = 2 * 4 + 13 * CR_ADVANCES + 13 * CR_HALF + 3 * CR_CARRIED + 2 * CR_CARRIED + 2 * 23,
  CR_SLOW_SUM = 2 * 4 + 6 * CR_ADVANCES + 6 * CR_HALF + (4 * CR_CARRIED + CR_HALF * CR_HALF / 2) + 2 * CR_CARRIED + 4,
  CR_MOST = 2 << (53 - CR_ERROR_BITS)
};
_Static_assert(CR_SUM < CR_MOST && CR_SLOW_SUM < CR_MOST, "CR_ERROR is above what the fast path adds up to");

enum { CR_NEXT_PAIRS = 32 };

/* Constants of sums.h. Arrays have one entry per frequency; those of twice_cosine, in interleaved tables, one per
   column. */
typedef struct cr_sums {
  double *step_sin, *step_sin_low, *step_cos, *step_cos_low;     /* of one position */
  double *block_sin, *block_sin_low, *block_cos, *block_cos_low; /* of a block, 32 positions */
  double *twice_cosine, *twice_head, *twice_tail; /* of one position; head, a multiple of 2^-25, and rest */
} cr_sums;

/* Constants of a plan. With in_sums, only angles, the factors and sums are set. Otherwise arrays have one entry per
   frequency, followed by at least CR_NEXT_PAIRS of the first entries again. */
typedef struct cr_constants {
  int64_t pairs;
  angle_constants *angles;
  bool in_sums;   /* rows are made by sums.h */
  bool is_scaled; /* the problem has an attention factor */
  angle_factor exact_factor;
  posenc_sum factor; /* exact_factor in doubles */
  /* The error of an element's product with the factor: 497 u of the element, 1 u of the factor and 1 u of the product,
     each times 2^exponent, which is above the factor. That is less than CR_ERROR, 512 u, times 2^exponent. */
  double scaled_error;
  double *memory; /* the allocation of the arrays below */
  cr_sums sums;
  double *twice_cosine;          /* of one position, rounded to nearest; one entry per column if interleaved */
  double *block_sin, *block_cos; /* angle_sincos of a block, 32 positions */
  struct certificate certificate;
} cr_constants;

posenc_status cr_prepare(const posenc_problem *problem, const posenc_options *options, void **cr);
void cr_release(void *cr);
const char *cr_can_do(const posenc_problem *problem);

/* Returns the number of bits of the format's significand, including the hidden one. */
static inline int cr_precision(posenc_dtype dtype) {
  if (dtype == POSENC_F64) return 53;
  if (dtype == POSENC_F32) return 24;
  return dtype == POSENC_F16 ? ROUND_F16_PRECISION : ROUND_BF16_PRECISION;
}

/* Returns the mask of the low bits, 52 less the precision, of a double's mantissa that are zero in a midpoint of the
   format and in every number with as few significant bits. */
static inline uint64_t cr_midpoint_bits(posenc_dtype dtype) {
  return (UINT64_C(1) << (52 - cr_precision(dtype))) - 1;
}

/* Whether x is within CR_ERROR of a midpoint of the format, or of a number with as few significant bits. */
static inline bool cr_is_uncertain(double x, uint64_t midpoint_bits) {
  return (round_bits_of((x + CR_GRID) - CR_GRID) & midpoint_bits) == 0;
}

/* Returns the lowest bits of an f32 that is a midpoint of a 16-bit format. */
static inline uint32_t cr_midpoint_in_f32(posenc_dtype dtype) {
  return UINT32_C(1) << (23 - cr_precision(dtype));
}

/* Returns the bits of the f32, 2^-14 or 2^-19, below which the test by way of f32 does not hold. */
static inline uint32_t cr_least_f32(posenc_dtype dtype) {
  return (uint32_t)(127 - (dtype == POSENC_F16 ? 14 : 19)) << 23;
}

/* Whether rounding x to a 16-bit format by way of f32 is uncertain. */
static inline bool cr_needs_double(double x, posenc_dtype dtype) {
  const uint32_t midpoint = cr_midpoint_in_f32(dtype), bits = round_float_bits_of((float)x);
  return (bits & (2 * midpoint - 1)) == midpoint || (bits & 0x7fffffff) < cr_least_f32(dtype);
}

/* Returns the stages of a pair at row `from` of a block, whose sine and cosine the fast path computed. */
posenc_stages cr_stages(const cr_constants *cr, const posenc_problem *problem, rotation_block at, int64_t index,
                        double sine, double cosine);

/* Writes the stages of whole rows of a table with in_sums, as cr_value computes them. */
bool cr_exact_stages(const cr_constants *cr, const posenc_problem *problem, int64_t row, int64_t rows,
                     posenc_stages *stages);

/* Returns the sine or cosine of a pair, times the attention factor, correctly rounded to the format. */
double cr_value(const cr_constants *cr, posenc_dtype dtype, int64_t position, int64_t index, bool cosine);

/* Returns a digest of all constants of a plan that the results of the fast path depend on. */
uint64_t cr_digest(const cr_constants *cr, const posenc_problem *problem);

/* Recomputes the elements that the certificate lists, in rows that were made without the rounding test. */
void cr_correct(const cr_constants *cr, const posenc_problem *problem, int64_t row, int64_t rows, char *out);

/* Writes one correctly rounded element into the row at `row`. */
void cr_element(const cr_constants *cr, const posenc_problem *problem, int64_t position, int64_t column, void *row);

#endif
