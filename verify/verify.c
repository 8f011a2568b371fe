/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"

#include "common/contract.h"
#include "common/environment.h"
#include "common/progress.h"
#include "verify/checks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- windows: which rows and places of a shape are looked at -------------------------------------- */

/* An exhaustive pass goes in windows of so many pairs at most; a sampled one in so many windows at least, of so many rows
 * and columns. Some kernels walk to a window from position 0, so a few tall windows cost less than many flat ones. */
enum { WINDOW_PAIRS = 1 << 20, SAMPLED_WINDOWS = 16, SAMPLED_ROWS = 64, SAMPLED_COLUMNS = 256 };

typedef struct survey {
  bool exhaustive;
  int64_t windows, rows, columns; /* at most so many rows a window and places a row */
} survey;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Of a table with more pairs than the budget, as many windows, and then columns, as the budget pays for. */
static survey survey_of(const posenc_problem *problem, int64_t budget) {
  const int64_t pairs = problem->dim / 2;
  if (problem->rows <= budget / pairs) {
    const int64_t rows = least(most(WINDOW_PAIRS / pairs, 1), problem->rows);
    return (survey){true, rows ? (problem->rows - 1) / rows + 1 : 0, rows, pairs};
  }
  const int64_t rows = least(least(SAMPLED_ROWS, problem->rows), budget);
  const int64_t wanted = most(SAMPLED_WINDOWS, budget / rows / least(SAMPLED_COLUMNS, pairs));
  const int64_t windows = least(wanted, least((problem->rows - 1) / rows + 1, budget / rows));
  return (survey){false, windows, rows, least(pairs, budget / rows / windows)};
}

/* Window `number` of the survey: in order when exhaustive, else the first rows, the last rows, and rows drawn at
 * random. */
static void window_place(window *w, const survey *v, int64_t number, const posenc_problem *problem, uint64_t *random) {
  const int64_t last = problem->rows - v->rows;
  w->row = v->exhaustive || number == 0 ? number * v->rows
           : number == 1                ? last
                                        : (int64_t)random_below(random, (uint64_t)last + 1);
  w->rows = least(v->rows, problem->rows - w->row);
  w->count = 0;
  for (int64_t r = 0; r < w->rows; r++)
    for (int64_t c = 0; c < v->columns; c++) {
      const int64_t index =
          v->columns == problem->dim / 2 ? c : (int64_t)random_below(random, (uint64_t)problem->dim / 2);
      w->places[w->count++] = (place){problem->first + w->row + r, index};
    }
}

static bool window_create(window *w, const survey *v) {
  const size_t most = (size_t)(v->rows * v->columns);
  *w = (window){.places = calloc(most ? most : 1, sizeof *w->places),
                .exact = calloc(most ? most : 1, sizeof *w->exact)};
  return w->places && w->exact;
}

static void window_destroy(window *w) {
  free(w->places);
  free(w->exact);
}

/* ---- the record ----------------------------------------------------------------------------------- */

/* JSON has no infinities: what is no number is null. */
static json_t *real(double x) {
  return isfinite(x) ? json_real(x) : json_null();
}

static json_t *hex(double x) {
  char text[40];
  snprintf(text, sizeof text, "%a", x);
  return json_string(text);
}

/* " --threads 2 --isa generic,avx2", as far as it was asked for. */
static void how_options(const verify_request *request, char *text, size_t size) {
  int used = request->threads ? snprintf(text, size, " --threads %d", request->threads) : 0;
  const char *separator = " --isa ";
  *text = used ? *text : '\0';
  for (unsigned tier = 1; tier & POSENC_ISA_ALL; tier <<= 1)
    if (request->isa & tier) {
      used += snprintf(text + used, size - (size_t)used, "%s%s", separator, posenc_isa_name(tier));
      separator = ",";
    }
}

static json_t *witness_json(const witness *w, const subject *s, const verify_request *request) {
  char problem[256], how[64];
  const char *further = request->replay_options;
  problem_options(&s->shape->problem, problem, sizeof problem);
  how_options(request, how, sizeof how);
  json_t *replay =
      json_sprintf("posenc verify %s%s--kernel %s %s%s --seed %" PRIu64 " --budget %" PRId64, further ? further : "",
                   further ? " " : "", s->kernel->name, problem, how, request->seed, request->budget);
  return json_pack("{s:o, s:o, s:I, s:I, s:s, s:o, s:o, s:o}", "ulp", real(w->ulp), "abs", real(w->abs), "position",
                   (json_int_t)w->position, "index", (json_int_t)w->index, "function", w->cosine ? "cos" : "sin",
                   "exact", hex(w->exact_high), "got", hex(w->got), "replay", replay);
}

static json_t *histogram_json(const accuracy *a) {
  json_t *bins = json_array();
  for (int b = 0; b < ACCURACY_BINS; b++)
    json_array_append_new(bins,
                          json_pack("{s:o, s:I}", "below", real(accuracy_bin_end(b)), "count", (json_int_t)a->bins[b]));
  return bins;
}

static json_t *check_json(property p, const check *c) {
  char text[160];
  if (c->skip)
    snprintf(text, sizeof text, "%s", c->skip);
  else if (c->broken && c->index >= 0)
    snprintf(text, sizeof text,
             "%" PRId64 " of %" PRId64 " beyond the bound; the worst at p = %" PRId64 ", i = %" PRId64, c->broken,
             c->compared, c->position, c->index);
  else if (c->broken)
    snprintf(text, sizeof text, "%" PRId64 " of %" PRId64 " wrong; the first at p = %" PRId64, c->broken, c->compared,
             c->position);
  else
    *text = '\0';
  return json_pack("{s:s, s:b, s:b, s:o, s:o, s:I, s:s}", "property", property_name(p), "ok", check_ok(c), "skipped",
                   c->skip != NULL, "worst", real(c->worst), "bound", real(c->bound), "compared",
                   (json_int_t)c->compared, "note", text);
}

typedef struct tally {
  json_int_t passed, failed, skipped;
} tally;

static json_t *record_json(const subject *s, const char *refusal, const survey *v, const verify_request *request,
                           tally *t) {
  json_t *record =
      json_pack("{s:s, s:o, s:s?}", "kernel", s->kernel->name, "shape", shape_json(s->shape), "refusal", refusal);
  if (refusal) {
    t->skipped++;
    return record;
  }
  const accuracy *a = &s->found;
  const double elements = a->elements ? (double)a->elements : 1.0;
  json_t *checks = json_array();
  for (int p = 0; p < PROPERTIES; p++) {
    const check *c = &s->checks[p];
    json_array_append_new(checks, check_json(p, c));
    if (c->skip)
      t->skipped++;
    else if (check_ok(c))
      t->passed++;
    else
      t->failed++;
  }
  json_t *rest = json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "mode",
                           v->exhaustive ? "exhaustive" : "sampled", "elements", (json_int_t)a->elements, "of",
                           (json_int_t)(s->shape->problem.rows * s->shape->problem.dim), "max_ulp",
                           witness_json(&a->max_ulp, s, request), "max_abs", witness_json(&a->max_abs, s, request),
                           "worst", witness_json(&a->worst, s, request), "mean_ulp", real(a->sum_ulp / elements),
                           "mean_abs", real(a->sum_abs / elements), "misrounded", (json_int_t)a->misrounded,
                           "histogram", histogram_json(a), "checks", checks);
  json_object_update(record, rest);
  json_decref(rest);
  return record;
}

/* ---- running ---------------------------------------------------------------------------------------- */

/* A stream of its own for every shape and purpose, so that a figure can be had again without the rest of the run. */
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
  options.threads = request->threads;
  options.isa = request->isa;
  return options;
}

/* All kernels on one shape: the oracle answers once per window. False when memory runs out. */
static bool verify_shape(const verify_request *request, const shape *of, size_t number, json_t *records, tally *t) {
  const posenc_options options = options_of(request);
  const survey v = survey_of(&of->problem, request->budget);
  const size_t kernels = request->kernel_count;
  const size_t window_bytes =
      (size_t)most(v.rows, SAMPLED_ROWS) * (size_t)of->problem.dim * posenc_dtype_bytes(of->problem.dtype);
  subject *subjects = calloc(kernels ? kernels : 1, sizeof *subjects);
  const char **refusals = calloc(kernels ? kernels : 1, sizeof *refusals);
  arena *one = arena_create(window_bytes), *other = arena_create(window_bytes);
  oracle *o = oracle_create(&of->problem);
  window w;
  bool enough = window_create(&w, &v) && subjects && refusals && one && other && o;

  for (size_t k = 0; enough && k < kernels; k++)
    refusals[k] = subject_open(&subjects[k], request->kernels[k], of, &options);

  uint64_t places = stream_of(request, &of->problem, 0);
  for (int64_t n = 0; enough && n < v.windows; n++) {
    window_place(&w, &v, n, &of->problem, &places);
    progress_show("verify", of->name, (double)number + (double)n / (double)v.windows, (double)request->shape_count);
    oracle_pairs(o, w.places, w.count, w.exact);
    for (size_t k = 0; k < kernels; k++) {
      uint64_t pieces = stream_of(request, &of->problem, 1);
      if (!refusals[k]) subject_check_window(&subjects[k], &w, one, other, n < 2, &pieces);
    }
  }
  for (size_t k = 0; enough && k < kernels; k++) {
    uint64_t relations = stream_of(request, &of->problem, 2);
    if (!refusals[k]) {
      enough = subject_check_relations(&subjects[k], o, one, other, &relations);
      subject_finish(&subjects[k]);
    }
    json_array_append_new(records, record_json(&subjects[k], refusals[k], &v, request, t));
  }

  for (size_t k = 0; subjects && k < kernels; k++) subject_close(&subjects[k]);
  window_destroy(&w);
  oracle_destroy(o);
  arena_destroy(one);
  arena_destroy(other);
  free(subjects);
  free(refusals);
  return enough;
}

/* The error against the position: the largest in the 16 rows from each power of two on, what a user of long contexts
 * gets. */
enum { PROFILE_DIM = 128, PROFILE_ROWS = 16, PROFILE_POINTS = 21, PROFILE_PLACES = PROFILE_ROWS * PROFILE_DIM / 2 };

static json_t *profile_kernel(const posenc_kernel *kernel, const shape *of, const posenc_options *options,
                              const window *windows, arena *a) {
  subject s;
  json_t *points = json_array();
  const char *refusal = subject_open(&s, kernel, of, options);
  for (int i = 0; !refusal && i < PROFILE_POINTS; i++) {
    uint64_t unused = 0;
    s.found = (accuracy){0};
    subject_check_window(&s, &windows[i], a, NULL, false, &unused);
    json_array_append_new(points, json_pack("{s:I, s:o, s:o}", "position", (json_int_t)windows[i].row, "max_abs",
                                            real(s.found.max_abs.abs), "max_ulp", real(s.found.max_ulp.ulp)));
  }
  subject_close(&s);
  return json_pack("{s:s, s:i, s:f, s:o}", "kernel", kernel->name, "dim", PROFILE_DIM, "base", of->problem.base,
                   "points", points);
}

static json_t *profile(const verify_request *request) {
  const posenc_problem problem = posenc_table((INT64_C(1) << (PROFILE_POINTS - 1)) + PROFILE_ROWS, PROFILE_DIM);
  const shape of = shape_of(&problem);
  const posenc_options options = options_of(request);
  json_t *curves = json_array();
  window windows[PROFILE_POINTS] = {0};
  place *places = calloc((size_t)PROFILE_POINTS * PROFILE_PLACES, sizeof *places);
  exact_pair *answers = calloc((size_t)PROFILE_POINTS * PROFILE_PLACES, sizeof *answers);
  arena *a = arena_create((size_t)PROFILE_ROWS * PROFILE_DIM * posenc_dtype_bytes(problem.dtype));
  oracle *o = oracle_create(&problem);
  const bool enough = curves && places && answers && a && o;

  for (int i = 0; enough && i < PROFILE_POINTS; i++) {
    const size_t offset = (size_t)i * PROFILE_PLACES;
    window *w = &windows[i];
    *w = (window){INT64_C(1) << i, PROFILE_ROWS, PROFILE_PLACES, places + offset, answers + offset};
    for (int n = 0; n < PROFILE_PLACES; n++)
      w->places[n] = (place){w->row + n / (PROFILE_DIM / 2), n % (PROFILE_DIM / 2)};
    oracle_pairs(o, w->places, w->count, w->exact);
  }
  for (size_t k = 0; enough && k < request->kernel_count; k++) {
    progress_show("verify", "error against position", (double)k, (double)request->kernel_count);
    json_array_append_new(curves, profile_kernel(request->kernels[k], &of, &options, windows, a));
  }
  oracle_destroy(o);
  arena_destroy(a);
  free(answers);
  free(places);
  if (enough) return curves;
  json_decref(curves);
  return NULL;
}

json_t *verify_run(const verify_request *request) {
  json_t *records = json_array(), *kernels = json_array();
  tally t = {0, 0, 0};
  bool enough = records && kernels;
  for (size_t k = 0; enough && k < request->kernel_count; k++)
    json_array_append_new(kernels, kernel_json(request->kernels[k], request->isa));
  for (size_t i = 0; enough && i < request->shape_count; i++)
    enough = verify_shape(request, &request->shapes[i], i, records, &t);
  json_t *curves = enough && request->profile ? profile(request) : json_array();
  progress_clear();
  if (!enough || !curves) {
    json_decref(records);
    json_decref(kernels);
    json_decref(curves);
    return NULL;
  }
  return json_pack("{s:s, s:o, s:o, s:I, s:I, s:o, s:o, s:I, s:I, s:I}", "schema", "posenc-accuracy-1", "environment",
                   environment_json(), "kernels", kernels, "seed", (json_int_t)request->seed, "budget",
                   (json_int_t)request->budget, "records", records, "profile", curves, "passed", t.passed, "failed",
                   t.failed, "skipped", t.skipped);
}
