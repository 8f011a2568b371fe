/* SPDX-License-Identifier: MIT */
#include "reports/page/pareto.h"

#include "common/memory.h"
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

/* ---- names ---- */

/* The edges of a picture, as logarithms, and pixels per decade; approximate. */
typedef struct canvas {
  double left, right, low, high;
  double across, up;
} canvas;

/* A name beside its point, at pixels from the lower left corner. */
typedef struct label {
  const pareto_point *of;
  double x, y; /* the point */
  int side;    /* of the columns below */
  bool down;   /* below the point, not above */
} label;

enum { HEIGHT_NARROW = 340, LINE_NARROW = 18 };

static canvas canvas_of(const pareto_point *points, size_t count, bool narrow) {
  enum { AXIS_PIXELS = 120, AXIS_NARROW = 80, AREA_HEIGHT = 215, AREA_NARROW = 190 };
  canvas v = {INFINITY, -INFINITY, INFINITY, -INFINITY, 0, 0};
  for (size_t i = 0; i < count; i++) {
    v.left = fmin(v.left, log10(points[i].low > 0 ? points[i].low : points[i].time));
    v.right = fmax(v.right, log10(points[i].high));
    v.low = fmin(v.low, log10(shown_error(&points[i])));
    v.high = fmax(v.high, log10(shown_error(&points[i])));
  }
  v.left -= 0.1;
  v.right += 0.1;
  v.low = floor(v.low - 0.5); /* room for names below and above */
  v.high = ceil(v.high + 0.5);
  v.across = (narrow ? PLOT_NARROW - AXIS_NARROW : PLOT_WIDTH - AXIS_PIXELS) / (v.right - v.left);
  v.up = (narrow ? AREA_NARROW : AREA_HEIGHT) / (v.high - v.low);
  return v;
}

static bool has_label(const pareto_point *point) {
  return !point->selected && (point->front || point->group != PARETO_OWN);
}

/* Where the text has the point: at its beginning, its centre or its end. */
enum { RIGHT_OF, ACROSS, LEFT_OF, SIDES };
static const struct {
  const char *word;
  double share; /* of the text that is left of the point */
} sides[SIDES] = {{"left", 0}, {"center", 0.5}, {"right", 1}};

/* The box of a text, from the lower left corner. */
typedef struct box {
  double left, right, low, high;
} box;

static box box_of(const label *one, bool narrow) {
  const double letter = narrow ? 5.7 : 7.6, line = narrow ? 14 : 18, away = 4; /* of the text from the point */
  const double width = letter * (double)strlen(one->of->name), left = one->x - sides[one->side].share * width,
               low = one->down ? one->y - away - line : one->y + away;
  return (box){left - letter / 2, left + width + letter / 2, low, low + line};
}

static bool has_place(const label *one, const label *placed, size_t count, const canvas *v, bool narrow) {
  const box a = box_of(one, narrow);
  if (a.left < 0 || a.right > v->across * (v->right - v->left)) return false;
  for (size_t i = 0; i < count; i++) {
    const box b = box_of(&placed[i], narrow);
    if (a.left < b.right && b.left < a.right && a.low < b.high && b.low < a.high) return false;
  }
  return true;
}

/* Adds a name above or below its point, away from the nearer edge first. Returns false if there is no place for it. */
static bool place(const pareto_point *point, const canvas *v, bool narrow, label *placed, size_t *count) {
  label one = {
      .of = point, .x = v->across * (log10(point->time) - v->left), .y = v->up * (log10(shown_error(point)) - v->low)};
  const bool in_right_half = one.x > v->across * (v->right - v->left) / 2;
  for (int way = 2 * SIDES - 1; way >= 0; way--) {
    one.side = in_right_half ? way / 2 : SIDES - 1 - way / 2;
    one.down = way % 2 == 0;
    if (!has_place(&one, placed, *count, v, narrow)) continue;
    placed[(*count)++] = one;
    return true;
  }
  return false;
}

/* Writes names, those of the front first. Counts those without a place in `nameless`. */
static void write_labels(FILE *script, const pareto_point *points, size_t count, bool narrow, size_t *nameless) {
  const canvas v = canvas_of(points, count, narrow);
  label *labels = memory_take(count, sizeof *labels);
  size_t placed = 0;
  for (int front = 1; front >= 0; front--)
    for (size_t i = 0; i < count; i++)
      if (has_label(&points[i]) && points[i].front == front)
        nameless[points[i].group] += !place(&points[i], &v, narrow, labels, &placed);
  for (size_t i = 0; i < placed; i++) {
    const label *one = &labels[i];
    fputs("set label ", script);
    plot_quoted(script, one->of->name);
    fprintf(script, " at %.17g,%.17g %s offset 0,%s font ',%d' noenhanced\n", one->of->time, shown_error(one->of),
            sides[one->side].word, one->down ? "-0.7" : "0.7", narrow ? 12 : 15);
  }
  free(labels);
  fprintf(script, "set xrange [%.17g:%.17g]\nset yrange [%.17g:%.17g]\n", pow(10, v.left), pow(10, v.right),
          pow(10, v.low), pow(10, v.high));
}

/* ---- points ---- */

/* The points of a group that are not on the front, or those of all groups that are. */
typedef struct series {
  bool front;
  pareto_group group;
  size_t look;
  const char *title;
} series;

enum { LOOK_FRONT, LOOK_SELECTED = PARETO_GROUPS };
static const series all_series[] = {{false, PARETO_OWN, PLOT_OTHER, "others"},
                                    {false, PARETO_COMPETITOR, 2, "another library"},
                                    {false, PARETO_RECIPE, 1, "recipes"},
                                    {true, PARETO_OWN, LOOK_FRONT, "on the front"}};
enum { SERIES = sizeof all_series / sizeof *all_series };

/* Draws points as one series; selected ones are drawn by themselves. */
static void draw_points(plot *picture, const pareto_point *points, size_t count, const series *one) {
  bool begun = false;
  for (size_t i = 0; i < count; i++) {
    const pareto_point *point = &points[i];
    if (point->front != one->front || point->selected || (!one->front && point->group != one->group)) continue;
    if (!begun) plot_kernel(picture, "using 1:2:3:4 with xerrorbars", one->look, one->title);
    begun = true;
    plot_point(picture, point->time, shown_error(point), point->low, point->high);
  }
}

/* Draws all series. Their titles tell how many names had no place. */
static void draw_all(plot *picture, const pareto_point *points, size_t count, const size_t *nameless) {
  for (size_t i = 0; i < SERIES; i++) {
    series one = all_series[i];
    char title[80];
    const size_t lacking = one.front ? 0 : nameless[one.group];
    snprintf(title, sizeof title, "%s, %zu unnamed", one.title, lacking);
    if (lacking) one.title = title;
    draw_points(picture, points, count, &one);
  }
}

static void draw_selected(plot *picture, const pareto_point *points, size_t count) {
  size_t look = LOOK_SELECTED;
  for (size_t i = 0; i < count; i++) {
    if (!points[i].selected) continue;
    plot_kernel(picture, "using 1:2:3:4 with xerrorbars", look++, points[i].name);
    plot_point(picture, points[i].time, shown_error(&points[i]), points[i].low, points[i].high);
  }
}

/* Returns the height of the picture with its legend. */
static int height_of(const pareto_point *points, size_t count, bool narrow) {
  size_t names = 1 + SERIES, longest = 0; /* the steps, too */
  for (size_t i = 0; i < count; i++) {
    if (!points[i].selected) continue;
    const size_t length = strlen(points[i].name);
    longest = length > longest ? length : longest;
    names++;
  }
  return narrow ? HEIGHT_NARROW + LINE_NARROW * (int)names : plot_height(names, longest);
}

char *pareto_draw(const pareto_point *points, size_t count, bool narrow, const char *name, const char *title,
                  const char *time_label, const char *note) {
  size_t nameless[PARETO_GROUPS] = {0};
  plot *picture = plot_begin(name, narrow ? PLOT_NARROW : PLOT_WIDTH, height_of(points, count, narrow));
  if (!picture) return NULL;
  FILE *script = picture->script;
  fputs("set logscale xy 10\nset format x '%g'\nset format y '10^{%L}'\nset ytics 100\nset ylabel 'largest |error|'\n",
        script);
  plot_axis(picture, time_label, note);
  fputs("set title ", script);
  plot_quoted(script, title);
  fputs(" noenhanced\n", script);
  if (narrow)
    fputs("set key maxcols 1 samplen 1 font ',12'\nset tics font ',12'\nset xlabel font ',11' offset -3,0.5\n"
          "set ylabel font ',12' offset 1.5,0\nset title font ',13'\nset rmargin 1\n",
          script);
  write_labels(script, points, count, narrow, nameless);
  draw_front(picture, points, count);
  draw_all(picture, points, count, nameless);
  draw_selected(picture, points, count);
  return plot_finish(picture, narrow ? "The same points for narrow screens"
                                     : "Points: largest absolute error against time, one per kernel, and the front of "
                                       "those that none beats in both");
}
