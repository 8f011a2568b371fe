/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/findings.h"

#include <math.h>
#include <string.h>

/* ---- properties ------------------------------------------------------------------------------------------ */

#define PROPERTY(id, called, held, text) [id] = {called, held, text},
static const struct {
  const char *name;
  unsigned subjects;
  const char *text;
} properties[PROPERTIES] = {
#include "verify/properties.def"
};
#undef PROPERTY

const char *property_name(property p) {
  return properties[p].name;
}

unsigned property_subjects(property p) {
  return properties[p].subjects;
}

const char *property_text(property p) {
  return properties[p].text;
}

bool property_is_beside(property p) {
  return p >= FAR_POSITIONS && p <= LEAK;
}

/* ---- bounds that follow from the bound of an element ---------------------------------------------------------- */

double allowed_norm(double attention, double e) {
  return 2.0 * sqrt(2.0) * attention * e + 2.0 * e * e + 0x1p-50 * attention * attention;
}

double allowed_rotation(double attention, double e_from, double e_to, double sine, double cosine) {
  return e_to + (fabs(sine) + fabs(cosine)) * e_from + 0x1p-50 * attention;
}

/* ---- findings ------------------------------------------------------------------------------------------------ */

bool check_ok(const check *c) {
  return c->skip || c->broken == 0;
}

/* Whether the deviation is a larger share of its bound than the worst so far or, if both shares are 0, larger. */
static bool is_worse(double share, double deviation, const check *c) {
  return c->compared == 0 || share > c->share || (share == 0.0 && c->share == 0.0 && deviation > c->worst);
}

void check_note(check *c, double deviation, double bound, int64_t position, int64_t index) {
  double share = bound > 0.0 && !isnan(deviation) ? deviation / bound : INFINITY;
  if (deviation == 0.0 || isinf(bound)) share = 0.0;
  if (!(deviation <= bound)) c->broken++;
  if (is_worse(share, deviation, c)) {
    c->worst = deviation;
    c->bound = bound;
    c->share = share;
    c->position = position;
    c->index = index;
  }
  c->compared++;
}

void check_note_all(check *c, int64_t elements, double deviation, double bound, int64_t position) {
  check_note(c, deviation, bound, position, -1);
  c->compared += elements - 1;
}

void check_merge(check *into, const check *from) {
  if (from->compared > 0 && is_worse(from->share, from->worst, into)) {
    into->worst = from->worst;
    into->bound = from->bound;
    into->share = from->share;
    into->position = from->position;
    into->index = from->index;
  }
  into->compared += from->compared;
  into->broken += from->broken;
}

void check_bound(check *c, const accuracy *found) {
  c->compared = found->held;
  c->broken = found->beyond;
  c->worst = c->share = found->worst_share;
  c->bound = 1.0;
  c->position = found->worst.position;
  c->index = found->worst.index;
}

/* Compares rows first, as they hardly ever differ. A difference counts as a deviation of 1 where 0 is allowed. */
void check_bits(check *c, const posenc_problem *problem, const unsigned char *a, const unsigned char *b,
                int64_t position, int64_t rows) {
  const size_t element = posenc_dtype_bytes(problem->dtype), bytes = row_bytes(problem);
  for (int64_t r = 0; r < rows; r++, a += bytes, b += bytes) {
    if (memcmp(a, b, bytes) == 0) {
      check_note_all(c, row_width(problem), 0.0, 0.0, position + r);
      continue;
    }
    for (size_t at = 0; at < bytes; at += element)
      check_note(c, memcmp(a + at, b + at, element) ? 1.0 : 0.0, 0.0, position + r, -1);
  }
}

/* Continues an FNV-1a digest. The word has the bytes of its elements, least significant first, on every machine. */
static inline uint64_t digest_word(uint64_t digest, const unsigned char *bytes, size_t count, size_t element) {
  uint64_t word = 0;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (size_t i = 0; i < count; i++) word |= (uint64_t)bytes[i ^ (element - 1)] << 8 * i;
#else
  (void)element;
  memcpy(&word, bytes, count);
#endif
  digest = (digest ^ word) * UINT64_C(1099511628211);
  return digest ^ digest >> 32; /* otherwise high bits of a word would not affect low ones */
}

uint64_t digest_of(uint64_t digest, const unsigned char *bytes, size_t count, size_t element) {
  for (; count >= 8; bytes += 8, count -= 8) digest = digest_word(digest, bytes, 8, element);
  return count ? digest_word(digest, bytes, count, element) : digest;
}
