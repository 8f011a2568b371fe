/* SPDX-License-Identifier: MIT */
/* The common parts of accuracy records, whose form is described in verify.h. */
#ifndef POSENC_VERIFY_RECORD_H
#define POSENC_VERIFY_RECORD_H

#include "verify/checks.h"

#include <jansson.h>

/* Returns a number as text such as "0x1.8p+0". */
json_t *record_hex(double x);

/* Returns field_name without "#", as TAP interprets words after it. */
json_t *record_name(const char *name);

/* Return parts of a record. record_witness takes the reference to `replay`. */
json_t *record_witness(const witness *w, json_t *replay);
json_t *record_histogram(const accuracy *a);
json_t *record_by_position(const accuracy *a);
json_t *record_check(const char *name, const check *c);

/* Returns the command line as a new string; "posenc check" if a name in it is not UTF-8. */
json_t *record_command(const char *command);

#endif
