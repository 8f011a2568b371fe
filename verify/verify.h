/* SPDX-License-Identifier: MIT */
/* Checks kernels against their contracts, and makes the accuracy record. */
#ifndef POSENC_VERIFY_VERIFY_H
#define POSENC_VERIFY_VERIFY_H

#include "verify/request.h"

#include <jansson.h>

/*
 * Makes the accuracy record, see records/record.schema.json and doc/records.md.
 *
 * Each kernel is examined in a process of its own, one shape at a time. If the process ends early, the record has one
 * failed check: memory if the kernel touched memory outside its rows, else survival.
 *
 * Returns null if memory runs out; or with errno EAGAIN, if a process could not be created, which is not the fault of a
 * kernel. No other thread may be running, and no OpenMP region may have run in this process (fork).
 */
json_t *verify_run(const verify_request *request);

/* Returns the "run" of a shard's record, a new reference: everything that all shards of the request share. */
json_t *verify_run_json(const verify_request *request);

#endif
