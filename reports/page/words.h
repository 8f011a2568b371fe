/* SPDX-License-Identifier: MIT */
/* Numbers for people to read. NaN and infinity are a dash. */
#ifndef POSENC_REPORTS_PAGE_WORDS_H
#define POSENC_REPORTS_PAGE_WORDS_H

#include "records/read.h"
#include "reports/page/page.h"

typedef struct words {
  char text[160];
} words;

/* That many significant digits: "0.500", "1.23e-07". */
words words_significant(double value, int digits);

/* As short as six digits allow: "10000", "0.5". */
words words_plain(double value);

/* That many decimals: "43.0". */
words words_fixed(double value, int decimals);

/* A whole number with its thousands set apart: "2 560 000". */
words words_count(double value);

/* The same of an integer of a record. */
words words_integer(int64_t value);

/* A position: "2¹⁷", or as a count if it is no power of two. */
words words_position(double value);

/* "287 µs" */
words words_duration(double seconds);

/* "512 MiB", "250 KiB". */
words words_bytes(double bytes);

/* The size of a table: "5 000 × 512, 9.8 MiB". */
words words_size(const record_table *table);

/*
 * A median is marked if its least and most differ by more than this share of it: kernels on successive rows of a table
 * often differ by a fifth, so a figure that is less certain than that cannot tell them apart.
 */
static const double words_too_wide = 0.2;
/* The mark, or nothing. */
const char *words_mark(const record_spread *spread);
/* Least and most: "(82.2–85.0)". */
words words_range(const record_spread *spread, double scale);
/* The median with its mark, and in small least and most: "84.5 GB/s‡ (82.2–85.0)"; nothing if there is no median. */
words words_spread(const record_spread *spread, double scale, const char *unit);

/* " (sample)", after what a row is of, if not all of its elements were looked at; or nothing. */
const char *words_sample(const record_row *row);

/* "(2.20–2.44)" */
words words_interval(const record_ratio *ratio);

/* A cell with so many significant digits, and one with a count. */
void page_cell_number(page *p, double value, int digits);
void page_cell_count(page *p, double value);

#endif
