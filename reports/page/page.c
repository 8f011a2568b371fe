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

static void write_text(page *p, const char *format, va_list arguments) {
  char *text;
  if (vasprintf(&text, format, arguments) < 0) memory_end();
  write_runs(p, text);
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

/* Returns the caption with the day of what it is of. Returns a new string. */
static char *dated(const page *p, const char *caption) {
  char *made;
  if (asprintf(&made,
               p->old    ? "%s %.10s, more than %d days before this page."
               : p->date ? "%s %.10s."
                         : "%s",
               caption, p->date, PAGE_OLD_DAYS) < 0)
    memory_end();
  return made;
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

/* Calls write_text with the arguments after `format`. */
#define WRITE_TEXT(p, format)                                                                                          \
  do {                                                                                                                 \
    va_list arguments;                                                                                                 \
    va_start(arguments, format);                                                                                       \
    write_text(p, format, arguments);                                                                                  \
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
  char *told = dated(p, caption);
  p->format->figure(p, told, svg, narrow);
  free(told);
}

void page_data(page *p, const char *summary) {
  p->format->data(p, summary);
}

void page_data_end(page *p) {
  put(p, p->format->data_end);
}

/* ---- tables ---- */

void page_column_add(page *p, bool numeric, const char *title, ...) {
  char *text;
  va_list arguments;
  va_start(arguments, title);
  if (vasprintf(&text, title, arguments) < 0) memory_end();
  va_end(arguments);
  p->added = memory_grow(p->added, p->added_count + 1, sizeof *p->added);
  p->added[p->added_count++] = (page_column){text, numeric};
}

void page_table(page *p, const char *caption, const page_column *columns, size_t count) {
  p->columns = columns ? columns : p->added;
  p->column_count = columns ? count : p->added_count;
  p->column = 0;
  p->all_old = p->old;
  char *told = dated(p, caption);
  p->format->table(p, told);
  free(told);
}

void page_table_fit(page *p, const char *caption) {
  p->fit = true;
  page_table(p, caption, NULL, 0);
}

void page_table_end(page *p) {
  put(p, p->format->table_end);
  if (p->columns == p->added) {
    for (size_t i = 0; i < p->added_count; i++) free((char *)(uintptr_t)p->added[i].title);
    free(p->added);
    p->added = NULL;
    p->added_count = 0;
  }
  p->columns = NULL;
  p->fit = false;
}

/* Opens a cell, and the row with its first one. */
static void begin_cell(page *p, size_t span, bool prose) {
  if (p->column == 0) put(p, p->format->row[0]);
  p->format->cell(p, span, prose);
}

/* Closes a cell, and the row with its last one. */
static void end_cell(page *p, size_t span) {
  p->format->cell_end(p, span);
  p->column += span;
  if (p->column < p->column_count) return;
  put(p, p->format->row[1]);
  p->column = 0;
}

void page_cell_begin(page *p) {
  begin_cell(p, 1, false);
}

void page_prose_begin(page *p) {
  begin_cell(p, 1, true);
}

void page_cell_end(page *p) {
  end_cell(p, 1);
}

void page_cell(page *p, const char *format, ...) {
  begin_cell(p, 1, false);
  WRITE_TEXT(p, format);
  end_cell(p, 1);
}

void page_prose(page *p, const char *format, ...) {
  begin_cell(p, 1, true);
  WRITE_TEXT(p, format);
  end_cell(p, 1);
}

void page_rest(page *p, const char *format, ...) {
  const size_t span = p->column_count - p->column;
  begin_cell(p, span, true);
  WRITE_TEXT(p, format);
  end_cell(p, span);
}
