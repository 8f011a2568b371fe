/* SPDX-License-Identifier: MIT */
#include "identify/plain.h"

#include <math.h>

plain_number plainest(double x, double error) {
  enum { DIGITS = 17 };
  char text[32];
  for (int digits = 1; digits < DIGITS; digits++) {
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    const double plain = strtod(text, NULL);
    if (plain > 0.0 && fabs(log(plain / x)) <= error) return (plain_number){plain, error, digits};
  }
  return (plain_number){x, error, DIGITS};
}

plain_number plainest_part(double x, double error) {
  const plain_number plain = plainest(x, error), inverse = plainest(1.0 / x, error);
  return inverse.digits >= plain.digits ? plain : (plain_number){1.0 / inverse.value, error, inverse.digits};
}

number_text number_within(double x, double error) {
  enum { MOST = 15 };
  const double digits = error > 0.0 ? fmin(MOST, fmax(1.0, floor(-log10(error)))) : MOST;
  number_text n;
  if (fabs(x) < 1e15 && fabs(x - rint(x)) <= 0.0)
    snprintf(n.text, sizeof n.text, "%.0f", x);
  else
    snprintf(n.text, sizeof n.text, "%.*g", (int)digits, x);
  return n;
}
