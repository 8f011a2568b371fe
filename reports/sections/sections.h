/* SPDX-License-Identifier: MIT */
/* The sections of the report, and the figures in them. */
#ifndef POSENC_REPORTS_SECTIONS_SECTIONS_H
#define POSENC_REPORTS_SECTIONS_SECTIONS_H

#include "records/record.h"
#include "reports/page/page.h"

typedef enum figure {
  FIGURE_BARS,   /* time of a few kernels */
  FIGURE_NARROW, /* the same for narrow screens */
  FIGURE_PARETO, /* error against time */
  FIGURE_PARETO_NARROW,
  FIGURE_TIME, /* time against length, as the next two */
  FIGURE_COLD,
  FIGURE_FRESH,
  FIGURE_ERROR,     /* error against position */
  FIGURE_RECIPES,   /* error of recipes against position */
  FIGURE_CAUSES,    /* shares of the error against position, a panel per group of kernels */
  FIGURE_FREQUENCY, /* error against frequency */
  FIGURE_HISTOGRAM, /* number of elements by error in ulp */
  FIGURE_RECIPES_HISTOGRAM,
  FIGURES
} figure;

typedef struct figures {
  char *svg[FIGURES]; /* null if the report has no data for it */
} figures;

/* The name of the file with the figure alone, without ".svg". */
extern const char *const figure_names[FIGURES];

/* Draws all figures that the report has data for. Returns false on an error already printed to stderr, with nothing to
   free. */
bool figures_make(const record_report *report, figures *made);
void figures_free(figures *made);

/* Draw parts of the figures, each in the file of its section. */
bool draw_answer(const record_report *report, figures *made);
bool draw_lengths(const record_report *report, figures *made);
bool draw_curves(const record_report *report, figures *made);

/* The pages of a report, and the page with all sections. */
typedef enum contents { CONTENTS_FIRST, CONTENTS_DETAILS, CONTENTS_ALL } contents;

/* Write the data of the figures and tables, each as one table with the columns that CSV has. */
void data_times(page *p, const record_report *report);
void data_accuracy(page *p, const record_report *report);
void data_positions(page *p, const record_report *report);
void data_frequencies(page *p, const record_report *report);
void data_histogram(page *p, const record_report *report);

/* Writes a page, section by section. A section for which the report has no data is left out. */
void write_contents(page *p, const record_report *report, contents wanted);
void write_answer(page *p, const record_report *report);
void write_front(page *p, const record_report *report);
void write_left_out(page *p, const record_report *report);
void write_why(page *p, const record_report *report);
void write_fastest(page *p, const record_report *report);
void write_regret(page *p, const record_report *report);
void write_headline(page *p, const record_report *report);
void write_lengths(page *p, const record_report *report);
void write_shipped(page *p, const record_report *report);
void write_errors(page *p, const record_report *report);
void write_histogram(page *p, const record_report *report);
void write_cases(page *p, const record_report *report);
void write_far(page *p, const record_report *report);
void write_shapes(page *p, const record_report *report);
void write_checks(page *p, const record_report *report);
void write_properties(page *p, const record_report *report);
void write_claims(page *p, const record_report *report);
void write_kernels(page *p, const record_report *report);
void write_method(page *p, const record_report *report);

/* Returns the bound of the kernel in the dtype of the table, in words. */
words bound_on(const record_kernel *kernel, const record_table *table);

/* Returns the point of a profile at that position, without figures if there is none or the profile is null. */
record_point point_at(const record_profile *profile, int64_t position);

/* The kind of a table with a row per kernel of one shape. Columns of time are left out if nothing was timed. */
typedef enum table_kind {
  TABLE_HEADLINE, /* main columns */
  TABLE_FULL,     /* all columns */
  TABLE_TIMES,    /* columns of time alone */
  TABLE_KINDS
} table_kind;
bool rows_share(const record_table *table, const record_report *report); /* whether a row stands for others */
void write_rows(page *p, table_kind kind, const char *caption, const record_table *table, const record_report *report);

/*
 * Describes a table: "5 000 × 512, first position 4 294 967 296, base 10000, interleaved, f32, 9.8 MiB; fill limit
 * 44.9 GB/s (…)", or, for an x of 32 heads, "rope, 4 096 × 32 × 128, …, 64 MiB; scale limit …".
 */
typedef struct table_description {
  char text[400];
} table_description;
table_description table_describe(const record_table *table);

/* Tables of the first page, of the page of several machines, and of README.md. */

/* Writes machines side by side, and what each was. */
void front_write_machines(page *p, const record_front_machine *machines, size_t count);

/* Writes packages beside posenc; nothing if there are none. */
void front_write_packages(page *p, const record_package *packages, size_t count);

#endif
