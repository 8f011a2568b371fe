/* SPDX-License-Identifier: MIT */
/* A rope as a config has it. */
#ifndef POSENC_MODELS_TYPES_H
#define POSENC_MODELS_TYPES_H

#include "posenc.h"

/* A message on a config that is told, but hinders nothing: without a full stop. */
typedef void model_note(const char *text, void *argument);

/* Its lists stay until the model is closed. */
typedef struct model_rope {
  double base;
  int64_t dim;            /* columns that are turned */
  int64_t head, start;    /* columns of a head, and the first that is turned */
  int64_t positions;      /* that the model takes; 0: not told */
  bool has_dim;           /* false: the config does not tell, and an option must */
  bool has_pairs;         /* false: it is not known how columns pair, and halves are the most usual */
  posenc_layout pairs;    /* POSENC_SPLIT for halves, POSENC_INTERLEAVED for neighbours */
  posenc_scaling scaling; /* of sequences up to `switch_at` positions */
  posenc_scaling longer;  /* of longer ones */
  int64_t factor_count;   /* numbers in their factors */
  int64_t switch_at;      /* INT64_MAX: of all */
  bool by_length;         /* the scaling depends on the length of the sequence */
  /* M-RoPE: pairs of each axis of positions, and whether axes take turns; 0 axes: it has one. The problem of a rope is
     that of one axis. */
  int64_t sections[POSENC_AXES];
  int section_count;
  bool in_turns;
} model_rope;

#endif
