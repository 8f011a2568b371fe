/* SPDX-License-Identifier: MIT */
/* What records have of shapes, kernels, encodings, runs and the machine. */
#ifndef POSENC_RECORDS_MAKE_H
#define POSENC_RECORDS_MAKE_H

#include "common/run.h"
#include "common/shapes.h"
#include "records/record.h"

/* Returns the keys and values of a scaling, with the texts and factors of `s`. It is not `there` if there is none. */
record_scaling scaling_record(const posenc_scaling *s, int64_t dim);

/* Returns what a record has of a shape. Names and layouts are those of the shape, which must outlive it. A list of more
   than SHAPE_POSITIONS positions is its count and digest. */
record_shape shape_record(const shape *s, record_memory *in);

/* Returns the facts of this machine and build, which are in `in`. */
record_facts environment_record(record_memory *in);

record_bound bound_record(const posenc_bound *bound);

/* Return contracts, whose texts are those of the kernel or the encoding. isa: allowed tiers; 0 for POSENC_ISA, or
   all. */
record_kernel kernel_record(const posenc_kernel *kernel, unsigned isa);
record_encoding encoding_record(const posenc_encoding *encoding);

/* Runs in records. */

/* Returns what a record has of a run. Names and digests are those of the request, which must outlive it. */
record_run run_record(const run_request *asked, record_memory *in);

/* Returns what a record has of the shard that does these works of a run. */
record_run_shard shard_record(const run_request *whole, const run_works *own, record_memory *in);

#endif
