/* SPDX-License-Identifier: MIT */
/* What identify says of tables that are none, and of tables that are damaged, reversed, in lists, scaled and shifted,
 * of odd dims. */
#include "tests/identify.h"

static const double turn = 6.283185307179586;

/* ---- tables that are none -------------------------------------------------------------------------- */

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
    /* Of a third, every second column: cosines, where it is of pairs. */
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

/* ---- tables that somebody has changed ---------------------------------------------------------------- */

typedef struct changed {
  wanted w;
  double *values; /* interleaved, or as the layout has it */
  int64_t dim;
} changed;

static changed change(int64_t rows, int64_t pairs, posenc_layout layout, columns_part part) {
  changed c = {.w = plain(NULL, rows, pairs)};
  c.w.layout = layout;
  c.w.part = part;
  double *halves = halves_of(&c.w);
  c.values = arranged(&c.w, halves);
  c.dim = dim_of(&c.w);
  free(halves);
  return c;
}

static identity *identified_change(const changed *c) {
  const file made = file_of(c->values, c->w.rows, c->dim, c->w.stored);
  identity *found = identified(&made);
  free(made.bytes);
  return found;
}

/* A table at base 10000 in that layout. */
static bool is_table(const identity *found, const changed *c, const char *what) {
  const bool right = found->verdict == IDENTIFY_TABLE && near(found->how.formula.base, c->w.base) &&
                     fabs(found->how.formula.scale - 1.0) <= 1e-9 && found->how.columns.part == c->w.part;
  if (right) return true;
  char *sentence = identity_sentence(found);
  printf("# %s, layout %d, part %d: %s\n", what, (int)c->w.layout, (int)c->w.part, sentence);
  free(sentence);
  return false;
}

static const arrangement_of_test places[] = {
    {POSENC_INTERLEAVED, COLUMNS_BOTH}, {POSENC_INTERLEAVED_CS, COLUMNS_BOTH}, {POSENC_SPLIT, COLUMNS_BOTH},
    {POSENC_SPLIT_CS, COLUMNS_BOTH},    {POSENC_DUPLICATED, COLUMNS_COS},      {POSENC_DUPLICATED, COLUMNS_SIN},
    {POSENC_INTERLEAVED, COLUMNS_COS},  {POSENC_SPLIT, COLUMNS_SIN},
};
enum { PLACES = sizeof places / sizeof *places };

static bool has_damage(const identity *found, int64_t column, identify_sin sin) {
  return found->damage_count == 1 && found->damage[0].column == column && found->damage[0].sin == sin;
}

static void test_damaged_columns(void) {
  enum { ROWS = 200, PAIRS = 32 };
  int tables = 0, right = 0;
  uint64_t state = 5;
  for (size_t p = 0; p < PLACES; p++)
    for (int64_t column = 1; column < PAIRS; column += 5)
      for (int kind = 0; kind < 4; kind++) {
        changed c = change(ROWS, PAIRS, places[p].layout, places[p].part);
        const int64_t other = (column + 9) % PAIRS;
        for (int64_t r = 0; r < ROWS; r++) {
          double *row = c.values + r * c.dim, kept = row[column];
          if (kind < 2)
            row[column] = kind ? 0.25 : 0.0;
          else if (kind == 2)
            row[column] = normal(&state);
          else
            row[column] = row[other], row[other] = kept;
        }
        identity *found = identified_change(&c);
        bool same = is_table(found, &c, "a damaged column");
        if (same && kind < 3) same = has_damage(found, column, kind == 2 ? IDENTIFY_FOREIGN : IDENTIFY_CONSTANT);
        if (same && kind == 3)
          same = found->damage_count == 2 && found->damage[0].column + found->damage[1].column == column + other;
        if (!same)
          printf("# kind %d, column %d of layout %d: %zu\n", kind, (int)column, (int)places[p].layout,
                 found->damage_count);
        tables++;
        right += same;
        identity_free(found);
        free(c.values);
      }
  ok(right == tables, "a dead, constant, foreign or exchanged column: %d of %d", right, tables);
}

/* Rows of a table, in another order. */
static void reorder(changed *c, const int64_t *order, int64_t rows) {
  double *values = take((size_t)(rows * c->dim), sizeof *values);
  for (int64_t r = 0; r < rows; r++)
    memcpy(values + r * c->dim, c->values + order[r] * c->dim, (size_t)c->dim * sizeof *values);
  free(c->values);
  c->values = values;
  c->w.rows = rows;
}

static bool has_positions(const identity *found, const int64_t *order, int64_t rows) {
  for (int64_t r = 0; found->positions && r < rows; r++)
    if (fabs(found->positions[r] - (double)order[r]) > 0.0)
      return found->how.columns.part != COLUMNS_BOTH && order[r] == 0;
  return found->positions && found->listed == rows;
}

static void test_orders(void) {
  enum { ALL = 900, ROWS = 150, PAIRS = 32 };
  int tables = 0, right = 0;
  uint64_t state = 9;
  int64_t order[ROWS];
  for (size_t p = 0; p < PLACES; p++)
    for (int kind = 0; kind < 8; kind++) {
      changed c = change(ALL, PAIRS, places[p].layout, places[p].part);
      for (int64_t r = 0; r < ROWS; r++) {
        if (kind < 3)
          order[r] = 800 - 100 * kind - r;
        else if (kind < 6)
          order[r] = (int64_t)(uniform(&state) * (ALL - 2)) + 1;
        else
          order[r] = 1 + r % 50 + 300 * (r / 50 % 2);
      }
      reorder(&c, order, ROWS);
      identity *found = identified_change(&c);
      bool same = is_table(found, &c, "rows in another order");
      const bool cosines = places[p].part == COLUMNS_COS;
      if (kind < 3)
        same = same && (cosines ? found->how.start.least == -order[0]
                                : found->how.step == -1 && found->how.start.least == order[0]);
      else
        same = same && has_positions(found, order, ROWS) && (kind < 6 || found->runs == 3);
      if (!same) printf("# order %d of layout %d, part %d\n", kind, (int)places[p].layout, (int)places[p].part);
      tables++;
      right += same;
      identity_free(found);
      free(c.values);
    }
  ok(right == tables, "reversed rows and lists: %d of %d", right, tables);
}

static void test_affine(void) {
  static const double pairs[][2] = {{0.7, 0.25}, {2.0, -0.5}, {0.02, 0.3}, {0.7345128, 0.0123871}, {1.0, 1.0}};
  int tables = 0, right = 0;
  for (size_t p = 0; p < PLACES; p++)
    for (size_t n = 0; n < sizeof pairs / sizeof *pairs; n++) {
      changed c = change(300, 32, places[p].layout, places[p].part);
      for (int64_t k = 0; k < c.w.rows * c.dim; k++)
        c.values[k] = (double)(float)((float)c.values[k] * (float)pairs[n][0] + (float)pairs[n][1]);
      identity *found = identified_change(&c);
      const bool same = is_table(found, &c, "scaled and shifted") && fabs(found->how.amplitude - pairs[n][0]) <= 1e-6 &&
                        fabs(found->how.offset - pairs[n][1]) <= 1e-6;
      if (!same) printf("# %g and %g: %g and %g\n", pairs[n][0], pairs[n][1], found->how.amplitude, found->how.offset);
      tables++;
      right += same;
      identity_free(found);
      free(c.values);
    }
  ok(right == tables, "scaled and shifted: %d of %d", right, tables);
}

static void test_odd(void) {
  int tables = 0, right = 0;
  for (posenc_odd odd = POSENC_ODD_PAD; odd <= POSENC_ODD_CEIL; odd++)
    for (posenc_layout layout = POSENC_INTERLEAVED; layout <= POSENC_SPLIT_CS; layout++)
      for (int64_t dim = 9; dim <= 65; dim += 8)
        for (double shift = 0.0; shift < 1.5; shift += 1.0) {
          posenc_problem problem = posenc_table(200, dim);
          problem.odd = odd;
          problem.layout = layout;
          problem.shift = shift;
          posenc_plan *plan;
          float *table = take((size_t)(200 * dim), sizeof *table);
          double *values = take((size_t)(200 * dim), sizeof *values);
          if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) abort();
          posenc_execute(plan, 0, 200, table);
          posenc_plan_destroy(plan);
          for (int64_t n = 0; n < 200 * dim; n++) values[n] = (double)table[n];
          const file made = file_of(values, 200, dim, POSENC_F32);
          identity *found = identified(&made);
          const char *told = identity_odd(found);
          const bool same = found->verdict == IDENTIFY_TABLE && near(found->how.formula.base, 1e4) && told &&
                            strcmp(told, odd == POSENC_ODD_PAD ? "pad" : "ceil") == 0 &&
                            near(identity_shift(found, &found->how.formula) + 2.0, shift + 2.0) &&
                            found->how.columns.layout == layout &&
                            found->matches[0].equal * 10 >= found->matches[0].compared * 9;
          if (!same) {
            char *sentence = identity_sentence(found);
            printf("# odd %d layout %d dim %d shift %g: %s\n", (int)odd, (int)layout, (int)dim, shift, sentence);
            free(sentence);
          }
          tables++;
          right += same;
          identity_free(found);
          free(made.bytes);
          free(table);
          free(values);
        }
  ok(right == tables, "odd dims: %d of %d", right, tables);
}

/* Few columns and rows, far out. */
static void test_offsets(void) {
  int tables = 0, right = 0;
  for (int64_t first = 777; first < 1000000; first = first * 3 + 1)
    for (size_t p = 0; p < 4; p++)
      for (int64_t pairs = 4; pairs <= 32; pairs *= 2) {
        wanted w = plain(NULL, 32, pairs);
        w.layout = places[p].layout;
        w.first = first;
        const file made = file_wanted(&w);
        identity *found = identified(&made);
        const bool same =
            found->verdict == IDENTIFY_TABLE && found->how.start.least == first && found->how.start.most == first;
        char *sentence = identity_sentence(found);
        if (!same) printf("# %" PRId64 ", %d pairs: %s\n", first, (int)pairs, sentence);
        free(sentence);
        tables++;
        right += same;
        identity_free(found);
        free(made.bytes);
      }
  ok(right == tables, "32 rows at offsets below a million: %d of %d", right, tables);
}

int main(int argc, char **argv) {
  unsetenv("POSENC_ISA");
  for (size_t n = 0; n < sizeof nones / sizeof *nones; n++)
    if (argc < 2 || strstr(nones[n].name, argv[1])) test_none(&nones[n], n + 1);
  if (argc < 2) {
    test_combined_cosines();
    test_halves_of_alibi();
    test_small_noise();
    test_damaged_columns();
    test_orders();
    test_affine();
    test_odd();
    test_offsets();
  }
  print_counts();
  return tap_done();
}
