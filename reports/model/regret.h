/* SPDX-License-Identifier: MIT */
/* The cost of the library's own choices: the time of the chosen kernel divided by that of the fastest kernel with the
   same promises. */
#ifndef POSENC_REPORTS_MODEL_REGRET_H
#define POSENC_REPORTS_MODEL_REGRET_H

#include "records/samples.h"

/* The "regret" of the report, from its "choices" and times: of every shape that was timed, with one thread and with
   all. Null when memory runs out. */
json_t *regret_make(const record_report *report, samples *times);

/* The geometric mean and the largest of those of one thread, or of all; count 0: there are none. */
typedef struct regret_summary {
  int count;
  double mean, worst;
  const record_regret *of_worst; /* null if each choice is the fastest */
} regret_summary;
regret_summary regret_sum_up(const record_report *report, bool serial);

#endif
