/* SPDX-License-Identifier: MIT */
/*
 * Windows of a table, checked by several threads at once: each takes a block of rows, makes them by the kernel, and
 * checks them while they are in its cache. The findings and the record are those of subject_check_window for the same
 * windows, to the last bit.
 */
#ifndef POSENC_VERIFY_PARTS_H
#define POSENC_VERIFY_PARTS_H

#include "reference/fast.h"
#include "verify/subject.h"

typedef struct part_team part_team;

/* Windows may have at most `rows` rows. Null if memory runs out. To be created and destroyed while one thread runs. */
part_team *parts_create(subject *s, fast_oracle *reference, int64_t rows);
void parts_destroy(part_team *p);

/* Whether the kernel may be called for few rows at a time, and its bound holds for all of the window or for none of
   it. */
bool parts_can(const subject *s, window w);

/* Takes a window, which is checked now or later, together with others; parts_end checks all waiting windows. */
void parts_take(part_team *p, window w);
void parts_end(part_team *p);

#endif
