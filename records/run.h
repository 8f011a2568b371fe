/* SPDX-License-Identifier: MIT */
/* Runs in records. */
#ifndef POSENC_RECORDS_RUN_H
#define POSENC_RECORDS_RUN_H

#include "common/run.h"
#include "records/read.h"

/* Returns what a record has of a run, for run_forget. Its lists are in `in`; names and digests are those of the
   request. Both must outlive it. */
record_run run_record(const run_request *asked, record_memory *in);
void run_forget(record_run *made);

/* Returns the same as JSON, a new reference. */
json_t *run_json(const run_request *asked);

#endif
