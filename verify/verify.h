/* SPDX-License-Identifier: MIT */
/* Checks kernels against their contracts, and makes the accuracy record. */
#ifndef POSENC_VERIFY_VERIFY_H
#define POSENC_VERIFY_VERIFY_H

#include "verify/request.h"

#include <jansson.h>

/*
 * Makes the accuracy record, see records/record.schema.json and doc/records.md.
 *
 * Each kernel is looked at in a process of its own, a shape at a time. Of one that did not live to tell there is one
 * check only: survival, or memory if it died of touching what lies next to its rows.
 *
 * Null when memory runs out, or, with errno EAGAIN, when a process could not be made, which is no kernel's fault. No
 * thread may be running, nor have run an OpenMP region in this process (fork).
 */
json_t *verify_run(const verify_request *request);

#endif
