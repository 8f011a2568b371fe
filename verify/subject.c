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

/* ---- properties ------------------------------------------------------------------------------------------ */

#define PROPERTY(id, called, held, text) [id] = {called, held, text},
static const struct {
  const char *name;
  unsigned subjects;
  const char *text;
} properties[PROPERTIES] = {
#include "verify/properties.def"
};
#undef PROPERTY

const char *property_name(property p) {
  return properties[p].name;
}

unsigned property_subjects(property p) {
  return properties[p].subjects;
}

const char *property_text(property p) {
  return properties[p].text;
}

bool property_is_beside(property p) {
  return p >= FAR_POSITIONS && p <= LEAK;
}

/* ---- bounds that follow from the bound of an element ---------------------------------------------------------- */

double allowed_norm(double attention, double e) {
  return 2.0 * sqrt(2.0) * attention * e + 2.0 * e * e + 0x1p-50 * attention * attention;
}

double allowed_rotation(double attention, double e_from, double e_to, double sine, double cosine) {
  return e_to + (fabs(sine) + fabs(cosine)) * e_from + 0x1p-50 * attention;
}

/* ---- findings ------------------------------------------------------------------------------------------------ */

bool check_ok(const check *c) {
  return c->skip || c->broken == 0;
}

/* Whether the deviation is a larger share of its bound than the worst so far or, if both shares are 0, larger. */
static bool is_worse(double share, double deviation, const check *c) {
  return c->compared == 0 || share > c->share || (share == 0.0 && c->share == 0.0 && deviation > c->worst);
}

void check_note(check *c, double deviation, double bound, int64_t position, int64_t index) {
  const double share = deviation == 0.0 || isinf(bound)   ? 0.0
                       : bound > 0.0 && !isnan(deviation) ? deviation / bound
                                                          : INFINITY;
  if (!(deviation <= bound)) c->broken++;
  if (is_worse(share, deviation, c)) {
    c->worst = deviation;
    c->bound = bound;
    c->share = share;
    c->position = position;
    c->index = index;
  }
  c->compared++;
}

void check_note_all(check *c, int64_t elements, double deviation, double bound, int64_t position) {
  check_note(c, deviation, bound, position, -1);
  c->compared += elements - 1;
}

void check_merge(check *into, const check *from) {
  if (from->compared > 0 && is_worse(from->share, from->worst, into)) {
    into->worst = from->worst;
    into->bound = from->bound;
    into->share = from->share;
    into->position = from->position;
    into->index = from->index;
  }
  into->compared += from->compared;
  into->broken += from->broken;
}

void check_bound(check *c, const accuracy *found) {
  c->compared = found->held;
  c->broken = found->beyond;
  c->worst = c->share = found->worst_share;
  c->bound = 1.0;
  c->position = found->worst.position;
  c->index = found->worst.index;
}

/* Compares rows first, as they hardly ever differ. A difference counts as a deviation of 1 where 0 is allowed. */
void check_bits(check *c, const posenc_problem *problem, const unsigned char *a, const unsigned char *b,
                int64_t position, int64_t rows) {
  const size_t element = posenc_dtype_bytes(problem->dtype), bytes = row_bytes(problem);
  for (int64_t r = 0; r < rows; r++, a += bytes, b += bytes) {
    if (memcmp(a, b, bytes) == 0) {
      check_note_all(c, row_width(problem), 0.0, 0.0, position + r);
      continue;
    }
    for (size_t at = 0; at < bytes; at += element)
      check_note(c, memcmp(a + at, b + at, element) ? 1.0 : 0.0, 0.0, position + r, -1);
  }
}

/* Continues an FNV-1a digest. The word has the bytes of its elements, least significant first, on every machine. */
static inline uint64_t digest_word(uint64_t digest, const unsigned char *bytes, size_t count, size_t element) {
  uint64_t word = 0;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (size_t i = 0; i < count; i++) word |= (uint64_t)bytes[i ^ (element - 1)] << 8 * i;
#else
  (void)element;
  memcpy(&word, bytes, count);
#endif
  digest = (digest ^ word) * UINT64_C(1099511628211);
  return digest ^ digest >> 32; /* otherwise high bits of a word would not affect low ones */
}

uint64_t digest_of(uint64_t digest, const unsigned char *bytes, size_t count, size_t element) {
  for (; count >= 8; bytes += 8, count -= 8) digest = digest_word(digest, bytes, 8, element);
  return count ? digest_word(digest, bytes, count, element) : digest;
}

/* ---- rows that are compared ------------------------------------------------------------------------------ */

/* The largest window fits a cache, which also limits the memory of an exam. Windows of a sample have at least
   SAMPLED_ROWS rows if such a window fits and the budget is enough for two. */
enum { WINDOW_BYTES = 1 << 21, SAMPLED_ROWS = 64 };

/*
 * A single misrounded element disproves correct rounding, so kernels that declare it get the whole budget. Errors of
 * other kernels are spread over all rows, so a share of the budget is enough. For add and rope, the table is compared
 * as well. The tables of a rope cache are copies of columns, which the library makes in the same way for all kernels.
 * All elements of the published 4096×128 are compared.
 */
enum { SHARE_OF_BOUNDED = 32, SHARE_OF_APPLIED = 32, SHARE_OF_CACHE = 256 };

/*
 * A sample has at most WINDOWS_WITH_BOUND windows if the budget is enough for them. A kernel without a derived bound
 * gets at most WINDOWS_WITHOUT_BOUND, because it may compute each window from position 0 on. Lists of positions and odd
 * dims are compared at both ends, in blocks that table-exam.c makes, so their windows may have any size.
 */
enum { WINDOWS_WITH_BOUND = 64, WINDOWS_WITHOUT_BOUND = 4, WINDOWS_OF_SPECIAL = 2 };

/* A segment takes at least about a tenth of a second. A table has at most as many of them as a record can list. */
enum { SEGMENT_ELEMENTS = 1 << 26, SEGMENT_WINDOWS = 2, SEGMENTS_MOST = 1 << 14 };

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t share_of(const posenc_kernel *kernel, posenc_op op) {
  if (op_is_applied(op)) return SHARE_OF_APPLIED;
  if (op == POSENC_ROPE_CACHE) return SHARE_OF_CACHE;
  const posenc_bound *b = &kernel->bound;
  return b->derived && b->ulp == 0.5 && b->abs == 0.0 && b->growth == 0.0 ? 1 : SHARE_OF_BOUNDED;
}

static int64_t most_windows(const posenc_kernel *kernel, bool special) {
  return special ? WINDOWS_OF_SPECIAL : kernel->bound.derived ? INT64_MAX : WINDOWS_WITHOUT_BOUND;
}

/* Sets the segments. Special rows are in one segment, because table-exam.c compares them in blocks of its own. */
static void set_segments(sampling *v, bool special) {
  const int64_t fitting = v->rows ? SEGMENT_ELEMENTS / v->rows / v->width : 0,
                enough = most(most(fitting, SEGMENT_WINDOWS), v->windows / SEGMENTS_MOST + 1);
  v->windows_of_segment = special ? most(v->windows, 1) : enough;
  v->segments = v->windows ? (v->windows - 1) / v->windows_of_segment + 1 : 1;
}

sampling sampling_of(const posenc_kernel *kernel, const posenc_problem *problem, int64_t budget) {
  const bool special = rows_are_special(problem);
  const int64_t width = problem->heads * problem->dim, row_bytes = width * (int64_t)posenc_dtype_bytes(problem->dtype),
                pairs = (width + 1) / 2, fitting = special ? most(problem->rows, 1) : most(WINDOW_BYTES / row_bytes, 1),
                affordable = most(budget / pairs / share_of(kernel, problem->op), 2);
  sampling v = {.exhaustive = problem->rows <= affordable, .all = problem->rows, .width = width};
  if (v.exhaustive) {
    v.rows = least(fitting, v.all);
    v.windows = v.rows ? (v.all - 1) / v.rows + 1 : 0;
  } else {
    const int64_t limit = most_windows(kernel, special), filling = (affordable - 1) / fitting + 1,
                  enough = least(most(affordable / SAMPLED_ROWS, 2), WINDOWS_WITH_BOUND);
    v.rows = least(affordable / least(most(enough, filling), limit), fitting);
    v.windows = least(affordable / v.rows, limit);
  }
  set_segments(&v, special);
  return v;
}

window_numbers sampling_windows(const sampling *v, run_range r) {
  return (window_numbers){r.from * v->windows_of_segment,
                          r.to == v->segments ? v->windows : r.to * v->windows_of_segment};
}

double sampling_elements(const sampling *v, run_range r) {
  const window_numbers n = sampling_windows(v, r);
  const double rows = (double)(n.end - n.first) * (double)v->rows,
               left = (double)v->all - (double)n.first * (double)v->rows;
  return (double)v->width * (v->exhaustive ? fmin(left, rows) : rows);
}

window sampling_window(const sampling *v, int64_t number, uint64_t *random) {
  const int64_t last = v->all - v->rows;
  const int64_t row = v->exhaustive || number == 0 ? number * v->rows
                      : number == 1                ? last
                                                   : (int64_t)random_below(random, (uint64_t)last + 1);
  return (window){row, least(v->rows, v->all - row)};
}

void sampling_skip(const sampling *v, int64_t number, uint64_t *random) {
  for (int64_t n = 0; !v->exhaustive && n < number; n++) sampling_window(v, n, random);
}

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

/* ---- subject --------------------------------------------------------------------------------------------- */

/* ---- the contract --------------------------------------------------------------------------------------------- */

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
  if (!problem->positions)
    return first <= 0 && last >= 0 ? 0 : accuracy_distance(first) < accuracy_distance(last) ? first : last;
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
    c->skip = empty ? empty : subject_unbound(s) ? subject_unbound(s) : "it takes two rows that are no padding";
  }
}
