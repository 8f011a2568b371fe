/* SPDX-License-Identifier: MIT */
/* Plots by gnuplot, as SVG elements that live together in one page. */
#ifndef POSENC_REPORTS_PLOT_H
#define POSENC_REPORTS_PLOT_H

#include <stdio.h>

/* Null if gnuplot is there, else what is missing. */
const char *plot_refusal(void);

/*
 * Starts a gnuplot script; write the rest of it to the stream. The names it uses must come from plot_quoted.
 * Null on failure, with errno set.
 */
FILE *plot_begin(void);

/* Writes text as a gnuplot string. */
void plot_quoted(FILE *script, const char *text);

/*
 * Runs the script and closes it. The <svg> element as a string to free, without size of its own, ids prefixed with
 * `name`, `description` (free of markup) for those who cannot see it; null on an error told on stderr.
 */
char *plot_finish(FILE *script, const char *name, const char *description);

#endif
