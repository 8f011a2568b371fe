/* SPDX-License-Identifier: MIT */
/* Plots by gnuplot, as SVG elements that live together in one page. */
#ifndef POSENC_REPORTS_PAGE_PLOT_H
#define POSENC_REPORTS_PAGE_PLOT_H

#include <stdio.h>

/* Null if gnuplot is there, else what is missing. */
const char *plot_refusal(void);

/* Width and usual height of a plot, in pixels. */
enum { PLOT_WIDTH = 640, PLOT_HEIGHT = 480 };

/*
 * Starts a gnuplot script; write the rest of it to the stream. The names it uses must come from plot_quoted.
 * Null on an error told on stderr.
 */
FILE *plot_begin(const char *name, int height);

/* Writes text as a gnuplot string. */
void plot_quoted(FILE *script, const char *text);

/* Writes colour, dashes, points and title of a line. Kernel `index` of the document looks the same in every plot. */
void plot_kernel(FILE *script, size_t index, const char *title);

/* The same without the title. */
void plot_look(FILE *script, size_t index);

/*
 * Runs the script and closes it. The <svg> element as a string to free, without size of its own, ids prefixed with
 * `name`, `description` (free of markup) for those who cannot see it; null on an error told on stderr.
 */
char *plot_finish(FILE *script, const char *name, const char *description);

/* Writes such an element as an SVG document, which brings a size and, light or dark, a background of its own. */
void plot_standalone(const char *element, FILE *stream);

#endif
