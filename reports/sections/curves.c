/* SPDX-License-Identifier: MIT */
/* The figures of errors: against position, by cause, against frequency, and how many there are. */
#include "common/field.h"
#include "reports/model/causes.h"
#include "reports/model/document.h"
#include "reports/page/plot.h"
#include "reports/sections/sections.h"

/* ---- errors as lines ---- */

/* Whose errors a figure shows. */
enum { KERNELS = 1, RECIPES = 2 };

/* A figure: a field in a list of every profile, or row, against another field of its elements. */
typedef struct error_plot {
  figure place;
  const char *name;
  const json_t *(*entries)(const json_t *document);
  const char *list, *against, *value;
  unsigned of;   /* set of KERNELS and RECIPES */
  double least;  /* that the axis can show */
  bool absolute; /* the errors are absolute, to be seen beside half an ulp of a format */
  bool rises;    /* lines go up to the right, so that labels are clear of them on the left */
  const char *axes;
  const char *description;
} error_plot;

static const json_t *profiles(const json_t *document) {
  return json_object_get(document, "profile");
}

static const json_t *headline_rows(const json_t *document) {
  return json_object_get(json_object_get(document, "headline"), "rows");
}

#define ABSOLUTE .entries = profiles, .value = "max_abs", .absolute = true
#define ABSOLUTE_AXIS "set logscale y 10\nset format y '10^{%L}'\nset ylabel 'largest |error|'\n"
#define AGAINST_POSITION                                                                                               \
  ABSOLUTE, .list = "points", .against = "position", .least = 1, .rises = true,                                        \
            .axes = ABSOLUTE_AXIS "set logscale x 2\nset format x '2^{%L}'\nset xlabel 'position'\n"
#define HISTOGRAM                                                                                                      \
  .entries = headline_rows, .list = "histogram", .against = "below", .value = "count",                                 \
  .axes = "set logscale x 2\nset format x '2^{%L}'\nset xtics 16\nset xlabel 'error in ulp, below'\n"                  \
          "set logscale y 10\nset format y '10^{%L}'\nset yrange [0.7:*]\nset ylabel 'elements'\n"

static const error_plot plots[] = {
    {FIGURE_ERROR, "error", AGAINST_POSITION, .of = KERNELS,
     .description =
         "Line chart: largest absolute error against position, a line per kernel, beside half an ulp of f32, "
         "f16 and bf16"},
    {FIGURE_RECIPES, "recipes", AGAINST_POSITION, .of = RECIPES,
     .description = "Line chart: largest absolute error of what frameworks ship against position, a line per recipe, "
                    "beside half an ulp of f32, f16 and bf16"},
    {FIGURE_FREQUENCY, "frequency", ABSOLUTE, .list = "columns", .against = "index", .of = KERNELS | RECIPES,
     .axes = ABSOLUTE_AXIS "set autoscale xfix\nset xlabel 'frequency index (fast waves on the left)'\n",
     .description = "Line chart: largest absolute error against frequency index, a line per kernel, beside half an ulp "
                    "of f32, f16 and bf16"},
    {FIGURE_HISTOGRAM, "histogram", HISTOGRAM, .of = KERNELS,
     .description = "Line chart: number of elements by error in ulp, a line per kernel"},
    {FIGURE_RECIPES_HISTOGRAM, "recipes-histogram", HISTOGRAM, .of = RECIPES,
     .description = "Line chart: number of elements by error in ulp, a line per recipe that frameworks ship"},
};

/* Half an ulp of a format just below 1: what rounding alone costs. */
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

/* Can it be drawn? A logarithm shows no error of 0. */
static bool is_drawn(const json_t *element, const error_plot *shown) {
  return field_number(element, shown->against) >= shown->least && field_number(element, shown->value) > 0;
}

static bool has_errors(const json_t *profile, const error_plot *shown) {
  const json_t *list = json_object_get(profile, shown->list);
  for (size_t i = 0; i < json_array_size(list); i++)
    if (is_drawn(json_array_get(list, i), shown)) return true;
  return false;
}

/* Place of the kernel among all, which gives it its colour. */
static size_t kernel_index(const json_t *document, const char *kernel) {
  const json_t *kernels = json_object_get(document, "kernels");
  size_t index = 0;
  while (index < json_array_size(kernels) && strcmp(field_string(json_array_get(kernels, index), "name"), kernel) != 0)
    index++;
  return index;
}

/* Do two sets of data look the same? */
typedef bool sameness(const json_t *a, const json_t *b, const error_plot *shown);

/*
 * Adds {"names", "data"} to an array of such, or the names alone to the first whose data look the same. The array;
 * null, with the array released, when memory runs out.
 */
static json_t *with_group(json_t *groups, json_t *names, json_t *data, sameness *same, const error_plot *shown) {
  json_t *group = NULL;
  for (size_t i = 0; i < json_array_size(groups) && !group; i++)
    if (same(json_object_get(json_array_get(groups, i), "data"), data, shown)) group = json_array_get(groups, i);
  const int refused =
      group ? json_array_extend(json_object_get(group, "names"), names)
            : json_array_append_new(groups, json_pack("{s:o, s:O}", "names", json_copy(names), "data", data));
  if (!refused) return groups;
  json_decref(groups);
  return NULL;
}

/* Are the errors within a tenth of each other, which is less than the plot shows, wherever one has any? */
static bool same_errors(const json_t *first, const json_t *second, const error_plot *shown) {
  if (json_array_size(first) != json_array_size(second)) return false;
  for (size_t i = 0; i < json_array_size(first); i++) {
    const json_t *one = json_array_get(first, i), *other = json_array_get(second, i);
    if (!json_equal(json_object_get(one, shown->against), json_object_get(other, shown->against))) return false;
    const double x = field_number(one, shown->value), y = field_number(other, shown->value);
    if (isfinite(x) != isfinite(y) || fabs(x - y) > 0.1 * fabs(x)) return false;
  }
  return true;
}

/* The lines of a plot. Null when memory runs out. */
static json_t *lines_of(const json_t *document, const error_plot *shown) {
  const json_t *entries = shown->entries(document);
  json_t *lines = json_array();
  for (size_t i = 0; lines && i < json_array_size(entries); i++) {
    const json_t *entry = json_array_get(entries, i);
    const char *kernel = field_string(entry, "kernel");
    const unsigned kind = document_is_recipe(document, kernel) ? RECIPES : KERNELS;
    if (!(shown->of & kind) || !has_errors(entry, shown)) continue;
    json_t *names = json_pack("[s]", kernel);
    lines = with_group(lines, names, json_object_get(entry, shown->list), same_errors, shown);
    json_decref(names);
  }
  return lines;
}

/* "cr-openmp, rotation-openmp and 6 more", as far as it fits into a line of the legend. */
static void name_line(char *title, size_t size, const json_t *names) {
  enum { LEGEND_LINE = 48 };
  const size_t count = json_array_size(names);
  size_t used = 0;
  for (size_t i = 0; i < count && used < size; i++) {
    const char *name = json_string_value(json_array_get(names, i));
    if (i > 0 && used + strlen(", ") + strlen(name) > LEGEND_LINE) {
      snprintf(title + used, size - used, " and %zu more", count - i);
      return;
    }
    used += (size_t)snprintf(title + used, size - used, "%s%s", i > 0 ? ", " : "", name);
  }
}

static void draw_line(plot *picture, const json_t *document, const error_plot *shown, const json_t *line) {
  const json_t *names = json_object_get(line, "names");
  const json_t *list = json_object_get(line, "data");
  char title[400];
  name_line(title, sizeof title, names);
  plot_kernel(picture, "using 1:2 with linespoints",
              kernel_index(document, json_string_value(json_array_get(names, 0))), title);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *element = json_array_get(list, i);
    if (is_drawn(element, shown))
      plot_point(picture, field_number(element, shown->against), field_number(element, shown->value), 0, 0);
  }
}

static char *draw_lines(const json_t *document, const error_plot *shown, const json_t *lines) {
  enum { LEGEND_PIXELS = 20, LEGEND_USUAL = 6 }; /* a line's, and how many lines the usual height has room for */
  const size_t count = json_array_size(lines), further = count > LEGEND_USUAL ? count - LEGEND_USUAL : 0;
  plot *picture = plot_begin(shown->name, PLOT_HEIGHT + LEGEND_PIXELS * (int)further);
  if (!picture) return NULL;
  if (shown->absolute) write_formats(picture->script, shown->rises);
  fprintf(picture->script, "%sset key maxcols 1\n", shown->axes);
  for (size_t i = 0; i < count; i++) draw_line(picture, document, shown, json_array_get(lines, i));
  return plot_finish(picture, shown->description);
}

/* Nothing, where there is nothing to draw. False on an error already told on stderr. */
static bool draw_errors(const json_t *document, const error_plot *shown, char **svg) {
  json_t *lines = lines_of(document, shown);
  const bool any = json_array_size(lines) > 0;
  if (!lines) fprintf(stderr, "posenc: report: plot %s: out of memory\n", shown->name);
  if (any) *svg = draw_lines(document, shown, lines);
  const bool done = lines && (!any || *svg);
  json_decref(lines);
  return done;
}

/* ---- by cause ---- */

/* Panels stand two in a row, under a legend; pixels. */
enum { PANELS_IN_ROW = 2, PANEL_HEIGHT = 190, LEGEND_HEIGHT = 30 };

/* From Okabe and Ito's palette; grey is for store, the final rounding, which no kernel avoids. */
static const char *const cause_colours[CAUSES] = {"#0072b2", "#e69f00", "#009e73", "#a0a0a0"};

/* Exponent of the position, 0, then in percent the sum of the first share, the first two, … */
static void write_shares(FILE *script, size_t index, const json_t *points) {
  fprintf(script, "$group%zu << EOD\n", index);
  for (size_t i = 0; i < json_array_size(points); i++) {
    const json_t *point = json_array_get(points, i);
    double sum = 0;
    fprintf(script, "%.17g 0", log2(field_number(point, "position")));
    for (size_t k = 0; k < CAUSES; k++) {
      sum += 100 * field_number(json_object_get(point, "shares"), cause_names[k]);
      fprintf(script, " %.6f", sum);
    }
    fputc('\n', script);
  }
  fputs("EOD\n", script);
}

/* The names as a title, on as many lines as they need, and room for these. */
static void write_names(FILE *script, const json_t *names) {
  enum { LINE = 36 }; /* characters above a panel */
  size_t used = 0, lines = 1;
  fputs("set title ", script);
  for (size_t i = 0; i < json_array_size(names); i++) {
    const char *name = json_string_value(json_array_get(names, i));
    const bool fits = used + strlen(name) <= LINE;
    if (i > 0) fputs(fits ? ".', '." : ".\",\\n\".", script);
    plot_quoted(script, name);
    used = (fits ? used : 0) + strlen(name) + strlen(", ");
    lines += !fits;
  }
  fprintf(script, " noenhanced offset 0,-0.4\nset tmargin %zu\n", lines + 1);
}

static void write_panel(FILE *script, size_t index, const json_t *group) {
  write_names(script, json_object_get(group, "names"));
  for (size_t i = 0; i < CAUSES; i++)
    fprintf(script,
            "%s $group%zu using 1:%zu:($1-0.45):($1+0.45):%zu:%zu with boxxyerror linecolor rgb '%s' title '%s'",
            i ? "," : "plot", index, i + 2, i + 2, i + 3, cause_colours[i], cause_names[i]);
  fputs("\nunset key\n", script); /* one legend is enough */
}

/* All panels reach from the first to the last position of any. */
static void write_reach(FILE *script, const json_t *groups) {
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < json_array_size(groups); i++) {
    const json_t *points = json_object_get(json_array_get(groups, i), "data");
    for (size_t k = 0; k < json_array_size(points); k++) {
      const double exponent = log2(field_number(json_array_get(points, k), "position"));
      least = fmin(least, exponent);
      most = fmax(most, exponent);
    }
  }
  fprintf(script, "set xrange [%.17g:%.17g]\n", least - 0.6, most + 0.6);
}

/* Are the shares at all positions within a twentieth of each other? */
static bool same_shares(const json_t *a, const json_t *b, const error_plot *shown) {
  (void)shown;
  if (json_array_size(a) != json_array_size(b)) return false;
  for (size_t i = 0; i < json_array_size(a); i++) {
    const json_t *one = json_array_get(a, i), *other = json_array_get(b, i);
    if (!json_equal(json_object_get(one, "position"), json_object_get(other, "position"))) return false;
    for (size_t k = 0; k < CAUSES; k++) {
      const double x = field_number(json_object_get(one, "shares"), cause_names[k]),
                   y = field_number(json_object_get(other, "shares"), cause_names[k]);
      if (fabs(x - y) > 0.05) return false;
    }
  }
  return true;
}

/* Groups that look the same are one panel. Null when memory runs out. */
static json_t *panels_of(const json_t *groups) {
  json_t *panels = json_array();
  for (size_t i = 0; panels && i < json_array_size(groups); i++) {
    const json_t *group = json_array_get(groups, i);
    panels = with_group(panels, json_object_get(group, "kernels"), json_object_get(group, "points"), same_shares, NULL);
  }
  return panels;
}

static char *draw_panels(const json_t *groups) {
  const size_t count = json_array_size(groups), rows = (count + PANELS_IN_ROW - 1) / PANELS_IN_ROW;
  const size_t height = LEGEND_HEIGHT + PANEL_HEIGHT * rows;
  plot *picture = plot_begin("causes", (int)height);
  if (!picture) return NULL;
  FILE *script = picture->script;
  for (size_t i = 0; i < count; i++) write_shares(script, i, json_object_get(json_array_get(groups, i), "data"));
  write_reach(script, groups);
  fprintf(script,
          "set yrange [0:100]\nset format x '2^{%%g}'\nset format y '%%g %%%%'\nset xtics 10\nset ytics 50\n"
          "set lmargin 7\nset rmargin 2\nset bmargin 2\nset style fill solid noborder\n"
          "set key at screen 0.5, screen %.4f center center vertical maxrows 1 title ''\n"
          "set multiplot layout %zu,%d title ' '\n",
          1 - LEGEND_HEIGHT / 2.0 / (double)height, rows, PANELS_IN_ROW);
  for (size_t i = 0; i < count; i++) write_panel(script, i, json_array_get(groups, i));
  fputs("unset multiplot\n", script);
  return plot_finish(picture,
                     "Stacked bars: shares of frequency, phase, trig and store in the error against position, a panel "
                     "per kind of kernel");
}

static char *draw_causes(const json_t *groups) {
  json_t *panels = panels_of(groups);
  char *element = panels ? draw_panels(panels) : NULL;
  if (!panels) fputs("posenc: report: plot causes: out of memory\n", stderr);
  json_decref(panels);
  return element;
}

/* ---- all ---- */

bool draw_curves(const json_t *document, figures *made) {
  const json_t *groups = json_object_get(document, "causes");
  bool ok = json_array_size(groups) == 0 || (made->svg[FIGURE_CAUSES] = draw_causes(groups));
  for (size_t i = 0; i < sizeof plots / sizeof *plots && ok; i++)
    ok = draw_errors(document, &plots[i], &made->svg[plots[i].place]);
  return ok;
}
