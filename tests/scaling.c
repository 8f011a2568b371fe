/* SPDX-License-Identifier: MIT */
/* Scales, scalings and attention factors: the oracle against their formulas and values known from elsewhere, kernels against the oracle. */
#include "reference/scaling.h"
#include "reference/fast.h"
#include "tests/tap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 */
static uint64_t random_state = 5;
static uint64_t random_bits(void) {
  uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Between the two, every power as likely as any other. */
static double random_between(double least, double most) {
  const double share = (double)(random_bits() >> 11) * 0x1p-53;
  return fmin(most, fmax(least, least * pow(most / least, share)));
}

static posenc_problem table(int64_t rows, int64_t dim, double base) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.base = base;
  return problem;
}

static posenc_problem linear(posenc_problem problem, double factor) {
  problem.scaling.kind = POSENC_SCALING_LINEAR;
  problem.scaling.factor = factor;
  return problem;
}

static posenc_problem dynamic(posenc_problem problem, double factor, int64_t original, int64_t length) {
  problem.scaling.kind = POSENC_SCALING_DYNAMIC;
  problem.scaling.factor = factor;
  problem.scaling.original = original;
  problem.scaling.length = length;
  return problem;
}

static posenc_problem ramp(posenc_problem problem, posenc_scaling_kind kind, double factor, int64_t original,
                           double low, double high) {
  problem.scaling.kind = kind;
  problem.scaling.factor = factor;
  problem.scaling.original = original;
  problem.scaling.low = low;
  problem.scaling.high = high;
  return problem;
}

static posenc_problem yarn(posenc_problem problem, double factor, int64_t original, bool truncate) {
  posenc_problem made = ramp(problem, POSENC_SCALING_YARN, factor, original, 1.0, 32.0);
  made.scaling.truncate = truncate;
  return made;
}

static posenc_problem longrope(posenc_problem problem, double factor, int64_t original, const double *factors) {
  problem.scaling.kind = POSENC_SCALING_LONGROPE;
  problem.scaling.factor = factor;
  problem.scaling.original = original;
  problem.scaling.factors = factors;
  return problem;
}

/* What may differ between two ways to a frequency of 300 bits. */
enum { BITS = 300, LAST_BITS = 6 };

static bool are_near(const mpfr_t a, const mpfr_t b, mpfr_prec_t bits) {
  mpfr_t off;
  mpfr_init2(off, bits);
  mpfr_sub(off, a, b, MPFR_RNDN);
  const bool near = mpfr_zero_p(off) || mpfr_get_exp(off) <= mpfr_get_exp(a) - bits + LAST_BITS;
  mpfr_clear(off);
  return near;
}

/* Of the frequencies [from, to) of one problem, those that are not `times` those of another. */
static int64_t count_other(const posenc_problem *one, const posenc_problem *other, double times, int64_t from,
                           int64_t to) {
  oracle *a = oracle_create(one), *b = oracle_create(other);
  mpfr_t x, y;
  mpfr_inits2(BITS, x, y, (mpfr_ptr)0);
  int64_t wrong = 0;
  for (int64_t i = from; i < to; i++) {
    oracle_frequency(a, i, x);
    oracle_frequency(b, i, y);
    mpfr_mul_d(y, y, times, MPFR_RNDN);
    wrong += !are_near(x, y, BITS);
  }
  mpfr_clears(x, y, (mpfr_ptr)0);
  oracle_destroy(a);
  oracle_destroy(b);
  return wrong;
}

static void same(const posenc_problem *one, const posenc_problem *other, double times, int64_t from, int64_t to,
                 const char *what) {
  const int64_t wrong = count_other(one, other, times, from, to);
  ok(from < to && wrong == 0, "%s: %ld of %ld frequencies differ", what, (long)wrong, (long)(to - from));
}

/* ---- identities --------------------------------------------------------------------------------- */

static void test_identities(void) {
  enum { DIM = 128, HALF = DIM / 2 };
  const posenc_problem plain = table(16, DIM, 1e4), meta = table(16, DIM, 5e5);
  double factors[HALF];
  posenc_problem one, other = plain;

  other.scale = 0.5;
  same(&other, &plain, 0.5, 0, HALF, "scale 1/2 halves frequencies");
  one = linear(plain, 2.0);
  same(&one, &other, 1.0, 0, HALF, "linear by 2 is scale 1/2");
  one.scale = other.scale = 0x1.fp-70;
  same(&one, &other, 0.5, 0, HALF, "and beside a scale it counts as well");

  one = dynamic(plain, 2.0, 2048, 2048);
  same(&one, &plain, 1.0, 0, HALF, "dynamic, of the trained length, is plain");
  one = dynamic(plain, 2.0, 2048, 7);
  same(&one, &plain, 1.0, 0, HALF, "and of less than that");
  const posenc_problem four = table(16, 4, 1e4), grown = table(16, 4, 4e4), most = table(16, 4, 72.25e4);
  one = dynamic(four, 1.0, 100, 200);
  same(&one, &grown, 1.0, 0, 2, "dynamic, dim 4: twice the length is 2² times the base");
  one = dynamic(four, 2.5, 100, 400);
  same(&one, &most, 1.0, 0, 2, "2.5 × 4 - 1.5, squared");

  one = ramp(meta, POSENC_SCALING_LLAMA3, 8.0, 8192, 1.0, 4.0);
  same(&one, &meta, 1.0, 0, 29, "llama3: waves that turn 4 times are plain");
  same(&one, &meta, 0.125, 35, HALF, "those that turn less than once are divided");
  ok(count_other(&one, &meta, 1.0, 29, 35) == 6 && count_other(&one, &meta, 0.125, 29, 35) == 6,
     "six between them are neither");
  one.scaling.factor = 1.0;
  same(&one, &meta, 1.0, 0, HALF, "llama3 by 1 is plain");

  one = yarn(plain, 16.0, 4096, true);
  same(&one, &plain, 1.0, 0, 21, "yarn: before the ramp, which begins at 20, frequencies are plain");
  same(&one, &plain, 0x1p-4, 46, HALF, "from its end, 46, on they are divided");
  /* a third of the ramp's way, but for 2 of its 26 columns: w (1 - g + g/16) at i = 33, g = 1/2 */
  same(&one, &plain, 0x1.1p-1, 33, 34, "and in its middle by (1 + 1/16) / 2");
  one.scaling.truncate = false;
  same(&one, &plain, 1.0, 0, 21, "without truncate, the ramp begins after 20");
  same(&one, &plain, 0x1p-4, 46, HALF, "and ends before 46");
  ok(count_other(&one, &plain, 0x1.1p-1, 33, 34) == 1, "so that its middle is another");
  one = yarn(plain, 16.0, 2, true);
  same(&one, &plain, 1.0, 0, HALF, "yarn, trained on so little that nothing turned: the ramp lies before all columns");
  one = yarn(plain, 16.0, INT64_C(1) << 30, true);
  same(&one, &plain, 1.0, 0, HALF, "trained on so much that everything turned: beyond all");
  one = yarn(plain, 16.0, INT64_C(1) << 40, true);
  same(&one, &plain, 0x1p-4, 0, HALF, "and on yet more: its ends have changed places, and all columns are behind both");

  for (int i = 0; i < HALF; i++) factors[i] = 1.0;
  one = longrope(plain, 32.0, 4096, factors);
  same(&one, &plain, 1.0, 0, HALF, "longrope by ones is plain");
  for (int i = 0; i < HALF; i++) factors[i] = 0.25;
  one = longrope(plain, 32.0, 4096, factors);
  for (int i = 0; i < HALF; i++) factors[i] = NAN; /* the oracle of before has its own */
  for (int i = 0; i < HALF; i++) factors[i] = i % 2 ? 64.0 : 0.25;
  same(&one, &plain, 4.0, 0, 1, "longrope by a quarter");
  same(&one, &plain, 0x1p-6, 1, 2, "and by 64");
}

/* ---- known values ------------------------------------------------------------------------------- */

/* 45 digits by mpmath, of the formulas in posenc.h. */
static void expect(const posenc_problem *problem, int64_t index, const char *digits, const char *what) {
  enum { DIGITS_BITS = 146 };
  oracle *o = oracle_create(problem);
  mpfr_t got, want;
  mpfr_inits2(DIGITS_BITS, got, want, (mpfr_ptr)0);
  mpfr_set_str(want, digits, 10, MPFR_RNDN);
  oracle_frequency(o, index, got);
  ok(are_near(got, want, DIGITS_BITS), "%s: frequency %ld is %s", what, (long)index, digits);
  mpfr_clears(got, want, (mpfr_ptr)0);
  oracle_destroy(o);
}

static void test_known_values(void) {
  const posenc_problem plain = table(16, 128, 1e4), meta = table(16, 128, 5e5), small = table(16, 64, 5e5),
                       phi = table(16, 96, 1e4);
  double factors[48] = {[20] = 3.66};
  for (int i = 0; i < 48; i++) factors[i] = i == 20 ? 3.66 : 1.0;
  posenc_problem problem = linear(plain, 1.3);
  expect(&problem, 5, "0.374590403973740844846262948633049107662492187", "linear by 1.3");
  problem = dynamic(plain, 2.0, 2048, 4096);
  expect(&problem, 40, "0.00157422161063691599185862434625322707360267029", "dynamic by 2");
  problem = dynamic(small, 2.5, 2048, 3000);
  expect(&problem, 17, "0.000614864752426098863625548541267341266226895571", "dynamic by 2.5, 3000 of 2048");
  problem = yarn(plain, 16.0, 4096, true);
  expect(&problem, 30, "0.00852684377296740843340860183337879977361941535", "yarn");
  problem.scaling.truncate = false;
  expect(&problem, 30, "0.00863427296553573550469595986779132341289665535", "yarn without truncate");
  problem = ramp(meta, POSENC_SCALING_LLAMA3, 8.0, 8192, 1.0, 4.0);
  expect(&problem, 28, "0.00321144599475259101854348885419029762004283807", "llama3, 4.19 turns");
  expect(&problem, 29, "0.00216657076350335860934157994792601152471046758", "3.41");
  expect(&problem, 31, "0.000856751412919632081074335847177622541888732316", "2.26");
  expect(&problem, 34, "0.000178507812767996418523674725679713562464779411", "1.22");
  expect(&problem, 35, "0.000095562123539646830198683967182702966325787058", "0.997");
  problem = longrope(phi, 32.0, 4096, factors);
  expect(&problem, 20, "0.00588643357932208644291814530078325245599681332", "longrope by 3.66");
}

/* ---- any parameters ----------------------------------------------------------------------------- */

/* The header's formulas, word for word, in the longest arithmetic of the compiler. */
static long double cut_of(const posenc_problem *problem, long double rotations) {
  const long double pi = 3.14159265358979323846264338327950288L;
  return (long double)problem->dim * logl((long double)problem->scaling.original / (2 * pi * rotations)) /
         (2 * logl((long double)problem->base));
}

static long double formula(const posenc_problem *problem, int64_t index) {
  const posenc_scaling *how = &problem->scaling;
  const long double pi = 3.14159265358979323846264338327950288L, s = (long double)how->factor, i = (long double)index,
                    n = (long double)how->original, dim = (long double)problem->dim;
  long double base = (long double)problem->base;
  if (how->kind == POSENC_SCALING_DYNAMIC) {
    const long double length = (long double)(how->length > how->original ? how->length : how->original);
    base *= powl(s * length / n - (s - 1), dim / (dim - 2));
  }
  long double w = powl(base, -i / (dim / 2 - (long double)problem->shift));
  if (how->kind == POSENC_SCALING_LINEAR) w /= s;
  if (how->kind == POSENC_SCALING_YARN) {
    long double a = cut_of(problem, (long double)how->high), b = cut_of(problem, (long double)how->low);
    if (how->truncate) {
      a = floorl(a);
      b = ceill(b);
    }
    a = fmaxl(0, a);
    b = fminl(dim - 1, b);
    if (a == b) b = a + 0.001L;
    const long double g = fminl(1, fmaxl(0, (i - a) / (b - a)));
    w = w * (1 - g) + w / s * g;
  }
  if (how->kind == POSENC_SCALING_LLAMA3) {
    const long double low = (long double)how->low, high = (long double)how->high, t = n * w / (2 * pi),
                      g = (t - low) / (high - low);
    w = t > high ? w : t < low ? w / s : w * ((1 - g) / s + g);
  }
  if (how->kind == POSENC_SCALING_LONGROPE) w /= (long double)how->factors[index];
  return w * (long double)problem->scale;
}

enum { KINDS = POSENC_SCALING_LONGROPE + 1, MOST_DIM = 160 };

static posenc_problem draw(posenc_scaling_kind kind, double *factors) {
  posenc_problem problem = table(16, 4 + 2 * (int64_t)(random_bits() % (MOST_DIM / 2 - 2)), random_between(2.0, 1e8));
  posenc_scaling *how = &problem.scaling;
  problem.scale = random_bits() % 2 ? 1.0 : random_between(0x1p-60, 0x1p20);
  how->kind = kind;
  how->factor = random_bits() % 8 ? random_between(1.0, 0x1p20) : 1.0;
  how->original = (int64_t)random_between(2.0, 0x1p40);
  how->length = (int64_t)random_between(1.0, 0x1p40);
  how->low = random_between(0x1p-10, 0x1p10);
  how->high = how->low * random_between(1.0 + 0x1p-9, 0x1p10);
  how->truncate = random_bits() % 2;
  how->factors = factors;
  for (int i = 0; i < MOST_DIM / 2; i++) factors[i] = random_between(0x1p-8, 0x1p20);
  return problem;
}

/* Formulas cancel: where ramps begin, what is left is known to an epsilon of w, of which w / s may be a small part; and of s n/N - (s - 1) it is
   one of s. */
static void test_formulas(void) {
  enum { DRAWS = 300 };
  double factors[MOST_DIM / 2];
  for (int kind = 0; kind < KINDS; kind++) {
    int64_t wrong = 0, compared = 0, refused = 0;
    double worst = 0.0;
    for (int n = 0; n < DRAWS; n++) {
      const posenc_problem problem = draw((posenc_scaling_kind)kind, factors);
      if (posenc_problem_refusal(&problem)) {
        refused++;
        continue;
      }
      oracle *o = oracle_create(&problem);
      mpfr_t w;
      mpfr_init2(w, 64);
      for (int64_t i = 0; i < problem.dim / 2; i++) {
        oracle_frequency(o, i, w);
        const long double got = mpfr_get_ld(w, MPFR_RNDN), want = formula(&problem, i);
        const long double plain = powl((long double)problem.base, -2 * (long double)i / (long double)problem.dim) *
                                  (long double)problem.scale;
        const double off = (double)fabsl((got - want) / (kind == POSENC_SCALING_LONGROPE ? want : plain));
        worst = fmax(worst, off);
        wrong +=
            !(off <= 32.0 * (double)LDBL_EPSILON * (kind == POSENC_SCALING_DYNAMIC ? problem.scaling.factor : 1.0));
        compared++;
      }
      mpfr_clear(w);
      oracle_destroy(o);
    }
    ok(wrong == 0 && refused < DRAWS / 2,
       "kind %d, %d draws: %ld of %ld frequencies off their formula, the worst by %.2g", kind, DRAWS - (int)refused,
       (long)wrong, (long)compared, worst);
  }
}

/* As many bits as are asked for, and the same number each time. */
static void test_precision(void) {
  enum { DRAWS = 12, MORE = 2000 };
  double factors[MOST_DIM / 2];
  for (int kind = 0; kind < KINDS; kind++) {
    int64_t wrong = 0, compared = 0;
    for (int n = 0; n < DRAWS; n++) {
      const posenc_problem problem = draw((posenc_scaling_kind)kind, factors);
      if (posenc_problem_refusal(&problem)) continue;
      oracle *o = oracle_create(&problem);
      mpfr_t few, many;
      mpfr_init2(few, BITS);
      mpfr_init2(many, MORE);
      for (int64_t i = 0; i < problem.dim / 2; i++) {
        oracle_frequency(o, i, few);
        oracle_frequency(o, i, many);
        wrong += !are_near(few, many, BITS);
        compared++;
      }
      mpfr_clears(few, many, (mpfr_ptr)0);
      oracle_destroy(o);
    }
    ok(compared > 0 && wrong == 0, "kind %d: %ld of %ld frequencies are others with %d bits", kind, (long)wrong,
       (long)compared, MORE);
  }
}

/* A ramp that begins next to a frequency, of which all but 2^-53 cancels; and is divided by so much that this is what is left. */
static void test_cancellation(void) {
  enum { DIM = 64, INDEX = 20, TIGHT = 60, MANY = 2000 };
  const posenc_problem plain = table(16, DIM, 1e4);
  const long double pi = 3.14159265358979323846264338327950288L;
  const double turns = (double)(4096 * powl(1e4L, -2.0L * INDEX / DIM) / (2 * pi));
  posenc_problem problem = ramp(plain, POSENC_SCALING_LLAMA3, 0x1p20, 4096, nextafter(turns, 0.0), 2 * turns);
  mpfr_t w, precise;
  mpfr_init2(w, TIGHT);
  mpfr_init2(precise, MANY);
  for (int n = 0; n < 3; n++) {
    oracle *o = oracle_create(&problem);
    oracle_frequency(o, INDEX, w);
    oracle_frequency(o, INDEX, precise);
    ok(are_near(w, precise, TIGHT) && (mpfr_get_d(precise, MPFR_RNDN) < 1e-8),
       "a ramp that begins at %a turns: frequency %.12g", problem.scaling.low, mpfr_get_d(precise, MPFR_RNDN));
    oracle_destroy(o);
    problem.scaling.low = nextafter(problem.scaling.low, INFINITY);
  }
  /* What a function gets is too little to begin with: it says so, and it is enough with more bits. */
  mpfr_set_prec(w, 100);
  mpfr_set_str(w, "0.01", 10, MPFR_RNDN);
  problem = ramp(plain, POSENC_SCALING_LLAMA3, 8.0, 628318, 1000.0, 2000.0);
  mpfr_t pi_of_many;
  mpfr_init2(pi_of_many, 100);
  mpfr_const_pi(pi_of_many, MPFR_RNDN);
  mpfr_mul_ui(w, pi_of_many, 2000, MPFR_RNDN); /* 1000 turns, to 100 bits */
  mpfr_div_ui(w, w, 628318, MPFR_RNDN);
  ok(!scaling_frequency(w, 60, &problem, 3),
     "a frequency that is at the ramp's end, as far as its bits tell, is refused");
  mpfr_clears(w, precise, pi_of_many, (mpfr_ptr)0);
}

/* ---- attention ---------------------------------------------------------------------------------- */

static void expect_factor(const posenc_problem *problem, const char *digits, bool is_double, const char *what) {
  mpfr_t got, want;
  mpfr_inits2(146, got, want, (mpfr_ptr)0);
  mpfr_set_str(want, digits, 10, MPFR_RNDN);
  const bool told = scaling_attention(got, problem);
  ok(told == is_double && are_near(got, want, 146) && attention_of(problem) == mpfr_get_d(want, MPFR_RNDN),
     "attention of %s is %s%s", what, digits, is_double ? ", exactly" : "");
  mpfr_clears(got, want, (mpfr_ptr)0);
}

static void test_attention_values(void) {
  static const double ones[4] = {1.0, 1.0, 1.0, 1.0};
  const posenc_problem plain = table(16, 8, 1e4);
  posenc_problem problem = plain;
  expect_factor(&problem, "1", true, "plain");
  problem.scaling.attention = 1.25;
  expect_factor(&problem, "1.25", true, "plain, given one");
  problem = yarn(plain, 40.0, 4096, true);
  expect_factor(&problem, "1.36888794541139363028524556976007173437521018", false, "yarn by 40");
  problem.scaling.attention = 1.0;
  expect_factor(&problem, "1", true, "yarn, given 1");
  problem = yarn(plain, 1.0, 4096, true);
  expect_factor(&problem, "1", true, "yarn by 1");
  problem = longrope(plain, 32.0, 4096, ones);
  expect_factor(&problem, "1.19023807142380833299989996856121087979436186", false, "longrope by 32 of 4096");
  problem = longrope(plain, 7.0, 100, ones);
  expect_factor(&problem, "1.19270659426664042208062572957024494140675041", false, "longrope by 7 of 100");
  problem = longrope(plain, 1.0, 4096, ones);
  expect_factor(&problem, "1", true, "longrope by 1");
  /* sqrt(1 + 3), sqrt(1 + 5/4), sqrt(1 + 21/4), and neighbours of the first */
  problem = longrope(plain, 8.0, 2, ones);
  expect_factor(&problem, "2", true, "longrope by 2³ of 2");
  problem = longrope(plain, 32.0, 16, ones);
  expect_factor(&problem, "1.5", true, "longrope by 16^(5/4) of 16");
  problem = longrope(plain, 3486784401.0 * 3.0, 81, ones);
  expect_factor(&problem, "2.5", true, "longrope by 81^(21/4) of 81");
  problem = longrope(plain, nextafter(8.0, 9.0), 2, ones);
  mpfr_t factor;
  mpfr_init2(factor, 200);
  ok(!scaling_attention(factor, &problem) && mpfr_cmp_d(factor, 2.0) > 0, "of more than 2³: a little more than 2");
  mpfr_clear(factor);
  problem = longrope(plain, 4096.0, 4096, ones);
  expect_factor(&problem, "1.41421356237309504880168872420969807856967187", false, "longrope by N of N");
  problem = linear(plain, 4.0);
  expect_factor(&problem, "1", true, "linear");
}

/* A sin p w and A cos p w the plain way, with bits enough for all but a wonder, and rounded once. */
static void test_attention_pairs(const posenc_problem *given, const char *what) {
  static const int64_t positions[] = {
      0, 1, -1, 2, 100, 355, 4095, -8191, 131071, (INT64_C(1) << 40) + 5, -(INT64_C(1) << 40)};
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F64, POSENC_F16, POSENC_BF16};
  mpfr_t w, factor, sine, cosine;
  mpfr_inits2(500, w, factor, sine, cosine, (mpfr_ptr)0);
  scaling_attention(factor, given);
  int64_t wrong = 0, compared = 0, beyond_one = 0;
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    posenc_problem problem = *given;
    problem.dtype = dtypes[d];
    oracle *o = oracle_create(&problem);
    for (int64_t i = 0; i < problem.dim / 2; i++)
      for (size_t n = 0; n < sizeof positions / sizeof *positions; n++) {
        oracle_frequency(o, i, w);
        mpfr_mul_si(w, w, (long)positions[n], MPFR_RNDN);
        mpfr_sin_cos(sine, cosine, w, MPFR_RNDN);
        mpfr_mul(sine, sine, factor, MPFR_RNDN);
        mpfr_mul(cosine, cosine, factor, MPFR_RNDN);
        const exact_pair pair = oracle_pair(o, positions[n], i);
        const format *f = oracle_format(o);
        wrong += pair.sine.rounded != format_round(f, sine) || pair.cosine.rounded != format_round(f, cosine) ||
                 pair.sine.high != mpfr_get_d(sine, MPFR_RNDN) || pair.cosine.high != mpfr_get_d(cosine, MPFR_RNDN);
        mpfr_sub_d(cosine, cosine, pair.cosine.high, MPFR_RNDN);
        wrong += !(fabs(pair.cosine.low - mpfr_get_d(cosine, MPFR_RNDN)) <= 0x1p-105 * fabs(pair.cosine.high));
        beyond_one += fabs(pair.cosine.high) > 1.0;
        compared++;
      }
    oracle_destroy(o);
  }
  mpfr_clears(w, factor, sine, cosine, (mpfr_ptr)0);
  ok(wrong == 0 && (attention_of(given) <= 1.0 || beyond_one > 0),
     "%s: %ld of %ld pairs differ, %ld cosines are beyond 1", what, (long)wrong, (long)compared, (long)beyond_one);
}

static void test_attention(void) {
  static const double ones[8] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
  const posenc_problem plain = table(16, 16, 1e4);
  posenc_problem problem = yarn(plain, 40.0, 64, true);
  test_attention_pairs(&problem, "yarn by 40");
  problem = longrope(plain, 8.0, 2, ones);
  test_attention_pairs(&problem, "longrope's 2");
  problem = longrope(plain, 32.0, 4096, ones);
  test_attention_pairs(&problem, "longrope by 32");
  problem = ramp(plain, POSENC_SCALING_LLAMA3, 8.0, 8192, 1.0, 4.0);
  problem.scaling.attention = 0x1.8p-9;
  test_attention_pairs(&problem, "llama3, given 3/1024");
  problem = plain;
  problem.scaling.attention = 1000.1;
  test_attention_pairs(&problem, "plain, given 1000.1");

  problem = yarn(plain, 40.0, 64, true);
  oracle *o = oracle_create(&problem);
  problem.scaling.attention = 1.0;
  oracle *without = oracle_create(&problem);
  bool same = true;
  for (int64_t p = -3; p < 30; p++)
    for (int64_t i = 0; i < 8; i++) {
      exact_pair turn;
      oracle_turns(o, &(place){p, i}, 1, &turn);
      const exact_pair pair = oracle_pair(without, p, i);
      same = same && memcmp(&turn, &pair, sizeof turn) == 0;
    }
  ok(same, "turns are the pairs of the same problem without a factor");
  const exact_pair origin = oracle_pair(o, 0, 3);
  ok(origin.sine.high == 0.0 && !signbit(origin.sine.high) && origin.cosine.low != 0.0 &&
         format_ulp(oracle_format(o), &origin.cosine) == 0x1p-23,
     "the cosine of position 0 is the factor: %a, with f32's ulp of numbers from 1 to 2", origin.cosine.rounded);
  oracle_destroy(o);
  oracle_destroy(without);
}

/* Angles that nearly come back, of frequencies beyond a turn a position as well. */
static void test_returns(double scale) {
  const posenc_problem plain = table(16, 16, 1e4);
  posenc_problem problem = plain;
  const int64_t most = INT64_C(1) << 30;
  problem.scale = scale;
  oracle *o = oracle_create(&problem);
  mpfr_t w, turn;
  mpfr_inits2(200, w, turn, (mpfr_ptr)0);
  mpfr_const_pi(turn, MPFR_RNDN);
  mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
  bool good = true;
  size_t all = 0;
  for (int64_t i = 0; i < 8; i++) {
    int64_t returns[ORACLE_RETURNS];
    double before = INFINITY;
    const size_t count = oracle_returns(o, i, most, returns);
    for (size_t n = 0; n < count; n++) {
      oracle_frequency(o, i, w);
      mpfr_mul_si(w, w, (long)returns[n], MPFR_RNDN);
      mpfr_remainder(w, w, turn, MPFR_RNDN);
      const double off = fabs(mpfr_get_d(w, MPFR_RNDN));
      good = good && off < before && (n == 0 || returns[n] > returns[n - 1]) && off <= 6.2832 / (double)returns[n];
      before = off;
    }
    good = good && count > 0;
    all += count;
  }
  mpfr_clears(w, turn, (mpfr_ptr)0);
  oracle_destroy(o);
  ok(good && all > 30, "scale %g: %zu returns of 8 frequencies, each nearer than the one before", scale, all);
}

/* ---- kernels ------------------------------------------------------------------------------------ */

/* What a kernel promises of this table: posenc_bound in posenc.h; with a factor, that of f64 times it, rounded twice in double and
   once to the dtype. */
static posenc_bound promise_of(const posenc_kernel *kernel, const posenc_problem *problem) {
  posenc_bound bound = kernel->bound;
  const double factor = attention_of(problem);
  bound.growth *= problem->scale;
  if (factor == 1.0) return bound;
  bound.abs = factor * (bound.ulp * 0x1p-53 + bound.abs + 0x1p-51);
  bound.growth *= factor;
  bound.ulp = 0.5;
  return bound;
}

typedef struct count {
  int64_t kernels, refused, elements, beyond, misrounded;
} count;

/* All that do the table, every element of it. */
static count hold(const posenc_problem *problem) {
  size_t kernel_count;
  const posenc_kernel *const *kernels = posenc_kernels(&kernel_count);
  fast_oracle *truth = fast_create(problem, 0);
  void *rows = malloc((size_t)(problem->rows * problem->dim) * posenc_dtype_bytes(problem->dtype));
  count c = {0};
  if (!truth || !rows) abort();
  for (size_t k = 0; k < kernel_count; k++) {
    posenc_options options = posenc_default_options();
    options.kernel = kernels[k];
    posenc_plan *plan;
    if (posenc_kernel_refusal(kernels[k], problem, &options)) {
      c.refused++;
      continue;
    }
    accuracy found = {0};
    const posenc_bound bound = promise_of(kernels[k], problem);
    if (posenc_plan_create(&plan, problem, &options) != POSENC_OK ||
        posenc_execute(plan, 0, problem->rows, rows) != POSENC_OK)
      abort();
    fast_check(truth, 0, problem->rows, rows, &bound, &found);
    posenc_plan_destroy(plan);
    if (found.beyond) {
      const witness *w = &found.worst;
      printf("# %s: %ld beyond, the worst %g of the bound at p = %ld, i = %ld, %s: exact %a, got %a\n",
             kernels[k]->name, (long)found.beyond, found.worst_share, (long)w->position, (long)w->index,
             w->cosine ? "cos" : "sin", w->exact_high, w->got);
    }
    c.kernels++;
    c.elements += found.held;
    c.beyond += found.beyond;
    c.misrounded += bound.ulp == 0.5 && bound.abs == 0.0 ? found.misrounded : 0;
  }
  fast_destroy(truth);
  free(rows);
  return c;
}

static void test_kernels(const posenc_problem *problem, const char *what) {
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F64, POSENC_F16, POSENC_BF16};
  static const char *const names[] = {"f32", "f64", "f16", "bf16"};
  static const int64_t firsts[] = {0, (INT64_C(1) << 40) - 17, -(INT64_C(1) << 33)};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    count all = {0};
    for (size_t n = 0; n < sizeof firsts / sizeof *firsts; n++) {
      posenc_problem one = *problem;
      one.first = firsts[n];
      one.dtype = dtypes[d];
      const count c = hold(&one);
      all.kernels += c.kernels;
      all.elements += c.elements;
      all.beyond += c.beyond;
      all.misrounded += c.misrounded;
    }
    ok(all.kernels > 0 && all.elements > 0 && all.beyond == 0 && all.misrounded == 0,
       "%s, %s: %ld tables of kernels, %ld elements, %ld beyond the bound, %ld misrounded", what, names[d],
       (long)all.kernels, (long)all.elements, (long)all.beyond, (long)all.misrounded);
  }
}

static void test_all_kernels(void) {
  enum { ROWS = 70, LAST = 48 };
  const posenc_problem plain = table(ROWS, 2 * LAST, 1e4), meta = table(ROWS, 128, 5e5), small = table(ROWS, 10, 100.0);
  double factors[LAST];
  for (int i = 0; i < LAST; i++) factors[i] = 1.0 + i * i / 40.0;
  posenc_problem problem = plain;
  problem.scale = 0.3;
  test_kernels(&problem, "scale 0.3");
  problem.scale = 0x1.3p-55;
  test_kernels(&problem, "scale 2^-55");
  problem.scale = 1e6;
  test_kernels(&problem, "scale 1e6");
  problem = linear(plain, 3.7);
  test_kernels(&problem, "linear by 3.7");
  problem = dynamic(plain, 2.5, 2048, 5000);
  test_kernels(&problem, "dynamic by 2.5");
  problem = dynamic(small, 1.1, 3, INT64_C(1) << 40);
  test_kernels(&problem, "dynamic of 2^40, dim 10");
  problem = ramp(meta, POSENC_SCALING_LLAMA3, 8.0, 8192, 1.0, 4.0);
  test_kernels(&problem, "llama3");
  problem.scale = 0.7;
  test_kernels(&problem, "llama3 at scale 0.7");
  problem = ramp(small, POSENC_SCALING_LLAMA3, 1e6, 50, 0.3, 0.31);
  test_kernels(&problem, "llama3 by 1e6, dim 10");
  for (int truncate = 0; truncate < 2; truncate++) {
    problem = yarn(plain, 40.0, 4096, truncate);
    problem.scaling.attention = 1.0;
    test_kernels(&problem, truncate ? "yarn by 40, given 1" : "yarn without truncate, given 1");
  }
  problem = yarn(plain, 8.0, 6, true);
  problem.scaling.attention = 1.0;
  test_kernels(&problem, "yarn whose ramp ends between -1 and 0, which is rounded up to 0");
  problem = yarn(plain, 40.0, 4096, true);
  test_kernels(&problem, "yarn by 40 with its factor");
  problem = longrope(plain, 1.0, 4096, factors);
  test_kernels(&problem, "longrope");
  problem.scaling.factor = 32.0;
  test_kernels(&problem, "longrope with its factor");
  problem = plain;
  problem.scaling.attention = 1.25;
  test_kernels(&problem, "plain, given 1.25");
  problem.scaling.attention = 0x1.111p-10;
  test_kernels(&problem, "plain, given a thousandth");
  problem.scaling.attention = 1024.0;
  test_kernels(&problem, "plain, given 1024");
}

/* Parameters from all over what is allowed. */
static void test_drawn_kernels(void) {
  enum { DRAWS = 30 };
  double factors[MOST_DIM / 2];
  for (int kind = 0; kind < KINDS; kind++) {
    count all = {0};
    for (int n = 0; n < DRAWS; n++) {
      posenc_problem problem = draw((posenc_scaling_kind)kind, factors);
      problem.rows = 5;
      problem.first = (int64_t)(random_bits() >> (random_bits() % 40 + 24));
      problem.scaling.attention = random_bits() % 2 ? 1.0 : 0.0;
      if (posenc_problem_refusal(&problem)) continue;
      const count c = hold(&problem);
      all.kernels += c.kernels;
      all.elements += c.elements;
      all.beyond += c.beyond;
      all.misrounded += c.misrounded;
    }
    ok(all.kernels > 0 && all.beyond == 0 && all.misrounded == 0,
       "kind %d, drawn: %ld tables of kernels, %ld elements, %ld beyond the bound, %ld misrounded", kind,
       (long)all.kernels, (long)all.elements, (long)all.beyond, (long)all.misrounded);
  }
}

/* The least angle that scaling leaves: what is below 2^-40 the correctly rounded kernels do not do. */
static void test_least_angle(void) {
  double factors[8];
  for (int i = 0; i < 8; i++) factors[i] = i == 3 ? 16.0 : 1.0 + i / 8.0;
  const struct {
    const char *what;
    posenc_scaling scaling;
    double part; /* what is left of the least frequency, at least */
  } cases[] = {
      {"linear", {POSENC_SCALING_LINEAR, .factor = 8.0}, 8.0},
      {"dynamic", {POSENC_SCALING_DYNAMIC, .factor = 8.0, .original = 1000, .length = 2000}, 9.0},
      {"longrope", {POSENC_SCALING_LONGROPE, .factor = 1.0, .original = 1000, .factors = factors}, 16.0},
  };
  const posenc_kernel *kernel = posenc_kernel_find("cr-portable");
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    posenc_problem problem = posenc_table(4, 16);
    problem.scaling = cases[n].scaling;
    problem.base = 0x1p40 / cases[n].part * (1.0 - 0x1p-40);
    const char *allowed = posenc_kernel_refusal(kernel, &problem, NULL);
    problem.base *= 1.0 + 0x1p-30;
    const char *refused = posenc_kernel_refusal(kernel, &problem, NULL);
    ok(!allowed && refused && strcmp(refused, "it needs angles of 2^-40 and more") == 0, "%s: %s, %s", cases[n].what,
       allowed ? allowed : "allowed", refused ? refused : "allowed beyond");
  }
}

int main(void) {
  test_least_angle();
  test_identities();
  test_known_values();
  test_formulas();
  test_precision();
  test_cancellation();
  test_attention_values();
  test_attention();
  test_returns(1.0);
  test_returns(0.5);
  test_returns(4.0);
  test_returns(12345.678);
  test_all_kernels();
  test_drawn_kernels();
  return tap_done();
}
