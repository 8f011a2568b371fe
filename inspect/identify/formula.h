/* SPDX-License-Identifier: MIT */
/* Estimates from the numbers of a table: its frequencies, their formula, and the position of each row. */
#ifndef POSENC_INSPECT_IDENTIFY_FORMULA_H
#define POSENC_INSPECT_IDENTIFY_FORMULA_H

#include "common/number.h"
#include "inspect/files/table.h"
#include "reference/axes.h"

#include <math.h>
#include <stdbool.h>

/* ---- the window of a table ------------------------------------------------------------------------------- */

/* The first rows of a table in a file as doubles, their columns and their waves. */

typedef struct table_window {
  posenc_dtype stored, held; /* the file's dtype, and the narrowest dtype that has all these values */
  int64_t rows, dim;         /* rows and columns of the file */
  int64_t count;             /* rows of the window */
  double *values;            /* count × dim */
  bool *zero;                /* rows that are all zeros or not finite; they are ignored */
  bool finite;               /* all but a few rows are finite */
  double offset;             /* an addend of all waves */
  double most;               /* the largest |value| after subtracting the offset */
} table_window;

/* Reads rows from the first one on, as many as a window has. */
void window_read(table_window *w, table_file *table, int64_t first);
void window_free(table_window *w);

static inline const double *window_row(const table_window *w, int64_t row) {
  return w->values + row * w->dim;
}

static inline double window_value(const table_window *w, int64_t row, int64_t column) {
  return w->values[row * w->dim + column] - w->offset;
}

/* The number of rows that is enough for comparing makers. */
enum { WINDOW_SOME_ROWS = 33 };

/* Returns row n of `rows` rows, or of all if there are fewer, spread over the window; -1 if it is ignored or does not
   exist. */
static inline int64_t window_sample(const table_window *w, int64_t rows, int64_t n) {
  rows = rows < w->count ? rows : w->count;
  if (n >= rows) return -1;
  const int64_t row = rows > 1 ? n * (w->count - 1) / (rows - 1) : 0;
  return w->zero[row] ? -1 : row;
}

/* Sets the offset, which window_value subtracts. */
void window_shift(table_window *w, double offset);

/* Rows with equal steps, from which frequencies are determined. In a table of rounded positions, only some of many
   equal rows are at the right position. */
typedef struct sampled_rows {
  int64_t first, step, count;
} sampled_rows;

sampled_rows window_sampling(const table_window *w);

/* ---- which column has which sine or cosine ------------------------------------------------------- */

/* The columns of a table. Layouts of one part alone are those of table_part (reference/axes.h). */
typedef struct columns {
  posenc_layout layout;
  table_part part;
  int64_t dim;   /* number of columns; one column of zeros may follow */
  int64_t pairs; /* number of frequencies; the last one of an odd dim (posenc.h: ceil) has a sine alone */
} columns;

/* Returns the frequency index of a column. *cosine: the column has cosines. */
int64_t columns_index(const columns *s, int64_t column, bool *cosine);

/* Returns the first column of that value, or -1 for the last cosine of an odd dim. For one part alone, `cosine` is
   ignored. */
int64_t columns_of(const columns *s, int64_t index, bool cosine);

/* Whether the index has a column of sines and one of cosines, or the table has one part only. */
static inline bool columns_complete(const columns *s, int64_t index) {
  return s->part != TABLE_BOTH || columns_of(s, index, true) >= 0;
}

/* Returns how many of `count` columns or pairs may be damaged in a table. */
static inline int64_t columns_spare(int64_t count) {
  return count < 4 ? 0 : count / 4;
}

/* Returns the name of the layout, or "duplicated". */
const char *columns_layout_name(const columns *s);

/* Returns the options of posenc check for the part of a table, from a space on, "" for both: with the layout if check
   would take another. */
const char *columns_options(const columns *s);

/* Finds the columns of a table. A pair is two columns whose squares have the same sum in every row and every pair. A
   table without pairs is assumed to have cosines alone until phases show otherwise. In pairs, the sine is assumed to
   come first until their rotation shows otherwise. */
columns columns_find(const table_window *w);

/* Returns the columns of the same table with the sine and the cosine of each pair exchanged. */
columns columns_exchanged(const columns *s);

/* ---- frequencies and phases of columns, without their formula (waves.c) -------------------------- */

/* A number and its largest error, which is infinite if the number is unknown. */
typedef struct estimate {
  double value, error;
} estimate;

/* Estimates the offset of all waves. Its error is infinite if the columns do not agree on one. */
estimate waves_offset(const table_window *w, const sampled_rows *at);

/* Estimates the frequency of each frequency index, in radians per row. A pair that rotates backwards, because its
   cosine comes first, has a negative frequency; a single column never has. Whole turns between two sampled rows are not
   counted. */
void waves_frequencies(const table_window *w, const columns *s, const sampled_rows *at, estimate *frequencies);

/* Estimates the phases of row 0 for given frequencies; single columns are treated as cosines. amplitude: that of all
   waves, not null. */
void waves_phases(const table_window *w, const columns *s, const sampled_rows *at, const long double *frequencies,
                  estimate *phases, estimate *amplitude);

/* Returns the same number of rows, spread over the whole window, in which slow waves cover more of a turn. */
sampled_rows waves_spread(const table_window *w, const sampled_rows *at);

/* Estimates by how much each wave is faster than its given frequency, in radians per row. */
void waves_drifts(const table_window *w, const columns *s, const sampled_rows *at, const long double *frequencies,
                  estimate *drifts);

/* Estimates the frequencies again from all rows, given the position of row 0, the step from row to row and the
   amplitude. This also determines the frequencies of slow waves. Frequencies of columns that no such wave explains are
   unknown. */
void waves_refit(const table_window *w, const columns *s, double first, int step, estimate amplitude,
                 const estimate *frequencies, estimate *refitted);

/* Estimates the amplitude again, from waves that turn at least once, because roundings of slow waves have the same
   sign. */
estimate waves_amplitude(const table_window *w, const columns *s, double first, int step, estimate amplitude,
                         const estimate *frequencies);

/* ---- plain numbers ------------------------------------------------------------------------------- */

static const double half_turn = 3.14159265358979323846, whole_turn = 6.28318530717958647692;

/* Returns the angle within half a turn of 0. */
static inline double angle_wrapped(double angle) {
  return remainder(angle, whole_turn);
}

static inline bool number_is_one(double x) {
  return x >= 1.0 && x <= 1.0;
}

/* A number above 0 and its relative error. 0 digits: the number is measured, and not plain. */
typedef struct plain_number {
  double value, error;
  int digits;
} plain_number;

/* Returns the number within a factor of e^±error that has the fewest digits, or x if that takes 17 digits. */
plain_number plainest(double x, double error);

/* Returns x in the fewest digits that are within its relative error; an exact number in up to 15 digits. */
number_text number_within(double x, double error);

/* ---- formulas ------------------------------------------------------------------------------------ */

/* The formula w[i] = scale × base^(-i / (pairs - shift)), then changed by the scaling. */
typedef struct formula {
  double base, shift, scale;
  double base_error, scale_error; /* relative errors */
  posenc_scaling scaling;         /* factor 1 and no kind: none. The attention factor is part of the amplitude */
  double of_base, stretch;        /* dynamic: base is of_base × stretch^(dim/(dim - 2)); otherwise stretch is 0 */
  bool tight;                     /* the formula explains the frequencies to the last bits of an f32 */
  bool most;                      /* it explains nine in ten of the known frequencies approximately */
  int digits;                     /* digits of base and scale, less 2: 0 is the plainest formula */
  size_t number;                  /* of equally plain ones: in the order in which they are found */
} formula;

/* The number of frequencies that determine a formula. Two are explained by some base and scale, so fewer than three
   determine a formula only if its scale is 1 and its base plain. */
enum { FORMULA_EVIDENT = 3 };

enum { FORMULAS_MAX = 320 };

/* Digits of a formula as people write it, and of a measured one. */
enum { FORMULA_USUAL = 3, FORMULA_UNUSUAL = 8 };

/* Returns the paper's formula with that base. */
formula formula_plain(double base);

/* Bases of shipped models, the most frequent first. */
extern const double formula_bases[];
extern const size_t formula_base_count;

/* Whether the frequency is known well enough to be used. */
bool formula_mark(const estimate *frequency);

/* Finds formulas without a scaling for the frequencies, the plainest first. Returns how many: 0 if no two known
   frequencies determine one. A single pair of frequency 1, which it has at any base, gets the usual formulas. */
size_t formulas_find(const estimate *frequencies, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* Finds bases and scales for the formula that explain these drifts of its frequencies. Returns how many, at most 10. */
size_t formulas_refined(const formula *f, const estimate *drifts, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* Finds formulas of models with a base near this one; with 0, of any base, and of 10000 with a wrong sign of the
   exponent. They are for tables whose frequencies cannot be determined, because large frequencies lose whole turns.
   Returns how many. */
size_t formulas_usual(double base, formula formulas[FORMULAS_MAX], int64_t pairs);

/* ---- the scaling of frequencies, with its parameters (scalings.c) -------------------------------- */

/* Returns the scaled frequency of that index, as posenc.h defines it; w: the frequency before scaling. Linear and
   dynamic scalings are represented by a scale and a base instead. */
long double scalings_frequency(const posenc_scaling *s, double base, int64_t pairs, int64_t index, long double w);

/* Computes w[i] of all pairs of the formula. */
void formula_frequencies(const formula *f, int64_t pairs, long double *w);

/* Finds formulas with a scaling other than longrope that explain the frequencies, the most frequent first. Returns how
   many. Parameters are those of models, or else are read from the ramp. */
size_t scalings_find(const formula *plain, const estimate *frequencies, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* Computes the factors of longrope, by which frequencies are slower than the formula's. Factors near plain numbers get
   these. Returns false unless they are such as models have: of two decimals (`of_decimals`), or else growing from near
   1. */
bool scalings_find_factors(const formula *plain, const estimate *frequencies, int64_t pairs, bool of_decimals,
                           double *factors);

/* Ranges of the parameters of a yarn or llama3 scaling, the least and the most that make the same frequencies. */
typedef struct scaling_ranges {
  double low[2], high[2]; /* with the given original length */
  double original[2];     /* with the given low and high; the least is above the most if there is none */
} scaling_ranges;

/* Returns the ranges that make the frequencies of a scaling `s`, for the original length, low and high of `other`. */
scaling_ranges scalings_ranges(const posenc_scaling *s, const posenc_scaling *other, double base, int64_t pairs);

/* Returns the number of the range that people write: a power of 2, or else the one of the fewest digits. */
double scalings_usual(const double range[2]);

/* Returns " (13.9 to 21 fit)", "" for a range without a width. */
typedef struct fit_text {
  char text[64];
} fit_text;
fit_text scalings_fit(const double range[2]);

/* Returns the attention factor of the scaling's formula if the amplitude equals it within the error, else 0. For
   longrope, it is the nearest one of usual factors and lengths. `told` is the scaling with that factor and length, or
   with the amplitude as its attention factor if none fits. */
double scalings_attention(const posenc_scaling *s, double amplitude, double error, posenc_scaling *told);

/* Whether models were trained on that length, so that it is no guess. */
bool scalings_is_length(int64_t length);

/* ---- positions ------------------------------------------------------------------------------------------- */

/* Finds the position of row 0 from phases at it. */

/* The position of row 0: one of the whole positions least .. most, with `first` in the middle; or, if least is above
   most, `first` within `error`. */
typedef struct start {
  double first, error;
  int64_t least, most;
} start;

static inline bool start_is_one(const start *s) {
  return s->least == s->most;
}

static inline bool start_is_whole(const start *s) {
  return s->least <= s->most;
}

/* The largest distance from 0 in the first search. */
static const int64_t POSITION_NEAR = INT64_C(1) << 21;

/* Returns a start at one whole position. */
start start_at(int64_t position);

/* The phases at row 0. They come from `rows` rows, in which angles have an error of at most `relative` times the angle.
   Phases with an infinite error are not used. */
typedef struct phase_clock {
  const estimate *phases;
  const long double *w;
  int64_t pairs;
  double relative, rows;
} phase_clock;

/*
 * Finds starts that explain the phases, at most `farthest` from 0, the nearest first. Returns how many, at most `room`.
 * A few phases may be of damaged columns. Whole positions come first, then at most one between whole positions. If all
 * frequencies are multiples of one, positions that differ by its period can be distinguished only by being whole.
 */
size_t starts_find(const phase_clock *c, int64_t farthest, start *found, size_t room);

/* ---- rows at positions in any order, each from the values of its row ----------------------------- */

/* Finds the formulas of the slowest columns, whose phases cover less than half a turn, and those of models. Returns how
   many. */
size_t list_formulas(const table_window *w, const columns *s, formula formulas[FORMULAS_MAX]);

/* Determines the positions of the rows of the window that are NaN, which they stay if there is none. Returns the number
   of known positions. relative: the relative error of angles. Positions from cosines alone are assumed to be
   positive. */
int64_t list_read(const table_window *w, const columns *s, const long double *frequencies, double amplitude,
                  double relative, double *positions);

#endif
