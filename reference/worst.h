/* SPDX-License-Identifier: MIT */
/*
 * Hard-to-round cases: the elements of a table that are nearest to a midpoint of its format. Each table has a text
 * file:
 *
 *     # provenance, in lines of comment
 *     base 10000
 *     dim 128
 *     dtype f16                    or bf16; without this line, f32
 *     positions 1048576            of the table: 0 .. 1048575
 *     cases 100
 *     731206 17 sin 0x1.5bf0a8p-1 0x1.5bf0a8p-1 3.1e-08
 *
 * A case consists of position, frequency index, function, the exact value rounded to double, the exact value rounded to
 * the format, and its distance from the midpoint in ulp of the format. The nearest case is first. Position 0 is exact
 * and has no case.
 */
#ifndef POSENC_REFERENCE_WORST_H
#define POSENC_REFERENCE_WORST_H

#include "reference/oracle.h"

#include <stdio.h>

typedef struct worst_case {
  int64_t position, index;
  bool cosine;
  double exact, rounded; /* the exact value rounded to double, and to the table's format */
  double distance;       /* from the midpoint, in ulp */
  int line;              /* in the file it was read from */
} worst_case;

typedef struct worst_cases {
  posenc_problem problem; /* the paper's table, except for rows, dim, base and dtype */
  size_t count;
  worst_case *cases;
} worst_cases;

void worst_free(worst_cases *w);

/* The name of f32, f16 or bf16; and the dtype of a name, false if it is another name. */
const char *worst_dtype_name(posenc_dtype dtype);
bool worst_dtype(const char *name, posenc_dtype *dtype);

/*
 * Finds the `count` elements of a table that are nearest to a midpoint, or fewer if not so many are within a quarter of
 * an ulp. The table is the paper's except for rows, dim, base and dtype (f32, f16 or bf16). Every element is checked,
 * in 1 to 4 ns per element and thread. The caller frees `w`. Returns false if memory runs out.
 */
bool worst_scan(const posenc_problem *problem, size_t count, worst_cases *w);

/* Writes the file; `command` is named in it as the command that makes it. */
void worst_write(const worst_cases *w, const char *command, FILE *stream);

/* Reads a file. The caller frees `w`. Returns null, or the fault, such as "line 12: …", written into `fault`. */
const char *worst_read(FILE *stream, worst_cases *w, char *fault, size_t size);

/* Returns the first case whose rounding, value or distance differs from MPFR's; null if there is none. */
const worst_case *worst_refuted(const worst_cases *w, const oracle *reference);

#endif
