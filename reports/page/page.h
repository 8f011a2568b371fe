/* SPDX-License-Identifier: MIT */
/* One way to say what a page holds, two ways to write it: HTML and Markdown. Both escape all text. */
#ifndef POSENC_REPORTS_PAGE_PAGE_H
#define POSENC_REPORTS_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What holds other things. */
typedef enum page_part {
  PAGE_PARAGRAPH,
  PAGE_ANSWER, /* the paragraph that matters most */
  PAGE_LIST,
  PAGE_ITEM,
  PAGE_FIGURES, /* figures that may stand side by side */
  PAGE_DATA,    /* the table behind a figure */
  PAGE_PARTS
} page_part;

/* How a run of text looks. */
typedef enum page_run { PAGE_TEXT, PAGE_STRONG, PAGE_SMALL, PAGE_CODE, PAGE_RUNS } page_run;

typedef struct page_column {
  const char *title;
  bool numeric;
} page_column;

typedef struct page {
  const struct page_format *format;
  FILE *stream;
  const page_column *columns; /* of the table that is open */
  size_t column_count;
  size_t column; /* of the cell that is open or comes next */
} page;

/* What HTML and Markdown do differently. */
typedef struct page_format {
  void (*begin)(page *p, const char *title);
  void (*end)(page *p);
  void (*heading)(page *p, int level, const char *text);
  void (*open)(page *p, page_part part);
  void (*open_data)(page *p, const char *summary); /* PAGE_DATA with a title of its own */
  void (*close)(page *p, page_part part);
  void (*run)(page *p, page_run run, const char *text);
  void (*code_block)(page *p, const char *text);
  void (*table_begin)(page *p, const char *caption);
  void (*table_end)(page *p);
  void (*row_begin)(page *p);
  void (*row_end)(page *p);
  void (*cell_begin)(page *p, size_t span, bool prose);
  void (*cell_end)(page *p, size_t span);
  void (*figure)(page *p, const char *caption, const char *svg);
} page_format;

extern const page_format page_html, page_markdown;

/* A run made by printf, of at most 511 bytes. What a record says may be longer: give that to `run` itself. */
__attribute__((format(printf, 3, 4))) void page_print(page *p, page_run run, const char *format, ...);

/* Runs of plain text, and of code. */
void page_say(page *p, const char *text);
void page_code(page *p, const char *text);

/* A whole paragraph or list item of plain text. */
void page_block(page *p, page_part part, const char *text);

/* The first column heads its row. Cells are filled by runs between page_cell, or page_prose where they may wrap, and page_cell_end. */
void page_table(page *p, const char *caption, const page_column *columns, size_t count);
void page_table_end(page *p);
void page_cell(page *p);
void page_prose(page *p);
void page_cell_end(page *p);

/* A cell of one run. */
void page_cell_run(page *p, page_run run, const char *text);

/* One cell of prose, which may wrap, over the rest of the row. */
void page_rest(page *p, page_run run, const char *text);

#endif
