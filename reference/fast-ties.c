/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reference/fast-oracle.h"

#include <math.h>

/* How near a midpoint is. The unit is the last bit of a double, for f32 2^-29 ulp. */
typedef struct nearness {
  double tiny;    /* smaller values all count as near */
  int64_t ulp;    /* ulp of the format, in units */
  int64_t within; /* the largest distance that is near, in units */
} nearness;

/* Returns a number whose sign is set if the high part is near a midpoint, or below `tiny`. */
INLINE uint64_t near_tie(double high, nearness n) {
  const int64_t off = (int64_t)(bits_of(high) & (uint64_t)(n.ulp - 1)) - n.ulp / 2;
  return bits_of(binade(high) - n.tiny) | ~(uint64_t)((n.within - off) | (n.within + off));
}

/* Whether any sine or cosine of the lanes is near a midpoint; `near` marks them. */
INLINE bool seek(const fast_lanes *t, const nearness *how, uint64_t *near) {
  const nearness n = *how;
  uint64_t any = 0;
#pragma omp simd reduction(| : any)
  for (int k = 0; k < LANES; k++) {
    near[k] = near_tie(t->sin_high[k], n) | near_tie(t->cos_high[k], n);
    any |= near[k];
  }
  return any & SIGN;
}

#define SEEK(name, attributes, fused)                                                                                  \
  attributes static bool seek_##name(const fast_lanes *t, const nearness *how, uint64_t *near) {                       \
    return seek(t, how, near);                                                                                         \
  }
EACH_TIER(SEEK)

#define SEEK_ENTRY(name, attributes, fused) [TIER_##name] = seek_##name,
static bool (*const seeks[])(const fast_lanes *t, const nearness *how, uint64_t *near) = {EACH_TIER(SEEK_ENTRY)};

typedef struct search {
  const fast_oracle *oracle;
  nearness how;
  void (*found)(place at, void *argument);
  void *argument;
} search;

static void seek_tile(const search *s, const fast_tile *t) {
  const fast_oracle *f = s->oracle;
  fast_lanes origin, now;
  uint64_t near[LANES];
  fast_origin(f, t->group, t->origin, LANES, &origin);
  for (int j = t->from; j < t->to; j++) {
    f->rotate(&origin, &t->group->fine[j], LANES, &now);
    if (!seeks[f->tier](&now, &s->how, near)) continue;
    for (int k = 0; k < t->count; k++) {
      if (!(near[k] & SIGN)) continue;
#pragma omp critical(fast_found)
      s->found((place){t->origin + j, t->index + k}, s->argument);
    }
  }
}

/* The limit is `within` and one unit. The high part is within a unit of the value: its rounding is at most half a unit,
   and the bound of a value that is not tiny at most another half. */
void fast_near_ties(fast_oracle *f, int64_t position, int64_t rows, double within,
                    void (*found)(place at, void *argument), void *argument) {
  const int64_t ulp = INT64_C(1) << (53 - f->format->precision);
  const search s = {f, {f->tiny, ulp, (int64_t)ceil(within * (double)ulp) + 1}, found, argument};
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
