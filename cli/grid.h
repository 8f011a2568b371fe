/* SPDX-License-Identifier: MIT */
/* Parses the value of --grid, see common/grid.h. */
#ifndef POSENC_CLI_GRID_H
#define POSENC_CLI_GRID_H

#include "posenc.h"

/* Returns new axes, which stay until the program ends; axes without `pairs` have 0 pairs. *rows is the number of places
   of the grid, or the length of its lists. files: lists may be read. Exits if the text is invalid. */
posenc_axes *parse_grid(const char *option, const char *text, bool files, int64_t *rows);

#endif
