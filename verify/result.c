/* SPDX-License-Identifier: MIT */
#include "verify/result.h"

#include "common/field.h"
#include "common/shapes.h"
#include "verify/record.h"
#include "verify/sampling.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the options of the request, such as " --threads 2 --isa generic,avx2 --stores streaming"; null if memory runs
   out. */
static char *how_options(const verify_request *request) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  const char *separator = " --isa ";
  if (!stream) return NULL;
  if (request->threads) fprintf(stream, " --threads %d", request->threads);
  for (unsigned tier = 1; tier & POSENC_ISA_ALL; tier <<= 1)
    if (request->isa & tier) {
      fprintf(stream, "%s%s", separator, posenc_isa_name(tier));
      separator = ",";
    }
  if (request->stores) fprintf(stream, " --stores %s", stores_name(request->stores));
  if (fclose(stream) == 0) return text;
  free(text);
  return NULL;
}

/* Returns the command that verifies this shape in the same way as the exam. */
static json_t *replay_of(const exam *e, const shape *of) {
  const verify_request *request = e->request;
  const char *further = request->replay_options, *gap = further ? " " : "";
  char *how = how_options(request), search[40] = "";
  further = further ? further : "";
  json_t *command = NULL;
  if (how && e->cases) {
    command = json_sprintf("posenc verify %s%s--kernel %s %s%s", further, gap, e->kernel->name, e->cases->option, how);
  } else if (how) {
    char *problem = problem_options_listed(&of->problem, request->list);
    if (!op_is_applied(of->problem.op) && !rows_are_special(&of->problem))
      snprintf(search, sizeof search, " --search %" PRId64, request->search);
    command = json_sprintf("posenc verify %s%s--kernel %s %s%s --seed %" PRIu64 " --budget %" PRId64 "%s", further, gap,
                           e->kernel->name, problem ? problem : "", how, request->seed, request->budget, search);
    free(problem);
  }
  free(how);
  return command;
}

static json_t *witness_json(const witness *w, const exam *e) {
  const posenc_problem *problem = &e->of->problem;
  json_t *made = record_witness(w, replay_of(e, e->of));
  if (problem->positions && problem->rows)
    json_object_set_new(made, "position", json_real(problem->positions[w->position]));
  return made;
}

/* Returns the witness of add or rope, with its elements of x. */
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

/* Returns a witness of the search, which is outside the table. Verifying a table of its row alone finds it again
   without a search. */
static json_t *far_witness_json(const witness *w, const exam *e) {
  verify_request request = *e->request;
  const exam again = {.request = &request, .kernel = e->kernel, .of = e->of, .brief = true};
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

json_t *result_begin(const exam *e, const char *refusal) {
  json_t *part = range_is_whole(e->of_rows) ? NULL : range_json(e->of_rows);
  return json_pack("{s:s, s:o, s:s?, s:o, s:o*}", "kernel", e->kernel->name, "shape", shape_json(e->of), "refusal",
                   refusal, "replay", replay_of(e, e->of), "range", part);
}

/* Returns the record of an exam that compared that number of elements; `mode` says which ones. */
static json_t *record_of(const exam *e, const subject *s, const char *mode, int64_t elements, range_witnesses shown) {
  const posenc_problem *problem = &s->shape->problem;
  json_t *record = result_begin(e, NULL), *checks = json_array();
  for (int p = 0; p < PROPERTIES; p++) {
    if (!(property_subjects(p) & 1u << e->of->problem.op)) continue;
    if (e->cases && s->checks[p].skip && p != ACCURACY) continue; /* these checks need a table */
    if (e->brief && property_is_beside(p)) continue;
    json_t *made = record_check(property_name(p), &s->checks[p]);
    if (!range_is_whole(e->of_rows)) json_object_set_new(made, "found", range_check_json(&s->checks[p]));
    json_array_append_new(checks, made);
  }
  json_t *figures = range_figures(&s->found, elements, s->digest, shown, checks);
  json_object_set_new(record, "mode", json_string(mode));
  json_object_set_new(record, "of", json_integer((json_int_t)(problem->rows * problem->heads * problem->dim)));
  json_object_update(record, figures);
  json_decref(figures);
  if (e->cases) json_object_set_new(record, "digest", json_null());
  return record;
}

/*
 * Returns the parts of errors beyond half an ulp, of the table, of the search and of other problems, by range of
 * positions: {"elements", "farthest", "reach", "rests": [ {"from", "most", "per_position"} … ]}. farthest: the distance
 * from 0 of the table's rows; reach: of all that were measured.
 */
static json_t *rests_json(const subject *s, const searched *found) {
  const posenc_problem *problem = &s->shape->problem;
  accuracy all = s->found;
  json_t *rests = json_array();
  const json_int_t last = problem->rows ? accuracy_distance(problem->first + problem->rows - 1) : 0,
                   begin = problem->rows ? accuracy_distance(problem->first) : 0,
                   farthest = last > begin ? last : begin;
  json_int_t reach = farthest;
  accuracy_merge(&all, &s->beside);
  if (!s->checks[SEARCH].skip) {
    accuracy_merge(&all, &found->found);
    if (found->reach > reach) reach = found->reach;
  }
  for (int r = 0; r < ACCURACY_RANGES; r++)
    json_array_append_new(rests, json_pack("{s:I, s:o, s:o}", "from", (json_int_t)accuracy_range_begin(r), "most",
                                           field_real(all.rest[r].most), "per_position",
                                           field_real(all.rest[r].per_position)));
  return json_pack("{s:I, s:I, s:I, s:o}", "elements", (json_int_t)all.elements, "farthest", farthest, "reach", reach,
                   "rests", rests);
}

json_t *result_of_table(const exam *e, const subject *s, const char *mode, const searched *found) {
  const accuracy *a = &s->found;
  const range_witnesses shown = {witness_json(&a->max_ulp, e), witness_json(&a->max_abs, e),
                                 witness_json(&a->worst, e)};
  json_t *record = record_of(e, s, mode, a->elements, shown);
  if (!s->checks[SEARCH].skip) json_object_set_new(record, "search", searched_json(found, e));
  if (e->request->rests && !e->cases) json_object_set_new(record, "rests", rests_json(s, found));
  return record;
}

json_t *result_of_applied(const exam *e, applied *a, const char *mode) {
  const accuracy *found = &a->s->found;
  const range_witnesses shown = {applied_witness_json(&found->max_ulp, e, a),
                                 applied_witness_json(&found->max_abs, e, a),
                                 applied_witness_json(&found->worst, e, a)};
  json_t *record = record_of(e, a->s, mode, a->elements, shown);
  if (e->request->explain) json_object_set_new(record, "explain", json_null());
  return record;
}
