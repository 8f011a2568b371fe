/* SPDX-License-Identifier: MIT */
/* The words of a config as a rope. */
#ifndef POSENC_MODELS_ROPE_H
#define POSENC_MODELS_ROPE_H

#include "models/words.h"

/* Factors that ropes point to. */
typedef struct rope_lists {
  double **items;
  size_t count;
} rope_lists;
void rope_lists_free(rope_lists *lists);

/* Reads the rope. False if there is none, with w->why. */
bool rope_read(words *w, rope_lists *lists, model_rope *rope);

#endif
