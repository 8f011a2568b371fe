/* SPDX-License-Identifier: MIT */
#include "reference/accuracy.h"

#include <math.h>

double accuracy_bin_end(int bin) {
  return bin + 1 < ACCURACY_BINS ? ldexp(1.0, bin + ACCURACY_FIRST_EXPONENT) : INFINITY;
}

static int bin_of(double ulp) {
  int exponent;
  if (!isfinite(ulp)) return ACCURACY_BINS - 1;
  if (ulp == 0.0) return 0;
  frexp(ulp, &exponent); /* ulp < 2^exponent */
  const int bin = exponent - ACCURACY_FIRST_EXPONENT;
  return bin < 0 ? 0 : bin < ACCURACY_BINS ? bin : ACCURACY_BINS - 1;
}

/* What the bound allows for this element, in absolute terms. */
static double allowed(const posenc_bound *bound, double ulp, int64_t position) {
  const double distance = position < 0 ? -(double)position : (double)position;
  return bound->ulp * ulp + bound->abs + bound->growth * distance;
}

void accuracy_add(accuracy *a, const format *f, const posenc_bound *bound, const exact *value, double got,
                  int64_t position, int64_t index, bool cosine) {
  const double unit = format_ulp(f, value), difference = exact_error(value, got);
  const double abs_error = isfinite(got) ? difference : INFINITY, ulp_error = abs_error / unit;
  const witness here = {ulp_error, abs_error, position, index, cosine, value->high, value->low, got};

  if (a->elements == 0 || ulp_error > a->max_ulp.ulp) a->max_ulp = here;
  if (a->elements == 0 || abs_error > a->max_abs.abs) a->max_abs = here;
  a->elements++;
  a->sum_ulp += ulp_error;
  a->sum_abs += abs_error;
  a->bins[bin_of(ulp_error)]++;
  /* Encodings, not values: -0 is not 0. */
  if (!(got == value->rounded && signbit(got) == signbit(value->rounded))) a->misrounded++;
  if (bound) {
    a->held++;
    const double limit = allowed(bound, unit, position);
    const double share = abs_error == 0.0 ? 0.0 : limit > 0.0 ? abs_error / limit : INFINITY;
    if (share > a->worst_share) {
      a->worst_share = share;
      a->worst = here;
    }
    if (!(abs_error <= limit)) a->beyond++;
  }
}
