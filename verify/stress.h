/* SPDX-License-Identifier: MIT */
/*
 * Where kernels break: what is asked of a kernel beside the rows of one shape. The problems are like the shape's, with other positions, dims, heads,
 * layouts and bases; the calls have other sizes, places in memory, threads and numbers. Of tables and of add and rope alike.
 */
#ifndef POSENC_VERIFY_STRESS_H
#define POSENC_VERIFY_STRESS_H

#include "verify/checks.h"
#include "verify/process.h"

typedef struct stress {
  subject *s;
  uint64_t *random; /* where problems and places are drawn from */
  arena *one, *other;
  posenc_options options; /* the subject's, with a number of threads */
  int threads;            /* OpenMP's, which has one meanwhile: teams for small work cost more than it */
} stress;

/* All properties from READ_ONLY to LEAK, and index lists and strides of add and rope; but none but CPUS if the subject has broken a property already.
 * This, and what returns bool below: false when memory runs out. */
bool subject_stress(subject *s, uint64_t *random);

/* What has changed in the process since `before`, which may be null, and in the environment. */
void subject_check_process(subject *s, const process_state *before);

/* ---- for its parts ------------------------------------------------------------------------------------------ */

/* Bytes that the arenas `one` and `other` have room for. */
enum { STRESS_BYTES = 1 << 20 };

/* The shape's problem with another dim, a layout that is drawn, one to three heads, without padding. What such a dim cannot have is left out. */
posenc_problem stress_problem(const stress *t, int64_t rows, int64_t dim);

/* Dims of each even residue modulo 16: of `number` 0 … 7. */
enum { STRESS_DIMS = 8 };
int64_t stress_dim(const stress *t, int number);

/* A plan of another problem; x, where it is applied; and what one call for all rows gives. */
typedef struct rows_of {
  stress *t;
  shape of;
  subject s;
  size_t row_bytes;
  unsigned char *x;    /* null: a table */
  unsigned char *rows; /* null: not asked for */
} rows_of;

/* False if the kernel does not do it, or there is no memory for it. To be closed if true. */
bool rows_open(rows_of *r, stress *t, const posenc_problem *problem, bool all_rows);
void rows_close(rows_of *r);

/* Rows by one call; x, of add and rope, is a copy of its rows, in the arena `other` and off alignment. `out` is in an arena: bytes beside it, and
 * elements that are not written, break MEMORY. */
void rows_run(rows_of *r, int64_t row, int64_t rows, const arena *a, unsigned char *out);

/* The same, and their bits must be those of all rows, or `p` is broken. */
void rows_compare(rows_of *r, property p, int64_t row, int64_t rows, const arena *a, unsigned char *out);

/* Tells what is being done. */
void stress_say(const char *doing);

/* The layout of that number, modulo how many the operation has. */
posenc_layout stress_layout(posenc_op op, int number);

/* First positions of windows of FAR_ROWS rows: around powers of two, negative ones, and the ends of the bound's domain. Returns how many. */
enum { FAR_ROWS = 24, FIRSTS = 192 };
int stress_firsts(const stress *t, int64_t firsts[FIRSTS]);

/* The truth of a problem, from position 0 on. */
fast_oracle *stress_truth(const posenc_problem *problem);

/* All rows of it in one window, against the truth of the same frequencies; and what is found of it, taken in under `p`. False when memory runs out. */
bool stress_examine(stress *t, subject *other, fast_oracle *truth, property p);

/* One call, unlooked at; x is null, or of the same rows. */
void rows_call(const rows_of *r, const posenc_plan *plan, int64_t row, int64_t rows, unsigned char *out);

/* ALIGNMENT, CALL_SIZE, DECODING, ENDURANCE. */
void stress_alignment(stress *t);
bool stress_call_sizes(stress *t);
void stress_decoding(stress *t);
void stress_endurance(stress *t);

/* PLANS, READ_ONLY of what is given, CPUS, LEAK. */
bool stress_plans(stress *t);
void stress_const(stress *t);
void stress_cpus(stress *t);
void stress_growth(stress *t);

/* Add and rope: lists of hundreds of rows, and sequences far apart. */
bool stress_slices(stress *t);

#endif
