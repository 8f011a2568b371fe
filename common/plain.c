/* SPDX-License-Identifier: MIT */
#include "common/plain.h"

#include <string.h>

size_t plain_forbidden(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  if (*c < ' ' || *c == 0x7f) return 1;
  if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) return 2;
  if (*c == 0xd8 && c[1] == 0x9c) return 2; /* U+061C */
  if (*c == 0xe2 && c[1] == 0x80) {
    const bool is_mark = c[2] == 0x8e || c[2] == 0x8f, breaks_or_embeds = c[2] >= 0xa8 && c[2] <= 0xae;
    return is_mark || breaks_or_embeds ? 3 : 0;
  }
  if (*c == 0xe2 && c[1] == 0x81) return c[2] >= 0xa6 && c[2] <= 0xa9 ? 3 : 0;
  return *c >= 0x80 && *c <= 0x9f; /* no character of UTF-8 begins so, but terminals of one byte obey it */
}

/* Returns the bytes of the character of UTF-8 at `text`, 1 if there is none: plain_forbidden looks at first bytes. */
static size_t length_of(const char *text) {
  const unsigned char first = (unsigned char)*text;
  const size_t wanted = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
  for (size_t i = 1; i < wanted; i++)
    if (((unsigned char)text[i] & 0xc0) != 0x80) return 1;
  return wanted;
}

void plain_make(char *text) {
  char *to = text;
  while (*text) {
    const size_t forbidden = plain_forbidden(text), length = forbidden ? forbidden : length_of(text);
    if (forbidden)
      *to++ = '?';
    else
      to = (char *)memmove(to, text, length) + length;
    text += length;
  }
  *to = '\0';
}

bool plain_is(const char *text) {
  while (*text && !plain_forbidden(text)) text += length_of(text);
  return !*text;
}

void plain_markdown(FILE *stream, const char *text) {
  for (; *text; text++) {
    if (strchr("\\`*_{}[]<>#|!&~$", *text)) fputc('\\', stream);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, stream);
  }
}
