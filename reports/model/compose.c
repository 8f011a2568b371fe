/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/model/document.h"

#include "common/memory.h"
#include "common/shapes.h"
#include "posenc.h"
#include "records/make.h"
#include "records/statistics.h"
#include "records/timings.h"
#include "reports/model/answer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The tables of "hot" are in "shapes", with their plans. Those of the other states have fields of their own. */
#define STATE(name) #name,
static const char *const modes[] = {"hot", REPORT_STATES(STATE)};
#undef STATE
enum { MODES = sizeof modes / sizeof *modes };

typedef struct row_records {
  const record_accuracy *accuracy;
  const record_timing *timing; /* or null */
  repetition_index *times;
  document *made;
  record_memory *in;
} row_records;

_Static_assert((int)SHAPE_NAME <= (int)REPETITION_NAME, "a record may have the name of any shape");

/* ---- small pieces ---- */

/* Names, each once. */
typedef struct name_list {
  const char **all; /* with room for those that are added */
  size_t count;
} name_list;

static name_list new_names(const row_records *m, size_t most) {
  return (name_list){record_allocate(m->in, most, sizeof(char *)), 0};
}

static void add_name(name_list *names, const char *name) {
  for (size_t i = 0; i < names->count; i++)
    if (strcmp(names->all[i], name) == 0) return;
  names->all[names->count++] = name;
}

static const record_kernel *contract_of(const row_records *m, const char *kernel) {
  return record_find_kernel(m->accuracy->kernels, m->accuracy->kernels_count, kernel);
}

static bool has_recipe_name(const char *kernel) {
  static const char prefix[] = "recipe/";
  return strncmp(kernel, prefix, sizeof prefix - 1) == 0;
}

/* Whether a kernel is listed apart, as a recipe. If the record has only recipes, they are listed among the kernels. */
static bool is_recipe(const row_records *m, const char *kernel) {
  bool any_kernel = false;
  RECORD_EACH(one, m->accuracy, kernels) any_kernel = any_kernel || !has_recipe_name(one->name);
  return any_kernel && has_recipe_name(kernel) && contract_of(m, kernel);
}

/* ---- the timing record ---- */

/* Returns the first number of a counter, NaN if there is none. Null as kernel selects any. */
static double first_of(const row_records *m, const char *mode, const char *shape_name, const char *kernel,
                       const char *counter) {
  return repetitions_collect(m->times, mode, shape_name, kernel, counter) ? m->times->values[0] : NAN;
}

static record_ratio speed_up_of(const row_records *m, const char *mode, const char *shape_name, const char *kernel) {
  if (strcmp(kernel, answer_literal) == 0 ||
      !repetitions_collect(m->times, mode, shape_name, answer_literal, "ns_per_element"))
    return record_empty_ratio();
  return repetitions_ratio(m->times, mode, shape_name, kernel, answer_literal);
}

/* The forms of a counter in a report, see counters.def. */
#define PUT_NONE(name)
#define PUT_ONE(name)                                                                                                  \
  made.name = first_of(m, mode, shape_name, kernel, #name);                                                            \
  made.has_##name = true;
#define PUT_SPREAD(name)                                                                                               \
  made.name = repetitions_spread(m->times, mode, shape_name, kernel, #name);                                           \
  made.has_##name = true;

/* Returns the times of a kernel, which are not there if it was not timed. */
static record_row_timing timing_of(const row_records *m, const char *mode, const char *shape_name, const char *kernel) {
  const size_t repetitions = repetitions_collect(m->times, mode, shape_name, kernel, "ns_per_element");
  record_row_timing made = record_empty_row_timing();
  if (repetitions == 0) return made;
  made.there = made.has_repetitions = true;
  made.repetitions = (int64_t)repetitions;
#define COUNTER(in_report, name, unit, meaning) PUT_##in_report(name)
#include "records/counters.def"
  made.has_plan_ns = strcmp(mode, "hot") == 0;
  if (made.has_plan_ns) made.plan_ns = repetitions_spread(m->times, "plan", shape_name, kernel, "plan_ns");
  made.speed_up = speed_up_of(m, mode, shape_name, kernel);
  made.has_speed_up = true;
  return made;
}

/* ---- rows and shapes ---- */

static record_row row_of(const row_records *m, const char *shape_name, const char *kernel) {
  const record_kernel *contract = contract_of(m, kernel);
  const record_result *result = record_find_result(m->accuracy, kernel, shape_name);
  record_row row = result ? record_row_of(result) : record_empty_row();
  row.kernel = kernel;
  row.recipe = is_recipe(m, kernel);
  row.has_recipe = true;
  row.isa = contract && contract->has_isa ? contract->isa : record_null;
  row.has_isa = true;
  if (!result) row.refusal = contract && contract->has_refusal ? contract->refusal : record_null;
  row.has_refusal = row.has_refusal || !result;
  row.timing = timing_of(m, "hot", shape_name, kernel);
  row.has_timing = true;
  return row;
}

/* Whether the kernel was verified or timed on that shape, or the record gives the reason why not. */
static bool tells_something(const record_row *row) {
  return row->checks || *row->refusal || row->timing.there;
}

/* Returns the facts of a shape: from the accuracy record, the lists, or the counters. */
static record_table_shape shape_of_name(const row_records *m, const char *mode, const char *name) {
  RECORD_EACH(result, m->accuracy, records)
    if (strcmp(result->shape.name, name) == 0) return record_table_shape_of(&result->shape);
  const shape *listed = shapes_find(shapes_sweep, name);
  if (!listed) listed = shapes_find(shapes_applied, name);
  if (!listed) {
    record_table_shape made = record_empty_table().shape;
    made.there = true;
    made.name = name;
    made.rows = first_of(m, mode, name, NULL, "rows");
    made.dim = first_of(m, mode, name, NULL, "dim");
    return made;
  }
  const record_shape made = shape_record(listed, m->in);
  return record_table_shape_of(&made);
}

static bool is_applied(const record_table_shape *of) {
  posenc_op op = POSENC_TABLE;
  return op_parse(of->op, &op) && op_is_applied(op);
}

static double shape_bytes(const record_table_shape *of) {
  posenc_dtype dtype = POSENC_F32;
  posenc_op op = POSENC_TABLE;
  posenc_layout layout = POSENC_INTERLEAVED;
  dtype_parse(of->dtype, &dtype);
  layout_parse(of->layout, &layout);
  const bool is_cache = op_parse(of->op, &op) && op == POSENC_ROPE_CACHE;
  const double tables = is_cache && layout != POSENC_SPLIT ? 2 : 1; /* each table of split has half of the columns */
  return tables * of->rows * (double)(of->has_heads ? of->heads : 1) * of->dim * (double)posenc_dtype_bytes(dtype);
}

/* Returns a shape with these rows. */
static record_table table_of(const row_records *m, const char *mode, const char *name, const record_row *rows,
                             size_t count) {
  record_table made = {.there = true,
                       .sweep = shapes_find(shapes_sweep, name) != NULL,
                       .has_sweep = true,
                       .has_applied = true,
                       .shape = shape_of_name(m, mode, name),
                       .limit_bytes_per_second =
                           repetitions_spread(m->times, mode, name, NULL, "limit_bytes_per_second"),
                       .has_limit_bytes_per_second = true,
                       .rows = rows,
                       .rows_count = count};
  made.applied = is_applied(&made.shape);
  made.bytes = shape_bytes(&made.shape);
  return made;
}

/* Returns a shape with all results. */
static record_table whole_table(const row_records *m, const char *name, const name_list *kernels) {
  record_row *rows = record_allocate(m->in, kernels->count, sizeof *rows);
  size_t count = 0;
  for (size_t i = 0; i < kernels->count; i++) {
    rows[count] = row_of(m, name, kernels->all[i]);
    count += tells_something(&rows[count]);
  }
  return table_of(m, "hot", name, rows, count);
}

/* Sets every shape that was timed in that mode, with the kernels that were timed. */
static void set_mode(const row_records *m, const char *mode, const record_table **tables, size_t *count) {
  const record_report *report = &m->made->of;
  record_table *made = record_allocate(m->in, report->shapes_count, sizeof *made);
  *tables = made;
  RECORD_EACH(hot, report, shapes) {
    record_row *rows = record_allocate(m->in, hot->rows_count, sizeof *rows);
    size_t timed = 0;
    RECORD_EACH(of, hot, rows) {
      record_row *row = &rows[timed];
      *row = record_empty_row();
      row->kernel = of->kernel;
      row->timing = timing_of(m, mode, hot->shape.name, of->kernel);
      row->has_timing = true;
      timed += row->timing.there;
    }
    if (timed) made[(*count)++] = table_of(m, mode, hot->shape.name, rows, timed);
  }
}

static bool was_timed(const row_records *m, const char *shape_name) {
  for (size_t i = 0; i < MODES; i++)
    if (repetitions_collect(m->times, modes[i], shape_name, NULL, "ns_per_element") > 0) return true;
  return false;
}

/* Adds the names of the shapes of a list that were timed. */
static void add_timed(const row_records *m, name_list *names, const shape *(*list)(size_t *count)) {
  size_t count;
  const shape *shapes = list(&count);
  for (size_t i = 0; i < count; i++)
    if (was_timed(m, shapes[i].name)) add_name(names, shapes[i].name);
}

/* Returns the names, each once, in the order of the records. Benchmarks run in random order, so listed shapes have the
   order of their list. */
static name_list shape_names(const row_records *m) {
  size_t sweep, applied;
  shapes_sweep(&sweep);
  shapes_applied(&applied);
  name_list names = new_names(m, m->accuracy->records_count + sweep + applied + m->times->count);
  RECORD_EACH(result, m->accuracy, records) add_name(&names, result->shape.name);
  add_timed(m, &names, shapes_sweep);
  add_timed(m, &names, shapes_applied);
  for (size_t i = 0; i < m->times->count; i++)
    if (strcmp(m->times->all[i].mode, "hot") == 0) add_name(&names, m->times->all[i].shape);
  return names;
}

static name_list kernel_names(const row_records *m) {
  name_list names = new_names(m, m->accuracy->kernels_count + m->accuracy->records_count + m->times->count);
  RECORD_EACH(kernel, m->accuracy, kernels) add_name(&names, kernel->name);
  RECORD_EACH(result, m->accuracy, records) add_name(&names, result->kernel);
  for (size_t i = 0; i < m->times->count; i++)
    if (strcmp(m->times->all[i].mode, "hot") == 0) add_name(&names, m->times->all[i].kernel);
  return names;
}

/* Whether the table is of hard-to-round cases, which are listed apart. */
static bool is_of_cases(const record_table *table) {
  RECORD_EACH(row, table, rows)
    if (strcmp(row->mode, "cases") == 0) return true;
  return false;
}

static void set_shapes(const row_records *m) {
  record_report *report = &m->made->of;
  const name_list names = shape_names(m), kernels = kernel_names(m);
  record_table *shapes = record_allocate(m->in, names.count, sizeof *shapes),
               *cases = record_allocate(m->in, names.count, sizeof *cases);
  for (size_t i = 0; i < names.count; i++) {
    const record_table one = whole_table(m, names.all[i], &kernels);
    if (is_of_cases(&one))
      cases[report->cases_count++] = one;
    else
      shapes[report->shapes_count++] = one;
  }
  report->shapes = shapes;
  report->cases = cases;
}

/* Sets the reference shape, else the first that was verified; none if the record has only hard-to-round cases. */
static void set_headline(const row_records *m) {
  record_report *report = &m->made->of;
  const record_table *first = m->accuracy->records_count && report->shapes_count ? report->shapes : NULL,
                     *reference = report_table(report, report_reference), *shown = reference ? reference : first;
  report->has_headline = true;
  if (shown)
    report->headline = (record_headline){
        .there = true, .shape = shown->shape.name, .rows = shown->rows, .rows_count = shown->rows_count};
}

/* ---- checks ---- */

static bool is_case(const record_result *result) {
  return strcmp(result->mode, "cases") == 0;
}

/* Returns the shapes on which all kernels were compared in full, and the others. */
static record_shape_counts count_shapes(const row_records *m) {
  name_list all = new_names(m, m->accuracy->records_count), sampled = new_names(m, m->accuracy->records_count);
  RECORD_EACH(result, m->accuracy, records) {
    if (!result->checks_count || is_case(result)) continue;
    add_name(&all, result->shape.name);
    if (strcmp(result->mode, "exhaustive") != 0) add_name(&sampled, result->shape.name);
  }
  return (record_shape_counts){
      .there = true, .exhaustive = (int64_t)(all.count - sampled.count), .sampled = (int64_t)sampled.count};
}

static record_failure failure_of(const record_check *check, const char *kernel, const char *shape_name) {
  return (record_failure){.there = true,
                          .kernel = kernel,
                          .shape = shape_name,
                          .property = check->property,
                          .worst = check->worst,
                          .has_worst = check->has_worst,
                          .bound = check->bound,
                          .has_bound = check->has_bound,
                          .note = check->note,
                          .has_note = check->has_note,
                          .ok = check->ok,
                          .has_ok = true,
                          .skipped = check->skipped,
                          .has_skipped = true,
                          .compared = check->compared,
                          .has_compared = check->has_compared};
}

/* The checks that failed. */
typedef struct failure_list {
  record_failure *all; /* with room for those that are added */
  size_t count;
} failure_list;

static failure_list new_failures(const row_records *m) {
  size_t most = m->accuracy->profile_count;
  RECORD_EACH(result, m->accuracy, records)
    RECORD_EACH(check, result, checks) most += !check->ok && !check->skipped;
  return (failure_list){record_allocate(m->in, most, sizeof(record_failure)), 0};
}

/* Counts the checks of one kernel by property, except those of hard-to-round cases, and lists the failed ones. *made is
   the number of checks. */
static record_kernel_checks count_checks(const row_records *m, const char *kernel, size_t properties,
                                         failure_list *failures, size_t *made) {
  record_property_checks *counts = record_allocate(m->in, properties, sizeof *counts);
  name_list names = new_names(m, properties);
  *made = 0;
  RECORD_EACH(result, m->accuracy, records) {
    if (strcmp(result->kernel, kernel) != 0) continue;
    RECORD_EACH(check, result, checks) {
      if (check->skipped) continue;
      ++*made;
      if (!check->ok) failures->all[failures->count++] = failure_of(check, kernel, result->shape.name);
      if (is_case(result)) continue;
      add_name(&names, check->property);
      size_t number = 0;
      while (strcmp(names.all[number], check->property) != 0) number++;
      counts[number].passed += check->ok;
      counts[number].of++;
      counts[number].sampled += strcmp(result->mode, "exhaustive") != 0;
    }
  }
  RECORD_EACH(profile, m->accuracy, profile)
    if (strcmp(profile->kernel, kernel) == 0 && profile->failure.there)
      failures->all[failures->count++] = failure_of(&profile->failure, kernel, "profile");
  return (record_kernel_checks){.there = true,
                                .kernel = kernel,
                                .properties = counts,
                                .properties_names = names.all,
                                .properties_count = names.count};
}

/* Returns the names of the properties in the order of the kernels. */
static name_list property_names(const row_records *m) {
  size_t most = 0;
  RECORD_EACH(result, m->accuracy, records) most += result->checks_count;
  name_list names = new_names(m, most);
  RECORD_EACH(kernel, m->accuracy, kernels)
    RECORD_EACH(result, m->accuracy, records)
      if (strcmp(result->kernel, kernel->name) == 0 && !is_case(result))
        RECORD_EACH(check, result, checks) add_name(&names, check->property);
  return names;
}

/* Sets the checks, and the contract of each kernel with whether its checks passed. */
static void set_checks(const row_records *m) {
  record_report *report = &m->made->of;
  const record_accuracy *accuracy = m->accuracy;
  const name_list properties = property_names(m);
  failure_list failures = new_failures(m);
  record_kernel_checks *counted = record_allocate(m->in, accuracy->kernels_count, sizeof *counted);
  record_kernel *kernels = record_allocate(m->in, accuracy->kernels_count, sizeof *kernels);
  for (size_t k = 0; k < accuracy->kernels_count; k++) {
    const size_t failed_before = failures.count;
    size_t made;
    kernels[k] = accuracy->kernels[k];
    counted[k] = count_checks(m, kernels[k].name, properties.count, &failures, &made);
    kernels[k].holds = made > 0 && failures.count == failed_before;
    kernels[k].recipe = is_recipe(m, kernels[k].name);
    kernels[k].has_holds = kernels[k].has_recipe = true;
  }
  report->kernels = kernels;
  report->kernels_count = accuracy->kernels_count;
  report->checks = (record_report_checks){.there = true,
                                          .passed = accuracy->passed,
                                          .has_passed = true,
                                          .failed = accuracy->failed,
                                          .skipped = accuracy->skipped,
                                          .has_skipped = true,
                                          .shapes = count_shapes(m),
                                          .properties = properties.all,
                                          .properties_count = properties.count,
                                          .kernels = counted,
                                          .kernels_count = accuracy->kernels_count,
                                          .failures = failures.all,
                                          .failures_count = failures.count};
}

/* ---- the whole ---- */

/* Returns the facts that are texts, as Google Benchmark's context also has lists, except those that identify the person
   who ran it. */
static record_facts copy_facts(const row_records *m, const record_facts *from) {
  record_fact *kept = record_allocate(m->in, from->list_count, sizeof *kept);
  record_facts made = {.there = true, .list = kept};
  RECORD_EACH(fact, from, list)
    if (fact->is_text && strcmp(fact->key, "host_name") != 0 && strcmp(fact->key, "executable") != 0)
      kept[made.list_count++] = *fact;
  return made;
}

/* Sets the parts of the report that are computed from the records alone. */
static void set_base(const row_records *m, const char *command) {
  record_report *report = &m->made->of;
  const record_accuracy *accuracy = m->accuracy;
  report->there = true;
  report->schema = "posenc-report-1";
  report->command = record_utf8(m->in, command);
  RECORD_COPY_DRAW(report, accuracy);
  report->has_command = report->has_seed = report->has_budget = true;
  set_checks(m);
  set_shapes(m);
#define STATE(name) set_mode(m, #name, &report->name, &report->name##_count);
  REPORT_STATES(STATE)
#undef STATE
  set_headline(m);
  report->profile = accuracy->profile;
  report->profile_count = accuracy->profile_count;
  report->unique = accuracy->unique;
  report->has_unique = true;
  causes_make(report, accuracy, m->in);
  report->choices = m->timing && m->timing->context.choices ? m->timing->context.choices : record_empty_list;
  report->choices_count = m->timing ? m->timing->context.choices_count : 0;
  report->environment.there = true;
  report->environment.accuracy = copy_facts(m, &accuracy->environment);
  if (m->timing) report->environment.timing = copy_facts(m, &m->timing->context.facts);
}

void document_make(document *made, const record_accuracy *accuracy, const record_timing *timing, const char *command) {
  *made = (document){.of = record_empty_report(), .times = repetitions_open(timing)};
  const row_records m = {accuracy, timing, made->times, made, &made->memory};
  record_report *report = &made->of;
  set_base(&m, command);
  answer_make(report, m.times, m.in);
  answer_uses(report, m.times, m.in);
  answer_subjects(report, m.times, m.in);
  regret_make(report, m.times, m.in);
  report->stability = stability_make(m.times, timing ? timing->context.others : NAN);
  report->has_stability = true;
  claims_make(report, m.in);
}

void document_free(document *made) {
  repetitions_close(made->times);
  record_release(&made->memory);
}

/* ---- stability ------------------------------------------------------------------------------------------- */

static const char mode[] = "hot", counter[] = "limit_bytes_per_second";

/* Returns the width of the middle half of n sorted numbers, or a little more, as a share of their median; NaN if n is
   1. */
static double middle_half(const double *sorted, size_t n, double median) {
  return n > 1 ? (sorted[n - 1 - n / 4] - sorted[n / 4]) / median : NAN;
}

static double most_slots(const repetition_index *times) {
  double most = 0;
  for (size_t i = 0; i < times->count; i++) most = fmax(most, times->all[i].entry->turn); /* fmax ignores NaN */
  return most;
}

typedef struct found {
  double *halves, *early,
      *late; /* room for a number of every sample; the latter two are shares of the median of a shape */
  size_t shapes, half_count, early_count, late_count, measured;
  double worst;
  const char *shape;
} found;

/* Adds a shape, all of whose repetitions are adjacent in the order by name. */
static void add_shape(found *f, repetition_index *times, size_t first, size_t end, double slots) {
  const char *of = times->by_name[first]->shape;
  const size_t count = repetitions_collect(times, mode, of, NULL, counter);
  if (count == 0) return;
  const double median = statistics_median(times->values, count); /* sorts the values */
  const double half = middle_half(times->values, count, median);
  f->measured += count;
  if (!(median > 0)) return;
  f->shapes++;
  if (isfinite(half)) {
    f->halves[f->half_count++] = half;
    if (!f->shape || half > f->worst) {
      f->worst = half;
      f->shape = of;
    }
  }
  for (size_t i = first; i < end; i++) {
    const record_benchmark *entry = times->by_name[i]->entry;
    const double slot = entry->turn, share = entry->limit_bytes_per_second / median;
    if (!isfinite(share) || !(share > 0) || !isfinite(slot)) continue;
    if (slot <= slots / 3) f->early[f->early_count++] = share;
    if (slot > slots * 2 / 3) f->late[f->late_count++] = share;
  }
}

record_stability stability_make(repetition_index *times, double others) {
  found f = {.halves = memory_take(times->count, sizeof *f.halves),
             .early = memory_take(times->count, sizeof *f.early),
             .late = memory_take(times->count, sizeof *f.late)};
  const double slots = most_slots(times);
  for (size_t first = 0, end; first < times->count; first = end) {
    const timed_repetition *one = times->by_name[first];
    for (end = first + 1; end < times->count && strcmp(times->by_name[end]->mode, one->mode) == 0 &&
                          strcmp(times->by_name[end]->shape, one->shape) == 0;)
      end++;
    if (strcmp(one->mode, mode) == 0) add_shape(&f, times, first, end, slots);
  }
  const bool has_both = f.early_count && f.late_count;
  const record_stability made = {.there = f.shapes > 0,
                                 .measured = (int64_t)f.measured,
                                 .shapes = (int64_t)f.shapes,
                                 .typical = f.half_count ? statistics_median(f.halves, f.half_count) : NAN,
                                 .worst = f.half_count ? f.worst : NAN,
                                 .shape = f.shape ? f.shape : record_null,
                                 .drift = has_both ? repetitions_ratio_of(f.early, f.early_count, f.late, f.late_count)
                                                   : record_empty_ratio(),
                                 .others = f.shapes ? others : NAN,
                                 .has_others = true};
  free(f.halves);
  free(f.early);
  free(f.late);
  return made;
}
