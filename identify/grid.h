/* SPDX-License-Identifier: MIT */
/* Identifies tables of several axes, whose rows are the places of a grid: the columns of each axis are a table. */
#ifndef POSENC_IDENTIFY_GRID_H
#define POSENC_IDENTIFY_GRID_H

#include "identify/identity.h"

#include <jansson.h>

/* The record of such a table, as doc/python.md has it; null if it is none, or memory runs out, as *failed tells. */
json_t *identify_grid(const identify_request *request, bool *failed);

/* The same of a table whose rows have a position of their own on each axis, in any order. */
json_t *identify_lists(const identify_request *request, bool *failed);

#endif
