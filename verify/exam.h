/* SPDX-License-Identifier: MIT */
/* The exam of one kernel on one shape, profiles of kernels, and what records have of both and of files. */
#ifndef POSENC_VERIFY_EXAM_H
#define POSENC_VERIFY_EXAM_H

#include "common/shapes.h"
#include "common/work.h"
#include "records/read.h"
#include "reference/accuracy.h"
#include "verify/checks.h"
#include "verify/files.h"
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
