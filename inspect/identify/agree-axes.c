/* SPDX-License-Identifier: MIT */
#include "inspect/identify/agree.h"

#include "common/shapes.h"
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
