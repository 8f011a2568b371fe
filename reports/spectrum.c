/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/spectrum.h"

#ifdef HAVE_FFTW

#include <complex.h>
#include <fftw3.h>
#include <math.h>

bool spectrum_available(void) {
  return true;
}

static const double turn = 6.283185307179586;

bool spectrum_of(const double *signal, size_t count, size_t step, double *amplitudes) {
  double *seen = fftw_alloc_real(count);
  fftw_complex *waves = fftw_alloc_complex(count / 2 + 1);
  fftw_plan plan = seen && waves ? fftw_plan_dft_r2c_1d((int)count, seen, waves, FFTW_ESTIMATE) : NULL;
  if (plan) {
    for (size_t i = 0; i < count; i++) seen[i] = signal[i * step] * (0.5 - 0.5 * cos(turn * (double)i / (double)count));
    fftw_execute(plan);
    /* Half of a sine is at the negative frequency, and the window's mean is one half. */
    for (size_t k = 0; k <= count / 2; k++) amplitudes[k] = cabs(waves[k]) * 4 / (double)count;
    fftw_destroy_plan(plan);
  }
  fftw_free(waves);
  fftw_free(seen);
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
