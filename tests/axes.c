/* SPDX-License-Identifier: MIT */
/* Tests tables of several axes: for each kernel, every column is one of a plain table; by default, each element is the
   rounded exact value of a formula in this file. */
#include "tests/library.h"

#include <math.h>

enum { MOST = 1 << 14 };

/* A table of axes, with the axis of each frequency index and its index in the axis's plain table, written by hand. */
typedef struct example {
  const char *name;
  posenc_problem problem;
  posenc_axes axes;
  bool whole;               /* plain tables have all dim columns */
  int axis[16], index[16];  /* for each frequency index */
  int sine[16], cosine[16]; /* columns */
  double at[3][40];         /* positions of the rows on each axis */
} example;

static void place_rows(example *s) {
  for (int r = 0; r < s->problem.rows; r++)
    for (int a = 0; a < s->axes.count; a++) {
      const posenc_axis *axis = &s->axes.axis[a];
      int64_t n = s->problem.first + r;
      while (n < 0) n += axis->stride * axis->size;
      const int64_t coordinate = n / axis->stride % axis->size;
      s->at[a][r] = axis->positions ? axis->positions[coordinate] : (double)coordinate;
    }
}

/* MAE: 3 rows of 5 patches after a row of zeros; the columns of the width first, each axis [sines cosines]. */
static example mae(void) {
  const int64_t sizes[] = {3, 5};
  example s = {.name = "mae",
               .problem = posenc_table(16, 16),
               .axes = posenc_grid(2, sizes, 16),
               .axis = {0, 0, 0, 0, 1, 1, 1, 1},
               .index = {0, 1, 2, 3, 0, 1, 2, 3},
               .sine = {0, 1, 2, 3, 8, 9, 10, 11},
               .cosine = {4, 5, 6, 7, 12, 13, 14, 15}};
  const posenc_axis height = s.axes.axis[0];
  s.axes.axis[0] = s.axes.axis[1];
  s.axes.axis[1] = height;
  s.axes.grouped = true;
  s.problem.first = s.problem.padding = -1;
  s.problem.layout = POSENC_SPLIT;
  return s;
}

/* DINOv3: centres of patches from -1 to 1, height first, base 100, factor 2 pi; two of its rope tables side by side. */
static example dino(void) {
  static const double heights[] = {-2, 0, 2}, widths[] = {-4, -2, 0, 2, 4};
  const int64_t sizes[] = {3, 5};
  example s = {.name = "dino",
               .problem = posenc_table(15, 8),
               .axes = posenc_grid(2, sizes, 8),
               .axis = {0, 0, 1, 1},
               .index = {0, 1, 0, 1},
               .sine = {4, 5, 6, 7},
               .cosine = {0, 1, 2, 3}};
  s.problem.layout = POSENC_SPLIT_CS;
  s.problem.base = 100.0;
  s.problem.scale = 0x1.921fb54442d18p+2;
  s.axes.axis[0].positions = heights;
  s.axes.axis[0].divisor = 3.0;
  s.axes.axis[1].positions = widths;
  s.axes.axis[1].divisor = 5.0;
  return s;
}

static const double times[] = {0, 1, 2, 2, 2, 2, 2, 2, 4, 5}, heights[] = {0, 1, 2, 2, 2, 3, 3, 3, 4, 5},
                    widths[] = {0, 1, 2, 3, 4, 2, 3, 4, 4, 5};

/* M-RoPE: text, a picture of 2 rows of 3 patches, text, with a position of time, height and width for each token. */
static example mrope(const char *name, int64_t dim) {
  example s = {.name = name, .problem = posenc_table(10, dim), .whole = true};
  const double *const lists[] = {times, heights, widths};
  s.axes = posenc_grid(3, (const int64_t[]){10, 10, 10}, dim);
  s.axes.frequencies = POSENC_AXES_CONTINUED;
  s.problem.base = 1e6;
  for (int a = 0; a < 3; a++) {
    s.axes.axis[a].stride = 1;
    s.axes.axis[a].positions = lists[a];
  }
  return s;
}

/* Qwen2-VL: axes in sections. */
static example chunked(void) {
  example s = mrope("chunked", 16);
  static const int axis[] = {0, 0, 1, 1, 1, 2, 2, 2}, pairs[] = {2, 3, 3};
  for (int a = 0; a < 3; a++) s.axes.axis[a].pairs = pairs[a];
  for (int j = 0; j < 8; j++) {
    s.axis[j] = axis[j];
    s.index[j] = j;
    s.sine[j] = 2 * j;
    s.cosine[j] = 2 * j + 1;
  }
  return s;
}

/* Qwen3-VL: axes in turn; the first has the remaining frequencies. */
static example cyclic(void) {
  example s = mrope("cyclic", 22);
  static const int axis[] = {0, 1, 2, 0, 1, 2, 0, 1, 0, 0, 0}, pairs[] = {6, 3, 2};
  s.axes.order = POSENC_AXES_CYCLIC;
  s.problem.layout = POSENC_SPLIT;
  s.problem.dtype = POSENC_BF16;
  s.problem.scaling = (posenc_scaling){
      .kind = POSENC_SCALING_YARN, .factor = 4.0, .original = 4096, .low = 1.0, .high = 32.0, .truncate = true};
  for (int a = 0; a < 3; a++) s.axes.axis[a].pairs = pairs[a];
  for (int j = 0; j < 11; j++) {
    s.axis[j] = axis[j];
    s.index[j] = j;
    s.sine[j] = j;
    s.cosine[j] = 11 + j;
  }
  return s;
}

/* Pixtral: heights have the even frequencies, widths the odd ones. */
static example dealt(void) {
  const int64_t sizes[] = {4, 3};
  example s = {.name = "dealt",
               .problem = posenc_table(12, 12),
               .axes = posenc_grid(2, sizes, 12),
               .whole = true,
               .axis = {0, 0, 0, 1, 1, 1},
               .index = {0, 2, 4, 1, 3, 5},
               .sine = {1, 3, 5, 7, 9, 11},
               .cosine = {0, 2, 4, 6, 8, 10}};
  s.problem.layout = POSENC_INTERLEAVED_CS;
  s.problem.dtype = POSENC_F64;
  s.axes.frequencies = POSENC_AXES_DEALT;
  return s;
}

/* A video of 2 pictures, in a table of sines and cosines in turn; time has the first third of the columns. */
static example video(void) {
  const int64_t sizes[] = {2, 2, 3};
  example s = {.name = "video",
               .problem = posenc_table(14, 12),
               .axes = posenc_grid(3, sizes, 12),
               .axis = {0, 0, 1, 1, 2, 2},
               .index = {0, 1, 0, 1, 0, 1},
               .sine = {0, 2, 4, 6, 8, 10},
               .cosine = {1, 3, 5, 7, 9, 11}};
  s.problem.dtype = POSENC_F16;
  s.problem.first = -3; /* the first place follows the last one */
  return s;
}

static example (*const examples[])(void) = {mae, dino, chunked, cyclic, dealt, video};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static example example_of(int n) {
  example s = examples[n]();
  place_rows(&s);
  return s;
}

/* ---- columns of plain tables --------------------------------------------------------------------- */

/* Returns the plain table of an axis, as a list with the positions of all rows. */
static posenc_problem plain_of(const example *s, int axis) {
  posenc_problem plain = s->problem;
  plain.axes = NULL;
  plain.first = 0;
  plain.padding = POSENC_NO_PADDING;
  plain.layout = POSENC_INTERLEAVED;
  plain.positions = s->at[axis];
  if (!s->whole) plain.dim = 2 * s->axes.axis[axis].pairs;
  if (s->axes.axis[axis].divisor > 1.0) {
    plain.scaling.kind = POSENC_SCALING_LINEAR;
    plain.scaling.factor = s->axes.axis[axis].divisor;
  }
  return plain;
}

static bool is_padding(const example *s, int64_t row) {
  return s->problem.first + row == s->problem.padding;
}

/* Counts the elements of the axis that differ from those of the plain table. */
static int count_other(const example *s, int axis, const char *got, const char *plain, int64_t plain_dim) {
  const size_t bytes = posenc_dtype_bytes(s->problem.dtype);
  int other = 0;
  for (int64_t row = 0; row < s->problem.rows; row++)
    for (int j = 0; j < s->problem.dim / 2; j++)
      for (int cosine = 0; cosine < 2; cosine++) {
        if (s->axis[j] != axis || is_padding(s, row)) continue;
        const int64_t column = cosine ? s->cosine[j] : s->sine[j];
        other += memcmp(got + (size_t)(row * s->problem.dim + column) * bytes,
                        plain + (size_t)(row * plain_dim + 2 * s->index[j] + cosine) * bytes, bytes) != 0;
      }
  return other;
}

static int count_nonzero(const example *s, const char *got) {
  const size_t bytes = (size_t)s->problem.dim * posenc_dtype_bytes(s->problem.dtype);
  int others = 0;
  for (int64_t row = 0; row < s->problem.rows; row++)
    for (size_t at = 0; at < bytes && is_padding(s, row); at++) others += got[(size_t)row * bytes + at] != 0;
  return others;
}

static void test_columns(const posenc_kernel *kernel) {
  static _Alignas(64) char got[8 * MOST], plain[8 * MOST];
  for (int n = 0; n < EXAMPLES; n++) {
    example s = example_of(n);
    s.problem.axes = &s.axes;
    const char *refusal = posenc_kernel_refusal(kernel, &s.problem, NULL);
    char what[80];
    snprintf(what, sizeof what, "%s, %s: each column is one of a plain table", kernel->name, s.name);
    for (int a = 0; a < s.axes.count && !refusal; a++) {
      const posenc_problem of_axis = plain_of(&s, a);
      refusal = posenc_kernel_refusal(kernel, &of_axis, NULL);
    }
    if (refusal) {
      skip(what, refusal);
      continue;
    }
    bool made = make_table(kernel, &s.problem, got);
    int other = count_nonzero(&s, got);
    for (int a = 0; a < s.axes.count && made; a++) {
      const posenc_problem of_axis = plain_of(&s, a);
      made = make_table(kernel, &of_axis, plain);
      other += count_other(&s, a, got, plain, of_axis.dim);
    }
    ok(made && (other == 0 || !kernel->reproducible), "%s", what);
  }
}

/* ---- exact values -------------------------------------------------------------------------------- */

/* Returns sin or cos of scale × position / divisor × base^(-index/denominator), in long double, with 11 more bits than
   double. */
static long double exact_of(const example *s, int64_t row, int j, bool cosine) {
  const posenc_axis *axis = &s->axes.axis[s->axis[j]];
  const double denominator = s->whole ? (double)s->problem.dim / 2 : (double)axis->pairs;
  const long double w = powl((long double)s->problem.base, -(long double)s->index[j] / (long double)denominator),
                    angle = (long double)s->problem.scale * (long double)s->at[s->axis[j]][row] /
                            (long double)axis->divisor * w;
  return cosine ? cosl(angle) : sinl(angle);
}

/* Tests the default in f64: it is within an ulp of 1 of the long double. */
static void test_values(void) {
  static double got[MOST];
  const volatile long double one = 1.0L;
  const bool is_short = one + 0x1p-60L == one;
  for (int n = 0; n < EXAMPLES; n++) {
    example s = example_of(n);
    double worst = 0.0;
    s.problem.axes = &s.axes;
    s.problem.dtype = POSENC_F64;
    s.problem.scaling = posenc_table(1, 2).scaling;
    const bool made = make_table(NULL, &s.problem, got);
    for (int64_t row = 0; row < s.problem.rows; row++)
      for (int j = 0; j < s.problem.dim / 2; j++)
        for (int cosine = 0; cosine < 2 && !is_padding(&s, row); cosine++)
          worst = fmax(worst, fabs((double)((long double)got[row * s.problem.dim + (cosine ? s.cosine[j] : s.sine[j])] -
                                            exact_of(&s, row, j, cosine))));
    if (made && is_short)
      skip("the values of a table", "long double has the precision of double here, as under valgrind");
    else
      ok(made && worst < 0x1p-52, "%s: within %g of the formula", s.name, worst);
  }
}

/* ---- operations ---------------------------------------------------------------------------------- */

/* Tests any rows, in pieces, and add, rope and rope caches, which are made from the rows of the table. */
static void test_rows(void) {
  static float whole[MOST], pieces[MOST], x[MOST], out[MOST], cosines[MOST], sines[MOST];
  example s = example_of(2);
  s.problem.axes = &s.axes;
  s.problem.layout = POSENC_SPLIT_CS;
  const int64_t rows = s.problem.rows, dim = s.problem.dim, half = dim / 2;
  posenc_plan *plan = plan_by(NULL, &s.problem);
  posenc_execute(plan, 0, rows, whole);
  const posenc_axes *copy = posenc_plan_problem(plan)->axes;
  const bool copied =
      copy != &s.axes && copy->axis[0].positions != times && memcmp(copy->axis[0].positions, times, sizeof times) == 0;
  s.axes.axis[0].positions = widths;
  posenc_execute(plan, 0, 3, pieces);
  posenc_execute(plan, 3, rows - 3, pieces + 3 * dim);
  posenc_plan_destroy(plan);
  s.axes.axis[0].positions = times;
  ok(memcmp(whole, pieces, (size_t)(rows * dim) * sizeof *whole) == 0, "rows in pieces");
  ok(copied, "a plan has lists of its own");

  s.problem.op = POSENC_ROPE_CACHE;
  s.problem.layout = POSENC_SPLIT;
  plan = plan_by(NULL, &s.problem);
  bool same = posenc_rope_cache(plan, 0, rows, cosines, sines) == POSENC_OK;
  posenc_plan_destroy(plan);
  for (int64_t r = 0; r < rows; r++)
    same &= memcmp(cosines + r * half, whole + r * dim, (size_t)half * sizeof *whole) == 0 &&
            memcmp(sines + r * half, whole + r * dim + half, (size_t)half * sizeof *whole) == 0;
  ok(same, "a rope cache of axes");

  for (int64_t n = 0; n < rows * dim; n++) x[n] = (float)(n % 7) - 3.0f;
  const posenc_slice slice = posenc_rows(0, rows);
  s.problem.op = POSENC_ROPE;
  same = apply_rows(NULL, &s.problem, &slice, x, out);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < half; j++) {
      const double c = whole[r * dim + j], sine = whole[r * dim + half + j], a = x[r * dim + j],
                   b = x[r * dim + half + j];
      same &= fabs(out[r * dim + j] - (a * c - b * sine)) <= 1e-6 &&
              fabs(out[r * dim + half + j] - (a * sine + b * c)) <= 1e-6;
    }
  ok(same, "rope of axes");
  s.problem.op = POSENC_ADD;
  s.problem.layout = POSENC_SPLIT_CS;
  same = apply_rows(NULL, &s.problem, &slice, x, out);
  for (int64_t n = 0; n < rows * dim; n++) same &= out[n] == x[n] + whole[n];
  ok(same, "add of axes");
}

/* Tests rope of axes that have their columns side by side, with pairs of their own, as a table has them. */
static void test_grouped_rope(void) {
  enum { ROWS = 15, DIM = 16, HEADS = 2 };
  static const int64_t pairs[] = {3, 5};
  static float table[ROWS * DIM], x[ROWS * HEADS * DIM], out[ROWS * HEADS * DIM];
  posenc_axes axes = posenc_grid(2, (const int64_t[]){3, 5}, DIM);
  for (int a = 0; a < 2; a++) axes.axis[a].pairs = pairs[a];
  axes.grouped = true;
  posenc_problem of_table = posenc_table(ROWS, DIM), problem = posenc_rope(ROWS, HEADS, DIM);
  of_table.layout = POSENC_SPLIT_CS;
  of_table.axes = problem.axes = &axes;
  problem.layout = POSENC_SPLIT;
  posenc_plan *plan = plan_by(NULL, &of_table);
  bool same = posenc_execute(plan, 0, ROWS, table) == POSENC_OK;
  posenc_plan_destroy(plan);
  for (size_t n = 0; n < sizeof x / sizeof *x; n++) x[n] = (float)(n % 7) - 3.0f;
  const posenc_slice slice = posenc_rows(0, ROWS);
  same &= apply_rows(NULL, &problem, &slice, x, out);
  for (int64_t n = 0; n < ROWS * HEADS; n++)
    for (int64_t a = 0, begin = 0; a < 2; begin += 2 * pairs[a], a++)
      for (int64_t j = begin; j < begin + pairs[a]; j++) {
        const float *row = table + n / HEADS * DIM, *from = x + n * DIM, *to = out + n * DIM;
        const double c = row[j], sine = row[j + pairs[a]], first = from[j], second = from[j + pairs[a]];
        same &= fabs(to[j] - (first * c - second * sine)) <= 1e-6 &&
                fabs(to[j + pairs[a]] - (first * sine + second * c)) <= 1e-6;
      }
  ok(same, "rope of grouped axes");
}

/* Tests both tables of a rope cache of such axes: angles are there once, or twice in the columns of their axis. */
static void test_grouped_cache(void) {
  enum { ROWS = 15, DIM = 16, PAIRS = DIM / 2 };
  static const int64_t pairs[] = {3, 5};
  static const posenc_layout layouts[] = {POSENC_DUPLICATED, POSENC_INTERLEAVED, POSENC_SPLIT};
  static float table[ROWS * DIM], cosines[ROWS * DIM], sines[ROWS * DIM];
  posenc_axes axes = posenc_grid(2, (const int64_t[]){3, 5}, DIM);
  for (int a = 0; a < 2; a++) axes.axis[a].pairs = pairs[a];
  posenc_problem of_table = posenc_table(ROWS, DIM), problem = posenc_table(ROWS, DIM);
  of_table.layout = POSENC_SPLIT_CS;
  of_table.axes = &axes;
  posenc_plan *plan = plan_by(NULL, &of_table);
  bool same = posenc_execute(plan, 0, ROWS, table) == POSENC_OK;
  posenc_plan_destroy(plan);
  posenc_axes grouped = axes;
  grouped.grouped = true;
  problem.op = POSENC_ROPE_CACHE;
  problem.axes = &grouped;
  for (int n = 0; n < 3; n++) {
    problem.layout = layouts[n];
    plan = plan_by(NULL, &problem);
    same &= posenc_rope_cache(plan, 0, ROWS, cosines, sines) == POSENC_OK;
    posenc_plan_destroy(plan);
    const int64_t width = layouts[n] == POSENC_SPLIT ? PAIRS : DIM;
    for (int64_t r = 0; r < ROWS; r++)
      for (int64_t c = 0; c < width; c++) {
        const int64_t in_axis = c < 2 * pairs[0] ? c % pairs[0] : pairs[0] + (c - 2 * pairs[0]) % pairs[1],
                      of_axis[] = {in_axis, c / 2, c}, i = of_axis[n];
        same &= memcmp(&cosines[r * width + c], &table[r * DIM + i], sizeof *table) == 0 &&
                memcmp(&sines[r * width + c], &table[r * DIM + PAIRS + i], sizeof *table) == 0;
      }
  }
  ok(same, "a rope cache of grouped axes");
}

/* ---- refusals ------------------------------------------------------------------------------------ */

static void refuses(const char *reason, const posenc_problem *problem, const posenc_axes *axes) {
  posenc_problem bad = *problem;
  bad.axes = axes;
  const char *why = posenc_problem_refusal(&bad);
  ok(why && strstr(why, reason), "refused: %s", why ? why : "no");
}

static void test_refusals(void) {
  const int64_t sizes[] = {3, 5};
  const double nan_list[] = {NAN, 1, 2};
  posenc_problem problem = posenc_table(15, 16), other;
  const posenc_axes good = posenc_grid(2, sizes, 16);
  posenc_axes bad;
#define BAD(reason, field, value)                                                                                      \
  bad = good;                                                                                                          \
  bad.field = value;                                                                                                   \
  refuses(reason, &problem, &bad)
  BAD("unknown size", size, 8);
  BAD("1 to 4", count, 0);
  BAD("1 to 4", count, 5);
  BAD("unknown order", order, (posenc_axis_order)2);
  BAD("unknown frequencies", frequencies, (posenc_axis_frequencies)3);
  BAD("at least one pair", axis[1].pairs, 0);
  BAD("dim/2 together", axis[1].pairs, 3);
  BAD("dim/2 together", count, 1);
  BAD("size and stride", axis[0].size, 0);
  BAD("size and stride", axis[0].stride, 0);
  /* Modulo 2^64 the product of the last two is 2^61, a valid stride. */
  const int64_t huge[] = {2, INT64_C(3) << 61, 3}, fitting[] = {2, INT64_MAX / 3, 3};
  posenc_axes grid = posenc_grid(3, huge, 6);
  const posenc_problem six = posenc_table(15, 6);
  ok(grid.axis[0].stride == 0 && grid.axis[1].stride == 3, "a stride that overflows is 0");
  refuses("size and stride", &six, &grid);
  grid = posenc_grid(3, fitting, 6);
  ok(grid.axis[0].stride == INT64_MAX / 3 * 3, "the largest stride is kept");
  grid = posenc_grid(2, (const int64_t[]){2, -3}, 6);
  ok(grid.axis[0].stride == 0 && grid.axis[1].size == -3, "sizes below 1 are kept, without a stride");
  refuses("size and stride", &six, &grid);
  refuses("1 to 4", &six, (grid = posenc_grid(0, sizes, 6), &grid));
  refuses("1 to 4", &six, (grid = posenc_grid(INT32_MAX, (const int64_t[POSENC_AXES]){1, 1, 1, 1}, 6), &grid));
  BAD("divisor", axis[0].divisor, 0.5);
  BAD("divisor", axis[0].divisor, NAN);
  BAD("positions must be", axis[0].positions, nan_list);
#undef BAD
  bad = good;
  bad.axis[0].pairs = 3;
  bad.axis[1].pairs = 5;
  bad.order = POSENC_AXES_CYCLIC;
  refuses("turns of the cycle", &problem, &bad);
  bad.order = POSENC_AXES_CHUNKED;
  bad.frequencies = POSENC_AXES_DEALT;
  refuses("equal numbers", &problem, &bad);
  bad = good;
  bad.grouped = true;
  bad.order = POSENC_AXES_CYCLIC;
  refuses("not grouped", &problem, &bad);
  bad.order = POSENC_AXES_CHUNKED;
  other = problem;
  other.positions = times;
  other.rows = 10;
  refuses("list of positions", &other, &good);
  other = posenc_table(15, 15);
  other.odd = POSENC_ODD_PAD;
  refuses("even dim", &other, &good);
  other = problem;
  other.scaling = posenc_scaling_linear(2.0);
  bad = good;
  bad.axis[1].divisor = 2.0;
  refuses("no scaling", &other, &bad);
  other.axes = &good;
  posenc_encoder *encoder;
  ok(posenc_encoder_create(&encoder, &other, NULL) == POSENC_BAD_ARGUMENT, "no encoder of axes");
}

int main(void) {
  each_kernel(test_columns);
  test_values();
  test_rows();
  test_grouped_rope();
  test_grouped_cache();
  test_refusals();
  return tap_done();
}
