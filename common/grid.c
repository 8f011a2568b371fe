/* SPDX-License-Identifier: MIT */
#include "common/grid.h"

#include "common/number.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const grid_orders[] = {[POSENC_AXES_CHUNKED] = "chunked", [POSENC_AXES_CYCLIC] = "cyclic", NULL};

const char *const grid_frequencies[] = {
    [POSENC_AXES_RESTARTED] = "restarted", [POSENC_AXES_CONTINUED] = "continued", [POSENC_AXES_DEALT] = "dealt", NULL};

/* Finds the order of the axes as dimensions of the grid: longer strides first. */
static void order_of(const posenc_axes *axes, int order[POSENC_AXES]) {
  for (int a = 0; a < axes->count; a++) {
    int at = a;
    for (; at > 0 && axes->axis[order[at - 1]].stride < axes->axis[a].stride; at--) order[at] = order[at - 1];
    order[at] = a;
  }
}

bool grid_steps(const posenc_axis *axis, double *first, double *step) {
  *first = axis->positions ? axis->positions[0] : 0.0;
  *step = axis->positions && axis->size > 1 ? axis->positions[1] - axis->positions[0] : 1.0;
  for (int64_t n = 0; axis->positions && n < axis->size; n++)
    if (axis->positions[n] != *first + *step * (double)n) return false;
  return true;
}

/* Whether strides or positions need a list for each axis. */
bool grid_has_lists(const posenc_axes *axes) {
  double first, step;
  int order[POSENC_AXES];
  int64_t stride = 1;
  bool has = false;
  order_of(axes, order);
  for (int n = axes->count - 1; n >= 0; n--) {
    const posenc_axis *axis = &axes->axis[order[n]];
    has |= axis->stride != stride || !grid_steps(axis, &first, &step);
    if (__builtin_mul_overflow(stride, axis->size, &stride)) return true;
  }
  return has;
}

static void write_axis(const posenc_axis *axis, char letter, bool is_list, FILE *out) {
  double first, step;
  grid_steps(axis, &first, &step);
  fprintf(out, "%c=", letter);
  if (is_list)
    fprintf(out, "@%c", letter);
  else
    fprintf(out, "%" PRId64, axis->size);
  if (!is_list && (first != 0.0 || step != 1.0)) fprintf(out, ":%s", number_of_position(first).text);
  if (!is_list && step != 1.0) fprintf(out, ":%s", number_of_position(step).text);
  if (axis->divisor != 1.0) fprintf(out, "/%s", number_of_position(axis->divisor).text);
}

static void write_columns(const posenc_axes *axes, const int order[POSENC_AXES], const char *letters, FILE *out) {
  char of[POSENC_AXES];
  bool is_plain = true;
  for (int n = 0; n < axes->count; n++) {
    of[order[n]] = letters[n];
    is_plain &= order[n] == n;
  }
  if (!is_plain) fprintf(out, ",columns=%.*s", axes->count, of);
}

void grid_write(const posenc_axes *axes, int64_t dim, FILE *out) {
  static const char *const letters[] = {"", "l", "hw", "thw", "tdhw"};
  const char *of = letters[axes->count];
  const bool lists = grid_has_lists(axes);
  int order[POSENC_AXES];
  bool equal = true;
  order_of(axes, order);
  for (int n = 0; n < axes->count; n++) {
    if (n) fputc(',', out);
    write_axis(&axes->axis[order[n]], of[n], lists, out);
    equal &= axes->axis[n].pairs * 2 * axes->count == dim;
  }
  write_columns(axes, order, of, out);
  for (int a = 0; a < axes->count && !equal; a++) fprintf(out, "%s%" PRId64, a ? ":" : ",pairs=", axes->axis[a].pairs);
  if (axes->order != POSENC_AXES_CHUNKED) fprintf(out, ",order=%s", grid_orders[axes->order]);
  if (axes->frequencies != POSENC_AXES_RESTARTED) fprintf(out, ",frequencies=%s", grid_frequencies[axes->frequencies]);
  if (axes->grouped) fputs(",grouped=yes", out);
}

char *grid_text(const posenc_axes *axes, int64_t dim) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out) return NULL;
  grid_write(axes, dim, out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}
