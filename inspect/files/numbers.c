/* SPDX-License-Identifier: MIT */
#include "inspect/files/formats.h"

#include "common/memory.h"
#include "inspect/files/stored.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest word that is parsed as a number. */
enum { WORD_MAX = 400 };

/* The largest file that is read; /dev/zero has no end. */
static const size_t file_max = (size_t)1 << 30;

/* Parses a word that is a decimal number, or "inf", which a factor may be. Returns false for other words, for numbers
   that are too large, and for integers that no double is equal to. */
static bool number_parse(const char *word, double *value) {
  char *end;
  *value = INFINITY;
  if (strcmp(word, "inf") == 0) return true;
  /* strtod also accepts leading space, hexadecimal numbers and words. */
  if (word[strspn(word, "0123456789+-.eE")] != '\0' || *word == '\0') return false;
  *value = strtod(word, &end);
  if (*end != '\0' || !isfinite(*value)) return false;
  const char *const digits = word + (*word == '-' || *word == '+');
  if (digits[strspn(digits, "0123456789")] != '\0' || fabs(*value) < 0x1p53) return true;
  /* The double must be equal to all digits of an integer. */
  char exact[WORD_MAX];
  snprintf(exact, sizeof exact, "%.0f", fabs(*value));
  return strcmp(exact, digits + strspn(digits, "0")) == 0;
}

typedef struct list {
  double *values;
  int64_t count, room;
} list;

static void append(list *l, double value) {
  if (l->count == l->room) {
    l->room = l->room ? 2 * l->room : 64;
    l->values = memory_grow(l->values, (size_t)l->room, sizeof *l->values);
  }
  l->values[l->count++] = value;
}

static bool append_word(list *l, const char *begin, size_t length, fault *why) {
  char word[WORD_MAX];
  double value;
  snprintf(word, sizeof word, "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX - 1), begin);
  if (length >= WORD_MAX || strlen(word) != length || !number_parse(word, &value))
    return fault_say(why, "number %" PRId64 ", '%.40s', is no finite number that a double holds", l->count + 1, word);
  append(l, value);
  return true;
}

static bool is_of(char c, const char *set) {
  return c != '\0' && strchr(set, c);
}

bool numbers_parse(const char *text, size_t size, const char *between, double **values, int64_t *count, fault *why) {
  const char *const space = strchr(between, ' ') ? " \t\r\n" : "";
  list l = {NULL, 0, 0};
  bool ok = true, wanted = !*space; /* after a comma; white space alone is an empty list */
  for (size_t at = 0; ok;) {
    while (at < size && is_of(text[at], space)) at++;
    const size_t begin = at;
    while (at < size && !is_of(text[at], between)) at++;
    if (at > begin || at < size || wanted) ok = append_word(&l, text + begin, at - begin, why);
    while (at < size && is_of(text[at], space)) at++;
    if (at >= size) break;
    wanted = is_of(text[at], between);
    at += wanted;
  }
  if (!ok) {
    free(l.values);
    return false;
  }
  *values = l.values;
  *count = l.count;
  return true;
}

/* Reads a whole file and appends a NUL. Returns null and sets `why` on failure. */
static char *read_all(const char *path, size_t *size, fault *why) {
  FILE *file = regular_open(path, why);
  char *bytes = NULL;
  size_t room = 0;
  *size = 0;
  if (!file) return NULL;
  bool ok = true;
  do {
    if (*size + 1 >= room) {
      room = room ? 2 * room : 4096;
      ok = room <= file_max || fault_say(why, "it is too long for a list of numbers");
      if (ok) bytes = memory_grow(bytes, room, 1);
    }
    if (ok) *size += fread(bytes + *size, 1, room - 1 - *size, file);
  } while (ok && !feof(file) && !ferror(file));
  if (ok && ferror(file)) ok = fault_say(why, "%s", strerror(errno));
  fclose(file);
  if (ok) {
    bytes[*size] = '\0';
    return bytes;
  }
  free(bytes);
  return NULL;
}

bool numbers_read(const char *path, double **values, int64_t *count, fault *why) {
  size_t size;
  char *bytes = read_all(path, &size, why);
  if (!bytes) return false;
  const bool ok = npy_is((const unsigned char *)bytes, size)
                      ? npy_numbers((const unsigned char *)bytes, size, values, count, why)
                      : numbers_parse(bytes, size, ", \t\r\n", values, count, why);
  free(bytes);
  if (!ok || *count > 0) return ok;
  free(*values);
  return fault_say(why, "there is no number in it");
}
