/* SPDX-License-Identifier: MIT */
#include "reports/curves.h"

#include "common/field.h"
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

/* ---- all ---- */

bool curves_make(const json_t *document, figures *made) {
  if (!any_errors(document, &position_plot)) return true;
  return (made->svg[FIGURE_ERROR] = draw_errors(document, &position_plot));
}
