/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/message.h"

#include "common/output.h"
#include "common/progress.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program = "posenc";

static bool has_plugins;

void set_program(const char *name) {
  program = name;
}

void set_plugins(void) {
  has_plugins = true;
}

void leave(int status) {
  if (!has_plugins) exit(status);
  fflush(NULL);
  output_end();
  _exit(status); /* neither destructors nor handlers of a plugin */
}

void die(const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  /* One line, whatever the user's text has in it. */
  for (char *c = message; *c; c++)
    if (iscntrl((unsigned char)*c)) *c = '?';
  progress_clear();
  fprintf(stderr, "%s: %s\n", program, message);
  leave(STATUS_ERROR);
}

/* A value as messages show it: an empty one would not be seen. */
static const char *shown(const char *value) {
  return *value ? value : "''";
}

void die_value(const char *option, const char *value, const char *reason) {
  die("%s %s: %s", option, shown(value), reason);
}

void finish(int status) {
  if (status != STATUS_ERROR && (fflush(stdout) != 0 || ferror(stdout))) die("standard output: %s", strerror(errno));
  leave(status);
}

void print_version(const char *name) {
  printf("%s (posenc) %s\n"
         "Copyright (C) 2026 the posenc authors\n"
         "License MIT: <https://spdx.org/licenses/MIT.html>.\n"
         "This is free software: you are free to change and redistribute it.\n"
         "There is NO WARRANTY, to the extent permitted by law.\n",
         name, PACKAGE_VERSION);
}

void print_quoted(FILE *stream, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
  if (*word && word[strspn(word, plain)] == '\0') {
    fputs(word, stream);
    return;
  }
  const char *c = word;
  while (*c && !iscntrl((unsigned char)*c)) c++;
  if (*c) { /* as bash has it: nobody who reads lines shall take the rest of a name for one */
    fputs("$'", stream);
    for (; *word; word++)
      if (iscntrl((unsigned char)*word))
        fprintf(stream, "\\%03o", (unsigned)(unsigned char)*word);
      else
        fputs(*word == '\'' || *word == '\\' ? (char[]){'\\', *word, '\0'} : (char[]){*word, '\0'}, stream);
    putc('\'', stream);
    return;
  }
  putc('\'', stream);
  for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stream);
  putc('\'', stream);
}

/* ---- names ------------------------------------------------------------------------------------- */

static size_t smallest(size_t a, size_t b, size_t c) {
  size_t least = a < b ? a : b;
  return least < c ? least : c;
}

/* Levenshtein distance, row by row. Names are short: longer text is compared as far as the row reaches. */
static size_t edit_distance(const char *a, const char *b) {
  size_t row[64];
  size_t width = strnlen(b, sizeof row / sizeof *row - 1);
  for (size_t j = 0; j <= width; j++) row[j] = j;
  for (size_t i = 0; a[i]; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < width; j++) {
      size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = smallest(substituted, row[j] + 1, row[j + 1] + 1);
    }
  }
  return row[width];
}

/* A name without what stands before its last slash is half written, and not mistaken. */
static size_t distance(const char *wanted, const char *name) {
  const char *slash = strrchr(name, '/');
  return slash && strcmp(slash + 1, wanted) == 0 ? 0 : edit_distance(wanted, name);
}

/* Beyond half of the letters, nobody meant it. */
static bool is_near(const char *wanted, const char *name) {
  const size_t edits = distance(wanted, name), one = strlen(wanted), other = strlen(name);
  return one > 0 && 2 * edits <= (one > other ? one : other);
}

const char *nearer_name(const char *wanted, const char *a, const char *b) {
  if (!is_near(wanted, b)) return a;
  return a && distance(wanted, a) <= distance(wanted, b) ? a : b;
}

name_hint hint_of(const char *nearest, const char *otherwise) {
  name_hint hint = {""};
  if (nearest)
    snprintf(hint.text, sizeof hint.text, "; did you mean '%s'?", nearest);
  else if (*otherwise)
    snprintf(hint.text, sizeof hint.text, "; %s", otherwise);
  return hint;
}
