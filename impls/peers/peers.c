/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/peers/peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- instruction sets -------------------------------------------------------------------------- */

#if !defined(HAVE_SLEEF) && !defined(HAVE_LIBMVEC)
rows_writer *const rows_generic[ROWS_KERNELS] = {NULL}, *const rows_avx2[ROWS_KERNELS] = {NULL},
                   *const rows_avx512[ROWS_KERNELS] = {NULL};
#elif !defined(HAVE_AVX512)
rows_writer *const rows_avx512[ROWS_KERNELS] = {NULL};
#endif

#if !defined(HAVE_AVX512)
#define TIERS (POSENC_ISA_GENERIC | POSENC_ISA_AVX2)
#else
#define TIERS (POSENC_ISA_GENERIC | POSENC_ISA_AVX2 | POSENC_ISA_AVX512)
#endif

/* Returns the tiers among TIERS that the CPU has and the options or POSENC_ISA allow. There is at least one, as
   posenc_kernel_refusal has accepted the kernel. */
static unsigned allowed_tiers(const posenc_options *options) {
  const char *text = getenv("POSENC_ISA");
  unsigned allowed = POSENC_ISA_ALL;
  if (options->isa)
    allowed = options->isa;
  else if (text && *text)
    posenc_isa_parse(text, &allowed);
  return allowed & posenc_isa_detect() & TIERS;
}

/* Returns the writer with the widest vectors that the tiers allow; null if it was not built. */
static rows_writer *writer_of(rows_kernel which, unsigned tiers) {
  if (tiers & POSENC_ISA_AVX512) return rows_avx512[which];
  return (tiers & POSENC_ISA_AVX2 ? rows_avx2 : rows_generic)[which];
}

/* ---- plans ------------------------------------------------------------------------------------- */

typedef struct plan {
  rows_writer *write;
  posenc_stores stores;
  void *frequencies; /* radians per position, float or double; zeros up to a multiple of ROWS_PADDING */
} plan;

static bool is_plain(const posenc_problem *problem) {
  return problem->scaling.kind == POSENC_SCALING_NONE && problem->scale >= 1.0 && problem->scale <= 1.0;
}

/* Computes the frequencies in double; those of a scale or a scaling are given. Returns null if memory runs out. */
static double *doubles_of(const posenc_problem *problem) {
  const int64_t count = problem->dim / 2;
  const double denominator = (double)count - problem->shift;
  double *made = calloc((size_t)count, sizeof *made);
  if (!made) return NULL;
  if (is_plain(problem)) {
    for (int64_t i = 0; i < count; i++) made[i] = pow(problem->base, -(double)i / denominator);
  } else if (posenc_frequencies(problem, made) != POSENC_OK) { /* can_do has accepted the problem */
    free(made);
    return NULL;
  }
  return made;
}

static void *frequencies_of(const posenc_problem *problem, bool single) {
  const size_t count = (size_t)problem->dim / 2, size = single ? sizeof(float) : sizeof(double);
  size_t bytes;
  if (__builtin_mul_overflow((count + ROWS_PADDING - 1) / ROWS_PADDING, ROWS_PADDING * size, &bytes)) return NULL;
  double *w = doubles_of(problem);
  void *made = w ? aligned_alloc(ROWS_PADDING * size, bytes) : NULL;
  if (made) memset(made, 0, bytes);
  for (size_t i = 0; made && i < count; i++) {
    if (single)
      ((float *)made)[i] = (float)w[i];
    else
      ((double *)made)[i] = w[i];
  }
  free(w);
  return made;
}

static posenc_status prepare(const posenc_problem *problem, const posenc_options *options, rows_kernel which,
                             void **constants) {
  const bool single = which == ROWS_LIBMVEC_F32 || which == ROWS_SLEEF_F32_U10 || which == ROWS_SLEEF_F32_U35;
  plan *made = malloc(sizeof *made);
  if (!made) return POSENC_OUT_OF_MEMORY;
  made->write = writer_of(which, allowed_tiers(options));
  made->stores = options->stores;
  made->frequencies = frequencies_of(problem, single);
  if (!made->frequencies) {
    free(made);
    return POSENC_OUT_OF_MEMORY;
  }
  *constants = made;
  return POSENC_OK;
}

static void release(void *constants) {
  plan *made = constants;
  free(made->frequencies);
  free(made);
}

/* Competitors use streaming stores when the library's kernels do (lib/api/store.h): for large tables, unless the memory
   is new. */
static bool should_stream(posenc_stores wish, const posenc_problem *problem, int64_t rows, const void *out) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char there = 1;
  if (wish != POSENC_STORES_AUTO) return wish == POSENC_STORES_STREAMING;
  return (double)rows * (double)problem->dim * sizeof(float) >= 0x1p24 &&
         (mincore((char *)((uintptr_t)out & ~(uintptr_t)(page - 1)), 1, &there) != 0 || there & 1);
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const plan *made = constants;
  made->write(made->frequencies, problem, row, rows, should_stream(made->stores, problem, rows, out), out);
}

static const char *can_do(const posenc_problem *problem) {
  if (problem->base < 1.0) return "it needs base >= 1"; /* otherwise a frequency may be infinite */
  if (is_plain(problem)) return NULL;
  if (problem->scale < 0x1p-96)
    return "it needs a scale, and positions as multiples of one, of 2^-96 and more, for f32";
  return posenc_kernel_find("rotation-portable")->can_do(problem); /* what posenc_frequencies needs */
}

/* ---- contracts --------------------------------------------------------------------------------- */

/*
 * Error bound in f32, in units u = 2^-24; errors are relative unless said otherwise. The frequency in double is within
 * 3 × 2^-53 (naive-f64.c), or given within 2^-52, which is negligible; rounding it is 1 u. The rounded position and the
 * product are 1 u each. As w <= 1 in units of the scale, the error of the angle is below 3.01 u × |p| in all; roundings
 * below the smallest normal number, 2^-150 each, fit in the rest of 3.125 u, as the scale is 2^-96 or more. The
 * library's sine adds ACCURACY ulp of the sine of the rounded angle. That is at most twice as many ulp of the exact
 * value, as an ulp is at most 2 u and at least 1 u of a number, and 2 ACCURACY u × 3.01 u × |p|, which fits in the rest
 * too.
 */
#define BOUND_F32(accuracy)                                                                                            \
  { .ulp = 2.0 * (accuracy), .abs = 0.0, .growth = 3.125 * 0x1p-24, .max_position = INT64_MAX, .derived = true }

/*
 * Error bound in double, in units u = 2^-53. The error of the angle is below 4.8 u × |p|, as in naive-f64.c, with a
 * product instead of a division. The library's sine adds ACCURACY ulp, and an ulp is at most u below 1. The final
 * rounding makes ulp/2 + 1.5 E of this, with E = (4.8 |p| + ACCURACY) u.
 */
#define BOUND_F64(accuracy)                                                                                            \
  { .ulp = 0.5, .abs = 1.5 * (accuracy)*0x1p-53, .growth = 0x1p-50, .max_position = INT64_MAX, .derived = true }

#define ALGORITHM_F32                                                                                                  \
  "Frequencies once per plan, in double, rounded to f32; then one f32 product and one vector sine and cosine per "     \
  "pair, "                                                                                                             \
  "with the widest vectors allowed."
#define ALGORITHM_F64                                                                                                  \
  "Frequencies once per plan, in double; then one product and one vector sine and cosine per pair in double, each "    \
  "rounded once, with the widest vectors allowed."

#define LIBMVEC_ACCURACY 4.0
#define LIBMVEC_BASIS                                                                                                  \
  "derived in impls/peers/peers.c, given pow within 1 ulp and libmvec's sines within the 4 ulp it is tested for"
#define LIBMVEC_PROVENANCE "Intel and the GNU C library: libmvec, 2015, https://sourceware.org/glibc/wiki/libmvec"
#ifdef HAVE_LIBMVEC
#define LIBMVEC_ABSENT NULL
#else
#define LIBMVEC_ABSENT "posenc was built without libmvec"
#endif

#define SLEEF_BASIS(accuracy)                                                                                          \
  "derived in impls/peers/peers.c, given pow within 1 ulp and SLEEF's sines within the " #accuracy " ulp it states"
#define SLEEF_PROVENANCE                                                                                               \
  "Shibata and Petrogalli: SLEEF, a portable vectorized library of C standard mathematical functions, 2020, "          \
  "https://sleef.org"
#ifdef HAVE_SLEEF
#define SLEEF_ABSENT NULL
#else
#define SLEEF_ABSENT "posenc was built without SLEEF"
#endif

/* Defines the kernel SYMBOL. Further arguments are fields of its contract. */
/* Makes: prepare_sleef_f32_u35, prepare_sleef_f32_u10, prepare_libmvec_f32, prepare_sleef_f64_u35,
   prepare_libmvec_f64, prepare_sleef_f64_u10. */
#define PEER(symbol, which, ...)                                                                                       \
  static posenc_status prepare_##symbol(const posenc_problem *problem, const posenc_options *options,                  \
                                        void **constants) {                                                            \
    return prepare(problem, options, which, constants);                                                                \
  }                                                                                                                    \
  static const posenc_kernel symbol = {                                                                                \
      .abi = POSENC_KERNEL_ABI,                                                                                        \
      .isa = TIERS,                                                                                                    \
      .reproducible = false,                                                                                           \
      .scales = true,                                                                                                  \
      .f32_only = true,                                                                                                \
      .can_do = can_do,                                                                                                \
      .prepare = prepare_##symbol,                                                                                     \
      .execute = execute,                                                                                              \
      .release = release,                                                                                              \
      __VA_ARGS__,                                                                                                     \
  };

#define LIBMVEC .provenance = LIBMVEC_PROVENANCE, .basis = LIBMVEC_BASIS, .absent = LIBMVEC_ABSENT
#define SLEEF(accuracy) .provenance = SLEEF_PROVENANCE, .basis = SLEEF_BASIS(accuracy), .absent = SLEEF_ABSENT

PEER(sleef_f32_u35, ROWS_SLEEF_F32_U35, SLEEF(3.5), .name = "sleef-f32-u35",
     .summary = "f32 angles, SLEEF's vector sincosf of 3.5 ulp", .algorithm = ALGORITHM_F32, .bound = BOUND_F32(3.5))
PEER(sleef_f32_u10, ROWS_SLEEF_F32_U10, SLEEF(1.0), .name = "sleef-f32-u10",
     .summary = "f32 angles, SLEEF's vector sincosf of 1.0 ulp", .algorithm = ALGORITHM_F32, .bound = BOUND_F32(1.0))
PEER(libmvec_f32, ROWS_LIBMVEC_F32, LIBMVEC, .name = "libmvec-f32",
     .summary = "f32 angles, glibc's vector sinf and cosf", .algorithm = ALGORITHM_F32,
     .bound = BOUND_F32(LIBMVEC_ACCURACY))
PEER(sleef_f64_u35, ROWS_SLEEF_F64_U35, SLEEF(3.5), .name = "sleef-f64-u35",
     .summary = "angles in double, SLEEF's vector sincos of 3.5 ulp", .algorithm = ALGORITHM_F64,
     .bound = BOUND_F64(3.5))
PEER(libmvec_f64, ROWS_LIBMVEC_F64, LIBMVEC, .name = "libmvec-f64",
     .summary = "angles in double, glibc's vector sin and cos", .algorithm = ALGORITHM_F64,
     .bound = BOUND_F64(LIBMVEC_ACCURACY))
PEER(sleef_f64_u10, ROWS_SLEEF_F64_U10, SLEEF(1.0), .name = "sleef-f64-u10",
     .summary = "angles in double, SLEEF's vector sincos of 1.0 ulp", .algorithm = ALGORITHM_F64,
     .bound = BOUND_F64(1.0))

static const posenc_kernel *const kernels[] = {&sleef_f32_u35, &sleef_f32_u10, &libmvec_f32,    &sleef_f64_u35,
                                               &libmvec_f64,   &sleef_f64_u10, &rotation_openmp};

const posenc_kernel *const *peers_kernels(size_t *count) {
  *count = sizeof kernels / sizeof *kernels;
  return kernels;
}
