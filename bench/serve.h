/* SPDX-License-Identifier: MIT */
/* The worker of one kernel: makes the calls that the command's process orders. */
#ifndef POSENC_BENCH_SERVE_H
#define POSENC_BENCH_SERVE_H

#include "bench/bench.h"
#include "bench/evict.h"

typedef struct service {
  const bench_request *request;
  const posenc_kernel *kernel;
  const evictor *evictor;
  const uint64_t *seeds; /* by shape: from which turn_shifts draws where its plans begin */
  size_t cache;          /* size of the last cache level, 0 if unknown */
} service;

/* Returns the options of a plan with this kernel; null lets the library choose. */
posenc_options serve_options(const bench_request *request, const posenc_kernel *kernel);

/* Obeys orders until there are no more. argument: a service. For isolate_start. */
void serve(void *argument);

#endif
