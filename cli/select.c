/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/select.h"

#include "cli/catalogue.h"
#include "common/memory.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

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
  char *words = given->kernel ? strdup(given->kernel) : NULL, *rest = words, *text = NULL;
  size_t length;
  FILE *stream = words ? open_memstream(&text, &length) : NULL;
  if (!given->kernel) return;
  if (!stream) die("out of memory");
  const char *separator = "";
  for (char *word; (word = strsep(&rest, ",")); separator = ",") fprintf(stream, "%s%s", separator, current_name(word));
  if (fclose(stream) != 0) die("out of memory");
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
