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
#include "verify/arena.h"
#include "verify/exam.h"
#include "verify/profile.h"
#include "verify/record.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct tally {
  json_int_t passed, failed, skipped;
} tally;

/* ---- processes of their own --------------------------------------------------------------------------- */

static void send_result(json_t *result) {
  char *text = result ? json_dumps(result, JSON_COMPACT) : NULL;
  if (text)
    isolate_result(text);
  else
    isolate_say("running out of memory", 0.0);
  free(text);
  json_decref(result);
}

static void check_worker(void *argument) {
  const exam *e = argument;
  arena_tell_faults();
  send_result(examine(e));
}

/* Returns the failed check of a kernel whose process ended before its result. */
static json_t *check_of_end(const isolated *end) {
  char text[400];
  describe_exit(end, text, sizeof text);
  const property of_what = strcmp(end->last, MEMORY_LAST_WORDS) == 0 ? MEMORY : SURVIVAL;
  const check broken = {.compared = 1, .broken = 1, .worst = 1.0};
  json_t *made = record_check(property_name(of_what), &broken);
  json_object_set_new(made, "note", json_string(text));
  return made;
}

static json_t *record_of_end(const exam *e, const isolated *end) {
  json_t *record = result_begin(e, NULL);
  json_object_set_new(record, "checks", json_pack("[o]", check_of_end(end)));
  return record;
}

/* Returns the record of an exam that is not made, because the kernel hung in that of another shape: each would last
   until the time limit. */
static json_t *record_left_out(const exam *e, const exam *hung) {
  char why[200];
  snprintf(why, sizeof why, "left out, because the kernel hung on %s", hung->of->name);
  const check skipped = {.skip = why};
  json_t *record = result_begin(e, NULL);
  json_object_set_new(record, "checks", json_pack("[o]", record_check(property_name(SURVIVAL), &skipped)));
  return record;
}

static bool is_left_out(const json_t *record) {
  const json_t *first = json_array_get(json_object_get(record, "checks"), 0);
  return json_is_true(json_object_get(first, "skipped")) &&
         strcmp(field_string(first, "property"), property_name(SURVIVAL)) == 0;
}

/* The progress of a run in elements; `mine` are the elements of the current process. */
typedef struct showing {
  const char *stage, *name;
  double done, total, mine;
  bool fork_failed; /* a process could not be created, and the run ends */
} showing;

static void show(const char *doing, double share, void *argument) {
  const showing *s = argument;
  (void)doing;
  progress_show(s->stage, s->name, s->done + share * s->mine, s->total, "elements");
}

static void report_progress(const char *doing, double share, void *argument) {
  const double *elements = argument;
  (void)doing;
  lanes_progress(share * *elements);
}

/* Returns the record of an exam, made in its own process. Returns null and sets errno, EAGAIN without a process. Sets
   *hangs if the kernel gave no sign of life. */
static json_t *examined(const exam *e, bool *hangs) {
  double elements = exam_elements(e);
  exam mine = *e;
  isolated end =
      isolate(check_worker, &mine, &(isolation){&e->kernel, 1, e->request->silence, report_progress, &elements, NULL});
  *hangs = end.how == ENDED_BY_SILENCE;
  errno = end.how == ENDED_FORK_FAILED ? EAGAIN : ENOMEM;
  json_t *record = end.result                     ? json_loads(end.result, 0, NULL)
                   : end.how == ENDED_FORK_FAILED ? NULL
                                                  : record_of_end(e, &end);
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

static void unique_worker(void *argument) {
  (void)argument;
  send_result(profile_unique_json());
}

/* Returns the distances of exact rows, which no kernel computes; null if memory runs out, or if *fork_failed is set. */
static json_t *unique(bool *fork_failed) {
  static const double patience = 600.0;
  showing s = {.stage = "verify: rows", .name = "distances of rows", .mine = (double)PROFILE_ROWS * PROFILE_DIM};
  s.total = s.mine;
  isolated end = isolate(unique_worker, NULL, &(isolation){.silence = patience, .on_progress = show, .argument = &s});
  json_t *found = end.result ? json_loads(end.result, 0, NULL) : NULL;
  free(end.result);
  *fork_failed = end.how == ENDED_FORK_FAILED;
  return found;
}

/* The profile of a kernel, and how much of it is requested. */
typedef struct profile_task {
  const verify_request *request;
  const posenc_kernel *kernel;
  verify_profile wanted;
} profile_task;

static void profile_worker(void *argument) {
  const profile_task *of = argument;
  const posenc_options options = exam_options(of->request);
  arena_tell_faults();
  send_result(profile_json(of->kernel, &options, of->wanted == VERIFY_SCAN));
}

/* Returns about how many elements are compared, most of them by the scan. */
static double profile_elements(verify_profile wanted) {
  static const double elements[] = {
      [VERIFY_NO_PROFILE] = 0.0, [VERIFY_POINTS] = 0x1p16, [VERIFY_SCAN] = (double)PROFILE_ROWS * PROFILE_DIM};
  return elements[wanted];
}

/* Whether exams of the kernel were left out, because it hung. */
static bool has_hung(const json_t *records, const posenc_kernel *kernel) {
  size_t i;
  json_t *record;
  json_array_foreach(records, i, record) {
    if (is_left_out(record) && strcmp(field_string(record, "kernel"), kernel->name) == 0) return true;
  }
  return false;
}

/* Returns the empty profile of a kernel whose process ended so. */
static json_t *failed_profile(const posenc_kernel *kernel, const isolated *end) {
  json_t *profile = profile_empty_json(kernel);
  json_object_set_new(profile, "failure", check_of_end(end));
  return profile;
}

/* Returns a kernel's profile, or an empty one with a "failure" if it crashes; null without memory or process. */
static json_t *profiled(profile_task of, showing *s) {
  s->name = of.kernel->name;
  s->mine = profile_elements(of.wanted);
  isolated end = isolate(profile_worker, &of, &(isolation){&of.kernel, 1, of.request->silence, show, s, NULL});
  json_t *profile = end.result ? json_loads(end.result, 0, NULL) : NULL;
  free(end.result);
  s->done += s->mine;
  s->fork_failed = end.how == ENDED_FORK_FAILED;
  return s->fork_failed || profile ? profile : failed_profile(of.kernel, &end);
}

static size_t count_exams(const verify_request *request) {
  size_t exams = 0;
  for (size_t i = 0; i < request->part_count; i++)
    exams += request->parts[i].shape_count * request->parts[i].kernel_count;
  return exams;
}

/* Returns exam `number`. Exams are ordered by part, then by shape, then by kernel. */
static exam exam_of(const verify_request *request, size_t number) {
  const verify_part *part = request->parts;
  for (; number >= part->shape_count * part->kernel_count; part++) number -= part->shape_count * part->kernel_count;
  const size_t table = number / part->kernel_count;
  return (exam){.request = request,
                .kernel = part->kernels[number % part->kernel_count],
                .of = &part->shapes[table],
                .cases = part->cases ? &part->cases[table] : NULL,
                .brief = request->brief};
}

static bool is_like(const exam *a, const exam *b) {
  return a->kernel == b->kernel && a->of->problem.dtype == b->of->problem.dtype &&
         exam_shape(a).problem.op == exam_shape(b).problem.op;
}

static void refusal_worker(void *argument) {
  arena_tell_faults();
  const char *refusal = exam_refusal(argument);
  isolate_result(refusal ? "refused" : "taken");
}

/* The answer of a kernel to the shape of an exam. */
enum { NOT_ASKED, REFUSED, TAKEN, SILENT };

/* The state of an exam that the lanes share. */
typedef struct asked {
  _Atomic unsigned char answer;
  atomic_size_t hung_in; /* of the first exam of a kernel: the piece in which it hung, and 1; 0 if it did not */
} asked;

/* Whether the kernel computes the shape of an exam. If it crashes when asked, it does not, and its exam reports
   that. */
static bool is_taken(const exam *e, asked *of) {
  if (of->answer == NOT_ASKED) {
    exam mine = *e;
    isolated end = isolate(refusal_worker, &mine, &(isolation){&e->kernel, 1, e->request->silence, NULL, NULL, NULL});
    const bool taken = end.result && strcmp(end.result, "taken") == 0;
    of->answer = end.how == ENDED_BY_SILENCE ? SILENT : taken ? TAKEN : REFUSED;
    free(end.result);
  }
  return of->answer == TAKEN;
}

/* Whether this is the first exam of its kernel, operation and dtype whose shape the kernel computes. A kernel that does
   not answer is asked no more. */
static bool is_first(const verify_request *request, size_t number, asked *known) {
  const exam e = exam_of(request, number);
  for (size_t n = 0; n < number; n++) {
    const exam before = exam_of(request, n);
    if (!is_like(&before, &e) || before.cases) continue;
    if (is_taken(&before, &known[n])) return false;
    if (known[n].answer == SILENT) return true;
  }
  return true;
}

/* Whether an exam of an earlier kernel on this shape checks the library's code for add and rope, which all kernels
   without an apply of their own use. */
static bool is_apply_known(const verify_request *request, size_t number, asked *known) {
  const exam e = exam_of(request, number);
  if (!op_is_applied(e.of->problem.op) || e.kernel->apply) return false;
  for (size_t n = 0; n < number; n++) {
    const exam before = exam_of(request, n);
    if (before.of == e.of && !before.kernel->apply && is_taken(&before, &known[n]) && is_first(request, n, known))
      return true;
  }
  return false;
}

/* Returns the contracts of all kernels, each once, in the order of the parts; null if memory runs out. */
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

/* ---- the work of a run -------------------------------------------------------------------------------------- */

static size_t count_profiles(const verify_request *request) {
  size_t profiles = 0;
  for (size_t i = 0; i < request->part_count; i++)
    if (request->parts[i].profile) profiles += request->parts[i].kernel_count;
  return profiles;
}

/* Returns profile `number`. Profiles are ordered by part, then by kernel. */
static profile_task profile_task_of(const verify_request *request, size_t number) {
  const verify_part *part = request->parts;
  for (; !part->profile || number >= part->kernel_count; part++)
    if (part->profile) number -= part->kernel_count;
  return (profile_task){request, part->kernels[number], part->profile};
}

/* An exam, or the part of a large one that a shard may have. */
typedef struct exam_part {
  size_t exam;
  range of_rows;
} exam_part;

/* The parts of all exams, exam by exam: of each as many as there are shards, or as it has segments. */
typedef struct exam_parts {
  exam_part *all;
  size_t count;
} exam_parts;

static bool split_exams(const verify_request *request, exam_parts *p) {
  const int64_t shards = shard_is_part(request->only) ? request->only.of : 1;
  const size_t exams = count_exams(request);
  size_t room = 0;
  *p = (exam_parts){NULL, 0};
  for (size_t n = 0; n < exams; n++) {
    const exam e = exam_of(request, n);
    const int64_t segments = exam_range(&e, 0, 1).of, parts = segments < shards ? segments : shards;
    exam_part *more = reallocarray(p->all, room += (size_t)parts, sizeof *more);
    if (!more) return false;
    p->all = more;
    for (int64_t i = 0; i < parts; i++) {
      const range r = exam_range(&e, i, parts);
      if (r.from < r.to) p->all[p->count++] = (exam_part){n, r};
    }
  }
  return true;
}

static exam exam_of_part(const verify_request *request, exam_part part) {
  exam e = exam_of(request, part.exam);
  e.of_rows = part.of_rows;
  return e;
}

/* Returns which parts of exams, which profiles and, last, whether the distances of exact rows are this shard's, as a
   new array; null if memory runs out. */
static bool *deal(const verify_request *request, const exam_parts *p) {
  const size_t exams = p->count, profiles = count_profiles(request), works = exams + profiles + 1;
  double *sizes = calloc(works, sizeof *sizes);
  for (size_t n = 0; sizes && n < exams; n++) {
    const exam e = exam_of_part(request, p->all[n]);
    sizes[n] = exam_elements(&e);
  }
  for (size_t n = 0; sizes && n < profiles; n++)
    sizes[exams + n] = profile_elements(profile_task_of(request, n).wanted);
  if (sizes && profiles) sizes[exams + profiles] = profile_elements(VERIFY_SCAN);
  bool *mine = sizes ? shard_partition(request->only, sizes, works) : NULL;
  free(sizes);
  return mine;
}

/* Adds the profiles that are set in `mine`, whose last entry is for the distances of rows. records: of the exams.
   Returns false if memory runs out, or if *fork_failed is set. */
static bool add_profiles(const verify_request *request, const bool *mine, const json_t *records, json_t *curves,
                         json_t **distances, tally *t, bool *fork_failed) {
  const size_t profiles = count_profiles(request);
  showing s = {.stage = "verify: profile"};
  for (size_t n = 0; n < profiles; n++)
    if (mine[n]) s.total += profile_elements(profile_task_of(request, n).wanted);
  *distances = profiles && mine[profiles] ? unique(fork_failed) : json_null();
  bool enough = *distances;
  for (size_t n = 0; enough && n < profiles; n++) {
    if (!mine[n]) continue;
    const profile_task of = profile_task_of(request, n);
    const isolated hung = {.how = ENDED_BY_SILENCE, .last = "an exam; the profile was left out because of it"};
    json_t *profile = has_hung(records, of.kernel) ? failed_profile(of.kernel, &hung) : profiled(of, &s);
    t->failed += json_object_get(profile, "failure") != NULL;
    enough = json_array_append_new(curves, profile) == 0;
  }
  *fork_failed |= s.fork_failed;
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

json_t *verify_run_json(const verify_request *request) {
  json_t *parts = json_array(), *plugins = json_array();
  for (size_t i = 0; i < request->part_count; i++) json_array_append_new(parts, part_json(&request->parts[i]));
  for (size_t i = 0; i < request->plugin_count; i++)
    json_array_append_new(plugins, json_string(request->plugins[i].text));
  return json_pack("{s:I, s:I, s:I, s:I, s:i, s:s, s:b, s:b, s:b, s:o, s:o}", "seed", (json_int_t)request->seed,
                   "budget", (json_int_t)request->budget, "search", (json_int_t)request->search, "isa",
                   (json_int_t)request->isa, "threads", request->threads, "stores", stores_name(request->stores),
                   "explain", request->explain, "brief", request->brief, "encodings", request->encodings, "plugins",
                   plugins, "parts", parts);
}

static json_t *shard_json(const verify_request *request, const exam_parts *p, const bool *mine) {
  json_t *exams = json_array();
  for (size_t n = 0; n < p->count; n++)
    if (mine[n]) json_array_append_new(exams, json_integer((json_int_t)p->all[n].exam));
  return json_pack("{s:i, s:i, s:o, s:o, s:o}", "number", request->only.number, "of", request->only.of, "exams", exams,
                   "profiles", shard_numbers(mine + p->count, count_profiles(request)), "run",
                   verify_run_json(request));
}

/* Exams that run side by side. */
typedef struct examination {
  const verify_request *request;
  const exam_part *parts;
  json_t **records;             /* the record of each part */
  asked *known;                 /* for each exam, in memory that the lanes share */
  tally counts;
  showing progress;
  bool fork_failed; /* a process could not be created */
} examination;

/* Returns where the piece is kept in which the kernel of an exam hung. */
static atomic_size_t *hung_in(const examination *all, const exam *e) {
  size_t first = 0;
  while (exam_of(all->request, first).kernel != e->kernel) first++;
  return &all->known[first].hung_in;
}

/* Returns the record of an exam whose kernel hung when it was asked whether it computes an earlier shape, or null if it
   answered: its exam would take as long to hang again. */
static json_t *record_of_silence(const examination *all, size_t number) {
  const exam e = exam_of(all->request, number);
  for (size_t n = 0; n < number; n++) {
    const exam before = exam_of(all->request, n);
    if (before.kernel != e.kernel || all->known[n].answer != SILENT) continue;
    isolated end = {.how = ENDED_BY_SILENCE};
    snprintf(end.last, sizeof end.last, "a plan of %s", before.of->name);
    return record_of_end(&e, &end);
  }
  return NULL;
}

/* Returns the record of a piece, as examined does; or that of one that is left out. A kernel that hangs is noted, so
   that all lanes leave out its other exams. */
static json_t *examined_unless_hung(const examination *all, size_t number) {
  const size_t of = all->parts[number].exam;
  exam e = exam_of_part(all->request, all->parts[number]);
  atomic_size_t *noted = hung_in(all, &e);
  size_t hung = *noted, none = 0;
  bool hangs = false;
  if (!hung) {
    e.brief = e.brief || e.cases || !is_first(all->request, of, all->known);
    e.apply_known = !e.brief && is_apply_known(all->request, of, all->known);
    hung = *noted;
  }
  if (hung) {
    const exam other = exam_of_part(all->request, all->parts[hung - 1]);
    return record_left_out(&e, &other);
  }
  json_t *record = record_of_silence(all, of);
  hangs = record;
  if (!record) record = examined(&e, &hangs);
  if (hangs) atomic_compare_exchange_strong(noted, &none, number + 1);
  return record;
}

/* Runs an exam in a lane. Returns the record as text, which is empty if a process cannot be created. */
static char *examine_piece(size_t number, void *argument) {
  json_t *record = examined_unless_hung(argument, number);
  char *text = record ? json_dumps(record, JSON_COMPACT) : errno == EAGAIN ? strdup("") : NULL;
  json_decref(record);
  return text;
}

/* Takes a record over, and corrects the progress: elements of a table that the kernel refuses do not count. */
static void take_record(size_t number, const char *text, void *argument) {
  examination *all = argument;
  const exam e = exam_of_part(all->request, all->parts[number]);
  const double elements = exam_elements(&e);
  json_t *record = json_loads(text, 0, NULL);
  all->fork_failed = all->fork_failed || !*text;
  all->records[number] = record;
  count_checks(record, &all->counts);
  if (json_is_string(json_object_get(record, "refusal")))
    all->progress.total -= elements;
  else
    all->progress.done += elements;
}

/* Adds to the failed check of a kernel that hung how many exams were left out because of it: formats that print
   failures alone tell it, too. */
static void tell_left_out(const examination *all, size_t count) {
  for (size_t n = 0; n < count; n++) {
    const exam e = exam_of_part(all->request, all->parts[n]);
    if (!all->records[n] || *hung_in(all, &e) != n + 1) continue;
    size_t left_out = 0;
    for (size_t m = 0; m < count; m++)
      left_out += exam_of_part(all->request, all->parts[m]).kernel == e.kernel && is_left_out(all->records[m]);
    json_t *failed = json_array_get(json_object_get(all->records[n], "checks"), 0);
    char note[500];
    snprintf(note, sizeof note, "%s; %zu other exams of the kernel were left out because of it",
             field_string(failed, "note"), left_out);
    if (left_out) json_object_set_new(failed, "note", json_string(note));
  }
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

/* Returns the records of the parts that are set in `mine`, in their order. Returns null and sets errno if memory runs
   out or no process can be created. */
static json_t *examine_all(const verify_request *request, const exam_parts *p, const bool *mine, tally *counts) {
  const size_t exams = p->count;
  examination all = {.request = request,
                     .parts = p->all,
                     .records = calloc(exams + 1, sizeof(json_t *)),
                     .progress = {.stage = request->rests ? "verify: measure" : "verify"}};
  piece *pieces = calloc(exams + 1, sizeof *pieces);
  size_t *order = calloc(exams + 1, sizeof *order), count = 0;
  json_t *records = json_array();
  const size_t known_bytes = (count_exams(request) + 1) * sizeof *all.known;
  all.known = mmap(NULL, known_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  bool enough = all.records && pieces && order && records && all.known != MAP_FAILED;
  for (size_t n = 0; enough && n < exams; n++) {
    const exam e = exam_of_part(request, p->all[n]);
    if (!mine[n]) continue;
    pieces[count++] = (piece){n, exam_elements(&e)};
    all.progress.total += exam_elements(&e);
  }
  if (enough) {
    qsort(pieces, count, sizeof *pieces, larger_first);
    for (size_t i = 0; i < count; i++) order[i] = pieces[i].number;
    const lanes l = {order, count, examine_piece, take_record, show_lanes, &all};
    errno = ENOMEM;
    enough = lanes_run(&l) && !all.fork_failed;
    if (all.fork_failed) errno = EAGAIN;
  }
  const int error = errno;
  if (enough) tell_left_out(&all, exams);
  for (size_t n = 0; n < exams && all.records; n++)
    if (all.records[n]) json_array_append_new(records, all.records[n]);
  if (all.known != MAP_FAILED) munmap(all.known, known_bytes);
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
  exam_parts split;
  const bool is_split = split_exams(given, &split);
  json_t *kernels = contracts(given), *curves = json_array(), *distances = NULL, *records = NULL, *part = NULL;
  tally t = {0, 0, 0};
  bool *mine = is_split ? deal(given, &split) : NULL, fork_failed = false;
  request.team = lanes_threads(1);
  errno = ENOMEM;
  if (kernels && curves && mine) records = examine_all(&request, &split, mine, &t);
  bool enough = records && add_profiles(&request, mine + split.count, records, curves, &distances, &t, &fork_failed);
  if (fork_failed) errno = EAGAIN;
  if (enough && shard_is_part(given->only)) {
    part = shard_json(given, &split, mine);
    enough = part;
  }
  const int error = errno;
  free(mine);
  free(split.all);
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
