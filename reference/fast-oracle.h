/* SPDX-License-Identifier: MIT */
/* The internals of the fast reference: rotations, and tiles of 64 rows by 64 frequencies (fast-oracle.c, fast-check.c,
   fast-ties.c). */
#ifndef POSENC_REFERENCE_FAST_ORACLE_H
#define POSENC_REFERENCE_FAST_ORACLE_H

#include "reference/vectors.h"

enum {
  STEP_BITS = 6,
  STEPS = 1 << STEP_BITS, /* rows of a tile, and tiles between anchors */
  TURNS = 2 * STEP_BITS,  /* rotations by powers of two, from which the others are made */
  REACH = STEPS * STEPS,  /* rows from an anchor to the next */
};

/* The rotations of LANES frequencies by j and by 64 b positions, and their values at the current anchor. Lanes from
   `lanes` on have no frequency. */
typedef struct group {
  int lanes; /* from lanes_for */
  fast_lanes fine[STEPS], coarse[STEPS], anchor;
} group;

struct fast_oracle {
  posenc_problem problem;
  posenc_columns columns;
  size_t row_bytes;
  bool no_sines, no_cosines; /* columns that the checked table lacks */
  oracle *exact;             /* without the padding row, as that may be an anchor */
  const format *format;
  tier tier;
  void (*rotate)(const fast_lanes *a, const fast_lanes *b, int lanes, fast_lanes *sum);
  double bound; /* FAST_BOUND times the power of two above the attention factor */
  double tiny;  /* smaller values are subnormal, or the bound is 2^-31 ulp or more */
  int64_t pairs, groups;
  int64_t anchored; /* the position of the current anchor */
  group *group;
  exact_pair *exacts;  /* results of MPFR: one per frequency, or TURNS */
  element_error *sums; /* one per tile between two anchors */
};

/* Rows [from, to), counted from the current anchor, divided into tiles. */
typedef struct fast_span {
  int64_t from, to;
  int64_t blocks, tiles; /* tiles of one group, and of all */
} fast_span;

/* Rows [origin + from, origin + to) of one group. `origin` is anchor + 64 b. */
typedef struct fast_tile {
  const group *group;
  int64_t index; /* index of the first frequency */
  int count;     /* number of frequencies */
  int64_t origin;
  int from, to;
} fast_tile;

/* Moves the anchor to the last one at or before the position. Returns the span of at most `rows` rows from there that
   the anchor reaches. */
fast_span fast_span_at(fast_oracle *f, int64_t position, int64_t rows);
fast_tile fast_tile_of(const fast_oracle *f, const fast_span *s, int64_t number);

/* Computes the values of some lanes at a tile's origin. */
void fast_origin(const fast_oracle *f, const group *g, int64_t position, int lanes, fast_lanes *origin);

#endif
