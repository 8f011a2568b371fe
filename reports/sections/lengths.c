/* SPDX-License-Identifier: MIT */
/* Time and bandwidth against length: hot, cold and fresh. */
#include "common/field.h"
#include "posenc.h"
#include "reports/model/document.h"
#include "reports/page/plot.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

#include <stdlib.h>

/* The states of memory that lengths are timed in. */
typedef enum state { HOT, COLD, FRESH, STATES } state;

/* A figure: time per element, or bandwidth, beside the fill limit. */
typedef struct length_plot {
  figure place;
  state state;
  bool as_time;
  const char *name, *caption, *description;
} length_plot;

#define CHART(what) "Line chart: " what ", a line per kernel, and the fill limit"

static const length_plot plots[] = {
    {FIGURE_TIME, HOT, true, "time", "Time per element against length, hot: in memory that was just written.",
     CHART("nanoseconds per element against length")},
    {FIGURE_BANDWIDTH, HOT, false, "bandwidth", "Bytes written per second against length, hot.",
     CHART("gigabytes written per second against length, hot")},
    {FIGURE_COLD, COLD, false, "cold", "Cold: table and constants are in no cache before.",
     CHART("gigabytes written per second against length with cold caches")},
    {FIGURE_FRESH, FRESH, false, "fresh", "Fresh: into memory that was just allocated, so that its page faults count.",
     CHART("gigabytes written per second against length in fresh memory")},
};
enum { PLOTS = sizeof plots / sizeof *plots };

/* The timed lengths of the sweep. */
typedef struct sweep {
  const record_table *tables[64];
  size_t count;
  double least, most; /* rows, with some air */
  double dim;
} sweep;

static sweep find_sweep(const record_report *report, state in) {
  const record_table *const tables[] = {report->shapes, report->cold, report->fresh};
  const size_t counts[] = {report->shapes_count, report->cold_count, report->fresh_count};
  sweep found = {.least = INFINITY, .most = 0};
  for (const record_table *table = tables[in]; table < tables[in] + counts[in]; table++) {
    if (!table->sweep || !table->limit_bytes_per_second.json) continue;
    if (found.count == sizeof found.tables / sizeof *found.tables) continue;
    found.tables[found.count++] = table;
    found.least = fmin(found.least, table->shape.rows / 1.3);
    found.most = fmax(found.most, table->shape.rows * 1.3);
    found.dim = table->shape.dim;
  }
  return found;
}

/* A cache of the timed machine that a table of the sweep's width can be as large as. */
typedef struct cache {
  const char *name;
  double bytes, rows; /* rows: NaN if it is unknown or beyond the axis */
} cache;

enum { CACHES = 3 };

static void find_caches(const record_report *report, const sweep *s, cache found[CACHES]) {
  static const char *const known[CACHES][2] = {{"l1d", "L1d"}, {"l2", "L2"}, {"l3", "L3"}};
  for (size_t i = 0; i < CACHES; i++) {
    const double bytes = strtod(field_string(report->environment.timing, known[i][0]), NULL);
    const double rows = bytes / (s->dim * (double)posenc_dtype_bytes(POSENC_F32));
    found[i] = (cache){known[i][1], bytes, rows >= s->least && rows <= s->most ? rows : NAN};
  }
}

/* The fill limit as bandwidth, or as the time that an element of f32 takes at it. */
static void draw_fill(plot *picture, const sweep *s, bool as_time) {
  plot_series(picture, "using 1:2 with lines linetype -1 linewidth 2", "fill limit");
  for (size_t i = 0; i < s->count; i++) {
    const double fill = s->tables[i]->limit_bytes_per_second.median / 1e9;
    plot_point(picture, s->tables[i]->shape.rows, as_time ? (double)posenc_dtype_bytes(POSENC_F32) / fill : fill, 0, 0);
  }
}

/* Median, least and most at every length; no line if it was not timed. */
static void draw_kernel(plot *picture, const sweep *s, bool as_time, size_t index, const char *kernel) {
  const double unit = as_time ? 1 : 1e9;
  bool begun = false;
  for (size_t i = 0; i < s->count; i++) {
    const record_row *row = report_row(s->tables[i], kernel);
    if (!row) continue;
    const record_spread *spread = as_time ? &row->timing.ns_per_element : &row->timing.bytes_per_second;
    if (!(spread->median > 0)) continue;
    if (!begun) plot_kernel(picture, "using 1:2:3:4 with yerrorlines", index, kernel);
    begun = true;
    plot_point(picture, s->tables[i]->shape.rows, spread->median / unit, spread->min / unit, spread->max / unit);
  }
}

static void write_caches(FILE *script, const record_report *report, const sweep *s) {
  cache caches[CACHES];
  find_caches(report, s, caches);
  for (size_t i = 0; i < CACHES; i++)
    if (isfinite(caches[i].rows))
      fprintf(script,
              "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead back linecolor rgb '#808080' "
              "dashtype 3\n"
              "set label '%s' at first %.17g, graph 1 center offset 0,0.5\n",
              caches[i].rows, caches[i].rows, caches[i].name, caches[i].rows);
}

static void write_length_axis(FILE *script, const sweep *s) {
  fprintf(script, "set logscale x 2\nset xrange [%.17g:%.17g]\nset xlabel 'length (rows)'\nset xtics (", s->least,
          s->most);
  for (size_t i = 0; i < s->count; i++) fprintf(script, "%s%.0f", i ? ", " : "", s->tables[i]->shape.rows);
  fputs(")\n", script);
}

/* The end of the bandwidth axis: the limit, unless a kernel passes it. */
static double highest_bandwidth(const sweep *s) {
  double highest = 0;
  for (size_t i = 0; i < s->count; i++) {
    highest = fmax(highest, s->tables[i]->limit_bytes_per_second.median);
    RECORD_EACH(row, s->tables[i], rows) highest = fmax(highest, row->timing.bytes_per_second.median);
  }
  return highest / 1e9;
}

static char *draw_sweep(const record_report *report, const sweep *s, const length_plot *shown) {
  plot *picture = plot_begin(shown->name, PLOT_HEIGHT);
  if (!picture) return NULL;
  write_length_axis(picture->script, s);
  write_caches(picture->script, report, s);
  fprintf(picture->script, "set ylabel '%s'\nset logscale y 10\nset format y '%%g'\n",
          shown->as_time ? "ns per element" : "GB/s written");
  const double highest = highest_bandwidth(s);
  if (!shown->as_time && highest > 0) fprintf(picture->script, "set yrange [*:%.17g]\n", highest);
  draw_fill(picture, s, shown->as_time);
  for (size_t i = 0; i < report->kernels_count; i++)
    draw_kernel(picture, s, shown->as_time, i, report->kernels[i].name);
  return plot_finish(picture, shown->description);
}

bool draw_lengths(const record_report *report, figures *made) {
  for (size_t i = 0; i < PLOTS; i++) {
    const sweep s = find_sweep(report, plots[i].state);
    if (s.count > 0 && !(made->svg[plots[i].place] = draw_sweep(report, &s, &plots[i]))) return false;
  }
  return true;
}

/* ---- the section ---- */

static void say_caches(page *p, const record_report *report, const sweep *s) {
  cache caches[CACHES];
  find_caches(report, s, caches);
  const char *separator = " Dotted lines mark tables as large as a cache: ";
  for (size_t i = 0; i < CACHES; i++) {
    if (!isfinite(caches[i].rows)) continue;
    page_say(p, "%s%s %s is %s rows", separator, caches[i].name, words_bytes(caches[i].bytes).text,
             words_count(caches[i].rows).text);
    separator = ", ";
  }
  if (*separator == ',') page_say(p, ".");
}

/* All tables of the sweep, state by state. */
static void write_data(page *p, const record_report *report) {
  static const char *const names[STATES] = {"hot", "cold", "fresh"};
  page_data(p, NULL);
  for (state in = HOT; in < STATES; in++) {
    const sweep s = find_sweep(report, in);
    for (size_t i = 0; i < s.count; i++) {
      char caption[512];
      snprintf(caption, sizeof caption, "%s: %s", names[in], table_describe(s.tables[i]).text);
      write_rows(p, TABLE_TIMES, caption, s.tables[i], true);
    }
  }
  page_data_end(p);
}

void write_lengths(page *p, const record_report *report) {
  size_t first = 0;
  while (first < PLOTS && !p->svg[plots[first].place]) first++;
  if (first == PLOTS) return;
  const sweep s = find_sweep(report, plots[first].state);
  page_section(p, "Time against length");
  page_open(p, PAGE_PARAGRAPH);
  page_say(
      p,
      "Tables of f32 with %s columns. Points are medians, bars reach from least to most. Axes of GB/s are "
      "logarithmic and end at the limit, how fast the machine fills such memory at all, unless a kernel passes it.",
      words_count(s.dim).text);
  say_caches(p, report, &s);
  page_close(p, PAGE_PARAGRAPH);
  page_open(p, PAGE_FIGURES);
  for (size_t i = 0; i < PLOTS; i++) page_figure(p, plots[i].caption, p->svg[plots[i].place]);
  page_close(p, PAGE_FIGURES);
  if (p->svg[FIGURE_COLD] || p->svg[FIGURE_FRESH])
    page_paragraph(
        p, "Cold and fresh, a kernel whose pass takes long is left out at that length: it is about as fast as hot.");
  write_data(p, report);
}
