/* SPDX-License-Identifier: MIT */
/* Checks of one kernel on the rows of one table. Every bound follows from the kernel's contract. */
#ifndef POSENC_VERIFY_CHECKS_H
#define POSENC_VERIFY_CHECKS_H

#include "reference/fast.h"
#include "verify/subject.h"

/* Checks accuracy, memory, boundedness, pair norm and environment of a window; with `again`, also determinism and
   extension, in `other`. */
void subject_check_window(subject *s, window w, fast_oracle *reference, arena *whole, arena *other, bool again,
                          uint64_t *random);

/* Boundedness and pair norm of at most ROWS_OF_CHECKS rows, and the digest of each. The table's digest is one of these
   digests, so threads can make them in parallel. Findings are added in the order of the rows. */
enum { ROWS_OF_CHECKS = 64 };
typedef struct row_checks {
  check bounded, pair_norm;
} row_checks;
void subject_check_each(const subject *s, window w, const unsigned char *out, row_checks *found, uint64_t *digests);
void subject_take_each(subject *s, const row_checks *found, const uint64_t *digests, int64_t rows);

/* Checks rotation and extrapolation at places drawn from `random`. Returns false if memory runs out. */
bool subject_check_relations(subject *s, fast_oracle *reference, arena *one, arena *other, uint64_t *random);

/* The largest |sin|, |cos| and |sin² + cos² - square| of a row of the problem's table; both infinite if an element is
   NaN. */
typedef struct row_norms {
  double value, norm;
} row_norms;
row_norms row_norms_of(const unsigned char *row, const posenc_problem *problem, posenc_columns at, double square);

/* ROTATION: compares row `to`, at `position`, with row `from` rotated by the exact pairs `by`, which include the
   attention factor. e: the allowed error of any element of either row. */
typedef struct turned_row {
  const posenc_problem *problem;
  double attention;
  const fast_pair *by;
  const unsigned char *from, *to;
  double e_from, e_to;
  int64_t position;
} turned_row;
void check_turn(check *c, const turned_row *r);

#endif
