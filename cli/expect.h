/* SPDX-License-Identifier: MIT */
/* --expect: what a table must be found to be. */
#ifndef POSENC_CLI_EXPECT_H
#define POSENC_CLI_EXPECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Exits unless the text is KEY=VALUE,... of keys that there are. */
void expect_require(const char *option, const char *text);

/* Whether the record of posenc identify has these values; numbers within their errors. Writes what differs. */
bool expect_is_met(const char *text, const json_t *record, char *why, size_t size);

#endif
