/* SPDX-License-Identifier: MIT */
#include "common/run.h"

#include "common/contract.h"
#include "common/isolate.h"
#include "common/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t run_kernel(run_request *r, const posenc_kernel *kernel) {
  for (size_t k = 0; k < r->kernel_count; k++)
    if (r->kernels[k] == kernel) return k;
  r->kernels = memory_grow(r->kernels, r->kernel_count + 1, sizeof *r->kernels);
  r->kernels[r->kernel_count] = kernel;
  return r->kernel_count++;
}

size_t run_find_shape(const run_request *r, const char *name) {
  size_t i = 0;
  while (i < r->shape_count && strcmp(r->shapes[i].name, name) != 0) i++;
  return i;
}

size_t run_shape(run_request *r, const shape *of, const run_cases *only) {
  for (size_t i = 0; i < r->shape_count; i++)
    if (strcmp(r->shapes[i].name, of->name) == 0 && r->cases[i] == only) return i;
  r->shapes = memory_grow(r->shapes, r->shape_count + 1, sizeof *r->shapes);
  r->cases = memory_grow(r->cases, r->shape_count + 1, sizeof *r->cases);
  r->shapes[r->shape_count] = *of;
  r->cases[r->shape_count] = only;
  return r->shape_count++;
}

/* Returns how many items come before that of a kernel and a shape. */
static size_t place_of(const run_request *r, size_t kernel, size_t on) {
  size_t from = 0, to = r->item_count;
  while (from < to) {
    const size_t middle = from + (to - from) / 2;
    const run_item *one = &r->items[middle];
    const bool is_before = one->shape < on || (one->shape == on && one->kernel < kernel);
    if (is_before)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

static run_item *item_at(const run_request *r, size_t place, size_t kernel, size_t on) {
  run_item *there = &r->items[place];
  return place < r->item_count && there->kernel == kernel && there->shape == on ? there : NULL;
}

const run_item *run_find(const run_request *r, size_t kernel, size_t on) {
  return item_at(r, place_of(r, kernel, on), kernel, on);
}

run_item *run_add(run_request *r, size_t kernel, size_t on) {
  const size_t place = place_of(r, kernel, on);
  run_item *there = item_at(r, place, kernel, on);
  if (there) return there;
  r->items = memory_grow(r->items, r->item_count + 1, sizeof *r->items);
  there = &r->items[place];
  memmove(there + 1, there, (r->item_count++ - place) * sizeof *there);
  *there = (run_item){.kernel = kernel, .shape = on};
  return there;
}

void run_cross(run_request *r) {
  for (size_t i = 0; i < r->shape_count; i++)
    for (size_t k = 0; k < r->kernel_count; k++) run_add(r, k, i);
}

/* Adds an item of another request. */
static void take_item(run_request *r, const run_request *from, const run_item *one) {
  const size_t kernel = run_kernel(r, from->kernels[one->kernel]),
               on = run_shape(r, &from->shapes[one->shape], from->cases[one->shape]);
  run_item *there = run_add(r, kernel, on);
  there->modes |= one->modes;
  if (one->profile > there->profile) there->profile = one->profile;
  if (!there->reply.how) there->reply = one->reply;
}

void run_extend(run_request *r, const run_request *more) {
  for (size_t n = 0; n < more->item_count; n++) take_item(r, more, &more->items[n]);
}

run_request run_of_shape(const run_request *all, size_t number) {
  run_request one = *all;
  one.kernels = NULL, one.shapes = NULL, one.cases = NULL, one.items = NULL;
  one.kernel_count = one.shape_count = one.item_count = 0;
  for (size_t n = 0; n < all->item_count; n++)
    if (all->items[n].shape == number) take_item(&one, all, &all->items[n]);
  return one;
}

run_profile run_profile_of(const run_request *r, size_t kernel) {
  run_profile wanted = RUN_NO_PROFILE;
  for (const run_item *one = r->items; one < r->items + r->item_count; one++)
    if (one->kernel == kernel && one->profile > wanted) wanted = one->profile;
  return wanted;
}

posenc_options run_options(const run_request *r, const posenc_kernel *kernel) {
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  options.threads = r->threads ? r->threads : r->team;
  options.isa = r->isa;
  options.stores = r->stores;
  return options;
}

void run_free(run_request *r) {
  free(r->kernels);
  free(r->shapes);
  free(r->cases);
  free(r->items);
}

/* ---- which kernel takes which shape ---------------------------------------------------------------------- */

posenc_op run_op(const run_request *r, const run_item *one) {
  const posenc_op op = r->shapes[one->shape].problem.op;
  return op == POSENC_ROPE_CACHE ? POSENC_TABLE : op;
}

bool run_are_alike(const run_request *r, const run_item *a, const run_item *b) {
  return a->kernel == b->kernel && r->shapes[a->shape].problem.dtype == r->shapes[b->shape].problem.dtype &&
         run_op(r, a) == run_op(r, b);
}

bool run_takes(const run_item *one) {
  return one->reply.how == RUN_TAKEN || one->reply.how == RUN_PLANNED;
}

const char *run_refusal(const run_request *r, size_t kernel) {
  const char *why = NULL;
  for (const run_item *one = r->items; one < r->items + r->item_count; one++) {
    if (one->kernel != kernel) continue;
    if (one->reply.how != RUN_REFUSED) return NULL;
    why = one->reply.words;
  }
  return why;
}

const run_item *run_without_reply(const run_request *r, size_t kernel, bool crashed) {
  for (const run_item *one = r->items; one < r->items + r->item_count; one++) {
    const bool ended = one->reply.how == RUN_HUNG || (crashed && one->reply.how == RUN_CRASHED);
    if (one->kernel == kernel && ended) return one;
  }
  return NULL;
}

typedef struct asking {
  size_t item;
  bool plan;
} asking;

static run_reply reply_of(const run_request *r, const asking *q) {
  const run_item *one = &r->items[q->item];
  const posenc_problem *problem = &r->shapes[one->shape].problem;
  const posenc_options options = run_options(r, r->kernels[one->kernel]);
  run_reply a = {RUN_TAKEN, ""};
  isolate_say("can_do", 0.0);
  const char *why = posenc_kernel_refusal(options.kernel, problem, &options);
  if (why) {
    a.how = RUN_REFUSED;
  } else if (q->plan) {
    posenc_plan *plan;
    isolate_say("making the plan", 0.0);
    const posenc_status status = posenc_plan_create(&plan, problem, &options);
    isolate_say("releasing the plan", 1.0);
    a.how = status == POSENC_OK ? RUN_PLANNED : RUN_UNPLANNED;
    if (status == POSENC_OK)
      posenc_plan_destroy(plan);
    else
      why = posenc_status_message(status);
  }
  snprintf(a.words, sizeof a.words, "%s", why ? why : "");
  return a;
}

static void serve_questions(void *argument) {
  asking q;
  while (isolate_order(&q, sizeof q)) {
    const run_reply a = reply_of(argument, &q);
    isolate_reply(&a, sizeof a);
  }
  isolate_result("asked");
}

/* Asks the kernel of an item. *worker: its worker, or null if it has none yet, or no more. Returns false if no process
   could be created. */
static bool ask_of(run_request *r, const asking *q, lodger **worker) {
  run_item *one = &r->items[q->item];
  const isolation how = {.kernels = &r->kernels[one->kernel], .kernel_count = 1, .silence = r->silence};
  if (!*worker) *worker = isolate_start(serve_questions, r, &how);
  if (!*worker) return false;
  if (isolate_ask(*worker, q, sizeof *q, &one->reply, sizeof one->reply)) return true;
  const isolated end = isolate_end(*worker);
  *worker = NULL;
  one->reply.how = end.how == ENDED_BY_SILENCE ? RUN_HUNG : RUN_CRASHED;
  describe_exit(&end, one->reply.words, sizeof one->reply.words);
  free(end.result);
  return end.how != ENDED_FORK_FAILED;
}

/* Whether a plan of the item must be made: whether none of an earlier one that is like it could be. */
static bool needs_plan(const run_request *r, size_t number) {
  const run_item *one = &r->items[number];
  if (r->cases[one->shape] || r->item_count < 2) return false;
  for (const run_item *before = r->items; before < one; before++)
    if (before->reply.how == RUN_PLANNED && run_are_alike(r, before, one)) return false;
  return true;
}

bool run_ask(run_request *r, bool plans) {
  bool any = true;
  for (size_t k = 0; k < r->kernel_count && any; k++) {
    lodger *worker = NULL;
    for (size_t n = 0; n < r->item_count && any; n++) {
      const run_taking known = r->items[n].reply.how;
      if (r->items[n].kernel != k) continue;
      if (known == RUN_HUNG) break;
      const asking q = {n, plans && needs_plan(r, n)};
      if (known == RUN_NOT_ASKED || (known == RUN_TAKEN && q.plan)) any = ask_of(r, &q, &worker);
      if (r->items[n].reply.how == RUN_HUNG) break;
    }
    if (worker) free(isolate_end(worker).result);
  }
  if (!any) errno = EAGAIN;
  return any;
}

/* ---- what the library chooses ---------------------------------------------------------------------------- */

/* The numbers of two kernels in the library's list. */
typedef struct numbers {
  size_t serial, threaded;
} numbers;

/* Returns the kernel of that number; null if there is none, as what a worker replies may be any number. */
static const posenc_kernel *kernel_numbered(size_t number) {
  size_t count;
  const posenc_kernel *const *all = posenc_kernels(&count);
  return number < count ? all[number] : NULL;
}

/* Returns the number of the kernel that the library chooses; SIZE_MAX if there is none. */
static size_t number_of_choice(const run_request *r, const posenc_problem *problem, int threads) {
  posenc_options options = run_options(r, NULL);
  options.threads = threads;
  const posenc_kernel *chosen = kernel_by_default(problem, &options);
  size_t number = 0;
  while (chosen && kernel_numbered(number) && kernel_numbered(number) != chosen) number++;
  return chosen ? number : SIZE_MAX;
}

static void serve_choices(void *argument) {
  const run_request *r = argument;
  size_t on;
  while (isolate_order(&on, sizeof on)) {
    const posenc_problem *problem = &r->shapes[on].problem;
    const numbers a = {number_of_choice(r, problem, 1), number_of_choice(r, problem, r->threads)};
    isolate_reply(&a, sizeof a);
  }
  isolate_result("chosen");
}

run_choice *run_choices(const run_request *r) {
  run_request asked = *r;
  run_choice *all = memory_take(r->shape_count, sizeof *all);
  lodger *worker = isolate_start(serve_choices, &asked, &(isolation){.silence = r->silence});
  bool any = worker;
  for (size_t i = 0; i < r->shape_count && any; i++) {
    numbers a = {0};
    any = isolate_ask(worker, &i, sizeof i, &a, sizeof a);
    all[i] = (run_choice){kernel_numbered(a.serial), kernel_numbered(a.threaded)};
  }
  if (worker) free(isolate_end(worker).result);
  if (any) return all;
  free(all);
  return NULL;
}

/* ---- shards ---------------------------------------------------------------------------------------------- */

/* Parses a number from 1 to SHARDS_MOST, and sets *rest to what follows it; returns 0 if there is none. */
static int number_of(const char *text, char **rest) {
  if (*text < '0' || *text > '9') return 0;
  errno = 0;
  const long number = strtol(text, rest, 10);
  return errno == 0 && number >= 1 && number <= SHARDS_MOST ? (int)number : 0;
}

bool shard_parse(const char *text, shard *part) {
  char *rest;
  part->number = number_of(text, &rest);
  if (!part->number || *rest != '/') return false;
  part->of = number_of(rest + 1, &rest);
  return part->of && *rest == '\0' && part->number <= part->of;
}

void run_works_add(run_works *to, const run_work *one) {
  to->all = memory_grow(to->all, to->count + 1, sizeof *to->all);
  to->all[to->count++] = *one;
}

static int larger_first(const void *a, const void *b) {
  const run_work *x = *(const run_work *const *)a, *y = *(const run_work *const *)b;
  if (x->size != y->size) return x->size < y->size ? 1 : -1;
  return x < y ? -1 : 1;
}

void run_works_deal(run_works *all, shard part) {
  if (!shard_is_part(part)) return;
  const run_work **order = memory_take(all->count + 1, sizeof(*order));
  bool *mine = memory_take(all->count + 1, sizeof *mine);
  double *dealt = memory_take((size_t)part.of, sizeof *dealt);
  for (size_t i = 0; i < all->count; i++) order[i] = &all->all[i];
  qsort(order, all->count, sizeof(*order), larger_first);
  for (size_t i = 0; i < all->count; i++) {
    int least = 0;
    for (int s = 1; s < part.of; s++)
      if (dealt[s] < dealt[least]) least = s;
    dealt[least] += order[i]->size;
    mine[order[i] - all->all] = least + 1 == part.number;
  }
  size_t kept = 0;
  for (size_t i = 0; i < all->count; i++)
    if (mine[i]) all->all[kept++] = all->all[i];
  all->count = kept;
  free(order);
  free(mine);
  free(dealt);
}

bool run_work_is_of(const run_work *w, const run_request *r, size_t item) {
  return (w->kind == RUN_ROWS && w->number == item) || (w->kind == RUN_SHAPE && w->number == r->items[item].shape);
}
