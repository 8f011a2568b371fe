/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "common/output.h"
#include "common/progress.h"
#include "files/npy.h"
#include "files/safetensors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: posenc write --len L --dim D [OPTION]... -o FILE\n"
    "Write a table of positional encodings, of shape (L, D), as a NumPy .npy file, or as\n"
    "the tensor '" SAFETENSORS_NAME "' of a safetensors file whose metadata tell the problem.\n"
    "\n"
    "Options:\n"
    "  -o, --output FILE\n"
    "                    where to write; - is standard output\n"
    "  --format NAME     npy or safetensors (safetensors for a FILE that ends in\n"
    "                    .safetensors, else npy)\n" TABLE_HELP
    "  --kernel NAME     who computes it (the fastest one that is accurate)\n" CHOICE_HELP RUN_HELP HELP_HELP "\n"
    "The file appears whole or not at all, and memory does not grow with L.\n"
    "NumPy has no bf16: in .npy such a table is saved as '<V2', as those of ml_dtypes are;\n"
    "numpy.load(FILE).view(ml_dtypes.bfloat16) is the table.\n"
    "\n"
    "Exit status:\n"
    "  0                 if all is well\n"
    "  2                 on bad input or any other error\n"
    "\n"
    "Examples:\n"
    "  $ posenc write --len 5000 --dim 512 -o table.npy\n"
    "  $ posenc write --len 5000 --dim 512 --dtype bf16 --max-ulp 0.5 -o exact.npy\n"
    "  $ posenc write --len 4096 --dim 128 --base 500000 -o table.safetensors\n"
    "  $ posenc write --len 1500 --dim 768 --shift 1 --layout split -o whisper.npy\n"
    "  $ posenc write --len 64 --dim 128 --offset 1099511627776 --dtype f64 -o - | xxd\n";

enum { OPTION_FORMAT = OPTION_OWN };

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, OPTION_FORMAT},
    TABLE_OPTIONS,
    KERNEL_OPTIONS,
    CHOICE_OPTIONS,
    RUN_OPTIONS,
    HELP_OPTIONS,
};

typedef enum file_format { FORMAT_OF_NAME, FORMAT_NPY, FORMAT_SAFETENSORS } file_format;

static file_format parse_format(const char *text) {
  if (strcmp(text, "npy") == 0) return FORMAT_NPY;
  if (strcmp(text, "safetensors") == 0) return FORMAT_SAFETENSORS;
  die_value("--format", text, "not npy or safetensors");
}

static file_format format_of_name(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && strcmp(dot, ".safetensors") == 0 ? FORMAT_SAFETENSORS : FORMAT_NPY;
}

/* Memory for rows on their way to the file. */
enum { BLOCK_BYTES = 4 << 20 };

static posenc_plan *make_plan(const options *given) {
  const posenc_kernel *kernel = given->kernel ? find_kernel(given->kernel) : NULL;
  posenc_options how = options_of_plan(given, kernel);
  const char *refusal = kernel ? posenc_kernel_refusal(kernel, &given->problem, &how) : NULL;
  if (refusal) die_value("--kernel", given->kernel, refusal);
  posenc_plan *plan;
  posenc_status status = posenc_plan_create(&plan, &given->problem, &how);
  if (status == POSENC_OK) return plan;
  if (status == POSENC_NO_KERNEL && how.max_ulp > 0.0)
    die("--max-ulp %g: %s", how.max_ulp, posenc_status_message(status));
  char table[256];
  problem_options(&given->problem, table, sizeof table);
  die("%s: %s", table, posenc_status_message(status));
}

/* Null, or what went wrong. */
static const char *write_header(const posenc_plan *plan, file_format format, FILE *stream) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  char npy[NPY_HEADER_MAX], *header = npy;
  size_t length = 0;
  if (format == FORMAT_NPY)
    length = npy_header(problem, npy);
  else if (!(header = safetensors_header(problem, posenc_plan_kernel(plan)->name, &length)))
    return "out of memory";
  const bool ok = fwrite(header, 1, length, stream) == length;
  const char *failure = ok ? NULL : strerror(errno);
  if (header != npy) free(header);
  return failure;
}

/* Writes the rows; null, or what went wrong. */
static const char *write_rows(const posenc_plan *plan, FILE *stream, const char *path) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  const size_t row_bytes = (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
  const int64_t block_rows = row_bytes < BLOCK_BYTES ? (int64_t)(BLOCK_BYTES / row_bytes) : 1;
  const char *failure = NULL;
  int64_t rows;
  char *block = posenc_alloc((size_t)block_rows * row_bytes);
  if (!block) return "a row of this table does not fit in memory";
  for (int64_t row = 0; row < problem->rows && !failure; row += rows) {
    rows = problem->rows - row < block_rows ? problem->rows - row : block_rows;
    posenc_status status = posenc_execute(plan, row, rows, block);
    if (status != POSENC_OK)
      failure = posenc_status_message(status);
    else if (fwrite(block, row_bytes, (size_t)rows, stream) != (size_t)rows)
      failure = strerror(errno);
    progress_show("write", path, (double)(row + rows) * (double)problem->dim,
                  (double)problem->rows * (double)problem->dim, "elements");
  }
  progress_clear();
  posenc_free(block);
  return failure;
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  const char *path = NULL;
  file_format format = FORMAT_OF_NAME;
  for (int code; (code = options_next(&given, &command_write, argc, argv)) != -1;) {
    if (code == 'o') path = optarg;
    if (code == OPTION_FORMAT) format = parse_format(optarg);
  }
  if (!options_have_table(&given)) die("--len and --dim are missing");
  if (given.kernel) options_refuse(&given, OPTION_MAX_ULP, OPTION_MAX_ULP, "--kernel");
  if (!path) die("--output is missing");
  if (format == FORMAT_OF_NAME) format = format_of_name(path);
  posenc_plan *plan = make_plan(&given);
  if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) die_value("--output", path, "standard output is a terminal");
  output *out = output_open(path);
  if (!out) die_value("--output", path, strerror(errno));
  const char *failure = write_header(plan, format, output_stream(out));
  if (!failure) failure = write_rows(plan, output_stream(out), path);
  posenc_plan_destroy(plan);
  if (failure)
    output_abandon(out);
  else if (!output_commit(out))
    failure = strerror(errno);
  if (failure) die_value("--output", path, failure);
  return EXIT_SUCCESS;
}

const command command_write = {
    .name = "write",
    .summary = "write a table as a .npy or a safetensors file",
    .help = help,
    .short_options = "ho:V",
    .long_options = long_options,
    .run = run,
};
