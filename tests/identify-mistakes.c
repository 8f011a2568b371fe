/* SPDX-License-Identifier: MIT */
/* Tests identify on tables with known mistakes: its text names the mistake. */
#include "tests/identify.h"

enum { ROWS = 300, DIM = 64 };

/* Returns the exponent of column j; its frequency is base^-exponent. */
typedef double exponent_of(int j);
#define EXPONENT(name, VALUE)                                                                                          \
  static double name(int j) {                                                                                          \
    return VALUE;                                                                                                      \
  }

EXPONENT(of_pair, (double)(j / 2 * 2) / DIM)
EXPONENT(of_column_doubled, 2.0 * j / DIM)
EXPONENT(of_column, (double)j / DIM)
EXPONENT(of_pair_halved, (double)(j / 2) / DIM)
EXPONENT(of_pair_doubled, 2.0 * (j / 2 * 2) / DIM)
EXPONENT(of_more_columns, (double)(j / 2 * 2) / (4 * DIM))
EXPONENT(of_odd_columns, (double)(j / 2 * 2) / 90)
EXPONENT(of_last_first, 1.0 - of_pair(j + 2))
EXPONENT(of_other_sign, -of_pair(j))
/* Frequencies 0.015, 0.025 … with base 10000. */
EXPONENT(of_even_steps, -log(0.015 + 0.01 * (double)(j / 2)) / log(1e4))

typedef enum change {
  NONE,
  NEGATED,
  REVERSED,
  REPEATED,
  SKIPPED,
  TWICE,
  TRANSPOSED,
  HALF,
  FEW,
  TRUNCATED,
  DAMAGED, /* truncated, and one element is wrong */
  COSINES,
  ALL,
  ALONE, /* negated cosines, and no sines */
  CENTRED
} change;

/* Adds one unit of f32 to every other element. */
static double moved(double x, int64_t number) {
  return number * 7 % 13 < 7 ? (double)nextafterf((float)x, 2.0F) : x;
}

/* Rounds to bf16 towards 0. */
static double truncated(double x) {
  int exponent;
  const double fraction = frexp(x, &exponent);
  return ldexp(trunc(ldexp(fraction, 8)), exponent - 8);
}

/* Subtracts its mean from each column. */
static void centre(double *values) {
  for (int j = 0; j < DIM; j++) {
    double mean = 0.0;
    for (int r = 0; r < ROWS; r++) mean += values[r * DIM + j] / ROWS;
    for (int r = 0; r < ROWS; r++) values[r * DIM + j] -= mean;
  }
}

static double *values_of(exponent_of *exponent, double base, int first, change what) {
  double *values = memory_take((size_t)ROWS * DIM, sizeof *values);
  for (int r = 0; r < ROWS; r++)
    for (int j = 0; j < DIM; j++) {
      int row = r;
      if (what == REVERSED) row = ROWS - 1 - r;
      if (what == REPEATED) row = r % 128;
      if (what == SKIPPED) row += r > 2;
      if (what == TWICE) row -= r > 2;
      const double angle = (first + row) * pow(base, -exponent(j)),
                   sine = what == NEGATED || what == ALL ? -sin(angle) : sin(angle),
                   cosine = what == COSINES || what == ALL || what == ALONE ? -cos(angle) : cos(angle);
      double x = j % 2 || what == ALONE ? cosine : sine;
      if (what == HALF) x = moved(x, (int64_t)r * DIM + j);
      if (what == TRUNCATED || what == DAMAGED) x = truncated(x);
      values[what == TRANSPOSED ? j * ROWS + r : r * DIM + j] = x;
    }
  if (what == DAMAGED) values[100 * DIM + 5] = 0.0;
  if (what == CENTRED) centre(values);
  return values;
}

static void expect(const char *what, const file *made, identify_verdict verdict, identity_order order,
                   const char *words) {
  identity *found = identified(made);
  char *sentence = identity_sentence(found);
  int64_t period;
  ok(found->verdict == verdict && (verdict != IDENTIFY_TABLE || identity_order_of(found, &period) == order) &&
         strstr(sentence, words),
     "%s: %s", what, sentence);
  free(sentence);
  identity_free(found);
}

/* Ways to make a table from the formula, and the expected findings. */
static const struct {
  const char *what;
  exponent_of *exponent;
  double base;
  int first;
  change how;
  identify_verdict verdict;
  identity_order order;
  const char *words;
} tried[] = {
    {"right", of_pair, 1e4, 0, NONE, IDENTIFY_TABLE, IDENTITY_ORDERED, ", base 10000, interleaved, positions 0..299"},
    {"2j/dim of the column", of_column_doubled, 1e4, 0, NONE, IDENTIFY_BENT, 0,
     "the exponents are 2j/dim of the column j instead of 2i/dim of the pair i"},
    {"from position 1", of_column_doubled, 1e4, 1, NONE, IDENTIFY_BENT, 0, "; base 10000, from position 1 on"},
    {"j/dim of the column", of_column, 1e4, 0, NONE, IDENTIFY_BENT, 0, "the exponents are j/dim of the column j"},
    {"of another base", of_column_doubled, 5e5, 0, NONE, IDENTIFY_BENT, 0, "; base 500000, from position 0 on"},
    {"i/dim", of_pair_halved, 1e4, 0, NONE, IDENTIFY_TABLE, IDENTITY_ORDERED,
     "base 100 (as 10000 has in the first 64 of 128 columns, or with the exponent i/dim instead of 2i/dim), "},
    {"4i/dim", of_pair_doubled, 1e4, 0, NONE, IDENTIFY_TABLE, IDENTITY_ORDERED,
     "base 100000000 (as 10000 has with 2j/dim of the column j = 2i as the exponent), "},
    {"the first columns", of_more_columns, 1e4, 0, NONE, IDENTIFY_TABLE, IDENTITY_ORDERED,
     "base 10 (as 10000 has in the first 64 of 256 columns), "},
    {"of 90", of_odd_columns, 1e4, 0, NONE, IDENTIFY_TABLE, IDENTITY_ORDERED,
     " (as 10000 has in the first 64 of 90 columns), "},
    {"a base of its own", of_pair, 1e3, 0, NONE, IDENTIFY_TABLE, IDENTITY_ORDERED, "base 1000, interleaved"},
    {"a larger one", of_pair, 5e5, 0, NONE, IDENTIFY_TABLE, IDENTITY_ORDERED, "base 500000, interleaved"},
    {"negated sines", of_pair, 1e4, 0, NEGATED, IDENTIFY_TABLE, IDENTITY_NEGATED,
     "positions 0..299 with negated sines"},
    {"from 5 on", of_pair, 1e4, 5, NEGATED, IDENTIFY_TABLE, IDENTITY_NEGATED, "positions 5..304 with negated sines"},
    {"reversed rows", of_pair, 1e4, 0, REVERSED, IDENTIFY_TABLE, IDENTITY_REVERSED,
     "positions 299..0 (rows are reversed)"},
    {"repeated rows", of_pair, 1e4, 0, REPEATED, IDENTIFY_TABLE, IDENTITY_REPEATED,
     "positions from 0 on that come again after 128 rows"},
    {"a position left out", of_pair, 1e4, 0, SKIPPED, IDENTIFY_TABLE, IDENTITY_ORDERED,
     "a list of 300 positions 0, 1, 2, 4 .. in 2 runs of successive ones, rounded to f32, bit for bit"},
    {"a position twice", of_pair, 1e4, 0, TWICE, IDENTIFY_TABLE, IDENTITY_ORDERED,
     "a list of 300 positions 0, 1, 2, 2 .. in 2 runs of successive ones, rounded to f32, bit for bit"},
    {"the column's exponents in eight rows", of_column_doubled, 1e4, 0, FEW, IDENTIFY_BENT, 0,
     "the exponents are 2j/dim of the column j"},
    {"rows and columns exchanged", of_pair, 1e4, 0, TRANSPOSED, IDENTIFY_NO_TABLE, 0,
     "its rows are waves, and its columns are none: it may be transposed"},
    {"the slowest first", of_last_first, 1e4, 0, NONE, IDENTIFY_BENT, 0,
     "the frequencies are in reversed order, the slowest first: base 10000, shift 0, scale 1"},
    {"another sign", of_other_sign, 1e4, 0, NONE, IDENTIFY_TABLE, IDENTITY_ORDERED,
     "base 0.0001 (as 10000 has with the exponent 2i/dim instead of -2i/dim), "},
    {"even steps", of_even_steps, 1e4, 0, NONE, IDENTIFY_BENT, 0,
     "the frequencies are evenly spaced, in steps of 0.01 radians a row"},
    {"truncated", of_pair, 1e4, 0, TRUNCATED, IDENTIFY_TABLE, IDENTITY_ORDERED,
     "base 10000, interleaved, positions 0..299, truncated to bf16, stored as f32"},
    {"truncated, but for one element", of_pair, 1e4, 0, DAMAGED, IDENTIFY_TABLE, IDENTITY_ORDERED,
     "base 10000, interleaved, positions 0..299, truncated to bf16, stored as f32"},
    {"negated cosines", of_pair, 1e4, 5, COSINES, IDENTIFY_BENT, 0,
     "the cosines are negated: base 10000, shift 0, from position 5 on"},
    {"negated cosines alone", of_column, 1e4, 5, ALONE, IDENTIFY_BENT, 0,
     "all values are negated: base 10000, shift 0, from position 5 on"},
    {"all negated", of_pair, 1e4, 0, ALL, IDENTIFY_BENT, 0, "all values are negated: base 10000, shift 0, from"},
    {"less the columns' means", of_pair, 1e4, 1, CENTRED, IDENTIFY_BENT, 0,
     "each column is less a constant, such as its mean: base 10000, shift 0, interleaved, from position 1 on"},
    {"half of the elements", of_pair, 1e4, 0, HALF, IDENTIFY_TABLE, IDENTITY_ORDERED,
     "computed in f32 by code that is not known, base 10000"},
};

int main(void) {
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    double *values = values_of(tried[i].exponent, tried[i].base, tried[i].first, tried[i].how);
    const bool turned = tried[i].how == TRANSPOSED;
    const int rows = tried[i].how == FEW ? 8 : ROWS;
    const file made = file_of(values, turned ? DIM : rows, turned ? rows : DIM, POSENC_F32);
    expect(tried[i].what, &made, tried[i].verdict, tried[i].order, tried[i].words);
    free(made.bytes);
    free(values);
  }
  print_counts();
  return tap_done();
}
