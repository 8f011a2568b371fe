/* SPDX-License-Identifier: MIT */
#include "verify/table.h"

#include "common/environment.h"
#include "common/field.h"
#include "common/progress.h"
#include "common/shapes.h"
#include "reference/fast.h"
#include "verify/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows are looked at in blocks of so many bytes, which fit a cache; of so many rows it is asked whether they are alike, 16 bytes each. */
enum { BLOCK_BYTES = 1 << 23, UNIQUE_ROWS = 1 << 22 };

/* Positions by their size: 0, 1, 2 to 3, 4 to 7, … 2^63. */
enum { OCTAVES = 65 };

enum { OF_ACCURACY, OF_BOUNDED, OF_NORM, OF_ROTATION, OF_UNIQUE, CHECKS };
static const char *const names[CHECKS] = {"accuracy", "bounded", "pair-norm", "rotation", "unique-rows"};

/* A row's bits, and its number. */
typedef struct row_digest {
  uint64_t digest;
  int64_t row;
} row_digest;

typedef struct octave {
  accuracy found;
  int64_t first,
      rows; /* the octaves of a table that begins before 0 come twice: these are the positions on this side of 0 */
} octave;

/* What is found in one table. */
typedef struct exam {
  const table_request *request;
  const posenc_problem *problem;
  size_t row_bytes;
  fast_oracle *truth;
  unsigned char *rows, *one, *other; /* a block, and two single ones */
  fast_pair *by;
  row_digest *digests;
  int64_t digested;
  octave octaves[2 * OCTAVES]; /* of negative positions, then of the others */
  accuracy found;
  int64_t not_finite, equal, equal_first[2];
  check checks[CHECKS];
} exam;

static bool is_padding(const posenc_problem *problem, int64_t position) {
  return problem->padding != POSENC_NO_PADDING && position == problem->padding;
}

/* What the limit allows any element of a position; only at 0 is an exact value 1, whose ulp is twice that of those below. */
static double allowed(const exam *e, int64_t position) {
  const posenc_bound *limit = e->request->limit;
  if (!limit) return INFINITY;
  const double most = posenc_bound_at(limit, e->problem->dtype, position);
  return position == 0 ? 2.0 * most - limit->abs : most;
}

static void note(check *c, double deviation, double bound, int64_t position, int64_t index, int64_t elements) {
  if (!(deviation <= bound)) c->broken++;
  if (c->compared == 0 || !(deviation <= c->worst)) {
    c->worst = deviation;
    c->bound = bound;
    c->position = position;
    c->index = index;
  }
  c->compared += elements;
}

/* ---- block by block ---------------------------------------------------------------------------- */

static int octave_number(int64_t position) {
  const uint64_t size = position < 0 ? -(uint64_t)position : (uint64_t)position;
  return (position < 0 ? 0 : OCTAVES) + (size ? 64 - __builtin_clzll(size) : 0);
}

/* By the rest of the octave that row `from` of the block begins, while there is any of the block. */
static void check_accuracy(exam *e, int64_t row, int64_t rows) {
  for (int64_t from = 0, to; from < rows; from = to) {
    const int64_t position = e->problem->first + row + from;
    const int number = octave_number(position);
    octave *in = &e->octaves[number];
    for (to = from + 1; to < rows && octave_number(e->problem->first + row + to) == number;) to++;
    if (in->rows == 0) in->first = position;
    in->rows += to - from;
    fast_check(e->truth, row + from, to - from, e->rows + e->row_bytes * (size_t)from, e->request->limit, &in->found);
  }
}

static int64_t count_not_finite(const exam *e, const unsigned char *row) {
  int64_t count = 0;
  for (int64_t c = 0; c < e->problem->dim; c++) count += !isfinite(format_element(e->problem->dtype, row, c));
  return count;
}

/* With both components within d of sin and cos: |s² + c² - 1| <= 2√2 d + 2 d², and 2^-51 for this sum. */
static void check_values(exam *e, int64_t row, int64_t rows) {
  const posenc_columns at = posenc_layout_columns(e->problem->layout, e->problem->dim);
  for (int64_t r = 0; r < rows; r++) {
    const int64_t position = e->problem->first + row + r;
    const unsigned char *values = e->rows + e->row_bytes * (size_t)r;
    const row_norms found = row_norms_of(values, e->problem, at, 1.0);
    const double d = allowed(e, position);
    if (isinf(found.value)) e->not_finite += count_not_finite(e, values);
    note(&e->checks[OF_BOUNDED], found.value, isinf(found.value) ? 0.0 : 1.0 + d, position, -1, e->problem->dim);
    if (!is_padding(e->problem, position))
      note(&e->checks[OF_NORM], found.norm, 2.0 * sqrt(2.0) * d + 2.0 * d * d + 0x1p-51, position, -1,
           e->problem->dim / 2);
  }
}

static void digest_rows(exam *e, int64_t row, int64_t rows) {
  for (int64_t r = 0; r < rows && row + r < UNIQUE_ROWS; r++) {
    if (is_padding(e->problem, e->problem->first + row + r)) continue;
    e->digests[e->digested++] =
        (row_digest){digest_of(DIGEST_START, e->rows + e->row_bytes * (size_t)r, e->row_bytes), row + r};
  }
}

static void check_blocks(exam *e) {
  const int64_t all = e->problem->rows, block = e->row_bytes < BLOCK_BYTES ? BLOCK_BYTES / (int64_t)e->row_bytes : 1;
  for (int64_t row = 0, rows; row < all; row += rows) {
    rows = least(block, all - row);
    progress_show("check", e->request->name, (double)row * (double)e->problem->dim,
                  (double)all * (double)e->problem->dim, "elements");
    table_rows(e->request->table, row, rows, e->rows);
    check_accuracy(e, row, rows);
    check_values(e, row, rows);
    digest_rows(e, row, rows);
  }
  for (int n = 0; n < 2 * OCTAVES; n++) accuracy_merge(&e->found, &e->octaves[n].found);
}

/* ---- rows that have to do with each other ------------------------------------------------------- */

/* PE[p+k] against M_k PE[p], M_k from the oracle: the deviation is at most d(p+k) + (|cos kw| + |sin kw|) d(p), and 2^-51 for the sum here. */
static void check_rotation(exam *e, int64_t row, int64_t k) {
  const posenc_problem *problem = e->problem;
  const int64_t position = problem->first + row;
  if (is_padding(problem, position) || is_padding(problem, position + k)) return;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  table_rows(e->request->table, row, 1, e->one);
  table_rows(e->request->table, row + k, 1, e->other);
  const double d_from = allowed(e, position), d_to = allowed(e, position + k);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    const int64_t sin_column = at.sin + i * at.step, cos_column = at.cos + i * at.step;
    const double sine = format_element(problem->dtype, e->one, sin_column),
                 cosine = format_element(problem->dtype, e->one, cos_column);
    const double sin_k = e->by[i].sine.high, cos_k = e->by[i].cosine.high;
    const double bound = d_to + (fabs(sin_k) + fabs(cos_k)) * d_from + 0x1p-51;
    const double of_sin = fabs(format_element(problem->dtype, e->other, sin_column) - (sine * cos_k + cosine * sin_k)),
                 of_cos = fabs(format_element(problem->dtype, e->other, cos_column) - (cosine * cos_k - sine * sin_k));
    note(&e->checks[OF_ROTATION], isfinite(of_sin) ? of_sin : INFINITY, bound, position + k, i, 1);
    note(&e->checks[OF_ROTATION], isfinite(of_cos) ? of_cos : INFINITY, bound, position + k, i, 1);
  }
}

/* Steps of every power of two, from the first row, from the middle and to the last. */
static void check_rotations(exam *e) {
  for (int64_t k = 1; k < e->problem->rows && k > 0; k *= 2) {
    const int64_t last = e->problem->rows - 1 - k;
    fast_row(e->truth, k, e->by);
    check_rotation(e, 0, k);
    if (last > 1) check_rotation(e, last / 2, k);
    if (last > 0) check_rotation(e, last, k);
  }
}

static int compare_digests(const void *one, const void *other) {
  const row_digest *a = one, *b = other;
  if (a->digest != b->digest) return a->digest < b->digest ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

/* The largest distance of two exact rows in one column. */
static double distance(exam *e, int64_t p, int64_t q) {
  double most = 0.0;
  fast_pair *other = calloc((size_t)e->problem->dim / 2, sizeof *other);
  if (!other) return INFINITY;
  fast_row(e->truth, p, e->by);
  fast_row(e->truth, q, other);
  for (int64_t i = 0; i < e->problem->dim / 2; i++)
    most = fmax(most,
                fmax(fabs(e->by[i].sine.high - other[i].sine.high), fabs(e->by[i].cosine.high - other[i].cosine.high)));
  free(other);
  return most;
}

/* Rows that are equal are wrong where the exact ones are farther apart than the limit allows: 2 d. Of f16 and bf16 it may allow many. */
static void check_unique(exam *e) {
  enum { JUDGED = 64 };
  check *c = &e->checks[OF_UNIQUE];
  qsort(e->digests, (size_t)e->digested, sizeof *e->digests, compare_digests);
  for (int64_t n = 1, begin = 0; n < e->digested; n++) {
    if (e->digests[n].digest != e->digests[begin].digest) begin = n;
    if (begin == n) continue;
    const int64_t p = e->digests[begin].row, q = e->digests[n].row;
    table_rows(e->request->table, p, 1, e->one);
    table_rows(e->request->table, q, 1, e->other);
    if (memcmp(e->one, e->other, e->row_bytes) != 0) continue;
    if (!e->equal++ || q < e->equal_first[1]) {
      e->equal_first[0] = p;
      e->equal_first[1] = q;
    }
    if (e->equal <= JUDGED) {
      const int64_t at_p = e->problem->first + p, at_q = e->problem->first + q;
      note(c, distance(e, at_p, at_q), allowed(e, at_p) + allowed(e, at_q) + 0x1p-51, at_q, -1, 0);
    }
  }
  c->compared = e->digested;
  if (e->equal)
    snprintf(c->note, sizeof c->note,
             "%" PRId64 " of %" PRId64 " rows equal one before; the first p = %" PRId64 " and p = %" PRId64, e->equal,
             e->digested, e->problem->first + e->equal_first[0], e->problem->first + e->equal_first[1]);
}

/* ---- the record -------------------------------------------------------------------------------- */

static json_t *positions_json(const exam *e) {
  json_t *all = json_array();
  /* From the farthest negative ones on. */
  for (int n = 0; n < 2 * OCTAVES; n++) {
    const octave *in = &e->octaves[n < OCTAVES ? OCTAVES - 1 - n : n];
    if (in->rows == 0) continue;
    json_array_append_new(all, json_pack("{s:I, s:I, s:o, s:o, s:o, s:I}", "position", (json_int_t)in->first, "rows",
                                         (json_int_t)in->rows, "max_ulp", field_real(in->found.max_ulp.ulp), "max_abs",
                                         field_real(in->found.max_abs.abs), "mean_abs",
                                         field_real(in->found.sum_abs / (double)in->found.elements), "misrounded",
                                         (json_int_t)in->found.misrounded));
  }
  return all;
}

static json_t *equal_rows_json(const exam *e) {
  json_t *first = e->equal ? json_pack("[I, I]", (json_int_t)(e->problem->first + e->equal_first[0]),
                                       (json_int_t)(e->problem->first + e->equal_first[1]))
                           : json_null();
  return json_pack("{s:I, s:I, s:o}", "compared", (json_int_t)e->digested, "equal", (json_int_t)e->equal, "first",
                   first);
}

/* A path, or a name out of a file, may be anything; terminals obey control characters, JSON is UTF-8, and TAP knows words behind a #. */
static json_t *name_json(const char *name) {
  char plain[200];
  size_t used = 0;
  for (; *name && used + 1 < sizeof plain; name++)
    plain[used++] = (unsigned char)*name < ' ' || *name == '#' || *name == 0x7f ? '?' : *name;
  plain[used] = '\0';
  json_t *text = json_string(plain);
  if (text) return text;
  for (size_t i = 0; i < used; i++) plain[i] = (unsigned char)plain[i] < 0x80 ? plain[i] : '?';
  return json_string(plain);
}

static void finish_checks(exam *e, char *figures, size_t size) {
  check *of_accuracy = &e->checks[OF_ACCURACY];
  of_accuracy->compared = e->found.held;
  of_accuracy->broken = e->found.beyond;
  of_accuracy->worst = e->found.worst_share;
  of_accuracy->bound = 1.0;
  of_accuracy->position = e->found.worst.position;
  of_accuracy->index = e->found.worst.index;
  snprintf(figures, size, "no limit was given; max %.6g ulp, max abs %.3g", e->found.max_ulp.ulp, e->found.max_abs.abs);
  for (int n = OF_BOUNDED; n <= OF_NORM; n++) {
    check *c = &e->checks[n];
    if (c->broken)
      snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " rows beyond the bound; the worst at p = %" PRId64,
               c->broken, e->problem->rows, c->position);
  }
  for (int n = 0; n < CHECKS; n++) {
    check *c = &e->checks[n];
    if (!e->request->limit)
      c->skip = n == OF_ACCURACY ? figures : "no limit was given";
    else if (c->compared == 0)
      c->skip = "it takes two rows that are no padding";
  }
}

static json_t *record_of(exam *e) {
  const accuracy *a = &e->found;
  const posenc_bound *limit = e->request->limit;
  json_t *command = json_string(e->request->replay); /* null if a name in it is not UTF-8 */
  const char *replay = command ? e->request->replay : "posenc check", *tensor = table_tensor(e->request->table);
  const shape of = shape_of(e->problem);
  const double elements = (double)a->elements;
  json_int_t passed = 0, failed = 0, skipped = 0;
  json_t *checks = json_array();
  char figures[120];
  finish_checks(e, figures, sizeof figures);
  for (int n = 0; n < CHECKS; n++) {
    const check *c = &e->checks[n];
    *(c->skip ? &skipped : check_ok(c) ? &passed : &failed) += 1;
    json_array_append_new(checks, record_check(names[n], c));
  }
  json_t *one = json_pack(
      "{s:o, s:o, s:n, s:s, s:s, s:o, s:o, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}",
      "kernel", name_json(e->request->name), "shape", shape_json(&of), "refusal", "replay", replay, "format",
      table_format(e->request->table), "tensor", tensor ? name_json(tensor) : json_null(), "limit",
      limit ? json_pack("{s:f, s:f}", "ulp", limit->ulp, "abs", limit->abs) : json_null(), "mode", "exhaustive",
      "elements", (json_int_t)a->elements, "of", (json_int_t)(e->problem->rows * e->problem->dim), "not_finite",
      (json_int_t)e->not_finite, "max_ulp", record_witness(&a->max_ulp, json_string(replay)), "max_abs",
      record_witness(&a->max_abs, json_string(replay)), "worst",
      limit ? record_witness(&a->worst, json_string(replay)) : json_null(), "mean_ulp",
      field_real(a->sum_ulp / elements), "mean_abs", field_real(a->sum_abs / elements), "misrounded",
      (json_int_t)a->misrounded, "histogram", record_histogram(a), "positions", positions_json(e), "equal_rows",
      equal_rows_json(e), "checks", checks);
  json_decref(command);
  if (!one) return NULL;
  return json_pack("{s:s, s:o, s:[], s:[o], s:I, s:I, s:I}", "schema", "posenc-check-1", "environment",
                   environment_json(), "kernels", "records", one, "passed", passed, "failed", failed, "skipped",
                   skipped);
}

json_t *verify_table(const table_request *request) {
  const posenc_problem *problem = &request->problem;
  exam *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->request = request;
  e->problem = problem;
  e->row_bytes = (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
  e->truth = fast_create(problem, 0);
  e->rows = malloc(e->row_bytes < BLOCK_BYTES ? BLOCK_BYTES : e->row_bytes);
  e->one = malloc(e->row_bytes);
  e->other = malloc(e->row_bytes);
  e->by = calloc((size_t)problem->dim / 2, sizeof *e->by);
  e->digests = calloc((size_t)least(problem->rows, UNIQUE_ROWS), sizeof *e->digests);
  json_t *record = NULL;
  if (e->truth && e->rows && e->one && e->other && e->by && e->digests) {
    check_blocks(e);
    check_rotations(e);
    check_unique(e);
    progress_clear();
    record = record_of(e);
  }
  fast_destroy(e->truth);
  free(e->rows);
  free(e->one);
  free(e->other);
  free(e->by);
  free(e->digests);
  free(e);
  return record;
}
