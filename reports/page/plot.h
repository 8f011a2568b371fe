/* SPDX-License-Identifier: MIT */
/* Plots by gnuplot, as SVG elements of which several can be in one page. */
#ifndef POSENC_REPORTS_PAGE_PLOT_H
#define POSENC_REPORTS_PAGE_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Null if gnuplot is there, else what is missing. */
const char *plot_refusal(void);

/* Width and usual height of a plot, in pixels. */
enum { PLOT_WIDTH = 640, PLOT_HEIGHT = 480 };

/* A gnuplot script that is being written. Settings, and data blocks of the script, are written to `script` first. */
typedef struct plot {
  const char *name;
  FILE *script, *drawn; /* the second: what the plot command draws */
  char *command;        /* its text, and the bytes of it */
  size_t size, series;
  bool has_others; /* whether the legend has its line for what is drawn in grey */
} plot;

/* Names in the script must come from plot_quoted. Null on an error told on stderr. */
plot *plot_begin(const char *name, int height);

/* Writes text as a gnuplot string. */
void plot_quoted(FILE *script, const char *text);

/* Begins a line, or points: of those points that follow, drawn "using 1:2 with lines" or so. */
void plot_series(plot *p, const char *drawn, const char *title);

/* The same in the look of that number. What the figure need not tell apart is PLOT_OTHER: grey, and "others" in the
   legend. */
enum { PLOT_COLOURS = 7, PLOT_OTHER = 1000 };
void plot_kernel(plot *p, const char *drawn, size_t index, const char *title);

/* Columns 1 to 4. */
void plot_point(plot *p, double x, double y, double least, double most);

/*
 * Runs the script and frees the plot. The <svg> element as a string to free, without size of its own, ids prefixed with
 * its name, `description` (free of markup) for those who cannot see it; null on an error told on stderr.
 */
char *plot_finish(plot *p, const char *description);

/* Writes such an element as an SVG document, which brings a size and, light or dark, a background of its own. */
void plot_standalone(const char *element, FILE *stream);

#endif
