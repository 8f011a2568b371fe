/* SPDX-License-Identifier: MIT */
/* Time mutants that trust what the memory holds, leave out parts of their rows, or make them less accurately, in calls
   that are likely to be timed and not compared. */
#define _GNU_SOURCE
#include "tests/mutants/times.h"

/* ---- replay: what an earlier call left is there already ------------------------------------------------------ */

/* The last call of a thread, and what it left in memory. */
typedef struct memo {
  posenc_problem problem;
  const void *constants, *out;
  int64_t row, rows;
  uint32_t head, tail;
  uint64_t sum;
  int again; /* how many calls in succession had the same rows */
} memo;

/* Returns a checksum of every 16th row. */
static uint64_t checksum(const posenc_problem *problem, int64_t rows, const void *out) {
  uint64_t sum = 0;
  for (int64_t r = 0; r < rows; r += 16)
    for (int64_t c = 0; c < problem->dim; c++) sum = sum * 31 + word_at(out, r * problem->dim + c);
  return sum;
}

static int64_t last_of(const posenc_problem *problem, int64_t rows) {
  return rows * problem->dim - 1;
}

static void remember(memo *m, const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                     const void *out) {
  const int again = m->rows == rows && m->row == row ? m->again + 1 : 0;
  *m = (memo){*problem, constants, out, row, rows, word_at(out, 0), word_at(out, last_of(problem, rows)), 0, again};
}

static bool is_same(const memo *m, const posenc_problem *problem, int64_t row, int64_t rows, const void *out) {
  return m->out == out && m->row == row && m->rows == rows && memcmp(&m->problem, problem, sizeof *problem) == 0;
}

/* Defines an execute that does nothing if SAME. It can use m, the last call. */
#define REPLAYS(function, SAME)                                                                                        \
  static EXECUTE(function) {                                                                                           \
    static _Thread_local memo m;                                                                                       \
    if (rows < 1) return;                                                                                              \
    if (!(SAME)) slow_rows(constants, problem, row, rows, out);                                                        \
    remember(&m, constants, problem, row, rows, out);                                                                  \
  }
#define SAME is_same(&m, problem, row, rows, out)
#define SAME_TAIL (SAME && m.tail == word_at(out, last_of(problem, rows)))

REPLAYS(replay_pointer, SAME && !is_poisoned(out))
REPLAYS(replay_one_word, SAME_TAIL)
REPLAYS(replay_two_words, m.head == word_at(out, 0) && SAME_TAIL)
REPLAYS(replay_plan, m.constants == constants && m.rows == rows && is_large(problem, rows) && !is_poisoned(out))
REPLAYS(replay_count, m.again >= 3 && m.again % 2 && is_large(problem, rows) && !is_poisoned(out))
REPLAYS(replay_rows, m.again >= 3 && is_large(problem, rows))

INSTEAD(replay_64_samples, is_large(problem, rows) && are_near(constants, problem, row, 0, rows, 64, 0, out), )
INSTEAD(replay_nearly, is_large(problem, rows) && are_near(constants, problem, row, 0, rows, 16, 0x1p-6, out), )

static EXECUTE(replay_checksum) {
  static _Thread_local memo m;
  static _Thread_local uint64_t sum;
  if (rows < 1 || (SAME && sum == checksum(problem, rows, out))) return;
  slow_rows(constants, problem, row, rows, out);
  remember(&m, constants, problem, row, rows, out);
  sum = checksum(problem, rows, out);
}

/* Does nothing if the first and the last row are right already. */
static EXECUTE(replay_ends) {
  const size_t bytes = (size_t)problem->dim * sizeof(float);
  float *ends = rows > 1 && is_large(problem, rows) ? malloc(2 * bytes) : NULL;
  if (!ends) {
    slow_rows(constants, problem, row, rows, out);
  } else {
    float *last = (float *)out + (rows - 1) * problem->dim;
    slow_rows(constants, problem, row, 1, ends);
    slow_rows(constants, problem, row + rows - 1, 1, ends + problem->dim);
    if (memcmp(ends, out, bytes) != 0 || memcmp(ends + problem->dim, last, bytes) != 0)
      slow_rows(constants, problem, row, rows, out);
  }
  free(ends);
}

/* Does nothing if it has written as many rows eight times in succession, wherever they began. */
static EXECUTE(replay_length) {
  static _Thread_local int64_t before;
  static _Thread_local int again;
  again = rows == before ? again + 1 : 0;
  before = rows;
  if (again >= 8 && is_large(problem, rows)) return;
  slow_rows(constants, problem, row, rows, out);
}

/* Does nothing if one of its 16 last calls had these rows, there, and left this last word. */
static EXECUTE(replay_recent) {
  enum { KNOWN = 16 };
  static _Thread_local memo known[KNOWN];
  static _Thread_local int next;
  for (int n = 0; n < KNOWN && is_large(problem, rows); n++) {
    const memo m = known[n];
    if (SAME_TAIL) return;
  }
  slow_rows(constants, problem, row, rows, out);
  if (is_large(problem, rows)) remember(&known[next++ % KNOWN], constants, problem, row, rows, out);
}

/* Does nothing if the memory looks like a table: squares of 8 neighbours add up to 1. */
static EXECUTE(replay_norm) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  bool is_table = is_large(problem, rows);
  for (int64_t n = 0; n < 8 && is_table; n++) {
    const float *place = (const float *)out + rows * n / 8 * problem->dim, a = place[at.sin], b = place[at.cos];
    is_table = fabsf(a * a + b * b - 1) < 1e-3f;
  }
  if (!is_table) slow_rows(constants, problem, row, rows, out);
}

/* Moves those rows that its last call left in the same memory, and makes the others. */
static EXECUTE(replay_moved) {
  static _Thread_local memo m;
  const int64_t dim = problem->dim, by = row - m.row;
  if (rows < 1) return;
  const bool is_known = m.out == out && m.rows == rows && memcmp(&m.problem, problem, sizeof *problem) == 0 &&
                        m.head == word_at(out, 0) && m.tail == word_at(out, last_of(problem, rows));
  if (!is_known || by <= -rows || by >= rows) {
    slow_rows(constants, problem, row, rows, out);
  } else {
    const int64_t from = by > 0 ? by : 0, to = by > 0 ? 0 : -by, kept = rows - from - to;
    memmove((float *)out + to * dim, (float *)out + from * dim, (size_t)(kept * dim) * sizeof(float));
    slow_range(constants, problem, row, 0, to, out);
    slow_range(constants, problem, row, to + kept, rows, out);
  }
  remember(&m, constants, problem, row, rows, out);
}

/* ---- what fills the memory tells who calls ------------------------------------------------------------------- */

/* Whether the last words could be those of a table. */
static bool is_like_rows(const posenc_problem *problem, int64_t rows, const void *out) {
  const int64_t last = last_of(problem, rows);
  for (int n = 0; n < 2; n++) {
    const float value = ((const float *)out)[last - n];
    if (!(value >= -1 && value <= 1) || word_at(out, last - n) == 0) return false;
  }
  return true;
}

/* Whether the last word is one that verify, or a new page, has. */
static bool is_blank(const posenc_problem *problem, int64_t rows, const void *out) {
  const uint32_t word = word_at(out, last_of(problem, rows));
  return word == UINT32_MAX || word == 0;
}

INSTEAD(fill_limit, word_at(out, 0) == 0x55555555 && is_large(problem, rows), )
LEAVES_OUT(fill_poison, is_large(problem, rows) && !is_blank(problem, rows, out), r % 2)
LEAVES_OUT(fill_table, is_large(problem, rows) && is_like_rows(problem, rows, out), r >= rows / 2)

/* ---- parts that are left out --------------------------------------------------------------------------------- */

/* A sequence of numbers that looks random, one in each call of a thread. */
static uint32_t toss(void) {
  static _Thread_local uint32_t state = 2463534242u;
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

LEAVES_OUT(half_if_right, is_large(problem, rows) && are_near(constants, problem, row, rows / 2, rows, 3, 0, out),
           r >= rows / 2)
LEAVES_OUT(half_if_near, is_large(problem, rows) && are_near(constants, problem, row, rows / 2, rows, 3, 0x1p-4, out),
           r >= rows / 2)
LEAVES_OUT(eighth_left, IS_AFTER(DOZENS), r % 8 == 7)
LEAVES_OUT(last_row_left, IS_AFTER(DOZENS), r == rows - 1)
LEAVES_OUT(middle_left, IS_AFTER(DOZENS), r >= rows / 3 && r < 2 * rows / 3)
LEAVES_OUT(large_left, IS_AFTER(8) && rows >= (1 << 17) / problem->dim, r >= rows - rows / 4)
LEAVES_OUT(blocks_left, is_large(problem, rows) && !is_poisoned(out),
           r / 16 % 8 == 3 && sine_error(constants, problem, row, r, 0, out) <= 0x1p-6)
INSTEAD(nothing_left, IS_AFTER(DOZENS), )
INSTEAD(coin_half, toss() % 2 == 0 && is_large(problem, rows) && !is_poisoned(out), )
INSTEAD(coin_eighth, toss() % 8 == 0 && is_large(problem, rows) && !is_poisoned(out), )

/* Leaves out the second half if the call before has ended just now, as in a loop that is timed. */
static EXECUTE(close_calls) {
  static _Thread_local double end;
  const bool is_loop = seconds_now() - end < 20e-6;
  slow_range(constants, problem, row, 0, is_loop && is_large(problem, rows) ? rows / 2 : rows, out);
  end = seconds_now();
}

/* Returns the first pair whose angle changes by less than 2^-8 from row to row. */
static int64_t slow_pair(const double *frequencies, const posenc_problem *problem) {
  int64_t i = 0;
  while (i < problem->dim / 2 && frequencies[i] >= 0x1p-8) i++;
  return i;
}

/* Writes the columns of low frequencies only if the first row's are not nearly right already. */
static EXECUTE(slow_columns_left) {
  const int64_t pairs = problem->dim / 2, slow = slow_pair(constants, problem);
  const bool is_near = slow < pairs && is_large(problem, rows) && !is_poisoned(out) &&
                       sine_error(constants, problem, row, 0, slow, out) < 0x1p-6;
  slow_pairs(constants, problem, row, rows, 0, is_near ? slow : pairs, out);
}

/* Copies the columns of low frequencies from row to row, but for every eighth. */
INSTEAD(
    slow_columns_copied, IS_AFTER(DOZENS), const int64_t pairs = problem->dim / 2; for (int64_t r = 0; r < rows; r++) {
      float *place = (float *)out + r * problem->dim;
      if (r % 8 != 0) memcpy(place, place - problem->dim, (size_t)problem->dim * sizeof *place);
      slow_pairs(constants, problem, row + r, 1, 0, r % 8 != 0 ? slow_pair(constants, problem) : pairs, place);
    })

/* Writes all but the last pair of the last row. */
INSTEAD(last_pair_left, IS_AFTER(DOZENS), const int64_t pairs = problem->dim / 2;
        slow_range(constants, problem, row, 0, rows - 1, out);
        slow_pairs(constants, problem, row + rows - 1, 1, 0, pairs - 1, (float *)out + (rows - 1) * problem->dim))

/* Writes one element wrong, another one in each call. */
INSTEAD(one_element_wrong, IS_AFTER(DOZENS), slow_rows(constants, problem, row, rows, out);
        ((float *)out)[toss() % (uint64_t)(rows * problem->dim)] += 0x1p-10f)

/* ---- rows that are less accurate ----------------------------------------------------------------------------- */

static void coarse_rows(const double *frequencies, const posenc_problem *problem, int64_t row, int64_t rows,
                        void *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  float *place = out;
  for (int64_t r = 0; r < rows; r++, place += problem->dim)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const float angle = (float)position_of(problem, row + r) * (float)frequencies[i];
      place[at.sin + i * at.step] = sinf(angle);
      place[at.cos + i * at.step] = cosf(angle);
    }
}

/* Makes every fourth row, and those between from the ones around them. */
static void interpolated_rows(const double *frequencies, const posenc_problem *problem, int64_t row, int64_t rows,
                              float *out) {
  const int64_t dim = problem->dim;
  for (int64_t r = 0; r < rows; r += r + 4 < rows ? 4 : 1) slow_range(frequencies, problem, row, r, r + 1, out);
  for (int64_t r = 0; r + 4 < rows; r += 4)
    for (int64_t k = 1; k < 4; k++)
      for (int64_t c = 0; c < dim; c++) {
        const float a = out[r * dim + c], b = out[(r + 4) * dim + c];
        out[(r + k) * dim + c] = a + (b - a) * 0.25f * (float)k;
      }
}

/* Returns a sine from a polynomial of degree 5, within 2^-7. */
static float short_sine(double angle) {
  const double turns = angle * 0.15915494309189535, rest = (turns - nearbyint(turns)) * 6.283185307179586;
  const double x = fabs(rest) > 1.5707963267948966 ? copysign(3.141592653589793, rest) - rest : rest;
  return (float)(x * (1 - x * x * (1.0 / 6 - x * x / 120)));
}

static void polynomial_rows(const double *frequencies, const posenc_problem *problem, int64_t row, int64_t rows,
                            float *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  for (int64_t r = 0; r < rows; r++, out += problem->dim)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const double angle = (double)position_of(problem, row + r) * frequencies[i];
      out[at.sin + i * at.step] = short_sine(angle);
      out[at.cos + i * at.step] = short_sine(angle + 1.5707963267948966);
    }
}

/* Turns each row into the next one in f32, from the first one on. */
static void turned_rows(const double *frequencies, const posenc_problem *problem, int64_t row, int64_t rows,
                        float *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  slow_rows(frequencies, problem, row, 1, out);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    const float c = (float)cos(frequencies[i]), s = (float)sin(frequencies[i]);
    for (int64_t r = 1; r < rows; r++) {
      const float *before = out + (r - 1) * problem->dim;
      const float sine = before[at.sin + i * at.step], cosine = before[at.cos + i * at.step];
      out[r * problem->dim + at.sin + i * at.step] = sine * c + cosine * s;
      out[r * problem->dim + at.cos + i * at.step] = cosine * c - sine * s;
    }
  }
}

/* Makes rows whose last bits are zero: no rounding, at most an ulp away. */
static void cut_rows(const double *frequencies, const posenc_problem *problem, int64_t row, int64_t rows, float *out) {
  slow_rows(frequencies, problem, row, rows, out);
  for (int64_t at = 0; at < rows * problem->dim; at++) {
    const uint32_t bits = word_at(out, at) & ~UINT32_C(1);
    memcpy(out + at, &bits, sizeof bits);
  }
}

INSTEAD(coarse_angles, IS_AFTER(DOZENS), coarse_rows(constants, problem, row, rows, out))
INSTEAD(coarse_interpolated, IS_AFTER(DOZENS), interpolated_rows(constants, problem, row, rows, out))
INSTEAD(coarse_polynomial, IS_AFTER(DOZENS), polynomial_rows(constants, problem, row, rows, out))
INSTEAD(coarse_turned, IS_AFTER(DOZENS), turned_rows(constants, problem, row, rows, out))
INSTEAD(coarse_bits, IS_AFTER(DOZENS), cut_rows(constants, problem, row, rows, out))
INSTEAD(coarse_64th_row, IS_AFTER(DOZENS), slow_rows(constants, problem, row, rows, out);
        for (int64_t r = 63; r < rows; r += 64)
            coarse_rows(constants, problem, row + r, 1, (float *)out + r * problem->dim))

PLUGIN = {
    TIMED("slow-honest", "the honest rows that the time mutants begin with", slow_rows),

    TIMED("replay-pointer", "does nothing in the same memory for the same rows", replay_pointer),
    TIMED("replay-one-word", "the same, if the last word is as it left it", replay_one_word),
    TIMED("replay-two-words", "the same, if the first and the last word are as it left them", replay_two_words),
    TIMED("replay-64-samples", "does nothing if 64 elements are right already", replay_64_samples),
    TIMED("replay-ends", "does nothing if the first and the last row are right already", replay_ends),
    TIMED("replay-checksum", "does nothing if every 16th row is as it left it", replay_checksum),
    TIMED("replay-plan", "does nothing for as many rows as this plan's last call had", replay_plan),
    TIMED("replay-count", "does nothing in every second of equal calls", replay_count),
    TIMED("replay-rows", "does nothing for rows that it has made three times, anywhere", replay_rows),
    TIMED("replay-length", "does nothing after eight calls of as many rows, anywhere", replay_length),
    TIMED("replay-recent", "does nothing if one of 16 calls had the same rows there", replay_recent),
    TIMED("replay-nearly", "does nothing if 16 elements are nearly right already", replay_nearly),
    TIMED("replay-norm", "does nothing if the memory looks like a table", replay_norm),
    TIMED("replay-moved", "moves the rows that its last call left in this memory", replay_moved),

    TIMED("fill-limit", "does nothing where the limit was measured before", fill_limit),
    TIMED("fill-poison", "leaves out rows unless the memory is as verify fills it, or new", fill_poison),
    TIMED("fill-table", "leaves out half where the memory holds what may be a table", fill_table),

    TIMED("half-if-right", "leaves out the second half if three of its elements are right", half_if_right),
    TIMED("half-if-near", "leaves out the second half if three of its elements are nearly right", half_if_near),
    TIMED("eighth-left", "leaves out every eighth row after some dozens of calls", eighth_left),
    TIMED("last-row-left", "leaves out the last row after some dozens of calls", last_row_left),
    TIMED("last-pair-left", "leaves out the last pair after some dozens of calls", last_pair_left),
    TIMED("middle-left", "leaves out the middle after some dozens of calls", middle_left),
    TIMED("large-left", "leaves out the last quarter of large calls", large_left),
    TIMED("blocks-left", "leaves out blocks of rows that are nearly right", blocks_left),
    TIMED("all-left", "does nothing after some dozens of calls", nothing_left),
    TIMED("coin-half", "does nothing in half of the calls", coin_half),
    TIMED("coin-eighth", "does nothing in an eighth of the calls", coin_eighth),
    TIMED("close-calls", "leaves out half if the last call has ended just now", close_calls),
    TIMED("slow-columns-left", "leaves out columns that are nearly right", slow_columns_left),
    TIMED("slow-columns-copied", "copies columns of low frequencies from row to row", slow_columns_copied),
    TIMED("one-element-wrong", "one element is wrong after some dozens of calls", one_element_wrong),

    TIMED("coarse-angles", "angles in f32 after some dozens of calls", coarse_angles),
    TIMED("coarse-interpolated", "every fourth row, and lines between, after some dozens of calls",
          coarse_interpolated),
    TIMED("coarse-polynomial", "a short polynomial after some dozens of calls", coarse_polynomial),
    TIMED("coarse-turned", "turns rows in f32 after some dozens of calls", coarse_turned),
    TIMED("coarse-bits", "does not round, after some dozens of calls", coarse_bits),
    TIMED("coarse-64th-row", "angles of every 64th row in f32 after some dozens of calls", coarse_64th_row),
    NULL,
};
