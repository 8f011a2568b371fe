/* SPDX-License-Identifier: MIT */
#include "records/compare.h"

#include "common/field.h"
#include "records/read.h"
#include "records/statistics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- where it was measured ---- */

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

/* ---- accuracy ---- */

static const char *const figures[] = {"max_ulp", "max_abs", "misrounded"};
enum { FIGURES = sizeof figures / sizeof *figures };

static double figure_of(const record_result *result, int which) {
  return which == 0 ? result->max_ulp.ulp : which == 1 ? result->max_abs.abs : (double)result->misrounded;
}

/* The result of the same kernel and problem; shapes made by different versions may tell more or less of the same. */
static const record_result *counterpart(const record_accuracy *record, const record_result *result) {
  return record_find_result(record, result->kernel, result->shape.name);
}

static json_t *accuracy_name(const record_result *result) {
  return json_sprintf("%s/%s", result->kernel, result->shape.name);
}

static bool has_failed(const record_result *result) {
  RECORD_EACH(check, result, checks)
    if (!check->ok) return true;
  return false;
}

/* A sample is a lower bound: only two of the same elements tell. */
static bool are_alike(const record_result *before, const record_result *after) {
  return strcmp(before->mode, after->mode) == 0 && before->elements == after->elements &&
         (strcmp(before->mode, "exhaustive") == 0 || strcmp(before->replay, after->replay) == 0);
}

/* The verdict on figures of the same elements; those that differ are added to `told`. */
static const char *compare_figures(const record_result *before, const record_result *after,
                                   const compare_limits *limits, json_t *told) {
  int more = 0, fewer = 0;
  for (int i = 0; i < FIGURES; i++) {
    const double was = figure_of(before, i), is = figure_of(after, i);
    /* A NaN that was a number before is an error that grew. */
    if (!(is <= was * (1.0 + limits->growth)) && !(isnan(is) && isnan(was))) more++;
    if (is < was) fewer++;
    if (is != was)
      json_array_append_new(
          told, json_pack("{s:s, s:o, s:o}", "what", figures[i], "old", field_real(was), "new", field_real(is)));
  }
  return more ? "worse" : fewer ? "better" : "same";
}

static json_t *compare_results(const record_result *before, const record_result *after, const compare_limits *limits) {
  const bool was_refused = *before->refusal, is_refused = *after->refusal;
  const char *verdict = "same", *note = "";
  json_t *told = json_array();
  if (was_refused || is_refused) {
    if (was_refused != is_refused) {
      verdict = is_refused ? "worse" : "better";
      note = is_refused ? "no longer done" : "done now";
    }
  } else if (!are_alike(before, after)) {
    verdict = "undecided";
    note = "other elements were looked at";
  } else {
    verdict = compare_figures(before, after, limits, told);
  }
  if (has_failed(after) && !has_failed(before)) {
    verdict = "worse";
    note = "a check fails that did not";
  }
  return json_pack("{s:o, s:s, s:s, s:o, s:s}", "name", accuracy_name(after), "verdict", verdict, "note", note,
                   "figures", told, "replay", after->replay);
}

/* The lists of a comparison. */
typedef struct lists {
  json_t *rows, *gone, *added;
} lists;

static bool compare_accuracy(const json_t *before, const json_t *after, const compare_limits *limits,
                             const lists *made) {
  const record_accuracy *was = record_take_accuracy(before), *is = record_take_accuracy(after);
  const bool done = was && is;
  if (done) {
    RECORD_EACH(result, is, records) {
      const record_result *old = counterpart(was, result);
      json_array_append_new(old ? made->rows : made->added,
                            old ? compare_results(old, result, limits) : accuracy_name(result));
    }
    RECORD_EACH(result, was, records)
      if (!counterpart(is, result)) json_array_append_new(made->gone, accuracy_name(result));
  }
  record_free(was);
  record_free(is);
  return done;
}

/* ---- speed ---- */

/* All timings of one benchmark. */
typedef struct timings {
  double *times, *costs; /* ns; and 1 / share of the limit */
  size_t count, limited; /* numbers of times, and of costs */
  bool failed;
} timings;

/* Google Benchmark has had run_name and run_type since 1.5; older files tell the name alone. */
static const char *name_of(const record_benchmark *entry) {
  return *entry->run_name ? entry->run_name : entry->name;
}

/* Is it a repetition, or where the record has none, the median that was made of them? */
static bool counts(const record_benchmark *entry, bool medians) {
  const bool is_aggregate = strcmp(entry->run_type, "aggregate") == 0;
  return medians ? is_aggregate && strcmp(entry->aggregate_name, "median") == 0 : !is_aggregate;
}

/* Whether it has to tell a time: not what failed or was skipped, nor the fit of a complexity, nor other aggregates
   than medians. */
static bool is_timing(const record_benchmark *entry) {
  const bool is_fit = json_object_get(entry->json, "big_o") || json_object_get(entry->json, "rms");
  return !entry->error_occurred && !entry->skipped && !is_fit && (counts(entry, false) || counts(entry, true));
}

/* The first defect of a benchmark; null if it has none. */
static const char *defect_of(const record_benchmark *entry) {
  if (!*name_of(entry)) return "it has no name";
  if (!is_timing(entry)) return NULL;
  if (isnan(entry->real_time)) return "real_time is not a number of 0 or more";
  return isnan(record_nanoseconds(entry)) ? "time_unit is not ns, us, ms or s" : NULL;
}

bool compare_check(const json_t *json, char *why, size_t size) {
  const record_timing *record = record_take_timing(json);
  const char *defect = record ? NULL : "out of memory";
  if (!record) snprintf(why, size, "%s", defect);
  for (size_t i = 0; record && !defect && i < record->benchmarks_count; i++) {
    const char *name = name_of(&record->benchmarks[i]);
    defect = defect_of(&record->benchmarks[i]);
    if (defect) snprintf(why, size, "benchmarks[%zu], %.200s: %s", i, *name ? name : "''", defect);
  }
  record_free(record);
  return !defect;
}

/* From the benchmarks of these numbers. */
static bool collect(const record_timing *record, const json_t *numbers, timings *of) {
  const size_t most = json_array_size(numbers);
  *of = (timings){.times = malloc((most + 1) * sizeof *of->times), .costs = malloc((most + 1) * sizeof *of->costs)};
  if (!of->times || !of->costs) return false;
  for (int medians = 0; medians < 2 && of->count == 0; medians++)
    for (size_t i = 0; i < most; i++) {
      const record_benchmark *entry = &record->benchmarks[json_integer_value(json_array_get(numbers, i))];
      if (!counts(entry, medians)) continue;
      const double time = record_nanoseconds(entry), share = entry->of_limit;
      if (entry->error_occurred) of->failed = true;
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

/* Names in the order of the record, each with the numbers of its benchmarks. Null when memory runs out. */
static json_t *numbers_by_name(const record_timing *record) {
  json_t *by_name = json_object();
  bool done = by_name;
  for (size_t i = 0; done && i < record->benchmarks_count; i++) {
    const char *name = name_of(&record->benchmarks[i]);
    json_t *numbers = json_object_get(by_name, name);
    if (!numbers) {
      numbers = json_array();
      done = json_object_set_new(by_name, name, numbers) == 0;
    }
    done = done && json_array_append_new(numbers, json_integer((json_int_t)i)) == 0;
  }
  if (done) return by_name;
  json_decref(by_name);
  return NULL;
}

/* Two timing records, and the numbers of their benchmarks by name. */
typedef struct speeds {
  const record_timing *was, *is;
  json_t *old_numbers, *new_numbers;
} speeds;

static json_t *compare_benchmarks(const speeds *of, const char *name, const compare_limits *limits) {
  timings was = {0}, is = {0};
  json_t *row = NULL;
  if (collect(of->was, json_object_get(of->old_numbers, name), &was) &&
      collect(of->is, json_object_get(of->new_numbers, name), &is))
    row = compare_timings(name, &was, &is, limits);
  discard(&was);
  discard(&is);
  return row;
}

static bool compare_names(const speeds *of, const compare_limits *limits, const lists *made) {
  const char *name;
  json_t *numbers;
  bool done = of->old_numbers && of->new_numbers;
  json_object_foreach(of->new_numbers, name, numbers) {
    if (!json_object_get(of->old_numbers, name))
      json_array_append_new(made->added, json_string(name));
    else
      done = done && json_array_append_new(made->rows, compare_benchmarks(of, name, limits)) == 0;
  }
  json_object_foreach(of->old_numbers, name, numbers) {
    if (!json_object_get(of->new_numbers, name)) json_array_append_new(made->gone, json_string(name));
  }
  return done;
}

static bool compare_speed(const json_t *before, const json_t *after, const compare_limits *limits, const lists *made) {
  speeds of = {.was = record_take_timing(before), .is = record_take_timing(after)};
  bool done = of.was && of.is;
  if (done) {
    of.old_numbers = numbers_by_name(of.was);
    of.new_numbers = numbers_by_name(of.is);
    done = compare_names(&of, limits, made);
  }
  json_decref(of.old_numbers);
  json_decref(of.new_numbers);
  record_free(of.was);
  record_free(of.is);
  return done;
}

/* ---- both ---- */

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
  const bool done = (is_speed ? compare_speed : compare_accuracy)(before, after, limits, &(lists){rows, gone, added});
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

/* ---- for people ---- */

static void print_number(double value, const char *format, const char *none, FILE *stream) {
  if (isnan(value))
    fputs(none, stream);
  else
    fprintf(stream, format, value);
}

/* One row, its cells apart by `between`. */
static void print_speed(const record_compared *row, const char *between, FILE *stream) {
  const bool by_limit = strcmp(row->measure, "limit") == 0;
  const double sides[] = {row->old, row->new};
  for (int i = 0; i < 2; i++) {
    if (by_limit)
      fprintf(stream, "%8.1f%% of limit%s", 100.0 * sides[i], between);
    else
      fprintf(stream, "%14.4g us%s", sides[i] * 1e-3, between);
  }
  print_number(row->ratio, "%6.3f", "     -", stream);
  fputs(between, stream);
  if (isnan(row->low))
    fprintf(stream, "%14s", "-");
  else
    fprintf(stream, "%5.3f to %5.3f", row->low, row->high);
  fprintf(stream, "%sp %.4f", between, row->p);
}

static void print_figures(const record_compared *row, FILE *stream) {
  const char *before = "";
  RECORD_EACH(figure, row, figures) {
    fprintf(stream, "%s%s ", before, figure->what);
    print_number(figure->old, "%.6g", "none", stream);
    fputs(" -> ", stream);
    print_number(figure->new, "%.6g", "none", stream);
    before = ", ";
  }
}

static bool is_shown(const record_compared *row, bool all) {
  return all || strcmp(row->verdict, "same") != 0;
}

static bool is_speed(const record_comparison *comparison) {
  return strcmp(comparison->kind, "speed") == 0;
}

static void print_summary(const record_comparison *comparison, FILE *stream) {
  fprintf(stream, "%" PRIi64 " worse, %" PRIi64 " better, %" PRIi64 " the same, %" PRIi64 " undecided\n",
          comparison->worse, comparison->better, comparison->same, comparison->undecided);
}

void compare_print_text(const record_comparison *comparison, bool all, FILE *stream) {
  RECORD_EACH(other, comparison, environment) fprintf(stream, "%s: %s, now %s\n", other->what, other->old, other->new);
  RECORD_EACH(row, comparison, rows) {
    if (!is_shown(row, all)) continue;
    fprintf(stream, "%-10s %-40s ", row->verdict, row->name);
    if (is_speed(comparison))
      print_speed(row, "  ", stream);
    else
      print_figures(row, stream);
    fprintf(stream, "%s%s\n", *row->note ? "  " : "", row->note);
    if (!is_speed(comparison) && strcmp(row->verdict, "worse") == 0) fprintf(stream, "           %s\n", row->replay);
  }
  if (comparison->gone_count)
    fprintf(stream, "only in the old record: %zu, first %s\n", comparison->gone_count, comparison->gone[0]);
  if (comparison->new_count)
    fprintf(stream, "only in the new record: %zu, first %s\n", comparison->new_count, comparison->new[0]);
  print_summary(comparison, stream);
}

/* Names come from files; a bar would end the cell. */
static void print_cell(const char *text, FILE *stream) {
  for (; *text; text++) {
    if (*text == '|') fputc('\\', stream);
    fputc(*text == '\n' ? ' ' : *text, stream);
  }
  fputs(" |", stream);
}

void compare_print_markdown(const record_comparison *comparison, bool all, FILE *stream) {
  print_summary(comparison, stream);
  if (comparison->environment_count) fputs("\n| | old | new |\n|---|---|---|\n", stream);
  RECORD_EACH(other, comparison, environment) {
    fputs("| ", stream);
    print_cell(other->what, stream);
    fputc(' ', stream);
    print_cell(other->old, stream);
    fputc(' ', stream);
    print_cell(other->new, stream);
    fputc('\n', stream);
  }
  fputs(is_speed(comparison) ? "\n| verdict | benchmark | old | new | ratio | interval | rank test | |\n"
                               "|---|---|--:|--:|--:|--:|--:|---|\n"
                             : "\n| verdict | kernel/table | figures | |\n|---|---|---|---|\n",
        stream);
  RECORD_EACH(row, comparison, rows) {
    if (!is_shown(row, all)) continue;
    fprintf(stream, "| %s | ", row->verdict);
    print_cell(row->name, stream);
    fputc(' ', stream);
    if (is_speed(comparison))
      print_speed(row, " | ", stream);
    else
      print_figures(row, stream);
    fputs(" | ", stream);
    print_cell(row->note, stream);
    fputc('\n', stream);
  }
}
