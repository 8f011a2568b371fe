/* SPDX-License-Identifier: MIT */
/* The trial of a slot: which elements its calls left where in the worker's memory, for the judge (judge.c). */
#include "config.h"

#include "bench/slot.h"
#include "bench/timed-subject.h"
#include "bench/watch.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that are drawn at once; and bytes that are read at once, so few that a cache has them for the comparison. */
enum { BLOCK = 1 << 20, PIECE = 1 << 17 };

/* Returns how many rows about so many bytes have, at least one. */
static int64_t rows_of(int64_t bytes, size_t row_bytes) {
  return row_bytes < (size_t)bytes ? bytes / (int64_t)row_bytes : 1;
}

/* A call: where its rows are, in memory and in the table. */
typedef struct call_place {
  region memory;
  int64_t row;   /* the row of the table, or of x, that the region begins with */
  int64_t exact; /* the same row's number in the exact values, of which row 0 is that of plan 0 */
  int plan;
} call_place;

/* How many of the calls [since, end) each plan has made on a slice. */
typedef struct call_counts {
  int64_t since, end, slice, of[SLOT_PLANS];
} call_counts;

typedef struct trial {
  const yardstick *y;
  const evidence *e;
  bench_mode mode;
  int64_t rows; /* of a call */
  const slot_terms *terms;
  size_t element;
  bool has_x;
  int64_t *draws;       /* in mode row */
  unsigned char *block; /* a part of the worker's memory: a row, or about PIECE bytes */
  unsigned char *x;     /* a row */
  applications sums;
  call_counts counts;
  judgement *found;
  uint64_t drawn;
} trial;

static call_place place_of_call(const trial *t, int64_t call) {
  const int64_t all = t->y->problem->rows, slice = slot_slice(t->terms, call);
  const int plan = slot_plan(t->terms, call);
  if (t->mode == BENCH_ROW) {
    const int64_t row = t->draws[call % DRAWS];
    return (call_place){region_of(t->y->problem, t->y->batch, 1, 0, 1), row, row + t->y->shifts[plan], plan};
  }
  const int64_t rows = t->rows;
  const int64_t row = t->mode == BENCH_PLAN ? slot_shown(t->terms, all, rows) : slice * rows;
  return (call_place){region_of(t->y->problem, t->y->batch, all, row, rows), row, row + t->y->shifts[plan], plan};
}

/* Compares elements of one row with what the plan wrote before the timings. */
static void judge_shown(trial *t, const call_place *p, int64_t part, int64_t row, int64_t column, int64_t count,
                        const unsigned char *got) {
  const unsigned char *shown = t->y->shown[p->plan];
  const region *r = &p->memory;
  t->found->compared += count;
  const int64_t all = t->y->problem->rows, at = (part * all + p->row + row) * r->width + column;
  for (int64_t i = 0; i < count; i++) {
    if (memcmp(shown + (size_t)(at + i) * t->element, got + (size_t)i * t->element, t->element) == 0) continue;
    if (t->found->broken++ > 0) continue;
    t->found->row = p->exact + row;
    t->found->column = column + i;
    t->found->got = t->found->exact = t->found->allowed = NAN;
  }
}

/* Counts the calls of [since, end) that worked on the slice of the last one. */
static void count_calls(trial *t, int64_t since, int64_t end) {
  call_counts *c = &t->counts;
  const int64_t slice = slot_slice(t->terms, end - 1);
  if (c->since != since || c->slice != slice || c->end > end) *c = (call_counts){since, since, slice, {0}};
  for (; c->end < end; c->end++)
    if (slot_slice(t->terms, c->end) == slice) c->of[slot_plan(t->terms, c->end)]++;
}

/* Sets t->sums to what the calls of [since, end) have applied to a row of x, of those that worked on it. */
static void apply_calls(trial *t, int64_t since, int64_t end, const call_place *last, int64_t row) {
  applications_begin(&t->sums, t->y->problem);
  if (t->mode == BENCH_ROW) {
    for (int64_t call = since; call < end; call++) {
      const call_place p = place_of_call(t, call);
      applications_add(&t->sums, t->y->judge, &t->y->bound, p.exact, 1);
    }
    return;
  }
  count_calls(t, since, end);
  for (int p = 0; p < SLOT_PLANS; p++)
    if (t->counts.of[p])
      applications_add(&t->sums, t->y->judge, &t->y->bound, last->row + row + t->y->shifts[p], t->counts.of[p]);
}

/* Compares elements of one row of x. */
static void judge_x(trial *t, const slot_group *g, const call_place *p, const span *at, const unsigned char *got) {
  const int64_t begin = at->part * p->memory.apart + (p->memory.first + at->row) * p->memory.width;
  slot_fill_x(t->terms->seed, g->draw, t->y->problem->dtype, begin, p->memory.width, t->x);
  applications_judge(&t->sums, t->y->judge, p->exact + at->row, at->column, at->count, t->x, got, t->found);
}

static void judge_span(trial *t, const slot_group *g, const call_place *p, const span *at, const unsigned char *got) {
  if (t->y->held && t->has_x)
    judge_x(t, g, p, at, got);
  else if (t->y->held)
    judge_elements(t->y->judge, &t->y->bound, (int)at->part, (p->exact + at->row) * p->memory.width + at->column,
                   at->count, got, t->found);
  else if (!t->has_x && t->y->shown[p->plan])
    judge_shown(t, p, at->part, at->row, at->column, at->count, got);
}

/* Compares rows [row, row + rows) of a part of a region. */
static bool judge_rows(trial *t, const slot_group *g, int64_t call, const call_place *p, int64_t part, int64_t row,
                       int64_t rows) {
  const region *r = &p->memory;
  const size_t row_bytes = (size_t)r->width * t->element;
  const unsigned char *from = t->e->memory + (size_t)(part * r->apart + (r->first + row) * r->width) * t->element;
  if (!t->e->read(t->e->from, from, t->block, (size_t)rows * row_bytes)) return false;
  if (!t->has_x && t->y->held) {
    judge_elements(t->y->judge, &t->y->bound, (int)part, (p->exact + row) * r->width, rows * r->width, t->block,
                   t->found);
    return true;
  }
  for (int64_t i = 0; i < rows; i++) {
    const span at = {part, row + i, 0, 0, r->width};
    if (t->has_x && t->y->held) apply_calls(t, g->since, call + 1, p, row + i);
    judge_span(t, g, p, &at, t->block + (size_t)i * row_bytes);
  }
  return true;
}

/* Compares all that a call left in memory; in x, what all calls since the group's draw left. */
static bool judge_call(trial *t, const slot_group *g, int64_t call) {
  const call_place p = place_of_call(t, call);
  const region *r = &p.memory;
  const size_t row_bytes = (size_t)r->width * t->element;
  const int64_t some = rows_of(BLOCK, row_bytes), few = rows_of(PIECE, row_bytes);
  const bool is_large = (double)(r->parts * r->rows) * (double)row_bytes > TRIAL_LARGE;
  for (int64_t row = 0; row < r->rows; row += some) {
    const int64_t end = least(row + some, r->rows);
    const bool is_end = row == 0 || end == r->rows;
    if (t->drawn && is_large && !is_end && random_below(&t->drawn, TRIAL_SHARE) != 0) continue;
    for (int64_t part = 0; part < r->parts; part++)
      for (int64_t at = row; at < end; at += few)
        if (!judge_rows(t, g, call, &p, part, at, least(few, end - at))) return false;
  }
  return true;
}

/* Compares the noted spans of a group. */
static void judge_notes(trial *t, const slot_group *g, const unsigned char *notes) {
  const int64_t call = g->first + g->calls - 1;
  const call_place p = place_of_call(t, call);
  for (int i = 0; i < g->spans; i++) {
    const span at = region_span(&p.memory, g->random[i], t->element);
    if (t->y->held && t->has_x) apply_calls(t, g->since, call + 1, &p, at.row);
    judge_span(t, g, &p, &at, notes + (size_t)i * SLOT_SPAN);
  }
}

/* ---- a whole trial --------------------------------------------------------------------------------------------- */

bool trial_can(const yardstick *y) {
  return y->held || y->shown[0];
}

static void begin(trial *t) {
  const posenc_problem *problem = t->y->problem;
  t->element = posenc_dtype_bytes(problem->dtype);
  t->has_x = op_is_applied(problem->op);
  const size_t row = (size_t)row_elements_of(problem) * t->element;
  t->block = allocated(malloc(row < PIECE ? PIECE : row));
  t->x = memory_take(row, 1);
  if (t->mode == BENCH_ROW) t->draws = memory_take(DRAWS, sizeof *t->draws);
  if (t->draws) slot_draw_rows(t->terms->seed, problem->rows, t->draws, DRAWS);
  applications_open(&t->sums, problem->dim);
}

static bool end(trial *t, bool done) {
  applications_close(&t->sums);
  free(t->draws);
  free(t->block);
  free(t->x);
  return done;
}

/* Compares what was shown after mode plan: some rows by a plan like the last one, on the first draw of x. */
static bool judge_plan(trial *t) {
  const slot_group once = {.draw = 0, .since = t->terms->calls - 1};
  t->rows = t->y->problem->rows < SHOWN_ROWS ? t->y->problem->rows : SHOWN_ROWS;
  return judge_call(t, &once, t->terms->calls - 1);
}

bool trial_of_slot(const yardstick *y, bench_mode mode, int64_t rows, const slot_terms *terms, const evidence *e,
                   judgement *found) {
  unsigned char notes[SLOT_NOTES * SLOT_SPAN];
  trial t = {.y = y, .e = e, .mode = mode, .rows = rows, .terms = terms, .found = found, .drawn = e->drawn};
  int noted = 0;
  begin(&t);
  bool done = e->read(e->from, e->notes, notes, sizeof notes);
  if (mode == BENCH_PLAN) return end(&t, done && judge_plan(&t));
  for (slot now = slot_begin(terms); done && slot_next(&now);) {
    const slot_group *g = &now.group;
    judge_notes(&t, g, notes + (size_t)noted * SLOT_SPAN);
    noted += g->spans;
    for (int64_t n = 0; done && g->is_last && n < g->calls && n < terms->slices; n++)
      done = judge_call(&t, g, g->first + g->calls - 1 - n);
  }
  return end(&t, done);
}

bool trial_of_whole(const yardstick *y, const slot_terms *terms, const evidence *e, judgement *found) {
  trial t = {.y = y, .e = e, .mode = BENCH_HOT, .rows = y->problem->rows, .terms = terms, .found = found};
  begin(&t);
  return end(&t, judge_call(&t, &(slot_group){.draw = 0}, 0));
}
