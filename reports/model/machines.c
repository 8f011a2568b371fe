/* SPDX-License-Identifier: MIT */
#include "reports/model/document.h"

#include "common/shapes.h"
#include "records/record.h"
#include "reports/model/answer.h"

#include <stdlib.h>
#include <string.h>

/* The inputs, what is made of them, and all kernels, each once, in the order of the first machine that has them. */
typedef struct machine_list {
  const record_report *const *reports; /* as many as names */
  char *const *names;
  size_t count;
  record_memory *in;
  const char **kernels;
  size_t kernels_count;
} machine_list;

/* ---- whether reports can be compared ---- */

/* Whether two reports are of one run. The environment has date and load, so no two runs have the same one. */
static bool is_same_run(const record_report *a, const record_report *b) {
  return record_same_environments(&a->environment, &b->environment);
}

static bool are_all_runs(const machine_list *m, char *why, size_t size) {
  for (size_t i = 0; i < m->count; i++)
    for (size_t k = 0; k < i; k++) {
      if (!is_same_run(m->reports[k], m->reports[i])) continue;
      snprintf(why, size, "%.200s and %.200s: the same run of the same machine", m->names[k], m->names[i]);
      return false;
    }
  return true;
}

/* ---- labels ---- */

static const char *cpu_of(const record_report *report) {
  const char *cpu = record_fact_text(&report->environment.accuracy, "cpu");
  return *cpu ? cpu : "unknown";
}

/* Returns the CPU as label, with a number if several machines have the same CPU. */
static const char *label_of(const machine_list *m, size_t number) {
  const char *cpu = cpu_of(m->reports[number]);
  size_t before = 0, all = 0;
  for (size_t i = 0; i < m->count; i++) {
    const bool same = strcmp(cpu_of(m->reports[i]), cpu) == 0;
    all += same;
    before += same && i < number;
  }
  return all > 1 ? record_format(m->in, "%s (%zu)", cpu, before + 1) : cpu;
}

/* Whether the labels differ from each other. A given label may be equal to the CPU of another machine. */
static bool have_own_labels(const machine_list *m, const record_machine *machines, char *why, size_t size) {
  for (size_t i = 0; i < m->count; i++)
    for (size_t k = 0; k < i; k++) {
      const char *name = machines[i].label;
      if (strcmp(machines[k].label, name) != 0) continue;
      snprintf(why, size, "%.200s and %.200s: both are called %.200s; --label gives another name", m->names[k],
               m->names[i], name);
      return false;
    }
  return true;
}

static const record_machine *make_machines(const machine_list *m, const machines_inputs *given) {
  record_machine *machines = record_allocate(m->in, m->count, sizeof *machines);
  for (size_t i = 0; i < m->count; i++)
    machines[i] = (record_machine){.there = true,
                                   .label = i < given->label_count ? given->labels[i] : label_of(m, i),
                                   .failed = m->reports[i]->checks.failed,
                                   .others = record_others(m->reports[i]),
                                   .has_others = true,
                                   .environment = m->reports[i]->environment};
  return machines;
}

/* Returns what stands first on the page of several machines. */
static const record_front_machine *make_front(const machine_list *m, const record_machine *machines) {
  record_front_machine *front = record_allocate(m->in, m->count, sizeof *front);
  for (size_t i = 0; i < m->count; i++) front[i] = front_machine(m->reports[i], machines[i].label, m->in);
  return front;
}

/* ---- rows of a kernel on a shape ---- */

/* Returns the entry of a machine for the same shape, or null. The name alone does not identify a shape. */
static const record_table *same_table(const machine_list *m, size_t machine, const record_table *table) {
  const record_table *found = report_table(m->reports[machine], table->shape.name);
  return found && record_same_table_shape(&found->shape, &table->shape) ? found : NULL;
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

static bool has_kernel(const machine_list *m, const char *name) {
  for (size_t i = 0; i < m->kernels_count; i++)
    if (strcmp(m->kernels[i], name) == 0) return true;
  return false;
}

static void list_kernels(machine_list *m) {
  size_t most = 0;
  for (size_t i = 0; i < m->count; i++) most += m->reports[i]->kernels_count;
  m->kernels = record_allocate(m->in, most, sizeof(*m->kernels));
  for (size_t i = 0; i < m->count; i++)
    RECORD_EACH(kernel, m->reports[i], kernels)
      if (!has_kernel(m, kernel->name)) m->kernels[m->kernels_count++] = kernel->name;
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

/* Returns the speed of a row, which is not there if nothing was timed. */
static record_machine_speed speed_of(const record_row *row) {
  const record_row_timing none = record_empty_row_timing(), *of = row ? &row->timing : &none;
  return (record_machine_speed){
      .there = row, .bytes_per_second = of->bytes_per_second, .of_limit = of->of_limit, .kernel = ""};
}

static record_machine_speed fastest_on(const machine_list *m, size_t machine, const record_table *table,
                                       answer_budget budget) {
  const record_table *there = same_table(m, machine, table);
  const char *kernel = answer_fastest(m->reports[machine], there, budget);
  record_machine_speed made = speed_of(kernel ? report_row(there, kernel) : NULL);
  if (kernel) made.kernel = kernel;
  return made;
}

/* The list of the fastest, with room for three tables. */
enum { TABLES = 3 };

static void add_fastest(const machine_list *m, record_machines *made, record_fastest_of_machines *list,
                        const char *footprint, const record_table *table) {
  for (answer_budget b = ANSWER_HALF; table && b < ANSWER_BUDGETS; b++) {
    record_machine_speed *machines = record_allocate(m->in, m->count, sizeof *machines);
    for (size_t i = 0; i < m->count; i++) machines[i] = fastest_on(m, i, table, b);
    list[made->fastest_count++] = (record_fastest_of_machines){.there = true,
                                                               .shape = table->shape.name,
                                                               .footprint = footprint,
                                                               .bytes = table->bytes,
                                                               .budget = answer_budgets[b],
                                                               .machines = machines,
                                                               .machines_count = m->count};
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
    least = fmin(least, strtod(record_fact_text(&m->reports[i]->environment.timing, "l2"), NULL));
  return least;
}

static void set_fastest(const machine_list *m, record_machines *made) {
  const record_table *reference = report_table(m->reports[0], report_reference);
  record_fastest_of_machines *list = record_allocate(m->in, TABLES * ANSWER_BUDGETS, sizeof *list);
  made->fastest = list;
  if (reference && is_common(m, reference)) add_fastest(m, made, list, "reference", reference);
  add_fastest(m, made, list, "largest", largest_common(m, INFINITY));
  add_fastest(m, made, list, "in cache", largest_common(m, least_cache(m) / 2));
}

/* ---- times of common shapes ---- */

static record_times_of_machines times_of(const machine_list *m, const record_table *table) {
  record_kernel_on_machines *list = record_allocate(m->in, m->kernels_count, sizeof *list);
  record_times_of_machines made = {.there = true, .shape = table->shape, .bytes = table->bytes, .kernels = list};
  for (size_t k = 0; k < m->kernels_count; k++) {
    record_machine_speed *machines = record_allocate(m->in, m->count, sizeof *machines);
    bool any = false;
    for (size_t i = 0; i < m->count; i++) {
      const record_row *row = same_row(m, i, table, m->kernels[k]);
      any = any || is_timed(row);
      machines[i] = speed_of(is_timed(row) ? row : NULL);
    }
    if (any)
      list[made.kernels_count++] = (record_kernel_on_machines){
          .there = true, .kernel = m->kernels[k], .machines = machines, .machines_count = m->count};
  }
  return made;
}

static size_t all_tables(const machine_list *m) {
  size_t count = 0;
  for (size_t i = 0; i < m->count; i++) count += m->reports[i]->shapes_count;
  return count;
}

/* Sets the times of the shapes that two or more machines timed. */
static void set_times(const machine_list *m, record_machines *made) {
  record_times_of_machines *times = record_allocate(m->in, all_tables(m), sizeof *times);
  cursor at = {0, NULL};
  made->times = times;
  for (const record_table *table; (table = next_table(m, &at));) {
    size_t timed = 0;
    for (size_t i = 0; i < m->count; i++) timed += is_any_timed(same_table(m, i, table));
    if (timed >= 2) times[made->times_count++] = times_of(m, table);
  }
}

/* ---- accuracy ---- */

static bool is_same(const record_facts *a, const record_facts *b, const char *key) {
  return record_same_fact(record_find_fact(a, key), record_find_fact(b, key));
}

/* Whether both were built from the same sources, so that their reproducible kernels must have the same bits. */
static bool is_same_version(const record_report *a, const record_report *b) {
  const record_facts *one = &a->environment.accuracy, *other = &b->environment.accuracy;
  return record_names_sources(one) && is_same(one, other, "posenc_version") && is_same(one, other, "commit");
}

static bool has_same_figures(const record_row *a, const record_row *b) {
  return record_same_number(a->max_ulp.ulp, b->max_ulp.ulp) && record_same_number(a->max_abs.abs, b->max_abs.abs) &&
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
  const record_elements one = RECORD_ELEMENTS_OF(a, &table->shape, m->reports[i]),
                        other = RECORD_ELEMENTS_OF(b, &table->shape, m->reports[k]);
  if (record_unlike_elements(&one, &other, NULL)) {
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

/* Returns figures, which are not there if there is no row, or if it has no digest. */
static record_machine_figures figures_of(const record_row *row) {
  if (!row || !*row->digest)
    return (record_machine_figures){.max_ulp = NAN, .max_abs = NAN, .misrounded = NAN, .digest = ""};
  return (record_machine_figures){.there = true,
                                  .max_ulp = row->max_ulp.ulp,
                                  .max_abs = row->max_abs.abs,
                                  .misrounded = row->has_misrounded ? (double)row->misrounded : NAN,
                                  .digest = row->digest};
}

static record_difference_of_machines difference_of(const machine_list *m, const record_table *table, const char *kernel,
                                                   bool broken) {
  record_machine_figures *machines = record_allocate(m->in, m->count, sizeof *machines);
  for (size_t i = 0; i < m->count; i++) machines[i] = figures_of(same_row(m, i, table, kernel));
  return (record_difference_of_machines){.there = true,
                                         .kernel = kernel,
                                         .shape = table->shape.name,
                                         .broken = broken,
                                         .machines = machines,
                                         .machines_count = m->count};
}

/* Compares a table on all machines, and adds the kernels that differ to `list`, which has room for all. */
static void compare_table(const machine_list *m, const record_table *table, record_accuracy_of_machines *made,
                          record_difference_of_machines *list) {
  for (size_t n = 0; n < m->kernels_count; n++) {
    const char *kernel = m->kernels[n];
    verdict v = {.compared = false};
    for (size_t i = 0; i < m->count; i++)
      for (size_t k = i + 1; k < m->count; k++) compare_pair(m, i, k, table, kernel, &v);
    made->unlike += v.unlike;
    made->compared += v.compared;
    made->bits += v.bits;
    made->same += v.compared && !v.differs;
    made->broken += v.broken;
    if (!v.differs) continue;
    list[made->differences_count++] = difference_of(m, table, kernel, v.broken);
  }
}

/* Returns the differences with those of reproducible kernels first. */
static const record_difference_of_machines *broken_first(const machine_list *m,
                                                         const record_difference_of_machines *all, size_t count) {
  record_difference_of_machines *sorted = record_allocate(m->in, count, sizeof *sorted);
  size_t used = 0;
  for (int broken = 1; broken >= 0; broken--)
    for (size_t i = 0; i < count; i++)
      if (all[i].broken == broken) sorted[used++] = all[i];
  return sorted;
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

/* Returns what the tables of a dtype say of a kernel on a machine; it is not there if there are none. */
static record_accuracy_cell cell_of(const record_report *report, const char *name, posenc_dtype dtype) {
  const record_kernel *kernel = record_find_kernel(report->kernels, report->kernels_count, name);
  const record_row *worst = NULL;
  int64_t misrounded = 0, elements = 0;
  double max_abs = 0.0;
  RECORD_EACH(table, report, shapes) {
    const record_row *row = is_table_of(table, dtype) ? report_row(table, name) : NULL;
    if (!row || row->elements <= 0) continue;
    misrounded += row->misrounded > 0 ? row->misrounded : 0;
    elements += row->elements;
    if (is_larger(row->max_abs.abs, max_abs)) max_abs = row->max_abs.abs;
    if (!worst || is_larger(row->max_ulp.ulp, worst->max_ulp.ulp)) worst = row;
  }
  if (!worst || !kernel) return (record_accuracy_cell){.max_ulp = NAN, .max_abs = NAN, .replay = ""};
  return (record_accuracy_cell){.there = true,
                                .max_ulp = worst->max_ulp.ulp,
                                .max_abs = max_abs,
                                .misrounded = misrounded,
                                .elements = elements,
                                .wrong = misrounded && is_correct(kernel, dtype),
                                .replay = *worst->max_ulp.replay ? worst->max_ulp.replay : worst->replay};
}

/* Sets a row for each kernel and dtype that a machine has tables of, and counts the wrong cells. */
static void set_rows(const machine_list *m, record_accuracy_of_machines *made) {
  size_t dtypes = 0;
  while (dtype_names[dtypes]) dtypes++;
  record_accuracy_row *rows = record_allocate(m->in, m->kernels_count * dtypes, sizeof *rows);
  made->rows = rows;
  for (size_t n = 0; n < m->kernels_count * dtypes; n++) {
    const posenc_dtype dtype = (posenc_dtype)(n % dtypes);
    const char *kernel = m->kernels[n / dtypes];
    record_accuracy_cell *machines = record_allocate(m->in, m->count, sizeof *machines);
    bool any = false;
    for (size_t i = 0; i < m->count; i++) {
      machines[i] = cell_of(m->reports[i], kernel, dtype);
      any = any || machines[i].there;
      made->wrong += machines[i].wrong;
    }
    if (any)
      rows[made->rows_count++] = (record_accuracy_row){.there = true,
                                                       .kernel = kernel,
                                                       .dtype = dtype_names[dtype],
                                                       .machines = machines,
                                                       .machines_count = m->count};
  }
}

static record_accuracy_of_machines accuracy_of(const machine_list *m) {
  record_accuracy_of_machines made = {.there = true, .has_wrong = true};
  record_difference_of_machines *list = record_allocate(m->in, all_tables(m) * m->kernels_count, sizeof *list);
  cursor at = {0, NULL};
  for (const record_table *table; (table = next_table(m, &at));) compare_table(m, table, &made, list);
  made.differences = broken_first(m, list, made.differences_count);
  set_rows(m, &made);
  return made;
}

/* ---- the document ---- */

bool machines_make(record_machines *made, const machines_inputs *given, record_memory *in, char *why, size_t size) {
  machine_list m = {.reports = given->reports, .names = given->names, .count = given->count, .in = in};
  if (!are_all_runs(&m, why, size)) return false;
  const record_machine *machines = make_machines(&m, given);
  if (!have_own_labels(&m, machines, why, size)) return false;
  list_kernels(&m);
  *made = (record_machines){.there = true,
                            .schema = "posenc-machines-1",
                            .command = record_utf8(in, given->command),
                            .machines = machines,
                            .machines_count = m.count,
                            .accuracy = accuracy_of(&m),
                            .front = make_front(&m, machines),
                            .front_count = m.count};
  if (given->packages) made->packages = *given->packages;
  set_fastest(&m, made);
  set_times(&m, made);
  return true;
}
