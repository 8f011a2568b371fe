/* SPDX-License-Identifier: MIT */
/* Compares two records of the same kind, or two programs that made records in blocks, and finds what has become
   worse. */
#ifndef POSENC_RECORDS_COMPARE_H
#define POSENC_RECORDS_COMPARE_H

#include "records/read.h"
#include "records/statistics.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Decides whether benchmarks have become slower or faster, by one rule for times of any origin. */

typedef struct compare_limits {
  double growth; /* the share by which an error may grow */
  double slower; /* the share by which a benchmark may take longer */
  double alpha;  /* a difference counts only if chance alone makes one, in any benchmark, in at most this share of
                    comparisons; the intervals enclose all true ratios in 1 - alpha of them */
  bool by_time;  /* compare times, even if both records have shares of the limit */
} compare_limits;

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
double speed_confidence(const compare_limits *limits, size_t tested);

/* Corrects p over all rows that are tested, and sets missing verdicts and notes. */
void speed_judge(speed_row *rows, size_t count, const compare_limits *limits);

/* Returns a row of a comparison as JSON, see record.schema.json. */
json_t *speed_json(const speed_row *row);

/* Timing records of several processes of two programs. Four processes, two of each program, are a block. */
typedef struct blocks blocks;

/* Makes an empty collection. */
blocks *blocks_open(void);
void blocks_close(blocks *all);

/* Returns the number of complete blocks. */
size_t blocks_count(const blocks *all);

/* Adds the next record of the old or the new program, block by block, in any order within a block. All records must
   have the same benchmarks. Returns false, with the defect in `why`, on bad records. */
bool blocks_add(blocks *all, bool is_new, const json_t *record, char *why, size_t size);

/* Adds the rows of all benchmarks, by all blocks, which are complete. */
void blocks_compare(const blocks *all, const compare_limits *limits, json_t *rows);

#define COMPARE_DEFAULT_GROWTH 0
#define COMPARE_DEFAULT_SLOWER 5
#define COMPARE_DEFAULT_ALPHA 0.05
#define COMPARE_RUN_SLOWER 3
#define COMPARE_RUN_ALPHA 0.01

/* Returns a comparison, see record.schema.json. Records of speed may come from any program with Google Benchmark.
   Returns null, with the reason in *why, if the records cannot be compared. */
json_t *compare_records(const json_t *before, const json_t *after, const compare_limits *limits, const char **why);

/* Compares the blocks of two programs. The two records give the environments. */
json_t *compare_blocks(const blocks *all, const json_t *before, const json_t *after, const compare_limits *limits);

/* Returns the row of a comparison for two results of one kernel and problem, a new reference. */
json_t *compare_results(const record_result *before, const record_result *after, const compare_limits *limits);

/* Adds the facts that differ between two environments to the array `found`, as {"what", "old", "new"}. */
void compare_environments(const json_t *before, const json_t *after, json_t *found);

/* Whether every benchmark of a speed record has the time that it must have; true for other records. If not, `why` names
   the benchmark and the reason. */
bool compare_check(const json_t *record, char *why, size_t size);

/* Prints a comparison as text for a terminal, without unchanged rows unless `all`, or as a Markdown table. */
void compare_print_text(const record_comparison *comparison, bool all, FILE *stream);
void compare_print_markdown(const record_comparison *comparison, bool all, FILE *stream);

/* ---- baselines ------------------------------------------------------------------------------------------- */

/* Compares errors and bits of kernels with those of an earlier run, which later runs must not exceed or change. */

/* Makes the baseline of an accuracy record; see record.schema.json. Null if the record lacks kernel_abi, seed or
   budget. */
json_t *baseline_of(const json_t *record);

/* Prints a baseline with a line for each entry, so that a diff of two shows what has changed and of which kernel and
   table. Errors are left in the stream's error indicator. */
void baseline_print(const json_t *baseline, FILE *stream);

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
 * `baseline` is one that record_read_baseline accepts.
 */
void baseline_hold(json_t *record, const json_t *baseline, const baseline_terms *terms);

#endif
