/* SPDX-License-Identifier: MIT */
/* Checks of add and rope. */
#include "common/clock.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/work.h"
#include "reference/axes.h"
#include "verify/checks.h"
#include "verify/subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const posenc_problem *problem_of(const applied *a) {
  return &a->s->shape->problem;
}

void applied_open(applied *a, int64_t rows, size_t bytes) {
  *a = (applied){.x = arena_create(bytes), .one = arena_create(bytes), .other = arena_create(bytes)};
  a->lists = arena_create(APPLIED_LIST * sizeof(int64_t));
  a->drawn = memory_grow(NULL, bytes, 1);
  a->sums = memory_take((size_t)rows, sizeof *a->sums);
  a->digests = memory_take((size_t)rows, sizeof *a->digests);
}

void applied_close(applied *a) {
  arena_destroy(a->x);
  arena_destroy(a->one);
  arena_destroy(a->other);
  arena_destroy(a->lists);
  free(a->drawn);
  free(a->sums);
  free(a->digests);
}

/* Returns a pair of a head. */
static applied_pair pair_at(const applied *a, const unsigned char *row, int64_t head, int64_t i) {
  const posenc_problem *problem = &a->of.problem;
  const int64_t from = head * problem->dim;
  return (applied_pair){format_element(problem->dtype, row, from + a->of.columns.at[0][0][i]),
                        format_element(problem->dtype, row, from + a->of.columns.at[0][1][i])};
}

/* Returns the position for the bound: this one, or with axes the farthest from 0 of the place. */
static int64_t applied_bounded(const applied *a, int64_t position) {
  const posenc_axes *axes = problem_of(a)->axes;
  return axes ? axes_farthest(axes, position) : position;
}

/* Returns the bound, or null if there is none for this position. */
static const posenc_bound *applied_bound(const applied *a, int64_t position) {
  return !subject_unbound(a->s) && subject_is_bound(a->s, applied_bounded(a, position)) ? &a->s->applied : NULL;
}

/* ---- windows --------------------------------------------------------------------------------------------------- */

/* Compares every element with the exact values, and digests the bits. Sums are made per row, so that they do not depend
   on the number of threads. */
static bool judge_results(row_exam *e, window w) {
  applied *a = e->source.from;
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = e->bytes;
  subject *s = a->s;
  for (int64_t done = 0, count; done < w.rows; done += count) {
    const accuracy known = s->found;
    count = least(w.rows - done, operand_move(&a->operand, problem->first + w.row + done));
#pragma omp parallel num_threads(a->operand.threads)
    {
      accuracy mine = {0};
#pragma omp for schedule(dynamic, 8)
      for (int64_t r = done; r < done + count; r++) {
        const int64_t position = problem->first + w.row + r;
        const applied_row row = {.problem = problem,
                                 .bound = applied_bound(a, position),
                                 .position = position,
                                 .bounded = applied_bounded(a, position),
                                 .exact_pairs = operand_pairs(&a->operand, position),
                                 .x = e->x + bytes * (size_t)r,
                                 .got = e->rows + bytes * (size_t)r,
                                 .attention = s->attention,
                                 .plain = operand_is_plain(w.row + r)};
        a->sums[r] = applied_check(&row, &known, &mine);
        a->digests[r] = digest_of(DIGEST_START, row.got, bytes, posenc_dtype_bytes(s->shape->problem.dtype));
      }
#pragma omp critical(applied_merge)
      accuracy_merge(&s->found, &mine);
    }
  }
  for (int64_t r = 0; r < w.rows; r++) {
    s->found.sum_ulp += a->sums[r].ulp;
    s->found.sum_abs += a->sums[r].abs;
    s->digest = digest_of(s->digest, (const unsigned char *)&a->digests[r], sizeof *a->digests, sizeof *a->digests);
  }
  a->elements += w.rows * e->width;
  return true;
}

static const unsigned char *draw_x(void *from, int64_t row, int64_t rows, unsigned char *room) {
  applied *a = from;
  unsigned char *x = room ? room : arena_place(a->x, a->of.bytes * (size_t)rows, false);
  operand_draw(&a->operand, row, rows, 0, x);
  if (!room && a->again) memcpy(a->drawn, x, a->of.bytes * (size_t)rows);
  return x;
}

/* Applies the kernel to the x of a window. */
static const unsigned char *make_results(void *from, int64_t row, int64_t rows, unsigned char *room) {
  applied *a = from;
  const posenc_slice slice = posenc_rows(row, rows);
  const double start = clock_thread_seconds();
  const unsigned char *out = subject_run(a->s, a->s->plan, &slice, a->of.x, a->one, false);
  (void)room;
  a->seconds = clock_thread_seconds() - start;
  return out;
}

void applied_begin(applied *a, subject *s, uint64_t seed, fast_oracle *reference) {
  const posenc_problem *problem = &s->shape->problem;
  s->checks[SEARCH].skip = "the search is one of tables";
  a->s = s;
  a->elements = 0;
  a->allowed.known = false;
  a->of = (row_exam){.problem = *problem,
                     .width = row_width(problem),
                     .of_x = {.read = draw_x, .from = a},
                     .source = {.read = make_results, .from = a},
                     .judge = judge_results};
  row_exam_open(&a->of, TABLE_BOTH);
  operand_open(&a->operand, problem, seed, reference);
}

void applied_end(applied *a) {
  row_exam_close(&a->of);
  operand_close(&a->operand);
}

applied_pair applied_x_of(applied *a, const witness *w) {
  const posenc_problem *problem = problem_of(a);
  const int64_t half = problem->dim / 2;
  unsigned char *x = arena_place(a->x, row_bytes(problem), false);
  if (problem->rows) draw_x(a, w->position - problem->first, 1, x);
  return pair_at(a, x, w->index / half, w->index % half);
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

/* Returns the allowed error of the result for a pair of that length: √2 times the bound of each of its elements. */
static double applied_pair_bound(const applied *a, int64_t position, double length) {
  return sqrt(2.0) *
         posenc_applied_bound_at(&a->s->applied, problem_of(a), applied_bounded(a, position), a->s->attention * length);
}

static double pair_length(applied_pair p) {
  return sqrt(p.first * p.first + p.second * p.second);
}

/* Calls `visit` for every pair of these rows of x, and of results, at positions with a bound. */
typedef void visit_pair(applied *a, int64_t position, int64_t index, applied_pair given, applied_pair got);
static void applied_each_pair(applied *a, window w, const unsigned char *x, const unsigned char *out,
                              visit_pair *visit) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = row_bytes(problem);
  const int64_t half = problem->dim / 2;
  for (int64_t r = 0; r < w.rows; r++) {
    const int64_t position = problem->first + w.row + r;
    if (!applied_bound(a, position)) continue;
    for (int64_t n = 0; n < problem->heads * half; n++)
      visit(a, position, n, pair_at(a, x + bytes * (size_t)r, n / half, n % half),
            pair_at(a, out + bytes * (size_t)r, n / half, n % half));
  }
}

/* Returns a number of at most applied_pair_bound, which takes far longer and is linear in the length except for
   roundings. */
static double least_pair_bound(applied *a, int64_t position, double length) {
  if (!a->allowed.known || a->allowed.position != position) {
    a->allowed.at_0 = applied_pair_bound(a, position, 0.0);
    a->allowed.per_length = applied_pair_bound(a, position, 1.0) - a->allowed.at_0;
    a->allowed.position = position;
    a->allowed.known = true;
  }
  return (a->allowed.at_0 + a->allowed.per_length * length) * (1.0 - 0x1p-40);
}

/* Checks the length of a pair. Few pairs can be the worst so far, and least_pair_bound, which is fast, rules out the
   others. */
static void visit_norm(applied *a, int64_t position, int64_t index, applied_pair given, applied_pair got) {
  check *c = &a->s->checks[PAIR_NORM];
  const double length = pair_length(given), wanted = a->s->attention * length,
               deviation = fabs(pair_length(got) - wanted), lower = least_pair_bound(a, position, length);
  if (c->compared && deviation <= lower && deviation <= c->share * lower)
    c->compared++;
  else
    check_note(c, deviation, applied_pair_bound(a, position, length) + 0x1p-50 * wanted, position, index);
}

/* ---- windows --------------------------------------------------------------------------------------------------- */

void applied_check_window(applied *a, window w, bool again, uint64_t *random) {
  const posenc_problem *problem = problem_of(a);
  a->again = again;
  row_exam_look(&a->of, w);
  if (!again) return;
  const unsigned char *x = a->of.x, *out = a->of.rows;
  const window same = subject_again(w, a->seconds), few = {w.row, least(w.rows, CHECKED_ROWS)};
  check_bits(&a->s->checks[IN_PLACE], problem, a->drawn, x, problem->first + w.row, w.rows);
  subject_check_again(a->s, same, x, out, a->other, random);
  const posenc_slice in_place = posenc_rows(same.row, same.rows);
  check_bits(&a->s->checks[IN_PLACE], problem, out, subject_run_in_place(a->s, &in_place, x, a->other),
             problem->first + same.row, same.rows);
  if (problem->op == POSENC_ROPE) applied_each_pair(a, few, x, out, visit_norm);
}

/* ---- relations between rows ------------------------------------------------------------------------------ */

/* The rows of each relation, and the elements between its sequences, so that each has another alignment. */
enum { ROWS = 16, BATCH_OF = 3, GAP = APPLIED_SPARE / BATCH_OF };

static size_t bytes_of(const posenc_problem *problem, int64_t elements) {
  return (size_t)elements * posenc_dtype_bytes(problem->dtype);
}

/* Compares sequences that have a gap between them with each one alone: out of place, where gaps are checked too, and in
   place. */
static void check_batch(applied *a, int64_t row, int64_t rows, int64_t gap) {
  const posenc_problem *problem = problem_of(a);
  const int64_t packed = rows * row_width(problem);
  posenc_slice slice = posenc_rows(row, rows);
  check *c = &a->s->checks[BATCH];
  slice.batch = BATCH_OF;
  slice.stride = gap ? packed + gap : 0;
  unsigned char *x = arena_place(a->x, subject_extent(problem, &slice), true);
  for (int64_t n = 0; n < BATCH_OF; n++)
    operand_draw(&a->operand, row, rows, n, x + bytes_of(problem, n * (packed + gap)));
  const posenc_slice alone = posenc_rows(row, rows);
  for (int in_place = 0; in_place < 2; in_place++) {
    const unsigned char *all = in_place ? subject_run_in_place(a->s, &slice, x, a->one)
                                        : subject_run(a->s, a->s->plan, &slice, x, a->one, true);
    for (int64_t n = 0; n < BATCH_OF; n++) {
      const size_t at = bytes_of(problem, n * (packed + gap));
      check_bits(c, problem, all + at, subject_run(a->s, a->s->plan, &alone, x + at, a->other, false),
                 problem->first + row, rows);
    }
  }
}

/* Compares rows in any order, some of them repeated or successive, with each one alone. */
static void check_index(applied *a, uint64_t *random) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = row_bytes(problem);
  int64_t index[ROWS];
  for (int n = 0; n < ROWS; n++) {
    const bool again = n % 4 == 1, next = n % 4 == 2 && index[n - 1] + 1 < problem->rows;
    index[n] = again || next ? index[n - 1] + next : (int64_t)random_below(random, (uint64_t)problem->rows);
  }
  posenc_slice slice = posenc_rows(0, ROWS);
  slice.index = arena_place_list(a->lists, index, ROWS, random_below(random, 2));
  unsigned char *x = arena_place(a->x, bytes * ROWS, true);
  for (int n = 0; n < ROWS; n++) operand_draw(&a->operand, index[n], 1, n, x + bytes * (size_t)n);
  const unsigned char *all = subject_run(a->s, a->s->plan, &slice, x, a->one, true);
  for (int n = 0; n < ROWS; n++) {
    const posenc_slice alone = posenc_rows(index[n], 1);
    check_bits(&a->s->checks[INDEX], problem, all + bytes * (size_t)n,
               subject_run(a->s, a->s->plan, &alone, x + bytes * (size_t)n, a->other, false), problem->first + index[n],
               1);
  }
}

/* Returns another plan of the subject's kernel; null, with the reason in the check, if it cannot make that problem. */
static posenc_plan *other_plan(const applied *a, const posenc_problem *problem, check *c) {
  posenc_plan *plan;
  posenc_options options = *a->s->options;
  options.kernel = a->s->kernel;
  const char *refusal = posenc_kernel_refusal(a->s->kernel, problem, &options);
  const posenc_status status = subject_plan(a->s, problem, &plan);
  if (!plan) c->skip = refusal ? refusal : posenc_status_message(status);
  return plan;
}

/* Checks a rotation by a position and back. The second rotation works on the result of the first, with its error, and
   adds an error of its own. Each multiplies by the attention factor. */
static void visit_inverse(applied *a, int64_t position, int64_t index, applied_pair given, applied_pair got) {
  const double factor = a->s->attention, square = factor * factor, length = pair_length(given),
               there = applied_pair_bound(a, position, length),
               back = applied_pair_bound(a, position, factor * length + there);
  const applied_pair off = {got.first - square * given.first, got.second - square * given.second};
  check_note(&a->s->checks[INVERSE], pair_length(off), (factor * there + back) * (1.0 + 0x1p-50), position, index);
}

static void check_inverse(applied *a, int64_t row, int64_t rows) {
  posenc_problem back = *problem_of(a);
  const posenc_slice slice = posenc_rows(row, rows);
  back.inverse = !back.inverse;
  back.rows = row + rows; /* a plan that holds all rows of a large problem would take new memory for each draw */
  posenc_plan *plan = other_plan(a, &back, &a->s->checks[INVERSE]);
  if (!plan) return;
  unsigned char *x = arena_place(a->x, row_bytes(&back) * (size_t)rows, true);
  operand_draw(&a->operand, row, rows, 0, x);
  const unsigned char *turned = subject_run(a->s, a->s->plan, &slice, x, a->one, true);
  applied_each_pair(a, (window){row, rows}, x, subject_run(a->s, plan, &slice, turned, a->other, true), visit_inverse);
  subject_drop(plan);
}

/*
 * Checks <R_m q, R_n k> = Σ over pairs of (q·k) cos (m-n)w + (q × k) sin (m-n)w, for each head, which depends on m - n
 * only. Each pair allows an error of |e_q| |k| + |q| |e_k| + |e_q| |e_k|, where e_q and e_k are the errors of rotated
 * pairs. Both rotated pairs include the attention factor, and the exact pair includes it once.
 */
static void check_relative(applied *a, int64_t m, int64_t n) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = row_bytes(problem);
  const int64_t p = problem->first + m, q = problem->first + n;
  const posenc_slice slice[2] = {posenc_rows(m, 1), posenc_rows(n, 1)};
  if (!applied_bound(a, p) || !applied_bound(a, q)) return;
  unsigned char *x = arena_place(a->x, 2 * bytes, true);
  operand_draw(&a->operand, m, 1, 0, x);
  operand_draw(&a->operand, n, 1, 1, x + bytes);
  const unsigned char *query = subject_run(a->s, a->s->plan, &slice[0], x, a->one, true),
                      *key = subject_run(a->s, a->s->plan, &slice[1], x + bytes, a->other, true);
  const fast_lanes *by = operand_apart(&a->operand, p, q);
  for (int64_t head = 0; head < problem->heads; head++) {
    double product = 0.0, wanted = 0.0, allowed = 0.0;
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const applied_pair x_q = pair_at(a, x, head, i), x_k = pair_at(a, x + bytes, head, i);
      const applied_pair got_q = pair_at(a, query, head, i), got_k = pair_at(a, key, head, i);
      const fast_lanes *group = &by[i / FAST_LANES];
      const double sine = (problem->inverse ? -1.0 : 1.0) * group->sin_high[i % FAST_LANES],
                   cosine = group->cos_high[i % FAST_LANES];
      const double factor = a->s->attention, size_q = factor * pair_length(x_q), size_k = factor * pair_length(x_k),
                   e_q = applied_pair_bound(a, p, pair_length(x_q)), e_k = applied_pair_bound(a, q, pair_length(x_k));
      product += got_q.first * got_k.first + got_q.second * got_k.second;
      wanted += factor * ((x_q.first * x_k.first + x_q.second * x_k.second) * cosine +
                          (x_q.first * x_k.second - x_q.second * x_k.first) * sine);
      allowed += e_q * size_k + size_q * e_k + e_q * e_k + 0x1p-40 * size_q * size_k; /* roundings of these sums */
    }
    check_note(&a->s->checks[RELATIVE], fabs(product - wanted), allowed, p, -1);
  }
}

/* Checks that with a padding row in the middle of the rows, nothing is added there, and the other rows do not
   change. */
static void check_padding(applied *a, int64_t row, int64_t rows) {
  posenc_problem padded = *problem_of(a);
  const size_t bytes = row_bytes(&padded);
  const posenc_slice slice = posenc_rows(row, rows);
  check *c = &a->s->checks[PADDING];
  padded.padding = padded.first + row + rows / 2;
  padded.rows = row + rows; /* as in check_inverse */
  posenc_plan *plan = other_plan(a, &padded, c);
  if (!plan) return;
  unsigned char *x = arena_place(a->x, bytes * (size_t)rows, true);
  operand_draw(&a->operand, row, rows, 0, x);
  const unsigned char *out = subject_run(a->s, plan, &slice, x, a->one, true);
  const size_t at = bytes * (size_t)(rows / 2);
  for (int64_t j = 0; j < row_width(&padded); j++) {
    const double given = format_element(padded.dtype, x + at, j), got = format_element(padded.dtype, out + at, j);
    check_note(c, given == got ? 0.0 : 1.0, 0.0, padded.padding, -1); /* -0 may become 0 */
  }
  const unsigned char *plain = subject_run(a->s, a->s->plan, &slice, x, a->other, true);
  for (int64_t r = 0; r < rows; r++)
    if (r != rows / 2 && padded.first + row + r != problem_of(a)->padding)
      check_bits(c, &padded, plain + bytes * (size_t)r, out + bytes * (size_t)r, padded.first + row + r, 1);
  subject_drop(plan);
}

/* Whether the result of a special element of x is right, in an element where it is multiplied by `factor`: 1 in add, a
   sine or cosine with an error of up to `unsure` in rope. */
static bool is_special(double given, double factor, double unsure, double got) {
  if (isnan(given)) return isnan(got);
  if (fabs(factor) <= unsure) return !isfinite(got); /* infinity × 0 is NaN */
  return isinf(got) && signbit(got) == (signbit(given) != signbit(factor));
}

/* A NaN or an infinity, as bits of f32, of which bf16 has the upper half. A NaN that is all ones is the poison of
   arenas. */
typedef struct special_bits {
  uint32_t bits;
  bool in_place; /* results may be poison, which is no sign there that an element is not written */
} special_bits;

/* Draws the specials of some rows: each infinity, the usual NaN, a signalling and a quiet one of any payload, which
   bf16 has too, one of a small payload, which is an infinity in bf16, and the largest payload. */
enum { SPECIALS = 7 };
static void draw_specials(uint64_t *random, special_bits specials[SPECIALS]) {
  const uint32_t quiet = UINT32_C(0x400000), infinity = UINT32_C(0x7f800000), sign = UINT32_C(1) << 31,
                 payload = (1 + (uint32_t)random_below(random, 0x3e)) << 16, any = (uint32_t)random_below(random, 2);
  const special_bits all[SPECIALS] = {{infinity, false},
                                      {infinity | sign, false},
                                      {infinity | quiet, false},
                                      {infinity | payload | any * sign, false},
                                      {infinity | quiet | payload | (1 - any) * sign, false},
                                      {infinity | (1 + (uint32_t)random_below(random, 0xff)), false},
                                      {infinity | 0x7fffff | any * sign, true}};
  memcpy(specials, all, sizeof all);
}

static void store_bits(posenc_dtype dtype, unsigned char *x, int64_t at, uint32_t bits) {
  const uint16_t upper = (uint16_t)(bits >> 16);
  if (dtype == POSENC_F32)
    memcpy(x + 4 * at, &bits, sizeof bits);
  else
    memcpy(x + 2 * at, &upper, sizeof upper);
}

/* A special element of x, the first or the second of a pair. */
struct special {
  double value;
  bool second;
  int64_t position, index;
};

/* Checks the result of a special element; in rope, both elements of the pair. */
static void check_special_pair(applied *a, const struct special *given, applied_pair got) {
  const posenc_problem *problem = problem_of(a);
  check *c = &a->s->checks[SPECIAL];
  if (problem->op == POSENC_ADD) {
    const double result = given->second ? got.second : got.first;
    check_note(c, is_special(given->value, 1.0, 0.0, result) ? 0.0 : 1.0, 0.0, given->position, given->index);
  } else {
    operand_move(&a->operand, given->position);
    const fast_lanes *exact_pairs = &operand_pairs(&a->operand, given->position)[given->index / FAST_LANES];
    const double factor = a->s->attention,
                 sine = (problem->inverse ? -1.0 : 1.0) * exact_pairs->sin_high[given->index % FAST_LANES] / factor,
                 cosine = exact_pairs->cos_high[given->index % FAST_LANES] / factor,
                 unsure = posenc_bound_at(&a->s->most, POSENC_F32, applied_bounded(a, given->position));
    check_note(c, is_special(given->value, given->second ? -sine : cosine, unsure, got.first) ? 0.0 : 1.0, 0.0,
               given->position, given->index);
    check_note(c, is_special(given->value, given->second ? cosine : sine, unsure, got.second) ? 0.0 : 1.0, 0.0,
               given->position, given->index);
  }
}

/* Checks rows with an element that is NaN or infinite: its result, and in rope that of its pair, must be so too. All
   other elements must keep their bits. */
static void check_special(applied *a, int64_t row, int64_t rows, uint64_t *random) {
  special_bits specials[SPECIALS];
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = row_bytes(problem) * (size_t)rows, element = posenc_dtype_bytes(problem->dtype);
  const posenc_slice slice = posenc_rows(row, rows);
  check *c = &a->s->checks[SPECIAL];
  unsigned char *x = arena_place(a->x, bytes, true);
  operand_draw(&a->operand, row, rows, 0, x);
  const unsigned char *before = subject_run(a->s, a->s->plan, &slice, x, a->one, true);
  draw_specials(random, specials);
  for (int n = 0; n < SPECIALS; n++) {
    const bool is_first = random_below(random, 8) == 0;
    const int64_t r = is_first ? 0 : (int64_t)random_below(random, (uint64_t)rows),
                  head = is_first ? 0 : (int64_t)random_below(random, (uint64_t)problem->heads),
                  i = is_first ? 0 : (int64_t)random_below(random, (uint64_t)(problem->dim / 2)),
                  position = problem->first + row + r;
    const int64_t first_column = a->of.columns.at[0][0][i], second_column = a->of.columns.at[0][1][i];
    const bool second = (is_first && first_column > second_column) || (!is_first && random_below(random, 2));
    const int64_t from = r * row_width(problem) + head * problem->dim,
                  mine = from + (second ? second_column : first_column);
    unsigned char kept[sizeof(double)];
    memcpy(kept, x + bytes_of(problem, mine), element);
    store_bits(problem->dtype, x, mine, specials[n].bits);
    const double given = format_element(problem->dtype, x, mine);
    const unsigned char *out = specials[n].in_place ? subject_run_in_place(a->s, &slice, x, a->other)
                                                    : subject_run(a->s, a->s->plan, &slice, x, a->other, true);
    const applied_pair got = pair_at(a, out + bytes_of(problem, r * row_width(problem)), head, i);
    check_special_pair(a, &(struct special){given, second, position, i}, got);
    int64_t touched = 0;
    for (int64_t j = 0; j < rows * row_width(problem); j++)
      if (j != mine && !(problem->op == POSENC_ROPE && (j == from + first_column || j == from + second_column)))
        touched += memcmp(out + bytes_of(problem, j), before + bytes_of(problem, j), element) != 0;
    check_note(c, (double)touched, 0.0, position, i);
    memcpy(x + bytes_of(problem, mine), kept, element);
  }
}

void applied_check_relations(applied *a, uint64_t *random) {
  enum { DRAWS = 4 };
  const posenc_problem *problem = problem_of(a);
  const int64_t rows = least(ROWS, problem->rows), last = problem->rows - rows;
  if (problem->rows == 0) return;
  /* Kernels that compute each row from position 0 take seconds for one draw. Others take some milliseconds, so that the
     number of draws is the same in each run. */
  const double begin = clock_thread_seconds(), most = 1.0;
  for (int draw = 0; draw < DRAWS && clock_thread_seconds() - begin < most; draw++) {
    const int64_t row = (int64_t)random_below(random, (uint64_t)last + 1);
    isolate_say("rows far apart", 1.0);
    check_batch(a, row, rows, draw % 2 ? 0 : GAP);
    check_index(a, random);
    check_special(a, row, rows, random);
    if (problem->op == POSENC_ADD) check_padding(a, row, rows);
    if (problem->op == POSENC_ADD || subject_unbound(a->s)) continue;
    check_inverse(a, row, rows);
    check_relative(a, row, (int64_t)random_below(random, (uint64_t)problem->rows));
  }
}
