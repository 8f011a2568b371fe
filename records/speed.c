/* SPDX-License-Identifier: MIT */
#include "records/speed.h"

#include "common/field.h"
#include "common/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_MORE = 1000 };

speed_row speed_new(const char *name) {
  return (speed_row){
      .name = name, .old = NAN, .new = NAN, .ratio = {NAN, 0.0, INFINITY}, .p = 1.0, .more = RECORD_NONE};
}

double speed_confidence(const compare_limits *limits, size_t tested) {
  return 1.0 - limits->alpha / (double)(tested ? tested : 1);
}

/* Returns the smallest difference that the row could tell, as a fraction (1 % is 0.01); NaN if the interval is open. */
static double speed_smallest(const speed_row *row) {
  return row->ratio.low > 0.0 ? sqrt(row->ratio.high / row->ratio.low) - 1.0 : NAN;
}

/* Corrects p over the rows that are tested. */
static void correct(speed_row *rows, size_t count) {
  double *p = memory_take(count, sizeof *p);
  size_t tested = 0;
  for (size_t i = 0; i < count; i++)
    if (rows[i].tested) p[tested++] = rows[i].p;
  statistics_holm(p, tested);
  for (size_t i = 0, k = 0; i < count; i++)
    if (rows[i].tested) rows[i].p = p[k++];
  free(p);
}

/* Returns the fewest repetitions of each record, or blocks, with which the test can tell anything: its least p is
   2 / C(2 n, n) for n repetitions of each, and 2 / 2^n for n blocks. */
static double least_needed(const speed_row *row, double alpha) {
  if (row->blocks) return ceil(log2(2.0 / alpha));
  double n = 1.0;
  for (double ways = 2.0; 2.0 / ways > alpha; n++) ways *= 2.0 * (2.0 * n + 1.0) / (n + 1.0);
  return n;
}

/* Returns the number of blocks, or of repetitions of each record, in total, with which the interval would exclude equal
   speed or be within the threshold, whichever takes fewer, as the estimate changes too. The width of the interval
   shrinks as 1 / sqrt(their number). */
static double needed(const speed_row *row, const compare_limits *limits, size_t tested, double have) {
  if (!(row->ratio.low > 0.0)) return least_needed(row, limits->alpha / (double)tested);
  const double half = log1p(speed_smallest(row)), off = fabs(log(row->ratio.estimate)),
               gap = fmax(off, log1p(limits->slower) - off);
  return ceil(have * (half / gap) * (half / gap));
}

static void tell_undecided(speed_row *row, const compare_limits *limits, size_t tested) {
  const char *what = row->blocks ? "blocks" : "repetitions";
  const size_t fewer = row->counts[0] < row->counts[1] ? row->counts[0] : row->counts[1];
  const double have = (double)(row->blocks ? row->blocks : fewer),
               more = fmax(needed(row, limits, tested, have) - have, 1.0);
  char why[40];
  if (row->ratio.low > 0.0)
    snprintf(why, sizeof why, "the spread is too wide to tell");
  else
    snprintf(why, sizeof why, "too few %s to tell", what);
  if (more <= MOST_MORE) {
    if (row->blocks) row->more = (int64_t)more;
    snprintf(row->note, sizeof row->note, "%s: about %.0f more %s%s would decide", why, more, what,
             row->blocks ? "" : " of each");
  } else {
    snprintf(row->note, sizeof row->note, "%s, and %d more %s would not decide", why, MOST_MORE, what);
  }
}

static void judge(speed_row *row, const compare_limits *limits, size_t tested) {
  const double most = 1.0 + limits->slower, least = 1.0 / most;
  const bool told = row->p <= limits->alpha && row->ratio.low > 0.0,
             differs = told && (row->ratio.estimate > most || row->ratio.estimate < least);
  if (differs && row->disturbed) {
    row->verdict = "undecided";
    snprintf(row->note, sizeof row->note, "other processes interrupted too many repetitions: see posenc compare --run");
  } else if (differs) {
    row->verdict = row->ratio.estimate > most ? "worse" : "better";
  } else if (row->ratio.low >= least && row->ratio.high <= most) {
    row->verdict = "same";
  } else { /* no evidence of equal speed, as a wide interval may contain a change */
    row->verdict = "undecided";
    tell_undecided(row, limits, tested);
  }
}

void speed_judge(speed_row *rows, size_t count, const compare_limits *limits) {
  size_t tested = 0;
  for (size_t i = 0; i < count; i++) tested += rows[i].tested;
  correct(rows, count);
  for (size_t i = 0; i < count; i++)
    if (!rows[i].verdict) judge(&rows[i], limits, tested);
}

json_t *speed_json(const speed_row *row) {
  json_t *json = json_pack(
      "{s:s, s:s, s:s, s:s, s:o, s:o, s:[I, I], s:[I, I], s:o, s:o, s:o, s:o, s:o}", "name", row->name, "verdict",
      row->verdict, "note", row->note, "measure", row->by_limit ? "limit" : "time", "old", field_real(row->old), "new",
      field_real(row->new), "samples", (json_int_t)row->counts[0], (json_int_t)row->counts[1], "interrupted",
      (json_int_t)row->interrupted[0], (json_int_t)row->interrupted[1], "ratio", field_real(row->ratio.estimate), "low",
      row->ratio.low > 0.0 ? field_real(row->ratio.low) : json_null(), "high", field_real(row->ratio.high), "smallest",
      field_real(speed_smallest(row)), "p", field_real(row->p));
  return row->more == RECORD_NONE ? json : field_put(json, "more_blocks", json_integer(row->more));
}
