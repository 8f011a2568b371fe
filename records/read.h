/* SPDX-License-Identifier: MIT */
/* Is this JSON a record? A report is made of files that anyone may have written. */
#ifndef POSENC_RECORDS_READ_H
#define POSENC_RECORDS_READ_H

#include <jansson.h>
#include <stdbool.h>

/* What is wrong with a record and where, in a few words. */
typedef struct record_fault {
  char text[200];
} record_fault;

/* As verify_run makes it: see verify/verify.h. */
bool record_is_accuracy(const json_t *record, record_fault *fault);

/* As bench_run makes it: see bench/bench.h. */
bool record_is_timing(const json_t *record, record_fault *fault);

/* As posenc report writes it, report.json: see reports/model/document.h; as far as pages of several machines show it. */
bool record_is_report(const json_t *record, record_fault *fault);

/* Has a commit a name for the sources of these facts? Not if they were modified, or if it is unknown. */
bool record_names_sources(const json_t *facts);

#endif
