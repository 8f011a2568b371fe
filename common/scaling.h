/* SPDX-License-Identifier: MIT */
/* RoPE frequency scalings as names, keys and values: "yarn,factor=16,original=4096". One table for reading, writing and
   listing them. */
#ifndef POSENC_COMMON_SCALING_H
#define POSENC_COMMON_SCALING_H

#include "posenc.h"

#include <jansson.h>
#include <stdio.h>

/* The type of a key's value and of its member of posenc_scaling: double, int64_t, bool, or an array of dim/2
   doubles. */
typedef enum scaling_type { SCALING_REAL, SCALING_WHOLE, SCALING_FLAG, SCALING_LIST } scaling_type;

typedef struct scaling_key {
  const char *name;
  scaling_type type;
  size_t offset;
} scaling_key;

enum { SCALING_KEYS = 8, SCALINGS = POSENC_SCALING_LONGROPE + 1 };
extern const scaling_key scaling_keys[SCALING_KEYS];

typedef struct scaling_form {
  const char *name, *summary;
  unsigned keys, needed;   /* sets of 1 << index in scaling_keys; others have defaults */
  posenc_scaling defaults; /* including the kind */
} scaling_form;

/* The scalings, indexed by kind. */
extern const scaling_form scaling_forms[SCALINGS];

/* Prints a key's default: "=1", or a note such as "=by the formula". */
void scaling_default(const scaling_form *form, int key, FILE *stream);

/* Prints the value of --scaling, without keys that have their defaults. dim: the problem's. */
void scaling_write(const posenc_scaling *scaling, int64_t dim, FILE *stream);

/* Returns {"kind": name, key: value, ...} with the keys of the kind; null if there is no scaling. An infinite factor is
   null. */
json_t *scaling_json(const posenc_scaling *scaling, int64_t dim);

#endif
