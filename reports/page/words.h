/* SPDX-License-Identifier: MIT */
/* Formats numbers for readers. NaN and infinity are a dash. */
#ifndef POSENC_REPORTS_PAGE_WORDS_H
#define POSENC_REPORTS_PAGE_WORDS_H

#include "records/record.h"
#include "reports/page/page.h"

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

/* Write a cell with `digits` significant digits, and one with a count. */
void page_cell_number(page *p, double value, int digits);
void page_cell_count(page *p, double value);

#endif
