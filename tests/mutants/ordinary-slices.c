/* SPDX-License-Identifier: MIT */
/* Mutants with an apply function of their own that is wrong in ordinary ways: for some numbers of heads, for an inverse
   with something else, for lists and batches of some kind, for NaN of some kind. */
#include "tests/mutants/mutant.h"

#include <math.h>
#include <stdint.h>

#define WITHIN(number, least, end) ((number) >= (least) && (number) < (end))

/* What can be wrong about row r of sequence n, which is number `at` of the table. */
#define FAULTS_OF_ROPE(FAULT)                                                                                          \
  FAULT(heads_above_32, "heads-above-32", heads > 32 && dim >= 64)                                                     \
  FAULT(heads_of_40_by_128, "heads-40-by-128", heads == 40 && dim == 128)                                              \
  FAULT(heads_of_52_by_128, "heads-52-by-128", heads == 52 && dim == 128)                                              \
  FAULT(heads_of_71_by_64, "heads-71-by-64", heads == 71 && dim == 64)                                                 \
  FAULT(heads_of_37_by_128, "heads-37-by-128", heads == 37 && dim == 128)                                              \
  FAULT(heads_of_25_by_64, "heads-25-by-64", heads == 25 && dim == 64)                                                 \
  FAULT(heads_of_32_by_80, "heads-32-by-80", heads == 32 && dim == 80)                                                 \
  FAULT(heads_of_14_by_64, "heads-14-by-64", heads == 14 && dim == 64)                                                 \
  FAULT(heads_of_16_by_256, "heads-16-by-256", heads == 16 && dim == 256)                                              \
  FAULT(heads_of_96_by_128, "heads-96-by-128", heads == 96 && dim == 128)                                              \
  FAULT(heads_33_to_47, "heads-33-to-47", WITHIN(heads, 33, 48) && dim == 128)                                         \
  FAULT(heads_odd_wide, "heads-odd-wide", heads % 2 && heads > 16 && dim >= 96)                                        \
  FAULT(heads_above_128, "heads-above-128", heads > 128)                                                               \
  FAULT(heads_in_8_bits, "heads-in-8-bits", heads > 255)                                                               \
  FAULT(width_above_16384, "width-above-16384", heads *dim > 16384)                                                    \
  FAULT(width_5120, "width-5120", heads *dim == 5120)                                                                  \
  FAULT(rope_dim_80, "rope-dim-80", dim == 80)                                                                         \
  FAULT(rope_dim_192, "rope-dim-192", dim == 192)                                                                      \
  FAULT(rope_dim_96_halves, "rope-dim-96-halves", dim == 96 && problem->layout == POSENC_SPLIT)                        \
  FAULT(rope_dim_of_512, "rope-dim-of-512", dim >= 512)                                                                \
  FAULT(rope_dim_4098, "rope-dim-4098", dim > 4096)                                                                    \
  FAULT(rope_base_small, "rope-base-small", problem->base < 16.0)                                                      \
  FAULT(rope_base_large, "rope-base-large", problem->base > 0x1p32)                                                    \
  FAULT(rope_from_70000, "rope-from-70000", WITHIN(p, 70000, 71000))                                                   \
  FAULT(rope_last_of_4096, "rope-last-of-4096", p > 1 << 20 && p % 4096 == 4095)                                       \
  FAULT(rope_row_in_int, "rope-row-in-int", at > INT32_MAX)                                                            \
  FAULT(rope_place_in_int, "rope-place-in-int", at *heads *dim > INT32_MAX)                                            \
  FAULT(rope_call_of_300000, "rope-call-of-300000", r > 300000)                                                        \
  FAULT(back_scaled, "back-scaled", problem->inverse && problem->scale != 1.0)                                         \
  FAULT(back_by_scaling, "back-by-scaling", problem->inverse && problem->scaling.kind != POSENC_SCALING_NONE)          \
  FAULT(back_by_list, "back-by-list", problem->inverse && slice->index && r > 2)                                       \
  FAULT(back_far, "back-far", problem->inverse &&p > 1 << 20)                                                          \
  FAULT(back_far_negative, "back-far-negative", problem->inverse &&p < -(1 << 16))                                     \
  FAULT(back_of_many_rows, "back-of-many-rows", problem->inverse && slice->rows > 1000)                                \
  FAULT(back_of_16_heads, "back-of-16-heads", problem->inverse &&heads >= 16)                                          \
  FAULT(back_wide, "back-wide", problem->inverse &&dim > 128)                                                          \
  FAULT(back_in_bf16, "back-in-bf16", problem->inverse && problem->dtype == POSENC_BF16 && p > 5000)                   \
  FAULT(back_in_batches, "back-in-batches", problem->inverse &&n > 0 && in_place && dim > 64)                          \
  FAULT(list_of_bf16_halves, "list-of-bf16-halves",                                                                    \
        slice->index && problem->dtype == POSENC_BF16 && problem->layout == POSENC_SPLIT && dim > 64)                  \
  FAULT(heads_of_12_by_128, "heads-12-by-128", heads == 12 && dim == 128)                                              \
  FAULT(heads_of_48_by_64, "heads-48-by-64", heads == 48 && dim == 64)                                                 \
  FAULT(heads_of_28_by_128, "heads-28-by-128", heads == 28 && dim == 128)                                              \
  FAULT(heads_by_3, "heads-by-3", heads % 3 == 0 && heads > 64)                                                        \
  FAULT(back_negative, "back-negative", problem->inverse && problem->first < 0 && slice->index)                        \
  FAULT(back_of_a_row, "back-of-a-row", problem->inverse && slice->rows == 1 && p > 70000)                             \
  FAULT(back_odd_stride, "back-odd-stride", problem->inverse &&n > 0 && slice->stride % 2)                             \
  FAULT(rope_shifted, "rope-shifted", problem->shift == 0.5 && slice->rows > 16)

#define FAULTS_OF_BOTH(FAULT)                                                                                          \
  FAULT(batch_negative, "batch-negative", slice->batch > 1 && problem->first < 0)                                      \
  FAULT(batch_far, "batch-far", slice->batch > 1 && p > INT32_MAX)                                                     \
  FAULT(batch_of_7, "batch-of-7", slice->batch == 7)                                                                   \
  FAULT(batch_in_8_bits, "batch-in-8-bits", n > 255)                                                                   \
  FAULT(batch_in_16_bits, "batch-in-16-bits", n > 65535)                                                               \
  FAULT(batch_of_single_rows, "batch-of-single-rows", n > 1 && slice->rows == 1 && dim > 64)                           \
  FAULT(batch_scaled, "batch-scaled", n > 0 && problem->scale != 1.0)                                                  \
  FAULT(stride_in_int, "stride-in-int", n > 0 && slice->stride > INT32_MAX)                                            \
  FAULT(offset_in_int, "offset-in-int", n * slice->stride > INT32_MAX)                                                 \
  FAULT(offset_in_bytes, "offset-in-bytes", n * slice->stride * 4 > UINT32_MAX)                                        \
  FAULT(list_scaled, "list-scaled", slice->index && problem->scale != 1.0)                                             \
  FAULT(list_by_scaling, "list-by-scaling", slice->index && problem->scaling.kind != POSENC_SCALING_NONE)              \
  FAULT(list_negative, "list-negative", slice->index &&p < -100)                                                       \
  FAULT(list_in_int, "list-in-int", slice->index &&at > INT32_MAX)                                                     \
  FAULT(list_in_float, "list-in-float", slice->index && (int64_t)(float)at != at)                                      \
  FAULT(list_in_16_bits, "list-in-16-bits", slice->index &&at > 65535)                                                 \
  FAULT(list_of_10000, "list-of-10000", slice->index &&r > 10000)                                                      \
  FAULT(list_of_65536, "list-of-65536", slice->index &&r > 65535)                                                      \
  FAULT(list_in_batches, "list-in-batches", slice->index &&n > 2)                                                      \
  FAULT(list_wide, "list-wide", slice->index &&width_of(problem) > 1024)                                               \
  FAULT(list_skips, "list-skips", slice->index &&r > 0 && slice->index[r] == slice->index[r - 1] + 2)                  \
  FAULT(batch_of_2_long, "batch-of-2-long", slice->batch == 2 && slice->rows > 100)                                    \
  FAULT(list_of_many_batches, "list-of-many-batches", slice->index &&n > 64)                                           \
  FAULT(list_shifted, "list-shifted", slice->index && problem->shift != 0.0)                                           \
  FAULT(list_thrice, "list-thrice",                                                                                    \
        slice->index &&r > 1 && slice->index[r] == slice->index[r - 1] && slice->index[r] == slice->index[r - 2])      \
  FAULT(list_of_5_more, "list-of-5-more", slice->index && slice->rows % 8 == 5 && r == slice->rows - 1)

#define FAULTS_OF_ADD(FAULT)                                                                                           \
  FAULT(add_dim_80, "add-dim-80", dim == 80)                                                                           \
  FAULT(add_dim_4098, "add-dim-4098", dim > 4096)                                                                      \
  FAULT(add_from_70000, "add-from-70000", WITHIN(p, 70000, 71000))                                                     \
  FAULT(add_base_small, "add-base-small", problem->base < 16.0)                                                        \
  FAULT(add_row_in_int, "add-row-in-int", at > INT32_MAX)                                                              \
  FAULT(add_padded_list, "add-padded-list", slice->index &&p == problem->padding && slice->batch > 1)                  \
  FAULT(add_padded_far, "add-padded-far", p == problem->padding && p > 10000)                                          \
  FAULT(add_padded_negative, "add-padded-negative", p == problem->padding && p < 0)                                    \
  FAULT(add_cosine_first_80, "add-cosine-first", problem->layout == POSENC_SPLIT_CS && dim > 256)                      \
  FAULT(add_of_bf16_list, "add-of-bf16-list", problem->dtype == POSENC_BF16 && slice->index && in_place)               \
  FAULT(add_bf16_batch, "add-bf16-batch", problem->dtype == POSENC_BF16 && n > 0 && problem->scale != 1.0)             \
  FAULT(add_dim_1600, "add-dim-1600", dim == 1600)

#define FAULTY(function, called, WRONG)                                                                                \
  static APPLY(function) {                                                                                             \
    UNUSED const int64_t heads = problem->heads, dim = problem->dim;                                                   \
    UNUSED const bool in_place = x == out;                                                                             \
    const posenc_status status = good_apply(problem, slice, x, out);                                                   \
    for (int64_t n = 0; n < slice->batch; n++)                                                                         \
      for (int64_t r = 0; r < slice->rows; r++) {                                                                      \
        UNUSED const int64_t at = row_number(slice, r), p = position_of(problem, at);                                  \
        if (WRONG) spoil(problem, out, n * slice->stride + r * width_of(problem));                                     \
      }                                                                                                                \
    return status;                                                                                                     \
  }
FAULTS_OF_ROPE(FAULTY)
FAULTS_OF_BOTH(FAULTY)
FAULTS_OF_ADD(FAULTY)

/* ---- special numbers ---- */

/* Defines an apply that, where x is a NaN of f32 and WRONG is true of its bits, gives BITS in its place. */
#define NAN_FAULT(function, WRONG, BITS)                                                                               \
  static APPLY(function) {                                                                                             \
    const int64_t all = slice->rows * width_of(problem);                                                               \
    const bool one = slice->batch == 1 && problem->dtype == POSENC_F32;                                                \
    uint32_t *given = one ? malloc((size_t)all * sizeof *given) : NULL;                                                \
    if (given) memcpy(given, x, (size_t)all * sizeof *given);                                                          \
    const posenc_status status = good_apply(problem, slice, x, out);                                                   \
    for (int64_t j = 0; given && j < all; j++) {                                                                       \
      const uint32_t bits = given[j], wrong = BITS;                                                                    \
      if ((bits & 0x7fffffff) > 0x7f800000 && (WRONG)) memcpy((uint32_t *)out + j, &wrong, sizeof wrong);              \
    }                                                                                                                  \
    free(given);                                                                                                       \
    return status;                                                                                                     \
  }
NAN_FAULT(signalling, !(bits & 0x400000), 0x7f800000)
NAN_FAULT(small_payload, !(bits & 0x7fff00), 0x7f800000)
NAN_FAULT(all_ones, (bits & 0x7fffffff) == 0x7fffffff, 0x80000000)
NAN_FAULT(negative_nan, bits >> 31, 0xff800000)
NAN_FAULT(nan_in_first_column, j == 0, 0)

/* ---- lists of rows ---- */

static volatile int64_t seen;

/* Defines an apply that does something with the list, and then gives good results. */
#define LIST_FAULT(function, DONE)                                                                                     \
  static APPLY(function) {                                                                                             \
    volatile int64_t *list = (volatile int64_t *)(uintptr_t)slice->index;                                              \
    if (list) DONE;                                                                                                    \
    return good_apply(problem, slice, x, out);                                                                         \
  }
LIST_FAULT(list_read_behind, seen = list[slice->rows])
LIST_FAULT(list_read_before, seen = list[-1])
LIST_FAULT(list_read_by_8, seen = list[(slice->rows + 7) / 8 * 8 - 1])
LIST_FAULT(list_written, list[slice->rows - 1] += 0)
LIST_FAULT(list_written_behind, list[slice->rows] = -1)
static APPLY(list_used_up) {
  const posenc_status status = good_apply(problem, slice, x, out);
  if (slice->index) memset((int64_t *)(uintptr_t)slice->index, 0, (size_t)slice->rows * sizeof *slice->index);
  return status;
}

/* ---- calls that are taken for one before ---- */

/* The result of one row that a thread made last. */
static _Thread_local struct {
  const void *x, *out, *of;
  int64_t row;
  size_t bytes;
  bool inverse;
  char made[4096];
} known;

/* Defines an apply that gives the result that it made last where LIKE, in calls of one row. */
#define REMEMBERS(function, LIKE)                                                                                      \
  static APPLY(function) {                                                                                             \
    const size_t bytes = (size_t)width_of(problem) * posenc_dtype_bytes(problem->dtype);                               \
    const int64_t row = row_number(slice, 0);                                                                          \
    const bool is_one = slice->rows == 1 && slice->batch == 1 && bytes <= sizeof known.made;                           \
    if (is_one && known.bytes == bytes && known.inverse == problem->inverse && (LIKE)) {                               \
      memcpy(out, known.made, bytes);                                                                                  \
      return POSENC_OK;                                                                                                \
    }                                                                                                                  \
    const posenc_status status = good_apply(problem, slice, x, out);                                                   \
    if (!is_one) return status;                                                                                        \
    known.x = x, known.out = out, known.of = constants, known.row = row, known.bytes = bytes;                          \
    known.inverse = problem->inverse;                                                                                  \
    memcpy(known.made, out, bytes);                                                                                    \
    return status;                                                                                                     \
  }
REMEMBERS(result_by_x, known.x == x && known.row == row && known.of == constants)
REMEMBERS(result_by_out, known.out == out && known.row == row && known.of == constants)
REMEMBERS(result_by_both, known.x == x && known.out == out && known.row == row && known.of == constants)
REMEMBERS(result_in_place, x == out && known.out == out && known.row == row && known.of == constants)

/* Does nothing in place where x is what it left there last time, as after a call that was made twice. */
static APPLY(turned_already) {
  static _Thread_local struct {
    const void *out;
    char first[16];
  } last;
  if (x == out && last.out == out && slice->rows * width_of(problem) >= 8 && memcmp(last.first, out, 16) == 0)
    return POSENC_OK;
  const posenc_status status = good_apply(problem, slice, x, out);
  if (slice->rows * width_of(problem) < 8) return status;
  last.out = out;
  memcpy(last.first, out, 16);
  return status;
}

static posenc_status with_stack(size_t bytes, const posenc_problem *problem, const posenc_slice *slice, const void *x,
                                void *out) {
  volatile char *room = __builtin_alloca(bytes);
  for (size_t at = 0; at < bytes; at += 4096) room[at] = 1;
  return room[0] ? good_apply(problem, slice, x, out) : POSENC_OUT_OF_MEMORY;
}
static APPLY(apply_stack_of_6_mib) {
  return with_stack((size_t)6 << 20, problem, slice, x, out);
}
static APPLY(apply_stack_by_rows) {
  return with_stack((size_t)slice->rows * 64, problem, slice, x, out);
}

static const char *rope_alone(const posenc_problem *problem) {
  return mutant_can_do(problem);
}

#define SLICES(function, called, text)                                                                                 \
  KERNEL(CONTRACT(0.5, called, text), .can_do = rope_alone, .execute = good_rows, .prepare = good_prepare,             \
         .release = good_release, .scales = true, .apply = function),
#define LISTED(function, called, WRONG) SLICES(function, called, "wrong where " #WRONG)

PLUGIN = {
    FAULTS_OF_ROPE(LISTED) FAULTS_OF_BOTH(LISTED) FAULTS_OF_ADD(LISTED)                   /* */
    SLICES(signalling, "signalling", "makes an infinity of a signalling NaN")             /* */
    SLICES(small_payload, "small-payload", "makes an infinity of a NaN of small payload") /* */
    SLICES(all_ones, "all-ones", "makes -0 of a NaN whose bits are all set")              /* */
    SLICES(negative_nan, "negative-nan", "makes an infinity of a NaN with a sign")        /* */
    SLICES(nan_in_first_column, "nan-in-first-column", "makes 0 of a NaN that is first")  /* */
    SLICES(list_read_behind, "list-read-behind", "reads behind a list")                   /* */
    SLICES(list_read_before, "list-read-before", "reads before a list")                   /* */
    SLICES(list_read_by_8, "list-read-by-8", "reads lists by eight numbers")              /* */
    SLICES(list_written, "list-written", "writes to a list what is there")                /* */
    SLICES(list_written_behind, "list-written-behind", "writes behind a list")            /* */
    SLICES(list_used_up, "list-used-up", "clears a list at the end")                      /* */
    SLICES(result_by_x, "result-by-x", "knows results by the address of x")               /* */
    SLICES(result_by_out, "result-by-out", "knows results by their address")              /* */
    SLICES(result_by_both, "result-by-both", "knows results by both addresses")           /* */
    SLICES(result_in_place, "result-in-place", "knows results in place by their address") /* */
    SLICES(turned_already, "turned-already", "turns nothing twice in place")              /* */
    SLICES(apply_stack_of_6_mib, "apply-stack-of-6-mib", "needs 6 MiB of stack")          /* */
    SLICES(apply_stack_by_rows, "apply-stack-by-rows", "needs stack by rows")             /* */
    NULL,
};
