/* SPDX-License-Identifier: MIT */
/* Plots error against time, with the front: kernels that no other kernel surpasses in both. */
#ifndef POSENC_REPORTS_PAGE_PARETO_H
#define POSENC_REPORTS_PAGE_PARETO_H

#include <stdbool.h>
#include <stddef.h>

/* Whose kernel it is: names of others stand beside their points. */
typedef enum pareto_group { PARETO_OWN, PARETO_COMPETITOR, PARETO_RECIPE, PARETO_GROUPS } pareto_group;

typedef struct pareto_point {
  const char *name;
  pareto_group group;
  size_t index;           /* for the caller */
  double time, low, high; /* median, smallest and largest */
  double error;           /* the largest absolute error */
  double elements;        /* of which the error is the largest; all if 0 */
  bool counts;            /* may be on the front */
  bool selected;          /* has a look and a name of its own */
  bool front;             /* no point that counts is at least as fast and as accurate, and better in one of the two */
} pareto_point;

/*
 * Sorts by time, and sets `front`. The largest error of a sample is a lower bound, so errors are compared of equal
 * numbers of elements alone: a point is not on the front if one that is as fast was looked at in more elements, and one
 * that was looked at in fewer takes it from no front.
 */
void pareto_sort(pareto_point *points, size_t count);

/* Draws sorted points, with the front as steps, and a note as plot_axis does; `narrow` for narrow screens. The legend
   tells how many names had no place. Returns a string to free as plot_finish, or null on an error already printed to
   stderr. */
char *pareto_draw(const pareto_point *points, size_t count, bool narrow, const char *name, const char *title,
                  const char *time_label, const char *note);

#endif
