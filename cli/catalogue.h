/* SPDX-License-Identifier: MIT */
/* All kernels that the command knows: the library's, then competitors, then recipes, then those of plugins. */
#ifndef POSENC_CLI_CATALOGUE_H
#define POSENC_CLI_CATALOGUE_H

#include "common/digest.h"
#include "posenc.h"

/* Fastest first as the library has them; then the competitors; then the recipes; then the plugins' in the order that
 * these were added. Valid until the next one is. */
const posenc_kernel *const *catalogue_kernels(size_t *count);

/* The kernel of that name, or null. */
const posenc_kernel *catalogue_find(const char *name);

/* Loads the value of a --plugin and adds its kernels. Exits if it is no plugin, if anything in it would mislead, or if
 * loading it, which is tried in a process of its own, takes more than so many seconds or does more than load. */
void catalogue_add(const char *path, double silence);

/* The options that add the same plugins again, quoted for a shell: "--plugin FILE --plugin FILE"; null if there are
   none. */
const char *catalogue_options(void);

/* Digests of their files, in order. Valid until the next one is added. */
const digest_text *catalogue_plugins(size_t *count);

#endif
