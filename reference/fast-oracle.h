/* SPDX-License-Identifier: MIT */
/* The inside of the fast oracle: rotations, and tiles of 64 rows by 64 frequencies (fast-oracle.c, fast-check.c,
   fast-ties.c). */
#ifndef POSENC_REFERENCE_FAST_ORACLE_H
#define POSENC_REFERENCE_FAST_ORACLE_H

#include "reference/vectors.h"

enum {
  STEP_BITS = 6,
  STEPS = 1 << STEP_BITS, /* rows of a tile, and tiles between anchors */
  TURNS = 2 * STEP_BITS,  /* by powers of two, from which the others are made */
  REACH = STEPS * STEPS,  /* rows from an anchor to the next */
};

/* Rotations of LANES frequencies: by j and by 64 b positions; and the value at the anchor in use. */
typedef struct group {
  fast_lanes fine[STEPS], coarse[STEPS], anchor;
} group;

struct fast_oracle {
  posenc_problem problem;
  posenc_columns columns;
  size_t row_bytes;
  bool no_sines, no_cosines; /* in the table that is checked */
  oracle *exact;             /* of the problem without its padding row, where an anchor may stand */
  const format *format;
  tier tier;
  void (*rotate)(const fast_lanes *a, const fast_lanes *b, fast_lanes *sum);
  double bound; /* FAST_BOUND times the power of two of an attention factor */
  double tiny;  /* below it, values are subnormal, or the bound is 2^-31 ulp or more */
  int64_t pairs, groups;
  int64_t anchored; /* the position of the anchor in use */
  group *group;
  exact_pair *exacts;  /* MPFR's answers: one of each frequency, or TURNS */
  element_error *sums; /* one per tile between two anchors */
};

/* Rows [from, to) counted from the anchor in use, cut into tiles. */
typedef struct fast_span {
  int64_t from, to;
  int64_t blocks, tiles; /* tiles of one group, and of all */
} fast_span;

/* Rows [origin + from, origin + to) of one group; `origin` is anchor + 64 b. */
typedef struct fast_tile {
  const group *group;
  int64_t index; /* of the first frequency */
  int count;     /* frequencies */
  int64_t origin;
  int from, to;
} fast_tile;

/* Moves the anchor to the one at or before the position; the span from there on that the anchor reaches, `rows` at
   most. */
fast_span fast_span_at(fast_oracle *f, int64_t position, int64_t rows);
fast_tile fast_tile_of(const fast_oracle *f, const fast_span *s, int64_t number);

/* The value at a tile's origin. */
void fast_origin(const fast_oracle *f, const group *g, int64_t position, fast_lanes *origin);

#endif
