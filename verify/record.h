/* SPDX-License-Identifier: MIT */
/* Parts of accuracy records, whose form doc/records.md describes, and the records of files. */
#ifndef POSENC_VERIFY_RECORD_H
#define POSENC_VERIFY_RECORD_H

#include "common/shapes.h"
#include "common/work.h"
#include "records/read.h"
#include "reference/accuracy.h"
#include "verify/checks.h"
#include "verify/files.h"

/* Sends the JSON of a record, which is taken over, from a worker. Returns the JSON that a worker has sent, a new
   reference, and frees its text; null if there is none. */
void record_send(json_t *record);
json_t *record_received(isolated *end);

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

/* Returns the name of a file or tensor without "#", as TAP interprets words after it. */
const char *name_record(const char *name, record_memory *in);

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

#endif
