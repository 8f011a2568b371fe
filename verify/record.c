/* SPDX-License-Identifier: MIT */
#include "verify/record.h"

#include "common/digest.h"
#include "common/environment.h"
#include "common/field.h"
#include "common/work.h"
#include "records/shape.h"
#include "verify/exam.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns a number as text such as "0x1.8p+0". */
static json_t *record_hex(double x) {
  char text[40];
  snprintf(text, sizeof text, "%a", x);
  return json_string(text);
}

void record_send(json_t *record) {
  char *text = record ? json_dumps(record, JSON_COMPACT) : NULL;
  if (text)
    isolate_result(text);
  else
    isolate_say("running out of memory", 0.0);
  free(text);
  json_decref(record);
}

json_t *record_received(isolated *end) {
  json_t *record = end->result ? json_loads(end->result, 0, NULL) : NULL;
  free(end->result);
  end->result = NULL;
  return record;
}

json_t *record_name(const char *name) {
  return field_name(name, "#");
}

json_t *replayed_witness(const witness *w, json_t *replay) {
  return json_pack("{s:o, s:o, s:I, s:I, s:s, s:o, s:o, s:o}", "ulp", field_real(w->ulp), "abs", field_real(w->abs),
                   "position", (json_int_t)w->position, "index", (json_int_t)w->index, "function",
                   w->cosine ? "cos" : "sin", "exact", record_hex(w->exact_high), "got", record_hex(w->got), "replay",
                   replay);
}

json_t *record_histogram(const accuracy *a) {
  json_t *bins = json_array();
  for (int b = 0; b < ACCURACY_BINS; b++)
    json_array_append_new(
        bins, json_pack("{s:o, s:I}", "below", field_real(accuracy_bin_end(b)), "count", (json_int_t)a->bins[b]));
  return bins;
}

static json_t *record_by_position(const accuracy *a) {
  json_t *ranges = json_array();
  for (int r = 0; r < ACCURACY_RANGES; r++) {
    const element_error *most = &a->most[r];
    if (!(most->abs > 0.0)) continue; /* no elements, or no errors */
    json_array_append_new(ranges, json_pack("{s:I, s:o, s:o}", "from", (json_int_t)accuracy_range_begin(r), "max_ulp",
                                            field_real(most->ulp), "max_abs", field_real(most->abs)));
  }
  return ranges;
}

json_t *check_json(const char *name, const check *c) {
  char text[sizeof c->note];
  if (c->skip || *c->note)
    snprintf(text, sizeof text, "%s", c->skip ? c->skip : c->note);
  else if (c->broken && c->index >= 0)
    snprintf(text, sizeof text,
             "%" PRId64 " of %" PRId64 " beyond the bound; the worst at p = %" PRId64 ", i = %" PRId64, c->broken,
             c->compared, c->position, c->index);
  else if (c->broken)
    snprintf(text, sizeof text, "%" PRId64 " of %" PRId64 " wrong; the first at p = %" PRId64, c->broken, c->compared,
             c->position);
  else
    *text = '\0';
  return json_pack("{s:s, s:b, s:b, s:o, s:o, s:I, s:s}", "property", name, "ok", check_ok(c), "skipped",
                   c->skip != NULL, "worst", field_real(c->worst), "bound", field_real(c->bound), "compared",
                   (json_int_t)c->compared, "note", text);
}

json_t *record_command(const char *command) {
  json_t *text = json_string(command);
  return text ? text : json_string("posenc check");
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static json_t *file_entry(const file_record *of) {
  const accuracy *a = of->found;
  const char *tensor = table_tensor(of->table);
  const double elements = (double)a->elements;
  return json_pack(
      "{s:o, s:o, s:n, s:o, s:s, s:o, s:o, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "kernel",
      record_name(of->name), "shape", shape_json(of->shape), "refusal", "replay", record_command(of->command), "format",
      table_format(of->table), "tensor", tensor ? record_name(tensor) : json_null(), "limit",
      of->limit ? json_pack("{s:f, s:f}", "ulp", of->limit->ulp, "abs", of->limit->abs) : json_null(), "mode",
      "exhaustive", "elements", (json_int_t)a->elements, "of", (json_int_t)of->of, "not_finite",
      (json_int_t)of->not_finite, "max_ulp", of->max_ulp, "max_abs", of->max_abs, "worst", of->worst, "mean_ulp",
      field_real(a->sum_ulp / elements), "mean_abs", field_real(a->sum_abs / elements), "misrounded",
      (json_int_t)a->misrounded, "histogram", record_histogram(a), "positions", of->positions, "checks", of->checks);
}

json_t *record_of_file(const file_record *of, json_t *further) {
  json_int_t passed = 0, failed = 0, skipped = 0;
  size_t n;
  const json_t *one;
  json_array_foreach(of->checks, n, one) {
    const bool is_skipped = json_is_true(json_object_get(one, "skipped")),
               ok = json_is_true(json_object_get(one, "ok"));
    *(is_skipped ? &skipped : ok ? &passed : &failed) += 1;
  }
  json_t *entry = file_entry(of);
  const bool whole = entry && further && json_object_update(entry, further) == 0;
  json_decref(further);
  if (!whole) json_decref(entry);
  return whole ? json_pack("{s:s, s:o, s:[], s:[o], s:I, s:I, s:I}", "schema", "posenc-check-1", "environment",
                           environment_json(), "kernels", "records", entry, "passed", passed, "failed", failed,
                           "skipped", skipped)
               : NULL;
}

/* ---- errors by the size of positions --------------------------------------------------------------------------- */

octave *octaves_at(octaves *all, int64_t position) {
  const uint64_t size = position < 0 ? -(uint64_t)position : (uint64_t)position;
  return &all->of[(position < 0 ? 0 : OCTAVES) + (size ? 64 - __builtin_clzll(size) : 0)];
}

void octaves_sum(const octaves *all, accuracy *found) {
  for (int n = 0; n < 2 * OCTAVES; n++) accuracy_merge(found, &all->of[n].found);
}

json_t *octaves_json(const octaves *all, const double *positions) {
  json_t *array = json_array();
  for (int n = 0; n < 2 * OCTAVES; n++) {
    const octave *in = &all->of[n < OCTAVES ? OCTAVES - 1 - n : n];
    if (in->rows == 0) continue;
    json_t *position = positions ? json_real(positions[in->first]) : json_integer(in->first);
    json_array_append_new(array, json_pack("{s:o, s:I, s:o, s:o, s:o, s:I}", "position", position, "rows",
                                           (json_int_t)in->rows, "max_ulp", field_real(in->found.max_ulp.ulp),
                                           "max_abs", field_real(in->found.max_abs.abs), "mean_abs",
                                           field_real(in->found.sum_abs / (double)in->found.elements), "misrounded",
                                           (json_int_t)in->found.misrounded));
  }
  return array;
}

/* ---- segments ------------------------------------------------------------------------------------------------- */

void segment_take(segment *taken, accuracy *found, uint64_t *digest) {
  *taken = (segment){found->sum_ulp, found->sum_abs, *digest};
  found->sum_ulp = found->sum_abs = 0.0;
  *digest = DIGEST_START;
}

uint64_t segments_join(const segment *all, int64_t count, accuracy *found) {
  uint64_t digest = DIGEST_START;
  for (int64_t n = 0; n < count; n++) {
    found->sum_ulp += all[n].sum_ulp;
    found->sum_abs += all[n].sum_abs;
    digest = digest_of(digest, (const unsigned char *)&all[n].digest, sizeof all[n].digest);
  }
  return count == 1 ? all[0].digest : digest;
}

/* ---- results of a range of segments, which are joined below ---------------------------------------------------- */

/* Returns the "range" of a record; null if memory runs out. */
static json_t *range_json(range r) {
  return json_pack("{s:I, s:I, s:I}", "from", (json_int_t)r.from, "to", (json_int_t)r.to, "of", (json_int_t)r.of);
}

json_t *segments_json(const segment *all, int64_t count) {
  json_t *list = json_array();
  for (int64_t n = 0; n < count; n++)
    json_array_append_new(list, json_pack("{s:o, s:o, s:s}", "sum_ulp", field_real(all[n].sum_ulp), "sum_abs",
                                          field_real(all[n].sum_abs), "digest", digest_hex(all[n].digest).text));
  return list;
}

/* Returns the members that joining checks needs in addition to check_json's. */
static json_t *range_check_json(const check *c) {
  return json_pack("{s:I, s:o, s:I, s:I, s:b}", "broken", (json_int_t)c->broken, "share", field_real(c->share),
                   "position", (json_int_t)c->position, "index", (json_int_t)c->index, "noted", *c->note != '\0');
}

/* The witnesses of a result, whose references range_figures takes over, as those of the checks. */
typedef struct range_witnesses {
  json_t *max_ulp, *max_abs, *worst;
} range_witnesses;

static json_t *range_figures(const accuracy *a, int64_t elements, uint64_t digest, range_witnesses shown,
                             json_t *checks) {
  const double counted = a->elements ? (double)a->elements : 1.0;
  return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "digest", digest_hex(digest).text,
                   "elements", (json_int_t)elements, "max_ulp", shown.max_ulp, "max_abs", shown.max_abs, "worst",
                   shown.worst, "mean_ulp", field_real(a->sum_ulp / counted), "mean_abs",
                   field_real(a->sum_abs / counted), "misrounded", (json_int_t)a->misrounded, "histogram",
                   record_histogram(a), "by_position", record_by_position(a), "checks", checks);
}

/* ---- results of exams ------------------------------------------------------------------------------------------ */

/* Returns the options of the request, such as " --threads 2 --isa generic,avx2 --stores streaming"; null if memory runs
   out. */
static char *how_options(const run_request *request) {
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
  const run_request *request = e->request;
  const char *further = request->exam.replay_options, *gap = further ? " " : "";
  char *how = how_options(request), search[40] = "";
  further = further ? further : "";
  json_t *command = NULL;
  if (how && e->cases) {
    command = json_sprintf("posenc verify %s%s--kernel %s %s%s", further, gap, e->kernel->name, e->cases->option, how);
  } else if (how) {
    char *problem = problem_options_listed(&of->problem, request->exam.list);
    if (!op_is_applied(of->problem.op) && !rows_are_special(&of->problem))
      snprintf(search, sizeof search, " --search %" PRId64, request->exam.search);
    command =
        json_sprintf("posenc verify %s%s--kernel %s %s%s --seed %" PRIu64 " --budget %" PRId64 "%s", further, gap,
                     e->kernel->name, problem ? problem : "", how, request->exam.seed, request->exam.budget, search);
    free(problem);
  }
  free(how);
  return command;
}

static json_t *witness_json(const witness *w, const exam *e) {
  const posenc_problem *problem = &e->of->problem;
  json_t *made = replayed_witness(w, replay_of(e, e->of));
  if (problem->positions && problem->rows)
    json_object_set_new(made, "position", field_whole(problem->positions[w->position]));
  return made;
}

/* Returns the witness of add or rope, with its elements of x. */
static json_t *applied_witness_json(const witness *w, const exam *e, applied *a) {
  const posenc_problem *problem = &e->of->problem;
  const int64_t half = problem->dim / 2;
  const applied_x x = applied_x_of(a, w);
  witness in_head = *w;
  in_head.index = w->index % half;
  json_t *made = replayed_witness(&in_head, replay_of(e, e->of)), *given = json_array();
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
  run_request request = *e->request;
  const exam again = {.request = &request, .kernel = e->kernel, .of = e->of, .brief = true};
  posenc_problem row = e->of->problem;
  request.exam.search = 0;
  row.first = w->position;
  row.rows = 1;
  row.padding = POSENC_NO_PADDING;
  const shape of = shape_of(&row);
  return replayed_witness(w, replay_of(&again, &of));
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
    json_t *made = check_json(property_name(p), &s->checks[p]);
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
  if (e->request->exam.rests && !e->cases) json_object_set_new(record, "rests", rests_json(s, found));
  return record;
}

json_t *result_of_applied(const exam *e, applied *a, const char *mode) {
  const accuracy *found = &a->s->found;
  const range_witnesses shown = {applied_witness_json(&found->max_ulp, e, a),
                                 applied_witness_json(&found->max_abs, e, a),
                                 applied_witness_json(&found->worst, e, a)};
  json_t *record = record_of(e, a->s, mode, a->elements, shown);
  if (e->request->exam.explain) json_object_set_new(record, "explain", json_null());
  return record;
}

/* ---- results of ranges of one table, joined -------------------------------------------------------------------- */

/* Returns the number of that key. Null in the record stands for infinity. */
static double real(const json_t *holder, const char *key) {
  return field_number_or(holder, key, INFINITY);
}

/* Returns a witness for comparisons. Its index counts the pairs of all heads; no row has 2^32 pairs. */
static witness witness_of(const json_t *part, const char *key) {
  const json_t *from = json_object_get(part, key);
  const char *function = field_string(from, "function");
  return (witness){.ulp = real(from, "ulp"),
                   .abs = real(from, "abs"),
                   .position = field_integer(from, "position"),
                   .index =
                       (int64_t)((uint64_t)field_integer(from, "head") << 32 | (uint32_t)field_integer(from, "index")),
                   .cosine = strcmp(function, "cos") == 0 || strcmp(function, "second") == 0};
}

static check check_of(const json_t *from) {
  const json_t *found = json_object_get(from, "found");
  check c = {.compared = field_integer(from, "compared"),
             .broken = field_integer(found, "broken"),
             .worst = real(from, "worst"),
             .bound = real(from, "bound"),
             .share = real(found, "share"),
             .position = field_integer(found, "position"),
             .index = field_integer(found, "index")};
  const char *note = field_string(from, "note");
  if (json_is_true(json_object_get(found, "noted"))) snprintf(c.note, sizeof c.note, "%s", note);
  if (json_is_true(json_object_get(from, "skipped"))) c.skip = note;
  return c;
}

/* Returns the results of a part, without the sums. */
static accuracy accuracy_of(const json_t *part) {
  const json_t *bins = json_object_get(part, "histogram"), *each;
  size_t i;
  const check held = check_of(json_array_get(json_object_get(part, "checks"), ACCURACY));
  accuracy a = {.misrounded = field_integer(part, "misrounded"),
                .held = held.compared,
                .beyond = held.broken,
                .max_ulp = witness_of(part, "max_ulp"),
                .max_abs = witness_of(part, "max_abs"),
                .worst_share = held.share,
                .worst = witness_of(part, "worst")};
  for (int b = 0; b < ACCURACY_BINS; b++)
    a.elements += a.bins[b] = field_integer(json_array_get(bins, (size_t)b), "count");
  json_array_foreach(json_object_get(part, "by_position"), i, each)
      a.most[accuracy_range(field_integer(each, "from"))] =
      (element_error){real(each, "max_ulp"), real(each, "max_abs")};
  return a;
}

/* Returns the witness of the part that has the witness of all parts, a new reference. */
static json_t *shown_of(json_t *const *parts, size_t count, const char *key, const witness *of_all) {
  for (size_t i = 0; i < count; i++) {
    const witness w = witness_of(parts[i], key);
    if (w.position == of_all->position && w.index == of_all->index && w.cosine == of_all->cosine)
      return json_incref(json_object_get(parts[i], key));
  }
  return json_incref(json_object_get(parts[0], key));
}

/* Returns a check of all parts. The first part makes all checks. If it skipped one because it has no rows, the check
   counts if another part has rows. */
static json_t *check_joined(json_t *const *parts, size_t count, size_t number) {
  const json_t *first = json_array_get(json_object_get(parts[0], "checks"), number);
  const char *name = field_string(first, "property");
  check all = {.compared = 0};
  for (size_t i = 0; i < count; i++) {
    const json_t *from = json_array_get(json_object_get(parts[i], "checks"), number);
    const check c = check_of(from);
    if (strcmp(field_string(from, "property"), name) != 0) return NULL;
    if (!json_is_object(json_object_get(from, "found")) || json_is_true(json_object_get(from, "ok")) != check_ok(&c))
      return NULL;
    if (i == 0) all.skip = c.skip;
    if (i > 0 && all.compared == 0 && (c.compared || c.broken)) all.skip = NULL;
    check_merge(&all, &c);
    if (!*all.note) memcpy(all.note, c.note, sizeof all.note);
  }
  return check_json(name, &all);
}

static json_t *checks_joined(json_t *const *parts, size_t count) {
  const size_t checks = json_array_size(json_object_get(parts[0], "checks"));
  for (size_t i = 1; i < count; i++)
    if (json_array_size(json_object_get(parts[i], "checks")) != checks) return NULL;
  json_t *list = json_array();
  for (size_t n = 0; list && n < checks; n++)
    if (json_array_append_new(list, check_joined(parts, count, n)) != 0) return json_decref(list), NULL;
  return list;
}

/* Adds the segments of a part. Returns false if they are not those of its range. */
static bool add_segments(segment *all, int64_t of, const json_t *part) {
  const json_t *r = json_object_get(part, "range"), *list = json_object_get(part, "segments"), *each;
  const json_int_t from = field_integer(r, "from"), to = field_integer(r, "to");
  size_t i;
  if (from < 0 || from > to || to > of || (json_int_t)json_array_size(list) != to - from) return false;
  json_array_foreach(list, i, each) all[from + (json_int_t)i] =
      (segment){real(each, "sum_ulp"), real(each, "sum_abs"), strtoull(field_string(each, "digest"), NULL, 16)};
  return true;
}

static json_t *joined(json_t *const *parts, size_t count, const segment *segments, int64_t of) {
  accuracy found = {0};
  json_int_t elements = 0;
  for (size_t i = 0; i < count; i++) {
    const accuracy mine = accuracy_of(parts[i]);
    accuracy_merge(&found, &mine);
    elements += field_integer(parts[i], "elements");
  }
  json_t *made = json_copy(parts[0]), *checks = checks_joined(parts, count);
  const uint64_t digest = segments_join(segments, of, &found);
  const range_witnesses shown = {shown_of(parts, count, "max_ulp", &found.max_ulp),
                                 shown_of(parts, count, "max_abs", &found.max_abs),
                                 shown_of(parts, count, "worst", &found.worst)};
  json_t *figures = range_figures(&found, elements, digest, shown, checks); /* null if one of the arguments is null */
  json_object_del(made, "range");
  json_object_del(made, "segments");
  const bool ok = made && figures && json_object_update(made, figures) == 0;
  json_decref(figures);
  if (ok) return made;
  json_decref(made);
  return NULL;
}

/* Returns the first part whose kernel refused the shape or crashed, as the whole exam would have done; null if there is
   none. */
static json_t *ended(json_t *const *parts, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!*field_string(parts[i], "mode")) return parts[i];
  return NULL;
}

json_t *verify_join(json_t *const *parts, size_t count) {
  const int64_t of = field_integer(json_object_get(parts[0], "range"), "of");
  json_t *end = ended(parts, count), *made;
  if (end) {
    made = json_copy(end);
    json_object_del(made, "range");
    return made;
  }
  segment *segments = of > 0 ? calloc((size_t)of, sizeof *segments) : NULL;
  bool ok = segments;
  for (size_t i = 0; ok && i < count; i++) ok = add_segments(segments, of, parts[i]);
  made = ok ? joined(parts, count, segments, of) : NULL;
  free(segments);
  return made;
}
