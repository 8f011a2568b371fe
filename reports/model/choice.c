/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/model/answer.h"

#include "common/contract.h"
#include "common/memory.h"
#include "records/statistics.h"
#include "records/timings.h"
#include "reports/page/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

double choice_default_abs(posenc_dtype dtype) {
  static const double most[] = {
      [POSENC_F32] = 0x1p-24, [POSENC_F64] = 0x1p-44, [POSENC_F16] = 0x1p-11, [POSENC_BF16] = 0x1p-8};
  return most[dtype];
}

/* ---- candidates ---- */

/* Whether it was verified and no check failed. */
static bool is_ok(const record_result *result) {
  if (!result) return false;
  RECORD_EACH(check, result, checks)
    if (!check->ok) return false;
  return result->checks_count > 0;
}

/* The candidates: kernels that were verified and timed. */
typedef struct makings {
  const record_accuracy *accuracy;
  const record_timing *timing;
  repetition_index *times;
  const char *shape, *table, *mode;
  choice_budget budget;
  const choice_workload *work;
  double *sums[2]; /* room for the timings of two kernels */
} makings;

/* Returns the part of a plan's time that a call bears. */
static double borne(const makings *from, double plan_seconds) {
  return from->work->calls > 0 ? plan_seconds / (double)from->work->calls : 0.0;
}

/* Collects the timings of a kernel in a mode, sorted, in from->times->values. Returns their number, and their median in
   *median. */
static size_t collect(const makings *from, const char *mode, const char *kernel, const char *figure, double *median) {
  const size_t count = repetitions_collect(from->times, mode, from->shape, kernel, figure);
  *median = count ? statistics_median(from->times->values, count) : NAN;
  return count;
}

/* Collects the timings of a kernel's plans. If there are none, the plan that was made before the calls were timed has a
   time, once for each of their timings. Returns the number, and whether plans were timed. */
static size_t collect_plans(const makings *from, const char *kernel, bool *is_timed) {
  const size_t count = repetitions_collect(from->times, "plan", from->shape, kernel, "real_time");
  *is_timed = count > 0;
  return count ? count : repetitions_collect(from->times, from->mode, from->shape, kernel, "plan_once_ns");
}

/* Makes a candidate. Returns false if the kernel was not timed. */
static bool make_candidate(const makings *from, const char *kernel, record_candidate *made) {
  static const record_result none = {.mode = "", .max_ulp.ulp = NAN, .max_abs.abs = NAN};
  static const double second = 1e-9; /* one ns, the unit of real_time, in seconds */
  const record_result *found = record_find_result(from->accuracy, kernel, from->table), *result = found ? found : &none;
  double rate, share, ns, plan_bytes;
  bool is_timed;
  double *const values = from->times->values;
  const size_t plans = collect_plans(from, kernel, &is_timed);
  const double plan_ns = plans ? statistics_median(values, plans) : NAN,
               known = is_timed || from->work->calls == 0 ? 1.0 : NAN, cheapest = plans ? values[0] : NAN,
               dearest = plans ? values[plans - 1] : NAN;
  collect(from, from->mode, kernel, "bytes_per_second", &rate);
  collect(from, from->mode, kernel, "of_limit", &share);
  collect(from, from->mode, kernel, "plan_bytes", &plan_bytes);
  const size_t count = collect(from, from->mode, kernel, "real_time", &ns);
  if (count == 0) return false;
  const double unit = second * from->work->share;
  *made = (record_candidate){
      .kernel = kernel,
      .ok = is_ok(found) && is_ok(record_find_result(from->accuracy, kernel, from->shape)),
      .within = result->max_ulp.ulp <= from->budget.max_ulp && result->max_abs.abs <= from->budget.max_abs,
      .exhaustive = strcmp(result->mode, "exhaustive") == 0,
      .max_ulp = result->max_ulp.ulp,
      .max_abs = result->max_abs.abs,
      .misrounded = result->misrounded,
      .elements = result->elements,
      .elsewhere = from->work->elsewhere && from->work->elsewhere(kernel),
      .has_elsewhere = true,
      .seconds = ns * unit,
      .low = values[0] * unit,
      .high = values[count - 1] * unit,
      .bytes_per_second = rate,
      .of_limit = share,
      .plan_seconds = plan_ns * second,
      .has_plan_seconds = true,
      .plan_bytes = plan_bytes,
      .has_plan_bytes = true,
      .total_seconds = ns * unit + borne(from, plan_ns * second),
      .has_total_seconds = true,
      .total_low = known * (values[0] * unit + borne(from, cheapest * second)),
      .has_total_low = true,
      .total_high = known * (values[count - 1] * unit + borne(from, dearest * second)),
      .has_total_high = true,
      .has_front = true,
  };
  return true;
}

/* Makes candidates of all kernels that were timed, sorted by the time of a call with its share of the
   plan. Returns their number. */
static size_t make_candidates(const makings *from, record_candidate *candidates) {
  size_t count = 0;
  RECORD_EACH(kernel, from->accuracy, kernels) {
    record_candidate one;
    if (!make_candidate(from, kernel->name, &one)) continue;
    size_t at = count++;
    for (; at > 0 && candidates[at - 1].total_seconds > one.total_seconds; at--) candidates[at] = candidates[at - 1];
    candidates[at] = one;
  }
  return count;
}

/* Returns the candidates as sorted points, which the caller frees. */
static pareto_point *points_of(const record_candidate *candidates, size_t count) {
  pareto_point *points = memory_take(count, sizeof *points);
  for (size_t i = 0; i < count; i++) {
    const record_candidate *one = &candidates[i];
    points[i] = (pareto_point){.name = one->kernel,
                               .index = i,
                               .time = 1e6 * one->total_seconds,
                               .low = 1e6 * fmin(one->total_seconds, one->total_low),
                               .high = 1e6 * fmax(one->total_seconds, one->total_high),
                               .error = isnan(one->max_abs) ? 1.0 : one->max_abs,
                               .elements = (double)one->elements,
                               .counts = one->ok};
  }
  pareto_sort(points, count);
  return points;
}

static void mark_front(record_candidate *candidates, size_t count) {
  pareto_point *points = points_of(candidates, count);
  for (size_t i = 0; i < count; i++) candidates[points[i].index].front = points[i].front;
  free(points);
}

/* ---- the choice ---- */

/* Collects the timings of a call, and adds to each what a call bears of a plan's timing: that of the same repetition,
   as what disturbs one may disturb both. Returns their number, and whether the spread of plans is in them. */
static size_t collect_sums(const makings *from, const char *kernel, double *sums, bool *is_known) {
  const double *const values = from->times->values;
  size_t count = repetitions_collect(from->times, from->mode, from->shape, kernel, "real_time");
  for (size_t i = 0; i < count; i++) sums[i] = from->work->share * values[i];
  *is_known = true;
  if (from->work->calls == 0) return count;
  const size_t plans = collect_plans(from, kernel, is_known);
  if (count > plans) count = plans;
  for (size_t i = 0; i < count; i++) sums[i] += borne(from, values[i]);
  return count;
}

/* Compares the second kernel with the first. There is no interval if the time of one plan is all that is known of
   either's plans. */
static record_next_candidate compare_kernels(const makings *from, const record_candidate *one,
                                             const record_candidate *other) {
  bool is_known, is_other_known;
  const size_t n = collect_sums(from, one->kernel, from->sums[0], &is_known),
               m = collect_sums(from, other->kernel, from->sums[1], &is_other_known);
  const bool has_interval = is_known && is_other_known;
  const statistics_ratio ratio = statistics_ratio_of(from->sums[0], n, from->sums[1], m, 0.95);
  return (record_next_candidate){.there = true,
                                 .kernel = other->kernel,
                                 .ratio = ratio.estimate,
                                 .low = has_interval && ratio.low > 0.0 ? ratio.low : NAN,
                                 .high = has_interval ? ratio.high : INFINITY};
}

static bool may_be_chosen(const record_candidate *one) {
  return one->ok && one->within && !one->elsewhere;
}

/* From `least` to `most` calls of one plan, which may be infinite, the chosen kernel takes the least time, plans
   included. `once` takes the least for a single call, `later` for very many. Both are the chosen one where none takes
   less, or the times of plans are not known. */
typedef struct validity {
  const record_candidate *once, *later;
  double least, most;
} validity;

static validity validity_of(const record_candidate *candidates, size_t count, const record_candidate *chosen) {
  validity v = {chosen, chosen, 1.0, INFINITY};
  for (size_t i = 0; i < count; i++) {
    const record_candidate *one = &candidates[i];
    const double dearer = chosen->plan_seconds - one->plan_seconds, saved = one->seconds - chosen->seconds;
    if (!may_be_chosen(one)) continue;
    if (saved > 0.0 && dearer > 0.0) {
      if (one->plan_seconds + one->seconds < v.once->plan_seconds + v.once->seconds) v.once = one;
      v.least = fmax(v.least, ceil(dearer / saved));
    }
    if (saved < 0.0 && dearer < 0.0) {
      if (one->seconds < v.later->seconds) v.later = one;
      v.most = fmin(v.most, floor(dearer / saved));
    }
  }
  return v;
}

/* Returns a number of calls as an integer; 0 for infinity. */
static int64_t calls_of(double calls) {
  return isinf(calls) ? 0 : (int64_t)fmin(calls, 1e15);
}

static record_choice choose(const makings *from, const record_candidate *candidates, size_t count) {
  const record_candidate *chosen = NULL, *next = NULL;
  for (size_t i = 0; i < count; i++) {
    const record_candidate *one = &candidates[i];
    if (!may_be_chosen(one)) continue;
    if (!chosen)
      chosen = one;
    else if (!next)
      next = one;
  }
  const validity v = chosen ? validity_of(candidates, count, chosen) : (validity){.least = 1.0, .most = INFINITY};
  return (record_choice){
      .there = true,
      .schema = "posenc-choice-1",
      .shape = from->shape,
      .mode = from->mode,
      .environment = from->accuracy->environment,
      .others = from->timing->context.others,
      .max_ulp = from->budget.max_ulp,
      .max_abs = from->budget.max_abs,
      .candidates = candidates,
      .candidates_count = count,
      .choice = chosen ? chosen->kernel : record_null,
      .once = v.once ? v.once->kernel : record_null,
      .has_once = true,
      .least_calls = calls_of(v.least),
      .has_least_calls = true,
      .later = v.later ? v.later->kernel : record_null,
      .has_later = true,
      .most_calls = calls_of(v.most),
      .has_most_calls = true,
      .rows = from->work->rows,
      .has_rows = true,
      .calls = from->work->calls,
      .has_calls = true,
      .next = next ? compare_kernels(from, chosen, next)
                   : (record_next_candidate){.kernel = "", .ratio = NAN, .low = NAN, .high = NAN},
  };
}

record_choice choice_of(const record_accuracy *accuracy, const record_timing *timed, const char *shape,
                        const char *table, const char *mode, choice_budget budget, const choice_workload *work,
                        record_memory *in) {
  repetition_index *times = repetitions_open(timed);
  double *sums = memory_take(2 * times->count, sizeof *sums);
  const makings from = {accuracy, timed, times, shape, table, mode, budget, work, {sums, sums + times->count}};
  record_candidate *candidates = record_allocate(in, accuracy->kernels_count, sizeof *candidates);
  const size_t count = make_candidates(&from, candidates);
  mark_front(candidates, count);
  const record_choice made = choose(&from, candidates, count);
  free(sums);
  repetitions_close(times);
  return made;
}

/* ---- as text ---- */

static void print_candidate(const record_candidate *one, bool has_total, int width, FILE *stream) {
  const char *lack = one->exhaustive ? "" : "a sample";
  if (one->elsewhere) lack = "not in libposenc";
  if (!one->within) lack = "beyond the budget";
  if (!one->ok) lack = "breaks its promise";
  fprintf(stream, "%c %-*s", one->front ? '*' : ' ', width, one->kernel);
  if (has_total) fprintf(stream, " %11.4g", 1e6 * one->total_seconds);
  fprintf(stream, " %11.4g %6.1f%% %8.2f %7.1f%% %9.3g  %9.4g %10.3g %12" PRId64 "  %s\n", 1e6 * one->seconds,
          100.0 * ((one->high - one->low) / one->seconds), 1e-9 * one->bytes_per_second, 100.0 * one->of_limit,
          1e6 * one->plan_seconds, fmin(one->max_ulp, INFINITY), fmin(one->max_abs, INFINITY), one->misrounded, lack);
}

static void print_next(const record_next_candidate *next, FILE *stream) {
  fprintf(stream, "; %s takes %.2f times as long", next->kernel, next->ratio);
  if (isnan(next->low))
    fputs(", of too few timings to be sure", stream);
  else
    fprintf(stream, " (%.2f to %.2f%s)", next->low, next->high, next->low > 1.0 ? "" : ": not told apart");
}

/* Tells what competitor or recipe is faster than the choice. */
static void print_faster(const record_choice *choice, const record_candidate *chosen, FILE *stream) {
  const record_candidate *first = choice->candidates;
  while (first < chosen && !(first->elsewhere && first->ok && first->within)) first++;
  if (first < chosen)
    fprintf(stream, "; %s, which is not in libposenc, takes %.2f times as long", first->kernel,
            first->total_seconds / chosen->total_seconds);
}

/* Tells for how many calls of one plan the choice holds. */
static void print_validity(const record_choice *choice, const record_candidate *chosen, FILE *stream) {
  const bool is_begun = strcmp(choice->once, choice->choice) != 0,
             is_ended = choice->most_calls > 0 && strcmp(choice->later, choice->choice) != 0;
  if (choice->calls > 0)
    fprintf(stream, "; with its share of the plan, a call takes %.4g us", 1e6 * chosen->total_seconds);
  if (is_begun)
    fprintf(stream,
            "; its plan takes %.3g us, so for fewer than %" PRId64 " calls of one plan, others such as %s take less",
            1e6 * chosen->plan_seconds, choice->least_calls, choice->once);
  if (is_ended)
    fprintf(stream, "; for more than %" PRId64 " calls of one plan, others such as %s take less", choice->most_calls,
            choice->later);
  if (choice->calls > 0 && !is_begun && !is_ended) fputs("; that holds for any number of calls of one plan", stream);
}

static void print_workload(const record_choice *choice, FILE *stream) {
  if (choice->calls > 0)
    fprintf(stream,
            "for %" PRId64 " %s of %" PRId64
            " %s with one plan, whose time is counted: total us is a call with its share of the plan\n",
            choice->calls, choice->calls == 1 ? "call" : "calls", choice->rows, choice->rows == 1 ? "row" : "rows");
}

static void print_reason(const record_choice *choice, FILE *stream) {
  RECORD_EACH(one, choice, candidates) {
    if (strcmp(one->kernel, choice->choice) != 0) continue;
    fprintf(stream,
            "take %s: the fastest within the budget; %s %" PRId64 " elements %" PRId64
            " are misrounded, none is wrong by more than %.7g ulp",
            one->kernel, one->exhaustive ? "of all" : "of a sample of", one->elements, one->misrounded,
            fmin(one->max_ulp, INFINITY));
    if (choice->next.there) print_next(&choice->next, stream);
    print_faster(choice, one, stream);
    print_validity(choice, one, stream);
    fputc('\n', stream);
    return;
  }
  fputs("no kernel is within the budget\n", stream);
}

void choice_print(const record_choice *choice, FILE *stream) {
  const bool has_total = choice->calls > 0;
  print_workload(choice, stream);
  int width = 16, marked = 0;
  RECORD_EACH(one, choice, candidates) {
    width = width_with(width, one->kernel);
    marked += one->front;
  }
  fprintf(stream, "  %-*s", width, "kernel");
  if (has_total) fprintf(stream, " %11s", "total us");
  fprintf(stream, " %11s %7s %8s %8s %9s  %9s %10s %12s\n", "us", "spread", "GB/s", "of limit", "plan us", "max ulp",
          "max abs", "misrounded");
  RECORD_EACH(one, choice, candidates) print_candidate(one, has_total, width, stream);
  fputs(marked ? "\n* none is both as fast and as accurate, as far as equally many elements were looked at\n\n" : "\n",
        stream);
  print_reason(choice, stream);
}

int choice_plot(const record_choice *choice, FILE *stream) {
  pareto_point *points = points_of(choice->candidates, choice->candidates_count);
  const char *label = choice->calls > 0 ? "microseconds of a call and its share of the plan" : "microseconds of a call";
  char *element = pareto_draw(points, choice->candidates_count, false, "choice", choice->shape, label, "");
  free(points);
  if (!element) return 2;
  plot_standalone(element, stream);
  free(element);
  return 0;
}
