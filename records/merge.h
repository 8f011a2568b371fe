/* SPDX-License-Identifier: MIT */
/* The records of one run's shards, put together. */
#ifndef POSENC_RECORDS_MERGE_H
#define POSENC_RECORDS_MERGE_H

#include <jansson.h>

/*
 * All shards of one run of verify make the record that the whole run would have made, but for load and date, which are
 * the first shard's. They must be of one build's sources (version, interface, commit) and say the same of run and
 * kernels. They may come from several machines where that changes nothing: kernels that are reproducible have the same
 * bits everywhere; with others in the run, compiler, flags, libc, SLEEF and instruction sets must be the same too, as
 * what these are made of is libm and vector sines. In the environment, facts that differ stand side by side: "A / B".
 * Sources that were modified, or are unknown, have no name to go by: their shards must agree in all facts.
 *
 * Timings belong to a machine: all facts of shards of bench but load and date must agree. So must those of whole
 * records, which are merged if no benchmark is in two of them, as when one is hot and one is cold.
 *
 * A new record; or null, and in `why` which of `records` do not belong together, called by `names`, and the reason in
 * one line.
 */
json_t *merge_records(json_t *const *records, char *const *names, size_t count, char *why, size_t size);

#endif
