/* SPDX-License-Identifier: MIT */
/* The parts that records of accuracy have in common; verify.h tells their form. */
#ifndef POSENC_VERIFY_RECORD_H
#define POSENC_VERIFY_RECORD_H

#include "verify/checks.h"

#include <jansson.h>

/* A number as "0x1.8p+0". */
json_t *record_hex(double x);

/* field_name; TAP knows words behind a "#". */
json_t *record_name(const char *name);

/* The reference to `replay` is taken. */
json_t *record_witness(const witness *w, json_t *replay);
json_t *record_histogram(const accuracy *a);
json_t *record_check(const char *name, const check *c);

/* The command line as a new string; "posenc check" if a name in it is not UTF-8. */
json_t *record_command(const char *command);

#endif
