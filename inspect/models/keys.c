/* SPDX-License-Identifier: MIT */
/* Looks up what a config says by the rows of keys.def. */
#include "inspect/models/keys.h"

#include "common/memory.h"
#include "common/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  word what;
  const char *name;
  unsigned places;
} keys[] = {
#define KEY(word, name, places) {word, name, places},
#include "inspect/models/keys.def"
};
enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert((int)KEYS <= (int)KEYS_MAX, "a set of used keys has a member for each");

static const struct {
  const char *model_type;
  word what;
  unsigned places;
  double value;
} classes[] = {
#define CLASS(model_type, word, places, value) {model_type, word, places, value},
#include "inspect/models/keys.def"
};
enum { CLASSES = sizeof classes / sizeof *classes };

/* ---- messages ---------------------------------------------------------------------------------- */

bool words_fail(config_keys *w, const char *format, ...) {
  va_list arguments;
  if (w->failed) return false;
  w->failed = true;
  va_start(arguments, format);
  vsnprintf(w->why->text, sizeof w->why->text, format, arguments);
  va_end(arguments);
  return false;
}

bool words_refuse(config_keys *w, word what, const json_t *value, const char *words) {
  return words_fail(w, "%s %s: %s", words_name(w, what).text, value_text_of(value).text, words);
}

bool words_missing(config_keys *w, word what) {
  return words_fail(w, "%s is missing", words_name(w, what).text);
}

void words_tell(const config_keys *w, const char *format, ...) {
  char text[600];
  va_list arguments;
  if (!w->tell) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  w->tell(text, w->argument);
}

value_text value_text_of(const json_t *value) {
  enum { SHOWN = 60 };
  value_text shown = {"null"};
  if (json_is_real(value)) {
    snprintf(shown.text, sizeof shown.text, "%s", number_of(json_real_value(value)).text);
    return shown;
  }
  char *all = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
  if (all) snprintf(shown.text, sizeof shown.text, "%.*s%s", SHOWN, all, strlen(all) > SHOWN ? "..." : "");
  free(all);
  return shown;
}

/* ---- looking up -------------------------------------------------------------------------------- */

static bool is_for(const config_keys *w, unsigned places) {
  const unsigned only = places & LAYER_PLACES;
  return !only || only == w->layers;
}

const char *words_model(const config_keys *w) {
  const char *type = json_string_value(json_object_get(w->top, "model_type"));
  if (w->architecture || type) return w->architecture ? w->architecture : type;
  const bool is_meta =
      json_object_get(w->top, "dim") && json_object_get(w->top, "n_heads") && json_object_get(w->top, "norm_eps");
  return is_meta ? "params.json" : NULL;
}

/* Whether a row of a table of models, with these places, is of this model. */
static bool is_model(const config_keys *w, const char *named, unsigned places) {
  const char *own = words_model(w);
  return own && !(places & GGUF) == !w->architecture && strcmp(own, named) == 0;
}

static const json_t *present(const json_t *value) {
  return json_is_null(value) ? NULL : value;
}

/* Returns the value of a key. The scaling's object is searched first. */
static const json_t *value_of(const config_keys *w, int key) {
  const unsigned places = keys[key].places;
  const char *const name = keys[key].name;
  char full[160];
  if (!w->architecture) {
    const json_t *inner = places & ROPE ? present(json_object_get(w->rope, name)) : NULL;
    if (!inner && places & TOP) inner = present(json_object_get(w->own, name));
    if (!inner && places & TOP) inner = present(json_object_get(w->top, name));
    return inner;
  }
  if (places & TENSOR) return json_object_get(w->top, name);
  snprintf(full, sizeof full, "%s.%s", w->architecture, name);
  return places & GGUF ? json_object_get(w->top, full) : NULL;
}

/* Returns the row of the word's value; -1 if there is none. */
static int find_key(const config_keys *w, word what) {
  for (int key = 0; key < KEYS; key++)
    if (keys[key].what == what && is_for(w, keys[key].places) && value_of(w, key)) return key;
  return -1;
}

const json_t *words_find(config_keys *w, word what) {
  for (int key = 0; key < KEYS; key++)
    if (keys[key].what == what) w->used[key] = true;
  const int key = find_key(w, what);
  return key < 0 ? NULL : value_of(w, key);
}

key_name words_name(const config_keys *w, word what) {
  key_name name;
  int key = find_key(w, what);
  const bool is_inner = key >= 0 && keys[key].places & ROPE && present(json_object_get(w->rope, keys[key].name));
  const unsigned others = LAYER_PLACES | (w->architecture ? TOP | ROPE : GGUF | TENSOR);
  for (int other = 0; other < KEYS && key < 0; other++)
    if (keys[other].what == what && !(keys[other].places & others)) key = other;
  const bool is_prefixed = key >= 0 && w->architecture && !(keys[key].places & TENSOR);
  const char *prefix = is_prefixed ? w->architecture : "";
  if (is_inner) prefix = w->rope_name;
  snprintf(name.text, sizeof name.text, "%s%s%s", prefix, is_inner || is_prefixed ? "." : "",
           key < 0 ? "?" : keys[key].name);
  return name;
}

/* Finds the class's value in a row of these layers or, with `any`, of all layers. */
static bool find_class(const config_keys *w, word what, bool any, double *value) {
  for (int n = 0; n < CLASSES; n++)
    if (classes[n].what == what && is_for(w, classes[n].places) && (any || classes[n].places & LAYER_PLACES) &&
        is_model(w, classes[n].model_type, classes[n].places)) {
      *value = classes[n].value;
      return true;
    }
  return false;
}

bool words_class(const config_keys *w, word what, double *value) {
  return find_class(w, what, true, value);
}

/* Finds the default of the model's class, and reports that it is used. */
static bool find_default(const config_keys *w, word what, double *value) {
  if (!words_class(w, what, value)) return false;
  words_tell(w, "%s is not in it; %s's default, %s, is taken", words_name(w, what).text, words_model(w),
             number_of_position(*value).text);
  return true;
}

/* ---- values ------------------------------------------------------------------------------------ */

/* Returns the value of a word that is a number. The class's default for layers of one type comes before a key of all
   layers. */
static const json_t *find_number(config_keys *w, word what) {
  double unused;
  const json_t *json = words_find(w, what);
  const int key = find_key(w, what);
  if (key >= 0 && present(json_object_get(w->own, keys[key].name))) return json;
  if (key >= 0 && w->is_own && present(json_object_get(w->rope, keys[key].name))) return json;
  return key >= 0 && !(keys[key].places & LAYER_PLACES) && find_class(w, what, false, &unused) ? NULL : json;
}

/* Returns the layer's element of a list that has one for each layer; other values as they are; null, with a message, if
   there is no such element. */
static const json_t *of_layer(config_keys *w, word what, const json_t *json) {
  if (!json_is_array(json)) return json;
  const json_t *one = w->layer < 0 ? NULL : json_array_get(json, (size_t)w->layer);
  if (!one && w->layer < 0)
    words_refuse(w, what, json, "a list, and it is not known for which layers");
  else if (!one)
    words_fail(w, "%s %s: it has no element for layer %" PRId64, words_name(w, what).text, value_text_of(json).text,
               w->layer);
  return one;
}

/* Converts a number. Doubles can hold all numbers of JSON except integers of more than 53 bits, and reals that are not
   near any double. */
static bool number_of_value(config_keys *w, word what, const json_t *json, double *value) {
  *value = json_number_value(json);
  if (!json_is_number(json)) return words_refuse(w, what, json, "no number");
  if (json_is_integer(json) && (fabs(*value) > 0x1p62 || (json_int_t)*value != json_integer_value(json)))
    return words_refuse(w, what, json, "an integer that is no double");
  return true;
}

bool words_number(config_keys *w, word what, double *value) {
  const json_t *json = of_layer(w, what, find_number(w, what));
  if (w->failed) return false;
  return json ? number_of_value(w, what, json, value) : find_default(w, what, value);
}

bool words_whole(config_keys *w, word what, int64_t *value) {
  double number;
  const json_t *json = of_layer(w, what, find_number(w, what));
  if (w->failed) return false;
  if (json_is_integer(json)) {
    *value = json_integer_value(json);
    return true;
  }
  if (json ? !number_of_value(w, what, json, &number) : !find_default(w, what, &number)) return false;
  if (number != rint(number) || fabs(number) > 0x1p53)
    return words_fail(w, "%s %s: no whole number", words_name(w, what).text, number_of(number).text);
  *value = (int64_t)number;
  return true;
}

bool words_flag(config_keys *w, word what, bool *value) {
  const json_t *json = words_find(w, what);
  if (!json) return false;
  if (!json_is_boolean(json)) return words_refuse(w, what, json, "not true or false");
  *value = json_is_true(json);
  return true;
}

const char *words_text(config_keys *w, word what) {
  const json_t *json = words_find(w, what);
  if (json && !json_is_string(json)) words_refuse(w, what, json, "no string");
  return json_string_value(json);
}

double *words_list(config_keys *w, word what, int64_t *count) {
  const json_t *json = words_find(w, what);
  *count = (int64_t)json_array_size(json);
  if (!json) return NULL;
  double *values = memory_take((size_t)*count, sizeof *values);
  if (!json_is_array(json)) words_refuse(w, what, json, "no list");
  for (int64_t n = 0; n < *count && !w->failed; n++)
    number_of_value(w, what, json_array_get(json, (size_t)n), &values[n]);
  if (!w->failed) return values;
  free(values);
  return NULL;
}

static const struct {
  const char *model;
  unsigned places;
  const char *grid;
} grids[] = {
#define GRID(model, places, grid) {model, places, grid},
#include "inspect/models/keys.def"
};
enum { GRIDS = sizeof grids / sizeof *grids };

/* ---- the whole --------------------------------------------------------------------------------- */

unsigned words_layers(const config_keys *w) {
  const bool slides = words_find(&(config_keys){.top = w->top, .architecture = w->architecture}, WINDOW);
  unsigned found = 0;
  for (int key = 0; key < KEYS; key++)
    if (keys[key].places & LAYER_PLACES && value_of(w, key)) found |= keys[key].places & LAYER_PLACES;
  /* Without a window, all layers are of one type for a class that tells some to have no rope, and in GGUF. */
  for (int n = 0; n < CLASSES; n++)
    if (is_model(w, classes[n].model_type, classes[n].places) &&
        (slides || (classes[n].what != NO_ROPE && !w->architecture)))
      found |= classes[n].places & LAYER_PLACES;
  for (int n = 0; n < GRIDS; n++)
    if (is_model(w, grids[n].model, 0)) found |= grids[n].places;
  return found;
}

const json_t *words_layer_list(const config_keys *w, size_t n, const char **name) {
  static const word about[] = {BASE, HEAD, ROTARY_DIM, ROTARY_SHARE, ROTARY_HEAD};
  for (int key = 0; key < KEYS; key++)
    for (size_t k = 0; k < sizeof about / sizeof *about; k++)
      if (keys[key].what == about[k] && json_is_array(value_of(w, key)) && n-- == 0) {
        *name = keys[key].name;
        return value_of(w, key);
      }
  return NULL;
}

const char *words_grid(const config_keys *w) {
  const char *type = json_string_value(json_object_get(w->rope, "rope_type"));
  const bool is_axial = type && strcmp(type, "axial") == 0;
  /* Configs of language models may have the patches of their pictures beside their own keys. */
  const bool is_picture = (find_key(w, PATCH) >= 0 && find_key(w, VOCABULARY) < 0) || find_key(w, SIDES) >= 0;
  for (int n = 0; (is_axial || is_picture) && n < GRIDS; n++)
    if (is_model(w, grids[n].model, 0) && (!w->layers || is_for(w, grids[n].places))) return grids[n].grid;
  return is_axial || is_picture ? "" : NULL;
}

bool words_has_rope(const config_keys *w) {
  static const word about[] = {BASE,     ROTARY_DIM, ROTARY_SHARE, ROTARY_HEAD, BASE_RATIO, NEIGHBOURS,
                               SECTIONS, PARAMETERS, FACTORS,      USES_ROPE,   IS_SCALED};
  const json_t *alibi = json_object_get(w->top, "alibi");
  const char *kind = json_string_value(json_object_get(w->top, "position_embedding_type")), *grid = words_grid(w);
  const char *named = words_model(w);
  /* A null also shows that the model's class has the key. */
  if (json_object_get(w->top, "rope_scaling") || json_is_false(alibi)) return true;
  if (kind && (strcmp(kind, "rotary") == 0 || strcmp(kind, "rope") == 0)) return true;
  if ((grid && *grid) || (named && strcmp(named, "params.json") == 0)) return true;
  for (size_t n = 0; n < sizeof about / sizeof *about; n++)
    if (find_key(w, about[n]) >= 0) return true;
  return words_layers(w);
}

static int row_of(const char *name, unsigned places) {
  for (int key = 0; key < KEYS; key++)
    if (keys[key].places & places && strcmp(keys[key].name, name) == 0) return key;
  return -1;
}

/* Whether any word with this key in the scaling's object was read. */
static bool is_used(const config_keys *w, const char *name) {
  for (int key = 0; key < KEYS; key++)
    if (keys[key].places & ROPE && w->used[key] && strcmp(keys[key].name, name) == 0) return true;
  return false;
}

/* Reports unused keys of config.json, or of GGUF after its architecture, that may be about rope. */
static void tell_unused(config_keys *w) {
  const size_t ahead = w->architecture ? strlen(w->architecture) : 0;
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)w->top, name, value) {
    const bool is_behind = ahead && strncmp(name, w->architecture, ahead) == 0 && name[ahead] == '.';
    const char *own = is_behind ? name + ahead + 1 : name;
    const int row = row_of(own, w->architecture ? GGUF | TENSOR : TOP);
    if (!present(value) || (!strstr(own, "rope") && !strstr(own, "rotary"))) continue;
    if (row >= 0 && (w->used[row] || !is_for(w, keys[row].places) || keys[row].what >= PARAMETERS)) continue;
    if (row >= 0 && w->unscaled) continue;
    w->unread = true;
    words_tell(w, "%.100s %s is not looked at", name, value_text_of(value).text);
  }
}

bool words_finish(config_keys *w) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)w->rope, name, value) {
    const int row = row_of(name, ROPE);
    if (row < 0)
      return words_fail(w, "%s.%.100s %s: what it means is not known", w->rope_name, name, value_text_of(value).text);
    if (present(value) && !is_used(w, name) && keys[row].what != WITHOUT_EFFECT)
      words_tell(w, "%s.%s %s has no effect there", w->rope_name, name, value_text_of(value).text);
  }
  tell_unused(w);
  return !w->failed;
}
