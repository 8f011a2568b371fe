/* SPDX-License-Identifier: MIT */
/*
 * Measures which changes posenc history finds in series of 200 commits, and how often it errs. "make history-power"
 * makes the record and runs this. The noise of a commit is that of a real record: runs of nine successive repetitions,
 * as posenc bench makes by default, at random places of a long one, so that its slow changes are in them. A point is
 * the median of one such run, or of several: of so many records of the commit, made at different times.
 * Prints tables in Markdown: the spread of a point by other statistics than this median too, and what is found by it.
 * The record has two benchmarks, of which the second is what the first may be a ratio to.
 * Usage: posenc-history-power RECORD SERIES
 */
#include "common/number.h"
#include "records/compare.h"
#include "records/statistics.h"
#include "records/timings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  REPETITIONS = 9,
  MOST_RECORDS = 25,
  COMMITS = 200,
  MARGIN = 10,
  MOST = COMMITS / DIVISIVE_LEAST,
  NOT_AT_RANDOM = -1
};
/* A kind of series. */
typedef struct kind {
  const char *name;
  double step;    /* share by which times grow */
  int age;        /* number of commits since the step; NOT_AT_RANDOM: MARGIN or more from both ends */
  double drift;   /* share by which times grow over all commits, a little at each */
  int burst;      /* number of successive commits, at two places, whose times are a third larger */
  double missing; /* share of the commits without a record */
  int times;      /* number of series, in units of SERIES */
} kind;

static const kind kinds[] = {
    {.name = "nothing", .times = 40},
    {.name = "1 %", .step = 0.01, .age = NOT_AT_RANDOM, .times = 1},
    {.name = "2 %", .step = 0.02, .age = NOT_AT_RANDOM, .times = 1},
    {.name = "5 %", .step = 0.05, .age = NOT_AT_RANDOM, .times = 1},
    {.name = "10 %", .step = 0.10, .age = NOT_AT_RANDOM, .times = 1},
    {.name = "2 %, 30 % of commits missing", .step = 0.02, .age = NOT_AT_RANDOM, .missing = 0.3, .times = 1},
    {.name = "2 % and two bursts of 3 commits", .step = 0.02, .age = NOT_AT_RANDOM, .burst = 3, .times = 1},
    {.name = "5 %, 4 commits ago", .step = 0.05, .age = 4, .times = 1},
    {.name = "5 %, 8 commits ago", .step = 0.05, .age = 8, .times = 1},
    {.name = "two bursts of 3 commits", .burst = 3, .times = 1},
    {.name = "drift of 2 % over all", .drift = 0.02, .times = 1},
};

static uint64_t state = 1;

/* The series of a kind: logarithms of times, and the commit of each. */
typedef struct made {
  double x[COMMITS];
  int commits[COMMITS];
  size_t count;
  int first; /* first commit after the step; COMMITS if there is none */
} made;

static double draw_point(const timings *noise, size_t records) {
  double all[MOST_RECORDS * REPETITIONS];
  for (size_t k = 0; k < records; k++) {
    const size_t begin = random_below(&state, noise->limited);
    for (size_t i = 0; i < REPETITIONS; i++) all[k * REPETITIONS + i] = noise->costs[(begin + i) % noise->limited];
  }
  return statistics_median(all, records * REPETITIONS);
}

static made make(const kind *of, const timings *noise, size_t records) {
  made one = {.first = COMMITS};
  int bursts[2];
  for (int i = 0; i < 2; i++) bursts[i] = (int)random_below(&state, COMMITS);
  if (of->step > 0.0)
    one.first = of->age > 0 ? COMMITS - of->age : MARGIN + (int)random_below(&state, COMMITS + 1 - 2 * MARGIN);
  for (int commit = 0; commit < COMMITS; commit++) {
    double factor = (commit >= one.first ? 1.0 + of->step : 1.0) * (1.0 + of->drift * commit / COMMITS);
    for (int i = 0; i < 2; i++)
      if (commit >= bursts[i] && commit < bursts[i] + of->burst) factor *= 4.0 / 3.0;
    const double cost = draw_point(noise, records);
    if (random_unit(&state) < of->missing) continue;
    one.commits[one.count] = commit;
    one.x[one.count++] = log(factor * cost);
  }
  return one;
}

/* Whether the change's range of commits, from the last good to the first bad one, has the step or ends beside it. */
static bool names(const made *one, size_t at) {
  return one->commits[at - 1] <= one->first && one->first <= one->commits[at] + 1;
}

static void measure(const kind *of, const timings *noise, size_t records, int series) {
  int named = 0, with_others = 0;
  for (int i = 0; i < series; i++) {
    divisive_change found[MOST];
    const made one = make(of, noise, records);
    const size_t count = divisive_find(one.x, one.count, HISTORY_DEFAULT_ALPHA, random_next(&state), found);
    bool has_named = false, has_other = false;
    for (size_t k = 0; k < count; k++) *(names(&one, found[k].at) ? &has_named : &has_other) = true;
    named += has_named;
    with_others += has_other;
  }
  printf("| %zu | %s | %d | ", records, of->name, series);
  printf(of->step > 0.0 ? "%.1f %%" : "–", 100.0 * named / series);
  printf(" | %.1f %% |\n", 100.0 * with_others / series);
  fflush(stdout);
}

/* ---- other statistics of a point ---- */

/* Repetitions of the two benchmarks at the same times of a commit. */
typedef struct repetitions {
  double costs[MOST_RECORDS * REPETITIONS]; /* 1 / share of the limit */
  double times[MOST_RECORDS * REPETITIONS], limits[MOST_RECORDS * REPETITIONS], others[MOST_RECORDS * REPETITIONS];
  size_t count;
} repetitions;

static double median_share(repetitions *of) {
  return statistics_median(of->costs, of->count);
}

static double shortest(repetitions *of) {
  numbers_sort(of->times, of->count);
  numbers_sort(of->limits, of->count);
  return of->times[0] / of->limits[0];
}

static double median_time(repetitions *of) {
  return statistics_median(of->times, of->count);
}

static double median_ratio(repetitions *of) {
  return statistics_median(of->times, of->count) / statistics_median(of->others, of->count);
}

static const struct {
  const char *name;
  double (*of)(repetitions *of);
} statistics[] = {{"median of shares of the limit", median_share},
                  {"shortest time by shortest limit", shortest},
                  {"median of times", median_time},
                  {"ratio of medians to another kernel", median_ratio}};

/* Draws repetitions that follow each other, or are `apart`: at random among those of 25 benchmarks in one run. */
static void draw_repetitions(const timings noise[2], size_t records, bool apart, repetitions *drawn) {
  drawn->count = records * REPETITIONS;
  for (size_t k = 0; k < records; k++) {
    const size_t begin = random_below(&state, noise->count);
    for (size_t i = 0; i < REPETITIONS; i++) {
      const size_t to = k * REPETITIONS + i, step = apart ? random_below(&state, 25 * REPETITIONS) : i,
                   from = (begin + step) % noise->count;
      drawn->costs[to] = noise->costs[from];
      drawn->times[to] = noise->times[from];
      drawn->limits[to] = noise->times[from] / noise->costs[from];
      drawn->others[to] = noise[1].times[from * noise[1].count / noise->count];
    }
  }
}

/* Returns the standard deviation of a normal distribution with the middle half of these points, as a share. */
static double spread(const timings noise[2], size_t records, bool apart, double (*statistic)(repetitions *of)) {
  enum { POINTS = 4000 };
  static double points[POINTS];
  static repetitions drawn;
  for (size_t i = 0; i < POINTS; i++) {
    draw_repetitions(noise, records, apart, &drawn);
    points[i] = log(statistic(&drawn));
  }
  numbers_sort(points, POINTS);
  return (points[3 * POINTS / 4] - points[POINTS / 4]) / 1.349;
}

static void print_spreads(const timings noise[2], const size_t *records, size_t count) {
  puts("| spread of a point | repetitions | 25 records | 5 records | 1 record |\n|---|---|--:|--:|--:|");
  for (size_t i = 0; i < 2 * sizeof statistics / sizeof *statistics; i++) {
    printf("| %s | %s |", statistics[i / 2].name, i % 2 ? "among those of 25 benchmarks" : "in a row");
    for (size_t k = 0; k < count; k++)
      printf(" %.2f %% |", 100.0 * spread(noise, records[k], i % 2, statistics[i / 2].of));
    puts("");
  }
}

/* ---- what any test could name ---- */

/* A random number of a standard normal distribution (Box and Muller, 1958). */
static double normal(void) {
  return sqrt(-2.0 * log(1.0 - random_unit(&state))) * cos(2.0 * acos(-1.0) * random_unit(&state));
}

/* Returns the place of the most likely change, beside the true one, on one side of it: moving it by a commit adds to
   the logarithm of its likelihood a number of mean -step^2 / 2 and deviation `step`, in spreads of a point. */
static int likeliest(double step, double *most) {
  int at = 0;
  double sum = *most = 0.0;
  for (int k = 1; k < COMMITS / 2; k++) {
    sum += step * (normal() - step / 2.0);
    if (sum > *most) *most = sum, at = k;
  }
  return at;
}

/* Returns the share of steps whose most likely place is at most one commit beside the true one, with normal noise and
   both levels known. */
static double best_share(double step) {
  enum { STEPS = 10000 };
  int named = 0;
  for (int i = 0; i < STEPS; i++) {
    double before, after;
    const int back = likeliest(step, &before), on = likeliest(step, &after);
    named += (before > after ? back : on) <= 1;
  }
  return (double)named / STEPS;
}

int main(int argc, char **argv) {
  static const size_t records[] = {MOST_RECORDS, 5, 1};
  enum { RECORDS = sizeof records / sizeof *records };
  json_error_t error;
  FILE *file = argc == 3 ? fopen(argv[1], "re") : NULL;
  json_t *json = file ? record_load(file, 0, &error) : NULL;
  const int series = argc == 3 ? atoi(argv[2]) : 0;
  if (!json || series < 0) return fputs("usage: posenc-history-power RECORD SERIES\n", stderr), 2;
  timings_record record;
  const record_timing *timing = record_take_timing(json);
  timings_open(&record, timing);
  timings noise[2] = {{NULL}};
  for (size_t i = 0; i < 2 && i < record.names_count; i++) {
    noise[i] = timings_collect(&record, record.names[i], true);
    printf("%zu repetitions of %s, %zu more left out as interrupted\n", noise[i].count, record.names[i],
           noise[i].interrupted);
    if (noise[i].limited != noise[i].count) noise[i].count = 0;
  }
  if (noise[0].count < MOST_RECORDS * REPETITIONS || !noise[1].count)
    return fputs("posenc-history-power: too few repetitions of two benchmarks\n", stderr), 2;
  puts("");
  print_spreads(noise, records, RECORDS);
  puts("\n| step, in spreads of a point | named by the likeliest place |\n|--:|--:|");
  for (double step = 1.4; step < 3.1; step += 0.4) printf("| %.1f | %.1f %% |\n", step, 100.0 * best_share(step));
  puts("\n| records | what happens | series | named | other changes |\n|--:|---|--:|--:|--:|");
  for (size_t i = 0; series && i < RECORDS; i++)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
      measure(&kinds[k], noise, records[i], kinds[k].times * series);
  for (size_t i = 0; i < 2; i++) timings_discard(&noise[i]);
  timings_close(&record);
  record_free(timing);
  fclose(file);
  return 0;
}
