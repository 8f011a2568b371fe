/* SPDX-License-Identifier: MIT */
#include "tools/claims.h"

#include "posenc.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* Doubles are accurate enough, because at most six digits are printed. */

static const double turn = 6.283185307179586;

/* The base and the dim of most claims. */
enum { BASE = 10000, DIM = 512 };

static const char holds[] = "**holds**", is_false[] = "**false**";

static double frequency(int dim, int index) {
  return pow(BASE, -2.0 * index / dim);
}

static double longest_wave(int dim) {
  return turn / frequency(dim, dim / 2 - 1);
}

/* Whether x, rounded to that number of decimals, is `said`. */
static bool rounds_to(double x, double said, int decimals) {
  return fabs(x - said) <= 0.5 * pow(10, -decimals);
}

static void wavelengths(void) {
  const double longest = longest_wave(DIM), limit = BASE * turn;
  printf("from %.6g to %.6g at dim %d; 2π × %d = %.6g is the limit for ever wider tables | %s", turn, longest, DIM,
         BASE, limit, rounds_to(longest, limit, 1) ? holds : is_false);
}

static void frequencies_of_512(void) {
  static const struct {
    int index, decimals;
    double said;
  } claims[] = {{1, 3, 0.681}, {2, 3, 0.464}, {255, 4, 0.0001}};
  const char *verdict = holds;
  for (int i = 0; i < 3; i++) {
    const double w = frequency(DIM, claims[i].index);
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
    const double angle = 10 * frequency(DIM, column / 2), x = column % 2 ? cos(angle) : sin(angle);
    printf("%s%.4f", column ? ", " : "\\[", x);
    if (!rounds_to(x, said[column], 2)) verdict = is_false;
  }
  printf(", …] at dim %d; the first two are sin 10 and cos 10 at any | %s", DIM, verdict);
}

/* Compares f32 frequencies, computed by exp and log and by a power, with frequencies of doubles. The largest absolute
   error of a frequency is the error of an angle per position. */
static void log_and_power(void) {
  double by_log = 0, by_power = 0;
  const float slope = -(logf((float)BASE) / (float)DIM);
  for (int i = 0; i < DIM / 2; i++) {
    const double w = frequency(DIM, i);
    by_log = fmax(by_log, fabs((double)expf((float)(2 * i) * slope) - w));
    by_power = fmax(by_power, fabs((double)(1.0f / powf((float)BASE, (float)(2 * i) / (float)DIM)) - w));
  }
  printf("the same number on paper; in f32 a frequency is off by up to %.2g by exp and log, %.2g by a power, which at "
         "position 131072 turns angles by %.2g and %.2g | **holds only when** positions stay below %.0f, where that "
         "passes half an ulp of bf16",
         by_log, by_power, 131072 * by_log, 131072 * by_power, 0x1p-9 / by_log);
}

static void part_of_a_cycle(void) {
  static const int lengths[] = {512, 8192, 131072, 1 << 20};
  const double longest = longest_wave(DIM);
  printf("of a wave of %.6g positions (dim %d)", longest, DIM);
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
    for (int i = 0; i < DIM / 2; i++) {
      const double angle = p * frequency(DIM, i);
      sum += sin(angle) + cos(angle);
      squares += 1; /* sin² + cos² */
    }
  const double elements = (double)LENGTH * DIM, mean = sum / elements, variance = squares / elements - mean * mean;
  const double after = sqrt(variance + deviation * deviation);
  printf("%d × %d elements with mean 0 and deviation %g have, after PE is added, mean %.4f and deviation %.4f, %.1f "
         "times as much; turning pairs keeps every length | %s",
         LENGTH, DIM, deviation, mean, after, after / deviation, holds);
}

static void frequencies_of_768(void) {
  enum { WIDE = 768 };
  printf("0: %.6g, 100: %.6g, 700: none, there are %d (column 700 has index 350: %.6g) | **holds only when** an index "
         "is below %d",
         frequency(WIDE, 0), frequency(WIDE, 100), WIDE / 2, frequency(WIDE, 350), WIDE / 2);
}

void print_claims(void) {
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
