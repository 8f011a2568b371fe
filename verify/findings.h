/* SPDX-License-Identifier: MIT */
/* Findings about a kernel: the properties that it must have, what the checks of each have found, and the bounds of
   checks that follow from the contract. */
#ifndef POSENC_VERIFY_FINDINGS_H
#define POSENC_VERIFY_FINDINGS_H

#include "posenc.h"
#include "reference/accuracy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- properties ------------------------------------------------------------------------------------------ */

/* The properties listed in verify/properties.def, and the findings about one of them. */

#define PROPERTY(id, name, subjects, what) id,
typedef enum property {
#include "verify/properties.def"
  PROPERTIES
} property;
#undef PROPERTY

/* Subjects of properties: bits of posenc_op for kernels, and three more. */
enum {
  ADD = 1 << POSENC_ADD,
  ROPE = 1 << POSENC_ROPE,
  CACHE = 1 << POSENC_ROPE_CACHE,
  TABLES = 1 << POSENC_TABLE | CACHE,
  APPLIED = ADD | ROPE,
  KERNELS = TABLES | APPLIED,
  FILES = 1 << 8,
  RESULTS = 1 << 9, /* results of add and rope in files */
  ENCODINGS = 1 << 10
};

const char *property_name(property p);
unsigned property_subjects(property p);
const char *property_text(property p);

/* Whether a property is about problems and calls other than those of the shape (stress.h). */
bool property_is_beside(property p);

/* ---- bounds that follow from the bound of an element ---------------------------------------------------------- */

/*
 * Both elements of a pair are within e of a sin x and a cos x, where a is the attention factor. Slacks are for the
 * double arithmetic of the checks, whose unit roundoff is 2^-53.
 */

/* Returns the bound of |s² + c² - a²|: at most 2 a (|sin| + |cos|) e + 2 e² <= 2√2 a e + 2 e². Slack: the two squares,
   their sum, a² and the difference have four roundings of at most a² + a²/2 together, less than 2^-51 a²; 2^-50 a²
   leaves room for e. */
double allowed_norm(double attention, double e);

/* Returns the bound of the difference between row p + k and row p rotated by k, whose elements are within e_to and
   e_from: e_to + (|sin| + |cos|) e_from, for sine and cosine of that rotation. Slack: sine and cosine are known to
   2^-53, divided by a, and multiplied, and the sum is rounded: four roundings, relative to at most |s sin| + |c cos| <=
   a, in all 2^-51 a; 2^-50 a leaves room for e. */
double allowed_rotation(double attention, double e_from, double e_to, double sine, double cosine);

/* ---- findings --------------------------------------------------------------------------------------------- */

typedef struct check {
  int64_t compared; /* number of elements */
  int64_t broken;   /* number of these beyond the bound */
  double worst;     /* the deviation with the largest share of its bound; the largest if all are 0 */
  double bound;     /* the bound of `worst` */
  double share;     /* worst / bound */
  int64_t position; /* position of `worst` */
  int64_t index;    /* its frequency index; -1 if it has no single one */
  const char *skip; /* the reason why nothing could be compared, or null */
  char note[400];   /* a further explanation, or empty */
} check;

bool check_ok(const check *c);

/* Adds the deviation of one element, or of several with their largest deviation. index -1: no single frequency. */
void check_note(check *c, double deviation, double bound, int64_t position, int64_t index);
void check_note_all(check *c, int64_t elements, double deviation, double bound, int64_t position);

/* Adds the findings of another check of the same property. */
void check_merge(check *into, const check *from);

/* Adds all elements that were compared with the bound. The deviation is the ratio of error and bound, and the bound is
   1. */
void check_bound(check *c, const accuracy *found);

/* Compares elements of rows, of a table or of add and rope, that must have the same bits, and adds the result. */
void check_bits(check *c, const posenc_problem *problem, const unsigned char *a, const unsigned char *b,
                int64_t position, int64_t rows);

/* Continues a digest with `count` bytes, which must be whole elements of `element` bytes. It is the same in each byte
   order. */
#define DIGEST_START UINT64_C(14695981039346656037)
uint64_t digest_of(uint64_t digest, const unsigned char *bytes, size_t count, size_t element);

/* The number of elements and of bytes of a row of a table, also of one of the two of a rope cache, unlike
   row_elements_of; or of x. */
static inline int64_t row_width(const posenc_problem *problem) {
  return problem->heads * problem->dim;
}

static inline size_t row_bytes(const posenc_problem *problem) {
  return (size_t)row_width(problem) * posenc_dtype_bytes(problem->dtype);
}

#endif
