/* SPDX-License-Identifier: MIT */
/* Judges what timed calls wrote, against exact values, within the contract of the kernel. */
#ifndef POSENC_BENCH_JUDGE_H
#define POSENC_BENCH_JUDGE_H

#include "bench/bench.h"
#include "bench/turn.h"
#include "posenc.h"

#include <stdbool.h>
#include <stdint.h>

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

/* Computes all exact values, 4 bytes for each element of a table, 8 in f64 and for add and rope. Null if memory runs
   out. */
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

bool applications_open(applications *a, int64_t dim);
void applications_close(applications *a);

/* Begins anew; adds `times` applications of a row. */
void applications_begin(applications *a, const posenc_problem *problem);
void applications_add(applications *a, const judge *j, const posenc_bound *bound, int64_t row, int64_t times);

/* Compares elements [from, from + count) of the row's heads × dim with x after these applications. x: the whole row
   before them, as rope takes both elements of a pair. */
void applications_judge(const applications *a, const posenc_problem *problem, int64_t row, int64_t from, int64_t count,
                        const void *x, const void *got, judgement *into);

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
