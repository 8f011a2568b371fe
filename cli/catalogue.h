/* SPDX-License-Identifier: MIT */
/* All kernels of the command: the library's, competitors, recipes, and those of plugins. */
#ifndef POSENC_CLI_CATALOGUE_H
#define POSENC_CLI_CATALOGUE_H

#include "cli/options.h"
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

/* Returns the kernel of exactly this name. Exits if there is none. */
const posenc_kernel *find_kernel(const char *name);

/* Replaces old names of kernels in --kernel by their current names, and prints a note on stderr for each. */
void rename_kernels(options *given);

/* Returns the kernels that given->kernel selects, or if it is null, all but those on devices and those with a slash in
   their name, as a new array. Exits if there are none. */
const posenc_kernel **select_kernels(const options *given, size_t *count);

/* Whether select_kernels selects kernels of that name; it need not exist. */
bool selects_kernel(const options *given, const char *name);

/* Whether --kernel contains the kernel's name itself, and not only a pattern. */
bool is_named(const options *given, const posenc_kernel *kernel);

/* Exits with a message about a name that is no encoding's, or that of an encoding which kernels compute. */
__attribute__((noreturn)) void die_encoding(const char *name);

/* Returns the encodings computed without kernels that the globs, separated by commas, select, as a new array. Exits if
   a glob selects none. */
const posenc_encoding **select_encodings(const char *globs, size_t *count);

#endif
