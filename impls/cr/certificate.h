/* SPDX-License-Identifier: MIT */
/*
 * Certificates of tables. The fast path of the correctly rounded kernels (cr.h) misrounds about one element in 10^7;
 * with a fused multiply-add it has the same bits on every processor. For the tables of families.def, from position 0 to
 * CERTIFIED_POSITIONS, tools/certify.c computes every element with the rounding test and without it, and lists those
 * that differ. A kernel makes such a table without the test, and recomputes the listed elements.
 */
#ifndef POSENC_IMPLS_CR_CERTIFICATE_H
#define POSENC_IMPLS_CR_CERTIFICATE_H

#include <stdbool.h>
#include <stdint.h>

enum { CERTIFIED_POSITIONS = 1 << 20, CERTIFIED_PAIRS = 1 << 11 };

/* The elements of a table that the fast path misrounds, sorted; null if the table has no certificate. */
typedef struct certificate {
  const uint32_t *misrounded;
  int64_t count;
} certificate;

/* Packs a position, a frequency index, and whether the element is the cosine. */
static inline uint32_t certificate_entry(int64_t position, int64_t index, bool cosine) {
  return (uint32_t)(position << 12 | index << 1 | cosine);
}
static inline int64_t certificate_position(uint32_t entry) {
  return entry >> 12;
}
static inline int64_t certificate_index(uint32_t entry) {
  return (entry >> 1) & (CERTIFIED_PAIRS - 1);
}
static inline bool certificate_cosine(uint32_t entry) {
  return entry & 1;
}

/* Returns the certificate of a plan whose constants have this digest (cr_digest); static storage. */
certificate certificate_find(uint64_t digest);

#endif
