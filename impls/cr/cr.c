/* SPDX-License-Identifier: MIT */
#include "impls/cr/cr.h"

#include "lib/api/kernel.h"
#include "lib/exact/angle.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- certificates ---------------------------------------------------------------------------------------- */

/* The last entry is a sentinel, since the list may be empty. */
static const uint32_t misrounded[] = {
#include "impls/cr/misrounded.def"
    UINT32_MAX};

static const struct {
  uint64_t digest;
  int64_t count; /* entries in `misrounded`, in the order of the certificates */
} certificates[] = {
#define CERTIFICATE(digest, count) {digest, count},
#include "impls/cr/certificates.def"
#undef CERTIFICATE
};

certificate certificate_find(uint64_t digest) {
  const uint32_t *list = misrounded;
  for (size_t n = 0; n < sizeof certificates / sizeof *certificates; list += certificates[n++].count)
    if (certificates[n].digest == digest) return (certificate){list, certificates[n].count};
  return (certificate){NULL, 0};
}

/* ---- the kernels ----------------------------------------------------------------------------------------- */

/* The longest period is 2^43 positions, so no sine is so small that 2^-122 is a poor relative bound. With a scale, the
   smallest angle is limited instead, because positions may be multiples of the scale, as those of a list are. Without a
   scale, an angle x that is itself a midpoint of f32 is a multiple of 2^-40 with 25 bits, 2^-16 or more; with a scale,
   it may be as small as the least angle. The sine of x is x³/6 from that midpoint, for x = 2^-38 more than 2^-117. */
static const double largest_base = 0x1p40, least_angle = 0x1p-38;

/* Returns the smallest |position| of the table other than 0; infinity if there is none. */
static double least_position(const posenc_problem *problem) {
  const double first = (double)problem->first, last = first + (double)(problem->rows - 1);
  if (problem->rows == 0 || (first == 0.0 && last == 0.0)) return INFINITY;
  if (first > 0.0) return first;
  return last < 0.0 ? -last : 1.0;
}

/* Finds the largest and the smallest factor by which scale and scaling multiply a frequency. */
static void find_part(const posenc_problem *problem, double *most, double *least) {
  const posenc_scaling *how = &problem->scaling;
  *most = *least = problem->scale;
  switch (how->kind) {
  case POSENC_SCALING_NONE:
    break;
  case POSENC_SCALING_LINEAR: /* scale / factor for all; refused if above 1 */
    *most = problem->scale <= how->factor ? problem->scale / how->factor : INFINITY;
    *least /= how->factor;
    break;
  case POSENC_SCALING_YARN:
  case POSENC_SCALING_LLAMA3:
    *least /= how->factor;
    break;
  case POSENC_SCALING_DYNAMIC: /* the least is base'^-((dim - 2)/dim), where base' = base × growth^(dim/(dim - 2)) */
    if (how->length > (double)how->original)
      *least /= 1.0 + how->factor * (how->length - (double)how->original) / (double)how->original;
    break;
  case POSENC_SCALING_LONGROPE: { /* angles of 0 are exact, as at position 0 */
    double largest = 0.0, smallest = INFINITY;
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      if (!isinf(how->factors[i])) largest = fmax(largest, how->factors[i]);
      smallest = fmin(smallest, how->factors[i]);
    }
    *least /= largest;
    *most /= smallest;
    break;
  }
  }
}

const char *cr_can_do(const posenc_problem *problem) {
  double most, least;
  if (problem->base > largest_base) return "it needs base <= 2^40";
  find_part(problem, &most, &least);
  if (most > 1.0) return "it needs frequencies of at most 1";
  least *= fmax(1.0, least_position(problem));
  if (least < 1.0 && problem->base > least / least_angle) return "it needs angles of 2^-38 and more";
  if (problem->shift > 1.0) return "it needs shift <= 1";
  return angle_can_do(problem);
}

void cr_release(void *cr) {
  cr_constants *made = (cr_constants *)cr;
  if (made->angles) angle_release(made->angles);
  free(made->memory);
  free(made);
}

/* Copies the constants of the first pairs after the last pair. Lanes after the last pair then compute the first
   columns of the next row or, where no table needs them, elements that are rarely uncertain. */
static void pad(cr_constants *made, size_t padded, size_t copies) {
  const angle_constants *angles = made->angles;
  const size_t pairs = (size_t)made->pairs;
  for (size_t i = pairs; i < padded; i++) {
    angles->turn_high[i] = angles->turn_high[i - pairs];
    angles->turn_low[i] = angles->turn_low[i - pairs];
    angles->step_sin[i] = angles->step_sin[i - pairs];
    angles->step_cos[i] = angles->step_cos[i - pairs];
    made->block_sin[i] = made->block_sin[i - pairs];
    made->block_cos[i] = made->block_cos[i - pairs];
    for (size_t copy = 0; copy < copies; copy++)
      made->twice_cosine[copies * i + copy] = made->twice_cosine[copies * (i - pairs) + copy];
  }
}

/* Mixes a word into a digest. Each bit of the earlier words moves before the next word is added. */
static uint64_t mix(uint64_t sum, uint64_t word) {
  const uint64_t x = sum ^ word;
  return (x << 23 | x >> 41) * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t cr_digest(const cr_constants *cr, const posenc_problem *problem) {
  const angle_constants *angles = cr->angles;
  const int64_t step = posenc_layout_columns(problem->layout, problem->dim).step;
  uint64_t sums[7] = {0}, digest = (uint64_t)cr->pairs;
  for (int64_t i = 0; i < cr->pairs; i++) {
    sums[0] = mix(sums[0], angles->turn_high[i]);
    sums[1] = mix(sums[1], angles->turn_low[i]);
    sums[2] = mix(sums[2], round_bits_of(angles->step_sin[i]));
    sums[3] = mix(sums[3], round_bits_of(angles->step_cos[i]));
    sums[4] = mix(sums[4], round_bits_of(cr->twice_cosine[step * i]));
    sums[5] = mix(sums[5], round_bits_of(cr->block_sin[i]));
    sums[6] = mix(sums[6], round_bits_of(cr->block_cos[i]));
  }
  for (int n = 0; n < 7; n++) digest = mix(digest, sums[n]);
  return mix(digest, KERNEL_BLOCK << 8 | CR_ADVANCES);
}

/* Allocates `arrays` arrays of `entries` 64-bit words. Null if memory runs out. */
static double *allocate(size_t entries, size_t arrays) {
  size_t bytes;
  return __builtin_mul_overflow(entries, arrays * sizeof(double), &bytes) ? NULL : (double *)kernel_alloc(bytes);
}

static void find_sincos(const cr_constants *made, size_t index, int64_t position, posenc_sum *sine,
                        posenc_sum *cosine) {
  const u128 turn = wide_turn(made->angles, (int64_t)index, position);
  *sine = wide_sum(wide_sine(turn));
  *cosine = wide_sum(wide_cosine(turn));
}

/* Computes the constants of sums.h. Entries after the last pair are 0, whose elements are not uncertain. */
static bool prepare_sums(cr_constants *made, size_t padded, size_t copies) {
  enum { PAIR_ARRAYS = 8, COLUMN_ARRAYS = 3 };
  const size_t arrays = PAIR_ARRAYS + COLUMN_ARRAYS * copies;
  cr_sums *sums = &made->sums;
  made->memory = allocate(padded, arrays);
  if (!made->memory) return false;
  memset(made->memory, 0, padded * arrays * sizeof *made->memory);
  double **const of_pairs[PAIR_ARRAYS] = {&sums->step_sin,     &sums->step_sin_low, &sums->step_cos,
                                          &sums->step_cos_low, &sums->block_sin,    &sums->block_sin_low,
                                          &sums->block_cos,    &sums->block_cos_low};
  for (size_t n = 0; n < PAIR_ARRAYS; n++) *of_pairs[n] = made->memory + n * padded;
  sums->twice_cosine = made->memory + PAIR_ARRAYS * padded;
  sums->twice_head = sums->twice_cosine + copies * padded;
  sums->twice_tail = sums->twice_head + copies * padded;
  for (size_t i = 0; i < (size_t)made->pairs; i++) {
    posenc_sum sine, cosine;
    find_sincos(made, i, KERNEL_BLOCK, &sine, &cosine);
    sums->block_sin[i] = sine.high;
    sums->block_sin_low[i] = sine.low;
    sums->block_cos[i] = cosine.high;
    sums->block_cos_low[i] = cosine.low;
    find_sincos(made, i, 1, &sine, &cosine);
    sums->step_sin[i] = sine.high;
    sums->step_sin_low[i] = sine.low;
    sums->step_cos[i] = cosine.high;
    sums->step_cos_low[i] = cosine.low;
    const double twice = 2.0 * cosine.high, head = (twice + 0x1.8p27) - 0x1.8p27; /* a multiple of 2^-25 */
    for (size_t at = copies * i; at < copies * (i + 1); at++) {
      sums->twice_cosine[at] = twice;
      sums->twice_head[at] = head;
      sums->twice_tail[at] = (twice - head) + 2.0 * cosine.low;
    }
  }
  return true;
}

static bool prepare_doubles(cr_constants *made, const posenc_problem *problem, size_t padded, size_t copies) {
  made->memory = allocate(padded, copies + 2);
  if (!made->memory) return false;
  made->twice_cosine = made->memory;
  made->block_sin = made->twice_cosine + copies * padded;
  made->block_cos = made->block_sin + padded;
  for (size_t i = 0; i < (size_t)made->pairs; i++) {
    const double twice = wide_twice_cosine(made->angles, (int64_t)i);
    for (size_t copy = 0; copy < copies; copy++) made->twice_cosine[copies * i + copy] = twice;
    angle_sincos(angle_at(made->angles->turn_high[i], made->angles->turn_low[i], KERNEL_BLOCK), &made->block_sin[i],
                 &made->block_cos[i]);
  }
  pad(made, padded, copies);
  if (made->pairs <= CERTIFIED_PAIRS && !made->is_scaled)
    made->certificate = certificate_find(cr_digest(made, problem));
  return true;
}

/* Returns the upper 128 bits of the attention factor's mantissa. */
static u128 mantissa_of(const cr_constants *cr) {
  const uint64_t *limb = cr->exact_factor.mantissa.limb;
  return u128_of(limb[3], limb[2]);
}

/*
 * Whether more than one element in 128 is a sine below 2^-19, which is uncertain because CR_ERROR is relative to 1.
 * Recomputing such an element takes 50 ns, while sums take 0.3 ns per element more than doubles. Single rows, such as
 * those of a list, take 10 ns per element in sums, so tables of a few rows are made in doubles.
 */
static bool has_tiny_sines(const cr_constants *made, const posenc_problem *problem) {
  enum { FEWEST = 64 };
  const double first = (double)problem->first, end = first + (double)problem->rows;
  double tiny = 0.0;
  for (int64_t i = 0; i < made->pairs; i++) {
    const double w = (double)made->angles->turn_high[i] * (0x1.921fb54442d18p+2 * 0x1p-64), reach = 0x1p-19 / w;
    tiny += fmax(0.0, fmin(end, reach) - fmax(first, -reach));
  }
  return problem->rows >= FEWEST && tiny > (double)problem->rows * (double)problem->dim / 128.0;
}

static void find_factor(cr_constants *made, const posenc_problem *problem) {
  made->exact_factor = angle_attention(problem);
  const posenc_sum part = wide_sum((wide){u128_right(mantissa_of(made), 1), false});
  made->factor.high = ldexp(part.high, made->exact_factor.exponent);
  made->factor.low = ldexp(part.low, made->exact_factor.exponent);
  made->scaled_error = ldexp(CR_ERROR, made->exact_factor.exponent);
}

posenc_status cr_prepare(const posenc_problem *problem, const posenc_options *options, void **cr) {
  const size_t padded = angle_padded(problem),
               copies = (size_t)posenc_layout_columns(problem->layout, problem->dim).step;
  cr_constants *made = (cr_constants *)calloc(1, sizeof *made);
  void *angles;
  if (!made) return POSENC_OUT_OF_MEMORY;
  made->pairs = problem->dim / 2;
  made->is_scaled = problem_attends(problem);
  if (made->is_scaled) find_factor(made, problem);
  bool is_made = angle_prepare(problem, options, &angles) == POSENC_OK;
  if (is_made) {
    made->angles = (angle_constants *)angles;
    made->in_sums = problem->dtype == POSENC_F64;
    if (!made->in_sums) is_made = prepare_doubles(made, problem, padded, copies);
    if (is_made && !made->in_sums && !made->certificate.misrounded) {
      made->in_sums = has_tiny_sines(made, problem);
      if (made->in_sums) {
        free(made->memory);
        made->twice_cosine = made->block_sin = made->block_cos = NULL;
      }
    }
    if (made->in_sums) is_made = prepare_sums(made, padded, copies);
  }
  if (!is_made) {
    cr_release(made);
    return POSENC_OUT_OF_MEMORY;
  }
  *cr = made;
  return POSENC_OK;
}

/* Returns the exponent of the format's smallest subnormal number. */
static int least_exponent(posenc_dtype dtype) {
  static const int exponents[] = {[POSENC_F32] = -149, [POSENC_F64] = -1074, [POSENC_F16] = -24, [POSENC_BF16] = -133};
  return exponents[dtype];
}

/* Whether the angle is 0: sine and cosine are exact. The frequency of an infinite factor is 0, and has no bits. */
static bool is_angle_0(const cr_constants *cr, int64_t position, int64_t index) {
  const angle_constants *of = cr->angles;
  return position == 0 || !(of->turn_high[index] | of->turn_low[index] | of->turn_rest[index]);
}

posenc_stages cr_stages(const cr_constants *cr, const posenc_problem *problem, rotation_block at, int64_t index,
                        double sine, double cosine) {
  const angle_constants *angles = cr->angles;
  const uint64_t midpoint_bits = cr_midpoint_bits(problem->dtype);
  const int64_t position = at.center + at.from;
  const bool is_exact = is_angle_0(cr, position, index),
             sine_uncertain = !is_exact && cr_is_uncertain(sine, midpoint_bits),
             cosine_uncertain = !is_exact && cr_is_uncertain(cosine, midpoint_bits);
  posenc_stages stages = {.frequency = angle_radians(angles->turn_high[index], angles->turn_low[index]),
                          .phase = rotation_phase(angles, index, at),
                          .sine = {sine, 0.0},
                          .cosine = {cosine, 0.0}};
  if (sine_uncertain || cosine_uncertain) {
    const u128 turn = wide_turn(angles, index, position);
    stages.phase = angle_phase(u128_high(turn), u128_low(turn));
    if (sine_uncertain) stages.sine = wide_sum(wide_sine(turn));
    if (cosine_uncertain) stages.cosine = wide_sum(wide_cosine(turn));
  }
  return stages;
}

bool cr_exact_stages(const cr_constants *cr, const posenc_problem *problem, int64_t row, int64_t rows,
                     posenc_stages *stages) {
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < cr->pairs; i++, stages++) {
      const u128 turn = wide_turn(cr->angles, i, problem->first + row + r);
      stages->frequency = angle_radians(cr->angles->turn_high[i], cr->angles->turn_low[i]);
      stages->phase = angle_phase(u128_high(turn), u128_low(turn));
      stages->sine = wide_sum(wide_sine(turn));
      stages->cosine = wide_sum(wide_cosine(turn));
    }
  return true;
}

double cr_value(const cr_constants *cr, posenc_dtype dtype, int64_t position, int64_t index, bool cosine) {
  if (is_angle_0(cr, position, index) && !(cosine && cr->is_scaled)) return cosine;
  const int exponent = cr->is_scaled ? cr->exact_factor.exponent : 0, bits = cr_precision(dtype),
            least = least_exponent(dtype) - exponent;
  const u128 turn = wide_turn(cr->angles, index, position);
  wide value = cosine ? wide_cosine(turn) : wide_sine(turn);
  if (cr->is_scaled) value = wide_times(value, mantissa_of(cr));
  if (wide_decides(value, bits, least)) return ldexp(wide_round(value, bits, least), exponent);

  const fixed exact_turn = wider_turn(cr->angles, index, position);
  wider exact = cosine ? wider_cosine(exact_turn) : wider_sine(exact_turn);
  if (cr->is_scaled) exact = wider_times(exact, cr->exact_factor.mantissa);
  return ldexp(wider_round(exact, bits, least), exponent);
}

void cr_element(const cr_constants *cr, const posenc_problem *problem, int64_t position, int64_t column, void *row) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t half = problem->dim / 2, index = at.step == 2 ? column / 2 : column % half;
  const bool cosine = column == at.cos + index * at.step;
  round_to(problem->dtype, row, column, cr_value(cr, problem->dtype, position, index, cosine));
}

void cr_correct(const cr_constants *cr, const posenc_problem *problem, int64_t row, int64_t rows, char *out) {
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t first = problem->first + row, row_bytes = (int64_t)kernel_row_bytes(problem);
  const uint32_t *list = cr->certificate.misrounded;
  int64_t at = 0;
  for (int64_t end = cr->certificate.count; at < end;) { /* bisects for the first entry from `first` on */
    const int64_t middle = at + (end - at) / 2;
    if (certificate_position(list[middle]) < first)
      at = middle + 1;
    else
      end = middle;
  }
  for (; at < cr->certificate.count; at++) {
    const int64_t position = certificate_position(list[at]);
    if (position >= first + rows) return;
    const int64_t column =
        (certificate_cosine(list[at]) ? columns.cos : columns.sin) + columns.step * certificate_index(list[at]);
    cr_element(cr, problem, position, column, out + (position - first) * row_bytes);
  }
}
