/* SPDX-License-Identifier: MIT */
/* Computes the cost of the library's own choices: the time of the chosen kernel divided by that of the fastest kernel
   with the same guarantees. */
#ifndef POSENC_REPORTS_MODEL_REGRET_H
#define POSENC_REPORTS_MODEL_REGRET_H

#include "records/timings.h"

/* Makes the "regret" of the report from its "choices" and times, for every shape that was timed, with one thread and
   with all threads. */
json_t *regret_make(const record_report *report, samples *times);

/* The geometric mean and the largest of the ratios with one thread, or with all; `count` is 0 if there are none. */
typedef struct regret_summary {
  int count;
  double mean, worst;
  const record_regret *of_worst; /* null if each choice is the fastest */
} regret_summary;
regret_summary regret_sum_up(const record_report *report, bool serial);

#endif
