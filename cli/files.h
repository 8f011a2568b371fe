/* SPDX-License-Identifier: MIT */
/* Files that options and operands name: opened, or the program ends with a message. */
#ifndef POSENC_CLI_FILES_H
#define POSENC_CLI_FILES_H

#include "cli/options.h"
#include "common/output.h"
#include "files/vectors.h"

#include <jansson.h>

/* Exits if --output would replace a file that the command reads, or that another option has it write. */
void refuse_overwriting(const options *given);

/* Opens the file that is the value of the option; null for a null path. To be called before any long work, so that a
   file that cannot be written is an error at once. */
output *open_output(const char *option, const char *path);

/* Ends the file of open_output; `out` may be null. */
void close_output(const char *option, const char *path, output *out);

/* The table in a file that is the value of the option, or an operand if that is null; of a safetensors file this
   tensor, or its only one if that is null. */
table_file *open_table(const char *option, const char *path, const char *tensor, table_half half);

/* The array in the file of --x, and what --op has made of it, in `file`. The axes are those of --axes, or the usual. */
applied_arrays open_arrays(const options *given, const char *file);

/* The JSON in a file, likewise; flags: as for json_load_file. */
json_t *load_json(const char *option, const char *path, size_t flags);

/* Content of a file that posenc write writes: a header, then rows, which `make` computes block by block. It returns
   null, or the error's text. */
typedef struct file_content {
  char *header; /* freed by write_file; null is an error, out of memory */
  size_t header_bytes;
  const char *(*make)(const void *argument, int64_t row, int64_t rows, void *out);
  const void *argument;
  int64_t rows, elements; /* in a row */
  size_t element_bytes;
} file_content;

/* Whether --format, or the name of the file, is safetensors. */
bool wants_safetensors(const options *given);

/* The header of a .npy file, as file_content has it. */
char *new_npy_header(posenc_dtype dtype, const int64_t *axes, size_t axis_count, size_t *length);

/* Gives the content the header of an array, in the format of --output. maker: named in the metadata of safetensors. */
void set_array_header(const options *given, posenc_dtype dtype, const int64_t *axes, size_t axis_count,
                      const char *maker, file_content *content);

/* Writes the file of --output. */
void write_file(const options *given, const file_content *content);

#endif
