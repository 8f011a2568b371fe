/* SPDX-License-Identifier: MIT */
#include "files/memory.h"

#include "common/shapes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *memory_line(const char *name) {
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

/* Removes axes that are not axes of rows: the axis of the two halves, and that of pairs. */
static bool fit_axes(const stored *at, table_half half, memory_array *place) {
  const int64_t element = (int64_t)posenc_dtype_bytes(at->dtype);
  size_t last = place->axis_count - 1;
  if (place->axes[last] > 1 && place->strides[last] != element) return false;
  if (at->dim != place->axes[last]) { /* pairs, one after the other */
    if (place->strides[last - 1] != 2 * element) return false;
    place->axes[--last] = at->dim;
  }
  place->axis_count = last + 1;
  if (!at->halved) return true;
  if (half == TABLE_SECOND) place->address += (uint64_t)place->strides[0];
  place->axis_count--;
  memmove(place->axes, place->axes + 1, place->axis_count * sizeof *place->axes);
  memmove(place->strides, place->strides + 1, place->axis_count * sizeof *place->strides);
  return true;
}

bool memory_find(const char *line, table_half half, stored *found, memory_array *place, fault *why) {
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

bool memory_read(const memory_array *from, const stored *at, int64_t row, int64_t rows, void *out) {
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
