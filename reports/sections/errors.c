/* SPDX-License-Identifier: MIT */
#include "reports/sections/errors.h"

#include "common/field.h"
#include "reports/model/causes.h"
#include "reports/model/document.h"
#include "reports/page/words.h"

#include <stdlib.h>

/* Positions that tables show where figures show all: short texts, GPT-scale contexts, and far beyond. */
static const struct {
  double position;
  const char *name;
} landmarks[] = {{0x1p0, "2^0"}, {0x1p10, "2^10"}, {0x1p17, "2^17"}, {0x1p20, "2^20"}, {0x1p30, "2^30"}};

enum { LANDMARKS = sizeof landmarks / sizeof *landmarks };

static const char *const formats[] = {"f32", "f16", "bf16"};

enum { FORMATS = sizeof formats / sizeof *formats };

static const json_t *point_at(const json_t *points, double position) {
  for (size_t i = 0; i < json_array_size(points); i++) {
    const json_t *point = json_array_get(points, i);
    const double here = field_number(point, "position");
    if (here >= position && here <= position) return point;
  }
  return NULL;
}

static void cell_significant(page *p, double value) {
  page_cell_run(p, PAGE_TEXT, words_significant(value, 3).text);
}

/* " of the f32 table of dim 128, base 10000" */
static void say_table(page *p, const json_t *table) {
  if (isfinite(field_number(table, "dim")) && isfinite(field_number(table, "base")))
    page_print(p, PAGE_TEXT, " of the f32 table of dim %s, base %s", words_plain(field_number(table, "dim")).text,
               words_plain(field_number(table, "base")).text);
}

/* How many rows of each position were looked at. */
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

/* Profiles, borrowed: of those whose errors are shown together, of recipes shown beside them, and of those that have, or should have, a scan. */
typedef struct subjects {
  json_t *kernels, *recipes, *scanned;
} subjects;

static void subjects_free(subjects *of) {
  json_decref(of->kernels);
  json_decref(of->recipes);
  json_decref(of->scanned);
}

/* False when memory runs out. */
static bool subjects_make(const json_t *document, subjects *of) {
  const json_t *profiles = json_object_get(document, "profile");
  *of = (subjects){json_array(), json_array(), json_array()};
  bool enough = of->kernels && of->recipes && of->scanned;
  for (size_t i = 0; enough && i < json_array_size(profiles); i++) {
    json_t *profile = json_array_get(profiles, i);
    const bool recipe = document_is_recipe(document, field_string(profile, "kernel"));
    enough = json_array_append(recipe ? of->recipes : of->kernels, profile) == 0;
    if (enough && (!recipe || json_object_get(profile, "rows"))) enough = json_array_append(of->scanned, profile) == 0;
  }
  return enough;
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
static bool write_position_data(page *p, const char *caption, const json_t *profiles) {
  const size_t count = json_array_size(profiles);
  const json_t *points = json_object_get(json_array_get(profiles, 0), "points");
  if (count == 0) return true;
  page_column *columns = calloc(count + 1, sizeof *columns);
  if (!columns) return false;
  columns[0] = (page_column){"position", true};
  for (size_t i = 0; i < count; i++)
    columns[i + 1] = (page_column){field_string(json_array_get(profiles, i), "kernel"), true};
  page_table(p, caption, columns, count + 1);
  for (size_t i = 0; i < json_array_size(points); i++) {
    const double position = field_number(json_array_get(points, i), "position");
    page_cell_run(p, PAGE_TEXT, words_count(position).text);
    for (size_t k = 0; k < count; k++) {
      const json_t *other = json_object_get(json_array_get(profiles, k), "points");
      cell_significant(p, field_number(point_at(other, position), "max_abs"));
    }
  }
  page_table_end(p);
  free(columns);
  return true;
}

static bool write_position(page *p, const json_t *document, const subjects *of, const figures *drawn) {
  if (!drawn->svg[FIGURE_ERROR]) return true;
  p->format->heading(p, 2, "Error against position");
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(p, PAGE_TEXT, "The largest absolute error of the %s rows from a position on",
             point_rows(of->kernels).text);
  say_table(p, json_array_get(of->kernels, 0));
  page_print(
      p, PAGE_TEXT,
      ": a sample, so a lower bound. Dashed lines: half an ulp just below 1, which rounding to that format costs "
      "whoever computes.");
  if (drawn->svg[FIGURE_RECIPES])
    page_print(
        p, PAGE_TEXT,
        " Beside the kernels, what frameworks ship: each recipe is held to its own exact table, so that one that "
        "divides by d/2 − 1 is not blamed for that.");
  if (!has_tables(document))
    p->format->run(p, PAGE_TEXT,
                   " This and the following sections on errors are about these tables, not about what is added or "
                   "rotated.");
  p->format->close(p, PAGE_PARAGRAPH);
  p->format->open(p, PAGE_FIGURES);
  p->format->figure(p, "Error against position. Kernels whose errors are within a tenth of each other share a line.",
                    drawn->svg[FIGURE_ERROR]);
  if (drawn->svg[FIGURE_RECIPES])
    p->format->figure(p, "Error against position of what frameworks ship, likewise.", drawn->svg[FIGURE_RECIPES]);
  p->format->close(p, PAGE_FIGURES);
  p->format->open(p, PAGE_DATA);
  const bool written = write_position_data(p, "Largest |error| from each position on.", of->kernels) &&
                       write_position_data(p, "The same of what frameworks ship.", of->recipes);
  p->format->close(p, PAGE_DATA);
  return written;
}

/* ---- where the error comes from ---- */

static void write_names(page *p, const json_t *names) {
  for (size_t i = 0; i < json_array_size(names); i++) {
    if (i > 0) p->format->run(p, PAGE_TEXT, ", ");
    p->format->run(p, PAGE_CODE, json_string_value(json_array_get(names, i)));
  }
}

/* "frequency (55–60 %)" */
static void write_share(page *p, const char *cause, const json_t *share) {
  const words least = words_fixed(100 * field_number(share, "least"), 0);
  const words most = words_fixed(100 * field_number(share, "most"), 0);
  page_print(p, PAGE_STRONG, "%s", cause);
  page_print(p, PAGE_TEXT, " (%s", least.text);
  if (strcmp(least.text, most.text) != 0) page_print(p, PAGE_TEXT, "–%s", most.text);
  page_print(p, PAGE_TEXT, "\u00a0%%)");
}

/* "from 2^0 to 2^10 frequency (55–60 %) and store (23–31 %)" */
static void write_span(page *p, const json_t *span) {
  const json_t *shares = json_object_get(span, "shares");
  const double from = field_number(span, "from"), to = field_number(span, "to");
  size_t left = json_object_size(shares);
  if (from < to)
    page_print(p, PAGE_TEXT, "from %s to %s ", words_position(from).text, words_position(to).text);
  else
    page_print(p, PAGE_TEXT, "at %s ", words_position(from).text);
  for (size_t i = 0; i < CAUSES; i++) {
    const json_t *share = json_object_get(shares, cause_names[i]);
    if (!share) continue;
    write_share(p, cause_names[i], share);
    if (--left > 0) p->format->run(p, PAGE_TEXT, left > 1 ? ", " : " and ");
  }
}

static void write_cause(page *p, const json_t *group) {
  const json_t *spans = json_object_get(group, "spans");
  p->format->open(p, PAGE_ITEM);
  write_names(p, json_object_get(group, "kernels"));
  for (size_t i = 0; i < json_array_size(spans); i++) {
    p->format->run(p, PAGE_TEXT, i > 0 ? "; " : ": ");
    write_span(p, json_array_get(spans, i));
  }
  p->format->run(p, PAGE_TEXT, ".");
  p->format->close(p, PAGE_ITEM);
}

static void write_cause_data(page *p, const json_t *groups) {
  page_column columns[3 + CAUSES] = {{"kernel", false}, {"position", true}};
  for (size_t i = 0; i < CAUSES; i++) columns[2 + i] = (page_column){cause_names[i], true};
  columns[2 + CAUSES] = (page_column){"sum", true};
  p->format->open(p, PAGE_DATA);
  page_table(p, "Mean |part| of the error, at some positions; report.json has all.", columns, 3 + CAUSES);
  for (size_t i = 0; i < json_array_size(groups); i++) {
    const json_t *group = json_array_get(groups, i);
    for (size_t k = 0; k < LANDMARKS; k++) {
      const json_t *point = point_at(json_object_get(group, "points"), landmarks[k].position);
      if (!point) continue;
      page_cell(p);
      write_names(p, json_object_get(group, "kernels"));
      page_cell_end(p);
      page_cell_run(p, PAGE_TEXT, landmarks[k].name);
      for (size_t c = 0; c < CAUSES; c++)
        cell_significant(p, field_number(json_object_get(point, "parts"), cause_names[c]));
      cell_significant(p, field_number(point, "sum"));
    }
  }
  page_table_end(p);
  p->format->close(p, PAGE_DATA);
}

static void write_causes(page *p, const json_t *document, const figures *drawn) {
  if (!drawn->svg[FIGURE_CAUSES]) return;
  const json_t *groups = json_object_get(document, "causes");
  p->format->heading(p, 2, "Where the error comes from");
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(
      p, PAGE_TEXT,
      "The error of an element is the sum of four parts: frequency (the kernel's frequency is not the exact one), "
      "phase (its position × frequency is not the exact product of the two), trig (its sine or cosine is not that "
      "of its phase) and store (the rounding to the table's type). Shares are of the mean |part| over all "
      "elements of the %s rows from a position on. Named below are those of a fifth or more.",
      point_rows(json_object_get(document, "profile")).text);
  p->format->close(p, PAGE_PARAGRAPH);
  p->format->figure(
      p, "Shares of the four parts against position. Kernels whose shares are within 5 % of the error share a panel.",
      drawn->svg[FIGURE_CAUSES]);
  p->format->open(p, PAGE_LIST);
  for (size_t i = 0; i < json_array_size(groups); i++) write_cause(p, json_array_get(groups, i));
  p->format->close(p, PAGE_LIST);
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

static void write_worst_columns(page *p, const json_t *profiles) {
  static const page_column columns[] = {
      {"kernel", false}, {"frequency index", true}, {"wavelength", true}, {"max |error|", true}, {"at position", true}};
  page_table(p, "The worst column of each kernel: the frequency with its largest error; report.json has all.", columns,
             sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(profiles); i++) {
    const json_t *profile = json_array_get(profiles, i), *worst = worst_column(profile);
    if (!worst) continue;
    page_cell_run(p, PAGE_CODE, field_string(profile, "kernel"));
    page_cell_run(p, PAGE_TEXT, words_count(field_number(worst, "index")).text);
    page_cell_run(p, PAGE_TEXT, words_significant(wavelength(profile, worst), 4).text);
    cell_significant(p, field_number(worst, "max_abs"));
    page_cell_run(p, PAGE_TEXT, words_count(field_number(worst, "position")).text);
  }
  page_table_end(p);
}

static void write_frequency(page *p, const json_t *profiles, const figures *drawn) {
  if (!drawn->svg[FIGURE_FREQUENCY]) return;
  p->format->heading(p, 2, "Error against frequency");
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(p, PAGE_TEXT, "The largest absolute error of a frequency's sine and cosine over every position below %s",
             words_count(scanned_rows(profiles)).text);
  say_table(p, json_array_get(profiles, 0));
  page_print(p, PAGE_TEXT, ". Frequency index i turns once in 2π base^(2i/dim) positions.");
  p->format->close(p, PAGE_PARAGRAPH);
  p->format->figure(p, "Error against frequency. Kernels whose errors are within a tenth of each other share a line.",
                    drawn->svg[FIGURE_FREQUENCY]);
  write_worst_columns(p, profiles);
}

/* ---- where it stops being good enough ---- */

/* What was found in the scan of a profile, or "none to" its last position; a dash if there was no scan. */
static void cell_found(page *p, const json_t *profile, const json_t *found) {
  const double rows = field_number(profile, "rows");
  page_cell(p);
  if (json_is_integer(found))
    page_print(p, PAGE_TEXT, "%s", words_count(json_number_value(found)).text);
  else if (json_is_array(found))
    page_print(p, PAGE_TEXT, "%s, %s", words_count(json_number_value(json_array_get(found, 0))).text,
               words_count(json_number_value(json_array_get(found, 1))).text);
  else if (json_is_null(found) && rows > 0)
    page_print(p, PAGE_TEXT, "none to %s", words_count(rows - 1).text);
  else
    page_print(p, PAGE_TEXT, "–");
  page_cell_end(p);
}

static void write_ends(page *p, const json_t *profiles) {
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
    page_cell_run(p, PAGE_CODE, field_string(profile, "kernel"));
    for (size_t k = 0; k < FORMATS; k++) cell_found(p, profile, json_object_get(passes, formats[k]));
    for (size_t k = 0; k < FORMATS; k++) cell_found(p, profile, json_object_get(collisions, formats[k]));
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
    page_cell_run(p, PAGE_CODE, field_string(profile, "kernel"));
    cell_significant(p, field_number(norm, "worst"));
    page_cell(p);
    if (norm) {
      page_print(p, PAGE_TEXT, "p = %s, ", words_count(field_number(norm, "position")).text);
      page_print(p, PAGE_SMALL, "i = %s", words_count(field_number(norm, "index")).text);
    }
    page_cell_end(p);
    for (size_t k = 0; k < LANDMARKS; k++)
      cell_significant(p,
                       field_number(point_at(json_object_get(profile, "points"), landmarks[k].position), "relative"));
  }
  page_table_end(p);
}

static void write_unique(page *p, const json_t *unique) {
  if (!json_is_object(unique)) return;
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(p, PAGE_TEXT, "In the exact table of %s rows", words_count(field_number(unique, "rows")).text);
  say_table(p, unique);
  page_print(p, PAGE_TEXT, ", the two rows that are closest to each other are ");
  page_print(p, PAGE_STRONG, "%s apart", words_significant(field_number(unique, "distance"), 4).text);
  page_print(p, PAGE_TEXT, ", at positions that differ by %s.", words_count(field_number(unique, "apart")).text);
  p->format->close(p, PAGE_PARAGRAPH);
}

static void write_limits(page *p, const json_t *document, const json_t *profiles) {
  const double rows = scanned_rows(profiles);
  if (!isfinite(rows)) return;
  p->format->heading(p, 2, "Where it stops being good enough");
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(p, PAGE_TEXT, "Every element of the first %s rows", words_count(rows).text);
  say_table(p, json_array_get(profiles, 0));
  page_print(
      p, PAGE_TEXT,
      ", was looked at. An error beyond half an ulp just below 1 is larger than that of rounding the exact value "
      "to the format. Two positions with the same row in a format cannot be told apart in it; further out, only %s "
      "rows from each power of two on were compared with one another, so there may be an earlier two than those "
      "told.",
      point_rows(profiles).text);
  p->format->close(p, PAGE_PARAGRAPH);
  write_ends(p, profiles);
  write_unique(p, json_object_get(document, "unique"));
  page_block(
      p, PAGE_PARAGRAPH,
      "In exact rows s² + c² = 1 for every pair of sine and cosine, and the product of two rows depends on p − q "
      "alone. How far the kernels are from both, over all those rows, and over pairs from the few that follow a power "
      "of two:");
  write_relations(p, profiles);
}

/* ---- kernels that claim nothing ---- */

/* The first profile that has figures of other tables; null if none has. */
static const json_t *first_with_tables(const json_t *profiles) {
  for (size_t i = 0; i < json_array_size(profiles); i++) {
    const json_t *profile = json_array_get(profiles, i);
    if (json_array_size(json_object_get(profile, "tables")) > 0) return profile;
  }
  return NULL;
}

/* A row per position, a column per table. */
static void write_contexts(page *p, const json_t *profile) {
  const json_t *tables = json_object_get(profile, "tables");
  const json_t *points = json_object_get(json_array_get(tables, 0), "points");
  for (size_t i = 0; i < json_array_size(points); i++) {
    const double position = field_number(json_array_get(points, i), "position");
    page_cell_run(p, PAGE_CODE, field_string(profile, "kernel"));
    page_cell_run(p, PAGE_TEXT, words_count(position).text);
    for (size_t t = 0; t < p->column_count - 2; t++)
      cell_significant(
          p, field_number(point_at(json_object_get(json_array_get(tables, t), "points"), position), "max_abs"));
  }
}

/* "d = 128, 10000" over each column. False when memory runs out. */
static bool write_unclaimed(page *p, const json_t *document) {
  const json_t *profiles = json_object_get(document, "profile"), *first = first_with_tables(profiles);
  const json_t *tables = json_object_get(first, "tables");
  const size_t count = json_array_size(tables);
  if (count == 0) return true;
  page_column *columns = calloc(count + 2, sizeof *columns);
  words *titles = calloc(count, sizeof *titles);
  if (columns && titles) {
    columns[0] = (page_column){"kernel", false};
    columns[1] = (page_column){"position", true};
    for (size_t t = 0; t < count; t++) {
      const json_t *table = json_array_get(tables, t);
      snprintf(titles[t].text, sizeof titles[t].text, "d = %.30s, %.30s", words_plain(field_number(table, "dim")).text,
               words_plain(field_number(table, "base")).text);
      columns[t + 2] = (page_column){titles[t].text, true};
    }
    p->format->heading(p, 2, "Kernels that claim nothing");
    page_block(
        p, PAGE_PARAGRAPH,
        "No bound is proved for these, so they are looked at in more tables, each against its own exact values: a "
        "kernel that divides the exponent by d/2 − 1 is not blamed for that.");
    page_table(p, "Largest |error| of 16 rows from a position on, by number of columns d and base.", columns,
               count + 2);
    for (size_t i = 0; i < json_array_size(profiles); i++) write_contexts(p, json_array_get(profiles, i));
    page_table_end(p);
  }
  free(columns);
  free(titles);
  return columns && titles;
}

bool errors_write(page *p, const json_t *document, const figures *drawn) {
  subjects of;
  const bool enough = subjects_make(document, &of) && write_position(p, document, &of, drawn);
  if (enough) {
    write_causes(p, document, drawn);
    write_frequency(p, of.scanned, drawn);
    write_limits(p, document, of.scanned);
  }
  subjects_free(&of);
  return enough && write_unclaimed(p, document);
}
