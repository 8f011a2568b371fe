/* SPDX-License-Identifier: MIT */
/*
 * Tables whose every rounding is known. The fast path of the correctly rounded kernels (cr.h) misrounds about one
 * element in 10^7, and with a fused multiply-add it has the same bits on every processor. For the tables of
 * families.def, from position 0 to CERTIFIED_POSITIONS, every element was computed with the rounding test and without
 * it, and those that differ are listed (tools/certify.c). A kernel makes such a table without the test, and computes
 * the listed elements again.
 */
#ifndef POSENC_IMPLS_CR_CERTIFICATE_H
#define POSENC_IMPLS_CR_CERTIFICATE_H

#include <stdbool.h>
#include <stdint.h>

enum { CERTIFIED_POSITIONS = 1 << 20, CERTIFIED_PAIRS = 1 << 11 };

/* The elements of a table that the fast path misrounds, sorted; null if they are not known. */
typedef struct certificate {
  const uint32_t *misrounded;
  int64_t count;
} certificate;

/* An entry: its position, its frequency index, and whether it is the cosine. */
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

/* The certificate of a plan whose constants have this digest (cr_digest). */
certificate certificate_find(uint64_t digest);

#endif
