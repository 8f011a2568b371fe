/* SPDX-License-Identifier: MIT */
/* Reads the rope from the words of a config. */
#ifndef POSENC_MODELS_ROPE_H
#define POSENC_MODELS_ROPE_H

#include "models/words.h"

/* The lists of factors that ropes point to. */
typedef struct rope_lists {
  double **items;
  size_t count;
} rope_lists;
void rope_lists_free(rope_lists *lists);

/* Reads the rope. Returns false and sets w->why if there is none. */
bool rope_read(words *w, rope_lists *lists, model_rope *rope);

#endif
