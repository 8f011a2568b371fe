/* SPDX-License-Identifier: MIT */
/*
 * x of add and rope: random numbers, each of which depends on nothing but its row and its place there, so that it can
 * be made again. Their size is about 1, except in every 17th row, which is not plain: there they are huge, tiny, zero
 * of either sign, or nearly cancel the table.
 */
#ifndef POSENC_VERIFY_OPERAND_H
#define POSENC_VERIFY_OPERAND_H

#include "reference/axes.h"

typedef struct operand {
  const posenc_problem *problem;
  fast_oracle *reference;
  bool borrowed;           /* the caller owns the reference */
  fast_lanes *lanes;       /* of one row for every thread */
  axes_reference **places; /* of axes, instead of these: one for every thread */
  uint64_t seed;
} operand;

/* reference: of the same frequencies, from any position on, or null; of axes null. False when memory runs out; to be closed in any
 * case. */
bool operand_open(operand *o, const posenc_problem *problem, uint64_t seed, fast_oracle *reference);
void operand_close(operand *o);

/* Rows in succession; sequences of a batch have different x. */
void operand_draw(operand *o, int64_t row, int64_t rows, int64_t sequence, unsigned char *x);
bool operand_is_plain(int64_t row);

/* Goes to a position, or place; how many from there on operand_pairs can be asked for, by any thread. */
int64_t operand_move(operand *o, int64_t position);

/* The exact pairs of one of them; valid until the same thread asks again. */
const fast_lanes *operand_pairs(const operand *o, int64_t position);

/* Those of the difference of two positions; of places, of the differences on each axis. Moves elsewhere. */
const fast_lanes *operand_apart(operand *o, int64_t position, int64_t from);

/* Sets an element; rounded toward zero to bf16. */
void operand_store(posenc_dtype dtype, void *x, int64_t at, float value);

#endif
