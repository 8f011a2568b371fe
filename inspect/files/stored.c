/* SPDX-License-Identifier: MIT */
/* The rows, columns and halves of a table, from the axes of a stored array; and files that are mapped. */
#include "config.h"

#include "inspect/files/stored.h"

#include "common/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool fault_say(fault *why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, sizeof why->text, format, arguments);
  va_end(arguments);
  return false;
}

/* Writes the lengths of axes, as "(1, 512, 128)". */
static void tell_axes(const int64_t *axes, size_t count, char *text, size_t size) {
  int used = snprintf(text, size, "(");
  for (size_t i = 0; i < count && (size_t)used < size; i++)
    used += snprintf(text + used, size - (size_t)used, "%s%" PRId64, i ? ", " : "", axes[i]);
  if ((size_t)used < size) snprintf(text + used, size - (size_t)used, count == 1 ? ",)" : ")");
}

/* The axes that are longer than 1, and where they are. */
typedef struct longer_axes {
  int64_t length[STORED_AXES];
  size_t at[STORED_AXES], count;
} longer_axes;

static longer_axes longer_of(const int64_t *axes, size_t count) {
  longer_axes of = {.count = 0};
  for (size_t i = 0; i < count; i++) {
    if (axes[i] == 1) continue;
    of.length[of.count] = axes[i];
    of.at[of.count++] = i;
  }
  return of;
}

/* Takes one of two tables, the axis `apart` of which tells them apart. */
static void take_half(stored *s, table_half half, size_t apart, int64_t rows, int64_t dim, int64_t stride) {
  s->halved = true;
  s->half_axis = apart;
  s->rows = rows;
  s->dim = dim;
  s->stride = stride;
  if (half == TABLE_SECOND) s->begin = (size_t)(stride == dim ? rows * dim : dim) * posenc_dtype_bytes(s->dtype);
}

/* Takes two stacked tables as one, of which `s` has the first. */
static void join_halves(stored *s) {
  s->halved = false;
  s->joined = true;
  if (__builtin_mul_overflow(s->dim, 2, &s->dim)) s->dim = INT64_MAX;
}

/* Takes one table: of `columns` longer axes, the first that are left are those of positions. */
static bool take_whole(stored *s, const int64_t *axes, size_t count, const longer_axes *of) {
  const int64_t *last = of->length + of->count;
  const bool has_matrices = of->count == 4 && last[-1] == 2 && last[-2] == 2,
             has_pairs = of->count == 3 && (last[-1] == 2 || last[-2] == 2);
  const size_t of_row = has_matrices ? 3 : 1 + has_pairs;
  s->rows = s->dim = 1;
  if (of->count < 2) {
    s->vector = count == 1 || (count > 2 && axes[count - 1] == 1);
    *(s->vector || axes[count - 1] != 1 ? &s->dim : &s->rows) = of->count ? of->length[0] : 1;
    return true;
  }
  if (of->count > of_row + 1 || (s->by_columns && of_row > 1)) return false;
  s->last = has_pairs && last[-1] == 2;
  s->beside = has_pairs && !s->last;
  s->rows = of->length[0];
  for (size_t n = 1; n < of->count; n++)
    if (__builtin_mul_overflow(s->dim, of->length[n], &s->dim)) s->dim = INT64_MAX;
  return true;
}

static void fit_array(stored *s, const int64_t *axes, size_t count) {
  s->rows = 1;
  s->dim = count ? axes[count - 1] : 1;
  for (size_t i = 0; i + 1 < count; i++)
    if (__builtin_mul_overflow(s->rows, axes[i], &s->rows)) s->rows = INT64_MAX;
  s->axis_count = count ? count : 1;
  s->axes[0] = 1;
  memcpy(s->axes, axes, count * sizeof *axes);
}

static bool fit_table(stored *s, const int64_t *axes, size_t count, table_half half, fault *why) {
  char text[200];
  const longer_axes of = longer_of(axes, count);
  const bool is_plain = count == 3 && axes[0] == 2,
             is_stack = is_plain || (of.count == 3 && of.length[0] == 2 && of.length[2] != 2),
             has_both = of.count == 3 && of.length[1] == 2 && of.length[2] > 2;
  tell_axes(axes, count, text, sizeof text);
  if (count == 0) return fault_say(why, "its shape %s has no axis for positions", text);
  if (half > TABLE_WHOLE && is_stack)
    take_half(s, half, is_plain ? 0 : of.at[0], is_plain ? axes[1] : of.length[1], is_plain ? axes[2] : of.length[2],
              is_plain ? axes[2] : of.length[2]);
  else if ((half == TABLE_FIRST || half == TABLE_SECOND) && has_both)
    take_half(s, half, of.at[1], of.length[0], of.length[2], 2 * of.length[2]);
  else if (is_stack || !take_whole(s, axes, count, &of))
    return fault_say(why, "its shape %s is not (positions, columns) with other axes of 1%s", text,
                     is_stack ? "; of a rope cache, give --part cos or --part sin" : "");
  if (s->halved && half == TABLE_JOINED) join_halves(s);
  if ((s->halved || s->joined) && s->by_columns)
    return fault_say(why, "its two tables lie in each other, in Fortran's order");
  return true;
}

bool stored_fit(stored *s, const int64_t *axes, size_t count, table_half half, fault *why) {
  char text[200];
  size_t bytes;
  if (half == TABLE_ARRAY)
    fit_array(s, axes, count);
  else if (!fit_table(s, axes, count, half, why))
    return false;
  tell_axes(axes, count, text, sizeof text);
  if (s->rows == 0 || s->dim == 0) return fault_say(why, "its shape %s has no elements", text);
  if (!stored_bytes(s, &bytes)) return fault_say(why, "its shape %s is larger than any file", text);
  if (!s->halved && !s->joined) s->stride = s->dim;
  return true;
}

bool stored_bytes(const stored *s, size_t *bytes) {
  int64_t elements;
  return !__builtin_mul_overflow(s->rows, s->dim, &elements) &&
         !__builtin_mul_overflow(elements, s->halved ? 2 : 1, &elements) &&
         !__builtin_mul_overflow(elements, posenc_dtype_bytes(s->dtype), bytes);
}

void stored_swap(void *elements, size_t count, size_t element) {
  unsigned char *at = elements;
  for (size_t i = 0; i < count; i++, at += element)
    for (size_t low = 0, high = element - 1; low < high; low++, high--) {
      const unsigned char byte = at[low];
      at[low] = at[high];
      at[high] = byte;
    }
}

/* ---- mapped files ---------------------------------------------------------------------------------------- */

/* All mapped files, for the signal handler. */
static mapping *mapped_files;

/* Prints the message about a file that was cut, and ends the process. Uses async-signal-safe calls only. */
static void tell_cut(int number, siginfo_t *info, void *context) {
  static const char words[] = ": it was cut while it was read\n";
  const unsigned char *at = info->si_addr;
  (void)context;
  for (const mapping *m = mapped_files; m; m = m->next)
    if (at >= m->bytes && at < m->bytes + m->size) {
      if (write(STDERR_FILENO, "posenc: ", 8) < 0 || write(STDERR_FILENO, m->path, strlen(m->path)) < 0 ||
          write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(2);
      _exit(2);
    }
  signal(number, SIG_DFL);
  raise(number);
}

static void handle_cuts(void) {
  static bool handled;
  if (handled) return;
  handled = true;
  struct sigaction action = {.sa_sigaction = tell_cut, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &action, NULL);
}

/* Returns the descriptor of a regular file, and its status; -1 with `why` set on failure. */
static int open_regular(const char *path, struct stat *status, fault *why) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* open(2) does not wait for a pipe */
  const bool ok = (file >= 0 && fstat(file, status) == 0) || fault_say(why, "%s", strerror(errno));
  if (ok && (S_ISREG(status->st_mode) || fault_say(why, "it is no regular file"))) return file;
  if (file >= 0) close(file);
  return -1;
}

FILE *regular_open(const char *path, fault *why) {
  struct stat status;
  const int file = open_regular(path, &status, why);
  FILE *stream = file >= 0 ? fdopen(file, "r") : NULL;
  if (file >= 0 && !stream) {
    fault_say(why, "%s", strerror(errno));
    close(file);
  }
  return stream;
}

/* Reads the beginning of a file. Keeps the descriptor if that is not all. */
static bool read_head(mapping *m, int file, size_t size, fault *why) {
  m->is_read = true;
  m->descriptor = file;
  const size_t wanted = size < MAPPING_HEAD ? size : MAPPING_HEAD;
  unsigned char *bytes = memory_grow(NULL, wanted, 1);
  m->bytes = bytes;
  while (m->held < wanted) {
    const ssize_t got = read(file, bytes + m->held, wanted - m->held);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fault_say(why, "%s", got ? strerror(errno) : "it was cut while it was read");
    m->held += (size_t)got;
  }
  m->size = size;
  return true;
}

static bool map_file(mapping *m, fault *why) {
  struct stat status;
  const int file = open_regular(m->path, &status, why);
  if (file < 0) return false;
  bool ok = (uint64_t)status.st_size <= PTRDIFF_MAX || fault_say(why, "it is larger than the address space");
  const size_t size = ok ? (size_t)status.st_size : 0;
  if (size > 0) {
    void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED && errno == ENODEV) {
      ok = read_head(m, file, size, why);
    } else {
      ok = bytes != MAP_FAILED || fault_say(why, "%s", strerror(errno));
      m->bytes = ok ? bytes : NULL;
      m->size = m->held = ok ? size : 0;
    }
  }
  if (m->held == m->size) close(file);
  return ok;
}

bool mapping_open(mapping *m, const char *path, fault *why) {
  *m = (mapping){.path = memory_copy_text(path)};
  handle_cuts();
  m->next = mapped_files;
  mapped_files = m;
  return map_file(m, why);
}

void mapping_close(mapping *m) {
  for (mapping **link = &mapped_files; *link; link = &(*link)->next)
    if (*link == m) {
      *link = m->next;
      break;
    }
  if (m->held < m->size) close(m->descriptor);
  if (m->is_read)
    free((void *)m->bytes);
  else if (m->bytes)
    munmap((void *)m->bytes, m->size);
  free(m->path);
}
