/* SPDX-License-Identifier: MIT */
#include "common/field.h"

#include "common/memory.h"
#include "common/terminal.h"

#include <stdlib.h>

json_t *field_utf8(const char *text) {
  json_t *string = json_string(text);
  if (string) return string;
  char *ascii = memory_copy_text(text);
  for (char *c = ascii; *c; c++)
    if ((unsigned char)*c > 0x7e) *c = '?';
  string = json_string(ascii);
  free(ascii);
  return string;
}

json_t *field_name(const char *name, const char *also) {
  char plain[200];
  size_t used = 0;
  for (; *name && used + 1 < sizeof plain; name++) plain[used++] = strchr(also, *name) ? '?' : *name;
  plain[used] = '\0';
  plain_make(plain);
  return field_utf8(plain);
}

/* Returns a plain copy of an object, whose keys change. */
static json_t *plain_object(json_t *object) {
  json_t *made = json_object(), *value;
  const char *key;
  json_object_foreach(object, key, value) {
    char *name = memory_copy_text(key);
    plain_make(name);
    field_put(made, name, field_plain(json_incref(value)));
    free(name);
  }
  return made;
}

static json_t *plain_string(const json_t *string) {
  char *text = memory_copy_text(json_string_value(string));
  plain_make(text);
  json_t *made = json_string(text);
  free(text);
  return made;
}

static json_t *plain_array(json_t *array) {
  json_t *made = json_array(), *value;
  size_t i;
  json_array_foreach(array, i, value) field_append(made, field_plain(json_incref(value)));
  return made;
}

json_t *field_plain(json_t *value) {
  json_t *made;
  if (json_is_object(value))
    made = plain_object(value);
  else if (json_is_array(value))
    made = plain_array(value);
  else
    made = json_is_string(value) ? plain_string(value) : json_incref(value);
  json_decref(value);
  return made;
}
