/* SPDX-License-Identifier: MIT */
/* The answer of reports/model/answer.h: a sentence, a table, and the figure of all kernels. */
#include "common/contract.h"
#include "common/field.h"
#include "reports/model/document.h"
#include "reports/page/pareto.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

#include <stdlib.h>

/* ---- all kernels ---- */

static pareto_point point_of(const json_t *kernel, const json_t *row, size_t index) {
  const json_t *ns = json_object_get(json_object_get(row, "timing"), "ns_per_element");
  return (pareto_point){
      .name = field_string(kernel, "name"),
      .index = index,
      .time = field_number(ns, "median"),
      .low = field_number(ns, "min"),
      .high = field_number(ns, "max"),
      .error = field_number(json_object_get(row, "max_abs"), "abs"),
      .counts = json_is_true(json_object_get(kernel, "holds")) && !json_is_true(json_object_get(kernel, "keeps_rows")),
  };
}

bool draw_answer(const json_t *document, figures *made) {
  const json_t *kernels = json_object_get(document, "kernels");
  const json_t *table = document_shape(document, field_string(json_object_get(document, "headline"), "shape"));
  const size_t most = json_array_size(kernels);
  pareto_point *points = calloc(most + 1, sizeof *points);
  if (!points) return fputs("posenc: report: out of memory\n", stderr), false;
  size_t count = 0;
  for (size_t i = 0; i < most; i++) {
    const json_t *kernel = json_array_get(kernels, i), *row = document_row(table, field_string(kernel, "name"));
    const pareto_point point = point_of(kernel, row, i);
    if (point.low > 0 && isfinite(point.error)) points[count++] = point; /* what a logarithm can show */
  }
  pareto_sort(points, count);
  if (count > 0) {
    const json_t *described = json_object_get(table, "shape");
    char title[128];
    snprintf(title, sizeof title, "%.80s: %.0f × %.0f", field_string(described, "name"),
             field_number(described, "rows"), field_number(described, "dim"));
    made->svg[FIGURE_PARETO] = pareto_draw(points, count, "pareto", title, "ns per element");
  }
  free(points);
  return count == 0 || made->svg[FIGURE_PARETO];
}

/* ---- on the page ---- */

static const json_t *spread_of(const json_t *document, const json_t *answer, const char *counter) {
  const json_t *table = document_shape(document, field_string(answer, "shape"));
  return json_object_get(json_object_get(document_row(table, field_string(answer, "kernel")), "timing"), counter);
}

/* "shapes: 8 exhaustive, 2 sampled" */
static void say_shapes(page *p, const json_t *document) {
  const json_t *shapes = json_object_get(json_object_get(document, "checks"), "shapes");
  page_say(p, "shapes: %s exhaustive, %s sampled", words_count(field_number(shapes, "exhaustive")).text,
           words_count(field_number(shapes, "sampled")).text);
}

/* One sentence: the first answer with a bound of an ulp; else the first. */
static void say_answer(page *p, const json_t *document, const json_t *answers) {
  const json_t *answer = field_find(answers, "budget", "one");
  if (!answer) answer = json_array_get(answers, 0);
  const char *kernel = field_string(answer, "kernel"), *shape = field_string(answer, "shape");
  if (strcmp(field_string(answer, "budget"), "any") != 0)
    page_say(p,
             "Take " CODE("%s") ": the fastest of the kernels whose proved error bound is within 2^-24, one ulp just "
                                "below 1, and held in every check (",
             kernel);
  else
    page_say(p,
             "No timed kernel has a proved error bound within 2^-24 that held in every check. The fastest kernel that "
             "held its checks is " CODE("%s") " (",
             kernel);
  say_shapes(p, document);
  const json_t *rate = spread_of(document, answer, "bytes_per_second"),
               *share = spread_of(document, answer, "of_limit"), *naive = json_object_get(answer, "naive");
  page_say(p, "). It writes " CODE("%s") " (%s) at ", shape, words_size(document_shape(document, shape)).text);
  page_say(p, STRONG("%s GB/s") "%s " SMALL("%s"), words_significant(field_number(rate, "median") / 1e9, 3).text,
           words_mark(rate), words_range(rate, 1e-9).text);
  page_say(p, ", %s of what this machine can fill memory with", words_spread(share, 100, "\u00a0%").text);
  if (json_is_object(naive))
    page_say(p, ", and " CODE("naive") " takes %s times " SMALL("%s") " as long",
             words_significant(field_number(naive, "estimate"), 3).text, words_interval(naive).text);
  page_say(p, ".");
}

/* Without times: the kernels whose bound held. */
static void say_trusted(page *p, const json_t *document) {
  const json_t *kernels = json_object_get(document, "kernels");
  const char *separator = "A proved error bound held in every check of: ";
  page_say(p, document_is_timed(document) ? "No table of f32 was timed, but verified ("
                                          : "Nothing was timed, but verified (");
  say_shapes(p, document);
  page_say(p, "). ");
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const json_t *kernel = json_array_get(kernels, i);
    if (!document_bound(kernel).derived || !json_is_true(json_object_get(kernel, "holds"))) continue;
    page_say(p, "%s" CODE("%s"), separator, field_string(kernel, "name"));
    separator = ", ";
  }
  page_say(p, *separator == ',' ? "." : "No kernel has a proved error bound that held in every check.");
}

/* "`naive` 2.31× (2.20–2.44) not told apart" */
static void write_ratio(page *p, const json_t *ratio, bool named) {
  page_cell_begin(p);
  if (json_is_object(ratio)) {
    if (named) page_say(p, CODE("%s") " ", field_string(ratio, "kernel"));
    page_say(p, "%s× " SMALL("%s%s"), words_significant(field_number(ratio, "estimate"), 3).text,
             words_interval(ratio).text, field_number(ratio, "low") <= 1 ? " not told apart" : "");
  }
  page_cell_end(p);
}

static void write_row(page *p, const json_t *document, const json_t *answer, const char *title) {
  const char *name = field_string(answer, "kernel");
  const json_t *kernel = field_find(json_object_get(document, "kernels"), "name", name);
  const posenc_bound bound = document_bound(kernel);
  char promise[128];
  format_bound(&bound, promise, sizeof promise);
  page_cell(p, "%s", title);
  page_cell(p, "%s " SMALL("%s"), field_string(answer, "footprint"), field_string(answer, "shape"));
  page_cell(p, json_is_true(json_object_get(kernel, "threaded")) ? CODE("%s") SMALL(" several threads") : CODE("%s"),
            name);
  page_cell(p, "%s", words_spread(spread_of(document, answer, "bytes_per_second"), 1e-9, "").text);
  page_cell(p, "%s", words_spread(spread_of(document, answer, "of_limit"), 100, "").text);
  write_ratio(p, json_object_get(answer, "next"), true);
  write_ratio(p, json_object_get(answer, "naive"), false);
  page_cell(p, "%s", promise);
}

static void write_table(page *p, const json_t *document, const json_t *answers) {
  static const struct {
    const char *budget, *title;
  } within[] = {{"half", "0.5 ulp"}, {"one", "1 ulp"}, {"any", "any"}};
  static const page_column columns[] = {{"maximum error", false}, {"table", false},         {"take", false},
                                        {"GB/s", true},           {"% of limit", true},     {"the next takes", false},
                                        {"naive takes", true},    {"bound it keeps", false}};
  page_table(p,
             "The fastest kernels by maximum error: 0.5 ulp is correctly rounded, 1 ulp is 2^-24, one just below 1. "
             "Ratios have intervals of 90 %, other figures their least and most; ‡ marks wide ones, see Environment.",
             columns, sizeof columns / sizeof *columns);
  for (size_t n = 0; n < sizeof within / sizeof *within; n++)
    for (size_t i = 0; i < json_array_size(answers); i++) {
      const json_t *answer = json_array_get(answers, i);
      if (strcmp(field_string(answer, "budget"), within[n].budget) == 0)
        write_row(p, document, answer, within[n].title);
    }
  page_table_end(p);
}

void write_answer(page *p, const json_t *document) {
  const json_t *answers = json_object_get(document, "answer");
  const int failed = (int)json_integer_value(json_object_get(json_object_get(document, "checks"), "failed"));
  page_open(p, PAGE_ANSWER);
  if (json_array_size(answers) > 0)
    say_answer(p, document, answers);
  else
    say_trusted(p, document);
  page_close(p, PAGE_ANSWER);
  if (failed > 0) {
    page_open(p, PAGE_ANSWER);
    page_say(p, STRONG("Failed checks: %d") ", listed under Checks.", failed);
    page_close(p, PAGE_ANSWER);
  }
  if (json_array_size(answers) > 0) write_table(p, document, answers);
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
