/* SPDX-License-Identifier: MIT */
/* Words of a config: its values under the keys of inspect/models/keys.def, and the rope that they describe. */
#ifndef POSENC_MODELS_WORDS_H
#define POSENC_MODELS_WORDS_H

#include "inspect/files/stored.h"
#include "inspect/models/model.h"

#include <jansson.h>

/* The meanings of keys. One meaning can have several keys. */
typedef enum word {
  BASE,         /* base of the frequencies */
  BASE_RATIO,   /* a factor of the base */
  HEAD,         /* columns of a head */
  HIDDEN,       /* columns of all heads */
  HEADS,        /* number of heads */
  HIDDEN_SHARE, /* by how much HIDDEN is divided for attention */
  ROTARY_HEAD,  /* columns of a head that are rotated, after PLAIN_HEAD others */
  PLAIN_HEAD,
  TRAILING,     /* class: if not 0, the rotated columns are the last ones of a head */
  ROTARY_DIM,   /* columns that are rotated */
  ROTARY_SHARE, /* their share of a head's columns */
  POSITIONS,    /* positions of the model */
  ORIGINAL,     /* positions of its training before it was extended */
  TYPE,         /* kind of scaling */
  FACTOR,
  ALPHA,           /* dynamic: the stretch of the base, for any length */
  IS_SCALED,       /* whether the scaling is Llama 3's, of FACTOR, LOW_FREQ, HIGH_FREQ and ORIGINAL */
  APPLY_SCALE,     /* yarn: false if the attention factor is 1 */
  ATTENTION,       /* attention factor */
  ATTENTION_TIMES, /* a factor of the formula's attention factor */
  MSCALE,          /* yarn: the attention factor is m(MSCALE) / m(MSCALE_ALL), m(c) = 0.1 c ln factor + 1 */
  MSCALE_ALL,
  LOG_MULTIPLIER, /* yarn: if not 0, the attention factor is 1, and scores have one */
  BETA_FAST,
  BETA_SLOW,
  TRUNCATE,
  LOW_FREQ,
  HIGH_FREQ,
  SHORT_FACTORS, /* for sequences up to ORIGINAL positions, and for longer ones */
  LONG_FACTORS,
  FACTORS,      /* for all sequences */
  SHORT_MSCALE, /* attention factors of SHORT_ and LONG_FACTORS */
  LONG_MSCALE,
  NEIGHBOURS, /* whether pairs are neighbours */
  SECTIONS,   /* frequencies of each axis of positions */
  SECTIONS_INTERLEAVED,
  ALIBI,
  KIND,           /* kind of encoding */
  NO_ROPE_AT_ALL, /* true: the model has no rope */
  XPOS,
  SCALE,          /* class: factor of the positions */
  PARAMETERS,     /* the object of the scaling; this and the next ones are read for the whole config */
  WITHOUT_EFFECT, /* keys that change no angle */
  PATCH,          /* columns of a patch of a picture */
  PICTURE,        /* columns of a picture, or its height and width */
  SIDES,          /* width and height of the grid of a picture */
  TILE,           /* side of a window of a picture */
  VOCABULARY,
  WINDOW,        /* reach of sliding attention */
  LAYERS,        /* number of layers */
  LAYER_TYPES,   /* the type of each layer: names, or numbers of what it slides over or compresses */
  PATTERN,       /* all layers slide but every n-th; or a letter or a flag for each */
  FULL_EVERY,    /* all layers slide but the first and every n-th after it */
  FULL_AT,       /* the numbers of the layers that do not */
  USES_ROPE,     /* for each layer whether it has a rope */
  NO_ROPE_EVERY, /* every n-th layer has none */
  UNSCALED,      /* class: if not 0, these layers have no scaling */
  NO_ROPE,       /* class: if not 0, these layers have none in a model of sliding attention */
  OWN,           /* objects of keys of single layers, by their numbers */
  WORDS
} word;

enum key_place {
  TOP = 1 << 0,      /* config.json */
  ROPE = 1 << 1,     /* rope_parameters, or rope_scaling */
  GGUF = 1 << 2,     /* after the name of the architecture */
  TENSOR = 1 << 3,   /* the tensor of that name */
  FULL = 1 << 4,     /* for layers of full attention only */
  SLIDING = 1 << 5,  /* for layers of sliding attention only, also of pictures in windows */
  COMPRESS = 1 << 6, /* for layers of compressed attention only */
  LAYER_PLACES = FULL | SLIDING | COMPRESS
};

enum { KEYS_MAX = 192 };

typedef struct config_keys {
  const json_t *top, *rope; /* rope may be null */
  const char *rope_name;    /* the key of `rope` */
  bool is_own;              /* `rope` is of these layers alone */
  const char *architecture; /* of a GGUF file, otherwise null */
  unsigned layers;          /* FULL, SLIDING or COMPRESS for those layers; 0 for all */
  bool unscaled;            /* these layers have no scaling */
  int64_t layer;            /* the layer whose element of lists is taken; -1 if there is none */
  const json_t *own;        /* the keys of that layer alone, or null */
  model_note *tell;
  void *argument;
  bool used[KEYS_MAX]; /* keys that were read, by row */
  bool unread;         /* a key that may be about rope is not known */
  bool failed;         /* a value has the wrong type, which `why` describes */
  fault *why;
} config_keys;

/* Returns the value of a word; null if the config has none, or has JSON's null. */
const json_t *words_find(config_keys *w, word what);

/* The key of a word's value, as "rope_scaling.factor"; without a value, the word's first name for all layers. */
typedef struct key_name {
  char text[160];
} key_name;
key_name words_name(const config_keys *w, word what);

/* The name by which tables of models have this one: model_type, the architecture of a GGUF file, or "params.json"; null
   if it is not known. */
const char *words_model(const config_keys *w);

/* The default of the model's class; false if it has none. */
bool words_class(const config_keys *w, word what, double *value);

/* Find a number of a word, or the class's default, whose use is reported. Return false if there is none, or, with
   `failed` set, if the value has another type. */
bool words_number(config_keys *w, word what, double *value);
bool words_whole(config_keys *w, word what, int64_t *value);
bool words_flag(config_keys *w, word what, bool *value);

/* Returns the text of a word; null if there is none. */
const char *words_text(config_keys *w, word what);

/* Returns a new array of `count` numbers; null if there is none. */
double *words_list(config_keys *w, word what, int64_t *count);

/* The sets of LAYER_PLACES that have keys of their own, or defaults of the class. */
unsigned words_layers(const config_keys *w);

/* The list that has an element for each layer, n-th of those that are about rope; null after the last. *name is its
   key. */
const json_t *words_layer_list(const config_keys *w, size_t n, const char **name);

/* Whether any key shows that the model has a rope. */
bool words_has_rope(const config_keys *w);

/* The --grid of the axes of the model's pictures, with H, W and N for their sizes; "" if it has axes that are not
   known, null if it has none. */
const char *words_grid(const config_keys *w);

/* words_fail sets `failed` and the message, and returns false; words_tell reports a note. */
__attribute__((format(printf, 2, 3))) bool words_fail(config_keys *w, const char *format, ...);
bool words_refuse(config_keys *w, word what, const json_t *value, const char *words); /* "KEY VALUE: words" */
bool words_missing(config_keys *w, word what);
__attribute__((format(printf, 2, 3))) void words_tell(const config_keys *w, const char *format, ...);

/* Fails at an unknown key of the scaling's object, and reports keys that were not read. */
bool words_finish(config_keys *w);

/* A value for a message, at most 60 bytes of it. */
typedef struct value_text {
  char text[72];
} value_text;
value_text value_text_of(const json_t *value);

/* ---- the rope of a config (rope.c) ---- */

/* The lists of factors that ropes point to. */
typedef struct rope_lists {
  double **items;
  size_t count;
} rope_lists;
void rope_lists_free(rope_lists *lists);

/* Reads the rope. Returns false and sets w->why if there is none. */
bool rope_read(config_keys *w, rope_lists *lists, model_rope *rope);

#endif
