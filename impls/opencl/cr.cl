/* SPDX-License-Identifier: MIT */
/*
 * The kernels of cr-opencl, in OpenCL C 1.2. The build puts lib/exact/sincos.h and pair.h before this file. A
 * work-item has one pair of columns at one position: dimension 0 is the frequency index, dimension 1 the row.
 *
 * An element whose rounding the double does not decide is put into `list`: its number is the row times the columns (of
 * apply_rows: the pairs) plus the column (pair). The first entry counts them, and there is room for all.
 */

static void note(__global uint *list, ulong number) {
  list[1 + atomic_inc(list)] = (uint)number;
}

/* Computes the pair at a position, times the attention factor, and the absolute part of its error. */
static pair scaled_pair(const pair_request *of, ulong2 turn, long position, double *grown) {
  pair at = pair_of(pair_turn_at(turn.x, turn.y, position));
  at.sine *= of->factor;
  at.cosine *= of->factor;
  *grown = fabs((double)position) * (PAIR_GROWTH * of->factor);
  return at;
}

/* Writes rows of the table, in f32. `turns` has the two halves of each frequency. */
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void make_rows(const pair_request of,
                                                                          __global const ulong2 *turns,
                                                                          __global float *out, __global uint *list) {
  const long index = (long)get_global_id(0), row = (long)get_global_id(1);
  if (index >= of.pairs) return;
  const long position = of.first + row, sine = of.sine + index * of.step, cosine = of.cosine + index * of.step;
  double grown;
  const pair at = scaled_pair(&of, turns[index], position, &grown);
  out[row * of.dim + sine] = (float)at.sine;
  out[row * of.dim + cosine] = (float)at.cosine;
  if (pair_is_uncertain(at.sine, grown)) note(list, (ulong)(row * of.dim + sine));
  if (pair_is_uncertain(at.cosine, grown)) note(list, (ulong)(row * of.dim + cosine));
}

/* ---- add and rope ------------------------------------------------------------------------------ */

static float load(const pair_request *of, __global const uchar *x, long at) {
  return of->bf16 ? as_float((uint)((__global const ushort *)x)[at] << 16) : ((__global const float *)x)[at];
}

/* Rounds to bf16 as lib/exact/round.h does. */
static void store(const pair_request *of, __global uchar *out, long at, float x) {
  const uint bits = as_uint(x), nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  if (of->bf16)
    ((__global ushort *)out)[at] = (ushort)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : nearest);
  else
    ((__global float *)out)[at] = x;
}

/* Adds the pair to each sequence, or rotates that pair of each head. */
static void apply(const pair_request *of, long row, long index, float sine, float cosine, __global const uchar *x,
                  __global uchar *out) {
  const float s = of->inverse ? -sine : sine;
  for (long sequence = 0; sequence < of->sequences; sequence++)
    for (long head = 0; head < of->heads; head++) {
      const long from = (sequence * of->rows + row) * of->width + head * of->dim + index * of->step,
                 first = from + of->cosine, second = from + of->sine;
      const float a = load(of, x, first), b = load(of, x, second);
      store(of, out, first, of->adds ? a + cosine : a * cosine - b * s);
      store(of, out, second, of->adds ? b + sine : b * cosine + a * s);
    }
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void
apply_rows(const pair_request of, __global const ulong2 *turns, __global const long *positions, __global const uchar *x,
           __global uchar *out, __global uint *list) {
  const long index = (long)get_global_id(0), row = (long)get_global_id(1);
  if (index >= of.pairs) return;
  const long position = positions[row];
  const int is_zero = of.adds && position == of.padding;
  double grown;
  const pair at = scaled_pair(&of, turns[index], position, &grown);
  apply(&of, row, index, is_zero ? 0.0f : (float)at.sine, is_zero ? 0.0f : (float)at.cosine, x, out);
  if (!is_zero && (pair_is_uncertain(at.sine, grown) || pair_is_uncertain(at.cosine, grown)))
    note(list, (ulong)(row * of.pairs + index));
}

/* Applies pairs of the list again, with the sines and cosines that the host has recomputed. */
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void
apply_pairs(const pair_request of, __global const uint *list, __global const float2 *exact, __global const uchar *x,
            __global uchar *out) {
  const size_t n = get_global_id(0);
  if (n >= list[0]) return;
  const long number = list[1 + n];
  apply(&of, number / of.pairs, number % of.pairs, exact[n].x, exact[n].y, x, out);
}

/* ---- limits: the device's speed at the same bytes --------------------------------------------- */

/* Writes of.width vectors. */
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void fill(const pair_request of, __global float4 *out) {
  const long at = (long)get_global_id(0);
  if (at < of.width) out[at] = (float4)((float)of.factor);
}

/* Reads and writes of.width vectors. */
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void scale(const pair_request of, __global const float4 *x,
                                                                      __global float4 *out) {
  const long at = (long)get_global_id(0);
  if (at < of.width) out[at] = x[at] * (float)of.factor;
}
