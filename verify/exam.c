/* SPDX-License-Identifier: MIT */
#include "verify/exam.h"

#include "common/isolate.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/process.h"
#include "common/shapes.h"
#include "common/work.h"
#include "inspect/files/stored.h"
#include "reference/worst.h"
#include "verify/checks.h"
#include "verify/stress.h"
#include "verify/subject.h"
#include "verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static sampling sampling_of_exam(const exam *e) {
  return sampling_of(e->kernel, &e->of->problem, e->request->exam.budget);
}

double exam_elements(const exam *e) {
  if (e->cases) return (double)cases_count(e->cases->cases);
  const sampling sampled = sampling_of_exam(e);
  return sampling_elements(&sampled, e->of_rows);
}

/* Returns a range of the segments. --explain needs the worst of all rows, so that one range has all of them. */
run_range exam_range(const exam *e, int64_t number, int64_t count) {
  const sampling sampled = sampling_of_exam(e);
  const bool is_one = e->cases || e->request->exam.explain;
  if (!is_one) return sampling_segments(&sampled, number, count);
  return number == 0 ? sampling_segments(&sampled, 0, 1)
                     : (run_range){sampled.segments, sampled.segments, sampled.segments};
}

/* Purposes of random numbers, each with a stream. */
typedef enum stream { OF_ROWS, OF_PIECES, OF_RELATIONS, OF_SEARCH, OF_STAGES, OF_X, OF_CORNERS, STREAMS } stream;

/* Returns the initial state of a stream. Each purpose, number of rows, dim and first position has its own stream, so
   that a figure can be reproduced without the rest of the run; and each operation and dtype has other corners. */
static uint64_t stream_of(const run_request *request, const posenc_problem *problem, stream purpose) {
  uint64_t state = request->exam.seed;
  const uint64_t which = purpose == OF_CORNERS ? (uint64_t)(16 * (problem->op + 1) + problem->dtype) : 0;
  const uint64_t parts[] = {(uint64_t)problem->rows, (uint64_t)problem->dim, (uint64_t)problem->first,
                            which * STREAMS + purpose};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    state ^= parts[i];
    state = random_below(&state, UINT64_MAX);
  }
  return state;
}

/* The first windows are computed by one thread, twice and in pieces; the others by all threads, if the kernel passed
   the check of threads. */
enum { SERIAL_WINDOWS = 2 };

typedef struct exam_run {
  const exam *e;
  subject s;
  process_state *before;
  uint64_t streams[STREAMS]; /* states of the streams of random numbers */
  sampling sampled;
  window_numbers windows;
  segment *segments;      /* segments of the range */
  applied *applied;       /* of add or rope; the others are null then, but the state of the cache */
  arena *one, *other;     /* of tables: rows, and rows made again */
  fast_oracle *reference; /* of tables of successive positions, as `parts` */
  part_team *parts;
  cache kept; /* of a rope cache */
  searched search;
} exam_run;

static bool is_special(const exam_run *t) {
  return rows_are_special(&t->s.shape->problem);
}

static bool is_cache(const exam_run *t) {
  return t->e->of->problem.op == POSENC_ROPE_CACHE;
}

/* Returns window `number` of the range, and reports it as progress. */
static window next_window(exam_run *t, int64_t number) {
  const window w = sampling_window(&t->sampled, number, &t->streams[OF_ROWS]);
  char doing[80];
  snprintf(doing, sizeof doing, "rows %" PRId64 " to %" PRId64, w.row, w.row + w.rows - 1);
  isolate_say(doing, (double)(number - t->windows.first) / (double)(t->windows.end - t->windows.first));
  return w;
}

static bool ends_segment(const exam_run *t, int64_t number) {
  return number + 1 == t->windows.end || (number + 1) % t->sampled.windows_of_segment == 0;
}

static void take_segment(exam_run *t, int64_t number) {
  segment_take(&t->segments[number / t->sampled.windows_of_segment - t->e->of_rows.from], &t->s.found, &t->s.digest);
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

/* Checks calls by many threads at once. */
static void check_threads(exam_run *t, void *argument) {
  const bool again = t->e->brief && !t->e->request->exam.brief; /* the exam that is not brief has more */
  (void)argument;
  isolate_say("rows by many threads at once", 0.0);
  subject_check_threads(&t->s, again, t->applied ? &t->applied->of.of_x : NULL);
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

/* ---- the exam -------------------------------------------------------------------------------------------------- */

/* Prepares what the shape needs. Only windows of successive positions need more than CHECKED_ROWS rows at a time. */
static void open_exam(exam_run *t, applied *room) {
  const posenc_problem *problem = &t->s.shape->problem;
  const bool is_plain = !t->e->cases && !is_special(t);
  const int64_t rows = is_plain && t->sampled.rows > CHECKED_ROWS ? t->sampled.rows : CHECKED_ROWS;
  const size_t bytes = row_bytes(problem) * (size_t)rows;
  if (op_is_applied(problem->op)) {
    t->applied = room;
    applied_open(t->applied, rows, bytes + APPLIED_SPARE * posenc_dtype_bytes(problem->dtype));
    applied_begin(t->applied, &t->s, t->streams[OF_X], NULL);
    return;
  }
  t->one = arena_create(bytes);
  if (is_cache(t)) cache_open(&t->kept, &t->s, &t->e->of->problem, rows);
  if (!is_plain) return;
  t->other = arena_create(bytes);
  t->reference = allocated(fast_create(problem, 0));
  t->parts = parts_create(&t->s, t->reference, t->sampled.rows);
}

static void close_exam(exam_run *t) {
  cache_close(&t->kept);
  if (t->parts) parts_destroy(t->parts);
  fast_destroy(t->reference);
  arena_destroy(t->one);
  arena_destroy(t->other);
  if (!t->applied) return;
  applied_end(t->applied);
  applied_close(t->applied);
}

static void check_window(exam_run *t, window w, bool again) {
  if (t->applied)
    applied_check_window(t->applied, w, again, &t->streams[OF_PIECES]);
  else
    parts_check_window(t->parts, w, t->one, t->other, again, &t->streams[OF_PIECES]);
}

/* Checks the windows of the range. Other ranges than the first share work from their first window on. */
static void look_at_windows(exam_run *t) {
  sampling_skip(&t->sampled, t->windows.first, &t->streams[OF_ROWS]);
  if (!is_first(t)) subject_share(&t->s);
  for (int64_t n = t->windows.first; n < t->windows.end; n++) {
    const window w = next_window(t, n);
    check_window(t, w, n < SERIAL_WINDOWS);
    if (is_cache(t)) cache_check_window(&t->kept, &t->s, w, t->one, n < SERIAL_WINDOWS);
    if (n + 1 == SERIAL_WINDOWS) subject_share(&t->s);
    if (!ends_segment(t, n)) continue;
    if (t->parts) parts_end(t->parts);
    take_segment(t, n);
  }
  t->s.shared = false;
}

/* Checks the rows of a table with a list of positions, with axes, or with an odd dim, which are in one segment. */
static void look_at_rows(exam_run *t) {
  const window first = {0, least(CHECKED_ROWS, t->sampled.all)};
  subject_check_rows(&t->s, &t->sampled, &t->streams[OF_ROWS]);
  if (is_cache(t) && first.rows) cache_check_window(&t->kept, &t->s, first, t->one, true);
  take_segment(t, 0);
}

/* Checks rows far apart, and of a table of successive positions its stages and its worst cases. */
static void look_further(exam_run *t) {
  subject *s = &t->s;
  isolate_say("rows far apart", 1.0);
  if (t->applied) {
    applied_check_relations(t->applied, &t->streams[OF_RELATIONS]);
    return;
  }
  subject_check_relations(s, t->reference, t->one, t->other, &t->streams[OF_RELATIONS]);
  isolate_say("its stages", 1.0);
  subject_check_stages(s, t->one, &t->streams[OF_STAGES]);
  if (t->sampled.all) subject_search(s, t->e->request->exam.search, t->one, &t->streams[OF_SEARCH], &t->search);
}

/* Ends all exams except those of hard cases: makes the checks beside the shape, compares the process's state with that
   before, and joins the segments. */
static void conclude(exam_run *t) {
  if (is_first(t) && !t->e->brief) subject_stress(&t->s, t->e->apply_known, &t->streams[OF_CORNERS]);
  check_once(t, check_process, NULL);
  if (t->sampled.windows) t->s.digest = segments_join(t->segments, t->e->of_rows.to - t->e->of_rows.from, &t->s.found);
  subject_finish(&t->s);
  if (!is_first(t)) t->s.checks[SURVIVAL].compared = 0; /* counted once for all ranges */
  tell_positions(&t->s);
}

/* Makes the result, with what verify_join needs of a range, and what --explain asks for. */
static void make_result(exam_run *t, exam_result *made) {
  const exam *e = t->e;
  const run_range *r = &e->of_rows;
  const char *of_rows = t->sampled.exhaustive ? "exhaustive" : "sampled", *mode = e->cases ? "cases" : of_rows;
  if (e->request->exam.explain) isolate_say("where errors come from", 1.0);
  if (t->applied)
    result_of_applied(made, e, t->applied, mode);
  else
    result_of_table(made, e, &t->s, mode, &t->search);
  if (!e->cases && !range_is_whole(*r)) result_segments(made, t->segments, r->to - r->from);
  made->of.has_explain = e->request->exam.explain;
  if (e->request->exam.explain && !t->applied && !is_special(t))
    made->of.explain = explain(&t->s, t->one, &made->memory);
}

/* Examines a shape: windows of its rows, or hard-to-round cases alone. A rope cache is examined as the table that it is
   made of, and then compared with that table. */
static void look_at(exam_run *t, exam_result *made) {
  applied room;
  open_exam(t, &room);
  if (t->e->cases) {
    cases_try(t->e->cases->cases, &t->s, t->one);
    subject_finish(&t->s);
  } else {
    check_once(t, check_threads, NULL);
    (is_special(t) ? look_at_rows : look_at_windows)(t);
    if (is_first(t) && !is_special(t)) look_further(t);
    conclude(t);
  }
  make_result(t, made);
  close_exam(t);
}

shape exam_shape(const exam *e) {
  return e->of->problem.op == POSENC_ROPE_CACHE ? (shape){.problem = posenc_table_of(&e->of->problem)} : *e->of;
}

void examine(const exam *e, exam_result *made) {
  const shape of = exam_shape(e);
  const posenc_options options = run_options(e->request, NULL);
  if (!e->cases) process_start_openmp();
  exam_run t = {.e = e, .before = e->cases ? NULL : process_read(NULL), .sampled = sampling_of_exam(e)};
  if (e->request->exam.open && e->request->exam.open(e->kernel) && t.before) process_keep_descriptors(t.before);
  t.windows = sampling_windows(&t.sampled, e->of_rows);
  t.segments = memory_take((size_t)(e->of_rows.to - e->of_rows.from), sizeof *t.segments);
  for (stream of_what = 0; of_what < STREAMS; of_what++)
    t.streams[of_what] = stream_of(e->request, &of.problem, of_what);
  fpenv_set();
  const char *refusal = subject_open(&t.s, e->kernel, &of, &options);
  t.s.measured = e->request->exam.rests;
  if (refusal)
    result_begin(made, e, refusal);
  else
    look_at(&t, made);
  if (!refusal) subject_close(&t.s);
  process_free(t.before);
  free(t.segments);
}

/* ---- hard-to-round cases --------------------------------------------------------------------------------- */

struct hard_cases {
  shape shape;
  worst_cases worst;
};

/* The longest time that MPFR may take to confirm the cases, in seconds; larger files are refused. */
static const double patience = 600.0;

/* Confirms the cases in a process of its own: the reference uses OpenMP, and a process that has used OpenMP must not
   fork, as the caller does later. */
static void confirm(void *argument) {
  const hard_cases *c = argument;
  oracle *reference = allocated(oracle_create(&c->worst.problem));
  const worst_case *refuted = worst_refuted(&c->worst, reference);
  char text[80] = "";
  if (refuted) snprintf(text, sizeof text, "line %d: this is not what MPFR finds there", refuted->line);
  isolate_result(text);
  oracle_destroy(reference);
}

static hard_cases *refuse(hard_cases *c, const char *reason, char *why, size_t size) {
  if (reason != why) snprintf(why, size, "%s", reason);
  cases_free(c);
  return NULL;
}

hard_cases *cases_load(const char *path, char *why, size_t size) {
  hard_cases *c = memory_take(1, sizeof *c);
  fault unopened;
  FILE *file = regular_open(path, &unopened);
  if (!file) return refuse(c, unopened.text, why, size);
  const char *wrong = worst_read(file, &c->worst, why, size);
  fclose(file);
  if (wrong) return refuse(c, wrong, why, size);

  isolated end = isolate(confirm, c, &(isolation){.silence = patience});
  const char *found = end.how == ENDED_WELL ? end.result : "MPFR could not be asked";
  if (*found) c = refuse(c, found, why, size);
  free(end.result);
  if (!c) return NULL;
  c->shape.problem = c->worst.problem;
  const posenc_dtype dtype = c->worst.problem.dtype;
  snprintf(c->shape.name, sizeof c->shape.name, "base%g-d%" PRId64 "%s%s.wc", c->worst.problem.base,
           c->worst.problem.dim, dtype == POSENC_F32 ? "" : "-", dtype == POSENC_F32 ? "" : dtype_name(dtype));
  return c;
}

void cases_free(hard_cases *c) {
  if (!c) return;
  worst_free(&c->worst);
  free(c);
}

const shape *cases_shape(const hard_cases *c) {
  return &c->shape;
}

size_t cases_count(const hard_cases *c) {
  return c->worst.count;
}

void cases_try(const hard_cases *c, subject *s, arena *a) {
  const posenc_problem *problem = &c->worst.problem;
  oracle *reference = allocated(oracle_create(problem));
  for (size_t i = 0; i < c->worst.count; i++) {
    const worst_case *now = &c->worst.cases[i];
    char doing[80];
    snprintf(doing, sizeof doing, "the row of position %" PRId64, now->position);
    isolate_say(doing, (double)i / (double)c->worst.count);
    const exact_pair pair = oracle_pair(reference, now->position, now->index);
    const table_pair got = subject_pair(s, s->plan, now->position, now->index, a);
    accuracy_add(&s->found, oracle_format(reference), subject_is_bound(s, now->position) ? &s->bound : NULL,
                 now->cosine ? &pair.cosine : &pair.sine, now->cosine ? got.cosine : got.sine,
                 (element_place){now->position, now->index, now->cosine});
  }
  oracle_destroy(reference);
  if (!s->found.held) s->checks[ACCURACY].skip = "beyond the positions that the bound is for";
}
