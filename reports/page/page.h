/* SPDX-License-Identifier: MIT */
/* One interface for the contents of a page, which is written as HTML or as Markdown, which escape all text; or, of
   tables alone, as CSV. */
#ifndef POSENC_REPORTS_PAGE_PAGE_H
#define POSENC_REPORTS_PAGE_PAGE_H

#include "records/record.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Containers of text. */
typedef enum page_part {
  PAGE_PARAGRAPH,
  PAGE_ANSWER, /* the most important paragraph */
  PAGE_ANSWER_OLD,
  PAGE_LIST,
  PAGE_ITEM,
  PAGE_MULTIPLES, /* small figures side by side */
  PAGE_PARTS
} page_part;

/* Looks of text. Formats mark a run of it: "Take " CODE("%s") ", at " STRONG("%s GB/s") " " SMALL("(%s)"). */
typedef enum page_look { PAGE_PLAIN, PAGE_STRONG, PAGE_SMALL, PAGE_CODE, PAGE_FILE, PAGE_WRONG, PAGE_LOOKS } page_look;
#define STRONG(text) "\1" text "\1"
#define SMALL(text) "\2" text "\2"
#define CODE(text) "\3" text "\3"
#define WRONG(text) "\5" text "\5" /* red, where there are colours */
#define LINK(file) "\4" file "\4"  /* a link to a file beside the page */

/* The kind of value that a column has in each row. A page shows the value for readers, CSV has it exactly. */
typedef enum page_kind {
  PAGE_FILLED, /* what `say` writes */
  PAGE_TEXT,   /* a text */
  PAGE_NAME,   /* a text, as code on pages */
  PAGE_REAL,   /* a double; NaN is a dash, nothing in CSV */
  PAGE_COUNT,  /* an int64_t, with thousands; RECORD_NONE as NaN */
  PAGE_SPREAD  /* a record_spread; three columns in CSV */
} page_kind;

struct page;

typedef struct page_column {
  const char *title; /* on pages; null: in CSV alone */
  bool numeric;      /* on pages: aligned at the right */
  const char *name;  /* in CSV; null: on pages alone */
  page_kind kind;
  size_t in, offset; /* where the value stands: number of the struct, of those that the row is of, and offset in it */
  int digits;        /* of PAGE_REAL on pages: significant digits */
  double scale;      /* of PAGE_SPREAD on pages: factor */
  bool prose;        /* on pages: it may wrap */
  void (*say)(struct page *p, const void *value); /* writes the cell, on pages in place of the value; or null */
  const void *datum;                              /* for `say`: what a column of data is of, as a machine */
} page_column;

/* The place of a column's value: a field of struct number `number` of those that a row is of. */
#define PAGE_AT(number, type, field) .in = (number), .offset = offsetof(type, field)

/* A cell. Texts have the marks of looks. */
typedef struct page_cell_text {
  char *text;
  size_t span; /* columns */
  bool prose, old;
} page_cell_text;

/* A sheet: its columns, and the cells row by row. */
typedef struct page_sheet {
  char *caption;
  bool fit, old; /* a list on narrow screens; old as a whole, so that its cells need not be called so */
  page_column *columns;
  size_t column_count;
  page_cell_text *cells;
  size_t cell_count;
} page_sheet;

typedef struct page {
  const struct page_format *format;
  FILE *stream;
  int64_t made;          /* when, in seconds since 1970; 0 if nothing on it is called old */
  const char *date;      /* of page_date, or null */
  bool old;              /* whether that is long ago */
  char *const *svg;      /* figures by number, null if there is none */
  page_sheet sheet;      /* the open sheet, or the columns of the next one */
  page_cell_text *cell;  /* the open cell, which page_say adds to; or null */
  size_t column;         /* its number in its row */
  const void *datum;     /* that of its column */
  const void *const *of; /* the structs of its row */
  bool in_cell;          /* the format is writing a cell */
} page;

/* A format: HTML, Markdown, or CSV, which has sheets alone. */
typedef struct page_format {
  const char *parts[PAGE_PARTS][2]; /* before and after */
  const char *looks[PAGE_LOOKS][2];
  const char *data_end;
  bool exact; /* sheets have the columns with a name, and exact values */
  void (*begin)(page *p, const char *title);
  void (*end)(page *p);
  void (*heading)(page *p, int level, const char *text);
  void (*text)(page *p, page_look look, const char *text); /* writes text of one look */
  void (*code_block)(page *p, const char *text);
  void (*data)(page *p, const char *summary);
  void (*sheet)(page *p, const page_sheet *of);
  void (*figure)(page *p, const char *caption, const char *svg, const char *narrow);
} page_format;

extern const page_format page_html, page_markdown, page_csv;

void page_begin(page *p, const char *title);

/* Sets the date of the answers, tables and figures that follow, as records write it; "" or null for none. Captions tell
   it, and what is older than PAGE_OLD_DAYS when the page is made is grey. */
enum { PAGE_OLD_DAYS = 90 };
void page_date(page *p, const char *date);
void page_end(page *p);
void page_section(page *p, const char *title);
void page_subsection(page *p, const char *title);
void page_code_block(page *p, const char *text);

/* Write a part with its text, or open and close a part that is filled piece by piece. */
__attribute__((format(printf, 2, 3))) void page_paragraph(page *p, const char *format, ...);
__attribute__((format(printf, 2, 3))) void page_item(page *p, const char *format, ...);
__attribute__((format(printf, 2, 3))) void page_say(page *p, const char *format, ...);
void page_open(page *p, page_part part);
void page_close(page *p, page_part part);

/* Writes a figure, with another form of it for narrow screens if `narrow` is not null; nothing if `svg` is null. */
void page_figure(page *p, const char *caption, const char *svg);
void page_figure_fit(page *p, const char *caption, const char *svg, const char *narrow);

/* Opens a part with long tables, folded under their summary. */
void page_data(page *p, const char *summary);
void page_data_end(page *p);

/*
 * Make a sheet: its columns, each with a title of its own if page_column_add adds it; its caption, once there are all
 * columns; its rows, of which each column makes a cell from the structs `of`; and its end, which writes it. The first
 * column heads its row. A table that fits is a list on narrow screens, without empty cells. A function of a column may
 * set the date of its cell, and let it reach over the rest of its row as prose. A page lacks a table without rows.
 */
void page_columns(page *p, const page_column *columns, size_t count);
__attribute__((format(printf, 3, 4))) void page_column_add(page *p, page_column column, const char *title, ...);
void page_sheet_begin(page *p, const char *caption, bool fit);
#define PAGE_SHEET(p, caption, columns)                                                                                \
  (page_columns(p, columns, sizeof(columns) / sizeof *(columns)), page_sheet_begin(p, caption, false))
void page_row(page *p, const void *const *of);
#define PAGE_ROW(...) ((const void *const[]){__VA_ARGS__})
void page_rest(page *p);
void page_sheet_end(page *p);

/* ---- numbers for readers ----------------------------------------------------------------------------------------- */

/* Formats numbers for readers. NaN and infinity are a dash. */

typedef struct words {
  char text[160];
} words;

/* Formats with `digits` significant digits: "0.500", "1.23e-07". */
words words_significant(double value, int digits);

/* Formats as short as six digits allow: "10000", "0.5". */
words words_plain(double value);

/* Formats with `decimals` decimals: "43.0". */
words words_fixed(double value, int decimals);

/* Formats an integer with separated thousands: "2 560 000". */
words words_count(double value);

/* Formats a count of things: "1 shape", "2 560 shapes". */
words words_number_of(int64_t count, const char *singular);

/* Formats an integer of a record with separated thousands. */
words words_integer(int64_t value);

/* Formats a position: "2¹⁷", or as a count if it is no power of two. */
words words_position(double value);

/* Formats as "287 µs". */
words words_duration(double seconds);

/* Formats as "512 MiB" or "250 KiB". */
words words_bytes(double bytes);

/* Formats the size of a table: "5 000 × 512, 9.8 MiB". */
words words_size(const record_table *table);

/*
 * A median is marked if its smallest and largest repetition differ by more than this share of it. Kernels on
 * successive rows of a table often differ by a fifth, so a less certain figure cannot distinguish them.
 */
static const double words_too_wide = 0.2;
/* Returns the mark, or "". */
const char *words_mark(const record_spread *spread);
/* Formats smallest and largest: "(82.2–85.0)". */
words words_range(const record_spread *spread, double scale);
/* Formats the median with its mark, and in small the range: "84.5 GB/s‡ (82.2–85.0)"; empty if there is no median. */
words words_spread(const record_spread *spread, double scale, const char *unit);

/* Returns " (sample)", to follow the name of a shape, if not all of its elements were compared; else "". */
const char *words_sample(const record_row *row);

/* Returns "other processes used 49 % of the machine" if they used so much of it while times were taken that these are
   unreliable; else "". */
words words_busy(const record_report *report);
bool words_is_busy(double others);

/* A caption of a figure or a table of times, which tells of a busy machine. */
typedef struct words_caption {
  char text[800];
} words_caption;
words_caption caption_of_times(const record_report *report, const char *text);

/* Formats as "(2.20–2.44)". */
words words_interval(const record_ratio *ratio);

/* ---- inside ---------------------------------------------------------------------------------------------- */

/* page_say with a list of arguments. */
__attribute__((format(printf, 2, 0))) void page_say_list(page *p, const char *format, va_list arguments);

/* Returns the caption with the day of what it is of. Returns a new string. */
char *page_dated(const page *p, const char *caption);

/* Writes the text of a cell in its looks. */
void page_write_cell(page *p, const page_cell_text *cell);

#endif
