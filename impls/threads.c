/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/cr/cr.h"
#include "impls/rotation/rotation.h"
#include "lib/api/kernel.h"
#include "lib/apply/apply.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct thread_constants {
  const posenc_kernel *serial;
  void *constants;
  const apply_loops *loops;
  posenc_stores stores;
  struct team *team;
  int threads;
} thread_constants;

static void release(void *constants) {
  thread_constants *made = (thread_constants *)constants;
  team_destroy(made->team);
  if (made->serial->release) made->serial->release(made->constants);
  free(made);
}

static posenc_status prepare_with(const posenc_bound *promise, const posenc_problem *problem,
                                  const posenc_options *options, void **constants) {
  const posenc_kernel *serial = kernel_best_serial(problem, options, promise);
  if (!serial) return POSENC_CANNOT_RUN;
  thread_constants *made = (thread_constants *)calloc(1, sizeof *made);
  if (!made) return POSENC_OUT_OF_MEMORY;
  const int processors = team_processors(), wanted = options->threads ? options->threads : processors;
  made->serial = serial;
  made->loops = apply_loops_for(options);
  made->stores = options->stores;
  made->threads = wanted < 4 * processors ? wanted : 4 * processors;
  made->team = team_create(made->threads);
  posenc_status status = made->team ? POSENC_OK : POSENC_OUT_OF_MEMORY;
  if (status == POSENC_OK && serial->prepare) status = serial->prepare(problem, options, &made->constants);
  if (status == POSENC_OK) {
    *constants = made;
    return POSENC_OK;
  }
  team_destroy(made->team);
  free(made);
  return status;
}

static posenc_status prepare_rotation(const posenc_problem *problem, const posenc_options *options, void **constants) {
  static const posenc_bound promise = ROTATION_BOUND;
  return prepare_with(&promise, problem, options, constants);
}

static posenc_status prepare_cr(const posenc_problem *problem, const posenc_options *options, void **constants) {
  static const posenc_bound promise = CR_BOUND;
  return prepare_with(&promise, problem, options, constants);
}

/* ---- parts ---- */

/* A part writes at least 64 KiB. RUN: the rows of the blocks between exact anchors. */
enum { LEAST_BYTES = 1 << 16, MOST_PARTS = 256, RUN = (CR_ADVANCES + 1) * KERNEL_BLOCK };

/* The parts of a call: each ends before the row, or sequence, ends[part]. */
typedef struct parts {
  int count;
  int64_t ends[MOST_PARTS];
} parts;

static int64_t begin_of(const parts *all, int64_t part) {
  return part ? all->ends[part - 1] : 0;
}

/* Returns the end of a part that should end near `end`; rows count from position `first` on. It is the end of one of
   the kernels' blocks, or of a run if the part is long, so that few anchors are computed
   twice. */
static int64_t end_of_block(int64_t first, int64_t begin, int64_t end) {
  const int64_t grid = end - begin > 2 * RUN ? (int64_t)RUN : KERNEL_BLOCK,
                past = (int64_t)(((uint64_t)first + (uint64_t)end + KERNEL_BLOCK / 2) % (uint64_t)grid);
  return end - past > begin ? end - past : end;
}

/* Each part is one thread's share of the remaining work. So the last parts are small, and a thread that starts late or
   is slow leaves little to wait for. With `blocks`, parts end at ends of blocks, and have at least RUN rows if there
   are that many for each thread: the anchors at the start of a part take as long as 24 rows (doc/notebook.md). */
static void divide(parts *made, int threads, int64_t count, int64_t item_bytes, bool blocks, int64_t first) {
  const int64_t fewest = (LEAST_BYTES + item_bytes - 1) / item_bytes, even = (count + threads - 1) / threads,
                run = even < RUN ? even : RUN, least = blocks && fewest < run ? run : fewest;
  int64_t done = 0;
  made->count = 0;
  while (done < count) {
    const int64_t left = count - done, share = (left + threads - 1) / threads, some = share > least ? share : least;
    const bool last = left < some + least || made->count + 1 == MOST_PARTS;
    done = blocks ? end_of_block(first, done, done + some) : done + some;
    if (last) done = count;
    made->ends[made->count++] = done;
  }
}

/* A call. A table is divided by rows; add and rope by rows or by sequences. */
typedef struct call {
  const thread_constants *made;
  const posenc_problem *problem;
  const posenc_slice *slice; /* null for a table */
  const char *x;
  char *out;
  int64_t row, bytes; /* first row of a table; size of a row or sequence */
  struct parts parts;
  _Atomic(int) worst; /* a status that is not POSENC_OK, if any part failed */
} call;

/* Estimates the seconds that one thread takes for `rows` rows, counting those of all sequences. */
static double seconds_alone(const thread_constants *made, const posenc_problem *problem, int64_t rows) {
  return 1e-12 * kernel_cost(made->serial, problem, NULL) * (double)rows / (double)problem->rows;
}

static void make_rows(void *argument, int64_t part) {
  const call *c = (const call *)argument;
  const int64_t begin = begin_of(&c->parts, part);
  c->made->serial->execute(c->made->constants, c->problem, c->row + begin, c->parts.ends[part] - begin,
                           c->out + begin * c->bytes);
}

static void apply_part(call *c, const posenc_slice *own, int64_t place) {
  const apply_source serial = {
      .kernel = c->made->serial, .constants = c->made->constants, .loops = c->made->loops, .stores = c->made->stores};
  const int status = (int)apply(&serial, c->problem, own, c->x + place, c->out + place);
  if (status != POSENC_OK) atomic_store(&c->worst, status);
}

static void apply_to_rows(void *argument, int64_t part) {
  call *c = (call *)argument;
  const int64_t begin = begin_of(&c->parts, part);
  posenc_slice own = *c->slice;
  own.rows = c->parts.ends[part] - begin;
  if (own.index)
    own.index += begin;
  else
    own.row += begin;
  apply_part(c, &own, begin * c->bytes);
}

static void apply_to_sequences(void *argument, int64_t part) {
  call *c = (call *)argument;
  const int64_t begin = begin_of(&c->parts, part);
  posenc_slice own = *c->slice;
  own.batch = c->parts.ends[part] - begin;
  apply_part(c, &own, begin * c->bytes);
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const thread_constants *made = (const thread_constants *)constants;
  call c = {.made = made, .problem = problem, .out = (char *)out, .row = row};
  c.bytes = (int64_t)kernel_row_bytes(problem);
  divide(&c.parts, made->threads, rows, c.bytes, true, problem->first + row);
  team_run(made->team, c.parts.count, make_rows, &c, seconds_alone(made, problem, rows));
}

/* Few rows of many sequences, as in decoding, are divided by sequences. */
static posenc_status apply_parts(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                 const void *x, void *out) {
  const thread_constants *made = (const thread_constants *)constants;
  const int64_t element = (int64_t)posenc_dtype_bytes(problem->dtype), row_bytes = apply_width(problem) * element;
  call c = {
      .made = made, .problem = problem, .slice = slice, .x = (const char *)x, .out = (char *)out, .bytes = row_bytes};
  divide(&c.parts, made->threads, slice->rows, row_bytes * slice->batch, !slice->index, problem->first + slice->row);
  const bool by_rows = c.parts.count > 1;
  if (!by_rows) {
    c.bytes = slice->stride * element;
    divide(&c.parts, made->threads, slice->batch, slice->rows * row_bytes, false, 0);
  }
  team_run(made->team, c.parts.count, by_rows ? apply_to_rows : apply_to_sequences, &c,
           seconds_alone(made, problem, slice->rows * slice->batch));
  return (posenc_status)atomic_load(&c.worst);
}

/* Returns the stages of the serial kernel, whose blocks all threads use. */
static bool write_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                         posenc_stages *stages) {
  const thread_constants *made = (const thread_constants *)constants;
  return made->serial->stages && made->serial->stages(made->constants, problem, row, rows, stages);
}

/* Both contracts, of the functions and fields in which they differ. */
#define THREADED(called, is, bounded, attended, can, prepared)                                                         \
  .abi = POSENC_KERNEL_ABI, .isa = 0, .name = called, .summary = is,                                                   \
  .algorithm = "The fastest reproducible serial kernel of the same promise that runs here writes parts of the rows, "  \
               "smaller and smaller, which the calling thread and its helpers take in turn.",                          \
  .provenance = "guided self-scheduling: Polychronopoulos and Kuck, 1987; posenc, 2026", .bound = bounded,             \
  .basis = "it runs only serial kernels that promise the same", .reproducible = true, .threaded = true,                \
  .scales = true, .attends = attended, .can_do = can, .prepare = prepared, .execute = execute, .release = release,     \
  .stages = write_stages, .apply = apply_parts

const posenc_kernel posenc_kernel_cr_threads = {
    THREADED("cr-threads", "parts of the rows by the best correctly rounded kernel, with threads", CR_BOUND, true,
             cr_can_do, prepare_cr),
};

const posenc_kernel posenc_kernel_rotation_threads = {
    THREADED("rotation-threads",
             "parts of the rows by the best rotation kernel, with threads: the same bits for any number of them",
             ROTATION_BOUND, false, angle_can_do, prepare_rotation),
};
