/* SPDX-License-Identifier: MIT */
#include "common/memory.h"
#include "common/progress.h"
#include "common/shapes.h"
#include "inspect/models/model.h"
#include "reference/applied.h"
#include "reference/axes.h"
#include "reference/format.h"
#include "reference/limit.h"
#include "reference/scaling.h"
#include "verify/files.h"
#include "verify/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The size of a block of rows, which fits a cache. */
enum { BLOCK_BYTES = 1 << 20 };

/* The limit of results of one problem, of arithmetic as their numbers show it (reference/limit.h). */
typedef struct limits {
  double *angles;      /* of each frequency index at position 1 */
  double value, least; /* least: numbers of the dtype below have fewer digits */
} limits;

/* The exam of an array, whose rows are vectors of the last axis. */
struct array_exam {
  const array_request *request;
  const stored *at;
  axes_reference *reference;
  double attention;
  posenc_dtype held;      /* the dtype whose numbers the results are */
  unsigned char *x, *got; /* blocks of rows */
  /* If the columns of axes are grouped: the column of each sine, then of each cosine, and rows in that order. Otherwise
     null. */
  int64_t *columns;
  unsigned char *x_row, *got_row;
  posenc_problem plain; /* without a list, with these columns if there are any */
  octaves by_size;
  accuracy found;
  int64_t rows_of[2];                  /* rows of the largest errors, in ulp and absolute */
  int64_t changed_row, changed_column; /* the first element that differs from x, but must not */
  int64_t not_finite;
  int64_t beyond; /* elements beyond the limit of a check that is given none */
  limits limits;
  check checks[2]; /* ACCURACY, UNTOUCHED */
};

enum { OF_ACCURACY, OF_UNTOUCHED };

/* ---- the limit without one ------------------------------------------------------------------------------------- */

/* Returns false if memory runs out. */
static void limits_open(limits *l, const posenc_problem *problem, posenc_dtype held) {
  const double unit = limit_unit(held);
  *l = (limits){.angles = allocated(axes_limits(problem, unit)),
                .value = limit_of_value(held, unit, LIMIT_OF_PAIR),
                .least = ldexp(1.0, format_of(held)->least + format_of(held)->precision)};
}

/* Returns the limit of a pair's errors, as a share of its length. */
static double limit_at(const limits *l, const posenc_problem *problem, int64_t i, int64_t at) {
  const posenc_axes *axes = problem->axes;
  const double position = axes ? axis_position(axes, axes_axis(axes, i), at) : (double)at;
  return fmin(l->angles[i] * fabs(position), limit_most) + l->value;
}

static fast_pair lane_of(const fast_lanes *lanes, int64_t i) {
  const fast_lanes *group = &lanes[i / FAST_LANES];
  const int64_t k = i % FAST_LANES;
  return (fast_pair){{group->sin_high[k], group->sin_low[k]}, {group->cos_high[k], group->cos_low[k]}};
}

/* Returns the larger error of a pair, as a share: for rope of the pair's length, for add of x, or of 1 if that is
   more. */
static double share_of(const double x[2], const double got[2], const double right[2], bool is_add, double least) {
  const double size = fmax(hypot(x[0], x[1]), is_add ? 1.0 : least),
               errors[] = {fabs(got[0] - right[0]), fabs(got[1] - right[1])};
  return (errors[0] > errors[1] || isnan(errors[0]) ? errors[0] : errors[1]) / size;
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

/* Writes a place as "b 0, l 5, h 3, d 12". */
static void tell_place(const array_request *request, int64_t row, int64_t column, char *text, size_t size) {
  const size_t count = table_stored(request->arrays.x)->axis_count;
  int64_t indices[STORED_AXES];
  int used = 0;
  axes_index(request->arrays.axes, table_stored(request->arrays.x), row, indices);
  indices[count - 1] = column;
  for (size_t axis = 0; axis < count && (size_t)used < size; axis++)
    used += snprintf(text + used, size - (size_t)used, "%s%c %" PRId64, axis ? ", " : "", request->arrays.axes[axis],
                     indices[axis]);
}

/* ---- block by block -------------------------------------------------------------------------------------------- */

/* Checks that columns that are not processed have the bits of x. */
static void check_untouched(array_exam *e, int64_t row, int64_t position, const unsigned char *x,
                            const unsigned char *got) {
  const posenc_problem *problem = &e->request->problem;
  const size_t element = posenc_dtype_bytes(problem->dtype);
  const int64_t end = e->request->start + problem->dim;
  check *c = &e->checks[OF_UNTOUCHED];
  for (int64_t column = 0; column < e->at->dim; column++) {
    if (column >= e->request->start && column < end) continue;
    const size_t at = (size_t)column * element;
    const bool same = memcmp(x + at, got + at, element) == 0;
    if (!same && c->broken == 0) {
      e->changed_row = row;
      e->changed_column = column;
    }
    const double error = fabs(format_element(problem->dtype, got, column) - format_element(problem->dtype, x, column));
    check_note(c, same ? 0.0 : isnan(error) ? INFINITY : fmax(error, 0x1p-1074), 0.0, position, column);
  }
}

static posenc_dtype array_held(const array_request *request) {
  vectors v;
  vectors_open(&v, &request->arrays);
  const posenc_dtype held = vectors_held(&v);
  vectors_close(&v);
  return held;
}

/* Returns the elements in the order of e->columns. */
static const unsigned char *reordered(const array_exam *e, const unsigned char *row, unsigned char *out) {
  const size_t element = posenc_dtype_bytes(e->plain.dtype);
  for (int64_t c = 0; e->columns && c < e->plain.dim; c++)
    memcpy(out + (size_t)c * element, row + (size_t)e->columns[c] * element, element);
  return e->columns ? out : row;
}

static void open_columns(array_exam *e) {
  const int64_t dim = e->plain.dim, pairs = dim / 2;
  if (!e->plain.axes || !e->plain.axes->grouped) return;
  e->columns = memory_take((size_t)dim, sizeof *e->columns);
  e->x_row = memory_take((size_t)dim, sizeof(double));
  e->got_row = memory_take((size_t)dim, sizeof(double));
  for (int64_t c = 0; c < dim; c++) e->columns[c] = axes_column(&e->plain, c % pairs, c >= pairs);
  e->plain.layout = POSENC_SPLIT;
}

/* Returns the vector of x that begins there, without a result. */
static applied_row vector_of(const array_exam *e, int64_t row, const unsigned char *x) {
  const int64_t position = array_position(e->request, axes_index(e->request->arrays.axes, e->at, row, NULL));
  return (applied_row){.problem = &e->plain,
                       .position = position,
                       .exact_pairs = axes_reference_lanes(e->reference, position),
                       .x = reordered(e, x, e->x_row),
                       .attention = e->attention,
                       .plain = true};
}

/* Counts pairs beyond the limit without one. */
static void check_limits(array_exam *e, int64_t position, const fast_lanes *lanes, const void *x, const void *got) {
  const posenc_problem *problem = &e->plain;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const bool is_add = problem->op == POSENC_ADD;
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    const fast_pair by = lane_of(lanes, i);
    const int64_t first = at.sin + i * at.step, second = at.cos + i * at.step;
    const double turn = problem->inverse ? -by.sine.high : by.sine.high, turned = by.cosine.high;
    const double a = format_element(problem->dtype, x, first), b = format_element(problem->dtype, x, second),
                 there[] = {format_element(problem->dtype, got, first), format_element(problem->dtype, got, second)},
                 right[] = {is_add ? a + turn : a * turned - b * turn, is_add ? b + turned : b * turned + a * turn};
    const double share = share_of((double[]){a, b}, there, right, is_add, e->limits.least);
    e->beyond += !(share <= fmax(e->attention, 1.0) * limit_at(&e->limits, problem, i, position));
  }
}

static void check_vector(array_exam *e, int64_t row, const unsigned char *x, const unsigned char *got) {
  const posenc_problem *problem = &e->request->problem;
  const size_t ahead = (size_t)e->request->start * posenc_dtype_bytes(problem->dtype);
  applied_row vector = vector_of(e, row, x + ahead);
  const int64_t position = vector.position;
  octave *in = octaves_at(&e->by_size, position);
  vector.got = reordered(e, got + ahead, e->got_row);
  const element_error sums = applied_check(&vector, &in->found, &in->found);
  check_limits(e, position, vector.exact_pairs, vector.x, vector.got);
  if (in->rows++ == 0) in->first = position;
  in->found.sum_ulp += sums.ulp;
  in->found.sum_abs += sums.abs;
  const bool is_first = e->rows_of[0] < 0;
  if (is_first || in->found.max_ulp.ulp > e->found.max_ulp.ulp) {
    e->found.max_ulp = in->found.max_ulp;
    e->rows_of[0] = row;
  }
  if (is_first || in->found.max_abs.abs > e->found.max_abs.abs) {
    e->found.max_abs = in->found.max_abs;
    e->rows_of[1] = row;
  }
  for (int64_t c = 0; c < problem->dim; c++) e->not_finite += !isfinite(format_element(problem->dtype, got + ahead, c));
  check_untouched(e, row, position, x, got);
}

static bool is_finite_row(const array_exam *e, const unsigned char *x) {
  for (int64_t c = 0; c < e->at->dim; c++)
    if (!isfinite(format_element(e->at->dtype, x, c))) return false;
  return true;
}

/* Checks all blocks. Returns false at a row of x that is not finite. */
static bool check_blocks(array_exam *e, int64_t *bad_row) {
  const size_t row_bytes = (size_t)e->at->dim * posenc_dtype_bytes(e->at->dtype);
  const int64_t block = row_bytes < BLOCK_BYTES ? BLOCK_BYTES / (int64_t)row_bytes : 1, all = e->at->rows;
  for (int64_t row = 0, rows; row < all; row += rows) {
    rows = all - row < block ? all - row : block;
    progress_show("check", e->request->name, (double)row * (double)e->at->dim, (double)all * (double)e->at->dim,
                  "elements");
    table_rows(e->request->arrays.x, row, rows, e->x);
    table_rows(e->request->arrays.out, row, rows, e->got);
    for (int64_t r = 0; r < rows; r++) {
      const size_t at = (size_t)r * row_bytes;
      *bad_row = row + r;
      if (!is_finite_row(e, e->x + at)) return false;
      check_vector(e, row + r, e->x + at, e->got + at);
    }
  }
  *bad_row = -1;
  const witness by_ulp = e->found.max_ulp, by_abs = e->found.max_abs;
  e->found = (accuracy){0};
  octaves_sum(&e->by_size, &e->found);
  e->found.max_ulp = by_ulp; /* the witnesses whose rows are known */
  e->found.max_abs = by_abs;
  return true;
}

/* ---- the record ------------------------------------------------------------------------------------------------ */

static json_t *witness_json(const array_exam *e, const witness *w, int64_t row) {
  const posenc_problem *problem = &e->request->problem;
  const int64_t column = e->request->start + axes_column(problem, w->index, w->cosine);
  char where[400];
  tell_place(e->request, row, column, where, sizeof where);
  json_t *made = replayed_witness(w, record_command(e->request->replay));
  json_object_set_new(made, "row", json_integer(row));
  json_object_set_new(made, "column", json_integer(column));
  json_object_set_new(made, "place", json_string(where));
  if (problem->op == POSENC_ROPE) json_object_set_new(made, "function", json_string(w->cosine ? "second" : "first"));
  return made;
}

static void finish_checks(array_exam *e, char *figures, size_t size) {
  const array_request *request = e->request;
  check *accurate = &e->checks[OF_ACCURACY], *untouched = &e->checks[OF_UNTOUCHED];
  const bool by_ulp = request->max_ulp > 0.0;
  accurate->compared = e->found.elements;
  accurate->worst = by_ulp ? e->found.max_ulp.ulp : e->found.max_abs.abs;
  accurate->bound = by_ulp ? request->max_ulp : request->max_abs;
  accurate->broken = !(accurate->worst <= accurate->bound);
  snprintf(figures, size, "no limit was given; max %.6g ulp, max abs %.3g", e->found.max_ulp.ulp, e->found.max_abs.abs);
  if (!by_ulp && request->max_abs == 0.0) {
    accurate->skip = figures;
  } else if (accurate->broken) {
    snprintf(accurate->note, sizeof accurate->note, "%.6g %s", accurate->worst, by_ulp ? "ulp" : "absolute");
  }
  if (untouched->broken) {
    char where[200];
    tell_place(request, e->changed_row, e->changed_column, where, sizeof where);
    snprintf(untouched->note, sizeof untouched->note, "%" PRId64 " of %" PRId64 " differ from x, the first at %s",
             untouched->broken, untouched->compared, where);
  }
  if (untouched->compared == 0) untouched->skip = "all columns are worked on";
}

static json_t *record_of(array_exam *e) {
  static const property properties[] = {[OF_ACCURACY] = ACCURACY, [OF_UNTOUCHED] = UNTOUCHED};
  const accuracy *a = &e->found;
  const array_request *request = e->request;
  const shape of = shape_of(&request->problem);
  const posenc_bound limit = {.ulp = request->max_ulp, .abs = request->max_abs};
  const bool is_limited = limit.ulp > 0.0 || limit.abs > 0.0;
  json_t *checks = json_array();
  char figures[120];
  finish_checks(e, figures, sizeof figures);
  for (size_t n = 0; n < sizeof properties / sizeof *properties; n++)
    json_array_append_new(checks, check_json(property_name(properties[n]), &e->checks[n]));
  const file_record record = {.name = request->name,
                              .table = request->arrays.out,
                              .shape = &of,
                              .command = request->replay,
                              .limit = is_limited ? &limit : NULL,
                              .found = a,
                              .of = e->at->rows * request->problem.dim,
                              .not_finite = e->not_finite,
                              .max_ulp = witness_json(e, &a->max_ulp, e->rows_of[0]),
                              .max_abs = witness_json(e, &a->max_abs, e->rows_of[1]),
                              .worst = is_limited ? witness_json(e, &a->max_ulp, e->rows_of[0]) : json_null(),
                              .positions = octaves_json(&e->by_size, NULL),
                              .checks = checks};
  return record_of_file(&record, json_pack("{s:o, s:s, s:I, s:I, s:s}", "x", record_name(request->x_name), "axes",
                                           request->arrays.axes, "start", (json_int_t)request->start, "beyond",
                                           (json_int_t)e->beyond, "held", dtype_name(e->held)));
}

/* Must be closed in any case. */
static void open_exam(array_exam *e, const array_request *request) {
  *e = (array_exam){.request = request, .at = table_stored(request->arrays.x), .rows_of = {-1, -1}};
  const size_t row_bytes = (size_t)e->at->dim * posenc_dtype_bytes(e->at->dtype),
               block = row_bytes < BLOCK_BYTES ? BLOCK_BYTES : row_bytes;
  e->attention = attention_of(&request->problem);
  e->plain = request->problem;
  e->plain.positions = NULL;
  e->reference = allocated(axes_reference_create(&e->plain));
  e->x = memory_grow(NULL, block, 1);
  e->got = memory_grow(NULL, block, 1);
  open_columns(e);
}

static void close_exam(array_exam *e) {
  axes_reference_destroy(e->reference);
  free(e->limits.angles);
  free(e->columns);
  free(e->x_row);
  free(e->got_row);
  free(e->x);
  free(e->got);
}

json_t *verify_array(const array_request *request, int64_t *bad_row) {
  array_exam e;
  json_t *record = NULL;
  *bad_row = -1;
  open_exam(&e, request);
  e.held = array_held(request);
  limits_open(&e.limits, &e.plain, e.held);
  if (check_blocks(&e, bad_row)) record = record_of(&e);
  progress_clear();
  close_exam(&e);
  return record;
}

/* ---- the result itself ----------------------------------------------------------------------------------------- */

array_exam *array_open(const array_request *request) {
  array_exam *e = memory_take(1, sizeof *e);
  open_exam(e, request);
  return e;
}

static void make_vector(const array_exam *e, int64_t row, const unsigned char *x, unsigned char *out) {
  const size_t element = posenc_dtype_bytes(e->at->dtype), ahead = (size_t)e->request->start * element;
  const applied_row vector = vector_of(e, row, x + ahead);
  memcpy(out, x, (size_t)e->at->dim * element);
  applied_make(&vector, e->columns ? e->got_row : out + ahead);
  for (int64_t c = 0; e->columns && c < e->plain.dim; c++)
    memcpy(out + ahead + (size_t)e->columns[c] * element, e->got_row + (size_t)c * element, element);
}

bool array_make(array_exam *e, int64_t row, int64_t rows, void *out, int64_t *bad_row) {
  const size_t row_bytes = (size_t)e->at->dim * posenc_dtype_bytes(e->at->dtype);
  for (int64_t r = 0; r < rows; r++) {
    *bad_row = row + r;
    table_rows(e->request->arrays.x, row + r, 1, e->x);
    if (!is_finite_row(e, e->x)) return false;
    make_vector(e, row + r, e->x, (unsigned char *)out + (size_t)r * row_bytes);
  }
  *bad_row = -1;
  return true;
}

void array_close(array_exam *e) {
  if (e) close_exam(e);
  free(e);
}

/* ---- the cause of what differs --------------------------------------------------------------------------------- */

enum { SAMPLES = 64, EXPLAINED = 16 };

/* The position that a vector is assumed to have: the requested one, what a known mistake makes of it, the same for all,
   those of the first rows again and again, or the vector's index on another axis. */
typedef enum trial_positions { AS_ASKED, MISTAKEN, CONSTANT, AGAIN, ON_AXIS } trial_positions;

/* A way in which x may have been changed. The frequencies are the problem's; the columns begin at the request's first
   one. */
typedef struct trial {
  posenc_problem problem;
  int64_t columns;
  posenc_layout written; /* the layout of the pairs of the result */
  trial_positions positions;
  size_t mistake, axis; /* numbers of position_mistake, and of the axis */
  int64_t constant;     /* the position of all, or the number of rows before they come again */
  double x_factor;      /* a factor of x before the operation */
  /* The result is x; sine and cosine are exchanged; a column takes the frequency that it has in the other form of a
     cache; x is exchanged in the pairs that turn, without a change of sign. */
  bool nothing, exchanged, misread, is_unsigned;
} trial;

typedef struct search {
  const array_request *request;
  vectors *v;
  posenc_dtype held;
  int axis; /* whose vectors of that index are looked at; -1: all */
  int64_t index;
  posenc_problem of; /* the problem of the reference and the limits, which many trials share */
  axes_reference *reference;
  limits limits;
  double asked, asked_beyond; /* the error of what is asked, and as a multiple of its limit */
  double beyond;              /* that of the last trial */
  double least;
  array_cause best;
} search;

/* ---- the errors of a trial ------------------------------------------------------------------------------------- */

static int64_t position_by(const trial *t, const array_request *request, int64_t row) {
  int64_t indices[STORED_AXES];
  const int64_t at = axes_index(request->arrays.axes, table_stored(request->arrays.x), row, indices),
                position = array_position(request, at);
  long double wrong = 0.0L;
  if (t->positions == AS_ASKED) return position;
  if (t->positions == CONSTANT) return t->constant;
  if (t->positions == AGAIN) return array_position(request, at % t->constant);
  if (t->positions == ON_AXIS) return request->problem.first + indices[t->axis];
  position_mistake(t->mistake, position, &wrong);
  return (int64_t)wrong;
}

/* Returns the row of the n-th of `count` samples. */
static int64_t sampled(const search *all, int64_t n, int64_t count) {
  const stored *at = all->v->at;
  if (all->axis < 0) return vectors_sample(all->v, n, count);
  int64_t behind = 1; /* rows from one index of the axis to the next */
  for (size_t axis = (size_t)all->axis + 1; axis + 1 < at->axis_count; axis++) behind *= at->axes[axis];
  const int64_t size = at->axes[all->axis], rows = at->rows / size,
                k = count > 1 ? (int64_t)((double)n * (double)(rows - 1) / (double)(count - 1)) : 0;
  return (k / behind * size + all->index) * behind + k % behind;
}

/* Returns the frequency index of an element of a pair. A cache has column c's frequency at c / 2 if each comes twice in
   a row, and at c of each half if it is the same half twice. */
static int64_t frequency_at(const trial *t, int64_t i, bool second) {
  const int64_t pairs = t->columns / 2;
  if (!t->misread) return i;
  return t->problem.layout == POSENC_SPLIT ? (i + second * pairs) / 2 : (2 * i + second) % pairs;
}

/* Computes what the trial makes of a pair. */
static void make_pair(const trial *t, const fast_lanes *by, int64_t i, const double x[2], double made[2]) {
  for (int second = 0; second < 2; second++) {
    const fast_pair turn = lane_of(by, frequency_at(t, i, second));
    const double sine = (t->exchanged ? turn.cosine : turn.sine).high,
                 cosine = (t->exchanged ? turn.sine : turn.cosine).high,
                 sign = t->is_unsigned || second != t->problem.inverse ? 1.0 : -1.0;
    if (t->nothing)
      made[second] = x[second];
    else if (t->problem.op == POSENC_ADD)
      made[second] = x[second] + (second ? cosine : sine);
    else
      made[second] = x[second] * cosine + sign * x[!second] * sine;
  }
}

static void drop_reference(search *all) {
  axes_reference_destroy(all->reference);
  free(all->limits.angles);
  all->reference = NULL;
  all->limits.angles = NULL;
}

/* Sets the reference and the limits of the trial's frequencies. */
static void take_reference(search *all, const trial *t) {
  posenc_problem of = t->problem;
  of.layout = all->request->problem.layout;
  of.inverse = false;
  if (all->reference && memcmp(&of, &all->of, sizeof of) == 0) return;
  drop_reference(all);
  all->of = of;
  all->reference = allocated(axes_reference_create(&of));
  limits_open(&all->limits, &of, all->held);
}

/* Returns the largest error of a vector, as a multiple of the limit of values; *beyond: at least as a multiple of its
   own limit, which includes the angle's. */
static double error_of_vector(search *all, const trial *t, int64_t at, double *beyond) {
  const limits *l = &all->limits;
  const fast_lanes *by = axes_reference_lanes(all->reference, at);
  const int64_t pairs = t->columns / 2;
  const posenc_columns from = posenc_layout_columns(t->problem.layout, t->columns),
                       to = posenc_layout_columns(t->written, t->columns);
  const bool is_grouped = t->problem.axes && t->problem.axes->grouped, is_add = t->problem.op == POSENC_ADD;
  const double *x = all->v->x + all->request->start, *got = all->v->out + all->request->start,
               attention = fmax(attention_of(&t->problem), 1.0);
  double worst = 0.0;
  for (int64_t i = 0; i < pairs; i++) {
    const int64_t first = is_grouped ? axes_column(&t->problem, i, false) : from.sin + i * from.step,
                  second = is_grouped ? axes_column(&t->problem, i, true) : from.cos + i * from.step;
    const double pair[] = {t->x_factor * x[first], t->x_factor * x[second]},
                 there[] = {got[is_grouped ? first : to.sin + i * to.step],
                            got[is_grouped ? second : to.cos + i * to.step]};
    double made[2];
    make_pair(t, by, i, pair, made);
    const double error = share_of(pair, there, made, is_add, l->least) / attention,
                 of_limit = error / limit_at(l, &t->problem, i, at);
    *beyond = of_limit <= *beyond ? *beyond : of_limit;
    worst = error <= worst ? worst : error == error ? error : INFINITY;
  }
  for (int64_t c = t->columns; c < all->request->problem.dim; c++)
    if (got[c] != x[c]) worst = INFINITY;
  return worst / l->value;
}

/* Returns the largest error of all samples, as error_of_vector, and sets all->beyond; infinity if the trial is
   impossible. */
static double error_of(search *all, const trial *t) {
  const int64_t rows = all->v->at->rows / (all->axis < 0 ? 1 : all->v->at->axes[all->axis]),
                count = rows < SAMPLES ? rows : SAMPLES;
  double worst = 0.0;
  take_reference(all, t);
  all->beyond = 0.0;
  for (int64_t n = 0; n < count && isfinite(worst); n++) {
    const int64_t row = sampled(all, n, count);
    vectors_read(all->v, row);
    worst = fmax(worst, error_of_vector(all, t, position_by(t, all->request, row), &all->beyond));
  }
  return worst;
}

/* ---- trials ---------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void try(search *all, const trial *t, const char *text, ...) {
  const double error = error_of(all, t);
  const bool is_right = all->asked_beyond > 1.0 && all->beyond <= 1.0;
  if (!(error < all->least) || !(is_right || error < all->asked / EXPLAINED)) return;
  va_list arguments;
  va_start(arguments, text);
  vsnprintf(all->best.text, sizeof all->best.text, text, arguments);
  va_end(arguments);
  all->least = error;
}

static void try_layouts(search *all, const trial *asked) {
  static const posenc_layout layouts[] = {POSENC_INTERLEAVED, POSENC_SPLIT, POSENC_INTERLEAVED_CS, POSENC_SPLIT_CS};
  const bool is_rope = asked->problem.op == POSENC_ROPE;
  for (size_t n = 0; n < (is_rope ? 2 : sizeof layouts / sizeof *layouts); n++) {
    trial t = *asked;
    t.problem.layout = layouts[n];
    for (size_t written = 0; is_rope && written < 2; written++) {
      t.written = layouts[written];
      if (t.written != t.problem.layout) try(all, &t, "%s", written_mistake(t.problem.layout));
    }
    t.written = t.problem.layout;
    if (layouts[n] == asked->problem.layout) continue;
    if (is_rope)
      try(all, &t, "%s", pairs_mistake(asked->problem.layout));
    else
      try(all, &t, "the layout is %s", (const char *[]){"interleaved", "split", "interleaved-cs", "split-cs"}[n]);
  }
}

/* Tries mistakes of rotate_half and of its kin for neighbours, with a cache of cosines and sines. */
static void try_turns(search *all, const trial *asked) {
  trial t = *asked;
  const bool is_split = asked->problem.layout == POSENC_SPLIT;
  t.problem.inverse = !t.problem.inverse;
  try(all, &t, "%s", turn_mistake(asked->problem.inverse));
  t = *asked;
  t.misread = true;
  try(all, &t, "%s",
      is_split ? "halves are turned with a cache that has each column twice, f0 f0 f1 f1 .., not f0 f1 .. f0 f1 .."
               : "neighbours are turned with a cache of f0 f1 .. f0 f1 .., not f0 f0 f1 f1 ..");
  t = *asked;
  t.is_unsigned = true;
  try(all, &t, "the minus sign of rotate_half is left out");
  t = *asked;
  t.problem.scale *= 2.0;
  t.problem.scaling.attention = attention_is_one(&asked->problem) ? 1.0 : pow(attention_of(&asked->problem), 2.0);
  try(all, &t, "rope is applied twice");
}

static void try_pairs(search *all, const trial *asked) {
  const bool is_rope = asked->problem.op == POSENC_ROPE;
  trial t = *asked;
  try_layouts(all, asked);
  t.exchanged = true;
  try(all, &t, "sine and cosine are exchanged");
  t = *asked;
  t.nothing = true;
  try(all, &t, is_rope ? "nothing is turned" : "nothing is added");
  if (is_rope) try_turns(all, asked);
  t = *asked;
  t.x_factor = sqrt((double)asked->columns);
  if (!is_rope) try(all, &t, "x is multiplied by sqrt(%" PRId64 ") first", asked->columns);
}

/* Tries positions that begin again where a row is turned like the first one. */
static void try_again(search *all, const trial *asked) {
  enum { ROWS = 1 << 16 };
  const array_request *request = all->request;
  const stored *at = all->v->at;
  const int64_t first = array_position(request, 0);
  int64_t behind = 1, length = axes_length(request->arrays.axes, at); /* rows from one position to the next */
  for (const char *axis = request->arrays.axes + at->axis_count - 1; *--axis != AXIS_POSITIONS;)
    behind *= at->axes[axis - request->arrays.axes];
  trial t = *asked;
  t.positions = AGAIN;
  take_reference(all, asked);
  for (int64_t n = 1; n < length && n < ROWS && t.constant == 0; n++) {
    vectors_read(all->v, n * behind);
    double beyond = 0.0;
    if (isfinite(error_of_vector(all, &t, first, &beyond)) && beyond <= 1.0) t.constant = n;
  }
  if (t.constant > 1) try(all, &t, "positions come again after %" PRId64 " rows", t.constant);
}

static void try_positions(search *all, const trial *asked) {
  const array_request *request = all->request;
  const stored *at = all->v->at;
  const int64_t ends[] = {array_position(request, 0),
                          array_position(request, axes_length(request->arrays.axes, at) - 1)};
  trial t = *asked;
  const char *words;
  long double unused;
  t.positions = MISTAKEN;
  for (; (words = position_mistake(t.mistake, 0.0L, &unused)); t.mistake++) try(all, &t, "%s", words);
  t.positions = CONSTANT;
  for (int n = 0; n < 2 && ends[0] != ends[1]; n++) {
    t.constant = ends[n];
    try(all, &t, "all positions are %" PRId64, t.constant);
  }
  try_again(all, asked);
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
    t.problem.op = asked->problem.op;
    t.problem.layout = asked->problem.layout;
    t.problem.inverse = asked->problem.inverse;
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

static void try_all(search *all, const trial *asked) {
  all->asked = error_of(all, asked);
  all->asked_beyond = all->beyond;
  all->least = INFINITY;
  if (!isfinite(all->asked) || all->asked <= 1.0) return;
  try_pairs(all, asked);
  if (asked->problem.axes) {
    try_axes(all, asked);
  } else {
    try_positions(all, asked);
    try_columns(all, asked);
  }
  try_formulas(all, asked, all->request->suspects);
}

/* ---- one head or batch ----------------------------------------------------------------------------------------- */

/* Looks at the vectors of each index of an axis alone. If some are right and others are not, finds the cause of the
   first that is not. */
static void try_axis(search *all, const trial *asked, int axis) {
  enum { INDICES = 256 };
  const int64_t size = all->v->at->axes[axis];
  const char letter = all->request->arrays.axes[axis], *const name = letter == AXIS_HEADS ? "head" : "batch";
  int64_t wrong = 0, first = -1;
  if (letter == AXIS_POSITIONS || size < 2 || size > INDICES) return;
  all->axis = axis;
  for (all->index = 0; all->index < size; all->index++) {
    const bool is_wrong = !isfinite(error_of(all, asked)) || all->beyond > 1.0;
    if (is_wrong && !wrong++) first = all->index;
  }
  all->index = first;
  if (wrong && wrong < size) {
    char text[sizeof all->best.text];
    try_all(all, asked);
    snprintf(text, sizeof text, "%s", *all->best.text ? all->best.text : "the cause is not known");
    if (wrong == 1)
      snprintf(all->best.text, sizeof text, "%s %" PRId64 " of %" PRId64 ": %.100s", name, first, size, text);
    else
      snprintf(all->best.text, sizeof text, "%" PRId64 " of %" PRId64 " %s, the first is %" PRId64 ": %.100s", wrong,
               size, letter == AXIS_HEADS ? "heads" : "batches", first, text);
  }
  all->axis = -1;
}

array_cause array_cause_of(const array_request *request) {
  vectors v = {0};
  search all = {.request = request, .v = &v, .held = array_held(request), .axis = -1};
  trial asked = {.problem = request->problem,
                 .columns = request->problem.dim,
                 .written = request->problem.layout,
                 .x_factor = 1.0};
  asked.problem.positions = NULL;
  if (vectors_open(&v, &request->arrays)) {
    for (int axis = 0; axis + 1 < (int)v.at->axis_count && !*all.best.text; axis++) try_axis(&all, &asked, axis);
    if (!*all.best.text) try_all(&all, &asked);
    drop_reference(&all);
  }
  vectors_close(&v);
  return all.best;
}
