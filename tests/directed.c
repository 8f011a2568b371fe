/* SPDX-License-Identifier: MIT */
/* Tests parts of verification: a table's bound from its kernel's contract, and the positions of the directed search. */
#include "reference/oracle.h"
#include "tests/kernel.h"
#include "tests/tap.h"
#include "verify/checks.h"

#include <stdlib.h>

static const posenc_kernel *good;

/* The positions that a search computes. */
static int64_t computed[4000];
static int calls;
static EXECUTE(note_position) {
  if (calls < 4000) computed[calls++] = problem->first + row;
  good->execute(constants, problem, row, rows, out);
}

/* Tests steps by multiples of a return that is too large to be the distance of two samples by chance. */
static void test_steps(void) {
  enum { EVALUATIONS = 4000, MULTIPLES = 64 };
  const posenc_problem problem = posenc_table(64, 2);
  posenc_kernel kernel = *good;
  kernel.execute = note_position;
  const shape of = shape_of(&problem);
  const posenc_options options = posenc_default_options();
  subject s;
  searched found;
  uint64_t random = 1;
  arena *room = arena_create(4096);
  calls = 0;
  const bool searching = !subject_open(&s, &kernel, &of, &options);
  if (searching) subject_search(&s, EVALUATIONS, room, &random, &found);
  int64_t returns[ORACLE_RETURNS];
  oracle *o = oracle_create(&problem);
  const size_t count = oracle_returns(o, 0, SEARCH_REACH, returns);
  int forwards = 0, backwards = 0;
  for (int n = 1; n < calls; n++)
    for (size_t i = 0; i < count; i++) {
      const int64_t moved = computed[n] - computed[n - 1];
      if (returns[i] < 1 << 16 || moved % returns[i] || llabs(moved) > MULTIPLES * returns[i]) continue;
      forwards += moved > 0;
      backwards += moved < 0;
      break;
    }
  ok(searching && calls == EVALUATIONS && forwards > 0 && backwards > 0,
     "%d steps by returns forwards and %d backwards, in %d calls", forwards, backwards, calls);
  oracle_destroy(o);
  arena_destroy(room);
  subject_close(&s);
}

/* Tests bounds: a contract has positions in units of 1/scale; an attention factor multiplies values and errors. */
static void test_bounds(void) {
  const posenc_options options = posenc_default_options();
  posenc_problem problem = posenc_table(8, 8);
  posenc_kernel kernel = *good;
  subject s;
  kernel.bound = (posenc_bound){.ulp = 0.5, .abs = 0x1p-45, .growth = 0x1p-30, .max_position = 1000, .derived = true};
  problem.scale = 0.25;
  shape of = shape_of(&problem);
  const char *why = subject_open(&s, &kernel, &of, &options);
  ok(!why && s.bound.growth == 0x1p-32 && s.bound.max_position == 4000 && s.bound.abs == 0x1p-45 && s.bound.ulp == 0.5,
     "at a quarter of the scale the bound grows a quarter as fast and holds four times as far");
  subject_close(&s);
  problem.scaling.attention = 1.5;
  of = shape_of(&problem);
  why = subject_open(&s, &kernel, &of, &options);
  ok(!why && s.bound.ulp == 0.5 && s.bound.growth == 1.5 * 0x1p-32 &&
         s.bound.abs >= 1.5 * (0x1p-45 + 0.5 * 0x1p-53 + 0x1p-51) && s.bound.abs <= 1.5 * (0x1p-45 + 0x1p-50),
     "with an attention factor of 1.5 a table of f64 is multiplied, with its errors, and rounded: %a", s.bound.abs);
  subject_close(&s);
}

int main(void) {
  good = posenc_kernel_find("rotation-portable");
  test_bounds();
  test_steps();
  mpfr_free_cache();
  return tap_done();
}
