/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/peers/peers.h"

#ifdef HAVE_OPENMP
#include <omp.h>
#include <stdlib.h>

/* Blocks of rows as in the serial kernels. A thread gets at least 64 KiB, as less does not pay for a team. */
enum { BLOCK = 32, LEAST_BYTES = 1 << 16 };

typedef struct plan {
  const posenc_kernel *serial;
  void *constants;
  int threads;
} plan;

static const posenc_kernel *serial_for(const posenc_problem *problem, const posenc_options *options) {
  const posenc_kernel *fast = posenc_kernel_find("rotation-avx512");
  return posenc_kernel_refusal(fast, problem, options) ? posenc_kernel_find("rotation-portable") : fast;
}

static posenc_status prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  plan *made = malloc(sizeof *made);
  if (!made) return POSENC_OUT_OF_MEMORY;
  const int most = omp_get_num_procs();
  made->serial = serial_for(problem, options);
  made->threads = options->threads ? options->threads : omp_get_max_threads();
  if (made->threads > most) made->threads = most;
  const posenc_status status = made->serial->prepare(problem, options, &made->constants);
  if (status == POSENC_OK)
    *constants = made;
  else
    free(made);
  return status;
}

static void release(void *constants) {
  plan *made = constants;
  made->serial->release(made->constants);
  free(made);
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const plan *made = constants;
  const int64_t row_bytes = problem->dim * (int64_t)posenc_dtype_bytes(problem->dtype),
                most = rows * row_bytes / LEAST_BYTES, threads = made->threads < most ? made->threads : most,
                each = threads > 1 ? (rows / threads + BLOCK) / BLOCK * BLOCK : rows;
#pragma omp parallel for schedule(static) num_threads(threads > 1 ? (int)threads : 1)
  for (int64_t from = 0; from < rows; from += each)
    made->serial->execute(made->constants, problem, row + from, rows - from < each ? rows - from : each,
                          (char *)out + from * row_bytes);
}

static const char *can_do(const posenc_problem *problem) {
  return posenc_kernel_find("rotation-portable")->can_do(problem);
}
#endif

/* The bound is that of the rotation kernels it runs (impls/rotation/rotation.h). */
const posenc_kernel rotation_openmp = {
    .abi = POSENC_KERNEL_ABI,
    .name = "rotation-openmp",
    .summary = "blocks of rows of the best rotation kernel, by OpenMP's parallel for",
    .algorithm = "One contiguous run of rows for each thread of OpenMP's team, which all of them end together.",
    .provenance = "OpenMP Architecture Review Board: parallel for, 1997, https://www.openmp.org",
    .basis = "it runs only serial kernels that promise the same",
    .bound = {.ulp = 0.5, .abs = 0x1p-45, .growth = 0.0, .max_position = INT64_C(1) << 62, .derived = true},
    .reproducible = true,
    .threaded = true,
    .scales = true,
#ifdef HAVE_OPENMP
    .can_do = can_do,
    .prepare = prepare,
    .execute = execute,
    .release = release,
#else
    .absent = "posenc was built without OpenMP",
#endif
};
