/* SPDX-License-Identifier: MIT */
/* Tests kernels on tables with scales, scalings and attention factors: every element is within the bound. */
#include "reference/fast.h"
#include "reference/oracle.h"
#include "reference/scaling.h"
#include "tests/library.h"
#include "tests/scalings.h"

#include <stdlib.h>

/* Returns a kernel's bound for this table: posenc_bound in posenc.h; with a factor, the bound of f64 times the factor,
   rounded twice in double and once to the dtype. Rows of f32 that are rounded again have 1.5 times their error. */
static posenc_bound promise_of(const posenc_kernel *kernel, const posenc_problem *problem) {
  posenc_bound bound = kernel->bound;
  const double factor = attention_of(problem);
  const bool is_multiplied = !attention_is_one(problem) && !kernel->attends;
  if (kernel->f32_only && (problem->dtype != POSENC_F32 || is_multiplied))
    bound = (posenc_bound){0.5, 1.5 * (bound.abs + bound.ulp * 0x1p-24), 1.5 * bound.growth, bound.max_position,
                           bound.derived};
  bound.growth *= problem->scale;
  if (attention_is_one(problem)) return bound;
  if (kernel->attends) {
    bound.abs *= factor;
    bound.growth *= factor;
    return bound;
  }
  bound.abs = factor * (bound.ulp * 0x1p-53 + bound.abs + 0x1p-51);
  bound.growth *= factor;
  bound.ulp = 0.5;
  return bound;
}

typedef struct count {
  int64_t tables, elements, beyond, misrounded, made_of_f32, untold, wrong_frequencies;
} count;

/* Counts every element of one kernel's table. */
static void count_kernel(const posenc_kernel *kernel, fast_oracle *reference, const posenc_problem *problem, void *rows,
                         count *c) {
  accuracy found = {0};
  const posenc_bound bound = promise_of(kernel, problem), told = posenc_kernel_bound(kernel, problem);
  c->untold += told.ulp != (kernel->f32_only ? bound.ulp : kernel->bound.ulp) ||
               (attention_is_one(problem) && (told.abs != bound.abs || told.growth * problem->scale != bound.growth));
  c->made_of_f32 += kernel->f32_only;
  if (!make_table(kernel, problem, rows)) abort();
  fast_check(reference, 0, problem->rows, rows, &bound, &found);
  if (found.beyond) {
    const witness *w = &found.worst;
    printf("# %s: %ld beyond, the worst %g of the bound at p = %ld, i = %ld, %s: exact %a, got %a\n", kernel->name,
           (long)found.beyond, found.worst_share, (long)w->position, (long)w->index, w->cosine ? "cos" : "sin",
           w->exact_high, w->got);
  }
  c->tables++;
  c->elements += found.held;
  c->beyond += found.beyond;
  c->misrounded += bound.ulp == 0.5 && bound.abs == 0.0 ? found.misrounded : 0;
}

/* Counts the elements of all kernels that accept the table. */
static void count_kernels(const posenc_problem *problem, count *c) {
  size_t kernel_count;
  const posenc_kernel *const *kernels = posenc_kernels(&kernel_count);
  fast_oracle *reference = fast_create(problem, 0);
  void *rows = malloc((size_t)(problem->rows * problem->dim) * posenc_dtype_bytes(problem->dtype));
  if (!reference || !rows) abort();
  for (size_t k = 0; k < kernel_count; k++)
    if (!posenc_kernel_refusal(kernels[k], problem, NULL)) count_kernel(kernels[k], reference, problem, rows, c);
  fast_destroy(reference);
  free(rows);
}

static void report(const count *c, const char *what, int number) {
  ok(c->tables > 0 && c->elements > 0 && c->beyond == 0 && c->misrounded == 0 && c->untold == 0 &&
         c->wrong_frequencies == 0,
     "%s %d: %ld tables of kernels, %ld of rows of f32, %ld elements, %ld beyond the bound, %ld misrounded", what,
     number, (long)c->tables, (long)c->made_of_f32, (long)c->elements, (long)c->beyond, (long)c->misrounded);
}

/* Counts the frequencies that posenc_frequencies has wrong, modulo 2π. */
static void count_frequencies(const posenc_problem *problem, count *c) {
  enum { BITS = 200 };
  double got[MOST_DIM / 2];
  oracle *reference = oracle_create(problem);
  mpfr_t frequency, turn, off;
  mpfr_inits2(BITS, frequency, turn, off, (mpfr_ptr)0);
  mpfr_const_pi(turn, MPFR_RNDN);
  mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
  const bool made = posenc_frequencies(problem, got) == POSENC_OK;
  c->wrong_frequencies += !made;
  for (int64_t i = 0; made && i < problem->dim / 2; i++) {
    oracle_frequency(reference, i, frequency);
    mpfr_fmod(frequency, frequency, turn, MPFR_RNDN);
    mpfr_sub_d(off, frequency, got[i], MPFR_RNDN);
    c->wrong_frequencies += !(fabs(mpfr_get_d(off, MPFR_RNDN)) <= 0x1p-52 * got[i] + 0x1p-180);
  }
  mpfr_clears(frequency, turn, off, (mpfr_ptr)0);
  oracle_destroy(reference);
}

static void test_kernels(posenc_problem problem, const char *what) {
  static const int64_t firsts[] = {0, (INT64_C(1) << 40) - 17, -(INT64_C(1) << 33)};
  char name[120];
  snprintf(name, sizeof name, "%s, dtype", what);
  for (int dtype = POSENC_F32; dtype <= POSENC_BF16; dtype++) {
    count all = {0};
    problem.dtype = (posenc_dtype)dtype;
    count_frequencies(&problem, &all);
    for (size_t n = 0; n < sizeof firsts / sizeof *firsts; n++) {
      problem.first = firsts[n];
      count_kernels(&problem, &all);
    }
    report(&all, name, dtype);
  }
}

static void test_scalings(void) {
  enum { ROWS = 70, LAST = 48 };
  const posenc_problem plain = with_base(ROWS, 2 * LAST, 1e4), small = with_base(ROWS, 10, 100.0),
                       meta = llama3(with_base(ROWS, 128, 5e5), 8.0, 8192, 1.0, 4.0);
  double factors[LAST];
  for (int i = 0; i < LAST; i++) factors[i] = 1.0 + i * i / 40.0;
  test_kernels(with_scale(plain, 0.3), "scale 0.3");
  test_kernels(with_scale(plain, 0x1.3p-55), "scale 2^-55");
  test_kernels(with_scale(plain, 1e6), "scale 1e6");
  test_kernels(linear(plain, 3.7), "linear by 3.7");
  test_kernels(dynamic(plain, 2.5, 2048, 5000), "dynamic by 2.5");
  test_kernels(dynamic(small, 1.1, 3, INT64_C(1) << 40), "dynamic of 2^40, dim 10");
  test_kernels(meta, "llama3");
  test_kernels(with_scale(meta, 0.7), "llama3 at scale 0.7");
  test_kernels(llama3(small, 1e6, 50, 0.3, 0.31), "llama3 by 1e6, dim 10");
  test_kernels(with_attention(yarn(plain, 40.0, 4096, true), 1.0), "yarn by 40, given 1");
  test_kernels(with_attention(yarn(plain, 40.0, 4096, false), 1.0), "yarn without truncate, given 1");
  test_kernels(with_attention(yarn(plain, 8.0, 6, true), 1.0), "yarn, its ramp's end between -1 and 0 rounded up to 0");
  test_kernels(yarn(plain, 40.0, 4096, true), "yarn by 40 with its factor");
  test_kernels(yarn(plain, 1.0 + 0x1p-50, 4096, true), "yarn, its factor 1 + 2^-53.3");
  test_kernels(longrope(plain, 1.0 + 0x1p-49, 4096, factors), "longrope, its factor 1 + 2^-53.1");
  test_kernels(longrope(plain, 1.0, 4096, factors), "longrope");
  test_kernels(longrope(plain, 32.0, 4096, factors), "longrope with its factor");
  test_kernels(with_attention(plain, 1.25), "plain, given 1.25");
  test_kernels(with_attention(plain, 0x1.111p-10), "plain, given a thousandth");
  test_kernels(with_attention(plain, 1024.0), "plain, given 1024");
  test_kernels(with_attention(with_base(ROWS, 2 * LAST, 0x1p39), 1.25), "base 2^39, given 1.25");
  test_kernels(with_attention(with_base(ROWS, 2 * LAST, 0x1p39), 0x1.111p-10), "base 2^39, given a thousandth");
}

/* Tests parameters drawn from the whole allowed range. */
static void test_drawn(void) {
  enum { DRAWS = 30 };
  double factors[MOST_DIM / 2];
  for (int kind = 0; kind < SCALING_KINDS; kind++) {
    count all = {0};
    for (int n = 0; n < DRAWS; n++) {
      posenc_problem problem = draw_scaled((posenc_scaling_kind)kind, factors);
      problem.rows = 5;
      problem.first = (int64_t)(random_bits() >> (random_bits() % 40 + 24));
      problem.scaling.attention = random_bits() % 2 ? 1.0 : 0.0;
      if (posenc_problem_refusal(&problem)) continue;
      count_kernels(&problem, &all);
      if (problem.base >= 1.0) count_frequencies(&problem, &all);
    }
    report(&all, "drawn, kind", kind);
  }
}

/* Tests that the correctly rounded kernels refuse angles below 2^-38, where a scaling multiplies the smallest frequency
   by `part`. */
static void least_angle(posenc_problem problem, double part, const char *what) {
  const posenc_kernel *kernel = posenc_kernel_find("cr-portable");
  problem.base = 0x1p38 / part * (1.0 - 0x1p-40);
  const char *allowed = posenc_kernel_refusal(kernel, &problem, NULL);
  problem.base *= 1.0 + 0x1p-30;
  const char *refused = posenc_kernel_refusal(kernel, &problem, NULL);
  ok(!allowed && refused && strcmp(refused, "it needs angles of 2^-38 and more") == 0, "%s: %s, %s", what,
     allowed ? allowed : "allowed", refused ? refused : "allowed beyond");
}

static void test_least_angle(void) {
  const posenc_problem problem = posenc_table(4, 16);
  double factors[8];
  for (int i = 0; i < 8; i++) factors[i] = i == 3 ? 16.0 : 1.0 + i / 8.0;
  least_angle(linear(problem, 8.0), 8.0, "linear");
  least_angle(dynamic(problem, 8.0, 1000, 2000), 9.0, "dynamic");
  least_angle(longrope(problem, 1.0, 1000, factors), 16.0, "longrope");
}

int main(void) {
  test_least_angle();
  test_scalings();
  test_drawn();
  return tap_done();
}
