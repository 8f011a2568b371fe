/* SPDX-License-Identifier: MIT */
/* Opens the config of a model, finds the rope of each kind of layers, and writes a problem as a part of a config. */
#include "common/memory.h"
#include "common/shapes.h"
#include "inspect/files/formats.h"
#include "inspect/files/stored.h"
#include "inspect/models/keys.h"
#include "inspect/models/model.h"
#include "reference/oracle.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS_MAX = 64, LAYERS_MAX = 1 << 14, JSON_MAX = 64 << 20, REASON_MAX = 100 };

static const char full[] = "full_attention", sliding[] = "sliding_attention", plain[] = "main",
                  compressed[] = "compress";

/* Layers that have the same keys about rope. */
typedef struct layer_kind {
  char name[64];
  unsigned place;        /* one of LAYER_PLACES, or 0 */
  json_t *mark;          /* those keys, as far as they are of single layers; null before the first such layer */
  int64_t first;         /* number of the first such layer; -1 if it is not known */
  int64_t layers;        /* how many; 0 if it is not known */
  char none[REASON_MAX]; /* the key that says that they have no rope; "" if they have one */
} layer_kind;

struct model {
  json_t *root;
  const json_t *top;  /* the object in `root` that has the rope */
  char *architecture; /* of a GGUF file */
  layer_kind kinds[KINDS_MAX];
  size_t kind_count;
  bool is_split;          /* layers of several types have keys of their own */
  unsigned char *kind_of; /* the kind of each layer */
  int64_t layers;         /* their number; 0 if it is not known */
  rope_lists lists;
};

/* ---- opening ----------------------------------------------------------------------------------- */

static config_keys words_of(const model *m) {
  return (config_keys){.top = m->top, .architecture = m->architecture, .layer = -1};
}

/* Finds the config of the language model among those of several parts. */
static void find_top(model *m) {
  static const char *const parts[] = {"text_config", "llm_config", "language_config", "thinker_config"};
  m->top = m->root;
  for (bool found = true; found;) {
    const config_keys here = words_of(m);
    found = false;
    if (words_has_rope(&here)) return;
    for (size_t n = 0; n < sizeof parts / sizeof *parts && !found; n++) {
      const json_t *part = json_object_get(m->top, parts[n]);
      found = json_is_object(part);
      if (found) m->top = part;
    }
  }
}

/* Whether each value is an object, for one kind of layers, or null. */
static bool is_by_layer(const json_t *parameters) {
  const char *name;
  json_t *value;
  bool any = false;
  json_object_foreach((json_t *)parameters, name, value) {
    if (!json_is_object(value) && !json_is_null(value)) return false;
    any = any || json_is_object(value);
  }
  return any;
}

/* ---- kinds of layers --------------------------------------------------------------------------- */

static layer_kind *find_kind(model *m, const char *name) {
  for (size_t n = 0; name && n < m->kind_count; n++)
    if (strcmp(m->kinds[n].name, name) == 0) return &m->kinds[n];
  return NULL;
}

static layer_kind *add_kind(model *m, const char *name, unsigned layers) {
  if (m->kind_count == KINDS_MAX) return NULL;
  layer_kind *kind = &m->kinds[m->kind_count++];
  *kind = (layer_kind){.place = layers, .first = -1};
  snprintf(kind->name, sizeof kind->name, "%s", name);
  return kind;
}

static unsigned place_of(const char *name) {
  if (strcmp(name, full) == 0) return FULL;
  if (strcmp(name, sliding) == 0) return SLIDING;
  return strcmp(name, compressed) == 0 ? COMPRESS : 0;
}

/* Adds the types of layers that have keys of their own. */
static void add_types(model *m) {
  const json_t *parameters = json_object_get(m->top, "rope_parameters");
  const config_keys w = words_of(m);
  const unsigned places = words_layers(&w);
  const char *name;
  json_t *value;
  if (is_by_layer(parameters)) {
    json_object_foreach((json_t *)parameters, name, value) {
      layer_kind *kind = add_kind(m, name, place_of(name));
      if (kind && json_is_null(value)) snprintf(kind->none, sizeof kind->none, "rope_parameters.%.40s null", name);
    }
  } else if (places & COMPRESS) {
    add_kind(m, plain, 0);
    add_kind(m, compressed, COMPRESS);
  } else if (places) {
    add_kind(m, full, FULL);
    add_kind(m, sliding, SLIDING);
  }
  m->is_split = m->kind_count;
}

/* Returns the number of a word that has no list, or 0. */
static int64_t whole_of(const config_keys *w, word what) {
  config_keys own = *w;
  double number = 0.0;
  const json_t *json = words_find(&own, what);
  if (json_is_integer(json)) return json_integer_value(json);
  return !json && words_class(w, what, &number) ? (int64_t)number : 0;
}

/* Returns the type of a layer, in its own words; null if the config does not say. */
static const char *type_of(const config_keys *w, int64_t layer) {
  config_keys own = *w;
  const json_t *types = json_array_get(words_find(&own, LAYER_TYPES), (size_t)layer),
               *pattern = words_find(&own, PATTERN);
  const bool is_compressed = words_layers(w) & COMPRESS;
  const int64_t every = whole_of(w, PATTERN), full_every = whole_of(w, FULL_EVERY);
  const json_t *full_at = words_find(&own, FULL_AT), *number;
  size_t n;
  if (json_is_string(types)) return json_string_value(types);
  json_array_foreach(full_at, n,
                     number) if (json_is_integer(number) && json_integer_value(number) == layer) return full;
  if (json_is_array(full_at)) return words_layers(w) & FULL ? sliding : NULL;
  if (json_is_integer(types) && is_compressed) return json_integer_value(types) ? compressed : plain;
  if (json_is_integer(types)) return json_integer_value(types) ? sliding : full;
  if (json_is_string(pattern) && json_string_length(pattern))
    return json_string_value(pattern)[(size_t)layer % json_string_length(pattern)] == 'L' ? sliding : full;
  if (json_is_array(pattern)) {
    const json_t *one = json_array_get(pattern, (size_t)layer);
    if (!one) return NULL;
    return json_is_true(one) || json_integer_value(one) ? sliding : full;
  }
  if (every > 0) return (layer + 1) % every ? sliding : full;
  if (full_every <= 0) return NULL;
  return layer % full_every ? sliding : full;
}

/* Returns which of the types that have keys of their own a layer has; null if it has none of them. */
static const char *split_of(model *m, const char *type) {
  if (!type || !m->is_split || find_kind(m, type)) return type;
  if (!find_kind(m, compressed) || !find_kind(m, plain)) return type;
  return strstr(type, "compressed") ? compressed : plain;
}

/* Writes why a layer has no rope; returns whether it has none. */
static bool has_none(model *m, const config_keys *w, const char *type, int64_t layer, char *why) {
  static const char *const others[] = {"linear_attention", "conv",      "mamba",
                                       "mamba2",           "recurrent", "lightning_attention"};
  config_keys own = *w;
  const char *name;
  const json_t *uses = words_find(&own, USES_ROPE), *list;
  const int64_t every = whole_of(w, NO_ROPE_EVERY);
  double none = 0.0;
  for (size_t n = 0; type && n < sizeof others / sizeof *others; n++)
    if (strcmp(type, others[n]) == 0) return snprintf(why, REASON_MAX, "layer_types \"%s\"", type) > 0;
  for (size_t n = 0; (list = words_layer_list(w, n, &name)); n++) {
    const json_t *one = json_array_get(list, (size_t)layer);
    if (json_is_number(one) && json_number_value(one) == 0.0 && strstr(name, "theta"))
      return snprintf(why, REASON_MAX, "%s 0", name) > 0;
  }
  if (json_array_size(uses)) {
    const json_t *one = json_array_get(uses, (size_t)layer);
    if (json_is_false(one) || (json_is_integer(one) && json_integer_value(one) == 0))
      return snprintf(why, REASON_MAX, "%s %s", words_name(w, USES_ROPE).text, value_text_of(one).text) > 0;
  } else if (every > 0 && (layer + 1) % every == 0) {
    return snprintf(why, REASON_MAX, "%s %" PRId64, words_name(w, NO_ROPE_EVERY).text, every) > 0;
  }
  own.layers = type ? place_of(type) : 0;
  if (m->is_split && words_find(&own, WINDOW) && words_class(&own, NO_ROPE, &none) && none != 0.0)
    return snprintf(why, REASON_MAX, "%s's layers of %s have none", words_model(w), type) > 0;
  return false;
}

/* Returns the keys that only single layers have, for one layer. */
static json_t *mark_of(const config_keys *w, const char *split, const char *none, int64_t layer) {
  config_keys own = *w;
  const char *name;
  char number[24];
  const json_t *list;
  snprintf(number, sizeof number, "%" PRId64, layer);
  json_t *mark = json_pack("[s?, s]", split, none);
  json_array_append(mark, json_object_get(words_find(&own, OWN), number));
  for (size_t n = 0; (list = words_layer_list(w, n, &name)); n++)
    json_array_append(mark, json_array_get(list, (size_t)layer));
  return mark;
}

/* Returns the kind of a layer with these keys, a new one if there is none; null if there are too many. */
static layer_kind *kind_with(model *m, const char *split, json_t *mark, int64_t layer) {
  char number[24];
  snprintf(number, sizeof number, "%" PRId64, layer);
  for (size_t n = 0; n < m->kind_count; n++)
    if (m->kinds[n].mark && json_equal(m->kinds[n].mark, mark)) return &m->kinds[n];
  layer_kind *kind = find_kind(m, split);
  if (!kind || kind->mark) kind = add_kind(m, split && !kind ? split : number, split ? place_of(split) : 0);
  if (kind) kind->mark = json_incref(mark);
  return kind;
}

static bool add_layer(model *m, const config_keys *w, int64_t layer, fault *why) {
  char none[REASON_MAX] = "";
  const char *type = type_of(w, layer);
  const bool has_rope = !has_none(m, w, type, layer, none);
  const char *split = m->is_split || !has_rope ? split_of(m, type) : NULL;
  json_t *mark = mark_of(w, split, none, layer);
  layer_kind *kind = kind_with(m, split, mark, layer);
  json_decref(mark);
  if (!kind) return fault_say(why, "more than %d kinds of layers", KINDS_MAX);
  if (kind->first < 0) kind->first = layer;
  if (!has_rope) memcpy(kind->none, none, sizeof none);
  kind->layers++;
  m->kind_of[layer] = (unsigned char)(kind - m->kinds);
  return true;
}

/* Returns the number of layers, or of those that the lists have. */
static int64_t count_layers(const config_keys *w) {
  config_keys own = *w;
  const char *name;
  const json_t *list;
  size_t most = json_array_size(words_find(&own, LAYER_TYPES)), uses = json_array_size(words_find(&own, USES_ROPE));
  if (uses > most) most = uses;
  for (size_t n = 0; (list = words_layer_list(w, n, &name)); n++)
    if (json_array_size(list) > most) most = json_array_size(list);
  const int64_t told = whole_of(w, LAYERS);
  if (told > 0 && told < LAYERS_MAX) return told;
  return most < LAYERS_MAX ? (int64_t)most : 0;
}

/* Finds the kinds of layers. If it is not known which layers are of which type, the kinds are the types. */
static bool find_layers(model *m, fault *why) {
  const config_keys w = words_of(m);
  double none;
  add_types(m);
  m->layers = count_layers(&w);
  if (m->layers && m->is_split && !type_of(&w, 0)) m->layers = 0;
  m->kind_of = memory_take((size_t)m->layers + 1, 1);
  for (int64_t n = 0; n < m->layers; n++)
    if (!add_layer(m, &w, n, why)) return false;
  for (size_t n = 0; n < m->kind_count; n++) {
    config_keys own = w;
    own.layers = m->kinds[n].place;
    if (!m->kinds[n].layers && words_find(&own, WINDOW) && words_class(&own, NO_ROPE, &none))
      snprintf(m->kinds[n].none, REASON_MAX, "%s's layers of %s have none", words_model(&w),
               own.layers == FULL ? full : sliding);
  }
  return true;
}

static json_t *read_json(const unsigned char *bytes, size_t size, fault *why) {
  json_error_t error;
  size_t begin = 0;
  while (begin < size && strchr(" \t\r\n", bytes[begin]) && bytes[begin]) begin++;
  if (begin == size || bytes[begin] != '{' || size > JSON_MAX) {
    fault_say(why, "neither a config.json nor a GGUF file");
    return NULL;
  }
  json_t *root = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, &error);
  if (!root) fault_say(why, "line %d: %s", error.line, error.text);
  return root;
}

model *model_open_memory(const void *bytes, size_t size, fault *why) {
  model *m = memory_take(1, sizeof *m);
  const bool is_gguf = gguf_is(bytes, size);
  bool ok = (m->root = is_gguf ? gguf_read(bytes, size, why) : read_json(bytes, size, why));
  if (ok && is_gguf) {
    const char *name = json_string_value(json_object_get(m->root, "general.architecture"));
    m->architecture = name && strlen(name) < 64 ? memory_copy_text(name) : NULL;
    ok = m->architecture || fault_say(why, "general.architecture is missing");
  }
  if (ok) {
    find_top(m);
    const config_keys w = words_of(m);
    ok = words_has_rope(&w) || fault_say(why, "none of its keys is about rope");
  }
  if (ok && find_layers(m, why)) return m;
  model_close(m);
  return NULL;
}

model *model_open(const char *path, fault *why) {
  mapping file;
  model *m = mapping_open(&file, path, why) ? model_open_memory(file.bytes, file.held, why) : NULL;
  mapping_close(&file);
  return m;
}

void model_close(model *m) {
  if (!m) return;
  rope_lists_free(&m->lists);
  for (size_t n = 0; n < m->kind_count; n++) json_decref(m->kinds[n].mark);
  free(m->kind_of);
  free(m->architecture);
  json_decref(m->root);
  free(m);
}

/* ---- layers ------------------------------------------------------------------------------------ */

/* Returns the n-th kind of layers that have a rope. */
static const layer_kind *rope_kind(const model *m, size_t n) {
  for (size_t k = 0; k < m->kind_count; k++)
    if (!*m->kinds[k].none && n-- == 0) return &m->kinds[k];
  return NULL;
}

size_t model_layers(const model *m) {
  size_t count = 0;
  while (rope_kind(m, count)) count++;
  return count > 1 ? count : 0;
}

const char *model_layer(const model *m, size_t n) {
  return rope_kind(m, n)->name;
}

/* Sets the object that has the keys of these layers. */
static bool choose_object(const model *m, const layer_kind *kind, config_keys *w) {
  static const char *const names[] = {"rope_parameters", "rope_scaling", "yarn"};
  static char name[160];
  const bool by_layer = is_by_layer(json_object_get(m->top, names[0]));
  const config_keys all = words_of(m);
  double none = 0.0;
  w->layers = kind ? kind->place : 0;
  if (kind && by_layer && m->is_split) {
    const char *type = json_string_value(json_array_get(kind->mark, 0));
    if (!type) type = kind->name;
    snprintf(name, sizeof name, "%s.%.100s", names[0], type);
    w->rope = json_object_get(json_object_get(m->top, names[0]), type);
    w->rope_name = name;
    w->is_own = true;
    return true;
  }
  /* If there is one object for two types of layers, it is for those of full or of compressed attention, or for those
     that have a rope. */
  const config_keys at_full = {.top = m->top, .architecture = m->architecture, .layers = FULL};
  const bool is_other = words_layers(&all) & COMPRESS ? w->layers != COMPRESS : w->layers == SLIDING;
  w->unscaled = kind && m->is_split && is_other && !words_grid(&all) && !words_class(&at_full, NO_ROPE, &none);
  for (size_t n = 0; n < sizeof names / sizeof *names && !w->unscaled && !w->rope; n++) {
    const json_t *object = json_object_get(m->top, names[n]);
    if (object && !json_is_object(object) && !json_is_null(object))
      return words_fail(w, "%s %s: no object", names[n], value_text_of(object).text);
    if (!json_is_object(object)) continue;
    w->rope = object;
    w->rope_name = names[n];
  }
  return true;
}

static bool read_layer(model *m, const layer_kind *kind, model_note *tell, void *argument, model_rope *rope,
                       fault *why) {
  config_keys w = words_of(m);
  char number[24];
  w.tell = tell;
  w.argument = argument;
  w.why = why;
  if (kind) w.layer = kind->first;
  snprintf(number, sizeof number, "%" PRId64, w.layer);
  w.own = json_object_get(words_find(&w, OWN), number);
  return choose_object(m, kind, &w) && rope_read(&w, &m->lists, rope);
}

static bool is_equal(const model_rope *a, const model_rope *b) {
  return !(a->base < b->base) && !(a->base > b->base) && a->dim == b->dim && a->head == b->head &&
         a->switch_at == b->switch_at && strcmp(a->grid, b->grid) == 0 &&
         scaling_is_same(&a->scaling, &b->scaling, a->dim) && scaling_is_same(&a->longer, &b->longer, a->dim);
}

/* Writes the names of the kinds of layers: "full_attention, sliding_attention". */
static const char *layer_names(const model *m, char *text, size_t size) {
  size_t used = 0;
  *text = '\0';
  for (size_t n = 0; rope_kind(m, n) && used < size; n++)
    used += (size_t)snprintf(text + used, size - used, "%s%.60s", n ? ", " : "", rope_kind(m, n)->name);
  return text;
}

/* Returns the kind of that name, or of the layer of that number; null with `why` if none has it, or it has no rope. */
static const layer_kind *kind_named(model *m, const char *layer, fault *why) {
  char names[400];
  const layer_kind *kind = find_kind(m, layer);
  char *end;
  const long long number = strtoll(layer, &end, 10);
  const bool is_number = end > layer && !*end;
  if (!kind && is_number && number >= 0 && number < m->layers) kind = &m->kinds[m->kind_of[number]];
  if (!kind && is_number && m->layers)
    fault_say(why, "no such layer; it has %" PRId64 ", from 0 on", m->layers);
  else if (!kind && is_number && m->kind_count)
    fault_say(why, "it does not say which layers are of which type; it has %s", layer_names(m, names, sizeof names));
  else if (!kind && model_layers(m) == 0)
    fault_say(why, "all layers have one rope");
  else if (!kind)
    fault_say(why, "no such layers; it has %s", layer_names(m, names, sizeof names));
  else if (*kind->none)
    fault_say(why, "layers of %s have no rope: %s", layer, kind->none);
  return kind && !*kind->none ? kind : NULL;
}

bool model_rope_of(model *m, const char *layer, model_note *tell, void *argument, model_rope *rope, fault *why) {
  char names[400];
  const layer_kind *kind = layer ? kind_named(m, layer, why) : rope_kind(m, 0);
  if (layer && !kind) return false;
  if (!kind && m->kind_count) return fault_say(why, "no layer has a rope: %s", m->kinds[0].none);
  for (size_t n = 1; !layer && rope_kind(m, n); n++) {
    model_rope first, other;
    if (!read_layer(m, kind, NULL, NULL, &first, why) || !read_layer(m, rope_kind(m, n), NULL, NULL, &other, why))
      return false;
    if (!is_equal(&first, &other))
      return fault_say(why, "layers have several ropes, --layer-type chooses: %s", layer_names(m, names, sizeof names));
  }
  return read_layer(m, kind, tell, argument, rope, why);
}

int64_t model_number_of_layers(const model *m) {
  return m->layers;
}

const char *model_layer_kind(const model *m, int64_t layer, const char **none) {
  const layer_kind *kind = &m->kinds[m->kind_of[layer]];
  *none = *kind->none ? kind->none : NULL;
  return m->kind_count ? kind->name : NULL;
}

posenc_scaling model_scaling(const model_rope *rope, double length) {
  posenc_scaling scaling = length > (double)rope->switch_at ? rope->longer : rope->scaling;
  if (scaling.kind != POSENC_SCALING_DYNAMIC || !rope->by_length) return scaling;
  scaling.length = length;
  return scaling;
}

void model_frequencies(const posenc_problem *problem, double *frequencies) {
  oracle *o = oracle_create(problem);
  mpfr_t w;
  if (!o) memory_end();
  mpfr_init2(w, 120);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    oracle_frequency(o, i, w);
    frequencies[i] = mpfr_get_d(w, MPFR_RNDN);
  }
  mpfr_clear(w);
  oracle_destroy(o);
}

/* ---- a problem as a part of a config --------------------------------------------------------------------- */

/* A problem as a part of config.json. */

static const posenc_scaling unscaled = {.kind = POSENC_SCALING_NONE};

/* Returns a number; integers have no decimal point. */
static json_t *number_json(double x) {
  return fabs(x) < 0x1p53 && x == rint(x) ? json_integer((json_int_t)x) : json_real(x);
}

static json_t *list_json(const double *values, int64_t count) {
  json_t *list = json_array();
  for (int64_t i = 0; i < count; i++) json_array_append_new(list, number_json(values[i]));
  return list;
}

static void add_yarn(json_t *rope, const posenc_scaling *s) {
  json_object_set_new(rope, "beta_fast", number_json(s->high));
  json_object_set_new(rope, "beta_slow", number_json(s->low));
  if (!s->truncate) json_object_set_new(rope, "truncate", json_false());
}

static void add_llama3(json_t *rope, const posenc_scaling *s) {
  json_object_set_new(rope, "low_freq_factor", number_json(s->low));
  json_object_set_new(rope, "high_freq_factor", number_json(s->high));
}

/* Returns the number of pairs that turn, if their factors are equal and those of all others infinite; otherwise 0. */
static int64_t proportional_pairs(const posenc_scaling *s, int64_t dim) {
  int64_t rotated = 0;
  if (s->kind != POSENC_SCALING_LONGROPE || s->attention != 1.0) return 0;
  while (rotated < dim / 2 && s->factors[rotated] == s->factors[0] && !isinf(s->factors[rotated])) rotated++;
  for (int64_t i = rotated; i < dim / 2; i++)
    if (!isinf(s->factors[i])) return 0;
  return rotated < dim / 2 ? rotated : 0;
}

static void add_proportional(json_t *rope, const posenc_scaling *s, int64_t pairs, int64_t dim) {
  json_object_set_new(rope, "rope_type", json_string("proportional"));
  json_object_set_new(rope, "partial_rotary_factor", json_real((double)(2 * pairs) / (double)dim));
  if (s->factors[0] != 1.0) json_object_set_new(rope, "factor", number_json(s->factors[0]));
}

static void add_scaling(json_t *rope, const posenc_scaling *s, int64_t dim) {
  const int64_t pairs = proportional_pairs(s, dim);
  if (pairs) {
    add_proportional(rope, s, pairs, dim);
    return;
  }
  json_object_set_new(rope, "factor", number_json(s->factor));
  if (s->kind != POSENC_SCALING_LINEAR)
    json_object_set_new(rope, "original_max_position_embeddings", json_integer(s->original));
  if (s->kind == POSENC_SCALING_YARN) add_yarn(rope, s);
  if (s->kind == POSENC_SCALING_LLAMA3) add_llama3(rope, s);
  if (s->kind == POSENC_SCALING_LONGROPE) {
    json_object_set_new(rope, "short_factor", list_json(s->factors, dim / 2));
    json_object_set_new(rope, "long_factor", list_json(s->factors, dim / 2));
  }
  if (s->attention > 0.0) json_object_set_new(rope, "attention_factor", number_json(s->attention));
}

/* Adds the sections of axes. */
static void add_sections(json_t *rope, const posenc_axes *axes) {
  json_t *pairs = json_array();
  for (int a = 0; a < axes->count; a++) json_array_append_new(pairs, json_integer(axes->axis[a].pairs));
  json_object_set_new(rope, "mrope_section", pairs);
  if (axes->order == POSENC_AXES_CYCLIC) json_object_set_new(rope, "mrope_interleaved", json_true());
}

static const char *refusal_of(const posenc_problem *problem) {
  const posenc_scaling *s = &problem->scaling;
  const bool has_factor = s->kind == POSENC_SCALING_YARN || s->kind == POSENC_SCALING_LONGROPE;
  if (problem->shift != 0.0) return "configs have no shift of the denominator";
  if (problem->dim % 2) return "the number of columns is odd";
  if (s->attention > 0.0 && s->attention != 1.0 && !has_factor)
    return "only yarn and longrope have an attention factor";
  for (int64_t i = 0; s->kind == POSENC_SCALING_LONGROPE && i < problem->dim / 2; i++)
    if (isinf(s->factors[i]) && !proportional_pairs(s, problem->dim)) return "pairs that do not turn are not the last";
  if (s->kind == POSENC_SCALING_DYNAMIC) return "the base of dynamic scaling depends on the length";
  if (problem->scale != 1.0 && (s->kind != POSENC_SCALING_NONE || problem->scale > 1.0))
    return "configs have no such scale";
  return NULL;
}

json_t *model_fragment(const posenc_problem *problem, fault *why) {
  static const char *const types[] = {
      [POSENC_SCALING_NONE] = "default", [POSENC_SCALING_LINEAR] = "linear",     [POSENC_SCALING_DYNAMIC] = "dynamic",
      [POSENC_SCALING_YARN] = "yarn",    [POSENC_SCALING_LONGROPE] = "longrope", [POSENC_SCALING_LLAMA3] = "llama3"};
  const posenc_axes *axes = problem->axes;
  const char *refusal = refusal_of(problem);
  posenc_scaling s = problem->scaling;
  if (axes && axes->frequencies != POSENC_AXES_CONTINUED) {
    fault_say(why, "its frequencies are %s: configs have axes of continued ones (mrope_section)",
              grid_frequencies[axes->frequencies]);
    return NULL;
  }
  if (refusal) {
    fault_say(why, "%s", refusal);
    return NULL;
  }
  if (problem->scale < 1.0) {
    s = unscaled;
    s.kind = POSENC_SCALING_LINEAR;
    s.factor = 1.0 / problem->scale;
  }
  json_t *rope = json_pack("{s:s, s:o}", "rope_type", types[s.kind], "rope_theta", number_json(problem->base));
  if (s.kind != POSENC_SCALING_NONE) add_scaling(rope, &s, problem->dim);
  if (axes) add_sections(rope, axes);
  return json_pack("{s:I, s:o}", "head_dim", (json_int_t)problem->dim, "rope_parameters", rope);
}

void model_fragment_head(json_t *fragment, int64_t dim, int64_t start, int64_t head) {
  if (start > 0) {
    json_object_del(fragment, "head_dim");
    json_object_set_new(fragment, "qk_nope_head_dim", json_integer(start));
    json_object_set_new(fragment, "qk_rope_head_dim", json_integer(dim));
    return;
  }
  double share = (double)dim / (double)head;
  if ((int64_t)((double)head * share) < dim) share = nextafter(share, 1.0); /* readers truncate the product */
  json_object_set_new(fragment, "head_dim", json_integer(head));
  if (dim < head)
    json_object_set_new(json_object_get(fragment, "rope_parameters"), "partial_rotary_factor", json_real(share));
}
