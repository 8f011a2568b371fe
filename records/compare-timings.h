/* SPDX-License-Identifier: MIT */
/* Compares two timing records. */
#ifndef POSENC_RECORDS_COMPARE_TIMINGS_H
#define POSENC_RECORDS_COMPARE_TIMINGS_H

#include "records/speed.h"

/* The note on a benchmark that has no times on a side. */
extern const char compare_no_times[];

/* Adds the rows of the benchmarks that both records have, and the names of those that one record has. */
void compare_timings(const json_t *before, const json_t *after, const compare_limits *limits, json_t *rows,
                     json_t *gone, json_t *added);

#endif
