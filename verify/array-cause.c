/* SPDX-License-Identifier: MIT */
#include "verify/array-cause.h"

#include "models/model.h"
#include "reference/axes.h"
#include "reference/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 64, EXPLAINED = 16 };

/* The position that a vector is assumed to have: the requested one, what a known mistake makes of it, or the vector's
   index on another axis. */
typedef enum trial_positions { AS_ASKED, MISTAKEN, ON_AXIS } trial_positions;

/* A way in which x may have been changed. The frequencies are the problem's; the columns begin at the request's first
   one. */
typedef struct trial {
  posenc_problem problem;
  int64_t columns;
  trial_positions positions;
  size_t mistake, axis;    /* numbers of position_mistake, and of the axis */
  double factor, x_factor; /* factors of the table, and of x before the operation */
  bool nothing, exchanged; /* the result is x; or sine and cosine are exchanged */
} trial;

/* ---- trials ---------------------------------------------------------------------------------------------------- */

static int64_t position_by(const trial *t, const array_request *request, int64_t row) {
  int64_t indices[STORED_AXES];
  const int64_t position =
      array_position(request, axes_index(request->arrays.axes, table_stored(request->arrays.x), row, indices));
  long double wrong = 0.0L;
  if (t->positions == AS_ASKED) return position;
  if (t->positions == ON_AXIS) return request->problem.first + indices[t->axis];
  position_mistake(t->mistake, position, &wrong);
  return (int64_t)wrong;
}

/* Returns the larger error of a pair, as a share: for rope of the pair's length, for add of x, or of 1 if that is more.
   Numbers of the dtype below `least` have fewer digits. */
static double pair_error(const trial *t, double least, fast_pair by, const double x[2], const double got[2]) {
  const double sine = (t->exchanged ? by.cosine : by.sine).high * t->factor,
               cosine = (t->exchanged ? by.sine : by.cosine).high * t->factor;
  const double a = t->x_factor * x[0], b = t->x_factor * x[1];
  const bool is_add = t->problem.op == POSENC_ADD;
  const double turn = t->problem.inverse ? -sine : sine, size = fmax(hypot(a, b), is_add ? 1.0 : least);
  const double first = t->nothing ? a
                       : is_add   ? a + sine
                                  : a * cosine - b * turn,
               second = t->nothing ? b
                        : is_add   ? b + cosine
                                   : b * cosine + a * turn;
  const double errors[] = {fabs(got[0] - first), fabs(got[1] - second)};
  return (errors[0] > errors[1] || isnan(errors[0]) ? errors[0] : errors[1]) / size;
}

/* Returns the largest error of all samples; infinity if the trial is impossible. */
static double error_of(const trial *t, const array_request *request, vectors *v) {
  const int64_t count = v->at->rows < SAMPLES ? v->at->rows : SAMPLES;
  const posenc_columns at = posenc_layout_columns(t->problem.layout, t->columns);
  const bool grouped = t->problem.axes && t->problem.axes->grouped;
  const format *f = format_of(request->problem.dtype);
  const double least = ldexp(1.0, f->least + f->precision);
  const int64_t pairs = t->columns / 2;
  axes_reference *reference = axes_reference_create(&t->problem);
  double worst = reference ? 0.0 : INFINITY;
  for (int64_t n = 0; n < count && isfinite(worst); n++) {
    const double *x = v->x + request->start, *got = v->out + request->start;
    const int64_t row = vectors_sample(v, n, count);
    vectors_read(v, row);
    const fast_lanes *by = axes_reference_lanes(reference, position_by(t, request, row));
    for (int64_t i = 0; i < pairs; i++) {
      const fast_lanes *group = &by[i / FAST_LANES];
      const int64_t first = grouped ? axes_column(&t->problem, i, false) : at.sin + i * at.step,
                    second = grouped ? axes_column(&t->problem, i, true) : at.cos + i * at.step, k = i % FAST_LANES;
      const fast_pair turn = {{group->sin_high[k], group->sin_low[k]}, {group->cos_high[k], group->cos_low[k]}};
      const double error =
          pair_error(t, least, turn, (double[]){x[first], x[second]}, (double[]){got[first], got[second]});
      worst = error <= worst ? worst : error == error ? error : INFINITY;
    }
    for (int64_t c = t->columns; c < request->problem.dim; c++)
      if (got[c] != x[c]) worst = INFINITY;
  }
  axes_reference_destroy(reference);
  return worst;
}

typedef struct search {
  const array_request *request;
  vectors *v;
  double least;
  array_cause best;
} search;

__attribute__((format(printf, 3, 4))) static void try(search *all, const trial *t, const char *text, ...) {
  const double error = error_of(t, all->request, all->v);
  if (!(error < all->least)) return;
  va_list arguments;
  va_start(arguments, text);
  vsnprintf(all->best.text, sizeof all->best.text, text, arguments);
  va_end(arguments);
  all->least = error;
}

static void try_pairs(search *all, const trial *asked) {
  static const posenc_layout layouts[] = {POSENC_INTERLEAVED, POSENC_SPLIT, POSENC_INTERLEAVED_CS, POSENC_SPLIT_CS};
  const bool is_rope = asked->problem.op == POSENC_ROPE;
  for (size_t n = 0; n < (is_rope ? 2 : sizeof layouts / sizeof *layouts); n++) {
    trial t = *asked;
    if (layouts[n] == asked->problem.layout) continue;
    t.problem.layout = layouts[n];
    if (is_rope)
      try(all, &t, "%s", pairs_mistake(asked->problem.layout));
    else
      try(all, &t, "the layout is %s", (const char *[]){"interleaved", "split", "interleaved-cs", "split-cs"}[n]);
  }
  trial t = *asked;
  t.exchanged = true;
  try(all, &t, "sine and cosine are exchanged");
  t = *asked;
  t.nothing = true;
  try(all, &t, is_rope ? "nothing is turned" : "nothing is added");
  t = *asked;
  t.problem.inverse = !t.problem.inverse;
  if (is_rope) try(all, &t, "%s", turn_mistake(asked->problem.inverse));
  t = *asked;
  t.x_factor = sqrt((double)asked->columns);
  if (!is_rope) try(all, &t, "x is multiplied by sqrt(%" PRId64 ") first", asked->columns);
}

static void try_positions(search *all, const trial *asked) {
  const array_request *request = all->request;
  const stored *at = all->v->at;
  trial t = *asked;
  const char *words;
  long double unused;
  t.positions = MISTAKEN;
  for (; (words = position_mistake(t.mistake, 0.0L, &unused)); t.mistake++) try(all, &t, "%s", words);
  t.positions = ON_AXIS;
  for (t.axis = 0; t.axis + 1 < at->axis_count; t.axis++)
    if (at->axes[t.axis] > 1 && request->arrays.axes[t.axis] != AXIS_POSITIONS)
      try(all, &t, "positions are the indices of axis %zu, %c", t.axis, request->arrays.axes[t.axis]);
}

static void try_columns(search *all, const trial *asked) {
  const int64_t dim = asked->problem.dim, columns = all->v->at->dim;
  if (asked->problem.op != POSENC_ROPE) return;
  trial t = *asked;
  t.problem.dim = columns;
  if (columns > dim && columns % 2 == 0) try(all, &t, "the frequencies are those of %" PRId64 " columns", columns);
  for (int64_t part = 2; part <= 4; part += 2) {
    t = *asked;
    t.problem.dim = t.columns = dim / part;
    if (dim % (2 * part) == 0) try(all, &t, "%" PRId64 " columns are turned, not %" PRId64, t.columns, dim);
  }
}

/* Tries other formulas, in columns that x has. */
static void try_formulas(search *all, const trial *asked, const suspect_list *list) {
  for (size_t n = 0; list && n < list->count; n++) {
    trial t = *asked;
    t.problem = list->items[n].problem;
    t.columns = t.problem.dim;
    posenc_problem plain = t.problem;
    plain.dtype = POSENC_F32; /* in f32, as the library's add and rope have fewer dtypes */
    if (all->request->start + t.columns <= all->v->at->dim && !posenc_problem_refusal(&plain))
      try(all, &t, "%s", list->items[n].text);
  }
}

/* Tries other axes. */
static void try_axes(search *all, const trial *asked) {
  axes_mistake mistakes[AXES_MISTAKES_MAX];
  const size_t count = axes_mistakes(asked->problem.axes, mistakes);
  for (size_t n = 0; n < count; n++) {
    trial t = *asked;
    t.problem.axes = mistakes[n].is_one ? NULL : &mistakes[n].axes;
    posenc_problem valid = t.problem;
    valid.dtype = POSENC_F32;
    if (!posenc_problem_refusal(&valid)) try(all, &t, "%s", mistakes[n].words);
  }
}

array_cause array_cause_of(const array_request *request) {
  vectors v = {0};
  search all = {.request = request, .v = &v};
  trial asked = {.problem = request->problem, .columns = request->problem.dim, .factor = 1.0, .x_factor = 1.0};
  asked.problem.positions = NULL;
  if (vectors_open(&v, &request->arrays)) {
    const double unit = ldexp(1.0, -format_of(request->problem.dtype)->precision),
                 error = error_of(&asked, request, &v);
    all.least = error / EXPLAINED;
    if (isfinite(error) && error > EXPLAINED * unit) {
      try_pairs(&all, &asked);
      if (asked.problem.axes) {
        try_axes(&all, &asked);
      } else {
        try_positions(&all, &asked);
        try_columns(&all, &asked);
      }
      try_formulas(&all, &asked, request->suspects);
    }
  }
  vectors_close(&v);
  return all.best;
}
