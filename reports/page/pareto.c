/* SPDX-License-Identifier: MIT */
#include "reports/page/pareto.h"

#include "reports/page/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Stands for an error of 0 on a logarithmic axis. */
static const double least_error = 1e-18;

static int compare_points(const void *a, const void *b) {
  const pareto_point *x = a, *y = b;
  if (x->time < y->time || x->time > y->time) return x->time > y->time ? 1 : -1;
  return (x->error > y->error) - (x->error < y->error);
}

void pareto_sort(pareto_point *points, size_t count) {
  double best = INFINITY;
  qsort(points, count, sizeof *points, compare_points);
  for (size_t i = 0; i < count; i++) {
    points[i].front = points[i].counts && points[i].error < best;
    if (points[i].front) best = points[i].error;
  }
}

static double shown_error(const pareto_point *point) {
  return fmax(point->error, least_error);
}

/* Draws steps from the fastest point on, at the smallest error so far, up to both edges of the picture. */
static void draw_front(plot *picture, const pareto_point *points, size_t count) {
  const pareto_point *last = NULL;
  plot_series(picture, "using 1:2 with steps linecolor rgb '#808080' dashtype 2", "front");
  for (size_t i = 0; i < count; i++) {
    if (!points[i].front) continue;
    last = &points[i];
    plot_point(picture, last->time, shown_error(last), 0, 0);
  }
  if (last) plot_point(picture, points[count - 1].time, shown_error(last), 0, 0);
}

/* Draws the points that are on the front, or those that are not. */
static void draw_points(plot *picture, const pareto_point *points, size_t count, bool front) {
  bool begun = false;
  for (size_t i = 0; i < count; i++) {
    if (points[i].front != front) continue;
    if (!begun) plot_kernel(picture, "using 1:2:3:4 with xerrorbars", front ? 0 : PLOT_OTHER, "on the front");
    begun = true;
    plot_point(picture, points[i].time, shown_error(&points[i]), points[i].low, points[i].high);
  }
}

char *pareto_draw(const pareto_point *points, size_t count, const char *name, const char *title,
                  const char *time_label) {
  plot *picture = plot_begin(name, PLOT_HEIGHT);
  if (!picture) return NULL;
  FILE *script = picture->script;
  fputs("set logscale xy 10\nset format x '%g'\nset format y '10^{%L}'\nset ylabel 'largest |error|'\nset xlabel ",
        script);
  plot_quoted(script, time_label);
  fputs("\nset title ", script);
  plot_quoted(script, title);
  fputs(" noenhanced\nset offsets graph 0.05, graph 0.15, graph 0.05, graph 0.05\n", script);
  for (size_t i = 0; i < count; i++) {
    if (!points[i].front) continue;
    fputs("set label ", script);
    plot_quoted(script, points[i].name);
    fprintf(script, " at %.17g,%.17g left offset 0.5,0.7 noenhanced\n", points[i].time, shown_error(&points[i]));
  }
  draw_front(picture, points, count);
  draw_points(picture, points, count, false);
  draw_points(picture, points, count, true);
  return plot_finish(
      picture,
      "Points: largest absolute error against time, one per kernel, and the front of those that none beats in both");
}
