/* SPDX-License-Identifier: MIT */
/* Runs in records. */
#ifndef POSENC_RECORDS_RUN_H
#define POSENC_RECORDS_RUN_H

#include "common/run.h"
#include "records/read.h"

/* What a record has of a run, with the memory of its lists. */
typedef struct run_record {
  record_run of;
  const char **texts;
  record_shape *shapes;
  record_run_item *items;
} run_record;

/* Makes it, for run_forget. Names and digests are those of the request, which must outlive it. */
void run_make(const run_request *asked, run_record *made);
void run_forget(run_record *made);

/* Returns the same as JSON, a new reference. */
json_t *run_json(const run_request *asked);

#endif
