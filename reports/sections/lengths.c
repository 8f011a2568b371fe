/* SPDX-License-Identifier: MIT */
/* Writes time and bandwidth against length: hot, cold and fresh. */
#include "common/memory.h"
#include "posenc.h"
#include "reports/model/answer.h"
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/page/plot.h"
#include "reports/sections/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The states of memory in which lengths are timed, with a figure each. */
typedef enum state { HOT, COLD, FRESH, STATES } state;

static const struct {
  figure place;
  const char *name, *caption, *description;
} plots[STATES] = {
    {FIGURE_TIME, "time", "Hot: in memory that was just written.",
     "Line chart: nanoseconds per element against length, the fastest kernels in colour, and the limit"},
    {FIGURE_COLD, "cold", "Cold: table and constants are in no cache before.",
     "Line chart: nanoseconds per element against length with cold caches"},
    {FIGURE_FRESH, "fresh", "Fresh: into memory that was just allocated, so that its page faults count.",
     "Line chart: nanoseconds per element against length in fresh memory"},
};

/* The timed lengths of the sweep. */
typedef struct sweep {
  const record_table *tables[64];
  size_t count;
  double least, most; /* rows, with a margin */
  double dim;
} sweep;

static sweep find_sweep(const record_report *report, state in) {
  const record_table *const tables[] = {report->shapes, report->cold, report->fresh};
  const size_t counts[] = {report->shapes_count, report->cold_count, report->fresh_count};
  sweep found = {.least = INFINITY, .most = 0};
  for (const record_table *table = tables[in]; table < tables[in] + counts[in]; table++) {
    if (!table->sweep || !table->limit_bytes_per_second.there) continue;
    if (found.count == sizeof found.tables / sizeof *found.tables) continue;
    found.tables[found.count++] = table;
    found.least = fmin(found.least, table->shape.rows / 1.3);
    found.most = fmax(found.most, table->shape.rows * 1.3);
    found.dim = table->shape.dim;
  }
  return found;
}

/* A cache of the timed machine, in rows of the sweep's width. */
typedef struct cache_level {
  const char *name;
  double bytes, rows; /* `rows` is NaN if it is unknown or beyond the axis */
} cache_level;

enum { CACHES = 3 };

static void find_caches(const record_report *report, const sweep *s, cache_level found[CACHES]) {
  static const char *const known[CACHES][2] = {{"l1d", "L1d"}, {"l2", "L2"}, {"l3", "L3"}};
  for (size_t i = 0; i < CACHES; i++) {
    const double bytes = strtod(record_fact_text(&report->environment.timing, known[i][0]), NULL);
    const double rows = bytes / (s->dim * (double)posenc_dtype_bytes(POSENC_F32));
    found[i] = (cache_level){known[i][1], bytes, rows >= s->least && rows <= s->most ? rows : NAN};
  }
}

static const char limit_title[] = "limit: filling memory, one thread";

/* Draws the time of an element of f32 at the limit. */
static void draw_fill(plot *picture, const sweep *s) {
  plot_series(picture, "using 1:2 with lines linetype -1 linewidth 2", limit_title);
  for (size_t i = 0; i < s->count; i++) {
    const double fill = s->tables[i]->limit_bytes_per_second.median / 1e9;
    plot_point(picture, s->tables[i]->shape.rows, (double)posenc_dtype_bytes(POSENC_F32) / fill, 0, 0);
  }
}

/* Draws median, smallest and largest time at every length; nothing if the kernel was not timed. */
static void draw_kernel(plot *picture, const sweep *s, size_t look, const char *kernel) {
  bool begun = false;
  for (size_t i = 0; i < s->count; i++) {
    const record_row *row = report_row(s->tables[i], kernel);
    if (!row || !(row->timing.ns_per_element.median > 0)) continue;
    const record_spread *ns = &row->timing.ns_per_element;
    if (!begun)
      plot_kernel(picture, look == PLOT_OTHER ? "using 1:2 with lines" : "using 1:2:3:4 with yerrorlines", look,
                  kernel);
    begun = true;
    plot_point(picture, s->tables[i]->shape.rows, ns->median, ns->min, ns->max);
  }
}

static void write_caches(FILE *script, const record_report *report, const sweep *s) {
  cache_level caches[CACHES];
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
  fprintf(script, "set logscale x 2\nset xrange [%.17g:%.17g]\nset xtics (", s->least, s->most);
  for (size_t i = 0; i < s->count; i++) fprintf(script, "%s%.0f", i ? ", " : "", s->tables[i]->shape.rows);
  fputs(")\n", script);
}

/* Draws the sweep. The kernels in colour are last, so that they are above the others. */
static char *draw_sweep(const record_report *report, const sweep *s, state in) {
  size_t names = 2, longest = strlen(limit_title); /* that, and "others" */
  RECORD_EACH(kernel, report, kernels) {
    if (answer_mark(report, kernel->name) == ANSWER_UNMARKED) continue;
    const size_t length = strlen(kernel->name);
    longest = length > longest ? length : longest;
    names++;
  }
  plot *picture = plot_begin(plots[in].name, PLOT_WIDTH, plot_height(names, longest));
  if (!picture) return NULL;
  write_length_axis(picture->script, s);
  plot_axis(picture, "length (rows)", words_busy(report).text);
  write_caches(picture->script, report, s);
  fputs("set ylabel 'ns per element'\nset logscale y 10\nset format y '%g'\n", picture->script);
  for (int marked = 0; marked <= 1; marked++)
    RECORD_EACH(kernel, report, kernels) {
      const size_t mark = answer_mark(report, kernel->name);
      if ((mark < ANSWER_UNMARKED) == marked) draw_kernel(picture, s, marked ? mark : PLOT_OTHER, kernel->name);
    }
  draw_fill(picture, s);
  return plot_finish(picture, plots[in].description);
}

bool draw_lengths(const record_report *report, figures *made) {
  for (state in = HOT; in < STATES; in++) {
    const sweep s = find_sweep(report, in);
    if (s.count > 0 && !(made->svg[plots[in].place] = draw_sweep(report, &s, in))) return false;
  }
  return true;
}

/* ---- the section ---- */

static void say_caches(page *p, const record_report *report, const sweep *s) {
  cache_level caches[CACHES];
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

void write_lengths(page *p, const record_report *report) {
  state first = HOT;
  while (first < STATES && !p->svg[plots[first].place]) first++;
  if (first == STATES) return;
  const sweep s = find_sweep(report, first);
  page_section(p, "Time against length");
  page_open(p, PAGE_PARAGRAPH);
  page_say(p,
           "Tables of f32 with %s columns. Points are medians, bars reach from least to most. Black: how fast one "
           "thread fills such memory at all, which kernels of several threads may pass.",
           words_count(s.dim).text);
  say_caches(p, report, &s);
  if (p->svg[FIGURE_COLD] || p->svg[FIGURE_FRESH])
    page_say(p, " Cold and fresh, a kernel whose pass takes long is left out: it is about as fast as hot.");
  page_close(p, PAGE_PARAGRAPH);
  for (state in = HOT; in < STATES; in++)
    page_figure(p, caption_of_times(report, plots[in].caption).text, p->svg[plots[in].place]);
}
