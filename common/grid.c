/* SPDX-License-Identifier: MIT */
#include "common/grid.h"

#include "common/number.h"

#include <inttypes.h>
#include <math.h>
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

const char *grid_letters(int count) {
  static const char *const letters[] = {"", "l", "hw", "thw", "tdhw"};
  return letters[count];
}

char grid_letter(const posenc_axes *axes, int a) {
  int order[POSENC_AXES], at = 0;
  order_of(axes, order);
  while (order[at] != a) at++;
  return grid_letters(axes->count)[at];
}

bool grid_step(double first, double step, int64_t n, double *position) {
  const double steps = step * (double)n, sum = first + steps, part = sum - first;
  *position = sum;
  return fma(step, (double)n, -steps) == 0.0 && (first - (sum - part)) + (steps - part) == 0.0;
}

/* Returns how many positions are a run from the first on, and its step. */
static int64_t longest_run(const double *positions, int64_t count, double *step) {
  double next;
  int64_t run = 1;
  *step = count > 1 ? positions[1] - positions[0] : 1.0;
  while (run < count && grid_step(positions[0], *step, run, &next) && next == positions[run]) run++;
  if (run == 1) *step = 1.0;
  return run;
}

int64_t grid_run(const double *positions, int64_t count, double *step) {
  double unused;
  const int64_t run = longest_run(positions, count, step);
  return run > 2 && longest_run(positions + run - 1, count - run + 1, &unused) > 2 ? run - 1 : run;
}

bool grid_steps(const posenc_axis *axis, double *first, double *step) {
  *first = axis->positions ? axis->positions[0] : 0.0;
  *step = 1.0;
  return !axis->positions || longest_run(axis->positions, axis->size, step) == axis->size;
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

static void write_run(int64_t size, double first, double step, FILE *out) {
  fprintf(out, "%" PRId64, size);
  if (first != 0.0 || step != 1.0) fprintf(out, ":%s", number_of_position(first).text);
  if (step != 1.0) fprintf(out, ":%s", number_of_position(step).text);
}

/* With `is_list`, a list of runs is written, two at least: that tells it from an axis of a grid. */
static void write_axis(const posenc_axis *axis, char letter, bool is_list, FILE *out) {
  double step = 1.0;
  fprintf(out, "%c=", letter);
  if (!axis->positions && is_list && axis->size > 1)
    fprintf(out, "1+%" PRId64 ":1", axis->size - 1);
  else if (!axis->positions)
    write_run(axis->size, 0.0, 1.0, out);
  for (int64_t n = 0, run; axis->positions && n < axis->size; n += run) {
    const double *rest = axis->positions + n;
    run = is_list ? grid_run(rest, axis->size - n, &step) : longest_run(rest, axis->size, &step);
    if (is_list && n == 0 && run == axis->size) run = 1;
    if (n) fputc('+', out);
    write_run(run, *rest, run > 1 ? step : 1.0, out);
  }
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
  const char *of = grid_letters(axes->count);
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
