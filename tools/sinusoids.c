/* SPDX-License-Identifier: MIT */
/*
 * Prints numbers for doc/sinusoids.md, from a table that the library makes: those that tools/sinusoids.gp draws, as
 * data blocks of gnuplot, or those of the text, as Markdown.
 *
 *     posenc-sinusoids data | text
 */
#include "config.h"

#include "posenc.h"

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

static double frequency(int dim, int index) {
  return pow(BASE, -2.0 * index / dim);
}

/* ---- claims ---------------------------------------------------------------------------------------------- */

/* The dim of most claims. */
enum { CLAIMED = 512 };

/* Doubles are accurate enough, because at most six digits are printed. */

static const char holds[] = "**holds**", is_false[] = "**false**";

static double longest_wave(int dim) {
  return turn / frequency(dim, dim / 2 - 1);
}

/* Whether x, rounded to that number of decimals, is `said`. */
static bool rounds_to(double x, double said, int decimals) {
  return fabs(x - said) <= 0.5 * pow(10, -decimals);
}

static void wavelengths(void) {
  const double longest = longest_wave(CLAIMED), limit = BASE * turn;
  printf("from %.6g to %.6g at dim %d; 2π × %d = %.6g is the limit for ever wider tables | %s", turn, longest, CLAIMED,
         BASE, limit, rounds_to(longest, limit, 1) ? holds : is_false);
}

static void frequencies_of_512(void) {
  static const struct {
    int index, decimals;
    double said;
  } claims[] = {{1, 3, 0.681}, {2, 3, 0.464}, {255, 4, 0.0001}};
  const char *verdict = holds;
  for (int i = 0; i < 3; i++) {
    const double w = frequency(CLAIMED, claims[i].index);
    printf("%sθ<sub>%d</sub> = %.6g", i ? ", " : "", claims[i].index, w);
    if (!rounds_to(w, claims[i].said, claims[i].decimals)) verdict = is_false;
  }
  for (int dim = 6; verdict == is_false && dim <= 8192; dim += 2)
    if (rounds_to(frequency(dim, 1), claims[0].said, 3) && rounds_to(frequency(dim, 2), claims[1].said, 3)) {
      printf("; the first two are those of dim %d", dim);
      break;
    }
  printf(" | %s", verdict);
}

static void position_ten(void) {
  static const double said[] = {0.0, 1.0, 0.67, 0.74};
  const char *verdict = holds;
  for (int column = 0; column < 4; column++) {
    const double angle = 10 * frequency(CLAIMED, column / 2), x = column % 2 ? cos(angle) : sin(angle);
    printf("%s%.4f", column ? ", " : "\\[", x);
    if (!rounds_to(x, said[column], 2)) verdict = is_false;
  }
  printf(", …] at dim %d; the first two are sin 10 and cos 10 at any | %s", CLAIMED, verdict);
}

/* Compares f32 frequencies, computed by exp and log and by a power, with frequencies of doubles. The largest absolute
   error of a frequency is the error of an angle per position. */
static void log_and_power(void) {
  double by_log = 0, by_power = 0;
  const float slope = -(logf((float)BASE) / (float)CLAIMED);
  for (int i = 0; i < CLAIMED / 2; i++) {
    const double w = frequency(CLAIMED, i);
    by_log = fmax(by_log, fabs((double)expf((float)(2 * i) * slope) - w));
    by_power = fmax(by_power, fabs((double)(1.0f / powf((float)BASE, (float)(2 * i) / (float)CLAIMED)) - w));
  }
  printf("the same number on paper; in f32 a frequency is off by up to %.2g by exp and log, %.2g by a power, which at "
         "position 131072 turns angles by %.2g and %.2g | **holds only when** positions stay below %.0f, where that "
         "passes half an ulp of bf16",
         by_log, by_power, 131072 * by_log, 131072 * by_power, 0x1p-9 / by_log);
}

static void part_of_a_cycle(void) {
  static const int lengths[] = {512, 8192, 131072, 1 << 20};
  const double longest = longest_wave(CLAIMED);
  printf("of a wave of %.6g positions (dim %d)", longest, CLAIMED);
  for (int i = 0; i < 4; i++) printf("%s %d are %.3g", i ? "," : "", lengths[i], lengths[i] / longest);
  printf(" | **holds only when** there are far fewer than %.0f positions", longest);
}

static void chosen_bases(void) {
  static const struct { int length, said; } claims[] = {{512, 814}, {4096, 6511}};
  const char *verdict = holds;
  for (int i = 0; i < 2; i++) {
    const double base = posenc_base_for(claims[i].length);
    printf("%s10 × %d / 2π = %.6g", i ? ", " : "", claims[i].length, base);
    if (fabs(base - claims[i].said) >= 1) verdict = is_false; /* `said` may be rounded or truncated */
  }
  printf(" | %s", verdict);
}

/* Prints the mean and the standard deviation of all elements of x + PE, for x with mean 0 and standard deviation
   0.1. */
static void statistics_of_sum(void) {
  enum { LENGTH = 512 };
  static const double deviation = 0.1;
  double sum = 0, squares = 0;
  for (int p = 0; p < LENGTH; p++)
    for (int i = 0; i < CLAIMED / 2; i++) {
      const double angle = p * frequency(CLAIMED, i);
      sum += sin(angle) + cos(angle);
      squares += 1; /* sin² + cos² */
    }
  const double elements = (double)LENGTH * CLAIMED, mean = sum / elements, variance = squares / elements - mean * mean;
  const double after = sqrt(variance + deviation * deviation);
  printf("%d × %d elements with mean 0 and deviation %g have, after PE is added, mean %.4f and deviation %.4f, %.1f "
         "times as much; turning pairs keeps every length | %s",
         LENGTH, CLAIMED, deviation, mean, after, after / deviation, holds);
}

static void frequencies_of_768(void) {
  enum { WIDE = 768 };
  printf("0: %.6g, 100: %.6g, 700: none, there are %d (column 700 has index 350: %.6g) | **holds only when** an index "
         "is below %d",
         frequency(WIDE, 0), frequency(WIDE, 100), WIDE / 2, frequency(WIDE, 350), WIDE / 2);
}

/* Prints the claims as a Markdown table. The claims that records decide are in reports/model/claims.c. */
static void print_claims(void) {
  static const struct {
    const char *claim;
    void (*compute)(void); /* prints the computed values and, in the next column, the verdict */
  } claims[] = {
      {"Wavelengths run from 2π to 10000 · 2π.", wavelengths},
      {"At dim 512, θ<sub>1</sub> is about 0.681, θ<sub>2</sub> 0.464, θ<sub>255</sub> 0.0001.", frequencies_of_512},
      {"Position 10 is encoded as \\[0.0, 1.0, 0.67, 0.74, …].", position_ten},
      {"exp and log of div\\_term are equivalent to the power, and numerically stable.", log_and_power},
      {"The lowest frequency completes only a small part of a cycle, even in very long sequences.", part_of_a_cycle},
      {"The base for lengths about 512 is 814, about 4096 it is 6511.", chosen_bases},
      {"Adding PE shifts the statistics of small embeddings; rotating keeps magnitudes.", statistics_of_sum},
      {"At dim 768 there are frequencies 0, 100 and 700.", frequencies_of_768},
  };
  puts("| claim | computed | verdict |\n|---|---|---|");
  for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
    printf("| %s | ", claims[i].claim);
    claims[i].compute();
    puts(" |");
  }
}

/* ---- the table ------------------------------------------------------------------------------------------- */

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
    printf("%d %.8g %.8g %.8g\n", i, frequency(DIM, i), turn_of(table, i), turn / frequency(DIM, i));
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
  return TRANSFORMED * frequency(DIM, index) / turn;
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
    if (told) printf("| %d | %.6f | %.6f | %.6g | ", i, frequency(DIM, i), turn_of(table, i), turn / frequency(DIM, i));
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
