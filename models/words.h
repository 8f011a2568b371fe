/* SPDX-License-Identifier: MIT */
/* What a config has under the keys of models/keys.def. */
#ifndef POSENC_MODELS_WORDS_H
#define POSENC_MODELS_WORDS_H

#include "files/stored.h"
#include "models/types.h"

#include <jansson.h>

/* What keys mean; one meaning has several names. */
typedef enum word {
  BASE,        /* of the frequencies */
  BASE_RATIO,  /* a factor of it */
  HEAD,        /* columns of a head */
  HIDDEN,      /* those of all heads */
  HEADS,       /* how many there are */
  ROTARY_HEAD, /* columns of a head that are turned, behind PLAIN_HEAD others */
  PLAIN_HEAD,
  ROTARY_DIM,   /* columns that are turned */
  ROTARY_SHARE, /* their share of the head's */
  POSITIONS,    /* that the model takes */
  ORIGINAL,     /* that it was trained with before it was stretched */
  TYPE,         /* of the scaling */
  FACTOR,
  ALPHA,           /* dynamic: the stretch of the base, whatever the length */
  ATTENTION,       /* attention factor */
  ATTENTION_TIMES, /* a factor of the formula's attention factor */
  MSCALE,          /* yarn: the attention factor is m(MSCALE) / m(MSCALE_ALL), m(c) = 0.1 c ln factor + 1 */
  MSCALE_ALL,
  LOG_MULTIPLIER, /* yarn: not 0: the attention factor is 1, and scores have another */
  BETA_FAST,
  BETA_SLOW,
  TRUNCATE,
  LOW_FREQ,
  HIGH_FREQ,
  SHORT_FACTORS, /* of sequences up to ORIGINAL positions, and of longer ones */
  LONG_FACTORS,
  FACTORS,      /* of all */
  SHORT_MSCALE, /* attention factors beside them */
  LONG_MSCALE,
  NEIGHBOURS, /* whether pairs are neighbours */
  SECTIONS,   /* frequencies of each axis of positions */
  SECTIONS_INTERLEAVED,
  ALIBI,
  KIND, /* of encoding */
  XPOS,
  PARAMETERS, /* the object of the scaling */
  WITHOUT_EFFECT,
  WORDS
} word;

enum key_place {
  TOP = 1 << 0,     /* config.json */
  ROPE = 1 << 1,    /* rope_parameters, or rope_scaling */
  GGUF = 1 << 2,    /* behind the name of the architecture */
  TENSOR = 1 << 3,  /* the tensor of that name */
  FULL = 1 << 4,    /* for layers of full attention alone */
  SLIDING = 1 << 5, /* for layers of sliding attention alone */
};

enum { KEYS_MAX = 128 };

typedef struct words {
  const json_t *top, *rope; /* rope may be null */
  const char *rope_name;    /* the key of `rope` */
  const char *architecture; /* of a GGUF file, else null */
  unsigned layers;          /* FULL or SLIDING: those layers; 0: all */
  model_note *tell;
  void *argument;
  bool used[KEYS_MAX]; /* keys that were asked for, by row */
  bool failed;         /* a value has the wrong type, and `why` tells which */
  fault *why;
} words;

/* The value of a word; null if the config has none, or has JSON's null. */
const json_t *words_find(words *w, word what);

/* The key of that value, "rope_scaling.factor". Of a word without a value, its first name for all layers. */
typedef struct key_name {
  char text[160];
} key_name;
key_name words_name(const words *w, word what);

/* Finds numbers, with the class's default if there is one, which is told. False if there is none, or it is no such
   value; then `failed` is set. */
bool words_number(words *w, word what, double *value);
bool words_whole(words *w, word what, int64_t *value);
bool words_flag(words *w, word what, bool *value);

/* Null if there is none. */
const char *words_text(words *w, word what);

/* A new array of so many numbers; null if there is none. */
double *words_list(words *w, word what, int64_t *count);

/* Whether layers of sliding attention have keys, or defaults of the class, of their own. */
bool words_has_sliding(const words *w);

/* Whether any key says that the model has a rope. */
bool words_has_rope(const words *w);

/* Sets `failed` and the message; false. */
__attribute__((format(printf, 2, 3))) bool words_fail(words *w, const char *format, ...);
__attribute__((format(printf, 2, 3))) void words_tell(const words *w, const char *format, ...);

/* Fails at a key of the scaling's object that is not known, and tells of keys that were not asked for. */
bool words_finish(words *w);

/* The value in a message, at most 60 bytes of it. */
typedef struct value_text {
  char text[72];
} value_text;
value_text value_text_of(const json_t *value);

#endif
