/* SPDX-License-Identifier: MIT */
/* posenc check of a result of add or rope. */
#ifndef POSENC_CLI_CHECK_ARRAY_H
#define POSENC_CLI_CHECK_ARRAY_H

#include "cli/files.h"

/* Reads --x and FILE, opens --output, and compares. Returns the record, a new reference. Exits on bad input. */
json_t *check_array(options *given, output **out);

#endif
