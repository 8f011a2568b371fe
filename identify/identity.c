/* SPDX-License-Identifier: MIT */
#include "identify/identity.h"

#include <math.h>

/* Returns the number of rows before the position of row 0 comes again, if all rows are repeated with that period; else
   0. */
static int64_t period_of(const identity *found) {
  int64_t period = 1;
  if (!found->positions) return 0;
  while (period < found->judged && !(fabs(found->positions[period] - found->positions[0]) <= 0.0)) period++;
  for (int64_t r = period; r < found->judged; r++)
    if (!(fabs(found->positions[r] - found->positions[r - period]) <= 0.0)) return 0;
  return period < found->judged ? period : 0;
}

identity_order identity_order_of(const identity *found, int64_t *period) {
  *period = period_of(found);
  if (*period > 1) return IDENTITY_REPEATED;
  if (found->positions || found->how.step > 0) return IDENTITY_ORDERED;
  return found->how.start.first <= 0.0 ? IDENTITY_NEGATED : IDENTITY_REVERSED;
}

bool identity_is_table(const identity *found) {
  int64_t period;
  return found->verdict == IDENTIFY_TABLE && identity_order_of(found, &period) == IDENTITY_ORDERED &&
         !found->not_finite && !(identity_inverse_base(found) > 0.0);
}

double identity_max_of_most(const identity *found) {
  return identify_has_outliers(&found->matches[0]) ? found->matches[0].within : found->max_abs;
}

bool identity_is_truncated(const identity *found) {
  const bool is_short = found->held == POSENC_F16 || found->held == POSENC_BF16;
  return is_short && found->beyond * 100 <= found->elements &&
         identity_max_of_most(found) > 1.5 * found->max_if_exact && number_is_one(found->how.amplitude);
}

double identity_inverse_base(const identity *found) {
  const plain_number inverse = plainest(1.0 / found->how.formula.base, 1e-9);
  return found->how.formula.base < 1.0 && inverse.digits <= FORMULA_USUAL ? inverse.value : 0.0;
}

posenc_dtype identity_arithmetic(const identity *found) {
  const double far = fabs(found->worst_position) * found->how.formula.scale + 1.0;
  const double doubles = ldexp(far * fabs(found->how.amplitude), -48);
  return identity_max_of_most(found) <= found->max_if_exact + doubles ? POSENC_F64 : POSENC_F32;
}

const char *identity_odd(const identity *found) {
  const columns *at = &found->how.columns;
  if (at->part == COLUMNS_BOTH && at->dim % 2) return "ceil";
  return found->dim % 2 && at->dim != found->dim ? "pad" : NULL;
}

double identity_shift(const identity *found, const formula *f) {
  const columns *at = &found->how.columns;
  return f->shift - (at->part == COLUMNS_BOTH && at->dim % 2 ? 0.5 : 0.0);
}
