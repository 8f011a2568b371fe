/* SPDX-License-Identifier: MIT */
/*
 * The MPFR reference: sin and cos of p * w times the attention factor, as real numbers. w is scale * base^(-i / (dim/2
 * - shift)), changed by the problem's scaling. Each value is computed by Ziv's strategy: the precision grows until both
 * ends of the error interval round to the same number of the format. This ends because sine and cosine of a nonzero
 * algebraic number are transcendental and so never a midpoint (Lindemann, 1882). There is no such proof for frequencies
 * made of π or of logarithms, within the ramps of Llama 3 and of YaRN without truncate, nor for attention factors from
 * formulas.
 */
#ifndef POSENC_REFERENCE_ORACLE_H
#define POSENC_REFERENCE_ORACLE_H

#include "posenc.h"
#include "reference/format.h"

typedef struct oracle oracle;

typedef struct exact_pair {
  exact sine, cosine;
} exact_pair;

/* Creates a reference for a valid problem with an even dim; a list of positions is ignored. Null if memory runs out.
   Takes about 5 µs per frequency. */
oracle *oracle_create(const posenc_problem *problem);

/* Creates a reference for some frequencies only: its index i stands for index[i] of the problem, and it has `count`
   frequencies instead of dim/2. The list is copied. Null selects all. */
typedef struct selection {
  int64_t count;
  const int64_t *index;
} selection;
oracle *oracle_create_some(const posenc_problem *problem, const selection *some);
void oracle_destroy(oracle *o);

/* Returns the format of `rounded`: that of the problem's dtype. */
const format *oracle_format(const oracle *o);

/* Computes the frequency of an index, with the precision of w. */
void oracle_frequency(const oracle *o, int64_t index, mpfr_t w);

/* Returns the pair at any position, in the problem's table or not; zeros at the padding position. 0 <= index <
   dim/2. */
exact_pair oracle_pair(const oracle *o, int64_t position, int64_t index);

/* Computes the pairs of `count` places on all cores; each takes several microseconds. */
typedef struct place {
  int64_t position, index;
} place;
void oracle_pairs(const oracle *o, const place *places, size_t count, exact_pair *pairs);

/* Returns the pair without the attention factor: the rotation by `position` positions. */
exact_pair oracle_rotation(const oracle *o, int64_t position, int64_t index);

/* Computes rotations by 1, 2, 4 ... 2^(count - 1) positions, without the attention factor; count is at most 12. The
   rotation of frequency `index` by 2^n is rotations[index * count + n]. high + low is within 2^-106 of the value;
   `rounded` is not set. */
void oracle_rotations(const oracle *o, int count, exact_pair *rotations);

/* Computes the pairs of all frequencies at one position, with the attention factor, for a problem without a padding
   row. high + low is within 2^-106 of the value, times the power of two that the factor does not exceed; `rounded` is
   not set. */
void oracle_points(const oracle *o, int64_t position, exact_pair *points);

/*
 * Finds numbers of positions after which the angle of a frequency nearly returns: the denominators of the convergents
 * of frequency / 2π, ascending up to `most`, each one nearer. The angle differs by less than 2π divided by the next
 * denominator. There are at most ORACLE_RETURNS below 2^40. The frequency must be below 2^40. Returns their number.
 */
enum { ORACLE_RETURNS = 60 };
size_t oracle_returns(const oracle *o, int64_t index, int64_t most, int64_t returns[ORACLE_RETURNS]);

/* ---- parts of an error ----------------------------------------------------------------------------------- */

/*
 * Attribution of errors to stages. f is sine or cosine, p the position, w the exact frequency; F, P and T are the
 * frequency, phase and value in the kernel's stages; G is the element of the table. The error is
 *
 *     G - f(p w) = [f(p F) - f(p w)] + [f(P) - f(p F)] + [T - f(P)] + [G - T]
 *                       frequency           phase           trig       store
 */

/* The signed parts of an error. Each has an error below 2^-52 of itself or 2^-190. NaN if a stage is not a number. */
typedef struct split_parts {
  double frequency, phase, trig, store;
} split_parts;

typedef struct split_pair {
  split_parts sine, cosine;
} split_pair;

/* A pair of a table, with its kernel's stages. */
typedef struct split_case {
  place at; /* not in the padding row */
  posenc_stages stages;
  double sine, cosine;
} split_case;

/* Computes the parts of `count` pairs of the reference's problem, on all cores; each takes about 30 µs. */
void split_errors(const oracle *o, const split_case *cases, size_t count, split_pair *pairs);

#endif
