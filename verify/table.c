/* SPDX-License-Identifier: MIT */
#include "verify/table.h"

#include "common/progress.h"
#include "reference/axes.h"
#include "reference/format.h"
#include "verify/axes-exam.h"
#include "verify/file-record.h"
#include "verify/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static json_t *position_json(const table_exam *e, int64_t position) {
  return e->positions ? json_real(e->positions[position]) : json_integer(position);
}

/* Returns the column of a file that has only sines or only cosines. If it occurs twice, returns the one with the
   witness's value. */
static int64_t column_of_part(table_exam *e, const witness *w) {
  const posenc_layout layout = e->request->problem.layout;
  const int64_t first = w->index * (layout == POSENC_INTERLEAVED ? 2 : 1),
                second = layout == POSENC_INTERLEAVED  ? first + 1
                         : layout == POSENC_DUPLICATED ? first + e->read_dim / 2
                                                       : first;
  e->read(e->from, w->position - e->problem->first, 1, e->raw);
  const double values[] = {format_element(e->problem->dtype, e->raw, first),
                           format_element(e->problem->dtype, e->raw, second)};
  return memcmp(&values[0], &w->got, sizeof w->got) != 0 && memcmp(&values[1], &w->got, sizeof w->got) == 0 ? second
                                                                                                            : first;
}

/* Returns the column in the file. */
static int64_t column_of(table_exam *e, const witness *w) {
  if (w->index == e->problem->dim / 2) return e->odd_column;
  if (e->request->part != TABLE_BOTH) return column_of_part(e, w);
  const int64_t column = axes_column(e->problem, w->index, w->cosine);
  return column + (e->odd_column >= 0 && column >= e->odd_column);
}

static json_t *witness_json(table_exam *e, const witness *w) {
  json_t *made = record_witness(w, record_command(e->request->replay));
  json_object_set_new(made, "row", json_integer(w->position - e->problem->first));
  json_object_set_new(made, "column", json_integer(column_of(e, w)));
  if (e->positions) json_object_set_new(made, "position", position_json(e, w->position));
  return made;
}

static json_t *equal_rows_json(const table_exam *e) {
  json_t *first = e->equal ? json_pack("[o, o]", position_json(e, e->problem->first + e->equal_first[0]),
                                       position_json(e, e->problem->first + e->equal_first[1]))
                           : json_null();
  return json_pack("{s:I, s:I, s:o}", "compared", (json_int_t)e->digested, "equal", (json_int_t)e->equal, "first",
                   first);
}

static void finish_checks(table_exam *e, char *figures, size_t size) {
  check_bound(&e->checks[ACCURACY], &e->found);
  snprintf(figures, size, "no limit was given; max %.6g ulp, max abs %.3g", e->found.max_ulp.ulp, e->found.max_abs.abs);
  for (property p = BOUNDED; p <= PAIR_NORM; p++) {
    check *c = &e->checks[p];
    if (c->broken)
      snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " rows beyond the bound; the worst at p = %s",
               c->broken, e->problem->rows, table_position_text(e, c->position).text);
  }
  for (property p = 0; p < PROPERTIES; p++) {
    check *c = &e->checks[p];
    if (e->positions && c->broken && c->index >= 0 && !*c->note)
      snprintf(c->note, sizeof c->note,
               "%" PRId64 " of %" PRId64 " beyond the bound; the worst at p = %s, i = %" PRId64, c->broken, c->compared,
               table_position_text(e, c->position).text, c->index);
    if (!e->request->limit)
      c->skip = p == ACCURACY ? figures : "no limit was given";
    else if (e->request->part != TABLE_BOTH &&
             (p == PAIR_NORM || p == ROTATION || (p == UNIQUE_ROWS && e->problem->axes)))
      c->skip = "it takes sines and cosines"; /* the centres of a grid have positions of both signs */
    else if (c->compared == 0)
      c->skip = "it takes two rows that are no padding";
  }
}

static json_t *record_of(table_exam *e) {
  const accuracy *a = &e->found;
  const table_request *request = e->request;
  const shape of = shape_of(&request->problem);
  json_t *checks = json_array();
  char figures[120];
  finish_checks(e, figures, sizeof figures);
  for (property p = 0; p < PROPERTIES; p++)
    if (property_subjects(p) & FILES) json_array_append_new(checks, record_check(property_name(p), &e->checks[p]));
  const file_record record = {.name = request->name,
                              .table = request->table,
                              .shape = &of,
                              .command = request->replay,
                              .limit = request->limit,
                              .found = a,
                              .of = of.problem.rows * table_stored(request->table)->dim,
                              .not_finite = e->not_finite,
                              .max_ulp = witness_json(e, &a->max_ulp),
                              .max_abs = witness_json(e, &a->max_abs),
                              .worst = request->limit ? witness_json(e, &a->worst) : json_null(),
                              .positions = octaves_json(&e->by_size, e->positions),
                              .checks = checks};
  return record_of_file(&record,
                        json_pack("{s:b, s:o}", "recorded", (int)request->recorded, "equal_rows", equal_rows_json(e)));
}

static void read_file(void *from, int64_t row, int64_t rows, void *out) {
  table_rows(from, row, rows, out);
}

json_t *verify_table(const table_request *request) {
  table_exam *e = table_exam_create(request, read_file, request->table, table_stored(request->table)->dim);
  json_t *record = e && any_table_examine(e) ? record_of(e) : NULL;
  progress_clear();
  table_exam_free(e);
  return record;
}
