/* SPDX-License-Identifier: MIT */
/* Tests the statistics of the fast reference against those of accuracy_add, element by element. */
#include "config.h"

#include "common/shapes.h"
#include "lib/exact/round.h"
#include "reference/fast.h"
#include "tests/exact.h"
#include "tests/library.h"
#include "tests/numbers.h"

#include <stdlib.h>
#ifdef HAVE_OPENMP
#include <omp.h>
#endif

static const unsigned targets[] = {POSENC_ISA_GENERIC, POSENC_ISA_AVX2, POSENC_ISA_AVX512};
enum { TARGETS = sizeof targets / sizeof *targets };

static void set_threads(int threads) {
#ifdef HAVE_OPENMP
  omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

/* Stores any value, rounded to the dtype. In 16 bits, values beyond 2 become infinite, which is wrong too. */
static void put(void *memory, posenc_dtype dtype, int64_t n, double value) {
  const bool far = fabs(value) > 2.0;
  if (far && (dtype == POSENC_F16 || dtype == POSENC_BF16))
    ((uint16_t *)memory)[n] = (uint16_t)((dtype == POSENC_F16 ? 0x7c00 : 0x7f80) | (value < 0.0 ? 0x8000 : 0));
  else
    round_to(dtype, memory, n, value);
}

/* A problem, its exact values, and memory for its table. */
typedef struct subject {
  posenc_problem problem;
  const format *target;
  exact_pair *exact;
  void *memory;
} subject;

static subject subject_of(const posenc_problem *problem) {
  return (subject){.problem = *problem,
                   .target = format_of(problem->dtype),
                   .exact = exact_table(problem),
                   .memory = calloc((size_t)(problem->rows * problem->dim), sizeof(double))};
}

static void subject_free(subject *s) {
  free(s->exact);
  free(s->memory);
}

static int64_t column_of(const posenc_problem *problem, int64_t index, bool cosine) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  return (cosine ? at.cos : at.sin) + index * at.step;
}

/* Returns the statistics of accuracy_add, element by element. */
static accuracy slowly(const subject *s, const posenc_bound *bound) {
  const posenc_problem *p = &s->problem;
  const posenc_bound nothing = {.derived = true};
  accuracy a = {0};
  for (int64_t r = 0; r < p->rows; r++) {
    const bool padding = p->padding != POSENC_NO_PADDING && p->first + r == p->padding;
    for (int64_t i = 0; i < p->dim / 2; i++)
      for (int cosine = 0; cosine < 2; cosine++) {
        const exact_pair *pair = &s->exact[r * (p->dim / 2) + i];
        accuracy_add(&a, s->target, padding && bound ? &nothing : bound, cosine ? &pair->cosine : &pair->sine,
                     format_element(p->dtype, s->memory, r * p->dim + column_of(p, i, cosine)),
                     (element_place){p->first + r, i, cosine});
      }
  }
  return a;
}

/* Returns the statistics of fast_check in pieces of `piece` rows, the last first. */
static accuracy quickly(const subject *s, const posenc_bound *bound, unsigned isa, int64_t piece) {
  const posenc_problem *p = &s->problem;
  fast_oracle *f = fast_create(p, isa);
  accuracy a = {0};
  for (int64_t row = (p->rows - 1) / piece * piece; row >= 0; row -= piece)
    fast_check(f, row, row + piece < p->rows ? piece : p->rows - row,
               (const char *)s->memory + (size_t)(row * p->dim) * posenc_dtype_bytes(p->dtype), bound, &a);
  fast_destroy(f);
  return a;
}

static bool same_witness(const witness *a, const witness *b) {
  return same_double(a->ulp, b->ulp) && same_double(a->abs, b->abs) && a->position == b->position &&
         a->index == b->index && a->cosine == b->cosine && same_double(a->exact_high, b->exact_high) &&
         same_double(a->exact_low, b->exact_low) && same_double(a->got, b->got);
}

/* Returns null, or the name of a figure that differs. Sums of the same numbers in another order may differ by their
   rounding. */
static const char *difference(const accuracy *a, const accuracy *b, double rounding) {
  if (a->elements != b->elements) return "elements";
  if (a->misrounded != b->misrounded) return "misrounded";
  if (a->beyond != b->beyond) return "beyond";
  if (!same_witness(&a->max_ulp, &b->max_ulp)) return "max_ulp";
  if (!same_witness(&a->max_abs, &b->max_abs)) return "max_abs";
  if (a->held != b->held) return "held";
  if (!same_double(a->worst_share, b->worst_share)) return "worst_share";
  if (!same_witness(&a->worst, &b->worst)) return "worst";
  if (memcmp(a->bins, b->bins, sizeof a->bins) != 0) return "bins";
  if (memcmp(a->most, b->most, sizeof a->most) != 0) return "most";
  if (!same_double(a->sum_ulp, b->sum_ulp) && !(fabs(a->sum_ulp - b->sum_ulp) <= rounding * fabs(a->sum_ulp)))
    return "sum_ulp";
  if (!same_double(a->sum_abs, b->sum_abs) && !(fabs(a->sum_abs - b->sum_abs) <= rounding * fabs(a->sum_abs)))
    return "sum_abs";
  return NULL;
}

/* Tests that every target and some ways to divide the work agree with accuracy_add; targets and threads agree to the
   last bit. Returns null, or the name of a figure that differs. */
static const char *disagreement(const subject *s, const posenc_bound *bound) {
  static const int64_t pieces[] = {INT64_C(1) << 40, 1, 37};
  const accuracy want = slowly(s, bound);
  const double rounding = (double)want.elements * 0x1p-53 * 2.0;
  const bool is_half = bound && bound->ulp == 0.5 && bound->abs == 0.0 && bound->growth == 0.0;
  const char *wrong = NULL;
  for (int t = 0; t < TARGETS && !wrong; t++) {
    if (!(posenc_isa_detect() & targets[t])) continue;
    const accuracy whole = quickly(s, bound, targets[t], s->problem.rows);
    wrong = difference(&want, &whole, rounding);
    if (!wrong && is_half && memcmp(want.rest, whole.rest, sizeof want.rest) != 0) wrong = "rest";
    if (wrong) break;
    set_threads(3);
    const accuracy threaded = quickly(s, bound, targets[0], s->problem.rows);
    set_threads(1);
    wrong = difference(&whole, &threaded, 0.0);
  }
  for (size_t n = 0; n < sizeof pieces / sizeof *pieces && !wrong; n++) {
    const accuracy cut = quickly(s, bound, 0, pieces[n]);
    wrong = difference(&want, &cut, rounding);
  }
  return wrong;
}

/* Tests a point of that name. Its text has the figure that differs, if any. */
__attribute__((format(printf, 2, 3))) static void agrees(const char *wrong, const char *what, ...) {
  char name[200];
  va_list arguments;
  va_start(arguments, what);
  vsnprintf(name, sizeof name, what, arguments);
  va_end(arguments);
  ok(!wrong, "%s, as accuracy_add%s%s", name, wrong ? ", but for " : "", wrong ? wrong : "");
}

static const posenc_bound rounded_bound = {.ulp = 0.5, .max_position = INT64_MAX, .derived = true};

/* Compares tables of all kernels that accept the problem. */
static void compare_kernels(const posenc_problem *problem) {
  size_t kernel_count;
  const posenc_kernel *const *kernels = posenc_kernels(&kernel_count);
  const shape named = shape_of(problem);
  subject s = subject_of(problem);
  for (size_t k = 0; k < kernel_count; k++) {
    if (!make_table(kernels[k], problem, s.memory)) continue;
    const char *wrong = disagreement(&s, &kernels[k]->bound);
    if (!wrong) wrong = disagreement(&s, NULL);
    if (!wrong) wrong = disagreement(&s, &rounded_bound);
    agrees(wrong, "%s on %s", kernels[k]->name, named.name);
  }
  subject_free(&s);
}

static void test_kernels(void) {
  static const struct corner {
    int64_t rows, dim, first;
    double base, shift;
    posenc_layout layout;
    posenc_dtype dtype;
    int64_t padding;
  } corners[] = {
      {300, 128, 0, 10000.0, 0.0, POSENC_INTERLEAVED, POSENC_F32, POSENC_NO_PADDING},
      {100, 130, 4050, 500000.0, 1.0, POSENC_SPLIT, POSENC_F32, 4096},
      {64, 512, INT64_C(1) << 40, 10000.0, 0.0, POSENC_INTERLEAVED_CS, POSENC_F32, POSENC_NO_PADDING},
      {200, 34, -100, 10000.0, 0.5, POSENC_SPLIT_CS, POSENC_F32, 0},
      {90, 2, 5, 10000.0, 0.0, POSENC_INTERLEAVED, POSENC_F32, POSENC_NO_PADDING},
      {50, 64, 0, 1e300, 0.0, POSENC_INTERLEAVED, POSENC_F32, 1},
      {100, 128, 0, 10000.0, 0.0, POSENC_INTERLEAVED, POSENC_F64, 3},
      {40, 130, 1000003, 1e7, 1.0, POSENC_SPLIT, POSENC_F64, POSENC_NO_PADDING},
      {300, 130, 0, 10000.0, 0.0, POSENC_INTERLEAVED, POSENC_F16, POSENC_NO_PADDING},
      {300, 130, 4000, 10000.0, 1.0, POSENC_SPLIT_CS, POSENC_BF16, 4100},
      /* many subnormals of f16, and values below half of the smallest one */
      {200, 130, -50, 1e9, 0.0, POSENC_INTERLEAVED_CS, POSENC_F16, 7},
      {200, 130, -50, 1e30, 0.0, POSENC_SPLIT, POSENC_BF16, 7},
  };
  for (size_t n = 0; n < sizeof corners / sizeof *corners; n++) {
    posenc_problem problem =
        table_of(corners[n].rows, corners[n].dim, corners[n].first, corners[n].base, corners[n].shift);
    problem.layout = corners[n].layout;
    problem.dtype = corners[n].dtype;
    problem.padding = corners[n].padding;
    compare_kernels(&problem);
  }
}

/* Tests values beyond 1, and of every size up to an attention factor. */
static void test_scaled_kernels(void) {
  size_t count;
  const shape *shapes = shapes_scaled(&count);
  for (size_t n = 0; n < count; n++) {
    posenc_problem problem = posenc_table_of(&shapes[n].problem);
    problem.rows = 60;
    problem.first = n % 2 ? 4060 : -20;
    problem.padding = problem.first + 30;
    problem.dtype = (posenc_dtype)(n % 4);
    if (n % 3 == 0) problem.scaling.attention = n ? 0.01 : 1000.0;
    compare_kernels(&problem);
  }
}

/* Writes the correctly rounded table. */
static void put_rounded(subject *s) {
  const posenc_problem *p = &s->problem;
  for (int64_t n = 0; n < p->rows * (p->dim / 2); n++)
    for (int cosine = 0; cosine < 2; cosine++)
      put(s->memory, p->dtype, n / (p->dim / 2) * p->dim + column_of(p, n % (p->dim / 2), cosine),
          cosine ? s->exact[n].cosine.rounded : s->exact[n].sine.rounded);
}

/* Returns a wrong value. */
static double corrupted(double value, posenc_dtype dtype) {
  const uint64_t drawn = random_bits();
  const double far = drawn & 8 ? INFINITY : -INFINITY;
  switch (drawn % 8) {
  case 0:
    return NAN;
  case 1:
    return far;
  case 2:
    return -0.0;
  case 3:
    return -value;
  case 4:
    return (double)(int64_t)drawn;
  case 5:
    return dtype == POSENC_F64 ? value * (1.0 + 0x1p-45) : value * (1.0 + 0x1p-20);
  default:
    switch (dtype) {
    case POSENC_F32:
      return (double)nextafterf((float)value, (float)far);
    case POSENC_F64:
      return nextafter(value, far);
    case POSENC_F16:
      return value + copysign(fmax(fabs(value) * 0x1p-10, 0x1p-24), far);
    case POSENC_BF16:
      return value + copysign(fabs(value) * 0x1p-7, far);
    }
    return value;
  }
}

static void test_fuzz(void) {
  enum { ROUNDS = 120 };
  static const double bases[] = {10000.0, 500000.0, 1e6, 1e7, 2.5, 1.0, 0.1};
  int agreed = 0;
  for (int round = 0; round < ROUNDS; round++) {
    const uint64_t seed = random_state;
    const int64_t dim = 2 + 2 * (int64_t)(random_bits() % 90);
    const int64_t first = (int64_t)(random_bits() >> (11 + random_bits() % 53)) - 40;
    posenc_problem problem = table_of(1 + (int64_t)(random_bits() % 150), dim, first, bases[random_bits() % 7],
                                      dim > 2 ? (double)(random_bits() % 3) / 2.0 : 0.0);
    problem.layout = (posenc_layout)(random_bits() % 4);
    problem.dtype = (posenc_dtype)(random_bits() % 4);
    if (random_bits() % 2) problem.padding = first + (int64_t)(random_bits() % (uint64_t)problem.rows);
    subject s = subject_of(&problem);
    put_rounded(&s);
    const char *wrong = disagreement(&s, &rounded_bound);
    /* a few, many, or all elements */
    static const uint64_t frequencies[] = {500, 7, 1};
    const uint64_t every = frequencies[round % 3];
    for (int64_t n = 0; n < problem.rows * problem.dim; n++)
      if (random_bits() % every == 0)
        put(s.memory, problem.dtype, n, corrupted(format_element(problem.dtype, s.memory, n), problem.dtype));
    const posenc_bound loose = {.ulp = 1.5, .abs = 0x1p-30, .growth = 0x1p-60};
    if (!wrong) wrong = disagreement(&s, round % 2 ? &rounded_bound : &loose);
    const shape named = shape_of(&problem);
    if (wrong)
      printf("# seed %llx, %s: %s differs\n", (unsigned long long)seed, named.name, wrong);
    else
      agreed++;
    subject_free(&s);
  }
  ok(agreed == ROUNDS, "%d of %d corrupted tables judged as accuracy_add does", agreed, ROUNDS);
}

/* Tests a constant table, in which every element may have the largest error. In f64, the last number below 1 shows the
   ulp of a cosine that is nearly 1. */
static void test_constant(void) {
  static const struct constant {
    posenc_dtype dtype;
    double value;
  } constants[] = {{POSENC_F32, 0.0},
                   {POSENC_F32, 1.0},
                   {POSENC_F32, -0.0},
                   {POSENC_F32, (double)NAN},
                   {POSENC_F32, (double)INFINITY},
                   {POSENC_F64, 1.0 - 0x1p-53},
                   {POSENC_F16, 0.0},
                   {POSENC_F16, -0.0},
                   {POSENC_F16, 0x1p-24},
                   {POSENC_F16, 1.0 - 0x1p-11},
                   {POSENC_BF16, 0.0},
                   {POSENC_BF16, 1.0 - 0x1p-8}};
  for (size_t n = 0; n < sizeof constants / sizeof *constants; n++) {
    posenc_problem problem = table_of(70, 66, 4060, 1e30, 0.0);
    problem.dtype = constants[n].dtype;
    subject s = subject_of(&problem);
    for (int64_t i = 0; i < problem.rows * problem.dim; i++) put(s.memory, problem.dtype, i, constants[n].value);
    const char *wrong = disagreement(&s, &rounded_bound);
    agrees(wrong, "a table of %g, %s", constants[n].value, dtype_name(problem.dtype));
    subject_free(&s);
  }
}

/*
 * Tests a value whose nearest double is a midpoint of f32, so that its low part decides. On average, one of 2^29
 * values of this table is such a value.
 */
static void test_middle(void) {
  enum { POSITION = 548383, INDEX = 76, ROWS = 4, DIM = 512 };
  const posenc_problem problem = table_of(ROWS, DIM, POSITION - 1, 500000.0, 0.0);
  subject s = subject_of(&problem);
  const exact *hard = &s.exact[DIM / 2 + INDEX].cosine;
  const int64_t at = DIM + column_of(&problem, INDEX, true);
  ok(hard->high == -0x1.8c0495p-3 && hard->low < 0.0 && hard->rounded == -0x1.8c0496p-3,
     "cos is %a and %a, so %a in f32", hard->high, hard->low, hard->rounded);
  put_rounded(&s);
  const char *wrong = disagreement(&s, &rounded_bound);
  agrees(wrong, "the right side of the midpoint");
  put(s.memory, problem.dtype, at, -0x1.8c0494p-3);
  wrong = disagreement(&s, &rounded_bound);
  agrees(wrong, "the wrong side of the midpoint");
  ok(slowly(&s, NULL).misrounded == 1, "the wrong side is misrounded");
  subject_free(&s);
}

/*
 * Tests values less than 2^-60 ulp below a midpoint of f32, so small that the reference is within 2^-31 ulp only: x -
 * x³/6 of an angle x that is a midpoint, p 2^-67. The estimate cannot decide whether one is rounded to nearest. A
 * first element with a far larger error keeps them from being examined as the largest error.
 */
static void test_tiny_middles(void) {
  enum { ROWS = 256 };
  static const double bounds[] = {0.5, 0.5000001, 1.5};
  const posenc_problem problem = table_of(ROWS, 4, (1 << 24) + 1, 0x1p134, 0.0);
  subject s = subject_of(&problem);
  int midpoints = 0;
  for (int64_t row = 0; row < ROWS; row++) {
    const exact *tiny = &s.exact[2 * row + 1].sine;
    midpoints += format_from_midpoint(&format_f32, tiny) < 0x1p-31;
  }
  ok(midpoints == ROWS / 2, "%d tiny values in the midpoint", midpoints);
  put_rounded(&s);
  for (int n = 0; n < 2; n++) { /* the number below, which is the nearest, or the one above */
    for (int64_t row = 0; n && row < ROWS; row++) {
      const int64_t at = 4 * row + column_of(&problem, 1, false);
      put(s.memory, problem.dtype, at, (double)nextafterf((float)s.exact[2 * row + 1].sine.rounded, 1.0f));
    }
    put(s.memory, problem.dtype, column_of(&problem, 0, false), 0.5);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
      const posenc_bound bound = {.ulp = bounds[b]};
      agrees(disagreement(&s, &bound), "tiny values in the midpoint, rounded %s, bound %.7g ulp", n ? "up" : "down",
             bounds[b]);
    }
  }
  subject_free(&s);
}

/*
 * Tests values less than 2^-44 ulp from a midpoint, of angles near π that are reached in large turns. There the error
 * of the reference is about 2^-40 ulp, so its estimate is below or above half an ulp. Angles p w, with w = scale /
 * factor, are from convergents.
 */
static void test_turned_middles(void) {
  static const struct {
    int64_t position;
    double scale, factor;
  } cases[] = {
      {2457, 0x1.123f66e7d5dd5p-9, 0x1.a2ead1e5a70e0p+0},  {3705, 0x1.c74c85f3aa654p-11, 0x1.062eebff14554p+0},
      {2451, 0x1.7802e24ddba7ep-10, 0x1.1e7ae29d6e495p+0}, {3191, 0x1.925467763cf86p-10, 0x1.8f1445345d2c4p+0},
      {1829, 0x1.4b8124e35fc68p-9, 0x1.78f3176e1b00cp+0},  {1831, 0x1.0667f03c1c558p-9, 0x1.2ab471a49d088p+0},
      {3543, 0x1.5e4b13953e554p-10, 0x1.81caba7348b50p+0}, {1573, 0x1.2fd3ff2e7344ep-9, 0x1.291f96a0aba54p+0},
      {3755, 0x1.45355e6d33224p-10, 0x1.7b98a6adefe68p+0}, {3515, 0x1.e04bf4d696150p-11, 0x1.06650d24de0f0p+0}};
  enum { CASES = sizeof cases / sizeof *cases, ROWS = 3 };
  static const posenc_bound loose = {.ulp = 1.5};
  int midpoints = 0;
  const char *wrong = NULL;
  for (size_t n = 0; n < CASES; n++) {
    posenc_problem problem = table_of(ROWS, 2, cases[n].position - ROWS + 1, 10000.0, 0.0);
    problem.scale = cases[n].scale;
    problem.scaling = (posenc_scaling){.kind = POSENC_SCALING_LONGROPE,
                                       .factor = 1.0,
                                       .original = 4096,
                                       .attention = 1.0,
                                       .factors = &cases[n].factor};
    subject s = subject_of(&problem);
    const exact *hard = &s.exact[ROWS - 1].sine;
    midpoints += format_from_midpoint(&format_f32, hard) < 0x1p-44 && fabs(hard->high) < 0x1p-40;
    put_rounded(&s);
    put(s.memory, problem.dtype, column_of(&problem, 0, false), 0.5);
    if (!wrong) wrong = disagreement(&s, &loose);
    put(s.memory, problem.dtype, 2 * (ROWS - 1) + column_of(&problem, 0, false),
        (double)nextafterf((float)hard->rounded, hard->rounded < hard->high ? 1.0f : -1.0f));
    if (!wrong) wrong = disagreement(&s, &loose);
    subject_free(&s);
  }
  ok(midpoints == CASES, "%d values in the midpoint, next to a multiple of pi", midpoints);
  agrees(wrong, "values in the midpoint, next to a multiple of pi, rounded either way");
}

/* Tests that a witness which moves to the other value of the same pair, or from it to another row, takes MPFR's value
   of its new place; and one that stays keeps it. */
static void test_moved_witness(void) {
  enum { FIRST = 1000 };
  static const struct {
    int64_t row;
    bool cosine;
    float error;
  } calls[] = {{1, false, 1e-3f}, {1, true, 2e-3f}, {0, true, 3e-3f}, {1, true, 1e-3f}, {0, false, 4e-3f}};
  enum { CALLS = sizeof calls / sizeof *calls };
  const posenc_problem problem = table_of(2, 4, FIRST, 10000.0, 0.0);
  subject s = subject_of(&problem);
  fast_oracle *f = fast_create(&problem, 0);
  accuracy a = {0};
  int right = 0;
  for (size_t n = 0; n < CALLS; n++) {
    put_rounded(&s);
    float *row = (float *)s.memory + 4 * calls[n].row;
    row[column_of(&problem, 1, calls[n].cosine)] += calls[n].error;
    fast_check(f, calls[n].row, 1, row, NULL, &a);
    const exact_pair *pair = &s.exact[2 * (a.max_abs.position - FIRST) + 1];
    const exact *value = a.max_abs.cosine ? &pair->cosine : &pair->sine;
    right += a.max_abs.exact_high == value->high && a.max_abs.exact_low == value->low;
  }
  ok(right == CALLS, "a witness that moves has MPFR's value: %d of %d calls", right, CALLS);
  fast_destroy(f);
  subject_free(&s);
}

static void test_empty(void) {
  const posenc_problem problem = table_of(0, 8, 0, 10000.0, 0.0);
  fast_oracle *f = fast_create(&problem, 0);
  accuracy a = {0};
  fast_check(f, 0, 0, NULL, NULL, &a);
  ok(a.elements == 0, "no rows, no elements");
  fast_destroy(f);
}

int main(void) {
  test_kernels();
  test_scaled_kernels();
  test_fuzz();
  test_constant();
  test_middle();
  test_tiny_middles();
  test_turned_middles();
  test_moved_witness();
  test_empty();
  return tap_done();
}
