/* SPDX-License-Identifier: MIT */
/* Parts of accuracy records, whose form doc/records.md describes, and the records of files. */
#ifndef POSENC_VERIFY_RECORD_H
#define POSENC_VERIFY_RECORD_H

#include "common/isolation.h"
#include "common/shapes.h"
#include "inspect/files/table.h"
#include "reference/accuracy.h"
#include "verify/checks.h"

#include <jansson.h>

/* Sends a record, which is taken over, from a worker. Returns the record that a worker has sent, and frees its text;
   null if there is none. */
void record_send(json_t *record);
json_t *record_received(isolated *end);

/* Returns field_name without "#", as TAP interprets words after it. */
json_t *record_name(const char *name);

/* Return parts of a record. replayed_witness takes the reference to `replay`. */
json_t *replayed_witness(const witness *w, json_t *replay);
json_t *record_histogram(const accuracy *a);
json_t *check_json(const char *name, const check *c);

/* Returns the command line as a new string; "posenc check" if a name in it is not UTF-8. */
json_t *record_command(const char *command);

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* The fields of the record of a file, whether it has a table or an array. */
typedef struct file_record {
  const char *name;
  table_file *table;
  const shape *shape;
  const char *command;
  const posenc_bound *limit; /* null if errors are only shown, without a check */
  const accuracy *found;
  int64_t of, not_finite;            /* elements of the file, and those that are not finite */
  json_t *max_ulp, *max_abs, *worst; /* witnesses, or null */
  json_t *positions;                 /* from octaves_json */
  json_t *checks;                    /* an array of record_check */
} file_record;

/* Returns the record of posenc check, "posenc-check-1". `further` has the fields of this kind of file. Takes every
   reference. Null if memory runs out. */
json_t *record_of_file(const file_record *of, json_t *further);

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

/* Returns [ {"position", "rows", "max_ulp", "max_abs", "mean_abs", "misrounded"} … ], from the most negative positions
   on. positions: those of a list's rows, or null. */
json_t *octaves_json(const octaves *all, const double *positions);

#endif
