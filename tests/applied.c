/* SPDX-License-Identifier: MIT */
/* Tests add and rope through posenc.h: problems that are refused, equal bits on all ways to the same results, and
   errors within the bound, which the correctly rounded kernel nearly reaches. */
#include "common/memory.h"
#include "reference/oracle.h"
#include "tests/library.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t width_of(const posenc_problem *problem) {
  return problem->heads * problem->dim;
}

static size_t bytes_of(const posenc_problem *problem, int64_t elements) {
  return (size_t)elements * posenc_dtype_bytes(problem->dtype);
}

/* Fills x with numbers between -2 and 2 that use all digits of the dtype. */
static void fill(const posenc_problem *problem, int64_t elements, void *x) {
  uint64_t state = 20170612;
  for (int64_t i = 0; i < elements; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const float value = (float)(int32_t)(state >> 32) * 0x1p-30f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (problem->dtype == POSENC_F32)
      ((float *)x)[i] = value;
    else
      ((uint16_t *)x)[i] = (uint16_t)(bits >> 16);
  }
}

static posenc_plan *plan_of(const posenc_problem *problem, const posenc_kernel *kernel, unsigned isa, int threads) {
  posenc_options options = posenc_default_options();
  posenc_plan *plan;
  options.kernel = kernel;
  options.isa = isa;
  options.threads = threads;
  return posenc_plan_create(&plan, problem, &options) == POSENC_OK ? plan : NULL;
}

/* ---- refused problems ------------------------------------------------------------------------------ */

#define REFUSED(change, want)                                                                                          \
  do {                                                                                                                 \
    posenc_slice slice = posenc_rows(2, 3);                                                                            \
    const void *from = x;                                                                                              \
    void *to = out;                                                                                                    \
    change;                                                                                                            \
    const posenc_status got = posenc_apply(plan, &slice, from, to);                                                    \
    ok(got == (want), "%s: %s", #change, posenc_status_message(got));                                                  \
  } while (0)

static void test_slices(void) {
  const posenc_problem problem = posenc_rope(8, 3, 6), table = posenc_table(8, 6);
  posenc_plan *plan = plan_of(&problem, NULL, 0, 1), *of_table = plan_of(&table, NULL, 0, 1);
  float x[2 * 8 * 18] = {0.0f}, out[2 * 8 * 18];
  const int64_t inside[] = {7, 0, 7}, outside[] = {0, 8, 1}, negative[] = {0, 1, -1};
  REFUSED((void)slice, POSENC_OK);
  REFUSED(to = x, POSENC_OK);
  REFUSED(slice.index = inside, POSENC_OK);
  REFUSED(slice.row = 5, POSENC_OK);
  REFUSED(slice.batch = 2, POSENC_OK);
  REFUSED((slice.batch = 2, slice.stride = 54), POSENC_OK);
  REFUSED((slice.batch = 2, slice.stride = 55), POSENC_OK);
  REFUSED((slice.rows = 0, from = to = NULL), POSENC_OK);
  REFUSED((slice.batch = 0, from = to = NULL), POSENC_OK);
  REFUSED((slice.row = 8, slice.rows = 0), POSENC_OK);
  REFUSED(slice.size--, POSENC_BAD_ARGUMENT);
  REFUSED(slice.row = 6, POSENC_BAD_ARGUMENT);
  REFUSED(slice.row = -1, POSENC_BAD_ARGUMENT);
  REFUSED((slice.row = 9, slice.rows = 0), POSENC_BAD_ARGUMENT);
  REFUSED(slice.row = INT64_MAX, POSENC_BAD_ARGUMENT);
  REFUSED(slice.rows = -1, POSENC_BAD_ARGUMENT);
  REFUSED(slice.rows = INT64_MAX, POSENC_BAD_ARGUMENT);
  REFUSED(slice.batch = -1, POSENC_BAD_ARGUMENT);
  REFUSED(slice.index = outside, POSENC_BAD_ARGUMENT);
  REFUSED(slice.index = negative, POSENC_BAD_ARGUMENT);
  REFUSED((slice.batch = 2, slice.stride = 53), POSENC_BAD_ARGUMENT);
  REFUSED((slice.batch = 2, slice.stride = -54), POSENC_BAD_ARGUMENT);
  REFUSED((slice.batch = INT64_MAX / 54), POSENC_BAD_ARGUMENT);
  REFUSED((slice.batch = 3, slice.stride = INT64_MAX / 2), POSENC_BAD_ARGUMENT);
  REFUSED(from = NULL, POSENC_BAD_ARGUMENT);
  REFUSED(to = NULL, POSENC_BAD_ARGUMENT);
  const posenc_slice slice = posenc_rows(0, 1);
  ok(posenc_apply(NULL, &slice, x, out) == POSENC_BAD_ARGUMENT, "no plan");
  ok(posenc_apply(plan, NULL, x, out) == POSENC_BAD_ARGUMENT, "no slice");
  ok(posenc_apply(of_table, &slice, x, out) == POSENC_BAD_ARGUMENT, "a plan of a table is not applied");
  ok(posenc_execute(plan, 0, 1, out) == POSENC_BAD_ARGUMENT, "and one of rope is not executed");
  posenc_plan_destroy(plan);
  posenc_plan_destroy(of_table);
}

#define NO_PROBLEM(make, change)                                                                                       \
  do {                                                                                                                 \
    posenc_problem problem = make;                                                                                     \
    change;                                                                                                            \
    const char *why = posenc_problem_refusal(&problem);                                                                \
    ok(why, "%s, %s: %s", #make, #change, why ? why : "is taken");                                                     \
  } while (0)

static void test_problems(void) {
  NO_PROBLEM(posenc_add(8, 8), problem.heads = 2);
  NO_PROBLEM(posenc_add(8, 8), problem.inverse = true);
  NO_PROBLEM(posenc_add(8, 8), problem.dtype = POSENC_F64);
  NO_PROBLEM(posenc_table(8, 8), problem.heads = 2);
  NO_PROBLEM(posenc_table(8, 8), problem.op = (posenc_op)9);
  NO_PROBLEM(posenc_rope(8, 0, 8), (void)problem);
  NO_PROBLEM(posenc_rope(8, 2, 8), problem.dtype = POSENC_F16);
  NO_PROBLEM(posenc_rope(8, 2, 8), problem.layout = POSENC_SPLIT_CS);
  NO_PROBLEM(posenc_rope(8, 2, 8), problem.padding = 1);
  NO_PROBLEM(posenc_rope(INT64_C(1) << 30, INT64_C(1) << 30, 8), (void)problem);
}

/* ---- equal bits on all ways ---------------------------------------------------------------------- */

/* The ways to compute the results of all rows: at once; in pieces of five, in place; and one by one, each by its
   number. */
typedef enum way { AT_ONCE, IN_PIECES, BY_NUMBER, WAYS } way;

static bool take(way how, const posenc_plan *plan, const unsigned char *x, unsigned char *out) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  const size_t row = bytes_of(problem, width_of(problem));
  posenc_slice slice = posenc_rows(0, problem->rows);
  if (how == AT_ONCE) return posenc_apply(plan, &slice, x, out) == POSENC_OK;
  if (how == IN_PIECES) {
    memcpy(out, x, row * (size_t)problem->rows);
    for (slice.row = 0; slice.row < problem->rows; slice.row += slice.rows) {
      slice.rows = problem->rows - slice.row < 5 ? problem->rows - slice.row : 5;
      unsigned char *there = out + row * (size_t)slice.row;
      if (posenc_apply(plan, &slice, there, there) != POSENC_OK) return false;
    }
    return true;
  }
  for (int64_t r = 0; r < problem->rows; r++) {
    slice = posenc_rows(0, 1);
    slice.index = &r;
    if (posenc_apply(plan, &slice, x + row * (size_t)r, out + row * (size_t)r) != POSENC_OK) return false;
  }
  return true;
}

/* Whether a batch gives `want`: the same x twice, as two sequences, with a gap between them that must not change. */
static bool agrees_as_batch(const posenc_plan *plan, const unsigned char *x, const unsigned char *want, size_t bytes) {
  enum { GAP = 3 };
  const posenc_problem *problem = posenc_plan_problem(plan);
  const size_t gap = bytes_of(problem, GAP);
  unsigned char *given = memory_take(2 * bytes + gap, 1), *got = memory_take(2 * bytes + gap, 1),
                *kept = memory_take(gap, 1);
  posenc_slice slice = posenc_rows(0, problem->rows);
  slice.batch = 2;
  slice.stride = problem->rows * width_of(problem) + GAP;
  memset(given, 0, 2 * bytes + gap);
  memset(got, 0xff, 2 * bytes + gap);
  memset(kept, 0xff, gap);
  memcpy(given, x, bytes);
  memcpy(given + bytes + gap, x, bytes);
  const bool same = posenc_apply(plan, &slice, given, got) == POSENC_OK && memcmp(got, want, bytes) == 0 &&
                    memcmp(got + bytes, kept, gap) == 0 && memcmp(got + bytes + gap, want, bytes) == 0;
  free(given);
  free(got);
  free(kept);
  return same;
}

/* Whether all ways give `want`, from aligned and from unaligned memory. */
static bool agrees(const posenc_plan *plan, const unsigned char *x, const unsigned char *want, size_t bytes) {
  const size_t element = posenc_dtype_bytes(posenc_plan_problem(plan)->dtype);
  unsigned char *given = memory_take(bytes + element, 1), *got = memory_take(bytes + element, 1);
  bool same = agrees_as_batch(plan, x, want, bytes);
  for (way how = AT_ONCE; how < WAYS; how++)
    for (size_t off = 0; off <= element; off += element) {
      memcpy(given + off, x, bytes);
      memset(got, 0xff, bytes + element);
      same = same && take(how, plan, given + off, got + off) && memcmp(got + off, want, bytes) == 0 &&
             memcmp(given + off, x, bytes) == 0;
    }
  free(given);
  free(got);
  return same;
}

/* Returns the number of combinations of instruction set and threads with the bits of `like`, which is generic code in
   one thread; -1 if one has other bits. */
static int same_bits(const posenc_kernel *kernel, const posenc_kernel *like, const posenc_problem *problem) {
  static const int threads[] = {1, 2, 3, 7};
  const int64_t elements = problem->rows * width_of(problem);
  const size_t bytes = bytes_of(problem, elements);
  unsigned char *x = memory_take(bytes, 1), *want = memory_take(bytes, 1);
  const posenc_slice all = posenc_rows(0, problem->rows);
  posenc_plan *plan = plan_of(problem, like, POSENC_ISA_GENERIC, 1);
  fill(problem, elements, x);
  int compared = plan && posenc_apply(plan, &all, x, want) == POSENC_OK ? 0 : -1;
  posenc_plan_destroy(plan);
  for (unsigned isa = 1; isa <= POSENC_ISA_ALL && compared >= 0; isa++)
    for (size_t t = 0; t < (kernel->threaded ? sizeof threads / sizeof *threads : 1) && compared >= 0; t++) {
      plan = plan_of(problem, kernel, isa, threads[t]);
      if (!plan) continue; /* the kernel refuses these tiers */
      compared = agrees(plan, x, want, bytes) ? compared + 1 : -1;
      posenc_plan_destroy(plan);
    }
  free(x);
  free(want);
  return compared;
}

typedef struct variant {
  posenc_op op;
  posenc_layout layout;
  posenc_dtype dtype;
  bool inverse;
  const char *name;
} variant;

static const variant variants[] = {
    {POSENC_ADD, POSENC_INTERLEAVED, POSENC_F32, false, "add"},
    {POSENC_ADD, POSENC_SPLIT_CS, POSENC_BF16, false, "add bf16"},
    {POSENC_ROPE, POSENC_INTERLEAVED, POSENC_F32, false, "rope"},
    {POSENC_ROPE, POSENC_SPLIT, POSENC_F32, true, "rope halves inverse"},
    {POSENC_ROPE, POSENC_INTERLEAVED, POSENC_BF16, true, "rope bf16 inverse"},
    {POSENC_ROPE, POSENC_SPLIT, POSENC_BF16, false, "rope halves bf16"},
};

enum { VARIANTS = sizeof variants / sizeof *variants };

static posenc_problem problem_of(const variant *v, int64_t rows, int64_t heads, int64_t dim) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.first = 1000003;
  problem.op = v->op;
  problem.layout = v->layout;
  problem.dtype = v->dtype;
  problem.inverse = v->inverse;
  problem.heads = v->op == POSENC_ROPE ? heads : 1;
  return problem;
}

static void test_same_bits(const posenc_kernel *kernel) {
  static const int64_t sizes[][3] = {{3, 1, 2}, {40, 3, 6}, {70, 1, 34}, {33, 3, 66}, {700, 3, 34}};
  const posenc_kernel *portable = portable_of(kernel);
  const char *why = posenc_kernel_refusal(kernel, NULL, NULL);
  if (why) {
    skip(kernel->name, why);
    return;
  }
  for (size_t v = 0; v < VARIANTS; v++) {
    int compared = 0;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes && compared >= 0; n++) {
      posenc_problem problem = problem_of(&variants[v], sizes[n][0], sizes[n][1], sizes[n][2]);
      for (int kind = 0; kind < (kernel->attends ? 3 : 1) && compared >= 0; kind++) {
        if (kind == 1) problem.scaling.attention = 1.3;
        if (kind == 2) { /* cr- kernels have other constants for tiny sines */
          problem.scaling.attention = 0.0;
          problem.base = 0x1p39;
          problem.first = 0;
        }
        const int more = portable ? same_bits(kernel, portable, &problem) : -1;
        compared = more < 0 ? more : compared + more;
      }
    }
    ok(compared > 0, "%s has the bits of %s: %s", kernel->name, portable ? portable->name : "none", variants[v].name);
  }
}

/* Tests teams with the rows of a list, and with sequences of one row. The last thread gets fewer rows. */
static void test_teams(const posenc_kernel *kernel) {
  enum { PARTS = 1001, DIM = 64 };
  static float x[PARTS * DIM], out[PARTS * DIM], alone[DIM];
  int64_t index[PARTS];
  const posenc_problem problem = posenc_add(PARTS, DIM);
  posenc_plan *plan = plan_of(&problem, kernel, 0, 3);
  if (!plan) {
    skip(kernel->name, posenc_kernel_refusal(kernel, &problem, NULL));
    return;
  }
  fill(&problem, PARTS * DIM, x);
  for (int64_t n = 0; n < PARTS; n++) index[n] = n * 389 % PARTS;
  for (int is_list = 0; is_list < 2; is_list++) {
    posenc_slice slice = posenc_rows(is_list ? 0 : 5, is_list ? PARTS : 1);
    slice.index = is_list ? index : NULL;
    slice.batch = is_list ? 1 : PARTS;
    memset(out, 0, sizeof out);
    bool same = posenc_apply(plan, &slice, x, out) == POSENC_OK;
    for (int64_t n = 0; n < PARTS; n++) {
      const posenc_slice one = posenc_rows(is_list ? index[n] : 5, 1);
      same = same && posenc_apply(plan, &one, x + n * DIM, alone) == POSENC_OK &&
             memcmp(alone, out + n * DIM, sizeof alone) == 0;
    }
    ok(same, "%s: %d %s have the bits of each alone", kernel->name, PARTS, is_list ? "rows of a list" : "sequences");
  }
  posenc_plan_destroy(plan);
}

/* Tests midpoints. Cosines of position 0 are 1: 2^-8 and 3 × 2^-8 more are midpoints of bf16. The first is rounded down
   to 1, the second up to 1 + 2^-6, whose last bits are 0. */
static void test_ties(const posenc_kernel *kernel) {
  enum { MOST_DIM = 70 };
  static const uint16_t given[] = {0x3b80, 0x3c40}, want[] = {0x3f80, 0x3f82};
  bool right = true;
  for (int64_t dim = 2; dim <= MOST_DIM; dim += 2) {
    posenc_problem problem = posenc_add(1, dim);
    problem.dtype = POSENC_BF16;
    posenc_plan *plan = plan_of(&problem, kernel, 0, 1);
    if (!plan) {
      skip(kernel->name, posenc_kernel_refusal(kernel, &problem, NULL));
      return;
    }
    const posenc_slice slice = posenc_rows(0, 1);
    uint16_t x[MOST_DIM] = {0}, out[MOST_DIM] = {0};
    for (int64_t i = 0; i < dim / 2; i++) x[2 * i + 1] = given[i % 2];
    posenc_apply(plan, &slice, x, out);
    for (int64_t i = 0; i < dim / 2; i++) right = right && out[2 * i] == 0 && out[2 * i + 1] == want[i % 2];
    posenc_plan_destroy(plan);
  }
  ok(right, "%s: add rounds ties of bf16 to even", kernel->name);
}

/* ---- against MPFR -------------------------------------------------------------------------------- */

typedef struct pair {
  double first, second;
} pair;

static pair pair_at(const posenc_problem *problem, const void *rows, int64_t r, int64_t head, int64_t i) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t from = r * width_of(problem) + head * problem->dim + i * at.step;
  return (pair){format_element(problem->dtype, rows, from + at.sin),
                format_element(problem->dtype, rows, from + at.cos)};
}

enum { BITS = 400 };

static void add_product(mpfr_t sum, double x, const exact *value) {
  mpfr_t factor;
  mpfr_init2(factor, BITS);
  mpfr_set_d(factor, value->high, MPFR_RNDN);
  mpfr_add_d(factor, factor, value->low, MPFR_RNDN);
  mpfr_mul_d(factor, factor, x, MPFR_RNDN);
  mpfr_add(sum, sum, factor, MPFR_RNDN);
  mpfr_clear(factor);
}

/* Returns |got - (start + a A + b B)|. */
static double error_of(double got, double start, double a, const exact *value_a, double b, const exact *value_b) {
  mpfr_t sum;
  mpfr_init2(sum, BITS);
  mpfr_set_d(sum, start, MPFR_RNDN);
  add_product(sum, a, value_a);
  add_product(sum, b, value_b);
  mpfr_sub_d(sum, sum, got, MPFR_RNDN);
  const double error = fabs(mpfr_get_d(sum, MPFR_RNDA));
  mpfr_clear(sum);
  return error;
}

/* Returns the errors of a pair as shares of what the bound allows; the larger one. */
static double share_of(const posenc_kernel *kernel, const posenc_problem *problem, int64_t position, pair x, pair got,
                       const exact_pair *value) {
  const double sign = problem->inverse ? -1.0 : 1.0;
  const bool rope = problem->op == POSENC_ROPE;
  const double length = sqrt(x.first * x.first + x.second * x.second);
  const double first = rope ? error_of(got.first, 0.0, x.first, &value->cosine, -sign * x.second, &value->sine)
                            : error_of(got.first, x.first, 1.0, &value->sine, 0.0, &value->cosine),
               second = rope ? error_of(got.second, 0.0, x.second, &value->cosine, sign * x.first, &value->sine)
                             : error_of(got.second, x.second, 0.0, &value->sine, 1.0, &value->cosine);
  const double size_first = rope ? length : fabs(x.first + value->sine.high),
               size_second = rope ? length : fabs(x.second + value->cosine.high);
  return fmax(first / posenc_applied_bound_at(&kernel->bound, problem, position, size_first),
              second / posenc_applied_bound_at(&kernel->bound, problem, position, size_second));
}

/* Returns the largest share of the bound that the kernel uses; infinite if it fails. */
static double worst_share(const posenc_kernel *kernel, const posenc_problem *problem) {
  const int64_t elements = problem->rows * width_of(problem);
  posenc_plan *plan = plan_of(problem, kernel, 0, 1);
  oracle *reference = oracle_create(problem);
  const posenc_slice all = posenc_rows(0, problem->rows);
  unsigned char *x = memory_take(bytes_of(problem, elements), 1), *out = memory_take(bytes_of(problem, elements), 1);
  fill(problem, elements, x);
  double worst = plan && reference && posenc_apply(plan, &all, x, out) == POSENC_OK ? 0.0 : (double)INFINITY;
  for (int64_t r = 0; r < problem->rows && worst < (double)INFINITY; r++)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const exact_pair exactly = oracle_pair(reference, problem->first + r, i);
      for (int64_t head = 0; head < problem->heads; head++)
        worst = fmax(worst, share_of(kernel, problem, problem->first + r, pair_at(problem, x, r, head, i),
                                     pair_at(problem, out, r, head, i), &exactly));
    }
  posenc_plan_destroy(plan);
  oracle_destroy(reference);
  free(x);
  free(out);
  return worst;
}

/* Tests that the kernel satisfies its bound, and that the correctly rounded kernel, whose bound is exact, nearly
   reaches it. */
static void test_bound(const posenc_kernel *kernel) {
  static const int64_t sizes[][3] = {{40, 3, 34}, {2, 9, 6}, {2, 1, 600}}; /* rows, heads, dim */
  for (size_t n = 0; n < VARIANTS * sizeof sizes / sizeof *sizes; n++) {
    const variant *v = &variants[n % VARIANTS];
    const int64_t *size = sizes[n / VARIANTS];
    posenc_problem problem = problem_of(v, size[0], size[1], size[2]);
    problem.first = 5;
    if (posenc_kernel_refusal(kernel, &problem, NULL)) {
      skip(kernel->name, posenc_kernel_refusal(kernel, &problem, NULL));
      continue;
    }
    const double share = worst_share(kernel, &problem);
    ok(share <= 1.0, "%s keeps its bound: %s, dim %d: %.3f", kernel->name, v->name, (int)problem.dim, share);
    if (strcmp(kernel->name, "cr-portable") == 0 && n < VARIANTS)
      ok(share > 0.25, "which is not a loose one: %s: %.3f", v->name, share);
  }
}

int main(void) {
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  unsetenv("POSENC_ISA");
  test_slices();
  test_problems();
  for (size_t k = 0; k < count; k++) {
    test_bound(kernels[k]);
    test_teams(kernels[k]);
    test_ties(kernels[k]);
  }
  for (size_t k = 0; k < count; k++)
    if (kernels[k]->reproducible) test_same_bits(kernels[k]);
  return tap_done();
}
