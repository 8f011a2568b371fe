/* SPDX-License-Identifier: MIT */
/* Tests results of add and rope in files: posenc check accepts correct results and names the mistake in wrong ones, and
   posenc identify finds what was applied. */
#include "common/environment.h"
#include "inspect/files/formats.h"
#include "inspect/identify/identity.h"
#include "inspect/models/model.h"
#include "lib/exact/round.h"
#include "reference/format.h"
#include "tests/numbers.h"
#include "tests/tap.h"
#include "verify/file-exams.h"

#include <stdlib.h>

enum { AXES = 4, MOST_DIM = 96, MOST_POSITIONS = 150, HEADER = NPY_HEADER_MAX };

typedef enum rounded { AS_THEY_ARE, TO_BF16, TO_F16, TO_F32, TO_INT32 } rounded;

/* The way in which a program changes x. A frequency_dim of 0 is dim, a position_axis of 0 is l. */
typedef struct doing {
  posenc_op op;
  posenc_dtype dtype;
  const char *axes;
  posenc_layout layout;
  double base, scale, attention, x_factor;
  double size; /* size of x: a power of two */
  int64_t first, start, dim, frequency_dim;
  char position_axis;
  rounded positions;
  bool inverse, exchanged, nothing, near_one;
} doing;

static const int64_t sizes_of_axes[] = {['b'] = 2, ['l'] = MOST_POSITIONS, ['h'] = 3, ['d'] = 64};

/* An array in memory, as a .npy file. */
typedef struct array {
  char *bytes;
  size_t header, size;
  int64_t axes[AXES], rows;
  size_t count;
} array;

static array new_array(const doing *as) {
  array a = {.count = strlen(as->axes), .rows = 1};
  char header[HEADER];
  for (size_t n = 0; n < a.count; n++) a.axes[n] = sizes_of_axes[(int)as->axes[n]];
  for (size_t n = 0; n + 1 < a.count; n++) a.rows *= a.axes[n];
  a.header = npy_header(as->dtype, a.axes, a.count, header);
  a.size = a.header + (size_t)(a.rows * a.axes[a.count - 1]) * posenc_dtype_bytes(as->dtype);
  a.bytes = malloc(a.size);
  if (!a.bytes) abort();
  memcpy(a.bytes, header, a.header);
  if (stored_swapped('<')) *(char *)memchr(a.bytes, '<', a.header) = '>'; /* this test writes elements as they are */
  return a;
}

static int64_t index_on(const array *a, const char *axes, char letter, int64_t row) {
  int64_t found = 0;
  for (size_t n = a->count - 1; n-- > 0; row /= a->axes[n])
    if (axes[n] == letter) found = row % a->axes[n];
  return found;
}

static int64_t position_index(const doing *as, const array *a, int64_t row) {
  return index_on(a, as->axes, as->position_axis ? as->position_axis : 'l', row);
}

static long double position_of(const doing *as, const array *a, int64_t row) {
  const double p = (double)(as->first + position_index(as, a, row));
  if (as->positions == TO_BF16) return format_nearest(&format_bf16, p);
  if (as->positions == TO_F32) return (float)p;
  if (as->positions == TO_INT32) return p < 0x1p31 ? p : p - 0x1p32;
  return as->positions == TO_F16 ? format_nearest(&format_f16, p) : p;
}

/* Sines and cosines of all pairs at one position, kept as long double takes a while and the other axes repeat them. */
typedef struct rotations {
  bool made;
  long double sine[MOST_DIM / 2], cosine[MOST_DIM / 2];
} rotations;

static void make_rotations(const doing *as, long double position, const long double *frequencies, rotations *at) {
  at->made = true;
  for (int64_t i = 0; i < as->dim / 2; i++) {
    const long double angle = position * (long double)as->scale * frequencies[i], sine = sinl(angle),
                      cosine = cosl(angle);
    at->sine[i] = (as->exchanged ? cosine : sine) * (long double)as->attention;
    at->cosine[i] = (as->exchanged ? sine : cosine) * (long double)as->attention;
  }
}

/* Makes a pair as the program does from x: adjacent elements, or halves. */
static void make_pair(const doing *as, long double sine, long double cosine, double x[2]) {
  const long double a = (long double)(x[0] * as->x_factor), b = (long double)(x[1] * as->x_factor),
                    turn = as->inverse ? -sine : sine;
  if (as->nothing) return;
  x[0] = (double)(as->op == POSENC_ADD ? a + sine : a * cosine - b * turn);
  x[1] = (double)(as->op == POSENC_ADD ? b + cosine : b * cosine + a * turn);
}

static void make_result(const doing *as, const array *x, const array *out) {
  static rotations at_index[MOST_POSITIONS];
  const int64_t width = x->axes[x->count - 1], dim = as->frequency_dim ? as->frequency_dim : as->dim;
  const posenc_columns at = posenc_layout_columns(as->layout, as->dim);
  long double frequencies[MOST_DIM / 2];
  for (int64_t i = 0; i < as->dim / 2; i++)
    frequencies[i] = powl((long double)as->base, -2.0L * (long double)i / (long double)dim);
  for (int64_t n = 0; n < MOST_POSITIONS; n++) at_index[n].made = false;
  for (int64_t row = 0; row < x->rows; row++) {
    double values[MOST_DIM];
    const size_t ahead = (size_t)(row * width) * posenc_dtype_bytes(as->dtype);
    rotations *turn = &at_index[position_index(as, x, row)];
    if (!turn->made) make_rotations(as, position_of(as, x, row), frequencies, turn);
    for (int64_t c = 0; c < width; c++) values[c] = format_element(as->dtype, x->bytes + x->header + ahead, c);
    for (int64_t i = 0; i < as->dim / 2; i++) {
      double *const first = values + as->start + at.sin + i * at.step, *const second =
                                                                           values + as->start + at.cos + i * at.step;
      double pair[] = {*first, *second};
      make_pair(as, turn->sine[i], turn->cosine[i], pair);
      *first = pair[0];
      *second = pair[1];
    }
    for (int64_t c = 0; c < width; c++) round_to(as->dtype, out->bytes + out->header + ahead, c, values[c]);
  }
}

/* Fills x with numbers that all dtypes have: of many sizes, some of them 0, or near ±1. */
static void fill(const doing *as, const array *x) {
  for (int64_t n = 0; n < x->rows * x->axes[x->count - 1]; n++) {
    int64_t number = (int64_t)(random_bits() % 513) - 256;
    if (as->near_one) number = (number & 1 ? 1 : -1) * (64 + (number & 63));
    round_to(as->dtype, x->bytes + x->header, n, as->size * (double)number / 64.0);
  }
}

static table_file *opened(const array *a) {
  fault why;
  table_file *made = table_open_memory(a->bytes, a->size, NULL, TABLE_ARRAY, &why);
  if (!made) printf("# %s\n", why.text);
  return made;
}

static applied_arrays opened_both(const doing *as, const array *x, const array *out) {
  const applied_arrays both = {opened(x), opened(out), as->axes};
  if (!both.x || !both.out) abort();
  return both;
}

static void close_both(const applied_arrays *both) {
  table_close(both->x);
  table_close(both->out);
}

static array_request request_of(const doing *as) {
  posenc_problem problem =
      as->op == POSENC_ADD ? posenc_add(sizes_of_axes['l'], as->dim) : posenc_rope(sizes_of_axes['l'], 1, as->dim);
  problem.layout = as->layout;
  problem.dtype = as->dtype;
  problem.base = as->base;
  problem.scale = as->scale;
  problem.scaling.attention = as->attention;
  problem.first = as->first;
  problem.inverse = as->inverse;
  return (array_request){
      .x_name = "x", .name = "out", .problem = problem, .start = as->start, .max_ulp = 0.51, .replay = "posenc check"};
}

static int failed_of(const file_result *found) {
  int failed = 0;
  RECORD_EACH(check, &found->of, checks) failed += !check->ok;
  return failed;
}

/* Returns what is found of this result and its cause, if `asked` is expected; nothing, with the row in *bad_row, if x
   is not finite. */
static file_result verified(const doing *asked, const array *x, const array *out, int64_t *bad_row) {
  file_result found = {.of = {.cause = ""}};
  array_request request = request_of(asked);
  request.arrays = opened_both(asked, x, out);
  const bool is_finite = verify_array(&request, &found, bad_row);
  suspect_list suspects = {.count = 0};
  formula_suspects(&request.problem, &suspects);
  request.suspects = &suspects;
  if (is_finite) found.of.cause = record_format(&found.memory, "%s", array_cause_of(&request).text);
  close_both(&request.arrays);
  return found;
}

/* Returns what is found of the result of `done` on x, if `asked` is expected. */
static file_result result_of(const doing *asked, const doing *done) {
  const array x = new_array(asked), out = new_array(asked);
  int64_t bad_row;
  fill(asked, &x);
  make_result(done, &x, &out);
  const file_result found = verified(asked, &x, &out, &bad_row);
  if (bad_row >= 0) abort();
  free(x.bytes);
  free(out.bytes);
  return found;
}

static const doing plain = {.op = POSENC_ROPE,
                            .axes = "blhd",
                            .layout = POSENC_SPLIT,
                            .base = 1e4,
                            .scale = 1.0,
                            .attention = 1.0,
                            .x_factor = 1.0,
                            .size = 1.0,
                            .dim = 64};

/* ---- recovered operations ------------------------------------------------------------------------------------- */

/* Tests that check finds from x and the result alone what `done` has applied: pairs, columns, direction and formula. */
static void test_recovered(const doing *done, const char *what) {
  const array x = new_array(done), out = new_array(done);
  recovered found;
  fault why = {""};
  fill(done, &x);
  make_result(done, &x, &out);
  const applied_arrays from = opened_both(done, &x, &out);
  const bool is_rope = done->op == POSENC_ROPE, known = recover(&from, done->op, &found, &why);
  ok(known && (!is_rope || (found.pairs == done->layout && found.start == done->start && found.dim == done->dim &&
                            found.back == done->inverse)),
     "%s is recovered: pairs %d, columns from %ld, %ld of them, %s %s", what, (int)found.pairs, (long)found.start,
     (long)found.dim, found.back ? "back" : "forward", why.text);
  const identify_request request = {.table = found.table, .name = "out"};
  identity *told = known ? identify(&request) : NULL;
  const double base = told ? told->how.formula.base : 0.0, amplitude = told ? told->how.amplitude : 0.0;
  ok(told && told->verdict == IDENTIFY_TABLE && fabs(base / done->base - 1.0) < 1e-3 &&
         told->how.start.least == done->first && fabs(told->how.formula.scale / done->scale - 1.0) < 1e-3 &&
         fabs(amplitude / done->attention - 1.0) < 1e-3 &&
         told->max_abs <= 16.0 * done->attention * ldexp(1.0, -format_of(done->dtype)->precision),
     "and identified: base %g, from %g, scale %g, amplitude %g %s", base, told ? (double)told->how.start.least : 0.0,
     told ? told->how.formula.scale : 0.0, amplitude, told ? told->reason : "");
  if (told) identity_free(told);
  table_close(found.table);
  close_both(&from);
  free(x.bytes);
  free(out.bytes);
}

/* ---- correct results ------------------------------------------------------------------------------------------- */

/* All dtypes; on an emulated processor, where long double takes minutes, f32 and bf16. */
static int next_dtype(int dtype) {
  char name[ENVIRONMENT_TEXT];
  return dtype + (environment_emulator(name) ? POSENC_BF16 - POSENC_F32 : 1);
}

static void test_right(doing as, const char *what) {
  static const char *const names[] = {"f32", "f64", "f16", "bf16"};
  for (int dtype = POSENC_F32; dtype <= POSENC_BF16; dtype = next_dtype(dtype)) {
    as.dtype = (posenc_dtype)dtype;
    file_result found = result_of(&as, &as);
    const double ulp = found.of.max_ulp.ulp, abs = found.of.max_abs.abs;
    const bool accurate =
        dtype == POSENC_F64 ? abs < 2e-15 * fmax(as.size, 1.0) : ulp <= 0.51; /* long double has 11 more bits */
    ok(accurate && !*found.of.cause && found.of.elements > 0, "%s, %s: %.3f ulp, not accused", what, names[dtype], ulp);
    record_release(&found.memory);
    test_recovered(&as, what);
  }
}

#define RIGHT(what, ...)                                                                                               \
  do {                                                                                                                 \
    doing as = plain;                                                                                                  \
    __VA_ARGS__;                                                                                                       \
    test_right(as, what);                                                                                              \
  } while (0)

static void test_right_ones(void) {
  RIGHT("halves", (void)0);
  RIGHT("neighbours", as.layout = POSENC_INTERLEAVED);
  RIGHT("neighbours, most too slow to be seen", (as.layout = POSENC_INTERLEAVED, as.base = 1e7));
  RIGHT("neighbours that are alike, most too slow to be seen",
        (as.layout = POSENC_INTERLEAVED, as.base = 1e7, as.near_one = true, as.first = -75));
  RIGHT("the first quarter, neighbours", (as.layout = POSENC_INTERLEAVED, as.dim = 16));
  RIGHT("small x", as.size = 0x1p-8);
  RIGHT("large x", as.size = 0x1p8);
  RIGHT("turned back", as.inverse = true);
  RIGHT("axes bhld", as.axes = "bhld");
  RIGHT("axes lbd", as.axes = "lbd");
  RIGHT("axes ld", as.axes = "ld");
  RIGHT("the first half of the columns", as.dim = 32);
  RIGHT("the last quarter of the columns", (as.dim = 16, as.start = 48));
  RIGHT("base 500000", as.base = 5e5);
  RIGHT("scale 1/4", as.scale = 0.25);
  RIGHT("attention 1.25", as.attention = 1.25);
  RIGHT("from position 1000", as.first = 1000);
  RIGHT("added", (as.op = POSENC_ADD, as.axes = "bld", as.layout = POSENC_INTERLEAVED));
  RIGHT("added in halves", (as.op = POSENC_ADD, as.axes = "lbd"));
  RIGHT("added, cosines first", (as.op = POSENC_ADD, as.axes = "ld", as.layout = POSENC_SPLIT_CS));
}

/* ---- wrong results --------------------------------------------------------------------------------------------- */

static void test_wrong(doing asked, doing done, const char *cause) {
  for (int dtype = POSENC_F32; dtype <= POSENC_BF16; dtype = next_dtype(dtype)) {
    asked.dtype = done.dtype = (posenc_dtype)dtype;
    file_result found = result_of(&asked, &done);
    const char *told = found.of.cause;
    ok(strcmp(told, cause) == 0 && failed_of(&found) > 0, "dtype %d: %s; told: %s", dtype, cause, told);
    record_release(&found.memory);
  }
}

#define WRONG(cause, ...)                                                                                              \
  do {                                                                                                                 \
    doing asked = plain, done = plain;                                                                                 \
    __VA_ARGS__;                                                                                                       \
    test_wrong(asked, done, cause);                                                                                    \
  } while (0)

static void set_add(doing *asked, doing *done) {
  asked->op = done->op = POSENC_ADD;
  asked->axes = done->axes = "bld";
  asked->layout = done->layout = POSENC_INTERLEAVED;
}

static void test_wrong_ones(void) {
  WRONG("pairs are neighbours, not halves", done.layout = POSENC_INTERLEAVED);
  WRONG("pairs are halves, not neighbours", asked.layout = POSENC_INTERLEAVED);
  WRONG("pairs are turned back", done.inverse = true);
  WRONG("pairs are turned forward", asked.inverse = true);
  WRONG("nothing is turned", done.nothing = true);
  WRONG("sine and cosine are exchanged", done.exchanged = true);
  WRONG("positions are 1 more", done.first = 1);
  WRONG("positions are 1 less", (asked.first = 1, done.first = 0));
  WRONG("positions are rounded to bf16", (asked.first = done.first = 1000, done.positions = TO_BF16));
  WRONG("positions are rounded to f16", (asked.first = done.first = 9000, done.positions = TO_F16));
  WRONG("positions are rounded to f32", (asked.first = done.first = 1 << 26, done.positions = TO_F32));
  WRONG("positions are integers of 32 bits",
        (asked.first = done.first = INT64_C(0x7fffffff) - 75, done.positions = TO_INT32));
  WRONG("positions are the indices of axis 2, h", done.position_axis = 'h');
  WRONG("positions are the indices of axis 1, h", (asked.axes = done.axes = "bhld", done.position_axis = 'h'));
  WRONG("positions are the indices of axis 0, b", (asked.axes = done.axes = "bld", done.position_axis = 'b'));
  WRONG("the frequencies are those of 64 columns", (asked.dim = done.dim = 32, done.frequency_dim = 64));
  WRONG("32 columns are turned, not 64", done.dim = 32);
  WRONG("16 columns are turned, not 64", done.dim = 16);
  WRONG("the base is 10000, not 500000", asked.base = 5e5);
  WRONG("the base is 500000, not 10000", done.base = 5e5);
  WRONG("the base is 1000000, not 10000", done.base = 1e6);
  WRONG("the exponent lacks its factor of 2 (i/dim instead of 2i/dim), or the base is 100, not 10000", done.base = 1e2);
  WRONG("the scale is left out", asked.scale = 0.25);
  WRONG("the attention factor is left out", asked.attention = 1.25);
  WRONG("the attention factor is squared", (asked.attention = 1.25, done.attention = 1.5625));
  WRONG("nothing is added", (set_add(&asked, &done), done.nothing = true));
  WRONG("the layout is split", (set_add(&asked, &done), done.layout = POSENC_SPLIT));
  WRONG("the layout is interleaved-cs", (set_add(&asked, &done), done.layout = POSENC_INTERLEAVED_CS));
  WRONG("the layout is split-cs", (set_add(&asked, &done), done.layout = POSENC_SPLIT_CS));
  WRONG("x is multiplied by sqrt(64) first", (set_add(&asked, &done), done.x_factor = 8.0));
  WRONG("positions are 1 more", (set_add(&asked, &done), done.first = 1));
  WRONG("the base is 500000, not 10000", (set_add(&asked, &done), done.base = 5e5));
}

/* Tests x of all sizes of f64, also subnormal ones: wrong results fail, and correct ones pass. */
static void test_sizes(void) {
  static const double sizes[] = {0x1p-1000, 0x1p-560, 0x1p560, 0x1p1000};
  doing as = plain, wrong = plain;
  as.dtype = wrong.dtype = POSENC_F64;
  wrong.nothing = true;
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
    as.size = wrong.size = sizes[n];
    file_result right = result_of(&as, &as), bad = result_of(&as, &wrong);
    const double ulp = right.of.max_ulp.ulp;
    ok(ulp <= 0.6 && !*right.of.cause && failed_of(&bad) == 1 && strcmp(bad.of.cause, "nothing is turned") == 0,
       "x of size %g: %.3f ulp", sizes[n], ulp);
    record_release(&right.memory);
    record_release(&bad.memory);
    test_recovered(&as, "x of that size");
  }
  as = plain;
  as.dtype = POSENC_F16;
  as.size = 0x1p-17;
  file_result found = result_of(&as, &as);
  ok(!*found.of.cause && found.of.max_ulp.ulp <= 0.51, "subnormal numbers of f16 are not accused");
  record_release(&found.memory);
}

/* Tests half of the columns rotated, and others that are neither rotated nor those of x. */
static void test_damaged_rest(void) {
  doing done = plain;
  done.dim = 32;
  const array x = new_array(&plain), out = new_array(&plain);
  int64_t bad_row;
  float *const values = (void *)(out.bytes + out.header);
  fill(&plain, &x);
  make_result(&done, &x, &out);
  for (int64_t row = 0; row < x.rows; row++) values[64 * row + 50] += 0.25f;
  file_result found = verified(&plain, &x, &out, &bad_row);
  ok(bad_row < 0 && !*found.of.cause, "half is turned, the rest is damaged: no cause");
  record_release(&found.memory);
  free(x.bytes);
  free(out.bytes);
}

/* Tests a mistake that check does not know: the check fails, and names no cause. */
static void test_unknown(void) {
  doing done = plain;
  done.base = 12345.0;
  done.first = 7;
  file_result found = result_of(&plain, &done);
  ok(failed_of(&found) == 1 && !*found.of.cause, "another mistake: no cause");
  record_release(&found.memory);
}

/* ---- results that no rope makes ------------------------------------------------------------------------------- */

static void not_recovered(const doing *as, bool is_x, const char *want) {
  const array x = new_array(as), out = new_array(as);
  recovered found;
  fault why = {""};
  fill(as, &x);
  fill(as, &out);
  if (is_x) memcpy(out.bytes, x.bytes, x.size);
  const applied_arrays from = opened_both(as, &x, &out);
  ok(!recover(&from, as->op, &found, &why) && !found.table && strcmp(why.text, want) == 0, "not recovered: %s",
     why.text);
  close_both(&from);
  free(x.bytes);
  free(out.bytes);
}

static void test_not_recovered(void) {
  not_recovered(&plain, true, "it is x");
  not_recovered(&plain, false, "it is not x with pairs of columns turned, neighbours or halves");
}

/* ---- unchanged columns, and NaN -------------------------------------------------------------------------------- */

static void test_untouched(void) {
  doing as = plain;
  as.dim = 32;
  const array x = new_array(&as), out = new_array(&as);
  int64_t bad_row;
  fill(&as, &x);
  make_result(&as, &x, &out);
  const size_t at = out.header + 4 * (size_t)(64 * 500 + 40);
  static const char *const ways[] = {"as it was", "changed", "not a number"};
  for (int n = 0; n < 3; n++) {
    const float changed = n == 1 ? 5.0f : NAN;
    if (n) memcpy(out.bytes + at, &changed, sizeof changed);
    file_result found = verified(&as, &x, &out, &bad_row);
    const record_check *check = &found.of.checks[1];
    ok(check->ok == (n == 0) && check->compared == 900 * 32, "a column that is left alone: %s", ways[n]);
    record_release(&found.memory);
  }
  const float nan = NAN;
  memcpy(x.bytes + x.header + 4 * 64 * 321, &nan, sizeof nan);
  const file_result none = verified(&as, &x, &out, &bad_row);
  ok(!none.of.there && bad_row == 321, "x is no number in row %ld", (long)bad_row);
  free(x.bytes);
  free(out.bytes);
}

/* Tests that one wrong element is found at its place. */
static void test_witness(void) {
  enum { ROW = 322, COLUMN = 40 };
  const array x = new_array(&plain), out = new_array(&plain);
  int64_t bad_row;
  float *const wrong = (void *)(out.bytes + out.header);
  fill(&plain, &x);
  make_result(&plain, &x, &out);
  wrong[64 * ROW + COLUMN] += 1.0f;
  file_result found = verified(&plain, &x, &out, &bad_row);
  const record_witness *const all[] = {&found.of.max_ulp, &found.of.max_abs, &found.of.worst};
  for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
    const record_witness *w = all[n];
    ok(w->row == ROW && w->column == COLUMN && record_number_value(w->position) == 107.0 && w->index == COLUMN - 32 &&
           strcmp(w->function, "second") == 0 && strcmp(w->place, "b 0, l 107, h 1, d 40") == 0,
       "witness %zu: %s", n, w->place);
  }
  ok(fabs(found.of.max_abs.abs - 1.0) < 1e-5, "it is off by 1");
  record_release(&found.memory);
  free(x.bytes);
  free(out.bytes);
}

int main(void) {
  test_right_ones();
  test_wrong_ones();
  test_unknown();
  test_sizes();
  test_damaged_rest();
  test_not_recovered();
  test_untouched();
  test_witness();
  mpfr_free_cache();
  return tap_done();
}
