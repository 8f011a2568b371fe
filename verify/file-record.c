/* SPDX-License-Identifier: MIT */
#include "verify/file-record.h"

#include "common/environment.h"
#include "common/field.h"
#include "verify/record.h"

static json_t *file_entry(const file_record *of) {
  const accuracy *a = of->found;
  const char *tensor = table_tensor(of->table);
  const double elements = (double)a->elements;
  return json_pack(
      "{s:o, s:o, s:n, s:o, s:s, s:o, s:o, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "kernel",
      record_name(of->name), "shape", shape_json(of->shape), "refusal", "replay", record_command(of->command), "format",
      table_format(of->table), "tensor", tensor ? record_name(tensor) : json_null(), "limit",
      of->limit ? json_pack("{s:f, s:f}", "ulp", of->limit->ulp, "abs", of->limit->abs) : json_null(), "mode",
      "exhaustive", "elements", (json_int_t)a->elements, "of", (json_int_t)of->of, "not_finite",
      (json_int_t)of->not_finite, "max_ulp", of->max_ulp, "max_abs", of->max_abs, "worst", of->worst, "mean_ulp",
      field_real(a->sum_ulp / elements), "mean_abs", field_real(a->sum_abs / elements), "misrounded",
      (json_int_t)a->misrounded, "histogram", record_histogram(a), "positions", of->positions, "checks", of->checks);
}

json_t *record_of_file(const file_record *of, json_t *further) {
  json_int_t passed = 0, failed = 0, skipped = 0;
  size_t n;
  const json_t *one;
  json_array_foreach(of->checks, n, one) {
    const bool is_skipped = json_is_true(json_object_get(one, "skipped")),
               ok = json_is_true(json_object_get(one, "ok"));
    *(is_skipped ? &skipped : ok ? &passed : &failed) += 1;
  }
  json_t *entry = file_entry(of);
  const bool whole = entry && further && json_object_update(entry, further) == 0;
  json_decref(further);
  if (!whole) json_decref(entry);
  return whole ? json_pack("{s:s, s:o, s:[], s:[o], s:I, s:I, s:I}", "schema", "posenc-check-1", "environment",
                           environment_json(), "kernels", "records", entry, "passed", passed, "failed", failed,
                           "skipped", skipped)
               : NULL;
}
