/* SPDX-License-Identifier: MIT */
/* Mutants that change a parameter of the problem before they compute its rows. */
#include "tests/mutants/mutant.h"

#include <math.h>
#include <pthread.h>

/* The problem that is computed, and the good kernel's constants for it. */
typedef struct changed {
  posenc_problem problem;
  void *good;
} changed;

static PREPARE(prepare_changed) {
  changed *mine = malloc(sizeof *mine);
  *constants = mine;
  if (!mine) return POSENC_OUT_OF_MEMORY;
  mine->problem = *problem;
  return good_prepare(problem, options, &mine->good);
}

static void release_changed(void *constants) {
  changed *mine = constants;
  good_release(mine->good);
  free(mine);
}

static EXECUTE(changed_rows) {
  const changed *mine = constants;
  good_rows(mine->good, &mine->problem, row, rows, out);
}

/* Defines a prepare for the problem p after CHANGE. */
#define CHANGED(function, CHANGE)                                                                                      \
  static PREPARE(function) {                                                                                           \
    posenc_problem p = *problem;                                                                                       \
    CHANGE;                                                                                                            \
    return prepare_changed(&p, options, constants);                                                                    \
  }

CHANGED(float_scale, p.scale = (float)p.scale)
CHANGED(float_base, p.base = (float)p.base)
CHANGED(whole_shift, p.shift = trunc(p.shift))
CHANGED(clamped_base, p.base = fmin(p.base, 0x1p20))
CHANGED(clamped_scale, p.scale = fmin(p.scale, 6.25))
CHANGED(always_truncated, p.scaling.truncate = true)
CHANGED(usual_turns, if (p.scaling.kind == POSENC_SCALING_LLAMA3) p.scaling.low = 1.0)

/* Uses the formula of dynamic scaling for the length itself if that is less than the original one. */
static void lengthen(posenc_problem *p) {
  const posenc_scaling *s = &p->scaling;
  if (s->kind != POSENC_SCALING_DYNAMIC || s->length >= s->original) return;
  const double stretch = fabs(s->factor * (double)s->length / (double)s->original - (s->factor - 1.0));
  p->base *= pow(stretch, (double)p->dim / (double)(p->dim - 2));
  p->scaling = posenc_table(1, 2).scaling;
}
CHANGED(short_sequence, lengthen(&p))
CHANGED(scale_dropped, if (p.scaling.kind == POSENC_SCALING_LLAMA3) p.scale = 1.0)
CHANGED(one_row, p.first += p.rows == 1)
CHANGED(no_rows, if (p.rows == 0) abort())

/* Plans share their constants if the kernel takes their problems for equal. The constants are never freed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static posenc_status share(const posenc_problem *problem, const posenc_options *options, bool with_dtype,
                           bool with_scaling, void **constants) {
  enum { MOST = 4096 };
  static changed *all[2][MOST];
  static int counts[2];
  changed **known = all[with_dtype];
  int *count = &counts[with_dtype];
  posenc_status status = POSENC_OK;
  pthread_mutex_lock(&lock);
  for (int n = 0; n < *count && !*constants; n++) {
    posenc_problem a = known[n]->problem, b = *problem;
    if (!with_dtype) a.dtype = b.dtype;
    if (!with_scaling) a.scaling = b.scaling;
    a.scaling.factors = b.scaling.factors = NULL;
    if (memcmp(&a, &b, sizeof a) == 0) *constants = known[n];
  }
  if (!*constants) {
    status = prepare_changed(problem, options, constants);
    if (*count < MOST) known[(*count)++] = *constants;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static PREPARE(shared_scalings) {
  return share(problem, options, true, false, constants);
}

static PREPARE(shared_dtypes) {
  return share(problem, options, false, true, constants);
}

/* The shared memory is never released. */
#define OF_SHARED(called, fault, ...)                                                                                  \
  KERNEL(CONTRACT(0.5, called, fault), .can_do = good_can_do, .scales = true, .execute = changed_rows,                 \
         .prepare = __VA_ARGS__)
#define OF_CHANGED(called, fault, make) OF_SHARED(called, fault, make, .release = release_changed)

/* ---- rows ---- */

WRONG_ROWS(tile_tail, problem->dim > 2048 && problem->dim % 2048 != 0)
WRONG_ROWS(rows_of_16_bits, r > 65535)
WRONG_ROWS(beyond_the_table, row + r >= problem->rows)
WRONG_ROWS(before_the_table, row + r < 0 && (row + r) % 16 != 0)

PLUGIN = {
    OF_CHANGED("float-scale", "takes the scale for a float", float_scale),
    OF_CHANGED("float-base", "takes the base for a float", float_base),
    OF_CHANGED("whole-shift", "takes the shift for an integer", whole_shift),
    OF_CHANGED("clamped-base", "never a base above 2^20", clamped_base),
    OF_CHANGED("clamped-scale", "never a frequency of 2 pi", clamped_scale),
    OF_CHANGED("always-truncated", "YaRN truncates always", always_truncated),
    OF_CHANGED("usual-turns", "llama3 with its usual turns", usual_turns),
    OF_CHANGED("short-sequence", "dynamic scaling of short sequences", short_sequence),
    OF_CHANGED("scale-dropped", "no scale beside llama3", scale_dropped),
    OF_CHANGED("one-row", "a table of one row begins with the next one", one_row),
    OF_CHANGED("no-rows", "a table without rows ends the process", no_rows),
    OF_SHARED("shared-scalings", "problems share constants whatever their scaling", shared_scalings),
    OF_SHARED("shared-dtypes", "problems share constants whatever their dtype", shared_dtypes),
    MUTANT_OF_GOOD("tile-tail", "wrong beyond 2048 columns, but for whole tiles", tile_tail),
    MUTANT_OF_GOOD("rows-of-16-bits", "wrong from the 65536th row of a call on", rows_of_16_bits),
    MUTANT_OF_GOOD("beyond-the-table", "wrong behind the problem's rows, as lists ask for them", beyond_the_table),
    MUTANT_OF_GOOD("before-the-table", "wrong before the problem's rows", before_the_table),
    NULL,
};
