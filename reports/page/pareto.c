/* SPDX-License-Identifier: MIT */
#include "reports/page/pareto.h"

#include "reports/page/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands for an error of 0 on a logarithmic axis. */
static const double least_error = 1e-18;

static int compare_points(const void *a, const void *b) {
  const pareto_point *x = a, *y = b;
  if (x->time < y->time || x->time > y->time) return x->time > y->time ? 1 : -1;
  if (x->elements < y->elements || x->elements > y->elements) return x->elements < y->elements ? 1 : -1;
  return (x->error > y->error) - (x->error < y->error);
}

void pareto_sort(pareto_point *points, size_t count) {
  double best = INFINITY, most = -1; /* the least error so far, of the most elements */
  for (size_t i = 0; i < count; i++)
    if (!(points[i].elements > 0)) points[i].elements = INFINITY;
  qsort(points, count, sizeof *points, compare_points);
  for (size_t i = 0; i < count; i++) {
    const bool more = points[i].elements > most, as_many = !more && !(points[i].elements < most);
    points[i].front = points[i].counts && (more || (as_many && points[i].error < best));
    if (!points[i].front) continue;
    best = points[i].error;
    most = points[i].elements;
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

/* Draws the points that are on the front, or those that are not; selected ones are drawn by themselves. */
static void draw_points(plot *picture, const pareto_point *points, size_t count, bool front) {
  bool begun = false;
  for (size_t i = 0; i < count; i++) {
    if (points[i].front != front || points[i].selected) continue;
    if (!begun) plot_kernel(picture, "using 1:2:3:4 with xerrorbars", front ? 0 : PLOT_OTHER, "on the front");
    begun = true;
    plot_point(picture, points[i].time, shown_error(&points[i]), points[i].low, points[i].high);
  }
}

static void draw_selected(plot *picture, const pareto_point *points, size_t count) {
  size_t look = 1; /* 0 is that of the front */
  for (size_t i = 0; i < count; i++) {
    if (!points[i].selected) continue;
    plot_kernel(picture, "using 1:2:3:4 with xerrorbars", look++, points[i].name);
    plot_point(picture, points[i].time, shown_error(&points[i]), points[i].low, points[i].high);
  }
}

char *pareto_draw(const pareto_point *points, size_t count, const char *name, const char *title, const char *time_label,
                  const char *note) {
  size_t names = 3, longest = 0; /* front, on the front, others */
  for (size_t i = 0; i < count; i++) {
    if (!points[i].selected) continue;
    const size_t length = strlen(points[i].name);
    longest = length > longest ? length : longest;
    names++;
  }
  plot *picture = plot_begin(name, PLOT_WIDTH, plot_height(names, longest));
  if (!picture) return NULL;
  FILE *script = picture->script;
  fputs("set logscale xy 10\nset format x '%g'\nset format y '10^{%L}'\nset ylabel 'largest |error|'\n", script);
  plot_axis(picture, time_label, note);
  fputs("set title ", script);
  plot_quoted(script, title);
  fputs(" noenhanced\nset offsets graph 0.05, graph 0.15, graph 0.05, graph 0.05\n", script);
  for (size_t i = 0; i < count; i++) {
    if (!points[i].front || points[i].selected) continue;
    fputs("set label ", script);
    plot_quoted(script, points[i].name);
    fprintf(script, " at %.17g,%.17g left offset 0.5,0.7 noenhanced\n", points[i].time, shown_error(&points[i]));
  }
  draw_front(picture, points, count);
  draw_points(picture, points, count, false);
  draw_points(picture, points, count, true);
  draw_selected(picture, points, count);
  return plot_finish(
      picture,
      "Points: largest absolute error against time, one per kernel, and the front of those that none beats in both");
}
