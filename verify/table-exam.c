/* SPDX-License-Identifier: MIT */
#include "verify/table-exam.h"

#include "common/memory.h"
#include "common/number.h"
#include "common/progress.h"
#include "reference/axes.h"
#include "reference/format.h"
#include "reference/scaling.h"
#include "verify/files.h"
#include "verify/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The size of a block of rows, which fits a cache; and the largest number of rows that are tested for equality, 16
   bytes each. */
enum { BLOCK_BYTES = 1 << 23, UNIQUE_ROWS_MOST = 1 << 22 };

/* Returns the unit and number of a position; for a list, of the position in that row. */
static place_in_list place_of(const table_exam *e, int64_t position) {
  if (!e->positions) return (place_in_list){0, position};
  const double p = e->positions[position];
  int bits = 0;
  while (floor(ldexp(p, bits)) != ldexp(p, bits)) bits += UNIT_BITS;
  return (place_in_list){bits / UNIT_BITS, (int64_t)ldexp(p, bits)};
}

/* Returns |position|, rounded up. */
static int64_t distance_of(const table_exam *e, int64_t position) {
  if (e->positions) return (int64_t)ceil(fabs(e->positions[position]));
  return accuracy_distance(position);
}

/* Whether the limit holds for that position. */
static bool is_limited(const table_exam *e, int64_t position) {
  return e->request->limit && distance_of(e, position) <= e->request->limit->max_position;
}

/* Returns the limit where it holds, otherwise null. Its growth is per position of the unit. */
static const posenc_bound *limit_at(const table_exam *e, int64_t position, int unit, posenc_bound *scaled) {
  if (!is_limited(e, position)) return NULL;
  *scaled = *e->request->limit;
  scaled->growth = ldexp(scaled->growth, -UNIT_BITS * unit);
  return scaled;
}

static bool is_padding(const table_exam *e, int64_t position) {
  const place_in_list at = place_of(e, position);
  return e->problem->padding != POSENC_NO_PADDING && at.unit == 0 && at.number == e->problem->padding;
}

/* Returns the reference for positions of that unit. */
static fast_oracle *reference_of(table_exam *e, int unit) {
  if (e->references[unit]) return e->references[unit];
  posenc_problem problem = e->plain;
  const axis_selection *pairs = e->request->pairs;
  problem.scale = ldexp(problem.scale, -UNIT_BITS * unit);
  if (unit) problem.padding = POSENC_NO_PADDING; /* the padding row is a whole position */
  if (pairs) problem.dim = pairs->dim;
  e->references[unit] = allocated(fast_create_some(&problem, pairs ? &pairs->of : NULL, 0));
  fast_part(e->references[unit], e->request->part != TABLE_COS, e->request->part != TABLE_SIN);
  return e->references[unit];
}

/* Returns the reference for a sine without a cosine, for positions of that unit. */
static oracle *odd_reference_of(table_exam *e, int unit) {
  if (e->odd_references[unit]) return e->odd_references[unit];
  posenc_problem problem = e->plain;
  problem.dim += 2;
  problem.shift += 1.0;
  problem.scale = ldexp(problem.scale, -UNIT_BITS * unit);
  return e->odd_references[unit] = allocated(oracle_create(&problem));
}

/* Returns the error that the limit allows any element of a position. Only at position 0 is an exact value 1, whose ulp
   is twice that of smaller values. With an attention factor above 1, which all values include, an ulp is larger by at
   most that factor, and again by 2. */
static double allowed(const table_exam *e, int64_t position) {
  posenc_bound scaled;
  const posenc_bound *limit = limit_at(e, position, 0, &scaled);
  if (!limit) return INFINITY;
  const double most = posenc_bound_at(limit, e->problem->dtype, distance_of(e, position)) - limit->abs;
  const double larger = e->attention > 1.0 ? 2.0 * e->attention : place_of(e, position).number == 0 ? 2.0 : 1.0;
  return larger * most + limit->abs;
}

static bool is_part(const table_exam *e) {
  return e->request->part != TABLE_BOTH;
}

int table_exam_copies(const table_exam *e) {
  return is_part(e) && e->request->problem.layout != POSENC_SPLIT ? 2 : 1;
}

/* Reads a part alone: its columns at their places in a whole table, with zeros for the others. */
static void read_part(table_exam *e, int64_t row, int64_t rows, unsigned char *out) {
  const size_t element = posenc_dtype_bytes(e->problem->dtype);
  const int64_t pairs = e->problem->dim / 2;
  const bool neighbours = e->request->problem.layout == POSENC_INTERLEAVED;
  e->read(e->from, row, rows, e->raw);
  memset(out, 0, e->row_bytes * (size_t)rows);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < pairs; i++)
      memcpy(out + e->row_bytes * (size_t)r + element * (size_t)(e->request->part == TABLE_SIN ? pairs + i : i),
             e->raw + e->file_row_bytes * (size_t)r +
                 element * (size_t)(neighbours ? 2 * i + e->copy : e->copy * pairs + i),
             element);
}

void table_exam_read(table_exam *e, int64_t row, int64_t rows, unsigned char *out) {
  if (is_part(e)) {
    read_part(e, row, rows, out);
    return;
  }
  if (e->odd_column < 0) {
    e->read(e->from, row, rows, out);
    return;
  }
  const size_t element = posenc_dtype_bytes(e->problem->dtype), before = (size_t)e->odd_column * element;
  e->read(e->from, row, rows, e->raw);
  for (int64_t r = 0; r < rows; r++) {
    const unsigned char *from = e->raw + (size_t)r * e->file_row_bytes;
    memcpy(out + (size_t)r * e->row_bytes, from, before);
    memcpy(out + (size_t)r * e->row_bytes + before, from + before + element, e->row_bytes - before);
  }
}

/* ---- block by block ---------------------------------------------------------------------------- */

/* Returns a position as an integer; for a list, the position in that row. */
static int64_t whole_position(const table_exam *e, int64_t position) {
  return e->positions ? (int64_t)e->positions[position] : position;
}

/* Returns the octave of a position. */
static octave *octave_of(table_exam *e, int64_t position) {
  return octaves_at(&e->by_size, whole_position(e, position));
}

/* Changes witnesses of a list so that they have their row instead of the number of the place. */
static void tell_rows(accuracy *found, int64_t ahead) {
  found->max_ulp.position -= ahead;
  found->max_abs.position -= ahead;
  found->worst.position -= ahead;
}

/* Compares runs of successive places within one octave. */
static void check_accuracy(table_exam *e, int64_t row, int64_t rows) {
  for (int64_t from = 0, to; from < rows; from = to) {
    const int64_t position = e->problem->first + row + from;
    const place_in_list at = place_of(e, position);
    octave *in = octave_of(e, position);
    for (to = from + 1; to < rows && octave_of(e, position - from + to) == in; to++) {
      const place_in_list next = place_of(e, position - from + to);
      if (next.unit != at.unit || next.number != at.number + (to - from)) break;
      if (is_limited(e, position - from + to) != is_limited(e, position)) break;
    }
    posenc_bound scaled;
    const posenc_bound *limit = limit_at(e, position, at.unit, &scaled);
    if (in->rows == 0) in->first = position;
    if (e->copy == 0) in->rows += to - from;
    fast_oracle *reference = reference_of(e, at.unit);
    accuracy found = {0}, *const into = e->positions ? &found : &in->found;
    fast_check(reference, at.number - e->problem->first, to - from, e->rows + e->row_bytes * (size_t)from, limit, into);
    if (!e->positions) continue;
    tell_rows(&found, at.number - position);
    accuracy_move(&found, whole_position(e, position));
    accuracy_merge(&in->found, &found);
  }
}

/* Returns the exact value of the odd column: zero, or a sine except in the padding row. */
static exact exact_of_odd(table_exam *e, int64_t position) {
  const place_in_list at = place_of(e, position);
  if (e->request->problem.odd == POSENC_ODD_PAD || is_padding(e, position)) return (exact){0.0, 0.0, 0.0};
  return oracle_pair(odd_reference_of(e, at.unit), at.number, e->problem->dim / 2).sine;
}

/* Compares the additional column of an odd dim. */
static void check_odd_column(table_exam *e, int64_t row, int64_t rows) {
  const size_t element = posenc_dtype_bytes(e->problem->dtype);
  const int64_t index = e->problem->dim / 2;
  if (e->odd_column < 0) return;
  for (int64_t r = 0; r < rows; r++) {
    const int64_t position = e->problem->first + row + r;
    _Alignas(8) unsigned char bytes[8];
    memcpy(bytes, e->raw + (size_t)r * e->file_row_bytes + (size_t)e->odd_column * element, element);
    const exact value = exact_of_odd(e, position);
    posenc_bound here = {0};
    const posenc_bound *limit = limit_at(e, position, 0, &here);
    here.abs += here.growth * (double)distance_of(e, position); /* a list's row numbers are not its positions */
    here.growth = 0.0;
    accuracy found = {0};
    accuracy_add(&found, format_of(e->problem->dtype), limit, &value, format_element(e->problem->dtype, bytes, 0),
                 (element_place){position, index, false});
    accuracy_move(&found, whole_position(e, position));
    accuracy_merge(&octave_of(e, position)->found, &found);
  }
}

static int64_t count_not_finite(const table_exam *e, const unsigned char *row) {
  int64_t count = 0;
  for (int64_t c = 0; c < e->problem->dim; c++) count += !isfinite(format_element(e->problem->dtype, row, c));
  return count;
}

static void check_values(table_exam *e, int64_t row, int64_t rows) {
  const posenc_columns at = posenc_layout_columns(e->problem->layout, e->problem->dim);
  const int64_t pairs = e->problem->dim / 2;
  for (int64_t r = 0; r < rows; r++) {
    const int64_t position = e->problem->first + row + r;
    const unsigned char *values = e->rows + e->row_bytes * (size_t)r;
    const double d = allowed(e, position), a = e->attention;
    const row_norms found = row_norms_of(values, e->problem, at, a * a);
    if (isinf(found.value)) e->not_finite += count_not_finite(e, values);
    check_note_all(&e->checks[BOUNDED], is_part(e) ? pairs : 2 * pairs, found.value, isinf(found.value) ? 0.0 : a + d,
                   position);
    if (!is_part(e) && !is_padding(e, position))
      check_note_all(&e->checks[PAIR_NORM], pairs, found.norm, allowed_norm(a, d), position);
  }
}

static void digest_rows(table_exam *e, int64_t row, int64_t rows) {
  for (int64_t r = 0; r < rows && row + r < UNIQUE_ROWS_MOST; r++) {
    if (is_padding(e, e->problem->first + row + r)) continue;
    e->digests[e->digested++] =
        (row_digest){digest_of(DIGEST_START, e->rows + e->row_bytes * (size_t)r, e->row_bytes), row + r};
  }
}

int64_t table_exam_block(const table_exam *e) {
  const size_t bytes = e->file_row_bytes < e->row_bytes ? e->row_bytes : e->file_row_bytes;
  return bytes < BLOCK_BYTES ? BLOCK_BYTES / (int64_t)bytes : 1;
}

/* Compares the elements of a block of rows; those of a table of axes are compared axis by axis (rows.c). */
static void check_block(table_exam *e, int64_t row, int64_t rows) {
  if (e->problem->axes) return;
  check_accuracy(e, row, rows);
  check_odd_column(e, row, rows);
  check_values(e, row, rows);
}

static void check_blocks(table_exam *e) {
  const int64_t all = e->problem->rows, block = table_exam_block(e);
  for (int64_t row = 0, rows; row < all; row += rows) {
    rows = least(block, all - row);
    if (e->request->table)
      progress_show("check", e->request->name, (double)row * (double)e->problem->dim,
                    (double)all * (double)e->problem->dim, "elements");
    for (e->copy = table_exam_copies(e) - 1;; e->copy--) {
      table_exam_read(e, row, rows, e->rows);
      check_block(e, row, rows);
      if (e->copy == 0) break;
    }
    digest_rows(e, row, rows);
  }
  octaves_sum(&e->by_size, &e->found);
}

/* ---- relations between rows ----------------------------------------------------------------------------------- */

static void check_rotation(table_exam *e, int64_t row, int64_t k) {
  const int64_t position = e->problem->first + row;
  const place_in_list from = place_of(e, position), to = place_of(e, position + k);
  int64_t by;
  if (is_padding(e, position) || is_padding(e, position + k)) return;
  if (from.unit != to.unit || __builtin_sub_overflow(to.number, from.number, &by)) return;
  fast_row(reference_of(e, from.unit), by, e->by);
  table_exam_read(e, row, 1, e->one);
  table_exam_read(e, row + k, 1, e->other);
  const turned_row turned = {.problem = e->problem,
                             .attention = e->attention,
                             .by = e->by,
                             .from = e->one,
                             .to = e->other,
                             .e_from = allowed(e, position),
                             .e_to = allowed(e, position + k),
                             .position = position + k};
  check_turn(&e->checks[ROTATION], &turned);
}

/* Checks rotations by every power of two, from the first row, from the middle and to the last one. */
static void check_rotations(table_exam *e) {
  if (is_part(e)) return;
  for (int64_t k = 1; k < e->problem->rows && k > 0; k *= 2) {
    const int64_t last = e->problem->rows - 1 - k;
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

/* Returns the largest distance of two exact rows in one column. */
static double distance(table_exam *e, int64_t p, int64_t q) {
  double most = 0.0;
  fast_pair *other = memory_take((size_t)e->problem->dim / 2, sizeof *other);
  const place_in_list at_p = place_of(e, p), at_q = place_of(e, q);
  fast_row(reference_of(e, at_p.unit), at_p.number, e->by);
  fast_row(reference_of(e, at_q.unit), at_q.number, other);
  for (int64_t i = 0; i < e->problem->dim / 2; i++) {
    if (e->request->part != TABLE_COS) most = fmax(most, fabs(e->by[i].sine.high - other[i].sine.high));
    if (e->request->part != TABLE_SIN) most = fmax(most, fabs(e->by[i].cosine.high - other[i].cosine.high));
  }
  free(other);
  return most;
}

number_text table_position_text(const table_exam *e, int64_t position) {
  number_text n;
  if (e->positions) return number_of_position(e->positions[position]);
  snprintf(n.text, sizeof n.text, "%" PRId64, position);
  return n;
}

/* Checks that rows are equal only if the exact ones are no farther apart than the limit allows: 2 d, and 2^-51 for the
   rounding of that distance. For f16 and bf16 this may allow many. */
static void check_unique(table_exam *e) {
  enum { JUDGED = 64 };
  check *c = &e->checks[UNIQUE_ROWS];
  qsort(e->digests, (size_t)e->digested, sizeof *e->digests, compare_digests);
  for (int64_t n = 1, begin = 0; n < e->digested; n++) {
    if (e->digests[n].digest != e->digests[begin].digest) begin = n;
    if (begin == n) continue;
    const int64_t p = e->digests[begin].row, q = e->digests[n].row;
    table_exam_read(e, p, 1, e->one);
    table_exam_read(e, q, 1, e->other);
    if (memcmp(e->one, e->other, e->row_bytes) != 0) continue;
    if (!e->equal++ || q < e->equal_first[1]) {
      e->equal_first[0] = p;
      e->equal_first[1] = q;
    }
    if (e->equal <= JUDGED) {
      const int64_t at_p = e->problem->first + p, at_q = e->problem->first + q;
      check_note(c, distance(e, at_p, at_q), allowed(e, at_p) + allowed(e, at_q) + 0x1p-51, at_q, -1);
    }
  }
  c->compared = e->digested;
  if (e->equal)
    snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " rows equal one before; the first p = %s and p = %s",
             e->equal, e->digested, table_position_text(e, e->problem->first + e->equal_first[0]).text,
             table_position_text(e, e->problem->first + e->equal_first[1]).text);
}

/* ---- the exam -------------------------------------------------------------------------------------------------- */

table_exam *table_exam_create(const table_request *request, rows_reader *read, void *from, int64_t read_dim) {
  table_exam *e = memory_take(1, sizeof *e);
  e->request = request;
  e->read = read;
  e->from = from;
  e->read_dim = read_dim;
  return e;
}

/* Divides the problem into an even table and the odd column. */
static void set_problem(table_exam *e, const posenc_problem *problem) {
  const bool odd = problem->dim % 2, is_ceil = problem->odd == POSENC_ODD_CEIL;
  const size_t element = posenc_dtype_bytes(problem->dtype);
  e->plain = *problem;
  e->plain.positions = NULL;
  e->plain.odd = POSENC_ODD_REFUSED;
  e->odd_column = !odd ? -1 : is_ceil && problem->layout == POSENC_SPLIT ? problem->dim / 2 : problem->dim - 1;
  if (odd) e->plain.dim--;
  if (odd && is_ceil) e->plain.shift -= 0.5;
  e->problem = &e->plain;
  e->positions = problem->positions;
  e->row_bytes = (size_t)e->plain.dim * element;
  e->file_row_bytes = (size_t)e->read_dim * element;
  if (is_part(e)) e->plain.layout = POSENC_SPLIT_CS;
}

void table_exam_begin(table_exam *e) {
  set_problem(e, &e->request->problem);
  const size_t row_bytes = e->file_row_bytes < e->row_bytes ? e->row_bytes : e->file_row_bytes,
               block = row_bytes < BLOCK_BYTES ? BLOCK_BYTES : row_bytes;
  const bool is_same = e->odd_column < 0 && !is_part(e); /* rows in memory are as in the file */
  e->attention = attention_of(&e->request->problem);
  e->rows = memory_grow(NULL, block, 1);
  e->raw = is_same ? NULL : memory_grow(NULL, block, 1);
  e->one = memory_take(e->row_bytes, 1);
  e->other = memory_take(e->row_bytes, 1);
  e->by = memory_take((size_t)e->plain.dim / 2, sizeof *e->by);
  e->digests = memory_take((size_t)least(e->plain.rows, UNIQUE_ROWS_MOST), sizeof *e->digests);
}

void table_exam_end(table_exam *e) {
  check_blocks(e);
  if (!e->problem->axes) check_rotations(e);
  check_unique(e);
}

void table_examine(table_exam *e) {
  table_exam_begin(e);
  table_exam_end(e);
}

void table_exam_free(table_exam *e) {
  for (int unit = 0; unit < UNITS; unit++) {
    fast_destroy(e->references[unit]);
    if (e->odd_references[unit]) oracle_destroy(e->odd_references[unit]);
  }
  free(e->rows);
  free(e->raw);
  free(e->one);
  free(e->other);
  free(e->by);
  free(e->digests);
  free(e);
}

/* ---- the record of a table in a file --------------------------------------------------------------------------- */

static json_t *position_json(const table_exam *e, int64_t position) {
  return e->positions ? json_real(e->positions[position]) : json_integer(position);
}

/* Returns the column of a file that has only sines or only cosines. If it occurs twice, returns the one with the
   witness's value. */
static int64_t column_of_part(table_exam *e, const witness *w) {
  const posenc_layout layout = e->request->problem.layout;
  const int64_t first = w->index * (layout == POSENC_INTERLEAVED ? 2 : 1),
                second = layout == POSENC_INTERLEAVED  ? first + 1
                         : layout == POSENC_DUPLICATED ? first + e->read_dim / 2
                                                       : first;
  e->read(e->from, w->position - e->problem->first, 1, e->raw);
  const double values[] = {format_element(e->problem->dtype, e->raw, first),
                           format_element(e->problem->dtype, e->raw, second)};
  return memcmp(&values[0], &w->got, sizeof w->got) != 0 && memcmp(&values[1], &w->got, sizeof w->got) == 0 ? second
                                                                                                            : first;
}

/* Returns the column in the file. */
static int64_t column_of(table_exam *e, const witness *w) {
  if (w->index == e->problem->dim / 2) return e->odd_column;
  if (e->request->part != TABLE_BOTH) return column_of_part(e, w);
  const int64_t column = axes_column(e->problem, w->index, w->cosine);
  return column + (e->odd_column >= 0 && column >= e->odd_column);
}

static json_t *witness_json(table_exam *e, const witness *w) {
  json_t *made = record_witness(w, record_command(e->request->replay));
  json_object_set_new(made, "row", json_integer(w->position - e->problem->first));
  json_object_set_new(made, "column", json_integer(column_of(e, w)));
  if (e->positions) json_object_set_new(made, "position", position_json(e, w->position));
  return made;
}

static json_t *equal_rows_json(const table_exam *e) {
  json_t *first = e->equal ? json_pack("[o, o]", position_json(e, e->problem->first + e->equal_first[0]),
                                       position_json(e, e->problem->first + e->equal_first[1]))
                           : json_null();
  return json_pack("{s:I, s:I, s:o}", "compared", (json_int_t)e->digested, "equal", (json_int_t)e->equal, "first",
                   first);
}

static void finish_checks(table_exam *e, char *figures, size_t size) {
  check_bound(&e->checks[ACCURACY], &e->found);
  snprintf(figures, size, "no limit was given; max %.6g ulp, max abs %.3g", e->found.max_ulp.ulp, e->found.max_abs.abs);
  for (property p = BOUNDED; p <= PAIR_NORM; p++) {
    check *c = &e->checks[p];
    if (c->broken)
      snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " rows beyond the bound; the worst at p = %s",
               c->broken, e->problem->rows, table_position_text(e, c->position).text);
  }
  for (property p = 0; p < PROPERTIES; p++) {
    check *c = &e->checks[p];
    if (e->positions && c->broken && c->index >= 0 && !*c->note)
      snprintf(c->note, sizeof c->note,
               "%" PRId64 " of %" PRId64 " beyond the bound; the worst at p = %s, i = %" PRId64, c->broken, c->compared,
               table_position_text(e, c->position).text, c->index);
    if (!e->request->limit)
      c->skip = p == ACCURACY ? figures : "no limit was given";
    else if (e->request->part != TABLE_BOTH &&
             (p == PAIR_NORM || p == ROTATION || (p == UNIQUE_ROWS && e->problem->axes)))
      c->skip = "it takes sines and cosines"; /* the centres of a grid have positions of both signs */
    else if (c->compared == 0)
      c->skip = "it takes two rows that are no padding";
  }
}

static json_t *record_of(table_exam *e) {
  const accuracy *a = &e->found;
  const table_request *request = e->request;
  const shape of = shape_of(&request->problem);
  json_t *checks = json_array();
  char figures[120];
  finish_checks(e, figures, sizeof figures);
  for (property p = 0; p < PROPERTIES; p++)
    if (property_subjects(p) & FILES) json_array_append_new(checks, record_check(property_name(p), &e->checks[p]));
  const file_record record = {.name = request->name,
                              .table = request->table,
                              .shape = &of,
                              .command = request->replay,
                              .limit = request->limit,
                              .found = a,
                              .of = of.problem.rows * table_stored(request->table)->dim,
                              .not_finite = e->not_finite,
                              .max_ulp = witness_json(e, &a->max_ulp),
                              .max_abs = witness_json(e, &a->max_abs),
                              .worst = request->limit ? witness_json(e, &a->worst) : json_null(),
                              .positions = octaves_json(&e->by_size, e->positions),
                              .checks = checks};
  return record_of_file(&record,
                        json_pack("{s:b, s:o}", "recorded", (int)request->recorded, "equal_rows", equal_rows_json(e)));
}

static void read_file(void *from, int64_t row, int64_t rows, void *out) {
  table_rows(from, row, rows, out);
}

json_t *verify_table(const table_request *request) {
  table_exam *e = table_exam_create(request, read_file, request->table, table_stored(request->table)->dim);
  any_table_examine(e);
  json_t *record = record_of(e);
  progress_clear();
  table_exam_free(e);
  return record;
}
