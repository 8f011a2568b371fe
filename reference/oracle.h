/* SPDX-License-Identifier: MIT */
/*
 * The reference: sin and cos of p * w, times the attention factor, the real numbers, by MPFR; w is scale * base^(-i /
 * (dim/2 - shift)), or what the problem's scaling makes of it. Each value is computed with Ziv's strategy: precision
 * grows until both ends of the error interval round to the same number of the target format. It ends, because sine and
 * cosine of a nonzero algebraic number are transcendental and so are never a tie (Lindemann, 1882). Of frequencies made
 * of π or of logarithms, inside the ramps of Llama 3 and of YaRN without truncate, and of the attention factors of
 * formulas, nobody has proved so much.
 */
#ifndef POSENC_REFERENCE_ORACLE_H
#define POSENC_REFERENCE_ORACLE_H

#include "posenc.h"
#include "reference/format.h"

typedef struct oracle oracle;

typedef struct exact_pair {
  exact sine, cosine;
} exact_pair;

/* Null when memory runs out. Valid problems of an even dim only; a list of positions is not looked at. Costs some 5 µs
 * per frequency. */
oracle *oracle_create(const posenc_problem *problem);

/* The same of some frequencies alone: index i of the oracle stands for index[i] of the problem, and there are `count`
   of them, not dim/2. The list is copied. Null: all. */
typedef struct selection {
  int64_t count;
  const int64_t *index;
} selection;
oracle *oracle_create_some(const posenc_problem *problem, const selection *some);
void oracle_destroy(oracle *o);

/* The format that `rounded` is in: the problem's dtype. */
const format *oracle_format(const oracle *o);

/* The frequency of that index, to the precision of w. */
void oracle_frequency(const oracle *o, int64_t index, mpfr_t w);

/* The pair at any position, in or out of the problem's table; zeros at the padding position. Frequency 0 <= index <
 * dim/2. */
exact_pair oracle_pair(const oracle *o, int64_t position, int64_t index);

/* The same for `count` places, on all cores; several microseconds each. */
typedef struct place {
  int64_t position, index;
} place;
void oracle_pairs(const oracle *o, const place *places, size_t count, exact_pair *pairs);

/* The same without the factor: the rotation by so many positions. */
exact_pair oracle_turn(const oracle *o, int64_t position, int64_t index);

/* Rotations by 1, 2, 4 ... 2^(count - 1) positions, without the factor; count is at most 12. That of frequency `index`
 * by 2^n is turns[index * count + n]. high + low is within 2^-106 of the value; `rounded` is not set. */
void oracle_turns(const oracle *o, int count, exact_pair *turns);

/* The pairs of all frequencies at one position, factor included, for a problem without a padding row. high + low is
 * within 2^-106 of the value, times the power of two that the factor does not exceed; `rounded` is not set. */
void oracle_points(const oracle *o, int64_t position, exact_pair *points);

/*
 * Numbers of positions after which the angle of a frequency nearly comes back, ascending up to `most`, nearer each
 * time: the denominators of the convergents of frequency / 2π. The angle is off by less than 2π / the next of them.
 * Below 2^40 there are at most ORACLE_RETURNS. Frequencies below 2^40 only. How many there are.
 */
enum { ORACLE_RETURNS = 60 };
size_t oracle_returns(const oracle *o, int64_t index, int64_t most, int64_t returns[ORACLE_RETURNS]);

#endif
