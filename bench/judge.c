/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/watch.h"

#include "bench/slot.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/shapes.h"
#include "reference/accuracy.h"
#include "reference/axes.h"
#include "reference/format.h"
#include "reference/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The angles of row STEPS k + s are those of row STEPS k and of position s together. Of a table, a row has two numbers
   for each column: an anchor the value, and what its derivative is; a step the cosine and the sine. Of add and rope, a
   row has all sines, and then all cosines. An anchor has the attention factor, a step has not. */
enum { STEPS = 64 };
typedef struct angle_sums {
  double *anchors, *steps;
} angle_sums;

/* The error bound of a sum of angles, without the attention factor: of four numbers two have an error of 2^-53 and two
   of twice that; two products and a sum are rounded, whose absolute values are at most 1 together. */
static const double sum_error = 0x1p-50;

struct judge {
  posenc_problem problem, table;
  posenc_axes axes;
  double *positions;
  axes_reference *reference;
  double attention;
  int64_t pairs, width;  /* of a row: frequencies, and elements of a table, or of one of the two of a rope cache */
  int tables;            /* the two of a rope cache, cosines first; else one */
  column_map columns[2]; /* of each; of rope, those of its table, which has cosines first */
  int64_t *sources[2];   /* of each: by column, where its value is in a row of all sines and then all cosines */
  /* The table in the layout of the result, rounded: float, or double in f64. Add and rope: the sines and the cosines of
     each row, by frequency index. */
  void *rounded[2];
  double *sines, *cosines;
  /* In place of these where angles are sums. All f32 values of 131072x1024 would be 512 MiB, and take a second to
     compute and one for new pages. */
  bool is_sum;
  angle_sums of[2]; /* of each table; or of[0] of add and rope */
};

bool judge_can(const posenc_problem *problem) {
  for (int64_t r = 0; problem->positions && r < problem->rows; r++)
    if (problem->positions[r] != floor(problem->positions[r])) return false;
  return problem->dim % 2 == 0;
}

/* ---- the exact values --------------------------------------------------------------------------- */

/* Returns the place of a row, which is its position in a table without axes. */
static int64_t place_of(const judge *j, int64_t row) {
  return j->positions ? (int64_t)j->positions[row] : j->problem.first + row;
}

/* Returns the distance from 0 of a row's position, or of the farthest of its positions on all axes. */
static int64_t distance_of(const judge *j, int64_t row) {
  const int64_t at = place_of(j, row);
  if (j->problem.axes) return axes_farthest(&j->axes, at);
  return accuracy_distance(at);
}

static bool is_padding(const judge *j, int64_t row) {
  return j->problem.padding != POSENC_NO_PADDING && place_of(j, row) == j->problem.padding;
}

/* Returns the exact value of frequency index i. groups: the lanes of a row. */
static exact value_of(const fast_lanes *groups, int64_t i, bool cosine) {
  const fast_lanes *at = &groups[i / FAST_LANES];
  const int64_t k = i % FAST_LANES;
  return cosine ? (exact){at->cos_high[k], at->cos_low[k], 0.0} : (exact){at->sin_high[k], at->sin_low[k], 0.0};
}

/* Rounds numbers to the dtype. */
static void round_row(posenc_dtype dtype, const double *row, int64_t count, float *rounded) {
  const format f = *format_of(dtype);
  if (dtype == POSENC_F32) {
#pragma omp simd
    for (int64_t i = 0; i < count; i++) rounded[i] = (float)row[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < count; i++) rounded[i] = (float)format_nearest(&f, row[i]);
  }
}

/* Puts the exact values into the tables of a row. values: all sines, then all cosines. rounded: room for as many. */
static void put_row(const judge *j, int64_t row, const double *values, float *rounded) {
  const bool is_f64 = j->problem.dtype == POSENC_F64;
  if (!is_f64) round_row(j->problem.dtype, values, 2 * j->pairs, rounded);
  for (int table = 0; table < j->tables; table++) {
    const int64_t *const sources = j->sources[table], width = j->width;
    if (is_f64) {
      double *const out = (double *)j->rounded[table] + row * width;
      for (int64_t c = 0; c < width; c++) out[c] = values[sources[c]];
    } else {
      float *const out = (float *)j->rounded[table] + row * width;
      for (int64_t c = 0; c < width; c++) out[c] = rounded[sources[c]];
    }
  }
}

/* Reads all sines, and then all cosines, of a place. */
static void read_place(const judge *j, int64_t at, double *values) {
  const fast_lanes *groups = axes_reference_lanes(j->reference, at);
  for (int64_t i = 0; i < j->pairs; i += FAST_LANES) {
    const size_t some = (size_t)least(FAST_LANES, j->pairs - i) * sizeof *values;
    memcpy(values + i, groups[i / FAST_LANES].sin_high, some);
    memcpy(values + j->pairs + i, groups[i / FAST_LANES].cos_high, some);
  }
}

/* Puts the values of an anchor, or of a step, number n. */
static void put_sums(judge *j, int64_t n, bool is_step, const double *values) {
  const int64_t pairs = j->pairs, width = j->width;
  if (op_is_applied(j->problem.op)) {
    double *const all = is_step ? j->of[0].steps : j->of[0].anchors;
    memcpy(all + 2 * pairs * n, values, 2 * (size_t)pairs * sizeof *values);
    return;
  }
  for (int table = 0; table < j->tables; table++) {
    double *const first = (is_step ? j->of[table].steps : j->of[table].anchors) + 2 * width * n;
    double *const second = first + width;
    for (int64_t c = 0; c < width; c++) {
      const column_value *at = &j->columns[table].values[c];
      const double sine = values[at->index], cosine = values[pairs + at->index];
      const double other = at->cosine ? -sine : cosine;
      first[c] = is_step || at->cosine ? cosine : sine;
      second[c] = is_step ? sine : other;
    }
  }
}

/* Returns how many anchors there are. */
static int64_t anchors_of(const judge *j) {
  return (j->problem.rows + STEPS - 1) / STEPS;
}

static void compute_sums(judge *j) {
  double *const values = memory_take(2 * (size_t)j->pairs, sizeof *values);
  for (int64_t n = 0; n < anchors_of(j); n++) {
    read_place(j, place_of(j, n * STEPS), values);
    put_sums(j, n, false, values);
  }
  for (int64_t n = 0; n < STEPS; n++) {
    read_place(j, n, values);
    for (int64_t i = 0; i < 2 * j->pairs; i++) values[i] /= j->attention;
    put_sums(j, n, true, values);
  }
  free(values);
}

static void compute(judge *j) {
  if (j->is_sum) {
    compute_sums(j);
    return;
  }
  const int64_t pairs = j->pairs;
  const size_t bytes = (size_t)pairs * sizeof(double);
  double *const values = memory_take(2 * (size_t)pairs, sizeof *values);
  float *const rounded = memory_take(2 * (size_t)pairs, sizeof *rounded);
  for (int64_t row = 0; row < j->problem.rows; row++) {
    read_place(j, place_of(j, row), values);
    if (is_padding(j, row)) memset(values, 0, 2 * bytes);
    if (!j->sines) {
      put_row(j, row, values, rounded);
      continue;
    }
    memcpy(j->sines + row * pairs, values, bytes);
    memcpy(j->cosines + row * pairs, values + pairs, bytes);
  }
  free(values);
  free(rounded);
}

/* Finds where the value of each column is in a row of values. */
static void find_sources(judge *j, int table) {
  int64_t *const sources = j->sources[table] = memory_take((size_t)j->width, sizeof *sources);
  for (int64_t c = 0; c < j->width; c++) {
    const column_value *at = &j->columns[table].values[c];
    sources[c] = at->index + (at->cosine ? j->pairs : 0);
  }
}

static void allocate(judge *j) {
  const size_t rows = (size_t)j->problem.rows, pairs = (size_t)j->pairs;
  static const table_part parts[] = {TABLE_COS, TABLE_SIN};
  const bool is_cache = j->problem.op == POSENC_ROPE_CACHE;
  j->tables = is_cache ? 2 : 1;
  for (int t = 0; t < j->tables; t++)
    if (!column_map_find(&j->columns[t], is_cache ? &j->problem : &j->table, is_cache ? parts[t] : TABLE_BOTH))
      memory_end();
  j->width = j->columns[0].columns;
  if (j->is_sum) {
    const size_t row = 2 * (size_t)(op_is_applied(j->problem.op) ? j->pairs : j->width) * sizeof(double);
    for (int t = 0; t < j->tables; t++) {
      j->of[t] =
          (angle_sums){allocated(posenc_alloc((size_t)anchors_of(j) * row + 1)), allocated(posenc_alloc(STEPS * row))};
    }
    return;
  }
  if (op_is_applied(j->problem.op)) {
    j->sines = allocated(posenc_alloc((rows * pairs + 1) * sizeof *j->sines)); /* with huge pages */
    j->cosines = allocated(posenc_alloc((rows * pairs + 1) * sizeof *j->cosines));
    return;
  }
  const size_t element = j->problem.dtype == POSENC_F64 ? sizeof(double) : sizeof(float);
  for (int t = 0; t < j->tables; t++) {
    find_sources(j, t);
    j->rounded[t] = allocated(posenc_alloc(rows * (size_t)j->width * element + 1));
  }
}

judge *judge_create(const posenc_problem *problem) {
  judge *j = memory_take(1, sizeof *j);
  j->problem = *problem;
  if (problem->axes) {
    j->axes = *problem->axes;
    j->problem.axes = &j->axes;
  }
  j->table = posenc_table_of(&j->problem);
  j->table.positions = NULL;
  j->attention = attention_of(problem);
  j->pairs = problem->dim / 2;
  j->is_sum = !problem->axes && !problem->positions && (problem->dtype == POSENC_F32 || op_is_applied(problem->op));
  j->reference = allocated(axes_reference_create(&j->table));
  allocate(j);
  if (problem->positions) {
    j->positions = memory_take((size_t)problem->rows, sizeof *j->positions);
    memcpy(j->positions, problem->positions, (size_t)problem->rows * sizeof *j->positions);
  }
  compute(j);
  return j;
}

void judge_destroy(judge *j) {
  if (!j) return;
  axes_reference_destroy(j->reference);
  column_map_free(&j->columns[0]);
  column_map_free(&j->columns[1]);
  free(j->positions);
  posenc_free(j->rounded[0]);
  posenc_free(j->rounded[1]);
  for (int t = 0; t < 2; t++) {
    posenc_free(j->of[t].anchors);
    posenc_free(j->of[t].steps);
  }
  free(j->sources[0]);
  free(j->sources[1]);
  posenc_free(j->sines);
  posenc_free(j->cosines);
  free(j);
}

bool judge_holds(const judge *j, const posenc_bound *bound) {
  if (j->problem.base < 1.0 || (bound->ulp == 0.0 && bound->abs == 0.0)) return false;
  for (int64_t row = 0; row < j->problem.rows; row++)
    if (distance_of(j, row) > bound->max_position) return false;
  return true;
}

/* ---- tables --------------------------------------------------------------------------------------- */

static void note(judgement *into, int64_t row, int64_t column, double got, double value, double allowed) {
  if (into->broken++ > 0) return;
  into->row = row;
  into->column = column;
  into->got = got;
  into->exact = value;
  into->allowed = allowed;
}

/* Returns the largest allowed error of an element, as the contract has it (posenc.h). With an attention factor, it has
   room for kernels that multiply by it before they round, and for those whose rounded rows the library multiplies. */
static double allowed(const judge *j, const posenc_bound *bound, int64_t row, const exact *value) {
  const format *f = format_of(j->problem.dtype);
  const double growth = bound->growth * (double)distance_of(j, row) * fmax(1.0, j->problem.scale),
               one = ldexp(1.0, -f->precision);
  if (j->attention == 1.0) return bound->ulp * format_ulp(f, value) + bound->abs + growth;
  return 2.0 * fmax(1.0, j->attention) * ((bound->ulp + 1.0) * one + bound->abs + growth + 0x1p-51);
}

/* Judges the elements of a row one by one. */
static void judge_exactly(judge *j, const posenc_bound *bound, int table, int64_t row, int64_t column, int64_t count,
                          const void *got, judgement *into) {
  const fast_lanes *groups = axes_reference_lanes(j->reference, place_of(j, row));
  for (int64_t c = column; c < column + count; c++) {
    const column_value at = j->columns[table].values[c];
    const exact value = is_padding(j, row) ? (exact){0.0, 0.0, 0.0} : value_of(groups, at.index, at.cosine);
    const double here = format_element(j->problem.dtype, got, c - column),
                 most = is_padding(j, row) ? 0.0 : allowed(j, bound, row, &value);
    if (!(exact_error(&value, here) <= most)) note(into, row, c, here, value.high, most);
  }
}

/* Whether all elements are within a x |value| + b of the rounded values. number: the type of the computation. Float is
   enough for f32 except below `tiny`, where a x |value| may be subnormal. */
#define DEFINE_NEAR(name, dtype, type, number, tiny, attributes)                                                       \
  attributes static bool name(const void *got, const void *rounded, int64_t from, int64_t count, double a, double b) { \
    const type *const values = (const type *)rounded + from;                                                           \
    const number share = (number)a, rest = (number)b;                                                                  \
    int far = 0;                                                                                                       \
    _Pragma("omp simd reduction(|:far)") for (int64_t i = 0; i < count; i++) {                                         \
      const number value = (number)values[i], error = (number)format_element(dtype, got, i) - value;                   \
      const number size = value < 0 ? -value : value, distance = error < 0 ? -error : error;                           \
      far |= !(distance <= share * size + rest);                                                                       \
      far |= (size < (number)tiny) & (distance > 0);                                                                   \
    }                                                                                                                  \
    return !far;                                                                                                       \
  }
/* Makes: near_f32_generic, near_f32_avx2, near_f64_generic, near_f64_avx2, near_f16_generic, near_f16_avx2,
   near_bf16_generic, near_bf16_avx2. */
#define DEFINE_NEARS(tier, attributes)                                                                                 \
  DEFINE_NEAR(near_f32_##tier, POSENC_F32, float, float, 0x1p-100, attributes)                                         \
  DEFINE_NEAR(near_f64_##tier, POSENC_F64, double, double, 0, attributes)                                              \
  DEFINE_NEAR(near_f16_##tier, POSENC_F16, float, double, 0, attributes)                                               \
  DEFINE_NEAR(near_bf16_##tier, POSENC_BF16, float, double, 0, attributes)
SLOT_TIERS(DEFINE_NEARS)

typedef bool near_function(const void *got, const void *rounded, int64_t from, int64_t count, double a, double b);

static near_function *near_of(posenc_dtype dtype) {
  near_function *const functions[] = {[POSENC_F32] = SLOT_TIER(near_f32),
                                      [POSENC_F64] = SLOT_TIER(near_f64),
                                      [POSENC_F16] = SLOT_TIER(near_f16),
                                      [POSENC_BF16] = SLOT_TIER(near_bf16)};
  return functions[dtype];
}

/* Whether all elements are certainly right: they are the float to which all numbers within `wrong` of the sum of angles
   round, or within a x |value| + b of that sum. anchor, step: numbers of a row from a column on, each row followed by
   its second numbers `width` later. */
/* Makes: near_sum_generic, near_sum_avx2. */
#define DEFINE_SUM(tier, attributes)                                                                                   \
  attributes static bool near_sum_##tier(const float *got, const double *anchor, const double *step, int64_t width,    \
                                         int64_t count, double wrong, double a, double b) {                            \
    int far = 0;                                                                                                       \
    _Pragma("omp simd reduction(|:far)") for (int64_t i = 0; i < count; i++) {                                         \
      const double value = anchor[i] * step[i] + anchor[width + i] * step[width + i], here = (double)got[i];           \
      const bool is_rounded = (here == (double)(float)(value - wrong)) & (here == (double)(float)(value + wrong));     \
      far |= !(is_rounded | (fabs(here - value) <= a * fabs(value) + b));                                              \
    }                                                                                                                  \
    return !far;                                                                                                       \
  }
SLOT_TIERS(DEFINE_SUM)

/* As judge_elements, of rows whose angles are sums. */
static void judge_sums(judge *j, const posenc_bound *bound, int table, int64_t from, int64_t count, const float *got,
                       judgement *into) {
  const double wrong = sum_error * fmax(1.0, j->attention),
               a = bound->ulp * ldexp(1.0, -format_of(j->problem.dtype)->precision) * 0.999;
  const angle_sums *of = &j->of[table];
  int64_t row = from / j->width, column = from % j->width;
  for (int64_t done = 0, some; done < count; done += some, row++, column = 0) {
    const double b = (bound->abs + bound->growth * (double)distance_of(j, row)) * 0.999 - 2.0 * wrong;
    const double *anchor = of->anchors + row / STEPS * 2 * j->width + column,
                 *step = of->steps + row % STEPS * 2 * j->width + column;
    some = least(j->width - column, count - done);
    if (is_padding(j, row) || !SLOT_TIER(near_sum)(got + done, anchor, step, j->width, some, wrong, a, b))
      judge_exactly(j, bound, table, row, column, some, got + done, into);
  }
}

void judge_elements(judge *j, const posenc_bound *bound, int table, int64_t from, int64_t count, const void *got,
                    judgement *into) {
  const posenc_dtype dtype = j->problem.dtype;
  near_function *const is_near = near_of(dtype);
  const size_t element = posenc_dtype_bytes(dtype);
  const bool has_bits = dtype == POSENC_F32 || dtype == POSENC_F64; /* the rounded values are numbers of the dtype */
  /* The bound is of the difference from the exact value, of which the rounded one is within half an ulp. An ulp is at
     least 2^-precision of a value. So the contract allows a x |value| + b, where b is the absolute part; 0.999 leaves
     room for roundings here. Elements beyond that are compared with the exact value. */
  const double a = fmax(bound->ulp - 0.5, 0.0) * ldexp(1.0, -format_of(dtype)->precision) * 0.999;
  int64_t row = from / j->width, column = from % j->width;
  into->compared += count;
  if (j->is_sum) {
    judge_sums(j, bound, table, from, count, got, into);
    return;
  }
  for (int64_t done = 0, some; done < count; done += some, row++, column = 0) {
    some = least(j->width - column, count - done);
    const unsigned char *here = (const unsigned char *)got + (size_t)done * element,
                        *rounded = (const unsigned char *)j->rounded[table] + (size_t)(from + done) * element;
    if (has_bits && memcmp(here, rounded, (size_t)some * element) == 0) continue;
    const double b = (bound->abs + bound->growth * (double)distance_of(j, row)) * 0.999;
    if (!is_near(here, j->rounded[table], from + done, some, a, is_padding(j, row) ? 0.0 : b))
      judge_exactly(j, bound, table, row, column, some, here, into);
  }
}

/* ---- add and rope ----------------------------------------------------------------------------------- */

/* The second half of each is room for a row, which rotate_pairs raises to powers of two. */
void applications_open(applications *a, int64_t dim) {
  *a = (applications){.sines = memory_take((size_t)dim, sizeof *a->sines),
                      .cosines = memory_take((size_t)dim, sizeof *a->cosines)};
}

void applications_close(applications *a) {
  free(a->sines);
  free(a->cosines);
}

void applications_begin(applications *a, const posenc_problem *problem) {
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    a->sines[i] = 0.0;
    a->cosines[i] = problem->op == POSENC_ROPE;
  }
  a->count = 0;
  a->at_0 = a->per_size = 0.0;
  a->held = true;
}

/* Multiply pairs by others, or by themselves, as complex numbers; and add multiples of others. */
/* Makes: rotate_by_generic, rotate_by_avx2, rotate_twice_generic, rotate_twice_avx2, add_times_generic,
   add_times_avx2. */
#define DEFINE_ADDITIONS(tier, attributes)                                                                             \
  attributes static void rotate_by_##tier(double *restrict sines, double *restrict cosines, const double *restrict s,  \
                                          const double *restrict c, int64_t pairs) {                                   \
    _Pragma("omp simd") for (int64_t i = 0; i < pairs; i++) {                                                          \
      const double sine = sines[i], cosine = cosines[i];                                                               \
      sines[i] = sine * c[i] + cosine * s[i];                                                                          \
      cosines[i] = cosine * c[i] - sine * s[i];                                                                        \
    }                                                                                                                  \
  }                                                                                                                    \
  attributes static void rotate_twice_##tier(double *restrict sines, double *restrict cosines, int64_t pairs) {        \
    _Pragma("omp simd") for (int64_t i = 0; i < pairs; i++) {                                                          \
      const double sine = sines[i], cosine = cosines[i];                                                               \
      sines[i] = sine * cosine + cosine * sine;                                                                        \
      cosines[i] = cosine * cosine - sine * sine;                                                                      \
    }                                                                                                                  \
  }                                                                                                                    \
  attributes static void add_times_##tier(double *restrict sums, const double *restrict values, double times,          \
                                          int64_t pairs) {                                                             \
    _Pragma("omp simd") for (int64_t i = 0; i < pairs; i++) sums[i] += times * values[i];                              \
  }
SLOT_TIERS(DEFINE_ADDITIONS)

/* Reads the sines and the cosines of a row. */
static void read_row(const judge *j, int64_t row, double *sines, double *cosines) {
  const int64_t pairs = j->pairs;
  const size_t bytes = (size_t)pairs * sizeof *sines;
  if (!j->is_sum) {
    memcpy(sines, j->sines + row * pairs, bytes);
    memcpy(cosines, j->cosines + row * pairs, bytes);
    return;
  }
  const double *const anchor = j->of[0].anchors + row / STEPS * 2 * pairs;
  const double *const step = j->of[0].steps + row % STEPS * 2 * pairs;
  memcpy(sines, anchor, bytes);
  memcpy(cosines, anchor + pairs, bytes);
  SLOT_TIER(rotate_by)(sines, cosines, step, step + pairs, pairs);
  if (!is_padding(j, row)) return;
  memset(sines, 0, bytes);
  memset(cosines, 0, bytes);
}

/* Turns all pairs `times` times by those of a row, (s, c). */
static void rotate_pairs(applications *a, const judge *j, double *s, double *c, int64_t times) {
  const int64_t pairs = j->pairs;
  const double sign = j->problem.inverse ? -1.0 : 1.0;
  for (int64_t i = 0; i < pairs; i++) s[i] *= sign;
  for (int64_t n = times;; SLOT_TIER(rotate_twice)(s, c, pairs)) {
    if (n % 2) SLOT_TIER(rotate_by)(a->sines, a->cosines, s, c, pairs);
    if (!(n /= 2)) break;
  }
}

void applications_add(applications *a, const judge *j, const posenc_bound *bound, int64_t row, int64_t times) {
  const posenc_problem *p = &j->problem;
  const int64_t distance = distance_of(j, row), pairs = j->pairs;
  double *const s = a->sines + pairs, *const c = a->cosines + pairs;
  read_row(j, row, s, c);
  if (p->op == POSENC_ADD) {
    SLOT_TIER(add_times)(a->sines, s, (double)times, pairs);
    SLOT_TIER(add_times)(a->cosines, c, (double)times, pairs);
  } else {
    rotate_pairs(a, j, s, c, times);
  }
  a->count += times;
  a->held = a->held && distance <= bound->max_position && p->base >= 1.0;
  const double at_0 = posenc_applied_bound_at(bound, p, distance, 0.0),
               at_1 = posenc_applied_bound_at(bound, p, distance, 1.0);
  a->at_0 = fmax(a->at_0, at_0);
  a->per_size = fmax(a->per_size, at_1 - at_0);
}

/* Returns the largest allowed error of all applications together, where x has that size. In add, the size grows by at
   most the attention factor each time; in rope, it and the errors are multiplied by that factor. */
static double allowed_of(const applications *a, const posenc_problem *p, double size) {
  const double n = (double)a->count, attention = fmax(1.0, posenc_attention(p));
  if (p->op == POSENC_ADD)
    return n * (a->at_0 + a->per_size * (size + 0.5 * (n + 1.0) * attention) + sum_error * attention);
  const double grown = pow(attention, n);
  return grown * n * (a->at_0 + a->per_size * size * grown) + 0x1p-50 * n * grown;
}

/* Judges `count` elements of a row one by one. */
static void judge_applied(const applications *a, const judge *j, int64_t row, int64_t from, int64_t count,
                          const void *x, const void *got, judgement *into) {
  const posenc_problem *p = &j->problem;
  for (int64_t n = 0; n < count; n++) {
    const int64_t c = (from + n) % p->dim, head = from + n - c;
    const column_value at = j->columns[0].values[c];
    const double own = format_element(p->dtype, x, head + c), here = format_element(p->dtype, got, n);
    double value, size;
    if (p->op == POSENC_ADD) {
      value = own + (at.cosine ? a->cosines : a->sines)[at.index];
      size = fabs(own);
    } else {
      const double other = format_element(p->dtype, x, head + j->columns[0].at[0][!at.cosine][at.index]);
      value = own * a->cosines[at.index] + (at.cosine ? -other : other) * a->sines[at.index];
      size = sqrt(own * own + other * other);
    }
    const double most = allowed_of(a, p, size);
    if (!(fabs(here - value) <= most)) note(into, row, from + n, here, value, most);
  }
}

/* Sets `far` if a pair of a head is not certainly within the bound, k0 + k1 x size. In add that is the size of the
   element. In rope it is that of the pair (u, v), for which 0.707 (|u| + |v|) is taken: no larger, and without a root.
   rotates: rope. The first element of pair i is number `step` i, the second one is `apart` after it; constants, so that
   compilers know how elements lie. */
#define HEAD_PAIRS(dtype, rotates, step, apart)                                                                        \
  _Pragma("omp simd reduction(|:far)") for (int64_t i = 0; i < pairs; i++) {                                           \
    const int64_t one = i * (step), other = one + (apart);                                                             \
    const double u = format_element(dtype, x, one), v = format_element(dtype, x, other);                               \
    const double e = (rotates) ? u * cosines[i] - v * sines[i] : u + first[i],                                         \
                 f = (rotates) ? v * cosines[i] + u * sines[i] : v + second[i];                                        \
    const double size_u = (rotates) ? 0.707 * (fabs(u) + fabs(v)) : fabs(u), size_v = (rotates) ? size_u : fabs(v);    \
    far |= !(fabs(format_element(dtype, got, one) - e) <= k0 + k1 * size_u);                                           \
    far |= !(fabs(format_element(dtype, got, other) - f) <= k0 + k1 * size_v);                                         \
  }

/* Whether all pairs of a head are certainly within the bound. */
#define DEFINE_HEAD(name, dtype, attributes)                                                                           \
  attributes static bool name(const applications *a, const posenc_problem *p, double k0, double k1, const void *x,     \
                              const void *got) {                                                                       \
    const bool rotates = p->op == POSENC_ROPE, halves = posenc_layout_columns(p->layout, p->dim).step == 1;            \
    const bool has_sines_first = p->layout == POSENC_INTERLEAVED || p->layout == POSENC_SPLIT;                         \
    const double *const sines = a->sines, *const cosines = a->cosines;                                                 \
    const double *const first = has_sines_first ? sines : cosines, *const second = has_sines_first ? cosines : sines;  \
    const int64_t pairs = p->dim / 2;                                                                                  \
    int far = 0;                                                                                                       \
    if (rotates && halves) {                                                                                           \
      HEAD_PAIRS(dtype, true, 1, pairs)                                                                                \
    } else if (rotates) {                                                                                              \
      HEAD_PAIRS(dtype, true, 2, 1)                                                                                    \
    } else if (halves) {                                                                                               \
      HEAD_PAIRS(dtype, false, 1, pairs)                                                                               \
    } else {                                                                                                           \
      HEAD_PAIRS(dtype, false, 2, 1)                                                                                   \
    }                                                                                                                  \
    return !far;                                                                                                       \
  }
/* Makes: head_f32_generic, head_f32_avx2, head_bf16_generic, head_bf16_avx2. */
#define DEFINE_HEADS(tier, attributes)                                                                                 \
  DEFINE_HEAD(head_f32_##tier, POSENC_F32, attributes)                                                                 \
  DEFINE_HEAD(head_bf16_##tier, POSENC_BF16, attributes)
SLOT_TIERS(DEFINE_HEADS)

void applications_judge(const applications *a, const judge *j, int64_t row, int64_t from, int64_t count, const void *x,
                        const void *got, judgement *into) {
  const posenc_problem *p = &j->problem;
  const bool is_grouped = p->axes && p->axes->grouped;
  const size_t element = posenc_dtype_bytes(p->dtype);
  const double k0 = 0.999 * allowed_of(a, p, 0.0), k1 = 0.999 * (allowed_of(a, p, 1.0) - allowed_of(a, p, 0.0));
  into->compared += count;
  for (int64_t done = 0, some; done < count; done += some) {
    const bool whole = !is_grouped && (from + done) % p->dim == 0 && count - done >= p->dim;
    some = whole ? p->dim : 1;
    const unsigned char *there = (const unsigned char *)got + (size_t)done * element,
                        *own = (const unsigned char *)x + (size_t)(from + done) * element;
    if (!whole || !(p->dtype == POSENC_F32 ? SLOT_TIER(head_f32) : SLOT_TIER(head_bf16))(a, p, k0, k1, own, there))
      judge_applied(a, j, row, from + done, some, x, there, into);
  }
}
