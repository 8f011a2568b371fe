/* SPDX-License-Identifier: MIT */
/* The cause of what differs in a result of add or rope: mistakes are tried, and the one that explains it is named. */
#include "common/memory.h"
#include "common/number.h"
#include "common/shapes.h"
#include "inspect/models/model.h"
#include "reference/scaling.h"
#include "verify/exam.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64, EXPLAINED = 16 };

/* How a turned pair is rounded to the dtype of the results: not at all; once, of tables in f32 or in the dtype; or one
   product, too, as fused multiplication and addition leaves the other; or both. */
typedef enum arithmetic {
  UNROUNDED,
  ROUNDED_ONCE,
  ROUNDED_TABLE,
  ROUNDED_OWN,
  ROUNDED_OTHER,
  ROUNDED_PRODUCTS,
  ARITHMETICS
} arithmetic;

/* The position that a vector is assumed to have: the requested one, what a known mistake makes of it, that and a
   constant, the same for all, those of the first rows again and again, or the vector's index on another axis. */
typedef enum trial_positions { AS_ASKED, MISTAKEN, MOVED, CONSTANT, AGAIN, ON_AXIS } trial_positions;

/* A way in which x may have been changed. The frequencies are the problem's; the columns begin at the request's first
   one. */
typedef struct trial {
  posenc_problem problem;
  int64_t columns;
  posenc_layout written; /* the layout of the pairs of the result */
  trial_positions positions;
  size_t mistake, axis; /* numbers of position_mistake, and of the axis */
  int64_t constant;     /* what is added to positions, or all of them, or the number of rows before they come again */
  const format *table;  /* what cosines and sines are rounded to; null: they are not */
  const format *angles; /* what angles are rounded to before; null: they are not */
  int64_t moved;        /* the first column is that of the problem plus this */
  double x_factor;      /* a factor of x before the operation */
  /* The result is x; sine and cosine are exchanged; a column takes the frequency that it has in the other form of a
     cache; x is exchanged in the pairs that turn, without a change of sign. */
  bool nothing, exchanged, misread, is_unsigned;
} trial;

typedef struct cause_search {
  const array_request *request;
  vectors *v;
  posenc_dtype held;
  int axis; /* whose vectors of that index are looked at; -1: all */
  int64_t index;
  posenc_problem of; /* the problem of the reference and the tolerances, which many trials share */
  axes_reference *reference;
  array_tolerances tolerances;
  double attention;           /* its attention factor, 1 if that is less */
  double asked, asked_beyond; /* the error of what is asked, and as a multiple of its tolerance */
  double beyond;              /* that of the last trial */
  double *frequencies;        /* of `of`, if angles are rounded; or null */
  double nudge[2];            /* what is added to sines and cosines before they are rounded */
  double turned;              /* what is added to angles before they are rounded */
  int64_t at;                 /* the position of the vector */
  double least;
  /* If the tolerance does not tell mistakes from what is asked, bits may: by_bits; how many elements of the samples
     have other bits than the last trial makes by each arithmetic, and than what is asked. */
  bool by_bits;
  int64_t unlike[ARITHMETICS], asked_unlike[ARITHMETICS];
  array_cause best;
} cause_search;

/* ---- the errors of a trial ------------------------------------------------------------------------------------- */

static int64_t position_by(const trial *t, const array_request *request, int64_t row) {
  int64_t indices[STORED_AXES];
  const int64_t at = axes_index(request->arrays.axes, table_stored(request->arrays.x), row, indices),
                position = array_position(request, at);
  long double wrong = 0.0L;
  if (t->positions == AS_ASKED) return position;
  if (t->positions == CONSTANT) return t->constant;
  if (t->positions == MOVED) return position + t->constant;
  if (t->positions == AGAIN) return array_position(request, at % t->constant);
  if (t->positions == ON_AXIS) return request->problem.first + indices[t->axis];
  position_mistake(t->mistake, position, &wrong);
  return (int64_t)wrong;
}

/* Returns the row of the n-th of `count` samples. */
static int64_t sampled(const cause_search *all, int64_t n, int64_t count) {
  const stored *at = all->v->at;
  if (all->axis < 0) return vectors_sample(all->v, n, count);
  int64_t behind = 1; /* rows from one index of the axis to the next */
  for (size_t axis = (size_t)all->axis + 1; axis + 1 < at->axis_count; axis++) behind *= at->axes[axis];
  const int64_t size = at->axes[all->axis], rows = at->rows / size, k = spread_evenly(n, count, rows - 1);
  return (k / behind * size + all->index) * behind + k % behind;
}

/* Returns the frequency index of an element of a pair. A cache has column c's frequency at c / 2 if each comes twice in
   a row, and at c of each half if it is the same half twice. */
static int64_t frequency_at(const trial *t, int64_t i, bool second) {
  const int64_t pairs = t->columns / 2;
  if (!t->misread) return i;
  return t->problem.layout == POSENC_SPLIT ? (i + second * pairs) / 2 : (2 * i + second) % pairs;
}

static double rounded(double value, bool is_rounded, posenc_dtype to) {
  return is_rounded ? format_nearest(format_of(to), value) : value;
}

/* Returns the sine and the cosine of a rounded angle. */
static fast_pair rounded_rotation(const cause_search *all, const trial *t, int64_t i) {
  const double angle = format_nearest(t->angles, all->frequencies[i] * (double)all->at + all->turned),
               amplitude = attention_of(&t->problem);
  return (fast_pair){{amplitude * sin(angle), 0.0}, {amplitude * cos(angle), 0.0}};
}

/* Computes what the trial makes of a pair. */
static void make_pair(const cause_search *all, const trial *t, arithmetic how, const fast_lanes *by, int64_t i,
                      const double x[2], double made[2]) {
  const bool is_own = how == ROUNDED_OWN || how == ROUNDED_PRODUCTS,
             is_other = how == ROUNDED_OTHER || how == ROUNDED_PRODUCTS;
  for (int second = 0; second < 2; second++) {
    const int64_t index = frequency_at(t, i, second);
    const fast_pair turn = t->angles ? rounded_rotation(all, t, index) : array_lane(by, index);
    const format *to = t->table ? t->table : format_of(all->held);
    const bool is_rounded = t->table || how >= ROUNDED_TABLE;
    const double of_sine = (t->exchanged ? turn.cosine : turn.sine).high + all->nudge[0],
                 of_cosine = (t->exchanged ? turn.sine : turn.cosine).high + all->nudge[1],
                 sine = is_rounded ? format_nearest(to, of_sine) : of_sine,
                 cosine = is_rounded ? format_nearest(to, of_cosine) : of_cosine,
                 sign = t->is_unsigned || second != t->problem.inverse ? 1.0 : -1.0;
    if (t->nothing)
      made[second] = x[second];
    else if (t->problem.op == POSENC_ADD)
      made[second] = x[second] + (second ? cosine : sine);
    else
      made[second] =
          rounded(x[second] * cosine, is_own, all->held) + rounded(sign * x[!second] * sine, is_other, all->held);
    made[second] = rounded(made[second], how != UNROUNDED, all->held);
  }
}

static void count_unlike(cause_search *all, const trial *t, const fast_lanes *by, int64_t i, const double x[2],
                         const double there[2]) {
  for (int how = ROUNDED_ONCE; how < ARITHMETICS; how++) {
    double made[2];
    make_pair(all, t, (arithmetic)how, by, i, x, made);
    all->unlike[how] += (made[0] != there[0]) + (made[1] != there[1]);
  }
}

static void drop_reference(cause_search *all) {
  axes_reference_destroy(all->reference);
  free(all->tolerances.angles);
  free(all->frequencies);
  all->reference = NULL;
  all->tolerances.angles = all->frequencies = NULL;
}

/* Sets the reference and the tolerances of the trial's frequencies. */
static void take_reference(cause_search *all, const trial *t) {
  posenc_problem of = t->problem;
  of.layout = all->request->problem.layout;
  of.inverse = false;
  if (all->reference && memcmp(&of, &all->of, sizeof of) == 0) return;
  drop_reference(all);
  all->of = of;
  all->reference = allocated(axes_reference_create(&of));
  all->attention = fmax(attention_of(&of), 1.0);
  array_tolerances_open(&all->tolerances, &of, all->held);
  if (of.axes) return;
  all->frequencies = memory_take((size_t)of.dim / 2, sizeof *all->frequencies);
  model_frequencies(&of, all->frequencies);
}

/* Returns the largest error of a vector, as a multiple of the tolerance of values; *beyond: at least as a multiple of
   its own tolerance, which includes the angle's. */
static double error_of_vector(cause_search *all, const trial *t, int64_t at, double *beyond) {
  const array_tolerances *l = &all->tolerances;
  const fast_lanes *by = axes_reference_lanes(all->reference, at);
  const int64_t pairs = t->columns / 2;
  const bool is_grouped = t->problem.axes && t->problem.axes->grouped, is_add = t->problem.op == POSENC_ADD;
  posenc_problem from = t->problem, to;
  from.dim = t->columns;
  to = from;
  if (!is_grouped) to.layout = t->written;
  const int64_t start = all->request->start + t->moved, width = all->v->at->dim;
  const double *x = all->v->x + start, *got = all->v->out + start;
  double worst = 0.0;
  all->at = at;
  for (int64_t i = 0; i < pairs; i++) {
    const pair_columns given = axes_pair(&from, i), written = axes_pair(&to, i);
    const double pair[] = {t->x_factor * x[given.first], t->x_factor * x[given.second]},
                 there[] = {got[written.first], got[written.second]};
    double made[2];
    make_pair(all, t, UNROUNDED, by, i, pair, made);
    if (all->by_bits) count_unlike(all, t, by, i, pair, there);
    double error = array_share(pair, there, made, is_add, l->least) / all->attention;
    /* A rounded sine, cosine or angle near a midpoint may have been rounded to the other side of it. */
    for (int side = 0; (t->table || t->angles) && side < 4; side++) {
      const double apart = array_tolerance_at(l, &t->problem, i, at), of_values = t->angles ? 0.0 : apart;
      all->nudge[0] = side % 2 ? of_values : -of_values;
      all->nudge[1] = side / 2 ? of_values : -of_values;
      all->turned = side % 2 ? apart : -apart;
      make_pair(all, t, UNROUNDED, by, i, pair, made);
      error = fmin(error, array_share(pair, there, made, is_add, l->least) / all->attention);
    }
    memset(all->nudge, 0, sizeof all->nudge);
    all->turned = 0.0;
    const double of_limit = error / array_tolerance_at(l, &t->problem, i, at);
    *beyond = of_limit <= *beyond ? *beyond : of_limit;
    if (!(error <= worst)) worst = isnan(error) ? (double)INFINITY : error;
  }
  for (int64_t c = t->columns; c < all->request->problem.dim && !t->moved; c++)
    if (got[c] != x[c]) worst = INFINITY;
  const bool is_other = t->nothing || t->moved || t->positions == CONSTANT;
  for (int64_t c = 0; c < width && is_other; c++)
    if ((c < start || c >= start + t->columns) && all->v->out[c] != all->v->x[c]) worst = INFINITY;
  return worst / l->value;
}

/* Whether the vector that was read last is what the trial makes at that position. */
static bool is_vector_of(cause_search *all, const trial *t, int64_t at) {
  double beyond = 0.0;
  return isfinite(error_of_vector(all, t, at, &beyond)) && beyond <= 1.0;
}

/* Returns the largest error of all samples, as error_of_vector, and sets all->beyond; infinity if the trial is
   impossible. */
static double error_of(cause_search *all, const trial *t) {
  const int64_t rows = all->v->at->rows / (all->axis < 0 ? 1 : all->v->at->axes[all->axis]),
                count = rows < SAMPLES ? rows : SAMPLES;
  double worst = 0.0;
  take_reference(all, t);
  all->beyond = 0.0;
  memset(all->unlike, 0, sizeof all->unlike);
  for (int64_t n = 0; n < count && isfinite(worst); n++) {
    const int64_t row = sampled(all, n, count);
    vectors_read(all->v, row);
    worst = fmax(worst, error_of_vector(all, t, position_by(t, all->request, row), &all->beyond));
  }
  return worst;
}

/* ---- trials ---------------------------------------------------------------------------------------------------- */

/* Returns the least number of other bits. */
static int64_t least_unlike(const int64_t unlike[ARITHMETICS]) {
  int64_t fewest = INT64_MAX;
  for (int how = ROUNDED_ONCE; how < ARITHMETICS; how++) fewest = least(unlike[how], fewest);
  return fewest;
}

/* Weighs a trial that the tolerance allows, as it does what is asked, by bits: it is the cause if an arithmetic
   explains it far better than any explains what is asked. If the same does not speak against it, it is not told
   apart. */
static void weigh(cause_search *all, const trial *t, const char *words) {
  enum { EVIDENT = 8 }; /* angles in f32 may change single bits */
  const double error = error_of(all, t);
  const int64_t asked = least_unlike(all->asked_unlike), other = least_unlike(all->unlike);
  const bool is_same = error == all->asked && !memcmp(all->unlike, all->asked_unlike, sizeof all->unlike);
  if (!isfinite(error) || all->beyond > 1.0 || is_same) return;
  if (asked >= EVIDENT && other <= asked / EXPLAINED && !(error >= all->least && *all->best.text)) {
    snprintf(all->best.text, sizeof all->best.text, "%s", words);
    all->best.unlike = asked;
    all->least = error;
  } else if (!*all->best.unseen && !(other > 0 && asked <= other / EXPLAINED)) {
    snprintf(all->best.unseen, sizeof all->best.unseen, "%s", words);
  }
}

__attribute__((format(printf, 3, 4))) static void try(cause_search *all, const trial *t, const char *text, ...) {
  if (all->by_bits) {
    char words[sizeof all->best.text];
    va_list of_words;
    va_start(of_words, text);
    vsnprintf(words, sizeof words, text, of_words);
    va_end(of_words);
    weigh(all, t, words);
    return;
  }
  const double error = error_of(all, t);
  const bool is_right = all->asked_beyond > 1.0 && all->beyond <= 1.0;
  if (!(error < all->least) || !(is_right || error < all->asked / EXPLAINED)) return;
  va_list arguments;
  va_start(arguments, text);
  vsnprintf(all->best.text, sizeof all->best.text, text, arguments);
  va_end(arguments);
  all->least = error;
}

static void try_layouts(cause_search *all, const trial *asked) {
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
static void try_rotations(cause_search *all, const trial *asked) {
  trial t = *asked;
  const bool is_split = asked->problem.layout == POSENC_SPLIT;
  t.problem.inverse = !t.problem.inverse;
  try(all, &t, "%s", direction_mistake(asked->problem.inverse));
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

static void try_pairs(cause_search *all, const trial *asked) {
  const bool is_rope = asked->problem.op == POSENC_ROPE;
  trial t = *asked;
  try_layouts(all, asked);
  t.exchanged = true;
  try(all, &t, "sine and cosine are exchanged");
  t = *asked;
  t.nothing = true;
  try(all, &t, is_rope ? "nothing is turned" : "nothing is added");
  if (is_rope) try_rotations(all, asked);
  t = *asked;
  if (is_rope && all->held != POSENC_BF16 && all->held != POSENC_F16) {
    t.table = &format_bf16;
    try(all, &t, "cosines and sines are rounded to bf16");
    t.table = &format_f16;
    try(all, &t, "cosines and sines are rounded to f16");
  }
  t = *asked;
  t.x_factor = sqrt((double)asked->columns);
  if (!is_rope) try(all, &t, "x is multiplied by sqrt(%" PRId64 ") first", asked->columns);
}

/* Tries positions that begin again where a row is turned like the first one. */
static void try_again(cause_search *all, const trial *asked) {
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
    if (is_vector_of(all, &t, first)) t.constant = n;
  }
  if (t.constant > 1) try(all, &t, "positions come again after %" PRId64 " rows", t.constant);
}

/* Returns what is added to the position of the first vector that is looked at, if that is near, and `from` or more;
   else 0. */
static int64_t moved_by(cause_search *all, const trial *asked, int64_t from) {
  enum { NEAR = 4096 };
  const array_request *request = all->request;
  const int64_t length = axes_length(request->arrays.axes, all->v->at), most = 2 * (length < NEAR ? length : NEAR),
                row = sampled(all, 0, 1), first = position_by(asked, request, row);
  int64_t moved = 0;
  take_reference(all, asked);
  vectors_read(all->v, row);
  for (int64_t n = from; n <= most && moved == 0; n++)
    for (int sign = -1; sign <= 1; sign += 2)
      if (is_vector_of(all, asked, first + sign * n)) moved = sign * n;
  return moved;
}

static void try_moved(cause_search *all, const trial *asked) {
  trial t = *asked;
  t.positions = MOVED;
  t.constant = moved_by(all, asked, 2);
  if (t.constant) try(all, &t, "positions are %lld %s", llabs(t.constant), t.constant > 0 ? "more" : "less");
}

static void try_positions(cause_search *all, const trial *asked) {
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
  try_moved(all, asked);
  t.positions = ON_AXIS;
  for (t.axis = 0; t.axis + 1 < at->axis_count; t.axis++)
    if (at->axes[t.axis] > 1 && request->arrays.axes[t.axis] != AXIS_POSITIONS)
      try(all, &t, "positions are the indices of axis %zu, %c", t.axis, request->arrays.axes[t.axis]);
}

static void try_columns(cause_search *all, const trial *asked) {
  const int64_t dim = asked->problem.dim, columns = all->v->at->dim;
  const int64_t start = all->request->start, starts[] = {0, columns - dim};
  if (asked->problem.op != POSENC_ROPE) return;
  trial t = *asked;
  for (int n = 0; n < 2; n++) {
    t.moved = starts[n] - start;
    if (t.moved && starts[n] >= 0)
      try(all, &t, "columns %" PRId64 " to %" PRId64 " are turned, not %" PRId64 " to %" PRId64, starts[n],
          starts[n] + dim - 1, start, start + dim - 1);
  }
  t = *asked;
  t.problem.dim = columns;
  if (columns > dim && columns % 2 == 0) try(all, &t, "the frequencies are those of %" PRId64 " columns", columns);
  for (int64_t part = 2; part <= 4; part += 2) {
    t = *asked;
    t.problem.dim = t.columns = dim / part;
    if (dim % (2 * part) == 0) try(all, &t, "%" PRId64 " columns are turned, not %" PRId64, t.columns, dim);
  }
}

/* Tries other formulas, in columns that x has. */
static void try_formulas(cause_search *all, const trial *asked, const suspect_list *list) {
  for (size_t n = 0; list && n < list->count; n++) {
    trial t = *asked;
    t.problem = list->items[n].problem;
    t.angles = list->items[n].angles;
    if (t.angles && t.problem.axes) continue;
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

/* Tries mistaken positions of all axes, and of each. */
static void try_axes_positions(cause_search *all, const trial *asked) {
  axes_mistaken wrong = axes_mistaken_from(asked->problem.axes, -1);
  trial t = *asked;
  t.problem.axes = &wrong.axes;
  while (axes_next_mistaken(&wrong)) {
    try(all, &t, "%s", wrong.words);
    drop_reference(all); /* it is of the lists of `wrong` */
  }
  axes_free_mistaken(&wrong);
}

/* Tries other axes, and other positions on them. */
static void try_axes(cause_search *all, const trial *asked) {
  axes_mistake mistakes[AXES_MISTAKES_MAX];
  const size_t count = axes_mistakes(asked->problem.axes, mistakes);
  for (size_t n = 0; n < count; n++) {
    trial t = *asked;
    t.problem.axes = mistakes[n].is_one ? NULL : &mistakes[n].axes;
    posenc_problem valid = t.problem;
    valid.dtype = POSENC_F32;
    if (!posenc_problem_refusal(&valid)) try(all, &t, "%s", mistakes[n].words);
  }
  try_axes_positions(all, asked);
}

/* Tries positions of axes so slow that the tolerance does not tell them from those that are asked. */
static void try_bits(cause_search *all, const trial *asked) {
  const bool is_narrow = all->held == POSENC_F16 || all->held == POSENC_BF16;
  if (!asked->problem.axes || asked->problem.op != POSENC_ROPE || !is_narrow) return;
  all->by_bits = true;
  all->asked = error_of(all, asked);
  memcpy(all->asked_unlike, all->unlike, sizeof all->unlike);
  if (isfinite(all->asked) && all->beyond <= 1.0) try_axes(all, asked);
  if (*all->best.text) *all->best.unseen = '\0';
}

static void try_all(cause_search *all, const trial *asked) {
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

/* ---- one head, batch or position ------------------------------------------------------------------------------- */

/* Whether the trial makes what the vectors that are looked at have. */
static bool is_made_by(cause_search *all, const trial *t) {
  return isfinite(error_of(all, t)) && all->beyond <= 1.0;
}

/* Whether the results of all vectors of the position are zeros. */
static bool is_zero(cause_search *all) {
  const int64_t rows = all->v->at->rows / all->v->at->axes[all->axis], count = least(rows, SAMPLES);
  for (int64_t n = 0; n < count; n++) {
    vectors_read(all->v, sampled(all, n, count));
    for (int64_t c = 0; c < all->v->at->dim; c++)
      if (all->v->out[c] != 0.0) return false;
  }
  return true;
}

/* The indices of an axis whose vectors, looked at alone, are not what is asked. */
typedef struct wrong_indices {
  int64_t count, first, last; /* -1: there is none */
  int64_t zeros;              /* how many of them have zeros for results */
} wrong_indices;

/* Whether no more than `most` are wrong, or zeros alone are. */
static bool are_few(const wrong_indices *wrong, int64_t most) {
  return wrong->count <= most || wrong->count == wrong->zeros;
}

/* Looks at each index of an axis, at no more when those that are wrong are not few. The search is about the first of
   these from then on. */
static wrong_indices look_along(cause_search *all, const trial *asked, int axis, int64_t most) {
  wrong_indices wrong = {.first = -1, .last = -1};
  all->axis = axis;
  for (all->index = 0; all->index < all->v->at->axes[axis] && are_few(&wrong, most); all->index++) {
    if (is_made_by(all, asked)) continue;
    wrong.zeros += is_zero(all);
    if (!wrong.count++) wrong.first = all->index;
    wrong.last = all->index;
  }
  all->index = wrong.first;
  return wrong;
}

/* Whether the results of one index of the axis are what is asked of the x of another one. */
static bool is_of_other(cause_search *all, const trial *asked, int64_t index, int64_t other) {
  const stored *at = all->v->at;
  const int64_t rows = at->rows / at->axes[all->axis], count = least(rows, SAMPLES);
  double *results = memory_take((size_t)at->dim, sizeof *results);
  bool is_right = true;
  take_reference(all, asked);
  for (int64_t n = 0; n < count && is_right; n++) {
    all->index = index;
    vectors_read(all->v, sampled(all, n, count));
    memcpy(results, all->v->out, (size_t)at->dim * sizeof *results);
    all->index = other;
    const int64_t row = sampled(all, n, count);
    vectors_read(all->v, row);
    memcpy(all->v->out, results, (size_t)at->dim * sizeof *results);
    is_right = is_vector_of(all, asked, position_by(asked, all->request, row));
  }
  free(results);
  all->index = index;
  return is_right;
}

/* Whether two indices of the axis alone are wrong, as their results are exchanged. */
static bool are_exchanged(cause_search *all, const trial *asked, const wrong_indices *wrong) {
  return wrong->count == 2 && is_of_other(all, asked, wrong->last, wrong->first) &&
         is_of_other(all, asked, wrong->first, wrong->last);
}

/* Looks at the vectors of each head or batch alone. If some are right and others are not, finds the cause of the first
   that is not. */
static void try_axis(cause_search *all, const trial *asked, int axis) {
  enum { INDICES = 256 };
  const int64_t size = all->v->at->axes[axis];
  const char letter = all->request->arrays.axes[axis], *const name = letter == AXIS_HEADS ? "head" : "batch";
  if (letter == AXIS_POSITIONS || size < 2 || size > INDICES) return;
  const wrong_indices wrong = look_along(all, asked, axis, size);
  if (are_exchanged(all, asked, &wrong)) {
    snprintf(all->best.text, sizeof all->best.text, "%s %" PRId64 " and %" PRId64 " of %" PRId64 " are exchanged",
             letter == AXIS_HEADS ? "heads" : "batches", wrong.first, wrong.last, size);
  } else if (wrong.count && wrong.count < size) {
    char text[sizeof all->best.text];
    try_all(all, asked);
    snprintf(text, sizeof text, "%s", *all->best.text ? all->best.text : "the cause is not known");
    if (wrong.count == 1)
      snprintf(all->best.text, sizeof text, "%s %" PRId64 " of %" PRId64 ": %.100s", name, wrong.first, size, text);
    else
      snprintf(all->best.text, sizeof text, "%" PRId64 " of %" PRId64 " %s, the first is %" PRId64 ": %.100s",
               wrong.count, size, letter == AXIS_HEADS ? "heads" : "batches", wrong.first, text);
  }
  all->axis = -1;
}

/* Tells of the rows that alone are wrong, and how many of those are zeros. moved: what is added to the position of the
   first; 0: it has none. */
static void tell_rows(cause_search *all, const wrong_indices *rows, int64_t moved) {
  const int64_t right = array_position(all->request, rows->first);
  char *const text = all->best.text;
  const size_t size = sizeof all->best.text;
  if (rows->zeros == rows->count && rows->count == 1 && !all->request->problem.axes)
    snprintf(text, size, "the row of position %" PRId64 " is all zeros", right);
  else if (moved && rows->zeros < rows->count)
    tell_moved_rows(rows->count, rows->first, (double)(right + moved), (double)right, text, size);
  else
    tell_wrong_rows(rows->count, rows->zeros == rows->count ? "all zeros" : "of no position", rows->first, text, size);
}

/* Looks at the vectors of each position alone. If all but few are right, or those that are not are all zeros, tells of
   them: rows of zeros, as padding has them, or rows that nobody has written. */
static void try_rows(cause_search *all, const trial *asked) {
  enum { MOST = 1 << 16, ONE_IN = 20 };
  const char *const letters = all->request->arrays.axes;
  const int axis = (int)(strchr(letters, AXIS_POSITIONS) - letters);
  const int64_t size = all->v->at->axes[axis], few = size / ONE_IN;
  if (size > MOST) return;
  const wrong_indices wrong = look_along(all, asked, axis, few);
  const bool is_few = wrong.count > 0 && are_few(&wrong, few), has_places = asked->problem.axes;
  const int64_t moved = is_few && !wrong.zeros && !has_places ? moved_by(all, asked, 1) : 0;
  all->axis = -1;
  if (is_few) tell_rows(all, &wrong, moved);
}

array_cause array_cause_of(const array_request *request) {
  vectors v;
  vectors_open(&v, &request->arrays);
  cause_search all = {.request = request, .v = &v, .held = vectors_held(&v), .axis = -1};
  trial asked = {.problem = request->problem,
                 .columns = request->problem.dim,
                 .written = request->problem.layout,
                 .x_factor = 1.0};
  asked.problem.positions = NULL;
  for (int axis = 0; axis + 1 < (int)v.at->axis_count && !*all.best.text; axis++) try_axis(&all, &asked, axis);
  if (!*all.best.text) try_all(&all, &asked);
  const bool is_right = isfinite(all.asked) && all.asked_beyond <= 1.0;
  if (!is_right && !*all.best.text) try_rows(&all, &asked);
  if (!*all.best.text) try_bits(&all, &asked);
  drop_reference(&all);
  vectors_close(&v);
  return all.best;
}
