/* SPDX-License-Identifier: MIT */
/*
 * Hard-to-round cases: of a table's elements those nearest to a tie, the middle between two neighbouring numbers of its
 * format. They are kept as text, one file a table:
 *
 *     # provenance, in lines of comment
 *     base 10000
 *     dim 128
 *     dtype f16                    or bf16; f32 where there is none
 *     positions 1048576            of the table: 0 .. 1048575
 *     cases 100
 *     731206 17 sin 0x1.5bf0a8p-1 0x1.5bf0a8p-1 3.1e-08
 *
 * A case is position, frequency index, function, the exact value rounded to double, the exact value rounded to the
 * format, and its distance from the tie in ulp of it. Nearest first. Position 0 is exact, and no case.
 */
#ifndef POSENC_REFERENCE_WORST_H
#define POSENC_REFERENCE_WORST_H

#include "reference/oracle.h"

#include <stdio.h>

typedef struct worst_case {
  int64_t position, index;
  bool cosine;
  double exact, rounded; /* the exact value rounded to double, and to the table's format */
  double distance;       /* from the tie, in ulp */
  int line;              /* of the file that it was read from */
} worst_case;

typedef struct worst_cases {
  posenc_problem problem; /* the paper's table, but for rows, dim, base and dtype */
  size_t count;
  worst_case *cases;
} worst_cases;

void worst_free(worst_cases *w);

/* The name of f32, f16 or bf16, and the dtype of a name: false if it is another. */
const char *worst_dtype_name(posenc_dtype dtype);
bool worst_dtype(const char *name, posenc_dtype *dtype);

/*
 * Looks at every element of the table, which is the paper's but for rows, dim, base and dtype (f32, f16 or bf16), and
 * takes the `count` nearest to a tie; fewer where not so many are within a quarter of an ulp. 1 to 4 ns an element and
 * thread. The caller frees `w`. False when memory runs out.
 */
bool worst_scan(const posenc_problem *problem, size_t count, worst_cases *w);

/* Writes the file; `command` is told as what makes it again. */
void worst_write(const worst_cases *w, const char *command, FILE *stream);

/* Reads a file. The caller frees `w`. Null, or what is wrong with it: "line 12: …", written into `fault`. */
const char *worst_read(FILE *stream, worst_cases *w, char *fault, size_t size);

/* The first case whose rounding, value or distance is not MPFR's; null if there is none. */
const worst_case *worst_refuted(const worst_cases *w, const oracle *reference);

#endif
