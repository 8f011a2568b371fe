/* SPDX-License-Identifier: MIT */
/* Tests which rows of a shape verify compares: within the table and the budget, with the first and the last; and that
   neither these nor x are drawn otherwise under the same number. */
#include "verify/sampling.h"
#include "common/digest.h"
#include "tap.h"
#include "verify/checks.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_BYTES = 1 << 21, MOST_WINDOWS_TRIED = 2000 };

typedef struct kind {
  const char *name;
  posenc_bound bound;
  int64_t share; /* the share of the budget: the budget is divided by it */
} kind;

static const kind kinds[] = {{"correctly rounded", {.ulp = 0.5, .derived = true}, 1},
                             {"within an ulp", {.ulp = 1.0, .derived = true}, 32},
                             {"half an ulp and more", {.ulp = 0.5, .abs = 0x1p-40, .derived = true}, 32},
                             {"half an ulp and growth", {.ulp = 0.5, .growth = 0x1p-60, .derived = true}, 32},
                             {"measured half an ulp", {.ulp = 0.5, .derived = false}, 32}};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct subject_of_test {
  const kind *of;
  posenc_problem problem;
  bool special;
} subject_of_test;

static const double nowhere[1]; /* a list of positions, which is not read */

static posenc_kernel kernel_of(const kind *k) {
  return (posenc_kernel){.name = k->name, .bound = k->bound};
}

static int64_t share_of(const subject_of_test *t) {
  if (t->problem.op == POSENC_ROPE_CACHE) return 256;
  return t->problem.op == POSENC_TABLE ? t->of->share : 32;
}

static int64_t pairs_of(const posenc_problem *problem) {
  return (problem->heads * problem->dim + 1) / 2;
}

/* Returns the first fault of the windows, or null. */
static const char *fault_of_windows(const sampling *sampled, const subject_of_test *t) {
  const int64_t row_bytes = sampled->width * (int64_t)posenc_dtype_bytes(t->problem.dtype);
  uint64_t random = 1;
  double rows = 0.0;
  int64_t next = 0;
  for (int64_t n = 0; n < sampled->windows && n < MOST_WINDOWS_TRIED; n++) {
    const uint64_t before = random;
    const window w = sampling_window(sampled, n, &random);
    if (w.row < 0 || w.rows < 1 || w.rows > sampled->rows || w.row > sampled->all - w.rows)
      return "a window outside the table";
    if (!t->special && w.rows > 1 && w.rows * row_bytes > MOST_BYTES) return "a window that is too large";
    if (n == 0 && w.row != 0) return "not the first rows";
    if (n == 1 && !sampled->exhaustive && w.row + w.rows != sampled->all) return "not the last rows";
    if (sampled->exhaustive && w.row != next) return "a gap between windows";
    if ((random != before) != (!sampled->exhaustive && n > 1))
      return "random numbers for other windows than those drawn";
    next = w.row + w.rows;
    rows += (double)w.rows;
  }
  if (sampled->windows > MOST_WINDOWS_TRIED) {
    if (!sampled->exhaustive) return NULL;
    const window end = sampling_window(sampled, sampled->windows - 1, &random);
    return end.row + end.rows == sampled->all && end.rows > 0 ? NULL : "the end of the table left out";
  }
  if (sampled->exhaustive && next != sampled->all) return "the end of the table left out";
  return rows * (double)sampled->width == sampling_elements(sampled, sampling_segments(sampled, 0, 1))
             ? NULL
             : "other elements than the windows have";
}

/* Returns the first fault of the sampling, or null. */
static const char *fault_of(const subject_of_test *t, int64_t budget) {
  const posenc_kernel kernel = kernel_of(t->of);
  const sampling sampled = sampling_of(&kernel, &t->problem, budget);
  const int64_t all = t->problem.rows, affordable = budget / share_of(t) / pairs_of(&t->problem);
  if (sampled.all != all || sampled.width != t->problem.heads * t->problem.dim) return "another table";
  if (sampled.exhaustive != (all <= affordable || all <= 2)) return "exhaustive, or not, against the budget";
  if (sampled.windows < (all > 0) || sampled.rows < (all > 0)) return "nothing is looked at";
  if (!sampled.exhaustive) {
    const double used = (double)sampled.windows * (double)sampled.rows,
                 allowed = (double)(affordable > 2 ? affordable : 2);
    const bool limited = !t->of->bound.derived && sampled.windows == 4;
    if (used > allowed) return "more than the budget";
    if (!limited && used < (allowed < 100.0 && !t->special ? 0.8 : 0.9) * allowed - (t->special ? 1.0 : 0.0))
      return "a part of the budget is not used";
    if (!t->of->bound.derived && sampled.windows > 4) return "many windows of a kernel without a derived bound";
    if (t->special && sampled.windows != 2) return "a list of positions from elsewhere than both ends";
  }
  return fault_of_windows(&sampled, t);
}

/* Tests every number of rows with every budget. */
static void test_table(const kind *k, posenc_op op, posenc_dtype dtype, int64_t heads, int64_t dim, bool list) {
  static const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 9, 63, 100, 4096, 131072, INT64_C(1) << 40},
                       budgets[] = {1, 7, 1000, 99999, 1 << 22, 67108864, INT64_C(1) << 45, INT64_MAX};
  subject_of_test t = {.of = k, .problem = posenc_table(0, dim), .special = list || dim % 2};
  const char *fault = NULL;
  int64_t rows = 0, budget = 0;
  t.problem.op = op;
  t.problem.dtype = dtype;
  t.problem.heads = heads;
  t.problem.positions = list ? nowhere : NULL;
  for (size_t i = 0; !fault && i < sizeof sizes / sizeof *sizes; i++)
    for (size_t b = 0; !fault && b < sizeof budgets / sizeof *budgets; b++) {
      t.problem.rows = rows = sizes[i];
      fault = fault_of(&t, budget = budgets[b]);
    }
  ok(!fault, "%s, op %d, dtype %d, %d heads, dim %d%s: %s (the last: %" PRId64 " rows, a budget of %" PRId64 ")",
     k->name, (int)op, (int)dtype, (int)heads, (int)dim, list ? ", a list" : "", fault ? fault : "sampled well", rows,
     budget);
}

/* Tests that a table of any kind is compared in full up to its share of the budget. */
static void test_shares(const kind *k, posenc_op op, int64_t dim, bool list) {
  enum { SHARE_ROWS = 1000 };
  subject_of_test t = {.of = k, .problem = posenc_table(SHARE_ROWS, dim)};
  const posenc_kernel kernel = kernel_of(k);
  t.problem.op = op;
  t.problem.positions = list ? nowhere : NULL;
  const int64_t enough = SHARE_ROWS * pairs_of(&t.problem) * share_of(&t);
  const sampling whole = sampling_of(&kernel, &t.problem, enough), less = sampling_of(&kernel, &t.problem, enough - 1);
  ok(whole.exhaustive && !less.exhaustive, "%s, op %d, dim %d%s: whole from a budget of %" PRId64 " pairs on", k->name,
     (int)op, (int)dim, list ? ", a list" : "", enough);
}

/* Tests that a sample uses the budget, for two rows as well as for a thousand. */
static void test_budgets(const kind *k, int64_t dim) {
  enum { MOST_AFFORDABLE = 1000 };
  subject_of_test t = {.of = k, .problem = posenc_table(INT64_C(1) << 40, dim)};
  const char *fault = NULL;
  int64_t affordable = 0;
  while (!fault && affordable < MOST_AFFORDABLE)
    fault = fault_of(&t, ++affordable * pairs_of(&t.problem) * share_of(&t));
  ok(!fault, "%s, dim %d: %s (the last: a budget for %" PRId64 " rows)", k->name, (int)dim,
     fault ? fault : "the budget is used", affordable);
}

static void test_known(const kind *k, int64_t rows, int64_t dim, int64_t windows, int64_t of_rows) {
  const posenc_kernel kernel = kernel_of(k);
  const posenc_problem problem = posenc_table(rows, dim);
  const sampling sampled = sampling_of(&kernel, &problem, 67108864);
  ok(sampled.windows == windows && sampled.rows == of_rows,
     "%s, %" PRId64 "x%" PRId64 ": %" PRId64 " windows of %" PRId64 " rows, not %" PRId64 " of %" PRId64, k->name, rows,
     dim, windows, of_rows, sampled.windows, sampled.rows);
}

/* Tests a sample of three of six rows. The third is drawn, and may be any of the six. */
static void test_drawn_rows(void) {
  const posenc_kernel kernel = kernel_of(&kinds[0]);
  const posenc_problem problem = posenc_table(6, 2);
  const sampling sampled = sampling_of(&kernel, &problem, 3);
  int times[6] = {0};
  uint64_t random = 7;
  for (int n = 0; n < 600; n++) times[sampling_window(&sampled, 2, &random).row]++;
  bool fair = sampled.windows == 3 && sampled.rows == 1;
  for (int row = 0; row < 6; row++) fair = fair && times[row] > 60 && times[row] < 140;
  ok(fair, "any row is drawn: %d, %d, %d, %d, %d, %d times of 600", times[0], times[1], times[2], times[3], times[4],
     times[5]);
}

/* Tests that what is drawn by a rule is what was drawn when it got its number: else it needs another number, or it
   would be compared with what was drawn before. */
static void test_number(const char *what, int known, uint64_t known_digest, int rule, uint64_t digest) {
  ok(known == rule && known_digest == digest,
     "%s of rule %d have digest 0x%016" PRIx64 "; here of rule %d, 0x%016" PRIx64, what, known, known_digest, rule,
     digest);
}

static uint64_t numbers_digest(uint64_t digest, int64_t a, int64_t b) { /* in any byte order */
  char text[48];
  return bytes_digest(digest, text, (size_t)snprintf(text, sizeof text, "%" PRId64 " %" PRId64 "\n", a, b));
}

static void test_row_rule(void) {
  static const int64_t sizes[] = {6, 100, 4096, 131072, INT64_C(1) << 40}, dims[] = {2, 64, 65, 1024},
                       budgets[] = {7, 1000, 99999, 1 << 22};
  uint64_t digest = BYTES_DIGEST_START, random = 1;
  for (size_t k = 0; k < KINDS; k++)
    for (int each = 0; each < 5 * 4 * 4; each++) {
      const posenc_kernel kernel = kernel_of(&kinds[k]);
      const posenc_problem problem = posenc_table(sizes[each % 5], dims[each / 5 % 4]);
      const sampling sampled = sampling_of(&kernel, &problem, budgets[each / 20]);
      for (int64_t n = 0; n < sampled.windows && n < 100; n++) {
        const window w = sampling_window(&sampled, n, &random);
        digest = numbers_digest(digest, w.row, w.rows);
      }
    }
  test_number("rows", 1, UINT64_C(0x1da19df628e03ab5), ROW_RULE, digest);
}

static void test_x_rule(void) {
  enum { ROWS = 40, WIDTH = 16 };
  posenc_problem problem = posenc_table(ROWS, WIDTH / 2);
  float x[ROWS][WIDTH];
  operand drawn;
  uint64_t digest = BYTES_DIGEST_START;
  problem.op = POSENC_ROPE;
  problem.heads = 2;
  operand_open(&drawn, &problem, 7, NULL);
  operand_draw(&drawn, 0, ROWS, 0, (unsigned char *)x);
  operand_close(&drawn);
  for (int64_t row = 0; row < ROWS; row++) /* what other rows have, the reference decides, too */
    for (int column = 0; operand_is_plain(row) && column < WIDTH; column++)
      digest = numbers_digest(digest, row, (int64_t)ldexp((double)x[row][column], 40));
  test_number("x", 1, UINT64_C(0xfbcbcae185cefcc1), X_RULE, digest);
}

int main(void) {
  static const posenc_op ops[] = {POSENC_TABLE, POSENC_ADD, POSENC_ROPE, POSENC_ROPE_CACHE};
  static const int64_t dims[] = {2, 4, 64, 1024, 5462, 16384, 65536, 1 << 20};
  for (size_t k = 0; k < KINDS; k++) {
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
      for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        test_table(&kinds[k], ops[o], POSENC_F32, ops[o] == POSENC_ROPE ? 8 : 1, dims[d], false);
        test_shares(&kinds[k], ops[o], dims[d], false);
      }
    test_table(&kinds[k], POSENC_TABLE, POSENC_BF16, 1, 64, false);
    test_table(&kinds[k], POSENC_TABLE, POSENC_F64, 1, 1024, false);
    for (int64_t dim = 3; dim < 100; dim += 30) { /* odd dims and lists of positions follow the same rule */
      test_table(&kinds[k], POSENC_TABLE, POSENC_F32, 1, dim, false);
      test_shares(&kinds[k], POSENC_TABLE, dim, false);
      test_table(&kinds[k], POSENC_TABLE, POSENC_F32, 1, dim + 1, true);
      test_shares(&kinds[k], POSENC_TABLE, dim + 1, true);
      test_shares(&kinds[k], POSENC_ROPE_CACHE, dim + 1, true);
    }
  }
  for (int64_t dim = 2048; dim < 1 << 20; dim += dim / 4 * 2) {
    test_budgets(&kinds[0], dim);
    test_budgets(&kinds[4], dim);
  }
  test_known(&kinds[0], 131072, 1024, 256, 512);
  test_known(&kinds[0], 131073, 1024, 256, 512);
  test_known(&kinds[1], 131072, 1024, 64, 64);
  test_known(&kinds[1], 131072, 64, 64, 1024);
  test_known(&kinds[1], 1000, 16384, 8, 32);
  test_known(&kinds[4], 131072, 1024, 4, 512);
  test_drawn_rows();
  test_row_rule();
  test_x_rule();
  return tap_done();
}
