/* SPDX-License-Identifier: MIT */
/* The records of one run's shards, put together. */
#ifndef POSENC_RECORDS_MERGE_H
#define POSENC_RECORDS_MERGE_H

#include <jansson.h>

/*
 * All shards of one run of verify together make the record that the whole run would have made, except load and date,
 * which are those of the first shard. They must be of one build's sources (version, interface, commit) and say the same
 * of run and kernels. They may come from several machines where that changes nothing: kernels that are reproducible
 * have the same bits everywhere; if there are other kernels in the run, compiler, flags, libc, SLEEF and instruction
 * sets must be the same too, as such kernels use libm and vector sines. In the environment, facts that differ stand
 * side by
 * side: "A / B". Modified or unknown sources have no commit that identifies them: their shards must agree in all facts.
 *
 * Timings belong to a machine: all facts of shards of bench but load and date must agree. So must those of whole
 * records, which are merged if no benchmark is in two of them, as when one is hot and one is cold.
 *
 * A new record; or null, and in `why`, in one line, which of `records` do not belong together, and the reason. `names`
 * are what messages call them. `join` makes one result of those of ranges of a table, in their order, which several
 * shards have (verify_join of verify/join.h).
 */
json_t *merge_records(json_t *const *records, char *const *names, size_t count,
                      json_t *(*join)(json_t *const *parts, size_t count), char *why, size_t size);

#endif
