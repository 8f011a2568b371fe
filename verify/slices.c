/* SPDX-License-Identifier: MIT */
#include "verify/variants.h"

#include "verify/probe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Some rows of the problem in one call, and the place of each in x and in the result. */
typedef struct gathering {
  const int64_t *rows; /* their row numbers */
  int64_t count;
  int64_t batch, gap; /* sequences of all rows, and elements between them */
  bool as_list;       /* otherwise the rows are successive */
} gathering;

/* Checks that every row of every sequence has the bits that it has when computed alone, and that gaps are not
   written. */
static void apply_gathering(probe *r, property p, const gathering *g, const arena *at, unsigned char *x,
                            unsigned char *out) {
  stress *t = r->t;
  const posenc_problem *problem = &r->of.problem;
  const size_t element = posenc_dtype_bytes(problem->dtype), packed = r->row_bytes * (size_t)g->count,
               apart = packed + (size_t)g->gap * element;
  check *c = &t->s->checks[p], *memory = &t->s->checks[MEMORY];
  posenc_slice slice = posenc_rows(g->rows[0], g->count);
  size_t first;
  if (g->as_list) slice.index = g->rows;
  slice.batch = g->batch;
  slice.stride = (int64_t)(apart / element);
  for (int64_t b = 0; b < g->batch; b++)
    for (int64_t n = 0; n < g->count; n++)
      memcpy(x + (size_t)b * apart + (size_t)n * r->row_bytes, r->x + (size_t)g->rows[n] * r->row_bytes, r->row_bytes);
  subject_begin_calls();
  posenc_apply(r->s.plan, &slice, x, out);
  subject_end_calls(t->s, problem->first + g->rows[0]);
  for (int64_t b = 0; b < g->batch; b++) {
    const unsigned char *sequence = out + (size_t)b * apart;
    for (int64_t n = 0; n < g->count; n++) {
      c->compared += row_width(problem);
      if (memcmp(sequence + (size_t)n * r->row_bytes, r->rows + (size_t)g->rows[n] * r->row_bytes, r->row_bytes) != 0)
        check_break(c, t->s, problem,
                    "sequence %" PRId64 " of %" PRId64 ", %" PRId64 " elements apart%s: row %" PRId64
                    ", number %" PRId64 " of %" PRId64 ", has other bits than alone",
                    b, g->batch, slice.stride, x == out ? ", in place" : "", g->rows[n], n, g->count);
    }
    if (b + 1 < g->batch && arena_untouched(sequence + packed, apart - packed, element, &first) != g->gap)
      check_break(memory, t->s, problem, "elements between sequences are written");
  }
  if (arena_spills(at)) check_break(memory, t->s, problem, "bytes beside %" PRId64 " rows are written", g->count);
}

/* Checks a call out of place, and in place at the guard pages. */
static bool compare_gathering(probe *r, property p, const gathering *g) {
  const size_t gap = (size_t)g->gap * posenc_dtype_bytes(r->of.problem.dtype),
               extent = (size_t)g->batch * (r->row_bytes * (size_t)g->count + gap) - gap;
  arena *given = arena_create(extent), *made = arena_create(extent);
  if (given && made) {
    apply_gathering(r, p, g, made, arena_place_first(given, extent), arena_place(made, extent, true));
    unsigned char *both = arena_place(given, extent, true);
    apply_gathering(r, p, g, given, both, both);
  }
  const bool enough = given && made;
  arena_destroy(given);
  arena_destroy(made);
  return enough;
}

/* Draws a list of rows: random, successive, backward, and repeated ones. */
static void draw_list(const stress *t, int64_t rows, int64_t *list, int64_t count) {
  for (int64_t n = 0; n < count; n++) {
    const int64_t before = n ? list[n - 1] : 0;
    switch (random_below(t->random, 4)) {
    case 0:
      list[n] = before + 1 < rows ? before + 1 : 0;
      break;
    case 1:
      list[n] = before > 0 ? before - 1 : rows - 1;
      break;
    case 2:
      list[n] = before;
      break;
    default:
      list[n] = (int64_t)random_below(t->random, (uint64_t)rows);
    }
  }
}

/* Checks one variant in all kinds of slices; failures break the property `held`. Lists and batches include a padding
   row. */
static bool check_variant(stress *t, const posenc_problem *p, int64_t padded, property held) {
  enum { LISTS = 4, MOST = 1000 };
  static const int64_t counts[LISTS] = {1, 65, 300, MOST};
  static const int64_t batches[][2] = {{2, 1}, {5, 13}, {9, 4096}, {17, 3}, {3, INT64_C(1) << 20}}; /* and gaps */
  int64_t list[MOST], in_turn[MOST];
  probe r;
  if (!probe_open(&r, t, p, true)) return true;
  for (int64_t n = 0; n < p->rows; n++) in_turn[n] = n;
  bool enough = true;
  for (int n = 0; n < LISTS && enough; n++) {
    draw_list(t, p->rows, list, counts[n]);
    list[0] = padded;
    enough = compare_gathering(&r, INDEX, &(gathering){list, counts[n], 1 + n % 2, 7, true});
  }
  for (size_t n = 0; n < sizeof batches / sizeof *batches && enough; n++)
    enough = compare_gathering(&r, BATCH, &(gathering){in_turn + n, 11, batches[n][0], batches[n][1], n % 2});
  for (int64_t last = 1; last <= 3; last++)
    probe_compare(&r, EXTENSION, p->rows - last, last, t->one, arena_place(t->one, r.row_bytes * (size_t)last, true));
  probe_compare(&r, EXTENSION, padded, 1, t->one, arena_place(t->one, r.row_bytes, true));
  fast_oracle *reference = variant_reference(p);
  enough = enough && reference && variant_examine(t, &r.s, reference, held);
  fast_destroy(reference);
  probe_close(&r);
  return enough;
}

/* Checks long lists, and many sequences, of narrow rows. */
static bool check_many(stress *t) {
  enum { ROWS = 300, DIM = 6, LONG = 5000, SEQUENCES = 129 };
  const posenc_problem p = variant_problem(t, ROWS, DIM);
  static int64_t list[LONG];
  probe r;
  if (!probe_open(&r, t, &p, true)) return true;
  draw_list(t, ROWS, list, LONG);
  const bool enough = compare_gathering(&r, INDEX, &(gathering){list, LONG, 1, 0, true}) &&
                      compare_gathering(&r, BATCH, &(gathering){list, 3, SEQUENCES, 1, true});
  probe_close(&r);
  return enough;
}

/* Checks the problem of the shape; then its inverse, or with a padding row and another first position. */
bool check_slices(stress *t) {
  enum { ROWS = 300, PADDED = 7, FIRST = 3 };
  posenc_problem p = variant_done(t, ROWS, (int)random_below(t->random, VARIANT_DIMS));
  const property held = p.op == POSENC_ROPE ? INVERSE : PADDING;
  if (!check_variant(t, &p, PADDED, held) || !check_many(t)) return false;
  if (p.op == POSENC_ROPE) {
    p.inverse = !p.inverse;
  } else {
    p.first += FIRST;
    p.padding = p.first + PADDED;
  }
  return check_variant(t, &p, PADDED, held);
}
