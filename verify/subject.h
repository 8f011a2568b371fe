/* SPDX-License-Identifier: MIT */
/* One kernel on one problem: its plan, its contract for that problem, and calls of it. */
#ifndef POSENC_VERIFY_SUBJECT_H
#define POSENC_VERIFY_SUBJECT_H

#include "common/number.h"
#include "common/run.h"
#include "common/shapes.h"
#include "posenc.h"
#include "reference/accuracy.h"
#include "verify/arena.h"
#include "verify/findings.h"
#include "verify/sampling.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- subject --------------------------------------------------------------------------------------------- */

typedef struct subject {
  const posenc_kernel *kernel;
  const shape *shape;
  const posenc_options *options;
  posenc_plan *plan;
  double attention;     /* the attention factor */
  posenc_bound bound;   /* the bound of this table, in its own positions */
  posenc_bound most;    /* the bound for posenc_bound_at, with the ulp of the largest values */
  posenc_bound applied; /* the bound for posenc_applied_bound_at, which includes the factor */
  bool shared;          /* several threads may compute its windows at the same time */
  int64_t origin;       /* position of row 0 of the reference's problem */
  accuracy found;
  bool measured;   /* its errors are measured, also if they break the bound: no check is left out for that */
  accuracy beside; /* errors in other problems that are checked beside this one, of those that propose_takes */
  uint64_t digest; /* of all windows, in order */
  check checks[PROPERTIES];
} subject;

/* Makes the plan. Returns null, or the reason why this kernel cannot make this shape, in static storage. */
const char *subject_open(subject *s, const posenc_kernel *kernel, const shape *of, const posenc_options *options);
void subject_close(subject *s);

/* Make further plans of the subject's kernel, whose memory is then read-only, and destroy them. subject_drop returns
   how many bytes the plan has left allocated. */
posenc_status subject_plan(const subject *s, const posenc_problem *problem, posenc_plan **plan);
size_t subject_drop(posenc_plan *plan);

/* ---- the contract --------------------------------------------------------------------------------------------- */

/* Returns the error that the contract allows for any element at a position of the table; without a bound, the least
   error that makes a value any value. */
double subject_allowed(const subject *s, int64_t position);

/* Whether the bound holds for this position. */
bool subject_is_bound(const subject *s, int64_t position);

/* Returns the reason why the bound holds for no value of this shape, or null. */
const char *subject_unbound(const subject *s);

bool is_padding_row(const posenc_problem *problem, int64_t position);

/* ---- calls ----------------------------------------------------------------------------------------------------- */

/* To be called before and after calls of the library, the last of which is for that position. subject_end_calls checks
   that they did not change the floating-point environment or write to a plan (ENVIRONMENT, READ_ONLY), and undoes their
   changes. */
void subject_begin_calls(void);
void subject_end_calls(subject *s, int64_t position);

/* subject_end_calls for calls of several threads. elsewhere: the result of fpenv_restore in another thread, or null. */
void subject_end_calls_of(subject *s, int64_t position, const char *elsewhere);

/* Whether a call, or the calls of a check, take longer than those of any kernel for real use. Kernels that need a tenth
   of a microsecond per element get fewer and smaller calls. */
bool subject_takes_long(double seconds);

/* Returns the rows of a window, at most 2 MiB, that are computed again: only the first CHECKED_ROWS if the window took
   long, about 200 ns per element. */
window subject_again(window w, double seconds);

/* Returns the bytes from the first element of a slice to the last one of its last sequence. */
size_t subject_extent(const posenc_problem *problem, const posenc_slice *slice);

/* Makes one unchecked call: rows of a table, or rows applied to x if it is not null. */
void subject_call(const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x, unsigned char *out);

/*
 * Make calls that are checked (MEMORY, ENVIRONMENT, READ_ONLY). The result stays in the arena until its next use;
 * flush: it ends at the guard pages. subject_run makes rows of a plan of the subject's kernel, subject_run_in_place in
 * place on a copy of x, subject_execute rows of a table.
 */
unsigned char *subject_run(subject *s, const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x,
                           arena *to, bool flush);
unsigned char *subject_run_in_place(subject *s, const posenc_slice *slice, const unsigned char *x, arena *in);
const unsigned char *subject_execute(subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *to);

/* Checks MEMORY of a call whose result is in the arena: elements of the sequences that were not written, and elements
   between and beside them that were. */
void subject_check_memory(check *memory, const posenc_problem *problem, const posenc_slice *slice, const arena *at,
                          bool in_place);

/* Returns the pair of frequency index `index` in a row of a table that is computed alone. */
typedef struct table_pair {
  double sine, cosine;
} table_pair;
table_pair subject_pair(subject *s, const posenc_plan *plan, int64_t row, int64_t index, arena *a);

/* Allows several threads to compute windows of the subject at the same time, if it passed MEMORY and THREADS. */
void subject_share(subject *s);

/* Where rows are from, a file or the calls of a kernel: `read` returns rows [row, row + rows), packed, in `room` or in
   memory of its own until its next call. */
typedef const unsigned char *rows_reader(void *from, int64_t row, int64_t rows, unsigned char *room);
typedef struct rows_source {
  rows_reader *read;
  void *from;
  int64_t most; /* rows of a call; 0: any number */
} rows_source;

/* ---- checks of any operation ---------------------------------------------------------------------------------- */

/* The number of rows for which the checks of threads and relations need room in an arena. */
enum { CHECKED_ROWS = 64 };

/* Checks DETERMINISM and EXTENSION: computes the window `whole`, of x if not null, again and in pieces. */
void subject_check_again(subject *s, window w, const unsigned char *x, const unsigned char *whole, arena *other,
                         uint64_t *random);

/* Checks THREADS (teams.c): compares rows from more threads than CPUs with those of one thread; with `again`, where
   another exam of the kernel does so for longer, in fewer rows and less time. of_x: null for a table. */
void subject_check_threads(subject *s, bool again, const rows_source *of_x);

/* Adds a failure in another problem, which the note describes. */
__attribute__((format(printf, 4, 5))) void check_break(check *c, const subject *s, const posenc_problem *problem,
                                                       const char *text, ...);

/* Gives each check that could not compare anything its reason. To be called last. */
void subject_finish(subject *s);

#endif
