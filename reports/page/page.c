/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/page/page.h"

#include "common/memory.h"
#include "records/record.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void put(page *p, const char *text) {
  fputs(text, p->stream);
}

/* Returns the text of a contract with powers as "2⁻²⁴" for "2^-24". Returns a new string. */
static char *with_powers(const char *text) {
  static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  char *made = memory_take(3 * strlen(text) + 1, 1), *end = made; /* a digit becomes at most three bytes */
  while (*text) {
    const size_t sign = text[1] == '-';
    if (*text != '^' || !isdigit((unsigned char)text[1 + sign])) {
      *end++ = *text++;
      continue;
    }
    text += 1 + sign;
    if (sign) end = stpcpy(end, "⁻");
    for (; isdigit((unsigned char)*text); text++) end = stpcpy(end, raised[*text - '0']);
  }
  return made;
}

static void write_run(page *p, page_look look, const char *run) {
  const bool verbatim = look == PAGE_CODE || look == PAGE_FILE;
  char *raised = verbatim ? NULL : with_powers(run);
  put(p, p->format->looks[look][0]);
  p->format->text(p, look, raised ? raised : run);
  put(p, p->format->looks[look][1]);
  free(raised);
}

/* Writes the text piece by piece, each in its look. A byte with the number of a look switches that look on or off. */
static void write_runs(page *p, char *text) {
  page_look look = PAGE_PLAIN;
  for (char *run = text, *end; *run; run = end) {
    end = run + strcspn(run, STRONG("") SMALL("") CODE("") LINK("") WRONG(""));
    const page_look mark = (page_look)*end;
    if (mark) *end++ = '\0';
    if (*run) write_run(p, look, run);
    look = mark == look ? PAGE_PLAIN : mark;
  }
}

void page_write_cell(page *p, const page_cell_text *cell) {
  p->in_cell = true;
  write_runs(p, cell->text);
  p->in_cell = false;
}

void page_say_list(page *p, const char *format, va_list arguments) {
  char *text;
  if (vasprintf(&text, format, arguments) < 0) memory_end();
  if (p->cell) {
    char *both = memory_print("%s%s", p->cell->text, text);
    free(p->cell->text);
    p->cell->text = both;
  } else {
    write_runs(p, text);
  }
  free(text);
}

void page_begin(page *p, const char *title) {
  p->format->begin(p, title);
}

void page_date(page *p, const char *date) {
  const int64_t then = date ? record_seconds(date) : RECORD_NONE, old = PAGE_OLD_DAYS * INT64_C(86400);
  p->date = then == RECORD_NONE ? NULL : date;
  p->old = p->date && p->made && p->made - then > old;
}

char *page_dated(const page *p, const char *caption) {
  if (p->old) return memory_print("%s %.10s, more than %d days before this page.", caption, p->date, PAGE_OLD_DAYS);
  return p->date ? memory_print("%s %.10s.", caption, p->date) : memory_copy_text(caption);
}

void page_end(page *p) {
  p->format->end(p);
}

void page_section(page *p, const char *title) {
  p->format->heading(p, 2, title);
}

void page_subsection(page *p, const char *title) {
  p->format->heading(p, 3, title);
}

void page_code_block(page *p, const char *text) {
  p->format->code_block(p, text);
}

void page_open(page *p, page_part part) {
  if (part == PAGE_ANSWER && p->old) part = PAGE_ANSWER_OLD;
  put(p, p->format->parts[part][0]);
}

void page_close(page *p, page_part part) {
  put(p, p->format->parts[part][1]);
}

/* Calls page_say_list with the arguments after `format`. */
#define WRITE_TEXT(p, format)                                                                                          \
  do {                                                                                                                 \
    va_list arguments;                                                                                                 \
    va_start(arguments, format);                                                                                       \
    page_say_list(p, format, arguments);                                                                               \
    va_end(arguments);                                                                                                 \
  } while (0)

void page_say(page *p, const char *format, ...) {
  WRITE_TEXT(p, format);
}

void page_paragraph(page *p, const char *format, ...) {
  page_open(p, PAGE_PARAGRAPH);
  WRITE_TEXT(p, format);
  page_close(p, PAGE_PARAGRAPH);
}

void page_item(page *p, const char *format, ...) {
  page_open(p, PAGE_ITEM);
  WRITE_TEXT(p, format);
  page_close(p, PAGE_ITEM);
}

void page_figure(page *p, const char *caption, const char *svg) {
  page_figure_fit(p, caption, svg, NULL);
}

void page_figure_fit(page *p, const char *caption, const char *svg, const char *narrow) {
  if (!svg) return;
  char *told = page_dated(p, caption);
  p->format->figure(p, told, svg, narrow);
  free(told);
}

void page_data(page *p, const char *summary) {
  p->format->data(p, summary);
}

void page_data_end(page *p) {
  put(p, p->format->data_end);
}
