/* SPDX-License-Identifier: MIT */
/* Add and rope: rows of a kernel's table, some at a time, applied to x. */
#ifndef POSENC_LIB_APPLY_APPLY_H
#define POSENC_LIB_APPLY_APPLY_H

#include "posenc.h"

/* The inner loops of one instruction set. All give the same bits: no operation is fused. */
typedef struct apply_loops {
  /* `count` elements of x, and as many of the table. */
  void (*add)(posenc_dtype dtype, int64_t count, const float *table, const void *x, void *out);
  /* The heads of one position, by the row of the table that posenc_table_of tells. */
  void (*rope)(const posenc_problem *problem, const float *row, const void *x, void *out);
} apply_loops;

/* Defined for the tiers that are built. */
#define TIER(bit, name, title, cpu) extern const apply_loops apply_loops_##name;
#include "lib/simd/tiers.def"
#undef TIER

/* The widest that these options, null for the defaults, and this CPU allow. */
const apply_loops *apply_loops_for(const posenc_options *options);

/* The rows of the table: from a kernel with its constants, from a row source, or a finished table. */
typedef struct apply_source {
  const posenc_kernel *kernel;
  const void *constants;
  const apply_loops *loops;
  const float *table;            /* of the problem's first row, or null */
  const struct row_source *rows; /* makes them instead of the kernel, or null */
} apply_source;

/* Elements from one position of x to the next. */
static inline int64_t apply_width(const posenc_problem *problem) {
  return problem->heads * problem->dim;
}

/* By the kernel's own apply if it has one, otherwise by its rows. The slice is valid, and its stride is not 0. */
posenc_status apply(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice, const void *x,
                    void *out);

/* By rows, a block at a time, even if the kernel has its own apply. */
posenc_status apply_rows(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice,
                         const void *x, void *out);

/* Add without rows on the way, with correctly rounded values of a cr_table; no padding row. */
void add_avx512(const void *table, const posenc_problem *problem, const posenc_slice *slice, const void *x, void *out);

#endif
