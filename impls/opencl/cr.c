/* SPDX-License-Identifier: MIT */
/* cr-opencl: correctly rounded tables of f32, and add and rope without a table, on an OpenCL device. */
#include "config.h"

#include "impls/opencl/opencl.h"

#include "impls/cr/cr.h"

#ifdef HAVE_OPENCL
#include "impls/opencl/device.h"
#include "lib/exact/angle.h"

#include <stdatomic.h>
#include <stdlib.h>

/* The constants of a plan. */
typedef struct plan {
  cr_constants *cr;
  uint64_t number; /* from 1 on, of the plans of this process */
} plan;

static posenc_status prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  static atomic_uint_fast64_t plans;
  void *table;
  plan *made = malloc(sizeof *made);
  posenc_status status = made ? POSENC_OK : POSENC_OUT_OF_MEMORY;
  if (status == POSENC_OK && device_open()) status = POSENC_CANNOT_RUN;
  if (status == POSENC_OK && problem->heads * problem->dim > device_most()) status = POSENC_OUT_OF_MEMORY;
  if (status == POSENC_OK) status = cr_prepare(problem, options, &table);
  if (status != POSENC_OK) {
    free(made);
    return status;
  }
  *made = (plan){table, atomic_fetch_add(&plans, 1) + 1};
  *constants = made;
  return POSENC_OK;
}

static void release(void *constants) {
  plan *made = constants;
  cr_release(made->cr);
  free(made);
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Returns how many of `count` rows or heads a work-item has, if there are `each` work-items for one of them: as many as
   leave MANY work-items, so that all of the device is in use. */
static int64_t together(int64_t count, int64_t each) {
  enum { MANY = 1 << 17, MOST = 32 };
  const int64_t some = least(count * each / MANY, MOST);
  return some < 1 ? 1 : least(some, count);
}

static pair_request request_of(const plan *p, const posenc_problem *table) {
  const posenc_columns at = posenc_layout_columns(table->layout, table->dim);
  return (pair_request){.pairs = table->dim / 2,
                        .sine = at.sin,
                        .cosine = at.cos,
                        .step = at.step,
                        .width = table->dim,
                        .sequences = 1,
                        .heads = 1,
                        .dim = table->dim,
                        .band = 1,
                        .each = 1,
                        .share = 1,
                        .padding = table->padding,
                        .is_scaled = p->cr->is_scaled,
                        .factor = p->cr->is_scaled ? p->cr->factor.high : 1.0,
                        .terms = PAIR_TERMS};
}

/* The position of a row of the request: of the list, if there is one. */
static int64_t position_of(const pair_request *request, const int64_t *positions, int64_t row) {
  return positions ? positions[row] : request->first + row;
}

/* Sets the least sine for the test without conversions, at all positions of the request. */
static void set_least(pair_request *request, const int64_t *positions) {
  const int64_t last = request->rows - 1;
  double farthest =
      fmax(fabs((double)position_of(request, positions, 0)), fabs((double)position_of(request, positions, last)));
  for (int64_t n = 1; positions && n < last; n++) farthest = fmax(farthest, fabs((double)positions[n]));
  request->least = pair_least(farthest * PAIR_GROWTH * request->factor);
}

static void set_turns(const plan *p) {
  device_set_turns(p->number, p->cr->pairs, p->cr->angles->turn_high, p->cr->angles->turn_low);
}

/* Returns how many of `count` things of this many elements are in one command: at least one. */
static int64_t fitting(int64_t elements, int64_t count) {
  return elements > device_elements() ? least(count, 1) : least(count, device_elements() / elements);
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const plan *p = constants;
  pair_request request = request_of(p, problem);
  const size_t row_bytes = (size_t)problem->dim * sizeof(float);
  device_begin();
  set_turns(p);
  for (int64_t done = 0; done < rows; done += request.rows) {
    const uint32_t *uncertain;
    char *here = (char *)out + (size_t)done * row_bytes;
    request.first = problem->first + row + done;
    request.rows = fitting(problem->dim, rows - done);
    set_least(&request, NULL);
    request.band = together(request.rows, request.pairs);
    const int64_t count = device_make_rows(&request, &uncertain);
    const size_t bytes = (size_t)request.rows * row_bytes;
    device_read(here, (device_sequences){bytes, bytes}, 1);
    for (int64_t n = 0; n < count; n++) {
      const int64_t r = uncertain[n] / problem->dim, column = uncertain[n] % problem->dim;
      float *const own = (float *)(void *)(here + (size_t)r * row_bytes);
      cr_element(p->cr, problem, request.first + r, column, own);
      if (device_stays()) device_write(uncertain[n], own[column]);
    }
  }
  device_end();
}

/* ---- add and rope ------------------------------------------------------------------------------ */

/* Computes the exact sines and cosines of the uncertain pairs. Null if memory runs out. */
static float (*recomputed(const plan *p, const pair_request *request, const int64_t *positions,
                          const uint32_t *uncertain, int64_t count))[2] {
  float(*exact)[2] = malloc(sizeof *exact * (size_t)count);
  for (int64_t n = 0; exact && n < count; n++) {
    const int64_t position = position_of(request, positions, uncertain[n] / request->pairs);
    const int64_t index = uncertain[n] % request->pairs;
    exact[n][0] = (float)cr_value(p->cr, POSENC_F32, position, index, false);
    exact[n][1] = (float)cr_value(p->cr, POSENC_F32, position, index, true);
  }
  return exact;
}

/* Applies the rows of a request to x. Returns false if memory runs out. */
static bool apply_some(const plan *p, const pair_request *request, const int64_t *positions, device_sequences of,
                       const char *x, char *out) {
  const uint32_t *uncertain;
  const int64_t count = device_apply_rows(request, positions, of, x, &uncertain);
  if (count) {
    float(*exact)[2] = recomputed(p, request, positions, uncertain, count);
    if (!exact) return false;
    device_apply_pairs(request, count, (const float(*)[2])exact);
    free(exact);
  }
  device_read(out, of, request->sequences);
  return true;
}

static posenc_status apply(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                           const void *x, void *out) {
  const plan *p = constants;
  const posenc_problem table = posenc_table_of(problem);
  const size_t element = posenc_dtype_bytes(problem->dtype);
  pair_request request = request_of(p, &table);
  request.width = problem->heads * problem->dim;
  request.heads = problem->heads;
  request.adds = problem->op == POSENC_ADD;
  request.inverse = problem->inverse;
  request.bf16 = problem->dtype == POSENC_BF16;
  request.each = request.pairs % 2 == 0 ? 2 : 1;
  request.listed = slice->index != NULL;
  const int64_t most = fitting(request.width, slice->rows);
  int64_t *positions = slice->index ? malloc(sizeof *positions * (size_t)(most + 1)) : NULL;
  bool enough = positions || !slice->index;
  device_begin();
  set_turns(p);
  for (int64_t r = 0; enough && r < slice->rows; r += request.rows) {
    request.rows = least(most, slice->rows - r);
    request.first = problem->first + slice->row + r;
    for (int64_t n = 0; positions && n < request.rows; n++) positions[n] = problem->first + slice->index[r + n];
    set_least(&request, positions);
    const int64_t at_once = fitting(request.width * request.rows, slice->batch);
    const device_sequences of = {(size_t)(request.width * request.rows) * element, (size_t)slice->stride * element};
    for (int64_t sequence = 0; enough && sequence < slice->batch; sequence += request.sequences) {
      const size_t at = (size_t)(sequence * slice->stride + r * request.width) * element;
      request.sequences = least(at_once, slice->batch - sequence);
      const int64_t heads = request.sequences * request.heads;
      const int64_t items = request.rows * request.pairs / request.each;
      request.share = request.each == 1 ? heads : together(heads, items);
      request.band = heads > 1 || request.listed ? 1 : together(request.rows, request.pairs / request.each);
      enough = apply_some(p, &request, positions, of, (const char *)x + at, (char *)out + at);
    }
  }
  device_end();
  free(positions);
  return enough ? POSENC_OK : POSENC_OUT_OF_MEMORY;
}

/* ---- stages ------------------------------------------------------------------------------------ */

static posenc_stages stages_of(const cr_constants *table, int64_t index, int64_t position) {
  const uint64_t high = table->angles->turn_high[index], low = table->angles->turn_low[index];
  const pair_turn turn = pair_turn_at(high, low, position);
  static const pair_terms terms = PAIR_TERMS;
  const pair_near near = pair_nearest(&terms, turn);
  double sine = near.sign ? -near.sine : near.sine, cosine = near.cosine;
  angle_quarters((int)(near.quarter >> 30), &sine, &cosine);
  const double grown = fabs((double)position) * PAIR_GROWTH;
  const u128 exact = wide_turn(table->angles, index, position);
  const bool is_exact = position == 0;
  return (posenc_stages){.frequency = angle_radians(high, low),
                         .phase = angle_phase(turn.upper, turn.lower),
                         .sine = pair_is_uncertain(sine, grown) ? wide_sum(wide_sine(exact)) : (posenc_sum){sine, 0.0},
                         .cosine = is_exact || !pair_is_uncertain(cosine, grown) ? (posenc_sum){cosine, 0.0}
                                                                                 : wide_sum(wide_cosine(exact))};
}

static bool stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                   posenc_stages *found) {
  const plan *p = constants;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < p->cr->pairs; i++) *found++ = stages_of(p->cr, i, problem->first + row + r);
  return true;
}

#endif

static const char *can_do(const posenc_problem *problem) {
  if (problem->dtype != POSENC_F32) return "it writes f32 only";
  if (problem->dim > INT64_C(1) << 28) return "it needs at most 2^28 columns";
  return cr_can_do(problem);
}

posenc_kernel opencl_cr = {
    .abi = POSENC_KERNEL_ABI,
    .bound = CR_BOUND,
    .basis = "derived in impls/opencl/pair.h: within 2^-49 of the value in double; what is uncertain, within 2^-122",
    .reproducible = true,
    .threaded = true,
    .scales = true,
    .attends = true,
    .can_do = can_do,
    .isa = POSENC_ISA_GENERIC,
    .name = "cr-opencl",
    .summary = "correctly rounded f32, on an OpenCL device",
    .algorithm =
        "Position times frequency as a fraction of a turn in 128 bits; a polynomial in double, within 2^-49 of "
        "the value; the device lists elements whose rounding this does not decide, and the host recomputes "
        "them in fixed point. Add and rope make no table.",
    .provenance = "rounding test after Ziv, ACM TOMS 17(3), 1991; this combination: posenc, 2026",
#ifdef HAVE_OPENCL
    .prepare = prepare,
    .execute = execute,
    .release = release,
    .stages = stages,
    .apply = apply,
#else
    .absent = "posenc was built without OpenCL",
#endif
};
