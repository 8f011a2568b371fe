/* SPDX-License-Identifier: MIT */
/* Add and rope: rows of a kernel's table are made a few at a time and applied to x. */
#ifndef POSENC_LIB_APPLY_APPLY_H
#define POSENC_LIB_APPLY_APPLY_H

#include "posenc.h"

/* The inner loops for one instruction set. All instruction sets give the same bits, as no operation is fused. */
typedef struct apply_loops {
  /* Adds `count` elements of the table to as many of x. */
  void (*add)(posenc_dtype dtype, int64_t count, const float *table, const void *x, void *out);
  /* Rotates the heads of one position by a row of the table that posenc_table_of describes, from column `from` on; of
     pairs of halves, from that column of the first half on. */
  void (*rope)(const posenc_problem *problem, int64_t from, const float *row, const void *x, void *out);
} apply_loops;

/* apply_loops_NAME exists for each tier that is built. */
#define TIER(bit, name, title, cpu) extern const apply_loops apply_loops_##name;
#include "lib/simd/tiers.def"
#undef TIER

/* Returns the loops of the widest tier that the options (null for the defaults) and this CPU allow. */
const apply_loops *apply_loops_for(const posenc_options *options);

/* Where the rows of the table come from: a kernel with its constants, a row source, or a finished table. */
typedef struct apply_source {
  const posenc_kernel *kernel;
  const void *constants;
  const apply_loops *loops;
  const float *table;            /* a finished table, from the problem's first row on, or null */
  const struct row_source *rows; /* makes the rows instead of the kernel, or null */
} apply_source;

/* The number of elements of x at one position. */
static inline int64_t apply_width(const posenc_problem *problem) {
  return problem->heads * problem->dim;
}

/* Applies the table by the kernel's own `apply` if it has one, otherwise by rows. The slice must be valid, with a
   stride that is not 0. */
posenc_status apply(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice, const void *x,
                    void *out);

/* Applies the table by rows, a block at a time, even if the kernel has its own `apply`. */
posenc_status apply_rows(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice,
                         const void *x, void *out);

/* Adds correctly rounded values of a cr_table to x without making rows. The padding row is not zeroed. */
void add_avx512(const void *table, const posenc_problem *problem, const posenc_slice *slice, const void *x, void *out);

#endif
