/* SPDX-License-Identifier: MIT */
/* A kernel's error over positions and frequencies, far beyond what tables hold; and how far exact rows are apart. */
#ifndef POSENC_VERIFY_PROFILE_H
#define POSENC_VERIFY_PROFILE_H

#include "posenc.h"

#include <jansson.h>

/* The table: the paper's, as wide as the heads of most models; all rows of it are looked at. */
enum { PROFILE_DIM = 128, PROFILE_ROWS = 1 << 20 };

/* An entry of "profile" in the accuracy record (verify.h), in full, or errors against position alone; null when memory
 * runs out. This and profile_unique_json use all cores, by OpenMP: call them in a process of their own. */
json_t *profile_json(const posenc_kernel *kernel, const posenc_options *options, bool in_full);

/* The entry of a kernel that did not live to tell; nothing of it is called. */
json_t *profile_empty_json(const posenc_kernel *kernel);

/* "unique" of the accuracy record; null when memory runs out. */
json_t *profile_unique_json(void);

#endif
