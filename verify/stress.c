/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/stress.h"

#include "common/random.h"
#include "verify/leaks.h"
#include "verify/variants.h"

#include <inttypes.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>

/* ---- exams of other problems ----------------------------------------------------------------------------------- */

/* Examines another problem; leaves it out if the kernel cannot make it. Returns false if memory runs out. */
static bool examine_other(stress *t, const posenc_problem *problem, posenc_stores stores, fast_oracle *reference,
                          property p) {
  posenc_options options = t->options;
  const shape of = shape_of(problem);
  subject other;
  options.stores = stores;
  if (subject_open(&other, t->s->kernel, &of, &options)) return true;
  const bool enough = variant_examine(t, &other, reference, p);
  subject_close(&other);
  return enough;
}

/* Checks dims from 2 to 64 with every remainder, in each layout, with regular and streaming stores. Larger ones are
   those of check_drawn_dims. */
static bool check_widths(stress *t) {
  enum { ROWS = 37, LAYOUTS = 4, VECTOR = 16 };
  const int first = (int)random_below(t->random, LAYOUTS);
  bool enough = true;
  for (int n = 0; enough && n < VARIANT_DIMS * LAYOUTS; n++) {
    const int residue = n / LAYOUTS, kind = n % LAYOUTS, vectors = (first + residue + kind) % LAYOUTS;
    posenc_problem p = variant_problem(t, ROWS, 2 * (residue + 1) + VECTOR * vectors);
    p.layout = variant_layout(p.op, kind);
    fast_oracle *reference = variant_reference(&p);
    enough = reference;
    stress_say("other dims");
    for (posenc_stores stores = POSENC_STORES_REGULAR; enough && stores <= POSENC_STORES_STREAMING; stores++)
      enough = examine_other(t, &p, stores, reference, WIDTHS);
    fast_destroy(reference);
  }
  return enough;
}

/* Checks odd dims, by both definitions. */
static bool check_odd(stress *t) {
  enum { ROWS = 19 };
  bool enough = true;
  if (t->s->shape->problem.op != POSENC_TABLE) return true;
  stress_say("odd dims");
  for (int n = 0; enough && n < VARIANT_DIMS; n++) {
    posenc_problem p = variant_problem(t, ROWS, variant_dim(t, n));
    p.dim++;
    p.odd = n % 2 ? POSENC_ODD_PAD : POSENC_ODD_CEIL;
    p.scaling = posenc_table(1, 2).scaling;
    enough = examine_other(t, &p, t->options.stores, NULL, WIDTHS);
  }
  return enough;
}

/* Checks unordered lists of positions on both sides of 0, also with fractional ones. */
static bool check_lists(stress *t) {
  enum { DRAWN = 16, LISTS = 2 };
  static const double known[] = {5, -1, 0, -16, -17, 15, 16, 5, 257, -300, 65537, -1e6, 0x1p31 + 1, -0x1p53, 0x1p61};
  enum { KNOWN = sizeof known / sizeof *known };
  /* A kernel without a derived bound may compute each row from position 0 on. */
  const double most = (double)least(t->s->bound.max_position, t->s->bound.derived ? INT64_MAX : 1 << 12);
  double list[KNOWN + DRAWN];
  bool enough = true;
  if (t->s->shape->problem.op != POSENC_TABLE) return true;
  stress_say("lists of positions");
  for (int n = 0; enough && n < LISTS; n++) {
    posenc_problem p = variant_problem(t, 0, variant_dim(t, 3 * n));
    for (int i = 0; i < KNOWN; i++)
      if (fabs(known[i]) <= most) list[p.rows++] = known[i];
    for (int i = 0; i < DRAWN; i++) {
      const double drawn = (double)random_below(t->random, 1 << 20) / (n % 2 ? 8.0 : 1.0), there = fmod(drawn, most);
      list[p.rows++] = i % 2 ? -there : there;
    }
    p.first = 0;
    p.positions = list;
    enough = examine_other(t, &p, t->options.stores, NULL, FAR_POSITIONS);
  }
  return enough;
}

/* Checks videos of 3 × 4 × 5 places, one of them a table after a padding row, in each order and with each kind of
   frequencies. */
static bool check_axes(stress *t) {
  enum { GRIDS = 3, ROWS = 60, FEWEST = 12 };
  static const int64_t sizes[] = {3, 4, 5};
  const posenc_op op = t->s->shape->problem.op;
  bool enough = true;
  stress_say("several axes");
  for (int n = 0; enough && n < GRIDS; n++) {
    const int64_t dim = FEWEST * (1 + (int64_t)random_below(t->random, 4));
    posenc_problem p = variant_problem(t, ROWS, dim);
    posenc_axes axes = posenc_grid(3, sizes, dim);
    axes.frequencies = (posenc_axis_frequencies)n;
    axes.order = n == 1 ? POSENC_AXES_CYCLIC : POSENC_AXES_CHUNKED;
    axes.grouped = op == POSENC_TABLE && n != 1;
    p.first = n == 0 ? -1 : (int64_t)random_below(t->random, 2 * ROWS) - ROWS;
    if (n == 0 && op != POSENC_ROPE) p.padding = -1;
    p.axes = &axes;
    if (posenc_problem_refusal(&p)) p.scaling = posenc_table(1, 2).scaling;
    enough = examine_other(t, &p, t->options.stores, NULL, FAR_POSITIONS);
  }
  return enough;
}

/* Checks first positions; each of some dims has its share of them. */
static bool check_positions(stress *t) {
  int64_t firsts[FIRSTS];
  const int count = variant_firsts(t, firsts);
  bool enough = true;
  for (int n = 0; enough && n < VARIANT_DIMS; n++) {
    posenc_problem p = variant_problem(t, FAR_ROWS, variant_dim(t, n));
    fast_oracle *reference = variant_reference(&p);
    enough = reference;
    for (int i = n; enough && i < count; i += VARIANT_DIMS) {
      char doing[80];
      snprintf(doing, sizeof doing, "rows from position %" PRId64 " on", firsts[i]);
      stress_say(doing);
      p.first = firsts[i];
      enough = examine_other(t, &p, t->options.stores, reference, FAR_POSITIONS);
    }
    fast_destroy(reference);
  }
  return enough;
}

/* Checks numbers of heads around the sizes of vectors, cache lines and models; and the widest rows of models. */
static bool check_heads(stress *t) {
  static const int64_t heads[] = {4, 5, 7, 8, 12, 16, 20, 24, 31, 32, 33, 40, 48, 63, 64, 65, 71, 96, 100, 127, 128};
  posenc_problem p = variant_done(t, 19, (int)random_below(t->random, VARIANT_DIMS));
  if (p.op != POSENC_ROPE) return true;
  fast_oracle *reference = variant_reference(&p);
  bool enough = reference;
  stress_say("other numbers of heads");
  for (size_t n = 0; enough && n < sizeof heads / sizeof *heads; n++) {
    p.heads = heads[n];
    p.layout = variant_layout(p.op, (int)random_below(t->random, 2));
    enough = examine_other(t, &p, t->options.stores, reference, HEAD_COUNTS);
  }
  fast_destroy(reference);
  for (int64_t dim = 128; enough && dim <= 256; dim *= 2) {
    p = variant_problem(t, 2, dim);
    p.heads = 16384 / dim + 1;
    reference = variant_reference(&p);
    enough = reference && examine_other(t, &p, t->options.stores, reference, HEAD_COUNTS);
    fast_destroy(reference);
  }
  return enough;
}

/* Makes the checks that depend on the kernel in tables, and in add and rope if it has an `apply` of its own. */
static bool check_apply(stress *t) {
  if (t->apply_known) {
    t->s->checks[HEAD_COUNTS].skip = t->s->checks[ALIGNMENT].skip =
        "the library applies the rows, which is looked at with another kernel";
    return true;
  }
  if (!check_heads(t) || !check_drawn_heads(t) || (op_is_applied(t->s->shape->problem.op) && !check_slices(t)))
    return false;
  check_alignment(t);
  return true;
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

static bool check_all(stress *t) {
  const char *const failed = first_failure(t->s);
  check_cpus(t);
  if (failed) {
    skip_rest(t->s, failed);
    return true;
  }
  if (t->s->bound.max_position < FEWEST_POSITIONS) {
    skip_rest(t->s, "its bound is for too few positions");
    return true;
  }
  check_const(t);
  if (!check_widths(t) || !check_odd(t)) return false;
  if (!check_positions(t) || !check_lists(t) || !check_plans(t) || !check_call_sizes(t)) return false;
  if (!check_apply(t) || !check_axes(t)) return false;
  check_decoding(t);
  check_endurance(t);
  if (!check_teams(t)) return false;
  if (!check_drawn_dims(t) || !check_drawn_positions(t) || !check_domain(t)) return false;
  check_contents(t);
  check_addresses(t);
  check_stack(t);
  check_leaks(t);
  skip_rest(t->s, "it does no other problem like this one");
  return true;
}

/* OpenMP is set to one thread for these checks, as starting a team takes longer than such small work. */
bool subject_stress(subject *s, bool apply_known, uint64_t *random) {
  applied a;
  const bool has_room = applied_open(&a, STRESS_ROWS, STRESS_BYTES);
  stress t = {s, random, a.one, a.other, *s->options, apply_known, &a};
  int threads = 1;
#ifdef _OPENMP
  threads = omp_get_max_threads();
  omp_set_num_threads(1);
#endif
  if (t.options.threads == 0) t.options.threads = threads;
  const bool enough = has_room && check_all(&t);
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
  applied_close(&a);
  return enough;
}
