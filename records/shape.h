/* SPDX-License-Identifier: MIT */
/* Shapes in records. */
#ifndef POSENC_RECORDS_SHAPE_H
#define POSENC_RECORDS_SHAPE_H

#include "common/shapes.h"
#include "records/read.h"

/* Returns what a record has of a shape, for shape_forget. Names and layouts are those of the shape, which must outlive
   it. A list of more than SHAPE_POSITIONS positions is its count and digest. */
record_shape shape_record(const shape *s);
void shape_forget(record_shape *made);

/* Returns the same as JSON, a new reference. */
json_t *shape_json(const shape *s);

#endif
