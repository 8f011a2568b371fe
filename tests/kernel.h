/* SPDX-License-Identifier: MIT */
/* The functions of a posenc_kernel, for tests that write kernels: static EXECUTE(name) { … } defines one. Its
   parameters have the names of posenc.h, and may be unused. */
#ifndef POSENC_TESTS_KERNEL_H
#define POSENC_TESTS_KERNEL_H

#include "posenc.h"

#define UNUSED __attribute__((unused))
#define EXECUTE(function)                                                                                              \
  void function(UNUSED const void *constants, UNUSED const posenc_problem *problem, UNUSED int64_t row,                \
                UNUSED int64_t rows, UNUSED void *out)
#define PREPARE(function)                                                                                              \
  posenc_status function(UNUSED const posenc_problem *problem, UNUSED const posenc_options *options,                   \
                         UNUSED void **constants)
#define APPLY(function)                                                                                                \
  posenc_status function(UNUSED const void *constants, UNUSED const posenc_problem *problem,                           \
                         UNUSED const posenc_slice *slice, UNUSED const void *x, UNUSED void *out)
#define STAGES(function)                                                                                               \
  bool function(UNUSED const void *constants, UNUSED const posenc_problem *problem, UNUSED int64_t row,                \
                UNUSED int64_t rows, UNUSED posenc_stages *out)

#endif
