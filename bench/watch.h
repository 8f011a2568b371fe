/* SPDX-License-Identifier: MIT */
/* Watches the workers of kernels from outside: takes the time of their slots, and judges what they did in them. */
#ifndef POSENC_BENCH_WATCH_H
#define POSENC_BENCH_WATCH_H

#include "bench/bench.h"
#include "bench/limit.h"
#include "bench/serve.h"
#include "bench/slot.h"
#include "common/isolate.h"
#include "posenc.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* ---- judgements ------------------------------------------------------------------------------------------ */

/* Judges what timed calls wrote, against exact values, within the contract of the kernel. */

/* How many elements were compared, how many of these are wrong, and the first of them. */
typedef struct judgement {
  int64_t compared, broken;
  int64_t row, column; /* of the result; with sequences, the first one that is wrong */
  double got, exact, allowed;
} judgement;

/* The exact values of a problem, row by row. */
typedef struct judge judge;

/* Whether the judge has exact values of such a problem: if all positions are whole, and dim is even. */
bool judge_can(const posenc_problem *problem);

/* Computes what the exact values are made of. Of f32, add and rope that is little, unless there are axes or a list of
   positions; else 4 bytes for each element of a table, 8 in f64 and for add and rope. */
judge *judge_create(const posenc_problem *problem);
void judge_destroy(judge *j);

/* Whether the contract has a bound for every row. If not, nothing is compared. */
bool judge_holds(const judge *j, const posenc_bound *bound);

/*
 * Compares elements [from, from + count) of a table, or of one of the two tables of a rope cache, with the exact
 * values. table: 0, or 1 for the sines of a rope cache. Elements are within the bound of the contract, with an
 * attention factor within twice that.
 */
void judge_elements(judge *j, const posenc_bound *bound, int table, int64_t from, int64_t count, const void *got,
                    judgement *into);

/* Several applications of add or rope to one row, one after another. */
typedef struct applications {
  double *sines, *cosines; /* dim/2 of each: of the sum of all angles, or the sums of all values */
  int64_t count;
  double at_0, per_size; /* the bound of one application: at size 0, and how it grows with the size */
  bool held;             /* all applications have a bound */
} applications;

void applications_open(applications *a, int64_t dim);
void applications_close(applications *a);

/* Begins anew; adds `times` applications of a row. */
void applications_begin(applications *a, const posenc_problem *problem);
void applications_add(applications *a, const judge *j, const posenc_bound *bound, int64_t row, int64_t times);

/* Compares elements [from, from + count) of the row's heads × dim with x after these applications. x: the whole row
   before them, as rope takes both elements of a pair. */
void applications_judge(const applications *a, const judge *j, int64_t row, int64_t from, int64_t count, const void *x,
                        const void *got, judgement *into);

/* The values with which the results of a kernel on a shape are compared: exact ones, or earlier results. */
typedef struct yardstick {
  const posenc_problem *problem; /* of the shape */
  int64_t batch;                 /* sequences of x; 1 of a table */
  posenc_bound bound;            /* of the kernel for this problem */
  judge *judge;                  /* exact values of all positions of all plans, if `held` */
  int64_t shifts[SLOT_PLANS];    /* by how many positions each plan begins later */
  bool held;                     /* there are exact values, and bounds for all rows */
  /* If not `held`: what each plan wrote before the timings, or null, in which case nothing is compared. */
  unsigned char *shown[SLOT_PLANS];
} yardstick;

/* Large results are compared in full once; later a share of their blocks of rows, drawn after the calls, with the first
   and the last. */
enum { TRIAL_LARGE = 1 << 22, TRIAL_SHARE = 8 };

/* The memory of a worker: `read` copies from an address there, and returns false if that cannot be. */
typedef struct evidence {
  bool (*read)(void *from, const void *address, void *to, size_t bytes);
  void *from;
  const unsigned char *memory, *notes;
  uint64_t drawn; /* a random number that is drawn after the calls, for the share of large results; 0: compare all */
} evidence;

/* Whether anything is compared. */
bool trial_can(const yardstick *y);

/* Compares all that the last group of a slot wrote, and the noted spans of all groups; after a slot of mode plan, the
   rows that were shown. rows: of a call. Returns false if memory cannot be read. */
bool trial_of_slot(const yardstick *y, bench_mode mode, int64_t rows, const slot_terms *terms, const evidence *e,
                   judgement *found);

/* Compares the whole shape, which one call has written. */
bool trial_of_whole(const yardstick *y, const slot_terms *terms, const evidence *e, judgement *found);

/* ---- workers that are watched ---------------------------------------------------------------------------- */

/* Prints a line on stderr. Returns false, for callers that return a failure. */
bool __attribute__((format(printf, 1, 2))) bench_tell(const char *format, ...);

/* The checks of kernels while they are timed. */
typedef enum bench_check {
  TIMED_VALUES, /* what timed calls wrote is within the contract */
  LATE_WORK,    /* nothing works on after the calls have returned, nor while other kernels are timed */
  WATCHED_TIME, /* the worker tells no less time than its processors were in use */
  OWN_THREADS,  /* a kernel that is not threaded uses no more time of processors than passes */
  SURROUNDINGS, /* priority, affinity, signals, descriptors … are as before */
  ROWS_IN_PLAN, /* memory does not grow by the rows unless the contract has keeps_rows */
  FLOOR,        /* it is no faster than the machine can be */
  BENCH_CHECKS
} bench_check;

/* A check of a kernel: how often it was made, on how many elements if it is of values, and the first failure. */
typedef struct tally {
  int64_t compared;
  char words[240]; /* empty: none */
} tally;

/* How many slots of one benchmark have failed each check. A check that depends on other work of the machine fails only
   if most slots fail it. */
typedef struct suspicion {
  int slots, of[BENCH_CHECKS];
  double worst[BENCH_CHECKS]; /* the mildest of the failures */
} suspicion;

/* A shape of a kernel. */
typedef struct stay {
  reply facts; /* of ORDER_PREPARE */
  yardstick yardstick;
  int64_t called[BENCH_MODES]; /* calls so far */
  suspicion suspicions[BENCH_MODES];
} stay;

/* A kernel and its worker. */
typedef struct watched {
  const posenc_kernel *kernel;
  lodger *lodger;   /* null when the worker was ended */
  char folder[128]; /* the worker's TMPDIR, empty if there is none */
  bool met, lost;
  char words[400]; /* why it is lost */
  service service;
  stay *stays; /* by shape */
  tally tallies[BENCH_CHECKS];
  clockid_t clock; /* of the worker's processor time; 0 if it is not known */
  double rested;   /* its time when its last slot had ended */
  double busy;     /* when the worker was ended */
} watched;

/* The exact values of a problem, which kernels share. */
typedef struct known {
  posenc_problem problem;
  judge *judge;
} known;

/* All workers of a run. */
typedef struct watch {
  const run_request *request;
  watched *all;    /* by kernel */
  uint64_t *seeds; /* by shape, as in service */
  evictor evictor;
  known *known;
  size_t known_count;
  double available;  /* bytes of memory when the run began */
  bool keeps_memory; /* workers keep their memory between slots */
  bool forbidden;    /* the system does not let this process read the workers' memory */
} watch;

/* ---- all workers ------------------------------------------------------------------------------------------------- */

/* Starts a worker for each kernel. Null if one could not be created, which has been printed. */
watch *watch_start(const run_request *request, size_t cache);

/* watch_close ends all workers, by which kernels can still be lost; watch_end also frees everything. */
void watch_close(watch *w);
void watch_end(watch *w);

/* Adds "kernel_failed.NAME" to the facts for each kernel that was lost. */
void watch_tell_lost(const watch *w, record_facts *facts, record_memory *in);

/* Returns the checks that were made, to be freed, and their number. Their texts are those of the watch. */
record_timed_check *watch_checks(const watch *w, size_t *count);

/* Leaves a kernel out that did not survive elsewhere, as the words say. */
void watch_lose(watch *w, size_t kernel, const char *words);

/* Whether a kernel was lost or broke a check, which has been printed. Its slots are left out from then on. */
bool watch_is_lost(const watch *w, size_t kernel);
bool watch_lost_any(const watch *w);

/* Returns the seconds that processors spent in the workers. */
double watch_busy(const watch *w);

/* ---- one worker -------------------------------------------------------------------------------------------------- */

/* Notes that a kernel breaks a check, and kills its worker. */
void __attribute__((format(printf, 3, 4))) watched_accuse(watched *one, bench_check c, const char *format, ...);

/* Orders, each for kernel and shape by number. They return false if the kernel is lost. watch_prepare also has the
   kernel write the whole shape, unless that takes long, and judges it. */
bool watch_open(watch *w, size_t kernel, size_t table, reply *a);
bool watch_prepare(watch *w, size_t kernel, size_t table, reply *a);

/* A benchmark's slot: the repetition and both limits, the better of before and after. */
typedef struct slot_times {
  reply of;
  beside_limits best;
} slot_times;
bool watch_slot(watch *w, size_t kernel, size_t table, bench_mode mode, slot_times *times);

/* Judges a share of the limit, of a repetition (NaN if there is none). */
void watch_share(watch *w, size_t kernel, size_t table, bench_mode mode, double share);

/* Judges what only several slots of a benchmark can tell, when all are done. */
void watch_conclude(watch *w);

#endif
