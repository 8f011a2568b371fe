/* SPDX-License-Identifier: MIT */
/* Tests identify on tables that are damaged, reversed, in lists, scaled and shifted, and on tables of odd dims. */
#include "tests/identify.h"

typedef struct changed {
  wanted w;
  double *values; /* interleaved, or in the file's layout */
  int64_t dim;
} changed;

static changed change(int64_t rows, int64_t pairs, posenc_layout layout, table_part part) {
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

/* Whether this is a table at base 10000 in that layout. */
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
    {POSENC_INTERLEAVED, TABLE_BOTH}, {POSENC_INTERLEAVED_CS, TABLE_BOTH}, {POSENC_SPLIT, TABLE_BOTH},
    {POSENC_SPLIT_CS, TABLE_BOTH},    {POSENC_DUPLICATED, TABLE_COS},      {POSENC_DUPLICATED, TABLE_SIN},
    {POSENC_INTERLEAVED, TABLE_COS},  {POSENC_SPLIT, TABLE_SIN},
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

/* Puts the rows of a table in another order. */
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
      return found->how.columns.part != TABLE_BOTH && order[r] == 0;
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
      const bool cosines = places[p].part == TABLE_COS;
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

/* Tests exact rows at positions that were rounded to bf16: some, or most, are near those of successive positions. */
static void test_rounded_positions(void) {
  enum { MOST = 1200, ALL = MOST + 1, PAIRS = 16 };
  static const int64_t rows[] = {300, 600, MOST};
  int tables = 0, right = 0;
  int64_t order[MOST];
  for (int64_t r = 0; r < MOST; r++) order[r] = (int64_t)format_nearest(&format_bf16, (double)(r + 1));
  for (size_t p = 0; p < PLACES; p++)
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
      changed c = change(ALL, PAIRS, places[p].layout, places[p].part);
      reorder(&c, order, rows[n]);
      identity *found = identified_change(&c);
      const bool same = is_table(found, &c, "rounded positions") && has_positions(found, order, rows[n]);
      if (!same) printf("# %d rows of layout %d, part %d\n", (int)rows[n], (int)places[p].layout, (int)places[p].part);
      tables++;
      right += same;
      identity_free(found);
      free(c.values);
    }
  ok(right == tables, "positions rounded to bf16: %d of %d", right, tables);
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

/* Tests few columns and rows at large positions. */
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

int main(void) {
  unsetenv("POSENC_ISA");
  test_damaged_columns();
  test_orders();
  test_rounded_positions();
  test_affine();
  test_odd();
  test_offsets();
  print_counts();
  return tap_done();
}
