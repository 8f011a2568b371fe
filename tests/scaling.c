/* SPDX-License-Identifier: MIT */
/* Tests scales, scalings and attention factors: the reference against their formulas and values of other sources. */
#include "reference/scaling.h"
#include "common/shapes.h"
#include "reference/oracle.h"
#include "tests/scalings.h"
#include "tests/tap.h"

#include <float.h>
#include <stdlib.h>

/* Frequencies of 300 bits that are computed in two ways may differ in the last few bits. */
enum { BITS = 300, LAST_BITS = 6 };

static bool are_near(const mpfr_t a, const mpfr_t b, mpfr_prec_t bits) {
  mpfr_t off;
  mpfr_init2(off, bits);
  mpfr_sub(off, a, b, MPFR_RNDN);
  const bool near = mpfr_zero_p(off) || mpfr_get_exp(off) <= mpfr_get_exp(a) - bits + LAST_BITS;
  mpfr_clear(off);
  return near;
}

/* Counts the frequencies [from, to) of one problem that are not `times` those of another. */
static int64_t count_other(posenc_problem one, posenc_problem other, double times, int64_t from, int64_t to) {
  oracle *a = oracle_create(&one), *b = oracle_create(&other);
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

static void same(posenc_problem one, posenc_problem other, double times, int64_t from, int64_t to, const char *what) {
  const int64_t wrong = count_other(one, other, times, from, to);
  ok(from < to && wrong == 0, "%s: %ld of %ld frequencies differ", what, (long)wrong, (long)(to - from));
}

/* ---- identities --------------------------------------------------------------------------------- */

enum { DIM = 128, HALF = DIM / 2 };

static void test_simple_identities(void) {
  const posenc_problem plain = with_base(16, DIM, 1e4), halved = with_scale(plain, 0.5), four = with_base(16, 4, 1e4);
  same(halved, plain, 0.5, 0, HALF, "scale 1/2 halves frequencies");
  same(linear(plain, 2.0), halved, 1.0, 0, HALF, "linear by 2 is scale 1/2");
  same(with_scale(linear(plain, 2.0), 0x1.fp-70), with_scale(plain, 0x1.fp-70), 0.5, 0, HALF,
       "linear by 2 at another scale");

  same(dynamic(plain, 2.0, 2048, 2048), plain, 1.0, 0, HALF, "dynamic, at the trained length, is plain");
  same(dynamic(plain, 2.0, 2048, 7), plain, 1.0, 0, HALF, "dynamic, below the trained length, is plain");
  same(dynamic(four, 1.0, 100, 200), with_base(16, 4, 4e4), 1.0, 0, 2,
       "dynamic, dim 4: twice the length is 2² times the base");
  same(dynamic(four, 2.5, 100, 400), with_base(16, 4, 72.25e4), 1.0, 0, 2, "2.5 × 4 - 1.5, squared");

  double factors[HALF];
  for (int i = 0; i < HALF; i++) factors[i] = 1.0;
  same(longrope(plain, 32.0, 4096, factors), plain, 1.0, 0, HALF, "longrope by ones is plain");
  for (int i = 0; i < HALF; i++) factors[i] = i % 2 ? 64.0 : 0.25;
  same(longrope(plain, 32.0, 4096, factors), plain, 4.0, 0, 1, "longrope by a quarter");
  same(longrope(plain, 32.0, 4096, factors), plain, 0x1p-6, 1, 2, "longrope by 64");
  for (int i = 0; i < HALF; i++) factors[i] = i < HALF / 4 ? 2.0 : INFINITY;
  same(longrope(plain, 1.0, 4096, factors), plain, 0.5, 0, HALF / 4, "longrope, of pairs that turn");
  same(longrope(plain, 1.0, 4096, factors), plain, 0.0, HALF / 4, HALF, "longrope by infinity: they do not turn");
}

/* Tests ramps: frequencies before a ramp are unchanged, those after it are divided. */
static void test_ramps(void) {
  const posenc_problem plain = with_base(16, DIM, 1e4), meta = with_base(16, DIM, 5e5);
  posenc_problem one = llama3(meta, 8.0, 8192, 1.0, 4.0);
  same(one, meta, 1.0, 0, 29, "llama3: waves that turn 4 times are plain");
  same(one, meta, 0.125, 35, HALF, "llama3: those that turn less than once are divided");
  ok(count_other(one, meta, 1.0, 29, 35) == 6 && count_other(one, meta, 0.125, 29, 35) == 6,
     "llama3: six between them are neither");
  same(llama3(meta, 1.0, 8192, 1.0, 4.0), meta, 1.0, 0, HALF, "llama3 by 1 is plain");

  one = yarn(plain, 16.0, 4096, true);
  same(one, plain, 1.0, 0, 21, "yarn: before the ramp, which begins at 20, frequencies are plain");
  same(one, plain, 0x1p-4, 46, HALF, "yarn: from the ramp's end, 46, on they are divided");
  /* half of the ramp's 26 columns: w (1 - g + g/16) at i = 33, g = 1/2 */
  same(one, plain, 0x1.1p-1, 33, 34, "yarn: in the middle of the ramp multiplied by (1 + 1/16) / 2");
  one = yarn(plain, 16.0, 4096, false);
  same(one, plain, 1.0, 0, 21, "yarn without truncate: the ramp begins after 20");
  same(one, plain, 0x1p-4, 46, HALF, "yarn without truncate: the ramp ends before 46");
  ok(count_other(one, plain, 0x1.1p-1, 33, 34) == 1, "yarn without truncate: its middle is elsewhere");
  same(yarn(plain, 16.0, 2, true), plain, 1.0, 0, HALF, "yarn, trained on so little that nothing turned: all plain");
  same(yarn(plain, 16.0, INT64_C(1) << 30, true), plain, 1.0, 0, HALF,
       "yarn, trained on so much that everything turned: the ramp begins after all columns");
  same(yarn(plain, 16.0, INT64_C(1) << 40, true), plain, 0x1p-4, 0, HALF,
       "yarn, trained on more: the ramp's ends have changed places, and all columns are after both");
}

/* Tests ramps without a width, as in Kimi K2 and Llama 4 Scout. With cut(1) = 38.3 columns, no column is within yarn's,
   truncated or not. */
static void test_steps(void) {
  const posenc_problem plain = with_base(16, DIM, 5e4), meta = with_base(16, DIM, 5e5);
  posenc_problem one = llama3(meta, 16.0, 8192, 1.0, 1.0);
  same(one, meta, 1.0, 0, 35, "llama3, a step: waves that turn more than once are plain");
  same(one, meta, 0x1p-4, 35, HALF, "llama3, a step: others are divided");
  for (int truncate = 0; truncate < 2; truncate++) {
    one = yarn(plain, 32.0, 4096, truncate);
    one.scaling.high = 1.0;
    same(one, plain, 1.0, 0, 39, "yarn, a step: before cut(1) frequencies are plain");
    same(one, plain, 0x1p-5, 39, HALF, "yarn, a step: after it they are divided");
  }
  one.scaling.high = 1.0 + 0x1p-11;
  ok(posenc_problem_refusal(&one), "a ramp that is nearly a step is refused");
  one.scaling.truncate = false;
  one.scaling.high = 1.0;
  one.dim = 2 << 19;
  ok(posenc_problem_refusal(&one), "a step of yarn, not truncated, in too many columns is refused");
}

/* ---- known values ------------------------------------------------------------------------------- */

/* Expects 45 digits of mpmath, from the formulas in posenc.h. */
static void expect(posenc_problem problem, int64_t index, const char *digits, const char *what) {
  enum { DIGITS_BITS = 146 };
  oracle *o = oracle_create(&problem);
  mpfr_t got, want;
  mpfr_inits2(DIGITS_BITS, got, want, (mpfr_ptr)0);
  mpfr_set_str(want, digits, 10, MPFR_RNDN);
  oracle_frequency(o, index, got);
  ok(are_near(got, want, DIGITS_BITS), "%s: frequency %ld is %s", what, (long)index, digits);
  mpfr_clears(got, want, (mpfr_ptr)0);
  oracle_destroy(o);
}

static void test_known_values(void) {
  const posenc_problem plain = with_base(16, DIM, 1e4), meta = llama3(with_base(16, DIM, 5e5), 8.0, 8192, 1.0, 4.0);
  double factors[48];
  for (int i = 0; i < 48; i++) factors[i] = i == 20 ? 3.66 : 1.0;
  expect(linear(plain, 1.3), 5, "0.374590403973740844846262948633049107662492187", "linear by 1.3");
  expect(dynamic(plain, 2.0, 2048, 4096), 40, "0.00157422161063691599185862434625322707360267029", "dynamic by 2");
  expect(dynamic(with_base(16, 64, 5e5), 2.5, 2048, 3000), 17, "0.000614864752426098863625548541267341266226895571",
         "dynamic by 2.5, 3000 of 2048");
  expect(yarn(plain, 16.0, 4096, true), 30, "0.00852684377296740843340860183337879977361941535", "yarn");
  expect(yarn(plain, 16.0, 4096, false), 30, "0.00863427296553573550469595986779132341289665535",
         "yarn without truncate");
  expect(meta, 28, "0.00321144599475259101854348885419029762004283807", "llama3, 4.19 turns");
  expect(meta, 29, "0.00216657076350335860934157994792601152471046758", "llama3, 3.41 turns");
  expect(meta, 31, "0.000856751412919632081074335847177622541888732316", "llama3, 2.26 turns");
  expect(meta, 34, "0.000178507812767996418523674725679713562464779411", "llama3, 1.22 turns");
  expect(meta, 35, "0.000095562123539646830198683967182702966325787058", "llama3, 0.997 turns");
  expect(longrope(with_base(16, 96, 1e4), 32.0, 4096, factors), 20, "0.00588643357932208644291814530078325245599681332",
         "longrope by 3.66");
}

/* ---- any parameters ----------------------------------------------------------------------------- */

/* Returns the value of the header's formula, in the compiler's longest arithmetic. */
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
    if (a == b) b = a + 1 / 1000.0L;
    const long double g = fminl(1, fmaxl(0, (i - a) / (b - a)));
    w = w * (1 - g) + w / s * g;
  }
  if (how->kind == POSENC_SCALING_LLAMA3) {
    const long double low = (long double)how->low, high = (long double)how->high, t = n * w / (2 * pi),
                      g = (t - low) / (high - low);
    const long double on_ramp = t < low ? w / s : w * ((1 - g) / s + g);
    w = t > high ? w : on_ramp;
  }
  if (how->kind == POSENC_SCALING_LONGROPE) w /= (long double)how->factors[index];
  return w * (long double)problem->scale;
}

/* Whether the reference's frequencies of 64 bits are those of the formula, and those of 300 bits the same as those of
   2000. */
typedef struct tally {
  int64_t compared, off_formula, refined, off_precision;
  double worst;
} tally;

/* Formulas cancel: at the beginning of a ramp, the rest is known to an epsilon of w, of which w / s may be a small
   part; s n/N - (s - 1) is known to an epsilon of s; and t - low to four of high, of which high - low may be a small
   part. */
static void compare_formula(const oracle *o, const posenc_problem *problem, tally *t) {
  const posenc_scaling *how = &problem->scaling;
  const bool is_ramp = how->kind == POSENC_SCALING_LLAMA3 && how->high > how->low;
  const double allowed = (double)LDBL_EPSILON * (32.0 * (how->kind == POSENC_SCALING_DYNAMIC ? how->factor : 1.0) +
                                                 (is_ramp ? 4.0 * how->high / (how->high - how->low) : 0.0));
  mpfr_t w;
  mpfr_init2(w, LDBL_MANT_DIG);
  for (int64_t i = 0; i < problem->dim / 2; i++, t->compared++) {
    oracle_frequency(o, i, w);
    const long double got = mpfr_get_ld(w, MPFR_RNDN), want = formula(problem, i);
    const long double plain =
        powl((long double)problem->base, -2 * (long double)i / (long double)problem->dim) * (long double)problem->scale;
    const double off = (double)fabsl((got - want) / (how->kind == POSENC_SCALING_LONGROPE && want > 0 ? want : plain));
    t->worst = fmax(t->worst, off);
    t->off_formula += !(off <= allowed);
  }
  mpfr_clear(w);
}

enum { MANY_BITS = 2000 };

static void compare_precision(const oracle *o, const posenc_problem *problem, tally *t) {
  mpfr_t few, many;
  mpfr_init2(few, BITS);
  mpfr_init2(many, MANY_BITS);
  for (int64_t i = 0; i < problem->dim / 2; i++, t->refined++) {
    oracle_frequency(o, i, few);
    oracle_frequency(o, i, many);
    t->off_precision += !are_near(few, many, BITS);
  }
  mpfr_clears(few, many, (mpfr_ptr)0);
}

static void test_drawn(posenc_scaling_kind kind) {
  enum { DRAWS = 300, REFINED = 12 };
  double factors[MOST_DIM / 2];
  tally t = {0};
  int refused = 0;
  for (int n = 0; n < DRAWS; n++) {
    const posenc_problem problem = draw_scaled(kind, factors);
    if (posenc_problem_refusal(&problem)) {
      refused++;
      continue;
    }
    oracle *o = oracle_create(&problem);
    compare_formula(o, &problem, &t);
    if (n < REFINED) compare_precision(o, &problem, &t);
    oracle_destroy(o);
  }
  ok(t.off_formula == 0 && refused < DRAWS / 2,
     "kind %d, %d draws: %ld of %ld frequencies off their formula, the worst by %.2g", (int)kind, DRAWS - refused,
     (long)t.off_formula, (long)t.compared, t.worst);
  ok(t.refined > 0 && t.off_precision == 0, "kind %d: %ld of %ld frequencies differ with %d bits", (int)kind,
     (long)t.off_precision, (long)t.refined, MANY_BITS);
}

/* Tests a ramp that begins next to a frequency, so that all but 2^-53 of it cancels, divided by so much that the rest
   is that size. */
static void test_cancellation(void) {
  enum { NARROW = 64, INDEX = 20, TIGHT = 60 };
  const posenc_problem plain = with_base(16, NARROW, 1e4);
  const long double pi = 3.14159265358979323846264338327950288L;
  const double turns = (double)(4096 * powl(1e4L, -2.0L * INDEX / NARROW) / (2 * pi));
  posenc_problem problem = llama3(plain, 0x1p20, 4096, nextafter(turns, 0.0), 2 * turns);
  mpfr_t w, precise;
  mpfr_init2(w, TIGHT);
  mpfr_init2(precise, MANY_BITS);
  for (int n = 0; n < 3; n++) {
    oracle *o = oracle_create(&problem);
    oracle_frequency(o, INDEX, w);
    oracle_frequency(o, INDEX, precise);
    ok(are_near(w, precise, TIGHT) && (mpfr_get_d(precise, MPFR_RNDN) < 1e-8),
       "a ramp that begins at %a turns: frequency %.12g", problem.scaling.low, mpfr_get_d(precise, MPFR_RNDN));
    oracle_destroy(o);
    problem.scaling.low = nextafter(problem.scaling.low, INFINITY);
  }
  /* A frequency of 100 bits that is at the ramp's end within that precision. */
  mpfr_set_prec(w, 100);
  problem = llama3(plain, 8.0, 628318, 1000.0, 2000.0);
  mpfr_const_pi(w, MPFR_RNDN);
  mpfr_mul_ui(w, w, 2000, MPFR_RNDN); /* 1000 turns */
  mpfr_div_ui(w, w, 628318, MPFR_RNDN);
  ok(!scaling_frequency(w, 60, &problem, 3, NULL), "a frequency of too few bits for the ramp's end is refused");
  mpfr_clears(w, precise, (mpfr_ptr)0);
}

/* ---- attention ---------------------------------------------------------------------------------- */

static void expect_factor(posenc_problem problem, const char *digits, bool is_double, const char *what) {
  mpfr_t got, want;
  mpfr_inits2(146, got, want, (mpfr_ptr)0);
  mpfr_set_str(want, digits, 10, MPFR_RNDN);
  const bool exactly = scaling_attention(got, &problem);
  ok(exactly == is_double && are_near(got, want, 146) && attention_of(&problem) == mpfr_get_d(want, MPFR_RNDN),
     "attention of %s is %s%s", what, digits, is_double ? ", exactly" : "");
  mpfr_clears(got, want, (mpfr_ptr)0);
}

static const double ones[8] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

static void test_attention_values(void) {
  const posenc_problem plain = with_base(16, 8, 1e4);
  expect_factor(plain, "1", true, "plain");
  expect_factor(with_attention(plain, 1.25), "1.25", true, "plain, given one");
  expect_factor(yarn(plain, 40.0, 4096, true), "1.36888794541139363028524556976007173437521018", false, "yarn by 40");
  expect_factor(with_attention(yarn(plain, 40.0, 4096, true), 1.0), "1", true, "yarn, given 1");
  expect_factor(yarn(plain, 1.0, 4096, true), "1", true, "yarn by 1");
  expect_factor(longrope(plain, 32.0, 4096, ones), "1.19023807142380833299989996856121087979436186", false,
                "longrope by 32 of 4096");
  expect_factor(longrope(plain, 7.0, 100, ones), "1.19270659426664042208062572957024494140675041", false,
                "longrope by 7 of 100");
  expect_factor(longrope(plain, 1.0, 4096, ones), "1", true, "longrope by 1");
  /* sqrt(1 + 3), sqrt(1 + 5/4), sqrt(1 + 21/4), and a neighbour of the first */
  expect_factor(longrope(plain, 8.0, 2, ones), "2", true, "longrope by 2³ of 2");
  expect_factor(longrope(plain, 32.0, 16, ones), "1.5", true, "longrope by 16^(5/4) of 16");
  expect_factor(longrope(plain, 3486784401.0 * 3.0, 81, ones), "2.5", true, "longrope by 81^(21/4) of 81");
  const posenc_problem more = longrope(plain, nextafter(8.0, 9.0), 2, ones);
  mpfr_t factor;
  mpfr_init2(factor, 200);
  ok(!scaling_attention(factor, &more) && mpfr_cmp_d(factor, 2.0) > 0, "longrope by more than 2³: a little above 2");
  mpfr_clear(factor);
  expect_factor(longrope(plain, 4096.0, 4096, ones), "1.41421356237309504880168872420969807856967187", false,
                "longrope by N of N");
  expect_factor(linear(plain, 4.0), "1", true, "linear");
}

/* Tests A sin p w and A cos p w with 500 bits, rounded once. */
static void test_attention_pairs(posenc_problem problem, const char *what) {
  static const int64_t positions[] = {
      0, 1, -1, 2, 100, 355, 4095, -8191, 131071, (INT64_C(1) << 40) + 5, -(INT64_C(1) << 40)};
  mpfr_t w, factor, sine, cosine;
  mpfr_inits2(500, w, factor, sine, cosine, (mpfr_ptr)0);
  scaling_attention(factor, &problem);
  int64_t wrong = 0, compared = 0, beyond_one = 0;
  for (int dtype = POSENC_F32; dtype <= POSENC_BF16; dtype++) {
    problem.dtype = (posenc_dtype)dtype;
    oracle *o = oracle_create(&problem);
    for (int64_t i = 0; i < problem.dim / 2; i++)
      for (size_t n = 0; n < sizeof positions / sizeof *positions; n++) {
        oracle_frequency(o, i, w);
        integer_times(w, w, positions[n]);
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
  ok(wrong == 0 && (attention_of(&problem) <= 1.0 || beyond_one > 0),
     "%s: %ld of %ld pairs differ, %ld cosines are beyond 1", what, (long)wrong, (long)compared, (long)beyond_one);
}

/* Tests the doublings against a separate turn for each. */
static void test_turns(const char *what, posenc_problem problem) {
  enum { COUNT = 12 };
  const int64_t frequencies = problem.dim / 2;
  oracle *o = oracle_create(&problem);
  exact_pair *turns = calloc((size_t)frequencies * COUNT, sizeof *turns);
  double most = 0.0;
  oracle_rotations(o, COUNT, turns);
  for (int64_t n = 0; n < frequencies * COUNT; n++) {
    const exact_pair one = oracle_rotation(o, INT64_C(1) << n % COUNT, n / COUNT);
    const double sine = fabs((turns[n].sine.high - one.sine.high) + (turns[n].sine.low - one.sine.low)),
                 cosine = fabs((turns[n].cosine.high - one.cosine.high) + (turns[n].cosine.low - one.cosine.low));
    if (!(sine <= most)) most = sine;
    if (!(cosine <= most)) most = cosine;
  }
  ok(most <= 0x1p-106, "%s: turns by powers of two are off by at most %a", what, most);
  free(turns);
  oracle_destroy(o);
}

static void test_attention(void) {
  const posenc_problem plain = with_base(16, 16, 1e4);
  test_attention_pairs(yarn(plain, 40.0, 64, true), "yarn by 40");
  test_attention_pairs(longrope(plain, 8.0, 2, ones), "longrope's 2");
  test_attention_pairs(longrope(plain, 32.0, 4096, ones), "longrope by 32");
  test_attention_pairs(with_attention(llama3(plain, 8.0, 8192, 1.0, 4.0), 0x1.8p-9), "llama3, given 3/1024");
  test_attention_pairs(with_attention(plain, 1000.1), "plain, given 1000.1");

  const posenc_problem problem = yarn(plain, 40.0, 64, true), given = with_attention(problem, 1.0);
  oracle *o = oracle_create(&problem), *without = oracle_create(&given);
  bool same = true;
  for (int64_t p = -3; p < 30; p++)
    for (int64_t i = 0; i < 8; i++) {
      const exact_pair turn = oracle_rotation(o, p, i);
      const exact_pair pair = oracle_pair(without, p, i);
      same = same && memcmp(&turn, &pair, sizeof turn) == 0;
    }
  ok(same, "turns are the pairs of the same problem without a factor");
  test_turns("yarn", problem);
  for (int n = 0; n < 3; n++) {
    static const double scales[] = {1e-300, 1e300, 1.0}, bases[] = {1e4, 1e4, 0.01};
    static const char *const what[] = {"tiny frequencies", "huge frequencies", "rising frequencies"};
    posenc_problem other = posenc_table(8, 64);
    other.scale = scales[n];
    other.base = bases[n];
    test_turns(what[n], other);
  }
  const exact_pair origin = oracle_pair(o, 0, 3);
  ok(origin.sine.high == 0.0 && !signbit(origin.sine.high) && origin.cosine.low != 0.0 &&
         format_ulp(oracle_format(o), &origin.cosine) == 0x1p-23,
     "the cosine of position 0 is the factor: %a, with f32's ulp of numbers from 1 to 2", origin.cosine.rounded);
  oracle_destroy(o);
  oracle_destroy(without);
}

static bool are_same(const posenc_scaling *a, const posenc_scaling *b) {
  return a->kind == b->kind && a->factor == b->factor && a->original == b->original && a->length == b->length &&
         a->low == b->low && a->high == b->high && a->truncate == b->truncate && a->attention == b->attention &&
         a->factors == b->factors;
}

/* Tests that the constructors of posenc.h and the command have the same defaults, and that they are those that posenc.h
   tells. What the command has no default for is 0: not set. */
static void test_defaults(void) {
  const posenc_scaling made[SCALINGS] = {
      [POSENC_SCALING_NONE] = posenc_scaling_none(),
      [POSENC_SCALING_LINEAR] = posenc_scaling_linear(0.0),
      [POSENC_SCALING_DYNAMIC] = posenc_scaling_dynamic(0.0, 0, 0),
      [POSENC_SCALING_YARN] = posenc_scaling_yarn(0.0, 0),
      [POSENC_SCALING_LLAMA3] = posenc_scaling_llama3(8.0, 8192), /* Llama 3.1's, in the command */
      [POSENC_SCALING_LONGROPE] = posenc_scaling_longrope(1.0, 2, NULL),
  };
  for (int kind = 0; kind < SCALINGS; kind++)
    ok(are_same(&made[kind], &scaling_forms[kind].defaults), "%s: library and command have the same defaults",
       scaling_forms[kind].name);
  const posenc_scaling of_table = posenc_table(1, 2).scaling;
  ok(are_same(&made[POSENC_SCALING_NONE], &of_table), "a table has no scaling, with all parameters unset");
  ok(made[POSENC_SCALING_YARN].low == 1.0 && made[POSENC_SCALING_YARN].high == 32.0 &&
         made[POSENC_SCALING_YARN].truncate,
     "yarn: 1 and 32, truncated");
  ok(made[POSENC_SCALING_LLAMA3].low == 1.0 && made[POSENC_SCALING_LLAMA3].high == 4.0, "llama3: 1 and 4");
}

int main(void) {
  test_defaults();
  test_simple_identities();
  test_ramps();
  test_steps();
  test_known_values();
  for (int kind = 0; kind < SCALING_KINDS; kind++) test_drawn((posenc_scaling_kind)kind);
  test_cancellation();
  test_attention_values();
  test_attention();
  return tap_done();
}
