/* SPDX-License-Identifier: MIT */
/*
 * x of add and rope: random numbers, each of which depends only on its row and its place in the row, so that it can be
 * computed again. Their size is about 1, except in every 17th row, which is not plain: there they are huge, tiny, zero
 * of either sign, or nearly cancel the table.
 */
#ifndef POSENC_VERIFY_OPERAND_H
#define POSENC_VERIFY_OPERAND_H

#include "reference/axes.h"

typedef struct operand {
  const posenc_problem *problem;
  fast_oracle *reference;
  bool borrowed;           /* the caller owns the reference */
  fast_lanes *lanes;       /* one row per thread */
  axes_reference **places; /* with axes, used instead: one per thread */
  int threads;             /* the threads that lanes or places are for */
  uint64_t seed;
} operand;

/* reference: one with the same frequencies for all positions, or null, as it must be with axes. Returns false if memory
   runs out; must be closed in any case. */
bool operand_open(operand *o, const posenc_problem *problem, uint64_t seed, fast_oracle *reference);
void operand_close(operand *o);

/* Draws successive rows. Sequences of a batch have different x. */
void operand_draw(operand *o, int64_t row, int64_t rows, int64_t sequence, unsigned char *x);
bool operand_is_plain(int64_t row);

/* Goes to a position or place. Returns for how many from there on any thread may call operand_pairs. */
int64_t operand_move(operand *o, int64_t position);

/* Returns the exact pairs of one of these positions or places; valid until the same thread's next call. */
const fast_lanes *operand_pairs(const operand *o, int64_t position);

/* Returns the exact pairs of the difference of two positions, or of two places on each axis. Moves elsewhere. */
const fast_lanes *operand_apart(operand *o, int64_t position, int64_t from);

/* Sets an element, truncated for bf16. */
void operand_store(posenc_dtype dtype, void *x, int64_t at, float value);

#endif
