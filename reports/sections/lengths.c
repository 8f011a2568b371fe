/* SPDX-License-Identifier: MIT */
#include "reports/sections/lengths.h"

#include "common/field.h"
#include "posenc.h"
#include "reports/model/document.h"
#include "reports/page/plot.h"
#include "reports/page/words.h"
#include "reports/sections/tables.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- time and bandwidth against length ---- */

/* What a figure draws: a counter, in units of `unit`, beside a column of the fill limit. */
typedef struct length_plot {
  figure place;
  const char *mode; /* in the document: a list of tables */
  const char *name, *counter, *label;
  double unit;
  int fill_column;
  const char *caption, *description;
} length_plot;

#define BANDWIDTH .counter = "bytes_per_second", .label = "GB/s written", .unit = 1e9, .fill_column = 2

static const length_plot plots[] = {
    {.place = FIGURE_TIME,
     .mode = "shapes",
     .name = "time",
     .counter = "ns_per_element",
     .label = "ns per element",
     .unit = 1.0,
     .fill_column = 3,
     .caption = "Time per element against length, hot: in memory that was just written.",
     .description = "Line chart: nanoseconds per element against length, a line per kernel, and the fill limit"},
    {.place = FIGURE_BANDWIDTH,
     .mode = "shapes",
     .name = "bandwidth",
     BANDWIDTH,
     .caption = "Bytes written per second against length, hot.",
     .description =
         "Line chart: gigabytes written per second against length, hot, a line per kernel, and the fill limit"},
    {.place = FIGURE_COLD,
     .mode = "cold",
     .name = "cold",
     BANDWIDTH,
     .caption = "Cold: table and constants are in no cache before.",
     .description = "Line chart: gigabytes written per second against length with cold caches, a line per kernel, and "
                    "the fill limit"},
    {.place = FIGURE_FRESH,
     .mode = "fresh",
     .name = "fresh",
     BANDWIDTH,
     .caption = "Fresh: into memory that was just allocated, so that its page faults count.",
     .description = "Line chart: gigabytes written per second against length in fresh memory, a line per kernel, and "
                    "the fill limit"},
};
enum { PLOTS = sizeof plots / sizeof *plots };

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

/* Was this length of the sweep timed? */
static bool is_in_sweep(const json_t *table) {
  return json_is_true(json_object_get(table, "sweep")) &&
         json_is_object(json_object_get(table, "limit_bytes_per_second"));
}

static sweep find_sweep(const json_t *document, const char *mode) {
  const json_t *shapes = json_object_get(document, mode);
  sweep found = {.least = INFINITY, .most = 0};
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *table = json_array_get(shapes, i);
    if (!is_in_sweep(table) || found.count == sizeof found.tables / sizeof *found.tables) continue;
    found.tables[found.count++] = table;
    found.least = fmin(found.least, rows_of(table) / 1.3);
    found.most = fmax(found.most, rows_of(table) * 1.3);
    found.dim = field_number(json_object_get(table, "shape"), "dim");
  }
  return found;
}

/* The caches of the timed machine that tables are as large as. */
static const char *const caches[][2] = {{"l1d", "L1d"}, {"l2", "L2"}, {"l3", "L3"}};
enum { CACHES = sizeof caches / sizeof *caches };

/* Rows of the sweep's width whose table is as large as that one; NaN if it is unknown or beyond the axis. */
static double cache_rows(const json_t *document, const sweep *s, const char *cache) {
  const json_t *environment = json_object_get(json_object_get(document, "environment"), "timing");
  const double bytes = strtod(field_string(environment, cache), NULL);
  const double rows = bytes / (s->dim * (double)posenc_dtype_bytes(POSENC_F32));
  return rows >= s->least && rows <= s->most ? rows : NAN;
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

static void write_caches(FILE *script, const json_t *document, const sweep *s) {
  for (size_t i = 0; i < CACHES; i++) {
    const double rows = cache_rows(document, s, caches[i][0]);
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

/* Where the axis of bandwidth ends: at the limit, unless a kernel passes it. */
static double highest_bandwidth(const sweep *s) {
  double highest = 0;
  for (size_t i = 0; i < s->count; i++) {
    highest = fmax(highest, fill_of(s->tables[i]));
    const json_t *rows = json_object_get(s->tables[i], "rows");
    for (size_t k = 0; k < json_array_size(rows); k++) {
      const json_t *timing = json_object_get(json_array_get(rows, k), "timing");
      highest = fmax(highest, field_number(json_object_get(timing, "bytes_per_second"), "median"));
    }
  }
  return highest / 1e9;
}

static char *draw_lengths(const json_t *document, const sweep *s, const length_plot *plot) {
  const json_t *kernels = json_object_get(document, "kernels");
  FILE *script = plot_begin(plot->name, PLOT_HEIGHT);
  if (!script) return NULL;
  write_length_axis(script, s);
  write_caches(script, document, s);
  write_fill(script, s);
  fprintf(script, "set ylabel '%s'\nset logscale y 10\nset format y '%%g'\n", plot->label);
  const double highest = highest_bandwidth(s);
  if (plot->place != FIGURE_TIME && highest > 0) fprintf(script, "set yrange [*:%.17g]\n", highest);
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

bool lengths_make(const json_t *document, figures *made) {
  for (size_t i = 0; i < PLOTS; i++) {
    const sweep s = find_sweep(document, plots[i].mode);
    if (s.count > 0 && !(made->svg[plots[i].place] = draw_lengths(document, &s, &plots[i]))) return false;
  }
  return true;
}

/* ---- the section ---- */

static void write_cache_rows(page *p, const json_t *document, const sweep *s) {
  const json_t *facts = json_object_get(json_object_get(document, "environment"), "timing");
  const char *separator = " Dotted lines mark tables as large as a cache: ";
  for (size_t i = 0; i < CACHES; i++) {
    const double rows = cache_rows(document, s, caches[i][0]);
    if (!isfinite(rows)) continue;
    const double bytes = strtod(field_string(facts, caches[i][0]), NULL);
    page_print(p, PAGE_TEXT, "%s%s %s is %s rows", separator, caches[i][1], words_bytes(bytes).text,
               words_count(rows).text);
    separator = ", ";
  }
  if (*separator == ',') p->format->run(p, PAGE_TEXT, ".");
}

/* All tables of the sweep, mode by mode. */
static void write_data(page *p, const json_t *document) {
  static const char *const modes[][2] = {{"shapes", "hot"}, {"cold", "cold"}, {"fresh", "fresh"}};
  p->format->open(p, PAGE_DATA);
  for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
    const sweep s = find_sweep(document, modes[m][0]);
    for (size_t i = 0; i < s.count; i++) {
      char caption[512];
      snprintf(caption, sizeof caption, "%s: %s", modes[m][1], table_describe(s.tables[i]).text);
      table_write(p, TABLE_TIMES, caption, json_object_get(s.tables[i], "rows"), true);
    }
  }
  p->format->close(p, PAGE_DATA);
}

void lengths_write(page *p, const json_t *document, const figures *drawn) {
  size_t first = 0;
  while (first < PLOTS && !drawn->svg[plots[first].place]) first++;
  if (first == PLOTS) return;
  const sweep s = find_sweep(document, plots[first].mode);
  p->format->heading(p, 2, "Time against length");
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(p, PAGE_TEXT,
             "Tables of f32 with %s columns. Points are medians, bars reach from least to most. Axes of GB/s are "
             "logarithmic and end at the "
             "limit, how fast the machine fills such memory at all, unless a kernel passes it.",
             words_count(s.dim).text);
  write_cache_rows(p, document, &s);
  p->format->close(p, PAGE_PARAGRAPH);
  p->format->open(p, PAGE_FIGURES);
  for (size_t i = 0; i < PLOTS; i++)
    if (drawn->svg[plots[i].place]) p->format->figure(p, plots[i].caption, drawn->svg[plots[i].place]);
  p->format->close(p, PAGE_FIGURES);
  if (drawn->svg[FIGURE_COLD] || drawn->svg[FIGURE_FRESH])
    page_block(
        p, PAGE_PARAGRAPH,
        "Cold and fresh, a kernel whose pass takes long is left out at that length: it is about as fast as hot.");
  write_data(p, document);
}
