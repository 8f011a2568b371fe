/* SPDX-License-Identifier: MIT */
#include "reports/sections/contents.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/shapes.h"
#include "reports/model/claims.h"
#include "reports/model/document.h"
#include "reports/model/stability.h"
#include "reports/page/words.h"
#include "reports/sections/answer.h"
#include "reports/sections/cases.h"
#include "reports/sections/errors.h"
#include "reports/sections/far.h"
#include "reports/sections/histogram.h"
#include "reports/sections/lengths.h"
#include "reports/sections/shipped.h"
#include "reports/sections/tables.h"
#include "reports/sections/witnesses.h"

#include <stdlib.h>

/* Is it an x that add or rope works on? */
static bool is_applied(const json_t *table) {
  return json_is_true(json_object_get(table, "applied"));
}

/* ---- the top ---- */

static void write_subtitle(page *p, const json_t *document) {
  const json_t *facts = json_object_get(json_object_get(document, "environment"), "accuracy");
  static const char *const keys[] = {"posenc_version", "commit", "cpu", "date"};
  static const char *const labels[] = {"posenc ", ", commit ", ", on ", ", "};
  p->format->open(p, PAGE_PARAGRAPH);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *fact = field_string(facts, keys[i]);
    if (!*fact) continue;
    p->format->run(p, PAGE_SMALL, labels[i]);
    p->format->run(p, PAGE_SMALL, fact);
  }
  p->format->close(p, PAGE_PARAGRAPH);
}

/* ---- tables by shape ---- */

static void write_headline(page *p, const json_t *document) {
  const json_t *headline = json_object_get(document, "headline");
  const json_t *table = document_shape(document, field_string(headline, "shape"));
  p->format->heading(p, 2, "Headline");
  if (!table) {
    page_block(p, PAGE_PARAGRAPH, "No shape was verified.");
    return;
  }
  p->format->open(p, PAGE_PARAGRAPH);
  page_say(p, "The reference shape, ");
  page_code(p, field_string(headline, "shape"));
  page_say(
      p, ". Exhaustive figures are over every element; sampled ones are lower bounds. Times are medians (least–most).");
  p->format->close(p, PAGE_PARAGRAPH);
  table_write(p, TABLE_HEADLINE, table_describe(table).text, json_object_get(table, "rows"),
              document_is_timed(document));
}

/* Is there anything but times of it? */
static bool is_verified(const json_t *table) {
  const json_t *rows = json_object_get(table, "rows");
  for (size_t i = 0; i < json_array_size(rows); i++)
    if (json_object_get(json_array_get(rows, i), "mode")) return true;
  return false;
}

static void write_shape(page *p, const json_t *document, const json_t *table) {
  const table_kind kind = is_applied(table) && !is_verified(table) ? TABLE_TIMES : TABLE_FULL;
  p->format->heading(p, 3, field_string(json_object_get(table, "shape"), "name"));
  table_write(p, kind, table_describe(table).text, json_object_get(table, "rows"), document_is_timed(document));
}

static size_t count_shapes(const json_t *document, bool applied) {
  const json_t *shapes = json_object_get(document, "shapes");
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(shapes); i++) count += is_applied(json_array_get(shapes, i)) == applied;
  return count;
}

static void write_list(page *p, const json_t *document, bool applied) {
  const json_t *shapes = json_object_get(document, "shapes");
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *table = json_array_get(shapes, i);
    if (json_is_true(json_object_get(table, "sweep")) || is_applied(table) != applied) continue;
    write_shape(p, document, table);
  }
  if (document_is_timed(document))
    page_block(p, PAGE_PARAGRAPH,
               applied
                   ? "†: timed on slices of rows in turn, as above."
                   : "†: timed on slices of rows in turn, each at its own place in the table, since a pass over all "
                     "of it is slow.");
}

static void write_shapes(page *p, const json_t *document) {
  if (count_shapes(document, false) == 0) return;
  p->format->heading(p, 2, "Every shape");
  write_list(p, document, false);
}

static void write_applied(page *p, const json_t *document) {
  if (count_shapes(document, true) == 0) return;
  p->format->heading(p, 2, "Added and rotated");
  p->format->open(p, PAGE_PARAGRAPH);
  page_say(p, "What add (x + the table) and rope (pairs of x turned by their angles) cost in place. ");
  if (document_is_timed(document)) {
    page_say(p, "GB/s are those of x, read and written; the scale limit is x *= constant over the same memory. ");
    page_code(p, "cached");
    page_say(p, " works from a table in memory, as is usual; the others compute its rows on the way.");
  }
  p->format->close(p, PAGE_PARAGRAPH);
  write_list(p, document, true);
}

/* What lengths.c does not show: every shape but the sweep in its modes, and the modes that have no figure. */
static size_t write_mode(page *p, const json_t *document, const char *mode, bool sweep, bool counting) {
  const json_t *tables = json_object_get(document, mode);
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(tables); i++) {
    const json_t *table = json_array_get(tables, i);
    char caption[512];
    if (json_is_true(json_object_get(table, "sweep")) && !sweep) continue;
    count++;
    if (counting) continue;
    snprintf(caption, sizeof caption, "%s, %s: %s", mode, field_string(json_object_get(table, "shape"), "name"),
             table_describe(table).text);
    table_write(p, TABLE_TIMES, caption, json_object_get(table, "rows"), true);
  }
  return count;
}

static void write_modes(page *p, const json_t *document) {
  static const struct {
    const char *name;
    bool sweep;
    const char *text;
  } modes[] = {{"cold", false, "table, or x, and constants are in no cache before"},
               {"fresh", false, "into memory that was just allocated, so that its page faults count"},
               {"first", true, "the plan, the whole table and the plan's end: what one table costs from nothing"},
               {"row", true, "one row at a time, at scattered positions"}};
  enum { MODES = sizeof modes / sizeof *modes };
  size_t count = 0;
  for (size_t i = 0; i < MODES; i++) count += write_mode(p, document, modes[i].name, modes[i].sweep, true);
  if (count == 0) return;
  p->format->heading(p, 2, "In other states");
  for (size_t i = 0; i < MODES; i++) {
    if (write_mode(p, document, modes[i].name, modes[i].sweep, true) == 0) continue;
    p->format->open(p, PAGE_PARAGRAPH);
    page_print(p, PAGE_STRONG, "%s", modes[i].name);
    page_print(p, PAGE_TEXT, ": %s.", modes[i].text);
    p->format->close(p, PAGE_PARAGRAPH);
    p->format->open(p, PAGE_DATA);
    write_mode(p, document, modes[i].name, modes[i].sweep, false);
    p->format->close(p, PAGE_DATA);
  }
}

/* ---- checks ---- */

static void write_failures(page *p, const json_t *failures) {
  static const page_column columns[] = {{"kernel", false}, {"shape", false}, {"property", false},
                                        {"worst", true},   {"bound", true},  {"note", false}};
  if (json_array_size(failures) == 0) return;
  page_table(p, "What failed.", columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(failures); i++) {
    const json_t *failure = json_array_get(failures, i);
    page_cell_run(p, PAGE_CODE, field_string(failure, "kernel"));
    page_cell_run(p, PAGE_TEXT, field_string(failure, "shape"));
    page_cell_run(p, PAGE_TEXT, field_string(failure, "property"));
    page_cell_run(p, PAGE_TEXT, words_significant(field_number(failure, "worst"), 4).text);
    page_cell_run(p, PAGE_TEXT, words_significant(field_number(failure, "bound"), 4).text);
    page_rest(p, PAGE_TEXT, field_string(failure, "note"));
  }
  page_table_end(p);
}

/* "10 of 10"; with the modes, "(8 exhaustive, 2 sampled)" below. */
static void write_count(page *p, const json_t *count, bool modes) {
  const json_int_t passed = json_integer_value(json_object_get(count, "passed"));
  const json_int_t of = json_integer_value(json_object_get(count, "of"));
  const json_int_t sampled = json_integer_value(json_object_get(count, "sampled"));
  page_cell(p);
  if (count) {
    page_print(p, passed == of ? PAGE_TEXT : PAGE_STRONG, "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT, passed,
               of);
    if (modes)
      page_print(p, PAGE_SMALL, " (%" JSON_INTEGER_FORMAT " exhaustive, %" JSON_INTEGER_FORMAT " sampled)",
                 of - sampled, sampled);
  }
  page_cell_end(p);
}

/* A row per kernel, a column per property. */
static bool write_properties(page *p, const json_t *checks) {
  const json_t *properties = json_object_get(checks, "properties");
  const json_t *kernels = json_object_get(checks, "kernels");
  const size_t count = json_array_size(properties);
  if (count == 0) return true;
  page_column *columns = calloc(count + 1, sizeof *columns);
  if (!columns) return false;
  columns[0] = (page_column){"kernel", false};
  for (size_t i = 0; i < count; i++)
    columns[i + 1] = (page_column){json_string_value(json_array_get(properties, i)), true};
  page_table(p, "Shapes on which each property held.", columns, count + 1);
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const json_t *kernel = json_array_get(kernels, i);
    page_cell_run(p, PAGE_CODE, field_string(kernel, "kernel"));
    for (size_t k = 0; k < count; k++)
      write_count(p, json_object_get(json_object_get(kernel, "properties"), columns[k + 1].title),
                  strcmp(columns[k + 1].title, "accuracy") == 0);
  }
  page_table_end(p);
  free(columns);
  return true;
}

static bool write_checks(page *p, const json_t *document) {
  const json_t *checks = json_object_get(document, "checks");
  p->format->heading(p, 2, "Checks");
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(p, PAGE_STRONG, "%s passed, %s failed, %s skipped", words_count(field_number(checks, "passed")).text,
             words_count(field_number(checks, "failed")).text, words_count(field_number(checks, "skipped")).text);
  page_say(p, ". Skipped is what a kernel refuses to do, and what its bound says nothing about; neither counts below.");
  p->format->close(p, PAGE_PARAGRAPH);
  page_block(
      p, PAGE_PARAGRAPH,
      "Accuracy, memory, bounded and pair-norm look at every element of a shape whose figures are exhaustive, and "
      "at sampled rows of the others; rotation, extrapolation and extension look at rows drawn from every shape, and "
      "of "
      "add and rope so do in-place, batch, index, inverse, relative, padding and special; search looks at positions up "
      "to 2^40, of tables.");
  write_failures(p, json_object_get(checks, "failures"));
  return write_properties(p, checks);
}

/* ---- kernels ---- */

static void item(page *p, const char *label, const char *text) {
  if (!*text) return;
  p->format->open(p, PAGE_ITEM);
  page_print(p, PAGE_STRONG, "%s:", label);
  page_say(p, " ");
  page_say(p, text);
  p->format->close(p, PAGE_ITEM);
}

static void write_kernel(page *p, const json_t *kernel) {
  const posenc_bound bound = document_bound(kernel);
  const bool reproducible = json_is_true(json_object_get(kernel, "reproducible"));
  char promise[128];
  bound_words(&bound, promise, sizeof promise);
  p->format->heading(p, 3, field_string(kernel, "name"));
  page_block(p, PAGE_PARAGRAPH, field_string(kernel, "summary"));
  p->format->open(p, PAGE_LIST);
  item(p, "Algorithm", field_string(kernel, "algorithm"));
  item(p, "Provenance", field_string(kernel, "provenance"));
  item(p, "ISA", field_string(kernel, "isa"));
  item(p, "Bound", promise);
  item(p, "Basis", field_string(kernel, "basis"));
  item(p, "Reproducible", reproducible ? "the same bits on every ISA, compiler, libm and thread count" : "no");
  item(p, "Threads", json_is_true(json_object_get(kernel, "threaded")) ? "several" : "one");
  item(p, "Does not run here", field_string(kernel, "refusal"));
  p->format->close(p, PAGE_LIST);
}

static void write_kernels(page *p, const json_t *document) {
  const json_t *kernels = json_object_get(document, "kernels");
  p->format->heading(p, 2, "Kernels");
  page_block(
      p, PAGE_PARAGRAPH,
      "A bound holds for every element: ulp is the spacing of the table's type at the exact value, p the position.");
  for (size_t i = 0; i < json_array_size(kernels); i++) write_kernel(p, json_array_get(kernels, i));
}

/* ---- environment ---- */

/* Facts of the timing record that the accuracy record has too, but with another value, or does not have. */
static void write_facts(page *p, const char *caption, const json_t *facts, const json_t *known) {
  static const page_column columns[] = {{"fact", false}, {"value", false}};
  const char *key;
  json_t *value;
  page_table(p, caption, columns, sizeof columns / sizeof *columns);
  json_object_foreach((json_t *)facts, key, value) {
    if (json_equal(value, json_object_get(known, key))) continue;
    page_cell_run(p, PAGE_TEXT, key);
    page_rest(p, PAGE_TEXT, json_string_value(value));
  }
  page_table_end(p);
}

/* Figures of two builds or two machines do not belong in one row, unless it is said. */
static void warn_of_difference(page *p, const json_t *accuracy, const json_t *timing) {
  static const char *const keys[] = {"posenc_version", "commit", "compiler", "cflags", "cpu"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (strcmp(field_string(accuracy, keys[i]), field_string(timing, keys[i])) == 0) continue;
    p->format->open(p, PAGE_PARAGRAPH);
    page_print(p, PAGE_STRONG, "Accuracy and times were not taken from the same build on the same machine: %s differs.",
               keys[i]);
    p->format->close(p, PAGE_PARAGRAPH);
  }
}

static void write_environment(page *p, const json_t *document) {
  const json_t *environment = json_object_get(document, "environment");
  const json_t *accuracy = json_object_get(environment, "accuracy"), *timing = json_object_get(environment, "timing");
  p->format->heading(p, 2, "Environment");
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
  p->format->open(p, PAGE_ITEM);
  page_print(
      p, PAGE_TEXT,
      "Each time is the median of %s repetitions, run in random order among all others, with least and most beside it.",
      words_count(most_repetitions(document)).text);
  p->format->close(p, PAGE_ITEM);
  page_block(p, PAGE_ITEM,
             "What is timed is the writing of rows, or the work on those of x: the plan is made before (and timed "
             "apart), the memory was touched before, "
             "and the code and small tables are hot.");
  page_block(
      p, PAGE_ITEM,
      "The limit of a table is to fill: the better of memset and streaming stores by one thread on the same buffer, "
      "measured just before and just after each repetition. That of add and rope is to scale, x *= constant in "
      "place, with the widest vectors. A share is the median of the ratios of these pairs, so it is "
      "not quite the ratio of the medians beside it. Several threads can pass the limit.");
  if (strcmp(field_string(context, "library_build_type"), "debug") == 0)
    page_block(
        p, PAGE_ITEM,
        "Google Benchmark says that it was built as DEBUG. That is the benchmark library, which does not run inside "
        "the timed loop; the kernels were compiled with the flags above.");
}

static void write_method(page *p, const json_t *document) {
  const double seed = field_number(document, "seed");
  p->format->heading(p, 2, "How the figures were taken");
  p->format->open(p, PAGE_LIST);
  page_block(
      p, PAGE_ITEM,
      "Exact values come from MPFR with as many bits as it takes to round them for certain, or by rotations between "
      "its values, within 2^-98, and from MPFR where that leaves a doubt. The error in ulp is "
      "|got − exact| / ulp(exact), a fraction, and the absolute error stands beside it, since near a zero of sine the "
      "ulp vanishes.");
  page_block(
      p, PAGE_ITEM,
      "Exhaustive figures are over every element of the shape. Sampled ones are over the number said beside them, and "
      "an element that was not drawn may be worse.");
  page_block(
      p, PAGE_ITEM,
      "Results of add and rope are compared with the exact ones of the x that was given: numbers of a size about 1, "
      "and in "
      "every 17th row huge, tiny, zero, or such that they cancel the table, which count for the share of the bound "
      "alone. An ulp is that of the exact sum, which has no end where x cancels the table by chance, and of rope that "
      "of "
      "the exact pair's length.");
  if (isfinite(seed)) {
    p->format->open(p, PAGE_ITEM);
    page_print(p, PAGE_TEXT, "What is sampled, and x, follow from the seed %.0f.", seed);
    p->format->close(p, PAGE_ITEM);
  }
  if (document_is_timed(document))
    write_timing_method(p, document);
  else
    page_block(
        p, PAGE_ITEM,
        "There is no timing record, as where the table is empty or posenc was built without Google Benchmark: hence no "
        "times, no bandwidths "
        "and no speed-ups on this page.");
  p->format->close(p, PAGE_LIST);
  page_block(p, PAGE_PARAGRAPH, "The command that makes this report again:");
  p->format->code_block(p, field_string(document, "command"));
}

bool contents_write(page *p, const json_t *document, const figures *drawn) {
  p->format->begin(p, "posenc report");
  answer_write(p, document, drawn);
  write_subtitle(p, document);
  write_headline(p, document);
  lengths_write(p, document, drawn);
  shipped_write(p, document);
  const bool errors_written = errors_write(p, document, drawn);
  histogram_write(p, document, drawn);
  cases_write(p, document);
  far_write(p, document);
  witnesses_write(p, document);
  write_shapes(p, document);
  write_applied(p, document);
  write_modes(p, document);
  const bool checks_written = write_checks(p, document);
  claims_write(p, document);
  write_kernels(p, document);
  write_environment(p, document);
  write_method(p, document);
  p->format->end(p);
  return errors_written && checks_written;
}
