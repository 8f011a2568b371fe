/* SPDX-License-Identifier: MIT */
/* Shapes, kernels and encodings in records. */
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

record_bound bound_record(const posenc_bound *bound);

/* Return contracts, whose texts are those of the kernel or the encoding. isa: allowed tiers; 0 for POSENC_ISA, or
   all. */
record_kernel kernel_record(const posenc_kernel *kernel, unsigned isa);
record_encoding encoding_record(const posenc_encoding *encoding);

#endif
