/* SPDX-License-Identifier: MIT */
/* A kernel's error by position and by frequency, far beyond the positions of tables; and the distances of exact
   rows. */
#ifndef POSENC_VERIFY_PROFILE_H
#define POSENC_VERIFY_PROFILE_H

#include "common/work.h"
#include "records/read.h"
#include "verify/verify.h"

/* The profile's table: the paper's, as wide as the heads of most models. All of its rows are checked. */
enum { PROFILE_DIM = 128, PROFILE_ROWS = 1 << 20 };

/* Returns an entry of "profile" in the accuracy record (doc/records.md), in full, or errors by position only. This and
   profile_unique use all cores, by OpenMP, and must be called in a process of their own. */
record_profile profile_of(const posenc_kernel *kernel, const posenc_options *options, bool in_full, record_memory *in);

/* Returns the entry of a kernel whose process died, without calling the kernel. */
record_profile profile_empty(const posenc_kernel *kernel);

/* Returns "unique" of the accuracy record. */
record_unique profile_unique(void);

/* The profile of a kernel, and how much of it is requested. */
typedef struct profile_task {
  const run_request *request;
  const posenc_kernel *kernel;
  run_profile wanted;
} profile_task;

/* Make a profile, or the distances of exact rows, which no kernel computes, in a process of its own. Its result is for
   record_received. */
typedef void show_share(const char *doing, double share, void *argument);
isolated profile_make(profile_task *of, show_share *show, void *argument);
isolated profile_make_unique(show_share *show, void *argument);

/* Returns about how many elements are compared, most of them by the scan. */
double profile_elements(run_profile wanted);

#endif
