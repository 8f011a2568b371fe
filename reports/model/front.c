/* SPDX-License-Identifier: MIT */
#include "reports/model/compose.h"

#include "common/field.h"
#include "reports/model/answer.h"
#include "reports/model/document.h"

/* ---- a machine ---- */

static json_t *spread_of(const record_spread *spread) {
  return spread->json ? json_incref(spread->json) : json_null();
}

static json_t *use_of(const record_report *report, const record_table *table, const char *name, const char *kernel,
                      const record_ratio *speed_up) {
  const record_row *row = report_row(table, kernel);
  const record_kernel *contract = report_kernel(report, kernel);
  if (!row || !contract || !row->timing.there || table->applied) return NULL;
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "use", name, "kernel", kernel, "rows",
                   field_whole(table->shape.rows), "dim", field_whole(table->shape.dim), "bytes",
                   field_real(table->bytes), "ns_per_element", spread_of(&row->timing.ns_per_element), "of_limit",
                   spread_of(&row->timing.of_limit), "max_abs", field_real(*row->mode ? row->max_abs.abs : NAN),
                   "error", answer_budgets[answer_class(contract, table)], "speed_up",
                   speed_up && speed_up->there ? json_incref(speed_up->json) : json_null());
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

json_t *front_machine(const record_report *report, const char *label) {
  static const char *const facts[] = {"cpu", "cores", "posenc_version", "commit"};
  const json_t *environment = report->environment.timing ? report->environment.timing : report->environment.accuracy;
  const record_table *table = report_table(report, report->headline.shape), *largest = largest_of(report);
  const char *cpu = field_string(environment, "cpu"), *timed = field_string(environment, "date"),
             *date = *timed ? timed : field_string(report->environment.accuracy, "date");
  json_t *uses = json_array(), *made;
  RECORD_EACH(use, report, uses) {
    json_t *one = table ? use_of(report, table, use->use, use->kernel, &use->speed_up) : NULL;
    if (one) field_append(uses, one);
  }
  json_t *one = largest && largest != table
                    ? use_of(report, largest, "default", report_choice(report, largest->shape.name, true), NULL)
                    : NULL;
  if (one) field_append(uses, one);
  made = json_pack("{s:o, s:s}", "label", field_utf8(label ? label : *cpu ? cpu : "unknown"), "date", date);
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    field_put(made, facts[i], json_string(field_string(environment, facts[i])));
  field_put(made, "others", field_real(report->stability.there ? report->stability.others : NAN));
  return field_put(made, "uses", uses);
}

/* ---- several ---- */

/* Adds a machine to the list, unless a later one of that label is there, which it replaces otherwise. */
static void add_machine(json_t *machines, json_t *one) {
  const char *label = field_string(one, "label");
  for (size_t i = 0; i < json_array_size(machines); i++) {
    const json_t *other = json_array_get(machines, i);
    if (strcmp(field_string(other, "label"), label) != 0) continue;
    if (record_seconds(field_string(one, "date")) > record_seconds(field_string(other, "date")))
      json_array_set(machines, i, one);
    return;
  }
  json_array_append(machines, one);
}

/* Adds the machines of a report, or of a published one. */
static bool add_beside(json_t *machines, const json_t *json, const char *name, char *why, size_t size) {
  record_fault fault;
  const bool published = strncmp(field_string(json, "schema"), "posenc-published-", 17) == 0;
  const record_report *report = published ? NULL : record_read_report(json, &fault);
  const record_published *several = published ? record_read_published(json, &fault) : NULL;
  const bool ok = report || several;
  if (!ok) {
    snprintf(why, size, "%.200s: not a report.json of posenc report or make publish: %s", name, fault.text);
  } else if (several ? several->machines_count : report->machines_count) {
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(json, "machines"), i, one) add_machine(machines, one);
  } else if (report) { /* of a version before 0.2, which has no list */
    json_t *made = front_machine(report, NULL);
    add_machine(machines, made);
    json_decref(made);
  }
  record_free(report);
  record_free(several);
  return ok;
}

/* ---- packages ---- */

/* Whether a row of make time-peers is of a package, not of one of posenc's own ways. */
static bool is_foreign(const json_t *row) {
  return !strstr(field_string(row, "way"), "posenc");
}

static json_t *ratio_of(const json_t *row) {
  return json_object_get(json_object_get(row, "beside"), "posenc");
}

/* Whether a row of make time-peers is a package that made the reference table with one thread. */
static bool is_shown(const json_t *row, const record_table *table) {
  return table && strcmp(field_string(row, "op"), "table") == 0 && field_integer(row, "threads") == 1 &&
         field_number(row, "rows") == table->shape.rows && field_number(row, "dim") == table->shape.dim &&
         is_foreign(row) && isfinite(field_number(ratio_of(row), "median"));
}

/* Whether another way of the same package does the same faster. */
static bool is_slower_way(const json_t *rows, const json_t *row) {
  const double ratio = field_number(ratio_of(row), "median");
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *other = json_array_get(rows, i);
    if (strcmp(field_string(other, "package"), field_string(row, "package")) == 0 &&
        strcmp(field_string(other, "problem"), field_string(row, "problem")) == 0 &&
        field_integer(other, "threads") == 1 && is_foreign(other) && field_number(ratio_of(other), "median") < ratio)
      return true;
  }
  return false;
}

static json_t *package_of(const json_t *json, const json_t *row, bool busy) {
  const json_t *ratio = ratio_of(row);
  const char *package = field_string(row, "package");
  return json_pack("{s:s, s:s, s:s, s:s, s:o, s:{s:o, s:o, s:o}, s:s, s:s, s:b}", "name", package, "version",
                   field_string(json_object_get(json, "versions"), package), "way", field_string(row, "way"), "problem",
                   field_string(row, "problem"), "max_abs", field_real(field_number(row, "error")), "ratio", "estimate",
                   field_real(field_number(ratio, "median")), "low", field_real(field_number(ratio, "low")), "high",
                   field_real(field_number(ratio, "high")), "date", field_string(json, "date"), "machine",
                   field_string(json, "machine"), "busy", (int)busy);
}

static json_t *packages_of(const json_t *json, const record_table *table) {
  const json_t *rows = json_object_get(json, "rows");
  json_t *packages = json_array();
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i);
    if (is_shown(row, table) && !is_slower_way(rows, row))
      field_append(packages, package_of(json, row, json_is_true(json_object_get(json, "busy"))));
  }
  return packages;
}

/* ---- both ---- */

bool front_add(json_t *document, const front_inputs *given, char *why, size_t size) {
  const record_report *report = record_take_report(document);
  json_t *machines = json_array(), *own = front_machine(report, given->label);
  bool ok = !given->packages || strcmp(field_string(given->packages, "schema"), "posenc-peers-2") == 0;
  if (!ok)
    snprintf(why, size, "--packages: not a peers-times.json of make time-peers: its schema is not 'posenc-peers-2'");
  field_append(machines, own);
  for (size_t i = 0; i < given->count && ok; i++)
    ok = add_beside(machines, given->beside[i], given->names[i], why, size);
  json_t *packages = packages_of(given->packages, report_table(report, report_reference));
  for (size_t i = 0; i < given->count && ok && !given->packages && !json_array_size(packages); i++)
    json_array_extend(packages, json_object_get(given->beside[i], "packages"));
  field_put(document, "machines", machines);
  field_put(document, "packages", packages);
  record_free(report);
  return ok;
}
