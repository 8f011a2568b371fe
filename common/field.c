/* SPDX-License-Identifier: MIT */
#include "common/field.h"

#include "common/plain.h"

#include <stdlib.h>

json_t *field_name(const char *name, const char *also) {
  char plain[200];
  size_t used = 0;
  for (; *name && used + 1 < sizeof plain; name++) plain[used++] = strchr(also, *name) ? '?' : *name;
  plain[used] = '\0';
  plain_make(plain);
  used = strlen(plain);
  json_t *text = json_string(plain);
  if (text) return text;
  for (size_t i = 0; i < used; i++) plain[i] = (unsigned char)plain[i] < 0x80 ? plain[i] : '?';
  return json_string(plain);
}

/* Returns a plain copy of an object, whose keys change; null if memory runs out. */
static json_t *plain_object(json_t *object) {
  json_t *made = json_object(), *value;
  const char *key;
  bool enough = made;
  json_object_foreach(object, key, value) {
    char *name = strdup(key);
    if (name) plain_make(name);
    json_t *plain = name ? field_plain(json_incref(value)) : NULL;
    enough = enough && plain && json_object_set_new(made, name, plain) == 0;
    free(name);
  }
  if (enough) return made;
  json_decref(made);
  return NULL;
}

static json_t *plain_string(const json_t *string) {
  char *text = strdup(json_string_value(string));
  if (text) plain_make(text);
  json_t *made = text ? json_string(text) : NULL;
  free(text);
  return made;
}

static json_t *plain_array(json_t *array) {
  json_t *made = json_array(), *value;
  size_t i;
  json_array_foreach(array, i, value) made = field_append(made, field_plain(json_incref(value)));
  return made;
}

json_t *field_plain(json_t *value) {
  json_t *made = json_is_object(value)   ? plain_object(value)
                 : json_is_array(value)  ? plain_array(value)
                 : json_is_string(value) ? plain_string(value)
                                         : json_incref(value);
  json_decref(value);
  return made;
}
