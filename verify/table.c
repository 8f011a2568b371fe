/* SPDX-License-Identifier: MIT */
#include "verify/table.h"

#include "common/environment.h"
#include "common/field.h"
#include "common/number.h"
#include "common/progress.h"
#include "common/shapes.h"
#include "reference/fast.h"
#include "reference/scaling.h"
#include "verify/record.h"
#include "verify/rows.h"

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

/* Whole positions are numbers of the unit 1, fractional ones of a unit 2^-8, 2^-16, … in which they are whole; the scale takes it in. */
enum { UNIT_BITS = 8, UNITS = (1074 + UNIT_BITS - 1) / UNIT_BITS + 1 };

typedef struct place_in_list {
  int unit;
  int64_t number;
} place_in_list;

/* What is found in one table. In a list of positions, rows stand for them: what is called a position here is then a row. */
typedef struct exam {
  const table_request *request;
  rows_reader *read; /* what makes the rows, and what it makes them from */
  void *from;
  int64_t read_dim;              /* columns of those */
  posenc_problem plain;          /* without a list of positions, and of an odd dim without its last column */
  const posenc_problem *problem; /* that */
  const double *positions;
  int64_t odd_column; /* of the file; -1: none */
  size_t row_bytes, file_row_bytes;
  fast_oracle *truths[UNITS];
  oracle *odd_truths[UNITS];               /* of the last sine, where it has no cosine */
  unsigned char *rows, *one, *other, *raw; /* a block, two single ones, and a block as it is in the file */
  bool failed;                             /* memory ran out */
  int copy;                                /* of a part alone, whose columns come twice: which are read */
  fast_pair *by;
  row_digest *digests;
  int64_t digested;
  octave octaves[2 * OCTAVES]; /* of negative positions, then of the others */
  accuracy found;
  double attention;
  int64_t not_finite, equal, equal_first[2];
  check checks[CHECKS];
} exam;

/* Where a position is: of a list, that of the row. */
static place_in_list place_of(const exam *e, int64_t position) {
  if (!e->positions) return (place_in_list){0, position};
  const double p = e->positions[position];
  int bits = 0;
  while (floor(ldexp(p, bits)) != ldexp(p, bits)) bits += UNIT_BITS;
  return (place_in_list){bits / UNIT_BITS, (int64_t)ldexp(p, bits)};
}

/* |position|, rounded up. */
static int64_t distance_of(const exam *e, int64_t position) {
  if (e->positions) return (int64_t)ceil(fabs(e->positions[position]));
  return position == INT64_MIN ? INT64_MAX : llabs(position);
}

/* Is the limit about that position? */
static bool is_limited(const exam *e, int64_t position) {
  return e->request->limit && distance_of(e, position) <= e->request->limit->max_position;
}

/* The limit if it is, else null; its growth is by positions of that unit. */
static const posenc_bound *limit_at(const exam *e, int64_t position, int unit, posenc_bound *scaled) {
  if (!is_limited(e, position)) return NULL;
  *scaled = *e->request->limit;
  scaled->growth = ldexp(scaled->growth, -UNIT_BITS * unit);
  return scaled;
}

static bool is_padding(const exam *e, int64_t position) {
  const place_in_list at = place_of(e, position);
  return e->problem->padding != POSENC_NO_PADDING && at.unit == 0 && at.number == e->problem->padding;
}

/* The truth in positions of that unit; null when memory runs out. */
static fast_oracle *truth_of(exam *e, int unit) {
  if (e->truths[unit]) return e->truths[unit];
  posenc_problem problem = e->plain;
  problem.scale = ldexp(problem.scale, -UNIT_BITS * unit);
  if (unit) problem.padding = POSENC_NO_PADDING; /* which is a whole position */
  e->truths[unit] = fast_create(&problem, 0);
  e->failed |= !e->truths[unit];
  if (e->truths[unit]) fast_part(e->truths[unit], e->request->part != TABLE_COS, e->request->part != TABLE_SIN);
  return e->truths[unit];
}

/* The truth about a sine without a cosine, in positions of that unit. */
static oracle *odd_truth_of(exam *e, int unit) {
  if (e->odd_truths[unit]) return e->odd_truths[unit];
  posenc_problem problem = e->plain;
  problem.dim += 2;
  problem.shift += 1.0;
  problem.scale = ldexp(problem.scale, -UNIT_BITS * unit);
  e->odd_truths[unit] = oracle_create(&problem);
  e->failed |= !e->odd_truths[unit];
  return e->odd_truths[unit];
}

/* What the limit allows any element of a position; only at 0 is an exact value 1, whose ulp is twice that of those below. With an attention factor
   above 1, which all values have, an ulp is at most so many times as large, and again twice that. */
static double allowed(const exam *e, int64_t position) {
  posenc_bound scaled;
  const posenc_bound *limit = limit_at(e, position, 0, &scaled);
  if (!limit) return INFINITY;
  const double most = posenc_bound_at(limit, e->problem->dtype, distance_of(e, position)) - limit->abs;
  const double larger = e->attention > 1.0 ? 2.0 * e->attention : place_of(e, position).number == 0 ? 2.0 : 1.0;
  return larger * most + limit->abs;
}

static bool is_part(const exam *e) {
  return e->request->part != TABLE_BOTH;
}

/* How often the file has each column. */
static int copies_of(const exam *e) {
  return is_part(e) && e->request->problem.layout != POSENC_SPLIT ? 2 : 1;
}

static void read_file(void *from, int64_t row, int64_t rows, void *out) {
  table_rows(from, row, rows, out);
}

/* Of a part alone: its columns where a whole table has them, beside zeros. */
static void read_part(exam *e, int64_t row, int64_t rows, unsigned char *out) {
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

/* Rows without the odd column. */
static void read_rows(exam *e, int64_t row, int64_t rows, unsigned char *out) {
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

/* The octave of a position. */
static octave *octave_of(exam *e, int64_t position) {
  return &e->octaves[octave_number(e->positions ? (int64_t)e->positions[position] : position)];
}

/* A list's witnesses tell the row that they are in, not the number of the place. */
static void tell_rows(accuracy *found, int64_t ahead) {
  found->max_ulp.position -= ahead;
  found->max_abs.position -= ahead;
  found->worst.position -= ahead;
}

/* By stretches of successive places, which are in one octave. */
static void check_accuracy(exam *e, int64_t row, int64_t rows) {
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
    fast_oracle *truth = truth_of(e, at.unit);
    if (!truth) return;
    accuracy found = {0}, *const into = e->positions ? &found : &in->found;
    fast_check(truth, at.number - e->problem->first, to - from, e->rows + e->row_bytes * (size_t)from, limit, into);
    if (!e->positions) continue;
    tell_rows(&found, at.number - position);
    accuracy_merge(&in->found, &found);
  }
}

/* Of the odd column, which is zeros, or sines but in the padding row. */
static exact exact_of_odd(exam *e, int64_t position) {
  const place_in_list at = place_of(e, position);
  if (e->request->problem.odd == POSENC_ODD_PAD || is_padding(e, position)) return (exact){0.0, 0.0, 0.0};
  oracle *truth = odd_truth_of(e, at.unit);
  return truth ? oracle_pair(truth, at.number, e->problem->dim / 2).sine : (exact){0.0, 0.0, 0.0};
}

/* The column that an odd dim has more. */
static void check_odd_column(exam *e, int64_t row, int64_t rows) {
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
    here.abs +=
        here.growth * (double)distance_of(e, position); /* of a list, what stands for the position has another size */
    here.growth = 0.0;
    accuracy_add(&octave_of(e, position)->found, format_of(e->problem->dtype), limit, &value,
                 format_element(e->problem->dtype, bytes, 0), position, index, false);
  }
}

static int64_t count_not_finite(const exam *e, const unsigned char *row) {
  int64_t count = 0;
  for (int64_t c = 0; c < e->problem->dim; c++) count += !isfinite(format_element(e->problem->dtype, row, c));
  return count;
}

/* With both components within d of a sin and a cos: |s² + c² - a²| <= 2√2 a d + 2 d², and 2^-50 a² for these sums, a being the attention factor. */
static void check_values(exam *e, int64_t row, int64_t rows) {
  const posenc_columns at = posenc_layout_columns(e->problem->layout, e->problem->dim);
  for (int64_t r = 0; r < rows; r++) {
    const int64_t position = e->problem->first + row + r;
    const unsigned char *values = e->rows + e->row_bytes * (size_t)r;
    const double d = allowed(e, position), a = e->attention;
    const row_norms found = row_norms_of(values, e->problem, at, a * a);
    if (isinf(found.value)) e->not_finite += count_not_finite(e, values);
    note(&e->checks[OF_BOUNDED], found.value, isinf(found.value) ? 0.0 : a + d, position, -1,
         is_part(e) ? e->problem->dim / 2 : e->problem->dim);
    if (!is_part(e) && !is_padding(e, position))
      note(&e->checks[OF_NORM], found.norm, 2.0 * sqrt(2.0) * a * d + 2.0 * d * d + 0x1p-50 * a * a, position, -1,
           e->problem->dim / 2);
  }
}

static void digest_rows(exam *e, int64_t row, int64_t rows) {
  for (int64_t r = 0; r < rows && row + r < UNIQUE_ROWS; r++) {
    if (is_padding(e, e->problem->first + row + r)) continue;
    e->digests[e->digested++] =
        (row_digest){digest_of(DIGEST_START, e->rows + e->row_bytes * (size_t)r, e->row_bytes), row + r};
  }
}

static void check_blocks(exam *e) {
  const int64_t all = e->problem->rows,
                block = e->file_row_bytes < BLOCK_BYTES ? BLOCK_BYTES / (int64_t)e->file_row_bytes : 1;
  for (int64_t row = 0, rows; row < all; row += rows) {
    rows = least(block, all - row);
    if (e->request->table)
      progress_show("check", e->request->name, (double)row * (double)e->problem->dim,
                    (double)all * (double)e->problem->dim, "elements");
    for (e->copy = copies_of(e) - 1;; e->copy--) {
      read_rows(e, row, rows, e->rows);
      check_accuracy(e, row, rows);
      check_odd_column(e, row, rows);
      check_values(e, row, rows);
      if (e->copy == 0) break;
    }
    digest_rows(e, row, rows);
  }
  for (int n = 0; n < 2 * OCTAVES; n++) accuracy_merge(&e->found, &e->octaves[n].found);
}

/* ---- rows that have to do with each other ------------------------------------------------------- */

/* PE[p+k] against M_k PE[p], M_k from the oracle: the deviation is at most d(p+k) + (|cos kw| + |sin kw|) d(p), and 2^-51 for the sum here. */
static void check_rotation(exam *e, int64_t row, int64_t k) {
  const posenc_problem *problem = e->problem;
  const int64_t position = problem->first + row;
  const place_in_list from = place_of(e, position), to = place_of(e, position + k);
  int64_t by;
  if (is_padding(e, position) || is_padding(e, position + k)) return;
  if (from.unit != to.unit || __builtin_sub_overflow(to.number, from.number, &by)) return;
  fast_oracle *truth = truth_of(e, from.unit);
  if (!truth) return;
  fast_row(truth, by, e->by);
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  read_rows(e, row, 1, e->one);
  read_rows(e, row + k, 1, e->other);
  const double d_from = allowed(e, position), d_to = allowed(e, position + k);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    const int64_t sin_column = at.sin + i * at.step, cos_column = at.cos + i * at.step;
    const double sine = format_element(problem->dtype, e->one, sin_column),
                 cosine = format_element(problem->dtype, e->one, cos_column);
    const double sin_k = e->by[i].sine.high / e->attention, cos_k = e->by[i].cosine.high / e->attention;
    const double bound = d_to + (fabs(sin_k) + fabs(cos_k)) * d_from + 0x1p-51 * e->attention;
    const double of_sin = fabs(format_element(problem->dtype, e->other, sin_column) - (sine * cos_k + cosine * sin_k)),
                 of_cos = fabs(format_element(problem->dtype, e->other, cos_column) - (cosine * cos_k - sine * sin_k));
    note(&e->checks[OF_ROTATION], isfinite(of_sin) ? of_sin : INFINITY, bound, position + k, i, 1);
    note(&e->checks[OF_ROTATION], isfinite(of_cos) ? of_cos : INFINITY, bound, position + k, i, 1);
  }
}

/* Steps of every power of two, from the first row, from the middle and to the last. */
static void check_rotations(exam *e) {
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

/* The largest distance of two exact rows in one column. */
static double distance(exam *e, int64_t p, int64_t q) {
  double most = 0.0;
  fast_pair *other = calloc((size_t)e->problem->dim / 2, sizeof *other);
  if (!other) return INFINITY;
  const place_in_list at_p = place_of(e, p), at_q = place_of(e, q);
  fast_oracle *of_p = truth_of(e, at_p.unit), *of_q = truth_of(e, at_q.unit);
  if (of_p) fast_row(of_p, at_p.number, e->by);
  if (of_q) fast_row(of_q, at_q.number, other);
  for (int64_t i = 0; i < e->problem->dim / 2; i++) {
    if (e->request->part != TABLE_COS) most = fmax(most, fabs(e->by[i].sine.high - other[i].sine.high));
    if (e->request->part != TABLE_SIN) most = fmax(most, fabs(e->by[i].cosine.high - other[i].cosine.high));
  }
  free(other);
  return most;
}

static number_text position_text(const exam *e, int64_t position) {
  number_text n;
  if (e->positions) return number_of_position(e->positions[position]);
  snprintf(n.text, sizeof n.text, "%" PRId64, position);
  return n;
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
    read_rows(e, p, 1, e->one);
    read_rows(e, q, 1, e->other);
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
    snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " rows equal one before; the first p = %s and p = %s",
             e->equal, e->digested, position_text(e, e->problem->first + e->equal_first[0]).text,
             position_text(e, e->problem->first + e->equal_first[1]).text);
}

/* ---- the record -------------------------------------------------------------------------------- */

static json_t *position_json(const exam *e, int64_t position) {
  return e->positions ? json_real(e->positions[position]) : json_integer(position);
}

static json_t *witness_json(const exam *e, const witness *w, const char *replay) {
  json_t *made = record_witness(w, json_string(replay));
  if (e->positions) json_object_set_new(made, "position", position_json(e, w->position));
  return made;
}

static json_t *positions_json(const exam *e) {
  json_t *all = json_array();
  /* From the farthest negative ones on. */
  for (int n = 0; n < 2 * OCTAVES; n++) {
    const octave *in = &e->octaves[n < OCTAVES ? OCTAVES - 1 - n : n];
    if (in->rows == 0) continue;
    json_array_append_new(all, json_pack("{s:o, s:I, s:o, s:o, s:o, s:I}", "position", position_json(e, in->first),
                                         "rows", (json_int_t)in->rows, "max_ulp", field_real(in->found.max_ulp.ulp),
                                         "max_abs", field_real(in->found.max_abs.abs), "mean_abs",
                                         field_real(in->found.sum_abs / (double)in->found.elements), "misrounded",
                                         (json_int_t)in->found.misrounded));
  }
  return all;
}

static json_t *equal_rows_json(const exam *e) {
  json_t *first = e->equal ? json_pack("[o, o]", position_json(e, e->problem->first + e->equal_first[0]),
                                       position_json(e, e->problem->first + e->equal_first[1]))
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
  check_bound(&e->checks[OF_ACCURACY], &e->found);
  snprintf(figures, size, "no limit was given; max %.6g ulp, max abs %.3g", e->found.max_ulp.ulp, e->found.max_abs.abs);
  for (int n = OF_BOUNDED; n <= OF_NORM; n++) {
    check *c = &e->checks[n];
    if (c->broken)
      snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " rows beyond the bound; the worst at p = %s",
               c->broken, e->problem->rows, position_text(e, c->position).text);
  }
  for (int n = 0; n < CHECKS; n++) {
    check *c = &e->checks[n];
    if (e->positions && c->broken && c->index >= 0 && !*c->note)
      snprintf(c->note, sizeof c->note,
               "%" PRId64 " of %" PRId64 " beyond the bound; the worst at p = %s, i = %" PRId64, c->broken, c->compared,
               position_text(e, c->position).text, c->index);
    if (!e->request->limit)
      c->skip = n == OF_ACCURACY ? figures : "no limit was given";
    else if (is_part(e) && (n == OF_NORM || n == OF_ROTATION))
      c->skip = "it takes sines and cosines";
    else if (c->compared == 0)
      c->skip = "it takes two rows that are no padding";
  }
}

static json_t *record_of(exam *e) {
  const accuracy *a = &e->found;
  const posenc_bound *limit = e->request->limit;
  json_t *command = json_string(e->request->replay); /* null if a name in it is not UTF-8 */
  const char *replay = command ? e->request->replay : "posenc check", *tensor = table_tensor(e->request->table);
  const shape of = shape_of(&e->request->problem);
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
      "{s:o, s:o, s:n, s:s, s:s, s:o, s:b, s:o, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}",
      "kernel", name_json(e->request->name), "shape", shape_json(&of), "refusal", "replay", replay, "format",
      table_format(e->request->table), "tensor", tensor ? name_json(tensor) : json_null(), "recorded",
      (int)e->request->recorded, "limit",
      limit ? json_pack("{s:f, s:f}", "ulp", limit->ulp, "abs", limit->abs) : json_null(), "mode", "exhaustive",
      "elements", (json_int_t)a->elements, "of", (json_int_t)(of.problem.rows * table_stored(e->request->table)->dim),
      "not_finite", (json_int_t)e->not_finite, "max_ulp", witness_json(e, &a->max_ulp, replay), "max_abs",
      witness_json(e, &a->max_abs, replay), "worst", limit ? witness_json(e, &a->worst, replay) : json_null(),
      "mean_ulp", field_real(a->sum_ulp / elements), "mean_abs", field_real(a->sum_abs / elements), "misrounded",
      (json_int_t)a->misrounded, "histogram", record_histogram(a), "positions", positions_json(e), "equal_rows",
      equal_rows_json(e), "checks", checks);
  json_decref(command);
  if (!one) return NULL;
  return json_pack("{s:s, s:o, s:[], s:[o], s:I, s:I, s:I}", "schema", "posenc-check-1", "environment",
                   environment_json(), "kernels", "records", one, "passed", passed, "failed", failed, "skipped",
                   skipped);
}

/* What is looked at as any table, and the column beside it. */
static void set_problem(exam *e, const posenc_problem *problem) {
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

/* Looks at all of it. False when memory runs out. */
static bool examine(exam *e) {
  set_problem(e, &e->request->problem);
  const size_t row_bytes = e->file_row_bytes < e->row_bytes ? e->row_bytes : e->file_row_bytes,
               block = row_bytes < BLOCK_BYTES ? BLOCK_BYTES : row_bytes;
  const bool is_same = e->odd_column < 0 && !is_part(e); /* in memory, and as it is read */
  e->attention = attention_of(&e->request->problem);
  e->rows = malloc(block);
  e->raw = is_same ? NULL : malloc(block);
  e->one = malloc(e->row_bytes);
  e->other = malloc(e->row_bytes);
  e->by = calloc((size_t)e->plain.dim / 2, sizeof *e->by);
  e->digests = calloc((size_t)least(e->plain.rows, UNIQUE_ROWS) + 1, sizeof *e->digests);
  if (!e->rows || (!e->raw && !is_same) || !e->one || !e->other || !e->by || !e->digests) return false;
  check_blocks(e);
  check_rotations(e);
  check_unique(e);
  return !e->failed;
}

/* Null is allowed. */
static void exam_free(exam *e) {
  for (int unit = 0; e && unit < UNITS; unit++) {
    fast_destroy(e->truths[unit]);
    if (e->odd_truths[unit]) oracle_destroy(e->odd_truths[unit]);
  }
  if (!e) return;
  free(e->rows);
  free(e->raw);
  free(e->one);
  free(e->other);
  free(e->by);
  free(e->digests);
  free(e);
}

json_t *verify_table(const table_request *request) {
  exam *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->request = request;
  e->read = read_file;
  e->from = request->table;
  e->read_dim = table_stored(request->table)->dim;
  json_t *record = examine(e) ? record_of(e) : NULL;
  progress_clear();
  exam_free(e);
  return record;
}

bool verify_rows(const posenc_problem *problem, const posenc_bound *limit, rows_reader *read, void *from,
                 rows_found *found) {
  const table_request request = {.problem = *problem, .part = TABLE_BOTH, .limit = limit};
  exam *e = calloc(1, sizeof *e);
  if (!e) return false;
  e->request = &request;
  e->read = read;
  e->from = from;
  e->read_dim = problem->dim;
  const bool enough = examine(e);
  *found = (rows_found){e->found, e->checks[OF_BOUNDED], e->checks[OF_NORM], e->checks[OF_ROTATION]};
  exam_free(e);
  return enough;
}
