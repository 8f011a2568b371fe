/* SPDX-License-Identifier: MIT */
#include "verify/profile-tables.h"

#include "common/field.h"
#include "common/work.h"
#include "reference/fast.h"
#include "verify/subject.h"

/* The number of rows that are checked from each position on. */
enum { ROWS = 16 };

/* Returns the largest error of a few rows from a position on; JSON's null if the kernel cannot make them. */
static json_t *largest_error(const posenc_kernel *kernel, const posenc_options *options, fast_oracle *reference,
                             posenc_problem problem, int64_t position, arena *rows) {
  problem.first = position;
  problem.rows = ROWS;
  const shape of = shape_of(&problem);
  accuracy found = {0};
  subject s;
  const bool lacks = subject_open(&s, kernel, &of, options);
  if (!lacks) fast_check(reference, position, ROWS, subject_execute(&s, s.plan, 0, ROWS, rows), NULL, &found);
  subject_close(&s);
  return lacks ? json_null() : field_real(found.max_abs.abs);
}

/* Returns the points of one of these tables. Null if memory runs out. */
static json_t *contexts_json(const posenc_kernel *kernel, const posenc_options *options, posenc_problem problem) {
  static const int64_t positions[] = {1 << 9, 1 << 12, 1 << 15, 1 << 17, 1 << 20};
  enum { POSITIONS = sizeof positions / sizeof *positions };
  problem.rows = positions[POSITIONS - 1] + ROWS;
  fast_oracle *reference = fast_create(&problem, 0);
  arena *rows = arena_create(ROWS * (size_t)problem.dim * sizeof(float));
  json_t *points = reference && rows ? json_array() : NULL;
  for (int n = 0; points && n < POSITIONS; n++)
    json_array_append_new(points, json_pack("{s:I, s:o}", "position", (json_int_t)positions[n], "max_abs",
                                            largest_error(kernel, options, reference, problem, positions[n], rows)));
  fast_destroy(reference);
  arena_destroy(rows);
  return points;
}

json_t *profile_tables_json(const posenc_kernel *kernel, const posenc_options *options, double shift) {
  static const int dims[] = {128, 512};
  static const double bases[] = {1e4, 5e5, 1e6};
  json_t *tables = json_array();
  for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
    for (size_t b = 0; tables && b < sizeof bases / sizeof *bases; b++) {
      isolate_say("error of other tables", 0.5);
      posenc_problem problem = posenc_table(ROWS, dims[d]);
      problem.base = bases[b];
      problem.shift = shift;
      json_t *points = contexts_json(kernel, options, problem);
      if (points && json_array_append_new(
                        tables, json_pack("{s:i, s:f, s:o}", "dim", dims[d], "base", bases[b], "points", points)) == 0)
        continue;
      json_decref(tables);
      tables = NULL;
    }
  return tables;
}
