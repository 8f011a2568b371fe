/* SPDX-License-Identifier: MIT */
#include "cli/catalogue.h"
#include "cli/options.h"
#include "common/contract.h"
#include "common/field.h"
#include "common/scaling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "Usage: posenc list [OPTION]...\n"
                            "List the kernels with their contracts, and whether they run here: first those of the\n"
                            "library, fastest first, then those on other libraries, then those of plugins; then the\n"
                            "recipes, which compute the table as frameworks do; then operations, layouts, scalings\n"
                            "and other properties of a problem.\n";
static const char notes[] = "A bound of \"U ulp + A\" says that no element is further from the exact value than\n"
                            "U units in the last place of the exact value, plus A.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 on success\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc list\n"
                            "  $ posenc list --json\n";

static void print_json(const options *given, const posenc_kernel *const *kernels, size_t count) {
  json_t *contracts = json_array();
  for (size_t i = 0; i < count; i++)
    if (json_array_append_new(contracts, kernel_json(kernels[i], given->isa)) != 0) die("out of memory");
  field_print(contracts, stdout);
  json_decref(contracts);
}

static void print_contract(const options *given, const posenc_kernel *kernel) {
  posenc_options plan = options_of_plan(given, kernel);
  const char *refusal = posenc_kernel_refusal(kernel, NULL, &plan);
  char bound[128];
  format_bound(&kernel->bound, bound, sizeof bound);
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

/* Prints the kernels that --kernel '*' selects, or if `apart` the others. */
static void print_contracts(const options *given, const posenc_kernel *const *kernels, size_t count, bool apart) {
  for (size_t i = 0; i < count; i++)
    if ((strchr(kernels[i]->name, '/') != NULL) == apart) print_contract(given, kernels[i]);
}

/* ---- encodings ------------------------------------------------------------------------------------ */

static void print_encodings_json(void) {
  size_t count;
  const posenc_encoding *const *encodings = posenc_encodings(&count);
  json_t *contracts = json_array();
  for (size_t i = 0; i < count; i++)
    if (json_array_append_new(contracts, encoding_json(encodings[i])) != 0) die("out of memory");
  field_print(contracts, stdout);
  json_decref(contracts);
}

static void print_encoding(const posenc_encoding *e) {
  char bound[128] = "of its kernel, see above";
  if (!e->by_kernels) format_bound(&e->bound, bound, sizeof bound);
  printf("%s: %s\n", e->name, e->summary);
  printf("  formula       %s\n", e->formula);
  printf("  call          %s\n", e->call);
  printf("  provenance    %s\n", e->provenance);
  printf("  bound         %s\n", bound);
  printf("  basis         %s\n", e->basis);
  printf("  reproducible  %s\n", e->by_kernels ? "as its kernel" : e->reproducible ? "yes" : "no");
}

static void print_encodings(void) {
  size_t count;
  const posenc_encoding *const *encodings = posenc_encodings(&count);
  for (size_t i = 0; i < count; i++) print_encoding(encodings[i]);
}

/* ---- properties of problems ------------------------------------------------------------------------ */

typedef struct choice {
  const char *name, *summary;
} choice;

static void print_choices(const char *heading, const choice *choices, size_t count) {
  printf("%s\n", heading);
  for (size_t i = 0; i < count; i++) printf("  %-16s %s\n", choices[i].name, choices[i].summary);
}
#define PRINT_CHOICES(heading, choices) print_choices(heading, choices, sizeof choices / sizeof *choices)

/* "factor, original, low=1, high=32": keys that must be given, then those with a default. */
static void print_keys(const scaling_form *form) {
  const char *separator = "";
  printf("  %-16s %s\n%19s", form->name, form->summary, "");
  for (int needed = 1; needed >= 0; needed--)
    for (int key = 0; key < SCALING_KEYS; key++)
      if (form->keys >> key & 1u && (form->needed >> key & 1u) == (unsigned)needed) {
        printf("%s%s", separator, scaling_keys[key].name);
        if (!needed) scaling_default(form, key, stdout);
        separator = ", ";
      }
  putchar('\n');
}

/* Names are in the order of the enums of posenc.h. */
static void print_problems(void) {
  const choice ops[] = {
      {op_name(POSENC_TABLE), "the table: sin and cos of position x scale x frequency"},
      {op_name(POSENC_ADD), "x + the table"},
      {op_name(POSENC_ROPE), "pairs of x turned by their angles, or back by --inverse"},
      {op_name(POSENC_ROPE_CACHE), "the tables of cosines and of sines that are kept for rope"},
  };
  const choice layouts[] = {
      {layout_name(POSENC_INTERLEAVED), "s0 c0 s1 c1 ...; of a rope cache f0 f0 f1 f1 ..."},
      {layout_name(POSENC_INTERLEAVED_CS), "c0 s0 c1 s1 ..."},
      {layout_name(POSENC_SPLIT), "s0 s1 ... c0 c1 ...; of a rope cache f0 f1 ..."},
      {layout_name(POSENC_SPLIT_CS), "c0 c1 ... s0 s1 ..."},
      {layout_name(POSENC_DUPLICATED), "of a rope cache: f0 f1 ... f0 f1 ..."},
  };
  const choice dtypes[] = {
      {dtype_name(POSENC_F32), "IEEE binary32"},
      {dtype_name(POSENC_F64), "IEEE binary64; not of add and rope"},
      {dtype_name(POSENC_F16), "IEEE binary16; not of add and rope"},
      {dtype_name(POSENC_BF16), "bfloat16"},
  };
  const choice policies[] = {
      {odd_name(POSENC_ODD_REFUSED), "an odd number of columns is an error"},
      {odd_name(POSENC_ODD_PAD), "the table of a column less, and a column of zeros"},
      {odd_name(POSENC_ODD_CEIL), "one more sine than cosine"},
  };
  const choice positions[] = {
      {"--len, --offset", "successive ones, from a first one on"},
      {"--positions", "a list in any order, negative and fractional ones too (write, check)"},
      {"--scale", "the angle is position x scale x frequency"},
  };
  const choice frequencies[] = {
      {"--base", "base^(-i / (dim/2 - shift))"},
      {"--choose-base L", "base 10 L / 2 pi: the longest wave is ten times L"},
      {"--shift", "0 in the paper, 1 in tensor2tensor, fairseq and Whisper"},
  };
  PRINT_CHOICES("operations (--op)", ops);
  PRINT_CHOICES("positions", positions);
  PRINT_CHOICES("frequencies", frequencies);
  puts("scalings of RoPE frequencies (--scaling KIND,KEY=VALUE...), w the frequency");
  for (int n = 0; n < SCALINGS; n++) print_keys(&scaling_forms[n]);
  PRINT_CHOICES("layouts (--layout)", layouts);
  PRINT_CHOICES("odd numbers of columns (--odd; write, check)", policies);
  PRINT_CHOICES("dtypes (--dtype)", dtypes);
}

static int run(options *given) {
  size_t count;
  const posenc_kernel *const *kernels = catalogue_kernels(&count);
  if (given->problems) {
    print_problems();
  } else if (given->encodings) {
    (given->json ? print_encodings_json : print_encodings)();
  } else if (given->json) {
    print_json(given, kernels, count);
  } else if (given->names) {
    for (size_t i = 0; i < count; i++) puts(kernels[i]->name);
  } else {
    print_contracts(given, kernels, count, false);
    puts("\nHow shipped frameworks compute it, and negative controls (--kernel 'recipe/*'):\n");
    print_contracts(given, kernels, count, true);
    puts("\nEncodings (posenc list --encodings):\n");
    print_encodings();
    puts("\nWhat problems are made of (posenc list --problems):\n");
    print_problems();
  }
  return EXIT_SUCCESS;
}

const command command_list = {
    .bit = LIST,
    .name = "list",
    .summary = "list the kernels and what they promise",
    .usage = usage,
    .notes = notes,
    .run = run,
};
