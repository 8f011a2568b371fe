/* SPDX-License-Identifier: MIT */
#include "reports/sections/answer.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/shapes.h"
#include "reports/model/document.h"
#include "reports/page/pareto.h"
#include "reports/page/words.h"
#include "reports/sections/tables.h"

#include <stdint.h>
#include <stdlib.h>

static const struct { const char *budget, *title; } within[] = {{"half", "0.5 ulp"}, {"one", "1 ulp"}, {"any", "any"}};

static bool is_within(const json_t *answer, size_t number) {
  return strcmp(field_string(answer, "budget"), within[number].budget) == 0;
}

/* ---- all kernels ---- */

bool answer_draw(const json_t *document, figures *made) {
  const json_t *kernels = json_object_get(document, "kernels");
  const json_t *table = document_shape(document, field_string(json_object_get(document, "headline"), "shape"));
  const size_t most = json_array_size(kernels);
  pareto_point *points = calloc(most + 1, sizeof *points);
  if (!points) return fputs("posenc: report: out of memory\n", stderr), false;
  size_t count = 0;
  for (size_t i = 0; i < most; i++) {
    const json_t *kernel = json_array_get(kernels, i), *row = document_row(table, field_string(kernel, "name"));
    const json_t *ns = json_object_get(json_object_get(row, "timing"), "ns_per_element");
    const pareto_point point = {
        .name = field_string(kernel, "name"),
        .index = i,
        .time = field_number(ns, "median"),
        .low = field_number(ns, "min"),
        .high = field_number(ns, "max"),
        .error = field_number(json_object_get(row, "max_abs"), "abs"),
        .counts =
            json_is_true(json_object_get(kernel, "holds")) && !json_is_true(json_object_get(kernel, "keeps_rows")),
    };
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

/* "(2.20–2.44)": least and most. */
static void say_range(page *p, const json_t *spread, double scale) {
  page_print(p, PAGE_SMALL, "(%s–%s)", words_significant(field_number(spread, "min") * scale, 3).text,
             words_significant(field_number(spread, "max") * scale, 3).text);
}

/* "2.31× (2.20–2.44)" */
static void say_ratio(page *p, const json_t *ratio) {
  page_print(p, PAGE_TEXT, "%s× ", words_significant(field_number(ratio, "estimate"), 3).text);
  page_print(p, PAGE_SMALL, "%s%s", words_interval(ratio).text,
             field_number(ratio, "low") <= 1 ? " not told apart" : "");
}

/* "shapes: 8 exhaustive, 2 sampled" */
static void say_shapes(page *p, const json_t *document) {
  const json_t *shapes = json_object_get(json_object_get(document, "checks"), "shapes");
  page_print(p, PAGE_TEXT, "shapes: %s exhaustive, %s sampled", words_count(field_number(shapes, "exhaustive")).text,
             words_count(field_number(shapes, "sampled")).text);
}

/* "5 000 × 512, 9.8 MiB" */
static void say_size(page *p, page_run look, const json_t *document, const json_t *answer) {
  const json_t *table = document_shape(document, field_string(answer, "shape"));
  const json_t *described = json_object_get(table, "shape");
  page_print(p, look, "%s × %s, %s", words_count(field_number(described, "rows")).text,
             words_count(field_number(described, "dim")).text, words_bytes(field_number(table, "bytes")).text);
}

/* One sentence, of the first answer with a bound of an ulp; else of the first. */
static void say_answer(page *p, const json_t *document, const json_t *answers) {
  const json_t *answer = field_find(answers, "budget", "one");
  if (!answer) answer = json_array_get(answers, 0);
  const bool is_proved = strcmp(field_string(answer, "budget"), "any") != 0;
  page_say(
      p,
      is_proved
          ? "Take "
          : "No kernel that was timed has a proved error bound within 2^-24 that held in every check. The fastest is ");
  page_code(p, field_string(answer, "kernel"));
  page_say(p, is_proved
                  ? ": the fastest of the kernels whose proved error bound is within 2^-24, one ulp just below 1, and "
                    "held in every check ("
                  : ": of the kernels that held their checks (");
  say_shapes(p, document);
  page_say(p, "). It writes ");
  page_code(p, field_string(answer, "shape"));
  page_say(p, " (");
  say_size(p, PAGE_TEXT, document, answer);
  page_say(p, ") at ");
  const json_t *rate = spread_of(document, answer, "bytes_per_second"),
               *share = spread_of(document, answer, "of_limit");
  page_print(p, PAGE_STRONG, "%s GB/s", words_significant(field_number(rate, "median") / 1e9, 3).text);
  page_print(p, PAGE_TEXT, "%s ", words_mark(rate));
  say_range(p, rate, 1e-9);
  page_print(p, PAGE_TEXT, ", %s\u00a0%%%s ", words_significant(field_number(share, "median") * 100, 3).text,
             words_mark(share));
  say_range(p, share, 100);
  page_say(p, " of what this machine can fill memory with");
  const json_t *naive = json_object_get(answer, "naive");
  if (json_is_object(naive)) {
    page_say(p, ", and ");
    page_code(p, "naive");
    page_print(p, PAGE_TEXT, " takes %s times ", words_significant(field_number(naive, "estimate"), 3).text);
    page_print(p, PAGE_SMALL, "%s", words_interval(naive).text);
    page_say(p, " as long");
  }
  page_say(p, ".");
}

/* Without times the answer is who can be trusted. */
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
    page_say(p, separator);
    page_code(p, field_string(kernel, "name"));
    separator = ", ";
  }
  page_say(p, *separator == ',' ? "." : "No kernel has a proved error bound that held in every check.");
}

static void write_spread(page *p, const json_t *spread, double scale) {
  page_cell(p);
  page_print(p, PAGE_TEXT, "%s%s ", words_significant(field_number(spread, "median") * scale, 3).text,
             words_mark(spread));
  say_range(p, spread, scale);
  page_cell_end(p);
}

static void write_ratio(page *p, const json_t *ratio, bool named) {
  page_cell(p);
  if (json_is_object(ratio)) {
    if (named) {
      page_code(p, field_string(ratio, "kernel"));
      page_say(p, " ");
    }
    say_ratio(p, ratio);
  }
  page_cell_end(p);
}

static void write_row(page *p, const json_t *document, const json_t *answer, const char *title) {
  const json_t *kernel = field_find(json_object_get(document, "kernels"), "name", field_string(answer, "kernel"));
  const posenc_bound bound = document_bound(kernel);
  char promise[128];
  bound_words(&bound, promise, sizeof promise);
  page_cell(p);
  page_say(p, title);
  page_cell_end(p);
  page_cell(p);
  page_say(p, field_string(answer, "footprint"));
  page_say(p, " ");
  p->format->run(p, PAGE_SMALL, field_string(answer, "shape"));
  page_cell_end(p);
  page_cell(p);
  page_code(p, field_string(answer, "kernel"));
  if (json_is_true(json_object_get(kernel, "threaded"))) page_print(p, PAGE_SMALL, " several threads");
  page_cell_end(p);
  write_spread(p, spread_of(document, answer, "bytes_per_second"), 1e-9);
  write_spread(p, spread_of(document, answer, "of_limit"), 100);
  write_ratio(p, json_object_get(answer, "next"), true);
  write_ratio(p, json_object_get(answer, "naive"), false);
  page_cell_run(p, PAGE_TEXT, promise);
}

static void write_table(page *p, const json_t *document, const json_t *answers) {
  static const page_column columns[] = {{"error up to", false}, {"table", false},         {"take", false},
                                        {"GB/s", true},         {"% of limit", true},     {"the next takes", false},
                                        {"naive takes", true},  {"bound it keeps", false}};
  page_table(
      p,
      "The fastest kernels by how wrong they may be: 0.5 ulp is correctly rounded, 1 ulp is one just below 1, 2^-24. "
      "What takes how "
      "many times as long has intervals of 90 %, the rest least and most; ‡ marks what is unsure, see Environment.",
      columns, sizeof columns / sizeof *columns);
  for (size_t n = 0; n < sizeof within / sizeof *within; n++)
    for (size_t i = 0; i < json_array_size(answers); i++)
      if (is_within(json_array_get(answers, i), n)) write_row(p, document, json_array_get(answers, i), within[n].title);
  page_table_end(p);
}

void answer_write(page *p, const json_t *document, const figures *drawn) {
  const json_t *answers = json_object_get(document, "answer");
  const json_int_t failed = json_integer_value(json_object_get(json_object_get(document, "checks"), "failed"));
  p->format->open(p, PAGE_ANSWER);
  if (json_array_size(answers) > 0)
    say_answer(p, document, answers);
  else
    say_trusted(p, document);
  p->format->close(p, PAGE_ANSWER);
  if (failed > 0) {
    p->format->open(p, PAGE_ANSWER);
    page_print(p, PAGE_STRONG, "Failed checks: %" JSON_INTEGER_FORMAT, failed);
    page_say(p, ", listed under Checks.");
    p->format->close(p, PAGE_ANSWER);
  }
  if (json_array_size(answers) > 0) write_table(p, document, answers);
  if (!drawn->svg[FIGURE_PARETO]) return;
  p->format->open(p, PAGE_FIGURES);
  p->format->figure(p,
                    "Largest error against time on the reference table. The further down and left, the better; none is "
                    "both as fast and as accurate as those on "
                    "the dashed front. Kernels that broke a promise, or copy a table that they keep, are not on it.",
                    drawn->svg[FIGURE_PARETO]);
  p->format->close(p, PAGE_FIGURES);
}
