/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/probe.h"

#include "common/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* x begins X_OFF bytes after the start of a cache line. Its numbers repeat, but not from row to row. */
enum { X_OFF = 16, DRAWN = 4100, CHUNK = 1 << 21 };

/* Draws numbers of a size about 1. */
static void draw_x(const stress *t, posenc_dtype dtype, unsigned char *x, size_t bytes) {
  const size_t element = posenc_dtype_bytes(dtype);
  for (size_t at = 0; at < bytes && at < DRAWN; at += element) {
    const float value = (float)random_below(t->random, 1 << 20) * 0x1p-18f - 2.0f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t upper = (uint16_t)(bits >> 16);
    memcpy(x + at, element == 2 ? (const void *)&upper : (const void *)&bits, element);
  }
  for (size_t at = DRAWN; at < bytes; at += DRAWN) memcpy(x + at, x, bytes - at < DRAWN ? bytes - at : DRAWN);
}

/* Maps memory whose chunks all use the same pages, as the system takes long to clear new pages. Null if the system
   cannot do that. */
static unsigned char *map_x(size_t bytes) {
  unsigned char *x = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (x == MAP_FAILED) return NULL;
  const int file = memfd_create("x", MFD_CLOEXEC);
  bool ok = file >= 0 && ftruncate(file, CHUNK) == 0;
  for (size_t at = 0; ok && at < bytes; at += CHUNK)
    ok = mmap(x + at, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0) != MAP_FAILED;
  if (file >= 0) close(file);
  if (ok) return x;
  munmap(x, bytes);
  return NULL;
}

static bool open_x(probe *r, size_t bytes) {
  const size_t chunks = (X_OFF + bytes + CHUNK - 1) / CHUNK * CHUNK;
  unsigned char *room = bytes > CHUNK ? map_x(chunks) : NULL;
  r->mapped = room ? chunks : 0;
  if (!room) room = posenc_alloc(X_OFF + bytes);
  if (!room) return false;
  r->x = room + X_OFF;
  draw_x(r->t, r->of.problem.dtype, r->x, r->mapped ? CHUNK : bytes);
  return true;
}

static void close_x(probe *r) {
  if (r->mapped)
    munmap(r->x - X_OFF, r->mapped);
  else
    posenc_free(r->x - X_OFF);
}

static unsigned char *x_at(const probe *r, int64_t row) {
  return r->x ? r->x + r->row_bytes * (size_t)(row - r->from) : NULL;
}

void probe_call(const probe *r, const posenc_plan *plan, int64_t row, int64_t rows, unsigned char *out) {
  const posenc_slice slice = posenc_rows(row, rows);
  subject_call(plan, &slice, x_at(r, row), out);
}

bool probe_open_window(probe *r, stress *t, const posenc_problem *problem, window w, bool all_rows) {
  *r = (probe){.t = t, .of = shape_of(problem), .from = w.row};
  r->row_bytes = row_bytes(problem);
  if (subject_open(&r->s, t->s->kernel, &r->of, &t->options)) return false;
  const size_t bytes = r->row_bytes * (size_t)w.rows;
  if (all_rows) r->rows = malloc(bytes);
  if ((op_is_applied(problem->op) && !open_x(r, bytes)) || (all_rows && !r->rows)) {
    probe_close(r);
    return false;
  }
  if (r->rows) {
    subject_begin_calls();
    probe_call(r, r->s.plan, w.row, w.rows, r->rows);
    subject_end_calls(t->s, problem->first + w.row);
  }
  return true;
}

bool probe_open(probe *r, stress *t, const posenc_problem *problem, bool all_rows) {
  return probe_open_window(r, t, problem, (window){0, problem->rows}, all_rows);
}

void probe_close(probe *r) {
  subject_close(&r->s);
  if (r->x) close_x(r);
  free(r->rows);
}

void probe_run(probe *r, int64_t row, int64_t rows, const arena *a, unsigned char *out) {
  stress *t = r->t;
  const posenc_problem *problem = &r->of.problem;
  const int64_t position = problem->first + row;
  const posenc_slice slice = posenc_rows(row, rows);
  const size_t bytes = r->row_bytes * (size_t)rows, element = posenc_dtype_bytes(problem->dtype);
  const unsigned char *x = x_at(r, row);
  size_t first;
  if (x && bytes <= STRESS_BYTES) {
    const bool at_guard = (uintptr_t)out % 64 == 0;
    unsigned char *copy = at_guard ? arena_place(t->other, bytes, true)
                                   : arena_place_off(t->other, bytes, ((uintptr_t)out * 5 + 3 * element) % 128);
    x = memcpy(copy, x, bytes);
  }
  subject_begin_calls();
  subject_call(r->s.plan, &slice, x, out);
  subject_end_calls(t->s, position);
  check *memory = &t->s->checks[MEMORY];
  memory->compared += (int64_t)(bytes / element);
  if (arena_spills(a))
    check_break(memory, t->s, problem, "bytes beside %" PRId64 " rows at p = %" PRId64 " are written", rows, position);
  if (arena_untouched(out, bytes, element, &first))
    check_break(memory, t->s, problem, "elements of %" PRId64 " rows at p = %" PRId64 " are not written", rows,
                position);
  if (x && memcmp(x, x_at(r, row), bytes) != 0)
    check_break(memory, t->s, problem, "x of %" PRId64 " rows at p = %" PRId64 " is written", rows, position);
}

void probe_compare(probe *r, property p, int64_t row, int64_t rows, const arena *a, unsigned char *out) {
  check *c = &r->t->s->checks[p];
  const size_t bytes = r->row_bytes * (size_t)rows;
  probe_run(r, row, rows, a, out);
  c->compared += rows * row_width(&r->of.problem);
  if (memcmp(out, r->rows + r->row_bytes * (size_t)(row - r->from), bytes) != 0)
    check_break(c, r->t->s, &r->of.problem,
                "other bits in a call of %" PRId64 " rows at p = %" PRId64 ", %zu bytes behind a multiple of 64", rows,
                r->of.problem.first + row, (size_t)((uintptr_t)out % 64));
}
