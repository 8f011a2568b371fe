/* SPDX-License-Identifier: MIT */
#include "cli/expect.h"

#include "cli/message.h"
#include "common/field.h"
#include "identify/formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields of the record that have the values of the keys. Of several fields with one key, the first is used that the
   record has. */
static const struct {
  const char *key, *object, *field; /* object: null for the record itself */
  const char *error;                /* the field with the error of the number, or null */
} keys[] = {
    {"base", NULL, "base", "base_error"},
    {"dim", NULL, "dim", NULL},
    {"dim", NULL, "columns", NULL}, /* the field of a grid */
    {"shift", NULL, "shift", NULL},
    {"scale", NULL, "scale", "scale_error"},
    {"offset", NULL, "offset", NULL},
    {"layout", "applied", "pairs", NULL},
    {"layout", NULL, "layout", NULL},
    {"part", NULL, "part", NULL},
    {"dtype", NULL, "stored", NULL},
    {"attention", "scaling", "attention_factor", NULL},
    {"attention", NULL, "amplitude", "amplitude_error"},
    {"padding", NULL, "padding", NULL},
    {"scaling", "scaling", "kind", NULL},
    {"factor", "scaling", "factor", NULL},
    {"original", "scaling", "original", NULL},
    {"low", "scaling", "low", NULL},
    {"high", "scaling", "high", NULL},
    {"op", "applied", "op", NULL},
    {"start", "applied", "start", NULL},
    {"columns", "applied", "columns", NULL},
    {"inverse", "applied", "back", NULL},
};
enum { KEYS = sizeof keys / sizeof *keys };

/* Relative errors of numbers whose record has no error: of expected numbers, and of found numbers that are printed. */
static const double usual_error = 1e-6, shown_error = 1e-9;

void expect_require(const char *option, const char *text) {
  char *words = strdup(text), *rest = words;
  if (!words) die("out of memory");
  for (char *word; (word = strsep(&rest, ","));) {
    char *value = strchr(word, '=');
    const char *nearest = NULL;
    bool found = false;
    if (!value || !value[1]) die("%s %s: '%s' is no key=value", option, text, word);
    *value = '\0';
    for (int n = 0; n < KEYS; n++) {
      found = found || strcmp(keys[n].key, word) == 0;
      nearest = nearer_name(word, nearest, keys[n].key);
    }
    if (!found) die_unknown(option, word, "no such key", nearest, "base, dim, layout, scaling, offset are some");
  }
  free(words);
}

/* Returns the value of the key and sets its error; returns null if the record has none. */
static const json_t *find(const json_t *record, const char *key, double *error) {
  for (int n = 0; n < KEYS; n++) {
    const json_t *object = keys[n].object ? json_object_get(record, keys[n].object) : record;
    const json_t *value = json_object_get(object, keys[n].field);
    if (strcmp(keys[n].key, key) != 0 || !value || json_is_null(value)) continue;
    *error = keys[n].error ? field_number_or(object, keys[n].error, 0.0) : 0.0;
    return value;
  }
  return NULL;
}

/* Returns the value of the key; if a grid has none for all axes, the value of this axis's table. */
static const json_t *find_at(const json_t *record, size_t axis, const char *key, double *error) {
  const json_t *value = find(record, key, error), *axes = json_object_get(record, "axes");
  return value ? value : find(json_object_get(json_array_get(axes, axis), "table"), key, error);
}

/* Returns the value as --expect writes it, "none" if there is no value. */
static number_text found_text(const json_t *value, double error) {
  number_text text;
  if (json_is_number(value)) {
    const double number = json_number_value(value);
    return number_within(number, fabs(number) > 0.0 ? fmax(error / fabs(number), shown_error) : 0.0);
  }
  snprintf(text.text, sizeof text.text, "%.31s",
           json_is_boolean(value) ? (json_is_true(value) ? "yes" : "no")
           : value                ? json_string_value(value)
                                  : "none");
  return text;
}

static bool is_met(const json_t *value, double error, const char *expected) {
  char *end;
  const double number = strtod(expected, &end), found = json_number_value(value);
  if (!json_is_number(value)) return strcmp(found_text(value, error).text, expected) == 0;
  return *end == '\0' && fabs(found - number) <= fmax(error, usual_error * fabs(number));
}

bool expect_is_met(const char *text, const json_t *record, char *why, size_t size) {
  const size_t axes = json_array_size(json_object_get(record, "axes"));
  char *words = strdup(text), *rest = words;
  size_t used = 0;
  bool met = true;
  if (!words) die("out of memory");
  snprintf(why, size, "%s", text);
  for (char *word; (word = strsep(&rest, ","));) {
    double error = 0.0;
    char *expected = strchr(word, '=');
    *expected++ = '\0';
    const json_t *value = find_at(record, 0, word, &error);
    for (size_t axis = 1; axis < axes && is_met(value, error, expected); axis++)
      value = find_at(record, axis, word, &error);
    if (is_met(value, error, expected)) continue;
    if (used < size)
      used += (size_t)snprintf(why + used, size - used, "%s%s is %s, not %s", met ? "" : ", ", word,
                               found_text(value, error).text, expected);
    met = false;
  }
  free(words);
  return met;
}
