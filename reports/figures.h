/* SPDX-License-Identifier: MIT */
/* The figures of the report, drawn from the document. */
#ifndef POSENC_REPORTS_FIGURES_H
#define POSENC_REPORTS_FIGURES_H

#include <jansson.h>
#include <stdbool.h>

typedef enum figure {
  FIGURE_TIME,       /* against length */
  FIGURE_BANDWIDTH,  /* against length */
  FIGURE_ERROR,      /* against position */
  FIGURE_CAUSES,     /* shares of the error against position, a panel per kind of kernel */
  FIGURE_FREQUENCY,  /* error against frequency */
  FIGURE_ENCODING,   /* heatmap; this and the following show the encoding itself */
  FIGURE_COLUMNS,    /* against position */
  FIGURE_WAVELENGTH, /* and frequency, against index */
  FIGURE_SPECTRUM,   /* of columns; none without KISS FFT */
  FIGURE_CIRCLE,     /* pairs as points of the unit circle */
  FIGURE_SIMILARITY, /* of two positions against their difference */
  FIGURES
} figure;

typedef struct figures {
  char *svg[FIGURES]; /* null where the document has no data for it */
} figures;

/* False on an error already told on stderr; nothing to free then. */
bool figures_make(const json_t *document, figures *made);
void figures_free(figures *made);

/* Was this length of the sweep timed? */
bool figures_in_sweep(const json_t *table);

/* Rows of the sweep's width whose table is as large as that data cache of the timed machine, where the figures against
   length mark it; NaN if it is unknown or beyond their axis. */
double figures_cache_rows(const json_t *document, const char *cache);

#endif
