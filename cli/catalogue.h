/* SPDX-License-Identifier: MIT */
/* All kernels of the command: the library's, then those on other libraries, then recipes, then those of plugins. */
#ifndef POSENC_CLI_CATALOGUE_H
#define POSENC_CLI_CATALOGUE_H

#include "common/digest.h"
#include "posenc.h"

/* The library's, fastest first; then the others, plugins in the order of --plugin. Valid until a plugin is added. */
const posenc_kernel *const *catalogue_kernels(size_t *count);

/* The kernel of that name, or null. */
const posenc_kernel *catalogue_find(const char *name);

/* The plugin that a kernel comes from, as given to --plugin, and the kernel's index in its posenc_plugin_kernels; path
   is null for other kernels. */
typedef struct plugin_place {
  const char *path;
  size_t number;
} plugin_place;
plugin_place catalogue_place(const posenc_kernel *kernel);

/* Loads a plugin and adds its kernels. Exits if it is no plugin, if a contract is incomplete, or if loading it, which
   is first tried in a process of its own, takes more than `silence` seconds, crashes or leaves a process behind. */
void catalogue_add(const char *path, double silence);

/* The options that add the same plugins again, quoted for a shell: "--plugin FILE --plugin FILE"; null if there are
   none. */
const char *catalogue_options(void);

/* Digests of the plugins' files, in order. Valid until the next one is added. */
const digest_text *catalogue_plugins(size_t *count);

#endif
