/* SPDX-License-Identifier: MIT */
#include "reports/contents.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/shapes.h"
#include "reports/claims.h"
#include "reports/document.h"
#include "reports/errors.h"
#include "reports/far.h"
#include "reports/portraits.h"
#include "reports/tables.h"
#include "reports/words.h"

#include <stdlib.h>

static void say(page *p, const char *text) {
  p->format->run(p, PAGE_TEXT, text);
}

static void code(page *p, const char *text) {
  p->format->run(p, PAGE_CODE, text);
}

static bool is_timed(const json_t *document) {
  return json_is_object(json_object_get(json_object_get(document, "environment"), "timing"));
}

static double median(const json_t *holder, const char *counter) {
  return field_number(json_object_get(holder, counter), "median");
}

/* Is it an x that add or rope works on? */
static bool is_applied(const json_t *table) {
  return json_is_true(json_object_get(table, "applied"));
}

/* ---- the answer ---- */

static void say_bound(page *p, const json_t *kernel) {
  const posenc_bound bound = document_bound(kernel);
  char text[128];
  bound_words(&bound, text, sizeof text);
  say(p, text);
}

/* "transformer-base (5 000 × 512, 9.8 MiB)" */
static void say_shape(page *p, const json_t *table) {
  const json_t *described = json_object_get(table, "shape");
  code(p, field_string(described, "name"));
  page_print(p, PAGE_TEXT, " (%s × %s, %s)", words_count(field_number(described, "rows")).text,
             words_count(field_number(described, "dim")).text, words_bytes(field_number(table, "bytes")).text);
}

static void say_speed(page *p, const json_t *row) {
  const json_t *timing = json_object_get(row, "timing");
  page_print(p, PAGE_STRONG, "%s GB/s", words_significant(median(timing, "bytes_per_second") / 1e9, 3).text);
  page_print(p, PAGE_TEXT, ", %s\u00a0%% of the fill limit (%s GB/s)",
             words_significant(median(timing, "of_limit") * 100, 3).text,
             words_significant(median(timing, "limit_bytes_per_second") / 1e9, 3).text);
  const double factor = field_number(timing, "speed_up");
  if (isfinite(factor)) page_print(p, PAGE_TEXT, ", %s times as fast as naive", words_significant(factor, 3).text);
}

/* "shapes: 8 exhaustive, 2 sampled" */
static void say_shapes(page *p, const json_t *document) {
  const json_t *shapes = json_object_get(json_object_get(document, "checks"), "shapes");
  page_print(p, PAGE_TEXT, "shapes: %s exhaustive, %s sampled", words_count(field_number(shapes, "exhaustive")).text,
             words_count(field_number(shapes, "sampled")).text);
}

static void answer_fastest(page *p, const json_t *document, const json_t *answers) {
  say(p, "Of the kernels whose proved error bound is within 2^-24 and held in every check (");
  say_shapes(p, document);
  say(p, "), the fastest");
  const char *last = "";
  for (size_t i = 0; i < json_array_size(answers); i++) {
    const json_t *answer = json_array_get(answers, i);
    const char *name = field_string(answer, "kernel");
    const json_t *table = document_shape(document, field_string(answer, "shape"));
    const bool largest = strcmp(field_string(answer, "footprint"), "largest") == 0;
    say(p, i > 0 ? ". On " : " on ");
    say(p, largest ? "the largest table, " : "a table in cache, ");
    say_shape(p, table);
    say(p, i > 0 ? ", it is " : ", is ");
    code(p, name);
    say(p, ": ");
    say_speed(p, document_row(table, name));
    if (strcmp(name, last) == 0) continue;
    say(p, "; its bound is ");
    say_bound(p, field_find(json_object_get(document, "kernels"), "name", name));
    last = name;
  }
  say(p, ".");
}

/* Without times the answer is who can be trusted. */
static void answer_trusted(page *p, const json_t *document) {
  const json_t *kernels = json_object_get(document, "kernels");
  const char *separator = "A proved error bound held in every check of: ";
  say(p, is_timed(document) ? "No table of f32 was timed, but verified (" : "Nothing was timed, but verified (");
  say_shapes(p, document);
  say(p, "). ");
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const json_t *kernel = json_array_get(kernels, i);
    if (!document_bound(kernel).derived || !json_is_true(json_object_get(kernel, "holds"))) continue;
    say(p, separator);
    code(p, field_string(kernel, "name"));
    separator = ", ";
  }
  say(p, *separator == ',' ? "." : "No kernel has a proved error bound that held in every check.");
}

/* Of f32, which the answer is about? */
static bool has_tables(const json_t *document) {
  size_t i;
  json_t *table;
  json_array_foreach(json_object_get(document, "shapes"), i, table) {
    const char *dtype = field_string(json_object_get(table, "shape"), "dtype");
    if (!is_applied(table) && strcmp(dtype, dtype_name(POSENC_F32)) == 0) return true;
  }
  return false;
}

static void write_answer(page *p, const json_t *document) {
  const json_t *answers = json_object_get(document, "answer");
  const json_int_t failed = json_integer_value(json_object_get(json_object_get(document, "checks"), "failed"));
  p->format->open(p, PAGE_ANSWER);
  if (json_array_size(answers) > 0)
    answer_fastest(p, document, answers);
  else if (is_timed(document) && has_tables(document))
    say(p, "No kernel that was timed has a proved error bound within 2^-24 that held in every check.");
  else
    answer_trusted(p, document);
  p->format->close(p, PAGE_ANSWER);
  if (failed == 0) return;
  p->format->open(p, PAGE_ANSWER);
  page_print(p, PAGE_STRONG, "Failed checks: %" JSON_INTEGER_FORMAT, failed);
  say(p, ", listed under Checks.");
  p->format->close(p, PAGE_ANSWER);
}

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

typedef struct description {
  char text[400];
} description;

/* "add, ", "rope, inverse, "; nothing of a table. */
static void describe_operation(FILE *out, const json_t *described) {
  posenc_op op;
  if (!op_parse(field_string(described, "op"), &op) || op == POSENC_TABLE) return;
  fprintf(out, json_is_true(json_object_get(described, "inverse")) ? "%s, inverse, " : "%s, ", op_name(op));
}

/* "5 000 × 512, first position 4 294 967 296, base 10000, interleaved, f32, 9.8 MiB; fill limit 44.9 GB/s (…)", or, of an x of 32 heads,
   "rope, 4 096 × 32 × 128, …, 64 MiB; scale limit …" */
static description describe(const json_t *table) {
  const json_t *described = json_object_get(table, "shape");
  const double first = field_number(described, "first"), base = field_number(described, "base"),
               shift = field_number(described, "shift");
  const double padding = field_number(described, "padding"), heads = field_number(described, "heads"),
               limit = median(table, "limit_bytes_per_second");
  const char *work = is_applied(table) ? "scale" : "fill";
  posenc_layout layout;
  posenc_dtype dtype;
  description d = {""};
  FILE *out = fmemopen(d.text, sizeof d.text, "w");
  if (!out) return d;
  describe_operation(out, described);
  fputs(words_count(field_number(described, "rows")).text, out);
  if (heads > 1) fprintf(out, " × %s", words_count(heads).text);
  fprintf(out, " × %s", words_count(field_number(described, "dim")).text);
  if (first < 0 || first > 0) fprintf(out, ", first position %s", words_count(first).text);
  if (isfinite(base)) fprintf(out, ", base %s", words_plain(base).text);
  if (shift < 0 || shift > 0) fprintf(out, ", shift %s", words_plain(shift).text);
  if (isfinite(padding)) fprintf(out, ", padding position %s", words_count(padding).text);
  if (layout_parse(field_string(described, "layout"), &layout)) fprintf(out, ", %s", layout_name(layout));
  if (dtype_parse(field_string(described, "dtype"), &dtype)) fprintf(out, ", %s", dtype_name(dtype));
  fprintf(out, ", %s", words_bytes(field_number(table, "bytes")).text);
  if (isfinite(limit))
    fprintf(out, "; %s limit %s GB/s (median beside all kernels)", work, words_fixed(limit / 1e9, 1).text);
  fclose(out);
  return d;
}

static void write_headline(page *p, const json_t *document) {
  const json_t *headline = json_object_get(document, "headline");
  const json_t *table = document_shape(document, field_string(headline, "shape"));
  p->format->heading(p, 2, "Headline");
  if (!table) {
    page_block(p, PAGE_PARAGRAPH, "No shape was verified.");
    return;
  }
  p->format->open(p, PAGE_PARAGRAPH);
  say(p, "The reference shape, ");
  code(p, field_string(headline, "shape"));
  say(p, ". Exhaustive figures are over every element; sampled ones are lower bounds. Times are medians (least–most).");
  p->format->close(p, PAGE_PARAGRAPH);
  table_write(p, TABLE_HEADLINE, describe(table).text, json_object_get(table, "rows"), is_timed(document));
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
  table_write(p, kind, describe(table).text, json_object_get(table, "rows"), is_timed(document));
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
  if (is_timed(document))
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
  say(p, "What add (x + the table) and rope (pairs of x turned by their angles) cost in place. ");
  if (is_timed(document)) {
    say(p, "GB/s are those of x, read and written; the scale limit is x *= constant over the same memory. ");
    code(p, "cached");
    say(p, " works from a table in memory, as is usual; the others compute its rows on the way.");
  }
  p->format->close(p, PAGE_PARAGRAPH);
  write_list(p, document, true);
}

/* ---- figures ---- */

static void write_cache_rows(page *p, const json_t *document) {
  static const char *const caches[][2] = {{"l1d", "L1d"}, {"l2", "L2"}, {"l3", "L3"}};
  const json_t *facts = json_object_get(json_object_get(document, "environment"), "timing");
  const char *separator = " Dotted lines mark tables as large as a cache: ";
  for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
    const double rows = figures_cache_rows(document, caches[i][0]);
    if (!isfinite(rows)) continue;
    const double bytes = strtod(field_string(facts, caches[i][0]), NULL);
    page_print(p, PAGE_TEXT, "%s%s %s is %s rows", separator, caches[i][1], words_bytes(bytes).text,
               words_count(rows).text);
    separator = ", ";
  }
  if (*separator == ',') say(p, ".");
}

static void write_sweep_data(page *p, const json_t *document) {
  const json_t *shapes = json_object_get(document, "shapes");
  p->format->open(p, PAGE_DATA);
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *table = json_array_get(shapes, i);
    if (figures_in_sweep(table))
      table_write(p, TABLE_TIMES, describe(table).text, json_object_get(table, "rows"), true);
  }
  p->format->close(p, PAGE_DATA);
}

/* Width of the sweep, NaN if none was timed. */
static double sweep_dim(const json_t *document) {
  const json_t *shapes = json_object_get(document, "shapes");
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *table = json_array_get(shapes, i);
    if (figures_in_sweep(table)) return field_number(json_object_get(table, "shape"), "dim");
  }
  return NAN;
}

static void write_lengths(page *p, const json_t *document, const figures *drawn) {
  if (!drawn->svg[FIGURE_TIME]) return;
  const double dim = sweep_dim(document);
  p->format->heading(p, 2, "Time against length");
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(p, PAGE_TEXT, "Tables of f32 with %s columns. Points are medians, bars reach from least to most.",
             words_count(dim).text);
  write_cache_rows(p, document);
  p->format->close(p, PAGE_PARAGRAPH);
  p->format->open(p, PAGE_FIGURES);
  p->format->figure(p, "Time per element against length.", drawn->svg[FIGURE_TIME]);
  p->format->figure(
      p, "Bytes written per second against length. The logarithmic axis ends at the highest of fill limit and kernels.",
      drawn->svg[FIGURE_BANDWIDTH]);
  p->format->close(p, PAGE_FIGURES);
  write_sweep_data(p, document);
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
  say(p, ". Skipped is what a kernel refuses to do, and what its bound says nothing about; neither counts below.");
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
  say(p, " ");
  say(p, text);
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
  if (is_timed(document)) warn_of_difference(p, accuracy, timing);
  write_facts(p, "Where the accuracy record was made.", accuracy, NULL);
  if (is_timed(document)) write_facts(p, "What the timing record says besides.", timing, accuracy);
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
  if (is_timed(document))
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
  write_answer(p, document);
  write_subtitle(p, document);
  write_headline(p, document);
  write_lengths(p, document, drawn);
  const bool errors_written = errors_write(p, document, drawn);
  far_write(p, document);
  portraits_write(p, document, drawn);
  write_shapes(p, document);
  write_applied(p, document);
  const bool checks_written = write_checks(p, document);
  claims_write(p, document);
  write_kernels(p, document);
  write_environment(p, document);
  write_method(p, document);
  p->format->end(p);
  return errors_written && checks_written;
}
