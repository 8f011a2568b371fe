/* SPDX-License-Identifier: MIT */
/* The fast oracle against MPFR: its values within their bound, its statistics those of accuracy_add. With --speed:
 * how many elements a second, not a test. */
#include "config.h"

#include "common/clock.h"
#include "common/shapes.h"
#include "lib/exact/round.h"
#include "reference/fast.h"
#include "reference/oracle.h"
#include "reference/scaling.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
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

/* xorshift64* (Vigna, 2016) */
static uint64_t random_state = UINT64_C(0x706f73656e63);
static uint64_t random_bits(void) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

static posenc_problem table(int64_t rows, int64_t dim, int64_t first, double base, double shift) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.first = first;
  problem.base = base;
  problem.shift = shift;
  return problem;
}

/* ---- values -------------------------------------------------------------------------------------- */

static double distance(const fast_value *got, const exact *want) {
  return fabs((got->high - want->high) + (got->low - want->low));
}

/* The largest distance from MPFR over the positions, in units of the bound. */
static double worst_distance(const posenc_problem *problem, const int64_t *positions, size_t count, int64_t *compared) {
  const int64_t pairs = problem->dim / 2;
  const double bound = FAST_BOUND * exp2(ceil(log2(attention_of(problem))));
  fast_oracle *f = fast_create(problem, 0);
  oracle *o = oracle_create(problem);
  fast_pair *got = calloc((size_t)pairs, sizeof *got);
  exact_pair *want = calloc((size_t)pairs, sizeof *want);
  place *places = calloc((size_t)pairs, sizeof *places);
  double worst = 0.0;
  for (size_t n = 0; n < count; n++) {
    for (int64_t i = 0; i < pairs; i++) places[i] = (place){positions[n], i};
    oracle_pairs(o, places, (size_t)pairs, want);
    fast_row(f, positions[n], got);
    for (int64_t i = 0; i < pairs; i++) {
      worst = fmax(worst, distance(&got[i].sine, &want[i].sine) / bound);
      worst = fmax(worst, distance(&got[i].cosine, &want[i].cosine) / bound);
      *compared += 2;
    }
  }
  free(places);
  free(want);
  free(got);
  oracle_destroy(o);
  fast_destroy(f);
  return worst;
}

/* Positions where every rotation takes part (all bits set), few do, and drawn ones of every size and sign. */
enum { POSITIONS = 96 };
static void draw_positions(int64_t *positions) {
  static const int64_t corners[] = {0,
                                    1,
                                    -1,
                                    63,
                                    64,
                                    4031,
                                    4095,
                                    4096,
                                    -4095,
                                    -4097,
                                    (1 << 20) - 1,
                                    131071,
                                    (INT64_C(1) << 40) - 1,
                                    (INT64_C(1) << 53) - 1,
                                    1 - (INT64_C(1) << 53),
                                    INT64_MAX,
                                    INT64_MIN};
  enum { CORNERS = sizeof corners / sizeof *corners };
  memcpy(positions, corners, sizeof corners);
  for (int n = CORNERS; n < POSITIONS; n++) {
    const int64_t drawn = (int64_t)(random_bits() >> (11 + n % 53)) | (n % 3 ? 0 : 0xfff);
    positions[n] = n % 2 ? drawn : -drawn;
  }
}

static void test_values(void) {
  static const struct corner {
    int64_t dim;
    double base, shift;
  } corners[] = {{2, 10000.0, 0.0}, {130, 0.01, 0.0}, {64, 1.0, 0.0},        {62, 1e300, 0.5},    {128, 5e5, 0.0},
                 {128, 1e6, 0.0},   {128, 1e7, 0.0},  {96, 12345.678, 0.25}, {128, 10000.0, 1.0}, {4096, 10000.0, 0.0}};
  int64_t positions[POSITIONS];
  draw_positions(positions);
  for (size_t n = 0; n < sizeof corners / sizeof *corners; n++) {
    const posenc_problem problem = table(16, corners[n].dim, 0, corners[n].base, corners[n].shift);
    int64_t compared = 0;
    const double worst = worst_distance(&problem, positions, corners[n].dim > 512 ? 24 : POSITIONS, &compared);
    ok(worst > 0.0 && worst <= 1.0, "dim %ld, base %g, shift %g: within %.3f of the bound on %ld values",
       (long)corners[n].dim, corners[n].base, corners[n].shift, worst, (long)compared);
  }
  size_t count;
  const shape *shapes = shapes_published(&count);
  for (size_t n = 0; n < count; n++) {
    int64_t compared = 0;
    const int64_t first = shapes[n].problem.first, last = first + shapes[n].problem.rows - 1;
    const int64_t ends[] = {first, first + 1, last / 2 | 4095, last - 1, last};
    posenc_problem problem = shapes[n].problem;
    problem.padding = POSENC_NO_PADDING;
    const double worst = worst_distance(&problem, ends, sizeof ends / sizeof *ends, &compared);
    ok(worst > 0.0 && worst <= 1.0, "%s: within %.3f of the bound on %ld values", shapes[n].name, worst,
       (long)compared);
  }
}

/* A power of two of the bound, and none that changes; and frequencies of every size. */
static void test_scaled_values(void) {
  static const double factors[] = {0x1p-10, 0.3, 1.0, 1.0 + 0x1p-52, 1.99, 2.0, 1000.0},
                      scales[] = {0x1.8p-120, 0.5, 1e6};
  int64_t positions[POSITIONS], compared = 0;
  double worst = 0.0;
  draw_positions(positions);
  for (size_t n = 0; n < sizeof factors / sizeof *factors; n++)
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
      posenc_problem problem = table(16, 34, 0, 10000.0, 0.0);
      problem.scale = scales[k];
      problem.scaling.attention = factors[n];
      worst = fmax(worst, worst_distance(&problem, positions, POSITIONS, &compared));
    }
  ok(worst > 0.0 && worst <= 1.0, "scales and attention factors: within %.3f of the bound on %ld values", worst,
     (long)compared);
  size_t count;
  const shape *shapes = shapes_scaled(&count);
  for (size_t n = 0; n < count; n++) {
    compared = 0;
    worst = worst_distance(&shapes[n].problem, positions, POSITIONS, &compared);
    ok(worst > 0.0 && worst <= 1.0, "%s: within %.3f of the bound on %ld values", shapes[n].name, worst,
       (long)compared);
  }
}

/* ---- statistics ------------------------------------------------------------------------------------ */

/* Any value, rounded to the dtype. In 16 bits what is beyond 2 becomes infinite: that is as wrong. */
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
  oracle *oracle;
  exact_pair *exact;
  void *memory;
} subject;

static subject subject_of(const posenc_problem *problem) {
  const int64_t pairs = problem->dim / 2, count = problem->rows * pairs;
  subject s = {.problem = *problem, .oracle = oracle_create(problem)};
  place *places = calloc((size_t)count, sizeof *places);
  s.target = oracle_format(s.oracle);
  s.exact = calloc((size_t)count, sizeof *s.exact);
  s.memory = calloc((size_t)count * 2, sizeof(double));
  for (int64_t n = 0; n < count; n++) places[n] = (place){problem->first + n / pairs, n % pairs};
  oracle_pairs(s.oracle, places, (size_t)count, s.exact);
  free(places);
  return s;
}

static void subject_free(subject *s) {
  oracle_destroy(s->oracle);
  free(s->exact);
  free(s->memory);
}

static int64_t column_of(const posenc_problem *problem, int64_t index, bool cosine) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  return (cosine ? at.cos : at.sin) + index * at.step;
}

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
                     format_element(p->dtype, s->memory, r * p->dim + column_of(p, i, cosine)), p->first + r, i,
                     cosine);
      }
  }
  return a;
}

/* In pieces of `piece` rows, the last first. */
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

static bool same_double(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool same_witness(const witness *a, const witness *b) {
  return same_double(a->ulp, b->ulp) && same_double(a->abs, b->abs) && a->position == b->position &&
         a->index == b->index && a->cosine == b->cosine && same_double(a->exact_high, b->exact_high) &&
         same_double(a->exact_low, b->exact_low) && same_double(a->got, b->got);
}

/* Null, or which figure differs. Two sums of the same numbers in another order differ by their rounding, at most. */
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
  if (!same_double(a->sum_ulp, b->sum_ulp) && !(fabs(a->sum_ulp - b->sum_ulp) <= rounding * fabs(a->sum_ulp)))
    return "sum_ulp";
  if (!same_double(a->sum_abs, b->sum_abs) && !(fabs(a->sum_abs - b->sum_abs) <= rounding * fabs(a->sum_abs)))
    return "sum_abs";
  return NULL;
}

/* Every target and some ways to cut the work give what accuracy_add gives; targets and threads agree to the last bit.
   Null, or what differs. */
static const char *disagreement(const subject *s, const posenc_bound *bound) {
  static const int64_t pieces[] = {INT64_C(1) << 40, 1, 37};
  const accuracy want = slowly(s, bound);
  const double rounding = (double)want.elements * 0x1p-53 * 2.0;
  const char *wrong = NULL;
  for (int t = 0; t < TARGETS && !wrong; t++) {
    if (!(posenc_isa_detect() & targets[t])) continue;
    const accuracy whole = quickly(s, bound, targets[t], s->problem.rows);
    wrong = difference(&want, &whole, rounding);
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

static const posenc_bound rounded_bound = {.ulp = 0.5, .max_position = INT64_MAX, .derived = true};

/* All that do the problem. */
static void compare_kernels(const posenc_problem *problem) {
  size_t kernel_count;
  const posenc_kernel *const *kernels = posenc_kernels(&kernel_count);
  const shape named = shape_of(problem);
  subject s = subject_of(problem);
  for (size_t k = 0; k < kernel_count; k++) {
    posenc_options options = posenc_default_options();
    options.kernel = kernels[k];
    posenc_plan *plan;
    if (posenc_plan_create(&plan, problem, &options) != POSENC_OK) continue;
    posenc_execute(plan, 0, problem->rows, s.memory);
    posenc_plan_destroy(plan);
    const char *wrong = disagreement(&s, &kernels[k]->bound);
    if (!wrong) wrong = disagreement(&s, NULL);
    if (!wrong) wrong = disagreement(&s, &rounded_bound);
    ok(!wrong, "%s on %s as accuracy_add %s%s", kernels[k]->name, named.name, wrong ? "but for " : "",
       wrong ? wrong : "");
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
      /* many subnormals of f16, and values below half of its least one */
      {200, 130, -50, 1e9, 0.0, POSENC_INTERLEAVED_CS, POSENC_F16, 7},
      {200, 130, -50, 1e30, 0.0, POSENC_SPLIT, POSENC_BF16, 7},
  };
  for (size_t n = 0; n < sizeof corners / sizeof *corners; n++) {
    posenc_problem problem =
        table(corners[n].rows, corners[n].dim, corners[n].first, corners[n].base, corners[n].shift);
    problem.layout = corners[n].layout;
    problem.dtype = corners[n].dtype;
    problem.padding = corners[n].padding;
    compare_kernels(&problem);
  }
}

/* Values beyond 1, and of every size up to an attention factor. */
static void test_scaled_kernels(void) {
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F64, POSENC_F16, POSENC_BF16};
  size_t count;
  const shape *shapes = shapes_scaled(&count);
  for (size_t n = 0; n < count; n++) {
    posenc_problem problem = posenc_table_of(&shapes[n].problem);
    problem.rows = 60;
    problem.first = n % 2 ? 4060 : -20;
    problem.padding = problem.first + 30;
    problem.dtype = dtypes[n % 4];
    if (n % 3 == 0) problem.scaling.attention = n ? 0.01 : 1000.0;
    compare_kernels(&problem);
  }
}

/* The correctly rounded table. */
static void put_rounded(subject *s) {
  const posenc_problem *p = &s->problem;
  for (int64_t n = 0; n < p->rows * (p->dim / 2); n++)
    for (int cosine = 0; cosine < 2; cosine++)
      put(s->memory, p->dtype, n / (p->dim / 2) * p->dim + column_of(p, n % (p->dim / 2), cosine),
          cosine ? s->exact[n].cosine.rounded : s->exact[n].sine.rounded);
}

/* Something that should not be there. */
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
    posenc_problem problem = table(1 + (int64_t)(random_bits() % 150), dim, first, bases[random_bits() % 7],
                                   dim > 2 ? (double)(random_bits() % 3) / 2.0 : 0.0);
    problem.layout = (posenc_layout)(random_bits() % 4);
    problem.dtype = (posenc_dtype)(random_bits() % 4);
    if (random_bits() % 2) problem.padding = first + (int64_t)(random_bits() % (uint64_t)problem.rows);
    subject s = subject_of(&problem);
    put_rounded(&s);
    const char *wrong = disagreement(&s, &rounded_bound);
    /* a few, many, or all elements */
    const uint64_t every = round % 3 == 0 ? 500 : round % 3 == 1 ? 7 : 1;
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

/* All one value: every element a near tie for the worst. In f64 the last but 1 shows what its ulp is where a cosine is
 * nearly 1. */
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
    posenc_problem problem = table(70, 66, 4060, 1e30, 0.0);
    problem.dtype = constants[n].dtype;
    subject s = subject_of(&problem);
    for (int64_t i = 0; i < problem.rows * problem.dim; i++) put(s.memory, problem.dtype, i, constants[n].value);
    const char *wrong = disagreement(&s, &rounded_bound);
    ok(!wrong, "a table of %g throughout, %s %s", constants[n].value, dtype_name(problem.dtype), wrong ? wrong : "");
    subject_free(&s);
  }
}

/*
 * A value whose nearest double is in the middle between two floats: its low part decides. Found in 2^29 values of this
 * table, one of which is like that on average.
 */
static void test_middle(void) {
  enum { POSITION = 548383, INDEX = 76, ROWS = 4, DIM = 512 };
  const posenc_problem problem = table(ROWS, DIM, POSITION - 1, 500000.0, 0.0);
  subject s = subject_of(&problem);
  const exact *hard = &s.exact[DIM / 2 + INDEX].cosine;
  const int64_t at = DIM + column_of(&problem, INDEX, true);
  ok(hard->high == -0x1.8c0495p-3 && hard->low < 0.0 && hard->rounded == -0x1.8c0496p-3,
     "cos is %a and %a, so %a in f32", hard->high, hard->low, hard->rounded);
  put_rounded(&s);
  const char *wrong = disagreement(&s, &rounded_bound);
  ok(!wrong, "the right side of the middle %s", wrong ? wrong : "");
  put(s.memory, problem.dtype, at, -0x1.8c0494p-3);
  wrong = disagreement(&s, &rounded_bound);
  ok(!wrong && slowly(&s, NULL).misrounded == 1, "the wrong side %s", wrong ? wrong : "");
  subject_free(&s);
}

/*
 * Values less than 2^-60 ulp below the middle between two floats, so small that the oracle knows them no better than
 * 2^-31 ulp: x - x³/6 of an angle x that is a middle, p 2^-67. Whether one is rounded to nearest is not for the
 * estimate to say. A first element that is wrong by far more keeps them from being looked at as the worst.
 */
static void test_tiny_middles(void) {
  enum { ROWS = 256 };
  static const double bounds[] = {0.5, 0.5000001, 1.5};
  const posenc_problem problem = table(ROWS, 4, (1 << 24) + 1, 0x1p134, 0.0);
  subject s = subject_of(&problem);
  int middles = 0;
  for (int64_t row = 0; row < ROWS; row++) {
    const exact *tiny = &s.exact[2 * row + 1].sine;
    middles += format_from_tie(&format_f32, tiny) < 0x1p-31;
  }
  put_rounded(&s);
  for (int n = 0; n < 2; n++) { /* the number below, which is the nearest, or the one above */
    for (int64_t row = 0; n && row < ROWS; row++) {
      const int64_t at = 4 * row + column_of(&problem, 1, false);
      put(s.memory, problem.dtype, at, (double)nextafterf((float)s.exact[2 * row + 1].sine.rounded, 1.0f));
    }
    put(s.memory, problem.dtype, column_of(&problem, 0, false), 0.5);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
      const posenc_bound bound = {.ulp = bounds[b]};
      const char *wrong = disagreement(&s, &bound);
      ok(!wrong && middles == ROWS / 2, "%d tiny values in the middle, rounded %s, bound %.7g ulp %s", middles,
         n ? "up" : "down", bounds[b], wrong ? wrong : "");
    }
  }
  subject_free(&s);
}

/*
 * Values less than 2^-44 ulp from the middle, of angles near π that are reached in large turns: there the
 * oracle's error is some 2^-40 ulp, so that its estimate of half an ulp falls short of it or exceeds it. Angles
 * p w, w = scale / factor, from convergents.
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
  int middles = 0;
  const char *wrong = NULL;
  for (size_t n = 0; n < CASES; n++) {
    posenc_problem problem = table(ROWS, 2, cases[n].position - ROWS + 1, 10000.0, 0.0);
    problem.scale = cases[n].scale;
    problem.scaling = (posenc_scaling){.kind = POSENC_SCALING_LONGROPE,
                                       .factor = 1.0,
                                       .original = 4096,
                                       .attention = 1.0,
                                       .factors = &cases[n].factor};
    subject s = subject_of(&problem);
    const exact *hard = &s.exact[ROWS - 1].sine;
    middles += format_from_tie(&format_f32, hard) < 0x1p-44 && fabs(hard->high) < 0x1p-40;
    put_rounded(&s);
    put(s.memory, problem.dtype, column_of(&problem, 0, false), 0.5);
    if (!wrong) wrong = disagreement(&s, &loose);
    put(s.memory, problem.dtype, 2 * (ROWS - 1) + column_of(&problem, 0, false),
        (double)nextafterf((float)hard->rounded, hard->rounded < hard->high ? 1.0f : -1.0f));
    if (!wrong) wrong = disagreement(&s, &loose);
    subject_free(&s);
  }
  ok(!wrong && middles == CASES, "%d values in the middle, next to a multiple of pi, either way %s", middles,
     wrong ? wrong : "");
}

static void test_empty(void) {
  const posenc_problem problem = table(0, 8, 0, 10000.0, 0.0);
  fast_oracle *f = fast_create(&problem, 0);
  accuracy a = {0};
  fast_check(f, 0, 0, NULL, NULL, &a);
  ok(a.elements == 0, "no rows, nothing found");
  fast_destroy(f);
}

/* ---- speed ------------------------------------------------------------------------------------------- */

static void measure(const posenc_kernel *kernel, int64_t rows, int64_t dim, int threads, unsigned isa) {
  enum { BLOCK_BYTES = 1 << 22 };
  const posenc_problem problem = posenc_table(rows, dim);
  const int64_t block = BLOCK_BYTES / (dim * 4) < rows ? BLOCK_BYTES / (dim * 4) : rows;
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  options.threads = threads;
  posenc_plan *plan;
  void *memory = malloc((size_t)(block * dim) * sizeof(float));
  if (!memory || posenc_plan_create(&plan, &problem, &options) != POSENC_OK) {
    free(memory);
    return;
  }
  set_threads(threads);
  const double begin = clock_seconds();
  fast_oracle *f = fast_create(&problem, isa);
  const double made = clock_seconds();
  double executing = 0.0;
  accuracy a = {0};
  for (int64_t row = 0; row < rows; row += block) {
    const int64_t count = rows - row < block ? rows - row : block;
    const double before = clock_seconds();
    posenc_execute(plan, row, count, memory);
    executing += clock_seconds() - before;
    fast_check(f, row, count, memory, &kernel->bound, &a);
  }
  const double whole = clock_seconds() - begin;
  printf("%-12s %8ldx%-5ld oracle %-8s threads %d: %7.3f s, %4.0f M elements/s per thread (create %.3f s, execute "
         "%.3f s), misrounded %ld of %ld, max ulp %.9f, worst share %.6f\n",
         kernel->name, (long)rows, (long)dim, isa ? posenc_isa_name(isa) : "best", threads, whole,
         (double)a.elements / whole / threads * 1e-6, made - begin, executing, (long)a.misrounded, (long)a.elements,
         a.max_ulp.ulp, a.worst_share);
  fast_destroy(f);
  posenc_plan_destroy(plan);
  free(memory);
}

static int speed(int64_t rows, int64_t dim, const char *name) {
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  for (size_t k = 0; k < count; k++)
    for (int t = 0; t < TARGETS; t++)
      for (int threads = 1; threads <= 2; threads++)
        if ((!name || strcmp(kernels[k]->name, name) == 0) && posenc_isa_detect() & targets[t])
          measure(kernels[k], rows, dim, threads, targets[t]);
  return 0;
}

/* ---- sums of angles -------------------------------------------------------------------------------- */

static fast_pair as_fast(const exact_pair *pair) {
  return (fast_pair){{pair->sine.high, pair->sine.low}, {pair->cosine.high, pair->cosine.low}};
}

/* Three exact pairs, each within 2 × 2^-106, and one turn. */
static void test_turn(void) {
  const posenc_problem problem = table(16, 64, 0, 10000.0, 0.0);
  oracle *o = oracle_create(&problem);
  double worst = 0.0;
  for (int n = 0; n < 2000; n++) {
    const int64_t a = (int64_t)(random_bits() >> 24), b = (int64_t)(random_bits() >> 24), index = n % 32;
    const exact_pair one = oracle_pair(o, a, index), other = oracle_pair(o, b, index),
                     sum = oracle_pair(o, a + b, index);
    const fast_pair first = as_fast(&one), second = as_fast(&other), got = fast_turn(&first, &second);
    worst = fmax(worst, fmax(distance(&got.sine, &sum.sine), distance(&got.cosine, &sum.cosine)));
  }
  ok(worst > 0.0 && worst <= 16.0 * 0x1p-106, "the sum of two angles, %.2g of 2^-106", worst * 0x1p106);
  oracle_destroy(o);
}

/* ---- values near ties ------------------------------------------------------------------------------ */

/* How often each place was found. */
typedef struct finds {
  int64_t first, pairs;
  unsigned char *times;
} finds;

static void count_find(place at, void *argument) {
  finds *f = argument;
  f->times[(at.position - f->first) * f->pairs + at.index]++;
}

static double from_tie(const fast_value *value) {
  const exact as_exact = {value->high, value->low, 0.0};
  return format_from_tie(&format_f32, &as_exact);
}

/* Of each place, sine or cosine, whichever is nearer to a tie, against fast_row. */
static void test_near_ties(const char *name, unsigned isa, int64_t first, double base) {
  const double within = 1e-4, slack = 0x1p-27;
  const posenc_problem problem = table(9000, 98, first, base, 0.0);
  finds found = {.first = first, .pairs = problem.dim / 2};
  fast_oracle *f = fast_create(&problem, isa);
  fast_pair *row = calloc((size_t)found.pairs, sizeof *row);
  found.times = calloc((size_t)(problem.rows * found.pairs), 1);
  fast_near_ties(f, first, problem.rows, within, count_find, &found);
  bool right = true;
  int64_t near = 0;
  for (int64_t r = 0; r < problem.rows; r++) {
    fast_row(f, first + r, row);
    for (int64_t i = 0; i < found.pairs; i++) {
      const int times = found.times[r * found.pairs + i];
      const double distance = fmin(from_tie(&row[i].sine), from_tie(&row[i].cosine));
      const bool tiny = fmin(fabs(row[i].sine.high), fabs(row[i].cosine.high)) < 0x1p-44;
      near += distance <= within;
      if (distance <= within || tiny) right = right && times == 1;
      if (distance > within + slack && !tiny) right = right && times == 0;
    }
  }
  ok(right && near > 0, "%s, from %lld, base %g: the %lld pairs near a tie are found", name, (long long)first, base,
     (long long)near);
  free(found.times);
  free(row);
  fast_destroy(f);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--speed") == 0)
    return speed(argc > 2 ? atoll(argv[2]) : 131072, argc > 3 ? atoll(argv[3]) : 1024, argc > 4 ? argv[4] : NULL);
  test_values();
  test_scaled_values();
  test_kernels();
  test_scaled_kernels();
  test_fuzz();
  test_constant();
  test_middle();
  test_tiny_middles();
  test_turned_middles();
  test_empty();
  test_turn();
  for (int t = 0; t < TARGETS; t++) {
    if (!(posenc_isa_detect() & targets[t])) continue;
    test_near_ties(posenc_isa_name(targets[t]), targets[t], -100, 10000.0);
    test_near_ties(posenc_isa_name(targets[t]), targets[t], INT64_C(1) << 33, 1e300);
  }
  return tap_done();
}
