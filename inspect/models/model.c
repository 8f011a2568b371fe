/* SPDX-License-Identifier: MIT */
#include "inspect/models/model.h"

#include "common/memory.h"
#include "common/scaling.h"
#include "inspect/files/gguf.h"
#include "inspect/files/mapping.h"
#include "inspect/models/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS_MAX = 16, JSON_MAX = 64 << 20 };

static const char full[] = "full_attention", sliding[] = "sliding_attention";

struct model {
  json_t *root;
  const json_t *top;  /* the object in `root` that has the rope */
  char *architecture; /* of a GGUF file */
  const char *layers[LAYERS_MAX];
  size_t layer_count;
  rope_lists lists;
};

/* ---- opening ----------------------------------------------------------------------------------- */

static words words_of(const model *m) {
  return (words){.top = m->top, .architecture = m->architecture};
}

/* Finds the config of the language model among those of several parts. */
static void find_top(model *m) {
  static const char *const parts[] = {"text_config", "llm_config", "language_config", "thinker_config"};
  m->top = m->root;
  for (bool found = true; found;) {
    const words here = words_of(m);
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

static bool find_layers(model *m, fault *why) {
  const json_t *parameters = json_object_get(m->top, "rope_parameters");
  const words w = words_of(m);
  const char *name;
  json_t *value;
  if (is_by_layer(parameters)) {
    json_object_foreach((json_t *)parameters, name, value) {
      if (!json_is_object(value)) continue;
      if (m->layer_count == LAYERS_MAX) return fault_say(why, "more than %d kinds of layers", LAYERS_MAX);
      m->layers[m->layer_count++] = name;
    }
  } else if (words_has_sliding(&w)) {
    m->layers[m->layer_count++] = full;
    m->layers[m->layer_count++] = sliding;
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
    const words w = words_of(m);
    ok = words_has_rope(&w) || fault_say(why, "none of its keys is about rope");
  }
  if (ok && find_layers(m, why)) return m;
  model_close(m);
  return NULL;
}

model *model_open(const char *path, fault *why) {
  mapping file;
  model *m = mapping_open(&file, path, why) ? model_open_memory(file.bytes, file.size, why) : NULL;
  mapping_close(&file);
  return m;
}

void model_close(model *m) {
  if (!m) return;
  rope_lists_free(&m->lists);
  free(m->architecture);
  json_decref(m->root);
  free(m);
}

/* ---- layers ------------------------------------------------------------------------------------ */

size_t model_layers(const model *m) {
  return m->layer_count;
}

const char *model_layer(const model *m, size_t n) {
  return m->layers[n];
}

/* Sets the object that has the keys of these layers. */
static bool choose_object(const model *m, const char *layer, words *w) {
  static const char *const names[] = {"rope_parameters", "rope_scaling"};
  static char name[160];
  const bool by_layer = layer && is_by_layer(json_object_get(m->top, names[0]));
  w->layers = !layer ? 0 : strcmp(layer, full) == 0 ? FULL : strcmp(layer, sliding) == 0 ? SLIDING : 0;
  if (by_layer) {
    snprintf(name, sizeof name, "%s.%.100s", names[0], layer);
    w->rope = json_object_get(json_object_get(m->top, names[0]), layer);
    w->rope_name = name;
    return true;
  }
  /* If there is one object for two kinds of layers, it is for those of full attention. */
  for (size_t n = 0; n < 2 && w->layers != SLIDING && !w->rope; n++) {
    const json_t *object = json_object_get(m->top, names[n]);
    if (object && !json_is_object(object) && !json_is_null(object))
      return words_fail(w, "%s %s: no object", names[n], value_text_of(object).text);
    if (!json_is_object(object)) continue;
    w->rope = object;
    w->rope_name = names[n];
  }
  return true;
}

static bool read_layer(model *m, const char *layer, model_note *tell, void *argument, model_rope *rope, fault *why) {
  words w = words_of(m);
  w.tell = tell;
  w.argument = argument;
  w.why = why;
  return choose_object(m, layer, &w) && rope_read(&w, &m->lists, rope);
}

static bool is_equal_scaling(const posenc_scaling *a, const posenc_scaling *b, int64_t dim) {
  json_t *one = scaling_json(a, dim), *other = scaling_json(b, dim);
  const bool equal = json_equal(one, other);
  json_decref(one);
  json_decref(other);
  return equal;
}

static bool is_equal(const model_rope *a, const model_rope *b) {
  return !(a->base < b->base) && !(a->base > b->base) && a->dim == b->dim && a->head == b->head &&
         a->switch_at == b->switch_at && is_equal_scaling(&a->scaling, &b->scaling, a->dim) &&
         is_equal_scaling(&a->longer, &b->longer, a->dim);
}

/* Writes the names of the kinds of layers: "full_attention, sliding_attention". */
static const char *layer_names(const model *m, char *text, size_t size) {
  size_t used = 0;
  *text = '\0';
  for (size_t n = 0; n < m->layer_count && used < size; n++)
    used += (size_t)snprintf(text + used, size - used, "%s%.60s", n ? ", " : "", m->layers[n]);
  return text;
}

bool model_rope_of(model *m, const char *layer, model_note *tell, void *argument, model_rope *rope, fault *why) {
  char names[400];
  size_t at = 0;
  if (layer) {
    while (at < m->layer_count && strcmp(m->layers[at], layer) != 0) at++;
    if (at == m->layer_count && m->layer_count == 0) return fault_say(why, "all layers have one rope");
    if (at == m->layer_count) return fault_say(why, "no such layers; it has %s", layer_names(m, names, sizeof names));
  }
  for (size_t n = 1; !layer && n < m->layer_count; n++) {
    model_rope first, other;
    if (!read_layer(m, m->layers[0], NULL, NULL, &first, why) || !read_layer(m, m->layers[n], NULL, NULL, &other, why))
      return false;
    if (!is_equal(&first, &other))
      return fault_say(why, "layers have several ropes, --layer-type chooses: %s", layer_names(m, names, sizeof names));
  }
  return read_layer(m, m->layer_count ? m->layers[at] : NULL, tell, argument, rope, why);
}

posenc_scaling model_scaling(const model_rope *rope, int64_t length) {
  posenc_scaling scaling = length > rope->switch_at ? rope->longer : rope->scaling;
  if (scaling.kind == POSENC_SCALING_DYNAMIC && rope->by_length) scaling.length = length;
  return scaling;
}
