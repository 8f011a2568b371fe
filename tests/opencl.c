/* SPDX-License-Identifier: MIT */
/* Tests cr-opencl on this machine's OpenCL device, which may be pocl on its processors: it has the bits of cr-portable.
   A device for which the driver compiles nothing is a failure; no device, or an unsuitable one, is not. */
#include "impls/opencl/opencl.h"
#include "common/shapes.h"
#include "impls/opencl/pair.h"
#include "tests/library.h"
#include "tests/numbers.h"

#include <stdlib.h>
#include <string.h>

/* LeakSanitizer calls it. The program has no C++ but that of the OpenCL driver, whose frames have no frame pointers, so
   that tests/lsan.supp does not find its name. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libstdc++.so\n";
}

static void *room(size_t bytes) {
  void *memory = calloc(1, bytes + 1);
  if (!memory) abort();
  return memory;
}

/* ---- the test of the rounding ------------------------------------------------------------------ */

/* Tests that no x is uncertain that passes the test without conversions: around midpoints of f32 at both ends of each
   binade, and for all sizes of the absolute part of the error. */
static void test_margins(void) {
  int64_t wrong = 0, passed = 0, uncertain = 0;
  for (int exponent = -160; exponent <= 10; exponent++)
    for (int end = 0; end < 2; end++)
      for (int units = -100; units <= 100; units++)
        for (int size = 40; size <= 60; size++) {
          const float f = (float)ldexp(end ? 1.9375 : 1.0, exponent);
          const double middle = ((double)f + (double)nextafterf(f, INFINITY)) / 2,
                       at = middle + ldexp(units, ilogb(middle) - 52), grown = size == 60 ? 0 : ldexp(at, -size);
          const pair_near sine = {.sine = at, .cosine = 1.0}, cosine = {.sine = fmin(at, 0.5), .cosine = at};
          const bool is_uncertain = pair_is_uncertain(at, grown), is_large = as_ulong(at) >> 32 >= pair_least(grown);
          const bool one = pair_margin(sine) > PAIR_MARGIN && is_large;
          const bool other = pair_margin(cosine) > PAIR_MARGIN && is_large;
          passed += one;
          uncertain += is_uncertain;
          wrong += is_uncertain && (one || other);
        }
  ok(wrong == 0 && passed > 100000 && uncertain > 100000, "no uncertain x passes: %lld pass, %lld are uncertain",
     (long long)passed, (long long)uncertain);
}

static const posenc_kernel *portable(void) {
  return posenc_kernel_find("cr-portable");
}

/* ---- tables ------------------------------------------------------------------------------------ */

static bool has_bits(const posenc_problem *problem) {
  size_t bytes;
  if (posenc_table_bytes(problem, &bytes) != POSENC_OK) return false;
  char *got = room(bytes), *want = room(bytes);
  const bool same =
      make_table(&opencl_cr, problem, got) && make_table(portable(), problem, want) && memcmp(got, want, bytes) == 0;
  free(got);
  free(want);
  return same;
}

/* Tests some rows of every table of f32, as commands know them. */
static void test_tables(const shape *(*list)(size_t *count)) {
  enum { ROWS = 300 };
  size_t count;
  const shape *shapes = list(&count);
  for (size_t i = 0; i < count; i++) {
    posenc_problem problem = posenc_table_of(&shapes[i].problem);
    if (problem.dtype != POSENC_F32) continue;
    if (problem.rows > ROWS && !problem.axes && !problem.positions) problem.rows = ROWS;
    ok(has_bits(&problem), "%s", shapes[i].name);
  }
}

/* Tests rows of each layout around positions where the parts of a product of 128 bits carry, up to the largest. */
static void test_positions(void) {
  static const int64_t firsts[] = {
      0, -20, INT64_C(1) << 32, -(INT64_C(1) << 40), (INT64_C(1) << 62) - 40, -(INT64_C(1) << 62)};
  for (size_t n = 0; n < sizeof firsts / sizeof *firsts; n++)
    for (int layout = POSENC_INTERLEAVED; layout <= POSENC_SPLIT_CS; layout++) {
      posenc_problem problem = table_of(40, 2 * (65 + (int64_t)n), firsts[n], 1e6, 0.0);
      problem.layout = (posenc_layout)layout;
      problem.padding = firsts[n] + 7;
      ok(has_bits(&problem), "40 rows from %lld, layout %d", (long long)firsts[n], layout);
    }
}

/* Tests elements that the device leaves to the host. Angles of 2^-38 are exact, and every second one is a midpoint of
   f32; its sine is 2^-117 below it, which no double can tell. */
static void test_uncertain(void) {
  posenc_problem problem = table_of(2000, 64, INT64_C(1) << 24, 1.0, 0.0);
  problem.scale = 0x1p-62;
  ok(has_bits(&problem), "32,000 sines next to midpoints");
  problem.scaling.attention = 1.25;
  ok(has_bits(&problem), "with an attention factor");
  problem = table_of(1001, 1024, -500, 1e4, 0.0);
  ok(has_bits(&problem), "work-items with three rows each, the last with two");
  problem.layout = POSENC_SPLIT;
  ok(has_bits(&problem), "the same, split");
  problem = posenc_table(4, INT64_C(1) << 23);
  ok(has_bits(&problem), "rows that are larger than the memory for one command");
  problem.dtype = POSENC_F64;
  ok(posenc_kernel_refusal(&opencl_cr, &problem, NULL), "refused: f64");
}

/* ---- add and rope ------------------------------------------------------------------------------ */

/* Whether x has the same results, and the gaps between sequences stay as they are. */
static bool has_results(const posenc_problem *problem, const posenc_slice *slice, bool in_place) {
  const int64_t stride = slice->stride ? slice->stride : slice->rows * problem->heads * problem->dim;
  const size_t elements = (size_t)(stride * slice->batch), each = posenc_dtype_bytes(problem->dtype),
               bytes = elements * each, upper = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? sizeof(float) - each : 0;
  char *x = room(bytes), *got = room(bytes), *want = room(bytes);
  for (size_t i = 0; i < elements; i++) {
    const float value = (float)(4.0 * random_fraction() - 2.0);
    memcpy(x + each * i, (const char *)&value + upper, each);
  }
  if (in_place) {
    memcpy(got, x, bytes);
    memcpy(want, x, bytes);
  }
  const bool same = apply_rows(portable(), problem, slice, in_place ? want : x, want) &&
                    apply_rows(&opencl_cr, problem, slice, in_place ? got : x, got) && memcmp(got, want, bytes) == 0;
  free(x);
  free(got);
  free(want);
  return same;
}

static void test_slices(const char *name, const posenc_problem *problem) {
  enum { LISTED = 50 };
  int64_t index[LISTED];
  posenc_slice slice = posenc_rows(1, problem->rows - 1);
  ok(has_results(problem, &slice, false), "%s", name);
  ok(has_results(problem, &slice, true), "%s, in place", name);
  slice.batch = 3;
  slice.stride = slice.rows * problem->heads * problem->dim + 5;
  ok(has_results(problem, &slice, true), "%s, three sequences with gaps", name);
  slice = posenc_rows(0, LISTED);
  for (int64_t n = 0; n < LISTED; n++) index[n] = (n * 37 + 5) % problem->rows;
  slice.index = index;
  ok(has_results(problem, &slice, false), "%s, a list of rows", name);
}

static void test_applied(void) {
  enum { ROWS = 60 };
  size_t count;
  const shape *shapes = shapes_applied(&count);
  for (size_t i = 0; i < count; i++) {
    posenc_problem problem = shapes[i].problem;
    if (problem.op == POSENC_ROPE_CACHE) continue;
    if (problem.rows > ROWS && !problem.axes) problem.rows = ROWS;
    test_slices(shapes[i].name, &problem);
  }
  posenc_problem problem = posenc_rope(ROWS, 3, 6);
  problem.inverse = true;
  problem.layout = POSENC_SPLIT;
  test_slices("rope back", &problem);
  problem.dim = 8;
  test_slices("rope back, of an even number of pairs", &problem);
  problem = posenc_add(ROWS, 34);
  problem.padding = 9;
  problem.layout = POSENC_SPLIT_CS;
  test_slices("add with a padding row", &problem);
  problem = posenc_add(1001, 2048);
  problem.padding = 500;
  const posenc_slice once = posenc_rows(0, 1001);
  ok(has_results(&problem, &once, true), "add, with three rows of a work-item");
  problem.dim = 2050;
  ok(has_results(&problem, &once, true), "and of an odd number of pairs");
  problem = posenc_rope(200, 16, 64);
  posenc_slice many = posenc_rows(0, 200);
  many.batch = 8;
  ok(has_results(&problem, &many, false), "rope, with three heads of a work-item, the last with two");
  problem.layout = POSENC_SPLIT;
  problem.dtype = POSENC_BF16;
  ok(has_results(&problem, &many, true), "the same of bf16, split");
  problem = posenc_rope(2000, 2, 64);
  problem.first = INT64_C(1) << 24;
  problem.base = 1.0;
  problem.scale = 0x1p-62;
  test_slices("rope of sines next to midpoints", &problem);
  problem.dtype = POSENC_BF16;
  problem.heads = 40000; /* of a row and a sequence: more than the memory for one command */
  problem.rows = 2;
  const posenc_slice row = {.size = sizeof row, .row = 1, .rows = 1, .batch = 2};
  ok(has_results(&problem, &row, true), "rows of x that are larger than the memory for one command");
}

/* Tests that results stay in the device, which tells the time of its kernels; it is the last test, as they stay from
   then on. */
static void test_stay(void) {
  static float table[300 * 64];
  const posenc_problem problem = posenc_table(300, 64);
  ok(opencl_stay(), "the device tells times");
  const double before = opencl_busy();
  table[0] = 5.0f;
  ok(make_table(&opencl_cr, &problem, table) && table[0] == 5.0f, "a table stays in the device");
  ok(before == 0.0 && opencl_busy() > 0.0 && opencl_busy() == 0.0, "which has taken some time for it");
  ok(opencl_rate(false, sizeof table) > 0.0 && opencl_rate(true, sizeof table) > 0.0, "it fills and scales");
  ok(opencl_busy() == 0.0, "whose times do not count");
}

int main(void) {
  const bool left_out = opencl_cr.absent;
  const opencl_reply reply = opencl_ask();
  if (reply.refusal && (left_out || !strstr(reply.refusal, "does not compile"))) {
    skip("cr-opencl", reply.refusal);
    return tap_done();
  }
  if (!ok(!reply.refusal, "it runs where a driver is installed%s%s", reply.refusal ? ": " : "",
          reply.refusal ? reply.refusal : ""))
    return tap_done();
  printf("# %s\n", reply.device);
  test_margins();
  test_tables(shapes_published);
  test_tables(shapes_scaled);
  test_positions();
  test_uncertain();
  test_applied();
  test_stay();
  return tap_done();
}
