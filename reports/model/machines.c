/* SPDX-License-Identifier: MIT */
#include "reports/model/compose.h"

#include "common/field.h"
#include "common/memory.h"
#include "common/shapes.h"
#include "records/read.h"
#include "reports/model/answer.h"
#include "reports/model/document.h"

#include <stdlib.h>

typedef struct machine_list {
  const record_report **reports; /* as many as names */
  char *const *names;
  size_t count;
} machine_list;

/* ---- whether reports can be compared ---- */

/* Whether two reports are of one run. The environment has date and load, so no two runs have the same one. */
static bool is_same_run(const record_report *a, const record_report *b) {
  return json_equal(a->environment.json, b->environment.json);
}

static bool read_reports(const machine_list *m, json_t *const *reports, char *why, size_t size) {
  for (size_t i = 0; i < m->count; i++) {
    record_fault fault;
    m->reports[i] = record_read_report(reports[i], &fault);
    if (!m->reports[i]) {
      snprintf(why, size, "%.200s: not a report.json of posenc report: %s", m->names[i], fault.text);
      return false;
    }
    for (size_t k = 0; k < i; k++) {
      if (!is_same_run(m->reports[k], m->reports[i])) continue;
      snprintf(why, size, "%.200s and %.200s: the same run of the same machine", m->names[k], m->names[i]);
      return false;
    }
  }
  return true;
}

/* ---- labels ---- */

static const char *cpu_of(const record_report *report) {
  const char *cpu = field_string(report->environment.accuracy, "cpu");
  return *cpu ? cpu : "unknown";
}

/* Returns the CPU as label, with a number if several machines have the same CPU. */
static json_t *label_of(const machine_list *m, size_t number) {
  const char *cpu = cpu_of(m->reports[number]);
  size_t before = 0, all = 0;
  for (size_t i = 0; i < m->count; i++) {
    const bool same = strcmp(cpu_of(m->reports[i]), cpu) == 0;
    all += same;
    before += same && i < number;
  }
  return all > 1 ? json_sprintf("%s (%d)", cpu, (int)before + 1) : json_string(cpu);
}

/* Whether the labels differ from each other. A given label may be equal to the CPU of another machine. */
static bool have_own_labels(const machine_list *m, const json_t *machines, char *why, size_t size) {
  for (size_t i = 0; i < json_array_size(machines); i++)
    for (size_t k = 0; k < i; k++) {
      const char *name = field_string(json_array_get(machines, i), "label");
      if (strcmp(field_string(json_array_get(machines, k), "label"), name) != 0) continue;
      snprintf(why, size, "%.200s and %.200s: both are called %.200s; --label gives another name", m->names[k],
               m->names[i], name);
      return false;
    }
  return true;
}

/* Returns the share of the processors that other processes used while times were taken; NaN if it is not known. */
static double others_of(const record_report *report) {
  return report->stability.there ? report->stability.others : NAN;
}

static json_t *make_machines(const machine_list *m, const machines_inputs *given) {
  json_t *machines = json_array();
  for (size_t i = 0; i < m->count; i++) {
    json_t *label = i < given->label_count ? json_string(given->labels[i]) : label_of(m, i);
    field_append(machines,
                 json_pack("{s:o, s:I, s:o, s:O}", "label", label, "failed", (json_int_t)m->reports[i]->checks.failed,
                           "others", field_real(others_of(m->reports[i])), "environment",
                           m->reports[i]->environment.json));
  }
  return machines;
}

/* Returns what stands first on the page of several machines. */
static json_t *make_front(const machine_list *m, const json_t *machines) {
  json_t *front = json_array();
  for (size_t i = 0; i < m->count; i++)
    field_append(front, front_machine(m->reports[i], field_string(json_array_get(machines, i), "label")));
  return front;
}

/* ---- rows of a kernel on a shape ---- */

/* Returns the entry of a machine for the same shape, or null. The name alone does not identify a shape. */
static const record_table *same_table(const machine_list *m, size_t machine, const record_table *table) {
  const record_table *found = report_table(m->reports[machine], table->shape.name);
  return found && json_equal(found->shape.json, table->shape.json) ? found : NULL;
}

static const record_row *same_row(const machine_list *m, size_t machine, const record_table *table,
                                  const char *kernel) {
  return report_row(same_table(m, machine, table), kernel);
}

static bool is_timed(const record_row *row) {
  return row && row->timing.bytes_per_second.median > 0;
}

static bool is_any_timed(const record_table *table) {
  if (!table) return false;
  RECORD_EACH(row, table, rows)
    if (is_timed(row)) return true;
  return false;
}

/* Returns all kernels, each once, in the order of the first machine that has them. */
static json_t *kernel_names(const machine_list *m) {
  json_t *names = json_object();
  for (size_t i = 0; i < m->count; i++)
    RECORD_EACH(kernel, m->reports[i], kernels) field_put(names, kernel->name, json_true());
  return names;
}

/* The position in a list of the shapes of all machines, each once. It begins as {0, null}. */
typedef struct cursor {
  size_t machine;
  const record_table *table;
} cursor;

static bool is_first_with(const machine_list *m, size_t machine, const record_table *table) {
  for (size_t i = 0; i < machine; i++)
    if (same_table(m, i, table)) return false;
  return true;
}

static const record_table *next_table(const machine_list *m, cursor *at) {
  for (; at->machine < m->count; at->machine++, at->table = NULL) {
    const record_report *report = m->reports[at->machine];
    at->table = at->table ? at->table + 1 : report->shapes;
    for (; at->table < report->shapes + report->shapes_count; at->table++)
      if (is_first_with(m, at->machine, at->table)) return at->table;
  }
  return NULL;
}

/* ---- the fastest ---- */

static json_t *spread_json(const record_spread *spread) {
  return spread->json ? json_incref(spread->json) : json_null();
}

static json_t *speed_of(const record_row *row) {
  return json_pack("{s:o, s:o}", "bytes_per_second", spread_json(&row->timing.bytes_per_second), "of_limit",
                   spread_json(&row->timing.of_limit));
}

static json_t *fastest_on(const machine_list *m, size_t machine, const record_table *table, answer_budget budget) {
  const record_table *there = same_table(m, machine, table);
  const char *kernel = answer_fastest(m->reports[machine], there, budget);
  return kernel ? field_put(speed_of(report_row(there, kernel)), "kernel", json_string(kernel)) : json_null();
}

static void add_fastest(const machine_list *m, json_t *list, const char *footprint, const record_table *table) {
  for (answer_budget b = ANSWER_HALF; table && b < ANSWER_BUDGETS; b++) {
    json_t *machines = json_array();
    for (size_t i = 0; i < m->count; i++) field_append(machines, fastest_on(m, i, table, b));
    field_append(list, json_pack("{s:s, s:s, s:o, s:s, s:o}", "shape", table->shape.name, "footprint", footprint,
                                 "bytes", field_real(table->bytes), "budget", answer_budgets[b], "machines", machines));
  }
}

/* Whether this is a table of f32, from position 0 on, that all machines timed. */
static bool is_common(const machine_list *m, const record_table *table) {
  if (!report_is_f32_table(table) || table->shape.first != 0) return false;
  for (size_t i = 0; i < m->count; i++)
    if (!answer_fastest(m->reports[i], same_table(m, i, table), ANSWER_ANY)) return false;
  return true;
}

/* Returns the largest such table of at most `most` bytes. */
static const record_table *largest_common(const machine_list *m, double most) {
  const record_table *best = NULL;
  RECORD_EACH(table, m->reports[0], shapes)
    if (table->bytes > 0 && table->bytes <= most && is_common(m, table) && (!best || table->bytes > best->bytes))
      best = table;
  return best;
}

static double least_cache(const machine_list *m) {
  double least = INFINITY;
  for (size_t i = 0; i < m->count; i++) /* an unknown size is 0 */
    least = fmin(least, strtod(field_string(m->reports[i]->environment.timing, "l2"), NULL));
  return least;
}

static json_t *make_fastest(const machine_list *m) {
  const record_table *reference = report_table(m->reports[0], report_reference);
  json_t *list = json_array();
  if (reference && is_common(m, reference)) add_fastest(m, list, "reference", reference);
  add_fastest(m, list, "largest", largest_common(m, INFINITY));
  add_fastest(m, list, "in cache", largest_common(m, least_cache(m) / 2));
  return list;
}

/* ---- times of common shapes ---- */

static json_t *times_of(const machine_list *m, const record_table *table, json_t *kernels) {
  json_t *list = json_array(), *unused;
  const char *kernel;
  json_object_foreach(kernels, kernel, unused) {
    json_t *machines = json_array();
    bool any = false;
    for (size_t i = 0; i < m->count; i++) {
      const record_row *row = same_row(m, i, table, kernel);
      any = any || is_timed(row);
      field_append(machines, is_timed(row) ? speed_of(row) : json_null());
    }
    if (any)
      field_append(list, json_pack("{s:s, s:o}", "kernel", kernel, "machines", machines));
    else
      json_decref(machines);
  }
  return json_pack("{s:O, s:o, s:o}", "shape", table->shape.json, "bytes", field_real(table->bytes), "kernels", list);
}

/* Returns the times of the shapes that two or more machines timed. */
static json_t *make_times(const machine_list *m, json_t *kernels) {
  json_t *times = json_array();
  cursor at = {0, NULL};
  for (const record_table *table; (table = next_table(m, &at));) {
    size_t timed = 0;
    for (size_t i = 0; i < m->count; i++) timed += is_any_timed(same_table(m, i, table));
    if (timed >= 2) field_append(times, times_of(m, table, kernels));
  }
  return times;
}

/* ---- accuracy ---- */

static bool is_same(const json_t *a, const json_t *b, const char *key) {
  return json_equal(json_object_get(a, key), json_object_get(b, key));
}

/* Whether both were built from the same sources, so that their reproducible kernels must have the same bits. */
static bool is_same_version(const record_report *a, const record_report *b) {
  const json_t *one = a->environment.accuracy, *other = b->environment.accuracy;
  return record_names_sources(one) && is_same(one, other, "posenc_version") && is_same(one, other, "commit");
}

/* Whether the same elements were compared on both. The seed determines the sample and x, the budget the size of the
   sample. */
static bool is_like(const machine_list *m, size_t i, size_t k, const record_table *table, const char *kernel) {
  const record_row *a = same_row(m, i, table, kernel), *b = same_row(m, k, table, kernel);
  const char *op = table->shape.op;
  const bool sampled = strcmp(a->mode, "sampled") == 0, applied = *op && strcmp(op, "table") != 0;
  if (strcmp(a->mode, b->mode) != 0 || (!sampled && strcmp(a->mode, "exhaustive") != 0)) return false;
  if (a->elements != b->elements) return false;
  if ((sampled || applied) && m->reports[i]->seed != m->reports[k]->seed) return false;
  return !sampled || m->reports[i]->budget == m->reports[k]->budget;
}

/* Whether the numbers are equal, where NaN equals NaN. */
static bool is_same_number(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

static bool has_same_figures(const record_row *a, const record_row *b) {
  return is_same_number(a->max_ulp.ulp, b->max_ulp.ulp) && is_same_number(a->max_abs.abs, b->max_abs.abs) &&
         a->misrounded == b->misrounded;
}

static bool is_reproducible(const record_report *report, const char *name) {
  const record_kernel *kernel = record_find_kernel(report->kernels, report->kernels_count, name);
  return kernel && kernel->reproducible;
}

/* The result of comparing a kernel on a shape between all pairs of machines. */
typedef struct verdict {
  bool unlike, compared, bits, differs, broken;
} verdict;

static void compare_pair(const machine_list *m, size_t i, size_t k, const record_table *table, const char *kernel,
                         verdict *v) {
  const record_row *a = same_row(m, i, table, kernel), *b = same_row(m, k, table, kernel);
  if (!a || !b || !*a->digest || !*b->digest) return;
  if (!is_like(m, i, k, table, kernel)) {
    v->unlike = true;
    return;
  }
  const bool same_bits = strcmp(a->digest, b->digest) == 0, held = is_reproducible(m->reports[i], kernel) &&
                                                                   is_reproducible(m->reports[k], kernel) &&
                                                                   is_same_version(m->reports[i], m->reports[k]);
  v->compared = true;
  v->bits = v->bits || held;
  v->differs = v->differs || !same_bits || !has_same_figures(a, b);
  v->broken = v->broken || (held && !same_bits);
}

static json_t *figures_of(const record_row *row) {
  if (!row || !*row->digest) return json_null();
  return json_pack("{s:o, s:o, s:O?, s:s}", "max_ulp", field_real(row->max_ulp.ulp), "max_abs",
                   field_real(row->max_abs.abs), "misrounded", json_object_get(row->json, "misrounded"), "digest",
                   row->digest);
}

static json_t *difference_of(const machine_list *m, const record_table *table, const char *kernel, bool broken) {
  json_t *machines = json_array();
  for (size_t i = 0; i < m->count; i++) field_append(machines, figures_of(same_row(m, i, table, kernel)));
  return json_pack("{s:s, s:s, s:b, s:o}", "kernel", kernel, "shape", table->shape.name, "broken", (int)broken,
                   "machines", machines);
}

/* Counts and differences. `broken_ones` are reproducible kernels with different bits, which are listed first. */
typedef struct agreement {
  json_int_t compared, same, unlike, bits, broken;
  json_t *broken_ones, *others;
} agreement;

static void compare_table(const machine_list *m, const record_table *table, json_t *kernels, agreement *made) {
  const char *kernel;
  json_t *unused;
  json_object_foreach(kernels, kernel, unused) {
    verdict v = {.compared = false};
    for (size_t i = 0; i < m->count; i++)
      for (size_t k = i + 1; k < m->count; k++) compare_pair(m, i, k, table, kernel, &v);
    made->unlike += v.unlike;
    made->compared += v.compared;
    made->bits += v.bits;
    made->same += v.compared && !v.differs;
    made->broken += v.broken;
    if (!v.differs) continue;
    field_append(v.broken ? made->broken_ones : made->others, difference_of(m, table, kernel, v.broken));
  }
}

/* Whether the kernel's contract in that dtype is correct rounding. */
static bool is_correct(const record_kernel *kernel, posenc_dtype dtype) {
  const posenc_bound bound = report_bound_in(kernel, dtype);
  return kernel->bound.derived && bound.ulp <= 0.5 && bound.abs == 0.0 && bound.growth == 0.0;
}

static bool is_table_of(const record_table *table, posenc_dtype dtype) {
  const char *op = table->shape.op;
  return report_dtype(&table->shape) == dtype && (!*op || strcmp(op, "table") == 0);
}

/* Whether the first error is larger. NaN is the largest. */
static bool is_larger(double one, double other) {
  return isnan(one) || one > other;
}

/* Returns what the tables of a dtype say of a kernel on a machine. */
static json_t *cell_of(const record_report *report, const char *name, posenc_dtype dtype, json_int_t *wrong) {
  const record_kernel *kernel = record_find_kernel(report->kernels, report->kernels_count, name);
  const record_row *worst = NULL;
  json_int_t misrounded = 0, elements = 0;
  double max_abs = 0.0;
  RECORD_EACH(table, report, shapes) {
    const record_row *row = is_table_of(table, dtype) ? report_row(table, name) : NULL;
    if (!row || row->elements <= 0) continue;
    misrounded += row->misrounded > 0 ? row->misrounded : 0;
    elements += row->elements;
    if (is_larger(row->max_abs.abs, max_abs)) max_abs = row->max_abs.abs;
    if (!worst || is_larger(row->max_ulp.ulp, worst->max_ulp.ulp)) worst = row;
  }
  if (!worst || !kernel) return json_null();
  const bool is_wrong = misrounded && is_correct(kernel, dtype);
  *wrong += is_wrong;
  return json_pack("{s:o, s:o, s:I, s:I, s:b, s:s}", "max_ulp", field_real(worst->max_ulp.ulp), "max_abs",
                   field_real(max_abs), "misrounded", misrounded, "elements", elements, "wrong", (int)is_wrong,
                   "replay", *worst->max_ulp.replay ? worst->max_ulp.replay : worst->replay);
}

/* Returns a row for each kernel and dtype that a machine has tables of, and counts the wrong cells. */
static json_t *make_rows(const machine_list *m, json_t *kernels, json_int_t *wrong) {
  json_t *rows = json_array(), *unused;
  const char *kernel;
  json_object_foreach(kernels, kernel, unused) for (posenc_dtype dtype = POSENC_F32; dtype_names[dtype]; dtype++) {
    json_t *machines = json_array();
    bool any = false;
    for (size_t i = 0; i < m->count; i++) {
      json_t *cell = cell_of(m->reports[i], kernel, dtype, wrong);
      any = any || !json_is_null(cell);
      field_append(machines, cell);
    }
    if (any)
      field_append(rows,
                   json_pack("{s:s, s:s, s:o}", "kernel", kernel, "dtype", dtype_names[dtype], "machines", machines));
    else
      json_decref(machines);
  }
  return rows;
}

static json_t *make_accuracy(const machine_list *m, json_t *kernels) {
  json_int_t wrong = 0;
  agreement made = {.broken_ones = json_array(), .others = json_array()};
  cursor at = {0, NULL};
  for (const record_table *table; (table = next_table(m, &at));) compare_table(m, table, kernels, &made);
  json_array_extend(made.broken_ones, made.others);
  json_decref(made.others);
  json_t *rows = make_rows(m, kernels, &wrong);
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I}", "compared", made.compared, "same", made.same, "unlike",
                   made.unlike, "bits", made.bits, "broken", made.broken, "differences", made.broken_ones, "rows", rows,
                   "wrong", wrong);
}

/* ---- the document ---- */

static json_t *make_document(const machine_list *m, const machines_inputs *given, char *why, size_t size) {
  json_t *machines = make_machines(m, given), *kernels = kernel_names(m), *line = json_string(given->command);
  json_t *made = NULL;
  if (!line) line = json_string(""); /* the command line is not UTF-8 */
  if (have_own_labels(m, machines, why, size))
    made = json_pack("{s:s, s:o, s:O, s:o, s:o, s:o, s:o}", "schema", "posenc-machines-1", "command", line, "machines",
                     machines, "fastest", make_fastest(m), "times", make_times(m, kernels), "accuracy",
                     make_accuracy(m, kernels), "front", make_front(m, machines));
  else
    json_decref(line);
  json_decref(kernels);
  json_decref(machines);
  return made;
}

json_t *machines_make(const machines_inputs *given, char *why, size_t size) {
  const machine_list m = {memory_take(given->count, sizeof(*m.reports)), given->names, given->count};
  json_t *made = NULL;
  if (read_reports(&m, given->reports, why, size)) made = make_document(&m, given, why, size);
  for (size_t i = 0; i < m.count; i++) record_free(m.reports[i]);
  free(m.reports);
  return made;
}
