/* SPDX-License-Identifier: MIT */
/* Recovers a table from what it was applied to, or from its angles. */
#include "inspect/identify/identity.h"

#include "common/memory.h"
#include "common/number.h"
#include "reference/axes.h"
#include "reference/format.h"
#include "reference/scaling.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SAMPLES: the number of rows in which pairs are searched. In units of the dtype's precision: the largest error of
   lengths of a pair, the smallest sine of a pair for which the rotation of the next pair is visible, and the smallest
   mean of sines that has a sign. */
enum { SAMPLES = 96, FITTING_UNITS = 16, VISIBLE_UNITS = 8, LEAN_UNITS = 2 };

typedef struct source {
  vectors v;
  posenc_op op;
  posenc_dtype held;           /* the dtype whose numbers the results are */
  double unit, scale, largest; /* its unit; a factor that makes the largest |x| about 1; the largest |x| */
  bool is_still;               /* as in the result */
} source;

/* ---- the rotated columns, and their pairs ------------------------------------------------------------------------ */

/* A guess: pairs are halves or neighbours, in columns [start, start + dim), and in the result, too, or the other. */
typedef struct guess {
  posenc_layout pairs, written;
  int64_t start, dim;
} guess;

/* Computes a pair of a guess in a vector, scaled. */
static void pair_of(const guess *g, posenc_layout pairs, const source *s, const double *values, int64_t i,
                    double pair[2]) {
  const posenc_columns at = posenc_layout_columns(pairs, g->dim);
  pair[0] = s->scale * values[g->start + at.sin + i * at.step];
  pair[1] = s->scale * values[g->start + at.cos + i * at.step];
}

/* Computes the rotation of a pair, and returns its weight, x·x. */
static double rotation_of(const guess *g, source *s, int64_t i, double *cosine, double *sine) {
  double x[2], y[2];
  pair_of(g, g->pairs, s, s->v.x, i, x);
  pair_of(g, g->written, s, s->v.out, i, y);
  *cosine = x[0] * y[0] + x[1] * y[1];
  *sine = x[0] * y[1] - x[1] * y[0];
  return x[0] * x[0] + x[1] * x[1];
}

/* Finds the first and the last changed column; columns before the first that are always 0 count as changed. Finds the
   scale. Returns false if a row of x is not finite. */
static bool find_changed(source *s, int64_t *first, int64_t *last, int64_t *bad_row) {
  int64_t alive = s->v.at->dim; /* the first column that is not always 0 */
  double largest = 0.0;
  *first = s->v.at->dim;
  *last = -1;
  for (int64_t row = 0; row < s->v.at->rows; row++) {
    vectors_read(&s->v, row);
    for (int64_t c = 0; c < s->v.at->dim; c++) {
      *bad_row = row;
      if (!isfinite(s->v.x[c])) return false;
      largest = fmax(largest, fabs(s->v.x[c]));
      if (c < alive && (fabs(s->v.x[c]) > 0.0 || s->v.x[c] != s->v.out[c])) alive = c;
      if (s->v.x[c] == s->v.out[c]) continue; /* NaN differs from everything */
      if (c < *first) *first = c;
      if (c > *last) *last = c;
    }
  }
  *bad_row = -1;
  if (alive == *first) *first = 0;
  s->largest = largest;
  if (largest > 0.0 && s->op == POSENC_ROPE) s->scale = ldexp(1.0, -ilogb(largest));
  return true;
}

/* Whether one ratio of lengths fits all pairs of the samples. Pairs of length 0 are ignored. */
static bool fits(const guess *g, source *s) {
  double least = INFINITY, most = 0.0;
  const int64_t count = s->v.at->rows < SAMPLES ? s->v.at->rows : SAMPLES;
  for (int64_t n = 0; n < count; n++) {
    vectors_read(&s->v, vectors_sample(&s->v, n, count));
    for (int64_t i = 0; i < g->dim / 2; i++) {
      double x[2], y[2];
      pair_of(g, g->pairs, s, s->v.x, i, x);
      pair_of(g, g->written, s, s->v.out, i, y);
      const double length = hypot(x[0], x[1]);
      if (length == 0.0) continue;
      const double ratio = hypot(y[0], y[1]) / length;
      if (!(ratio < INFINITY)) return false;
      least = fmin(least, ratio);
      most = fmax(most, ratio);
    }
  }
  return most > 0.0 && most - least <= FITTING_UNITS * s->unit * most;
}

/* Guesses halves, in x, in the result, or in both: tries all distances of the two columns of a pair. */
static bool guess_halves(source *s, int64_t first, int64_t last, posenc_layout pairs, posenc_layout written, guess *g) {
  for (int64_t half = (s->v.at->dim - first) / 2; half > 0 && last < first + 2 * half; half--) {
    *g = (guess){pairs, written, first, 2 * half};
    if (fits(g, s)) return true;
  }
  return false;
}

/* Returns the largest sine of a pair of the guess, in the last vectors, which usually rotate most, and in others. */
static double largest_sine(const guess *g, source *s, int64_t i) {
  double most = 0.0;
  for (int64_t n = 0; n < SAMPLES && n < s->v.at->rows; n++)
    for (int spread = 0; spread < 2; spread++) {
      double cosine, sine;
      vectors_read(&s->v, spread ? (int64_t)((double)n / SAMPLES * (double)s->v.at->rows) : s->v.at->rows - 1 - n);
      const double weight = rotation_of(g, s, i, &cosine, &sine);
      if (weight > 0.0) most = fmax(most, fabs(sine) / weight);
    }
  return most;
}

/* Guesses neighbours. The columns behind the last changed one would always fit. If the last pair rotates so slowly that
   the next one's rotation is not visible, all columns count as rotated. */
static bool guess_neighbours(source *s, int64_t first, int64_t last, guess *g) {
  *g = (guess){POSENC_INTERLEAVED, POSENC_INTERLEAVED, first, (last - first) / 2 * 2 + 2};
  if (first + g->dim > s->v.at->dim || !fits(g, s)) return false;
  if (largest_sine(g, s, g->dim / 2 - 1) < VISIBLE_UNITS * s->unit) g->dim = (s->v.at->dim - first) / 2 * 2;
  return true;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Sums of weighted rotations (rope: cosines, then sines) or of differences (add: columns) for each position. */
typedef struct pair_sums {
  int64_t rows, dim;
  double *values, *weights;
} pair_sums;

static void make_sums(pair_sums *all, int64_t rows, int64_t dim) {
  *all = (pair_sums){.rows = rows, .dim = dim};
  all->values = memory_take((size_t)rows * (size_t)dim, sizeof *all->values);
  all->weights = memory_take((size_t)rows * (size_t)dim, sizeof *all->weights);
}

static void add_vector(const pair_sums *all, source *s, const guess *g, int64_t row) {
  const int64_t at = axes_index(s->v.from->axes, s->v.at, row, NULL) * all->dim, half = all->dim / 2;
  vectors_read(&s->v, row);
  for (int64_t i = 0; s->op == POSENC_ROPE && i < half; i++) {
    double cosine, sine;
    const double weight = rotation_of(g, s, i, &cosine, &sine);
    all->values[at + i] += cosine;
    all->values[at + half + i] += sine;
    all->weights[at + i] += weight;
    all->weights[at + half + i] += weight;
  }
  for (int64_t c = 0; s->op == POSENC_ADD && c < all->dim; c++) {
    all->values[at + c] += s->v.out[c] - s->v.x[c];
    all->weights[at + c] += 1.0;
  }
}

/* Divides the sums by their weights. Pairs of length 0, whose rotation is unknown, stay 0; if all rows have them, the
   column is a damaged one. */
static void divide(const pair_sums *all) {
  for (int64_t n = 0; n < all->rows * all->dim; n++)
    if (all->weights[n] > 0.0) all->values[n] /= all->weights[n];
}

/* Whether the slowest pairs whose mean sine is visible have angles in the half turn of positions from 0 on. */
static bool are_from_zero(const pair_sums *all, double unit) {
  enum { ASKED = 5 };
  const int64_t half = all->dim / 2;
  int asked = 0;
  bool are = true;
  for (int64_t i = half - 1; i >= 0 && asked < ASKED; i--) {
    double mean = 0.0;
    for (int64_t row = 0; row < all->rows; row++) mean += all->values[row * all->dim + half + i] / (double)all->rows;
    if (fabs(mean) <= LEAN_UNITS * unit) continue;
    are = are && mean > 0.0;
    asked++;
  }
  return are && asked > 0;
}

/* Whether the slowest pair that visibly rotates does so backwards from row to row, and its angles are not those of
   positions from 0 on, which may be in any order. Then all sines are negated. */
static bool rotate_forward(const pair_sums *all, double unit) {
  const int64_t half = all->dim / 2;
  double turned = 0.0;
  for (int64_t i = half - 1; i >= 0 && fabs(turned) <= FITTING_UNITS * unit; i--) {
    turned = 0.0;
    for (int64_t row = 0; row + 1 < all->rows; row++) {
      const double *now = all->values + row * all->dim + i, *next = now + all->dim;
      turned += now[0] * next[half] - now[half] * next[0];
    }
  }
  if (!(turned < 0.0) || are_from_zero(all, unit)) return false;
  for (int64_t row = 0; row < all->rows; row++)
    for (int64_t i = 0; i < half; i++) all->values[row * all->dim + half + i] *= -1.0;
  return true;
}

/* Makes the table of the sums, and frees them. Values of 16-bit dtypes are f32, rounded to their precision. */
static table_file *make_table(pair_sums *all, posenc_dtype dtype) {
  const size_t count = (size_t)(all->rows * all->dim);
  free(all->weights);
  if (dtype == POSENC_F64) return table_of_elements(POSENC_F64, all->rows, all->dim, all->values);
  float *singles = memory_take(count, sizeof *singles);
  for (size_t n = 0; n < count; n++) singles[n] = (float)format_nearest(format_of(dtype), all->values[n]);
  free(all->values);
  return table_of_elements(POSENC_F32, all->rows, all->dim, singles);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool find_pairs(source *s, guess *g, int64_t *bad_row, fault *why) {
  int64_t first, last;
  *g = (guess){POSENC_INTERLEAVED, POSENC_INTERLEAVED, 0, s->v.at->dim};
  if (!find_changed(s, &first, &last, bad_row))
    return fault_say(why, "not all numbers of row %" PRId64 " are finite", *bad_row);
  s->is_still = last < 0 && s->op == POSENC_ROPE && axes_length(s->v.from->axes, s->v.at) == 1;
  if (last < 0) return fault_say(why, "it is x%s", s->is_still ? ", as it is at position 0" : "");
  if (s->op == POSENC_ADD) return true;
  if (guess_halves(s, first, last, POSENC_SPLIT, POSENC_SPLIT, g) || guess_neighbours(s, first, last, g) ||
      guess_halves(s, first, last, POSENC_INTERLEAVED, POSENC_SPLIT, g) ||
      guess_halves(s, first, last, POSENC_SPLIT, POSENC_INTERLEAVED, g))
    return true;
  /* The first columns of both halves may be at position 0 on their axis. */
  if (first > 0 && guess_halves(s, 0, last, POSENC_SPLIT, POSENC_SPLIT, g)) return true;
  return fault_say(why, "it is not x with pairs of columns turned, neighbours or halves");
}

static void recover_by(source *s, const guess *of, recovered *found) {
  const guess g = *of;
  pair_sums all;
  make_sums(&all, axes_length(s->v.from->axes, s->v.at), g.dim);
  for (int64_t row = 0; row < s->v.at->rows; row++) add_vector(&all, s, &g, row);
  divide(&all);
  found->pairs = g.pairs;
  found->written = g.written;
  found->start = g.start;
  found->dim = g.dim;
  found->error = s->unit * (s->op == POSENC_ROPE ? VISIBLE_UNITS : 1.0 + s->largest);
  found->back = s->op == POSENC_ROPE && rotate_forward(&all, s->unit);
  found->table = make_table(&all, s->held);
}

bool recover(const applied_arrays *from, posenc_op op, recovered *found, fault *why) {
  source s = {.op = op, .scale = 1.0};
  guess g;
  *found = (recovered){.bad_row = -1};
  vectors_open(&s.v, from);
  s.held = vectors_held(&s.v);
  s.unit = ldexp(1.0, -format_of(s.held)->precision);
  if (find_pairs(&s, &g, &found->bad_row, why)) recover_by(&s, &g, found);
  found->is_still = s.is_still;
  vectors_close(&s.v);
  return found->table;
}

/* ---- angles ------------------------------------------------------------------------------------------------------ */

static bool is_falling(const double *row, int64_t dim) {
  bool falls = dim > 1 && row[0] <= 1.0 && row[0] >= 1.0;
  for (int64_t c = 1; c < dim; c++) falls = falls && row[c] < row[c - 1] && row[c] > 0.0;
  return falls;
}

/* Some rows of a file, spread evenly. */
typedef struct sampled {
  int64_t count, dim;
  double *values;
} sampled;

static sampled sample(table_file *file) {
  const stored *at = table_stored(file);
  sampled s = {.count = at->rows < SAMPLES ? at->rows : SAMPLES, .dim = at->dim};
  s.values = memory_take((size_t)(s.count * s.dim), sizeof *s.values);
  for (int64_t n = 0; n < s.count; n++)
    table_values(file, spread_evenly(n, s.count, at->rows - 1), 1, s.values + n * s.dim);
  return s;
}

/* Whether all rows but a few elements are multiples of the row with the largest element. bf16 has 2^-9 in each. */
static bool are_multiples(const sampled *s) {
  const double room = 1.0 / 64.0, growth = 2.5; /* larger than the factors of cosines that scalings have */
  int64_t pivot = 0, far = 0;
  double lowest = INFINITY, highest = -INFINITY;
  for (int64_t n = 0; n < s->count * s->dim; n++)
    if (fabs(s->values[n]) > fabs(s->values[pivot])) pivot = n;
  const double *longest = s->values + pivot / s->dim * s->dim, most = s->values[pivot];
  for (int64_t n = 0; n < s->count; n++) {
    const double *row = s->values + n * s->dim, share = row[pivot % s->dim] / most;
    lowest = fmin(lowest, row[pivot % s->dim]);
    highest = fmax(highest, row[pivot % s->dim]);
    for (int64_t c = 0; c < s->dim; c++) far += !(fabs(row[c] - share * longest[c]) <= room * fabs(longest[c]));
  }
  return isfinite(most) && highest - lowest > growth && far * 20 <= s->count * s->dim;
}

/* Whether all values are finite, and one is beyond those of cosines, times an attention factor. */
static bool are_large(const sampled *s) {
  const double most = 4.0;
  bool is_large = false;
  for (int64_t n = 0; n < s->count * s->dim; n++) {
    if (!isfinite(s->values[n])) return false;
    is_large |= fabs(s->values[n]) > most;
  }
  return is_large;
}

bool angles_are(table_file *file, bool has_axes) {
  const stored *at = table_stored(file);
  if (at->vector) return true;
  if (at->dim < 2 || at->dim > IDENTIFY_COLUMNS_MAX) return false;
  sampled s = sample(file);
  const bool are = at->rows == 1 ? is_falling(s.values, s.dim) : are_multiples(&s) || (has_axes && are_large(&s));
  free(s.values);
  return are;
}

/* Whether in most rows each column has the values of the one `step` further, in groups of 2 × step. */
static bool are_twice(const sampled *s, int64_t step) {
  int64_t same = 0;
  if (s->dim % 2 || s->dim % (2 * step)) return false;
  for (int64_t n = 0; n < s->count * s->dim; n++)
    same += n % s->dim / step % 2 == 0 && s->values[n] == s->values[n + step];
  return same * 8 >= s->count * s->dim * 3;
}

bool angles_are_twice(table_file *file) {
  const stored *at = table_stored(file);
  sampled s = sample(file);
  const bool are = !at->vector && at->rows > 1 && (are_twice(&s, at->dim / 2) || are_twice(&s, 1));
  free(s.values);
  return are;
}

table_file *recover_angles(table_file *file, int64_t first, int64_t rows) {
  const stored *at = table_stored(file);
  sampled s = sample(file);
  const bool is_vector = at->vector || at->rows == 1, halves = !is_vector && are_twice(&s, at->dim / 2),
             neighbours = !is_vector && !halves && are_twice(&s, 1);
  const int64_t pairs = halves || neighbours ? at->dim / 2 : at->dim, step = neighbours ? 2 : 1,
                other = halves ? pairs : neighbours;
  double *angles = memory_take((size_t)at->dim, sizeof *angles);
  pair_sums all;
  free(s.values);
  make_sums(&all, is_vector ? rows : at->rows, 2 * pairs);
  for (int64_t row = 0; row < all.rows; row++) {
    const double times = is_vector ? (double)(first + row) : 1.0;
    if (row == 0 || !is_vector) table_values(file, is_vector ? 0 : row, 1, angles);
    for (int64_t i = 0; i < pairs; i++) {
      all.values[row * all.dim + i] = cos(times * angles[i * step]);
      all.values[row * all.dim + pairs + i] = sin(times * angles[i * step + other]);
    }
  }
  free(angles);
  return make_table(&all, at->dtype == POSENC_F64 ? POSENC_F64 : POSENC_F32);
}

/* ---- the layout of a table ------------------------------------------------------------------------------------ */

/* Returns the sampled rows of the problem's table, a new array. */
static double *right_rows(const sampled *s, const posenc_problem *of) {
  double *right = memory_take((size_t)(s->count * s->dim), sizeof *right);
  posenc_problem problem = *of;
  posenc_plan *plan;
  problem.dtype = POSENC_F64;
  if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) memory_end(); /* the caller has a valid problem */
  for (int64_t n = 0; n < s->count; n++)
    posenc_execute(plan, spread_evenly(n, s->count, of->rows - 1), 1, right + n * s->dim);
  posenc_plan_destroy(plan);
  return right;
}

/* Returns how many pairs of the rows have the length of sine and cosine. *first: how much nearer they are to the right
   ones, sines first, if their elements are exchanged. */
static int64_t count_pairs(const sampled *s, const posenc_problem *of, double *first) {
  const double even = 0.05, square = attention_of(of) * attention_of(of);
  int64_t good = 0;
  double *right = right_rows(s, of);
  *first = 0.0;
  for (int64_t n = 0; n < s->count; n++)
    for (int64_t i = 0; i < of->dim / 2; i++) {
      const pair_columns at = axes_pair(of, i);
      const double a = s->values[n * s->dim + at.first], b = s->values[n * s->dim + at.second];
      good += fabs(a * a + b * b - square) <= even * square;
      *first += (a - b) * (right[n * s->dim + at.second] - right[n * s->dim + at.first]);
    }
  free(right);
  return good;
}

bool layout_shown(table_file *file, const posenc_problem *problem, posenc_layout *layout) {
  static const posenc_layout layouts[][2] = {{POSENC_INTERLEAVED, POSENC_INTERLEAVED_CS},
                                             {POSENC_SPLIT, POSENC_SPLIT_CS}};
  sampled s = sample(file);
  int64_t most = 0;
  for (int form = 0; form < 2; form++) {
    posenc_problem of = *problem;
    double first;
    of.layout = layouts[form][0];
    const int64_t good = count_pairs(&s, &of, &first);
    if (good * 20 < s.count * (of.dim / 2) * 19 || good <= most) continue;
    most = good;
    *layout = layouts[form][first > 0.0];
  }
  free(s.values);
  return most > 0;
}
