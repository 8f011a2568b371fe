/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/cr/cr.h"
#include "impls/rotation/rotation.h"
#include "lib/api/kernel.h"
#include "lib/apply/apply.h"

#ifdef HAVE_OPENMP
#include <omp.h>
#include <stdlib.h>

typedef struct team {
  const posenc_kernel *serial;
  void *constants;
  const apply_loops *loops;
  int threads;
} team;

static void release(void *constants) {
  team *made = constants;
  if (made->serial->release) made->serial->release(made->constants);
  free(made);
}

static posenc_status prepare_with(const posenc_bound *promise, const posenc_problem *problem,
                                  const posenc_options *options, void **constants) {
  const posenc_kernel *serial = kernel_best_serial(problem, options, promise);
  if (!serial) return POSENC_CANNOT_RUN;
  team *made = calloc(1, sizeof *made);
  if (!made) return POSENC_OUT_OF_MEMORY;
  made->serial = serial;
  made->loops = apply_loops_for(options);
  const int wanted = options->threads ? options->threads : omp_get_max_threads(), most = 4 * omp_get_num_procs();
  made->threads = wanted < most ? wanted : most;
  const posenc_status status = serial->prepare ? serial->prepare(problem, options, &made->constants) : POSENC_OK;
  if (status == POSENC_OK)
    *constants = made;
  else
    free(made);
  return status;
}

static posenc_status prepare_rotation(const posenc_problem *problem, const posenc_options *options, void **constants) {
  static const posenc_bound promise = ROTATION_BOUND;
  return prepare_with(&promise, problem, options, constants);
}

static posenc_status prepare_cr(const posenc_problem *problem, const posenc_options *options, void **constants) {
  static const posenc_bound promise = CR_BOUND;
  return prepare_with(&promise, problem, options, constants);
}

/* Rows are partitioned into whole blocks of anchors, one run of blocks per thread. Starting a team takes some
   microseconds: a thread must have 64 KiB to write. */
typedef struct partition {
  int64_t threads, share; /* rows of a thread */
} partition;

enum { BLOCK = 32, LEAST_BYTES = 1 << 16 };

/* OpenMP's library ends the process when it cannot start a thread. The threads of a caller's last team are kept for
   its next one. */
static int64_t threads_to_have(int64_t wanted) {
  static _Thread_local int had = 1;
  if (wanted <= 1 || omp_get_active_level() >= omp_get_max_active_levels()) return 1;
  had = wanted > had ? posenc_threads((int)wanted) : (int)wanted;
  return had;
}

static partition partition_rows(const team *made, int64_t rows, int64_t row_bytes) {
  const int64_t blocks = rows / BLOCK + (rows % BLOCK != 0), useful = rows * row_bytes / LEAST_BYTES;
  int64_t threads = made->threads;
  if (threads > useful) threads = useful;
  if (threads > blocks) threads = blocks;
  threads = threads_to_have(threads);
  return threads > 1 ? (partition){threads, (blocks / threads + (blocks % threads != 0)) * BLOCK}
                     : (partition){1, rows};
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const team *made = constants;
  const int64_t row_bytes = problem->dim * (int64_t)posenc_dtype_bytes(problem->dtype);
  const partition parts = partition_rows(made, rows, row_bytes);
  if (parts.threads == 1) {
    made->serial->execute(made->constants, problem, row, rows, out);
    return;
  }
#pragma omp parallel for schedule(static) num_threads((int)parts.threads)
  for (int64_t part = 0; part < parts.threads; part++) {
    const int64_t from = part * parts.share, left = rows - from;
    if (left > 0)
      made->serial->execute(made->constants, problem, row + from, left < parts.share ? left : parts.share,
                            (char *)out + from * row_bytes);
  }
}

/* Few rows of many sequences, as in decoding: the sequences are partitioned. */
static posenc_status apply_sequences(const team *made, const posenc_problem *problem, const posenc_slice *slice,
                                     int64_t bytes, const void *x, void *out) {
  const apply_source serial = {.kernel = made->serial, .constants = made->constants, .loops = made->loops};
  const int64_t stride_bytes = slice->stride * (int64_t)posenc_dtype_bytes(problem->dtype);
  int64_t threads = made->threads;
  if (threads > bytes / LEAST_BYTES) threads = bytes / LEAST_BYTES;
  if (threads > slice->batch) threads = slice->batch;
  threads = threads_to_have(threads);
  if (threads <= 1) return apply(&serial, problem, slice, x, out);
  const int64_t share = slice->batch / threads + (slice->batch % threads != 0);
  posenc_status worst = POSENC_OK;
#pragma omp parallel for schedule(static) num_threads((int)threads) reduction(max : worst)
  for (int64_t part = 0; part < threads; part++) {
    const int64_t from = part * share, left = slice->batch - from;
    if (left <= 0) continue;
    posenc_slice own = *slice;
    own.batch = left < share ? left : share;
    const posenc_status status =
        apply(&serial, problem, &own, (const char *)x + from * stride_bytes, (char *)out + from * stride_bytes);
    if (status > worst) worst = status;
  }
  return worst;
}

static posenc_status apply_parts(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                 const void *x, void *out) {
  const team *made = constants;
  const apply_source serial = {.kernel = made->serial, .constants = made->constants, .loops = made->loops};
  const int64_t row_bytes = apply_width(problem) * (int64_t)posenc_dtype_bytes(problem->dtype);
  const partition parts = partition_rows(made, slice->rows, row_bytes * slice->batch);
  if (parts.threads == 1) return apply_sequences(made, problem, slice, slice->rows * row_bytes * slice->batch, x, out);
  posenc_status worst = POSENC_OK;
#pragma omp parallel for schedule(static) num_threads((int)parts.threads) reduction(max : worst)
  for (int64_t part = 0; part < parts.threads; part++) {
    const int64_t from = part * parts.share, left = slice->rows - from;
    if (left <= 0) continue;
    posenc_slice own = *slice;
    own.rows = left < parts.share ? left : parts.share;
    if (own.index)
      own.index += from;
    else
      own.row += from;
    const posenc_status status =
        apply(&serial, problem, &own, (const char *)x + from * row_bytes, (char *)out + from * row_bytes);
    if (status > worst) worst = status;
  }
  return worst;
}

/* The blocks of all threads are the serial kernel's. */
static bool stage_samples(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                          posenc_stages *stages) {
  const team *made = constants;
  return made->serial->stages && made->serial->stages(made->constants, problem, row, rows, stages);
}
#endif

/* Fields that both contracts share, beside those of their family. */
#define THREADED                                                                                                       \
  .isa = 0, .threaded = true, .basis = "it runs only serial kernels that promise the same",                            \
  .provenance = "OpenMP Architecture Review Board's parallel for; posenc, 2026",                                       \
  .algorithm = "The fastest reproducible serial kernel of the same promise that runs here writes one contiguous run "  \
               "of rows per thread."
#ifdef HAVE_OPENMP
#define THREADED_FUNCTIONS .execute = execute, .apply = apply_parts, .release = release, .stages = stage_samples
#else
#define THREADED_FUNCTIONS .absent = KERNEL_LEFT_OUT
#define prepare_cr NULL
#define prepare_rotation NULL
#endif

const posenc_kernel posenc_kernel_cr_openmp = {
    CR_PROMISE,
    THREADED,
    THREADED_FUNCTIONS,
    .name = "cr-openmp",
    .summary = "blocks of rows of the best correctly rounded kernel over threads",
    .prepare = prepare_cr,
};

const posenc_kernel posenc_kernel_rotation_openmp = {
    ROTATION_PROMISE,
    THREADED,
    THREADED_FUNCTIONS,
    .name = "rotation-openmp",
    .summary = "blocks of rows of the best rotation kernel over threads: the same bits for any number of them",
    .prepare = prepare_rotation,
};
