/* SPDX-License-Identifier: MIT */
/* Finds the positions of every row on several axes, one for each section of the columns. */
#include "inspect/identify/search.h"

#include "common/memory.h"
#include "common/number.h"
#include "inspect/identify/formula.h"
#include "reference/accuracy.h"
#include "reference/axes.h"
#include "reference/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least number of pairs of the first axis and of all axes; of rows that show whether the others are worth reading;
   the number of axes in a cyclic order; the whole positions that are tried where rounding leaves a choice. */
enum { AXIS_LEAST = 4, PAIRS_LEAST = 8, FIRST_ROWS = 16, CYCLE = 3, CHOICE = 4096 };

/* Positions are below the number of rows and one of these: of sections that are looked for, which takes longer, and of
   given ones. Those of one row that are not whole are no more than the former apart, as a picture has no more rows. */
static const double near = 4096.0, far = 1 << 18;

/* Pairs of one axis, numbered in the row, and the index of each one's frequency: the fastest first. */
typedef struct axis_part {
  int64_t *pair, *wave, count;
} axis_part;

typedef struct reader {
  const table_window *w;
  const suspect_list *expected, *suspects;
  columns at;
  double amplitude;
  double measured;          /* the amplitude of the values, within `unit`; 0: they have none */
  double unit, least_unit;  /* the rounding of a value as a share of it; the error of small values */
  double error, rounding;   /* of a value divided by the amplitude; of a value as a share of it */
  double relative;          /* the error of an angle as a share of it */
  double range;             /* positions are below that */
  bool is_recovered;        /* values have the request's error */
  bool is_whole;            /* only whole positions are tried */
  bool is_one;              /* a formula explains all rows at whole positions, equal on all axes: there is one axis */
  long double *frequencies; /* of the formula */
  estimate *angles;         /* memory for those of a row */
  int64_t *numbers;         /* memory of the parts */
  axis_part parts[POSENC_AXES];
  sections *found;
} reader;

/* ---- the amplitude ------------------------------------------------------------------------------- */

enum { AMPLITUDE_ROWS = 64, AMPLITUDE_LEAST = 32 };

static const double of_mean = 0.125; /* the error of a mean as a share of that of one */

/* Measures the length of pairs, not of those near an axis: these are slow, and their roundings have the same sign.
   Returns 0 if the lengths differ by more than roundings. */
static double length_of_pairs(const reader *r) {
  const double aside = 0.2, room = 4.0;
  double first = 0.0, sum = 0.0, count = 0.0, most = 0.0, least = INFINITY;
  for (int64_t n = 0; n < AMPLITUDE_ROWS; n++) {
    const int64_t row = window_sample(r->w, AMPLITUDE_ROWS, n);
    for (int64_t pair = 0; row >= 0 && pair < r->at.pairs; pair++) {
      const double a = window_value(r->w, row, columns_of(&r->at, pair, false)),
                   b = window_value(r->w, row, columns_of(&r->at, pair, true)), length = hypot(a, b);
      if (fmin(fabs(a), fabs(b)) <= aside * length) continue;
      if (!(first > 0.0)) first = length;
      sum += length - first;
      most = fmax(most, length);
      least = fmin(least, length);
      count += 1.0;
    }
  }
  const double mean = first + sum / count, error = (most - least) / (mean * sqrt(count));
  if (count < AMPLITUDE_LEAST || most - least > room * (r->least_unit + r->unit * most)) return 0.0;
  return plainest(mean, error + r->unit * of_mean).value;
}

/* Measures the amplitude. One part alone has slow cosines, of which some are nearly the amplitude. */
static void measure(reader *r) {
  r->measured = r->at.part == TABLE_BOTH ? length_of_pairs(r) : plainest(r->w->most, r->unit).value;
}

/* Returns the amplitude with which a formula of this one is tried: the measured one, if it is another. */
static double amplitude_near(const reader *r, double wanted) {
  const double unseen = r->at.part == TABLE_BOTH ? 0.0 : 0.01, /* values may all be below the amplitude */
      off = r->measured / wanted - 1.0;
  const bool is_other = r->measured > 0.0 && (off > r->unit || off < -r->unit - unseen);
  return is_other ? r->measured : wanted;
}

/* ---- one pair ------------------------------------------------------------------------------------ */

static double value_of(const reader *r, int64_t row, int64_t pair, bool cosine) {
  return window_value(r->w, row, columns_of(&r->at, pair, cosine)) / r->amplitude;
}

/* Whether a value is the sine or the cosine of an angle at a position, within the explained error. */
static bool is_value(const reader *r, double there, double own, double other, double turned) {
  return fabs(there - own) <= r->error + r->rounding * fabs(own) + turned * (fabs(other) + turned);
}

/* Whether a pair is at a position, as far as the table has its sine and cosine. */
static bool is_pair(const reader *r, int64_t row, int64_t pair, int64_t wave, double position) {
  const double angle = (double)((long double)position * r->frequencies[wave]), turned = r->relative * fabs(angle),
               sine = sin(angle), cosine = cos(angle);
  return (r->at.part == TABLE_COS || is_value(r, value_of(r, row, pair, false), sine, cosine, turned)) &&
         (r->at.part == TABLE_SIN || is_value(r, value_of(r, row, pair, true), cosine, sine, turned));
}

/* Whether all pairs of an axis are at a position. */
static bool is_axis(const reader *r, int64_t row, const axis_part *of, double position) {
  int64_t i = 0;
  while (i < of->count && is_pair(r, row, of->pair[i], of->wave[i], position)) i++;
  return i == of->count;
}

/* Returns the angle of a pair, within half a turn of 0; of one part alone, the one that is nearer to 0. */
static estimate angle_of(const reader *r, int64_t row, int64_t pair) {
  const bool is_both = r->at.part == TABLE_BOTH, is_sine = r->at.part == TABLE_SIN;
  const double value = value_of(r, row, pair, is_both), error = r->error + r->rounding * fabs(value);
  if (is_both) {
    const double sine = value_of(r, row, pair, false);
    return (estimate){atan2(sine, value), fabs(value) * (r->error + r->rounding * fabs(sine)) + fabs(sine) * error};
  }
  const double within = fmax(-1.0, fmin(1.0, value)), slope = sqrt(1.0 - within * within);
  /* Near its ends, a sine or cosine tells the square of the rest of the angle. */
  return (estimate){is_sine ? asin(within) : acos(within), fmin(2.0 * error / fmax(slope, 1e-300), 2.0 * sqrt(error))};
}

/* ---- positions of a row -------------------------------------------------------------------------- */

/* Positions from `least` to `most`. */
typedef struct position_range {
  double least, most;
} position_range;

/* Returns the positions of a pair of an axis after `turns` half turns; or, of sines and cosines, whole turns. */
static position_range range_after(const reader *r, const estimate *angle, long double frequency, int64_t turns) {
  const double half = (double)turns * half_turn;
  double at = angle->value + 2.0 * half;
  if (r->at.part == TABLE_COS) at = turns % 2 ? half + half_turn - angle->value : half + angle->value;
  if (r->at.part == TABLE_SIN) at = turns % 2 ? half - angle->value : half + angle->value;
  const double room = angle->error + r->relative * fabs(at), w = (double)frequency;
  return (position_range){(at - room) / w, (at + room) / w};
}

/* Returns the number of turns, as those of range_after, after which positions are beyond the range; -1 of values or a
   frequency that are not finite. */
static int64_t turns_of(const reader *r, const estimate *angle, long double frequency) {
  const double turns = r->range * (double)frequency / (r->at.part == TABLE_BOTH ? whole_turn : half_turn) + 2.0;
  return isfinite(angle->value) && turns < 0x1p30 ? (int64_t)turns : -1;
}

/* Narrows positions by a pair. Returns how many ranges are left of them: one part alone may leave two, on both sides of
   its end. A pair that may have turned more than once between the positions leaves all. */
static int narrow(const reader *r, const estimate *angle, long double frequency, position_range at,
                  position_range left[2]) {
  const double w = (double)frequency, middle = (at.least + at.most) / 2.0,
               turned = (double)((long double)middle * frequency), room = angle->error + r->relative * fabs(turned),
               reach = (at.most - at.least) / 2.0 * w + room,
               other = r->at.part == TABLE_COS ? -angle->value : half_turn - angle->value,
               both[] = {angle->value, other};
  int count = 0;
  left[0] = at;
  if (reach >= half_turn) return 1;
  for (int n = 0; n < (r->at.part == TABLE_BOTH ? 1 : 2); n++) {
    const double apart = angle_wrapped(both[n] - turned);
    const position_range own = {fmax(at.least, middle + (apart - room) / w),
                                fmin(at.most, middle + (apart + room) / w)};
    if (own.least > own.most) continue;
    const bool is_one = count && own.least <= left[0].most && left[0].least <= own.most;
    if (is_one)
      left[0] = (position_range){fmin(left[0].least, own.least), fmax(left[0].most, own.most)};
    else
      left[count++] = own;
  }
  return count;
}

/* Returns the plainest of the positions at which an axis is: a whole one, one of few parts of it, or one of few digits;
   -1 if it is at none. */
static double plain_position(const reader *r, int64_t row, const axis_part *of, const position_range *at) {
  enum { PARTS = 120 };
  const double middle = (at->least + at->most) / 2.0, nearest = rint(middle);
  for (int n = 0; n < CHOICE; n++) {
    const double whole = nearest + (n % 2 ? (n + 1) / 2 : -(n / 2));
    if (n > 1 && fabs(whole - middle) > at->most - at->least) break;
    if (whole >= 0.0 && whole >= at->least && whole <= at->most && is_axis(r, row, of, whole)) return whole;
  }
  if (r->is_whole) return -1.0;
  for (int parts = 2; parts <= PARTS; parts++) {
    const double position = rint(middle * parts) / parts;
    if (position > 0.0 && position >= at->least && position <= at->most && is_axis(r, row, of, position))
      return position;
  }
  /* The error of a value near 0 is a share of it, so that the ends of a range need not be within it. */
  const double apart = (at->most - at->least) / 2.0 / middle;
  for (double share = 1.0; middle > 0.0 && share > 1e-3; share /= 4.0) {
    const double digits = plainest(middle, share * apart).value;
    if (is_axis(r, row, of, digits)) return digits;
  }
  return middle > 0.0 && is_axis(r, row, of, middle) ? middle : -1.0;
}

/* Returns a position of the range at which the axis is, by its pairs from index i - 1 on, whose angles are known; -1 if
   it is at none. */
static double position_in(const reader *r, int64_t row, const axis_part *of, int64_t i, position_range at) {
  if (i == 0) return plain_position(r, row, of, &at);
  position_range left[2];
  double position = -1.0;
  const int count = narrow(r, &r->angles[i - 1], r->frequencies[of->wave[i - 1]], at, left);
  for (int n = 0; n < count && position < 0.0; n++) position = position_in(r, row, of, i - 1, left[n]);
  return position;
}

/* Returns the first position at which the slowest pair, and all others, may be; -1 if there is none. */
static double first_position(const reader *r, int64_t row, const axis_part *of) {
  const int64_t slowest = of->count - 1;
  const long double frequency = r->frequencies[of->wave[slowest]];
  double position = -1.0;
  const int64_t most = turns_of(r, &r->angles[slowest], frequency);
  for (int64_t turns = 0; position < 0.0 && turns <= most; turns++) {
    position_range at = range_after(r, &r->angles[slowest], frequency, turns);
    at.least = fmax(at.least, 0.0);
    at.most = fmin(at.most, r->range);
    if (at.least <= at.most) position = position_in(r, row, of, slowest, at);
  }
  return position;
}

/* Returns the positions that the pairs have together, near one at which each is within its error: three times the
   standard error of the least squares on both sides of these. */
static position_range fitted(const reader *r, const axis_part *of, double near_by) {
  const double room = 1e-7 * fmax(near_by, 1.0);
  double products = 0.0, weights = 0.0, squares = 0.0;
  for (int64_t i = 0; i < of->count; i++) {
    const long double w = r->frequencies[of->wave[i]];
    const double off = angle_wrapped(r->angles[i].value - (double)((long double)near_by * w));
    products += off * (double)w;
    weights += (double)(w * w);
    squares += off * off;
  }
  const double moved = products / weights, left = fmax(squares - products * moved, 0.0),
               error = 3.0 * sqrt(left / ((double)of->count * weights)) + room;
  return (position_range){near_by + moved - error, near_by + moved + error};
}

/* As find_position, within the errors of the reader. */
static double position_within(const reader *r, int64_t row, const axis_part *of, const double *usual, int count) {
  const bool is_fitted = r->is_recovered;
  double position = -1.0;
  for (int n = 0; n < count && position < 0.0; n++)
    if (usual[n] >= 0.0 && is_axis(r, row, of, usual[n])) position = usual[n];
  if (position >= 0.0 && !is_fitted) return position;
  for (int64_t i = 0; i < of->count; i++) r->angles[i] = angle_of(r, row, of->pair[i]);
  if (position < 0.0) position = first_position(r, row, of);
  if (position < 0.0 || !is_fitted) return position;
  const position_range at = fitted(r, of, position);
  for (int n = 0; n < count; n++)
    if (usual[n] >= 0.0 && usual[n] >= at.least && usual[n] <= at.most) return usual[n];
  const double plain = plain_position(r, row, of, &at);
  return plain >= 0.0 ? plain : position;
}

/* Returns the position of the axis in the row, or -1 if there is none. The `usual` positions come first: if rounding
   leaves a choice, they continue a text or a line of a picture. Errors of recovered values are far below their bound,
   which leaves more of a choice than there is. Those of tables are one rounding, and of angles in f32 four at most: of
   the positions within their bounds, one that is within these has no element that is off. */
static double find_position(const reader *r, int64_t row, const axis_part *of, const double *usual, int count) {
  reader near_by = *r;
  near_by.rounding = r->unit;
  near_by.relative = fmin(r->relative, 4.0 * tolerance_unit(POSENC_F32));
  const double position = r->is_recovered ? -1.0 : position_within(&near_by, row, of, usual, count);
  return position >= 0.0 ? position : position_within(r, row, of, usual, count);
}

/* ---- all rows ------------------------------------------------------------------------------------ */

static void set_parts(reader *r, const posenc_axes *axes) {
  int64_t next[POSENC_AXES] = {0}, *free_numbers = r->numbers;
  for (int a = 0; a < axes->count; a++) {
    r->parts[a] = (axis_part){free_numbers, free_numbers + axes->axis[a].pairs, axes->axis[a].pairs};
    free_numbers += 2 * axes->axis[a].pairs;
  }
  for (int64_t j = 0; j < r->at.pairs; j++) {
    const int a = axes_axis(axes, j);
    const int64_t i = next[a]++;
    r->parts[a].pair[i] = j;
    r->parts[a].wave[i] = axes_frequency(axes, a, i, j);
  }
}

/* Reads the positions of rows after the rows of zeros. Returns false if a row has none. */
static bool read_rows(reader *r, int count) {
  sections *found = r->found;
  for (int64_t row = found->zeros; row < r->w->count; row++) {
    if (r->w->zero[row] && r->at.part != TABLE_SIN) return false;
    const int64_t n = row - found->zeros;
    for (int a = 0; a < count; a++) {
      double *const own = found->positions[a];
      const double before = n ? own[n - 1] : -1.0,
                   usual[] = {a ? found->positions[0][n] : -1.0, n ? before + 1.0 : 0.0, before};
      own[n] = find_position(r, row, &r->parts[a], usual, 3);
      const bool is_near = r->is_whole || !a || fabs(own[n] - found->positions[0][n]) <= near;
      if (own[n] < 0.0 || !is_near) return false;
    }
  }
  return true;
}

/* Returns how many positions of the first axis are whole. */
static int64_t count_whole(const reader *r) {
  int64_t whole = 0;
  for (int64_t n = 0; n < r->w->count - r->found->zeros; n++) {
    const double position = r->found->positions[0][n];
    whole += fabs(position - rint(position)) <= 0.0;
  }
  return whole;
}

/* Returns the scale of the positions: the median of the steps that rows move alike on the first two axes, as those of a
   text do; 1 if those are few. Rounding leaves a choice on the last axis, whose frequencies are the slowest. */
static double scale_of(const reader *r) {
  enum { MOST = 512 };
  const double equal = fmax(1e-4, ldexp(64.0, -format_of(r->w->held)->precision)); /* parts of a step */
  const double *first = r->found->positions[0], *second = r->found->positions[1];
  const int64_t rows = r->w->count - r->found->zeros;
  double steps[MOST];
  size_t count = 0;
  for (int64_t n = 1; n < rows && count < MOST; n++) {
    const double step = first[n] - first[n - 1];
    if (step > 0.0 && fabs(second[n] - second[n - 1] - step) <= equal * step) steps[count++] = step;
  }
  if (count < AXIS_LEAST) return 1.0;
  numbers_sort(steps, count);
  const double step = steps[count / 2];
  size_t alike = 0;
  for (size_t n = 0; n < count; n++) alike += fabs(steps[n] - step) <= equal * step;
  if (alike * 2 < count) return 1.0; /* positions in no step, as of times */
  return fabs(step - 1.0) <= equal ? 1.0 : plainest(step, equal / 8.0).value;
}

/* Takes the scale of the positions, if at least half of them are whole with it: steps of times may be alike by chance,
   within roundings of 16 bits. Returns false if a row has no position, or no whole one where these are asked. */
static bool take_scale(reader *r, int count) {
  const int64_t rows = r->w->count - r->found->zeros;
  const double scale = scale_of(r);
  r->found->scale = scale;
  if (number_is_one(scale)) return true;
  for (int64_t i = 0; i < r->at.pairs; i++) r->frequencies[i] *= (long double)scale;
  const bool is_read = read_rows(r, count);
  for (int64_t i = 0; i < r->at.pairs; i++) r->frequencies[i] /= (long double)scale;
  if (is_read && 2 * count_whole(r) >= rows) return true;
  if (r->is_whole) return false; /* the scale is tried with positions between whole ones */
  r->found->scale = 1.0;
  return read_rows(r, count);
}

/* Whether these axes explain all rows, at different positions. */
static bool explains(reader *r, const posenc_axes *axes) {
  sections *found = r->found;
  const int64_t count = r->w->count - found->zeros;
  bool differ = false;
  if (count < AXIS_LEAST) return false;
  set_parts(r, axes);
  if (!read_rows(r, axes->count)) return false;
  for (int a = 1; a < axes->count; a++)
    differ |= memcmp(found->positions[0], found->positions[a], (size_t)count * sizeof(double)) != 0;
  r->is_one |= !differ && r->is_whole && axes->frequencies == POSENC_AXES_CONTINUED;
  if (!differ && r->is_whole) return false;
  if (!take_scale(r, axes->count)) return false;
  found->axes = *axes;
  found->columns = r->at;
  found->amplitude = r->amplitude;
  for (int a = 0; a < axes->count; a++) {
    posenc_axis *axis = &found->axes.axis[a];
    axis->size = count;
    axis->stride = 1;
    axis->positions = found->positions[a];
  }
  return true;
}

/* ---- sections ------------------------------------------------------------------------------------ */

static posenc_axes axes_of(int count, posenc_axis_order order, posenc_axis_frequencies frequencies) {
  posenc_axes axes = posenc_grid(count, (const int64_t[]){1, 1, 1, 1}, 2);
  axes.order = order;
  axes.frequencies = frequencies;
  return axes;
}

/* Returns how many of at most `count` pairs, from `first` on, are at positions of the first one. */
static int64_t extent_in(const reader *r, int64_t first, int64_t step, int64_t count, position_range at) {
  position_range left[2];
  int64_t n = 1;
  for (int ranges; n < count; n++) {
    ranges = narrow(r, &r->angles[n], r->frequencies[first + n * step], at, left);
    if (!ranges) break;
    at = (position_range){fmin(left[0].least, left[ranges - 1].least), fmax(left[0].most, left[ranges - 1].most)};
  }
  return n;
}

/* Returns the number of pairs, from `first` on in steps of `step`, that all have one position in each of the rows. */
static int64_t extent_of(reader *r, int64_t first, int64_t step, int64_t rows) {
  int64_t shortest = (r->at.pairs - first + step - 1) / step;
  for (int64_t row = r->found->zeros; row < rows && shortest > 0; row++) {
    int64_t longest = 0;
    for (int64_t n = 0; n < shortest; n++) r->angles[n] = angle_of(r, row, first + n * step);
    const int64_t most = turns_of(r, &r->angles[0], r->frequencies[first]);
    for (int64_t turns = 0; longest < shortest && turns <= most; turns++) {
      const position_range at = range_after(r, &r->angles[0], r->frequencies[first], turns);
      const int64_t count = at.most >= 0.0 && at.least <= r->range ? extent_in(r, first, step, shortest, at) : 0;
      if (count > longest) longest = count;
    }
    shortest = longest;
  }
  return shortest;
}

/* Finds the longest sections that explain all rows. */
static bool find_chunks(reader *r, posenc_axes *axes) {
  int64_t first = 0;
  *axes = axes_of(1, POSENC_AXES_CHUNKED, POSENC_AXES_CONTINUED);
  for (axes->count = 0; first < r->at.pairs; first += axes->axis[axes->count++].pairs) {
    if (axes->count == POSENC_AXES) return false;
    axes->axis[axes->count].pairs = extent_of(r, first, 1, r->w->count);
    if (axes->axis[axes->count].pairs == 0) return false;
  }
  return axes->count > 1;
}

static bool find_cycle(reader *r, posenc_axes *axes) {
  int64_t left = r->at.pairs;
  *axes = axes_of(CYCLE, POSENC_AXES_CYCLIC, POSENC_AXES_CONTINUED);
  for (int a = 1; a < CYCLE; a++) {
    axes->axis[a].pairs = extent_of(r, a, CYCLE, r->w->count);
    left -= axes->axis[a].pairs;
    if (axes->axis[a].pairs == 0) return false;
  }
  axes->axis[0].pairs = left;
  return left > 0;
}

/* Whether sections of other origin are valid for the columns, and explain all rows. Their positions do not matter. */
static bool explains_given(reader *r, const posenc_axes *given) {
  posenc_axes axes = *given;
  posenc_problem problem = posenc_table(1, 2 * r->at.pairs);
  for (int a = 0; a < axes.count; a++) {
    axes.axis[a].size = 1;
    axes.axis[a].positions = NULL;
  }
  problem.axes = &axes;
  if (posenc_problem_refusal(&problem)) return false;
  r->range = (double)r->w->count + far;
  const bool is_explained = explains(r, &axes);
  r->range = (double)r->w->count + near;
  return is_explained;
}

/* Whether sections that are expected, or of models, explain all rows: roundings may hide the end of the one found.
   Sources: mrope_section in the configs of Qwen2-VL, Qwen3-VL, GLM-4.1V, Qwen3.5. */
static bool explains_as_models_do(reader *r, const posenc_axes *found) {
  static const int64_t known[][CYCLE] = {{16, 24, 24}, {24, 20, 20}, {8, 12, 12}, {11, 11, 10}};
  posenc_axes axes = *found;
  for (size_t n = 0; r->expected && n < r->expected->count; n++) {
    const posenc_axes *other = r->expected->items[n].problem.axes;
    if (other && other->order == found->order && explains_given(r, other)) return true;
  }
  for (size_t n = 0; found->count == CYCLE && n < sizeof known / sizeof *known; n++) {
    for (int a = 0; a < CYCLE; a++) axes.axis[a].pairs = known[n][a];
    if (explains_given(r, &axes)) return true;
  }
  return false;
}

/* ---- formulas ------------------------------------------------------------------------------------ */

/* Whether sections of continued frequencies explain all rows. */
static bool is_continued(reader *r) {
  if (r->is_one) return false;
  const int64_t few = least(r->found->zeros + FIRST_ROWS, r->w->count);
  posenc_axes axes;
  if (extent_of(r, 0, 1, few) >= AXIS_LEAST && find_chunks(r, &axes) &&
      (explains_as_models_do(r, &axes) || explains(r, &axes)))
    return true;
  return extent_of(r, 0, CYCLE, few) >= AXIS_LEAST && find_cycle(r, &axes) &&
         (explains_as_models_do(r, &axes) || explains(r, &axes));
}

/* Whether two or three axes with equal numbers of pairs explain all rows. */
static bool is_equal(reader *r, const formula *f, posenc_axis_frequencies frequencies) {
  for (int count = 2; count <= CYCLE; count++) {
    posenc_axes axes = axes_of(count, POSENC_AXES_CHUNKED, frequencies);
    const int64_t pairs = r->at.pairs / count;
    if (r->at.pairs % count || pairs < AXIS_LEAST) continue;
    for (int a = 0; a < count; a++) axes.axis[a].pairs = pairs;
    formula_frequencies(f, frequencies == POSENC_AXES_DEALT ? r->at.pairs : pairs, r->frequencies);
    if (explains(r, &axes)) return true;
  }
  return false;
}

static void set_formula(reader *r, const formula *f, double amplitude, const posenc_problem *expected) {
  r->amplitude = amplitude;
  r->error = r->least_unit / amplitude;
  r->rounding = fabs(amplitude - r->measured) > 0.0 ? r->unit : 2.0 * r->unit;
  r->found->formula = *f;
  r->found->expected = expected;
  formula_frequencies(f, r->at.pairs, r->frequencies);
}

/* Whether axes of the formula explain all rows, at whole positions. Others would make frequencies that are dealt out
   restarted ones. */
static bool is_of(reader *r, const formula *f, double amplitude, const posenc_problem *expected) {
  r->is_whole = true;
  set_formula(r, f, amplitude, expected);
  return is_continued(r) || is_equal(r, f, POSENC_AXES_RESTARTED) || is_equal(r, f, POSENC_AXES_DEALT);
}

static bool are_sections(const posenc_problem *problem) {
  return problem->axes && problem->axes->frequencies == POSENC_AXES_CONTINUED;
}

/* Whether a problem explains all rows in these sections: a suspect with its own amplitude, another one with any. */
static bool is_of_problem(reader *r, const posenc_problem *problem, const posenc_axes *given, bool is_suspect) {
  const long double most = 4.0L; /* frequencies that rise are no rope's */
  const making at = {.columns = r->at};
  making how;
  if (!making_with(&at, problem, &how)) return false;
  const double amplitude = amplitude_near(r, how.amplitude);
  if (is_suspect && fabs(amplitude - how.amplitude) > 0.0) return false;
  set_formula(r, &how.formula, amplitude, problem);
  return r->frequencies[0] < most && r->frequencies[r->at.pairs - 1] < most && explains_given(r, given);
}

/* Whether expected sections explain all rows: with the formula that is set, or each with its own. */
static bool is_in_expected(reader *r, bool has_formula) {
  for (size_t n = 0; r->expected && n < r->expected->count; n++) {
    const posenc_problem *problem = &r->expected->items[n].problem;
    if (!are_sections(problem)) continue;
    if (has_formula ? explains_given(r, problem->axes) : is_of_problem(r, problem, problem->axes, false)) return true;
  }
  return false;
}

/* Whether a suspect explains all rows in expected sections. */
static bool is_of_suspects(reader *r) {
  const suspect_list *suspects = r->suspects;
  for (size_t n = 0; suspects && n < suspects->count; n++)
    if (is_of_problem(r, &suspects->items[n].problem, r->expected->items[0].problem.axes, true)) return true;
  return false;
}

/* Whether sections of an expected problem, or other ones of its formula, explain all rows: at whole positions, then at
   any, which may hide that frequencies are restarted, or rounded. */
static bool is_of_expected(reader *r) {
  const posenc_problem *first = r->expected && r->expected->count ? &r->expected->items[0].problem : NULL;
  const making at = {.columns = r->at};
  making how;
  if (!first || !are_sections(first) || !making_with(&at, first, &how)) return false;
  const double amplitude = amplitude_near(r, how.amplitude);
  r->is_whole = true;
  if (is_in_expected(r, false) || is_of(r, &how.formula, amplitude, first)) return true;
  r->is_whole = false;
  if (is_in_expected(r, false) || is_of_suspects(r)) return true;
  set_formula(r, &how.formula, amplitude, first);
  return is_continued(r);
}

/* Tries columns with the sine of each pair first, then with the cosine; of one part alone, as cosines, then as
   sines. */
static bool find(reader *r, const columns *first) {
  formula formulas[FORMULAS_MAX];
  for (int pass = 0; pass < 2; pass++) {
    r->at = pass && first->part == TABLE_BOTH ? columns_exchanged(first) : *first;
    if (pass && first->part != TABLE_BOTH) r->at.part = TABLE_SIN;
    r->found->zeros = 0; /* sines of position 0 are zeros, too */
    while (r->at.part != TABLE_SIN && r->found->zeros < r->w->count && r->w->zero[r->found->zeros]) r->found->zeros++;
    measure(r);
    if (is_of_expected(r)) return true;
    const double amplitude = amplitude_near(r, 1.0);
    size_t count = list_formulas(r->w, &r->at, formulas);
    for (size_t b = 0; b < formula_base_count && count < FORMULAS_MAX; b++)
      formulas[count++] = formula_plain(formula_bases[b]);
    for (size_t n = 0; n < count; n++) {
      const formula *f = &formulas[n];
      if (f->shift > 0.0 || !(f->base > 1.0)) continue;
      if (is_of(r, f, amplitude, NULL)) return true;
      r->is_whole = false;
      set_formula(r, f, amplitude, NULL);
      if (is_in_expected(r, true)) return true;
    }
  }
  return false;
}

bool sections_find(const table_window *w, const identify_request *request, sections *found) {
  const columns at = columns_find(w);
  const bool is_double = w->held == POSENC_F64;
  reader r = {.w = w,
              .expected = request->expected,
              .suspects = request->suspects,
              .found = found,
              .is_recovered = request->error > 0.0,
              .range = (double)w->count + near};
  *found = (sections){.zeros = 0};
  if (!w->finite || at.pairs < PAIRS_LEAST || at.dim != w->dim || at.dim % 2) return false;
  /* The bound of recovered values is that of pairs that are hardly turned. */
  r.least_unit = fmin(request->error, tolerance_of_value(w->held, tolerance_unit(w->held), ROUNDINGS_OF_PAIR)) +
                 ldexp(1.0, format_of(w->held)->least);
  r.unit = ldexp(1.0, -format_of(w->held)->precision) + (is_double ? 0x1p-50 : 0x1p-23);
  r.relative = is_double ? 0x1p-48 : 0x1p-20;
  r.numbers = memory_take((size_t)at.pairs * 2, sizeof *r.numbers);
  r.frequencies = memory_take((size_t)at.pairs, sizeof *r.frequencies);
  r.angles = memory_take((size_t)at.pairs, sizeof *r.angles);
  for (int a = 0; a < POSENC_AXES; a++)
    found->positions[a] = memory_take((size_t)w->count, sizeof *found->positions[a]);
  const bool is_found = find(&r, &at);
  free(r.numbers);
  free(r.frequencies);
  free(r.angles);
  return is_found;
}

void sections_free(sections *found) {
  for (int a = 0; a < POSENC_AXES; a++) free(found->positions[a]);
}
