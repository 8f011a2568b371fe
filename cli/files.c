/* SPDX-License-Identifier: MIT */
#include "cli/files.h"

#include "cli/options.h"
#include "common/memory.h"
#include "common/terminal.h"
#include "inspect/files/formats.h"
#include "inspect/files/stored.h"
#include "posenc.h"
#include "records/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Exits for that reason if --output or --save would replace this file, which may be null. */
static void refuse_replacing(const options *given, const char *file, const char *reason) {
  if (file && output_is(given->output, file)) die_value("--output", given->output, reason);
  if (file && given->save && output_is(given->save, file)) die_value("--save", given->save, reason);
}

static void refuse_replacing_any(const options *given, const texts *files, const char *reason) {
  for (size_t i = 0; i < files->count; i++) refuse_replacing(given, files->items[i], reason);
}

void refuse_overwriting(const options *given) {
  char operand[64];
  if (given->self->bit == REPORT) return; /* a folder */
  const struct {
    const char *file, *reason;
  } written[] = {{given->save, "--save writes it, too"},
                 {given->keep, "--keep writes it, too"},
                 {given->plot, "--plot writes it, too"}};
  /* This comparison includes standard output and files that do not exist yet. */
  for (size_t i = 0; i < sizeof written / sizeof *written; i++)
    if (written[i].file && strcmp(written[i].file, given->output) == 0)
      die_value("--output", given->output, written[i].reason);
  if (strcmp(given->output, "-") == 0 && !given->save) return;
  snprintf(operand, sizeof operand, "it is the file to %s", given->self->name);
  for (size_t i = 0; i < given->operand_count; i++) refuse_replacing(given, given->operands[i], operand);
  refuse_replacing_any(given, &given->cases, "--cases reads it");
  refuse_replacing_any(given, &given->plugins, "--plugin reads it");
  if (given->baseline && output_is(given->output, given->baseline)) /* --save may replace the baseline */
    die_value("--output", given->output, "--baseline reads it");
  refuse_replacing(given, given->texts[OPTION_POSITIONS], "--positions reads it");
  refuse_replacing(given, given->table, "--table reads it");
  refuse_replacing(given, given->x, "--x reads it");
  refuse_replacing(given, given->config, "--config reads it");
  refuse_replacing(given, given->keep, "--keep reads it");
}

output *open_output(const char *option, const char *path) {
  output *out = path ? output_open(path) : NULL;
  if (path && !out) die_value(option, path, strerror(errno));
  return out;
}

void close_output(const char *option, const char *path, output *out) {
  if (out && !output_commit(out)) die_value(option, path, strerror(errno));
}

/* Exits with "OPTION PATH: REASON", or "PATH: REASON" for an operand. */
__attribute__((noreturn)) static void die_file(const char *option, const char *path, const char *reason) {
  if (option) die_value(option, path, reason);
  die("%s: %s", *path ? path : "''", reason);
}

table_file *open_table(const char *option, const char *path, const char *tensor, table_half half) {
  fault why;
  table_file *table = table_open_half(path, tensor, half, &why);
  if (!table) die_file(option, path, why.text);
  return table;
}

const char *tensor_of(const options *given) {
  const texts *tensors = &given->tensors;
  const bool has_x = given->problem.op != POSENC_TABLE;
  if (tensors->count > 1u + has_x)
    die_value("--tensor", tensors->items[1 + has_x], has_x ? "a third one" : "a second one");
  if (tensors->count == 2 && given->x_tensor)
    die_value("--x-tensor", given->x_tensor, "the first --tensor is that of x, too");
  return tensors->count ? tensors->items[tensors->count - 1] : NULL;
}

json_t *load_json(const char *option, const char *path, size_t flags) {
  json_error_t error;
  char why[JSON_ERROR_TEXT_LENGTH + 60];
  fault unopened;
  FILE *file = regular_open(path, &unopened);
  if (!file) die_file(option, path, unopened.text);
  errno = 0;
  json_t *json = record_load(file, flags, &error);
  if (ferror(file)) die_file(option, path, strerror(errno));
  fclose(file);
  if (json) return json;
  if (json_error_code(&error) == json_error_premature_end_of_input) die_file(option, path, "its JSON is cut off");
  snprintf(why, sizeof why, "no JSON in line %d: %s", error.line, error.text);
  die_file(option, path, why);
}

/* ---- posenc write -------------------------------------------------------------------------------- */

bool wants_safetensors(const options *given) {
  const char *dot = strrchr(given->output, '.');
  return given->format ? strcmp(given->format, "safetensors") == 0 : dot && strcmp(dot, ".safetensors") == 0;
}

char *new_npy_header(posenc_dtype dtype, const int64_t *axes, size_t axis_count, size_t *length) {
  char *header = malloc(NPY_HEADER_MAX);
  *length = header ? npy_header(dtype, axes, axis_count, header) : 0;
  return header;
}

void set_array_header(const options *given, posenc_dtype dtype, const int64_t *axes, size_t axis_count,
                      const char *maker, file_content *content) {
  content->header = wants_safetensors(given)
                        ? safetensors_header_of(dtype, axes, axis_count, maker, &content->header_bytes)
                        : new_npy_header(dtype, axes, axis_count, &content->header_bytes);
}

/* Writes all rows. Returns null, or the error's text. */
static const char *write_rows(const file_content *content, FILE *stream, const char *path) {
  enum { BLOCK_BYTES = 4 << 20 };
  const size_t row_bytes = (size_t)content->elements * content->element_bytes;
  const int64_t block_rows = row_bytes < BLOCK_BYTES ? (int64_t)(BLOCK_BYTES / row_bytes) : 1;
  const double width = (double)content->elements;
  const char *failure = NULL;
  char *block = posenc_alloc((size_t)block_rows * row_bytes);
  if (!block) return "a row of this table does not fit in memory";
  for (int64_t row = 0, rows; row < content->rows && !failure; row += rows) {
    rows = content->rows - row < block_rows ? content->rows - row : block_rows;
    failure = content->make(content->argument, row, rows, block);
    /* The same table is the same file on every machine: least significant bytes first. */
    stored_order(block, (size_t)(rows * content->elements), content->element_bytes);
    if (!failure && fwrite(block, row_bytes, (size_t)rows, stream) != (size_t)rows) failure = strerror(errno);
    progress_show("write", path, (double)(row + rows) * width, (double)content->rows * width, "elements");
  }
  progress_clear();
  posenc_free(block);
  return failure;
}

/* Exits if a file of that size does not fit on the disk, so that the error does not come after hours of writing. Only
   the size of regular files is checked. */
static void require_room(const char *path, double bytes) {
  struct stat at;
  struct statvfs disk;
  const char *slash = strrchr(path, '/');
  if (strcmp(path, "-") == 0 || (stat(path, &at) == 0 && !S_ISREG(at.st_mode))) return;
  char *folder = allocated(slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("."));
  if (statvfs(folder, &disk) == 0) {
    const double room = (double)disk.f_bavail * (double)disk.f_frsize;
    char why[100];
    snprintf(why, sizeof why, "the file takes %.4g GB, and %.4g GB are free there", bytes / 1e9, room / 1e9);
    if (bytes > room) die_value("--output", path, why);
  }
  free(folder);
}

/* Exits if the file's name ends like another format's, because readers choose the format by the ending. */
static void require_known_name(const options *given) {
  const char *slash = strrchr(given->output, '/'), *name = slash ? slash + 1 : given->output, *dot = strrchr(name, '.');
  if (given->format || !dot || strcmp(dot, ".npy") == 0 || strcmp(dot, ".safetensors") == 0) return;
  die_value("--output", given->output, "not .npy or .safetensors; --format npy or --format safetensors writes it so");
}

void write_file(const options *given, const file_content *content) {
  const char *path = given->output, *failure = NULL;
  allocated(content->header);
  require_known_name(given);
  require_room(path, (double)content->header_bytes +
                         (double)content->rows * (double)content->elements * (double)content->element_bytes);
  if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) die_value("--output", path, "standard output is a terminal");
  output *out = open_output("--output", path);
  FILE *stream = output_stream(out);
  if (fwrite(content->header, 1, content->header_bytes, stream) != content->header_bytes) failure = strerror(errno);
  free(content->header);
  if (!failure) failure = write_rows(content, stream, path);
  if (failure) output_abandon(out);
  if (failure) die_value("--output", path, failure);
  close_output("--output", path, out);
}
