/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "records/compare.h"

#include "common/contract.h"
#include "common/environment.h"
#include "common/memory.h"
#include "common/terminal.h"
#include "records/record.h"
#include "records/statistics.h"
#include "records/timings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- verdicts on speed ----------------------------------------------------------------------------------- */

enum { MOST_MORE = 1000 };

speed_row speed_new(const char *name) {
  return (speed_row){
      .name = name, .old = NAN, .new = NAN, .ratio = {NAN, 0.0, INFINITY}, .p = 1.0, .more = RECORD_NONE};
}

double speed_confidence(const compare_thresholds *thresholds, size_t tested) {
  return 1.0 - thresholds->alpha / (double)(tested ? tested : 1);
}

/* Returns the smallest difference that the row could tell, as a fraction (1 % is 0.01); NaN if the interval is open. */
static double speed_smallest(const speed_row *row) {
  return row->ratio.low > 0.0 ? sqrt(row->ratio.high / row->ratio.low) - 1.0 : NAN;
}

/* Corrects p over the rows that are tested. */
static void correct(speed_row *rows, size_t count) {
  double *p = memory_take(count, sizeof *p);
  size_t tested = 0;
  for (size_t i = 0; i < count; i++)
    if (rows[i].tested) p[tested++] = rows[i].p;
  statistics_holm(p, tested);
  for (size_t i = 0, k = 0; i < count; i++)
    if (rows[i].tested) rows[i].p = p[k++];
  free(p);
}

/* Returns the fewest repetitions of each record, or blocks, with which the test can tell anything: its least p is
   2 / C(2 n, n) for n repetitions of each, and 2 / 2^n for n blocks. */
static double least_needed(const speed_row *row, double alpha) {
  if (row->blocks) return ceil(log2(2.0 / alpha));
  double n = 1.0;
  for (double ways = 2.0; 2.0 / ways > alpha; n++) ways *= 2.0 * (2.0 * n + 1.0) / (n + 1.0);
  return n;
}

/* Returns the number of blocks, or of repetitions of each record, in total, with which the interval would exclude equal
   speed or be within the threshold, whichever takes fewer, as the estimate changes too. The width of the interval
   shrinks as 1 / sqrt(their number). */
static double needed(const speed_row *row, const compare_thresholds *thresholds, size_t tested, double have) {
  if (!(row->ratio.low > 0.0)) return least_needed(row, thresholds->alpha / (double)tested);
  const double half = log1p(speed_smallest(row)), off = fabs(log(row->ratio.estimate)),
               gap = fmax(off, log1p(thresholds->slower) - off);
  return ceil(have * (half / gap) * (half / gap));
}

static void tell_undecided(speed_row *row, const compare_thresholds *thresholds, size_t tested) {
  const char *what = row->blocks ? "blocks" : "repetitions";
  const size_t fewer = row->counts[0] < row->counts[1] ? row->counts[0] : row->counts[1];
  const double have = (double)(row->blocks ? row->blocks : fewer),
               more = fmax(needed(row, thresholds, tested, have) - have, 1.0);
  char why[40];
  if (row->ratio.low > 0.0)
    snprintf(why, sizeof why, "the spread is too wide to tell");
  else
    snprintf(why, sizeof why, "too few %s to tell", what);
  if (more <= MOST_MORE) {
    if (row->blocks) row->more = (int64_t)more;
    snprintf(row->note, sizeof row->note, "%s: about %.0f more %s%s would decide", why, more, what,
             row->blocks ? "" : " of each");
  } else {
    snprintf(row->note, sizeof row->note, "%s, and %d more %s would not decide", why, MOST_MORE, what);
  }
}

static void judge(speed_row *row, const compare_thresholds *thresholds, size_t tested) {
  const double most = 1.0 + thresholds->slower, least = 1.0 / most;
  const bool told = row->p <= thresholds->alpha && row->ratio.low > 0.0,
             differs = told && (row->ratio.estimate > most || row->ratio.estimate < least);
  if (differs && row->disturbed) {
    row->verdict = "undecided";
    snprintf(row->note, sizeof row->note, "other processes interrupted too many repetitions: see posenc compare --run");
  } else if (differs) {
    row->verdict = row->ratio.estimate > most ? "worse" : "better";
  } else if (row->ratio.low >= least && row->ratio.high <= most) {
    row->verdict = "same";
  } else { /* no evidence of equal speed, as a wide interval may contain a change */
    row->verdict = "undecided";
    tell_undecided(row, thresholds, tested);
  }
}

void speed_judge(speed_row *rows, size_t count, const compare_thresholds *thresholds) {
  size_t tested = 0;
  for (size_t i = 0; i < count; i++) tested += rows[i].tested;
  correct(rows, count);
  for (size_t i = 0; i < count; i++)
    if (!rows[i].verdict) judge(&rows[i], thresholds, tested);
}

record_compared speed_record(const speed_row *row, record_memory *in) {
  const int64_t counts[] = {(int64_t)row->counts[0], (int64_t)row->counts[1], (int64_t)row->interrupted[0],
                            (int64_t)row->interrupted[1]};
  int64_t *kept = record_allocate(in, 4, sizeof *kept);
  memcpy(kept, counts, sizeof counts);
  return (record_compared){.there = true,
                           .name = record_format(in, "%s", row->name),
                           .verdict = row->verdict,
                           .note = record_format(in, "%s", row->note),
                           .measure = row->by_limit ? "limit" : "time",
                           .old = row->old,
                           .has_old = true,
                           .new = row->new,
                           .has_new = true,
                           .samples = kept,
                           .samples_count = 2,
                           .interrupted = kept + 2,
                           .interrupted_count = 2,
                           .ratio = row->ratio.estimate,
                           .has_ratio = true,
                           .low = row->ratio.low > 0.0 ? row->ratio.low : NAN,
                           .has_low = true,
                           .high = row->ratio.high,
                           .has_high = true,
                           .smallest = speed_smallest(row),
                           .has_smallest = true,
                           .p = row->p,
                           .has_p = true,
                           .more_blocks = row->more == RECORD_NONE ? 0 : row->more,
                           .has_more_blocks = row->more != RECORD_NONE};
}

/* ---- compare --------------------------------------------------------------------------------------------- */

/* ---- speed ---- */

enum { LEAST_LEFT = 4 }; /* fewest repetitions of a side if interrupted ones are left out */

/* The note on a benchmark that has no times on a side. */
static const char compare_no_times[] = "no times";

/* The timings of one benchmark in both records. */
typedef struct pair {
  timings was, is;
} pair;

/* Sets the verdict if no statistical test is needed; else marks the row as tested. */
static void look_at(const pair *of, speed_row *row) {
  const timings *was = &of->was, *is = &of->is;
  const size_t interrupted = was->interrupted + is->interrupted, all = interrupted + was->count + is->count;
  row->counts[0] = was->count;
  row->counts[1] = is->count;
  row->interrupted[0] = was->interrupted;
  row->interrupted[1] = is->interrupted;
  if (is->failed != was->failed) {
    row->verdict = is->failed ? "worse" : "better";
    snprintf(row->note, sizeof row->note, "%s", is->failed ? "fails now" : "failed before");
  } else if ((was->interrupted && was->count < LEAST_LEFT) || (is->interrupted && is->count < LEAST_LEFT)) {
    row->verdict = "undecided";
    snprintf(
        row->note, sizeof row->note,
        "other processes interrupted %zu of %zu repetitions; %d of each record are needed: see posenc compare --run",
        interrupted, all, LEAST_LEFT);
  } else if (!was->count || !is->count) {
    row->verdict = "undecided";
    snprintf(row->note, sizeof row->note, "%s", compare_no_times);
  } else {
    row->tested = true;
  }
}

static void test(pair *of, const compare_thresholds *thresholds, double confidence, speed_row *row) {
  timings *was = &of->was, *is = &of->is;
  const bool by_limit =
      !thresholds->by_time && was->limited && was->limited == was->count && is->limited && is->limited == is->count;
  double *a = by_limit ? was->costs : was->times, *b = by_limit ? is->costs : is->times;
  row->by_limit = by_limit;
  if (!was->count || !is->count) return;
  if (row->tested) row->p = statistics_rank_test(a, was->count, b, is->count);
  const double old = statistics_median(a, was->count), new = statistics_median(b, is->count);
  row->old = by_limit ? 1.0 / old : old;
  row->new = by_limit ? 1.0 / new : new;
  row->ratio = statistics_ratio_of(a, was->count, b, is->count, confidence);
}

/*
 * Marks the rows in which a difference is no evidence, because other processes interrupted more than an eighth of the
 * repetitions: the others had to share caches and clock frequency. Rows without shares of a limit are also marked if so
 * many of all repetitions were interrupted, as nothing tells how fast the machine was. In 15 comparisons of six records
 * of one program, beside two busy processes on two cores, 8 of 270 rows would otherwise have differed, in each of which
 * a sixth or more was interrupted.
 */
static void mark_disturbed(speed_row *rows, size_t count) {
  enum { PART = 8 };
  size_t interrupted = 0, all = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t here = rows[i].interrupted[0] + rows[i].interrupted[1],
                 of = here + rows[i].counts[0] + rows[i].counts[1];
    rows[i].disturbed = PART * here > of;
    interrupted += here;
    all += of;
  }
  for (size_t i = 0; i < count; i++)
    rows[i].disturbed = rows[i].disturbed || (!rows[i].by_limit && PART * interrupted > all);
}

/* Judges the benchmarks that have a pair. */
static void compare_pairs(pair *pairs, speed_row *found, size_t count, const compare_thresholds *thresholds) {
  size_t tested = 0;
  for (size_t i = 0; i < count; i++) {
    look_at(&pairs[i], &found[i]);
    tested += found[i].tested;
  }
  for (size_t i = 0; i < count; i++) test(&pairs[i], thresholds, speed_confidence(thresholds, tested), &found[i]);
  mark_disturbed(found, count);
  speed_judge(found, count, thresholds);
}

/* Sets the rows of the benchmarks that both records have. */
static void compare_common(record_comparison *made, const timings_record *was, const timings_record *is,
                           const compare_thresholds *thresholds, record_memory *in) {
  const size_t most = is->names_count;
  pair *pairs = memory_take(most, sizeof *pairs);
  speed_row *found = memory_take(most, sizeof *found);
  record_compared *rows = record_allocate(in, most, sizeof *rows);
  size_t count = 0;
  for (size_t i = 0; i < most; i++) {
    const char *name = is->names[i];
    if (!timings_has(was, name)) continue;
    found[count] = speed_new(name);
    pairs[count++] = (pair){timings_collect(was, name, true), timings_collect(is, name, true)};
  }
  compare_pairs(pairs, found, count, thresholds);
  for (size_t i = 0; i < count; i++) {
    rows[i] = speed_record(&found[i], in);
    timings_discard(&pairs[i].was);
    timings_discard(&pairs[i].is);
  }
  made->rows = rows;
  made->rows_count = count;
  free(pairs);
  free(found);
}

/* Returns the names in one record that the other lacks. */
static const char *const *list_missing(const timings_record *of, const timings_record *other, record_memory *in,
                                       size_t *count) {
  const char **names = record_allocate(in, of->names_count, sizeof(*names));
  *count = 0;
  for (size_t i = 0; i < of->names_count; i++)
    if (!timings_has(other, of->names[i])) names[(*count)++] = of->names[i];
  return names;
}

/* Sets the rows of the benchmarks that both records have, and the names of those that one record has. */
static void compare_timings(record_comparison *made, const record_timing *before, const record_timing *after,
                            const compare_thresholds *thresholds, record_memory *in) {
  timings_record was, is;
  timings_open(&was, before);
  timings_open(&is, after);
  compare_common(made, &was, &is, thresholds, in);
  made->gone = list_missing(&was, &is, in, &made->gone_count);
  made->new = list_missing(&is, &was, in, &made->new_count);
  timings_close(&was);
  timings_close(&is);
}

/* ---- environment ---- */

const record_difference *compare_environments(const record_facts *before, const record_facts *after, record_memory *in,
                                              size_t *count) {
  record_difference *found = record_allocate(in, ENVIRONMENT_FACTS, sizeof *found);
  const char *key;
  *count = 0;
  for (size_t i = 0; (key = environment_key(FACT_COMPARED, i)); i++) {
    const record_fact *was = record_find_fact(before, key), *is = record_find_fact(after, key);
    const char *old = was ? was->value : "", *new = is ? is->value : "";
    if (strcmp(old, new) != 0)
      found[(*count)++] = (record_difference){.there = true, .what = key, .old = old, .new = new};
  }
  return found;
}

/* ---- accuracy ---- */

static const char *const figures[] = {"max_ulp", "max_abs", "misrounded"};
enum { FIGURES = sizeof figures / sizeof *figures };

static double figure_of(const record_result *result, int which) {
  const double all[FIGURES] = {result->max_ulp.ulp, result->max_abs.abs, (double)result->misrounded};
  return all[which];
}

/* Returns the result of the same kernel and problem. Other versions may have recorded more or fewer fields of the
   shape. */
static const record_result *counterpart(const record_accuracy *record, const record_result *result) {
  return record_find_result(record, result->kernel, result->shape.name);
}

static const char *accuracy_name(const record_result *result, record_memory *in) {
  return record_format(in, "%s/%s", result->kernel, result->shape.name);
}

static bool has_failed(const record_result *result) {
  RECORD_EACH(check, result, checks)
    if (!check->ok) return true;
  return false;
}

/* Whether two results are of the same elements. The error of a sample is a lower bound, so results of different samples
   cannot be compared. Of hard cases, the replay command has the file. */
static bool are_alike(const compare_side *before, const compare_side *after) {
  const record_result *one = before->result, *other = after->result;
  const record_elements was = RECORD_ELEMENTS_OF(one, &one->shape, before->record),
                        is = RECORD_ELEMENTS_OF(other, &other->shape, after->record);
  return !record_unlike_elements(&was, &is, NULL) &&
         (strcmp(one->mode, "cases") != 0 || strcmp(one->replay, other->replay) == 0);
}

/* Returns the verdict on figures of the same elements. Tells the figures that differ. */
static const char *compare_figures(const record_result *before, const record_result *after,
                                   const compare_thresholds *thresholds, record_compared *row, record_memory *in) {
  record_figure_change *told = record_allocate(in, FIGURES, sizeof *told);
  int more = 0, fewer = 0;
  for (int i = 0; i < FIGURES; i++) {
    const double was = figure_of(before, i), is = figure_of(after, i);
    /* A NaN that was a number before is a larger error. */
    if (!(is <= was * (1.0 + thresholds->growth)) && !(isnan(is) && isnan(was))) more++;
    if (is < was) fewer++;
    if (is != was)
      told[row->figures_count++] = (record_figure_change){.there = true, .what = figures[i], .old = was, .new = is};
  }
  row->figures = told;
  if (more) return "worse";
  return fewer ? "better" : "same";
}

record_compared compare_results(const compare_side *was, const compare_side *is, const compare_thresholds *thresholds,
                                record_memory *in) {
  const record_result *before = was->result, *after = is->result;
  const bool was_refused = *before->refusal, is_refused = *after->refusal;
  record_compared row = {.there = true,
                         .name = accuracy_name(after, in),
                         .verdict = "same",
                         .note = "",
                         .figures = record_empty_list,
                         .replay = after->replay,
                         .has_replay = true,
                         .measure = ""};
  if (was_refused || is_refused) {
    if (was_refused != is_refused) {
      row.verdict = is_refused ? "worse" : "better";
      row.note = is_refused ? "no longer done" : "done now";
    }
  } else if (!are_alike(was, is)) {
    row.verdict = "undecided";
    row.note = "other elements were looked at";
  } else {
    row.verdict = compare_figures(before, after, thresholds, &row, in);
  }
  if (has_failed(after) && !has_failed(before)) {
    row.verdict = "worse";
    row.note = "a check fails that did not";
  }
  return row;
}

static void compare_accuracy(record_comparison *made, const record_accuracy *was, const record_accuracy *is,
                             const compare_thresholds *thresholds, record_memory *in) {
  record_compared *rows = record_allocate(in, is->records_count, sizeof *rows);
  const char **added = record_allocate(in, is->records_count, sizeof(*added)),
             **gone = record_allocate(in, was->records_count, sizeof(*gone));
  RECORD_EACH(result, is, records) {
    const record_result *old = counterpart(was, result);
    if (old)
      rows[made->rows_count++] =
          compare_results(&(compare_side){was, old}, &(compare_side){is, result}, thresholds, in);
    else
      added[made->new_count++] = accuracy_name(result, in);
  }
  RECORD_EACH(result, was, records)
    if (!counterpart(is, result)) gone[made->gone_count++] = accuracy_name(result, in);
  made->rows = rows;
  made->new = added;
  made->gone = gone;
}

/* ---- accuracy and speed ---- */

bool compare_open(compare_input *made, json_t *json, char *why, size_t size) {
  const bool is_accuracy = record_is_of(json, "posenc-accuracy-");
  *made = (compare_input){.accuracy = is_accuracy ? record_take_accuracy(json) : NULL,
                          .timing = is_accuracy ? NULL : record_take_timing(json)};
  if (is_accuracy || !made->timing->benchmarks) {
    record_free(made->timing);
    made->timing = NULL;
    return true;
  }
  return timings_check(made->timing, why, size);
}

void compare_close(compare_input *of) {
  record_free(of->accuracy);
  record_free(of->timing);
}

static int64_t count_of(const record_comparison *of, const char *verdict) {
  int64_t count = 0;
  RECORD_EACH(row, of, rows) count += strcmp(row->verdict, verdict) == 0;
  return count;
}

/* Whether no row has times. Failures are printed even if nothing was timed. */
static bool tells_nothing(const record_comparison *of) {
  RECORD_EACH(row, of, rows)
    if (strcmp(row->note, compare_no_times) != 0) return false;
  return true;
}

/* Returns the largest of the rows' smallest differences, NaN if an interval is open. */
static double smallest_of(const record_comparison *of) {
  double most = of->rows_count ? 0.0 : NAN;
  RECORD_EACH(row, of, rows) most = row->smallest <= most ? most : row->smallest; /* a NaN stays */
  return most;
}

static void count_verdicts(record_comparison *made) {
  made->worse = count_of(made, "worse");
  made->better = count_of(made, "better");
  made->same = count_of(made, "same");
  made->undecided = count_of(made, "undecided");
}

bool compare_records(record_comparison *made, const compare_input *before, const compare_input *after,
                     const compare_thresholds *thresholds, record_memory *in, const char **why) {
  const bool is_speed = after->timing;
  *made = (record_comparison){
      .there = true, .schema = "posenc-compare-1", .kind = is_speed ? "speed" : "accuracy", .smallest = NAN};
  *why = "neither an accuracy record nor Google Benchmark's JSON";
  if ((!after->timing && !after->accuracy) || (!before->timing && !before->accuracy)) return false;
  *why = "one tells accuracy, the other speed";
  if (is_speed != !!before->timing) return false;
  if (is_speed)
    compare_timings(made, before->timing, after->timing, thresholds, in);
  else
    compare_accuracy(made, before->accuracy, after->accuracy, thresholds, in);
  made->environment = compare_environments(is_speed ? &before->timing->context.facts : &before->accuracy->environment,
                                           is_speed ? &after->timing->context.facts : &after->accuracy->environment, in,
                                           &made->environment_count);
  *why = made->rows_count ? "no benchmark has times in both" : "they have nothing in common";
  count_verdicts(made);
  return !tells_nothing(made);
}

record_comparison compare_blocks(const blocks *all, const record_timing *before, const record_timing *after,
                                 const compare_thresholds *thresholds, record_memory *in) {
  record_comparison made = {.there = true, .schema = "posenc-compare-1", .kind = "speed"};
  made.rows = blocks_compare(all, thresholds, in, &made.rows_count);
  made.environment = compare_environments(&before->context.facts, &after->context.facts, in, &made.environment_count);
  count_verdicts(&made);
  made.blocks = (int64_t)blocks_count(all);
  made.smallest = smallest_of(&made);
  made.has_blocks = made.has_smallest = true;
  return made;
}

/* ---- print ----------------------------------------------------------------------------------------------- */

/* Prints comparisons as text and as a Markdown table. */

static void print_number(double value, const char *format, const char *none, FILE *stream) {
  if (isnan(value))
    fputs(none, stream);
  else
    fprintf(stream, format, value);
}

/* Prints one row, with `between` after each cell. */
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
  fputs(between, stream);
  if (isnan(row->smallest))
    fprintf(stream, "%8s", "-");
  else
    fprintf(stream, "%7.1f%%", 100.0 * row->smallest);
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
  if (!comparison->blocks) return;
  fprintf(stream, "%" PRIi64 " blocks of 4 processes; ", comparison->blocks);
  if (isnan(comparison->smallest))
    fputs("too few to tell every benchmark's differences\n", stream);
  else
    fprintf(stream, "significant in every benchmark from a difference of %.1f%% on\n", 100.0 * comparison->smallest);
}

void compare_print_text(const record_comparison *comparison, bool all, FILE *stream) {
  RECORD_EACH(other, comparison, environment) fprintf(stream, "%s: %s, now %s\n", other->what, other->old, other->new);
  int width = 40;
  RECORD_EACH(row, comparison, rows)
    if (is_shown(row, all)) width = width_with(width, row->name);
  RECORD_EACH(row, comparison, rows) {
    if (!is_shown(row, all)) continue;
    fprintf(stream, "%-10s %-*s ", row->verdict, width, row->name);
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

/* Prints the text of a cell. Names come from files. */
static void print_cell(const char *text, FILE *stream) {
  plain_markdown(stream, text);
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
  fputs(is_speed(comparison) ? "\n| verdict | benchmark | old | new | ratio | interval | smallest | p | |\n"
                               "|---|---|--:|--:|--:|--:|--:|--:|---|\n"
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
