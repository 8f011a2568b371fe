/* SPDX-License-Identifier: MIT */
/*
 * A slot: the calls of one repetition, what each is asked for, and what memory holds before. All of it follows from
 * the seed of the slot, which is drawn anew each time. The kernel's worker makes the calls; the command's process
 * derives the same calls from the seed, and judges what they left in memory.
 *
 * The calls are divided into groups of random sizes, each of which is timed as a whole. After a group, some spans of
 * memory are noted, to be compared, and then changed; before the last group all memory is changed, and after it all is
 * compared. So a kernel cannot know after which call its results are looked at, nor where.
 */
#ifndef POSENC_BENCH_SLOT_H
#define POSENC_BENCH_SLOT_H

#include "posenc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The plans that take turns: of the shape's problem, and of ones that begin a few positions later. A call finds in
 * memory what another plan's call left there: numbers like its own, but wrong. Fast calls use two of the plans in a
 * slot, so that their constants stay in the caches; slow ones use all, single rows one. Of a kernel that keeps rows
 * there is one plan with the rows of two of them.
 *
 * They do not have other bases, because kernels that round correctly have proofs for the usual ones, and take twice as
 * long for others; nor positions far away, because sines of the C library take longer there.
 */
enum { SLOT_PLANS = 8 };

/* Sets by how many positions each plan begins later, for a shape of so many rows: 0, and different numbers up to
   slot_reach(rows). */
void slot_shifts(uint64_t seed, int64_t rows, int64_t shifts[SLOT_PLANS]);
int64_t slot_reach(int64_t rows);

typedef struct slot_terms {
  uint64_t seed;
  int64_t calls;  /* of the repetition, >= 1 */
  int64_t slices; /* the calls that make one pass over the rows, 1 unless a pass takes long */
  int64_t from;   /* the slice of the first call, so that slots continue where the one before ended */
  int64_t chain;  /* the most calls between two draws of x; INT64_MAX if there is no x */
  bool alone;     /* each call is timed alone, and memory is changed or prepared before it */
  int of, plans;  /* all plans, and those of this slot */
  int step;       /* from one of them to the next */
} slot_terms;

/* How many spans are noted after a group, after the last one, and in a whole slot at most; and the bytes of a span. */
enum { SLOT_SPANS = 4, SLOT_LAST_SPANS = 16, SLOT_NOTES = 256, SLOT_SPAN = 64 };

/* Successive calls [first, first + calls). */
typedef struct slot_group {
  int64_t first, calls;
  bool is_last;
  int64_t draw, since; /* which draw of x they work on, and the first call after it */
  bool draws;          /* x is drawn before this group */
  int spans;           /* noted after this group */
  uint64_t random[SLOT_LAST_SPANS];
} slot_group;

typedef struct slot {
  slot_terms terms;
  uint64_t random;
  int64_t last; /* calls of the last group */
  slot_group group;
  int noted;
} slot;

/* Returns a seed that cannot be foretold. */
uint64_t slot_seed(void);

slot slot_begin(const slot_terms *terms);

/* Sets t->group to the next group; returns false after the last one. */
bool slot_next(slot *t);

/* Return the slice of a call, and the plan that makes it. */
int64_t slot_slice(const slot_terms *terms, int64_t call);
int slot_plan(const slot_terms *terms, int64_t call);

/* Returns the first of `some` rows that are made and compared after a slot in mode plan, of a shape of `rows` rows. */
int64_t slot_shown(const slot_terms *terms, int64_t rows, int64_t some);

/* The memory that a call writes: in each of some parts (sequences of x, or the two tables of a rope cache), successive
   rows. */
typedef struct region {
  int64_t parts, rows, width; /* width: elements of a row in a part */
  int64_t apart, first;       /* elements from one part to the next; the first row's place in a part */
} region;

/* Returns the region of rows [first, first + rows), in memory with room for `all` rows. */
region region_of(const posenc_problem *problem, int64_t batch, int64_t all, int64_t first, int64_t rows);

/* Successive elements of a row of a region: SLOT_SPAN bytes, or the whole row if it is shorter. */
typedef struct span {
  int64_t part, row, column; /* the row counts from the region's first one */
  int64_t at, count;         /* place in memory, in elements; number of elements */
} span;
span region_span(const region *r, uint64_t random, size_t element_bytes);

/* Random numbers whose spans are in the first, and in the last row of any region. */
#define SLOT_FIRST_ROW UINT64_C(0)
#define SLOT_LAST_ROW UINT64_MAX

/* Draws `count` rows in single calls without a pattern. */
void slot_draw_rows(uint64_t seed, int64_t rows, int64_t *drawn, int count);

/* Writes elements [from, from + count) of draw number `draw` of x, numbers of [-1, 1). memory: where the first of them
   goes. dtype: f32 or bf16. */
void slot_fill_x(uint64_t seed, int64_t draw, posenc_dtype dtype, int64_t from, int64_t count, void *memory);

/* Makes each number wrong by a part of 2^-15 to 2^-3 of it, by one bit of its significand; a second time with the same
   seed restores it. */
void slot_spoil(uint64_t seed, posenc_dtype dtype, int64_t count, void *memory);

/* Loops over many numbers are compiled twice: DEFINE(suffix, attributes) for the compiler's target, and with AVX2. */
#ifdef __x86_64__
#define SLOT_TIERS(DEFINE) DEFINE(generic, ) DEFINE(avx2, __attribute__((target("avx2"))))
#define SLOT_TIER(function) (slot_has_avx2() ? function##_avx2 : function##_generic)
#else
#define SLOT_TIERS(DEFINE) DEFINE(generic, )
#define SLOT_TIER(function) function##_generic
#endif
bool slot_has_avx2(void);

#endif
