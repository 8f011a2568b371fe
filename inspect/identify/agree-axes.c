/* SPDX-License-Identifier: MIT */
#include "inspect/identify/agree.h"

#include "common/grid.h"
#include "inspect/models/model.h"
#include "reference/axes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- sections -------------------------------------------------------------------------------------- */

static posenc_axis_frequencies frequencies_of(const posenc_problem *expected) {
  return expected->axes ? expected->axes->frequencies : POSENC_AXES_CONTINUED;
}

bool axes_have_pairs(const posenc_axes *axes, const posenc_axes *other) {
  bool same = axes->count == other->count && axes->order == other->order;
  for (int a = 0; same && a < axes->count; a++) same = axes->axis[a].pairs == other->axis[a].pairs;
  return same;
}

bool axes_are_sections(const posenc_axes *axes, const posenc_problem *expected) {
  return axes->frequencies == frequencies_of(expected) && (!expected->axes || axes_have_pairs(axes, expected->axes));
}

void axes_print_sections(const posenc_axes *axes, FILE *out) {
  for (int a = 0; a < axes->count; a++) {
    const char *const before = a + 1 < axes->count ? ", " : " and ";
    fprintf(out, "%s%" PRId64, a ? before : "", axes->axis[a].pairs);
  }
  fprintf(out, " pairs, %s", grid_orders[axes->order]);
}

void axes_tell_sections(const posenc_axes *axes, const posenc_problem *expected, char *text, size_t size) {
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
      const double there = axis_position(axes, a, found->start.least + row),
                   right = axis_position(asked->axes, a, asked->start.least + row);
      if (!(fabs(there - right) > 0.0)) continue;
      snprintf(text, size, "row %" PRId64 " is at position %.15g of %c, not at %.15g", row, there, grid_letter(axes, a),
               right);
      return;
    }
}

void axes_tell_places(const making *found, const making *asked, int64_t rows, char *text, size_t size) {
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

/* ---- mistaken positions ---------------------------------------------------------------------------- */

void axes_free_mistaken(const posenc_axes *axes, posenc_axes *wrong) {
  for (int a = 0; a < axes->count; a++)
    if (wrong->axis[a].positions != axes->axis[a].positions) free((void *)wrong->axis[a].positions);
}

/* Writes what the n-th mistake makes of a position on an axis: a known one of positions; or of one axis, another
   step. */
static const char *axis_mistake(size_t n, double right, bool is_one, double *wrong) {
  static const struct {
    const char *words;
    double factor;
  } steps[] = {{"positions are multiplied by 2", 2.0},
               {"positions are divided by 2", 0.5},
               {"positions are multiplied by 4", 4.0},
               {"positions are divided by 4", 0.25},
               {"positions are multiplied by 14", 14.0},
               {"positions are divided by 14", 1.0 / 14.0},
               {"positions are all 0", 0.0}};
  size_t known = 0;
  long double other = 0.0L;
  const char *words = position_mistake(n, right, &other);
  *wrong = (double)other;
  if (words) return words;
  while (position_mistake(known, 0.0L, &other)) known++;
  if (!is_one || n - known >= sizeof steps / sizeof *steps) return NULL;
  *wrong = right * steps[n - known].factor;
  return steps[n - known].words;
}

/* Replaces the positions of an axis. Returns null if memory runs out. */
static const char *mistake(const posenc_axis *axis, size_t n, bool is_one, posenc_axis *wrong, bool *is_other) {
  double *list = calloc((size_t)axis->size, sizeof *list);
  const char *words = NULL;
  if (!list) return NULL;
  for (int64_t k = 0; k < axis->size; k++) {
    const double right = axis->positions ? axis->positions[k] : (double)k;
    words = axis_mistake(n, right, is_one, &list[k]);
    *is_other = *is_other || fabs(list[k] - right) > 0.0;
  }
  wrong->positions = list;
  return words;
}

const char *axes_mistaken(const posenc_axes *axes, int a, size_t n, posenc_axes *wrong, bool *failed) {
  enum { SIZE_MOST = 1 << 20 };
  double unused;
  const char *words = axis_mistake(n, 0.0, a >= 0, &unused);
  bool is_other = false;
  *wrong = *axes;
  for (int each = 0; words && each < axes->count; each++) {
    if ((a >= 0 && a != each) || axes->axis[each].size > SIZE_MOST) continue;
    words = mistake(&axes->axis[each], n, a >= 0, &wrong->axis[each], &is_other);
    *failed = *failed || !words;
  }
  return words && !is_other ? "" : words;
}
