/* SPDX-License-Identifier: MIT */
/* Mutants that are wrong in ordinary ways, where somebody did not look: for one dim, one range of positions, one size
   of a call. Each has the good rows but for one fault in execute. */
#include "tests/mutants/mutant.h"

#include <math.h>
#include <stdint.h>

#define MULTIPLE(number, of) ((number) % (of) == 0)
#define WITHIN(number, least, end) ((number) >= (least) && (number) < (end))

/* What can be wrong about a row at position p, number `at` of the table, in a call of `rows` rows. f32: in these a last
   bit is wrong, else a large one. */
#define FAULTS_OF_F32(FAULT)                                                                                           \
  FAULT(dim_10, "dim-10", dim == 10)                                                                                   \
  FAULT(dim_44, "dim-44", dim == 44)                                                                                   \
  FAULT(dim_80, "dim-80", dim == 80)                                                                                   \
  FAULT(dim_112, "dim-112", dim == 112)                                                                                \
  FAULT(dim_160, "dim-160", dim == 160)                                                                                \
  FAULT(dim_208, "dim-208", dim == 208)                                                                                \
  FAULT(dim_330, "dim-330", dim == 330)                                                                                \
  FAULT(dim_394, "dim-394", dim == 394)                                                                                \
  FAULT(dim_500, "dim-500", dim == 500)                                                                                \
  FAULT(dim_640, "dim-640", dim == 640)                                                                                \
  FAULT(dim_1280, "dim-1280", dim == 1280)                                                                             \
  FAULT(dim_5120, "dim-5120", dim == 5120)                                                                             \
  FAULT(dim_above_1000, "dim-above-1000", dim > 1000)                                                                  \
  FAULT(dim_above_4096, "dim-above-4096", dim > 4096)                                                                  \
  FAULT(dim_above_8192, "dim-above-8192", dim > 8192)                                                                  \
  FAULT(dim_from_200_to_216, "dim-from-200-to-216", WITHIN(dim, 200, 216))                                             \
  FAULT(dim_of_48, "dim-of-48", MULTIPLE(dim, 48) && dim > 96)                                                         \
  FAULT(dim_96_halves, "dim-96-halves", dim == 96 && problem->layout == POSENC_SPLIT)                                  \
  FAULT(dim_256_cosine_first, "dim-256-cosine-first", dim == 256 && problem->layout == POSENC_INTERLEAVED_CS)          \
  FAULT(dim_192_many_rows, "dim-192-many-rows", dim == 192 && rows > 4)                                                \
  FAULT(base_below_16, "base-below-16", base < 16.0)                                                                   \
  FAULT(base_below_2, "base-below-2", base < 2.0)                                                                      \
  FAULT(base_above_2_32, "base-above-2-32", base > 0x1p32)                                                             \
  FAULT(base_above_1e12, "base-above-1e12", base > 1e12)                                                               \
  FAULT(base_above_1e38, "base-above-1e38", base > 1e38)                                                               \
  FAULT(base_of_millions, "base-of-millions", base == 1e6)                                                             \
  FAULT(base_from_100_to_1000, "base-from-100-to-1000", WITHIN(base, 100.0, 1000.0))                                   \
  FAULT(base_fractional, "base-fractional", base != floor(base) && base > 2000.0)                                      \
  FAULT(base_small_wide, "base-small-wide", base<100.0 && dim> 64)                                                     \
  FAULT(from_70000, "from-70000", WITHIN(p, 70000, 71000))                                                             \
  FAULT(from_123456, "from-123456", WITHIN(p, 123456, 123520))                                                         \
  FAULT(from_600000_wide, "from-600000-wide", WITHIN(p, 600000, 620000) && dim > 64)                                   \
  FAULT(from_3e9, "from-3e9", WITHIN(p, INT64_C(3000000000), INT64_C(3200000000)))                                     \
  FAULT(from_minus_5000, "from-minus-5000", WITHIN(p, -5000, -4000))                                                   \
  FAULT(last_of_4096_far, "last-of-4096-far", p > 1 << 20 && p % 4096 == 4095)                                         \
  FAULT(first_of_65536, "first-of-65536", p > 0 && MULTIPLE(p, 65536))                                                 \
  FAULT(each_million, "each-million", p > 0 && MULTIPLE(p, 1000000))                                                   \
  FAULT(a_tenth_of_2_40, "a-tenth-of-2-40", WITHIN(p, INT64_C(1) << 40, (INT64_C(1) << 40) + (INT64_C(1) << 37)))      \
  FAULT(below_minus_2_35, "below-minus-2-35", p<-(INT64_C(1) << 35) && dim> 32)                                        \
  FAULT(odd_and_negative, "odd-and-negative", p<-100 && p % 2 && rows> 16)                                             \
  FAULT(row_in_16_bits, "row-in-16-bits", at > 65535)                                                                  \
  FAULT(row_in_float, "row-in-float", (int64_t)(float)at != at)                                                        \
  FAULT(row_in_int, "row-in-int", at > INT32_MAX)                                                                      \
  FAULT(row_in_int_near, "row-in-int-near", at > INT32_MAX && p < INT32_MAX)                                           \
  FAULT(place_in_int, "place-in-int", at *dim > INT32_MAX)                                                             \
  FAULT(place_in_unsigned, "place-in-unsigned", at *dim * 4 > UINT32_MAX)                                              \
  FAULT(table_in_int, "table-in-int", problem->rows > INT32_MAX)                                                       \
  FAULT(table_of_millions, "table-of-millions", problem->rows > 2000000)                                               \
  FAULT(call_of_2_18, "call-of-2-18", rows >= 1 << 18 && r == rows - 1)                                                \
  FAULT(call_of_300000, "call-of-300000", rows > 300000 && r > 300000)                                                 \
  FAULT(call_of_a_million, "call-of-a-million", rows > 1000000 && r > 1000000)                                         \
  FAULT(call_of_5000, "call-of-5000", WITHIN(rows, 5000, 8000) && MULTIPLE(r, 1000))                                   \
  FAULT(call_of_63, "call-of-63", rows > 1000 && rows % 64 == 63 && r == rows - 1)                                     \
  FAULT(call_wide_and_long, "call-wide-and-long", dim > 300 && rows > 100 && r >= 100)                                 \
  FAULT(shift_one, "shift-one", problem->shift == 1.0 && dim % 4)                                                      \
  FAULT(shift_negative, "shift-negative", problem->shift < 0.0)                                                        \
  FAULT(shift_large, "shift-large", problem->shift > 4.0)                                                              \
  FAULT(scale_small, "scale-small", problem->scale < 0.01)                                                             \
  FAULT(scale_above_2, "scale-above-2", WITHIN(problem->scale, 2.0, 10.0))                                             \
  FAULT(scale_far, "scale-far", problem->scale != 1.0 && p > 1 << 20)                                                  \
  FAULT(scale_wide, "scale-wide", problem->scale != 1.0 && dim > 128)                                                  \
  FAULT(linear_by_8, "linear-by-8", problem->scaling.kind == POSENC_SCALING_LINEAR && problem->scaling.factor > 8.0)   \
  FAULT(llama3_wide, "llama3-wide", problem->scaling.kind == POSENC_SCALING_LLAMA3 && dim > 64)                        \
  FAULT(yarn_far, "yarn-far", problem->scaling.kind == POSENC_SCALING_YARN && p > 100000)                              \
  FAULT(dynamic_long, "dynamic-long",                                                                                  \
        problem->scaling.kind == POSENC_SCALING_DYNAMIC && problem->scaling.length > 100000)                           \
  FAULT(scaled_and_negative, "scaled-and-negative", problem->scaling.kind != POSENC_SCALING_NONE && p < 0)             \
  FAULT(scaled_small_base, "scaled-small-base", problem->scaling.kind != POSENC_SCALING_NONE && base < 100.0)          \
  FAULT(dim_72, "dim-72", dim == 72)                                                                                   \
  FAULT(dim_136, "dim-136", dim == 136)                                                                                \
  FAULT(dim_34_of_64, "dim-34-of-64", dim % 64 == 34 && dim > 100)                                                     \
  FAULT(dim_2050, "dim-2050", WITHIN(dim, 2050, 2100))                                                                 \
  FAULT(dim_above_12000, "dim-above-12000", dim > 12000)                                                               \
  FAULT(base_5, "base-5", WITHIN(base, 5.0, 6.0))                                                                      \
  FAULT(base_above_1e20, "base-above-1e20", base > 1e20)                                                               \
  FAULT(base_160000, "base-160000", WITHIN(base, 1.5e5, 1.8e5))                                                        \
  FAULT(from_minus_40000, "from-minus-40000", WITHIN(p, -40000, -39000))                                               \
  FAULT(eighth_of_2_33, "eighth-of-2-33", WITHIN(p, INT64_C(1) << 33, (INT64_C(1) << 33) + (INT64_C(1) << 30)))        \
  FAULT(of_8192, "of-8192", p > 500000 && p % 8192 == 17)                                                              \
  FAULT(int_max, "int-max", p == INT32_MAX)                                                                            \
  FAULT(from_900000, "from-900000", WITHIN(p, 900000, 900040))                                                         \
  FAULT(pair_of_128, "pair-of-128", rows == 2 && dim == 128)                                                           \
  FAULT(negative_wide, "negative-wide", problem->first<0 && dim> 200)                                                  \
  FAULT(shifted_far, "shifted-far", problem->shift != 0.0 && p > 1000000)

#define FAULTS_OF_ALL(FAULT)                                                                                           \
  FAULT(f64_dim_80, "f64-dim-80", problem->dtype == POSENC_F64 && dim == 80)                                           \
  FAULT(f64_far, "f64-far", problem->dtype == POSENC_F64 && WITHIN(p, 200000, 201000))                                 \
  FAULT(f16_wide, "f16-wide", problem->dtype == POSENC_F16 && dim > 2048)                                              \
  FAULT(f16_call_of_300000, "f16-call-of-300000", problem->dtype == POSENC_F16 && r > 300000)                          \
  FAULT(bf16_base, "bf16-base", problem->dtype == POSENC_BF16 && base < 16.0)                                          \
  FAULT(bf16_row_in_int, "bf16-row-in-int", problem->dtype == POSENC_BF16 && at > INT32_MAX)                           \
  FAULT(f64_scaled, "f64-scaled", problem->dtype == POSENC_F64 && problem->scale != 1.0)                               \
  FAULT(bf16_dim_256, "bf16-dim-256", problem->dtype == POSENC_BF16 && dim == 256)                                     \
  FAULT(f16_negative, "f16-negative", problem->dtype == POSENC_F16 && p < -50000)

#define FAULTY_ROWS(function, called, WRONG, spoiled)                                                                  \
  static EXECUTE(function) {                                                                                           \
    UNUSED const int64_t dim = problem->dim;                                                                           \
    UNUSED const double base = problem->base;                                                                          \
    const int64_t cosine = posenc_layout_columns(problem->layout, problem->dim).cos;                                   \
    good_rows(constants, problem, row, rows, out);                                                                     \
    for (int64_t r = 0; r < rows; r++) {                                                                               \
      UNUSED const int64_t at = row + r, p = position_of(problem, at);                                                 \
      if (WRONG) spoiled;                                                                                              \
    }                                                                                                                  \
  }
#define ROWS_OF_F32(function, called, WRONG) FAULTY_ROWS(function, called, WRONG, nudge(out, r * problem->dim + cosine))
#define ROWS_OF_ALL(function, called, WRONG)                                                                           \
  FAULTY_ROWS(function, called, WRONG, spoil(problem, out, r * problem->dim + cosine))
FAULTS_OF_F32(ROWS_OF_F32)
FAULTS_OF_ALL(ROWS_OF_ALL)

/* ---- memory that is right already, and calls that are taken for one before ---- */

/* Whether `words` floats of the rows, spread over them, are right already. */
static bool seem_made(const float *made, const float *out, int64_t all, int64_t words) {
  for (int64_t n = 0; n < words; n++)
    if (made[n * (all - 1) / (words - 1)] != out[n * (all - 1) / (words - 1)]) return false;
  return true;
}

/* Defines an execute that copies good rows, `made`, unless DONE. `all`: their number of elements. */
#define UNLESS(function, DONE)                                                                                         \
  static EXECUTE(function) {                                                                                           \
    const int64_t all = rows * problem->dim;                                                                           \
    float *made = malloc((size_t)all * sizeof *made), *to = out;                                                       \
    if (!made) abort();                                                                                                \
    good_rows(constants, problem, row, rows, made);                                                                    \
    if (!(DONE)) memcpy(to, made, (size_t)all * sizeof *made);                                                         \
    free(made);                                                                                                        \
  }

UNLESS(first_and_last, seem_made(made, to, all, 2))
UNLESS(every_word_of_16, seem_made(made, to, all, 16))
UNLESS(first_row_made, memcmp(made, to, (size_t)problem->dim * sizeof *made) == 0)

/* Writes elements that are NaN only. */
static EXECUTE(only_nan) {
  const int64_t all = rows * problem->dim;
  float *made = malloc((size_t)all * sizeof *made), *to = out;
  if (!made) abort();
  good_rows(constants, problem, row, rows, made);
  for (int64_t n = 0; n < all; n++)
    if (isnan(to[n]) || fabsf(to[n] - made[n]) > 0x1p-20f) to[n] = made[n];
  free(made);
}

/* Rows that a thread has made before. */
typedef struct known_row {
  const void *out, *of;
  int64_t row, first, dim;
  float made[512];
} known_row;
static _Thread_local known_row known;

/* Defines an execute that gives the row that it made last where LIKE, in calls of one row. */
#define REMEMBERS(function, LIKE)                                                                                      \
  static EXECUTE(function) {                                                                                           \
    if (rows == 1 && problem->dim <= 512 && known.dim == problem->dim && (LIKE)) {                                     \
      memcpy(out, known.made, (size_t)problem->dim * sizeof(float));                                                   \
      return;                                                                                                          \
    }                                                                                                                  \
    good_rows(constants, problem, row, rows, out);                                                                     \
    if (rows != 1 || problem->dim > 512) return;                                                                       \
    known = (known_row){out, constants, row, problem->first, problem->dim, {0}};                                       \
    memcpy(known.made, out, (size_t)problem->dim * sizeof(float));                                                     \
  }
REMEMBERS(row_by_address, known.out == out && known.row == row)
REMEMBERS(row_by_constants, known.of == constants && known.row == row)
REMEMBERS(row_by_number, known.row == row && known.first == problem->first)
REMEMBERS(row_by_number_far, known.row == row && known.first == problem->first && row + known.first > 5000)

/* Writes nothing where the last call wrote as many rows to the same memory, and the first element is as it was. */
static EXECUTE(left_before) {
  static _Thread_local struct {
    const void *out, *constants;
    int64_t row, rows;
    float first;
  } last;
  if (last.out == out && last.constants == constants && last.row == row && last.rows == rows &&
      memcmp(&last.first, out, sizeof last.first) == 0)
    return;
  good_rows(constants, problem, row, rows, out);
  last.out = out, last.constants = constants, last.row = row, last.rows = rows;
  memcpy(&last.first, out, sizeof last.first);
}

/* ---- memory that is not theirs ---- */

static void use_stack(size_t bytes) {
  volatile char *room = __builtin_alloca(bytes);
  for (size_t at = 0; at < bytes; at += 4096) room[at] = 1;
  room[0] = room[bytes / 2];
}

BEFORE_ROWS(stack_of_6_mib, use_stack((size_t)6 << 20))
BEFORE_ROWS(stack_of_2_mib, use_stack((size_t)2 << 20))
BEFORE_ROWS(stack_by_rows, use_stack((size_t)rows * 16 + 64))
BEFORE_ROWS(stack_by_dim, use_stack((size_t)problem->dim * 512))

#define ANY_DTYPE .can_do = good_can_do
#define ROWS(function, called, ...)                                                                                    \
  KERNEL(CONTRACT(0.5, called, "wrong where " __VA_ARGS__), .can_do = mutant_can_do, .execute = function,              \
         .prepare = good_prepare, .release = good_release, .scales = true),
#define LISTED_OF_F32(function, called, WRONG) ROWS(function, called, #WRONG)
#define LISTED_OF_ALL(function, called, WRONG)                                                                         \
  KERNEL(CONTRACT(0.5, called, "wrong where " #WRONG), .can_do = good_can_do, .execute = function,                     \
         .prepare = good_prepare, .release = good_release, .scales = true),

PLUGIN = {
    FAULTS_OF_F32(LISTED_OF_F32) FAULTS_OF_ALL(LISTED_OF_ALL)                               /* */
    ROWS(first_and_last, "first-and-last", "first and last element are right already")      /* */
    ROWS(every_word_of_16, "every-word-of-16", "sixteen elements are right already")        /* */
    ROWS(first_row_made, "first-row-made", "the first row is right already")                /* */
    ROWS(only_nan, "only-nan", "an element is nearly right already")                        /* */
    ROWS(row_by_address, "row-by-address", "a row of another plan lay there")               /* */
    ROWS(row_by_constants, "row-by-constants", "the constants of another plan lay there")   /* */
    ROWS(row_by_number, "row-by-number", "another plan has made that row")                  /* */
    ROWS(row_by_number_far, "row-by-number-far", "another plan has made that row, far out") /* */
    ROWS(left_before, "left-before", "the same call was made before")                       /* */
    ROWS(stack_of_6_mib, "stack-of-6-mib", "a stack is small")                              /* */
    ROWS(stack_of_2_mib, "stack-of-2-mib", "a stack is small")                              /* */
    ROWS(stack_by_rows, "stack-by-rows", "a stack is small for so many rows")               /* */
    ROWS(stack_by_dim, "stack-by-dim", "a stack is small for so wide rows")                 /* */
    NULL,
};
