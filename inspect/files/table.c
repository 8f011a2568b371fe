/* SPDX-License-Identifier: MIT */
/* Opens tables in files and in memory, and reads rows, folded columns and vectors of them. */
#include "config.h"

#include "inspect/files/table.h"

#include "common/memory.h"
#include "common/number.h"
#include "common/shapes.h"
#include "common/terminal.h"
#include "inspect/files/formats.h"
#include "inspect/files/stored.h"
#include "reference/format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- arrays in the memory of another process ---- */

/* Returns the line of that name; null if there is none. */
static const char *memory_array_line(const char *name) {
  const size_t length = strlen(name);
  const char *line = getenv(MEMORY_VARIABLE);
  while (line && (strncmp(line, name, length) != 0 || line[length] != ' ')) {
    line = strchr(line, '\n');
    if (line) line++;
  }
  return line;
}

/* Reads "LENGTH:STRIDE " for each axis, up to the end of the line. */
static bool read_axes(const char *at, memory_array *place) {
  for (place->axis_count = 0; *at == ' '; place->axis_count++) {
    int used = 0;
    if (place->axis_count == STORED_AXES) return false;
    int64_t *length = &place->axes[place->axis_count], *stride = &place->strides[place->axis_count];
    if (sscanf(at, " %" SCNd64 ":%" SCNd64 "%n", length, stride, &used) != 2 || *length < 0) return false;
    at += used;
  }
  return *at == '\0' || *at == '\n';
}

/* Returns the number of elements of a row that lie one after the other. */
static int64_t run_of(const stored *at) {
  return at->joined ? at->dim / 2 : at->dim;
}

/* Removes the axis of the two halves, and makes the axes of a row one. Returns false if its elements do not lie one
   after the other. */
static bool fit_axes(const stored *at, table_half half, memory_array *place) {
  const int64_t element = (int64_t)posenc_dtype_bytes(at->dtype);
  const size_t apart = at->half_axis;
  if (at->halved || at->joined) {
    place->apart = place->strides[apart];
    if (half == TABLE_SECOND) place->address += (uint64_t)place->strides[apart];
    place->axis_count--;
    memmove(place->axes + apart, place->axes + apart + 1, (place->axis_count - apart) * sizeof *place->axes);
    memmove(place->strides + apart, place->strides + apart + 1, (place->axis_count - apart) * sizeof *place->strides);
  }
  size_t last = place->axis_count;
  int64_t row = 1;
  do {
    last--;
    if (place->axes[last] > 1 && place->strides[last] != row * element) return false;
    row *= place->axes[last];
  } while (row < run_of(at));
  place->axes[last] = run_of(at);
  place->axis_count = last + 1;
  return true;
}

bool memory_array_find(const char *line, table_half half, stored *found, memory_array *place, fault *why) {
  char dtype[8];
  int used = 0;
  *found = (stored){0};
  if (sscanf(line, "%*s %d %" SCNu64 " %7s%n", &place->descriptor, &place->address, dtype, &used) != 3 ||
      !dtype_parse(dtype, &found->dtype) || !read_axes(line + used, place))
    return fault_say(why, "its line in " MEMORY_VARIABLE " is not NAME DESCRIPTOR ADDRESS DTYPE LENGTH:STRIDE...");
  return stored_fit(found, place->axes, place->axis_count, half, why) &&
         (fit_axes(found, half, place) || fault_say(why, "the elements of its rows do not lie one after the other"));
}

/* Returns the address of a row. The sum is unsigned and wraps for negative strides. */
static uint64_t address_of(const memory_array *from, int64_t row) {
  uint64_t address = from->address;
  for (size_t axis = from->axis_count - 1; axis-- > 0; row /= from->axes[axis])
    address += (uint64_t)(row % from->axes[axis]) * (uint64_t)from->strides[axis];
  return address;
}

static bool read_all(int descriptor, uint64_t address, size_t bytes, char *out) {
  while (bytes > 0) {
    const ssize_t got = pread(descriptor, out, bytes, (off_t)address);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EFAULT;
    if (got <= 0) return false;
    out += got;
    address += (uint64_t)got;
    bytes -= (size_t)got;
  }
  return true;
}

/* Copies rows [row, row + rows), packed. Returns false with errno set if the memory cannot be read. */
static bool memory_array_read(const memory_array *from, const stored *at, int64_t row, int64_t rows, void *out) {
  const size_t row_bytes = (size_t)at->dim * posenc_dtype_bytes(at->dtype), half = row_bytes / 2;
  for (int64_t r = 0; at->joined && r < rows; r++) {
    const uint64_t address = address_of(from, row + r);
    char *joined = (char *)out + (size_t)r * row_bytes;
    if (!read_all(from->descriptor, address, half, joined) ||
        !read_all(from->descriptor, address + (uint64_t)from->apart, half, joined + half))
      return false;
  }
  for (int64_t begin = at->joined ? rows : 0, end; begin < rows; begin = end) {
    const uint64_t address = address_of(from, row + begin);
    end = begin + 1;
    while (end < rows && address_of(from, row + end) == address + (uint64_t)(end - begin) * row_bytes) end++;
    if (!read_all(from->descriptor, address, (size_t)(end - begin) * row_bytes,
                  (char *)out + (size_t)begin * row_bytes))
      return false;
  }
  return true;
}

/* ---- tables ---- */

struct table_file {
  stored at;
  mapping file; /* empty if the table is in memory */
  const unsigned char *bytes;
  size_t size, held;    /* of the file; and of its bytes that are there, from the first on */
  memory_array memory;  /* of an array in memory, and of a file that is not all there; else all zeros */
  int64_t begin;        /* of an array in memory: the first row */
  int64_t *kept, width; /* after table_fold: the columns that are left, and the number of all; else null */
  unsigned char *row;   /* of all columns */
  size_t used;          /* bytes of elements read since pages were last given back */
  fault uncopied;
  const char *format;
  char *tensor;
  void *elements; /* of table_of_elements; else null */
};

/* ---- opening and closing ------------------------------------------------------------------------- */

/* Whether the file may be an ONNX model: a small ir_version, and then the length and the text of the name of its
   producer, or its opset, whose own version is a small number. */
static bool is_onnx(const unsigned char *bytes, size_t size) {
  const unsigned char version = 0x08, producer = 0x12, model_version = 0x28, graph = 0x3a, opset = 0x42;
  return size > 4 && bytes[0] == version && bytes[1] > 0 && bytes[1] < 32 &&
         (bytes[2] == producer || bytes[2] == graph || bytes[2] == opset || bytes[2] == model_version);
}

/* Whether the file is a zip archive whose first entry's name has that end, or "" for any. */
static bool is_archive(const unsigned char *bytes, size_t size, const char *end) {
  enum { LENGTH = 26, NAME = 30 };
  const size_t wanted = strlen(end);
  if (size < 4 || memcmp(bytes, "PK\3\4", 4) != 0) return false;
  if (!wanted || size < NAME) return !wanted;
  const size_t length = bytes[LENGTH] + 256u * bytes[LENGTH + 1];
  return length >= wanted && length <= size - NAME && memcmp(bytes + NAME + length - wanted, end, wanted) == 0;
}

/* Whether the archive is a TorchScript module: the list of entries, at its end, has the constants of the code. */
static bool is_script(const unsigned char *bytes, size_t size) {
  static const char name[] = "constants.pkl";
  const size_t end = 1 << 16, from = size > end ? size - end : 0;
  return memmem(bytes + from, size - from, name, strlen(name));
}

#define OF_TORCH                                                                                                       \
  "numpy.save('table.npy', (t.float() if t.dtype == torch.bfloat16 else t).detach().numpy())\" writes a tensor as "    \
  ".npy"

/* If a known program reads the file, writes the line of Python that makes a .npy file of it. No file's own code runs in
   it but that of a TorchScript module, which loading does not call. Returns false if the file is of no known kind. */
static bool tell_conversion(const unsigned char *bytes, size_t size, fault *why) {
  static const unsigned char pickled[] = {0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9}; /* torch.save's number */
  const bool is_old = size > sizeof pickled && memcmp(bytes, pickled, sizeof pickled) == 0;
  if (is_onnx(bytes, size))
    fault_say(why, "an ONNX model, of which python3 -c \"import numpy, onnx; numpy.save('table.npy', "
                   "next(onnx.numpy_helper.to_array(t) for t in onnx.load('FILE').graph.initializer "
                   "if t.name == 'NAME'))\" writes an initializer as .npy");
  else if (is_archive(bytes, size, ".npy"))
    fault_say(why, "an archive of NumPy's (.npz), which the Python package reads, and of which python3 -c \"import "
                   "numpy; numpy.save('table.npy', numpy.load('FILE')['NAME'])\" writes an array as .npy");
  else if (is_archive(bytes, size, "") && is_script(bytes, size))
    fault_say(why, "a TorchScript module, of which python3 -c \"import numpy, torch; t = torch.jit.load('FILE', "
                   "'cpu').state_dict()['NAME']; " OF_TORCH);
  else if (is_old || is_archive(bytes, size, "data.pkl"))
    fault_say(why, "tensors of PyTorch's (.pt, .bin), which the Python package reads, and of which python3 -c \"import "
                   "numpy, torch; t = torch.load('FILE', 'cpu', weights_only=True); t = t['NAME'] if isinstance(t, "
                   "dict) else t; " OF_TORCH);
  else
    return is_archive(bytes, size, "") && (fault_say(why, "an archive, of no kind that is known here"), true);
  return true;
}

static bool find(table_file *t, const char *tensor, table_half half, fault *why) {
  if (t->size == 0) return fault_say(why, "it is empty");
  if (npy_is(t->bytes, t->size)) {
    t->format = "npy";
    return npy_find(t->bytes, t->size, half, &t->at, why);
  }
  if (safetensors_is(t->bytes, t->size)) {
    t->format = "safetensors";
    return safetensors_find(t->bytes, t->size, tensor, half, &t->at, &t->tensor, why);
  }
  if (gguf_is(t->bytes, t->size)) {
    t->format = "gguf";
    return gguf_find(t->bytes, t->size, t->held, tensor, half, &t->at, &t->tensor, why);
  }
  if (tell_conversion(t->bytes, t->size, why)) return false;
  return fault_say(why, "neither a .npy, a safetensors nor a GGUF file");
}

table_file *table_open_memory(const void *bytes, size_t size, const char *tensor, table_half half, fault *why) {
  table_file *t = memory_take(1, sizeof *t);
  t->bytes = bytes;
  t->size = t->held = size;
  if (find(t, tensor, half, why)) return t;
  table_close(t);
  return NULL;
}

table_file *table_of_elements(posenc_dtype dtype, int64_t rows, int64_t dim, void *elements) {
  table_file *t = memory_take(1, sizeof *t);
  fault unused;
  t->at.dtype = dtype;
  stored_fit(&t->at, (const int64_t[]){rows, dim}, 2, TABLE_WHOLE, &unused);
  stored_bytes(&t->at, &t->size);
  t->held = t->size;
  t->bytes = t->elements = elements;
  t->format = "npy";
  return t;
}

/* Has rows read from the file, as from an array in memory. */
static bool read_slices(table_file *t, fault *why) {
  const stored *at = &t->at;
  const int64_t element = (int64_t)posenc_dtype_bytes(at->dtype), step = at->stride * element;
  if (at->by_columns)
    return fault_say(why,
                     "its columns lie one after the other, and here such a file must be smaller than %d MiB; "
                     "numpy.ascontiguousarray makes rows",
                     MAPPING_HEAD >> 20);
  t->memory = (memory_array){.descriptor = t->file.descriptor,
                             .address = at->begin,
                             .axis_count = 2,
                             .axes = {at->rows, run_of(at)},
                             .strides = {step, element},
                             .apart = at->rows * step};
  return true;
}

table_file *table_open_half(const char *path, const char *tensor, table_half half, fault *why) {
  table_file *t = memory_take(1, sizeof *t);
  const char *line = memory_array_line(path);
  if (line) {
    t->format = "memory";
    t->file.path = memory_copy_text(path);
    if (memory_array_find(line, half, &t->at, &t->memory, why)) return t;
    table_close(t);
    return NULL;
  }
  const bool ok = mapping_open(&t->file, path, why);
  t->bytes = t->file.bytes;
  t->size = t->file.size;
  t->held = t->file.held;
  if (ok && find(t, tensor, half, why) && (t->held == t->size || read_slices(t, why))) {
    if (!t->at.by_columns && !t->file.is_read) madvise((void *)t->bytes, t->size, MADV_SEQUENTIAL);
    return t;
  }
  table_close(t);
  return NULL;
}

void table_close(table_file *t) {
  if (!t) return;
  mapping_close(&t->file);
  free(t->tensor);
  free(t->kept);
  free(t->row);
  free(t->elements);
  free(t);
}

bool table_split(table_file *t, int64_t parts) {
  stored *at = &t->at;
  const size_t last = at->axis_count;
  if (at->by_columns || last == STORED_AXES || parts < 1 || at->dim % parts) return false;
  at->dim /= parts;
  at->rows *= parts;
  at->stride = at->dim;
  at->axes[last - 1] = parts;
  at->axes[last] = at->dim;
  at->axis_count++;
  if (!t->memory.axis_count) return true;
  t->memory.axes[last - 1] = parts;
  t->memory.axes[last] = at->dim;
  t->memory.strides[last - 1] = at->dim * (int64_t)posenc_dtype_bytes(at->dtype);
  t->memory.axis_count++;
  return true;
}

bool table_take_rows(table_file *t, int64_t first, int64_t rows) {
  stored *at = &t->at;
  if (at->by_columns || at->joined) return false;
  at->begin += (size_t)(first * at->stride) * posenc_dtype_bytes(at->dtype);
  at->rows = rows;
  t->begin += first;
  return true;
}

const stored *table_stored(const table_file *t) {
  return &t->at;
}

const char *table_format(const table_file *t) {
  return t->format;
}

const char *table_tensor(const table_file *t) {
  return t->tensor;
}

static bool has_metadata(const table_file *t) {
  return t->tensor && strcmp(t->format, "safetensors") == 0;
}

bool table_metadata(const table_file *t, const char *key, char **value) {
  *value = NULL;
  return has_metadata(t) && safetensors_metadata(t->bytes, t->size, key, value);
}

bool table_positions(const table_file *t, double **positions, int64_t *count, fault *why) {
  *positions = NULL;
  return !has_metadata(t) || safetensors_positions(t->bytes, t->held, positions, count, why);
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Mapped pages count as this process's memory until the system needs it. They are given back after this many bytes. */
enum { GIVEN_BACK = 1 << 20 };

static void give_back(table_file *t, size_t bytes) {
  t->used += bytes;
  if (t->used < GIVEN_BACK) return;
  t->used = 0;
  if (t->file.bytes && !t->file.is_read) madvise((void *)t->bytes, t->size, MADV_DONTNEED);
}

/* The system maps this many bytes around a page that is used. */
enum { NEIGHBOURHOOD = 1 << 16 };

/* Columns are many pages apart, so pages are given back after this many columns. A column is read this many rows at a
   time, so that the rows it is written to stay in the cache until the next column is written. */
enum { COLUMNS_AT_A_TIME = 64, ROWS_AT_A_TIME = 64 };

/* Copies columns [begin, end) of `rows` rows. `first` is the first of these rows in column 0. */
static inline __attribute__((always_inline)) void transpose(const unsigned char *first, const stored *at, int64_t begin,
                                                            int64_t end, int64_t rows, unsigned char *out,
                                                            size_t element) {
  for (int64_t from = 0; from < rows; from += ROWS_AT_A_TIME) {
    const int64_t to = rows - from < ROWS_AT_A_TIME ? rows : from + ROWS_AT_A_TIME;
    for (int64_t column = begin; column < end; column++)
      for (int64_t r = from; r < to; r++)
        memcpy(out + (size_t)(r * at->dim + column) * element, first + (size_t)(column * at->rows + r) * element,
               element);
  }
}

/* Returns the place of a row in each column, where the first axis changes from element to element. */
static int64_t place_of(const stored *at, int64_t row) {
  int64_t place = 0;
  if (at->axis_count < 3) return row;
  for (int64_t axis = (int64_t)at->axis_count - 2, before = at->rows; axis >= 0; row /= at->axes[axis--]) {
    before /= at->axes[axis];
    place += row % at->axes[axis] * before;
  }
  return place;
}

static void read_columns(table_file *t, int64_t row, int64_t rows, unsigned char *out, size_t element) {
  const stored *at = &t->at;
  const unsigned char *const first = t->bytes + at->begin + (size_t)place_of(at, row) * element;
  for (int64_t begin = 0, end; begin < at->dim; begin = end) {
    end = at->dim - begin < COLUMNS_AT_A_TIME ? at->dim : begin + COLUMNS_AT_A_TIME;
    if (element == 2) /* constant sizes are faster */
      transpose(first, at, begin, end, rows, out, 2);
    else if (element == 4)
      transpose(first, at, begin, end, rows, out, 4);
    else
      transpose(first, at, begin, end, rows, out, 8);
    give_back(t, (size_t)(end - begin) * (NEIGHBOURHOOD + (size_t)rows * element));
  }
}

static void read_rows(table_file *t, int64_t row, int64_t rows, unsigned char *out, size_t element) {
  const size_t row_bytes = (size_t)t->at.dim * element, step = (size_t)t->at.stride * element,
               run = t->at.joined ? step : row_bytes;
  const unsigned char *const from = t->bytes + t->at.begin + (size_t)row * step, *const second =
                                                                                     from + (size_t)t->at.rows * step;
  if (step == row_bytes) memcpy(out, from, (size_t)rows * row_bytes);
  for (size_t r = 0; step != row_bytes && r < (size_t)rows; r++) {
    memcpy(out + r * row_bytes, from + r * step, run);
    if (t->at.joined) memcpy(out + r * row_bytes + run, second + r * step, run);
  }
  give_back(t, (size_t)rows * row_bytes);
}

/* Ends the process because the other process's memory is gone, or the end of the file. */
static _Noreturn void tell_gone(const table_file *t) {
  if (t->file.bytes)
    fprintf(stderr, "%s: %s: it was cut while it was read\n", program_name(), t->file.path);
  else
    fprintf(stderr, "%s: %s: its memory cannot be read: %s\n", program_name(), t->file.path, strerror(errno));
  exit(2);
}

static void read_all_columns(table_file *t, int64_t row, int64_t rows, void *out) {
  const size_t element = posenc_dtype_bytes(t->at.dtype);
  if (t->memory.axis_count) {
    if (!memory_array_read(&t->memory, &t->at, t->begin + row, rows, out)) tell_gone(t);
    if (t->at.swapped) stored_swap(out, (size_t)(rows * t->at.dim), element);
    return;
  }
  const int64_t block = t->at.by_columns && t->at.axis_count > 2 ? 1 : rows;
  for (int64_t n = 0; n < rows; n += block)
    (t->at.by_columns ? read_columns : read_rows)(t, row + n, block,
                                                  (unsigned char *)out + (size_t)(n * t->at.dim) * element, element);
  if (t->at.swapped) stored_swap(out, (size_t)(rows * t->at.dim), element);
}

void table_rows(table_file *t, int64_t row, int64_t rows, void *out) {
  const size_t element = posenc_dtype_bytes(t->at.dtype);
  const int64_t left = t->at.dim;
  if (!t->kept) {
    read_all_columns(t, row, rows, out);
    return;
  }
  t->at.dim = t->width;
  for (int64_t r = 0; r < rows; r++) {
    read_all_columns(t, row + r, 1, t->row);
    for (int64_t c = 0; c < left; c++)
      memcpy((unsigned char *)out + (size_t)(r * left + c) * element, t->row + (size_t)t->kept[c] * element, element);
  }
  t->at.dim = left;
}

void table_values(table_file *t, int64_t row, int64_t rows, double *out) {
  const size_t count = (size_t)(rows * t->at.dim);
  void *raw = memory_take(count, posenc_dtype_bytes(t->at.dtype));
  table_rows(t, row, rows, raw);
  for (size_t n = 0; n < count; n++) out[n] = format_element(t->at.dtype, raw, (int64_t)n);
  free(raw);
}

/* ---- columns that are copies ------------------------------------------------------------------- */

/* The ways in which each of `width` columns may be there twice; first, as one to POSENC_AXES blocks of each half. */
typedef enum fold_kind { BLOCKS_TWICE, COLUMNS_TWICE = POSENC_AXES, MATRICES, FOLDS } fold_kind;

static int blocks_of(fold_kind kind) {
  return kind < COLUMNS_TWICE ? kind - BLOCKS_TWICE + 1 : 0;
}

/* Returns column n of those that are left; *copy: its copy, which is negated for the sines of matrices. */
static int64_t kept_column(fold_kind kind, int64_t width, int64_t n, int64_t *copy, double *sign) {
  const int blocks = blocks_of(kind);
  const int64_t block = blocks ? width / (4 * blocks) : 1, column = blocks ? n + n / block * block : 2 * n;
  *sign = kind == MATRICES && n % 2 ? -1.0 : 1.0;
  const int64_t of_matrix = n % 2 ? -1 : 3;
  *copy = column + (kind < MATRICES ? block : of_matrix);
  return column;
}

/* Returns the place of the first element of a row that is not a copy; -1: none. */
static int64_t find_other(fold_kind kind, const stored *at, const void *row) {
  for (int64_t n = 0; n < at->dim / 2; n++) {
    int64_t copy;
    double sign;
    const int64_t column = kept_column(kind, at->dim, n, &copy, &sign);
    if (format_element(at->dtype, row, column) != sign * format_element(at->dtype, row, copy)) return copy;
  }
  return -1;
}

/* Reads pair n of the columns that are left. */
static void pair_at(fold_kind kind, const stored *at, const void *row, int64_t n, double pair[2]) {
  int64_t copy;
  double sign;
  for (int k = 0; k < 2; k++)
    pair[k] = format_element(
        at->dtype, row, kept_column(kind, at->dim, kind == MATRICES ? 2 * n + k : n + k * at->dim / 4, &copy, &sign));
}

/* Returns the square of the first pair's length in the middle row: a padding row, or one that nobody has written, is
   mostly the first. */
static double usual_square(table_file *t, fold_kind kind, unsigned char *row) {
  double pair[2];
  table_rows(t, t->at.rows / 2, 1, row);
  pair_at(kind, &t->at, row, 0, pair);
  return pair[0] * pair[0] + pair[1] * pair[1];
}

/* Whether some rows and those behind them have copies, and pairs of one length, which is not that of two equal columns.
   *turn: above 0 if the cosine comes first. */
static bool looks_folded(table_file *t, fold_kind kind, double *turn) {
  enum { SAMPLES = 48 };
  const stored *at = &t->at;
  const size_t bytes = (size_t)at->dim * posenc_dtype_bytes(at->dtype);
  const double even = 0.05;
  if (blocks_of(kind) && at->dim % (4 * blocks_of(kind))) return false;
  unsigned char *rows = memory_take(2, bytes);
  int64_t seen = 0, copied = 0, pairs = 0, good = 0;
  const double square = usual_square(t, kind, rows);
  *turn = 0.0;
  const int64_t last = at->rows - 2, count = last < SAMPLES ? last + 1 : SAMPLES;
  for (; seen < count; seen++) {
    table_rows(t, spread_evenly(seen, count, last), 2, rows);
    copied += find_other(kind, at, rows) < 0;
    for (int64_t n = 0; n < at->dim / 4; n++, pairs++) {
      double now[2], next[2];
      pair_at(kind, at, rows, n, now);
      pair_at(kind, at, rows + bytes, n, next);
      good += fabs(now[0] * now[0] + now[1] * now[1] - square) <= even * square;
      *turn += now[0] * next[1] - now[1] * next[0];
    }
  }
  free(rows);
  return square > 0.0 && copied * 4 >= seen * 3 && good * 20 >= pairs * 19 && fabs(*turn) > 0.0;
}

/* Whether all rows have copies. */
static bool has_copies(table_file *t, fold_kind kind) {
  unsigned char *row = memory_take((size_t)t->at.dim, posenc_dtype_bytes(t->at.dtype));
  int64_t other = -1;
  for (int64_t r = 0; r < t->at.rows && other < 0; r++) {
    table_rows(t, r, 1, row);
    other = find_other(kind, &t->at, row);
    if (other >= 0)
      fault_say(&t->uncopied,
                "row %" PRId64 ", column %" PRId64 " is not the copy of another column that it is in other rows", r,
                other);
  }
  free(row);
  return other < 0;
}

bool table_fold(table_file *t, posenc_layout *layout, int *blocks) {
  stored *at = &t->at;
  double turn = 0.0;
  int kind = BLOCKS_TWICE;
  *blocks = 0;
  if (at->dim % 4 || at->rows < 2 || t->kept) return false;
  while (kind < FOLDS && !looks_folded(t, (fold_kind)kind, &turn)) kind++;
  if (kind == FOLDS || !has_copies(t, (fold_kind)kind)) return false;
  int64_t unused, *kept = memory_take((size_t)at->dim / 2, sizeof *kept);
  double sign;
  for (int64_t n = 0; n < at->dim / 2; n++) kept[n] = kept_column((fold_kind)kind, at->dim, n, &unused, &sign);
  if (kind == MATRICES)
    *layout = turn > 0.0 ? POSENC_INTERLEAVED_CS : POSENC_INTERLEAVED;
  else
    *layout = turn > 0.0 ? POSENC_SPLIT_CS : POSENC_SPLIT;
  *blocks = blocks_of((fold_kind)kind);
  t->row = memory_take((size_t)at->dim, posenc_dtype_bytes(at->dtype));
  t->width = at->dim;
  t->kept = kept;
  at->dim /= 2;
  return true;
}

const char *table_uncopied(const table_file *t) {
  return t->uncopied.text;
}

/* ---- vectors of arrays ----------------------------------------------------------------------------------- */

/* ---- axes ---- */

const char *axes_usual(posenc_op op, size_t count) {
  static const char *const usual[][5] = {{NULL, NULL, "ld", "bld", "blhd"}, {NULL, NULL, "ld", "lhd", "blhd"}};
  return count < 5 ? usual[op == POSENC_ROPE][count] : NULL;
}

bool axes_fit(const char *letters, const stored *at, fault *why) {
  const size_t length = strlen(letters);
  const char *const positions = strchr(letters, AXIS_POSITIONS), *const heads = strchr(letters, AXIS_HEADS);
  if (length != at->axis_count) return fault_say(why, "%zu letters, and there are %zu axes", length, at->axis_count);
  if (strspn(letters, "blhd") != length) return fault_say(why, "b, l, h and d are axes");
  if (strchr(letters, AXIS_COLUMNS) != letters + length - 1) return fault_say(why, "d, the columns, is the last axis");
  if (!positions || strchr(positions + 1, AXIS_POSITIONS)) return fault_say(why, "l, the positions, is one axis");
  if (heads && strchr(heads + 1, AXIS_HEADS)) return fault_say(why, "h, the heads, is one axis");
  return true;
}

int64_t axes_length(const char *letters, const stored *at) {
  return at->axes[strchr(letters, AXIS_POSITIONS) - letters];
}

int64_t axes_index(const char *letters, const stored *at, int64_t row, int64_t *indices) {
  int64_t found = 0;
  for (size_t axis = at->axis_count - 1; axis-- > 0; row /= at->axes[axis]) {
    const int64_t index = row % at->axes[axis];
    if (indices) indices[axis] = index;
    if (letters[axis] == AXIS_POSITIONS) found = index;
  }
  return found;
}

bool axes_agree(const stored *a, const stored *b) {
  return a->dtype == b->dtype && a->axis_count == b->axis_count &&
         memcmp(a->axes, b->axes, a->axis_count * sizeof *a->axes) == 0;
}

/* ---- vectors ---- */

void vectors_open(vectors *v, const applied_arrays *from) {
  *v = (vectors){.from = from, .at = table_stored(from->x)};
  const size_t dim = (size_t)v->at->dim;
  v->raw = memory_take(dim, posenc_dtype_bytes(v->at->dtype));
  v->x = memory_take(dim, sizeof *v->x);
  v->out = memory_take(dim, sizeof *v->out);
}

void vectors_close(vectors *v) {
  free(v->raw);
  free(v->x);
  free(v->out);
}

static void read_one(const vectors *v, table_file *file, int64_t row, double *values) {
  table_rows(file, row, 1, v->raw);
  for (int64_t c = 0; c < v->at->dim; c++) values[c] = format_element(v->at->dtype, v->raw, c);
}

void vectors_read(vectors *v, int64_t row) {
  read_one(v, v->from->x, row, v->x);
  read_one(v, v->from->out, row, v->out);
}

int64_t vectors_sample(const vectors *v, int64_t n, int64_t count) {
  return spread_evenly(n, count, v->at->rows - 1);
}

static bool are_held(vectors *v, const format *f) {
  for (int64_t row = 0; row < v->at->rows; row++) {
    read_one(v, v->from->out, row, v->out);
    if (!format_holds(f, v->out, v->at->dim)) return false;
  }
  return true;
}

posenc_dtype vectors_held(vectors *v) {
  for (int n = 0; n < FORMAT_NARROWER; n++)
    if (posenc_dtype_bytes(format_narrower[n]) < posenc_dtype_bytes(v->at->dtype) &&
        are_held(v, format_of(format_narrower[n])))
      return format_narrower[n];
  return v->at->dtype;
}
