/* SPDX-License-Identifier: MIT */
#include "reference/encodings.h"

#include <math.h>

static exact exact_of(const mpfr_t x, posenc_dtype dtype) {
  const format *f = format_of(dtype);
  const int exponent = f == &format_f16 ? 16 : f == &format_f64 ? 1024 : 128; /* numbers are below 2^exponent */
  exact value;
  mpfr_t part;
  mpfr_init2(part, mpfr_get_prec(x) > 64 ? mpfr_get_prec(x) : 64);
  value.high = mpfr_get_d(x, MPFR_RNDN);
  mpfr_sub_d(part, x, value.high, MPFR_RNDN);
  value.low = mpfr_get_d(part, MPFR_RNDN);
  /* From 2^exponent less half an ulp on, values round to infinity: the midpoint rounds up, as 2^exponent would be
     even. */
  mpfr_set_sj_2exp(part, (INT64_C(1) << (f->precision == 53 ? 54 : f->precision + 1)) - 1, exponent - f->precision - 1,
                   MPFR_RNDN);
  value.rounded = mpfr_cmpabs(x, part) < 0 ? format_round(f, x) : mpfr_sgn(x) < 0 ? -INFINITY : INFINITY;
  mpfr_clear(part);
  return value;
}

exact encodings_integer(int64_t position, int64_t column, posenc_dtype dtype) {
  mpfr_t x;
  (void)column;
  mpfr_init2(x, 64);
  mpfr_set_sj(x, position, MPFR_RNDN);
  const exact value = exact_of(x, dtype);
  mpfr_clear(x);
  return value;
}

exact encodings_binary(int64_t position, int64_t column, posenc_dtype dtype) {
  (void)dtype;
  for (; column > 0 && position > 0; column--) position /= 2;
  const double bit = position % 2 ? 1.0 : 0.0;
  return (exact){bit, 0.0, bit};
}

exact encodings_sum(double element, double x, posenc_dtype dtype) {
  enum { PRECISION = 2200 }; /* covers bits from 2^-1074 to 2^1024 */
  mpfr_t sum;
  mpfr_init2(sum, PRECISION);
  mpfr_set_d(sum, element, MPFR_RNDN);
  mpfr_add_d(sum, sum, x, MPFR_RNDN);
  const exact value = exact_of(sum, dtype);
  mpfr_clear(sum);
  return value;
}

exact encodings_product(double x, double scale, posenc_dtype dtype) {
  mpfr_t product;
  mpfr_init2(product, 64);
  mpfr_set_d(product, x, MPFR_RNDN);
  mpfr_mul_d(product, product, scale, MPFR_RNDN);
  const exact value = exact_of(product, dtype);
  mpfr_clear(product);
  return value;
}

/* ---- ALiBi -------------------------------------------------------------------------------------- */

/* Computes a slope like get_slopes of the authors' code: for a power of two n, the slopes are 2^(-8/n), its square, its
   third power … */
void encodings_slope(int64_t heads, int64_t head, mpfr_t slope) {
  int64_t closest = 1;
  while (closest <= heads / 2) closest *= 2;
  if (closest == heads) {
    mpfr_set_si(slope, (long)(-8 * (head + 1)), MPFR_RNDN);
    mpfr_div_ui(slope, slope, (unsigned long)heads, MPFR_RNDN);
    mpfr_exp2(slope, slope, MPFR_RNDN);
  } else if (head < closest) {
    encodings_slope(closest, head, slope);
  } else {
    encodings_slope(2 * closest, 2 * (head - closest), slope); /* get_slopes(2 closest)[0::2] */
  }
}

exact encodings_alibi(const mpfr_t slope, int64_t distance, posenc_dtype dtype) {
  mpfr_t bias;
  mpfr_init2(bias, ENCODINGS_PRECISION);
  mpfr_set_sj(bias, distance, MPFR_RNDN);
  mpfr_mul(bias, bias, slope, MPFR_RNDN);
  if (distance > 0) mpfr_neg(bias, bias, MPFR_RNDN);
  const exact value = exact_of(bias, dtype);
  mpfr_clear(bias);
  return value;
}

/* ---- dropout ------------------------------------------------------------------------------------ */

/* Philox4x32-10: Salmon et al., 2011, section 3.3 and its figure; constants of Random123. */
void encodings_philox(uint32_t counter[4], const uint32_t key[2]) {
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    const uint64_t left = UINT64_C(0xd2511f53) * counter[0], right = UINT64_C(0xcd9e8d57) * counter[2];
    const uint32_t next[4] = {(uint32_t)(right >> 32) ^ counter[1] ^ k0, (uint32_t)right,
                              (uint32_t)(left >> 32) ^ counter[3] ^ k1, (uint32_t)left};
    memcpy(counter, next, sizeof next);
    k0 += UINT32_C(0x9e3779b9); /* the golden ratio */
    k1 += UINT32_C(0xbb67ae85); /* √3 - 1 */
  }
}

/* Computes q = first + (last - first) * (column / (dim - 1)), with each operation rounded to double. */
static void probability(const posenc_dropout *d, int64_t column, int64_t dim, mpfr_t q) {
  mpfr_set_sj(q, column, MPFR_RNDN);
  if (dim > 1) mpfr_div_si(q, q, (long)(dim - 1), MPFR_RNDN);
  mpfr_t span;
  mpfr_init2(span, 53);
  mpfr_set_d(span, d->last, MPFR_RNDN);
  mpfr_sub_d(span, span, d->first, MPFR_RNDN);
  mpfr_mul(q, span, q, MPFR_RNDN);
  mpfr_add_d(q, q, d->first, MPFR_RNDN);
  mpfr_clear(span);
}

encodings_fate encodings_dropout(const posenc_dropout *dropout, int64_t sequence, int64_t position, int64_t column,
                                 int64_t dim) {
  const uint64_t place = (uint64_t)position;
  uint32_t counter[4] = {(uint32_t)(column / 32 * 8 + column % 8), (uint32_t)(dropout->sequence + sequence),
                         (uint32_t)(place % 0x100000000), (uint32_t)(place / 0x100000000)};
  const uint32_t key[2] = {(uint32_t)(dropout->seed % 0x100000000), (uint32_t)(dropout->seed / 0x100000000)};
  encodings_philox(counter, key);
  encodings_fate fate;
  mpfr_t q, threshold;
  mpfr_inits2(53, q, threshold, (mpfr_ptr)NULL);
  probability(dropout, column, dim, q);
  mpfr_mul_2ui(threshold, q, 32, MPFR_RNDN);
  mpfr_rint_round(threshold, threshold, MPFR_RNDN); /* halves are rounded up */
  fate.kept = mpfr_cmp_ui(threshold, counter[column / 8 % 4]) <= 0;
  mpfr_ui_sub(q, 1, q, MPFR_RNDN);
  mpfr_ui_div(q, 1, q, MPFR_RNDN);
  fate.scale = format_round(&format_f32, q);
  mpfr_clears(q, threshold, (mpfr_ptr)NULL);
  return fate;
}
