/* SPDX-License-Identifier: MIT */
/* One line on stderr that says how far long work has come; only on a terminal. */
#ifndef POSENC_COMMON_PROGRESS_H
#define POSENC_COMMON_PROGRESS_H

/*
 * Shows "stage: what [####------] 1.2/4.9 G elements, 231 M/s, 0:12 left", at most ten times a second; no wider than the
 * terminal: the bar goes first, then the end of what. Pace and time are those of the stage, which ends when another one is shown or done falls.
 */
typedef struct progress {
  char stage[32], what[256], unit[32];
  double done, total;
} progress;
void progress_show(const char *stage, const char *what, double done, double total, const char *unit);

/* Has all that would be shown by this process told to another, as often, terminal or not. */
void progress_divert(void (*tell)(const progress *now));

/* Wipes the line. Call before printing anything else. */
void progress_clear(void);

#endif
