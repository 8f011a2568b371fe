/* SPDX-License-Identifier: MIT */
#include "verify/applied.h"

#include "common/work.h"

#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

/* Rows of each relation, and elements between its sequences, so that none of them is aligned as another. */
enum { ROWS = 16, BATCH_OF = 3, GAP = 13 };

static const posenc_problem *problem_of(const applied *a) {
  return &a->s->shape->problem;
}

static int64_t width_of(const posenc_problem *problem) {
  return problem->heads * problem->dim;
}

static size_t bytes_of(const posenc_problem *problem, int64_t elements) {
  return (size_t)elements * posenc_dtype_bytes(problem->dtype);
}

static int threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

static int thread(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

bool applied_open(applied *a, subject *s, int64_t rows, uint64_t seed, fast_oracle *truth) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t most = rows > CHECKED_ROWS ? rows : CHECKED_ROWS;
  const size_t bytes = bytes_of(problem, most * width_of(problem) + BATCH_OF * GAP);
  *a = (applied){.s = s, .seed = seed, .truth = truth ? truth : fast_create(problem, 0), .borrowed = truth};
  a->x = arena_create(bytes);
  a->one = arena_create(bytes);
  a->other = arena_create(bytes);
  a->sums = calloc((size_t)most, sizeof *a->sums);
  a->digests = calloc((size_t)most, sizeof *a->digests);
  if (!a->truth || !a->x || !a->one || !a->other || !a->sums || !a->digests) return false;
  a->lanes = aligned_alloc(64, (size_t)(threads() * fast_groups(a->truth)) * sizeof *a->lanes);
  s->checks[SEARCH].skip = "the search is one of tables";
  return a->lanes;
}

void applied_close(applied *a) {
  if (!a->borrowed) fast_destroy(a->truth);
  arena_destroy(a->x);
  arena_destroy(a->one);
  arena_destroy(a->other);
  free(a->lanes);
  free(a->sums);
  free(a->digests);
}

/* Of the thread that asks. */
static fast_lanes *lanes_of(const applied *a, int64_t position) {
  fast_lanes *mine = a->lanes + thread() * fast_groups(a->truth);
  fast_lanes_of(a->truth, position, mine);
  return mine;
}

/* ---- x ------------------------------------------------------------------------------------------- */

/* One row of so many is hard: not a period that blocks or vectors have. */
enum { PERIOD = 17 };

static bool is_plain(int64_t row) {
  return row % PERIOD != PERIOD - 1;
}

/* The finaliser of MurmurHash3 (Appleby, 2011). */
static inline uint32_t mixed(uint32_t h) {
  h = (h ^ (h >> 16)) * UINT32_C(0x85ebca6b);
  h = (h ^ (h >> 13)) * UINT32_C(0xc2b2ae35);
  return h ^ (h >> 16);
}

/* The sum of two uniform numbers, of variance 1. */
static inline float plain_x(uint32_t key, uint32_t column) {
  const uint32_t one = mixed(key ^ (column * UINT32_C(0x9e3779b1))), other = mixed(one + UINT32_C(0x7f4a7c15));
  return ((float)(int32_t)one + (float)(int32_t)other) * 0x1.397p-31f;
}

/* The number of that dtype near x, `steps` numbers away from zero. */
static float stepped(posenc_dtype dtype, double x, int steps) {
  const float nearest = (float)(dtype == POSENC_BF16 ? format_nearest(&format_bf16, x) : x);
  uint32_t bits;
  memcpy(&bits, &nearest, sizeof bits);
  bits += (uint32_t)(steps * (dtype == POSENC_BF16 ? 1 << 16 : 1));
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* A pair that is hard in one way or another. What cancels: -PE itself and its neighbours; of rope, what is turned to (0, 1). */
static void hard_pair(const posenc_problem *problem, uint32_t key, double sine, double cosine, float *first,
                      float *second) {
  const float plain = plain_x(key, 1), other = plain_x(key, 2);
  const int steps = (int)(key >> 8) % 4;
  *first = plain;
  *second = other;
  switch (key % 8) {
  case 0:
    *first = plain * 1e20f;
    *second = other * 1e20f;
    break;
  case 1:
    *first = plain * 1e-20f;
    *second = other * 1e-20f;
    break;
  case 2:
    *first = 0.0f;
    break;
  case 3:
    *second = -0.0f;
    break;
  case 4:
    *first = plain * 1e20f;
    *second = other * 1e-20f;
    break;
  case 5:
    *first = plain * 0x1p-140f; /* subnormal */
    *second = other * 0x1p-140f;
    break;
  default:
    *first = problem->op == POSENC_ADD ? stepped(problem->dtype, -sine, steps) : stepped(problem->dtype, sine, steps);
    *second = problem->op == POSENC_ADD ? stepped(problem->dtype, -cosine, steps)
                                        : stepped(problem->dtype, problem->inverse ? -cosine : cosine, 0);
  }
}

static void store(posenc_dtype dtype, void *x, int64_t at, float value) {
  if (dtype == POSENC_F32) {
    ((float *)x)[at] = value;
    return;
  }
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  ((uint16_t *)x)[at] = (uint16_t)(bits >> 16); /* toward zero, as good as any */
}

static void draw_plain_row(const posenc_problem *problem, uint32_t key, void *x) {
  const int64_t width = width_of(problem);
  if (problem->dtype == POSENC_F32) {
#pragma omp simd
    for (int64_t j = 0; j < width; j++) ((float *)x)[j] = plain_x(key, (uint32_t)j);
  } else {
    for (int64_t j = 0; j < width; j++) store(POSENC_BF16, x, j, plain_x(key, (uint32_t)j));
  }
}

static void draw_hard_row(const posenc_problem *problem, uint32_t key, const fast_lanes *truth, void *x) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  for (int64_t head = 0; head < problem->heads; head++)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const int64_t from = head * problem->dim + i * at.step, k = i % FAST_LANES;
      const fast_lanes *group = &truth[i / FAST_LANES];
      float first, second;
      hard_pair(problem, mixed(key ^ (uint32_t)from), group->sin_high[k], group->cos_high[k], &first, &second);
      store(problem->dtype, x, from + at.sin, first);
      store(problem->dtype, x, from + at.cos, second);
    }
}

static uint32_t key_of(const applied *a, int64_t row, int64_t sequence) {
  uint64_t state = a->seed ^ (uint64_t)row ^ (uint64_t)sequence << 48;
  return (uint32_t)random_below(&state, UINT64_C(1) << 32);
}

/* Rows in succession. Hard ones need the truth, so that the oracle goes along. */
static void draw_rows(applied *a, int64_t row, int64_t rows, int64_t sequence, unsigned char *x) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = bytes_of(problem, width_of(problem));
  const int64_t end = row + rows;
#pragma omp parallel for schedule(static) if (rows > CHECKED_ROWS)
  for (int64_t r = row; r < end; r++)
    if (is_plain(r)) draw_plain_row(problem, key_of(a, r, sequence), x + bytes * (size_t)(r - row));
  for (int64_t from = row + (PERIOD - 1 - row % PERIOD), to; from < end; from = to) {
    const int64_t reach = fast_move(a->truth, problem->first + from);
    to = from + (reach - 1) / PERIOD * PERIOD + PERIOD;
#pragma omp parallel for schedule(static) if (rows > CHECKED_ROWS)
    for (int64_t r = from; r < least(to, end); r += PERIOD)
      draw_hard_row(problem, key_of(a, r, sequence), lanes_of(a, problem->first + r), x + bytes * (size_t)(r - row));
  }
}

applied_x applied_x_of(applied *a, const witness *w) {
  const posenc_problem *problem = problem_of(a);
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t half = problem->dim / 2, from = w->index / half * problem->dim + w->index % half * at.step;
  unsigned char *x = arena_place(a->x, bytes_of(problem, width_of(problem)), false);
  if (problem->rows) draw_rows(a, w->position - problem->first, 1, 0, x);
  return (applied_x){format_element(problem->dtype, x, from + at.sin),
                     format_element(problem->dtype, x, from + at.cos)};
}

/* ---- one call, looked at from all sides ---------------------------------------------------------- */

/* From the first element of the first sequence to the last of the last. */
static int64_t extent_of(const posenc_problem *problem, const posenc_slice *slice) {
  const int64_t packed = slice->rows * width_of(problem);
  return (slice->batch - 1) * (slice->stride ? slice->stride : packed) + packed;
}

/* In the parts that the subject stands. */
static void apply(const applied *a, const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x,
                  unsigned char *out) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = bytes_of(problem, width_of(problem));
  const int64_t parts = slice->batch == 1 ? subject_parts(a->s) : 1;
#pragma omp parallel for schedule(static) if (parts > 1)
  for (int64_t part = 0; part < parts; part++) {
    const int64_t from = slice->rows * part / parts, to = slice->rows * (part + 1) / parts;
    posenc_slice mine = *slice;
    mine.row += from;
    mine.rows = to - from;
    if (mine.index) mine.index += from;
    posenc_apply(plan, &mine, x + bytes * (size_t)from, out + bytes * (size_t)from);
  }
}

static void apply_once(applied *a, const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x,
                       unsigned char *out) {
  const int64_t position = problem_of(a)->first + (slice->index ? slice->index[0] : slice->row);
  subject_begin_calls();
  apply(a, plan, slice, x, out);
  subject_check_conduct(a->s, position);
}

/* Elements of the sequences that were not written, and of what lies between and beside them that were. */
static void check_memory(applied *a, const posenc_slice *slice, const unsigned char *out, const arena *at,
                         bool in_place) {
  const posenc_problem *problem = problem_of(a);
  const size_t element = posenc_dtype_bytes(problem->dtype);
  const int64_t packed = slice->rows * width_of(problem), stride = slice->stride ? slice->stride : packed;
  const int64_t row = slice->index ? slice->index[0] : slice->row;
  check *memory = &a->s->checks[MEMORY];
  size_t first = 0;
  int64_t wrong = arena_spills(at);
  for (int64_t n = 0; n < slice->batch; n++) {
    const unsigned char *sequence = out + bytes_of(problem, n * stride);
    const int64_t gap = n + 1 < slice->batch ? stride - packed : 0;
    if (!in_place) wrong += arena_untouched(sequence, bytes_of(problem, packed), element, &first);
    wrong += gap - arena_untouched(sequence + bytes_of(problem, packed), bytes_of(problem, gap), element, &first);
  }
  memory->compared += slice->batch * packed;
  memory->index = -1;
  if (!memory->broken && wrong) memory->position = problem->first + row;
  memory->broken += wrong;
  memory->worst = (double)memory->broken;
}

/* Into the arena. */
static unsigned char *run(applied *a, const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x,
                          arena *to, bool flush) {
  const posenc_problem *problem = problem_of(a);
  unsigned char *out = arena_place(to, bytes_of(problem, extent_of(problem, slice)), flush);
  apply_once(a, plan, slice, x, out);
  check_memory(a, slice, out, to, false);
  return out;
}

/* In the arena, which gets a copy of x first. */
static unsigned char *run_in_place(applied *a, const posenc_slice *slice, const unsigned char *x, arena *in) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = bytes_of(problem, extent_of(problem, slice));
  unsigned char *out = arena_place(in, bytes, true);
  memcpy(out, x, bytes);
  apply_once(a, a->s->plan, slice, out, out);
  check_memory(a, slice, out, in, true);
  return out;
}

/* ---- windows ------------------------------------------------------------------------------------- */

/* The claim, if there is one for this position. */
static const posenc_bound *claim_at(const applied *a, bool claims, int64_t position) {
  return claims && subject_claims(a->s, position) ? &a->s->applied : NULL;
}

/* Every element against the truth, and the digest of the bits. Sums are made row by row, so that threads do not show in them. */
static void check_accuracy(applied *a, window w, const unsigned char *x, const unsigned char *out) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = bytes_of(problem, width_of(problem));
  const bool claims = !subject_no_claim(a->s);
  subject *s = a->s;
  for (int64_t done = 0, count; done < w.rows; done += count) {
    const accuracy known = s->found;
    count = least(w.rows - done, fast_move(a->truth, problem->first + w.row + done));
#pragma omp parallel
    {
      accuracy mine = {0};
#pragma omp for schedule(dynamic, 8)
      for (int64_t r = done; r < done + count; r++) {
        const int64_t position = problem->first + w.row + r;
        const applied_row row = {.problem = problem,
                                 .bound = claim_at(a, claims, position),
                                 .position = position,
                                 .truth = lanes_of(a, position),
                                 .x = x + bytes * (size_t)r,
                                 .got = out + bytes * (size_t)r,
                                 .attention = s->attention,
                                 .plain = is_plain(w.row + r)};
        a->sums[r] = applied_check(&row, &known, &mine);
        a->digests[r] = digest_of(DIGEST_START, row.got, bytes);
      }
#pragma omp critical(applied_merge)
      accuracy_merge(&s->found, &mine);
    }
  }
  for (int64_t r = 0; r < w.rows; r++) {
    s->found.sum_ulp += a->sums[r].ulp;
    s->found.sum_abs += a->sums[r].abs;
    s->digest = digest_of(s->digest, (const unsigned char *)&a->digests[r], sizeof *a->digests);
  }
  a->elements += w.rows * width_of(problem);
}

/* What the contract allows the result of a given pair of that length: each of its elements, and so √2 of it the pair. */
static double pair_bound(const applied *a, int64_t position, double length) {
  return sqrt(2.0) * posenc_applied_bound_at(&a->s->applied, problem_of(a), position, a->s->attention * length);
}

typedef struct pair {
  double first, second;
} pair;

/* A pair in a row of x, or of results. */
static pair pair_at(const posenc_problem *problem, const unsigned char *row, int64_t head, int64_t i) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t from = head * problem->dim + i * at.step;
  return (pair){format_element(problem->dtype, row, from + at.sin), format_element(problem->dtype, row, from + at.cos)};
}

static double length_of(pair p) {
  return sqrt(p.first * p.first + p.second * p.second);
}

/* Calls `visit` for every pair of the rows of x and of results that a bound is claimed for. */
static void each_pair(applied *a, int64_t row, int64_t rows, const unsigned char *x, const unsigned char *out,
                      void (*visit)(applied *a, int64_t position, int64_t index, pair given, pair got)) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = bytes_of(problem, width_of(problem));
  const int64_t half = problem->dim / 2;
  for (int64_t r = 0; r < rows; r++) {
    const int64_t position = problem->first + row + r;
    if (!claim_at(a, !subject_no_claim(a->s), position)) continue;
    for (int64_t n = 0; n < problem->heads * half; n++)
      visit(a, position, n, pair_at(problem, x + bytes * (size_t)r, n / half, n % half),
            pair_at(problem, out + bytes * (size_t)r, n / half, n % half));
  }
}

static void visit_norm(applied *a, int64_t position, int64_t index, pair given, pair got) {
  const double length = length_of(given), wanted = a->s->attention * length;
  check_note(&a->s->checks[PAIR_NORM], fabs(length_of(got) - wanted),
             pair_bound(a, position, length) + 0x1p-50 * wanted, position, index);
}

/* Two to four pieces, each flush to the guard and so off alignment. */
static void check_extension(applied *a, window w, const unsigned char *x, const unsigned char *whole,
                            uint64_t *random) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = bytes_of(problem, width_of(problem));
  for (int64_t done = 0, left_pieces = 4; done < w.rows; left_pieces--) {
    const int64_t left = w.rows - done,
                  rows = left_pieces > 1 ? 1 + (int64_t)random_below(random, (uint64_t)left) : left;
    const posenc_slice slice = posenc_rows(w.row + done, rows);
    const unsigned char *out = run(a, a->s->plan, &slice, x + bytes * (size_t)done, a->other, true);
    check_bits(&a->s->checks[EXTENSION], problem, whole + bytes * (size_t)done, out, problem->first + w.row + done,
               rows);
    done += rows;
  }
}

/* x after calls that had no business to change it, against x as it is drawn. */
static void check_x(applied *a, window w, const unsigned char *x) {
  const posenc_problem *problem = problem_of(a);
  unsigned char *again = arena_place(a->other, bytes_of(problem, w.rows * width_of(problem)), false);
  draw_rows(a, w.row, w.rows, 0, again);
  check_bits(&a->s->checks[IN_PLACE], problem, again, x, problem->first + w.row, w.rows);
}

void applied_check_window(applied *a, window w, bool again, uint64_t *random) {
  const posenc_problem *problem = problem_of(a);
  const posenc_slice slice = posenc_rows(w.row, w.rows);
  const int64_t position = problem->first + w.row;
  unsigned char *x = arena_place(a->x, bytes_of(problem, w.rows * width_of(problem)), false);
  draw_rows(a, w.row, w.rows, 0, x);
  const unsigned char *out = run(a, a->s->plan, &slice, x, a->one, false);
  check_accuracy(a, w, x, out);
  if (!again) return;
  check_x(a, w, x);
  check_bits(&a->s->checks[DETERMINISM], problem, out, run(a, a->s->plan, &slice, x, a->other, true), position, w.rows);
  check_bits(&a->s->checks[IN_PLACE], problem, out, run_in_place(a, &slice, x, a->other), position, w.rows);
  if (w.rows > 1) check_extension(a, w, x, out, random);
  if (problem->op == POSENC_ROPE) each_pair(a, w.row, least(w.rows, CHECKED_ROWS), x, out, visit_norm);
}

/* Rows spread over the table, each from its thread. */
void applied_check_threads(applied *a) {
  const posenc_problem *problem = problem_of(a);
  const int64_t rows = least(problem->rows, CHECKED_ROWS);
  const int count = crowd_of_threads();
  /* What writes beside its rows, which MEMORY finds, does not get in the way of another thread. */
  const size_t bytes = bytes_of(problem, rows * width_of(problem)), apart = bytes + 64, all = (size_t)count * apart;
  check *c = &a->s->checks[THREADS];
  if (rows == 0) return;
  unsigned char *room = malloc(3 * all + 64);
  job *jobs = calloc((size_t)count, sizeof *jobs);
  if (!room || !jobs) {
    c->skip = "threads could not be had";
  } else {
    memset(room, ARENA_POISON, 3 * all);
    for (int i = 0; i < count; i++) {
      unsigned char *x = room + 64 + (size_t)i * apart, *want = x + all, *out = want + all;
      const posenc_slice slice = posenc_rows((problem->rows - rows) * i / (count - 1), rows);
      draw_rows(a, slice.row, rows, 0, x);
      subject_begin_calls();
      posenc_apply(a->s->plan, &slice, x, want);
      subject_check_conduct(a->s, problem->first + slice.row);
      jobs[i] =
          (job){.plan = a->s->plan, .row = slice.row, .rows = rows, .x = x, .out = out, .want = want, .bytes = bytes};
    }
    check_together(c, problem, jobs, count);
  }
  free(jobs);
  free(room);
}

/* ---- relations ----------------------------------------------------------------------------------- */

/* Sequences with a gap between them, against each alone; out of place, where gaps are looked at too, and in place. */
static void check_batch(applied *a, int64_t row, int64_t rows, int64_t gap) {
  const posenc_problem *problem = problem_of(a);
  const int64_t packed = rows * width_of(problem);
  posenc_slice slice = posenc_rows(row, rows);
  check *c = &a->s->checks[BATCH];
  slice.batch = BATCH_OF;
  slice.stride = gap ? packed + gap : 0;
  unsigned char *x = arena_place(a->x, bytes_of(problem, extent_of(problem, &slice)), true);
  for (int64_t n = 0; n < BATCH_OF; n++) draw_rows(a, row, rows, n, x + bytes_of(problem, n * (packed + gap)));
  const posenc_slice alone = posenc_rows(row, rows);
  for (int in_place = 0; in_place < 2; in_place++) {
    const unsigned char *all =
        in_place ? run_in_place(a, &slice, x, a->one) : run(a, a->s->plan, &slice, x, a->one, true);
    for (int64_t n = 0; n < BATCH_OF; n++) {
      const size_t at = bytes_of(problem, n * (packed + gap));
      check_bits(c, problem, all + at, run(a, a->s->plan, &alone, x + at, a->other, false), problem->first + row, rows);
    }
  }
}

/* Rows in any order, some of them twice or in succession, against each alone. */
static void check_index(applied *a, uint64_t *random) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = bytes_of(problem, width_of(problem));
  int64_t index[ROWS];
  for (int n = 0; n < ROWS; n++) {
    const bool again = n % 4 == 1, next = n % 4 == 2 && index[n - 1] + 1 < problem->rows;
    index[n] = again || next ? index[n - 1] + next : (int64_t)random_below(random, (uint64_t)problem->rows);
  }
  posenc_slice slice = posenc_rows(0, ROWS);
  slice.index = index;
  unsigned char *x = arena_place(a->x, bytes * ROWS, true);
  for (int n = 0; n < ROWS; n++) draw_rows(a, index[n], 1, n, x + bytes * (size_t)n);
  const unsigned char *all = run(a, a->s->plan, &slice, x, a->one, true);
  for (int n = 0; n < ROWS; n++) {
    const posenc_slice alone = posenc_rows(index[n], 1);
    check_bits(&a->s->checks[INDEX], problem, all + bytes * (size_t)n,
               run(a, a->s->plan, &alone, x + bytes * (size_t)n, a->other, false), problem->first + index[n], 1);
  }
}

/* Another plan of the subject's kernel; null, and the reason in the check, if it does not do that problem. */
static posenc_plan *other_plan(const applied *a, const posenc_problem *problem, check *c) {
  posenc_plan *plan;
  posenc_options options = *a->s->options;
  options.kernel = a->s->kernel;
  const char *refusal = posenc_kernel_refusal(a->s->kernel, problem, &options);
  const posenc_status status = subject_plan(a->s, problem, &plan);
  if (!plan) c->skip = refusal ? refusal : posenc_status_message(status);
  return plan;
}

/* There and back: the way back turns what the way there has left, its error included, and adds one of its own. Either multiplies by the
   attention factor. */
static void visit_inverse(applied *a, int64_t position, int64_t index, pair given, pair got) {
  const double factor = a->s->attention, square = factor * factor, length = length_of(given),
               there = pair_bound(a, position, length), back = pair_bound(a, position, factor * length + there);
  const pair off = {got.first - square * given.first, got.second - square * given.second};
  check_note(&a->s->checks[INVERSE], length_of(off), (factor * there + back) * (1.0 + 0x1p-50), position, index);
}

static void check_inverse(applied *a, int64_t row, int64_t rows) {
  posenc_problem back = *problem_of(a);
  const posenc_slice slice = posenc_rows(row, rows);
  back.inverse = !back.inverse;
  posenc_plan *plan = other_plan(a, &back, &a->s->checks[INVERSE]);
  if (!plan) return;
  unsigned char *x = arena_place(a->x, bytes_of(&back, rows * width_of(&back)), true);
  draw_rows(a, row, rows, 0, x);
  const unsigned char *turned = run(a, a->s->plan, &slice, x, a->one, true);
  each_pair(a, row, rows, x, run(a, plan, &slice, turned, a->other, true), visit_inverse);
  subject_drop(plan);
}

/*
 * <R_m q, R_n k> = Σ over pairs of (q·k) cos (m-n)w + (q × k) sin (m-n)w, for each head: neither m nor n is in it. What the errors of turned pairs
 * may add: |e_q| |k| + |q| |e_k| + |e_q| |e_k| each. Both have the attention factor, and so has the oracle's pair once.
 */
static void check_relative(applied *a, int64_t m, int64_t n, fast_pair *by) {
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = bytes_of(problem, width_of(problem));
  const int64_t p = problem->first + m, q = problem->first + n;
  const posenc_slice slice[2] = {posenc_rows(m, 1), posenc_rows(n, 1)};
  if (!subject_claims(a->s, p) || !subject_claims(a->s, q)) return;
  unsigned char *x = arena_place(a->x, 2 * bytes, true);
  draw_rows(a, m, 1, 0, x);
  draw_rows(a, n, 1, 1, x + bytes);
  const unsigned char *query = run(a, a->s->plan, &slice[0], x, a->one, true),
                      *key = run(a, a->s->plan, &slice[1], x + bytes, a->other, true);
  fast_row(a->truth, m - n, by);
  for (int64_t head = 0; head < problem->heads; head++) {
    double product = 0.0, wanted = 0.0, allowed = 0.0;
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const pair x_q = pair_at(problem, x, head, i), x_k = pair_at(problem, x + bytes, head, i);
      const pair got_q = pair_at(problem, query, head, i), got_k = pair_at(problem, key, head, i);
      const double sine = problem->inverse ? -by[i].sine.high : by[i].sine.high;
      const double factor = a->s->attention, size_q = factor * length_of(x_q), size_k = factor * length_of(x_k),
                   e_q = pair_bound(a, p, length_of(x_q)), e_k = pair_bound(a, q, length_of(x_k));
      product += got_q.first * got_k.first + got_q.second * got_k.second;
      wanted += factor * ((x_q.first * x_k.first + x_q.second * x_k.second) * by[i].cosine.high +
                          (x_q.first * x_k.second - x_q.second * x_k.first) * sine);
      allowed += e_q * size_k + size_q * e_k + e_q * e_k + 0x1p-40 * size_q * size_k; /* these sums round, too */
    }
    check_note(&a->s->checks[RELATIVE], fabs(product - wanted), allowed, p, -1);
  }
}

/* A table whose padding row is in the middle of these rows adds nothing there, and elsewhere what it adds without. */
static void check_padding(applied *a, int64_t row, int64_t rows) {
  posenc_problem padded = *problem_of(a);
  const size_t bytes = bytes_of(&padded, width_of(&padded));
  const posenc_slice slice = posenc_rows(row, rows);
  check *c = &a->s->checks[PADDING];
  padded.padding = padded.first + row + rows / 2;
  posenc_plan *plan = other_plan(a, &padded, c);
  if (!plan) return;
  unsigned char *x = arena_place(a->x, bytes * (size_t)rows, true);
  draw_rows(a, row, rows, 0, x);
  const unsigned char *out = run(a, plan, &slice, x, a->one, true);
  const size_t at = bytes * (size_t)(rows / 2);
  for (int64_t j = 0; j < width_of(&padded); j++) {
    const double given = format_element(padded.dtype, x + at, j), got = format_element(padded.dtype, out + at, j);
    check_note(c, given == got ? 0.0 : 1.0, 0.0, padded.padding, -1); /* -0 may have become 0 */
  }
  const unsigned char *plain = run(a, a->s->plan, &slice, x, a->other, true);
  for (int64_t r = 0; r < rows; r++)
    if (r != rows / 2 && padded.first + row + r != problem_of(a)->padding)
      check_bits(c, &padded, plain + bytes * (size_t)r, out + bytes * (size_t)r, padded.first + row + r, 1);
  subject_drop(plan);
}

/* What must become of a special element of x, in the element where `factor` multiplies it: add has 1, rope a sine or cosine that is not
   known better than its bound. */
static bool is_special(double given, double factor, double unsure, double got) {
  if (isnan(given)) return isnan(got);
  if (fabs(factor) <= unsure) return !isfinite(got); /* infinity × 0 is NaN */
  return isinf(got) && signbit(got) == (signbit(given) != signbit(factor));
}

/* One element of some rows is NaN or infinite: so is its result, of rope its pair's, and the others have the bits that they had. */
static void check_special(applied *a, int64_t row, int64_t rows, uint64_t *random) {
  static const float specials[] = {NAN, INFINITY, -INFINITY};
  const posenc_problem *problem = problem_of(a);
  const size_t bytes = bytes_of(problem, rows * width_of(problem)), element = posenc_dtype_bytes(problem->dtype);
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const posenc_slice slice = posenc_rows(row, rows);
  check *c = &a->s->checks[SPECIAL];
  unsigned char *x = arena_place(a->x, bytes, true);
  draw_rows(a, row, rows, 0, x);
  const unsigned char *before = run(a, a->s->plan, &slice, x, a->one, true);
  for (size_t n = 0; n < sizeof specials / sizeof *specials; n++) {
    const int64_t r = (int64_t)random_below(random, (uint64_t)rows),
                  head = (int64_t)random_below(random, (uint64_t)problem->heads),
                  i = (int64_t)random_below(random, (uint64_t)(problem->dim / 2)), position = problem->first + row + r;
    const bool second = random_below(random, 2);
    const int64_t from = r * width_of(problem) + head * problem->dim + i * at.step,
                  mine = from + (second ? at.cos : at.sin);
    unsigned char kept[sizeof(double)];
    memcpy(kept, x + bytes_of(problem, mine), element);
    store(problem->dtype, x, mine, specials[n]);
    const unsigned char *out = run(a, a->s->plan, &slice, x, a->other, true);
    const pair got = {format_element(problem->dtype, out, from + at.sin),
                      format_element(problem->dtype, out, from + at.cos)};
    if (problem->op == POSENC_ADD) {
      check_note(c, is_special((double)specials[n], 1.0, 0.0, second ? got.second : got.first) ? 0.0 : 1.0, 0.0,
                 position, i);
    } else {
      fast_move(a->truth, position);
      const fast_lanes *truth = &lanes_of(a, position)[i / FAST_LANES];
      const double factor = a->s->attention,
                   sine = (problem->inverse ? -1.0 : 1.0) * truth->sin_high[i % FAST_LANES] / factor,
                   cosine = truth->cos_high[i % FAST_LANES] / factor,
                   unsure = posenc_bound_at(&a->s->most, POSENC_F32, position);
      check_note(c, is_special((double)specials[n], second ? -sine : cosine, unsure, got.first) ? 0.0 : 1.0, 0.0,
                 position, i);
      check_note(c, is_special((double)specials[n], second ? cosine : sine, unsure, got.second) ? 0.0 : 1.0, 0.0,
                 position, i);
    }
    int64_t touched = 0;
    for (int64_t j = 0; j < rows * width_of(problem); j++)
      if (j != mine && !(problem->op == POSENC_ROPE && (j == from + at.sin || j == from + at.cos)))
        touched += memcmp(out + bytes_of(problem, j), before + bytes_of(problem, j), element) != 0;
    check_note(c, (double)touched, 0.0, position, i);
    memcpy(x + bytes_of(problem, mine), kept, element);
  }
}

bool applied_check_relations(applied *a, uint64_t *random) {
  enum { DRAWS = 4 };
  const posenc_problem *problem = problem_of(a);
  const int64_t rows = least(ROWS, problem->rows), last = problem->rows - rows;
  if (problem->rows == 0) return true;
  fast_pair *by = calloc((size_t)problem->dim / 2, sizeof *by);
  if (!by) return false;
  for (int draw = 0; draw < DRAWS; draw++) {
    const int64_t row = (int64_t)random_below(random, (uint64_t)last + 1);
    isolate_say("rows far apart", 1.0);
    check_batch(a, row, rows, draw % 2 ? 0 : GAP);
    check_index(a, random);
    check_special(a, row, rows, random);
    if (problem->op == POSENC_ADD) check_padding(a, row, rows);
    if (problem->op == POSENC_ADD || subject_no_claim(a->s)) continue;
    check_inverse(a, row, rows);
    check_relative(a, row, (int64_t)random_below(random, (uint64_t)problem->rows), by);
  }
  free(by);
  return true;
}
