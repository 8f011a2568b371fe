/* SPDX-License-Identifier: MIT */
/* Writes tables, and nothing else, as comma-separated values with a line of names first (RFC 4180, with the line ends
   of text files). */
#include "reports/page/page.h"

#include <string.h>

/* Writes a field, in quotes where it needs them. */
static void field(FILE *stream, const char *text) {
  if (!strpbrk(text, ",\"\n\r")) {
    fputs(text, stream);
    return;
  }
  fputc('"', stream);
  for (; *text; text++) {
    if (*text == '"') fputc('"', stream);
    fputc(*text, stream);
  }
  fputc('"', stream);
}

static void sheet(page *p, const page_sheet *of) {
  for (size_t i = 0; i < of->column_count; i++) {
    field(p->stream, of->columns[i].title);
    fputc(i + 1 < of->column_count ? ',' : '\n', p->stream);
  }
  for (size_t i = 0; i < of->cell_count; i++) {
    field(p->stream, of->cells[i].text);
    fputc((i + 1) % of->column_count ? ',' : '\n', p->stream);
  }
}

const page_format page_csv = {.exact = true, .sheet = sheet};
