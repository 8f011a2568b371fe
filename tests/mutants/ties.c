/* SPDX-License-Identifier: MIT */
/* Kernels with correct rounding as bound, by the MPFR reference: one that satisfies it, and mutants that fail near
   midpoints. */
#include "reference/oracle.h"
#include "tests/mutants/mutant.h"

#include <math.h>
#include <mpfr.h>

static PREPARE(prepare) {
  posenc_problem unpadded = *problem;
  unpadded.padding = POSENC_NO_PADDING;
  *constants = oracle_create(&unpadded);
  mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* calls fill it again, and may not write to what was prepared here */
  return *constants ? POSENC_OK : POSENC_OUT_OF_MEMORY;
}

static void release(void *constants) {
  oracle_destroy(constants);
}

typedef float rounding(const exact *value, int64_t position);

static void fill(const oracle *reference, const posenc_problem *problem, int64_t row, int64_t rows, float *out,
                 rounding *round) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  for (int64_t r = 0; r < rows; r++, out += problem->dim)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const int64_t position = position_of(problem, row + r);
      const exact_pair pair = oracle_pair(reference, position, i);
      out[at.sin + i * at.step] = round(&pair.sine, position);
      out[at.cos + i * at.step] = round(&pair.cosine, position);
    }
}

/* ---- the roundings ----------------------------------------------------------------------------- */

static float to_nearest(const exact *value, int64_t position) {
  (void)position;
  return (float)value->rounded;
}

/* Returns the neighbour on the other side of the value, which is between the two. */
static float farther(const exact *value) {
  return nextafterf((float)value->rounded, value->high > value->rounded ? 2.0f : -2.0f);
}

/* Is wrong like a kernel that rounds twice, or whose last step lacks a few bits. */
static float wrong_near_midpoints(const exact *value, int64_t position) {
  return format_from_midpoint(&format_f32, value) < 0x1p-28 ? farther(value) : to_nearest(value, position);
}

/* Is wrong like a kernel with an untested path for hard-to-round cases: by an ulp, at large positions. */
static float wrong_near_far_ties(const exact *value, int64_t position) {
  const bool hard = position > INT64_C(1) << 30 && format_from_midpoint(&format_f32, value) < 0x1p-20;
  const float end = farther(value) > (float)value->rounded ? 2.0f : -2.0f;
  return hard ? nextafterf(farther(value), end) : to_nearest(value, position);
}

/* MPFR's caches belong to the thread, which may end after the call. */
#define ROUNDED_BY(name, round)                                                                                        \
  static EXECUTE(name) {                                                                                               \
    fill(constants, problem, row, rows, out, round);                                                                   \
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);                                                                           \
  }
ROUNDED_BY(rounded, to_nearest)
ROUNDED_BY(rounded_but_near_midpoints, wrong_near_midpoints)
ROUNDED_BY(rounded_but_near_far_ties, wrong_near_far_ties)

static const char *can_do(const posenc_problem *problem) {
  return problem->dtype == POSENC_F32 ? NULL : "it writes f32 only";
}

/* A bound of ½ ulp and nothing more is correct rounding: a misrounded element is beyond it. */
#define ROUNDED(called, fault, run)                                                                                    \
  .abi = POSENC_KERNEL_ABI, .isa = POSENC_ISA_GENERIC, .name = called, .summary = fault, .algorithm = "MPFR",          \
  .provenance = "posenc's tests", .bound = {.ulp = 0.5, .max_position = INT64_C(1) << 61, .derived = true},            \
  .basis = "correct rounding", .reproducible = true, .can_do = can_do, .prepare = prepare, .execute = run,             \
  .release = release

PLUGIN = {
    KERNEL(ROUNDED("correctly-rounded", "no fault", rounded)),
    KERNEL(ROUNDED("wrong-near-ties", "the farther neighbour within 2^-28 ulp of a tie", rounded_but_near_midpoints)),
    KERNEL(ROUNDED("wrong-near-far-ties", "an ulp too far within 2^-20 ulp of a tie, beyond 2^30",
                   rounded_but_near_far_ties)),
    NULL,
};
