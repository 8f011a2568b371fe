/* SPDX-License-Identifier: MIT */
#include "verify/exam.h"

#include "common/number.h"
#include "common/shapes.h"
#include "common/work.h"
#include "verify/cache.h"
#include "verify/explain.h"
#include "verify/fpenv.h"
#include "verify/leaks.h"
#include "verify/relations.h"
#include "verify/rows.h"
#include "verify/stages.h"
#include "verify/stress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- which rows of a shape are looked at ---------------------------------------------------------------- */

/* The largest window fits a cache, and bounds the memory. A window of a sample has at least these rows. */
enum { WINDOW_BYTES = 1 << 21, SAMPLED_ROWS = 64 };

/*
 * One element can break a promise of correct rounding, so such a kernel gets the whole budget. The errors of others are
 * spread over all rows; they get a share of it. These are the largest numbers of windows in a sample: few if the
 * kernel's bound is not derived, as such a kernel may compute each window from position 0 on.
 */
enum { SHARE_OF_BOUNDED = 32, WINDOWS_OF_CLAIM = 64, WINDOWS_OF_NO_CLAIM = 4 };

/* Shares of add and rope, whose table is looked at beside them; and of a rope cache: its own columns are the library's
 * work, the same for all kernels. The published 4096×128 is looked at whole. */
enum { SHARE_OF_APPLIED = 32, SHARE_OF_CACHE = 256 };

typedef struct sampling_plan {
  bool exhaustive;
  int64_t windows, rows; /* at most so many rows a window */
} sampling_plan;

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t share_of(const posenc_kernel *kernel, posenc_op op) {
  if (op_is_applied(op)) return SHARE_OF_APPLIED;
  if (op == POSENC_ROPE_CACHE) return SHARE_OF_CACHE;
  const posenc_bound *b = &kernel->bound;
  return b->derived && b->ulp == 0.5 && b->abs == 0.0 && b->growth == 0.0 ? 1 : SHARE_OF_BOUNDED;
}

static sampling_plan plan_sampling(const posenc_kernel *kernel, const posenc_problem *problem, int64_t budget) {
  const int64_t width = problem->heads * problem->dim, row_bytes = width * (int64_t)posenc_dtype_bytes(problem->dtype);
  const int64_t fitting = most(WINDOW_BYTES / row_bytes, 1),
                affordable = budget / (width / 2) / share_of(kernel, problem->op);
  if (problem->rows <= affordable) {
    const int64_t rows = least(fitting, problem->rows);
    return (sampling_plan){true, rows ? (problem->rows - 1) / rows + 1 : 0, rows};
  }
  /* The first rows and the last rows always, even if the budget is for one. */
  const int64_t enough = kernel->bound.derived ? WINDOWS_OF_CLAIM : WINDOWS_OF_NO_CLAIM,
                windows = least(most(affordable / SAMPLED_ROWS, 2), least(enough, problem->rows));
  return (sampling_plan){false, windows, least(most(affordable / windows, 1), fitting)};
}

static double elements_of(const sampling_plan *v, const posenc_problem *problem) {
  return (double)(problem->heads * problem->dim) *
         (v->exhaustive ? (double)problem->rows : (double)v->windows * (double)v->rows);
}

/* Window `number` of the plan: in order when exhaustive, else the first rows, the last rows, and rows drawn at
 * random. */
static window window_of(const sampling_plan *v, int64_t number, const posenc_problem *problem, uint64_t *random) {
  const int64_t last = problem->rows - v->rows;
  const int64_t row = v->exhaustive || number == 0 ? number * v->rows
                      : number == 1                ? last
                                                   : (int64_t)random_below(random, (uint64_t)last + 1);
  return (window){row, least(v->rows, problem->rows - row)};
}

double exam_elements(const exam *e) {
  if (e->cases) return (double)cases_count(e->cases->cases);
  const sampling_plan v = plan_sampling(e->kernel, &e->of->problem, e->request->budget);
  return elements_of(&v, &e->of->problem);
}

/* ---- running ---------------------------------------------------------------------------------------- */

/* Purposes of random numbers. */
typedef enum stream { OF_ROWS, OF_PIECES, OF_RELATIONS, OF_SEARCH, OF_STAGES, OF_X, OF_CORNERS, STREAMS } stream;

/* A stream of its own for every purpose, number of rows, dim and first position, so that a figure can be had again
 * without the rest of the run. */
static uint64_t stream_of(const verify_request *request, const posenc_problem *problem, stream purpose) {
  uint64_t state = request->seed;
  const uint64_t parts[] = {(uint64_t)problem->rows, (uint64_t)problem->dim, (uint64_t)problem->first, purpose};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    state ^= parts[i];
    state = random_below(&state, UINT64_MAX);
  }
  return state;
}

posenc_options exam_options(const verify_request *request) {
  posenc_options options = posenc_default_options();
  options.threads = request->threads ? request->threads : request->team;
  options.isa = request->isa;
  options.stores = request->stores;
  return options;
}

/* If it was asked for. */
static void explain(const exam *e, json_t *record, subject *s, arena *a) {
  if (!e->request->explain) return;
  isolate_say("where errors come from", 1.0);
  json_object_set_new(record, "explain", explain_json(s, a));
}

/* The first windows are computed by one thread, looked at twice and in pieces; the others by all threads, if the kernel
 * stands that. */
enum { SERIAL_WINDOWS = 2 };

static void say_window(window w, double share) {
  char doing[80];
  snprintf(doing, sizeof doing, "rows %" PRId64 " to %" PRId64, w.row, w.row + w.rows - 1);
  isolate_say(doing, share);
}

/* State that all ways to look at a shape share. */
typedef struct exam_run {
  const exam *e;
  subject s;
  process_state *before;
  uint64_t streams[STREAMS]; /* of random numbers */
} exam_run;

/* The end of all of them, but for hard cases: what is beside the shape, and what the kernel has changed. False when
 * memory runs out. */
static bool conclude(exam_run *t) {
  if (!t->e->brief && !subject_stress(&t->s, t->e->apply_known, &t->streams[OF_CORNERS])) return false;
  subject_check_process(&t->s, t->before);
  subject_finish(&t->s);
  return true;
}

/* The ways return the record, or null when memory runs out. A rope cache is looked at as the table that it is made of,
 * and beside it. */
static json_t *look_at_table(exam_run *t) {
  const exam *e = t->e;
  const verify_request *request = e->request;
  subject *s = &t->s;
  const posenc_problem *problem = &s->shape->problem;
  const bool is_cache = e->of->problem.op == POSENC_ROPE_CACHE;
  const sampling_plan v = plan_sampling(e->kernel, &e->of->problem, request->budget);
  const size_t bytes = (size_t)most(v.rows, CHECKED_ROWS) * (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
  searched search_found;
  cache kept = {.plan = NULL};
  json_t *record = NULL;
  arena *one = arena_create(bytes), *other = arena_create(bytes);
  fast_oracle *reference = fast_create(problem, 0);
  bool enough = one && other && reference && (!is_cache || cache_open(&kept, s, &e->of->problem, v.rows));
  if (enough) {
    isolate_say("rows by many threads at once", 0.0);
    subject_check_threads(s, NULL, NULL);
  }
  for (int64_t n = 0; enough && n < v.windows; n++) {
    const window w = window_of(&v, n, problem, &t->streams[OF_ROWS]);
    say_window(w, (double)n / (double)v.windows);
    subject_check_window(s, w, reference, one, other, n < SERIAL_WINDOWS, &t->streams[OF_PIECES]);
    if (is_cache) cache_check_window(&kept, s, w, one, n < SERIAL_WINDOWS);
    if (n + 1 == SERIAL_WINDOWS) subject_share(s);
  }
  s->shared = false;
  if (enough) {
    isolate_say("rows far apart", 1.0);
    enough = subject_check_relations(s, reference, one, other, &t->streams[OF_RELATIONS]);
  }
  if (enough) {
    isolate_say("its stages", 1.0);
    enough = subject_check_stages(s, one, &t->streams[OF_STAGES]);
  }
  if (enough && problem->rows) enough = subject_search(s, request->search, one, &t->streams[OF_SEARCH], &search_found);
  if (enough && conclude(t)) {
    record = result_of_table(e, s, v.exhaustive ? "exhaustive" : "sampled", &search_found);
    explain(e, record, s, one);
  }
  cache_close(&kept);
  fast_destroy(reference);
  arena_destroy(one);
  arena_destroy(other);
  return record;
}

/* Add and rope. */
static json_t *look_at_applied(exam_run *t) {
  const exam *e = t->e;
  const posenc_problem *problem = &e->of->problem;
  const sampling_plan v = plan_sampling(e->kernel, problem, e->request->budget);
  applied a;
  json_t *record = NULL;
  const int64_t rows = most(v.rows, CHECKED_ROWS);
  const size_t bytes = row_bytes(problem) * (size_t)rows + APPLIED_SPARE * posenc_dtype_bytes(problem->dtype);
  bool enough = applied_open(&a, rows, bytes) && applied_begin(&a, &t->s, t->streams[OF_X], NULL);
  if (enough) {
    isolate_say("rows by many threads at once", 0.0);
    applied_check_threads(&a);
  }
  for (int64_t n = 0; enough && n < v.windows; n++) {
    const window w = window_of(&v, n, problem, &t->streams[OF_ROWS]);
    say_window(w, (double)n / (double)v.windows);
    applied_check_window(&a, w, n < SERIAL_WINDOWS, &t->streams[OF_PIECES]);
    if (n + 1 == SERIAL_WINDOWS) subject_share(&t->s);
  }
  t->s.shared = false;
  if (enough) {
    isolate_say("rows far apart", 1.0);
    enough = applied_check_relations(&a, &t->streams[OF_RELATIONS]);
  }
  if (enough && conclude(t)) record = result_of_applied(e, &a, v.exhaustive ? "exhaustive" : "sampled");
  applied_end(&a);
  applied_close(&a);
  return record;
}

/* Hard-to-round cases alone. */
static json_t *look_at_cases(exam_run *t) {
  const exam *e = t->e;
  const posenc_problem *problem = &e->of->problem;
  arena *rows = arena_create(CHECKED_ROWS * (size_t)problem->dim * posenc_dtype_bytes(problem->dtype));
  json_t *record = NULL;
  if (rows && cases_try(e->cases->cases, &t->s, rows)) {
    subject_finish(&t->s);
    record = result_of_table(e, &t->s, "cases", NULL);
    explain(e, record, &t->s, rows);
  }
  arena_destroy(rows);
  return record;
}

/* A list's checks tell the position, not the row that it is in. */
static void tell_positions(subject *s) {
  const double *positions = s->shape->problem.positions;
  for (int p = 0; positions && p < PROPERTIES; p++) {
    check *c = &s->checks[p];
    if (!c->broken || c->skip || *c->note) continue;
    char index[32] = "";
    if (c->index >= 0) snprintf(index, sizeof index, ", i = %" PRId64, c->index);
    snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " wrong; the worst at p = %s%s", c->broken, c->compared,
             number_of_position(positions[c->position]).text, index);
  }
}

/* A list of positions, and an odd dim. */
static json_t *look_at_rows(exam_run *t) {
  const exam *e = t->e;
  subject *s = &t->s;
  const posenc_problem *problem = &s->shape->problem;
  const bool is_cache = e->of->problem.op == POSENC_ROPE_CACHE;
  const window first = {0, least(CHECKED_ROWS, problem->rows)};
  cache kept = {.plan = NULL};
  json_t *record = NULL;
  arena *rows = arena_create(CHECKED_ROWS * (size_t)problem->dim * posenc_dtype_bytes(problem->dtype));
  const int64_t looked = rows ? subject_check_rows(s, e->request->budget) : -1;
  const bool enough = looked >= 0 && (!is_cache || cache_open(&kept, s, &e->of->problem, CHECKED_ROWS));
  if (enough && is_cache && problem->rows) cache_check_window(&kept, s, first, rows, true);
  if (enough && conclude(t)) {
    tell_positions(s);
    record = result_of_table(e, s, looked == problem->rows ? "exhaustive" : "sampled", NULL);
    if (e->request->explain) json_object_set_new(record, "explain", json_null());
  }
  cache_close(&kept);
  arena_destroy(rows);
  return record;
}

shape exam_shape(const exam *e) {
  return e->of->problem.op == POSENC_ROPE_CACHE ? (shape){.problem = posenc_table_of(&e->of->problem)} : *e->of;
}

const char *exam_refusal(const exam *e) {
  const shape of = exam_shape(e);
  const posenc_options options = exam_options(e->request);
  subject s;
  fpenv_set();
  const char *refusal = subject_open(&s, e->kernel, &of, &options);
  if (!refusal) subject_close(&s);
  return refusal;
}

json_t *examine(const exam *e) {
  const posenc_op op = e->of->problem.op;
  const shape of = exam_shape(e);
  const posenc_options options = exam_options(e->request);
  exam_run t = {.e = e, .before = e->cases ? NULL : process_read(NULL)};
  for (stream of_what = 0; of_what < STREAMS; of_what++)
    t.streams[of_what] = stream_of(e->request, &of.problem, of_what);
  fpenv_set();
  const char *refusal = subject_open(&t.s, e->kernel, &of, &options);
  json_t *record = refusal                         ? result_begin(e, refusal)
                   : e->cases                      ? look_at_cases(&t)
                   : op_is_applied(op)             ? look_at_applied(&t)
                   : rows_are_special(&of.problem) ? look_at_rows(&t)
                                                   : look_at_table(&t);
  if (!refusal) subject_close(&t.s);
  process_free(t.before);
  return record;
}
