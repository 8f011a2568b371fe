/* SPDX-License-Identifier: MIT */
/* Problems that are drawn from all that a kernel takes, so that two seeds see different ones. */
#include "common/clock.h"
#include "common/memory.h"
#include "common/number.h"
#include "verify/stress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The widest dim that is drawn, beyond those of models; and the most factors of longrope. */
enum { DIM_MOST = 20480, FACTORS = DIM_MOST / 2 };

/* The dims of heads, and the widths of models; the widest come last. */
static const int64_t head_dims[] = {64, 80, 96, 112, 128, 160, 192, 256};
static const int64_t model_dims[] = {512,  640,  768,  896,  1024, 1152, 1280, 1408, 1536, 1600, 1664,  1792,
                                     2048, 2304, 2560, 3072, 3584, 4096, 5120, 6144, 7168, 8192, 12288, 16384};
enum { HEAD_DIMS = sizeof head_dims / sizeof *head_dims, MODEL_DIMS = sizeof model_dims / sizeof *model_dims };

/* ---- drawing -------------------------------------------------------------------------------------------------- */

static int64_t below(const stress *t, int64_t limit) {
  return (int64_t)random_below(t->random, (uint64_t)limit);
}

/* Returns a number from `least` to `end`, whose logarithm is uniform. */
static double log_uniform(const stress *t, double least, double end) {
  return least * exp2(log2(end / least) * random_unit(t->random));
}

/* Whether problems are drawn from all that the kernel takes. Without a derived bound, its numbers are those of usual
   problems: a dim of at most 512, and a base from 100 to 10^7. */
static bool is_derived(const stress *t) {
  return t->s->kernel->bound.derived;
}

/* Returns a dim: a small one, any up to 512, that of a head, or a wide one. */
static int64_t draw_dim(const stress *t) {
  switch (below(t, is_derived(t) ? 8 : 6)) {
  case 0:
  case 1:
    return 2 * (1 + below(t, 32));
  case 2:
  case 3:
    return 2 * (1 + below(t, 256));
  case 4:
  case 5:
    return head_dims[below(t, HEAD_DIMS)];
  case 6:
    return model_dims[below(t, MODEL_DIMS)];
  default:
    return 2 * (int64_t)log_uniform(t, 1.0, DIM_MOST / 2);
  }
}

/* Returns a base of models, 1, or one of some range, each of which has its share. */
static double draw_base(const stress *t) {
  static const double known[] = {1e4, 5e5, 1e6, 1e7, 1e5, 2e4, 1.6e8, 256.0, 100.0, 30.0, 1e3, 5e6, 25e4, 1.5e5, 1e9};
  static const double ranges[] = {1.0, 2.0, 16.0, 1e3, 1e5, 0x1p32, 0x1p40, 1e300};
  enum { KNOWN = sizeof known / sizeof *known, RANGES = sizeof ranges / sizeof *ranges - 1 };
  const int64_t kind = below(t, RANGES + 2);
  if (kind == RANGES) return known[below(t, KNOWN)];
  return kind > RANGES ? floor(log_uniform(t, 1.0, 0x1p40)) : log_uniform(t, ranges[kind], ranges[kind + 1]);
}

/* Returns the farthest position that is drawn, in the domain of the bound, beyond which no row is asked for. A kernel
   without a derived bound may compute each row from position 0 on. */
static int64_t farthest(const stress *t, double scale) {
  const posenc_bound *bound = &t->s->kernel->bound;
  const double domain = (double)bound->max_position / fmax(scale, 1.0), most = bound->derived ? 0x1p62 : 0x1p12;
  return domain < most ? (int64_t)domain : (int64_t)most;
}

/* Returns a position: near 0, of any size, or next to where a number of some type, or of some thousands, ends. */
static int64_t draw_position(const stress *t, int64_t end) {
  const int64_t reach = least(end, 1 << 13) + 1, sign = below(t, 3) ? 1 : -1;
  switch (below(t, 4)) {
  case 0:
    return sign * below(t, reach);
  case 1:
    return sign * least(end, (INT64_C(1) << (8 + below(t, 54))) - 16 + below(t, 32));
  default:
    return sign * (int64_t)log_uniform(t, 0.5, (double)end);
  }
}

/* Draws one of the scalings. */
static posenc_scaling draw_scaling(const stress *t, double *factors) {
  posenc_scaling s = posenc_scaling_none();
  s.kind = (posenc_scaling_kind)below(t, 6);
  s.factor = log_uniform(t, 1.0, 64.0);
  s.original = (int64_t)log_uniform(t, 2.0, 0x1p20);
  s.length = (int64_t)log_uniform(t, 1.0, 0x1p24);
  s.low = log_uniform(t, 0.25, 8.0);
  s.high = s.low * log_uniform(t, 1.1, 64.0);
  s.truncate = below(t, 2);
  s.attention = 1.0;
  if (!below(t, 3)) s.attention = below(t, 2) ? 0.0 : log_uniform(t, 0.25, 4.0);
  for (int i = 0; s.kind == POSENC_SCALING_LONGROPE && i < FACTORS; i++) factors[i] = log_uniform(t, 0.5, 64.0);
  s.factors = s.kind == POSENC_SCALING_LONGROPE ? factors : NULL;
  return s;
}

/* Draws what the frequencies depend on, except dim. plain 1: without a scaling; 2: without a scale or shift too, and
   with a base of at most 2^32. */
static void draw_frequencies(const stress *t, posenc_problem *p, int plain, double *factors) {
  if (is_derived(t))
    p->base = plain < 2 ? draw_base(t) : log_uniform(t, 1.0, 0x1p32);
  else
    p->base = log_uniform(t, 1e2, 1e7);
  p->scaling = posenc_scaling_none();
  p->scale = 1.0;
  p->shift = 0.0;
  if (plain == 0 && below(t, 2)) p->scaling = draw_scaling(t, factors);
  if (plain < 2 && below(t, 2)) p->scale = below(t, 2) ? log_uniform(t, 0x1p-16, 1.0) : log_uniform(t, 1.0, 0x1p10);
  if (plain < 2 && p->scaling.kind == POSENC_SCALING_NONE && below(t, 2)) {
    const double shifts[] = {1.0, 0.5, -(double)(1 + below(t, 8)), (double)(1 + below(t, p->dim / 2))};
    p->shift = shifts[below(t, 4)];
  }
}

/* Draws a problem of the subject's operation and dtype that its kernel takes, and a window of at most `elements`
   elements of it. Returns false if it takes none of several. */
static bool draw_problem(const stress *t, int64_t elements, posenc_problem *p, window *w, double *factors) {
  enum { TRIES = 6, NARROW_PAIRS = 4 };
  const posenc_problem like = *posenc_plan_problem(t->s->plan);
  for (int n = 0; n < TRIES; n++) {
    const bool is_long = below(t, 6) == 0; /* rows so narrow that there can be many */
    *p = posenc_table(0, is_long ? 2 * (1 + below(t, NARROW_PAIRS)) : draw_dim(t));
    p->op = like.op;
    p->dtype = like.dtype;
    p->layout = variant_layout(p->op, (int)below(t, 4));
    if (p->op == POSENC_ROPE) {
      p->inverse = below(t, 2);
      const int64_t heads = below(t, 2) ? 1 + below(t, 8) : (int64_t)log_uniform(t, 1.0, 300.0);
      p->heads = is_long ? 1 : least(heads, 1 + elements / p->dim);
    }
    draw_frequencies(t, p, is_derived(t) ? n / 2 : 2, factors);
    const int64_t affordable = elements / row_width(p), most = least(affordable > 1 ? affordable : 1, STRESS_ROWS / 2),
                  end = farthest(t, p->scale), position = draw_position(t, end);
    w->rows = (int64_t)log_uniform(t, is_long && most > 8 ? (double)most / 8.0 : 1.0, (double)most + 1.0);
    w->rows = least(w->rows, end - position + 1);
    w->row = below(t, 2) || t->s->kernel->keeps_rows || !t->s->kernel->bound.derived
                 ? 0
                 : (int64_t)log_uniform(t, 1.0, 0x1p40);
    p->first = position - w->row;
    p->rows = w->row + w->rows + below(t, 3);
    if (p->op == POSENC_ADD && below(t, 2)) p->padding = position + below(t, w->rows);
    if (!posenc_problem_refusal(p) && !posenc_kernel_refusal(t->s->kernel, p, &t->options)) return true;
  }
  return false;
}

/* ---- some columns of wide rows -------------------------------------------------------------------------------- */

/* The pairs of a row that are compared: the first one, the last ones, and others spread over the row. All of NARROW. */
enum { COLUMNS = 24, LAST = 8, NARROW = 32 };
typedef struct drawn_columns {
  int64_t index[NARROW];
  selection of;
  posenc_problem narrow; /* a problem of these pairs alone, with one head */
} drawn_columns;

static void draw_columns(const stress *t, const posenc_problem *p, drawn_columns *c) {
  const int64_t pairs = p->dim / 2, before = pairs - LAST;
  c->of = (selection){pairs <= NARROW ? pairs : COLUMNS, c->index};
  for (int64_t n = 0; n < c->of.count; n++) {
    const int64_t from = before * n / (COLUMNS - LAST), end = before * (n + 1) / (COLUMNS - LAST);
    c->index[n] = n;
    if (pairs > NARROW && n > 0) c->index[n] = n < COLUMNS - LAST ? from + below(t, end - from) : pairs - COLUMNS + n;
  }
  c->narrow = *p;
  c->narrow.dim = 2 * c->of.count;
  c->narrow.heads = 1;
}

/* Copies the columns of some rows of `heads` heads each. */
static void take_columns(const drawn_columns *c, const posenc_problem *p, int64_t rows, const unsigned char *from,
                         unsigned char *to) {
  const size_t element = posenc_dtype_bytes(p->dtype);
  const posenc_columns there = posenc_layout_columns(p->layout, p->dim),
                       here = posenc_layout_columns(p->layout, c->narrow.dim);
  for (int64_t r = 0; r < rows * p->heads; r++)
    for (int64_t n = 0; n < c->of.count; n++)
      for (int which = 0; which < 2; which++) {
        const int64_t at = r * p->dim + c->index[n] * there.step + (which ? there.cos : there.sin),
                      into = r * c->narrow.dim + n * here.step + (which ? here.cos : here.sin);
        memcpy(to + element * (size_t)into, from + element * (size_t)at, element);
      }
}

/* Compares columns of a window of add or rope. */
static void check_applied_columns(subject *s, const drawn_columns *c, fast_oracle *reference, window w,
                                  const unsigned char *x, const unsigned char *got) {
  static _Alignas(64) fast_lanes lanes[1];
  const posenc_problem *p = &s->shape->problem;
  const size_t bytes = row_bytes(&c->narrow);
  for (int64_t r = 0; r < w.rows; r++) {
    const int64_t position = p->first + w.row + r;
    fast_move(reference, position);
    fast_lanes_of(reference, position, lanes);
    for (int64_t n = r * p->heads; n < (r + 1) * p->heads; n++) {
      const accuracy known = s->found;
      const applied_row row = {.problem = &c->narrow,
                               .bound = !subject_unbound(s) && subject_is_bound(s, position) ? &s->applied : NULL,
                               .position = position,
                               .bounded = position,
                               .exact_pairs = lanes,
                               .x = x + bytes * (size_t)n,
                               .got = got + bytes * (size_t)n,
                               .attention = s->attention,
                               .plain = true};
      applied_check(&row, &known, &s->found);
    }
  }
}

/* Compares the rows of a window with the exact values, where the bound holds for all of them or is left out. */
static void compare_rows(subject *s, window w, fast_oracle *reference, const unsigned char *rows) {
  const int64_t first = s->shape->problem.first + w.row;
  const bool is_bound = !subject_unbound(s) && subject_is_bound(s, first) && subject_is_bound(s, first + w.rows - 1);
  fast_check(reference, first, w.rows, rows, is_bound ? &s->bound : NULL, &s->found);
}

/* Compares some columns of a window of few rows with the exact values: a reference of all columns of wide rows takes
   far longer than the rows themselves. */
static void examine_columns(stress *t, const posenc_problem *p, window w, property held) {
  const shape of = shape_of(p);
  const posenc_slice slice = posenc_rows(w.row, w.rows);
  subject other;
  drawn_columns c;
  if (subject_open(&other, t->s->kernel, &of, &t->options)) return;
  draw_columns(t, p, &c);
  posenc_problem table = posenc_table_of(p);
  table.first = 0;
  fast_oracle *reference = allocated(fast_create_some(&table, &c.of, 0));
  fast_keep_witnesses(reference);
  const size_t taken = (size_t)(w.rows * p->heads) * row_bytes(&c.narrow);
  unsigned char *room = memory_grow(NULL, 2 * taken, 1), *x = NULL;
  if (op_is_applied(p->op)) {
    x = arena_place(t->applied->x, row_bytes(p) * (size_t)w.rows, false);
    for (int64_t j = 0; j < w.rows * row_width(p); j++)
      operand_store(p->dtype, x, j, (float)(random_unit(t->random) * 4.0 - 2.0));
  }
  const unsigned char *out = subject_run(&other, other.plan, &slice, x, t->one, random_below(t->random, 2));
  take_columns(&c, p, w.rows, out, room);
  if (x) {
    take_columns(&c, p, w.rows, x, room + taken);
    check_applied_columns(&other, &c, reference, w, room + taken, room);
  } else {
    compare_rows(&other, w, reference, room);
  }
  other.found.worst.index = c.index[other.found.worst.index % c.of.count];
  variant_collect(t, &other, held);
  free(room);
  fast_destroy(reference);
  subject_close(&other);
}

/* ---- dims and heads ------------------------------------------------------------------------------------------- */

/* Whether no other exam of the kernel has the same code for these rows: it is one of f32, and of a table, or of an
   operation that the kernel applies itself. */
static bool has_own_code(const stress *t) {
  const posenc_problem *p = &t->s->shape->problem;
  return p->dtype == POSENC_F32 && (!op_is_applied(p->op) || t->s->kernel->apply);
}

/* Returns how many of `all` draws the exam makes: all of its own code, a third in another dtype, and few of add and
   rope where the rows are those of tables. */
static int64_t share_of(const stress *t, int64_t all) {
  if (has_own_code(t)) return all;
  return t->apply_known ? all / 16 : all / 3;
}

/* Checks a dim, in few rows near position 0. */
static void check_dim(stress *t, int64_t dim, int64_t rows) {
  posenc_problem p = variant_problem(t, rows, dim);
  p.first = below(t, least(farthest(t, p.scale) - rows, 1 << 12) + 1);
  examine_columns(t, &p, (window){0, rows}, WIDTHS);
}

/* Checks a dim above 2,048, which need not be a multiple of a kernel's tiles; every even dim to 512, or some of them
   where another exam has them all; those of heads, in each layout; those of models; and some beyond. */
void check_drawn_dims(stress *t) {
  enum { SMALL = 512, ROWS = 8, LAYOUTS = 4, LARGE = 2050, WIDE = 40, WIDE_ROWS = 2 };
  const double start = clock_thread_seconds(), most = 1.0;
  stress_say("every dim");
  check_dim(t, LARGE + 2 * below(t, LARGE / 2), 1 + WIDE_ROWS);
  for (int64_t dim = 2; dim <= SMALL && clock_thread_seconds() - start < most; dim += 2)
    if (below(t, SMALL) < share_of(t, SMALL)) check_dim(t, dim, 1 + below(t, ROWS));
  for (int n = 0; n < 2 * HEAD_DIMS * LAYOUTS && !t->apply_known; n++) {
    const bool is_few = n >= HEAD_DIMS * LAYOUTS; /* 1 to 4 rows, in any layout */
    const int64_t rows = is_few ? 1 + n % LAYOUTS : ROWS + below(t, ROWS);
    posenc_problem p = variant_problem(t, rows, head_dims[n / LAYOUTS % HEAD_DIMS]);
    if (!is_few) p.layout = variant_layout(p.op, n % LAYOUTS);
    examine_columns(t, &p, (window){0, p.rows}, WIDTHS);
  }
  for (int n = 0; is_derived(t) && n < MODEL_DIMS && clock_thread_seconds() - start < most; n++)
    if (below(t, SMALL) < share_of(t, SMALL)) check_dim(t, model_dims[n], 1 + below(t, WIDE_ROWS));
  for (int64_t n = share_of(t, WIDE); is_derived(t) && n > 0 && clock_thread_seconds() - start < most; n--)
    check_dim(t, 2 * (int64_t)log_uniform(t, SMALL / 2, DIM_MOST / 2), 1 + below(t, WIDE_ROWS));
}

/* Checks 1 to 128 heads of one row of a dim, or a third of these numbers. */
static void check_each_heads(stress *t, int64_t dim, bool all) {
  enum { MOST = 128 };
  posenc_problem p = variant_problem(t, 1, dim);
  fast_oracle *reference = variant_reference(&p);
  for (p.heads = 1; p.heads <= MOST; p.heads++) {
    if (!all && below(t, 3)) continue;
    p.layout = variant_layout(p.op, (int)below(t, 2));
    const shape of = shape_of(&p);
    subject other;
    if (subject_open(&other, t->s->kernel, &of, &t->options)) continue;
    variant_examine_window(t, &other, (window){0, 1}, reference, false);
    variant_collect(t, &other, HEAD_COUNTS);
    subject_close(&other);
  }
  fast_destroy(reference);
}

/* Checks numbers of heads of models, and drawn ones beyond, whose rows have up to some 65,536 elements. */
void check_drawn_heads(stress *t) {
  enum { MOST = 128, USUAL = 2, BEYOND = 6, WIDTH = 1 << 16 };
  static const int64_t dims[] = {64, 128, 80, 96, 256},
                       models[][2] = {{32, 80}, {32, 96}, {16, 256}, {8, 256}, {4, 256},
                                      {24, 96}, {20, 80}, {40, 96},  {12, 80}, {64, 192}};
  if (t->s->shape->problem.op != POSENC_ROPE) return;
  stress_say("heads of models");
  for (size_t n = 0; n < sizeof dims / sizeof *dims; n++)
    check_each_heads(t, dims[n], n < USUAL && t->s->shape->problem.dtype == POSENC_F32);
  check_each_heads(t, 2 * (1 + below(t, 16)), true);
  for (size_t n = 0; n < sizeof models / sizeof *models + BEYOND; n++) {
    const bool is_beyond = n >= sizeof models / sizeof *models;
    posenc_problem p = variant_problem(t, 2, is_beyond ? 2 * (1 + below(t, MOST)) : models[n][1]);
    p.heads = is_beyond ? MOST + below(t, WIDTH / p.dim - MOST) : models[n][0];
    examine_columns(t, &p, (window){0, 2}, HEAD_COUNTS);
  }
}

/* ---- positions ------------------------------------------------------------------------------------------------ */

/* A table of few columns, and the exact values of its positions. */
typedef struct narrow_table {
  posenc_problem problem;
  fast_oracle *reference;
} narrow_table;

/* Compares a window of a table with the exact values, and checks nothing else, as the rows are short. */
static void compare_window(stress *t, subject *other, window w, fast_oracle *reference) {
  const posenc_slice slice = posenc_rows(w.row, w.rows);
  compare_rows(other, w, reference, subject_run(other, other->plan, &slice, NULL, t->one, random_below(t->random, 2)));
}

/* Examines windows of `most_rows` rows at most, drawn or all that there are, which have about one in `share` of the
   rows from a position on; for at most about `most` seconds. */
static void sweep(stress *t, narrow_table *s, int64_t first, int64_t rows, int64_t most_rows, int64_t share) {
  const double start = clock_thread_seconds(), most = 0.3;
  subject other;
  s->problem.first = first;
  s->problem.rows = rows;
  const shape of = shape_of(&s->problem);
  if (subject_open(&other, t->s->kernel, &of, &t->options)) return;
  const int64_t begin = share > 1 ? below(t, rows) : 0; /* so that no position is always beyond the time */
  for (int64_t done = 0, some; done < rows && clock_thread_seconds() - start < most;) {
    const int64_t row = (begin + done) % rows;
    some = least(share > 1 ? 1 + below(t, most_rows) : most_rows, rows - row);
    if (op_is_applied(s->problem.op))
      variant_examine_window(t, &other, (window){row, some}, s->reference, false);
    else
      compare_window(t, &other, (window){row, some}, s->reference);
    done += some + (share > 1 ? below(t, 2 * some * (share - 1) + 1) : 0);
  }
  variant_collect(t, &other, FAR_POSITIONS);
  subject_close(&other);
}

/* Checks windows around round decimal numbers of each size. */
static void sweep_decimal(stress *t, narrow_table *s, int64_t end) {
  enum { ROWS = 8, TIMES = 9 };
  for (int64_t power = 1000; power < end / TIMES; power *= 10)
    sweep(t, s, power * (1 + below(t, TIMES)) - ROWS / 2, ROWS, ROWS, 1);
}

/* Checks windows of each size up to 2^62: a long one of half the sizes, unless another exam has it, and several short
   ones. */
static void sweep_octaves(stress *t, narrow_table *s, int64_t end, bool all) {
  enum { LONG = 4096 + 64, SHORT = 6, FEW = 2, ROWS = 16 };
  const double start = clock_thread_seconds(), most = 0.3;
  for (int k = 20; k < 62 && INT64_C(1) << k < end / 2 && clock_thread_seconds() - start < most; k++) {
    const int64_t octave = INT64_C(1) << k, sign = below(t, 2) ? 1 : -1, drawn = LONG + below(t, STRESS_ROWS - LONG),
                  rows = below(t, 4) ? drawn : drawn | 63;
    if (all && below(t, 2)) sweep(t, s, sign * (octave + below(t, octave / 2)), rows, rows, 1);
    for (int n = 0; n < (all ? SHORT : FEW); n++)
      sweep(t, s, (below(t, 3) ? 1 : -1) * (octave + below(t, octave - ROWS)), ROWS, ROWS, 1);
  }
}

/* Checks an eighth of all positions from -2^17 to 2^20, in few columns, or less where another exam has as many;
   positions beyond; and windows of wide rows. */
void check_drawn_positions(stress *t) {
  enum { BEFORE = 1 << 17, BEHIND = 1 << 20, ROWS = 16, WIDE = 32, PAIRS = 3, NEAR_ROWS = 48, EIGHTH = 8, LESS = 32 };
  const double most = 0.1;
  const bool all = has_own_code(t);
  narrow_table s = {.problem = variant_problem(t, 0, 2 * (1 + below(t, PAIRS)))};
  const int64_t end = farthest(t, s.problem.scale), begin = -least(end, BEFORE), near = least(end, BEHIND) - begin;
  s.problem.heads = 1;
  s.reference = variant_reference(&s.problem);
  stress_say("positions near and far");
  if (!t->apply_known) {
    sweep(t, &s, begin, near, NEAR_ROWS, all ? EIGHTH : LESS);
    sweep_decimal(t, &s, end);
    sweep_octaves(t, &s, end, all);
  }
  fast_destroy(s.reference);
  const double start = clock_thread_seconds();
  for (int n = 0; n < share_of(t, WIDE) && clock_thread_seconds() - start < most; n++) {
    posenc_problem p = variant_problem(t, ROWS, head_dims[below(t, HEAD_DIMS)]);
    p.first = begin + below(t, near - ROWS);
    examine_columns(t, &p, (window){0, ROWS}, FAR_POSITIONS);
  }
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

/* Examines a drawn problem: all columns of it, unless there are so many that their reference takes long. */
static void examine_drawn(stress *t, const posenc_problem *p, window w) {
  enum { MOST_DIM = 512 };
  if (p->dim > MOST_DIM) {
    examine_columns(t, p, w, DOMAIN);
    return;
  }
  const shape of = shape_of(p);
  subject other;
  if (subject_open(&other, t->s->kernel, &of, &t->options)) return;
  fast_oracle *reference = variant_reference(p);
  variant_examine_window(t, &other, w, reference, true);
  variant_collect(t, &other, DOMAIN);
  fast_destroy(reference);
  subject_close(&other);
}

void check_domain(stress *t) {
  enum { DRAWS = 96, ELEMENTS = 1 << 15 };
  static double factors[FACTORS];
  const double start = clock_thread_seconds(), most = 0.3;
  for (int64_t n = share_of(t, DRAWS); n > 0 && clock_thread_seconds() - start < most; n--) {
    posenc_problem p;
    window w;
    if (!draw_problem(t, ELEMENTS, &p, &w, factors)) continue;
    stress_say("a problem drawn from all");
    examine_drawn(t, &p, w);
    if (op_is_applied(p.op) && !t->apply_known) check_drawn_slice(t, &p, w);
  }
}
