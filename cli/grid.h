/* SPDX-License-Identifier: MIT */
/* The value of --grid, see common/grid.h. */
#ifndef POSENC_CLI_GRID_H
#define POSENC_CLI_GRID_H

#include "posenc.h"

/* New axes, which stay until the program ends; those without `pairs` have 0 of them. *rows is the number of places of
   the grid, or the length of its lists. files: lists may be read. */
posenc_axes *parse_grid(const char *option, const char *text, bool files, int64_t *rows);

#endif
