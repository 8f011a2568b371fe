/* SPDX-License-Identifier: MIT */
/* How much of the machine other processes use while this one measures. */
#ifndef POSENC_COMMON_OTHERS_H
#define POSENC_COMMON_OTHERS_H

#include <stdbool.h>

/* Seconds of all processors together, since the machine's start, and of this process. */
typedef struct others_mark {
  double used, all; /* used by any process, or by the hypervisor for other machines; and in all */
  double own;
} others_mark;

/* From the first line of /proc/stat, and the processor time of this process in seconds; false if it is no such line. */
bool others_parse(others_mark *mark, const char *line, double own);

/* Now; false where the system does not tell. */
bool others_read(others_mark *mark);

/* The share of all processors' time between two marks, 0 … 1, that others than this process used. The system counts in
   hundredths of a second: NaN if less than a tenth has passed. */
double others_share(const others_mark *from, const others_mark *to);

/* That share over the next so many seconds, which this thread sleeps; NaN if it is not known. */
double others_wait(double seconds);

/* The smallest share that puts times in doubt. */
#define OTHERS_MOST 0.05

#endif
