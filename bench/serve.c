/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/serve.h"

#include "bench/timed-subject.h"
#include "common/clock.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/process.h"
#include "common/work.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The memory of all shapes of a dtype, as large as the largest of them needs. It always holds numbers of the dtype: in
   another dtype these might be NaN, or subnormal, which is slow. */
typedef struct buffer {
  unsigned char *memory;
  size_t bytes;
} buffer;

enum { DTYPES = POSENC_BF16 + 1, GROWN = 16 };

typedef struct server {
  const service *of;
  timed_subject *subjects;        /* by shape */
  timing (*timings)[BENCH_MODES]; /* of each shape that is prepared */
  buffer buffers[DTYPES];
  process_state *before;
  posenc_plan *grown[GROWN];
  int grown_count;
  unsigned char *notes;
  uint64_t spoiled; /* state of the random numbers by which memory is spoiled */
} server;

static void give_up(const timed_subject *s, posenc_status status) {
  char why[sizeof s->shape->name + 100];
  snprintf(why, sizeof why, "%s on %s", posenc_status_message(status), s->shape->name);
  isolate_fail(why);
}

static const posenc_kernel *kernel_of(const service *of) {
  return of->request->kernels[of->kernel];
}

/* ---- shapes ------------------------------------------------------------------------------------------ */

/* Computes the size of the subject's memory, and enlarges the buffer of its dtype. */
static posenc_status measure_subject(server *v, timed_subject *s) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_status status = posenc_table_bytes(problem, &s->bytes);
  if (status != POSENC_OK) return status;
  if (problem->op == POSENC_ROPE_CACHE) s->bytes *= 2; /* cannot overflow: it was at most PTRDIFF_MAX */
  if (op_is_applied(problem->op)) s->batch = v->of->request->timing.batch;
  if (__builtin_mul_overflow(s->bytes, (size_t)s->batch, &s->bytes) || s->bytes > PTRDIFF_MAX) return POSENC_TOO_LARGE;
  buffer *held = &v->buffers[problem->dtype];
  if (s->bytes > held->bytes) held->bytes = s->bytes;
  return POSENC_OK;
}

static void open_shape(server *v, const order *o, reply *a) {
  const run_request *request = v->of->request;
  timed_subject *s = &v->subjects[o->shape];
  *s = (timed_subject){.shape = &request->shapes[o->shape],
                       .kernel = kernel_of(v->of),
                       .modes = run_find(request, v->of->kernel, o->shape)->modes,
                       .batch = 1,
                       .call_rows = request->timing.rows,
                       .evictor = v->of->evictor,
                       .options = run_options(request, kernel_of(v->of))};
  if (request->timing.device && request->timing.device->kernel == s->kernel) s->device = request->timing.device;
  const posenc_status status = measure_subject(v, s);
  if (status != POSENC_OK) snprintf(a->words, sizeof a->words, "%s", posenc_status_message(status));
  a->bytes = s->bytes;
}

/* Allocates the buffer of a subject, unless it is there, with each page touched. */
static void hold(server *v, timed_subject *s, reply *a) {
  buffer *held = &v->buffers[s->shape->problem.dtype];
  if (!held->memory) {
    a->allocated = held->bytes + BENCH_OFFSET_BYTES;
    held->memory = posenc_alloc(held->bytes + BENCH_OFFSET_BYTES);
    if (!held->memory) give_up(s, POSENC_OUT_OF_MEMORY);
    memset(held->memory, 0x55, held->bytes + BENCH_OFFSET_BYTES); /* a number in every dtype */
  }
  s->buffer = held->memory;
}

static double time_limit(timing *t) {
  const double start = clock_seconds();
  limit_rate(&t->limit, 1);
  if (timing_threads(t) > 1) limit_rate(&t->limit, timing_threads(t));
  const double seconds = clock_seconds() - start;
  timing_rest(t);
  return seconds;
}

static void prepare_mode(server *v, const order *o, bench_mode mode, mode_facts *facts) {
  const run_request *request = v->of->request;
  const timed_subject *s = &v->subjects[o->shape];
  timing *t = &v->timings[o->shape][mode];
  facts->takes_long = timing_takes_long(s, mode, request->timing.longest);
  if (facts->takes_long) return;
  const posenc_status status = timing_set_up(t, s, mode, v->of->cache, request->timing.min_time);
  if (status != POSENC_OK) give_up(s, status);
  facts->rows = t->rows;
  facts->iterations = t->iterations;
  facts->seconds = t->seconds;
  facts->limit_bytes = t->limit.bytes;
  if (request->timing.foretell && t->limit.bytes > 0 && !s->device) facts->beside = 2 * time_limit(t);
}

static void prepare_shape(server *v, const order *o, reply *a) {
  timed_subject *s = &v->subjects[o->shape];
  hold(v, s, a);
  if (s->device && !s->device->stay()) isolate_fail("the device tells no times");
  subject_vary(s, v->of->seeds[o->shape]);
  a->plan_count = s->plan_count;
  posenc_status status = subject_prepare(s);
  process_keep_descriptors(v->before); /* plans may have some */
  if (status == POSENC_OK) status = subject_predict(s);
  if (status != POSENC_OK) give_up(s, status);
  a->bytes = s->bytes;
  a->pass = s->pass;
  a->plan = s->plan_seconds;
  a->plan_bytes = s->plan_bytes;
  for (bench_mode mode = 0; mode < BENCH_MODES; mode++) {
    if (!(s->modes & 1u << mode) || !mode_suits(&s->shape->problem, mode) || !mode_suits_kernel(s, mode)) continue;
    isolate_go_on();
    prepare_mode(v, o, mode, &a->modes[mode]);
  }
#ifdef __GLIBC__
  malloc_trim(0); /* otherwise tables of mode malloc stay, and count as the kernel's memory */
#endif
}

/* ---- what memory holds before ------------------------------------------------------------------------------ */

static void fill_region(const timed_subject *s, const slot_terms *terms, int64_t draw, const region *r,
                        unsigned char *memory) {
  const posenc_dtype dtype = s->shape->problem.dtype;
  const size_t element = posenc_dtype_bytes(dtype);
  for (int64_t part = 0; part < r->parts; part++) {
    const int64_t from = part * r->apart + r->first * r->width;
    slot_fill_x(terms->seed, draw, dtype, from, r->rows * r->width, memory + (size_t)from * element);
  }
}

/* Spoils spans at random places of a region. */
static void spoil_lines(server *v, const timed_subject *s, const region *r, unsigned char *memory, int lines) {
  const posenc_dtype dtype = s->shape->problem.dtype;
  const size_t element = posenc_dtype_bytes(dtype);
  for (int n = 0; n < lines; n++) {
    const span at = region_span(r, random_below(&v->spoiled, UINT64_MAX), element);
    slot_spoil(v->spoiled, dtype, at.count, memory + (size_t)at.at * element);
  }
}

/* Spoils a region: all of it if it is small, else some lines. To spoil all of a large table would take longer than its
   calls, and leave it in the caches. */
static void spoil_region(server *v, const timed_subject *s, const region *r, unsigned char *memory) {
  enum { LINES = 1 << 13 };
  const posenc_dtype dtype = s->shape->problem.dtype;
  const size_t element = posenc_dtype_bytes(dtype);
  if (r->parts * r->rows * r->width > (int64_t)LINES * SLOT_SPAN / (int64_t)element) {
    spoil_lines(v, s, r, memory, LINES);
    return;
  }
  for (int64_t part = 0; part < r->parts; part++)
    slot_spoil(v->spoiled++, dtype, r->rows * r->width,
               memory + (size_t)(part * r->apart + r->first * r->width) * element);
}

/* Draws x anew in a region, or spoils the results of a table there, so that right ones must have been written later. */
static void renew_region(server *v, const timed_subject *s, const slot_terms *terms, int64_t draw, const region *r,
                         unsigned char *memory) {
  if (op_is_applied(s->shape->problem.op))
    fill_region(s, terms, draw, r, memory);
  else
    spoil_region(v, s, r, memory);
}

/* Sets what memory holds before a group (doc/timing.md). To be called when the group's first call is the next one. */
static void set_memory(server *v, timing *t, const slot *now) {
  enum { LINES = 16 }; /* which take less time than a call that is timed alone */
  const slot_group *g = &now->group;
  const timed_subject *s = t->subject;
  const bool has_x = op_is_applied(s->shape->problem.op);
  timing ahead = *t;
  if (!(has_x ? g->draws : g->is_last || now->terms.alone) || s->device || t->mode == BENCH_PLAN) return;
  if (timing_allocates(t)) return; /* calls have new memory */
  for (int64_t n = 0; n < g->calls && n < now->terms.slices; n++) {
    const region r = timing_region(&ahead);
    if (has_x || g->is_last)
      renew_region(v, s, &now->terms, g->draw, &r, t->memory);
    else
      spoil_lines(v, s, &r, t->memory, LINES);
    ahead.slice = slot_slice(&now->terms, g->first + n + 1);
  }
}

/* Copies the group's spans of what its last call wrote, for the command's process. Spans of a table are then spoiled,
   except after the last group. Returns how many spans of the slot were copied so far. */
static int note_spans(server *v, const timing *t, const region *r, const slot_group *g, int noted) {
  const timed_subject *s = t->subject;
  const posenc_dtype dtype = s->shape->problem.dtype;
  const size_t element = posenc_dtype_bytes(dtype);
  const bool spoils = !g->is_last && !op_is_applied(s->shape->problem.op);
  for (int i = 0; i < g->spans; i++) {
    const span at = region_span(r, g->random[i], element);
    memcpy(v->notes + (size_t)noted++ * SLOT_SPAN, t->memory + (size_t)at.at * element, (size_t)at.count * element);
  }
  for (int i = 0; spoils && i < g->spans; i++) {
    const span at = region_span(r, g->random[i], element);
    slot_spoil(v->spoiled++, dtype, at.count, t->memory + (size_t)at.at * element);
  }
  return noted;
}

/* ---- slots -------------------------------------------------------------------------------------------------- */

static beside_limits measure_limits(timing *t) {
  const int threads = timing_threads(t);
  const bench_device *device = t->subject->device;
  if (t->limit.bytes == 0) return (beside_limits){NAN, NAN};
  if (device) return (beside_limits){device->rate(t->limit.scales, t->limit.bytes), NAN};
  return (beside_limits){limit_rate(&t->limit, 1), threads > 1 ? limit_rate(&t->limit, threads) : NAN};
}

/*
 * Returns the seconds of a group's calls, and sets the region that the last one wrote. Without a preparation, they are
 * timed from the first to the end of the last, so that many short ones cost two readings of the clock. A preparation
 * also evicts the clock's code, so the clock is read twice before the work, and the second reading counts.
 */
static double time_group(timing *t, const slot_group *g, region *written, posenc_status *status) {
  const bool prepared = timing_has_preparation(t);
  double seconds = 0.0;
  if (prepared) {
    *status = timing_prepare(t);
    *written = timing_region(t);
    clock_seconds();
    const double start = clock_seconds();
    if (*status == POSENC_OK) *status = timing_work(t);
    return clock_seconds() - start;
  }
  const double start = clock_seconds();
  for (int64_t n = 1; *status == POSENC_OK && n < g->calls; n++) *status = timing_work(t);
  const bool is_sliced = timing_slices(t) > 1;
  if (is_sliced) *written = timing_region(t);
  if (*status == POSENC_OK) *status = timing_work(t);
  seconds = clock_seconds() - start;
  if (!is_sliced) *written = timing_region(t);
  return seconds;
}

/* After a slot in mode plan, in which no rows are written: writes some rows of the last plan's problem, by another plan
   of it. */
static void show_plan(server *v, timing *t, const slot *now) {
  const int64_t rows = t->subject->shape->problem.rows, some = rows < SHOWN_ROWS ? rows : SHOWN_ROWS;
  const timed_subject *s = t->subject;
  if (s->device) return;
  const int64_t row = slot_shown(&now->terms, rows, some);
  const region r = region_of(&s->shape->problem, s->batch, rows, row, some);
  renew_region(v, s, &now->terms, 0, &r, t->memory);
  const posenc_status status = timing_show(t, slot_plan(&now->terms, now->terms.calls - 1), row, some);
  if (status != POSENC_OK) give_up(s, status);
}

static void take_slot(server *v, const order *o, reply *a) {
  timed_subject *s = &v->subjects[o->shape];
  timing *t = &v->timings[o->shape][o->mode];
  posenc_status status = POSENC_OK;
  region written;
  int noted = 0;
  hold(v, s, a);
  timing_place(t);
  a->limits = measure_limits(t);
  timing_begin(t, &o->terms);
  timing_wake(t);
  if (s->device) s->device->busy(); /* its time so far does not count */
  for (slot now = slot_begin(&o->terms); status == POSENC_OK && slot_next(&now);) {
    set_memory(v, t, &now);
    const double busy = clock_thread_seconds();
    a->seconds += time_group(t, &now.group, &written, &status);
    a->busy += clock_thread_seconds() - busy;
    if (status == POSENC_OK && !s->device && t->mode != BENCH_PLAN)
      noted = note_spans(v, t, &written, &now.group, noted);
    if (now.group.is_last && t->mode == BENCH_PLAN) show_plan(v, t, &now);
  }
  if (s->device && t->mode == BENCH_HOT) a->seconds = s->device->busy();
  if (status != POSENC_OK) give_up(s, status);
  a->total = t->plan_seconds;
  a->memory = t->memory;
  a->notes = v->notes;
}

/* Writes the whole table, or applies it, by one of the plans. */
static void show(server *v, const order *o, reply *a) {
  timed_subject *s = &v->subjects[o->shape];
  hold(v, s, a);
  timing t = {.subject = s, .mode = BENCH_HOT, .rows = s->shape->problem.rows, .plan = o->plan};
  timing_place(&t);
  const region r = timing_region(&t);
  renew_region(v, s, &o->terms, 0, &r, t.memory);
  const posenc_status status = timing_work(&t);
  if (status != POSENC_OK) give_up(s, status);
  a->memory = t.memory;
}

static void destroy_grown(server *v) {
  for (int i = 0; i < v->grown_count; i++) posenc_plan_destroy(v->grown[i]);
  v->grown_count = 0;
}

/* Makes plans of the shape's table with `rows` rows, each with another base if the kernel takes it. Each plan writes
   its rows, first all at once and then some one by one. */
static void grow(server *v, const order *o, reply *a) {
  enum { SINGLE = 64 };
  static const double longest = 0.25; /* seconds, after which no further plan is made */
  const double start = clock_seconds();
  timed_subject *s = &v->subjects[o->shape];
  posenc_problem plain = posenc_table_of(&s->shape->problem);
  destroy_grown(v);
  plain.rows = o->rows;
  hold(v, s, a);
  const size_t row = (size_t)plain.dim * posenc_dtype_bytes(plain.dtype);
  a->refused = o->rows == 0 || row * (size_t)o->rows > s->bytes;
  for (int n = 0; !a->refused && n < o->plan && n < GROWN && clock_seconds() - start < longest; n++) {
    const double base = plain.base;
    plain.base *= 1.0 + 0x1p-10;
    if (posenc_kernel_refusal(s->kernel, &plain, &s->options)) plain.base = base;
    a->refused = posenc_kernel_refusal(s->kernel, &plain, &s->options) ||
                 posenc_plan_create(&v->grown[v->grown_count], &plain, &s->options) != POSENC_OK;
    if (a->refused) return;
    const posenc_plan *plan = v->grown[v->grown_count++];
    posenc_status status = posenc_execute(plan, 0, plain.rows, s->buffer);
    for (int64_t r = 0; status == POSENC_OK && r < SINGLE && r < plain.rows; r++)
      status = posenc_execute(plan, r, 1, s->buffer);
    if (status != POSENC_OK) give_up(s, status);
    isolate_go_on();
    a->plan_count = v->grown_count;
  }
}

/* Gives the memory of a dtype back, unless it stays. */
static void let_go(server *v, const order *o, posenc_dtype dtype) {
  buffer *held = &v->buffers[dtype];
  if (o->keep) return;
  posenc_free(held->memory);
  held->memory = NULL;
}

static void let_go_of_shape(server *v, const order *o, reply *a) {
  (void)a;
  let_go(v, o, v->subjects[o->shape].shape->problem.dtype);
}

static void take_limits(server *v, const order *o, reply *a) {
  timing *t = &v->timings[o->shape][o->mode];
  a->limits = measure_limits(t);
  timing_rest(t);
  let_go(v, o, t->subject->shape->problem.dtype);
}

/* ---- orders --------------------------------------------------------------------------------------------------- */

static void greet(server *v, const order *o, reply *a) {
  (void)o;
  a->notes = v->notes;
}

static void obey(server *v, const order *o, reply *a) {
  static void (*const obeying[])(server *, const order *, reply *) = {[ORDER_GREET] = greet,
                                                                      [ORDER_OPEN] = open_shape,
                                                                      [ORDER_PREPARE] = prepare_shape,
                                                                      [ORDER_SHOW] = show,
                                                                      [ORDER_GROW] = grow,
                                                                      [ORDER_SLOT] = take_slot,
                                                                      [ORDER_LIMITS] = take_limits,
                                                                      [ORDER_LET_GO] = let_go_of_shape};
  obeying[o->kind](v, o, a);
  const timed_subject *s = &v->subjects[o->shape];
  if (s->device || o->kind <= ORDER_OPEN || o->kind >= ORDER_LIMITS) return;
  process_state *now = process_read(s->kernel->threaded ? NULL : v->before); /* when a plan's threads have ended */
  const char *numbers = fpenv_restore(), *difference = process_difference(v->before, now, s->kernel->threaded);
  if (o->kind == ORDER_GROW && o->rows > 0) difference = NULL; /* its plans may have descriptors */
  if (!difference) difference = numbers;
  if (difference) snprintf(a->words, sizeof a->words, "%s", difference);
  process_free(now);
}

void serve(void *argument) {
  const service *of = argument;
  const size_t shapes = of->request->shape_count;
  if (kernel_of(of)->threaded) process_start_openmp();
  server v = {.of = of,
              .subjects = memory_take(shapes, sizeof *v.subjects),
              .timings = memory_take(shapes, sizeof *v.timings),
              .before = allocated(process_read(NULL)),
              .notes = memory_take(SLOT_NOTES, SLOT_SPAN)};
  order o;
  v.spoiled = (uint64_t)(1e9 * clock_seconds());
  while (isolate_order(&o, sizeof o)) {
    reply a = {.began = clock_seconds()};
    isolate_kernel(kernel_of(of));
    fpenv_set();
    obey(&v, &o, &a);
    isolate_kernel(NULL);
    a.ended = clock_seconds();
    isolate_reply(&a, sizeof a);
  }
  isolate_kernel(kernel_of(of));
  destroy_grown(&v);
  for (size_t i = 0; i < shapes; i++) subject_release(&v.subjects[i]);
  isolate_kernel(NULL);
  isolate_result("served");
}
