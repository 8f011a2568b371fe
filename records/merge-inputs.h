/* SPDX-License-Identifier: MIT */
/* The files to merge, and the reasons why they cannot be merged. */
#ifndef POSENC_RECORDS_MERGE_INPUTS_H
#define POSENC_RECORDS_MERGE_INPUTS_H

#include "records/read.h"

/* A file of those to merge. */
typedef struct input {
  const char *name;
  const record_accuracy *accuracy; /* one of */
  const record_timing *timing;     /* the two is null */
  json_t *facts;                   /* of machine and build */
  json_t *run;                     /* whose shard it is; null of a whole run */
  int64_t number, of;              /* of the shard */
} input;

typedef struct merger {
  input *inputs;
  size_t count;
  json_t *(*join)(json_t *const *parts, size_t count); /* see merge.h */
  char *why;
  size_t size;
} merger;

/* Says why they cannot be merged, and returns false, for callers that pass failure on. */
__attribute__((format(printf, 2, 3))) bool merge_refuse(const merger *m, const char *format, ...);
bool merge_refuse_memory(const merger *m);

/* "A and B: " */
#define BOTH "%.200s and %.200s: "

/* "A and B: libc: glibc 2.36 and glibc 2.41", and what is wrong with that. */
bool merge_refuse_values(const merger *m, const input *one, const input *other, const char *key, const json_t *a,
                         const json_t *b, const char *reason);

/* Whether a fact changes from one moment to the next on one machine, or is a fact of Google Benchmark's for which the
   record has a better one. */
bool merge_is_momentary(const char *key);

/* Whether a file has the same facts as each file before it. The first file alone is not enough: it may lack a fact in
   which two others differ. */
bool merge_are_same_facts(const merger *m, const input *other, const char *reason);

/* Null if no file has it. */
const input *merge_find_shard(const merger *m, int64_t number);

/* A place in the run: the kernel and the shape that it is of, and what was found there. */
typedef struct place {
  const char *kernel;  /* "" of any */
  const json_t *shape; /* null of any */
  json_t *found;
  const input *from; /* null until a file has it */
  json_t *ranges;    /* what was found in ranges of it, and then what that makes; owned */
} place;

typedef struct places {
  const char *list; /* of the record, or what they are called */
  place *all;
  size_t count;
} places;

/* Empty places, for merge_free_places; false, and refused, when memory runs out. */
bool merge_make_places(const merger *m, places *p, const char *list, size_t count);

/* Puts what a file has into its place. */
bool merge_put(const merger *m, const places *p, int64_t number, const place *one);

/* The same of a result for a range of the rows, of which a place has several; and, of all results, what those of ranges
   make together. */
bool merge_put_range(const merger *m, const places *p, int64_t number, const place *one);
bool merge_join_ranges(const merger *m, const places *p);

bool merge_are_all_found(const merger *m, const places *p);

void merge_free_places(places *p);

/* The results of all shards, each once (merge-accuracy.c). Null, and refused, unless one machine could have found
 * them. */
json_t *merge_accuracy(const merger *m);

/* All timings, each once (merge-timings.c). */
json_t *merge_timings(const merger *m);

#endif
