/* SPDX-License-Identifier: MIT */
/* Merges the records of one run's shards. */
#ifndef POSENC_RECORDS_MERGE_H
#define POSENC_RECORDS_MERGE_H

#include "records/record.h"

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
 * Takes the records over. Sets one of two pointers to a new record, for record_free. Returns false, with one line in
 * `why` that names the records that do not belong together and the reason, if there is none. `names` are the records'
 * names in messages. `join` makes one result, for record_free, of the results of ranges of a table, in their order
 * (verify_join of verify/verify.h); null if they are not of one exam.
 */
typedef const record_result *merge_join(const record_result *const *parts, size_t count);
typedef struct merged_record {
  const record_accuracy *accuracy;
  const record_timing *timing;
} merged_record;
bool merge_records(merged_record *made, json_t *const *records, char *const *names, size_t count, merge_join *join,
                   char *why, size_t size);

/* Adds the results of another record of the same run to a record, and releases the other one. */
void merge_results(const record_accuracy **record, const record_accuracy *more);

/* ---- inside ---------------------------------------------------------------------------------------------- */

/* The files to merge, and the reasons why they cannot be merged. */

/* One of the files to merge. */
typedef struct input {
  const char *name;
  const record_accuracy *accuracy; /* null for timings */
  const record_timing *timing;     /* null for accuracy */
  record_fault fault;              /* why it has neither */
  const record_facts *facts;       /* those of machine and build */
  const record_run_shard *shard;   /* not there for a whole run */
} input;

typedef struct merger {
  input *inputs; /* shards are sorted by number */
  size_t count;
  merge_join *join;
  char *why;
  size_t size;
  record_memory *in; /* of what is made */
} merger;

/* Writes why the files cannot be merged into m->why. Returns false, which callers return in turn. */
__attribute__((format(printf, 2, 3))) bool merge_refuse(const merger *m, const char *format, ...);

/* "A and B: " */
#define BOTH "%.200s and %.200s: "

/* Refuses two files because of a value: "A and B: libc: glibc 2.36 and glibc 2.41", with the reason. */
bool merge_refuse_values(const merger *m, const input *one, const input *other, const record_unlike *values,
                         const char *reason);

/* Whether a fact may differ between runs on one machine: FACT_PASSING, or the failure of a kernel. */
bool merge_may_differ(const char *key);

/* Returns "A / B" for a text in which the files differ, each value once. */
const char *merge_side_by_side(const merger *m, const char *key);

/* Whether a file has the same facts as each file before it and, if both are shards, the same build. The first file
   alone is not enough: it may lack a fact in which two others differ. */
bool merge_are_same_facts(const merger *m, const input *other, const char *reason);

/* A result or a profile of a file, or that it has timed an item, for a place of the run. */
typedef struct merged_part {
  const input *from;
  const char *kernel;        /* null: that of the place */
  const record_shape *shape; /* of a result; null of the rest */
  const record_result *result;
  const record_profile *profile; /* of a place of a profile, instead of a result */
} merged_part;

/* A place in the run: its kernel and shape, and what was found for it. */
typedef struct merged_place {
  const char *kernel;
  const record_shape *shape; /* null of a profile */
  const input *from;         /* the first file that has something for it; null until one is found */
  const record_profile *profile;
  const record_result **results; /* one, or those of ranges of rows */
  size_t result_count;
  const record_result *joined; /* the joined result of ranges, for record_free */
} merged_place;

typedef struct places {
  const char *list; /* name of the list in the record, or words for its elements */
  merged_place *all;
  size_t count;
} places;

/* Makes empty places, for merge_free_places. */
places merge_make_places(const char *list, size_t count);

/* Makes the empty places of all items of the first file's run. */
places merge_expect_items(const merger *m, const char *list);

/* Puts a part of a file into its place. Refuses and returns false if the place is of something else, or is taken: only
   ranges share a place. */
bool merge_put(const merger *m, const places *p, int64_t number, const merged_part *one);

bool merge_are_all_found(const merger *m, const places *p);

void merge_free_places(places *p);

/* Returns the results of all shards, each once (merge-accuracy.c). Refuses and returns null unless one machine could
   have computed them all. */
const record_accuracy *merge_accuracy(const merger *m);

/* Returns all timings, each once (merge-timings.c). Refuses and returns null if they contradict each other. */
const record_timing *merge_timings(const merger *m);

#endif
