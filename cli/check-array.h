/* SPDX-License-Identifier: MIT */
/* The part of posenc check that is about add and rope. */
#ifndef POSENC_CLI_CHECK_ARRAY_H
#define POSENC_CLI_CHECK_ARRAY_H

#include "cli/files.h"

/* Reads --x and FILE, opens --output, and compares. Exits on bad input. */
json_t *check_array(options *given, output **out);

#endif
