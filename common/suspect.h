/* SPDX-License-Identifier: MIT */
/* Suspects: problems that may have been computed instead of another one, each with the words for the mistake. */
#ifndef POSENC_COMMON_SUSPECT_H
#define POSENC_COMMON_SUSPECT_H

#include "posenc.h"

typedef struct suspect {
  posenc_problem problem;
  char text[160]; /* the mistake: "the scaling is left out" */
} suspect;

enum { SUSPECTS_MAX = 64 };
typedef struct suspect_list {
  suspect items[SUSPECTS_MAX];
  size_t count;
} suspect_list;

/* Adds a suspect, unless the list is full. */
__attribute__((format(printf, 3, 4))) void suspects_add(suspect_list *list, const posenc_problem *problem,
                                                        const char *format, ...);

#endif
