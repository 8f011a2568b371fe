/* SPDX-License-Identifier: MIT */
/* What the paper's encoding looks like, as figures of its own: numbers from a table that the library makes when the page is made. */
#ifndef POSENC_REPORTS_MODEL_ENCODING_H
#define POSENC_REPORTS_MODEL_ENCODING_H

#include <jansson.h>
#include <stdint.h>

/* Columns of the table that is looked at. */
enum { ENCODING_DIM = 128, ENCODING_INDICES = ENCODING_DIM / 2 };

/* The first rows of it, of doubles, interleaved: to free. Null on an error told on stderr. */
double *encoding_table(int64_t rows);

/*
 * { "dim", "base", "rows": n of the table,
 *   "frequencies": [ {"index", "frequency": base^(-2 index/dim) by pow, "turn": from row 0 to row 1 of the table, radians,
 *                     "wavelength": 2π / frequency} … ],
 *   "spectrum": null where posenc was built without KISS FFT, or
 *     {"rows": n transformed, "columns": [ {"index", "bin": of the exact wavelength, a fraction, "peak": bin of the largest amplitude,
 *                                           "amplitudes": [ [bin, amplitude] … ] of columns that are drawn, where not negligible} … ]},
 *   "similarity": {"positions": [p …], "spread": the largest difference that p makes,
 *                  "points": [ [k, PE[p]·PE[p + k] / (dim/2) for the first p] … ]} }
 *
 * Columns of the spectrum are those with at least four waves in its rows. Null on an error told on stderr.
 */
json_t *encoding_make(void);

#endif
