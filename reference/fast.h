/* SPDX-License-Identifier: MIT */
/*
 * The fast reference: exact values a thousand times faster than by MPFR, as sums of two doubles between anchors from
 * MPFR, within a proved distance of the real number (fast-oracle.c has the proof). It can check every element of a
 * table. Where its distance cannot decide the statistics of accuracy.h, MPFR decides.
 */
#ifndef POSENC_REFERENCE_FAST_H
#define POSENC_REFERENCE_FAST_H

#include "posenc.h"
#include "reference/accuracy.h"
#include "reference/oracle.h"

/* A bound of |value - (high + low)| for every value below. With an attention factor, it is multiplied by the power of
   two that the factor does not exceed. high is the double nearest to high + low. */
#define FAST_BOUND 0x1p-98

typedef struct fast_oracle fast_oracle;

/* Creates a fast reference for any problem that oracle_create takes. isa: the tiers that may be used, 0 for all of this
   CPU; all give the same bits. Null if memory runs out. Takes about 15 µs and 4 KiB per frequency. */
fast_oracle *fast_create(const posenc_problem *problem, unsigned isa);
/* Creates a fast reference for some frequencies only, or for all if `some` is null. Tables have the columns of those
   frequencies, in the problem's layout. */
fast_oracle *fast_create_some(const posenc_problem *problem, const selection *some, unsigned isa);
void fast_destroy(fast_oracle *f);

/* The values of one position, for all dim/2 frequencies. Position 0 is exact, and the padding row is like any other. */
typedef struct fast_value {
  double high, low;
} fast_value;
typedef struct fast_pair {
  fast_value sine, cosine;
} fast_pair;
void fast_row(fast_oracle *f, int64_t position, fast_pair *pairs);

/* Values without moving, for several threads at once: first, one of them moves to a position by fast_move, which
   returns how many positions from there on can be computed. Frequencies are in lanes, FAST_LANES in each of fast_groups
   groups; lanes without a frequency are 0. */
enum { FAST_LANES = 64 };
typedef struct fast_lanes {
  double sin_high[FAST_LANES], sin_low[FAST_LANES], cos_high[FAST_LANES], cos_low[FAST_LANES];
} fast_lanes;
int64_t fast_groups(const fast_oracle *f);
int64_t fast_move(fast_oracle *f, int64_t position);
void fast_lanes_of(const fast_oracle *f, int64_t position, fast_lanes *groups);

/* Returns the pair of the sum of two angles: as a point, within 10 × 2^-106 of the exact rotation of one pair by the
   other. */
fast_pair fast_rotate(const fast_pair *a, const fast_pair *b);

/*
 * Adds every element of rows [row, row + rows) of the problem's table to `a`. `rows_there` points at row `row`; rows
 * are packed, in the problem's layout and dtype. The result is that of accuracy_add for each element with the exact
 * value from MPFR, to the last bit, except for the sums: their rounding depends on how the rows are divided into calls,
 * but not on the target or the number of threads. bound: null if there is none; with a bound, the padding row must be
 * zeros. Uses all threads of OpenMP. Any number of rows can be checked, in any order; blocks of some MiB suit the
 * caches. One call at a time per fast reference. `a` must have elements of this problem only.
 */
void fast_check(fast_oracle *f, int64_t row, int64_t rows, const void *rows_there, const posenc_bound *bound,
                accuracy *a);

/*
 * fast_check for threads that have other work to do with the same rows. One thread asks for blocks: rows from `row` on
 * that the current anchor reaches (otherwise the anchor is moved), divided into pieces of at most FAST_BLOCK_ROWS rows.
 * Then any thread may check any block. It uses an `a` of its own, to be merged later, and `sums`, with one entry for
 * each of the blocks' tiles. `known` has what all have found before. In the end fast_blocks_add adds up sums, and
 * fast_witnesses, after all blocks, completes the witnesses, except those that `before` has, which were complete there.
 */
enum { FAST_BLOCK_ROWS = 64 };
typedef struct fast_blocks {
  int64_t row, rows; /* rows of the table */
  int64_t blocks, tiles;
  int64_t from; /* counted from the anchor */
} fast_blocks;
bool fast_reaches(const fast_oracle *f, int64_t row);
fast_blocks fast_blocks_of(fast_oracle *f, int64_t row, int64_t rows);
void fast_block_rows(const fast_blocks *b, int64_t block, int64_t *row, int64_t *rows);
void fast_check_block(const fast_oracle *f, const fast_blocks *b, int64_t block, const void *rows_there,
                      const posenc_bound *bound, const accuracy *known, accuracy *a, element_error *sums);
void fast_blocks_add(const fast_blocks *b, const element_error *sums, accuracy *a);
void fast_witnesses(const fast_oracle *f, const accuracy *before, accuracy *a);

/* Leaves witnesses of later calls with the fast reference's values, whose high part is the same double. Three values by
   MPFR take longer than a table of few rows. */
void fast_keep_witnesses(fast_oracle *f);

/* Sets whether the tables of later calls of fast_check have sines and cosines, or only one of them. */
void fast_part(fast_oracle *f, bool sines, bool cosines);

/*
 * Calls `found` for every place of positions [position, position + rows) where sine or cosine is within `within` ulp, 0
 * to 1/4, of a midpoint of the problem's format: f32, f16 or bf16. It also calls it for some places up to 2^-27 ulp
 * farther away, and for values below 2^-44, for f16 below 2^-14, whose distance it does not know. Uses all threads of
 * OpenMP, but makes one call of `found` at a time, in no particular order.
 */
void fast_near_midpoints(fast_oracle *f, int64_t position, int64_t rows, double within,
                         void (*found)(place at, void *argument), void *argument);

#endif
