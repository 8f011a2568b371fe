/* SPDX-License-Identifier: MIT */
#include "inspect/files/stored.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool fault_say(fault *why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, sizeof why->text, format, arguments);
  va_end(arguments);
  return false;
}

/* Writes the lengths of axes, as "(1, 512, 128)". */
static void tell_axes(const int64_t *axes, size_t count, char *text, size_t size) {
  int used = snprintf(text, size, "(");
  for (size_t i = 0; i < count && (size_t)used < size; i++)
    used += snprintf(text + used, size - (size_t)used, "%s%" PRId64, i ? ", " : "", axes[i]);
  if ((size_t)used < size) snprintf(text + used, size - (size_t)used, count == 1 ? ",)" : ")");
}

/* Whether the last axis is that of pairs: (positions, pairs, 2), with other axes of length 1. */
static bool has_pairs(const stored *s, const int64_t *axes, size_t count) {
  size_t longer = 0;
  if (count == 3 && axes[0] == 2) return false; /* the two tables of a rope cache */
  for (size_t i = 0; i + 1 < count; i++) longer += axes[i] > 1;
  return !s->by_columns && count > 2 && axes[count - 1] == 2 && axes[count - 2] > 1 && longer == 2;
}

bool stored_shape(stored *s, const int64_t *axes, size_t count, fault *why) {
  char text[200];
  tell_axes(axes, count, text, sizeof text);
  if (count < 2) return fault_say(why, "its shape %s has no axis for positions", text);
  s->rows = 1;
  s->dim = axes[count - 1];
  if (has_pairs(s, axes, count) && !__builtin_mul_overflow(axes[count - 2], 2, &s->dim)) count--;
  for (size_t i = 0; i + 1 < count; i++) {
    if (axes[i] == 1) continue;
    if (s->rows != 1) return fault_say(why, "its shape %s is not (positions, columns) with other axes of 1", text);
    s->rows = axes[i];
  }
  if (s->rows == 0 || s->dim == 0) return fault_say(why, "its shape %s has no elements", text);
  size_t bytes;
  if (!stored_bytes(s, &bytes)) return fault_say(why, "its shape %s is larger than any file", text);
  return true;
}

bool stored_array(stored *s, const int64_t *axes, size_t count, fault *why) {
  char text[200];
  size_t bytes;
  bool fits = true;
  tell_axes(axes, count, text, sizeof text);
  if (count < 2) return fault_say(why, "its shape %s has no axis for positions", text);
  if (s->by_columns) return fault_say(why, "it is in Fortran's order");
  s->rows = 1;
  s->dim = axes[count - 1];
  for (size_t i = 0; i + 1 < count; i++) fits = fits && !__builtin_mul_overflow(s->rows, axes[i], &s->rows);
  if (!fits || !stored_bytes(s, &bytes)) return fault_say(why, "its shape %s is larger than any file", text);
  if (s->rows == 0 || s->dim == 0) return fault_say(why, "its shape %s has no elements", text);
  s->axis_count = count;
  memcpy(s->axes, axes, count * sizeof *axes);
  return true;
}

bool stored_fit(stored *s, const int64_t *axes, size_t count, table_half half, fault *why) {
  if (half == TABLE_ARRAY) return stored_array(s, axes, count, why);
  const bool is_pair = count == 3 && axes[0] == 2;
  s->halved = half >= TABLE_FIRST && is_pair;
  if (s->halved && s->by_columns) return fault_say(why, "its two tables lie in each other, in Fortran's order");
  if (stored_shape(s, axes + s->halved, count - s->halved, why)) return true;
  const size_t used = strlen(why->text);
  if (is_pair && !s->halved)
    snprintf(why->text + used, sizeof why->text - used, "; of a rope cache, give --part cos or --part sin");
  return false;
}

bool stored_bytes(const stored *s, size_t *bytes) {
  int64_t elements;
  return !__builtin_mul_overflow(s->rows, s->dim, &elements) &&
         !__builtin_mul_overflow(elements, posenc_dtype_bytes(s->dtype), bytes);
}

void stored_swap(void *elements, size_t count, size_t element) {
  unsigned char *at = elements;
  for (size_t i = 0; i < count; i++, at += element)
    for (size_t low = 0, high = element - 1; low < high; low++, high--) {
      const unsigned char byte = at[low];
      at[low] = at[high];
      at[high] = byte;
    }
}
