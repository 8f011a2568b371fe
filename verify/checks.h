/* SPDX-License-Identifier: MIT */
/* Checks of one kernel on one table. Every bound follows from the kernel's contract. */
#ifndef POSENC_VERIFY_CHECKS_H
#define POSENC_VERIFY_CHECKS_H

#include "records/record.h"
#include "reference/applied.h"
#include "reference/axes.h"
#include "reference/fast.h"
#include "reference/oracle.h"
#include "verify/subject.h"

/* Boundedness and pair norm of at most ROWS_OF_CHECKS rows, and the digest of each. The table's digest is one of these
   digests, so threads can make them in parallel. Findings are added in the order of the rows. */
enum { ROWS_OF_CHECKS = 64 };
typedef struct row_checks {
  check bounded, pair_norm;
} row_checks;
void subject_check_each(const subject *s, window w, const unsigned char *out, row_checks *found, uint64_t *digests);
void subject_take_each(subject *s, const row_checks *found, const uint64_t *digests, int64_t rows);

/* Checks rotation and extrapolation at places drawn from `random`. */
void subject_check_relations(subject *s, fast_oracle *reference, arena *one, arena *other, uint64_t *random);

/* The largest |sin|, |cos| and |sin² + cos² - square| of a row of the problem's table; both infinite if an element is
   NaN. */
typedef struct row_norms {
  double value, norm;
} row_norms;
row_norms row_norms_of(const unsigned char *row, const posenc_problem *problem, posenc_columns at, double square);

/* ROTATION: compares row `to`, at `position`, with row `from` rotated by the exact pairs `by`, which include the
   attention factor. e: the allowed error of any element of either row. */
typedef struct rotated_row {
  const posenc_problem *problem;
  double attention;
  const fast_pair *by;
  const unsigned char *from, *to;
  double e_from, e_to;
  int64_t position;
} rotated_row;
void check_rotated_row(check *c, const rotated_row *r);

/* ---- windows --------------------------------------------------------------------------------------------------- */

/*
 * Windows of a table, checked by all threads, block by block: accuracy, memory, boundedness, pair norm and environment.
 * If the kernel may be called for few rows at a time, by several threads, each thread makes the rows of a block, and
 * checks them while they are in its cache; otherwise one call makes all rows. The findings and the record are the same,
 * to the last bit.
 */
typedef struct part_team part_team;

/* The threads make up to `rows` rows of a window; 0: they make none. To be created and destroyed while one thread
   runs. */
part_team *parts_create(subject *s, fast_oracle *reference, int64_t rows);
void parts_destroy(part_team *p);

/* Takes a window. If one call makes its rows, in `whole`, it is checked at once; with `again`, also determinism and
   extension, in `other`. Otherwise it is checked now or later, together with others; parts_end checks all that wait. */
void parts_check_window(part_team *p, window w, arena *whole, arena *other, bool again, uint64_t *random);
void parts_end(part_team *p);

/* ---- row-checks.c: other rows, and a rope cache -------------------------------------------------------------- */

/*
 * Tables whose rows are not successive positions, or whose dim is odd: lists of positions, also fractional and negative
 * ones. They are compared with the exact values like tables in files (exam.h).
 *
 * Checks every property except threads, search and stages of a subject with such a table, on the sampled rows. For a
 * list of positions, the positions in checks and witnesses are rows.
 */
void subject_check_rows(subject *s, const sampling *sampled, uint64_t *random);

/* A rope cache. Its two tables are columns of one table, which is compared with the exact values like any other; the
   two tables are compared with its bits. */
typedef struct cache {
  posenc_problem problem;
  posenc_plan *plan;
  arena *tables;       /* cosines, directly followed by sines */
  unsigned char *want; /* the expected tables */
  int64_t *from[2];    /* for each column of either table, the column of the one table */
} cache;

/* rows: of the largest window. The subject's kernel must be able to make the problem. */
void cache_open(cache *c, const subject *s, const posenc_problem *problem, int64_t rows);
void cache_close(cache *c);

/* Compares the rows of a window in both tables with the subject's rows, which are computed into `table`; with `again`,
   also each table made alone. */
void cache_check_window(cache *c, subject *s, window w, arena *table, bool again);

/* ---- hardest.c ------------------------------------------------------------------------------------------------- */

/*
 * The directed search for a kernel's worst case among positions that are too many to enumerate. Each round samples
 * elements at log-uniform positions. From the element nearest to a midpoint it moves towards midpoints; from the one
 * with the largest error it moves to larger errors.
 */

/* The farthest position that is searched. */
#define SEARCH_REACH (INT64_C(1) << 40)

typedef struct searched {
  accuracy found;       /* statistics of all evaluated elements */
  int64_t reach;        /* positions 1 .. reach were searched */
  witness nearest;      /* the element nearest to a midpoint */
  double from_midpoint; /* its distance from the midpoint, in ulp */
} searched;

/*
 * Evaluates `evaluations` sine-cosine pairs at positions up to SEARCH_REACH for which the kernel has a bound, with the
 * table's dim, base, shift, layout and dtype, and sets the check SEARCH. The positions depend on `random` only. The
 * arena must have room for a row.
 */
void subject_search(subject *s, int64_t evaluations, arena *a, uint64_t *random, searched *result);

/* ---- stages.c: the stages that kernels report for their rows, and attribution of errors to them --------------- */

/* Pairs of some rows, with the kernel's stages. */
typedef struct staged_pairs {
  size_t count;
  split_case *cases;
  posenc_stages *stages; /* from the kernel */
} staged_pairs;

/* Allocates memory for `pairs` pairs. */
void staged_pairs_create(staged_pairs *t, int64_t pairs);
void staged_pairs_free(staged_pairs *t);

/* Takes rows [row, row + rows) of a plan of the subject's kernel, without the padding row. Returns false if the kernel
   does not report its stages. */
bool staged_pairs_take(staged_pairs *t, subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *a);

/* Checks STAGES: in a few windows, sine and cosine rounded once are the elements of the table. */
void subject_check_stages(subject *s, arena *a, uint64_t *random);

/* Returns the mean size of each part of the errors of all pairs. */
split_parts staged_pairs_mean(const staged_pairs *t, const oracle *reference);

record_parts parts_record(const split_parts *parts);

/* Returns where the errors come from of a subject whose windows have all been checked; what is not there if its kernel
   does not expose its stages. `a` must have room for CHECKED_ROWS rows. */
record_explanation explain(subject *s, arena *a, record_memory *in);

/* ---- operand.c: x of add and rope ---------------------------------------------------------------------------- */

/* x depends on a seed, and is drawn again wherever it is needed. */

/* The number of the rule by which x is drawn, as ROW_RULE is of rows (sampling.h): the next one when the same kernel,
   shape and seed give another x. */
enum { X_RULE = 1 };

typedef struct operand {
  const posenc_problem *problem;
  fast_oracle *reference;
  bool borrowed;           /* the caller owns the reference */
  fast_lanes *lanes;       /* one row per thread */
  axes_reference **places; /* with axes, used instead: one per thread */
  int threads;             /* the threads that lanes or places are for */
  uint64_t seed;
} operand;

/* reference: one with the same frequencies for all positions, or null, as it must be with axes. */
void operand_open(operand *o, const posenc_problem *problem, uint64_t seed, fast_oracle *reference);
void operand_close(operand *o);

/* Whether a row has ordinary numbers; others are huge, tiny, or nearly cancel the table. */
bool operand_is_plain(int64_t row);

/* Draws successive rows. Sequences of a batch have different x. */
void operand_draw(operand *o, int64_t row, int64_t rows, int64_t sequence, unsigned char *x);

/* Goes to a position or place. Returns for how many from there on any thread may call operand_pairs. */
int64_t operand_move(operand *o, int64_t position);

/* Returns the exact pairs of one of these positions or places; valid until the same thread's next call. */
const fast_lanes *operand_pairs(const operand *o, int64_t position);

/* Returns the exact pairs of the difference of two positions, or of two places on each axis. Moves elsewhere. */
const fast_lanes *operand_apart(operand *o, int64_t position, int64_t from);

/* Sets an element, truncated for bf16. */
void operand_store(posenc_dtype dtype, void *x, int64_t at, float value);

/* ---- rows of any origin (row-exam.c) -------------------------------------------------------------------------- */

/* The exam of tables in files; of lists of positions, axes and odd dims by kernels; and of results of add and rope, in
   files and by kernels. */

rows_reader rows_of_file; /* from: a table_file */

/* The exam of rows from a source, with the rows of an x or without, by one judge. */
typedef struct row_exam row_exam;
struct row_exam {
  const char *name; /* of the file, for the progress; null: it is not shown */
  posenc_problem problem;
  column_map columns; /* of the rows, of the first of several heads; of x, from the first one that is worked on */
  int64_t width;      /* elements of a row as it is read */
  size_t bytes, room; /* of such a row; and of the longest one that the judge makes of it */
  int64_t most;       /* rows of a block */
  rows_source source, of_x;
  unsigned char *room_of_rows, *room_of_x; /* for a block of each; no x: null */
  const unsigned char *rows, *x;           /* the block; x is read first */
  /* Compares a block, and adds what it finds. Returns false if there is no answer. */
  bool (*judge)(row_exam *e, window block);
};

/* Finds the columns of an exam of `width` columns. Each read is a block, unless row_exam_allocate makes room for
   blocks. */
void row_exam_open(row_exam *e, table_part part);
void row_exam_allocate(row_exam *e, size_t room);

/* Returns memory for one block more, after row_exam_allocate. */
unsigned char *row_exam_block(const row_exam *e);
void row_exam_close(row_exam *e);

/* Judges the rows of a window, block by block. Returns false, without those behind, at a block without an answer. */
bool row_exam_look(row_exam *e, window w);

/* ---- apply.c: add and rope ----------------------------------------------------------------------------------- */

/* Checks of one kernel in add or rope. Rows of x that are not plain are compared with their bounds only, and do not
   count in the figures of errors. */

typedef struct applied {
  row_exam of; /* of windows of the subject's rows */
  subject *s;
  operand operand;
  double seconds;         /* of the last call for a window */
  arena *x, *one, *other; /* x, and two results */
  arena *lists;           /* of rows */
  bool again;             /* the window is checked further, which takes `drawn` */
  unsigned char *drawn;   /* a copy of x that is not passed to any call */
  element_error *sums;    /* sums of each row of a window */
  uint64_t *digests;      /* digests of each row of a window */
  int64_t elements;       /* number of compared elements */
  /* applied_pair_bound at the position of the last request: its value at length 0, and its slope. */
  struct {
    int64_t position;
    bool known;
    double at_0, per_length;
  } allowed;
} applied;

/* The number of elements that relations need in addition to rows, for gaps between sequences. */
enum { APPLIED_SPARE = 39 };

/* The most rows of a list. */
enum { APPLIED_LIST = (1 << 16) + 100 };

/* Allocates memory for windows of `rows` rows and `bytes` bytes. */
void applied_open(applied *a, int64_t rows, size_t bytes);
void applied_close(applied *a);

/* Starts with a subject whose windows fit, one at a time. The other arguments are those of operand_open. */
void applied_begin(applied *a, subject *s, uint64_t seed, fast_oracle *reference);
void applied_end(applied *a);

/* Checks accuracy, memory and environment of a window; with `again`, also in-place, pair norm, determinism and
   extension. */
void applied_check_window(applied *a, window w, bool again, uint64_t *random);

/* A pair in a row of x, or of results; in add, an element and its neighbour. Returns that of a witness in x. */
typedef struct applied_pair {
  double first, second;
} applied_pair;
applied_pair applied_x_of(applied *a, const witness *w);

/* Checks all relations at places drawn from `random`. */
void applied_check_relations(applied *a, uint64_t *random);

#endif
