/* SPDX-License-Identifier: MIT */
/* The arrays of --op add and rope: x, and the result, in files that options and operands name. Each function exits with
   a message if it fails. */
#ifndef POSENC_CLI_ARRAYS_H
#define POSENC_CLI_ARRAYS_H

#include "cli/files.h"
#include "inspect/files/table.h"

/* Sets --x to FILE if it has both arrays, as --x-tensor or two --tensor say. */
void take_x(options *given);

/* Opens the array in the file of --x, and in `file` the result of --op; or x alone if it is null. The axes are those of
   --axes, or the usual ones; vectors side by side in the last axis have one of their own. */
applied_arrays open_arrays(const options *given, const char *file);

/* Sets the problem's rows, columns and dtype to those of x, and --start to the config's. `file`: for messages. */
void take_array(options *given, const applied_arrays *arrays, const char *file);

/* Writes the exact result of --op on --x to --output. */
void write_array(options *given);

#endif
