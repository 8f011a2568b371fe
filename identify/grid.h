/* SPDX-License-Identifier: MIT */
/* Identifies tables of several axes. In tables whose rows are the places of a grid, the columns of each axis are a
   table. */
#ifndef POSENC_IDENTIFY_GRID_H
#define POSENC_IDENTIFY_GRID_H

#include "identify/identity.h"

#include <jansson.h>

/* Returns the record of a grid, as doc/python.md describes it, a new reference; null if the table is no grid, or if
   memory runs out, in which case *failed is set. */
json_t *identify_grid(const identify_request *request, bool *failed);

/* As identify_grid, for a table whose rows have positions of their own on each axis, in any order. */
json_t *identify_lists(const identify_request *request, bool *failed);

#endif
