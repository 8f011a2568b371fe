/* SPDX-License-Identifier: MIT */
/* Tests identify on tables that are no encoding. It takes more than a minute: data that is no table is searched to
   the end. */
#include "tests/identify.h"

static const double turn = 6.283185307179586;

typedef struct blank {
  double *values;
  int64_t rows, dim;
  uint64_t *state;
  double unit; /* of the dtype; smaller noise is partly rounding */
} blank;

/* Returns the value of a table at base 10000, interleaved. */
static double table_value(double position, int64_t column, int64_t dim) {
  const double angle = position * pow(1e4, -(double)(column / 2) / ((double)dim / 2.0));
  return column % 2 ? cos(angle) : sin(angle);
}

/* Fills pairs that rotate with the frequencies, from the phases on. */
static void fill_waves(const blank *b, const double *frequencies, const double *phases) {
  for (int64_t r = 0; r < b->rows; r++)
    for (int64_t c = 0; c < b->dim; c++) {
      const double angle = (double)r * frequencies[c / 2] + (phases ? phases[c / 2] : 0.0);
      b->values[r * b->dim + c] = c % 2 ? cos(angle) : sin(angle);
    }
}

static void fill_table(const blank *b) {
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] = table_value((double)(n / b->dim), n % b->dim, b->dim);
}

enum { PAIRS_MOST = 64 };

/* Defines a table whose element number n, in row p and column c, is VALUE. x is the value of a table of sines and
   cosines, and `drawn` is a number of the table, from DRAWN. */
#define DRAWN_TABLE(name, DRAWN, VALUE)                                                                                \
  static void name(const blank *b) {                                                                                   \
    const double drawn = DRAWN;                                                                                        \
    (void)drawn;                                                                                                       \
    for (int64_t n = 0; n < b->rows * b->dim; n++) {                                                                   \
      const int64_t c = n % b->dim;                                                                                    \
      const double p = (double)(n / b->dim), x = table_value(p, c, b->dim);                                            \
      (void)x;                                                                                                         \
      b->values[n] = VALUE;                                                                                            \
    }                                                                                                                  \
  }
#define TABLE(name, VALUE) DRAWN_TABLE(name, 0.0, VALUE)

/* Defines a table of waves, with w and phase of pair i. */
#define WAVES(name, DRAWN, FREQUENCY, PHASE)                                                                           \
  static void name(const blank *b) {                                                                                   \
    const double drawn = DRAWN, pairs = (double)b->dim / 2.0;                                                          \
    double w[PAIRS_MOST], phase[PAIRS_MOST];                                                                           \
    (void)drawn, (void)pairs;                                                                                          \
    for (int64_t i = 0; i < b->dim / 2; i++) w[i] = FREQUENCY, phase[i] = PHASE;                                       \
    fill_waves(b, w, phase);                                                                                           \
  }

TABLE(noise, normal(b->state))
TABLE(uniform_noise, 2.0 * uniform(b->state) - 1.0)

static void random_angles(const blank *b) {
  for (int64_t n = 0; n < b->rows * b->dim; n += 2) {
    const double angle = turn * uniform(b->state);
    b->values[n] = sin(angle);
    b->values[n + 1] = cos(angle);
  }
}

TABLE(random_walks, normal(b->state) + (n < b->dim ? 0.0 : b->values[n - b->dim]))

/* Fills the table as learned embeddings are: smoothed random walks. */
static void smooth_walks(const blank *b) {
  random_walks(b);
  for (int turns = 0; turns < 8; turns++)
    for (int64_t n = b->dim; n < (b->rows - 1) * b->dim; n++)
      b->values[n] = (b->values[n - b->dim] + 2.0 * b->values[n] + b->values[n + b->dim]) / 4.0;
}

WAVES(random_features, 0.05 + uniform(b->state), drawn *normal(b->state), 0.0)

static int descending(const void *one, const void *other) {
  const double a = *(const double *)one, b = *(const double *)other;
  return (a < b) - (a > b);
}

static void sorted_features(const blank *b) {
  double w[PAIRS_MOST];
  for (int64_t i = 0; i < b->dim / 2; i++) w[i] = fabs(normal(b->state));
  qsort(w, (size_t)b->dim / 2, sizeof *w, descending);
  fill_waves(b, w, NULL);
}

/* Fills single columns, each with a phase of its own. */
static void random_cosines(const blank *b) {
  double w[2 * PAIRS_MOST], phase[2 * PAIRS_MOST];
  for (int64_t c = 0; c < b->dim; c++) w[c] = normal(b->state), phase[c] = turn * uniform(b->state);
  for (int64_t n = 0; n < b->rows * b->dim; n++)
    b->values[n] = cos((double)(n / b->dim) * w[n % b->dim] + phase[n % b->dim]);
}

static void fourier(const blank *b) {
  double w[PAIRS_MOST];
  const double first = floor(3.0 * uniform(b->state)), whole = floor(100.0 + 400.0 * uniform(b->state));
  for (int64_t i = 0; i < b->dim / 2; i++) w[i] = turn * (first + (double)i) / whole;
  fill_waves(b, w, NULL);
}

/* Fills columns of frequencies that are powers of two, of positions from -1 to 1, or from 0 to 1. */
static void nerf(const blank *b) {
  double w[PAIRS_MOST], phase[PAIRS_MOST];
  const bool middle = uniform(b->state) < 0.5;
  const double most = 0.3 + uniform(b->state);
  for (int64_t i = 0; i < b->dim / 2; i++) {
    w[i] = most * ldexp(1.0, (int)(i % 8 - 7));
    phase[i] = middle ? -w[i] * (double)b->rows / 2.0 : 0.0;
  }
  fill_waves(b, w, phase);
}

WAVES(harmonic, 1.0 + uniform(b->state), pow(1.0 + (double)i, -drawn), 0.0)
WAVES(linear_frequencies, 0.2 + 2.0 * uniform(b->state), drawn *(1.0 - (double)i / (pairs + 0.5)), 0.0)
WAVES(one_frequency, 0.05 + 0.9 * uniform(b->state), drawn, 0.0)
WAVES(random_phases, 0.0, pow(1e4, -(double)i / pairs), turn *uniform(b->state))
DRAWN_TABLE(noisy, pow(10.0, -3.5 + 2.5 * uniform(b->state)) + 8.0 * b->unit, x + drawn * normal(b->state))

static void noisy_cosines(const blank *b) {
  noisy(b);
  const double size = 1e-3 + 8.0 * b->unit;
  for (int64_t n = 0; n < b->rows * b->dim; n++) {
    const double angle = (double)(n / b->dim) * pow(1e4, -(double)(n % b->dim) / (double)b->dim);
    b->values[n] = cos(angle) + size * normal(b->state);
  }
}

static void chirps(const blank *b) {
  const double slope = 1e-4 + 1e-3 * uniform(b->state);
  for (int64_t n = 0; n < b->rows * b->dim; n++) {
    const double p = (double)(n / b->dim), w = pow(1e4, -(double)(n % b->dim / 2) / ((double)b->dim / 2.0));
    b->values[n] = n % 2 ? cos(p * w + slope * p * p) : sin(p * w + slope * p * p);
  }
}

static void mixed_columns(const blank *b) {
  int64_t order[2 * PAIRS_MOST];
  for (int64_t c = 0; c < b->dim; c++) order[c] = c;
  for (int64_t c = b->dim - 1; c > 0; c--) {
    const int64_t other = (int64_t)(uniform(b->state) * (double)(c + 1)), kept = order[c];
    order[c] = order[other], order[other] = kept;
  }
  for (int64_t n = 0; n < b->rows * b->dim; n++)
    b->values[n] = table_value((double)(n / b->dim), order[n % b->dim], b->dim);
}

TABLE(half_foreign, c % 4 < 2 ? normal(b->state) : x)
DRAWN_TABLE(products, 2.0 + 8.0 * uniform(b->state), x *table_value(p / drawn, c, b->dim))
DRAWN_TABLE(sums, 2.0 + 8.0 * uniform(b->state), x + table_value(p / drawn, c, b->dim))
TABLE(cumulative, x + (n < b->dim ? 0.0 : b->values[n - b->dim]))
TABLE(squares, x < 0.0 ? -1.0 : 1.0)
DRAWN_TABLE(triangles, 0.7 + 0.3 * uniform(b->state), asin(drawn *x))
TABLE(folded, fabs(x))
DRAWN_TABLE(squashed, 0.5 + 2.0 * uniform(b->state), tanh(drawn *x))
DRAWN_TABLE(decaying, 30.0 + 200.0 * uniform(b->state), x *exp(-p / drawn))

static void amplitudes(const blank *b) {
  double size[2 * PAIRS_MOST];
  for (int64_t c = 0; c < b->dim; c++) size[c] = 0.5 + uniform(b->state);
  fill_table(b);
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] *= size[n % b->dim];
}

/* A table that was added to embeddings. */
TABLE(added, x + 0.1 * normal(b->state))

DRAWN_TABLE(integers, floor(1000.0 * uniform(b->state)), drawn + p)
DRAWN_TABLE(binary, floor(1000.0 * uniform(b->state)), (double)((int64_t)(drawn + p) >> c % 32 & 1))
DRAWN_TABLE(alibi, floor(100.0 * uniform(b->state)), -fabs(p - drawn) * exp2(-8.0 * (double)c / (double)b->dim))
DRAWN_TABLE(constant, normal(b->state), drawn)

static void same_rows(const blank *b) {
  noise(b);
  for (int64_t n = b->dim; n < b->rows * b->dim; n++) b->values[n] = b->values[n - b->dim];
}

TABLE(polynomials, pow(p / (double)b->rows, 0.25 * (double)c))

typedef void filler(const blank *b);
static const struct none {
  const char *name;
  filler *fill;
} nones[] = {
    {"normal noise", noise},
    {"uniform noise", uniform_noise},
    {"pairs of random angles", random_angles},
    {"random walks", random_walks},
    {"smooth walks", smooth_walks},
    {"random Fourier features", random_features},
    {"sorted ones", sorted_features},
    {"random cosines", random_cosines},
    {"Fourier transforms", fourier},
    {"powers of two", nerf},
    {"powers of the index", harmonic},
    {"frequencies on a line", linear_frequencies},
    {"one frequency", one_frequency},
    {"random phases", random_phases},
    {"sines with noise", noisy},
    {"cosines with noise", noisy_cosines},
    {"chirps", chirps},
    {"mixed columns", mixed_columns},
    {"half of it foreign", half_foreign},
    {"products", products},
    {"sums", sums},
    {"cumulative sums", cumulative},
    {"square waves", squares},
    {"triangles", triangles},
    {"absolute values", folded},
    {"squashed sines", squashed},
    {"decaying sines", decaying},
    {"amplitudes by column", amplitudes},
    {"embeddings added", added},
    {"integers", integers},
    {"binary", binary},
    {"alibi", alibi},
    {"constants", constant},
    {"one row", same_rows},
    {"polynomials", polynomials},
};

static bool is_none(const double *values, int64_t rows, int64_t dim, posenc_dtype dtype, const char *name) {
  const file made = file_of(values, rows, dim, dtype);
  identity *found = identified(&made);
  char *sentence = identity_sentence(found);
  tables_none++;
  const bool right = found->verdict != IDENTIFY_TABLE && *found->reason;
  if (!right) printf("# %s, %" PRId64 "x%" PRId64 ": %s\n", name, rows, dim, sentence);
  free(sentence);
  identity_free(found);
  free(made.bytes);
  return right;
}

static void test_none(const struct none *of, uint64_t seed) {
  static const int64_t sizes[][2] = {{200, 64}, {96, 32}, {300, 16}, {64, 128}};
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F64, POSENC_F16, POSENC_BF16};
  const int most = slow_test() ? 120 : 16; /* one of each size and dtype */
  int tables = 0, right = 0;
  uint64_t state = seed * 77 + 1;
  for (int n = 0; n < most; n++) {
    if (is_left_out((size_t)(n + n / 4))) continue; /* what is left has each size and each dtype */
    const int64_t rows = sizes[n % 4][0], dim = sizes[n % 4][1];
    double *values = memory_take((size_t)(rows * dim), sizeof *values);
    const posenc_dtype dtype = dtypes[n / 4 % 4];
    of->fill(&(blank){values, rows, dim, &state, ldexp(1.0, -format_of(dtype)->precision)});
    /* A third of the tables have every second column only: the cosines of tables of pairs. */
    const bool half = n % 3 == 2;
    for (int64_t k = 0; half && k < rows * dim / 2; k++) values[k] = values[2 * k + 1];
    tables++;
    right += is_none(values, rows, half ? dim / 2 : dim, dtype, of->name);
    free(values);
  }
  ok(tables >= 4 && right == tables, "%s: %d of %d are no table", of->name, right, tables);
}

/*
 * Tests cosines of two tables, added or multiplied. In the columns of low frequencies the second one is 1 in bf16, so
 * up to 60 % of the elements are those of a table, scaled and shifted.
 */
static void test_combined_cosines(void) {
  enum { ROWS = 96, DIM = 16, CASES = 32 };
  double *values = memory_take(ROWS * DIM, sizeof *values);
  int right = 0;
  for (int n = 0; n < CASES; n++) {
    const bool add = n % 2;
    const double other = 2.0 + n / 4;
    for (int64_t k = 0; k < ROWS * DIM; k++) {
      const double row = (double)(k / DIM), one = table_value(row, k % DIM * 2 + 1, 2 * DIM),
                   two = table_value(row / other, k % DIM * 2 + 1, 2 * DIM);
      values[k] = add ? one + two : one * two;
    }
    right += is_none(values, ROWS, DIM, n / 2 % 2 ? POSENC_F16 : POSENC_BF16, add ? "sums" : "products");
  }
  ok(right == CASES, "cosines added or multiplied: %d of %d are no table", right, CASES);
  free(values);
}

/* Tests every second bias of ALiBi for any query: multiples of one column, which is nearly true of sines of small
   angles. */
static void test_halves_of_alibi(void) {
  enum { ROWS = 96, DIM = 16, QUERIES = 100 };
  double *values = memory_take(ROWS * DIM, sizeof *values);
  int right = 0;
  for (int query = 0; query < QUERIES; query++) {
    for (int64_t k = 0; k < ROWS * DIM; k++)
      values[k] = -fabs((double)(k / DIM) - query) * exp2(-8.0 * (double)(2 * (k % DIM) + 1) / (2 * DIM));
    right += is_none(values, ROWS, DIM, POSENC_F16, "halves of ALiBi");
  }
  ok(right == QUERIES, "halves of ALiBi: %d of %d are no table", right, QUERIES);
  free(values);
}

/* Tests files whose first rows are those of a table, with more rows than the search reads, and rows at fractional
   positions. A list of positions would fit all rows that it reads. */
static void test_near_tables(void) {
  enum { ROWS = 6000, SEEN = 4096, DIM = 32, KINDS = 3 };
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F64};
  double *values = memory_take(ROWS * DIM, sizeof *values);
  int right = 0;
  uint64_t state = 4;
  for (int kind = 0; kind < KINDS; kind++)
    for (int d = 0; d < 2; d++) {
      const int64_t rows = kind == 0 ? ROWS : 400;
      for (int64_t r = 0; r < rows; r++) {
        double position = (double)r;
        if (kind == 1) position += 0.1 * normal(&state);
        if (kind == 2) position += 0.3 * sin((double)r / 20.0);
        for (int64_t c = 0; c < DIM; c++)
          values[r * DIM + c] = r < SEEN ? table_value(position, c, DIM) : normal(&state);
      }
      right += is_none(values, rows, DIM, dtypes[d], "near a table");
    }
  ok(right == KINDS * 2, "rows beyond those of a table, or between them: %d of %d are no table", right, KINDS * 2);
  free(values);
}

/* Tests noise. Noise below the rounding of 16 bits moves values to neighbouring numbers, as recipes do: this is a
   table. Noise of several units is none. */
static void test_small_noise(void) {
  enum { ROWS = 200, DIM = 64 };
  static const posenc_dtype dtypes[] = {POSENC_F16, POSENC_BF16};
  static const double units[] = {0.125, 0.25, 0.5, 4.0};
  uint64_t state = 3;
  double *values = memory_take(ROWS * DIM, sizeof *values);
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (size_t n = 0; n < sizeof units / sizeof *units; n++) {
      const double unit = ldexp(1.0, -format_of(dtypes[d])->precision);
      const bool is_rounding = units[n] < 1.0;
      const blank b = {values, ROWS, DIM, &state, unit};
      fill_table(&b);
      for (int64_t k = 0; k < ROWS * DIM; k++) values[k] += units[n] * unit * normal(&state);
      const file made = file_of(values, ROWS, DIM, dtypes[d]);
      identity *found = identified(&made);
      char *sentence = identity_sentence(found);
      tables_none += !is_rounding;
      ok(is_rounding
             ? found->verdict == IDENTIFY_TABLE && near(found->how.formula.base, 1e4) &&
                   found->matches[0].equal < found->matches[0].compared && strstr(sentence, "bit for bit") == NULL
             : found->verdict != IDENTIFY_TABLE,
         "noise of %g units of dtype %d: %s", units[n], (int)dtypes[d], sentence);
      free(sentence);
      identity_free(found);
      free(made.bytes);
    }
  free(values);
}

int main(int argc, char **argv) {
  unsetenv("POSENC_ISA");
  for (size_t n = 0; n < sizeof nones / sizeof *nones; n++)
    if (argc < 2 || strstr(nones[n].name, argv[1])) test_none(&nones[n], n + 1);
  if (argc < 2) {
    test_combined_cosines();
    test_halves_of_alibi();
    test_near_tables();
    test_small_noise();
  }
  print_counts();
  return tap_done();
}
