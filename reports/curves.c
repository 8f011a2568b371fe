/* SPDX-License-Identifier: MIT */
#include "reports/curves.h"

#include "common/field.h"
#include "reports/causes.h"
#include "reports/plot.h"

/* ---- error against position, and against frequency ---- */

/* What one of the two draws: the largest errors in a list of every profile, against a field of its elements. */
typedef struct error_plot {
  const char *name, *list, *against;
  double least; /* that the axis can show */
  bool rises;   /* lines go up to the right, so that labels are clear of them on the left */
  const char *axis;
  const char *description;
} error_plot;

static const error_plot position_plot = {
    .name = "error",
    .list = "points",
    .against = "position",
    .least = 1,
    .rises = true,
    .axis = "set logscale x 2\nset format x '2^{%L}'\nset xlabel 'position'\n",
    .description = "Line chart: largest absolute error against position, a line per kernel, beside half an ulp of f32, "
                   "f16 and bf16",
};

static const error_plot frequency_plot = {
    .name = "frequency",
    .list = "columns",
    .against = "index",
    .least = 0,
    .rises = false,
    .axis = "set autoscale xfix\nset xlabel 'frequency index (fast waves on the left)'\n",
    .description = "Line chart: largest absolute error against frequency index, a line per kernel, beside half an ulp "
                   "of f32, f16 and bf16",
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
        formats[i].exponent, formats[i].exponent, formats[i].name, left ? "0.01" : "0.99", formats[i].exponent,
        left ? "left" : "right");
}

/* Can it be drawn? A logarithm shows no error of 0. */
static bool is_drawn(const json_t *element, const error_plot *plot) {
  return field_number(element, plot->against) >= plot->least && field_number(element, "max_abs") > 0;
}

static bool has_errors(const json_t *profile, const error_plot *plot) {
  const json_t *list = json_object_get(profile, plot->list);
  for (size_t i = 0; i < json_array_size(list); i++)
    if (is_drawn(json_array_get(list, i), plot)) return true;
  return false;
}

static void write_errors(FILE *script, size_t index, const json_t *list, const error_plot *plot) {
  fprintf(script, "$profile%zu << EOD\n", index);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *element = json_array_get(list, i);
    if (is_drawn(element, plot))
      fprintf(script, "%.17g %.17g\n", field_number(element, plot->against), field_number(element, "max_abs"));
  }
  fputs("EOD\n", script);
}

/* Place of the kernel among all, which gives it its colour. */
static size_t kernel_index(const json_t *document, const char *kernel) {
  const json_t *kernels = json_object_get(document, "kernels");
  size_t index = 0;
  while (index < json_array_size(kernels) && strcmp(field_string(json_array_get(kernels, index), "name"), kernel) != 0)
    index++;
  return index;
}

static char *draw_errors(const json_t *document, const error_plot *plot) {
  const json_t *profile = json_object_get(document, "profile");
  FILE *script = plot_begin(plot->name, PLOT_HEIGHT);
  if (!script) return NULL;
  write_formats(script, plot->rises);
  fprintf(script, "%sset logscale y 10\nset format y '10^{%%L}'\nset ylabel 'largest |error|'\n", plot->axis);
  for (size_t i = 0; i < json_array_size(profile); i++)
    write_errors(script, i, json_object_get(json_array_get(profile, i), plot->list), plot);
  const char *separator = "plot ";
  for (size_t i = 0; i < json_array_size(profile); i++) {
    const json_t *entry = json_array_get(profile, i);
    const char *kernel = field_string(entry, "kernel");
    if (!has_errors(entry, plot)) continue;
    fprintf(script, "%s$profile%zu using 1:2 with linespoints", separator, i);
    plot_kernel(script, kernel_index(document, kernel), kernel);
    separator = ", ";
  }
  return plot_finish(script, plot->name, plot->description);
}

static bool any_errors(const json_t *document, const error_plot *plot) {
  const json_t *profile = json_object_get(document, "profile");
  for (size_t i = 0; i < json_array_size(profile); i++)
    if (has_errors(json_array_get(profile, i), plot)) return true;
  return false;
}

/* ---- where the error comes from ---- */

/* Panels stand two in a row, under a legend; pixels. */
enum { PANELS_IN_ROW = 2, PANEL_HEIGHT = 190, LEGEND_HEIGHT = 30 };

/* Of Okabe and Ito's colours; grey is for the rounding that nobody escapes. */
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
  write_names(script, json_object_get(group, "kernels"));
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
    const json_t *points = json_object_get(json_array_get(groups, i), "points");
    for (size_t k = 0; k < json_array_size(points); k++) {
      const double exponent = log2(field_number(json_array_get(points, k), "position"));
      least = fmin(least, exponent);
      most = fmax(most, exponent);
    }
  }
  fprintf(script, "set xrange [%.17g:%.17g]\n", least - 0.6, most + 0.6);
}

static char *draw_causes(const json_t *groups) {
  const size_t count = json_array_size(groups), rows = (count + PANELS_IN_ROW - 1) / PANELS_IN_ROW;
  const size_t height = LEGEND_HEIGHT + PANEL_HEIGHT * rows;
  FILE *script = plot_begin("causes", (int)height);
  if (!script) return NULL;
  for (size_t i = 0; i < count; i++) write_shares(script, i, json_object_get(json_array_get(groups, i), "points"));
  write_reach(script, groups);
  fprintf(script,
          "set yrange [0:100]\nset format x '2^{%%g}'\nset format y '%%g %%%%'\nset xtics 10\nset ytics 50\n"
          "set lmargin 7\nset rmargin 2\nset bmargin 2\nset style fill solid noborder\n"
          "set key at screen 0.5, screen %.4f center center vertical maxrows 1 title ''\n"
          "set multiplot layout %zu,%d title ' '\n",
          1 - LEGEND_HEIGHT / 2.0 / (double)height, rows, PANELS_IN_ROW);
  for (size_t i = 0; i < count; i++) write_panel(script, i, json_array_get(groups, i));
  fputs("unset multiplot\n", script);
  return plot_finish(script, "causes",
                     "Stacked bars: shares of frequency, phase, trig and store in the error against position, a panel "
                     "per kind of kernel");
}

/* ---- all ---- */

bool curves_make(const json_t *document, figures *made) {
  const json_t *groups = json_object_get(document, "causes");
  bool ok = true;
  if (any_errors(document, &position_plot)) ok = (made->svg[FIGURE_ERROR] = draw_errors(document, &position_plot));
  if (ok && json_array_size(groups) > 0) ok = (made->svg[FIGURE_CAUSES] = draw_causes(groups));
  if (ok && any_errors(document, &frequency_plot))
    ok = (made->svg[FIGURE_FREQUENCY] = draw_errors(document, &frequency_plot));
  return ok;
}
