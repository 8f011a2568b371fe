/* SPDX-License-Identifier: MIT */
/* Tests identify on tables that are no encoding. */
#include "tests/identify.h"

static const double turn = 6.283185307179586;

typedef struct blank {
  double *values;
  int64_t rows, dim;
  uint64_t *state;
  double unit; /* of the dtype: less noise than some of it is rounding */
} blank;

/* The value of a table at base 10000, interleaved. */
static double table_value(double position, int64_t column, int64_t dim) {
  const double angle = position * pow(1e4, -(double)(column / 2) / ((double)dim / 2.0));
  return column % 2 ? cos(angle) : sin(angle);
}

/* Pairs that turn by frequencies, from phases on. */
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

static void noise(const blank *b) {
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] = normal(b->state);
}

static void uniform_noise(const blank *b) {
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] = 2.0 * uniform(b->state) - 1.0;
}

static void random_angles(const blank *b) {
  for (int64_t n = 0; n < b->rows * b->dim; n += 2) {
    const double angle = turn * uniform(b->state);
    b->values[n] = sin(angle);
    b->values[n + 1] = cos(angle);
  }
}

static void random_walks(const blank *b) {
  for (int64_t n = 0; n < b->rows * b->dim; n++)
    b->values[n] = normal(b->state) + (n < b->dim ? 0.0 : b->values[n - b->dim]);
}

/* As learned embeddings are: walks that were smoothed. */
static void smooth_walks(const blank *b) {
  random_walks(b);
  for (int turns = 0; turns < 8; turns++)
    for (int64_t n = b->dim; n < (b->rows - 1) * b->dim; n++)
      b->values[n] = (b->values[n - b->dim] + 2.0 * b->values[n] + b->values[n + b->dim]) / 4.0;
}

static void random_features(const blank *b) {
  double w[PAIRS_MOST];
  const double size = 0.05 + uniform(b->state);
  for (int64_t i = 0; i < b->dim / 2; i++) w[i] = size * normal(b->state);
  fill_waves(b, w, NULL);
}

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

/* With phases of their own, in single columns. */
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

/* Powers of two, of positions from -1 to 1, or from 0 to 1. */
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

static void harmonic(const blank *b) {
  double w[PAIRS_MOST];
  const double power = 1.0 + uniform(b->state);
  for (int64_t i = 0; i < b->dim / 2; i++) w[i] = pow(1.0 + (double)i, -power);
  fill_waves(b, w, NULL);
}

static void linear_frequencies(const blank *b) {
  double w[PAIRS_MOST];
  const double most = 0.2 + 2.0 * uniform(b->state);
  for (int64_t i = 0; i < b->dim / 2; i++) w[i] = most * (1.0 - (double)i / ((double)b->dim / 2.0 + 0.5));
  fill_waves(b, w, NULL);
}

static void one_frequency(const blank *b) {
  double w[PAIRS_MOST];
  const double one = 0.05 + 0.9 * uniform(b->state);
  for (int64_t i = 0; i < b->dim / 2; i++) w[i] = one;
  fill_waves(b, w, NULL);
}

static void random_phases(const blank *b) {
  double w[PAIRS_MOST], phase[PAIRS_MOST];
  for (int64_t i = 0; i < b->dim / 2; i++)
    w[i] = pow(1e4, -(double)i / ((double)b->dim / 2.0)), phase[i] = turn * uniform(b->state);
  fill_waves(b, w, phase);
}

static void noisy(const blank *b) {
  const double size = pow(10.0, -3.5 + 2.5 * uniform(b->state)) + 8.0 * b->unit;
  fill_table(b);
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] += size * normal(b->state);
}

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

static void half_foreign(const blank *b) {
  fill_table(b);
  for (int64_t n = 0; n < b->rows * b->dim; n++)
    if (n % b->dim % 4 < 2) b->values[n] = normal(b->state);
}

static void products(const blank *b) {
  const double other = 2.0 + 8.0 * uniform(b->state);
  for (int64_t n = 0; n < b->rows * b->dim; n++)
    b->values[n] = table_value((double)(n / b->dim), n % b->dim, b->dim) *
                   table_value((double)(n / b->dim) / other, n % b->dim, b->dim);
}

static void sums(const blank *b) {
  const double other = 2.0 + 8.0 * uniform(b->state);
  for (int64_t n = 0; n < b->rows * b->dim; n++)
    b->values[n] = table_value((double)(n / b->dim), n % b->dim, b->dim) +
                   table_value((double)(n / b->dim) / other, n % b->dim, b->dim);
}

static void cumulative(const blank *b) {
  fill_table(b);
  for (int64_t n = b->dim; n < b->rows * b->dim; n++) b->values[n] += b->values[n - b->dim];
}

static void squares(const blank *b) {
  fill_table(b);
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] = b->values[n] < 0.0 ? -1.0 : 1.0;
}

static void triangles(const blank *b) {
  fill_table(b);
  const double part = 0.7 + 0.3 * uniform(b->state);
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] = asin(part * b->values[n]);
}

static void folded(const blank *b) {
  fill_table(b);
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] = fabs(b->values[n]);
}

static void squashed(const blank *b) {
  const double steep = 0.5 + 2.0 * uniform(b->state);
  fill_table(b);
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] = tanh(steep * b->values[n]);
}

static void decaying(const blank *b) {
  const double length = 30.0 + 200.0 * uniform(b->state);
  fill_table(b);
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] *= exp(-(double)(n / b->dim) / length);
}

static void amplitudes(const blank *b) {
  double size[2 * PAIRS_MOST];
  for (int64_t c = 0; c < b->dim; c++) size[c] = 0.5 + uniform(b->state);
  fill_table(b);
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] *= size[n % b->dim];
}

/* Beside embeddings. */
static void added(const blank *b) {
  fill_table(b);
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] += 0.1 * normal(b->state);
}

static void integers(const blank *b) {
  const double first = floor(1000.0 * uniform(b->state));
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] = first + (double)(n / b->dim);
}

static void binary(const blank *b) {
  const int64_t first = (int64_t)(1000.0 * uniform(b->state));
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] = (double)((first + n / b->dim) >> (n % b->dim % 32) & 1);
}

static void alibi(const blank *b) {
  const double query = floor(100.0 * uniform(b->state));
  for (int64_t n = 0; n < b->rows * b->dim; n++)
    b->values[n] = -fabs((double)(n / b->dim) - query) * exp2(-8.0 * (double)(n % b->dim) / (double)b->dim);
}

static void constant(const blank *b) {
  const double value = normal(b->state);
  for (int64_t n = 0; n < b->rows * b->dim; n++) b->values[n] = value;
}

static void same_rows(const blank *b) {
  noise(b);
  for (int64_t n = b->dim; n < b->rows * b->dim; n++) b->values[n] = b->values[n - b->dim];
}

static void polynomials(const blank *b) {
  const double span = (double)b->rows;
  for (int64_t n = 0; n < b->rows * b->dim; n++)
    b->values[n] = pow((double)(n / b->dim) / span, 0.25 * (double)(n % b->dim));
}

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
  const int tables = slow_test() ? 120 : 30;
  int right = 0;
  uint64_t state = seed * 77 + 1;
  for (int n = 0; n < tables; n++) {
    const int64_t rows = sizes[n % 4][0], dim = sizes[n % 4][1];
    double *values = take((size_t)(rows * dim), sizeof *values);
    const posenc_dtype dtype = dtypes[n / 4 % 4];
    of->fill(&(blank){values, rows, dim, &state, ldexp(1.0, -format_of(dtype)->precision)});
    /* A third of the tables keep every second column only: the cosines of tables of pairs. */
    const bool half = n % 3 == 2;
    for (int64_t k = 0; half && k < rows * dim / 2; k++) values[k] = values[2 * k + 1];
    right += is_none(values, rows, half ? dim / 2 : dim, dtype, of->name);
    free(values);
  }
  ok(right == tables, "%s: %d of %d are no table", of->name, right, tables);
}

/*
 * Cosines of two tables, added or multiplied. In the columns of low frequencies the second one is 1 in bf16, so that
 * up to 60 % of the elements are those of a table, scaled and shifted.
 */
static void test_combined_cosines(void) {
  enum { ROWS = 96, DIM = 16, CASES = 32 };
  double *values = take(ROWS * DIM, sizeof *values);
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

/* Every second bias of ALiBi, whatever the query: multiples of one column, which sines of small angles nearly are. */
static void test_halves_of_alibi(void) {
  enum { ROWS = 96, DIM = 16, QUERIES = 100 };
  double *values = take(ROWS * DIM, sizeof *values);
  int right = 0;
  for (int query = 0; query < QUERIES; query++) {
    for (int64_t k = 0; k < ROWS * DIM; k++)
      values[k] = -fabs((double)(k / DIM) - query) * exp2(-8.0 * (double)(2 * (k % DIM) + 1) / (2 * DIM));
    right += is_none(values, ROWS, DIM, POSENC_F16, "halves of ALiBi");
  }
  ok(right == QUERIES, "halves of ALiBi: %d of %d are no table", right, QUERIES);
  free(values);
}

/* Rows of a table at first, but more than the search sees, or at positions that are not whole. A list of positions
 * would fit all that it sees. */
static void test_near_tables(void) {
  enum { ROWS = 6000, SEEN = 4096, DIM = 32, KINDS = 3 };
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F64};
  double *values = take(ROWS * DIM, sizeof *values);
  int right = 0;
  uint64_t state = 4;
  for (int kind = 0; kind < KINDS; kind++)
    for (int d = 0; d < 2; d++) {
      const int64_t rows = kind == 0 ? ROWS : 400;
      for (int64_t r = 0; r < rows; r++) {
        const double position = (double)r + (kind == 1   ? 0.1 * normal(&state)
                                             : kind == 2 ? 0.3 * sin((double)r / 20.0)
                                                         : 0.0);
        for (int64_t c = 0; c < DIM; c++)
          values[r * DIM + c] = r < SEEN ? table_value(position, c, DIM) : normal(&state);
      }
      right += is_none(values, rows, DIM, dtypes[d], "near a table");
    }
  ok(right == KINDS * 2, "rows beyond those of a table, or between them: %d of %d are no table", right, KINDS * 2);
  free(values);
}

/* Noise below the rounding of 16 bits moves values to neighbouring numbers, as recipes do: a table. Noise of several
   units is none. */
static void test_small_noise(void) {
  enum { ROWS = 200, DIM = 64 };
  static const posenc_dtype dtypes[] = {POSENC_F16, POSENC_BF16};
  static const double units[] = {0.125, 0.25, 0.5, 4.0};
  uint64_t state = 3;
  double *values = take(ROWS * DIM, sizeof *values);
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
