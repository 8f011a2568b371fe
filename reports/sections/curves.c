/* SPDX-License-Identifier: MIT */
/* Draws the figures of errors: against position, by cause, against frequency, and histograms. */
#include "common/memory.h"
#include "reports/model/answer.h"
#include "reports/model/document.h"
#include "reports/page/plot.h"
#include "reports/sections/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors as lines ---- */

/* The kinds of kernels whose errors a figure shows, as bits. */
enum { KERNELS = 1, RECIPES = 2 };

/* The errors of a kernel: a profile, or a row with its histogram. */
typedef struct line {
  const char *kernel;
  const record_profile *profile;
  const record_row *row;
  size_t like;   /* number of the first line that looks the same, possibly this one */
  bool selected; /* named in the legend, however many lines look the same */
} line;

typedef struct xy {
  double x, y;
} xy;

/* Reads a point of a line. Returns false after the last. */
typedef bool point_reader(const line *of, size_t number, xy *point);

static bool read_position(const line *of, size_t number, xy *point) {
  if (number == of->profile->points_count) return false;
  const record_point *at = &of->profile->points[number];
  *point = (xy){(double)at->position, at->max_abs};
  return true;
}

static bool read_frequency(const line *of, size_t number, xy *point) {
  if (number == of->profile->columns_count) return false;
  const record_column *at = &of->profile->columns[number];
  *point = (xy){(double)at->index, at->max_abs};
  return true;
}

static bool read_bin(const line *of, size_t number, xy *point) {
  if (number == of->row->histogram_count) return false;
  const record_bin *at = &of->row->histogram[number];
  *point = (xy){at->below, (double)at->count};
  return true;
}

typedef struct error_plot {
  figure place;
  const char *name;
  point_reader *read;
  unsigned of;   /* KERNELS, RECIPES or both */
  double least;  /* smallest x on the axis */
  double alike;  /* lines with errors within this factor of each other are drawn as one */
  bool absolute; /* absolute errors, shown with half an ulp of each format */
  bool rises;    /* lines rise to the right, so labels are at the left */
  const char *axes;
  const char *description;
} error_plot;

#define ABSOLUTE_AXIS "set logscale y 10\nset format y '10^{%L}'\nset ylabel 'largest |error|'\n"
#define TENTH 1.1
#define AGAINST_POSITION                                                                                               \
  .read = read_position, .least = 1, .absolute = true, .rises = true,                                                  \
  .axes = ABSOLUTE_AXIS "set logscale x 2\nset format x '2^{%L}'\nset xlabel 'position'\n"
#define HISTOGRAM                                                                                                      \
  .read = read_bin, .alike = TENTH,                                                                                    \
  .axes = "set logscale x 2\nset format x '2^{%L}'\nset xtics 16\nset xlabel 'error in ulp, below'\n"                  \
          "set logscale y 10\nset format y '10^{%L}'\nset yrange [0.7:*]\nset ylabel 'elements'\n"

static const error_plot plots[] = {
    {FIGURE_ERROR, "error", AGAINST_POSITION, .of = KERNELS, .alike = TENTH,
     .description =
         "Line chart: largest absolute error against position, a line per kernel, beside half an ulp of f32, "
         "f16 and bf16"},
    {FIGURE_RECIPES, "recipes", AGAINST_POSITION, .of = RECIPES, .alike = 5,
     .description = "Line chart: largest absolute error of what frameworks ship against position, a line per recipe, "
                    "beside half an ulp of f32, f16 and bf16"},
    {FIGURE_FREQUENCY, "frequency", .read = read_frequency, .absolute = true, .of = KERNELS | RECIPES, .alike = TENTH,
     .axes = ABSOLUTE_AXIS "set autoscale xfix\nset xlabel 'frequency index (fast waves on the left)'\n",
     .description = "Line chart: largest absolute error against frequency index, a line per kernel, beside half an ulp "
                    "of f32, f16 and bf16"},
    {FIGURE_HISTOGRAM, "histogram", HISTOGRAM, .of = KERNELS,
     .description = "Line chart: number of elements by error in ulp, a line per kernel"},
    {FIGURE_RECIPES_HISTOGRAM, "recipes-histogram", HISTOGRAM, .of = RECIPES,
     .description = "Line chart: number of elements by error in ulp, a line per recipe that frameworks ship"},
};

/* Half an ulp of a format just below 1: the error of rounding alone. */
static const struct {
  const char *name;
  int exponent;
} formats[] = {{"f32", -25}, {"f16", -12}, {"bf16", -9}};

static void write_formats(FILE *script, bool left) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    fprintf(
        script,
        "set arrow from graph 0, first 2**%d to graph 1, first 2**%d nohead back linecolor rgb '#808080' dashtype 2\n"
        "set label 'half an ulp of %s' at graph %s, first 2**%d %s offset 0,0.5 font ',13'\n",
        formats[i].exponent, formats[i].exponent, formats[i].name, left ? "0.02" : "0.98", formats[i].exponent,
        left ? "left" : "right");
}

/* Whether the point can be drawn. A logarithmic axis has no error of 0. */
static bool is_drawn(xy point, const error_plot *shown) {
  return point.x >= shown->least && point.y > 0;
}

static bool has_errors(const line *of, const error_plot *shown) {
  xy point;
  for (size_t i = 0; shown->read(of, i, &point); i++)
    if (is_drawn(point, shown)) return true;
  return false;
}

/* Whether the errors are alike at all points of either line. */
static bool has_same_errors(const line *one, const line *other, const error_plot *shown) {
  for (size_t i = 0;; i++) {
    xy a, b;
    const bool more = shown->read(one, i, &a);
    if (shown->read(other, i, &b) != more) return false;
    if (!more) return true;
    if (isnan(a.x) != isnan(b.x) || fabs(a.x - b.x) > 0) return false;
    if (isfinite(a.y) != isfinite(b.y) || fmax(a.y, b.y) > shown->alike * fmin(a.y, b.y)) return false;
  }
}

typedef struct lines {
  line *all;
  size_t count;
  bool any; /* whether a line is of the kind that the figure shows */
} lines;

static void add_line(lines *made, const record_report *report, line one, const error_plot *shown) {
  const unsigned kind = report_is_recipe(report, one.kernel) ? RECIPES : KERNELS;
  const bool is_wanted = shown->of & kind, /* the default is shown beside recipes */
      is_beside = shown->place == FIGURE_RECIPES && answer_is_use(report, USE_DEFAULT, one.kernel);
  if (!(is_wanted || is_beside) || !has_errors(&one, shown)) return;
  const record_kernel *kernel = report_kernel(report, one.kernel);
  one.selected = kernel && kernel->selected;
  made->any = made->any || is_wanted;
  while (one.like < made->count &&
         (made->all[one.like].like != one.like || !has_same_errors(&made->all[one.like], &one, shown)))
    one.like++;
  made->all[made->count++] = one;
}

/* Returns the lines of a plot. `all` is to be freed. */
static lines lines_of(const record_report *report, const error_plot *shown) {
  const record_headline *headline = &report->headline;
  lines made = {memory_take(report->profile_count + headline->rows_count, sizeof *made.all), 0, false};
  if (shown->read == read_bin)
    RECORD_EACH(row, headline, rows) add_line(&made, report, (line){.kernel = row->kernel, .row = row}, shown);
  else
    RECORD_EACH(profile, report, profile)
      add_line(&made, report, (line){.kernel = profile->kernel, .profile = profile}, shown);
  return made;
}

/* Counts the lines that look like that one; 0 if an earlier one does. */
static size_t count_alike(const lines *of, size_t number) {
  size_t count = 0;
  for (size_t i = number; i < of->count; i++) count += of->all[i].like == number;
  return count;
}

/* Writes "cr-threads, rotation-threads and 6 more", as far as it fits into a line of the legend; first all that were
   selected. */
static void name_lines(char *title, size_t size, const lines *of, size_t number) {
  enum { LEGEND_LINE = 48 };
  size_t used = 0, left = count_alike(of, number);
  for (int selected = 1; selected >= 0; selected--)
    for (size_t i = number; i < of->count && used < size; i++) {
      const line *one = &of->all[i];
      if (one->like != number || one->selected != selected) continue;
      if (!selected && used > 0 && used + strlen(", ") + strlen(one->kernel) > LEGEND_LINE) {
        snprintf(title + used, size - used, " and %zu more", left);
        return;
      }
      used += (size_t)snprintf(title + used, size - used, "%s%s", used > 0 ? ", " : "", one->kernel);
      left--;
    }
}

static void draw_line(plot *picture, const error_plot *shown, const lines *of, size_t number, size_t look) {
  char title[1600];
  xy point;
  name_lines(title, sizeof title, of, number);
  plot_kernel(picture, "using 1:2 with linespoints", look, title);
  for (size_t i = 0; shown->read(&of->all[number], i, &point); i++)
    if (is_drawn(point, shown)) plot_point(picture, point.x, point.y, 0, 0);
}

static char *draw_lines(const error_plot *shown, const lines *of) {
  enum { LEGEND_PIXELS = 20, LEGEND_USUAL = 6 }; /* the height of a line, and the lines in a legend of usual height */
  size_t count = 0, look = 0;
  for (size_t i = 0; i < of->count; i++) count += of->all[i].like == i;
  const size_t further = count > LEGEND_USUAL ? count - LEGEND_USUAL : 0;
  plot *picture = plot_begin(shown->name, PLOT_WIDTH, PLOT_HEIGHT + LEGEND_PIXELS * (int)further);
  if (!picture) return NULL;
  if (shown->absolute) write_formats(picture->script, shown->rises);
  fprintf(picture->script, "%sset key maxcols 1\n", shown->axes);
  for (size_t i = 0; i < of->count; i++)
    if (of->all[i].like == i) draw_line(picture, shown, of, i, look++);
  return plot_finish(picture, shown->description);
}

/* Draws a figure, or nothing if no kernel has such errors. Returns false on an error already printed to stderr. */
static bool draw_errors(const record_report *report, const error_plot *shown, char **svg) {
  const lines made = lines_of(report, shown);
  if (made.any) *svg = draw_lines(shown, &made);
  free(made.all);
  return !made.any || *svg;
}

/* ---- by cause ---- */

/* Panels are in rows of two under a legend. Heights are in pixels. */
enum { PANELS_IN_ROW = 2, PANEL_HEIGHT = 190, LEGEND_HEIGHT = 30 };

/* From Okabe and Ito's palette; grey is for store, the final rounding, which no kernel avoids. */
static const char *const cause_colours[CAUSES] = {"#0072b2", "#e69f00", "#009e73", "#a0a0a0"};

/* The causes of a report, and for each the number of the first that looks the same, with which it shares a panel. */
typedef struct panels {
  const record_causes *causes;
  size_t causes_count, *like, count;
} panels;

/* Writes the exponent of the position, 0, then in percent the sum of the first share, the first two, … */
static void write_shares(FILE *script, size_t number, const record_causes *causes) {
  fprintf(script, "$group%zu << EOD\n", number);
  RECORD_EACH(point, causes, points) {
    double sum = 0;
    fprintf(script, "%.17g 0", log2((double)point->position));
    for (size_t k = 0; k < CAUSES; k++) {
      sum += 100 * cause_part(&point->shares, k);
      fprintf(script, " %.6f", sum);
    }
    fputc('\n', script);
  }
  fputs("EOD\n", script);
}

/* Writes the names as a title of several lines, and reserves their height. */
static void write_names(FILE *script, const panels *of, size_t number) {
  enum { LINE = 36 }; /* characters above a panel */
  size_t used = 0, needed = 1;
  fputs("set title ", script);
  for (size_t i = number; i < of->causes_count; i++)
    for (size_t k = 0; of->like[i] == number && k < of->causes[i].kernels_count; k++) {
      const char *name = of->causes[i].kernels[k];
      const bool fits = used + strlen(name) <= LINE;
      if (i > number || k > 0) fputs(fits ? ".', '." : ".\",\\n\".", script);
      plot_quoted(script, name);
      used = (fits ? used : 0) + strlen(name) + strlen(", ");
      needed += !fits;
    }
  fprintf(script, " noenhanced offset 0,-0.4\nset tmargin %zu\n", needed + 1);
}

static void write_panel(FILE *script, const panels *of, size_t number) {
  write_names(script, of, number);
  for (size_t i = 0; i < CAUSES; i++)
    fprintf(script,
            "%s $group%zu using 1:%zu:($1-0.45):($1+0.45):%zu:%zu with boxxyerror linecolor rgb '%s' title '%s'",
            i ? "," : "plot", number, i + 2, i + 2, i + 3, cause_colours[i], cause_names[i]);
  fputs("\nunset key\n", script); /* one legend is enough */
}

/* Writes the range of positions of all panels: from the first to the last position of any. */
static void write_reach(FILE *script, const panels *of) {
  double least = INFINITY, most = 0;
  RECORD_EACH(causes, of, causes)
    RECORD_EACH(point, causes, points) {
      least = fmin(least, log2((double)point->position));
      most = fmax(most, log2((double)point->position));
    }
  fprintf(script, "set xrange [%.17g:%.17g]\n", least - 0.6, most + 0.6);
}

/* Whether the shares at all positions are within a twentieth of each other. */
static bool has_same_shares(const record_causes *a, const record_causes *b) {
  if (a->points_count != b->points_count) return false;
  for (size_t i = 0; i < a->points_count; i++) {
    const record_cause_point *one = &a->points[i], *other = &b->points[i];
    if (one->position != other->position) return false;
    for (size_t k = 0; k < CAUSES; k++)
      if (fabs(cause_part(&one->shares, k) - cause_part(&other->shares, k)) > 0.05) return false;
  }
  return true;
}

/* Returns the panels. `like` is to be freed. */
static panels panels_of(const record_report *report) {
  panels made = {report->causes, report->causes_count, memory_take(report->causes_count, sizeof *made.like), 0};
  for (size_t i = 0; i < made.causes_count; i++) {
    size_t *like = &made.like[i];
    while (*like < i && (made.like[*like] != *like || !has_same_shares(&made.causes[*like], &made.causes[i]))) ++*like;
    made.count += *like == i;
  }
  return made;
}

static char *draw_panels(const panels *of) {
  const size_t rows = (of->count + PANELS_IN_ROW - 1) / PANELS_IN_ROW, height = LEGEND_HEIGHT + PANEL_HEIGHT * rows;
  plot *picture = plot_begin("causes", PLOT_WIDTH, (int)height);
  if (!picture) return NULL;
  FILE *script = picture->script;
  for (size_t i = 0; i < of->causes_count; i++)
    if (of->like[i] == i) write_shares(script, i, &of->causes[i]);
  write_reach(script, of);
  fprintf(script,
          "set yrange [0:100]\nset format x '2^{%%g}'\nset format y '%%g %%%%'\nset xtics 10\nset ytics 50\n"
          "set lmargin 7\nset rmargin 2\nset bmargin 2\nset style fill solid noborder\n"
          "set key at screen 0.5, screen %.4f center center vertical maxrows 1 title ''\n"
          "set multiplot layout %zu,%d title ' '\n",
          1 - LEGEND_HEIGHT / 2.0 / (double)height, rows, PANELS_IN_ROW);
  for (size_t i = 0; i < of->causes_count; i++)
    if (of->like[i] == i) write_panel(script, of, i);
  fputs("unset multiplot\n", script);
  return plot_finish(picture,
                     "Stacked bars: shares of frequency, phase, trig and store in the error against position, a panel "
                     "per kind of kernel");
}

static char *draw_causes(const record_report *report) {
  const panels made = panels_of(report);
  char *element = draw_panels(&made);
  free(made.like);
  return element;
}

/* ---- all ---- */

bool draw_curves(const record_report *report, figures *made) {
  bool ok = report->causes_count == 0 || (made->svg[FIGURE_CAUSES] = draw_causes(report));
  for (size_t i = 0; i < sizeof plots / sizeof *plots && ok; i++)
    ok = draw_errors(report, &plots[i], &made->svg[plots[i].place]);
  return ok;
}
