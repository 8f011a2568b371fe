/* SPDX-License-Identifier: MIT */
#include "identify/plain.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

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
  enum { OF_PI = 2 };
  const plain_number inverse = plainest(1.0 / x, error), turns = plainest(x / pi, error),
                     of_pi = plainest(pi / x, error);
  plain_number best = plainest(x, error);
  if (inverse.digits < best.digits) best = (plain_number){1.0 / inverse.value, error, inverse.digits};
  if (turns.digits + OF_PI < best.digits) best = (plain_number){turns.value * pi, error, turns.digits + OF_PI};
  if (of_pi.digits + OF_PI < best.digits) best = (plain_number){pi / of_pi.value, error, of_pi.digits + OF_PI};
  return best;
}

number_text number_within(double x, double error) {
  const double exact = 1e-15;
  number_text n;
  if (fabs(x) < 1e15 && fabs(x - rint(x)) <= 0.0)
    snprintf(n.text, sizeof n.text, "%.0f", x);
  else
    snprintf(n.text, sizeof n.text, "%.*g", plainest(fabs(x), error > 0.0 ? error : exact).digits, x);
  return n;
}
