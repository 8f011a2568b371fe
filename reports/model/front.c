/* SPDX-License-Identifier: MIT */
#include "reports/model/document.h"

#include "reports/model/answer.h"

#include <string.h>

/* ---- a machine ---- */

/* Makes a use. Returns false if the kernel was not timed on that table. */
static bool make_use(record_machine_use *made, const record_report *report, const record_table *table, const char *name,
                     const char *kernel, const record_ratio *speed_up) {
  const record_row *row = report_row(table, kernel);
  const record_kernel *contract = report_kernel(report, kernel);
  if (!row || !contract || !row->timing.there || table->applied) return false;
  *made = (record_machine_use){.there = true,
                               .use = name,
                               .kernel = kernel,
                               .rows = table->shape.rows,
                               .dim = table->shape.dim,
                               .bytes = table->bytes,
                               .ns_per_element = row->timing.ns_per_element,
                               .of_limit = row->timing.of_limit,
                               .max_abs = *row->mode ? row->max_abs.abs : NAN,
                               .error = answer_budgets[answer_class(contract, table)],
                               .speed_up = *speed_up};
  return true;
}

static bool is_larger(const record_table *a, const record_table *b) {
  return a->bytes > b->bytes || (a->bytes == b->bytes && a->shape.rows > b->shape.rows);
}

/* Returns the largest table of f32, of equal ones the longest, whose time by the library's choice of one thread is
   known. Machines are beside each other by the same table. */
static const record_table *largest_of(const record_report *report) {
  const record_table *best = NULL;
  RECORD_EACH(table, report, shapes) {
    const record_row *row = report_row(table, report_choice(report, table->shape.name, true));
    if (row && row->timing.there && report_is_f32_table(table) && (!best || is_larger(table, best))) best = table;
  }
  return best;
}

record_front_machine front_machine(const record_report *report, const char *label, record_memory *in) {
  const record_environments *of = &report->environment;
  const record_facts *facts = of->timing.there ? &of->timing : &of->accuracy;
  const record_table *table = report_table(report, report->headline.shape), *largest = largest_of(report);
  const char *cpu = record_fact_text(facts, "cpu"), *timed = record_fact_text(facts, "date");
  const char *named = *cpu ? cpu : "unknown";
  const record_ratio none = record_empty_ratio();
  record_machine_use *uses = record_allocate(in, report->uses_count + 1, sizeof *uses);
  record_front_machine made = {.there = true,
                               .label = label ? record_utf8(in, label) : named,
                               .date = *timed ? timed : record_fact_text(&of->accuracy, "date"),
                               .cpu = cpu,
                               .has_cpu = true,
                               .cores = record_fact_text(facts, "cores"),
                               .has_cores = true,
                               .posenc_version = record_fact_text(facts, "posenc_version"),
                               .has_posenc_version = true,
                               .commit = record_fact_text(facts, "commit"),
                               .has_commit = true,
                               .source = "",
                               .others = record_others(report),
                               .has_others = true,
                               .uses = uses};
  RECORD_EACH(use, report, uses)
    made.uses_count += table && make_use(&uses[made.uses_count], report, table, use->use, use->kernel, &use->speed_up);
  if (largest && largest != table)
    made.uses_count += make_use(&uses[made.uses_count], report, largest, "default",
                                report_choice(report, largest->shape.name, true), &none);
  return made;
}

/* ---- several ---- */

bool front_read(front_beside *made, json_t *json, record_fault *fault) {
  const bool is_published = record_is_of(json, "posenc-published-");
  *made = (front_beside){.report = is_published ? NULL : record_read_report(json, fault),
                         .published = is_published ? record_read_published(json, fault) : NULL};
  return made->report || made->published;
}

void front_close(front_beside *of) {
  record_free(of->report);
  record_free(of->published);
}

/* Adds a machine to the list, unless a later one of that label is there, which it replaces otherwise. */
static void add_machine(record_front_machine *machines, size_t *count, const record_front_machine *one) {
  for (record_front_machine *other = machines; other < machines + *count; other++) {
    if (strcmp(other->label, one->label) != 0) continue;
    if (record_seconds(one->date) > record_seconds(other->date)) *other = *one;
    return;
  }
  machines[(*count)++] = *one;
}

static size_t machines_in(const front_beside *of) {
  return of->published ? of->published->machines_count : of->report->machines_count;
}

static void add_beside(record_front_machine *machines, size_t *count, const front_beside *of, record_memory *in) {
  const record_front_machine *all = of->published ? of->published->machines : of->report->machines;
  for (size_t i = 0; i < machines_in(of); i++) add_machine(machines, count, &all[i]);
  if (machines_in(of) || !of->report) return;
  const record_front_machine made = front_machine(of->report, NULL, in); /* of a version before 0.2, without a list */
  add_machine(machines, count, &made);
}

/* ---- packages ---- */

/* Whether a row of make time-peers is of a package, not of one of posenc's own ways. */
static bool is_foreign(const record_package_row *row) {
  return !strstr(row->way, "posenc");
}

/* Whether a row of make time-peers is a package that made the reference table with one thread. */
static bool is_shown(const record_package_row *row, const record_table *table) {
  return table && strcmp(row->op, "table") == 0 && row->threads == 1 && row->rows == table->shape.rows &&
         row->dim == table->shape.dim && is_foreign(row) && isfinite(row->beside.posenc.median);
}

/* Whether another way of the same package does the same faster. */
static bool is_slower_way(const record_package_times *of, const record_package_row *row) {
  RECORD_EACH(other, of, rows)
    if (strcmp(other->package, row->package) == 0 && strcmp(other->problem, row->problem) == 0 && other->threads == 1 &&
        is_foreign(other) && other->beside.posenc.median < row->beside.posenc.median)
      return true;
  return false;
}

static record_package package_of(const record_package_times *of, const record_package_row *row) {
  const record_package_quotient *ratio = &row->beside.posenc;
  return (record_package){
      .there = true,
      .name = row->package,
      .version = record_fact_text(&of->versions, row->package),
      .way = row->way,
      .problem = row->problem,
      .max_abs = row->error,
      .ratio = {.there = true, .estimate = ratio->median, .low = ratio->low, .high = ratio->high, .kernel = ""},
      .date = of->date,
      .machine = of->machine,
      .busy = of->busy};
}

static void add_packages(record_report *report, const record_package_times *of, record_memory *in) {
  const record_table *table = report_table(report, report_reference);
  record_package *packages = record_allocate(in, of->rows_count, sizeof *packages);
  report->packages = packages;
  RECORD_EACH(row, of, rows)
    if (is_shown(row, table) && !is_slower_way(of, row)) packages[report->packages_count++] = package_of(of, row);
}

/* ---- both ---- */

void front_add(record_report *report, const front_inputs *given, record_memory *in) {
  size_t most = 1;
  for (size_t i = 0; i < given->count; i++) most += 1 + machines_in(&given->beside[i]);
  record_front_machine *machines = record_allocate(in, most, sizeof *machines);
  *machines = front_machine(report, given->label, in);
  report->machines = machines;
  report->machines_count = 1;
  for (size_t i = 0; i < given->count; i++) add_beside(machines, &report->machines_count, &given->beside[i], in);
  add_packages(report, given->packages ? given->packages : &(record_package_times){.rows_count = 0}, in);
  for (size_t i = 0; i < given->count && !given->packages && !report->packages_count; i++) {
    const front_beside *one = &given->beside[i];
    if (one->published ? !one->published->packages_count : !one->report->packages_count) continue;
    report->packages = one->published ? one->published->packages : one->report->packages;
    report->packages_count = one->published ? one->published->packages_count : one->report->packages_count;
  }
}
