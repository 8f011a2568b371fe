/* SPDX-License-Identifier: MIT */
/* Progress of long work, as one line on stderr; only on a terminal, or as lines of a log. */
#ifndef POSENC_COMMON_PROGRESS_H
#define POSENC_COMMON_PROGRESS_H

/*
 * Shows "stage: what [####------] 1.2/4.9 G elements, 231 M/s, 0:12 left", at most ten times a second; no wider than
 * the terminal, without the bar or with a shorter text if need be. Pace and time left are those of the stage, which
 * begins when its name changes or `done` decreases.
 */
typedef struct progress {
  char stage[32], what[256], unit[32];
  double done, total;
} progress;
void progress_show(const char *stage, const char *what, double done, double total, const char *unit);

/* From now on, where stderr is no terminal, a line of its own is printed every two seconds, but not before that. */
void progress_in_lines(void);

/* From now on, progress of this process goes to `tell`, terminal or not. */
void progress_divert(void (*tell)(const progress *now));

/* Wipes the line. Call before printing anything else. */
void progress_clear(void);

#endif
