/* SPDX-License-Identifier: MIT */
/* A request to verify kernels. */
#ifndef POSENC_VERIFY_REQUEST_H
#define POSENC_VERIFY_REQUEST_H

#include "common/digest.h"
#include "common/isolation.h"
#include "common/shapes.h"
#include "common/shard.h"
#include "posenc.h"

/* Defaults of the command line. The budget is 2^26 pairs. With it, every published table, up to 131072×1024, is
   compared completely for correctly rounding kernels, and all but the two largest for others. */
#define VERIFY_DEFAULT_SEED 1
#define VERIFY_DEFAULT_BUDGET 67108864
/* A kernel that hangs has its verdict within half a minute; the longest silence of the library's kernels is below a
   second. */
#define VERIFY_DEFAULT_SILENCE 20
#define VERIFY_DEFAULT_SEARCH 1000

/* The hard-to-round cases of a file. */
typedef struct verify_cases {
  struct cases *cases; /* verify/cases.h */
  char *option;        /* for the replay commands, quoted for a shell: "--cases FILE" */
  digest_text digest;  /* digest of the file */
} verify_cases;

/* A profile: measurements on a table of their own, in addition to the shapes. */
typedef enum verify_profile {
  VERIFY_NO_PROFILE,
  /* Errors of some rows from each power of two on, up to 2^30. */
  VERIFY_POINTS,
  /* The points with their parts, errors of every row below 2^20, and errors in further tables for kernels without a
     bound. */
  VERIFY_SCAN
} verify_profile;

/* A part of a run: each of the kernels is checked on each of the shapes. */
typedef struct verify_part {
  const posenc_kernel *const *kernels;
  size_t kernel_count;
  const shape *shapes;
  size_t shape_count;
  const verify_cases *cases; /* for each shape, the only elements to check; null to check tables */
  verify_profile profile;
} verify_part;

typedef struct verify_request {
  const verify_part *parts; /* the record lists each kernel once; its results are in this order */
  size_t part_count;
  unsigned isa; /* allowed tiers; 0 for POSENC_ISA, or all */
  int threads;  /* of threaded kernels; 0 for one per processor */
  int team;     /* the default of `search`, set by verify_run */
  posenc_stores stores;
  uint64_t seed;  /* seed of samples */
  int64_t budget; /* most pairs that are compared in a table (sampling.h) */
  int64_t search; /* evaluations of the directed search, in sine-cosine pairs */
  bool brief;     /* without the checks of other problems and calls (stress.h) */
  double silence; /* time limit between signs of life, seconds */
  bool rests;     /* results of tables also have "rests", for a bound to propose (propose.h) */
  bool explain;   /* also attribute the errors of tables to stages */
  bool encodings; /* the last shard's caller also checks the other encodings, which a run notes */
  shard only;     /* the part of the run that is done */
  /* Opens the kernel's device, in a worker; returns false if it has none; or null. */
  bool (*open)(const posenc_kernel *kernel);
  const char *replay_options; /* for the replay commands, quoted for a shell: "--plugin FILE"; or null */
  const char *list;           /* their value of --positions, quoted for a shell; or null */
  const digest_text *plugins; /* digests of the plugins' files, in order */
  size_t plugin_count;        /* number of plugins */
} verify_request;

#endif
