/* SPDX-License-Identifier: MIT */
#include "cli/catalogue.h"
#include "cli/files.h"
#include "cli/measure.h"
#include "inspect/files/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: posenc write --len L --dim D [OPTION]... -o FILE\n"
    "  or:  posenc write --positions LIST --dim D [OPTION]... -o FILE\n"
    "  or:  posenc write --op add|rope --x FILE [OPTION]... -o FILE\n"
    "Write a table of positional encodings, of shape (L, D), as a NumPy .npy file,\n"
    "or as the tensor '" SAFETENSORS_NAME "' of a safetensors file whose metadata describe the\n"
    "problem; a list of positions is written there as the tensor '" SAFETENSORS_POSITIONS "'.\n"
    "\n"
    "With --x, write the exact result of add or rope, of the shape and dtype of x:\n"
    "each element is the real number, rounded once.\n";
static const char notes[] = "The file appears whole or not at all, and memory does not grow with L. A LIST\n"
                            "of digits, signs, points, exponents and commas is a list of positions, anything\n"
                            "else the name of a file; @NAME always is. A text file has white space or commas\n"
                            "between positions. NumPy has no bf16: in .npy such a table is saved as '<V2',\n"
                            "as those of ml_dtypes are; numpy.load(FILE).view(ml_dtypes.bfloat16) is the\n"
                            "table.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 on success\n"
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
                            "  $ posenc write --encoding alibi --heads 12 --len 1024 --dtype bf16 \\\n"
                            "      -o alibi.npy\n"
                            "  $ posenc write --op rope --x q.npy --layout split -o golden.npy\n"
                            "  $ posenc write --encoding binary --len 256 --dim 8 -o bits.npy\n"
                            "  $ posenc write --len 64 --dim 128 --offset 1099511627776 --dtype f64 -o - \\\n"
                            "      | xxd\n";

static posenc_plan *make_plan(const options *given) {
  const posenc_kernel *kernel = given->kernel ? find_kernel(given->kernel) : NULL;
  posenc_options how = options_of_plan(given, kernel);
  const char *refusal = kernel ? options_refusal(given, kernel, &given->problem) : NULL;
  if (refusal) die_value("--kernel", given->kernel, refusal);
  posenc_plan *plan;
  posenc_status status = posenc_plan_create(&plan, &given->problem, &how);
  if (status == POSENC_OK) return plan;
  if (status == POSENC_NO_KERNEL && how.max_ulp > 0.0)
    die("--max-ulp %g: %s", how.max_ulp, posenc_status_message(status));
  const char *table = problem_options_listed(&given->problem, given->texts[OPTION_POSITIONS]);
  die("%s: %s", table ? table : "the problem", posenc_status_message(status));
}

/* ---- what is in the file ------------------------------------------------------------------------ */

static bool is_cache(const posenc_problem *problem) {
  return problem->op == POSENC_ROPE_CACHE;
}

static char *npy_header_of(const posenc_problem *problem, size_t *length) {
  const int64_t table[] = {problem->rows, problem->dim}, cache[] = {2, problem->rows, rope_cache_width(problem)};
  const bool both = is_cache(problem);
  return new_npy_header(problem->dtype, both ? cache : table, both ? 3 : 2, length);
}

/* Returns the header with the list of positions behind it, which precedes the table in the file. */
static char *safetensors_header_listed(const posenc_problem *problem, const char *kernel, const double *positions,
                                       size_t *length) {
  size_t header_bytes;
  char *header = safetensors_header(problem, kernel, &header_bytes), *text = NULL;
  FILE *stream = header ? open_memstream(&text, length) : NULL;
  if (!stream) return header;
  bool ok = fwrite(header, 1, header_bytes, stream) == header_bytes;
  for (int64_t n = 0; ok && positions && n < problem->rows; n++) ok = safetensors_write_double(positions[n], stream);
  free(header);
  return fclose(stream) == 0 && ok ? text : NULL;
}

/* Computes rows of the table; of a rope cache, those of the cosines and then those of the sines. */
static const char *make_rows(const void *argument, int64_t row, int64_t rows, void *out) {
  const posenc_plan *plan = argument;
  const posenc_problem *problem = posenc_plan_problem(plan);
  posenc_status status = POSENC_OK;
  if (!is_cache(problem)) {
    status = posenc_execute(plan, row, rows, out);
  } else {
    const int64_t left = row < problem->rows ? problem->rows - row : 0, cosines = left < rows ? left : rows;
    const size_t row_bytes = (size_t)rope_cache_width(problem) * posenc_dtype_bytes(problem->dtype);
    void *sines = (char *)out + (size_t)cosines * row_bytes;
    if (cosines > 0) status = posenc_rope_cache(plan, row, cosines, out, NULL);
    if (status == POSENC_OK && cosines < rows)
      status = posenc_rope_cache(plan, row + cosines - problem->rows, rows - cosines, NULL, sines);
  }
  return status == POSENC_OK ? NULL : posenc_status_message(status);
}

static void write_table(const options *given, const posenc_plan *plan) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  const int tables = is_cache(problem) ? 2 : 1;
  file_content content = {
      .make = make_rows,
      .argument = plan,
      .rows = tables * problem->rows,
      .elements = is_cache(problem) ? rope_cache_width(problem) : problem->dim,
      .element_bytes = posenc_dtype_bytes(problem->dtype),
  };
  const char *kernel = posenc_plan_kernel(plan)->name;
  content.header = wants_safetensors(given)
                       ? safetensors_header_listed(problem, kernel, given->problem.positions, &content.header_bytes)
                       : npy_header_of(problem, &content.header_bytes);
  if (given->grid && content.header && content.header_bytes > SAFETENSORS_HEADER_MAX)
    die_value("--grid", given->texts[OPTION_GRID], "too long for the header of a safetensors file; .npy takes it");
  write_file(given, &content);
}

static int run(options *given) {
  static const char reason[] = "needs --encoding learned";
  if (!is_given(given, OPTION_OUTPUT)) die("--output is missing");
  if (given->encoding && strcmp(given->encoding, "sinusoidal") != 0) {
    write_encoding(given);
    return EXIT_SUCCESS;
  }
  if (given->table) die_value("--table", given->table, reason);
  if (given->tensor) die_value("--tensor", given->tensor, reason);
  if (given->problem.op == POSENC_ADD || given->problem.op == POSENC_ROPE) {
    write_array(given);
    return EXIT_SUCCESS;
  }
  options_refuse(given, ANY_OF(SET(X), SET(X_TENSOR), SET(AXES), SET(START), SET(INVERSE)), "--op table or rope-cache");
  const char *heads = given->texts[OPTION_HEADS];
  if (heads) die_value("--heads", heads, "needs --encoding alibi");
  if (!options_have_table(given)) die("--len and --dim are missing");
  posenc_plan *plan = make_plan(given);
  write_table(given, plan);
  posenc_plan_destroy(plan);
  return EXIT_SUCCESS;
}

const command command_write = {
    .bit = WRITE,
    .name = "write",
    .summary = "write a table as a .npy or a safetensors file",
    .usage = usage,
    .notes = notes,
    .run = run,
};
