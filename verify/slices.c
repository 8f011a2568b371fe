/* SPDX-License-Identifier: MIT */
#include "common/clock.h"
#include "verify/stress.h"

#include "common/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Some rows of the problem in one call, and the place of each in x and in the result. */
typedef struct gathering {
  const int64_t *rows; /* their row numbers */
  int64_t count;
  int64_t batch, gap; /* sequences of all rows, and elements between them */
  bool as_list;       /* otherwise the rows are successive */
  bool is_sparse;     /* the gap is so large that its memory cannot be touched */
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
  if (g->as_list) slice.index = arena_place_list(t->applied->lists, g->rows, g->count, x != out);
  slice.batch = g->batch;
  slice.stride = (int64_t)(apart / element);
  for (int64_t b = 0; b < g->batch; b++)
    for (int64_t n = 0; n < g->count; n++)
      memcpy(x + (size_t)b * apart + (size_t)n * r->row_bytes, r->x + (size_t)(g->rows[n] - r->from) * r->row_bytes,
             r->row_bytes);
  subject_begin_calls();
  posenc_apply(r->s.plan, &slice, x, out);
  subject_end_calls(t->s, problem->first + g->rows[0]);
  for (int64_t b = 0; b < g->batch; b++) {
    const unsigned char *sequence = out + (size_t)b * apart;
    for (int64_t n = 0; n < g->count; n++) {
      c->compared += row_width(problem);
      if (memcmp(sequence + (size_t)n * r->row_bytes, r->rows + (size_t)(g->rows[n] - r->from) * r->row_bytes,
                 r->row_bytes) != 0)
        check_break(c, t->s, problem,
                    "sequence %" PRId64 " of %" PRId64 ", %" PRId64 " elements apart%s: row %" PRId64
                    ", number %" PRId64 " of %" PRId64 ", has other bits than alone",
                    b, g->batch, slice.stride, x == out ? ", in place" : "", g->rows[n], n, g->count);
    }
    if (!g->is_sparse && b + 1 < g->batch &&
        arena_untouched(sequence + packed, apart - packed, element, &first) != g->gap)
      check_break(memory, t->s, problem, "elements between sequences are written");
  }
  if (!g->is_sparse && arena_spills(at))
    check_break(memory, t->s, problem, "bytes beside %" PRId64 " rows are written", g->count);
}

/* Checks a call out of place, and in place at the guard pages. */
static void compare_gathering(probe *r, property p, const gathering *g) {
  const size_t gap = (size_t)g->gap * posenc_dtype_bytes(r->of.problem.dtype),
               extent = (size_t)g->batch * (r->row_bytes * (size_t)g->count + gap) - gap;
  arena *given = arena_create(extent), *made = arena_create(extent);
  apply_gathering(r, p, g, made, arena_place_first(given, extent), arena_place(made, extent, true));
  unsigned char *both = arena_place(given, extent, true);
  apply_gathering(r, p, g, given, both, both);
  arena_destroy(given);
  arena_destroy(made);
}

/* Checks a call out of place, and in place, of sequences so far apart that only their own memory exists. */
static void compare_sparse(probe *r, property p, const gathering *g) {
  const size_t element = posenc_dtype_bytes(r->of.problem.dtype), packed = r->row_bytes * (size_t)g->count,
               apart = packed + (size_t)g->gap * element, extent = (size_t)g->batch * apart;
  arena *given = arena_create_sparse(extent), *made = arena_create_sparse(extent);
  unsigned char *x = NULL, *out = NULL;
  size_t after, behind = SIZE_MAX, first; /* behind each sequence, what can be read at least */
  bool open = given && made;
  for (int64_t b = g->batch - 1; b >= 0 && open; b--) {
    x = arena_open(given, (size_t)b * apart, packed, &after);
    out = arena_open(made, (size_t)b * apart, packed, &after);
    open = x && out;
    if (open && after < behind) behind = after;
  }
  if (open) {
    apply_gathering(r, p, g, made, x, out);
    for (int64_t b = 0; b < g->batch; b++)
      if (arena_untouched(out + (size_t)b * apart + packed, behind, element, &first) != (int64_t)(behind / element))
        check_break(&r->t->s->checks[MEMORY], r->t->s, &r->of.problem, "elements between sequences are written");
    apply_gathering(r, p, g, given, x, x);
  }
  arena_destroy(given);
  arena_destroy(made);
}

/* Draws a list of rows: random, successive, backward, repeated and skipping ones. */
static void draw_list(const stress *t, int64_t rows, int64_t *list, int64_t count) {
  for (int64_t n = 0; n < count; n++) {
    const int64_t before = n ? list[n - 1] : 0;
    switch (random_below(t->random, 6)) {
    case 0:
      list[n] = before + 1 < rows ? before + 1 : 0;
      break;
    case 1:
      list[n] = before > 0 ? before - 1 : rows - 1;
      break;
    case 2:
      list[n] = before;
      break;
    case 3:
      list[n] = before + 2 < rows ? before + 2 : 0;
      break;
    case 4:
      list[n] = least(before + 1 + (int64_t)random_below(t->random, 32), rows - 1);
      break;
    default:
      list[n] = (int64_t)random_below(t->random, (uint64_t)rows);
    }
  }
}

/* Checks one variant in all kinds of slices; failures break the property `held`. Lists and batches include a padding
   row. */
static void check_variant(stress *t, const posenc_problem *p, int64_t padded, property held) {
  enum { LISTS = 4, MOST = 1000 };
  static const int64_t counts[LISTS] = {1, 65, 300, MOST};
  static const int64_t batches[][2] = {{2, 1}, {5, 13}, {9, 4096}, {17, 3}, {3, INT64_C(1) << 20}}; /* and gaps */
  int64_t list[MOST], in_turn[MOST];
  probe r;
  if (!probe_open(&r, t, p, true)) return;
  for (int64_t n = 0; n < p->rows; n++) in_turn[n] = n;
  for (int n = 0; n < LISTS; n++) {
    draw_list(t, p->rows, list, counts[n]);
    list[0] = padded;
    compare_gathering(&r, INDEX, &(gathering){list, counts[n], 1 + n % 2, 7, true, false});
  }
  for (size_t n = 0; n < sizeof batches / sizeof *batches; n++)
    compare_gathering(&r, BATCH, &(gathering){in_turn + n, 11, batches[n][0], batches[n][1], n % 2, false});
  for (int64_t last = 1; last <= 3; last++)
    probe_compare(&r, EXTENSION, p->rows - last, last, t->one, arena_place(t->one, r.row_bytes * (size_t)last, true));
  probe_compare(&r, EXTENSION, padded, 1, t->one, arena_place(t->one, r.row_bytes, true));
  fast_oracle *reference = variant_reference(p);
  variant_examine(t, &r.s, reference, held);
  fast_destroy(reference);
  probe_close(&r);
}

/* Checks long lists, and many sequences, of narrow rows: more than fit 16 bits, unless that takes long. */
static void check_many(stress *t) {
  enum { ROWS = 300, DIM = 6, TIMES = 13 };
  static const int64_t rows[] = {5000, (1 << 16) + 64}, sequences[] = {129, (1 << 16) + 3};
  posenc_problem p = variant_problem(t, ROWS, DIM);
  static int64_t list[APPLIED_LIST];
  probe r;
  p.heads = 1;
  if (!probe_open(&r, t, &p, true)) return;
  draw_list(t, ROWS, list, rows[1]);
  double seconds = 0.0;
  for (int n = 0; n < 2 && !subject_takes_long(TIMES * seconds); n++) {
    const double start = clock_thread_seconds();
    compare_gathering(&r, INDEX, &(gathering){list, rows[n], 1, 0, true, false});
    compare_gathering(&r, BATCH, &(gathering){list, n ? 1 : 3, sequences[n], 1, true, false});
    seconds = clock_thread_seconds() - start;
  }
  probe_close(&r);
}

/* Checks sequences whose distance, or that of the first and the last, does not fit 32 bits, in elements or in bytes. */
static void check_far_apart(stress *t) {
  enum { ROWS = 7, STRIDES = 4, LEAST = 28, OCTAVES = 5 };
  const posenc_problem p = variant_done(t, ROWS, (int)random_below(t->random, VARIANT_DIMS));
  int64_t rows[ROWS];
  probe r;
  if (!probe_open(&r, t, &p, true)) return;
  stress_say("sequences far apart");
  draw_list(t, ROWS, rows, ROWS);
  for (int n = 0; n < STRIDES; n++) {
    const int64_t octave = n ? LEAST + (int64_t)random_below(t->random, OCTAVES) : LEAST + OCTAVES,
                  gap = (INT64_C(1) << octave) + (int64_t)random_below(t->random, UINT64_C(1) << octave),
                  batch = 2 + (int64_t)random_below(t->random, 3);
    for (int64_t k = 0; n % 2 == 0 && k < ROWS; k++) rows[k] = k;
    compare_sparse(&r, BATCH, &(gathering){rows, ROWS, batch, gap, n % 2, true});
    draw_list(t, ROWS, rows, ROWS);
  }
  probe_close(&r);
}

void check_drawn_slice(stress *t, const posenc_problem *p, window w) {
  enum { MOST = 2000, ELEMENTS = 1 << 16 };
  const int64_t width = row_width(p), affordable = ELEMENTS / width,
                most = least(MOST, affordable > 1 ? affordable : 1),
                drawn = (int64_t)exp2(log2((double)most) * random_unit(t->random));
  static int64_t rows[MOST];
  gathering g = {rows, drawn, 1, 0, random_below(t->random, 3) > 0, false};
  if (!g.as_list) g.count = least(g.count, w.rows);
  if (random_below(t->random, 3) > 0)
    g.batch = 1 + (int64_t)random_below(
                      t->random, (uint64_t)least(random_below(t->random, 8) ? 8 : 300, 1 + ELEMENTS / width / g.count));
  const uint64_t kind = random_below(t->random, 4);
  g.is_sparse = kind == 0 && g.batch > 1 && g.batch <= 8;
  if (g.is_sparse) g.gap = INT64_C(1) << (20 + random_below(t->random, 13));
  if (kind == 1) g.gap = (int64_t)random_below(t->random, 64);
  if (kind == 2) g.gap = INT64_C(1) << random_below(t->random, 12);
  draw_list(t, w.rows, rows, g.count);
  const int64_t from = (int64_t)random_below(t->random, (uint64_t)(w.rows - (g.as_list ? 1 : g.count) + 1));
  for (int64_t n = 0; n < g.count; n++) rows[n] = w.row + (g.as_list ? rows[n] : from + n);
  probe r;
  if (!probe_open_window(&r, t, p, w, true)) return;
  if (g.is_sparse)
    compare_sparse(&r, DOMAIN, &g);
  else
    compare_gathering(&r, DOMAIN, &g);
  probe_close(&r);
}

/* Checks the problem of the shape; then its inverse, or with a padding row and another first position. */
void check_slices(stress *t) {
  enum { ROWS = 300, PADDED = 7, FIRST = 3 };
  posenc_problem p = variant_done(t, ROWS, (int)random_below(t->random, VARIANT_DIMS));
  const property held = p.op == POSENC_ROPE ? INVERSE : PADDING;
  check_variant(t, &p, PADDED, held);
  check_many(t);
  check_far_apart(t);
  if (p.op == POSENC_ROPE) {
    p.inverse = !p.inverse;
  } else {
    p.first += FIRST;
    p.padding = p.first + PADDED;
  }
  check_variant(t, &p, PADDED, held);
}
