/* SPDX-License-Identifier: MIT */
/* What the files of a model say of its rope: Hugging Face's config.json, or a GGUF file. */
#ifndef POSENC_MODELS_MODEL_H
#define POSENC_MODELS_MODEL_H

#include "common/suspect.h"
#include "files/stored.h"
#include "models/types.h"

#include <jansson.h>

typedef struct model model;

/* Opens such a file; its content decides which it is. Null, and `why`, if it is neither, or says nothing of rope. */
model *model_open(const char *path, fault *why);

/* The same of its bytes in memory. */
model *model_open_memory(const void *bytes, size_t size, fault *why);

/* Null is allowed. */
void model_close(model *m);

/* The kinds of layers that have ropes of their own: how many, and their names; none if all layers have one. */
size_t model_layers(const model *m);
const char *model_layer(const model *m, size_t n);

/* The rope of the layers of that name; null: of all, or, if they have several, those whose ropes are equal. What is in
   the config but not in the result is told; what cannot be in it is an error. False, and `why`. */
bool model_rope_of(model *m, const char *layer, model_note *tell, void *argument, model_rope *rope, fault *why);

/* The scaling of a sequence of so many positions. */
posenc_scaling model_scaling(const model_rope *rope, int64_t length);

/* Mistakes that are known of any rope: the base of another model, the scaling, the scale or the attention factor left
   out, or that squared. Adds them to the list. */
void formula_suspects(const posenc_problem *asked, suspect_list *list);

/* Known mistakes in the use of a config: what the problem would be instead of `asked`, which is the rope's for a
   sequence of so many positions. Adds them to the list. */
void model_suspects(model *m, const char *layer, const model_rope *rope, int64_t length, const posenc_problem *asked,
                    suspect_list *list);

/* The part of config.json that makes this table of a rope, all columns of a head: {"head_dim", "rope_parameters":
   {...}}. Null, and `why`, if no config does. */
json_t *model_fragment(const posenc_problem *problem, fault *why);

/* Changes it to a head of so many columns, of which `dim` from `start` on are turned. */
void model_fragment_head(json_t *fragment, int64_t dim, int64_t start, int64_t head);

#endif
