/* SPDX-License-Identifier: MIT */
/* The figures of the report. */
#ifndef POSENC_REPORTS_SECTIONS_FIGURES_H
#define POSENC_REPORTS_SECTIONS_FIGURES_H

#include <jansson.h>
#include <stdbool.h>

typedef enum figure {
  FIGURE_PARETO, /* error against time */
  FIGURE_TIME,   /* against length, as the next three */
  FIGURE_BANDWIDTH,
  FIGURE_COLD,
  FIGURE_FRESH,
  FIGURE_ERROR,     /* against position */
  FIGURE_RECIPES,   /* the same of what frameworks ship */
  FIGURE_CAUSES,    /* shares of the error against position, a panel per kind of kernel */
  FIGURE_FREQUENCY, /* error against frequency */
  FIGURE_HISTOGRAM, /* of errors in ulp */
  FIGURE_RECIPES_HISTOGRAM,
  FIGURES
} figure;

typedef struct figures {
  char *svg[FIGURES]; /* null where the document has no data for it */
} figures;

void figures_free(figures *made);

#endif
