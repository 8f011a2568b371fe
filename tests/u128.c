/* SPDX-License-Identifier: MIT */
/* Tests 128-bit integers made of two words against the compiler's own. */
#define POSENC_U128_WORDS
#include "lib/exact/fixed.h"
#include "tests/numbers.h"
#include "tests/tap.h"

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 whole;

static whole whole_of(u128 a) {
  return (whole)u128_high(a) << 64 | u128_low(a);
}

/* Returns numbers of every length, and those where carries begin: 0, 1, 2^32 - 1 and 2^64 - 1. */
static uint64_t word(void) {
  static const uint64_t edges[] = {0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
  const uint64_t bits = random_bits(), kind = random_bits() % 16;
  return kind < sizeof edges / sizeof *edges ? edges[kind] : bits >> random_bits() % 64;
}

enum { ADD, SUBTRACT, PRODUCT, TIMES, NEGATIVE, LEFT, RIGHT, LESS, OVER, DOUBLE, OPERATIONS };
static const char *const names[OPERATIONS] = {"sums",   "differences",  "products",    "lower products", "negatives",
                                              "shifts", "right shifts", "comparisons", "quotients",      "doubles"};

static void compare(u128 a, u128 b, int wrong[OPERATIONS]) {
  const whole x = whole_of(a), y = whole_of(b);
  const uint64_t factor = u128_low(b), divisor = factor > u128_high(a) ? factor : UINT64_MAX;
  const int bits = (int)(random_bits() % 128);
  wrong[ADD] += whole_of(u128_add(a, b)) != x + y;
  wrong[SUBTRACT] += whole_of(u128_subtract(a, b)) != x - y;
  wrong[PRODUCT] += whole_of(u128_product(u128_low(a), factor)) != (whole)u128_low(a) * factor;
  wrong[TIMES] += whole_of(u128_times(a, factor)) != x * factor;
  wrong[NEGATIVE] += whole_of(u128_negative(a)) != -x;
  wrong[LEFT] += whole_of(u128_left(a, bits)) != x << bits;
  wrong[RIGHT] += whole_of(u128_right(a, bits)) != x >> bits;
  wrong[LESS] += u128_is_less(a, b) != (x < y) || u128_is_less(a, a);
  if (u128_high(a) < divisor) wrong[OVER] += u128_over(a, divisor) != (uint64_t)(x / divisor);
  const u128 few = u128_left(u128_of(0, u128_low(a) >> 11), bits);
  wrong[DOUBLE] += u128_double(few) != (double)whole_of(few);
}

int main(void) {
  enum { TRIES = 1 << 20 };
  int wrong[OPERATIONS] = {0};
  for (int n = 0; n < TRIES; n++) {
    const u128 a = u128_of(word(), word()), b = u128_of(word(), word());
    compare(a, b, wrong);
  }
  for (int i = 0; i < OPERATIONS; i++) ok(wrong[i] == 0, "%s: %d of %d differ", names[i], wrong[i], TRIES);
  const u128 constant = U128(0x0123456789abcdef, 0xfedcba9876543210);
  ok(u128_high(constant) == UINT64_C(0x0123456789abcdef) && u128_low(constant) == UINT64_C(0xfedcba9876543210),
     "a constant has its high word first");
  return tap_done();
}

#else
int main(void) {
  printf("1..0 # SKIP the compiler has no integers of 128 bits\n");
  return 0;
}
#endif
