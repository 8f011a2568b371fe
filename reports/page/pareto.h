/* SPDX-License-Identifier: MIT */
/* Error against time: which kernels are worth taking at all. */
#ifndef POSENC_REPORTS_PAGE_PARETO_H
#define POSENC_REPORTS_PAGE_PARETO_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pareto_point {
  const char *name;
  size_t index;           /* the caller's */
  double time, low, high; /* median, least and most */
  double error;           /* largest, absolute */
  bool counts;            /* may be on the front */
  bool front;             /* no point that counts is at least as fast and as accurate, and better in one of the two */
} pareto_point;

/* Sorts by time, and sets `front`. */
void pareto_sort(pareto_point *points, size_t count);

/* Draws sorted points, with the front as steps: as plot_finish, or null on an error already told on stderr. */
char *pareto_draw(const pareto_point *points, size_t count, const char *name, const char *title,
                  const char *time_label);

#endif
