/* SPDX-License-Identifier: MIT */
#include "reports/model/encoding.h"

#include "posenc.h"
#include "reports/model/spectrum.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const double turn = 6.283185307179586;

static posenc_problem problem_of(int64_t rows) {
  posenc_problem problem = posenc_table(rows, ENCODING_DIM);
  problem.dtype = POSENC_F64;
  return problem;
}

double *encoding_table(int64_t rows) {
  const posenc_problem problem = problem_of(rows);
  double *table = malloc((size_t)rows * ENCODING_DIM * sizeof *table);
  posenc_plan *plan = NULL;
  posenc_status status = table ? posenc_plan_create(&plan, &problem, NULL) : POSENC_OUT_OF_MEMORY;
  if (status == POSENC_OK) status = posenc_execute(plan, 0, rows, table);
  posenc_plan_destroy(plan);
  if (status == POSENC_OK) return table;
  fprintf(stderr, "posenc: report: the encoding's table: %s\n", posenc_status_message(status));
  free(table);
  return NULL;
}

static double frequency(int index) {
  return pow(problem_of(0).base, -2.0 * index / ENCODING_DIM);
}

/* Null where either is: memory ran out. */
static json_t *appended(json_t *array, json_t *element) {
  if (array && json_array_append_new(array, element) == 0) return array;
  if (!array) json_decref(element);
  json_decref(array);
  return NULL;
}

/* ---- frequencies ---- */

static json_t *make_frequencies(const double *table) {
  const double *row = table + ENCODING_DIM;
  json_t *all = json_array();
  for (int i = 0; all && i < ENCODING_INDICES; i++)
    all = appended(all, json_pack("{s:i, s:f, s:f, s:f}", "index", i, "frequency", frequency(i), "turn",
                                  atan2(row[2 * i], row[2 * i + 1]), "wavelength", turn / frequency(i)));
  return all;
}

/* ---- spectrum ---- */

enum { TRANSFORMED = 4096, LEAST_WAVES = 4, DRAWN_EVERY = 8 };

/* Amplitudes below it are not drawn. */
static const double negligible = 1e-4;

static json_t *make_amplitudes(const double *amplitudes) {
  json_t *all = json_array();
  for (int k = 1; all && k <= TRANSFORMED / 2; k++)
    if (amplitudes[k] >= negligible) all = appended(all, json_pack("[i, f]", k, amplitudes[k]));
  return all;
}

static int peak_of(const double *amplitudes) {
  int peak = 1;
  for (int k = 2; k <= TRANSFORMED / 2; k++)
    if (amplitudes[k] > amplitudes[peak]) peak = k;
  return peak;
}

/* Of column 2 index, the sine. */
static json_t *make_column(const double *table, int index) {
  double amplitudes[TRANSFORMED / 2 + 1];
  if (!spectrum_of(table + 2 * index, TRANSFORMED, ENCODING_DIM, amplitudes)) return NULL;
  json_t *column = json_pack("{s:i, s:f, s:i}", "index", index, "bin", TRANSFORMED * frequency(index) / turn, "peak",
                             peak_of(amplitudes));
  if (index % DRAWN_EVERY != 0 || json_object_set_new(column, "amplitudes", make_amplitudes(amplitudes)) == 0)
    return column;
  json_decref(column);
  return NULL;
}

static json_t *make_spectrum(const double *table) {
  if (!spectrum_available()) return json_null();
  json_t *columns = json_array();
  for (int i = 0; columns && TRANSFORMED * frequency(i) >= LEAST_WAVES * turn; i++)
    columns = appended(columns, make_column(table, i));
  return columns ? json_pack("{s:i, s:o}", "rows", TRANSFORMED, "columns", columns) : NULL;
}

/* ---- similarity ---- */

/* The positions that others are compared with, and how far these are, at most. */
static const int starts[] = {0, 1000, 4095};
enum { STARTS = sizeof starts / sizeof *starts, FARTHEST = 4096, ROWS = 4096 + FARTHEST };

static double similarity(const double *table, int p, int q) {
  double sum = 0;
  for (int j = 0; j < ENCODING_DIM; j++) sum += table[p * ENCODING_DIM + j] * table[q * ENCODING_DIM + j];
  return sum / ENCODING_INDICES;
}

/* Every difference that a linear axis shows, then as many for each octave, and the last. */
static int next_difference(int k) {
  const int next = k < 64 ? k + 1 : k + k / 32;
  return k < FARTHEST && next > FARTHEST ? FARTHEST : next;
}

static json_t *make_similarity(const double *table) {
  json_t *points = json_array(), *positions = json_array();
  double spread = 0;
  for (int s = 0; positions && s < STARTS; s++) positions = appended(positions, json_integer(starts[s]));
  for (int k = 0; points && k <= FARTHEST; k = next_difference(k)) {
    const double first = similarity(table, starts[0], starts[0] + k);
    for (int s = 1; s < STARTS; s++) spread = fmax(spread, fabs(similarity(table, starts[s], starts[s] + k) - first));
    points = appended(points, json_pack("[i, f]", k, first));
  }
  return json_pack("{s:o, s:f, s:o}", "positions", positions, "spread", spread, "points", points);
}

/* ---- all ---- */

json_t *encoding_make(void) {
  double *table = encoding_table(ROWS);
  if (!table) return NULL;
  json_t *made = json_pack("{s:i, s:f, s:i, s:o, s:o, s:o}", "dim", ENCODING_DIM, "base", problem_of(ROWS).base, "rows",
                           ROWS, "frequencies", make_frequencies(table), "spectrum", make_spectrum(table), "similarity",
                           make_similarity(table));
  free(table);
  if (!made) fputs("posenc: report: the encoding's figures: out of memory\n", stderr);
  return made;
}
