/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "inspect/files/table.h"

#include "common/memory.h"
#include "common/program.h"
#include "common/shapes.h"
#include "inspect/files/mapping.h"
#include "inspect/files/npy.h"
#include "inspect/files/safetensors.h"

#include <errno.h>
#include <inttypes.h>
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

/* Removes the axis of the two halves, and makes the axes of a row one. Returns false if its elements do not lie one
   after the other. */
static bool fit_axes(const stored *at, table_half half, memory_array *place) {
  const int64_t element = (int64_t)posenc_dtype_bytes(at->dtype);
  const size_t apart = at->half_axis;
  if (at->halved) {
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
  } while (row < at->dim);
  place->axes[last] = at->dim;
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
  const size_t row_bytes = (size_t)at->dim * posenc_dtype_bytes(at->dtype);
  for (int64_t begin = 0, end; begin < rows; begin = end) {
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
  size_t size;
  memory_array memory;
  size_t held; /* bytes of elements read since pages were last given back */
  const char *format;
  char *tensor;
};

/* ---- opening and closing ------------------------------------------------------------------------- */

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
  if (t->size >= 4 && memcmp(t->bytes, "PK\3\4", 4) == 0)
    return fault_say(why, "an archive (.npz, .pt), which the Python package reads; numpy.save writes the array alone");
  return fault_say(why, "neither a .npy nor a safetensors file");
}

table_file *table_open_memory(const void *bytes, size_t size, const char *tensor, table_half half, fault *why) {
  table_file *t = memory_take(1, sizeof *t);
  t->bytes = bytes;
  t->size = size;
  if (find(t, tensor, half, why)) return t;
  table_close(t);
  return NULL;
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
  if (ok && find(t, tensor, half, why)) {
    if (!t->at.by_columns) madvise((void *)t->bytes, t->size, MADV_SEQUENTIAL);
    return t;
  }
  table_close(t);
  return NULL;
}

void table_close(table_file *t) {
  if (!t) return;
  mapping_close(&t->file);
  free(t->tensor);
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
  if (t->bytes) return true;
  t->memory.axes[last - 1] = parts;
  t->memory.axes[last] = at->dim;
  t->memory.strides[last - 1] = at->dim * (int64_t)posenc_dtype_bytes(at->dtype);
  t->memory.axis_count++;
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

json_t *table_metadata(const table_file *t) {
  return t->tensor ? safetensors_metadata(t->bytes, t->size) : NULL;
}

bool table_positions(const table_file *t, double **positions, int64_t *count, fault *why) {
  *positions = NULL;
  return !t->tensor || safetensors_positions(t->bytes, t->size, positions, count, why);
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Mapped pages count as this process's memory until the system needs it. They are given back after this many bytes. */
enum { GIVEN_BACK = 1 << 20 };

static void give_back(table_file *t, size_t bytes) {
  t->held += bytes;
  if (t->held < GIVEN_BACK) return;
  t->held = 0;
  if (t->file.bytes) madvise((void *)t->bytes, t->size, MADV_DONTNEED);
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
  const size_t row_bytes = (size_t)t->at.dim * element, step = (size_t)t->at.stride * element;
  const unsigned char *const from = t->bytes + t->at.begin + (size_t)row * step;
  if (step == row_bytes) memcpy(out, from, (size_t)rows * row_bytes);
  for (size_t r = 0; step != row_bytes && r < (size_t)rows; r++)
    memcpy(out + r * row_bytes, from + r * step, row_bytes);
  give_back(t, (size_t)rows * step);
}

/* Ends the process because the other process's memory is gone, as for a file that was cut. */
static _Noreturn void tell_gone(const table_file *t) {
  fprintf(stderr, "%s: %s: its memory cannot be read: %s\n", program_name(), t->file.path, strerror(errno));
  exit(2);
}

void table_rows(table_file *t, int64_t row, int64_t rows, void *out) {
  const size_t element = posenc_dtype_bytes(t->at.dtype);
  if (!t->bytes) {
    if (!memory_array_read(&t->memory, &t->at, row, rows, out)) tell_gone(t);
    return;
  }
  const int64_t block = t->at.by_columns && t->at.axis_count > 2 ? 1 : rows;
  for (int64_t n = 0; n < rows; n += block)
    (t->at.by_columns ? read_columns : read_rows)(t, row + n, block,
                                                  (unsigned char *)out + (size_t)(n * t->at.dim) * element, element);
  if (t->at.swapped) stored_swap(out, (size_t)(rows * t->at.dim), element);
}
