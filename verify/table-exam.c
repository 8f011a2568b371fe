/* SPDX-License-Identifier: MIT */
#include "verify/exam.h"

#include "common/memory.h"
#include "common/number.h"
#include "common/terminal.h"
#include "reference/format.h"
#include "reference/scaling.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of rows that are tested for equality, 16 bytes each. */
enum { UNIQUE_ROWS_MOST = 1 << 22 };

/* ---- positions ------------------------------------------------------------------------------------------------- */

/* Returns the position of a row as checks and witnesses have it: of a list, its row; with axes, its place. */
static int64_t position_of(const table_exam *e, int64_t row) {
  return e->of.problem.first + row;
}

static bool is_listed(const table_exam *e) {
  return e->of.problem.positions || e->of.problem.axes;
}

/* Returns the position of a row on an axis, or in a list. */
static double listed_position(const table_exam *e, const table_axis *a, int64_t row) {
  const int64_t at = position_of(e, row);
  return e->of.problem.axes ? axis_position(e->of.problem.axes, (int)(a - e->axis), at) : e->of.problem.positions[at];
}

/* Returns the unit and number of the position of a row. */
static place_in_list place_of(const table_exam *e, const table_axis *a, int64_t row) {
  if (!is_listed(e)) return (place_in_list){0, position_of(e, row)};
  const double p = listed_position(e, a, row);
  int bits = 0;
  while (floor(ldexp(p, bits)) != ldexp(p, bits)) bits += UNIT_BITS;
  return (place_in_list){bits / UNIT_BITS, (int64_t)ldexp(p, bits)};
}

/* Returns |position|, rounded up. */
static int64_t distance_of(const table_exam *e, const table_axis *a, int64_t row) {
  return is_listed(e) ? (int64_t)ceil(fabs(listed_position(e, a, row))) : accuracy_distance(position_of(e, row));
}

/* Returns the position as an integer. */
static int64_t whole_position(const table_exam *e, const table_axis *a, int64_t row) {
  return is_listed(e) ? (int64_t)listed_position(e, a, row) : position_of(e, row);
}

/* Returns the octave of a row's position. */
static octave *octave_of(table_exam *e, const table_axis *a, int64_t row) {
  return octaves_at(&e->all.by_size, whole_position(e, a, row));
}

/* Returns the octave that has the errors of a row: with axes, that of the first place. */
static octave *octave_shown(table_exam *e, const table_axis *a, int64_t row) {
  return e->of.problem.axes ? octaves_at(&e->all.by_size, e->of.problem.first) : octave_of(e, a, row);
}

static bool is_padding(const table_exam *e, int64_t row) {
  const place_in_list at = e->of.problem.axes ? (place_in_list){0, position_of(e, row)} : place_of(e, e->axis, row);
  return e->of.problem.padding != POSENC_NO_PADDING && at.unit == 0 && at.number == e->of.problem.padding;
}

/* ---- the tolerance --------------------------------------------------------------------------------------------- */

/* Whether the tolerance holds for that row. */
static bool has_tolerance(const table_exam *e, const table_axis *a, int64_t row) {
  return e->request->limit && distance_of(e, a, row) <= e->request->limit->max_position;
}

/* Returns the tolerance where it holds, otherwise null. Its growth is per position of the unit. */
static const posenc_bound *tolerance_at(const table_exam *e, const table_axis *a, int64_t row, int unit,
                                        posenc_bound *scaled) {
  if (!has_tolerance(e, a, row)) return NULL;
  *scaled = *e->request->limit;
  scaled->growth = ldexp(scaled->growth, -UNIT_BITS * unit);
  return scaled;
}

/* Returns the error that the tolerance allows any element of a row. Only at position 0 is an exact value 1, whose ulp
   is twice that of smaller values. With an attention factor above 1, which all values include, an ulp is larger by at
   most that factor, and again by 2. */
static double allowed(const table_exam *e, const table_axis *a, int64_t row) {
  posenc_bound scaled;
  const posenc_bound *limit = tolerance_at(e, a, row, 0, &scaled);
  if (!limit) return INFINITY;
  const double most = posenc_bound_at(limit, e->of.problem.dtype, distance_of(e, a, row)) - limit->abs;
  const double plain = place_of(e, a, row).number == 0 ? 2.0 : 1.0,
               larger = a->attention > 1.0 ? 2.0 * a->attention : plain;
  return larger * most + limit->abs;
}

/* ---- references ------------------------------------------------------------------------------------------------ */

/* Returns the reference for positions of that unit. */
static fast_oracle *reference_of(const table_exam *e, table_axis *a, int unit) {
  if (a->references[unit]) return a->references[unit];
  posenc_problem problem = a->problem;
  problem.dim = a->frequencies;
  problem.scale = ldexp(problem.scale, -UNIT_BITS * unit);
  if (unit) problem.padding = POSENC_NO_PADDING; /* the padding row is a whole position */
  a->references[unit] = allocated(fast_create_some(&problem, e->of.problem.axes ? &a->pairs.of : NULL, 0));
  fast_part(a->references[unit], e->request->part != TABLE_COS, e->request->part != TABLE_SIN);
  return a->references[unit];
}

/* Returns the reference for a sine without a cosine, for positions of that unit. */
static oracle *odd_reference_of(table_exam *e, int unit) {
  if (e->odd_references[unit]) return e->odd_references[unit];
  posenc_problem problem = e->axis->problem;
  problem.dim += 2;
  problem.shift += 1.0;
  problem.scale = ldexp(problem.scale, -UNIT_BITS * unit);
  return e->odd_references[unit] = allocated(oracle_create(&problem));
}

/* ---- columns --------------------------------------------------------------------------------------------------- */

static bool is_part(const table_exam *e) {
  return e->request->part != TABLE_BOTH;
}

/* Sets the columns of an axis: those of its sines, then of its cosines. Rows in which these are all columns, in their
   order, need none. */
static void pick_columns(const table_exam *e, table_axis *a) {
  const int64_t pairs = a->problem.dim / 2;
  if (!is_part(e) && !e->of.problem.axes && e->of.columns.odd < 0) return;
  for (int copy = 0; copy < e->of.columns.copies; copy++) {
    a->picked[copy] = memory_take((size_t)(2 * pairs), sizeof *a->picked[copy]);
    for (int64_t c = 0; c < 2 * pairs; c++)
      a->picked[copy][c] = e->of.columns.at[copy][c >= pairs][a->pairs.number ? a->pairs.number[c % pairs] : c % pairs];
  }
  a->problem.layout = POSENC_SPLIT;
}

/* Returns rows with the columns of an axis: the given ones, or copies in `room`, with zeros for those of no column. */
static const unsigned char *rows_of(const table_exam *e, const table_axis *a, int copy, const unsigned char *raw,
                                    int64_t rows, unsigned char *room) {
  const size_t element = posenc_dtype_bytes(e->of.problem.dtype);
  const int64_t *columns = a->picked[copy];
  unsigned char *out = room;
  if (!columns) return raw;
  for (int64_t r = 0; r < rows; r++, raw += e->of.bytes)
    for (int64_t c = 0; c < a->problem.dim; c++, out += element)
      if (columns[c] < 0)
        memset(out, 0, element);
      else
        memcpy(out, raw + (size_t)columns[c] * element, element);
  return room;
}

static void read_row(table_exam *e, const table_axis *a, int64_t row, unsigned char *out) {
  const unsigned char *raw = e->of.source.read(e->of.source.from, row, 1, e->of.room_of_rows);
  memcpy(out, rows_of(e, a, 0, raw, 1, e->own), row_bytes(&a->problem));
}

/* ---- block by block -------------------------------------------------------------------------------------------- */

/* Changes the witnesses of one axis or list to those of the table: `ahead` less is the position, and indices are of the
   whole table. */
static void tell_whole(const table_axis *a, accuracy *found, int64_t ahead) {
  witness *const all[] = {&found->max_ulp, &found->max_abs, &found->worst};
  for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
    all[n]->position -= ahead;
    if (a->pairs.number) all[n]->index = a->pairs.number[all[n]->index];
  }
}

/* Checks that all elements of the padding row of a table with axes are zeros. */
static void check_padding(table_exam *e, const table_axis *a, const unsigned char *row) {
  const exact zero = {0.0, 0.0, 0.0};
  const posenc_bound nothing = {.derived = true};
  const int64_t pairs = a->problem.dim / 2;
  for (int64_t c = 0; c < 2 * pairs; c++) {
    if (a->picked[0][c] < 0) continue;
    const double got = format_element(a->problem.dtype, row, c);
    e->all.not_finite += !isfinite(got);
    accuracy_add(&octave_shown(e, a, 0)->found, format_of(a->problem.dtype), e->request->limit ? &nothing : NULL, &zero,
                 got, (element_place){e->of.problem.padding, a->pairs.number[c % pairs], c >= pairs});
  }
}

/* Returns the end of the run from row `from` on: successive places within one octave, for which the tolerance holds or
   not. */
static int64_t end_of_run(table_exam *e, const table_axis *a, int64_t from, int64_t end) {
  const place_in_list at = place_of(e, a, from);
  int64_t to = from + 1;
  for (; to < end && octave_of(e, a, to) == octave_of(e, a, from); to++) {
    const place_in_list next = place_of(e, a, to);
    if (next.unit != at.unit || next.number != at.number + (to - from)) break;
    if (has_tolerance(e, a, to) != has_tolerance(e, a, from)) break;
    if (e->of.problem.axes && is_padding(e, to)) break;
  }
  return to;
}

/* Compares the rows of a window with the exact values. */
static void check_accuracy(table_exam *e, table_axis *a, int copy, window w, const unsigned char *rows) {
  for (int64_t from = w.row, to; from < w.row + w.rows; from = to) {
    const unsigned char *there = rows + row_bytes(&a->problem) * (size_t)(from - w.row);
    const place_in_list at = place_of(e, a, from);
    octave *in = octave_shown(e, a, from);
    const bool is_zero = e->of.problem.axes && is_padding(e, from);
    posenc_bound scaled;
    to = is_zero ? from + 1 : end_of_run(e, a, from, w.row + w.rows);
    if (in->rows == 0) in->first = position_of(e, from);
    if (copy == 0 && a == e->axis) in->rows += to - from;
    if (is_zero) check_padding(e, a, there);
    if (is_zero) continue;
    accuracy found = {0}, *const into = is_listed(e) ? &found : &in->found;
    fast_check(reference_of(e, a, at.unit), at.number - a->problem.first, to - from, there,
               tolerance_at(e, a, from, at.unit, &scaled), into);
    if (!is_listed(e)) continue;
    tell_whole(a, &found, at.number - position_of(e, from));
    accuracy_move(&found, whole_position(e, a, from));
    accuracy_merge(&in->found, &found);
  }
}

/* Returns the exact value of the odd column: zero, or a sine except in the padding row. */
static exact exact_of_odd(table_exam *e, int64_t row) {
  const place_in_list at = place_of(e, e->axis, row);
  if (e->of.problem.odd == POSENC_ODD_PAD || is_padding(e, row)) return (exact){0.0, 0.0, 0.0};
  return oracle_pair(odd_reference_of(e, at.unit), at.number, e->of.problem.dim / 2).sine;
}

/* Compares the additional column of an odd dim. */
static void check_odd_column(table_exam *e, window w) {
  const table_axis *a = e->axis;
  if (e->of.columns.odd < 0) return;
  for (int64_t row = w.row; row < w.row + w.rows; row++) {
    const int64_t distance = distance_of(e, a, row);
    const exact value = exact_of_odd(e, row);
    posenc_bound here = {0};
    const posenc_bound *limit = tolerance_at(e, a, row, 0, &here);
    here.abs += here.growth * (double)distance; /* a list's row numbers are not its positions */
    here.growth = 0.0;
    accuracy found = {0};
    accuracy_add(&found, format_of(e->of.problem.dtype), limit, &value,
                 format_element(e->of.problem.dtype, e->of.rows, (row - w.row) * e->of.width + e->of.columns.odd),
                 (element_place){position_of(e, row), e->of.problem.dim / 2, false});
    accuracy_move(&found, whole_position(e, a, row));
    accuracy_merge(&octave_of(e, a, row)->found, &found);
  }
}

static int64_t count_not_finite(const posenc_problem *problem, const unsigned char *row) {
  int64_t count = 0;
  for (int64_t c = 0; c < problem->dim; c++) count += !isfinite(format_element(problem->dtype, row, c));
  return count;
}

static void check_values(table_exam *e, const table_axis *a, window w, const unsigned char *rows) {
  const posenc_columns at = posenc_layout_columns(a->problem.layout, a->problem.dim);
  const int64_t pairs = a->problem.dim / 2;
  for (int64_t row = w.row; row < w.row + w.rows; row++, rows += row_bytes(&a->problem)) {
    const bool is_zero = is_padding(e, row);
    const double d = allowed(e, a, row), factor = a->attention;
    const row_norms found = row_norms_of(rows, &a->problem, at, factor * factor);
    if (is_zero && e->of.problem.axes) continue; /* see check_padding */
    if (isinf(found.value)) e->all.not_finite += count_not_finite(&a->problem, rows);
    check_note_all(&e->all.checks[BOUNDED], is_part(e) ? pairs : 2 * pairs, found.value,
                   isinf(found.value) ? 0.0 : factor + d, position_of(e, row));
    if (!is_part(e) && !is_zero)
      check_note_all(&e->all.checks[PAIR_NORM], pairs, found.norm, allowed_norm(factor, d), position_of(e, row));
  }
}

static void digest_rows(table_exam *e, window w) {
  for (int64_t row = w.row; row < w.row + w.rows && row < UNIQUE_ROWS_MOST; row++) {
    const unsigned char *raw = e->of.rows + e->of.bytes * (size_t)(row - w.row);
    uint64_t digest = DIGEST_START;
    if (is_padding(e, row)) continue;
    for (const table_axis *a = e->axis; a < e->axis + e->axes; a++)
      digest = digest_of(digest, rows_of(e, a, 0, raw, 1, e->own), row_bytes(&a->problem),
                         posenc_dtype_bytes(a->problem.dtype));
    e->digests[e->digested++] = (row_digest){digest, row};
  }
}

/* ---- relations between rows ----------------------------------------------------------------------------------- */

/* Returns the n-th row of a window. With axes, the padding row does not count. */
static int64_t nth_row(const table_exam *e, window w, int64_t n) {
  const int64_t first = position_of(e, w.row), padding = e->of.problem.padding;
  const bool is_left_out = e->of.problem.axes && padding != POSENC_NO_PADDING && padding >= first;
  return w.row + n + (is_left_out && padding - first <= n);
}

static int64_t count_rows(const table_exam *e, window w) {
  return nth_row(e, w, w.rows - 1) < w.row + w.rows ? w.rows : w.rows - 1;
}

/* Compares row n + k of a window with row n, rotated by the difference of their positions. */
static void check_rotation(table_exam *e, table_axis *a, window w, int64_t n, int64_t k) {
  const int64_t row = nth_row(e, w, n), other = nth_row(e, w, n + k);
  const place_in_list from = place_of(e, a, row), to = place_of(e, a, other);
  check found = {0};
  int64_t by;
  if (is_padding(e, row) || is_padding(e, other)) return;
  if (from.unit != to.unit || __builtin_sub_overflow(to.number, from.number, &by)) return;
  fast_row(reference_of(e, a, from.unit), by, e->by);
  read_row(e, a, row, e->one);
  read_row(e, a, other, e->other);
  const rotated_row rotated = {.problem = &a->problem,
                               .attention = a->attention,
                               .by = e->by,
                               .from = e->one,
                               .to = e->other,
                               .e_from = allowed(e, a, row),
                               .e_to = allowed(e, a, other),
                               .position = position_of(e, other)};
  check_rotated_row(&found, &rotated);
  if (a->pairs.number) found.index = a->pairs.number[found.index];
  check_merge(&e->all.checks[ROTATION], &found);
}

/* Checks rotations by every power of two, from the first row of a window, from the middle and to the last one. */
static void check_rotations(table_exam *e, table_axis *a, window w) {
  const int64_t rows = count_rows(e, w);
  if (is_part(e)) return;
  for (int64_t k = 1; k < rows && k > 0; k *= 2) {
    const int64_t last = rows - 1 - k;
    check_rotation(e, a, w, 0, k);
    if (last > 1) check_rotation(e, a, w, last / 2, k);
    if (last > 0) check_rotation(e, a, w, last, k);
  }
}

bool table_exam_judge(row_exam *all, window block) {
  table_exam *e = (table_exam *)all;
  for (int copy = e->of.columns.copies - 1; copy >= 0; copy--)
    for (table_axis *a = e->axis; a < e->axis + e->axes; a++) {
      const unsigned char *rows = rows_of(e, a, copy, e->of.rows, block.rows, e->own);
      check_accuracy(e, a, copy, block, rows);
      check_values(e, a, block, rows);
    }
  check_odd_column(e, block);
  if (e->request->table) digest_rows(e, block);
  return true;
}

void table_exam_rows(table_exam *e, window w) {
  row_exam_look(&e->of, w);
  for (table_axis *a = e->axis; a < e->axis + e->axes; a++) check_rotations(e, a, w);
}

/* ---- equal rows ------------------------------------------------------------------------------------------------ */

static int compare_digests(const void *one, const void *other) {
  const row_digest *a = one, *b = other;
  if (a->digest != b->digest) return a->digest < b->digest ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static bool are_equal(table_exam *e, int64_t p, int64_t q) {
  for (const table_axis *a = e->axis; a < e->axis + e->axes; a++) {
    read_row(e, a, p, e->one);
    read_row(e, a, q, e->other);
    if (memcmp(e->one, e->other, row_bytes(&a->problem)) != 0) return false;
  }
  return true;
}

/* Returns the largest distance of two exact rows in one column of an axis. */
static double distance(table_exam *e, table_axis *a, int64_t p, int64_t q) {
  const place_in_list at_p = place_of(e, a, p), at_q = place_of(e, a, q);
  const int64_t pairs = a->problem.dim / 2;
  fast_pair *other = memory_take((size_t)pairs, sizeof *other);
  double most = 0.0;
  fast_row(reference_of(e, a, at_p.unit), at_p.number, e->by);
  fast_row(reference_of(e, a, at_q.unit), at_q.number, other);
  for (int64_t i = 0; i < pairs; i++) {
    if (e->request->part != TABLE_COS) most = fmax(most, fabs(e->by[i].sine.high - other[i].sine.high));
    if (e->request->part != TABLE_SIN) most = fmax(most, fabs(e->by[i].cosine.high - other[i].cosine.high));
  }
  free(other);
  return most;
}

/* Checks equal rows: the exact ones are no farther apart than the tolerance allows: 2 d, and 2^-51 for the rounding of
   that distance. For f16 and bf16 this may allow many. Of several axes, the one that is the farthest beyond counts. */
static void judge_equal(table_exam *e, int64_t p, int64_t q) {
  double worst = -INFINITY, apart = 0.0, most = 0.0;
  for (table_axis *a = e->axis; a < e->axis + e->axes; a++) {
    const double d = distance(e, a, p, q), limit = allowed(e, a, p) + allowed(e, a, q) + 0x1p-51;
    if (a != e->axis && !(d - limit > worst)) continue;
    worst = d - limit;
    apart = d;
    most = limit;
  }
  check_note(&e->all.checks[UNIQUE_ROWS], apart, most, position_of(e, q), -1);
}

static number_text position_text(const table_exam *e, int64_t position) {
  number_text n;
  if (e->of.problem.positions) return number_of_position(e->of.problem.positions[position]);
  snprintf(n.text, sizeof n.text, "%" PRId64, position);
  return n;
}

static void check_unique(table_exam *e) {
  enum { JUDGED = 64 };
  check *c = &e->all.checks[UNIQUE_ROWS];
  qsort(e->digests, (size_t)e->digested, sizeof *e->digests, compare_digests);
  for (int64_t n = 1, begin = 0; n < e->digested; n++) {
    if (e->digests[n].digest != e->digests[begin].digest) begin = n;
    if (begin == n) continue;
    const int64_t p = e->digests[begin].row, q = e->digests[n].row;
    if (!are_equal(e, p, q)) continue;
    if (!e->equal++ || q < e->equal_first[1]) {
      e->equal_first[0] = p;
      e->equal_first[1] = q;
    }
    if (e->equal <= JUDGED) judge_equal(e, p, q);
  }
  c->compared = e->digested;
  if (e->equal)
    snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " rows equal one before; the first p = %s and p = %s",
             e->equal, e->digested, position_text(e, position_of(e, e->equal_first[0])).text,
             position_text(e, position_of(e, e->equal_first[1])).text);
}

/* ---- the exam -------------------------------------------------------------------------------------------------- */

/* Sets the pairs of an axis; of a table without axes, all pairs but a last sine without a cosine. */
static void set_axis(table_exam *e, table_axis *a) {
  const bool is_odd = e->of.columns.odd >= 0;
  a->problem = e->of.problem;
  a->problem.positions = NULL;
  a->problem.odd = POSENC_ODD_REFUSED;
  a->problem.dim -= is_odd;
  if (is_odd && e->of.problem.odd == POSENC_ODD_CEIL) a->problem.shift -= 0.5;
  a->frequencies = a->problem.dim;
  if (e->of.problem.axes) {
    if (!axis_pairs_find(&a->pairs, &e->of.problem, (int)(a - e->axis))) memory_end();
    a->problem = a->pairs.problem;
    a->frequencies = a->problem.dim;
    a->problem.dim = 2 * a->pairs.of.count;
  }
  a->attention = attention_of(&a->problem);
  pick_columns(e, a);
}

table_exam *table_exam_create(const table_request *request, rows_source source, int64_t width) {
  table_exam *e = memory_take(1, sizeof *e);
  const posenc_problem *problem = &request->problem;
  size_t room = 0;
  *e = (table_exam){.request = request,
                    .of = {.name = request->table ? request->name : NULL,
                           .problem = *problem,
                           .width = width,
                           .source = source,
                           .judge = table_exam_judge}};
  row_exam_open(&e->of, request->part);
  e->axes = problem->axes ? problem->axes->count : 1;
  for (table_axis *a = e->axis; a < e->axis + e->axes; a++) {
    set_axis(e, a);
    if (room < row_bytes(&a->problem)) room = row_bytes(&a->problem);
  }
  row_exam_allocate(&e->of, room);
  if (e->axis->picked[0]) e->own = row_exam_block(&e->of);
  e->one = memory_take(e->of.room, 1);
  e->other = memory_take(e->of.room, 1);
  e->by = memory_take((size_t)problem->dim / 2, sizeof *e->by);
  if (request->table) e->digests = memory_take((size_t)least(problem->rows, UNIQUE_ROWS_MOST), sizeof *e->digests);
  return e;
}

void table_exam_free(table_exam *e) {
  for (table_axis *a = e->axis; a < e->axis + e->axes; a++) {
    for (int unit = 0; unit < UNITS; unit++) fast_destroy(a->references[unit]);
    free(a->picked[0]);
    free(a->picked[1]);
    axis_pairs_free(&a->pairs);
  }
  for (int unit = 0; unit < UNITS; unit++)
    if (e->odd_references[unit]) oracle_destroy(e->odd_references[unit]);
  row_exam_close(&e->of);
  free(e->own);
  free(e->one);
  free(e->other);
  free(e->by);
  free(e->digests);
  free(e);
}

/* ---- the record of a table in a file --------------------------------------------------------------------------- */

static record_number number_of_position_in(const table_exam *e, int64_t position) {
  return e->of.problem.positions ? record_number_of(e->of.problem.positions[position]) : (record_number){position, 0.0};
}

/* Returns the column of a witness in the file. If it occurs twice, returns the one with the witness's value. */
static int64_t column_of_witness(table_exam *e, const witness *w) {
  const int64_t row = w->position - e->of.problem.first;
  const bool cosine = is_part(e) ? e->request->part == TABLE_COS : w->cosine;
  const int64_t first = e->of.columns.at[0][cosine][w->index], second = e->of.columns.at[1][cosine][w->index];
  if (e->of.columns.copies == 1) return first;
  const unsigned char *raw = e->of.source.read(e->of.source.from, row, 1, e->of.room_of_rows);
  const double values[] = {format_element(e->of.problem.dtype, raw, first),
                           format_element(e->of.problem.dtype, raw, second)};
  return memcmp(&values[0], &w->got, sizeof w->got) != 0 && memcmp(&values[1], &w->got, sizeof w->got) == 0 ? second
                                                                                                            : first;
}

static void tell_place(row_exam *all, const witness *w, record_witness *made, record_memory *in) {
  table_exam *e = (table_exam *)all;
  (void)in;
  made->row = w->position - all->problem.first;
  made->column = column_of_witness(e, w);
  made->position = number_of_position_in(e, w->position);
}

static record_equal_rows equal_rows_of(const table_exam *e, record_memory *in) {
  record_equal_rows made = {.there = true, .compared = e->digested, .equal = e->equal};
  if (!e->equal) return made;
  record_number *first = record_allocate(in, 2, sizeof *first);
  for (int n = 0; n < 2; n++) first[n] = number_of_position_in(e, position_of(e, e->equal_first[n]));
  made.first = first;
  made.first_count = 2;
  return made;
}

static void finish_checks(table_exam *e, const char *figures) {
  check_bound(&e->all.checks[ACCURACY], &e->all.found);
  for (property p = BOUNDED; p <= PAIR_NORM; p++) {
    check *c = &e->all.checks[p];
    if (c->broken)
      snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " rows beyond the bound; the worst at p = %s",
               c->broken, e->of.problem.rows, position_text(e, c->position).text);
  }
  for (property p = 0; p < PROPERTIES; p++) {
    check *c = &e->all.checks[p];
    if (e->of.problem.positions && c->broken && c->index >= 0 && !*c->note)
      snprintf(c->note, sizeof c->note,
               "%" PRId64 " of %" PRId64 " beyond the bound; the worst at p = %s, i = %" PRId64, c->broken, c->compared,
               position_text(e, c->position).text, c->index);
    if (!e->request->limit)
      c->skip = p == ACCURACY ? figures : "no limit was given";
    else if (e->request->part != TABLE_BOTH &&
             (p == PAIR_NORM || p == ROTATION || (p == UNIQUE_ROWS && e->of.problem.axes)))
      c->skip = "it takes sines and cosines"; /* the centres of a grid have positions of both signs */
    else if (c->compared == 0)
      c->skip = "it takes two rows that are no padding";
  }
}

static file_result result_of(table_exam *e) {
  const table_request *request = e->request;
  const shape of = shape_of(&request->problem);
  const file_exam file = {.name = request->name,
                          .table = request->table,
                          .shape = &of,
                          .command = request->replay,
                          .limit = request->limit,
                          .found = &e->all.found};
  char figures[120];
  finish_checks(e, row_exam_figures(&e->all.found, figures, sizeof figures));
  file_result found = row_exam_record(&e->of, &e->all, &file, FILES, tell_place);
  record_file *made = &found.of;
  made->of = of.problem.rows * e->of.width;
  made->recorded = request->recorded;
  made->has_recorded = true;
  made->equal_rows = equal_rows_of(e, &found.memory);
  return found;
}

file_result verify_table(const table_request *request) {
  table_exam *e = table_exam_create(request, (rows_source){.read = rows_of_file, .from = request->table},
                                    table_stored(request->table)->dim);
  table_exam_rows(e, (window){0, request->problem.rows});
  octaves_sum(&e->all.by_size, &e->all.found);
  check_unique(e);
  const file_result found = result_of(e);
  progress_clear();
  table_exam_free(e);
  return found;
}
