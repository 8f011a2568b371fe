/* SPDX-License-Identifier: MIT */
/* The answer of reports/model/answer.h: a sentence, a table, and the figure of all kernels. */
#include "reports/model/answer.h"
#include "common/contract.h"
#include "reports/model/document.h"
#include "reports/page/pareto.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- all kernels ---- */

static pareto_point point_of(const record_kernel *kernel, const record_row *row, size_t index) {
  const record_spread *ns = &row->timing.ns_per_element;
  return (pareto_point){
      .name = kernel->name,
      .index = index,
      .time = ns->median,
      .low = ns->min,
      .high = ns->max,
      .error = row->max_abs.abs,
      .counts = answer_counts(kernel),
  };
}

bool draw_answer(const record_report *report, figures *made) {
  const record_table *table = report_table(report, report->headline.shape);
  pareto_point *points = calloc(report->kernels_count + 1, sizeof *points);
  if (!points) return fputs("posenc: report: out of memory\n", stderr), false;
  size_t count = 0;
  RECORD_EACH(kernel, report, kernels) {
    const record_row *row = report_row(table, kernel->name);
    if (!row) continue;
    const pareto_point point = point_of(kernel, row, (size_t)(kernel - report->kernels));
    if (point.low > 0 && isfinite(point.error)) points[count++] = point; /* what a logarithm can show */
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

/* ---- on the page ---- */

/* "shapes: 8 exhaustive, 2 sampled" */
static void say_shapes(page *p, const record_report *report) {
  const record_shape_counts *shapes = &report->checks.shapes;
  page_say(p, "shapes: %s exhaustive, %s sampled", words_integer(shapes->exhaustive).text,
           words_integer(shapes->sampled).text);
}

/* One sentence: the first answer with a bound of an ulp; else the first. */
static void say_answer(page *p, const record_report *report) {
  const record_answer *answer = report->answer;
  RECORD_EACH(one, report, answer) {
    if (strcmp(one->budget, "one") != 0) continue;
    answer = one;
    break;
  }
  const record_table *table = report_table(report, answer->shape);
  const record_row *row = report_row(table, answer->kernel);
  if (!row) return;
  const record_spread *rate = &row->timing.bytes_per_second;
  if (strcmp(answer->budget, "any") != 0)
    page_say(p,
             "Take " CODE("%s") ": the fastest of the kernels whose proved error bound is within 2^-24, one ulp just "
                                "below 1, and held in every check (",
             answer->kernel);
  else
    page_say(p,
             "No timed kernel has a proved error bound within 2^-24 that held in every check. The fastest kernel that "
             "held its checks is " CODE("%s") " (",
             answer->kernel);
  say_shapes(p, report);
  page_say(p, "). It writes " CODE("%s") " (%s) at ", answer->shape, words_size(table).text);
  page_say(p, STRONG("%s GB/s") "%s " SMALL("%s"), words_significant(rate->median / 1e9, 3).text, words_mark(rate),
           words_range(rate, 1e-9).text);
  page_say(p, ", %s of what this machine can fill memory with",
           words_spread(&row->timing.of_limit, 100, "\u00a0%").text);
  if (answer->naive.json)
    page_say(p, ", and " CODE("naive") " takes %s times " SMALL("%s") " as long",
             words_significant(answer->naive.estimate, 3).text, words_interval(&answer->naive).text);
  page_say(p, ".");
}

/* Without times: the kernels whose bound held. */
static void say_trusted(page *p, const record_report *report) {
  const char *separator = "A proved error bound held in every check of: ";
  page_say(p,
           report_is_timed(report) ? "No table of f32 was timed, but verified (" : "Nothing was timed, but verified (");
  say_shapes(p, report);
  page_say(p, "). ");
  RECORD_EACH(kernel, report, kernels) {
    if (!kernel->bound.derived || !kernel->holds) continue;
    page_say(p, "%s" CODE("%s"), separator, kernel->name);
    separator = ", ";
  }
  page_say(p, *separator == ',' ? "." : "No kernel has a proved error bound that held in every check.");
}

/* "`naive` 2.31× (2.20–2.44) not told apart" */
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
  page_table(p,
             "The fastest kernels by maximum error: 0.5 ulp is correctly rounded, 1 ulp is 2^-24, one just below 1. "
             "Ratios have intervals of 90 %, other figures their least and most; ‡ marks wide ones, see Environment.",
             columns, sizeof columns / sizeof *columns);
  for (answer_budget n = 0; n < ANSWER_BUDGETS; n++)
    RECORD_EACH(answer, report, answer)
      if (strcmp(answer->budget, answer_budgets[n]) == 0) write_row(p, report, answer, answer_titles[n]);
  page_table_end(p);
}

void write_answer(page *p, const record_report *report) {
  page_open(p, PAGE_ANSWER);
  if (report->answer_count > 0)
    say_answer(p, report);
  else
    say_trusted(p, report);
  page_close(p, PAGE_ANSWER);
  if (report->checks.failed > 0) {
    page_open(p, PAGE_ANSWER);
    page_say(p, STRONG("Failed checks: %" PRId64) ", listed under Checks.", report->checks.failed);
    page_close(p, PAGE_ANSWER);
  }
  if (report->answer_count > 0) write_table(p, report);
  if (!p->svg[FIGURE_PARETO]) return;
  page_open(p, PAGE_FIGURES);
  page_figure(
      p,
      "Largest error against time on the reference table. The further down and left, the better; none is both "
      "as fast and as accurate as those on the dashed front. Kernels that broke a promise, or copy a table that "
      "they keep, are not on it.",
      p->svg[FIGURE_PARETO]);
  page_close(p, PAGE_FIGURES);
}
