/* SPDX-License-Identifier: MIT */
/* Tests identify on tables that are damaged, reversed, in lists, scaled and shifted, and on tables of odd dims. */
#include "tests/identify.h"

enum { PAIRS = 32, ROWS_MOST = 1200 };

/* A table of a test: its variation n is made from w. */
typedef struct changed {
  wanted w;
  int n;
  uint64_t *state;
  double *values; /* in the file's layout */
  int64_t dim, order[ROWS_MOST];
} changed;

static void make(changed *c) {
  double *halves = halves_of(&c->w);
  c->values = arranged(&c->w, halves);
  c->dim = dim_of(&c->w);
  free(halves);
}

/* Whether this is a table at base 10000 in that layout. */
static bool is_table(const identity *found, const changed *c) {
  return found->verdict == IDENTIFY_TABLE && near(found->how.formula.base, c->w.base) &&
         fabs(found->how.formula.scale - 1.0) <= 1e-9 && found->how.columns.part == c->w.part;
}

static const arrangement_of_test places[] = {
    {POSENC_INTERLEAVED, TABLE_BOTH}, {POSENC_INTERLEAVED_CS, TABLE_BOTH}, {POSENC_SPLIT, TABLE_BOTH},
    {POSENC_SPLIT_CS, TABLE_BOTH},    {POSENC_DUPLICATED, TABLE_COS},      {POSENC_DUPLICATED, TABLE_SIN},
    {POSENC_INTERLEAVED, TABLE_COS},  {POSENC_SPLIT, TABLE_SIN},
};
enum { PLACES = sizeof places / sizeof *places };

/* ---- a dead, constant, foreign or exchanged column ---- */

enum { DEAD, CONSTANT, FOREIGN, EXCHANGED, DAMAGES, COLUMNS = 7 };

static int64_t damaged_column(const changed *c) {
  return 1 + c->n / DAMAGES * 5;
}

static int64_t other_column(const changed *c) {
  return (damaged_column(c) + 9) % PAIRS;
}

static void damage_column(changed *c) {
  const int64_t column = damaged_column(c), other = other_column(c);
  make(c);
  for (int64_t r = 0; r < c->w.rows; r++) {
    double *row = c->values + r * c->dim;
    const double kept = row[column],
                 made[] = {0.0, 0.25, c->n % DAMAGES == FOREIGN ? normal(c->state) : 0.0, row[other]};
    row[column] = made[c->n % DAMAGES];
    if (c->n % DAMAGES == EXCHANGED) row[other] = kept;
  }
}

static bool has_damage(const identity *found, const changed *c) {
  const int64_t column = damaged_column(c);
  if (!is_table(found, c)) return false;
  if (c->n % DAMAGES == EXCHANGED)
    return found->damage_count == 2 && found->damage[0].column + found->damage[1].column == column + other_column(c);
  return found->damage_count == 1 && found->damage[0].column == column &&
         found->damage[0].sin == (c->n % DAMAGES == FOREIGN ? IDENTIFY_FOREIGN : IDENTIFY_CONSTANT);
}

/* ---- rows in another order ---- */

/* Makes the first rows of the table those of `order`. */
static void reorder(changed *c, int64_t rows) {
  make(c);
  double *values = memory_take((size_t)(rows * c->dim), sizeof *values);
  for (int64_t r = 0; r < rows; r++)
    memcpy(values + r * c->dim, c->values + c->order[r] * c->dim, (size_t)c->dim * sizeof *values);
  free(c->values);
  c->values = values;
  c->w.rows = rows;
}

static bool has_positions(const identity *found, const changed *c) {
  for (int64_t r = 0; found->positions && r < c->w.rows; r++)
    if (fabs(found->positions[r] - (double)c->order[r]) > 0.0)
      return found->how.columns.part != TABLE_BOTH && c->order[r] == 0;
  return found->positions && found->listed == c->w.rows;
}

enum { REVERSED = 3, DRAWN = 6, ORDERS = 8 }; /* the variations before which rows are reversed, or drawn; then runs */

static void order_rows(changed *c) {
  enum { ROWS = 150 };
  for (int64_t r = 0; r < ROWS; r++) {
    if (c->n < REVERSED)
      c->order[r] = 800 - 100 * c->n - r;
    else if (c->n < DRAWN)
      c->order[r] = (int64_t)(uniform(c->state) * (double)(c->w.rows - 2)) + 1;
    else
      c->order[r] = 1 + r % 50 + 300 * (r / 50 % 2);
  }
  reorder(c, ROWS);
}

static bool has_order(const identity *found, const changed *c) {
  if (!is_table(found, c)) return false;
  if (c->n >= REVERSED) return has_positions(found, c) && (c->n < DRAWN || found->runs == 3);
  if (c->w.part == TABLE_COS) return found->how.start.least == -c->order[0];
  return found->how.step == -1 && found->how.start.least == c->order[0];
}

/* Makes exact rows at positions that were rounded to bf16: some, or most, are near those of successive positions. */
static void round_positions(changed *c) {
  static const int64_t rows[] = {300, 600, ROWS_MOST};
  for (int64_t r = 0; r < ROWS_MOST; r++) c->order[r] = (int64_t)format_nearest(&format_bf16, (double)(r + 1));
  reorder(c, rows[c->n]);
}

static bool has_rounded_positions(const identity *found, const changed *c) {
  return is_table(found, c) && has_positions(found, c);
}

/* ---- other values ---- */

static const double affine[][2] = {{0.7, 0.25}, {2.0, -0.5}, {0.02, 0.3}, {0.7345128, 0.0123871}, {1.0, 1.0}};

static void scale_and_shift(changed *c) {
  make(c);
  for (int64_t k = 0; k < c->w.rows * c->dim; k++)
    c->values[k] = (double)(float)((float)c->values[k] * (float)affine[c->n][0] + (float)affine[c->n][1]);
}

static bool is_scaled_and_shifted(const identity *found, const changed *c) {
  return is_table(found, c) && fabs(found->how.amplitude - affine[c->n][0]) <= 1e-6 &&
         fabs(found->how.offset - affine[c->n][1]) <= 1e-6;
}

enum { ODD_DIMS = 8, SHIFTS = 2, LAYOUTS = POSENC_SPLIT_CS + 1, ODD_TABLES = 2 * LAYOUTS * ODD_DIMS * SHIFTS };

static posenc_problem odd_problem(const changed *c) {
  const int n = c->n / SHIFTS;
  posenc_problem problem = posenc_table(c->w.rows, 9 + 8 * (n % ODD_DIMS));
  problem.shift = c->n % SHIFTS;
  problem.layout = (posenc_layout)(n / ODD_DIMS % LAYOUTS);
  problem.odd = n < ODD_DIMS * LAYOUTS ? POSENC_ODD_PAD : POSENC_ODD_CEIL;
  return problem;
}

static void make_odd(changed *c) {
  const posenc_problem problem = odd_problem(c);
  posenc_plan *plan;
  c->dim = problem.dim;
  float *table = memory_take((size_t)(c->w.rows * c->dim), sizeof *table);
  c->values = memory_take((size_t)(c->w.rows * c->dim), sizeof *c->values);
  if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) abort();
  posenc_execute(plan, 0, c->w.rows, table);
  posenc_plan_destroy(plan);
  for (int64_t n = 0; n < c->w.rows * c->dim; n++) c->values[n] = (double)table[n];
  free(table);
}

static bool is_odd(const identity *found, const changed *c) {
  const posenc_problem problem = odd_problem(c);
  const char *told = identity_odd(found);
  return found->verdict == IDENTIFY_TABLE && near(found->how.formula.base, 1e4) && told &&
         strcmp(told, problem.odd == POSENC_ODD_PAD ? "pad" : "ceil") == 0 &&
         near(identity_shift(found, &found->how.formula) + 2.0, problem.shift + 2.0) &&
         found->how.columns.layout == problem.layout && found->matches[0].equal * 10 >= found->matches[0].compared * 9;
}

/* Makes few columns and rows at large positions. */
static void offset(changed *c) {
  c->w.pairs = INT64_C(4) << c->n % 4;
  c->w.first = 777;
  for (int n = 0; n < c->n / 4; n++) c->w.first = c->w.first * 3 + 1;
  make(c);
}

static bool has_offset(const identity *found, const changed *c) {
  return found->verdict == IDENTIFY_TABLE && found->how.start.least == c->w.first &&
         found->how.start.most == c->w.first;
}

/* ---- all of them ---- */

typedef struct change {
  const char *what;
  int64_t rows, pairs;
  size_t places;
  int variations;
  uint64_t seed;
  void (*make)(changed *c);
  bool (*is_right)(const identity *found, const changed *c);
} change;

static const change changes[] = {
    {"a dead, constant, foreign or exchanged column", 200, PAIRS, PLACES, COLUMNS *DAMAGES, 5, damage_column,
     has_damage},
    {"reversed rows and lists", 900, PAIRS, PLACES, ORDERS, 9, order_rows, has_order},
    {"positions rounded to bf16", ROWS_MOST + 1, 16, PLACES, 3, 0, round_positions, has_rounded_positions},
    {"scaled and shifted", 300, PAIRS, PLACES, sizeof affine / sizeof *affine, 0, scale_and_shift,
     is_scaled_and_shifted},
    {"odd dims", 200, 0, 1, ODD_TABLES, 0, make_odd, is_odd},
    {"32 rows at offsets below a million", 32, 0, 4, 4 * 7, 0, offset, has_offset},
};

static void test(const change *of) {
  static changed c;
  int tables = 0, right = 0;
  uint64_t state = of->seed;
  for (size_t p = 0; p < of->places; p++)
    for (int n = 0; n < of->variations; n++, tables++) {
      c = (changed){.w = plain(NULL, of->rows, of->pairs), .n = n, .state = &state};
      c.w.layout = places[p].layout;
      c.w.part = places[p].part;
      of->make(&c);
      const file made = file_of(c.values, c.w.rows, c.dim, c.w.stored);
      identity *found = identified(&made);
      char *sentence = identity_sentence(found);
      const bool same = of->is_right(found, &c);
      if (!same) printf("# %s, variation %d of place %zu: %s\n", of->what, n, p, sentence);
      right += same;
      free(sentence);
      identity_free(found);
      free(made.bytes);
      free(c.values);
    }
  ok(right == tables, "%s: %d of %d", of->what, right, tables);
}

int main(void) {
  unsetenv("POSENC_ISA");
  for (size_t n = 0; n < sizeof changes / sizeof *changes; n++) test(&changes[n]);
  print_counts();
  return tap_done();
}
