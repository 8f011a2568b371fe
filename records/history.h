/* SPDX-License-Identifier: MIT */
/* Records in the order of commits or of time: what has become worse, and since when. */
#ifndef POSENC_RECORDS_HISTORY_H
#define POSENC_RECORDS_HISTORY_H

#include "records/record.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define HISTORY_DEFAULT_ALPHA 0.005

typedef struct history history;

history *history_open(void);
void history_close(history *all);

/* Adds an accuracy record, a timing record or a report, which is both. `file` is its name; `commit` that whose kernels
   were measured, or null: as the record says. Both are copied, and the JSON is taken over. Returns false, with the
   defect in `why`, if it is none of these or cannot be read. */
bool history_add(history *all, const char *file, const char *commit, json_t *record, char *why, size_t size);

/*
 * Puts the records in order: by their commits' places in `commits`, full names from the oldest on, or by their dates if
 * `commits` is null. Leaves out records that have no place. Returns the number of the others.
 */
size_t history_order(history *all, char *const *commits, size_t count);

typedef struct history_terms {
  double alpha; /* if no benchmark has changed, a change of any is told in at most this share of histories */
  uint64_t seed;
  const char *since; /* a date, "2026-11-28", or a commit or its beginning: earlier changes are not told; null: all */
} history_terms;

/*
 * Finds the changes, whose texts are those of the history and in `in`. Each kernel and shape is a series for each CPU.
 * Records of one commit, or of one date, are one point: its time is the median of all repetitions. An accuracy series
 * changes where figures or bits do; one of instructions where their number is another by a thousandth or more; a series
 * of times where divisive_find says so. Returns false if `since` is neither a date nor a commit of the history.
 */
bool history_find(const history *all, const history_terms *terms, record_memory *in, record_history *made);

/* Prints a line for each change, nothing if there is none. */
void history_print_text(const record_history *found, FILE *stream);

/* Words for a change: its size, of times in per cent with `between` before the interval and before p; the commit and
   the day of an end; and what else may be the cause, with the facts of the environment that differ. */
typedef struct history_words {
  char text[1000];
} history_words;
history_words history_size(const record_history_change *change, const char *between);
history_words history_end(const record_history_end *end);
history_words history_note(const record_history_change *change);

#endif
