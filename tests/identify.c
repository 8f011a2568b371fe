/* SPDX-License-Identifier: MIT */
/* Tests identify on known tables: every recipe in all bases, layouts and dtypes; and on other files. It takes half a
   minute: all of these are identified. */
#include "tests/identify.h"
#include "verify/file-exams.h"

/* ---- comparison with the file -------------------------------------------------------------------- */

/* Whether this kernel writes the same file. */
static bool writes_same(const wanted *w, const posenc_kernel *kernel, const file *made) {
  wanted other = *w;
  other.kernel = kernel;
  const file again = file_wanted(&other);
  const bool same = again.size == made->size && memcmp(again.bytes, made->bytes, made->size) == 0;
  free(again.bytes);
  return same;
}

/* Returns null, or what is wrong: all recipes that fit equally well must make the same table, except the sign of 0. */
static const char *wrong_makers(const wanted *w, const identity *found, const file *made) {
  bool named = false;
  for (size_t n = 0; n < found->match_count && found->matches[n].closest; n++) {
    named |= found->matches[n].kernel == w->kernel;
    if (!writes_same(w, found->matches[n].kernel, made)) return "a maker of other bits ties";
  }
  if (!named) return "the maker is not named";
  return found->matches[0].equal == found->matches[0].compared ? NULL : "it says that bits differ";
}

/* Returns the dtype of the values. A table that was computed in bf16 has its values in an f32 file, too. */
static posenc_dtype held_of(const wanted *w) {
  return w->kernel && strcmp(w->kernel->name, "recipe/all-bf16") == 0 && w->dtype == POSENC_F32 ? POSENC_BF16
                                                                                                : w->dtype;
}

static const char *wrong(const wanted *w, const identity *found, const file *made) {
  const formula *f = &found->how.formula;
  if (found->verdict != IDENTIFY_TABLE) return found->reason;
  if (found->how.columns.layout != w->layout || found->how.columns.part != w->part) return "layout";
  if (!near(f->base, w->base)) return "base";
  if (!near(f->shift + 1.0, w->shift + 1.0)) return "shift";
  if (!near(f->scale, w->scale)) return "scale";
  if (f->scaling.kind != w->scaling.kind) return "scaling";
  if (w->scaling.kind != POSENC_SCALING_NONE &&
      (!near(f->scaling.factor, w->scaling.factor) || f->scaling.original != w->scaling.original))
    return "factor of the scaling";
  if (found->how.start.least != w->first || found->how.start.most != w->first) return "first position";
  if (found->stored != w->stored || found->held != held_of(w)) return "dtype";
  if (fabs(found->how.amplitude - w->amplitude) > 1e-6) return "amplitude";
  if (found->paddings != (w->padding >= 0)) return "padding rows";
  if (w->padding >= 0 && found->padding != w->first + w->padding) return "padding";
  return wrong_makers(w, found, made);
}

static bool is_right(const wanted *w) {
  const file made = file_wanted(w);
  identity *found = identified(&made);
  const char *what = wrong(w, found, &made);
  if (what) {
    char *sentence = identity_sentence(found);
    printf("# %s base %g shift %g first %" PRId64 " %" PRId64 "x%" PRId64
           " layout %d part %d dtype %d in %d times %g: %s; %s\n",
           w->kernel ? w->kernel->name : "exact", w->base, w->shift, w->first, w->rows, dim_of(w), (int)w->layout,
           (int)w->part, (int)w->dtype, (int)w->stored, w->amplitude, what, sentence);
    free(sentence);
  }
  identity_free(found);
  free(made.bytes);
  return !what;
}

/* ---- every recipe -------------------------------------------------------------------------------- */

static const arrangement_of_test places[] = {
    {POSENC_INTERLEAVED, TABLE_BOTH}, {POSENC_INTERLEAVED_CS, TABLE_BOTH}, {POSENC_SPLIT, TABLE_BOTH},
    {POSENC_SPLIT_CS, TABLE_BOTH},    {POSENC_DUPLICATED, TABLE_COS},      {POSENC_DUPLICATED, TABLE_SIN},
    {POSENC_INTERLEAVED, TABLE_COS},  {POSENC_INTERLEAVED, TABLE_SIN},     {POSENC_SPLIT, TABLE_COS},
    {POSENC_SPLIT, TABLE_SIN},
};

/* The dtype of the values, and that of the file. */
static const posenc_dtype dtypes[][2] = {{POSENC_F32, POSENC_F32},
                                         {POSENC_F16, POSENC_F16},
                                         {POSENC_BF16, POSENC_BF16},
                                         {POSENC_F32, POSENC_F64},
                                         {POSENC_BF16, POSENC_F32}};
static const double bases[] = {1e4, 5e5, 1e6};
enum {
  PLACES = sizeof places / sizeof *places,
  DTYPES = sizeof dtypes / sizeof *dtypes,
  BASES = sizeof bases / sizeof *bases
};

/* Varies offset and size in turn. */
static void vary(wanted *w, size_t n) {
  static const int64_t firsts[] = {0, 1, 17, 4096};
  static const int64_t sizes[][2] = {{256, 32}, {128, 64}, {300, 64}};
  w->first = firsts[n % 4];
  w->rows = sizes[n % 3][0];
  w->pairs = sizes[n % 3][1];
}

/* The number of recipes that write tables of axes only, which tests/grid.sh checks. */
static int of_axes;

static void test_recipe(const posenc_kernel *kernel, size_t number) {
  int tables = 0, right = 0;
  for (double shift = 0.0; shift < 1.5; shift += 1.0)
    for (size_t b = 0; b < BASES; b++)
      for (size_t p = 0; p < PLACES; p++)
        for (size_t d = 0; d < DTYPES; d++) {
          if (d + 2 >= DTYPES && (b + p + d) % 2) continue; /* wider ones in turn */
          if (is_left_out(b + p + d + (size_t)shift)) continue;
          wanted w = plain(kernel, 0, 2);
          w.base = bases[b];
          w.shift = shift;
          w.layout = places[p].layout;
          w.part = places[p].part;
          w.dtype = dtypes[d][0];
          w.stored = dtypes[d][1];
          vary(&w, number + b + p + 3 * d + (size_t)shift);
          const posenc_problem problem = problem_of(&w);
          if (kernel && posenc_kernel_refusal(kernel, &problem, NULL)) continue;
          tables++;
          right += is_right(&w);
        }
  if (kernel && tables == 0) {
    of_axes++;
    return;
  }
  ok(tables >= (is_emulated() ? 20 : 120) && right == tables, "%s: %d of %d tables", kernel ? kernel->name : "exact",
     right, tables);
}

/* ---- others -------------------------------------------------------------------------------------- */

static const posenc_kernel *recipe(const char *name) {
  size_t count;
  const posenc_kernel *const *kernels = recipes_kernels(&count);
  for (size_t k = 0; k < count; k++)
    if (strcmp(kernels[k]->name + strlen("recipe/"), name) == 0) return kernels[k];
  abort();
}

/* Tests a learned scale, a padding row, few columns and many, an unusual base, and large positions. */
static void test_variants(void) {
  for (size_t d = 0; d < 3; d++)
    for (size_t p = 0; p < PLACES; p += 2) {
      wanted w = plain(recipe("annotated"), 200, 32);
      w.layout = places[p].layout;
      w.part = places[p].part;
      w.dtype = w.stored = dtypes[d][0];
      w.amplitude = 0.7;
      ok(is_right(&w), "times 0.7, %d in layout %d", (int)w.dtype, (int)w.layout);
      w.amplitude = 1.0;
      w.padding = 1;
      ok(is_right(&w), "a padding row, %d in layout %d", (int)w.dtype, (int)w.layout);
      w.padding = 77;
      w.first = 5;
      ok(is_right(&w), "in another place, %d in layout %d", (int)w.dtype, (int)w.layout);
    }
  static const struct {
    const char *what, *recipe;
    int64_t rows, pairs, first;
    double base;
    posenc_dtype dtype;
  } others[] = {
      {"four columns", "hf-rope", 64, 2, 0, 1e4, POSENC_F32},
      {"two columns", NULL, 300, 1, 0, 1e4, POSENC_F32},
      {"two columns from 17 on", NULL, 300, 1, 17, 1e4, POSENC_F32},
      {"base 1", NULL, 300, 8, 0, 1.0, POSENC_F32},
      {"eight rows", "hf-rope", 8, 64, 0, 1e4, POSENC_F32},
      {"2048 columns", NULL, 64, 1024, 0, 1e4, POSENC_F32},
      {"base 12345.678", NULL, 300, 64, 0, 12345.678, POSENC_F32},
      {"the base for 512 positions", NULL, 300, 64, 0, 10.0 * 512.0 / 6.283185307179586, POSENC_F32},
      {"base 814.87 in f16", NULL, 300, 64, 0, 814.87, POSENC_F16},
      {"positions from -100 on", NULL, 256, 64, -100, 1e4, POSENC_F32},
      {"positions from 2^40 on", NULL, 256, 64, INT64_C(1) << 40, 1e4, POSENC_F32},
      {"positions from -2^30 on", NULL, 256, 64, -(INT64_C(1) << 30), 1e4, POSENC_F32},
  };
  for (size_t n = 0; n < sizeof others / sizeof *others; n++) {
    wanted w = plain(others[n].recipe ? recipe(others[n].recipe) : NULL, others[n].rows, others[n].pairs);
    w.first = others[n].first;
    w.base = others[n].base;
    w.dtype = w.stored = others[n].dtype;
    ok(is_right(&w), "%s", others[n].what);
  }
  wanted w = plain(NULL, 256, 64);
  for (int64_t first = 100000; first < INT64_C(1) << 41; first *= 97) {
    w.first = first;
    ok(is_right(&w), "positions from %" PRId64 " on", first);
  }
  w = plain(recipe("fairseq"), 1026, 256);
  w.shift = 1.0;
  w.layout = POSENC_SPLIT;
  w.padding = 1;
  ok(is_right(&w), "fairseq's table");
}

/* Tests that scales and scalings are found. */
static void test_scaled(void) {
  static const struct {
    posenc_scaling_kind kind;
    double factor, low, high;
    int64_t original;
    double base;
  } rows[] = {{POSENC_SCALING_LLAMA3, 8.0, 1.0, 4.0, 8192, 5e5},
              {POSENC_SCALING_LLAMA3, 32.0, 1.0, 4.0, 8192, 5e5},
              {POSENC_SCALING_YARN, 4.0, 1.0, 32.0, 4096, 1e4},
              {POSENC_SCALING_YARN, 4.0, 1.0, 32.0, 32768, 1e6}};
  static const double scales[] = {0.5, 0.25, 0.125, 1.0 / 3.0};
  for (size_t n = 0; n < sizeof scales / sizeof *scales; n++) {
    wanted w = plain(NULL, 400, 64);
    w.scale = scales[n];
    w.first = 12;
    ok(is_right(&w), "scale %.3g", scales[n]);
  }
  for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
    wanted w = plain(NULL, 1000, 64);
    w.base = rows[n].base;
    w.layout = POSENC_SPLIT_CS;
    w.scaling.kind = rows[n].kind;
    w.scaling.factor = rows[n].factor;
    w.scaling.low = rows[n].low;
    w.scaling.high = rows[n].high;
    w.scaling.original = rows[n].original;
    w.scaling.attention = 1.0;
    ok(is_right(&w), "scaling %d by %g", (int)rows[n].kind, rows[n].factor);
  }
}

static bool verdict_is(const double *values, int64_t rows, int64_t dim, identify_verdict verdict) {
  bool right = true;
  for (size_t d = 0; d < DTYPES; d++) {
    const file made = file_of(values, rows, dim, dtypes[d][0]);
    identity *found = identified(&made);
    tables_none += verdict != IDENTIFY_TABLE;
    right = right && found->verdict == verdict && (verdict == IDENTIFY_TABLE || *found->reason);
    if (found->verdict != verdict) printf("# %d: %s\n", (int)found->verdict, identity_sentence(found));
    identity_free(found);
    free(made.bytes);
  }
  return right;
}

/* Fills `dim` columns with VALUE, of element n, row p and column c, and tests the verdict. */
#define VERDICT(what, verdict, dim, VALUE)                                                                             \
  do {                                                                                                                 \
    for (int n = 0; n < ROWS * (dim); n++) {                                                                           \
      const int p = n / (dim), c = n % (dim);                                                                          \
      (void)p, (void)c;                                                                                                \
      values[n] = VALUE;                                                                                               \
    }                                                                                                                  \
    ok(verdict_is(values, ROWS, dim, verdict), "%s", what);                                                            \
  } while (0)

static double wave(int cosine, double angle) {
  return cosine ? cos(angle) : sin(angle);
}

/* Tests files without a table, for which nothing may be found. */
static void test_others(void) {
  enum { ROWS = 200, DIM = 64 };
  const double turn = 6.283185307179586;
  double *values = memory_take(ROWS * DIM, sizeof *values), angle = 0.0;
  uint64_t state = 1;
  VERDICT("zeros", IDENTIFY_NO_TABLE, DIM, 0.0);
  VERDICT("the same everywhere", IDENTIFY_NO_TABLE, DIM, 0.5);
  VERDICT("the same row again and again", IDENTIFY_NO_TABLE, DIM, cos(c));
  VERDICT("noise", IDENTIFY_NO_TABLE, DIM, 2.0 * uniform(&state) - 1.0);
  VERDICT("normal noise, as learned embeddings begin", IDENTIFY_NO_TABLE, DIM, 0.02 * normal(&state));
  VERDICT("pairs of random angles", IDENTIFY_NO_TABLE, DIM,
          wave(n % 2, angle = n % 2 ? angle : turn * uniform(&state)));
  VERDICT("the position in all columns", IDENTIFY_NO_TABLE, DIM, p);
  VERDICT("the bits of the position", IDENTIFY_NO_TABLE, DIM, p >> c % 16 & 1);
  VERDICT("biases that are linear in the distance", IDENTIFY_NO_TABLE, DIM, -fabs(p - 50.0) * exp2(-8.0 * c / DIM));

  wanted w = plain(NULL, 3, 32);
  for (; w.rows > 0; w.rows--) {
    const file made = file_wanted(&w);
    identity *found = identified(&made);
    ok(found->verdict == IDENTIFY_FEW, "%d rows are too few", (int)w.rows);
    identity_free(found);
    free(made.bytes);
  }
  /* Waves of unusual frequencies. */
  VERDICT("pairs that turn as nobody's do", IDENTIFY_BENT, DIM, wave(n % 2, p * (0.05 + 0.9 * fabs(sin(c / 2 + 1)))));
  VERDICT("one frequency that is not 1", IDENTIFY_BENT, 2, wave(n % 2, 0.356 * p));
  static const double two[][2] = {{0.356, 0.1294}, {6.283185307179586 / 24, 6.283185307179586 / 365}, {1.0, 0.1294}};
  for (size_t t = 0; t < sizeof two / sizeof *two; t++) {
    char what[100];
    snprintf(what, sizeof what, "frequencies %g and %g, which any base and scale would explain", two[t][0], two[t][1]);
    VERDICT(what, IDENTIFY_BENT, 4, wave(n % 2, p * two[t][c / 2]));
  }
  for (int n = 77; n < ROWS * DIM; n += 8 * DIM) values[n] = (double)NAN;
  ok(verdict_is(values, ROWS, DIM, IDENTIFY_NO_TABLE), "NaN in every eighth row");
  free(values);
}

/* Tests that the largest errors are those of verify_table. */
static void test_errors(void) {
  wanted w = plain(recipe("hf-rope"), 9000, 64);
  w.base = 5e5;
  w.dtype = w.stored = POSENC_BF16;
  const file made = file_wanted(&w);
  fault why;
  table_file *table = table_open_memory(made.bytes, made.size, NULL, TABLE_WHOLE, &why);
  posenc_problem problem = problem_of(&w);
  problem.layout = w.layout;
  problem.dtype = w.dtype;
  const table_request request = {.table = table, .name = "x", .problem = problem, .replay = "x"};
  file_result by_check = verify_table(&request);
  identity *found = identified(&made);
  const double checked = by_check.of.max_abs.abs;
  ok(found->verdict == IDENTIFY_TABLE && found->proved && fabs(found->max_abs - checked) <= 1e-15 &&
         found->elements == w.rows * dim_of(&w),
     "max %.17g from exact, as check finds: %.17g", found->max_abs, checked);
  ok(found->max_if_exact > 0.0 && found->max_if_exact <= 0x1p-9, "%.3g if each were rounded once", found->max_if_exact);
  ok(found->matches[0].compared == found->elements, "who made it is asked about every element");
  identity_free(found);
  record_release(&by_check.memory);
  table_close(table);
  free(made.bytes);
}

/* Tests the tutorials' recipe with another exp, some elements off by a unit: not its bits, but its formula. */
static void test_other_exp(void) {
  enum { ROWS = 1000, PAIRS = 64 };
  double *values = memory_take(ROWS * 2 * PAIRS, sizeof *values);
  for (int i = 0; i < PAIRS; i++) {
    const float slope = (float)(-log(1e4) / (2 * PAIRS)), best = expf((float)(2 * i) * slope);
    const float w = i % 3 ? best : nextafterf(best, 0.0F);
    for (int r = 0; r < ROWS; r++) {
      const float angle = (float)r * w;
      values[(r * PAIRS + i) * 2] = sin((double)angle);
      values[(r * PAIRS + i) * 2 + 1] = cos((double)angle);
    }
  }
  const file made = file_of(values, ROWS, 2 * PAIRS, POSENC_F32);
  identity *found = identified(&made);
  char *sentence = identity_sentence(found);
  ok(found->verdict == IDENTIFY_TABLE && strstr(sentence, "computed in f32 by code that is not known, ") == sentence &&
         strstr(sentence, " % of elements equal to those of annotated and the rest within ") &&
         !strstr(sentence, "rounded to f32"),
     "another exp: %s", sentence);
  free(sentence);
  identity_free(found);
  free(made.bytes);
  free(values);
}

/* Tests the powers of llama.cpp's step as an H100 computes them: the logarithm of the step is 1.1e-7 too large, within
   the 2^-22 that NVIDIA documents, so that each frequency is 7.7e-8 × i too large; and off by some units of f32. */
static void test_powers_of_gpu(void) {
  enum { ROWS = 4096, PAIRS = 64 };
  double *values = memory_take(ROWS * 2 * PAIRS, sizeof *values);
  const double step = pow(1e4, -1.0 / PAIRS) * (1.0 + 7.7e-8);
  for (int i = 0; i < PAIRS; i++)
    for (int r = 0; r < ROWS; r++) {
      const float angle = (float)r * (float)(pow(step, i) * (1.0 + 0x1p-23 * (double)(i * i % 5 - 2)));
      values[(r * PAIRS + i) * 2] = sin((double)angle);
      values[(r * PAIRS + i) * 2 + 1] = cos((double)angle);
    }
  const file made = file_of(values, ROWS, 2 * PAIRS, POSENC_F32);
  identity *found = identified(&made);
  char *sentence = identity_sentence(found);
  ok(found->verdict == IDENTIFY_TABLE &&
         strstr(sentence, "computed in f32 by code that is not known, base 10000, interleaved") == sentence,
     "powers of a GPU: %s", sentence);
  free(sentence);
  identity_free(found);
  free(made.bytes);
  free(values);
}

/* Tests a single changed element, and a row of NaN, which no table has. */
static void test_damage(void) {
  wanted w = plain(NULL, 1000, 32);
  double *halves = halves_of(&w), *values = arranged(&w, halves);
  values[100 * 64 + 5] += 0.5;
  for (int turn = 0; turn < 2; turn++) {
    const file made = file_of(values, w.rows, 64, POSENC_F32);
    identity *found = identified(&made);
    const maker *first = found->matches;
    ok(found->verdict == IDENTIFY_TABLE && near(found->how.formula.base, 1e4) && first && first->outliers == 1 &&
           first->outlier_row == 100 && first->outlier_column == 5 && first->within <= 0.0 &&
           found->not_finite == 64 * turn && identity_is_table(found) == (turn == 0),
       "a damaged element%s", turn ? ", and a row of NaN" : "");
    char *sentence = identity_sentence(found);
    ok(sentence && strstr(sentence, ", rounded to f32, bit for bit, except 1 element that is off by more than 0.01, "
                                    "the first at row 100, column 5; "),
       "is told: %s", sentence);
    free(sentence);
    identity_free(found);
    free(made.bytes);
    for (int c = 0; c < 64; c++) values[300 * 64 + c] = (double)NAN;
  }
  free(halves);
  free(values);
}

int main(int argc, char **argv) {
  unsetenv("POSENC_ISA");
  size_t count;
  const posenc_kernel *const *kernels = recipes_kernels(&count);
  for (size_t k = 0; k < count; k++)
    if (argc < 2 || strstr(kernels[k]->name, argv[1])) test_recipe(kernels[k], k);
  if (argc < 2 || strstr("exact", argv[1])) test_recipe(NULL, 0);
  if (argc < 2) {
    ok(of_axes == 2, "all recipes but diffusers-2d and dinov3 write tables of one axis");
    test_variants();
    test_scaled();
    test_others();
    test_errors();
    test_other_exp();
    test_powers_of_gpu();
    test_damage();
  }
  print_counts();
  return tap_done();
}
