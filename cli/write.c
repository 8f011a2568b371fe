/* SPDX-License-Identifier: MIT */
#include "cli/encodings.h"
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
    "  or:  posenc write --positions LIST --dim D [OPTION]... -o FILE\n"
    "Write a table of positional encodings, of shape (L, D), as a NumPy .npy file, or as\n"
    "the tensor '" SAFETENSORS_NAME "' of a safetensors file whose metadata tell the problem, and with it a\n"
    "list of positions as the tensor '" SAFETENSORS_POSITIONS "'.\n"
    "\n"
    "Options:\n"
    "  -o, --output FILE\n"
    "                    where to write; - is standard output\n"
    "  --format NAME     npy or safetensors (safetensors for a FILE that ends in\n"
    "                    .safetensors, else npy)\n"
    "  --op NAME         table, or rope-cache: the tables of cosines and of sines that\n"
    "                    are kept for rope, of shape (2, L, D), or as the tensors 'cos'\n"
    "                    and 'sin' (table)\n"
    "  --encoding NAME   sinusoidal, integer, binary, learned or alibi (sinusoidal)\n"
    "  --heads H         of alibi: the file is of shape (H, L, L); behind an --offset P,\n"
    "                    which the L queries come after, (H, L, P + L)\n"
    "  --table FILE      of learned: rows to gather, .npy or safetensors; its columns, and\n"
    "                    its dtype unless --dtype says another\n"
    "  --tensor NAME     of FILE, a safetensors file (the only one that can be a table)\n" TABLE_HELP_OF(
        "columns, even; an odd number needs --odd") ROWS_HELP
    "  --kernel NAME     who computes it (the fastest one that is accurate)\n" CHOICE_HELP RUN_HELP HELP_HELP "\n"
    "The file appears whole or not at all, and memory does not grow with L.\n"
    "A LIST of digits, signs, points, exponents and commas is one of positions, all else\n"
    "the name of a file; @NAME always is. A text has white space or commas between them.\n"
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
    "  $ posenc write --positions 5,10,-2.5,1000 --dim 64 -o rows.npy\n"
    "  $ posenc write --len 131072 --dim 128 --base 500000 --scaling llama3 \\\n"
    "      --op rope-cache -o llama3.safetensors\n"
    "  $ posenc write --encoding alibi --heads 12 --len 1024 --dtype bf16 -o alibi.npy\n"
    "  $ posenc write --encoding binary --len 256 --dim 8 -o bits.npy\n"
    "  $ posenc write --len 64 --dim 128 --offset 1099511627776 --dtype f64 -o - | xxd\n";

enum { OPTION_FORMAT = OPTION_OWN, OPTION_ENCODING, OPTION_TABLE, OPTION_TENSOR };

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"op", required_argument, NULL, OPTION_OP},
    ENCODING_OPTIONS,
    {"heads", required_argument, NULL, OPTION_HEADS},
    {"table", required_argument, NULL, OPTION_TABLE},
    {"tensor", required_argument, NULL, OPTION_TENSOR},
    TABLE_OPTIONS,
    ROWS_OPTIONS,
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
  const char *table = problem_options_listed(&given->problem, given->texts[OPTION_POSITIONS - OPTION_LEN]);
  die("%s: %s", table ? table : "the problem", posenc_status_message(status));
}

/* ---- what is in the file ------------------------------------------------------------------------ */

static bool is_cache(const posenc_problem *problem) {
  return problem->op == POSENC_ROPE_CACHE;
}

static size_t make_npy_header(const posenc_problem *problem, char header[NPY_HEADER_MAX]) {
  const int64_t table[] = {problem->rows, problem->dim}, cache[] = {2, problem->rows, rope_cache_width(problem)};
  return is_cache(problem) ? npy_header(problem->dtype, cache, 3, header)
                           : npy_header(problem->dtype, table, 2, header);
}

/* And what stands before the table, which is a list of positions in a safetensors file. Null, or what went wrong. */
static const char *write_header(const posenc_plan *plan, const options *given, file_format format, FILE *stream) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  char npy[NPY_HEADER_MAX], *header = npy;
  size_t length = 0;
  if (format == FORMAT_NPY)
    length = make_npy_header(problem, npy);
  else if (!(header = safetensors_header(problem, posenc_plan_kernel(plan)->name, &length)))
    return "out of memory";
  bool ok = fwrite(header, 1, length, stream) == length;
  const double *positions = format == FORMAT_SAFETENSORS ? given->problem.positions : NULL;
  for (int64_t n = 0; ok && positions && n < problem->rows; n++) ok = safetensors_write_double(positions[n], stream);
  const char *failure = ok ? NULL : strerror(errno);
  if (header != npy) free(header);
  return failure;
}

/* The tables of a file: one, or those of cosines and of sines. */
static posenc_status make_rows(const posenc_plan *plan, int table, int64_t row, int64_t rows, void *out) {
  if (!is_cache(posenc_plan_problem(plan))) return posenc_execute(plan, row, rows, out);
  return posenc_rope_cache(plan, row, rows, table == 0 ? out : NULL, table == 1 ? out : NULL);
}

/* Writes the rows; null, or what went wrong. */
static const char *write_rows(const posenc_plan *plan, FILE *stream, const char *path) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  const int tables = is_cache(problem) ? 2 : 1;
  const int64_t width = is_cache(problem) ? rope_cache_width(problem) : problem->dim;
  const size_t row_bytes = (size_t)width * posenc_dtype_bytes(problem->dtype);
  const int64_t block_rows = row_bytes < BLOCK_BYTES ? (int64_t)(BLOCK_BYTES / row_bytes) : 1;
  const char *failure = NULL;
  int64_t rows;
  char *block = posenc_alloc((size_t)block_rows * row_bytes);
  if (!block) return "a row of this table does not fit in memory";
  for (int table = 0; table < tables; table++)
    for (int64_t row = 0; row < problem->rows && !failure; row += rows) {
      rows = problem->rows - row < block_rows ? problem->rows - row : block_rows;
      posenc_status status = make_rows(plan, table, row, rows, block);
      if (status != POSENC_OK)
        failure = posenc_status_message(status);
      else if (fwrite(block, row_bytes, (size_t)rows, stream) != (size_t)rows)
        failure = strerror(errno);
      progress_show("write", path, ((double)table * (double)problem->rows + (double)(row + rows)) * (double)width,
                    (double)tables * (double)problem->rows * (double)width, "elements");
    }
  progress_clear();
  posenc_free(block);
  return failure;
}

/* Options that only other encodings have. */
static void refuse_encoded(const options *given, const encoded_file *encoded) {
  static const char reason[] = "nothing would use it without --encoding learned";
  if (encoded->table) die_value("--table", encoded->table, reason);
  if (encoded->tensor) die_value("--tensor", encoded->tensor, reason);
  const char *heads = given->texts[OPTION_HEADS - OPTION_LEN];
  if (heads) die_value("--heads", heads, "nothing would use it without --encoding alibi");
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  given.tables_alone = given.takes_odd = true;
  const char *path = NULL;
  file_format format = FORMAT_OF_NAME;
  const posenc_encoding *encoding = NULL;
  encoded_file encoded = {0};
  for (int code; (code = options_next(&given, &command_write, argc, argv)) != -1;) {
    if (code == 'o') path = optarg;
    if (code == OPTION_FORMAT) format = parse_format(optarg);
    if (code == OPTION_ENCODING && !(encoding = posenc_encoding_find(optarg)))
      die_value("--encoding", optarg, NOT_WRITTEN);
    if (code == OPTION_TABLE) encoded.table = optarg;
    if (code == OPTION_TENSOR) encoded.tensor = optarg;
  }
  if (encoding && strcmp(encoding->name, "sinusoidal") != 0) {
    if (!path) die("--output is missing");
    encoded.path = path;
    encoded.safetensors = (format == FORMAT_OF_NAME ? format_of_name(path) : format) == FORMAT_SAFETENSORS;
    return write_encoding(&given, encoding, &encoded);
  }
  refuse_encoded(&given, &encoded);
  if (!options_have_table(&given)) die("--len and --dim are missing");
  if (given.kernel) options_refuse(&given, OPTION_MAX_ULP, OPTION_MAX_ULP, "--kernel");
  if (!path) die("--output is missing");
  if (format == FORMAT_OF_NAME) format = format_of_name(path);
  posenc_plan *plan = make_plan(&given);
  if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) die_value("--output", path, "standard output is a terminal");
  output *out = output_open(path);
  if (!out) die_value("--output", path, strerror(errno));
  const char *failure = write_header(plan, &given, format, output_stream(out));
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
