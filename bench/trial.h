/* SPDX-License-Identifier: MIT */
/* The trial of a turn: compares what its calls left in the worker's memory. */
#ifndef POSENC_BENCH_TRIAL_H
#define POSENC_BENCH_TRIAL_H

#include "bench/judge.h"
#include "bench/modes.h"
#include "bench/turn.h"

/* The values with which the results of a kernel on a shape are compared: exact ones, or earlier results. */
typedef struct yardstick {
  const posenc_problem *problem; /* of the shape */
  int64_t batch;                 /* sequences of x; 1 of a table */
  posenc_bound bound;            /* of the kernel for this problem */
  judge *judge;                  /* exact values of all positions of all plans, if `held` */
  int64_t shifts[TURN_PLANS];    /* by how many positions each plan begins later */
  bool held;                     /* there are exact values, and bounds for all rows */
  /* If not `held`: what each plan wrote before the timings, or null, in which case nothing is compared. */
  unsigned char *shown[TURN_PLANS];
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

/* Compares all that the last group of a turn wrote, and the noted spans of all groups; after a turn of mode plan, the
   rows that were shown. rows: of a call. Returns false if memory cannot be read, or runs out. */
bool trial_of_turn(const yardstick *y, bench_mode mode, int64_t rows, const turn_terms *terms, const evidence *e,
                   judgement *found);

/* Compares the whole shape, which one call has written. */
bool trial_of_whole(const yardstick *y, const turn_terms *terms, const evidence *e, judgement *found);

#endif
