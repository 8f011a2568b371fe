/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/catalogue.h"

#include "cli/options.h"
#include "common/contract.h"
#include "common/isolate.h"
#include "common/memory.h"
#include "common/terminal.h"
#include "common/work.h"
#include "impls/opencl/opencl.h"
#include "impls/peers/peers.h"
#include "impls/recipes/recipes.h"
#include "records/record.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* These are null until they are first needed. Plugins stay loaded until the program ends. */
static const posenc_kernel **kernels;
static size_t kernel_count;
static char *options_text;
static digest_text *digests;
static size_t digest_count;
typedef struct plugin {
  const char *path;
  const posenc_kernel *const *list; /* ends with a null */
} plugin;
static plugin *plugins;
static size_t plugin_count;

static void append(const posenc_kernel *const *more, size_t count) {
  kernels = allocated(reallocarray(kernels, kernel_count + count, sizeof(*kernels)));
  memcpy(kernels + kernel_count, more, count * sizeof(*kernels));
  kernel_count += count;
}

const posenc_kernel *const *catalogue_kernels(size_t *count) {
  if (!kernels) {
    size_t more;
    const posenc_kernel *const *list = posenc_kernels(&more);
    append(list, more);
    list = peers_kernels(&more);
    append(list, more);
    append(&(const posenc_kernel *){&opencl_cr}, 1);
    list = recipes_kernels(&more);
    append(list, more);
  }
  *count = kernel_count;
  return kernels;
}

const posenc_kernel *catalogue_find(const char *name) {
  size_t count;
  const posenc_kernel *const *known = catalogue_kernels(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(known[i]->name, name) == 0) return known[i];
  return NULL;
}

const char *catalogue_options(void) {
  return options_text;
}

/* ---- the kernel on an OpenCL device ------------------------------------------------------------ */

/* Two lines that the process of the device writes: "GPU" or nothing; and why the device cannot be used, or nothing.
   Null until the process has run. */
static char *device_reply;
static bool is_device_gpu;

static void ask_device(void *argument) {
  (void)argument;
  isolate_say("opening the OpenCL device", 0.0);
  const opencl_reply found = opencl_ask();
  char *text = memory_print("%s\n%s", found.is_gpu ? "GPU" : "", found.refusal ? found.refusal : "");
  isolate_result(text);
  free(text);
}

bool catalogue_on_device(const posenc_kernel *kernel) {
  return kernel == &opencl_cr;
}

void catalogue_ask_device(const posenc_kernel *kernel) {
  if (!catalogue_on_device(kernel) || opencl_cr.absent || device_reply) return;
  const isolated end = isolate(ask_device, NULL,
                               &(isolation){.kernels = &kernel, .kernel_count = 1, .silence = ISOLATE_DEFAULT_SILENCE});
  char words[400];
  describe_exit(&end, words, sizeof words);
  device_reply = end.result ? end.result : memory_print("\n%s", words);
  const char *refusal = strchr(device_reply, '\n');
  is_device_gpu = strncmp(device_reply, "GPU\n", 4) == 0;
  if (!refusal || refusal[1]) opencl_cr.absent = refusal ? refusal + 1 : device_reply;
}

bool catalogue_open_device(const posenc_kernel *kernel) {
  return catalogue_on_device(kernel) && !kernel->absent && !opencl_ask().refusal;
}

const char *catalogue_untimed(const posenc_kernel *kernel) {
  if (!catalogue_on_device(kernel) || kernel->absent || is_device_gpu) return NULL;
  return "its OpenCL device is no GPU, which a processor emulates: such times are not taken";
}

/* ---- loading a plugin -------------------------------------------------------------------------- */

/* Whether the path is UTF-8 without control characters, as replay commands, JSON and lines of TAP require. */
static bool is_printable(const char *path) {
  return plain_is(path) && record_is_utf8(path);
}

/* Reads everything that is read before kernels are checked. An endless list or an invalid pointer crashes the process
   in which this runs, and not the command. */
static size_t touch(void *object) {
  const uint32_t *abi = dlsym(object, "posenc_plugin_abi");
  const posenc_kernel *const *list = dlsym(object, "posenc_plugin_kernels");
  size_t read = 0;
  if (!abi || !list || *abi != POSENC_KERNEL_ABI) return 0;
  for (; *list && (*list)->abi == POSENC_KERNEL_ABI; list++) {
    const char *const told[] = {(*list)->name,       (*list)->summary, (*list)->algorithm,
                                (*list)->provenance, (*list)->basis,   (*list)->absent};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) read += told[i] ? strlen(told[i]) : 0;
  }
  return read;
}

/* Loads the plugin in a worker, which runs the constructors. Errors of dlopen itself are reported later. */
static void try_loading(void *argument) {
  isolate_say("loading", 0.0);
  void *object = dlopen(argument, RTLD_NOW | RTLD_LOCAL);
  if (object) touch(object);
  isolate_result("");
}

/* Loads the plugin with stdout and stderr redirected to /dev/null, because try_loading has shown the constructors'
   output. */
static void *load_quietly(const char *file) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  int kept[2];
  fflush(stdout);
  for (int i = 0; i < 2; i++) {
    kept[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, 3);
    dup2(nowhere, STDOUT_FILENO + i);
  }
  void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  fflush(stdout);
  fflush(stderr);
  for (int i = 0; i < 2; i++) {
    if (kept[i] < 0) {
      close(STDOUT_FILENO + i);
      continue;
    }
    dup2(kept[i], STDOUT_FILENO + i);
    close(kept[i]);
  }
  close(nowhere);
  return object;
}

static void *load(const char *path, double silence) {
  /* A path without a slash would make dlopen search for a library of that name. */
  char *file = memory_print("%s%s", strchr(path, '/') ? "" : "./", path);
  const posenc_kernel named = {.name = path}, *const at_work = &named;
  const isolated end =
      isolate(try_loading, file, &(isolation){.kernels = &at_work, .kernel_count = 1, .silence = silence});
  if (!end.result) {
    char words[400];
    describe_exit(&end, words, sizeof words);
    die_value("--plugin", path, words);
  }
  free(end.result);
  void *object = load_quietly(file);
  if (!object) {
    const char *why = dlerror();
    const size_t length = strlen(file);
    if (strncmp(why, file, length) == 0 && strncmp(why + length, ": ", 2) == 0) why += length + 2;
    die_value("--plugin", path, why);
  }
  free(file);
  return object;
}

static const void *find_symbol(void *object, const char *path, const char *name) {
  const void *symbol = dlsym(object, name);
  if (!symbol) die("--plugin %s: no plugin: it has no %s, which POSENC_PLUGIN of posenc.h makes", path, name);
  return symbol;
}

/* Returns the plugin's list of kernels. If the interface version differs, nothing else is read. */
static const posenc_kernel *const *kernels_of(void *object, const char *path) {
  const uint32_t *abi = find_symbol(object, path, "posenc_plugin_abi");
  if (*abi != POSENC_KERNEL_ABI)
    die("--plugin %s: built for version %u of the kernel interface; this posenc has version %u", path, (unsigned)*abi,
        (unsigned)POSENC_KERNEL_ABI);
  const posenc_kernel *const *list = find_symbol(object, path, "posenc_plugin_kernels");
  if (!*list) die_value("--plugin", path, "its list of kernels is empty");
  return list;
}

/* ---- checking a kernel ------------------------------------------------------------------------- */

enum { NAME_MOST = 31 };

static bool is_name(const char *name) {
  const size_t length = strlen(name);
  return length >= 1 && length <= NAME_MOST && kernel_name_length(name) == length;
}

static bool is_amount(double x) {
  return isfinite(x) && x >= 0.0;
}

/* Returns the first mistake in the contract of a kernel that has a name, or null. */
static const char *defect(const posenc_kernel *kernel) {
  const posenc_bound *bound = &kernel->bound;
  if (!is_name(kernel->name))
    return "a name is 1 to 31 lower case letters, digits and hyphens, in parts between slashes";
  if (catalogue_find(kernel->name)) return "another kernel has that name";
  if (!kernel->execute && !kernel->absent) return "it has no execute";
  if (!kernel->summary) return "it has no summary";
  if (!kernel->algorithm) return "it has no algorithm";
  if (!kernel->provenance) return "it has no provenance";
  if (!kernel->basis) return "it has no basis for its bound";
  if (!is_amount(bound->ulp) || !is_amount(bound->abs) || !is_amount(bound->growth) || bound->max_position < 0)
    return "its bound is negative or not finite";
  const char *const told[] = {kernel->summary, kernel->algorithm, kernel->provenance, kernel->basis};
  for (size_t i = 0; i < sizeof told / sizeof *told; i++)
    if (!record_is_utf8(told[i])) return "a text of its contract is not UTF-8";
  return NULL;
}

static void check_kernel(const char *path, const posenc_kernel *kernel, size_t number) {
  if (kernel->abi != POSENC_KERNEL_ABI) die("--plugin %s: kernel %zu: its abi is not POSENC_KERNEL_ABI", path, number);
  if (!kernel->name) die("--plugin %s: kernel %zu has no name", path, number);
  const char *why = defect(kernel);
  if (why) die("--plugin %s: kernel %s: %s", path, *kernel->name ? kernel->name : "''", why);
}

/* ---- adding ------------------------------------------------------------------------------------ */

static void add_option(const char *path) {
  const char *const words[] = {"--plugin", path};
  char *text = quoted_line(options_text ? options_text : "", 2, words);
  free(options_text);
  options_text = text;
}

static void add_digest(const char *path) {
  digests = allocated(reallocarray(digests, digest_count + 1, sizeof *digests));
  if (!file_digest(path, &digests[digest_count++])) die_value("--plugin", path, strerror(errno));
}

static void add_plugin(const char *path, const posenc_kernel *const *list) {
  plugins = allocated(reallocarray(plugins, plugin_count + 1, sizeof *plugins));
  plugins[plugin_count++] = (plugin){path, list};
}

plugin_place catalogue_place(const posenc_kernel *kernel) {
  for (size_t n = 0; n < plugin_count; n++)
    for (size_t i = 0; plugins[n].list[i]; i++)
      if (plugins[n].list[i] == kernel) return (plugin_place){plugins[n].path, i};
  return (plugin_place){NULL, 0};
}

const digest_text *catalogue_plugins(size_t *count) {
  *count = digest_count;
  return digests;
}

void catalogue_add(const char *path, double silence) {
  if (!is_printable(path)) die_value("--plugin", path, "a name that is not UTF-8, or has control characters in it");
  set_plugins();
  const posenc_kernel *const *list = kernels_of(load(path, silence), path);
  for (size_t i = 0; list[i]; i++) {
    check_kernel(path, list[i], i + 1);
    append(&list[i], 1);
  }
  add_option(path);
  add_digest(path);
  add_plugin(path, list);
}

/* ---- kernels and encodings that the command line names ------------------------------------------- */

/* The names that a pattern can select; a null entry matches nothing. */
typedef struct name_list {
  const char *(*name)(size_t i);
  size_t count;
  const char *option; /* the option that takes the names; null for an operand */
  void (*die_unknown)(const char *option, const char *name);
} name_list;

static const char *nearest_in(const name_list *list, const char *wanted) {
  const char *nearest = NULL;
  for (size_t i = 0; i < list->count; i++)
    if (list->name(i)) nearest = nearer_name(wanted, nearest, list->name(i));
  return nearest;
}

/* Sets selected[i] for the names that the glob matches; exits if there are none. Only a slash in the glob matches a
   slash in a name. */
static void select_by_glob(const name_list *list, const char *glob, bool *selected) {
  bool any = false;
  for (size_t i = 0; i < list->count; i++) {
    if (!list->name(i) || fnmatch(glob, list->name(i), FNM_PATHNAME) != 0) continue;
    any = selected[i] = true;
  }
  if (!any) list->die_unknown(list->option, glob);
}

/* Returns which names the globs, separated by commas, match, as a new array. */
static bool *select_by_globs(const name_list *list, const char *globs) {
  bool *selected = allocated(calloc(list->count, sizeof *selected));
  char *words = allocated(strdup(globs)), *rest = words;
  for (char *glob; (glob = strsep(&rest, ","));) select_by_glob(list, glob, selected);
  free(words);
  return selected;
}

/* ---- kernels ------------------------------------------------------------------------------------- */

static const posenc_kernel *const *all_kernels(void) {
  size_t count;
  return catalogue_kernels(&count);
}

static const char *kernel_name(size_t i) {
  return all_kernels()[i]->name;
}

__attribute__((noreturn)) static void die_kernel(const char *option, const char *name);

static name_list kernel_names(const char *option) {
  name_list list = {.name = kernel_name, .option = option, .die_unknown = die_kernel};
  catalogue_kernels(&list.count);
  return list;
}

static void die_kernel(const char *option, const char *name) {
  const name_list list = kernel_names(option);
  die_unknown(option, name, "no such kernel", nearest_in(&list, name), "posenc list prints them");
}

const posenc_kernel *find_kernel(const char *name) {
  const posenc_kernel *kernel = catalogue_find(name);
  if (!kernel) die_kernel("--kernel", name);
  catalogue_ask_device(kernel);
  return kernel;
}

/* Returns the current name of a renamed kernel, and prints a note on stderr. Returns the name itself if it is not an
   old one, or if a plugin has a kernel of that name. */
static const char *current_name(const char *name) {
  static const char *const renamed[][2] = {{"rotation", "rotation-portable"},
                                           {"avx512", "rotation-avx512"},
                                           {"openmp", "rotation-threads"},
                                           {"cr-openmp", "cr-threads"}};
  for (size_t i = 0; i < sizeof renamed / sizeof *renamed && !catalogue_find(name); i++) {
    if (strcmp(name, renamed[i][0]) != 0) continue;
    note("kernel '%s' is now called '%s'", name, renamed[i][1]);
    return renamed[i][1];
  }
  return name;
}

void rename_kernels(options *given) {
  if (!given->kernel) return;
  char *words = memory_copy_text(given->kernel), *rest = words, *text = NULL;
  size_t length;
  FILE *stream = allocated(open_memstream(&text, &length));
  const char *separator = "";
  for (char *word; (word = strsep(&rest, ",")); separator = ",") fprintf(stream, "%s%s", separator, current_name(word));
  if (fclose(stream) != 0) memory_end();
  free(words);
  given->kernel = text; /* freed at the end of the program */
}

const posenc_kernel **select_kernels(const options *given, size_t *count) {
  const name_list list = kernel_names(is_given(given, OPTION_KERNEL) ? "--kernel" : NULL);
  const posenc_kernel **chosen = allocated(calloc(list.count, sizeof(*chosen)));
  bool *selected = select_by_globs(&list, given->kernel ? given->kernel : "*");
  *count = 0;
  for (size_t i = 0; i < list.count; i++) {
    const posenc_kernel *kernel = all_kernels()[i];
    if (!selected[i] || (!given->kernel && catalogue_on_device(kernel))) continue;
    catalogue_ask_device(kernel);
    chosen[(*count)++] = kernel;
  }
  free(selected);
  return chosen;
}

bool selects_kernel(const options *given, const char *name) {
  bool selected = false;
  char *words = allocated(strdup(given->kernel ? given->kernel : "*")), *rest = words;
  for (char *glob; (glob = strsep(&rest, ","));) selected = selected || fnmatch(glob, name, FNM_PATHNAME) == 0;
  free(words);
  const name_list list = kernel_names(NULL);
  for (size_t i = 0; i < list.count && !given->kernel; i++)
    if (strcmp(list.name(i), name) == 0 && catalogue_on_device(all_kernels()[i])) return false;
  return selected;
}

bool is_named(const options *given, const posenc_kernel *kernel) {
  const size_t length = strlen(kernel->name);
  for (const char *word = given->kernel; word; word = strchr(word, ',')) {
    word += *word == ',';
    if (strcspn(word, ",") == length && strncmp(word, kernel->name, length) == 0) return true;
  }
  return false;
}

/* ---- encodings ----------------------------------------------------------------------------------- */

static const posenc_encoding *const *all_encodings(void) {
  size_t count;
  return posenc_encodings(&count);
}

static const char *encoding_name(size_t i) {
  return all_encodings()[i]->by_kernels ? NULL : all_encodings()[i]->name;
}

__attribute__((noreturn)) static void die_unknown_encoding(const char *option, const char *name);

static name_list encoding_names(void) {
  name_list list = {.name = encoding_name, .option = "--encoding", .die_unknown = die_unknown_encoding};
  posenc_encodings(&list.count);
  return list;
}

static void die_unknown_encoding(const char *option, const char *name) {
  const name_list list = encoding_names();
  if (posenc_encoding_find(name)) die_value(option, name, "kernels compute it, and --kernel selects those");
  die_unknown(option, name, "no such encoding", nearest_in(&list, name), "posenc list --encodings prints them");
}

void die_encoding(const char *name) {
  die_unknown_encoding("--encoding", name);
}

const posenc_encoding **select_encodings(const char *globs, size_t *count) {
  const name_list list = encoding_names();
  const posenc_encoding **chosen = allocated(calloc(list.count, sizeof(*chosen)));
  bool *selected = select_by_globs(&list, globs);
  *count = 0;
  for (size_t i = 0; i < list.count; i++)
    if (selected[i]) chosen[(*count)++] = all_encodings()[i];
  free(selected);
  return chosen;
}
