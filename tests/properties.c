/* SPDX-License-Identifier: MIT */
/* Tests that doc/verification.md lists all properties of verify/properties.def in the same words. */
#include "tests/tap.h"
#include "verify/findings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Returns the file with each run of white space as a single blank. */
static char *words_of(const char *path) {
  enum { MOST = 1 << 20 };
  FILE *stream = fopen(path, "r");
  char *text = calloc(1, MOST + 1);
  size_t used = 0;
  if (!stream || !text) return NULL;
  for (int c; (c = getc(stream)) != EOF && used < MOST;) {
    if (!isspace(c))
      text[used++] = (char)c;
    else if (used && text[used - 1] != ' ')
      text[used++] = ' ';
  }
  fclose(stream);
  return text;
}

static void add(char *text, const char *words) {
  if (*text) strcat(text, ", ");
  strcat(text, words);
}

/* Returns "tables, rope, files". */
static const char *subjects_of(property p) {
  static char text[100];
  const unsigned subjects = property_subjects(p);
  *text = '\0';
  if ((subjects & KERNELS) == KERNELS) {
    add(text, "kernels");
  } else {
    if ((subjects & TABLES) == TABLES) add(text, "tables");
    if ((subjects & TABLES) == CACHE) add(text, "rope caches");
    if (subjects & ADD) add(text, "add");
    if (subjects & ROPE) add(text, "rope");
  }
  if (subjects & FILES) add(text, "files");
  if (subjects & RESULTS) add(text, "results");
  if (subjects & ENCODINGS) add(text, "encodings");
  return text;
}

static int count(const char *text, const char *part) {
  int found = 0;
  while ((text = strstr(text, part))) found++, text++;
  return found;
}

int main(void) {
  const char *folder = getenv("srcdir");
  char path[4096], line[1000];
  snprintf(path, sizeof path, "%s/doc/verification.md", folder ? folder : ".");
  char *document = words_of(path);
  if (!document) {
    printf("Bail out! cannot read %s\n", path);
    return EXIT_FAILURE;
  }
  for (property p = 0; p < PROPERTIES; p++) {
    snprintf(line, sizeof line, "- **%s** (%s): %s.", property_name(p), subjects_of(p), property_text(p));
    ok(strstr(document, line), "%s", line + 2);
  }
  ok(count(document, "- **") == PROPERTIES, "and no others");
  free(document);
  return tap_done();
}
