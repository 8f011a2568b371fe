/* SPDX-License-Identifier: MIT */
#include "common/memory.h"
#include "common/shapes.h"
#include "common/terminal.h"
#include "reference/accuracy.h"
#include "reference/applied.h"
#include "reference/axes.h"
#include "reference/format.h"
#include "reference/scaling.h"
#include "verify/exam.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exam of an array, whose rows are vectors of the last axis. */
struct array_exam {
  row_exam of; /* of its problem, which has no list */
  row_findings all;
  const array_request *request;
  const stored *at;
  axes_reference *reference;
  double attention;
  posenc_dtype held;                   /* the dtype whose numbers the results are */
  int64_t rows_of[2];                  /* rows of the largest errors, in ulp and absolute */
  int64_t changed_row, changed_column; /* the first element that differs from x, but must not */
  int64_t bad_row;                     /* the first row of x that is not finite; -1 if none */
  int64_t beyond;                      /* elements beyond the tolerance of a check that is given none */
  array_tolerances tolerances;
};

/* ---- the tolerance without one --------------------------------------------------------------------------------- */

void array_tolerances_open(array_tolerances *l, const posenc_problem *problem, posenc_dtype held) {
  const double unit = tolerance_unit(held);
  *l = (array_tolerances){.angles = allocated(axes_tolerances(problem, unit)),
                          .unit = unit,
                          .value = tolerance_of_value(held, unit, ROUNDINGS_OF_PAIR),
                          .least = ldexp(1.0, format_of(held)->least + format_of(held)->precision)};
}

double array_tolerance_at(const array_tolerances *l, const posenc_problem *problem, int64_t i, int64_t at) {
  const posenc_axes *axes = problem->axes;
  const double position = axes ? axis_position(axes, axes_axis(axes, i), at) : (double)at;
  return fmin(l->angles[i] * fabs(position), tolerance_most(position, l->unit)) + l->value;
}

tolerance tolerance_of(const posenc_problem *problem, posenc_dtype held, int64_t last) {
  const double unit = tolerance_unit(held), amplitude = attention_of(problem);
  array_tolerances l;
  tolerance most = {.angle = 0.0};
  array_tolerances_open(&l, problem, held);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    const double angle = l.angles[i] * fabs((double)last);
    if (angle > most.angle) most.angle = angle, most.index = i;
  }
  free(l.angles);
  most.angle = fmin(most.angle, tolerance_most((double)last, unit));
  most.table = amplitude * (most.angle + tolerance_of_value(held, unit, ROUNDINGS_OF_TABLE));
  most.pair = fmax(amplitude, 1.0) * (most.angle + l.value);
  return most;
}

double tolerance_above(double most) {
  const double unit = pow(10.0, floor(log10(most)) - 1.0);
  return ceil(most / unit * (1.0 + 1e-9)) * unit;
}

fast_pair array_lane(const fast_lanes *lanes, int64_t i) {
  const fast_lanes *group = &lanes[i / FAST_LANES];
  const int64_t k = i % FAST_LANES;
  return (fast_pair){{group->sin_high[k], group->sin_low[k]}, {group->cos_high[k], group->cos_low[k]}};
}

double array_share(const double x[2], const double got[2], const double right[2], bool is_add, double least) {
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
  check *c = &e->all.checks[UNTOUCHED];
  for (int64_t column = 0; column < e->at->dim; column++) {
    if (column >= e->request->start && column < end) continue;
    const size_t at = (size_t)column * element;
    const bool same = memcmp(x + at, got + at, element) == 0;
    if (!same && c->broken == 0) {
      e->changed_row = row;
      e->changed_column = column;
    }
    const double error = fabs(format_element(problem->dtype, got, column) - format_element(problem->dtype, x, column));
    const double unlike = isnan(error) ? INFINITY : fmax(error, 0x1p-1074);
    check_note(c, same ? 0.0 : unlike, 0.0, position, column);
  }
}

static posenc_dtype array_held(const array_request *request) {
  vectors v;
  vectors_open(&v, &request->arrays);
  const posenc_dtype held = vectors_held(&v);
  vectors_close(&v);
  return held;
}

/* Returns the vector of x that begins there, without a result. */
static applied_row vector_of(const array_exam *e, int64_t row, const unsigned char *x) {
  const int64_t position = array_position(e->request, axes_index(e->request->arrays.axes, e->at, row, NULL));
  return (applied_row){.problem = &e->of.problem,
                       .position = position,
                       .exact_pairs = axes_reference_lanes(e->reference, position),
                       .x = x,
                       .attention = e->attention,
                       .plain = true};
}

/* Counts pairs beyond the tolerance without one. */
static void check_tolerances(array_exam *e, int64_t position, const fast_lanes *lanes, const void *x, const void *got) {
  const posenc_problem *problem = &e->of.problem;
  const bool is_add = problem->op == POSENC_ADD;
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    const fast_pair by = array_lane(lanes, i);
    const int64_t first = e->of.columns.at[0][0][i], second = e->of.columns.at[0][1][i];
    const double turn = problem->inverse ? -by.sine.high : by.sine.high, turned = by.cosine.high;
    const double a = format_element(problem->dtype, x, first), b = format_element(problem->dtype, x, second),
                 there[] = {format_element(problem->dtype, got, first), format_element(problem->dtype, got, second)},
                 right[] = {is_add ? a + turn : a * turned - b * turn, is_add ? b + turned : b * turned + a * turn};
    const double share = array_share((double[]){a, b}, there, right, is_add, e->tolerances.least);
    e->beyond += !(share <= fmax(e->attention, 1.0) * array_tolerance_at(&e->tolerances, problem, i, position));
  }
}

static void check_vector(array_exam *e, int64_t row, const unsigned char *x, const unsigned char *got) {
  const posenc_problem *problem = &e->request->problem;
  const size_t ahead = (size_t)e->request->start * posenc_dtype_bytes(problem->dtype);
  applied_row vector = vector_of(e, row, x + ahead);
  const int64_t position = vector.position;
  octave *in = octaves_at(&e->all.by_size, position);
  vector.got = got + ahead;
  const element_error sums = applied_check(&vector, &in->found, &in->found);
  check_tolerances(e, position, vector.exact_pairs, vector.x, vector.got);
  if (in->rows++ == 0) in->first = position;
  in->found.sum_ulp += sums.ulp;
  in->found.sum_abs += sums.abs;
  const bool is_first = e->rows_of[0] < 0;
  if (is_first || in->found.max_ulp.ulp > e->all.found.max_ulp.ulp) {
    e->all.found.max_ulp = in->found.max_ulp;
    e->rows_of[0] = row;
  }
  if (is_first || in->found.max_abs.abs > e->all.found.max_abs.abs) {
    e->all.found.max_abs = in->found.max_abs;
    e->rows_of[1] = row;
  }
  for (int64_t c = 0; c < problem->dim; c++)
    e->all.not_finite += !isfinite(format_element(problem->dtype, got + ahead, c));
  check_untouched(e, row, position, x, got);
}

static bool is_finite_row(const array_exam *e, const unsigned char *x) {
  for (int64_t c = 0; c < e->at->dim; c++)
    if (!isfinite(format_element(e->at->dtype, x, c))) return false;
  return true;
}

/* Checks a block. Returns false at a row of x that is not finite. */
static bool judge_vectors(row_exam *all, window block) {
  array_exam *e = (array_exam *)all;
  for (int64_t r = 0; r < block.rows; r++) {
    const size_t at = (size_t)r * all->bytes;
    e->bad_row = block.row + r;
    if (!is_finite_row(e, all->x + at)) return false;
    check_vector(e, block.row + r, all->x + at, all->rows + at);
  }
  e->bad_row = -1;
  return true;
}

/* Sums up what was found, with the witnesses whose rows are known. */
static void sum_up(array_exam *e) {
  const witness by_ulp = e->all.found.max_ulp, by_abs = e->all.found.max_abs;
  e->all.found = (accuracy){0};
  octaves_sum(&e->all.by_size, &e->all.found);
  e->all.found.max_ulp = by_ulp;
  e->all.found.max_abs = by_abs;
}

/* ---- the record ------------------------------------------------------------------------------------------------ */

static void tell_witness(row_exam *all, const witness *w, record_witness *made, record_memory *in) {
  const array_exam *e = (const array_exam *)all;
  char where[400];
  made->row = e->rows_of[w == &e->all.found.max_abs];
  made->column = e->request->start + e->of.columns.at[0][w->cosine][w->index];
  tell_place(e->request, made->row, made->column, where, sizeof where);
  made->place = record_format(in, "%s", where);
  if (all->problem.op == POSENC_ROPE) made->function = w->cosine ? "second" : "first";
}

static void finish_checks(array_exam *e, const char *figures) {
  const array_request *request = e->request;
  check *accurate = &e->all.checks[ACCURACY], *untouched = &e->all.checks[UNTOUCHED];
  const bool by_ulp = request->max_ulp > 0.0;
  accurate->compared = e->all.found.elements;
  accurate->worst = by_ulp ? e->all.found.max_ulp.ulp : e->all.found.max_abs.abs;
  accurate->bound = by_ulp ? request->max_ulp : request->max_abs;
  accurate->broken = !(accurate->worst <= accurate->bound);
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

static file_result result_of(array_exam *e) {
  const array_request *request = e->request;
  const shape of = shape_of(&request->problem);
  const posenc_bound limit = {.ulp = request->max_ulp, .abs = request->max_abs};
  const bool has_tolerance = limit.ulp > 0.0 || limit.abs > 0.0;
  const file_exam file = {.name = request->name,
                          .table = request->arrays.out,
                          .shape = &of,
                          .command = request->replay,
                          .limit = has_tolerance ? &limit : NULL,
                          .found = &e->all.found};
  char figures[120];
  finish_checks(e, row_exam_figures(&e->all.found, figures, sizeof figures));
  file_result found = row_exam_record(&e->of, &e->all, &file, RESULTS, tell_witness);
  record_file *made = &found.of;
  made->of = e->at->rows * request->problem.dim;
  if (has_tolerance) made->worst = made->max_ulp; /* the tolerance is one for all elements */
  made->x = record_name(&found.memory, request->x_name, "#");
  made->axes = request->arrays.axes;
  made->start = request->start;
  made->beyond = e->beyond;
  made->has_start = made->has_beyond = true;
  made->held = dtype_name(e->held);
  return found;
}

/* Whether a result of rope has position 0 alone, where it is x. */
static bool is_at_zero(const array_request *request) {
  const bool is_one = axes_length(request->arrays.axes, table_stored(request->arrays.x)) == 1;
  return request->problem.op == POSENC_ROPE && !request->problem.axes && is_one && array_position(request, 0) == 0;
}

/* Returns the result, with what bits tell of results that are within the tolerance of a check without one. */
static file_result result_of_all(array_exam *e) {
  const array_request *request = e->request;
  const bool is_open = request->max_ulp == 0.0 && request->max_abs == 0.0 && e->beyond == 0 && e->all.not_finite == 0;
  const array_cause cause = is_open && request->problem.axes ? array_cause_of(request) : (array_cause){.text = ""};
  e->beyond += cause.unlike;
  file_result found = result_of(e);
  if (*cause.unseen)
    found.of.unchecked = record_format(&found.memory, "; not checked: whether %s, which %s does not tell", cause.unseen,
                                       dtype_name(e->held));
  if (is_at_zero(request))
    found.of.unchecked = record_format(&found.memory, "; not checked: whether x is turned, as position 0 leaves it");
  return found;
}

/* Must be closed in any case. */
static void open_exam(array_exam *e, const array_request *request) {
  const stored *at = table_stored(request->arrays.x);
  *e = (array_exam){.of = {.name = request->name,
                           .problem = request->problem,
                           .width = at->dim,
                           .source = {.read = rows_of_file, .from = request->arrays.out},
                           .of_x = {.read = rows_of_file, .from = request->arrays.x},
                           .judge = judge_vectors},
                    .request = request,
                    .at = at,
                    .rows_of = {-1, -1},
                    .bad_row = -1};
  e->of.problem.positions = NULL;
  e->attention = attention_of(&request->problem);
  e->reference = allocated(axes_reference_create(&e->of.problem));
  row_exam_open(&e->of, TABLE_BOTH);
  row_exam_allocate(&e->of, 0);
}

static void close_exam(array_exam *e) {
  axes_reference_destroy(e->reference);
  row_exam_close(&e->of);
  free(e->tolerances.angles);
}

bool verify_array(const array_request *request, file_result *found, int64_t *bad_row) {
  array_exam e;
  open_exam(&e, request);
  e.held = array_held(request);
  array_tolerances_open(&e.tolerances, &e.of.problem, e.held);
  const bool is_finite = row_exam_look(&e.of, (window){0, e.at->rows});
  if (is_finite) sum_up(&e);
  if (is_finite) *found = result_of_all(&e);
  *bad_row = e.bad_row;
  progress_clear();
  close_exam(&e);
  return is_finite;
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
  applied_make(&vector, out + ahead);
}

bool array_make(array_exam *e, int64_t row, int64_t rows, void *out, int64_t *bad_row) {
  const size_t row_bytes = (size_t)e->at->dim * posenc_dtype_bytes(e->at->dtype);
  for (int64_t r = 0; r < rows; r++) {
    *bad_row = row + r;
    const unsigned char *x = rows_of_file(e->request->arrays.x, row + r, 1, e->of.room_of_x);
    if (!is_finite_row(e, x)) return false;
    make_vector(e, row + r, x, (unsigned char *)out + (size_t)r * row_bytes);
  }
  *bad_row = -1;
  return true;
}

void array_close(array_exam *e) {
  if (e) close_exam(e);
  free(e);
}
