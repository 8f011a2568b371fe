/* SPDX-License-Identifier: MIT */
/* A request to verify: what to look at, and how. */
#ifndef POSENC_VERIFY_REQUEST_H
#define POSENC_VERIFY_REQUEST_H

#include "common/digest.h"
#include "common/isolation.h"
#include "common/shapes.h"
#include "common/shard.h"
#include "posenc.h"

/* Defaults of the command line. The budget is 2^26 pairs, so that every published table, up to 131072×1024, is
 * checked whole of kernels that promise correct rounding, and all but the two largest of the others. */
#define VERIFY_DEFAULT_SEED 1
#define VERIFY_DEFAULT_BUDGET 67108864
#define VERIFY_DEFAULT_SILENCE ISOLATE_DEFAULT_SILENCE
#define VERIFY_DEFAULT_SEARCH 1000

/* The hard-to-round cases of a file. */
typedef struct verify_cases {
  struct cases *cases; /* verify/cases.h */
  char *option;        /* of the replay commands, quoted for a shell: "--cases FILE" */
  digest_text digest;  /* of the file */
} verify_cases;

/* Measurements on a table of their own, besides the shapes. */
typedef enum verify_profile {
  VERIFY_NO_PROFILE,
  /* Errors of some rows from each power of two to 2^30 on. */
  VERIFY_POINTS,
  /* These with their parts, errors of every row below 2^20, and errors in further tables for kernels without a
   * bound. */
  VERIFY_SCAN
} verify_profile;

/* Each of these kernels is checked on each of the shapes. */
typedef struct verify_part {
  const posenc_kernel *const *kernels;
  size_t kernel_count;
  const shape *shapes;
  size_t shape_count;
  const verify_cases *cases; /* for each shape, the elements of it that alone are looked at; null: no such thing */
  verify_profile profile;
} verify_part;

typedef struct verify_request {
  const verify_part *parts; /* the record lists each kernel once; its results are in this order */
  size_t part_count;
  unsigned isa; /* allowed tiers; 0: POSENC_ISA, or all */
  int threads;  /* of threaded kernels; 0: one for each processor */
  int team;     /* the default of `search`, which verify_run sets */
  posenc_stores stores;
  uint64_t seed;              /* of what is sampled */
  int64_t budget;             /* pairs of a table that are compared; others get a share of it: see sampling.h */
  int64_t search;             /* so many sine-cosine pairs, in the table or not, are looked at by a directed search */
  bool brief;                 /* without the checks beside the shapes: see stress.h */
  double silence;             /* seconds that a kernel may go without a sign of life */
  bool explain;               /* also tell where the errors come from; of tables */
  shard only;                 /* the part of the run that is done */
  const char *replay_options; /* further ones of the replay commands, quoted for a shell: "--plugin FILE"; or null */
  const char *list;           /* in them, the value of --positions, quoted for a shell; or null */
  const digest_text *plugins; /* of their files, in order, */
  size_t plugin_count;        /* and how many */
} verify_request;

#endif
