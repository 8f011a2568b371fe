/* SPDX-License-Identifier: MIT */
/* Merges the records of one run's shards. */
#ifndef POSENC_RECORDS_MERGE_H
#define POSENC_RECORDS_MERGE_H

#include "records/read.h"

/*
 * Merges records. All shards of one run of verify make the record that the whole run would have made, except load and
 * date, which are those of the first shard. Shards must agree in run, kernels and sources (version, interface,
 * commit). They may come from several machines if that changes nothing: reproducible kernels have the same bits
 * everywhere; other kernels use libm and vector sines, so with them, compiler, flags, libc, SLEEF and instruction
 * sets must be the same too. In the environment, facts that differ are listed as "A / B". Modified or unknown sources
 * have no commit that identifies them, so their shards must agree in all facts.
 *
 * Timings belong to a machine: shards of bench must agree in all facts but load and date. Whole timing records must,
 * too; they are merged if no benchmark is in two of them, as when one is hot and one is cold.
 *
 * Returns a new record, or null with one line in `why` that names the records that do not belong together and the
 * reason. `names` are the records' names in messages. `join` makes one result, as JSON, of the results of ranges of a
 * table, in their order (verify_join of verify/verify.h).
 */
json_t *merge_records(json_t *const *records, char *const *names, size_t count,
                      json_t *(*join)(const record_result *const *parts, size_t count), char *why, size_t size);

#endif
