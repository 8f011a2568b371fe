/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/parts.h"

#include "common/threads.h"
#include "verify/checks.h"
#include "common/fpenv.h"

#include <stdlib.h>

/* Limits of waiting windows: pieces that one anchor of the reference reaches, and the number of all their blocks. */
enum { MOST_PIECES = 16, MOST_PARTS = 160, MOST_OF_PIECE = FAST_BLOCK_ROWS + 1 };
_Static_assert((int)FAST_BLOCK_ROWS == (int)ROWS_OF_CHECKS, "the rows of a block");

/* A block of a piece, and the findings in it. */
typedef struct part {
  const fast_blocks *of;
  int64_t block;
  element_error *sums; /* sums of the piece */
  window rows;
  const char *fault; /* the fault of the thread's environment after the call */
  check memory;
  row_checks found;
  uint64_t digests[ROWS_OF_CHECKS];
} part;

struct part_team {
  subject *s;
  fast_oracle *reference;
  int threads;
  arena **own; /* one per thread: a block of rows and guard pages */
  int pieces, count;
  fast_blocks piece[MOST_PIECES];
  element_error *sums; /* sums of all pieces, one after the other */
  int64_t tiles;
  part part[MOST_PARTS];
};

void parts_destroy(part_team *p) {
  if (!p) return;
  for (int t = 0; p->own && t < p->threads; t++) arena_destroy(p->own[t]);
  free(p->own);
  free(p->sums);
  free(p);
}

part_team *parts_create(subject *s, fast_oracle *reference, int64_t rows) {
  const size_t bytes = row_bytes(&s->shape->problem) * (size_t)least(rows, FAST_BLOCK_ROWS);
  part_team *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->s = s;
  p->reference = reference;
  p->threads = threads_most();
  p->own = calloc((size_t)p->threads, sizeof *p->own);
  p->sums = calloc((size_t)fast_groups(reference) * MOST_PARTS, sizeof *p->sums);
  bool enough = p->own && p->sums;
  for (int t = 0; enough && t < p->threads; t++) enough = (p->own[t] = arena_create(bytes));
  if (enough) return p;
  parts_destroy(p);
  return NULL;
}

bool parts_can(const subject *s, window w) {
  const int64_t first = s->shape->problem.first + w.row, last = first + w.rows - 1;
  if (!s->shared || !s->kernel->bound.derived) return false; /* may compute each row from position 0 on */
  return subject_no_claim(s) || (subject_claims(s, first) && subject_claims(s, last));
}

/* Checks a part, in any thread. */
static void judge(const part_team *p, part *now, arena *own, accuracy *found) {
  const subject *s = p->s;
  const posenc_problem *problem = &s->shape->problem;
  const posenc_slice slice = posenc_rows(now->rows.row, now->rows.rows);
  unsigned char *out = arena_place(own, subject_extent(problem, &slice), false);
  subject_call(s->plan, &slice, NULL, out);
  now->fault = fpenv_restore();
  subject_check_memory(&now->memory, problem, &slice, own, false);
  subject_check_each(s, now->rows, out, &now->found, now->digests);
  fast_check_block(p->reference, now->of, now->block, out, subject_no_claim(s) ? NULL : &s->bound, &s->found, found,
                   now->sums);
}

static void take_memory(check *into, const check *from) {
  if (from->broken && !into->broken) into->position = from->position;
  into->index = -1;
  into->compared += from->compared;
  into->broken += from->broken;
  into->worst = (double)into->broken;
}

/* Checks all waiting parts. Threads take parts in turn, so a delayed thread takes fewer. */
static void check_waiting(part_team *p) {
  subject *s = p->s;
  if (!p->count) return;
  subject_begin_calls();
#pragma omp parallel
  {
    accuracy mine = {0};
    fpenv_set();
#pragma omp for schedule(dynamic)
    for (int n = 0; n < p->count; n++) judge(p, &p->part[n], p->own[threads_this()], &mine);
#pragma omp critical(parts_merge)
    accuracy_merge(&s->found, &mine);
  }
  for (int n = 0; n < p->count; n++) {
    const part *now = &p->part[n];
    if (now->block == 0 || now->fault) subject_end_calls_of(s, s->shape->problem.first + now->rows.row, now->fault);
    take_memory(&s->checks[MEMORY], &now->memory);
    subject_take_each(s, &now->found, now->digests, now->rows.rows);
  }
  const element_error *sums = p->sums;
  for (int n = 0; n < p->pieces; sums += p->piece[n++].tiles) fast_blocks_add(&p->piece[n], sums, &s->found);
  p->pieces = p->count = 0;
  p->tiles = 0;
}

void parts_take(part_team *p, window w) {
  const int64_t origin = p->s->shape->problem.first - p->s->origin;
  while (w.rows > 0) {
    if (p->count && (p->pieces == MOST_PIECES || p->count > MOST_PARTS - MOST_OF_PIECE ||
                     !fast_reaches(p->reference, origin + w.row)))
      check_waiting(p);
    fast_blocks *piece = &p->piece[p->pieces++];
    *piece = fast_blocks_of(p->reference, origin + w.row, w.rows);
    for (int64_t block = 0; block < piece->blocks; block++) {
      part *added = &p->part[p->count++];
      *added = (part){.of = piece, .block = block, .sums = p->sums + p->tiles};
      fast_block_rows(piece, block, &added->rows.row, &added->rows.rows);
      added->rows.row -= origin;
    }
    p->tiles += piece->tiles;
    w.row += piece->rows;
    w.rows -= piece->rows;
  }
}

void parts_end(part_team *p) {
  if (!p->count) return;
  check_waiting(p);
  fast_witnesses(p->reference, &p->s->found);
}
