/* SPDX-License-Identifier: MIT */
/* Errors: against position, by cause, against frequency; the maximum usable position. */
#include "common/field.h"
#include "reports/model/causes.h"
#include "reports/model/document.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

#include <stdlib.h>

/* Positions that tables show where figures show all: short texts, GPT-scale contexts, and far beyond. */
static const struct {
  double position;
  const char *name;
} landmarks[] = {{0x1p0, "2^0"}, {0x1p10, "2^10"}, {0x1p17, "2^17"}, {0x1p20, "2^20"}, {0x1p30, "2^30"}};

enum { LANDMARKS = sizeof landmarks / sizeof *landmarks };

const json_t *point_at(const json_t *profile, double position) {
  const json_t *points = json_object_get(profile, "points");
  for (size_t i = 0; i < json_array_size(points); i++) {
    const json_t *point = json_array_get(points, i);
    if (field_number(point, "position") == position) return point;
  }
  return NULL;
}

/* " of the f32 table of dim 128, base 10000" */
static words name_table(const json_t *table) {
  const double dim = field_number(table, "dim"), base = field_number(table, "base");
  words result = {""};
  if (isfinite(dim) && isfinite(base))
    snprintf(result.text, sizeof result.text, " of the f32 table of dim %.60s, base %.60s", words_plain(dim).text,
             words_plain(base).text);
  return result;
}

/* The number of rows that were compared from each position on. */
static words point_rows(const json_t *profiles) {
  const json_t *points = json_object_get(json_array_get(profiles, 0), "points");
  return words_count(field_number(json_array_get(points, 0), "rows"));
}

/* Rows of the longest scan; NaN if there was none. */
static double scanned_rows(const json_t *profiles) {
  double rows = NAN;
  for (size_t i = 0; i < json_array_size(profiles); i++)
    rows = fmax(rows, field_number(json_array_get(profiles, i), "rows"));
  return rows;
}

/* Profiles of kernels, of recipes shown beside them, and those that have, or should have, a scan. */
typedef enum kind { KERNELS, RECIPES, SCANNED } kind;

/* Borrows them. Null when memory runs out. */
static json_t *profiles_of(page *p, const json_t *document, kind wanted) {
  const json_t *profiles = json_object_get(document, "profile");
  json_t *chosen = json_array();
  p->failed = p->failed || !chosen;
  for (size_t i = 0; i < json_array_size(profiles); i++) {
    json_t *profile = json_array_get(profiles, i);
    const bool recipe = document_is_recipe(document, field_string(profile, "kernel"));
    if (wanted == SCANNED ? recipe && !json_object_get(profile, "rows") : recipe != (wanted == RECIPES)) continue;
    if (json_array_append(chosen, profile) != 0) p->failed = true;
  }
  return chosen;
}

/* Is the report about any table, not about add and rope alone? */
static bool has_tables(const json_t *document) {
  const json_t *shapes = json_object_get(document, "shapes");
  for (size_t i = 0; i < json_array_size(shapes); i++)
    if (!json_is_true(json_object_get(json_array_get(shapes, i), "applied"))) return true;
  return false;
}

/* ---- against position ---- */

/* A row per position of the first profile, a column per profile. */
static void write_position_data(page *p, const char *caption, const json_t *profiles) {
  const size_t count = json_array_size(profiles);
  const json_t *points = json_object_get(json_array_get(profiles, 0), "points");
  page_column *columns = page_columns(p, "position", count);
  if (count > 0 && columns) {
    columns[0].numeric = true;
    for (size_t i = 0; i < count; i++) columns[i + 1].title = field_string(json_array_get(profiles, i), "kernel");
    page_table(p, caption, columns, count + 1);
    for (size_t i = 0; i < json_array_size(points); i++) {
      const double position = field_number(json_array_get(points, i), "position");
      page_cell_count(p, position);
      for (size_t k = 0; k < count; k++)
        page_cell_number(p, field_number(point_at(json_array_get(profiles, k), position), "max_abs"), 3);
    }
    page_table_end(p);
  }
  free(columns);
}

static void write_position(page *p, const json_t *document) {
  if (!p->svg[FIGURE_ERROR]) return;
  json_t *kernels = profiles_of(p, document, KERNELS), *recipes = profiles_of(p, document, RECIPES);
  page_section(p, "Error against position");
  page_paragraph(p,
                 "The largest absolute error of the %s rows from a position on%s: a sample, so a lower bound. Dashed "
                 "lines: half an ulp just below 1, which rounding to that format costs whoever computes.%s%s",
                 point_rows(kernels).text, name_table(json_array_get(kernels, 0)).text,
                 p->svg[FIGURE_RECIPES]
                     ? " Beside the kernels, what frameworks ship: each recipe is held to its own exact table, so that "
                       "one that divides by d/2 − 1 is not blamed for that."
                     : "",
                 has_tables(document) ? ""
                                      : " This and the following sections on errors are about these tables, not about "
                                        "what is added or rotated.");
  page_open(p, PAGE_FIGURES);
  page_figure(p, "Error against position. Kernels whose errors are within a tenth of each other share a line.",
              p->svg[FIGURE_ERROR]);
  page_figure(p, "Error against position of what frameworks ship, likewise.", p->svg[FIGURE_RECIPES]);
  page_close(p, PAGE_FIGURES);
  page_data(p, NULL);
  write_position_data(p, "Largest |error| from each position on.", kernels);
  write_position_data(p, "The same of what frameworks ship.", recipes);
  page_data_end(p);
  json_decref(kernels);
  json_decref(recipes);
}

/* ---- by cause ---- */

static void say_names(page *p, const json_t *names) {
  for (size_t i = 0; i < json_array_size(names); i++)
    page_say(p, "%s" CODE("%s"), i > 0 ? ", " : "", json_string_value(json_array_get(names, i)));
}

/* "frequency (55–60 %)" */
static void say_share(page *p, const char *cause, const json_t *share) {
  const words least = words_fixed(100 * field_number(share, "least"), 0);
  const words most = words_fixed(100 * field_number(share, "most"), 0);
  const bool differ = strcmp(least.text, most.text) != 0;
  page_say(p, STRONG("%s") " (%s%s%s\u00a0%%)", cause, least.text, differ ? "–" : "", differ ? most.text : "");
}

/* "from 2^0 to 2^10 frequency (55–60 %) and store (23–31 %)" */
static void say_span(page *p, const json_t *span) {
  const json_t *shares = json_object_get(span, "shares");
  const double from = field_number(span, "from"), to = field_number(span, "to");
  size_t left = json_object_size(shares);
  if (from < to)
    page_say(p, "from %s to %s ", words_position(from).text, words_position(to).text);
  else
    page_say(p, "at %s ", words_position(from).text);
  for (size_t i = 0; i < CAUSES; i++) {
    const json_t *share = json_object_get(shares, cause_names[i]);
    if (!share) continue;
    say_share(p, cause_names[i], share);
    if (--left > 0) page_say(p, left > 1 ? ", " : " and ");
  }
}

static void write_cause(page *p, const json_t *group) {
  const json_t *spans = json_object_get(group, "spans");
  page_open(p, PAGE_ITEM);
  say_names(p, json_object_get(group, "kernels"));
  for (size_t i = 0; i < json_array_size(spans); i++) {
    page_say(p, i > 0 ? "; " : ": ");
    say_span(p, json_array_get(spans, i));
  }
  page_say(p, ".");
  page_close(p, PAGE_ITEM);
}

static void write_cause_data(page *p, const json_t *groups) {
  page_column columns[3 + CAUSES] = {{"kernel", false}, {"position", true}, [2 + CAUSES] = {"sum", true}};
  for (size_t i = 0; i < CAUSES; i++) columns[2 + i] = (page_column){cause_names[i], true};
  page_data(p, NULL);
  page_table(p, "Mean |part| of the error, at some positions; report.json has all.", columns, 3 + CAUSES);
  for (size_t i = 0; i < json_array_size(groups); i++)
    for (size_t k = 0; k < LANDMARKS; k++) {
      const json_t *group = json_array_get(groups, i), *point = point_at(group, landmarks[k].position);
      if (!point) continue;
      page_cell_begin(p);
      say_names(p, json_object_get(group, "kernels"));
      page_cell_end(p);
      page_cell(p, "%s", landmarks[k].name);
      for (size_t c = 0; c < CAUSES; c++)
        page_cell_number(p, field_number(json_object_get(point, "parts"), cause_names[c]), 3);
      page_cell_number(p, field_number(point, "sum"), 3);
    }
  page_table_end(p);
  page_data_end(p);
}

static void write_causes(page *p, const json_t *document) {
  if (!p->svg[FIGURE_CAUSES]) return;
  const json_t *groups = json_object_get(document, "causes");
  page_section(p, "Error by cause");
  page_paragraph(
      p,
      "The error of an element is the sum of four parts: frequency (the kernel's frequency is not the exact "
      "one), phase (its position × frequency is not the exact product of the two), trig (its sine or cosine "
      "is not that of its phase) and store (the rounding to the table's type). Shares are of the mean |part| "
      "over all elements of the %s rows from a position on. Named below are those of a fifth or more.",
      point_rows(json_object_get(document, "profile")).text);
  page_figure(
      p, "Shares of the four parts against position. Kernels whose shares are within 5 % of the error share a panel.",
      p->svg[FIGURE_CAUSES]);
  page_open(p, PAGE_LIST);
  for (size_t i = 0; i < json_array_size(groups); i++) write_cause(p, json_array_get(groups, i));
  page_close(p, PAGE_LIST);
  write_cause_data(p, groups);
}

/* ---- against frequency ---- */

/* The column with the largest error; null if no error is known. */
static const json_t *worst_column(const json_t *profile) {
  const json_t *columns = json_object_get(profile, "columns"), *worst = NULL;
  for (size_t i = 0; i < json_array_size(columns); i++) {
    const json_t *column = json_array_get(columns, i);
    if (field_number(column, "max_abs") > field_number_or(worst, "max_abs", -1)) worst = column;
  }
  return worst;
}

/* Positions after which the columns of that frequency repeat: 2π base^(i / (dim/2 − shift)). */
static double wavelength(const json_t *profile, const json_t *column) {
  const double turn = 2 * acos(-1.0);
  const double denominator = field_number(profile, "dim") / 2 - field_number_or(profile, "shift", 0);
  return turn * pow(field_number(profile, "base"), field_number(column, "index") / denominator);
}

static void write_frequency(page *p, const json_t *profiles) {
  static const page_column columns[] = {
      {"kernel", false}, {"frequency index", true}, {"wavelength", true}, {"max |error|", true}, {"at position", true}};
  if (!p->svg[FIGURE_FREQUENCY]) return;
  page_section(p, "Error against frequency");
  page_paragraph(
      p,
      "The largest absolute error of a frequency's sine and cosine over every position below %s%s. Frequency "
      "index i turns once in 2π base^(2i/dim) positions.",
      words_count(scanned_rows(profiles)).text, name_table(json_array_get(profiles, 0)).text);
  page_figure(p, "Error against frequency. Kernels whose errors are within a tenth of each other share a line.",
              p->svg[FIGURE_FREQUENCY]);
  page_table(p, "The worst column of each kernel: the frequency with its largest error; report.json has all.", columns,
             sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(profiles); i++) {
    const json_t *profile = json_array_get(profiles, i), *worst = worst_column(profile);
    if (!worst) continue;
    page_cell(p, CODE("%s"), field_string(profile, "kernel"));
    page_cell_count(p, field_number(worst, "index"));
    page_cell_number(p, wavelength(profile, worst), 4);
    page_cell_number(p, field_number(worst, "max_abs"), 3);
    page_cell_count(p, field_number(worst, "position"));
  }
  page_table_end(p);
}

/* ---- maximum usable position ---- */

/* The finding of a profile's scan, or "none to" its last position; a dash if there was no scan. */
static void cell_found(page *p, const json_t *profile, const json_t *found) {
  const double rows = field_number(profile, "rows");
  if (json_is_integer(found))
    page_cell_count(p, json_number_value(found));
  else if (json_is_array(found))
    page_cell(p, "%s, %s", words_count(json_number_value(json_array_get(found, 0))).text,
              words_count(json_number_value(json_array_get(found, 1))).text);
  else if (json_is_null(found) && rows > 0)
    page_cell(p, "none to %s", words_count(rows - 1).text);
  else
    page_cell(p, "–");
}

static void write_ends(page *p, const json_t *profiles) {
  static const char *const formats[] = {"f32", "f16", "bf16"};
  static const page_column columns[] = {{"kernel", false},     {"beyond f32", true},  {"beyond f16", true},
                                        {"beyond bf16", true}, {"same in f32", true}, {"same in f16", true},
                                        {"same in bf16", true}};
  page_table(p,
             "First position with an error beyond half an ulp of a format, and first two positions with the same row "
             "in it.",
             columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(profiles); i++) {
    const json_t *profile = json_array_get(profiles, i);
    const json_t *passes = json_object_get(profile, "passes"), *collisions = json_object_get(profile, "collisions");
    page_cell(p, CODE("%s"), field_string(profile, "kernel"));
    for (size_t k = 0; k < 3; k++) cell_found(p, profile, json_object_get(passes, formats[k]));
    for (size_t k = 0; k < 3; k++) cell_found(p, profile, json_object_get(collisions, formats[k]));
  }
  page_table_end(p);
}

static void write_relations(page *p, const json_t *profiles) {
  page_column columns[3 + LANDMARKS] = {{"kernel", false}, {"|s² + c² − 1|", true}, {"at", false}};
  for (size_t i = 0; i < LANDMARKS; i++) columns[3 + i] = (page_column){landmarks[i].name, true};
  page_table(p,
             "Largest |s² + c² − 1| and where, and largest |PE[p]·PE[q] − Σ cos((p − q) wᵢ)| of two rows from 2^0, "
             "2^10, … on",
             columns, 3 + LANDMARKS);
  for (size_t i = 0; i < json_array_size(profiles); i++) {
    const json_t *profile = json_array_get(profiles, i), *norm = json_object_get(profile, "norm");
    page_cell(p, CODE("%s"), field_string(profile, "kernel"));
    page_cell_number(p, field_number(norm, "worst"), 3);
    page_cell_begin(p);
    if (norm)
      page_say(p, "p = %s, " SMALL("i = %s"), words_count(field_number(norm, "position")).text,
               words_count(field_number(norm, "index")).text);
    page_cell_end(p);
    for (size_t k = 0; k < LANDMARKS; k++)
      page_cell_number(p, field_number(point_at(profile, landmarks[k].position), "relative"), 3);
  }
  page_table_end(p);
}

static void write_limits(page *p, const json_t *document, const json_t *profiles) {
  const json_t *unique = json_object_get(document, "unique");
  const double rows = scanned_rows(profiles);
  if (!isfinite(rows)) return;
  page_section(p, "Maximum usable position");
  page_paragraph(
      p,
      "Every element of the first %s rows%s, was looked at. An error beyond half an ulp just below 1 is larger "
      "than that of rounding the exact value to the format. Two positions with the same row in a format "
      "cannot be told apart in it; further out, only %s rows from each power of two on were compared with one "
      "another, so there may be an earlier two than those told.",
      words_count(rows).text, name_table(json_array_get(profiles, 0)).text, point_rows(profiles).text);
  write_ends(p, profiles);
  if (json_is_object(unique))
    page_paragraph(
        p,
        "In the exact table of %s rows%s, the closest two rows are " STRONG("%s apart") ", at positions that "
                                                                                        "differ by %s.",
        words_count(field_number(unique, "rows")).text, name_table(unique).text,
        words_significant(field_number(unique, "distance"), 4).text, words_count(field_number(unique, "apart")).text);
  page_paragraph(
      p,
      "In exact rows s² + c² = 1 for every pair of sine and cosine, and the product of two rows depends on p − q "
      "alone. How far the kernels are from both, over all those rows, and over pairs from the few that follow a power "
      "of two:");
  write_relations(p, profiles);
}

/* ---- kernels without a bound ---- */

/* The tables of the first profile that has figures of other tables; null if none has. */
static const json_t *other_tables(const json_t *profiles) {
  for (size_t i = 0; i < json_array_size(profiles); i++) {
    const json_t *tables = json_object_get(json_array_get(profiles, i), "tables");
    if (json_array_size(tables) > 0) return tables;
  }
  return NULL;
}

/* A row per position, a column per table. */
static void write_contexts(page *p, const json_t *profile) {
  const json_t *tables = json_object_get(profile, "tables");
  const json_t *points = json_object_get(json_array_get(tables, 0), "points");
  for (size_t i = 0; i < json_array_size(points); i++) {
    const double position = field_number(json_array_get(points, i), "position");
    page_cell(p, CODE("%s"), field_string(profile, "kernel"));
    page_cell_count(p, position);
    for (size_t t = 0; t < p->column_count - 2; t++)
      page_cell_number(p, field_number(point_at(json_array_get(tables, t), position), "max_abs"), 3);
  }
}

/* "d = 128, 10000" over each column. */
static void write_unclaimed(page *p, const json_t *document) {
  const json_t *profiles = json_object_get(document, "profile"), *tables = other_tables(profiles);
  const size_t count = json_array_size(tables);
  if (count == 0) return;
  page_column *columns = page_columns(p, "kernel", count + 1);
  words *titles = calloc(count, sizeof *titles);
  p->failed = p->failed || !titles;
  if (columns && titles) {
    columns[1].title = "position";
    for (size_t t = 0; t < count; t++) {
      const json_t *table = json_array_get(tables, t);
      snprintf(titles[t].text, sizeof titles[t].text, "d = %.30s, %.30s", words_plain(field_number(table, "dim")).text,
               words_plain(field_number(table, "base")).text);
      columns[t + 2].title = titles[t].text;
    }
    page_section(p, "Kernels without a bound");
    page_paragraph(p, "No bound is proved for these, so they are compared in more tables, each against its own exact "
                      "values: a kernel that divides the exponent by d/2 − 1 is not blamed for that.");
    page_table(p, "Largest |error| of 16 rows from a position on, by number of columns d and base.", columns,
               count + 2);
    for (size_t i = 0; i < json_array_size(profiles); i++) write_contexts(p, json_array_get(profiles, i));
    page_table_end(p);
  }
  free(columns);
  free(titles);
}

void write_errors(page *p, const json_t *document) {
  json_t *scanned = profiles_of(p, document, SCANNED);
  write_position(p, document);
  write_causes(p, document);
  write_frequency(p, scanned);
  write_limits(p, document, scanned);
  json_decref(scanned);
  write_unclaimed(p, document);
}
