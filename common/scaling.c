/* SPDX-License-Identifier: MIT */
#include "common/scaling.h"

#include "common/number.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

enum { FACTOR, ORIGINAL, LENGTH, LOW, HIGH, TRUNCATE, ATTENTION, FACTORS };

const scaling_key scaling_keys[SCALING_KEYS] = {
    [FACTOR] = {"factor", SCALING_REAL, offsetof(posenc_scaling, factor)},
    [ORIGINAL] = {"original", SCALING_WHOLE, offsetof(posenc_scaling, original)},
    [LENGTH] = {"length", SCALING_WHOLE, offsetof(posenc_scaling, length)},
    [LOW] = {"low", SCALING_REAL, offsetof(posenc_scaling, low)},
    [HIGH] = {"high", SCALING_REAL, offsetof(posenc_scaling, high)},
    [TRUNCATE] = {"truncate", SCALING_FLAG, offsetof(posenc_scaling, truncate)},
    [ATTENTION] = {"attention", SCALING_REAL, offsetof(posenc_scaling, attention)},
    [FACTORS] = {"factors", SCALING_LIST, offsetof(posenc_scaling, factors)},
};

#define BIT(key) (1u << (key))
/* The defaults of the constructors in posenc.h, which are functions and cannot be called in an initializer
   (tests/scaling compares the two). */
#define UNSCALED .truncate = true

const scaling_form scaling_forms[SCALINGS] = {
    [POSENC_SCALING_NONE] = {"none", "frequencies as they are", BIT(ATTENTION), 0, {UNSCALED}},
    [POSENC_SCALING_LINEAR] = {"linear",
                               "all frequencies divided by the factor (position interpolation)",
                               BIT(FACTOR) | BIT(ATTENTION),
                               BIT(FACTOR),
                               {UNSCALED, .kind = POSENC_SCALING_LINEAR}},
    [POSENC_SCALING_DYNAMIC] = {"dynamic",
                                "a larger base for a length beyond the original one (NTK-aware)",
                                BIT(FACTOR) | BIT(ORIGINAL) | BIT(LENGTH) | BIT(ATTENTION),
                                BIT(FACTOR) | BIT(ORIGINAL) | BIT(LENGTH),
                                {UNSCALED, .kind = POSENC_SCALING_DYNAMIC}},
    [POSENC_SCALING_YARN] = {"yarn",
                             "a ramp by index from w to w / factor, and an attention factor",
                             BIT(FACTOR) | BIT(ORIGINAL) | BIT(LOW) | BIT(HIGH) | BIT(TRUNCATE) | BIT(ATTENTION),
                             BIT(FACTOR) | BIT(ORIGINAL),
                             {UNSCALED, .kind = POSENC_SCALING_YARN, .low = 1.0, .high = 32.0}},
    [POSENC_SCALING_LLAMA3] =
        {"llama3",
         "a ramp by wavelength from w to w / factor",
         BIT(FACTOR) | BIT(ORIGINAL) | BIT(LOW) | BIT(HIGH) | BIT(ATTENTION),
         0,
         {.kind = POSENC_SCALING_LLAMA3, .factor = 8.0, .original = 8192, .low = 1.0, .high = 4.0, .truncate = true}},
    /* The original length is required, but without a factor it has no effect. */
    [POSENC_SCALING_LONGROPE] = {"longrope",
                                 "a factor for each frequency, and an attention factor",
                                 BIT(FACTOR) | BIT(ORIGINAL) | BIT(ATTENTION) | BIT(FACTORS),
                                 BIT(FACTORS),
                                 {UNSCALED, .kind = POSENC_SCALING_LONGROPE, .factor = 1.0, .original = 2}},
};

static double real(const posenc_scaling *s, int key) {
  return *(const double *)((const char *)s + scaling_keys[key].offset);
}

static int64_t whole(const posenc_scaling *s, int key) {
  return *(const int64_t *)((const char *)s + scaling_keys[key].offset);
}

static bool is_default(const posenc_scaling *s, int key) {
  const posenc_scaling *defaults = &scaling_forms[s->kind].defaults;
  switch (scaling_keys[key].type) {
  case SCALING_REAL:
    return real(s, key) == real(defaults, key);
  case SCALING_WHOLE:
    return whole(s, key) == whole(defaults, key);
  case SCALING_FLAG:
    return s->truncate == defaults->truncate;
  case SCALING_LIST:
    break;
  }
  return !s->factors;
}

static void write_value(const posenc_scaling *s, int key, int64_t dim, FILE *stream) {
  switch (scaling_keys[key].type) {
  case SCALING_REAL:
    fputs(number_of(real(s, key)).text, stream);
    break;
  case SCALING_WHOLE:
    fprintf(stream, "%" PRId64, whole(s, key));
    break;
  case SCALING_FLAG:
    fputs(s->truncate ? "yes" : "no", stream);
    break;
  case SCALING_LIST:
    for (int64_t i = 0; i < dim / 2; i++) fprintf(stream, "%s%s", i ? ":" : "", number_of(s->factors[i]).text);
    break;
  }
}

void scaling_default(const scaling_form *form, int key, FILE *stream) {
  if (key == ATTENTION || (key == ORIGINAL && form->defaults.kind == POSENC_SCALING_LONGROPE)) {
    fputs(key == ATTENTION ? "=by the formula" : " (with a factor)", stream);
    return;
  }
  fputc('=', stream);
  write_value(&form->defaults, key, 0, stream);
}

void scaling_write(const posenc_scaling *s, int64_t dim, FILE *stream) {
  const scaling_form *form = &scaling_forms[s->kind];
  fputs(form->name, stream);
  for (int key = 0; key < SCALING_KEYS; key++) {
    if (!(form->keys & BIT(key)) || (is_default(s, key) && !(form->needed & BIT(key)))) continue;
    fprintf(stream, ",%s=", scaling_keys[key].name);
    write_value(s, key, dim, stream);
  }
}

static json_t *value_json(const posenc_scaling *s, int key, int64_t dim) {
  switch (scaling_keys[key].type) {
  case SCALING_REAL:
    return json_real(real(s, key));
  case SCALING_WHOLE:
    return json_integer(whole(s, key));
  case SCALING_FLAG:
    return json_boolean(s->truncate);
  case SCALING_LIST:
    break;
  }
  json_t *all = json_array();
  for (int64_t i = 0; s->factors && i < dim / 2; i++)
    json_array_append_new(all, isinf(s->factors[i]) ? json_null() : json_real(s->factors[i]));
  return all;
}

json_t *scaling_json(const posenc_scaling *s, int64_t dim) {
  const scaling_form *form = &scaling_forms[s->kind];
  if (s->kind == POSENC_SCALING_NONE && s->attention == 0.0) return json_null();
  json_t *made = json_pack("{s:s}", "kind", form->name);
  for (int key = 0; key < SCALING_KEYS; key++)
    if (form->keys & BIT(key)) json_object_set_new(made, scaling_keys[key].name, value_json(s, key, dim));
  return made;
}
