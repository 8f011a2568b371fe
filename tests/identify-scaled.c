/* SPDX-License-Identifier: MIT */
/* Tests identify on scaled rope caches and tables, in every layout and dtype, computed exactly and in f32 as
   frameworks do. It takes half a minute: frequencies of any scaling are searched. */
#include "inspect/identify/formula.h"
#include "tests/identify.h"

/* ---- scalings ------------------------------------------------------------------------------------- */

enum { PAIRS = 32, ROWS = 640 };

static const double factors_of_decimals[PAIRS] = {
    1.08,  1.1,   1.13,  1.28,  1.31,  1.45,  1.45,  1.59,  1.98,  2.51,  3.02,  4.34,  5.95,  6.03,  7.12,  9.98,
    12.01, 14.23, 17.86, 20.44, 24.13, 28.11, 31.92, 35.01, 39.95, 44.44, 48.02, 51.01, 55.55, 58.98, 60.01, 64.31};

static double growing[PAIRS];

#define LLAMA3(by, from, least, most)                                                                                  \
  { POSENC_SCALING_LLAMA3, .factor = by, .original = from, .low = least, .high = most }
#define YARN(by, from, ...)                                                                                            \
  { POSENC_SCALING_YARN, .factor = by, .original = from, .low = 1.0, .high = 32.0, __VA_ARGS__ }

static const struct scaled {
  const char *name;
  double base, scale;
  posenc_scaling scaling;
} all[] = {
    {"none", 1e4, 1.0, {.factor = 1.0}},
    {"none, base 500000", 5e5, 1.0, {.factor = 1.0}},
    {"linear by 4", 1e4, 0.25, {.factor = 1.0}},
    {"linear by 3", 1e6, 1.0 / 3.0, {.factor = 1.0}},
    {"dynamic to twice the length", 1e4, 1.0, {POSENC_SCALING_DYNAMIC, 2.0, .original = 4096, .length = 8192.0}},
    {"dynamic to three times", 5e5, 1.0, {POSENC_SCALING_DYNAMIC, 2.0, .original = 2048, .length = 6144}},
    {"llama3 by 8", 5e5, 1.0, LLAMA3(8.0, 8192, 1.0, 4.0)},
    {"llama3 by 32", 5e5, 1.0, LLAMA3(32.0, 8192, 1.0, 4.0)},
    {"llama3 by 16", 5e5, 1.0, LLAMA3(16.0, 8192, 1.0, 4.0)},
    {"llama3 of another ramp", 5e5, 1.0, LLAMA3(8.0, 8192, 1.0, 8.0)},
    {"llama3 of a narrow ramp", 5e5, 1.0, LLAMA3(4.0, 4096, 1.0, 2.0)}, /* one frequency on the ramp */
    {"llama3 of a wide ramp from 2", 1e4, 1.0, LLAMA3(5.0, 6000, 2.0, 30.0)},
    {"llama3 by 2.5 from 1000", 1e6, 1.0, LLAMA3(2.5, 1000, 1.0, 5.0)},
    {"yarn by 4", 1e6, 1.0, YARN(4.0, 32768, .truncate = true)},
    {"yarn by 16", 1e4, 1.0, YARN(16.0, 4096, .truncate = true)},
    {"yarn by 32, not truncated", 150000.0, 1.0, YARN(32.0, 4096, .truncate = false)},
    {"yarn by 40, attention 1", 1e4, 1.0, YARN(40.0, 4096, .truncate = true, .attention = 1.0)},
    {"longrope of decimals", 1e4, 1.0, {POSENC_SCALING_LONGROPE, 32.0, 4096, .factors = factors_of_decimals}},
    {"longrope that grows", 1e4, 1.0, {POSENC_SCALING_LONGROPE, 1.0, 4096, .factors = growing}},
};

static const arrangement_of_test places[] = {
    {POSENC_INTERLEAVED, TABLE_BOTH}, {POSENC_SPLIT_CS, TABLE_BOTH},   {POSENC_DUPLICATED, TABLE_COS},
    {POSENC_DUPLICATED, TABLE_SIN},   {POSENC_INTERLEAVED, TABLE_COS}, {POSENC_INTERLEAVED, TABLE_SIN},
    {POSENC_SPLIT, TABLE_COS},        {POSENC_SPLIT, TABLE_SIN},
};
static const posenc_dtype dtypes[] = {POSENC_F64, POSENC_F32, POSENC_F16, POSENC_BF16};

/* ---- tables --------------------------------------------------------------------------------------- */

/* Computes as transformers does: f32 frequencies, f32 angles, and values multiplied by an f32. */
static double *halves_in_f32(const wanted *w) {
  posenc_problem problem = problem_of(w);
  const float attention = (float)posenc_attention(&problem);
  problem.dtype = POSENC_F64;
  problem.scaling.attention = 1.0;
  double *values = memory_take((size_t)(w->rows * problem.dim), sizeof *values);
  oracle *real = oracle_create(&problem);
  mpfr_t frequency;
  mpfr_init2(frequency, 80);
  for (int64_t i = 0; real && i < w->pairs; i++) {
    oracle_frequency(real, i, frequency);
    const float step = mpfr_get_flt(frequency, MPFR_RNDN);
    for (int64_t r = 0; r < w->rows; r++) {
      const float angle = (float)(w->first + r) * step;
      values[r * problem.dim + i] = format_nearest(format_of(w->dtype), (double)(sinf(angle) * attention));
      values[r * problem.dim + w->pairs + i] = format_nearest(format_of(w->dtype), (double)(cosf(angle) * attention));
    }
  }
  mpfr_clear(frequency);
  oracle_destroy(real);
  return values;
}

static file file_scaled(const wanted *w, bool in_f32) {
  if (!in_f32) return file_wanted(w);
  double *halves = halves_in_f32(w), *values = arranged(w, halves);
  const file made = file_of(values, w->rows, dim_of(w), w->stored);
  free(halves);
  free(values);
  return made;
}

/* ---- findings -------------------------------------------------------------------------------------- */

/* Returns null if the factors of longrope are within four errors of those of the scaling, else what is wrong. */
static const char *wrong_factors(const struct scaled *of, const identity *found) {
  for (int64_t i = 0; i < PAIRS; i++) {
    const long double w = powl((long double)of->base, (long double)-i / PAIRS);
    const double made = (double)(w / scalings_frequency(&of->scaling, of->base, PAIRS, i, w));
    if (fabs(found->factors[i] / made - 1.0) > 4.0 * found->factor_errors[i] + 1e-5) return "factors";
  }
  return NULL;
}

/* Whether the parameters can be found. One frequency on the ramp does not determine its two ends. In 16 bits, cosines
   of slow waves are equal to the amplitude: if the end of a ramp is not visible and the ramp is not a usual one, only
   factors are found. */
static bool is_told(const posenc_scaling *s, const wanted *w, const identity *found) {
  const bool cosines = w->part == TABLE_COS && (w->dtype == POSENC_F16 || w->dtype == POSENC_BF16);
  if (s->kind != POSENC_SCALING_LLAMA3 || near(s->high, 4.0 * s->low)) return true;
  return s->high > 2.0 * s->low && (!cosines || found->how.formula.scaling.kind == s->kind);
}

/* Returns null if the same scaling is found, with the parameters that can be found, else what is wrong. */
static const char *wrong_scaling(const struct scaled *of, const wanted *w, const identity *found) {
  const formula *f = &found->how.formula;
  const posenc_scaling *s = &of->scaling;
  const bool narrow = w->dtype == POSENC_F16 || w->dtype == POSENC_BF16;
  if (narrow && found->matches[0].equal * 100 < found->matches[0].compared * 95) return "it writes something else";
  double original = (double)s->original;
  if (s->kind == POSENC_SCALING_LONGROPE || !is_told(s, w, found)) {
    if (f->scaling.kind != POSENC_SCALING_LONGROPE || !near(f->base, of->base)) return "longrope";
    if (wrong_factors(of, found)) return "factors";
    if (s->kind == POSENC_SCALING_LONGROPE && s->factor > 1.0 &&
        (found->scaling.attention > 0.0 || found->scaling.original != s->original))
      return "attention";
    return NULL;
  }
  const bool near_factor = fabs(f->scaling.factor - s->factor) <= 1e-3 * s->factor;
  switch (s->kind) {
  case POSENC_SCALING_DYNAMIC: {
    const double stretch = s->factor * (double)s->length / (double)s->original - (s->factor - 1.0);
    return near(f->of_base, of->base) && near(f->stretch, stretch) ? NULL : "stretch";
  }
  case POSENC_SCALING_YARN:
    if ((s->attention > 0.0) != (found->scaling.attention > 0.0)) return "attention";
    if (f->scaling.truncate != s->truncate) return "truncate";
    break;
  case POSENC_SCALING_LLAMA3:
    /* The numbers depend only on ratios to low. */
    if (!near(f->scaling.low, 1.0) || fabs(f->scaling.high - s->high / s->low) > 1e-3 * s->high / s->low) return "ramp";
    original = rint((double)s->original / s->low);
    break;
  default:
    return near(f->base, of->base) && near(f->scale, of->scale) ? NULL : "base and scale";
  }
  if (f->scaling.kind != s->kind || !near_factor || !near(f->base, of->base)) return "kind, base or factor";
  return (double)found->original_least <= original && original <= (double)found->original_most ? NULL
                                                                                               : "original length";
}

static const char *wrong(const struct scaled *of, const wanted *w, const identity *found) {
  if (found->verdict != IDENTIFY_TABLE) return found->reason;
  if (found->how.columns.layout != w->layout || found->how.columns.part != w->part) return "layout";
  if (found->how.start.least != w->first || found->how.start.most != w->first) return "first position";
  if (found->how.positions || found->how.step != 1 || found->damage_count || fabs(found->how.offset) > 0.0)
    return "rows";
  return wrong_scaling(of, w, found);
}

static bool is_right(const struct scaled *of, const wanted *w, bool in_f32) {
  const file made = file_scaled(w, in_f32);
  identity *found = identified(&made);
  const char *what = wrong(of, w, found);
  if (what) {
    char *sentence = identity_sentence(found);
    printf("# %s first %" PRId64 " layout %d part %d dtype %d%s: %s; %s\n", of->name, w->first, (int)w->layout,
           (int)w->part, (int)w->dtype, in_f32 ? " in f32" : "", what, sentence);
    free(sentence);
  }
  identity_free(found);
  free(made.bytes);
  return !what;
}

static void test_scaled(const struct scaled *of) {
  static const int64_t firsts[] = {0, 17};
  int tables = 0, right = 0;
  for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
      for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int in_f32 = 0; in_f32 <= (dtypes[d] != POSENC_F64); in_f32++) {
          const size_t n = f + p + d + (size_t)in_f32;
          if (is_left_out(n) || (!slow_test() && n % 4)) continue;
          wanted w = plain(NULL, ROWS, PAIRS);
          w.base = of->base;
          w.scale = of->scale;
          if (of->scaling.kind != POSENC_SCALING_NONE) w.scaling = of->scaling;
          w.first = firsts[f];
          w.layout = places[p].layout;
          w.part = places[p].part;
          w.dtype = w.stored = dtypes[d];
          tables++;
          right += is_right(of, &w, in_f32);
        }
  ok(tables >= 6 && right == tables, "%s: %d of %d tables", of->name, right, tables);
}

int main(int argc, char **argv) {
  unsetenv("POSENC_ISA");
  for (int i = 0; i < PAIRS; i++) growing[i] = 1.0 + 0.0377 * i * i;
  for (size_t n = 0; n < sizeof all / sizeof *all; n++)
    if (argc < 2 || strstr(all[n].name, argv[1])) test_scaled(&all[n]);
  print_counts();
  return tap_done();
}
