/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/stress.h"

#include "common/memory.h"
#include "common/number.h"
#include "common/work.h"
#include "verify/checks.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

void stress_say(const char *doing) {
  isolate_say(doing, 1.0);
}

/* ---- exams of other problems ----------------------------------------------------------------------------------- */

/* Examines another problem; leaves it out if the kernel cannot make it. */
static void examine_other(stress *t, const posenc_problem *problem, posenc_stores stores, fast_oracle *reference,
                          property p) {
  posenc_options options = t->options;
  const shape of = shape_of(problem);
  subject other;
  options.stores = stores;
  if (subject_open(&other, t->s->kernel, &of, &options)) return;
  variant_examine(t, &other, reference, p);
  subject_close(&other);
}

/* Checks dims from 2 to 64 with every remainder, in each layout, with regular and streaming stores. Larger ones are
   those of check_drawn_dims. */
static void check_widths(stress *t) {
  enum { ROWS = 37, LAYOUTS = 4, VECTOR = 16 };
  const int first = (int)random_below(t->random, LAYOUTS);
  for (int n = 0; n < VARIANT_DIMS * LAYOUTS; n++) {
    const int residue = n / LAYOUTS, kind = n % LAYOUTS, vectors = (first + residue + kind) % LAYOUTS;
    posenc_problem p = variant_problem(t, ROWS, 2 * (residue + 1) + VECTOR * vectors);
    p.layout = variant_layout(p.op, kind);
    fast_oracle *reference = variant_reference(&p);
    stress_say("other dims");
    for (posenc_stores stores = POSENC_STORES_REGULAR; stores <= POSENC_STORES_STREAMING; stores++)
      examine_other(t, &p, stores, reference, WIDTHS);
    fast_destroy(reference);
  }
}

/* Checks odd dims, by both definitions. */
static void check_odd(stress *t) {
  enum { ROWS = 19 };
  if (t->s->shape->problem.op != POSENC_TABLE) return;
  stress_say("odd dims");
  for (int n = 0; n < VARIANT_DIMS; n++) {
    posenc_problem p = variant_problem(t, ROWS, variant_dim(t, n));
    p.dim++;
    p.odd = n % 2 ? POSENC_ODD_PAD : POSENC_ODD_CEIL;
    p.scaling = posenc_table(1, 2).scaling;
    examine_other(t, &p, t->options.stores, NULL, WIDTHS);
  }
}

/* Checks unordered lists of positions on both sides of 0, also with fractional ones. */
static void check_lists(stress *t) {
  enum { DRAWN = 16, LISTS = 2 };
  static const double known[] = {5, -1, 0, -16, -17, 15, 16, 5, 257, -300, 65537, -1e6, 0x1p31 + 1, -0x1p53, 0x1p61};
  enum { KNOWN = sizeof known / sizeof *known };
  /* A kernel without a derived bound may compute each row from position 0 on. */
  const double most = (double)least(t->s->bound.max_position, t->s->bound.derived ? INT64_MAX : 1 << 12);
  double list[KNOWN + DRAWN];
  if (t->s->shape->problem.op != POSENC_TABLE) return;
  stress_say("lists of positions");
  for (int n = 0; n < LISTS; n++) {
    posenc_problem p = variant_problem(t, 0, variant_dim(t, 3 * n));
    for (int i = 0; i < KNOWN; i++)
      if (fabs(known[i]) <= most) list[p.rows++] = known[i];
    for (int i = 0; i < DRAWN; i++) {
      const double drawn = (double)random_below(t->random, 1 << 20) / (n % 2 ? 8.0 : 1.0), there = fmod(drawn, most);
      list[p.rows++] = i % 2 ? -there : there;
    }
    p.first = 0;
    p.positions = list;
    examine_other(t, &p, t->options.stores, NULL, FAR_POSITIONS);
  }
}

/* Checks videos of 3 × 4 × 5 places, one of them a table after a padding row, in each order and with each kind of
   frequencies. */
static void check_axes(stress *t) {
  enum { GRIDS = 3, ROWS = 60, FEWEST = 12 };
  static const int64_t sizes[] = {3, 4, 5};
  const posenc_op op = t->s->shape->problem.op;
  stress_say("several axes");
  for (int n = 0; n < GRIDS; n++) {
    const int64_t dim = FEWEST * (1 + (int64_t)random_below(t->random, 4));
    posenc_problem p = variant_problem(t, ROWS, dim);
    posenc_axes axes = posenc_grid(3, sizes, dim);
    axes.frequencies = (posenc_axis_frequencies)n;
    axes.order = n == 1 ? POSENC_AXES_CYCLIC : POSENC_AXES_CHUNKED;
    axes.grouped = n != 1;
    p.first = n == 0 ? -1 : (int64_t)random_below(t->random, 2 * ROWS) - ROWS;
    if (n == 0 && op != POSENC_ROPE) p.padding = -1;
    p.axes = &axes;
    if (posenc_problem_refusal(&p)) p.scaling = posenc_table(1, 2).scaling;
    examine_other(t, &p, t->options.stores, NULL, FAR_POSITIONS);
  }
}

/* Checks first positions; each of some dims has its share of them. */
static void check_positions(stress *t) {
  int64_t firsts[FIRSTS];
  const int count = variant_firsts(t, firsts);
  for (int n = 0; n < VARIANT_DIMS; n++) {
    posenc_problem p = variant_problem(t, FAR_ROWS, variant_dim(t, n));
    fast_oracle *reference = variant_reference(&p);
    for (int i = n; i < count; i += VARIANT_DIMS) {
      char doing[80];
      snprintf(doing, sizeof doing, "rows from position %" PRId64 " on", firsts[i]);
      stress_say(doing);
      p.first = firsts[i];
      examine_other(t, &p, t->options.stores, reference, FAR_POSITIONS);
    }
    fast_destroy(reference);
  }
}

/* Checks numbers of heads around the sizes of vectors, cache lines and models; and the widest rows of models. */
static void check_heads(stress *t) {
  static const int64_t heads[] = {4, 5, 7, 8, 12, 16, 20, 24, 31, 32, 33, 40, 48, 63, 64, 65, 71, 96, 100, 127, 128};
  posenc_problem p = variant_done(t, 19, (int)random_below(t->random, VARIANT_DIMS));
  if (p.op != POSENC_ROPE) return;
  fast_oracle *reference = variant_reference(&p);
  stress_say("other numbers of heads");
  for (size_t n = 0; n < sizeof heads / sizeof *heads; n++) {
    p.heads = heads[n];
    p.layout = variant_layout(p.op, (int)random_below(t->random, 2));
    examine_other(t, &p, t->options.stores, reference, HEAD_COUNTS);
  }
  fast_destroy(reference);
  for (int64_t dim = 128; dim <= 256; dim *= 2) {
    p = variant_problem(t, 2, dim);
    p.heads = 16384 / dim + 1;
    reference = variant_reference(&p);
    examine_other(t, &p, t->options.stores, reference, HEAD_COUNTS);
    fast_destroy(reference);
  }
}

/* Makes the checks that depend on the kernel in tables, and in add and rope if it has an `apply` of its own. */
static void check_apply(stress *t) {
  if (t->apply_known) {
    t->s->checks[HEAD_COUNTS].skip = t->s->checks[ALIGNMENT].skip =
        "the library applies the rows, which is looked at with another kernel";
    return;
  }
  check_heads(t);
  check_drawn_heads(t);
  if (op_is_applied(t->s->shape->problem.op)) check_slices(t);
  check_alignment(t);
}

/* ---- the whole check ------------------------------------------------------------------------------------------- */

/* Gives the reason to the properties for which nothing was compared, except PROCESS, which is checked later. */
static void skip_rest(subject *s, const char *why) {
  for (property p = READ_ONLY; p <= LEAK; p++) {
    check *c = &s->checks[p];
    if (p != PROCESS && !c->compared && !c->broken && !c->skip) c->skip = why;
  }
}

/* Whether a property follows from the bound. */
static bool is_of_bound(property p) {
  return p == ACCURACY || p == BOUNDED || p == PAIR_NORM || p == ROTATION || p == EXTRAPOLATION || p == SEARCH;
}

/* Returns what failed on the shape itself, as the reason to look at nothing beside it; null if all holds. */
static const char *first_failure(const subject *s) {
#define PROPERTY(id, name, subjects, what) [id] = name " failed already",
  static const char *const failed[PROPERTIES] = {
#include "verify/properties.def"
  };
#undef PROPERTY
  if (s->found.beyond > 0 && !s->measured) return failed[ACCURACY];
  for (property p = 0; p < PROPERTIES; p++)
    if (!check_ok(&s->checks[p]) && !(s->measured && is_of_bound(p))) return failed[p];
  return NULL;
}

/* Rows are drawn from a domain of at least so many positions. */
enum { FEWEST_POSITIONS = 64 };

static void check_all(stress *t) {
  const char *const failed = first_failure(t->s);
  check_cpus(t);
  if (failed) {
    skip_rest(t->s, failed);
    return;
  }
  if (t->s->bound.max_position < FEWEST_POSITIONS) {
    skip_rest(t->s, "its bound is for too few positions");
    return;
  }
  check_const(t);
  check_widths(t);
  check_odd(t);
  check_positions(t);
  check_lists(t);
  check_plans(t);
  check_call_sizes(t);
  check_apply(t);
  check_axes(t);
  check_decoding(t);
  check_endurance(t);
  check_teams(t);
  check_drawn_dims(t);
  check_drawn_positions(t);
  check_domain(t);
  check_contents(t);
  check_addresses(t);
  check_stack(t);
  check_leaks(t);
  skip_rest(t->s, "it does no other problem like this one");
}

/* OpenMP is set to one thread for these checks, as starting a team takes longer than such small work. */
void subject_stress(subject *s, bool apply_known, uint64_t *random) {
  applied a;
  applied_open(&a, STRESS_ROWS, STRESS_BYTES);
  stress t = {s, random, a.one, a.other, *s->options, apply_known, &a};
  int threads = 1;
#ifdef _OPENMP
  threads = omp_get_max_threads();
  omp_set_num_threads(1);
#endif
  if (t.options.threads == 0) t.options.threads = threads;
  check_all(&t);
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
  applied_close(&a);
}

/* ---- problems like the subject's ------------------------------------------------------------------------------ */

posenc_layout variant_layout(posenc_op op, int number) {
  static const posenc_layout of_rope[] = {POSENC_INTERLEAVED, POSENC_SPLIT};
  return op == POSENC_ROPE ? of_rope[number % 2] : (posenc_layout)(number % 4);
}

posenc_problem variant_problem(const stress *t, int64_t rows, int64_t dim) {
  posenc_problem p = *posenc_plan_problem(t->s->plan);
  const posenc_scaling none = posenc_scaling_none();
  p.rows = rows;
  p.positions = NULL;
  p.axes = NULL;
  p.odd = POSENC_ODD_REFUSED;
  p.padding = POSENC_NO_PADDING;
  p.layout = variant_layout(p.op, (int)random_below(t->random, 4));
  if (p.op == POSENC_ROPE) p.heads = 1 + (int64_t)random_below(t->random, 3);
  if ((double)dim / 2.0 - p.shift <= 0.0) p.shift = 0.0;
  if (p.scaling.factors && dim > p.dim) p.scaling = none;
  p.dim = dim;
  if (posenc_problem_refusal(&p)) p.scaling = none;
  return p;
}

int64_t variant_dim(const stress *t, int number) {
  return 2 * (number + 1) + 16 * (int64_t)random_below(t->random, 4);
}

posenc_problem variant_done(const stress *t, int64_t rows, int number) {
  posenc_problem p;
  for (int n = 0; n < VARIANT_DIMS; n++) {
    p = variant_problem(t, rows, variant_dim(t, (number + n) % VARIANT_DIMS));
    if (!posenc_kernel_refusal(t->s->kernel, &p, &t->options)) break;
  }
  return p;
}

int variant_firsts(const stress *t, int64_t firsts[FIRSTS]) {
  /* A kernel without a derived bound may compute each row from position 0 on. */
  const int64_t most = t->s->bound.derived ? INT64_MAX - 64 : 1 << 16, end = least(t->s->bound.max_position, most);
  int count = 0;
  for (int k = 12; k < 63; k++) {
    const int64_t power = INT64_C(1) << k, wanted[] = {power - FAR_ROWS / 3, -power - FAR_ROWS / 3};
    for (int i = 0; i < 2; i++)
      if (llabs(wanted[i]) <= end - FAR_ROWS) firsts[count++] = wanted[i];
  }
  const int64_t others[] = {-1, -FAR_ROWS, -1000003, end - FAR_ROWS + 1, -end};
  for (int i = 0; i < 5; i++)
    if (llabs(others[i]) <= end) firsts[count++] = others[i];
  return count;
}

/* ---- exams ----------------------------------------------------------------------------------------------------- */

void variant_collect(stress *t, subject *other, property p) {
  const posenc_problem *problem = &other->shape->problem;
  check_bound(&other->checks[ACCURACY], &other->found);
  if (propose_takes(problem)) accuracy_merge(&t->s->beside, &other->found);
  t->s->checks[p].compared += other->found.elements;
  for (property q = 0; q < PROPERTIES; q++) {
    const bool is_of_call = q == MEMORY || q == ENVIRONMENT || q == READ_ONLY;
    const check *found = &other->checks[q];
    check *into = &t->s->checks[is_of_call ? q : p];
    if (is_of_call) into->compared += found->compared;
    if (check_ok(found)) continue;
    if (*found->note)
      check_break(into, t->s, problem, "%s: %s", property_name(q), found->note);
    else
      check_break(into, t->s, problem, "%s: %" PRId64 " of %" PRId64 " wrong, at p = %" PRId64 ", i = %" PRId64,
                  property_name(q), found->broken, found->compared, found->position, found->index);
  }
}

void variant_examine_window(stress *t, subject *other, window w, fast_oracle *reference, bool again) {
  other->origin = 0;
  if (!op_is_applied(other->shape->problem.op)) {
    part_team *parts = parts_create(other, reference, 0);
    parts_check_window(parts, w, t->one, t->other, again, t->random);
    parts_destroy(parts);
    return;
  }
  applied_begin(t->applied, other, random_below(t->random, UINT64_MAX), reference);
  applied_check_window(t->applied, w, again, t->random);
  applied_end(t->applied);
}

void variant_examine(stress *t, subject *other, fast_oracle *reference, property p) {
  const posenc_problem *problem = &other->shape->problem;
  const int64_t rows = op_is_applied(problem->op) ? least(problem->rows, CHECKED_ROWS) : problem->rows;
  if (rows_are_special(problem)) {
    other->origin = 0;
    const sampling every = sampling_of(other->kernel, problem, INT64_MAX);
    subject_check_rows(other, &every, t->random);
  } else {
    variant_examine_window(t, other, (window){0, rows}, reference, true);
  }
  variant_collect(t, other, p);
}

fast_oracle *variant_reference(const posenc_problem *problem) {
  posenc_problem table = posenc_table_of(problem);
  table.first = 0;
  fast_oracle *reference = allocated(fast_create(&table, 0));
  fast_keep_witnesses(reference);
  return reference;
}

/* ---- probes ---------------------------------------------------------------------------------------------------- */

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

static void open_x(probe *r, size_t bytes) {
  const size_t chunks = (X_OFF + bytes + CHUNK - 1) / CHUNK * CHUNK;
  unsigned char *room = bytes > CHUNK ? map_x(chunks) : NULL;
  r->mapped = room ? chunks : 0;
  if (!room) room = allocated(posenc_alloc(X_OFF + bytes));
  r->x = room + X_OFF;
  draw_x(r->t, r->of.problem.dtype, r->x, r->mapped ? CHUNK : bytes);
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
  if (op_is_applied(problem->op)) open_x(r, bytes);
  if (all_rows) {
    r->rows = memory_grow(NULL, bytes, 1);
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
