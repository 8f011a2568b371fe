/* SPDX-License-Identifier: MIT */
#include "impls/core/cr.h"
#include "impls/core/kernel.h"

#include <string.h>

/* Pairs whose columns walk down the rows together. */
enum { TILE = 16, COLUMNS = 2 * TILE };

/* Sines, then cosines. */
typedef struct columns {
  double now[COLUMNS], before[COLUMNS];
} columns;

/* Where a tile's columns go. */
typedef struct target {
  const cr_table *table;
  const posenc_problem *problem;
  posenc_columns at;
  int64_t pair, pairs; /* the first, and how many there are */
  char *out;           /* row `from` of the block, */
  int from;
  int64_t position; /* and the position of row 0 */
} target;

/* The row of the anchor, and the one before it. */
static void start(const cr_table *table, int64_t pair, int64_t center, columns *x) {
  const angle_table *angles = table->angles;
  for (int i = 0; i < TILE; i++) {
    double sine, cosine;
    angle_sincos(angle_at(angles->turn_high[pair + i], angles->turn_low[pair + i], center), &sine, &cosine);
    const double step_sin = angles->step_sin[pair + i], step_cos = angles->step_cos[pair + i];
    x->now[i] = sine;
    x->now[TILE + i] = cosine;
    x->before[i] = sine * step_cos - cosine * step_sin;
    x->before[TILE + i] = cosine * step_cos + sine * step_sin;
  }
}

static void advance(columns *x, const double *twice_cosine) {
  for (int i = 0; i < COLUMNS; i++) {
    const double next = twice_cosine[i] * x->now[i] - x->before[i];
    x->before[i] = x->now[i];
    x->now[i] = next;
  }
}

static void store(const target *to, int row, const columns *x, uint64_t doubt_bits) {
  const posenc_dtype dtype = to->problem->dtype;
  void *out = to->out + (row - to->from) * to->problem->dim * (int64_t)posenc_dtype_bytes(dtype);
  const int64_t sine = to->at.sin + to->pair * to->at.step, cosine = to->at.cos + to->pair * to->at.step;
  int64_t doubts = 0;
  for (int64_t i = 0; i < to->pairs; i++) {
    round_to(dtype, out, sine + i * to->at.step, x->now[i]);
    round_to(dtype, out, cosine + i * to->at.step, x->now[TILE + i]);
    doubts += cr_in_doubt(x->now[i], doubt_bits) + cr_in_doubt(x->now[TILE + i], doubt_bits);
  }
  if (!doubts || to->position + row == 0) return;
  for (int64_t i = 0; i < to->pairs; i++) {
    if (cr_in_doubt(x->now[i], doubt_bits))
      cr_element(to->table, to->problem, to->position + row, sine + i * to->at.step, out);
    if (cr_in_doubt(x->now[TILE + i], doubt_bits))
      cr_element(to->table, to->problem, to->position + row, cosine + i * to->at.step, out);
  }
}

/* Twice the cosines of the steps, for each column. */
static void factors(const cr_table *table, int64_t pair, double *twice_cosine) {
  memcpy(twice_cosine, table->twice_cosine + pair, TILE * sizeof *twice_cosine);
  memcpy(twice_cosine + TILE, table->twice_cosine + pair, TILE * sizeof *twice_cosine);
}

/* From the anchor and the row before it, to walk back. */
static columns turned(const columns *x) {
  columns back;
  memcpy(back.now, x->before, sizeof back.now);
  memcpy(back.before, x->now, sizeof back.before);
  return back;
}

static void block(const target *to, rotation_block at) {
  const uint64_t doubt_bits = cr_doubt_bits(to->problem->dtype);
  double twice_cosine[COLUMNS];
  columns forward;
  start(to->table, to->pair, at.center, &forward);
  columns backward = turned(&forward);
  factors(to->table, to->pair, twice_cosine);
  for (int row = 0; row < at.to; row++) {
    if (row) advance(&forward, twice_cosine);
    if (row >= at.from) store(to, row, &forward, doubt_bits);
  }
  for (int row = -1; row >= at.from; row--) {
    if (row < -1) advance(&backward, twice_cosine);
    if (row < at.to) store(to, row, &backward, doubt_bits);
  }
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const int64_t pairs = problem->dim / 2, row_bytes = problem->dim * (int64_t)posenc_dtype_bytes(problem->dtype);
  for (int64_t done = 0; done < rows;) {
    const rotation_block at = rotation_block_at(problem->first + row + done, rows - done);
    for (int64_t pair = 0; pair < pairs; pair += TILE) {
      const target to = {constants,
                         problem,
                         posenc_layout_columns(problem->layout, problem->dim),
                         pair,
                         pairs - pair < TILE ? pairs - pair : TILE,
                         (char *)out + done * row_bytes,
                         at.from,
                         at.center};
      block(&to, at);
    }
    done += at.to - at.from;
  }
}

/* Row `from` of a block, for one tile. */
static columns row_of(const cr_table *table, int64_t pair, rotation_block at) {
  double twice_cosine[COLUMNS];
  columns x;
  start(table, pair, at.center, &x);
  factors(table, pair, twice_cosine);
  if (at.from < 0) x = turned(&x);
  for (int n = at.from < 0 ? -1 - at.from : at.from; n > 0; n--) advance(&x, twice_cosine);
  return x;
}

static bool tell_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                        posenc_stages *stages) {
  for (int64_t r = 0; r < rows; r++) {
    const rotation_block at = rotation_block_at(problem->first + row + r, 1);
    for (int64_t pair = 0; pair < problem->dim / 2; pair += TILE) {
      const columns x = row_of(constants, pair, at);
      for (int64_t i = 0; i < TILE && pair + i < problem->dim / 2; i++)
        *stages++ = cr_stages(constants, problem, at, pair + i, x.now[i], x.now[TILE + i]);
    }
  }
  return true;
}

const posenc_kernel posenc_kernel_cr_portable = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_GENERIC,
    .name = "cr-portable",
    .summary = "correctly rounded; portable C",
    .algorithm = "From exact anchors every 32 positions each column is walked by its three-term recurrence in double; "
                 "an element that "
                 "this leaves within 2^-44 of the middle between two floats is computed again in 128-bit fixed point.",
    .provenance =
        "three-term recurrence of the multiple angle (Chebyshev); rounding test after Ziv, ACM TOMS 17(3), 1991; "
        "this combination: posenc, 2026",
    .bound = CR_BOUND,
    .basis = CR_BASIS,
    .reproducible = true,
    .can_do = cr_can_do,
    .prepare = cr_prepare,
    .execute = execute,
    .release = cr_release,
    .stages = tell_stages,
};
