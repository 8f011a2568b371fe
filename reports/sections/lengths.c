/* SPDX-License-Identifier: MIT */
/* Time and bandwidth against length: hot, cold and fresh. */
#include "common/field.h"
#include "posenc.h"
#include "reports/model/document.h"
#include "reports/page/plot.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

#include <stdlib.h>

/* A figure: a counter, in units of `unit`, beside the fill limit. */
typedef struct length_plot {
  figure place;
  const char *mode; /* in the document: a list of tables */
  const char *name, *counter, *label;
  double unit;
  const char *caption, *description;
} length_plot;

#define CHART(what) "Line chart: " what ", a line per kernel, and the fill limit"
#define BANDWIDTH .counter = "bytes_per_second", .label = "GB/s written", .unit = 1e9

static const length_plot plots[] = {
    {FIGURE_TIME, "shapes", "time", "ns_per_element", "ns per element", 1,
     "Time per element against length, hot: in memory that was just written.",
     CHART("nanoseconds per element against length")},
    {FIGURE_BANDWIDTH, "shapes", "bandwidth", BANDWIDTH, "Bytes written per second against length, hot.",
     CHART("gigabytes written per second against length, hot")},
    {FIGURE_COLD, "cold", "cold", BANDWIDTH, "Cold: table and constants are in no cache before.",
     CHART("gigabytes written per second against length with cold caches")},
    {FIGURE_FRESH, "fresh", "fresh", BANDWIDTH,
     "Fresh: into memory that was just allocated, so that its page faults count.",
     CHART("gigabytes written per second against length in fresh memory")},
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

static const json_t *spread_of(const json_t *table, const char *kernel, const length_plot *shown) {
  return json_object_get(json_object_get(document_row(table, kernel), "timing"), shown->counter);
}

static double fill_of(const json_t *table) {
  return field_number(json_object_get(table, "limit_bytes_per_second"), "median");
}

/* The fill limit as bandwidth, or as the time that an element of f32 takes at it. */
static void draw_fill(plot *picture, const sweep *s, bool as_time) {
  plot_series(picture, "using 1:2 with lines linetype -1 linewidth 2", "fill limit");
  for (size_t i = 0; i < s->count; i++) {
    const double fill = fill_of(s->tables[i]) / 1e9;
    plot_point(picture, rows_of(s->tables[i]), as_time ? (double)posenc_dtype_bytes(POSENC_F32) / fill : fill, 0, 0);
  }
}

/* Median, least and most at every length; no line if it was not timed. */
static void draw_kernel(plot *picture, const sweep *s, const length_plot *shown, size_t index, const char *kernel) {
  bool begun = false;
  for (size_t i = 0; i < s->count; i++) {
    const json_t *spread = spread_of(s->tables[i], kernel, shown);
    if (!(field_number(spread, "median") > 0)) continue;
    if (!begun) plot_kernel(picture, "using 1:2:3:4 with yerrorlines", index, kernel);
    begun = true;
    plot_point(picture, rows_of(s->tables[i]), field_number(spread, "median") / shown->unit,
               field_number(spread, "min") / shown->unit, field_number(spread, "max") / shown->unit);
  }
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

/* The end of the bandwidth axis: the limit, unless a kernel passes it. */
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

static char *draw_sweep(const json_t *document, const sweep *s, const length_plot *shown) {
  const json_t *kernels = json_object_get(document, "kernels");
  plot *picture = plot_begin(shown->name, PLOT_HEIGHT);
  if (!picture) return NULL;
  write_length_axis(picture->script, s);
  write_caches(picture->script, document, s);
  fprintf(picture->script, "set ylabel '%s'\nset logscale y 10\nset format y '%%g'\n", shown->label);
  const bool as_time = shown->place == FIGURE_TIME;
  const double highest = highest_bandwidth(s);
  if (!as_time && highest > 0) fprintf(picture->script, "set yrange [*:%.17g]\n", highest);
  draw_fill(picture, s, as_time);
  for (size_t i = 0; i < json_array_size(kernels); i++)
    draw_kernel(picture, s, shown, i, field_string(json_array_get(kernels, i), "name"));
  return plot_finish(picture, shown->description);
}

bool draw_lengths(const json_t *document, figures *made) {
  for (size_t i = 0; i < PLOTS; i++) {
    const sweep s = find_sweep(document, plots[i].mode);
    if (s.count > 0 && !(made->svg[plots[i].place] = draw_sweep(document, &s, &plots[i]))) return false;
  }
  return true;
}

/* ---- the section ---- */

static void say_caches(page *p, const json_t *document, const sweep *s) {
  const json_t *facts = json_object_get(json_object_get(document, "environment"), "timing");
  const char *separator = " Dotted lines mark tables as large as a cache: ";
  for (size_t i = 0; i < CACHES; i++) {
    const double rows = cache_rows(document, s, caches[i][0]);
    if (!isfinite(rows)) continue;
    const double bytes = strtod(field_string(facts, caches[i][0]), NULL);
    page_say(p, "%s%s %s is %s rows", separator, caches[i][1], words_bytes(bytes).text, words_count(rows).text);
    separator = ", ";
  }
  if (*separator == ',') page_say(p, ".");
}

/* All tables of the sweep, mode by mode. */
static void write_data(page *p, const json_t *document) {
  static const char *const modes[][2] = {{"shapes", "hot"}, {"cold", "cold"}, {"fresh", "fresh"}};
  page_data(p, NULL);
  for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
    const sweep s = find_sweep(document, modes[m][0]);
    for (size_t i = 0; i < s.count; i++) {
      char caption[512];
      snprintf(caption, sizeof caption, "%s: %s", modes[m][1], table_describe(s.tables[i]).text);
      write_rows(p, TABLE_TIMES, caption, json_object_get(s.tables[i], "rows"), true);
    }
  }
  page_data_end(p);
}

void write_lengths(page *p, const json_t *document) {
  size_t first = 0;
  while (first < PLOTS && !p->svg[plots[first].place]) first++;
  if (first == PLOTS) return;
  const sweep s = find_sweep(document, plots[first].mode);
  page_section(p, "Time against length");
  page_open(p, PAGE_PARAGRAPH);
  page_say(
      p,
      "Tables of f32 with %s columns. Points are medians, bars reach from least to most. Axes of GB/s are "
      "logarithmic and end at the limit, how fast the machine fills such memory at all, unless a kernel passes it.",
      words_count(s.dim).text);
  say_caches(p, document, &s);
  page_close(p, PAGE_PARAGRAPH);
  page_open(p, PAGE_FIGURES);
  for (size_t i = 0; i < PLOTS; i++) page_figure(p, plots[i].caption, p->svg[plots[i].place]);
  page_close(p, PAGE_FIGURES);
  if (p->svg[FIGURE_COLD] || p->svg[FIGURE_FRESH])
    page_paragraph(
        p, "Cold and fresh, a kernel whose pass takes long is left out at that length: it is about as fast as hot.");
  write_data(p, document);
}
