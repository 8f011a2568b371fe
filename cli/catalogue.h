/* SPDX-License-Identifier: MIT */
/* All kernels of the command: the library's, competitors, recipes, and those of plugins. */
#ifndef POSENC_CLI_CATALOGUE_H
#define POSENC_CLI_CATALOGUE_H

#include "common/digest.h"
#include "posenc.h"

/* Returns all kernels: the library's, fastest first, then the others, with plugins in the order of --plugin. The array
   is valid until a plugin is added. */
const posenc_kernel *const *catalogue_kernels(size_t *count);

/* Returns the kernel of that name, or null. */
const posenc_kernel *catalogue_find(const char *name);

/* Whether it is the kernel on an OpenCL device, which is selected only by name or pattern. */
bool catalogue_on_device(const posenc_kernel *kernel);

/* Finds out in a worker, once, whether that kernel has a device; if not, its contract's `absent` says why from then on.
   Does nothing for other kernels. Must be called before a kernel is used. */
void catalogue_ask_device(const posenc_kernel *kernel);

/* Opens the device of the kernel in this process, which must not fork from then on. Returns false if it has none. */
bool catalogue_open_device(const posenc_kernel *kernel);

/* The reason why the kernel is not timed on this machine, or null. */
const char *catalogue_untimed(const posenc_kernel *kernel);

/* The plugin that a kernel comes from, as given to --plugin, and the kernel's index in its posenc_plugin_kernels; path
   is null for other kernels. */
typedef struct plugin_place {
  const char *path;
  size_t number;
} plugin_place;
plugin_place catalogue_place(const posenc_kernel *kernel);

/* Loads a plugin and adds its kernels. Loading is first tried in a process of its own. Exits if that takes more than
   `silence` seconds, crashes or leaves a process behind, if the file is no plugin, or if a contract is incomplete. */
void catalogue_add(const char *path, double silence);

/* Returns the options that add the same plugins again, quoted for a shell, as "--plugin FILE --plugin FILE"; null if
   there are none. */
const char *catalogue_options(void);

/* Returns the digests of the plugins' files, in order. The array is valid until the next plugin is added. */
const digest_text *catalogue_plugins(size_t *count);

#endif
