/* SPDX-License-Identifier: MIT */
/*
 * Where an error comes from. With f sine or cosine, p the position, w the exact frequency; frequency F, phase P and
 * value T as the kernel's stages tell them, and G what is in the table, the error is
 *
 *     G - f(p w) = [f(p F) - f(p w)] + [f(P) - f(p F)] + [T - f(P)] + [G - T]
 *                       frequency           phase           trig       store
 */
#ifndef POSENC_REFERENCE_SPLIT_H
#define POSENC_REFERENCE_SPLIT_H

#include "posenc.h"
#include "reference/oracle.h"

/* Signed; each within 2^-52 of itself and 2^-190. Of stages that are no numbers they are NaN. */
typedef struct split_parts {
  double frequency, phase, trig, store;
} split_parts;

typedef struct split_pair {
  split_parts sine, cosine;
} split_pair;

/* A pair of a table, and how its kernel says that it was made. */
typedef struct split_case {
  place at; /* not in the padding row */
  posenc_stages stages;
  double sine, cosine;
} split_case;

/* The parts of `count` pairs of the oracle's problem, on all cores; some 30 µs each. */
void split_errors(const oracle *o, const split_case *cases, size_t count, split_pair *pairs);

#endif
