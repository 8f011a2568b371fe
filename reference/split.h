/* SPDX-License-Identifier: MIT */
/*
 * Attribution of errors to stages. f is sine or cosine, p the position, w the exact frequency; F, P and T are the
 * frequency, phase and value in the kernel's stages; G is the element of the table. The error is
 *
 *     G - f(p w) = [f(p F) - f(p w)] + [f(P) - f(p F)] + [T - f(P)] + [G - T]
 *                       frequency           phase           trig       store
 */
#ifndef POSENC_REFERENCE_SPLIT_H
#define POSENC_REFERENCE_SPLIT_H

#include "posenc.h"
#include "reference/oracle.h"

/* The signed parts of an error. Each has an error below 2^-52 of itself or 2^-190. NaN if a stage is not a number. */
typedef struct split_parts {
  double frequency, phase, trig, store;
} split_parts;

typedef struct split_pair {
  split_parts sine, cosine;
} split_pair;

/* A pair of a table, with its kernel's stages. */
typedef struct split_case {
  place at; /* not in the padding row */
  posenc_stages stages;
  double sine, cosine;
} split_case;

/* Computes the parts of `count` pairs of the reference's problem, on all cores; each takes about 30 µs. */
void split_errors(const oracle *o, const split_case *cases, size_t count, split_pair *pairs);

#endif
