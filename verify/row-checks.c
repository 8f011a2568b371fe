/* SPDX-License-Identifier: MIT */
#include "common/memory.h"
#include "common/work.h"
#include "reference/axes.h"
#include "verify/checks.h"
#include "verify/exam.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest size of the rows of one call. */
enum { CALL_BYTES = 1 << 20 };

/* A subject, and the memory in which its rows are made. */
typedef struct made_rows {
  subject *s;
  arena *one, *other;
  window now;          /* rows that are looked at */
  int64_t looked, all; /* number of rows, so far and in all */
} made_rows;

static const posenc_problem *problem_of(const made_rows *m) {
  return &m->s->shape->problem;
}

/* Returns the position of a row as checks and witnesses have it. */
static int64_t position_of(const posenc_problem *problem, int64_t row) {
  return problem->first + row;
}

/* Returns a problem that has rows [from, from + rows) only. */
static posenc_problem part_of(const posenc_problem *problem, int64_t from, int64_t rows) {
  posenc_problem part = *problem;
  part.rows = rows;
  if (part.positions)
    part.positions += from;
  else
    part.first += from;
  return part;
}

/* ---- values --------------------------------------------------------------------------------------- */

static const unsigned char *make_rows(void *from, int64_t row, int64_t rows, unsigned char *room) {
  made_rows *m = from;
  char doing[80];
  (void)room;
  snprintf(doing, sizeof doing, "row %" PRId64 " and %" PRId64 " more", row, rows - 1);
  isolate_say(doing, (double)m->looked / (double)m->all);
  return subject_execute(m->s, m->s->plan, row, rows, m->one);
}

/* ---- bits ----------------------------------------------------------------------------------------- */

/* Makes the rows again, and in pieces of other sizes. */
static void check_again(made_rows *m, int64_t row, int64_t rows, const unsigned char *whole) {
  enum { PIECES = 5 };
  subject *s = m->s;
  const posenc_problem *problem = problem_of(m);
  check_bits(&s->checks[DETERMINISM], problem, whole, subject_execute(s, s->plan, row, rows, m->other),
             position_of(problem, row), rows);
  for (int64_t done = 0, some; done < rows && rows > 1; done += some) {
    some = least(1 + done % PIECES, rows - done);
    check_bits(&s->checks[EXTENSION], problem, whole + row_bytes(problem) * (size_t)done,
               subject_execute(s, s->plan, row + done, some, m->other), position_of(problem, row + done), some);
  }
}

/* Compares with rows of a plan for these rows only. */
static void check_alone(made_rows *m, int64_t row, int64_t rows, const unsigned char *whole) {
  subject *s = m->s;
  check *c = &s->checks[EXTRAPOLATION];
  const posenc_problem *problem = problem_of(m), alone = part_of(problem, row, rows);
  posenc_options options = *s->options;
  posenc_plan *plan;
  options.kernel = s->kernel;
  if (!s->kernel->reproducible) {
    c->skip = "the kernel does not promise the same bits in every plan";
    return;
  }
  if (posenc_plan_create(&plan, &alone, &options) !=
      POSENC_OK) { /* a kernel that makes the table must make a part of it */
    check_note(c, 1.0, 0.0, position_of(problem, row), -1);
    return;
  }
  check_bits(c, problem, whole, subject_execute(s, plan, 0, rows, m->other), position_of(problem, row), rows);
  posenc_plan_destroy(plan);
}

/* Compares the rows of a call with the exact values, adds them to the digest, and checks the first and the last call of
   a window further. */
static bool judge_made(row_exam *e, window block) {
  enum { AGAIN_ROWS = 64, ALONE_ROWS = 16 };
  made_rows *m = e->source.from;
  subject *s = m->s;
  const int64_t end = block.row + block.rows, again = least(AGAIN_ROWS, block.rows),
                alone = least(ALONE_ROWS, block.rows);
  const unsigned char *after = e->rows + e->bytes * (size_t)block.rows;
  table_exam_judge(e, block);
  s->digest = digest_of(s->digest, e->rows, e->bytes * (size_t)block.rows, posenc_dtype_bytes(e->problem.dtype));
  m->looked += block.rows;
  if (block.row != m->now.row && end != m->now.row + m->now.rows) return true;
  check_again(m, end - again, again, after - e->bytes * (size_t)again);
  check_alone(m, end - alone, alone, after - e->bytes * (size_t)alone);
  return true;
}

void subject_check_rows(subject *s, const sampling *sampled, uint64_t *random) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t fitting = CALL_BYTES / (int64_t)row_bytes(problem),
                most = fitting > CHECKED_ROWS ? fitting : CHECKED_ROWS;
  made_rows m = {.s = s, .all = sampled->exhaustive ? sampled->all : sampled->windows * sampled->rows};
  m.one = arena_create((size_t)most * row_bytes(problem));
  m.other = arena_create((size_t)most * row_bytes(problem));
  const table_request request = {.problem = *problem, .limit = subject_unbound(s) ? NULL : &s->bound};
  table_exam *e = table_exam_create(&request, (rows_source){make_rows, &m, most}, problem->dim);
  e->of.judge = judge_made;
  s->checks[SEARCH].skip = s->checks[STAGES].skip = "it is one of tables of successive positions with an even dim";
  for (int64_t n = 0; n < sampled->windows; n++) {
    m.now = sampling_window(sampled, n, random);
    table_exam_rows(e, m.now);
  }
  octaves_sum(&e->all.by_size, &s->found);
  check_merge(&s->checks[BOUNDED], &e->all.checks[BOUNDED]);
  if (request.limit) check_merge(&s->checks[PAIR_NORM], &e->all.checks[PAIR_NORM]);
  if (request.limit) check_merge(&s->checks[ROTATION], &e->all.checks[ROTATION]);
  table_exam_free(e);
  arena_destroy(m.one);
  arena_destroy(m.other);
}

/* ---- a rope cache --------------------------------------------------------------------------------------------- */

static size_t cache_row_bytes(const cache *c) {
  return (size_t)rope_cache_width(&c->problem) * posenc_dtype_bytes(c->problem.dtype);
}

void cache_open(cache *c, const subject *s, const posenc_problem *problem, int64_t rows) {
  *c = (cache){.problem = *problem};
  const size_t bytes = 2 * cache_row_bytes(c) * (size_t)rows;
  c->tables = arena_create(bytes);
  c->want = memory_take(bytes, 1);
  if (subject_plan(s, problem, &c->plan) != POSENC_OK) memory_end();
  const posenc_problem table = posenc_table_of(problem);
  column_map of_table, of_cache;
  if (!column_map_find(&of_table, &table, TABLE_BOTH)) memory_end();
  for (int t = 0; t < 2; t++) {
    if (!column_map_find(&of_cache, problem, t ? TABLE_SIN : TABLE_COS)) memory_end();
    c->from[t] = allocated(column_map_between(&of_cache, &of_table));
    column_map_free(&of_cache);
  }
  column_map_free(&of_table);
}

void cache_close(cache *c) {
  subject_drop(c->plan);
  arena_destroy(c->tables);
  free(c->want);
  for (int t = 0; t < 2; t++) free(c->from[t]);
}

/* Writes one row of cosines (table 0) or sines (table 1) in the order of the layout. */
static void spread(const cache *c, int table, const unsigned char *from, unsigned char *row) {
  const size_t element = posenc_dtype_bytes(c->problem.dtype), width = (size_t)rope_cache_width(&c->problem);
  for (size_t at = 0; at < width; at++)
    memcpy(row + at * element, from + (size_t)c->from[table][at] * element, element);
}

/* Makes tables of the cache in an arena, where a write beside them is found, and compares them. */
static void hold(cache *c, subject *s, window w, const unsigned char *want, bool cosines, bool sines) {
  const size_t bytes = cache_row_bytes(c) * (size_t)w.rows, element = posenc_dtype_bytes(c->problem.dtype);
  const int64_t position = c->problem.first + w.row;
  unsigned char *out = arena_place(c->tables, (cosines && sines ? 2 : 1) * bytes, false);
  subject_begin_calls();
  posenc_rope_cache(c->plan, w.row, w.rows, cosines ? out : NULL, sines ? out + cosines * bytes : NULL);
  subject_end_calls(s, position);
  check *memory = &s->checks[MEMORY];
  const int64_t spilled = arena_spills(c->tables);
  memory->compared += (int64_t)(bytes / element);
  if (spilled && !memory->broken) memory->position = position;
  memory->broken += spilled;
  posenc_problem flat = c->problem;
  flat.dim = rope_cache_width(&c->problem);
  if (cosines) check_bits(&s->checks[ROPE_CACHE], &flat, want, out, position, w.rows);
  if (sines) check_bits(&s->checks[ROPE_CACHE], &flat, want + bytes, out + (cosines ? bytes : 0), position, w.rows);
}

void cache_check_window(cache *c, subject *s, window w, arena *table, bool again) {
  const size_t bytes = cache_row_bytes(c), table_bytes = row_bytes(&s->shape->problem);
  const unsigned char *rows = subject_execute(s, s->plan, w.row, w.rows, table);
  for (int64_t r = 0; r < w.rows; r++) {
    spread(c, 0, rows + (size_t)r * table_bytes, c->want + (size_t)r * bytes);
    spread(c, 1, rows + (size_t)r * table_bytes, c->want + (size_t)(w.rows + r) * bytes);
  }
  hold(c, s, w, c->want, true, true);
  if (!again) return;
  hold(c, s, w, c->want, true, false);
  hold(c, s, w, c->want, false, true);
}
