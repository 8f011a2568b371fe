/* SPDX-License-Identifier: MIT */
/* The progress of long work: one line on stderr if it is a terminal, otherwise nothing or lines of a log. */
#ifndef POSENC_COMMON_PROGRESS_H
#define POSENC_COMMON_PROGRESS_H

/*
 * Shows "stage: what [####------] 1.2/4.9 G elements, 231 M/s, 0:12 left", at most ten times a second. The line is no
 * wider than the terminal; if needed, the bar is left out or the text is shortened. Pace and time left are those of the
 * stage, which begins when its name or total changes; `done` is never shown to decrease in it.
 */
typedef struct progress {
  char stage[32], what[256], unit[32];
  double done, total;
} progress;
void progress_show(const char *stage, const char *what, double done, double total, const char *unit);

/* Makes later progress appear as one line every two seconds, after the first two seconds, if stderr is not a
   terminal. */
void progress_in_lines(void);

/* Passes later progress of this process to `tell`, whether stderr is a terminal or not. */
void progress_divert(void (*tell)(const progress *now));

/* Clears the line. To be called before anything else is printed. */
void progress_clear(void);

#endif
