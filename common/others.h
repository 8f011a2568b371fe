/* SPDX-License-Identifier: MIT */
/* The share of the machine that other processes use while this one measures. */
#ifndef POSENC_COMMON_OTHERS_H
#define POSENC_COMMON_OTHERS_H

#include <stdbool.h>

/* Processor time in seconds: of all processors together since the machine's start, and of this process. */
typedef struct others_mark {
  double used, all; /* used by processes or other virtual machines; total */
  double own;
} others_mark;

/* Reads the first line of /proc/stat. own: the processor time of this process in seconds. Returns false for another
   line. */
bool others_parse(others_mark *mark, const char *line, double own);

/* Reads the current times; returns false where the system does not provide them. */
bool others_read(others_mark *mark);

/* Returns the share of all processors' time between two marks, 0 … 1, that was not used by this process or idle. NaN if
   less than a tenth of a second has passed, as the system counts in hundredths. */
double others_share(const others_mark *from, const others_mark *to);

/* Sleeps for some seconds and returns others_share of that time; NaN if it is unknown. */
double others_wait(double seconds);

/* The smallest share at which timings are reported as unreliable. */
#define OTHERS_MOST 0.05

#endif
