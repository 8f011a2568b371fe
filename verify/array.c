/* SPDX-License-Identifier: MIT */
#include "verify/array.h"

#include "common/progress.h"
#include "common/shapes.h"
#include "reference/applied.h"
#include "reference/axes.h"
#include "reference/scaling.h"
#include "verify/file-record.h"
#include "verify/octaves.h"
#include "verify/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The size of a block of rows, which fits a cache. */
enum { BLOCK_BYTES = 1 << 20 };

/* The exam of an array, whose rows are vectors of the last axis. */
typedef struct array_exam {
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
} array_exam;

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

static bool open_columns(array_exam *e) {
  const int64_t dim = e->plain.dim, pairs = dim / 2;
  if (!e->plain.axes || !e->plain.axes->grouped) return true;
  e->columns = calloc((size_t)dim, sizeof *e->columns);
  e->x_row = calloc((size_t)dim, sizeof(double));
  e->got_row = calloc((size_t)dim, sizeof(double));
  if (!e->columns || !e->x_row || !e->got_row) return false;
  for (int64_t c = 0; c < dim; c++) e->columns[c] = axes_column(&e->plain, c % pairs, c >= pairs);
  e->plain.layout = POSENC_SPLIT;
  return true;
}

static void check_vector(array_exam *e, int64_t row, const unsigned char *x, const unsigned char *got) {
  const posenc_problem *problem = &e->request->problem;
  const int64_t position = array_position(e->request, axes_index(e->request->arrays.axes, e->at, row, NULL));
  const size_t ahead = (size_t)e->request->start * posenc_dtype_bytes(problem->dtype);
  octave *in = octaves_at(&e->by_size, position);
  const applied_row vector = {.problem = &e->plain,
                              .position = position,
                              .exact_pairs = axes_reference_lanes(e->reference, position),
                              .x = reordered(e, x + ahead, e->x_row),
                              .got = reordered(e, got + ahead, e->got_row),
                              .attention = e->attention,
                              .plain = true};
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
  json_t *made = record_witness(w, record_command(e->request->replay));
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
    json_array_append_new(checks, record_check(property_name(properties[n]), &e->checks[n]));
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

json_t *verify_array(const array_request *request, int64_t *bad_row) {
  array_exam e = {.request = request, .at = table_stored(request->arrays.x), .rows_of = {-1, -1}};
  const size_t row_bytes = (size_t)e.at->dim * posenc_dtype_bytes(e.at->dtype),
               block = row_bytes < BLOCK_BYTES ? BLOCK_BYTES : row_bytes;
  json_t *record = NULL;
  *bad_row = -1;
  e.attention = attention_of(&request->problem);
  e.plain = request->problem;
  e.plain.positions = NULL;
  e.reference = axes_reference_create(&e.plain);
  e.x = malloc(block);
  e.got = malloc(block);
  if (e.reference && e.x && e.got && open_columns(&e) && check_blocks(&e, bad_row)) record = record_of(&e);
  progress_clear();
  axes_reference_destroy(e.reference);
  free(e.columns);
  free(e.x_row);
  free(e.got_row);
  free(e.x);
  free(e.got);
  return record;
}
