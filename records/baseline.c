/* SPDX-License-Identifier: MIT */
#include "records/compare.h"

#include "common/environment.h"
#include "records/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A largest share of the bound is noted as smaller if it has decreased by this factor. */
static const double much_better = 8.0;

/* The rounding of a sum of 2^22 partial sums, in which another version may add up the same errors. */
static const double mean_rounding = 0x1p-30;

/*
 * In another environment, errors may grow by these shares. glibc's functions with and without FMA, and SLEEF's for AVX2
 * and AVX-512, change them by 0.13 % at most (doc/ci.md); but a largest error is that of one element, and other libms
 * round another one wrongly. Both are less than what makes a kernel another one: twice an error, or a tenth of the
 * mean.
 */
static const double most_allowance = 0.25, mean_allowance = 0.0625;

/* Facts of the environment on which the bits of kernels depend that are not reproducible. */
enum { FACTS = FACT_BITS | FACT_BASELINE };

/* Makes an entry. Returns false if a kernel refused or died, which has no figures. */
static bool make_entry(record_baseline_entry *made, const record_accuracy *record, const record_result *result) {
  const record_kernel *kernel = record_find_kernel(record->kernels, record->kernels_count, result->kernel);
  const record_check *accuracy = record_find_check(result->checks, result->checks_count, "accuracy");
  if (!*result->mode || !kernel || !accuracy) return false;
  *made = (record_baseline_entry){.there = true,
                                  .kernel = result->kernel,
                                  .shape = result->shape,
                                  .reproducible = kernel->reproducible,
                                  .has_reproducible = true,
                                  .bound = kernel->bound,
                                  .mode = result->mode,
                                  .has_mode = true,
                                  .elements = result->elements,
                                  .max_ulp = result->max_ulp.ulp,
                                  .has_max_ulp = true,
                                  .max_abs = result->max_abs.abs,
                                  .has_max_abs = true,
                                  .mean_ulp = result->mean_ulp,
                                  .has_mean_ulp = true,
                                  .misrounded = result->misrounded,
                                  .histogram = result->histogram,
                                  .histogram_count = result->histogram_count,
                                  .by_position = result->by_position,
                                  .by_position_count = result->by_position_count,
                                  .share = accuracy->worst,
                                  .has_share = true,
                                  .digest = result->digest,
                                  .has_digest = result->has_digest};
  return true;
}

/* Returns the facts, or none if no entry depends on them: the baseline of such kernels is the same on all machines. */
static record_facts facts_of(const record_accuracy *record, const record_baseline *made, record_memory *in) {
  record_fact *kept = record_allocate(in, ENVIRONMENT_FACTS, sizeof *kept);
  const char *key;
  record_facts of = {.list = kept};
  RECORD_EACH(entry, made, entries) of.there = of.there || !entry->reproducible;
  for (size_t f = 0; of.there && (key = environment_key(FACTS, f)); f++) {
    const record_fact *fact = record_find_fact(&record->environment, key);
    if (fact) kept[of.list_count++] = *fact;
  }
  return of;
}

record_baseline baseline_of(const record_accuracy *record, record_memory *in) {
  record_baseline_entry *entries = record_allocate(in, record->records_count, sizeof *entries);
  record_baseline made = {.there = true,
                          .schema = "posenc-baseline-1",
                          .has_environment = true,
                          .kernel_abi = record_fact_text(&record->environment, "kernel_abi"),
                          .entries = entries};
  RECORD_COPY_DRAW(&made, record);
  RECORD_EACH(result, record, records) made.entries_count += make_entry(&entries[made.entries_count], record, result);
  made.environment = facts_of(record, &made, in);
  return made;
}

/* Whether shapes are the same problem. Only a run of published tables has their names; a replay command has options. */
static bool are_same_shape(const record_shape *a, const record_shape *b) {
  record_shape renamed = *b;
  renamed.name = a->name;
  return record_same_shape(a, &renamed);
}

static const record_baseline_entry *find_entry(const record_baseline *baseline, const record_result *result) {
  RECORD_EACH(entry, baseline, entries)
    if (strcmp(entry->kernel, result->kernel) == 0 && are_same_shape(&entry->shape, &result->shape)) return entry;
  return NULL;
}

typedef struct verdict {
  char note[600];
  size_t used;
  bool broken;
  bool skipped;
  bool allowed; /* errors may grow by the allowance */
} verdict;

__attribute__((format(printf, 3, 4))) static void say(verdict *v, bool broken, const char *format, ...) {
  va_list arguments;
  v->broken = v->broken || broken;
  if (v->used + 2 >= sizeof v->note) return;
  if (v->used) v->used += (size_t)snprintf(v->note + v->used, sizeof v->note - v->used, "; ");
  va_start(arguments, format);
  const int length = vsnprintf(v->note + v->used, sizeof v->note - v->used, format, arguments);
  va_end(arguments);
  v->used += length > 0 ? (size_t)length : 0;
  if (v->used >= sizeof v->note) v->used = sizeof v->note - 1;
}

static void skip(verdict *v, const char *reason) {
  v->skipped = true;
  say(v, false, "%s", reason);
}

/* ---- the environment ---- */

/* Returns a fact of the baseline's environment; "" if it does not tell. */
static const char *fact_of(const record_baseline *baseline, const char *key) {
  return !baseline->environment.there && strcmp(key, "libc") == 0 ? baseline->libc
                                                                  : record_fact_text(&baseline->environment, key);
}

/* Writes the facts that differ, with their values in the baseline. Returns whether there are any. */
static bool facts_differ(const record_accuracy *record, const record_baseline *baseline, char *text, size_t size) {
  const char *key;
  size_t used = 0;
  *text = '\0';
  if (!baseline->environment.there && !*baseline->libc)
    return snprintf(text, size, "the baseline does not tell its own") > 0;
  for (size_t f = 0; used < size && (key = environment_key(FACTS, f)); f++) {
    const char *was = fact_of(baseline, key), *separator = used ? ", " : "";
    if (strcmp(was, record_fact_text(&record->environment, key)) == 0) continue;
    used += (size_t)(*was ? snprintf(text + used, size - used, "%s%s (was %.40s)", separator, key, was)
                          : snprintf(text + used, size - used, "%s%s (not told)", separator, key));
  }
  return used > 0;
}

/* ---- figures ---- */

/* Returns what a number of elements may grow to. Where they are few, their number varies like that of rare events: four
   standard deviations are allowed. */
static double count_allowed(const verdict *v, double count) {
  return v->allowed && count >= 0.0 ? count * (1.0 + mean_allowance) + 4.0 * sqrt(count + 1.0) : count;
}

/* Compares figures, of which the new one may be `limit` at most. */
static void compare_figure(verdict *v, const char *name, double before, double after, double limit) {
  const double was = record_or_infinity(before), now = record_or_infinity(after);
  if (now > was)
    say(v, now > record_or_infinity(limit), "%s grew from %.9g to %.9g", name, was, now);
  else if (now < was)
    say(v, false, "%s fell from %.9g to %.9g", name, was, now);
}

static void compare_most(verdict *v, const char *name, double before, double after) {
  compare_figure(v, name, before, after, v->allowed ? before * (1.0 + most_allowance) : before);
}

static void compare_means(verdict *v, double before, double after) {
  if (fabs(after - before) <= before * mean_rounding) return;
  compare_figure(v, "mean ulp", before, after, v->allowed ? before * (1.0 + mean_allowance) : before);
}

static int64_t count_of_bin(const record_bin *bins, size_t count, double below) {
  for (size_t i = 0; i < count; i++)
    if (record_or_infinity(bins[i].below) == below) return bins[i].count;
  return 0;
}

/* Compares the numbers of errors that are above the bins' ends, from the largest on; says the first that has grown. */
static void compare_histograms(verdict *v, const record_baseline_entry *was, const record_result *is) {
  int64_t before = 0, after = 0;
  if (!was->histogram_count) say(v, false, "the baseline lacks the histogram: save it again");
  for (size_t i = was->histogram_count; i-- > 1;) {
    const double from = was->histogram[i - 1].below;
    before += was->histogram[i].count;
    after += count_of_bin(is->histogram, is->histogram_count, record_or_infinity(was->histogram[i].below));
    if (after <= before) continue;
    say(v, (double)after > count_allowed(v, (double)before),
        "errors of %g ulp or more grew from %" PRId64 " to %" PRId64, from, before, after);
    return;
  }
}

/* Compares the largest errors of ranges of positions; says those that have grown. */
static void compare_ranges(verdict *v, const record_baseline_entry *was, const record_result *is) {
  if (!was->by_position) say(v, false, "the baseline lacks errors by position: save it again");
  RECORD_EACH(now, is, by_position) {
    double ulp = 0.0, abs = 0.0;
    char name[80];
    RECORD_EACH(before, was, by_position)
      if (before->from == now->from) {
        ulp = record_or_infinity(before->max_ulp);
        abs = record_or_infinity(before->max_abs);
      }
    if (!was->by_position) return;
    snprintf(name, sizeof name, "max ulp at positions from %" PRId64, now->from);
    if (record_or_infinity(now->max_ulp) > ulp) compare_most(v, name, ulp, now->max_ulp);
    snprintf(name, sizeof name, "max error at positions from %" PRId64, now->from);
    if (record_or_infinity(now->max_abs) > abs) compare_most(v, name, abs, now->max_abs);
  }
}

static void compare(verdict *v, const record_baseline_entry *entry, const record_result *result,
                    const record_kernel *kernel) {
  if (entry->reproducible && *entry->digest && strcmp(entry->digest, result->digest) != 0)
    say(v, true, "bits changed, %s to %s", entry->digest, result->digest);
  compare_most(v, "max ulp", entry->max_ulp, result->max_ulp.ulp);
  compare_most(v, "max error", entry->max_abs, result->max_abs.abs);
  compare_means(v, entry->mean_ulp, result->mean_ulp);
  compare_figure(v, "misrounded", (double)entry->misrounded, (double)result->misrounded,
                 count_allowed(v, (double)entry->misrounded));
  compare_histograms(v, entry, result);
  compare_ranges(v, entry, result);
  if (!kernel || !record_same_bound(&entry->bound, &kernel->bound)) say(v, false, "it has another bound");
  const record_check *accuracy = record_find_check(result->checks, result->checks_count, "accuracy");
  const double share_now = record_or_infinity(accuracy ? accuracy->worst : NAN);
  if (share_now * much_better < record_or_infinity(entry->share))
    say(v, false, "the bound has become loose: %.3g of it is used, %.3g was", share_now,
        record_or_infinity(entry->share));
}

/* ---- results ---- */

/* A record, what it is compared with, and how. */
typedef struct holding {
  const record_accuracy *record; /* with the checks that are added */
  const record_baseline *baseline;
  const baseline_terms *terms;
  char differing[300]; /* the facts that differ */
  bool differs;
} holding;

/* Says what makes the elements of a result others than those of the baseline. Returns false if they are the same. */
static bool are_other_elements(const holding *h, verdict *v, const record_baseline_entry *entry,
                               const record_result *result) {
  const record_baseline *baseline = h->baseline;
  const record_elements was = RECORD_ELEMENTS_OF(entry, &entry->shape, baseline),
                        is = RECORD_ELEMENTS_OF(result, &result->shape, h->record);
  record_unlike other;
  if (!record_unlike_elements(&was, &is, &other)) return false;
  if (strcmp(other.key, "row_rule") == 0 || strcmp(other.key, "x_rule") == 0)
    say(v, true, "the baseline is of other elements, drawn with %s %s and not %s: save it again", other.key, other.a,
        other.b);
  else
    say(v, true, "the baseline is of other elements: use its --seed %" PRId64 " and --budget %" PRId64, baseline->seed,
        baseline->budget);
  return true;
}

/* Judges a kernel that refuses what the baseline has. */
static void judge_refusal(const holding *h, verdict *v, const record_result *result) {
  if (h->differs && h->terms->allow_environment)
    skip(v, result->refusal);
  else if (h->differs)
    say(v, true, "the baseline has it, but %s; the environment differs: %s; --allow-environment skips it",
        result->refusal, h->differing);
  else
    say(v, true, "the baseline has it, but %s", result->refusal);
}

/* Compares a result. Where the environment may be the cause of what has changed, the facts that differ come first. */
static void judge_figures(const holding *h, verdict *v, const record_baseline_entry *entry,
                          const record_result *result) {
  const record_kernel *kernel = record_find_kernel(h->record->kernels, h->record->kernels_count, result->kernel);
  const bool differs = h->differs && !entry->reproducible;
  verdict found = {.allowed = differs && h->terms->allow_environment};
  compare(&found, entry, result, kernel);
  const char *hint = found.broken ? "; --allow-environment makes allowance for it" : "";
  if (found.allowed) hint = ", for which allowance is made";
  if (differs) say(v, false, "the environment differs: %s%s", h->differing, hint);
  if (*found.note) say(v, found.broken, "%s", found.note);
}

static void judge(const holding *h, verdict *v, const record_result *result) {
  const record_baseline_entry *entry = find_entry(h->baseline, result);
  if (!entry && h->terms->allow_new)
    skip(v, "the baseline has no such entry");
  else if (!entry)
    say(v, true, "the baseline has no such entry; --allow-new skips what is new");
  else if (*result->refusal)
    judge_refusal(h, v, result);
  else if (!are_other_elements(h, v, entry, result))
    judge_figures(h, v, entry, result);
}

/* Adds a check. If it has failed, the result's replay command gets the baseline's options, so that it fails again. */
static void add_check(const holding *h, record_result *result, const verdict *v, record_memory *in) {
  record_check *checks = record_allocate(in, result->checks_count + 1, sizeof *checks);
  if (result->checks_count) memcpy(checks, result->checks, result->checks_count * sizeof *checks);
  checks[result->checks_count] = (record_check){.there = true,
                                                .property = "baseline",
                                                .ok = !v->broken,
                                                .skipped = v->skipped,
                                                .worst = v->broken,
                                                .has_worst = true,
                                                .has_bound = true,
                                                .compared = result->elements == RECORD_NONE ? 0 : result->elements,
                                                .has_compared = true,
                                                .note = record_format(in, "%s", v->note),
                                                .has_note = true};
  result->checks = checks;
  result->checks_count++;
  if (v->broken && h->terms->replay) result->replay = record_format(in, "%s %s", result->replay, h->terms->replay);
}

/* ---- kernels ---- */

/* Whether a kernel was compared with the baseline, or died: then a check has failed. */
static bool was_held(const holding *h, const char *kernel) {
  RECORD_EACH(result, h->record, records) {
    if (strcmp(result->kernel, kernel) != 0) continue;
    if (!*result->mode && !*result->refusal) return true;
    const record_check *check = record_find_check(result->checks, result->checks_count, "baseline");
    if (check && !check->skipped) return true;
  }
  return false;
}

/* Whether a kernel refused what the baseline has, which is allowed. */
static bool was_excused(const holding *h, const char *kernel) {
  if (!h->differs || !h->terms->allow_environment) return false;
  RECORD_EACH(result, h->record, records)
    if (strcmp(result->kernel, kernel) == 0 && *result->refusal && find_entry(h->baseline, result)) return true;
  return false;
}

static bool is_first_of_kernel(const record_baseline *baseline, const record_baseline_entry *entry) {
  RECORD_EACH(before, baseline, entries)
    if (strcmp(before->kernel, entry->kernel) == 0) return before == entry;
  return true;
}

/* Adds the names of kernels to the record of which nothing was compared. A kernel that the CPU refuses may be left out
   only if another one was compared. */
static void tell_uncompared(const holding *h, record_accuracy *record, record_memory *in) {
  const char **names = record_allocate(in, h->baseline->entries_count, sizeof(*names));
  size_t count = 0;
  bool any = false;
  RECORD_EACH(entry, h->baseline, entries) any = any || was_held(h, entry->kernel);
  RECORD_EACH(entry, h->baseline, entries) {
    const char *kernel = entry->kernel;
    if (!is_first_of_kernel(h->baseline, entry)) continue;
    if (h->terms->selects && !h->terms->selects(h->terms->argument, kernel)) continue;
    if (was_held(h, kernel) || (any && was_excused(h, kernel))) continue;
    names[count++] = kernel;
  }
  if (!count) return;
  record->uncompared = names;
  record->uncompared_count = count;
}

void baseline_hold(record_accuracy *record, const record_baseline *baseline, const baseline_terms *terms,
                   record_memory *in) {
  holding h = {record, baseline, terms, "", false};
  record_result *results = record_allocate(in, record->records_count, sizeof *results);
  if (record->records_count) memcpy(results, record->records, record->records_count * sizeof *results);
  record->records = results;
  h.differs = facts_differ(record, baseline, h.differing, sizeof h.differing);
  for (record_result *result = results; result < results + record->records_count; result++) {
    const bool is_guarded = *result->mode || (*result->refusal && find_entry(baseline, result));
    if (!is_guarded) continue; /* a kernel that died fails already */
    verdict v = {.broken = false};
    judge(&h, &v, result);
    add_check(&h, result, &v, in);
  }
  record_total(record);
  tell_uncompared(&h, record, in);
}
