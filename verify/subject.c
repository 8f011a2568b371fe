/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/subject.h"

#include "common/contract.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/process.h"
#include "common/shapes.h"
#include "common/work.h"
#include "reference/format.h"
#include "reference/scaling.h"
#include "verify/arena.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the contract --------------------------------------------------------------------------------------------- */

static bool are_whole(const posenc_axes *axes) {
  for (int a = 0; a < axes->count; a++)
    for (int64_t n = 0; axes->axis[a].positions && n < axes->axis[a].size; n++)
      if (axes->axis[a].positions[n] != rint(axes->axis[a].positions[n])) return false;
  return true;
}

const char *verify_refusal(const posenc_problem *problem) {
  if (!op_is_applied(problem->op)) return NULL;
  if (problem->positions) return "of add and rope, what is verified are successive positions, on one or several axes";
  if (problem->dim % 2) return "of add, what is verified are even dims";
  if (problem->axes && !are_whole(problem->axes))
    return "of add and rope, what is verified are whole positions of axes";
  return NULL;
}

/*
 * Sets the bounds. The contract's positions are in units of 1/scale. Rows of f32 that are rounded again have the bound
 * of posenc_kernel_bound, in which half an ulp is that of the exact value. An attention factor multiplies a table of
 * f64 and its errors, unless the kernel attends. The factor and the product are rounded to double, with an error below
 * 2^-51 of them, and the result to the dtype.
 */
static void set_bounds(subject *s) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_bound own = posenc_kernel_bound(s->kernel, problem), *given = &own;
  s->bound = own;
  if (problem->scale != 1.0) {
    const double domain = (double)given->max_position / problem->scale;
    s->bound.growth *= problem->scale;
    s->bound.max_position = domain < 0x1p63 ? (int64_t)domain : INT64_MAX;
  }
  s->applied = s->most = s->bound;
  if (attention_is_one(problem)) return;
  if (s->kernel->attends) {
    s->bound.abs *= s->attention;
  } else {
    s->bound.abs = s->attention * (posenc_bound_at(given, POSENC_F64, 0) + 0x1p-51);
    s->bound.ulp = 0.5;
  }
  s->bound.growth *= s->attention;
  s->most = s->bound;
  int exponent;
  frexp(s->attention, &exponent);
  s->most.ulp = ldexp(s->bound.ulp, exponent);
  if (problem->op != POSENC_ROPE) return;
  /* The size of a result of add or rope includes the factor, and the table's error is part of the result's error. */
  s->most.ulp /= s->attention;
  s->most.abs /= s->attention;
  s->most.growth /= s->attention;
}

double subject_allowed(const subject *s, int64_t position) {
  if (bound_is_none(&s->kernel->bound)) return s->attention;
  return posenc_bound_at(&s->most, posenc_table_of(&s->shape->problem).dtype, position);
}

bool subject_is_bound(const subject *s, int64_t position) {
  return !bound_is_none(&s->kernel->bound) && s->shape->problem.base >= 1.0 &&
         accuracy_distance(position) <= s->bound.max_position;
}

/* Returns the position nearest to 0, rounded away from 0. */
static int64_t nearest_of(const posenc_problem *problem) {
  const int64_t first = problem->first, last = first + (problem->rows ? problem->rows - 1 : 0);
  if (problem->axes) return 0; /* the exam has the positions of rows */
  if (!problem->positions && first <= 0 && last >= 0) return 0;
  if (!problem->positions) return accuracy_distance(first) < accuracy_distance(last) ? first : last;
  double nearest = INFINITY;
  for (int64_t row = 0; row < problem->rows; row++) nearest = fmin(nearest, fabs(problem->positions[row]));
  return problem->rows ? (int64_t)ceil(nearest) : 0;
}

const char *subject_unbound(const subject *s) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t nearest = nearest_of(problem);
  if (bound_is_none(&s->kernel->bound)) return CONTRACT_WITHOUT_BOUND;
  if (problem->base < 1.0) return "the bound is for base >= 1";
  if (!subject_is_bound(s, nearest)) return "beyond the positions that the bound is for";
  if (subject_allowed(s, nearest) >= s->attention) return "so far out the bound allows any value";
  return NULL;
}

bool is_padding_row(const posenc_problem *problem, int64_t position) {
  return problem->padding != POSENC_NO_PADDING && position == problem->padding;
}

/* ---- plans ----------------------------------------------------------------------------------------------------- */

const char *subject_open(subject *s, const posenc_kernel *kernel, const shape *of, const posenc_options *options) {
  *s = (subject){.kernel = kernel, .shape = of, .options = options, .digest = DIGEST_START};
  posenc_options mine = *options;
  mine.kernel = kernel;
  isolate_say("can_do", 0.0);
  const char *why = posenc_kernel_refusal(kernel, &of->problem, &mine);
  if (!why) why = verify_refusal(&of->problem);
  if (why) return why;
  if (!seal_works()) s->checks[READ_ONLY].skip = "this build cannot make the memory of plans read-only";
  if (SANITIZED) s->checks[LEAK].skip = "a sanitizer's allocator does not tell what is allocated";
  s->attention = attention_of(&of->problem);
  set_bounds(s);
  s->origin = of->problem.first;
  isolate_say("making the plan", 0.0);
  const posenc_status status = subject_plan(s, &of->problem, &s->plan);
  return status == POSENC_OK ? NULL : posenc_status_message(status);
}

void subject_close(subject *s) {
  isolate_say("releasing the plan", 1.0);
  subject_drop(s->plan);
  s->plan = NULL;
}

posenc_status subject_plan(const subject *s, const posenc_problem *problem, posenc_plan **plan) {
  posenc_options options = *s->options;
  options.kernel = s->kernel;
  seal_begin();
  const posenc_status status = posenc_plan_create(plan, problem, &options);
  seal_end();
  return status;
}

size_t subject_drop(posenc_plan *plan) {
  const void *const inside = plan;
  seal_break(inside);
  posenc_plan_destroy(plan);
  return seal_release(inside);
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

static int64_t known_writes;

void subject_begin_calls(void) {
  known_writes = seal_writes();
}

void subject_end_calls(subject *s, int64_t position) {
  subject_end_calls_of(s, position, NULL);
}

void subject_end_calls_of(subject *s, int64_t position, const char *elsewhere) {
  const char *own = fpenv_restore(), *fault = own ? own : elsewhere;
  const int64_t writes = seal_writes() - known_writes;
  isolate_go_on();
  check *environment = &s->checks[ENVIRONMENT], *unchanged = &s->checks[READ_ONLY];
  known_writes += writes;
  check_note(environment, fault ? 1.0 : 0.0, 0.0, position, -1);
  if (fault && !*environment->note)
    snprintf(environment->note, sizeof environment->note, "after a call for p = %lld: %s", (long long)position, fault);
  if (seal_works()) check_note(unchanged, (double)writes, 0.0, position, -1);
  if (writes && !*unchanged->note)
    snprintf(unchanged->note, sizeof unchanged->note, "a call for p = %lld wrote to what its plan had prepared",
             (long long)position);
}

/* Returns the number of parts: at most that of OpenMP's threads, since some kernels compute every row from position
   0. */
static int64_t parts_of(const subject *s, const posenc_slice *slice) {
  return s->shared && slice->batch == 1 ? threads_most() : 1;
}

void subject_call(const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x, unsigned char *out) {
  if (x)
    posenc_apply(plan, slice, x, out);
  else
    posenc_execute(plan, slice->row, slice->rows, out);
}

static void call_in_parts(const subject *s, const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x,
                          unsigned char *out) {
  const size_t bytes = row_bytes(posenc_plan_problem(plan));
  const int64_t parts = parts_of(s, slice);
#pragma omp parallel for schedule(static) if (parts > 1)
  for (int64_t part = 0; part < parts; part++) {
    const int64_t from = slice->rows * part / parts, to = slice->rows * (part + 1) / parts;
    posenc_slice mine = *slice;
    mine.row += from;
    mine.rows = to - from;
    if (mine.index) mine.index += from;
    subject_call(plan, &mine, x ? x + bytes * (size_t)from : NULL, out + bytes * (size_t)from);
  }
}

static void call_checked(subject *s, const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x,
                         unsigned char *out) {
  subject_begin_calls();
  call_in_parts(s, plan, slice, x, out);
  subject_end_calls(s, posenc_plan_problem(plan)->first + (slice->index ? slice->index[0] : slice->row));
}

bool subject_takes_long(double seconds) {
  return seconds > 0.1;
}

window subject_again(window w, double seconds) {
  return (window){w.row, subject_takes_long(seconds) ? least(w.rows, CHECKED_ROWS) : w.rows};
}

/* Returns the number of elements from one sequence of a batch to the next. */
static int64_t stride_of(const posenc_problem *problem, const posenc_slice *slice) {
  return slice->stride ? slice->stride : slice->rows * row_width(problem);
}

size_t subject_extent(const posenc_problem *problem, const posenc_slice *slice) {
  const int64_t elements = (slice->batch - 1) * stride_of(problem, slice) + slice->rows * row_width(problem);
  return (size_t)elements * posenc_dtype_bytes(problem->dtype);
}

void subject_check_memory(check *memory, const posenc_problem *problem, const posenc_slice *slice, const arena *at,
                          bool in_place) {
  const size_t element = posenc_dtype_bytes(problem->dtype), bytes = row_bytes(problem) * (size_t)slice->rows,
               stride = (size_t)stride_of(problem, slice) * element;
  size_t first = 0, unused;
  int64_t missing = 0, spilled = arena_spills(at);
  for (int64_t n = 0; n < slice->batch; n++) {
    const unsigned char *sequence = arena_rows(at) + (size_t)n * stride;
    const size_t gap = n + 1 < slice->batch ? stride - bytes : 0;
    if (!in_place) missing += arena_untouched(sequence, bytes, element, &first);
    spilled += (int64_t)(gap / element) - arena_untouched(sequence + bytes, gap, element, &unused);
  }
  const int64_t row = missing ? (int64_t)(first / row_bytes(problem)) : 0;
  memory->index = -1;
  memory->compared += slice->batch * slice->rows * row_width(problem);
  if (!memory->broken && missing + spilled)
    memory->position = problem->first + (slice->index ? slice->index[row] : slice->row + row);
  memory->broken += missing + spilled;
  memory->worst = (double)memory->broken;
}

unsigned char *subject_run(subject *s, const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x,
                           arena *to, bool flush) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  unsigned char *out = arena_place(to, subject_extent(problem, slice), flush);
  call_checked(s, plan, slice, x, out);
  subject_check_memory(&s->checks[MEMORY], problem, slice, to, false);
  return out;
}

unsigned char *subject_run_in_place(subject *s, const posenc_slice *slice, const unsigned char *x, arena *in) {
  const posenc_problem *problem = posenc_plan_problem(s->plan);
  const size_t bytes = subject_extent(problem, slice);
  unsigned char *out = memcpy(arena_place(in, bytes, true), x, bytes);
  call_checked(s, s->plan, slice, out, out);
  subject_check_memory(&s->checks[MEMORY], problem, slice, in, true);
  return out;
}

const unsigned char *subject_execute(subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *to) {
  const posenc_slice slice = posenc_rows(row, rows);
  return subject_run(s, plan, &slice, NULL, to, false);
}

table_pair subject_pair(subject *s, const posenc_plan *plan, int64_t row, int64_t index, arena *a) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const unsigned char *out = subject_execute(s, plan, row, 1, a);
  return (table_pair){format_element(problem->dtype, out, at.sin + index * at.step),
                      format_element(problem->dtype, out, at.cos + index * at.step)};
}

/* ---- checks of any operation ---------------------------------------------------------------------------------- */

/* Checks two to four guarded, each of which ends at the guard pages and is so off alignment. */
static void check_pieces(subject *s, window w, const unsigned char *x, const unsigned char *whole, arena *guarded,
                         uint64_t *random) {
  const posenc_problem *problem = &s->shape->problem;
  for (int64_t done = 0, left_pieces = 4; done < w.rows; left_pieces--) {
    const int64_t left = w.rows - done,
                  rows = left_pieces > 1 ? 1 + (int64_t)random_below(random, (uint64_t)left) : left;
    const posenc_slice slice = posenc_rows(w.row + done, rows);
    const size_t at = row_bytes(problem) * (size_t)done;
    const unsigned char *out = subject_run(s, s->plan, &slice, x ? x + at : NULL, guarded, true);
    check_bits(&s->checks[EXTENSION], problem, whole + at, out, problem->first + slice.row, rows);
    done += rows;
  }
}

void subject_check_again(subject *s, window w, const unsigned char *x, const unsigned char *whole, arena *other,
                         uint64_t *random) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_slice slice = posenc_rows(w.row, w.rows);
  const unsigned char *second = subject_run(s, s->plan, &slice, x, other, x != NULL);
  check_bits(&s->checks[DETERMINISM], problem, whole, second, problem->first + w.row, w.rows);
  if (w.rows > 1) check_pieces(s, w, x, whole, other, random);
}

void subject_share(subject *s) {
  s->shared = !s->kernel->threaded && !s->checks[MEMORY].broken && !s->checks[THREADS].broken;
}

void check_break(check *c, const subject *s, const posenc_problem *problem, const char *text, ...) {
  if (c->broken++ == 0 || !*c->note) {
    char what[240];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(what, sizeof what, text, arguments);
    va_end(arguments);
    char *options = problem_options(problem);
    snprintf(c->note, sizeof c->note, "%s; of: --kernel %s %s", what, s->kernel->name, options ? options : "");
    free(options);
  }
  c->worst = (double)c->broken;
  c->index = -1;
  c->position = problem->first;
}

void subject_finish(subject *s) {
  const char *const empty = s->shape->problem.rows == 0 ? "the table is empty" : NULL;
  check_bound(&s->checks[ACCURACY], &s->found);
  s->checks[SURVIVAL].compared = 1; /* the kernel has survived */
  for (int p = 0; p < PROPERTIES; p++) {
    check *c = &s->checks[p];
    if (c->compared || c->broken || c->skip) continue;
    c->skip = empty ? empty : subject_unbound(s);
    if (!c->skip) c->skip = "it takes two rows that are no padding";
  }
}
