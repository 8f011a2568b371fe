/* SPDX-License-Identifier: MIT */
/* Opens files that options and operands name. Each function exits with a message if it fails. */
#ifndef POSENC_CLI_FILES_H
#define POSENC_CLI_FILES_H

#include "cli/options.h"
#include "common/output.h"
#include "inspect/files/table.h"

#include <jansson.h>

/* Exits if --output would replace a file that the command reads, or that another option writes. */
void refuse_overwriting(const options *given);

/* Opens the file that is the value of the option; returns null for a null path. It must be called before any long work,
   so that a file that cannot be written is an error at once. */
output *open_output(const char *option, const char *path);

/* Closes the file of open_output; `out` may be null. */
void close_output(const char *option, const char *path, output *out);

/* Opens the table in a file that is the value of the option, or an operand if the option is null. In a safetensors
   file, it is the named tensor, or the only one if the name is null. */
table_file *open_table(const char *option, const char *path, const char *tensor, table_half half);

/* Returns the name of --tensor for FILE; null if there is none. */
const char *tensor_of(const options *given);

/* Returns the JSON in a file, a new reference; flags: as for json_load_file. */
json_t *load_json(const char *option, const char *path, size_t flags);

/* The content of a file that posenc write writes: a header, then rows, which `make` computes in blocks. `make` returns
   null, or the error's text. */
typedef struct file_content {
  char *header; /* freed by write_file; null if memory ran out */
  size_t header_bytes;
  const char *(*make)(const void *argument, int64_t row, int64_t rows, void *out);
  const void *argument;
  int64_t rows, elements; /* rows, and elements of a row */
  size_t element_bytes;
} file_content;

/* Whether --format is safetensors, or else the name of the file ends so. */
bool wants_safetensors(const options *given);

/* Returns the header of a .npy file, a new string; null if memory runs out. */
char *new_npy_header(posenc_dtype dtype, const int64_t *axes, size_t axis_count, size_t *length);

/* Sets the content's header to that of an array, in the format of --output. maker: a name for the metadata of
   safetensors. */
void set_array_header(const options *given, posenc_dtype dtype, const int64_t *axes, size_t axis_count,
                      const char *maker, file_content *content);

/* Writes the content to the file of --output. */
void write_file(const options *given, const file_content *content);

/* ---- arrays ---------------------------------------------------------------------------------------------- */

/* The arrays of --op add and rope: x, and the result, in files that options and operands name. Each function exits with
   a message if it fails. */

/* Sets --x to FILE if it has both arrays, as --x-tensor or two --tensor say. */
void take_x(options *given);

/* Opens the array in the file of --x, and in `file` the result of --op; or x alone if it is null. The axes are those of
   --axes, or the usual ones; vectors side by side in the last axis have one of their own. */
applied_arrays open_arrays(const options *given, const char *file);

/* Sets the problem's rows, columns and dtype to those of x, and --start to the config's. `file`: for messages. */
void take_array(options *given, const applied_arrays *arrays, const char *file);

/* Writes the exact result of --op on --x to --output. */
void write_array(options *given);

#endif
