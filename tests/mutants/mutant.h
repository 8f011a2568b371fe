/* SPDX-License-Identifier: MIT */
/*
 * Parts of mutants: the correct rows of a good kernel of the library, and its contract, which every mutant has. A
 * mutant changes one of them. tests/mutants/expected lists what verification must say about it.
 */
#ifndef POSENC_TESTS_MUTANTS_MUTANT_H
#define POSENC_TESTS_MUTANTS_MUTANT_H

#include "posenc.h"
#include "tests/kernel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static inline const posenc_kernel *good_kernel(void) {
  return posenc_kernel_find("rotation-portable");
}

static inline const char *good_can_do(const posenc_problem *problem) {
  return posenc_kernel_refusal(good_kernel(), problem, NULL);
}

static inline const char *mutant_can_do(const posenc_problem *problem) {
  return problem->dtype == POSENC_F32 ? good_can_do(problem) : "it writes f32 only";
}

/* The constants that the good kernel prepared for a problem; freed when the thread ends. */
typedef struct known_problem {
  posenc_problem problem;
  void *constants;
} known_problem;

static pthread_key_t known_key;

static inline void forget_problem(void *argument) {
  known_problem *known = argument;
  if (known->constants) good_kernel()->release(known->constants);
  free(known);
}

static inline void make_known_key(void) {
  if (pthread_key_create(&known_key, forget_problem) != 0) abort();
}

/* Writes the correct rows of the problem's positions from `position` on, in the table or not. The constants are kept by
   each thread until it requests another problem. */
static inline void true_rows(const posenc_problem *problem, int64_t position, int64_t rows, void *out) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const posenc_options options = posenc_default_options();
  pthread_once(&once, make_known_key);
  known_problem *known = pthread_getspecific(known_key);
  if (!known && (!(known = calloc(1, sizeof *known)) || pthread_setspecific(known_key, known) != 0)) abort();
  if (memcmp(&known->problem, problem, sizeof *problem) != 0) {
    if (known->constants) good_kernel()->release(known->constants);
    known->constants = NULL;
    known->problem = *problem;
    if (good_kernel()->prepare(problem, &options, &known->constants) != POSENC_OK) abort();
  }
  good_kernel()->execute(known->constants, problem, position - problem->first, rows, out);
}

/* Returns the position of a row of the table. */
static inline int64_t position_of(const posenc_problem *problem, int64_t row) {
  return problem->first + row;
}

/* Returns the element of a position and column, or null if rows [row, row + rows) in `out` do not contain it. */
static inline float *element(void *out, const posenc_problem *problem, int64_t row, int64_t rows, int64_t position,
                             int64_t column) {
  const int64_t at = position - position_of(problem, row);
  return at >= 0 && at < rows && column < problem->dim ? (float *)out + at * problem->dim + column : NULL;
}

/* A plugin is a list of kernels: PLUGIN = {MUTANT(…), …, NULL}. */
#define PLUGIN                                                                                                         \
  POSENC_PLUGIN_EXPORT const uint32_t posenc_plugin_abi;                                                               \
  POSENC_PLUGIN_EXPORT const posenc_kernel *const posenc_plugin_kernels[];                                             \
  const uint32_t posenc_plugin_abi = POSENC_KERNEL_ABI;                                                                \
  const posenc_kernel *const posenc_plugin_kernels[]
#define KERNEL(...)                                                                                                    \
  &(const posenc_kernel) {                                                                                             \
    __VA_ARGS__                                                                                                        \
  }

/* Initialisers of a contract with a bound of `claimed` ulp, where the correct rows have 0.5; and kernels with it. The
   variable arguments begin with the function that executes; further initialisers may follow. */
#define CONTRACT(claimed, called, fault) CONTRACT_WITH(claimed, called, fault, true)
#define CONTRACT_WITH(claimed, called, fault, same_bits)                                                               \
  .abi = POSENC_KERNEL_ABI, .isa = POSENC_ISA_GENERIC, .name = called, .summary = fault,                               \
  .algorithm = "that of rotation-portable, with one fault", .provenance = "posenc's tests",                            \
  .bound = {.ulp = claimed, .abs = 0x1p-45, .max_position = INT64_C(1) << 61, .derived = true},                        \
  .basis = "that of rotation-portable", .reproducible = same_bits
#define MUTANT(called, fault, ...) KERNEL(CONTRACT(0.5, called, fault), .can_do = mutant_can_do, .execute = __VA_ARGS__)
#define MUTANT_OF_GOOD(called, fault, ...)                                                                             \
  MUTANT(called, fault, __VA_ARGS__, .prepare = good_prepare, .release = good_release)

static inline PREPARE(good_prepare) {
  return good_kernel()->prepare(problem, options, constants);
}

static inline void good_release(void *constants) {
  good_kernel()->release(constants);
}

static inline EXECUTE(good_rows) {
  good_kernel()->execute(constants, problem, row, rows, out);
}

/* Return the correct results of add and rope, and the correct stages. */
static inline posenc_status good_apply(const posenc_problem *problem, const posenc_slice *slice, const void *x,
                                       void *out) {
  posenc_options options = posenc_default_options();
  posenc_plan *plan;
  options.kernel = good_kernel();
  posenc_status status = posenc_plan_create(&plan, problem, &options);
  if (status == POSENC_OK) status = posenc_apply(plan, slice, x, out);
  posenc_plan_destroy(plan);
  return status;
}

static inline bool good_stages(const posenc_problem *problem, int64_t row, int64_t rows, posenc_stages *out) {
  posenc_options options = posenc_default_options();
  posenc_plan *plan;
  options.kernel = good_kernel();
  if (posenc_plan_create(&plan, problem, &options) != POSENC_OK) abort();
  const bool told = posenc_plan_stages(plan, row, rows, out);
  posenc_plan_destroy(plan);
  return told;
}

/* Returns the number of elements of a row of a result. */
static inline int64_t width_of(const posenc_problem *problem) {
  return problem->heads * problem->dim;
}

/* A kernel with good rows and an apply function of its own. */
#define APPLIED(called, fault, run) MUTANT_OF_GOOD(called, fault, good_rows, .apply = run)

/* Flips the last bit of an element, the smallest change that is beyond a bound of half an ulp. 0 becomes a subnormal
   number. */
static inline void nudge(void *out, int64_t at) {
  uint32_t bits;
  memcpy(&bits, (float *)out + at, sizeof bits);
  bits ^= 1;
  memcpy((float *)out + at, &bits, sizeof bits);
}

/* Changes the highest bit of the fraction of an element of the result, which is beyond any bound. */
static inline void spoil(const posenc_problem *problem, void *out, int64_t at) {
  const size_t bytes = posenc_dtype_bytes(problem->dtype);
  ((char *)out)[(size_t)(at + 1) * bytes - 2] ^= 0x40;
}

/* Returns the number of a row of the slice. */
static inline int64_t row_number(const posenc_slice *slice, int64_t r) {
  return slice->index ? slice->index[r] : slice->row + r;
}

/* ---- functions with one fault ---- */

/* Defines an execute with the good rows. Rows for which WRONG is true have one wrong element, the first cosine. WRONG
   can use the problem, the call's row and rows, this row's position p, and out. */
#define WRONG_ROWS(function, WRONG)                                                                                    \
  static EXECUTE(function) {                                                                                           \
    const int64_t cosine = posenc_layout_columns(problem->layout, problem->dim).cos;                                   \
    good_rows(constants, problem, row, rows, out);                                                                     \
    for (int64_t r = 0; r < rows; r++) {                                                                               \
      UNUSED const int64_t p = position_of(problem, row + r);                                                          \
      if (WRONG) nudge(out, r * problem->dim + cosine);                                                                \
    }                                                                                                                  \
  }

/* Defines an execute in which the last row of such a call is the wrong one. */
#define WRONG_CALLS(function, WRONG)                                                                                   \
  static EXECUTE(function) {                                                                                           \
    const bool is_wrong = WRONG;                                                                                       \
    good_rows(constants, problem, row, rows, out);                                                                     \
    if (is_wrong) nudge(out, (rows - 1) * problem->dim + posenc_layout_columns(problem->layout, problem->dim).cos);    \
  }

/* Define an execute with the good rows, and DONE before or after them. */
#define BEFORE_ROWS(function, DONE)                                                                                    \
  static EXECUTE(function) {                                                                                           \
    DONE;                                                                                                              \
    good_rows(constants, problem, row, rows, out);                                                                     \
  }
#define AFTER_ROWS(function, DONE)                                                                                     \
  static EXECUTE(function) {                                                                                           \
    good_rows(constants, problem, row, rows, out);                                                                     \
    DONE;                                                                                                              \
  }

/* Define a prepare with the good constants, and DONE before or after them. */
#define BEFORE_PLAN(function, DONE)                                                                                    \
  static PREPARE(function) {                                                                                           \
    DONE;                                                                                                              \
    return good_prepare(problem, options, constants);                                                                  \
  }
#define AFTER_PLAN(function, DONE)                                                                                     \
  static PREPARE(function) {                                                                                           \
    const posenc_status status = good_prepare(problem, options, constants);                                            \
    DONE;                                                                                                              \
    return status;                                                                                                     \
  }

/* Defines rows, without constants, and results of the problem p after CHANGE. */
#define CHANGED_ROWS(function, CHANGE)                                                                                 \
  static EXECUTE(function) {                                                                                           \
    posenc_problem p = *problem;                                                                                       \
    CHANGE;                                                                                                            \
    true_rows(&p, position_of(problem, row), rows, out);                                                               \
  }
#define CHANGED_SLICES(function, CHANGE)                                                                               \
  static APPLY(function) {                                                                                             \
    posenc_problem p = *problem;                                                                                       \
    UNUSED const bool in_place = x == out;                                                                             \
    CHANGE;                                                                                                            \
    return good_apply(&p, slice, x, out);                                                                              \
  }

/* Defines an apply with the good results, in which rows r of sequences n for which WRONG is true have a wrong first
   element. */
#define WRONG_SLICES(function, WRONG)                                                                                  \
  static APPLY(function) {                                                                                             \
    UNUSED const bool in_place = x == out;                                                                             \
    const posenc_status status = good_apply(problem, slice, x, out);                                                   \
    for (int64_t n = 0; n < slice->batch; n++)                                                                         \
      for (int64_t r = 0; r < slice->rows; r++)                                                                        \
        if (WRONG) spoil(problem, out, n * slice->stride + r * width_of(problem));                                     \
    return status;                                                                                                     \
  }

#endif
