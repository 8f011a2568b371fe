/* SPDX-License-Identifier: MIT */
/* Broken kernels that the verification must catch, each by the property it breaks. The good kernel under them must pass. */
#include "tests/tap.h"
#include "verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const posenc_kernel *good;

enum { ROWS = 300, DIM = 96 };

static posenc_status prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  return good->prepare(problem, options, constants);
}

static void release(void *constants) {
  good->release(constants);
}

static float *rows_of(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  good->execute(constants, problem, row, rows, out);
  return out;
}

static void honest(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  rows_of(constants, problem, row, rows, out);
}

static void row_off_by_one(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  posenc_problem next = *problem;
  next.first++;
  rows_of(constants, &next, row, rows, out);
}

static void swapped(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  posenc_problem other = *problem;
  other.layout = problem->layout == POSENC_INTERLEAVED ? POSENC_INTERLEAVED_CS : POSENC_INTERLEAVED;
  rows_of(constants, &other, row, rows, out);
}

/* The element of a position, if these rows hold it. */
static float *element(float *table, const posenc_problem *problem, int64_t row, int64_t rows, int64_t position,
                      int64_t column) {
  const int64_t at = position - problem->first;
  return at >= row && at < row + rows ? &table[(at - row) * problem->dim + column] : NULL;
}

static void one_ulp(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  float *x = element(rows_of(constants, problem, row, rows, out), problem, row, rows, 177, 41);
  if (x) *x = nextafterf(*x, 2.0f);
}

static void one_nan(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  float *x = element(rows_of(constants, problem, row, rows, out), problem, row, rows, ROWS - 1, DIM - 1);
  if (x) *x = NAN;
}

static void above_one(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  float *x = element(rows_of(constants, problem, row, rows, out), problem, row, rows, 0, 1);
  if (x) *x = nextafterf(1.0f, 2.0f);
}

static void past_the_end(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  rows_of(constants, problem, row, rows, out)[rows * problem->dim] = 0.0f;
}

static void before_the_start(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                             void *out) {
  ((char *)rows_of(constants, problem, row, rows, out))[-1] = 0;
}

static void untouched(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  float *x = element(out, problem, row, rows, ROWS - 1, DIM - 1), kept = x ? *x : 0.0f;
  rows_of(constants, problem, row, rows, out);
  if (x) memcpy(x, &kept, sizeof kept);
}

static void range_blind(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  rows_of(constants, problem, rows > 4 ? row : 0, rows, out);
}

static void long_tables_only(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                             void *out) {
  posenc_problem shifted = *problem;
  if (problem->rows < 20) shifted.first++; /* what a short table starts with is taken for something else */
  rows_of(constants, &shifted, row, rows, out);
}

static void unrotated(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  float *table = rows_of(constants, problem, row, rows, out);
  for (int64_t i = 0; i < rows * problem->dim; i += 2) table[i] = -table[i];
}

static const struct mutant {
  const char *name;
  void (*execute)(const void *, const posenc_problem *, int64_t, int64_t, void *);
  double claimed_ulp;
  const char *breaks[5]; /* these properties and no others; with a '?', it depends on which rows are drawn */
} mutants[] = {
    {"honest", honest, 0.5, {NULL}},
    {"row-off-by-one", row_off_by_one, 0.5, {"accuracy"}},
    {"swapped-sin-cos", swapped, 0.5, {"accuracy", "rotation"}},
    {"one-element-one-ulp", one_ulp, 0.5, {"accuracy", "?rotation"}},
    {"nan-in-the-last-element", one_nan, 0.5, {"accuracy", "bounded", "pair-norm", "?rotation"}},
    {"an-ulp-above-one", above_one, 0.5, {"accuracy", "bounded", "pair-norm", "?rotation"}},
    {"write-past-the-end", past_the_end, 0.5, {"memory"}},
    {"write-before-the-start", before_the_start, 0.5, {"memory"}},
    {"untouched-element", untouched, 0.5, {"accuracy", "memory", "bounded", "pair-norm", "?rotation"}},
    {"ignores-the-row-range", range_blind, 0.5, {"rotation"}},
    {"wrong-in-short-tables", long_tables_only, 0.5, {"extrapolation"}},
    {"negated-sine", unrotated, 0.5, {"accuracy", "rotation"}},
    {"claims-too-much", honest, 0.4, {"accuracy", "pair-norm", "?rotation"}},
};

static bool expected(const struct mutant *m, const char *property, bool passed) {
  for (size_t i = 0; i < sizeof m->breaks / sizeof *m->breaks && m->breaks[i]; i++) {
    if (strcmp(m->breaks[i], property) == 0) return !passed;
    if (*m->breaks[i] == '?' && strcmp(m->breaks[i] + 1, property) == 0) return true;
  }
  return passed;
}

int main(void) {
  good = posenc_kernel_find("rotation");
  const posenc_problem problem = posenc_table(ROWS, DIM);
  const shape of = shape_of(&problem);
  for (size_t n = 0; n < sizeof mutants / sizeof *mutants; n++) {
    posenc_kernel kernel = *good;
    const posenc_kernel *kernels[] = {&kernel};
    kernel.name = mutants[n].name;
    kernel.prepare = prepare;
    kernel.release = release;
    kernel.execute = mutants[n].execute;
    kernel.bound.ulp = mutants[n].claimed_ulp;
    const verify_request request = {.kernels = kernels,
                                    .kernel_count = 1,
                                    .shapes = &of,
                                    .shape_count = 1,
                                    .seed = 1,
                                    .budget = VERIFY_DEFAULT_BUDGET};
    json_t *record = verify_run(&request), *check;
    size_t i;
    json_array_foreach(json_object_get(json_array_get(json_object_get(record, "records"), 0), "checks"), i, check) {
      const char *property = json_string_value(json_object_get(check, "property"));
      const bool passed = json_is_true(json_object_get(check, "ok")),
                 skipped = json_is_true(json_object_get(check, "skipped"));
      ok(!skipped && expected(&mutants[n], property, passed), "%s: %s %s: %s", mutants[n].name, property,
         passed ? "holds" : "is broken", json_string_value(json_object_get(check, "note")));
    }
    json_decref(record);
  }
  return tap_done();
}
