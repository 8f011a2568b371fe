/* SPDX-License-Identifier: MIT */
/* The tables of families.def, for programs that make, list or test certificates. */
#ifndef POSENC_IMPLS_CR_FAMILIES_H
#define POSENC_IMPLS_CR_FAMILIES_H

#include "posenc.h"

#define FAMILY(b, d, s, by, ...) {.base = (b), .dim = (d), .shift = (s), .scale = (by), .scaling = {__VA_ARGS__}},
static const posenc_problem families[] = {
#include "impls/cr/families.def"
};
#undef FAMILY
enum { FAMILIES = sizeof families / sizeof *families };

/* Returns the problem of family n with `rows` rows, in f32, interleaved. */
static inline posenc_problem family_problem(int n, int64_t rows) {
  posenc_problem problem = posenc_table(rows, families[n].dim);
  problem.base = families[n].base;
  problem.shift = families[n].shift;
  problem.scale = families[n].scale;
  problem.scaling = families[n].scaling;
  return problem;
}

#endif
