/* SPDX-License-Identifier: MIT */
/* Makes a table: its columns, and cell by cell or by the columns' values its rows. A format writes it as a whole. */
#include "config.h"

#include "common/memory.h"
#include "reports/page/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

/* Adds a column with a title of its own, which it takes over. */
static void add_column(page_table *to, page_column column, char *title) {
  column.title = title;
  to->columns = memory_grow(to->columns, to->column_count + 1, sizeof *to->columns);
  to->columns[to->column_count++] = column;
}

/* Adds a spread to CSV: the median and its ends, a column each. */
static void add_spread(page_table *to, const page_column *column) {
  static const struct {
    const char *suffix;
    size_t offset;
  } parts[] = {{"", offsetof(record_spread, median)},
               {"_least", offsetof(record_spread, min)},
               {"_most", offsetof(record_spread, max)}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    page_column part = *column;
    part.kind = PAGE_REAL;
    part.offset += parts[i].offset;
    add_column(to, part, memory_print("%s%s", column->name, parts[i].suffix));
  }
}

/* Adds a column, if the format has it. */
static void take_column(page *p, const page_column *column) {
  const char *title = p->format->exact ? column->name : column->title;
  if (!title) return;
  if (p->format->exact && column->kind == PAGE_SPREAD)
    add_spread(&p->table, column);
  else
    add_column(&p->table, *column, memory_copy_text(title));
}

void page_column_add(page *p, bool numeric, const char *title, ...) {
  char *text;
  va_list arguments;
  va_start(arguments, title);
  if (vasprintf(&text, title, arguments) < 0) memory_end();
  va_end(arguments);
  add_column(&p->table, (page_column){.numeric = numeric}, text);
}

/* ---- tables ---- */

void page_table_begin(page *p, const char *caption, const page_column *columns, size_t count) {
  for (size_t i = 0; i < count; i++) take_column(p, &columns[i]);
  p->table.caption = page_dated(p, caption);
  p->table.old = p->old;
  p->column = 0;
}

void page_table_fit(page *p, const char *caption) {
  p->table.fit = true;
  page_table_begin(p, caption, NULL, 0);
}

void page_table_end(page *p) {
  page_table *of = &p->table;
  if (of->cell_count || p->format->exact) p->format->table(p, of);
  for (size_t i = 0; i < of->column_count; i++) free((char *)(uintptr_t)of->columns[i].title);
  for (size_t i = 0; i < of->cell_count; i++) free(of->cells[i].text);
  free(of->columns);
  free(of->cells);
  free(of->caption);
  *of = (page_table){.caption = NULL};
}

/* ---- cells ---- */

static void begin_cell(page *p, size_t span, bool prose) {
  page_table *to = &p->table;
  to->cells = memory_grow(to->cells, to->cell_count + 1, sizeof *to->cells);
  p->cell = &to->cells[to->cell_count++];
  *p->cell = (page_cell_text){.text = memory_copy_text(""), .span = span, .prose = prose, .old = p->old};
}

/* Closes a cell, and the row with its last one. */
static void end_cell(page *p) {
  p->column = (p->column + p->cell->span) % p->table.column_count;
  p->cell = NULL;
}

void page_cell_begin(page *p) {
  begin_cell(p, 1, false);
}

void page_prose_begin(page *p) {
  begin_cell(p, 1, true);
}

void page_cell_end(page *p) {
  end_cell(p);
}

/* Writes a cell with the arguments after `format`. */
#define WRITE_CELL(p, format, span, prose)                                                                             \
  do {                                                                                                                 \
    va_list arguments;                                                                                                 \
    begin_cell(p, span, prose);                                                                                        \
    va_start(arguments, format);                                                                                       \
    page_say_list(p, format, arguments);                                                                               \
    va_end(arguments);                                                                                                 \
    end_cell(p);                                                                                                       \
  } while (0)

void page_cell(page *p, const char *format, ...) {
  WRITE_CELL(p, format, 1, false);
}

void page_prose(page *p, const char *format, ...) {
  WRITE_CELL(p, format, 1, true);
}

void page_rest(page *p, const char *format, ...) {
  WRITE_CELL(p, format, p->table.column_count - p->column, true);
}

/* ---- values ---- */

static void say_exact(page *p, const page_column *column, const void *value) {
  const double *real = value;
  const int64_t *count = value;
  if (column->kind == PAGE_REAL && !isnan(*real)) page_say(p, "%.9g", *real);
  if (column->kind == PAGE_COUNT && *count != RECORD_NONE) page_say(p, "%" PRId64, *count);
  if (column->kind == PAGE_TEXT || column->kind == PAGE_NAME) page_say(p, "%s", *(const char *const *)value);
}

static void say_shown(page *p, const page_column *column, const void *value) {
  if (column->kind == PAGE_REAL)
    page_say(p, "%s", words_significant(*(const double *)value, column->digits).text);
  else if (column->kind == PAGE_COUNT)
    page_say(p, "%s", words_integer(*(const int64_t *)value).text);
  else if (column->kind == PAGE_SPREAD)
    page_say(p, "%s", words_spread(value, column->scale, "").text);
  else
    page_say(p, column->kind == PAGE_NAME ? CODE("%s") : "%s", *(const char *const *)value);
}

void page_row(page *p, const void *const *of) {
  for (size_t i = 0; i < p->table.column_count; i++) {
    const page_column *column = &p->table.columns[i];
    begin_cell(p, 1, column->prose);
    if (column->fill && (!p->format->exact || column->kind == PAGE_FILLED))
      column->fill(p, of);
    else
      (p->format->exact ? say_exact : say_shown)(p, column, (const char *)of[column->in] + column->offset);
    end_cell(p);
  }
}
