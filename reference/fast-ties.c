/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reference/fast-oracle.h"

#include <math.h>

enum { REST_BITS = 53 - 24 }; /* bits of a double that f32 has not */

/* Sign set: the high part is at most `within` units of 2^-REST_BITS ulp from the middle between two f32 numbers, or
   below `tiny`. */
INLINE uint64_t near_tie(double high, double tiny, int64_t within) {
  const int64_t middle = INT64_C(1) << (REST_BITS - 1),
                off = (int64_t)(bits_of(high) & ((UINT64_C(1) << REST_BITS) - 1)) - middle;
  return bits_of(binade(high) - tiny) | ~(uint64_t)((within - off) | (within + off));
}

/* Is any sine or cosine of the lanes near a tie? `near`: which. */
INLINE bool seek(const fast_lanes *t, double tiny, int64_t within, uint64_t *near) {
  uint64_t any = 0;
#pragma omp simd reduction(| : any)
  for (int k = 0; k < LANES; k++) {
    near[k] = near_tie(t->sin_high[k], tiny, within) | near_tie(t->cos_high[k], tiny, within);
    any |= near[k];
  }
  return any & SIGN;
}

#define SEEK(name, attributes, fused)                                                                                  \
  attributes static bool seek_##name(const fast_lanes *t, double tiny, int64_t within, uint64_t *near) {               \
    return seek(t, tiny, within, near);                                                                                \
  }
EACH_TIER(SEEK)

#define SEEK_ENTRY(name, attributes, fused) [TIER_##name] = seek_##name,
static bool (*const seeks[])(const fast_lanes *t, double tiny, int64_t within,
                             uint64_t *near) = {EACH_TIER(SEEK_ENTRY)};

typedef struct search {
  const fast_oracle *oracle;
  int64_t within; /* units of 2^-REST_BITS ulp */
  void (*found)(place at, void *argument);
  void *argument;
} search;

static void seek_tile(const search *s, const fast_tile *t) {
  const fast_oracle *f = s->oracle;
  fast_lanes origin, now;
  uint64_t near[LANES];
  fast_origin(f, t->group, t->origin, &origin);
  for (int j = t->from; j < t->to; j++) {
    f->rotate(&origin, &t->group->fine[j], &now);
    if (!seeks[f->tier](&now, f->tiny, s->within, near)) continue;
    for (int k = 0; k < t->count; k++) {
      if (!(near[k] & SIGN)) continue;
#pragma omp critical(fast_found)
      s->found((place){t->origin + j, t->index + k}, s->argument);
    }
  }
}

/* The high part is within a unit of 2^-REST_BITS ulp of the value: its rounding is half of one, and the bound of a
   value that is not tiny is half of one. */
void fast_near_ties(fast_oracle *f, int64_t position, int64_t rows, double within,
                    void (*found)(place at, void *argument), void *argument) {
  const search s = {f, (int64_t)ceil(ldexp(within, REST_BITS)) + 1, found, argument};
  for (int64_t done = 0; done < rows;) {
    const fast_span span = fast_span_at(f, position + done, rows - done);
#pragma omp parallel for schedule(dynamic)
    for (int64_t n = 0; n < span.tiles; n++) {
      const fast_tile t = fast_tile_of(f, &span, n);
      seek_tile(&s, &t);
    }
    done += span.to - span.from;
  }
}
