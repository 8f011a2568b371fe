/* SPDX-License-Identifier: MIT */
/* Compares a table with the problems that are expected, and says how it differs from them. */
#include "common/memory.h"
#include "common/shapes.h"
#include "inspect/identify/formula.h"
#include "inspect/identify/identity.h"
#include "inspect/identify/search.h"
#include "inspect/models/model.h"
#include "reference/axes.h"
#include "reference/scaling.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- several axes ---------------------------------------------------------------------------------------- */

/* ---- sections -------------------------------------------------------------------------------------- */

static posenc_axis_frequencies frequencies_of(const posenc_problem *expected) {
  return expected->axes ? expected->axes->frequencies : POSENC_AXES_CONTINUED;
}

bool axes_have_pairs(const posenc_axes *axes, const posenc_axes *other) {
  bool same = axes->count == other->count && axes->order == other->order;
  for (int a = 0; same && a < axes->count; a++) same = axes->axis[a].pairs == other->axis[a].pairs;
  return same;
}

static bool axes_are_sections(const posenc_axes *axes, const posenc_problem *expected) {
  return axes->frequencies == frequencies_of(expected) && (!expected->axes || axes_have_pairs(axes, expected->axes));
}

void axes_print_sections(const posenc_axes *axes, FILE *out) {
  for (int a = 0; a < axes->count; a++) {
    const char *const before = a + 1 < axes->count ? ", " : " and ";
    fprintf(out, "%s%" PRId64, a ? before : "", axes->axis[a].pairs);
  }
  fprintf(out, " pairs, %s", grid_orders[axes->order]);
}

static void axes_tell_sections(const posenc_axes *axes, const posenc_problem *expected, char *text, size_t size) {
  FILE *out = fmemopen(text, size, "w");
  if (!out) return;
  if (axes->frequencies != frequencies_of(expected)) {
    fprintf(out, "it has %d axes, whose frequencies are %s, and not %s", axes->count,
            grid_frequencies[axes->frequencies], grid_frequencies[frequencies_of(expected)]);
  } else {
    fputs("sections are of ", out);
    axes_print_sections(axes, out);
    fputs(", not of ", out);
    axes_print_sections(expected->axes, out);
  }
  fclose(out);
}

/* ---- places and positions -------------------------------------------------------------------------- */

/* Describes the first position of an axis that is not the asked one. */
static void tell_positions(const making *found, const making *asked, int64_t rows, char *text, size_t size) {
  const posenc_axes *axes = found->axes;
  for (int a = 0; a < axes->count; a++)
    for (int64_t row = 0; row < rows; row++) {
      const double there = axis_position(axes, a, found->start.least + row) / axes->axis[a].divisor,
                   right = axis_position(asked->axes, a, asked->start.least + row) / asked->axes->axis[a].divisor;
      if (!(fabs(there - right) > 0.0)) continue;
      snprintf(text, size, "row %" PRId64 " is at position %.15g of %c, not at %.15g", row, there, grid_letter(axes, a),
               right);
      return;
    }
}

static void axes_tell_places(const making *found, const making *asked, int64_t rows, char *text, size_t size) {
  char *there = grid_text(found->axes, 2 * found->columns.pairs),
       *right = grid_text(asked->axes, 2 * asked->columns.pairs);
  if (found->columns.layout != asked->columns.layout)
    snprintf(text, size, "the layout is %s, not %s", columns_layout_name(&found->columns),
             columns_layout_name(&asked->columns));
  else if (!grid_has_lists(found->axes) && there && right && strcmp(there, right) != 0)
    snprintf(text, size, "it is the grid %s, not %s", there, right);
  else if (found->start.least != asked->start.least && !grid_has_lists(found->axes))
    snprintf(text, size, "row 0 is place %" PRId64 ", not %" PRId64, found->start.least, asked->start.least);
  else
    tell_positions(found, asked, rows, text, size);
  free(there);
  free(right);
}

/* ---- agreement ------------------------------------------------------------------------------------------- */

enum { ROWS = 512 };
static const double as_close = 4.0;

/* Returns the problem's formula, with dynamic and linear scalings as base and scale, which every maker has. */
static formula formula_of(const posenc_problem *problem) {
  const posenc_scaling *s = &problem->scaling;
  formula f = formula_plain(problem->base);
  const double dim = (double)problem->dim;
  f.shift = problem->shift;
  f.scale = problem->scale;
  if (s->kind == POSENC_SCALING_LINEAR) {
    f.scale /= s->factor;
  } else if (s->kind == POSENC_SCALING_DYNAMIC) {
    const double length = fmax(s->length, (double)s->original),
                 stretch = s->factor * length / (double)s->original - (s->factor - 1.0);
    f.of_base = problem->base;
    f.stretch = stretch > 1.0 ? stretch : 0.0;
    if (problem->dim > 2) f.base *= pow(stretch, dim / (dim - 2.0));
  } else {
    f.scaling = *s;
  }
  return f;
}

/* Compares at most `rows` rows of the window with a formula; the distance is that from the values of the closest maker.
   Without distances, it ends when so many elements are unexplained that the formula is. */
static differences compare(const search *s, const identity *found, const making *how, bool distances, int64_t rows) {
  const posenc_kernel *const kernel = distances && found->match_count ? found->matches[0].kernel : NULL;
  makers m;
  makers_open(&m, how, found->proved, s->window.count);
  if (kernel) makers_add(&m, &kernel, 1);
  differences d = explain_differences(&m, &s->window, rows, distances);
  if (distances) {
    maker *by = &m.all[m.count - 1];
    explain_compare(&m, by, &s->window, rows);
    d.distance = maker_distance(by);
  }
  makers_close(&m);
  return d;
}

/* Returns the problem of an even number of columns that has its frequencies, as posenc.h says of odd ones, without
   places. */
static posenc_problem even(const posenc_problem *asked) {
  posenc_problem problem = posenc_table(asked->rows, asked->dim);
  problem.base = asked->base;
  problem.shift = asked->shift;
  problem.scale = asked->scale;
  problem.scaling = asked->scaling;
  if (asked->dim % 2 == 0) return problem;
  problem.dim += asked->odd == POSENC_ODD_CEIL ? 1 : -1;
  problem.shift += asked->odd == POSENC_ODD_CEIL ? 0.5 : 0.0;
  return problem;
}

/* Whether the library makes such a table, apart from mistakes: a shift beside a scaling, which a wrong exponent is, and
   a falling ramp. */
static bool is_possible(const posenc_problem *problem) {
  posenc_problem valid = *problem;
  posenc_scaling *s = &valid.scaling;
  if (s->kind != POSENC_SCALING_NONE) valid.shift = 0.0;
  if (s->low > s->high) s->low = problem->scaling.high, s->high = problem->scaling.low;
  return !posenc_problem_refusal(&valid);
}

bool making_with(const making *at, const posenc_problem *of, making *how) {
  const posenc_problem problem = even(of);
  *how = *at;
  how->formula = formula_of(&problem);
  how->amplitude = attention_of(&problem);
  return problem.dim == 2 * at->columns.pairs && is_possible(&problem);
}

/* Whether the table made as `at`, but for the formula, is that of the problem; *d: its differences from that. own: the
   differences from the formula that was found; null if none was. */
static bool try(const search *s, const identity *found, const making *at, const differences *own,
                const posenc_problem *asked, differences *d) {
  making how;
  if (!making_with(at, asked, &how) || (at->axes && !axes_are_sections(at->axes, asked))) return false;
  how.offset = 0.0;
  const bool by_distance = own && !differences_are_rounding(own);
  /* A row at another position than the others is no sample of them. */
  *d = compare(s, found, &how, by_distance, found->positions ? s->window.count : ROWS);
  return differences_are_rounding(d) || (by_distance && d->distance <= as_close * own->distance);
}

/* ---- the formula ----------------------------------------------------------------------------------- */

static bool is_near(double a, double b, double error) {
  const double digits = 1e-6; /* relative error of numbers that people write */
  return fabs(a - b) <= fmax(digits * fabs(b), error);
}

static bool is_within(const double range[2], double x) {
  const double room = 1e-3; /* of what is read from a ramp */
  return x >= range[0] * (1.0 - room) && x <= range[1] * (1.0 + room);
}

/* Describes another ramp by the words of configs. */
static void tell_ramp(const identity *found, const posenc_problem *problem, char *text, size_t size) {
  const posenc_scaling *s = &problem->scaling;
  const bool is_yarn = s->kind == POSENC_SCALING_YARN;
  const char *const high = is_yarn ? "beta_fast" : "high_freq_factor", *const low =
                                                                           is_yarn ? "beta_slow" : "low_freq_factor";
  const scaling_ranges fit = scalings_ranges(&found->how.formula.scaling, s, problem->base, found->how.columns.pairs);
  const bool has_high = is_within(fit.high, s->high), has_low = is_within(fit.low, s->low);
  const double fast = scalings_usual(fit.high), slow = scalings_usual(fit.low);
  FILE *out = fmemopen(text, size, "w");
  if (!out) return;
  if (!has_high && !has_low && fit.original[0] <= fit.original[1] * 1.001) {
    const double original = scalings_usual(fit.original);
    fprintf(out, "the original length is %.0f, not %" PRId64 "%s", rint(original), s->original,
            scalings_fit(fit.original).text);
  } else {
    if (!has_high)
      fprintf(out, "%s is %s, not %s%s", high, number_within(fast, 1e-3).text, number_of(s->high).text,
              scalings_fit(fit.high).text);
    if (!has_low)
      fprintf(out, "%s%s is %s, not %s%s", has_high ? "" : "; ", low, number_within(slow, 1e-3).text,
              number_of(s->low).text, scalings_fit(fit.low).text);
  }
  fclose(out);
}

/* Describes what differs from the problem, in simple cases. An attention factor follows from the factor, so the factor
   comes first. */
void tell_difference(const identity *found, const posenc_problem *asked, char *text, size_t size) {
  const formula *f = &found->how.formula;
  const posenc_problem problem = even(asked);
  const posenc_scaling *s = &problem.scaling;
  const formula wanted = formula_of(&problem);
  const double attention = attention_of(&problem), shift = identity_shift(found, f), amplitude = found->how.amplitude;
  const bool is_same = f->scaling.kind == wanted.scaling.kind;
  char stretched[60] = "";
  if (wanted.stretch > 0.0)
    snprintf(stretched, sizeof stretched, ", stretched to %.9g by the dynamic scaling", wanted.base);
  if (2 * found->how.columns.pairs != problem.dim)
    snprintf(text, size, "%" PRId64 " columns are turned, not %" PRId64, 2 * found->how.columns.pairs, problem.dim);
  else if (!is_same && f->scaling.kind != POSENC_SCALING_NONE)
    snprintf(text, size, "the scaling is %s, not %s", scaling_forms[f->scaling.kind].name, scaling_forms[s->kind].name);
  else if (!is_near(f->base, wanted.base, f->base * f->base_error))
    snprintf(text, size, "the base is %s, not %.15g%s", number_within(f->base, f->base_error).text, asked->base,
             stretched);
  else if (is_same && fabs(shift - asked->shift) > 1e-6)
    snprintf(text, size, "the shift is %.9g, not %.9g", shift, asked->shift);
  else if (is_same && !is_near(f->scale, wanted.scale, f->scale * f->scale_error))
    snprintf(text, size, "the scale is %s, not %.15g", number_within(f->scale, f->scale_error).text, wanted.scale);
  else if (is_same && !is_near(f->scaling.factor, s->factor, 0.0) && wanted.scaling.kind != POSENC_SCALING_NONE)
    snprintf(text, size, "the factor is %.15g, not %.15g", f->scaling.factor, s->factor);
  else if (!is_near(amplitude, attention, found->how.amplitude_error) && s->kind == POSENC_SCALING_NONE)
    snprintf(text, size, "all values are multiplied by %.9g, not by %.9g", amplitude, attention);
  else if (!is_near(amplitude, attention, found->how.amplitude_error))
    snprintf(text, size, "the attention factor is %.9g, not %.9g", amplitude, attention);
  else if (is_same && (s->kind == POSENC_SCALING_YARN || s->kind == POSENC_SCALING_LLAMA3))
    tell_ramp(found, &problem, text, size);
  else if (fabs(found->how.offset) > 0.0)
    snprintf(text, size, "%s is added to all values",
             number_within(found->how.offset, found->how.offset_error / fabs(found->how.offset)).text);
}

/* ---- rows, columns and single elements -------------------------------------------------------------- */

/* Whether a row of successive ones has that position. */
static bool is_in(const posenc_problem *asked, int64_t position) {
  return !asked->positions && position >= asked->first && position - asked->first < asked->rows;
}

/* Describes the rows of zeros. A config says nothing of a padding row, which is one; check is told of it. */
static void tell_zeros(const identity *found, const posenc_problem *asked, char *text, size_t size) {
  if (found->paddings > 1)
    snprintf(text, size, "%" PRId64 " rows are all zeros, the first at position %" PRId64, found->paddings,
             found->padding);
  else if (asked && found->paddings && found->padding != asked->padding)
    snprintf(text, size, "the row of position %" PRId64 " is all zeros", found->padding);
  else if (asked && found->blank > (asked->padding != POSENC_NO_PADDING))
    tell_wrong_rows(found->blank, "all zeros", found->first_blank, text, size);
  else if (asked && !found->paddings && is_in(asked, asked->padding))
    snprintf(text, size, "the row of position %" PRId64 " is not all zeros", asked->padding);
}

/* Describes what no formula has: rows in another order, and damage. */
static void tell_damage(const identity *found, const posenc_problem *asked, char *text, size_t size) {
  int64_t period;
  const identity_order order = identity_order_of(found, &period);
  const maker *closest = &found->matches[0];
  const identify_damage *d = found->damage;
  if (order == IDENTITY_REPEATED)
    snprintf(text, size, "rows come again after %" PRId64, period);
  else if (order == IDENTITY_NEGATED)
    snprintf(text, size, "the sines are negated");
  else if (order == IDENTITY_REVERSED)
    snprintf(text, size, "rows are reversed");
  else if (found->not_finite)
    tell_wrong_elements(found->not_finite, "NaN or infinite", found->not_finite_row, found->not_finite_column, text,
                        size);
  else if (found->lost)
    tell_wrong_rows(found->lost, "of no position", found->first_lost, text, size);
  else if (found->damage_count && d->sin == IDENTIFY_CONSTANT)
    snprintf(text, size, "column %" PRId64 " is %.9g in all rows", d->column, d->value);
  else if (found->damage_count && d->sin == IDENTIFY_MOVED)
    snprintf(text, size, "column %" PRId64 " has what belongs to column %" PRId64, d->column, d->like);
  else if (found->damage_count)
    snprintf(text, size, "column %" PRId64 " is no part of the table", d->column);
  else if (found->unexplained && !closest->kernel && maker_is_near(closest))
    tell_wrong_elements(found->unexplained, "off", found->unexplained_row, found->unexplained_column, text, size);
  else if (found->unexplained && identify_has_outliers(closest))
    tell_wrong_elements(closest->outliers, "off", closest->outlier_row, closest->outlier_column, text, size);
  else
    tell_zeros(found, asked, text, size);
}

/* Describes the part of the pairs, if it is not the asked one. */
static void tell_part(const identity *found, table_part asked, char *text, size_t size) {
  static const char *const names[] = {[TABLE_COS] = "cos", [TABLE_SIN] = "sin"};
  const columns *at = &found->how.columns;
  const char *const has = at->part == TABLE_COS ? "cosines" : "sines";
  if (at->part == asked) return;
  if (at->part == TABLE_BOTH)
    snprintf(text, size, "the file has sines and cosines, not the %s alone, as --part %s says",
             asked == TABLE_COS ? "cosines" : "sines", names[asked]);
  else
    snprintf(text, size, "the file has %s alone: --part %s%s%s", has, names[at->part],
             at->layout == POSENC_DUPLICATED ? "" : " --layout ",
             at->layout == POSENC_DUPLICATED ? "" : columns_layout_name(at));
}

making making_asked(const posenc_problem *asked, table_part part) {
  const int64_t dim = even(asked).dim;
  making at = {.columns = {.layout = asked->layout, .part = part, .dim = dim, .pairs = dim / 2},
               .start = start_at(asked->positions ? 0 : asked->first),
               .step = 1,
               .positions = asked->positions,
               .amplitude = attention_of(asked),
               .axes = asked->axes};
  const posenc_problem problem = even(asked);
  at.formula = formula_of(&problem);
  if (part == TABLE_BOTH && asked->odd == POSENC_ODD_CEIL) at.columns.dim = asked->dim;
  if (part != TABLE_BOTH && asked->layout == POSENC_SPLIT) at.columns.dim = dim / 2;
  if (part != TABLE_BOTH && asked->layout == POSENC_SPLIT_CS) at.columns.layout = POSENC_DUPLICATED;
  return at;
}

static double position_asked(const posenc_problem *asked, int64_t row) {
  return asked->positions ? asked->positions[row] : (double)asked->first + (double)row;
}

/* Whether the row is at that position, or its position is unknown. */
static bool is_at(const identity *found, int64_t row, double position) {
  const start *at = &found->how.start;
  const double moved = (double)found->how.step * (double)row;
  if (found->positions) return !(fabs(found->positions[row] - position) > 1e-6 * fmax(1.0, fabs(position)));
  const double least = start_is_whole(at) ? (double)at->least : at->first - at->error,
               most = start_is_whole(at) ? (double)at->most : at->first + at->error;
  return position >= least + moved && position <= most + moved;
}

/* Returns the position of row 0 from which the most rows of a list are successive, if these are more than half. */
static double start_of_most(const identity *found) {
  double zeroth = 0.0;
  int64_t votes = 0;
  for (int64_t row = 0; row < found->judged; row++) {
    const double of_row = found->positions[row] - (double)row;
    if (isnan(of_row)) continue;
    if (votes == 0) zeroth = of_row;
    votes += fabs(zeroth - of_row) > 0.0 ? -1 : 1;
  }
  return zeroth;
}

/* Describes rows that are not at the asked positions. Without a question, those are rows out of step with almost all
   others; a list with more of them has runs. */
static void tell_rows(const identity *found, const posenc_problem *asked, char *text, size_t size) {
  const double zeroth = !asked && found->positions ? start_of_most(found) : 0.0;
  double right = 0.0;
  int64_t count = 0, first = 0;
  for (int64_t row = 0; row < found->judged; row++) {
    const double position = asked ? position_asked(asked, row) : zeroth + (double)row;
    if (is_at(found, row, position)) continue;
    if (!count++) first = row, right = position;
  }
  if (!found->positions || count == 0 || (!asked && count * UNEXPLAINED_ONE_IN > found->judged)) return;
  tell_moved_rows(count, first, found->positions[first], right, text, size);
}

/* Describes another layout or other positions than check was asked for. */
static void tell_place(const identity *found, const posenc_problem *asked, char *text, size_t size) {
  const making how = making_asked(asked, found->how.columns.part);
  const columns *at = &found->how.columns, wanted = how.columns;
  const int64_t last = found->judged - 1;
  const double right = position_asked(asked, 0), more = found->how.start.first - right;
  if (how.axes && found->how.axes)
    axes_tell_places(&found->how, &how, found->judged, text, size);
  else if (at->layout != wanted.layout && at->pairs > 1)
    snprintf(text, size, "the layout is %s, not %s%s", columns_layout_name(at), columns_layout_name(&wanted),
             columns_exchanged(at).layout == wanted.layout ? ": sines and cosines are exchanged" : "");
  else if (found->positions)
    tell_rows(found, asked, text, size);
  else if (!is_at(found, 0, right) || !is_at(found, last, position_asked(asked, last)))
    snprintf(text, size, "positions are %.15g %s", fabs(more), more > 0.0 ? "more" : "less");
}

/* ---- the errors of the right formula --------------------------------------------------------------- */

static void tell_errors(identity *found) {
  const maker *closest = &found->matches[0];
  char *text = found->errors;
  const size_t size = sizeof found->errors;
  if (identity_is_truncated(found))
    snprintf(text, size, "those of values that are truncated to %s", dtype_name(found->held));
  else if (found->unexplained && maker_is_near(closest) && closest->kernel)
    snprintf(text, size, "those of %s", closest->kernel->name);
  else if (found->unexplained)
    *text = '\0';
  else if (found->held != found->stored)
    snprintf(text, size, "those of values that are rounded to %s", dtype_name(found->held));
  else if (identity_arithmetic(found) == POSENC_F64)
    snprintf(text, size, "those of arithmetic in f64%s%s", found->held == POSENC_F64 ? "" : ", rounded to ",
             found->held == POSENC_F64 ? "" : dtype_name(found->held));
  else
    snprintf(text, size, "those of %s in f32", found->max_abs > 4.0 * found->max_if_exact ? "angles" : "arithmetic");
}

/* ---- all of it ------------------------------------------------------------------------------------- */

/* Writes the first suspect that explains the table made as `at` but for its formula; of_all: that explains every
   element. */
static void find_suspect(const search *s, identity *found, const making *at, const differences *own, bool of_all) {
  const suspect_list *suspects = s->request->suspects;
  for (size_t n = 0; suspects && n < suspects->count && !*found->agreed; n++) {
    const suspect *one = &suspects->items[n];
    making how = *at;
    differences d;
    how.angles = one->angles;
    if (try(s, found, &how, own, &one->problem, &d) && !(of_all && d.unexplained))
      snprintf(found->agreed, sizeof found->agreed, "%s", one->text);
  }
}

/* Returns the expected problem that a table made as `at` but for its formula agrees with, or null; *d: the differences
   from it. */
static const suspect *find_expected(const search *s, identity *found, const making *at, const differences *own,
                                    differences *d) {
  const suspect_list *expected = s->request->expected;
  for (size_t n = 0; n < expected->count; n++)
    if (try(s, found, at, own, &expected->items[n].problem, d)) {
      found->has_formula = true;
      return &expected->items[n];
    }
  return NULL;
}

/* Ends with agreement, unless a cause was told. d: the differences from the problem; if rounding does not explain them
   all, the errors of the values where they were found are not those of the file. */
static void conclude(identity *found, const suspect *agreed, const differences *d) {
  if (*found->agreed) return;
  found->agreement = AGREES;
  if (!d->unexplained || found->unexplained) tell_errors(found);
  snprintf(found->agreed, sizeof found->agreed, "%s", agreed->text);
}

/* Tries mistakes in the positions of a table made as `at`, and writes the first one that explains it. */
static void find_position_mistake(const search *s, identity *found, const making *at) {
  const posenc_problem *asked = s->request->asked;
  double *positions = memory_take((size_t)s->window.count, sizeof *positions);
  const char *words = "";
  making how = *at;
  how.positions = positions;
  for (size_t n = 0; words && !*found->agreed; n++) {
    bool is_other = false;
    for (int64_t row = 0; row < s->window.count; row++) {
      long double wrong = 0.0L;
      words = position_mistake(n, position_asked(asked, row), &wrong);
      positions[row] = (double)wrong;
      is_other = is_other || fabs(positions[row] - position_asked(asked, row)) > 0.0;
    }
    differences unused;
    if (words && is_other && find_expected(s, found, &how, NULL, &unused))
      snprintf(found->agreed, sizeof found->agreed, "%s", words);
  }
  free(positions);
}

/* As find_position_mistake, for axes: of all of them or of one. of_all: the mistake explains every element. */
static void find_axis_positions(const search *s, identity *found, const making *at, bool of_all) {
  axes_mistaken wrong = axes_mistaken_from(at->axes, -1);
  making how = *at;
  how.axes = &wrong.axes;
  while (!*found->agreed && axes_next_mistaken(&wrong)) {
    differences d;
    if (find_expected(s, found, &how, NULL, &d) && !(of_all && d.unexplained))
      snprintf(found->agreed, sizeof found->agreed, "%s", wrong.words);
  }
  axes_free_mistaken(&wrong);
}

/* How many elements have the bits of one of two tables, of those in which these differ. */
typedef struct votes {
  int64_t own, other;
} votes;

/* Compares sampled rows with two tables. */
static votes vote(const search *s, const making *own, const making *other) {
  makers of_own, of_other;
  votes cast = {0};
  makers_open(&of_own, own, false, s->window.count);
  makers_open(&of_other, other, false, s->window.count);
  for (int64_t n = 0; n < ROWS; n++) {
    const int64_t row = window_sample(&s->window, ROWS, n);
    if (row < 0) continue;
    const double *there = window_row(&s->window, row), *made = makers_row(&of_own, &of_own.all[0], row),
                 *wrong = makers_row(&of_other, &of_other.all[0], row);
    for (int64_t c = 0; c < own->columns.dim; c++) {
      if (!(fabs(made[c] - wrong[c]) > 0.0)) continue;
      cast.own += fabs(there[c] - made[c]) <= 0.0;
      cast.other += fabs(there[c] - wrong[c]) <= 0.0;
    }
  }
  makers_close(&of_own);
  makers_close(&of_other);
  return cast;
}

/* Tries mistakes in the positions of single axes so slow that roundings to 16 bits explain them: the bits tell them.
   Writes the first one whose table has almost all of these. */
static void find_axis_bits(const search *s, identity *found, const making *at, const posenc_problem *right) {
  const int64_t least = 4, times = 4;
  const bool is_narrow = at->held == POSENC_F16 || at->held == POSENC_BF16;
  axes_mistaken wrong = axes_mistaken_from(at->axes, 0);
  making own;
  if (!is_narrow || s->request->error > 0.0 || !making_with(at, right, &own)) return;
  making other = own;
  other.axes = &wrong.axes;
  while (!*found->agreed && axes_next_mistaken(&wrong)) {
    const votes cast = vote(s, &own, &other);
    if (cast.other >= least && cast.other > times * cast.own)
      snprintf(found->agreed, sizeof found->agreed, "%s", wrong.words);
  }
  axes_free_mistaken(&wrong);
}

/* Tries mistakes in the axes of a table made as `at`, and writes the first one that explains it. */
static void find_axes_mistake(const search *s, identity *found, const making *at) {
  axes_mistake mistakes[AXES_MISTAKES_MAX];
  const size_t count = axes_mistakes(at->axes, mistakes);
  for (size_t n = 0; n < count && !*found->agreed; n++) {
    making how = *at;
    differences d;
    posenc_problem wrong = s->request->expected->items[0].problem;
    wrong.axes = how.axes = mistakes[n].is_one ? NULL : &mistakes[n].axes;
    posenc_problem valid = even(&wrong);
    valid.axes = how.axes;
    if (!posenc_problem_refusal(&valid) && try(s, found, &how, NULL, &wrong, &d))
      snprintf(found->agreed, sizeof found->agreed, "%s", mistakes[n].words);
  }
  if (!*found->agreed) find_axis_positions(s, found, at, false);
}

/* Compares a table that is made as `at`, of which that is known or assumed: with the expected problems, then with these
   at mistaken positions if `asked`, then with the suspects. */
static void agree_at(const search *s, identity *found, making at, bool asked) {
  const bool is_table = found->verdict == IDENTIFY_TABLE;
  char *text = found->agreed;
  const size_t size = sizeof found->agreed;
  differences d;
  at.held = s->window.held;
  if (!s->window.finite || at.columns.dim > s->window.dim || at.columns.pairs < 1) return;
  const suspect *agreed = find_expected(s, found, &at, NULL, &d);
  if (!agreed) {
    if (asked) (at.axes ? find_axes_mistake : find_position_mistake)(s, found, &at);
    find_suspect(s, found, &at, NULL, false);
    return;
  }
  if (d.unexplained && asked && at.axes) find_axis_positions(s, found, &at, true);
  if (!*text && is_table)
    tell_damage(found, s->request->asked, text, size);
  else if (!*text && d.unexplained)
    tell_wrong_elements(d.unexplained, "off", d.row, d.column, text, size);
  if (is_table && (d.unexplained || found->positions) && !*text && asked)
    tell_rows(found, s->request->asked, text, size);
  if (d.unexplained && asked) find_suspect(s, found, &at, NULL, true);
  if (!*text && asked && at.axes) find_axis_bits(s, found, &at, &agreed->problem);
  if (is_table) conclude(found, agreed, &d);
}

/* Whether an expected problem has these sections. */
static bool axes_are_expected(const suspect_list *expected, const posenc_axes *axes) {
  for (size_t n = 0; n < expected->count; n++)
    if (axes_are_sections(axes, &expected->items[n].problem)) return true;
  return false;
}

/* Compares a table in the columns and rows in which it was found, of which nothing is told yet. */
static void agree_as_found(const search *s, identity *found) {
  const identify_request *request = s->request;
  const posenc_problem *asked = request->asked;
  char *text = found->agreed;
  const size_t size = sizeof found->agreed;
  differences d;
  if (found->how.axes && !axes_are_expected(request->expected, found->how.axes)) {
    axes_tell_sections(found->how.axes, &request->expected->items[0].problem, text, size);
    return;
  }
  const differences own = compare(s, found, &found->how, true, ROWS);
  /* A recipe with a mistake is near a formula that does not explain it. */
  if (!differences_are_rounding(&own)) find_suspect(s, found, &found->how, NULL, false);
  if (*text) return;
  const suspect *agreed = find_expected(s, found, &found->how, &own, &d);
  if (!agreed) {
    find_suspect(s, found, &found->how, &own, false);
    if (!*text) tell_difference(found, &request->expected->items[0].problem, text, size);
    return;
  }
  tell_damage(found, asked, text, size);
  if (!*text && asked) tell_place(found, asked, text, size);
  if (!*text && !asked) tell_rows(found, NULL, text, size);
  conclude(found, agreed, &d);
}

void agree(const search *s, identity *found) {
  const identify_request *request = s->request;
  const posenc_problem *asked = request->asked;
  const bool is_table = found->verdict == IDENTIFY_TABLE;
  char *text = found->agreed;
  const size_t size = sizeof found->agreed;
  if (!request->expected) return;
  if (asked && is_table) tell_part(found, request->part, text, size);
  const bool is_other =
      is_table && asked && found->how.axes && asked->axes && !axes_have_pairs(found->how.axes, asked->axes);
  if (asked && !*text && !is_other) agree_at(s, found, making_asked(asked, request->part), true);
  if (!asked && !is_table && !found->how.axes) {
    making at = {.columns = s->columns, .start = start_at(0), .step = 1};
    agree_at(s, found, at, false);
    at.columns = s->best.how.columns, at.start = s->best.how.start;
    const bool is_elsewhere = s->best.found && start_is_one(&at.start) && at.start.least != 0;
    if (!*text && is_elsewhere) agree_at(s, found, at, false);
  }
  if (!*text && !is_table) snprintf(text, size, "%s", found->negated);
  if (found->agreement == AGREES || (!*text && !is_table)) return;
  found->agreement = DISAGREES;
  if (!*text) agree_as_found(s, found);
}
