/* SPDX-License-Identifier: MIT */
/* Look-ups in records. As these come from files, a missing or wrong value has a default. */
#ifndef POSENC_COMMON_FIELD_H
#define POSENC_COMMON_FIELD_H

#include "common/memory.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Returns the integer under a key; 0 if there is none. */
static inline json_int_t field_integer(const json_t *object, const char *key) {
  return json_integer_value(json_object_get(object, key));
}

/* Returns the number under a key; `otherwise` if there is none. */
static inline double field_number_or(const json_t *object, const char *key, double otherwise) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : otherwise;
}

/* Returns the number under a key; NaN if there is none. */
static inline double field_number(const json_t *object, const char *key) {
  return field_number_or(object, key, NAN);
}

/* Returns the string under a key; "" if there is none. */
static inline const char *field_string(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

/* Returns a new number, or null for infinities and NaN, which JSON lacks. */
static inline json_t *field_real(double x) {
  return isfinite(x) ? json_real(x) : json_null();
}

/* The same, but an integer if the number is one. */
static inline json_t *field_whole(double x) {
  return fabs(x) < 0x1p63 && x == trunc(x) ? json_integer((json_int_t)x) : field_real(x);
}

/* Returns the text as a new string. If it is not UTF-8, as JSON requires and command lines may violate, it becomes
   ASCII. */
json_t *field_utf8(const char *text);

/* Returns a path, or a name from a file, as a new string of at most 199 bytes. Bytes that are not UTF-8, which JSON
   requires, what must not be printed (common/terminal.h), and the characters of `also` are replaced by "?". */
json_t *field_name(const char *name, const char *also);

/* Returns a copy of JSON of foreign origin, a new reference, whose strings and keys are plain (common/terminal.h), and
   releases the value. */
json_t *field_plain(json_t *value);

/* Appends an element to an array and returns the array. Neither may be null. */
static inline json_t *field_append(json_t *array, json_t *element) {
  json_array_append_new(allocated(array), allocated(element));
  return array;
}

static inline json_t *field_put(json_t *object, const char *key, json_t *value) {
  json_object_set_new(allocated(object), key, allocated(value));
  return object;
}

/* Returns the object of an array whose `key` has the value `text`; null if there is none. */
static inline json_t *field_find(const json_t *array, const char *key, const char *text) {
  for (size_t i = 0; i < json_array_size(array); i++) {
    json_t *object = json_array_get(array, i);
    if (strcmp(field_string(object, key), text) == 0) return object;
  }
  return NULL;
}

#endif
