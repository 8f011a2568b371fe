/* SPDX-License-Identifier: MIT */
#include "records/compare.h"

#include "common/field.h"
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
  json_t *names;                    /* {name: its number}; null before the first record */
  size_t benchmarks;
  made *made[SIDES]; /* indexed by process and number of the benchmark */
};

blocks *blocks_open(void) {
  return memory_take(1, sizeof(blocks));
}

void blocks_close(blocks *all) {
  json_decref(all->names);
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

static void number_benchmarks(blocks *all, const json_t *numbers) {
  const char *name;
  json_t *value;
  all->names = json_object();
  json_object_foreach((json_t *)(uintptr_t)numbers, name, value) {
    json_object_set_new(all->names, name, json_integer((json_int_t)all->benchmarks++));
  }
}

/* Makes room for another process of a side. */
static void make_room(blocks *all, bool is_new) {
  if (all->added[is_new] < all->room) return;
  const size_t room = 2 * all->room + OF_BLOCK;
  for (int side = 0; side < SIDES; side++)
    all->made[side] = memory_grow(all->made[side], room * all->benchmarks, sizeof(made));
  all->room = room;
}

/* Returns the first name in one list that is not in the other, or null if there is none. */
static const char *missing(const json_t *wanted, const json_t *there) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)wanted, name, value) {
    if (!json_object_get(there, name)) return name;
  }
  return NULL;
}

static bool add_benchmarks(blocks *all, bool is_new, const timings_record *record, char *why, size_t size) {
  made *to = all->made[is_new] + all->added[is_new] * all->benchmarks;
  const char *name;
  json_t *number;
  json_object_foreach(all->names, name, number) {
    timings of = timings_collect(record, name, false);
    const bool timed = of.count > 0 && !of.failed;
    if (timed) to[json_integer_value(number)] = least_of(&of);
    timings_discard(&of);
    if (!timed) return snprintf(why, size, "benchmark %.80s failed, or has no time", name), false;
  }
  return true;
}

bool blocks_add(blocks *all, bool is_new, const json_t *record, char *why, size_t size) {
  timings_record taken;
  bool done = false;
  timings_open(&taken, record);
  if (!all->names) number_benchmarks(all, taken.numbers);
  if (all->benchmarks == 0) {
    snprintf(why, size, "it has timed nothing");
  } else {
    make_room(all, is_new);
    const char *gone = missing(all->names, taken.numbers), *more = missing(taken.numbers, all->names);
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

static void find(const blocks *all, size_t benchmark, const compare_limits *limits, double *scratch, speed_row *row) {
  const bool by_limit = !limits->by_time && is_limited(all, benchmark);
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
  row->ratio = statistics_paired_ratio_of(scratch, all->count, speed_confidence(limits, all->benchmarks));
}

void blocks_compare(const blocks *all, const compare_limits *limits, json_t *rows) {
  speed_row *found = memory_take(all->benchmarks, sizeof *found);
  double *scratch = memory_take(OF_BLOCK * all->count, sizeof *scratch);
  const char *name;
  json_t *number;
  json_object_foreach(all->names, name, number) {
    const size_t i = (size_t)json_integer_value(number);
    found[i] = speed_new(name);
    find(all, i, limits, scratch, &found[i]);
  }
  speed_judge(found, all->benchmarks, limits);
  for (size_t i = 0; i < all->benchmarks; i++) json_array_append_new(rows, speed_json(&found[i]));
  free(found);
  free(scratch);
}
