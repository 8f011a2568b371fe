/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"

#include "common/environment.h"
#include "common/isolate.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/process.h"
#include "common/terminal.h"
#include "common/work.h"
#include "records/make.h"
#include "verify/arena.h"
#include "verify/encodings.h"
#include "verify/exam.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- processes of their own --------------------------------------------------------------------------- */

static void check_worker(void *argument) {
  const exam *e = argument;
  exam_result made;
  arena_tell_faults();
  examine(e, &made);
  record_send(record_write_result(&made.of));
  record_release(&made.memory);
}

/* Returns the failed check of a kernel whose process ended before its result. */
static record_check check_of_end(const isolated *end, record_memory *in) {
  check broken = {.compared = 1, .broken = 1, .worst = 1.0};
  char text[400];
  describe_exit(end, text, sizeof text);
  const property of_what = strcmp(end->last, MEMORY_LAST_WORDS) == 0 ? MEMORY : SURVIVAL;
  record_check made = check_record(property_name(of_what), &broken, in);
  made.note = record_format(in, "%s", text);
  return made;
}

/* Returns the text of a result with that check alone, to be freed, and releases it. */
static char *text_of_check(exam_result *made, const record_check *only) {
  made->of.checks = only;
  made->of.checks_count = 1;
  char *text = record_text(record_write_result(&made->of));
  record_release(&made->memory);
  return text;
}

static char *text_of_end(const exam *e, const isolated *end) {
  exam_result made;
  result_begin(&made, e, NULL);
  const record_check failed = check_of_end(end, &made.memory);
  return text_of_check(&made, &failed);
}

/* Returns the result of an exam that is not made, because the kernel hung on another shape: each would last until the
   time limit. */
static char *text_of_left_out(const exam *e, const shape *hung) {
  char why[200];
  exam_result made;
  snprintf(why, sizeof why, "left out, because the kernel hung on %s", hung->name);
  const check skipped = {.skip = why};
  result_begin(&made, e, NULL);
  const record_check only = check_record(property_name(SURVIVAL), &skipped, &made.memory);
  return text_of_check(&made, &only);
}

static bool is_left_out(const record_result *result) {
  const record_check *first = result->checks;
  return result->checks_count > 0 && first->skipped && strcmp(first->property, property_name(SURVIVAL)) == 0;
}

/* Returns the exam of an item of the request, of no segments. */
static exam exam_of(const run_request *request, const run_item *one) {
  return (exam){.request = request,
                .kernel = request->kernels[one->kernel],
                .of = &request->shapes[one->shape],
                .cases = request->cases[one->shape],
                .brief = request->exam.brief};
}

static void add_contracts(const run_request *request, record_accuracy *made, record_memory *in) {
  record_kernel *kernels = record_allocate(in, request->kernel_count, sizeof *kernels);
  for (size_t k = 0; k < request->kernel_count; k++) kernels[k] = kernel_record(request->kernels[k], request->isa);
  made->kernels = kernels;
  made->kernels_count = request->kernel_count;
}

/* ---- the work of a run -------------------------------------------------------------------------------------- */

/* Adds the parts of an item: as many as there are shards, or as it has segments. */
static void add_parts(run_works *to, const run_request *r, size_t number) {
  exam e = exam_of(r, &r->items[number]);
  const int64_t segments = exam_range(&e, 0, 1).of, shards = shard_is_part(r->only) ? r->only.of : 1,
                parts = segments < shards ? segments : shards;
  for (int64_t i = 0; i < parts; i++) {
    e.of_rows = exam_range(&e, i, parts);
    if (e.of_rows.from < e.of_rows.to) run_works_add(to, &(run_work){RUN_ROWS, number, e.of_rows, exam_elements(&e)});
  }
}

/* Returns the works of the shard, or of the whole run. */
static run_works works_of(const run_request *r) {
  run_works all = {NULL};
  bool any = false;
  for (size_t n = 0; n < r->item_count; n++) add_parts(&all, r, n);
  for (size_t k = 0; k < r->kernel_count; k++) {
    const run_profile wanted = run_profile_of(r, k);
    any = any || wanted;
    if (wanted) run_works_add(&all, &(run_work){.kind = RUN_PROFILE, .number = k, .size = profile_elements(wanted)});
  }
  if (any) run_works_add(&all, &(run_work){.kind = RUN_DISTANCES, .size = profile_elements(RUN_SCAN)});
  run_works_deal(&all, r->only);
  for (size_t i = 0; i < r->exam.encoding_count && r->only.number == r->only.of; i++)
    if (!r->exam.encodings[i]->by_kernels) run_works_add(&all, &(run_work){.kind = RUN_ENCODING, .number = i});
  return all;
}

/* ---- what was found ----------------------------------------------------------------------------------------- */

/* What a run has found. Structs that were read are kept until its end. */
typedef struct findings {
  record_accuracy of;
  record_memory memory;
  const void **kept;
  size_t kept_count;
} findings;

/* Keeps a record, or null, and returns it. */
static const void *keep(findings *f, const void *record) {
  f->kept = memory_grow(f->kept, f->kept_count + 1, sizeof *f->kept);
  f->kept[f->kept_count++] = record;
  return record;
}

static void forget(findings *f) {
  for (size_t n = 0; n < f->kept_count; n++) record_free(f->kept[n]);
  free(f->kept);
  record_release(&f->memory);
}

/* ---- exams side by side ------------------------------------------------------------------------------------- */

typedef struct schedule schedule;

typedef struct work {
  schedule *all;
  run_work of;
  size_t kernel; /* its number; 0 of exact distances */
  exam part;
  encoding_task encoding; /* of an encoding */
  profile_task profile;   /* of a profile */
  double done;            /* of its size, which is a number of elements */
  enum { WAITS, BEGUN, ENDED } state;
  /* The result as the worker has sent it, which takes less memory than a struct: the process is copied for each further
     exam. With parsed records, the copies took a quarter of the time of tests/kernels. */
  char *text;
  const record_result *result; /* of an exam; null until all have ended */
} work;

struct schedule {
  const run_request *request;
  work *works;         /* in the order in which they begin: the largest first */
  size_t exams, count; /* exams, of items or parts of them, come first */
  lodger *workers[ISOLATE_MOST];
  work *at_work[ISOLATE_MOST]; /* what each worker does */
  size_t running;
  const work **hung; /* by kernel: the exam in which it hung, or null */
  double elements;
  bool fork_failed; /* no process could be created, and the run ends */
};

/* Whether this is the first item of its kernel, operation and dtype whose shape the kernel takes. */
static bool is_first(const run_request *r, const run_item *one) {
  for (const run_item *before = r->items; before < one; before++)
    if (run_are_alike(r, before, one) && !r->cases[before->shape] && run_takes(before)) return false;
  return true;
}

/* Whether the library makes the rows of an item from what the kernel makes, as for all kernels of which this is true:
   applies them, or rounds those of f32. */
static bool is_librarys(const run_request *r, const run_item *one) {
  const posenc_kernel *kernel = r->kernels[one->kernel];
  return op_is_applied(r->shapes[one->shape].problem.op) ? !kernel->apply : kernel->f32_only;
}

/* Whether the exam of an earlier kernel on this shape checks that code of the library. */
static bool is_library_known(const run_request *r, const run_item *one) {
  for (const run_item *before = r->items; before < one && is_librarys(r, one); before++)
    if (before->shape == one->shape && is_librarys(r, before) && run_takes(before) && is_first(r, before)) return true;
  return false;
}

/* Whether an item of 16 bits is of a kernel that takes another one of f32 in the same operation. */
static bool is_seen_in_f32(const run_request *r, const run_item *one) {
  const shape *of = &r->shapes[one->shape];
  for (const run_item *other = r->items; other < r->items + r->item_count; other++) {
    const shape *of_other = &r->shapes[other->shape];
    if (posenc_dtype_bytes(of->problem.dtype) == 2 && other->kernel == one->kernel && !r->cases[other->shape] &&
        run_op(r, other) == run_op(r, one) && of_other->problem.dtype == POSENC_F32 && run_takes(other))
      return true;
  }
  return false;
}

/* Returns the result of a part whose kernel hung when it was asked about its shape or an earlier one, or null if it
   answered: the exam would take as long to hang again. */
static char *text_of_silence(const work *w) {
  const run_request *r = w->all->request;
  const run_item *one = &r->items[w->of.number], *silent = run_without_reply(r, one->kernel, false);
  const check broken = {.compared = 1, .broken = 1, .worst = 1.0};
  exam_result made;
  if (!silent || one < silent) return NULL;
  result_begin(&made, &w->part, NULL);
  record_check failed = check_record(property_name(SURVIVAL), &broken, &made.memory);
  failed.note =
      record_format(&made.memory, "%s, when asked about %s", silent->reply.words, r->shapes[silent->shape].name);
  return text_of_check(&made, &failed);
}

/* Takes a result and its text over, and corrects the progress: elements of a table that the kernel refuses do not
   count. */
static void take_result(work *w, const record_result *result, char *text, bool hangs) {
  schedule *all = w->all;
  const work **noted = &all->hung[w->kernel];
  w->state = ENDED;
  w->text = text;
  w->done = w->of.size;
  if (*result->refusal) all->elements -= w->of.size, w->done = 0.0;
  if (hangs && !*noted) *noted = w;
  record_free(result);
}

/* Takes the text of a profile or of distances over. */
static void take_text(work *w, char *text) {
  w->state = ENDED;
  w->text = text;
  w->done = w->of.size;
}

/* Returns the text of an empty profile, of a kernel whose process ended so. */
static char *text_of_failed_profile(const work *w, const isolated *end) {
  record_memory memory = {NULL};
  record_profile made = profile_empty(w->profile.kernel);
  made.failure = check_of_end(end, &memory);
  char *text = record_text(record_write_profile(&made));
  record_release(&memory);
  return text;
}

/* Returns the text of the record of an encoding whose process ended so. */
static char *text_of_failed_encoding(const work *w, const isolated *end) {
  record_memory memory = {NULL};
  const record_check failed = check_of_end(end, &memory);
  const record_encoded only = encoding_ended_early(&w->encoding, &failed, &memory);
  const record_encodings made = {.records = &only, .records_count = 1};
  char *text = record_text(record_write_encodings(&made));
  record_release(&memory);
  return text;
}

/* A kernel that has hung in an exam gets an empty profile. */
static void prepare_profile(work *w) {
  const isolated hung = {.how = ENDED_BY_SILENCE, .last = "an exam; the profile was left out because of it"};
  if (w->all->hung[w->kernel]) take_text(w, text_of_failed_profile(w, &hung));
}

/* Returns the shape on which the kernel has hung, in an exam or when it was asked; null if it has not. */
static const shape *shape_of_hang(const work *w) {
  const run_request *r = w->all->request;
  const work *hung = w->all->hung[w->kernel];
  const run_item *asked = run_without_reply(r, w->kernel, false);
  if (!hung) return NULL;
  return asked ? &r->shapes[asked->shape] : hung->part.of;
}

/* Decides which checks a part makes. A part whose kernel has hung gets its record. */
static void prepare_exam(work *w) {
  const run_request *r = w->all->request;
  const run_item *one = &r->items[w->of.number];
  exam *e = &w->part;
  const shape *hung = shape_of_hang(w);
  e->brief = r->exam.brief || e->cases || !is_first(r, one);
  e->apply_known = !e->brief && op_is_applied(e->of->problem.op) && is_library_known(r, one);
  /* A kernel cannot tell for what its rows of f32 are made. */
  e->brief = e->brief || (is_seen_in_f32(r, one) && is_library_known(r, one));
  char *text = hung ? text_of_left_out(e, hung) : text_of_silence(w);
  if (text) take_result(w, record_of_text_result(text), text, !hung);
}

static void show_work(const char *doing, double share, void *argument) {
  work *own = argument;
  const schedule *all = own->all;
  double done = 0.0;
  (void)doing;
  own->done = share * own->of.size;
  for (size_t n = 0; n < all->count; n++) done += all->works[n].done;
  progress_show(all->request->exam.rests ? "verify: measure" : "verify", "", done, all->elements, "elements");
}

static lodger *begin_exam(work *w, isolation *how) {
  how->kernels = &w->part.kernel;
  how->kernel_count = 1;
  how->threads = threads_each(w->all->exams);
  return isolate_start(check_worker, &w->part, how);
}

static lodger *begin_encoding(work *w, isolation *how) {
  encoding_task *task = &w->encoding;
  task->named = (posenc_kernel){.name = task->encoding->name};
  task->at_work = &task->named;
  how->kernels = &task->at_work;
  how->kernel_count = 1;
  how->on_progress = NULL; /* it takes a fraction of a second */
  return isolate_start(encoding_worker, task, how);
}

static lodger *begin_profile(work *w, isolation *how) {
  how->kernels = &w->profile.kernel;
  how->kernel_count = 1;
  return isolate_start(profile_worker, &w->profile, how);
}

static lodger *begin_distances(work *w, isolation *how) {
  static const double patience = 600.0;
  (void)w;
  how->silence = patience;
  return isolate_start(unique_worker, NULL, how);
}

static void exam_ended(work *w, const isolated *end) {
  const record_result *result = record_of_text_result(end->result);
  char *text = result ? memory_copy_text(end->result) : text_of_end(&w->part, end);
  take_result(w, result ? result : record_of_text_result(text), text, end->how == ENDED_BY_SILENCE);
}

static void encoding_ended(work *w, const isolated *end) {
  const record_encodings *made = record_of_text_encodings(end->result);
  take_text(w, made ? memory_copy_text(end->result) : text_of_failed_encoding(w, end));
  record_free(made);
}

static void profile_ended(work *w, const isolated *end) {
  const record_profile *made = record_of_text_profile(end->result);
  take_text(w, made ? memory_copy_text(end->result) : text_of_failed_profile(w, end));
  record_free(made);
}

static void distances_ended(work *w, const isolated *end) {
  const record_unique *made = record_of_text_unique(end->result);
  if (made)
    take_text(w, memory_copy_text(end->result));
  else
    w->all->fork_failed = true; /* no kernel could have ended it */
  record_free(made);
}

/* The steps of each kind of work: `prepare` comes before the worker, and may end the work; `begin` starts the worker;
   `ended` takes its result. Work that uses all processors runs alone. */
static const struct {
  void (*prepare)(work *w);
  lodger *(*begin)(work *w, isolation *how);
  void (*ended)(work *w, const isolated *end);
  bool alone;
} ways[] = {[RUN_ROWS] = {prepare_exam, begin_exam, exam_ended, false},
            [RUN_ENCODING] = {NULL, begin_encoding, encoding_ended, false},
            [RUN_PROFILE] = {prepare_profile, begin_profile, profile_ended, true},
            [RUN_DISTANCES] = {NULL, begin_distances, distances_ended, true}};

/* Returns the first work that waits and is not ended by its preparation; null if none can begin now. */
static work *next_work(schedule *all) {
  for (work *w = all->works; w < all->works + all->count && !all->fork_failed; w++) {
    if (w->state != WAITS) continue;
    if (ways[w->of.kind].alone && all->running) return NULL;
    if (ways[w->of.kind].prepare) ways[w->of.kind].prepare(w);
    if (w->state == WAITS) return w;
  }
  return NULL;
}

/* Begins works while there are processors for their workers. */
static void begin_works(schedule *all) {
  const size_t most = (size_t)least(threads_most(), ISOLATE_MOST);
  for (work *w; all->running < most && (w = next_work(all));) {
    isolation how = {.silence = all->request->silence, .on_progress = show_work, .argument = w};
    lodger *worker = ways[w->of.kind].begin(w, &how);
    w->state = BEGUN;
    all->fork_failed = !worker;
    if (!worker) return;
    all->workers[all->running] = worker;
    all->at_work[all->running++] = w;
  }
}

/* Waits until a worker has ended, and takes its result. */
static void end_work(schedule *all) {
  const size_t n = isolate_any(all->workers, all->running);
  work *w = all->at_work[n];
  isolated end = isolate_end(all->workers[n]);
  all->running--;
  all->workers[n] = all->workers[all->running];
  all->at_work[n] = all->at_work[all->running];
  if (end.how == ENDED_FORK_FAILED)
    all->fork_failed = true;
  else
    ways[w->of.kind].ended(w, &end);
  free(end.result);
}

/* Adds to the failed check of a kernel that hung how many exams were left out because of it: formats that print
   failures alone tell it, too. */
static void tell_left_out(const schedule *all, record_memory *in) {
  for (size_t n = 0; n < all->exams; n++) {
    work *w = &all->works[n];
    if (all->hung[w->kernel] != w) continue;
    size_t left_out = 0;
    for (size_t m = 0; m < all->exams; m++)
      left_out += all->works[m].part.kernel == w->part.kernel && is_left_out(all->works[m].result);
    if (!left_out) continue;
    record_result *told = record_allocate(in, 1, sizeof *told);
    record_check *failed = record_allocate(in, 1, sizeof *failed);
    *told = *w->result;
    *failed = *told->checks;
    failed->note =
        record_format(in, "%s; %zu other exams of the kernel were left out because of it", failed->note, left_out);
    told->checks = failed;
    w->result = told;
  }
}

static int in_order(const void *a, const void *b) {
  const run_work *x = &((const work *)a)->of, *y = &((const work *)b)->of;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return (x->of_rows.from > y->of_rows.from) - (x->of_rows.from < y->of_rows.from);
}

static int larger_first(const void *a, const void *b) {
  const run_work *x = &((const work *)a)->of, *y = &((const work *)b)->of;
  if (x->kind == y->kind && x->size != y->size) return (x->size < y->size) - (x->size > y->size);
  return in_order(a, b);
}

static work work_of(schedule *all, const run_work *of) {
  const run_request *r = all->request;
  work w = {.all = all, .of = *of};
  if (of->kind == RUN_ROWS) {
    w.kernel = r->items[of->number].kernel;
    w.part = exam_of(r, &r->items[of->number]);
    w.part.of_rows = of->of_rows;
  } else if (of->kind == RUN_PROFILE) {
    w.kernel = of->number;
    w.profile = (profile_task){r, r->kernels[of->number], run_profile_of(r, of->number)};
  }
  if (of->kind == RUN_ENCODING) w.encoding = (encoding_task){.request = r, .encoding = r->exam.encodings[of->number]};
  return w;
}

static void open_schedule(schedule *all, const run_works *own) {
  all->count = own->count;
  all->works = memory_take(all->count, sizeof *all->works);
  all->hung = memory_take(all->request->kernel_count + 1, sizeof(*all->hung));
  for (size_t n = 0; n < all->count; n++) {
    all->works[n] = work_of(all, &own->all[n]);
    all->exams += own->all[n].kind == RUN_ROWS;
    all->elements += own->all[n].size;
  }
  qsort(all->works, all->count, sizeof *all->works, larger_first);
}

static void close_schedule(schedule *all) {
  for (size_t n = 0; n < all->count; n++) free(all->works[n].text);
  free(all->works);
  free(all->hung);
}

static void collect_results(schedule *all, findings *f) {
  record_result *results = record_allocate(&f->memory, all->exams, sizeof *results);
  for (size_t n = 0; n < all->exams; n++) all->works[n].result = keep(f, record_of_text_result(all->works[n].text));
  tell_left_out(all, &f->memory);
  qsort(all->works, all->count, sizeof *all->works, in_order);
  for (size_t n = 0; n < all->exams; n++) results[n] = *all->works[n].result;
  f->of.records = results;
  f->of.records_count = all->exams;
}

/* Sets what was found of encodings, with their contracts, in the order of the request. */
static void collect_encodings(const schedule *all, findings *f) {
  const run_exam *asked = &all->request->exam;
  const record_encodings **found = record_allocate(&f->memory, all->count, sizeof *found);
  record_encodings *made = &f->of.encodings;
  record_counts counts = {0};
  size_t count = 0, most = 0;
  for (size_t n = 0; n < all->count; n++) {
    if (all->works[n].of.kind != RUN_ENCODING) continue;
    found[count] = keep(f, record_of_text_encodings(all->works[n].text));
    most += found[count++]->records_count;
  }
  if (!count) return;
  record_encoded *records = record_allocate(&f->memory, most, sizeof *records);
  record_encoding *encodings = record_allocate(&f->memory, asked->encoding_count, sizeof *encodings);
  *made = (record_encodings){.there = true,
                             .schema = "posenc-encodings-1",
                             .environment = environment_record(&f->memory),
                             .kernels = record_empty_list,
                             .encodings = encodings,
                             .encodings_count = asked->encoding_count,
                             .seed = (int64_t)asked->seed,
                             .has_seed = true,
                             .records = records};
  for (size_t i = 0; i < asked->encoding_count; i++) encodings[i] = encoding_record(asked->encodings[i]);
  for (size_t i = 0; i < count; i++)
    RECORD_EACH(one, found[i], records) {
      records[made->records_count++] = *one;
      record_count(&counts, one->checks, one->checks_count);
    }
  made->passed = counts.passed;
  made->failed = counts.failed;
  made->skipped = counts.skipped;
}

static void collect_profiles(const schedule *all, findings *f) {
  record_profile *curves = record_allocate(&f->memory, all->count - all->exams, sizeof *curves);
  f->of.profile = curves;
  f->of.has_unique = true;
  for (const work *w = all->works; w < all->works + all->count; w++) {
    if (w->of.kind == RUN_PROFILE)
      curves[f->of.profile_count++] = *(const record_profile *)keep(f, record_of_text_profile(w->text));
    if (w->of.kind == RUN_DISTANCES) f->of.unique = *(const record_unique *)keep(f, record_of_text_unique(w->text));
  }
}

/* Does the works. Returns false if no process could be created. */
static bool examine_all(const run_request *request, const run_works *own, findings *f) {
  schedule all = {.request = request};
  open_schedule(&all, own);
  for (begin_works(&all); all.running; begin_works(&all)) end_work(&all);
  if (!all.fork_failed) {
    collect_results(&all, f);
    collect_profiles(&all, f);
    collect_encodings(&all, f);
  }
  close_schedule(&all);
  return !all.fork_failed;
}

/* Returns the record as one of its own. */
static const record_accuracy *record_of(const run_request *request, findings *f) {
  record_accuracy *made = &f->of;
  made->schema = "posenc-accuracy-1";
  made->environment = environment_record(&f->memory);
  made->seed = (int64_t)request->exam.seed;
  made->budget = request->exam.budget;
  made->row_rule = ROW_RULE;
  made->x_rule = X_RULE;
  made->has_seed = made->has_budget = made->has_row_rule = made->has_x_rule = true;
  record_total(made);
  return record_keep_accuracy(made);
}

const record_accuracy *verify_run(run_request *given) {
  if (!run_ask(given, true)) return NULL;
  run_request request = *given;
  findings f = {.kept = NULL};
  request.team = threads_most();
  run_works own = works_of(&request);
  add_contracts(given, &f.of, &f.memory);
  const bool is_made = examine_all(&request, &own, &f), is_part = is_made && shard_is_part(given->only);
  if (is_part) f.of.shard = shard_record(given, &own, &f.memory);
  const record_accuracy *record = is_made ? record_of(given, &f) : NULL;
  free(own.all);
  forget(&f);
  progress_clear();
  if (!is_made) errno = EAGAIN;
  return record;
}
