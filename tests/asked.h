/* SPDX-License-Identifier: MIT */
/* Requests of runs, for tests. */
#ifndef POSENC_TESTS_ASKED_H
#define POSENC_TESTS_ASKED_H

#include "common/run.h"
#include "verify/verify.h"

#include <stdlib.h>

/* Returns `how` with all kernels on all shapes, for run_free. */
static inline run_request asked_of(run_request how, const posenc_kernel *const *kernels, size_t kernel_count,
                                   const shape *shapes, size_t shape_count) {
  for (size_t k = 0; k < kernel_count; k++) run_kernel(&how, kernels[k]);
  for (size_t i = 0; i < shape_count; i++) run_shape(&how, &shapes[i], NULL);
  run_cross(&how);
  return how;
}

/* Returns the record of `how` with these, for record_free. */
static inline const record_accuracy *verified(run_request how, const posenc_kernel *const *kernels, size_t kernel_count,
                                              const shape *shapes, size_t shape_count) {
  run_request request = asked_of(how, kernels, kernel_count, shapes, shape_count);
  const record_accuracy *record = verify_run(&request);
  run_free(&request);
  if (!record || record->records_count == 0) abort();
  return record;
}

#endif
