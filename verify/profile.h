/* SPDX-License-Identifier: MIT */
/* A kernel's error by position and by frequency, far beyond the positions of tables; and the distances of exact
   rows. */
#ifndef POSENC_VERIFY_PROFILE_H
#define POSENC_VERIFY_PROFILE_H

#include "posenc.h"

#include <jansson.h>

/* The table: the paper's, as wide as the heads of most models; all rows of it are looked at. */
enum { PROFILE_DIM = 128, PROFILE_ROWS = 1 << 20 };

/* An entry of "profile" in the accuracy record (verify.h), in full, or errors against position alone; null when memory
 * runs out. This and profile_unique_json use all cores, by OpenMP: call them in a process of their own. */
json_t *profile_json(const posenc_kernel *kernel, const posenc_options *options, bool in_full);

/* The entry of a kernel whose process died; the kernel is not called. */
json_t *profile_empty_json(const posenc_kernel *kernel);

/* "unique" of the accuracy record; null when memory runs out. */
json_t *profile_unique_json(void);

#endif
