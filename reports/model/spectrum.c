/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/model/spectrum.h"

#ifdef HAVE_KISSFFT

#include <kiss_fftr.h>
#include <math.h>
#include <stdlib.h>

bool spectrum_available(void) {
  return true;
}

static const double turn = 6.283185307179586;

bool spectrum_of(const double *signal, size_t count, size_t step, double *amplitudes) {
  kiss_fft_scalar *seen = malloc(count * sizeof *seen);
  kiss_fft_cpx *waves = malloc((count / 2 + 1) * sizeof *waves);
  kiss_fftr_cfg plan = seen && waves ? kiss_fftr_alloc((int)count, 0, NULL, NULL) : NULL;
  if (plan) {
    for (size_t i = 0; i < count; i++)
      seen[i] = (kiss_fft_scalar)(signal[i * step] * (0.5 - 0.5 * cos(turn * (double)i / (double)count)));
    kiss_fftr(plan, seen, waves);
    /* Half of a sine is at the negative frequency, and the window's mean is one half. */
    for (size_t k = 0; k <= count / 2; k++)
      amplitudes[k] = hypot((double)waves[k].r, (double)waves[k].i) * 4 / (double)count;
    kiss_fftr_free(plan);
  }
  free(waves);
  free(seen);
  return plan != NULL;
}

#else

bool spectrum_available(void) {
  return false;
}

bool spectrum_of(const double *signal, size_t count, size_t step, double *amplitudes) {
  (void)signal, (void)count, (void)step, (void)amplitudes;
  return false;
}

#endif
