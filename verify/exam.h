/* SPDX-License-Identifier: MIT */
/* The exams of one kernel on one shape and of rows of any origin, profiles of kernels, and what records have of
   them. */
#ifndef POSENC_VERIFY_EXAM_H
#define POSENC_VERIFY_EXAM_H

#include "common/shapes.h"
#include "common/work.h"
#include "records/record.h"
#include "reference/accuracy.h"
#include "reference/axes.h"
#include "verify/checks.h"
#include "verify/file-exams.h"
#include "verify/subject.h"
#include "verify/verify.h"

/* The exam of a kernel on a shape. */
typedef struct exam {
  const run_request *request;
  const posenc_kernel *kernel;
  const shape *of;
  const run_cases *cases; /* the only elements that are compared; null: all */
  bool brief;             /* without the checks beside the shape, which another exam makes: there is one for each
                                kernel, operation and dtype */
  bool apply_known;       /* another exam checks the library's code that applies the kernel's rows */
  run_range of_rows;      /* the compared segments; with the first of them, also all checks that are not of windows */
} exam;

/* The result of an exam, and its memory. */
typedef struct exam_result {
  record_result of;
  record_memory memory;
} exam_result;

/* Makes the result of the exam. The caller releases its memory. */
void examine(const exam *e, exam_result *made);

/* Returns the examined shape, or for a rope cache the shape of the table that it is made of. */
shape exam_shape(const exam *e);

/* Returns about how many elements are compared in the exam's range. */
double exam_elements(const exam *e);

/* Returns range `number` of `count` ranges of about equal size of the whole exam; empty if it has fewer segments. */
run_range exam_range(const exam *e, int64_t number, int64_t count);

/* ---- results, and their joining (record.c) --------------------------------------------------------------------- */

/* Results that depend on the order of rows, and are therefore kept for each segment: the rounded sums and the
   digest. */
typedef struct segment {
  double sum_ulp, sum_abs;
  uint64_t digest;
} segment;

/* Moves sums and digest from the results into a segment. */
void segment_take(segment *taken, accuracy *found, uint64_t *digest);

/* Joins successive segments. Adds the sums to the results and returns the digest: that of a single segment, or else a
   digest of all digests. */
uint64_t segments_join(const segment *all, int64_t count, accuracy *found);

/* Sets the "segments" of a result. */
void result_segments(exam_result *made, const segment *all, int64_t count);

/* Begins the result of a kernel that refuses the shape; or with a null refusal, of any other. */
void result_begin(exam_result *made, const exam *e, const char *refusal);

/* Make the result of a finished exam. mode: "exhaustive", "sampled" or "cases". `found` is not read if the search was
   skipped. */
void result_of_table(exam_result *made, const exam *e, const subject *s, const char *mode, const searched *found);
void result_of_applied(exam_result *made, const exam *e, applied *a, const char *mode);

/* ---- parts of records ------------------------------------------------------------------------------------ */

/* Parts of accuracy records, whose form doc/records.md describes, and the records of files. */

/* Sends the JSON of a record, which is taken over, from a worker. */
void record_send(json_t *record);

/* Return parts of a record. A witness keeps `replay`. */
record_witness witness_record(const witness *w, const char *replay, record_memory *in);
const record_bin *histogram_record(const accuracy *a, record_memory *in); /* of ACCURACY_BINS bins */
record_check check_record(const char *name, const check *c, record_memory *in);

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* What a file was compared with, whether it has a table or an array. */
typedef struct file_exam {
  const char *name;
  const table_file *table;
  const shape *shape;
  const char *command;
  const posenc_bound *limit; /* null if errors are only shown, without a check */
  const accuracy *found;
} file_exam;

/* Begins the result with the fields of all kinds of files but the numbers of elements, witnesses, positions and checks,
   for which it has room: so many. Returns these, without a value. */
record_check *file_begin(file_result *made, const file_exam *of, size_t checks);

/* Errors by the size of positions: 0, 1, 2 to 3, 4 to 7, … 2^63, counted separately for negative positions. */
enum { OCTAVES = 65 };

typedef struct octave {
  accuracy found;
  int64_t first, rows; /* the first compared position (of a list, its row), and number of rows */
} octave;

/* The octaves of negative positions, then the others. */
typedef struct octaves {
  octave of[2 * OCTAVES];
} octaves;

octave *octaves_at(octaves *all, int64_t position);

/* Adds the errors of all octaves to `found`. */
void octaves_sum(const octaves *all, accuracy *found);

/* Sets "positions", from the most negative ones on. positions: those of a list's rows, or null. */
void octaves_record(record_file *found, const octaves *all, const double *positions, record_memory *in);

/* ---- what is found of rows in files, and of other rows than a subject's successive ones (row-exam.c) ----------- */

typedef struct row_findings {
  octaves by_size;
  accuracy found; /* of all octaves, in the end */
  int64_t not_finite;
  check checks[PROPERTIES];
} row_findings;

/* Returns the record of what was found in the rows of an exam, with the checks of `subjects`. `tell` adds the place of
   a witness. */
typedef void place_teller(row_exam *e, const witness *w, record_witness *made, record_memory *in);
file_result row_exam_record(row_exam *e, const row_findings *r, const file_exam *of, unsigned subjects,
                            place_teller *tell);

/* Returns the largest errors, in `text`, as the reason why accuracy is not checked without a tolerance. */
const char *row_exam_figures(const accuracy *found, char *text, size_t size);

/* ---- tables ---------------------------------------------------------------------------------------------- */

/* Whole positions are numbers of the unit 1, fractional ones of the first unit 2^-8, 2^-16, … in which they are whole.
   The unit becomes part of the scale. */
enum { UNIT_BITS = 8, UNITS = (1074 + UNIT_BITS - 1) / UNIT_BITS + 1 };

typedef struct place_in_list {
  int unit;
  int64_t number;
} place_in_list;

/* A digest of a row's bits, and the row's number. */
typedef struct row_digest {
  uint64_t digest;
  int64_t row;
} row_digest;

/* The pairs of one axis of a table, or all pairs of a table without axes; and where their sines and cosines are in a
   row. */
typedef struct table_axis {
  posenc_problem problem; /* a table of these pairs alone, without a list, which has the columns below */
  int64_t frequencies;    /* dim of the problem that has the frequencies */
  axis_pairs pairs;       /* of a table with axes */
  double attention;
  int64_t *picked[2]; /* columns of the sines and then of the cosines, -1 for none; in each copy. Null: the row's own */
  fast_oracle *references[UNITS];
} table_axis;

/* The exam of one table. The positions here are of a list the rows, and with axes the places. */
typedef struct table_exam {
  row_exam of;
  row_findings all;
  const table_request *request; /* its tolerance may grow with the position, and have a domain */
  table_axis axis[POSENC_AXES];
  int axes;
  oracle *odd_references[UNITS];
  unsigned char *own, *one, *other; /* a block of an axis's columns, and two single rows */
  fast_pair *by;
  row_digest *digests;
  int64_t digested, equal, equal_first[2];
} table_exam;

/* Creates an exam for rows of `width` columns. */
table_exam *table_exam_create(const table_request *request, rows_source source, int64_t width);
void table_exam_free(table_exam *e);

/* Compares the rows of a window with the exact values, and some with each other. The errors are in `by_size`. */
void table_exam_rows(table_exam *e, window w);

/* The judge of these rows, for another one that looks further at them. */
bool table_exam_judge(row_exam *e, window block);

/* ---- results of add and rope (array.c) ------------------------------------------------------------------- */

/* Pairs of a result of add or rope, and how far they may be from the exact ones: for its exam and for its cause. */

/* The tolerance of results of one problem, of arithmetic as their numbers show it (reference/accuracy.h). */
typedef struct array_tolerances {
  double *angles;      /* of each frequency index at position 1 */
  double unit;         /* of the arithmetic */
  double value, least; /* least: numbers of the dtype below have fewer digits */
} array_tolerances;

/* Sets the tolerances of a problem, of results that are numbers of the dtype `held`. The caller frees l->angles. */
void array_tolerances_open(array_tolerances *l, const posenc_problem *problem, posenc_dtype held);

/* Returns the tolerance of the errors of pair i at a position, or with axes at an index, as a share of its length. */
double array_tolerance_at(const array_tolerances *l, const posenc_problem *problem, int64_t i, int64_t at);

/* Returns the larger error of a pair, as a share: for rope of the length of x's pair, but at least `least`; for add
   also of at least 1. */
double array_share(const double x[2], const double got[2], const double right[2], bool is_add, double least);

/* Returns the sine and cosine of frequency i. */
fast_pair array_lane(const fast_lanes *lanes, int64_t i);

/* ---- profiles -------------------------------------------------------------------------------------------- */

/* A kernel's error by position and by frequency, far beyond the positions of tables; and the distances of exact
   rows. */

/* The profile's table: the paper's, as wide as the heads of most models. All of its rows are checked. */
enum { PROFILE_DIM = 128, PROFILE_ROWS = 1 << 20 };

/* Returns an entry of "profile" in the accuracy record (doc/records.md), in full, or errors by position only. This and
   profile_unique use all cores, by OpenMP, and must be called in a process of their own. */
record_profile profile_of(const posenc_kernel *kernel, const posenc_options *options, bool in_full, record_memory *in);

/* Returns the entry of a kernel whose process died, without calling the kernel. */
record_profile profile_empty(const posenc_kernel *kernel);

/* Returns "unique" of the accuracy record. */
record_unique profile_unique(void);

/* The profile of a kernel, and how much of it is requested. */
typedef struct profile_task {
  const run_request *request;
  const posenc_kernel *kernel;
  run_profile wanted;
} profile_task;

/* Send a profile, and the distances of exact rows, which no kernel computes, from a worker. argument: a profile_task,
   which the distances do not need. */
void profile_worker(void *argument);
void unique_worker(void *argument);

/* Returns about how many elements are compared, most of them by the scan. */
double profile_elements(run_profile wanted);

#endif
