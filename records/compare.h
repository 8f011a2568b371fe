/* SPDX-License-Identifier: MIT */
/* Finds what has become worse: between two records of the same kind, two programs that made records in blocks, or an
   earlier run and this one; and since when, in many records. */
#ifndef POSENC_RECORDS_COMPARE_H
#define POSENC_RECORDS_COMPARE_H

#include "records/record.h"
#include "records/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Decides whether benchmarks have become slower or faster, by one rule for times of any origin. */

typedef struct compare_thresholds {
  double growth; /* the share by which an error may grow */
  double slower; /* the share by which a benchmark may take longer */
  double alpha;  /* a difference counts only if chance alone makes one, in any benchmark, in at most this share of
                    comparisons; the intervals enclose all true ratios in 1 - alpha of them */
  bool by_time;  /* compare times, even if both records have shares of the limit */
} compare_thresholds;

/* The verdict on one benchmark, and its figures. */
typedef struct speed_row {
  const char *name;
  const char *verdict; /* null until it is decided */
  char note[120];
  bool tested, by_limit;  /* whether both sides have times; whether the figures are shares of the limit */
  bool disturbed;         /* other processes interrupted so much that a difference is no evidence */
  double old, new;        /* ns, or shares of the limit */
  size_t counts[2];       /* numbers of timings used, before and after */
  size_t interrupted[2];  /* numbers of interrupted repetitions left out, before and after */
  size_t blocks;          /* blocks of the run; 0 for records */
  statistics_ratio ratio; /* of the times or of 1 / share of the limit, with speed_confidence */
  double p;               /* first uncorrected, then corrected for several tests */
  int64_t more;           /* about how many blocks would decide; RECORD_NONE if it is decided or none would */
} speed_row;

/* Returns a row of that name, without a verdict. */
speed_row speed_new(const char *name);

/* Returns the confidence for the interval of each row, if `tested` rows are tested. */
double speed_confidence(const compare_thresholds *thresholds, size_t tested);

/* Corrects p over all rows that are tested, and sets missing verdicts and notes. */
void speed_judge(speed_row *rows, size_t count, const compare_thresholds *thresholds);

/* Returns the row of a comparison, whose texts are in `in`. */
record_compared speed_record(const speed_row *row, record_memory *in);

/* Timing records of several processes of two programs. Four processes, two of each program, are a block. */
typedef struct blocks blocks;

/* Makes an empty collection. */
blocks *blocks_open(void);
void blocks_close(blocks *all);

/* Returns the number of complete blocks. */
size_t blocks_count(const blocks *all);

/* Adds the next record of the old or the new program, block by block, in any order within a block. All records must
   have the same benchmarks. Returns false, with the defect in `why`, on bad records. */
bool blocks_add(blocks *all, bool is_new, const record_timing *record, char *why, size_t size);

/* Returns the rows of all benchmarks, by all blocks, which are complete; they are in `in`. */
const record_compared *blocks_compare(const blocks *all, const compare_thresholds *thresholds, record_memory *in,
                                      size_t *count);

#define COMPARE_DEFAULT_GROWTH 0
#define COMPARE_DEFAULT_SLOWER 5
#define COMPARE_DEFAULT_ALPHA 0.05
#define COMPARE_RUN_SLOWER 3
#define COMPARE_RUN_ALPHA 0.01

/* A record of either kind; of JSON that is none, both are null. */
typedef struct compare_input {
  const record_accuracy *accuracy;
  const record_timing *timing; /* of any program with Google Benchmark */
} compare_input;

/* Reads a record, for compare_close, and takes the JSON over. Returns false, with the benchmark and the reason in
   `why`, if a benchmark lacks the time that it must have. */
bool compare_open(compare_input *made, json_t *json, char *why, size_t size);
void compare_close(compare_input *of);

/* Makes a comparison, whose texts are those of the records and in `in`. Returns false, with the reason in *why, if the
   records cannot be compared. */
bool compare_records(record_comparison *made, const compare_input *before, const compare_input *after,
                     const compare_thresholds *thresholds, record_memory *in, const char **why);

/* Compares the blocks of two programs. The two records give the environments. */
record_comparison compare_blocks(const blocks *all, const record_timing *before, const record_timing *after,
                                 const compare_thresholds *thresholds, record_memory *in);

/* A result, and the record that it is of. */
typedef struct compare_side {
  const record_accuracy *record;
  const record_result *result;
} compare_side;

/* Returns the row of a comparison for two results of one kernel and problem. */
record_compared compare_results(const compare_side *before, const compare_side *after,
                                const compare_thresholds *thresholds, record_memory *in);

/* Returns the facts that differ between two environments; they are in `in`. */
const record_difference *compare_environments(const record_facts *before, const record_facts *after, record_memory *in,
                                              size_t *count);

/* Prints a comparison as text for a terminal, without unchanged rows unless `all`, or as a Markdown table. */
void compare_print_text(const record_comparison *comparison, bool all, FILE *stream);
void compare_print_markdown(const record_comparison *comparison, bool all, FILE *stream);

/* ---- baselines ------------------------------------------------------------------------------------------- */

/* Compares errors and bits of kernels with those of an earlier run, which later runs must not exceed or change. */

/* Returns the baseline of an accuracy record, whose texts are those of the record and whose lists are in `in`. */
record_baseline baseline_of(const record_accuracy *record, record_memory *in);

typedef struct baseline_terms {
  bool allow_new;         /* a result without an entry is skipped; otherwise it fails */
  bool allow_environment; /* if the environment differs, errors of kernels that are not reproducible may grow by the
                             allowance in baseline.c, and kernels may refuse; otherwise both fail */
  bool (*selects)(const void *argument, const char *kernel); /* whether the run is of this kernel; null: of all */
  const void *argument;
  const char *replay; /* the options that hold a run to this baseline; null: unknown */
} baseline_terms;

/*
 * Adds the check "baseline" to every result of the record. The check fails if an error or a number of elements with
 * large errors has grown, if the bits of a reproducible kernel have changed, if the baseline is of other elements, or
 * if a kernel refuses what it did. Its note says what has changed, also for the better, and which facts of the
 * environment differ where they may be the cause. A record in which nothing of a kernel was compared that the
 * baseline has and the run is of gets the field "uncompared" with its name, and is mistrusted (record_mistrust).
 * `baseline` is one that record_read_baseline accepts. What is added is in `in`, or of the baseline.
 */
void baseline_hold(record_accuracy *record, const record_baseline *baseline, const baseline_terms *terms,
                   record_memory *in);

/* ---- a history --------------------------------------------------------------------------------------------------- */

/* Records in the order of commits or of time: what has become worse, and since when. */

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
