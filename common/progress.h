/* SPDX-License-Identifier: MIT */
/* One line on stderr that says how far long work has come; only on a terminal. */
#ifndef POSENC_COMMON_PROGRESS_H
#define POSENC_COMMON_PROGRESS_H

/* Shows "stage: what [done/total, time left]", at most ten times a second. */
void progress_show(const char *stage, const char *what, double done, double total);

/* Wipes the line. Call before printing anything else. */
void progress_clear(void);

#endif
