/* SPDX-License-Identifier: MIT */
/* Tests the profile of a kernel with known faults: each is found at its place. */
#include "common/field.h"
#include "reference/format.h"
#include "tests/kernel.h"
#include "tests/tap.h"
#include "verify/exam.h"

#include <stdlib.h>
#include <string.h>

enum { DIM = 128 };

static const posenc_kernel *good;

static void good_rows(const posenc_problem *problem, int64_t position, int64_t rows, float *out) {
  posenc_problem part = *problem;
  posenc_options options = posenc_default_options();
  posenc_plan *plan;
  part.first = position;
  part.rows = rows;
  options.kernel = good;
  if (posenc_plan_create(&plan, &part, &options) != POSENC_OK || posenc_execute(plan, 0, rows, out) != POSENC_OK)
    abort();
  posenc_plan_destroy(plan);
}

/* Faults: elements that are off by more than half an ulp of f32, and of f16; a row that is equal to the one before in
   bf16; an element that is off by 3; a row of another position. */
enum {
  OFF_F32 = 100,
  OFF_F16 = 200,
  NARROW_TWIN = 300,
  OFF_AT = 500000,
  OFF_INDEX = 40,
  TWIN = 777777,
  OF_TWIN = 4242
};

static EXECUTE(with_faults) {
  const int64_t first = problem->first + row;
  float *table = out;
  good_rows(problem, first, rows, table);
  for (int64_t p = first; p < first + rows; p++, table += DIM) {
    if (p == OFF_F32) table[3] += 0x1p-20f;
    if (p == OFF_F16) table[3] += 0x1.8p-11f;
    if (p == NARROW_TWIN) {
      good_rows(problem, NARROW_TWIN - 1, 1, table);
      for (int c = 0; c < DIM; c++) table[c] = (float)format_nearest(&format_bf16, (double)table[c]);
    }
    if (p == OFF_AT) table[2 * OFF_INDEX] += 3.0f;
    if (p == TWIN) good_rows(problem, OF_TWIN, 1, table);
  }
}

static bool is_pair(const json_t *collisions, const char *name, json_int_t p, json_int_t q) {
  const json_t *pair = json_object_get(collisions, name);
  return json_integer_value(json_array_get(pair, 0)) == p && json_integer_value(json_array_get(pair, 1)) == q;
}

static json_t *profile_json(const posenc_kernel *kernel, bool in_full) {
  const posenc_options options = posenc_default_options();
  record_memory memory = {NULL};
  const record_profile made = profile_of(kernel, &options, in_full, &memory);
  json_t *json = record_write_profile(&made);
  record_release(&memory);
  return json;
}

/* Returns the profile of this kernel without constants and stages. */
static json_t *unstaged_profile(posenc_kernel kernel) {
  kernel.prepare = NULL;
  kernel.release = NULL;
  kernel.stages = NULL;
  return profile_json(&kernel, true);
}

static void test_faults(void) {
  posenc_kernel kernel = *good;
  kernel.name = "with-faults";
  kernel.execute = with_faults;
  json_t *profile = unstaged_profile(kernel);
  const json_t *passes = json_object_get(profile, "passes"), *norm = json_object_get(profile, "norm"),
               *collisions = json_object_get(profile, "collisions"), *columns = json_object_get(profile, "columns"),
               *column = json_array_get(columns, OFF_INDEX), *points = json_object_get(profile, "points");
  ok(field_number(profile, "rows") == 0x1p20 && json_array_size(columns) == DIM / 2, "2^20 rows, 64 columns");
  ok(field_number(column, "index") == OFF_INDEX && field_number(column, "position") == OFF_AT &&
         fabs(field_number(column, "max_abs") - 3.0) < 1e-6,
     "an element off by 3 is the worst of its column: %.7g", field_number(column, "max_abs"));
  ok(field_number(norm, "position") == OFF_AT && field_number(norm, "index") == OFF_INDEX &&
         field_number(norm, "worst") > 2.0,
     "and the worst pair norm: %g", field_number(norm, "worst"));
  int elsewhere = 0;
  for (size_t i = 0; i < DIM / 2; i++) elsewhere += field_number(json_array_get(columns, i), "position") == TWIN;
  ok(elsewhere > DIM / 4, "a row of another position is the worst of %d columns", elsewhere);
  ok(field_number(passes, "f32") == OFF_F32 && field_number(passes, "f16") == OFF_F16 &&
         field_number(passes, "bf16") == NARROW_TWIN,
     "it is good for f32, f16 and bf16 up to three of the faults");
  ok(is_pair(collisions, "f32", OF_TWIN, TWIN) && is_pair(collisions, "f16", OF_TWIN, TWIN),
     "the first two rows that are the same in f32, and in f16");
  ok(is_pair(collisions, "bf16", NARROW_TWIN - 1, NARROW_TWIN), "and the first two in bf16");
  ok(json_array_size(points) == 31 && json_is_null(json_object_get(json_array_get(points, 0), "parts")),
     "31 points, without parts, as the kernel tells no stages");
  json_decref(profile);
}

/* Has positions in f32, which collide from 2^24 on. It refuses tables of more than 16 rows, so there is no scan. */
static EXECUTE(coarse) {
  for (int64_t r = 0; r < rows; r++)
    good_rows(problem, (int64_t)(float)(problem->first + row + r), 1, (float *)out + r * DIM);
}

static const char *short_only(const posenc_problem *problem) {
  return problem->rows > 16 || problem->first > INT64_C(1) << 28 ? "it is for short tables" : NULL;
}

static void test_points(void) {
  posenc_kernel kernel = *good;
  kernel.name = "coarse";
  kernel.can_do = short_only;
  kernel.execute = coarse;
  json_t *profile = unstaged_profile(kernel);
  const json_t *points = json_object_get(profile, "points"), *last = json_array_get(points, 28);
  ok(json_array_size(points) == 29 && field_number(last, "position") == 0x1p28,
     "points that it cannot do are left out");
  ok(field_number(json_array_get(points, 20), "max_abs") < 0x1p-24 && field_number(last, "max_abs") > 1.0,
     "errors from %.2g at 2^20 to %.2g at 2^28", field_number(json_array_get(points, 20), "max_abs"),
     field_number(last, "max_abs"));
  ok(field_number(json_array_get(points, 20), "relative") < 1e-5 && field_number(last, "relative") > 1.0,
     "products of rows off by %.2g at 2^20, and %.2g at 2^28", field_number(json_array_get(points, 20), "relative"),
     field_number(last, "relative"));
  ok(json_is_null(json_object_get(profile, "rows")) && !json_object_get(profile, "columns"), "no scan");
  json_decref(profile);
}

/* Computes only short tables with Tensor2Tensor's denominator, and has no bound. */
static EXECUTE(not_the_papers) {
  good_rows(problem, problem->first + row, rows, out);
  if (problem->base > 1e5 && problem->first == 1 << 15) ((float *)out)[1] += 0.25f;
}

static const char *shift_one_only(const posenc_problem *problem) {
  if (problem->first == 1 << 17) return "it is not for this place";
  return problem->shift < 1.0 ? "it needs shift = 1" : short_only(problem);
}

static void test_unclaimed(void) {
  posenc_kernel kernel = *good;
  kernel.name = "unclaimed";
  kernel.bound.derived = false;
  kernel.can_do = shift_one_only;
  kernel.execute = not_the_papers;
  json_t *profile = unstaged_profile(kernel);
  const json_t *tables = json_object_get(profile, "tables"), *first = json_array_get(tables, 0),
               *second = json_array_get(tables, 1);
  const json_t *points = json_object_get(first, "points"), *others = json_object_get(second, "points");
  ok(field_number(profile, "shift") == 1.0 && json_array_size(json_object_get(profile, "points")) == 28,
     "a kernel that does nothing but shift 1 is looked at there");
  ok(json_array_size(tables) == 6 && json_array_size(points) == 5 && field_number(second, "dim") == 128 &&
         field_number(second, "base") == 5e5,
     "one that claims nothing is looked at in six tables");
  ok(field_number(json_array_get(points, 2), "max_abs") < 0x1p-24 &&
         fabs(field_number(json_array_get(others, 2), "max_abs") - 0.25) < 1e-6 &&
         field_number(json_array_get(others, 2), "position") == 0x1p15,
     "where an error of 0.25 is found: %g", field_number(json_array_get(others, 2), "max_abs"));
  ok(json_is_null(json_object_get(json_array_get(others, 3), "max_abs")), "and what it does not do is null");
  json_decref(profile);
}

/* Tests that a correct kernel has no collision. */
static void test_good(void) {
  json_t *profile = profile_json(good, true);
  const json_t *passes = json_object_get(profile, "passes"), *collisions = json_object_get(profile, "collisions");
  bool none = true, told = true;
  for (int n = 0; n < 3; n++) {
    static const char *const names[] = {"f32", "f16", "bf16"};
    none =
        none && json_is_null(json_object_get(passes, names[n])) && json_is_null(json_object_get(collisions, names[n]));
  }
  size_t i;
  json_t *point;
  json_array_foreach(json_object_get(profile, "points"), i, point) {
    const json_t *parts = json_object_get(point, "parts");
    told = told && field_number(parts, "store") < 0x1p-25 && field_number(parts, "store") > 0x1p-28 &&
           field_number(parts, "trig") < 0x1p-45 && field_number(parts, "phase") < 0x1p-55 &&
           field_number(parts, "frequency") < 0x1p-64;
  }
  ok(none, "rotation-portable is good for all formats to 2^20, and no rows collide");
  ok(!json_object_get(profile, "tables"), "it claims something, so no other tables are looked at");
  ok(told && i == 31, "its errors are those of the last rounding, to 2^30");
  json_t *without = profile_json(good, false);
  bool same = !json_object_get(without, "rows") && !json_object_get(without, "columns");
  json_array_foreach(json_object_get(profile, "points"), i, point) {
    json_object_del(point, "parts");
    same = same && json_equal(point, json_array_get(json_object_get(without, "points"), i));
  }
  ok(same, "errors against position alone are the same, without their parts and without a scan");
  json_decref(without);
  json_decref(profile);
}

static double plain_distance(int apart) {
  double sum = 0.0;
  for (int i = 0; i < DIM / 2; i++) {
    const double half = sin(apart * pow(10000.0, -2.0 * i / DIM) / 2.0);
    sum += 4.0 * half * half;
  }
  return sqrt(sum);
}

static void test_unique(void) {
  const record_unique unique = profile_unique();
  const double distance = unique.distance;
  bool least = true;
  for (int k = 1; k < 1 << 16; k++) least = least && plain_distance(k) >= distance * (1.0 - 0x1p-40);
  ok(fabs(plain_distance((int)unique.apart) - distance) <= distance * 0x1p-40 && least,
     "exact rows are %.6g apart or more, as those %" PRId64 " positions apart", distance, unique.apart);
}

int main(void) {
  unsetenv("POSENC_ISA");
  good = posenc_kernel_find("rotation-portable");
  test_faults();
  test_points();
  test_unclaimed();
  test_good();
  test_unique();
  return tap_done();
}
