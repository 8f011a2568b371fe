/* SPDX-License-Identifier: MIT */
#include "verify/checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *property_name(property p) {
  static const char *const names[PROPERTIES] = {"accuracy", "memory",        "bounded",  "pair-norm",
                                                "rotation", "extrapolation", "extension"};
  return names[p];
}

/* splitmix64 (Steele, Lea and Flood, 2014) */
static uint64_t random_next(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

uint64_t random_below(uint64_t *state, uint64_t limit) {
  const uint64_t biased = UINT64_MAX - UINT64_MAX % limit;
  uint64_t drawn;
  do drawn = random_next(state);
  while (drawn >= biased);
  return drawn % limit;
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* Poison is a NaN that no arithmetic makes; what is outside the rows has another pattern. */
enum { GUARD_BYTES = 4096, POISON = 0xff, OUTSIDE = 0xa5 };

struct arena {
  size_t bytes;
  unsigned char *memory;
};

arena *arena_create(size_t bytes) {
  arena *a = malloc(sizeof *a);
  size_t whole;
  if (!a) return NULL;
  if (__builtin_add_overflow(bytes, 3 * GUARD_BYTES, &whole)) whole = 0;
  a->bytes = whole - whole % GUARD_BYTES;
  a->memory = whole ? aligned_alloc(GUARD_BYTES, a->bytes) : NULL;
  if (a->memory) return a;
  free(a);
  return NULL;
}

void arena_destroy(arena *a) {
  if (!a) return;
  free(a->memory);
  free(a);
}

static void note(check *c, double deviation, double bound, int64_t position, int64_t index) {
  const double share = deviation == 0.0 ? 0.0 : bound > 0.0 && !isnan(deviation) ? deviation / bound : INFINITY;
  if (!(deviation <= bound)) c->broken++;
  if (c->compared == 0 || share > c->share) {
    c->worst = deviation;
    c->bound = bound;
    c->share = share;
    c->position = position;
    c->index = index;
  }
  c->compared++;
}

static size_t row_bytes(const posenc_problem *problem) {
  return (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
}

/* Executes rows into poisoned memory, `skew` bytes off its alignment, and looks at what was written and what should not
 * have been. */
static unsigned char *execute(subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *a, size_t skew) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  const size_t bytes = row_bytes(problem) * (size_t)rows, element = posenc_dtype_bytes(problem->dtype);
  unsigned char *out = a->memory + GUARD_BYTES + skew, poison[8];
  memset(a->memory, OUTSIDE, GUARD_BYTES + skew);
  memset(out, POISON, bytes);
  memset(out + bytes, OUTSIDE, GUARD_BYTES);
  memset(poison, POISON, sizeof poison);
  posenc_execute(plan, row, rows, out);

  check *memory = &s->checks[MEMORY];
  memory->index = -1;
  for (size_t i = 0; i < bytes / element; i++) {
    memory->compared++;
    if (memcmp(out + i * element, poison, element) != 0) continue;
    if (!memory->broken++) memory->position = problem->first + row + (int64_t)(i * element / row_bytes(problem));
  }
  for (size_t i = 0; i < GUARD_BYTES + skew; i++) memory->broken += a->memory[i] != OUTSIDE;
  for (size_t i = 0; i < GUARD_BYTES; i++) memory->broken += out[bytes + i] != OUTSIDE;
  memory->worst = (double)memory->broken;
  return out;
}

static double element_at(const unsigned char *row, posenc_dtype dtype, int64_t column) {
  float narrow;
  double wide;
  if (dtype == POSENC_F32) {
    memcpy(&narrow, row + (size_t)column * sizeof narrow, sizeof narrow);
    return narrow;
  }
  memcpy(&wide, row + (size_t)column * sizeof wide, sizeof wide);
  return wide;
}

/* ---- one kernel on one shape --------------------------------------------------------------------- */

const char *subject_open(subject *s, const posenc_kernel *kernel, const shape *of, const posenc_options *options) {
  *s = (subject){.kernel = kernel, .shape = of, .options = options};
  posenc_options mine = *options;
  mine.kernel = kernel;
  const char *why = posenc_kernel_refusal(kernel, &of->problem, &mine);
  if (why) return why;
  const posenc_status status = posenc_plan_create(&s->plan, &of->problem, &mine);
  return status == POSENC_OK ? NULL : posenc_status_message(status);
}

void subject_close(subject *s) {
  posenc_plan_destroy(s->plan);
  s->plan = NULL;
}

/* What the contract allows any element of a position. */
static double allowed(const subject *s, int64_t position) {
  return posenc_bound_at(&s->kernel->bound, s->shape->problem.dtype, position);
}

/* Distance of a position from 0; that of INT64_MIN is not to be had. */
static int64_t distance(int64_t position) {
  return position == INT64_MIN ? INT64_MAX : llabs(position);
}

/* Is the contract's bound about this position? */
static bool is_claimed(const subject *s, int64_t position) {
  return s->shape->problem.base >= 1.0 && distance(position) <= s->kernel->bound.max_position;
}

/* Why nothing follows from the contract for any value of this table, or null. */
static const char *no_claim(const subject *s) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t first = problem->first, last = first + (problem->rows ? problem->rows - 1 : 0);
  const int64_t nearest = first <= 0 && last >= 0 ? 0 : distance(first) < distance(last) ? first : last;
  if (problem->base < 1.0) return "the bound is for base >= 1";
  if (!is_claimed(s, nearest)) return "beyond the positions that the bound is for";
  if (allowed(s, nearest) >= 1.0) return "so far out the bound allows any value";
  return NULL;
}

static bool is_padding(const posenc_problem *problem, int64_t position) {
  return problem->padding != POSENC_NO_PADDING && position == problem->padding;
}

static void check_accuracy(subject *s, const window *w, const unsigned char *out, const format *f) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const posenc_bound nothing = {.derived = true};
  const bool claims = !no_claim(s);
  for (size_t i = 0; i < w->count; i++) {
    const place *here = &w->places[i];
    const unsigned char *row = out + row_bytes(problem) * (size_t)(here->position - problem->first - w->row);
    const posenc_bound *claimed = !claims || !is_claimed(s, here->position) ? NULL
                                  : is_padding(problem, here->position)     ? &nothing
                                                                            : &s->kernel->bound;
    accuracy_add(&s->found, f, claimed, &w->exact[i].sine,
                 element_at(row, problem->dtype, at.sin + here->index * at.step), here->position, here->index, false);
    accuracy_add(&s->found, f, claimed, &w->exact[i].cosine,
                 element_at(row, problem->dtype, at.cos + here->index * at.step), here->position, here->index, true);
  }
}

/*
 * A kernel that claims a bound must stay in [-1, 1]; one that claims none may pass it by its measured error.
 * With both components within e of sin and cos: |s² + c² - 1| <= 2 (|sin| + |cos|) e + 2 e² <= 2√2 e + 2 e², and 2^-51
 * for this sum.
 */
static void check_values(subject *s, const window *w, const unsigned char *out) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const bool claims = !no_claim(s);
  for (int64_t r = 0; r < w->rows; r++) {
    const int64_t position = problem->first + w->row + r;
    const unsigned char *row = out + row_bytes(problem) * (size_t)r;
    const double e = allowed(s, position), most = s->kernel->bound.derived ? 1.0 : 1.0 + e;
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const double sine = element_at(row, problem->dtype, at.sin + i * at.step);
      const double cosine = element_at(row, problem->dtype, at.cos + i * at.step);
      note(&s->checks[BOUNDED], fabs(sine), most, position, i);
      note(&s->checks[BOUNDED], fabs(cosine), most, position, i);
      if (claims && is_claimed(s, position) && !is_padding(problem, position))
        note(&s->checks[PAIR_NORM], fabs(sine * sine + cosine * cosine - 1.0),
             2.0 * sqrt(2.0) * e + 2.0 * e * e + 0x1p-51, position, i);
    }
  }
}

/* Counts elements that differ in any bit; `note` wants a deviation, so a difference is 1 where 0 is allowed. */
static void compare_bits(check *c, const posenc_problem *problem, const unsigned char *a, const unsigned char *b,
                         int64_t position, int64_t rows) {
  const size_t element = posenc_dtype_bytes(problem->dtype);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t column = 0; column < problem->dim; column++, a += element, b += element)
      note(c, memcmp(a, b, element) ? 1.0 : 0.0, 0.0, position + r, -1);
}

/* Two to four pieces, each written off alignment. */
static void check_extension(subject *s, const window *w, const unsigned char *whole, arena *pieces, uint64_t *random) {
  const posenc_problem *problem = &s->shape->problem;
  for (int64_t done = 0, left_pieces = 4; done < w->rows; left_pieces--) {
    const int64_t left = w->rows - done,
                  rows = left_pieces > 1 ? 1 + (int64_t)random_below(random, (uint64_t)left) : left;
    const unsigned char *out = execute(s, s->plan, w->row + done, rows, pieces, posenc_dtype_bytes(problem->dtype));
    compare_bits(&s->checks[EXTENSION], problem, whole + row_bytes(problem) * (size_t)done, out,
                 problem->first + w->row + done, rows);
    done += rows;
  }
}

void subject_check_window(subject *s, const window *w, arena *whole, arena *pieces, bool in_pieces, uint64_t *random) {
  const unsigned char *out = execute(s, s->plan, w->row, w->rows, whole, 0);
  check_accuracy(s, w, out, s->shape->problem.dtype == POSENC_F64 ? &format_f64 : &format_f32);
  check_values(s, w, out);
  if (in_pieces && w->rows > 1) check_extension(s, w, out, pieces, random);
}

/*
 * PE[p+k] against M_k PE[p], M_k from the oracle: the deviation is at most e(p+k) + (|cos kw| + |sin kw|) e(p), and
 * 2^-51 for the sum here.
 */
static void check_rotation(subject *s, const exact_pair *by, int64_t row, int64_t k, arena *one, arena *other) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t position = problem->first + row;
  if (is_padding(problem, position) || is_padding(problem, position + k)) return;
  if (!is_claimed(s, position) || !is_claimed(s, position + k)) return;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const unsigned char *from = execute(s, s->plan, row, 1, one, 0), *to = execute(s, s->plan, row + k, 1, other, 0);
  const double e_from = allowed(s, position), e_to = allowed(s, position + k);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    const int64_t sin_column = at.sin + i * at.step, cos_column = at.cos + i * at.step;
    const double sine = element_at(from, problem->dtype, sin_column),
                 cosine = element_at(from, problem->dtype, cos_column);
    const double sin_k = by[i].sine.high, cos_k = by[i].cosine.high;
    const double bound = e_to + (fabs(sin_k) + fabs(cos_k)) * e_from + 0x1p-51;
    note(&s->checks[ROTATION], fabs(element_at(to, problem->dtype, sin_column) - (sine * cos_k + cosine * sin_k)),
         bound, position + k, i);
    note(&s->checks[ROTATION], fabs(element_at(to, problem->dtype, cos_column) - (cosine * cos_k - sine * sin_k)),
         bound, position + k, i);
  }
}

/* The same positions by another plan: the same bits where the contract says reproducible, else twice the error. */
static void check_extrapolation(subject *s, int64_t row, int64_t rows, arena *one, arena *other) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  posenc_problem there = *problem;
  there.first += row;
  there.rows = rows;
  posenc_options mine = *s->options;
  mine.kernel = s->kernel;
  posenc_plan *plan;
  check *c = &s->checks[EXTRAPOLATION];
  const posenc_status status = posenc_plan_create(&plan, &there, &mine);
  if (status != POSENC_OK) { /* it did the whole table: it must do a part of it */
    note(c, 1.0, 0.0, there.first, -1);
    return;
  }
  const unsigned char *a = execute(s, s->plan, row, rows, one, 0), *b = execute(s, plan, 0, rows, other, 0);
  if (s->kernel->reproducible) {
    compare_bits(c, problem, a, b, there.first, rows);
  } else {
    for (int64_t r = 0; r < rows && is_claimed(s, there.first + r); r++)
      for (int64_t i = 0; i < problem->dim / 2; i++)
        for (int which = 0; which < 2; which++) {
          const int64_t column = r * problem->dim + (which ? at.cos : at.sin) + i * at.step;
          note(c, fabs(element_at(a, problem->dtype, column) - element_at(b, problem->dtype, column)),
               2.0 * allowed(s, there.first + r), there.first + r, i);
        }
  }
  posenc_plan_destroy(plan);
}

bool subject_check_relations(subject *s, const oracle *o, arena *one, arena *other, uint64_t *random) {
  enum { DRAWS = 4, ROWS = 16 };
  const posenc_problem *problem = &s->shape->problem;
  const int64_t pairs = problem->dim / 2;
  if (problem->rows < 2) return true;

  place *places = calloc((size_t)pairs, sizeof *places);
  exact_pair *by = calloc((size_t)pairs, sizeof *by);
  if (places && by && !no_claim(s)) {
    for (int draw = 0; draw < DRAWS; draw++) {
      const int64_t k = draw ? 1 + (int64_t)random_below(random, (uint64_t)problem->rows - 1) : 1;
      if (is_padding(problem, k)) continue; /* the oracle's row there is zero, not the rotation */
      for (int64_t i = 0; i < pairs; i++) places[i] = (place){k, i};
      oracle_pairs(o, places, (size_t)pairs, by);
      check_rotation(s, by, (int64_t)random_below(random, (uint64_t)(problem->rows - k)), k, one, other);
    }
  }
  if (places && by && (s->kernel->reproducible || !no_claim(s)))
    for (int draw = 0; draw < DRAWS; draw++) {
      const int64_t row = 1 + (int64_t)random_below(random, (uint64_t)problem->rows - 1), left = problem->rows - row;
      check_extrapolation(s, row, left < ROWS ? left : ROWS, one, other);
    }
  const bool enough = places && by;
  free(places);
  free(by);
  return enough;
}

void subject_finish(subject *s) {
  check *accuracy_check = &s->checks[ACCURACY];
  const char *const empty = s->shape->problem.rows == 0 ? "the table is empty" : NULL;
  const witness *at = &s->found.worst;
  accuracy_check->compared = s->found.held;
  accuracy_check->broken = s->found.beyond;
  accuracy_check->worst = accuracy_check->share = s->found.worst_share;
  accuracy_check->bound = 1.0;
  accuracy_check->position = at->position;
  accuracy_check->index = at->index;
  for (int p = 0; p < PROPERTIES; p++) {
    check *c = &s->checks[p];
    if (c->compared || c->skip) continue;
    c->skip = empty ? empty : no_claim(s) ? no_claim(s) : "it takes two rows that are no padding";
  }
}

bool check_ok(const check *c) {
  return c->skip || c->broken == 0;
}
