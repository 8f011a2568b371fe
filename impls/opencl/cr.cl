/* SPDX-License-Identifier: MIT */
/*
 * The kernels of cr-opencl, in OpenCL C 1.2. The build puts lib/exact/sincos.h and pair.h before this file. In
 * make_rows and apply_rows dimension 0 has the frequency indices and dimension 1 the rows: a work-item has of.each
 * pairs of of.band successive rows, whose turns are sums, so that it computes few products of 128 bits. A group has
 * LANES times BANDS work-items.
 *
 * An element whose rounding the double does not decide is put into `list`: its number is the row times the columns (of
 * apply_rows: the pairs) plus the column (pair). The first entry counts them, and there is room for all.
 */
#ifdef __clang__ /* pocl warns where it does not unroll a loop */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#define OF_ROWS __kernel __attribute__((reqd_work_group_size(LANES, BANDS, 1)))
#define OF_LINE __kernel __attribute__((reqd_work_group_size(LANES * BANDS, 1, 1)))

static void note(__global uint *list, ulong number) {
  list[1 + atomic_inc(list)] = (uint)number;
}

/* Computes the pair of a turn, times the attention factor. */
static pair_near scaled_pair(const pair_request *of, pair_turn turn) {
  pair_near at = pair_nearest(&of->terms, turn);
  if (of->is_scaled) {
    at.sine *= of->factor;
    at.cosine *= of->factor;
  }
  return at;
}

/* Rounds the pair to f32 and turns it to its quarter: the sine, and the cosine. */
static float2 turned(pair_near at) {
  const uint sine = as_uint((float)at.sine) ^ at.sign, cosine = as_uint((float)at.cosine);
  const int odd = (at.quarter & 0x40000000) != 0;
  return (float2)(as_float((odd ? cosine : sine) ^ (at.quarter & 0x80000000)),
                  as_float((odd ? sine : cosine) ^ ((at.quarter + 0x40000000) & 0x80000000)));
}

/* Returns whether the sine (1) and the cosine (2) of the pair at a position are uncertain. */
static int uncertain(const pair_request *of, pair_near at, long position) {
  const double grown = fabs((double)position) * (PAIR_GROWTH * of->factor);
  const int sine = pair_is_uncertain(at.sine, grown), cosine = pair_is_uncertain(at.cosine, grown);
  return at.quarter & 0x40000000 ? cosine + 2 * sine : sine + 2 * cosine;
}

/* Puts the uncertain elements of a column's rows into the list. */
static void list_rows(const pair_request *of, ulong2 step, long index, long row, long end, __global uint *list) {
  for (; row < end; row++) {
    const long position = of->first + row, from = row * of->dim + index * of->step;
    const pair_near at = scaled_pair(of, pair_turn_at(step.x, step.y, position));
    const int those = uncertain(of, at, position);
    if (those & 1) note(list, (ulong)(from + of->sine));
    if (those & 2) note(list, (ulong)(from + of->cosine));
  }
}

/* Writes rows of the table, in f32. `turns` has the two halves of each frequency. */
OF_ROWS void make_rows(const pair_request of, __global const ulong2 *turns, __global float *out, __global uint *list) {
  const long index = (long)get_global_id(0), begin = (long)get_global_id(1) * of.band,
             end = min(begin + of.band, of.rows);
  if (index >= of.pairs || begin >= end) return;
  const ulong2 step = turns[index];
  const int adjacent = of.step == 2 && of.cosine == of.sine + 1;
  const long cosine = of.cosine - of.sine;
  __global float *to = out + begin * of.dim + index * of.step + of.sine;
  pair_turn turn = pair_turn_at(step.x, step.y, of.first + begin);
  uint margin = ~0U, smallest = ~0U;
#pragma unroll 2
  for (int left = (int)(end - begin); left > 0; left--) {
    const pair_near at = scaled_pair(&of, turn);
    const float2 both = turned(at);
    if (adjacent) {
      *(__global float2 *)to = both;
    } else {
      to[0] = both.x;
      to[cosine] = both.y;
    }
    margin = min(margin, pair_margin(at));
    smallest = min(smallest, (uint)(as_ulong(at.sine) >> 32));
    turn = pair_turn_next(turn, step.x, step.y);
    to += of.dim;
  }
  if (margin <= PAIR_MARGIN || smallest < of.least) list_rows(&of, step, index, begin, end, list);
}

/* ---- add and rope ------------------------------------------------------------------------------ */

static float load(const pair_request *of, __global const uchar *x, long at) {
  return of->bf16 ? as_float((uint)((__global const ushort *)x)[at] << 16) : ((__global const float *)x)[at];
}

/* Rounds to bf16 as lib/exact/round.h does. */
static uint rounded(float x) {
  const uint bits = as_uint(x), nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : nearest;
}

static void store(const pair_request *of, __global uchar *out, long at, float x) {
  if (of->bf16)
    ((__global ushort *)out)[at] = (ushort)rounded(x);
  else
    ((__global float *)out)[at] = x;
}

/* Adds the pair to each sequence, or rotates that pair of each head. */
static void apply(const pair_request *of, long row, long index, float2 pair, __global const uchar *x,
                  __global uchar *out) {
  const float s = of->inverse ? -pair.x : pair.x;
  for (long sequence = 0; sequence < of->sequences; sequence++)
    for (long head = 0; head < of->heads; head++) {
      const long from = (sequence * of->rows + row) * of->width + head * of->dim + index * of->step,
                 first = from + of->cosine, second = from + of->sine;
      const float a = load(of, x, first), b = load(of, x, second);
      store(of, out, first, of->adds ? a + pair.y : a * pair.y - b * s);
      store(of, out, second, of->adds ? b + pair.x : b * pair.y + a * s);
    }
}

/* Load and store two elements. */
static float2 load_two(__global const uchar *x, const int bf16) {
  if (!bf16) return *(__global const float2 *)x;
  const ushort2 bits = *(__global const ushort2 *)x;
  return (float2)(as_float((uint)bits.x << 16), as_float((uint)bits.y << 16));
}

static void store_two(__global uchar *out, float2 x, const int bf16) {
  if (bf16)
    *(__global ushort2 *)out = (ushort2)((ushort)rounded(x.x), (ushort)rounded(x.y));
  else
    *(__global float2 *)out = x;
}

/* apply for two pairs, and some heads of sequences, one after the other: `head` is the first, and `at` its place in x.
   bf16 and step are constants. */
static inline void apply_two(const pair_request *of, long at, long head, int heads, float2 sine, float2 cosine,
                             __global const uchar *x, __global uchar *out, const int bf16, const int step) {
  const float2 s = of->inverse ? -sine : sine;
  const int sine_first = of->sine < of->cosine;
  const long element = bf16 ? 2 : 4, cosines = step == 1 ? of->cosine * element : 0,
             sines = step == 1 ? of->sine * element : 2 * element;
  for (at *= element; heads > 0; heads--) {
    const float2 p = load_two(x + at + cosines, bf16), q = load_two(x + at + sines, bf16);
    float2 a = p, b = q;
    if (step == 2) {
      a = sine_first ? (float2)(p.y, q.y) : (float2)(p.x, q.x);
      b = sine_first ? (float2)(p.x, q.x) : (float2)(p.y, q.y);
    }
    const float2 first = of->adds ? a + cosine : a * cosine - b * s, second = of->adds ? b + sine : b * cosine + a * s;
    a = first;
    b = second;
    if (step == 2) {
      a = sine_first ? (float2)(second.x, first.x) : (float2)(first.x, second.x);
      b = sine_first ? (float2)(second.y, first.y) : (float2)(first.y, second.y);
    }
    store_two(out + at + cosines, a, bf16);
    store_two(out + at + sines, b, bf16);
    at += of->dim * element;
    if (++head == of->heads) {
      head = 0;
      at += (of->rows - 1) * of->width * element;
    }
  }
}

static long position_of(const pair_request *of, long row, __global const long *positions) {
  return of->listed ? positions[row] : of->first + row;
}

/* Puts the uncertain pairs of these rows into the list. */
static void list_pairs(const pair_request *of, ulong2 step, long index, long row, long end,
                       __global const long *positions, __global uint *list) {
  for (; row < end; row++) {
    const long position = position_of(of, row, positions);
    const pair_near at = scaled_pair(of, pair_turn_at(step.x, step.y, position));
    if (uncertain(of, at, position) && !(of->adds && position == of->padding))
      note(list, (ulong)(row * of->pairs + index));
  }
}

/* of.each is 1 or 2. Dimension 2 has the heads of all sequences: of.share of a work-item; of.each = 1 needs them all.
   of.band is 1 if positions are listed. */
OF_ROWS void apply_rows(const pair_request of, __global const ulong2 *turns, __global const long *positions,
                        __global const uchar *x, __global uchar *out, __global uint *list) {
  const long index = (long)get_global_id(0) * of.each, begin = (long)get_global_id(1) * of.band,
             end = min(begin + of.band, of.rows), from = (long)get_global_id(2) * of.share;
  if (index >= of.pairs || begin >= end) return;
  const int heads = (int)min(of.share, of.sequences * of.heads - from);
  const long sequence = from / of.heads, head = from - sequence * of.heads;
  long here = (sequence * of.rows + begin) * of.width + head * of.dim + index * of.step;
  const ulong2 step = turns[index], step_next = turns[index + of.each - 1];
  long position = position_of(&of, begin, positions);
  pair_turn turn = pair_turn_at(step.x, step.y, position),
            turn_next = pair_turn_at(step_next.x, step_next.y, position);
  uint margin = ~0U, smallest = ~0U;
  for (long row = begin; row < end; row++) {
    const pair_near at = scaled_pair(&of, turn), at_next = scaled_pair(&of, turn_next);
    const int is_zero = of.adds && position == of.padding;
    const float2 zero = (float2)(0.0f), pair = is_zero ? zero : turned(at), next = is_zero ? zero : turned(at_next),
                 sine = (float2)(pair.x, next.x), cosine = (float2)(pair.y, next.y);
    margin = min(margin, min(pair_margin(at), pair_margin(at_next)));
    smallest = min(smallest, (uint)(min(as_ulong(at.sine), as_ulong(at_next.sine)) >> 32));
    if (of.each == 1)
      apply(&of, row, index, pair, x, out);
    else if (of.bf16 && of.step == 1)
      apply_two(&of, here, head, heads, sine, cosine, x, out, 1, 1);
    else if (of.bf16)
      apply_two(&of, here, head, heads, sine, cosine, x, out, 1, 2);
    else if (of.step == 1)
      apply_two(&of, here, head, heads, sine, cosine, x, out, 0, 1);
    else
      apply_two(&of, here, head, heads, sine, cosine, x, out, 0, 2);
    turn = pair_turn_next(turn, step.x, step.y);
    turn_next = pair_turn_next(turn_next, step_next.x, step_next.y);
    position++;
    here += of.width;
  }
  if (from > 0 || (margin > PAIR_MARGIN && smallest >= of.least)) return;
  list_pairs(&of, step, index, begin, end, positions, list);
  if (of.each == 2) list_pairs(&of, step_next, index + 1, begin, end, positions, list);
}

/* Applies pairs of the list again, with the sines and cosines that the host has recomputed. */
OF_LINE void apply_pairs(const pair_request of, __global const uint *list, __global const float2 *exact,
                         __global const uchar *x, __global uchar *out) {
  const size_t n = get_global_id(0);
  if (n >= list[0]) return;
  const long number = list[1 + n];
  apply(&of, number / of.pairs, number % of.pairs, exact[n], x, out);
}

/* ---- limits: the device's speed at the same bytes --------------------------------------------- */

/* Writes of.width vectors. */
OF_LINE void fill(const pair_request of, __global float4 *out) {
  const long at = (long)get_global_id(0);
  if (at < of.width) out[at] = (float4)((float)of.factor);
}

/* Reads and writes of.width vectors. */
OF_LINE void scale(const pair_request of, __global const float4 *x, __global float4 *out) {
  const long at = (long)get_global_id(0);
  if (at < of.width) out[at] = x[at] * (float)of.factor;
}
