/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"

#include "common/contract.h"
#include "common/environment.h"
#include "common/field.h"
#include "common/isolate.h"
#include "common/lanes.h"
#include "common/number.h"
#include "common/progress.h"
#include "common/work.h"
#include "verify/applied.h"
#include "verify/cache.h"
#include "verify/cases.h"
#include "verify/checks.h"
#include "verify/explain.h"
#include "verify/fpenv.h"
#include "verify/profile.h"
#include "verify/record.h"
#include "verify/rows.h"
#include "verify/search.h"
#include "verify/stages.h"
#include "verify/stress.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which rows of a shape are looked at ---------------------------------------------------------------- */

/* Windows are at most so large: they fit a cache, and memory stays bounded. A sample has at least so many rows a window. */
enum { WINDOW_BYTES = 1 << 21, SAMPLED_ROWS = 64 };

/*
 * A promise of correct rounding is broken by one element, so that such a kernel gets the whole budget. The others, whose
 * errors are spread over all rows, get a share of it. A sample has so many windows at most; few of them, if
 * the kernel claims no bound: it may walk to each from position 0.
 */
enum { SHARE_OF_BOUNDED = 16, WINDOWS_OF_CLAIM = 64, WINDOWS_OF_NO_CLAIM = 8 };

/* Of add and rope, whose table is looked at beside them; and of a rope cache: its own columns are the library's work, the same for all
 * kernels. The published 4096×128 is looked at whole. */
enum { SHARE_OF_APPLIED = 32, SHARE_OF_CACHE = 256 };

typedef struct survey {
  bool exhaustive;
  int64_t windows, rows; /* at most so many rows a window */
} survey;

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t share_of(const posenc_kernel *kernel, posenc_op op) {
  if (op_is_applied(op)) return SHARE_OF_APPLIED;
  if (op == POSENC_ROPE_CACHE) return SHARE_OF_CACHE;
  const posenc_bound *b = &kernel->bound;
  return b->derived && b->ulp == 0.5 && b->abs == 0.0 && b->growth == 0.0 ? 1 : SHARE_OF_BOUNDED;
}

static survey survey_of(const posenc_kernel *kernel, const posenc_problem *problem, int64_t budget) {
  const int64_t width = problem->heads * problem->dim, row_bytes = width * (int64_t)posenc_dtype_bytes(problem->dtype);
  const int64_t fitting = most(WINDOW_BYTES / row_bytes, 1),
                affordable = budget / (width / 2) / share_of(kernel, problem->op);
  if (problem->rows <= affordable) {
    const int64_t rows = least(fitting, problem->rows);
    return (survey){true, rows ? (problem->rows - 1) / rows + 1 : 0, rows};
  }
  /* The first rows and the last rows always, even if the budget is for one. */
  const int64_t enough = kernel->bound.derived ? WINDOWS_OF_CLAIM : WINDOWS_OF_NO_CLAIM,
                windows = least(most(affordable / SAMPLED_ROWS, 2), least(enough, problem->rows));
  return (survey){false, windows, least(most(affordable / windows, 1), fitting)};
}

static double elements_of(const survey *v, const posenc_problem *problem) {
  return (double)(problem->heads * problem->dim) *
         (v->exhaustive ? (double)problem->rows : (double)v->windows * (double)v->rows);
}

/* Window `number` of the survey: in order when exhaustive, else the first rows, the last rows, and rows drawn at random. */
static window window_of(const survey *v, int64_t number, const posenc_problem *problem, uint64_t *random) {
  const int64_t last = problem->rows - v->rows;
  const int64_t row = v->exhaustive || number == 0 ? number * v->rows
                      : number == 1                ? last
                                                   : (int64_t)random_below(random, (uint64_t)last + 1);
  return (window){row, least(v->rows, problem->rows - row)};
}

/* ---- the record ----------------------------------------------------------------------------------- */

/* " --threads 2 --isa generic,avx2 --stores streaming", as far as it was asked for. */
static void how_options(const verify_request *request, char *text, size_t size) {
  int used = request->threads ? snprintf(text, size, " --threads %d", request->threads) : 0;
  const char *separator = " --isa ";
  *text = used ? *text : '\0';
  for (unsigned tier = 1; tier & POSENC_ISA_ALL; tier <<= 1)
    if (request->isa & tier) {
      used += snprintf(text + used, size - (size_t)used, "%s%s", separator, posenc_isa_name(tier));
      separator = ",";
    }
  if (request->stores) snprintf(text + used, size - (size_t)used, " --stores %s", stores_name(request->stores));
}

/* One kernel on one shape, and what the process that looks at it needs. */
typedef struct exam {
  const verify_request *request;
  const posenc_kernel *kernel;
  const shape *of;
  const verify_cases *cases; /* the elements that alone are looked at; null: all */
  bool brief;                /* the shape alone: of each kernel, operation and dtype one exam looks beside it, too */
} exam;

/* The command that looks at this shape, as the exam does. */
static json_t *replay_of(const exam *e, const shape *of) {
  char how[64];
  const verify_request *request = e->request;
  const char *further = request->replay_options;
  how_options(request, how, sizeof how);
  if (e->cases)
    return json_sprintf("posenc verify %s%s--kernel %s %s%s", further ? further : "", further ? " " : "",
                        e->kernel->name, e->cases->option, how);
  char *problem = problem_options_listed(&of->problem, request->list);
  char search[40] = "";
  if (!op_is_applied(of->problem.op) && !rows_are_special(&of->problem))
    snprintf(search, sizeof search, " --search %" PRId64, request->search);
  json_t *command = json_sprintf("posenc verify %s%s--kernel %s %s%s --seed %" PRIu64 " --budget %" PRId64 "%s",
                                 further ? further : "", further ? " " : "", e->kernel->name, problem ? problem : "",
                                 how, request->seed, request->budget, search);
  free(problem);
  return command;
}

static json_t *witness_json(const witness *w, const exam *e) {
  const posenc_problem *problem = &e->of->problem;
  json_t *made = record_witness(w, replay_of(e, e->of));
  if (problem->positions && problem->rows)
    json_object_set_new(made, "position", json_real(problem->positions[w->position]));
  return made;
}

/* Of add and rope, with the x that it is about. */
static json_t *applied_witness_json(const witness *w, const exam *e, applied *a) {
  const posenc_problem *problem = &e->of->problem;
  const int64_t half = problem->dim / 2;
  const applied_x x = applied_x_of(a, w);
  witness in_head = *w;
  in_head.index = w->index % half;
  json_t *made = record_witness(&in_head, replay_of(e, e->of)), *given = json_array();
  if (problem->op == POSENC_ROPE) {
    json_object_set_new(made, "function", json_string(w->cosine ? "second" : "first"));
    json_object_set_new(made, "head", json_integer(w->index / half));
  }
  if (problem->op == POSENC_ROPE || !w->cosine) json_array_append_new(given, record_hex(x.first));
  if (problem->op == POSENC_ROPE || w->cosine) json_array_append_new(given, record_hex(x.second));
  json_object_set_new(made, "x", given);
  return made;
}

/* A witness of the search lies outside the table: it is had again from a table of its row, without a search. */
static json_t *far_witness_json(const witness *w, const exam *e) {
  verify_request request = *e->request;
  const exam again = {&request, e->kernel, e->of, NULL, true};
  posenc_problem row = e->of->problem;
  request.search = 0;
  row.first = w->position;
  row.rows = 1;
  row.padding = POSENC_NO_PADDING;
  const shape of = shape_of(&row);
  return record_witness(w, replay_of(&again, &of));
}

static json_t *searched_json(const searched *r, const exam *e) {
  return json_pack("{s:I, s:o, s:o, s:o}", "reach", (json_int_t)r->reach, "worst", far_witness_json(&r->found.worst, e),
                   "nearest", far_witness_json(&r->nearest, e), "from_tie", field_real(r->from_tie));
}

typedef struct tally {
  json_int_t passed, failed, skipped;
} tally;

/* What is known of a kernel on a shape before it has done anything. */
static json_t *record_begin(const exam *e, const char *refusal) {
  return json_pack("{s:s, s:o, s:s?, s:o}", "kernel", e->kernel->name, "shape", shape_json(e->of), "refusal", refusal,
                   "replay", replay_of(e, e->of));
}

/* As the record shows them. */
typedef struct witnesses {
  json_t *max_ulp, *max_abs, *worst;
} witnesses;

/* What was found of so many elements; `mode` says which were looked at. */
static json_t *record_of(const exam *e, const subject *s, const char *mode, int64_t elements, witnesses shown) {
  const posenc_problem *problem = &s->shape->problem;
  json_t *record = record_begin(e, NULL), *checks = json_array();
  const accuracy *a = &s->found;
  const double counted = a->elements ? (double)a->elements : 1.0;
  for (int p = 0; p < PROPERTIES; p++) {
    if (!property_is_of(p, e->of->problem.op)) continue;
    if (e->cases && s->checks[p].skip && p != ACCURACY) continue; /* it takes a table */
    if (e->brief && property_is_beside(p)) continue;
    json_array_append_new(checks, record_check(property_name(p), &s->checks[p]));
  }
  json_t *rest = json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "mode", mode, "elements",
                           (json_int_t)elements, "of", (json_int_t)(problem->rows * problem->heads * problem->dim),
                           "max_ulp", shown.max_ulp, "max_abs", shown.max_abs, "worst", shown.worst, "mean_ulp",
                           field_real(a->sum_ulp / counted), "mean_abs", field_real(a->sum_abs / counted), "misrounded",
                           (json_int_t)a->misrounded, "histogram", record_histogram(a), "checks", checks);
  char digest[17];
  snprintf(digest, sizeof digest, "%016" PRIx64, s->digest);
  json_object_set_new(record, "digest", e->cases ? json_null() : json_string(digest));
  json_object_update(record, rest);
  json_decref(rest);
  return record;
}

/* `hunted` is not read where the search was skipped. */
static json_t *table_record_of(const exam *e, const subject *s, const char *mode, const searched *hunted) {
  const accuracy *a = &s->found;
  const witnesses shown = {witness_json(&a->max_ulp, e), witness_json(&a->max_abs, e), witness_json(&a->worst, e)};
  json_t *record = record_of(e, s, mode, a->elements, shown);
  if (!s->checks[SEARCH].skip) json_object_set_new(record, "search", searched_json(hunted, e));
  return record;
}

static json_t *applied_record_of(const exam *e, applied *a, const char *mode) {
  const accuracy *found = &a->s->found;
  const witnesses shown = {applied_witness_json(&found->max_ulp, e, a), applied_witness_json(&found->max_abs, e, a),
                           applied_witness_json(&found->worst, e, a)};
  json_t *record = record_of(e, a->s, mode, a->elements, shown);
  if (e->request->explain) json_object_set_new(record, "explain", json_null());
  return record;
}

/* ---- running ---------------------------------------------------------------------------------------- */

/* A stream of its own for every purpose, number of rows, dim and first position, so that a figure can be had again without the rest of
   the run. */
static uint64_t stream_of(const verify_request *request, const posenc_problem *problem, uint64_t purpose) {
  uint64_t state = request->seed;
  const uint64_t parts[] = {(uint64_t)problem->rows, (uint64_t)problem->dim, (uint64_t)problem->first, purpose};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    state ^= parts[i];
    state = random_below(&state, UINT64_MAX);
  }
  return state;
}

static posenc_options options_of(const verify_request *request) {
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

/* So many windows are computed by one thread, looked at twice and in pieces; the others by all threads, if the kernel stands that. */
enum { SERIAL_WINDOWS = 2 };

static void say_window(window w, double share) {
  char doing[80];
  snprintf(doing, sizeof doing, "rows %" PRId64 " to %" PRId64, w.row, w.row + w.rows - 1);
  isolate_say(doing, share);
}

/* What the ways to look at a shape begin with. */
typedef struct sitting {
  const exam *e;
  subject s;
  process_state *before;
  uint64_t rows, pieces, relations, hunt, stages, x, corners; /* streams of random numbers */
} sitting;

/* The end of all of them, but for hard cases: what is beside the shape, and what the kernel has changed. False when memory runs out. */
static bool conclude(sitting *t) {
  if (!t->e->brief && !subject_stress(&t->s, &t->corners)) return false;
  subject_check_process(&t->s, t->before);
  subject_finish(&t->s);
  return true;
}

/* The ways return the record, or null when memory runs out. A rope cache is looked at as the table that it is made of, and beside it. */
static json_t *look_at_table(sitting *t) {
  const exam *e = t->e;
  const verify_request *request = e->request;
  subject *s = &t->s;
  const posenc_problem *problem = &s->shape->problem;
  const bool is_cache = e->of->problem.op == POSENC_ROPE_CACHE;
  const survey v = survey_of(e->kernel, &e->of->problem, request->budget);
  const size_t bytes = (size_t)most(v.rows, CHECKED_ROWS) * (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
  searched hunted;
  cache kept = {.plan = NULL};
  json_t *record = NULL;
  arena *one = arena_create(bytes), *other = arena_create(bytes);
  fast_oracle *truth = fast_create(problem, 0);
  bool enough = one && other && truth && (!is_cache || cache_open(&kept, s, &e->of->problem, v.rows));
  if (enough) {
    isolate_say("rows by many threads at once", 0.0);
    subject_check_threads(s);
  }
  for (int64_t n = 0; enough && n < v.windows; n++) {
    const window w = window_of(&v, n, problem, &t->rows);
    say_window(w, (double)n / (double)v.windows);
    subject_check_window(s, w, truth, one, other, n < SERIAL_WINDOWS, &t->pieces);
    if (is_cache) cache_check_window(&kept, s, w, one, n < SERIAL_WINDOWS);
    if (n + 1 == SERIAL_WINDOWS) subject_share(s);
  }
  s->shared = false;
  if (enough) {
    isolate_say("rows far apart", 1.0);
    enough = subject_check_relations(s, truth, one, other, &t->relations);
  }
  if (enough) {
    isolate_say("its stages", 1.0);
    enough = subject_check_stages(s, one, &t->stages);
  }
  if (enough && problem->rows) enough = subject_search(s, request->search, one, &t->hunt, &hunted);
  if (enough && conclude(t)) {
    record = table_record_of(e, s, v.exhaustive ? "exhaustive" : "sampled", &hunted);
    explain(e, record, s, one);
  }
  cache_close(&kept);
  fast_destroy(truth);
  arena_destroy(one);
  arena_destroy(other);
  return record;
}

/* Add and rope. */
static json_t *look_at_applied(sitting *t) {
  const exam *e = t->e;
  const posenc_problem *problem = &e->of->problem;
  const survey v = survey_of(e->kernel, problem, e->request->budget);
  applied a;
  json_t *record = NULL;
  bool enough = applied_open(&a, &t->s, v.rows, t->x, NULL);
  if (enough) {
    isolate_say("rows by many threads at once", 0.0);
    applied_check_threads(&a);
  }
  for (int64_t n = 0; enough && n < v.windows; n++) {
    const window w = window_of(&v, n, problem, &t->rows);
    say_window(w, (double)n / (double)v.windows);
    applied_check_window(&a, w, n < SERIAL_WINDOWS, &t->pieces);
    if (n + 1 == SERIAL_WINDOWS) subject_share(&t->s);
  }
  t->s.shared = false;
  if (enough) {
    isolate_say("rows far apart", 1.0);
    enough = applied_check_relations(&a, &t->relations);
  }
  if (enough && conclude(t)) record = applied_record_of(e, &a, v.exhaustive ? "exhaustive" : "sampled");
  applied_close(&a);
  return record;
}

/* Hard-to-round cases alone. */
static json_t *look_at_cases(sitting *t) {
  const exam *e = t->e;
  const posenc_problem *problem = &e->of->problem;
  arena *rows = arena_create(CHECKED_ROWS * (size_t)problem->dim * posenc_dtype_bytes(problem->dtype));
  json_t *record = NULL;
  if (rows && cases_try(e->cases->cases, &t->s, rows)) {
    subject_finish(&t->s);
    record = table_record_of(e, &t->s, "cases", NULL);
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
static json_t *look_at_rows(sitting *t) {
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
    record = table_record_of(e, s, looked == problem->rows ? "exhaustive" : "sampled", NULL);
    if (e->request->explain) json_object_set_new(record, "explain", json_null());
  }
  cache_close(&kept);
  arena_destroy(rows);
  return record;
}

/* The record; null when memory runs out. */
static json_t *examine(const exam *e) {
  const posenc_op op = e->of->problem.op;
  const shape table = {.problem = posenc_table_of(&e->of->problem)};
  const shape *of = op == POSENC_ROPE_CACHE ? &table : e->of;
  const posenc_options options = options_of(e->request);
  uint64_t streams[7];
  for (uint64_t n = 0; n < 7; n++) streams[n] = stream_of(e->request, &of->problem, n);
  sitting t = {.e = e,
               .before = process_read(NULL),
               .rows = streams[0],
               .pieces = streams[1],
               .relations = streams[2],
               .hunt = streams[3],
               .stages = streams[4],
               .x = streams[5],
               .corners = streams[6]};
  fpenv_set();
  const char *refusal = subject_open(&t.s, e->kernel, of, &options);
  json_t *record = refusal                          ? record_begin(e, refusal)
                   : e->cases                       ? look_at_cases(&t)
                   : op_is_applied(op)              ? look_at_applied(&t)
                   : rows_are_special(&of->problem) ? look_at_rows(&t)
                                                    : look_at_table(&t);
  if (!refusal) subject_close(&t.s);
  process_free(t.before);
  return record;
}

/* ---- in processes of their own ------------------------------------------------------------------------ */

static void tell(json_t *result) {
  char *text = result ? json_dumps(result, JSON_COMPACT) : NULL;
  if (text)
    isolate_result(text);
  else
    isolate_say("running out of memory", 0.0);
  free(text);
  json_decref(result);
}

static void examine_aloud(void *argument) {
  const exam *e = argument;
  arena_tell_faults();
  tell(examine(e));
}

/* The check that a kernel failed which did not live to tell. */
static json_t *check_of_death(const isolated *end) {
  char text[400];
  isolated_words(end, text, sizeof text);
  const property of_what = strcmp(end->last, MEMORY_LAST_WORDS) == 0 ? MEMORY : SURVIVAL;
  const check broken = {.compared = 1, .broken = 1, .worst = 1.0};
  json_t *made = record_check(property_name(of_what), &broken);
  json_object_set_new(made, "note", json_string(text));
  return made;
}

static json_t *record_of_death(const exam *e, const isolated *end) {
  json_t *record = record_begin(e, NULL);
  json_object_set_new(record, "checks", json_pack("[o]", check_of_death(end)));
  return record;
}

/* How far a run has come, in elements, and how many the process at work has. */
typedef struct showing {
  const char *stage, *name;
  double done, total, mine;
  bool unborn; /* a process could not be made, and the run ends */
} showing;

static void show(const char *doing, double share, void *argument) {
  const showing *s = argument;
  (void)doing;
  progress_show(s->stage, s->name, s->done + share * s->mine, s->total, "elements");
}

static double elements_of_exam(const exam *e) {
  if (e->cases) return (double)cases_count(e->cases->cases);
  const survey v = survey_of(e->kernel, &e->of->problem, e->request->budget);
  return elements_of(&v, &e->of->problem);
}

static void hear(const char *doing, double share, void *argument) {
  const double *elements = argument;
  (void)doing;
  lanes_progress(share * *elements);
}

/* Null when memory runs out, or no process can be made, which errno tells then. */
static json_t *examined(const exam *e) {
  double elements = elements_of_exam(e);
  exam mine = *e;
  isolated end = isolate(examine_aloud, &mine, &(isolation){&e->kernel, 1, e->request->silence, hear, &elements});
  errno = end.how == ENDED_UNBORN ? EAGAIN : ENOMEM;
  json_t *record = end.result                ? json_loads(end.result, 0, NULL)
                   : end.how == ENDED_UNBORN ? NULL
                                             : record_of_death(e, &end);
  free(end.result);
  return record;
}

static void count_checks(const json_t *record, tally *t) {
  size_t i;
  json_t *each;
  if (json_is_string(json_object_get(record, "refusal"))) t->skipped++;
  json_array_foreach(json_object_get(record, "checks"), i, each) {
    if (json_is_true(json_object_get(each, "skipped")))
      t->skipped++;
    else if (json_is_true(json_object_get(each, "ok")))
      t->passed++;
    else
      t->failed++;
  }
}

/* ---- beyond the tables ------------------------------------------------------------------------------------ */

static void unique_aloud(void *argument) {
  (void)argument;
  tell(profile_unique_json());
}

/* Null when memory runs out, or *unborn. No kernel is at work there, so that no limit of theirs holds. */
static json_t *unique(bool *unborn) {
  static const double patience = 600.0;
  showing s = {.stage = "verify", .name = "distances of rows", .mine = (double)PROFILE_ROWS * PROFILE_DIM};
  s.total = s.mine;
  isolated end = isolate(unique_aloud, NULL, &(isolation){.silence = patience, .heard = show, .argument = &s});
  json_t *found = end.result ? json_loads(end.result, 0, NULL) : NULL;
  free(end.result);
  *unborn = end.how == ENDED_UNBORN;
  return found;
}

/* One kernel, and how much of it is wanted. */
typedef struct portrait {
  const verify_request *request;
  const posenc_kernel *kernel;
  verify_profile wanted;
} portrait;

static void profile_aloud(void *argument) {
  const portrait *of = argument;
  const posenc_options options = options_of(of->request);
  arena_tell_faults();
  tell(profile_json(of->kernel, &options, of->wanted == VERIFY_SCAN));
}

/* About so many elements are looked at, most of them by the scan. */
static double profile_elements(verify_profile wanted) {
  static const double elements[] = {
      [VERIFY_NO_PROFILE] = 0.0, [VERIFY_POINTS] = 0x1p16, [VERIFY_SCAN] = (double)PROFILE_ROWS * PROFILE_DIM};
  return elements[wanted];
}

/* Empty, and with the "failure", if the kernel dies of it. Null when memory runs out, or s->unborn. */
static json_t *profiled(portrait of, showing *s) {
  s->name = of.kernel->name;
  s->mine = profile_elements(of.wanted);
  isolated end = isolate(profile_aloud, &of, &(isolation){&of.kernel, 1, of.request->silence, show, s});
  json_t *profile = end.result ? json_loads(end.result, 0, NULL) : NULL;
  free(end.result);
  s->done += s->mine;
  s->unborn = end.how == ENDED_UNBORN;
  if (s->unborn || profile) return profile;
  profile = profile_empty_json(of.kernel);
  json_object_set_new(profile, "failure", check_of_death(&end));
  return profile;
}

static size_t count_exams(const verify_request *request) {
  size_t exams = 0;
  for (size_t i = 0; i < request->part_count; i++)
    exams += request->parts[i].shape_count * request->parts[i].kernel_count;
  return exams;
}

/* Part by part; all kernels of it on the first shape, then on the next. */
static exam exam_of(const verify_request *request, size_t number) {
  const verify_part *part = request->parts;
  for (; number >= part->shape_count * part->kernel_count; part++) number -= part->shape_count * part->kernel_count;
  const size_t table = number / part->kernel_count;
  return (exam){request, part->kernels[number % part->kernel_count], &part->shapes[table],
                part->cases ? &part->cases[table] : NULL, request->brief};
}

/* Is no exam before it of the same kernel, operation and dtype? */
static bool is_first(const verify_request *request, size_t number) {
  const exam e = exam_of(request, number);
  const posenc_problem *problem = &e.of->problem;
  for (size_t n = 0; n < number; n++) {
    const exam before = exam_of(request, n);
    if (before.kernel == e.kernel && before.of->problem.dtype == problem->dtype && before.of->problem.op == problem->op)
      return false;
  }
  return true;
}

/* Each kernel once, in the order of the parts. Null when memory runs out. */
static json_t *contracts(const verify_request *request) {
  json_t *kernels = json_array();
  for (size_t i = 0; i < request->part_count; i++)
    for (size_t k = 0; kernels && k < request->parts[i].kernel_count; k++) {
      const posenc_kernel *kernel = request->parts[i].kernels[k];
      if (field_find(kernels, "name", kernel->name)) continue;
      if (json_array_append_new(kernels, kernel_json(kernel, request->isa)) == 0) continue;
      json_decref(kernels);
      kernels = NULL;
    }
  return kernels;
}

/* ---- what there is to do ----------------------------------------------------------------------------------- */

static size_t count_profiles(const verify_request *request) {
  size_t profiles = 0;
  for (size_t i = 0; i < request->part_count; i++)
    if (request->parts[i].profile) profiles += request->parts[i].kernel_count;
  return profiles;
}

/* Part by part; all kernels of it that asks for one. */
static portrait portrait_of(const verify_request *request, size_t number) {
  const verify_part *part = request->parts;
  for (; !part->profile || number >= part->kernel_count; part++)
    if (part->profile) number -= part->kernel_count;
  return (portrait){request, part->kernels[number], part->profile};
}

/* Exams, profiles, and if there are any, the distances of exact rows: which of them are this shard's, in that order. Null when memory runs out. */
static bool *deal(const verify_request *request) {
  const size_t exams = count_exams(request), profiles = count_profiles(request), works = exams + profiles + 1;
  double *sizes = calloc(works, sizeof *sizes);
  for (size_t n = 0; sizes && n < exams; n++) {
    const exam e = exam_of(request, n);
    sizes[n] = elements_of_exam(&e);
  }
  for (size_t n = 0; sizes && n < profiles; n++) sizes[exams + n] = profile_elements(portrait_of(request, n).wanted);
  if (sizes && profiles) sizes[exams + profiles] = profile_elements(VERIFY_SCAN);
  bool *mine = sizes ? shard_deal(request->only, sizes, works) : NULL;
  free(sizes);
  return mine;
}

/* Those that are set in `mine`, behind which is whether the distances are. False when memory runs out, or *unborn. */
static bool add_profiles(const verify_request *request, const bool *mine, json_t *curves, json_t **distances, tally *t,
                         bool *unborn) {
  const size_t profiles = count_profiles(request);
  showing s = {.stage = "verify: profile"};
  for (size_t n = 0; n < profiles; n++)
    if (mine[n]) s.total += profile_elements(portrait_of(request, n).wanted);
  *distances = profiles && mine[profiles] ? unique(unborn) : json_null();
  bool enough = *distances;
  for (size_t n = 0; enough && n < profiles; n++) {
    if (!mine[n]) continue;
    json_t *profile = profiled(portrait_of(request, n), &s);
    t->failed += json_object_get(profile, "failure") != NULL;
    enough = json_array_append_new(curves, profile) == 0;
  }
  *unborn |= s.unborn;
  return enough;
}

/* ---- shards -------------------------------------------------------------------------------------------------- */

static json_t *part_json(const verify_part *part) {
  json_t *kernels = json_array(), *shapes = json_array(), *hard = json_array();
  for (size_t k = 0; k < part->kernel_count; k++) json_array_append_new(kernels, json_string(part->kernels[k]->name));
  for (size_t t = 0; t < part->shape_count; t++) json_array_append_new(shapes, shape_json(&part->shapes[t]));
  for (size_t t = 0; part->cases && t < part->shape_count; t++)
    json_array_append_new(hard, json_string(part->cases[t].digest.text));
  return json_pack("{s:o, s:o, s:o, s:i}", "kernels", kernels, "shapes", shapes, "cases", hard, "profile",
                   (int)part->profile);
}

/* All that two shards of one run have in common. */
static json_t *run_json(const verify_request *request) {
  json_t *parts = json_array(), *plugins = json_array();
  for (size_t i = 0; i < request->part_count; i++) json_array_append_new(parts, part_json(&request->parts[i]));
  for (size_t i = 0; i < request->plugin_count; i++)
    json_array_append_new(plugins, json_string(request->plugins[i].text));
  return json_pack("{s:I, s:I, s:I, s:I, s:i, s:s, s:b, s:b, s:o, s:o}", "seed", (json_int_t)request->seed, "budget",
                   (json_int_t)request->budget, "search", (json_int_t)request->search, "isa", (json_int_t)request->isa,
                   "threads", request->threads, "stores", stores_name(request->stores), "explain", request->explain,
                   "brief", request->brief, "plugins", plugins, "parts", parts);
}

static json_t *shard_json(const verify_request *request, const bool *mine) {
  const size_t exams = count_exams(request);
  return json_pack("{s:i, s:i, s:o, s:o, s:o}", "number", request->only.number, "of", request->only.of, "exams",
                   shard_numbers(mine, exams), "profiles", shard_numbers(mine + exams, count_profiles(request)), "run",
                   run_json(request));
}

/* Exams side by side. */
typedef struct examination {
  const verify_request *request;
  json_t **records; /* of each exam */
  tally counts;
  showing progress;
  bool unborn; /* a process could not be made */
} examination;

/* In a lane: the record as text, empty where no process can be made. */
static char *examine_piece(size_t number, void *argument) {
  const examination *all = argument;
  exam e = exam_of(all->request, number);
  e.brief = e.brief || !is_first(all->request, number);
  json_t *record = examined(&e);
  char *text = record ? json_dumps(record, JSON_COMPACT) : errno == EAGAIN ? strdup("") : NULL;
  json_decref(record);
  return text;
}

/* Only the process that looked at it knows whether its kernel does the table: what is refused is not work that was done. */
static void take_record(size_t number, const char *text, void *argument) {
  examination *all = argument;
  const exam e = exam_of(all->request, number);
  const double elements = elements_of_exam(&e);
  json_t *record = json_loads(text, 0, NULL);
  all->unborn = all->unborn || !*text;
  all->records[number] = record;
  count_checks(record, &all->counts);
  if (json_is_string(json_object_get(record, "refusal")))
    all->progress.total -= elements;
  else
    all->progress.done += elements;
}

static void show_lanes(double at_work, void *argument) {
  const showing *s = &((const examination *)argument)->progress;
  progress_show(s->stage, "", s->done + at_work, s->total, "elements");
}

typedef struct piece {
  size_t number;
  double elements;
} piece;

static int larger_first(const void *a, const void *b) {
  const piece *x = a, *y = b;
  return x->elements != y->elements ? (x->elements < y->elements) - (x->elements > y->elements)
                                    : (x->number > y->number) - (x->number < y->number);
}

/* The records of the exams that are set in `mine`, in their order. Null, and errno set, when memory runs out or no process can be made. */
static json_t *examine_all(const verify_request *request, const bool *mine, tally *counts) {
  const size_t exams = count_exams(request);
  examination all = {
      .request = request, .records = calloc(exams + 1, sizeof(json_t *)), .progress = {.stage = "verify"}};
  piece *pieces = calloc(exams + 1, sizeof *pieces);
  size_t *order = calloc(exams + 1, sizeof *order), count = 0;
  json_t *records = json_array();
  bool enough = all.records && pieces && order && records;
  for (size_t n = 0; enough && n < exams; n++) {
    const exam e = exam_of(request, n);
    if (!mine[n]) continue;
    pieces[count++] = (piece){n, elements_of_exam(&e)};
    all.progress.total += elements_of_exam(&e);
  }
  if (enough) {
    qsort(pieces, count, sizeof *pieces, larger_first);
    for (size_t i = 0; i < count; i++) order[i] = pieces[i].number;
    const lanes l = {order, count, examine_piece, take_record, show_lanes, &all};
    errno = ENOMEM;
    enough = lanes_run(&l) && !all.unborn;
    if (all.unborn) errno = EAGAIN;
  }
  const int error = errno;
  for (size_t n = 0; n < exams && all.records; n++)
    if (all.records[n]) json_array_append_new(records, all.records[n]);
  free(all.records);
  free(pieces);
  free(order);
  *counts = all.counts;
  if (enough) return records;
  json_decref(records);
  errno = error;
  return NULL;
}

json_t *verify_run(const verify_request *given) {
  verify_request request = *given;
  const size_t exams = count_exams(given);
  json_t *kernels = contracts(given), *curves = json_array(), *distances = NULL, *records = NULL, *part = NULL;
  tally t = {0, 0, 0};
  bool *mine = deal(given), unborn = false;
  request.team = lanes_threads(1);
  errno = ENOMEM;
  if (kernels && curves && mine) records = examine_all(&request, mine, &t);
  bool enough = records && add_profiles(&request, mine + exams, curves, &distances, &t, &unborn);
  if (unborn) errno = EAGAIN;
  if (enough && shard_is_part(given->only)) {
    part = shard_json(given, mine);
    enough = part;
  }
  const int error = errno;
  free(mine);
  progress_clear();
  if (!enough) {
    json_decref(records);
    json_decref(kernels);
    json_decref(curves);
    json_decref(distances);
    errno = error;
    return NULL;
  }
  return json_pack("{s:s, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:I, s:I, s:I, s:o*}", "schema", "posenc-accuracy-1",
                   "environment", environment_json(), "kernels", kernels, "seed", (json_int_t)given->seed, "budget",
                   (json_int_t)given->budget, "records", records, "profile", curves, "unique", distances, "passed",
                   t.passed, "failed", t.failed, "skipped", t.skipped, "shard", part);
}
