/* SPDX-License-Identifier: MIT */
#include "common/memory.h"
#include "common/progress.h"
#include "common/shapes.h"
#include "inspect/models/model.h"
#include "reference/applied.h"
#include "reference/axes.h"
#include "reference/format.h"
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

/* The exam of an array, whose rows are vectors of the last axis. */
struct array_exam {
  const array_request *request;
  const stored *at;
  axes_reference *reference;
  double attention;
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
  check checks[2]; /* ACCURACY, UNTOUCHED */
};

enum { OF_ACCURACY, OF_UNTOUCHED };

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

static void check_vector(array_exam *e, int64_t row, const unsigned char *x, const unsigned char *got) {
  const posenc_problem *problem = &e->request->problem;
  const size_t ahead = (size_t)e->request->start * posenc_dtype_bytes(problem->dtype);
  applied_row vector = vector_of(e, row, x + ahead);
  const int64_t position = vector.position;
  octave *in = octaves_at(&e->by_size, position);
  vector.got = reordered(e, got + ahead, e->got_row);
  const element_error sums = applied_check(&vector, &in->found, &in->found);
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
    untouched->skip = "no limit was given";
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
  return record_of_file(&record, json_pack("{s:o, s:s, s:I}", "x", record_name(request->x_name), "axes",
                                           request->arrays.axes, "start", (json_int_t)request->start));
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

/* Returns the largest error of all samples; infinity if columns that the trial leaves alone differ. */
static double error_of(const trial *t, const array_request *request, vectors *v) {
  const int64_t count = v->at->rows < SAMPLES ? v->at->rows : SAMPLES;
  const posenc_columns at = posenc_layout_columns(t->problem.layout, t->columns);
  const bool grouped = t->problem.axes && t->problem.axes->grouped;
  const format *f = format_of(request->problem.dtype);
  const double least = ldexp(1.0, f->least + f->precision);
  const int64_t pairs = t->columns / 2;
  axes_reference *reference = allocated(axes_reference_create(&t->problem));
  double worst = 0.0;
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
