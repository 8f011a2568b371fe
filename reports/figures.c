/* SPDX-License-Identifier: MIT */
#include "reports/figures.h"

#include "common/field.h"
#include "posenc.h"
#include "reports/curves.h"
#include "reports/document.h"
#include "reports/plot.h"
#include "reports/portraits.h"

#include <stdio.h>
#include <stdlib.h>

bool figures_in_sweep(const json_t *table) {
  return json_is_true(json_object_get(table, "sweep")) &&
         json_is_object(json_object_get(table, "limit_bytes_per_second"));
}

/* ---- time and bandwidth against length ---- */

/* What one of the two figures draws: a counter, in units of `unit`, beside a column of the fill limit. */
typedef struct length_plot {
  const char *name, *counter, *label;
  double unit;
  int fill_column;
  const char *description;
} length_plot;

static const length_plot time_plot = {
    .name = "time",
    .counter = "ns_per_element",
    .label = "ns per element",
    .unit = 1.0,
    .fill_column = 3,
    .description = "Line chart: nanoseconds per element against length, a line per kernel, and the fill limit",
};

static const length_plot bandwidth_plot = {
    .name = "bandwidth",
    .counter = "bytes_per_second",
    .label = "GB/s written",
    .unit = 1e9,
    .fill_column = 2,
    .description = "Line chart: gigabytes written per second against length, a line per kernel, and the fill limit",
};

/* The timed lengths of the sweep. */
typedef struct sweep {
  const json_t *tables[64];
  size_t count;
  double least, most; /* rows, with some air */
  double dim;
} sweep;

static double rows_of(const json_t *table) {
  return field_number(json_object_get(table, "shape"), "rows");
}

static sweep find_sweep(const json_t *document) {
  const json_t *shapes = json_object_get(document, "shapes");
  sweep found = {.least = INFINITY, .most = 0};
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *table = json_array_get(shapes, i);
    if (!figures_in_sweep(table) || found.count == sizeof found.tables / sizeof *found.tables) continue;
    found.tables[found.count++] = table;
    found.least = fmin(found.least, rows_of(table) / 1.3);
    found.most = fmax(found.most, rows_of(table) * 1.3);
    found.dim = field_number(json_object_get(table, "shape"), "dim");
  }
  return found;
}

double figures_cache_rows(const json_t *document, const char *cache) {
  const json_t *environment = json_object_get(json_object_get(document, "environment"), "timing");
  const sweep s = find_sweep(document);
  const double bytes = strtod(field_string(environment, cache), NULL);
  const double rows = bytes / (s.dim * (double)posenc_dtype_bytes(POSENC_F32));
  return rows >= s.least && rows <= s.most ? rows : NAN;
}

static const json_t *spread_of(const json_t *table, const char *kernel, const length_plot *plot) {
  return json_object_get(json_object_get(document_row(table, kernel), "timing"), plot->counter);
}

static bool was_timed(const sweep *s, const char *kernel, const length_plot *plot) {
  for (size_t i = 0; i < s->count; i++)
    if (field_number(spread_of(s->tables[i], kernel, plot), "median") > 0) return true;
  return false;
}

/* Rows, median, least and most of every length, as a data block. */
static void write_kernel(FILE *script, const sweep *s, size_t index, const char *kernel, const length_plot *plot) {
  fprintf(script, "$kernel%zu << EOD\n", index);
  for (size_t i = 0; i < s->count; i++) {
    const json_t *spread = spread_of(s->tables[i], kernel, plot);
    const double median = field_number(spread, "median") / plot->unit;
    if (median > 0)
      fprintf(script, "%.17g %.17g %.17g %.17g\n", rows_of(s->tables[i]), median,
              field_number(spread, "min") / plot->unit, field_number(spread, "max") / plot->unit);
  }
  fputs("EOD\n", script);
}

static double fill_of(const json_t *table) {
  return field_number(json_object_get(table, "limit_bytes_per_second"), "median");
}

/* The fill limit as bandwidth, and as the time that an element of f32 takes at it. */
static void write_fill(FILE *script, const sweep *s) {
  fputs("$fill << EOD\n", script);
  for (size_t i = 0; i < s->count; i++)
    fprintf(script, "%.17g %.17g %.17g\n", rows_of(s->tables[i]), fill_of(s->tables[i]) / 1e9,
            (double)posenc_dtype_bytes(POSENC_F32) / fill_of(s->tables[i]) * 1e9);
  fputs("EOD\n", script);
}

static void write_caches(FILE *script, const json_t *document) {
  static const char *const caches[][2] = {{"l1d", "L1d"}, {"l2", "L2"}, {"l3", "L3"}};
  for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
    const double rows = figures_cache_rows(document, caches[i][0]);
    if (!isfinite(rows)) continue;
    fprintf(
        script,
        "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead back linecolor rgb '#808080' dashtype 3\n"
        "set label '%s' at first %.17g, graph 1 center offset 0,0.5\n",
        rows, rows, caches[i][1], rows);
  }
}

static void write_length_axis(FILE *script, const sweep *s) {
  fprintf(script, "set logscale x 2\nset xrange [%.17g:%.17g]\nset xlabel 'length (rows)'\nset xtics (", s->least,
          s->most);
  for (size_t i = 0; i < s->count; i++) fprintf(script, "%s%.0f", i ? ", " : "", rows_of(s->tables[i]));
  fputs(")\n", script);
}

/* The axis of bandwidth ends just above the highest of limit and measurement. */
static double highest_bandwidth(const sweep *s) {
  double highest = 0;
  for (size_t i = 0; i < s->count; i++) {
    highest = fmax(highest, fill_of(s->tables[i]));
    const json_t *rows = json_object_get(s->tables[i], "rows");
    for (size_t k = 0; k < json_array_size(rows); k++) {
      const json_t *timing = json_object_get(json_array_get(rows, k), "timing");
      highest = fmax(highest, field_number(json_object_get(timing, "bytes_per_second"), "max"));
    }
  }
  return fmax(ceil(highest / 1e9 / 5), 1) * 5;
}

static char *draw_lengths(const json_t *document, const sweep *s, const length_plot *plot) {
  const json_t *kernels = json_object_get(document, "kernels");
  FILE *script = plot_begin(plot->name, PLOT_HEIGHT);
  if (!script) return NULL;
  write_length_axis(script, s);
  write_caches(script, document);
  write_fill(script, s);
  fprintf(script, "set ylabel '%s'\nset logscale y 10\nset format y '%%g'\n", plot->label);
  if (plot == &bandwidth_plot) fprintf(script, "set yrange [*:%.17g]\n", highest_bandwidth(s));
  for (size_t i = 0; i < json_array_size(kernels); i++)
    write_kernel(script, s, i, field_string(json_array_get(kernels, i), "name"), plot);
  fprintf(script, "plot $fill using 1:%d with lines linetype -1 linewidth 2 title 'fill limit'", plot->fill_column);
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const char *kernel = field_string(json_array_get(kernels, i), "name");
    if (!was_timed(s, kernel, plot)) continue;
    fprintf(script, ", $kernel%zu using 1:2:3:4 with yerrorlines", i);
    plot_kernel(script, i, kernel);
  }
  return plot_finish(script, plot->name, plot->description);
}

/* ---- all ---- */

void figures_free(figures *made) {
  for (size_t i = 0; i < FIGURES; i++) free(made->svg[i]);
}

bool figures_make(const json_t *document, figures *made) {
  const sweep s = find_sweep(document);
  *made = (figures){{NULL}};
  bool ok = true;
  if (s.count > 0) {
    ok = (made->svg[FIGURE_TIME] = draw_lengths(document, &s, &time_plot)) &&
         (made->svg[FIGURE_BANDWIDTH] = draw_lengths(document, &s, &bandwidth_plot));
  }
  if (ok) ok = curves_make(document, made);
  if (ok) ok = portraits_make(document, made);
  if (!ok) figures_free(made);
  return ok;
}
