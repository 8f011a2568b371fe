/* SPDX-License-Identifier: MIT */
#include "reports/model/document.h"

#include "common/shapes.h"
#include "posenc.h"
#include "reports/page/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef enum verdict { HOLDS, HOLDS_WHEN, FALSE, UNDECIDED, NOT_MEASURED } verdict;

/* The texts "found" and "condition", cut off if they are too long. */
typedef struct finding {
  verdict verdict;
  char found[768], when[160];
} finding;

__attribute__((format(printf, 2, 3))) static void found(finding *f, const char *format, ...) {
  va_list arguments;
  const size_t used = strlen(f->found);
  va_start(arguments, format);
  vsnprintf(f->found + used, sizeof f->found - used, format, arguments);
  va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void when(finding *f, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f->when, sizeof f->when, format, arguments);
  va_end(arguments);
  f->verdict = HOLDS_WHEN;
}

/* Finds whether a property was satisfied in all its checks, over all kernels and shapes. */
static void find_checks(finding *f, const record_report *report, const char *property, const char *before,
                        const char *after) {
  int held = 0, all = 0;
  RECORD_EACH(table, report, shapes)
    RECORD_EACH(row, table, rows) {
      const record_check *check = record_find_check(row->checks, row->checks_count, property);
      if (!check || check->skipped) continue;
      all++;
      held += check->ok;
    }
  if (!all) return;
  found(f, "%s%d of %d checks%s", before, held, all, after);
  f->verdict = held == all ? HOLDS : FALSE;
}

static void bounded(finding *f, const record_report *report) {
  find_checks(f, report, "bounded", "", " of whole tables found no value beyond 1, and no NaN");
}

static void linear(finding *f, const record_report *report) {
  find_checks(f, report, "rotation", "PE[p + k] is PE[p] turned by k w in ", ", as nearly as roundings allow");
}

/* Whether the kernel has a proved bound that does not grow with the position. */
static bool has_least_error(const record_kernel *kernel) {
  return kernel->bound.derived && !(fabs(kernel->bound.growth) > 0);
}

/* Returns the profile of such a kernel, whose errors come from the format and not from the kernel. */
static const record_profile *exact_profile(const record_report *report) {
  RECORD_EACH(profile, report, profile) {
    const record_kernel *kernel = report_kernel(report, profile->kernel);
    if (kernel && has_least_error(kernel) && profile->rows != RECORD_NONE) return profile;
  }
  return NULL;
}

static void unique(finding *f, const record_report *report) {
  const record_profile *profile = exact_profile(report);
  if (!profile) return;
  const record_collisions *collisions = &profile->collisions;
  const struct {
    const char *dtype;
    const int64_t *pair;
    size_t count;
  } pairs[] = {{"f32", collisions->f32, collisions->f32_count},
               {"f16", collisions->f16, collisions->f16_count},
               {"bf16", collisions->bf16, collisions->bf16_count}};
  f->verdict = HOLDS;
  found(f, "below position %s, dim %" PRId64 ":", words_position((double)profile->rows).text, profile->dim);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    found(f, "%s %s ", i ? "," : "", pairs[i].dtype);
    if (pairs[i].count) {
      found(f, "%" PRId64 " and %" PRId64 " share a row", pairs[i].pair[0], pairs[i].pair[1]);
      f->verdict = FALSE;
    } else {
      found(f, "none share a row");
    }
  }
  if (isfinite(report->unique.distance))
    found(f, "; the nearest two exact rows are %.4g apart", report->unique.distance);
}

/* Finds how long the cosine of the slowest column is 1 in f16: as long as it is above 1 - 2^-12, half an ulp below
   1. */
static void half_precision(finding *f, const record_report *report) {
  enum { DIM = 512 };
  const record_profile *profile = exact_profile(report);
  const double slowest = pow(10000, -(DIM - 2.0) / DIM), still = floor(acos(1 - 0x1p-12) / slowest);
  found(f,
        "half the bytes; errors up to 2⁻¹² = %.2g instead of 2⁻²⁵ = %.2g, and the slowest cosine (dim %d) is 1 up to "
        "position %.0f",
        0x1p-12, 0x1p-25, DIM, still);
  if (profile && profile->collisions.there)
    found(f, profile->collisions.f16_count ? "; rows collide" : "; no two rows become equal");
  when(f, "%.2g is not significant", 0x1p-12);
}

/* Returns nanoseconds per element, NaN if the kernel was not timed. */
static record_spread spread_of(const record_table *table, const char *kernel) {
  const record_row *row = report_row(table, kernel);
  return row ? row->timing.ns_per_element : (record_spread){.median = NAN, .min = NAN, .max = NAN};
}

/* Returns the fastest kernel of one thread that keeps no table in memory, as `cached` has one thread; null if none was
   timed. */
static const char *best_kernel(const record_report *report, const record_table *table) {
  const char *best = NULL;
  double least = INFINITY;
  RECORD_EACH(kernel, report, kernels) {
    const double time = spread_of(table, kernel->name).median;
    if (kernel->keeps_rows || kernel->threaded || !has_least_error(kernel) || !(time < least)) continue;
    least = time;
    best = kernel->name;
  }
  return best;
}

/* The time of a kernel divided by that of `cached`: median, and the range that the repetitions allow. */
typedef struct advantage {
  double middle, low, high;
} advantage;

static advantage of_cached(const record_table *table, const char *kernel) {
  const record_spread kept = spread_of(table, "cached"), other = spread_of(table, kernel);
  return (advantage){other.median / kept.median, other.min / kept.max, other.max / kept.min};
}

static void say_advantage(finding *f, advantage a, const char *kernel) {
  found(f, "%s (%s–%s) times as fast as %s", words_significant(a.middle, 3).text, words_significant(a.low, 3).text,
        words_significant(a.high, 3).text, kernel);
}

/* Whether f32 was timed with a table in memory and with a kernel that computes it. */
static bool has_cached(const record_report *report, const record_table *table, posenc_op op) {
  return strcmp(table->shape.op, op_name(op)) == 0 && strcmp(table->shape.dtype, "f32") == 0 &&
         isfinite(spread_of(table, "cached").median) && best_kernel(report, table);
}

static advantage larger(advantage a, advantage b) {
  return (advantage){fmax(a.middle, b.middle), fmax(a.low, b.low), fmax(a.high, b.high)};
}

/* Compares a table in memory with computing it, by a fast kernel and by the literal formula, for the smallest and the
   largest x of add and of rope. */
static void cached(finding *f, const record_report *report) {
  const double claimed = 50;
  advantage most = {0}, most_naive = {0};
  for (posenc_op op = POSENC_ADD; op <= POSENC_ROPE; op++) {
    const record_table *ends[2] = {NULL, NULL};
    RECORD_EACH(table, report, shapes) {
      if (!has_cached(report, table, op)) continue;
      if (!ends[0] || table->bytes < ends[0]->bytes) ends[0] = table;
      if (!ends[1] || table->bytes > ends[1]->bytes) ends[1] = table;
    }
    for (int end = 0; end < (ends[0] == ends[1] ? 1 : 2) && ends[end]; end++) {
      const record_table *table = ends[end];
      const char *best = best_kernel(report, table);
      const advantage well = of_cached(table, best), literally = of_cached(table, "naive");
      found(f, "%s%s of %s: ", *f->found ? "; " : "", op_name(op), words_bytes(table->bytes).text);
      say_advantage(f, well, best);
      most = larger(most, well);
      if (!isfinite(literally.middle)) continue;
      found(f, ", ");
      say_advantage(f, literally, "naive");
      most_naive = larger(most_naive, literally);
    }
  }
  if (!*f->found) return;
  f->verdict = fmax(most.high, most_naive.high) >= claimed ? UNDECIDED : FALSE;
  if (most_naive.low >= claimed) when(f, "the alternative is the formula, literally");
  if (most.low >= claimed) when(f, "the alternative is as slow as the fastest here");
}

/* ---- all ---------------------------------------------------------------------------------------- */

static const struct {
  const char *claim;
  void (*audit)(finding *f, const record_report *report);
} claims[] = {
    {"A cached table is 50 to 100 times as fast as computing.", cached},
    {"f16 halves the memory without significant loss.", half_precision},
    {"Every position has a row of its own.", unique},
    {"All values lie in [−1, 1].", bounded},
    {"PE[p + k] is a linear function, a rotation, of PE[p].", linear},
};

void claims_make(record_report *report, record_memory *in) {
  static const char *const verdicts[] = {"holds", "holds only when", "false", "undecided", "not measured"};
  record_claim *all = record_allocate(in, sizeof claims / sizeof *claims, sizeof *all);
  for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
    finding f = {.verdict = NOT_MEASURED};
    claims[i].audit(&f, report);
    if (f.verdict != HOLDS_WHEN) *f.when = '\0';
    all[i] = (record_claim){.there = true,
                            .claim = claims[i].claim,
                            .found = record_format(in, "%s", f.found),
                            .verdict = verdicts[f.verdict],
                            .when = record_format(in, "%s", f.when)};
  }
  report->claims = all;
  report->claims_count = sizeof claims / sizeof *claims;
}

/* ---- causes of errors ------------------------------------------------------------------------------------ */

const char *const cause_names[CAUSES] = {"frequency", "phase", "trig", "store"};

static const double notable = 0.2;

/* ---- points ---- */

static double sum_of(const record_parts *parts) {
  return parts->frequency + parts->phase + parts->trig + parts->store;
}

/* Sets the points from position 1 on whose parts are known and not all 0. */
static void set_points(record_causes *made, const record_profile *profile, record_memory *in) {
  record_cause_point *points = record_allocate(in, profile->points_count, sizeof *points);
  made->points = points;
  RECORD_EACH(point, profile, points) {
    const record_parts *parts = &point->parts;
    const double sum = sum_of(parts); /* NaN if a part is missing */
    if (point->position < 1 || !isfinite(sum) || !(sum > 0)) continue;
    points[made->points_count++] = (record_cause_point){.there = true,
                                                        .position = point->position,
                                                        .parts = *parts,
                                                        .sum = sum,
                                                        .shares = {.there = true,
                                                                   .frequency = parts->frequency / sum,
                                                                   .phase = parts->phase / sum,
                                                                   .trig = parts->trig / sum,
                                                                   .store = parts->store / sum}};
  }
}

/* ---- spans ---- */

/* Returns the causes of most of a point's error, as a set. */
static unsigned notable_causes(const record_cause_point *point) {
  unsigned causes = 0;
  for (unsigned i = 0; i < CAUSES; i++)
    if (cause_part(&point->shares, i) >= notable) causes |= 1u << i;
  return causes;
}

/* Returns the smallest and the largest share of each of these causes over points [from, to). */
static record_cause_shares ranges_of(const record_cause_point *points, size_t from, size_t to, unsigned causes) {
  record_cause_shares made = {.there = true};
  record_share *const ranges[CAUSES] = {&made.frequency, &made.phase, &made.trig, &made.store};
  for (size_t i = 0; i < CAUSES; i++) {
    record_share *range = ranges[i];
    *range = (record_share){.there = causes & 1u << i, .least = INFINITY};
    for (size_t k = from; range->there && k < to; k++) {
      range->least = fmin(range->least, cause_part(&points[k].shares, i));
      range->most = fmax(range->most, cause_part(&points[k].shares, i));
    }
  }
  return made;
}

static void set_spans(record_causes *made, record_memory *in) {
  const record_cause_point *points = made->points;
  record_cause_span *spans = record_allocate(in, made->points_count, sizeof *spans);
  made->spans = spans;
  for (size_t from = 0, to; from < made->points_count; from = to) {
    const unsigned causes = notable_causes(&points[from]);
    for (to = from + 1; to < made->points_count; to++)
      if (notable_causes(&points[to]) != causes) break;
    spans[made->spans_count++] = (record_cause_span){.there = true,
                                                     .from = points[from].position,
                                                     .to = points[to - 1].position,
                                                     .shares = ranges_of(points, from, to, causes)};
  }
}

/* ---- kernels with the same points ---- */

static bool have_same_points(const record_causes *a, const record_causes *b) {
  bool same = a->points_count == b->points_count;
  for (size_t i = 0; same && i < a->points_count; i++) {
    same = a->points[i].position == b->points[i].position;
    for (size_t k = 0; same && k < CAUSES; k++)
      same = cause_part(&a->points[i].parts, k) == cause_part(&b->points[i].parts, k);
  }
  return same;
}

void causes_make(record_report *report, const record_accuracy *record, record_memory *in) {
  record_causes *groups = record_allocate(in, record->profile_count, sizeof *groups);
  report->causes = groups;
  RECORD_EACH(profile, record, profile) {
    record_causes *group = groups, *next = &groups[report->causes_count];
    *next = (record_causes){.there = true};
    set_points(next, profile, in);
    if (next->points_count == 0) continue; /* without stages there are none */
    while (group < next && !have_same_points(group, next)) group++;
    if (group == next) {
      next->kernels = record_allocate(in, record->profile_count, sizeof *next->kernels);
      set_spans(next, in);
      report->causes_count++;
    }
    ((const char **)(uintptr_t)group->kernels)[group->kernels_count++] = profile->kernel;
  }
}
