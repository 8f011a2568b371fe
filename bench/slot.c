/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/slot.h"

#include "common/clock.h"
#include "common/number.h"
#include "common/shapes.h"

#include <string.h>
#include <sys/random.h>

enum {
  GROUPS = 32,     /* of a slot, about; each takes two readings of the clock, and comparisons of its spans */
  LAST_MOST = 4,   /* the most calls of the last group */
  SHORT_CHAIN = 64 /* after so few calls since x was drawn, it is not drawn anew for the last group */
};

uint64_t slot_seed(void) {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) seed = (uint64_t)(1e9 * clock_seconds());
  return seed;
}

slot slot_begin(const slot_terms *terms) {
  slot t = {.terms = *terms, .random = terms->seed};
  t.last = terms->alone ? 1 : least(terms->calls, 1 + (int64_t)random_below(&t.random, LAST_MOST));
  t.last = least(t.last, terms->chain);
  t.group.draw = -1;
  return t;
}

/* Returns a size of a group that is not the last one, of `left` calls. */
static int64_t draw_size(slot *t, int64_t left) {
  const int64_t mean = t->terms.calls / GROUPS, most = mean > 0 ? 2 * mean : 1;
  const int64_t size = 1 + (int64_t)random_below(&t->random, (uint64_t)most);
  return t->terms.alone ? 1 : least(least(size, left), t->terms.chain);
}

/* Draws the spans that are noted after a group, and returns their number. There is room for those of some 30 groups; of
   more groups, some are drawn. */
static int draw_spans(slot *t) {
  slot_group *g = &t->group;
  const int64_t each = t->terms.alone ? 1 : least(t->terms.chain, t->terms.calls / GROUPS + 1),
                groups = t->terms.calls / each + 1, most = (SLOT_NOTES - SLOT_LAST_SPANS) / SLOT_SPANS / 2;
  int spans = g->is_last ? SLOT_LAST_SPANS : SLOT_SPANS;
  if (!g->is_last && (t->noted + SLOT_SPANS > SLOT_NOTES - SLOT_LAST_SPANS ||
                      (int64_t)random_below(&t->random, (uint64_t)groups) >= most))
    spans = 0;
  /* Half of the spans are those that were noted, and then spoiled, after the group before. */
  for (int i = 0; i < spans; i++)
    if (i % 2 || g->random[i] == 0 || g->is_last) g->random[i] = random_next(&t->random);
  /* A kernel that works on after its calls have returned may write the first or the last row late. */
  if (g->is_last) {
    g->random[0] = SLOT_FIRST_ROW;
    g->random[1] = SLOT_LAST_ROW;
  }
  t->noted += spans;
  return spans;
}

bool slot_next(slot *t) {
  slot_group *g = &t->group;
  if (g->is_last) return false;
  g->first += g->calls;
  const int64_t left = t->terms.calls - g->first;
  g->is_last = left <= t->last;
  g->calls = g->is_last ? left : draw_size(t, left - t->last);
  const bool is_used_up = g->first + g->calls - g->since > t->terms.chain;
  /* The bound of a chain grows with its calls, so x is drawn anew before the last group: its calls are compared within
     the bound of one to four. After a short chain that is not needed. */
  const bool is_long = g->is_last && g->first - g->since > SHORT_CHAIN;
  /* If calls work on slices, a draw fills only those of its group, so that each group needs a draw. */
  g->draws = g->draw < 0 || t->terms.slices > 1 || is_long || is_used_up;
  if (g->draws) {
    g->draw++;
    g->since = g->first;
  }
  g->spans = draw_spans(t);
  return true;
}

int64_t slot_slice(const slot_terms *terms, int64_t call) {
  return (terms->from + call) % terms->slices;
}

int slot_plan(const slot_terms *terms, int64_t call) {
  const int64_t n = terms->from + call;
  const int64_t number = (n % terms->slices + n / terms->slices) % terms->plans;
  return (int)(((terms->seed >> 32) + (uint64_t)(terms->step * number)) % (uint64_t)terms->of);
}

int64_t slot_shown(const slot_terms *terms, int64_t rows, int64_t some) {
  uint64_t random = ~terms->seed;
  return (int64_t)random_below(&random, (uint64_t)(rows - some) + 1);
}

int64_t slot_reach(int64_t rows) {
  const int64_t share = rows / 64;
  return share < SLOT_PLANS - 1 ? SLOT_PLANS - 1 : share;
}

void slot_shifts(uint64_t seed, int64_t rows, int64_t shifts[SLOT_PLANS]) {
  const int64_t apart = slot_reach(rows) / (SLOT_PLANS - 1);
  shifts[0] = 0;
  for (int p = 1; p < SLOT_PLANS; p++) shifts[p] = (p - 1) * apart + 1 + (int64_t)random_below(&seed, (uint64_t)apart);
}

region region_of(const posenc_problem *problem, int64_t batch, int64_t all, int64_t first, int64_t rows) {
  const int64_t elements = row_elements_of(problem);
  const bool is_cache = problem->op == POSENC_ROPE_CACHE;
  const int64_t width = is_cache ? elements / 2 : elements;
  return (region){is_cache ? 2 : batch, rows, width, all * width, first};
}

span region_span(const region *r, uint64_t random, size_t element_bytes) {
  const int64_t fit = least(r->width, (int64_t)(SLOT_SPAN / element_bytes));
  const int64_t lines = r->parts * r->rows,
                line = random == SLOT_LAST_ROW ? lines - 1 : (int64_t)(random % (uint64_t)lines),
                column = (int64_t)((random >> 40) % (uint64_t)(r->width - fit + 1));
  span s = {.part = line / r->rows, .row = line % r->rows, .column = column, .count = fit};
  s.at = s.part * r->apart + (r->first + s.row) * r->width + column;
  return s;
}

void slot_draw_rows(uint64_t seed, int64_t rows, int64_t *drawn, int count) {
  uint64_t state = ~seed;
  for (int i = 0; i < count; i++) drawn[i] = (int64_t)random_below(&state, (uint64_t)rows);
}

static uint32_t key_of(uint64_t seed, int64_t draw) {
  uint64_t state = seed + (uint64_t)draw;
  return (uint32_t)random_next(&state);
}

bool slot_has_avx2(void) {
  static int known; /* 0: not yet; 1: no; 2: yes. To ask takes a microsecond on virtual machines. */
  if (!known) known = posenc_isa_detect() & POSENC_ISA_AVX2 ? 2 : 1;
  return known == 2;
}

/* Makes: fill_f32_generic, fill_f32_avx2, fill_bf16_generic, fill_bf16_avx2. */
#define DEFINE_FILL(tier, attributes)                                                                                  \
  attributes static void fill_f32_##tier(uint32_t key, uint32_t begin, int64_t count, float *out) {                    \
    _Pragma("omp simd") for (int64_t i = 0; i < count; i++) out[i] =                                                   \
        (float)(int32_t)random_mix_32(key ^ (begin + (uint32_t)i)) * 0x1p-31f;                                         \
  }                                                                                                                    \
  attributes static void fill_bf16_##tier(uint32_t key, uint32_t begin, int64_t count, uint16_t *out) {                \
    _Pragma("omp simd") for (int64_t i = 0; i < count; i++) {                                                          \
      const float x = (float)(int32_t)random_mix_32(key ^ (begin + (uint32_t)i)) * 0x1p-31f;                           \
      uint32_t bits;                                                                                                   \
      memcpy(&bits, &x, sizeof bits);                                                                                  \
      out[i] = (uint16_t)(bits >> 16);                                                                                 \
    }                                                                                                                  \
  }
SLOT_TIERS(DEFINE_FILL)

void slot_fill_x(uint64_t seed, int64_t draw, posenc_dtype dtype, int64_t from, int64_t count, void *memory) {
  const uint32_t key = key_of(seed, draw), begin = (uint32_t)from;
  if (dtype == POSENC_F32)
    SLOT_TIER(fill_f32)(key, begin, count, memory);
  else
    SLOT_TIER(fill_bf16)(key, begin, count, memory);
}

/* Which bits of a significand are changed: [lowest, lowest + 2^choices). */
typedef struct spoiled_bits {
  int lowest, choices;
} spoiled_bits;

#define DEFINE_SPOIL(name, type, attributes)                                                                           \
  attributes static void name(uint32_t key, spoiled_bits which, int64_t count, type *numbers) {                        \
    const uint32_t lowest = (uint32_t)which.lowest, mask = (1u << which.choices) - 1;                                  \
    _Pragma("omp simd") for (int64_t i = 0; i < count; i++) numbers[i] =                                               \
        (type)(numbers[i] ^ (type)1 << (lowest + (random_mix_32(key ^ (uint32_t)i) & mask)));                          \
  }
/* Makes: spoil_16_generic, spoil_16_avx2, spoil_32_generic, spoil_32_avx2, spoil_64_generic, spoil_64_avx2. */
#define DEFINE_SPOILS(tier, attributes)                                                                                \
  DEFINE_SPOIL(spoil_16_##tier, uint16_t, attributes)                                                                  \
  DEFINE_SPOIL(spoil_32_##tier, uint32_t, attributes)                                                                  \
  DEFINE_SPOIL(spoil_64_##tier, uint64_t, attributes)
SLOT_TIERS(DEFINE_SPOILS)

void slot_spoil(uint64_t seed, posenc_dtype dtype, int64_t count, void *memory) {
  static const spoiled_bits all[] = {
      [POSENC_F32] = {8, 3}, [POSENC_F64] = {37, 3}, [POSENC_F16] = {1, 2}, [POSENC_BF16] = {0, 2}};
  const spoiled_bits which = all[dtype];
  const uint32_t key = key_of(seed, -2);
  if (dtype == POSENC_F64)
    SLOT_TIER(spoil_64)(key, which, count, memory);
  else if (dtype == POSENC_F32)
    SLOT_TIER(spoil_32)(key, which, count, memory);
  else
    SLOT_TIER(spoil_16)(key, which, count, memory);
}
