/* SPDX-License-Identifier: MIT */
#include "records/compare.h"

#include "common/field.h"
#include "records/statistics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was measured where --------------------------------------------------------------------- */

static const char *const environment_keys[] = {
    "cpu",      "isa",    "cores",          "governor", "os",       "kernel_release",    "libc",
    "compiler", "cflags", "posenc_version", "commit",   "num_cpus", "library_build_type"};

/* A text or a number, as text to be freed. */
static char *text_of(const json_t *value) {
  if (json_is_string(value)) return strdup(json_string_value(value));
  return value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : strdup("");
}

static json_t *differences_of(const json_t *before, const json_t *after) {
  json_t *found = json_array();
  for (size_t i = 0; i < sizeof environment_keys / sizeof *environment_keys; i++) {
    char *was = text_of(json_object_get(before, environment_keys[i])),
         *is = text_of(json_object_get(after, environment_keys[i]));
    if (was && is && strcmp(was, is) != 0)
      json_array_append_new(found, json_pack("{s:s, s:s, s:s}", "what", environment_keys[i], "old", was, "new", is));
    free(was);
    free(is);
  }
  return found;
}

/* ---- accuracy ------------------------------------------------------------------------------------- */

static const char *const figures[] = {"max_ulp", "max_abs", "misrounded"};
enum { FIGURES = sizeof figures / sizeof *figures };

static double figure_of(const json_t *record, int which) {
  const json_t *value = json_object_get(record, figures[which]);
  return which == 0 ? field_number(value, "ulp") : which == 1 ? field_number(value, "abs") : json_number_value(value);
}

static const char *accuracy_name(const json_t *record, char *name, size_t size) {
  snprintf(name, size, "%s/%s", field_string(record, "kernel"), field_string(json_object_get(record, "shape"), "name"));
  return name;
}

/* Of the same kernel and problem; shapes made by different versions may tell more or less of the same. */
static const json_t *counterpart(const json_t *records, const json_t *record) {
  char wanted[256], name[256];
  accuracy_name(record, wanted, sizeof wanted);
  for (size_t i = 0; i < json_array_size(records); i++) {
    const json_t *other = json_array_get(records, i);
    if (strcmp(accuracy_name(other, name, sizeof name), wanted) == 0) return other;
  }
  return NULL;
}

static bool is_refused(const json_t *record) {
  return json_is_string(json_object_get(record, "refusal"));
}

static bool has_failed(const json_t *record) {
  const json_t *checks = json_object_get(record, "checks");
  for (size_t i = 0; i < json_array_size(checks); i++)
    if (json_is_false(json_object_get(json_array_get(checks, i), "ok"))) return true;
  return false;
}

/* A sample is a lower bound: only two of the same elements tell. */
static bool are_alike(const json_t *before, const json_t *after) {
  const bool exhaustive = strcmp(field_string(before, "mode"), "exhaustive") == 0;
  return strcmp(field_string(before, "mode"), field_string(after, "mode")) == 0 &&
         json_equal(json_object_get(before, "elements"), json_object_get(after, "elements")) &&
         (exhaustive || strcmp(field_string(before, "replay"), field_string(after, "replay")) == 0);
}

static json_t *compare_accuracy(const json_t *before, const json_t *after, const compare_limits *limits) {
  char name[256];
  const char *verdict = "same", *note = "";
  json_t *told = json_array();
  accuracy_name(after, name, sizeof name);
  if (is_refused(before) || is_refused(after)) {
    if (is_refused(before) != is_refused(after)) {
      verdict = is_refused(after) ? "worse" : "better";
      note = is_refused(after) ? "no longer done" : "done now";
    }
  } else if (!are_alike(before, after)) {
    verdict = "undecided";
    note = "other elements were looked at";
  } else {
    int more = 0, fewer = 0;
    for (int i = 0; i < FIGURES; i++) {
      const double was = figure_of(before, i), is = figure_of(after, i);
      /* What is no number is no promise kept. */
      if (!(is <= was * (1.0 + limits->growth)) && !(isnan(is) && isnan(was))) more++;
      if (is < was) fewer++;
      if (is != was)
        json_array_append_new(
            told, json_pack("{s:s, s:o, s:o}", "what", figures[i], "old", field_real(was), "new", field_real(is)));
    }
    verdict = more ? "worse" : fewer ? "better" : "same";
  }
  if (has_failed(after) && !has_failed(before)) {
    verdict = "worse";
    note = "a check fails that did not";
  }
  return json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", name, "verdict", verdict, "note", note, "figures", told,
                   "replay", field_string(after, "replay"));
}

static void compare_all_accuracy(const json_t *before, const json_t *after, const compare_limits *limits, json_t *rows,
                                 json_t *gone, json_t *added) {
  const json_t *old_records = json_object_get(before, "records"), *new_records = json_object_get(after, "records");
  char name[256];
  for (size_t i = 0; i < json_array_size(new_records); i++) {
    const json_t *record = json_array_get(new_records, i), *old_record = counterpart(old_records, record);
    if (old_record)
      json_array_append_new(rows, compare_accuracy(old_record, record, limits));
    else
      json_array_append_new(added, json_string(accuracy_name(record, name, sizeof name)));
  }
  for (size_t i = 0; i < json_array_size(old_records); i++) {
    const json_t *record = json_array_get(old_records, i);
    if (!counterpart(new_records, record))
      json_array_append_new(gone, json_string(accuracy_name(record, name, sizeof name)));
  }
}

/* ---- speed ------------------------------------------------------------------------------------------ */

/* All timings of one benchmark. */
typedef struct timings {
  double *times, *costs; /* ns; and 1 / share of the limit */
  size_t count, limited; /* so many of them, and so many that tell the limit */
  bool failed;
} timings;

/* Nanoseconds of its unit of time; NaN if that is none that Google Benchmark writes. */
static double unit_of(const json_t *entry) {
  static const struct {
    const char *unit;
    double scale;
  } units[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(field_string(entry, "time_unit"), units[i].unit) == 0) return units[i].scale;
  return NAN;
}

static double nanoseconds(const json_t *entry) {
  return unit_of(entry) * field_number(entry, "real_time");
}

/* Google Benchmark has had run_name and run_type since 1.5; older files tell the name alone. */
static const char *name_of(const json_t *entry) {
  const char *name = field_string(entry, "run_name");
  return *name ? name : field_string(entry, "name");
}

/* Of repetitions, or where the record has none, of the median that was made of them. */
static bool counts(const json_t *entry, bool medians) {
  const bool is_aggregate = strcmp(field_string(entry, "run_type"), "aggregate") == 0;
  return medians ? is_aggregate && strcmp(field_string(entry, "aggregate_name"), "median") == 0 : !is_aggregate;
}

/* Whether it has to tell a time: not what failed or was skipped, nor the fit of a complexity, nor other aggregates than medians. */
static bool is_timing(const json_t *entry) {
  const bool skipped =
      json_is_true(json_object_get(entry, "error_occurred")) || json_is_true(json_object_get(entry, "skipped"));
  const bool is_fit = json_object_get(entry, "big_o") || json_object_get(entry, "rms");
  return !skipped && !is_fit && (counts(entry, false) || counts(entry, true));
}

/* What is wrong with a benchmark; null if nothing is. */
static const char *defect_of(const json_t *entry) {
  if (!*name_of(entry)) return "it has no name";
  if (!is_timing(entry)) return NULL;
  if (!(field_number(entry, "real_time") >= 0.0)) return "real_time is not a number of 0 or more";
  return isnan(unit_of(entry)) ? "time_unit is not ns, us, ms or s" : NULL;
}

bool compare_check(const json_t *record, char *why, size_t size) {
  const json_t *benchmarks = json_object_get(record, "benchmarks");
  for (size_t i = 0; i < json_array_size(benchmarks); i++) {
    const json_t *entry = json_array_get(benchmarks, i);
    const char *defect = defect_of(entry);
    if (!defect) continue;
    snprintf(why, size, "benchmarks[%zu], %.200s: %s", i, *name_of(entry) ? name_of(entry) : "''", defect);
    return false;
  }
  return true;
}

/* From the entries of one. */
static bool collect(const json_t *entries, timings *of) {
  const size_t most = json_array_size(entries);
  *of = (timings){.times = malloc((most + 1) * sizeof *of->times), .costs = malloc((most + 1) * sizeof *of->costs)};
  if (!of->times || !of->costs) return false;
  for (int medians = 0; medians < 2 && of->count == 0; medians++)
    for (size_t i = 0; i < most; i++) {
      const json_t *entry = json_array_get(entries, i);
      if (!counts(entry, medians)) continue;
      const double time = nanoseconds(entry), share = field_number(entry, "of_limit");
      if (json_is_true(json_object_get(entry, "error_occurred"))) of->failed = true;
      if (time > 0.0) of->times[of->count++] = time;
      if (share > 0.0) of->costs[of->limited++] = 1.0 / share;
    }
  return true;
}

static void discard(timings *of) {
  free(of->times);
  free(of->costs);
}

static const char no_times[] = "no times";

static json_t *compare_timings(const char *name, timings *before, timings *after, const compare_limits *limits) {
  const bool by_limit = !limits->by_time && before->limited && before->limited == before->count && after->limited &&
                        after->limited == after->count;
  double *was = by_limit ? before->costs : before->times, *is = by_limit ? after->costs : after->times;
  const size_t n = before->count, m = after->count;
  statistics_ratio ratio = {NAN, 0.0, INFINITY};
  const char *verdict = "undecided", *note = "";
  double p = 1.0, old_median = NAN, new_median = NAN;
  if (n && m) {
    p = statistics_rank_test(was, n, is, m);
    if (!statistics_ratio_of(was, n, is, m, 1.0 - limits->alpha, &ratio)) return NULL;
    old_median = statistics_median(was, n);
    new_median = statistics_median(is, m);
  }
  if (after->failed != before->failed) {
    verdict = after->failed ? "worse" : "better";
    note = after->failed ? "fails now" : "failed before";
  } else if (n == 0 || m == 0) {
    note = no_times;
  } else if (ratio.low == 0.0) {
    note = "too few repetitions to tell";
  } else if (p <= limits->alpha && ratio.estimate > 1.0 + limits->slower) {
    verdict = "worse";
  } else if (p <= limits->alpha && ratio.estimate < 1.0 / (1.0 + limits->slower)) {
    verdict = "better";
  } else {
    /* An interval that reaches far may hide a change: no news is not good news. */
    const bool narrow = ratio.low > 1.0 / (1.0 + limits->slower) / (1.0 + limits->slower) &&
                        ratio.high < (1.0 + limits->slower) * (1.0 + limits->slower);
    verdict = narrow ? "same" : "undecided";
    note = narrow ? "" : "the spread is too wide to tell";
  }
  return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:[I, I], s:o, s:o, s:o, s:o}", "name", name, "verdict", verdict,
                   "note", note, "measure", by_limit ? "limit" : "time", "old",
                   field_real(by_limit ? 1.0 / old_median : old_median), "new",
                   field_real(by_limit ? 1.0 / new_median : new_median), "samples", (json_int_t)n, (json_int_t)m,
                   "ratio", field_real(ratio.estimate), "low", ratio.low > 0.0 ? field_real(ratio.low) : json_null(),
                   "high", field_real(ratio.high), "p", field_real(p));
}

/* By name, in the order of the record: the entries of each. Null when memory runs out. */
static json_t *entries_by_name(const json_t *benchmarks) {
  json_t *by_name = json_object();
  bool done = by_name;
  for (size_t i = 0; done && i < json_array_size(benchmarks); i++) {
    json_t *entry = json_array_get(benchmarks, i), *entries = json_object_get(by_name, name_of(entry));
    if (!entries) {
      entries = json_array();
      done = json_object_set_new(by_name, name_of(entry), entries) == 0;
    }
    done = done && json_array_append(entries, entry) == 0;
  }
  if (done) return by_name;
  json_decref(by_name);
  return NULL;
}

static json_t *compare_entries(const char *name, const json_t *before, const json_t *after,
                               const compare_limits *limits) {
  timings was = {0}, is = {0};
  json_t *row = NULL;
  if (collect(before, &was) && collect(after, &is)) row = compare_timings(name, &was, &is, limits);
  discard(&was);
  discard(&is);
  return row;
}

static bool compare_all_speed(const json_t *before, const json_t *after, const compare_limits *limits, json_t *rows,
                              json_t *gone, json_t *added) {
  json_t *was = entries_by_name(json_object_get(before, "benchmarks")),
         *is = entries_by_name(json_object_get(after, "benchmarks")), *entries;
  const char *name;
  bool done = was && is;
  json_object_foreach(is, name, entries) {
    const json_t *old_entries = json_object_get(was, name);
    if (old_entries)
      done = done && json_array_append_new(rows, compare_entries(name, old_entries, entries, limits)) == 0;
    else
      json_array_append_new(added, json_string(name));
  }
  json_object_foreach(was, name, entries) {
    if (!json_object_get(is, name)) json_array_append_new(gone, json_string(name));
  }
  json_decref(was);
  json_decref(is);
  return done;
}

/* ---- both -------------------------------------------------------------------------------------------- */

typedef enum record_kind { KIND_NONE, KIND_ACCURACY, KIND_SPEED } record_kind;

static record_kind kind_of(const json_t *record) {
  if (strncmp(field_string(record, "schema"), "posenc-accuracy-", 16) == 0) return KIND_ACCURACY;
  return json_is_array(json_object_get(record, "benchmarks")) ? KIND_SPEED : KIND_NONE;
}

static json_int_t count_of(const json_t *rows, const char *verdict) {
  json_int_t count = 0;
  for (size_t i = 0; i < json_array_size(rows); i++)
    count += strcmp(field_string(json_array_get(rows, i), "verdict"), verdict) == 0;
  return count;
}

/* Failures are told even without a time. */
static bool tell_nothing(const json_t *rows) {
  for (size_t i = 0; i < json_array_size(rows); i++)
    if (strcmp(field_string(json_array_get(rows, i), "note"), no_times) != 0) return false;
  return true;
}

json_t *compare_records(const json_t *before, const json_t *after, const compare_limits *limits, const char **why) {
  const record_kind kind = kind_of(after);
  *why = "neither an accuracy record nor Google Benchmark's JSON";
  if (kind == KIND_NONE || kind_of(before) == KIND_NONE) return NULL;
  *why = "one tells accuracy, the other speed";
  if (kind != kind_of(before)) return NULL;
  const bool is_speed = kind == KIND_SPEED;
  const char *const place = is_speed ? "context" : "environment";
  json_t *rows = json_array(), *gone = json_array(), *added = json_array();
  bool done = true;
  if (is_speed)
    done = compare_all_speed(before, after, limits, rows, gone, added);
  else
    compare_all_accuracy(before, after, limits, rows, gone, added);
  *why = !done                   ? "out of memory"
         : json_array_size(rows) ? "no benchmark has times in both"
                                 : "they have nothing in common";
  if (!done || tell_nothing(rows)) {
    json_decref(rows);
    json_decref(gone);
    json_decref(added);
    return NULL;
  }
  const json_int_t worse = count_of(rows, "worse"), better = count_of(rows, "better"), same = count_of(rows, "same"),
                   undecided = count_of(rows, "undecided");
  *why = "out of memory";
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "schema", "posenc-compare-1", "kind",
                   is_speed ? "speed" : "accuracy", "environment",
                   differences_of(json_object_get(before, place), json_object_get(after, place)), "rows", rows, "gone",
                   gone, "new", added, "worse", worse, "better", better, "same", same, "undecided", undecided);
}

/* ---- for people -------------------------------------------------------------------------------------- */

static void print_number(const json_t *value, const char *format, const char *none, FILE *stream) {
  if (json_is_number(value))
    fprintf(stream, format, json_number_value(value));
  else
    fputs(none, stream);
}

/* One row, its cells apart by `between`. */
static void print_speed(const json_t *row, const char *between, FILE *stream) {
  const bool by_limit = strcmp(field_string(row, "measure"), "limit") == 0;
  const char *const sides[] = {"old", "new"};
  for (int i = 0; i < 2; i++) {
    const double value = field_number(row, sides[i]);
    if (by_limit)
      fprintf(stream, "%8.1f%% of limit%s", 100.0 * value, between);
    else
      fprintf(stream, "%14.4g us%s", value * 1e-3, between);
  }
  print_number(json_object_get(row, "ratio"), "%6.3f", "     -", stream);
  fputs(between, stream);
  if (json_is_number(json_object_get(row, "low")))
    fprintf(stream, "%5.3f to %5.3f", field_number(row, "low"), field_number(row, "high"));
  else
    fprintf(stream, "%14s", "-");
  fprintf(stream, "%sp %.4f", between, field_number(row, "p"));
}

static void print_figures(const json_t *row, FILE *stream) {
  const json_t *told = json_object_get(row, "figures");
  const char *before = "";
  for (size_t i = 0; i < json_array_size(told); i++) {
    const json_t *figure = json_array_get(told, i);
    fprintf(stream, "%s%s ", before, field_string(figure, "what"));
    print_number(json_object_get(figure, "old"), "%.6g", "none", stream);
    fputs(" -> ", stream);
    print_number(json_object_get(figure, "new"), "%.6g", "none", stream);
    before = ", ";
  }
}

static bool is_shown(const json_t *row, bool all) {
  return all || strcmp(field_string(row, "verdict"), "same") != 0;
}

static bool is_speed(const json_t *comparison) {
  return strcmp(field_string(comparison, "kind"), "speed") == 0;
}

static void print_names(const json_t *names, const char *what, FILE *stream) {
  if (!json_array_size(names)) return;
  fprintf(stream, "%s: %zu, first %s\n", what, json_array_size(names), json_string_value(json_array_get(names, 0)));
}

static void print_summary(const json_t *comparison, FILE *stream) {
  fprintf(stream, "%" PRIi64 " worse, %" PRIi64 " better, %" PRIi64 " the same, %" PRIi64 " undecided\n",
          (int64_t)json_integer_value(json_object_get(comparison, "worse")),
          (int64_t)json_integer_value(json_object_get(comparison, "better")),
          (int64_t)json_integer_value(json_object_get(comparison, "same")),
          (int64_t)json_integer_value(json_object_get(comparison, "undecided")));
}

void compare_print_text(const json_t *comparison, bool all, FILE *stream) {
  const json_t *rows = json_object_get(comparison, "rows"), *environment = json_object_get(comparison, "environment");
  for (size_t i = 0; i < json_array_size(environment); i++) {
    const json_t *other = json_array_get(environment, i);
    fprintf(stream, "%s: %s, now %s\n", field_string(other, "what"), field_string(other, "old"),
            field_string(other, "new"));
  }
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i);
    if (!is_shown(row, all)) continue;
    fprintf(stream, "%-10s %-40s ", field_string(row, "verdict"), field_string(row, "name"));
    if (is_speed(comparison))
      print_speed(row, "  ", stream);
    else
      print_figures(row, stream);
    const char *note = field_string(row, "note");
    fprintf(stream, "%s%s\n", *note ? "  " : "", note);
    if (!is_speed(comparison) && strcmp(field_string(row, "verdict"), "worse") == 0)
      fprintf(stream, "           %s\n", field_string(row, "replay"));
  }
  print_names(json_object_get(comparison, "gone"), "only in the old record", stream);
  print_names(json_object_get(comparison, "new"), "only in the new record", stream);
  print_summary(comparison, stream);
}

/* Names come from files; a bar would end the cell. */
static void print_cell(const char *text, FILE *stream) {
  for (; *text; text++) {
    if (*text == '|') fputc('\\', stream);
    fputc(*text == '\n' ? ' ' : *text, stream);
  }
}

void compare_print_markdown(const json_t *comparison, bool all, FILE *stream) {
  const json_t *rows = json_object_get(comparison, "rows"), *environment = json_object_get(comparison, "environment");
  print_summary(comparison, stream);
  if (json_array_size(environment)) fputs("\n| | old | new |\n|---|---|---|\n", stream);
  for (size_t i = 0; i < json_array_size(environment); i++) {
    const json_t *other = json_array_get(environment, i);
    const char *const keys[] = {"what", "old", "new"};
    for (int k = 0; k < 3; k++) {
      fputs("| ", stream);
      print_cell(field_string(other, keys[k]), stream);
      fputs(k < 2 ? " " : " |\n", stream);
    }
  }
  fputs(is_speed(comparison) ? "\n| verdict | benchmark | old | new | ratio | interval | rank test | |\n"
                               "|---|---|--:|--:|--:|--:|--:|---|\n"
                             : "\n| verdict | kernel/table | figures | |\n|---|---|---|---|\n",
        stream);
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i);
    if (!is_shown(row, all)) continue;
    fprintf(stream, "| %s | ", field_string(row, "verdict"));
    print_cell(field_string(row, "name"), stream);
    fputs(" | ", stream);
    if (is_speed(comparison))
      print_speed(row, " | ", stream);
    else
      print_figures(row, stream);
    fputs(" | ", stream);
    print_cell(field_string(row, "note"), stream);
    fputs(" |\n", stream);
  }
}
