/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/options.h"

#include "common/memory.h"
#include "common/output.h"
#include "common/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_plugins;

void set_plugins(void) {
  has_plugins = true;
}

static bool failed; /* by an error */

#if SANITIZED
/* LeakSanitizer asks at the end. What a command leaves when an error ends it is no leak. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return failed;
}
#endif

void leave(int status) {
  failed = status == STATUS_ERROR;
  if (!has_plugins) exit(status);
  fflush(NULL);
  output_end();
  _exit(status); /* destructors and exit handlers of plugins do not run */
}

/* Prints a single line: control characters in the user's text are replaced. */
static void print_line(const char *format, va_list arguments) {
  char message[4096]; /* the longest are posenc merge's, which tell a command */
  vsnprintf(message, sizeof message, format, arguments);
  plain_make(message);
  progress_clear();
  fprintf(stderr, "%s: %s\n", program_name(), message);
}

void note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
}

void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
  leave(STATUS_ERROR);
}

/* Returns '' for an empty value, which would be invisible in a message. */
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
  if (!plain_is(word)) { /* in bash's $'...', a newline in the name does not look like the end of the line */
    fputs("$'", stream);
    for (size_t forbidden = 0; *word; word++) {
      if (!forbidden) forbidden = plain_forbidden(word);
      if (forbidden)
        fprintf(stream, "\\%03o", (unsigned)(unsigned char)*word), forbidden--;
      else
        fputs(*word == '\'' || *word == '\\' ? (char[]){'\\', *word, '\0'} : (char[]){*word, '\0'}, stream);
    }
    putc('\'', stream);
    return;
  }
  putc('\'', stream);
  for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stream);
  putc('\'', stream);
}

char *quoted_line(const char *first, size_t count, const char *const *words) {
  char *text = NULL;
  size_t length;
  FILE *stream = allocated(open_memstream(&text, &length));
  fputs(first, stream);
  for (size_t i = 0; i < count; i++) {
    if (i > 0 || *first) putc(' ', stream);
    print_quoted(stream, words[i]);
  }
  if (fclose(stream) != 0) memory_end();
  return text;
}

/* ---- names ------------------------------------------------------------------------------------- */

static size_t smallest(size_t a, size_t b, size_t c) {
  size_t least = a < b ? a : b;
  return least < c ? least : c;
}

/* Returns the Levenshtein distance. Of names longer than a row, only the beginning is compared. */
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

/* Returns the edit distance, which is 0 for the last part of a name with slashes, such as "hf-rope" for
   "recipe/hf-rope". */
static size_t distance(const char *wanted, const char *name) {
  const char *slash = strrchr(name, '/');
  return slash && strcmp(slash + 1, wanted) == 0 ? 0 : edit_distance(wanted, name);
}

static bool is_near(const char *wanted, const char *name) {
  const size_t edits = distance(wanted, name), one = strlen(wanted), other = strlen(name);
  return one > 0 && 2 * edits <= (one > other ? one : other);
}

const char *nearer_name(const char *wanted, const char *a, const char *b) {
  if (!is_near(wanted, b)) return a;
  return a && distance(wanted, a) <= distance(wanted, b) ? a : b;
}

void die_unknown(const char *where, const char *name, const char *problem, const char *nearest, const char *hint) {
  const char *before = where ? where : "", *space = where ? " " : "";
  if (nearest) die("%s%s%s: %s; did you mean '%s'?", before, space, shown(name), problem, nearest);
  die("%s%s%s: %s; %s", before, space, shown(name), problem, hint);
}
