/* SPDX-License-Identifier: MIT */
/* The record of posenc check. */
#ifndef POSENC_VERIFY_FILE_RECORD_H
#define POSENC_VERIFY_FILE_RECORD_H

#include "common/shapes.h"
#include "files/table.h"
#include "reference/accuracy.h"

#include <jansson.h>

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

#endif
