/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"

#include "common/shapes.h"
#include "common/work.h"
#include "records/make.h"
#include "reference/accuracy.h"
#include "reference/scaling.h"
#include "verify/checks.h"
#include "verify/sampling.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The contracts say of a bound that is not derived: its numbers are twice the largest errors that were measured. */
static const double margin = 2.0;

posenc_bound propose_measuring(const posenc_kernel *kernel) {
  const int64_t declared = kernel->bound.max_position;
  return (posenc_bound){.ulp = 0.5, .max_position = declared ? least(declared, SEARCH_REACH) : SEARCH_REACH};
}

bool propose_takes(const posenc_problem *problem) {
  return problem->op == POSENC_TABLE && !rows_are_special(problem) && problem->scale == 1.0 && problem->base >= 1.0 &&
         attention_of(problem) == 1.0;
}

/* ---- what was measured --------------------------------------------------------------------------- */

/* The parts of errors beyond half an ulp, by range of positions, in all tables of a kernel. */
typedef struct measured {
  element_rest rest[ACCURACY_RANGES];
  int64_t farthest, reach, elements; /* the distances from 0 of the tables' rows, and of all that was measured */
  posenc_dtype finest;
  char dtypes[40]; /* their names */
  bool is_whole;   /* no table is missing, because the kernel crashed or the like */
} measured;

static void add_result(measured *m, const record_result *result) {
  const record_rests *found = &result->rests;
  const char *dtype = result->shape.dtype;
  if (*result->refusal) return;
  m->is_whole = m->is_whole && found->there;
  m->elements += found->elements;
  if (found->reach > m->reach) m->reach = found->reach;
  if (found->farthest > m->farthest) m->farthest = found->farthest;
  for (size_t r = 0; r < found->rests_count && r < ACCURACY_RANGES; r++) {
    m->rest[r].most = fmax(m->rest[r].most, record_or_infinity(found->rests[r].most));
    m->rest[r].per_position = fmax(m->rest[r].per_position, record_or_infinity(found->rests[r].per_position));
  }
  for (int d = 0; dtype_names[d]; d++)
    if (strcmp(dtype_names[d], dtype) == 0 && format_of((posenc_dtype)d)->precision > format_of(m->finest)->precision)
      m->finest = (posenc_dtype)d;
  if (strstr(m->dtypes, dtype)) return;
  if (*m->dtypes) strcat(m->dtypes, ", ");
  strncat(m->dtypes, dtype, sizeof m->dtypes - strlen(m->dtypes) - 1);
}

/* ---- fitting --------------------------------------------------------------------------------------- */

/* Returns the number rounded up to two digits, so that a contract can be read. */
static double rounded_up(double x) {
  char text[40];
  for (double up = x;; up *= 1.01) {
    snprintf(text, sizeof text, "%.1e", up);
    const double rounded = strtod(text, NULL);
    if (rounded >= x) return rounded;
  }
}

/* Returns the number of ranges before the first one in which errors are as large as values, and no bound says anything;
   of those that were measured. */
static int ranges_of(const measured *m) {
  int ranges = 0;
  while (ranges < ACCURACY_RANGES && accuracy_range_begin(ranges) <= m->reach && m->rest[ranges].most < 1.0) ranges++;
  return ranges;
}

/*
 * Returns a bound for all that was measured in the ranges. What is beyond half an ulp is within `abs` in the first ones
 * and within `growth` * |p| in the others; the number of the first ones is that with the smallest bound, on average of
 * the ranges, by its logarithm.
 */
static posenc_bound fitted(const measured *m, int ranges) {
  const int64_t end = ranges < ACCURACY_RANGES ? accuracy_range_begin(ranges) - 1 : INT64_MAX;
  posenc_bound best = {.ulp = margin * 0.5, .max_position = least(end, m->reach)};
  double least_sum = INFINITY;
  for (int first = 1; first <= ranges; first++) {
    posenc_bound one = best;
    double sum = 0.0;
    one.abs = one.growth = 0.0;
    for (int r = 0; r < ranges; r++)
      if (r < first)
        one.abs = fmax(one.abs, m->rest[r].most);
      else
        one.growth = fmax(one.growth, m->rest[r].per_position);
    one.abs = rounded_up(margin * one.abs);
    one.growth = rounded_up(margin * one.growth);
    for (int r = 0; r < ranges; r++) sum += log2(posenc_bound_at(&one, m->finest, accuracy_range_begin(r)));
    if (!(sum < least_sum)) continue;
    least_sum = sum;
    best = one;
  }
  return best;
}

/* Ends the domain of a bound where it would allow any value. */
static void end_domain(posenc_bound *bound, posenc_dtype dtype) {
  while (bound->max_position && !(posenc_bound_at(bound, dtype, bound->max_position) < 1.0)) bound->max_position /= 2;
}

/* Writes why there is no bound to propose; nothing if there is one. */
static void tell_why(const measured *m, const posenc_bound *bound, char *why, size_t size) {
  *why = '\0';
  if (!m->is_whole)
    snprintf(why, size, "its process ended before all was measured; max_position in its contract ends the search");
  else if (!m->elements)
    snprintf(why, size, "no element was measured");
  else if (isinf(m->rest[0].most))
    snprintf(why, size, "values near position 0 are infinite, or no numbers");
  else if (m->rest[0].most >= 1.0)
    snprintf(why, size, "its errors near position 0 are as large as the values");
  else if (m->reach == 0)
    snprintf(why, size, "position 0 alone was measured");
  else if (bound->max_position < m->farthest)
    snprintf(why, size, "it would allow any value from position %" PRId64 " on, and rows of the table are at %" PRId64,
             bound->max_position + 1, m->farthest);
}

record_proposal propose_bound(const record_accuracy *record, posenc_kernel *kernel, uint64_t seed, record_memory *in) {
  measured m = {.is_whole = true, .finest = POSENC_BF16};
  char why[200];
  RECORD_EACH(result, record, records)
    if (strcmp(result->kernel, kernel->name) == 0) add_result(&m, result);
  posenc_bound bound = fitted(&m, ranges_of(&m));
  end_domain(&bound, m.finest);
  tell_why(&m, &bound, why, sizeof why);
  if (*why) return (record_proposal){.kernel = kernel->name, .why = record_format(in, "%s", why)};
  kernel->bound = bound;
  return (record_proposal){
      .kernel = kernel->name,
      .bound = bound_record(&bound),
      .contract = record_format(
          in, ".bound = {.ulp = %.1f, .abs = %.2g, .growth = %.2g, .max_position = %" PRId64 ", .derived = false},",
          bound.ulp, bound.abs, bound.growth, bound.max_position),
      .basis = record_format(
          in,
          "measured by posenc verify --propose-bound, not derived: twice the errors up to position %" PRId64
          "; %" PRId64 " elements of %s up to position %" PRId64 " were looked at, seed %" PRIu64,
          bound.max_position, m.elements, m.dtypes, m.reach, seed),
      .elements = m.elements};
}
