/* SPDX-License-Identifier: MIT */
/*
 * Prints numbers for doc/sinusoids.md, from a table that the library makes: those that tools/sinusoids.gp draws, as
 * data blocks of gnuplot, or those of the text, as Markdown.
 *
 *     posenc-sinusoids data | text
 */
#include "config.h"

#include "posenc.h"
#include "tools/claims.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  DIM = 128,
  INDICES = DIM / 2,
  BASE = 10000,
  DRAWN_ROWS = 160,
  TRANSFORMED = 4096,
  LEAST_WAVES = 4, /* waves that a column of the spectrum has in the transformed rows */
  FARTHEST = 4096, /* largest difference of positions */
  ROWS = 4096 + FARTHEST
};

static const double turn = 6.283185307179586;

static double frequency(int index) {
  return pow(BASE, -2.0 * index / DIM);
}

/* Returns the table, to be freed; null after an error, which it prints on stderr. */
static double *make_table(void) {
  posenc_problem problem = posenc_table(ROWS, DIM);
  double *table = malloc((size_t)ROWS * DIM * sizeof *table);
  posenc_plan *plan = NULL;
  problem.dtype = POSENC_F64;
  posenc_status status = table ? posenc_plan_create(&plan, &problem, NULL) : POSENC_OUT_OF_MEMORY;
  if (status == POSENC_OK) status = posenc_execute(plan, 0, ROWS, table);
  posenc_plan_destroy(plan);
  if (status == POSENC_OK) return table;
  fprintf(stderr, "posenc-sinusoids: %s\n", posenc_status_message(status));
  free(table);
  return NULL;
}

static void print_table(const double *table) {
  puts("$table << EOD");
  for (int i = 0; i < DRAWN_ROWS * DIM; i++) printf("%.4f%c", table[i], i % DIM == DIM - 1 ? '\n' : ' ');
  puts("EOD");
}

/* Returns the angle by which a pair rotates from row 0 to row 1. */
static double turn_of(const double *table, int index) {
  const double *row = table + DIM;
  return atan2(row[2 * index], row[2 * index + 1]);
}

static void print_frequencies(const double *table) {
  puts("$frequencies << EOD");
  for (int i = 0; i < INDICES; i++)
    printf("%d %.8g %.8g %.8g\n", i, frequency(i), turn_of(table, i), turn / frequency(i));
  puts("EOD");
}

/* ---- spectrum ---- */

#ifdef HAVE_KISSFFT
#include <kiss_fftr.h>

/*
 * Computes the amplitudes of bins 0 … TRANSFORMED/2 of the sine column of an index, with Hann's window. Bin k has k
 * waves in the transformed rows. A sine of amplitude 1 with a whole number of waves has amplitude 1 in its bin. Returns
 * false if memory runs out.
 */
static bool transform(const double *table, int index, double *amplitudes) {
  static kiss_fft_scalar seen[TRANSFORMED];
  static kiss_fft_cpx waves[TRANSFORMED / 2 + 1];
  kiss_fftr_cfg plan = kiss_fftr_alloc(TRANSFORMED, 0, NULL, NULL);
  if (!plan) return false;
  for (int i = 0; i < TRANSFORMED; i++)
    seen[i] = (kiss_fft_scalar)(table[i * DIM + 2 * index] * (0.5 - 0.5 * cos(turn * i / TRANSFORMED)));
  kiss_fftr(plan, seen, waves);
  /* Half of the amplitude of a sine is at the negative frequency, and the mean of the window is one half. */
  for (int k = 0; k <= TRANSFORMED / 2; k++)
    amplitudes[k] = hypot((double)waves[k].r, (double)waves[k].i) * 4 / TRANSFORMED;
  kiss_fftr_free(plan);
  return true;
}
#else
static bool transform(const double *table, int index, double *amplitudes) {
  (void)table, (void)index, (void)amplitudes;
  fputs("posenc-sinusoids: built without KISS FFT\n", stderr);
  return false;
}
#endif

static double bin_of(int index) {
  return TRANSFORMED * frequency(index) / turn;
}

static int peak_of(const double *amplitudes) {
  int peak = 1;
  for (int k = 2; k <= TRANSFORMED / 2; k++)
    if (amplitudes[k] > amplitudes[peak]) peak = k;
  return peak;
}

/* Prints index, bin and amplitude of each drawn column, for amplitudes that are not negligible. Returns false if memory
   runs out. */
static bool print_spectrum(const double *table) {
  static const double negligible = 1e-3;
  enum { DRAWN_EVERY = 8, DRAWN = 5 };
  double amplitudes[TRANSFORMED / 2 + 1];
  puts("$spectrum << EOD");
  for (int i = 0; i < DRAWN; i++) {
    if (!transform(table, DRAWN_EVERY * i, amplitudes)) return false;
    for (int k = 1; k <= TRANSFORMED / 2; k++)
      if (amplitudes[k] >= negligible) printf("%d %d %.3g\n", DRAWN_EVERY * i, k, amplitudes[k]);
    puts("\n");
  }
  puts("EOD");
  return true;
}

/* ---- similarity ---- */

static double similarity(const double *table, int p, int q) {
  double sum = 0;
  for (int j = 0; j < DIM; j++) sum += table[p * DIM + j] * table[q * DIM + j];
  return sum / INDICES;
}

/* Returns the next difference to print: every one on the linear axis, then 32 for each octave, and the last. */
static int next_difference(int k) {
  const int next = k < 64 ? k + 1 : k + k / 32;
  return k < FARTHEST && next > FARTHEST ? FARTHEST : next;
}

static void print_similarity(const double *table) {
  puts("$similarity << EOD");
  for (int k = 0; k <= FARTHEST; k = next_difference(k)) printf("%d %.6f\n", k, similarity(table, 0, k));
  puts("EOD");
}

/* ---- text ---- */

/* Prints the frequencies of the formula and those found in the table. Returns false if memory runs out. */
static bool print_waves(const double *table) {
  double amplitudes[TRANSFORMED / 2 + 1], farthest = 0;
  int transformed = 0;
  puts("| index | frequency | turn of row 1 | wavelength | bin | peak at bin |\n|---:|---:|---:|---:|---:|---:|");
  for (int i = 0; i < INDICES; i++) {
    const bool waves = bin_of(i) >= LEAST_WAVES, told = i % 4 == 0 || i == INDICES - 1;
    if (told) printf("| %d | %.6f | %.6f | %.6g | ", i, frequency(i), turn_of(table, i), turn / frequency(i));
    if (waves && !transform(table, i, amplitudes)) return false;
    if (waves) {
      const int peak = peak_of(amplitudes);
      farthest = fmax(farthest, fabs(peak - bin_of(i)));
      transformed++;
      if (told) printf("%.2f | %d |\n", bin_of(i), peak);
    } else if (told)
      puts("– | – |");
  }
  printf("\nOf %d columns with %d waves or more, none has its peak farther than %.2f bins from its own frequency.\n",
         transformed, LEAST_WAVES, farthest);
  return true;
}

static void print_spread(const double *table) {
  static const int starts[] = {0, 1000, 4095};
  double spread = 0;
  for (int k = 0; k <= FARTHEST; k = next_difference(k))
    for (int s = 1; s < 3; s++)
      spread = fmax(spread, fabs(similarity(table, starts[s], starts[s] + k) - similarity(table, 0, k)));
  printf("For p = %d, %d and %d the similarity of p and p + k is the same to within 1e%.0f, for every k up to %d.\n",
         starts[0], starts[1], starts[2], ceil(log10(spread)), FARTHEST);
}

int main(int argc, char **argv) {
  const bool data = argc == 2 && strcmp(argv[1], "data") == 0;
  if (!data && !(argc == 2 && strcmp(argv[1], "text") == 0)) {
    fputs("Usage: posenc-sinusoids data | text\n", stderr);
    return 2;
  }
  double *table = make_table();
  if (!table) return 2;
  bool done;
  if (data) {
    print_table(table);
    print_frequencies(table);
    print_similarity(table);
    done = print_spectrum(table);
  } else {
    done = print_waves(table);
    puts("");
    print_spread(table);
    puts("");
    print_claims();
  }
  free(table);
  return done && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}
