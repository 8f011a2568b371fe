/* SPDX-License-Identifier: MIT */
/* The rope that a config describes. */
#ifndef POSENC_MODELS_TYPES_H
#define POSENC_MODELS_TYPES_H

#include "posenc.h"

/* Receives a message about a part of the config that is ignored or assumed; the text has no full stop. */
typedef void model_note(const char *text, void *argument);

/* A rope. Its factors belong to the model and are valid until the model is closed. */
typedef struct model_rope {
  double base;
  int64_t dim;            /* number of rotated columns */
  int64_t head, start;    /* columns of a head, and the first rotated column */
  int64_t positions;      /* positions that the model accepts; 0: not given */
  bool has_dim;           /* false: the config does not give dim, and an option must */
  bool has_pairs;         /* false: the pairing of columns is not known; halves are the most frequent */
  posenc_layout pairs;    /* POSENC_SPLIT for halves, POSENC_INTERLEAVED for neighbours */
  posenc_scaling scaling; /* scaling of sequences of up to `switch_at` positions */
  posenc_scaling longer;  /* scaling of longer sequences */
  int64_t factor_count;   /* number of factors in each scaling */
  int64_t switch_at;      /* INT64_MAX: `scaling` holds for all sequences */
  bool by_length;         /* the scaling depends on the length of the sequence */
  /* M-RoPE: the number of pairs of each axis of positions, and whether the order of axes is cyclic. Without axes,
     section_count is 0. The problem of a rope has one axis. */
  int64_t sections[POSENC_AXES];
  int section_count;
  bool in_turns;
  double scale;  /* factor of the positions */
  char grid[96]; /* --grid for the axes of a picture; "" if they are not known, or there are none */
  bool has_grid; /* the rope has such axes */
  bool unread;   /* the config has a key that may be about rope, and is not known */
} model_rope;

#endif
