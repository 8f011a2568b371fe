/* SPDX-License-Identifier: MIT */
#include "records/compare.h"

#include "common/memory.h"
#include "common/number.h"
#include "records/timings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 2, OF_BLOCK = 2 }; /* sides: the old and the new program; processes of a side in a block */

/* The smallest time of a benchmark's repetitions in one process, and that in units of the limit's smallest time. */
typedef struct made {
  double time, cost;
} made;

struct blocks {
  size_t count, added[SIDES], room; /* complete blocks; processes; processes of a side that memory is for */
  char **names;                     /* null before the first record */
  size_t benchmarks;                /* their number */
  made *made[SIDES];                /* indexed by process and number of the benchmark */
};

blocks *blocks_open(void) {
  return memory_take(1, sizeof(blocks));
}

void blocks_close(blocks *all) {
  for (size_t i = 0; i < all->benchmarks; i++) free(all->names[i]);
  free(all->names);
  for (int side = 0; side < SIDES; side++) free(all->made[side]);
  free(all);
}

size_t blocks_count(const blocks *all) {
  return all->count;
}

/* ---- one process ---- */

/* Other processes can only make a timing longer, so the shortest of many is the one that they disturbed least. That
   holds for the limit, too, by which times are divided because it depends on the clock frequency alike. The smallest
   quotient would be that of the most disturbed limit: between equal processes beside two busy ones on two cores it
   differed by 4 to 13 % (standard deviation), the quotient of the smallest by 1 to 2 %. */
static made least_of(const timings *of) {
  double time = INFINITY, limit = INFINITY;
  for (size_t i = 0; i < of->count; i++) time = fmin(time, of->times[i]);
  if (of->limited != of->count) return (made){time, NAN};
  for (size_t i = 0; i < of->count; i++) limit = fmin(limit, of->times[i] / of->costs[i]);
  return (made){time, time / limit};
}

static void keep_names(blocks *all, const timings_record *record) {
  all->benchmarks = record->names_count;
  all->names = memory_take(record->names_count, sizeof(*all->names));
  for (size_t i = 0; i < record->names_count; i++) all->names[i] = memory_copy_text(record->names[i]);
}

/* Makes room for another process of a side. */
static void make_room(blocks *all, bool is_new) {
  if (all->added[is_new] < all->room) return;
  const size_t room = 2 * all->room + OF_BLOCK;
  for (int side = 0; side < SIDES; side++)
    all->made[side] = memory_grow(all->made[side], room * all->benchmarks, sizeof(made));
  all->room = room;
}

/* Returns the first name that the record lacks, or null if there is none. */
static const char *first_gone(const blocks *all, const timings_record *record) {
  for (size_t i = 0; i < all->benchmarks; i++)
    if (!timings_has(record, all->names[i])) return all->names[i];
  return NULL;
}

static bool has_name(const blocks *all, const char *name) {
  for (size_t i = 0; i < all->benchmarks; i++)
    if (strcmp(all->names[i], name) == 0) return true;
  return false;
}

/* Returns the first name of the record that is new, or null if there is none. */
static const char *first_new(const blocks *all, const timings_record *record) {
  for (size_t i = 0; i < record->names_count; i++)
    if (!has_name(all, record->names[i])) return record->names[i];
  return NULL;
}

static bool add_benchmarks(blocks *all, bool is_new, const timings_record *record, char *why, size_t size) {
  made *to = all->made[is_new] + all->added[is_new] * all->benchmarks;
  for (size_t i = 0; i < all->benchmarks; i++) {
    timings of = timings_collect(record, all->names[i], false);
    const bool timed = of.count > 0 && !of.failed;
    if (timed) to[i] = least_of(&of);
    timings_discard(&of);
    if (!timed) return snprintf(why, size, "benchmark %.80s failed, or has no time", all->names[i]), false;
  }
  return true;
}

bool blocks_add(blocks *all, bool is_new, const record_timing *record, char *why, size_t size) {
  timings_record taken;
  bool done = false;
  timings_open(&taken, record);
  if (!all->names) keep_names(all, &taken);
  if (all->benchmarks == 0) {
    snprintf(why, size, "it has timed nothing");
  } else {
    make_room(all, is_new);
    const char *gone = first_gone(all, &taken), *more = first_new(all, &taken);
    if (gone) snprintf(why, size, "benchmark %.80s is missing, which an earlier process had", gone);
    if (more && !gone) snprintf(why, size, "benchmark %.80s is new, which no earlier process had", more);
    done = !gone && !more && add_benchmarks(all, is_new, &taken, why, size);
    if (done) all->added[is_new]++;
    all->count = (all->added[0] < all->added[1] ? all->added[0] : all->added[1]) / OF_BLOCK;
  }
  timings_close(&taken);
  return done;
}

/* ---- all processes ---- */

static double number_of_process(const blocks *all, int side, size_t process, size_t benchmark, bool by_limit) {
  const made *one = &all->made[side][process * all->benchmarks + benchmark];
  return by_limit ? one->cost : one->time;
}

/* Whether all processes have shares of a limit. */
static bool is_limited(const blocks *all, size_t benchmark) {
  for (int side = 0; side < SIDES; side++)
    for (size_t i = 0; i < OF_BLOCK * all->count; i++)
      if (!(number_of_process(all, side, i, benchmark, true) < INFINITY)) return false;
  return true;
}

/* Returns the median over the processes of a side. `scratch` has room for their values. */
static double median_of(const blocks *all, int side, size_t benchmark, bool by_limit, double *scratch) {
  for (size_t i = 0; i < OF_BLOCK * all->count; i++) scratch[i] = number_of_process(all, side, i, benchmark, by_limit);
  return statistics_median(scratch, OF_BLOCK * all->count);
}

/* Sets the logarithms of the ratio of new to old, one for each block. */
static void set_ratios(const blocks *all, size_t benchmark, bool by_limit, double *logs) {
  for (size_t b = 0; b < all->count; b++) {
    logs[b] = 0.0;
    for (size_t i = OF_BLOCK * b; i < OF_BLOCK * (b + 1); i++)
      logs[b] += log(number_of_process(all, true, i, benchmark, by_limit) /
                     number_of_process(all, false, i, benchmark, by_limit)) /
                 OF_BLOCK;
  }
}

static void find(const blocks *all, size_t benchmark, const compare_thresholds *thresholds, double *scratch,
                 speed_row *row) {
  const bool by_limit = !thresholds->by_time && is_limited(all, benchmark);
  const double old = median_of(all, false, benchmark, by_limit, scratch),
               new = median_of(all, true, benchmark, by_limit, scratch);
  row->tested = true;
  row->by_limit = by_limit;
  row->blocks = all->count;
  row->counts[0] = row->counts[1] = OF_BLOCK * all->count;
  row->old = by_limit ? 1.0 / old : old;
  row->new = by_limit ? 1.0 / new : new;
  set_ratios(all, benchmark, by_limit, scratch);
  row->p = statistics_signed_rank(scratch, all->count);
  row->ratio = statistics_paired_ratio_of(scratch, all->count, speed_confidence(thresholds, all->benchmarks));
}

const record_compared *blocks_compare(const blocks *all, const compare_thresholds *thresholds, record_memory *in,
                                      size_t *count) {
  record_compared *rows = record_allocate(in, all->benchmarks, sizeof *rows);
  speed_row *found = memory_take(all->benchmarks, sizeof *found);
  double *scratch = memory_take(OF_BLOCK * all->count, sizeof *scratch);
  for (size_t i = 0; i < all->benchmarks; i++) {
    found[i] = speed_new(all->names[i]);
    find(all, i, thresholds, scratch, &found[i]);
  }
  speed_judge(found, all->benchmarks, thresholds);
  for (size_t i = 0; i < all->benchmarks; i++) rows[i] = speed_record(&found[i], in);
  *count = all->benchmarks;
  free(found);
  free(scratch);
  return rows;
}
