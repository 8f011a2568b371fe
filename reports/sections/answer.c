/* SPDX-License-Identifier: MIT */
/* Writes the answer of reports/model/answer.h: a line for each use, a chart of bars, and a table and a figure by
   error. */
#include "reports/model/answer.h"
#include "common/contract.h"
#include "common/field.h"
#include "reports/model/document.h"
#include "reports/page/pareto.h"
#include "reports/page/plot.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- bars: time per element of a few kernels ---- */

enum { BARS_MOST = 10 };

static const struct {
  const char *colour, *title;
} classes[ANSWER_BUDGETS] = {[ANSWER_HALF] = {"#0072b2", "correctly rounded"},
                             [ANSWER_ONE] = {"#009e73", "error at most 2⁻²⁴"},
                             [ANSWER_ANY] = {"#d55e00", "larger errors, or no proved bound"}};

typedef struct bar {
  const record_kernel *kernel;
  const record_row *row;
  bool marked;
} bar;

static int compare_bars(const void *a, const void *b) {
  const double x = ((const bar *)a)->row->timing.ns_per_element.median,
               y = ((const bar *)b)->row->timing.ns_per_element.median;
  return (x > y) - (x < y);
}

/* Whether a kernel with the same bits and as many threads is faster. */
static bool is_slower_twin(const bar *bars, size_t number) {
  const bar *one = &bars[number];
  for (size_t i = 0; i < number; i++)
    if (row_has_same_bits(bars[i].row, one->row) && bars[i].kernel->threaded == one->kernel->threaded) return true;
  return false;
}

/* Returns the bars, sorted by time, at most BARS_MOST: one of each group with the same bits, and only recipes that the
   figures mark. The slowest others are left out. */
static size_t choose_bars(const record_report *report, const record_table *table, bar *bars) {
  size_t count = 0, kept = 0, others = 0, marked = 0;
  RECORD_EACH(kernel, report, kernels) {
    const record_row *row = report_row(table, kernel->name);
    const bool is_marked = answer_mark(report, kernel->name) < ANSWER_MARKED;
    if (row && row->timing.ns_per_element.median > 0 && answer_counts(kernel) && (is_marked || !kernel->recipe))
      bars[count++] = (bar){kernel, row, is_marked};
    marked += is_marked;
  }
  qsort(bars, count, sizeof *bars, compare_bars);
  for (size_t i = 0; i < count; i++) {
    if (!bars[i].marked && (is_slower_twin(bars, i) || others + marked >= BARS_MOST)) continue;
    others += !bars[i].marked;
    bars[kept++] = bars[i];
  }
  return kept;
}

/* Returns the end of a bar on the axis. Bars far slower than the fastest competitor are cut. */
static double shown_time(const record_report *report, const record_table *table, const bar *one) {
  const record_use *library = answer_find_use(report, USE_LIBRARY),
                   *fastest = library ? library : answer_find_use(report, USE_NOW);
  const record_row *row = fastest ? report_row(table, fastest->kernel) : NULL;
  const double time = one->row->timing.ns_per_element.median;
  return row ? fmin(time, 3 * row->timing.ns_per_element.median) : time;
}

static void label_bars(FILE *script, const record_report *report, const record_table *table, const bar *bars,
                       size_t count) {
  fputs("set ytics (", script);
  for (size_t i = 0; i < count; i++) {
    fputs(i ? ", " : "", script);
    plot_quoted(script, bars[i].kernel->name);
    fprintf(script, " %zu", i);
  }
  fputs(") noenhanced\n", script);
  for (size_t i = 0; i < count; i++) {
    const double time = bars[i].row->timing.ns_per_element.median, shown = shown_time(report, table, &bars[i]);
    fprintf(script, "set label '%s%s ns, error %s' at %.17g,%zu left offset 0.5,0 font ',13' front\n",
            shown < time ? "… " : "", words_significant(time, 3).text,
            words_significant(bars[i].row->max_abs.abs, 2).text, shown, i);
  }
}

static char *draw_bars(const record_report *report, const record_table *table, const bar *bars, size_t count) {
  enum { BAR_PIXELS = 34, REST_PIXELS = 120 };
  const double limit = (double)posenc_dtype_bytes(POSENC_F32) / (table->limit_bytes_per_second.median / 1e9);
  double most = limit;
  plot *picture = plot_begin("bars", REST_PIXELS + BAR_PIXELS * (int)count);
  if (!picture) return NULL;
  for (size_t i = 0; i < count; i++) most = fmax(most, shown_time(report, table, &bars[i]));
  fprintf(picture->script,
          "set style fill solid noborder\nset xrange [0:%.17g]\nset yrange [%zu-0.4:-0.9]\nunset grid\n"
          "set xlabel 'ns per element'\nset key maxcols 3 samplen 1\n",
          1.6 * most, count); /* room for the longest label */
  label_bars(picture->script, report, table, bars, count);
  if (isfinite(limit))
    fprintf(picture->script,
            "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead linecolor rgb '#808080' dashtype 2\n"
            "set label 'filling memory, one thread: %s ns' at %.17g,-0.65 left offset 0.5,0 font ',13'\n",
            limit, limit, words_significant(limit, 3).text, limit);
  for (answer_budget budget = ANSWER_HALF; budget < ANSWER_BUDGETS; budget++) {
    char drawn[160];
    bool any = false;
    snprintf(drawn, sizeof drawn, "using ($1/2):2:($1/2):(0.36) with boxxyerror linecolor rgb '%s'",
             classes[budget].colour);
    for (size_t i = 0; i < count; i++) {
      if (answer_class(bars[i].kernel, table) != budget) continue;
      if (!any) plot_series(picture, drawn, classes[budget].title);
      any = true;
      plot_point(picture, shown_time(report, table, &bars[i]), (double)i, 0, 0);
    }
  }
  return plot_finish(picture, "Bars: nanoseconds per element of the fastest kernels, coloured by error");
}

/* ---- error against time ---- */

static pareto_point point_of(const record_kernel *kernel, const record_row *row) {
  const record_spread *ns = &row->timing.ns_per_element;
  return (pareto_point){
      .name = kernel->name,
      .time = ns->median,
      .low = ns->min,
      .high = ns->max,
      .error = row->max_abs.abs,
      .counts = answer_counts(kernel),
  };
}

static bool draw_pareto(const record_report *report, const record_table *table, figures *made) {
  pareto_point *points = calloc(report->kernels_count + 1, sizeof *points);
  if (!points) return fputs("posenc report: out of memory\n", stderr), false;
  size_t count = 0;
  RECORD_EACH(kernel, report, kernels) {
    const record_row *row = report_row(table, kernel->name);
    if (!row) continue;
    const pareto_point point = point_of(kernel, row);
    if (point.low > 0 && isfinite(point.error)) points[count++] = point; /* what a logarithmic axis can show */
  }
  pareto_sort(points, count);
  if (count > 0) {
    char title[128];
    snprintf(title, sizeof title, "%.80s: %.0f × %.0f", table->shape.name, table->shape.rows, table->shape.dim);
    made->svg[FIGURE_PARETO] = pareto_draw(points, count, "pareto", title, "ns per element");
  }
  free(points);
  return count == 0 || made->svg[FIGURE_PARETO];
}

bool draw_answer(const record_report *report, figures *made) {
  const record_table *table = report_table(report, report->headline.shape);
  bar *bars = calloc(report->kernels_count + 1, sizeof *bars);
  if (!bars) return fputs("posenc report: out of memory\n", stderr), false;
  const size_t count = choose_bars(report, table, bars);
  if (count > 0) made->svg[FIGURE_BARS] = draw_bars(report, table, bars, count);
  free(bars);
  return (count == 0 || made->svg[FIGURE_BARS]) && draw_pareto(report, table, made);
}

/* ---- on the page ---- */

static const char *const use_titles[USES] = {"Default, one thread", "All threads",
                                             "With another library's vector sines, the fastest",
                                             "The usual formula in C, with the C library's sines"};

/* Writes the lines of C that compute the table in this use, or how the code in use today computes it. */
static void write_c(page *p, const record_report *report, const record_use *use, bool serial) {
  const char *told = report_choice(report, report->headline.shape, serial);
  const bool chosen = strcmp(told, use->kernel) == 0; /* other kernels are requested by name */
  char text[400];
  snprintf(text, sizeof text, "%s%s%s%s%sposenc_plan_create(&plan, &problem, %s);",
           chosen && serial ? "" : "posenc_options options = posenc_default_options(); ",
           serial ? "" : "options.threads = 0; ", chosen ? "" : "options.kernel = posenc_kernel_find(\"",
           chosen ? "" : use->kernel, chosen ? "" : "\"); ", chosen && serial ? "NULL" : "&options");
  page_code_block(p, text);
}

/* Writes "287 µs (280–301), 2.31 times (2.20–2.44) as fast as now, largest error 2.98e-08, correctly rounded:
   cr-avx512". */
static void write_use(page *p, const record_report *report, const record_table *table, answer_use n) {
  const record_use *use = answer_find_use(report, n);
  const record_kernel *kernel = use ? report_kernel(report, use->kernel) : NULL;
  const record_row *row = use ? report_row(table, use->kernel) : NULL;
  if (!kernel || !row) return;
  const record_spread *ns = &row->timing.ns_per_element;
  const double elements = table->shape.rows * table->shape.dim * 1e-9;
  page_open(p, PAGE_ANSWER);
  page_say(p, STRONG("%s:") " " STRONG("%s") "%s " SMALL("(%s–%s)"), use_titles[n],
           words_duration(ns->median * elements).text, words_mark(ns), words_duration(ns->min * elements).text,
           words_duration(ns->max * elements).text);
  if (use->speed_up.json)
    page_say(p, ", " STRONG("%s times") " " SMALL("%s") " as fast", words_significant(use->speed_up.estimate, 3).text,
             words_interval(&use->speed_up).text);
  page_say(p, ", largest error " STRONG("%s") "%s%s: " CODE("%s"), words_significant(row->max_abs.abs, 3).text,
           answer_promises[answer_class(kernel, table)], words_sample(row), use->kernel);
  page_close(p, PAGE_ANSWER);
  if (n < USE_LIBRARY)
    write_c(p, report, use, n == USE_DEFAULT);
  else if (*kernel->algorithm)
    page_code_block(p, kernel->algorithm);
}

static void write_uses(page *p, const record_report *report, const record_table *table) {
  page_paragraph(p, "Time to compute the table of %s " SMALL("(median, least–most)") ":", words_size(table).text);
  for (answer_use use = USE_DEFAULT; use < USES; use++) write_use(p, report, table, use);
}

/* Lists the kernels that satisfied their bound, for reports in which no such kernel was timed. */
static void say_trusted(page *p, const record_report *report) {
  const char *separator = "A proved error bound held in every check of: ";
  page_say(p, "%s",
           report->answer_count ? "No timed kernel has a proved error bound within 2⁻²⁴ that held in every check. "
           : report_is_timed(report) ? "No table of f32 was timed. "
                                     : "Nothing was timed. ");
  RECORD_EACH(kernel, report, kernels) {
    if (!kernel->bound.derived || !kernel->holds) continue;
    page_say(p, "%s" CODE("%s"), separator, kernel->name);
    separator = ", ";
  }
  page_say(p, *separator == ',' ? "." : "No kernel has a proved error bound that held in every check.");
}

/* Writes "`naive` 2.31× (2.20–2.44) not told apart". */
static void write_ratio(page *p, const record_ratio *ratio, bool named) {
  page_cell_begin(p);
  if (ratio->json) {
    if (named) page_say(p, CODE("%s") " ", ratio->kernel);
    page_say(p, "%s× " SMALL("%s%s"), words_significant(ratio->estimate, 3).text, words_interval(ratio).text,
             ratio->low <= 1 && ratio->high >= 1 ? " not told apart" : "");
  }
  page_cell_end(p);
}

static void write_row(page *p, const record_report *report, const record_answer *answer, const char *title) {
  const record_kernel *kernel = report_kernel(report, answer->kernel);
  const record_row *row = report_row(report_table(report, answer->shape), answer->kernel);
  if (!kernel || !row) return;
  const posenc_bound bound = report_bound(kernel);
  char promise[128];
  format_bound(&bound, promise, sizeof promise);
  page_cell(p, "%s", title);
  page_cell(p, "%s " SMALL("%s"), answer->footprint, answer->shape);
  page_cell(p, kernel->threaded ? CODE("%s") SMALL(" several threads") : CODE("%s"), answer->kernel);
  page_cell(p, "%s", words_spread(&row->timing.bytes_per_second, 1e-9, "").text);
  page_cell(p, "%s", words_spread(&row->timing.of_limit, 100, "").text);
  write_ratio(p, &answer->next, true);
  write_ratio(p, &answer->naive, false);
  page_cell(p, "%s", promise);
}

static void write_table(page *p, const record_report *report) {
  static const page_column columns[] = {{"maximum error", false}, {"table", false},         {"take", false},
                                        {"GB/s", true},           {"% of limit", true},     {"the next takes", false},
                                        {"naive takes", true},    {"bound it keeps", false}};
  page_table(
      p,
      "0.5 ulp is correctly rounded, 1 ulp is 2⁻²⁴, one just below 1. Ratios have intervals of 90 %, other figures "
      "their least and most; ‡ marks wide ones.",
      columns, sizeof columns / sizeof *columns);
  for (answer_budget n = 0; n < ANSWER_BUDGETS; n++)
    RECORD_EACH(answer, report, answer)
      if (strcmp(answer->budget, answer_budgets[n]) == 0) write_row(p, report, answer, answer_titles[n]);
  page_table_end(p);
}

void write_answer(page *p, const record_report *report) {
  if (report->checks.failed > 0) {
    page_open(p, PAGE_ANSWER);
    page_say(p, STRONG("Failed checks: %" PRId64) ", listed under Checks.", report->checks.failed);
    page_close(p, PAGE_ANSWER);
  }
  if (answer_find_use(report, USE_DEFAULT)) {
    write_uses(p, report, report_table(report, report->headline.shape));
  } else {
    page_open(p, PAGE_ANSWER);
    say_trusted(p, report);
    page_close(p, PAGE_ANSWER);
  }
  page_figure(p,
              "Time per element of that table, by kernel; shorter is better. Bars that begin their label with … are "
              "longer than the picture.",
              p->svg[FIGURE_BARS]);
}

void write_fastest(page *p, const record_report *report) {
  if (report->answer_count == 0) return;
  page_section(p, "Fastest kernels by maximum error");
  write_table(p, report);
  page_figure(p,
              "Largest error against time on the reference table; further down and left is better. No kernel is both "
              "as fast and as accurate as those on the dashed front, which have names. Kernels that failed a check, or "
              "copy a table that they keep, are not on it.",
              p->svg[FIGURE_PARETO]);
}
