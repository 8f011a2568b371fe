/* SPDX-License-Identifier: MIT */
/* Which waves a signal is made of, by KISS FFT. */
#ifndef POSENC_REPORTS_MODEL_SPECTRUM_H
#define POSENC_REPORTS_MODEL_SPECTRUM_H

#include <stdbool.h>
#include <stddef.h>

/* Was posenc built with KISS FFT? */
bool spectrum_available(void);

/*
 * Amplitudes of bins 0 … count/2 (bin k has k waves in `count` samples) of signal[0], signal[step], …, seen through Hann's window. A sine
 * between the ends, of amplitude 1 and a whole number of waves, has amplitude 1 in its bin. False when memory runs out, or without KISS FFT.
 */
bool spectrum_of(const double *signal, size_t count, size_t step, double *amplitudes);

#endif
