/* SPDX-License-Identifier: MIT */
/* Checks of problems and calls other than those of one shape, of tables and of add and rope alike. */
#ifndef POSENC_VERIFY_STRESS_H
#define POSENC_VERIFY_STRESS_H

#include "common/process.h"
#include "reference/fast.h"
#include "verify/checks.h"
#include "verify/subject.h"

/* State that all checks of other problems and calls share. */
typedef struct stress {
  subject *s;
  uint64_t *random;       /* draws problems and places */
  arena *one, *other;     /* the arenas of `applied` */
  posenc_options options; /* the subject's options, with a number of threads */
  bool apply_known;       /* see subject_stress */
  applied *applied;       /* add and rope use it for one problem after the other */
} stress;

/* The size of each arena, and the most rows of a window of add and rope. */
enum { STRESS_BYTES = 1 << 20, STRESS_ROWS = 1 << 13 };

/* Reports progress. */
void stress_say(const char *doing);

/* ---- problems like the subject's, with other positions, dims, heads, layouts and bases; and their exams -------- */

/* Returns the shape's problem with another dim, a random layout, one to three heads, and no padding. A shift and a
   scaling that such a dim cannot have are left out. */
posenc_problem variant_problem(const stress *t, int64_t rows, int64_t dim);

/* Returns dims of each even residue modulo 16, for `number` 0 … 7. */
enum { VARIANT_DIMS = 8 };
int64_t variant_dim(const stress *t, int number);

/* Returns the problem with dim `number`, or with the next one that the kernel can make. */
posenc_problem variant_done(const stress *t, int64_t rows, int number);

/* Returns the layout of that number, modulo the operation's number of layouts. */
posenc_layout variant_layout(posenc_op op, int number);

/* Sets first positions of windows of FAR_ROWS rows: around powers of two, negative ones, and the ends of the bound's
   domain. Returns their number. */
enum { FAR_ROWS = 24, FIRSTS = 112 };
int variant_firsts(const stress *t, int64_t firsts[FIRSTS]);

/* Returns the reference of a problem, from position 0 on. */
fast_oracle *variant_reference(const posenc_problem *problem);

/* Examines the rows of the other subject in one window (in add and rope the first CHECKED_ROWS), against the reference
   of the same frequencies, and adds the findings to `p`. Lists of positions and odd dims need no reference. */
void variant_examine(stress *t, subject *other, fast_oracle *reference, property p);

/* Examines a window that fits the arenas; with `again`, also its rows made again, in pieces and in place. The caller
   collects what all windows of the subject have found, once. */
void variant_examine_window(stress *t, subject *other, window w, fast_oracle *reference, bool again);

/* Adds the findings of the exam of another problem: to `p`, or to their own property if that is about a call. */
void variant_collect(stress *t, subject *other, property p);

/* ---- the checks, by property ----------------------------------------------------------------------------------- */

/* Check ALIGNMENT, CALL_SIZE, DECODING, ENDURANCE and CPUS: the address and number of a call's rows, the number of
   calls, and the CPU that they run on (calls.c). */
void check_alignment(stress *t);
void check_call_sizes(stress *t);
void check_decoding(stress *t);
void check_endurance(stress *t);
void check_cpus(stress *t);

/* Check MEMORY, of calls whose memory holds the right rows but for a few elements; DECODING, of single rows whose
   addresses are those of others before; and STACK (calls.c). */
void check_contents(stress *t);
void check_addresses(stress *t);
void check_stack(stress *t);

/* Check PLANS, several at the same time or one after another, and READ_ONLY, of problem, options and slice
   (plans.c). */
void check_plans(stress *t);
void check_const(stress *t);

/* Checks INDEX, BATCH and EXTENSION of add and rope: lists of rows, sequences far apart, and the last row alone
   (slices.c). */
void check_slices(stress *t);

/* Checks a drawn list or batch of rows of a window; failures break DOMAIN (slices.c). */
void check_drawn_slice(stress *t, const posenc_problem *p, window w);

/* Check WIDTHS, HEAD_COUNTS and FAR_POSITIONS of dims, heads and positions that no list names; and DOMAIN, of problems
   drawn from all that a kernel takes (drawn-problems.c). */
void check_drawn_dims(stress *t);
void check_drawn_heads(stress *t);
void check_drawn_positions(stress *t);
void check_domain(stress *t);

/* Checks THREADS for problems other than the subject's: threads that make and execute plans at the same time, and a
   threaded kernel with other numbers of threads (teams.c). */
void check_teams(stress *t);

/* ---- the whole check ------------------------------------------------------------------------------------------- */

/* Checks all properties from READ_ONLY to LEAK except PROCESS, and index lists and strides of add and rope; but only
   CPUS if the subject has already broken a property. apply_known: another exam checks the library's code that applies
   the kernel's rows, so checks that depend on that code alone are left out. */
void subject_stress(subject *s, bool apply_known, uint64_t *random);

/* ---- probes ---------------------------------------------------------------------------------------------------- */

/* A plan of another problem than the subject's, whose calls must give the bits of one call for all rows. */
typedef struct probe {
  stress *t;
  shape of;
  subject s;
  size_t row_bytes;
  int64_t from;        /* the first row of x and of `rows` */
  unsigned char *x;    /* null for a table */
  size_t mapped;       /* mapped bytes of x; 0 if x is allocated */
  unsigned char *rows; /* made by one call; null if not requested */
} probe;

/* Returns false if the kernel cannot make the problem. Must be closed if true. */
bool probe_open(probe *r, stress *t, const posenc_problem *problem, bool all_rows);

/* probe_open for calls of a window only, of a problem that may have any number of rows. */
bool probe_open_window(probe *r, stress *t, const posenc_problem *problem, window w, bool all_rows);
void probe_close(probe *r);

/* Makes an unchecked call of a plan of the probe's problem. */
void probe_call(const probe *r, const posenc_plan *plan, int64_t row, int64_t rows, unsigned char *out);

/* Makes a call of the probe's own plan, with a copy of its rows of x in the arena `other`, off alignment. `out` is in
   the arena `a`: bytes written beside it and elements that are not written break MEMORY. */
void probe_run(probe *r, int64_t row, int64_t rows, const arena *a, unsigned char *out);

/* probe_run, after which the bits must be those of all rows, or `p` is broken. */
void probe_compare(probe *r, property p, int64_t row, int64_t rows, const arena *a, unsigned char *out);

/* ---- what is left behind (plans.c) ----------------------------------------------------------------------------- */

/* Checks LEAK. */
void check_leaks(stress *t);

/* Checks PROCESS: what has changed in the process since `before`, which may be null, and in the environment. */
void subject_check_process(subject *s, const process_state *before);

#endif
