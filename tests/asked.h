/* SPDX-License-Identifier: MIT */
/* Requests of runs, for tests. */
#ifndef POSENC_TESTS_ASKED_H
#define POSENC_TESTS_ASKED_H

#include "common/run.h"
#include "verify/verify.h"

/* Returns `how` with all kernels on all shapes, for run_free. */
static inline run_request asked_of(run_request how, const posenc_kernel *const *kernels, size_t kernel_count,
                                   const shape *shapes, size_t shape_count) {
  for (size_t k = 0; k < kernel_count; k++) run_kernel(&how, kernels[k]);
  for (size_t i = 0; i < shape_count; i++) run_shape(&how, &shapes[i], NULL);
  run_cross(&how);
  return how;
}

/* Returns the record of verify_run as JSON, a new reference. */
static inline json_t *verified_json(run_request *request) {
  const record_accuracy *record = verify_run(request);
  json_t *json = record ? record_as_read(record) : NULL;
  record_free(record);
  return json;
}

#endif
