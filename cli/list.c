/* SPDX-License-Identifier: MIT */
#include "cli/catalogue.h"
#include "cli/files.h"
#include "cli/model.h"
#include "common/contract.h"
#include "common/memory.h"
#include "common/shapes.h"
#include "impls/cr/families.h"
#include "records/make.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "Usage: posenc list [KERNEL,...] [OPTION]...\n"
                            "List the kernels, one on a line: largest error, whether it runs here, what it\n"
                            "is. First those of the library, fastest first, then those that use other\n"
                            "libraries, then those of plugins; then the recipes, which compute the table as\n"
                            "frameworks do. With names or patterns, print the contracts of those kernels;\n"
                            "with --config, instead of kernels, the formula of a model's rope.\n";
static const char notes[] = "An error of \"U ulp + A\" says that no element is further from the exact value\n"
                            "than U units in the last place of the exact value, plus A.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 on success\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc list\n"
                            "  $ posenc list cr-avx2\n"
                            "  $ posenc list 'recipe/*' --format json\n"
                            "  $ posenc list --config config.json --layer-type 3\n";

typedef void printer(const options *given, const posenc_kernel *kernel, int width, FILE *out);

static void print_name(const options *given, const posenc_kernel *kernel, int width, FILE *out) {
  (void)given, (void)width;
  fprintf(out, "%s\n", kernel->name);
}

static void print_line(const options *given, const posenc_kernel *kernel, int width, FILE *out) {
  posenc_bound bound = kernel->bound;
  const bool grows = bound.growth > 0.0;
  char error[128] = "no bound";
  if (grows) bound.abs = bound.growth = 0.0;
  if (bound.derived) format_error(&bound, error, sizeof error - sizeof ", grows");
  if (bound.derived && grows) strcat(error, ", grows");
  fprintf(out, "%-*s  %-15s  %-4s  %s\n", width, kernel->name, error,
          options_refusal(given, kernel, NULL) ? "no" : "yes", kernel->summary);
}

static void print_contract(const options *given, const posenc_kernel *kernel, int width, FILE *out) {
  static const char *const multiplied[2][2] = {
      {", or of f64, which the library multiplies by attention factors", " and multiplies by attention factors"},
      {"", ""}}; /* by whether the kernel attends, and has f32 only */
  (void)width;
  const char *refusal = options_refusal(given, kernel, NULL);
  char bound[128];
  format_bound(&kernel->bound, bound, sizeof bound);
  fprintf(out, "%s: %s\n", kernel->name, kernel->summary);
  fprintf(out, "  algorithm     %s\n", kernel->algorithm);
  fprintf(out, "  provenance    %s\n", kernel->provenance);
  fprintf(out, "  ISA           %s\n", kernel_isa(kernel));
  fprintf(out, "  bound         %s\n", bound);
  fprintf(out, "  basis         %s\n", kernel->basis);
  fprintf(out, "  reproducible  %s\n", kernel->reproducible ? "yes" : "no");
  fprintf(out, "  rows          %s%s\n",
          kernel->f32_only ? "of f32, which the library rounds to 16 bits" : "of the dtype that is asked for",
          multiplied[kernel->attends][kernel->f32_only]);
  fprintf(out, "  threads       %s\n", kernel->threaded ? "several" : "one");
  fprintf(out, "  runs here     %s%s\n", refusal ? "no: " : "yes", refusal ? refusal : "");
}

static void print_json(const options *given, const posenc_kernel *const *kernels, size_t count, FILE *out) {
  record_kernel *contracts = memory_take(count, sizeof *contracts);
  for (size_t i = 0; i < count; i++) contracts[i] = kernel_record(kernels[i], given->isa);
  record_print_kernels(contracts, count, out);
  free(contracts);
}

static void print_list(const options *given, const posenc_kernel *const *kernels, size_t count, bool chosen,
                       FILE *out) {
  printer *print = chosen ? print_contract : print_line;
  if (format_is(given, "names")) print = print_name;
  int width = 21; /* of the names */
  for (size_t i = 0; i < count; i++) width = width_with(width, kernels[i]->name);
  if (print == print_line)
    fprintf(out, "%-*s  %-15s  %-4s  %s\n", width, "KERNEL", "LARGEST ERROR", "RUNS", "WHAT IT IS");
  /* A list of all kernels has the recipes in a section of their own. */
  for (int apart = 0; apart <= (print == print_line); apart++)
    for (size_t i = 0; i < count; i++)
      if (print != print_line || (strchr(kernels[i]->name, '/') != NULL) == apart) print(given, kernels[i], width, out);
  if (print == print_line)
    fputs("\nposenc list KERNEL prints a contract, --encodings other encodings, --problems what can be computed.\n",
          out);
}

/* Prints the kernels that the operand selects, or all kernels. */
static void print_kernels(options *given, FILE *out) {
  size_t count;
  const posenc_kernel *const *kernels = catalogue_kernels(&count), **selected = NULL;
  if (given->operand_count > 0) {
    given->kernel = given->operands[0];
    rename_kernels(given);
    kernels = selected = select_kernels(given, &count);
  }
  for (size_t i = 0; !format_is(given, "names") && i < count; i++) catalogue_ask_device(kernels[i]);
  if (format_is(given, "json"))
    print_json(given, kernels, count, out);
  else
    print_list(given, kernels, count, selected, out);
  free(selected);
}

/* ---- encodings ------------------------------------------------------------------------------------ */

static void print_encodings_json(FILE *out) {
  size_t count;
  const posenc_encoding *const *encodings = posenc_encodings(&count);
  record_encoding *contracts = memory_take(count, sizeof *contracts);
  for (size_t i = 0; i < count; i++) contracts[i] = encoding_record(encodings[i]);
  record_print_encodings(contracts, count, out);
  free(contracts);
}

static void print_encoding(const posenc_encoding *e, FILE *out) {
  char bound[128] = "of its kernel";
  if (!e->by_kernels) format_bound(&e->bound, bound, sizeof bound);
  fprintf(out, "%s: %s\n", e->name, e->summary);
  fprintf(out, "  formula       %s\n", e->formula);
  fprintf(out, "  call          %s\n", e->call);
  fprintf(out, "  provenance    %s\n", e->provenance);
  fprintf(out, "  bound         %s\n", bound);
  fprintf(out, "  basis         %s\n", e->basis);
  const char *reproducible = e->reproducible ? "yes" : "no";
  fprintf(out, "  reproducible  %s\n", e->by_kernels ? "as its kernel" : reproducible);
}

static void print_encodings(FILE *out) {
  size_t count;
  const posenc_encoding *const *encodings = posenc_encodings(&count);
  for (size_t i = 0; i < count; i++) print_encoding(encodings[i], out);
}

/* ---- properties of problems ------------------------------------------------------------------------ */

typedef struct choice {
  const char *name, *summary;
} choice;

static void print_choices(FILE *out, const char *heading, const choice *choices, size_t count) {
  fprintf(out, "%s\n", heading);
  for (size_t i = 0; i < count; i++) fprintf(out, "  %-16s %s\n", choices[i].name, choices[i].summary);
}
#define PRINT_CHOICES(heading, choices) print_choices(out, heading, choices, sizeof choices / sizeof *choices)

/* Prints "factor, original, low=1, high=32": required keys, then those with a default. */
static void print_keys(const scaling_form *form, FILE *out) {
  const char *separator = "";
  fprintf(out, "  %-16s %s\n%19s", form->name, form->summary, "");
  for (int needed = 1; needed >= 0; needed--)
    for (int key = 0; key < SCALING_KEYS; key++)
      if (form->keys >> key & 1u && (form->needed >> key & 1u) == (unsigned)needed) {
        fprintf(out, "%s%s", separator, scaling_keys[key].name);
        if (!needed) scaling_default(form, key, out);
        separator = ", ";
      }
  fputc('\n', out);
}

/* Prints the properties of problems. Names are in the order of the enums of posenc.h. */
static void print_problems(FILE *out) {
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
  const choice grid_keys[] = {
      {"columns=wh", "the order of axes in the columns (that of the rows)"},
      {"pairs=16:24:24", "pairs of columns of each axis (equal ones)"},
      {"order=chunked|cyclic", "of indices: axis by axis, or in turn, as in interleaved M-RoPE"},
      {"frequencies=", "restarted: of each axis's columns; continued: of all; dealt: every one in turn"},
      {"grouped=no|yes", "the layout is that of all columns, or of each axis's"},
  };
  const choice positions[] = {
      {"--len, --offset", "successive ones, from a first one on"},
      {"--positions", "a list in any order, negative and fractional ones too (write, check)"},
      {"--grid", "of several axes, divided if they are to be: h=14,w=14/7 (write, check, verify)"},
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
  fputs("scalings of RoPE frequencies (--scaling KIND,KEY=VALUE...), w the frequency\n", out);
  for (int n = 0; n < SCALINGS; n++) print_keys(&scaling_forms[n], out);
  PRINT_CHOICES("layouts (--layout)", layouts);
  PRINT_CHOICES("keys of --grid beside its axes, LETTER=SIZE[:FIRST[:STEP]][/DIVISOR], LETTER=@FILE, or several such "
                "runs of positions joined by +, a position of each row",
                grid_keys);
  PRINT_CHOICES("odd numbers of columns (--odd; write, check)", policies);
  PRINT_CHOICES("dtypes (--dtype)", dtypes);
}

/* Returns the options of a family of tables that follow --len and --dim, a new string. */
static char *options_of_family(int n) {
  const posenc_problem problem = family_problem(n, 1);
  char *text = allocated(problem_options(&problem)), *rest = text;
  for (int words = 0; words < 4 && *rest; words += *rest++ == ' ') continue;
  memmove(text, rest, strlen(rest) + 1);
  return text;
}

/* Prints the tables with certificates, in one line for families that differ in dim alone. */
static void print_certificates(FILE *out) {
  char *before = NULL;
  fputs("certificates (positions 0 to 2^20 of these need no rounding test in cr kernels)", out);
  for (int n = 0; n < FAMILIES; n++) {
    char *now = options_of_family(n);
    if (!before || strcmp(before, now) != 0) fprintf(out, "\n  %s%s--dim", now, *now ? " " : "");
    fprintf(out, " %" PRId64, families[n].dim);
    free(before);
    before = now;
  }
  free(before);
  fputc('\n', out);
}

static int run(options *given) {
  if ((given->encodings || given->config) && format_is(given, "names"))
    die_value("--format", given->format, "not text or json");
  const char *list = given->problems ? "--problems" : "--encodings";
  if ((given->problems || given->encodings || given->config) && given->operand_count)
    die("%s: extra operand '%s'", given->config ? "--config" : list, given->operands[0]);
  output *out = open_output("--output", given->output);
  FILE *stream = output_stream(out);
  if (given->config) {
    explain_model(given, stream);
  } else if (given->problems) {
    print_problems(stream);
    print_certificates(stream);
  } else if (given->encodings) {
    (format_is(given, "json") ? print_encodings_json : print_encodings)(stream);
  } else {
    print_kernels(given, stream);
  }
  close_output("--output", given->output, out);
  return EXIT_SUCCESS;
}

const command command_list = {
    .bit = LIST,
    .name = "list",
    .summary = "list the kernels and what they promise",
    .usage = usage,
    .notes = notes,
    .operands_most = 1,
    .run = run,
};
