/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/report.h"

#include "common/memory.h"
#include "records/compare.h"
#include "records/statistics.h"
#include "reports/page/page.h"
#include "reports/page/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pictures ------------------------------------------------------------------------------------------------ */

/* What a picture shows of a point, and what it is called. */
static const char *unit_of(const record_history_series *of) {
  if (strcmp(of->measure, "limit") == 0) return "% of the limit";
  if (strcmp(of->measure, "time") == 0) return "ns";
  return strcmp(of->measure, "accuracy") == 0 ? "ulp at most" : "instructions";
}

static double value_of(const record_history_series *of, const record_history_point *point) {
  if (strcmp(of->measure, "limit") == 0) return 100.0 * point->of_limit;
  if (strcmp(of->measure, "time") == 0) return point->ns;
  return strcmp(of->measure, "accuracy") == 0 ? point->max_ulp : point->instructions;
}

static bool is_in(const record_history_change *change, const record_history_series *series) {
  return strcmp(change->name, series->name) == 0 && strcmp(change->measure, series->measure) == 0 &&
         strcmp(change->cpu, series->cpu) == 0;
}

static bool has_changed(const record_history *found, const record_history_series *series) {
  RECORD_EACH(change, found, changes)
    if (is_in(change, series)) return true;
  return false;
}

/* Draws the median of the points from `begin` on, as a line over them. */
static void draw_level(plot *picture, const record_history_series *series, size_t begin, size_t end) {
  double *values = memory_take(end - begin, sizeof *values);
  size_t count = 0;
  for (size_t i = begin; i < end; i++) {
    const double value = value_of(series, &series->points[i]);
    if (isfinite(value)) values[count++] = value;
  }
  if (count) {
    const double level = statistics_median(values, count);
    plot_series(picture, "using 1:2 with lines linecolor rgb '#0072b2' linewidth 1.5", "");
    plot_point(picture, (double)begin - 0.5, level, level, level);
    plot_point(picture, (double)end - 0.5, level, level, level);
  }
  free(values);
}

static void draw_change(plot *picture, const record_history_change *change) {
  const double at = (double)change->at - 0.5;
  fprintf(picture->script, "set arrow from %g, graph 0 to %g, graph 1 nohead linecolor rgb '%s' linewidth 1.5\n", at,
          at, strcmp(change->verdict, "worse") == 0 ? "#d55e00" : "#009e73");
}

/* Whether there is anything to draw: not for a kernel that was refused in all records. */
static bool has_values(const record_history_series *series) {
  for (size_t i = 0; i < series->points_count; i++)
    if (isfinite(value_of(series, &series->points[i]))) return true;
  return false;
}

/* Draws a series in its order: its points, a line of their median between changes, and an upright one at each. Null
   without gnuplot. */
static char *draw(const record_history *found, const record_history_series *series, size_t number) {
  char name[40], ends[80];
  const record_history_point *first = series->points, *last = series->points + series->points_count - 1;
  snprintf(name, sizeof name, "series-%zu", number);
  snprintf(ends, sizeof ends, "%.7s to %.7s", *first->commit ? first->commit : "-", *last->commit ? last->commit : "-");
  plot *picture = plot_begin(name, PLOT_NARROW, PLOT_NARROW * 2 / 3);
  if (!picture) return NULL;
  fprintf(picture->script,
          "set key off\nset xrange [-0.5:%zu-0.5]\nset format x ''\nset ytics font ',11' format '%%.6g'\n",
          series->points_count);
  plot_axis(picture, ends, "");
  RECORD_EACH(change, found, changes)
    if (is_in(change, series)) draw_change(picture, change);
  plot_series(picture, "using 1:2 with points linecolor rgb '#808080' pointtype 7 pointsize 0.25", "");
  for (size_t i = 0; i < series->points_count; i++) {
    const double value = value_of(series, &series->points[i]);
    if (isfinite(value)) plot_point(picture, (double)i, value, value, value);
  }
  size_t begin = 0;
  RECORD_EACH(change, found, changes) {
    if (!is_in(change, series)) continue;
    draw_level(picture, series, begin, (size_t)change->at);
    begin = (size_t)change->at;
  }
  draw_level(picture, series, begin, series->points_count);
  return plot_finish(picture, "Points of one series in the order of its commits, with a line at each change");
}

/* ---- the page ------------------------------------------------------------------------------------------------ */

static void write_answer(page *p, const record_history *found) {
  page_open(p, PAGE_ANSWER);
  page_say(p, STRONG("%" PRId64 " of %zu series worse now") ".", found->worse, found->series_count);
  page_say(p,
           " Each kernel and shape is a series for each CPU: machines are never mixed. Points are in the order of %s.",
           strcmp(found->order, "git") == 0 ? "git's first parents" : "their dates");
  if (found->left_out_count)
    page_say(p, " %s left out, without a place in it.", words_number_of((int64_t)found->left_out_count, "record").text);
  page_close(p, PAGE_ANSWER);
}

static void say_verdict(page *p, const void *value) {
  const record_history_change *change = value;
  page_say(p, strcmp(change->verdict, "worse") == 0 ? STRONG("%s") : "%s", change->verdict);
}

static void say_size(page *p, const void *value) {
  page_say(p, "%s", history_size(value, ", ").text);
}

static void say_end(page *p, const void *value) {
  page_say(p, "%s", history_end(value).text);
}

static void say_commits(page *p, const void *value) {
  const record_history_change *change = value;
  if (change->has_commits) page_say(p, "%" PRId64, change->commits);
}

static void say_note(page *p, const void *value) {
  page_say(p, "%s", history_note(value).text);
}

static void write_changes(page *p, const record_history *found) {
#define IN_CHANGE(field) PAGE_AT(0, record_history_change, field)
  static const page_column columns[] = {
      {"verdict", .say = say_verdict},
      {"series", false, NULL, PAGE_TEXT, IN_CHANGE(name)},
      {"change", .say = say_size},
      {"since", false, IN_CHANGE(first_bad), .say = say_end},
      {"after", false, IN_CHANGE(last_good), .say = say_end},
      {"commits", true, .say = say_commits},
      {"CPU", false, NULL, PAGE_TEXT, IN_CHANGE(cpu)},
      {"note", .say = say_note, .prose = true},
  };
  if (!found->changes_count) return;
  PAGE_SHEET(p,
             "Changes, by series. Of times: the ratio of the medians after to those before, its interval of 95 %, and "
             "p, corrected for the number of series.",
             columns);
  RECORD_EACH(change, found, changes) page_row(p, PAGE_ROW(change));
  page_sheet_end(p);
}

/* Writes the pictures of the series that have changed, or of the others. */
static void write_pictures(page *p, const record_history *found, char *const *drawn, bool changed) {
  page_open(p, PAGE_MULTIPLES);
  for (size_t i = 0; i < found->series_count; i++) {
    const record_history_series *series = &found->series[i];
    char caption[700];
    if (has_changed(found, series) != changed) continue;
    const double newest = value_of(series, &series->points[series->points_count - 1]);
    snprintf(caption, sizeof caption, "%.200s, %.200s: %s %s%s", series->name, series->cpu,
             words_significant(newest, 4).text, unit_of(series), series->worse ? ", worse" : "");
    page_figure(p, caption, drawn[i]);
  }
  page_close(p, PAGE_MULTIPLES);
}

static void write_all_pictures(page *p, const record_history *found, char *const *drawn) {
  if (found->changes_count) {
    page_section(p, "Series that have changed");
    write_pictures(p, found, drawn, true);
  }
  page_section(p, "Series without a change");
  write_pictures(p, found, drawn, false);
}

static void write_page(const record_history *found, const page_format *format, char *const *drawn, FILE *stream) {
  page p = {.format = format, .stream = stream};
  page_begin(&p, "posenc history");
  write_answer(&p, found);
  write_changes(&p, found);
  if (drawn) write_all_pictures(&p, found, drawn);
  page_end(&p);
}

void history_write_markdown(const record_history *found, FILE *stream) {
  write_page(found, &page_markdown, NULL, stream);
}

bool history_write_html(const record_history *found, FILE *stream) {
  char **drawn = memory_take(found->series_count, sizeof *drawn);
  bool ok = true;
  for (size_t i = 0; i < found->series_count && ok; i++)
    if (has_values(&found->series[i])) ok = (drawn[i] = draw(found, &found->series[i], i)) != NULL;
  if (ok) write_page(found, &page_html, drawn, stream);
  for (size_t i = 0; i < found->series_count; i++) free(drawn[i]);
  free(drawn);
  return ok;
}
