/* SPDX-License-Identifier: MIT */
#include "impls/cr/cr.h"
#include "lib/api/kernel.h"
#include "lib/api/rows.h"
#include "lib/apply/apply.h"

#include <stdlib.h>
#include <string.h>

typedef struct kept_table {
  char *rows; /* the whole table */
  const apply_loops *loops;
  posenc_stores stores;
  const posenc_kernel *kernel; /* made the rows */
  void *constants;
} kept_table;

static void release(void *constants) {
  kept_table *made = (kept_table *)constants;
  if (made->constants && made->kernel->release) made->kernel->release(made->constants);
  posenc_free(made->rows);
  free(made);
}

static posenc_status fill(kept_table *made, const posenc_problem *table, const posenc_options *options) {
  size_t bytes;
  if (posenc_table_bytes(table, &bytes) != POSENC_OK) return POSENC_TOO_LARGE;
  made->rows = (char *)posenc_alloc(bytes);
  if (!made->rows) return POSENC_OUT_OF_MEMORY;
  const posenc_kernel *kernel = made->kernel;
  posenc_options how = *options;
  how.stores = POSENC_STORES_REGULAR; /* calls will read the rows */
  const posenc_status status = kernel->prepare ? kernel->prepare(table, &how, &made->constants) : POSENC_OK;
  if (status != POSENC_OK) return status;
  if (table->rows) kernel->execute(made->constants, table, 0, table->rows, made->rows);
  rows_zero_padding(table, 0, table->rows, made->rows, kernel_row_bytes(table));
  return POSENC_OK;
}

static posenc_status prepare(const posenc_problem *table, const posenc_options *options, void **constants) {
  static const posenc_bound promise = CR_BOUND;
  kept_table *made = (kept_table *)calloc(1, sizeof *made);
  if (!made) return POSENC_OUT_OF_MEMORY;
  made->loops = apply_loops_for(options);
  made->stores = options->stores;
  made->kernel = kernel_best_serial(table, options, &promise);
  const posenc_status status = made->kernel ? fill(made, table, options) : POSENC_CANNOT_RUN;
  if (status == POSENC_OK)
    *constants = made;
  else
    release(made);
  return status;
}

static void execute(const void *constants, const posenc_problem *table, int64_t row, int64_t rows, void *out) {
  const kept_table *made = (const kept_table *)constants;
  const size_t row_bytes = kernel_row_bytes(table);
  memcpy(out, made->rows + (size_t)row * row_bytes, (size_t)rows * row_bytes);
}

static posenc_status apply_cached(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                  const void *x, void *out) {
  const kept_table *made = (const kept_table *)constants;
  const apply_source source = {
      .loops = made->loops, .table = (const float *)(const void *)made->rows, .stores = made->stores};
  return apply_rows(&source, problem, slice, x, out);
}

/* Refuses tables above 1 GiB: a call for two rows of a table of 16 GiB must not allocate all of it. */
static const char *can_do(const posenc_problem *table) {
  static const size_t most = (size_t)1 << 30;
  size_t bytes;
  if (posenc_table_bytes(table, &bytes) != POSENC_OK || bytes > most) return "its plan would take more than 1 GiB";
  return cr_can_do(table);
}

static bool tell_stages(const void *constants, const posenc_problem *table, int64_t row, int64_t rows,
                        posenc_stages *stages) {
  const kept_table *made = (const kept_table *)constants;
  return made->kernel->stages && made->kernel->stages(made->constants, table, row, rows, stages);
}

const posenc_kernel posenc_kernel_cached = {
    .abi = POSENC_KERNEL_ABI,
    .isa = 0,
    .name = "cached",
    .summary = "the whole table kept in memory, correctly rounded: what add and rope are usually made from",
    .algorithm = "The plan holds all rows, made by the fastest correctly rounded kernel; a table is copied from them.",
    .provenance = "the caches of PyTorch modules (registered buffers); posenc, 2026",
    .bound = CR_BOUND,
    .basis = "it keeps what a kernel that promises the same has made",
    .reproducible = true,
    .scales = true,
    .attends = true,
    .keeps_rows = true,
    .can_do = can_do,
    .prepare = prepare,
    .execute = execute,
    .release = release,
    .stages = tell_stages,
    .apply = apply_cached,
};
