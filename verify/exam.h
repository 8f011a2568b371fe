/* SPDX-License-Identifier: MIT */
/* The exam of one kernel on one shape. */
#ifndef POSENC_VERIFY_EXAM_H
#define POSENC_VERIFY_EXAM_H

#include "verify/result.h"

/* Returns the record of the exam; null if memory runs out. */
json_t *examine(const exam *e);

/* Returns the examined shape, or for a rope cache the shape of the table that it is made of. */
shape exam_shape(const exam *e);

/* Returns the reason why the kernel refuses the shape, or null, in static storage. Creates a plan, as examine does. */
const char *exam_refusal(const exam *e);

/* Returns about how many elements are compared in the exam's range. */
double exam_elements(const exam *e);

/* Returns range `number` of `count` ranges of about equal size of the whole exam; empty if it has fewer segments. */
range exam_range(const exam *e, int64_t number, int64_t count);

/* Returns the options of the plans. */
posenc_options exam_options(const verify_request *request);

#endif
