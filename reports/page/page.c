/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"

#include <stdarg.h>
#include <stdlib.h>

void page_print(page *p, page_run run, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  p->format->run(p, run, text);
}

void page_say(page *p, const char *text) {
  p->format->run(p, PAGE_TEXT, text);
}

void page_code(page *p, const char *text) {
  p->format->run(p, PAGE_CODE, text);
}

void page_block(page *p, page_part part, const char *text) {
  p->format->open(p, part);
  p->format->run(p, PAGE_TEXT, text);
  p->format->close(p, part);
}

void page_table(page *p, const char *caption, const page_column *columns, size_t count) {
  p->columns = columns;
  p->column_count = count;
  p->column = 0;
  p->format->table_begin(p, caption);
}

void page_table_end(page *p) {
  p->format->table_end(p);
  p->columns = NULL;
}

/* Opens a cell, and the row with its first one. */
static void begin_cell(page *p, size_t span, bool prose) {
  if (p->column == 0) p->format->row_begin(p);
  p->format->cell_begin(p, span, prose);
}

/* Closes a cell, and the row with its last one. */
static void end_cell(page *p, size_t span) {
  p->format->cell_end(p, span);
  p->column += span;
  if (p->column < p->column_count) return;
  p->format->row_end(p);
  p->column = 0;
}

void page_cell(page *p) {
  begin_cell(p, 1, false);
}

void page_prose(page *p) {
  begin_cell(p, 1, true);
}

void page_cell_end(page *p) {
  end_cell(p, 1);
}

void page_cell_run(page *p, page_run run, const char *text) {
  begin_cell(p, 1, false);
  p->format->run(p, run, text);
  end_cell(p, 1);
}

void page_rest(page *p, page_run run, const char *text) {
  const size_t span = p->column_count - p->column;
  begin_cell(p, span, true);
  p->format->run(p, run, text);
  end_cell(p, span);
}
