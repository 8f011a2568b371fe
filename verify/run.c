/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"

#include "common/contract.h"
#include "common/environment.h"
#include "common/field.h"
#include "common/isolate.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/progress.h"
#include "common/threads.h"
#include "common/work.h"
#include "records/run.h"
#include "verify/arena.h"
#include "verify/exam.h"
#include "verify/profile.h"
#include "verify/record.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
  json_int_t passed, failed, skipped;
} tally;

/* ---- processes of their own --------------------------------------------------------------------------- */

static void check_worker(void *argument) {
  const exam *e = argument;
  arena_tell_faults();
  record_send(examine(e));
}

/* Returns the failed check of a kernel whose process ended before its result. */
static json_t *check_of_end(const isolated *end) {
  char text[400];
  describe_exit(end, text, sizeof text);
  const property of_what = strcmp(end->last, MEMORY_LAST_WORDS) == 0 ? MEMORY : SURVIVAL;
  const check broken = {.compared = 1, .broken = 1, .worst = 1.0};
  json_t *made = check_json(property_name(of_what), &broken);
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
  json_object_set_new(record, "checks", json_pack("[o]", check_json(property_name(SURVIVAL), &skipped)));
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

/* Returns the distances of exact rows, which no kernel computes; null if memory runs out, or if *fork_failed is set. */
static json_t *unique(bool *fork_failed) {
  showing s = {.stage = "verify: rows", .name = "distances of rows", .mine = (double)PROFILE_ROWS * PROFILE_DIM};
  s.total = s.mine;
  isolated end = profile_make_unique(show, &s);
  json_t *found = record_received(&end);
  *fork_failed = end.how == ENDED_FORK_FAILED;
  return found;
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
  isolated end = profile_make(&of, show, s);
  json_t *profile = record_received(&end);
  s->done += s->mine;
  s->fork_failed = end.how == ENDED_FORK_FAILED;
  return s->fork_failed || profile ? profile : failed_profile(of.kernel, &end);
}

/* Returns exam `number`: that item of the request. */
static exam exam_of(const run_request *request, size_t number) {
  const run_item *one = &request->items[number];
  return (exam){.request = request,
                .kernel = request->kernels[one->kernel],
                .of = &request->shapes[one->shape],
                .cases = request->cases[one->shape],
                .brief = request->exam.brief};
}

static bool is_like(const exam *a, const exam *b) {
  return a->kernel == b->kernel && a->of->problem.dtype == b->of->problem.dtype &&
         exam_shape(a).problem.op == exam_shape(b).problem.op;
}

/* Returns the contracts of all kernels. */
static json_t *contracts(const run_request *request) {
  json_t *kernels = json_array();
  for (size_t k = 0; k < request->kernel_count; k++)
    json_array_append_new(kernels, kernel_json(request->kernels[k], request->isa));
  return kernels;
}

/* ---- the work of a run -------------------------------------------------------------------------------------- */

/* Returns the profile that is wanted of a kernel: the largest of its items. */
static run_profile profile_wanted(const run_request *request, size_t kernel) {
  run_profile wanted = RUN_NO_PROFILE;
  for (size_t n = 0; n < request->item_count; n++) {
    const run_item *one = &request->items[n];
    if (one->kernel == kernel && one->profile > wanted) wanted = one->profile;
  }
  return wanted;
}

static bool wants_profiles(const run_request *request) {
  for (size_t n = 0; n < request->item_count; n++)
    if (request->items[n].profile) return true;
  return false;
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

static bool split_exams(const run_request *request, exam_parts *p) {
  const int64_t shards = shard_is_part(request->only) ? request->only.of : 1;
  size_t room = 0;
  *p = (exam_parts){NULL, 0};
  for (size_t n = 0; n < request->item_count; n++) {
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

static exam exam_of_part(const run_request *request, exam_part part) {
  exam e = exam_of(request, part.exam);
  e.of_rows = part.of_rows;
  return e;
}

/* Returns which parts of exams, the profiles of which kernels and, last, whether the distances of exact rows are this
   shard's, as a new array; null if memory runs out. */
static bool *deal(const run_request *request, const exam_parts *p) {
  const size_t exams = p->count, kernels = request->kernel_count, works = exams + kernels + 1;
  double *sizes = calloc(works, sizeof *sizes);
  for (size_t n = 0; sizes && n < exams; n++) {
    const exam e = exam_of_part(request, p->all[n]);
    sizes[n] = exam_elements(&e);
  }
  for (size_t k = 0; sizes && k < kernels; k++) sizes[exams + k] = profile_elements(profile_wanted(request, k));
  if (sizes && wants_profiles(request)) sizes[exams + kernels] = profile_elements(RUN_SCAN);
  bool *mine = sizes ? shard_partition(request->only, sizes, works) : NULL;
  free(sizes);
  return mine;
}

/* Adds the profiles of the kernels that are set in `mine`, whose last entry is for the distances of rows. records: of
   the exams. Returns false if memory runs out, or if *fork_failed is set. */
static bool add_profiles(const run_request *request, const bool *mine, const json_t *records, json_t *curves,
                         json_t **distances, tally *t, bool *fork_failed) {
  const size_t kernels = request->kernel_count;
  showing s = {.stage = "verify: profile"};
  for (size_t k = 0; k < kernels; k++)
    if (mine[k]) s.total += profile_elements(profile_wanted(request, k));
  *distances = wants_profiles(request) && mine[kernels] ? unique(fork_failed) : json_null();
  bool enough = *distances;
  for (size_t k = 0; enough && k < kernels; k++) {
    const profile_task of = {request, request->kernels[k], profile_wanted(request, k)};
    if (!mine[k] || !of.wanted) continue;
    const isolated hung = {.how = ENDED_BY_SILENCE, .last = "an exam; the profile was left out because of it"};
    json_t *profile = has_hung(records, of.kernel) ? failed_profile(of.kernel, &hung) : profiled(of, &s);
    t->failed += json_object_get(profile, "failure") != NULL;
    enough = json_array_append_new(curves, profile) == 0;
  }
  *fork_failed |= s.fork_failed;
  return enough;
}

/* ---- shards -------------------------------------------------------------------------------------------------- */

/* Returns which results and profiles are this shard's. */
static json_t *shard_json(const run_request *request, const exam_parts *p, const bool *mine) {
  int64_t *numbers = memory_take(p->count + request->kernel_count, sizeof *numbers);
  record_run_shard made = {.there = true, .number = request->only.number, .of = request->only.of, .items = numbers};
  run_record whole;
  for (size_t n = 0; n < p->count; n++)
    if (mine[n]) numbers[made.items_count++] = (int64_t)p->all[n].exam;
  int64_t *profiles = numbers + made.items_count, number = 0;
  made.profiles = profiles;
  for (size_t k = 0; k < request->kernel_count; k++) {
    if (!profile_wanted(request, k)) continue;
    if (mine[p->count + k]) profiles[made.profiles_count++] = number;
    number++;
  }
  run_make(request, &whole);
  made.run = whole.of;
  json_t *json = record_write_run_shard(&made);
  run_forget(&whole);
  free(numbers);
  return json;
}

/* ---- exams side by side ------------------------------------------------------------------------------------- */

/* Whether the kernel of an exam takes its shape, as far as it was asked. */
typedef enum inquiry_state { NOT_ASKED, ASKED, REFUSED, TAKEN, SILENT } inquiry_state;

typedef struct examination examination;

/* A part of an exam, which a worker makes. */
typedef struct work {
  examination *all;
  size_t exam; /* its number */
  exam part;
  double elements, done;
  enum { WAITS, BEGUN, ENDED } state;
  char *text; /* the record as the worker has sent it, until all exams have ended; or null */
  json_t *record;
} work;

/* An exam whose kernel is asked whether it takes the shape. */
typedef struct inquiry {
  exam of;
  inquiry_state state;
} inquiry;

struct examination {
  const run_request *request;
  work *works; /* in the order in which they begin: the largest first */
  size_t count, exams;
  inquiry *asked;    /* by exam */
  const work **hung; /* by exam, for the first one of a kernel: where the kernel hung, or null */
  inquiry *needed;   /* what must be asked before an exam can begin, or null */
  tally counts;
  showing progress;
  int error; /* an errno value: no process could be created, or memory ran out, and the run ends */
};

/* Returns where the part is kept in which the kernel of an exam hung. */
static const work **hung_in(const examination *all, const exam *e) {
  size_t first = 0;
  while (all->asked[first].of.kernel != e->kernel) first++;
  return &all->hung[first];
}

/* Whether the kernel takes the shape of an exam. If that was not asked yet, it is noted as needed. */
static bool is_taken(examination *all, size_t number) {
  inquiry *q = &all->asked[number];
  const bool is_known = q->state != NOT_ASKED && q->state != ASKED;
  if (!is_known && !all->needed) all->needed = q;
  return q->state == TAKEN;
}

/* Whether this is the first exam of its kernel, operation and dtype whose shape the kernel takes. A kernel that does
   not answer is asked no more. */
static bool is_first(examination *all, size_t number) {
  const exam *e = &all->asked[number].of;
  for (size_t n = 0; n < number; n++) {
    const exam *before = &all->asked[n].of;
    if (!is_like(before, e) || before->cases) continue;
    if (is_taken(all, n)) return false;
    if (all->asked[n].state == SILENT) return true;
  }
  return true;
}

/* Whether the library makes the rows of an exam from what the kernel makes, as for all kernels of which this is true:
   applies them, or rounds those of f32. */
static bool is_librarys(const exam *e) {
  return op_is_applied(e->of->problem.op) ? !e->kernel->apply : e->kernel->f32_only;
}

/* Whether an exam of an earlier kernel on this shape checks that code of the library. */
static bool is_library_known(examination *all, size_t number) {
  const exam *e = &all->asked[number].of;
  for (size_t n = 0; n < number && is_librarys(e); n++) {
    const exam *before = &all->asked[n].of;
    if (before->of == e->of && is_librarys(before) && is_taken(all, n) && is_first(all, n)) return true;
  }
  return false;
}

/* Whether an exam of 16 bits is of a kernel that takes another one of f32 in the same operation. */
static bool is_seen_in_f32(examination *all, size_t number) {
  const exam *e = &all->asked[number].of;
  const posenc_problem of = exam_shape(e).problem;
  for (size_t n = 0; n < all->exams && posenc_dtype_bytes(of.dtype) == 2; n++) {
    const exam *other = &all->asked[n].of;
    const posenc_problem of_other = exam_shape(other).problem;
    if (other->kernel == e->kernel && !other->cases && of_other.op == of.op && of_other.dtype == POSENC_F32 &&
        is_taken(all, n))
      return true;
  }
  return false;
}

static void refusal_worker(void *argument) {
  const inquiry *q = argument;
  arena_tell_faults();
  isolate_result(exam_refusal(&q->of) ? "refused" : "taken");
}

static void set_piece(piece *set, size_t number, void (*does)(void *), void *argument, const exam *e) {
  *set = (piece){.number = number, .work = does, .argument = argument};
  set->how = (isolation){.kernels = &e->kernel, .kernel_count = 1, .silence = e->request->silence};
}

/* A kernel that crashes when it is asked does not take the shape, and its exam reports that. */
static void note_answer(inquiry *q, const isolated *end) {
  const bool is_taken = end->result && strcmp(end->result, "taken") == 0;
  q->state = end->how == ENDED_BY_SILENCE ? SILENT : is_taken ? TAKEN : REFUSED;
}

/* Returns the record of an exam whose kernel hung when it was asked whether it takes an earlier shape, or null if it
   answered: its exam would take as long to hang again. */
static json_t *record_of_silence(const examination *all, const work *w) {
  for (size_t n = 0; n < w->exam; n++) {
    const inquiry *q = &all->asked[n];
    if (q->of.kernel != w->part.kernel || q->state != SILENT) continue;
    isolated end = {.how = ENDED_BY_SILENCE};
    snprintf(end.last, sizeof end.last, "a plan of %s", q->of.of->name);
    return record_of_end(&w->part, &end);
  }
  return NULL;
}

/* Takes a record over, and corrects the progress: elements of a table that the kernel refuses do not count. */
static void take_record(work *w, json_t *record, bool hangs) {
  examination *all = w->all;
  const work **noted = hung_in(all, &w->part);
  w->state = ENDED;
  w->record = record;
  w->done = w->elements;
  count_checks(record, &all->counts);
  if (json_is_string(json_object_get(record, "refusal"))) all->progress.total -= w->elements, w->done = 0.0;
  if (hangs && !*noted) *noted = w;
}

/* Decides which checks a part makes; false if something must be asked before. A part whose kernel has hung gets its
   record. */
static bool prepare(work *w) {
  examination *all = w->all;
  exam *e = &w->part;
  all->needed = NULL;
  const work *hung = *hung_in(all, e);
  e->brief = all->request->exam.brief || e->cases || !is_first(all, w->exam);
  e->apply_known = !e->brief && op_is_applied(e->of->problem.op) && is_library_known(all, w->exam);
  /* A kernel cannot tell for what its rows of f32 are made. */
  e->brief = e->brief || (is_seen_in_f32(all, w->exam) && is_library_known(all, w->exam));
  if (!hung && all->needed) return false;
  json_t *record = hung ? record_left_out(e, &hung->part) : record_of_silence(all, w);
  if (record) take_record(w, record, !hung);
  return true;
}

static void show_work(const char *doing, double share, void *argument) {
  work *own = argument;
  const examination *all = own->all;
  double done = 0.0;
  (void)doing;
  own->done = share * own->elements;
  for (size_t n = 0; n < all->count; n++) done += all->works[n].done;
  progress_show(all->progress.stage, "", done, all->progress.total, "elements");
}

/* Sets the next piece: the first part that can begin, or a question that it needs. Questions have the numbers after
   those of all parts. */
static bool next_piece(piece *set, void *argument) {
  examination *all = argument;
  for (size_t n = 0; n < all->count && !all->error; n++) {
    work *w = &all->works[n];
    if (w->state != WAITS) continue;
    const bool is_ready = prepare(w);
    if (w->state == ENDED || (!is_ready && all->needed->state == ASKED)) continue;
    if (!is_ready) {
      all->needed->state = ASKED;
      set_piece(set, all->count + (size_t)(all->needed - all->asked), refusal_worker, all->needed, &all->needed->of);
      return true;
    }
    w->state = BEGUN;
    set_piece(set, n, check_worker, &w->part, &w->part);
    set->how.on_progress = show_work;
    set->how.argument = w;
    set->how.threads = threads_each(all->count);
    return true;
  }
  return false;
}

/* Keeps a record as text, which takes less memory: the process is copied for each further exam. With parsed records,
   the copies took a quarter of the time of tests/kernels. */
static void keep_text(work *w, const char *text) {
  w->text = memory_copy_text(text);
  json_decref(w->record);
  w->record = NULL;
}

static void piece_ended(size_t number, const isolated *end, void *argument) {
  examination *all = argument;
  if (end->how == ENDED_FORK_FAILED) {
    all->error = EAGAIN;
  } else if (number >= all->count) {
    note_answer(&all->asked[number - all->count], end);
  } else {
    work *w = &all->works[number];
    json_t *record = end->result ? json_loads(end->result, 0, NULL) : record_of_end(&w->part, end);
    if (!record) all->error = ENOMEM;
    take_record(w, record, end->how == ENDED_BY_SILENCE);
    if (end->result) keep_text(w, end->result);
  }
}

static void read_texts(examination *all) {
  for (size_t n = 0; n < all->count; n++) {
    work *w = &all->works[n];
    if (w->text) w->record = json_loads(w->text, 0, NULL);
    free(w->text);
  }
}

/* Adds to the failed check of a kernel that hung how many exams were left out because of it: formats that print
   failures alone tell it, too. */
static void tell_left_out(const examination *all) {
  for (size_t n = 0; n < all->count; n++) {
    const work *w = &all->works[n];
    if (!w->record || *hung_in(all, &w->part) != w) continue;
    size_t left_out = 0;
    for (size_t m = 0; m < all->count; m++)
      left_out += all->works[m].part.kernel == w->part.kernel && is_left_out(all->works[m].record);
    json_t *failed = json_array_get(json_object_get(w->record, "checks"), 0);
    char note[500];
    snprintf(note, sizeof note, "%s; %zu other exams of the kernel were left out because of it",
             field_string(failed, "note"), left_out);
    if (left_out) json_object_set_new(failed, "note", json_string(note));
  }
}

static int in_order(const void *a, const void *b) {
  const work *x = a, *y = b;
  if (x->exam != y->exam) return x->exam < y->exam ? -1 : 1;
  return (x->part.of_rows.from > y->part.of_rows.from) - (x->part.of_rows.from < y->part.of_rows.from);
}

static int larger_first(const void *a, const void *b) {
  const work *x = a, *y = b;
  if (x->elements != y->elements) return (x->elements < y->elements) - (x->elements > y->elements);
  return in_order(a, b);
}

static bool open_examination(examination *all, const exam_parts *p, const bool *mine) {
  const size_t exams = all->exams = all->request->item_count;
  all->works = calloc(p->count + 1, sizeof *all->works);
  all->asked = calloc(exams + 1, sizeof *all->asked);
  all->hung = calloc(exams + 1, sizeof(*all->hung));
  if (!all->works || !all->asked || !all->hung) return false;
  for (size_t n = 0; n < exams; n++) all->asked[n].of = exam_of(all->request, n);
  for (size_t n = 0; n < p->count; n++) {
    if (!mine[n]) continue;
    work *w = &all->works[all->count++];
    *w = (work){.all = all, .exam = p->all[n].exam, .part = exam_of_part(all->request, p->all[n])};
    w->elements = exam_elements(&w->part);
    all->progress.total += w->elements;
  }
  qsort(all->works, all->count, sizeof *all->works, larger_first);
  return true;
}

/* Returns the records of the parts that are set in `mine`, in their order. Returns null and sets errno if memory runs
   out or no process can be created. */
static json_t *examine_all(const run_request *request, const exam_parts *p, const bool *mine, tally *counts) {
  examination all = {.request = request, .progress = {.stage = request->exam.rests ? "verify: measure" : "verify"}};
  json_t *records = json_array();
  if (!records || !open_examination(&all, p, mine)) all.error = ENOMEM;
  isolate_all(&(pieces){next_piece, piece_ended, &all});
  read_texts(&all);
  if (!all.error) tell_left_out(&all);
  if (all.works) qsort(all.works, all.count, sizeof *all.works, in_order);
  for (size_t n = 0; n < all.count; n++)
    if (all.works[n].record) json_array_append_new(records, all.works[n].record);
  *counts = all.counts;
  free(all.works);
  free(all.asked);
  free(all.hung);
  if (!all.error) return records;
  json_decref(records);
  errno = all.error;
  return NULL;
}

json_t *verify_run(const run_request *given) {
  run_request request = *given;
  exam_parts split;
  const bool is_split = split_exams(given, &split);
  json_t *kernels = contracts(given), *curves = json_array(), *distances = NULL, *records = NULL, *part = NULL;
  tally t = {0, 0, 0};
  bool *mine = is_split ? deal(given, &split) : NULL, fork_failed = false;
  request.team = threads_most();
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
                   "environment", environment_json(), "kernels", kernels, "seed", (json_int_t)given->exam.seed,
                   "budget", (json_int_t)given->exam.budget, "records", records, "profile", curves, "unique", distances,
                   "passed", t.passed, "failed", t.failed, "skipped", t.skipped, "shard", part);
}
