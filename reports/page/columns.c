/* SPDX-License-Identifier: MIT */
/* Makes a sheet: its columns, and of them its rows. A format writes it as a whole. */
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
static void add_column(page_sheet *to, page_column column, char *title) {
  column.title = title;
  to->columns = memory_grow(to->columns, to->column_count + 1, sizeof *to->columns);
  to->columns[to->column_count++] = column;
}

/* Adds a spread to CSV: the median and its ends, a column each. */
static void add_spread(page_sheet *to, const page_column *column) {
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

void page_columns(page *p, const page_column *columns, size_t count) {
  for (const page_column *one = columns; one < columns + count; one++) {
    const char *title = p->format->exact ? one->name : one->title; /* null if the format does not have the column */
    if (title && p->format->exact && one->kind == PAGE_SPREAD)
      add_spread(&p->sheet, one);
    else if (title)
      add_column(&p->sheet, *one, memory_copy_text(title));
  }
}

void page_column_add(page *p, page_column column, const char *title, ...) {
  char *text;
  va_list arguments;
  va_start(arguments, title);
  if (vasprintf(&text, title, arguments) < 0) memory_end();
  va_end(arguments);
  add_column(&p->sheet, column, text);
}

/* ---- sheets ---- */

void page_sheet_begin(page *p, const char *caption, bool fit) {
  p->sheet.caption = page_dated(p, caption);
  p->sheet.fit = fit;
  p->sheet.old = p->old;
}

void page_sheet_end(page *p) {
  page_sheet *of = &p->sheet;
  if (of->cell_count || p->format->exact) p->format->sheet(p, of);
  for (size_t i = 0; i < of->column_count; i++) free((char *)(uintptr_t)of->columns[i].title);
  for (size_t i = 0; i < of->cell_count; i++) free(of->cells[i].text);
  free(of->columns);
  free(of->cells);
  free(of->caption);
  *of = (page_sheet){.caption = NULL};
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

static void say_cell(page *p, const page_column *column) {
  const char *of = p->of[column->in];
  const void *value = of ? of + column->offset : NULL;
  if (column->say && (!p->format->exact || column->kind == PAGE_FILLED))
    column->say(p, value);
  else
    (p->format->exact ? say_exact : say_shown)(p, column, value);
}

void page_row(page *p, const void *const *of) {
  page_sheet *to = &p->sheet;
  p->of = of;
  for (size_t i = 0; i < to->column_count; i += p->cell->span) {
    to->cells = memory_grow(to->cells, to->cell_count + 1, sizeof *to->cells);
    p->cell = &to->cells[to->cell_count++];
    *p->cell = (page_cell_text){.text = memory_copy_text(""), .span = 1, .prose = to->columns[i].prose};
    p->column = i;
    p->datum = to->columns[i].datum;
    say_cell(p, &to->columns[i]);
    p->cell->old = p->old;
  }
  p->cell = NULL;
}

void page_rest(page *p) {
  p->cell->span = p->sheet.column_count - p->column;
  p->cell->prose = true;
}
