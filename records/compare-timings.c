/* SPDX-License-Identifier: MIT */
#include "records/compare-timings.h"

#include "common/memory.h"
#include "records/statistics.h"
#include "records/timings.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEAST_LEFT = 4 }; /* fewest repetitions of a side if interrupted ones are left out */

const char compare_no_times[] = "no times";

/* The timings of one benchmark in both records. */
typedef struct pair {
  timings was, is;
} pair;

/* Sets the verdict if no statistical test is needed; else marks the row as tested. */
static void look_at(const pair *of, speed_row *row) {
  const timings *was = &of->was, *is = &of->is;
  const size_t interrupted = was->interrupted + is->interrupted, all = interrupted + was->count + is->count;
  row->counts[0] = was->count;
  row->counts[1] = is->count;
  row->interrupted[0] = was->interrupted;
  row->interrupted[1] = is->interrupted;
  if (is->failed != was->failed) {
    row->verdict = is->failed ? "worse" : "better";
    snprintf(row->note, sizeof row->note, "%s", is->failed ? "fails now" : "failed before");
  } else if ((was->interrupted && was->count < LEAST_LEFT) || (is->interrupted && is->count < LEAST_LEFT)) {
    row->verdict = "undecided";
    snprintf(
        row->note, sizeof row->note,
        "other processes interrupted %zu of %zu repetitions; %d of each record are needed: see posenc compare --run",
        interrupted, all, LEAST_LEFT);
  } else if (!was->count || !is->count) {
    row->verdict = "undecided";
    snprintf(row->note, sizeof row->note, "%s", compare_no_times);
  } else {
    row->tested = true;
  }
}

static void test(pair *of, const compare_limits *limits, double confidence, speed_row *row) {
  timings *was = &of->was, *is = &of->is;
  const bool by_limit =
      !limits->by_time && was->limited && was->limited == was->count && is->limited && is->limited == is->count;
  double *a = by_limit ? was->costs : was->times, *b = by_limit ? is->costs : is->times;
  row->by_limit = by_limit;
  if (!was->count || !is->count) return;
  if (row->tested) row->p = statistics_rank_test(a, was->count, b, is->count);
  const double old = statistics_median(a, was->count), new = statistics_median(b, is->count);
  row->old = by_limit ? 1.0 / old : old;
  row->new = by_limit ? 1.0 / new : new;
  row->ratio = statistics_ratio_of(a, was->count, b, is->count, confidence);
}

/*
 * Marks the rows in which a difference is no evidence, because other processes interrupted more than an eighth of the
 * repetitions: the others had to share caches and clock frequency. Rows without shares of a limit are also marked if so
 * many of all repetitions were interrupted, as nothing tells how fast the machine was. In 15 comparisons of six records
 * of one program, beside two busy processes on two cores, 8 of 270 rows would otherwise have differed, in each of which
 * a sixth or more was interrupted.
 */
static void mark_disturbed(speed_row *rows, size_t count) {
  enum { PART = 8 };
  size_t interrupted = 0, all = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t here = rows[i].interrupted[0] + rows[i].interrupted[1],
                 of = here + rows[i].counts[0] + rows[i].counts[1];
    rows[i].disturbed = PART * here > of;
    interrupted += here;
    all += of;
  }
  for (size_t i = 0; i < count; i++)
    rows[i].disturbed = rows[i].disturbed || (!rows[i].by_limit && PART * interrupted > all);
}

/* Adds the rows of the benchmarks that have a pair. */
static void compare_pairs(pair *pairs, speed_row *found, size_t count, const compare_limits *limits, json_t *rows) {
  size_t tested = 0;
  for (size_t i = 0; i < count; i++) {
    look_at(&pairs[i], &found[i]);
    tested += found[i].tested;
  }
  for (size_t i = 0; i < count; i++) test(&pairs[i], limits, speed_confidence(limits, tested), &found[i]);
  mark_disturbed(found, count);
  speed_judge(found, count, limits);
  for (size_t i = 0; i < count; i++) json_array_append_new(rows, speed_json(&found[i]));
}

static void compare_common(const timings_record *was, const timings_record *is, const compare_limits *limits,
                           json_t *rows) {
  const size_t most = json_object_size(is->numbers);
  pair *pairs = memory_take(most, sizeof *pairs);
  speed_row *found = memory_take(most, sizeof *found);
  size_t count = 0;
  const char *name;
  json_t *numbers;
  json_object_foreach(is->numbers, name, numbers) {
    if (!json_object_get(was->numbers, name)) continue;
    found[count] = speed_new(name);
    pairs[count++] = (pair){timings_collect(was, name, true), timings_collect(is, name, true)};
  }
  compare_pairs(pairs, found, count, limits, rows);
  for (size_t i = 0; i < count; i++) {
    timings_discard(&pairs[i].was);
    timings_discard(&pairs[i].is);
  }
  free(pairs);
  free(found);
}

/* Adds the names in one record that the other lacks. */
static void list_missing(const timings_record *of, const timings_record *other, json_t *names) {
  const char *name;
  json_t *numbers;
  json_object_foreach(of->numbers, name, numbers) {
    if (!json_object_get(other->numbers, name)) json_array_append_new(names, json_string(name));
  }
}

void compare_timings(const json_t *before, const json_t *after, const compare_limits *limits, json_t *rows,
                     json_t *gone, json_t *added) {
  timings_record was, is;
  timings_open(&was, before);
  timings_open(&is, after);
  compare_common(&was, &is, limits, rows);
  list_missing(&was, &is, gone);
  list_missing(&is, &was, added);
  timings_close(&was);
  timings_close(&is);
}
