/* SPDX-License-Identifier: MIT */
/* Checks, kernels, where and how the figures were taken. */
#include "common/contract.h"
#include "common/field.h"
#include "reports/model/document.h"
#include "reports/model/stability.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

#include <stdlib.h>

/* ---- checks ---- */

static void write_failures(page *p, const json_t *failures) {
  static const page_column columns[] = {{"kernel", false}, {"shape", false}, {"property", false},
                                        {"worst", true},   {"bound", true},  {"note", false}};
  if (json_array_size(failures) == 0) return;
  page_table(p, "What failed.", columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(failures); i++) {
    const json_t *failure = json_array_get(failures, i);
    page_cell(p, CODE("%s"), field_string(failure, "kernel"));
    page_cell(p, "%s", field_string(failure, "shape"));
    page_cell(p, "%s", field_string(failure, "property"));
    page_cell_number(p, field_number(failure, "worst"), 4);
    page_cell_number(p, field_number(failure, "bound"), 4);
    page_rest(p, "%s", field_string(failure, "note"));
  }
  page_table_end(p);
}

/* "10 of 10"; with the modes, "(8 exhaustive, 2 sampled)" below. */
static void write_count(page *p, const json_t *count, bool modes) {
  const int passed = (int)json_integer_value(json_object_get(count, "passed"));
  const int of = (int)json_integer_value(json_object_get(count, "of"));
  const int sampled = (int)json_integer_value(json_object_get(count, "sampled"));
  page_cell_begin(p);
  if (count) page_say(p, passed == of ? "%d of %d" : STRONG("%d of %d"), passed, of);
  if (count && modes) page_say(p, SMALL(" (%d exhaustive, %d sampled)"), of - sampled, sampled);
  page_cell_end(p);
}

/* A row per kernel, a column per property. */
static void write_properties(page *p, const json_t *checks) {
  const json_t *properties = json_object_get(checks, "properties"), *kernels = json_object_get(checks, "kernels");
  const size_t count = json_array_size(properties);
  page_column *columns = page_columns(p, "kernel", count);
  if (count == 0 || !columns) {
    free(columns);
    return;
  }
  for (size_t i = 0; i < count; i++) columns[i + 1].title = json_string_value(json_array_get(properties, i));
  page_table(p, "Shapes on which each property held.", columns, count + 1);
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const json_t *kernel = json_array_get(kernels, i);
    page_cell(p, CODE("%s"), field_string(kernel, "kernel"));
    for (size_t k = 1; k <= count; k++)
      write_count(p, json_object_get(json_object_get(kernel, "properties"), columns[k].title),
                  strcmp(columns[k].title, "accuracy") == 0);
  }
  page_table_end(p);
  free(columns);
}

void write_checks(page *p, const json_t *document) {
  const json_t *checks = json_object_get(document, "checks");
  page_section(p, "Checks");
  page_paragraph(
      p,
      STRONG("%s passed, %s failed, %s skipped") ". Skipped is what a kernel refuses to do, and what its bound "
                                                 "says nothing about; neither counts below.",
      words_count(field_number(checks, "passed")).text, words_count(field_number(checks, "failed")).text,
      words_count(field_number(checks, "skipped")).text);
  page_paragraph(
      p,
      "Accuracy, memory, bounded and pair-norm look at every element of a shape whose figures are exhaustive, and "
      "at sampled rows of the others; rotation, extrapolation and extension look at rows drawn from every shape, and "
      "of add and rope so do in-place, batch, index, inverse, relative, padding and special; search looks at "
      "positions up to 2^40, of tables.");
  write_failures(p, json_object_get(checks, "failures"));
  write_properties(p, checks);
}

/* ---- kernels ---- */

static void write_kernel(page *p, const json_t *kernel) {
  const posenc_bound bound = document_bound(kernel);
  const bool reproducible = json_is_true(json_object_get(kernel, "reproducible"));
  char promise[128];
  format_bound(&bound, promise, sizeof promise);
  const struct {
    const char *label, *text;
  } facts[] = {
      {"Algorithm", field_string(kernel, "algorithm")},
      {"Provenance", field_string(kernel, "provenance")},
      {"ISA", field_string(kernel, "isa")},
      {"Bound", promise},
      {"Basis", field_string(kernel, "basis")},
      {"Reproducible", reproducible ? "the same bits on every ISA, compiler, libm and thread count" : "no"},
      {"Threads", json_is_true(json_object_get(kernel, "threaded")) ? "several" : "one"},
      {"Does not run here", field_string(kernel, "refusal")},
  };
  page_subsection(p, field_string(kernel, "name"));
  page_paragraph(p, "%s", field_string(kernel, "summary"));
  page_open(p, PAGE_LIST);
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    if (*facts[i].text) page_item(p, STRONG("%s:") " %s", facts[i].label, facts[i].text);
  page_close(p, PAGE_LIST);
}

void write_kernels(page *p, const json_t *document) {
  const json_t *kernels = json_object_get(document, "kernels");
  page_section(p, "Kernels");
  page_paragraph(
      p, "A bound holds for every element: ulp is the spacing of the table's type at the exact value, p the position.");
  for (size_t i = 0; i < json_array_size(kernels); i++) write_kernel(p, json_array_get(kernels, i));
}

/* ---- environment ---- */

/* Facts that are not known from elsewhere with the same value. */
static void write_facts(page *p, const char *caption, const json_t *facts, const json_t *known) {
  static const page_column columns[] = {{"fact", false}, {"value", false}};
  const char *key;
  json_t *value;
  page_table(p, caption, columns, sizeof columns / sizeof *columns);
  json_object_foreach((json_t *)facts, key, value) {
    if (json_equal(value, json_object_get(known, key))) continue;
    page_cell(p, "%s", key);
    page_rest(p, "%s", json_string_value(value));
  }
  page_table_end(p);
}

/* Figures of two builds or two machines do not belong in one row, unless it is said. */
static void warn_of_difference(page *p, const json_t *accuracy, const json_t *timing) {
  static const char *const keys[] = {"posenc_version", "commit", "compiler", "cflags", "cpu"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(field_string(accuracy, keys[i]), field_string(timing, keys[i])) != 0)
      page_paragraph(
          p, STRONG("Accuracy and times were not taken from the same build on the same machine: %s differs."), keys[i]);
}

static void write_environment(page *p, const json_t *document) {
  const json_t *environment = json_object_get(document, "environment");
  const json_t *accuracy = json_object_get(environment, "accuracy"), *timing = json_object_get(environment, "timing");
  page_section(p, "Environment");
  if (document_is_timed(document)) warn_of_difference(p, accuracy, timing);
  stability_write(p, document);
  write_facts(p, "Where the accuracy record was made.", accuracy, NULL);
  if (document_is_timed(document)) write_facts(p, "What the timing record says besides.", timing, accuracy);
}

/* ---- how ---- */

static double most_repetitions(const json_t *document) {
  const json_t *shapes = json_object_get(document, "shapes");
  double most = 0;
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *rows = json_object_get(json_array_get(shapes, i), "rows");
    for (size_t k = 0; k < json_array_size(rows); k++)
      most = fmax(most, field_number(json_object_get(json_array_get(rows, k), "timing"), "repetitions"));
  }
  return most;
}

static void write_timing_method(page *p, const json_t *document) {
  const json_t *context = json_object_get(json_object_get(document, "environment"), "timing");
  page_item(p,
            "Each time is the median of %s repetitions, run in random order among all others, with least and most "
            "beside it.",
            words_count(most_repetitions(document)).text);
  page_item(p, "What is timed is the writing of rows, or the work on those of x: the plan is made before (and timed "
               "apart), the memory was touched before, and the code and small tables are hot.");
  page_item(p, "The limit of a table is to fill: the better of memset and streaming stores by one thread on the same "
               "buffer, measured just before and just after each repetition. That of add and rope is to scale, x *= "
               "constant in place, with the widest vectors. A share is the median of the ratios of these pairs, so it "
               "is not quite the ratio of the medians beside it. Several threads can pass the limit.");
  if (strcmp(field_string(context, "library_build_type"), "debug") == 0)
    page_item(p, "Google Benchmark says that it was built as DEBUG. That is the benchmark library, which does not run "
                 "inside the timed loop; the kernels were compiled with the flags above.");
}

void write_method(page *p, const json_t *document) {
  const double seed = field_number(document, "seed");
  write_environment(p, document);
  page_section(p, "How the figures were taken");
  page_open(p, PAGE_LIST);
  page_item(p, "Exact values come from MPFR with as many bits as it takes to round them for certain, or by rotations "
               "between its values, within 2^-98, and from MPFR where that leaves a doubt. The error in ulp is "
               "|got − exact| / ulp(exact), a fraction, and the absolute error stands beside it, since near a zero of "
               "sine the ulp vanishes.");
  page_item(p, "Exhaustive figures are over every element of the shape. Sampled ones are over the number said beside "
               "them, and an element that was not drawn may be worse.");
  page_item(p, "Results of add and rope are compared with the exact ones of the x that was given: numbers of a size "
               "about 1, and in every 17th row huge, tiny, zero, or such that they cancel the table, which count for "
               "the share of the bound alone. An ulp is that of the exact sum, which has no end where x cancels the "
               "table by chance, and of rope that of the exact pair's length.");
  if (isfinite(seed)) page_item(p, "What is sampled, and x, follow from the seed %.0f.", seed);
  if (document_is_timed(document))
    write_timing_method(p, document);
  else
    page_item(p, "There is no timing record, as where the table is empty or posenc was built without Google Benchmark: "
                 "hence no times, no bandwidths and no speed-ups on this page.");
  page_close(p, PAGE_LIST);
  page_paragraph(p, "The command that makes this report again:");
  page_code_block(p, field_string(document, "command"));
}
