/* SPDX-License-Identifier: MIT */
/*
 * The exact values a thousand times faster: sums of two doubles between anchors from MPFR, within a proven distance of
 * the real number (the proof is in fast-oracle.c). It is for looking at every element of a table; where its distance
 * cannot decide what accuracy.h would say, MPFR decides.
 */
#ifndef POSENC_REFERENCE_FAST_H
#define POSENC_REFERENCE_FAST_H

#include "posenc.h"
#include "reference/accuracy.h"
#include "reference/oracle.h"

/* |value - (high + low)| of every value below is at most this, with an attention factor times the power of two that
   it does not exceed; high is the double nearest to high + low. */
#define FAST_BOUND 0x1p-98

typedef struct fast_oracle fast_oracle;

/* Any problem that the oracle takes. isa: tiers that may be used, 0 for all that this CPU has; all give the same
   bits. Null when memory runs out. Costs some 15 µs and 4 KiB per frequency. */
fast_oracle *fast_create(const posenc_problem *problem, unsigned isa);
/* The same of some frequencies alone, unless `some` is null: tables have the columns of those, in the problem's
   layout. */
fast_oracle *fast_create_some(const posenc_problem *problem, const selection *some, unsigned isa);
void fast_destroy(fast_oracle *f);

/* Values of one position, for all dim/2 frequencies; position 0 is exact, and the padding row is like any other. */
typedef struct fast_value {
  double high, low;
} fast_value;
typedef struct fast_pair {
  fast_value sine, cosine;
} fast_pair;
void fast_row(fast_oracle *f, int64_t position, fast_pair *pairs);

/* The same without moving, for several threads at once: first one of them all moves to a position, and is told how
   many from there on are within reach. Frequencies lie in lanes, FAST_LANES to each of fast_groups; lanes that the
   problem lacks are 0. */
enum { FAST_LANES = 64 };
typedef struct fast_lanes {
  double sin_high[FAST_LANES], sin_low[FAST_LANES], cos_high[FAST_LANES], cos_low[FAST_LANES];
} fast_lanes;
int64_t fast_groups(const fast_oracle *f);
int64_t fast_move(fast_oracle *f, int64_t position);
void fast_lanes_of(const fast_oracle *f, int64_t position, fast_lanes *groups);

/* The pair of the sum of two angles: as a point, within 10 × 2^-106 of what turning one exact pair by the other
   gives. */
fast_pair fast_turn(const fast_pair *a, const fast_pair *b);

/*
 * Adds every element of rows [row, row + rows) of the problem's table to `a`. `rows_there` points at row `row`: packed,
 * in the problem's layout and dtype. What is added is what accuracy_add gives for each with the exact value from MPFR,
 * to the last bit but for the sums, whose rounding depends on how the rows are cut into calls, though not on the target
 * or the number of threads. bound null: nothing is claimed; in the padding row a claim means zeros. Uses all threads
 * that OpenMP gives; any number of rows, in any order; blocks of some MiB suit the caches. One call at a time per
 * oracle. `a` holds nothing but elements of this problem.
 */
void fast_check(fast_oracle *f, int64_t row, int64_t rows, const void *rows_there, const posenc_bound *bound,
                accuracy *a);

/*
 * fast_check for threads that have other work to do with the same rows. One thread asks for blocks: rows from `row` on,
 * as many of them as the present anchor reaches, or the one that is moved to, in pieces of FAST_BLOCK_ROWS at most. Any
 * thread may then check any block, into an `a` of its own, which is merged later, and into `sums`, one for each of the
 * blocks' tiles. `known` is what was found before, by all. In the end fast_blocks_add adds up sums, and fast_witnesses,
 * after all blocks, completes the witnesses.
 */
enum { FAST_BLOCK_ROWS = 64 };
typedef struct fast_blocks {
  int64_t row, rows; /* of the table */
  int64_t blocks, tiles;
  int64_t from; /* the anchor */
} fast_blocks;
bool fast_reaches(const fast_oracle *f, int64_t row);
fast_blocks fast_blocks_of(fast_oracle *f, int64_t row, int64_t rows);
void fast_block_rows(const fast_blocks *b, int64_t block, int64_t *row, int64_t *rows);
void fast_check_block(const fast_oracle *f, const fast_blocks *b, int64_t block, const void *rows_there,
                      const posenc_bound *bound, const accuracy *known, accuracy *a, element_error *sums);
void fast_blocks_add(const fast_blocks *b, const element_error *sums, accuracy *a);
void fast_witnesses(const fast_oracle *f, accuracy *a);

/* The tables of later calls of fast_check have sines or cosines alone: the other columns are not looked at. */
void fast_part(fast_oracle *f, bool sines, bool cosines);

/*
 * Calls `found` for every place of positions [position, position + rows) where sine or cosine is within `within` ulp, 0
 * to 1/4, of a tie: the middle between two neighbouring numbers of the problem's format, f32, f16 or bf16. Also for some
 * up to 2^-27 ulp farther, and for values below 2^-44, of f16 below 2^-14, which it cannot tell. Uses all threads that OpenMP gives, but makes one call
 * of `found` at a time, in no particular order.
 */
void fast_near_ties(fast_oracle *f, int64_t position, int64_t rows, double within,
                    void (*found)(place at, void *argument), void *argument);

#endif
