/* SPDX-License-Identifier: MIT */
#include "verify/cache.h"

#include <stdlib.h>
#include <string.h>

static size_t cache_row_bytes(const cache *c) {
  return (size_t)rope_cache_width(&c->problem) * posenc_dtype_bytes(c->problem.dtype);
}

bool cache_open(cache *c, const subject *s, const posenc_problem *problem, int64_t rows) {
  *c = (cache){.problem = *problem};
  const size_t bytes = 2 * cache_row_bytes(c) * (size_t)rows;
  c->tables = arena_create(bytes);
  c->want = malloc(bytes + 1);
  return c->tables && c->want && subject_plan(s, problem, &c->plan) == POSENC_OK;
}

void cache_close(cache *c) {
  subject_drop(c->plan);
  arena_destroy(c->tables);
  free(c->want);
}

/* Writes one row of dim/2 cosines or sines in the order of the layout. */
static void spread(const cache *c, const unsigned char *half, unsigned char *row) {
  const size_t element = posenc_dtype_bytes(c->problem.dtype), bytes = (size_t)(c->problem.dim / 2) * element;
  if (c->problem.layout == POSENC_INTERLEAVED) {
    for (size_t at = 0; at < bytes; at += element) {
      memcpy(row + 2 * at, half + at, element);
      memcpy(row + 2 * at + element, half + at, element);
    }
    return;
  }
  memcpy(row, half, bytes);
  if (c->problem.layout == POSENC_DUPLICATED) memcpy(row + bytes, half, bytes);
}

/* Makes tables of the cache in an arena, where a write beside them is found, and compares them. */
static void hold(cache *c, subject *s, window w, const unsigned char *want, bool cosines, bool sines) {
  const size_t bytes = cache_row_bytes(c) * (size_t)w.rows, element = posenc_dtype_bytes(c->problem.dtype);
  const int64_t position = c->problem.first + w.row;
  unsigned char *out = arena_place(c->tables, (cosines && sines ? 2 : 1) * bytes, false);
  subject_begin_calls();
  posenc_rope_cache(c->plan, w.row, w.rows, cosines ? out : NULL, sines ? out + (cosines ? bytes : 0) : NULL);
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
  const size_t bytes = cache_row_bytes(c), element = posenc_dtype_bytes(c->problem.dtype);
  const size_t half = (size_t)(c->problem.dim / 2) * element;
  const unsigned char *rows = subject_execute(s, s->plan, w.row, w.rows, table); /* cosines, then sines */
  for (int64_t r = 0; r < w.rows; r++) {
    spread(c, rows + (size_t)r * 2 * half, c->want + (size_t)r * bytes);
    spread(c, rows + (size_t)r * 2 * half + half, c->want + (size_t)(w.rows + r) * bytes);
  }
  hold(c, s, w, c->want, true, true);
  if (!again) return;
  hold(c, s, w, c->want, true, false);
  hold(c, s, w, c->want, false, true);
}
