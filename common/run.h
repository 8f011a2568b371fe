/* SPDX-License-Identifier: MIT */
/* What is asked of a run: which kernels are verified or timed on which shapes, and how. */
#ifndef POSENC_COMMON_RUN_H
#define POSENC_COMMON_RUN_H

#include "common/digest.h"
#include "common/shapes.h"
#include "posenc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- shards: parts of a run, which may run on different machines ------------------------------------------ */

/* {2, 3} is the second of three shards; {0, 0} is the whole run. */
typedef struct shard {
  int number, of;
} shard;

#define SHARDS_MOST 10000

/* Parses "2/3". Returns false if the text is invalid, or there are more than SHARDS_MOST shards. */
bool shard_parse(const char *text, shard *part);

static inline bool shard_is_part(shard part) {
  return part.of > 0;
}

/* ---- a run ------------------------------------------------------------------------------------------------ */

/* Measurements of a kernel's errors on tables of their own, in addition to those on shapes. */
typedef enum run_profile {
  RUN_NO_PROFILE,
  /* Errors of some rows from each power of two on, up to 2^30. */
  RUN_POINTS,
  /* The points with their parts, errors of every row below 2^20, and errors in further tables for kernels without a
     bound. */
  RUN_SCAN
} run_profile;

/* Hard-to-round cases of a file. */
typedef struct run_cases {
  struct hard_cases *cases; /* see cases_load */
  char *option;             /* for the replay commands, quoted for a shell: "--cases FILE" */
  digest_text digest;       /* digest of the file */
} run_cases;

/*
 * Segments [from, to) of the `of` segments of a shape. A segment is successive windows of about 2^26 elements or more;
 * it depends on the shape and the budget alone. The results of a run are joined from those of its segments, so that
 * shards of a run, which have ranges of segments, give the same results together. The first windows, in which a call is
 * made several times, are in one segment.
 */
typedef struct run_range {
  int64_t from, to, of;
} run_range;

/* Whether a kernel takes a shape. */
typedef enum run_taking {
  RUN_NOT_ASKED,
  RUN_REFUSED,
  RUN_TAKEN,
  RUN_PLANNED,   /* and a plan was made */
  RUN_UNPLANNED, /* but no plan could be made */
  RUN_CRASHED,   /* its process ended instead */
  RUN_HUNG       /* it did not reply; it is not asked about further shapes */
} run_taking;

typedef struct run_reply {
  run_taking how;
  char words[240]; /* why it does not take it, or how its process ended; or empty */
} run_reply;

/* One kernel on one shape. */
typedef struct run_item {
  size_t kernel, shape; /* in the lists of the request */
  unsigned modes;       /* in which it is timed: a set of 1 << bench_mode */
  run_profile profile;  /* of the kernel, once for all its items: the largest of theirs */
  run_reply reply;
} run_item;

/* How kernels are verified. */
typedef struct run_exam {
  uint64_t seed;  /* of samples, of x and of drawn problems */
  int64_t budget; /* most pairs that are compared in a table (verify/sampling.h) */
  int64_t search; /* evaluations of the directed search, in sine-cosine pairs */
  bool brief;     /* without the checks of other problems and calls (stress.h) */
  bool rests;     /* results of tables also have "rests", for a bound to propose (propose_bound) */
  bool explain;   /* also attribute the errors of tables to stages */
  /* Other encodings that are checked, too; of a run in shards, by the last one. Those of kernels are left out. */
  const posenc_encoding *const *encodings;
  size_t encoding_count;
  const struct encoders *encoders; /* the functions that compute them (verify/verify.h); null: the library's */
  /* Opens the kernel's device, in a worker; returns false if it has none; or null. */
  bool (*open)(const posenc_kernel *kernel);
  const char *replay_options; /* for the replay commands, quoted for a shell: "--plugin FILE"; or null */
  const char *list;           /* their value of --positions, quoted for a shell; or null */
} run_exam;

/* How kernels are timed. */
typedef struct run_timing {
  const struct bench_device *device; /* null if there is none */
  int repetitions;                   /* of each benchmark, in random order; >= 3 */
  int64_t batch;                     /* number of sequences of x in add and rope, >= 1 */
  int64_t rows;    /* of a call in the modes hot and offset; 0: all of the shape, if they are not slow */
  double min_time; /* approximate seconds of a repetition */
  double longest;  /* seconds: modes of whole tables leave out longer passes */
  char **flags;    /* further --benchmark_… flags, null-terminated, or null */
  bool unchecked;  /* results are not compared: they are no sinusoidal encoding */
  bool foretell;   /* print an estimate of the time on stderr first */
} run_timing;

typedef struct run_request {
  const posenc_kernel **kernels; /* those of the items, each once */
  shape *shapes;
  const run_cases **cases; /* of each shape, the only elements that are compared; null: all elements */
  run_item *items;         /* by shape, then by kernel */
  size_t kernel_count, shape_count, item_count;
  unsigned isa; /* allowed tiers; 0 for POSENC_ISA, or all */
  int threads;  /* of threaded kernels; 0 for one per processor */
  int team;     /* how many that is, if the process that makes the plans cannot tell; or 0 */
  posenc_stores stores;
  double silence;             /* seconds without a sign of life after which a kernel counts as hung */
  shard only;                 /* the part of the run that is done */
  const digest_text *plugins; /* digests of the plugins' files, in order */
  size_t plugin_count;
  run_exam exam;
  run_timing timing;
} run_request;

/* Add to the lists, and return the place there; what is there already is not added again. only: the cases of the shape,
   or null. */
size_t run_kernel(run_request *r, const posenc_kernel *kernel);
size_t run_shape(run_request *r, const shape *of, const run_cases *only);

/* Adds a kernel on a shape of the lists, unless it is there, and returns the item until the next one is added. */
run_item *run_add(run_request *r, size_t kernel, size_t on);

/* Adds all kernels of the lists on all its shapes. */
void run_cross(run_request *r);

/* Returns the item of a kernel and a shape of the lists; null if there is none. */
const run_item *run_find(const run_request *r, size_t kernel, size_t on);

/* Returns the operation of an item: of a rope cache, that of its table. */
posenc_op run_op(const run_request *r, const run_item *one);

/* Whether two items are of one kernel, dtype and operation. */
bool run_are_alike(const run_request *r, const run_item *a, const run_item *b);

/* Returns the place of the shape with that name; shape_count if there is none. */
size_t run_find_shape(const run_request *r, const char *name);

/* Returns the profile that is wanted of a kernel: the largest of its items. */
run_profile run_profile_of(const run_request *r, size_t kernel);

/* Returns the request of the items of one shape, for run_free; how it is done is as in `all`. */
run_request run_of_shape(const run_request *all, size_t number);

/* Adds the items of another request. */
void run_extend(run_request *r, const run_request *more);

/*
 * Asks each kernel whether it takes the shapes of its items, in a worker of its own, unless it was asked before. With
 * `plans`, and more than one item, the first of alike items of which a plan can be made is found, too, by making it.
 * No thread may be running, as for isolate(). Returns false, with errno EAGAIN, if no process could be created.
 */
bool run_ask(run_request *r, bool plans);

bool run_takes(const run_item *one);

/* Returns why a kernel takes none of its shapes; null if it takes one, or did not survive to reply. */
const char *run_refusal(const run_request *r, size_t kernel);

/* Returns the item about which the kernel was asked when it hung, or with `crashed` also when its process ended; null
   if it replied. */
const run_item *run_without_reply(const run_request *r, size_t kernel, bool crashed);

/* The kernels that the library chooses by itself for a shape, with one thread and with the request's; null if it makes
   no plan of it. */
typedef struct run_choice {
  const posenc_kernel *serial, *threaded;
} run_choice;

/* Returns the choices for all shapes, to be freed. They are made in a worker, as plans call kernels; null if it did not
   survive. */
run_choice *run_choices(const run_request *r);

/* Returns the options of plans of this kernel; null lets the library choose. */
posenc_options run_options(const run_request *r, const posenc_kernel *kernel);

/* Frees the lists. */
void run_free(run_request *r);

/* ---- what a shard does of a run ----------------------------------------------------------------------------- */

/* The kinds of work, none of which is divided further: segments of an item, another encoding, all items of a shape, the
   profile of a kernel, or the distances of exact rows, for which no kernel is called. */
typedef enum run_work_kind { RUN_ROWS, RUN_ENCODING, RUN_SHAPE, RUN_PROFILE, RUN_DISTANCES } run_work_kind;

typedef struct run_work {
  run_work_kind kind;
  size_t number;     /* of the item, the encoding, the shape or the kernel; 0 of distances */
  run_range of_rows; /* of an item: the compared segments */
  double size;       /* about proportional to its time */
} run_work;

/* The works of a run, or of one of its shards. */
typedef struct run_works {
  run_work *all; /* to be freed */
  size_t count;
} run_works;

void run_works_add(run_works *to, const run_work *one);

/* Leaves the shard its own of all works of the run, in their order. They are dealt from the largest on, each to the
   shard with the smallest sum so far, so that all machines make the same partition. */
void run_works_deal(run_works *all, shard part);

/* Whether a work is of an item of the run, or of a part of it. */
bool run_work_is_of(const run_work *w, const run_request *r, size_t item);

#endif
