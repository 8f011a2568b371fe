/* SPDX-License-Identifier: MIT */
#include "verify/exam.h"

#include "common/digest.h"
#include "common/environment.h"
#include "common/memory.h"
#include "common/work.h"
#include "records/make.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void record_send(json_t *record) {
  char *text = record_text(record);
  isolate_result(text);
  free(text);
}

record_witness witness_record(const witness *w, const char *replay, record_memory *in) {
  return (record_witness){.there = true,
                          .ulp = w->ulp,
                          .has_ulp = true,
                          .abs = w->abs,
                          .has_abs = true,
                          .position = {w->position, 0.0},
                          .has_position = true,
                          .index = w->index,
                          .has_index = true,
                          .function = w->cosine ? "cos" : "sin",
                          .exact = record_format(in, "%a", w->exact_high),
                          .got = record_format(in, "%a", w->got),
                          .replay = replay};
}

const record_bin *histogram_record(const accuracy *a, record_memory *in) {
  record_bin *bins = record_allocate(in, ACCURACY_BINS, sizeof *bins);
  for (int b = 0; b < ACCURACY_BINS; b++) bins[b] = (record_bin){.below = accuracy_bin_end(b), .count = a->bins[b]};
  return bins;
}

static void set_by_position(record_result *made, const accuracy *a, record_memory *in) {
  record_position_range *ranges = record_allocate(in, ACCURACY_RANGES, sizeof *ranges);
  made->by_position = ranges;
  made->by_position_count = 0;
  for (int r = 0; r < ACCURACY_RANGES; r++) {
    const element_error *most = &a->most[r];
    if (!(most->abs > 0.0)) continue; /* no elements, or no errors */
    ranges[made->by_position_count++] =
        (record_position_range){.from = accuracy_range_begin(r), .max_ulp = most->ulp, .max_abs = most->abs};
  }
}

/* Returns what is said of a check. */
static const char *note_of(const check *c, record_memory *in) {
  if (c->skip || *c->note) return record_format(in, "%s", c->skip ? c->skip : c->note);
  if (c->broken && c->index >= 0)
    return record_format(in, "%" PRId64 " of %" PRId64 " beyond the bound; the worst at p = %" PRId64 ", i = %" PRId64,
                         c->broken, c->compared, c->position, c->index);
  if (c->broken)
    return record_format(in, "%" PRId64 " of %" PRId64 " wrong; the first at p = %" PRId64, c->broken, c->compared,
                         c->position);
  return "";
}

record_check check_record(const char *name, const check *c, record_memory *in) {
  return (record_check){.there = true,
                        .property = name,
                        .ok = check_ok(c),
                        .skipped = c->skip != NULL,
                        .worst = c->worst,
                        .has_worst = true,
                        .bound = c->bound,
                        .has_bound = true,
                        .compared = c->compared,
                        .has_compared = true,
                        .note = note_of(c, in),
                        .has_note = true};
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

record_check *file_begin(file_result *made, const file_exam *of, size_t checks) {
  record_memory *in = &made->memory;
  const accuracy *a = of->found;
  record_check *all = record_allocate(in, checks, sizeof *all);
  const char *tensor = table_tensor(of->table);
  const posenc_bound *limit = of->limit;
  const double elements = (double)a->elements;
  made->of = (record_file){.there = true,
                           .kernel = record_name(in, of->name, "#"),
                           .shape = shape_record(of->shape, in),
                           .replay = of->command,
                           .format = table_format(of->table),
                           .tensor = tensor ? record_name(in, tensor, "#") : NULL,
                           .limit = {.there = limit, .ulp = limit ? limit->ulp : 0.0, .abs = limit ? limit->abs : 0.0},
                           .mode = "exhaustive",
                           .elements = a->elements,
                           .mean_ulp = a->sum_ulp / elements,
                           .mean_abs = a->sum_abs / elements,
                           .misrounded = a->misrounded,
                           .histogram = histogram_record(a, in),
                           .histogram_count = ACCURACY_BINS,
                           .checks = all,
                           .checks_count = checks,
                           .held = "",
                           .contents = "",
                           .cause = "",
                           .unchecked = ""};
  made->of.shape.name = record_format(in, "%s", of->shape->name);
  return all;
}

record_file_check file_check_of(const record_file *found, record_memory *in) {
  record_counts counts = {0};
  record_count(&counts, found->checks, found->checks_count);
  return (record_file_check){.schema = "posenc-check-1",
                             .environment = environment_record(in),
                             .records = found,
                             .records_count = 1,
                             .passed = counts.passed,
                             .failed = counts.failed,
                             .skipped = counts.skipped};
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
    digest = digest_of(digest, (const unsigned char *)&all[n].digest, sizeof all[n].digest, sizeof all[n].digest);
  }
  return count == 1 ? all[0].digest : digest;
}

/* ---- results of a range of segments, which are joined below ---------------------------------------------------- */

void result_segments(exam_result *made, const segment *all, int64_t count) {
  record_segment *list = record_allocate(&made->memory, (size_t)count, sizeof *list);
  for (int64_t n = 0; n < count; n++)
    list[n] = (record_segment){.sum_ulp = all[n].sum_ulp,
                               .sum_abs = all[n].sum_abs,
                               .digest = record_format(&made->memory, "%s", digest_hex(all[n].digest).text)};
  made->of.segments = list;
  made->of.segments_count = (size_t)count;
}

/* Returns what joining a check needs in addition to check_record's. */
static record_range_check range_check_record(const check *c) {
  return (record_range_check){.there = true,
                              .broken = c->broken,
                              .share = c->share,
                              .position = c->position,
                              .index = c->index,
                              .noted = *c->note != '\0'};
}

/* Sets what is made of all elements. */
static void set_figures(record_result *made, const accuracy *a, uint64_t digest, record_memory *in) {
  const double counted = a->elements ? (double)a->elements : 1.0;
  made->digest = record_format(in, "%s", digest_hex(digest).text);
  made->mean_ulp = a->sum_ulp / counted;
  made->mean_abs = a->sum_abs / counted;
  made->has_mean_ulp = made->has_mean_abs = true;
  made->misrounded = a->misrounded;
  made->has_misrounded = true;
  made->histogram = histogram_record(a, in);
  made->histogram_count = ACCURACY_BINS;
  set_by_position(made, a, in);
}

/* ---- results of exams ------------------------------------------------------------------------------------------ */

/* Returns the options of the request, such as " --threads 2 --isa generic,avx2 --stores streaming". */
static char *how_options(const run_request *request) {
  char *text = NULL;
  size_t size;
  FILE *stream = allocated(open_memstream(&text, &size));
  const char *separator = " --isa ";
  if (request->threads) fprintf(stream, " --threads %d", request->threads);
  for (unsigned tier = 1; tier & POSENC_ISA_ALL; tier <<= 1)
    if (request->isa & tier) {
      fprintf(stream, "%s%s", separator, posenc_isa_name(tier));
      separator = ",";
    }
  if (request->stores) fprintf(stream, " --stores %s", stores_name(request->stores));
  if (fclose(stream) != 0) memory_end();
  return text;
}

/* Returns the command that verifies this shape in the same way as the exam. */
static const char *replay_of(const exam *e, const shape *of, record_memory *in) {
  const run_request *request = e->request;
  const char *further = request->exam.replay_options ? request->exam.replay_options : "", *gap = *further ? " " : "",
             *command;
  char *how = how_options(request), search[40] = "";
  if (e->cases) {
    command =
        record_format(in, "posenc verify %s%s--kernel %s %s%s", further, gap, e->kernel->name, e->cases->option, how);
  } else {
    char *problem = allocated(problem_options_listed(&of->problem, request->exam.list));
    if (!op_is_applied(of->problem.op) && !rows_are_special(&of->problem))
      snprintf(search, sizeof search, " --search %" PRId64, request->exam.search);
    command = record_format(in, "posenc verify %s%s--kernel %s %s%s --seed %" PRIu64 " --budget %" PRId64 "%s", further,
                            gap, e->kernel->name, problem, how, request->exam.seed, request->exam.budget, search);
    free(problem);
  }
  free(how);
  return command;
}

static record_witness witness_of_table(const witness *w, const exam *e, record_memory *in) {
  const posenc_problem *problem = &e->of->problem;
  record_witness made = witness_record(w, replay_of(e, e->of, in), in);
  if (problem->positions && problem->rows) made.position = record_number_of(problem->positions[w->position]);
  return made;
}

/* Returns the witness of add or rope, with its elements of x. */
static record_witness witness_of_applied(const witness *w, const exam *e, applied *a, record_memory *in) {
  const posenc_problem *problem = &e->of->problem;
  const bool is_rope = problem->op == POSENC_ROPE;
  const int64_t half = problem->dim / 2;
  const applied_pair x = applied_x_of(a, w);
  const char **given = record_allocate(in, 2, sizeof *given);
  record_witness made = witness_record(w, replay_of(e, e->of, in), in);
  made.index = w->index % half;
  made.x = given;
  if (is_rope) {
    made.function = w->cosine ? "second" : "first";
    made.head = w->index / half;
    made.has_head = true;
  }
  if (is_rope || !w->cosine) given[made.x_count++] = record_format(in, "%a", x.first);
  if (is_rope || w->cosine) given[made.x_count++] = record_format(in, "%a", x.second);
  return made;
}

/* Returns a witness of the search, which is outside the table. Verifying a table of its row alone finds it again
   without a search. */
static record_witness witness_of_search(const witness *w, const exam *e, record_memory *in) {
  run_request request = *e->request;
  const exam again = {.request = &request, .kernel = e->kernel, .of = e->of, .brief = true};
  posenc_problem row = e->of->problem;
  request.exam.search = 0;
  row.first = w->position;
  row.rows = 1;
  row.padding = POSENC_NO_PADDING;
  const shape of = shape_of(&row);
  return witness_record(w, replay_of(&again, &of, in), in);
}

void result_begin(exam_result *made, const exam *e, const char *refusal) {
  const run_range *r = &e->of_rows;
  made->memory = (record_memory){NULL};
  made->of = (record_result){.there = true,
                             .kernel = e->kernel->name,
                             .shape = shape_record(e->of, &made->memory),
                             .refusal = refusal,
                             .has_refusal = true,
                             .range = {.there = !range_is_whole(*r), .from = r->from, .to = r->to, .of = r->of}};
  made->of.replay = replay_of(e, e->of, &made->memory);
}

/* Whether a result of the exam has that check. */
static bool is_told(const exam *e, property p, const check *c) {
  if (!(property_subjects(p) & 1u << e->of->problem.op)) return false;
  if (e->cases && c->skip && p != ACCURACY) return false; /* these checks need a table */
  return !(e->brief && property_is_beside(p));
}

/* Begins the result of an exam that compared that number of elements; `mode` says which ones. */
static void begin(exam_result *made, const exam *e, const subject *s, const char *mode, int64_t elements) {
  const posenc_problem *problem = &s->shape->problem;
  result_begin(made, e, NULL);
  record_result *of = &made->of;
  record_check *checks = record_allocate(&made->memory, PROPERTIES, sizeof *checks);
  of->checks = checks;
  for (property p = 0; p < PROPERTIES; p++) {
    if (!is_told(e, p, &s->checks[p])) continue;
    record_check *one = &checks[of->checks_count++];
    *one = check_record(property_name(p), &s->checks[p], &made->memory);
    if (!range_is_whole(e->of_rows)) one->found = range_check_record(&s->checks[p]);
  }
  of->mode = mode;
  of->of = problem->rows * problem->heads * problem->dim;
  of->elements = elements;
  of->has_of = of->has_elements = true;
  set_figures(of, &s->found, s->digest, &made->memory);
  of->has_digest = true;
  if (e->cases) of->digest = NULL;
}

/* Returns the parts of errors beyond half an ulp. */
static record_rests rests_of(const subject *s, const searched *found, record_memory *in) {
  const posenc_problem *problem = &s->shape->problem;
  accuracy all = s->found;
  record_range_rest *rests = record_allocate(in, ACCURACY_RANGES, sizeof *rests);
  const int64_t last = problem->rows ? accuracy_distance(problem->first + problem->rows - 1) : 0,
                begin = problem->rows ? accuracy_distance(problem->first) : 0, farthest = last > begin ? last : begin;
  int64_t reach = farthest;
  accuracy_merge(&all, &s->beside);
  if (!s->checks[SEARCH].skip) {
    accuracy_merge(&all, &found->found);
    if (found->reach > reach) reach = found->reach;
  }
  for (int r = 0; r < ACCURACY_RANGES; r++)
    rests[r] = (record_range_rest){
        .from = accuracy_range_begin(r), .most = all.rest[r].most, .per_position = all.rest[r].per_position};
  return (record_rests){.there = true,
                        .elements = all.elements,
                        .farthest = farthest,
                        .reach = reach,
                        .rests = rests,
                        .rests_count = ACCURACY_RANGES};
}

void result_of_table(exam_result *made, const exam *e, const subject *s, const char *mode, const searched *found) {
  const accuracy *a = &s->found;
  begin(made, e, s, mode, a->elements);
  record_result *of = &made->of;
  record_memory *in = &made->memory;
  of->max_ulp = witness_of_table(&a->max_ulp, e, in);
  of->max_abs = witness_of_table(&a->max_abs, e, in);
  of->worst = witness_of_table(&a->worst, e, in);
  if (!s->checks[SEARCH].skip)
    of->search = (record_search){.there = true,
                                 .reach = found->reach,
                                 .worst = witness_of_search(&found->found.worst, e, in),
                                 .nearest = witness_of_search(&found->nearest, e, in),
                                 .from_tie = found->from_midpoint};
  if (e->request->exam.rests && !e->cases) of->rests = rests_of(s, found, in);
}

void result_of_applied(exam_result *made, const exam *e, applied *a, const char *mode) {
  const accuracy *found = &a->s->found;
  begin(made, e, a->s, mode, a->elements);
  made->of.max_ulp = witness_of_applied(&found->max_ulp, e, a, &made->memory);
  made->of.max_abs = witness_of_applied(&found->max_abs, e, a, &made->memory);
  made->of.worst = witness_of_applied(&found->worst, e, a, &made->memory);
}

/* ---- results of ranges of one table, joined -------------------------------------------------------------------- */

/* Returns a witness for comparisons. Its index counts the pairs of all heads; no row has 2^32 pairs. */
static witness witness_of(const record_witness *from) {
  const int64_t head = from->head == RECORD_NONE ? 0 : from->head;
  return (witness){.ulp = record_or_infinity(from->ulp),
                   .abs = record_or_infinity(from->abs),
                   .position = from->position.whole,
                   .index = (int64_t)((uint64_t)head << 32 | (uint32_t)from->index),
                   .cosine = strcmp(from->function, "cos") == 0 || strcmp(from->function, "second") == 0};
}

static check check_of(const record_check *from) {
  const record_range_check *found = &from->found;
  check c = {.compared = from->compared,
             .broken = found->broken,
             .worst = record_or_infinity(from->worst),
             .bound = record_or_infinity(from->bound),
             .share = record_or_infinity(found->share),
             .position = found->position,
             .index = found->index};
  if (found->noted) snprintf(c.note, sizeof c.note, "%s", from->note);
  if (from->skipped) c.skip = from->note;
  return c;
}

/* Returns the results of a part, without the sums. */
static accuracy accuracy_of(const record_result *part) {
  const check held = part->checks_count > ACCURACY ? check_of(&part->checks[ACCURACY]) : (check){.share = INFINITY};
  accuracy a = {.misrounded = part->misrounded,
                .held = held.compared,
                .beyond = held.broken,
                .max_ulp = witness_of(&part->max_ulp),
                .max_abs = witness_of(&part->max_abs),
                .worst_share = held.share,
                .worst = witness_of(&part->worst)};
  for (size_t b = 0; b < ACCURACY_BINS && b < part->histogram_count; b++)
    a.elements += a.bins[b] = part->histogram[b].count;
  RECORD_EACH(each, part, by_position)
    a.most[accuracy_range(each->from)] =
        (element_error){record_or_infinity(each->max_ulp), record_or_infinity(each->max_abs)};
  return a;
}

/* Returns the witness of the part that has the witness of all parts. The witness is at `offset` in a result. */
static record_witness shown_of(const record_result *const *parts, size_t count, size_t offset, const witness *of_all) {
  const record_witness *first = NULL;
  for (size_t i = 0; i < count; i++) {
    const record_witness *one = (const void *)((const char *)parts[i] + offset);
    const witness w = witness_of(one);
    if (!first) first = one;
    if (w.position == of_all->position && w.index == of_all->index && w.cosine == of_all->cosine) return *one;
  }
  return *first;
}

/* Makes a check of all parts. The first part makes all checks. If it skipped one because it has no rows, the check
   counts if another part has rows. Returns false if the parts do not fit together. */
static bool join_check(const record_result *const *parts, size_t count, size_t number, record_check *made,
                       record_memory *in) {
  const char *name = parts[0]->checks[number].property;
  check all = {.compared = 0};
  for (size_t i = 0; i < count; i++) {
    const record_check *from = &parts[i]->checks[number];
    const check c = check_of(from);
    if (strcmp(from->property, name) != 0 || !from->found.there || from->ok != check_ok(&c)) return false;
    if (i == 0) all.skip = c.skip;
    if (i > 0 && all.compared == 0 && (c.compared || c.broken)) all.skip = NULL;
    check_merge(&all, &c);
    if (!*all.note) memcpy(all.note, c.note, sizeof all.note);
  }
  *made = check_record(name, &all, in);
  return true;
}

static bool join_checks(const record_result *const *parts, size_t count, record_result *made, record_memory *in) {
  record_check *checks = record_allocate(in, made->checks_count, sizeof *checks);
  made->checks = checks;
  for (size_t i = 1; i < count; i++)
    if (parts[i]->checks_count != made->checks_count) return false;
  for (size_t n = 0; n < made->checks_count; n++)
    if (!join_check(parts, count, n, &checks[n], in)) return false;
  return true;
}

/* Adds the segments of a part. Returns false if they are not those of its range. */
static bool add_segments(segment *all, int64_t of, const record_result *part) {
  const record_range *r = &part->range;
  if (r->from < 0 || r->from > r->to || r->to > of || (int64_t)part->segments_count != r->to - r->from) return false;
  for (size_t i = 0; i < part->segments_count; i++) {
    const record_segment *each = &part->segments[i];
    all[r->from + (int64_t)i] = (segment){record_or_infinity(each->sum_ulp), record_or_infinity(each->sum_abs),
                                          strtoull(each->digest, NULL, 16)};
  }
  return true;
}

/* Makes the result of all parts. Returns false if they do not fit together. */
static bool join(const record_result *const *parts, size_t count, const segment *segments, record_result *made,
                 record_memory *in) {
  accuracy found = {0};
  *made = *parts[0];
  made->elements = 0;
  for (size_t i = 0; i < count; i++) {
    const accuracy mine = accuracy_of(parts[i]);
    accuracy_merge(&found, &mine);
    made->elements += parts[i]->elements;
  }
  const uint64_t digest = segments_join(segments, made->range.of, &found);
  made->max_ulp = shown_of(parts, count, offsetof(record_result, max_ulp), &found.max_ulp);
  made->max_abs = shown_of(parts, count, offsetof(record_result, max_abs), &found.max_abs);
  made->worst = shown_of(parts, count, offsetof(record_result, worst), &found.worst);
  set_figures(made, &found, digest, in);
  made->range.there = false;
  made->segments = NULL;
  return join_checks(parts, count, made, in);
}

/* Returns the first part whose kernel refused the shape or crashed, as the whole exam would have done; null if there is
   none. */
static const record_result *ended(const record_result *const *parts, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!*parts[i]->mode) return parts[i];
  return NULL;
}

const record_result *verify_join(const record_result *const *parts, size_t count) {
  const int64_t of = parts[0]->range.of;
  const record_result *end = ended(parts, count);
  record_memory memory = {NULL};
  record_result made;
  if (end) {
    made = *end;
    made.range.there = false;
    return record_keep_result(&made);
  }
  if (of <= 0) return NULL;
  segment *segments = memory_take((size_t)of, sizeof *segments);
  bool ok = true;
  for (size_t i = 0; ok && i < count; i++) ok = add_segments(segments, of, parts[i]);
  const record_result *kept = ok && join(parts, count, segments, &made, &memory) ? record_keep_result(&made) : NULL;
  record_release(&memory);
  free(segments);
  return kept;
}
