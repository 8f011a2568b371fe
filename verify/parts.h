/* SPDX-License-Identifier: MIT */
/*
 * Windows of a table, checked by several threads at once: each takes a block of rows, has the kernel make them, and
 * judges them while they are in its cache. What is found, and the record of it, is that of subject_check_window for the
 * same windows, to the last bit.
 */
#ifndef POSENC_VERIFY_PARTS_H
#define POSENC_VERIFY_PARTS_H

#include "reference/fast.h"
#include "verify/subject.h"

typedef struct part_team part_team;

/* Null when memory runs out. A window has `rows` rows at most. Made and destroyed while one thread runs. */
part_team *parts_create(subject *s, fast_oracle *reference, int64_t rows);
void parts_destroy(part_team *p);

/* Whether the kernel may be called for few rows at a time, and its bound is for all of the window or for none of it. */
bool parts_can(const subject *s, window w);

/* Takes a window. It is checked now or later, together with others; parts_end checks all that wait. */
void parts_take(part_team *p, window w);
void parts_end(part_team *p);

#endif
