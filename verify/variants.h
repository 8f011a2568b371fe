/* SPDX-License-Identifier: MIT */
/* Problems like the subject's, with other positions, dims, heads, layouts and bases; and exams of them. */
#ifndef POSENC_VERIFY_VARIANTS_H
#define POSENC_VERIFY_VARIANTS_H

#include "reference/fast.h"
#include "verify/applied.h"
#include "verify/subject.h"

/* State that the checks beside the rows of the shape share. */
typedef struct stress {
  subject *s;
  uint64_t *random;       /* where problems and places are drawn from */
  arena *one, *other;     /* those of `applied` */
  posenc_options options; /* the subject's, with a number of threads */
  bool apply_known;       /* see subject_stress */
  applied *applied;       /* add and rope turn it to one problem after the other */
} stress;

/* Bytes that each of the arenas can hold; windows of add and rope have CHECKED_ROWS rows at most. */
enum { STRESS_BYTES = 1 << 20 };

/* Reports progress. */
void stress_say(const char *doing);

/* The shape's problem with another dim, a layout that is drawn, one to three heads, without padding. Shift and scaling
 * that such a dim cannot have are left out. */
posenc_problem variant_problem(const stress *t, int64_t rows, int64_t dim);

/* Dims of each even residue modulo 16: of `number` 0 … 7. */
enum { VARIANT_DIMS = 8 };
int64_t variant_dim(const stress *t, int number);

/* The problem of dim `number`, or of the next that the kernel does. */
posenc_problem variant_done(const stress *t, int64_t rows, int number);

/* The layout of that number, modulo how many the operation has. */
posenc_layout variant_layout(posenc_op op, int number);

/* First positions of windows of FAR_ROWS rows: around powers of two, negative ones, and the ends of the bound's domain.
 * Returns how many. */
enum { FAR_ROWS = 24, FIRSTS = 192 };
int variant_firsts(const stress *t, int64_t firsts[FIRSTS]);

/* The reference of a problem, from position 0 on. */
fast_oracle *variant_reference(const posenc_problem *problem);

/* Examines the rows of the other subject, of add and rope the first CHECKED_ROWS, which fit the arenas, in one window,
 * against the reference of the same frequencies, and adds the findings to `p`. Lists of positions and odd dims need no
 * reference. False when memory runs out. */
bool variant_examine(stress *t, subject *other, fast_oracle *reference, property p);

/* ---- the checks of stress.c, by property; false when memory runs out ---- */

/* ALIGNMENT, CALL_SIZE, DECODING, ENDURANCE and CPUS: the address and number of a call's rows, the number of calls, and
   the CPU that they run on (calls.c). */
void check_alignment(stress *t);
bool check_call_sizes(stress *t);
void check_decoding(stress *t);
void check_endurance(stress *t);
void check_cpus(stress *t);

/* PLANS, several at once or one after another, and READ_ONLY, of problem, options and slice (plans.c). */
bool check_plans(stress *t);
void check_const(stress *t);

/* INDEX, BATCH and EXTENSION of add and rope: lists of rows, sequences far apart, and the last row alone (slices.c). */
bool check_slices(stress *t);

/* THREADS, of other problems than the subject's: threads that make and execute plans at once, and a threaded kernel
 * with other numbers of threads (teams.c). */
bool check_teams(stress *t);

#endif
