/* SPDX-License-Identifier: MIT */
/* Writes the answer of reports/model/answer.h: a line for each use, a chart of bars, and a figure by error. */
#include "reports/model/answer.h"
#include "common/contract.h"
#include "common/memory.h"
#include "common/shapes.h"
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/page/plot.h"
#include "reports/sections/sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- bars: time per element of a few kernels ---- */

enum { BARS_MOST = 10 };

/* The classes of bars: by error, which applies to tables; results of add and rope; and kernels that may not be an
   answer, which are drawn only if they were selected. */
enum { CLASS_APPLIED = ANSWER_BUDGETS, CLASS_OUT, CLASSES };
static const struct {
  const char *colour, *title;
} classes[CLASSES] = {[ANSWER_HALF] = {"#0072b2", "correctly rounded"},
                      [ANSWER_ONE] = {"#009e73", "error at most "},
                      [ANSWER_ANY] = {"#d55e00", "larger errors, or no proved bound"},
                      [CLASS_APPLIED] = {"#0072b2", "result of the kernel's table"},
                      [CLASS_OUT] = {"#808080", "failed a check, or copies its rows"}};

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

/* Returns the error of the budget "one" in the dtype of the table. */
static const char *one_ulp_of(const record_table *table) {
  static const char *const ulps[] = {
      [POSENC_F32] = "2⁻²⁴", [POSENC_F64] = "2⁻⁴⁴", [POSENC_F16] = "2⁻¹¹", [POSENC_BF16] = "2⁻⁸"};
  return ulps[report_dtype(&table->shape)];
}

static size_t class_of(const bar *one, const record_table *table) {
  if (!answer_counts(one->kernel)) return CLASS_OUT;
  return table->applied ? CLASS_APPLIED : answer_class(one->kernel, table);
}

/* Returns the bars, sorted by time: all that the figures mark, such as selected kernels, and others, in all at most
   BARS_MOST: one of each group with the same bits, and no recipes. The slowest others are left out. */
static size_t choose_bars(const record_report *report, const record_table *table, bar *bars) {
  size_t count = 0, kept = 0, others = 0, marked = 0;
  RECORD_EACH(kernel, report, kernels) {
    const record_row *row = report_row(table, kernel->name);
    const bool is_marked = answer_mark(report, kernel->name) < ANSWER_UNMARKED;
    const bool may_be = kernel->selected || (answer_counts(kernel) && (is_marked || !kernel->recipe));
    if (row && row->timing.ns_per_element.median > 0 && may_be) bars[count++] = (bar){kernel, row, is_marked};
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

/* The bars of a table, and where they end. */
typedef struct chart {
  const record_report *report;
  const record_table *table;
  const bar *bars;
  size_t count;
  double limit;     /* the time of an element at the limit; NaN if it was not measured */
  double cut, most; /* longer bars are cut; the longest one that is drawn */
} chart;

static double time_of(const bar *one) {
  return one->row->timing.ns_per_element.median;
}

static double shown_time(const chart *c, size_t number) {
  return fmin(time_of(&c->bars[number]), c->cut);
}

static bool is_cut(const chart *c, size_t number) {
  return shown_time(c, number) < time_of(&c->bars[number]);
}

/* Bars far slower than the fastest competitor are cut, but none of a selected kernel, nor one that is faster. */
static chart chart_of(const record_report *report, const record_table *table, const bar *bars, size_t count) {
  chart c = {report, table, bars, count, NAN, INFINITY, 0};
  const record_use *library = answer_find_use(report, USE_LIBRARY),
                   *fastest = library ? library : answer_find_use(report, USE_NOW);
  const record_row *row = fastest ? report_row(table, fastest->kernel) : NULL;
  const double rate = table->limit_bytes_per_second.median / 1e9;
  if (row) c.cut = 3 * row->timing.ns_per_element.median;
  for (size_t i = 0; i < count; i++)
    if (bars[i].kernel->selected) c.cut = fmax(c.cut, 1.3 * time_of(&bars[i])); /* what is cut must look longer */
  if (!table->applied) c.limit = c.most = (double)posenc_dtype_bytes(report_dtype(&table->shape)) / rate;
  for (size_t i = 0; i < count; i++) c.most = fmax(c.most, shown_time(&c, i));
  return c;
}

/* Whether a bar of the picture is cut. */
static bool any_cut(const record_report *report, const record_table *table) {
  if (!table) return false;
  bar *bars = memory_take(report->kernels_count, sizeof *bars);
  bool any = false;
  const chart c = chart_of(report, table, bars, choose_bars(report, table, bars));
  for (size_t i = 0; i < c.count; i++) any = any || is_cut(&c, i);
  free(bars);
  return any;
}

/* Returns "0.164 ns, error 2.9e-08". */
static words describe_bar(const chart *c, size_t number) {
  const double time = time_of(&c->bars[number]);
  words result;
  snprintf(result.text, sizeof result.text, "%s%.60s ns, error %.60s", is_cut(c, number) ? "… " : "",
           words_significant(time, 3).text, words_significant(c->bars[number].row->max_abs.abs, 2).text);
  return result;
}

/* Writes names beside the bars, and figures at their ends. */
static void label_bars(FILE *script, const chart *c) {
  fputs("set ytics (", script);
  for (size_t i = 0; i < c->count; i++) {
    fputs(i ? ", " : "", script);
    plot_quoted(script, c->bars[i].kernel->name);
    fprintf(script, " %zu", i);
  }
  fputs(") noenhanced\n", script);
  for (size_t i = 0; i < c->count; i++)
    fprintf(script, "set label '%s' at %.17g,%zu left offset 0.5,0 font ',13' front\n", describe_bar(c, i).text,
            shown_time(c, i), i);
  if (isfinite(c->limit))
    fprintf(script, "set label 'filling memory, one thread: %s ns' at %.17g,-0.65 left offset 0.5,0 font ',13'\n",
            words_significant(c->limit, 3).text, c->limit);
}

/* Writes names and figures above the bars, as there is no room beside them. */
static void label_narrow(FILE *script, const chart *c) {
  fputs("unset ytics\nset lmargin 1\nset rmargin 1\n", script);
  for (size_t i = 0; i < c->count; i++) {
    fputs("set label ", script);
    plot_quoted(script, c->bars[i].kernel->name);
    fprintf(script,
            " at 0,%zu-0.64 left offset 0.3,0 font ',14' noenhanced front\n"
            "set label '%s' at 0,%zu-0.36 left offset 0.3,0 font ',13' front\n",
            i, describe_bar(c, i).text, i);
  }
  if (isfinite(c->limit))
    fprintf(script, "set label 'dashed: filling memory, one thread, %s ns' at 0,-1.15 left offset 0.3,0 font ',12'\n",
            words_significant(c->limit, 3).text);
}

/* Returns the end of the axis, as a multiple of the longest bar, with room for a label at that bar's end. Names are in
   the margin, and take room from the bars. */
static double axis_end(const chart *c) {
  enum { NAME_PIXELS = 9, REST_PIXELS = 50, LABEL_PIXELS = 200 }; /* a letter of a name; edges; the longest label */
  size_t longest = 0;
  for (size_t i = 0; i < c->count; i++) {
    const size_t length = strlen(c->bars[i].kernel->name);
    if (length > longest) longest = length;
  }
  const double width = PLOT_WIDTH - REST_PIXELS - NAME_PIXELS * (double)longest;
  return width > 1.5 * LABEL_PIXELS ? fmax(1.6, width / (width - LABEL_PIXELS)) : 3;
}

static void draw_classes(plot *picture, const chart *c, const char *heights) {
  for (size_t class = 0; class < CLASSES; class ++) {
    char drawn[160];
    bool any = false;
    snprintf(drawn, sizeof drawn, "using ($1/2):2:($1/2):(%s) with boxxyerror linecolor rgb '%s'", heights,
             classes[class].colour);
    for (size_t i = 0; i < c->count; i++) {
      if (class_of(&c->bars[i], c->table) != class) continue;
      char title[80];
      snprintf(title, sizeof title, "%s%s", classes[class].title, class == ANSWER_ONE ? one_ulp_of(c->table) : "");
      if (!any) plot_series(picture, drawn, title);
      any = true;
      plot_point(picture, shown_time(c, i), (double)i, 0, 0);
    }
  }
}

static char *draw_bars(const chart *c, bool narrow) {
  enum { BAR_PIXELS = 34, NARROW_PIXELS = 56, REST_PIXELS = 150, NARROW_REST = 180, NOTE_PIXELS = 24 };
  const words busy = words_busy(c->report);
  const int count = (int)c->count, bars = narrow ? NARROW_PIXELS * count : BAR_PIXELS * count,
            height = bars + (narrow ? NARROW_REST : REST_PIXELS) + (*busy.text ? NOTE_PIXELS : 0);
  plot *picture = plot_begin(narrow ? "bars-narrow" : "bars", narrow ? PLOT_NARROW : PLOT_WIDTH, height);
  if (!picture) return NULL;
  plot_axis(picture, "ns per element", busy.text);
  fprintf(picture->script,
          "set style fill solid noborder\nset xrange [0:%.17g]\nset yrange [%d-0.4:%s]\nunset grid\n"
          "set key maxcols %d samplen 1%s\n",
          (narrow ? 1.0 : axis_end(c)) * c->most, count, narrow ? "-1.4" : "-0.9", narrow ? 1 : 3,
          narrow ? " font ',12'\nset xtics font ',12'\nset xlabel font ',12'" : "");
  if (narrow)
    label_narrow(picture->script, c);
  else
    label_bars(picture->script, c);
  if (isfinite(c->limit))
    fprintf(picture->script,
            "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead linecolor rgb '#808080' dashtype 2\n",
            c->limit, c->limit);
  draw_classes(picture, c, narrow ? "0.18" : "0.36");
  return plot_finish(picture, narrow ? "The same bars for narrow screens"
                                     : "Bars: nanoseconds per element of the fastest kernels, coloured by error");
}

/* ---- error against time ---- */

static pareto_point point_of(const record_kernel *kernel, const record_row *row) {
  const record_spread *ns = &row->timing.ns_per_element;
  const pareto_group of_code = answer_has_foreign_sines(kernel) ? PARETO_COMPETITOR : PARETO_OWN;
  return (pareto_point){
      .name = kernel->name,
      .group = kernel->recipe ? PARETO_RECIPE : of_code,
      .time = ns->median,
      .low = ns->min,
      .high = ns->max,
      .error = row->max_abs.abs,
      .elements = (double)row->elements,
      .counts = answer_counts(kernel),
      .selected = kernel->selected,
  };
}

static bool draw_pareto(const record_report *report, const record_table *table, figures *made) {
  pareto_point *points = memory_take(report->kernels_count, sizeof *points);
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
    const char *label = "ns per element";
    const words busy = words_busy(report);
    made->svg[FIGURE_PARETO] = pareto_draw(points, count, false, "pareto", title, label, busy.text);
    if (made->svg[FIGURE_PARETO])
      made->svg[FIGURE_PARETO_NARROW] = pareto_draw(points, count, true, "pareto-narrow", title, label, busy.text);
  }
  free(points);
  return count == 0 || made->svg[FIGURE_PARETO_NARROW];
}

bool draw_answer(const record_report *report, figures *made) {
  const record_table *table = report_table(report, report->headline.shape);
  bar *bars = memory_take(report->kernels_count, sizeof *bars);
  const size_t count = choose_bars(report, table, bars);
  if (count > 0) {
    const chart c = chart_of(report, table, bars, count);
    made->svg[FIGURE_BARS] = draw_bars(&c, false);
    if (made->svg[FIGURE_BARS]) made->svg[FIGURE_NARROW] = draw_bars(&c, true);
  }
  free(bars);
  return (count == 0 || made->svg[FIGURE_NARROW]) && draw_pareto(report, table, made);
}

/* ---- on the page ---- */

static const char literal_title[] = "The formula, literally";

/* Returns what a kernel on the first lines is. */
static const char *title_of(const record_report *report, answer_use use, const record_kernel *kernel) {
  static const char *const titles[USES] = {"Default, one thread", "All threads",
                                           "With another library's vector sines, the fastest",
                                           "The usual formula in C, with the C library's sines"};
  static const char *const fastest[] = {"The fastest of a proved error of at most 2⁻²⁴, one thread",
                                        "The fastest of a proved error of at most 2⁻²⁴, all threads"};
  if (use < USE_LIBRARY && !answer_is_choice(report, use == USE_DEFAULT, kernel->name)) return fastest[use];
  if (use < USE_LIBRARY || (use == USE_NOW && kernel->recipe)) return titles[use];
  if (use == USE_NOW && strcmp(kernel->name, answer_literal) == 0) return literal_title;
  if (report->subjects_count) return "With another library's vector sines"; /* of those that were selected */
  return titles[USE_LIBRARY];
}

/* Writes the lines of C that compute the table with that kernel, with one thread or all; else, of a kernel that neither
   libposenc nor a plugin has, how it computes the table. */
static void write_c(page *p, const record_report *report, const record_kernel *kernel, bool serial) {
  const bool chosen = answer_is_choice(report, serial, kernel->name), of_plugin = *kernel->plugin;
  char text[500], taken[200] = "";
  if (!of_plugin && !posenc_kernel_find(kernel->name)) {
    if (*kernel->algorithm) page_paragraph(p, "%s", kernel->algorithm);
    return;
  }
  if (of_plugin)
    snprintf(taken, sizeof taken,
             "extern const posenc_kernel *const posenc_plugin_kernels[]; "
             "options.kernel = posenc_plugin_kernels[%" PRId64 "]; ",
             kernel->plugin_index);
  else if (!chosen)
    snprintf(taken, sizeof taken, "options.kernel = posenc_kernel_find(\"%s\"); ", kernel->name);
  snprintf(text, sizeof text, "%s%s%sposenc_plan_create(&plan, &problem, %s);",
           serial && !*taken ? "" : "posenc_options options = posenc_default_options(); ",
           serial ? "" : "options.threads = 0; ", taken, serial && !*taken ? "NULL" : "&options");
  page_code_block(p, text);
}

/* Writes "287 µs (280–301)". */
static void say_time(page *p, const record_table *table, const record_spread *ns) {
  const record_table_shape *of = &table->shape;
  const double elements = of->rows * of->dim * (of->heads > 1 ? (double)of->heads : 1) * 1e-9;
  page_say(p, STRONG("%s") "%s " SMALL("(%s–%s)"), words_duration(ns->median * elements).text, words_mark(ns),
           words_duration(ns->min * elements).text, words_duration(ns->max * elements).text);
}

/* Writes ", 2.31 times (2.20–2.44) as fast as naive", or of a slower kernel ", 68.0 times (63.1–73.2) as long as". */
static void say_ratio(page *p, const record_ratio *ratio) {
  record_ratio told = *ratio;
  const bool slower = ratio->estimate < 1;
  if (!ratio->there) return;
  if (slower) told = (record_ratio){.estimate = 1 / ratio->estimate, .low = 1 / ratio->high, .high = 1 / ratio->low};
  page_say(p, ", " STRONG("%s times") " " SMALL("%s") " as %s as " CODE("%s"), words_significant(told.estimate, 3).text,
           words_interval(&told).text, slower ? "long" : "fast", ratio->kernel);
}

/* Returns what is proved of a table of f32, or that a table is correctly rounded; else "". */
static const char *promise_of(const record_kernel *kernel, const record_table *table) {
  const answer_budget class = answer_class(kernel, table);
  return table->applied || (class == ANSWER_ONE && !report_is_f32_table(table)) ? "" : answer_promises[class];
}

words bound_on(const record_kernel *kernel, const record_table *table) {
  const posenc_bound bound = report_bound_in(kernel, report_dtype(&table->shape));
  words made;
  format_bound(&bound, made.text, sizeof made.text);
  return made;
}

/* Marks a time of a busy machine, which write_uses explains above all times. */
static const char busy_mark[] = "§";
static void say_busy(page *p, const record_report *report) {
  if (*words_busy(report).text) page_say(p, "%s", busy_mark);
}

/* Writes "Default, one thread: 287 µs (280–301), 2.31 times (2.20–2.44) as fast as naive, largest error 2.98e-08,
   correctly rounded: cr-avx512". */
static void write_line(page *p, const record_report *report, const record_table *table, const record_kernel *kernel,
                       const char *title, const record_ratio *speed_up) {
  const record_row *row = report_row(table, kernel->name);
  if (!row || !row->timing.there) return;
  page_open(p, PAGE_ANSWER);
  page_say(p, STRONG("%s:") " ", title);
  say_time(p, table, &row->timing.ns_per_element);
  say_busy(p, report);
  if (speed_up) say_ratio(p, speed_up);
  page_say(p, ", largest error " STRONG("%s") "%s%s: " CODE("%s"), words_significant(row->max_abs.abs, 3).text,
           promise_of(kernel, table), words_sample(row), kernel->name);
  page_close(p, PAGE_ANSWER);
}

static void write_use(page *p, const record_report *report, const record_table *table, answer_use n) {
  const record_use *use = answer_find_use(report, n);
  const record_kernel *kernel = use ? report_kernel(report, use->kernel) : NULL;
  if (!kernel) return;
  if (report->subjects_count && n < USE_LIBRARY && !answer_is_choice(report, n == USE_DEFAULT, kernel->name))
    return; /* of the kernels of this page alone, which were not selected to be compared with all */
  const char *title = title_of(report, n, kernel);
  if (n == USE_THREADS && answer_is_use(report, USE_DEFAULT, use->kernel)) { /* there is no other measurement */
    if (answer_is_choice(report, false, use->kernel))
      page_paragraph(p, STRONG("All threads:") " the library takes " CODE("%s") " with any number of them.",
                     use->kernel);
    return;
  }
  if (kernel->selected)
    page_paragraph(p, STRONG("%s:") " " CODE("%s") ", as above.", title, kernel->name);
  else
    write_line(p, report, table, kernel, title, &use->speed_up);
  if (!kernel->selected && n < USE_LIBRARY) write_c(p, report, kernel, n == USE_DEFAULT);
  if (n >= USE_LIBRARY && *kernel->algorithm) page_paragraph(p, "%s", kernel->algorithm);
}

/* Writes the literal formula, which is beside kernels that were selected. */
static void write_literal(page *p, const record_report *report, const record_table *table) {
  const record_kernel *kernel = report_kernel(report, answer_literal);
  bool shown = !kernel || kernel->selected;
  for (answer_use use = USE_DEFAULT; use < USES; use++) shown = shown || answer_is_use(report, use, answer_literal);
  if (!shown) write_line(p, report, table, kernel, literal_title, NULL);
}

static void write_limit(page *p, const record_report *report, const record_table *table) {
  const record_spread *limit = &table->limit_bytes_per_second;
  if (!limit->there || !(limit->median > 0)) return;
  const double passes = table->applied ? 2 : 1; /* x is read and written */
  page_open(p, PAGE_ANSWER);
  page_say(p, STRONG("The limit, %s, one thread:") " " STRONG("%s") "%s " SMALL("(%s–%s)"),
           table->applied ? "scaling x in place" : "filling the same memory",
           words_duration(passes * table->bytes / limit->median).text, words_mark(limit),
           words_duration(passes * table->bytes / limit->max).text,
           words_duration(passes * table->bytes / limit->min).text);
  say_busy(p, report);
  page_say(p, ", %s GB/s", words_significant(limit->median / 1e9, 3).text);
  page_close(p, PAGE_ANSWER);
}

/* ---- selected kernels ---- */

static size_t count_failures(const record_report *report, const char *kernel) {
  size_t count = 0;
  RECORD_EACH(failure, &report->checks, failures) count += strcmp(failure->kernel, kernel) == 0;
  return count;
}

/* Writes ": domain, accuracy", the properties that a kernel broke; nothing if it broke none. */
static void say_broken(page *p, const record_report *report, const char *kernel) {
  const char *separator = ": ", *last = "";
  RECORD_EACH(failure, &report->checks, failures) {
    if (strcmp(failure->kernel, kernel) != 0 || strcmp(failure->property, last) == 0) continue;
    page_say(p, "%s%s", separator, failure->property);
    separator = ", ";
    last = failure->property;
  }
}

/* Writes "2 checks failed: domain, accuracy; 26 held", or that all held. */
static void say_verdict(page *p, const record_report *report, const record_kernel *kernel) {
  const char *lost = report_loss(report, kernel->name);
  const posenc_bound bound = report_bound(kernel);
  int64_t made = 0, passed = 0;
  RECORD_EACH(table, report, shapes) {
    const record_row *row = report_row(table, kernel->name);
    if (row)
      RECORD_EACH(check, row, checks) {
        made += !check->skipped;
        passed += !check->skipped && check->ok;
      }
  }
  const int64_t failed = (int64_t)count_failures(report, kernel->name);
  page_say(p, " Verdict: ");
  if (failed > 0)
    page_say(p, STRONG("%" PRId64 " %s failed"), failed, failed == 1 ? "check" : "checks");
  else if (made > 0)
    page_say(p, STRONG("all checks held") " (%" PRId64 ")", made);
  else
    page_say(p, STRONG("nothing was checked"));
  say_broken(p, report, kernel->name);
  if (failed > 0) page_say(p, "; %" PRId64 " held", passed);
  if (made > 0 && bound_is_none(&bound)) page_say(p, "; errors were " CONTRACT_WITHOUT_BOUND);
  page_say(p, ".");
  if (*lost) page_say(p, " " STRONG("Left out of the times") ": %s.", lost);
}

/* Whether both ratios are over the same kernel. */
static bool has_kernel(const record_ratio *a, const record_ratio *b) {
  return a->there && b->there && strcmp(a->kernel, b->kernel) == 0;
}

/* Writes time, error, plugin, contract and verdict of a kernel that was selected. */
static void write_subject(page *p, const record_report *report, const record_table *table,
                          const record_subject *subject) {
  const record_kernel *kernel = report_kernel(report, subject->kernel);
  const record_row *row = report_row(table, subject->kernel);
  if (!kernel) return;
  page_open(p, PAGE_ANSWER);
  page_say(p, STRONG("%s:") " ", kernel->name);
  if (row && row->timing.there) {
    say_time(p, table, &row->timing.ns_per_element);
    say_busy(p, report);
    say_ratio(p, &subject->over_default);
    if (!subject->over_default.there || strcmp(subject->over_default.kernel, answer_literal) != 0)
      say_ratio(p, &subject->over_naive);
    if (!has_kernel(&subject->over_default, &subject->over_first)) say_ratio(p, &subject->over_first);
    if (isfinite(row->timing.of_limit.median))
      page_say(p, ", %s\u00a0%% of the limit", words_significant(100 * row->timing.of_limit.median, 3).text);
  } else {
    page_say(p, "no time");
  }
  if (row && *row->mode)
    page_say(p, ", largest error " STRONG("%s") "%s", words_significant(row->max_abs.abs, 3).text, words_sample(row));
  if (row && *row->refusal) page_say(p, ": %s", row->refusal);
  page_say(p, ".");
  page_say(p, " Bound%s: %s.", table->applied ? " of its table" : "", bound_on(kernel, table).text);
  say_verdict(p, report, kernel);
  if (*kernel->plugin) page_say(p, " Plugin: " CODE("%s"), kernel->plugin);
  page_close(p, PAGE_ANSWER);
  write_c(p, report, kernel, !kernel->threaded);
}

/* Writes as many of the subjects as can be read at once. */
static void write_subjects(page *p, const record_report *report, const record_table *table) {
  enum { SUBJECTS_MOST = 6 };
  size_t shown = 0;
  RECORD_EACH(subject, report, subjects)
    if (shown++ < SUBJECTS_MOST) write_subject(p, report, table, subject);
  if (shown > SUBJECTS_MOST)
    page_paragraph(p, "Of %zu kernels that were selected, the others are in the pictures and tables below.", shown);
}

static void write_uses(page *p, const record_report *report, const record_table *table) {
  const words busy = words_busy(report);
  if (report_is_timed(report))
    page_paragraph(p, "Time %s %s " SMALL("(median, least–most%s%.10s%s%s%s%s)") ":",
                   table->applied ? "for the x of" : "to compute the table of", words_size(table).text,
                   p->date ? ", of " : "", p->date ? p->date : "", *busy.text ? "; " : "", *busy.text ? busy_mark : "",
                   *busy.text ? ": while " : "", busy.text);
  else
    page_paragraph(p, "Nothing was timed. Of the table of %s:", words_size(table).text);
  write_subjects(p, report, table);
  for (answer_use use = USE_DEFAULT; use < USES; use++) write_use(p, report, table, use);
  if (report->subjects_count) write_literal(p, report, table);
  write_limit(p, report, table);
}

/* Lists the kernels that satisfied their bound, for reports in which no such kernel was timed. */
static void say_trusted(page *p, const record_report *report) {
  const char *separator = "A proved error bound held in every check of: ";
  const char *timed = report_is_timed(report) ? "No table of f32 was timed. " : "Nothing was timed. ";
  if (report->answer_count) timed = "No timed kernel has a proved error bound within 2⁻²⁴ that held in every check. ";
  page_say(p, "%s", timed);
  RECORD_EACH(kernel, report, kernels) {
    if (!kernel->bound.derived || !kernel->holds) continue;
    page_say(p, "%s" CODE("%s"), separator, kernel->name);
    separator = ", ";
  }
  page_say(p, *separator == ',' ? "." : "No kernel has a proved error bound that held in every check.");
}

/* ---- what is excluded ---- */

enum { EXCLUDED_MOST = 6 };

/* Names the kernels that failed checks, with the properties: none of them is an answer. */
static void write_failed(page *p, const record_report *report) {
  const char *separator = ", of ";
  size_t kernels = 0;
  if (report->checks.failed <= 0) return;
  page_open(p, PAGE_ANSWER);
  page_say(p, STRONG("Failed checks: %" PRId64), report->checks.failed);
  RECORD_EACH(kernel, report, kernels) {
    if (!count_failures(report, kernel->name) || kernels++ >= EXCLUDED_MOST) continue;
    page_say(p, "%s" CODE("%s"), separator, kernel->name);
    say_broken(p, report, kernel->name);
    separator = "; ";
  }
  if (kernels > EXCLUDED_MOST) page_say(p, "; and %zu more kernels", kernels - EXCLUDED_MOST);
  page_say(p, ". They are listed under Checks.");
  page_close(p, PAGE_ANSWER);
}

/* Names the kernels that broke a check, crashed, hung or the like while they were timed, but for selected ones, which
   have a line. */
static void write_lost(page *p, const record_report *report) {
  const record_facts *facts = &report->environment.timing;
  bool any = false;
  RECORD_EACH(how, facts, list) {
    const char *name = kernel_of_failure(how->key);
    const record_kernel *kernel = name ? report_kernel(report, name) : NULL;
    if (!name || (kernel && kernel->selected)) continue;
    if (!any) page_open(p, PAGE_ANSWER);
    page_say(p, any ? "; " : STRONG("Left out of the times, all or some:") " ");
    page_say(p, CODE("%s") ": %s", name, how->is_text ? how->value : "?");
    any = true;
  }
  if (!any) return;
  page_say(p, ".");
  page_close(p, PAGE_ANSWER);
}

/* ---- all ---- */

static void write_picture(page *p, const record_report *report) {
  page_figure_fit(p,
                  caption_of_times(report,
                                   "Largest error against time, a point per kernel; further down and left is better. "
                                   "No kernel is both as fast and as accurate as those on the dashed front; errors are "
                                   "compared of equal numbers of elements alone. Kernels that failed a check, or copy "
                                   "a table that they keep, are not on it.")
                      .text,
                  p->svg[FIGURE_PARETO], p->svg[FIGURE_PARETO_NARROW]);
}

void write_answer(page *p, const record_report *report) {
  write_failed(p, report);
  write_lost(p, report);
  const record_table *table = report_table(report, report->headline.shape);
  if (table && (report->subjects_count || answer_find_use(report, USE_DEFAULT))) {
    write_uses(p, report, table);
  } else {
    page_open(p, PAGE_ANSWER);
    say_trusted(p, report);
    page_close(p, PAGE_ANSWER);
  }
  write_picture(p, report);
  char text[200];
  snprintf(text, sizeof text, "Time per element of that %s, by kernel; shorter is better.%s",
           table && table->applied ? "x" : "table",
           any_cut(report, table) ? " Bars that begin their label with … are longer than the picture." : "");
  page_figure_fit(p, caption_of_times(report, text).text, p->svg[FIGURE_BARS], p->svg[FIGURE_NARROW]);
}
