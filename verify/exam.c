/* SPDX-License-Identifier: MIT */
#include "verify/exam.h"

#include "common/fpenv.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/random.h"
#include "common/shapes.h"
#include "common/work.h"
#include "verify/applied.h"
#include "verify/checks.h"
#include "verify/sampling.h"
#include "verify/stress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static sampling sampling_of_exam(const exam *e) {
  return sampling_of(e->kernel, &e->of->problem, e->request->budget);
}

static int64_t rows_of_arenas(const sampling *v) {
  return v->rows > CHECKED_ROWS ? v->rows : CHECKED_ROWS;
}

double exam_elements(const exam *e) {
  if (e->cases) return (double)cases_count(e->cases->cases);
  const sampling v = sampling_of_exam(e);
  return sampling_elements(&v, e->of_rows);
}

/* Returns a range of the segments. --explain needs the worst of all rows, so that one range has all of them. */
range exam_range(const exam *e, int64_t number, int64_t count) {
  const sampling v = sampling_of_exam(e);
  const bool is_one = e->cases || e->request->explain;
  if (!is_one) return sampling_range(&v, number, count);
  return number == 0 ? sampling_range(&v, 0, 1) : (range){v.segments, v.segments, v.segments};
}

/* Purposes of random numbers, each with a stream. */
typedef enum stream { OF_ROWS, OF_PIECES, OF_RELATIONS, OF_SEARCH, OF_STAGES, OF_X, OF_CORNERS, STREAMS } stream;

/* Returns the initial state of a stream. Each purpose, number of rows, dim and first position has its own stream, so
   that a figure can be reproduced without the rest of the run; and each operation and dtype has other corners. */
static uint64_t stream_of(const verify_request *request, const posenc_problem *problem, stream purpose) {
  uint64_t state = request->seed;
  const uint64_t which = purpose == OF_CORNERS ? (uint64_t)(16 * (problem->op + 1) + problem->dtype) : 0;
  const uint64_t parts[] = {(uint64_t)problem->rows, (uint64_t)problem->dim, (uint64_t)problem->first,
                            which * STREAMS + purpose};
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

/* Adds the attribution of errors to the record, if the request has --explain. */
static void explain(const exam *e, json_t *record, subject *s, arena *a) {
  if (!e->request->explain) return;
  isolate_say("where errors come from", 1.0);
  json_object_set_new(record, "explain", explain_json(s, a));
}

/* The first windows are computed by one thread, twice and in pieces; the others by all threads, if the kernel passed
   the check of threads. */
enum { SERIAL_WINDOWS = 2 };

/* The state that the exams of all kinds of shapes share. */
typedef struct exam_run {
  const exam *e;
  subject s;
  process_state *before;
  uint64_t streams[STREAMS]; /* states of the streams of random numbers */
  sampling v;
  window_numbers windows;
  segment *segments; /* segments of the range */
} exam_run;

/* Returns window `number` of the range, and reports it as progress. */
static window next_window(exam_run *t, int64_t number) {
  const window w = sampling_window(&t->v, number, &t->streams[OF_ROWS]);
  char doing[80];
  snprintf(doing, sizeof doing, "rows %" PRId64 " to %" PRId64, w.row, w.row + w.rows - 1);
  isolate_say(doing, (double)(number - t->windows.first) / (double)(t->windows.end - t->windows.first));
  return w;
}

static bool ends_segment(const exam_run *t, int64_t number) {
  return number + 1 == t->windows.end || (number + 1) % t->v.windows_of_segment == 0;
}

static void take_segment(exam_run *t, int64_t number) {
  segment_take(&t->segments[number / t->v.windows_of_segment - t->e->of_rows.from], &t->s.found, &t->s.digest);
}

/* Whether the exam has the first range, or all segments. It then also makes the checks that are not of windows. */
static bool is_first(const exam_run *t) {
  return t->e->of_rows.from == 0;
}

/* Makes a check that counts in the first range. Exams of other ranges make it as well, because they rely on it, or
   because the kernel may have changed something there. They count it only if it fails. */
static void check_once(exam_run *t, void (*make)(exam_run *t, void *argument), void *argument) {
  check before[PROPERTIES];
  bool fails = false;
  memcpy(before, t->s.checks, sizeof before);
  make(t, argument);
  for (int p = 0; p < PROPERTIES; p++) fails = fails || t->s.checks[p].broken > before[p].broken;
  if (!is_first(t) && !fails) memcpy(t->s.checks, before, sizeof before);
}

static void check_process(exam_run *t, void *argument) {
  (void)argument;
  subject_check_process(&t->s, t->before);
}

/* Checks calls by many threads at once; argument: of add or rope, else null. */
static void check_threads(exam_run *t, void *argument) {
  const bool again = t->e->brief && !t->e->request->brief; /* the exam that is not brief has more */
  isolate_say("rows by many threads at once", 0.0);
  if (argument)
    applied_check_threads(argument, again);
  else
    subject_check_threads(&t->s, again, NULL, NULL);
}

/* Prepares the windows: checks threads, and skips the random numbers of earlier ranges. Other ranges than the first
   share work from their first window on. */
static void begin_windows(exam_run *t, void *argument) {
  check_once(t, check_threads, argument);
  sampling_skip(&t->v, t->windows.first, &t->streams[OF_ROWS]);
  if (!is_first(t)) subject_share(&t->s);
}

/* Ends all exams except those of hard cases: makes the checks beside the shape, compares the process's state with that
   before, and joins the segments. */
static void conclude(exam_run *t) {
  if (is_first(t) && !t->e->brief) subject_stress(&t->s, t->e->apply_known, &t->streams[OF_CORNERS]);
  check_once(t, check_process, NULL);
  if (t->v.windows) t->s.digest = segments_join(t->segments, t->e->of_rows.to - t->e->of_rows.from, &t->s.found);
  subject_finish(&t->s);
  if (!is_first(t)) t->s.checks[SURVIVAL].compared = 0; /* counted once for all ranges */
}

/* Adds what verify_join needs to the result of a range; returns the record. */
static json_t *concluded(const exam_run *t, json_t *record) {
  const range *r = &t->e->of_rows;
  if (!range_is_whole(*r)) json_object_set_new(record, "segments", segments_json(t->segments, r->to - r->from));
  return record;
}

/* Examines a table; returns the record. A rope cache is examined as the table that it is made of, and then compared
   with that table. */
static json_t *look_at_table(exam_run *t) {
  const exam *e = t->e;
  const verify_request *request = e->request;
  subject *s = &t->s;
  const posenc_problem *problem = &s->shape->problem;
  const bool is_cache = e->of->problem.op == POSENC_ROPE_CACHE;
  const sampling v = t->v;
  const size_t bytes = (size_t)rows_of_arenas(&v) * (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
  searched search_found;
  cache kept = {.plan = NULL};
  arena *one = arena_create(bytes), *other = arena_create(bytes);
  fast_oracle *reference = allocated(fast_create(problem, 0));
  part_team *shared = parts_create(s, reference, v.rows);
  if (is_cache) cache_open(&kept, s, &e->of->problem, v.rows);
  begin_windows(t, NULL);
  for (int64_t n = t->windows.first; n < t->windows.end; n++) {
    const window w = next_window(t, n);
    if (parts_can(s, w)) {
      parts_take(shared, w);
    } else {
      parts_end(shared);
      subject_check_window(s, w, reference, one, other, n < SERIAL_WINDOWS, &t->streams[OF_PIECES]);
    }
    if (is_cache) cache_check_window(&kept, s, w, one, n < SERIAL_WINDOWS);
    if (n + 1 == SERIAL_WINDOWS) subject_share(s);
    if (!ends_segment(t, n)) continue;
    parts_end(shared);
    take_segment(t, n);
  }
  s->shared = false;
  if (is_first(t)) {
    isolate_say("rows far apart", 1.0);
    subject_check_relations(s, reference, one, other, &t->streams[OF_RELATIONS]);
    isolate_say("its stages", 1.0);
    subject_check_stages(s, one, &t->streams[OF_STAGES]);
    if (problem->rows) subject_search(s, request->search, one, &t->streams[OF_SEARCH], &search_found);
  }
  conclude(t);
  json_t *record = concluded(t, result_of_table(e, s, v.exhaustive ? "exhaustive" : "sampled", &search_found));
  explain(e, record, s, one);
  cache_close(&kept);
  parts_destroy(shared);
  fast_destroy(reference);
  arena_destroy(one);
  arena_destroy(other);
  return record;
}

/* Examines add or rope. */
static json_t *look_at_applied(exam_run *t) {
  const exam *e = t->e;
  const sampling v = t->v;
  applied a;
  const posenc_problem *problem = &e->of->problem;
  const int64_t rows = rows_of_arenas(&v);
  const size_t bytes = row_bytes(problem) * (size_t)rows + APPLIED_SPARE * posenc_dtype_bytes(problem->dtype);
  applied_open(&a, rows, bytes);
  applied_begin(&a, &t->s, t->streams[OF_X], NULL);
  begin_windows(t, &a);
  for (int64_t n = t->windows.first; n < t->windows.end; n++) {
    applied_check_window(&a, next_window(t, n), n < SERIAL_WINDOWS, &t->streams[OF_PIECES]);
    if (n + 1 == SERIAL_WINDOWS) subject_share(&t->s);
    if (ends_segment(t, n)) take_segment(t, n);
  }
  t->s.shared = false;
  if (is_first(t)) {
    isolate_say("rows far apart", 1.0);
    applied_check_relations(&a, &t->streams[OF_RELATIONS]);
  }
  conclude(t);
  json_t *record = concluded(t, result_of_applied(e, &a, v.exhaustive ? "exhaustive" : "sampled"));
  applied_end(&a);
  applied_close(&a);
  return record;
}

/* Examines hard-to-round cases alone. */
static json_t *look_at_cases(exam_run *t) {
  const exam *e = t->e;
  const posenc_problem *problem = &e->of->problem;
  arena *rows = arena_create(CHECKED_ROWS * (size_t)problem->dim * posenc_dtype_bytes(problem->dtype));
  cases_try(e->cases->cases, &t->s, rows);
  subject_finish(&t->s);
  json_t *record = result_of_table(e, &t->s, "cases", NULL);
  explain(e, record, &t->s, rows);
  arena_destroy(rows);
  return record;
}

/* Adds the position to the notes of checks on a list, where the position of a witness is a row. */
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

/* Examines a table with a list of positions, with axes, or with an odd dim. */
static json_t *look_at_rows(exam_run *t) {
  const exam *e = t->e;
  subject *s = &t->s;
  const posenc_problem *problem = &s->shape->problem;
  const bool is_cache = e->of->problem.op == POSENC_ROPE_CACHE;
  const sampling v = t->v;
  const window first = {0, least(CHECKED_ROWS, problem->rows)};
  cache kept = {.plan = NULL};
  arena *rows = arena_create(CHECKED_ROWS * (size_t)problem->dim * posenc_dtype_bytes(problem->dtype));
  check_threads(t, NULL);
  subject_check_rows(s, &v);
  if (is_cache) cache_open(&kept, s, &e->of->problem, CHECKED_ROWS);
  if (is_cache && problem->rows) cache_check_window(&kept, s, first, rows, true);
  take_segment(t, 0); /* the only segment */
  conclude(t);
  tell_positions(s);
  json_t *record = result_of_table(e, s, v.exhaustive ? "exhaustive" : "sampled", NULL);
  if (e->request->explain) json_object_set_new(record, "explain", json_null());
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
  if (!e->cases) process_start_openmp();
  exam_run t = {.e = e, .before = e->cases ? NULL : process_read(NULL), .v = sampling_of_exam(e)};
  if (e->request->open && e->request->open(e->kernel) && t.before) process_keep_descriptors(t.before);
  t.windows = sampling_windows(&t.v, e->of_rows);
  t.segments = memory_take((size_t)(e->of_rows.to - e->of_rows.from), sizeof *t.segments);
  for (stream of_what = 0; of_what < STREAMS; of_what++)
    t.streams[of_what] = stream_of(e->request, &of.problem, of_what);
  fpenv_set();
  const char *refusal = subject_open(&t.s, e->kernel, &of, &options);
  t.s.measured = e->request->rests;
  json_t *record = refusal                         ? result_begin(e, refusal)
                   : e->cases                      ? look_at_cases(&t)
                   : op_is_applied(op)             ? look_at_applied(&t)
                   : rows_are_special(&of.problem) ? look_at_rows(&t)
                                                   : look_at_table(&t);
  if (!refusal) subject_close(&t.s);
  process_free(t.before);
  free(t.segments);
  return record;
}
