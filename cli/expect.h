/* SPDX-License-Identifier: MIT */
/* --expect: values that a table must be found to have. */
#ifndef POSENC_CLI_EXPECT_H
#define POSENC_CLI_EXPECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Exits unless the text is KEY=VALUE,... with known keys. */
void expect_require(const char *option, const char *text);

/* Whether the record of posenc identify has these values; numbers are compared within their errors. Writes the
   differences to `why`. */
bool expect_is_met(const char *text, const json_t *record, char *why, size_t size);

#endif
