/* SPDX-License-Identifier: MIT */
/* Makes plots with gnuplot, as SVG elements that can share a page. */
#ifndef POSENC_REPORTS_PAGE_PLOT_H
#define POSENC_REPORTS_PAGE_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns null if gnuplot is available, else what is missing. */
const char *plot_refusal(void);

/* Width and usual height of a plot, in pixels; and the width of one for narrow screens. */
enum { PLOT_WIDTH = 640, PLOT_HEIGHT = 480, PLOT_NARROW = 300 };

/* A gnuplot script that is being written. Settings, and data blocks of the script, are written to `script` first. */
typedef struct plot {
  const char *name;
  FILE *script, *drawn; /* `drawn` gets the arguments of the plot command */
  char *command;        /* the text in `drawn`, and its size in bytes */
  size_t size, series;
  bool has_others; /* whether the legend has a line for the grey series */
} plot;

/* Begins a plot. Names in the script must come from plot_quoted. Returns null on an error printed to stderr. */
plot *plot_begin(const char *name, int width, int height);

/* Returns the height of a plot with so many names in its legend, the longest of which has `longest` letters: gnuplot
   takes the room of the legend from the picture. */
int plot_height(size_t names, size_t longest);

/* Writes the name of the horizontal axis, and below it a note, if there is any, since pictures are also shown alone. */
void plot_axis(plot *p, const char *text, const char *note);

/* Writes text as a gnuplot string. */
void plot_quoted(FILE *script, const char *text);

/* Begins a series of the points that follow, drawn for example "using 1:2 with lines". */
void plot_series(plot *p, const char *drawn, const char *title);

/* Begins a series in the look of number `index`. Series that need no look of their own are PLOT_OTHER: grey, and
   "others" in the legend. */
enum { PLOT_COLOURS = 7, PLOT_OTHER = 1000 };
void plot_kernel(plot *p, const char *drawn, size_t index, const char *title);

/* Adds a point, as columns 1 to 4. */
void plot_point(plot *p, double x, double y, double least, double most);

/*
 * Runs the script and frees the plot. Returns the <svg> element as a string to free, without a size, with ids
 * prefixed with its name, and with `description` (free of markup) for readers who cannot see it. Returns null on an
 * error printed to stderr.
 */
char *plot_finish(plot *p, const char *description);

/* Writes such an element as an SVG document with a size and a background, light or dark. */
void plot_standalone(const char *element, FILE *stream);

/* ---- error against time ---------------------------------------------------------------------------------- */

/* Plots error against time, with the front: kernels that no other kernel surpasses in both. */

/* Whose kernel it is: names of others stand beside their points. */
typedef enum pareto_group { PARETO_OWN, PARETO_COMPETITOR, PARETO_RECIPE, PARETO_GROUPS } pareto_group;

typedef struct pareto_point {
  const char *name;
  pareto_group group;
  size_t index;           /* for the caller */
  double time, low, high; /* median, smallest and largest */
  double error;           /* the largest absolute error */
  double elements;        /* of which the error is the largest; all if 0 */
  bool counts;            /* may be on the front */
  bool selected;          /* has a look and a name of its own */
  bool front;             /* no point that counts is at least as fast and as accurate, and better in one of the two */
} pareto_point;

/*
 * Sorts by time, and sets `front`. The largest error of a sample is a lower bound, so errors are compared of equal
 * numbers of elements alone: a point is not on the front if one that is as fast was looked at in more elements, and one
 * that was looked at in fewer takes it from no front.
 */
void pareto_sort(pareto_point *points, size_t count);

/* Draws sorted points, with the front as steps, and a note as plot_axis does; `narrow` for narrow screens. The legend
   tells how many names had no place. Returns a string to free as plot_finish, or null on an error already printed to
   stderr. */
char *pareto_draw(const pareto_point *points, size_t count, bool narrow, const char *name, const char *title,
                  const char *time_label, const char *note);

#endif
