/* SPDX-License-Identifier: MIT */
/* Configs: the ropes that the files of a model describe, Hugging Face's config.json or a GGUF file. */
#ifndef POSENC_INSPECT_MODELS_MODEL_H
#define POSENC_INSPECT_MODELS_MODEL_H

#include "inspect/files/stored.h"
#include "posenc.h"

#include <jansson.h>

/* The rope that a config describes. */

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
  bool is_cyclic;
  double scale;  /* factor of the positions */
  char grid[96]; /* --grid for the axes of a picture; "" if they are not known, or there are none */
  bool has_grid; /* the rope has such axes */
  int64_t axis;  /* the number of columns of an axis whose frequencies begin anew; else that of all */
  bool unread;   /* the config has a key that may be about rope, and is not known */
} model_rope;

/* Suspects: problems that may have been computed instead of another one, each with the words for the mistake. */

struct format; /* reference/format.h */

typedef struct suspect {
  posenc_problem problem;
  const struct format *angles; /* what angles are rounded to before their sines and cosines; null: they are not */
  char text[160];              /* the mistake: "the scaling is left out" */
} suspect;

enum { SUSPECTS_MAX = 64 };
typedef struct suspect_list {
  suspect items[SUSPECTS_MAX];
  size_t count;
} suspect_list;

/* Adds a suspect, unless the list is full. */
__attribute__((format(printf, 3, 4))) void suspects_add(suspect_list *list, const posenc_problem *problem,
                                                        const char *words, ...);

typedef struct model model;

/* Opens a config.json or a GGUF file, as its content shows. Returns null and sets `why` if it is neither, or does not
   describe a rope. */
model *model_open(const char *path, fault *why);

/* model_open for the file's bytes in memory. */
model *model_open_memory(const void *bytes, size_t size, fault *why);

/* Closes a config. `m` may be null. */
void model_close(model *m);

/* The number and the names of the layer types that have ropes of their own; none if all layers have one. */
size_t model_layers(const model *m);
const char *model_layer(const model *m, size_t n);

/* The number of layers, from which on they are counted from 0; 0 if it is not known. */
int64_t model_number_of_layers(const model *m);

/* The name of the kind of a layer's rope, which --layer-type takes. *none: the key that says that the layer has no
   rope, or null. */
const char *model_layer_kind(const model *m, int64_t layer, const char **none);

/* Reads the rope of a layer type, or of the layer of a number; null: of all layers that have one or, if they have
   several ropes, of those whose ropes are equal. Parts of the config that the result does not contain are passed to
   `tell`; parts that it cannot contain are errors. Returns false and sets `why` on failure. */
bool model_rope_of(model *m, const char *layer, model_note *tell, void *argument, model_rope *rope, fault *why);

/* Returns the scaling for a sequence of `length` positions, at most 2^40. A length may be no whole number, as that of a
   cache for positions times a factor. */
posenc_scaling model_scaling(const model_rope *rope, double length);

/* Writes the frequencies of a problem, the nearest doubles: what configs of transformers call inv_freq. */
void model_frequencies(const posenc_problem *problem, double *frequencies);

/* Returns the n-th known mistake in positions, one more or in another type, and sets *wrong to what it makes of a
   position; null if there are no more. */
const char *position_mistake(size_t n, long double right, long double *wrong);

/* Return the words for mistakes of a rope: pairs that are the other ones than the layout's; those of a layout that are
   written as the others; and the other direction. */
const char *pairs_mistake(posenc_layout right);
const char *written_mistake(posenc_layout rotated);
const char *direction_mistake(bool inverse);

/* Write the words for rows that are WHAT; for those at another position than the right one; and for elements that are
   WHAT. Of several, the words have the first one. */
void tell_wrong_rows(int64_t count, const char *what, int64_t first, char *text, size_t size);
void tell_moved_rows(int64_t count, int64_t first, double there, double right, char *text, size_t size);
void tell_wrong_elements(int64_t count, const char *what, int64_t row, int64_t column, char *text, size_t size);

/* Other axes than the right ones, with the words for the mistake; is_one: instead of them, one axis whose positions are
   the rows. */
typedef struct axes_mistake {
  posenc_axes axes;
  bool is_one;
  char words[64];
} axes_mistake;

/* Finds the mistakes: axes exchanged, one for all or for another, other frequencies or columns, and last, one axis.
   Some make a problem that the library refuses. Returns how many. */
enum { AXES_MISTAKES_MAX = POSENC_AXES * (POSENC_AXES + 1) / 2 + POSENC_AXES * (POSENC_AXES - 1) + 5 };
const char *axes_layout_mistake(bool grouped); /* of a layout that is not grouped, or the other way round */
size_t axes_mistakes(const posenc_axes *right, axes_mistake list[AXES_MISTAKES_MAX]);

/* A mistake in the positions of all axes (-1) or of one, with the words for it. Its lists of positions are new ones. */
typedef struct axes_mistaken {
  const posenc_axes *right;
  int axis;
  size_t next; /* number of the one after it, of that axis */
  posenc_axes axes;
  char words[80];
} axes_mistaken;

/* Finds the mistakes that change a position one after the other, from those of an axis on. axes_next_mistaken returns
   false if there are no more; axes_free_mistaken must be called after the last one that is wanted. */
axes_mistaken axes_mistaken_from(const posenc_axes *right, int axis);
bool axes_next_mistaken(axes_mistaken *m);
void axes_free_mistaken(axes_mistaken *m);

/* Adds mistakes that are known for any rope: another exponent; another ramp; the base of another model; the scaling,
   the scale or the attention factor left out, or the latter squared; rounded angles. */
void formula_suspects(const posenc_problem *asked, suspect_list *list);

/* Adds known mistakes in the use of a config, as the problems that would be computed instead of `asked`, which is the
   rope's for a sequence of `length` positions. */
void model_suspects(model *m, const char *layer, const model_rope *rope, double length, const posenc_problem *asked,
                    suspect_list *list);

/* Adds to the names of layers' ropes, in a list of all, where one is another without its scaling. */
void model_tell_unscaled(suspect_list *ropes);

/* Returns the part of config.json that describes this table of a rope on all columns of a head: {"head_dim",
   "rope_parameters": {...}}; of several axes, their sections. Returns null and sets `why` if no config describes it. */
json_t *model_fragment(const posenc_problem *problem, fault *why);

/* Changes the fragment to a head of `head` columns, of which `dim` from `start` on are rotated. */
void model_fragment_head(json_t *fragment, int64_t dim, int64_t start, int64_t head);

#endif
