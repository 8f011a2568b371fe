/* SPDX-License-Identifier: MIT */
/* Writes the sections on errors: against position, by cause, against frequency, and the maximum usable position. */
#include "common/memory.h"
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Positions in tables, of those in figures: short texts, GPT-scale contexts, and far beyond. */
static const struct {
  int64_t position;
  const char *name;
} landmarks[] = {{1, "2⁰"}, {1 << 10, "2¹⁰"}, {1 << 17, "2¹⁷"}, {1 << 20, "2²⁰"}, {1 << 30, "2³⁰"}};

enum { LANDMARKS = sizeof landmarks / sizeof *landmarks };

record_point point_at(const record_profile *profile, int64_t position) {
  if (profile)
    RECORD_EACH(point, profile, points)
      if (point->position == position) return *point;
  return (record_point){.max_abs = NAN, .max_ulp = NAN, .relative = NAN};
}

/* Copies of the profiles that a section is about. */
typedef struct profiles {
  record_profile *all;
  size_t all_count;
} profiles;

/* Returns " of the f32 table of dim 128, base 10000". */
static words name_table(int64_t dim, double base) {
  words result = {""};
  if (dim > 0 && isfinite(base))
    snprintf(result.text, sizeof result.text, " of the f32 table of dim %.60s, base %.60s",
             words_plain((double)dim).text, words_plain(base).text);
  return result;
}

static words name_profiled(const profiles *of) {
  return of->all_count ? name_table(of->all->dim, of->all->base) : (words){""};
}

/* Returns the number of rows that were compared from each position on. */
static words point_rows(const record_profile *first, size_t count) {
  return words_integer(count && first->points_count ? first->points->rows : RECORD_NONE);
}

/* Returns the rows of the longest scan, 0 if there was none. */
static int64_t scanned_rows(const profiles *scanned) {
  int64_t rows = RECORD_NONE;
  RECORD_EACH(profile, scanned, all)
    if (profile->rows > rows) rows = profile->rows;
  return rows;
}

/* Profiles of kernels, of recipes shown beside them, and those that have, or should have, a scan. */
typedef enum kind { KERNELS, RECIPES, SCANNED } kind;

/* Returns the profiles of that kind. `all` is to be freed. */
static profiles profiles_of(const record_report *report, kind wanted) {
  profiles chosen = {memory_take(report->profile_count, sizeof *chosen.all), 0};
  RECORD_EACH(profile, report, profile) {
    const bool recipe = report_is_recipe(report, profile->kernel), asked = profile->has_rows;
    const bool is_wanted = wanted == SCANNED ? !recipe || asked : recipe == (wanted == RECIPES);
    if (is_wanted) chosen.all[chosen.all_count++] = *profile;
  }
  return chosen;
}

/* Whether the report has a table, and not only add and rope. */
static bool has_tables(const record_report *report) {
  RECORD_EACH(table, report, shapes)
    if (!table->applied) return true;
  return false;
}

/* ---- against position ---- */

static void write_position(page *p, const record_report *report) {
  if (!p->svg[FIGURE_ERROR]) return;
  profiles kernels = profiles_of(report, KERNELS);
  page_section(p, "Error against position");
  page_paragraph(p,
                 "The largest absolute error of the %s rows from a position on%s: a sample, so a lower bound. Dashed "
                 "lines: half an ulp just below 1, the largest error of rounding to that format.%s",
                 point_rows(kernels.all, kernels.all_count).text, name_profiled(&kernels).text,
                 has_tables(report) ? ""
                                    : " This and the following sections on errors are about these tables, not about "
                                      "what is added or rotated.");
  page_figure(p, "Error against position. Kernels whose errors are within a tenth of each other share a line.",
              p->svg[FIGURE_ERROR]);
  free(kernels.all);
}

void write_why(page *p, const record_report *report) {
  if (!p->svg[FIGURE_RECIPES]) return;
  profiles recipes = profiles_of(report, RECIPES);
  page_section(p, "Errors of what frameworks compute");
  page_paragraph(p,
                 "The largest absolute error of the %s rows from a position on%s, each compared with the exact table "
                 "of its own formula. In f32 the angle of a large position has few bits left for its fraction, so the "
                 "error grows with the position. Dashed: the largest error of rounding to a format.",
                 point_rows(recipes.all, recipes.all_count).text, name_profiled(&recipes).text);
  page_figure(p, "Error against position. Errors within a factor of five of each other share a line.",
              p->svg[FIGURE_RECIPES]);
  free(recipes.all);
}

/* ---- by cause ---- */

static void say_names(page *p, const record_causes *causes) {
  for (size_t i = 0; i < causes->kernels_count; i++)
    page_say(p, "%s" CODE("%s"), i > 0 ? ", " : "", causes->kernels[i]);
}

/* Writes "frequency (55–60 %)". */
static void say_share(page *p, const char *cause, const record_share *share) {
  const words least = words_fixed(100 * share->least, 0), most = words_fixed(100 * share->most, 0);
  const bool differ = strcmp(least.text, most.text) != 0;
  page_say(p, STRONG("%s") " (%s%s%s\u00a0%%)", cause, least.text, differ ? "–" : "", differ ? most.text : "");
}

/* Writes "from 2^0 to 2^10 frequency (55–60 %) and store (23–31 %)". */
static void say_span(page *p, const record_cause_span *span) {
  const record_cause_shares *of = &span->shares;
  const record_share *const shares[CAUSES] = {&of->frequency, &of->phase, &of->trig, &of->store};
  const words from = words_position((double)span->from), to = words_position((double)span->to);
  size_t left = 0;
  for (size_t i = 0; i < CAUSES; i++) left += shares[i]->there;
  if (span->from < span->to)
    page_say(p, "from %s to %s ", from.text, to.text);
  else
    page_say(p, "at %s ", from.text);
  for (size_t i = 0; i < CAUSES; i++) {
    if (!shares[i]->there) continue;
    say_share(p, cause_names[i], shares[i]);
    if (--left > 0) page_say(p, left > 1 ? ", " : " and ");
  }
}

static void write_cause(page *p, const record_causes *causes) {
  const char *separator = ": ";
  page_open(p, PAGE_ITEM);
  say_names(p, causes);
  RECORD_EACH(span, causes, spans) {
    page_say(p, "%s", separator);
    say_span(p, span);
    separator = "; ";
  }
  page_say(p, ".");
  page_close(p, PAGE_ITEM);
}

static void write_causes(page *p, const record_report *report) {
  if (!p->svg[FIGURE_CAUSES]) return;
  page_section(p, "Error by cause");
  page_paragraph(
      p,
      "The error of an element is the sum of four parts: frequency (the kernel's frequency is not the exact "
      "one), phase (its position × frequency is not the exact product of the two), trig (its sine or cosine "
      "is not that of its phase) and store (the rounding to the table's type). Shares are of the mean |part| "
      "over all elements of the %s rows from a position on. Named below are those of a fifth or more.",
      point_rows(report->profile, report->profile_count).text);
  page_figure(
      p, "Shares of the four parts against position. Kernels whose shares are within 5 % of the error share a panel.",
      p->svg[FIGURE_CAUSES]);
  page_open(p, PAGE_LIST);
  RECORD_EACH(causes, report, causes) write_cause(p, causes);
  page_close(p, PAGE_LIST);
}

/* ---- against frequency ---- */

/* Returns the column with the largest error; null if no error is known. */
static const record_column *worst_column(const record_profile *profile) {
  const record_column *worst = NULL;
  RECORD_EACH(column, profile, columns)
    if (column->max_abs > (worst ? worst->max_abs : -1)) worst = column;
  return worst;
}

/* Returns the number of positions after which columns of that frequency repeat: 2π base^(i / (dim/2 − shift)). */
static double wavelength_of(const record_profile *profile, const record_column *column) {
  const double turn = 2 * acos(-1.0), shift = isfinite(profile->shift) ? profile->shift : 0;
  return turn * pow(profile->base, (double)column->index / ((double)profile->dim / 2 - shift));
}

/* A row of the errors against frequency: a column of a profile. */
enum { OF_PROFILE, OF_COLUMN };

static void wavelength(page *p, const void *column) {
  page_say(p, "%s", words_significant(wavelength_of(p->of[OF_PROFILE], column), 4).text);
}

#define IN_PROFILE(field) PAGE_AT(OF_PROFILE, record_profile, field)
#define IN_COLUMN(field) PAGE_AT(OF_COLUMN, record_column, field)
static const page_column frequency_columns[] = {
    {"kernel", false, "kernel", PAGE_NAME, IN_PROFILE(kernel)},
    {"frequency index", true, "index", PAGE_COUNT, IN_COLUMN(index)},
    {"wavelength", true, .in = OF_COLUMN, .say = wavelength},
    {"max |error|", true, "max_abs", PAGE_REAL, IN_COLUMN(max_abs), .digits = 3},
    {"at position", true, "position", PAGE_COUNT, IN_COLUMN(position)},
};

static void write_frequency(page *p, const profiles *scanned) {
  if (!p->svg[FIGURE_FREQUENCY]) return;
  page_section(p, "Error against frequency");
  page_paragraph(
      p,
      "The largest absolute error of a frequency's sine and cosine over every position below %s%s. Frequency "
      "index i turns once in 2π base^(2i/dim) positions.",
      words_integer(scanned_rows(scanned)).text, name_profiled(scanned).text);
  page_figure(p, "Error against frequency. Kernels whose errors are within a tenth of each other share a line.",
              p->svg[FIGURE_FREQUENCY]);
  PAGE_SHEET(p, "The worst column of each kernel: the frequency with its largest error; report.json has all.",
             frequency_columns);
  RECORD_EACH(profile, scanned, all) {
    const record_column *worst = worst_column(profile);
    if (worst) page_row(p, PAGE_ROW([OF_PROFILE] = profile, [OF_COLUMN] = worst));
  }
  page_sheet_end(p);
}

void data_frequencies(page *p, const record_report *report) {
  PAGE_SHEET(p, "", frequency_columns);
  RECORD_EACH(profile, report, profile)
    RECORD_EACH(column, profile, columns) page_row(p, PAGE_ROW([OF_PROFILE] = profile, [OF_COLUMN] = column));
  page_sheet_end(p);
}

/* ---- maximum usable position ---- */

/* Writes "none to" and the last position of a profile's scan; a dash if there was no scan. */
static void say_none(page *p) {
  const record_profile *profile = p->of[OF_PROFILE];
  if (profile->rows > 0 && profile->passes.there && profile->collisions.there)
    page_say(p, "none to %s", words_integer(profile->rows - 1).text);
  else
    page_say(p, "–");
}

static void say_end(page *p, const void *value) {
  const int64_t *position = value;
  if (*position == RECORD_NONE)
    say_none(p);
  else
    page_say(p, "%s", words_integer(*position).text);
}

static void say_pair(page *p, const void *value) {
  const int64_t *pair = *(const int64_t *const *)value;
  if (pair)
    page_say(p, "%s, %s", words_integer(pair[0]).text, words_integer(pair[1]).text);
  else
    say_none(p);
}

static void write_ends(page *p, const profiles *scanned) {
  static const page_column columns[] = {
      {"kernel", false, NULL, PAGE_NAME, IN_PROFILE(kernel)},
      {"beyond f32", true, IN_PROFILE(passes.f32), .say = say_end},
      {"beyond f16", true, IN_PROFILE(passes.f16), .say = say_end},
      {"beyond bf16", true, IN_PROFILE(passes.bf16), .say = say_end},
      {"same in f32", true, IN_PROFILE(collisions.f32), .say = say_pair},
      {"same in f16", true, IN_PROFILE(collisions.f16), .say = say_pair},
      {"same in bf16", true, IN_PROFILE(collisions.bf16), .say = say_pair},
  };
  PAGE_SHEET(p,
             "First position with an error beyond half an ulp of a format, and first two positions with the same row "
             "in it.",
             columns);
  RECORD_EACH(profile, scanned, all) page_row(p, PAGE_ROW([OF_PROFILE] = profile));
  page_sheet_end(p);
}

static void say_norm(page *p, const void *value) {
  const record_norm *norm = value;
  if (norm->there)
    page_say(p, "p = %s, " SMALL("i = %s"), words_integer(norm->position).text, words_integer(norm->index).text);
}

/* Writes the error at the position of the column. */
static void say_relative(page *p, const void *profile) {
  const int64_t *position = p->datum;
  page_say(p, "%s", words_significant(point_at(profile, *position).relative, 3).text);
}

static void write_relations(page *p, const profiles *scanned) {
  static const page_column columns[] = {
      {"kernel", false, NULL, PAGE_NAME, IN_PROFILE(kernel)},
      {"|s² + c² − 1|", true, NULL, PAGE_REAL, IN_PROFILE(norm.worst), .digits = 3},
      {"at", false, IN_PROFILE(norm), .say = say_norm},
  };
  page_columns(p, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < LANDMARKS; i++)
    page_column_add(p, (page_column){.numeric = true, .say = say_relative, .datum = &landmarks[i].position}, "%s",
                    landmarks[i].name);
  page_sheet_begin(
      p,
      "Largest |s² + c² − 1| and where, and largest |PE[p]·PE[q] − Σ cos((p − q) wᵢ)| of two rows from 2⁰, "
      "2¹⁰, … on",
      false);
  RECORD_EACH(profile, scanned, all) page_row(p, PAGE_ROW([OF_PROFILE] = profile));
  page_sheet_end(p);
}

static void write_limits(page *p, const record_report *report, const profiles *scanned) {
  const record_unique *unique = &report->unique;
  const int64_t rows = scanned_rows(scanned);
  if (rows == RECORD_NONE) return;
  page_section(p, "Maximum usable position");
  page_paragraph(
      p,
      "Every element of the first %s rows%s, was looked at. An error beyond half an ulp just below 1 is larger "
      "than that of rounding the exact value to the format. Two positions with the same row in a format "
      "cannot be told apart in it; further out, only %s rows from each power of two on were compared with one "
      "another, so there may be an earlier two than those told.",
      words_integer(rows).text, name_profiled(scanned).text, point_rows(scanned->all, scanned->all_count).text);
  write_ends(p, scanned);
  if (unique->there)
    page_paragraph(
        p,
        "In the exact table of %s rows%s, the closest two rows are " STRONG("%s apart") ", at positions that "
                                                                                        "differ by %s.",
        words_integer(unique->rows).text, name_table(unique->dim, unique->base).text,
        words_significant(unique->distance, 4).text, words_integer(unique->apart).text);
  page_paragraph(
      p,
      "In exact rows s² + c² = 1 for every pair of sine and cosine, and the product of two rows depends on p − q "
      "alone. How far the kernels are from both, over all those rows, and over pairs from the few that follow a power "
      "of two:");
  write_relations(p, scanned);
}

/* ---- kernels without a bound ---- */

static double context_error(const record_context_table *table, int64_t position) {
  RECORD_EACH(point, table, points)
    if (point->position == position) return point->max_abs;
  return NAN;
}

/* A row of the tables of a profile: a position, as the first of them has it; and the tables of the columns. */
enum { OF_POSITION = OF_COLUMN, OF_TABLES };

/* Writes the error in the table that has the place of the column's. */
static void say_context(page *p, const void *value) {
  const record_profile *profile = value;
  const record_context_point *point = p->of[OF_POSITION];
  const size_t t = (size_t)((const record_context_table *)p->datum - (const record_context_table *)p->of[OF_TABLES]);
  const double error = t < profile->tables_count ? context_error(&profile->tables[t], point->position) : NAN;
  page_say(p, "%s", words_significant(error, 3).text);
}

/* Writes figures of other tables. The columns are those of the first profile that has any: "d = 128, 10000". */
static void write_unclaimed(page *p, const record_report *report) {
  static const page_column columns[] = {
      {"kernel", false, NULL, PAGE_NAME, IN_PROFILE(kernel)},
      {"position", true, NULL, PAGE_COUNT, PAGE_AT(OF_POSITION, record_context_point, position)},
  };
  const record_profile *first = report->profile, *end = first + report->profile_count;
  while (first < end && first->tables_count == 0) first++;
  if (first == end) return;
  page_section(p, "Kernels without a bound");
  page_paragraph(p, "No bound is proved for these, so they are compared in more tables, each against its own exact "
                    "values: a kernel that divides the exponent by d/2 − 1 is not blamed for that.");
  page_columns(p, columns, sizeof columns / sizeof *columns);
  RECORD_EACH(table, first, tables)
    page_column_add(p, (page_column){.numeric = true, .say = say_context, .datum = table}, "d = %s, %s",
                    words_plain((double)table->dim).text, words_plain(table->base).text);
  page_sheet_begin(p, "Largest |error| of 16 rows from a position on, by number of columns d and base.", false);
  for (const record_profile *profile = first; profile < end; profile++)
    if (profile->tables_count)
      RECORD_EACH(point, profile->tables, points)
        page_row(p, PAGE_ROW([OF_PROFILE] = profile, [OF_POSITION] = point, [OF_TABLES] = first->tables));
  page_sheet_end(p);
}

void write_errors(page *p, const record_report *report) {
  profiles scanned = profiles_of(report, SCANNED);
  write_position(p, report);
  write_causes(p, report);
  write_frequency(p, &scanned);
  write_limits(p, report, &scanned);
  free(scanned.all);
  write_unclaimed(p, report);
}

/* ---- data ---- */

/* A row of the errors against position: a point of a profile, and its parts. */
enum { OF_POINT = OF_COLUMN, OF_PARTS };

void data_positions(page *p, const record_report *report) {
#define IN_POINT(field) PAGE_AT(OF_POINT, record_point, field)
#define IN_PARTS(field) PAGE_AT(OF_PARTS, record_parts, field)
  static const record_parts none = {.frequency = NAN, .phase = NAN, .trig = NAN, .store = NAN};
  static const page_column columns[] = {
      {NULL, false, "kernel", PAGE_TEXT, IN_PROFILE(kernel)},
      {NULL, true, "position", PAGE_COUNT, IN_POINT(position)},
      {NULL, true, "rows", PAGE_COUNT, IN_POINT(rows)},
      {NULL, true, "max_abs", PAGE_REAL, IN_POINT(max_abs)},
      {NULL, true, "relative", PAGE_REAL, IN_POINT(relative)},
      {NULL, true, "frequency", PAGE_REAL, IN_PARTS(frequency)},
      {NULL, true, "phase", PAGE_REAL, IN_PARTS(phase)},
      {NULL, true, "trig", PAGE_REAL, IN_PARTS(trig)},
      {NULL, true, "store", PAGE_REAL, IN_PARTS(store)},
  };
  PAGE_SHEET(p, "", columns);
  RECORD_EACH(profile, report, profile)
    RECORD_EACH(point, profile, points)
      page_row(p, PAGE_ROW([OF_PROFILE] = profile, [OF_POINT] = point,
                           [OF_PARTS] = point->parts.there ? &point->parts : &none));
  page_sheet_end(p);
}

void data_histogram(page *p, const record_report *report) {
  enum { OF_ROW, OF_BIN };
  static const page_column columns[] = {
      {NULL, false, "kernel", PAGE_TEXT, PAGE_AT(OF_ROW, record_row, kernel)},
      {NULL, true, "below_ulp", PAGE_REAL, PAGE_AT(OF_BIN, record_bin, below)}, /* the last bin has no end */
      {NULL, true, "elements", PAGE_COUNT, PAGE_AT(OF_BIN, record_bin, count)},
  };
  const record_headline *headline = &report->headline;
  PAGE_SHEET(p, "", columns);
  RECORD_EACH(row, headline, rows)
    RECORD_EACH(bin, row, histogram) page_row(p, PAGE_ROW([OF_ROW] = row, [OF_BIN] = bin));
  page_sheet_end(p);
}

/* ---- histograms ------------------------------------------------------------------------------------------ */

/* Writes the section with the error histogram. */

void write_histogram(page *p, const record_report *report) {
  if (!p->svg[FIGURE_HISTOGRAM]) return;
  page_section(p, "Error histogram");
  page_open(p, PAGE_PARAGRAPH);
  page_say(p, "The compared elements of " CODE("%s"), report->headline.shape);
  page_say(p, " by their error in ulp. A point counts the elements from half of its error to just below it, the "
              "leftmost all below it. Correctly rounded elements end at half an ulp.");
  page_close(p, PAGE_PARAGRAPH);
  page_figure(p, "Elements by error in ulp. Kernels whose numbers are within a tenth of each other share a line.",
              p->svg[FIGURE_HISTOGRAM]);
  page_figure(p, "Elements by error in ulp, of what frameworks ship, likewise.", p->svg[FIGURE_RECIPES_HISTOGRAM]);
}

/* ---- hard-to-round cases --------------------------------------------------------------------------------- */

/* Hard-to-round cases. */

/* Writes how many elements are misrounded, or why that is not known. */
static void misrounded(page *p, const void *value) {
  const record_row *row = value;
  if (*row->refusal || !row->max_ulp.there) {
    page_rest(p);
    page_say(p, SMALL("%s"), *row->refusal ? row->refusal : "it crashed");
  } else {
    page_say(p, "%s", words_integer(row->misrounded).text);
  }
}

/* Writes "0.5001"; if that would be 0.5000, "½ + 2.6e-11". */
static void excess(page *p, const void *value) {
  const double ulp = *(const double *)value;
  if (ulp > 0.5 && ulp < 0.5005)
    page_say(p, "½ + %s", words_significant(ulp - 0.5, 2).text);
  else
    page_say(p, "%s", words_significant(ulp, 4).text);
}

static void where(page *p, const void *value) {
  const record_witness *witness = value;
  page_say(p, "p = %s, " SMALL("i = %s, %s"), words_integer(witness->position.whole).text,
           words_integer(witness->index).text, witness->function);
}

void write_cases(page *p, const record_report *report) {
#define OF_CASE(field) PAGE_AT(0, record_row, field)
  static const page_column columns[] = {
      {"kernel", false, NULL, PAGE_NAME, OF_CASE(kernel)},
      {"misrounded", true, .say = misrounded},
      {"of", true, NULL, PAGE_COUNT, OF_CASE(elements)},
      {"max ulp", true, OF_CASE(max_ulp.ulp), .say = excess},
      {"at", false, OF_CASE(max_ulp), .say = where},
      {"try it again", false, NULL, PAGE_NAME, OF_CASE(replay), .prose = true},
  };
  if (report->cases_count == 0) return;
  page_section(p, "Hard-to-round cases");
  page_paragraph(
      p, "An element whose exact value lies nearly at the midpoint of two numbers is rounded correctly only by those "
         "who know it better than that. Each kernel was tried on files of such elements. Those in reference/worst/ are "
         "the hardest known, found by a look at every element below position 2²⁰ and confirmed by MPFR.");
  RECORD_EACH(file, report, cases) {
    char caption[200];
    snprintf(caption, sizeof caption, "The cases of %.100s: elements nearest to the midpoint of two numbers.",
             file->shape.name);
    PAGE_SHEET(p, caption, columns);
    RECORD_EACH(row, file, rows) page_row(p, PAGE_ROW(row));
    page_sheet_end(p);
  }
}
