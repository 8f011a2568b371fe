/* SPDX-License-Identifier: MIT */
#include "cli/catalogue.h"
#include "cli/options.h"
#include "common/contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_JSON = OPTION_OWN, OPTION_NAMES };

static const char help[] = "Usage: posenc list [OPTION]...\n"
                           "List the kernels, with what each promises and whether it runs here: the library's,\n"
                           "fastest first, then competitors on other libraries, then those of plugins; apart from\n"
                           "them recipes, which is how shipped frameworks compute the table.\n"
                           "\n"
                           "Options:\n"
                           "  --json            print the contracts as a JSON array\n"
                           "  --names           print the names alone\n" PLUGIN_HELP ISA_HELP HELP_HELP "\n"
                           "A bound of \"U ulp + A\" says that no element is further from the exact value than\n"
                           "U units in the last place of the exact value, plus A.\n"
                           "\n"
                           "Exit status:\n"
                           "  0                 if all is well\n"
                           "  2                 on bad input or any other error\n"
                           "\n"
                           "Examples:\n"
                           "  $ posenc list\n"
                           "  $ posenc list --json\n";

static const struct option long_options[] = {
    {"json", no_argument, NULL, OPTION_JSON},
    {"names", no_argument, NULL, OPTION_NAMES},
    PLUGIN_OPTIONS,
    ISA_OPTIONS,
    HELP_OPTIONS,
};

static void print_json(const options *given, const posenc_kernel *const *kernels, size_t count) {
  json_t *contracts = json_array();
  for (size_t i = 0; i < count; i++)
    if (json_array_append_new(contracts, kernel_json(kernels[i], given->isa)) != 0) die("out of memory");
  json_dumpf(contracts, stdout, JSON_INDENT(2));
  putchar('\n');
  json_decref(contracts);
}

static void print_contract(const options *given, const posenc_kernel *kernel) {
  posenc_options plan = options_of_plan(given, kernel);
  const char *refusal = posenc_kernel_refusal(kernel, NULL, &plan);
  char bound[128];
  bound_words(&kernel->bound, bound, sizeof bound);
  printf("%s: %s\n", kernel->name, kernel->summary);
  printf("  algorithm     %s\n", kernel->algorithm);
  printf("  provenance    %s\n", kernel->provenance);
  printf("  ISA           %s\n", kernel_isa(kernel));
  printf("  bound         %s\n", bound);
  printf("  basis         %s\n", kernel->basis);
  printf("  reproducible  %s\n", kernel->reproducible ? "yes" : "no");
  printf("  threads       %s\n", kernel->threaded ? "several" : "one");
  printf("  runs here     %s%s\n", refusal ? "no: " : "yes", refusal ? refusal : "");
}

/* Those that --kernel '*' selects, or the others. */
static void print_contracts(const options *given, const posenc_kernel *const *kernels, size_t count, bool apart) {
  for (size_t i = 0; i < count; i++)
    if ((strchr(kernels[i]->name, '/') != NULL) == apart) print_contract(given, kernels[i]);
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  bool json = false, names = false;
  for (int code; (code = options_next(&given, &command_list, argc, argv)) != -1;) {
    json |= code == OPTION_JSON;
    names |= code == OPTION_NAMES;
  }
  size_t count;
  const posenc_kernel *const *kernels = catalogue_kernels(&count);
  if (json) {
    print_json(&given, kernels, count);
    return EXIT_SUCCESS;
  }
  if (names) {
    for (size_t i = 0; i < count; i++) puts(kernels[i]->name);
    return EXIT_SUCCESS;
  }
  print_contracts(&given, kernels, count, false);
  puts("\nHow shipped frameworks compute it, and negative controls (--kernel 'recipe/*'):\n");
  print_contracts(&given, kernels, count, true);
  return EXIT_SUCCESS;
}

const command command_list = {
    .name = "list",
    .summary = "list the kernels and what they promise",
    .help = help,
    .short_options = "hV",
    .long_options = long_options,
    .run = run,
};
