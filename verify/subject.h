/* SPDX-License-Identifier: MIT */
/* One kernel on one problem: its plan, its contract there, and the calls that are made of it. */
#ifndef POSENC_VERIFY_SUBJECT_H
#define POSENC_VERIFY_SUBJECT_H

#include "common/shapes.h"
#include "verify/arena.h"
#include "verify/property.h"
#include "verify/sampling.h"

typedef struct subject {
  const posenc_kernel *kernel;
  const shape *shape;
  const posenc_options *options;
  posenc_plan *plan;
  double attention;     /* the factor of all values */
  posenc_bound bound;   /* the contract for this table, in its own positions */
  posenc_bound most;    /* the same for posenc_bound_at: an ulp is that of the largest values */
  posenc_bound applied; /* and for posenc_applied_bound_at, which knows the factor */
  bool shared;          /* several threads may compute its windows at once */
  int64_t origin;       /* position of row 0 of the oracle's problem */
  accuracy found;
  uint64_t digest; /* of all windows, in order */
  check checks[PROPERTIES];
} subject;

/* Makes the plan. Null, or why this kernel does not do this shape, in static storage. */
const char *subject_open(subject *s, const posenc_kernel *kernel, const shape *of, const posenc_options *options);
void subject_close(subject *s);

/* Further plans of the subject's kernel. Their memory is read-only once they are made; dropping one returns how many
 * bytes it left allocated. */
posenc_status subject_plan(const subject *s, const posenc_problem *problem, posenc_plan **plan);
size_t subject_drop(posenc_plan *plan);

/* ---- the contract --------------------------------------------------------------------------------------------- */

/* The error that the contract allows for any element at a position of the table. */
double subject_allowed(const subject *s, int64_t position);

/* Does the bound hold for this position? */
bool subject_claims(const subject *s, int64_t position);

/* Why the contract says nothing about any value of this shape, or null. */
const char *subject_no_claim(const subject *s);

bool is_padding_row(const posenc_problem *problem, int64_t position);

/* ---- calls ----------------------------------------------------------------------------------------------------- */

/* Around calls of the library, the last of them for that position. Checks that they left the floating-point environment
 * as it was and wrote to no plan (ENVIRONMENT, READ_ONLY), and puts right what they changed. */
void subject_begin_calls(void);
void subject_end_calls(subject *s, int64_t position);

/* The same of calls that several threads made; elsewhere: what fpenv_restore returned in another one, or null. */
void subject_end_calls_of(subject *s, int64_t position, const char *elsewhere);

/* CPU seconds of this thread: neither a busy machine nor threads that wait for the next team make a difference. */
double subject_seconds(void);

/* No kernel for real use takes this long for a call, or for the calls of a check. Kernels that need a tenth of a
   microsecond for an element get fewer and smaller calls. */
bool subject_takes_long(double seconds);

/* The rows of a window, of 2 MiB at most, that are asked for again: the first CHECKED_ROWS if it took a tenth of that,
 * some 20 ns for an element. */
window subject_again(window w, double seconds);

/* Bytes from the first element of a slice to the last of its last sequence. */
size_t subject_extent(const posenc_problem *problem, const posenc_slice *slice);

/* One unchecked call: rows of a table, or x (not null) with them applied. */
void subject_call(const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x, unsigned char *out);

/*
 * Calls that are checked (MEMORY, ENVIRONMENT, READ_ONLY), and their result in the arena until its next use; flush: its
 * end is at the guard. Rows of a plan of the subject's kernel; the same in place, on a copy of x; and rows of a table.
 */
unsigned char *subject_run(subject *s, const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x,
                           arena *to, bool flush);
unsigned char *subject_run_in_place(subject *s, const posenc_slice *slice, const unsigned char *x, arena *in);
const unsigned char *subject_execute(subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *to);

/* MEMORY, of a call whose result is in the arena: elements of the sequences that were not written, and of what lies
 * between and beside them that were. */
void subject_check_memory(check *memory, const posenc_problem *problem, const posenc_slice *slice, const arena *at,
                          bool in_place);

/* The pair of frequency index `index` in a row of a table that is computed alone. */
typedef struct table_pair {
  double sine, cosine;
} table_pair;
table_pair subject_pair(subject *s, const posenc_plan *plan, int64_t row, int64_t index, arena *a);

/* After this call several threads may compute windows of the subject at once, if it passed MEMORY and THREADS. */
void subject_share(subject *s);

/* ---- checks of any operation ---------------------------------------------------------------------------------- */

/* Rows that the checks of threads and relations want an arena to hold. */
enum { CHECKED_ROWS = 64 };

/* DETERMINISM and EXTENSION: the window `whole`, of x if not null, computed again, and in pieces. */
void subject_check_again(subject *s, window w, const unsigned char *x, const unsigned char *whole, arena *other,
                         uint64_t *random);

/* THREADS (race.c): rows from more threads than CPUs at once, against those from one. `draw`, null of a table, fills in
 * x of some rows. */
typedef void draw_rows_of(void *argument, int64_t row, int64_t rows, unsigned char *x);
void subject_check_threads(subject *s, draw_rows_of *draw, void *argument);

/* Adds one failure, on another problem that the note describes. */
__attribute__((format(printf, 4, 5))) void check_break(check *c, const subject *s, const posenc_problem *problem,
                                                       const char *text, ...);

/* Gives each check that could not compare anything its reason. Call it last. */
void subject_finish(subject *s);

#endif
