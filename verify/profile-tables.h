/* SPDX-License-Identifier: MIT */
/* A kernel's error in tables other than the profile's, at contexts that are in use. */
#ifndef POSENC_VERIFY_PROFILE_TABLES_H
#define POSENC_VERIFY_PROFILE_TABLES_H

#include "posenc.h"

#include <jansson.h>

/* Returns "tables" of an entry in "profile" (doc/records.md), of tables with that shift; null if memory runs out. */
json_t *profile_tables_json(const posenc_kernel *kernel, const posenc_options *options, double shift);

#endif
