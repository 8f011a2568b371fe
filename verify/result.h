/* SPDX-License-Identifier: MIT */
/* The record of an exam: see verify_run in verify.h. */
#ifndef POSENC_VERIFY_RESULT_H
#define POSENC_VERIFY_RESULT_H

#include "verify/applied.h"
#include "verify/cases.h"
#include "verify/checks.h"
#include "verify/range.h"
#include "verify/request.h"

#include <jansson.h>

/* The exam of a kernel on a shape. */
typedef struct exam {
  const verify_request *request;
  const posenc_kernel *kernel;
  const shape *of;
  const verify_cases *cases; /* the only elements that are compared; null: all */
  bool brief;                /* without the checks beside the shape, which another exam makes: there is one for each
                                kernel, operation and dtype */
  bool apply_known;          /* another exam checks the library's code that applies the kernel's rows */
  range of_rows; /* the compared segments; with the first of them, also all checks that are not of windows */
} exam;

/* Returns the record of a kernel that refuses the shape; or with a null refusal, the beginning of a record. All
   functions here return null if memory runs out. */
json_t *result_begin(const exam *e, const char *refusal);

/* Returns the record of a finished exam. mode: "exhaustive", "sampled" or "cases". `found` is not read if the search
   was skipped. */
json_t *result_of_table(const exam *e, const subject *s, const char *mode, const searched *found);
json_t *result_of_applied(const exam *e, applied *a, const char *mode);

#endif
